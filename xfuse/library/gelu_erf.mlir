// gelu_erf(x) = x/2 (1 + erf(x / sqrt(2))), the exact GELU
//
// Minus infinity gives a NaN in every form: -inf * 0.
//
// @gelu_erf               textbook: (0.5 x) (1 + erf(x / sqrt(2)))
// @gelu_erf_torch         PyTorch (`nn.GELU()`): x (0.5 (1 + erf(x / sqrt(2))))
// @gelu_erf_scaled        textbook with x sqrt(1/2) for x / sqrt(2)
// @gelu_erf_torch_scaled  PyTorch's order with x sqrt(1/2) for x / sqrt(2)
//
// JAX (`jax.nn.gelu(x, approximate=False)`) has a polynomial for erfc at each element type instead.
xfuse.library @gelu_erf {
  xfuse.recipe @gelu_erf(%x: f64) -> f64 attributes {element_types = [f16, bf16, f32, f64]} {
    %half = arith.constant 0.5 : f64
    %product = arith.mulf %half, %x : f64
    %root_two = arith.constant 1.4142135623730951 : f64
    %quotient = arith.divf %x, %root_two : f64
    %error = math.erf %quotient : f64
    %one = arith.constant 1.0 : f64
    %sum = arith.addf %one, %error : f64
    %product_1 = arith.mulf %product, %sum : f64
    xfuse.yield %product_1 : f64
  }

  xfuse.recipe @gelu_erf_torch(%x: f64) -> f64 attributes {element_types = [f16, bf16, f32, f64]} {
    %root_two = arith.constant 1.4142135623730951 : f64
    %quotient = arith.divf %x, %root_two : f64
    %error = math.erf %quotient : f64
    %one = arith.constant 1.0 : f64
    %sum = arith.addf %one, %error : f64
    %half = arith.constant 0.5 : f64
    %product = arith.mulf %half, %sum : f64
    %product_1 = arith.mulf %x, %product : f64
    xfuse.yield %product_1 : f64
  }

  xfuse.recipe @gelu_erf_scaled(%x: f64) -> f64 attributes {element_types = [f16, bf16, f32, f64]} {
    %half = arith.constant 0.5 : f64
    %product = arith.mulf %half, %x : f64
    %root_half = arith.constant 0.7071067811865476 : f64
    %product_1 = arith.mulf %x, %root_half : f64
    %error = math.erf %product_1 : f64
    %one = arith.constant 1.0 : f64
    %sum = arith.addf %one, %error : f64
    %product_2 = arith.mulf %product, %sum : f64
    xfuse.yield %product_2 : f64
  }

  xfuse.recipe @gelu_erf_torch_scaled(%x: f64) -> f64 attributes {element_types = [f16, bf16, f32, f64]} {
    %root_half = arith.constant 0.7071067811865476 : f64
    %product = arith.mulf %x, %root_half : f64
    %error = math.erf %product : f64
    %one = arith.constant 1.0 : f64
    %sum = arith.addf %one, %error : f64
    %half = arith.constant 0.5 : f64
    %product_1 = arith.mulf %half, %sum : f64
    %product_2 = arith.mulf %x, %product_1 : f64
    xfuse.yield %product_2 : f64
  }
}
