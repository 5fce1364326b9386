// layer_norm_backward(x, gradient) = scale (gradient - mean(gradient) - normal mean(gradient normal))
//
// (n),(n),()->(n), of normal = (x - mean(x)) scale and scale = 1 / sqrt(var(x) + epsilon), the variance divided by n.
// Ba, Kiros and Hinton, "Layer normalization", arXiv:1607.06450.
//
// @layer_norm_backward               textbook
// @layer_norm_backward_saved         textbook with the mean and the scale that the forward pass has kept
// @layer_norm_backward_torch         PyTorch (`native_layer_norm_backward`), mean and scale kept: (scale / n) (n
//                                    gradient - sum(gradient) - normal sum(gradient normal))
// @layer_norm_backward_jax           JAX, of `(x - m) * rsqrt(mean(square(x - m)) + epsilon)`, m = mean(x); what was
//                                    broadcast is summed over an axis of extent one
// @layer_norm_backward_jax_shared    JAX, of `d * rsqrt(mean(square(d)) + epsilon)`, d = x - m: the gradients of d are
//                                    added first
// @layer_norm_backward_jax_var       JAX, of `(x - m) * rsqrt(var(x) + epsilon)`
// @layer_norm_backward_jax_sqrt      JAX, of `d / sqrt(mean(d * d) + epsilon)`
// @layer_norm_backward_accumulating  textbook, at no narrower a type than f32
#row = affine_map<(n) -> (n)>
#cell = affine_map<(n) -> ()>

xfuse.library @layer_norm_backward {
  xfuse.recipe @layer_norm_backward(
      %x: tensor<?xf64>, %gradient: tensor<?xf64>, %epsilon: f64 {xfuse.scalar}
  ) -> tensor<?xf64> attributes {element_types = [f16, bf16, f32, f64]} {
    %c0 = arith.constant 0 : index
    %n = tensor.dim %x, %c0 : tensor<?xf64>
    %count_integer = arith.index_cast %n : index to i64
    %count = arith.sitofp %count_integer : i64 to f64
    %zero = arith.constant 0.0 : f64
    %start = tensor.splat %zero : tensor<f64>
    %sum_cell = linalg.generic {indexing_maps = [#row, #cell], iterator_types = ["reduction"]}
        ins(%x : tensor<?xf64>) outs(%start : tensor<f64>) {
    ^bb0(%x_i: f64, %partial: f64):
      %sum = arith.addf %partial, %x_i : f64
      linalg.yield %sum : f64
    } -> tensor<f64>
    %sum = tensor.extract %sum_cell[] : tensor<f64>
    %mean = arith.divf %sum, %count : f64
    %empty = tensor.empty(%n) : tensor<?xf64>
    %centred = linalg.generic {indexing_maps = [#row, #row], iterator_types = ["parallel"]}
        ins(%x : tensor<?xf64>) outs(%empty : tensor<?xf64>) {
    ^bb0(%x_i: f64, %out: f64):
      %difference = arith.subf %x_i, %mean : f64
      linalg.yield %difference : f64
    } -> tensor<?xf64>
    %squares_cell = linalg.generic {indexing_maps = [#row, #cell], iterator_types = ["reduction"]}
        ins(%centred : tensor<?xf64>) outs(%start : tensor<f64>) {
    ^bb0(%centred_i: f64, %partial: f64):
      %product = arith.mulf %centred_i, %centred_i : f64
      %sum_1 = arith.addf %partial, %product : f64
      linalg.yield %sum_1 : f64
    } -> tensor<f64>
    %squares = tensor.extract %squares_cell[] : tensor<f64>
    %variance = arith.divf %squares, %count : f64
    %shifted = arith.addf %variance, %epsilon : f64
    %scale = math.rsqrt %shifted : f64
    %sum_gradient_cell = linalg.generic {indexing_maps = [#row, #cell], iterator_types = ["reduction"]}
        ins(%gradient : tensor<?xf64>) outs(%start : tensor<f64>) {
    ^bb0(%gradient_i: f64, %partial: f64):
      %sum_1 = arith.addf %partial, %gradient_i : f64
      linalg.yield %sum_1 : f64
    } -> tensor<f64>
    %sum_gradient = tensor.extract %sum_gradient_cell[] : tensor<f64>
    %mean_gradient = arith.divf %sum_gradient, %count : f64
    %normal = linalg.generic {indexing_maps = [#row, #row], iterator_types = ["parallel"]}
        ins(%centred : tensor<?xf64>) outs(%empty : tensor<?xf64>) {
    ^bb0(%centred_i: f64, %out: f64):
      %product = arith.mulf %centred_i, %scale : f64
      linalg.yield %product : f64
    } -> tensor<?xf64>
    %projection_cell = linalg.generic {indexing_maps = [#row, #row, #cell], iterator_types = ["reduction"]}
        ins(%gradient, %normal : tensor<?xf64>, tensor<?xf64>) outs(%start : tensor<f64>) {
    ^bb0(%gradient_i: f64, %normal_i: f64, %partial: f64):
      %product = arith.mulf %gradient_i, %normal_i : f64
      %sum_1 = arith.addf %partial, %product : f64
      linalg.yield %sum_1 : f64
    } -> tensor<f64>
    %projection = tensor.extract %projection_cell[] : tensor<f64>
    %mean_projection = arith.divf %projection, %count : f64
    %result = linalg.generic {indexing_maps = [#row, #row, #row], iterator_types = ["parallel"]}
        ins(%gradient, %normal : tensor<?xf64>, tensor<?xf64>) outs(%empty : tensor<?xf64>) {
    ^bb0(%gradient_i: f64, %normal_i: f64, %out: f64):
      %difference = arith.subf %gradient_i, %mean_gradient : f64
      %product = arith.mulf %normal_i, %mean_projection : f64
      %difference_1 = arith.subf %difference, %product : f64
      %product_1 = arith.mulf %scale, %difference_1 : f64
      linalg.yield %product_1 : f64
    } -> tensor<?xf64>
    xfuse.yield %result : tensor<?xf64>
  }

  xfuse.recipe @layer_norm_backward_saved(
      %x: tensor<?xf64>, %gradient: tensor<?xf64>, %mean: f64, %scale: f64
  ) -> tensor<?xf64> attributes {element_types = [f16, bf16, f32, f64]} {
    %c0 = arith.constant 0 : index
    %n = tensor.dim %x, %c0 : tensor<?xf64>
    %count_integer = arith.index_cast %n : index to i64
    %count = arith.sitofp %count_integer : i64 to f64
    %empty = tensor.empty(%n) : tensor<?xf64>
    %normal = linalg.generic {indexing_maps = [#row, #row], iterator_types = ["parallel"]}
        ins(%x : tensor<?xf64>) outs(%empty : tensor<?xf64>) {
    ^bb0(%x_i: f64, %out: f64):
      %difference = arith.subf %x_i, %mean : f64
      %product = arith.mulf %difference, %scale : f64
      linalg.yield %product : f64
    } -> tensor<?xf64>
    %zero = arith.constant 0.0 : f64
    %start = tensor.splat %zero : tensor<f64>
    %sum_gradient_cell = linalg.generic {indexing_maps = [#row, #cell], iterator_types = ["reduction"]}
        ins(%gradient : tensor<?xf64>) outs(%start : tensor<f64>) {
    ^bb0(%gradient_i: f64, %partial: f64):
      %sum = arith.addf %partial, %gradient_i : f64
      linalg.yield %sum : f64
    } -> tensor<f64>
    %sum_gradient = tensor.extract %sum_gradient_cell[] : tensor<f64>
    %mean_gradient = arith.divf %sum_gradient, %count : f64
    %projection_cell = linalg.generic {indexing_maps = [#row, #row, #cell], iterator_types = ["reduction"]}
        ins(%gradient, %normal : tensor<?xf64>, tensor<?xf64>) outs(%start : tensor<f64>) {
    ^bb0(%gradient_i: f64, %normal_i: f64, %partial: f64):
      %product = arith.mulf %gradient_i, %normal_i : f64
      %sum = arith.addf %partial, %product : f64
      linalg.yield %sum : f64
    } -> tensor<f64>
    %projection = tensor.extract %projection_cell[] : tensor<f64>
    %mean_projection = arith.divf %projection, %count : f64
    %result = linalg.generic {indexing_maps = [#row, #row, #row], iterator_types = ["parallel"]}
        ins(%gradient, %normal : tensor<?xf64>, tensor<?xf64>) outs(%empty : tensor<?xf64>) {
    ^bb0(%gradient_i: f64, %normal_i: f64, %out: f64):
      %difference = arith.subf %gradient_i, %mean_gradient : f64
      %product = arith.mulf %normal_i, %mean_projection : f64
      %difference_1 = arith.subf %difference, %product : f64
      %product_1 = arith.mulf %scale, %difference_1 : f64
      linalg.yield %product_1 : f64
    } -> tensor<?xf64>
    xfuse.yield %result : tensor<?xf64>
  }

  xfuse.recipe @layer_norm_backward_torch(
      %x: tensor<?xf64>, %gradient: tensor<?xf64>, %mean: f64, %scale: f64
  ) -> tensor<?xf64> attributes {element_types = [f16, bf16, f32, f64]} {
    %c0 = arith.constant 0 : index
    %n = tensor.dim %x, %c0 : tensor<?xf64>
    %count_integer = arith.index_cast %n : index to i64
    %count = arith.sitofp %count_integer : i64 to f64
    %empty = tensor.empty(%n) : tensor<?xf64>
    %normal = linalg.generic {indexing_maps = [#row, #row], iterator_types = ["parallel"]}
        ins(%x : tensor<?xf64>) outs(%empty : tensor<?xf64>) {
    ^bb0(%x_i: f64, %out: f64):
      %difference = arith.subf %x_i, %mean : f64
      %product = arith.mulf %difference, %scale : f64
      linalg.yield %product : f64
    } -> tensor<?xf64>
    %zero = arith.constant 0.0 : f64
    %start = tensor.splat %zero : tensor<f64>
    %sum_gradient_cell = linalg.generic {indexing_maps = [#row, #cell], iterator_types = ["reduction"]}
        ins(%gradient : tensor<?xf64>) outs(%start : tensor<f64>) {
    ^bb0(%gradient_i: f64, %partial: f64):
      %sum = arith.addf %partial, %gradient_i : f64
      linalg.yield %sum : f64
    } -> tensor<f64>
    %sum_gradient = tensor.extract %sum_gradient_cell[] : tensor<f64>
    %projection_cell = linalg.generic {indexing_maps = [#row, #row, #cell], iterator_types = ["reduction"]}
        ins(%gradient, %normal : tensor<?xf64>, tensor<?xf64>) outs(%start : tensor<f64>) {
    ^bb0(%gradient_i: f64, %normal_i: f64, %partial: f64):
      %product = arith.mulf %gradient_i, %normal_i : f64
      %sum = arith.addf %partial, %product : f64
      linalg.yield %sum : f64
    } -> tensor<f64>
    %projection = tensor.extract %projection_cell[] : tensor<f64>
    %share = arith.divf %scale, %count : f64
    %result = linalg.generic {indexing_maps = [#row, #row, #row], iterator_types = ["parallel"]}
        ins(%gradient, %normal : tensor<?xf64>, tensor<?xf64>) outs(%empty : tensor<?xf64>) {
    ^bb0(%gradient_i: f64, %normal_i: f64, %out: f64):
      %product = arith.mulf %gradient_i, %count : f64
      %difference = arith.subf %product, %sum_gradient : f64
      %product_1 = arith.mulf %normal_i, %projection : f64
      %difference_1 = arith.subf %difference, %product_1 : f64
      %product_2 = arith.mulf %share, %difference_1 : f64
      linalg.yield %product_2 : f64
    } -> tensor<?xf64>
    xfuse.yield %result : tensor<?xf64>
  }

  xfuse.recipe @layer_norm_backward_jax(
      %x: tensor<?xf64>, %gradient: tensor<?xf64>, %epsilon: f64 {xfuse.scalar}
  ) -> tensor<?xf64> attributes {element_types = [f16, bf16, f32, f64]} {
    %c0 = arith.constant 0 : index
    %n = tensor.dim %x, %c0 : tensor<?xf64>
    %count_integer = arith.index_cast %n : index to i64
    %count = arith.sitofp %count_integer : i64 to f64
    %zero = arith.constant 0.0 : f64
    %start = tensor.splat %zero : tensor<f64>
    %sum_cell = linalg.generic {indexing_maps = [#row, #cell], iterator_types = ["reduction"]}
        ins(%x : tensor<?xf64>) outs(%start : tensor<f64>) {
    ^bb0(%x_i: f64, %partial: f64):
      %sum = arith.addf %partial, %x_i : f64
      linalg.yield %sum : f64
    } -> tensor<f64>
    %sum = tensor.extract %sum_cell[] : tensor<f64>
    %mean = arith.divf %sum, %count : f64
    %empty = tensor.empty(%n) : tensor<?xf64>
    %centred = linalg.generic {indexing_maps = [#row, #row], iterator_types = ["parallel"]}
        ins(%x : tensor<?xf64>) outs(%empty : tensor<?xf64>) {
    ^bb0(%x_i: f64, %out: f64):
      %difference = arith.subf %x_i, %mean : f64
      linalg.yield %difference : f64
    } -> tensor<?xf64>
    %squares_cell = linalg.generic {indexing_maps = [#row, #cell], iterator_types = ["reduction"]}
        ins(%centred : tensor<?xf64>) outs(%start : tensor<f64>) {
    ^bb0(%centred_i: f64, %partial: f64):
      %product = arith.mulf %centred_i, %centred_i : f64
      %sum_1 = arith.addf %partial, %product : f64
      linalg.yield %sum_1 : f64
    } -> tensor<f64>
    %squares = tensor.extract %squares_cell[] : tensor<f64>
    %variance = arith.divf %squares, %count : f64
    %shifted = arith.addf %variance, %epsilon : f64
    %scale = math.rsqrt %shifted : f64
    %direct = linalg.generic {indexing_maps = [#row, #row], iterator_types = ["parallel"]}
        ins(%gradient : tensor<?xf64>) outs(%empty : tensor<?xf64>) {
    ^bb0(%gradient_i: f64, %out: f64):
      %product = arith.mulf %gradient_i, %scale : f64
      linalg.yield %product : f64
    } -> tensor<?xf64>
    %projection_cell = linalg.generic {indexing_maps = [#row, #row, #cell], iterator_types = ["reduction"]}
        ins(%gradient, %centred : tensor<?xf64>, tensor<?xf64>) outs(%start : tensor<f64>) {
    ^bb0(%gradient_i: f64, %centred_i: f64, %partial: f64):
      %product = arith.mulf %gradient_i, %centred_i : f64
      %sum_1 = arith.addf %partial, %product : f64
      linalg.yield %sum_1 : f64
    } -> tensor<f64>
    %projection = tensor.extract %projection_cell[] : tensor<f64>
    %negative_half = arith.constant -0.5 : f64
    %quotient = arith.divf %scale, %shifted : f64
    %slope = arith.mulf %quotient, %negative_half : f64
    %product = arith.mulf %projection, %slope : f64
    %weight_alone = arith.divf %product, %count : f64
    %weight_kept = tensor.from_elements %weight_alone : tensor<1xf64>
    %weight_cell = linalg.generic {indexing_maps = [#row, #cell], iterator_types = ["reduction"]}
        ins(%weight_kept : tensor<1xf64>) outs(%start : tensor<f64>) {
    ^bb0(%alone: f64, %partial: f64):
      %sum_1 = arith.addf %partial, %alone : f64
      linalg.yield %sum_1 : f64
    } -> tensor<f64>
    %weight = tensor.extract %weight_cell[] : tensor<f64>
    %two = arith.constant 2.0 : f64
    %through_variance = linalg.generic {indexing_maps = [#row, #row], iterator_types = ["parallel"]}
        ins(%centred : tensor<?xf64>) outs(%empty : tensor<?xf64>) {
    ^bb0(%centred_i: f64, %out: f64):
      %product_1 = arith.mulf %centred_i, %two : f64
      %product_2 = arith.mulf %product_1, %weight : f64
      linalg.yield %product_2 : f64
    } -> tensor<?xf64>
    %direct_sum_cell = linalg.generic {indexing_maps = [#row, #cell], iterator_types = ["reduction"]}
        ins(%direct : tensor<?xf64>) outs(%start : tensor<f64>) {
    ^bb0(%direct_i: f64, %partial: f64):
      %negative = arith.negf %direct_i : f64
      %sum_1 = arith.addf %partial, %negative : f64
      linalg.yield %sum_1 : f64
    } -> tensor<f64>
    %direct_sum = tensor.extract %direct_sum_cell[] : tensor<f64>
    %variance_sum_cell = linalg.generic {indexing_maps = [#row, #cell], iterator_types = ["reduction"]}
        ins(%through_variance : tensor<?xf64>) outs(%start : tensor<f64>) {
    ^bb0(%through_variance_i: f64, %partial: f64):
      %negative = arith.negf %through_variance_i : f64
      %sum_1 = arith.addf %partial, %negative : f64
      linalg.yield %sum_1 : f64
    } -> tensor<f64>
    %variance_sum = tensor.extract %variance_sum_cell[] : tensor<f64>
    %sum_1 = arith.addf %direct_sum, %variance_sum : f64
    %through_mean_alone = arith.divf %sum_1, %count : f64
    %through_mean_kept = tensor.from_elements %through_mean_alone : tensor<1xf64>
    %through_mean_cell = linalg.generic {indexing_maps = [#row, #cell], iterator_types = ["reduction"]}
        ins(%through_mean_kept : tensor<1xf64>) outs(%start : tensor<f64>) {
    ^bb0(%alone: f64, %partial: f64):
      %sum_2 = arith.addf %partial, %alone : f64
      linalg.yield %sum_2 : f64
    } -> tensor<f64>
    %through_mean = tensor.extract %through_mean_cell[] : tensor<f64>
    %result = linalg.generic {indexing_maps = [#row, #row, #row], iterator_types = ["parallel"]}
        ins(%direct, %through_variance : tensor<?xf64>, tensor<?xf64>) outs(%empty : tensor<?xf64>) {
    ^bb0(%direct_i: f64, %through_variance_i: f64, %out: f64):
      %sum_2 = arith.addf %direct_i, %through_variance_i : f64
      %sum_3 = arith.addf %sum_2, %through_mean : f64
      linalg.yield %sum_3 : f64
    } -> tensor<?xf64>
    xfuse.yield %result : tensor<?xf64>
  }

  xfuse.recipe @layer_norm_backward_jax_shared(
      %x: tensor<?xf64>, %gradient: tensor<?xf64>, %epsilon: f64 {xfuse.scalar}
  ) -> tensor<?xf64> attributes {element_types = [f16, bf16, f32, f64]} {
    %c0 = arith.constant 0 : index
    %n = tensor.dim %x, %c0 : tensor<?xf64>
    %count_integer = arith.index_cast %n : index to i64
    %count = arith.sitofp %count_integer : i64 to f64
    %zero = arith.constant 0.0 : f64
    %start = tensor.splat %zero : tensor<f64>
    %sum_cell = linalg.generic {indexing_maps = [#row, #cell], iterator_types = ["reduction"]}
        ins(%x : tensor<?xf64>) outs(%start : tensor<f64>) {
    ^bb0(%x_i: f64, %partial: f64):
      %sum = arith.addf %partial, %x_i : f64
      linalg.yield %sum : f64
    } -> tensor<f64>
    %sum = tensor.extract %sum_cell[] : tensor<f64>
    %mean = arith.divf %sum, %count : f64
    %empty = tensor.empty(%n) : tensor<?xf64>
    %centred = linalg.generic {indexing_maps = [#row, #row], iterator_types = ["parallel"]}
        ins(%x : tensor<?xf64>) outs(%empty : tensor<?xf64>) {
    ^bb0(%x_i: f64, %out: f64):
      %difference = arith.subf %x_i, %mean : f64
      linalg.yield %difference : f64
    } -> tensor<?xf64>
    %squares_cell = linalg.generic {indexing_maps = [#row, #cell], iterator_types = ["reduction"]}
        ins(%centred : tensor<?xf64>) outs(%start : tensor<f64>) {
    ^bb0(%centred_i: f64, %partial: f64):
      %product = arith.mulf %centred_i, %centred_i : f64
      %sum_1 = arith.addf %partial, %product : f64
      linalg.yield %sum_1 : f64
    } -> tensor<f64>
    %squares = tensor.extract %squares_cell[] : tensor<f64>
    %variance = arith.divf %squares, %count : f64
    %shifted = arith.addf %variance, %epsilon : f64
    %scale = math.rsqrt %shifted : f64
    %direct = linalg.generic {indexing_maps = [#row, #row], iterator_types = ["parallel"]}
        ins(%gradient : tensor<?xf64>) outs(%empty : tensor<?xf64>) {
    ^bb0(%gradient_i: f64, %out: f64):
      %product = arith.mulf %gradient_i, %scale : f64
      linalg.yield %product : f64
    } -> tensor<?xf64>
    %projection_cell = linalg.generic {indexing_maps = [#row, #row, #cell], iterator_types = ["reduction"]}
        ins(%gradient, %centred : tensor<?xf64>, tensor<?xf64>) outs(%start : tensor<f64>) {
    ^bb0(%gradient_i: f64, %centred_i: f64, %partial: f64):
      %product = arith.mulf %gradient_i, %centred_i : f64
      %sum_1 = arith.addf %partial, %product : f64
      linalg.yield %sum_1 : f64
    } -> tensor<f64>
    %projection = tensor.extract %projection_cell[] : tensor<f64>
    %negative_half = arith.constant -0.5 : f64
    %quotient = arith.divf %scale, %shifted : f64
    %slope = arith.mulf %quotient, %negative_half : f64
    %product = arith.mulf %projection, %slope : f64
    %weight_alone = arith.divf %product, %count : f64
    %weight_kept = tensor.from_elements %weight_alone : tensor<1xf64>
    %weight_cell = linalg.generic {indexing_maps = [#row, #cell], iterator_types = ["reduction"]}
        ins(%weight_kept : tensor<1xf64>) outs(%start : tensor<f64>) {
    ^bb0(%alone: f64, %partial: f64):
      %sum_1 = arith.addf %partial, %alone : f64
      linalg.yield %sum_1 : f64
    } -> tensor<f64>
    %weight = tensor.extract %weight_cell[] : tensor<f64>
    %two = arith.constant 2.0 : f64
    %through_variance = linalg.generic {indexing_maps = [#row, #row], iterator_types = ["parallel"]}
        ins(%centred : tensor<?xf64>) outs(%empty : tensor<?xf64>) {
    ^bb0(%centred_i: f64, %out: f64):
      %product_1 = arith.mulf %centred_i, %two : f64
      %product_2 = arith.mulf %product_1, %weight : f64
      linalg.yield %product_2 : f64
    } -> tensor<?xf64>
    %through_difference = linalg.generic {indexing_maps = [#row, #row, #row], iterator_types = ["parallel"]}
        ins(%direct, %through_variance : tensor<?xf64>, tensor<?xf64>) outs(%empty : tensor<?xf64>) {
    ^bb0(%direct_i: f64, %through_variance_i: f64, %out: f64):
      %sum_1 = arith.addf %direct_i, %through_variance_i : f64
      linalg.yield %sum_1 : f64
    } -> tensor<?xf64>
    %sum_through_cell = linalg.generic {indexing_maps = [#row, #cell], iterator_types = ["reduction"]}
        ins(%through_difference : tensor<?xf64>) outs(%start : tensor<f64>) {
    ^bb0(%through_difference_i: f64, %partial: f64):
      %negative = arith.negf %through_difference_i : f64
      %sum_1 = arith.addf %partial, %negative : f64
      linalg.yield %sum_1 : f64
    } -> tensor<f64>
    %sum_through = tensor.extract %sum_through_cell[] : tensor<f64>
    %through_mean_alone = arith.divf %sum_through, %count : f64
    %through_mean_kept = tensor.from_elements %through_mean_alone : tensor<1xf64>
    %through_mean_cell = linalg.generic {indexing_maps = [#row, #cell], iterator_types = ["reduction"]}
        ins(%through_mean_kept : tensor<1xf64>) outs(%start : tensor<f64>) {
    ^bb0(%alone: f64, %partial: f64):
      %sum_1 = arith.addf %partial, %alone : f64
      linalg.yield %sum_1 : f64
    } -> tensor<f64>
    %through_mean = tensor.extract %through_mean_cell[] : tensor<f64>
    %result = linalg.generic {indexing_maps = [#row, #row], iterator_types = ["parallel"]}
        ins(%through_difference : tensor<?xf64>) outs(%empty : tensor<?xf64>) {
    ^bb0(%through_difference_i: f64, %out: f64):
      %sum_1 = arith.addf %through_difference_i, %through_mean : f64
      linalg.yield %sum_1 : f64
    } -> tensor<?xf64>
    xfuse.yield %result : tensor<?xf64>
  }

  xfuse.recipe @layer_norm_backward_jax_var(
      %x: tensor<?xf64>, %gradient: tensor<?xf64>, %epsilon: f64 {xfuse.scalar}
  ) -> tensor<?xf64> attributes {element_types = [f16, bf16, f32, f64]} {
    %c0 = arith.constant 0 : index
    %n = tensor.dim %x, %c0 : tensor<?xf64>
    %count_integer = arith.index_cast %n : index to i64
    %count = arith.sitofp %count_integer : i64 to f64
    %zero = arith.constant 0.0 : f64
    %start = tensor.splat %zero : tensor<f64>
    %sum_cell = linalg.generic {indexing_maps = [#row, #cell], iterator_types = ["reduction"]}
        ins(%x : tensor<?xf64>) outs(%start : tensor<f64>) {
    ^bb0(%x_i: f64, %partial: f64):
      %sum = arith.addf %partial, %x_i : f64
      linalg.yield %sum : f64
    } -> tensor<f64>
    %sum = tensor.extract %sum_cell[] : tensor<f64>
    %mean = arith.divf %sum, %count : f64
    %empty = tensor.empty(%n) : tensor<?xf64>
    %centred = linalg.generic {indexing_maps = [#row, #row], iterator_types = ["parallel"]}
        ins(%x : tensor<?xf64>) outs(%empty : tensor<?xf64>) {
    ^bb0(%x_i: f64, %out: f64):
      %difference = arith.subf %x_i, %mean : f64
      linalg.yield %difference : f64
    } -> tensor<?xf64>
    %squares_cell = linalg.generic {indexing_maps = [#row, #cell], iterator_types = ["reduction"]}
        ins(%centred : tensor<?xf64>) outs(%start : tensor<f64>) {
    ^bb0(%centred_i: f64, %partial: f64):
      %product = arith.mulf %centred_i, %centred_i : f64
      %sum_1 = arith.addf %partial, %product : f64
      linalg.yield %sum_1 : f64
    } -> tensor<f64>
    %squares = tensor.extract %squares_cell[] : tensor<f64>
    %variance = arith.divf %squares, %count : f64
    %shifted = arith.addf %variance, %epsilon : f64
    %scale = math.rsqrt %shifted : f64
    %direct = linalg.generic {indexing_maps = [#row, #row], iterator_types = ["parallel"]}
        ins(%gradient : tensor<?xf64>) outs(%empty : tensor<?xf64>) {
    ^bb0(%gradient_i: f64, %out: f64):
      %product = arith.mulf %gradient_i, %scale : f64
      linalg.yield %product : f64
    } -> tensor<?xf64>
    %projection_cell = linalg.generic {indexing_maps = [#row, #row, #cell], iterator_types = ["reduction"]}
        ins(%gradient, %centred : tensor<?xf64>, tensor<?xf64>) outs(%start : tensor<f64>) {
    ^bb0(%gradient_i: f64, %centred_i: f64, %partial: f64):
      %product = arith.mulf %gradient_i, %centred_i : f64
      %sum_1 = arith.addf %partial, %product : f64
      linalg.yield %sum_1 : f64
    } -> tensor<f64>
    %projection = tensor.extract %projection_cell[] : tensor<f64>
    %negative_half = arith.constant -0.5 : f64
    %quotient = arith.divf %scale, %shifted : f64
    %slope = arith.mulf %quotient, %negative_half : f64
    %product = arith.mulf %projection, %slope : f64
    %weight_alone = arith.divf %product, %count : f64
    %weight_kept = tensor.from_elements %weight_alone : tensor<1xf64>
    %weight_cell = linalg.generic {indexing_maps = [#row, #cell], iterator_types = ["reduction"]}
        ins(%weight_kept : tensor<1xf64>) outs(%start : tensor<f64>) {
    ^bb0(%alone: f64, %partial: f64):
      %sum_1 = arith.addf %partial, %alone : f64
      linalg.yield %sum_1 : f64
    } -> tensor<f64>
    %weight = tensor.extract %weight_cell[] : tensor<f64>
    %two = arith.constant 2.0 : f64
    %through_variance = linalg.generic {indexing_maps = [#row, #row], iterator_types = ["parallel"]}
        ins(%centred : tensor<?xf64>) outs(%empty : tensor<?xf64>) {
    ^bb0(%centred_i: f64, %out: f64):
      %product_1 = arith.mulf %centred_i, %two : f64
      %product_2 = arith.mulf %product_1, %weight : f64
      linalg.yield %product_2 : f64
    } -> tensor<?xf64>
    %direct_sum_cell = linalg.generic {indexing_maps = [#row, #cell], iterator_types = ["reduction"]}
        ins(%direct : tensor<?xf64>) outs(%start : tensor<f64>) {
    ^bb0(%direct_i: f64, %partial: f64):
      %negative = arith.negf %direct_i : f64
      %sum_1 = arith.addf %partial, %negative : f64
      linalg.yield %sum_1 : f64
    } -> tensor<f64>
    %direct_sum = tensor.extract %direct_sum_cell[] : tensor<f64>
    %variance_sum_cell = linalg.generic {indexing_maps = [#row, #cell], iterator_types = ["reduction"]}
        ins(%through_variance : tensor<?xf64>) outs(%start : tensor<f64>) {
    ^bb0(%through_variance_i: f64, %partial: f64):
      %negative = arith.negf %through_variance_i : f64
      %sum_1 = arith.addf %partial, %negative : f64
      linalg.yield %sum_1 : f64
    } -> tensor<f64>
    %variance_sum = tensor.extract %variance_sum_cell[] : tensor<f64>
    %mean_direct_alone = arith.divf %direct_sum, %count : f64
    %mean_direct_kept = tensor.from_elements %mean_direct_alone : tensor<1xf64>
    %mean_direct_cell = linalg.generic {indexing_maps = [#row, #cell], iterator_types = ["reduction"]}
        ins(%mean_direct_kept : tensor<1xf64>) outs(%start : tensor<f64>) {
    ^bb0(%alone: f64, %partial: f64):
      %sum_1 = arith.addf %partial, %alone : f64
      linalg.yield %sum_1 : f64
    } -> tensor<f64>
    %mean_direct = tensor.extract %mean_direct_cell[] : tensor<f64>
    %mean_variance_alone = arith.divf %variance_sum, %count : f64
    %mean_variance_kept = tensor.from_elements %mean_variance_alone : tensor<1xf64>
    %mean_variance_cell = linalg.generic {indexing_maps = [#row, #cell], iterator_types = ["reduction"]}
        ins(%mean_variance_kept : tensor<1xf64>) outs(%start : tensor<f64>) {
    ^bb0(%alone: f64, %partial: f64):
      %sum_1 = arith.addf %partial, %alone : f64
      linalg.yield %sum_1 : f64
    } -> tensor<f64>
    %mean_variance = tensor.extract %mean_variance_cell[] : tensor<f64>
    %result = linalg.generic {indexing_maps = [#row, #row, #row], iterator_types = ["parallel"]}
        ins(%direct, %through_variance : tensor<?xf64>, tensor<?xf64>) outs(%empty : tensor<?xf64>) {
    ^bb0(%direct_i: f64, %through_variance_i: f64, %out: f64):
      %sum_1 = arith.addf %through_variance_i, %mean_variance : f64
      %sum_2 = arith.addf %direct_i, %sum_1 : f64
      %sum_3 = arith.addf %sum_2, %mean_direct : f64
      linalg.yield %sum_3 : f64
    } -> tensor<?xf64>
    xfuse.yield %result : tensor<?xf64>
  }

  xfuse.recipe @layer_norm_backward_jax_sqrt(
      %x: tensor<?xf64>, %gradient: tensor<?xf64>, %epsilon: f64 {xfuse.scalar}
  ) -> tensor<?xf64> attributes {element_types = [f16, bf16, f32, f64]} {
    %c0 = arith.constant 0 : index
    %n = tensor.dim %x, %c0 : tensor<?xf64>
    %count_integer = arith.index_cast %n : index to i64
    %count = arith.sitofp %count_integer : i64 to f64
    %zero = arith.constant 0.0 : f64
    %start = tensor.splat %zero : tensor<f64>
    %sum_cell = linalg.generic {indexing_maps = [#row, #cell], iterator_types = ["reduction"]}
        ins(%x : tensor<?xf64>) outs(%start : tensor<f64>) {
    ^bb0(%x_i: f64, %partial: f64):
      %sum = arith.addf %partial, %x_i : f64
      linalg.yield %sum : f64
    } -> tensor<f64>
    %sum = tensor.extract %sum_cell[] : tensor<f64>
    %mean = arith.divf %sum, %count : f64
    %empty = tensor.empty(%n) : tensor<?xf64>
    %centred = linalg.generic {indexing_maps = [#row, #row], iterator_types = ["parallel"]}
        ins(%x : tensor<?xf64>) outs(%empty : tensor<?xf64>) {
    ^bb0(%x_i: f64, %out: f64):
      %difference = arith.subf %x_i, %mean : f64
      linalg.yield %difference : f64
    } -> tensor<?xf64>
    %squares_cell = linalg.generic {indexing_maps = [#row, #cell], iterator_types = ["reduction"]}
        ins(%centred : tensor<?xf64>) outs(%start : tensor<f64>) {
    ^bb0(%centred_i: f64, %partial: f64):
      %product = arith.mulf %centred_i, %centred_i : f64
      %sum_1 = arith.addf %partial, %product : f64
      linalg.yield %sum_1 : f64
    } -> tensor<f64>
    %squares = tensor.extract %squares_cell[] : tensor<f64>
    %variance = arith.divf %squares, %count : f64
    %shifted = arith.addf %variance, %epsilon : f64
    %root = math.sqrt %shifted : f64
    %one = arith.constant 1.0 : f64
    %product = arith.mulf %root, %root : f64
    %inverse_square = arith.divf %one, %product : f64
    %projection_cell = linalg.generic {indexing_maps = [#row, #row, #cell], iterator_types = ["reduction"]}
        ins(%gradient, %centred : tensor<?xf64>, tensor<?xf64>) outs(%start : tensor<f64>) {
    ^bb0(%gradient_i: f64, %centred_i: f64, %partial: f64):
      %product_1 = arith.mulf %gradient_i, %inverse_square : f64
      %product_2 = arith.mulf %product_1, %centred_i : f64
      %sum_1 = arith.addf %partial, %product_2 : f64
      linalg.yield %sum_1 : f64
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
      %sum_1 = arith.addf %partial, %alone : f64
      linalg.yield %sum_1 : f64
    } -> tensor<f64>
    %weight = tensor.extract %weight_cell[] : tensor<f64>
    %through_variance = linalg.generic {indexing_maps = [#row, #row], iterator_types = ["parallel"]}
        ins(%centred : tensor<?xf64>) outs(%empty : tensor<?xf64>) {
    ^bb0(%centred_i: f64, %out: f64):
      %product_2 = arith.mulf %centred_i, %weight : f64
      linalg.yield %product_2 : f64
    } -> tensor<?xf64>
    %direct = linalg.generic {indexing_maps = [#row, #row, #row], iterator_types = ["parallel"]}
        ins(%through_variance, %gradient : tensor<?xf64>, tensor<?xf64>) outs(%empty : tensor<?xf64>) {
    ^bb0(%through_variance_i: f64, %gradient_i: f64, %out: f64):
      %quotient = arith.divf %gradient_i, %root : f64
      %sum_1 = arith.addf %through_variance_i, %quotient : f64
      %sum_2 = arith.addf %through_variance_i, %sum_1 : f64
      linalg.yield %sum_2 : f64
    } -> tensor<?xf64>
    %direct_sum_cell = linalg.generic {indexing_maps = [#row, #cell], iterator_types = ["reduction"]}
        ins(%direct : tensor<?xf64>) outs(%start : tensor<f64>) {
    ^bb0(%direct_i: f64, %partial: f64):
      %negative_1 = arith.negf %direct_i : f64
      %sum_1 = arith.addf %partial, %negative_1 : f64
      linalg.yield %sum_1 : f64
    } -> tensor<f64>
    %direct_sum = tensor.extract %direct_sum_cell[] : tensor<f64>
    %through_mean_alone = arith.divf %direct_sum, %count : f64
    %through_mean_kept = tensor.from_elements %through_mean_alone : tensor<1xf64>
    %through_mean_cell = linalg.generic {indexing_maps = [#row, #cell], iterator_types = ["reduction"]}
        ins(%through_mean_kept : tensor<1xf64>) outs(%start : tensor<f64>) {
    ^bb0(%alone: f64, %partial: f64):
      %sum_1 = arith.addf %partial, %alone : f64
      linalg.yield %sum_1 : f64
    } -> tensor<f64>
    %through_mean = tensor.extract %through_mean_cell[] : tensor<f64>
    %result = linalg.generic {indexing_maps = [#row, #row], iterator_types = ["parallel"]}
        ins(%direct : tensor<?xf64>) outs(%empty : tensor<?xf64>) {
    ^bb0(%direct_i: f64, %out: f64):
      %sum_1 = arith.addf %direct_i, %through_mean : f64
      linalg.yield %sum_1 : f64
    } -> tensor<?xf64>
    xfuse.yield %result : tensor<?xf64>
  }

  xfuse.recipe @layer_norm_backward_accumulating(
      %x: tensor<?xf64> {xfuse.accumulator = f32}, %gradient: tensor<?xf64> {xfuse.accumulator = f32},
      %epsilon: f64 {xfuse.scalar, xfuse.accumulator = f32}
  ) -> tensor<?xf64> attributes {element_types = [f16, bf16, f32, f64]} {
    %c0 = arith.constant 0 : index
    %n = tensor.dim %x, %c0 : tensor<?xf64>
    %count_integer = arith.index_cast %n : index to i64
    %count = arith.sitofp %count_integer : i64 to f64
    %zero = arith.constant 0.0 : f64
    %start = tensor.splat %zero : tensor<f64>
    %sum_cell = linalg.generic {indexing_maps = [#row, #cell], iterator_types = ["reduction"]}
        ins(%x : tensor<?xf64>) outs(%start : tensor<f64>) {
    ^bb0(%x_i: f64, %partial: f64):
      %sum = arith.addf %partial, %x_i : f64
      linalg.yield %sum : f64
    } -> tensor<f64>
    %sum = tensor.extract %sum_cell[] : tensor<f64>
    %mean = arith.divf %sum, %count : f64
    %empty = tensor.empty(%n) : tensor<?xf64>
    %centred = linalg.generic {indexing_maps = [#row, #row], iterator_types = ["parallel"]}
        ins(%x : tensor<?xf64>) outs(%empty : tensor<?xf64>) {
    ^bb0(%x_i: f64, %out: f64):
      %difference = arith.subf %x_i, %mean : f64
      linalg.yield %difference : f64
    } -> tensor<?xf64>
    %squares_cell = linalg.generic {indexing_maps = [#row, #cell], iterator_types = ["reduction"]}
        ins(%centred : tensor<?xf64>) outs(%start : tensor<f64>) {
    ^bb0(%centred_i: f64, %partial: f64):
      %product = arith.mulf %centred_i, %centred_i : f64
      %sum_1 = arith.addf %partial, %product : f64
      linalg.yield %sum_1 : f64
    } -> tensor<f64>
    %squares = tensor.extract %squares_cell[] : tensor<f64>
    %variance = arith.divf %squares, %count : f64
    %shifted = arith.addf %variance, %epsilon : f64
    %scale = math.rsqrt %shifted : f64
    %sum_gradient_cell = linalg.generic {indexing_maps = [#row, #cell], iterator_types = ["reduction"]}
        ins(%gradient : tensor<?xf64>) outs(%start : tensor<f64>) {
    ^bb0(%gradient_i: f64, %partial: f64):
      %sum_1 = arith.addf %partial, %gradient_i : f64
      linalg.yield %sum_1 : f64
    } -> tensor<f64>
    %sum_gradient = tensor.extract %sum_gradient_cell[] : tensor<f64>
    %mean_gradient = arith.divf %sum_gradient, %count : f64
    %normal = linalg.generic {indexing_maps = [#row, #row], iterator_types = ["parallel"]}
        ins(%centred : tensor<?xf64>) outs(%empty : tensor<?xf64>) {
    ^bb0(%centred_i: f64, %out: f64):
      %product = arith.mulf %centred_i, %scale : f64
      linalg.yield %product : f64
    } -> tensor<?xf64>
    %projection_cell = linalg.generic {indexing_maps = [#row, #row, #cell], iterator_types = ["reduction"]}
        ins(%gradient, %normal : tensor<?xf64>, tensor<?xf64>) outs(%start : tensor<f64>) {
    ^bb0(%gradient_i: f64, %normal_i: f64, %partial: f64):
      %product = arith.mulf %gradient_i, %normal_i : f64
      %sum_1 = arith.addf %partial, %product : f64
      linalg.yield %sum_1 : f64
    } -> tensor<f64>
    %projection = tensor.extract %projection_cell[] : tensor<f64>
    %mean_projection = arith.divf %projection, %count : f64
    %result = linalg.generic {indexing_maps = [#row, #row, #row], iterator_types = ["parallel"]}
        ins(%gradient, %normal : tensor<?xf64>, tensor<?xf64>) outs(%empty : tensor<?xf64>) {
    ^bb0(%gradient_i: f64, %normal_i: f64, %out: f64):
      %difference = arith.subf %gradient_i, %mean_gradient : f64
      %product = arith.mulf %normal_i, %mean_projection : f64
      %difference_1 = arith.subf %difference, %product : f64
      %product_1 = arith.mulf %scale, %difference_1 : f64
      linalg.yield %product_1 : f64
    } -> tensor<?xf64>
    xfuse.yield %result : tensor<?xf64>
  }
}
