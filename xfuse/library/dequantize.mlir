// dequantize(x, zero_point, scale) = (x - zero_point) scale
//
// @dequantize     textbook and JAX, from i32: subtracts and then converts
// @dequantize_i8  from i8: converts and then subtracts at the element type
xfuse.library @dequantize {
  xfuse.recipe @dequantize(
      %x: i32, %zero_point: i32, %scale: f64
  ) -> f64 attributes {element_types = [f16, bf16, f32, f64]} {
    %difference = arith.subi %x, %zero_point : i32
    %float = arith.sitofp %difference : i32 to f64
    %product = arith.mulf %float, %scale : f64
    xfuse.yield %product : f64
  }

  xfuse.recipe @dequantize_i8(
      %x: i8, %zero_point: f64, %scale: f64
  ) -> f64 attributes {element_types = [f16, bf16, f32, f64]} {
    %float = arith.sitofp %x : i8 to f64
    %difference = arith.subf %float, %zero_point : f64
    %product = arith.mulf %difference, %scale : f64
    xfuse.yield %product : f64
  }
}
