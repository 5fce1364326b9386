// bias_silu(x, bias) = silu(x + bias)
//
// @bias_silu      textbook, JAX and PyTorch: y * (1 / (1 + exp(-y))) of y = x + bias
// @bias_silu_div  y / (1 + exp(-y))
xfuse.library @bias_silu {
  xfuse.recipe @bias_silu(%x: f64, %bias: f64) -> f64 attributes {element_types = [f16, bf16, f32, f64]} {
    %sum = arith.addf %x, %bias : f64
    %one = arith.constant 1.0 : f64
    %negative = arith.negf %sum : f64
    %exponential = math.exp %negative : f64
    %sum_1 = arith.addf %one, %exponential : f64
    %quotient = arith.divf %one, %sum_1 : f64
    %product = arith.mulf %sum, %quotient : f64
    xfuse.yield %product : f64
  }

  xfuse.recipe @bias_silu_div(%x: f64, %bias: f64) -> f64 attributes {element_types = [f16, bf16, f32, f64]} {
    %sum = arith.addf %x, %bias : f64
    %one = arith.constant 1.0 : f64
    %negative = arith.negf %sum : f64
    %exponential = math.exp %negative : f64
    %sum_1 = arith.addf %one, %exponential : f64
    %quotient = arith.divf %sum, %sum_1 : f64
    xfuse.yield %quotient : f64
  }
}
