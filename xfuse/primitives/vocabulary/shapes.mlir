// Shapes. Permutations, broadcasts and unit axes are views: how operands and results lie, and no part of a function.
// Slices, concatenations, padding and real reshapes are.
//
// @slice      start and length are literals; @slice_relative the second half, read off the extent
// @pad        by 1 before and 2 after; at the border values, reflected without the border (the extent is more than
//             either amount), or replicated
// @reshape    rows laid end to end; @reshape_split every two elements a row
#row = affine_map<(n) -> (n)>
#rows = affine_map<(m, n) -> (m, n)>
#each_row = affine_map<(m, n) -> (n)>
#columns = affine_map<(m, n) -> (n, m)>
#box = affine_map<(k, m, n) -> (k, m, n)>
#turned = affine_map<(k, m, n) -> (n, k, m)>

xfuse.library @shapes {
  xfuse.recipe @transpose(%x: tensor<?x?xf64>) -> tensor<?x?xf64> attributes {element_types = [f16, bf16, f32, f64]} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %m = tensor.dim %x, %c0 : tensor<?x?xf64>
    %n = tensor.dim %x, %c1 : tensor<?x?xf64>
    %empty = tensor.empty(%n, %m) : tensor<?x?xf64>
    %r = linalg.generic {indexing_maps = [#columns, #rows], iterator_types = ["parallel", "parallel"]}
        ins(%x : tensor<?x?xf64>) outs(%empty : tensor<?x?xf64>) {
    ^bb0(%a: f64, %unread: f64):
      linalg.yield %a : f64
    } -> tensor<?x?xf64>
    xfuse.yield %r : tensor<?x?xf64>
  }

  xfuse.recipe @permute(%x: tensor<?x?x?xf64>) -> tensor<?x?x?xf64> attributes {element_types = [f16, bf16, f32, f64]} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %k = tensor.dim %x, %c0 : tensor<?x?x?xf64>
    %m = tensor.dim %x, %c1 : tensor<?x?x?xf64>
    %n = tensor.dim %x, %c2 : tensor<?x?x?xf64>
    %empty = tensor.empty(%m, %n, %k) : tensor<?x?x?xf64>
    %r = linalg.generic {indexing_maps = [#turned, #box], iterator_types = ["parallel", "parallel", "parallel"]}
        ins(%x : tensor<?x?x?xf64>) outs(%empty : tensor<?x?x?xf64>) {
    ^bb0(%a: f64, %unread: f64):
      linalg.yield %a : f64
    } -> tensor<?x?x?xf64>
    xfuse.yield %r : tensor<?x?x?xf64>
  }

  xfuse.recipe @broadcast_to(%x: tensor<?xf64>) -> tensor<4x?xf64> attributes {element_types = [f16, bf16, f32, f64]} {
    %c0 = arith.constant 0 : index
    %n = tensor.dim %x, %c0 : tensor<?xf64>
    %empty = tensor.empty(%n) : tensor<4x?xf64>
    %r = linalg.generic {indexing_maps = [#each_row, #rows], iterator_types = ["parallel", "parallel"]}
        ins(%x : tensor<?xf64>) outs(%empty : tensor<4x?xf64>) {
    ^bb0(%a: f64, %unread: f64):
      linalg.yield %a : f64
    } -> tensor<4x?xf64>
    xfuse.yield %r : tensor<4x?xf64>
  }

  xfuse.recipe @unsqueeze(%x: tensor<?xf64>) -> tensor<1x?xf64> attributes {element_types = [f16, bf16, f32, f64]} {
    %c0 = arith.constant 0 : index
    %n = tensor.dim %x, %c0 : tensor<?xf64>
    %r = tensor.expand_shape %x [[0, 1]] output_shape [1, %n] : tensor<?xf64> into tensor<1x?xf64>
    xfuse.yield %r : tensor<1x?xf64>
  }

  xfuse.recipe @squeeze(%x: tensor<1x?xf64>) -> tensor<?xf64> attributes {element_types = [f16, bf16, f32, f64]} {
    %r = tensor.collapse_shape %x [[0, 1]] : tensor<1x?xf64> into tensor<?xf64>
    xfuse.yield %r : tensor<?xf64>
  }

  xfuse.recipe @reshape(%x: tensor<?x?xf64>) -> tensor<?xf64> attributes {element_types = [f16, bf16, f32, f64]} {
    %r = tensor.collapse_shape %x [[0, 1]] : tensor<?x?xf64> into tensor<?xf64>
    xfuse.yield %r : tensor<?xf64>
  }

  xfuse.recipe @reshape_split(%x: tensor<?xf64>) -> tensor<?x2xf64> attributes {element_types = [f16, bf16, f32, f64]} {
    %c0 = arith.constant 0 : index
    %c2 = arith.constant 2 : index
    %n = tensor.dim %x, %c0 : tensor<?xf64>
    %m = arith.divui %n, %c2 : index
    %r = tensor.expand_shape %x [[0, 1]] output_shape [%m, 2] : tensor<?xf64> into tensor<?x2xf64>
    xfuse.yield %r : tensor<?x2xf64>
  }

  xfuse.recipe @slice(%x: tensor<?xf64>) -> tensor<3xf64> attributes {element_types = [f16, bf16, f32, f64]} {
    %r = tensor.extract_slice %x[1] [3] [1] : tensor<?xf64> to tensor<3xf64>
    xfuse.yield %r : tensor<3xf64>
  }

  xfuse.recipe @slice_relative(%x: tensor<?xf64>) -> tensor<?xf64> attributes {element_types = [f16, bf16, f32, f64]} {
    %c0 = arith.constant 0 : index
    %c2 = arith.constant 2 : index
    %n = tensor.dim %x, %c0 : tensor<?xf64>
    %start = arith.divui %n, %c2 : index
    %length = arith.subi %n, %start : index
    %r = tensor.extract_slice %x[%start] [%length] [1] : tensor<?xf64> to tensor<?xf64>
    xfuse.yield %r : tensor<?xf64>
  }

  xfuse.recipe @concat(
      %x: tensor<?xf64>, %y: tensor<?xf64>
  ) -> tensor<?xf64> attributes {element_types = [f16, bf16, f32, f64]} {
    %r = tensor.concat dim(0) %x, %y : (tensor<?xf64>, tensor<?xf64>) -> tensor<?xf64>
    xfuse.yield %r : tensor<?xf64>
  }

  xfuse.recipe @pad(%x: tensor<?xf64>) -> tensor<?xf64> attributes {element_types = [f16, bf16, f32, f64]} {
    %value = arith.constant 0.0 : f64
    %r = tensor.pad %x low[1] high[2] {
    ^bb0(%i: index):
      tensor.yield %value : f64
    } : tensor<?xf64> to tensor<?xf64>
    xfuse.yield %r : tensor<?xf64>
  }

  xfuse.recipe @pad_reflect(%x: tensor<?xf64>) -> tensor<?xf64> attributes {element_types = [f16, bf16, f32, f64]} {
    %c0 = arith.constant 0 : index
    %low = arith.constant 1 : index
    %high = arith.constant 2 : index
    %one = arith.constant 1 : index
    %n = tensor.dim %x, %c0 : tensor<?xf64>
    %last = arith.subi %n, %one : index
    %more = arith.addi %n, %low : index
    %size = arith.addi %more, %high : index
    %empty = tensor.empty(%size) : tensor<?xf64>
    %r = linalg.generic {indexing_maps = [#row], iterator_types = ["parallel"]} outs(%empty : tensor<?xf64>) {
    ^bb0(%unread: f64):
      %i = linalg.index 0 : index
      %j = arith.subi %i, %low : index
      %from_low = math.absi %j : index
      %k = arith.subi %last, %from_low : index
      %from_high = math.absi %k : index
      %at = arith.subi %last, %from_high : index
      %v = tensor.extract %x[%at] : tensor<?xf64>
      linalg.yield %v : f64
    } -> tensor<?xf64>
    xfuse.yield %r : tensor<?xf64>
  }

  xfuse.recipe @pad_replicate(%x: tensor<?xf64>) -> tensor<?xf64> attributes {element_types = [f16, bf16, f32, f64]} {
    %c0 = arith.constant 0 : index
    %low = arith.constant 1 : index
    %high = arith.constant 2 : index
    %one = arith.constant 1 : index
    %n = tensor.dim %x, %c0 : tensor<?xf64>
    %last = arith.subi %n, %one : index
    %more = arith.addi %n, %low : index
    %size = arith.addi %more, %high : index
    %empty = tensor.empty(%size) : tensor<?xf64>
    %r = linalg.generic {indexing_maps = [#row], iterator_types = ["parallel"]} outs(%empty : tensor<?xf64>) {
    ^bb0(%unread: f64):
      %i = linalg.index 0 : index
      %j = arith.subi %i, %low : index
      %k = arith.maxsi %j, %c0 : index
      %at = arith.minsi %k, %last : index
      %v = tensor.extract %x[%at] : tensor<?xf64>
      linalg.yield %v : f64
    } -> tensor<?xf64>
    xfuse.yield %r : tensor<?xf64>
  }
}
