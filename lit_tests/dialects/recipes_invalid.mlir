// RUN: xdsl-opt -f xfuse-mlir --split-input-file --verify-diagnostics --parsing-diagnostics %s | filecheck %s

// Recipes with ops that MLIR would not take and xDSL does. tests/test_validation.py registers each of them, too.

// Sizes of an empty tensor.

xfuse.recipe @r(%x: tensor<?xf64>) -> tensor<?xf64> {
  %e = tensor.empty() : tensor<?xf64>
  %r = linalg.add ins(%x, %x : tensor<?xf64>, tensor<?xf64>) outs(%e : tensor<?xf64>) -> tensor<?xf64>
  xfuse.yield %r : tensor<?xf64>
}

// CHECK: {{^}}'xfuse.recipe' @r: op 0 (tensor.empty) has 0 sizes as operands; expected 1, one for each dynamic extent of its result

// -----

// Indices of an element.

xfuse.recipe @r(%x: tensor<?xf64>) -> f64 {
  %c0 = arith.constant 0 : index
  %v = tensor.extract %x[%c0, %c0] : tensor<?xf64>
  %r = math.exp %v : f64
  xfuse.yield %r : f64
}

// CHECK: {{^}}'xfuse.recipe' @r: op 1 (tensor.extract) has 2 indices for a tensor of 1 axes

// -----

// Indices of a place.

xfuse.recipe @r(%x: tensor<?xf64>, %y: f64) -> tensor<?xf64> {
  %r = tensor.insert %y into %x[] : tensor<?xf64>
  xfuse.yield %r : tensor<?xf64>
}

// CHECK: {{^}}'xfuse.recipe' @r: op 0 (tensor.insert) has 0 indices for a tensor of 1 axes

// -----

// Elements of a tensor.

xfuse.recipe @r(%x: f64, %y: f64) -> tensor<3xf64> {
  %r = tensor.from_elements %x, %y : tensor<3xf64>
  xfuse.yield %r : tensor<3xf64>
}

// CHECK: {{^}}'xfuse.recipe' @r: op 0 (tensor.from_elements) gives tensor<3xf64> from 2 elements

// -----

// Sizes of an expansion.

xfuse.recipe @r(%x: tensor<?xf64>) -> tensor<?x2xf64> {
  %r = "tensor.expand_shape"(%x) <{reassociation = [[0, 1]], static_output_shape = array<i64: -9223372036854775808, 2>}> : (tensor<?xf64>) -> tensor<?x2xf64>
  xfuse.yield %r : tensor<?x2xf64>
}

// CHECK: {{^}}'xfuse.recipe' @r: op 0 (tensor.expand_shape) has 0 sizes as operands; expected 1

// -----

// An expansion to another shape than its type's.

xfuse.recipe @r(%x: tensor<4xf64>) -> tensor<2x2xf64> {
  %r = tensor.expand_shape %x [[0, 1]] output_shape [4, 1] : tensor<4xf64> into tensor<2x2xf64>
  xfuse.yield %r : tensor<2x2xf64>
}

// CHECK: {{^}}'xfuse.recipe' @r: op 0 (tensor.expand_shape) has an output_shape that is not that of its result, tensor<2x2xf64>

// -----

// Amounts of a padding.

xfuse.recipe @r(%x: tensor<?xf64>, %f: f64) -> tensor<?xf64> {
  %r = "tensor.pad"(%x) <{operandSegmentSizes = array<i32: 1, 0, 0>, static_low = array<i64: -9223372036854775808>, static_high = array<i64: 0>}> ({
  ^bb0(%i: index):
    tensor.yield %f : f64
  }) : (tensor<?xf64>) -> tensor<?xf64>
  xfuse.yield %r : tensor<?xf64>
}

// CHECK: {{^}}'xfuse.recipe' @r: op 0 (tensor.pad) has 0 operands as low; expected 1

// -----

// Groups of axes.

xfuse.recipe @r(%x: tensor<?x?xf64>) -> tensor<?xf64> {
  %r = tensor.collapse_shape %x [[0]] : tensor<?x?xf64> into tensor<?xf64>
  xfuse.yield %r : tensor<?xf64>
}

// CHECK: {{^}}'xfuse.recipe' @r: op 0 (tensor.collapse_shape) has reassociation {{\[\[0\]\]}} between 1 and 2 axes

// -----

// Offsets of a slice.

xfuse.recipe @r(%x: tensor<?xf64>) -> tensor<1xf64> {
  %r = tensor.extract_slice %x[0, 0] [1, 1] [1, 1] : tensor<?xf64> to tensor<1xf64>
  xfuse.yield %r : tensor<1xf64>
}

// CHECK: {{^}}'xfuse.recipe' @r: op 0 (tensor.extract_slice) has 2 offsets for a tensor of 1 axes

// -----

// A slice that goes nowhere.

xfuse.recipe @r(%x: tensor<?xf64>) -> tensor<2xf64> {
  %r = tensor.extract_slice %x[0] [2] [0] : tensor<?xf64> to tensor<2xf64>
  xfuse.yield %r : tensor<2xf64>
}

// CHECK: {{^}}'xfuse.recipe' @r: op 0 (tensor.extract_slice) has a stride of 0; expected 1 or more

// -----

// A slice of more axes.

xfuse.recipe @r(%x: tensor<?xf64>) -> tensor<1x2xf64> {
  %r = tensor.extract_slice %x[0] [2] [1] : tensor<?xf64> to tensor<1x2xf64>
  xfuse.yield %r : tensor<1x2xf64>
}

// CHECK: {{^}}'xfuse.recipe' @r: op 0 (tensor.extract_slice) has a slice of 2 axes in a tensor of 1

// -----

// A permutation with an axis twice.

xfuse.recipe @r(%x: tensor<?x?xf64>, %e: tensor<?x?xf64>) -> tensor<?x?xf64> {
  %t = linalg.transpose ins(%x : tensor<?x?xf64>) outs(%e : tensor<?x?xf64>) permutation = [0, 0]
  %r = arith.addf %x, %t : tensor<?x?xf64>
  xfuse.yield %r : tensor<?x?xf64>
}

// CHECK: {{^}}'xfuse.recipe' @r: op 0 (linalg.transpose) has permutation [0, 0], which is none of 2 axes

// -----

// A loop that is not there.

xfuse.recipe @r(%x: tensor<?xf64>, %e: tensor<?xf64>) -> tensor<?xf64> {
  %r = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>], iterator_types = ["parallel"]} outs(%e : tensor<?xf64>) {
  ^bb0(%b: f64):
    %i = linalg.index 1 : index
    %v = tensor.extract %x[%i] : tensor<?xf64>
    linalg.yield %v : f64
  } -> tensor<?xf64>
  xfuse.yield %r : tensor<?xf64>
}

// CHECK: {{^}}'xfuse.recipe' @r: op 1 (linalg.index) asks for loop 1 of 1

// -----

// A body that yields another type.

xfuse.recipe @r(%x: tensor<?xf64>, %e: tensor<?xf64>) -> tensor<?xf64> {
  %r = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
      ins(%x : tensor<?xf64>) outs(%e : tensor<?xf64>) {
  ^bb0(%a: f64, %b: f64):
    %f = arith.truncf %a : f64 to f32
    linalg.yield %f : f32
  } -> tensor<?xf64>
  xfuse.yield %r : tensor<?xf64>
}

// CHECK: {{^}}'xfuse.recipe' @r: op 0 (linalg.generic) has a body that yields f32; expected f64

// -----

// A body that yields too much.

xfuse.recipe @r(%x: tensor<?xf64>, %e: tensor<?xf64>) -> tensor<?xf64> {
  %r = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
      ins(%x : tensor<?xf64>) outs(%e : tensor<?xf64>) {
  ^bb0(%a: f64, %b: f64):
    linalg.yield %a, %a : f64, f64
  } -> tensor<?xf64>
  xfuse.yield %r : tensor<?xf64>
}

// CHECK: {{^}}'xfuse.recipe' @r: op 0 (linalg.generic) has a body that yields f64, f64; expected f64

// -----

// A body of other types.

xfuse.recipe @r(%x: tensor<?xf64>, %z: tensor<f64>) -> tensor<f64> {
  %r = linalg.reduce ins(%x : tensor<?xf64>) outs(%z : tensor<f64>) dimensions = [0]
  (%a : f32, %b : f32) {
    %t = arith.addf %a, %b : f32
    linalg.yield %t : f32
  }
  xfuse.yield %r : tensor<f64>
}

// CHECK: {{^}}'xfuse.recipe' @r: op 0 (linalg.reduce) has a body of (f32, f32); expected (f64, f64)

// -----

// A result of another type than its outs.

xfuse.recipe @r(%x: tensor<?xf64>, %e: tensor<?xf64>) -> tensor<?xf32> {
  %r = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
      ins(%x : tensor<?xf64>) outs(%e : tensor<?xf64>) {
  ^bb0(%a: f64, %b: f64):
    linalg.yield %a : f64
  } -> tensor<?xf32>
  xfuse.yield %r : tensor<?xf32>
}

// CHECK: {{^}}'xfuse.recipe' @r: op 0 (linalg.generic) gives tensor<?xf32>; expected the types of its outs, tensor<?xf64>

// -----

// A window.

xfuse.recipe @r(%x: tensor<?xf64>, %e: tensor<?xf64>) -> tensor<?xf64> {
  %r = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["window"]}
      ins(%x : tensor<?xf64>) outs(%e : tensor<?xf64>) {
  ^bb0(%a: f64, %b: f64):
    linalg.yield %a : f64
  } -> tensor<?xf64>
  xfuse.yield %r : tensor<?xf64>
}

// CHECK: {{^}}'xfuse.recipe' @r: op 0 (linalg.generic) has a window iterator; expected parallel or reduction

// -----

// A result that is written on a diagonal.

xfuse.recipe @r(%x: tensor<4xf64>, %e: tensor<4x4xf64>) -> tensor<4x4xf64> {
  %r = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i, i)>], iterator_types = ["parallel"]}
      ins(%x : tensor<4xf64>) outs(%e : tensor<4x4xf64>) {
  ^bb0(%a: f64, %b: f64):
    linalg.yield %a : f64
  } -> tensor<4x4xf64>
  xfuse.yield %r : tensor<4x4xf64>
}

// CHECK: {{^}}'xfuse.recipe' @r: op 0 (linalg.generic) writes its result at (d0) -> (d0, d0): only where two axes are equal

// -----

// A result that is written in part.

xfuse.recipe @r(%x: tensor<4xf64>, %e: tensor<4x4xf64>) -> tensor<4x4xf64> {
  %r = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i, 0)>], iterator_types = ["parallel"]}
      ins(%x : tensor<4xf64>) outs(%e : tensor<4x4xf64>) {
  ^bb0(%a: f64, %b: f64):
    linalg.yield %a : f64
  } -> tensor<4x4xf64>
  xfuse.yield %r : tensor<4x4xf64>
}

// CHECK: {{^}}'xfuse.recipe' @r: op 0 (linalg.generic) writes axis 1 of its result at 0; expected a loop, or 0 where the extent is 1

// -----

// A loop that is reduced and kept.

xfuse.recipe @r(%x: tensor<4xf64>, %e: tensor<4xf64>) -> tensor<4xf64> {
  %r = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["reduction"]}
      ins(%x : tensor<4xf64>) outs(%e : tensor<4xf64>) {
  ^bb0(%a: f64, %b: f64):
    %c = arith.addf %a, %b : f64
    linalg.yield %c : f64
  } -> tensor<4xf64>
  xfuse.yield %r : tensor<4xf64>
}

// CHECK: {{^}}'xfuse.recipe' @r: op 0 (linalg.generic) reduces loop 0, which its result has an axis for

// -----

// A padding of another type.

xfuse.recipe @r(%x: tensor<4xf64>, %f: f32) -> tensor<5xf64> {
  %r = tensor.pad %x low[1] high[0] {
  ^bb0(%i: index):
    tensor.yield %f : f32
  } : tensor<4xf64> to tensor<5xf64>
  xfuse.yield %r : tensor<5xf64>
}

// CHECK: {{^}}'xfuse.recipe' @r: op 0 (tensor.pad) has a body that yields f32; expected f64

// -----

// A fill of another type.

xfuse.recipe @r(%x: f32) -> tensor<4xf64> {
  %e = tensor.empty() : tensor<4xf64>
  %r = linalg.fill ins(%x : f32) outs(%e : tensor<4xf64>) -> tensor<4xf64>
  xfuse.yield %r : tensor<4xf64>
}

// CHECK: {{^}}'xfuse.recipe' @r: op 1 (linalg.fill) goes from f32 to tensor<4xf64>; expected one element type

// -----

// A predicate that is none.

xfuse.recipe @r(%x: f32) -> i1 {
  %r = "arith.cmpf"(%x, %x) <{predicate = 99 : i64, fastmath = #arith.fastmath<none>}> : (f32, f32) -> i1
  xfuse.yield %r : i1
}

// CHECK: {{^}}'xfuse.recipe' @r: op 0 (arith.cmpf) has predicate 99; expected 0 to 15

// -----

// Branches of other types.

xfuse.recipe @r(%x: f32, %p: i1) -> f32 {
  %r = "scf.if"(%p) ({
    %d = arith.extf %x : f32 to f64
    "scf.yield"(%d) : (f64) -> ()
  }, {
    "scf.yield"(%x) : (f32) -> ()
  }) : (i1) -> f32
  xfuse.yield %r : f32
}

// CHECK: {{^}}'xfuse.recipe' @r: op 0 (scf.if) has a body that yields f64; expected f32

// -----

// A branch that is not there.

xfuse.recipe @r(%x: f32, %p: i1) -> f32 {
  %r = "scf.if"(%p) ({
    "scf.yield"(%x) : (f32) -> ()
  }, {}) : (i1) -> f32
  xfuse.yield %r : f32
}

// CHECK: {{^}}'xfuse.recipe' @r: op 0 (scf.if) has a region of 0 blocks; expected one

// -----

// A loop that passes nothing on.

xfuse.recipe @r(%x: f32) -> f32 {
  %r = "scf.while"(%x) ({
  ^bb0(%a: f32):
    %t = arith.constant true
    "scf.condition"(%t) : (i1) -> ()
  }, {
  ^bb0(%a: f32):
    "scf.yield"(%a) : (f32) -> ()
  }) : (f32) -> f32
  xfuse.yield %r : f32
}

// CHECK: {{^}}'xfuse.recipe' @r: op 0 (scf.while) passes on nothing; expected f32

// -----

// A loop that never steps.

xfuse.recipe @r(%x: f64) -> f64 {
  %c0 = arith.constant 0 : index
  %c4 = arith.constant 4 : index
  %r = scf.for %i = %c0 to %c4 step %c0 iter_args(%a = %x) -> (f64) {
    %b = math.exp %a : f64
    scf.yield %b : f64
  }
  xfuse.yield %r : f64
}

// CHECK: {{^}}'xfuse.recipe' @r: op 2 (scf.for) has a step of 0; expected 1 or more

// -----

// A vector.

xfuse.recipe @r(%x: vector<4xf32>) -> vector<4xf32> {
  %r = arith.addf %x, %x : vector<4xf32>
  xfuse.yield %r : vector<4xf32>
}

// CHECK: {{^}}'xfuse.recipe' @r: argument 0 is of type vector<4xf32>; expected a scalar or a ranked tensor

// -----

// A vector inside.

xfuse.recipe @r(%x: f32) -> f32 {
  %v = vector.broadcast %x : f32 to vector<4xf32>
  %w = arith.addf %v, %v : vector<4xf32>
  %r = vector.extract %w[0] : f32 from vector<4xf32>
  xfuse.yield %r : f32
}

// CHECK: {{^}}'xfuse.recipe' @r: op 1 (arith.addf) is on vector<4xf32>; expected scalars and ranked tensors

// -----

// A buffer.

xfuse.recipe @r(%x: memref<4xf32>, %y: f32) -> f32 {
  %r = math.exp %y : f32
  xfuse.yield %r : f32
}

// CHECK: {{^}}'xfuse.recipe' @r: argument 0 is of type memref<4xf32>; expected a scalar or a ranked tensor

// -----

// A signed integer.

xfuse.recipe @r(%x: si32, %y: si32) -> si32 {
  %r = arith.addi %x, %y : si32
  xfuse.yield %r : si32
}

// CHECK: {{^}}'xfuse.recipe' @r: argument 0 is of type si32; expected signless integers, the ops say how they read them

// -----

// An index that is none.

xfuse.recipe @r(%x: f64) -> f64 {
  %c = arith.constant 99999999999999999999 : index
  %r = math.exp %x : f64
  xfuse.yield %r : f64
}

// CHECK: {{^}}'xfuse.recipe' @r: op 0 (arith.constant) is 99999999999999999999, which 64 bits cannot hold

// -----

// A slot that is no scalar.

xfuse.recipe @r(%x: tensor<2xf64> {xfuse.scalar}) -> tensor<2xf64> {
  %r = math.exp %x : tensor<2xf64>
  xfuse.yield %r : tensor<2xf64>
}

// CHECK: {{^}}'xfuse.recipe' argument 0: 'xfuse.scalar' expected a scalar, got tensor<2xf64>

// -----

// A matrix that is flattened.

xfuse.recipe @r(%x: tensor<?x?xf64> {xfuse.flatten}) -> tensor<?x?xf64> {
  %r = math.exp %x : tensor<?x?xf64>
  xfuse.yield %r : tensor<?x?xf64>
}

// CHECK: {{^}}'xfuse.recipe' argument 0: 'xfuse.flatten' expected a tensor of one dimension, got tensor<?x?xf64>

// -----

// An accumulator that is no type.

xfuse.recipe @r(%x: f32 {xfuse.accumulator = 3 : i32}) -> f32 attributes {element_types = [f16, f32]} {
  %r = math.exp %x : f32
  xfuse.yield %r : f32
}

// CHECK: {{^}}'xfuse.recipe' argument 0: 'xfuse.accumulator' expected an element type, got 3 : i32
