// softmax_cross_entropy_backward(logits, target, gradient) = (softmax(logits) - target) gradient
//
// (n),(n),()->(n), of targets that sum to 1. With a label for the target, (n),(),()->(n), it is 1 there and 0
// elsewhere.
//
// @softmax_cross_entropy_backward               textbook
// @softmax_cross_entropy_backward_jax           JAX (`optax.softmax_cross_entropy`): h + e (sum(-h) / sum(e)), of e =
//                                               exp(logits - max(logits)) and h = (-gradient) target; any targets
// @softmax_cross_entropy_backward_label         textbook, the label by select; labels of type i32
// @softmax_cross_entropy_backward_label_onehot  JAX (`jax.nn.one_hot`); labels of type i32
// @softmax_cross_entropy_backward_accumulating  textbook, at no narrower a type than f32
#row = affine_map<(n) -> (n)>
#cell = affine_map<(n) -> ()>

xfuse.library @softmax_cross_entropy_backward {
  xfuse.recipe @softmax_cross_entropy_backward(
      %logits: tensor<?xf64>, %target: tensor<?xf64>, %gradient: f64
  ) -> tensor<?xf64> attributes {element_types = [f16, bf16, f32, f64]} {
    %lowest = arith.constant 0xFFF0000000000000 : f64
    %start = tensor.splat %lowest : tensor<f64>
    %peak_cell = linalg.generic {indexing_maps = [#row, #cell], iterator_types = ["reduction"]}
        ins(%logits : tensor<?xf64>) outs(%start : tensor<f64>) {
    ^bb0(%logits_i: f64, %largest: f64):
      %larger = arith.maximumf %largest, %logits_i : f64
      linalg.yield %larger : f64
    } -> tensor<f64>
    %peak = tensor.extract %peak_cell[] : tensor<f64>
    %c0 = arith.constant 0 : index
    %n = tensor.dim %logits, %c0 : tensor<?xf64>
    %empty = tensor.empty(%n) : tensor<?xf64>
    %exponential = linalg.generic {indexing_maps = [#row, #row], iterator_types = ["parallel"]}
        ins(%logits : tensor<?xf64>) outs(%empty : tensor<?xf64>) {
    ^bb0(%logits_i: f64, %out: f64):
      %difference = arith.subf %logits_i, %peak : f64
      %exponential_1 = math.exp %difference : f64
      linalg.yield %exponential_1 : f64
    } -> tensor<?xf64>
    %zero = arith.constant 0.0 : f64
    %start_1 = tensor.splat %zero : tensor<f64>
    %total_cell = linalg.generic {indexing_maps = [#row, #cell], iterator_types = ["reduction"]}
        ins(%exponential : tensor<?xf64>) outs(%start_1 : tensor<f64>) {
    ^bb0(%exponential_i: f64, %partial: f64):
      %sum = arith.addf %partial, %exponential_i : f64
      linalg.yield %sum : f64
    } -> tensor<f64>
    %total = tensor.extract %total_cell[] : tensor<f64>
    %result = linalg.generic {indexing_maps = [#row, #row, #row], iterator_types = ["parallel"]}
        ins(%exponential, %target : tensor<?xf64>, tensor<?xf64>) outs(%empty : tensor<?xf64>) {
    ^bb0(%exponential_i: f64, %target_i: f64, %out: f64):
      %quotient = arith.divf %exponential_i, %total : f64
      %difference = arith.subf %quotient, %target_i : f64
      %product = arith.mulf %difference, %gradient : f64
      linalg.yield %product : f64
    } -> tensor<?xf64>
    xfuse.yield %result : tensor<?xf64>
  }

  xfuse.recipe @softmax_cross_entropy_backward_jax(
      %logits: tensor<?xf64>, %target: tensor<?xf64>, %gradient: f64
  ) -> tensor<?xf64> attributes {element_types = [f16, bf16, f32, f64]} {
    %lowest = arith.constant 0xFFF0000000000000 : f64
    %start = tensor.splat %lowest : tensor<f64>
    %peak_cell = linalg.generic {indexing_maps = [#row, #cell], iterator_types = ["reduction"]}
        ins(%logits : tensor<?xf64>) outs(%start : tensor<f64>) {
    ^bb0(%logits_i: f64, %largest: f64):
      %larger = arith.maximumf %largest, %logits_i : f64
      linalg.yield %larger : f64
    } -> tensor<f64>
    %peak = tensor.extract %peak_cell[] : tensor<f64>
    %c0 = arith.constant 0 : index
    %n = tensor.dim %logits, %c0 : tensor<?xf64>
    %empty = tensor.empty(%n) : tensor<?xf64>
    %exponential = linalg.generic {indexing_maps = [#row, #row], iterator_types = ["parallel"]}
        ins(%logits : tensor<?xf64>) outs(%empty : tensor<?xf64>) {
    ^bb0(%logits_i: f64, %out: f64):
      %difference = arith.subf %logits_i, %peak : f64
      %exponential_1 = math.exp %difference : f64
      linalg.yield %exponential_1 : f64
    } -> tensor<?xf64>
    %zero = arith.constant 0.0 : f64
    %start_1 = tensor.splat %zero : tensor<f64>
    %total_cell = linalg.generic {indexing_maps = [#row, #cell], iterator_types = ["reduction"]}
        ins(%exponential : tensor<?xf64>) outs(%start_1 : tensor<f64>) {
    ^bb0(%exponential_i: f64, %partial: f64):
      %sum = arith.addf %partial, %exponential_i : f64
      linalg.yield %sum : f64
    } -> tensor<f64>
    %total = tensor.extract %total_cell[] : tensor<f64>
    %negative = arith.negf %gradient : f64
    %direct = linalg.generic {indexing_maps = [#row, #row], iterator_types = ["parallel"]}
        ins(%target : tensor<?xf64>) outs(%empty : tensor<?xf64>) {
    ^bb0(%target_i: f64, %out: f64):
      %product = arith.mulf %negative, %target_i : f64
      linalg.yield %product : f64
    } -> tensor<?xf64>
    %sum_cell = linalg.generic {indexing_maps = [#row, #cell], iterator_types = ["reduction"]}
        ins(%direct : tensor<?xf64>) outs(%start_1 : tensor<f64>) {
    ^bb0(%direct_i: f64, %partial: f64):
      %negative_1 = arith.negf %direct_i : f64
      %sum = arith.addf %partial, %negative_1 : f64
      linalg.yield %sum : f64
    } -> tensor<f64>
    %sum = tensor.extract %sum_cell[] : tensor<f64>
    %share_alone = arith.divf %sum, %total : f64
    %share_kept = tensor.from_elements %share_alone : tensor<1xf64>
    %share_cell = linalg.generic {indexing_maps = [#row, #cell], iterator_types = ["reduction"]}
        ins(%share_kept : tensor<1xf64>) outs(%start_1 : tensor<f64>) {
    ^bb0(%alone: f64, %partial: f64):
      %sum_1 = arith.addf %partial, %alone : f64
      linalg.yield %sum_1 : f64
    } -> tensor<f64>
    %share = tensor.extract %share_cell[] : tensor<f64>
    %result = linalg.generic {indexing_maps = [#row, #row, #row], iterator_types = ["parallel"]}
        ins(%direct, %exponential : tensor<?xf64>, tensor<?xf64>) outs(%empty : tensor<?xf64>) {
    ^bb0(%direct_i: f64, %exponential_i: f64, %out: f64):
      %product = arith.mulf %exponential_i, %share : f64
      %sum_1 = arith.addf %direct_i, %product : f64
      linalg.yield %sum_1 : f64
    } -> tensor<?xf64>
    xfuse.yield %result : tensor<?xf64>
  }

  xfuse.recipe @softmax_cross_entropy_backward_label(
      %logits: tensor<?xf64>, %label: i32, %gradient: f64
  ) -> tensor<?xf64> attributes {element_types = [f16, bf16, f32, f64]} {
    %lowest = arith.constant 0xFFF0000000000000 : f64
    %start = tensor.splat %lowest : tensor<f64>
    %peak_cell = linalg.generic {indexing_maps = [#row, #cell], iterator_types = ["reduction"]}
        ins(%logits : tensor<?xf64>) outs(%start : tensor<f64>) {
    ^bb0(%logits_i: f64, %largest: f64):
      %larger = arith.maximumf %largest, %logits_i : f64
      linalg.yield %larger : f64
    } -> tensor<f64>
    %peak = tensor.extract %peak_cell[] : tensor<f64>
    %c0 = arith.constant 0 : index
    %n = tensor.dim %logits, %c0 : tensor<?xf64>
    %empty = tensor.empty(%n) : tensor<?xf64>
    %exponential = linalg.generic {indexing_maps = [#row, #row], iterator_types = ["parallel"]}
        ins(%logits : tensor<?xf64>) outs(%empty : tensor<?xf64>) {
    ^bb0(%logits_i: f64, %out: f64):
      %difference = arith.subf %logits_i, %peak : f64
      %exponential_1 = math.exp %difference : f64
      linalg.yield %exponential_1 : f64
    } -> tensor<?xf64>
    %zero = arith.constant 0.0 : f64
    %start_1 = tensor.splat %zero : tensor<f64>
    %total_cell = linalg.generic {indexing_maps = [#row, #cell], iterator_types = ["reduction"]}
        ins(%exponential : tensor<?xf64>) outs(%start_1 : tensor<f64>) {
    ^bb0(%exponential_i: f64, %partial: f64):
      %sum = arith.addf %partial, %exponential_i : f64
      linalg.yield %sum : f64
    } -> tensor<f64>
    %total = tensor.extract %total_cell[] : tensor<f64>
    %one = arith.constant 1.0 : f64
    %onehot = linalg.generic {indexing_maps = [#row], iterator_types = ["parallel"]}
        outs(%empty : tensor<?xf64>) {
    ^bb0(%out: f64):
      %position = linalg.index 0 : index
      %number = arith.index_cast %position : index to i32
      %test = arith.cmpi eq, %label, %number : i32
      %chosen = arith.select %test, %one, %zero : f64
      linalg.yield %chosen : f64
    } -> tensor<?xf64>
    %result = linalg.generic {indexing_maps = [#row, #row, #row], iterator_types = ["parallel"]}
        ins(%exponential, %onehot : tensor<?xf64>, tensor<?xf64>) outs(%empty : tensor<?xf64>) {
    ^bb0(%exponential_i: f64, %onehot_i: f64, %out: f64):
      %quotient = arith.divf %exponential_i, %total : f64
      %difference = arith.subf %quotient, %onehot_i : f64
      %product = arith.mulf %difference, %gradient : f64
      linalg.yield %product : f64
    } -> tensor<?xf64>
    xfuse.yield %result : tensor<?xf64>
  }

  xfuse.recipe @softmax_cross_entropy_backward_label_onehot(
      %logits: tensor<?xf64>, %label: i32, %gradient: f64
  ) -> tensor<?xf64> attributes {element_types = [f16, bf16, f32, f64]} {
    %lowest = arith.constant 0xFFF0000000000000 : f64
    %start = tensor.splat %lowest : tensor<f64>
    %peak_cell = linalg.generic {indexing_maps = [#row, #cell], iterator_types = ["reduction"]}
        ins(%logits : tensor<?xf64>) outs(%start : tensor<f64>) {
    ^bb0(%logits_i: f64, %largest: f64):
      %larger = arith.maximumf %largest, %logits_i : f64
      linalg.yield %larger : f64
    } -> tensor<f64>
    %peak = tensor.extract %peak_cell[] : tensor<f64>
    %c0 = arith.constant 0 : index
    %n = tensor.dim %logits, %c0 : tensor<?xf64>
    %empty = tensor.empty(%n) : tensor<?xf64>
    %exponential = linalg.generic {indexing_maps = [#row, #row], iterator_types = ["parallel"]}
        ins(%logits : tensor<?xf64>) outs(%empty : tensor<?xf64>) {
    ^bb0(%logits_i: f64, %out: f64):
      %difference = arith.subf %logits_i, %peak : f64
      %exponential_1 = math.exp %difference : f64
      linalg.yield %exponential_1 : f64
    } -> tensor<?xf64>
    %zero = arith.constant 0.0 : f64
    %start_1 = tensor.splat %zero : tensor<f64>
    %total_cell = linalg.generic {indexing_maps = [#row, #cell], iterator_types = ["reduction"]}
        ins(%exponential : tensor<?xf64>) outs(%start_1 : tensor<f64>) {
    ^bb0(%exponential_i: f64, %partial: f64):
      %sum = arith.addf %partial, %exponential_i : f64
      linalg.yield %sum : f64
    } -> tensor<f64>
    %total = tensor.extract %total_cell[] : tensor<f64>
    %negative = arith.negf %gradient : f64
    %direct = linalg.generic {indexing_maps = [#row], iterator_types = ["parallel"]}
        outs(%empty : tensor<?xf64>) {
    ^bb0(%out: f64):
      %position = linalg.index 0 : index
      %number = arith.index_cast %position : index to i32
      %test = arith.cmpi eq, %label, %number : i32
      %mask = arith.uitofp %test : i1 to f64
      %product = arith.mulf %mask, %negative : f64
      linalg.yield %product : f64
    } -> tensor<?xf64>
    %sum_cell = linalg.generic {indexing_maps = [#row, #cell], iterator_types = ["reduction"]}
        ins(%direct : tensor<?xf64>) outs(%start_1 : tensor<f64>) {
    ^bb0(%direct_i: f64, %partial: f64):
      %negative_1 = arith.negf %direct_i : f64
      %sum = arith.addf %partial, %negative_1 : f64
      linalg.yield %sum : f64
    } -> tensor<f64>
    %sum = tensor.extract %sum_cell[] : tensor<f64>
    %share_alone = arith.divf %sum, %total : f64
    %share_kept = tensor.from_elements %share_alone : tensor<1xf64>
    %share_cell = linalg.generic {indexing_maps = [#row, #cell], iterator_types = ["reduction"]}
        ins(%share_kept : tensor<1xf64>) outs(%start_1 : tensor<f64>) {
    ^bb0(%alone: f64, %partial: f64):
      %sum_1 = arith.addf %partial, %alone : f64
      linalg.yield %sum_1 : f64
    } -> tensor<f64>
    %share = tensor.extract %share_cell[] : tensor<f64>
    %result = linalg.generic {indexing_maps = [#row, #row, #row], iterator_types = ["parallel"]}
        ins(%direct, %exponential : tensor<?xf64>, tensor<?xf64>) outs(%empty : tensor<?xf64>) {
    ^bb0(%direct_i: f64, %exponential_i: f64, %out: f64):
      %product = arith.mulf %exponential_i, %share : f64
      %sum_1 = arith.addf %direct_i, %product : f64
      linalg.yield %sum_1 : f64
    } -> tensor<?xf64>
    xfuse.yield %result : tensor<?xf64>
  }

  xfuse.recipe @softmax_cross_entropy_backward_accumulating(
      %logits: tensor<?xf64> {xfuse.accumulator = f32}, %target: tensor<?xf64> {xfuse.accumulator = f32},
      %gradient: f64 {xfuse.accumulator = f32}
  ) -> tensor<?xf64> attributes {element_types = [f16, bf16, f32, f64]} {
    %lowest = arith.constant 0xFFF0000000000000 : f64
    %start = tensor.splat %lowest : tensor<f64>
    %peak_cell = linalg.generic {indexing_maps = [#row, #cell], iterator_types = ["reduction"]}
        ins(%logits : tensor<?xf64>) outs(%start : tensor<f64>) {
    ^bb0(%logits_i: f64, %largest: f64):
      %larger = arith.maximumf %largest, %logits_i : f64
      linalg.yield %larger : f64
    } -> tensor<f64>
    %peak = tensor.extract %peak_cell[] : tensor<f64>
    %c0 = arith.constant 0 : index
    %n = tensor.dim %logits, %c0 : tensor<?xf64>
    %empty = tensor.empty(%n) : tensor<?xf64>
    %exponential = linalg.generic {indexing_maps = [#row, #row], iterator_types = ["parallel"]}
        ins(%logits : tensor<?xf64>) outs(%empty : tensor<?xf64>) {
    ^bb0(%logits_i: f64, %out: f64):
      %difference = arith.subf %logits_i, %peak : f64
      %exponential_1 = math.exp %difference : f64
      linalg.yield %exponential_1 : f64
    } -> tensor<?xf64>
    %zero = arith.constant 0.0 : f64
    %start_1 = tensor.splat %zero : tensor<f64>
    %total_cell = linalg.generic {indexing_maps = [#row, #cell], iterator_types = ["reduction"]}
        ins(%exponential : tensor<?xf64>) outs(%start_1 : tensor<f64>) {
    ^bb0(%exponential_i: f64, %partial: f64):
      %sum = arith.addf %partial, %exponential_i : f64
      linalg.yield %sum : f64
    } -> tensor<f64>
    %total = tensor.extract %total_cell[] : tensor<f64>
    %result = linalg.generic {indexing_maps = [#row, #row, #row], iterator_types = ["parallel"]}
        ins(%exponential, %target : tensor<?xf64>, tensor<?xf64>) outs(%empty : tensor<?xf64>) {
    ^bb0(%exponential_i: f64, %target_i: f64, %out: f64):
      %quotient = arith.divf %exponential_i, %total : f64
      %difference = arith.subf %quotient, %target_i : f64
      %product = arith.mulf %difference, %gradient : f64
      linalg.yield %product : f64
    } -> tensor<?xf64>
    xfuse.yield %result : tensor<?xf64>
  }
}
