// glu(x, gate) = x sigmoid(gate)
//
// @glu      textbook, JAX (`jax.nn.glu`) and PyTorch (`F.glu`), after the split in two halves
// @glu_div  x / (1 + exp(-gate))
xfuse.library @glu {
  xfuse.recipe @glu(%x: f64, %gate: f64) -> f64 attributes {element_types = [f16, bf16, f32, f64]} {
    %one = arith.constant 1.0 : f64
    %negative = arith.negf %gate : f64
    %exponential = math.exp %negative : f64
    %sum = arith.addf %one, %exponential : f64
    %quotient = arith.divf %one, %sum : f64
    %product = arith.mulf %x, %quotient : f64
    xfuse.yield %product : f64
  }

  xfuse.recipe @glu_div(%x: f64, %gate: f64) -> f64 attributes {element_types = [f16, bf16, f32, f64]} {
    %one = arith.constant 1.0 : f64
    %negative = arith.negf %gate : f64
    %exponential = math.exp %negative : f64
    %sum = arith.addf %one, %exponential : f64
    %quotient = arith.divf %x, %sum : f64
    xfuse.yield %quotient : f64
  }
}
