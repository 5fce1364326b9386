// bias_relu6(x, bias) = min(max(x + bias, 0), 6)
//
// @bias_relu6        textbook and JAX
// @bias_relu6_torch  PyTorch, torch.export's decomposition: a clamp by compare and select
xfuse.library @bias_relu6 {
  xfuse.recipe @bias_relu6(%x: f64, %bias: f64) -> f64 attributes {element_types = [f16, bf16, f32, f64]} {
    %sum = arith.addf %x, %bias : f64
    %zero = arith.constant 0.0 : f64
    %larger = arith.maximumf %sum, %zero : f64
    %six = arith.constant 6.0 : f64
    %smaller = arith.minimumf %larger, %six : f64
    xfuse.yield %smaller : f64
  }

  xfuse.recipe @bias_relu6_torch(%x: f64, %bias: f64) -> f64 attributes {element_types = [f16, bf16, f32, f64]} {
    %sum = arith.addf %x, %bias : f64
    %zero = arith.constant 0.0 : f64
    %six = arith.constant 6.0 : f64
    %test = arith.cmpf ogt, %sum, %zero : f64
    %chosen = arith.select %test, %sum, %zero : f64
    %test_1 = arith.cmpf olt, %six, %chosen : f64
    %chosen_1 = arith.select %test_1, %six, %chosen : f64
    xfuse.yield %chosen_1 : f64
  }
}
