// fma(x, y, z) = x y + z, each op rounded
//
// @fma  textbook: a product and then a sum, as in scale and shift
//
// `math.fma`, which rounds once, is one op already and another function.
xfuse.library @fma {
  xfuse.recipe @fma(%x: f64, %y: f64, %z: f64) -> f64 attributes {element_types = [f16, bf16, f32, f64]} {
    %product = arith.mulf %x, %y : f64
    %sum = arith.addf %product, %z : f64
    xfuse.yield %sum : f64
  }
}
