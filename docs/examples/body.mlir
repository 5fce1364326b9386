// max(x + y, 0): the sum in one generic's body, together with something else; the maximum in another's.
#id = affine_map<(d0) -> (d0)>
func.func @main(%x: tensor<4xf32>, %y: tensor<4xf32>) -> tensor<4xf32> {
  %zero = arith.constant 0.0 : f32
  %o = tensor.empty() : tensor<4xf32>
  %s = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel"]}
      ins(%x, %y : tensor<4xf32>, tensor<4xf32>) outs(%o : tensor<4xf32>) {
  ^bb0(%a: f32, %b: f32, %unread: f32):
    %e = math.exp %a : f32
    %sum = arith.addf %e, %b : f32
    linalg.yield %sum : f32
  } -> tensor<4xf32>
  %r = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]}
      ins(%s : tensor<4xf32>) outs(%o : tensor<4xf32>) {
  ^bb0(%a: f32, %unread: f32):
    %m = arith.maximumf %a, %zero : f32
    linalg.yield %m : f32
  } -> tensor<4xf32>
  func.return %r : tensor<4xf32>
}
