// max(x + y, 0), and x + y besides.
func.func @main(%x: tensor<4xf32>, %y: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %zero = arith.constant dense<0.0> : tensor<4xf32>
  %sum = arith.addf %x, %y : tensor<4xf32>
  %r = arith.maximumf %sum, %zero : tensor<4xf32>
  func.return %r, %sum : tensor<4xf32>, tensor<4xf32>
}
