// bias_gelu_tanh(x, bias) = gelu_tanh(x + bias)
//
// @bias_gelu_tanh            textbook
// @bias_gelu_tanh_jax        JAX (`jax.nn.gelu(x + bias)`)
// @bias_gelu_tanh_torch      PyTorch through torch-mlir, with its constant for sqrt(2/pi) (see gelu_tanh)
// @bias_gelu_tanh_jax_mixed  JAX in bf16 behind a matmul that accumulates in f32: f32 and bf16 in, bf16 out
xfuse.library @bias_gelu_tanh {
  xfuse.recipe @bias_gelu_tanh(%x: f64, %bias: f64) -> f64 attributes {element_types = [f16, bf16, f32, f64]} {
    %sum = arith.addf %x, %bias : f64
    %half = arith.constant 0.5 : f64
    %product = arith.mulf %half, %sum : f64
    %product_1 = arith.mulf %sum, %sum : f64
    %product_2 = arith.mulf %product_1, %sum : f64
    %beta = arith.constant 0.7978845608028654 : f64
    %kappa = arith.constant 0.044715 : f64
    %product_3 = arith.mulf %kappa, %product_2 : f64
    %sum_1 = arith.addf %sum, %product_3 : f64
    %product_4 = arith.mulf %beta, %sum_1 : f64
    %tangent = math.tanh %product_4 : f64
    %one = arith.constant 1.0 : f64
    %sum_2 = arith.addf %one, %tangent : f64
    %product_5 = arith.mulf %product, %sum_2 : f64
    xfuse.yield %product_5 : f64
  }

  xfuse.recipe @bias_gelu_tanh_jax(%x: f64, %bias: f64) -> f64 attributes {element_types = [f16, bf16, f32, f64]} {
    %sum = arith.addf %x, %bias : f64
    %product = arith.mulf %sum, %sum : f64
    %product_1 = arith.mulf %product, %sum : f64
    %beta = arith.constant 0.7978845608028654 : f64
    %kappa = arith.constant 0.044715 : f64
    %product_2 = arith.mulf %kappa, %product_1 : f64
    %sum_1 = arith.addf %sum, %product_2 : f64
    %product_3 = arith.mulf %beta, %sum_1 : f64
    %tangent = math.tanh %product_3 : f64
    %one = arith.constant 1.0 : f64
    %sum_2 = arith.addf %one, %tangent : f64
    %half = arith.constant 0.5 : f64
    %product_4 = arith.mulf %half, %sum_2 : f64
    %product_5 = arith.mulf %sum, %product_4 : f64
    xfuse.yield %product_5 : f64
  }

  xfuse.recipe @bias_gelu_tanh_torch(%x: f64, %bias: f64) -> f64 attributes {element_types = [f16, bf16, f32, f64]} {
    %sum = arith.addf %x, %bias : f64
    %exponent = arith.constant 3 : i64
    %power = math.fpowi %sum, %exponent : f64, i64
    %beta = arith.constant 0.7977240352174656 : f64
    %kappa = arith.constant 0.044715 : f64
    %product = arith.mulf %kappa, %power : f64
    %sum_1 = arith.addf %sum, %product : f64
    %product_1 = arith.mulf %beta, %sum_1 : f64
    %tangent = math.tanh %product_1 : f64
    %one = arith.constant 1.0 : f64
    %sum_2 = arith.addf %one, %tangent : f64
    %half = arith.constant 0.5 : f64
    %product_2 = arith.mulf %half, %sum_2 : f64
    %product_3 = arith.mulf %sum, %product_2 : f64
    xfuse.yield %product_3 : f64
  }

  xfuse.recipe @bias_gelu_tanh_jax_mixed(%x: f32, %bias: bf16) -> bf16 {
    %wide = arith.extf %bias : bf16 to f32
    %sum = arith.addf %x, %wide : f32
    %product = arith.mulf %sum, %sum : f32
    %product_1 = arith.mulf %product, %sum : f32
    %beta = arith.constant 0.7978845608028654 : f32
    %kappa = arith.constant 0.044715 : f32
    %product_2 = arith.mulf %kappa, %product_1 : f32
    %sum_1 = arith.addf %sum, %product_2 : f32
    %product_3 = arith.mulf %beta, %sum_1 : f32
    %tangent = math.tanh %product_3 : f32
    %one = arith.constant 1.0 : f32
    %sum_2 = arith.addf %one, %tangent : f32
    %half = arith.constant 0.5 : f32
    %product_4 = arith.mulf %half, %sum_2 : f32
    %product_5 = arith.mulf %sum, %product_4 : f32
    %narrow = arith.truncf %product_5 : f32 to bf16
    xfuse.yield %narrow : bf16
  }
}
