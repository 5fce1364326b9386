// masked_softmax_causal(scores, scale, fill) = softmax(j <= i ? scale scores_ij : fill) over j
//
// (n,m),(),()->(n,m): queries by keys; a query i sees the keys up to i. fill is a large negative number or minus
// infinity. Vaswani et al., "Attention Is All You Need", arXiv:1706.03762.
//
// @masked_softmax_causal               textbook
// @masked_softmax_causal_div           scores / scale
// @masked_softmax_causal_jax           JAX (`jnp.where(jnp.tril(...), ...)`): indices are compared at i32
// @masked_softmax_causal_jax_div       JAX, scores / scale
// @masked_softmax_causal_jax_unscaled  JAX, no scale: (n,m),()->(n,m)
// @masked_softmax_causal_accumulating  textbook, at no narrower a type than f32
#matrix = affine_map<(n, m) -> (n, m)>
#column = affine_map<(n, m) -> (n)>

xfuse.library @masked_softmax_causal {
  xfuse.recipe @masked_softmax_causal(
      %scores: tensor<?x?xf64>, %scale: f64 {xfuse.scalar}, %fill: f64 {xfuse.scalar}
  ) -> tensor<?x?xf64> attributes {element_types = [f16, bf16, f32, f64]} {
    %first = arith.constant 0 : index
    %n = tensor.dim %scores, %first : tensor<?x?xf64>
    %second = arith.constant 1 : index
    %m = tensor.dim %scores, %second : tensor<?x?xf64>
    %matrix = tensor.empty(%n, %m) : tensor<?x?xf64>
    %logits = linalg.generic {indexing_maps = [#matrix, #matrix], iterator_types = ["parallel", "parallel"]}
        ins(%scores : tensor<?x?xf64>) outs(%matrix : tensor<?x?xf64>) {
    ^bb0(%scores_ij: f64, %out: f64):
      %query = linalg.index 0 : index
      %key = linalg.index 1 : index
      %visible = arith.cmpi sge, %query, %key : index
      %scaled = arith.mulf %scores_ij, %scale : f64
      %logit = arith.select %visible, %scaled, %fill : f64
      linalg.yield %logit : f64
    } -> tensor<?x?xf64>
    %lowest = arith.constant 0xFFF0000000000000 : f64
    %column = tensor.empty(%n) : tensor<?xf64>
    %lowest_each = linalg.fill ins(%lowest : f64) outs(%column : tensor<?xf64>) -> tensor<?xf64>
    %maximum = linalg.generic {indexing_maps = [#matrix, #column], iterator_types = ["parallel", "reduction"]}
        ins(%logits : tensor<?x?xf64>) outs(%lowest_each : tensor<?xf64>) {
    ^bb0(%logits_ij: f64, %largest: f64):
      %larger = arith.maximumf %largest, %logits_ij : f64
      linalg.yield %larger : f64
    } -> tensor<?xf64>
    %exponentials = linalg.generic {indexing_maps = [#matrix, #column, #matrix],
      iterator_types = ["parallel", "parallel"]}
        ins(%logits, %maximum : tensor<?x?xf64>, tensor<?xf64>) outs(%matrix : tensor<?x?xf64>) {
    ^bb0(%logits_ij: f64, %maximum_i: f64, %out: f64):
      %difference = arith.subf %logits_ij, %maximum_i : f64
      %exponential = math.exp %difference : f64
      linalg.yield %exponential : f64
    } -> tensor<?x?xf64>
    %zero = arith.constant 0.0 : f64
    %zeros = linalg.fill ins(%zero : f64) outs(%column : tensor<?xf64>) -> tensor<?xf64>
    %total = linalg.generic {indexing_maps = [#matrix, #column], iterator_types = ["parallel", "reduction"]}
        ins(%exponentials : tensor<?x?xf64>) outs(%zeros : tensor<?xf64>) {
    ^bb0(%exponentials_ij: f64, %partial: f64):
      %sum = arith.addf %partial, %exponentials_ij : f64
      linalg.yield %sum : f64
    } -> tensor<?xf64>
    %y = linalg.generic {indexing_maps = [#matrix, #column, #matrix], iterator_types = ["parallel", "parallel"]}
        ins(%exponentials, %total : tensor<?x?xf64>, tensor<?xf64>) outs(%matrix : tensor<?x?xf64>) {
    ^bb0(%exponentials_ij: f64, %total_i: f64, %out: f64):
      %quotient = arith.divf %exponentials_ij, %total_i : f64
      linalg.yield %quotient : f64
    } -> tensor<?x?xf64>
    xfuse.yield %y : tensor<?x?xf64>
  }

  xfuse.recipe @masked_softmax_causal_div(
      %scores: tensor<?x?xf64>, %scale: f64 {xfuse.scalar}, %fill: f64 {xfuse.scalar}
  ) -> tensor<?x?xf64> attributes {element_types = [f16, bf16, f32, f64]} {
    %first = arith.constant 0 : index
    %n = tensor.dim %scores, %first : tensor<?x?xf64>
    %second = arith.constant 1 : index
    %m = tensor.dim %scores, %second : tensor<?x?xf64>
    %matrix = tensor.empty(%n, %m) : tensor<?x?xf64>
    %logits = linalg.generic {indexing_maps = [#matrix, #matrix], iterator_types = ["parallel", "parallel"]}
        ins(%scores : tensor<?x?xf64>) outs(%matrix : tensor<?x?xf64>) {
    ^bb0(%scores_ij: f64, %out: f64):
      %query = linalg.index 0 : index
      %key = linalg.index 1 : index
      %visible = arith.cmpi sge, %query, %key : index
      %scaled = arith.divf %scores_ij, %scale : f64
      %logit = arith.select %visible, %scaled, %fill : f64
      linalg.yield %logit : f64
    } -> tensor<?x?xf64>
    %lowest = arith.constant 0xFFF0000000000000 : f64
    %column = tensor.empty(%n) : tensor<?xf64>
    %lowest_each = linalg.fill ins(%lowest : f64) outs(%column : tensor<?xf64>) -> tensor<?xf64>
    %maximum = linalg.generic {indexing_maps = [#matrix, #column], iterator_types = ["parallel", "reduction"]}
        ins(%logits : tensor<?x?xf64>) outs(%lowest_each : tensor<?xf64>) {
    ^bb0(%logits_ij: f64, %largest: f64):
      %larger = arith.maximumf %largest, %logits_ij : f64
      linalg.yield %larger : f64
    } -> tensor<?xf64>
    %exponentials = linalg.generic {indexing_maps = [#matrix, #column, #matrix],
      iterator_types = ["parallel", "parallel"]}
        ins(%logits, %maximum : tensor<?x?xf64>, tensor<?xf64>) outs(%matrix : tensor<?x?xf64>) {
    ^bb0(%logits_ij: f64, %maximum_i: f64, %out: f64):
      %difference = arith.subf %logits_ij, %maximum_i : f64
      %exponential = math.exp %difference : f64
      linalg.yield %exponential : f64
    } -> tensor<?x?xf64>
    %zero = arith.constant 0.0 : f64
    %zeros = linalg.fill ins(%zero : f64) outs(%column : tensor<?xf64>) -> tensor<?xf64>
    %total = linalg.generic {indexing_maps = [#matrix, #column], iterator_types = ["parallel", "reduction"]}
        ins(%exponentials : tensor<?x?xf64>) outs(%zeros : tensor<?xf64>) {
    ^bb0(%exponentials_ij: f64, %partial: f64):
      %sum = arith.addf %partial, %exponentials_ij : f64
      linalg.yield %sum : f64
    } -> tensor<?xf64>
    %y = linalg.generic {indexing_maps = [#matrix, #column, #matrix], iterator_types = ["parallel", "parallel"]}
        ins(%exponentials, %total : tensor<?x?xf64>, tensor<?xf64>) outs(%matrix : tensor<?x?xf64>) {
    ^bb0(%exponentials_ij: f64, %total_i: f64, %out: f64):
      %quotient = arith.divf %exponentials_ij, %total_i : f64
      linalg.yield %quotient : f64
    } -> tensor<?x?xf64>
    xfuse.yield %y : tensor<?x?xf64>
  }

  xfuse.recipe @masked_softmax_causal_jax(
      %scores: tensor<?x?xf64>, %scale: f64 {xfuse.scalar}, %fill: f64 {xfuse.scalar}
  ) -> tensor<?x?xf64> attributes {element_types = [f16, bf16, f32, f64]} {
    %first = arith.constant 0 : index
    %n = tensor.dim %scores, %first : tensor<?x?xf64>
    %second = arith.constant 1 : index
    %m = tensor.dim %scores, %second : tensor<?x?xf64>
    %matrix = tensor.empty(%n, %m) : tensor<?x?xf64>
    %logits = linalg.generic {indexing_maps = [#matrix, #matrix], iterator_types = ["parallel", "parallel"]}
        ins(%scores : tensor<?x?xf64>) outs(%matrix : tensor<?x?xf64>) {
    ^bb0(%scores_ij: f64, %out: f64):
      %query = linalg.index 0 : index
      %key = linalg.index 1 : index
      %query_i32 = arith.index_cast %query : index to i32
      %key_i32 = arith.index_cast %key : index to i32
      %visible = arith.cmpi sge, %query_i32, %key_i32 : i32
      %scaled = arith.mulf %scores_ij, %scale : f64
      %logit = arith.select %visible, %scaled, %fill : f64
      linalg.yield %logit : f64
    } -> tensor<?x?xf64>
    %lowest = arith.constant 0xFFF0000000000000 : f64
    %column = tensor.empty(%n) : tensor<?xf64>
    %lowest_each = linalg.fill ins(%lowest : f64) outs(%column : tensor<?xf64>) -> tensor<?xf64>
    %maximum = linalg.generic {indexing_maps = [#matrix, #column], iterator_types = ["parallel", "reduction"]}
        ins(%logits : tensor<?x?xf64>) outs(%lowest_each : tensor<?xf64>) {
    ^bb0(%logits_ij: f64, %largest: f64):
      %larger = arith.maximumf %largest, %logits_ij : f64
      linalg.yield %larger : f64
    } -> tensor<?xf64>
    %exponentials = linalg.generic {indexing_maps = [#matrix, #column, #matrix],
      iterator_types = ["parallel", "parallel"]}
        ins(%logits, %maximum : tensor<?x?xf64>, tensor<?xf64>) outs(%matrix : tensor<?x?xf64>) {
    ^bb0(%logits_ij: f64, %maximum_i: f64, %out: f64):
      %difference = arith.subf %logits_ij, %maximum_i : f64
      %exponential = math.exp %difference : f64
      linalg.yield %exponential : f64
    } -> tensor<?x?xf64>
    %zero = arith.constant 0.0 : f64
    %zeros = linalg.fill ins(%zero : f64) outs(%column : tensor<?xf64>) -> tensor<?xf64>
    %total = linalg.generic {indexing_maps = [#matrix, #column], iterator_types = ["parallel", "reduction"]}
        ins(%exponentials : tensor<?x?xf64>) outs(%zeros : tensor<?xf64>) {
    ^bb0(%exponentials_ij: f64, %partial: f64):
      %sum = arith.addf %partial, %exponentials_ij : f64
      linalg.yield %sum : f64
    } -> tensor<?xf64>
    %y = linalg.generic {indexing_maps = [#matrix, #column, #matrix], iterator_types = ["parallel", "parallel"]}
        ins(%exponentials, %total : tensor<?x?xf64>, tensor<?xf64>) outs(%matrix : tensor<?x?xf64>) {
    ^bb0(%exponentials_ij: f64, %total_i: f64, %out: f64):
      %quotient = arith.divf %exponentials_ij, %total_i : f64
      linalg.yield %quotient : f64
    } -> tensor<?x?xf64>
    xfuse.yield %y : tensor<?x?xf64>
  }

  xfuse.recipe @masked_softmax_causal_jax_div(
      %scores: tensor<?x?xf64>, %scale: f64 {xfuse.scalar}, %fill: f64 {xfuse.scalar}
  ) -> tensor<?x?xf64> attributes {element_types = [f16, bf16, f32, f64]} {
    %first = arith.constant 0 : index
    %n = tensor.dim %scores, %first : tensor<?x?xf64>
    %second = arith.constant 1 : index
    %m = tensor.dim %scores, %second : tensor<?x?xf64>
    %matrix = tensor.empty(%n, %m) : tensor<?x?xf64>
    %logits = linalg.generic {indexing_maps = [#matrix, #matrix], iterator_types = ["parallel", "parallel"]}
        ins(%scores : tensor<?x?xf64>) outs(%matrix : tensor<?x?xf64>) {
    ^bb0(%scores_ij: f64, %out: f64):
      %query = linalg.index 0 : index
      %key = linalg.index 1 : index
      %query_i32 = arith.index_cast %query : index to i32
      %key_i32 = arith.index_cast %key : index to i32
      %visible = arith.cmpi sge, %query_i32, %key_i32 : i32
      %scaled = arith.divf %scores_ij, %scale : f64
      %logit = arith.select %visible, %scaled, %fill : f64
      linalg.yield %logit : f64
    } -> tensor<?x?xf64>
    %lowest = arith.constant 0xFFF0000000000000 : f64
    %column = tensor.empty(%n) : tensor<?xf64>
    %lowest_each = linalg.fill ins(%lowest : f64) outs(%column : tensor<?xf64>) -> tensor<?xf64>
    %maximum = linalg.generic {indexing_maps = [#matrix, #column], iterator_types = ["parallel", "reduction"]}
        ins(%logits : tensor<?x?xf64>) outs(%lowest_each : tensor<?xf64>) {
    ^bb0(%logits_ij: f64, %largest: f64):
      %larger = arith.maximumf %largest, %logits_ij : f64
      linalg.yield %larger : f64
    } -> tensor<?xf64>
    %exponentials = linalg.generic {indexing_maps = [#matrix, #column, #matrix],
      iterator_types = ["parallel", "parallel"]}
        ins(%logits, %maximum : tensor<?x?xf64>, tensor<?xf64>) outs(%matrix : tensor<?x?xf64>) {
    ^bb0(%logits_ij: f64, %maximum_i: f64, %out: f64):
      %difference = arith.subf %logits_ij, %maximum_i : f64
      %exponential = math.exp %difference : f64
      linalg.yield %exponential : f64
    } -> tensor<?x?xf64>
    %zero = arith.constant 0.0 : f64
    %zeros = linalg.fill ins(%zero : f64) outs(%column : tensor<?xf64>) -> tensor<?xf64>
    %total = linalg.generic {indexing_maps = [#matrix, #column], iterator_types = ["parallel", "reduction"]}
        ins(%exponentials : tensor<?x?xf64>) outs(%zeros : tensor<?xf64>) {
    ^bb0(%exponentials_ij: f64, %partial: f64):
      %sum = arith.addf %partial, %exponentials_ij : f64
      linalg.yield %sum : f64
    } -> tensor<?xf64>
    %y = linalg.generic {indexing_maps = [#matrix, #column, #matrix], iterator_types = ["parallel", "parallel"]}
        ins(%exponentials, %total : tensor<?x?xf64>, tensor<?xf64>) outs(%matrix : tensor<?x?xf64>) {
    ^bb0(%exponentials_ij: f64, %total_i: f64, %out: f64):
      %quotient = arith.divf %exponentials_ij, %total_i : f64
      linalg.yield %quotient : f64
    } -> tensor<?x?xf64>
    xfuse.yield %y : tensor<?x?xf64>
  }

  xfuse.recipe @masked_softmax_causal_jax_unscaled(
      %scores: tensor<?x?xf64>, %fill: f64 {xfuse.scalar}
  ) -> tensor<?x?xf64> attributes {element_types = [f16, bf16, f32, f64]} {
    %first = arith.constant 0 : index
    %n = tensor.dim %scores, %first : tensor<?x?xf64>
    %second = arith.constant 1 : index
    %m = tensor.dim %scores, %second : tensor<?x?xf64>
    %matrix = tensor.empty(%n, %m) : tensor<?x?xf64>
    %logits = linalg.generic {indexing_maps = [#matrix, #matrix], iterator_types = ["parallel", "parallel"]}
        ins(%scores : tensor<?x?xf64>) outs(%matrix : tensor<?x?xf64>) {
    ^bb0(%scores_ij: f64, %out: f64):
      %query = linalg.index 0 : index
      %key = linalg.index 1 : index
      %query_i32 = arith.index_cast %query : index to i32
      %key_i32 = arith.index_cast %key : index to i32
      %visible = arith.cmpi sge, %query_i32, %key_i32 : i32
      %logit = arith.select %visible, %scores_ij, %fill : f64
      linalg.yield %logit : f64
    } -> tensor<?x?xf64>
    %lowest = arith.constant 0xFFF0000000000000 : f64
    %column = tensor.empty(%n) : tensor<?xf64>
    %lowest_each = linalg.fill ins(%lowest : f64) outs(%column : tensor<?xf64>) -> tensor<?xf64>
    %maximum = linalg.generic {indexing_maps = [#matrix, #column], iterator_types = ["parallel", "reduction"]}
        ins(%logits : tensor<?x?xf64>) outs(%lowest_each : tensor<?xf64>) {
    ^bb0(%logits_ij: f64, %largest: f64):
      %larger = arith.maximumf %largest, %logits_ij : f64
      linalg.yield %larger : f64
    } -> tensor<?xf64>
    %exponentials = linalg.generic {indexing_maps = [#matrix, #column, #matrix],
      iterator_types = ["parallel", "parallel"]}
        ins(%logits, %maximum : tensor<?x?xf64>, tensor<?xf64>) outs(%matrix : tensor<?x?xf64>) {
    ^bb0(%logits_ij: f64, %maximum_i: f64, %out: f64):
      %difference = arith.subf %logits_ij, %maximum_i : f64
      %exponential = math.exp %difference : f64
      linalg.yield %exponential : f64
    } -> tensor<?x?xf64>
    %zero = arith.constant 0.0 : f64
    %zeros = linalg.fill ins(%zero : f64) outs(%column : tensor<?xf64>) -> tensor<?xf64>
    %total = linalg.generic {indexing_maps = [#matrix, #column], iterator_types = ["parallel", "reduction"]}
        ins(%exponentials : tensor<?x?xf64>) outs(%zeros : tensor<?xf64>) {
    ^bb0(%exponentials_ij: f64, %partial: f64):
      %sum = arith.addf %partial, %exponentials_ij : f64
      linalg.yield %sum : f64
    } -> tensor<?xf64>
    %y = linalg.generic {indexing_maps = [#matrix, #column, #matrix], iterator_types = ["parallel", "parallel"]}
        ins(%exponentials, %total : tensor<?x?xf64>, tensor<?xf64>) outs(%matrix : tensor<?x?xf64>) {
    ^bb0(%exponentials_ij: f64, %total_i: f64, %out: f64):
      %quotient = arith.divf %exponentials_ij, %total_i : f64
      linalg.yield %quotient : f64
    } -> tensor<?x?xf64>
    xfuse.yield %y : tensor<?x?xf64>
  }

  xfuse.recipe @masked_softmax_causal_accumulating(
      %scores: tensor<?x?xf64> {xfuse.accumulator = f32}, %scale: f64 {xfuse.scalar, xfuse.accumulator = f32},
      %fill: f64 {xfuse.scalar, xfuse.accumulator = f32}
  ) -> tensor<?x?xf64> attributes {element_types = [f16, bf16, f32, f64]} {
    %first = arith.constant 0 : index
    %n = tensor.dim %scores, %first : tensor<?x?xf64>
    %second = arith.constant 1 : index
    %m = tensor.dim %scores, %second : tensor<?x?xf64>
    %matrix = tensor.empty(%n, %m) : tensor<?x?xf64>
    %logits = linalg.generic {indexing_maps = [#matrix, #matrix], iterator_types = ["parallel", "parallel"]}
        ins(%scores : tensor<?x?xf64>) outs(%matrix : tensor<?x?xf64>) {
    ^bb0(%scores_ij: f64, %out: f64):
      %query = linalg.index 0 : index
      %key = linalg.index 1 : index
      %visible = arith.cmpi sge, %query, %key : index
      %scaled = arith.mulf %scores_ij, %scale : f64
      %logit = arith.select %visible, %scaled, %fill : f64
      linalg.yield %logit : f64
    } -> tensor<?x?xf64>
    %lowest = arith.constant 0xFFF0000000000000 : f64
    %column = tensor.empty(%n) : tensor<?xf64>
    %lowest_each = linalg.fill ins(%lowest : f64) outs(%column : tensor<?xf64>) -> tensor<?xf64>
    %maximum = linalg.generic {indexing_maps = [#matrix, #column], iterator_types = ["parallel", "reduction"]}
        ins(%logits : tensor<?x?xf64>) outs(%lowest_each : tensor<?xf64>) {
    ^bb0(%logits_ij: f64, %largest: f64):
      %larger = arith.maximumf %largest, %logits_ij : f64
      linalg.yield %larger : f64
    } -> tensor<?xf64>
    %exponentials = linalg.generic {indexing_maps = [#matrix, #column, #matrix],
      iterator_types = ["parallel", "parallel"]}
        ins(%logits, %maximum : tensor<?x?xf64>, tensor<?xf64>) outs(%matrix : tensor<?x?xf64>) {
    ^bb0(%logits_ij: f64, %maximum_i: f64, %out: f64):
      %difference = arith.subf %logits_ij, %maximum_i : f64
      %exponential = math.exp %difference : f64
      linalg.yield %exponential : f64
    } -> tensor<?x?xf64>
    %zero = arith.constant 0.0 : f64
    %zeros = linalg.fill ins(%zero : f64) outs(%column : tensor<?xf64>) -> tensor<?xf64>
    %total = linalg.generic {indexing_maps = [#matrix, #column], iterator_types = ["parallel", "reduction"]}
        ins(%exponentials : tensor<?x?xf64>) outs(%zeros : tensor<?xf64>) {
    ^bb0(%exponentials_ij: f64, %partial: f64):
      %sum = arith.addf %partial, %exponentials_ij : f64
      linalg.yield %sum : f64
    } -> tensor<?xf64>
    %y = linalg.generic {indexing_maps = [#matrix, #column, #matrix], iterator_types = ["parallel", "parallel"]}
        ins(%exponentials, %total : tensor<?x?xf64>, tensor<?xf64>) outs(%matrix : tensor<?x?xf64>) {
    ^bb0(%exponentials_ij: f64, %total_i: f64, %out: f64):
      %quotient = arith.divf %exponentials_ij, %total_i : f64
      linalg.yield %quotient : f64
    } -> tensor<?x?xf64>
    xfuse.yield %y : tensor<?x?xf64>
  }
}
