// gated_tanh(x, gate) = tanh(x) sigmoid(gate)
//
// @gated_tanh      textbook and JAX: the output gate of an LSTM cell, WaveNet's gated unit
// @gated_tanh_div  tanh(x) / (1 + exp(-gate))
xfuse.library @gated_tanh {
  xfuse.recipe @gated_tanh(%x: f64, %gate: f64) -> f64 attributes {element_types = [f16, bf16, f32, f64]} {
    %tangent = math.tanh %x : f64
    %one = arith.constant 1.0 : f64
    %negative = arith.negf %gate : f64
    %exponential = math.exp %negative : f64
    %sum = arith.addf %one, %exponential : f64
    %quotient = arith.divf %one, %sum : f64
    %product = arith.mulf %tangent, %quotient : f64
    xfuse.yield %product : f64
  }

  xfuse.recipe @gated_tanh_div(%x: f64, %gate: f64) -> f64 attributes {element_types = [f16, bf16, f32, f64]} {
    %tangent = math.tanh %x : f64
    %one = arith.constant 1.0 : f64
    %negative = arith.negf %gate : f64
    %exponential = math.exp %negative : f64
    %sum = arith.addf %one, %exponential : f64
    %quotient = arith.divf %tangent, %sum : f64
    xfuse.yield %quotient : f64
  }
}
