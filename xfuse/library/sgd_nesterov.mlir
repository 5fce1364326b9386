// sgd_nesterov: a step of gradient descent with Nesterov's momentum; gives the new parameter and the new velocity
//
// velocity' = momentum velocity + gradient, parameter' = parameter - rate (gradient + momentum velocity')
//
// @sgd_nesterov  textbook, JAX and PyTorch; hyper-parameters may be scalars of the program
xfuse.library @sgd_nesterov {
  xfuse.recipe @sgd_nesterov(
      %parameter: f64, %gradient: f64, %velocity: f64, %rate: f64, %momentum: f64
  ) -> (f64, f64) attributes {element_types = [f16, bf16, f32, f64]} {
    %product = arith.mulf %momentum, %velocity : f64
    %new_velocity = arith.addf %product, %gradient : f64
    %product_1 = arith.mulf %momentum, %new_velocity : f64
    %sum = arith.addf %gradient, %product_1 : f64
    %product_2 = arith.mulf %rate, %sum : f64
    %new_parameter = arith.subf %parameter, %product_2 : f64
    xfuse.yield %new_parameter, %new_velocity : f64, f64
  }
}
