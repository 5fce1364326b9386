#map = affine_map<(d0) -> ()>
#map1 = affine_map<(d0) -> (d0)>
module @jit_convolve {
  func.func public @main(%arg0: tensor<8xf32>, %arg1: tensor<4xf32>, %arg2: tensor<f32>) -> tensor<5xf32> {
    %cst = arith.constant 0.000000e+00 : f32
    %extracted_slice = tensor.extract_slice %arg1[0] [1] [1] : tensor<4xf32> to tensor<1xf32>
    %collapsed = tensor.collapse_shape %extracted_slice [] : tensor<1xf32> into tensor<f32>
    %extracted_slice_0 = tensor.extract_slice %arg0[0] [5] [1] : tensor<8xf32> to tensor<5xf32>
    %0 = tensor.empty() : tensor<5xf32>
    %1 = linalg.generic {indexing_maps = [#map, #map1], iterator_types = ["parallel"]} ins(%collapsed : tensor<f32>) outs(%0 : tensor<5xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<5xf32>
    %2 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel"]} ins(%1, %extracted_slice_0 : tensor<5xf32>, tensor<5xf32>) outs(%0 : tensor<5xf32>) {
    ^bb0(%in: f32, %in_10: f32, %out: f32):
      %15 = arith.mulf %in, %in_10 : f32
      linalg.yield %15 : f32
    } -> tensor<5xf32>
    %3 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel"]} ins(%2 : tensor<5xf32>) outs(%0 : tensor<5xf32>) {
    ^bb0(%in: f32, %out: f32):
      %15 = arith.addf %in, %cst : f32
      linalg.yield %15 : f32
    } -> tensor<5xf32>
    %extracted_slice_1 = tensor.extract_slice %arg1[1] [1] [1] : tensor<4xf32> to tensor<1xf32>
    %collapsed_2 = tensor.collapse_shape %extracted_slice_1 [] : tensor<1xf32> into tensor<f32>
    %extracted_slice_3 = tensor.extract_slice %arg0[1] [5] [1] : tensor<8xf32> to tensor<5xf32>
    %4 = linalg.generic {indexing_maps = [#map, #map1], iterator_types = ["parallel"]} ins(%collapsed_2 : tensor<f32>) outs(%0 : tensor<5xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<5xf32>
    %5 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel"]} ins(%4, %extracted_slice_3 : tensor<5xf32>, tensor<5xf32>) outs(%0 : tensor<5xf32>) {
    ^bb0(%in: f32, %in_10: f32, %out: f32):
      %15 = arith.mulf %in, %in_10 : f32
      linalg.yield %15 : f32
    } -> tensor<5xf32>
    %6 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel"]} ins(%3, %5 : tensor<5xf32>, tensor<5xf32>) outs(%0 : tensor<5xf32>) {
    ^bb0(%in: f32, %in_10: f32, %out: f32):
      %15 = arith.addf %in, %in_10 : f32
      linalg.yield %15 : f32
    } -> tensor<5xf32>
    %extracted_slice_4 = tensor.extract_slice %arg1[2] [1] [1] : tensor<4xf32> to tensor<1xf32>
    %collapsed_5 = tensor.collapse_shape %extracted_slice_4 [] : tensor<1xf32> into tensor<f32>
    %extracted_slice_6 = tensor.extract_slice %arg0[2] [5] [1] : tensor<8xf32> to tensor<5xf32>
    %7 = linalg.generic {indexing_maps = [#map, #map1], iterator_types = ["parallel"]} ins(%collapsed_5 : tensor<f32>) outs(%0 : tensor<5xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<5xf32>
    %8 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel"]} ins(%7, %extracted_slice_6 : tensor<5xf32>, tensor<5xf32>) outs(%0 : tensor<5xf32>) {
    ^bb0(%in: f32, %in_10: f32, %out: f32):
      %15 = arith.mulf %in, %in_10 : f32
      linalg.yield %15 : f32
    } -> tensor<5xf32>
    %9 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel"]} ins(%6, %8 : tensor<5xf32>, tensor<5xf32>) outs(%0 : tensor<5xf32>) {
    ^bb0(%in: f32, %in_10: f32, %out: f32):
      %15 = arith.addf %in, %in_10 : f32
      linalg.yield %15 : f32
    } -> tensor<5xf32>
    %extracted_slice_7 = tensor.extract_slice %arg1[3] [1] [1] : tensor<4xf32> to tensor<1xf32>
    %collapsed_8 = tensor.collapse_shape %extracted_slice_7 [] : tensor<1xf32> into tensor<f32>
    %extracted_slice_9 = tensor.extract_slice %arg0[3] [5] [1] : tensor<8xf32> to tensor<5xf32>
    %10 = linalg.generic {indexing_maps = [#map, #map1], iterator_types = ["parallel"]} ins(%collapsed_8 : tensor<f32>) outs(%0 : tensor<5xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<5xf32>
    %11 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel"]} ins(%10, %extracted_slice_9 : tensor<5xf32>, tensor<5xf32>) outs(%0 : tensor<5xf32>) {
    ^bb0(%in: f32, %in_10: f32, %out: f32):
      %15 = arith.mulf %in, %in_10 : f32
      linalg.yield %15 : f32
    } -> tensor<5xf32>
    %12 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel"]} ins(%9, %11 : tensor<5xf32>, tensor<5xf32>) outs(%0 : tensor<5xf32>) {
    ^bb0(%in: f32, %in_10: f32, %out: f32):
      %15 = arith.addf %in, %in_10 : f32
      linalg.yield %15 : f32
    } -> tensor<5xf32>
    %13 = linalg.generic {indexing_maps = [#map, #map1], iterator_types = ["parallel"]} ins(%arg2 : tensor<f32>) outs(%0 : tensor<5xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<5xf32>
    %14 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel"]} ins(%12, %13 : tensor<5xf32>, tensor<5xf32>) outs(%0 : tensor<5xf32>) {
    ^bb0(%in: f32, %in_10: f32, %out: f32):
      %15 = arith.addf %in, %in_10 : f32
      linalg.yield %15 : f32
    } -> tensor<5xf32>
    return %14 : tensor<5xf32>
  }
}

