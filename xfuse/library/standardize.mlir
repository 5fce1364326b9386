// standardize(x, epsilon) = (x - mean(x)) / (sqrt(variance(x)) + epsilon): epsilon outside the root
//
// (n),()->(n): advantages in reinforcement learning, z-scores.
//
// @standardize        textbook and JAX (`(x - x.mean()) / (x.std() + epsilon)`)
// @standardize_share  with products by 1/n for the divisions by n
#row = affine_map<(n) -> (n)>
#cell = affine_map<(n) -> ()>

xfuse.library @standardize {
  xfuse.recipe @standardize(
      %x: tensor<?xf64>, %epsilon: f64 {xfuse.scalar}
  ) -> tensor<?xf64> attributes {element_types = [f16, bf16, f32, f64]} {
    %first = arith.constant 0 : index
    %n = tensor.dim %x, %first : tensor<?xf64>
    %integer = arith.index_cast %n : index to i64
    %count = arith.sitofp %integer : i64 to f64
    %zero = arith.constant 0.0 : f64
    %empty_sum = tensor.splat %zero : tensor<f64>
    %total_cell = linalg.generic {indexing_maps = [#row, #cell], iterator_types = ["reduction"]}
        ins(%x : tensor<?xf64>) outs(%empty_sum : tensor<f64>) {
    ^bb0(%x_i: f64, %partial: f64):
      %sum = arith.addf %partial, %x_i : f64
      linalg.yield %sum : f64
    } -> tensor<f64>
    %total = tensor.extract %total_cell[] : tensor<f64>
    %mean = arith.divf %total, %count : f64
    %row = tensor.empty(%n) : tensor<?xf64>
    %centred = linalg.generic {indexing_maps = [#row, #row], iterator_types = ["parallel"]}
        ins(%x : tensor<?xf64>) outs(%row : tensor<?xf64>) {
    ^bb0(%x_i: f64, %out: f64):
      %difference = arith.subf %x_i, %mean : f64
      linalg.yield %difference : f64
    } -> tensor<?xf64>
    %squares_cell = linalg.generic {indexing_maps = [#row, #cell], iterator_types = ["reduction"]}
        ins(%centred : tensor<?xf64>) outs(%empty_sum : tensor<f64>) {
    ^bb0(%centred_i: f64, %partial: f64):
      %square = arith.mulf %centred_i, %centred_i : f64
      %sum = arith.addf %partial, %square : f64
      linalg.yield %sum : f64
    } -> tensor<f64>
    %squares = tensor.extract %squares_cell[] : tensor<f64>
    %variance = arith.divf %squares, %count : f64
    %deviation = math.sqrt %variance : f64
    %shifted = arith.addf %deviation, %epsilon : f64
    %y = linalg.generic {indexing_maps = [#row, #row], iterator_types = ["parallel"]}
        ins(%centred : tensor<?xf64>) outs(%row : tensor<?xf64>) {
    ^bb0(%centred_i: f64, %out: f64):
      %normalised = arith.divf %centred_i, %shifted : f64
      linalg.yield %normalised : f64
    } -> tensor<?xf64>
    xfuse.yield %y : tensor<?xf64>
  }

  xfuse.recipe @standardize_share(
      %x: tensor<?xf64>, %epsilon: f64 {xfuse.scalar}
  ) -> tensor<?xf64> attributes {element_types = [f16, bf16, f32, f64]} {
    %first = arith.constant 0 : index
    %n = tensor.dim %x, %first : tensor<?xf64>
    %integer = arith.index_cast %n : index to i64
    %count = arith.sitofp %integer : i64 to f64
    %one = arith.constant 1.0 : f64
    %share = arith.divf %one, %count : f64
    %zero = arith.constant 0.0 : f64
    %empty_sum = tensor.splat %zero : tensor<f64>
    %total_cell = linalg.generic {indexing_maps = [#row, #cell], iterator_types = ["reduction"]}
        ins(%x : tensor<?xf64>) outs(%empty_sum : tensor<f64>) {
    ^bb0(%x_i: f64, %partial: f64):
      %sum = arith.addf %partial, %x_i : f64
      linalg.yield %sum : f64
    } -> tensor<f64>
    %total = tensor.extract %total_cell[] : tensor<f64>
    %mean = arith.mulf %total, %share : f64
    %row = tensor.empty(%n) : tensor<?xf64>
    %centred = linalg.generic {indexing_maps = [#row, #row], iterator_types = ["parallel"]}
        ins(%x : tensor<?xf64>) outs(%row : tensor<?xf64>) {
    ^bb0(%x_i: f64, %out: f64):
      %difference = arith.subf %x_i, %mean : f64
      linalg.yield %difference : f64
    } -> tensor<?xf64>
    %squares_cell = linalg.generic {indexing_maps = [#row, #cell], iterator_types = ["reduction"]}
        ins(%centred : tensor<?xf64>) outs(%empty_sum : tensor<f64>) {
    ^bb0(%centred_i: f64, %partial: f64):
      %square = arith.mulf %centred_i, %centred_i : f64
      %sum = arith.addf %partial, %square : f64
      linalg.yield %sum : f64
    } -> tensor<f64>
    %squares = tensor.extract %squares_cell[] : tensor<f64>
    %variance = arith.mulf %squares, %share : f64
    %deviation = math.sqrt %variance : f64
    %shifted = arith.addf %deviation, %epsilon : f64
    %y = linalg.generic {indexing_maps = [#row, #row], iterator_types = ["parallel"]}
        ins(%centred : tensor<?xf64>) outs(%row : tensor<?xf64>) {
    ^bb0(%centred_i: f64, %out: f64):
      %normalised = arith.divf %centred_i, %shifted : f64
      linalg.yield %normalised : f64
    } -> tensor<?xf64>
    xfuse.yield %y : tensor<?xf64>
  }
}
