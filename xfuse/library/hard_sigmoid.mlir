// hard_sigmoid(x) = min(max(x + 3, 0), 6) / 6
//
// @hard_sigmoid             textbook and JAX (`jax.nn.hard_sigmoid`)
// @hard_sigmoid_torch       PyTorch, torch.export's decomposition: the clamp by compare and select; a NaN becomes 0
// @hard_sigmoid_unit        max(0, min(1, (x + 3) / 6))
// @hard_sigmoid_torch_unit  PyTorch through torch-mlir: the same by compare and select
xfuse.library @hard_sigmoid {
  xfuse.recipe @hard_sigmoid(%x: f64) -> f64 attributes {element_types = [f16, bf16, f32, f64]} {
    %three = arith.constant 3.0 : f64
    %sum = arith.addf %x, %three : f64
    %zero = arith.constant 0.0 : f64
    %larger = arith.maximumf %sum, %zero : f64
    %six = arith.constant 6.0 : f64
    %smaller = arith.minimumf %larger, %six : f64
    %quotient = arith.divf %smaller, %six : f64
    xfuse.yield %quotient : f64
  }

  xfuse.recipe @hard_sigmoid_torch(%x: f64) -> f64 attributes {element_types = [f16, bf16, f32, f64]} {
    %three = arith.constant 3.0 : f64
    %sum = arith.addf %x, %three : f64
    %zero = arith.constant 0.0 : f64
    %six = arith.constant 6.0 : f64
    %test = arith.cmpf ult, %sum, %zero : f64
    %chosen = arith.select %test, %zero, %sum : f64
    %test_1 = arith.cmpf ugt, %chosen, %six : f64
    %chosen_1 = arith.select %test_1, %six, %chosen : f64
    %quotient = arith.divf %chosen_1, %six : f64
    xfuse.yield %quotient : f64
  }

  xfuse.recipe @hard_sigmoid_unit(%x: f64) -> f64 attributes {element_types = [f16, bf16, f32, f64]} {
    %three = arith.constant 3.0 : f64
    %sum = arith.addf %x, %three : f64
    %six = arith.constant 6.0 : f64
    %quotient = arith.divf %sum, %six : f64
    %one = arith.constant 1.0 : f64
    %smaller = arith.minimumf %quotient, %one : f64
    %zero = arith.constant 0.0 : f64
    %larger = arith.maximumf %smaller, %zero : f64
    xfuse.yield %larger : f64
  }

  xfuse.recipe @hard_sigmoid_torch_unit(%x: f64) -> f64 attributes {element_types = [f16, bf16, f32, f64]} {
    %three = arith.constant 3.0 : f64
    %sum = arith.addf %x, %three : f64
    %six = arith.constant 6.0 : f64
    %quotient = arith.divf %sum, %six : f64
    %zero = arith.constant 0.0 : f64
    %one = arith.constant 1.0 : f64
    %test = arith.cmpf olt, %one, %quotient : f64
    %chosen = arith.select %test, %one, %quotient : f64
    %test_1 = arith.cmpf ogt, %zero, %chosen : f64
    %chosen_1 = arith.select %test_1, %zero, %chosen : f64
    xfuse.yield %chosen_1 : f64
  }
}
