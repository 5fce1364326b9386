// cross_entropy_loss(logits, target) = the mean over rows of softmax_cross_entropy
//
// (n,m),(n,m)->(): rows by classes. With a label per row for the target, (n,m),(n)->(), it is 1 at that index and 0
// elsewhere.
//
// @cross_entropy_loss               JAX (`-jnp.mean(jnp.sum(target * log_softmax(logits), axis=-1))`)
// @cross_entropy_loss_mean          textbook and JAX (`optax.softmax_cross_entropy(...).mean()`): the mean of negated
//                                   sums
// @cross_entropy_loss_label         the first with labels of type i32 by `jax.nn.one_hot`
// @cross_entropy_loss_smooth        the same, labels smoothed: keep onehot + rest
// @cross_entropy_loss_accumulating  textbook, at no narrower a type than f32
#matrix = affine_map<(m, n) -> (m, n)>
#column = affine_map<(m, n) -> (m)>
#each = affine_map<(m) -> (m)>
#one = affine_map<(m) -> ()>

xfuse.library @cross_entropy_loss {
  xfuse.recipe @cross_entropy_loss(
      %logits: tensor<?x?xf64>, %target: tensor<?x?xf64>
  ) -> f64 attributes {element_types = [f16, bf16, f32, f64]} {
    %lowest = arith.constant 0xFFF0000000000000 : f64
    %c0 = arith.constant 0 : index
    %m = tensor.dim %logits, %c0 : tensor<?x?xf64>
    %empty = tensor.empty(%m) : tensor<?xf64>
    %start = linalg.fill ins(%lowest : f64) outs(%empty : tensor<?xf64>) -> tensor<?xf64>
    %peak = linalg.generic {indexing_maps = [#matrix, #column], iterator_types = ["parallel", "reduction"]}
        ins(%logits : tensor<?x?xf64>) outs(%start : tensor<?xf64>) {
    ^bb0(%logits_ij: f64, %largest: f64):
      %larger = arith.maximumf %largest, %logits_ij : f64
      linalg.yield %larger : f64
    } -> tensor<?xf64>
    %c1 = arith.constant 1 : index
    %n = tensor.dim %logits, %c1 : tensor<?x?xf64>
    %empty_1 = tensor.empty(%m, %n) : tensor<?x?xf64>
    %shifted = linalg.generic {indexing_maps = [#matrix, #column, #matrix], iterator_types = ["parallel", "parallel"]}
        ins(%logits, %peak : tensor<?x?xf64>, tensor<?xf64>) outs(%empty_1 : tensor<?x?xf64>) {
    ^bb0(%logits_ij: f64, %peak_i: f64, %out: f64):
      %difference = arith.subf %logits_ij, %peak_i : f64
      linalg.yield %difference : f64
    } -> tensor<?x?xf64>
    %zero = arith.constant 0.0 : f64
    %start_1 = linalg.fill ins(%zero : f64) outs(%empty : tensor<?xf64>) -> tensor<?xf64>
    %total = linalg.generic {indexing_maps = [#matrix, #column], iterator_types = ["parallel", "reduction"]}
        ins(%shifted : tensor<?x?xf64>) outs(%start_1 : tensor<?xf64>) {
    ^bb0(%shifted_ij: f64, %partial: f64):
      %exponential = math.exp %shifted_ij : f64
      %sum = arith.addf %partial, %exponential : f64
      linalg.yield %sum : f64
    } -> tensor<?xf64>
    %logarithm = linalg.generic {indexing_maps = [#each, #each], iterator_types = ["parallel"]}
        ins(%total : tensor<?xf64>) outs(%empty : tensor<?xf64>) {
    ^bb0(%total_i: f64, %out: f64):
      %logarithm_1 = math.log %total_i : f64
      linalg.yield %logarithm_1 : f64
    } -> tensor<?xf64>
    %sums = linalg.generic {indexing_maps = [#matrix, #matrix, #column, #column],
        iterator_types = ["parallel", "reduction"]}
        ins(%target, %shifted, %logarithm : tensor<?x?xf64>, tensor<?x?xf64>, tensor<?xf64>)
        outs(%start_1 : tensor<?xf64>) {
    ^bb0(%target_ij: f64, %shifted_ij: f64, %logarithm_i: f64, %partial: f64):
      %difference = arith.subf %shifted_ij, %logarithm_i : f64
      %product = arith.mulf %target_ij, %difference : f64
      %sum = arith.addf %partial, %product : f64
      linalg.yield %sum : f64
    } -> tensor<?xf64>
    %start_2 = tensor.splat %zero : tensor<f64>
    %sum_cell = linalg.generic {indexing_maps = [#each, #one], iterator_types = ["reduction"]}
        ins(%sums : tensor<?xf64>) outs(%start_2 : tensor<f64>) {
    ^bb0(%sums_i: f64, %partial: f64):
      %sum = arith.addf %partial, %sums_i : f64
      linalg.yield %sum : f64
    } -> tensor<f64>
    %sum = tensor.extract %sum_cell[] : tensor<f64>
    %count_integer = arith.index_cast %m : index to i64
    %count = arith.sitofp %count_integer : i64 to f64
    %mean = arith.divf %sum, %count : f64
    %result = arith.negf %mean : f64
    xfuse.yield %result : f64
  }

  xfuse.recipe @cross_entropy_loss_mean(
      %logits: tensor<?x?xf64>, %target: tensor<?x?xf64>
  ) -> f64 attributes {element_types = [f16, bf16, f32, f64]} {
    %lowest = arith.constant 0xFFF0000000000000 : f64
    %c0 = arith.constant 0 : index
    %m = tensor.dim %logits, %c0 : tensor<?x?xf64>
    %empty = tensor.empty(%m) : tensor<?xf64>
    %start = linalg.fill ins(%lowest : f64) outs(%empty : tensor<?xf64>) -> tensor<?xf64>
    %peak = linalg.generic {indexing_maps = [#matrix, #column], iterator_types = ["parallel", "reduction"]}
        ins(%logits : tensor<?x?xf64>) outs(%start : tensor<?xf64>) {
    ^bb0(%logits_ij: f64, %largest: f64):
      %larger = arith.maximumf %largest, %logits_ij : f64
      linalg.yield %larger : f64
    } -> tensor<?xf64>
    %c1 = arith.constant 1 : index
    %n = tensor.dim %logits, %c1 : tensor<?x?xf64>
    %empty_1 = tensor.empty(%m, %n) : tensor<?x?xf64>
    %shifted = linalg.generic {indexing_maps = [#matrix, #column, #matrix], iterator_types = ["parallel", "parallel"]}
        ins(%logits, %peak : tensor<?x?xf64>, tensor<?xf64>) outs(%empty_1 : tensor<?x?xf64>) {
    ^bb0(%logits_ij: f64, %peak_i: f64, %out: f64):
      %difference = arith.subf %logits_ij, %peak_i : f64
      linalg.yield %difference : f64
    } -> tensor<?x?xf64>
    %zero = arith.constant 0.0 : f64
    %start_1 = linalg.fill ins(%zero : f64) outs(%empty : tensor<?xf64>) -> tensor<?xf64>
    %total = linalg.generic {indexing_maps = [#matrix, #column], iterator_types = ["parallel", "reduction"]}
        ins(%shifted : tensor<?x?xf64>) outs(%start_1 : tensor<?xf64>) {
    ^bb0(%shifted_ij: f64, %partial: f64):
      %exponential = math.exp %shifted_ij : f64
      %sum = arith.addf %partial, %exponential : f64
      linalg.yield %sum : f64
    } -> tensor<?xf64>
    %logarithm = linalg.generic {indexing_maps = [#each, #each], iterator_types = ["parallel"]}
        ins(%total : tensor<?xf64>) outs(%empty : tensor<?xf64>) {
    ^bb0(%total_i: f64, %out: f64):
      %logarithm_1 = math.log %total_i : f64
      linalg.yield %logarithm_1 : f64
    } -> tensor<?xf64>
    %sums = linalg.generic {indexing_maps = [#matrix, #matrix, #column, #column],
        iterator_types = ["parallel", "reduction"]}
        ins(%target, %shifted, %logarithm : tensor<?x?xf64>, tensor<?x?xf64>, tensor<?xf64>)
        outs(%start_1 : tensor<?xf64>) {
    ^bb0(%target_ij: f64, %shifted_ij: f64, %logarithm_i: f64, %partial: f64):
      %difference = arith.subf %shifted_ij, %logarithm_i : f64
      %product = arith.mulf %target_ij, %difference : f64
      %sum = arith.addf %partial, %product : f64
      linalg.yield %sum : f64
    } -> tensor<?xf64>
    %start_2 = tensor.splat %zero : tensor<f64>
    %sum_cell = linalg.generic {indexing_maps = [#each, #one], iterator_types = ["reduction"]}
        ins(%sums : tensor<?xf64>) outs(%start_2 : tensor<f64>) {
    ^bb0(%sums_i: f64, %partial: f64):
      %negative = arith.negf %sums_i : f64
      %sum = arith.addf %partial, %negative : f64
      linalg.yield %sum : f64
    } -> tensor<f64>
    %sum = tensor.extract %sum_cell[] : tensor<f64>
    %count_integer = arith.index_cast %m : index to i64
    %count = arith.sitofp %count_integer : i64 to f64
    %result = arith.divf %sum, %count : f64
    xfuse.yield %result : f64
  }

  xfuse.recipe @cross_entropy_loss_label(
      %logits: tensor<?x?xf64>, %label: tensor<?xi32>
  ) -> f64 attributes {element_types = [f16, bf16, f32, f64]} {
    %lowest = arith.constant 0xFFF0000000000000 : f64
    %c0 = arith.constant 0 : index
    %m = tensor.dim %logits, %c0 : tensor<?x?xf64>
    %empty = tensor.empty(%m) : tensor<?xf64>
    %start = linalg.fill ins(%lowest : f64) outs(%empty : tensor<?xf64>) -> tensor<?xf64>
    %peak = linalg.generic {indexing_maps = [#matrix, #column], iterator_types = ["parallel", "reduction"]}
        ins(%logits : tensor<?x?xf64>) outs(%start : tensor<?xf64>) {
    ^bb0(%logits_ij: f64, %largest: f64):
      %larger = arith.maximumf %largest, %logits_ij : f64
      linalg.yield %larger : f64
    } -> tensor<?xf64>
    %c1 = arith.constant 1 : index
    %n = tensor.dim %logits, %c1 : tensor<?x?xf64>
    %empty_1 = tensor.empty(%m, %n) : tensor<?x?xf64>
    %shifted = linalg.generic {indexing_maps = [#matrix, #column, #matrix], iterator_types = ["parallel", "parallel"]}
        ins(%logits, %peak : tensor<?x?xf64>, tensor<?xf64>) outs(%empty_1 : tensor<?x?xf64>) {
    ^bb0(%logits_ij: f64, %peak_i: f64, %out: f64):
      %difference = arith.subf %logits_ij, %peak_i : f64
      linalg.yield %difference : f64
    } -> tensor<?x?xf64>
    %zero = arith.constant 0.0 : f64
    %start_1 = linalg.fill ins(%zero : f64) outs(%empty : tensor<?xf64>) -> tensor<?xf64>
    %total = linalg.generic {indexing_maps = [#matrix, #column], iterator_types = ["parallel", "reduction"]}
        ins(%shifted : tensor<?x?xf64>) outs(%start_1 : tensor<?xf64>) {
    ^bb0(%shifted_ij: f64, %partial: f64):
      %exponential = math.exp %shifted_ij : f64
      %sum = arith.addf %partial, %exponential : f64
      linalg.yield %sum : f64
    } -> tensor<?xf64>
    %logarithm = linalg.generic {indexing_maps = [#each, #each], iterator_types = ["parallel"]}
        ins(%total : tensor<?xf64>) outs(%empty : tensor<?xf64>) {
    ^bb0(%total_i: f64, %out: f64):
      %logarithm_1 = math.log %total_i : f64
      linalg.yield %logarithm_1 : f64
    } -> tensor<?xf64>
    %sums = linalg.generic {indexing_maps = [#column, #matrix, #column, #column],
        iterator_types = ["parallel", "reduction"]}
        ins(%label, %shifted, %logarithm : tensor<?xi32>, tensor<?x?xf64>, tensor<?xf64>)
        outs(%start_1 : tensor<?xf64>) {
    ^bb0(%label_i: i32, %shifted_ij: f64, %logarithm_i: f64, %partial: f64):
      %position = linalg.index 1 : index
      %number = arith.index_cast %position : index to i32
      %test = arith.cmpi eq, %label_i, %number : i32
      %mask = arith.uitofp %test : i1 to f64
      %difference = arith.subf %shifted_ij, %logarithm_i : f64
      %product = arith.mulf %mask, %difference : f64
      %sum = arith.addf %partial, %product : f64
      linalg.yield %sum : f64
    } -> tensor<?xf64>
    %start_2 = tensor.splat %zero : tensor<f64>
    %sum_cell = linalg.generic {indexing_maps = [#each, #one], iterator_types = ["reduction"]}
        ins(%sums : tensor<?xf64>) outs(%start_2 : tensor<f64>) {
    ^bb0(%sums_i: f64, %partial: f64):
      %sum = arith.addf %partial, %sums_i : f64
      linalg.yield %sum : f64
    } -> tensor<f64>
    %sum = tensor.extract %sum_cell[] : tensor<f64>
    %count_integer = arith.index_cast %m : index to i64
    %count = arith.sitofp %count_integer : i64 to f64
    %mean = arith.divf %sum, %count : f64
    %result = arith.negf %mean : f64
    xfuse.yield %result : f64
  }

  xfuse.recipe @cross_entropy_loss_smooth(
      %logits: tensor<?x?xf64>, %label: tensor<?xi32>, %keep: f64 {xfuse.scalar}, %rest: f64 {xfuse.scalar}
  ) -> f64 attributes {element_types = [f16, bf16, f32, f64]} {
    %lowest = arith.constant 0xFFF0000000000000 : f64
    %c0 = arith.constant 0 : index
    %m = tensor.dim %logits, %c0 : tensor<?x?xf64>
    %empty = tensor.empty(%m) : tensor<?xf64>
    %start = linalg.fill ins(%lowest : f64) outs(%empty : tensor<?xf64>) -> tensor<?xf64>
    %peak = linalg.generic {indexing_maps = [#matrix, #column], iterator_types = ["parallel", "reduction"]}
        ins(%logits : tensor<?x?xf64>) outs(%start : tensor<?xf64>) {
    ^bb0(%logits_ij: f64, %largest: f64):
      %larger = arith.maximumf %largest, %logits_ij : f64
      linalg.yield %larger : f64
    } -> tensor<?xf64>
    %c1 = arith.constant 1 : index
    %n = tensor.dim %logits, %c1 : tensor<?x?xf64>
    %empty_1 = tensor.empty(%m, %n) : tensor<?x?xf64>
    %shifted = linalg.generic {indexing_maps = [#matrix, #column, #matrix], iterator_types = ["parallel", "parallel"]}
        ins(%logits, %peak : tensor<?x?xf64>, tensor<?xf64>) outs(%empty_1 : tensor<?x?xf64>) {
    ^bb0(%logits_ij: f64, %peak_i: f64, %out: f64):
      %difference = arith.subf %logits_ij, %peak_i : f64
      linalg.yield %difference : f64
    } -> tensor<?x?xf64>
    %zero = arith.constant 0.0 : f64
    %start_1 = linalg.fill ins(%zero : f64) outs(%empty : tensor<?xf64>) -> tensor<?xf64>
    %total = linalg.generic {indexing_maps = [#matrix, #column], iterator_types = ["parallel", "reduction"]}
        ins(%shifted : tensor<?x?xf64>) outs(%start_1 : tensor<?xf64>) {
    ^bb0(%shifted_ij: f64, %partial: f64):
      %exponential = math.exp %shifted_ij : f64
      %sum = arith.addf %partial, %exponential : f64
      linalg.yield %sum : f64
    } -> tensor<?xf64>
    %logarithm = linalg.generic {indexing_maps = [#each, #each], iterator_types = ["parallel"]}
        ins(%total : tensor<?xf64>) outs(%empty : tensor<?xf64>) {
    ^bb0(%total_i: f64, %out: f64):
      %logarithm_1 = math.log %total_i : f64
      linalg.yield %logarithm_1 : f64
    } -> tensor<?xf64>
    %sums = linalg.generic {indexing_maps = [#column, #matrix, #column, #column],
        iterator_types = ["parallel", "reduction"]}
        ins(%label, %shifted, %logarithm : tensor<?xi32>, tensor<?x?xf64>, tensor<?xf64>)
        outs(%start_1 : tensor<?xf64>) {
    ^bb0(%label_i: i32, %shifted_ij: f64, %logarithm_i: f64, %partial: f64):
      %position = linalg.index 1 : index
      %number = arith.index_cast %position : index to i32
      %test = arith.cmpi eq, %label_i, %number : i32
      %mask = arith.uitofp %test : i1 to f64
      %product = arith.mulf %mask, %keep : f64
      %sum = arith.addf %product, %rest : f64
      %difference = arith.subf %shifted_ij, %logarithm_i : f64
      %product_1 = arith.mulf %sum, %difference : f64
      %sum_1 = arith.addf %partial, %product_1 : f64
      linalg.yield %sum_1 : f64
    } -> tensor<?xf64>
    %start_2 = tensor.splat %zero : tensor<f64>
    %sum_cell = linalg.generic {indexing_maps = [#each, #one], iterator_types = ["reduction"]}
        ins(%sums : tensor<?xf64>) outs(%start_2 : tensor<f64>) {
    ^bb0(%sums_i: f64, %partial: f64):
      %sum = arith.addf %partial, %sums_i : f64
      linalg.yield %sum : f64
    } -> tensor<f64>
    %sum = tensor.extract %sum_cell[] : tensor<f64>
    %count_integer = arith.index_cast %m : index to i64
    %count = arith.sitofp %count_integer : i64 to f64
    %mean = arith.divf %sum, %count : f64
    %result = arith.negf %mean : f64
    xfuse.yield %result : f64
  }

  xfuse.recipe @cross_entropy_loss_accumulating(
      %logits: tensor<?x?xf64> {xfuse.accumulator = f32}, %target: tensor<?x?xf64> {xfuse.accumulator = f32}
  ) -> f64 attributes {element_types = [f16, bf16, f32, f64]} {
    %lowest = arith.constant 0xFFF0000000000000 : f64
    %c0 = arith.constant 0 : index
    %m = tensor.dim %logits, %c0 : tensor<?x?xf64>
    %empty = tensor.empty(%m) : tensor<?xf64>
    %start = linalg.fill ins(%lowest : f64) outs(%empty : tensor<?xf64>) -> tensor<?xf64>
    %peak = linalg.generic {indexing_maps = [#matrix, #column], iterator_types = ["parallel", "reduction"]}
        ins(%logits : tensor<?x?xf64>) outs(%start : tensor<?xf64>) {
    ^bb0(%logits_ij: f64, %largest: f64):
      %larger = arith.maximumf %largest, %logits_ij : f64
      linalg.yield %larger : f64
    } -> tensor<?xf64>
    %c1 = arith.constant 1 : index
    %n = tensor.dim %logits, %c1 : tensor<?x?xf64>
    %empty_1 = tensor.empty(%m, %n) : tensor<?x?xf64>
    %shifted = linalg.generic {indexing_maps = [#matrix, #column, #matrix], iterator_types = ["parallel", "parallel"]}
        ins(%logits, %peak : tensor<?x?xf64>, tensor<?xf64>) outs(%empty_1 : tensor<?x?xf64>) {
    ^bb0(%logits_ij: f64, %peak_i: f64, %out: f64):
      %difference = arith.subf %logits_ij, %peak_i : f64
      linalg.yield %difference : f64
    } -> tensor<?x?xf64>
    %zero = arith.constant 0.0 : f64
    %start_1 = linalg.fill ins(%zero : f64) outs(%empty : tensor<?xf64>) -> tensor<?xf64>
    %total = linalg.generic {indexing_maps = [#matrix, #column], iterator_types = ["parallel", "reduction"]}
        ins(%shifted : tensor<?x?xf64>) outs(%start_1 : tensor<?xf64>) {
    ^bb0(%shifted_ij: f64, %partial: f64):
      %exponential = math.exp %shifted_ij : f64
      %sum = arith.addf %partial, %exponential : f64
      linalg.yield %sum : f64
    } -> tensor<?xf64>
    %logarithm = linalg.generic {indexing_maps = [#each, #each], iterator_types = ["parallel"]}
        ins(%total : tensor<?xf64>) outs(%empty : tensor<?xf64>) {
    ^bb0(%total_i: f64, %out: f64):
      %logarithm_1 = math.log %total_i : f64
      linalg.yield %logarithm_1 : f64
    } -> tensor<?xf64>
    %sums = linalg.generic {indexing_maps = [#matrix, #matrix, #column, #column],
        iterator_types = ["parallel", "reduction"]}
        ins(%target, %shifted, %logarithm : tensor<?x?xf64>, tensor<?x?xf64>, tensor<?xf64>)
        outs(%start_1 : tensor<?xf64>) {
    ^bb0(%target_ij: f64, %shifted_ij: f64, %logarithm_i: f64, %partial: f64):
      %difference = arith.subf %shifted_ij, %logarithm_i : f64
      %product = arith.mulf %target_ij, %difference : f64
      %sum = arith.addf %partial, %product : f64
      linalg.yield %sum : f64
    } -> tensor<?xf64>
    %start_2 = tensor.splat %zero : tensor<f64>
    %sum_cell = linalg.generic {indexing_maps = [#each, #one], iterator_types = ["reduction"]}
        ins(%sums : tensor<?xf64>) outs(%start_2 : tensor<f64>) {
    ^bb0(%sums_i: f64, %partial: f64):
      %sum = arith.addf %partial, %sums_i : f64
      linalg.yield %sum : f64
    } -> tensor<f64>
    %sum = tensor.extract %sum_cell[] : tensor<f64>
    %count_integer = arith.index_cast %m : index to i64
    %count = arith.sitofp %count_integer : i64 to f64
    %mean = arith.divf %sum, %count : f64
    %result = arith.negf %mean : f64
    xfuse.yield %result : f64
  }
}
