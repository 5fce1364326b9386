// leaky_relu(x, slope) = x >= 0 ? x : slope x
//
// @leaky_relu          textbook and JAX (`jax.nn.leaky_relu`)
// @leaky_relu_greater  with x > 0
// @leaky_relu_max      max(x, slope x), right for slope <= 1
// @leaky_relu_torch    PyTorch, `aten.leaky_relu` through torch-mlir: max(0, x) + slope min(0, x)
// @leaky_relu_prelu    PyTorch, `aten.prelu`; its weight is a tensor, so slope is no scalar slot here
// @leaky_relu_default, @leaky_relu_torch_default  with the usual slope of 0.01
xfuse.library @leaky_relu {
  xfuse.recipe @leaky_relu(
      %x: f64, %slope: f64 {xfuse.scalar}
  ) -> f64 attributes {element_types = [f16, bf16, f32, f64]} {
    %product = arith.mulf %slope, %x : f64
    %zero = arith.constant 0.0 : f64
    %test = arith.cmpf oge, %x, %zero : f64
    %chosen = arith.select %test, %x, %product : f64
    xfuse.yield %chosen : f64
  }

  xfuse.recipe @leaky_relu_greater(
      %x: f64, %slope: f64 {xfuse.scalar}
  ) -> f64 attributes {element_types = [f16, bf16, f32, f64]} {
    %product = arith.mulf %slope, %x : f64
    %zero = arith.constant 0.0 : f64
    %test = arith.cmpf ogt, %x, %zero : f64
    %chosen = arith.select %test, %x, %product : f64
    xfuse.yield %chosen : f64
  }

  xfuse.recipe @leaky_relu_max(
      %x: f64, %slope: f64 {xfuse.scalar}
  ) -> f64 attributes {element_types = [f16, bf16, f32, f64]} {
    %product = arith.mulf %slope, %x : f64
    %larger = arith.maximumf %x, %product : f64
    xfuse.yield %larger : f64
  }

  xfuse.recipe @leaky_relu_torch(
      %x: f64, %slope: f64 {xfuse.scalar}
  ) -> f64 attributes {element_types = [f16, bf16, f32, f64]} {
    %zero = arith.constant 0.0 : f64
    %test = arith.cmpf ogt, %zero, %x : f64
    %chosen = arith.select %test, %zero, %x : f64
    %test_1 = arith.cmpf olt, %zero, %x : f64
    %chosen_1 = arith.select %test_1, %zero, %x : f64
    %product = arith.mulf %chosen_1, %slope : f64
    %sum = arith.addf %chosen, %product : f64
    xfuse.yield %sum : f64
  }

  xfuse.recipe @leaky_relu_prelu(%x: f64, %slope: f64) -> f64 attributes {element_types = [f16, bf16, f32, f64]} {
    %zero = arith.constant 0.0 : f64
    %test = arith.cmpf ugt, %x, %zero : f64
    %chosen = arith.select %test, %x, %zero : f64
    %chosen_1 = arith.select %test, %zero, %x : f64
    %product = arith.mulf %chosen_1, %slope : f64
    %sum = arith.addf %chosen, %product : f64
    xfuse.yield %sum : f64
  }

  xfuse.recipe @leaky_relu_default(%x: f64) -> f64 attributes {element_types = [f16, bf16, f32, f64]} {
    %slope = arith.constant 0.01 : f64
    %product = arith.mulf %slope, %x : f64
    %zero = arith.constant 0.0 : f64
    %test = arith.cmpf oge, %x, %zero : f64
    %chosen = arith.select %test, %x, %product : f64
    xfuse.yield %chosen : f64
  }

  xfuse.recipe @leaky_relu_torch_default(%x: f64) -> f64 attributes {element_types = [f16, bf16, f32, f64]} {
    %slope = arith.constant 0.01 : f64
    %zero = arith.constant 0.0 : f64
    %test = arith.cmpf ogt, %zero, %x : f64
    %chosen = arith.select %test, %zero, %x : f64
    %test_1 = arith.cmpf olt, %zero, %x : f64
    %chosen_1 = arith.select %test_1, %zero, %x : f64
    %product = arith.mulf %chosen_1, %slope : f64
    %sum = arith.addf %chosen, %product : f64
    xfuse.yield %sum : f64
  }
}
