// clamp(x, lower, upper) = min(max(x, lower), upper)
//
// Side condition: lower <= upper, and neither is a NaN; otherwise the forms differ.
//
// @clamp                 textbook and JAX (`jnp.clip`); a NaN stays a NaN
// @clamp_upper_first     max(min(x, upper), lower); a NaN stays a NaN
// @clamp_torch           PyTorch, `aten.clamp` through torch-mlir: compare and select; a NaN becomes lower
// @clamp_torch_hardtanh  PyTorch, `aten.hardtanh`; a NaN becomes lower
// @clamp_integer         signed integers
// @clamp_integer_torch   signed integers, compare and select
xfuse.library @clamp {
  xfuse.recipe @clamp(
      %x: f64, %lower: f64 {xfuse.scalar}, %upper: f64 {xfuse.scalar}
  ) -> f64 attributes {element_types = [f16, bf16, f32, f64]} {
    %larger = arith.maximumf %x, %lower : f64
    %smaller = arith.minimumf %larger, %upper : f64
    xfuse.yield %smaller : f64
  }

  xfuse.recipe @clamp_upper_first(
      %x: f64, %lower: f64 {xfuse.scalar}, %upper: f64 {xfuse.scalar}
  ) -> f64 attributes {element_types = [f16, bf16, f32, f64]} {
    %smaller = arith.minimumf %x, %upper : f64
    %larger = arith.maximumf %smaller, %lower : f64
    xfuse.yield %larger : f64
  }

  xfuse.recipe @clamp_torch(
      %x: f64, %lower: f64 {xfuse.scalar}, %upper: f64 {xfuse.scalar}
  ) -> f64 attributes {element_types = [f16, bf16, f32, f64]} {
    %test = arith.cmpf ult, %x, %lower : f64
    %chosen = arith.select %test, %lower, %x : f64
    %test_1 = arith.cmpf ugt, %chosen, %upper : f64
    %chosen_1 = arith.select %test_1, %upper, %chosen : f64
    xfuse.yield %chosen_1 : f64
  }

  xfuse.recipe @clamp_torch_hardtanh(
      %x: f64, %lower: f64 {xfuse.scalar}, %upper: f64 {xfuse.scalar}
  ) -> f64 attributes {element_types = [f16, bf16, f32, f64]} {
    %test = arith.cmpf ogt, %x, %lower : f64
    %chosen = arith.select %test, %x, %lower : f64
    %test_1 = arith.cmpf olt, %upper, %chosen : f64
    %chosen_1 = arith.select %test_1, %upper, %chosen : f64
    xfuse.yield %chosen_1 : f64
  }

  xfuse.recipe @clamp_integer(
      %x: i64, %lower: i64 {xfuse.scalar}, %upper: i64 {xfuse.scalar}
  ) -> i64 attributes {element_types = [i8, i16, i32, i64]} {
    %larger = arith.maxsi %x, %lower : i64
    %smaller = arith.minsi %larger, %upper : i64
    xfuse.yield %smaller : i64
  }

  xfuse.recipe @clamp_integer_torch(
      %x: i64, %lower: i64 {xfuse.scalar}, %upper: i64 {xfuse.scalar}
  ) -> i64 attributes {element_types = [i8, i16, i32, i64]} {
    %test = arith.cmpi slt, %x, %lower : i64
    %chosen = arith.select %test, %lower, %x : i64
    %test_1 = arith.cmpi sge, %chosen, %upper : i64
    %chosen_1 = arith.select %test_1, %upper, %chosen : i64
    xfuse.yield %chosen_1 : i64
  }
}
