// RUN: xdsl-opt -f xfuse-mlir --split-input-file --verify-diagnostics --parsing-diagnostics --allow-unregistered-dialect %s | filecheck %s

// No block.

%x = "test.op"() : () -> f32
%r = "xfuse.fused"(%x) <{operandSegmentSizes = array<i32: 1, 0>}> ({}) : (f32) -> f32

// CHECK: {{^}}'xfuse.fused' (law L1) expected a region of one block, got 0 blocks

// -----

// A block without ops.

%x = "test.op"() : () -> f32
%r = "xfuse.fused"(%x) <{operandSegmentSizes = array<i32: 1, 0>}> ({^bb0(%a: f32):}) : (f32) -> f32

// CHECK: {{^}}Operation xfuse.fused contains empty block in single-block region that expects at least a terminator

// -----

// Two blocks.

%x = "test.op"() : () -> f32
%r = "xfuse.fused"(%x) <{operandSegmentSizes = array<i32: 1, 0>}> ({
^bb0(%a: f32):
  "xfuse.yield"(%a) : (f32) -> ()
^bb1(%b: f32):
  "xfuse.yield"(%b) : (f32) -> ()
}) : (f32) -> f32

// CHECK: {{^}}'xfuse.fused' (law L1) expected a region of one block, got 2 blocks

// -----

// No terminator.

%x = "test.op"() : () -> f32
%r = "xfuse.fused"(%x) <{operandSegmentSizes = array<i32: 1, 0>}> ({
^bb0(%a: f32):
  %n = arith.negf %a : f32
}) : (f32) -> f32

// CHECK: {{^}}Operation arith.negf terminates block in single-block region but is not a terminator

// -----

// Another dialect's terminator, which says itself that it does not belong here.

%x = "test.op"() : () -> f32
%r = "xfuse.fused"(%x) <{operandSegmentSizes = array<i32: 1, 0>}> ({
^bb0(%a: f32):
  "func.return"(%a) : (f32) -> ()
}) : (f32) -> f32

// CHECK: {{^}}'func.return' expects parent op 'func.func'

// -----

// Another dialect's terminator that does not.

%x = "test.op"() : () -> f32
%r = "xfuse.fused"(%x) <{operandSegmentSizes = array<i32: 1, 0>}> ({
^bb0(%a: f32):
  "linalg.yield"(%a) : (f32) -> ()
}) : (f32) -> f32

// CHECK: {{^}}'xfuse.fused' (law L1) expected its region to end in 'xfuse.yield', got 'linalg.yield'

// -----

// More block arguments than operands.

%x = "test.op"() : () -> f32
%r = "xfuse.fused"(%x) <{operandSegmentSizes = array<i32: 1, 0>}> ({
^bb0(%a: f32, %b: f32):
  "xfuse.yield"(%a) : (f32) -> ()
}) : (f32) -> f32

// CHECK: {{^}}'xfuse.fused' (law L1) expected block arguments of types (f32), got (f32, f32)

// -----

// A block argument of another type than its operand.

%x = "test.op"() : () -> f32
%r = "xfuse.fused"(%x) <{operandSegmentSizes = array<i32: 1, 0>}> ({
^bb0(%a: f64):
  "xfuse.yield"(%a) : (f64) -> ()
}) : (f32) -> f32

// CHECK: {{^}}'xfuse.fused' (law L1) expected block arguments of types (f32), got (f64)

// -----

// A result of another type than the value yielded.

%x = "test.op"() : () -> f32
%r = "xfuse.fused"(%x) <{operandSegmentSizes = array<i32: 1, 0>}> ({
^bb0(%a: f32):
  "xfuse.yield"(%a) : (f32) -> ()
}) : (f32) -> f64

// CHECK: {{^}}'xfuse.fused' (law L1) expected 'xfuse.yield' of types (f64), got (f32)

// -----

// A value captured from outside.

%x = "test.op"() : () -> f32
%y = "test.op"() : () -> f32
%r = "xfuse.fused"(%x) <{operandSegmentSizes = array<i32: 1, 0>}> ({
^bb0(%a: f32):
  %n = arith.addf %a, %y : f32
  "xfuse.yield"(%n) : (f32) -> ()
}) : (f32) -> f32

// CHECK: {{^}}Operation using value defined out of its IsolatedFromAbove parent: AddfOp(%n = arith.addf %a, %y : f32)

// -----

// A value captured by an op inside an op.

%x = "test.op"() : () -> tensor<4xf32>
%y = "test.op"() : () -> f32
%r = xfuse.fused(%a = %x : tensor<4xf32>) -> tensor<4xf32> {
  %e = tensor.empty() : tensor<4xf32>
  %n = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]} ins(%a : tensor<4xf32>) outs(%e : tensor<4xf32>) {
  ^bb0(%i: f32, %o: f32):
    %s = arith.addf %i, %y : f32
    linalg.yield %s : f32
  } -> tensor<4xf32>
  xfuse.yield %n : tensor<4xf32>
}

// CHECK: {{^}}Operation using value defined out of its IsolatedFromAbove parent: AddfOp(%s = arith.addf %i, %y : f32)

// -----

// An op with effects.

%m = "test.op"() : () -> memref<f32>
%x = "test.op"() : () -> f32
%r = "xfuse.fused"(%x, %m) <{operandSegmentSizes = array<i32: 2, 0>}> ({
^bb0(%a: f32, %mm : memref<f32>):
  memref.store %a, %mm[] : memref<f32>
  %n = arith.negf %a : f32
  "xfuse.yield"(%n) : (f32) -> ()
}) : (f32, memref<f32>) -> f32

// CHECK: {{^}}'xfuse.fused' (law L1) holds 'memref.store', which is outside the vocabulary and not provably pure

// -----

// A call.

func.func private @f(f32) -> f32
%x = "test.op"() : () -> f32
%r = "xfuse.fused"(%x) <{operandSegmentSizes = array<i32: 1, 0>}> ({
^bb0(%a: f32):
  %n = func.call @f(%a) : (f32) -> f32
  "xfuse.yield"(%n) : (f32) -> ()
}) : (f32) -> f32

// CHECK: {{^}}'xfuse.fused' (law L1) holds 'func.call', which is outside the vocabulary and not provably pure

// -----

// An op of unknown effects.

%x = "test.op"() : () -> f32
%r = "xfuse.fused"(%x) <{operandSegmentSizes = array<i32: 1, 0>}> ({
^bb0(%a: f32):
  printf.print_format "x"
  %n = arith.negf %a : f32
  "xfuse.yield"(%n) : (f32) -> ()
}) : (f32) -> f32

// CHECK: {{^}}'xfuse.fused' (law L1) holds 'printf.print_format', which is outside the vocabulary and not provably pure

// -----

// An unregistered op.

%x = "test.op"() : () -> f32
%r = "xfuse.fused"(%x) <{operandSegmentSizes = array<i32: 1, 0>}> ({
^bb0(%a: f32):
  %n = "foo.bar"(%a) : (f32) -> f32
  "xfuse.yield"(%n) : (f32) -> ()
}) : (f32) -> f32

// CHECK: {{^}}'xfuse.fused' (law L1) holds the unregistered op 'foo.bar', which nothing proves pure

// -----

// The op reads its own result.

%r = "xfuse.fused"(%r) <{operandSegmentSizes = array<i32: 1, 0>}> ({
^bb0(%a: f32):
  %n = arith.negf %a : f32
  "xfuse.yield"(%n) : (f32) -> ()
}) : (f32) -> f32

// CHECK: {{^}}'xfuse.fused' (law L8) reads its own result

// -----

// Its region reads its result.

%x = "test.op"() : () -> f32
%r = "xfuse.fused"(%x) <{operandSegmentSizes = array<i32: 1, 0>}> ({
^bb0(%a: f32):
  %n = arith.addf %a, %r : f32
  "xfuse.yield"(%n) : (f32) -> ()
}) : (f32) -> f32

// CHECK: {{^}}Operation using value defined out of its IsolatedFromAbove parent: AddfOp(%n = arith.addf %a, %r : f32)

// -----

// An op inside reads its own result.

%x = "test.op"() : () -> f32
%r = "xfuse.fused"(%x) <{operandSegmentSizes = array<i32: 1, 0>}> ({
^bb0(%a: f32):
  %n = "arith.addf"(%a, %n) : (f32, f32) -> f32
  "xfuse.yield"(%n) : (f32) -> ()
}) : (f32) -> f32

// CHECK: {{^}}'xfuse.fused' (law L8) holds 'arith.addf', which reads a value before it is defined

// -----

// Use before definition.

%x = "test.op"() : () -> f32
%r = "xfuse.fused"(%x) <{operandSegmentSizes = array<i32: 1, 0>}> ({
^bb0(%a: f32):
  %n = "arith.addf"(%a, %m) : (f32, f32) -> f32
  %m = arith.negf %a : f32
  "xfuse.yield"(%n) : (f32) -> ()
}) : (f32) -> f32

// CHECK: {{^}}'xfuse.fused' (law L8) holds 'arith.addf', which reads a value before it is defined

// -----

// Use before definition, from within an op.

%x = "test.op"() : () -> tensor<4xf32>
%y = "test.op"() : () -> f32
%r = xfuse.fused(%a = %x : tensor<4xf32>, %b = %y : f32) -> tensor<4xf32> {
  %e = tensor.empty() : tensor<4xf32>
  %n = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]} ins(%a : tensor<4xf32>) outs(%e : tensor<4xf32>) {
  ^bb0(%i: f32, %o: f32):
    %s = arith.addf %i, %later : f32
    linalg.yield %s : f32
  } -> tensor<4xf32>
  %later = arith.negf %b : f32
  xfuse.yield %n : tensor<4xf32>
}

// CHECK: {{^}}'xfuse.fused' (law L8) holds 'arith.addf', which reads a value before it is defined

// -----

// Use before definition, in the region of an op.

%x = "test.op"() : () -> tensor<4xf32>
%r = xfuse.fused(%a = %x : tensor<4xf32>) -> tensor<4xf32> {
  %e = tensor.empty() : tensor<4xf32>
  %n = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]} ins(%a : tensor<4xf32>) outs(%e : tensor<4xf32>) {
  ^bb0(%i: f32, %o: f32):
    %s = arith.addf %i, %later : f32
    %later = arith.negf %i : f32
    linalg.yield %s : f32
  } -> tensor<4xf32>
  xfuse.yield %n : tensor<4xf32>
}

// CHECK: {{^}}'xfuse.fused' (law L8) holds 'arith.addf', which reads a value before it is defined

// -----

// A yield outside.

%x = "test.op"() : () -> f32
"xfuse.yield"(%x) : (f32) -> ()

// CHECK: {{^}}'xfuse.yield' expects parent op to be one of 'xfuse.fused', 'xfuse.recipe'

// -----

func.func @f(%x: f32) {
  xfuse.yield %x : f32
}

// CHECK: {{^}}'xfuse.yield' expects parent op to be one of 'xfuse.fused', 'xfuse.recipe'

// -----

// A yield in the middle.

%x = "test.op"() : () -> f32
%r = "xfuse.fused"(%x) <{operandSegmentSizes = array<i32: 1, 0>}> ({
^bb0(%a: f32):
  "xfuse.yield"(%a) : (f32) -> ()
  "xfuse.yield"(%a) : (f32) -> ()
}) : (f32) -> f32

// CHECK: {{^}}'xfuse.yield' must be the last operation in its parent block

// -----

// No results.

"xfuse.fused"() <{operandSegmentSizes = array<i32: 0, 0>}> ({
  "xfuse.yield"() : () -> ()
}) : () -> ()

// CHECK: {{^}}'xfuse.yield' expected at least one value

// -----

// A recipe that refers to itself.

xfuse.recipe @r(%a: f32) -> f32 {
  %x = xfuse.fused @r(%b = %a : f32) -> f32 {
    %n = arith.negf %b : f32
    xfuse.yield %n : f32
  }
  xfuse.yield %x : f32
}

// CHECK: {{^}}'xfuse.recipe' (law L1) @r refers to itself

// -----

// The same rules hold for a recipe's region.

"xfuse.recipe"() <{sym_name = "r", function_type = (f32) -> f32}> ({}) : () -> ()

// CHECK: {{^}}'xfuse.recipe' (law L1) expected a region of one block, got 0 blocks

// -----

"xfuse.recipe"() <{sym_name = "r", function_type = (f32) -> f32}> ({^bb0(%a: f32):}) : () -> ()

// CHECK: {{^}}Operation xfuse.recipe contains empty block in single-block region that expects at least a terminator

// -----

"xfuse.recipe"() <{sym_name = "r", function_type = (f32) -> f32}> ({^bb0(%a: f64):
  xfuse.yield %a : f64}) : () -> ()

// CHECK: {{^}}'xfuse.recipe' (law L1) expected block arguments of types (f32), got (f64)

// -----

"xfuse.recipe"() <{sym_name = "r", function_type = (f32) -> ()}> ({^bb0(%a: f32):
  "xfuse.yield"() : () -> ()}) : () -> ()

// CHECK: {{^}}'xfuse.yield' expected at least one value

// -----

// Not one dictionary of marks per argument.

"xfuse.recipe"() <{sym_name = "r", function_type = (f32) -> f32, arg_attrs = [{}, {}]}> ({^bb0(%a: f32):
  %n = arith.negf %a : f32
  xfuse.yield %n : f32}) : () -> ()

// CHECK: {{^}}'xfuse.recipe' expected one dictionary of marks per argument (1), got 2

// -----

"xfuse.recipe"() <{sym_name = "r", function_type = (f32) -> f32, arg_attrs = []}> ({^bb0(%a: f32):
  %n = arith.negf %a : f32
  xfuse.yield %n : f32}) : () -> ()

// CHECK: {{^}}'xfuse.recipe' expected one dictionary of marks per argument (1), got 0

// -----

// Properties of the wrong kind, or missing.

"xfuse.recipe"() <{sym_name = "r", function_type = (f32) -> f32, arg_attrs = [1]}> ({^bb0(%a: f32):
  %n = arith.negf %a : f32
  xfuse.yield %n : f32}) : () -> ()

// CHECK: {{^}}1 : i64 should be of base attribute dictionary

// -----

"xfuse.recipe"() <{sym_name = "r", function_type = f32}> ({^bb0(%a: f32):
  %n = arith.negf %a : f32
  xfuse.yield %n : f32}) : () -> ()

// CHECK: {{^}}f32 should be of base attribute fun

// -----

"xfuse.recipe"() <{function_type = (f32) -> f32}> ({^bb0(%a: f32):
  %n = arith.negf %a : f32
  xfuse.yield %n : f32}) : () -> ()

// CHECK: {{^}}property 'sym_name' expected in operation 'xfuse.recipe'

// -----

// Element types that are none.

xfuse.recipe @r(%a: f32) -> f32 attributes {element_types = [1 : i32]} {
  %n = arith.negf %a : f32
  xfuse.yield %n : f32
}

// CHECK: {{^}}'xfuse.recipe' expected element_types to be floats or integers, got 1 : i32

// -----

xfuse.recipe @r(%a: f32) -> f32 attributes {element_types = f32} {
  %n = arith.negf %a : f32
  xfuse.yield %n : f32
}

// CHECK: {{^}}expected ArrayAttr attribute, but got '<class 'xdsl.dialects.builtin.Float32Type'>'

// -----

// A library holds recipes only.

xfuse.library @l { func.func private @f() }

// CHECK: {{^}}'xfuse.library' expected only 'xfuse.recipe', got 'func.func'

// -----

xfuse.library @l { xfuse.binding @r (f32) -> f32 on "numpy" }

// CHECK: {{^}}'xfuse.library' expected only 'xfuse.recipe', got 'xfuse.binding'

// -----

// A library is one block without terminator.

"xfuse.library"() <{sym_name = "l"}> ({}) : () -> ()

// CHECK: {{^(Operations with a 'SymbolTable' must have exactly one block|'xfuse.library' does not contain single-block regions)}}

// -----

xfuse.library @l {
^bb0:
^bb1:
}

// CHECK: {{^(Operations with a 'SymbolTable' must have exactly one block|'xfuse.library' does not contain single-block regions)}}

// -----

// Two recipes of one name in a library.

xfuse.library @l { 
xfuse.recipe @r(%a: f32) -> f32 {
  %n = arith.negf %a : f32
  xfuse.yield %n : f32
}
xfuse.recipe @r(%a: f32) -> f32 {
  %n = math.exp %a : f32
  xfuse.yield %n : f32
}
}

// CHECK: {{^}}Redefinition of symbol "r"

// -----

// A binding without results.

xfuse.binding @r (f32) -> () on "numpy"

// CHECK: {{^}}'xfuse.binding' expected a signature with at least one result

// -----

// Properties of a binding.

xfuse.binding @r (f32) -> f32 on "numpy" kernel @k

// CHECK: {{^}}@k should be of base attribute string

// -----

xfuse.binding @r f32 on "numpy"

// CHECK: {{^}}f32 should be of base attribute fun

// -----

"xfuse.binding"() : () -> ()

// CHECK: {{^}}property 'recipe' expected in operation 'xfuse.binding'

// -----

// An operand that is not defined anywhere.

xfuse.fused @r(%a = %x : f32) -> f32 { xfuse.yield %a : f32 }

// CHECK: values used but not defined: [%x]

// -----

// A name from outside is taken.

%x = "test.op"() : () -> f32
%r = xfuse.fused @r(%x = %x : f32) -> f32 { xfuse.yield %x : f32 }

// CHECK:     {{.*}}:21
// CHECK-NEXT: %r = xfuse.fused @r(%x = %x : f32) -> f32 { xfuse.yield %x : f32 }
// CHECK-NEXT:                     ^^
// CHECK-NEXT:                     SSA value %x is already defined

// -----

// No type.

%x = "test.op"() : () -> f32
%r = xfuse.fused @r(%a = %x) -> f32 { xfuse.yield %a : f32 }

// CHECK:     {{.*}}:28
// CHECK-NEXT: %r = xfuse.fused @r(%a = %x) -> f32 { xfuse.yield %a : f32 }
// CHECK-NEXT:                            ^
// CHECK-NEXT:                            Expected ':'

// -----

// Another type.

%x = "test.op"() : () -> f32
%r = xfuse.fused @r(%a = %x : f64) -> f64 { xfuse.yield %a : f64 }

// CHECK:     {{.*}}:26
// CHECK-NEXT: %r = xfuse.fused @r(%a = %x : f64) -> f64 { xfuse.yield %a : f64 }
// CHECK-NEXT:                          ^^
// CHECK-NEXT:                          operand is used with type f64, but has been previously used or defined with type f32

// -----

// Segments that do not add up.

%x = "test.op"() : () -> f32
%r = "xfuse.fused"(%x) <{operandSegmentSizes = array<i32: 1, 1>}> ({
^bb0(%a: f32):
  "xfuse.yield"(%a) : (f32) -> ()
}) : (f32) -> f32

// CHECK: {{^}}operand count (1) does not match with the total size (2) specified in attribute 'operandSegmentSizes'

// -----

// No segments.

%x = "test.op"() : () -> f32
%r = "xfuse.fused"(%x) ({
^bb0(%a: f32):
  "xfuse.yield"(%a) : (f32) -> ()
}) : (f32) -> f32

// CHECK: {{^}}Expected operandSegmentSizes property in xfuse.fused operation.

// -----

// A label that is no symbol.

%x = "test.op"() : () -> f32
%r = "xfuse.fused"(%x) <{operandSegmentSizes = array<i32: 1, 0>, recipe = "r"}> ({
^bb0(%a: f32):
  "xfuse.yield"(%a) : (f32) -> ()
}) : (f32) -> f32

// CHECK: {{^}}"r" should be of base attribute symbol_ref

// -----

// No region at all.

%x = "test.op"() : () -> f32
%r = "xfuse.fused"(%x) <{operandSegmentSizes = array<i32: 1, 0>}> : (f32) -> f32

// CHECK: {{^}}Expected 1 region, but got 0

// -----

// Properties given as attributes.

%x = "test.op"() : () -> f32
%r = xfuse.fused @r(%a = %x : f32) -> f32 attributes {operandSegmentSizes = array<i32: 0, 1>} { xfuse.yield %a : f32 }

// CHECK:     {{.*}}:43
// CHECK-NEXT: %r = xfuse.fused @r(%a = %x : f32) -> f32 attributes {operandSegmentSizes = array<i32: 0, 1>} { xfuse.yield %a : f32 }
// CHECK-NEXT:                                           ^
// CHECK-NEXT:                                           'operandSegmentSizes' is a property, not an attribute; it has a syntax of its own

// -----

// A recipe in a place for ops.

func.func @f(%x: f32) -> f32 {
  xfuse.recipe @r(%a: f32) -> f32 {
    %n = arith.negf %a : f32
    xfuse.yield %n : f32
  }
  func.return %x : f32
}

// CHECK: {{^}}'xfuse.recipe' expects parent op to be one of 'builtin.module', 'xfuse.library'

// -----

// Modules, and bindings, are no ops to fuse.

%x = "test.op"() : () -> f32
%r = xfuse.fused (%a = %x : f32) -> f32 {
  builtin.module { }
  %n = arith.negf %a : f32
  xfuse.yield %n : f32
}

// CHECK: {{^}}'xfuse.fused' (law L1) holds 'builtin.module', which is outside the vocabulary and not provably pure

// -----

%x = "test.op"() : () -> f32
%r = xfuse.fused (%a = %x : f32) -> f32 {
  xfuse.binding @r (f32) -> f32 on "numpy"
  %n = arith.negf %a : f32
  xfuse.yield %n : f32
}

// CHECK: {{^}}'xfuse.fused' (law L1) holds 'xfuse.binding', which is outside the vocabulary and not provably pure

// -----

// A branch.

%x = "test.op"() : () -> f32
%r = xfuse.fused (%a = %x : f32) -> f32 {
  cf.br ^bb0
}

// CHECK: region ends with missing block declarations for block(s) bb0

// -----

// Marks: their names, values, and the arguments that they fit.

xfuse.recipe @r(%a: f32 {xfuse.scaler}) -> f32 {
  %n = arith.negf %a : f32
  xfuse.yield %n : f32
}

// CHECK: {{^}}'xfuse.recipe' argument 0: unknown mark 'xfuse.scaler', expected 'xfuse.scalar', 'xfuse.flatten' or 'xfuse.accumulator'

// -----

xfuse.recipe @r(%a: f32 {xfuse.flatten}) -> f32 {
  %n = arith.negf %a : f32
  xfuse.yield %n : f32
}

// CHECK: {{^}}'xfuse.recipe' argument 0: 'xfuse.flatten' expected a tensor of one dimension, got f32

// -----

xfuse.recipe @r(%a: tensor<?xf32> {xfuse.scalar}) -> tensor<?xf32> {
  %n = arith.negf %a : tensor<?xf32>
  xfuse.yield %n : tensor<?xf32>
}

// CHECK: {{^}}'xfuse.recipe' argument 0: 'xfuse.scalar' expected a scalar, got tensor<?xf32>

// -----

xfuse.recipe @r(%a: f32 {xfuse.scalar = 1.0 : f32, other.mark = 2}) -> f32 {
  %n = arith.negf %a : f32
  xfuse.yield %n : f32
}

// CHECK: {{^}}'xfuse.recipe' argument 0: 'xfuse.scalar' takes no value, got 1.000000e+00 : f32

// -----

xfuse.recipe @r(%a: f32 {xfuse.accumulator = 1.0 : f32}) -> f32 {
  %n = arith.negf %a : f32
  xfuse.yield %n : f32
}

// CHECK: {{^}}'xfuse.recipe' argument 0: 'xfuse.accumulator' expected an element type, got 1.000000e+00 : f32

// -----

// No element types.

xfuse.recipe @r(%a: f32 {xfuse.accumulator = f32, xfuse.scalar}) -> f32 attributes {element_types = []} {
  %n = arith.negf %a : f32
  xfuse.yield %n : f32
}

// CHECK: {{^}}'xfuse.recipe' expected at least one type in element_types

// -----

// Marks have a syntax of their own.

xfuse.recipe @r(%a: f32) -> f32 attributes {arg_attrs = []} {
  %n = arith.negf %a : f32
  xfuse.yield %n : f32
}

// CHECK:     {{.*}}:33
// CHECK-NEXT: xfuse.recipe @r(%a: f32) -> f32 attributes {arg_attrs = []} {
// CHECK-NEXT:                                 ^
// CHECK-NEXT:                                 'arg_attrs' is a property, not an attribute; it has a syntax of its own

// -----

// No results.

xfuse.recipe @r(%a: f32) -> () {
  xfuse.yield
}

// CHECK: {{^}}'xfuse.yield' expected at least one value

// -----

// An argument without type.

xfuse.recipe @r(%a) -> f32 {
  xfuse.yield %a : f32
}

// CHECK:     {{.*}}:19
// CHECK-NEXT: xfuse.recipe @r(%a) -> f32 {
// CHECK-NEXT:                   ^
// CHECK-NEXT:                   Expected ':' after block argument name!

// -----

// Extents that are known to be equal come as four numbers each.

func.func @f(%x: tensor<?xf32>, %o: tensor<?xf32>) -> tensor<?xf32> {
  %r = xfuse.fused (%a = %x : tensor<?xf32>) shapes (%s = %o : tensor<?xf32>) -> tensor<?xf32> attributes {same_extents = array<i64: 0, 0, 0>} {
    %n = math.exp %a : tensor<?xf32>
    xfuse.yield %n : tensor<?xf32>
  }
  func.return %r : tensor<?xf32>
}

// CHECK: {{^}}'xfuse.fused' expected four numbers for each of same_extents: shape operand, axis, input, axis; got 3

// -----

func.func @f(%x: tensor<?xf32>, %o: tensor<?xf32>) -> tensor<?xf32> {
  %r = xfuse.fused (%a = %x : tensor<?xf32>) shapes (%s = %o : tensor<?xf32>) -> tensor<?xf32> attributes {same_extents = array<i64: 0, 1, 0, 0>} {
    %n = math.exp %a : tensor<?xf32>
    xfuse.yield %n : tensor<?xf32>
  }
  func.return %r : tensor<?xf32>
}

// CHECK: {{^}}'xfuse.fused' same_extents names axis 1 of shape operand 0 and axis 0 of input 0, one of which the op does not have

// -----

func.func @f(%x: tensor<4xf32>, %o: tensor<5xf32>) -> tensor<4xf32> {
  %r = xfuse.fused (%a = %x : tensor<4xf32>) shapes (%s = %o : tensor<5xf32>) -> tensor<4xf32> attributes {same_extents = array<i64: 0, 0, 0, 0>} {
    %n = math.exp %a : tensor<4xf32>
    xfuse.yield %n : tensor<4xf32>
  }
  func.return %r : tensor<4xf32>
}

// CHECK: {{^}}'xfuse.fused' same_extents says that 5 and 4 are equal
