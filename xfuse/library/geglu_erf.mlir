// geglu_erf(gate, up) = gelu_erf(gate) up
//
// @geglu_erf         textbook
// @geglu_erf_torch   PyTorch (`F.gelu(gate) * up`)
// @geglu_erf_scaled  textbook with a product by sqrt(1/2) for the division by sqrt(2)
xfuse.library @geglu_erf {
  xfuse.recipe @geglu_erf(%gate: f64, %up: f64) -> f64 attributes {element_types = [f16, bf16, f32, f64]} {
    %half = arith.constant 0.5 : f64
    %product = arith.mulf %half, %gate : f64
    %root_two = arith.constant 1.4142135623730951 : f64
    %quotient = arith.divf %gate, %root_two : f64
    %error = math.erf %quotient : f64
    %one = arith.constant 1.0 : f64
    %sum = arith.addf %one, %error : f64
    %product_1 = arith.mulf %product, %sum : f64
    %product_2 = arith.mulf %product_1, %up : f64
    xfuse.yield %product_2 : f64
  }

  xfuse.recipe @geglu_erf_torch(%gate: f64, %up: f64) -> f64 attributes {element_types = [f16, bf16, f32, f64]} {
    %root_two = arith.constant 1.4142135623730951 : f64
    %quotient = arith.divf %gate, %root_two : f64
    %error = math.erf %quotient : f64
    %one = arith.constant 1.0 : f64
    %sum = arith.addf %one, %error : f64
    %half = arith.constant 0.5 : f64
    %product = arith.mulf %half, %sum : f64
    %product_1 = arith.mulf %gate, %product : f64
    %product_2 = arith.mulf %product_1, %up : f64
    xfuse.yield %product_2 : f64
  }

  xfuse.recipe @geglu_erf_scaled(%gate: f64, %up: f64) -> f64 attributes {element_types = [f16, bf16, f32, f64]} {
    %half = arith.constant 0.5 : f64
    %product = arith.mulf %half, %gate : f64
    %root_half = arith.constant 0.7071067811865476 : f64
    %product_1 = arith.mulf %gate, %root_half : f64
    %error = math.erf %product_1 : f64
    %one = arith.constant 1.0 : f64
    %sum = arith.addf %one, %error : f64
    %product_2 = arith.mulf %product, %sum : f64
    %product_3 = arith.mulf %product_2, %up : f64
    xfuse.yield %product_3 : f64
  }
}
