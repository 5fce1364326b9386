// cosine_similarity(x, y, epsilon) = sum(x y) / (max(norm(x), epsilon) max(norm(y), epsilon)), norm(x) = sqrt(sum(x^2))
//
// (n),(n),()->().
//
// @cosine_similarity          textbook and JAX: the product of unit vectors
// @cosine_similarity_torch    PyTorch (`F.cosine_similarity`): the same, powers by powf, maxima by compare and select
// @cosine_similarity_norms    sum(x y) / (max(norm(x), epsilon) max(norm(y), epsilon))
// @cosine_similarity_product  sum(x y) / max(norm(x) norm(y), epsilon); epsilon is that of the product
// @cosine_similarity_plain    sum(x y) / (norm(x) norm(y)), (n),(n)->(); a row of zeros gives a NaN
#row = affine_map<(n) -> (n)>
#cell = affine_map<(n) -> ()>

xfuse.library @cosine_similarity {
  xfuse.recipe @cosine_similarity(
      %x: tensor<?xf64>, %y: tensor<?xf64>, %epsilon: f64 {xfuse.scalar}
  ) -> f64 attributes {element_types = [f16, bf16, f32, f64]} {
    %zero = arith.constant 0.0 : f64
    %empty_sum = tensor.splat %zero : tensor<f64>
    %x_squares_cell = linalg.generic {indexing_maps = [#row, #cell], iterator_types = ["reduction"]}
        ins(%x : tensor<?xf64>) outs(%empty_sum : tensor<f64>) {
    ^bb0(%x_i: f64, %partial: f64):
      %square = arith.mulf %x_i, %x_i : f64
      %sum = arith.addf %partial, %square : f64
      linalg.yield %sum : f64
    } -> tensor<f64>
    %x_squares = tensor.extract %x_squares_cell[] : tensor<f64>
    %x_norm = math.sqrt %x_squares : f64
    %x_clamped = arith.maximumf %x_norm, %epsilon : f64
    %y_squares_cell = linalg.generic {indexing_maps = [#row, #cell], iterator_types = ["reduction"]}
        ins(%y : tensor<?xf64>) outs(%empty_sum : tensor<f64>) {
    ^bb0(%y_i: f64, %partial: f64):
      %square = arith.mulf %y_i, %y_i : f64
      %sum = arith.addf %partial, %square : f64
      linalg.yield %sum : f64
    } -> tensor<f64>
    %y_squares = tensor.extract %y_squares_cell[] : tensor<f64>
    %y_norm = math.sqrt %y_squares : f64
    %y_clamped = arith.maximumf %y_norm, %epsilon : f64
    %result_cell = linalg.generic {indexing_maps = [#row, #row, #cell], iterator_types = ["reduction"]}
        ins(%x, %y : tensor<?xf64>, tensor<?xf64>) outs(%empty_sum : tensor<f64>) {
    ^bb0(%x_i: f64, %y_i: f64, %partial: f64):
      %x_unit = arith.divf %x_i, %x_clamped : f64
      %y_unit = arith.divf %y_i, %y_clamped : f64
      %product = arith.mulf %x_unit, %y_unit : f64
      %sum = arith.addf %partial, %product : f64
      linalg.yield %sum : f64
    } -> tensor<f64>
    %result = tensor.extract %result_cell[] : tensor<f64>
    xfuse.yield %result : f64
  }

  xfuse.recipe @cosine_similarity_torch(
      %x: tensor<?xf64>, %y: tensor<?xf64>, %epsilon: f64 {xfuse.scalar}
  ) -> f64 attributes {element_types = [f16, bf16, f32, f64]} {
    %two = arith.constant 2.0 : f64
    %half = arith.constant 0.5 : f64
    %zero = arith.constant 0.0 : f64
    %empty_sum = tensor.splat %zero : tensor<f64>
    %x_squares_cell = linalg.generic {indexing_maps = [#row, #cell], iterator_types = ["reduction"]}
        ins(%x : tensor<?xf64>) outs(%empty_sum : tensor<f64>) {
    ^bb0(%x_i: f64, %partial: f64):
      %size = math.absf %x_i : f64
      %square = math.powf %size, %two : f64
      %sum = arith.addf %partial, %square : f64
      linalg.yield %sum : f64
    } -> tensor<f64>
    %x_squares = tensor.extract %x_squares_cell[] : tensor<f64>
    %x_norm = math.powf %x_squares, %half : f64
    %x_test = arith.cmpf ult, %x_norm, %epsilon : f64
    %x_clamped = arith.select %x_test, %epsilon, %x_norm : f64
    %y_squares_cell = linalg.generic {indexing_maps = [#row, #cell], iterator_types = ["reduction"]}
        ins(%y : tensor<?xf64>) outs(%empty_sum : tensor<f64>) {
    ^bb0(%y_i: f64, %partial: f64):
      %size = math.absf %y_i : f64
      %square = math.powf %size, %two : f64
      %sum = arith.addf %partial, %square : f64
      linalg.yield %sum : f64
    } -> tensor<f64>
    %y_squares = tensor.extract %y_squares_cell[] : tensor<f64>
    %y_norm = math.powf %y_squares, %half : f64
    %y_test = arith.cmpf ult, %y_norm, %epsilon : f64
    %y_clamped = arith.select %y_test, %epsilon, %y_norm : f64
    %result_cell = linalg.generic {indexing_maps = [#row, #row, #cell], iterator_types = ["reduction"]}
        ins(%x, %y : tensor<?xf64>, tensor<?xf64>) outs(%empty_sum : tensor<f64>) {
    ^bb0(%x_i: f64, %y_i: f64, %partial: f64):
      %x_unit = arith.divf %x_i, %x_clamped : f64
      %y_unit = arith.divf %y_i, %y_clamped : f64
      %product = arith.mulf %x_unit, %y_unit : f64
      %sum = arith.addf %partial, %product : f64
      linalg.yield %sum : f64
    } -> tensor<f64>
    %result = tensor.extract %result_cell[] : tensor<f64>
    xfuse.yield %result : f64
  }

  xfuse.recipe @cosine_similarity_norms(
      %x: tensor<?xf64>, %y: tensor<?xf64>, %epsilon: f64 {xfuse.scalar}
  ) -> f64 attributes {element_types = [f16, bf16, f32, f64]} {
    %zero = arith.constant 0.0 : f64
    %empty_sum = tensor.splat %zero : tensor<f64>
    %dot_cell = linalg.generic {indexing_maps = [#row, #row, #cell], iterator_types = ["reduction"]}
        ins(%x, %y : tensor<?xf64>, tensor<?xf64>) outs(%empty_sum : tensor<f64>) {
    ^bb0(%x_i: f64, %y_i: f64, %partial: f64):
      %product = arith.mulf %x_i, %y_i : f64
      %sum = arith.addf %partial, %product : f64
      linalg.yield %sum : f64
    } -> tensor<f64>
    %dot = tensor.extract %dot_cell[] : tensor<f64>
    %x_squares_cell = linalg.generic {indexing_maps = [#row, #cell], iterator_types = ["reduction"]}
        ins(%x : tensor<?xf64>) outs(%empty_sum : tensor<f64>) {
    ^bb0(%x_i: f64, %partial: f64):
      %square = arith.mulf %x_i, %x_i : f64
      %sum = arith.addf %partial, %square : f64
      linalg.yield %sum : f64
    } -> tensor<f64>
    %x_squares = tensor.extract %x_squares_cell[] : tensor<f64>
    %x_norm = math.sqrt %x_squares : f64
    %x_clamped = arith.maximumf %x_norm, %epsilon : f64
    %y_squares_cell = linalg.generic {indexing_maps = [#row, #cell], iterator_types = ["reduction"]}
        ins(%y : tensor<?xf64>) outs(%empty_sum : tensor<f64>) {
    ^bb0(%y_i: f64, %partial: f64):
      %square = arith.mulf %y_i, %y_i : f64
      %sum = arith.addf %partial, %square : f64
      linalg.yield %sum : f64
    } -> tensor<f64>
    %y_squares = tensor.extract %y_squares_cell[] : tensor<f64>
    %y_norm = math.sqrt %y_squares : f64
    %y_clamped = arith.maximumf %y_norm, %epsilon : f64
    %norms = arith.mulf %x_clamped, %y_clamped : f64
    %result = arith.divf %dot, %norms : f64
    xfuse.yield %result : f64
  }

  xfuse.recipe @cosine_similarity_product(
      %x: tensor<?xf64>, %y: tensor<?xf64>, %epsilon: f64 {xfuse.scalar}
  ) -> f64 attributes {element_types = [f16, bf16, f32, f64]} {
    %zero = arith.constant 0.0 : f64
    %empty_sum = tensor.splat %zero : tensor<f64>
    %dot_cell = linalg.generic {indexing_maps = [#row, #row, #cell], iterator_types = ["reduction"]}
        ins(%x, %y : tensor<?xf64>, tensor<?xf64>) outs(%empty_sum : tensor<f64>) {
    ^bb0(%x_i: f64, %y_i: f64, %partial: f64):
      %product = arith.mulf %x_i, %y_i : f64
      %sum = arith.addf %partial, %product : f64
      linalg.yield %sum : f64
    } -> tensor<f64>
    %dot = tensor.extract %dot_cell[] : tensor<f64>
    %x_squares_cell = linalg.generic {indexing_maps = [#row, #cell], iterator_types = ["reduction"]}
        ins(%x : tensor<?xf64>) outs(%empty_sum : tensor<f64>) {
    ^bb0(%x_i: f64, %partial: f64):
      %square = arith.mulf %x_i, %x_i : f64
      %sum = arith.addf %partial, %square : f64
      linalg.yield %sum : f64
    } -> tensor<f64>
    %x_squares = tensor.extract %x_squares_cell[] : tensor<f64>
    %x_norm = math.sqrt %x_squares : f64
    %y_squares_cell = linalg.generic {indexing_maps = [#row, #cell], iterator_types = ["reduction"]}
        ins(%y : tensor<?xf64>) outs(%empty_sum : tensor<f64>) {
    ^bb0(%y_i: f64, %partial: f64):
      %square = arith.mulf %y_i, %y_i : f64
      %sum = arith.addf %partial, %square : f64
      linalg.yield %sum : f64
    } -> tensor<f64>
    %y_squares = tensor.extract %y_squares_cell[] : tensor<f64>
    %y_norm = math.sqrt %y_squares : f64
    %norms = arith.mulf %x_norm, %y_norm : f64
    %clamped = arith.maximumf %norms, %epsilon : f64
    %result = arith.divf %dot, %clamped : f64
    xfuse.yield %result : f64
  }

  xfuse.recipe @cosine_similarity_plain(
      %x: tensor<?xf64>, %y: tensor<?xf64>
  ) -> f64 attributes {element_types = [f16, bf16, f32, f64]} {
    %zero = arith.constant 0.0 : f64
    %empty_sum = tensor.splat %zero : tensor<f64>
    %dot_cell = linalg.generic {indexing_maps = [#row, #row, #cell], iterator_types = ["reduction"]}
        ins(%x, %y : tensor<?xf64>, tensor<?xf64>) outs(%empty_sum : tensor<f64>) {
    ^bb0(%x_i: f64, %y_i: f64, %partial: f64):
      %product = arith.mulf %x_i, %y_i : f64
      %sum = arith.addf %partial, %product : f64
      linalg.yield %sum : f64
    } -> tensor<f64>
    %dot = tensor.extract %dot_cell[] : tensor<f64>
    %x_squares_cell = linalg.generic {indexing_maps = [#row, #cell], iterator_types = ["reduction"]}
        ins(%x : tensor<?xf64>) outs(%empty_sum : tensor<f64>) {
    ^bb0(%x_i: f64, %partial: f64):
      %square = arith.mulf %x_i, %x_i : f64
      %sum = arith.addf %partial, %square : f64
      linalg.yield %sum : f64
    } -> tensor<f64>
    %x_squares = tensor.extract %x_squares_cell[] : tensor<f64>
    %x_norm = math.sqrt %x_squares : f64
    %y_squares_cell = linalg.generic {indexing_maps = [#row, #cell], iterator_types = ["reduction"]}
        ins(%y : tensor<?xf64>) outs(%empty_sum : tensor<f64>) {
    ^bb0(%y_i: f64, %partial: f64):
      %square = arith.mulf %y_i, %y_i : f64
      %sum = arith.addf %partial, %square : f64
      linalg.yield %sum : f64
    } -> tensor<f64>
    %y_squares = tensor.extract %y_squares_cell[] : tensor<f64>
    %y_norm = math.sqrt %y_squares : f64
    %norms = arith.mulf %x_norm, %y_norm : f64
    %result = arith.divf %dot, %norms : f64
    xfuse.yield %result : f64
  }
}
