// logsumexp(x) = log(sum_i exp(x_i)), computed as log(sum_i exp(x_i - max(x))) + max(x) so that nothing overflows
//
// (n)->(). Blanchard, Higham and Higham, "Accurately computing the log-sum-exp and softmax functions" (2021).
//
// @logsumexp               textbook; a row with plus infinity, or of minus infinity alone, gives a NaN
// @logsumexp_jax           JAX (`jax.nn.logsumexp`): 0 for a maximum that is not finite
// @logsumexp_torch         PyTorch (`torch.logsumexp`): 0 for a maximum that is infinite
// @logsumexp_unshifted     log(sum exp(x)); overflows where x is above 88 at f32
// @logsumexp_accumulating  textbook, at no narrower a type than f32
#row = affine_map<(n) -> (n)>
#cell = affine_map<(n) -> ()>

xfuse.library @logsumexp {
  xfuse.recipe @logsumexp(%x: tensor<?xf64>) -> f64 attributes {element_types = [f16, bf16, f32, f64]} {
    %lowest = arith.constant 0xFFF0000000000000 : f64
    %empty_maximum = tensor.splat %lowest : tensor<f64>
    %maximum_cell = linalg.generic {indexing_maps = [#row, #cell], iterator_types = ["reduction"]}
        ins(%x : tensor<?xf64>) outs(%empty_maximum : tensor<f64>) {
    ^bb0(%x_i: f64, %largest: f64):
      %larger = arith.maximumf %largest, %x_i : f64
      linalg.yield %larger : f64
    } -> tensor<f64>
    %maximum = tensor.extract %maximum_cell[] : tensor<f64>
    %zero = arith.constant 0.0 : f64
    %empty_sum = tensor.splat %zero : tensor<f64>
    %total_cell = linalg.generic {indexing_maps = [#row, #cell], iterator_types = ["reduction"]}
        ins(%x : tensor<?xf64>) outs(%empty_sum : tensor<f64>) {
    ^bb0(%x_i: f64, %partial: f64):
      %difference = arith.subf %x_i, %maximum : f64
      %exponential = math.exp %difference : f64
      %sum = arith.addf %partial, %exponential : f64
      linalg.yield %sum : f64
    } -> tensor<f64>
    %total = tensor.extract %total_cell[] : tensor<f64>
    %logarithm = math.log %total : f64
    %result = arith.addf %logarithm, %maximum : f64
    xfuse.yield %result : f64
  }

  xfuse.recipe @logsumexp_jax(%x: tensor<?xf64>) -> f64 attributes {element_types = [f16, bf16, f32, f64]} {
    %lowest = arith.constant 0xFFF0000000000000 : f64
    %empty_maximum = tensor.splat %lowest : tensor<f64>
    %maximum_cell = linalg.generic {indexing_maps = [#row, #cell], iterator_types = ["reduction"]}
        ins(%x : tensor<?xf64>) outs(%empty_maximum : tensor<f64>) {
    ^bb0(%x_i: f64, %largest: f64):
      %larger = arith.maximumf %largest, %x_i : f64
      linalg.yield %larger : f64
    } -> tensor<f64>
    %maximum = tensor.extract %maximum_cell[] : tensor<f64>
    %infinity = arith.constant 0x7FF0000000000000 : f64
    %zero = arith.constant 0.0 : f64
    %size = math.absf %maximum : f64
    %test = arith.cmpf one, %size, %infinity : f64
    %shift = arith.select %test, %maximum, %zero : f64
    %empty_sum = tensor.splat %zero : tensor<f64>
    %total_cell = linalg.generic {indexing_maps = [#row, #cell], iterator_types = ["reduction"]}
        ins(%x : tensor<?xf64>) outs(%empty_sum : tensor<f64>) {
    ^bb0(%x_i: f64, %partial: f64):
      %difference = arith.subf %x_i, %shift : f64
      %exponential = math.exp %difference : f64
      %sum = arith.addf %partial, %exponential : f64
      linalg.yield %sum : f64
    } -> tensor<f64>
    %total = tensor.extract %total_cell[] : tensor<f64>
    %logarithm = math.log %total : f64
    %result = arith.addf %logarithm, %shift : f64
    xfuse.yield %result : f64
  }

  xfuse.recipe @logsumexp_torch(%x: tensor<?xf64>) -> f64 attributes {element_types = [f16, bf16, f32, f64]} {
    %lowest = arith.constant 0xFFF0000000000000 : f64
    %empty_maximum = tensor.splat %lowest : tensor<f64>
    %maximum_cell = linalg.generic {indexing_maps = [#row, #cell], iterator_types = ["reduction"]}
        ins(%x : tensor<?xf64>) outs(%empty_maximum : tensor<f64>) {
    ^bb0(%x_i: f64, %largest: f64):
      %larger = arith.maximumf %largest, %x_i : f64
      linalg.yield %larger : f64
    } -> tensor<f64>
    %maximum = tensor.extract %maximum_cell[] : tensor<f64>
    %infinity = arith.constant 0x7FF0000000000000 : f64
    %zero = arith.constant 0.0 : f64
    %size = math.absf %maximum : f64
    %test = arith.cmpf oeq, %size, %infinity : f64
    %shift = arith.select %test, %zero, %maximum : f64
    %empty_sum = tensor.splat %zero : tensor<f64>
    %total_cell = linalg.generic {indexing_maps = [#row, #cell], iterator_types = ["reduction"]}
        ins(%x : tensor<?xf64>) outs(%empty_sum : tensor<f64>) {
    ^bb0(%x_i: f64, %partial: f64):
      %difference = arith.subf %x_i, %shift : f64
      %exponential = math.exp %difference : f64
      %sum = arith.addf %partial, %exponential : f64
      linalg.yield %sum : f64
    } -> tensor<f64>
    %total = tensor.extract %total_cell[] : tensor<f64>
    %logarithm = math.log %total : f64
    %result = arith.addf %logarithm, %shift : f64
    xfuse.yield %result : f64
  }

  xfuse.recipe @logsumexp_unshifted(%x: tensor<?xf64>) -> f64 attributes {element_types = [f16, bf16, f32, f64]} {
    %zero = arith.constant 0.0 : f64
    %empty_sum = tensor.splat %zero : tensor<f64>
    %total_cell = linalg.generic {indexing_maps = [#row, #cell], iterator_types = ["reduction"]}
        ins(%x : tensor<?xf64>) outs(%empty_sum : tensor<f64>) {
    ^bb0(%x_i: f64, %partial: f64):
      %exponential = math.exp %x_i : f64
      %sum = arith.addf %partial, %exponential : f64
      linalg.yield %sum : f64
    } -> tensor<f64>
    %total = tensor.extract %total_cell[] : tensor<f64>
    %result = math.log %total : f64
    xfuse.yield %result : f64
  }

  xfuse.recipe @logsumexp_accumulating(
      %x: tensor<?xf64> {xfuse.accumulator = f32}
  ) -> f64 attributes {element_types = [f16, bf16, f32, f64]} {
    %lowest = arith.constant 0xFFF0000000000000 : f64
    %empty_maximum = tensor.splat %lowest : tensor<f64>
    %maximum_cell = linalg.generic {indexing_maps = [#row, #cell], iterator_types = ["reduction"]}
        ins(%x : tensor<?xf64>) outs(%empty_maximum : tensor<f64>) {
    ^bb0(%x_i: f64, %largest: f64):
      %larger = arith.maximumf %largest, %x_i : f64
      linalg.yield %larger : f64
    } -> tensor<f64>
    %maximum = tensor.extract %maximum_cell[] : tensor<f64>
    %zero = arith.constant 0.0 : f64
    %empty_sum = tensor.splat %zero : tensor<f64>
    %total_cell = linalg.generic {indexing_maps = [#row, #cell], iterator_types = ["reduction"]}
        ins(%x : tensor<?xf64>) outs(%empty_sum : tensor<f64>) {
    ^bb0(%x_i: f64, %partial: f64):
      %difference = arith.subf %x_i, %maximum : f64
      %exponential = math.exp %difference : f64
      %sum = arith.addf %partial, %exponential : f64
      linalg.yield %sum : f64
    } -> tensor<f64>
    %total = tensor.extract %total_cell[] : tensor<f64>
    %logarithm = math.log %total : f64
    %result = arith.addf %logarithm, %maximum : f64
    xfuse.yield %result : f64
  }
}
