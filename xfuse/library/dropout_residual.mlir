// dropout_residual(residual, x, keep, rate) = residual + (keep ? x / rate : 0), rate being the share that is kept
//
// @dropout_residual       textbook and JAX, with the mask as an argument
// @dropout_residual_bias  JAX: x + bias for x, behind a matmul
xfuse.library @dropout_residual {
  xfuse.recipe @dropout_residual(
      %residual: f64, %x: f64, %keep: i1, %rate: f64 {xfuse.scalar}
  ) -> f64 attributes {element_types = [f16, bf16, f32, f64]} {
    %quotient = arith.divf %x, %rate : f64
    %zero = arith.constant 0.0 : f64
    %chosen = arith.select %keep, %quotient, %zero : f64
    %sum = arith.addf %residual, %chosen : f64
    xfuse.yield %sum : f64
  }

  xfuse.recipe @dropout_residual_bias(
      %residual: f64, %x: f64, %bias: f64, %keep: i1, %rate: f64 {xfuse.scalar}
  ) -> f64 attributes {element_types = [f16, bf16, f32, f64]} {
    %sum = arith.addf %x, %bias : f64
    %quotient = arith.divf %sum, %rate : f64
    %zero = arith.constant 0.0 : f64
    %chosen = arith.select %keep, %quotient, %zero : f64
    %sum_1 = arith.addf %residual, %chosen : f64
    xfuse.yield %sum_1 : f64
  }
}
