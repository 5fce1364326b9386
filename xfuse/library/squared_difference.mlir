// squared_difference(x, y) = (x - y)^2
//
// @squared_difference        textbook and JAX (`(x - y) ** 2`): the difference times itself
// @squared_difference_torch  PyTorch (`(x - y).pow(2)`): fpowi
xfuse.library @squared_difference {
  xfuse.recipe @squared_difference(%x: f64, %y: f64) -> f64 attributes {element_types = [f16, bf16, f32, f64]} {
    %difference = arith.subf %x, %y : f64
    %product = arith.mulf %difference, %difference : f64
    xfuse.yield %product : f64
  }

  xfuse.recipe @squared_difference_torch(%x: f64, %y: f64) -> f64 attributes {element_types = [f16, bf16, f32, f64]} {
    %difference = arith.subf %x, %y : f64
    %exponent = arith.constant 2 : i64
    %power = math.fpowi %difference, %exponent : f64, i64
    xfuse.yield %power : f64
  }
}
