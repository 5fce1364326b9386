// softmax_cross_entropy(logits, target) = -sum(target log_softmax(logits))
//
// (n),(n)->(). With a label for the target, (n),()->(), it is 1 at that index and 0 elsewhere. Smoothed labels: Szegedy
// et al., "Rethinking the Inception architecture for computer vision", arXiv:1512.00567.
//
// @softmax_cross_entropy               textbook and JAX (`optax.softmax_cross_entropy`)
// @softmax_cross_entropy_logsumexp     logsumexp(logits) - sum(target logits), of targets that sum to 1
// @softmax_cross_entropy_label         logsumexp(logits) - logits[label], a gather; labels of type i32
// @softmax_cross_entropy_label_long    the same; labels of type i64
// @softmax_cross_entropy_label_select  the same, the element picked by select(index == label) and a sum; i32
// @softmax_cross_entropy_label_onehot  JAX (`jax.nn.one_hot`): -sum(onehot log_softmax(logits)); i32
// @softmax_cross_entropy_label_smooth  JAX, labels smoothed: -sum((keep onehot + rest) log_softmax(logits)); i32
// @softmax_cross_entropy_accumulating  textbook, at no narrower a type than f32
#row = affine_map<(n) -> (n)>
#cell = affine_map<(n) -> ()>

xfuse.library @softmax_cross_entropy {
  xfuse.recipe @softmax_cross_entropy(
      %logits: tensor<?xf64>, %target: tensor<?xf64>
  ) -> f64 attributes {element_types = [f16, bf16, f32, f64]} {
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
    %shifted = linalg.generic {indexing_maps = [#row, #row], iterator_types = ["parallel"]}
        ins(%logits : tensor<?xf64>) outs(%empty : tensor<?xf64>) {
    ^bb0(%logits_i: f64, %out: f64):
      %difference = arith.subf %logits_i, %peak : f64
      linalg.yield %difference : f64
    } -> tensor<?xf64>
    %zero = arith.constant 0.0 : f64
    %start_1 = tensor.splat %zero : tensor<f64>
    %total_cell = linalg.generic {indexing_maps = [#row, #cell], iterator_types = ["reduction"]}
        ins(%shifted : tensor<?xf64>) outs(%start_1 : tensor<f64>) {
    ^bb0(%shifted_i: f64, %partial: f64):
      %exponential = math.exp %shifted_i : f64
      %sum = arith.addf %partial, %exponential : f64
      linalg.yield %sum : f64
    } -> tensor<f64>
    %total = tensor.extract %total_cell[] : tensor<f64>
    %logarithm = math.log %total : f64
    %sum_cell = linalg.generic {indexing_maps = [#row, #row, #cell], iterator_types = ["reduction"]}
        ins(%target, %shifted : tensor<?xf64>, tensor<?xf64>) outs(%start_1 : tensor<f64>) {
    ^bb0(%target_i: f64, %shifted_i: f64, %partial: f64):
      %difference = arith.subf %shifted_i, %logarithm : f64
      %product = arith.mulf %target_i, %difference : f64
      %sum = arith.addf %partial, %product : f64
      linalg.yield %sum : f64
    } -> tensor<f64>
    %sum = tensor.extract %sum_cell[] : tensor<f64>
    %result = arith.negf %sum : f64
    xfuse.yield %result : f64
  }

  xfuse.recipe @softmax_cross_entropy_logsumexp(
      %logits: tensor<?xf64>, %target: tensor<?xf64>
  ) -> f64 attributes {element_types = [f16, bf16, f32, f64]} {
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
    %shifted = linalg.generic {indexing_maps = [#row, #row], iterator_types = ["parallel"]}
        ins(%logits : tensor<?xf64>) outs(%empty : tensor<?xf64>) {
    ^bb0(%logits_i: f64, %out: f64):
      %difference = arith.subf %logits_i, %peak : f64
      linalg.yield %difference : f64
    } -> tensor<?xf64>
    %zero = arith.constant 0.0 : f64
    %start_1 = tensor.splat %zero : tensor<f64>
    %total_cell = linalg.generic {indexing_maps = [#row, #cell], iterator_types = ["reduction"]}
        ins(%shifted : tensor<?xf64>) outs(%start_1 : tensor<f64>) {
    ^bb0(%shifted_i: f64, %partial: f64):
      %exponential = math.exp %shifted_i : f64
      %sum = arith.addf %partial, %exponential : f64
      linalg.yield %sum : f64
    } -> tensor<f64>
    %total = tensor.extract %total_cell[] : tensor<f64>
    %logarithm = math.log %total : f64
    %logsumexp = arith.addf %logarithm, %peak : f64
    %chosen_cell = linalg.generic {indexing_maps = [#row, #row, #cell], iterator_types = ["reduction"]}
        ins(%target, %logits : tensor<?xf64>, tensor<?xf64>) outs(%start_1 : tensor<f64>) {
    ^bb0(%target_i: f64, %logits_i: f64, %partial: f64):
      %product = arith.mulf %target_i, %logits_i : f64
      %sum = arith.addf %partial, %product : f64
      linalg.yield %sum : f64
    } -> tensor<f64>
    %chosen = tensor.extract %chosen_cell[] : tensor<f64>
    %result = arith.subf %logsumexp, %chosen : f64
    xfuse.yield %result : f64
  }

  xfuse.recipe @softmax_cross_entropy_label(
      %logits: tensor<?xf64>, %label: i32
  ) -> f64 attributes {element_types = [f16, bf16, f32, f64]} {
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
    %shifted = linalg.generic {indexing_maps = [#row, #row], iterator_types = ["parallel"]}
        ins(%logits : tensor<?xf64>) outs(%empty : tensor<?xf64>) {
    ^bb0(%logits_i: f64, %out: f64):
      %difference = arith.subf %logits_i, %peak : f64
      linalg.yield %difference : f64
    } -> tensor<?xf64>
    %zero = arith.constant 0.0 : f64
    %start_1 = tensor.splat %zero : tensor<f64>
    %total_cell = linalg.generic {indexing_maps = [#row, #cell], iterator_types = ["reduction"]}
        ins(%shifted : tensor<?xf64>) outs(%start_1 : tensor<f64>) {
    ^bb0(%shifted_i: f64, %partial: f64):
      %exponential = math.exp %shifted_i : f64
      %sum = arith.addf %partial, %exponential : f64
      linalg.yield %sum : f64
    } -> tensor<f64>
    %total = tensor.extract %total_cell[] : tensor<f64>
    %logarithm = math.log %total : f64
    %logsumexp = arith.addf %logarithm, %peak : f64
    %position = arith.index_cast %label : i32 to index
    %chosen = tensor.extract %logits[%position] : tensor<?xf64>
    %result = arith.subf %logsumexp, %chosen : f64
    xfuse.yield %result : f64
  }

  xfuse.recipe @softmax_cross_entropy_label_long(
      %logits: tensor<?xf64>, %label: i64
  ) -> f64 attributes {element_types = [f16, bf16, f32, f64]} {
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
    %shifted = linalg.generic {indexing_maps = [#row, #row], iterator_types = ["parallel"]}
        ins(%logits : tensor<?xf64>) outs(%empty : tensor<?xf64>) {
    ^bb0(%logits_i: f64, %out: f64):
      %difference = arith.subf %logits_i, %peak : f64
      linalg.yield %difference : f64
    } -> tensor<?xf64>
    %zero = arith.constant 0.0 : f64
    %start_1 = tensor.splat %zero : tensor<f64>
    %total_cell = linalg.generic {indexing_maps = [#row, #cell], iterator_types = ["reduction"]}
        ins(%shifted : tensor<?xf64>) outs(%start_1 : tensor<f64>) {
    ^bb0(%shifted_i: f64, %partial: f64):
      %exponential = math.exp %shifted_i : f64
      %sum = arith.addf %partial, %exponential : f64
      linalg.yield %sum : f64
    } -> tensor<f64>
    %total = tensor.extract %total_cell[] : tensor<f64>
    %logarithm = math.log %total : f64
    %logsumexp = arith.addf %logarithm, %peak : f64
    %position = arith.index_cast %label : i64 to index
    %chosen = tensor.extract %logits[%position] : tensor<?xf64>
    %result = arith.subf %logsumexp, %chosen : f64
    xfuse.yield %result : f64
  }

  xfuse.recipe @softmax_cross_entropy_label_select(
      %logits: tensor<?xf64>, %label: i32
  ) -> f64 attributes {element_types = [f16, bf16, f32, f64]} {
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
    %shifted = linalg.generic {indexing_maps = [#row, #row], iterator_types = ["parallel"]}
        ins(%logits : tensor<?xf64>) outs(%empty : tensor<?xf64>) {
    ^bb0(%logits_i: f64, %out: f64):
      %difference = arith.subf %logits_i, %peak : f64
      linalg.yield %difference : f64
    } -> tensor<?xf64>
    %zero = arith.constant 0.0 : f64
    %start_1 = tensor.splat %zero : tensor<f64>
    %total_cell = linalg.generic {indexing_maps = [#row, #cell], iterator_types = ["reduction"]}
        ins(%shifted : tensor<?xf64>) outs(%start_1 : tensor<f64>) {
    ^bb0(%shifted_i: f64, %partial: f64):
      %exponential = math.exp %shifted_i : f64
      %sum = arith.addf %partial, %exponential : f64
      linalg.yield %sum : f64
    } -> tensor<f64>
    %total = tensor.extract %total_cell[] : tensor<f64>
    %logarithm = math.log %total : f64
    %logsumexp = arith.addf %logarithm, %peak : f64
    %chosen_cell = linalg.generic {indexing_maps = [#row, #cell], iterator_types = ["reduction"]}
        ins(%logits : tensor<?xf64>) outs(%start_1 : tensor<f64>) {
    ^bb0(%logits_i: f64, %partial: f64):
      %position = linalg.index 0 : index
      %number = arith.index_cast %position : index to i32
      %test = arith.cmpi eq, %label, %number : i32
      %chosen = arith.select %test, %logits_i, %zero : f64
      %sum = arith.addf %partial, %chosen : f64
      linalg.yield %sum : f64
    } -> tensor<f64>
    %chosen = tensor.extract %chosen_cell[] : tensor<f64>
    %result = arith.subf %logsumexp, %chosen : f64
    xfuse.yield %result : f64
  }

  xfuse.recipe @softmax_cross_entropy_label_onehot(
      %logits: tensor<?xf64>, %label: i32
  ) -> f64 attributes {element_types = [f16, bf16, f32, f64]} {
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
    %shifted = linalg.generic {indexing_maps = [#row, #row], iterator_types = ["parallel"]}
        ins(%logits : tensor<?xf64>) outs(%empty : tensor<?xf64>) {
    ^bb0(%logits_i: f64, %out: f64):
      %difference = arith.subf %logits_i, %peak : f64
      linalg.yield %difference : f64
    } -> tensor<?xf64>
    %zero = arith.constant 0.0 : f64
    %start_1 = tensor.splat %zero : tensor<f64>
    %total_cell = linalg.generic {indexing_maps = [#row, #cell], iterator_types = ["reduction"]}
        ins(%shifted : tensor<?xf64>) outs(%start_1 : tensor<f64>) {
    ^bb0(%shifted_i: f64, %partial: f64):
      %exponential = math.exp %shifted_i : f64
      %sum = arith.addf %partial, %exponential : f64
      linalg.yield %sum : f64
    } -> tensor<f64>
    %total = tensor.extract %total_cell[] : tensor<f64>
    %logarithm = math.log %total : f64
    %sum_cell = linalg.generic {indexing_maps = [#row, #cell], iterator_types = ["reduction"]}
        ins(%shifted : tensor<?xf64>) outs(%start_1 : tensor<f64>) {
    ^bb0(%shifted_i: f64, %partial: f64):
      %position = linalg.index 0 : index
      %number = arith.index_cast %position : index to i32
      %test = arith.cmpi eq, %label, %number : i32
      %mask = arith.uitofp %test : i1 to f64
      %difference = arith.subf %shifted_i, %logarithm : f64
      %product = arith.mulf %mask, %difference : f64
      %sum = arith.addf %partial, %product : f64
      linalg.yield %sum : f64
    } -> tensor<f64>
    %sum = tensor.extract %sum_cell[] : tensor<f64>
    %result = arith.negf %sum : f64
    xfuse.yield %result : f64
  }

  xfuse.recipe @softmax_cross_entropy_label_smooth(
      %logits: tensor<?xf64>, %label: i32, %keep: f64 {xfuse.scalar}, %rest: f64 {xfuse.scalar}
  ) -> f64 attributes {element_types = [f16, bf16, f32, f64]} {
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
    %shifted = linalg.generic {indexing_maps = [#row, #row], iterator_types = ["parallel"]}
        ins(%logits : tensor<?xf64>) outs(%empty : tensor<?xf64>) {
    ^bb0(%logits_i: f64, %out: f64):
      %difference = arith.subf %logits_i, %peak : f64
      linalg.yield %difference : f64
    } -> tensor<?xf64>
    %zero = arith.constant 0.0 : f64
    %start_1 = tensor.splat %zero : tensor<f64>
    %total_cell = linalg.generic {indexing_maps = [#row, #cell], iterator_types = ["reduction"]}
        ins(%shifted : tensor<?xf64>) outs(%start_1 : tensor<f64>) {
    ^bb0(%shifted_i: f64, %partial: f64):
      %exponential = math.exp %shifted_i : f64
      %sum = arith.addf %partial, %exponential : f64
      linalg.yield %sum : f64
    } -> tensor<f64>
    %total = tensor.extract %total_cell[] : tensor<f64>
    %logarithm = math.log %total : f64
    %sum_cell = linalg.generic {indexing_maps = [#row, #cell], iterator_types = ["reduction"]}
        ins(%shifted : tensor<?xf64>) outs(%start_1 : tensor<f64>) {
    ^bb0(%shifted_i: f64, %partial: f64):
      %position = linalg.index 0 : index
      %number = arith.index_cast %position : index to i32
      %test = arith.cmpi eq, %label, %number : i32
      %mask = arith.uitofp %test : i1 to f64
      %product = arith.mulf %mask, %keep : f64
      %sum = arith.addf %product, %rest : f64
      %difference = arith.subf %shifted_i, %logarithm : f64
      %product_1 = arith.mulf %sum, %difference : f64
      %sum_1 = arith.addf %partial, %product_1 : f64
      linalg.yield %sum_1 : f64
    } -> tensor<f64>
    %sum = tensor.extract %sum_cell[] : tensor<f64>
    %result = arith.negf %sum : f64
    xfuse.yield %result : f64
  }

  xfuse.recipe @softmax_cross_entropy_accumulating(
      %logits: tensor<?xf64> {xfuse.accumulator = f32}, %target: tensor<?xf64> {xfuse.accumulator = f32}
  ) -> f64 attributes {element_types = [f16, bf16, f32, f64]} {
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
    %shifted = linalg.generic {indexing_maps = [#row, #row], iterator_types = ["parallel"]}
        ins(%logits : tensor<?xf64>) outs(%empty : tensor<?xf64>) {
    ^bb0(%logits_i: f64, %out: f64):
      %difference = arith.subf %logits_i, %peak : f64
      linalg.yield %difference : f64
    } -> tensor<?xf64>
    %zero = arith.constant 0.0 : f64
    %start_1 = tensor.splat %zero : tensor<f64>
    %total_cell = linalg.generic {indexing_maps = [#row, #cell], iterator_types = ["reduction"]}
        ins(%shifted : tensor<?xf64>) outs(%start_1 : tensor<f64>) {
    ^bb0(%shifted_i: f64, %partial: f64):
      %exponential = math.exp %shifted_i : f64
      %sum = arith.addf %partial, %exponential : f64
      linalg.yield %sum : f64
    } -> tensor<f64>
    %total = tensor.extract %total_cell[] : tensor<f64>
    %logarithm = math.log %total : f64
    %sum_cell = linalg.generic {indexing_maps = [#row, #row, #cell], iterator_types = ["reduction"]}
        ins(%target, %shifted : tensor<?xf64>, tensor<?xf64>) outs(%start_1 : tensor<f64>) {
    ^bb0(%target_i: f64, %shifted_i: f64, %partial: f64):
      %difference = arith.subf %shifted_i, %logarithm : f64
      %product = arith.mulf %target_i, %difference : f64
      %sum = arith.addf %partial, %product : f64
      linalg.yield %sum : f64
    } -> tensor<f64>
    %sum = tensor.extract %sum_cell[] : tensor<f64>
    %result = arith.negf %sum : f64
    xfuse.yield %result : f64
  }
}
