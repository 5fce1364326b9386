// mse_loss_backward(prediction, target, gradient) = 2 / count (prediction - target) gradient
//
// The derivative of mse_loss. The number of all elements is a literal of the program: count, or factor = 2 / count.
//
// @mse_loss_backward      PyTorch (`mse_loss_backward`): (factor (prediction - target)) gradient
// @mse_loss_backward_jax  JAX: (gradient / count) (2 (prediction - target))
xfuse.library @mse_loss_backward {
  xfuse.recipe @mse_loss_backward(
      %prediction: f64, %target: f64, %gradient: f64, %factor: f64 {xfuse.scalar}
  ) -> f64 attributes {element_types = [f16, bf16, f32, f64]} {
    %difference = arith.subf %prediction, %target : f64
    %slope = arith.mulf %factor, %difference : f64
    %result = arith.mulf %slope, %gradient : f64
    xfuse.yield %result : f64
  }

  xfuse.recipe @mse_loss_backward_jax(
      %prediction: f64, %target: f64, %gradient: f64, %count: f64 {xfuse.scalar}
  ) -> f64 attributes {element_types = [f16, bf16, f32, f64]} {
    %share = arith.divf %gradient, %count : f64
    %difference = arith.subf %prediction, %target : f64
    %two = arith.constant 2.0 : f64
    %slope = arith.mulf %two, %difference : f64
    %result = arith.mulf %share, %slope : f64
    xfuse.yield %result : f64
  }
}
