// What becomes of a match that crosses the border of a body (rule R11).

// RUN: xdsl-opt -f xfuse-mlir -p 'xfuse-fuse{library="%S/Inputs/recipes.mlir"}' %s | filecheck %s --check-prefix=WHOLE
// RUN: xdsl-opt -f xfuse-mlir -p 'xfuse-fuse{library="%S/Inputs/recipes.mlir" split=true}' %s | filecheck %s --check-prefix=SPLIT
// RUN: xdsl-opt -f xfuse-mlir -p 'xfuse-fuse{library="%S/Inputs/recipes.mlir" split=true},xfuse-decompose' %s | %mlir-opt | filecheck %s --check-prefix=BACK
// REQUIRES: mlir-opt

#id = affine_map<(d0) -> (d0)>
func.func @main(%x: tensor<4xf32>, %b: tensor<4xf32>) -> tensor<4xf32> {
  %zero = arith.constant 0.0 : f32
  %o = tensor.empty() : tensor<4xf32>
  %s = arith.addf %x, %b : tensor<4xf32>
  %r = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]}
      ins(%s : tensor<4xf32>) outs(%o : tensor<4xf32>) {
  ^bb0(%in: f32, %out: f32):
    %m = arith.maximumf %in, %zero : f32
    %e = math.exp %m : f32
    linalg.yield %e : f32
  } -> tensor<4xf32>
  %t = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]}
      ins(%r : tensor<4xf32>) outs(%o : tensor<4xf32>) {
  ^bb0(%in: f32, %out: f32):
    %m = arith.maximumf %in, %zero : f32
    %e = math.exp %m : f32
    linalg.yield %e : f32
  } -> tensor<4xf32>
  func.return %t : tensor<4xf32>
}

// WHOLE-NOT: xfuse.fused

// The maximum is taken out of the first body, for the sum stands before it. The second body stays as it is.

//      SPLIT:   %[[F:[0-9a-z]+]] = xfuse.fused @add_relu (%x_1 = %x : tensor<4xf32>, %b_1 = %b : tensor<4xf32>) -> tensor<4xf32> {
//      SPLIT:     %s = arith.addf %x_1, %b_1 : tensor<4xf32>
//      SPLIT:       arith.maximumf
//      SPLIT:     xfuse.yield
//      SPLIT:   %r = linalg.generic {{.*}} ins(%[[F]] : tensor<4xf32>)
// SPLIT-NEXT:   ^bb0
// SPLIT-NEXT:     math.exp
// SPLIT-NEXT:     linalg.yield
//      SPLIT:   %t = linalg.generic {{.*}} ins(%r : tensor<4xf32>)
// SPLIT-NEXT:   ^bb0
// SPLIT-NEXT:     arith.maximumf
// SPLIT-NEXT:     math.exp
// SPLIT-NEXT:     linalg.yield

// Decomposing gives the program as it was split.

//      BACK: arith.addf
//      BACK: linalg.generic
//      BACK:   arith.maximumf
// BACK-NEXT:   linalg.yield
//      BACK: linalg.generic
//      BACK:   math.exp
// BACK-NEXT:   linalg.yield
//      BACK: linalg.generic
//      BACK:   arith.maximumf
// BACK-NEXT:   math.exp
// BACK-NEXT:   linalg.yield
//      BACK: return
