// geglu(gate, up) = gelu_tanh(gate) up
//
// @geglu        textbook
// @geglu_jax    JAX (`jax.nn.gelu(gate) * up`)
// @geglu_torch  PyTorch through torch-mlir, with its constant for sqrt(2/pi) (see gelu_tanh)
xfuse.library @geglu {
  xfuse.recipe @geglu(%gate: f64, %up: f64) -> f64 attributes {element_types = [f16, bf16, f32, f64]} {
    %half = arith.constant 0.5 : f64
    %product = arith.mulf %half, %gate : f64
    %product_1 = arith.mulf %gate, %gate : f64
    %product_2 = arith.mulf %product_1, %gate : f64
    %beta = arith.constant 0.7978845608028654 : f64
    %kappa = arith.constant 0.044715 : f64
    %product_3 = arith.mulf %kappa, %product_2 : f64
    %sum = arith.addf %gate, %product_3 : f64
    %product_4 = arith.mulf %beta, %sum : f64
    %tangent = math.tanh %product_4 : f64
    %one = arith.constant 1.0 : f64
    %sum_1 = arith.addf %one, %tangent : f64
    %product_5 = arith.mulf %product, %sum_1 : f64
    %product_6 = arith.mulf %product_5, %up : f64
    xfuse.yield %product_6 : f64
  }

  xfuse.recipe @geglu_jax(%gate: f64, %up: f64) -> f64 attributes {element_types = [f16, bf16, f32, f64]} {
    %product = arith.mulf %gate, %gate : f64
    %product_1 = arith.mulf %product, %gate : f64
    %beta = arith.constant 0.7978845608028654 : f64
    %kappa = arith.constant 0.044715 : f64
    %product_2 = arith.mulf %kappa, %product_1 : f64
    %sum = arith.addf %gate, %product_2 : f64
    %product_3 = arith.mulf %beta, %sum : f64
    %tangent = math.tanh %product_3 : f64
    %one = arith.constant 1.0 : f64
    %sum_1 = arith.addf %one, %tangent : f64
    %half = arith.constant 0.5 : f64
    %product_4 = arith.mulf %half, %sum_1 : f64
    %product_5 = arith.mulf %gate, %product_4 : f64
    %product_6 = arith.mulf %product_5, %up : f64
    xfuse.yield %product_6 : f64
  }

  xfuse.recipe @geglu_torch(%gate: f64, %up: f64) -> f64 attributes {element_types = [f16, bf16, f32, f64]} {
    %exponent = arith.constant 3 : i64
    %power = math.fpowi %gate, %exponent : f64, i64
    %beta = arith.constant 0.7977240352174656 : f64
    %kappa = arith.constant 0.044715 : f64
    %product = arith.mulf %kappa, %power : f64
    %sum = arith.addf %gate, %product : f64
    %product_1 = arith.mulf %beta, %sum : f64
    %tangent = math.tanh %product_1 : f64
    %one = arith.constant 1.0 : f64
    %sum_1 = arith.addf %one, %tangent : f64
    %half = arith.constant 0.5 : f64
    %product_2 = arith.mulf %half, %sum_1 : f64
    %product_3 = arith.mulf %gate, %product_2 : f64
    %product_4 = arith.mulf %product_3, %up : f64
    xfuse.yield %product_4 : f64
  }
}
