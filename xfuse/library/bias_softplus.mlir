// bias_softplus(x, bias) = softplus(x + bias)
//
// @bias_softplus      textbook by log1p; infinite where exp(x + bias) overflows
// @bias_softplus_jax  JAX: the stable form behind a NaN guard
xfuse.library @bias_softplus {
  xfuse.recipe @bias_softplus(%x: f64, %bias: f64) -> f64 attributes {element_types = [f16, bf16, f32, f64]} {
    %sum = arith.addf %x, %bias : f64
    %exponential = math.exp %sum : f64
    %logarithm = math.log1p %exponential : f64
    xfuse.yield %logarithm : f64
  }

  xfuse.recipe @bias_softplus_jax(%x: f64, %bias: f64) -> f64 attributes {element_types = [f16, bf16, f32, f64]} {
    %sum = arith.addf %x, %bias : f64
    %zero = arith.constant 0.0 : f64
    %larger = arith.maximumf %sum, %zero : f64
    %magnitude = math.absf %sum : f64
    %negative = arith.negf %magnitude : f64
    %exponential = math.exp %negative : f64
    %logarithm = math.log1p %exponential : f64
    %sum_1 = arith.addf %larger, %logarithm : f64
    %sum_2 = arith.addf %sum, %zero : f64
    %test = arith.cmpf une, %sum, %sum : f64
    %chosen = arith.select %test, %sum_2, %sum_1 : f64
    xfuse.yield %chosen : f64
  }
}
