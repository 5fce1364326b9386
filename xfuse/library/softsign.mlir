// softsign(x) = x / (1 + |x|)
//
// @softsign  textbook, JAX (`jax.nn.soft_sign`) and PyTorch (`F.softsign`)
xfuse.library @softsign {
  xfuse.recipe @softsign(%x: f64) -> f64 attributes {element_types = [f16, bf16, f32, f64]} {
    %magnitude = math.absf %x : f64
    %one = arith.constant 1.0 : f64
    %sum = arith.addf %one, %magnitude : f64
    %quotient = arith.divf %x, %sum : f64
    xfuse.yield %quotient : f64
  }
}
