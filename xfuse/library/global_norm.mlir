// global_norm(x) = sqrt(sum(x^2)) over all elements
//
// (n)->(), of an operand of any rank.
//
// @global_norm               textbook and JAX (`jnp.linalg.norm`)
// @global_norm_mean          the root of the mean, sqrt(sum(x^2) / count)
// @global_norm_torch         PyTorch through torch-mlir (`torch.linalg.vector_norm`): powers of |x| by powf
// @global_norm_accumulating  textbook, at no narrower a type than f32
#row = affine_map<(n) -> (n)>
#cell = affine_map<(n) -> ()>

xfuse.library @global_norm {
  xfuse.recipe @global_norm(
      %x: tensor<?xf64> {xfuse.flatten}
  ) -> f64 attributes {element_types = [f16, bf16, f32, f64]} {
    %zero = arith.constant 0.0 : f64
    %start = tensor.splat %zero : tensor<f64>
    %sum_cell = linalg.generic {indexing_maps = [#row, #cell], iterator_types = ["reduction"]}
        ins(%x : tensor<?xf64>) outs(%start : tensor<f64>) {
    ^bb0(%x_i: f64, %partial: f64):
      %product = arith.mulf %x_i, %x_i : f64
      %sum = arith.addf %partial, %product : f64
      linalg.yield %sum : f64
    } -> tensor<f64>
    %sum = tensor.extract %sum_cell[] : tensor<f64>
    %norm = math.sqrt %sum : f64
    xfuse.yield %norm : f64
  }

  xfuse.recipe @global_norm_mean(
      %x: tensor<?xf64> {xfuse.flatten}
  ) -> f64 attributes {element_types = [f16, bf16, f32, f64]} {
    %zero = arith.constant 0.0 : f64
    %start = tensor.splat %zero : tensor<f64>
    %sum_cell = linalg.generic {indexing_maps = [#row, #cell], iterator_types = ["reduction"]}
        ins(%x : tensor<?xf64>) outs(%start : tensor<f64>) {
    ^bb0(%x_i: f64, %partial: f64):
      %product = arith.mulf %x_i, %x_i : f64
      %sum = arith.addf %partial, %product : f64
      linalg.yield %sum : f64
    } -> tensor<f64>
    %sum = tensor.extract %sum_cell[] : tensor<f64>
    %c0 = arith.constant 0 : index
    %n = tensor.dim %x, %c0 : tensor<?xf64>
    %count_integer = arith.index_cast %n : index to i64
    %count = arith.sitofp %count_integer : i64 to f64
    %quotient = arith.divf %sum, %count : f64
    %norm = math.sqrt %quotient : f64
    xfuse.yield %norm : f64
  }

  xfuse.recipe @global_norm_torch(
      %x: tensor<?xf64> {xfuse.flatten}
  ) -> f64 attributes {element_types = [f16, bf16, f32, f64]} {
    %two = arith.constant 2.0 : f64
    %zero = arith.constant 0.0 : f64
    %start = tensor.splat %zero : tensor<f64>
    %sum_cell = linalg.generic {indexing_maps = [#row, #cell], iterator_types = ["reduction"]}
        ins(%x : tensor<?xf64>) outs(%start : tensor<f64>) {
    ^bb0(%x_i: f64, %partial: f64):
      %magnitude = math.absf %x_i : f64
      %power = math.powf %magnitude, %two : f64
      %sum = arith.addf %partial, %power : f64
      linalg.yield %sum : f64
    } -> tensor<f64>
    %sum = tensor.extract %sum_cell[] : tensor<f64>
    %half = arith.constant 0.5 : f64
    %norm = math.powf %sum, %half : f64
    xfuse.yield %norm : f64
  }

  xfuse.recipe @global_norm_accumulating(
      %x: tensor<?xf64> {xfuse.flatten, xfuse.accumulator = f32}
  ) -> f64 attributes {element_types = [f16, bf16, f32, f64]} {
    %zero = arith.constant 0.0 : f64
    %start = tensor.splat %zero : tensor<f64>
    %sum_cell = linalg.generic {indexing_maps = [#row, #cell], iterator_types = ["reduction"]}
        ins(%x : tensor<?xf64>) outs(%start : tensor<f64>) {
    ^bb0(%x_i: f64, %partial: f64):
      %product = arith.mulf %x_i, %x_i : f64
      %sum = arith.addf %partial, %product : f64
      linalg.yield %sum : f64
    } -> tensor<f64>
    %sum = tensor.extract %sum_cell[] : tensor<f64>
    %norm = math.sqrt %sum : f64
    xfuse.yield %norm : f64
  }
}
