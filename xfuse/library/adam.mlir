// adam: a step of Adam or, with decay, of AdamW; gives the new parameter and the new first and second moment
//
// first' = beta1 first + (1 - beta1) gradient, second' = beta2 second + (1 - beta2) gradient^2
// parameter' = parameter - rate ((first' / correction1) / (sqrt(second' / correction2) + epsilon) + decay parameter)
// with correction = 1 - beta^step, which is a scalar of the program.
//
// @adam            textbook without decay; all hyper-parameters may be scalars of the program
// @adam_decay      textbook with decay
// @adam_jax        JAX with constant hyper-parameters and decay: gain = 1 - beta is a constant, and the second
//                  moment gains (gain2 gradient) gradient
// @adam_jax_plain  the same without decay
xfuse.library @adam {
  xfuse.recipe @adam(
      %parameter: f64, %gradient: f64, %first: f64, %second: f64, %rate: f64, %beta1: f64, %beta2: f64,
      %epsilon: f64, %correction1: f64, %correction2: f64
  ) -> (f64, f64, f64) attributes {element_types = [f16, bf16, f32, f64]} {
    %one = arith.constant 1.0 : f64
    %product = arith.mulf %beta1, %first : f64
    %difference = arith.subf %one, %beta1 : f64
    %product_1 = arith.mulf %difference, %gradient : f64
    %new_first = arith.addf %product, %product_1 : f64
    %product_2 = arith.mulf %beta2, %second : f64
    %difference_1 = arith.subf %one, %beta2 : f64
    %product_3 = arith.mulf %gradient, %gradient : f64
    %product_4 = arith.mulf %difference_1, %product_3 : f64
    %new_second = arith.addf %product_2, %product_4 : f64
    %quotient = arith.divf %new_first, %correction1 : f64
    %quotient_1 = arith.divf %new_second, %correction2 : f64
    %root = math.sqrt %quotient_1 : f64
    %sum = arith.addf %root, %epsilon : f64
    %quotient_2 = arith.divf %quotient, %sum : f64
    %product_5 = arith.mulf %rate, %quotient_2 : f64
    %new_parameter = arith.subf %parameter, %product_5 : f64
    xfuse.yield %new_parameter, %new_first, %new_second : f64, f64, f64
  }

  xfuse.recipe @adam_decay(
      %parameter: f64, %gradient: f64, %first: f64, %second: f64, %rate: f64, %beta1: f64, %beta2: f64,
      %epsilon: f64, %correction1: f64, %correction2: f64, %decay: f64
  ) -> (f64, f64, f64) attributes {element_types = [f16, bf16, f32, f64]} {
    %one = arith.constant 1.0 : f64
    %product = arith.mulf %beta1, %first : f64
    %difference = arith.subf %one, %beta1 : f64
    %product_1 = arith.mulf %difference, %gradient : f64
    %new_first = arith.addf %product, %product_1 : f64
    %product_2 = arith.mulf %beta2, %second : f64
    %difference_1 = arith.subf %one, %beta2 : f64
    %product_3 = arith.mulf %gradient, %gradient : f64
    %product_4 = arith.mulf %difference_1, %product_3 : f64
    %new_second = arith.addf %product_2, %product_4 : f64
    %quotient = arith.divf %new_first, %correction1 : f64
    %quotient_1 = arith.divf %new_second, %correction2 : f64
    %root = math.sqrt %quotient_1 : f64
    %sum = arith.addf %root, %epsilon : f64
    %quotient_2 = arith.divf %quotient, %sum : f64
    %product_5 = arith.mulf %decay, %parameter : f64
    %sum_1 = arith.addf %quotient_2, %product_5 : f64
    %product_6 = arith.mulf %rate, %sum_1 : f64
    %new_parameter = arith.subf %parameter, %product_6 : f64
    xfuse.yield %new_parameter, %new_first, %new_second : f64, f64, f64
  }

  xfuse.recipe @adam_jax(
      %parameter: f64, %gradient: f64, %first: f64, %second: f64, %correction1: f64, %correction2: f64,
      %rate: f64 {xfuse.scalar}, %beta1: f64 {xfuse.scalar}, %gain1: f64 {xfuse.scalar},
      %beta2: f64 {xfuse.scalar}, %gain2: f64 {xfuse.scalar}, %epsilon: f64 {xfuse.scalar},
      %decay: f64 {xfuse.scalar}
  ) -> (f64, f64, f64) attributes {element_types = [f16, bf16, f32, f64]} {
    %product = arith.mulf %beta1, %first : f64
    %product_1 = arith.mulf %gain1, %gradient : f64
    %new_first = arith.addf %product, %product_1 : f64
    %product_2 = arith.mulf %beta2, %second : f64
    %product_3 = arith.mulf %gain2, %gradient : f64
    %product_4 = arith.mulf %product_3, %gradient : f64
    %new_second = arith.addf %product_2, %product_4 : f64
    %quotient = arith.divf %new_first, %correction1 : f64
    %quotient_1 = arith.divf %new_second, %correction2 : f64
    %root = math.sqrt %quotient_1 : f64
    %sum = arith.addf %root, %epsilon : f64
    %quotient_2 = arith.divf %quotient, %sum : f64
    %product_5 = arith.mulf %decay, %parameter : f64
    %sum_1 = arith.addf %quotient_2, %product_5 : f64
    %product_6 = arith.mulf %rate, %sum_1 : f64
    %new_parameter = arith.subf %parameter, %product_6 : f64
    xfuse.yield %new_parameter, %new_first, %new_second : f64, f64, f64
  }

  xfuse.recipe @adam_jax_plain(
      %parameter: f64, %gradient: f64, %first: f64, %second: f64, %correction1: f64, %correction2: f64,
      %rate: f64 {xfuse.scalar}, %beta1: f64 {xfuse.scalar}, %gain1: f64 {xfuse.scalar},
      %beta2: f64 {xfuse.scalar}, %gain2: f64 {xfuse.scalar}, %epsilon: f64 {xfuse.scalar}
  ) -> (f64, f64, f64) attributes {element_types = [f16, bf16, f32, f64]} {
    %product = arith.mulf %beta1, %first : f64
    %product_1 = arith.mulf %gain1, %gradient : f64
    %new_first = arith.addf %product, %product_1 : f64
    %product_2 = arith.mulf %beta2, %second : f64
    %product_3 = arith.mulf %gain2, %gradient : f64
    %product_4 = arith.mulf %product_3, %gradient : f64
    %new_second = arith.addf %product_2, %product_4 : f64
    %quotient = arith.divf %new_first, %correction1 : f64
    %quotient_1 = arith.divf %new_second, %correction2 : f64
    %root = math.sqrt %quotient_1 : f64
    %sum = arith.addf %root, %epsilon : f64
    %quotient_2 = arith.divf %quotient, %sum : f64
    %product_5 = arith.mulf %rate, %quotient_2 : f64
    %new_parameter = arith.subf %parameter, %product_5 : f64
    xfuse.yield %new_parameter, %new_first, %new_second : f64, f64, f64
  }
}
