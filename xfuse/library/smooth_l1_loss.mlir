// smooth_l1_loss(prediction, target, beta) = the mean of d^2 / (2 beta) if |d| < beta, else |d| - beta / 2
//
// (n),(n),()->(), of operands of any rank; d = prediction - target. Girshick, "Fast R-CNN", arXiv:1504.08083.
//
// @smooth_l1_loss               textbook; beta may be a scalar of the program
// @smooth_l1_loss_torch         PyTorch (`F.smooth_l1_loss`): d^2 by fpowi, the comparison at f64; half_beta = beta / 2
//                               and wide_beta, which is beta at f64
// @smooth_l1_loss_accumulating  textbook, at no narrower a type than f32
#row = affine_map<(n) -> (n)>
#cell = affine_map<(n) -> ()>

xfuse.library @smooth_l1_loss {
  xfuse.recipe @smooth_l1_loss(
      %prediction: tensor<?xf64> {xfuse.flatten}, %target: tensor<?xf64> {xfuse.flatten}, %beta: f64
  ) -> f64 attributes {element_types = [f16, bf16, f32, f64]} {
    %c0 = arith.constant 0 : index
    %n = tensor.dim %prediction, %c0 : tensor<?xf64>
    %empty = tensor.empty(%n) : tensor<?xf64>
    %magnitude = linalg.generic {indexing_maps = [#row, #row, #row], iterator_types = ["parallel"]}
        ins(%prediction, %target : tensor<?xf64>, tensor<?xf64>) outs(%empty : tensor<?xf64>) {
    ^bb0(%prediction_i: f64, %target_i: f64, %out: f64):
      %difference = arith.subf %prediction_i, %target_i : f64
      %magnitude_1 = math.absf %difference : f64
      linalg.yield %magnitude_1 : f64
    } -> tensor<?xf64>
    %half = arith.constant 0.5 : f64
    %zero = arith.constant 0.0 : f64
    %start = tensor.splat %zero : tensor<f64>
    %sum_cell = linalg.generic {indexing_maps = [#row, #cell], iterator_types = ["reduction"]}
        ins(%magnitude : tensor<?xf64>) outs(%start : tensor<f64>) {
    ^bb0(%magnitude_i: f64, %partial: f64):
      %test = arith.cmpf olt, %magnitude_i, %beta : f64
      %product = arith.mulf %magnitude_i, %magnitude_i : f64
      %product_1 = arith.mulf %half, %product : f64
      %quotient = arith.divf %product_1, %beta : f64
      %product_2 = arith.mulf %half, %beta : f64
      %difference = arith.subf %magnitude_i, %product_2 : f64
      %chosen = arith.select %test, %quotient, %difference : f64
      %sum = arith.addf %partial, %chosen : f64
      linalg.yield %sum : f64
    } -> tensor<f64>
    %sum = tensor.extract %sum_cell[] : tensor<f64>
    %count_integer = arith.index_cast %n : index to i64
    %count = arith.sitofp %count_integer : i64 to f64
    %result = arith.divf %sum, %count : f64
    xfuse.yield %result : f64
  }

  xfuse.recipe @smooth_l1_loss_torch(
      %prediction: tensor<?xf32> {xfuse.flatten}, %target: tensor<?xf32> {xfuse.flatten}, %beta: f32 {xfuse.scalar},
      %half_beta: f32 {xfuse.scalar}, %wide_beta: f64 {xfuse.scalar}
  ) -> f32 attributes {element_types = [f16, bf16, f32]} {
    %zero = arith.constant 0.0 : f32
    %half = arith.constant 0.5 : f32
    %exponent = arith.constant 2 : i64
    %start = tensor.splat %zero : tensor<f32>
    %sum_cell = linalg.generic {indexing_maps = [#row, #row, #cell], iterator_types = ["reduction"]}
        ins(%prediction, %target : tensor<?xf32>, tensor<?xf32>) outs(%start : tensor<f32>) {
    ^bb0(%prediction_i: f32, %target_i: f32, %partial: f32):
      %difference = arith.subf %prediction_i, %target_i : f32
      %magnitude = math.absf %difference : f32
      %power = math.fpowi %magnitude, %exponent : f32, i64
      %product = arith.mulf %half, %power : f32
      %quotient = arith.divf %product, %beta : f32
      %difference_1 = arith.subf %magnitude, %half_beta : f32
      %wide = arith.extf %magnitude : f32 to f64
      %test = arith.cmpf olt, %wide, %wide_beta : f64
      %chosen = arith.select %test, %quotient, %difference_1 : f32
      %sum = arith.addf %partial, %chosen : f32
      linalg.yield %sum : f32
    } -> tensor<f32>
    %sum = tensor.extract %sum_cell[] : tensor<f32>
    %c0 = arith.constant 0 : index
    %n = tensor.dim %prediction, %c0 : tensor<?xf32>
    %count_integer = arith.index_cast %n : index to i64
    %count = arith.sitofp %count_integer : i64 to f32
    %result = arith.divf %sum, %count : f32
    xfuse.yield %result : f32
  }

  xfuse.recipe @smooth_l1_loss_accumulating(
      %prediction: tensor<?xf64> {xfuse.flatten, xfuse.accumulator = f32},
      %target: tensor<?xf64> {xfuse.flatten, xfuse.accumulator = f32}, %beta: f64 {xfuse.accumulator = f32}
  ) -> f64 attributes {element_types = [f16, bf16, f32, f64]} {
    %c0 = arith.constant 0 : index
    %n = tensor.dim %prediction, %c0 : tensor<?xf64>
    %empty = tensor.empty(%n) : tensor<?xf64>
    %magnitude = linalg.generic {indexing_maps = [#row, #row, #row], iterator_types = ["parallel"]}
        ins(%prediction, %target : tensor<?xf64>, tensor<?xf64>) outs(%empty : tensor<?xf64>) {
    ^bb0(%prediction_i: f64, %target_i: f64, %out: f64):
      %difference = arith.subf %prediction_i, %target_i : f64
      %magnitude_1 = math.absf %difference : f64
      linalg.yield %magnitude_1 : f64
    } -> tensor<?xf64>
    %half = arith.constant 0.5 : f64
    %zero = arith.constant 0.0 : f64
    %start = tensor.splat %zero : tensor<f64>
    %sum_cell = linalg.generic {indexing_maps = [#row, #cell], iterator_types = ["reduction"]}
        ins(%magnitude : tensor<?xf64>) outs(%start : tensor<f64>) {
    ^bb0(%magnitude_i: f64, %partial: f64):
      %test = arith.cmpf olt, %magnitude_i, %beta : f64
      %product = arith.mulf %magnitude_i, %magnitude_i : f64
      %product_1 = arith.mulf %half, %product : f64
      %quotient = arith.divf %product_1, %beta : f64
      %product_2 = arith.mulf %half, %beta : f64
      %difference = arith.subf %magnitude_i, %product_2 : f64
      %chosen = arith.select %test, %quotient, %difference : f64
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
