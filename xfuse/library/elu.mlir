// elu(x, alpha) = x > 0 ? x : alpha (exp(x) - 1)
//
// @elu        textbook by expm1
// @elu_jax    JAX (`jax.nn.elu`): expm1 of x > 0 ? 0 : x, so that its derivative is finite
// @elu_torch  PyTorch through torch-mlir: max(0, x) + (exp(min(0, x)) - 1) alpha; loses relative accuracy near 0
// @elu_one, @elu_jax_one, @elu_torch_one  with alpha = 1
xfuse.library @elu {
  xfuse.recipe @elu(%x: f64, %alpha: f64 {xfuse.scalar}) -> f64 attributes {element_types = [f16, bf16, f32, f64]} {
    %excess = math.expm1 %x : f64
    %product = arith.mulf %alpha, %excess : f64
    %zero = arith.constant 0.0 : f64
    %test = arith.cmpf ogt, %x, %zero : f64
    %chosen = arith.select %test, %x, %product : f64
    xfuse.yield %chosen : f64
  }

  xfuse.recipe @elu_jax(%x: f64, %alpha: f64 {xfuse.scalar}) -> f64 attributes {element_types = [f16, bf16, f32, f64]} {
    %zero = arith.constant 0.0 : f64
    %test = arith.cmpf ogt, %x, %zero : f64
    %chosen = arith.select %test, %zero, %x : f64
    %excess = math.expm1 %chosen : f64
    %product = arith.mulf %alpha, %excess : f64
    %chosen_1 = arith.select %test, %x, %product : f64
    xfuse.yield %chosen_1 : f64
  }

  xfuse.recipe @elu_torch(
      %x: f64, %alpha: f64 {xfuse.scalar}
  ) -> f64 attributes {element_types = [f16, bf16, f32, f64]} {
    %zero = arith.constant 0.0 : f64
    %test = arith.cmpf ogt, %zero, %x : f64
    %chosen = arith.select %test, %zero, %x : f64
    %test_1 = arith.cmpf olt, %zero, %x : f64
    %chosen_1 = arith.select %test_1, %zero, %x : f64
    %exponential = math.exp %chosen_1 : f64
    %one = arith.constant 1.0 : f64
    %difference = arith.subf %exponential, %one : f64
    %product = arith.mulf %difference, %alpha : f64
    %sum = arith.addf %chosen, %product : f64
    xfuse.yield %sum : f64
  }

  xfuse.recipe @elu_one(%x: f64) -> f64 attributes {element_types = [f16, bf16, f32, f64]} {
    %excess = math.expm1 %x : f64
    %zero = arith.constant 0.0 : f64
    %test = arith.cmpf ogt, %x, %zero : f64
    %chosen = arith.select %test, %x, %excess : f64
    xfuse.yield %chosen : f64
  }

  xfuse.recipe @elu_jax_one(%x: f64) -> f64 attributes {element_types = [f16, bf16, f32, f64]} {
    %zero = arith.constant 0.0 : f64
    %test = arith.cmpf ogt, %x, %zero : f64
    %chosen = arith.select %test, %zero, %x : f64
    %excess = math.expm1 %chosen : f64
    %chosen_1 = arith.select %test, %x, %excess : f64
    xfuse.yield %chosen_1 : f64
  }

  xfuse.recipe @elu_torch_one(%x: f64) -> f64 attributes {element_types = [f16, bf16, f32, f64]} {
    %zero = arith.constant 0.0 : f64
    %test = arith.cmpf ogt, %zero, %x : f64
    %chosen = arith.select %test, %zero, %x : f64
    %test_1 = arith.cmpf olt, %zero, %x : f64
    %chosen_1 = arith.select %test_1, %zero, %x : f64
    %exponential = math.exp %chosen_1 : f64
    %one = arith.constant 1.0 : f64
    %difference = arith.subf %exponential, %one : f64
    %sum = arith.addf %chosen, %difference : f64
    xfuse.yield %sum : f64
  }
}
