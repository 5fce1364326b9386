// Reductions over one core dimension, all others looping; of a whole array where the argument is flattened.
//
// @max_dim        a NaN wins; the maximum of nothing is minus infinity
// @reduce_sum_to  the reduced axis stays, of extent one, which is the same function
// @arg_max_dim    the first position of the maximum, or of a NaN; of nothing the extent, 0
// @mat_mul        a row times a column; rows and columns of the matrices are loop dimensions
#row = affine_map<(n) -> (n)>
#cell = affine_map<(n) -> ()>
#kept_row = affine_map<(k, n) -> (n)>
#kept_cell = affine_map<(k, n) -> (k)>

xfuse.library @reductions {
  xfuse.recipe @sum_all(%x: tensor<?xf64> {xfuse.flatten}) -> tensor<f64> attributes {element_types = [f32, f64]} {
    %start = arith.constant dense<0.0> : tensor<f64>
    %r = linalg.generic {indexing_maps = [#row, #cell], iterator_types = ["reduction"]}
        ins(%x : tensor<?xf64>) outs(%start : tensor<f64>) {
    ^bb0(%a: f64, %b: f64):
      %c = arith.addf %a, %b : f64
      linalg.yield %c : f64
    } -> tensor<f64>
    xfuse.yield %r : tensor<f64>
  }

  xfuse.recipe @max_all(
      %x: tensor<?xf64> {xfuse.flatten}
  ) -> tensor<f64> attributes {element_types = [f16, bf16, f32, f64]} {
    %start = arith.constant dense<0xFFF0000000000000> : tensor<f64>
    %r = linalg.generic {indexing_maps = [#row, #cell], iterator_types = ["reduction"]}
        ins(%x : tensor<?xf64>) outs(%start : tensor<f64>) {
    ^bb0(%a: f64, %b: f64):
      %c = arith.maximumf %a, %b : f64
      linalg.yield %c : f64
    } -> tensor<f64>
    xfuse.yield %r : tensor<f64>
  }

  xfuse.recipe @min_all(
      %x: tensor<?xf64> {xfuse.flatten}
  ) -> tensor<f64> attributes {element_types = [f16, bf16, f32, f64]} {
    %start = arith.constant dense<0x7FF0000000000000> : tensor<f64>
    %r = linalg.generic {indexing_maps = [#row, #cell], iterator_types = ["reduction"]}
        ins(%x : tensor<?xf64>) outs(%start : tensor<f64>) {
    ^bb0(%a: f64, %b: f64):
      %c = arith.minimumf %a, %b : f64
      linalg.yield %c : f64
    } -> tensor<f64>
    xfuse.yield %r : tensor<f64>
  }

  xfuse.recipe @mean_all(%x: tensor<?xf64> {xfuse.flatten}) -> f64 attributes {element_types = [f32, f64]} {
    %start = arith.constant dense<0.0> : tensor<f64>
    %r = linalg.generic {indexing_maps = [#row, #cell], iterator_types = ["reduction"]}
        ins(%x : tensor<?xf64>) outs(%start : tensor<f64>) {
    ^bb0(%a: f64, %b: f64):
      %c = arith.addf %a, %b : f64
      linalg.yield %c : f64
    } -> tensor<f64>
    %total = tensor.extract %r[] : tensor<f64>
    %c0 = arith.constant 0 : index
    %n = tensor.dim %x, %c0 : tensor<?xf64>
    %i = arith.index_cast %n : index to i64
    %count = arith.sitofp %i : i64 to f64
    %mean = arith.divf %total, %count : f64
    xfuse.yield %mean : f64
  }

  xfuse.recipe @sum_dim(%x: tensor<?xf64>) -> tensor<f64> attributes {element_types = [f32, f64]} {
    %start = arith.constant dense<0.0> : tensor<f64>
    %r = linalg.generic {indexing_maps = [#row, #cell], iterator_types = ["reduction"]}
        ins(%x : tensor<?xf64>) outs(%start : tensor<f64>) {
    ^bb0(%a: f64, %b: f64):
      %c = arith.addf %a, %b : f64
      linalg.yield %c : f64
    } -> tensor<f64>
    xfuse.yield %r : tensor<f64>
  }

  xfuse.recipe @max_dim(%x: tensor<?xf64>) -> tensor<f64> attributes {element_types = [f16, bf16, f32, f64]} {
    %start = arith.constant dense<0xFFF0000000000000> : tensor<f64>
    %r = linalg.generic {indexing_maps = [#row, #cell], iterator_types = ["reduction"]}
        ins(%x : tensor<?xf64>) outs(%start : tensor<f64>) {
    ^bb0(%a: f64, %b: f64):
      %c = arith.maximumf %a, %b : f64
      linalg.yield %c : f64
    } -> tensor<f64>
    xfuse.yield %r : tensor<f64>
  }

  xfuse.recipe @min_dim(%x: tensor<?xf64>) -> tensor<f64> attributes {element_types = [f16, bf16, f32, f64]} {
    %start = arith.constant dense<0x7FF0000000000000> : tensor<f64>
    %r = linalg.generic {indexing_maps = [#row, #cell], iterator_types = ["reduction"]}
        ins(%x : tensor<?xf64>) outs(%start : tensor<f64>) {
    ^bb0(%a: f64, %b: f64):
      %c = arith.minimumf %a, %b : f64
      linalg.yield %c : f64
    } -> tensor<f64>
    xfuse.yield %r : tensor<f64>
  }

  xfuse.recipe @mean_dim(%x: tensor<?xf64>) -> f64 attributes {element_types = [f32, f64]} {
    %start = arith.constant dense<0.0> : tensor<f64>
    %r = linalg.generic {indexing_maps = [#row, #cell], iterator_types = ["reduction"]}
        ins(%x : tensor<?xf64>) outs(%start : tensor<f64>) {
    ^bb0(%a: f64, %b: f64):
      %c = arith.addf %a, %b : f64
      linalg.yield %c : f64
    } -> tensor<f64>
    %total = tensor.extract %r[] : tensor<f64>
    %c0 = arith.constant 0 : index
    %n = tensor.dim %x, %c0 : tensor<?xf64>
    %i = arith.index_cast %n : index to i64
    %count = arith.sitofp %i : i64 to f64
    %mean = arith.divf %total, %count : f64
    xfuse.yield %mean : f64
  }

  xfuse.recipe @reduce_sum_to(%x: tensor<?xf64>) -> tensor<1xf64> attributes {element_types = [f32, f64]} {
    %start = arith.constant dense<0.0> : tensor<1xf64>
    %r = linalg.generic {indexing_maps = [#kept_row, #kept_cell], iterator_types = ["parallel", "reduction"]}
        ins(%x : tensor<?xf64>) outs(%start : tensor<1xf64>) {
    ^bb0(%a: f64, %b: f64):
      %c = arith.addf %a, %b : f64
      linalg.yield %c : f64
    } -> tensor<1xf64>
    xfuse.yield %r : tensor<1xf64>
  }

  xfuse.recipe @reduce_max_to(%x: tensor<?xf64>) -> tensor<1xf64> attributes {element_types = [f16, bf16, f32, f64]} {
    %start = arith.constant dense<0xFFF0000000000000> : tensor<1xf64>
    %r = linalg.generic {indexing_maps = [#kept_row, #kept_cell], iterator_types = ["parallel", "reduction"]}
        ins(%x : tensor<?xf64>) outs(%start : tensor<1xf64>) {
    ^bb0(%a: f64, %b: f64):
      %c = arith.maximumf %a, %b : f64
      linalg.yield %c : f64
    } -> tensor<1xf64>
    xfuse.yield %r : tensor<1xf64>
  }

  xfuse.recipe @arg_max_dim(%x: tensor<?xf64>) -> tensor<i64> attributes {element_types = [f16, bf16, f32, f64]} {
    %start = arith.constant dense<0xFFF0000000000000> : tensor<f64>
    %best = linalg.generic {indexing_maps = [#row, #cell], iterator_types = ["reduction"]}
        ins(%x : tensor<?xf64>) outs(%start : tensor<f64>) {
    ^bb0(%a: f64, %b: f64):
      %c = arith.maximumf %a, %b : f64
      linalg.yield %c : f64
    } -> tensor<f64>
    %c0 = arith.constant 0 : index
    %n = tensor.dim %x, %c0 : tensor<?xf64>
    %beyond = arith.index_cast %n : index to i64
    %last = tensor.from_elements %beyond : tensor<i64>
    %r = linalg.generic {indexing_maps = [#row, #cell, #cell], iterator_types = ["reduction"]}
        ins(%x, %best : tensor<?xf64>, tensor<f64>) outs(%last : tensor<i64>) {
    ^bb0(%a: f64, %b: f64, %first: i64):
      %i = linalg.index 0 : index
      %j = arith.index_cast %i : index to i64
      %equal = arith.cmpf oeq, %a, %b : f64
      %nan = arith.cmpf uno, %a, %a : f64
      %found = arith.ori %equal, %nan : i1
      %candidate = arith.select %found, %j, %beyond : i64
      %smaller = arith.minsi %candidate, %first : i64
      linalg.yield %smaller : i64
    } -> tensor<i64>
    xfuse.yield %r : tensor<i64>
  }

  xfuse.recipe @arg_min_dim(%x: tensor<?xf64>) -> tensor<i64> attributes {element_types = [f16, bf16, f32, f64]} {
    %start = arith.constant dense<0x7FF0000000000000> : tensor<f64>
    %best = linalg.generic {indexing_maps = [#row, #cell], iterator_types = ["reduction"]}
        ins(%x : tensor<?xf64>) outs(%start : tensor<f64>) {
    ^bb0(%a: f64, %b: f64):
      %c = arith.minimumf %a, %b : f64
      linalg.yield %c : f64
    } -> tensor<f64>
    %c0 = arith.constant 0 : index
    %n = tensor.dim %x, %c0 : tensor<?xf64>
    %beyond = arith.index_cast %n : index to i64
    %last = tensor.from_elements %beyond : tensor<i64>
    %r = linalg.generic {indexing_maps = [#row, #cell, #cell], iterator_types = ["reduction"]}
        ins(%x, %best : tensor<?xf64>, tensor<f64>) outs(%last : tensor<i64>) {
    ^bb0(%a: f64, %b: f64, %first: i64):
      %i = linalg.index 0 : index
      %j = arith.index_cast %i : index to i64
      %equal = arith.cmpf oeq, %a, %b : f64
      %nan = arith.cmpf uno, %a, %a : f64
      %found = arith.ori %equal, %nan : i1
      %candidate = arith.select %found, %j, %beyond : i64
      %smaller = arith.minsi %candidate, %first : i64
      linalg.yield %smaller : i64
    } -> tensor<i64>
    xfuse.yield %r : tensor<i64>
  }

  xfuse.recipe @mat_mul(%x: tensor<?xf64>, %y: tensor<?xf64>) -> tensor<f64> attributes {element_types = [f32, f64]} {
    %start = arith.constant dense<0.0> : tensor<f64>
    %r = linalg.generic {indexing_maps = [#row, #row, #cell], iterator_types = ["reduction"]}
        ins(%x, %y : tensor<?xf64>, tensor<?xf64>) outs(%start : tensor<f64>) {
    ^bb0(%a: f64, %b: f64, %sum: f64):
      %p = arith.mulf %a, %b : f64
      %s = arith.addf %sum, %p : f64
      linalg.yield %s : f64
    } -> tensor<f64>
    xfuse.yield %r : tensor<f64>
  }
}
