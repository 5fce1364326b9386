// bce_with_logits_backward(logit, label, gradient) = gradient (sigmoid(logit) - label)
//
// @bce_with_logits_backward        textbook
// @bce_with_logits_backward_jax    JAX (of `softplus(x) - label * x`): slope gradient + (-gradient) label, of slope =
//                                  exp(x - softplus(x)), infinities taken for 0
// @bce_with_logits_backward_baked  the same where a constant gradient has made another: negative = -gradient
xfuse.library @bce_with_logits_backward {
  xfuse.recipe @bce_with_logits_backward(
      %logit: f64, %label: f64, %gradient: f64
  ) -> f64 attributes {element_types = [f16, bf16, f32, f64]} {
    %one = arith.constant 1.0 : f64
    %negative = arith.negf %logit : f64
    %exponential = math.exp %negative : f64
    %sum = arith.addf %one, %exponential : f64
    %sigmoid = arith.divf %one, %sum : f64
    %difference = arith.subf %sigmoid, %label : f64
    %result = arith.mulf %gradient, %difference : f64
    xfuse.yield %result : f64
  }

  xfuse.recipe @bce_with_logits_backward_jax(
      %logit: f64, %label: f64, %gradient: f64
  ) -> f64 attributes {element_types = [f16, bf16, f32, f64]} {
    %zero = arith.constant 0.0 : f64
    %larger = arith.maximumf %logit, %zero : f64
    %magnitude = math.absf %logit : f64
    %negative = arith.negf %magnitude : f64
    %exponential = math.exp %negative : f64
    %correction = math.log1p %exponential : f64
    %sum = arith.addf %larger, %correction : f64
    %shifted = arith.addf %logit, %zero : f64
    %test = arith.cmpf une, %logit, %logit : f64
    %softplus = arith.select %test, %shifted, %sum : f64
    %infinity = arith.constant 0x7FF0000000000000 : f64
    %test_1 = arith.cmpf oeq, %logit, %infinity : f64
    %left = arith.select %test_1, %zero, %logit : f64
    %test_2 = arith.cmpf oeq, %softplus, %infinity : f64
    %right = arith.select %test_2, %zero, %softplus : f64
    %difference = arith.subf %left, %right : f64
    %slope = math.exp %difference : f64
    %product = arith.mulf %slope, %gradient : f64
    %negative_1 = arith.negf %gradient : f64
    %rest = arith.mulf %negative_1, %label : f64
    %result = arith.addf %product, %rest : f64
    xfuse.yield %result : f64
  }

  xfuse.recipe @bce_with_logits_backward_baked(
      %logit: f64, %label: f64, %gradient: f64 {xfuse.scalar}, %negative: f64 {xfuse.scalar}
  ) -> f64 attributes {element_types = [f16, bf16, f32, f64]} {
    %zero = arith.constant 0.0 : f64
    %larger = arith.maximumf %logit, %zero : f64
    %magnitude = math.absf %logit : f64
    %negative_1 = arith.negf %magnitude : f64
    %exponential = math.exp %negative_1 : f64
    %correction = math.log1p %exponential : f64
    %sum = arith.addf %larger, %correction : f64
    %shifted = arith.addf %logit, %zero : f64
    %test = arith.cmpf une, %logit, %logit : f64
    %softplus = arith.select %test, %shifted, %sum : f64
    %infinity = arith.constant 0x7FF0000000000000 : f64
    %test_1 = arith.cmpf oeq, %logit, %infinity : f64
    %left = arith.select %test_1, %zero, %logit : f64
    %test_2 = arith.cmpf oeq, %softplus, %infinity : f64
    %right = arith.select %test_2, %zero, %softplus : f64
    %difference = arith.subf %left, %right : f64
    %slope = math.exp %difference : f64
    %product = arith.mulf %slope, %gradient : f64
    %rest = arith.mulf %negative, %label : f64
    %result = arith.addf %product, %rest : f64
    xfuse.yield %result : f64
  }
}
