// layer_norm_affine(x, gamma, beta, epsilon) = (x - mean(x)) / sqrt(variance(x) + epsilon) gamma + beta
//
// (n),(n),(n),()->(n). Ba, Kiros and Hinton, "Layer Normalization", arXiv:1607.06450.
//
// @layer_norm_affine               textbook: variance(x) = mean((x - mean(x))^2)
// @layer_norm_affine_rsqrt         PyTorch (`F.layer_norm`) and JAX: a product with rsqrt(variance + epsilon)
// @layer_norm_affine_gain_first    gamma (x - mean(x)) / sqrt(variance + epsilon) + beta, read from the left
// @layer_norm_affine_moments       JAX (`jax.nn.standardize`): variance(x) = max(mean(x^2) - mean(x)^2, 0)
// @layer_norm_affine_flax          Flax (`nn.LayerNorm`): that variance, and (x - mean(x)) (rsqrt(...) gamma) + beta
// @layer_norm_affine_share         textbook with products by 1/n for the divisions by n
// @layer_norm_affine_accumulating  PyTorch's form, at no narrower a type than f32
#row = affine_map<(n) -> (n)>
#cell = affine_map<(n) -> ()>

xfuse.library @layer_norm_affine {
  xfuse.recipe @layer_norm_affine(
      %x: tensor<?xf64>, %gamma: tensor<?xf64>, %beta: tensor<?xf64>, %epsilon: f64 {xfuse.scalar}
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
    %shifted = arith.addf %variance, %epsilon : f64
    %deviation = math.sqrt %shifted : f64
    %y = linalg.generic {indexing_maps = [#row, #row, #row, #row], iterator_types = ["parallel"]}
        ins(%centred, %gamma, %beta : tensor<?xf64>, tensor<?xf64>, tensor<?xf64>) outs(%row : tensor<?xf64>) {
    ^bb0(%centred_i: f64, %gamma_i: f64, %beta_i: f64, %out: f64):
      %normalised = arith.divf %centred_i, %deviation : f64
      %scaled = arith.mulf %normalised, %gamma_i : f64
      %moved = arith.addf %scaled, %beta_i : f64
      linalg.yield %moved : f64
    } -> tensor<?xf64>
    xfuse.yield %y : tensor<?xf64>
  }

  xfuse.recipe @layer_norm_affine_rsqrt(
      %x: tensor<?xf64>, %gamma: tensor<?xf64>, %beta: tensor<?xf64>, %epsilon: f64 {xfuse.scalar}
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
    %shifted = arith.addf %variance, %epsilon : f64
    %scale = math.rsqrt %shifted : f64
    %y = linalg.generic {indexing_maps = [#row, #row, #row, #row], iterator_types = ["parallel"]}
        ins(%centred, %gamma, %beta : tensor<?xf64>, tensor<?xf64>, tensor<?xf64>) outs(%row : tensor<?xf64>) {
    ^bb0(%centred_i: f64, %gamma_i: f64, %beta_i: f64, %out: f64):
      %normalised = arith.mulf %centred_i, %scale : f64
      %scaled = arith.mulf %normalised, %gamma_i : f64
      %moved = arith.addf %scaled, %beta_i : f64
      linalg.yield %moved : f64
    } -> tensor<?xf64>
    xfuse.yield %y : tensor<?xf64>
  }

  xfuse.recipe @layer_norm_affine_gain_first(
      %x: tensor<?xf64>, %gamma: tensor<?xf64>, %beta: tensor<?xf64>, %epsilon: f64 {xfuse.scalar}
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
    %shifted = arith.addf %variance, %epsilon : f64
    %deviation = math.sqrt %shifted : f64
    %y = linalg.generic {indexing_maps = [#row, #row, #row, #row], iterator_types = ["parallel"]}
        ins(%centred, %gamma, %beta : tensor<?xf64>, tensor<?xf64>, tensor<?xf64>) outs(%row : tensor<?xf64>) {
    ^bb0(%centred_i: f64, %gamma_i: f64, %beta_i: f64, %out: f64):
      %scaled = arith.mulf %gamma_i, %centred_i : f64
      %normalised = arith.divf %scaled, %deviation : f64
      %moved = arith.addf %normalised, %beta_i : f64
      linalg.yield %moved : f64
    } -> tensor<?xf64>
    xfuse.yield %y : tensor<?xf64>
  }

  xfuse.recipe @layer_norm_affine_moments(
      %x: tensor<?xf64>, %gamma: tensor<?xf64>, %beta: tensor<?xf64>, %epsilon: f64 {xfuse.scalar}
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
    %row = tensor.empty(%n) : tensor<?xf64>
    %centred = linalg.generic {indexing_maps = [#row, #row], iterator_types = ["parallel"]}
        ins(%x : tensor<?xf64>) outs(%row : tensor<?xf64>) {
    ^bb0(%x_i: f64, %out: f64):
      %difference = arith.subf %x_i, %mean : f64
      linalg.yield %difference : f64
    } -> tensor<?xf64>
    %shifted = arith.addf %clamped, %epsilon : f64
    %scale = math.rsqrt %shifted : f64
    %y = linalg.generic {indexing_maps = [#row, #row, #row, #row], iterator_types = ["parallel"]}
        ins(%centred, %gamma, %beta : tensor<?xf64>, tensor<?xf64>, tensor<?xf64>) outs(%row : tensor<?xf64>) {
    ^bb0(%centred_i: f64, %gamma_i: f64, %beta_i: f64, %out: f64):
      %normalised = arith.mulf %centred_i, %scale : f64
      %scaled = arith.mulf %normalised, %gamma_i : f64
      %moved = arith.addf %scaled, %beta_i : f64
      linalg.yield %moved : f64
    } -> tensor<?xf64>
    xfuse.yield %y : tensor<?xf64>
  }

  xfuse.recipe @layer_norm_affine_flax(
      %x: tensor<?xf64>, %gamma: tensor<?xf64>, %beta: tensor<?xf64>, %epsilon: f64 {xfuse.scalar}
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
    %row = tensor.empty(%n) : tensor<?xf64>
    %centred = linalg.generic {indexing_maps = [#row, #row], iterator_types = ["parallel"]}
        ins(%x : tensor<?xf64>) outs(%row : tensor<?xf64>) {
    ^bb0(%x_i: f64, %out: f64):
      %difference = arith.subf %x_i, %mean : f64
      linalg.yield %difference : f64
    } -> tensor<?xf64>
    %shifted = arith.addf %clamped, %epsilon : f64
    %scale = math.rsqrt %shifted : f64
    %y = linalg.generic {indexing_maps = [#row, #row, #row, #row], iterator_types = ["parallel"]}
        ins(%centred, %gamma, %beta : tensor<?xf64>, tensor<?xf64>, tensor<?xf64>) outs(%row : tensor<?xf64>) {
    ^bb0(%centred_i: f64, %gamma_i: f64, %beta_i: f64, %out: f64):
      %factor = arith.mulf %scale, %gamma_i : f64
      %scaled = arith.mulf %centred_i, %factor : f64
      %moved = arith.addf %scaled, %beta_i : f64
      linalg.yield %moved : f64
    } -> tensor<?xf64>
    xfuse.yield %y : tensor<?xf64>
  }

  xfuse.recipe @layer_norm_affine_share(
      %x: tensor<?xf64>, %gamma: tensor<?xf64>, %beta: tensor<?xf64>, %epsilon: f64 {xfuse.scalar}
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
    %shifted = arith.addf %variance, %epsilon : f64
    %deviation = math.sqrt %shifted : f64
    %y = linalg.generic {indexing_maps = [#row, #row, #row, #row], iterator_types = ["parallel"]}
        ins(%centred, %gamma, %beta : tensor<?xf64>, tensor<?xf64>, tensor<?xf64>) outs(%row : tensor<?xf64>) {
    ^bb0(%centred_i: f64, %gamma_i: f64, %beta_i: f64, %out: f64):
      %normalised = arith.divf %centred_i, %deviation : f64
      %scaled = arith.mulf %normalised, %gamma_i : f64
      %moved = arith.addf %scaled, %beta_i : f64
      linalg.yield %moved : f64
    } -> tensor<?xf64>
    xfuse.yield %y : tensor<?xf64>
  }

  xfuse.recipe @layer_norm_affine_accumulating(
      %x: tensor<?xf64> {xfuse.accumulator = f32}, %gamma: tensor<?xf64> {xfuse.accumulator = f32},
      %beta: tensor<?xf64> {xfuse.accumulator = f32}, %epsilon: f64 {xfuse.scalar, xfuse.accumulator = f32}
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
    %shifted = arith.addf %variance, %epsilon : f64
    %scale = math.rsqrt %shifted : f64
    %y = linalg.generic {indexing_maps = [#row, #row, #row, #row], iterator_types = ["parallel"]}
        ins(%centred, %gamma, %beta : tensor<?xf64>, tensor<?xf64>, tensor<?xf64>) outs(%row : tensor<?xf64>) {
    ^bb0(%centred_i: f64, %gamma_i: f64, %beta_i: f64, %out: f64):
      %normalised = arith.mulf %centred_i, %scale : f64
      %scaled = arith.mulf %normalised, %gamma_i : f64
      %moved = arith.addf %scaled, %beta_i : f64
      linalg.yield %moved : f64
    } -> tensor<?xf64>
    xfuse.yield %y : tensor<?xf64>
  }
}
