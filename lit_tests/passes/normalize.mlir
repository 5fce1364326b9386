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

// Reductions, and bodies that read indices, stay as they are.
// CHECK-LABEL: func.func @kept
func.func @kept(%x: tensor<4x8xf32>, %a: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK: iterator_types = ["parallel", "reduction"]
  // CHECK: arith.mulf
  // CHECK-NEXT: arith.addf
  %0 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0)>], iterator_types = ["parallel", "reduction"]} ins(%x : tensor<4x8xf32>) outs(%a : tensor<4xf32>) {
  ^bb0(%i: f32, %o: f32):
    %q = arith.mulf %i, %i : f32
    %s = arith.addf %q, %o : f32
    linalg.yield %s : f32
  } -> tensor<4xf32>
  func.return %0 : tensor<4xf32>
}
