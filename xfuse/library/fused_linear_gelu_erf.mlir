// fused_linear_gelu_erf(x, weight, bias) = z/2 (1 + erf(z / sqrt(2))), z = sum(x weight) + bias
//
// (n),(n),()->(): one element of a matmul with a bias. Batches, rows and columns are loop dimensions.
//
// @fused_linear_gelu_erf               textbook: (0.5 z) (1 + erf(z / sqrt(2)))
// @fused_linear_gelu_erf_torch         PyTorch (`nn.GELU()` behind `nn.Linear`): z (0.5 (1 + erf(z / sqrt(2))))
// @fused_linear_gelu_erf_onto_bias     PyTorch's form; the sum starts from the bias, or from 0 where there is none
// @fused_linear_gelu_erf_accumulating  PyTorch's form, at no narrower a type than f32
#row = affine_map<(n) -> (n)>
#cell = affine_map<(n) -> ()>

xfuse.library @fused_linear_gelu_erf {
  xfuse.recipe @fused_linear_gelu_erf(
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
    %half = arith.constant 0.5 : f64
    %one = arith.constant 1.0 : f64
    %root_two = arith.constant 1.4142135623730951 : f64
    %scaled = arith.divf %sum, %root_two : f64
    %error = math.erf %scaled : f64
    %upper = arith.addf %one, %error : f64
    %halved = arith.mulf %half, %sum : f64
    %product = arith.mulf %halved, %upper : f64
    xfuse.yield %product : f64
  }

  xfuse.recipe @fused_linear_gelu_erf_torch(
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
    %half = arith.constant 0.5 : f64
    %one = arith.constant 1.0 : f64
    %root_two = arith.constant 1.4142135623730951 : f64
    %scaled = arith.divf %sum, %root_two : f64
    %error = math.erf %scaled : f64
    %upper = arith.addf %one, %error : f64
    %halved = arith.mulf %half, %upper : f64
    %product = arith.mulf %sum, %halved : f64
    xfuse.yield %product : f64
  }

  xfuse.recipe @fused_linear_gelu_erf_onto_bias(
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
    %half = arith.constant 0.5 : f64
    %one = arith.constant 1.0 : f64
    %root_two = arith.constant 1.4142135623730951 : f64
    %scaled = arith.divf %sum, %root_two : f64
    %error = math.erf %scaled : f64
    %upper = arith.addf %one, %error : f64
    %halved = arith.mulf %half, %upper : f64
    %product = arith.mulf %sum, %halved : f64
    xfuse.yield %product : f64
  }

  xfuse.recipe @fused_linear_gelu_erf_accumulating(
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
    %half = arith.constant 0.5 : f64
    %one = arith.constant 1.0 : f64
    %root_two = arith.constant 1.4142135623730951 : f64
    %scaled = arith.divf %sum, %root_two : f64
    %error = math.erf %scaled : f64
    %upper = arith.addf %one, %error : f64
    %halved = arith.mulf %half, %upper : f64
    %product = arith.mulf %sum, %halved : f64
    xfuse.yield %product : f64
  }
}
