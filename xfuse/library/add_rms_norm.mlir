// add_rms_norm(x, residual, weight, epsilon) = (s, rms_norm_weighted(s, weight, epsilon)), s = x + residual
//
// (n),(n),(n),()->(n),(n): the end of one block of a transformer and the beginning of the next.
// Zhang and Sennrich, "Root Mean Square Layer Normalization", arXiv:1910.07467.
//
// @add_rms_norm               textbook
// @add_rms_norm_rsqrt         JAX: a product with rsqrt(mean(s^2) + epsilon)
// @add_rms_norm_flax          Flax (`nn.RMSNorm`): s (rsqrt(mean(s^2) + epsilon) weight)
// @add_rms_norm_torch         PyTorch, as in LLaMA: s^2 by fpowi
// @add_rms_norm_accumulating  JAX's form, at no narrower a type than f32; the sum is rounded only as a result
// @add_rms_norm_mixed         JAX in f16 or bf16: the norm at f32, rounded before the product with the weight
// @add_rms_norm_torch_mixed   PyTorch in f16 or bf16, as in LLaMA: the same with s^2 by fpowi
#row = affine_map<(n) -> (n)>
#cell = affine_map<(n) -> ()>

xfuse.library @add_rms_norm {
  xfuse.recipe @add_rms_norm(
      %x: tensor<?xf64>, %residual: tensor<?xf64>, %weight: tensor<?xf64>, %epsilon: f64 {xfuse.scalar}
  ) -> (tensor<?xf64>, tensor<?xf64>) attributes {element_types = [f16, bf16, f32, f64]} {
    %first = arith.constant 0 : index
    %n = tensor.dim %x, %first : tensor<?xf64>
    %row = tensor.empty(%n) : tensor<?xf64>
    %summed = linalg.generic {indexing_maps = [#row, #row, #row], iterator_types = ["parallel"]}
        ins(%x, %residual : tensor<?xf64>, tensor<?xf64>) outs(%row : tensor<?xf64>) {
    ^bb0(%x_i: f64, %residual_i: f64, %out: f64):
      %sum = arith.addf %x_i, %residual_i : f64
      linalg.yield %sum : f64
    } -> tensor<?xf64>
    %integer = arith.index_cast %n : index to i64
    %count = arith.sitofp %integer : i64 to f64
    %zero = arith.constant 0.0 : f64
    %empty_sum = tensor.splat %zero : tensor<f64>
    %squares_cell = linalg.generic {indexing_maps = [#row, #cell], iterator_types = ["reduction"]}
        ins(%summed : tensor<?xf64>) outs(%empty_sum : tensor<f64>) {
    ^bb0(%summed_i: f64, %partial: f64):
      %square = arith.mulf %summed_i, %summed_i : f64
      %sum = arith.addf %partial, %square : f64
      linalg.yield %sum : f64
    } -> tensor<f64>
    %squares = tensor.extract %squares_cell[] : tensor<f64>
    %mean_square = arith.divf %squares, %count : f64
    %shifted = arith.addf %mean_square, %epsilon : f64
    %deviation = math.sqrt %shifted : f64
    %y = linalg.generic {indexing_maps = [#row, #row, #row], iterator_types = ["parallel"]}
        ins(%summed, %weight : tensor<?xf64>, tensor<?xf64>) outs(%row : tensor<?xf64>) {
    ^bb0(%summed_i: f64, %weight_i: f64, %out: f64):
      %normalised = arith.divf %summed_i, %deviation : f64
      %scaled = arith.mulf %normalised, %weight_i : f64
      linalg.yield %scaled : f64
    } -> tensor<?xf64>
    xfuse.yield %summed, %y : tensor<?xf64>, tensor<?xf64>
  }

  xfuse.recipe @add_rms_norm_rsqrt(
      %x: tensor<?xf64>, %residual: tensor<?xf64>, %weight: tensor<?xf64>, %epsilon: f64 {xfuse.scalar}
  ) -> (tensor<?xf64>, tensor<?xf64>) attributes {element_types = [f16, bf16, f32, f64]} {
    %first = arith.constant 0 : index
    %n = tensor.dim %x, %first : tensor<?xf64>
    %row = tensor.empty(%n) : tensor<?xf64>
    %summed = linalg.generic {indexing_maps = [#row, #row, #row], iterator_types = ["parallel"]}
        ins(%x, %residual : tensor<?xf64>, tensor<?xf64>) outs(%row : tensor<?xf64>) {
    ^bb0(%x_i: f64, %residual_i: f64, %out: f64):
      %sum = arith.addf %x_i, %residual_i : f64
      linalg.yield %sum : f64
    } -> tensor<?xf64>
    %integer = arith.index_cast %n : index to i64
    %count = arith.sitofp %integer : i64 to f64
    %zero = arith.constant 0.0 : f64
    %empty_sum = tensor.splat %zero : tensor<f64>
    %squares_cell = linalg.generic {indexing_maps = [#row, #cell], iterator_types = ["reduction"]}
        ins(%summed : tensor<?xf64>) outs(%empty_sum : tensor<f64>) {
    ^bb0(%summed_i: f64, %partial: f64):
      %square = arith.mulf %summed_i, %summed_i : f64
      %sum = arith.addf %partial, %square : f64
      linalg.yield %sum : f64
    } -> tensor<f64>
    %squares = tensor.extract %squares_cell[] : tensor<f64>
    %mean_square = arith.divf %squares, %count : f64
    %shifted = arith.addf %mean_square, %epsilon : f64
    %scale = math.rsqrt %shifted : f64
    %y = linalg.generic {indexing_maps = [#row, #row, #row], iterator_types = ["parallel"]}
        ins(%summed, %weight : tensor<?xf64>, tensor<?xf64>) outs(%row : tensor<?xf64>) {
    ^bb0(%summed_i: f64, %weight_i: f64, %out: f64):
      %normalised = arith.mulf %summed_i, %scale : f64
      %scaled = arith.mulf %normalised, %weight_i : f64
      linalg.yield %scaled : f64
    } -> tensor<?xf64>
    xfuse.yield %summed, %y : tensor<?xf64>, tensor<?xf64>
  }

  xfuse.recipe @add_rms_norm_flax(
      %x: tensor<?xf64>, %residual: tensor<?xf64>, %weight: tensor<?xf64>, %epsilon: f64 {xfuse.scalar}
  ) -> (tensor<?xf64>, tensor<?xf64>) attributes {element_types = [f16, bf16, f32, f64]} {
    %first = arith.constant 0 : index
    %n = tensor.dim %x, %first : tensor<?xf64>
    %row = tensor.empty(%n) : tensor<?xf64>
    %summed = linalg.generic {indexing_maps = [#row, #row, #row], iterator_types = ["parallel"]}
        ins(%x, %residual : tensor<?xf64>, tensor<?xf64>) outs(%row : tensor<?xf64>) {
    ^bb0(%x_i: f64, %residual_i: f64, %out: f64):
      %sum = arith.addf %x_i, %residual_i : f64
      linalg.yield %sum : f64
    } -> tensor<?xf64>
    %integer = arith.index_cast %n : index to i64
    %count = arith.sitofp %integer : i64 to f64
    %zero = arith.constant 0.0 : f64
    %empty_sum = tensor.splat %zero : tensor<f64>
    %squares_cell = linalg.generic {indexing_maps = [#row, #cell], iterator_types = ["reduction"]}
        ins(%summed : tensor<?xf64>) outs(%empty_sum : tensor<f64>) {
    ^bb0(%summed_i: f64, %partial: f64):
      %square = arith.mulf %summed_i, %summed_i : f64
      %sum = arith.addf %partial, %square : f64
      linalg.yield %sum : f64
    } -> tensor<f64>
    %squares = tensor.extract %squares_cell[] : tensor<f64>
    %mean_square = arith.divf %squares, %count : f64
    %shifted = arith.addf %mean_square, %epsilon : f64
    %scale = math.rsqrt %shifted : f64
    %y = linalg.generic {indexing_maps = [#row, #row, #row], iterator_types = ["parallel"]}
        ins(%summed, %weight : tensor<?xf64>, tensor<?xf64>) outs(%row : tensor<?xf64>) {
    ^bb0(%summed_i: f64, %weight_i: f64, %out: f64):
      %factor = arith.mulf %scale, %weight_i : f64
      %scaled = arith.mulf %summed_i, %factor : f64
      linalg.yield %scaled : f64
    } -> tensor<?xf64>
    xfuse.yield %summed, %y : tensor<?xf64>, tensor<?xf64>
  }

  xfuse.recipe @add_rms_norm_torch(
      %x: tensor<?xf64>, %residual: tensor<?xf64>, %weight: tensor<?xf64>, %epsilon: f64 {xfuse.scalar}
  ) -> (tensor<?xf64>, tensor<?xf64>) attributes {element_types = [f16, bf16, f32, f64]} {
    %first = arith.constant 0 : index
    %n = tensor.dim %x, %first : tensor<?xf64>
    %row = tensor.empty(%n) : tensor<?xf64>
    %summed = linalg.generic {indexing_maps = [#row, #row, #row], iterator_types = ["parallel"]}
        ins(%x, %residual : tensor<?xf64>, tensor<?xf64>) outs(%row : tensor<?xf64>) {
    ^bb0(%x_i: f64, %residual_i: f64, %out: f64):
      %sum = arith.addf %x_i, %residual_i : f64
      linalg.yield %sum : f64
    } -> tensor<?xf64>
    %integer = arith.index_cast %n : index to i64
    %count = arith.sitofp %integer : i64 to f64
    %two = arith.constant 2 : i64
    %zero = arith.constant 0.0 : f64
    %empty_sum = tensor.splat %zero : tensor<f64>
    %squares_cell = linalg.generic {indexing_maps = [#row, #cell], iterator_types = ["reduction"]}
        ins(%summed : tensor<?xf64>) outs(%empty_sum : tensor<f64>) {
    ^bb0(%summed_i: f64, %partial: f64):
      %square = math.fpowi %summed_i, %two : f64, i64
      %sum = arith.addf %partial, %square : f64
      linalg.yield %sum : f64
    } -> tensor<f64>
    %squares = tensor.extract %squares_cell[] : tensor<f64>
    %mean_square = arith.divf %squares, %count : f64
    %shifted = arith.addf %mean_square, %epsilon : f64
    %scale = math.rsqrt %shifted : f64
    %y = linalg.generic {indexing_maps = [#row, #row, #row], iterator_types = ["parallel"]}
        ins(%summed, %weight : tensor<?xf64>, tensor<?xf64>) outs(%row : tensor<?xf64>) {
    ^bb0(%summed_i: f64, %weight_i: f64, %out: f64):
      %normalised = arith.mulf %summed_i, %scale : f64
      %scaled = arith.mulf %normalised, %weight_i : f64
      linalg.yield %scaled : f64
    } -> tensor<?xf64>
    xfuse.yield %summed, %y : tensor<?xf64>, tensor<?xf64>
  }

  xfuse.recipe @add_rms_norm_accumulating(
      %x: tensor<?xf64> {xfuse.accumulator = f32}, %residual: tensor<?xf64> {xfuse.accumulator = f32},
      %weight: tensor<?xf64> {xfuse.accumulator = f32}, %epsilon: f64 {xfuse.scalar, xfuse.accumulator = f32}
  ) -> (tensor<?xf64>, tensor<?xf64>) attributes {element_types = [f16, bf16, f32, f64]} {
    %first = arith.constant 0 : index
    %n = tensor.dim %x, %first : tensor<?xf64>
    %row = tensor.empty(%n) : tensor<?xf64>
    %summed = linalg.generic {indexing_maps = [#row, #row, #row], iterator_types = ["parallel"]}
        ins(%x, %residual : tensor<?xf64>, tensor<?xf64>) outs(%row : tensor<?xf64>) {
    ^bb0(%x_i: f64, %residual_i: f64, %out: f64):
      %sum = arith.addf %x_i, %residual_i : f64
      linalg.yield %sum : f64
    } -> tensor<?xf64>
    %integer = arith.index_cast %n : index to i64
    %count = arith.sitofp %integer : i64 to f64
    %zero = arith.constant 0.0 : f64
    %empty_sum = tensor.splat %zero : tensor<f64>
    %squares_cell = linalg.generic {indexing_maps = [#row, #cell], iterator_types = ["reduction"]}
        ins(%summed : tensor<?xf64>) outs(%empty_sum : tensor<f64>) {
    ^bb0(%summed_i: f64, %partial: f64):
      %square = arith.mulf %summed_i, %summed_i : f64
      %sum = arith.addf %partial, %square : f64
      linalg.yield %sum : f64
    } -> tensor<f64>
    %squares = tensor.extract %squares_cell[] : tensor<f64>
    %mean_square = arith.divf %squares, %count : f64
    %shifted = arith.addf %mean_square, %epsilon : f64
    %scale = math.rsqrt %shifted : f64
    %y = linalg.generic {indexing_maps = [#row, #row, #row], iterator_types = ["parallel"]}
        ins(%summed, %weight : tensor<?xf64>, tensor<?xf64>) outs(%row : tensor<?xf64>) {
    ^bb0(%summed_i: f64, %weight_i: f64, %out: f64):
      %normalised = arith.mulf %summed_i, %scale : f64
      %scaled = arith.mulf %normalised, %weight_i : f64
      linalg.yield %scaled : f64
    } -> tensor<?xf64>
    xfuse.yield %summed, %y : tensor<?xf64>, tensor<?xf64>
  }

  xfuse.recipe @add_rms_norm_mixed(
      %x: tensor<?xf16>, %residual: tensor<?xf16>, %weight: tensor<?xf16>, %epsilon: f32 {xfuse.scalar}
  ) -> (tensor<?xf16>, tensor<?xf16>) attributes {element_types = [f16, bf16]} {
    %first = arith.constant 0 : index
    %n = tensor.dim %x, %first : tensor<?xf16>
    %row = tensor.empty(%n) : tensor<?xf16>
    %summed = linalg.generic {indexing_maps = [#row, #row, #row], iterator_types = ["parallel"]}
        ins(%x, %residual : tensor<?xf16>, tensor<?xf16>) outs(%row : tensor<?xf16>) {
    ^bb0(%x_i: f16, %residual_i: f16, %out: f16):
      %sum = arith.addf %x_i, %residual_i : f16
      linalg.yield %sum : f16
    } -> tensor<?xf16>
    %row_1 = tensor.empty(%n) : tensor<?xf32>
    %wide = linalg.generic {indexing_maps = [#row, #row], iterator_types = ["parallel"]}
        ins(%summed : tensor<?xf16>) outs(%row_1 : tensor<?xf32>) {
    ^bb0(%summed_i: f16, %out: f32):
      %element = arith.extf %summed_i : f16 to f32
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
    %normalised = linalg.generic {indexing_maps = [#row, #row], iterator_types = ["parallel"]}
        ins(%wide : tensor<?xf32>) outs(%row : tensor<?xf16>) {
    ^bb0(%wide_i: f32, %out: f16):
      %product = arith.mulf %wide_i, %scale : f32
      %rounded = arith.truncf %product : f32 to f16
      linalg.yield %rounded : f16
    } -> tensor<?xf16>
    %y = linalg.generic {indexing_maps = [#row, #row, #row], iterator_types = ["parallel"]}
        ins(%normalised, %weight : tensor<?xf16>, tensor<?xf16>) outs(%row : tensor<?xf16>) {
    ^bb0(%normalised_i: f16, %weight_i: f16, %out: f16):
      %scaled = arith.mulf %normalised_i, %weight_i : f16
      linalg.yield %scaled : f16
    } -> tensor<?xf16>
    xfuse.yield %summed, %y : tensor<?xf16>, tensor<?xf16>
  }

  xfuse.recipe @add_rms_norm_torch_mixed(
      %x: tensor<?xf16>, %residual: tensor<?xf16>, %weight: tensor<?xf16>, %epsilon: f32 {xfuse.scalar}
  ) -> (tensor<?xf16>, tensor<?xf16>) attributes {element_types = [f16, bf16]} {
    %first = arith.constant 0 : index
    %n = tensor.dim %x, %first : tensor<?xf16>
    %row = tensor.empty(%n) : tensor<?xf16>
    %summed = linalg.generic {indexing_maps = [#row, #row, #row], iterator_types = ["parallel"]}
        ins(%x, %residual : tensor<?xf16>, tensor<?xf16>) outs(%row : tensor<?xf16>) {
    ^bb0(%x_i: f16, %residual_i: f16, %out: f16):
      %sum = arith.addf %x_i, %residual_i : f16
      linalg.yield %sum : f16
    } -> tensor<?xf16>
    %row_1 = tensor.empty(%n) : tensor<?xf32>
    %wide = linalg.generic {indexing_maps = [#row, #row], iterator_types = ["parallel"]}
        ins(%summed : tensor<?xf16>) outs(%row_1 : tensor<?xf32>) {
    ^bb0(%summed_i: f16, %out: f32):
      %element = arith.extf %summed_i : f16 to f32
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
    %normalised = linalg.generic {indexing_maps = [#row, #row], iterator_types = ["parallel"]}
        ins(%wide : tensor<?xf32>) outs(%row : tensor<?xf16>) {
    ^bb0(%wide_i: f32, %out: f16):
      %product = arith.mulf %wide_i, %scale : f32
      %rounded = arith.truncf %product : f32 to f16
      linalg.yield %rounded : f16
    } -> tensor<?xf16>
    %y = linalg.generic {indexing_maps = [#row, #row, #row], iterator_types = ["parallel"]}
        ins(%normalised, %weight : tensor<?xf16>, tensor<?xf16>) outs(%row : tensor<?xf16>) {
    ^bb0(%normalised_i: f16, %weight_i: f16, %out: f16):
      %scaled = arith.mulf %normalised_i, %weight_i : f16
      linalg.yield %scaled : f16
    } -> tensor<?xf16>
    xfuse.yield %summed, %y : tensor<?xf16>, tensor<?xf16>
  }
}
