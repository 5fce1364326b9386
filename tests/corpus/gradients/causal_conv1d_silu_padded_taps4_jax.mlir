#map = affine_map<() -> ()>
#map1 = affine_map<(d0, d1, d2) -> (d0, d2)>
#map2 = affine_map<(d0, d1, d2) -> (d0, d1, d2)>
#map3 = affine_map<(d0, d1) -> (d0, 0)>
#map4 = affine_map<(d0, d1) -> (d0, d1)>
#map5 = affine_map<(d0, d1) -> (d0)>
module @jit__lambda {
  func.func public @main(%arg0: tensor<4x8xf32>, %arg1: tensor<4x4xf32>, %arg2: tensor<4xf32>) -> tensor<4x8xf32> {
    %cst = arith.constant 1.000000e+00 : f32
    %cst_0 = arith.constant 0.000000e+00 : f32
    %0 = tensor.empty() : tensor<f32>
    %1 = linalg.generic {indexing_maps = [#map], iterator_types = []} outs(%0 : tensor<f32>) {
    ^bb0(%out: f32):
      linalg.yield %cst_0 : f32
    } -> tensor<f32>
    %extracted = tensor.extract %1[] : tensor<f32>
    %padded = tensor.pad %arg0 low[0, 3] high[0, 0] {
    ^bb0(%arg3: index, %arg4: index):
      tensor.yield %extracted : f32
    } : tensor<4x8xf32> to tensor<4x11xf32>
    %2 = tensor.empty() : tensor<4x1x4xf32>
    %3 = linalg.generic {indexing_maps = [#map1, #map2], iterator_types = ["parallel", "parallel", "parallel"]} ins(%arg1 : tensor<4x4xf32>) outs(%2 : tensor<4x1x4xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<4x1x4xf32>
    %extracted_slice = tensor.extract_slice %3[0, 0, 0] [4, 1, 1] [1, 1, 1] : tensor<4x1x4xf32> to tensor<4x1x1xf32>
    %collapsed = tensor.collapse_shape %extracted_slice [[0], [1, 2]] : tensor<4x1x1xf32> into tensor<4x1xf32>
    %extracted_slice_1 = tensor.extract_slice %padded[0, 0] [4, 8] [1, 1] : tensor<4x11xf32> to tensor<4x8xf32>
    %4 = tensor.empty() : tensor<4x8xf32>
    %5 = linalg.generic {indexing_maps = [#map3, #map4], iterator_types = ["parallel", "parallel"]} ins(%collapsed : tensor<4x1xf32>) outs(%4 : tensor<4x8xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<4x8xf32>
    %6 = linalg.generic {indexing_maps = [#map4, #map4, #map4], iterator_types = ["parallel", "parallel"]} ins(%5, %extracted_slice_1 : tensor<4x8xf32>, tensor<4x8xf32>) outs(%4 : tensor<4x8xf32>) {
    ^bb0(%in: f32, %in_11: f32, %out: f32):
      %24 = arith.mulf %in, %in_11 : f32
      linalg.yield %24 : f32
    } -> tensor<4x8xf32>
    %7 = linalg.generic {indexing_maps = [#map4, #map4], iterator_types = ["parallel", "parallel"]} ins(%6 : tensor<4x8xf32>) outs(%4 : tensor<4x8xf32>) {
    ^bb0(%in: f32, %out: f32):
      %24 = arith.addf %in, %cst_0 : f32
      linalg.yield %24 : f32
    } -> tensor<4x8xf32>
    %extracted_slice_2 = tensor.extract_slice %3[0, 0, 1] [4, 1, 1] [1, 1, 1] : tensor<4x1x4xf32> to tensor<4x1x1xf32>
    %collapsed_3 = tensor.collapse_shape %extracted_slice_2 [[0], [1, 2]] : tensor<4x1x1xf32> into tensor<4x1xf32>
    %extracted_slice_4 = tensor.extract_slice %padded[0, 1] [4, 8] [1, 1] : tensor<4x11xf32> to tensor<4x8xf32>
    %8 = linalg.generic {indexing_maps = [#map3, #map4], iterator_types = ["parallel", "parallel"]} ins(%collapsed_3 : tensor<4x1xf32>) outs(%4 : tensor<4x8xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<4x8xf32>
    %9 = linalg.generic {indexing_maps = [#map4, #map4, #map4], iterator_types = ["parallel", "parallel"]} ins(%8, %extracted_slice_4 : tensor<4x8xf32>, tensor<4x8xf32>) outs(%4 : tensor<4x8xf32>) {
    ^bb0(%in: f32, %in_11: f32, %out: f32):
      %24 = arith.mulf %in, %in_11 : f32
      linalg.yield %24 : f32
    } -> tensor<4x8xf32>
    %10 = linalg.generic {indexing_maps = [#map4, #map4, #map4], iterator_types = ["parallel", "parallel"]} ins(%7, %9 : tensor<4x8xf32>, tensor<4x8xf32>) outs(%4 : tensor<4x8xf32>) {
    ^bb0(%in: f32, %in_11: f32, %out: f32):
      %24 = arith.addf %in, %in_11 : f32
      linalg.yield %24 : f32
    } -> tensor<4x8xf32>
    %extracted_slice_5 = tensor.extract_slice %3[0, 0, 2] [4, 1, 1] [1, 1, 1] : tensor<4x1x4xf32> to tensor<4x1x1xf32>
    %collapsed_6 = tensor.collapse_shape %extracted_slice_5 [[0], [1, 2]] : tensor<4x1x1xf32> into tensor<4x1xf32>
    %extracted_slice_7 = tensor.extract_slice %padded[0, 2] [4, 8] [1, 1] : tensor<4x11xf32> to tensor<4x8xf32>
    %11 = linalg.generic {indexing_maps = [#map3, #map4], iterator_types = ["parallel", "parallel"]} ins(%collapsed_6 : tensor<4x1xf32>) outs(%4 : tensor<4x8xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<4x8xf32>
    %12 = linalg.generic {indexing_maps = [#map4, #map4, #map4], iterator_types = ["parallel", "parallel"]} ins(%11, %extracted_slice_7 : tensor<4x8xf32>, tensor<4x8xf32>) outs(%4 : tensor<4x8xf32>) {
    ^bb0(%in: f32, %in_11: f32, %out: f32):
      %24 = arith.mulf %in, %in_11 : f32
      linalg.yield %24 : f32
    } -> tensor<4x8xf32>
    %13 = linalg.generic {indexing_maps = [#map4, #map4, #map4], iterator_types = ["parallel", "parallel"]} ins(%10, %12 : tensor<4x8xf32>, tensor<4x8xf32>) outs(%4 : tensor<4x8xf32>) {
    ^bb0(%in: f32, %in_11: f32, %out: f32):
      %24 = arith.addf %in, %in_11 : f32
      linalg.yield %24 : f32
    } -> tensor<4x8xf32>
    %extracted_slice_8 = tensor.extract_slice %3[0, 0, 3] [4, 1, 1] [1, 1, 1] : tensor<4x1x4xf32> to tensor<4x1x1xf32>
    %collapsed_9 = tensor.collapse_shape %extracted_slice_8 [[0], [1, 2]] : tensor<4x1x1xf32> into tensor<4x1xf32>
    %extracted_slice_10 = tensor.extract_slice %padded[0, 3] [4, 8] [1, 1] : tensor<4x11xf32> to tensor<4x8xf32>
    %14 = linalg.generic {indexing_maps = [#map3, #map4], iterator_types = ["parallel", "parallel"]} ins(%collapsed_9 : tensor<4x1xf32>) outs(%4 : tensor<4x8xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<4x8xf32>
    %15 = linalg.generic {indexing_maps = [#map4, #map4, #map4], iterator_types = ["parallel", "parallel"]} ins(%14, %extracted_slice_10 : tensor<4x8xf32>, tensor<4x8xf32>) outs(%4 : tensor<4x8xf32>) {
    ^bb0(%in: f32, %in_11: f32, %out: f32):
      %24 = arith.mulf %in, %in_11 : f32
      linalg.yield %24 : f32
    } -> tensor<4x8xf32>
    %16 = linalg.generic {indexing_maps = [#map4, #map4, #map4], iterator_types = ["parallel", "parallel"]} ins(%13, %15 : tensor<4x8xf32>, tensor<4x8xf32>) outs(%4 : tensor<4x8xf32>) {
    ^bb0(%in: f32, %in_11: f32, %out: f32):
      %24 = arith.addf %in, %in_11 : f32
      linalg.yield %24 : f32
    } -> tensor<4x8xf32>
    %17 = linalg.generic {indexing_maps = [#map5, #map4], iterator_types = ["parallel", "parallel"]} ins(%arg2 : tensor<4xf32>) outs(%4 : tensor<4x8xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<4x8xf32>
    %18 = linalg.generic {indexing_maps = [#map4, #map4, #map4], iterator_types = ["parallel", "parallel"]} ins(%16, %17 : tensor<4x8xf32>, tensor<4x8xf32>) outs(%4 : tensor<4x8xf32>) {
    ^bb0(%in: f32, %in_11: f32, %out: f32):
      %24 = arith.addf %in, %in_11 : f32
      linalg.yield %24 : f32
    } -> tensor<4x8xf32>
    %19 = linalg.generic {indexing_maps = [#map4, #map4], iterator_types = ["parallel", "parallel"]} ins(%18 : tensor<4x8xf32>) outs(%4 : tensor<4x8xf32>) {
    ^bb0(%in: f32, %out: f32):
      %24 = arith.negf %in : f32
      linalg.yield %24 : f32
    } -> tensor<4x8xf32>
    %20 = linalg.generic {indexing_maps = [#map4, #map4], iterator_types = ["parallel", "parallel"]} ins(%19 : tensor<4x8xf32>) outs(%4 : tensor<4x8xf32>) {
    ^bb0(%in: f32, %out: f32):
      %24 = math.exp %in : f32
      linalg.yield %24 : f32
    } -> tensor<4x8xf32>
    %21 = linalg.generic {indexing_maps = [#map4, #map4], iterator_types = ["parallel", "parallel"]} ins(%20 : tensor<4x8xf32>) outs(%4 : tensor<4x8xf32>) {
    ^bb0(%in: f32, %out: f32):
      %24 = arith.addf %in, %cst : f32
      linalg.yield %24 : f32
    } -> tensor<4x8xf32>
    %22 = linalg.generic {indexing_maps = [#map4, #map4], iterator_types = ["parallel", "parallel"]} ins(%21 : tensor<4x8xf32>) outs(%4 : tensor<4x8xf32>) {
    ^bb0(%in: f32, %out: f32):
      %24 = arith.divf %cst, %in : f32
      linalg.yield %24 : f32
    } -> tensor<4x8xf32>
    %23 = linalg.generic {indexing_maps = [#map4, #map4, #map4], iterator_types = ["parallel", "parallel"]} ins(%18, %22 : tensor<4x8xf32>, tensor<4x8xf32>) outs(%4 : tensor<4x8xf32>) {
    ^bb0(%in: f32, %in_11: f32, %out: f32):
      %24 = arith.mulf %in, %in_11 : f32
      linalg.yield %24 : f32
    } -> tensor<4x8xf32>
    return %23 : tensor<4x8xf32>
  }
}

