// Clusters that nobody named become recipes and fused ops, and xfuse-decompose puts the program back.

// RUN: xdsl-opt -f xfuse-mlir %s -p xfuse-outline | filecheck %s
// RUN: xdsl-opt -f xfuse-mlir %s -p xfuse-outline,xfuse-outline | filecheck %s
// RUN: xdsl-opt -f xfuse-mlir %s -p xfuse-outline,xfuse-decompose | filecheck %s --check-prefix=BACK
// RUN: xdsl-opt -f xfuse-mlir %s -p xfuse-outline,xfuse-decompose --print-op-generic | %mlir-opt
// RUN: xdsl-opt -f xfuse-mlir %s -p 'xfuse-outline{kinds=elementwise}' | filecheck %s --check-prefix=KINDS
// RUN: xdsl-opt -f xfuse-mlir %s -p 'xfuse-outline{max-ops=2 explain=true}' 2>&1 >/dev/null | filecheck %s --check-prefix=SMALL
// RUN: env PYTHONHASHSEED=1 xdsl-opt -f xfuse-mlir %s -p xfuse-outline > %t.1
// RUN: env PYTHONHASHSEED=2 xdsl-opt -f xfuse-mlir %s -p xfuse-outline > %t.2
// RUN: diff %t.1 %t.2
// REQUIRES: mlir-opt

// Equal clusters are one recipe, at scalar rank: whatever the shapes, the flags and the order of operands are.
//      CHECK: xfuse.recipe @mul_add_tanh(%{{.*}}: f32, %{{.*}}: f32) -> f32 attributes {xfuse.outlined} {
//      CHECK:   arith.mulf
//      CHECK:   arith.addf
//      CHECK:   math.tanh
// CHECK-NEXT:   xfuse.yield
// CHECK-NEXT: }
// A row recipe has its prologue and its epilogue.
//      CHECK: xfuse.recipe @exp_sum_div(%{{.*}}: tensor<?xf32>) -> tensor<?xf32> attributes {xfuse.outlined} {
//      CHECK: }
//  CHECK-NOT: xfuse.recipe

// BACK-NOT: xfuse.

// CHECK-LABEL: func.func @one
// KINDS-LABEL: func.func @one
func.func @one(%x: tensor<4x8xf32>, %y: tensor<4x8xf32>) -> tensor<4x8xf32> {
  // CHECK-NEXT: [[R:%.+]] = xfuse.fused @mul_add_tanh (%{{.*}} = %{{x|y}} : tensor<4x8xf32>, %{{.*}} = %{{x|y}} : tensor<4x8xf32>) -> tensor<4x8xf32> {
  // CHECK-NEXT:   arith.mulf
  // CHECK-NEXT:   arith.addf
  // CHECK-NEXT:   math.tanh
  // CHECK-NEXT:   xfuse.yield
  // CHECK-NEXT: }
  // CHECK-NEXT: func.return [[R]]
  // KINDS: xfuse.fused @mul_add_tanh
  %a = arith.mulf %x, %y : tensor<4x8xf32>
  %b = arith.addf %a, %y : tensor<4x8xf32>
  %c = math.tanh %b : tensor<4x8xf32>
  func.return %c : tensor<4x8xf32>
}

// CHECK-LABEL: func.func @two
func.func @two(%x: tensor<?xf32>, %y: tensor<?xf32>) -> tensor<?xf32> {
  // CHECK: xfuse.fused @mul_add_tanh
  // CHECK: arith.mulf {{.*}} fastmath<contract>
  %a = arith.mulf %y, %x fastmath<contract> : tensor<?xf32>
  %b = arith.addf %x, %a : tensor<?xf32>
  %c = math.tanh %b : tensor<?xf32>
  func.return %c : tensor<?xf32>
}

// Broadcasts are absorbed, the fill is copied. A matrix product is no part of a cluster.
// CHECK-LABEL: func.func @rows
// KINDS-LABEL: func.func @rows
func.func @rows(%x: tensor<4x8xf32>, %w: tensor<8x8xf32>) -> tensor<4x8xf32> {
  // CHECK: [[M:%.+]] = linalg.matmul
  // CHECK: [[R:%.+]] = xfuse.fused @exp_sum_div (%{{.*}} = [[M]] : tensor<4x8xf32>) -> tensor<4x8xf32> {
  // CHECK: math.exp
  // CHECK: linalg.fill
  // CHECK: linalg.generic
  // CHECK: linalg.broadcast
  // CHECK: arith.divf
  // CHECK: func.return [[R]]
  // KINDS-NOT: xfuse.fused @exp_sum_div
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<4x8xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<4x8xf32>) -> tensor<4x8xf32>
  %m = linalg.matmul ins(%x, %w : tensor<4x8xf32>, tensor<8x8xf32>) outs(%f : tensor<4x8xf32>) -> tensor<4x8xf32>
  %p = math.exp %m : tensor<4x8xf32>
  %r = tensor.empty() : tensor<4xf32>
  %g = linalg.fill ins(%zero : f32) outs(%r : tensor<4xf32>) -> tensor<4xf32>
  %s = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>], iterator_types = ["parallel", "reduction"]} ins(%p : tensor<4x8xf32>) outs(%g : tensor<4xf32>) {
  ^bb0(%in: f32, %out: f32):
    %t = arith.addf %in, %out : f32
    linalg.yield %t : f32
  } -> tensor<4xf32>
  %b = linalg.broadcast ins(%s : tensor<4xf32>) outs(%e : tensor<4x8xf32>) dimensions = [1]
  %q = arith.divf %p, %b : tensor<4x8xf32>
  func.return %q : tensor<4x8xf32>
}

// SMALL: outlined @mul_add on {{.*}}: 2 ops, saves 384 bytes, 1.0 us
// SMALL: left out (cost min-ops) '%c = math.tanh' (line {{[0-9]+}}): 1 ops are fewer than 2
