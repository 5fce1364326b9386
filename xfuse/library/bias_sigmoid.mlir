// bias_sigmoid(x, bias) = sigmoid(x + bias)
//
// @bias_sigmoid       textbook, JAX and PyTorch
// @bias_sigmoid_tanh  (1 + tanh(y/2)) / 2 of y = x + bias
xfuse.library @bias_sigmoid {
  xfuse.recipe @bias_sigmoid(%x: f64, %bias: f64) -> f64 attributes {element_types = [f16, bf16, f32, f64]} {
    %sum = arith.addf %x, %bias : f64
    %one = arith.constant 1.0 : f64
    %negative = arith.negf %sum : f64
    %exponential = math.exp %negative : f64
    %sum_1 = arith.addf %one, %exponential : f64
    %quotient = arith.divf %one, %sum_1 : f64
    xfuse.yield %quotient : f64
  }

  xfuse.recipe @bias_sigmoid_tanh(%x: f64, %bias: f64) -> f64 attributes {element_types = [f16, bf16, f32, f64]} {
    %sum = arith.addf %x, %bias : f64
    %half = arith.constant 0.5 : f64
    %product = arith.mulf %half, %sum : f64
    %tangent = math.tanh %product : f64
    %one = arith.constant 1.0 : f64
    %sum_1 = arith.addf %one, %tangent : f64
    %product_1 = arith.mulf %half, %sum_1 : f64
    xfuse.yield %product_1 : f64
  }
}
