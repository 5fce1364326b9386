// fused_linear(x, weight, bias) = sum(x weight) + bias
//
// (n),(n),()->(): one element of a matmul with a bias. Batches, rows and columns are loop dimensions.
//
// @fused_linear               textbook, JAX (`x @ weight + bias`) and PyTorch (`F.linear`)
// @fused_linear_accumulating  textbook, at no narrower a type than f32
#row = affine_map<(n) -> (n)>
#cell = affine_map<(n) -> ()>

xfuse.library @fused_linear {
  xfuse.recipe @fused_linear(
      %x: tensor<?xf64>, %weight: tensor<?xf64>, %bias: f64
  ) -> f64 attributes {element_types = [f16, bf16, f32, f64]} {
    %zero = arith.constant 0.0 : f64
    %empty_sum = tensor.splat %zero : tensor<f64>
    %dot_cell = linalg.generic {indexing_maps = [#row, #row, #cell], iterator_types = ["reduction"]}
        ins(%x, %weight : tensor<?xf64>, tensor<?xf64>) outs(%empty_sum : tensor<f64>) {
    ^bb0(%x_i: f64, %weight_i: f64, %partial: f64):
      %product = arith.mulf %x_i, %weight_i : f64
      %sum = arith.addf %partial, %product : f64
      linalg.yield %sum : f64
    } -> tensor<f64>
    %dot = tensor.extract %dot_cell[] : tensor<f64>
    %sum = arith.addf %dot, %bias : f64
    xfuse.yield %sum : f64
  }

  xfuse.recipe @fused_linear_accumulating(
      %x: tensor<?xf64> {xfuse.accumulator = f32}, %weight: tensor<?xf64> {xfuse.accumulator = f32},
      %bias: f64 {xfuse.accumulator = f32}
  ) -> f64 attributes {element_types = [f16, bf16, f32, f64]} {
    %zero = arith.constant 0.0 : f64
    %empty_sum = tensor.splat %zero : tensor<f64>
    %dot_cell = linalg.generic {indexing_maps = [#row, #row, #cell], iterator_types = ["reduction"]}
        ins(%x, %weight : tensor<?xf64>, tensor<?xf64>) outs(%empty_sum : tensor<f64>) {
    ^bb0(%x_i: f64, %weight_i: f64, %partial: f64):
      %product = arith.mulf %x_i, %weight_i : f64
      %sum = arith.addf %partial, %product : f64
      linalg.yield %sum : f64
    } -> tensor<f64>
    %dot = tensor.extract %dot_cell[] : tensor<f64>
    %sum = arith.addf %dot, %bias : f64
    xfuse.yield %sum : f64
  }
}
