// l2_normalize_backward(x, gradient) = (gradient - y sum(gradient y)) / norm
//
// (n),(n),()->(n), of y = x / norm and norm = max(sqrt(sum(x^2)), epsilon); where epsilon is the larger, gradient /
// epsilon.
//
// @l2_normalize_backward               textbook
// @l2_normalize_backward_saved         of the result y and the norm that the forward pass has kept
// @l2_normalize_backward_accumulating  textbook, at no narrower a type than f32
#row = affine_map<(n) -> (n)>
#cell = affine_map<(n) -> ()>

xfuse.library @l2_normalize_backward {
  xfuse.recipe @l2_normalize_backward(
      %x: tensor<?xf64>, %gradient: tensor<?xf64>, %epsilon: f64 {xfuse.scalar}
  ) -> tensor<?xf64> attributes {element_types = [f16, bf16, f32, f64]} {
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
    %length = math.sqrt %squares : f64
    %norm = arith.maximumf %length, %epsilon : f64
    %c0 = arith.constant 0 : index
    %n = tensor.dim %x, %c0 : tensor<?xf64>
    %empty = tensor.empty(%n) : tensor<?xf64>
    %y = linalg.generic {indexing_maps = [#row, #row], iterator_types = ["parallel"]}
        ins(%x : tensor<?xf64>) outs(%empty : tensor<?xf64>) {
    ^bb0(%x_i: f64, %out: f64):
      %quotient = arith.divf %x_i, %norm : f64
      linalg.yield %quotient : f64
    } -> tensor<?xf64>
    %projection_cell = linalg.generic {indexing_maps = [#row, #row, #cell], iterator_types = ["reduction"]}
        ins(%gradient, %y : tensor<?xf64>, tensor<?xf64>) outs(%start : tensor<f64>) {
    ^bb0(%gradient_i: f64, %y_i: f64, %partial: f64):
      %product = arith.mulf %gradient_i, %y_i : f64
      %sum = arith.addf %partial, %product : f64
      linalg.yield %sum : f64
    } -> tensor<f64>
    %projection = tensor.extract %projection_cell[] : tensor<f64>
    %test = arith.cmpf ogt, %length, %epsilon : f64
    %correction = arith.select %test, %projection, %zero : f64
    %result = linalg.generic {indexing_maps = [#row, #row, #row], iterator_types = ["parallel"]}
        ins(%gradient, %y : tensor<?xf64>, tensor<?xf64>) outs(%empty : tensor<?xf64>) {
    ^bb0(%gradient_i: f64, %y_i: f64, %out: f64):
      %product = arith.mulf %y_i, %correction : f64
      %difference = arith.subf %gradient_i, %product : f64
      %quotient = arith.divf %difference, %norm : f64
      linalg.yield %quotient : f64
    } -> tensor<?xf64>
    xfuse.yield %result : tensor<?xf64>
  }

  xfuse.recipe @l2_normalize_backward_saved(
      %y: tensor<?xf64>, %gradient: tensor<?xf64>, %norm: f64
  ) -> tensor<?xf64> attributes {element_types = [f16, bf16, f32, f64]} {
    %zero = arith.constant 0.0 : f64
    %start = tensor.splat %zero : tensor<f64>
    %projection_cell = linalg.generic {indexing_maps = [#row, #row, #cell], iterator_types = ["reduction"]}
        ins(%gradient, %y : tensor<?xf64>, tensor<?xf64>) outs(%start : tensor<f64>) {
    ^bb0(%gradient_i: f64, %y_i: f64, %partial: f64):
      %product = arith.mulf %gradient_i, %y_i : f64
      %sum = arith.addf %partial, %product : f64
      linalg.yield %sum : f64
    } -> tensor<f64>
    %projection = tensor.extract %projection_cell[] : tensor<f64>
    %c0 = arith.constant 0 : index
    %n = tensor.dim %y, %c0 : tensor<?xf64>
    %empty = tensor.empty(%n) : tensor<?xf64>
    %result = linalg.generic {indexing_maps = [#row, #row, #row], iterator_types = ["parallel"]}
        ins(%gradient, %y : tensor<?xf64>, tensor<?xf64>) outs(%empty : tensor<?xf64>) {
    ^bb0(%gradient_i: f64, %y_i: f64, %out: f64):
      %product = arith.mulf %y_i, %projection : f64
      %difference = arith.subf %gradient_i, %product : f64
      %quotient = arith.divf %difference, %norm : f64
      linalg.yield %quotient : f64
    } -> tensor<?xf64>
    xfuse.yield %result : tensor<?xf64>
  }

  xfuse.recipe @l2_normalize_backward_accumulating(
      %x: tensor<?xf64> {xfuse.accumulator = f32}, %gradient: tensor<?xf64> {xfuse.accumulator = f32},
      %epsilon: f64 {xfuse.scalar, xfuse.accumulator = f32}
  ) -> tensor<?xf64> attributes {element_types = [f16, bf16, f32, f64]} {
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
    %length = math.sqrt %squares : f64
    %norm = arith.maximumf %length, %epsilon : f64
    %c0 = arith.constant 0 : index
    %n = tensor.dim %x, %c0 : tensor<?xf64>
    %empty = tensor.empty(%n) : tensor<?xf64>
    %y = linalg.generic {indexing_maps = [#row, #row], iterator_types = ["parallel"]}
        ins(%x : tensor<?xf64>) outs(%empty : tensor<?xf64>) {
    ^bb0(%x_i: f64, %out: f64):
      %quotient = arith.divf %x_i, %norm : f64
      linalg.yield %quotient : f64
    } -> tensor<?xf64>
    %projection_cell = linalg.generic {indexing_maps = [#row, #row, #cell], iterator_types = ["reduction"]}
        ins(%gradient, %y : tensor<?xf64>, tensor<?xf64>) outs(%start : tensor<f64>) {
    ^bb0(%gradient_i: f64, %y_i: f64, %partial: f64):
      %product = arith.mulf %gradient_i, %y_i : f64
      %sum = arith.addf %partial, %product : f64
      linalg.yield %sum : f64
    } -> tensor<f64>
    %projection = tensor.extract %projection_cell[] : tensor<f64>
    %test = arith.cmpf ogt, %length, %epsilon : f64
    %correction = arith.select %test, %projection, %zero : f64
    %result = linalg.generic {indexing_maps = [#row, #row, #row], iterator_types = ["parallel"]}
        ins(%gradient, %y : tensor<?xf64>, tensor<?xf64>) outs(%empty : tensor<?xf64>) {
    ^bb0(%gradient_i: f64, %y_i: f64, %out: f64):
      %product = arith.mulf %y_i, %correction : f64
      %difference = arith.subf %gradient_i, %product : f64
      %quotient = arith.divf %difference, %norm : f64
      linalg.yield %quotient : f64
    } -> tensor<?xf64>
    xfuse.yield %result : tensor<?xf64>
  }
}
