// Reductions: the spellings verify and print to what reads back; instances, here on matrices and at known extents,
// decompose to plain ops that real mlir-opt takes.

// RUN: xdsl-opt -f xfuse-mlir %S/../../xfuse/primitives/vocabulary/reductions.mlir | xdsl-opt -f xfuse-mlir | filecheck %s --check-prefix=RECIPE
// RUN: xdsl-opt -f xfuse-mlir %s | xdsl-opt -f xfuse-mlir -p xfuse-decompose | %mlir-opt | filecheck %s
// REQUIRES: mlir-opt

#rows = affine_map<(i, j) -> (i, j)>
#row = affine_map<(i, j) -> (i)>
#column = affine_map<(i, j) -> (j)>
#cell = affine_map<(i, j) -> ()>
#rows_kept = affine_map<(i, k, j) -> (i, j)>
#row_kept = affine_map<(i, k, j) -> (i, k)>
#left = affine_map<(i, j, k) -> (i, k)>
#right = affine_map<(i, j, k) -> (k, j)>
#product = affine_map<(i, j, k) -> (i, j)>
#line = affine_map<(i) -> (i)>

// SumAll

// RECIPE-LABEL: xfuse.recipe @sum_all(
// RECIPE:        reduction"]
// RECIPE:        arith.addf
// CHECK-LABEL: func.func @sum_all
// CHECK:         iterator_types = ["reduction", "reduction"]
// CHECK:         arith.addf
func.func @sum_all(%x0: tensor<4x5xf32>) -> tensor<f32> {
  %r0 = xfuse.fused @sum_all (%x = %x0 : tensor<4x5xf32>) -> tensor<f32> {
    %start = arith.constant dense<0.0> : tensor<f32>
    %r = linalg.generic {indexing_maps = [#rows, #cell], iterator_types = ["reduction", "reduction"]}
        ins(%x : tensor<4x5xf32>) outs(%start : tensor<f32>) {
    ^bb0(%a: f32, %b: f32):
      %c = arith.addf %a, %b : f32
      linalg.yield %c : f32
    } -> tensor<f32>
    xfuse.yield %r : tensor<f32>
  }
  func.return %r0 : tensor<f32>
}

// MaxAll

// RECIPE-LABEL: xfuse.recipe @max_all(
// RECIPE:        reduction"]
// RECIPE:        arith.maximumf
// CHECK-LABEL: func.func @max_all
// CHECK:         iterator_types = ["reduction", "reduction"]
// CHECK:         arith.maximumf
func.func @max_all(%x0: tensor<4x5xf32>) -> tensor<f32> {
  %r0 = xfuse.fused @max_all (%x = %x0 : tensor<4x5xf32>) -> tensor<f32> {
    %start = arith.constant dense<0xFF800000> : tensor<f32>
    %r = linalg.generic {indexing_maps = [#rows, #cell], iterator_types = ["reduction", "reduction"]}
        ins(%x : tensor<4x5xf32>) outs(%start : tensor<f32>) {
    ^bb0(%a: f32, %b: f32):
      %c = arith.maximumf %a, %b : f32
      linalg.yield %c : f32
    } -> tensor<f32>
    xfuse.yield %r : tensor<f32>
  }
  func.return %r0 : tensor<f32>
}

// MinAll

// RECIPE-LABEL: xfuse.recipe @min_all(
// RECIPE:        reduction"]
// RECIPE:        arith.minimumf
// CHECK-LABEL: func.func @min_all
// CHECK:         iterator_types = ["reduction", "reduction"]
// CHECK:         arith.minimumf
func.func @min_all(%x0: tensor<4x5xf32>) -> tensor<f32> {
  %r0 = xfuse.fused @min_all (%x = %x0 : tensor<4x5xf32>) -> tensor<f32> {
    %start = arith.constant dense<0x7F800000> : tensor<f32>
    %r = linalg.generic {indexing_maps = [#rows, #cell], iterator_types = ["reduction", "reduction"]}
        ins(%x : tensor<4x5xf32>) outs(%start : tensor<f32>) {
    ^bb0(%a: f32, %b: f32):
      %c = arith.minimumf %a, %b : f32
      linalg.yield %c : f32
    } -> tensor<f32>
    xfuse.yield %r : tensor<f32>
  }
  func.return %r0 : tensor<f32>
}

// MeanAll: the count is the literal that a compiler writes where it knows the extents

// RECIPE-LABEL: xfuse.recipe @mean_all(
// RECIPE:        reduction"]
// RECIPE:        arith.addf
// CHECK-LABEL: func.func @mean_all
// CHECK:         iterator_types = ["reduction", "reduction"]
// CHECK:         arith.addf
// CHECK:         arith.divf
func.func @mean_all(%x0: tensor<4x5xf32>) -> f32 {
  %r0 = xfuse.fused @mean_all (%x = %x0 : tensor<4x5xf32>) -> f32 {
    %start = arith.constant dense<0.0> : tensor<f32>
    %r = linalg.generic {indexing_maps = [#rows, #cell], iterator_types = ["reduction", "reduction"]}
        ins(%x : tensor<4x5xf32>) outs(%start : tensor<f32>) {
    ^bb0(%a: f32, %b: f32):
      %c = arith.addf %a, %b : f32
      linalg.yield %c : f32
    } -> tensor<f32>
    %total = tensor.extract %r[] : tensor<f32>
    %count = arith.constant 20.0 : f32
    %mean = arith.divf %total, %count : f32
    xfuse.yield %mean : f32
  }
  func.return %r0 : f32
}

// SumDim, along axis 0

// RECIPE-LABEL: xfuse.recipe @sum_dim(
// RECIPE:        reduction"]
// RECIPE:        arith.addf
// CHECK-LABEL: func.func @sum_dim
// CHECK:         iterator_types = ["reduction", "parallel"]
// CHECK:         arith.addf
func.func @sum_dim(%x0: tensor<4x5xf32>) -> tensor<5xf32> {
  %r0 = xfuse.fused @sum_dim (%x = %x0 : tensor<4x5xf32>) -> tensor<5xf32> {
    %start = arith.constant dense<0.0> : tensor<5xf32>
    %r = linalg.generic {indexing_maps = [#rows, #column], iterator_types = ["reduction", "parallel"]}
        ins(%x : tensor<4x5xf32>) outs(%start : tensor<5xf32>) {
    ^bb0(%a: f32, %b: f32):
      %c = arith.addf %a, %b : f32
      linalg.yield %c : f32
    } -> tensor<5xf32>
    xfuse.yield %r : tensor<5xf32>
  }
  func.return %r0 : tensor<5xf32>
}

// MaxDim, along axis 1

// RECIPE-LABEL: xfuse.recipe @max_dim(
// RECIPE:        reduction"]
// RECIPE:        arith.maximumf
// CHECK-LABEL: func.func @max_dim
// CHECK:         iterator_types = ["parallel", "reduction"]
// CHECK:         arith.maximumf
func.func @max_dim(%x0: tensor<4x5xf32>) -> tensor<4xf32> {
  %r0 = xfuse.fused @max_dim (%x = %x0 : tensor<4x5xf32>) -> tensor<4xf32> {
    %start = arith.constant dense<0xFF800000> : tensor<4xf32>
    %r = linalg.generic {indexing_maps = [#rows, #row], iterator_types = ["parallel", "reduction"]}
        ins(%x : tensor<4x5xf32>) outs(%start : tensor<4xf32>) {
    ^bb0(%a: f32, %b: f32):
      %c = arith.maximumf %a, %b : f32
      linalg.yield %c : f32
    } -> tensor<4xf32>
    xfuse.yield %r : tensor<4xf32>
  }
  func.return %r0 : tensor<4xf32>
}

// MinDim

// RECIPE-LABEL: xfuse.recipe @min_dim(
// RECIPE:        reduction"]
// RECIPE:        arith.minimumf
// CHECK-LABEL: func.func @min_dim
// CHECK:         iterator_types = ["parallel", "reduction"]
// CHECK:         arith.minimumf
func.func @min_dim(%x0: tensor<4x5xf32>) -> tensor<4xf32> {
  %r0 = xfuse.fused @min_dim (%x = %x0 : tensor<4x5xf32>) -> tensor<4xf32> {
    %start = arith.constant dense<0x7F800000> : tensor<4xf32>
    %r = linalg.generic {indexing_maps = [#rows, #row], iterator_types = ["parallel", "reduction"]}
        ins(%x : tensor<4x5xf32>) outs(%start : tensor<4xf32>) {
    ^bb0(%a: f32, %b: f32):
      %c = arith.minimumf %a, %b : f32
      linalg.yield %c : f32
    } -> tensor<4xf32>
    xfuse.yield %r : tensor<4xf32>
  }
  func.return %r0 : tensor<4xf32>
}

// MeanDim

// RECIPE-LABEL: xfuse.recipe @mean_dim(
// RECIPE:        reduction"]
// RECIPE:        arith.addf
// CHECK-LABEL: func.func @mean_dim
// CHECK:         iterator_types = ["parallel", "reduction"]
// CHECK:         arith.addf
// CHECK:         arith.divf
func.func @mean_dim(%x0: tensor<4x5xf32>) -> tensor<4xf32> {
  %r0 = xfuse.fused @mean_dim (%x = %x0 : tensor<4x5xf32>) -> tensor<4xf32> {
    %start = arith.constant dense<0.0> : tensor<4xf32>
    %r = linalg.generic {indexing_maps = [#rows, #row], iterator_types = ["parallel", "reduction"]}
        ins(%x : tensor<4x5xf32>) outs(%start : tensor<4xf32>) {
    ^bb0(%a: f32, %b: f32):
      %c = arith.addf %a, %b : f32
      linalg.yield %c : f32
    } -> tensor<4xf32>
    %count = arith.constant 5.0 : f32
    %empty = tensor.empty() : tensor<4xf32>
    %mean = linalg.generic {indexing_maps = [#line, #line], iterator_types = ["parallel"]}
        ins(%r : tensor<4xf32>) outs(%empty : tensor<4xf32>) {
    ^bb0(%a: f32, %unread: f32):
      %c = arith.divf %a, %count : f32
      linalg.yield %c : f32
    } -> tensor<4xf32>
    xfuse.yield %mean : tensor<4xf32>
  }
  func.return %r0 : tensor<4xf32>
}

// ReduceSumTo: the axis stays, of extent one

// RECIPE-LABEL: xfuse.recipe @reduce_sum_to(
// RECIPE:        reduction"]
// RECIPE:        arith.addf
// CHECK-LABEL: func.func @reduce_sum_to
// CHECK:         iterator_types = ["parallel", "parallel", "reduction"]
// CHECK:         arith.addf
func.func @reduce_sum_to(%x0: tensor<4x5xf32>) -> tensor<4x1xf32> {
  %r0 = xfuse.fused @reduce_sum_to (%x = %x0 : tensor<4x5xf32>) -> tensor<4x1xf32> {
    %start = arith.constant dense<0.0> : tensor<4x1xf32>
    %r = linalg.generic {indexing_maps = [#rows_kept, #row_kept], iterator_types = ["parallel", "parallel", "reduction"]}
        ins(%x : tensor<4x5xf32>) outs(%start : tensor<4x1xf32>) {
    ^bb0(%a: f32, %b: f32):
      %c = arith.addf %a, %b : f32
      linalg.yield %c : f32
    } -> tensor<4x1xf32>
    xfuse.yield %r : tensor<4x1xf32>
  }
  func.return %r0 : tensor<4x1xf32>
}

// ReduceMaxTo

// RECIPE-LABEL: xfuse.recipe @reduce_max_to(
// RECIPE:        reduction"]
// RECIPE:        arith.maximumf
// CHECK-LABEL: func.func @reduce_max_to
// CHECK:         iterator_types = ["parallel", "parallel", "reduction"]
// CHECK:         arith.maximumf
func.func @reduce_max_to(%x0: tensor<4x5xf32>) -> tensor<4x1xf32> {
  %r0 = xfuse.fused @reduce_max_to (%x = %x0 : tensor<4x5xf32>) -> tensor<4x1xf32> {
    %start = arith.constant dense<0xFF800000> : tensor<4x1xf32>
    %r = linalg.generic {indexing_maps = [#rows_kept, #row_kept], iterator_types = ["parallel", "parallel", "reduction"]}
        ins(%x : tensor<4x5xf32>) outs(%start : tensor<4x1xf32>) {
    ^bb0(%a: f32, %b: f32):
      %c = arith.maximumf %a, %b : f32
      linalg.yield %c : f32
    } -> tensor<4x1xf32>
    xfuse.yield %r : tensor<4x1xf32>
  }
  func.return %r0 : tensor<4x1xf32>
}

// ArgMaxDim: a reduction, a compare, a choice of places, a reduction

// RECIPE-LABEL: xfuse.recipe @arg_max_dim(
// RECIPE:        arith.maximumf
// RECIPE:        arith.cmpf oeq
// RECIPE:        arith.select
// RECIPE:        arith.minsi
// CHECK-LABEL: func.func @arg_max_dim
// CHECK:         arith.maximumf
// CHECK:         linalg.index 1
// CHECK:         arith.cmpf oeq
// CHECK:         arith.select
// CHECK:         arith.minsi
func.func @arg_max_dim(%x0: tensor<4x5xf32>) -> tensor<4xi64> {
  %r0 = xfuse.fused @arg_max_dim (%x = %x0 : tensor<4x5xf32>) -> tensor<4xi64> {
    %start = arith.constant dense<0xFF800000> : tensor<4xf32>
    %best = linalg.generic {indexing_maps = [#rows, #row], iterator_types = ["parallel", "reduction"]}
        ins(%x : tensor<4x5xf32>) outs(%start : tensor<4xf32>) {
    ^bb0(%a: f32, %b: f32):
      %c = arith.maximumf %a, %b : f32
      linalg.yield %c : f32
    } -> tensor<4xf32>
    %beyond = arith.constant 5 : i64
    %last = arith.constant dense<5> : tensor<4xi64>
    %r = linalg.generic {indexing_maps = [#rows, #row, #row], iterator_types = ["parallel", "reduction"]}
        ins(%x, %best : tensor<4x5xf32>, tensor<4xf32>) outs(%last : tensor<4xi64>) {
    ^bb0(%a: f32, %b: f32, %first: i64):
      %i = linalg.index 1 : index
      %j = arith.index_cast %i : index to i64
      %equal = arith.cmpf oeq, %a, %b : f32
      %nan = arith.cmpf uno, %a, %a : f32
      %found = arith.ori %equal, %nan : i1
      %candidate = arith.select %found, %j, %beyond : i64
      %smaller = arith.minsi %candidate, %first : i64
      linalg.yield %smaller : i64
    } -> tensor<4xi64>
    xfuse.yield %r : tensor<4xi64>
  }
  func.return %r0 : tensor<4xi64>
}

// ArgMinDim: a reduction, a compare, a choice of places, a reduction

// RECIPE-LABEL: xfuse.recipe @arg_min_dim(
// RECIPE:        arith.minimumf
// RECIPE:        arith.cmpf oeq
// RECIPE:        arith.select
// RECIPE:        arith.minsi
// CHECK-LABEL: func.func @arg_min_dim
// CHECK:         arith.minimumf
// CHECK:         linalg.index 1
// CHECK:         arith.cmpf oeq
// CHECK:         arith.select
// CHECK:         arith.minsi
func.func @arg_min_dim(%x0: tensor<4x5xf32>) -> tensor<4xi64> {
  %r0 = xfuse.fused @arg_min_dim (%x = %x0 : tensor<4x5xf32>) -> tensor<4xi64> {
    %start = arith.constant dense<0x7F800000> : tensor<4xf32>
    %best = linalg.generic {indexing_maps = [#rows, #row], iterator_types = ["parallel", "reduction"]}
        ins(%x : tensor<4x5xf32>) outs(%start : tensor<4xf32>) {
    ^bb0(%a: f32, %b: f32):
      %c = arith.minimumf %a, %b : f32
      linalg.yield %c : f32
    } -> tensor<4xf32>
    %beyond = arith.constant 5 : i64
    %last = arith.constant dense<5> : tensor<4xi64>
    %r = linalg.generic {indexing_maps = [#rows, #row, #row], iterator_types = ["parallel", "reduction"]}
        ins(%x, %best : tensor<4x5xf32>, tensor<4xf32>) outs(%last : tensor<4xi64>) {
    ^bb0(%a: f32, %b: f32, %first: i64):
      %i = linalg.index 1 : index
      %j = arith.index_cast %i : index to i64
      %equal = arith.cmpf oeq, %a, %b : f32
      %nan = arith.cmpf uno, %a, %a : f32
      %found = arith.ori %equal, %nan : i1
      %candidate = arith.select %found, %j, %beyond : i64
      %smaller = arith.minsi %candidate, %first : i64
      linalg.yield %smaller : i64
    } -> tensor<4xi64>
    xfuse.yield %r : tensor<4xi64>
  }
  func.return %r0 : tensor<4xi64>
}

// MatMul: of matrices, rows and columns are loop dimensions

// RECIPE-LABEL: xfuse.recipe @mat_mul(
// RECIPE:        arith.mulf
// RECIPE:        arith.addf
// CHECK-LABEL: func.func @mat_mul
// CHECK:         iterator_types = ["parallel", "parallel", "reduction"]
// CHECK:         arith.mulf
// CHECK:         arith.addf
func.func @mat_mul(%x0: tensor<4x5xf32>, %y0: tensor<5x3xf32>) -> tensor<4x3xf32> {
  %r0 = xfuse.fused @mat_mul (%x = %x0 : tensor<4x5xf32>, %y = %y0 : tensor<5x3xf32>) -> tensor<4x3xf32> {
    %start = arith.constant dense<0.0> : tensor<4x3xf32>
    %r = linalg.generic {indexing_maps = [#left, #right, #product], iterator_types = ["parallel", "parallel", "reduction"]}
        ins(%x, %y : tensor<4x5xf32>, tensor<5x3xf32>) outs(%start : tensor<4x3xf32>) {
    ^bb0(%a: f32, %b: f32, %sum: f32):
      %p = arith.mulf %a, %b : f32
      %s = arith.addf %sum, %p : f32
      linalg.yield %s : f32
    } -> tensor<4x3xf32>
    xfuse.yield %r : tensor<4x3xf32>
  }
  func.return %r0 : tensor<4x3xf32>
}
