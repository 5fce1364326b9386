// RUN: xdsl-opt -f xfuse-mlir --split-input-file -p 'xfuse-fuse{library="%S/Inputs/recipes.mlir" explain=true}' %s 2> %t | filecheck %s
// RUN: filecheck %s --input-file %t --check-prefix=EXPLAIN
// RUN: xdsl-opt -f xfuse-mlir --split-input-file -p 'xfuse-fuse{library="%S/Inputs/recipes.mlir"},xfuse-decompose' %s | %mlir-opt --split-input-file | filecheck %s --check-prefix=BACK
// REQUIRES: mlir-opt

// BACK-NOT:      xfuse
// BACK-COUNT-11: func.func @

// What a match is, and what is told on standard error of places that are none.

// An inner value that is used outside the match (rule R4).

func.func @escape(%x: f32, %b: f32) -> (f32, f32) {
  %zero = arith.constant 0.0 : f32
  %s = arith.addf %x, %b : f32
  %r = arith.maximumf %s, %zero : f32
  func.return %r, %s : f32, f32
}

// CHECK:     func.func @escape
// CHECK-NOT:   xfuse.fused
// CHECK:       func.return %r, %s

// EXPLAIN: {{^}}@add_relu refused (R4 escape) at '%s = arith.addf' ({{.*}}fuse_rules.mlir:15:3): an inner value of the recipe, the result of '%s = arith.addf' (line 15), is used outside the match by 'func.return' (line 17){{$}}

// -----

// Another literal: -0.0 is not 0.0 (rule R6).

func.func @other_literal(%x: f32, %b: f32) -> f32 {
  %zero = arith.constant -0.0 : f32
  %s = arith.addf %x, %b : f32
  %r = arith.maximumf %s, %zero : f32
  func.return %r : f32
}

// CHECK:     func.func @other_literal
// CHECK-NOT:   xfuse.fused
// CHECK:       func.return

// EXPLAIN: {{^}}@add_relu refused (R6 mismatch) at '%zero = arith.constant' ({{.*}}): expected the literal 0.0 : f32, found the literal -0.0 : f32{{$}}

// -----

// An element type that the recipe is not for.

func.func @type(%x: f16, %y: f16) -> (f16, f16) {
  %sin = math.sin %x : f16
  %d = arith.subf %sin, %y : f16
  %s = arith.addf %y, %sin : f16
  func.return %d, %s : f16, f16
}

// CHECK:     func.func @type
// CHECK-NOT:   xfuse.fused
// CHECK:       func.return

// -----

// Fast-math flags beyond the recipe's are kept in the region.

func.func @flags(%x: f32, %b: f32) -> f32 {
  %zero = arith.constant 0.0 : f32
  %s = arith.addf %x, %b fastmath<contract> : f32
  %r = arith.maximumf %s, %zero fastmath<nnan> : f32
  func.return %r : f32
}

// CHECK:      func.func @flags
// CHECK-NEXT:   %r = xfuse.fused @add_relu (
// CHECK-NEXT:     %zero = arith.constant
// CHECK-NEXT:     %s = arith.addf %x_1, %b_1 fastmath<contract> : f32
// CHECK-NEXT:     %r_1 = arith.maximumf %s, %zero fastmath<nnan> : f32

// EXPLAIN: {{^}}fused @add_relu on llvm at '%r = arith.maximumf' ({{.*}}): '%s = arith.addf' (line 7), '%r = arith.maximumf' (line 8){{$}}

// -----

// A scalar slot binds a splat constant, which stays outside; no other constant, and no variable.

func.func @slot(%x: tensor<4xf32>, %y: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) {
  %three = arith.constant dense<3.0> : tensor<4xf32>
  %p = arith.mulf %x, %three : tensor<4xf32>
  %s = arith.addf %p, %y : tensor<4xf32>
  %list = arith.constant dense<[3.0, 3.0, 3.0, 4.0]> : tensor<4xf32>
  %p2 = arith.mulf %x, %list : tensor<4xf32>
  %s2 = arith.addf %p2, %y : tensor<4xf32>
  %p3 = arith.mulf %x, %y : tensor<4xf32>
  %s3 = arith.addf %p3, %y : tensor<4xf32>
  func.return %s, %s2, %s3 : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
}

// CHECK:      func.func @slot
// CHECK-NEXT:   %three = arith.constant dense<3.000000e+00> : tensor<4xf32>
// CHECK-NEXT:   %s = xfuse.fused @scale_shift (%x_1 = %x : tensor<4xf32>, %three_1 = %three : tensor<4xf32>, %y_1 = %y : tensor<4xf32>) -> tensor<4xf32> {
// CHECK-NEXT:     arith.mulf %x_1, %three_1 : tensor<4xf32>
// CHECK-NEXT:     arith.addf
// CHECK-NEXT:     xfuse.yield
// CHECK-NEXT:   }
// CHECK-NOT:    xfuse.fused
// CHECK:        func.return

// EXPLAIN: {{^}}fused @scale_shift on llvm at '%s = arith.addf' ({{.*}}): '%p = arith.mulf' (line 7), '%s = arith.addf' (line 8){{$}}
// EXPLAIN: {{^}}@scale_shift refused (R6 mismatch) at '%list = arith.constant' ({{.*}}): expected a scalar or splat constant for argument %scale of the recipe : f32, found a table of constants
// EXPLAIN: {{^}}@scale_shift refused (R6 mismatch) at '%p3 = arith.mulf' ({{.*}}): expected a scalar or splat constant for argument %scale of the recipe : f32, found the argument %y : f32

// -----

// Several results, whatever their order in the program.

func.func @several(%x: tensor<4xf32>, %y: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %sin = math.sin %x : tensor<4xf32>
  %d = arith.subf %sin, %y : tensor<4xf32>
  %s = arith.addf %y, %sin : tensor<4xf32>
  func.return %d, %s : tensor<4xf32>, tensor<4xf32>
}

// CHECK:      func.func @several
// CHECK-NEXT:   %s, %d = xfuse.fused @sum_difference (%x_1 = %x : tensor<4xf32>, %y_1 = %y : tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
// CHECK-NEXT:     %sin = math.sin %x_1
// CHECK-NEXT:     %d_1 = arith.subf %sin, %y_1
// CHECK-NEXT:     %s_1 = arith.addf %y_1, %sin
// CHECK-NEXT:     xfuse.yield %s_1, %d_1
// CHECK:        func.return %d, %s

// EXPLAIN: {{^}}fused @sum_difference on llvm at '%s = arith.addf' ({{.*}}): '%sin = math.sin' (line 6), '%d = arith.subf' (line 7), '%s = arith.addf' (line 8){{$}}

// -----

// A recipe without element types is for the written types. Operands of commutative ops come in any order, and stay so.

func.func @integers(%x: i32, %y: i32, %z: i64) -> (i32, i64) {
  %xor = arith.xori %y, %x : i32
  %r = arith.muli %x, %xor : i32
  %xor2 = arith.xori %z, %z : i64
  %r2 = arith.muli %z, %xor2 : i64
  func.return %r, %r2 : i32, i64
}

// CHECK:      func.func @integers
// CHECK-NEXT:   %r = xfuse.fused @mix (
// CHECK-NEXT:     %xor = arith.xori %y_1, %x_1 : i32
// CHECK-NEXT:     %r_1 = arith.muli %x_1, %xor : i32
// CHECK:        %xor2 = arith.xori %z, %z : i64
// CHECK-NEXT:   arith.muli

// -----

// In a region of control flow.

func.func @nested(%c: i1, %x: f32, %b: f32) -> f32 {
  %zero = arith.constant 0.0 : f32
  %r = scf.if %c -> (f32) {
    %s = arith.addf %x, %b : f32
    %m = arith.maximumf %s, %zero : f32
    scf.yield %m : f32
  } else {
    scf.yield %x : f32
  }
  func.return %r : f32
}

// CHECK:      func.func @nested
// CHECK:        scf.if
// CHECK-NEXT:     %m = xfuse.fused @add_relu (%x_1 = %x : f32, %b_1 = %b : f32) -> f32 {

// -----

// No match goes across its border.

func.func @across(%c: i1, %x: f32, %b: f32) -> f32 {
  %zero = arith.constant 0.0 : f32
  %s = arith.addf %x, %b : f32
  %r = scf.if %c -> (f32) {
    %m = arith.maximumf %s, %zero : f32
    scf.yield %m : f32
  } else {
    scf.yield %x : f32
  }
  func.return %r : f32
}

// CHECK:     func.func @across
// CHECK-NOT:   xfuse.fused
// CHECK:       func.return

// -----

// A match does not go through a call; what it does not touch stays in order.

func.func @leaves(%x: f32) -> f32 {
  %zero = arith.constant 0.0 : f32
  %s = arith.addf %x, %x : f32
  %r = arith.maximumf %s, %zero : f32
  %one = arith.constant 1.0 : f32
  %n = arith.negf %r : f32
  %e = math.exp %n : f32
  %o = func.call @g(%e) : (f32) -> f32
  %a = arith.addf %one, %o : f32
  %q = arith.divf %r, %a : f32
  func.return %q : f32
}
func.func private @g(f32) -> f32

// CHECK:      func.func @leaves
// CHECK-NEXT:   %r = xfuse.fused @add_relu (%x_1 = %x : f32, %x_2 = %x : f32) -> f32 {
// CHECK-NEXT:     %zero = arith.constant
// CHECK-NEXT:     arith.addf
// CHECK-NEXT:     arith.maximumf
// CHECK-NEXT:     xfuse.yield
// CHECK-NEXT:   }
// CHECK-NEXT:   %one = arith.constant
// CHECK-NEXT:   arith.negf
// CHECK-NEXT:   math.exp
// CHECK-NEXT:   func.call @g
// CHECK-NEXT:   arith.addf
// CHECK-NEXT:   arith.divf
// CHECK-NEXT:   func.return

// -----

// Of two that overlap the larger is taken (rule R7), or the earlier recipe.

func.func @overlap(%x: f32, %y: f32, %z: f32) -> f32 {
  %zero = arith.constant 0.0 : f32
  %one = arith.constant 1.0 : f32
  %p = arith.mulf %x, %one : f32
  %s = arith.addf %p, %y : f32
  %r = arith.maximumf %s, %zero : f32
  %t = arith.addf %z, %r : f32
  %q = arith.maximumf %zero, %t : f32
  func.return %q : f32
}

// CHECK:      func.func @overlap
// CHECK-DAG:    %one = arith.constant 1.000000e+00 : f32
// CHECK:        %r = xfuse.fused @add_relu (
// CHECK:        %q = xfuse.fused @add_relu (
