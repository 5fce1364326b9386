// hard_swish(x) = x min(max(x + 3, 0), 6) / 6
//
// @hard_swish              textbook and JAX (`jax.nn.hard_swish`): x (relu6(x + 3) / 6)
// @hard_swish_product      (x relu6(x + 3)) / 6
// @hard_swish_torch        PyTorch, torch.export's decomposition: (x clamp(x + 3, 0, 6)) / 6 by compare and select
// @hard_swish_torch_relu6  PyTorch through torch-mlir: x (relu6(x + 3) / 6) by compare and select
xfuse.library @hard_swish {
  xfuse.recipe @hard_swish(%x: f64) -> f64 attributes {element_types = [f16, bf16, f32, f64]} {
    %three = arith.constant 3.0 : f64
    %sum = arith.addf %x, %three : f64
    %zero = arith.constant 0.0 : f64
    %larger = arith.maximumf %sum, %zero : f64
    %six = arith.constant 6.0 : f64
    %smaller = arith.minimumf %larger, %six : f64
    %quotient = arith.divf %smaller, %six : f64
    %product = arith.mulf %x, %quotient : f64
    xfuse.yield %product : f64
  }

  xfuse.recipe @hard_swish_product(%x: f64) -> f64 attributes {element_types = [f16, bf16, f32, f64]} {
    %three = arith.constant 3.0 : f64
    %sum = arith.addf %x, %three : f64
    %zero = arith.constant 0.0 : f64
    %larger = arith.maximumf %sum, %zero : f64
    %six = arith.constant 6.0 : f64
    %smaller = arith.minimumf %larger, %six : f64
    %product = arith.mulf %x, %smaller : f64
    %quotient = arith.divf %product, %six : f64
    xfuse.yield %quotient : f64
  }

  xfuse.recipe @hard_swish_torch(%x: f64) -> f64 attributes {element_types = [f16, bf16, f32, f64]} {
    %three = arith.constant 3.0 : f64
    %sum = arith.addf %x, %three : f64
    %zero = arith.constant 0.0 : f64
    %six = arith.constant 6.0 : f64
    %test = arith.cmpf ult, %sum, %zero : f64
    %chosen = arith.select %test, %zero, %sum : f64
    %test_1 = arith.cmpf ugt, %chosen, %six : f64
    %chosen_1 = arith.select %test_1, %six, %chosen : f64
    %product = arith.mulf %x, %chosen_1 : f64
    %quotient = arith.divf %product, %six : f64
    xfuse.yield %quotient : f64
  }

  xfuse.recipe @hard_swish_torch_relu6(%x: f64) -> f64 attributes {element_types = [f16, bf16, f32, f64]} {
    %three = arith.constant 3.0 : f64
    %sum = arith.addf %x, %three : f64
    %zero = arith.constant 0.0 : f64
    %test = arith.cmpf ugt, %sum, %zero : f64
    %chosen = arith.select %test, %sum, %zero : f64
    %six = arith.constant 6.0 : f64
    %test_1 = arith.cmpf olt, %chosen, %six : f64
    %chosen_1 = arith.select %test_1, %chosen, %six : f64
    %quotient = arith.divf %chosen_1, %six : f64
    %product = arith.mulf %x, %quotient : f64
    xfuse.yield %product : f64
  }
}
