// quick_gelu(x) = x sigmoid(1.702 x), the approximation of GELU that CLIP uses
//
// @quick_gelu      textbook and PyTorch: x * (1 / (1 + exp(-(1.702 x))))
// @quick_gelu_div  x / (1 + exp(-(1.702 x)))
xfuse.library @quick_gelu {
  xfuse.recipe @quick_gelu(%x: f64) -> f64 attributes {element_types = [f16, bf16, f32, f64]} {
    %slope = arith.constant 1.702 : f64
    %product = arith.mulf %slope, %x : f64
    %one = arith.constant 1.0 : f64
    %negative = arith.negf %product : f64
    %exponential = math.exp %negative : f64
    %sum = arith.addf %one, %exponential : f64
    %quotient = arith.divf %one, %sum : f64
    %product_1 = arith.mulf %x, %quotient : f64
    xfuse.yield %product_1 : f64
  }

  xfuse.recipe @quick_gelu_div(%x: f64) -> f64 attributes {element_types = [f16, bf16, f32, f64]} {
    %slope = arith.constant 1.702 : f64
    %product = arith.mulf %slope, %x : f64
    %one = arith.constant 1.0 : f64
    %negative = arith.negf %product : f64
    %exponential = math.exp %negative : f64
    %sum = arith.addf %one, %exponential : f64
    %quotient = arith.divf %x, %sum : f64
    xfuse.yield %quotient : f64
  }
}
