// Indexing: the spellings verify and print to what reads back; instances, here on matrices and at known extents,
// decompose to plain ops that real mlir-opt takes.

// RUN: xdsl-opt -f xfuse-mlir %S/../../xfuse/primitives/vocabulary/indexing.mlir | xdsl-opt -f xfuse-mlir | filecheck %s --check-prefix=RECIPE
// RUN: xdsl-opt -f xfuse-mlir %s | xdsl-opt -f xfuse-mlir -p xfuse-decompose | %mlir-opt | filecheck %s
// REQUIRES: mlir-opt

#line = affine_map<(i) -> (i)>
#rows = affine_map<(i, j) -> (i, j)>
#row = affine_map<(i, j) -> (i)>
#box = affine_map<(i, j, k) -> (i, j, k)>

// Iota: the length is a constant

// RECIPE-LABEL: xfuse.recipe @iota(
// RECIPE:        linalg.index
// RECIPE:        arith.sitofp
// CHECK-LABEL: func.func @iota
// CHECK:         linalg.index 0
// CHECK:         arith.sitofp
func.func @iota() -> tensor<?xf32> {
  %n0 = arith.constant 8 : index
  %r0 = xfuse.fused @iota (%n = %n0 : index) -> tensor<?xf32> {
    %empty = tensor.empty(%n) : tensor<?xf32>
    %r = linalg.generic {indexing_maps = [#line], iterator_types = ["parallel"]} outs(%empty : tensor<?xf32>) {
    ^bb0(%unread: f32):
      %i = linalg.index 0 : index
      %j = arith.index_cast %i : index to i64
      %v = arith.sitofp %j : i64 to f32
      linalg.yield %v : f32
    } -> tensor<?xf32>
    xfuse.yield %r : tensor<?xf32>
  }
  func.return %r0 : tensor<?xf32>
}

// Flip, along axis 0

// RECIPE-LABEL: xfuse.recipe @flip(
// RECIPE:        arith.subi
// RECIPE:        tensor.extract
// CHECK-LABEL: func.func @flip
// CHECK:         arith.subi
// CHECK:         tensor.extract
func.func @flip(%x0: tensor<4x5xf32>) -> tensor<4x5xf32> {
  %r0 = xfuse.fused @flip (%x = %x0 : tensor<4x5xf32>) -> tensor<4x5xf32> {
    %empty = tensor.empty() : tensor<4x5xf32>
    %last = arith.constant 3 : index
    %r = linalg.generic {indexing_maps = [#rows], iterator_types = ["parallel", "parallel"]} outs(%empty : tensor<4x5xf32>) {
    ^bb0(%unread: f32):
      %i = linalg.index 0 : index
      %j = linalg.index 1 : index
      %at = arith.subi %last, %i : index
      %v = tensor.extract %x[%at, %j] : tensor<4x5xf32>
      linalg.yield %v : f32
    } -> tensor<4x5xf32>
    xfuse.yield %r : tensor<4x5xf32>
  }
  func.return %r0 : tensor<4x5xf32>
}

// Roll, along axis 1

// RECIPE-LABEL: xfuse.recipe @roll(
// RECIPE:        arith.remsi
// RECIPE:        arith.remsi
// RECIPE:        tensor.extract
// CHECK-LABEL: func.func @roll
// CHECK:         arith.remsi
// CHECK:         arith.remsi
// CHECK:         tensor.extract
func.func @roll(%x0: tensor<4x5xf32>) -> tensor<4x5xf32> {
  %r0 = xfuse.fused @roll (%x = %x0 : tensor<4x5xf32>) -> tensor<4x5xf32> {
    %empty = tensor.empty() : tensor<4x5xf32>
    %shift = arith.constant 3 : index
    %n = arith.constant 5 : index
    %r = linalg.generic {indexing_maps = [#rows], iterator_types = ["parallel", "parallel"]} outs(%empty : tensor<4x5xf32>) {
    ^bb0(%unread: f32):
      %i = linalg.index 0 : index
      %j = linalg.index 1 : index
      %a = arith.subi %j, %shift : index
      %k = arith.remsi %a, %n : index
      %l = arith.addi %k, %n : index
      %at = arith.remsi %l, %n : index
      %v = tensor.extract %x[%i, %at] : tensor<4x5xf32>
      linalg.yield %v : f32
    } -> tensor<4x5xf32>
    xfuse.yield %r : tensor<4x5xf32>
  }
  func.return %r0 : tensor<4x5xf32>
}

// Triu, of a batch of matrices

// RECIPE-LABEL: xfuse.recipe @triu(
// RECIPE:        arith.cmpi
// RECIPE:        arith.select
// CHECK-LABEL: func.func @triu
// CHECK:         arith.cmpi sge
// CHECK:         arith.select
func.func @triu(%x0: tensor<2x4x5xf32>) -> tensor<2x4x5xf32> {
  %r0 = xfuse.fused @triu (%x = %x0 : tensor<2x4x5xf32>) -> tensor<2x4x5xf32> {
    %empty = tensor.empty() : tensor<2x4x5xf32>
    %diagonal = arith.constant 1 : index
    %zero = arith.constant 0.0 : f32
    %r = linalg.generic {indexing_maps = [#box, #box], iterator_types = ["parallel", "parallel", "parallel"]}
        ins(%x : tensor<2x4x5xf32>) outs(%empty : tensor<2x4x5xf32>) {
    ^bb0(%a: f32, %unread: f32):
      %i = linalg.index 1 : index
      %j = linalg.index 2 : index
      %right = arith.subi %j, %i : index
      %keep = arith.cmpi sge, %right, %diagonal : index
      %v = arith.select %keep, %a, %zero : f32
      linalg.yield %v : f32
    } -> tensor<2x4x5xf32>
    xfuse.yield %r : tensor<2x4x5xf32>
  }
  func.return %r0 : tensor<2x4x5xf32>
}

// Tril

// RECIPE-LABEL: xfuse.recipe @tril(
// RECIPE:        arith.cmpi
// RECIPE:        arith.select
// CHECK-LABEL: func.func @tril
// CHECK:         arith.cmpi sle
// CHECK:         arith.select
func.func @tril(%x0: tensor<2x4x5xf32>) -> tensor<2x4x5xf32> {
  %r0 = xfuse.fused @tril (%x = %x0 : tensor<2x4x5xf32>) -> tensor<2x4x5xf32> {
    %empty = tensor.empty() : tensor<2x4x5xf32>
    %diagonal = arith.constant 1 : index
    %zero = arith.constant 0.0 : f32
    %r = linalg.generic {indexing_maps = [#box, #box], iterator_types = ["parallel", "parallel", "parallel"]}
        ins(%x : tensor<2x4x5xf32>) outs(%empty : tensor<2x4x5xf32>) {
    ^bb0(%a: f32, %unread: f32):
      %i = linalg.index 1 : index
      %j = linalg.index 2 : index
      %right = arith.subi %j, %i : index
      %keep = arith.cmpi sle, %right, %diagonal : index
      %v = arith.select %keep, %a, %zero : f32
      linalg.yield %v : f32
    } -> tensor<2x4x5xf32>
    xfuse.yield %r : tensor<2x4x5xf32>
  }
  func.return %r0 : tensor<2x4x5xf32>
}

// IndexSelect, along axis 0

// RECIPE-LABEL: xfuse.recipe @index_select(
// RECIPE:        arith.index_cast
// RECIPE:        tensor.extract
// CHECK-LABEL: func.func @index_select
// CHECK:         arith.index_cast
// CHECK:         tensor.extract
func.func @index_select(%x0: tensor<4x5xf32>, %i0: tensor<3xi64>) -> tensor<3x5xf32> {
  %r0 = xfuse.fused @index_select (%x = %x0 : tensor<4x5xf32>, %i = %i0 : tensor<3xi64>) -> tensor<3x5xf32> {
    %empty = tensor.empty() : tensor<3x5xf32>
    %r = linalg.generic {indexing_maps = [#row, #rows], iterator_types = ["parallel", "parallel"]}
        ins(%i : tensor<3xi64>) outs(%empty : tensor<3x5xf32>) {
    ^bb0(%place: i64, %unread: f32):
      %j = linalg.index 1 : index
      %at = arith.index_cast %place : i64 to index
      %v = tensor.extract %x[%at, %j] : tensor<4x5xf32>
      linalg.yield %v : f32
    } -> tensor<3x5xf32>
    xfuse.yield %r : tensor<3x5xf32>
  }
  func.return %r0 : tensor<3x5xf32>
}

// Gather, along axis 0

// RECIPE-LABEL: xfuse.recipe @gather(
// RECIPE:        arith.index_cast
// RECIPE:        tensor.extract
// CHECK-LABEL: func.func @gather
// CHECK:         arith.index_cast
// CHECK:         tensor.extract
func.func @gather(%x0: tensor<4x5xf32>, %i0: tensor<3x5xi64>) -> tensor<3x5xf32> {
  %r0 = xfuse.fused @gather (%x = %x0 : tensor<4x5xf32>, %i = %i0 : tensor<3x5xi64>) -> tensor<3x5xf32> {
    %empty = tensor.empty() : tensor<3x5xf32>
    %r = linalg.generic {indexing_maps = [#rows, #rows], iterator_types = ["parallel", "parallel"]}
        ins(%i : tensor<3x5xi64>) outs(%empty : tensor<3x5xf32>) {
    ^bb0(%place: i64, %unread: f32):
      %j = linalg.index 1 : index
      %at = arith.index_cast %place : i64 to index
      %v = tensor.extract %x[%at, %j] : tensor<4x5xf32>
      linalg.yield %v : f32
    } -> tensor<3x5xf32>
    xfuse.yield %r : tensor<3x5xf32>
  }
  func.return %r0 : tensor<3x5xf32>
}

// IndexAdd ScatterAdd

// RECIPE-LABEL: xfuse.recipe @index_add(
// RECIPE:        scf.for
// RECIPE:        tensor.insert
// CHECK-LABEL: func.func @index_add(
// CHECK:         scf.for
// CHECK:         tensor.extract
// CHECK:         tensor.extract
// CHECK:         tensor.extract
// CHECK:         arith.addf
// CHECK:         tensor.insert
func.func @index_add(%arg0: tensor<?xf32>, %arg1: tensor<?xi64>, %arg2: tensor<?xf32>) -> tensor<?xf32> {
  %out = xfuse.fused @index_add (%x = %arg0 : tensor<?xf32>, %i = %arg1 : tensor<?xi64>, %y = %arg2 : tensor<?xf32>) -> tensor<?xf32> {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %count = tensor.dim %i, %c0 : tensor<?xi64>
    %r = scf.for %k = %c0 to %count step %c1 iter_args(%t = %x) -> (tensor<?xf32>) {
      %where = tensor.extract %i[%k] : tensor<?xi64>
      %at = arith.index_cast %where : i64 to index
      %old = tensor.extract %t[%at] : tensor<?xf32>
      %update = tensor.extract %y[%k] : tensor<?xf32>
      %new = arith.addf %old, %update : f32
      %next = tensor.insert %new into %t[%at] : tensor<?xf32>
      scf.yield %next : tensor<?xf32>
    }
    xfuse.yield %r : tensor<?xf32>
  }
  func.return %out : tensor<?xf32>
}
