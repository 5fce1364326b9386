// RUN: XFUSE_ROUNDTRIP
// RUN: XFUSE_GENERIC_ROUNDTRIP
// RUN: xdsl-opt -f xfuse-mlir --split-input-file --print-op-generic %s | filecheck %s --check-prefix=GENERIC

// A recipe, its element types, and the marks of its arguments.

xfuse.recipe @scaled(%x: f64, %s: f64 {xfuse.scalar}) -> f64 attributes {element_types = [f16, bf16, f32, f64]} {
  %product = arith.mulf %x, %s : f64
  xfuse.yield %product : f64
}

// CHECK:      builtin.module {
// CHECK-NEXT:   xfuse.recipe @scaled(%x: f64, %s: f64 {xfuse.scalar}) -> f64 attributes {element_types = [f16, bf16, f32, f64]} {
// CHECK-NEXT:     %product = arith.mulf %x, %s : f64
// CHECK-NEXT:     xfuse.yield %product : f64
// CHECK-NEXT:   }
// CHECK-NEXT: }

// GENERIC:      "xfuse.recipe"() <{sym_name = "scaled", function_type = (f64, f64) -> f64, element_types = [f16, bf16, f32, f64], arg_attrs = [{}, {xfuse.scalar}]}> ({
// GENERIC-NEXT: ^bb0(%x: f64, %s: f64):
// GENERIC-NEXT:   %product = "arith.mulf"(%x, %s) <{fastmath = #arith.fastmath<none>}> : (f64, f64) -> f64
// GENERIC-NEXT:   "xfuse.yield"(%product) : (f64) -> ()
// GENERIC-NEXT: }) : () -> ()

// -----

// Marks that are not ours, an accumulator, a flattened argument, several results, and attributes.

xfuse.recipe @marked(%x: tensor<?xf64> {other.mark = 2 : i64, xfuse.accumulator = f32, xfuse.flatten}, %y: f64) -> (f64, tensor<?xf64>) attributes {author = "me", element_types = [f64]} {
  %zero = arith.constant 0 : index
  %first = tensor.extract %x[%zero] : tensor<?xf64>
  %sum = arith.addf %first, %y : f64
  xfuse.yield %sum, %x : f64, tensor<?xf64>
}
xfuse.recipe @nullary() -> i1 {
  %true = arith.constant true
  xfuse.yield %true : i1
}

// CHECK:      xfuse.recipe @marked(%x: tensor<?xf64> {other.mark = 2 : i64, xfuse.accumulator = f32, xfuse.flatten}, %y: f64) -> (f64, tensor<?xf64>) attributes {author = "me", element_types = [f64]} {
// CHECK:        xfuse.yield %sum, %x : f64, tensor<?xf64>
// CHECK:      xfuse.recipe @nullary() -> i1 {
// CHECK-NEXT:   %true = arith.constant true
// CHECK-NEXT:   xfuse.yield %true : i1

// -----

// A library is a scope of its own, and so is each recipe: names come again.

xfuse.library @family attributes {license = "Apache-2.0"} {
  xfuse.recipe @a(%x: f32) -> f32 {
    %r = math.exp %x : f32
    xfuse.yield %r : f32
  }
  xfuse.recipe @"b, quoted"(%x: f32) -> f32 {
    %r = math.log %x : f32
    xfuse.yield %r : f32
  }
}
xfuse.library @empty {
}
xfuse.recipe @a(%x: f32) -> f32 {
  %r = math.sqrt %x : f32
  xfuse.yield %r : f32
}

// CHECK:      xfuse.library @family attributes {license = "Apache-2.0"} {
// CHECK-NEXT:   xfuse.recipe @a(%x: f32) -> f32 {
// CHECK-NEXT:     %r = math.exp %x : f32
// CHECK-NEXT:     xfuse.yield %r : f32
// CHECK-NEXT:   }
// CHECK-NEXT:   xfuse.recipe @"b, quoted"(%x: f32) -> f32 {
// CHECK-NEXT:     %r = math.log %x : f32
// CHECK-NEXT:     xfuse.yield %r : f32
// CHECK-NEXT:   }
// CHECK-NEXT: }
// CHECK-NEXT: xfuse.library @empty {
// CHECK-NEXT: }
// CHECK-NEXT: xfuse.recipe @a(%x: f32) -> f32 {

// GENERIC:      "xfuse.library"() <{sym_name = "family"}> ({
// GENERIC-NEXT:   "xfuse.recipe"() <{sym_name = "a", function_type = (f32) -> f32}> ({
// GENERIC:      }) {license = "Apache-2.0"} : () -> ()
// GENERIC-NEXT: "xfuse.library"() <{sym_name = "empty"}> ({
// GENERIC-NEXT: ^{{.*}}:
// GENERIC-NEXT: }) : () -> ()

// -----

// Rows of the binding table.

xfuse.binding @relu (f32) -> f32 on "numpy"
xfuse.binding @family::@relu (f32, tensor<?xi8>) -> (f32, i1) on "llvm" kernel "mine" {note = 1 : i64}
xfuse.binding @source () -> f32 on "llvm"

// CHECK:      xfuse.binding @relu (f32) -> f32 on "numpy"
// CHECK-NEXT: xfuse.binding @family::@relu (f32, tensor<?xi8>) -> (f32, i1) on "llvm" kernel "mine" {note = 1 : i64}
// CHECK-NEXT: xfuse.binding @source () -> f32 on "llvm"

// GENERIC:      "xfuse.binding"() <{recipe = @relu, signature = (f32) -> f32, backend = "numpy"}> : () -> ()
// GENERIC-NEXT: "xfuse.binding"() <{recipe = @family::@relu, signature = (f32, tensor<?xi8>) -> (f32, i1), backend = "llvm", kernel = "mine"}> {note = 1 : i64} : () -> ()

// -----

// A fused op with a label, with one in a library, and with none. Names are its own, values from outside come in by
// `inner = outer`.

func.func @instances(%x: f32, %y: f32) -> (f32, f32, f32, f32) {
  %1 = xfuse.fused @recipe (%a = %x : f32, %b = %y : f32) -> f32 {
    %sum = arith.addf %a, %b : f32
    xfuse.yield %sum : f32
  }
  %2 = xfuse.fused @family::@recipe (%a = %1 : f32, %b = %1 : f32) -> f32 attributes {author = "me", chosen} {
    %sum = arith.addf %a, %b : f32
    xfuse.yield %sum : f32
  }
  %3 = xfuse.fused(%a = %2 : f32) -> (f32) {
    xfuse.yield %a : f32
  }
  %4 = xfuse.fused @"a b.v2"() -> f32 {
    %one = arith.constant 1.0 : f32
    xfuse.yield %one : f32
  }
  func.return %1, %2, %3, %4 : f32, f32, f32, f32
}

// CHECK:      func.func @instances(%x: f32, %y: f32) -> (f32, f32, f32, f32) {
// CHECK-NEXT:   %0 = xfuse.fused @recipe (%a = %x : f32, %b = %y : f32) -> f32 {
// CHECK-NEXT:     %sum = arith.addf %a, %b : f32
// CHECK-NEXT:     xfuse.yield %sum : f32
// CHECK-NEXT:   }
// CHECK-NEXT:   %1 = xfuse.fused @family::@recipe (%a = %0 : f32, %b = %0 : f32) -> f32 attributes {author = "me", chosen} {
// CHECK-NEXT:     %sum = arith.addf %a, %b : f32
// CHECK-NEXT:     xfuse.yield %sum : f32
// CHECK-NEXT:   }
// CHECK-NEXT:   %2 = xfuse.fused (%a = %1 : f32) -> f32 {
// CHECK-NEXT:     xfuse.yield %a : f32
// CHECK-NEXT:   }
// CHECK-NEXT:   %3 = xfuse.fused @"a b.v2" () -> f32 {
// CHECK-NEXT:     %one = arith.constant 1.000000e+00 : f32
// CHECK-NEXT:     xfuse.yield %one : f32
// CHECK-NEXT:   }
// CHECK-NEXT:   func.return %0, %1, %2, %3 : f32, f32, f32, f32

// GENERIC:      %0 = "xfuse.fused"(%x, %y) <{recipe = @recipe, operandSegmentSizes = array<i32: 2, 0>}> ({
// GENERIC-NEXT: ^{{.*}}(%a: f32, %b: f32):
// GENERIC-NEXT:   %sum = "arith.addf"(%a, %b) <{fastmath = #arith.fastmath<none>}> : (f32, f32) -> f32
// GENERIC-NEXT:   "xfuse.yield"(%sum) : (f32) -> ()
// GENERIC-NEXT: }) : (f32, f32) -> f32
// GENERIC-NEXT: %1 = "xfuse.fused"(%0, %0) <{recipe = @family::@recipe, operandSegmentSizes = array<i32: 2, 0>}> ({
// GENERIC:      }) {author = "me", chosen} : (f32, f32) -> f32
// GENERIC-NEXT: %2 = "xfuse.fused"(%1) <{operandSegmentSizes = array<i32: 1, 0>}> ({

// -----

// Several results, operands that only give a shape, and ops with regions inside.

func.func @shapes(%x: tensor<?xf32>, %n: index) -> (tensor<?xf32>, f32) {
  %out = tensor.empty(%n) : tensor<?xf32>
  %zero = arith.constant 0 : index
  %r:2 = xfuse.fused @pair (%a = %x : tensor<?xf32>, %i = %zero : index) shapes (%o = %out : tensor<?xf32>, %m = %n : index) -> (tensor<?xf32>, f32) {
    %fresh = tensor.empty(%m) : tensor<?xf32>
    %e = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]} ins(%a : tensor<?xf32>) outs(%o : tensor<?xf32>) {
    ^bb0(%in: f32, %unread: f32):
      %v = math.exp %in : f32
      linalg.yield %v : f32
    } -> tensor<?xf32>
    %f = tensor.extract %e[%i] : tensor<?xf32>
    xfuse.yield %e, %f : tensor<?xf32>, f32
  }
  func.return %r#0, %r#1 : tensor<?xf32>, f32
}

// CHECK:      %r, %r_1 = xfuse.fused @pair (%a = %x : tensor<?xf32>, %i = %zero : index) shapes (%o = %out : tensor<?xf32>, %m = %n : index) -> (tensor<?xf32>, f32) {
// CHECK-NEXT:   %fresh = tensor.empty(%m) : tensor<?xf32>
// CHECK-NEXT:   %e = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]} ins(%a : tensor<?xf32>) outs(%o : tensor<?xf32>) {
// CHECK:          xfuse.yield %e, %f : tensor<?xf32>, f32
// CHECK-NEXT: }
// CHECK-NEXT: func.return %r, %r_1 : tensor<?xf32>, f32

// GENERIC: %r, %r_1 = "xfuse.fused"(%x, %zero, %out, %n) <{recipe = @pair, operandSegmentSizes = array<i32: 2, 2>}> ({
// GENERIC-NEXT: ^{{.*}}(%a: tensor<?xf32>, %i: index, %o: tensor<?xf32>, %m: index):
// GENERIC: }) : (tensor<?xf32>, index, tensor<?xf32>, index) -> (tensor<?xf32>, f32)

// -----

// Fused ops nest, also in a recipe and in the body of a generic, and may hold pure ops of any dialect.

xfuse.recipe @outer(%x: f32) -> f32 {
  %r = xfuse.fused @inner (%a = %x : f32) -> f32 {
    %s = xfuse.fused (%b = %a : f32) -> f32 {
      %t = math.exp %b : f32
      xfuse.yield %t : f32
    }
    %u = "test.pureop"(%s) : (f32) -> f32
    xfuse.yield %u : f32
  }
  xfuse.yield %r : f32
}
func.func @body(%x: tensor<4xf32>) -> tensor<4xf32> {
  %o = tensor.empty() : tensor<4xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]} ins(%x : tensor<4xf32>) outs(%o : tensor<4xf32>) {
  ^bb0(%in: f32, %unread: f32):
    %f = xfuse.fused @inner (%a = %in : f32) -> f32 {
      %e = math.exp %a : f32
      xfuse.yield %e : f32
    }
    linalg.yield %f : f32
  } -> tensor<4xf32>
  func.return %r : tensor<4xf32>
}

// CHECK:      xfuse.recipe @outer(%x: f32) -> f32 {
// CHECK-NEXT:   %r = xfuse.fused @inner (%a = %x : f32) -> f32 {
// CHECK-NEXT:     %s = xfuse.fused (%b = %a : f32) -> f32 {
// CHECK-NEXT:       %t = math.exp %b : f32
// CHECK-NEXT:       xfuse.yield %t : f32
// CHECK-NEXT:     }
// CHECK-NEXT:     %u = "test.pureop"(%s) : (f32) -> f32
// CHECK-NEXT:     xfuse.yield %u : f32
// CHECK-NEXT:   }
// CHECK-NEXT:   xfuse.yield %r : f32
// CHECK:          %f = xfuse.fused @inner (%a = %in : f32) -> f32 {
// CHECK-NEXT:       %e = math.exp %a : f32
// CHECK-NEXT:       xfuse.yield %e : f32
// CHECK-NEXT:     }
// CHECK-NEXT:     linalg.yield %f : f32
