// rms_norm_backward(x, gradient) = scale (gradient - x sum(gradient x) / (n (mean(x^2) + epsilon)))
//
// (n),(n),()->(n), of scale = 1 / sqrt(mean(x^2) + epsilon). Zhang and Sennrich, "Root mean square layer
// normalization", arXiv:1910.07467.
//
// @rms_norm_backward               textbook
// @rms_norm_backward_jax           JAX, of `x * rsqrt(mean(square(x)) + epsilon)`; the weight of x is added over an
//                                  axis of extent one
// @rms_norm_backward_jax_sqrt      JAX, of `x / sqrt(mean(x * x) + epsilon)`
// @rms_norm_backward_accumulating  textbook, at no narrower a type than f32
#row = affine_map<(n) -> (n)>
#cell = affine_map<(n) -> ()>

xfuse.library @rms_norm_backward {
  xfuse.recipe @rms_norm_backward(
      %x: tensor<?xf64>, %gradient: tensor<?xf64>, %epsilon: f64 {xfuse.scalar}
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
    %scale = math.rsqrt %shifted : f64
    %projection_cell = linalg.generic {indexing_maps = [#row, #row, #cell], iterator_types = ["reduction"]}
        ins(%gradient, %x : tensor<?xf64>, tensor<?xf64>) outs(%start : tensor<f64>) {
    ^bb0(%gradient_i: f64, %x_i: f64, %partial: f64):
      %product = arith.mulf %gradient_i, %x_i : f64
      %sum = arith.addf %partial, %product : f64
      linalg.yield %sum : f64
    } -> tensor<f64>
    %projection = tensor.extract %projection_cell[] : tensor<f64>
    %product = arith.mulf %count, %shifted : f64
    %share = arith.divf %projection, %product : f64
    %empty = tensor.empty(%n) : tensor<?xf64>
    %result = linalg.generic {indexing_maps = [#row, #row, #row], iterator_types = ["parallel"]}
        ins(%gradient, %x : tensor<?xf64>, tensor<?xf64>) outs(%empty : tensor<?xf64>) {
    ^bb0(%gradient_i: f64, %x_i: f64, %out: f64):
      %product_1 = arith.mulf %x_i, %share : f64
      %difference = arith.subf %gradient_i, %product_1 : f64
      %product_2 = arith.mulf %scale, %difference : f64
      linalg.yield %product_2 : f64
    } -> tensor<?xf64>
    xfuse.yield %result : tensor<?xf64>
  }

  xfuse.recipe @rms_norm_backward_jax(
      %x: tensor<?xf64>, %gradient: tensor<?xf64>, %epsilon: f64 {xfuse.scalar}
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
    %scale = math.rsqrt %shifted : f64
    %projection_cell = linalg.generic {indexing_maps = [#row, #row, #cell], iterator_types = ["reduction"]}
        ins(%gradient, %x : tensor<?xf64>, tensor<?xf64>) outs(%start : tensor<f64>) {
    ^bb0(%gradient_i: f64, %x_i: f64, %partial: f64):
      %product = arith.mulf %gradient_i, %x_i : f64
      %sum = arith.addf %partial, %product : f64
      linalg.yield %sum : f64
    } -> tensor<f64>
    %projection = tensor.extract %projection_cell[] : tensor<f64>
    %negative_half = arith.constant -0.5 : f64
    %quotient_1 = arith.divf %scale, %shifted : f64
    %slope = arith.mulf %quotient_1, %negative_half : f64
    %product = arith.mulf %projection, %slope : f64
    %weight_alone = arith.divf %product, %count : f64
    %weight_kept = tensor.from_elements %weight_alone : tensor<1xf64>
    %weight_cell = linalg.generic {indexing_maps = [#row, #cell], iterator_types = ["reduction"]}
        ins(%weight_kept : tensor<1xf64>) outs(%start : tensor<f64>) {
    ^bb0(%alone: f64, %partial: f64):
      %sum = arith.addf %partial, %alone : f64
      linalg.yield %sum : f64
    } -> tensor<f64>
    %weight = tensor.extract %weight_cell[] : tensor<f64>
    %two = arith.constant 2.0 : f64
    %empty = tensor.empty(%n) : tensor<?xf64>
    %result = linalg.generic {indexing_maps = [#row, #row, #row], iterator_types = ["parallel"]}
        ins(%gradient, %x : tensor<?xf64>, tensor<?xf64>) outs(%empty : tensor<?xf64>) {
    ^bb0(%gradient_i: f64, %x_i: f64, %out: f64):
      %product_1 = arith.mulf %gradient_i, %scale : f64
      %product_2 = arith.mulf %x_i, %two : f64
      %product_3 = arith.mulf %product_2, %weight : f64
      %sum = arith.addf %product_1, %product_3 : f64
      linalg.yield %sum : f64
    } -> tensor<?xf64>
    xfuse.yield %result : tensor<?xf64>
  }

  xfuse.recipe @rms_norm_backward_jax_sqrt(
      %x: tensor<?xf64>, %gradient: tensor<?xf64>, %epsilon: f64 {xfuse.scalar}
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
    %root = math.sqrt %shifted : f64
    %one = arith.constant 1.0 : f64
    %product = arith.mulf %root, %root : f64
    %inverse_square = arith.divf %one, %product : f64
    %projection_cell = linalg.generic {indexing_maps = [#row, #row, #cell], iterator_types = ["reduction"]}
        ins(%gradient, %x : tensor<?xf64>, tensor<?xf64>) outs(%start : tensor<f64>) {
    ^bb0(%gradient_i: f64, %x_i: f64, %partial: f64):
      %product_1 = arith.mulf %gradient_i, %inverse_square : f64
      %product_2 = arith.mulf %product_1, %x_i : f64
      %sum = arith.addf %partial, %product_2 : f64
      linalg.yield %sum : f64
    } -> tensor<f64>
    %projection = tensor.extract %projection_cell[] : tensor<f64>
    %half = arith.constant 0.5 : f64
    %half_slope = arith.divf %half, %root : f64
    %negative = arith.negf %projection : f64
    %product_1 = arith.mulf %negative, %half_slope : f64
    %weight_alone = arith.divf %product_1, %count : f64
    %weight_kept = tensor.from_elements %weight_alone : tensor<1xf64>
    %weight_cell = linalg.generic {indexing_maps = [#row, #cell], iterator_types = ["reduction"]}
        ins(%weight_kept : tensor<1xf64>) outs(%start : tensor<f64>) {
    ^bb0(%alone: f64, %partial: f64):
      %sum = arith.addf %partial, %alone : f64
      linalg.yield %sum : f64
    } -> tensor<f64>
    %weight = tensor.extract %weight_cell[] : tensor<f64>
    %empty = tensor.empty(%n) : tensor<?xf64>
    %pulled = linalg.generic {indexing_maps = [#row, #row], iterator_types = ["parallel"]}
        ins(%x : tensor<?xf64>) outs(%empty : tensor<?xf64>) {
    ^bb0(%x_i: f64, %out: f64):
      %product_2 = arith.mulf %x_i, %weight : f64
      linalg.yield %product_2 : f64
    } -> tensor<?xf64>
    %result = linalg.generic {indexing_maps = [#row, #row, #row], iterator_types = ["parallel"]}
        ins(%pulled, %gradient : tensor<?xf64>, tensor<?xf64>) outs(%empty : tensor<?xf64>) {
    ^bb0(%pulled_i: f64, %gradient_i: f64, %out: f64):
      %quotient_1 = arith.divf %gradient_i, %root : f64
      %sum = arith.addf %pulled_i, %quotient_1 : f64
      %sum_1 = arith.addf %pulled_i, %sum : f64
      linalg.yield %sum_1 : f64
    } -> tensor<?xf64>
    xfuse.yield %result : tensor<?xf64>
  }

  xfuse.recipe @rms_norm_backward_accumulating(
      %x: tensor<?xf64> {xfuse.accumulator = f32}, %gradient: tensor<?xf64> {xfuse.accumulator = f32},
      %epsilon: f64 {xfuse.scalar, xfuse.accumulator = f32}
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
    %scale = math.rsqrt %shifted : f64
    %projection_cell = linalg.generic {indexing_maps = [#row, #row, #cell], iterator_types = ["reduction"]}
        ins(%gradient, %x : tensor<?xf64>, tensor<?xf64>) outs(%start : tensor<f64>) {
    ^bb0(%gradient_i: f64, %x_i: f64, %partial: f64):
      %product = arith.mulf %gradient_i, %x_i : f64
      %sum = arith.addf %partial, %product : f64
      linalg.yield %sum : f64
    } -> tensor<f64>
    %projection = tensor.extract %projection_cell[] : tensor<f64>
    %product = arith.mulf %count, %shifted : f64
    %share = arith.divf %projection, %product : f64
    %empty = tensor.empty(%n) : tensor<?xf64>
    %result = linalg.generic {indexing_maps = [#row, #row, #row], iterator_types = ["parallel"]}
        ins(%gradient, %x : tensor<?xf64>, tensor<?xf64>) outs(%empty : tensor<?xf64>) {
    ^bb0(%gradient_i: f64, %x_i: f64, %out: f64):
      %product_1 = arith.mulf %x_i, %share : f64
      %difference = arith.subf %gradient_i, %product_1 : f64
      %product_2 = arith.mulf %scale, %difference : f64
      linalg.yield %product_2 : f64
    } -> tensor<?xf64>
    xfuse.yield %result : tensor<?xf64>
  }
}
