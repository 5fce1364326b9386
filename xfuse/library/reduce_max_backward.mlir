// reduce_max_backward(x, gradient) = mask gradient / sum(mask), of mask = [x == max(x)]
//
// (n),()->(n). Equal largest elements share the gradient.
//
// @reduce_max_backward       textbook: the mask by select, times the share
// @reduce_max_backward_mask  the mask by a cast of the comparison
// @reduce_max_backward_jax   JAX (`jnp.max`): the share where the mask is not 0
#row = affine_map<(n) -> (n)>
#cell = affine_map<(n) -> ()>

xfuse.library @reduce_max_backward {
  xfuse.recipe @reduce_max_backward(
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
    %one = arith.constant 1.0 : f64
    %zero = arith.constant 0.0 : f64
    %c0 = arith.constant 0 : index
    %n = tensor.dim %x, %c0 : tensor<?xf64>
    %empty = tensor.empty(%n) : tensor<?xf64>
    %mask = linalg.generic {indexing_maps = [#row, #row], iterator_types = ["parallel"]}
        ins(%x : tensor<?xf64>) outs(%empty : tensor<?xf64>) {
    ^bb0(%x_i: f64, %out: f64):
      %test = arith.cmpf oeq, %x_i, %peak : f64
      %chosen = arith.select %test, %one, %zero : f64
      linalg.yield %chosen : f64
    } -> tensor<?xf64>
    %start_1 = tensor.splat %zero : tensor<f64>
    %ties_cell = linalg.generic {indexing_maps = [#row, #cell], iterator_types = ["reduction"]}
        ins(%mask : tensor<?xf64>) outs(%start_1 : tensor<f64>) {
    ^bb0(%mask_i: f64, %partial: f64):
      %sum = arith.addf %partial, %mask_i : f64
      linalg.yield %sum : f64
    } -> tensor<f64>
    %ties = tensor.extract %ties_cell[] : tensor<f64>
    %share = arith.divf %gradient, %ties : f64
    %result = linalg.generic {indexing_maps = [#row, #row], iterator_types = ["parallel"]}
        ins(%mask : tensor<?xf64>) outs(%empty : tensor<?xf64>) {
    ^bb0(%mask_i: f64, %out: f64):
      %product = arith.mulf %mask_i, %share : f64
      linalg.yield %product : f64
    } -> tensor<?xf64>
    xfuse.yield %result : tensor<?xf64>
  }

  xfuse.recipe @reduce_max_backward_mask(
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
    %mask = linalg.generic {indexing_maps = [#row, #row], iterator_types = ["parallel"]}
        ins(%x : tensor<?xf64>) outs(%empty : tensor<?xf64>) {
    ^bb0(%x_i: f64, %out: f64):
      %test = arith.cmpf oeq, %x_i, %peak : f64
      %mask_1 = arith.uitofp %test : i1 to f64
      linalg.yield %mask_1 : f64
    } -> tensor<?xf64>
    %zero = arith.constant 0.0 : f64
    %start_1 = tensor.splat %zero : tensor<f64>
    %ties_cell = linalg.generic {indexing_maps = [#row, #cell], iterator_types = ["reduction"]}
        ins(%mask : tensor<?xf64>) outs(%start_1 : tensor<f64>) {
    ^bb0(%mask_i: f64, %partial: f64):
      %sum = arith.addf %partial, %mask_i : f64
      linalg.yield %sum : f64
    } -> tensor<f64>
    %ties = tensor.extract %ties_cell[] : tensor<f64>
    %share = arith.divf %gradient, %ties : f64
    %result = linalg.generic {indexing_maps = [#row, #row], iterator_types = ["parallel"]}
        ins(%mask : tensor<?xf64>) outs(%empty : tensor<?xf64>) {
    ^bb0(%mask_i: f64, %out: f64):
      %product = arith.mulf %mask_i, %share : f64
      linalg.yield %product : f64
    } -> tensor<?xf64>
    xfuse.yield %result : tensor<?xf64>
  }

  xfuse.recipe @reduce_max_backward_jax(
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
    %mask = linalg.generic {indexing_maps = [#row, #row], iterator_types = ["parallel"]}
        ins(%x : tensor<?xf64>) outs(%empty : tensor<?xf64>) {
    ^bb0(%x_i: f64, %out: f64):
      %test = arith.cmpf oeq, %x_i, %peak : f64
      %mask_1 = arith.uitofp %test : i1 to f64
      linalg.yield %mask_1 : f64
    } -> tensor<?xf64>
    %zero = arith.constant 0.0 : f64
    %start_1 = tensor.splat %zero : tensor<f64>
    %ties_cell = linalg.generic {indexing_maps = [#row, #cell], iterator_types = ["reduction"]}
        ins(%mask : tensor<?xf64>) outs(%start_1 : tensor<f64>) {
    ^bb0(%mask_i: f64, %partial: f64):
      %sum = arith.addf %partial, %mask_i : f64
      linalg.yield %sum : f64
    } -> tensor<f64>
    %ties = tensor.extract %ties_cell[] : tensor<f64>
    %share = arith.divf %gradient, %ties : f64
    %result = linalg.generic {indexing_maps = [#row, #row], iterator_types = ["parallel"]}
        ins(%mask : tensor<?xf64>) outs(%empty : tensor<?xf64>) {
    ^bb0(%mask_i: f64, %out: f64):
      %test = arith.cmpf une, %mask_i, %zero : f64
      %chosen = arith.select %test, %share, %zero : f64
      linalg.yield %chosen : f64
    } -> tensor<?xf64>
    xfuse.yield %result : tensor<?xf64>
  }
}
