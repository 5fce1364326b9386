// swiglu(gate, up) = silu(gate) up
//
// @swiglu          textbook, JAX (`silu(gate) * up`) and PyTorch (LLaMA's feed-forward block)
// @swiglu_div      gate / (1 + exp(-gate)) * up
// @swiglu_div_sub  the same with 0 - gate for -gate, as named linalg ops spell it
// @swiglu_tanh     silu through tanh
xfuse.library @swiglu {
  xfuse.recipe @swiglu(%gate: f64, %up: f64) -> f64 attributes {element_types = [f16, bf16, f32, f64]} {
    %one = arith.constant 1.0 : f64
    %negative = arith.negf %gate : f64
    %exponential = math.exp %negative : f64
    %sum = arith.addf %one, %exponential : f64
    %quotient = arith.divf %one, %sum : f64
    %product = arith.mulf %gate, %quotient : f64
    %product_1 = arith.mulf %product, %up : f64
    xfuse.yield %product_1 : f64
  }

  xfuse.recipe @swiglu_div(%gate: f64, %up: f64) -> f64 attributes {element_types = [f16, bf16, f32, f64]} {
    %one = arith.constant 1.0 : f64
    %negative = arith.negf %gate : f64
    %exponential = math.exp %negative : f64
    %sum = arith.addf %one, %exponential : f64
    %quotient = arith.divf %gate, %sum : f64
    %product = arith.mulf %quotient, %up : f64
    xfuse.yield %product : f64
  }

  xfuse.recipe @swiglu_div_sub(%gate: f64, %up: f64) -> f64 attributes {element_types = [f16, bf16, f32, f64]} {
    %one = arith.constant 1.0 : f64
    %zero = arith.constant 0.0 : f64
    %difference = arith.subf %zero, %gate : f64
    %exponential = math.exp %difference : f64
    %sum = arith.addf %one, %exponential : f64
    %quotient = arith.divf %gate, %sum : f64
    %product = arith.mulf %quotient, %up : f64
    xfuse.yield %product : f64
  }

  xfuse.recipe @swiglu_tanh(%gate: f64, %up: f64) -> f64 attributes {element_types = [f16, bf16, f32, f64]} {
    %half = arith.constant 0.5 : f64
    %product = arith.mulf %half, %gate : f64
    %tangent = math.tanh %product : f64
    %one = arith.constant 1.0 : f64
    %sum = arith.addf %one, %tangent : f64
    %product_1 = arith.mulf %half, %sum : f64
    %product_2 = arith.mulf %gate, %product_1 : f64
    %product_3 = arith.mulf %product_2, %up : f64
    xfuse.yield %product_3 : f64
  }
}
