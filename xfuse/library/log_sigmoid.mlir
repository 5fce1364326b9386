// log_sigmoid(x) = log(sigmoid(x)) = -softplus(-x)
//
// @log_sigmoid        textbook: min(x, 0) - log1p(exp(-|x|))
// @log_sigmoid_jax    JAX (`jax.nn.log_sigmoid`): minus the guarded softplus of -x
// @log_sigmoid_torch  PyTorch (binary cross entropy with logits): the minimum by compare and select
xfuse.library @log_sigmoid {
  xfuse.recipe @log_sigmoid(%x: f64) -> f64 attributes {element_types = [f16, bf16, f32, f64]} {
    %magnitude = math.absf %x : f64
    %negative = arith.negf %magnitude : f64
    %exponential = math.exp %negative : f64
    %logarithm = math.log1p %exponential : f64
    %zero = arith.constant 0.0 : f64
    %smaller = arith.minimumf %x, %zero : f64
    %difference = arith.subf %smaller, %logarithm : f64
    xfuse.yield %difference : f64
  }

  xfuse.recipe @log_sigmoid_jax(%x: f64) -> f64 attributes {element_types = [f16, bf16, f32, f64]} {
    %negative = arith.negf %x : f64
    %zero = arith.constant 0.0 : f64
    %larger = arith.maximumf %negative, %zero : f64
    %magnitude = math.absf %negative : f64
    %negative_1 = arith.negf %magnitude : f64
    %exponential = math.exp %negative_1 : f64
    %logarithm = math.log1p %exponential : f64
    %sum = arith.addf %larger, %logarithm : f64
    %sum_1 = arith.addf %negative, %zero : f64
    %test = arith.cmpf une, %negative, %negative : f64
    %chosen = arith.select %test, %sum_1, %sum : f64
    %negative_2 = arith.negf %chosen : f64
    xfuse.yield %negative_2 : f64
  }

  xfuse.recipe @log_sigmoid_torch(%x: f64) -> f64 attributes {element_types = [f16, bf16, f32, f64]} {
    %magnitude = math.absf %x : f64
    %negative = arith.negf %magnitude : f64
    %exponential = math.exp %negative : f64
    %logarithm = math.log1p %exponential : f64
    %zero = arith.constant 0.0 : f64
    %test = arith.cmpf olt, %zero, %x : f64
    %chosen = arith.select %test, %zero, %x : f64
    %difference = arith.subf %chosen, %logarithm : f64
    xfuse.yield %difference : f64
  }
}
