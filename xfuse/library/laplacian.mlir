// laplacian(u) = the sum of the four neighbours less 4 u, of the inner elements of a matrix
//
// (n,m)->(k,p), k = n - 2 and p = m - 2.
//
// @laplacian         textbook: one op that reads the matrix at five places
// @laplacian_slices  JAX and NumPy: u[:-2, 1:-1] + u[2:, 1:-1] + u[1:-1, :-2] + u[1:-1, 2:] - 4 u[1:-1, 1:-1]
#matrix = affine_map<(m, n) -> (m, n)>

xfuse.library @laplacian {
  xfuse.recipe @laplacian(%u: tensor<?x?xf64>) -> tensor<?x?xf64> attributes {element_types = [f16, bf16, f32, f64]} {
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
      linalg.yield %laplacian : f64
    } -> tensor<?x?xf64>
    xfuse.yield %result : tensor<?x?xf64>
  }

  xfuse.recipe @laplacian_slices(
      %u: tensor<?x?xf64>
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
      linalg.yield %laplacian : f64
    } -> tensor<?x?xf64>
    xfuse.yield %result : tensor<?x?xf64>
  }
}
