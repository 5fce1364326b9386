// silu(x) * y, written out.
func.func @main(%x: tensor<4x8xf32>, %y: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %one = arith.constant dense<1.0> : tensor<4x8xf32>
  %n = arith.negf %x : tensor<4x8xf32>
  %e = math.exp %n : tensor<4x8xf32>
  %d = arith.addf %e, %one : tensor<4x8xf32>
  %s = arith.divf %x, %d : tensor<4x8xf32>
  %r = arith.mulf %s, %y : tensor<4x8xf32>
  func.return %r : tensor<4x8xf32>
}
