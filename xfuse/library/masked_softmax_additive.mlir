// masked_softmax_additive(scores, bias, scale) = softmax(scale scores + bias)
//
// (n),(n),()->(n): bias is 0 where a score counts and a large negative number where not, or any bias, as ALiBi's.
// Vaswani et al., "Attention Is All You Need", arXiv:1706.03762.
//
// @masked_softmax_additive               textbook, JAX and PyTorch (`scores * scale + mask`)
// @masked_softmax_additive_div           scores / scale
// @masked_softmax_additive_accumulating  textbook, at no narrower a type than f32
#row = affine_map<(n) -> (n)>
#cell = affine_map<(n) -> ()>

xfuse.library @masked_softmax_additive {
  xfuse.recipe @masked_softmax_additive(
      %scores: tensor<?xf64>, %bias: tensor<?xf64>, %scale: f64 {xfuse.scalar}
  ) -> tensor<?xf64> attributes {element_types = [f16, bf16, f32, f64]} {
    %first = arith.constant 0 : index
    %n = tensor.dim %scores, %first : tensor<?xf64>
    %row = tensor.empty(%n) : tensor<?xf64>
    %logits = linalg.generic {indexing_maps = [#row, #row, #row], iterator_types = ["parallel"]}
        ins(%scores, %bias : tensor<?xf64>, tensor<?xf64>) outs(%row : tensor<?xf64>) {
    ^bb0(%scores_i: f64, %bias_i: f64, %out: f64):
      %scaled = arith.mulf %scores_i, %scale : f64
      %logit = arith.addf %scaled, %bias_i : f64
      linalg.yield %logit : f64
    } -> tensor<?xf64>
    %lowest = arith.constant 0xFFF0000000000000 : f64
    %empty_maximum = tensor.splat %lowest : tensor<f64>
    %maximum_cell = linalg.generic {indexing_maps = [#row, #cell], iterator_types = ["reduction"]}
        ins(%logits : tensor<?xf64>) outs(%empty_maximum : tensor<f64>) {
    ^bb0(%logits_i: f64, %largest: f64):
      %larger = arith.maximumf %largest, %logits_i : f64
      linalg.yield %larger : f64
    } -> tensor<f64>
    %maximum = tensor.extract %maximum_cell[] : tensor<f64>
    %exponentials = linalg.generic {indexing_maps = [#row, #row], iterator_types = ["parallel"]}
        ins(%logits : tensor<?xf64>) outs(%row : tensor<?xf64>) {
    ^bb0(%logits_i: f64, %out: f64):
      %difference = arith.subf %logits_i, %maximum : f64
      %exponential = math.exp %difference : f64
      linalg.yield %exponential : f64
    } -> tensor<?xf64>
    %zero = arith.constant 0.0 : f64
    %empty_sum = tensor.splat %zero : tensor<f64>
    %total_cell = linalg.generic {indexing_maps = [#row, #cell], iterator_types = ["reduction"]}
        ins(%exponentials : tensor<?xf64>) outs(%empty_sum : tensor<f64>) {
    ^bb0(%exponentials_i: f64, %partial: f64):
      %sum = arith.addf %partial, %exponentials_i : f64
      linalg.yield %sum : f64
    } -> tensor<f64>
    %total = tensor.extract %total_cell[] : tensor<f64>
    %y = linalg.generic {indexing_maps = [#row, #row], iterator_types = ["parallel"]}
        ins(%exponentials : tensor<?xf64>) outs(%row : tensor<?xf64>) {
    ^bb0(%exponentials_i: f64, %out: f64):
      %quotient = arith.divf %exponentials_i, %total : f64
      linalg.yield %quotient : f64
    } -> tensor<?xf64>
    xfuse.yield %y : tensor<?xf64>
  }

  xfuse.recipe @masked_softmax_additive_div(
      %scores: tensor<?xf64>, %bias: tensor<?xf64>, %scale: f64 {xfuse.scalar}
  ) -> tensor<?xf64> attributes {element_types = [f16, bf16, f32, f64]} {
    %first = arith.constant 0 : index
    %n = tensor.dim %scores, %first : tensor<?xf64>
    %row = tensor.empty(%n) : tensor<?xf64>
    %logits = linalg.generic {indexing_maps = [#row, #row, #row], iterator_types = ["parallel"]}
        ins(%scores, %bias : tensor<?xf64>, tensor<?xf64>) outs(%row : tensor<?xf64>) {
    ^bb0(%scores_i: f64, %bias_i: f64, %out: f64):
      %scaled = arith.divf %scores_i, %scale : f64
      %logit = arith.addf %scaled, %bias_i : f64
      linalg.yield %logit : f64
    } -> tensor<?xf64>
    %lowest = arith.constant 0xFFF0000000000000 : f64
    %empty_maximum = tensor.splat %lowest : tensor<f64>
    %maximum_cell = linalg.generic {indexing_maps = [#row, #cell], iterator_types = ["reduction"]}
        ins(%logits : tensor<?xf64>) outs(%empty_maximum : tensor<f64>) {
    ^bb0(%logits_i: f64, %largest: f64):
      %larger = arith.maximumf %largest, %logits_i : f64
      linalg.yield %larger : f64
    } -> tensor<f64>
    %maximum = tensor.extract %maximum_cell[] : tensor<f64>
    %exponentials = linalg.generic {indexing_maps = [#row, #row], iterator_types = ["parallel"]}
        ins(%logits : tensor<?xf64>) outs(%row : tensor<?xf64>) {
    ^bb0(%logits_i: f64, %out: f64):
      %difference = arith.subf %logits_i, %maximum : f64
      %exponential = math.exp %difference : f64
      linalg.yield %exponential : f64
    } -> tensor<?xf64>
    %zero = arith.constant 0.0 : f64
    %empty_sum = tensor.splat %zero : tensor<f64>
    %total_cell = linalg.generic {indexing_maps = [#row, #cell], iterator_types = ["reduction"]}
        ins(%exponentials : tensor<?xf64>) outs(%empty_sum : tensor<f64>) {
    ^bb0(%exponentials_i: f64, %partial: f64):
      %sum = arith.addf %partial, %exponentials_i : f64
      linalg.yield %sum : f64
    } -> tensor<f64>
    %total = tensor.extract %total_cell[] : tensor<f64>
    %y = linalg.generic {indexing_maps = [#row, #row], iterator_types = ["parallel"]}
        ins(%exponentials : tensor<?xf64>) outs(%row : tensor<?xf64>) {
    ^bb0(%exponentials_i: f64, %out: f64):
      %quotient = arith.divf %exponentials_i, %total : f64
      linalg.yield %quotient : f64
    } -> tensor<?xf64>
    xfuse.yield %y : tensor<?xf64>
  }

  xfuse.recipe @masked_softmax_additive_accumulating(
      %scores: tensor<?xf64> {xfuse.accumulator = f32}, %bias: tensor<?xf64> {xfuse.accumulator = f32},
      %scale: f64 {xfuse.scalar, xfuse.accumulator = f32}
  ) -> tensor<?xf64> attributes {element_types = [f16, bf16, f32, f64]} {
    %first = arith.constant 0 : index
    %n = tensor.dim %scores, %first : tensor<?xf64>
    %row = tensor.empty(%n) : tensor<?xf64>
    %logits = linalg.generic {indexing_maps = [#row, #row, #row], iterator_types = ["parallel"]}
        ins(%scores, %bias : tensor<?xf64>, tensor<?xf64>) outs(%row : tensor<?xf64>) {
    ^bb0(%scores_i: f64, %bias_i: f64, %out: f64):
      %scaled = arith.mulf %scores_i, %scale : f64
      %logit = arith.addf %scaled, %bias_i : f64
      linalg.yield %logit : f64
    } -> tensor<?xf64>
    %lowest = arith.constant 0xFFF0000000000000 : f64
    %empty_maximum = tensor.splat %lowest : tensor<f64>
    %maximum_cell = linalg.generic {indexing_maps = [#row, #cell], iterator_types = ["reduction"]}
        ins(%logits : tensor<?xf64>) outs(%empty_maximum : tensor<f64>) {
    ^bb0(%logits_i: f64, %largest: f64):
      %larger = arith.maximumf %largest, %logits_i : f64
      linalg.yield %larger : f64
    } -> tensor<f64>
    %maximum = tensor.extract %maximum_cell[] : tensor<f64>
    %exponentials = linalg.generic {indexing_maps = [#row, #row], iterator_types = ["parallel"]}
        ins(%logits : tensor<?xf64>) outs(%row : tensor<?xf64>) {
    ^bb0(%logits_i: f64, %out: f64):
      %difference = arith.subf %logits_i, %maximum : f64
      %exponential = math.exp %difference : f64
      linalg.yield %exponential : f64
    } -> tensor<?xf64>
    %zero = arith.constant 0.0 : f64
    %empty_sum = tensor.splat %zero : tensor<f64>
    %total_cell = linalg.generic {indexing_maps = [#row, #cell], iterator_types = ["reduction"]}
        ins(%exponentials : tensor<?xf64>) outs(%empty_sum : tensor<f64>) {
    ^bb0(%exponentials_i: f64, %partial: f64):
      %sum = arith.addf %partial, %exponentials_i : f64
      linalg.yield %sum : f64
    } -> tensor<f64>
    %total = tensor.extract %total_cell[] : tensor<f64>
    %y = linalg.generic {indexing_maps = [#row, #row], iterator_types = ["parallel"]}
        ins(%exponentials : tensor<?xf64>) outs(%row : tensor<?xf64>) {
    ^bb0(%exponentials_i: f64, %out: f64):
      %quotient = arith.divf %exponentials_i, %total : f64
      linalg.yield %quotient : f64
    } -> tensor<?xf64>
    xfuse.yield %y : tensor<?xf64>
  }
}
