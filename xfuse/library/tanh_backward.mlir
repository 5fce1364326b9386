// tanh_backward(y, gradient) = gradient (1 - y^2), of y = tanh(x)
//
// @tanh_backward        textbook and PyTorch: gradient (1 - y y)
// @tanh_backward_jax    JAX (`jnp.tanh`): h + h y, of h = gradient (1 - y)
// @tanh_backward_fpowi  gradient (1 - y^2), the square by fpowi with an i64 exponent
xfuse.library @tanh_backward {
  xfuse.recipe @tanh_backward(%y: f64, %gradient: f64) -> f64 attributes {element_types = [f16, bf16, f32, f64]} {
    %square = arith.mulf %y, %y : f64
    %one = arith.constant 1.0 : f64
    %slope = arith.subf %one, %square : f64
    %result = arith.mulf %gradient, %slope : f64
    xfuse.yield %result : f64
  }

  xfuse.recipe @tanh_backward_jax(%y: f64, %gradient: f64) -> f64 attributes {element_types = [f16, bf16, f32, f64]} {
    %one = arith.constant 1.0 : f64
    %rest = arith.subf %one, %y : f64
    %half = arith.mulf %gradient, %rest : f64
    %product = arith.mulf %half, %y : f64
    %result = arith.addf %half, %product : f64
    xfuse.yield %result : f64
  }

  xfuse.recipe @tanh_backward_fpowi(%y: f64, %gradient: f64) -> f64 attributes {element_types = [f16, bf16, f32, f64]} {
    %k2 = arith.constant 2 : i64
    %square = math.fpowi %y, %k2 : f64, i64
    %one = arith.constant 1.0 : f64
    %slope = arith.subf %one, %square : f64
    %result = arith.mulf %gradient, %slope : f64
    xfuse.yield %result : f64
  }
}
