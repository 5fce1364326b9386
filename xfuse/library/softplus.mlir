// softplus(x) = log(1 + exp(x))
//
// @softplus            textbook by log1p; infinite where exp(x) overflows
// @softplus_log        log(1 + exp(x)); loses relative accuracy far below 0
// @softplus_stable     max(x, 0) + log1p(exp(-|x|))
// @softplus_jax        JAX (`jax.nn.softplus`), which is logaddexp(x, 0): the stable form behind a NaN guard
// @softplus_threshold  x > 20 ? x : log1p(exp(x)), PyTorch's formula
// @softplus_torch      PyTorch through torch-mlir, for types below f64: the comparison is made at f64
xfuse.library @softplus {
  xfuse.recipe @softplus(%x: f64) -> f64 attributes {element_types = [f16, bf16, f32, f64]} {
    %exponential = math.exp %x : f64
    %logarithm = math.log1p %exponential : f64
    xfuse.yield %logarithm : f64
  }

  xfuse.recipe @softplus_log(%x: f64) -> f64 attributes {element_types = [f16, bf16, f32, f64]} {
    %exponential = math.exp %x : f64
    %one = arith.constant 1.0 : f64
    %sum = arith.addf %one, %exponential : f64
    %logarithm = math.log %sum : f64
    xfuse.yield %logarithm : f64
  }

  xfuse.recipe @softplus_stable(%x: f64) -> f64 attributes {element_types = [f16, bf16, f32, f64]} {
    %zero = arith.constant 0.0 : f64
    %larger = arith.maximumf %x, %zero : f64
    %magnitude = math.absf %x : f64
    %negative = arith.negf %magnitude : f64
    %exponential = math.exp %negative : f64
    %logarithm = math.log1p %exponential : f64
    %sum = arith.addf %larger, %logarithm : f64
    xfuse.yield %sum : f64
  }

  xfuse.recipe @softplus_jax(%x: f64) -> f64 attributes {element_types = [f16, bf16, f32, f64]} {
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
    xfuse.yield %chosen : f64
  }

  xfuse.recipe @softplus_threshold(%x: f64) -> f64 attributes {element_types = [f16, bf16, f32, f64]} {
    %exponential = math.exp %x : f64
    %logarithm = math.log1p %exponential : f64
    %twenty = arith.constant 20.0 : f64
    %test = arith.cmpf ogt, %x, %twenty : f64
    %chosen = arith.select %test, %x, %logarithm : f64
    xfuse.yield %chosen : f64
  }

  xfuse.recipe @softplus_torch(%x: f32) -> f32 attributes {element_types = [f16, bf16, f32]} {
    %exponential = math.exp %x : f32
    %logarithm = math.log1p %exponential : f32
    %wide = arith.extf %x : f32 to f64
    %twenty = arith.constant 20.0 : f64
    %test = arith.cmpf ogt, %wide, %twenty : f64
    %chosen = arith.select %test, %x, %logarithm : f32
    xfuse.yield %chosen : f32
  }
}
