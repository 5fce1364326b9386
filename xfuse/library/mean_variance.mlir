// mean_variance(x) = (mean(x), variance(x)), variance(x) = mean((x - mean(x))^2)
//
// (n)->(),(): the statistics of a normalisation. An empty row gives NaNs.
//
// @mean_variance                  textbook, JAX (`jnp.mean`, `jnp.var`) and PyTorch (`torch.var_mean(correction=0)`)
// @mean_variance_moments          variance(x) = mean(x^2) - mean(x)^2
// @mean_variance_moments_clamped  variance(x) = max(mean(x^2) - mean(x)^2, 0), as in Flax
// @mean_variance_share            textbook with products by 1/n for the divisions by n
// @mean_variance_accumulating     textbook, at no narrower a type than f32
#row = affine_map<(n) -> (n)>
#cell = affine_map<(n) -> ()>

xfuse.library @mean_variance {
  xfuse.recipe @mean_variance(%x: tensor<?xf64>) -> (f64, f64) attributes {element_types = [f16, bf16, f32, f64]} {
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
    %squares_cell = linalg.generic {indexing_maps = [#row, #cell], iterator_types = ["reduction"]}
        ins(%x : tensor<?xf64>) outs(%empty_sum : tensor<f64>) {
    ^bb0(%x_i: f64, %partial: f64):
      %difference = arith.subf %x_i, %mean : f64
      %square = arith.mulf %difference, %difference : f64
      %sum = arith.addf %partial, %square : f64
      linalg.yield %sum : f64
    } -> tensor<f64>
    %squares = tensor.extract %squares_cell[] : tensor<f64>
    %variance = arith.divf %squares, %count : f64
    xfuse.yield %mean, %variance : f64, f64
  }

  xfuse.recipe @mean_variance_moments(
      %x: tensor<?xf64>
  ) -> (f64, f64) attributes {element_types = [f16, bf16, f32, f64]} {
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
    %squares_cell = linalg.generic {indexing_maps = [#row, #cell], iterator_types = ["reduction"]}
        ins(%x : tensor<?xf64>) outs(%empty_sum : tensor<f64>) {
    ^bb0(%x_i: f64, %partial: f64):
      %square = arith.mulf %x_i, %x_i : f64
      %sum = arith.addf %partial, %square : f64
      linalg.yield %sum : f64
    } -> tensor<f64>
    %squares = tensor.extract %squares_cell[] : tensor<f64>
    %mean_square = arith.divf %squares, %count : f64
    %square_mean = arith.mulf %mean, %mean : f64
    %variance = arith.subf %mean_square, %square_mean : f64
    xfuse.yield %mean, %variance : f64, f64
  }

  xfuse.recipe @mean_variance_moments_clamped(
      %x: tensor<?xf64>
  ) -> (f64, f64) attributes {element_types = [f16, bf16, f32, f64]} {
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
    %squares_cell = linalg.generic {indexing_maps = [#row, #cell], iterator_types = ["reduction"]}
        ins(%x : tensor<?xf64>) outs(%empty_sum : tensor<f64>) {
    ^bb0(%x_i: f64, %partial: f64):
      %square = arith.mulf %x_i, %x_i : f64
      %sum = arith.addf %partial, %square : f64
      linalg.yield %sum : f64
    } -> tensor<f64>
    %squares = tensor.extract %squares_cell[] : tensor<f64>
    %mean_square = arith.divf %squares, %count : f64
    %square_mean = arith.mulf %mean, %mean : f64
    %variance = arith.subf %mean_square, %square_mean : f64
    %clamped = arith.maximumf %variance, %zero : f64
    xfuse.yield %mean, %clamped : f64, f64
  }

  xfuse.recipe @mean_variance_share(
      %x: tensor<?xf64>
  ) -> (f64, f64) attributes {element_types = [f16, bf16, f32, f64]} {
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
    %squares_cell = linalg.generic {indexing_maps = [#row, #cell], iterator_types = ["reduction"]}
        ins(%x : tensor<?xf64>) outs(%empty_sum : tensor<f64>) {
    ^bb0(%x_i: f64, %partial: f64):
      %difference = arith.subf %x_i, %mean : f64
      %square = arith.mulf %difference, %difference : f64
      %sum = arith.addf %partial, %square : f64
      linalg.yield %sum : f64
    } -> tensor<f64>
    %squares = tensor.extract %squares_cell[] : tensor<f64>
    %variance = arith.mulf %squares, %share : f64
    xfuse.yield %mean, %variance : f64, f64
  }

  xfuse.recipe @mean_variance_accumulating(
      %x: tensor<?xf64> {xfuse.accumulator = f32}
  ) -> (f64, f64) attributes {element_types = [f16, bf16, f32, f64]} {
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
    %squares_cell = linalg.generic {indexing_maps = [#row, #cell], iterator_types = ["reduction"]}
        ins(%x : tensor<?xf64>) outs(%empty_sum : tensor<f64>) {
    ^bb0(%x_i: f64, %partial: f64):
      %difference = arith.subf %x_i, %mean : f64
      %square = arith.mulf %difference, %difference : f64
      %sum = arith.addf %partial, %square : f64
      linalg.yield %sum : f64
    } -> tensor<f64>
    %squares = tensor.extract %squares_cell[] : tensor<f64>
    %variance = arith.divf %squares, %count : f64
    xfuse.yield %mean, %variance : f64, f64
  }
}
