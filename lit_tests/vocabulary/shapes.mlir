// Shapes: the spellings verify and print to what reads back; instances, here on matrices and at known extents,
// decompose to plain ops that real mlir-opt takes.

// RUN: xdsl-opt -f xfuse-mlir %S/../../xfuse/primitives/vocabulary/shapes.mlir | xdsl-opt -f xfuse-mlir | filecheck %s --check-prefix=RECIPE
// RUN: xdsl-opt -f xfuse-mlir %s | xdsl-opt -f xfuse-mlir -p xfuse-decompose | %mlir-opt | filecheck %s
// REQUIRES: mlir-opt

#rows = affine_map<(i, j) -> (i, j)>
#columns = affine_map<(i, j) -> (j, i)>
#row = affine_map<(i, j) -> (j)>
#box = affine_map<(i, j, k) -> (i, j, k)>
#turned = affine_map<(i, j, k) -> (k, i, j)>

// Transpose

// RECIPE-LABEL: xfuse.recipe @transpose(
// RECIPE:        linalg.generic
// CHECK-LABEL: func.func @transpose
// CHECK:         linalg.generic
func.func @transpose(%x0: tensor<4x5xf32>) -> tensor<5x4xf32> {
  %r0 = xfuse.fused @transpose (%x = %x0 : tensor<4x5xf32>) -> tensor<5x4xf32> {
    %empty = tensor.empty() : tensor<5x4xf32>
    %r = linalg.generic {indexing_maps = [#columns, #rows], iterator_types = ["parallel", "parallel"]}
        ins(%x : tensor<4x5xf32>) outs(%empty : tensor<5x4xf32>) {
    ^bb0(%a: f32, %unread: f32):
      linalg.yield %a : f32
    } -> tensor<5x4xf32>
    xfuse.yield %r : tensor<5x4xf32>
  }
  func.return %r0 : tensor<5x4xf32>
}

// Permute

// RECIPE-LABEL: xfuse.recipe @permute(
// RECIPE:        linalg.generic
// CHECK-LABEL: func.func @permute
// CHECK:         linalg.generic
func.func @permute(%x0: tensor<4x5x6xf32>) -> tensor<5x6x4xf32> {
  %r0 = xfuse.fused @permute (%x = %x0 : tensor<4x5x6xf32>) -> tensor<5x6x4xf32> {
    %empty = tensor.empty() : tensor<5x6x4xf32>
    %r = linalg.generic {indexing_maps = [#turned, #box], iterator_types = ["parallel", "parallel", "parallel"]}
        ins(%x : tensor<4x5x6xf32>) outs(%empty : tensor<5x6x4xf32>) {
    ^bb0(%a: f32, %unread: f32):
      linalg.yield %a : f32
    } -> tensor<5x6x4xf32>
    xfuse.yield %r : tensor<5x6x4xf32>
  }
  func.return %r0 : tensor<5x6x4xf32>
}

// BroadcastTo

// RECIPE-LABEL: xfuse.recipe @broadcast_to(
// RECIPE:        linalg.generic
// CHECK-LABEL: func.func @broadcast_to
// CHECK:         linalg.generic
func.func @broadcast_to(%x0: tensor<5xf32>) -> tensor<4x5xf32> {
  %r0 = xfuse.fused @broadcast_to (%x = %x0 : tensor<5xf32>) -> tensor<4x5xf32> {
    %empty = tensor.empty() : tensor<4x5xf32>
    %r = linalg.generic {indexing_maps = [#row, #rows], iterator_types = ["parallel", "parallel"]}
        ins(%x : tensor<5xf32>) outs(%empty : tensor<4x5xf32>) {
    ^bb0(%a: f32, %unread: f32):
      linalg.yield %a : f32
    } -> tensor<4x5xf32>
    xfuse.yield %r : tensor<4x5xf32>
  }
  func.return %r0 : tensor<4x5xf32>
}

// Unsqueeze

// RECIPE-LABEL: xfuse.recipe @unsqueeze(
// RECIPE:        tensor.expand_shape
// CHECK-LABEL: func.func @unsqueeze
// CHECK:         tensor.expand_shape {{.*}} into tensor<1x5xf32>
func.func @unsqueeze(%x0: tensor<5xf32>) -> tensor<1x5xf32> {
  %r0 = xfuse.fused @unsqueeze (%x = %x0 : tensor<5xf32>) -> tensor<1x5xf32> {
    %r = tensor.expand_shape %x [[0, 1]] output_shape [1, 5] : tensor<5xf32> into tensor<1x5xf32>
    xfuse.yield %r : tensor<1x5xf32>
  }
  func.return %r0 : tensor<1x5xf32>
}

// Squeeze

// RECIPE-LABEL: xfuse.recipe @squeeze(
// RECIPE:        tensor.collapse_shape
// CHECK-LABEL: func.func @squeeze
// CHECK:         tensor.collapse_shape {{.*}} into tensor<5xf32>
func.func @squeeze(%x0: tensor<1x5xf32>) -> tensor<5xf32> {
  %r0 = xfuse.fused @squeeze (%x = %x0 : tensor<1x5xf32>) -> tensor<5xf32> {
    %r = tensor.collapse_shape %x [[0, 1]] : tensor<1x5xf32> into tensor<5xf32>
    xfuse.yield %r : tensor<5xf32>
  }
  func.return %r0 : tensor<5xf32>
}

// Reshape: the first two axes merge, the last one is a loop dimension

// RECIPE-LABEL: xfuse.recipe @reshape(
// RECIPE:        tensor.collapse_shape
// CHECK-LABEL: func.func @reshape
// CHECK:         tensor.collapse_shape {{.*}} into tensor<20x6xf32>
func.func @reshape(%x0: tensor<4x5x6xf32>) -> tensor<20x6xf32> {
  %r0 = xfuse.fused @reshape (%x = %x0 : tensor<4x5x6xf32>) -> tensor<20x6xf32> {
    %r = tensor.collapse_shape %x [[0, 1], [2]] : tensor<4x5x6xf32> into tensor<20x6xf32>
    xfuse.yield %r : tensor<20x6xf32>
  }
  func.return %r0 : tensor<20x6xf32>
}

// Reshape: pairs

// RECIPE-LABEL: xfuse.recipe @reshape_split(
// RECIPE:        tensor.expand_shape
// CHECK-LABEL: func.func @reshape_split
// CHECK:         tensor.expand_shape {{.*}} into tensor<4x3x2xf32>
func.func @reshape_split(%x0: tensor<4x6xf32>) -> tensor<4x3x2xf32> {
  %r0 = xfuse.fused @reshape_split (%x = %x0 : tensor<4x6xf32>) -> tensor<4x3x2xf32> {
    %r = tensor.expand_shape %x [[0], [1, 2]] output_shape [4, 3, 2] : tensor<4x6xf32> into tensor<4x3x2xf32>
    xfuse.yield %r : tensor<4x3x2xf32>
  }
  func.return %r0 : tensor<4x3x2xf32>
}

// Slice, along axis 0

// RECIPE-LABEL: xfuse.recipe @slice(
// RECIPE:        tensor.extract_slice
// CHECK-LABEL: func.func @slice
// CHECK:         tensor.extract_slice {{.*}}[1, 0] [3, 5] [1, 1]
func.func @slice(%x0: tensor<4x5xf32>) -> tensor<3x5xf32> {
  %r0 = xfuse.fused @slice (%x = %x0 : tensor<4x5xf32>) -> tensor<3x5xf32> {
    %r = tensor.extract_slice %x[1, 0] [3, 5] [1, 1] : tensor<4x5xf32> to tensor<3x5xf32>
    xfuse.yield %r : tensor<3x5xf32>
  }
  func.return %r0 : tensor<3x5xf32>
}

// Slice: the second half of a row

// RECIPE-LABEL: xfuse.recipe @slice_relative(
// RECIPE:        tensor.extract_slice
// CHECK-LABEL: func.func @slice_relative
// CHECK:         tensor.extract_slice {{.*}}[0, 3] [4, 3] [1, 1]
func.func @slice_relative(%x0: tensor<4x6xf32>) -> tensor<4x3xf32> {
  %r0 = xfuse.fused @slice_relative (%x = %x0 : tensor<4x6xf32>) -> tensor<4x3xf32> {
    %r = tensor.extract_slice %x[0, 3] [4, 3] [1, 1] : tensor<4x6xf32> to tensor<4x3xf32>
    xfuse.yield %r : tensor<4x3xf32>
  }
  func.return %r0 : tensor<4x3xf32>
}

// Concat, along axis 1

// RECIPE-LABEL: xfuse.recipe @concat(
// RECIPE:        tensor.concat
// CHECK-LABEL: func.func @concat
// CHECK:         tensor.concat dim(1)
func.func @concat(%x0: tensor<4x5xf32>, %y0: tensor<4x3xf32>) -> tensor<4x8xf32> {
  %r0 = xfuse.fused @concat (%x = %x0 : tensor<4x5xf32>, %y = %y0 : tensor<4x3xf32>) -> tensor<4x8xf32> {
    %r = tensor.concat dim(1) %x, %y : (tensor<4x5xf32>, tensor<4x3xf32>) -> tensor<4x8xf32>
    xfuse.yield %r : tensor<4x8xf32>
  }
  func.return %r0 : tensor<4x8xf32>
}

// Pad, along axis 1

// RECIPE-LABEL: xfuse.recipe @pad(
// RECIPE:        tensor.pad
// CHECK-LABEL: func.func @pad
// CHECK:         tensor.pad {{.*}} low[0, 1] high[0, 2]
func.func @pad(%x0: tensor<4x5xf32>) -> tensor<4x8xf32> {
  %r0 = xfuse.fused @pad (%x = %x0 : tensor<4x5xf32>) -> tensor<4x8xf32> {
    %value = arith.constant 0.0 : f32
    %r = tensor.pad %x low[0, 1] high[0, 2] {
    ^bb0(%i: index, %j: index):
      tensor.yield %value : f32
    } : tensor<4x5xf32> to tensor<4x8xf32>
    xfuse.yield %r : tensor<4x8xf32>
  }
  func.return %r0 : tensor<4x8xf32>
}

// Pad, reflected

// RECIPE-LABEL: xfuse.recipe @pad_reflect(
// RECIPE:        math.absi
// RECIPE:        math.absi
// RECIPE:        tensor.extract
// CHECK-LABEL: func.func @pad_reflect
// CHECK:         math.absi
// CHECK:         math.absi
// CHECK:         tensor.extract
func.func @pad_reflect(%x0: tensor<4x5xf32>) -> tensor<4x8xf32> {
  %r0 = xfuse.fused @pad_reflect (%x = %x0 : tensor<4x5xf32>) -> tensor<4x8xf32> {
    %empty = tensor.empty() : tensor<4x8xf32>
    %low = arith.constant 1 : index
    %last = arith.constant 4 : index
    %r = linalg.generic {indexing_maps = [#rows], iterator_types = ["parallel", "parallel"]} outs(%empty : tensor<4x8xf32>) {
    ^bb0(%unread: f32):
      %i = linalg.index 0 : index
      %m = linalg.index 1 : index
      %j = arith.subi %m, %low : index
      %from_low = math.absi %j : index
      %k = arith.subi %last, %from_low : index
      %from_high = math.absi %k : index
      %at = arith.subi %last, %from_high : index
      %v = tensor.extract %x[%i, %at] : tensor<4x5xf32>
      linalg.yield %v : f32
    } -> tensor<4x8xf32>
    xfuse.yield %r : tensor<4x8xf32>
  }
  func.return %r0 : tensor<4x8xf32>
}

// Pad, replicated

// RECIPE-LABEL: xfuse.recipe @pad_replicate(
// RECIPE:        arith.maxsi
// RECIPE:        arith.minsi
// RECIPE:        tensor.extract
// CHECK-LABEL: func.func @pad_replicate
// CHECK:         arith.maxsi
// CHECK:         arith.minsi
// CHECK:         tensor.extract
func.func @pad_replicate(%x0: tensor<4x5xf32>) -> tensor<4x8xf32> {
  %r0 = xfuse.fused @pad_replicate (%x = %x0 : tensor<4x5xf32>) -> tensor<4x8xf32> {
    %empty = tensor.empty() : tensor<4x8xf32>
    %low = arith.constant 1 : index
    %last = arith.constant 4 : index
    %zero = arith.constant 0 : index
    %r = linalg.generic {indexing_maps = [#rows], iterator_types = ["parallel", "parallel"]} outs(%empty : tensor<4x8xf32>) {
    ^bb0(%unread: f32):
      %i = linalg.index 0 : index
      %m = linalg.index 1 : index
      %j = arith.subi %m, %low : index
      %k = arith.maxsi %j, %zero : index
      %at = arith.minsi %k, %last : index
      %v = tensor.extract %x[%i, %at] : tensor<4x5xf32>
      linalg.yield %v : f32
    } -> tensor<4x8xf32>
    xfuse.yield %r : tensor<4x8xf32>
  }
  func.return %r0 : tensor<4x8xf32>
}
