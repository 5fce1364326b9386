// gelu_tanh(x) = x/2 (1 + tanh(sqrt(2/pi) (x + 0.044715 x^3)))
//
// Minus infinity gives a NaN in every form: -inf * 0.
//
// @gelu_tanh           textbook: (0.5 x) (1 + tanh(...)), the cube as (x x) x
// @gelu_tanh_jax       JAX (`jax.nn.gelu`): x (0.5 (1 + tanh(...)))
// @gelu_tanh_torch     PyTorch through torch-mlir: x^3 by fpowi and 0.7977240352174656 (0.797724 at f32) for
//                      sqrt(2/pi) = 0.7978845608028654; differs from the other forms by up to 1e-4
// @gelu_tanh_powf      x^3 by powf, as `torch.pow(x, 3.0)` in the original GPT-2
// @gelu_tanh_factored  tanh(sqrt(2/pi) x (1 + 0.044715 x x))
xfuse.library @gelu_tanh {
  xfuse.recipe @gelu_tanh(%x: f64) -> f64 attributes {element_types = [f16, bf16, f32, f64]} {
    %half = arith.constant 0.5 : f64
    %product = arith.mulf %half, %x : f64
    %product_1 = arith.mulf %x, %x : f64
    %product_2 = arith.mulf %product_1, %x : f64
    %beta = arith.constant 0.7978845608028654 : f64
    %kappa = arith.constant 0.044715 : f64
    %product_3 = arith.mulf %kappa, %product_2 : f64
    %sum = arith.addf %x, %product_3 : f64
    %product_4 = arith.mulf %beta, %sum : f64
    %tangent = math.tanh %product_4 : f64
    %one = arith.constant 1.0 : f64
    %sum_1 = arith.addf %one, %tangent : f64
    %product_5 = arith.mulf %product, %sum_1 : f64
    xfuse.yield %product_5 : f64
  }

  xfuse.recipe @gelu_tanh_jax(%x: f64) -> f64 attributes {element_types = [f16, bf16, f32, f64]} {
    %product = arith.mulf %x, %x : f64
    %product_1 = arith.mulf %product, %x : f64
    %beta = arith.constant 0.7978845608028654 : f64
    %kappa = arith.constant 0.044715 : f64
    %product_2 = arith.mulf %kappa, %product_1 : f64
    %sum = arith.addf %x, %product_2 : f64
    %product_3 = arith.mulf %beta, %sum : f64
    %tangent = math.tanh %product_3 : f64
    %one = arith.constant 1.0 : f64
    %sum_1 = arith.addf %one, %tangent : f64
    %half = arith.constant 0.5 : f64
    %product_4 = arith.mulf %half, %sum_1 : f64
    %product_5 = arith.mulf %x, %product_4 : f64
    xfuse.yield %product_5 : f64
  }

  xfuse.recipe @gelu_tanh_torch(%x: f64) -> f64 attributes {element_types = [f16, bf16, f32, f64]} {
    %exponent = arith.constant 3 : i64
    %power = math.fpowi %x, %exponent : f64, i64
    %beta = arith.constant 0.7977240352174656 : f64
    %kappa = arith.constant 0.044715 : f64
    %product = arith.mulf %kappa, %power : f64
    %sum = arith.addf %x, %product : f64
    %product_1 = arith.mulf %beta, %sum : f64
    %tangent = math.tanh %product_1 : f64
    %one = arith.constant 1.0 : f64
    %sum_1 = arith.addf %one, %tangent : f64
    %half = arith.constant 0.5 : f64
    %product_2 = arith.mulf %half, %sum_1 : f64
    %product_3 = arith.mulf %x, %product_2 : f64
    xfuse.yield %product_3 : f64
  }

  xfuse.recipe @gelu_tanh_powf(%x: f64) -> f64 attributes {element_types = [f16, bf16, f32, f64]} {
    %half = arith.constant 0.5 : f64
    %product = arith.mulf %half, %x : f64
    %three = arith.constant 3.0 : f64
    %power = math.powf %x, %three : f64
    %beta = arith.constant 0.7978845608028654 : f64
    %kappa = arith.constant 0.044715 : f64
    %product_1 = arith.mulf %kappa, %power : f64
    %sum = arith.addf %x, %product_1 : f64
    %product_2 = arith.mulf %beta, %sum : f64
    %tangent = math.tanh %product_2 : f64
    %one = arith.constant 1.0 : f64
    %sum_1 = arith.addf %one, %tangent : f64
    %product_3 = arith.mulf %product, %sum_1 : f64
    xfuse.yield %product_3 : f64
  }

  xfuse.recipe @gelu_tanh_factored(%x: f64) -> f64 attributes {element_types = [f16, bf16, f32, f64]} {
    %half = arith.constant 0.5 : f64
    %product = arith.mulf %half, %x : f64
    %kappa = arith.constant 0.044715 : f64
    %product_1 = arith.mulf %x, %x : f64
    %product_2 = arith.mulf %kappa, %product_1 : f64
    %beta = arith.constant 0.7978845608028654 : f64
    %product_3 = arith.mulf %beta, %x : f64
    %one = arith.constant 1.0 : f64
    %sum = arith.addf %one, %product_2 : f64
    %product_4 = arith.mulf %product_3, %sum : f64
    %tangent = math.tanh %product_4 : f64
    %sum_1 = arith.addf %one, %tangent : f64
    %product_5 = arith.mulf %product, %sum_1 : f64
    xfuse.yield %product_5 : f64
  }
}
