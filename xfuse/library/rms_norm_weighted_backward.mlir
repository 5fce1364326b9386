// rms_norm_weighted_backward(x, weight, gradient) = rms_norm_backward(x, weight gradient)
//
// (n),(n),(n),()->(n). The gradient of the weight is a sum over rows: rms_norm_weight_backward.
//
// @rms_norm_weighted_backward               textbook
// @rms_norm_weighted_backward_terms         textbook, and the row's term gradient x scale of the gradient of the weight
// @rms_norm_weighted_backward_jax           JAX, of `x * rsqrt(mean(square(x)) + epsilon) * weight`
// @rms_norm_weighted_backward_accumulating  textbook, at no narrower a type than f32
#row = affine_map<(n) -> (n)>
#cell = affine_map<(n) -> ()>

xfuse.library @rms_norm_weighted_backward {
  xfuse.recipe @rms_norm_weighted_backward(
      %x: tensor<?xf64>, %weight: tensor<?xf64>, %gradient: tensor<?xf64>, %epsilon: f64 {xfuse.scalar}
  ) -> tensor<?xf64> attributes {element_types = [f16, bf16, f32, f64]} {
    %c0 = arith.constant 0 : index
    %n = tensor.dim %x, %c0 : tensor<?xf64>
    %count_integer = arith.index_cast %n : index to i64
    %count = arith.sitofp %count_integer : i64 to f64
    %zero = arith.constant 0.0 : f64
    %start = tensor.splat %zero : tensor<f64>
    %squares_cell = linalg.generic {indexing_maps = [#row, #cell], iterator_types = ["reduction"]}
        ins(%x : tensor<?xf64>) outs(%start : tensor<f64>) {
    ^bb0(%x_i: f64, %partial: f64):
      %product = arith.mulf %x_i, %x_i : f64
      %sum = arith.addf %partial, %product : f64
      linalg.yield %sum : f64
    } -> tensor<f64>
    %squares = tensor.extract %squares_cell[] : tensor<f64>
    %quotient = arith.divf %squares, %count : f64
    %shifted = arith.addf %quotient, %epsilon : f64
    %empty = tensor.empty(%n) : tensor<?xf64>
    %scaled = linalg.generic {indexing_maps = [#row, #row, #row], iterator_types = ["parallel"]}
        ins(%weight, %gradient : tensor<?xf64>, tensor<?xf64>) outs(%empty : tensor<?xf64>) {
    ^bb0(%weight_i: f64, %gradient_i: f64, %out: f64):
      %product = arith.mulf %weight_i, %gradient_i : f64
      linalg.yield %product : f64
    } -> tensor<?xf64>
    %scale = math.rsqrt %shifted : f64
    %projection_cell = linalg.generic {indexing_maps = [#row, #row, #cell], iterator_types = ["reduction"]}
        ins(%scaled, %x : tensor<?xf64>, tensor<?xf64>) outs(%start : tensor<f64>) {
    ^bb0(%scaled_i: f64, %x_i: f64, %partial: f64):
      %product = arith.mulf %scaled_i, %x_i : f64
      %sum = arith.addf %partial, %product : f64
      linalg.yield %sum : f64
    } -> tensor<f64>
    %projection = tensor.extract %projection_cell[] : tensor<f64>
    %product = arith.mulf %count, %shifted : f64
    %share = arith.divf %projection, %product : f64
    %result = linalg.generic {indexing_maps = [#row, #row, #row], iterator_types = ["parallel"]}
        ins(%scaled, %x : tensor<?xf64>, tensor<?xf64>) outs(%empty : tensor<?xf64>) {
    ^bb0(%scaled_i: f64, %x_i: f64, %out: f64):
      %product_1 = arith.mulf %x_i, %share : f64
      %difference = arith.subf %scaled_i, %product_1 : f64
      %product_2 = arith.mulf %scale, %difference : f64
      linalg.yield %product_2 : f64
    } -> tensor<?xf64>
    xfuse.yield %result : tensor<?xf64>
  }

  xfuse.recipe @rms_norm_weighted_backward_terms(
      %x: tensor<?xf64>, %weight: tensor<?xf64>, %gradient: tensor<?xf64>, %epsilon: f64 {xfuse.scalar}
  ) -> (tensor<?xf64>, tensor<?xf64>) attributes {element_types = [f16, bf16, f32, f64]} {
    %c0 = arith.constant 0 : index
    %n = tensor.dim %x, %c0 : tensor<?xf64>
    %count_integer = arith.index_cast %n : index to i64
    %count = arith.sitofp %count_integer : i64 to f64
    %zero = arith.constant 0.0 : f64
    %start = tensor.splat %zero : tensor<f64>
    %squares_cell = linalg.generic {indexing_maps = [#row, #cell], iterator_types = ["reduction"]}
        ins(%x : tensor<?xf64>) outs(%start : tensor<f64>) {
    ^bb0(%x_i: f64, %partial: f64):
      %product = arith.mulf %x_i, %x_i : f64
      %sum = arith.addf %partial, %product : f64
      linalg.yield %sum : f64
    } -> tensor<f64>
    %squares = tensor.extract %squares_cell[] : tensor<f64>
    %quotient = arith.divf %squares, %count : f64
    %shifted = arith.addf %quotient, %epsilon : f64
    %empty = tensor.empty(%n) : tensor<?xf64>
    %scaled = linalg.generic {indexing_maps = [#row, #row, #row], iterator_types = ["parallel"]}
        ins(%weight, %gradient : tensor<?xf64>, tensor<?xf64>) outs(%empty : tensor<?xf64>) {
    ^bb0(%weight_i: f64, %gradient_i: f64, %out: f64):
      %product = arith.mulf %weight_i, %gradient_i : f64
      linalg.yield %product : f64
    } -> tensor<?xf64>
    %scale = math.rsqrt %shifted : f64
    %projection_cell = linalg.generic {indexing_maps = [#row, #row, #cell], iterator_types = ["reduction"]}
        ins(%scaled, %x : tensor<?xf64>, tensor<?xf64>) outs(%start : tensor<f64>) {
    ^bb0(%scaled_i: f64, %x_i: f64, %partial: f64):
      %product = arith.mulf %scaled_i, %x_i : f64
      %sum = arith.addf %partial, %product : f64
      linalg.yield %sum : f64
    } -> tensor<f64>
    %projection = tensor.extract %projection_cell[] : tensor<f64>
    %product = arith.mulf %count, %shifted : f64
    %share = arith.divf %projection, %product : f64
    %result = linalg.generic {indexing_maps = [#row, #row, #row], iterator_types = ["parallel"]}
        ins(%scaled, %x : tensor<?xf64>, tensor<?xf64>) outs(%empty : tensor<?xf64>) {
    ^bb0(%scaled_i: f64, %x_i: f64, %out: f64):
      %product_1 = arith.mulf %x_i, %share : f64
      %difference = arith.subf %scaled_i, %product_1 : f64
      %product_2 = arith.mulf %scale, %difference : f64
      linalg.yield %product_2 : f64
    } -> tensor<?xf64>
    %term = linalg.generic {indexing_maps = [#row, #row, #row], iterator_types = ["parallel"]}
        ins(%gradient, %x : tensor<?xf64>, tensor<?xf64>) outs(%empty : tensor<?xf64>) {
    ^bb0(%gradient_i: f64, %x_i: f64, %out: f64):
      %product_1 = arith.mulf %x_i, %scale : f64
      %product_2 = arith.mulf %gradient_i, %product_1 : f64
      linalg.yield %product_2 : f64
    } -> tensor<?xf64>
    xfuse.yield %result, %term : tensor<?xf64>, tensor<?xf64>
  }

  xfuse.recipe @rms_norm_weighted_backward_jax(
      %x: tensor<?xf64>, %weight: tensor<?xf64>, %gradient: tensor<?xf64>, %epsilon: f64 {xfuse.scalar}
  ) -> tensor<?xf64> attributes {element_types = [f16, bf16, f32, f64]} {
    %c0 = arith.constant 0 : index
    %n = tensor.dim %x, %c0 : tensor<?xf64>
    %count_integer = arith.index_cast %n : index to i64
    %count = arith.sitofp %count_integer : i64 to f64
    %zero = arith.constant 0.0 : f64
    %start = tensor.splat %zero : tensor<f64>
    %squares_cell = linalg.generic {indexing_maps = [#row, #cell], iterator_types = ["reduction"]}
        ins(%x : tensor<?xf64>) outs(%start : tensor<f64>) {
    ^bb0(%x_i: f64, %partial: f64):
      %product = arith.mulf %x_i, %x_i : f64
      %sum = arith.addf %partial, %product : f64
      linalg.yield %sum : f64
    } -> tensor<f64>
    %squares = tensor.extract %squares_cell[] : tensor<f64>
    %quotient = arith.divf %squares, %count : f64
    %shifted = arith.addf %quotient, %epsilon : f64
    %empty = tensor.empty(%n) : tensor<?xf64>
    %scaled = linalg.generic {indexing_maps = [#row, #row, #row], iterator_types = ["parallel"]}
        ins(%weight, %gradient : tensor<?xf64>, tensor<?xf64>) outs(%empty : tensor<?xf64>) {
    ^bb0(%weight_i: f64, %gradient_i: f64, %out: f64):
      %product = arith.mulf %weight_i, %gradient_i : f64
      linalg.yield %product : f64
    } -> tensor<?xf64>
    %scale = math.rsqrt %shifted : f64
    %projection_cell = linalg.generic {indexing_maps = [#row, #row, #cell], iterator_types = ["reduction"]}
        ins(%scaled, %x : tensor<?xf64>, tensor<?xf64>) outs(%start : tensor<f64>) {
    ^bb0(%scaled_i: f64, %x_i: f64, %partial: f64):
      %product = arith.mulf %scaled_i, %x_i : f64
      %sum = arith.addf %partial, %product : f64
      linalg.yield %sum : f64
    } -> tensor<f64>
    %projection = tensor.extract %projection_cell[] : tensor<f64>
    %negative_half = arith.constant -0.5 : f64
    %quotient_1 = arith.divf %scale, %shifted : f64
    %slope = arith.mulf %quotient_1, %negative_half : f64
    %product = arith.mulf %projection, %slope : f64
    %pull_alone = arith.divf %product, %count : f64
    %pull_kept = tensor.from_elements %pull_alone : tensor<1xf64>
    %pull_cell = linalg.generic {indexing_maps = [#row, #cell], iterator_types = ["reduction"]}
        ins(%pull_kept : tensor<1xf64>) outs(%start : tensor<f64>) {
    ^bb0(%alone: f64, %partial: f64):
      %sum = arith.addf %partial, %alone : f64
      linalg.yield %sum : f64
    } -> tensor<f64>
    %pull = tensor.extract %pull_cell[] : tensor<f64>
    %two = arith.constant 2.0 : f64
    %result = linalg.generic {indexing_maps = [#row, #row, #row], iterator_types = ["parallel"]}
        ins(%scaled, %x : tensor<?xf64>, tensor<?xf64>) outs(%empty : tensor<?xf64>) {
    ^bb0(%scaled_i: f64, %x_i: f64, %out: f64):
      %product_1 = arith.mulf %scaled_i, %scale : f64
      %product_2 = arith.mulf %x_i, %two : f64
      %product_3 = arith.mulf %product_2, %pull : f64
      %sum = arith.addf %product_1, %product_3 : f64
      linalg.yield %sum : f64
    } -> tensor<?xf64>
    xfuse.yield %result : tensor<?xf64>
  }

  xfuse.recipe @rms_norm_weighted_backward_accumulating(
      %x: tensor<?xf64> {xfuse.accumulator = f32}, %weight: tensor<?xf64> {xfuse.accumulator = f32},
      %gradient: tensor<?xf64> {xfuse.accumulator = f32}, %epsilon: f64 {xfuse.scalar, xfuse.accumulator = f32}
  ) -> tensor<?xf64> attributes {element_types = [f16, bf16, f32, f64]} {
    %c0 = arith.constant 0 : index
    %n = tensor.dim %x, %c0 : tensor<?xf64>
    %count_integer = arith.index_cast %n : index to i64
    %count = arith.sitofp %count_integer : i64 to f64
    %zero = arith.constant 0.0 : f64
    %start = tensor.splat %zero : tensor<f64>
    %squares_cell = linalg.generic {indexing_maps = [#row, #cell], iterator_types = ["reduction"]}
        ins(%x : tensor<?xf64>) outs(%start : tensor<f64>) {
    ^bb0(%x_i: f64, %partial: f64):
      %product = arith.mulf %x_i, %x_i : f64
      %sum = arith.addf %partial, %product : f64
      linalg.yield %sum : f64
    } -> tensor<f64>
    %squares = tensor.extract %squares_cell[] : tensor<f64>
    %quotient = arith.divf %squares, %count : f64
    %shifted = arith.addf %quotient, %epsilon : f64
    %empty = tensor.empty(%n) : tensor<?xf64>
    %scaled = linalg.generic {indexing_maps = [#row, #row, #row], iterator_types = ["parallel"]}
        ins(%weight, %gradient : tensor<?xf64>, tensor<?xf64>) outs(%empty : tensor<?xf64>) {
    ^bb0(%weight_i: f64, %gradient_i: f64, %out: f64):
      %product = arith.mulf %weight_i, %gradient_i : f64
      linalg.yield %product : f64
    } -> tensor<?xf64>
    %scale = math.rsqrt %shifted : f64
    %projection_cell = linalg.generic {indexing_maps = [#row, #row, #cell], iterator_types = ["reduction"]}
        ins(%scaled, %x : tensor<?xf64>, tensor<?xf64>) outs(%start : tensor<f64>) {
    ^bb0(%scaled_i: f64, %x_i: f64, %partial: f64):
      %product = arith.mulf %scaled_i, %x_i : f64
      %sum = arith.addf %partial, %product : f64
      linalg.yield %sum : f64
    } -> tensor<f64>
    %projection = tensor.extract %projection_cell[] : tensor<f64>
    %product = arith.mulf %count, %shifted : f64
    %share = arith.divf %projection, %product : f64
    %result = linalg.generic {indexing_maps = [#row, #row, #row], iterator_types = ["parallel"]}
        ins(%scaled, %x : tensor<?xf64>, tensor<?xf64>) outs(%empty : tensor<?xf64>) {
    ^bb0(%scaled_i: f64, %x_i: f64, %out: f64):
      %product_1 = arith.mulf %x_i, %share : f64
      %difference = arith.subf %scaled_i, %product_1 : f64
      %product_2 = arith.mulf %scale, %difference : f64
      linalg.yield %product_2 : f64
    } -> tensor<?xf64>
    xfuse.yield %result : tensor<?xf64>
  }
}
