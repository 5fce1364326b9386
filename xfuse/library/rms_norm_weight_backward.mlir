// rms_norm_weight_backward(x, gradient) = the sum over rows of gradient x / sqrt(mean(x^2) + epsilon)
//
// (n,m),(n,m),()->(m): rows by elements.
//
// @rms_norm_weight_backward               textbook
// @rms_norm_weight_backward_jax           JAX: the sum is added once more, over an axis of extent one
// @rms_norm_weight_backward_accumulating  textbook, at no narrower a type than f32
#matrix = affine_map<(m, n) -> (m, n)>
#column = affine_map<(m, n) -> (m)>
#across = affine_map<(m, n) -> (n)>
#each = affine_map<(m) -> (m)>

xfuse.library @rms_norm_weight_backward {
  xfuse.recipe @rms_norm_weight_backward(
      %x: tensor<?x?xf64>, %gradient: tensor<?x?xf64>, %epsilon: f64 {xfuse.scalar}
  ) -> tensor<?xf64> attributes {element_types = [f16, bf16, f32, f64]} {
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
    %scale = linalg.generic {indexing_maps = [#each, #each], iterator_types = ["parallel"]}
        ins(%squares : tensor<?xf64>) outs(%empty : tensor<?xf64>) {
    ^bb0(%squares_i: f64, %out: f64):
      %quotient = arith.divf %squares_i, %count : f64
      %sum = arith.addf %quotient, %epsilon : f64
      %inverse_root = math.rsqrt %sum : f64
      linalg.yield %inverse_root : f64
    } -> tensor<?xf64>
    %empty_1 = tensor.empty(%n) : tensor<?xf64>
    %start_1 = linalg.fill ins(%zero : f64) outs(%empty_1 : tensor<?xf64>) -> tensor<?xf64>
    %weight = linalg.generic {indexing_maps = [#matrix, #matrix, #column, #across],
        iterator_types = ["reduction", "parallel"]}
        ins(%gradient, %x, %scale : tensor<?x?xf64>, tensor<?x?xf64>, tensor<?xf64>) outs(%start_1 : tensor<?xf64>) {
    ^bb0(%gradient_ij: f64, %x_ij: f64, %scale_i: f64, %partial: f64):
      %product = arith.mulf %x_ij, %scale_i : f64
      %product_1 = arith.mulf %gradient_ij, %product : f64
      %sum = arith.addf %partial, %product_1 : f64
      linalg.yield %sum : f64
    } -> tensor<?xf64>
    xfuse.yield %weight : tensor<?xf64>
  }

  xfuse.recipe @rms_norm_weight_backward_jax(
      %x: tensor<?x?xf64>, %gradient: tensor<?x?xf64>, %epsilon: f64 {xfuse.scalar}
  ) -> tensor<?xf64> attributes {element_types = [f16, bf16, f32, f64]} {
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
    %scale = linalg.generic {indexing_maps = [#each, #each], iterator_types = ["parallel"]}
        ins(%squares : tensor<?xf64>) outs(%empty : tensor<?xf64>) {
    ^bb0(%squares_i: f64, %out: f64):
      %quotient = arith.divf %squares_i, %count : f64
      %sum = arith.addf %quotient, %epsilon : f64
      %inverse_root = math.rsqrt %sum : f64
      linalg.yield %inverse_root : f64
    } -> tensor<?xf64>
    %empty_1 = tensor.empty(%n) : tensor<?xf64>
    %start_1 = linalg.fill ins(%zero : f64) outs(%empty_1 : tensor<?xf64>) -> tensor<?xf64>
    %weight_sum = linalg.generic {indexing_maps = [#matrix, #matrix, #column, #across],
        iterator_types = ["reduction", "parallel"]}
        ins(%gradient, %x, %scale : tensor<?x?xf64>, tensor<?x?xf64>, tensor<?xf64>) outs(%start_1 : tensor<?xf64>) {
    ^bb0(%gradient_ij: f64, %x_ij: f64, %scale_i: f64, %partial: f64):
      %product = arith.mulf %x_ij, %scale_i : f64
      %product_1 = arith.mulf %gradient_ij, %product : f64
      %sum = arith.addf %partial, %product_1 : f64
      linalg.yield %sum : f64
    } -> tensor<?xf64>
    %weight_kept = tensor.expand_shape %weight_sum [[0, 1]] output_shape [1, %n] : tensor<?xf64> into tensor<1x?xf64>
    %weight = linalg.generic {indexing_maps = [#matrix, #across], iterator_types = ["reduction", "parallel"]}
        ins(%weight_kept : tensor<1x?xf64>) outs(%start_1 : tensor<?xf64>) {
    ^bb0(%alone: f64, %partial: f64):
      %sum = arith.addf %partial, %alone : f64
      linalg.yield %sum : f64
    } -> tensor<?xf64>
    xfuse.yield %weight : tensor<?xf64>
  }

  xfuse.recipe @rms_norm_weight_backward_accumulating(
      %x: tensor<?x?xf64> {xfuse.accumulator = f32}, %gradient: tensor<?x?xf64> {xfuse.accumulator = f32},
      %epsilon: f64 {xfuse.scalar, xfuse.accumulator = f32}
  ) -> tensor<?xf64> attributes {element_types = [f16, bf16, f32, f64]} {
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
    %scale = linalg.generic {indexing_maps = [#each, #each], iterator_types = ["parallel"]}
        ins(%squares : tensor<?xf64>) outs(%empty : tensor<?xf64>) {
    ^bb0(%squares_i: f64, %out: f64):
      %quotient = arith.divf %squares_i, %count : f64
      %sum = arith.addf %quotient, %epsilon : f64
      %inverse_root = math.rsqrt %sum : f64
      linalg.yield %inverse_root : f64
    } -> tensor<?xf64>
    %empty_1 = tensor.empty(%n) : tensor<?xf64>
    %start_1 = linalg.fill ins(%zero : f64) outs(%empty_1 : tensor<?xf64>) -> tensor<?xf64>
    %weight = linalg.generic {indexing_maps = [#matrix, #matrix, #column, #across],
        iterator_types = ["reduction", "parallel"]}
        ins(%gradient, %x, %scale : tensor<?x?xf64>, tensor<?x?xf64>, tensor<?xf64>) outs(%start_1 : tensor<?xf64>) {
    ^bb0(%gradient_ij: f64, %x_ij: f64, %scale_i: f64, %partial: f64):
      %product = arith.mulf %x_ij, %scale_i : f64
      %product_1 = arith.mulf %gradient_ij, %product : f64
      %sum = arith.addf %partial, %product_1 : f64
      linalg.yield %sum : f64
    } -> tensor<?xf64>
    xfuse.yield %weight : tensor<?xf64>
  }
}
