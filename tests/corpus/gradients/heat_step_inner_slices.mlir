#map = affine_map<(d0, d1) -> (d0, d1)>
#map1 = affine_map<(d0, d1) -> ()>
module @jit__lambda {
  func.func public @main(%arg0: tensor<16x16xf32>, %arg1: tensor<f32>) -> tensor<14x14xf32> {
    %cst = arith.constant 4.000000e+00 : f32
    %extracted_slice = tensor.extract_slice %arg0[1, 1] [14, 14] [1, 1] : tensor<16x16xf32> to tensor<14x14xf32>
    %extracted_slice_0 = tensor.extract_slice %arg0[0, 1] [14, 14] [1, 1] : tensor<16x16xf32> to tensor<14x14xf32>
    %extracted_slice_1 = tensor.extract_slice %arg0[2, 1] [14, 14] [1, 1] : tensor<16x16xf32> to tensor<14x14xf32>
    %0 = tensor.empty() : tensor<14x14xf32>
    %1 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel", "parallel"]} ins(%extracted_slice_0, %extracted_slice_1 : tensor<14x14xf32>, tensor<14x14xf32>) outs(%0 : tensor<14x14xf32>) {
    ^bb0(%in: f32, %in_4: f32, %out: f32):
      %9 = arith.addf %in, %in_4 : f32
      linalg.yield %9 : f32
    } -> tensor<14x14xf32>
    %extracted_slice_2 = tensor.extract_slice %arg0[1, 0] [14, 14] [1, 1] : tensor<16x16xf32> to tensor<14x14xf32>
    %2 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel", "parallel"]} ins(%1, %extracted_slice_2 : tensor<14x14xf32>, tensor<14x14xf32>) outs(%0 : tensor<14x14xf32>) {
    ^bb0(%in: f32, %in_4: f32, %out: f32):
      %9 = arith.addf %in, %in_4 : f32
      linalg.yield %9 : f32
    } -> tensor<14x14xf32>
    %extracted_slice_3 = tensor.extract_slice %arg0[1, 2] [14, 14] [1, 1] : tensor<16x16xf32> to tensor<14x14xf32>
    %3 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel", "parallel"]} ins(%2, %extracted_slice_3 : tensor<14x14xf32>, tensor<14x14xf32>) outs(%0 : tensor<14x14xf32>) {
    ^bb0(%in: f32, %in_4: f32, %out: f32):
      %9 = arith.addf %in, %in_4 : f32
      linalg.yield %9 : f32
    } -> tensor<14x14xf32>
    %4 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]} ins(%extracted_slice : tensor<14x14xf32>) outs(%0 : tensor<14x14xf32>) {
    ^bb0(%in: f32, %out: f32):
      %9 = arith.mulf %in, %cst : f32
      linalg.yield %9 : f32
    } -> tensor<14x14xf32>
    %5 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel", "parallel"]} ins(%3, %4 : tensor<14x14xf32>, tensor<14x14xf32>) outs(%0 : tensor<14x14xf32>) {
    ^bb0(%in: f32, %in_4: f32, %out: f32):
      %9 = arith.subf %in, %in_4 : f32
      linalg.yield %9 : f32
    } -> tensor<14x14xf32>
    %6 = linalg.generic {indexing_maps = [#map1, #map], iterator_types = ["parallel", "parallel"]} ins(%arg1 : tensor<f32>) outs(%0 : tensor<14x14xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<14x14xf32>
    %7 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel", "parallel"]} ins(%6, %5 : tensor<14x14xf32>, tensor<14x14xf32>) outs(%0 : tensor<14x14xf32>) {
    ^bb0(%in: f32, %in_4: f32, %out: f32):
      %9 = arith.mulf %in, %in_4 : f32
      linalg.yield %9 : f32
    } -> tensor<14x14xf32>
    %8 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel", "parallel"]} ins(%extracted_slice, %7 : tensor<14x14xf32>, tensor<14x14xf32>) outs(%0 : tensor<14x14xf32>) {
    ^bb0(%in: f32, %in_4: f32, %out: f32):
      %9 = arith.addf %in, %in_4 : f32
      linalg.yield %9 : f32
    } -> tensor<14x14xf32>
    return %8 : tensor<14x14xf32>
  }
}

