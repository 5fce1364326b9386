// huber_loss_backward(prediction, target, gradient, delta) = gradient clip(prediction - target, -delta, delta)
//
// The derivative of huber_loss, of a gradient that is divided by the count.
//
// @huber_loss_backward         textbook; delta may be a scalar of the program
// @huber_loss_backward_select  gradient d if |d| <= delta, else gradient times delta with the sign of d
xfuse.library @huber_loss_backward {
  xfuse.recipe @huber_loss_backward(
      %prediction: f64, %target: f64, %gradient: f64, %delta: f64
  ) -> f64 attributes {element_types = [f16, bf16, f32, f64]} {
    %difference = arith.subf %prediction, %target : f64
    %lower = arith.negf %delta : f64
    %raised = arith.maximumf %difference, %lower : f64
    %clipped = arith.minimumf %raised, %delta : f64
    %result = arith.mulf %gradient, %clipped : f64
    xfuse.yield %result : f64
  }

  xfuse.recipe @huber_loss_backward_select(
      %prediction: f64, %target: f64, %gradient: f64, %delta: f64
  ) -> f64 attributes {element_types = [f16, bf16, f32, f64]} {
    %difference = arith.subf %prediction, %target : f64
    %inner = arith.mulf %gradient, %difference : f64
    %signed = math.copysign %delta, %difference : f64
    %outer = arith.mulf %gradient, %signed : f64
    %magnitude = math.absf %difference : f64
    %test = arith.cmpf ole, %magnitude, %delta : f64
    %result = arith.select %test, %inner, %outer : f64
    xfuse.yield %result : f64
  }
}
