// bias_tanh(x, bias) = tanh(x + bias)
//
// @bias_tanh  textbook, JAX and PyTorch
xfuse.library @bias_tanh {
  xfuse.recipe @bias_tanh(%x: f64, %bias: f64) -> f64 attributes {element_types = [f16, bf16, f32, f64]} {
    %sum = arith.addf %x, %bias : f64
    %tangent = math.tanh %sum : f64
    xfuse.yield %tangent : f64
  }
}
