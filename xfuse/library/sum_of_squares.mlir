// sum_of_squares(x) = sum(x^2) over all elements
//
// (n)->(), of an operand of any rank.
//
// @sum_of_squares               textbook, JAX and PyTorch: sums of x x
// @sum_of_squares_fpowi         PyTorch through torch-mlir (`(x ** 2).sum()`): x^2 by fpowi with an i64 exponent
// @sum_of_squares_half          half the sum, as a penalty has it: (sum(x x)) / 2
// @sum_of_squares_accumulating  textbook, at no narrower a type than f32
#row = affine_map<(n) -> (n)>
#cell = affine_map<(n) -> ()>

xfuse.library @sum_of_squares {
  xfuse.recipe @sum_of_squares(
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
    xfuse.yield %sum : f64
  }

  xfuse.recipe @sum_of_squares_fpowi(
      %x: tensor<?xf64> {xfuse.flatten}
  ) -> f64 attributes {element_types = [f16, bf16, f32, f64]} {
    %k2 = arith.constant 2 : i64
    %zero = arith.constant 0.0 : f64
    %start = tensor.splat %zero : tensor<f64>
    %sum_cell = linalg.generic {indexing_maps = [#row, #cell], iterator_types = ["reduction"]}
        ins(%x : tensor<?xf64>) outs(%start : tensor<f64>) {
    ^bb0(%x_i: f64, %partial: f64):
      %power = math.fpowi %x_i, %k2 : f64, i64
      %sum = arith.addf %partial, %power : f64
      linalg.yield %sum : f64
    } -> tensor<f64>
    %sum = tensor.extract %sum_cell[] : tensor<f64>
    xfuse.yield %sum : f64
  }

  xfuse.recipe @sum_of_squares_half(
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
    %half = arith.constant 0.5 : f64
    %result = arith.mulf %half, %sum : f64
    xfuse.yield %result : f64
  }

  xfuse.recipe @sum_of_squares_accumulating(
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
    xfuse.yield %sum : f64
  }
}
