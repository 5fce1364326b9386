// RUN: xdsl-opt -f xfuse-mlir %s -p xfuse-normalize | filecheck %s
// RUN: xdsl-opt -f xfuse-mlir %s -p xfuse-normalize | %mlir-opt
// REQUIRES: mlir-opt

// CHECK-LABEL: func.func @on_tensors
func.func @on_tensors(%x: tensor<4x?xf32>, %y: tensor<4x?xf32>) -> tensor<4x?xf32> {
  // CHECK: linalg.generic
  // CHECK-NEXT: ^bb
  // CHECK-NEXT: arith.addf {{.*}} fastmath<contract> : f32
  // CHECK-NEXT: linalg.yield
  %0 = arith.addf %x, %y fastmath<contract> : tensor<4x?xf32>
  // CHECK: linalg.generic
  // CHECK-NEXT: ^bb
  // CHECK-NEXT: math.exp {{.*}} : f32
  %1 = math.exp %0 : tensor<4x?xf32>
  func.return %1 : tensor<4x?xf32>
}

// A splat constant is captured as a scalar.
// CHECK-LABEL: func.func @splat
func.func @splat(%x: tensor<4xf32>) -> tensor<4xf32> {
  %c = arith.constant dense<2.0> : tensor<4xf32>
  // CHECK: [[C:%.+]] = arith.constant 2.000000e+00 : f32
  // CHECK: arith.mulf %{{.*}}, [[C]] : f32
  %0 = arith.mulf %x, %c : tensor<4xf32>
  func.return %0 : tensor<4xf32>
}

// CHECK-LABEL: func.func @named
func.func @named(%x: tensor<4xf32>, %y: tensor<4xf32>) -> tensor<4xf32> {
  %e = tensor.empty() : tensor<4xf32>
  // CHECK-NOT: linalg.sub
  // CHECK: arith.subf {{.*}} : f32
  %0 = linalg.sub ins(%x, %y : tensor<4xf32>, tensor<4xf32>) outs(%e : tensor<4xf32>) -> tensor<4xf32>
  func.return %0 : tensor<4xf32>
}

// A body of several ops becomes one generic an op; the permutation stays with the operands.
// CHECK-LABEL: func.func @body
func.func @body(%x: tensor<4x8xf32>, %b: tensor<8xf32>) -> tensor<8x4xf32> {
  %e = tensor.empty() : tensor<8x4xf32>
  // CHECK: linalg.generic
  // CHECK-NEXT: ^bb
  // CHECK-NEXT: arith.addf
  // CHECK-NEXT: linalg.yield
  // CHECK: linalg.generic
  // CHECK-NEXT: ^bb
  // CHECK-NEXT: math.tanh
  // CHECK-NEXT: linalg.yield
  %0 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d1, d0)>, affine_map<(d0, d1) -> (d0)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]} ins(%x, %b : tensor<4x8xf32>, tensor<8xf32>) outs(%e : tensor<8x4xf32>) {
  ^bb0(%i: f32, %j: f32, %o: f32):
    %s = arith.addf %i, %j : f32
    %t = math.tanh %s : f32
    linalg.yield %t : f32
  } -> tensor<8x4xf32>
  func.return %0 : tensor<8x4xf32>
}

// What no accumulator goes into is taken out of a reduction.
// CHECK-LABEL: func.func @prologue
func.func @prologue(%x: tensor<4x8xf32>, %a: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK: iterator_types = ["parallel", "parallel"]
  // CHECK-NEXT: ^bb
  // CHECK-NEXT: arith.mulf
  // CHECK-NEXT: linalg.yield
  // CHECK: iterator_types = ["parallel", "reduction"]
  // CHECK-NEXT: ^bb
  // CHECK-NEXT: arith.addf
  // CHECK-NEXT: linalg.yield
  %0 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0)>], iterator_types = ["parallel", "reduction"]} ins(%x : tensor<4x8xf32>) outs(%a : tensor<4xf32>) {
  ^bb0(%i: f32, %o: f32):
    %q = arith.mulf %i, %i : f32
    %s = arith.addf %q, %o : f32
    linalg.yield %s : f32
  } -> tensor<4xf32>
  func.return %0 : tensor<4xf32>
}

// The products of a contraction stay in the body of their sum; what its operands are made of does not.
// CHECK-LABEL: func.func @contraction
func.func @contraction(%x: tensor<4x8xf32>, %y: tensor<8x5xf32>, %a: tensor<4x5xf32>) -> tensor<4x5xf32> {
  // CHECK: iterator_types = ["parallel", "parallel"]
  // CHECK-NEXT: ^bb
  // CHECK-NEXT: math.exp
  // CHECK-NEXT: linalg.yield
  // CHECK-NEXT: } -> tensor<4x8xf32>
  // CHECK-NEXT: linalg.generic {{.*}} iterator_types = ["parallel", "parallel", "reduction"]
  // CHECK-NEXT: ^bb
  // CHECK-NEXT: arith.mulf
  // CHECK-NEXT: arith.addf
  // CHECK-NEXT: linalg.yield
  %0 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d2)>, affine_map<(d0, d1, d2) -> (d2, d1)>, affine_map<(d0, d1, d2) -> (d0, d1)>], iterator_types = ["parallel", "parallel", "reduction"]} ins(%x, %y : tensor<4x8xf32>, tensor<8x5xf32>) outs(%a : tensor<4x5xf32>) {
  ^bb0(%i: f32, %j: f32, %o: f32):
    %e = math.exp %i : f32
    %q = arith.mulf %e, %j : f32
    %s = arith.addf %o, %q : f32
    linalg.yield %s : f32
  } -> tensor<4x5xf32>
  func.return %0 : tensor<4x5xf32>
}

// A mask made of indices stays with the op that reads it.
// CHECK-LABEL: func.func @mask
func.func @mask(%x: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %e = tensor.empty() : tensor<4x4xf32>
  // CHECK: math.exp
  // CHECK-NEXT: linalg.yield
  // CHECK: linalg.index 0
  // CHECK: linalg.index 1
  // CHECK: arith.cmpi
  // CHECK-NEXT: arith.select
  // CHECK-NEXT: linalg.yield
  %0 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]} ins(%x : tensor<4x4xf32>) outs(%e : tensor<4x4xf32>) {
  ^bb0(%i: f32, %o: f32):
    %r = linalg.index 0 : index
    %c = linalg.index 1 : index
    %m = arith.cmpi sge, %r, %c : index
    %t = math.exp %i : f32
    %s = arith.select %m, %t, %i : f32
    linalg.yield %s : f32
  } -> tensor<4x4xf32>
  func.return %0 : tensor<4x4xf32>
}
