// layer_norm_affine_gradients(x, gamma, gradient) = the gradients of x, gamma and beta of layer_norm_affine
//
// (n,m),(m),(n,m),()->(n,m),(m),(m): the results of layer_norm_affine_backward and layer_norm_parameters_backward in
// one, rows by elements.
//
// @layer_norm_affine_gradients               textbook
// @layer_norm_affine_gradients_jax           JAX, of `(x - m) * rsqrt(mean(square(x - m)) + epsilon) * gamma + beta`, m
//                                            = mean(x)
// @layer_norm_affine_gradients_jax_shared    JAX, of `d * rsqrt(mean(square(d)) + epsilon) * gamma + beta`, d = x - m
// @layer_norm_affine_gradients_accumulating  textbook, at no narrower a type than f32
#matrix = affine_map<(m, n) -> (m, n)>
#column = affine_map<(m, n) -> (m)>
#across = affine_map<(m, n) -> (n)>
#each = affine_map<(m) -> (m)>

xfuse.library @layer_norm_affine_gradients {
  xfuse.recipe @layer_norm_affine_gradients(
      %x: tensor<?x?xf64>, %gamma: tensor<?xf64>, %gradient: tensor<?x?xf64>, %epsilon: f64 {xfuse.scalar}
  ) -> (tensor<?x?xf64>, tensor<?xf64>, tensor<?xf64>) attributes {element_types = [f16, bf16, f32, f64]} {
    %c1 = arith.constant 1 : index
    %n = tensor.dim %x, %c1 : tensor<?x?xf64>
    %count_integer = arith.index_cast %n : index to i64
    %count = arith.sitofp %count_integer : i64 to f64
    %zero = arith.constant 0.0 : f64
    %c0 = arith.constant 0 : index
    %m = tensor.dim %x, %c0 : tensor<?x?xf64>
    %empty = tensor.empty(%m) : tensor<?xf64>
    %start = linalg.fill ins(%zero : f64) outs(%empty : tensor<?xf64>) -> tensor<?xf64>
    %sum = linalg.generic {indexing_maps = [#matrix, #column], iterator_types = ["parallel", "reduction"]}
        ins(%x : tensor<?x?xf64>) outs(%start : tensor<?xf64>) {
    ^bb0(%x_ij: f64, %partial: f64):
      %sum_1 = arith.addf %partial, %x_ij : f64
      linalg.yield %sum_1 : f64
    } -> tensor<?xf64>
    %mean = linalg.generic {indexing_maps = [#each, #each], iterator_types = ["parallel"]}
        ins(%sum : tensor<?xf64>) outs(%empty : tensor<?xf64>) {
    ^bb0(%sum_i: f64, %out: f64):
      %quotient = arith.divf %sum_i, %count : f64
      linalg.yield %quotient : f64
    } -> tensor<?xf64>
    %empty_1 = tensor.empty(%m, %n) : tensor<?x?xf64>
    %centred = linalg.generic {indexing_maps = [#matrix, #column, #matrix], iterator_types = ["parallel", "parallel"]}
        ins(%x, %mean : tensor<?x?xf64>, tensor<?xf64>) outs(%empty_1 : tensor<?x?xf64>) {
    ^bb0(%x_ij: f64, %mean_i: f64, %out: f64):
      %difference = arith.subf %x_ij, %mean_i : f64
      linalg.yield %difference : f64
    } -> tensor<?x?xf64>
    %squares = linalg.generic {indexing_maps = [#matrix, #column], iterator_types = ["parallel", "reduction"]}
        ins(%centred : tensor<?x?xf64>) outs(%start : tensor<?xf64>) {
    ^bb0(%centred_ij: f64, %partial: f64):
      %product = arith.mulf %centred_ij, %centred_ij : f64
      %sum_1 = arith.addf %partial, %product : f64
      linalg.yield %sum_1 : f64
    } -> tensor<?xf64>
    %shifted = linalg.generic {indexing_maps = [#each, #each], iterator_types = ["parallel"]}
        ins(%squares : tensor<?xf64>) outs(%empty : tensor<?xf64>) {
    ^bb0(%squares_i: f64, %out: f64):
      %quotient = arith.divf %squares_i, %count : f64
      %sum_1 = arith.addf %quotient, %epsilon : f64
      linalg.yield %sum_1 : f64
    } -> tensor<?xf64>
    %scale = linalg.generic {indexing_maps = [#each, #each], iterator_types = ["parallel"]}
        ins(%shifted : tensor<?xf64>) outs(%empty : tensor<?xf64>) {
    ^bb0(%shifted_i: f64, %out: f64):
      %inverse_root = math.rsqrt %shifted_i : f64
      linalg.yield %inverse_root : f64
    } -> tensor<?xf64>
    %scaled = linalg.generic {indexing_maps = [#across, #matrix, #matrix], iterator_types = ["parallel", "parallel"]}
        ins(%gamma, %gradient : tensor<?xf64>, tensor<?x?xf64>) outs(%empty_1 : tensor<?x?xf64>) {
    ^bb0(%gamma_j: f64, %gradient_ij: f64, %out: f64):
      %product = arith.mulf %gamma_j, %gradient_ij : f64
      linalg.yield %product : f64
    } -> tensor<?x?xf64>
    %normal = linalg.generic {indexing_maps = [#matrix, #column, #matrix], iterator_types = ["parallel", "parallel"]}
        ins(%centred, %scale : tensor<?x?xf64>, tensor<?xf64>) outs(%empty_1 : tensor<?x?xf64>) {
    ^bb0(%centred_ij: f64, %scale_i: f64, %out: f64):
      %product = arith.mulf %centred_ij, %scale_i : f64
      linalg.yield %product : f64
    } -> tensor<?x?xf64>
    %sum_scaled = linalg.generic {indexing_maps = [#matrix, #column], iterator_types = ["parallel", "reduction"]}
        ins(%scaled : tensor<?x?xf64>) outs(%start : tensor<?xf64>) {
    ^bb0(%scaled_ij: f64, %partial: f64):
      %sum_1 = arith.addf %partial, %scaled_ij : f64
      linalg.yield %sum_1 : f64
    } -> tensor<?xf64>
    %projection = linalg.generic {indexing_maps = [#matrix, #matrix, #column],
        iterator_types = ["parallel", "reduction"]}
        ins(%scaled, %normal : tensor<?x?xf64>, tensor<?x?xf64>) outs(%start : tensor<?xf64>) {
    ^bb0(%scaled_ij: f64, %normal_ij: f64, %partial: f64):
      %product = arith.mulf %scaled_ij, %normal_ij : f64
      %sum_1 = arith.addf %partial, %product : f64
      linalg.yield %sum_1 : f64
    } -> tensor<?xf64>
    %result = linalg.generic {indexing_maps = [#column, #matrix, #column, #matrix, #column, #matrix],
        iterator_types = ["parallel", "parallel"]}
        ins(%scale, %scaled, %sum_scaled, %normal, %projection :
            tensor<?xf64>, tensor<?x?xf64>, tensor<?xf64>, tensor<?x?xf64>, tensor<?xf64>)
        outs(%empty_1 : tensor<?x?xf64>) {
    ^bb0(%scale_i: f64, %scaled_ij: f64, %sum_scaled_i: f64, %normal_ij: f64, %projection_i: f64, %out: f64):
      %quotient = arith.divf %sum_scaled_i, %count : f64
      %difference = arith.subf %scaled_ij, %quotient : f64
      %quotient_1 = arith.divf %projection_i, %count : f64
      %product = arith.mulf %normal_ij, %quotient_1 : f64
      %difference_1 = arith.subf %difference, %product : f64
      %product_1 = arith.mulf %scale_i, %difference_1 : f64
      linalg.yield %product_1 : f64
    } -> tensor<?x?xf64>
    %empty_2 = tensor.empty(%n) : tensor<?xf64>
    %start_1 = linalg.fill ins(%zero : f64) outs(%empty_2 : tensor<?xf64>) -> tensor<?xf64>
    %gamma_gradient = linalg.generic {indexing_maps = [#matrix, #matrix, #across],
        iterator_types = ["reduction", "parallel"]}
        ins(%gradient, %normal : tensor<?x?xf64>, tensor<?x?xf64>) outs(%start_1 : tensor<?xf64>) {
    ^bb0(%gradient_ij: f64, %normal_ij: f64, %partial: f64):
      %product = arith.mulf %gradient_ij, %normal_ij : f64
      %sum_1 = arith.addf %partial, %product : f64
      linalg.yield %sum_1 : f64
    } -> tensor<?xf64>
    %beta_gradient = linalg.generic {indexing_maps = [#matrix, #across], iterator_types = ["reduction", "parallel"]}
        ins(%gradient : tensor<?x?xf64>) outs(%start_1 : tensor<?xf64>) {
    ^bb0(%gradient_ij: f64, %partial: f64):
      %sum_1 = arith.addf %partial, %gradient_ij : f64
      linalg.yield %sum_1 : f64
    } -> tensor<?xf64>
    xfuse.yield %result, %gamma_gradient, %beta_gradient : tensor<?x?xf64>, tensor<?xf64>, tensor<?xf64>
  }

  xfuse.recipe @layer_norm_affine_gradients_jax(
      %x: tensor<?x?xf64>, %gamma: tensor<?xf64>, %gradient: tensor<?x?xf64>, %epsilon: f64 {xfuse.scalar}
  ) -> (tensor<?x?xf64>, tensor<?xf64>, tensor<?xf64>) attributes {element_types = [f16, bf16, f32, f64]} {
    %c1 = arith.constant 1 : index
    %n = tensor.dim %x, %c1 : tensor<?x?xf64>
    %count_integer = arith.index_cast %n : index to i64
    %count = arith.sitofp %count_integer : i64 to f64
    %zero = arith.constant 0.0 : f64
    %c0 = arith.constant 0 : index
    %m = tensor.dim %x, %c0 : tensor<?x?xf64>
    %empty = tensor.empty(%m) : tensor<?xf64>
    %start = linalg.fill ins(%zero : f64) outs(%empty : tensor<?xf64>) -> tensor<?xf64>
    %sum = linalg.generic {indexing_maps = [#matrix, #column], iterator_types = ["parallel", "reduction"]}
        ins(%x : tensor<?x?xf64>) outs(%start : tensor<?xf64>) {
    ^bb0(%x_ij: f64, %partial: f64):
      %sum_1 = arith.addf %partial, %x_ij : f64
      linalg.yield %sum_1 : f64
    } -> tensor<?xf64>
    %mean = linalg.generic {indexing_maps = [#each, #each], iterator_types = ["parallel"]}
        ins(%sum : tensor<?xf64>) outs(%empty : tensor<?xf64>) {
    ^bb0(%sum_i: f64, %out: f64):
      %quotient = arith.divf %sum_i, %count : f64
      linalg.yield %quotient : f64
    } -> tensor<?xf64>
    %empty_1 = tensor.empty(%m, %n) : tensor<?x?xf64>
    %centred = linalg.generic {indexing_maps = [#matrix, #column, #matrix], iterator_types = ["parallel", "parallel"]}
        ins(%x, %mean : tensor<?x?xf64>, tensor<?xf64>) outs(%empty_1 : tensor<?x?xf64>) {
    ^bb0(%x_ij: f64, %mean_i: f64, %out: f64):
      %difference = arith.subf %x_ij, %mean_i : f64
      linalg.yield %difference : f64
    } -> tensor<?x?xf64>
    %squares = linalg.generic {indexing_maps = [#matrix, #column], iterator_types = ["parallel", "reduction"]}
        ins(%centred : tensor<?x?xf64>) outs(%start : tensor<?xf64>) {
    ^bb0(%centred_ij: f64, %partial: f64):
      %product = arith.mulf %centred_ij, %centred_ij : f64
      %sum_1 = arith.addf %partial, %product : f64
      linalg.yield %sum_1 : f64
    } -> tensor<?xf64>
    %shifted = linalg.generic {indexing_maps = [#each, #each], iterator_types = ["parallel"]}
        ins(%squares : tensor<?xf64>) outs(%empty : tensor<?xf64>) {
    ^bb0(%squares_i: f64, %out: f64):
      %quotient = arith.divf %squares_i, %count : f64
      %sum_1 = arith.addf %quotient, %epsilon : f64
      linalg.yield %sum_1 : f64
    } -> tensor<?xf64>
    %scale = linalg.generic {indexing_maps = [#each, #each], iterator_types = ["parallel"]}
        ins(%shifted : tensor<?xf64>) outs(%empty : tensor<?xf64>) {
    ^bb0(%shifted_i: f64, %out: f64):
      %inverse_root = math.rsqrt %shifted_i : f64
      linalg.yield %inverse_root : f64
    } -> tensor<?xf64>
    %scaled = linalg.generic {indexing_maps = [#across, #matrix, #matrix], iterator_types = ["parallel", "parallel"]}
        ins(%gamma, %gradient : tensor<?xf64>, tensor<?x?xf64>) outs(%empty_1 : tensor<?x?xf64>) {
    ^bb0(%gamma_j: f64, %gradient_ij: f64, %out: f64):
      %product = arith.mulf %gamma_j, %gradient_ij : f64
      linalg.yield %product : f64
    } -> tensor<?x?xf64>
    %direct = linalg.generic {indexing_maps = [#matrix, #column, #matrix], iterator_types = ["parallel", "parallel"]}
        ins(%scaled, %scale : tensor<?x?xf64>, tensor<?xf64>) outs(%empty_1 : tensor<?x?xf64>) {
    ^bb0(%scaled_ij: f64, %scale_i: f64, %out: f64):
      %product = arith.mulf %scaled_ij, %scale_i : f64
      linalg.yield %product : f64
    } -> tensor<?x?xf64>
    %projection = linalg.generic {indexing_maps = [#matrix, #matrix, #column],
        iterator_types = ["parallel", "reduction"]}
        ins(%scaled, %centred : tensor<?x?xf64>, tensor<?x?xf64>) outs(%start : tensor<?xf64>) {
    ^bb0(%scaled_ij: f64, %centred_ij: f64, %partial: f64):
      %product = arith.mulf %scaled_ij, %centred_ij : f64
      %sum_1 = arith.addf %partial, %product : f64
      linalg.yield %sum_1 : f64
    } -> tensor<?xf64>
    %negative_half = arith.constant -0.5 : f64
    %slope = linalg.generic {indexing_maps = [#each, #each, #each], iterator_types = ["parallel"]}
        ins(%scale, %shifted : tensor<?xf64>, tensor<?xf64>) outs(%empty : tensor<?xf64>) {
    ^bb0(%scale_i: f64, %shifted_i: f64, %out: f64):
      %quotient = arith.divf %scale_i, %shifted_i : f64
      %product = arith.mulf %quotient, %negative_half : f64
      linalg.yield %product : f64
    } -> tensor<?xf64>
    %weight_alone = linalg.generic {indexing_maps = [#each, #each, #each], iterator_types = ["parallel"]}
        ins(%projection, %slope : tensor<?xf64>, tensor<?xf64>) outs(%empty : tensor<?xf64>) {
    ^bb0(%projection_i: f64, %slope_i: f64, %out: f64):
      %product = arith.mulf %projection_i, %slope_i : f64
      %quotient = arith.divf %product, %count : f64
      linalg.yield %quotient : f64
    } -> tensor<?xf64>
    %weight_kept = tensor.expand_shape %weight_alone [[0, 1]] output_shape [%m, 1] : tensor<?xf64> into tensor<?x1xf64>
    %weight = linalg.generic {indexing_maps = [#matrix, #column], iterator_types = ["parallel", "reduction"]}
        ins(%weight_kept : tensor<?x1xf64>) outs(%start : tensor<?xf64>) {
    ^bb0(%alone: f64, %partial: f64):
      %sum_1 = arith.addf %partial, %alone : f64
      linalg.yield %sum_1 : f64
    } -> tensor<?xf64>
    %two = arith.constant 2.0 : f64
    %through_variance = linalg.generic {indexing_maps = [#matrix, #column, #matrix],
        iterator_types = ["parallel", "parallel"]}
        ins(%centred, %weight : tensor<?x?xf64>, tensor<?xf64>) outs(%empty_1 : tensor<?x?xf64>) {
    ^bb0(%centred_ij: f64, %weight_i: f64, %out: f64):
      %product = arith.mulf %centred_ij, %two : f64
      %product_1 = arith.mulf %product, %weight_i : f64
      linalg.yield %product_1 : f64
    } -> tensor<?x?xf64>
    %direct_sum = linalg.generic {indexing_maps = [#matrix, #column], iterator_types = ["parallel", "reduction"]}
        ins(%direct : tensor<?x?xf64>) outs(%start : tensor<?xf64>) {
    ^bb0(%direct_ij: f64, %partial: f64):
      %negative = arith.negf %direct_ij : f64
      %sum_1 = arith.addf %partial, %negative : f64
      linalg.yield %sum_1 : f64
    } -> tensor<?xf64>
    %variance_sum = linalg.generic {indexing_maps = [#matrix, #column], iterator_types = ["parallel", "reduction"]}
        ins(%through_variance : tensor<?x?xf64>) outs(%start : tensor<?xf64>) {
    ^bb0(%through_variance_ij: f64, %partial: f64):
      %negative = arith.negf %through_variance_ij : f64
      %sum_1 = arith.addf %partial, %negative : f64
      linalg.yield %sum_1 : f64
    } -> tensor<?xf64>
    %through_mean_alone = linalg.generic {indexing_maps = [#each, #each, #each], iterator_types = ["parallel"]}
        ins(%direct_sum, %variance_sum : tensor<?xf64>, tensor<?xf64>) outs(%empty : tensor<?xf64>) {
    ^bb0(%direct_sum_i: f64, %variance_sum_i: f64, %out: f64):
      %sum_1 = arith.addf %direct_sum_i, %variance_sum_i : f64
      %quotient = arith.divf %sum_1, %count : f64
      linalg.yield %quotient : f64
    } -> tensor<?xf64>
    %through_mean_kept = tensor.expand_shape %through_mean_alone [[0, 1]] output_shape [%m, 1]
        : tensor<?xf64> into tensor<?x1xf64>
    %through_mean = linalg.generic {indexing_maps = [#matrix, #column], iterator_types = ["parallel", "reduction"]}
        ins(%through_mean_kept : tensor<?x1xf64>) outs(%start : tensor<?xf64>) {
    ^bb0(%alone: f64, %partial: f64):
      %sum_1 = arith.addf %partial, %alone : f64
      linalg.yield %sum_1 : f64
    } -> tensor<?xf64>
    %result = linalg.generic {indexing_maps = [#matrix, #matrix, #column, #matrix],
        iterator_types = ["parallel", "parallel"]}
        ins(%direct, %through_variance, %through_mean : tensor<?x?xf64>, tensor<?x?xf64>, tensor<?xf64>)
        outs(%empty_1 : tensor<?x?xf64>) {
    ^bb0(%direct_ij: f64, %through_variance_ij: f64, %through_mean_i: f64, %out: f64):
      %sum_1 = arith.addf %direct_ij, %through_variance_ij : f64
      %sum_2 = arith.addf %sum_1, %through_mean_i : f64
      linalg.yield %sum_2 : f64
    } -> tensor<?x?xf64>
    %empty_2 = tensor.empty(%n) : tensor<?xf64>
    %start_1 = linalg.fill ins(%zero : f64) outs(%empty_2 : tensor<?xf64>) -> tensor<?xf64>
    %gamma_sum = linalg.generic {indexing_maps = [#matrix, #matrix, #column, #across],
        iterator_types = ["reduction", "parallel"]}
        ins(%gradient, %centred, %scale : tensor<?x?xf64>, tensor<?x?xf64>, tensor<?xf64>)
        outs(%start_1 : tensor<?xf64>) {
    ^bb0(%gradient_ij: f64, %centred_ij: f64, %scale_i: f64, %partial: f64):
      %product = arith.mulf %centred_ij, %scale_i : f64
      %product_1 = arith.mulf %gradient_ij, %product : f64
      %sum_1 = arith.addf %partial, %product_1 : f64
      linalg.yield %sum_1 : f64
    } -> tensor<?xf64>
    %beta_sum = linalg.generic {indexing_maps = [#matrix, #across], iterator_types = ["reduction", "parallel"]}
        ins(%gradient : tensor<?x?xf64>) outs(%start_1 : tensor<?xf64>) {
    ^bb0(%gradient_ij: f64, %partial: f64):
      %sum_1 = arith.addf %partial, %gradient_ij : f64
      linalg.yield %sum_1 : f64
    } -> tensor<?xf64>
    %gamma_gradient_kept = tensor.expand_shape %gamma_sum [[0, 1]] output_shape [1, %n]
        : tensor<?xf64> into tensor<1x?xf64>
    %gamma_gradient = linalg.generic {indexing_maps = [#matrix, #across], iterator_types = ["reduction", "parallel"]}
        ins(%gamma_gradient_kept : tensor<1x?xf64>) outs(%start_1 : tensor<?xf64>) {
    ^bb0(%alone: f64, %partial: f64):
      %sum_1 = arith.addf %partial, %alone : f64
      linalg.yield %sum_1 : f64
    } -> tensor<?xf64>
    %beta_gradient_kept = tensor.expand_shape %beta_sum [[0, 1]] output_shape [1, %n]
        : tensor<?xf64> into tensor<1x?xf64>
    %beta_gradient = linalg.generic {indexing_maps = [#matrix, #across], iterator_types = ["reduction", "parallel"]}
        ins(%beta_gradient_kept : tensor<1x?xf64>) outs(%start_1 : tensor<?xf64>) {
    ^bb0(%alone: f64, %partial: f64):
      %sum_1 = arith.addf %partial, %alone : f64
      linalg.yield %sum_1 : f64
    } -> tensor<?xf64>
    xfuse.yield %result, %gamma_gradient, %beta_gradient : tensor<?x?xf64>, tensor<?xf64>, tensor<?xf64>
  }

  xfuse.recipe @layer_norm_affine_gradients_jax_shared(
      %x: tensor<?x?xf64>, %gamma: tensor<?xf64>, %gradient: tensor<?x?xf64>, %epsilon: f64 {xfuse.scalar}
  ) -> (tensor<?x?xf64>, tensor<?xf64>, tensor<?xf64>) attributes {element_types = [f16, bf16, f32, f64]} {
    %c1 = arith.constant 1 : index
    %n = tensor.dim %x, %c1 : tensor<?x?xf64>
    %count_integer = arith.index_cast %n : index to i64
    %count = arith.sitofp %count_integer : i64 to f64
    %zero = arith.constant 0.0 : f64
    %c0 = arith.constant 0 : index
    %m = tensor.dim %x, %c0 : tensor<?x?xf64>
    %empty = tensor.empty(%m) : tensor<?xf64>
    %start = linalg.fill ins(%zero : f64) outs(%empty : tensor<?xf64>) -> tensor<?xf64>
    %sum = linalg.generic {indexing_maps = [#matrix, #column], iterator_types = ["parallel", "reduction"]}
        ins(%x : tensor<?x?xf64>) outs(%start : tensor<?xf64>) {
    ^bb0(%x_ij: f64, %partial: f64):
      %sum_1 = arith.addf %partial, %x_ij : f64
      linalg.yield %sum_1 : f64
    } -> tensor<?xf64>
    %mean = linalg.generic {indexing_maps = [#each, #each], iterator_types = ["parallel"]}
        ins(%sum : tensor<?xf64>) outs(%empty : tensor<?xf64>) {
    ^bb0(%sum_i: f64, %out: f64):
      %quotient = arith.divf %sum_i, %count : f64
      linalg.yield %quotient : f64
    } -> tensor<?xf64>
    %empty_1 = tensor.empty(%m, %n) : tensor<?x?xf64>
    %centred = linalg.generic {indexing_maps = [#matrix, #column, #matrix], iterator_types = ["parallel", "parallel"]}
        ins(%x, %mean : tensor<?x?xf64>, tensor<?xf64>) outs(%empty_1 : tensor<?x?xf64>) {
    ^bb0(%x_ij: f64, %mean_i: f64, %out: f64):
      %difference = arith.subf %x_ij, %mean_i : f64
      linalg.yield %difference : f64
    } -> tensor<?x?xf64>
    %squares = linalg.generic {indexing_maps = [#matrix, #column], iterator_types = ["parallel", "reduction"]}
        ins(%centred : tensor<?x?xf64>) outs(%start : tensor<?xf64>) {
    ^bb0(%centred_ij: f64, %partial: f64):
      %product = arith.mulf %centred_ij, %centred_ij : f64
      %sum_1 = arith.addf %partial, %product : f64
      linalg.yield %sum_1 : f64
    } -> tensor<?xf64>
    %shifted = linalg.generic {indexing_maps = [#each, #each], iterator_types = ["parallel"]}
        ins(%squares : tensor<?xf64>) outs(%empty : tensor<?xf64>) {
    ^bb0(%squares_i: f64, %out: f64):
      %quotient = arith.divf %squares_i, %count : f64
      %sum_1 = arith.addf %quotient, %epsilon : f64
      linalg.yield %sum_1 : f64
    } -> tensor<?xf64>
    %scale = linalg.generic {indexing_maps = [#each, #each], iterator_types = ["parallel"]}
        ins(%shifted : tensor<?xf64>) outs(%empty : tensor<?xf64>) {
    ^bb0(%shifted_i: f64, %out: f64):
      %inverse_root = math.rsqrt %shifted_i : f64
      linalg.yield %inverse_root : f64
    } -> tensor<?xf64>
    %scaled = linalg.generic {indexing_maps = [#across, #matrix, #matrix], iterator_types = ["parallel", "parallel"]}
        ins(%gamma, %gradient : tensor<?xf64>, tensor<?x?xf64>) outs(%empty_1 : tensor<?x?xf64>) {
    ^bb0(%gamma_j: f64, %gradient_ij: f64, %out: f64):
      %product = arith.mulf %gamma_j, %gradient_ij : f64
      linalg.yield %product : f64
    } -> tensor<?x?xf64>
    %direct = linalg.generic {indexing_maps = [#matrix, #column, #matrix], iterator_types = ["parallel", "parallel"]}
        ins(%scaled, %scale : tensor<?x?xf64>, tensor<?xf64>) outs(%empty_1 : tensor<?x?xf64>) {
    ^bb0(%scaled_ij: f64, %scale_i: f64, %out: f64):
      %product = arith.mulf %scaled_ij, %scale_i : f64
      linalg.yield %product : f64
    } -> tensor<?x?xf64>
    %projection = linalg.generic {indexing_maps = [#matrix, #matrix, #column],
        iterator_types = ["parallel", "reduction"]}
        ins(%scaled, %centred : tensor<?x?xf64>, tensor<?x?xf64>) outs(%start : tensor<?xf64>) {
    ^bb0(%scaled_ij: f64, %centred_ij: f64, %partial: f64):
      %product = arith.mulf %scaled_ij, %centred_ij : f64
      %sum_1 = arith.addf %partial, %product : f64
      linalg.yield %sum_1 : f64
    } -> tensor<?xf64>
    %negative_half = arith.constant -0.5 : f64
    %slope = linalg.generic {indexing_maps = [#each, #each, #each], iterator_types = ["parallel"]}
        ins(%scale, %shifted : tensor<?xf64>, tensor<?xf64>) outs(%empty : tensor<?xf64>) {
    ^bb0(%scale_i: f64, %shifted_i: f64, %out: f64):
      %quotient = arith.divf %scale_i, %shifted_i : f64
      %product = arith.mulf %quotient, %negative_half : f64
      linalg.yield %product : f64
    } -> tensor<?xf64>
    %weight_alone = linalg.generic {indexing_maps = [#each, #each, #each], iterator_types = ["parallel"]}
        ins(%projection, %slope : tensor<?xf64>, tensor<?xf64>) outs(%empty : tensor<?xf64>) {
    ^bb0(%projection_i: f64, %slope_i: f64, %out: f64):
      %product = arith.mulf %projection_i, %slope_i : f64
      %quotient = arith.divf %product, %count : f64
      linalg.yield %quotient : f64
    } -> tensor<?xf64>
    %weight_kept = tensor.expand_shape %weight_alone [[0, 1]] output_shape [%m, 1] : tensor<?xf64> into tensor<?x1xf64>
    %weight = linalg.generic {indexing_maps = [#matrix, #column], iterator_types = ["parallel", "reduction"]}
        ins(%weight_kept : tensor<?x1xf64>) outs(%start : tensor<?xf64>) {
    ^bb0(%alone: f64, %partial: f64):
      %sum_1 = arith.addf %partial, %alone : f64
      linalg.yield %sum_1 : f64
    } -> tensor<?xf64>
    %two = arith.constant 2.0 : f64
    %through_variance = linalg.generic {indexing_maps = [#matrix, #column, #matrix],
        iterator_types = ["parallel", "parallel"]}
        ins(%centred, %weight : tensor<?x?xf64>, tensor<?xf64>) outs(%empty_1 : tensor<?x?xf64>) {
    ^bb0(%centred_ij: f64, %weight_i: f64, %out: f64):
      %product = arith.mulf %centred_ij, %two : f64
      %product_1 = arith.mulf %product, %weight_i : f64
      linalg.yield %product_1 : f64
    } -> tensor<?x?xf64>
    %through_difference = linalg.generic {indexing_maps = [#matrix, #matrix, #matrix],
        iterator_types = ["parallel", "parallel"]}
        ins(%direct, %through_variance : tensor<?x?xf64>, tensor<?x?xf64>) outs(%empty_1 : tensor<?x?xf64>) {
    ^bb0(%direct_ij: f64, %through_variance_ij: f64, %out: f64):
      %sum_1 = arith.addf %direct_ij, %through_variance_ij : f64
      linalg.yield %sum_1 : f64
    } -> tensor<?x?xf64>
    %sum_through = linalg.generic {indexing_maps = [#matrix, #column], iterator_types = ["parallel", "reduction"]}
        ins(%through_difference : tensor<?x?xf64>) outs(%start : tensor<?xf64>) {
    ^bb0(%through_difference_ij: f64, %partial: f64):
      %negative = arith.negf %through_difference_ij : f64
      %sum_1 = arith.addf %partial, %negative : f64
      linalg.yield %sum_1 : f64
    } -> tensor<?xf64>
    %through_mean_alone = linalg.generic {indexing_maps = [#each, #each], iterator_types = ["parallel"]}
        ins(%sum_through : tensor<?xf64>) outs(%empty : tensor<?xf64>) {
    ^bb0(%sum_through_i: f64, %out: f64):
      %quotient = arith.divf %sum_through_i, %count : f64
      linalg.yield %quotient : f64
    } -> tensor<?xf64>
    %through_mean_kept = tensor.expand_shape %through_mean_alone [[0, 1]] output_shape [%m, 1]
        : tensor<?xf64> into tensor<?x1xf64>
    %through_mean = linalg.generic {indexing_maps = [#matrix, #column], iterator_types = ["parallel", "reduction"]}
        ins(%through_mean_kept : tensor<?x1xf64>) outs(%start : tensor<?xf64>) {
    ^bb0(%alone: f64, %partial: f64):
      %sum_1 = arith.addf %partial, %alone : f64
      linalg.yield %sum_1 : f64
    } -> tensor<?xf64>
    %result = linalg.generic {indexing_maps = [#matrix, #column, #matrix], iterator_types = ["parallel", "parallel"]}
        ins(%through_difference, %through_mean : tensor<?x?xf64>, tensor<?xf64>) outs(%empty_1 : tensor<?x?xf64>) {
    ^bb0(%through_difference_ij: f64, %through_mean_i: f64, %out: f64):
      %sum_1 = arith.addf %through_difference_ij, %through_mean_i : f64
      linalg.yield %sum_1 : f64
    } -> tensor<?x?xf64>
    %empty_2 = tensor.empty(%n) : tensor<?xf64>
    %start_1 = linalg.fill ins(%zero : f64) outs(%empty_2 : tensor<?xf64>) -> tensor<?xf64>
    %gamma_sum = linalg.generic {indexing_maps = [#matrix, #matrix, #column, #across],
        iterator_types = ["reduction", "parallel"]}
        ins(%gradient, %centred, %scale : tensor<?x?xf64>, tensor<?x?xf64>, tensor<?xf64>)
        outs(%start_1 : tensor<?xf64>) {
    ^bb0(%gradient_ij: f64, %centred_ij: f64, %scale_i: f64, %partial: f64):
      %product = arith.mulf %centred_ij, %scale_i : f64
      %product_1 = arith.mulf %gradient_ij, %product : f64
      %sum_1 = arith.addf %partial, %product_1 : f64
      linalg.yield %sum_1 : f64
    } -> tensor<?xf64>
    %beta_sum = linalg.generic {indexing_maps = [#matrix, #across], iterator_types = ["reduction", "parallel"]}
        ins(%gradient : tensor<?x?xf64>) outs(%start_1 : tensor<?xf64>) {
    ^bb0(%gradient_ij: f64, %partial: f64):
      %sum_1 = arith.addf %partial, %gradient_ij : f64
      linalg.yield %sum_1 : f64
    } -> tensor<?xf64>
    %gamma_gradient_kept = tensor.expand_shape %gamma_sum [[0, 1]] output_shape [1, %n]
        : tensor<?xf64> into tensor<1x?xf64>
    %gamma_gradient = linalg.generic {indexing_maps = [#matrix, #across], iterator_types = ["reduction", "parallel"]}
        ins(%gamma_gradient_kept : tensor<1x?xf64>) outs(%start_1 : tensor<?xf64>) {
    ^bb0(%alone: f64, %partial: f64):
      %sum_1 = arith.addf %partial, %alone : f64
      linalg.yield %sum_1 : f64
    } -> tensor<?xf64>
    %beta_gradient_kept = tensor.expand_shape %beta_sum [[0, 1]] output_shape [1, %n]
        : tensor<?xf64> into tensor<1x?xf64>
    %beta_gradient = linalg.generic {indexing_maps = [#matrix, #across], iterator_types = ["reduction", "parallel"]}
        ins(%beta_gradient_kept : tensor<1x?xf64>) outs(%start_1 : tensor<?xf64>) {
    ^bb0(%alone: f64, %partial: f64):
      %sum_1 = arith.addf %partial, %alone : f64
      linalg.yield %sum_1 : f64
    } -> tensor<?xf64>
    xfuse.yield %result, %gamma_gradient, %beta_gradient : tensor<?x?xf64>, tensor<?xf64>, tensor<?xf64>
  }

  xfuse.recipe @layer_norm_affine_gradients_accumulating(
      %x: tensor<?x?xf64> {xfuse.accumulator = f32}, %gamma: tensor<?xf64> {xfuse.accumulator = f32},
      %gradient: tensor<?x?xf64> {xfuse.accumulator = f32}, %epsilon: f64 {xfuse.scalar, xfuse.accumulator = f32}
  ) -> (tensor<?x?xf64>, tensor<?xf64>, tensor<?xf64>) attributes {element_types = [f16, bf16, f32, f64]} {
    %c1 = arith.constant 1 : index
    %n = tensor.dim %x, %c1 : tensor<?x?xf64>
    %count_integer = arith.index_cast %n : index to i64
    %count = arith.sitofp %count_integer : i64 to f64
    %zero = arith.constant 0.0 : f64
    %c0 = arith.constant 0 : index
    %m = tensor.dim %x, %c0 : tensor<?x?xf64>
    %empty = tensor.empty(%m) : tensor<?xf64>
    %start = linalg.fill ins(%zero : f64) outs(%empty : tensor<?xf64>) -> tensor<?xf64>
    %sum = linalg.generic {indexing_maps = [#matrix, #column], iterator_types = ["parallel", "reduction"]}
        ins(%x : tensor<?x?xf64>) outs(%start : tensor<?xf64>) {
    ^bb0(%x_ij: f64, %partial: f64):
      %sum_1 = arith.addf %partial, %x_ij : f64
      linalg.yield %sum_1 : f64
    } -> tensor<?xf64>
    %mean = linalg.generic {indexing_maps = [#each, #each], iterator_types = ["parallel"]}
        ins(%sum : tensor<?xf64>) outs(%empty : tensor<?xf64>) {
    ^bb0(%sum_i: f64, %out: f64):
      %quotient = arith.divf %sum_i, %count : f64
      linalg.yield %quotient : f64
    } -> tensor<?xf64>
    %empty_1 = tensor.empty(%m, %n) : tensor<?x?xf64>
    %centred = linalg.generic {indexing_maps = [#matrix, #column, #matrix], iterator_types = ["parallel", "parallel"]}
        ins(%x, %mean : tensor<?x?xf64>, tensor<?xf64>) outs(%empty_1 : tensor<?x?xf64>) {
    ^bb0(%x_ij: f64, %mean_i: f64, %out: f64):
      %difference = arith.subf %x_ij, %mean_i : f64
      linalg.yield %difference : f64
    } -> tensor<?x?xf64>
    %squares = linalg.generic {indexing_maps = [#matrix, #column], iterator_types = ["parallel", "reduction"]}
        ins(%centred : tensor<?x?xf64>) outs(%start : tensor<?xf64>) {
    ^bb0(%centred_ij: f64, %partial: f64):
      %product = arith.mulf %centred_ij, %centred_ij : f64
      %sum_1 = arith.addf %partial, %product : f64
      linalg.yield %sum_1 : f64
    } -> tensor<?xf64>
    %shifted = linalg.generic {indexing_maps = [#each, #each], iterator_types = ["parallel"]}
        ins(%squares : tensor<?xf64>) outs(%empty : tensor<?xf64>) {
    ^bb0(%squares_i: f64, %out: f64):
      %quotient = arith.divf %squares_i, %count : f64
      %sum_1 = arith.addf %quotient, %epsilon : f64
      linalg.yield %sum_1 : f64
    } -> tensor<?xf64>
    %scale = linalg.generic {indexing_maps = [#each, #each], iterator_types = ["parallel"]}
        ins(%shifted : tensor<?xf64>) outs(%empty : tensor<?xf64>) {
    ^bb0(%shifted_i: f64, %out: f64):
      %inverse_root = math.rsqrt %shifted_i : f64
      linalg.yield %inverse_root : f64
    } -> tensor<?xf64>
    %scaled = linalg.generic {indexing_maps = [#across, #matrix, #matrix], iterator_types = ["parallel", "parallel"]}
        ins(%gamma, %gradient : tensor<?xf64>, tensor<?x?xf64>) outs(%empty_1 : tensor<?x?xf64>) {
    ^bb0(%gamma_j: f64, %gradient_ij: f64, %out: f64):
      %product = arith.mulf %gamma_j, %gradient_ij : f64
      linalg.yield %product : f64
    } -> tensor<?x?xf64>
    %normal = linalg.generic {indexing_maps = [#matrix, #column, #matrix], iterator_types = ["parallel", "parallel"]}
        ins(%centred, %scale : tensor<?x?xf64>, tensor<?xf64>) outs(%empty_1 : tensor<?x?xf64>) {
    ^bb0(%centred_ij: f64, %scale_i: f64, %out: f64):
      %product = arith.mulf %centred_ij, %scale_i : f64
      linalg.yield %product : f64
    } -> tensor<?x?xf64>
    %sum_scaled = linalg.generic {indexing_maps = [#matrix, #column], iterator_types = ["parallel", "reduction"]}
        ins(%scaled : tensor<?x?xf64>) outs(%start : tensor<?xf64>) {
    ^bb0(%scaled_ij: f64, %partial: f64):
      %sum_1 = arith.addf %partial, %scaled_ij : f64
      linalg.yield %sum_1 : f64
    } -> tensor<?xf64>
    %projection = linalg.generic {indexing_maps = [#matrix, #matrix, #column],
        iterator_types = ["parallel", "reduction"]}
        ins(%scaled, %normal : tensor<?x?xf64>, tensor<?x?xf64>) outs(%start : tensor<?xf64>) {
    ^bb0(%scaled_ij: f64, %normal_ij: f64, %partial: f64):
      %product = arith.mulf %scaled_ij, %normal_ij : f64
      %sum_1 = arith.addf %partial, %product : f64
      linalg.yield %sum_1 : f64
    } -> tensor<?xf64>
    %result = linalg.generic {indexing_maps = [#column, #matrix, #column, #matrix, #column, #matrix],
        iterator_types = ["parallel", "parallel"]}
        ins(%scale, %scaled, %sum_scaled, %normal, %projection :
            tensor<?xf64>, tensor<?x?xf64>, tensor<?xf64>, tensor<?x?xf64>, tensor<?xf64>)
        outs(%empty_1 : tensor<?x?xf64>) {
    ^bb0(%scale_i: f64, %scaled_ij: f64, %sum_scaled_i: f64, %normal_ij: f64, %projection_i: f64, %out: f64):
      %quotient = arith.divf %sum_scaled_i, %count : f64
      %difference = arith.subf %scaled_ij, %quotient : f64
      %quotient_1 = arith.divf %projection_i, %count : f64
      %product = arith.mulf %normal_ij, %quotient_1 : f64
      %difference_1 = arith.subf %difference, %product : f64
      %product_1 = arith.mulf %scale_i, %difference_1 : f64
      linalg.yield %product_1 : f64
    } -> tensor<?x?xf64>
    %empty_2 = tensor.empty(%n) : tensor<?xf64>
    %start_1 = linalg.fill ins(%zero : f64) outs(%empty_2 : tensor<?xf64>) -> tensor<?xf64>
    %gamma_gradient = linalg.generic {indexing_maps = [#matrix, #matrix, #across],
        iterator_types = ["reduction", "parallel"]}
        ins(%gradient, %normal : tensor<?x?xf64>, tensor<?x?xf64>) outs(%start_1 : tensor<?xf64>) {
    ^bb0(%gradient_ij: f64, %normal_ij: f64, %partial: f64):
      %product = arith.mulf %gradient_ij, %normal_ij : f64
      %sum_1 = arith.addf %partial, %product : f64
      linalg.yield %sum_1 : f64
    } -> tensor<?xf64>
    %beta_gradient = linalg.generic {indexing_maps = [#matrix, #across], iterator_types = ["reduction", "parallel"]}
        ins(%gradient : tensor<?x?xf64>) outs(%start_1 : tensor<?xf64>) {
    ^bb0(%gradient_ij: f64, %partial: f64):
      %sum_1 = arith.addf %partial, %gradient_ij : f64
      linalg.yield %sum_1 : f64
    } -> tensor<?xf64>
    xfuse.yield %result, %gamma_gradient, %beta_gradient : tensor<?x?xf64>, tensor<?xf64>, tensor<?xf64>
  }
}
