// kl_loss(log_prediction, log_target) = sum(p (log p - log q)) over all elements, of p = exp(log_target)
//
// (n),(n)->(), of operands of any rank.
//
// @kl_loss               JAX, the sum over all elements
// @kl_loss_mean          PyTorch (`F.kl_div(..., log_target=True, reduction="mean")`): divided by the number of
//                        elements
// @kl_loss_batchmean     PyTorch (`F.kl_div(..., reduction="batchmean")`), of log q and p: sum(p log p - p log q)
//                        divided by the number of rows, (n,m),(n,m)->()
// @kl_loss_accumulating  textbook, at no narrower a type than f32
#row = affine_map<(n) -> (n)>
#cell = affine_map<(n) -> ()>
#matrix = affine_map<(m, n) -> (m, n)>
#whole = affine_map<(m, n) -> ()>

xfuse.library @kl_loss {
  xfuse.recipe @kl_loss(
      %log_prediction: tensor<?xf64> {xfuse.flatten}, %log_target: tensor<?xf64> {xfuse.flatten}
  ) -> f64 attributes {element_types = [f16, bf16, f32, f64]} {
    %zero = arith.constant 0.0 : f64
    %start = tensor.splat %zero : tensor<f64>
    %sum_cell = linalg.generic {indexing_maps = [#row, #row, #cell], iterator_types = ["reduction"]}
        ins(%log_target, %log_prediction : tensor<?xf64>, tensor<?xf64>) outs(%start : tensor<f64>) {
    ^bb0(%log_target_i: f64, %log_prediction_i: f64, %partial: f64):
      %exponential = math.exp %log_target_i : f64
      %difference = arith.subf %log_target_i, %log_prediction_i : f64
      %product = arith.mulf %exponential, %difference : f64
      %sum = arith.addf %partial, %product : f64
      linalg.yield %sum : f64
    } -> tensor<f64>
    %sum = tensor.extract %sum_cell[] : tensor<f64>
    xfuse.yield %sum : f64
  }

  xfuse.recipe @kl_loss_mean(
      %log_prediction: tensor<?xf64> {xfuse.flatten}, %log_target: tensor<?xf64> {xfuse.flatten}
  ) -> f64 attributes {element_types = [f16, bf16, f32, f64]} {
    %zero = arith.constant 0.0 : f64
    %start = tensor.splat %zero : tensor<f64>
    %sum_cell = linalg.generic {indexing_maps = [#row, #row, #cell], iterator_types = ["reduction"]}
        ins(%log_target, %log_prediction : tensor<?xf64>, tensor<?xf64>) outs(%start : tensor<f64>) {
    ^bb0(%log_target_i: f64, %log_prediction_i: f64, %partial: f64):
      %exponential = math.exp %log_target_i : f64
      %difference = arith.subf %log_target_i, %log_prediction_i : f64
      %product = arith.mulf %exponential, %difference : f64
      %sum = arith.addf %partial, %product : f64
      linalg.yield %sum : f64
    } -> tensor<f64>
    %sum = tensor.extract %sum_cell[] : tensor<f64>
    %c0 = arith.constant 0 : index
    %n = tensor.dim %log_prediction, %c0 : tensor<?xf64>
    %count_integer = arith.index_cast %n : index to i64
    %count = arith.sitofp %count_integer : i64 to f64
    %result = arith.divf %sum, %count : f64
    xfuse.yield %result : f64
  }

  xfuse.recipe @kl_loss_batchmean(
      %log_prediction: tensor<?x?xf64>, %target: tensor<?x?xf64>
  ) -> f64 attributes {element_types = [f16, bf16, f32, f64]} {
    %nan = arith.constant 0x7FF8000000000000 : f64
    %zero = arith.constant 0.0 : f64
    %c0 = arith.constant 0 : index
    %m = tensor.dim %log_prediction, %c0 : tensor<?x?xf64>
    %c1 = arith.constant 1 : index
    %n = tensor.dim %log_prediction, %c1 : tensor<?x?xf64>
    %empty = tensor.empty(%m, %n) : tensor<?x?xf64>
    %entropy = linalg.generic {indexing_maps = [#matrix, #matrix], iterator_types = ["parallel", "parallel"]}
        ins(%target : tensor<?x?xf64>) outs(%empty : tensor<?x?xf64>) {
    ^bb0(%target_ij: f64, %out: f64):
      %test = arith.cmpf une, %target_ij, %target_ij : f64
      %test_1 = arith.cmpf oeq, %target_ij, %zero : f64
      %logarithm = math.log %target_ij : f64
      %product = arith.mulf %target_ij, %logarithm : f64
      %chosen = arith.select %test_1, %zero, %product : f64
      %chosen_1 = arith.select %test, %nan, %chosen : f64
      linalg.yield %chosen_1 : f64
    } -> tensor<?x?xf64>
    %start = tensor.splat %zero : tensor<f64>
    %sum_cell = linalg.generic {indexing_maps = [#matrix, #matrix, #matrix, #whole],
        iterator_types = ["reduction", "reduction"]}
        ins(%entropy, %target, %log_prediction : tensor<?x?xf64>, tensor<?x?xf64>, tensor<?x?xf64>)
        outs(%start : tensor<f64>) {
    ^bb0(%entropy_ij: f64, %target_ij: f64, %log_prediction_ij: f64, %partial: f64):
      %product = arith.mulf %target_ij, %log_prediction_ij : f64
      %difference = arith.subf %entropy_ij, %product : f64
      %sum = arith.addf %partial, %difference : f64
      linalg.yield %sum : f64
    } -> tensor<f64>
    %sum = tensor.extract %sum_cell[] : tensor<f64>
    %count_integer = arith.index_cast %m : index to i64
    %count = arith.sitofp %count_integer : i64 to f64
    %result = arith.divf %sum, %count : f64
    xfuse.yield %result : f64
  }

  xfuse.recipe @kl_loss_accumulating(
      %log_prediction: tensor<?xf64> {xfuse.flatten, xfuse.accumulator = f32},
      %log_target: tensor<?xf64> {xfuse.flatten, xfuse.accumulator = f32}
  ) -> f64 attributes {element_types = [f16, bf16, f32, f64]} {
    %zero = arith.constant 0.0 : f64
    %start = tensor.splat %zero : tensor<f64>
    %sum_cell = linalg.generic {indexing_maps = [#row, #row, #cell], iterator_types = ["reduction"]}
        ins(%log_target, %log_prediction : tensor<?xf64>, tensor<?xf64>) outs(%start : tensor<f64>) {
    ^bb0(%log_target_i: f64, %log_prediction_i: f64, %partial: f64):
      %exponential = math.exp %log_target_i : f64
      %difference = arith.subf %log_target_i, %log_prediction_i : f64
      %product = arith.mulf %exponential, %difference : f64
      %sum = arith.addf %partial, %product : f64
      linalg.yield %sum : f64
    } -> tensor<f64>
    %sum = tensor.extract %sum_cell[] : tensor<f64>
    xfuse.yield %sum : f64
  }
}
