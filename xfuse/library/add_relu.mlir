// add_relu(x, y) = max(x + y, 0): a bias or a residual, then relu
//
// @add_relu        textbook and JAX; a NaN stays a NaN
// @add_relu_torch  PyTorch through torch-mlir: compare and select; a NaN stays a NaN
// @add_relu_where  `where(x + y > 0, x + y, 0)`; a NaN becomes 0
xfuse.library @add_relu {
  xfuse.recipe @add_relu(%x: f64, %y: f64) -> f64 attributes {element_types = [f16, bf16, f32, f64]} {
    %sum = arith.addf %x, %y : f64
    %zero = arith.constant 0.0 : f64
    %larger = arith.maximumf %sum, %zero : f64
    xfuse.yield %larger : f64
  }

  xfuse.recipe @add_relu_torch(%x: f64, %y: f64) -> f64 attributes {element_types = [f16, bf16, f32, f64]} {
    %sum = arith.addf %x, %y : f64
    %zero = arith.constant 0.0 : f64
    %test = arith.cmpf ugt, %sum, %zero : f64
    %chosen = arith.select %test, %sum, %zero : f64
    xfuse.yield %chosen : f64
  }

  xfuse.recipe @add_relu_where(%x: f64, %y: f64) -> f64 attributes {element_types = [f16, bf16, f32, f64]} {
    %sum = arith.addf %x, %y : f64
    %zero = arith.constant 0.0 : f64
    %test = arith.cmpf ogt, %sum, %zero : f64
    %chosen = arith.select %test, %sum, %zero : f64
    xfuse.yield %chosen : f64
  }
}
