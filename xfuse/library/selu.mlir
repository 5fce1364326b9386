// selu(x) = scale (x > 0 ? x : alpha (exp(x) - 1)), scale = 1.0507009873554805, alpha = 1.6732632423543772
//
// @selu        textbook by expm1
// @selu_jax    JAX (`jax.nn.selu`): expm1 of x > 0 ? 0 : x
// @selu_torch  PyTorch through torch-mlir: scale (max(0, x) + (exp(min(0, x)) - 1) alpha)
xfuse.library @selu {
  xfuse.recipe @selu(%x: f64) -> f64 attributes {element_types = [f16, bf16, f32, f64]} {
    %alpha = arith.constant 1.6732632423543772 : f64
    %scale = arith.constant 1.0507009873554805 : f64
    %excess = math.expm1 %x : f64
    %product = arith.mulf %alpha, %excess : f64
    %zero = arith.constant 0.0 : f64
    %test = arith.cmpf ogt, %x, %zero : f64
    %chosen = arith.select %test, %x, %product : f64
    %product_1 = arith.mulf %scale, %chosen : f64
    xfuse.yield %product_1 : f64
  }

  xfuse.recipe @selu_jax(%x: f64) -> f64 attributes {element_types = [f16, bf16, f32, f64]} {
    %alpha = arith.constant 1.6732632423543772 : f64
    %scale = arith.constant 1.0507009873554805 : f64
    %zero = arith.constant 0.0 : f64
    %test = arith.cmpf ogt, %x, %zero : f64
    %chosen = arith.select %test, %zero, %x : f64
    %excess = math.expm1 %chosen : f64
    %product = arith.mulf %alpha, %excess : f64
    %chosen_1 = arith.select %test, %x, %product : f64
    %product_1 = arith.mulf %scale, %chosen_1 : f64
    xfuse.yield %product_1 : f64
  }

  xfuse.recipe @selu_torch(%x: f64) -> f64 attributes {element_types = [f16, bf16, f32, f64]} {
    %alpha = arith.constant 1.6732632423543772 : f64
    %scale = arith.constant 1.0507009873554805 : f64
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
    %product_1 = arith.mulf %scale, %sum : f64
    xfuse.yield %product_1 : f64
  }
}
