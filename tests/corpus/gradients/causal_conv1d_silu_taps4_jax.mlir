#map = affine_map<(d0) -> ()>
#map1 = affine_map<(d0) -> (d0)>
module @jit__lambda {
  func.func public @main(%arg0: tensor<8xf32>, %arg1: tensor<4xf32>, %arg2: tensor<f32>) -> tensor<5xf32> {
    %cst = arith.constant 1.000000e+00 : f32
    %cst_0 = arith.constant 0.000000e+00 : f32
    %extracted_slice = tensor.extract_slice %arg1[0] [1] [1] : tensor<4xf32> to tensor<1xf32>
    %collapsed = tensor.collapse_shape %extracted_slice [] : tensor<1xf32> into tensor<f32>
    %extracted_slice_1 = tensor.extract_slice %arg0[0] [5] [1] : tensor<8xf32> to tensor<5xf32>
    %0 = tensor.empty() : tensor<5xf32>
    %1 = linalg.generic {indexing_maps = [#map, #map1], iterator_types = ["parallel"]} ins(%collapsed : tensor<f32>) outs(%0 : tensor<5xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<5xf32>
    %2 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel"]} ins(%1, %extracted_slice_1 : tensor<5xf32>, tensor<5xf32>) outs(%0 : tensor<5xf32>) {
    ^bb0(%in: f32, %in_11: f32, %out: f32):
      %20 = arith.mulf %in, %in_11 : f32
      linalg.yield %20 : f32
    } -> tensor<5xf32>
    %3 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel"]} ins(%2 : tensor<5xf32>) outs(%0 : tensor<5xf32>) {
    ^bb0(%in: f32, %out: f32):
      %20 = arith.addf %in, %cst_0 : f32
      linalg.yield %20 : f32
    } -> tensor<5xf32>
    %extracted_slice_2 = tensor.extract_slice %arg1[1] [1] [1] : tensor<4xf32> to tensor<1xf32>
    %collapsed_3 = tensor.collapse_shape %extracted_slice_2 [] : tensor<1xf32> into tensor<f32>
    %extracted_slice_4 = tensor.extract_slice %arg0[1] [5] [1] : tensor<8xf32> to tensor<5xf32>
    %4 = linalg.generic {indexing_maps = [#map, #map1], iterator_types = ["parallel"]} ins(%collapsed_3 : tensor<f32>) outs(%0 : tensor<5xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<5xf32>
    %5 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel"]} ins(%4, %extracted_slice_4 : tensor<5xf32>, tensor<5xf32>) outs(%0 : tensor<5xf32>) {
    ^bb0(%in: f32, %in_11: f32, %out: f32):
      %20 = arith.mulf %in, %in_11 : f32
      linalg.yield %20 : f32
    } -> tensor<5xf32>
    %6 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel"]} ins(%3, %5 : tensor<5xf32>, tensor<5xf32>) outs(%0 : tensor<5xf32>) {
    ^bb0(%in: f32, %in_11: f32, %out: f32):
      %20 = arith.addf %in, %in_11 : f32
      linalg.yield %20 : f32
    } -> tensor<5xf32>
    %extracted_slice_5 = tensor.extract_slice %arg1[2] [1] [1] : tensor<4xf32> to tensor<1xf32>
    %collapsed_6 = tensor.collapse_shape %extracted_slice_5 [] : tensor<1xf32> into tensor<f32>
    %extracted_slice_7 = tensor.extract_slice %arg0[2] [5] [1] : tensor<8xf32> to tensor<5xf32>
    %7 = linalg.generic {indexing_maps = [#map, #map1], iterator_types = ["parallel"]} ins(%collapsed_6 : tensor<f32>) outs(%0 : tensor<5xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<5xf32>
    %8 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel"]} ins(%7, %extracted_slice_7 : tensor<5xf32>, tensor<5xf32>) outs(%0 : tensor<5xf32>) {
    ^bb0(%in: f32, %in_11: f32, %out: f32):
      %20 = arith.mulf %in, %in_11 : f32
      linalg.yield %20 : f32
    } -> tensor<5xf32>
    %9 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel"]} ins(%6, %8 : tensor<5xf32>, tensor<5xf32>) outs(%0 : tensor<5xf32>) {
    ^bb0(%in: f32, %in_11: f32, %out: f32):
      %20 = arith.addf %in, %in_11 : f32
      linalg.yield %20 : f32
    } -> tensor<5xf32>
    %extracted_slice_8 = tensor.extract_slice %arg1[3] [1] [1] : tensor<4xf32> to tensor<1xf32>
    %collapsed_9 = tensor.collapse_shape %extracted_slice_8 [] : tensor<1xf32> into tensor<f32>
    %extracted_slice_10 = tensor.extract_slice %arg0[3] [5] [1] : tensor<8xf32> to tensor<5xf32>
    %10 = linalg.generic {indexing_maps = [#map, #map1], iterator_types = ["parallel"]} ins(%collapsed_9 : tensor<f32>) outs(%0 : tensor<5xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<5xf32>
    %11 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel"]} ins(%10, %extracted_slice_10 : tensor<5xf32>, tensor<5xf32>) outs(%0 : tensor<5xf32>) {
    ^bb0(%in: f32, %in_11: f32, %out: f32):
      %20 = arith.mulf %in, %in_11 : f32
      linalg.yield %20 : f32
    } -> tensor<5xf32>
    %12 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel"]} ins(%9, %11 : tensor<5xf32>, tensor<5xf32>) outs(%0 : tensor<5xf32>) {
    ^bb0(%in: f32, %in_11: f32, %out: f32):
      %20 = arith.addf %in, %in_11 : f32
      linalg.yield %20 : f32
    } -> tensor<5xf32>
    %13 = linalg.generic {indexing_maps = [#map, #map1], iterator_types = ["parallel"]} ins(%arg2 : tensor<f32>) outs(%0 : tensor<5xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<5xf32>
    %14 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel"]} ins(%12, %13 : tensor<5xf32>, tensor<5xf32>) outs(%0 : tensor<5xf32>) {
    ^bb0(%in: f32, %in_11: f32, %out: f32):
      %20 = arith.addf %in, %in_11 : f32
      linalg.yield %20 : f32
    } -> tensor<5xf32>
    %15 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel"]} ins(%14 : tensor<5xf32>) outs(%0 : tensor<5xf32>) {
    ^bb0(%in: f32, %out: f32):
      %20 = arith.negf %in : f32
      linalg.yield %20 : f32
    } -> tensor<5xf32>
    %16 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel"]} ins(%15 : tensor<5xf32>) outs(%0 : tensor<5xf32>) {
    ^bb0(%in: f32, %out: f32):
      %20 = math.exp %in : f32
      linalg.yield %20 : f32
    } -> tensor<5xf32>
    %17 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel"]} ins(%16 : tensor<5xf32>) outs(%0 : tensor<5xf32>) {
    ^bb0(%in: f32, %out: f32):
      %20 = arith.addf %in, %cst : f32
      linalg.yield %20 : f32
    } -> tensor<5xf32>
    %18 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel"]} ins(%17 : tensor<5xf32>) outs(%0 : tensor<5xf32>) {
    ^bb0(%in: f32, %out: f32):
      %20 = arith.divf %cst, %in : f32
      linalg.yield %20 : f32
    } -> tensor<5xf32>
    %19 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel"]} ins(%14, %18 : tensor<5xf32>, tensor<5xf32>) outs(%0 : tensor<5xf32>) {
    ^bb0(%in: f32, %in_11: f32, %out: f32):
      %20 = arith.mulf %in, %in_11 : f32
      linalg.yield %20 : f32
    } -> tensor<5xf32>
    return %19 : tensor<5xf32>
  }
}

