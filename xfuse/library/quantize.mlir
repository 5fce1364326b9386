// quantize(x, scale, zero_point, lower, upper) = min(max(round(x / scale) + zero_point, lower), upper)
//
// Rounds halves to even. Side condition: x / scale is within the integers of the result.
//
// @quantize     textbook and JAX, held in i32: converts to i32 and then adds and clamps
// @quantize_i8  clamps at the element type and then converts to i8
xfuse.library @quantize {
  xfuse.recipe @quantize(
      %x: f64, %scale: f64, %zero_point: i32, %lower: i32 {xfuse.scalar}, %upper: i32 {xfuse.scalar}
  ) -> i32 attributes {element_types = [f16, bf16, f32, f64]} {
    %quotient = arith.divf %x, %scale : f64
    %rounded = math.roundeven %quotient : f64
    %integer = arith.fptosi %rounded : f64 to i32
    %sum = arith.addi %integer, %zero_point : i32
    %larger = arith.maxsi %sum, %lower : i32
    %smaller = arith.minsi %larger, %upper : i32
    xfuse.yield %smaller : i32
  }

  xfuse.recipe @quantize_i8(
      %x: f64, %scale: f64, %zero_point: f64, %lower: f64 {xfuse.scalar}, %upper: f64 {xfuse.scalar}
  ) -> i8 attributes {element_types = [f16, bf16, f32, f64]} {
    %quotient = arith.divf %x, %scale : f64
    %rounded = math.roundeven %quotient : f64
    %sum = arith.addf %rounded, %zero_point : f64
    %larger = arith.maximumf %sum, %lower : f64
    %smaller = arith.minimumf %larger, %upper : f64
    %integer = arith.fptosi %smaller : f64 to i8
    xfuse.yield %integer : i8
  }
}
