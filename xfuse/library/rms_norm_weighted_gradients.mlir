// rms_norm_weighted_gradients(x, weight, gradient) = the gradients of x and weight of rms_norm_weighted
//
// (n,m),(m),(n,m),()->(n,m),(m): the results of rms_norm_weighted_backward and rms_norm_weight_backward in one, rows by
// elements.
//
// @rms_norm_weighted_gradients               textbook
// @rms_norm_weighted_gradients_jax           JAX, of `x * rsqrt(mean(square(x)) + epsilon) * weight`
// @rms_norm_weighted_gradients_accumulating  textbook, at no narrower a type than f32
#matrix = affine_map<(m, n) -> (m, n)>
#column = affine_map<(m, n) -> (m)>
#across = affine_map<(m, n) -> (n)>
#each = affine_map<(m) -> (m)>

xfuse.library @rms_norm_weighted_gradients {
  xfuse.recipe @rms_norm_weighted_gradients(
      %x: tensor<?x?xf64>, %weight: tensor<?xf64>, %gradient: tensor<?x?xf64>, %epsilon: f64 {xfuse.scalar}
  ) -> (tensor<?x?xf64>, tensor<?xf64>) attributes {element_types = [f16, bf16, f32, f64]} {
    %c1 = arith.constant 1 : index
    %n = tensor.dim %x, %c1 : tensor<?x?xf64>
    %count_integer = arith.index_cast %n : index to i64
    %count = arith.sitofp %count_integer : i64 to f64
    %zero = arith.constant 0.0 : f64
    %c0 = arith.constant 0 : index
    %m = tensor.dim %x, %c0 : tensor<?x?xf64>
    %empty = tensor.empty(%m) : tensor<?xf64>
    %start = linalg.fill ins(%zero : f64) outs(%empty : tensor<?xf64>) -> tensor<?xf64>
    %squares = linalg.generic {indexing_maps = [#matrix, #column], iterator_types = ["parallel", "reduction"]}
        ins(%x : tensor<?x?xf64>) outs(%start : tensor<?xf64>) {
    ^bb0(%x_ij: f64, %partial: f64):
      %product = arith.mulf %x_ij, %x_ij : f64
      %sum = arith.addf %partial, %product : f64
      linalg.yield %sum : f64
    } -> tensor<?xf64>
    %shifted = linalg.generic {indexing_maps = [#each, #each], iterator_types = ["parallel"]}
        ins(%squares : tensor<?xf64>) outs(%empty : tensor<?xf64>) {
    ^bb0(%squares_i: f64, %out: f64):
      %quotient = arith.divf %squares_i, %count : f64
      %sum = arith.addf %quotient, %epsilon : f64
      linalg.yield %sum : f64
    } -> tensor<?xf64>
    %scale = linalg.generic {indexing_maps = [#each, #each], iterator_types = ["parallel"]}
        ins(%shifted : tensor<?xf64>) outs(%empty : tensor<?xf64>) {
    ^bb0(%shifted_i: f64, %out: f64):
      %inverse_root = math.rsqrt %shifted_i : f64
      linalg.yield %inverse_root : f64
    } -> tensor<?xf64>
    %empty_1 = tensor.empty(%m, %n) : tensor<?x?xf64>
    %scaled = linalg.generic {indexing_maps = [#across, #matrix, #matrix], iterator_types = ["parallel", "parallel"]}
        ins(%weight, %gradient : tensor<?xf64>, tensor<?x?xf64>) outs(%empty_1 : tensor<?x?xf64>) {
    ^bb0(%weight_j: f64, %gradient_ij: f64, %out: f64):
      %product = arith.mulf %weight_j, %gradient_ij : f64
      linalg.yield %product : f64
    } -> tensor<?x?xf64>
    %projection = linalg.generic {indexing_maps = [#matrix, #matrix, #column],
        iterator_types = ["parallel", "reduction"]}
        ins(%scaled, %x : tensor<?x?xf64>, tensor<?x?xf64>) outs(%start : tensor<?xf64>) {
    ^bb0(%scaled_ij: f64, %x_ij: f64, %partial: f64):
      %product = arith.mulf %scaled_ij, %x_ij : f64
      %sum = arith.addf %partial, %product : f64
      linalg.yield %sum : f64
    } -> tensor<?xf64>
    %share = linalg.generic {indexing_maps = [#each, #each, #each], iterator_types = ["parallel"]}
        ins(%projection, %shifted : tensor<?xf64>, tensor<?xf64>) outs(%empty : tensor<?xf64>) {
    ^bb0(%projection_i: f64, %shifted_i: f64, %out: f64):
      %product = arith.mulf %count, %shifted_i : f64
      %quotient = arith.divf %projection_i, %product : f64
      linalg.yield %quotient : f64
    } -> tensor<?xf64>
    %result = linalg.generic {indexing_maps = [#column, #matrix, #matrix, #column, #matrix],
        iterator_types = ["parallel", "parallel"]}
        ins(%scale, %scaled, %x, %share : tensor<?xf64>, tensor<?x?xf64>, tensor<?x?xf64>, tensor<?xf64>)
        outs(%empty_1 : tensor<?x?xf64>) {
    ^bb0(%scale_i: f64, %scaled_ij: f64, %x_ij: f64, %share_i: f64, %out: f64):
      %product = arith.mulf %x_ij, %share_i : f64
      %difference = arith.subf %scaled_ij, %product : f64
      %product_1 = arith.mulf %scale_i, %difference : f64
      linalg.yield %product_1 : f64
    } -> tensor<?x?xf64>
    %empty_2 = tensor.empty(%n) : tensor<?xf64>
    %start_1 = linalg.fill ins(%zero : f64) outs(%empty_2 : tensor<?xf64>) -> tensor<?xf64>
    %weight_gradient = linalg.generic {indexing_maps = [#matrix, #matrix, #column, #across],
        iterator_types = ["reduction", "parallel"]}
        ins(%gradient, %x, %scale : tensor<?x?xf64>, tensor<?x?xf64>, tensor<?xf64>) outs(%start_1 : tensor<?xf64>) {
    ^bb0(%gradient_ij: f64, %x_ij: f64, %scale_i: f64, %partial: f64):
      %product = arith.mulf %x_ij, %scale_i : f64
      %product_1 = arith.mulf %gradient_ij, %product : f64
      %sum = arith.addf %partial, %product_1 : f64
      linalg.yield %sum : f64
    } -> tensor<?xf64>
    xfuse.yield %result, %weight_gradient : tensor<?x?xf64>, tensor<?xf64>
  }

  xfuse.recipe @rms_norm_weighted_gradients_jax(
      %x: tensor<?x?xf64>, %weight: tensor<?xf64>, %gradient: tensor<?x?xf64>, %epsilon: f64 {xfuse.scalar}
  ) -> (tensor<?x?xf64>, tensor<?xf64>) attributes {element_types = [f16, bf16, f32, f64]} {
    %c1 = arith.constant 1 : index
    %n = tensor.dim %x, %c1 : tensor<?x?xf64>
    %count_integer = arith.index_cast %n : index to i64
    %count = arith.sitofp %count_integer : i64 to f64
    %zero = arith.constant 0.0 : f64
    %c0 = arith.constant 0 : index
    %m = tensor.dim %x, %c0 : tensor<?x?xf64>
    %empty = tensor.empty(%m) : tensor<?xf64>
    %start = linalg.fill ins(%zero : f64) outs(%empty : tensor<?xf64>) -> tensor<?xf64>
    %squares = linalg.generic {indexing_maps = [#matrix, #column], iterator_types = ["parallel", "reduction"]}
        ins(%x : tensor<?x?xf64>) outs(%start : tensor<?xf64>) {
    ^bb0(%x_ij: f64, %partial: f64):
      %product = arith.mulf %x_ij, %x_ij : f64
      %sum = arith.addf %partial, %product : f64
      linalg.yield %sum : f64
    } -> tensor<?xf64>
    %shifted = linalg.generic {indexing_maps = [#each, #each], iterator_types = ["parallel"]}
        ins(%squares : tensor<?xf64>) outs(%empty : tensor<?xf64>) {
    ^bb0(%squares_i: f64, %out: f64):
      %quotient = arith.divf %squares_i, %count : f64
      %sum = arith.addf %quotient, %epsilon : f64
      linalg.yield %sum : f64
    } -> tensor<?xf64>
    %scale = linalg.generic {indexing_maps = [#each, #each], iterator_types = ["parallel"]}
        ins(%shifted : tensor<?xf64>) outs(%empty : tensor<?xf64>) {
    ^bb0(%shifted_i: f64, %out: f64):
      %inverse_root = math.rsqrt %shifted_i : f64
      linalg.yield %inverse_root : f64
    } -> tensor<?xf64>
    %empty_1 = tensor.empty(%m, %n) : tensor<?x?xf64>
    %scaled = linalg.generic {indexing_maps = [#across, #matrix, #matrix], iterator_types = ["parallel", "parallel"]}
        ins(%weight, %gradient : tensor<?xf64>, tensor<?x?xf64>) outs(%empty_1 : tensor<?x?xf64>) {
    ^bb0(%weight_j: f64, %gradient_ij: f64, %out: f64):
      %product = arith.mulf %weight_j, %gradient_ij : f64
      linalg.yield %product : f64
    } -> tensor<?x?xf64>
    %projection = linalg.generic {indexing_maps = [#matrix, #matrix, #column],
        iterator_types = ["parallel", "reduction"]}
        ins(%scaled, %x : tensor<?x?xf64>, tensor<?x?xf64>) outs(%start : tensor<?xf64>) {
    ^bb0(%scaled_ij: f64, %x_ij: f64, %partial: f64):
      %product = arith.mulf %scaled_ij, %x_ij : f64
      %sum = arith.addf %partial, %product : f64
      linalg.yield %sum : f64
    } -> tensor<?xf64>
    %negative_half = arith.constant -0.5 : f64
    %slope = linalg.generic {indexing_maps = [#each, #each, #each], iterator_types = ["parallel"]}
        ins(%scale, %shifted : tensor<?xf64>, tensor<?xf64>) outs(%empty : tensor<?xf64>) {
    ^bb0(%scale_i: f64, %shifted_i: f64, %out: f64):
      %quotient = arith.divf %scale_i, %shifted_i : f64
      %product = arith.mulf %quotient, %negative_half : f64
      linalg.yield %product : f64
    } -> tensor<?xf64>
    %pull_alone = linalg.generic {indexing_maps = [#each, #each, #each], iterator_types = ["parallel"]}
        ins(%projection, %slope : tensor<?xf64>, tensor<?xf64>) outs(%empty : tensor<?xf64>) {
    ^bb0(%projection_i: f64, %slope_i: f64, %out: f64):
      %product = arith.mulf %projection_i, %slope_i : f64
      %quotient = arith.divf %product, %count : f64
      linalg.yield %quotient : f64
    } -> tensor<?xf64>
    %pull_kept = tensor.expand_shape %pull_alone [[0, 1]] output_shape [%m, 1] : tensor<?xf64> into tensor<?x1xf64>
    %pull = linalg.generic {indexing_maps = [#matrix, #column], iterator_types = ["parallel", "reduction"]}
        ins(%pull_kept : tensor<?x1xf64>) outs(%start : tensor<?xf64>) {
    ^bb0(%alone: f64, %partial: f64):
      %sum = arith.addf %partial, %alone : f64
      linalg.yield %sum : f64
    } -> tensor<?xf64>
    %two = arith.constant 2.0 : f64
    %result = linalg.generic {indexing_maps = [#matrix, #column, #matrix, #column, #matrix],
        iterator_types = ["parallel", "parallel"]}
        ins(%scaled, %scale, %x, %pull : tensor<?x?xf64>, tensor<?xf64>, tensor<?x?xf64>, tensor<?xf64>)
        outs(%empty_1 : tensor<?x?xf64>) {
    ^bb0(%scaled_ij: f64, %scale_i: f64, %x_ij: f64, %pull_i: f64, %out: f64):
      %product = arith.mulf %scaled_ij, %scale_i : f64
      %product_1 = arith.mulf %x_ij, %two : f64
      %product_2 = arith.mulf %product_1, %pull_i : f64
      %sum = arith.addf %product, %product_2 : f64
      linalg.yield %sum : f64
    } -> tensor<?x?xf64>
    %empty_2 = tensor.empty(%n) : tensor<?xf64>
    %start_1 = linalg.fill ins(%zero : f64) outs(%empty_2 : tensor<?xf64>) -> tensor<?xf64>
    %weight_sum = linalg.generic {indexing_maps = [#matrix, #matrix, #column, #across],
        iterator_types = ["reduction", "parallel"]}
        ins(%gradient, %x, %scale : tensor<?x?xf64>, tensor<?x?xf64>, tensor<?xf64>) outs(%start_1 : tensor<?xf64>) {
    ^bb0(%gradient_ij: f64, %x_ij: f64, %scale_i: f64, %partial: f64):
      %product = arith.mulf %x_ij, %scale_i : f64
      %product_1 = arith.mulf %gradient_ij, %product : f64
      %sum = arith.addf %partial, %product_1 : f64
      linalg.yield %sum : f64
    } -> tensor<?xf64>
    %weight_gradient_kept = tensor.expand_shape %weight_sum [[0, 1]] output_shape [1, %n]
        : tensor<?xf64> into tensor<1x?xf64>
    %weight_gradient = linalg.generic {indexing_maps = [#matrix, #across], iterator_types = ["reduction", "parallel"]}
        ins(%weight_gradient_kept : tensor<1x?xf64>) outs(%start_1 : tensor<?xf64>) {
    ^bb0(%alone: f64, %partial: f64):
      %sum = arith.addf %partial, %alone : f64
      linalg.yield %sum : f64
    } -> tensor<?xf64>
    xfuse.yield %result, %weight_gradient : tensor<?x?xf64>, tensor<?xf64>
  }

  xfuse.recipe @rms_norm_weighted_gradients_accumulating(
      %x: tensor<?x?xf64> {xfuse.accumulator = f32}, %weight: tensor<?xf64> {xfuse.accumulator = f32},
      %gradient: tensor<?x?xf64> {xfuse.accumulator = f32}, %epsilon: f64 {xfuse.scalar, xfuse.accumulator = f32}
  ) -> (tensor<?x?xf64>, tensor<?xf64>) attributes {element_types = [f16, bf16, f32, f64]} {
    %c1 = arith.constant 1 : index
    %n = tensor.dim %x, %c1 : tensor<?x?xf64>
    %count_integer = arith.index_cast %n : index to i64
    %count = arith.sitofp %count_integer : i64 to f64
    %zero = arith.constant 0.0 : f64
    %c0 = arith.constant 0 : index
    %m = tensor.dim %x, %c0 : tensor<?x?xf64>
    %empty = tensor.empty(%m) : tensor<?xf64>
    %start = linalg.fill ins(%zero : f64) outs(%empty : tensor<?xf64>) -> tensor<?xf64>
    %squares = linalg.generic {indexing_maps = [#matrix, #column], iterator_types = ["parallel", "reduction"]}
        ins(%x : tensor<?x?xf64>) outs(%start : tensor<?xf64>) {
    ^bb0(%x_ij: f64, %partial: f64):
      %product = arith.mulf %x_ij, %x_ij : f64
      %sum = arith.addf %partial, %product : f64
      linalg.yield %sum : f64
    } -> tensor<?xf64>
    %shifted = linalg.generic {indexing_maps = [#each, #each], iterator_types = ["parallel"]}
        ins(%squares : tensor<?xf64>) outs(%empty : tensor<?xf64>) {
    ^bb0(%squares_i: f64, %out: f64):
      %quotient = arith.divf %squares_i, %count : f64
      %sum = arith.addf %quotient, %epsilon : f64
      linalg.yield %sum : f64
    } -> tensor<?xf64>
    %scale = linalg.generic {indexing_maps = [#each, #each], iterator_types = ["parallel"]}
        ins(%shifted : tensor<?xf64>) outs(%empty : tensor<?xf64>) {
    ^bb0(%shifted_i: f64, %out: f64):
      %inverse_root = math.rsqrt %shifted_i : f64
      linalg.yield %inverse_root : f64
    } -> tensor<?xf64>
    %empty_1 = tensor.empty(%m, %n) : tensor<?x?xf64>
    %scaled = linalg.generic {indexing_maps = [#across, #matrix, #matrix], iterator_types = ["parallel", "parallel"]}
        ins(%weight, %gradient : tensor<?xf64>, tensor<?x?xf64>) outs(%empty_1 : tensor<?x?xf64>) {
    ^bb0(%weight_j: f64, %gradient_ij: f64, %out: f64):
      %product = arith.mulf %weight_j, %gradient_ij : f64
      linalg.yield %product : f64
    } -> tensor<?x?xf64>
    %projection = linalg.generic {indexing_maps = [#matrix, #matrix, #column],
        iterator_types = ["parallel", "reduction"]}
        ins(%scaled, %x : tensor<?x?xf64>, tensor<?x?xf64>) outs(%start : tensor<?xf64>) {
    ^bb0(%scaled_ij: f64, %x_ij: f64, %partial: f64):
      %product = arith.mulf %scaled_ij, %x_ij : f64
      %sum = arith.addf %partial, %product : f64
      linalg.yield %sum : f64
    } -> tensor<?xf64>
    %share = linalg.generic {indexing_maps = [#each, #each, #each], iterator_types = ["parallel"]}
        ins(%projection, %shifted : tensor<?xf64>, tensor<?xf64>) outs(%empty : tensor<?xf64>) {
    ^bb0(%projection_i: f64, %shifted_i: f64, %out: f64):
      %product = arith.mulf %count, %shifted_i : f64
      %quotient = arith.divf %projection_i, %product : f64
      linalg.yield %quotient : f64
    } -> tensor<?xf64>
    %result = linalg.generic {indexing_maps = [#column, #matrix, #matrix, #column, #matrix],
        iterator_types = ["parallel", "parallel"]}
        ins(%scale, %scaled, %x, %share : tensor<?xf64>, tensor<?x?xf64>, tensor<?x?xf64>, tensor<?xf64>)
        outs(%empty_1 : tensor<?x?xf64>) {
    ^bb0(%scale_i: f64, %scaled_ij: f64, %x_ij: f64, %share_i: f64, %out: f64):
      %product = arith.mulf %x_ij, %share_i : f64
      %difference = arith.subf %scaled_ij, %product : f64
      %product_1 = arith.mulf %scale_i, %difference : f64
      linalg.yield %product_1 : f64
    } -> tensor<?x?xf64>
    %empty_2 = tensor.empty(%n) : tensor<?xf64>
    %start_1 = linalg.fill ins(%zero : f64) outs(%empty_2 : tensor<?xf64>) -> tensor<?xf64>
    %weight_gradient = linalg.generic {indexing_maps = [#matrix, #matrix, #column, #across],
        iterator_types = ["reduction", "parallel"]}
        ins(%gradient, %x, %scale : tensor<?x?xf64>, tensor<?x?xf64>, tensor<?xf64>) outs(%start_1 : tensor<?xf64>) {
    ^bb0(%gradient_ij: f64, %x_ij: f64, %scale_i: f64, %partial: f64):
      %product = arith.mulf %x_ij, %scale_i : f64
      %product_1 = arith.mulf %gradient_ij, %product : f64
      %sum = arith.addf %partial, %product_1 : f64
      linalg.yield %sum : f64
    } -> tensor<?xf64>
    xfuse.yield %result, %weight_gradient : tensor<?x?xf64>, tensor<?xf64>
  }
}
