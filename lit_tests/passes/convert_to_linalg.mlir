// RUN: xdsl-opt -f xfuse-mlir %s -p convert-xfuse-to-linalg | filecheck %s
// RUN: xdsl-opt -f xfuse-mlir %s -p convert-xfuse-to-linalg | %mlir-opt
// REQUIRES: mlir-opt

#id = affine_map<(i, j) -> (i, j)>
#row = affine_map<(i, j) -> (i)>

// Element-wise: one generic a result, with all ops in its body. A transposed operand is a map.
// CHECK-LABEL: func.func @gated
func.func @gated(%x: tensor<4x?xf32>, %y: tensor<?x4xf32>) -> tensor<4x?xf32> {
  // CHECK-NOT: xfuse.fused
  // CHECK: linalg.generic
  // CHECK-SAME: affine_map<(d0, d1) -> (d1, d0)>
  // CHECK-NEXT: ^bb
  // CHECK-NEXT: math.exp
  // CHECK-NEXT: arith.mulf {{.*}} fastmath<contract> : f32
  // CHECK-NEXT: linalg.yield
  // CHECK-NOT: linalg.generic
  // CHECK: func.return
  %0 = xfuse.fused @gate (%a = %x : tensor<4x?xf32>, %b = %y : tensor<?x4xf32>) -> tensor<4x?xf32> {
    %e = math.exp %a : tensor<4x?xf32>
    %one = arith.constant 1 : index
    %n = tensor.dim %a, %one : tensor<4x?xf32>
    %o = tensor.empty(%n) : tensor<4x?xf32>
    %t = linalg.transpose ins(%b : tensor<?x4xf32>) outs(%o : tensor<4x?xf32>) permutation = [1, 0]
    %m = arith.mulf %e, %t fastmath<contract> : tensor<4x?xf32>
    xfuse.yield %m : tensor<4x?xf32>
  }
  func.return %0 : tensor<4x?xf32>
}

// A row recipe: one generic a reduction, its prologue in the body, and one for what comes after. The division by the
// sum of a row is done once a row.
// CHECK-LABEL: func.func @row
func.func @row(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
  // CHECK: linalg.fill
  // CHECK-NEXT: linalg.generic {{.*}} iterator_types = ["parallel", "reduction"]
  // CHECK-NEXT: ^bb
  // CHECK-NEXT: arith.mulf
  // CHECK-NEXT: arith.addf
  // CHECK-NEXT: linalg.yield
  // CHECK: math.rsqrt
  // CHECK-NEXT: linalg.yield
  // CHECK: linalg.generic {{.*}} iterator_types = ["parallel", "parallel"]
  // CHECK-NEXT: ^bb
  // CHECK-NEXT: arith.mulf
  // CHECK-NEXT: linalg.yield
  // CHECK-NOT: linalg.generic
  // CHECK: func.return
  %0 = xfuse.fused @normalize (%a = %x : tensor<4x8xf32>) -> tensor<4x8xf32> {
    %s = arith.mulf %a, %a : tensor<4x8xf32>
    %zero = arith.constant 0.0 : f32
    %e = tensor.empty() : tensor<4xf32>
    %z = linalg.fill ins(%zero : f32) outs(%e : tensor<4xf32>) -> tensor<4xf32>
    %t = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]} ins(%s : tensor<4x8xf32>) outs(%z : tensor<4xf32>) {
    ^bb0(%i: f32, %o: f32):
      %q = arith.addf %o, %i : f32
      linalg.yield %q : f32
    } -> tensor<4xf32>
    %r = math.rsqrt %t : tensor<4xf32>
    %f = tensor.empty() : tensor<4x8xf32>
    %b = linalg.broadcast ins(%r : tensor<4xf32>) outs(%f : tensor<4x8xf32>) dimensions = [1]
    %m = arith.mulf %a, %b : tensor<4x8xf32>
    xfuse.yield %m : tensor<4x8xf32>
  }
  func.return %0 : tensor<4x8xf32>
}

// Scalar fused ops become scalar ops, also in the body of a generic.
// CHECK-LABEL: func.func @scalars
func.func @scalars(%x: tensor<4xf32>, %s: f32) -> (tensor<4xf32>, f32) {
  // CHECK: math.sin %s : f32
  // CHECK: linalg.generic
  // CHECK-NEXT: ^bb
  // CHECK-NEXT: math.cos
  // CHECK-NEXT: linalg.yield
  %0 = xfuse.fused @sine (%a = %s : f32) -> f32 {
    %1 = math.sin %a : f32
    xfuse.yield %1 : f32
  }
  %e = tensor.empty() : tensor<4xf32>
  %2 = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]} ins(%x : tensor<4xf32>) outs(%e : tensor<4xf32>) {
  ^bb0(%i: f32, %o: f32):
    %3 = xfuse.fused @cosine (%a_1 = %i : f32) -> f32 {
      %4 = math.cos %a_1 : f32
      xfuse.yield %4 : f32
    }
    linalg.yield %3 : f32
  } -> tensor<4xf32>
  func.return %2, %0 : tensor<4xf32>, f32
}

// What no generic can express stands as plain ops.
// CHECK-LABEL: func.func @slices
func.func @slices(%x: tensor<8xf32>) -> tensor<7xf32> {
  // CHECK: tensor.extract_slice
  // CHECK: tensor.extract_slice
  // CHECK: linalg.generic
  // CHECK-NEXT: ^bb
  // CHECK-NEXT: arith.subf
  // CHECK-NEXT: math.absf
  // CHECK-NEXT: linalg.yield
  %0 = xfuse.fused @difference (%a = %x : tensor<8xf32>) -> tensor<7xf32> {
    %l = tensor.extract_slice %a[0] [7] [1] : tensor<8xf32> to tensor<7xf32>
    %r = tensor.extract_slice %a[1] [7] [1] : tensor<8xf32> to tensor<7xf32>
    %d = arith.subf %r, %l : tensor<7xf32>
    %m = math.absf %d : tensor<7xf32>
    xfuse.yield %m : tensor<7xf32>
  }
  func.return %0 : tensor<7xf32>
}
