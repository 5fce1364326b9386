// mae_loss_backward(prediction, target, gradient) = gradient sign(prediction - target)
//
// The derivative of mae_loss, of a gradient that is divided by the count.
//
// @mae_loss_backward      textbook: the sign of 0 is 0
// @mae_loss_backward_jax  JAX: the sign of 0 is 1; a difference of two masked gradients
xfuse.library @mae_loss_backward {
  xfuse.recipe @mae_loss_backward(
      %prediction: f64, %target: f64, %gradient: f64
  ) -> f64 attributes {element_types = [f16, bf16, f32, f64]} {
    %difference = arith.subf %prediction, %target : f64
    %negative = arith.negf %gradient : f64
    %zero = arith.constant 0.0 : f64
    %test = arith.cmpf olt, %difference, %zero : f64
    %below = arith.select %test, %negative, %zero : f64
    %test_1 = arith.cmpf ogt, %difference, %zero : f64
    %result = arith.select %test_1, %gradient, %below : f64
    xfuse.yield %result : f64
  }

  xfuse.recipe @mae_loss_backward_jax(
      %prediction: f64, %target: f64, %gradient: f64
  ) -> f64 attributes {element_types = [f16, bf16, f32, f64]} {
    %difference = arith.subf %prediction, %target : f64
    %zero = arith.constant 0.0 : f64
    %test = arith.cmpf oge, %difference, %zero : f64
    %above = arith.select %test, %gradient, %zero : f64
    %below = arith.select %test, %zero, %gradient : f64
    %negative = arith.negf %below : f64
    %result = arith.addf %above, %negative : f64
    xfuse.yield %result : f64
  }
}
