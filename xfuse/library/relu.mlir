// relu(x) = max(x, 0)
//
// @relu                textbook and JAX (`jax.nn.relu`); a NaN stays a NaN
// @relu_torch          PyTorch through torch-mlir: x > 0 or unordered ? x : 0; a NaN stays a NaN
// @relu_where          `where(x > 0, x, 0)` as people write it; a NaN becomes 0
// @relu_integer        signed integers
// @relu_integer_torch  signed integers, compare and select
xfuse.library @relu {
  xfuse.recipe @relu(%x: f64) -> f64 attributes {element_types = [f16, bf16, f32, f64]} {
    %zero = arith.constant 0.0 : f64
    %larger = arith.maximumf %x, %zero : f64
    xfuse.yield %larger : f64
  }

  xfuse.recipe @relu_torch(%x: f64) -> f64 attributes {element_types = [f16, bf16, f32, f64]} {
    %zero = arith.constant 0.0 : f64
    %test = arith.cmpf ugt, %x, %zero : f64
    %chosen = arith.select %test, %x, %zero : f64
    xfuse.yield %chosen : f64
  }

  xfuse.recipe @relu_where(%x: f64) -> f64 attributes {element_types = [f16, bf16, f32, f64]} {
    %zero = arith.constant 0.0 : f64
    %test = arith.cmpf ogt, %x, %zero : f64
    %chosen = arith.select %test, %x, %zero : f64
    xfuse.yield %chosen : f64
  }

  xfuse.recipe @relu_integer(%x: i64) -> i64 attributes {element_types = [i8, i16, i32, i64]} {
    %zero = arith.constant 0 : i64
    %larger = arith.maxsi %x, %zero : i64
    xfuse.yield %larger : i64
  }

  xfuse.recipe @relu_integer_torch(%x: i64) -> i64 attributes {element_types = [i8, i16, i32, i64]} {
    %zero = arith.constant 0 : i64
    %test = arith.cmpi sgt, %x, %zero : i64
    %chosen = arith.select %test, %x, %zero : i64
    xfuse.yield %chosen : i64
  }
}
