// RUN: xdsl-opt -f xfuse-mlir %s -p xfuse-fuse --split-input-file --verify-diagnostics | filecheck %s

// Recipes of a module that verify and can never work. tests/test_validation.py registers each of them, too.

// No name.

xfuse.recipe @""(%x: f64) -> f64 {
  %r = math.exp %x : f64
  xfuse.yield %r : f64
}

// CHECK: {{^}}xfuse-fuse: a recipe needs a name; this one's is empty

// -----

// No arguments: an iota.

xfuse.recipe @r() -> tensor<4xindex> {
  %r = arith.constant dense<[0, 1, 2, 3]> : tensor<4xindex>
  xfuse.yield %r : tensor<4xindex>
}

// CHECK: {{^}}xfuse-fuse: recipe @r has no arguments; a constant is no recipe

// -----

// An argument of which nothing is read.

xfuse.recipe @r(%x: tensor<?x?xf64>, %e: tensor<?x?xf64>) -> tensor<?x?xf64> {
  %t = linalg.transpose ins(%x : tensor<?x?xf64>) outs(%e : tensor<?x?xf64>) permutation = [1, 0]
  xfuse.yield %t : tensor<?x?xf64>
}

// CHECK: {{^}}xfuse-fuse: recipe @r does not use its argument 1; drop it or use it

// -----

// A view of an argument.

xfuse.recipe @r(%x: tensor<?x1xf64>) -> tensor<?xf64> {
  %r = tensor.collapse_shape %x [[0, 1]] : tensor<?x1xf64> into tensor<?xf64>
  xfuse.yield %r : tensor<?xf64>
}

// CHECK: {{^}}xfuse-fuse: recipe @r gives one of its arguments back as result 0: nothing to fuse

// -----

// An argument of which only the extents count.

xfuse.recipe @r(%x: f64, %y: tensor<?xf64>) -> f64 {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %y, %c0 : tensor<?xf64>
  %k = arith.index_cast %n : index to i64
  %f = arith.sitofp %k : i64 to f64
  %r = arith.mulf %x, %f : f64
  xfuse.yield %r : f64
}

// CHECK: {{^}}xfuse-fuse: recipe @r uses only the extents of its argument 1; pass them as scalars, or use its values

// -----

// A result that is never written.

xfuse.recipe @r(%x: tensor<?xf64>) -> tensor<?xf64> {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %x, %c0 : tensor<?xf64>
  %e = tensor.empty(%n) : tensor<?xf64>
  xfuse.yield %e : tensor<?xf64>
}

// CHECK: {{^}}xfuse-fuse: recipe @r has no form: result 0 is a tensor that was never written

// -----

// Loop dimensions.

xfuse.recipe @r(%x: tensor<?xf64>, %y: tensor<?x?xf64>) -> tensor<?x?xf64> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %m = tensor.dim %y, %c0 : tensor<?x?xf64>
  %n = tensor.dim %y, %c1 : tensor<?x?xf64>
  %e = tensor.empty(%m, %n) : tensor<?x?xf64>
  %r = linalg.generic {indexing_maps = [affine_map<(i, j) -> (j)>, affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]}
      ins(%x, %y : tensor<?xf64>, tensor<?x?xf64>) outs(%e : tensor<?x?xf64>) {
  ^bb0(%a: f64, %b: f64, %c: f64):
    %s = arith.mulf %a, %b : f64
    linalg.yield %s : f64
  } -> tensor<?x?xf64>
  xfuse.yield %r : tensor<?x?xf64>
}

// CHECK: {{^}}xfuse-fuse: recipe @r has a loop dimension, axis 0 of argument 0; write it at its core rank, by its normal signature (),()->(): it loops over all other dimensions anyway

// -----

// A resource without a blob.

xfuse.recipe @r(%x: f64, %k: index) -> f64 {
  %c = arith.constant dense_resource<nosuch> : tensor<2xf64>
  %a = tensor.extract %c[%k] : tensor<2xf64>
  %r = arith.addf %a, %x : f64
  xfuse.yield %r : f64
}

// CHECK: {{^}}xfuse-fuse: recipe @r holds a constant without a value: constant refers to the resource 'nosuch', whose blob is not at hand

// -----

// An integer of a width that no type has.

xfuse.recipe @r(%x: i7) -> i7 {
  %r = arith.addi %x, %x : i7
  xfuse.yield %r : i7
}

// CHECK: {{^}}xfuse-fuse: recipe @r: 'arith.addi' expected I,I->I, got i7,i7->i7

// -----

// Element types of other widths.

xfuse.recipe @r(%x: i64) -> i64 attributes {element_types = [i7, i64]} {
  %r = arith.addi %x, %x : i64
  xfuse.yield %r : i64
}

// CHECK: {{^}}xfuse-fuse: recipe @r lists element types i7, i64; expected only floats or only integers among f16, bf16, f32, f64, i1, i8, i16, i32, i64, index

// -----

// An axis too many.

xfuse.recipe @r(%x: tensor<?xf64>) -> tensor<?xf64> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = tensor.dim %x, %c1 : tensor<?xf64>
  %h = arith.divui %n, %c1 : index
  %s = tensor.extract_slice %x[%c0] [%h] [1] : tensor<?xf64> to tensor<?xf64>
  xfuse.yield %s : tensor<?xf64>
}

// CHECK: {{^}}xfuse-fuse: recipe @r fits operands of no shape: op 2 (tensor.dim): axis 1 of a tensor of 1 core dimensions

// -----

// A negative axis.

xfuse.recipe @r(%x: tensor<?xf64>) -> tensor<?xf64> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %m = arith.subi %c0, %c1 : index
  %n = tensor.dim %x, %m : tensor<?xf64>
  %s = tensor.extract_slice %x[%c1] [%n] [1] : tensor<?xf64> to tensor<?xf64>
  xfuse.yield %s : tensor<?xf64>
}

// CHECK: {{^}}xfuse-fuse: recipe @r fits operands of no shape: op 3 (tensor.dim): axis -1 of a tensor of 1 core dimensions

// -----

// A negative size.

xfuse.recipe @r(%x: tensor<?xf64>) -> tensor<?xf64> {
  %r = "tensor.extract_slice"(%x) <{operandSegmentSizes = array<i32: 1, 0, 0, 0>, static_offsets = array<i64: 0>, static_sizes = array<i64: -2>, static_strides = array<i64: 1>}> : (tensor<?xf64>) -> tensor<?xf64>
  xfuse.yield %r : tensor<?xf64>
}

// CHECK: {{^}}xfuse-fuse: recipe @r fits operands of no shape: op 0 (tensor.extract_slice): slice_len is -2; an extent is 0 or more

// -----

// A size that is negative whatever the extent is.

xfuse.recipe @r(%x: tensor<?xf64>) -> tensor<?xf64> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = tensor.dim %x, %c0 : tensor<?xf64>
  %m = arith.addi %n, %c1 : index
  %d = arith.subi %n, %m : index
  %r = tensor.extract_slice %x[0] [%d] [1] : tensor<?xf64> to tensor<?xf64>
  xfuse.yield %r : tensor<?xf64>
}

// CHECK: {{^}}xfuse-fuse: recipe @r fits operands of no shape: op 5 (tensor.extract_slice): slice_len is -1; an extent is 0 or more

// -----

// A negative padding.

xfuse.recipe @r(%x: tensor<4xf64>, %f: f64) -> tensor<3xf64> {
  %r = tensor.pad %x low[-1] high[0] {
  ^bb0(%i: index):
    tensor.yield %f : f64
  } : tensor<4xf64> to tensor<3xf64>
  xfuse.yield %r : tensor<3xf64>
}

// CHECK: {{^}}xfuse-fuse: recipe @r fits operands of no shape: op 0 (tensor.pad): pads by -1

// -----

// A padding that contradicts its type.

xfuse.recipe @r(%x: tensor<4xf64>, %f: f64) -> tensor<7xf64> {
  %r = tensor.pad %x low[1] high[0] {
  ^bb0(%i: index):
    tensor.yield %f : f64
  } : tensor<4xf64> to tensor<7xf64>
  xfuse.yield %r : tensor<7xf64>
}

// CHECK: {{^}}xfuse-fuse: recipe @r fits operands of no shape: op 0 (tensor.pad): axis 0 of the result is 7 by one operand or type and 5 by another

// -----

// A slice that contradicts its type.

xfuse.recipe @r(%x: tensor<4xf64>) -> tensor<3xf64> {
  %r = tensor.extract_slice %x[0] [2] [1] : tensor<4xf64> to tensor<3xf64>
  xfuse.yield %r : tensor<3xf64>
}

// CHECK: {{^}}xfuse-fuse: recipe @r fits operands of no shape: op 0 (tensor.extract_slice): axis 0 of the result is 3 by one operand or type and 2 by another

// -----

// A slice that drops axes longer than one.

xfuse.recipe @r(%x: tensor<?x?xf64>) -> tensor<?xf64> {
  %r = tensor.extract_slice %x[0, 0] [2, 2] [1, 1] : tensor<?x?xf64> to tensor<?xf64>
  xfuse.yield %r : tensor<?xf64>
}

// CHECK: {{^}}xfuse-fuse: recipe @r fits operands of no shape: op 0 (tensor.extract_slice): a slice of sizes 2, 2 cannot have 1 dimensions; only those of size 1 are dropped

// -----

// Elements that do not add up.

xfuse.recipe @r(%x: tensor<2x2xf64>) -> tensor<5xf64> {
  %r = tensor.collapse_shape %x [[0, 1]] : tensor<2x2xf64> into tensor<5xf64>
  xfuse.yield %r : tensor<5xf64>
}

// CHECK: {{^}}xfuse-fuse: recipe @r fits operands of no shape: op 0 (tensor.collapse_shape): axis 0 of the result is 5 by one operand or type and 4 by another

// -----

// A shape that contradicts its type.

xfuse.recipe @r(%x: tensor<4xf64>) -> tensor<2x2xf64> {
  %s = arith.constant dense<[4, 1]> : tensor<2xindex>
  %r = tensor.reshape %x(%s) : (tensor<4xf64>, tensor<2xindex>) -> tensor<2x2xf64>
  xfuse.yield %r : tensor<2x2xf64>
}

// CHECK: {{^}}xfuse-fuse: recipe @r fits operands of no shape: op 1 (tensor.reshape): axis 0 of the result is 2 by one operand or type and 4 by another

// -----

// Operands of lengths that always differ.

xfuse.recipe @r(%x: tensor<?xf64>) -> f64 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = tensor.dim %x, %c0 : tensor<?xf64>
  %m = arith.addi %n, %c1 : index
  %one = arith.constant 1.0 : f64
  %s = tensor.splat %one[%m] : tensor<?xf64>
  %p = arith.addf %x, %s : tensor<?xf64>
  %r = tensor.extract %p[%c0] : tensor<?xf64>
  xfuse.yield %r : f64
}

// CHECK: {{^}}xfuse-fuse: recipe @r fits operands of no shape: op 6 (arith.addf): axis 0 is n by one operand or type and n + 1 by another

// -----

// A slice past the end.

xfuse.recipe @r(%x: tensor<4xf64>) -> tensor<2xf64> {
  %r = tensor.extract_slice %x[3] [2] [1] : tensor<4xf64> to tensor<2xf64>
  xfuse.yield %r : tensor<2xf64>
}

// CHECK: {{^}}xfuse-fuse: recipe @r fits operands of no shape: op 0 (tensor.extract_slice): axis 0 of extent 4 is sliced from 3, 2 long: it ends outside

// -----

// A slice past any end.

xfuse.recipe @r(%x: tensor<?xf64>) -> tensor<?xf64> {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %x, %c0 : tensor<?xf64>
  %r = tensor.extract_slice %x[1] [%n] [1] : tensor<?xf64> to tensor<?xf64>
  xfuse.yield %r : tensor<?xf64>
}

// CHECK: {{^}}xfuse-fuse: recipe @r fits operands of no shape: op 2 (tensor.extract_slice): axis 0 of extent n is sliced from 1, n long: it ends outside

// -----

// A slice that begins before the start.

xfuse.recipe @r(%x: tensor<?xf64>) -> tensor<2xf64> {
  %r = tensor.extract_slice %x[-1] [2] [1] : tensor<?xf64> to tensor<2xf64>
  xfuse.yield %r : tensor<2xf64>
}

// CHECK: {{^}}xfuse-fuse: recipe @r fits operands of no shape: op 0 (tensor.extract_slice): axis 0 of extent n is sliced from -1

// -----

// A slice that steps back.

xfuse.recipe @r(%x: tensor<?xf64>) -> tensor<2xf64> {
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %d = arith.subi %c2, %c3 : index
  %r = tensor.extract_slice %x[0] [2] [%d] : tensor<?xf64> to tensor<2xf64>
  xfuse.yield %r : tensor<2xf64>
}

// CHECK: {{^}}xfuse-fuse: recipe @r fits operands of no shape: op 3 (tensor.extract_slice): axis 0 of extent n is sliced from 0 by -1; a step is 1 or more

// -----

// An element past any end.

xfuse.recipe @r(%x: tensor<?xf64>) -> f64 {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %x, %c0 : tensor<?xf64>
  %v = tensor.extract %x[%n] : tensor<?xf64>
  %r = math.exp %v : f64
  xfuse.yield %r : f64
}

// CHECK: {{^}}xfuse-fuse: recipe @r fits operands of no shape: op 2 (tensor.extract): axis 0 of extent n is sliced from n, 1 long: it ends outside

// -----

// A window longer than what it moves over.

xfuse.recipe @r(%x: tensor<4xf64>, %y: tensor<?xf64>, %w: tensor<5xf64>) -> tensor<2xf64> {
  %z = arith.constant dense<0.0> : tensor<2xf64>
  %c = tensor.cast %x : tensor<4xf64> to tensor<?xf64>
  %s = arith.addf %c, %y : tensor<?xf64>
  %r = linalg.generic {indexing_maps = [affine_map<(i, k) -> (i + k)>, affine_map<(i, k) -> (k)>, affine_map<(i, k) -> (i)>], iterator_types = ["parallel", "reduction"]}
      ins(%s, %w : tensor<?xf64>, tensor<5xf64>) outs(%z : tensor<2xf64>) {
  ^bb0(%a: f64, %b: f64, %d: f64):
    %p = arith.mulf %a, %b : f64
    %q = arith.addf %p, %d : f64
    linalg.yield %q : f64
  } -> tensor<2xf64>
  xfuse.yield %r : tensor<2xf64>
}

// CHECK: {{^}}xfuse-fuse: recipe @r fits operands of no shape: op 3 (linalg.generic): reads element 5 of axis 0 of an operand, whose extent is 4

// -----

// Division by zero.

xfuse.recipe @r(%x: tensor<?xf64>) -> tensor<?xf64> {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %x, %c0 : tensor<?xf64>
  %q = arith.divui %n, %c0 : index
  %r = tensor.extract_slice %x[0] [%q] [1] : tensor<?xf64> to tensor<?xf64>
  xfuse.yield %r : tensor<?xf64>
}

// CHECK: {{^}}xfuse-fuse: recipe @r fits operands of no shape: op 2 (arith.divui) divides a number by zero; slice_len of op 3 (tensor.extract_slice) needs it

// -----

// Overflow.

xfuse.recipe @r(%x: tensor<?xf64>) -> tensor<?xf64> {
  %c1 = arith.constant 1 : index
  %big = arith.constant 9223372036854775807 : index
  %p = arith.addi %big, %c1 : index
  %q = arith.subi %p, %big : index
  %r = tensor.extract_slice %x[0] [%q] [1] : tensor<?xf64> to tensor<?xf64>
  xfuse.yield %r : tensor<?xf64>
}

// CHECK: {{^}}xfuse-fuse: recipe @r fits operands of no shape: op 2 (arith.addi) gives 9223372036854775808, which i64 cannot hold; slice_len of op 4 (tensor.extract_slice) needs it

// -----

// Two recipes that name each other.

xfuse.recipe @a(%x: f64) -> f64 {
  %y = xfuse.fused @b (%p = %x : f64) -> f64 {
    %r = math.exp %p : f64
    xfuse.yield %r : f64
  }
  %z = math.log %y : f64
  xfuse.yield %z : f64
}
xfuse.recipe @b(%x: f64) -> f64 {
  %y = xfuse.fused @a (%p = %x : f64) -> f64 {
    %r = math.exp %p : f64
    xfuse.yield %r : f64
  }
  %z = math.sqrt %y : f64
  xfuse.yield %z : f64
}

// CHECK: {{^}}xfuse-fuse: recipe @b refers to itself (law L1): @b -> @a -> @b

// -----

// A flattened dimension by its index.

xfuse.recipe @r(%x: tensor<?xf64> {xfuse.flatten}) -> f64 {
  %c0 = arith.constant 0 : index
  %v = tensor.extract %x[%c0] : tensor<?xf64>
  %r = math.exp %v : f64
  xfuse.yield %r : f64
}

// CHECK: {{^}}xfuse-fuse: recipe @r: 'gather' takes a flattened dimension by its index; only point-wise ops and reductions by one commutative op may run along it

// -----

// A slice of a flattened dimension.

xfuse.recipe @r(%x: tensor<?xf64> {xfuse.flatten}) -> f64 {
  %z = arith.constant dense<0.0> : tensor<f64>
  %d = tensor.extract_slice %x[1] [2] [1] : tensor<?xf64> to tensor<2xf64>
  %s = linalg.reduce ins(%d : tensor<2xf64>) outs(%z : tensor<f64>) dimensions = [0]
  (%a : f64, %b : f64) {
    %t = arith.addf %a, %b : f64
    linalg.yield %t : f64
  }
  %r = tensor.extract %s[] : tensor<f64>
  xfuse.yield %r : f64
}

// CHECK: {{^}}xfuse-fuse: recipe @r: 'slice' takes a flattened dimension by its index

// -----

// A reshape of a flattened dimension.

xfuse.recipe @r(%x: tensor<?xf64> {xfuse.flatten}) -> f64 {
  %c0 = arith.constant 0 : index
  %c2 = arith.constant 2 : index
  %n = tensor.dim %x, %c0 : tensor<?xf64>
  %h = arith.divui %n, %c2 : index
  %z = arith.constant dense<0.0> : tensor<f64>
  %d = tensor.expand_shape %x [[0, 1]] output_shape [%h, 2] : tensor<?xf64> into tensor<?x2xf64>
  %s = linalg.reduce ins(%d : tensor<?x2xf64>) outs(%z : tensor<f64>) dimensions = [0, 1]
  (%a : f64, %b : f64) {
    %t = arith.addf %a, %b : f64
    linalg.yield %t : f64
  }
  %r = tensor.extract %s[] : tensor<f64>
  xfuse.yield %r : f64
}

// CHECK: {{^}}xfuse-fuse: recipe @r: 'reshape' takes a flattened dimension by its index

// -----

// A flattened dimension that is numbered.

xfuse.recipe @r(%x: tensor<?xf64> {xfuse.flatten}) -> f64 {
  %z = arith.constant dense<0.0> : tensor<f64>
  %s = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> ()>], iterator_types = ["reduction"]}
      ins(%x : tensor<?xf64>) outs(%z : tensor<f64>) {
  ^bb0(%a: f64, %b: f64):
    %i = linalg.index 0 : index
    %k = arith.index_cast %i : index to i64
    %f = arith.sitofp %k : i64 to f64
    %p = arith.mulf %a, %f : f64
    %t = arith.addf %p, %b : f64
    linalg.yield %t : f64
  } -> tensor<f64>
  %r = tensor.extract %s[] : tensor<f64>
  xfuse.yield %r : f64
}

// CHECK: {{^}}xfuse-fuse: recipe @r: 'index' takes a flattened dimension by its index

// -----

// A flattened dimension that is folded in order.

xfuse.recipe @r(%x: tensor<?xf64> {xfuse.flatten}) -> f64 {
  %z = arith.constant dense<0.0> : tensor<f64>
  %s = linalg.reduce ins(%x : tensor<?xf64>) outs(%z : tensor<f64>) dimensions = [0]
  (%a : f64, %b : f64) {
    %t = arith.subf %b, %a : f64
    linalg.yield %t : f64
  }
  %r = tensor.extract %s[] : tensor<f64>
  xfuse.yield %r : f64
}

// CHECK: {{^}}xfuse-fuse: recipe @r: 'fold' takes a flattened dimension by its index

// -----

// A flattened dimension of a result.

xfuse.recipe @r(%x: tensor<?xf64> {xfuse.flatten}) -> tensor<?xf64> {
  %z = arith.constant dense<0.0> : tensor<f64>
  %s = linalg.reduce ins(%x : tensor<?xf64>) outs(%z : tensor<f64>) dimensions = [0]
  (%a : f64, %b : f64) {
    %t = arith.addf %b, %a : f64
    linalg.yield %t : f64
  }
  %w = linalg.broadcast ins(%s : tensor<f64>) outs(%x : tensor<?xf64>) dimensions = [0]
  %r = arith.divf %x, %w : tensor<?xf64>
  xfuse.yield %r : tensor<?xf64>
}

// CHECK: {{^}}xfuse-fuse: recipe @r: result 0 has a flattened dimension; reduce it

// -----

// A flattened dimension of two arguments and one mark.

xfuse.recipe @r(%x: tensor<?xf64> {xfuse.flatten}, %y: tensor<?xf64>) -> f64 {
  %z = arith.constant dense<0.0> : tensor<f64>
  %p = arith.mulf %x, %y : tensor<?xf64>
  %s = linalg.reduce ins(%p : tensor<?xf64>) outs(%z : tensor<f64>) dimensions = [0]
  (%a : f64, %b : f64) {
    %t = arith.addf %b, %a : f64
    linalg.yield %t : f64
  }
  %r = tensor.extract %s[] : tensor<f64>
  xfuse.yield %r : f64
}

// CHECK: {{^}}xfuse-fuse: recipe @r: argument 1 has the dimension that argument 0 flattens; mark it 'xfuse.flatten' too

// -----

// A flattened dimension that is none.

xfuse.recipe @r(%x: tensor<?xf64> {xfuse.flatten}) -> tensor<?xf64> {
  %r = math.exp %x : tensor<?xf64>
  xfuse.yield %r : tensor<?xf64>
}

// CHECK: {{^}}xfuse-fuse: recipe @r has a loop dimension, axis 0 of argument 0

// -----

// Accumulators.

xfuse.recipe @r(%x: f32 {xfuse.accumulator = f32}) -> f32 {
  %r = math.exp %x : f32
  xfuse.yield %r : f32
}

// CHECK: {{^}}xfuse-fuse: recipe @r has 'xfuse.accumulator' but no element_types: its types are as written

// -----

xfuse.recipe @r(%x: f32 {xfuse.accumulator = f32}, %y: f32 {xfuse.accumulator = f64}) -> f32 attributes {element_types = [f16, f32]} {
  %r = arith.mulf %x, %y : f32
  xfuse.yield %r : f32
}

// CHECK: {{^}}xfuse-fuse: recipe @r has two accumulators, f32 and f64; expected one

// -----

xfuse.recipe @r(%x: f32 {xfuse.accumulator = i32}) -> f32 attributes {element_types = [f16, f32]} {
  %r = math.exp %x : f32
  xfuse.yield %r : f32
}

// CHECK: {{^}}xfuse-fuse: recipe @r is for element types f16, f32 and accumulates in i32; expected floats

// -----

xfuse.recipe @r(%x: i64 {xfuse.accumulator = f32}) -> i64 attributes {element_types = [i32, i64]} {
  %r = arith.addi %x, %x : i64
  xfuse.yield %r : i64
}

// CHECK: {{^}}xfuse-fuse: recipe @r is for element types i32, i64 and accumulates in f32; expected floats

// -----

xfuse.recipe @r(%x: f32 {xfuse.accumulator = f32}, %y: f32) -> f32 attributes {element_types = [f16, f32]} {
  %r = arith.mulf %x, %y : f32
  xfuse.yield %r : f32
}

// CHECK: {{^}}xfuse-fuse: recipe @r: argument 1 lacks the mark 'xfuse.accumulator = f32' that others have

// -----

xfuse.recipe @r(%x: f32 {xfuse.accumulator = f32}, %y: i32 {xfuse.accumulator = f32}) -> f32 attributes {element_types = [f16, f32]} {
  %f = arith.sitofp %y : i32 to f32
  %r = arith.mulf %x, %f : f32
  xfuse.yield %r : f32
}

// CHECK: {{^}}xfuse-fuse: recipe @r: argument 1 has 'xfuse.accumulator' but is of type i32, which is not the recipe's element type f32

// -----

xfuse.recipe @r(%x: f32 {xfuse.accumulator = bf16}) -> f32 attributes {element_types = [f16, f32]} {
  %r = math.exp %x : f32
  xfuse.yield %r : f32
}

// CHECK: {{^}}xfuse-fuse: recipe @r accumulates in bf16, which none of its element types f16, f32 is narrower than; drop the mark

// -----

// Signatures that are given.

xfuse.recipe @r(%x: f64, %y: f64) -> f64 attributes {signature = "(n),(n)->(n)"} {
  %r = arith.addf %x, %y : f64
  xfuse.yield %r : f64
}

// CHECK: {{^}}xfuse-fuse: recipe @r says that its signature is (n),(n)->(n); its normal signature is (),()->(), in which only the names are free

// -----

xfuse.recipe @r(%x: f64, %y: f64) -> f64 attributes {signature = "(),() -> "} {
  %r = arith.addf %x, %y : f64
  xfuse.yield %r : f64
}

// CHECK: {{^}}xfuse-fuse: recipe @r: '(),() -> ' is no signature; expected one such as '(n),(n),()->(n)'

// -----

xfuse.recipe @r(%x: f64, %y: f64) -> f64 attributes {signature = 7 : i64} {
  %r = arith.addf %x, %y : f64
  xfuse.yield %r : f64
}

// CHECK: {{^}}xfuse-fuse: recipe @r: expected its signature to be a string, got 7 : i64
