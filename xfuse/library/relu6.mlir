// relu6(x) = min(max(x, 0), 6)
//
// @relu6                 textbook and JAX (`jax.nn.relu6`, a batch norm's activation); a NaN stays a NaN
// @relu6_torch           PyTorch, `aten.relu6`: relu and then a minimum by compare and select; a NaN becomes 6
// @relu6_torch_hardtanh  PyTorch, `aten.hardtanh(x, 0, 6)`, what torch.export makes of relu6; a NaN becomes 0
// @relu6_torch_clamp     PyTorch, `aten.clamp(x, 0, 6)`; a NaN becomes 0
// @relu6_integer         signed integers
xfuse.library @relu6 {
  xfuse.recipe @relu6(%x: f64) -> f64 attributes {element_types = [f16, bf16, f32, f64]} {
    %zero = arith.constant 0.0 : f64
    %larger = arith.maximumf %x, %zero : f64
    %six = arith.constant 6.0 : f64
    %smaller = arith.minimumf %larger, %six : f64
    xfuse.yield %smaller : f64
  }

  xfuse.recipe @relu6_torch(%x: f64) -> f64 attributes {element_types = [f16, bf16, f32, f64]} {
    %zero = arith.constant 0.0 : f64
    %test = arith.cmpf ugt, %x, %zero : f64
    %chosen = arith.select %test, %x, %zero : f64
    %six = arith.constant 6.0 : f64
    %test_1 = arith.cmpf olt, %chosen, %six : f64
    %chosen_1 = arith.select %test_1, %chosen, %six : f64
    xfuse.yield %chosen_1 : f64
  }

  xfuse.recipe @relu6_torch_hardtanh(%x: f64) -> f64 attributes {element_types = [f16, bf16, f32, f64]} {
    %zero = arith.constant 0.0 : f64
    %six = arith.constant 6.0 : f64
    %test = arith.cmpf ogt, %x, %zero : f64
    %chosen = arith.select %test, %x, %zero : f64
    %test_1 = arith.cmpf olt, %six, %chosen : f64
    %chosen_1 = arith.select %test_1, %six, %chosen : f64
    xfuse.yield %chosen_1 : f64
  }

  xfuse.recipe @relu6_torch_clamp(%x: f64) -> f64 attributes {element_types = [f16, bf16, f32, f64]} {
    %zero = arith.constant 0.0 : f64
    %six = arith.constant 6.0 : f64
    %test = arith.cmpf ult, %x, %zero : f64
    %chosen = arith.select %test, %zero, %x : f64
    %test_1 = arith.cmpf ugt, %chosen, %six : f64
    %chosen_1 = arith.select %test_1, %six, %chosen : f64
    xfuse.yield %chosen_1 : f64
  }

  xfuse.recipe @relu6_integer(%x: i64) -> i64 attributes {element_types = [i8, i16, i32, i64]} {
    %zero = arith.constant 0 : i64
    %larger = arith.maxsi %x, %zero : i64
    %six = arith.constant 6 : i64
    %smaller = arith.minsi %larger, %six : i64
    xfuse.yield %smaller : i64
  }
}
