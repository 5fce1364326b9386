// Indexing: reading at computed places, and choosing by the place.
//
// @flip, @roll           read a captured row at an index; roll takes any shift, also one beyond the extent
// @triu, @tril           keep x[i, j] where j - i >= 1 and where j - i <= 1, zero elsewhere
// @index_select, @gather one element of a row at an index; along which axis of what is how operands lie
// @index_add             adds each update at its index, in order; @scatter_add is the same function
#row = affine_map<(n) -> (n)>
#rows = affine_map<(m, n) -> (m, n)>

xfuse.library @indexing {
  xfuse.recipe @iota(%n: index {xfuse.scalar}) -> tensor<?xf32> {
    %empty = tensor.empty(%n) : tensor<?xf32>
    %r = linalg.generic {indexing_maps = [#row], iterator_types = ["parallel"]} outs(%empty : tensor<?xf32>) {
    ^bb0(%unread: f32):
      %i = linalg.index 0 : index
      %j = arith.index_cast %i : index to i64
      %v = arith.sitofp %j : i64 to f32
      linalg.yield %v : f32
    } -> tensor<?xf32>
    xfuse.yield %r : tensor<?xf32>
  }

  xfuse.recipe @flip(%x: tensor<?xf64>) -> tensor<?xf64> attributes {element_types = [f16, bf16, f32, f64]} {
    %c0 = arith.constant 0 : index
    %one = arith.constant 1 : index
    %n = tensor.dim %x, %c0 : tensor<?xf64>
    %last = arith.subi %n, %one : index
    %empty = tensor.empty(%n) : tensor<?xf64>
    %r = linalg.generic {indexing_maps = [#row], iterator_types = ["parallel"]} outs(%empty : tensor<?xf64>) {
    ^bb0(%unread: f64):
      %i = linalg.index 0 : index
      %at = arith.subi %last, %i : index
      %v = tensor.extract %x[%at] : tensor<?xf64>
      linalg.yield %v : f64
    } -> tensor<?xf64>
    xfuse.yield %r : tensor<?xf64>
  }

  xfuse.recipe @roll(%x: tensor<?xf64>) -> tensor<?xf64> attributes {element_types = [f16, bf16, f32, f64]} {
    %c0 = arith.constant 0 : index
    %shift = arith.constant 3 : index
    %n = tensor.dim %x, %c0 : tensor<?xf64>
    %empty = tensor.empty(%n) : tensor<?xf64>
    %r = linalg.generic {indexing_maps = [#row], iterator_types = ["parallel"]} outs(%empty : tensor<?xf64>) {
    ^bb0(%unread: f64):
      %i = linalg.index 0 : index
      %j = arith.subi %i, %shift : index
      %k = arith.remsi %j, %n : index
      %l = arith.addi %k, %n : index
      %at = arith.remsi %l, %n : index
      %v = tensor.extract %x[%at] : tensor<?xf64>
      linalg.yield %v : f64
    } -> tensor<?xf64>
    xfuse.yield %r : tensor<?xf64>
  }

  xfuse.recipe @triu(%x: tensor<?x?xf64>) -> tensor<?x?xf64> attributes {element_types = [f16, bf16, f32, f64]} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %diagonal = arith.constant 1 : index
    %zero = arith.constant 0.0 : f64
    %m = tensor.dim %x, %c0 : tensor<?x?xf64>
    %n = tensor.dim %x, %c1 : tensor<?x?xf64>
    %empty = tensor.empty(%m, %n) : tensor<?x?xf64>
    %r = linalg.generic {indexing_maps = [#rows, #rows], iterator_types = ["parallel", "parallel"]}
        ins(%x : tensor<?x?xf64>) outs(%empty : tensor<?x?xf64>) {
    ^bb0(%a: f64, %unread: f64):
      %i = linalg.index 0 : index
      %j = linalg.index 1 : index
      %right = arith.subi %j, %i : index
      %keep = arith.cmpi sge, %right, %diagonal : index
      %v = arith.select %keep, %a, %zero : f64
      linalg.yield %v : f64
    } -> tensor<?x?xf64>
    xfuse.yield %r : tensor<?x?xf64>
  }

  xfuse.recipe @tril(%x: tensor<?x?xf64>) -> tensor<?x?xf64> attributes {element_types = [f16, bf16, f32, f64]} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %diagonal = arith.constant 1 : index
    %zero = arith.constant 0.0 : f64
    %m = tensor.dim %x, %c0 : tensor<?x?xf64>
    %n = tensor.dim %x, %c1 : tensor<?x?xf64>
    %empty = tensor.empty(%m, %n) : tensor<?x?xf64>
    %r = linalg.generic {indexing_maps = [#rows, #rows], iterator_types = ["parallel", "parallel"]}
        ins(%x : tensor<?x?xf64>) outs(%empty : tensor<?x?xf64>) {
    ^bb0(%a: f64, %unread: f64):
      %i = linalg.index 0 : index
      %j = linalg.index 1 : index
      %right = arith.subi %j, %i : index
      %keep = arith.cmpi sle, %right, %diagonal : index
      %v = arith.select %keep, %a, %zero : f64
      linalg.yield %v : f64
    } -> tensor<?x?xf64>
    xfuse.yield %r : tensor<?x?xf64>
  }

  xfuse.recipe @index_select(%x: tensor<?xf64>, %i: i64) -> f64 attributes {element_types = [f16, bf16, f32, f64]} {
    %at = arith.index_cast %i : i64 to index
    %r = tensor.extract %x[%at] : tensor<?xf64>
    xfuse.yield %r : f64
  }

  xfuse.recipe @gather(%x: tensor<?xf64>, %i: i64) -> f64 attributes {element_types = [f16, bf16, f32, f64]} {
    %at = arith.index_cast %i : i64 to index
    %r = tensor.extract %x[%at] : tensor<?xf64>
    xfuse.yield %r : f64
  }

  xfuse.recipe @index_add(
      %x: tensor<?xf64>, %i: tensor<?xi64>, %y: tensor<?xf64>
  ) -> tensor<?xf64> attributes {element_types = [f16, bf16, f32, f64]} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %count = tensor.dim %i, %c0 : tensor<?xi64>
    %r = scf.for %k = %c0 to %count step %c1 iter_args(%t = %x) -> (tensor<?xf64>) {
      %where = tensor.extract %i[%k] : tensor<?xi64>
      %at = arith.index_cast %where : i64 to index
      %old = tensor.extract %t[%at] : tensor<?xf64>
      %update = tensor.extract %y[%k] : tensor<?xf64>
      %new = arith.addf %old, %update : f64
      %next = tensor.insert %new into %t[%at] : tensor<?xf64>
      scf.yield %next : tensor<?xf64>
    }
    xfuse.yield %r : tensor<?xf64>
  }
}
