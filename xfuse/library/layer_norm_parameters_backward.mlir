// layer_norm_parameters_backward(x, gradient) = the sums over rows of gradient normal and of gradient
//
// (n,m),(n,m),()->(m),(m): the gradients of gamma and beta; normal is the layer norm of x without them.
//
// @layer_norm_parameters_backward               textbook and PyTorch
// @layer_norm_parameters_backward_jax           JAX: the sums are added once more, over an axis of extent one
// @layer_norm_parameters_backward_accumulating  textbook, at no narrower a type than f32
#matrix = affine_map<(m, n) -> (m, n)>
#column = affine_map<(m, n) -> (m)>
#across = affine_map<(m, n) -> (n)>
#each = affine_map<(m) -> (m)>

xfuse.library @layer_norm_parameters_backward {
  xfuse.recipe @layer_norm_parameters_backward(
      %x: tensor<?x?xf64>, %gradient: tensor<?x?xf64>, %epsilon: f64 {xfuse.scalar}
  ) -> (tensor<?xf64>, tensor<?xf64>) attributes {element_types = [f16, bf16, f32, f64]} {
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
    %scale = linalg.generic {indexing_maps = [#each, #each], iterator_types = ["parallel"]}
        ins(%squares : tensor<?xf64>) outs(%empty : tensor<?xf64>) {
    ^bb0(%squares_i: f64, %out: f64):
      %quotient = arith.divf %squares_i, %count : f64
      %sum_1 = arith.addf %quotient, %epsilon : f64
      %inverse_root = math.rsqrt %sum_1 : f64
      linalg.yield %inverse_root : f64
    } -> tensor<?xf64>
    %empty_2 = tensor.empty(%n) : tensor<?xf64>
    %start_1 = linalg.fill ins(%zero : f64) outs(%empty_2 : tensor<?xf64>) -> tensor<?xf64>
    %gamma = linalg.generic {indexing_maps = [#matrix, #matrix, #column, #across],
        iterator_types = ["reduction", "parallel"]}
        ins(%gradient, %centred, %scale : tensor<?x?xf64>, tensor<?x?xf64>, tensor<?xf64>)
        outs(%start_1 : tensor<?xf64>) {
    ^bb0(%gradient_ij: f64, %centred_ij: f64, %scale_i: f64, %partial: f64):
      %product = arith.mulf %centred_ij, %scale_i : f64
      %product_1 = arith.mulf %gradient_ij, %product : f64
      %sum_1 = arith.addf %partial, %product_1 : f64
      linalg.yield %sum_1 : f64
    } -> tensor<?xf64>
    %beta = linalg.generic {indexing_maps = [#matrix, #across], iterator_types = ["reduction", "parallel"]}
        ins(%gradient : tensor<?x?xf64>) outs(%start_1 : tensor<?xf64>) {
    ^bb0(%gradient_ij: f64, %partial: f64):
      %sum_1 = arith.addf %partial, %gradient_ij : f64
      linalg.yield %sum_1 : f64
    } -> tensor<?xf64>
    xfuse.yield %gamma, %beta : tensor<?xf64>, tensor<?xf64>
  }

  xfuse.recipe @layer_norm_parameters_backward_jax(
      %x: tensor<?x?xf64>, %gradient: tensor<?x?xf64>, %epsilon: f64 {xfuse.scalar}
  ) -> (tensor<?xf64>, tensor<?xf64>) attributes {element_types = [f16, bf16, f32, f64]} {
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
    %scale = linalg.generic {indexing_maps = [#each, #each], iterator_types = ["parallel"]}
        ins(%squares : tensor<?xf64>) outs(%empty : tensor<?xf64>) {
    ^bb0(%squares_i: f64, %out: f64):
      %quotient = arith.divf %squares_i, %count : f64
      %sum_1 = arith.addf %quotient, %epsilon : f64
      %inverse_root = math.rsqrt %sum_1 : f64
      linalg.yield %inverse_root : f64
    } -> tensor<?xf64>
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
    %gamma_kept = tensor.expand_shape %gamma_sum [[0, 1]] output_shape [1, %n] : tensor<?xf64> into tensor<1x?xf64>
    %gamma = linalg.generic {indexing_maps = [#matrix, #across], iterator_types = ["reduction", "parallel"]}
        ins(%gamma_kept : tensor<1x?xf64>) outs(%start_1 : tensor<?xf64>) {
    ^bb0(%alone: f64, %partial: f64):
      %sum_1 = arith.addf %partial, %alone : f64
      linalg.yield %sum_1 : f64
    } -> tensor<?xf64>
    %beta_kept = tensor.expand_shape %beta_sum [[0, 1]] output_shape [1, %n] : tensor<?xf64> into tensor<1x?xf64>
    %beta = linalg.generic {indexing_maps = [#matrix, #across], iterator_types = ["reduction", "parallel"]}
        ins(%beta_kept : tensor<1x?xf64>) outs(%start_1 : tensor<?xf64>) {
    ^bb0(%alone: f64, %partial: f64):
      %sum_1 = arith.addf %partial, %alone : f64
      linalg.yield %sum_1 : f64
    } -> tensor<?xf64>
    xfuse.yield %gamma, %beta : tensor<?xf64>, tensor<?xf64>
  }

  xfuse.recipe @layer_norm_parameters_backward_accumulating(
      %x: tensor<?x?xf64> {xfuse.accumulator = f32}, %gradient: tensor<?x?xf64> {xfuse.accumulator = f32},
      %epsilon: f64 {xfuse.scalar, xfuse.accumulator = f32}
  ) -> (tensor<?xf64>, tensor<?xf64>) attributes {element_types = [f16, bf16, f32, f64]} {
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
    %scale = linalg.generic {indexing_maps = [#each, #each], iterator_types = ["parallel"]}
        ins(%squares : tensor<?xf64>) outs(%empty : tensor<?xf64>) {
    ^bb0(%squares_i: f64, %out: f64):
      %quotient = arith.divf %squares_i, %count : f64
      %sum_1 = arith.addf %quotient, %epsilon : f64
      %inverse_root = math.rsqrt %sum_1 : f64
      linalg.yield %inverse_root : f64
    } -> tensor<?xf64>
    %empty_2 = tensor.empty(%n) : tensor<?xf64>
    %start_1 = linalg.fill ins(%zero : f64) outs(%empty_2 : tensor<?xf64>) -> tensor<?xf64>
    %gamma = linalg.generic {indexing_maps = [#matrix, #matrix, #column, #across],
        iterator_types = ["reduction", "parallel"]}
        ins(%gradient, %centred, %scale : tensor<?x?xf64>, tensor<?x?xf64>, tensor<?xf64>)
        outs(%start_1 : tensor<?xf64>) {
    ^bb0(%gradient_ij: f64, %centred_ij: f64, %scale_i: f64, %partial: f64):
      %product = arith.mulf %centred_ij, %scale_i : f64
      %product_1 = arith.mulf %gradient_ij, %product : f64
      %sum_1 = arith.addf %partial, %product_1 : f64
      linalg.yield %sum_1 : f64
    } -> tensor<?xf64>
    %beta = linalg.generic {indexing_maps = [#matrix, #across], iterator_types = ["reduction", "parallel"]}
        ins(%gradient : tensor<?x?xf64>) outs(%start_1 : tensor<?xf64>) {
    ^bb0(%gradient_ij: f64, %partial: f64):
      %sum_1 = arith.addf %partial, %gradient_ij : f64
      linalg.yield %sum_1 : f64
    } -> tensor<?xf64>
    xfuse.yield %gamma, %beta : tensor<?xf64>, tensor<?xf64>
  }
}
