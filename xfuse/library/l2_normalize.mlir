// l2_normalize(x, epsilon) = x / max(norm(x), epsilon), norm(x) = sqrt(sum(x^2))
//
// (n),()->(n).
//
// @l2_normalize            textbook and JAX (`x / jnp.maximum(jnp.linalg.norm(x), epsilon)`)
// @l2_normalize_torch      PyTorch (`F.normalize`): powers by powf, the maximum by compare and select
// @l2_normalize_squared    TensorFlow (`tf.math.l2_normalize`): x rsqrt(max(sum(x^2), epsilon)); epsilon is that of the
//                          squared norm
// @l2_normalize_sum        x / sqrt(sum(x^2) + epsilon)
// @l2_normalize_sum_rsqrt  x rsqrt(sum(x^2) + epsilon)
// @l2_normalize_plain      x / norm(x), (n)->(n); a row of zeros gives NaNs
#row = affine_map<(n) -> (n)>
#cell = affine_map<(n) -> ()>

xfuse.library @l2_normalize {
  xfuse.recipe @l2_normalize(
      %x: tensor<?xf64>, %epsilon: f64 {xfuse.scalar}
  ) -> tensor<?xf64> attributes {element_types = [f16, bf16, f32, f64]} {
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
    %norm = math.sqrt %squares : f64
    %clamped = arith.maximumf %norm, %epsilon : f64
    %first = arith.constant 0 : index
    %n = tensor.dim %x, %first : tensor<?xf64>
    %row = tensor.empty(%n) : tensor<?xf64>
    %y = linalg.generic {indexing_maps = [#row, #row], iterator_types = ["parallel"]}
        ins(%x : tensor<?xf64>) outs(%row : tensor<?xf64>) {
    ^bb0(%x_i: f64, %out: f64):
      %quotient = arith.divf %x_i, %clamped : f64
      linalg.yield %quotient : f64
    } -> tensor<?xf64>
    xfuse.yield %y : tensor<?xf64>
  }

  xfuse.recipe @l2_normalize_torch(
      %x: tensor<?xf64>, %epsilon: f64 {xfuse.scalar}
  ) -> tensor<?xf64> attributes {element_types = [f16, bf16, f32, f64]} {
    %two = arith.constant 2.0 : f64
    %half = arith.constant 0.5 : f64
    %zero = arith.constant 0.0 : f64
    %empty_sum = tensor.splat %zero : tensor<f64>
    %squares_cell = linalg.generic {indexing_maps = [#row, #cell], iterator_types = ["reduction"]}
        ins(%x : tensor<?xf64>) outs(%empty_sum : tensor<f64>) {
    ^bb0(%x_i: f64, %partial: f64):
      %size = math.absf %x_i : f64
      %square = math.powf %size, %two : f64
      %sum = arith.addf %partial, %square : f64
      linalg.yield %sum : f64
    } -> tensor<f64>
    %squares = tensor.extract %squares_cell[] : tensor<f64>
    %norm = math.powf %squares, %half : f64
    %test = arith.cmpf ult, %norm, %epsilon : f64
    %clamped = arith.select %test, %epsilon, %norm : f64
    %first = arith.constant 0 : index
    %n = tensor.dim %x, %first : tensor<?xf64>
    %row = tensor.empty(%n) : tensor<?xf64>
    %y = linalg.generic {indexing_maps = [#row, #row], iterator_types = ["parallel"]}
        ins(%x : tensor<?xf64>) outs(%row : tensor<?xf64>) {
    ^bb0(%x_i: f64, %out: f64):
      %quotient = arith.divf %x_i, %clamped : f64
      linalg.yield %quotient : f64
    } -> tensor<?xf64>
    xfuse.yield %y : tensor<?xf64>
  }

  xfuse.recipe @l2_normalize_squared(
      %x: tensor<?xf64>, %epsilon: f64 {xfuse.scalar}
  ) -> tensor<?xf64> attributes {element_types = [f16, bf16, f32, f64]} {
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
    %clamped = arith.maximumf %squares, %epsilon : f64
    %scale = math.rsqrt %clamped : f64
    %first = arith.constant 0 : index
    %n = tensor.dim %x, %first : tensor<?xf64>
    %row = tensor.empty(%n) : tensor<?xf64>
    %y = linalg.generic {indexing_maps = [#row, #row], iterator_types = ["parallel"]}
        ins(%x : tensor<?xf64>) outs(%row : tensor<?xf64>) {
    ^bb0(%x_i: f64, %out: f64):
      %product = arith.mulf %x_i, %scale : f64
      linalg.yield %product : f64
    } -> tensor<?xf64>
    xfuse.yield %y : tensor<?xf64>
  }

  xfuse.recipe @l2_normalize_sum(
      %x: tensor<?xf64>, %epsilon: f64 {xfuse.scalar}
  ) -> tensor<?xf64> attributes {element_types = [f16, bf16, f32, f64]} {
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
    %shifted = arith.addf %squares, %epsilon : f64
    %norm = math.sqrt %shifted : f64
    %first = arith.constant 0 : index
    %n = tensor.dim %x, %first : tensor<?xf64>
    %row = tensor.empty(%n) : tensor<?xf64>
    %y = linalg.generic {indexing_maps = [#row, #row], iterator_types = ["parallel"]}
        ins(%x : tensor<?xf64>) outs(%row : tensor<?xf64>) {
    ^bb0(%x_i: f64, %out: f64):
      %quotient = arith.divf %x_i, %norm : f64
      linalg.yield %quotient : f64
    } -> tensor<?xf64>
    xfuse.yield %y : tensor<?xf64>
  }

  xfuse.recipe @l2_normalize_sum_rsqrt(
      %x: tensor<?xf64>, %epsilon: f64 {xfuse.scalar}
  ) -> tensor<?xf64> attributes {element_types = [f16, bf16, f32, f64]} {
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
    %shifted = arith.addf %squares, %epsilon : f64
    %scale = math.rsqrt %shifted : f64
    %first = arith.constant 0 : index
    %n = tensor.dim %x, %first : tensor<?xf64>
    %row = tensor.empty(%n) : tensor<?xf64>
    %y = linalg.generic {indexing_maps = [#row, #row], iterator_types = ["parallel"]}
        ins(%x : tensor<?xf64>) outs(%row : tensor<?xf64>) {
    ^bb0(%x_i: f64, %out: f64):
      %product = arith.mulf %x_i, %scale : f64
      linalg.yield %product : f64
    } -> tensor<?xf64>
    xfuse.yield %y : tensor<?xf64>
  }

  xfuse.recipe @l2_normalize_plain(
      %x: tensor<?xf64>
  ) -> tensor<?xf64> attributes {element_types = [f16, bf16, f32, f64]} {
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
    %norm = math.sqrt %squares : f64
    %first = arith.constant 0 : index
    %n = tensor.dim %x, %first : tensor<?xf64>
    %row = tensor.empty(%n) : tensor<?xf64>
    %y = linalg.generic {indexing_maps = [#row, #row], iterator_types = ["parallel"]}
        ins(%x : tensor<?xf64>) outs(%row : tensor<?xf64>) {
    ^bb0(%x_i: f64, %out: f64):
      %quotient = arith.divf %x_i, %norm : f64
      linalg.yield %quotient : f64
    } -> tensor<?xf64>
    xfuse.yield %y : tensor<?xf64>
  }
}
