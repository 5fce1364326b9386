// lerp(start, end, weight) = start + weight (end - start)
//
// @lerp         textbook and PyTorch (`torch.lerp`)
// @lerp_convex  (1 - weight) start + weight end
xfuse.library @lerp {
  xfuse.recipe @lerp(%start: f64, %end: f64, %weight: f64) -> f64 attributes {element_types = [f16, bf16, f32, f64]} {
    %difference = arith.subf %end, %start : f64
    %product = arith.mulf %weight, %difference : f64
    %sum = arith.addf %start, %product : f64
    xfuse.yield %sum : f64
  }

  xfuse.recipe @lerp_convex(
      %start: f64, %end: f64, %weight: f64
  ) -> f64 attributes {element_types = [f16, bf16, f32, f64]} {
    %one = arith.constant 1.0 : f64
    %difference = arith.subf %one, %weight : f64
    %product = arith.mulf %difference, %start : f64
    %product_1 = arith.mulf %weight, %end : f64
    %sum = arith.addf %product, %product_1 : f64
    xfuse.yield %sum : f64
  }
}
