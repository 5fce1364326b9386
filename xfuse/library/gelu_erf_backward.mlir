// gelu_erf_backward(x, gradient) = gradient (cdf(x) + x pdf(x)) of the normal distribution, the derivative of gelu_erf
//
// @gelu_erf_backward        textbook: x / sqrt(2), exp(-x^2 / 2) / sqrt(2 pi)
// @gelu_erf_backward_torch  PyTorch (`gelu_backward`): x sqrt(1/2), exp((x x) -0.5) times a literal
xfuse.library @gelu_erf_backward {
  xfuse.recipe @gelu_erf_backward(%x: f64, %gradient: f64) -> f64 attributes {element_types = [f16, bf16, f32, f64]} {
    %root_two = arith.constant 1.4142135623730951 : f64
    %root_two_pi = arith.constant 2.5066282746310002 : f64
    %half = arith.constant 0.5 : f64
    %one = arith.constant 1.0 : f64
    %quotient = arith.divf %x, %root_two : f64
    %error = math.erf %quotient : f64
    %sum = arith.addf %one, %error : f64
    %cdf = arith.mulf %half, %sum : f64
    %product = arith.mulf %x, %x : f64
    %product_1 = arith.mulf %half, %product : f64
    %negative = arith.negf %product_1 : f64
    %exponential = math.exp %negative : f64
    %pdf = arith.divf %exponential, %root_two_pi : f64
    %product_2 = arith.mulf %x, %pdf : f64
    %slope = arith.addf %cdf, %product_2 : f64
    %result = arith.mulf %gradient, %slope : f64
    xfuse.yield %result : f64
  }

  xfuse.recipe @gelu_erf_backward_torch(
      %x: f64, %gradient: f64
  ) -> f64 attributes {element_types = [f16, bf16, f32, f64]} {
    %alpha = arith.constant 0.7071067811865476 : f64
    %beta = arith.constant 0.3989422804014327 : f64
    %half = arith.constant 0.5 : f64
    %one = arith.constant 1.0 : f64
    %product = arith.mulf %x, %alpha : f64
    %error = math.erf %product : f64
    %sum = arith.addf %one, %error : f64
    %cdf = arith.mulf %half, %sum : f64
    %negative_half = arith.constant -0.5 : f64
    %product_1 = arith.mulf %x, %x : f64
    %product_2 = arith.mulf %product_1, %negative_half : f64
    %exponential = math.exp %product_2 : f64
    %pdf = arith.mulf %beta, %exponential : f64
    %product_3 = arith.mulf %x, %pdf : f64
    %slope = arith.addf %cdf, %product_3 : f64
    %result = arith.mulf %gradient, %slope : f64
    xfuse.yield %result : f64
  }
}
