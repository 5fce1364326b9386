// log_add_exp(x, y) = log(exp(x) + exp(y))
//
// @log_add_exp      textbook, stable: max(x, y) + log1p(exp(-|x - y|)); a NaN where x = y = +-inf
// @log_add_exp_jax  JAX (`jnp.logaddexp`): x + y where x - y is a NaN
xfuse.library @log_add_exp {
  xfuse.recipe @log_add_exp(%x: f64, %y: f64) -> f64 attributes {element_types = [f16, bf16, f32, f64]} {
    %difference = arith.subf %x, %y : f64
    %magnitude = math.absf %difference : f64
    %negative = arith.negf %magnitude : f64
    %exponential = math.exp %negative : f64
    %logarithm = math.log1p %exponential : f64
    %larger = arith.maximumf %x, %y : f64
    %sum = arith.addf %larger, %logarithm : f64
    xfuse.yield %sum : f64
  }

  xfuse.recipe @log_add_exp_jax(%x: f64, %y: f64) -> f64 attributes {element_types = [f16, bf16, f32, f64]} {
    %difference = arith.subf %x, %y : f64
    %magnitude = math.absf %difference : f64
    %negative = arith.negf %magnitude : f64
    %exponential = math.exp %negative : f64
    %logarithm = math.log1p %exponential : f64
    %larger = arith.maximumf %x, %y : f64
    %sum = arith.addf %larger, %logarithm : f64
    %test = arith.cmpf une, %difference, %difference : f64
    %sum_1 = arith.addf %x, %y : f64
    %chosen = arith.select %test, %sum_1, %sum : f64
    xfuse.yield %chosen : f64
  }
}
