// clip_scale(x, lower, upper, scale) = min(max(x, lower), upper) scale
//
// Side condition: lower <= upper, and neither is a NaN; otherwise the forms differ.
//
// @clip_scale        textbook and JAX (`jnp.clip(x, lower, upper) * scale`); a NaN stays a NaN
// @clip_scale_torch  PyTorch through torch-mlir: compare and select; a NaN becomes lower scale
xfuse.library @clip_scale {
  xfuse.recipe @clip_scale(
      %x: f64, %lower: f64 {xfuse.scalar}, %upper: f64 {xfuse.scalar}, %scale: f64 {xfuse.scalar}
  ) -> f64 attributes {element_types = [f16, bf16, f32, f64]} {
    %larger = arith.maximumf %x, %lower : f64
    %smaller = arith.minimumf %larger, %upper : f64
    %product = arith.mulf %smaller, %scale : f64
    xfuse.yield %product : f64
  }

  xfuse.recipe @clip_scale_torch(
      %x: f64, %lower: f64 {xfuse.scalar}, %upper: f64 {xfuse.scalar}, %scale: f64 {xfuse.scalar}
  ) -> f64 attributes {element_types = [f16, bf16, f32, f64]} {
    %test = arith.cmpf ult, %x, %lower : f64
    %chosen = arith.select %test, %lower, %x : f64
    %test_1 = arith.cmpf ugt, %chosen, %upper : f64
    %chosen_1 = arith.select %test_1, %upper, %chosen : f64
    %product = arith.mulf %chosen_1, %scale : f64
    xfuse.yield %product : f64
  }
}
