// tanh_sub(x, y) = tanh(x - y)
//
// @tanh_sub  textbook, JAX and PyTorch
xfuse.library @tanh_sub {
  xfuse.recipe @tanh_sub(%x: f64, %y: f64) -> f64 attributes {element_types = [f16, bf16, f32, f64]} {
    %difference = arith.subf %x, %y : f64
    %tangent = math.tanh %difference : f64
    xfuse.yield %tangent : f64
  }
}
