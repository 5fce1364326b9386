// sigmoid_backward(y, gradient) = gradient y (1 - y), of y = sigmoid(x)
//
// @sigmoid_backward         textbook and PyTorch, of the result y: gradient (y (1 - y))
// @sigmoid_backward_left    of the result y: (gradient y) (1 - y)
// @sigmoid_backward_square  of the result y: gradient (y - y y)
// @sigmoid_backward_jax     JAX (`jax.nn.sigmoid`), of the argument x: y = 1 / (1 + exp(-x))
xfuse.library @sigmoid_backward {
  xfuse.recipe @sigmoid_backward(%y: f64, %gradient: f64) -> f64 attributes {element_types = [f16, bf16, f32, f64]} {
    %one = arith.constant 1.0 : f64
    %rest = arith.subf %one, %y : f64
    %slope = arith.mulf %y, %rest : f64
    %result = arith.mulf %gradient, %slope : f64
    xfuse.yield %result : f64
  }

  xfuse.recipe @sigmoid_backward_left(
      %y: f64, %gradient: f64
  ) -> f64 attributes {element_types = [f16, bf16, f32, f64]} {
    %product = arith.mulf %gradient, %y : f64
    %one = arith.constant 1.0 : f64
    %rest = arith.subf %one, %y : f64
    %result = arith.mulf %product, %rest : f64
    xfuse.yield %result : f64
  }

  xfuse.recipe @sigmoid_backward_square(
      %y: f64, %gradient: f64
  ) -> f64 attributes {element_types = [f16, bf16, f32, f64]} {
    %square = arith.mulf %y, %y : f64
    %slope = arith.subf %y, %square : f64
    %result = arith.mulf %gradient, %slope : f64
    xfuse.yield %result : f64
  }

  xfuse.recipe @sigmoid_backward_jax(
      %x: f64, %gradient: f64
  ) -> f64 attributes {element_types = [f16, bf16, f32, f64]} {
    %one = arith.constant 1.0 : f64
    %negative = arith.negf %x : f64
    %exponential = math.exp %negative : f64
    %sum = arith.addf %one, %exponential : f64
    %y = arith.divf %one, %sum : f64
    %rest = arith.subf %one, %y : f64
    %slope = arith.mulf %y, %rest : f64
    %result = arith.mulf %gradient, %slope : f64
    xfuse.yield %result : f64
  }
}
