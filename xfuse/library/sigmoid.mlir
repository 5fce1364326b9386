// sigmoid(x) = 1 / (1 + exp(-x))
//
// Far below 0 the exponential overflows to infinity and the result is 0, as it should be.
//
// @sigmoid        textbook, JAX (`jax.nn.sigmoid`, the gates of an LSTM cell) and PyTorch
// @sigmoid_sub    the same with 0 - x for -x, as named linalg ops spell it
// @sigmoid_tanh   (1 + tanh(x/2)) / 2, as XLA lowers a logistic; loses relative accuracy far below 0
// @sigmoid_ratio  exp(x) / (1 + exp(x)); a NaN where exp(x) overflows
xfuse.library @sigmoid {
  xfuse.recipe @sigmoid(%x: f64) -> f64 attributes {element_types = [f16, bf16, f32, f64]} {
    %one = arith.constant 1.0 : f64
    %negative = arith.negf %x : f64
    %exponential = math.exp %negative : f64
    %sum = arith.addf %one, %exponential : f64
    %quotient = arith.divf %one, %sum : f64
    xfuse.yield %quotient : f64
  }

  xfuse.recipe @sigmoid_sub(%x: f64) -> f64 attributes {element_types = [f16, bf16, f32, f64]} {
    %one = arith.constant 1.0 : f64
    %zero = arith.constant 0.0 : f64
    %difference = arith.subf %zero, %x : f64
    %exponential = math.exp %difference : f64
    %sum = arith.addf %one, %exponential : f64
    %quotient = arith.divf %one, %sum : f64
    xfuse.yield %quotient : f64
  }

  xfuse.recipe @sigmoid_tanh(%x: f64) -> f64 attributes {element_types = [f16, bf16, f32, f64]} {
    %half = arith.constant 0.5 : f64
    %product = arith.mulf %half, %x : f64
    %tangent = math.tanh %product : f64
    %one = arith.constant 1.0 : f64
    %sum = arith.addf %one, %tangent : f64
    %product_1 = arith.mulf %half, %sum : f64
    xfuse.yield %product_1 : f64
  }

  xfuse.recipe @sigmoid_ratio(%x: f64) -> f64 attributes {element_types = [f16, bf16, f32, f64]} {
    %exponential = math.exp %x : f64
    %one = arith.constant 1.0 : f64
    %sum = arith.addf %one, %exponential : f64
    %quotient = arith.divf %exponential, %sum : f64
    xfuse.yield %quotient : f64
  }
}
