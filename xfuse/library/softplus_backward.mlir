// softplus_backward(x, gradient) = gradient sigmoid(x), the derivative of softplus
//
// A plain product of gradient and sigmoid(x) is @glu, with gate = x.
//
// @softplus_backward        PyTorch (`softplus_backward` below its threshold): gradient e / (e + 1), of e = exp(x)
// @softplus_backward_jax    JAX (`jax.nn.softplus`, `jnp.logaddexp`): exp(x - softplus(x)), infinities taken for 0
// @softplus_backward_saved  the same with the softplus that the forward pass has kept
xfuse.library @softplus_backward {
  xfuse.recipe @softplus_backward(%x: f64, %gradient: f64) -> f64 attributes {element_types = [f16, bf16, f32, f64]} {
    %e = math.exp %x : f64
    %product = arith.mulf %gradient, %e : f64
    %one = arith.constant 1.0 : f64
    %sum = arith.addf %e, %one : f64
    %result = arith.divf %product, %sum : f64
    xfuse.yield %result : f64
  }

  xfuse.recipe @softplus_backward_jax(
      %x: f64, %gradient: f64
  ) -> f64 attributes {element_types = [f16, bf16, f32, f64]} {
    %zero = arith.constant 0.0 : f64
    %larger = arith.maximumf %x, %zero : f64
    %magnitude = math.absf %x : f64
    %negative = arith.negf %magnitude : f64
    %exponential = math.exp %negative : f64
    %correction = math.log1p %exponential : f64
    %sum = arith.addf %larger, %correction : f64
    %shifted = arith.addf %x, %zero : f64
    %test = arith.cmpf une, %x, %x : f64
    %softplus = arith.select %test, %shifted, %sum : f64
    %infinity = arith.constant 0x7FF0000000000000 : f64
    %test_1 = arith.cmpf oeq, %x, %infinity : f64
    %left = arith.select %test_1, %zero, %x : f64
    %test_2 = arith.cmpf oeq, %softplus, %infinity : f64
    %right = arith.select %test_2, %zero, %softplus : f64
    %difference = arith.subf %left, %right : f64
    %slope = math.exp %difference : f64
    %result = arith.mulf %gradient, %slope : f64
    xfuse.yield %result : f64
  }

  xfuse.recipe @softplus_backward_saved(
      %x: f64, %gradient: f64, %softplus: f64
  ) -> f64 attributes {element_types = [f16, bf16, f32, f64]} {
    %infinity = arith.constant 0x7FF0000000000000 : f64
    %zero = arith.constant 0.0 : f64
    %test = arith.cmpf oeq, %x, %infinity : f64
    %left = arith.select %test, %zero, %x : f64
    %test_1 = arith.cmpf oeq, %softplus, %infinity : f64
    %right = arith.select %test_1, %zero, %softplus : f64
    %difference = arith.subf %left, %right : f64
    %slope = math.exp %difference : f64
    %result = arith.mulf %gradient, %slope : f64
    xfuse.yield %result : f64
  }
}
