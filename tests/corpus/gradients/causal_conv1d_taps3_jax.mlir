#map = affine_map<(d0) -> ()>
#map1 = affine_map<(d0) -> (d0)>
module @jit__lambda {
  func.func public @main(%arg0: tensor<8xf32>, %arg1: tensor<3xf32>, %arg2: tensor<f32>) -> tensor<6xf32> {
    %cst = arith.constant 0.000000e+00 : f32
    %extracted_slice = tensor.extract_slice %arg1[0] [1] [1] : tensor<3xf32> to tensor<1xf32>
    %collapsed = tensor.collapse_shape %extracted_slice [] : tensor<1xf32> into tensor<f32>
    %extracted_slice_0 = tensor.extract_slice %arg0[0] [6] [1] : tensor<8xf32> to tensor<6xf32>
    %0 = tensor.empty() : tensor<6xf32>
    %1 = linalg.generic {indexing_maps = [#map, #map1], iterator_types = ["parallel"]} ins(%collapsed : tensor<f32>) outs(%0 : tensor<6xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<6xf32>
    %2 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel"]} ins(%1, %extracted_slice_0 : tensor<6xf32>, tensor<6xf32>) outs(%0 : tensor<6xf32>) {
    ^bb0(%in: f32, %in_7: f32, %out: f32):
      %12 = arith.mulf %in, %in_7 : f32
      linalg.yield %12 : f32
    } -> tensor<6xf32>
    %3 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel"]} ins(%2 : tensor<6xf32>) outs(%0 : tensor<6xf32>) {
    ^bb0(%in: f32, %out: f32):
      %12 = arith.addf %in, %cst : f32
      linalg.yield %12 : f32
    } -> tensor<6xf32>
    %extracted_slice_1 = tensor.extract_slice %arg1[1] [1] [1] : tensor<3xf32> to tensor<1xf32>
    %collapsed_2 = tensor.collapse_shape %extracted_slice_1 [] : tensor<1xf32> into tensor<f32>
    %extracted_slice_3 = tensor.extract_slice %arg0[1] [6] [1] : tensor<8xf32> to tensor<6xf32>
    %4 = linalg.generic {indexing_maps = [#map, #map1], iterator_types = ["parallel"]} ins(%collapsed_2 : tensor<f32>) outs(%0 : tensor<6xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<6xf32>
    %5 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel"]} ins(%4, %extracted_slice_3 : tensor<6xf32>, tensor<6xf32>) outs(%0 : tensor<6xf32>) {
    ^bb0(%in: f32, %in_7: f32, %out: f32):
      %12 = arith.mulf %in, %in_7 : f32
      linalg.yield %12 : f32
    } -> tensor<6xf32>
    %6 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel"]} ins(%3, %5 : tensor<6xf32>, tensor<6xf32>) outs(%0 : tensor<6xf32>) {
    ^bb0(%in: f32, %in_7: f32, %out: f32):
      %12 = arith.addf %in, %in_7 : f32
      linalg.yield %12 : f32
    } -> tensor<6xf32>
    %extracted_slice_4 = tensor.extract_slice %arg1[2] [1] [1] : tensor<3xf32> to tensor<1xf32>
    %collapsed_5 = tensor.collapse_shape %extracted_slice_4 [] : tensor<1xf32> into tensor<f32>
    %extracted_slice_6 = tensor.extract_slice %arg0[2] [6] [1] : tensor<8xf32> to tensor<6xf32>
    %7 = linalg.generic {indexing_maps = [#map, #map1], iterator_types = ["parallel"]} ins(%collapsed_5 : tensor<f32>) outs(%0 : tensor<6xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<6xf32>
    %8 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel"]} ins(%7, %extracted_slice_6 : tensor<6xf32>, tensor<6xf32>) outs(%0 : tensor<6xf32>) {
    ^bb0(%in: f32, %in_7: f32, %out: f32):
      %12 = arith.mulf %in, %in_7 : f32
      linalg.yield %12 : f32
    } -> tensor<6xf32>
    %9 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel"]} ins(%6, %8 : tensor<6xf32>, tensor<6xf32>) outs(%0 : tensor<6xf32>) {
    ^bb0(%in: f32, %in_7: f32, %out: f32):
      %12 = arith.addf %in, %in_7 : f32
      linalg.yield %12 : f32
    } -> tensor<6xf32>
    %10 = linalg.generic {indexing_maps = [#map, #map1], iterator_types = ["parallel"]} ins(%arg2 : tensor<f32>) outs(%0 : tensor<6xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<6xf32>
    %11 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel"]} ins(%9, %10 : tensor<6xf32>, tensor<6xf32>) outs(%0 : tensor<6xf32>) {
    ^bb0(%in: f32, %in_7: f32, %out: f32):
      %12 = arith.addf %in, %in_7 : f32
      linalg.yield %12 : f32
    } -> tensor<6xf32>
    return %11 : tensor<6xf32>
  }
}

