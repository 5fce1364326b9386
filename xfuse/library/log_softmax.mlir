// log_softmax(x)_i = x_i - log(sum_j exp(x_j)), computed on x - max(x) so that nothing overflows
//
// (n)->(n). Blanchard, Higham and Higham, "Accurately computing the log-sum-exp and softmax functions" (2021).
//
// @log_softmax               textbook, JAX (`jax.nn.log_softmax`) and PyTorch (`F.log_softmax`)
// @log_softmax_logsumexp     x - (max + log(sum)): cancels where x is large
// @log_softmax_of_softmax    log(softmax(x)): minus infinity where softmax underflows
// @log_softmax_accumulating  textbook, at no narrower a type than f32
#row = affine_map<(n) -> (n)>
#cell = affine_map<(n) -> ()>

xfuse.library @log_softmax {
  xfuse.recipe @log_softmax(%x: tensor<?xf64>) -> tensor<?xf64> attributes {element_types = [f16, bf16, f32, f64]} {
    %lowest = arith.constant 0xFFF0000000000000 : f64
    %empty_maximum = tensor.splat %lowest : tensor<f64>
    %maximum_cell = linalg.generic {indexing_maps = [#row, #cell], iterator_types = ["reduction"]}
        ins(%x : tensor<?xf64>) outs(%empty_maximum : tensor<f64>) {
    ^bb0(%x_i: f64, %largest: f64):
      %larger = arith.maximumf %largest, %x_i : f64
      linalg.yield %larger : f64
    } -> tensor<f64>
    %maximum = tensor.extract %maximum_cell[] : tensor<f64>
    %first = arith.constant 0 : index
    %n = tensor.dim %x, %first : tensor<?xf64>
    %row = tensor.empty(%n) : tensor<?xf64>
    %differences = linalg.generic {indexing_maps = [#row, #row], iterator_types = ["parallel"]}
        ins(%x : tensor<?xf64>) outs(%row : tensor<?xf64>) {
    ^bb0(%x_i: f64, %out: f64):
      %difference = arith.subf %x_i, %maximum : f64
      linalg.yield %difference : f64
    } -> tensor<?xf64>
    %zero = arith.constant 0.0 : f64
    %empty_sum = tensor.splat %zero : tensor<f64>
    %total_cell = linalg.generic {indexing_maps = [#row, #cell], iterator_types = ["reduction"]}
        ins(%differences : tensor<?xf64>) outs(%empty_sum : tensor<f64>) {
    ^bb0(%differences_i: f64, %partial: f64):
      %exponential = math.exp %differences_i : f64
      %sum = arith.addf %partial, %exponential : f64
      linalg.yield %sum : f64
    } -> tensor<f64>
    %total = tensor.extract %total_cell[] : tensor<f64>
    %logarithm = math.log %total : f64
    %y = linalg.generic {indexing_maps = [#row, #row], iterator_types = ["parallel"]}
        ins(%differences : tensor<?xf64>) outs(%row : tensor<?xf64>) {
    ^bb0(%differences_i: f64, %out: f64):
      %result = arith.subf %differences_i, %logarithm : f64
      linalg.yield %result : f64
    } -> tensor<?xf64>
    xfuse.yield %y : tensor<?xf64>
  }

  xfuse.recipe @log_softmax_logsumexp(
      %x: tensor<?xf64>
  ) -> tensor<?xf64> attributes {element_types = [f16, bf16, f32, f64]} {
    %lowest = arith.constant 0xFFF0000000000000 : f64
    %empty_maximum = tensor.splat %lowest : tensor<f64>
    %maximum_cell = linalg.generic {indexing_maps = [#row, #cell], iterator_types = ["reduction"]}
        ins(%x : tensor<?xf64>) outs(%empty_maximum : tensor<f64>) {
    ^bb0(%x_i: f64, %largest: f64):
      %larger = arith.maximumf %largest, %x_i : f64
      linalg.yield %larger : f64
    } -> tensor<f64>
    %maximum = tensor.extract %maximum_cell[] : tensor<f64>
    %zero = arith.constant 0.0 : f64
    %empty_sum = tensor.splat %zero : tensor<f64>
    %total_cell = linalg.generic {indexing_maps = [#row, #cell], iterator_types = ["reduction"]}
        ins(%x : tensor<?xf64>) outs(%empty_sum : tensor<f64>) {
    ^bb0(%x_i: f64, %partial: f64):
      %difference = arith.subf %x_i, %maximum : f64
      %exponential = math.exp %difference : f64
      %sum = arith.addf %partial, %exponential : f64
      linalg.yield %sum : f64
    } -> tensor<f64>
    %total = tensor.extract %total_cell[] : tensor<f64>
    %logarithm = math.log %total : f64
    %log_total = arith.addf %logarithm, %maximum : f64
    %first = arith.constant 0 : index
    %n = tensor.dim %x, %first : tensor<?xf64>
    %row = tensor.empty(%n) : tensor<?xf64>
    %y = linalg.generic {indexing_maps = [#row, #row], iterator_types = ["parallel"]}
        ins(%x : tensor<?xf64>) outs(%row : tensor<?xf64>) {
    ^bb0(%x_i: f64, %out: f64):
      %result = arith.subf %x_i, %log_total : f64
      linalg.yield %result : f64
    } -> tensor<?xf64>
    xfuse.yield %y : tensor<?xf64>
  }

  xfuse.recipe @log_softmax_of_softmax(
      %x: tensor<?xf64>
  ) -> tensor<?xf64> attributes {element_types = [f16, bf16, f32, f64]} {
    %lowest = arith.constant 0xFFF0000000000000 : f64
    %empty_maximum = tensor.splat %lowest : tensor<f64>
    %maximum_cell = linalg.generic {indexing_maps = [#row, #cell], iterator_types = ["reduction"]}
        ins(%x : tensor<?xf64>) outs(%empty_maximum : tensor<f64>) {
    ^bb0(%x_i: f64, %largest: f64):
      %larger = arith.maximumf %largest, %x_i : f64
      linalg.yield %larger : f64
    } -> tensor<f64>
    %maximum = tensor.extract %maximum_cell[] : tensor<f64>
    %first = arith.constant 0 : index
    %n = tensor.dim %x, %first : tensor<?xf64>
    %row = tensor.empty(%n) : tensor<?xf64>
    %exponentials = linalg.generic {indexing_maps = [#row, #row], iterator_types = ["parallel"]}
        ins(%x : tensor<?xf64>) outs(%row : tensor<?xf64>) {
    ^bb0(%x_i: f64, %out: f64):
      %difference = arith.subf %x_i, %maximum : f64
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
      %logarithm = math.log %quotient : f64
      linalg.yield %logarithm : f64
    } -> tensor<?xf64>
    xfuse.yield %y : tensor<?xf64>
  }

  xfuse.recipe @log_softmax_accumulating(
      %x: tensor<?xf64> {xfuse.accumulator = f32}
  ) -> tensor<?xf64> attributes {element_types = [f16, bf16, f32, f64]} {
    %lowest = arith.constant 0xFFF0000000000000 : f64
    %empty_maximum = tensor.splat %lowest : tensor<f64>
    %maximum_cell = linalg.generic {indexing_maps = [#row, #cell], iterator_types = ["reduction"]}
        ins(%x : tensor<?xf64>) outs(%empty_maximum : tensor<f64>) {
    ^bb0(%x_i: f64, %largest: f64):
      %larger = arith.maximumf %largest, %x_i : f64
      linalg.yield %larger : f64
    } -> tensor<f64>
    %maximum = tensor.extract %maximum_cell[] : tensor<f64>
    %first = arith.constant 0 : index
    %n = tensor.dim %x, %first : tensor<?xf64>
    %row = tensor.empty(%n) : tensor<?xf64>
    %differences = linalg.generic {indexing_maps = [#row, #row], iterator_types = ["parallel"]}
        ins(%x : tensor<?xf64>) outs(%row : tensor<?xf64>) {
    ^bb0(%x_i: f64, %out: f64):
      %difference = arith.subf %x_i, %maximum : f64
      linalg.yield %difference : f64
    } -> tensor<?xf64>
    %zero = arith.constant 0.0 : f64
    %empty_sum = tensor.splat %zero : tensor<f64>
    %total_cell = linalg.generic {indexing_maps = [#row, #cell], iterator_types = ["reduction"]}
        ins(%differences : tensor<?xf64>) outs(%empty_sum : tensor<f64>) {
    ^bb0(%differences_i: f64, %partial: f64):
      %exponential = math.exp %differences_i : f64
      %sum = arith.addf %partial, %exponential : f64
      linalg.yield %sum : f64
    } -> tensor<f64>
    %total = tensor.extract %total_cell[] : tensor<f64>
    %logarithm = math.log %total : f64
    %y = linalg.generic {indexing_maps = [#row, #row], iterator_types = ["parallel"]}
        ins(%differences : tensor<?xf64>) outs(%row : tensor<?xf64>) {
    ^bb0(%differences_i: f64, %out: f64):
      %result = arith.subf %differences_i, %logarithm : f64
      linalg.yield %result : f64
    } -> tensor<?xf64>
    xfuse.yield %y : tensor<?xf64>
  }
}
