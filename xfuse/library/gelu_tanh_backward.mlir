// gelu_tanh_backward(x, gradient) = gradient ((1 + t) / 2 + x/2 (1 - t^2) b (1 + 3 k x^2)), the derivative of gelu_tanh
//
// Of b = sqrt(2/pi), k = 0.044715 and t = tanh(b (x + k x^3)).
//
// @gelu_tanh_backward      textbook and PyTorch (`gelu_backward`), 3 k as one literal
// @gelu_tanh_backward_jax  JAX (`jax.nn.gelu`): two terms of h = b (p + p t), p = (gradient x) / 2 (1 - t)
xfuse.library @gelu_tanh_backward {
  xfuse.recipe @gelu_tanh_backward(%x: f64, %gradient: f64) -> f64 attributes {element_types = [f16, bf16, f32, f64]} {
    %beta = arith.constant 0.7978845608028654 : f64
    %kappa = arith.constant 0.044715 : f64
    %three_kappa = arith.constant 0.134145 : f64
    %square = arith.mulf %x, %x : f64
    %cube = arith.mulf %square, %x : f64
    %product = arith.mulf %kappa, %cube : f64
    %sum = arith.addf %x, %product : f64
    %product_1 = arith.mulf %beta, %sum : f64
    %tangent = math.tanh %product_1 : f64
    %half = arith.constant 0.5 : f64
    %one = arith.constant 1.0 : f64
    %sum_1 = arith.addf %one, %tangent : f64
    %left = arith.mulf %half, %sum_1 : f64
    %half_x = arith.mulf %half, %x : f64
    %product_2 = arith.mulf %tangent, %tangent : f64
    %bend = arith.subf %one, %product_2 : f64
    %product_3 = arith.mulf %three_kappa, %square : f64
    %sum_2 = arith.addf %one, %product_3 : f64
    %stretch = arith.mulf %beta, %sum_2 : f64
    %product_4 = arith.mulf %half_x, %bend : f64
    %right = arith.mulf %product_4, %stretch : f64
    %sum_3 = arith.addf %left, %right : f64
    %result = arith.mulf %gradient, %sum_3 : f64
    xfuse.yield %result : f64
  }

  xfuse.recipe @gelu_tanh_backward_jax(
      %x: f64, %gradient: f64
  ) -> f64 attributes {element_types = [f16, bf16, f32, f64]} {
    %beta = arith.constant 0.7978845608028654 : f64
    %kappa = arith.constant 0.044715 : f64
    %square = arith.mulf %x, %x : f64
    %cube = arith.mulf %square, %x : f64
    %product = arith.mulf %kappa, %cube : f64
    %sum = arith.addf %x, %product : f64
    %product_1 = arith.mulf %beta, %sum : f64
    %tangent = math.tanh %product_1 : f64
    %half = arith.constant 0.5 : f64
    %one = arith.constant 1.0 : f64
    %product_2 = arith.mulf %gradient, %x : f64
    %product_3 = arith.mulf %product_2, %half : f64
    %difference = arith.subf %one, %tangent : f64
    %p = arith.mulf %product_3, %difference : f64
    %product_4 = arith.mulf %p, %tangent : f64
    %sum_1 = arith.addf %p, %product_4 : f64
    %h = arith.mulf %beta, %sum_1 : f64
    %sum_2 = arith.addf %one, %tangent : f64
    %product_5 = arith.mulf %half, %sum_2 : f64
    %outer = arith.mulf %gradient, %product_5 : f64
    %left = arith.addf %outer, %h : f64
    %three = arith.constant 3.0 : f64
    %product_6 = arith.mulf %three, %square : f64
    %product_7 = arith.mulf %kappa, %h : f64
    %right = arith.mulf %product_6, %product_7 : f64
    %result = arith.addf %left, %right : f64
    xfuse.yield %result : f64
  }
}
