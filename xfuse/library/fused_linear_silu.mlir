// fused_linear_silu(x, weight, bias) = z / (1 + exp(-z)), z = sum(x weight) + bias
//
// (n),(n),()->(): one element of a matmul with a bias. Batches, rows and columns are loop dimensions.
//
// @fused_linear_silu               textbook, JAX (`jax.nn.silu`) and PyTorch (`F.silu`): z (1 / (1 + exp(-z)))
// @fused_linear_silu_div           z / (1 + exp(-z))
// @fused_linear_silu_onto_bias     textbook; the sum starts from the bias, or from 0 where there is none
// @fused_linear_silu_accumulating  textbook, at no narrower a type than f32
#row = affine_map<(n) -> (n)>
#cell = affine_map<(n) -> ()>

xfuse.library @fused_linear_silu {
  xfuse.recipe @fused_linear_silu(
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
    %one = arith.constant 1.0 : f64
    %negative = arith.negf %sum : f64
    %exponential = math.exp %negative : f64
    %denominator = arith.addf %one, %exponential : f64
    %quotient = arith.divf %one, %denominator : f64
    %product = arith.mulf %sum, %quotient : f64
    xfuse.yield %product : f64
  }

  xfuse.recipe @fused_linear_silu_div(
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
    %one = arith.constant 1.0 : f64
    %negative = arith.negf %sum : f64
    %exponential = math.exp %negative : f64
    %denominator = arith.addf %one, %exponential : f64
    %quotient = arith.divf %sum, %denominator : f64
    xfuse.yield %quotient : f64
  }

  xfuse.recipe @fused_linear_silu_onto_bias(
      %x: tensor<?xf64>, %weight: tensor<?xf64>, %bias: f64
  ) -> f64 attributes {element_types = [f16, bf16, f32, f64]} {
    %start = tensor.splat %bias : tensor<f64>
    %sum_cell = linalg.generic {indexing_maps = [#row, #row, #cell], iterator_types = ["reduction"]}
        ins(%x, %weight : tensor<?xf64>, tensor<?xf64>) outs(%start : tensor<f64>) {
    ^bb0(%x_i: f64, %weight_i: f64, %partial: f64):
      %product = arith.mulf %x_i, %weight_i : f64
      %sum = arith.addf %partial, %product : f64
      linalg.yield %sum : f64
    } -> tensor<f64>
    %sum = tensor.extract %sum_cell[] : tensor<f64>
    %one = arith.constant 1.0 : f64
    %negative = arith.negf %sum : f64
    %exponential = math.exp %negative : f64
    %denominator = arith.addf %one, %exponential : f64
    %quotient = arith.divf %one, %denominator : f64
    %product = arith.mulf %sum, %quotient : f64
    xfuse.yield %product : f64
  }

  xfuse.recipe @fused_linear_silu_accumulating(
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
    %one = arith.constant 1.0 : f64
    %negative = arith.negf %sum : f64
    %exponential = math.exp %negative : f64
    %denominator = arith.addf %one, %exponential : f64
    %quotient = arith.divf %one, %denominator : f64
    %product = arith.mulf %sum, %quotient : f64
    xfuse.yield %product : f64
  }
}
