func.func @main() -> tensor<2xf32> {
  %c = arith.constant dense<0xFF800000> : tensor<2xf32>
  func.return %c : tensor<2xf32>
}
