// rms_norm_weighted(x, weight, epsilon) = x / sqrt(mean(x^2) + epsilon) weight
//
// (n),(n),()->(n). Zhang and Sennrich, "Root Mean Square Layer Normalization", arXiv:1910.07467.
//
// @rms_norm_weighted               textbook
// @rms_norm_weighted_rsqrt         JAX: a product with rsqrt(mean(x^2) + epsilon)
// @rms_norm_weighted_flax          Flax (`nn.RMSNorm`): x (rsqrt(mean(x^2) + epsilon) weight)
// @rms_norm_weighted_torch         PyTorch, as in LLaMA: x^2 by fpowi
// @rms_norm_weighted_share         textbook with a product by 1/n for the division by n
// @rms_norm_weighted_accumulating  JAX's form, at no narrower a type than f32
// @rms_norm_weighted_mixed         JAX in f16 or bf16: the norm at f32, rounded before the product with the weight
// @rms_norm_weighted_torch_mixed   PyTorch in f16 or bf16, as in LLaMA: the same with x^2 by fpowi
#row = affine_map<(n) -> (n)>
#cell = affine_map<(n) -> ()>

xfuse.library @rms_norm_weighted {
  xfuse.recipe @rms_norm_weighted(
      %x: tensor<?xf64>, %weight: tensor<?xf64>, %epsilon: f64 {xfuse.scalar}
  ) -> tensor<?xf64> attributes {element_types = [f16, bf16, f32, f64]} {
    %first = arith.constant 0 : index
    %n = tensor.dim %x, %first : tensor<?xf64>
    %integer = arith.index_cast %n : index to i64
    %count = arith.sitofp %integer : i64 to f64
    %zero = arith.constant 0.0 : f64
    %empty_sum = tensor.splat %zero : tensor<f64>
    %squares_cell = linalg.generic {indexing_maps = [#row, #cell], iterator_types = ["reduction"]}
        ins(%x : tensor<?xf64>) outs(%empty_sum : tensor<f64>) {
    ^bb0(%x_i: f64, %partial: f64):
      %square = arith.mulf %x_i, %x_i : f64
      %sum = arith.addf %partial, %square : f64
      linalg.yield %sum : f64
    } -> tensor<f64>
    %squares = tensor.extract %squares_cell[] : tensor<f64>
    %mean_square = arith.divf %squares, %count : f64
    %shifted = arith.addf %mean_square, %epsilon : f64
    %deviation = math.sqrt %shifted : f64
    %row = tensor.empty(%n) : tensor<?xf64>
    %y = linalg.generic {indexing_maps = [#row, #row, #row], iterator_types = ["parallel"]}
        ins(%x, %weight : tensor<?xf64>, tensor<?xf64>) outs(%row : tensor<?xf64>) {
    ^bb0(%x_i: f64, %weight_i: f64, %out: f64):
      %normalised = arith.divf %x_i, %deviation : f64
      %scaled = arith.mulf %normalised, %weight_i : f64
      linalg.yield %scaled : f64
    } -> tensor<?xf64>
    xfuse.yield %y : tensor<?xf64>
  }

  xfuse.recipe @rms_norm_weighted_rsqrt(
      %x: tensor<?xf64>, %weight: tensor<?xf64>, %epsilon: f64 {xfuse.scalar}
  ) -> tensor<?xf64> attributes {element_types = [f16, bf16, f32, f64]} {
    %first = arith.constant 0 : index
    %n = tensor.dim %x, %first : tensor<?xf64>
    %integer = arith.index_cast %n : index to i64
    %count = arith.sitofp %integer : i64 to f64
    %zero = arith.constant 0.0 : f64
    %empty_sum = tensor.splat %zero : tensor<f64>
    %squares_cell = linalg.generic {indexing_maps = [#row, #cell], iterator_types = ["reduction"]}
        ins(%x : tensor<?xf64>) outs(%empty_sum : tensor<f64>) {
    ^bb0(%x_i: f64, %partial: f64):
      %square = arith.mulf %x_i, %x_i : f64
      %sum = arith.addf %partial, %square : f64
      linalg.yield %sum : f64
    } -> tensor<f64>
    %squares = tensor.extract %squares_cell[] : tensor<f64>
    %mean_square = arith.divf %squares, %count : f64
    %shifted = arith.addf %mean_square, %epsilon : f64
    %scale = math.rsqrt %shifted : f64
    %row = tensor.empty(%n) : tensor<?xf64>
    %y = linalg.generic {indexing_maps = [#row, #row, #row], iterator_types = ["parallel"]}
        ins(%x, %weight : tensor<?xf64>, tensor<?xf64>) outs(%row : tensor<?xf64>) {
    ^bb0(%x_i: f64, %weight_i: f64, %out: f64):
      %normalised = arith.mulf %x_i, %scale : f64
      %scaled = arith.mulf %normalised, %weight_i : f64
      linalg.yield %scaled : f64
    } -> tensor<?xf64>
    xfuse.yield %y : tensor<?xf64>
  }

  xfuse.recipe @rms_norm_weighted_flax(
      %x: tensor<?xf64>, %weight: tensor<?xf64>, %epsilon: f64 {xfuse.scalar}
  ) -> tensor<?xf64> attributes {element_types = [f16, bf16, f32, f64]} {
    %first = arith.constant 0 : index
    %n = tensor.dim %x, %first : tensor<?xf64>
    %integer = arith.index_cast %n : index to i64
    %count = arith.sitofp %integer : i64 to f64
    %zero = arith.constant 0.0 : f64
    %empty_sum = tensor.splat %zero : tensor<f64>
    %squares_cell = linalg.generic {indexing_maps = [#row, #cell], iterator_types = ["reduction"]}
        ins(%x : tensor<?xf64>) outs(%empty_sum : tensor<f64>) {
    ^bb0(%x_i: f64, %partial: f64):
      %square = arith.mulf %x_i, %x_i : f64
      %sum = arith.addf %partial, %square : f64
      linalg.yield %sum : f64
    } -> tensor<f64>
    %squares = tensor.extract %squares_cell[] : tensor<f64>
    %mean_square = arith.divf %squares, %count : f64
    %shifted = arith.addf %mean_square, %epsilon : f64
    %scale = math.rsqrt %shifted : f64
    %row = tensor.empty(%n) : tensor<?xf64>
    %y = linalg.generic {indexing_maps = [#row, #row, #row], iterator_types = ["parallel"]}
        ins(%x, %weight : tensor<?xf64>, tensor<?xf64>) outs(%row : tensor<?xf64>) {
    ^bb0(%x_i: f64, %weight_i: f64, %out: f64):
      %factor = arith.mulf %scale, %weight_i : f64
      %scaled = arith.mulf %x_i, %factor : f64
      linalg.yield %scaled : f64
    } -> tensor<?xf64>
    xfuse.yield %y : tensor<?xf64>
  }

  xfuse.recipe @rms_norm_weighted_torch(
      %x: tensor<?xf64>, %weight: tensor<?xf64>, %epsilon: f64 {xfuse.scalar}
  ) -> tensor<?xf64> attributes {element_types = [f16, bf16, f32, f64]} {
    %first = arith.constant 0 : index
    %n = tensor.dim %x, %first : tensor<?xf64>
    %integer = arith.index_cast %n : index to i64
    %count = arith.sitofp %integer : i64 to f64
    %two = arith.constant 2 : i64
    %zero = arith.constant 0.0 : f64
    %empty_sum = tensor.splat %zero : tensor<f64>
    %squares_cell = linalg.generic {indexing_maps = [#row, #cell], iterator_types = ["reduction"]}
        ins(%x : tensor<?xf64>) outs(%empty_sum : tensor<f64>) {
    ^bb0(%x_i: f64, %partial: f64):
      %square = math.fpowi %x_i, %two : f64, i64
      %sum = arith.addf %partial, %square : f64
      linalg.yield %sum : f64
    } -> tensor<f64>
    %squares = tensor.extract %squares_cell[] : tensor<f64>
    %mean_square = arith.divf %squares, %count : f64
    %shifted = arith.addf %mean_square, %epsilon : f64
    %scale = math.rsqrt %shifted : f64
    %row = tensor.empty(%n) : tensor<?xf64>
    %y = linalg.generic {indexing_maps = [#row, #row, #row], iterator_types = ["parallel"]}
        ins(%x, %weight : tensor<?xf64>, tensor<?xf64>) outs(%row : tensor<?xf64>) {
    ^bb0(%x_i: f64, %weight_i: f64, %out: f64):
      %normalised = arith.mulf %x_i, %scale : f64
      %scaled = arith.mulf %normalised, %weight_i : f64
      linalg.yield %scaled : f64
    } -> tensor<?xf64>
    xfuse.yield %y : tensor<?xf64>
  }

  xfuse.recipe @rms_norm_weighted_share(
      %x: tensor<?xf64>, %weight: tensor<?xf64>, %epsilon: f64 {xfuse.scalar}
  ) -> tensor<?xf64> attributes {element_types = [f16, bf16, f32, f64]} {
    %first = arith.constant 0 : index
    %n = tensor.dim %x, %first : tensor<?xf64>
    %integer = arith.index_cast %n : index to i64
    %count = arith.sitofp %integer : i64 to f64
    %one = arith.constant 1.0 : f64
    %share = arith.divf %one, %count : f64
    %zero = arith.constant 0.0 : f64
    %empty_sum = tensor.splat %zero : tensor<f64>
    %squares_cell = linalg.generic {indexing_maps = [#row, #cell], iterator_types = ["reduction"]}
        ins(%x : tensor<?xf64>) outs(%empty_sum : tensor<f64>) {
    ^bb0(%x_i: f64, %partial: f64):
      %square = arith.mulf %x_i, %x_i : f64
      %sum = arith.addf %partial, %square : f64
      linalg.yield %sum : f64
    } -> tensor<f64>
    %squares = tensor.extract %squares_cell[] : tensor<f64>
    %mean_square = arith.mulf %squares, %share : f64
    %shifted = arith.addf %mean_square, %epsilon : f64
    %deviation = math.sqrt %shifted : f64
    %row = tensor.empty(%n) : tensor<?xf64>
    %y = linalg.generic {indexing_maps = [#row, #row, #row], iterator_types = ["parallel"]}
        ins(%x, %weight : tensor<?xf64>, tensor<?xf64>) outs(%row : tensor<?xf64>) {
    ^bb0(%x_i: f64, %weight_i: f64, %out: f64):
      %normalised = arith.divf %x_i, %deviation : f64
      %scaled = arith.mulf %normalised, %weight_i : f64
      linalg.yield %scaled : f64
    } -> tensor<?xf64>
    xfuse.yield %y : tensor<?xf64>
  }

  xfuse.recipe @rms_norm_weighted_accumulating(
      %x: tensor<?xf64> {xfuse.accumulator = f32}, %weight: tensor<?xf64> {xfuse.accumulator = f32},
      %epsilon: f64 {xfuse.scalar, xfuse.accumulator = f32}
  ) -> tensor<?xf64> attributes {element_types = [f16, bf16, f32, f64]} {
    %first = arith.constant 0 : index
    %n = tensor.dim %x, %first : tensor<?xf64>
    %integer = arith.index_cast %n : index to i64
    %count = arith.sitofp %integer : i64 to f64
    %zero = arith.constant 0.0 : f64
    %empty_sum = tensor.splat %zero : tensor<f64>
    %squares_cell = linalg.generic {indexing_maps = [#row, #cell], iterator_types = ["reduction"]}
        ins(%x : tensor<?xf64>) outs(%empty_sum : tensor<f64>) {
    ^bb0(%x_i: f64, %partial: f64):
      %square = arith.mulf %x_i, %x_i : f64
      %sum = arith.addf %partial, %square : f64
      linalg.yield %sum : f64
    } -> tensor<f64>
    %squares = tensor.extract %squares_cell[] : tensor<f64>
    %mean_square = arith.divf %squares, %count : f64
    %shifted = arith.addf %mean_square, %epsilon : f64
    %scale = math.rsqrt %shifted : f64
    %row = tensor.empty(%n) : tensor<?xf64>
    %y = linalg.generic {indexing_maps = [#row, #row, #row], iterator_types = ["parallel"]}
        ins(%x, %weight : tensor<?xf64>, tensor<?xf64>) outs(%row : tensor<?xf64>) {
    ^bb0(%x_i: f64, %weight_i: f64, %out: f64):
      %normalised = arith.mulf %x_i, %scale : f64
      %scaled = arith.mulf %normalised, %weight_i : f64
      linalg.yield %scaled : f64
    } -> tensor<?xf64>
    xfuse.yield %y : tensor<?xf64>
  }

  xfuse.recipe @rms_norm_weighted_mixed(
      %x: tensor<?xf16>, %weight: tensor<?xf16>, %epsilon: f32 {xfuse.scalar}
  ) -> tensor<?xf16> attributes {element_types = [f16, bf16]} {
    %first = arith.constant 0 : index
    %n = tensor.dim %x, %first : tensor<?xf16>
    %row = tensor.empty(%n) : tensor<?xf32>
    %wide = linalg.generic {indexing_maps = [#row, #row], iterator_types = ["parallel"]}
        ins(%x : tensor<?xf16>) outs(%row : tensor<?xf32>) {
    ^bb0(%x_i: f16, %out: f32):
      %element = arith.extf %x_i : f16 to f32
      linalg.yield %element : f32
    } -> tensor<?xf32>
    %integer = arith.index_cast %n : index to i64
    %count = arith.sitofp %integer : i64 to f32
    %zero = arith.constant 0.0 : f32
    %empty_sum = tensor.splat %zero : tensor<f32>
    %squares_cell = linalg.generic {indexing_maps = [#row, #cell], iterator_types = ["reduction"]}
        ins(%wide : tensor<?xf32>) outs(%empty_sum : tensor<f32>) {
    ^bb0(%wide_i: f32, %partial: f32):
      %square = arith.mulf %wide_i, %wide_i : f32
      %sum = arith.addf %partial, %square : f32
      linalg.yield %sum : f32
    } -> tensor<f32>
    %squares = tensor.extract %squares_cell[] : tensor<f32>
    %mean_square = arith.divf %squares, %count : f32
    %shifted = arith.addf %mean_square, %epsilon : f32
    %scale = math.rsqrt %shifted : f32
    %row_1 = tensor.empty(%n) : tensor<?xf16>
    %normalised = linalg.generic {indexing_maps = [#row, #row], iterator_types = ["parallel"]}
        ins(%wide : tensor<?xf32>) outs(%row_1 : tensor<?xf16>) {
    ^bb0(%wide_i: f32, %out: f16):
      %product = arith.mulf %wide_i, %scale : f32
      %rounded = arith.truncf %product : f32 to f16
      linalg.yield %rounded : f16
    } -> tensor<?xf16>
    %y = linalg.generic {indexing_maps = [#row, #row, #row], iterator_types = ["parallel"]}
        ins(%normalised, %weight : tensor<?xf16>, tensor<?xf16>) outs(%row_1 : tensor<?xf16>) {
    ^bb0(%normalised_i: f16, %weight_i: f16, %out: f16):
      %scaled = arith.mulf %normalised_i, %weight_i : f16
      linalg.yield %scaled : f16
    } -> tensor<?xf16>
    xfuse.yield %y : tensor<?xf16>
  }

  xfuse.recipe @rms_norm_weighted_torch_mixed(
      %x: tensor<?xf16>, %weight: tensor<?xf16>, %epsilon: f32 {xfuse.scalar}
  ) -> tensor<?xf16> attributes {element_types = [f16, bf16]} {
    %first = arith.constant 0 : index
    %n = tensor.dim %x, %first : tensor<?xf16>
    %row = tensor.empty(%n) : tensor<?xf32>
    %wide = linalg.generic {indexing_maps = [#row, #row], iterator_types = ["parallel"]}
        ins(%x : tensor<?xf16>) outs(%row : tensor<?xf32>) {
    ^bb0(%x_i: f16, %out: f32):
      %element = arith.extf %x_i : f16 to f32
      linalg.yield %element : f32
    } -> tensor<?xf32>
    %integer = arith.index_cast %n : index to i64
    %count = arith.sitofp %integer : i64 to f32
    %two = arith.constant 2 : i64
    %zero = arith.constant 0.0 : f32
    %empty_sum = tensor.splat %zero : tensor<f32>
    %squares_cell = linalg.generic {indexing_maps = [#row, #cell], iterator_types = ["reduction"]}
        ins(%wide : tensor<?xf32>) outs(%empty_sum : tensor<f32>) {
    ^bb0(%wide_i: f32, %partial: f32):
      %square = math.fpowi %wide_i, %two : f32, i64
      %sum = arith.addf %partial, %square : f32
      linalg.yield %sum : f32
    } -> tensor<f32>
    %squares = tensor.extract %squares_cell[] : tensor<f32>
    %mean_square = arith.divf %squares, %count : f32
    %shifted = arith.addf %mean_square, %epsilon : f32
    %scale = math.rsqrt %shifted : f32
    %row_1 = tensor.empty(%n) : tensor<?xf16>
    %normalised = linalg.generic {indexing_maps = [#row, #row], iterator_types = ["parallel"]}
        ins(%wide : tensor<?xf32>) outs(%row_1 : tensor<?xf16>) {
    ^bb0(%wide_i: f32, %out: f16):
      %product = arith.mulf %wide_i, %scale : f32
      %rounded = arith.truncf %product : f32 to f16
      linalg.yield %rounded : f16
    } -> tensor<?xf16>
    %y = linalg.generic {indexing_maps = [#row, #row, #row], iterator_types = ["parallel"]}
        ins(%normalised, %weight : tensor<?xf16>, tensor<?xf16>) outs(%row_1 : tensor<?xf16>) {
    ^bb0(%normalised_i: f16, %weight_i: f16, %out: f16):
      %scaled = arith.mulf %normalised_i, %weight_i : f16
      linalg.yield %scaled : f16
    } -> tensor<?xf16>
    xfuse.yield %y : tensor<?xf16>
  }
}
