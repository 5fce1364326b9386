#map = affine_map<() -> ()>
#map1 = affine_map<(d0, d1) -> ()>
#map2 = affine_map<(d0, d1) -> (d0, d1)>
module @jit__lambda {
  func.func public @main(%arg0: tensor<4x8xf32>, %arg1: tensor<4xf32>, %arg2: tensor<f32>) -> tensor<4x8xf32> {
    %cst = arith.constant 0.000000e+00 : f32
    %0 = tensor.empty() : tensor<f32>
    %1 = linalg.generic {indexing_maps = [#map], iterator_types = []} outs(%0 : tensor<f32>) {
    ^bb0(%out: f32):
      linalg.yield %cst : f32
    } -> tensor<f32>
    %extracted = tensor.extract %1[] : tensor<f32>
    %padded = tensor.pad %arg0 low[0, 3] high[0, 0] {
    ^bb0(%arg3: index, %arg4: index):
      tensor.yield %extracted : f32
    } : tensor<4x8xf32> to tensor<4x11xf32>
    %extracted_slice = tensor.extract_slice %arg1[0] [1] [1] : tensor<4xf32> to tensor<1xf32>
    %collapsed = tensor.collapse_shape %extracted_slice [] : tensor<1xf32> into tensor<f32>
    %extracted_slice_0 = tensor.extract_slice %padded[0, 0] [4, 8] [1, 1] : tensor<4x11xf32> to tensor<4x8xf32>
    %2 = tensor.empty() : tensor<4x8xf32>
    %3 = linalg.generic {indexing_maps = [#map1, #map2], iterator_types = ["parallel", "parallel"]} ins(%collapsed : tensor<f32>) outs(%2 : tensor<4x8xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<4x8xf32>
    %4 = linalg.generic {indexing_maps = [#map2, #map2, #map2], iterator_types = ["parallel", "parallel"]} ins(%3, %extracted_slice_0 : tensor<4x8xf32>, tensor<4x8xf32>) outs(%2 : tensor<4x8xf32>) {
    ^bb0(%in: f32, %in_10: f32, %out: f32):
      %17 = arith.mulf %in, %in_10 : f32
      linalg.yield %17 : f32
    } -> tensor<4x8xf32>
    %5 = linalg.generic {indexing_maps = [#map2, #map2], iterator_types = ["parallel", "parallel"]} ins(%4 : tensor<4x8xf32>) outs(%2 : tensor<4x8xf32>) {
    ^bb0(%in: f32, %out: f32):
      %17 = arith.addf %in, %cst : f32
      linalg.yield %17 : f32
    } -> tensor<4x8xf32>
    %extracted_slice_1 = tensor.extract_slice %arg1[1] [1] [1] : tensor<4xf32> to tensor<1xf32>
    %collapsed_2 = tensor.collapse_shape %extracted_slice_1 [] : tensor<1xf32> into tensor<f32>
    %extracted_slice_3 = tensor.extract_slice %padded[0, 1] [4, 8] [1, 1] : tensor<4x11xf32> to tensor<4x8xf32>
    %6 = linalg.generic {indexing_maps = [#map1, #map2], iterator_types = ["parallel", "parallel"]} ins(%collapsed_2 : tensor<f32>) outs(%2 : tensor<4x8xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<4x8xf32>
    %7 = linalg.generic {indexing_maps = [#map2, #map2, #map2], iterator_types = ["parallel", "parallel"]} ins(%6, %extracted_slice_3 : tensor<4x8xf32>, tensor<4x8xf32>) outs(%2 : tensor<4x8xf32>) {
    ^bb0(%in: f32, %in_10: f32, %out: f32):
      %17 = arith.mulf %in, %in_10 : f32
      linalg.yield %17 : f32
    } -> tensor<4x8xf32>
    %8 = linalg.generic {indexing_maps = [#map2, #map2, #map2], iterator_types = ["parallel", "parallel"]} ins(%5, %7 : tensor<4x8xf32>, tensor<4x8xf32>) outs(%2 : tensor<4x8xf32>) {
    ^bb0(%in: f32, %in_10: f32, %out: f32):
      %17 = arith.addf %in, %in_10 : f32
      linalg.yield %17 : f32
    } -> tensor<4x8xf32>
    %extracted_slice_4 = tensor.extract_slice %arg1[2] [1] [1] : tensor<4xf32> to tensor<1xf32>
    %collapsed_5 = tensor.collapse_shape %extracted_slice_4 [] : tensor<1xf32> into tensor<f32>
    %extracted_slice_6 = tensor.extract_slice %padded[0, 2] [4, 8] [1, 1] : tensor<4x11xf32> to tensor<4x8xf32>
    %9 = linalg.generic {indexing_maps = [#map1, #map2], iterator_types = ["parallel", "parallel"]} ins(%collapsed_5 : tensor<f32>) outs(%2 : tensor<4x8xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<4x8xf32>
    %10 = linalg.generic {indexing_maps = [#map2, #map2, #map2], iterator_types = ["parallel", "parallel"]} ins(%9, %extracted_slice_6 : tensor<4x8xf32>, tensor<4x8xf32>) outs(%2 : tensor<4x8xf32>) {
    ^bb0(%in: f32, %in_10: f32, %out: f32):
      %17 = arith.mulf %in, %in_10 : f32
      linalg.yield %17 : f32
    } -> tensor<4x8xf32>
    %11 = linalg.generic {indexing_maps = [#map2, #map2, #map2], iterator_types = ["parallel", "parallel"]} ins(%8, %10 : tensor<4x8xf32>, tensor<4x8xf32>) outs(%2 : tensor<4x8xf32>) {
    ^bb0(%in: f32, %in_10: f32, %out: f32):
      %17 = arith.addf %in, %in_10 : f32
      linalg.yield %17 : f32
    } -> tensor<4x8xf32>
    %extracted_slice_7 = tensor.extract_slice %arg1[3] [1] [1] : tensor<4xf32> to tensor<1xf32>
    %collapsed_8 = tensor.collapse_shape %extracted_slice_7 [] : tensor<1xf32> into tensor<f32>
    %extracted_slice_9 = tensor.extract_slice %padded[0, 3] [4, 8] [1, 1] : tensor<4x11xf32> to tensor<4x8xf32>
    %12 = linalg.generic {indexing_maps = [#map1, #map2], iterator_types = ["parallel", "parallel"]} ins(%collapsed_8 : tensor<f32>) outs(%2 : tensor<4x8xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<4x8xf32>
    %13 = linalg.generic {indexing_maps = [#map2, #map2, #map2], iterator_types = ["parallel", "parallel"]} ins(%12, %extracted_slice_9 : tensor<4x8xf32>, tensor<4x8xf32>) outs(%2 : tensor<4x8xf32>) {
    ^bb0(%in: f32, %in_10: f32, %out: f32):
      %17 = arith.mulf %in, %in_10 : f32
      linalg.yield %17 : f32
    } -> tensor<4x8xf32>
    %14 = linalg.generic {indexing_maps = [#map2, #map2, #map2], iterator_types = ["parallel", "parallel"]} ins(%11, %13 : tensor<4x8xf32>, tensor<4x8xf32>) outs(%2 : tensor<4x8xf32>) {
    ^bb0(%in: f32, %in_10: f32, %out: f32):
      %17 = arith.addf %in, %in_10 : f32
      linalg.yield %17 : f32
    } -> tensor<4x8xf32>
    %15 = linalg.generic {indexing_maps = [#map1, #map2], iterator_types = ["parallel", "parallel"]} ins(%arg2 : tensor<f32>) outs(%2 : tensor<4x8xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<4x8xf32>
    %16 = linalg.generic {indexing_maps = [#map2, #map2, #map2], iterator_types = ["parallel", "parallel"]} ins(%14, %15 : tensor<4x8xf32>, tensor<4x8xf32>) outs(%2 : tensor<4x8xf32>) {
    ^bb0(%in: f32, %in_10: f32, %out: f32):
      %17 = arith.addf %in, %in_10 : f32
      linalg.yield %17 : f32
    } -> tensor<4x8xf32>
    return %16 : tensor<4x8xf32>
  }
}

