// clip_by_global_norm(x, limit) = x min(1, limit / norm), of norm = sqrt(sum(x^2))
//
// (n),()->(n). Pascanu, Mikolov and Bengio, "On the difficulty of training recurrent neural networks", arXiv:1211.5063.
//
// @clip_by_global_norm                 textbook, of a vector
// @clip_by_global_norm_epsilon         limit / (norm + epsilon)
// @clip_by_global_norm_matrix          of a matrix, (n,m),()->(n,m)
// @clip_by_global_norm_matrix_epsilon  of a matrix, limit / (norm + epsilon)
// @clip_by_global_norm_accumulating    textbook, at no narrower a type than f32
#row = affine_map<(n) -> (n)>
#cell = affine_map<(n) -> ()>
#matrix = affine_map<(m, n) -> (m, n)>
#whole = affine_map<(m, n) -> ()>

xfuse.library @clip_by_global_norm {
  xfuse.recipe @clip_by_global_norm(
      %x: tensor<?xf64>, %limit: f64
  ) -> tensor<?xf64> attributes {element_types = [f16, bf16, f32, f64]} {
    %zero = arith.constant 0.0 : f64
    %start = tensor.splat %zero : tensor<f64>
    %sum_cell = linalg.generic {indexing_maps = [#row, #cell], iterator_types = ["reduction"]}
        ins(%x : tensor<?xf64>) outs(%start : tensor<f64>) {
    ^bb0(%x_i: f64, %partial: f64):
      %product = arith.mulf %x_i, %x_i : f64
      %sum = arith.addf %partial, %product : f64
      linalg.yield %sum : f64
    } -> tensor<f64>
    %sum = tensor.extract %sum_cell[] : tensor<f64>
    %norm = math.sqrt %sum : f64
    %one = arith.constant 1.0 : f64
    %quotient = arith.divf %limit, %norm : f64
    %factor = arith.minimumf %quotient, %one : f64
    %c0 = arith.constant 0 : index
    %n = tensor.dim %x, %c0 : tensor<?xf64>
    %empty = tensor.empty(%n) : tensor<?xf64>
    %result = linalg.generic {indexing_maps = [#row, #row], iterator_types = ["parallel"]}
        ins(%x : tensor<?xf64>) outs(%empty : tensor<?xf64>) {
    ^bb0(%x_i: f64, %out: f64):
      %product = arith.mulf %x_i, %factor : f64
      linalg.yield %product : f64
    } -> tensor<?xf64>
    xfuse.yield %result : tensor<?xf64>
  }

  xfuse.recipe @clip_by_global_norm_epsilon(
      %x: tensor<?xf64>, %limit: f64, %epsilon: f64 {xfuse.scalar}
  ) -> tensor<?xf64> attributes {element_types = [f16, bf16, f32, f64]} {
    %zero = arith.constant 0.0 : f64
    %start = tensor.splat %zero : tensor<f64>
    %sum_cell = linalg.generic {indexing_maps = [#row, #cell], iterator_types = ["reduction"]}
        ins(%x : tensor<?xf64>) outs(%start : tensor<f64>) {
    ^bb0(%x_i: f64, %partial: f64):
      %product = arith.mulf %x_i, %x_i : f64
      %sum = arith.addf %partial, %product : f64
      linalg.yield %sum : f64
    } -> tensor<f64>
    %sum = tensor.extract %sum_cell[] : tensor<f64>
    %root = math.sqrt %sum : f64
    %norm = arith.addf %root, %epsilon : f64
    %one = arith.constant 1.0 : f64
    %quotient = arith.divf %limit, %norm : f64
    %factor = arith.minimumf %quotient, %one : f64
    %c0 = arith.constant 0 : index
    %n = tensor.dim %x, %c0 : tensor<?xf64>
    %empty = tensor.empty(%n) : tensor<?xf64>
    %result = linalg.generic {indexing_maps = [#row, #row], iterator_types = ["parallel"]}
        ins(%x : tensor<?xf64>) outs(%empty : tensor<?xf64>) {
    ^bb0(%x_i: f64, %out: f64):
      %product = arith.mulf %x_i, %factor : f64
      linalg.yield %product : f64
    } -> tensor<?xf64>
    xfuse.yield %result : tensor<?xf64>
  }

  xfuse.recipe @clip_by_global_norm_matrix(
      %x: tensor<?x?xf64>, %limit: f64
  ) -> tensor<?x?xf64> attributes {element_types = [f16, bf16, f32, f64]} {
    %zero = arith.constant 0.0 : f64
    %start = tensor.splat %zero : tensor<f64>
    %sum_cell = linalg.generic {indexing_maps = [#matrix, #whole], iterator_types = ["reduction", "reduction"]}
        ins(%x : tensor<?x?xf64>) outs(%start : tensor<f64>) {
    ^bb0(%x_ij: f64, %partial: f64):
      %product = arith.mulf %x_ij, %x_ij : f64
      %sum = arith.addf %partial, %product : f64
      linalg.yield %sum : f64
    } -> tensor<f64>
    %sum = tensor.extract %sum_cell[] : tensor<f64>
    %norm = math.sqrt %sum : f64
    %one = arith.constant 1.0 : f64
    %quotient = arith.divf %limit, %norm : f64
    %factor = arith.minimumf %quotient, %one : f64
    %c0 = arith.constant 0 : index
    %m = tensor.dim %x, %c0 : tensor<?x?xf64>
    %c1 = arith.constant 1 : index
    %n = tensor.dim %x, %c1 : tensor<?x?xf64>
    %empty = tensor.empty(%m, %n) : tensor<?x?xf64>
    %result = linalg.generic {indexing_maps = [#matrix, #matrix], iterator_types = ["parallel", "parallel"]}
        ins(%x : tensor<?x?xf64>) outs(%empty : tensor<?x?xf64>) {
    ^bb0(%x_ij: f64, %out: f64):
      %product = arith.mulf %x_ij, %factor : f64
      linalg.yield %product : f64
    } -> tensor<?x?xf64>
    xfuse.yield %result : tensor<?x?xf64>
  }

  xfuse.recipe @clip_by_global_norm_matrix_epsilon(
      %x: tensor<?x?xf64>, %limit: f64, %epsilon: f64 {xfuse.scalar}
  ) -> tensor<?x?xf64> attributes {element_types = [f16, bf16, f32, f64]} {
    %zero = arith.constant 0.0 : f64
    %start = tensor.splat %zero : tensor<f64>
    %sum_cell = linalg.generic {indexing_maps = [#matrix, #whole], iterator_types = ["reduction", "reduction"]}
        ins(%x : tensor<?x?xf64>) outs(%start : tensor<f64>) {
    ^bb0(%x_ij: f64, %partial: f64):
      %product = arith.mulf %x_ij, %x_ij : f64
      %sum = arith.addf %partial, %product : f64
      linalg.yield %sum : f64
    } -> tensor<f64>
    %sum = tensor.extract %sum_cell[] : tensor<f64>
    %root = math.sqrt %sum : f64
    %norm = arith.addf %root, %epsilon : f64
    %one = arith.constant 1.0 : f64
    %quotient = arith.divf %limit, %norm : f64
    %factor = arith.minimumf %quotient, %one : f64
    %c0 = arith.constant 0 : index
    %m = tensor.dim %x, %c0 : tensor<?x?xf64>
    %c1 = arith.constant 1 : index
    %n = tensor.dim %x, %c1 : tensor<?x?xf64>
    %empty = tensor.empty(%m, %n) : tensor<?x?xf64>
    %result = linalg.generic {indexing_maps = [#matrix, #matrix], iterator_types = ["parallel", "parallel"]}
        ins(%x : tensor<?x?xf64>) outs(%empty : tensor<?x?xf64>) {
    ^bb0(%x_ij: f64, %out: f64):
      %product = arith.mulf %x_ij, %factor : f64
      linalg.yield %product : f64
    } -> tensor<?x?xf64>
    xfuse.yield %result : tensor<?x?xf64>
  }

  xfuse.recipe @clip_by_global_norm_accumulating(
      %x: tensor<?xf64> {xfuse.accumulator = f32}, %limit: f64 {xfuse.accumulator = f32}
  ) -> tensor<?xf64> attributes {element_types = [f16, bf16, f32, f64]} {
    %zero = arith.constant 0.0 : f64
    %start = tensor.splat %zero : tensor<f64>
    %sum_cell = linalg.generic {indexing_maps = [#row, #cell], iterator_types = ["reduction"]}
        ins(%x : tensor<?xf64>) outs(%start : tensor<f64>) {
    ^bb0(%x_i: f64, %partial: f64):
      %product = arith.mulf %x_i, %x_i : f64
      %sum = arith.addf %partial, %product : f64
      linalg.yield %sum : f64
    } -> tensor<f64>
    %sum = tensor.extract %sum_cell[] : tensor<f64>
    %norm = math.sqrt %sum : f64
    %one = arith.constant 1.0 : f64
    %quotient = arith.divf %limit, %norm : f64
    %factor = arith.minimumf %quotient, %one : f64
    %c0 = arith.constant 0 : index
    %n = tensor.dim %x, %c0 : tensor<?xf64>
    %empty = tensor.empty(%n) : tensor<?xf64>
    %result = linalg.generic {indexing_maps = [#row, #row], iterator_types = ["parallel"]}
        ins(%x : tensor<?xf64>) outs(%empty : tensor<?xf64>) {
    ^bb0(%x_i: f64, %out: f64):
      %product = arith.mulf %x_i, %factor : f64
      linalg.yield %product : f64
    } -> tensor<?xf64>
    xfuse.yield %result : tensor<?xf64>
  }
}
