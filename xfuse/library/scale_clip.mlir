// scale_clip(x, scale, lower, upper) = min(max(x scale, lower), upper)
//
// Side condition: lower <= upper, and neither is a NaN; otherwise the forms differ.
//
// @scale_clip        textbook and JAX (`jnp.clip(x * scale, lower, upper)`); a NaN stays a NaN
// @scale_clip_torch  PyTorch through torch-mlir: compare and select; a NaN becomes lower
xfuse.library @scale_clip {
  xfuse.recipe @scale_clip(
      %x: f64, %scale: f64 {xfuse.scalar}, %lower: f64 {xfuse.scalar}, %upper: f64 {xfuse.scalar}
  ) -> f64 attributes {element_types = [f16, bf16, f32, f64]} {
    %product = arith.mulf %x, %scale : f64
    %larger = arith.maximumf %product, %lower : f64
    %smaller = arith.minimumf %larger, %upper : f64
    xfuse.yield %smaller : f64
  }

  xfuse.recipe @scale_clip_torch(
      %x: f64, %scale: f64 {xfuse.scalar}, %lower: f64 {xfuse.scalar}, %upper: f64 {xfuse.scalar}
  ) -> f64 attributes {element_types = [f16, bf16, f32, f64]} {
    %product = arith.mulf %x, %scale : f64
    %test = arith.cmpf ult, %product, %lower : f64
    %chosen = arith.select %test, %lower, %product : f64
    %test_1 = arith.cmpf ugt, %chosen, %upper : f64
    %chosen_1 = arith.select %test_1, %upper, %chosen : f64
    xfuse.yield %chosen_1 : f64
  }
}
