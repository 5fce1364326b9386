// Which recipes take part: those of the module, and those of `library` or the shipped ones; of these what `only` and
// `except` say, by family or by name.

// RUN: xdsl-opt %s -p 'xfuse-fuse{library="%S/Inputs/recipes.mlir"}' | filecheck %s --check-prefix=ALL
// RUN: xdsl-opt %s -p 'xfuse-fuse{library="%S/Inputs/recipes.mlir" only=silu,mine}' | filecheck %s --check-prefix=ONLY
// RUN: xdsl-opt %s -p 'xfuse-fuse{library="%S/Inputs/recipes.mlir" except=silu_mul,mine}' | filecheck %s --check-prefix=EXCEPT
// RUN: xdsl-opt %s -p 'xfuse-fuse{library="%S/Inputs/recipes.mlir" only=silu except=silu_mul}' | filecheck %s --check-prefix=BOTH
// RUN: xdsl-opt %s -p 'xfuse-fuse{only=mine,silu,add_relu}' | filecheck %s --check-prefix=ALL

xfuse.recipe @mine(%x: f64, %y: f64) -> f64 attributes {element_types = [f32, f64]} {
  %s = arith.addf %x, %y : f64
  %r = math.sqrt %s : f64
  xfuse.yield %r : f64
}

// Recipes stay, and are not matched against themselves.

// ALL:      xfuse.recipe @mine(%x: f64, %y: f64) -> f64 attributes {element_types = [f32, f64]} {
// ALL-NEXT:   %s = arith.addf %x, %y : f64
// ALL-NEXT:   %r = math.sqrt %s : f64
// ALL-NEXT:   xfuse.yield %r : f64

func.func @f(%x: tensor<4xf32>, %y: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) {
  %s = arith.addf %x, %y : tensor<4xf32>
  %own = math.sqrt %s : tensor<4xf32>

  %zero = arith.constant dense<0.0> : tensor<4xf32>
  %s2 = arith.addf %x, %y : tensor<4xf32>
  %relu = arith.maximumf %s2, %zero : tensor<4xf32>

  %one = arith.constant dense<1.0> : tensor<4xf32>
  %n = arith.negf %x : tensor<4xf32>
  %e = math.exp %n : tensor<4xf32>
  %d = arith.addf %one, %e : tensor<4xf32>
  %quotient = arith.divf %x, %d : tensor<4xf32>

  %n2 = arith.negf %y : tensor<4xf32>
  %e2 = math.exp %n2 : tensor<4xf32>
  %d2 = arith.addf %e2, %one : tensor<4xf32>
  %q2 = arith.divf %one, %d2 : tensor<4xf32>
  %product = arith.mulf %q2, %y : tensor<4xf32>
  func.return %own, %relu, %quotient, %product : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
}

// ALL:         func.func @f
// ALL:           %own = xfuse.fused @mine (
// ALL:           %relu = xfuse.fused @add_relu (
// ALL:           %quotient = xfuse.fused @silu{{(_div)?}} (
// ALL:           %product = xfuse.fused @silu{{(_mul)?}} (
// ALL:           func.return %own, %relu, %quotient, %product

// ONLY:        func.func @f
// ONLY:          %own = xfuse.fused @mine (
// ONLY:          %relu = arith.maximumf
// ONLY:          %quotient = xfuse.fused @silu (
// ONLY:          %product = xfuse.fused @silu_mul (

// EXCEPT:      func.func @f
// EXCEPT-NEXT:   arith.addf
// EXCEPT-NEXT:   %own = math.sqrt
// EXCEPT:        %relu = xfuse.fused @add_relu (
// EXCEPT:        %quotient = xfuse.fused @silu (
// EXCEPT:        %product = arith.mulf

// BOTH:        func.func @f
// BOTH:          %own = math.sqrt
// BOTH:          %relu = arith.maximumf
// BOTH:          %quotient = xfuse.fused @silu (
// BOTH:          %product = arith.mulf
