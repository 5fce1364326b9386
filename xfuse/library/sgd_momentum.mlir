// sgd_momentum: a step of gradient descent with momentum; gives the new parameter and the new velocity
//
// velocity' = momentum velocity + gradient + decay parameter, parameter' = parameter - rate velocity'
//
// @sgd_momentum        textbook, JAX and PyTorch, without decay; hyper-parameters may be scalars of the program
// @sgd_momentum_decay  with decay
xfuse.library @sgd_momentum {
  xfuse.recipe @sgd_momentum(
      %parameter: f64, %gradient: f64, %velocity: f64, %rate: f64, %momentum: f64
  ) -> (f64, f64) attributes {element_types = [f16, bf16, f32, f64]} {
    %product = arith.mulf %momentum, %velocity : f64
    %new_velocity = arith.addf %product, %gradient : f64
    %product_1 = arith.mulf %rate, %new_velocity : f64
    %new_parameter = arith.subf %parameter, %product_1 : f64
    xfuse.yield %new_parameter, %new_velocity : f64, f64
  }

  xfuse.recipe @sgd_momentum_decay(
      %parameter: f64, %gradient: f64, %velocity: f64, %rate: f64, %momentum: f64, %decay: f64
  ) -> (f64, f64) attributes {element_types = [f16, bf16, f32, f64]} {
    %product = arith.mulf %decay, %parameter : f64
    %sum = arith.addf %gradient, %product : f64
    %product_1 = arith.mulf %momentum, %velocity : f64
    %new_velocity = arith.addf %product_1, %sum : f64
    %product_2 = arith.mulf %rate, %new_velocity : f64
    %new_parameter = arith.subf %parameter, %product_2 : f64
    xfuse.yield %new_parameter, %new_velocity : f64, f64
  }
}
