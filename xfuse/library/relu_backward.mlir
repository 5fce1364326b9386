// relu_backward(x, gradient) = gradient where x > 0, else 0
//
// @relu_backward          textbook and JAX (`jax.nn.relu`)
// @relu_backward_torch    PyTorch (`threshold_backward`): 0 where x <= 0 or NaN
// @relu_backward_mask     gradient times the mask x > 0 as a number; an infinite gradient gives NaN where the mask is 0
// @relu_backward_maximum  JAX, of `jnp.maximum(x, 0)`: half the gradient where x is 0
xfuse.library @relu_backward {
  xfuse.recipe @relu_backward(%x: f64, %gradient: f64) -> f64 attributes {element_types = [f16, bf16, f32, f64]} {
    %zero = arith.constant 0.0 : f64
    %test = arith.cmpf ogt, %x, %zero : f64
    %result = arith.select %test, %gradient, %zero : f64
    xfuse.yield %result : f64
  }

  xfuse.recipe @relu_backward_torch(%x: f64, %gradient: f64) -> f64 attributes {element_types = [f16, bf16, f32, f64]} {
    %zero = arith.constant 0.0 : f64
    %test = arith.cmpf ule, %x, %zero : f64
    %result = arith.select %test, %zero, %gradient : f64
    xfuse.yield %result : f64
  }

  xfuse.recipe @relu_backward_mask(%x: f64, %gradient: f64) -> f64 attributes {element_types = [f16, bf16, f32, f64]} {
    %zero = arith.constant 0.0 : f64
    %test = arith.cmpf ogt, %x, %zero : f64
    %mask = arith.uitofp %test : i1 to f64
    %result = arith.mulf %gradient, %mask : f64
    xfuse.yield %result : f64
  }

  xfuse.recipe @relu_backward_maximum(
      %x: f64, %gradient: f64
  ) -> f64 attributes {element_types = [f16, bf16, f32, f64]} {
    %zero = arith.constant 0.0 : f64
    %larger = arith.maximumf %x, %zero : f64
    %one = arith.constant 1.0 : f64
    %test = arith.cmpf oeq, %x, %larger : f64
    %share = arith.select %test, %one, %zero : f64
    %two = arith.constant 2.0 : f64
    %test_1 = arith.cmpf oeq, %zero, %larger : f64
    %count = arith.select %test_1, %two, %one : f64
    %slope = arith.divf %share, %count : f64
    %result = arith.mulf %gradient, %slope : f64
    xfuse.yield %result : f64
  }
}
