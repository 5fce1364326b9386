// softmax_backward(softmax, gradient) = softmax (gradient - sum(gradient softmax))
//
// (n),(n)->(n).
//
// @softmax_backward               textbook, of the result of the softmax
// @softmax_backward_torch         PyTorch (`_softmax_backward_data`): gradient softmax - softmax sum(gradient softmax)
// @softmax_backward_scaled        textbook with a scale before the softmax, as attention has it
// @softmax_backward_jax           JAX (`jax.nn.softmax`), of the argument x: e (gradient / t - sum(e gradient / t^2)),
//                                 of e = exp(x - max(x)) and t = sum(e); the sum is added once more, over an axis of
//                                 extent one
// @softmax_backward_accumulating  textbook, at no narrower a type than f32
#row = affine_map<(n) -> (n)>
#cell = affine_map<(n) -> ()>

xfuse.library @softmax_backward {
  xfuse.recipe @softmax_backward(
      %softmax: tensor<?xf64>, %gradient: tensor<?xf64>
  ) -> tensor<?xf64> attributes {element_types = [f16, bf16, f32, f64]} {
    %zero = arith.constant 0.0 : f64
    %start = tensor.splat %zero : tensor<f64>
    %projection_cell = linalg.generic {indexing_maps = [#row, #row, #cell], iterator_types = ["reduction"]}
        ins(%gradient, %softmax : tensor<?xf64>, tensor<?xf64>) outs(%start : tensor<f64>) {
    ^bb0(%gradient_i: f64, %softmax_i: f64, %partial: f64):
      %product = arith.mulf %gradient_i, %softmax_i : f64
      %sum = arith.addf %partial, %product : f64
      linalg.yield %sum : f64
    } -> tensor<f64>
    %projection = tensor.extract %projection_cell[] : tensor<f64>
    %c0 = arith.constant 0 : index
    %n = tensor.dim %softmax, %c0 : tensor<?xf64>
    %empty = tensor.empty(%n) : tensor<?xf64>
    %result = linalg.generic {indexing_maps = [#row, #row, #row], iterator_types = ["parallel"]}
        ins(%softmax, %gradient : tensor<?xf64>, tensor<?xf64>) outs(%empty : tensor<?xf64>) {
    ^bb0(%softmax_i: f64, %gradient_i: f64, %out: f64):
      %difference = arith.subf %gradient_i, %projection : f64
      %product = arith.mulf %softmax_i, %difference : f64
      linalg.yield %product : f64
    } -> tensor<?xf64>
    xfuse.yield %result : tensor<?xf64>
  }

  xfuse.recipe @softmax_backward_torch(
      %softmax: tensor<?xf64>, %gradient: tensor<?xf64>
  ) -> tensor<?xf64> attributes {element_types = [f16, bf16, f32, f64]} {
    %c0 = arith.constant 0 : index
    %n = tensor.dim %softmax, %c0 : tensor<?xf64>
    %empty = tensor.empty(%n) : tensor<?xf64>
    %product = linalg.generic {indexing_maps = [#row, #row, #row], iterator_types = ["parallel"]}
        ins(%gradient, %softmax : tensor<?xf64>, tensor<?xf64>) outs(%empty : tensor<?xf64>) {
    ^bb0(%gradient_i: f64, %softmax_i: f64, %out: f64):
      %product_1 = arith.mulf %gradient_i, %softmax_i : f64
      linalg.yield %product_1 : f64
    } -> tensor<?xf64>
    %zero = arith.constant 0.0 : f64
    %start = tensor.splat %zero : tensor<f64>
    %projection_cell = linalg.generic {indexing_maps = [#row, #cell], iterator_types = ["reduction"]}
        ins(%product : tensor<?xf64>) outs(%start : tensor<f64>) {
    ^bb0(%product_i: f64, %partial: f64):
      %sum = arith.addf %partial, %product_i : f64
      linalg.yield %sum : f64
    } -> tensor<f64>
    %projection = tensor.extract %projection_cell[] : tensor<f64>
    %result = linalg.generic {indexing_maps = [#row, #row, #row], iterator_types = ["parallel"]}
        ins(%product, %softmax : tensor<?xf64>, tensor<?xf64>) outs(%empty : tensor<?xf64>) {
    ^bb0(%product_i: f64, %softmax_i: f64, %out: f64):
      %product_1 = arith.mulf %softmax_i, %projection : f64
      %difference = arith.subf %product_i, %product_1 : f64
      linalg.yield %difference : f64
    } -> tensor<?xf64>
    xfuse.yield %result : tensor<?xf64>
  }

  xfuse.recipe @softmax_backward_scaled(
      %softmax: tensor<?xf64>, %gradient: tensor<?xf64>, %scale: f64 {xfuse.scalar}
  ) -> tensor<?xf64> attributes {element_types = [f16, bf16, f32, f64]} {
    %zero = arith.constant 0.0 : f64
    %start = tensor.splat %zero : tensor<f64>
    %projection_cell = linalg.generic {indexing_maps = [#row, #row, #cell], iterator_types = ["reduction"]}
        ins(%gradient, %softmax : tensor<?xf64>, tensor<?xf64>) outs(%start : tensor<f64>) {
    ^bb0(%gradient_i: f64, %softmax_i: f64, %partial: f64):
      %product = arith.mulf %gradient_i, %softmax_i : f64
      %sum = arith.addf %partial, %product : f64
      linalg.yield %sum : f64
    } -> tensor<f64>
    %projection = tensor.extract %projection_cell[] : tensor<f64>
    %c0 = arith.constant 0 : index
    %n = tensor.dim %softmax, %c0 : tensor<?xf64>
    %empty = tensor.empty(%n) : tensor<?xf64>
    %result = linalg.generic {indexing_maps = [#row, #row, #row], iterator_types = ["parallel"]}
        ins(%softmax, %gradient : tensor<?xf64>, tensor<?xf64>) outs(%empty : tensor<?xf64>) {
    ^bb0(%softmax_i: f64, %gradient_i: f64, %out: f64):
      %difference = arith.subf %gradient_i, %projection : f64
      %product = arith.mulf %softmax_i, %difference : f64
      %product_1 = arith.mulf %scale, %product : f64
      linalg.yield %product_1 : f64
    } -> tensor<?xf64>
    xfuse.yield %result : tensor<?xf64>
  }

  xfuse.recipe @softmax_backward_jax(
      %x: tensor<?xf64>, %gradient: tensor<?xf64>
  ) -> tensor<?xf64> attributes {element_types = [f16, bf16, f32, f64]} {
    %lowest = arith.constant 0xFFF0000000000000 : f64
    %start = tensor.splat %lowest : tensor<f64>
    %peak_cell = linalg.generic {indexing_maps = [#row, #cell], iterator_types = ["reduction"]}
        ins(%x : tensor<?xf64>) outs(%start : tensor<f64>) {
    ^bb0(%x_i: f64, %largest: f64):
      %larger = arith.maximumf %largest, %x_i : f64
      linalg.yield %larger : f64
    } -> tensor<f64>
    %peak = tensor.extract %peak_cell[] : tensor<f64>
    %c0 = arith.constant 0 : index
    %n = tensor.dim %x, %c0 : tensor<?xf64>
    %empty = tensor.empty(%n) : tensor<?xf64>
    %exponential = linalg.generic {indexing_maps = [#row, #row], iterator_types = ["parallel"]}
        ins(%x : tensor<?xf64>) outs(%empty : tensor<?xf64>) {
    ^bb0(%x_i: f64, %out: f64):
      %difference = arith.subf %x_i, %peak : f64
      %exponential_1 = math.exp %difference : f64
      linalg.yield %exponential_1 : f64
    } -> tensor<?xf64>
    %zero = arith.constant 0.0 : f64
    %start_1 = tensor.splat %zero : tensor<f64>
    %total_cell = linalg.generic {indexing_maps = [#row, #cell], iterator_types = ["reduction"]}
        ins(%exponential : tensor<?xf64>) outs(%start_1 : tensor<f64>) {
    ^bb0(%exponential_i: f64, %partial: f64):
      %sum = arith.addf %partial, %exponential_i : f64
      linalg.yield %sum : f64
    } -> tensor<f64>
    %total = tensor.extract %total_cell[] : tensor<f64>
    %one = arith.constant 1.0 : f64
    %product = arith.mulf %total, %total : f64
    %weight = arith.divf %one, %product : f64
    %projection_cell = linalg.generic {indexing_maps = [#row, #row, #cell], iterator_types = ["reduction"]}
        ins(%gradient, %exponential : tensor<?xf64>, tensor<?xf64>) outs(%start_1 : tensor<f64>) {
    ^bb0(%gradient_i: f64, %exponential_i: f64, %partial: f64):
      %product_1 = arith.mulf %gradient_i, %weight : f64
      %product_2 = arith.mulf %product_1, %exponential_i : f64
      %sum = arith.addf %partial, %product_2 : f64
      linalg.yield %sum : f64
    } -> tensor<f64>
    %projection = tensor.extract %projection_cell[] : tensor<f64>
    %correction_alone = arith.negf %projection : f64
    %correction_kept = tensor.from_elements %correction_alone : tensor<1xf64>
    %correction_cell = linalg.generic {indexing_maps = [#row, #cell], iterator_types = ["reduction"]}
        ins(%correction_kept : tensor<1xf64>) outs(%start_1 : tensor<f64>) {
    ^bb0(%alone: f64, %partial: f64):
      %sum = arith.addf %partial, %alone : f64
      linalg.yield %sum : f64
    } -> tensor<f64>
    %correction = tensor.extract %correction_cell[] : tensor<f64>
    %result = linalg.generic {indexing_maps = [#row, #row, #row], iterator_types = ["parallel"]}
        ins(%gradient, %exponential : tensor<?xf64>, tensor<?xf64>) outs(%empty : tensor<?xf64>) {
    ^bb0(%gradient_i: f64, %exponential_i: f64, %out: f64):
      %quotient = arith.divf %gradient_i, %total : f64
      %sum = arith.addf %quotient, %correction : f64
      %product_1 = arith.mulf %sum, %exponential_i : f64
      linalg.yield %product_1 : f64
    } -> tensor<?xf64>
    xfuse.yield %result : tensor<?xf64>
  }

  xfuse.recipe @softmax_backward_accumulating(
      %softmax: tensor<?xf64> {xfuse.accumulator = f32}, %gradient: tensor<?xf64> {xfuse.accumulator = f32}
  ) -> tensor<?xf64> attributes {element_types = [f16, bf16, f32, f64]} {
    %zero = arith.constant 0.0 : f64
    %start = tensor.splat %zero : tensor<f64>
    %projection_cell = linalg.generic {indexing_maps = [#row, #row, #cell], iterator_types = ["reduction"]}
        ins(%gradient, %softmax : tensor<?xf64>, tensor<?xf64>) outs(%start : tensor<f64>) {
    ^bb0(%gradient_i: f64, %softmax_i: f64, %partial: f64):
      %product = arith.mulf %gradient_i, %softmax_i : f64
      %sum = arith.addf %partial, %product : f64
      linalg.yield %sum : f64
    } -> tensor<f64>
    %projection = tensor.extract %projection_cell[] : tensor<f64>
    %c0 = arith.constant 0 : index
    %n = tensor.dim %softmax, %c0 : tensor<?xf64>
    %empty = tensor.empty(%n) : tensor<?xf64>
    %result = linalg.generic {indexing_maps = [#row, #row, #row], iterator_types = ["parallel"]}
        ins(%softmax, %gradient : tensor<?xf64>, tensor<?xf64>) outs(%empty : tensor<?xf64>) {
    ^bb0(%softmax_i: f64, %gradient_i: f64, %out: f64):
      %difference = arith.subf %gradient_i, %projection : f64
      %product = arith.mulf %softmax_i, %difference : f64
      linalg.yield %product : f64
    } -> tensor<?xf64>
    xfuse.yield %result : tensor<?xf64>
  }
}
