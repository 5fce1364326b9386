// huber_loss(prediction, target, delta) = the mean of d^2 / 2 if |d| <= delta, else delta (|d| - delta / 2)
//
// (n),(n),()->(), of operands of any rank; d = prediction - target. Huber, "Robust estimation of a location parameter",
// Annals of Mathematical Statistics 35 (1964).
//
// @huber_loss               textbook; delta may be a scalar of the program, so it is no scalar slot
// @huber_loss_sum           the sum
// @huber_loss_jax           JAX, where a constant delta has made delta / 2 another constant: half_delta = delta / 2
// @huber_loss_one           JAX with delta = 1
// @huber_loss_optax         JAX (`optax.huber_loss(...).mean()`): q^2 / 2 + delta (|d| - q), of q = min(|d|, delta)
// @huber_loss_optax_one     the same with delta = 1
// @huber_loss_accumulating  textbook, at no narrower a type than f32
#row = affine_map<(n) -> (n)>
#cell = affine_map<(n) -> ()>

xfuse.library @huber_loss {
  xfuse.recipe @huber_loss(
      %prediction: tensor<?xf64> {xfuse.flatten}, %target: tensor<?xf64> {xfuse.flatten}, %delta: f64
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
    %magnitude = linalg.generic {indexing_maps = [#row, #row], iterator_types = ["parallel"]}
        ins(%difference : tensor<?xf64>) outs(%empty : tensor<?xf64>) {
    ^bb0(%difference_i: f64, %out: f64):
      %magnitude_1 = math.absf %difference_i : f64
      linalg.yield %magnitude_1 : f64
    } -> tensor<?xf64>
    %half = arith.constant 0.5 : f64
    %zero = arith.constant 0.0 : f64
    %start = tensor.splat %zero : tensor<f64>
    %sum_cell = linalg.generic {indexing_maps = [#row, #row, #cell], iterator_types = ["reduction"]}
        ins(%magnitude, %difference : tensor<?xf64>, tensor<?xf64>) outs(%start : tensor<f64>) {
    ^bb0(%magnitude_i: f64, %difference_i: f64, %partial: f64):
      %test = arith.cmpf ole, %magnitude_i, %delta : f64
      %product = arith.mulf %difference_i, %difference_i : f64
      %product_1 = arith.mulf %half, %product : f64
      %product_2 = arith.mulf %half, %delta : f64
      %difference_1 = arith.subf %magnitude_i, %product_2 : f64
      %product_3 = arith.mulf %delta, %difference_1 : f64
      %chosen = arith.select %test, %product_1, %product_3 : f64
      %sum = arith.addf %partial, %chosen : f64
      linalg.yield %sum : f64
    } -> tensor<f64>
    %sum = tensor.extract %sum_cell[] : tensor<f64>
    %count_integer = arith.index_cast %n : index to i64
    %count = arith.sitofp %count_integer : i64 to f64
    %result = arith.divf %sum, %count : f64
    xfuse.yield %result : f64
  }

  xfuse.recipe @huber_loss_sum(
      %prediction: tensor<?xf64> {xfuse.flatten}, %target: tensor<?xf64> {xfuse.flatten}, %delta: f64
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
    %magnitude = linalg.generic {indexing_maps = [#row, #row], iterator_types = ["parallel"]}
        ins(%difference : tensor<?xf64>) outs(%empty : tensor<?xf64>) {
    ^bb0(%difference_i: f64, %out: f64):
      %magnitude_1 = math.absf %difference_i : f64
      linalg.yield %magnitude_1 : f64
    } -> tensor<?xf64>
    %half = arith.constant 0.5 : f64
    %zero = arith.constant 0.0 : f64
    %start = tensor.splat %zero : tensor<f64>
    %sum_cell = linalg.generic {indexing_maps = [#row, #row, #cell], iterator_types = ["reduction"]}
        ins(%magnitude, %difference : tensor<?xf64>, tensor<?xf64>) outs(%start : tensor<f64>) {
    ^bb0(%magnitude_i: f64, %difference_i: f64, %partial: f64):
      %test = arith.cmpf ole, %magnitude_i, %delta : f64
      %product = arith.mulf %difference_i, %difference_i : f64
      %product_1 = arith.mulf %half, %product : f64
      %product_2 = arith.mulf %half, %delta : f64
      %difference_1 = arith.subf %magnitude_i, %product_2 : f64
      %product_3 = arith.mulf %delta, %difference_1 : f64
      %chosen = arith.select %test, %product_1, %product_3 : f64
      %sum = arith.addf %partial, %chosen : f64
      linalg.yield %sum : f64
    } -> tensor<f64>
    %sum = tensor.extract %sum_cell[] : tensor<f64>
    xfuse.yield %sum : f64
  }

  xfuse.recipe @huber_loss_jax(
      %prediction: tensor<?xf64> {xfuse.flatten}, %target: tensor<?xf64> {xfuse.flatten}, %delta: f64 {xfuse.scalar},
      %half_delta: f64 {xfuse.scalar}
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
    %magnitude = linalg.generic {indexing_maps = [#row, #row], iterator_types = ["parallel"]}
        ins(%difference : tensor<?xf64>) outs(%empty : tensor<?xf64>) {
    ^bb0(%difference_i: f64, %out: f64):
      %magnitude_1 = math.absf %difference_i : f64
      linalg.yield %magnitude_1 : f64
    } -> tensor<?xf64>
    %half = arith.constant 0.5 : f64
    %zero = arith.constant 0.0 : f64
    %start = tensor.splat %zero : tensor<f64>
    %sum_cell = linalg.generic {indexing_maps = [#row, #row, #cell], iterator_types = ["reduction"]}
        ins(%magnitude, %difference : tensor<?xf64>, tensor<?xf64>) outs(%start : tensor<f64>) {
    ^bb0(%magnitude_i: f64, %difference_i: f64, %partial: f64):
      %test = arith.cmpf ole, %magnitude_i, %delta : f64
      %product = arith.mulf %difference_i, %difference_i : f64
      %product_1 = arith.mulf %half, %product : f64
      %difference_1 = arith.subf %magnitude_i, %half_delta : f64
      %product_2 = arith.mulf %delta, %difference_1 : f64
      %chosen = arith.select %test, %product_1, %product_2 : f64
      %sum = arith.addf %partial, %chosen : f64
      linalg.yield %sum : f64
    } -> tensor<f64>
    %sum = tensor.extract %sum_cell[] : tensor<f64>
    %count_integer = arith.index_cast %n : index to i64
    %count = arith.sitofp %count_integer : i64 to f64
    %result = arith.divf %sum, %count : f64
    xfuse.yield %result : f64
  }

  xfuse.recipe @huber_loss_one(
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
    %magnitude = linalg.generic {indexing_maps = [#row, #row], iterator_types = ["parallel"]}
        ins(%difference : tensor<?xf64>) outs(%empty : tensor<?xf64>) {
    ^bb0(%difference_i: f64, %out: f64):
      %magnitude_1 = math.absf %difference_i : f64
      linalg.yield %magnitude_1 : f64
    } -> tensor<?xf64>
    %one = arith.constant 1.0 : f64
    %half = arith.constant 0.5 : f64
    %zero = arith.constant 0.0 : f64
    %start = tensor.splat %zero : tensor<f64>
    %sum_cell = linalg.generic {indexing_maps = [#row, #row, #cell], iterator_types = ["reduction"]}
        ins(%magnitude, %difference : tensor<?xf64>, tensor<?xf64>) outs(%start : tensor<f64>) {
    ^bb0(%magnitude_i: f64, %difference_i: f64, %partial: f64):
      %test = arith.cmpf ole, %magnitude_i, %one : f64
      %product = arith.mulf %difference_i, %difference_i : f64
      %product_1 = arith.mulf %half, %product : f64
      %difference_1 = arith.subf %magnitude_i, %half : f64
      %chosen = arith.select %test, %product_1, %difference_1 : f64
      %sum = arith.addf %partial, %chosen : f64
      linalg.yield %sum : f64
    } -> tensor<f64>
    %sum = tensor.extract %sum_cell[] : tensor<f64>
    %count_integer = arith.index_cast %n : index to i64
    %count = arith.sitofp %count_integer : i64 to f64
    %result = arith.divf %sum, %count : f64
    xfuse.yield %result : f64
  }

  xfuse.recipe @huber_loss_optax(
      %prediction: tensor<?xf64> {xfuse.flatten}, %target: tensor<?xf64> {xfuse.flatten}, %delta: f64 {xfuse.scalar}
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
    %magnitude = linalg.generic {indexing_maps = [#row, #row], iterator_types = ["parallel"]}
        ins(%difference : tensor<?xf64>) outs(%empty : tensor<?xf64>) {
    ^bb0(%difference_i: f64, %out: f64):
      %magnitude_1 = math.absf %difference_i : f64
      linalg.yield %magnitude_1 : f64
    } -> tensor<?xf64>
    %inner = linalg.generic {indexing_maps = [#row, #row], iterator_types = ["parallel"]}
        ins(%magnitude : tensor<?xf64>) outs(%empty : tensor<?xf64>) {
    ^bb0(%magnitude_i: f64, %out: f64):
      %lesser = arith.minimumf %magnitude_i, %delta : f64
      linalg.yield %lesser : f64
    } -> tensor<?xf64>
    %half = arith.constant 0.5 : f64
    %zero = arith.constant 0.0 : f64
    %start = tensor.splat %zero : tensor<f64>
    %sum_cell = linalg.generic {indexing_maps = [#row, #row, #cell], iterator_types = ["reduction"]}
        ins(%inner, %magnitude : tensor<?xf64>, tensor<?xf64>) outs(%start : tensor<f64>) {
    ^bb0(%inner_i: f64, %magnitude_i: f64, %partial: f64):
      %product = arith.mulf %inner_i, %inner_i : f64
      %product_1 = arith.mulf %half, %product : f64
      %difference_1 = arith.subf %magnitude_i, %inner_i : f64
      %product_2 = arith.mulf %delta, %difference_1 : f64
      %sum = arith.addf %product_1, %product_2 : f64
      %sum_1 = arith.addf %partial, %sum : f64
      linalg.yield %sum_1 : f64
    } -> tensor<f64>
    %sum = tensor.extract %sum_cell[] : tensor<f64>
    %count_integer = arith.index_cast %n : index to i64
    %count = arith.sitofp %count_integer : i64 to f64
    %result = arith.divf %sum, %count : f64
    xfuse.yield %result : f64
  }

  xfuse.recipe @huber_loss_optax_one(
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
    %magnitude = linalg.generic {indexing_maps = [#row, #row], iterator_types = ["parallel"]}
        ins(%difference : tensor<?xf64>) outs(%empty : tensor<?xf64>) {
    ^bb0(%difference_i: f64, %out: f64):
      %magnitude_1 = math.absf %difference_i : f64
      linalg.yield %magnitude_1 : f64
    } -> tensor<?xf64>
    %one = arith.constant 1.0 : f64
    %inner = linalg.generic {indexing_maps = [#row, #row], iterator_types = ["parallel"]}
        ins(%magnitude : tensor<?xf64>) outs(%empty : tensor<?xf64>) {
    ^bb0(%magnitude_i: f64, %out: f64):
      %lesser = arith.minimumf %magnitude_i, %one : f64
      linalg.yield %lesser : f64
    } -> tensor<?xf64>
    %half = arith.constant 0.5 : f64
    %zero = arith.constant 0.0 : f64
    %start = tensor.splat %zero : tensor<f64>
    %sum_cell = linalg.generic {indexing_maps = [#row, #row, #cell], iterator_types = ["reduction"]}
        ins(%inner, %magnitude : tensor<?xf64>, tensor<?xf64>) outs(%start : tensor<f64>) {
    ^bb0(%inner_i: f64, %magnitude_i: f64, %partial: f64):
      %product = arith.mulf %inner_i, %inner_i : f64
      %product_1 = arith.mulf %half, %product : f64
      %difference_1 = arith.subf %magnitude_i, %inner_i : f64
      %sum = arith.addf %product_1, %difference_1 : f64
      %sum_1 = arith.addf %partial, %sum : f64
      linalg.yield %sum_1 : f64
    } -> tensor<f64>
    %sum = tensor.extract %sum_cell[] : tensor<f64>
    %count_integer = arith.index_cast %n : index to i64
    %count = arith.sitofp %count_integer : i64 to f64
    %result = arith.divf %sum, %count : f64
    xfuse.yield %result : f64
  }

  xfuse.recipe @huber_loss_accumulating(
      %prediction: tensor<?xf64> {xfuse.flatten, xfuse.accumulator = f32},
      %target: tensor<?xf64> {xfuse.flatten, xfuse.accumulator = f32}, %delta: f64 {xfuse.accumulator = f32}
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
    %magnitude = linalg.generic {indexing_maps = [#row, #row], iterator_types = ["parallel"]}
        ins(%difference : tensor<?xf64>) outs(%empty : tensor<?xf64>) {
    ^bb0(%difference_i: f64, %out: f64):
      %magnitude_1 = math.absf %difference_i : f64
      linalg.yield %magnitude_1 : f64
    } -> tensor<?xf64>
    %half = arith.constant 0.5 : f64
    %zero = arith.constant 0.0 : f64
    %start = tensor.splat %zero : tensor<f64>
    %sum_cell = linalg.generic {indexing_maps = [#row, #row, #cell], iterator_types = ["reduction"]}
        ins(%magnitude, %difference : tensor<?xf64>, tensor<?xf64>) outs(%start : tensor<f64>) {
    ^bb0(%magnitude_i: f64, %difference_i: f64, %partial: f64):
      %test = arith.cmpf ole, %magnitude_i, %delta : f64
      %product = arith.mulf %difference_i, %difference_i : f64
      %product_1 = arith.mulf %half, %product : f64
      %product_2 = arith.mulf %half, %delta : f64
      %difference_1 = arith.subf %magnitude_i, %product_2 : f64
      %product_3 = arith.mulf %delta, %difference_1 : f64
      %chosen = arith.select %test, %product_1, %product_3 : f64
      %sum = arith.addf %partial, %chosen : f64
      linalg.yield %sum : f64
    } -> tensor<f64>
    %sum = tensor.extract %sum_cell[] : tensor<f64>
    %count_integer = arith.index_cast %n : index to i64
    %count = arith.sitofp %count_integer : i64 to f64
    %result = arith.divf %sum, %count : f64
    xfuse.yield %result : f64
  }
}
