// RUN: xdsl-opt -f xfuse-mlir --split-input-file -p 'xfuse-fuse{library="%S/Inputs/recipes.mlir"}' %s | filecheck %s
// RUN: xdsl-opt -f xfuse-mlir --split-input-file -p 'xfuse-fuse{library="%S/Inputs/recipes.mlir"},xfuse-fuse{library="%S/Inputs/recipes.mlir"}' %s | xdsl-opt -f xfuse-mlir --split-input-file | filecheck %s
// RUN: xdsl-opt -f xfuse-mlir --split-input-file -p 'xfuse-fuse{library="%S/Inputs/recipes.mlir"}' --print-op-generic %s | %mlir-opt --split-input-file --allow-unregistered-dialect --mlir-print-op-generic | filecheck %s --check-prefix=GENERIC
// RUN: xdsl-opt -f xfuse-mlir --split-input-file -p 'xfuse-fuse{library="%S/Inputs/recipes.mlir"},xfuse-decompose' %s | %mlir-opt --split-input-file | filecheck %s --check-prefix=BACK
// REQUIRES: mlir-opt

// One recipe, max(x + y, 0), in the spellings of a program: fused (a second run changes nothing, and the text reads
// back), accepted by mlir-opt in generic form, and decomposed.

// GENERIC-COUNT-14: recipe = @add_relu
// GENERIC-NOT: recipe = @add_relu
// BACK-NOT: xfuse

// Arith ops on tensors.

func.func @arith_tensors(%x: tensor<4x8xf32>, %b: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %zero = arith.constant dense<0.0> : tensor<4x8xf32>
  %s = arith.addf %x, %b : tensor<4x8xf32>
  %r = arith.maximumf %s, %zero : tensor<4x8xf32>
  func.return %r : tensor<4x8xf32>
}

// CHECK:      func.func @arith_tensors(%x: tensor<4x8xf32>, %b: tensor<4x8xf32>) -> tensor<4x8xf32> {
// CHECK-NEXT:   %r = xfuse.fused @add_relu (%x_1 = %x : tensor<4x8xf32>, %b_1 = %b : tensor<4x8xf32>) -> tensor<4x8xf32> {
// CHECK-NEXT:     %zero = arith.constant dense<0.000000e+00> : tensor<4x8xf32>
// CHECK-NEXT:     %s = arith.addf %x_1, %b_1 : tensor<4x8xf32>
// CHECK-NEXT:     %r_1 = arith.maximumf %s, %zero : tensor<4x8xf32>
// CHECK-NEXT:     xfuse.yield %r_1 : tensor<4x8xf32>
// CHECK-NEXT:   }
// CHECK-NEXT:   func.return %r : tensor<4x8xf32>

// BACK:      func.func @arith_tensors(
// BACK-SAME:     %[[X:.*]]: tensor<4x8xf32>, %[[B:.*]]: tensor<4x8xf32>)
// BACK-NEXT:   %[[ZERO:.*]] = arith.constant dense<0.000000e+00>
// BACK-NEXT:   %[[S:.*]] = arith.addf %[[X]], %[[B]] : tensor<4x8xf32>
// BACK-NEXT:   %[[R:.*]] = arith.maximumf %[[S]], %[[ZERO]] : tensor<4x8xf32>
// BACK-NEXT:   return %[[R]]

// -----

// Scalars.

func.func @scalars(%x: f32, %b: f32) -> f32 {
  %zero = arith.constant 0.0 : f32
  %s = arith.addf %x, %b : f32
  %r = arith.maximumf %s, %zero : f32
  func.return %r : f32
}

// CHECK:      func.func @scalars(%x: f32, %b: f32) -> f32 {
// CHECK-NEXT:   %r = xfuse.fused @add_relu (%x_1 = %x : f32, %b_1 = %b : f32) -> f32 {
// CHECK-NEXT:     %zero = arith.constant 0.000000e+00 : f32
// CHECK-NEXT:     %s = arith.addf %x_1, %b_1 : f32
// CHECK-NEXT:     %r_1 = arith.maximumf %s, %zero : f32
// CHECK-NEXT:     xfuse.yield %r_1 : f32

// BACK:      func.func @scalars(
// BACK-NEXT:   arith.constant
// BACK-NEXT:   arith.addf
// BACK-NEXT:   arith.maximumf
// BACK-NEXT:   return

// -----

// One op to a generic; the `outs` of one is that of the other, and nothing is read from it.

#id = affine_map<(d0) -> (d0)>
func.func @one_op_generics(%x: tensor<8xf32>, %b: tensor<8xf32>) -> tensor<8xf32> {
  %o = tensor.empty() : tensor<8xf32>
  %s = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel"]} ins(%x, %b : tensor<8xf32>, tensor<8xf32>) outs(%o : tensor<8xf32>) {
  ^bb0(%in: f32, %in2: f32, %out: f32):
    %v = arith.addf %in, %in2 : f32
    linalg.yield %v : f32
  } -> tensor<8xf32>
  %zero = arith.constant 0.0 : f32
  %r = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%s : tensor<8xf32>) outs(%o : tensor<8xf32>) {
  ^bb0(%in: f32, %out: f32):
    %v = arith.maximumf %in, %zero : f32
    linalg.yield %v : f32
  } -> tensor<8xf32>
  func.return %r : tensor<8xf32>
}

// CHECK:      func.func @one_op_generics
// CHECK-NEXT:   %r = xfuse.fused @add_relu (%x_1 = %x : tensor<8xf32>, %b_1 = %b : tensor<8xf32>) -> tensor<8xf32> {
// CHECK-NEXT:     %o = tensor.empty() : tensor<8xf32>
// CHECK-NEXT:     %s = linalg.generic
// CHECK-SAME:         ins(%x_1, %b_1 : tensor<8xf32>, tensor<8xf32>) outs(%o : tensor<8xf32>)
// CHECK:          %zero = arith.constant 0.000000e+00 : f32
// CHECK-NEXT:     %r_1 = linalg.generic
// CHECK-SAME:         ins(%s : tensor<8xf32>) outs(%o : tensor<8xf32>)
// CHECK:          xfuse.yield %r_1 : tensor<8xf32>
// CHECK-NEXT:   }
// CHECK-NEXT:   func.return %r

// BACK:      func.func @one_op_generics
// BACK:        %[[O:.*]] = tensor.empty
// BACK-NEXT:   %[[S:.*]] = linalg.generic {{.*}} outs(%[[O]]
// BACK-NEXT:   ^bb0
// BACK-NEXT:     arith.addf
// BACK-NEXT:     linalg.yield
// BACK:        %[[ZERO:.*]] = arith.constant
// BACK-NEXT:   linalg.generic {{.*}} ins(%[[S]] {{.*}} outs(%[[O]]
// BACK-NEXT:   ^bb0(%[[IN:.*]]: f32, %{{.*}}: f32):
// BACK-NEXT:     arith.maximumf %[[IN]], %[[ZERO]] : f32

// -----

// Several ops in one generic, of which the recipe is a part: it is fused in the body, as scalars.

#id = affine_map<(d0) -> (d0)>
func.func @inside_body(%x: tensor<8xf32>, %b: tensor<8xf32>) -> tensor<8xf32> {
  %o = tensor.empty() : tensor<8xf32>
  %zero = arith.constant 0.0 : f32
  %s = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel"]} ins(%x, %b : tensor<8xf32>, tensor<8xf32>) outs(%o : tensor<8xf32>) {
  ^bb0(%in: f32, %in2: f32, %out: f32):
    %t = math.sin %in : f32
    %v = arith.addf %t, %in2 : f32
    %w = arith.maximumf %v, %zero : f32
    linalg.yield %w : f32
  } -> tensor<8xf32>
  func.return %s : tensor<8xf32>
}

// CHECK:      func.func @inside_body
// CHECK:        linalg.generic
// CHECK:          %t = math.sin %in : f32
// CHECK-NEXT:     %w = xfuse.fused @add_relu ({{.*}} = %{{t|in2}} : f32, {{.*}} = %{{t|in2}} : f32) -> f32 {
// CHECK-NEXT:       %zero_1 = arith.constant 0.000000e+00 : f32
// CHECK-NEXT:       %v = arith.addf %t_1, %in2_1 : f32
// CHECK-NEXT:       %w_1 = arith.maximumf %v, %zero_1 : f32
// CHECK-NEXT:       xfuse.yield %w_1 : f32
// CHECK-NEXT:     }
// CHECK-NEXT:     linalg.yield %w : f32

// BACK:      func.func @inside_body
// BACK:        linalg.generic
// BACK:          math.sin
// BACK:          arith.addf
// BACK-NEXT:     arith.maximumf
// BACK-NEXT:     linalg.yield

// -----

// Several ops in one generic: the recipe is all of it.

#id = affine_map<(d0) -> (d0)>
func.func @whole_body(%x: tensor<8xf32>, %b: tensor<8xf32>) -> tensor<8xf32> {
  %o = tensor.empty() : tensor<8xf32>
  %zero = arith.constant 0.0 : f32
  %s = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel"]} ins(%x, %b : tensor<8xf32>, tensor<8xf32>) outs(%o : tensor<8xf32>) {
  ^bb0(%in: f32, %in2: f32, %out: f32):
    %v = arith.addf %in, %in2 : f32
    %w = arith.maximumf %v, %zero : f32
    linalg.yield %w : f32
  } -> tensor<8xf32>
  func.return %s : tensor<8xf32>
}

// CHECK:      func.func @whole_body
// CHECK-NEXT:   %s = xfuse.fused @add_relu (%x_1 = %x : tensor<8xf32>, %b_1 = %b : tensor<8xf32>) -> tensor<8xf32> {
// CHECK-NEXT:     %o = tensor.empty() : tensor<8xf32>
// CHECK-NEXT:     %zero = arith.constant 0.000000e+00 : f32
// CHECK-NEXT:     %s_1 = linalg.generic
// CHECK:            arith.addf
// CHECK-NEXT:       arith.maximumf
// CHECK:          xfuse.yield %s_1 : tensor<8xf32>

// BACK:      func.func @whole_body
// BACK:        linalg.generic
// BACK:          arith.addf
// BACK-NEXT:     arith.maximumf

// -----

// Named linalg ops, a fill, and an `outs` that is an inner value of the match, unread.

func.func @named(%x: tensor<8xf32>, %b: tensor<8xf32>) -> tensor<8xf32> {
  %o = tensor.empty() : tensor<8xf32>
  %zero = arith.constant 0.0 : f32
  %z = linalg.fill ins(%zero : f32) outs(%o : tensor<8xf32>) -> tensor<8xf32>
  %s = linalg.add ins(%x, %b : tensor<8xf32>, tensor<8xf32>) outs(%o : tensor<8xf32>) -> tensor<8xf32>
  %r = linalg.max ins(%s, %z : tensor<8xf32>, tensor<8xf32>) outs(%s : tensor<8xf32>) -> tensor<8xf32>
  func.return %r : tensor<8xf32>
}

// CHECK:      func.func @named
// CHECK-NEXT:   %r = xfuse.fused @add_relu (%x_1 = %x : tensor<8xf32>, %b_1 = %b : tensor<8xf32>) -> tensor<8xf32> {
// CHECK-NEXT:     %o = tensor.empty() : tensor<8xf32>
// CHECK-NEXT:     %zero = arith.constant 0.000000e+00 : f32
// CHECK-NEXT:     %z = linalg.fill ins(%zero : f32) outs(%o : tensor<8xf32>) -> tensor<8xf32>
// CHECK-NEXT:     %s = linalg.add ins(%x_1, %b_1 : tensor<8xf32>, tensor<8xf32>) outs(%o : tensor<8xf32>) -> tensor<8xf32>
// CHECK-NEXT:     %r_1 = linalg.max ins(%s, %z : tensor<8xf32>, tensor<8xf32>) outs(%s : tensor<8xf32>) -> tensor<8xf32>
// CHECK-NEXT:     xfuse.yield %r_1 : tensor<8xf32>

// BACK:      func.func @named
// BACK:        %[[Z:.*]] = linalg.fill
// BACK-NEXT:   %[[S:.*]] = linalg.add
// BACK-NEXT:   linalg.max ins(%[[S]], %[[Z]] {{.*}} outs(%[[S]] :

// -----

// A generic that broadcasts, at extents that are not known.

#mn = affine_map<(d0, d1) -> (d0, d1)>
#n = affine_map<(d0, d1) -> (d1)>
func.func @broadcast(%x: tensor<?x?xf32>, %b: tensor<?xf32>) -> tensor<?x?xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %m = tensor.dim %x, %c0 : tensor<?x?xf32>
  %n = tensor.dim %x, %c1 : tensor<?x?xf32>
  %o = tensor.empty(%m, %n) : tensor<?x?xf32>
  %s = linalg.generic {indexing_maps = [#mn, #n, #mn], iterator_types = ["parallel", "parallel"]} ins(%x, %b : tensor<?x?xf32>, tensor<?xf32>) outs(%o : tensor<?x?xf32>) {
  ^bb0(%in: f32, %in2: f32, %out: f32):
    %v = arith.addf %in, %in2 : f32
    linalg.yield %v : f32
  } -> tensor<?x?xf32>
  %cst = arith.constant 0.0 : f32
  %z = linalg.fill ins(%cst : f32) outs(%o : tensor<?x?xf32>) -> tensor<?x?xf32>
  %r = linalg.generic {indexing_maps = [#mn, #mn, #mn], iterator_types = ["parallel", "parallel"]} ins(%s, %z : tensor<?x?xf32>, tensor<?x?xf32>) outs(%o : tensor<?x?xf32>) {
  ^bb0(%in: f32, %in2: f32, %out: f32):
    %v = arith.maximumf %in, %in2 : f32
    linalg.yield %v : f32
  } -> tensor<?x?xf32>
  func.return %r : tensor<?x?xf32>
}

// CHECK:      func.func @broadcast
// CHECK-NEXT:   %r = xfuse.fused @add_relu (%x_1 = %x : tensor<?x?xf32>, %b_1 = %b : tensor<?xf32>) -> tensor<?x?xf32> {
// CHECK-NEXT:     %c0 = arith.constant 0 : index
// CHECK-NEXT:     %c1 = arith.constant 1 : index
// CHECK-NEXT:     %m = tensor.dim %x_1, %c0 : tensor<?x?xf32>
// CHECK-NEXT:     %n = tensor.dim %x_1, %c1 : tensor<?x?xf32>
// CHECK-NEXT:     %o = tensor.empty(%m, %n) : tensor<?x?xf32>
// CHECK:          linalg.generic
// CHECK:          linalg.fill
// CHECK:          linalg.generic
// CHECK:          xfuse.yield

// BACK:      func.func @broadcast
// BACK:        tensor.dim
// BACK-NEXT:   tensor.dim
// BACK-NEXT:   tensor.empty
// BACK-NEXT:   linalg.generic
// BACK:        linalg.fill
// BACK-NEXT:   linalg.generic

// -----

// A scalar that a body captures.

#id = affine_map<(d0) -> (d0)>
func.func @captured(%x: tensor<8xf32>, %b: f32) -> tensor<8xf32> {
  %o = tensor.empty() : tensor<8xf32>
  %s = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%x : tensor<8xf32>) outs(%o : tensor<8xf32>) {
  ^bb0(%in: f32, %out: f32):
    %zero = arith.constant 0.0 : f32
    %v = arith.addf %in, %b : f32
    %w = arith.maximumf %v, %zero : f32
    linalg.yield %w : f32
  } -> tensor<8xf32>
  func.return %s : tensor<8xf32>
}

// CHECK:      func.func @captured
// CHECK-NEXT:   %s = xfuse.fused @add_relu (%x_1 = %x : tensor<8xf32>, %b_1 = %b : f32) -> tensor<8xf32> {
// CHECK-NEXT:     tensor.empty
// CHECK-NEXT:     linalg.generic
// CHECK:            arith.constant
// CHECK-NEXT:       arith.addf %in, %b_1 : f32

// BACK:      func.func @captured(
// BACK-SAME:     %[[B:[^ ]*]]: f32
// BACK:        linalg.generic
// BACK:          arith.addf %{{.*}}, %[[B]] : f32

// -----

// A broadcast of its own.

func.func @linalg_broadcast(%x: tensor<4x8xf32>, %b: tensor<8xf32>) -> tensor<4x8xf32> {
  %o = tensor.empty() : tensor<4x8xf32>
  %bb = linalg.broadcast ins(%b : tensor<8xf32>) outs(%o : tensor<4x8xf32>) dimensions = [0]
  %zero = arith.constant dense<0.0> : tensor<4x8xf32>
  %s = arith.addf %x, %bb : tensor<4x8xf32>
  %r = arith.maximumf %s, %zero : tensor<4x8xf32>
  func.return %r : tensor<4x8xf32>
}

// CHECK:      func.func @linalg_broadcast
// CHECK-NEXT:   %r = xfuse.fused @add_relu (%x_1 = %x : tensor<4x8xf32>, %b_1 = %b : tensor<8xf32>) -> tensor<4x8xf32> {
// CHECK-NEXT:     tensor.empty
// CHECK-NEXT:     %bb = linalg.broadcast ins(%b_1:tensor<8xf32>)

// BACK: func.func @linalg_broadcast
// BACK:   linalg.broadcast

// -----

// An `outs` that is read is an argument.

#id = affine_map<(d0) -> (d0)>
func.func @read_outs(%x: tensor<8xf32>, %b: tensor<8xf32>) -> tensor<8xf32> {
  %zero = arith.constant dense<0.0> : tensor<8xf32>
  %s = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%x : tensor<8xf32>) outs(%b : tensor<8xf32>) {
  ^bb0(%in: f32, %out: f32):
    %v = arith.addf %in, %out : f32
    linalg.yield %v : f32
  } -> tensor<8xf32>
  %r = arith.maximumf %zero, %s : tensor<8xf32>
  func.return %r : tensor<8xf32>
}

// CHECK:      func.func @read_outs
// CHECK-NEXT:   %r = xfuse.fused @add_relu (%x_1 = %x : tensor<8xf32>, %b_1 = %b : tensor<8xf32>) -> tensor<8xf32> {
// CHECK:          linalg.generic
// CHECK-SAME:         ins(%x_1 : tensor<8xf32>) outs(%b_1 : tensor<8xf32>)
// CHECK:          %r_1 = arith.maximumf %zero, %s : tensor<8xf32>

// BACK:      func.func @read_outs
// BACK:        arith.maximumf %[[ZERO:[^ ]*]], %[[S:[^ ]*]] : tensor<8xf32>

// -----

// One that is not read only gives the shape.

func.func @shape_operand(%x: tensor<8xf32>, %b: tensor<8xf32>, %o: tensor<8xf32>) -> tensor<8xf32> {
  %zero = arith.constant dense<0.0> : tensor<8xf32>
  %s = linalg.add ins(%x, %b : tensor<8xf32>, tensor<8xf32>) outs(%o : tensor<8xf32>) -> tensor<8xf32>
  %r = arith.maximumf %s, %zero : tensor<8xf32>
  func.return %r : tensor<8xf32>
}

// CHECK:      func.func @shape_operand
// CHECK-NEXT:   %r = xfuse.fused @add_relu (%x_1 = %x : tensor<8xf32>, %b_1 = %b : tensor<8xf32>) shapes (%o_1 = %o : tensor<8xf32>) -> tensor<8xf32> {
// CHECK-NEXT:     arith.constant
// CHECK-NEXT:     linalg.add ins(%x_1, %b_1 : tensor<8xf32>, tensor<8xf32>) outs(%o_1 : tensor<8xf32>)

// BACK:      func.func @shape_operand(
// BACK-SAME:     %[[O:[^ ]*]]: tensor<8xf32>) ->
// BACK:        linalg.add {{.*}} outs(%[[O]] :

// -----

// Both arguments may be one value; vectors.

func.func @same_value_twice(%x: vector<4xf64>) -> vector<4xf64> {
  %zero = arith.constant dense<0.0> : vector<4xf64>
  %s = arith.addf %x, %x : vector<4xf64>
  %r = arith.maximumf %s, %zero : vector<4xf64>
  func.return %r : vector<4xf64>
}

// CHECK:      func.func @same_value_twice
// CHECK-NEXT:   %r = xfuse.fused @add_relu (%x_1 = %x : vector<4xf64>, %x_2 = %x : vector<4xf64>) -> vector<4xf64> {
// CHECK:          arith.addf %x_1, %x_2 : vector<4xf64>

// BACK:      func.func @same_value_twice(%[[X:.*]]: vector<4xf64>)
// BACK:        arith.addf %[[X]], %[[X]] : vector<4xf64>

// -----

// Two matches in a row share a constant, which something else reads too: each has its own copy.

func.func @shared_constant(%x: f32, %b: f32) -> (f32, f32) {
  %zero = arith.constant 0.0 : f32
  %s = arith.addf %x, %b : f32
  %r = arith.maximumf %s, %zero : f32
  %t = arith.addf %b, %r : f32
  %q = arith.maximumf %t, %zero : f32
  %u = arith.subf %q, %zero : f32
  func.return %q, %u : f32, f32
}

// CHECK:      func.func @shared_constant
// CHECK-NEXT:   %zero = arith.constant 0.000000e+00 : f32
// CHECK-NEXT:   %r = xfuse.fused @add_relu (%x_1 = %x : f32, %b_1 = %b : f32) -> f32 {
// CHECK-NEXT:     arith.constant
// CHECK:        %q = xfuse.fused @add_relu (%b_1 = %b : f32, %r_1 = %r : f32) -> f32 {
// CHECK-NEXT:     arith.constant
// CHECK:        %u = arith.subf %q, %zero : f32

// BACK:      func.func @shared_constant
// BACK-NEXT:   %[[ZERO:.*]] = arith.constant
// BACK-NEXT:   arith.addf
// BACK-NEXT:   arith.maximumf %{{.*}}, %[[ZERO]]
// BACK-NEXT:   arith.addf
// BACK-NEXT:   %[[Q:.*]] = arith.maximumf %{{.*}}, %[[ZERO]]
// BACK-NEXT:   arith.subf %[[Q]], %[[ZERO]]
