// group_norm(x, gamma, beta, epsilon) = (x - mean(x)) / sqrt(variance(x) + epsilon) gamma + beta
//
// (n,m),(n),(n),()->(n,m): x is one group, its n channels by its m positions; mean and variance run over both, gain and
// bias are one a channel. With n = 1 it is instance normalisation. Wu and He, "Group Normalization", arXiv:1803.08494.
//
// @group_norm               textbook: variance(x) = mean((x - mean(x))^2)
// @group_norm_rsqrt         PyTorch (`F.group_norm`): a product with rsqrt(variance + epsilon)
// @group_norm_flax          Flax (`nn.GroupNorm`): variance(x) = max(mean(x^2) - mean(x)^2, 0), and
//                           (x - mean(x)) (rsqrt(variance + epsilon) gamma) + beta
// @group_norm_accumulating  PyTorch's form, at no narrower a type than f32
#matrix = affine_map<(n, m) -> (n, m)>
#column = affine_map<(n, m) -> (n)>
#cell = affine_map<(n, m) -> ()>

xfuse.library @group_norm {
  xfuse.recipe @group_norm(
      %x: tensor<?x?xf64>, %gamma: tensor<?xf64>, %beta: tensor<?xf64>, %epsilon: f64 {xfuse.scalar}
  ) -> tensor<?x?xf64> attributes {element_types = [f16, bf16, f32, f64]} {
    %first = arith.constant 0 : index
    %n = tensor.dim %x, %first : tensor<?x?xf64>
    %second = arith.constant 1 : index
    %m = tensor.dim %x, %second : tensor<?x?xf64>
    %size = arith.muli %n, %m : index
    %integer = arith.index_cast %size : index to i64
    %count = arith.sitofp %integer : i64 to f64
    %zero = arith.constant 0.0 : f64
    %empty_sum = tensor.splat %zero : tensor<f64>
    %total_cell = linalg.generic {indexing_maps = [#matrix, #cell], iterator_types = ["reduction", "reduction"]}
        ins(%x : tensor<?x?xf64>) outs(%empty_sum : tensor<f64>) {
    ^bb0(%x_ij: f64, %partial: f64):
      %sum = arith.addf %partial, %x_ij : f64
      linalg.yield %sum : f64
    } -> tensor<f64>
    %total = tensor.extract %total_cell[] : tensor<f64>
    %mean = arith.divf %total, %count : f64
    %matrix = tensor.empty(%n, %m) : tensor<?x?xf64>
    %centred = linalg.generic {indexing_maps = [#matrix, #matrix], iterator_types = ["parallel", "parallel"]}
        ins(%x : tensor<?x?xf64>) outs(%matrix : tensor<?x?xf64>) {
    ^bb0(%x_ij: f64, %out: f64):
      %difference = arith.subf %x_ij, %mean : f64
      linalg.yield %difference : f64
    } -> tensor<?x?xf64>
    %squares_cell = linalg.generic {indexing_maps = [#matrix, #cell], iterator_types = ["reduction", "reduction"]}
        ins(%centred : tensor<?x?xf64>) outs(%empty_sum : tensor<f64>) {
    ^bb0(%centred_ij: f64, %partial: f64):
      %square = arith.mulf %centred_ij, %centred_ij : f64
      %sum = arith.addf %partial, %square : f64
      linalg.yield %sum : f64
    } -> tensor<f64>
    %squares = tensor.extract %squares_cell[] : tensor<f64>
    %variance = arith.divf %squares, %count : f64
    %shifted = arith.addf %variance, %epsilon : f64
    %deviation = math.sqrt %shifted : f64
    %y = linalg.generic {indexing_maps = [#matrix, #column, #column, #matrix],
      iterator_types = ["parallel", "parallel"]}
        ins(%centred, %gamma, %beta : tensor<?x?xf64>, tensor<?xf64>, tensor<?xf64>) outs(%matrix : tensor<?x?xf64>) {
    ^bb0(%centred_ij: f64, %gamma_i: f64, %beta_i: f64, %out: f64):
      %normalised = arith.divf %centred_ij, %deviation : f64
      %scaled = arith.mulf %normalised, %gamma_i : f64
      %moved = arith.addf %scaled, %beta_i : f64
      linalg.yield %moved : f64
    } -> tensor<?x?xf64>
    xfuse.yield %y : tensor<?x?xf64>
  }

  xfuse.recipe @group_norm_rsqrt(
      %x: tensor<?x?xf64>, %gamma: tensor<?xf64>, %beta: tensor<?xf64>, %epsilon: f64 {xfuse.scalar}
  ) -> tensor<?x?xf64> attributes {element_types = [f16, bf16, f32, f64]} {
    %first = arith.constant 0 : index
    %n = tensor.dim %x, %first : tensor<?x?xf64>
    %second = arith.constant 1 : index
    %m = tensor.dim %x, %second : tensor<?x?xf64>
    %size = arith.muli %n, %m : index
    %integer = arith.index_cast %size : index to i64
    %count = arith.sitofp %integer : i64 to f64
    %zero = arith.constant 0.0 : f64
    %empty_sum = tensor.splat %zero : tensor<f64>
    %total_cell = linalg.generic {indexing_maps = [#matrix, #cell], iterator_types = ["reduction", "reduction"]}
        ins(%x : tensor<?x?xf64>) outs(%empty_sum : tensor<f64>) {
    ^bb0(%x_ij: f64, %partial: f64):
      %sum = arith.addf %partial, %x_ij : f64
      linalg.yield %sum : f64
    } -> tensor<f64>
    %total = tensor.extract %total_cell[] : tensor<f64>
    %mean = arith.divf %total, %count : f64
    %matrix = tensor.empty(%n, %m) : tensor<?x?xf64>
    %centred = linalg.generic {indexing_maps = [#matrix, #matrix], iterator_types = ["parallel", "parallel"]}
        ins(%x : tensor<?x?xf64>) outs(%matrix : tensor<?x?xf64>) {
    ^bb0(%x_ij: f64, %out: f64):
      %difference = arith.subf %x_ij, %mean : f64
      linalg.yield %difference : f64
    } -> tensor<?x?xf64>
    %squares_cell = linalg.generic {indexing_maps = [#matrix, #cell], iterator_types = ["reduction", "reduction"]}
        ins(%centred : tensor<?x?xf64>) outs(%empty_sum : tensor<f64>) {
    ^bb0(%centred_ij: f64, %partial: f64):
      %square = arith.mulf %centred_ij, %centred_ij : f64
      %sum = arith.addf %partial, %square : f64
      linalg.yield %sum : f64
    } -> tensor<f64>
    %squares = tensor.extract %squares_cell[] : tensor<f64>
    %variance = arith.divf %squares, %count : f64
    %shifted = arith.addf %variance, %epsilon : f64
    %scale = math.rsqrt %shifted : f64
    %y = linalg.generic {indexing_maps = [#matrix, #column, #column, #matrix],
      iterator_types = ["parallel", "parallel"]}
        ins(%centred, %gamma, %beta : tensor<?x?xf64>, tensor<?xf64>, tensor<?xf64>) outs(%matrix : tensor<?x?xf64>) {
    ^bb0(%centred_ij: f64, %gamma_i: f64, %beta_i: f64, %out: f64):
      %normalised = arith.mulf %centred_ij, %scale : f64
      %scaled = arith.mulf %normalised, %gamma_i : f64
      %moved = arith.addf %scaled, %beta_i : f64
      linalg.yield %moved : f64
    } -> tensor<?x?xf64>
    xfuse.yield %y : tensor<?x?xf64>
  }

  xfuse.recipe @group_norm_flax(
      %x: tensor<?x?xf64>, %gamma: tensor<?xf64>, %beta: tensor<?xf64>, %epsilon: f64 {xfuse.scalar}
  ) -> tensor<?x?xf64> attributes {element_types = [f16, bf16, f32, f64]} {
    %first = arith.constant 0 : index
    %n = tensor.dim %x, %first : tensor<?x?xf64>
    %second = arith.constant 1 : index
    %m = tensor.dim %x, %second : tensor<?x?xf64>
    %size = arith.muli %n, %m : index
    %integer = arith.index_cast %size : index to i64
    %count = arith.sitofp %integer : i64 to f64
    %zero = arith.constant 0.0 : f64
    %empty_sum = tensor.splat %zero : tensor<f64>
    %total_cell = linalg.generic {indexing_maps = [#matrix, #cell], iterator_types = ["reduction", "reduction"]}
        ins(%x : tensor<?x?xf64>) outs(%empty_sum : tensor<f64>) {
    ^bb0(%x_ij: f64, %partial: f64):
      %sum = arith.addf %partial, %x_ij : f64
      linalg.yield %sum : f64
    } -> tensor<f64>
    %total = tensor.extract %total_cell[] : tensor<f64>
    %mean = arith.divf %total, %count : f64
    %squares_cell = linalg.generic {indexing_maps = [#matrix, #cell], iterator_types = ["reduction", "reduction"]}
        ins(%x : tensor<?x?xf64>) outs(%empty_sum : tensor<f64>) {
    ^bb0(%x_ij: f64, %partial: f64):
      %square = arith.mulf %x_ij, %x_ij : f64
      %sum = arith.addf %partial, %square : f64
      linalg.yield %sum : f64
    } -> tensor<f64>
    %squares = tensor.extract %squares_cell[] : tensor<f64>
    %mean_square = arith.divf %squares, %count : f64
    %square_mean = arith.mulf %mean, %mean : f64
    %variance = arith.subf %mean_square, %square_mean : f64
    %clamped = arith.maximumf %variance, %zero : f64
    %matrix = tensor.empty(%n, %m) : tensor<?x?xf64>
    %centred = linalg.generic {indexing_maps = [#matrix, #matrix], iterator_types = ["parallel", "parallel"]}
        ins(%x : tensor<?x?xf64>) outs(%matrix : tensor<?x?xf64>) {
    ^bb0(%x_ij: f64, %out: f64):
      %difference = arith.subf %x_ij, %mean : f64
      linalg.yield %difference : f64
    } -> tensor<?x?xf64>
    %shifted = arith.addf %clamped, %epsilon : f64
    %scale = math.rsqrt %shifted : f64
    %y = linalg.generic {indexing_maps = [#matrix, #column, #column, #matrix],
      iterator_types = ["parallel", "parallel"]}
        ins(%centred, %gamma, %beta : tensor<?x?xf64>, tensor<?xf64>, tensor<?xf64>) outs(%matrix : tensor<?x?xf64>) {
    ^bb0(%centred_ij: f64, %gamma_i: f64, %beta_i: f64, %out: f64):
      %factor = arith.mulf %scale, %gamma_i : f64
      %scaled = arith.mulf %centred_ij, %factor : f64
      %moved = arith.addf %scaled, %beta_i : f64
      linalg.yield %moved : f64
    } -> tensor<?x?xf64>
    xfuse.yield %y : tensor<?x?xf64>
  }

  xfuse.recipe @group_norm_accumulating(
      %x: tensor<?x?xf64> {xfuse.accumulator = f32}, %gamma: tensor<?xf64> {xfuse.accumulator = f32},
      %beta: tensor<?xf64> {xfuse.accumulator = f32}, %epsilon: f64 {xfuse.scalar, xfuse.accumulator = f32}
  ) -> tensor<?x?xf64> attributes {element_types = [f16, bf16, f32, f64]} {
    %first = arith.constant 0 : index
    %n = tensor.dim %x, %first : tensor<?x?xf64>
    %second = arith.constant 1 : index
    %m = tensor.dim %x, %second : tensor<?x?xf64>
    %size = arith.muli %n, %m : index
    %integer = arith.index_cast %size : index to i64
    %count = arith.sitofp %integer : i64 to f64
    %zero = arith.constant 0.0 : f64
    %empty_sum = tensor.splat %zero : tensor<f64>
    %total_cell = linalg.generic {indexing_maps = [#matrix, #cell], iterator_types = ["reduction", "reduction"]}
        ins(%x : tensor<?x?xf64>) outs(%empty_sum : tensor<f64>) {
    ^bb0(%x_ij: f64, %partial: f64):
      %sum = arith.addf %partial, %x_ij : f64
      linalg.yield %sum : f64
    } -> tensor<f64>
    %total = tensor.extract %total_cell[] : tensor<f64>
    %mean = arith.divf %total, %count : f64
    %matrix = tensor.empty(%n, %m) : tensor<?x?xf64>
    %centred = linalg.generic {indexing_maps = [#matrix, #matrix], iterator_types = ["parallel", "parallel"]}
        ins(%x : tensor<?x?xf64>) outs(%matrix : tensor<?x?xf64>) {
    ^bb0(%x_ij: f64, %out: f64):
      %difference = arith.subf %x_ij, %mean : f64
      linalg.yield %difference : f64
    } -> tensor<?x?xf64>
    %squares_cell = linalg.generic {indexing_maps = [#matrix, #cell], iterator_types = ["reduction", "reduction"]}
        ins(%centred : tensor<?x?xf64>) outs(%empty_sum : tensor<f64>) {
    ^bb0(%centred_ij: f64, %partial: f64):
      %square = arith.mulf %centred_ij, %centred_ij : f64
      %sum = arith.addf %partial, %square : f64
      linalg.yield %sum : f64
    } -> tensor<f64>
    %squares = tensor.extract %squares_cell[] : tensor<f64>
    %variance = arith.divf %squares, %count : f64
    %shifted = arith.addf %variance, %epsilon : f64
    %scale = math.rsqrt %shifted : f64
    %y = linalg.generic {indexing_maps = [#matrix, #column, #column, #matrix],
      iterator_types = ["parallel", "parallel"]}
        ins(%centred, %gamma, %beta : tensor<?x?xf64>, tensor<?xf64>, tensor<?xf64>) outs(%matrix : tensor<?x?xf64>) {
    ^bb0(%centred_ij: f64, %gamma_i: f64, %beta_i: f64, %out: f64):
      %normalised = arith.mulf %centred_ij, %scale : f64
      %scaled = arith.mulf %normalised, %gamma_i : f64
      %moved = arith.addf %scaled, %beta_i : f64
      linalg.yield %moved : f64
    } -> tensor<?x?xf64>
    xfuse.yield %y : tensor<?x?xf64>
  }
}
