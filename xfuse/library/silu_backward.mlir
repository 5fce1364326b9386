// silu_backward(x, gradient) = gradient s (1 + x (1 - s)), of s = sigmoid(x)
//
// @silu_backward        textbook: gradient (s (1 + x (1 - s)))
// @silu_backward_torch  PyTorch: (gradient s) (1 + x (1 - s))
// @silu_backward_jax    JAX (`jax.nn.silu`): gradient s + (gradient x) ((1 - s) s)
xfuse.library @silu_backward {
  xfuse.recipe @silu_backward(%x: f64, %gradient: f64) -> f64 attributes {element_types = [f16, bf16, f32, f64]} {
    %one = arith.constant 1.0 : f64
    %negative = arith.negf %x : f64
    %exponential = math.exp %negative : f64
    %sum = arith.addf %one, %exponential : f64
    %s = arith.divf %one, %sum : f64
    %difference = arith.subf %one, %s : f64
    %product = arith.mulf %x, %difference : f64
    %bend = arith.addf %one, %product : f64
    %slope = arith.mulf %s, %bend : f64
    %result = arith.mulf %gradient, %slope : f64
    xfuse.yield %result : f64
  }

  xfuse.recipe @silu_backward_torch(%x: f64, %gradient: f64) -> f64 attributes {element_types = [f16, bf16, f32, f64]} {
    %one = arith.constant 1.0 : f64
    %negative = arith.negf %x : f64
    %exponential = math.exp %negative : f64
    %sum = arith.addf %one, %exponential : f64
    %s = arith.divf %one, %sum : f64
    %product = arith.mulf %gradient, %s : f64
    %difference = arith.subf %one, %s : f64
    %product_1 = arith.mulf %x, %difference : f64
    %bend = arith.addf %one, %product_1 : f64
    %result = arith.mulf %product, %bend : f64
    xfuse.yield %result : f64
  }

  xfuse.recipe @silu_backward_jax(%x: f64, %gradient: f64) -> f64 attributes {element_types = [f16, bf16, f32, f64]} {
    %one = arith.constant 1.0 : f64
    %negative = arith.negf %x : f64
    %exponential = math.exp %negative : f64
    %sum = arith.addf %one, %exponential : f64
    %s = arith.divf %one, %sum : f64
    %left = arith.mulf %gradient, %s : f64
    %difference = arith.subf %one, %s : f64
    %slope = arith.mulf %s, %difference : f64
    %product = arith.mulf %gradient, %x : f64
    %right = arith.mulf %product, %slope : f64
    %result = arith.addf %left, %right : f64
    xfuse.yield %result : f64
  }
}
