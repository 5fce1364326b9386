// log_softmax_backward(log_softmax, gradient) = gradient - exp(log_softmax) sum(gradient)
//
// (n),(n)->(n).
//
// @log_softmax_backward               textbook and PyTorch (`_log_softmax_backward_data`), of the result of the
//                                     log-softmax
// @log_softmax_backward_input         of the argument x: gradient - softmax(x) sum(gradient)
// @log_softmax_backward_jax           JAX (`jax.nn.log_softmax`), of the argument x: gradient + e (sum(-gradient) /
//                                     sum(e)), e = exp(x - max(x)); the quotient is summed over an axis of extent one
// @log_softmax_backward_accumulating  textbook, at no narrower a type than f32
#row = affine_map<(n) -> (n)>
#cell = affine_map<(n) -> ()>

xfuse.library @log_softmax_backward {
  xfuse.recipe @log_softmax_backward(
      %log_softmax: tensor<?xf64>, %gradient: tensor<?xf64>
  ) -> tensor<?xf64> attributes {element_types = [f16, bf16, f32, f64]} {
    %zero = arith.constant 0.0 : f64
    %start = tensor.splat %zero : tensor<f64>
    %sum_cell = linalg.generic {indexing_maps = [#row, #cell], iterator_types = ["reduction"]}
        ins(%gradient : tensor<?xf64>) outs(%start : tensor<f64>) {
    ^bb0(%gradient_i: f64, %partial: f64):
      %sum = arith.addf %partial, %gradient_i : f64
      linalg.yield %sum : f64
    } -> tensor<f64>
    %sum = tensor.extract %sum_cell[] : tensor<f64>
    %c0 = arith.constant 0 : index
    %n = tensor.dim %log_softmax, %c0 : tensor<?xf64>
    %empty = tensor.empty(%n) : tensor<?xf64>
    %result = linalg.generic {indexing_maps = [#row, #row, #row], iterator_types = ["parallel"]}
        ins(%gradient, %log_softmax : tensor<?xf64>, tensor<?xf64>) outs(%empty : tensor<?xf64>) {
    ^bb0(%gradient_i: f64, %log_softmax_i: f64, %out: f64):
      %exponential = math.exp %log_softmax_i : f64
      %product = arith.mulf %exponential, %sum : f64
      %difference = arith.subf %gradient_i, %product : f64
      linalg.yield %difference : f64
    } -> tensor<?xf64>
    xfuse.yield %result : tensor<?xf64>
  }

  xfuse.recipe @log_softmax_backward_input(
      %x: tensor<?xf64>, %gradient: tensor<?xf64>
  ) -> tensor<?xf64> attributes {element_types = [f16, bf16, f32, f64]} {
    %lowest = arith.constant 0xFFF0000000000000 : f64
    %start = tensor.splat %lowest : tensor<f64>
    %peak_cell = linalg.generic {indexing_maps = [#row, #cell], iterator_types = ["reduction"]}
        ins(%x : tensor<?xf64>) outs(%start : tensor<f64>) {
    ^bb0(%x_i: f64, %largest: f64):
      %larger = arith.maximumf %largest, %x_i : f64
      linalg.yield %larger : f64
    } -> tensor<f64>
    %peak = tensor.extract %peak_cell[] : tensor<f64>
    %c0 = arith.constant 0 : index
    %n = tensor.dim %x, %c0 : tensor<?xf64>
    %empty = tensor.empty(%n) : tensor<?xf64>
    %exponential = linalg.generic {indexing_maps = [#row, #row], iterator_types = ["parallel"]}
        ins(%x : tensor<?xf64>) outs(%empty : tensor<?xf64>) {
    ^bb0(%x_i: f64, %out: f64):
      %difference = arith.subf %x_i, %peak : f64
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
    %sum_cell = linalg.generic {indexing_maps = [#row, #cell], iterator_types = ["reduction"]}
        ins(%gradient : tensor<?xf64>) outs(%start_1 : tensor<f64>) {
    ^bb0(%gradient_i: f64, %partial: f64):
      %sum = arith.addf %partial, %gradient_i : f64
      linalg.yield %sum : f64
    } -> tensor<f64>
    %sum = tensor.extract %sum_cell[] : tensor<f64>
    %result = linalg.generic {indexing_maps = [#row, #row, #row], iterator_types = ["parallel"]}
        ins(%gradient, %exponential : tensor<?xf64>, tensor<?xf64>) outs(%empty : tensor<?xf64>) {
    ^bb0(%gradient_i: f64, %exponential_i: f64, %out: f64):
      %quotient = arith.divf %exponential_i, %total : f64
      %product = arith.mulf %quotient, %sum : f64
      %difference = arith.subf %gradient_i, %product : f64
      linalg.yield %difference : f64
    } -> tensor<?xf64>
    xfuse.yield %result : tensor<?xf64>
  }

  xfuse.recipe @log_softmax_backward_jax(
      %x: tensor<?xf64>, %gradient: tensor<?xf64>
  ) -> tensor<?xf64> attributes {element_types = [f16, bf16, f32, f64]} {
    %lowest = arith.constant 0xFFF0000000000000 : f64
    %start = tensor.splat %lowest : tensor<f64>
    %peak_cell = linalg.generic {indexing_maps = [#row, #cell], iterator_types = ["reduction"]}
        ins(%x : tensor<?xf64>) outs(%start : tensor<f64>) {
    ^bb0(%x_i: f64, %largest: f64):
      %larger = arith.maximumf %largest, %x_i : f64
      linalg.yield %larger : f64
    } -> tensor<f64>
    %peak = tensor.extract %peak_cell[] : tensor<f64>
    %c0 = arith.constant 0 : index
    %n = tensor.dim %x, %c0 : tensor<?xf64>
    %empty = tensor.empty(%n) : tensor<?xf64>
    %exponential = linalg.generic {indexing_maps = [#row, #row], iterator_types = ["parallel"]}
        ins(%x : tensor<?xf64>) outs(%empty : tensor<?xf64>) {
    ^bb0(%x_i: f64, %out: f64):
      %difference = arith.subf %x_i, %peak : f64
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
    %sum_cell = linalg.generic {indexing_maps = [#row, #cell], iterator_types = ["reduction"]}
        ins(%gradient : tensor<?xf64>) outs(%start_1 : tensor<f64>) {
    ^bb0(%gradient_i: f64, %partial: f64):
      %negative = arith.negf %gradient_i : f64
      %sum = arith.addf %partial, %negative : f64
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
        ins(%gradient, %exponential : tensor<?xf64>, tensor<?xf64>) outs(%empty : tensor<?xf64>) {
    ^bb0(%gradient_i: f64, %exponential_i: f64, %out: f64):
      %product = arith.mulf %exponential_i, %share : f64
      %sum_1 = arith.addf %gradient_i, %product : f64
      linalg.yield %sum_1 : f64
    } -> tensor<?xf64>
    xfuse.yield %result : tensor<?xf64>
  }

  xfuse.recipe @log_softmax_backward_accumulating(
      %log_softmax: tensor<?xf64> {xfuse.accumulator = f32}, %gradient: tensor<?xf64> {xfuse.accumulator = f32}
  ) -> tensor<?xf64> attributes {element_types = [f16, bf16, f32, f64]} {
    %zero = arith.constant 0.0 : f64
    %start = tensor.splat %zero : tensor<f64>
    %sum_cell = linalg.generic {indexing_maps = [#row, #cell], iterator_types = ["reduction"]}
        ins(%gradient : tensor<?xf64>) outs(%start : tensor<f64>) {
    ^bb0(%gradient_i: f64, %partial: f64):
      %sum = arith.addf %partial, %gradient_i : f64
      linalg.yield %sum : f64
    } -> tensor<f64>
    %sum = tensor.extract %sum_cell[] : tensor<f64>
    %c0 = arith.constant 0 : index
    %n = tensor.dim %log_softmax, %c0 : tensor<?xf64>
    %empty = tensor.empty(%n) : tensor<?xf64>
    %result = linalg.generic {indexing_maps = [#row, #row, #row], iterator_types = ["parallel"]}
        ins(%gradient, %log_softmax : tensor<?xf64>, tensor<?xf64>) outs(%empty : tensor<?xf64>) {
    ^bb0(%gradient_i: f64, %log_softmax_i: f64, %out: f64):
      %exponential = math.exp %log_softmax_i : f64
      %product = arith.mulf %exponential, %sum : f64
      %difference = arith.subf %gradient_i, %product : f64
      linalg.yield %difference : f64
    } -> tensor<?xf64>
    xfuse.yield %result : tensor<?xf64>
  }
}
