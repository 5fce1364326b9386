// powi_backward(x, gradient, exponent) = gradient exponent x^(exponent - 1), the derivative of x^exponent
//
// @powi_backward         an exponent of type i32; it may be a scalar of the program, so it is no scalar slot
// @powi_backward_baked   the same where a constant exponent has made two: factor = exponent, lower = exponent - 1
// @powi_backward_torch   PyTorch through torch-mlir: gradient (x^(exponent - 1) exponent), exponents of type i64, baked
// @powi_backward_square  exponent 2, JAX (`x**2`): gradient (2 x)
// @powi_backward_cube    exponent 3, JAX (`x**3`): gradient (3 (x x))
// @powi_backward_fourth  exponent 4, JAX (`x**4`): gradient (4 ((x x) x))
xfuse.library @powi_backward {
  xfuse.recipe @powi_backward(
      %x: f64, %gradient: f64, %exponent: i32
  ) -> f64 attributes {element_types = [f16, bf16, f32, f64]} {
    %unit = arith.constant 1 : i32
    %lower = arith.subi %exponent, %unit : i32
    %power = math.fpowi %x, %lower : f64, i32
    %factor = arith.sitofp %exponent : i32 to f64
    %slope = arith.mulf %factor, %power : f64
    %result = arith.mulf %gradient, %slope : f64
    xfuse.yield %result : f64
  }

  xfuse.recipe @powi_backward_baked(
      %x: f64, %gradient: f64, %factor: f64 {xfuse.scalar}, %lower: i32 {xfuse.scalar}
  ) -> f64 attributes {element_types = [f16, bf16, f32, f64]} {
    %power = math.fpowi %x, %lower : f64, i32
    %slope = arith.mulf %factor, %power : f64
    %result = arith.mulf %gradient, %slope : f64
    xfuse.yield %result : f64
  }

  xfuse.recipe @powi_backward_torch(
      %x: f64, %gradient: f64, %factor: f64 {xfuse.scalar}, %lower: i64 {xfuse.scalar}
  ) -> f64 attributes {element_types = [f16, bf16, f32, f64]} {
    %power = math.fpowi %x, %lower : f64, i64
    %slope = arith.mulf %power, %factor : f64
    %result = arith.mulf %gradient, %slope : f64
    xfuse.yield %result : f64
  }

  xfuse.recipe @powi_backward_square(
      %x: f64, %gradient: f64
  ) -> f64 attributes {element_types = [f16, bf16, f32, f64]} {
    %two = arith.constant 2.0 : f64
    %slope = arith.mulf %two, %x : f64
    %result = arith.mulf %gradient, %slope : f64
    xfuse.yield %result : f64
  }

  xfuse.recipe @powi_backward_cube(%x: f64, %gradient: f64) -> f64 attributes {element_types = [f16, bf16, f32, f64]} {
    %square = arith.mulf %x, %x : f64
    %three = arith.constant 3.0 : f64
    %slope = arith.mulf %three, %square : f64
    %result = arith.mulf %gradient, %slope : f64
    xfuse.yield %result : f64
  }

  xfuse.recipe @powi_backward_fourth(
      %x: f64, %gradient: f64
  ) -> f64 attributes {element_types = [f16, bf16, f32, f64]} {
    %square = arith.mulf %x, %x : f64
    %cube = arith.mulf %square, %x : f64
    %four = arith.constant 4.0 : f64
    %slope = arith.mulf %four, %cube : f64
    %result = arith.mulf %gradient, %slope : f64
    xfuse.yield %result : f64
  }
}
