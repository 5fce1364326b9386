// bce_with_logits(logit, label) = -label log(sigmoid(logit)) - (1 - label) log(1 - sigmoid(logit))
//
// With a weight of the positive class its first term is multiplied by weight.
//
// @bce_with_logits                 textbook, stable: max(x, 0) - x label + log1p(exp(-|x|))
// @bce_with_logits_jax             JAX (`softplus(x) - label * x`): the guarded softplus
// @bce_with_logits_torch           PyTorch: (1 - label) x - log_sigmoid(x)
// @bce_with_logits_torch_weighted  PyTorch with a weight: (1 - label) x - ((weight - 1) label + 1) log_sigmoid(x)
xfuse.library @bce_with_logits {
  xfuse.recipe @bce_with_logits(%logit: f64, %label: f64) -> f64 attributes {element_types = [f16, bf16, f32, f64]} {
    %magnitude = math.absf %logit : f64
    %negative = arith.negf %magnitude : f64
    %exponential = math.exp %negative : f64
    %logarithm = math.log1p %exponential : f64
    %zero = arith.constant 0.0 : f64
    %larger = arith.maximumf %logit, %zero : f64
    %product = arith.mulf %logit, %label : f64
    %difference = arith.subf %larger, %product : f64
    %sum = arith.addf %difference, %logarithm : f64
    xfuse.yield %sum : f64
  }

  xfuse.recipe @bce_with_logits_jax(
      %logit: f64, %label: f64
  ) -> f64 attributes {element_types = [f16, bf16, f32, f64]} {
    %zero = arith.constant 0.0 : f64
    %larger = arith.maximumf %logit, %zero : f64
    %magnitude = math.absf %logit : f64
    %negative = arith.negf %magnitude : f64
    %exponential = math.exp %negative : f64
    %logarithm = math.log1p %exponential : f64
    %sum = arith.addf %larger, %logarithm : f64
    %sum_1 = arith.addf %logit, %zero : f64
    %test = arith.cmpf une, %logit, %logit : f64
    %chosen = arith.select %test, %sum_1, %sum : f64
    %product = arith.mulf %label, %logit : f64
    %difference = arith.subf %chosen, %product : f64
    xfuse.yield %difference : f64
  }

  xfuse.recipe @bce_with_logits_torch(
      %logit: f64, %label: f64
  ) -> f64 attributes {element_types = [f16, bf16, f32, f64]} {
    %magnitude = math.absf %logit : f64
    %negative = arith.negf %magnitude : f64
    %exponential = math.exp %negative : f64
    %logarithm = math.log1p %exponential : f64
    %zero = arith.constant 0.0 : f64
    %test = arith.cmpf olt, %zero, %logit : f64
    %chosen = arith.select %test, %zero, %logit : f64
    %difference = arith.subf %chosen, %logarithm : f64
    %one = arith.constant 1.0 : f64
    %difference_1 = arith.subf %one, %label : f64
    %product = arith.mulf %difference_1, %logit : f64
    %difference_2 = arith.subf %product, %difference : f64
    xfuse.yield %difference_2 : f64
  }

  xfuse.recipe @bce_with_logits_torch_weighted(
      %logit: f64, %label: f64, %weight: f64
  ) -> f64 attributes {element_types = [f16, bf16, f32, f64]} {
    %magnitude = math.absf %logit : f64
    %negative = arith.negf %magnitude : f64
    %exponential = math.exp %negative : f64
    %logarithm = math.log1p %exponential : f64
    %zero = arith.constant 0.0 : f64
    %test = arith.cmpf olt, %zero, %logit : f64
    %chosen = arith.select %test, %zero, %logit : f64
    %difference = arith.subf %chosen, %logarithm : f64
    %one = arith.constant 1.0 : f64
    %difference_1 = arith.subf %weight, %one : f64
    %product = arith.mulf %difference_1, %label : f64
    %sum = arith.addf %product, %one : f64
    %difference_2 = arith.subf %one, %label : f64
    %product_1 = arith.mulf %difference_2, %logit : f64
    %product_2 = arith.mulf %sum, %difference : f64
    %difference_3 = arith.subf %product_1, %product_2 : f64
    xfuse.yield %difference_3 : f64
  }
}
