// What becomes of a match whose inner value is used outside it (rule R4).

// RUN: xdsl-opt -f xfuse-mlir -p 'xfuse-fuse{library="%S/Inputs/recipes.mlir" escape=refuse}' %s | filecheck %s --check-prefix=REFUSE
// RUN: xdsl-opt -f xfuse-mlir -p 'xfuse-fuse{library="%S/Inputs/recipes.mlir" escape=duplicate}' %s | filecheck %s --check-prefix=DUPLICATE
// RUN: xdsl-opt -f xfuse-mlir -p 'xfuse-fuse{library="%S/Inputs/recipes.mlir" escape=yield}' %s | filecheck %s --check-prefix=YIELD
// RUN: xdsl-opt -f xfuse-mlir -p 'xfuse-fuse{library="%S/Inputs/recipes.mlir" escape=duplicate},xfuse-decompose' %s | %mlir-opt | filecheck %s --check-prefix=BACK
// RUN: xdsl-opt -f xfuse-mlir -p 'xfuse-fuse{library="%S/Inputs/recipes.mlir" escape=yield},xfuse-decompose' %s | %mlir-opt | filecheck %s --check-prefix=BACK
// REQUIRES: mlir-opt

func.func @main(%x: tensor<4xf32>, %b: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %zero = arith.constant dense<0.0> : tensor<4xf32>
  %s = arith.addf %x, %b : tensor<4xf32>
  %r = arith.maximumf %s, %zero : tensor<4xf32>
  func.return %r, %s : tensor<4xf32>, tensor<4xf32>
}

// REFUSE-NOT: xfuse.fused

// The sum stays for the function's second result, and is computed in the fused op as well.

//      DUPLICATE:   %s = arith.addf %x, %b : tensor<4xf32>
// DUPLICATE-NEXT:   %r = xfuse.fused @add_relu (%x_1 = %x : tensor<4xf32>, %b_1 = %b : tensor<4xf32>) -> tensor<4xf32> attributes {duplicated = array<i64: {{[01]}}>} {
//      DUPLICATE:     %s_1 = arith.addf %x_1, %b_1 : tensor<4xf32>
//      DUPLICATE:     xfuse.yield %r_1 : tensor<4xf32>
//      DUPLICATE:   func.return %r, %s : tensor<4xf32>, tensor<4xf32>

// The sum is a further result, by a variant of the recipe.

//      YIELD: xfuse.recipe @add_relu_yielding_[[POSITION:[0-9]+]](%{{.*}}) -> (f64, f64) attributes {{.*}}xfuse.yielding
//      YIELD:   %r, %s = xfuse.fused @add_relu_yielding_[[POSITION]] (%x_1 = %x : tensor<4xf32>, %b_1 = %b : tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
//      YIELD:   func.return %r, %s : tensor<4xf32>, tensor<4xf32>

// One sum comes back, not two.

//     BACK: arith.addf
// BACK-NOT: arith.addf
//     BACK: return
