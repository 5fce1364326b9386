// silu(x) = x sigmoid(x) = x / (1 + exp(-x)), also called swish
//
// Minus infinity gives a NaN in every form: -inf * 0 or -inf / inf.
//
// @silu          textbook, JAX (`jax.nn.silu`) and PyTorch (`F.silu`): x * (1 / (1 + exp(-x)))
// @silu_div      x / (1 + exp(-x)): one rounding less
// @silu_div_sub  the same with 0 - x for -x, as named linalg ops spell it
// @silu_tanh     x * ((1 + tanh(x/2)) / 2); loses relative accuracy far below 0
xfuse.library @silu {
  xfuse.recipe @silu(%x: f64) -> f64 attributes {element_types = [f16, bf16, f32, f64]} {
    %one = arith.constant 1.0 : f64
    %negative = arith.negf %x : f64
    %exponential = math.exp %negative : f64
    %sum = arith.addf %one, %exponential : f64
    %quotient = arith.divf %one, %sum : f64
    %product = arith.mulf %x, %quotient : f64
    xfuse.yield %product : f64
  }

  xfuse.recipe @silu_div(%x: f64) -> f64 attributes {element_types = [f16, bf16, f32, f64]} {
    %one = arith.constant 1.0 : f64
    %negative = arith.negf %x : f64
    %exponential = math.exp %negative : f64
    %sum = arith.addf %one, %exponential : f64
    %quotient = arith.divf %x, %sum : f64
    xfuse.yield %quotient : f64
  }

  xfuse.recipe @silu_div_sub(%x: f64) -> f64 attributes {element_types = [f16, bf16, f32, f64]} {
    %one = arith.constant 1.0 : f64
    %zero = arith.constant 0.0 : f64
    %difference = arith.subf %zero, %x : f64
    %exponential = math.exp %difference : f64
    %sum = arith.addf %one, %exponential : f64
    %quotient = arith.divf %x, %sum : f64
    xfuse.yield %quotient : f64
  }

  xfuse.recipe @silu_tanh(%x: f64) -> f64 attributes {element_types = [f16, bf16, f32, f64]} {
    %half = arith.constant 0.5 : f64
    %product = arith.mulf %half, %x : f64
    %tangent = math.tanh %product : f64
    %one = arith.constant 1.0 : f64
    %sum = arith.addf %one, %tangent : f64
    %product_1 = arith.mulf %half, %sum : f64
    %product_2 = arith.mulf %x, %product_1 : f64
    xfuse.yield %product_2 : f64
  }
}
