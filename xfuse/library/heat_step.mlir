// heat_step(u, rate) = u + rate laplacian(u) at the inner elements of a matrix, u at its edge
//
// (n,m),()->(n,m). An explicit step of the 2-D heat equation; rate is the diffusivity times the time step over the
// square of the mesh.
//
// @heat_step               textbook: neighbours read at clamped places, the edge kept by select
// @heat_step_inner         the inner elements only, read at five places, (n,m),()->(k,p)
// @heat_step_inner_slices  JAX and NumPy, the same from five slices
// @heat_step_jax           JAX (`u + jnp.pad(diffusivity * time * laplacian(u), 1)`), of slices, (n,m),(),()->(n,m)
// @heat_step_padded        JAX (`u + jnp.pad(rate * laplacian(u), 1)`), of slices
// @heat_step_periodic      periodic: neighbours of the edge are at the other side
#matrix = affine_map<(m, n) -> (m, n)>

xfuse.library @heat_step {
  xfuse.recipe @heat_step(
      %u: tensor<?x?xf64>, %rate: f64
  ) -> tensor<?x?xf64> attributes {element_types = [f16, bf16, f32, f64]} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %m = tensor.dim %u, %c0 : tensor<?x?xf64>
    %n = tensor.dim %u, %c1 : tensor<?x?xf64>
    %m_last = arith.subi %m, %c1 : index
    %n_last = arith.subi %n, %c1 : index
    %four = arith.constant 4.0 : f64
    %empty = tensor.empty(%m, %n) : tensor<?x?xf64>
    %result = linalg.generic {indexing_maps = [#matrix, #matrix], iterator_types = ["parallel", "parallel"]}
        ins(%u : tensor<?x?xf64>) outs(%empty : tensor<?x?xf64>) {
    ^bb0(%c: f64, %out: f64):
      %i = linalg.index 0 : index
      %j = linalg.index 1 : index
      %i_less = arith.subi %i, %c1 : index
      %i_more = arith.addi %i, %c1 : index
      %j_less = arith.subi %j, %c1 : index
      %j_more = arith.addi %j, %c1 : index
      %i_up = arith.maxsi %i_less, %c0 : index
      %i_down = arith.minsi %i_more, %m_last : index
      %j_left = arith.maxsi %j_less, %c0 : index
      %j_right = arith.minsi %j_more, %n_last : index
      %a = tensor.extract %u[%i_up, %j] : tensor<?x?xf64>
      %b = tensor.extract %u[%i_down, %j] : tensor<?x?xf64>
      %l = tensor.extract %u[%i, %j_left] : tensor<?x?xf64>
      %r = tensor.extract %u[%i, %j_right] : tensor<?x?xf64>
      %vertical = arith.addf %a, %b : f64
      %three = arith.addf %vertical, %l : f64
      %neighbours = arith.addf %three, %r : f64
      %own = arith.mulf %four, %c : f64
      %laplacian = arith.subf %neighbours, %own : f64
      %change = arith.mulf %rate, %laplacian : f64
      %moved = arith.addf %c, %change : f64
      %not_first = arith.cmpi sge, %i_less, %c0 : index
      %not_last = arith.cmpi sle, %i_more, %m_last : index
      %not_leftmost = arith.cmpi sge, %j_less, %c0 : index
      %not_rightmost = arith.cmpi sle, %j_more, %n_last : index
      %inner_row = arith.andi %not_first, %not_last : i1
      %inner_column = arith.andi %not_leftmost, %not_rightmost : i1
      %inner = arith.andi %inner_row, %inner_column : i1
      %kept = arith.select %inner, %moved, %c : f64
      linalg.yield %kept : f64
    } -> tensor<?x?xf64>
    xfuse.yield %result : tensor<?x?xf64>
  }

  xfuse.recipe @heat_step_inner(
      %u: tensor<?x?xf64>, %rate: f64
  ) -> tensor<?x?xf64> attributes {element_types = [f16, bf16, f32, f64]} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %m = tensor.dim %u, %c0 : tensor<?x?xf64>
    %n = tensor.dim %u, %c1 : tensor<?x?xf64>
    %rows = arith.subi %m, %c2 : index
    %columns = arith.subi %n, %c2 : index
    %four = arith.constant 4.0 : f64
    %empty = tensor.empty(%rows, %columns) : tensor<?x?xf64>
    %result = linalg.generic {indexing_maps = [#matrix], iterator_types = ["parallel", "parallel"]}
        outs(%empty : tensor<?x?xf64>) {
    ^bb0(%out: f64):
      %i = linalg.index 0 : index
      %j = linalg.index 1 : index
      %i_middle = arith.addi %i, %c1 : index
      %i_down = arith.addi %i, %c2 : index
      %j_middle = arith.addi %j, %c1 : index
      %j_right = arith.addi %j, %c2 : index
      %a = tensor.extract %u[%i, %j_middle] : tensor<?x?xf64>
      %b = tensor.extract %u[%i_down, %j_middle] : tensor<?x?xf64>
      %l = tensor.extract %u[%i_middle, %j] : tensor<?x?xf64>
      %r = tensor.extract %u[%i_middle, %j_right] : tensor<?x?xf64>
      %c = tensor.extract %u[%i_middle, %j_middle] : tensor<?x?xf64>
      %vertical = arith.addf %a, %b : f64
      %three = arith.addf %vertical, %l : f64
      %neighbours = arith.addf %three, %r : f64
      %own = arith.mulf %four, %c : f64
      %laplacian = arith.subf %neighbours, %own : f64
      %change = arith.mulf %rate, %laplacian : f64
      %moved = arith.addf %c, %change : f64
      linalg.yield %moved : f64
    } -> tensor<?x?xf64>
    xfuse.yield %result : tensor<?x?xf64>
  }

  xfuse.recipe @heat_step_inner_slices(
      %u: tensor<?x?xf64>, %rate: f64
  ) -> tensor<?x?xf64> attributes {element_types = [f16, bf16, f32, f64]} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %m = tensor.dim %u, %c0 : tensor<?x?xf64>
    %n = tensor.dim %u, %c1 : tensor<?x?xf64>
    %rows = arith.subi %m, %c2 : index
    %columns = arith.subi %n, %c2 : index
    %above = tensor.extract_slice %u[0, 1] [%rows, %columns] [1, 1] : tensor<?x?xf64> to tensor<?x?xf64>
    %below = tensor.extract_slice %u[2, 1] [%rows, %columns] [1, 1] : tensor<?x?xf64> to tensor<?x?xf64>
    %left = tensor.extract_slice %u[1, 0] [%rows, %columns] [1, 1] : tensor<?x?xf64> to tensor<?x?xf64>
    %right = tensor.extract_slice %u[1, 2] [%rows, %columns] [1, 1] : tensor<?x?xf64> to tensor<?x?xf64>
    %middle = tensor.extract_slice %u[1, 1] [%rows, %columns] [1, 1] : tensor<?x?xf64> to tensor<?x?xf64>
    %four = arith.constant 4.0 : f64
    %empty = tensor.empty(%rows, %columns) : tensor<?x?xf64>
    %result = linalg.generic {indexing_maps = [#matrix, #matrix, #matrix, #matrix, #matrix, #matrix],
        iterator_types = ["parallel", "parallel"]}
        ins(%above, %below, %left, %right, %middle :
            tensor<?x?xf64>, tensor<?x?xf64>, tensor<?x?xf64>, tensor<?x?xf64>, tensor<?x?xf64>)
        outs(%empty : tensor<?x?xf64>) {
    ^bb0(%a: f64, %b: f64, %l: f64, %r: f64, %c: f64, %out: f64):
      %vertical = arith.addf %a, %b : f64
      %three = arith.addf %vertical, %l : f64
      %neighbours = arith.addf %three, %r : f64
      %own = arith.mulf %four, %c : f64
      %laplacian = arith.subf %neighbours, %own : f64
      %change = arith.mulf %rate, %laplacian : f64
      %moved = arith.addf %c, %change : f64
      linalg.yield %moved : f64
    } -> tensor<?x?xf64>
    xfuse.yield %result : tensor<?x?xf64>
  }

  xfuse.recipe @heat_step_jax(
      %u: tensor<?x?xf64>, %diffusivity: f64, %time: f64
  ) -> tensor<?x?xf64> attributes {element_types = [f16, bf16, f32, f64]} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %m = tensor.dim %u, %c0 : tensor<?x?xf64>
    %n = tensor.dim %u, %c1 : tensor<?x?xf64>
    %rows = arith.subi %m, %c2 : index
    %columns = arith.subi %n, %c2 : index
    %rate = arith.mulf %diffusivity, %time : f64
    %above = tensor.extract_slice %u[0, 1] [%rows, %columns] [1, 1] : tensor<?x?xf64> to tensor<?x?xf64>
    %below = tensor.extract_slice %u[2, 1] [%rows, %columns] [1, 1] : tensor<?x?xf64> to tensor<?x?xf64>
    %left = tensor.extract_slice %u[1, 0] [%rows, %columns] [1, 1] : tensor<?x?xf64> to tensor<?x?xf64>
    %right = tensor.extract_slice %u[1, 2] [%rows, %columns] [1, 1] : tensor<?x?xf64> to tensor<?x?xf64>
    %middle = tensor.extract_slice %u[1, 1] [%rows, %columns] [1, 1] : tensor<?x?xf64> to tensor<?x?xf64>
    %four = arith.constant 4.0 : f64
    %inner = tensor.empty(%rows, %columns) : tensor<?x?xf64>
    %change = linalg.generic {indexing_maps = [#matrix, #matrix, #matrix, #matrix, #matrix, #matrix],
        iterator_types = ["parallel", "parallel"]}
        ins(%above, %below, %left, %right, %middle :
            tensor<?x?xf64>, tensor<?x?xf64>, tensor<?x?xf64>, tensor<?x?xf64>, tensor<?x?xf64>)
        outs(%inner : tensor<?x?xf64>) {
    ^bb0(%a: f64, %b: f64, %l: f64, %r: f64, %c: f64, %out: f64):
      %vertical = arith.addf %a, %b : f64
      %three = arith.addf %vertical, %l : f64
      %neighbours = arith.addf %three, %r : f64
      %own = arith.mulf %four, %c : f64
      %laplacian = arith.subf %neighbours, %own : f64
      %scaled = arith.mulf %rate, %laplacian : f64
      linalg.yield %scaled : f64
    } -> tensor<?x?xf64>
    %zero = arith.constant 0.0 : f64
    %padded = tensor.pad %change low[1, 1] high[1, 1] {
    ^bb0(%row: index, %column: index):
      tensor.yield %zero : f64
    } : tensor<?x?xf64> to tensor<?x?xf64>
    %empty = tensor.empty(%m, %n) : tensor<?x?xf64>
    %result = linalg.generic {indexing_maps = [#matrix, #matrix, #matrix], iterator_types = ["parallel", "parallel"]}
        ins(%u, %padded : tensor<?x?xf64>, tensor<?x?xf64>) outs(%empty : tensor<?x?xf64>) {
    ^bb0(%own: f64, %change_mn: f64, %out: f64):
      %moved = arith.addf %own, %change_mn : f64
      linalg.yield %moved : f64
    } -> tensor<?x?xf64>
    xfuse.yield %result : tensor<?x?xf64>
  }

  xfuse.recipe @heat_step_padded(
      %u: tensor<?x?xf64>, %rate: f64
  ) -> tensor<?x?xf64> attributes {element_types = [f16, bf16, f32, f64]} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %m = tensor.dim %u, %c0 : tensor<?x?xf64>
    %n = tensor.dim %u, %c1 : tensor<?x?xf64>
    %rows = arith.subi %m, %c2 : index
    %columns = arith.subi %n, %c2 : index
    %above = tensor.extract_slice %u[0, 1] [%rows, %columns] [1, 1] : tensor<?x?xf64> to tensor<?x?xf64>
    %below = tensor.extract_slice %u[2, 1] [%rows, %columns] [1, 1] : tensor<?x?xf64> to tensor<?x?xf64>
    %left = tensor.extract_slice %u[1, 0] [%rows, %columns] [1, 1] : tensor<?x?xf64> to tensor<?x?xf64>
    %right = tensor.extract_slice %u[1, 2] [%rows, %columns] [1, 1] : tensor<?x?xf64> to tensor<?x?xf64>
    %middle = tensor.extract_slice %u[1, 1] [%rows, %columns] [1, 1] : tensor<?x?xf64> to tensor<?x?xf64>
    %four = arith.constant 4.0 : f64
    %inner = tensor.empty(%rows, %columns) : tensor<?x?xf64>
    %change = linalg.generic {indexing_maps = [#matrix, #matrix, #matrix, #matrix, #matrix, #matrix],
        iterator_types = ["parallel", "parallel"]}
        ins(%above, %below, %left, %right, %middle :
            tensor<?x?xf64>, tensor<?x?xf64>, tensor<?x?xf64>, tensor<?x?xf64>, tensor<?x?xf64>)
        outs(%inner : tensor<?x?xf64>) {
    ^bb0(%a: f64, %b: f64, %l: f64, %r: f64, %c: f64, %out: f64):
      %vertical = arith.addf %a, %b : f64
      %three = arith.addf %vertical, %l : f64
      %neighbours = arith.addf %three, %r : f64
      %own = arith.mulf %four, %c : f64
      %laplacian = arith.subf %neighbours, %own : f64
      %scaled = arith.mulf %rate, %laplacian : f64
      linalg.yield %scaled : f64
    } -> tensor<?x?xf64>
    %zero = arith.constant 0.0 : f64
    %padded = tensor.pad %change low[1, 1] high[1, 1] {
    ^bb0(%row: index, %column: index):
      tensor.yield %zero : f64
    } : tensor<?x?xf64> to tensor<?x?xf64>
    %empty = tensor.empty(%m, %n) : tensor<?x?xf64>
    %result = linalg.generic {indexing_maps = [#matrix, #matrix, #matrix], iterator_types = ["parallel", "parallel"]}
        ins(%u, %padded : tensor<?x?xf64>, tensor<?x?xf64>) outs(%empty : tensor<?x?xf64>) {
    ^bb0(%own: f64, %change_mn: f64, %out: f64):
      %moved = arith.addf %own, %change_mn : f64
      linalg.yield %moved : f64
    } -> tensor<?x?xf64>
    xfuse.yield %result : tensor<?x?xf64>
  }

  xfuse.recipe @heat_step_periodic(
      %u: tensor<?x?xf64>, %rate: f64
  ) -> tensor<?x?xf64> attributes {element_types = [f16, bf16, f32, f64]} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %m = tensor.dim %u, %c0 : tensor<?x?xf64>
    %n = tensor.dim %u, %c1 : tensor<?x?xf64>
    %m_before = arith.subi %m, %c1 : index
    %n_before = arith.subi %n, %c1 : index
    %four = arith.constant 4.0 : f64
    %empty = tensor.empty(%m, %n) : tensor<?x?xf64>
    %result = linalg.generic {indexing_maps = [#matrix, #matrix], iterator_types = ["parallel", "parallel"]}
        ins(%u : tensor<?x?xf64>) outs(%empty : tensor<?x?xf64>) {
    ^bb0(%c: f64, %out: f64):
      %i = linalg.index 0 : index
      %j = linalg.index 1 : index
      %i_less = arith.addi %i, %m_before : index
      %i_more = arith.addi %i, %c1 : index
      %j_less = arith.addi %j, %n_before : index
      %j_more = arith.addi %j, %c1 : index
      %i_up = arith.remui %i_less, %m : index
      %i_down = arith.remui %i_more, %m : index
      %j_left = arith.remui %j_less, %n : index
      %j_right = arith.remui %j_more, %n : index
      %a = tensor.extract %u[%i_up, %j] : tensor<?x?xf64>
      %b = tensor.extract %u[%i_down, %j] : tensor<?x?xf64>
      %l = tensor.extract %u[%i, %j_left] : tensor<?x?xf64>
      %r = tensor.extract %u[%i, %j_right] : tensor<?x?xf64>
      %vertical = arith.addf %a, %b : f64
      %three = arith.addf %vertical, %l : f64
      %neighbours = arith.addf %three, %r : f64
      %own = arith.mulf %four, %c : f64
      %laplacian = arith.subf %neighbours, %own : f64
      %change = arith.mulf %rate, %laplacian : f64
      %moved = arith.addf %c, %change : f64
      linalg.yield %moved : f64
    } -> tensor<?x?xf64>
    xfuse.yield %result : tensor<?x?xf64>
  }
}
