// bias_gelu_erf(x, bias) = gelu_erf(x + bias)
//
// @bias_gelu_erf        textbook
// @bias_gelu_erf_torch  PyTorch (`nn.GELU()` behind `nn.Linear`)
// @bias_gelu_erf_scaled, @bias_gelu_erf_torch_scaled  with a product by sqrt(1/2) for the division by sqrt(2)
xfuse.library @bias_gelu_erf {
  xfuse.recipe @bias_gelu_erf(%x: f64, %bias: f64) -> f64 attributes {element_types = [f16, bf16, f32, f64]} {
    %sum = arith.addf %x, %bias : f64
    %half = arith.constant 0.5 : f64
    %product = arith.mulf %half, %sum : f64
    %root_two = arith.constant 1.4142135623730951 : f64
    %quotient = arith.divf %sum, %root_two : f64
    %error = math.erf %quotient : f64
    %one = arith.constant 1.0 : f64
    %sum_1 = arith.addf %one, %error : f64
    %product_1 = arith.mulf %product, %sum_1 : f64
    xfuse.yield %product_1 : f64
  }

  xfuse.recipe @bias_gelu_erf_torch(%x: f64, %bias: f64) -> f64 attributes {element_types = [f16, bf16, f32, f64]} {
    %sum = arith.addf %x, %bias : f64
    %root_two = arith.constant 1.4142135623730951 : f64
    %quotient = arith.divf %sum, %root_two : f64
    %error = math.erf %quotient : f64
    %one = arith.constant 1.0 : f64
    %sum_1 = arith.addf %one, %error : f64
    %half = arith.constant 0.5 : f64
    %product = arith.mulf %half, %sum_1 : f64
    %product_1 = arith.mulf %sum, %product : f64
    xfuse.yield %product_1 : f64
  }

  xfuse.recipe @bias_gelu_erf_scaled(%x: f64, %bias: f64) -> f64 attributes {element_types = [f16, bf16, f32, f64]} {
    %sum = arith.addf %x, %bias : f64
    %half = arith.constant 0.5 : f64
    %product = arith.mulf %half, %sum : f64
    %root_half = arith.constant 0.7071067811865476 : f64
    %product_1 = arith.mulf %sum, %root_half : f64
    %error = math.erf %product_1 : f64
    %one = arith.constant 1.0 : f64
    %sum_1 = arith.addf %one, %error : f64
    %product_2 = arith.mulf %product, %sum_1 : f64
    xfuse.yield %product_2 : f64
  }

  xfuse.recipe @bias_gelu_erf_torch_scaled(
      %x: f64, %bias: f64
  ) -> f64 attributes {element_types = [f16, bf16, f32, f64]} {
    %sum = arith.addf %x, %bias : f64
    %root_half = arith.constant 0.7071067811865476 : f64
    %product = arith.mulf %sum, %root_half : f64
    %error = math.erf %product : f64
    %one = arith.constant 1.0 : f64
    %sum_1 = arith.addf %one, %error : f64
    %half = arith.constant 0.5 : f64
    %product_1 = arith.mulf %half, %sum_1 : f64
    %product_2 = arith.mulf %sum, %product_1 : f64
    xfuse.yield %product_2 : f64
  }
}
