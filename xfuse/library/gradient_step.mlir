// gradient_step(parameter, gradient, rate) = parameter - rate gradient
//
// @gradient_step  textbook, JAX and PyTorch; the rate may be a scalar of the program, so it is no scalar slot
xfuse.library @gradient_step {
  xfuse.recipe @gradient_step(
      %parameter: f64, %gradient: f64, %rate: f64
  ) -> f64 attributes {element_types = [f16, bf16, f32, f64]} {
    %product = arith.mulf %rate, %gradient : f64
    %difference = arith.subf %parameter, %product : f64
    xfuse.yield %difference : f64
  }
}
