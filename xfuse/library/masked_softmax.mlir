// masked_softmax(scores, mask, scale, fill) = softmax(mask ? scale scores : fill)
//
// (n),(n),(),()->(n), fill a large negative number or minus infinity. A row that is masked in full gives 1/n everywhere
// if fill is finite, else NaNs. Vaswani et al., "Attention Is All You Need", arXiv:1706.03762.
//
// @masked_softmax               textbook and JAX (`jnp.where(mask, scores * scale, fill)`)
// @masked_softmax_div           scores / scale
// @masked_softmax_unscaled      no scale: (n),(n),()->(n)
// @masked_softmax_filled        PyTorch (`masked_fill`): the mask says what to leave out
// @masked_softmax_filled_div    PyTorch, scores / scale
// @masked_softmax_accumulating  textbook, at no narrower a type than f32
#row = affine_map<(n) -> (n)>
#cell = affine_map<(n) -> ()>

xfuse.library @masked_softmax {
  xfuse.recipe @masked_softmax(
      %scores: tensor<?xf64>, %mask: tensor<?xi1>, %scale: f64 {xfuse.scalar}, %fill: f64 {xfuse.scalar}
  ) -> tensor<?xf64> attributes {element_types = [f16, bf16, f32, f64]} {
    %first = arith.constant 0 : index
    %n = tensor.dim %scores, %first : tensor<?xf64>
    %row = tensor.empty(%n) : tensor<?xf64>
    %logits = linalg.generic {indexing_maps = [#row, #row, #row], iterator_types = ["parallel"]}
        ins(%scores, %mask : tensor<?xf64>, tensor<?xi1>) outs(%row : tensor<?xf64>) {
    ^bb0(%scores_i: f64, %mask_i: i1, %out: f64):
      %scaled = arith.mulf %scores_i, %scale : f64
      %logit = arith.select %mask_i, %scaled, %fill : f64
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

  xfuse.recipe @masked_softmax_div(
      %scores: tensor<?xf64>, %mask: tensor<?xi1>, %scale: f64 {xfuse.scalar}, %fill: f64 {xfuse.scalar}
  ) -> tensor<?xf64> attributes {element_types = [f16, bf16, f32, f64]} {
    %first = arith.constant 0 : index
    %n = tensor.dim %scores, %first : tensor<?xf64>
    %row = tensor.empty(%n) : tensor<?xf64>
    %logits = linalg.generic {indexing_maps = [#row, #row, #row], iterator_types = ["parallel"]}
        ins(%scores, %mask : tensor<?xf64>, tensor<?xi1>) outs(%row : tensor<?xf64>) {
    ^bb0(%scores_i: f64, %mask_i: i1, %out: f64):
      %scaled = arith.divf %scores_i, %scale : f64
      %logit = arith.select %mask_i, %scaled, %fill : f64
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

  xfuse.recipe @masked_softmax_unscaled(
      %scores: tensor<?xf64>, %mask: tensor<?xi1>, %fill: f64 {xfuse.scalar}
  ) -> tensor<?xf64> attributes {element_types = [f16, bf16, f32, f64]} {
    %first = arith.constant 0 : index
    %n = tensor.dim %scores, %first : tensor<?xf64>
    %row = tensor.empty(%n) : tensor<?xf64>
    %logits = linalg.generic {indexing_maps = [#row, #row, #row], iterator_types = ["parallel"]}
        ins(%scores, %mask : tensor<?xf64>, tensor<?xi1>) outs(%row : tensor<?xf64>) {
    ^bb0(%scores_i: f64, %mask_i: i1, %out: f64):
      %logit = arith.select %mask_i, %scores_i, %fill : f64
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

  xfuse.recipe @masked_softmax_filled(
      %scores: tensor<?xf64>, %mask: tensor<?xi1>, %scale: f64 {xfuse.scalar}, %fill: f64 {xfuse.scalar}
  ) -> tensor<?xf64> attributes {element_types = [f16, bf16, f32, f64]} {
    %first = arith.constant 0 : index
    %n = tensor.dim %scores, %first : tensor<?xf64>
    %row = tensor.empty(%n) : tensor<?xf64>
    %logits = linalg.generic {indexing_maps = [#row, #row, #row], iterator_types = ["parallel"]}
        ins(%scores, %mask : tensor<?xf64>, tensor<?xi1>) outs(%row : tensor<?xf64>) {
    ^bb0(%scores_i: f64, %mask_i: i1, %out: f64):
      %scaled = arith.mulf %scores_i, %scale : f64
      %logit = arith.select %mask_i, %fill, %scaled : f64
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

  xfuse.recipe @masked_softmax_filled_div(
      %scores: tensor<?xf64>, %mask: tensor<?xi1>, %scale: f64 {xfuse.scalar}, %fill: f64 {xfuse.scalar}
  ) -> tensor<?xf64> attributes {element_types = [f16, bf16, f32, f64]} {
    %first = arith.constant 0 : index
    %n = tensor.dim %scores, %first : tensor<?xf64>
    %row = tensor.empty(%n) : tensor<?xf64>
    %logits = linalg.generic {indexing_maps = [#row, #row, #row], iterator_types = ["parallel"]}
        ins(%scores, %mask : tensor<?xf64>, tensor<?xi1>) outs(%row : tensor<?xf64>) {
    ^bb0(%scores_i: f64, %mask_i: i1, %out: f64):
      %scaled = arith.divf %scores_i, %scale : f64
      %logit = arith.select %mask_i, %fill, %scaled : f64
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

  xfuse.recipe @masked_softmax_accumulating(
      %scores: tensor<?xf64> {xfuse.accumulator = f32}, %mask: tensor<?xi1>,
      %scale: f64 {xfuse.scalar, xfuse.accumulator = f32}, %fill: f64 {xfuse.scalar, xfuse.accumulator = f32}
  ) -> tensor<?xf64> attributes {element_types = [f16, bf16, f32, f64]} {
    %first = arith.constant 0 : index
    %n = tensor.dim %scores, %first : tensor<?xf64>
    %row = tensor.empty(%n) : tensor<?xf64>
    %logits = linalg.generic {indexing_maps = [#row, #row, #row], iterator_types = ["parallel"]}
        ins(%scores, %mask : tensor<?xf64>, tensor<?xi1>) outs(%row : tensor<?xf64>) {
    ^bb0(%scores_i: f64, %mask_i: i1, %out: f64):
      %scaled = arith.mulf %scores_i, %scale : f64
      %logit = arith.select %mask_i, %scaled, %fill : f64
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
