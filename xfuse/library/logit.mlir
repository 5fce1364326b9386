// logit(p) = log(p / (1 - p))
//
// Minus infinity at 0, infinity at 1, a NaN outside.
//
// @logit        textbook, JAX (`jax.scipy.special.logit`) and PyTorch (`torch.logit`)
// @logit_log1p  log(p) - log1p(-p), accurate also where p is far below 1
xfuse.library @logit {
  xfuse.recipe @logit(%p: f64) -> f64 attributes {element_types = [f16, bf16, f32, f64]} {
    %one = arith.constant 1.0 : f64
    %difference = arith.subf %one, %p : f64
    %quotient = arith.divf %p, %difference : f64
    %logarithm = math.log %quotient : f64
    xfuse.yield %logarithm : f64
  }

  xfuse.recipe @logit_log1p(%p: f64) -> f64 attributes {element_types = [f16, bf16, f32, f64]} {
    %logarithm = math.log %p : f64
    %negative = arith.negf %p : f64
    %logarithm_1 = math.log1p %negative : f64
    %difference = arith.subf %logarithm, %logarithm_1 : f64
    xfuse.yield %difference : f64
  }
}
