// The minimum where add_relu has the maximum.
func.func @main(%x: tensor<8xf32>, %b: tensor<8xf32>) -> tensor<8xf32> {
  %zero = arith.constant dense<0.0> : tensor<8xf32>
  %sum = arith.addf %x, %b : tensor<8xf32>
  %r = arith.minimumf %sum, %zero : tensor<8xf32>
  func.return %r : tensor<8xf32>
}
