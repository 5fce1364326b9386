// causal_conv1d_silu(x, weight, bias) = silu(causal_conv1d(x, weight, bias))
//
// (n),(m),()->(k), k = n - m + 1. Gu and Dao, "Mamba", arXiv:2312.00752.
//
// @causal_conv1d_silu                   textbook: a sum over sliding windows
// @causal_conv1d_silu_padded            of a row that is not padded, k = n
// @causal_conv1d_silu_taps4             unrolled, 4 taps
// @causal_conv1d_silu_taps4_jax         JAX (`sum(w[k] * x[k:k + length] for k in range(4))`): 0 + ..., 4 taps
// @causal_conv1d_silu_padded_taps4_jax  the same of a row that is not padded (`jnp.pad(x, (3, 0))`)
// @causal_conv1d_silu_accumulating      textbook, at no narrower a type than f32
#step = affine_map<(t) -> (t)>
#first = affine_map<(t) -> (0)>
#window = affine_map<(t, k) -> (t + k)>
#tap = affine_map<(t, k) -> (k)>
#window_start = affine_map<(t, k) -> (t)>

xfuse.library @causal_conv1d_silu {
  xfuse.recipe @causal_conv1d_silu(
      %x: tensor<?xf64>, %weight: tensor<?xf64>, %bias: f64
  ) -> tensor<?xf64> attributes {element_types = [f16, bf16, f32, f64]} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %t = tensor.dim %x, %c0 : tensor<?xf64>
    %k = tensor.dim %weight, %c0 : tensor<?xf64>
    %rest = arith.subi %t, %k : index
    %length = arith.addi %rest, %c1 : index
    %empty = tensor.empty(%length) : tensor<?xf64>
    %zero = arith.constant 0.0 : f64
    %start = linalg.fill ins(%zero : f64) outs(%empty : tensor<?xf64>) -> tensor<?xf64>
    %taps = linalg.generic {indexing_maps = [#window, #tap, #window_start], iterator_types = ["parallel", "reduction"]}
        ins(%x, %weight : tensor<?xf64>, tensor<?xf64>) outs(%start : tensor<?xf64>) {
    ^bb0(%x_t: f64, %weight_k: f64, %partial: f64):
      %product = arith.mulf %weight_k, %x_t : f64
      %sum = arith.addf %partial, %product : f64
      linalg.yield %sum : f64
    } -> tensor<?xf64>
    %one = arith.constant 1.0 : f64
    %result = linalg.generic {indexing_maps = [#step, #step], iterator_types = ["parallel"]}
        ins(%taps : tensor<?xf64>) outs(%empty : tensor<?xf64>) {
    ^bb0(%taps_t: f64, %out: f64):
      %sum = arith.addf %taps_t, %bias : f64
      %negative = arith.negf %sum : f64
      %exponential = math.exp %negative : f64
      %denominator = arith.addf %one, %exponential : f64
      %sigmoid = arith.divf %one, %denominator : f64
      %activated = arith.mulf %sum, %sigmoid : f64
      linalg.yield %activated : f64
    } -> tensor<?xf64>
    xfuse.yield %result : tensor<?xf64>
  }

  xfuse.recipe @causal_conv1d_silu_padded(
      %x: tensor<?xf64>, %weight: tensor<?xf64>, %bias: f64
  ) -> tensor<?xf64> attributes {element_types = [f16, bf16, f32, f64]} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %t = tensor.dim %x, %c0 : tensor<?xf64>
    %k = tensor.dim %weight, %c0 : tensor<?xf64>
    %last = arith.subi %k, %c1 : index
    %empty = tensor.empty(%t) : tensor<?xf64>
    %zero = arith.constant 0.0 : f64
    %start = linalg.fill ins(%zero : f64) outs(%empty : tensor<?xf64>) -> tensor<?xf64>
    %taps = linalg.generic {indexing_maps = [#tap, #window_start], iterator_types = ["parallel", "reduction"]}
        ins(%weight : tensor<?xf64>) outs(%start : tensor<?xf64>) {
    ^bb0(%weight_k: f64, %partial: f64):
      %step = linalg.index 0 : index
      %tap = linalg.index 1 : index
      %end = arith.addi %step, %tap : index
      %place = arith.subi %end, %last : index
      %inside = arith.cmpi sge, %place, %c0 : index
      %safe = arith.maxsi %place, %c0 : index
      %element = tensor.extract %x[%safe] : tensor<?xf64>
      %value = arith.select %inside, %element, %zero : f64
      %product = arith.mulf %weight_k, %value : f64
      %sum = arith.addf %partial, %product : f64
      linalg.yield %sum : f64
    } -> tensor<?xf64>
    %one = arith.constant 1.0 : f64
    %result = linalg.generic {indexing_maps = [#step, #step], iterator_types = ["parallel"]}
        ins(%taps : tensor<?xf64>) outs(%empty : tensor<?xf64>) {
    ^bb0(%taps_t: f64, %out: f64):
      %sum = arith.addf %taps_t, %bias : f64
      %negative = arith.negf %sum : f64
      %exponential = math.exp %negative : f64
      %denominator = arith.addf %one, %exponential : f64
      %sigmoid = arith.divf %one, %denominator : f64
      %activated = arith.mulf %sum, %sigmoid : f64
      linalg.yield %activated : f64
    } -> tensor<?xf64>
    xfuse.yield %result : tensor<?xf64>
  }

  xfuse.recipe @causal_conv1d_silu_taps4(
      %x: tensor<?xf64>, %weight: tensor<4xf64>, %bias: f64
  ) -> tensor<?xf64> attributes {element_types = [f16, bf16, f32, f64]} {
    %c0 = arith.constant 0 : index
    %t = tensor.dim %x, %c0 : tensor<?xf64>
    %c3 = arith.constant 3 : index
    %length = arith.subi %t, %c3 : index
    %x0 = tensor.extract_slice %x[0] [%length] [1] : tensor<?xf64> to tensor<?xf64>
    %weight0 = tensor.extract_slice %weight[0] [1] [1] : tensor<4xf64> to tensor<1xf64>
    %x1 = tensor.extract_slice %x[1] [%length] [1] : tensor<?xf64> to tensor<?xf64>
    %weight1 = tensor.extract_slice %weight[1] [1] [1] : tensor<4xf64> to tensor<1xf64>
    %x2 = tensor.extract_slice %x[2] [%length] [1] : tensor<?xf64> to tensor<?xf64>
    %weight2 = tensor.extract_slice %weight[2] [1] [1] : tensor<4xf64> to tensor<1xf64>
    %x3 = tensor.extract_slice %x[3] [%length] [1] : tensor<?xf64> to tensor<?xf64>
    %weight3 = tensor.extract_slice %weight[3] [1] [1] : tensor<4xf64> to tensor<1xf64>
    %empty = tensor.empty(%length) : tensor<?xf64>
    %one = arith.constant 1.0 : f64
    %result = linalg.generic {indexing_maps = [#step, #step, #step, #step, #first, #first, #first, #first, #step],
        iterator_types = ["parallel"]}
        ins(%x0, %x1, %x2, %x3, %weight0, %weight1, %weight2, %weight3 :
            tensor<?xf64>, tensor<?xf64>, tensor<?xf64>, tensor<?xf64>,
            tensor<1xf64>, tensor<1xf64>, tensor<1xf64>, tensor<1xf64>)
        outs(%empty : tensor<?xf64>) {
    ^bb0(%x0_t: f64, %x1_t: f64, %x2_t: f64, %x3_t: f64, %w0: f64, %w1: f64, %w2: f64, %w3: f64, %out: f64):
      %product0 = arith.mulf %w0, %x0_t : f64
      %product1 = arith.mulf %w1, %x1_t : f64
      %sum1 = arith.addf %product0, %product1 : f64
      %product2 = arith.mulf %w2, %x2_t : f64
      %sum2 = arith.addf %sum1, %product2 : f64
      %product3 = arith.mulf %w3, %x3_t : f64
      %sum3 = arith.addf %sum2, %product3 : f64
      %sum = arith.addf %sum3, %bias : f64
      %negative = arith.negf %sum : f64
      %exponential = math.exp %negative : f64
      %denominator = arith.addf %one, %exponential : f64
      %sigmoid = arith.divf %one, %denominator : f64
      %activated = arith.mulf %sum, %sigmoid : f64
      linalg.yield %activated : f64
    } -> tensor<?xf64>
    xfuse.yield %result : tensor<?xf64>
  }

  xfuse.recipe @causal_conv1d_silu_taps4_jax(
      %x: tensor<?xf64>, %weight: tensor<4xf64>, %bias: f64
  ) -> tensor<?xf64> attributes {element_types = [f16, bf16, f32, f64]} {
    %c0 = arith.constant 0 : index
    %t = tensor.dim %x, %c0 : tensor<?xf64>
    %c3 = arith.constant 3 : index
    %length = arith.subi %t, %c3 : index
    %zero = arith.constant 0.0 : f64
    %x0 = tensor.extract_slice %x[0] [%length] [1] : tensor<?xf64> to tensor<?xf64>
    %weight0 = tensor.extract_slice %weight[0] [1] [1] : tensor<4xf64> to tensor<1xf64>
    %x1 = tensor.extract_slice %x[1] [%length] [1] : tensor<?xf64> to tensor<?xf64>
    %weight1 = tensor.extract_slice %weight[1] [1] [1] : tensor<4xf64> to tensor<1xf64>
    %x2 = tensor.extract_slice %x[2] [%length] [1] : tensor<?xf64> to tensor<?xf64>
    %weight2 = tensor.extract_slice %weight[2] [1] [1] : tensor<4xf64> to tensor<1xf64>
    %x3 = tensor.extract_slice %x[3] [%length] [1] : tensor<?xf64> to tensor<?xf64>
    %weight3 = tensor.extract_slice %weight[3] [1] [1] : tensor<4xf64> to tensor<1xf64>
    %empty = tensor.empty(%length) : tensor<?xf64>
    %one = arith.constant 1.0 : f64
    %result = linalg.generic {indexing_maps = [#step, #step, #step, #step, #first, #first, #first, #first, #step],
        iterator_types = ["parallel"]}
        ins(%x0, %x1, %x2, %x3, %weight0, %weight1, %weight2, %weight3 :
            tensor<?xf64>, tensor<?xf64>, tensor<?xf64>, tensor<?xf64>,
            tensor<1xf64>, tensor<1xf64>, tensor<1xf64>, tensor<1xf64>)
        outs(%empty : tensor<?xf64>) {
    ^bb0(%x0_t: f64, %x1_t: f64, %x2_t: f64, %x3_t: f64, %w0: f64, %w1: f64, %w2: f64, %w3: f64, %out: f64):
      %product0 = arith.mulf %w0, %x0_t : f64
      %sum0 = arith.addf %zero, %product0 : f64
      %product1 = arith.mulf %w1, %x1_t : f64
      %sum1 = arith.addf %sum0, %product1 : f64
      %product2 = arith.mulf %w2, %x2_t : f64
      %sum2 = arith.addf %sum1, %product2 : f64
      %product3 = arith.mulf %w3, %x3_t : f64
      %sum3 = arith.addf %sum2, %product3 : f64
      %sum = arith.addf %sum3, %bias : f64
      %negative = arith.negf %sum : f64
      %exponential = math.exp %negative : f64
      %denominator = arith.addf %one, %exponential : f64
      %sigmoid = arith.divf %one, %denominator : f64
      %activated = arith.mulf %sum, %sigmoid : f64
      linalg.yield %activated : f64
    } -> tensor<?xf64>
    xfuse.yield %result : tensor<?xf64>
  }

  xfuse.recipe @causal_conv1d_silu_padded_taps4_jax(
      %x: tensor<?xf64>, %weight: tensor<4xf64>, %bias: f64
  ) -> tensor<?xf64> attributes {element_types = [f16, bf16, f32, f64]} {
    %c0 = arith.constant 0 : index
    %t = tensor.dim %x, %c0 : tensor<?xf64>
    %zero = arith.constant 0.0 : f64
    %padded = tensor.pad %x low[3] high[0] {
    ^bb0(%place: index):
      tensor.yield %zero : f64
    } : tensor<?xf64> to tensor<?xf64>
    %x0 = tensor.extract_slice %padded[0] [%t] [1] : tensor<?xf64> to tensor<?xf64>
    %weight0 = tensor.extract_slice %weight[0] [1] [1] : tensor<4xf64> to tensor<1xf64>
    %x1 = tensor.extract_slice %padded[1] [%t] [1] : tensor<?xf64> to tensor<?xf64>
    %weight1 = tensor.extract_slice %weight[1] [1] [1] : tensor<4xf64> to tensor<1xf64>
    %x2 = tensor.extract_slice %padded[2] [%t] [1] : tensor<?xf64> to tensor<?xf64>
    %weight2 = tensor.extract_slice %weight[2] [1] [1] : tensor<4xf64> to tensor<1xf64>
    %x3 = tensor.extract_slice %padded[3] [%t] [1] : tensor<?xf64> to tensor<?xf64>
    %weight3 = tensor.extract_slice %weight[3] [1] [1] : tensor<4xf64> to tensor<1xf64>
    %empty = tensor.empty(%t) : tensor<?xf64>
    %one = arith.constant 1.0 : f64
    %result = linalg.generic {indexing_maps = [#step, #step, #step, #step, #first, #first, #first, #first, #step],
        iterator_types = ["parallel"]}
        ins(%x0, %x1, %x2, %x3, %weight0, %weight1, %weight2, %weight3 :
            tensor<?xf64>, tensor<?xf64>, tensor<?xf64>, tensor<?xf64>,
            tensor<1xf64>, tensor<1xf64>, tensor<1xf64>, tensor<1xf64>)
        outs(%empty : tensor<?xf64>) {
    ^bb0(%x0_t: f64, %x1_t: f64, %x2_t: f64, %x3_t: f64, %w0: f64, %w1: f64, %w2: f64, %w3: f64, %out: f64):
      %product0 = arith.mulf %w0, %x0_t : f64
      %sum0 = arith.addf %zero, %product0 : f64
      %product1 = arith.mulf %w1, %x1_t : f64
      %sum1 = arith.addf %sum0, %product1 : f64
      %product2 = arith.mulf %w2, %x2_t : f64
      %sum2 = arith.addf %sum1, %product2 : f64
      %product3 = arith.mulf %w3, %x3_t : f64
      %sum3 = arith.addf %sum2, %product3 : f64
      %sum = arith.addf %sum3, %bias : f64
      %negative = arith.negf %sum : f64
      %exponential = math.exp %negative : f64
      %denominator = arith.addf %one, %exponential : f64
      %sigmoid = arith.divf %one, %denominator : f64
      %activated = arith.mulf %sum, %sigmoid : f64
      linalg.yield %activated : f64
    } -> tensor<?xf64>
    xfuse.yield %result : tensor<?xf64>
  }

  xfuse.recipe @causal_conv1d_silu_accumulating(
      %x: tensor<?xf64> {xfuse.accumulator = f32}, %weight: tensor<?xf64> {xfuse.accumulator = f32},
      %bias: f64 {xfuse.accumulator = f32}
  ) -> tensor<?xf64> attributes {element_types = [f16, bf16, f32, f64]} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %t = tensor.dim %x, %c0 : tensor<?xf64>
    %k = tensor.dim %weight, %c0 : tensor<?xf64>
    %rest = arith.subi %t, %k : index
    %length = arith.addi %rest, %c1 : index
    %empty = tensor.empty(%length) : tensor<?xf64>
    %zero = arith.constant 0.0 : f64
    %start = linalg.fill ins(%zero : f64) outs(%empty : tensor<?xf64>) -> tensor<?xf64>
    %taps = linalg.generic {indexing_maps = [#window, #tap, #window_start], iterator_types = ["parallel", "reduction"]}
        ins(%x, %weight : tensor<?xf64>, tensor<?xf64>) outs(%start : tensor<?xf64>) {
    ^bb0(%x_t: f64, %weight_k: f64, %partial: f64):
      %product = arith.mulf %weight_k, %x_t : f64
      %sum = arith.addf %partial, %product : f64
      linalg.yield %sum : f64
    } -> tensor<?xf64>
    %one = arith.constant 1.0 : f64
    %result = linalg.generic {indexing_maps = [#step, #step], iterator_types = ["parallel"]}
        ins(%taps : tensor<?xf64>) outs(%empty : tensor<?xf64>) {
    ^bb0(%taps_t: f64, %out: f64):
      %sum = arith.addf %taps_t, %bias : f64
      %negative = arith.negf %sum : f64
      %exponential = math.exp %negative : f64
      %denominator = arith.addf %one, %exponential : f64
      %sigmoid = arith.divf %one, %denominator : f64
      %activated = arith.mulf %sum, %sigmoid : f64
      linalg.yield %activated : f64
    } -> tensor<?xf64>
    xfuse.yield %result : tensor<?xf64>
  }
}
