// mse_loss(prediction, target) = the mean of (prediction - target)^2 over all elements
//
// (n),(n)->(), of operands of any rank.
//
// @mse_loss               textbook, JAX and PyTorch
// @mse_loss_sum           the sum
// @mse_loss_half          JAX (`optax.l2_loss(...).mean()`): the mean of halves, half (d d)
// @mse_loss_accumulating  textbook, at no narrower a type than f32
#row = affine_map<(n) -> (n)>
#cell = affine_map<(n) -> ()>

xfuse.library @mse_loss {
  xfuse.recipe @mse_loss(
      %prediction: tensor<?xf64> {xfuse.flatten}, %target: tensor<?xf64> {xfuse.flatten}
  ) -> f64 attributes {element_types = [f16, bf16, f32, f64]} {
    %c0 = arith.constant 0 : index
    %n = tensor.dim %prediction, %c0 : tensor<?xf64>
    %empty = tensor.empty(%n) : tensor<?xf64>
    %difference = linalg.generic {indexing_maps = [#row, #row, #row], iterator_types = ["parallel"]}
        ins(%prediction, %target : tensor<?xf64>, tensor<?xf64>) outs(%empty : tensor<?xf64>) {
    ^bb0(%prediction_i: f64, %target_i: f64, %out: f64):
      %difference_1 = arith.subf %prediction_i, %target_i : f64
      linalg.yield %difference_1 : f64
    } -> tensor<?xf64>
    %zero = arith.constant 0.0 : f64
    %start = tensor.splat %zero : tensor<f64>
    %sum_cell = linalg.generic {indexing_maps = [#row, #cell], iterator_types = ["reduction"]}
        ins(%difference : tensor<?xf64>) outs(%start : tensor<f64>) {
    ^bb0(%difference_i: f64, %partial: f64):
      %product = arith.mulf %difference_i, %difference_i : f64
      %sum = arith.addf %partial, %product : f64
      linalg.yield %sum : f64
    } -> tensor<f64>
    %sum = tensor.extract %sum_cell[] : tensor<f64>
    %count_integer = arith.index_cast %n : index to i64
    %count = arith.sitofp %count_integer : i64 to f64
    %result = arith.divf %sum, %count : f64
    xfuse.yield %result : f64
  }

  xfuse.recipe @mse_loss_sum(
      %prediction: tensor<?xf64> {xfuse.flatten}, %target: tensor<?xf64> {xfuse.flatten}
  ) -> f64 attributes {element_types = [f16, bf16, f32, f64]} {
    %c0 = arith.constant 0 : index
    %n = tensor.dim %prediction, %c0 : tensor<?xf64>
    %empty = tensor.empty(%n) : tensor<?xf64>
    %difference = linalg.generic {indexing_maps = [#row, #row, #row], iterator_types = ["parallel"]}
        ins(%prediction, %target : tensor<?xf64>, tensor<?xf64>) outs(%empty : tensor<?xf64>) {
    ^bb0(%prediction_i: f64, %target_i: f64, %out: f64):
      %difference_1 = arith.subf %prediction_i, %target_i : f64
      linalg.yield %difference_1 : f64
    } -> tensor<?xf64>
    %zero = arith.constant 0.0 : f64
    %start = tensor.splat %zero : tensor<f64>
    %sum_cell = linalg.generic {indexing_maps = [#row, #cell], iterator_types = ["reduction"]}
        ins(%difference : tensor<?xf64>) outs(%start : tensor<f64>) {
    ^bb0(%difference_i: f64, %partial: f64):
      %product = arith.mulf %difference_i, %difference_i : f64
      %sum = arith.addf %partial, %product : f64
      linalg.yield %sum : f64
    } -> tensor<f64>
    %sum = tensor.extract %sum_cell[] : tensor<f64>
    xfuse.yield %sum : f64
  }

  xfuse.recipe @mse_loss_half(
      %prediction: tensor<?xf64> {xfuse.flatten}, %target: tensor<?xf64> {xfuse.flatten}
  ) -> f64 attributes {element_types = [f16, bf16, f32, f64]} {
    %c0 = arith.constant 0 : index
    %n = tensor.dim %prediction, %c0 : tensor<?xf64>
    %empty = tensor.empty(%n) : tensor<?xf64>
    %difference = linalg.generic {indexing_maps = [#row, #row, #row], iterator_types = ["parallel"]}
        ins(%prediction, %target : tensor<?xf64>, tensor<?xf64>) outs(%empty : tensor<?xf64>) {
    ^bb0(%prediction_i: f64, %target_i: f64, %out: f64):
      %difference_1 = arith.subf %prediction_i, %target_i : f64
      linalg.yield %difference_1 : f64
    } -> tensor<?xf64>
    %half = arith.constant 0.5 : f64
    %zero = arith.constant 0.0 : f64
    %start = tensor.splat %zero : tensor<f64>
    %sum_cell = linalg.generic {indexing_maps = [#row, #cell], iterator_types = ["reduction"]}
        ins(%difference : tensor<?xf64>) outs(%start : tensor<f64>) {
    ^bb0(%difference_i: f64, %partial: f64):
      %product = arith.mulf %difference_i, %difference_i : f64
      %product_1 = arith.mulf %half, %product : f64
      %sum = arith.addf %partial, %product_1 : f64
      linalg.yield %sum : f64
    } -> tensor<f64>
    %sum = tensor.extract %sum_cell[] : tensor<f64>
    %count_integer = arith.index_cast %n : index to i64
    %count = arith.sitofp %count_integer : i64 to f64
    %result = arith.divf %sum, %count : f64
    xfuse.yield %result : f64
  }

  xfuse.recipe @mse_loss_accumulating(
      %prediction: tensor<?xf64> {xfuse.flatten, xfuse.accumulator = f32},
      %target: tensor<?xf64> {xfuse.flatten, xfuse.accumulator = f32}
  ) -> f64 attributes {element_types = [f16, bf16, f32, f64]} {
    %c0 = arith.constant 0 : index
    %n = tensor.dim %prediction, %c0 : tensor<?xf64>
    %empty = tensor.empty(%n) : tensor<?xf64>
    %difference = linalg.generic {indexing_maps = [#row, #row, #row], iterator_types = ["parallel"]}
        ins(%prediction, %target : tensor<?xf64>, tensor<?xf64>) outs(%empty : tensor<?xf64>) {
    ^bb0(%prediction_i: f64, %target_i: f64, %out: f64):
      %difference_1 = arith.subf %prediction_i, %target_i : f64
      linalg.yield %difference_1 : f64
    } -> tensor<?xf64>
    %zero = arith.constant 0.0 : f64
    %start = tensor.splat %zero : tensor<f64>
    %sum_cell = linalg.generic {indexing_maps = [#row, #cell], iterator_types = ["reduction"]}
        ins(%difference : tensor<?xf64>) outs(%start : tensor<f64>) {
    ^bb0(%difference_i: f64, %partial: f64):
      %product = arith.mulf %difference_i, %difference_i : f64
      %sum = arith.addf %partial, %product : f64
      linalg.yield %sum : f64
    } -> tensor<f64>
    %sum = tensor.extract %sum_cell[] : tensor<f64>
    %count_integer = arith.index_cast %n : index to i64
    %count = arith.sitofp %count_integer : i64 to f64
    %result = arith.divf %sum, %count : f64
    xfuse.yield %result : f64
  }
}
