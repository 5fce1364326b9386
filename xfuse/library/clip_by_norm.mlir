// clip_by_norm(x, limit, sum_of_squares, epsilon) = x min(limit / (sqrt(sum_of_squares) + epsilon), 1)
//
// @clip_by_norm  textbook and JAX: gradient clipping by the global norm, behind the sum of squares
xfuse.library @clip_by_norm {
  xfuse.recipe @clip_by_norm(
      %x: f64, %limit: f64, %sum_of_squares: f64, %epsilon: f64 {xfuse.scalar}
  ) -> f64 attributes {element_types = [f16, bf16, f32, f64]} {
    %root = math.sqrt %sum_of_squares : f64
    %sum = arith.addf %root, %epsilon : f64
    %quotient = arith.divf %limit, %sum : f64
    %one = arith.constant 1.0 : f64
    %smaller = arith.minimumf %quotient, %one : f64
    %product = arith.mulf %x, %smaller : f64
    xfuse.yield %product : f64
  }
}
