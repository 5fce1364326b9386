// logsumexp_backward(x, gradient) = gradient softmax(x)
//
// (n),()->(n).
//
// @logsumexp_backward               textbook
// @logsumexp_backward_jax           JAX (`jax.nn.logsumexp`): e (gradient / |t|), of e = exp(x - m) and t = sum(e),
//                                   where m is max(x) if that is finite, else 0, and the sign of t is undone by select
// @logsumexp_backward_accumulating  textbook, at no narrower a type than f32
#row = affine_map<(n) -> (n)>
#cell = affine_map<(n) -> ()>

xfuse.library @logsumexp_backward {
  xfuse.recipe @logsumexp_backward(
      %x: tensor<?xf64>, %gradient: f64
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
    %result = linalg.generic {indexing_maps = [#row, #row], iterator_types = ["parallel"]}
        ins(%exponential : tensor<?xf64>) outs(%empty : tensor<?xf64>) {
    ^bb0(%exponential_i: f64, %out: f64):
      %quotient = arith.divf %exponential_i, %total : f64
      %product = arith.mulf %gradient, %quotient : f64
      linalg.yield %product : f64
    } -> tensor<?xf64>
    xfuse.yield %result : tensor<?xf64>
  }

  xfuse.recipe @logsumexp_backward_jax(
      %x: tensor<?xf64>, %gradient: f64
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
    %infinity = arith.constant 0x7FF0000000000000 : f64
    %magnitude = math.absf %peak : f64
    %finite = arith.cmpf one, %magnitude, %infinity : f64
    %zero = arith.constant 0.0 : f64
    %shift = arith.select %finite, %peak, %zero : f64
    %c0 = arith.constant 0 : index
    %n = tensor.dim %x, %c0 : tensor<?xf64>
    %empty = tensor.empty(%n) : tensor<?xf64>
    %exponential = linalg.generic {indexing_maps = [#row, #row], iterator_types = ["parallel"]}
        ins(%x : tensor<?xf64>) outs(%empty : tensor<?xf64>) {
    ^bb0(%x_i: f64, %out: f64):
      %difference = arith.subf %x_i, %shift : f64
      %exponential_1 = math.exp %difference : f64
      linalg.yield %exponential_1 : f64
    } -> tensor<?xf64>
    %start_1 = tensor.splat %zero : tensor<f64>
    %total_cell = linalg.generic {indexing_maps = [#row, #cell], iterator_types = ["reduction"]}
        ins(%exponential : tensor<?xf64>) outs(%start_1 : tensor<f64>) {
    ^bb0(%exponential_i: f64, %partial: f64):
      %sum = arith.addf %partial, %exponential_i : f64
      linalg.yield %sum : f64
    } -> tensor<f64>
    %total = tensor.extract %total_cell[] : tensor<f64>
    %magnitude_1 = math.absf %total : f64
    %share = arith.divf %gradient, %magnitude_1 : f64
    %test = arith.cmpf oge, %total, %zero : f64
    %above = arith.select %test, %share, %zero : f64
    %below = arith.select %test, %zero, %share : f64
    %negative = arith.negf %below : f64
    %weight = arith.addf %above, %negative : f64
    %result = linalg.generic {indexing_maps = [#row, #row], iterator_types = ["parallel"]}
        ins(%exponential : tensor<?xf64>) outs(%empty : tensor<?xf64>) {
    ^bb0(%exponential_i: f64, %out: f64):
      %product = arith.mulf %exponential_i, %weight : f64
      linalg.yield %product : f64
    } -> tensor<?xf64>
    xfuse.yield %result : tensor<?xf64>
  }

  xfuse.recipe @logsumexp_backward_accumulating(
      %x: tensor<?xf64> {xfuse.accumulator = f32}, %gradient: f64 {xfuse.accumulator = f32}
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
    %result = linalg.generic {indexing_maps = [#row, #row], iterator_types = ["parallel"]}
        ins(%exponential : tensor<?xf64>) outs(%empty : tensor<?xf64>) {
    ^bb0(%exponential_i: f64, %out: f64):
      %quotient = arith.divf %exponential_i, %total : f64
      %product = arith.mulf %gradient, %quotient : f64
      linalg.yield %product : f64
    } -> tensor<?xf64>
    xfuse.yield %result : tensor<?xf64>
  }
}
