// ppo_surrogate(new, old, advantage, lower, upper) = min(q advantage, clip(q, lower, upper) advantage)
//
// with q = exp(new - old) of two log-probabilities
//
// @ppo_surrogate  textbook and JAX: the clipped surrogate of proximal policy optimisation
xfuse.library @ppo_surrogate {
  xfuse.recipe @ppo_surrogate(
      %new: f64, %old: f64, %advantage: f64, %lower: f64 {xfuse.scalar}, %upper: f64 {xfuse.scalar}
  ) -> f64 attributes {element_types = [f16, bf16, f32, f64]} {
    %difference = arith.subf %new, %old : f64
    %exponential = math.exp %difference : f64
    %product = arith.mulf %exponential, %advantage : f64
    %larger = arith.maximumf %exponential, %lower : f64
    %smaller = arith.minimumf %larger, %upper : f64
    %product_1 = arith.mulf %smaller, %advantage : f64
    %smaller_1 = arith.minimumf %product, %product_1 : f64
    xfuse.yield %smaller_1 : f64
  }
}
