// mish(x) = x tanh(softplus(x))
//
// @mish            textbook: x tanh(log1p(exp(x)))
// @mish_stable     with max(x, 0) + log1p(exp(-|x|))
// @mish_jax        JAX (`jax.nn.mish`): the stable form behind a NaN guard
// @mish_threshold  with x > 20 ? x : log1p(exp(x)), PyTorch's formula
// @mish_torch      PyTorch through torch-mlir, for types below f64: the comparison is made at f64
xfuse.library @mish {
  xfuse.recipe @mish(%x: f64) -> f64 attributes {element_types = [f16, bf16, f32, f64]} {
    %exponential = math.exp %x : f64
    %logarithm = math.log1p %exponential : f64
    %tangent = math.tanh %logarithm : f64
    %product = arith.mulf %x, %tangent : f64
    xfuse.yield %product : f64
  }

  xfuse.recipe @mish_stable(%x: f64) -> f64 attributes {element_types = [f16, bf16, f32, f64]} {
    %zero = arith.constant 0.0 : f64
    %larger = arith.maximumf %x, %zero : f64
    %magnitude = math.absf %x : f64
    %negative = arith.negf %magnitude : f64
    %exponential = math.exp %negative : f64
    %logarithm = math.log1p %exponential : f64
    %sum = arith.addf %larger, %logarithm : f64
    %tangent = math.tanh %sum : f64
    %product = arith.mulf %x, %tangent : f64
    xfuse.yield %product : f64
  }

  xfuse.recipe @mish_jax(%x: f64) -> f64 attributes {element_types = [f16, bf16, f32, f64]} {
    %zero = arith.constant 0.0 : f64
    %larger = arith.maximumf %x, %zero : f64
    %magnitude = math.absf %x : f64
    %negative = arith.negf %magnitude : f64
    %exponential = math.exp %negative : f64
    %logarithm = math.log1p %exponential : f64
    %sum = arith.addf %larger, %logarithm : f64
    %sum_1 = arith.addf %x, %zero : f64
    %test = arith.cmpf une, %x, %x : f64
    %chosen = arith.select %test, %sum_1, %sum : f64
    %tangent = math.tanh %chosen : f64
    %product = arith.mulf %x, %tangent : f64
    xfuse.yield %product : f64
  }

  xfuse.recipe @mish_threshold(%x: f64) -> f64 attributes {element_types = [f16, bf16, f32, f64]} {
    %exponential = math.exp %x : f64
    %logarithm = math.log1p %exponential : f64
    %twenty = arith.constant 20.0 : f64
    %test = arith.cmpf ogt, %x, %twenty : f64
    %chosen = arith.select %test, %x, %logarithm : f64
    %tangent = math.tanh %chosen : f64
    %product = arith.mulf %x, %tangent : f64
    xfuse.yield %product : f64
  }

  xfuse.recipe @mish_torch(%x: f32) -> f32 attributes {element_types = [f16, bf16, f32]} {
    %exponential = math.exp %x : f32
    %logarithm = math.log1p %exponential : f32
    %wide = arith.extf %x : f32 to f64
    %twenty = arith.constant 20.0 : f64
    %test = arith.cmpf ogt, %wide, %twenty : f64
    %chosen = arith.select %test, %x, %logarithm : f32
    %tangent = math.tanh %chosen : f32
    %product = arith.mulf %x, %tangent : f32
    xfuse.yield %product : f32
  }
}
