// Loops, and what stands for leaves of a graph: the spellings verify and print to what reads back; instances decompose
// to plain ops that real mlir-opt takes.

// RUN: xdsl-opt -f xfuse-mlir %S/../../xfuse/primitives/vocabulary/loops.mlir | xdsl-opt -f xfuse-mlir | filecheck %s --check-prefix=RECIPE
// RUN: xdsl-opt -f xfuse-mlir %s | xdsl-opt -f xfuse-mlir -p xfuse-decompose | %mlir-opt | filecheck %s
// REQUIRES: mlir-opt

// CumSum

// RECIPE-LABEL: xfuse.recipe @cum_sum(
// RECIPE:        scf.for
// RECIPE:        tensor.insert
// CHECK-LABEL: func.func @cum_sum(
// CHECK:         scf.for
// CHECK:         tensor.extract
// CHECK:         arith.addf
// CHECK:         tensor.insert
func.func @cum_sum(%arg0: tensor<?xf32>) -> tensor<?xf32> {
  %out = xfuse.fused @cum_sum (%x = %arg0 : tensor<?xf32>) -> tensor<?xf32> {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %zero = arith.constant 0.0 : f32
    %n = tensor.dim %x, %c0 : tensor<?xf32>
    %empty = tensor.empty(%n) : tensor<?xf32>
    %sum, %r = scf.for %i = %c0 to %n step %c1 iter_args(%s = %zero, %t = %empty) -> (f32, tensor<?xf32>) {
      %v = tensor.extract %x[%i] : tensor<?xf32>
      %new = arith.addf %s, %v : f32
      %next = tensor.insert %new into %t[%i] : tensor<?xf32>
      scf.yield %new, %next : f32, tensor<?xf32>
    }
    xfuse.yield %r : tensor<?xf32>
  }
  func.return %out : tensor<?xf32>
}

// Scan: every carry and the last one

// RECIPE-LABEL: xfuse.recipe @scan(
// RECIPE:        scf.for
// RECIPE:        tensor.insert
// CHECK-LABEL: func.func @scan(
// CHECK:         scf.for
// CHECK:         tensor.extract
// CHECK:         arith.mulf
// CHECK:         arith.addf
// CHECK:         tensor.insert
func.func @scan(%arg0: f32, %arg1: tensor<?xf32>, %arg2: f32) -> (tensor<?xf32>, f32) {
  %out0, %out1 = xfuse.fused @scan (%c = %arg0 : f32, %x = %arg1 : tensor<?xf32>, %a = %arg2 : f32) -> (tensor<?xf32>, f32) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %n = tensor.dim %x, %c0 : tensor<?xf32>
    %empty = tensor.empty(%n) : tensor<?xf32>
    %last, %all = scf.for %i = %c0 to %n step %c1 iter_args(%carry = %c, %t = %empty) -> (f32, tensor<?xf32>) {
      %v = tensor.extract %x[%i] : tensor<?xf32>
      %p = arith.mulf %a, %carry : f32
      %new = arith.addf %p, %v : f32
      %next = tensor.insert %new into %t[%i] : tensor<?xf32>
      scf.yield %new, %next : f32, tensor<?xf32>
    }
    xfuse.yield %all, %last : tensor<?xf32>, f32
  }
  func.return %out0, %out1 : tensor<?xf32>, f32
}

// Scan: the last carry; ScanPlaceholder: the region arguments, and what is extracted

// RECIPE-LABEL: xfuse.recipe @scan_final(
// RECIPE:        scf.for
// CHECK-LABEL: func.func @scan_final(
// CHECK:         scf.for
// CHECK:         tensor.extract
// CHECK:         arith.mulf
// CHECK:         arith.addf
func.func @scan_final(%arg0: f32, %arg1: tensor<?xf32>, %arg2: f32) -> f32 {
  %out = xfuse.fused @scan_final (%c = %arg0 : f32, %x = %arg1 : tensor<?xf32>, %a = %arg2 : f32) -> f32 {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %n = tensor.dim %x, %c0 : tensor<?xf32>
    %r = scf.for %i = %c0 to %n step %c1 iter_args(%carry = %c) -> (f32) {
      %v = tensor.extract %x[%i] : tensor<?xf32>
      %p = arith.mulf %a, %carry : f32
      %new = arith.addf %p, %v : f32
      scf.yield %new : f32
    }
    xfuse.yield %r : f32
  }
  func.return %out : f32
}

// Scan: until a carry is beyond a bound

// RECIPE-LABEL: xfuse.recipe @scan_early_exit(
// RECIPE:        scf.while
// RECIPE:        scf.condition
// CHECK-LABEL: func.func @scan_early_exit(
// CHECK:         scf.while
// CHECK:         arith.cmpi
// CHECK:         arith.cmpf
// CHECK:         arith.andi
// CHECK:         scf.condition
// CHECK:         tensor.extract
// CHECK:         arith.mulf
// CHECK:         arith.addf
// CHECK:         arith.addi
func.func @scan_early_exit(%arg0: f32, %arg1: tensor<?xf32>, %arg2: f32) -> f32 {
  %out = xfuse.fused @scan_early_exit (%c = %arg0 : f32, %x = %arg1 : tensor<?xf32>, %a = %arg2 : f32) -> f32 {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %bound = arith.constant 8.0 : f32
    %n = tensor.dim %x, %c0 : tensor<?xf32>
    %steps, %r = scf.while (%i = %c0, %carry = %c) : (index, f32) -> (index, f32) {
      %more = arith.cmpi slt, %i, %n : index
      %within = arith.cmpf ole, %carry, %bound : f32
      %go = arith.andi %more, %within : i1
      scf.condition(%go) %i, %carry : index, f32
    } do {
    ^bb0(%i: index, %carry: f32):
      %v = tensor.extract %x[%i] : tensor<?xf32>
      %p = arith.mulf %a, %carry : f32
      %new = arith.addf %p, %v : f32
      %next = arith.addi %i, %c1 : index
      scf.yield %next, %new : index, f32
    }
    xfuse.yield %r : f32
  }
  func.return %out : f32
}

// Const

// RECIPE-LABEL: xfuse.recipe @const(
// CHECK-LABEL: func.func @const(
// CHECK:         arith.constant
func.func @const() -> f32 {
  %out = xfuse.fused @const () -> f32 {
    %r = arith.constant 2.5 : f32
    xfuse.yield %r : f32
  }
  func.return %out : f32
}

// ReducedCount

// RECIPE-LABEL: xfuse.recipe @reduced_count(
// CHECK-LABEL: func.func @reduced_count(
// CHECK:         arith.sitofp
func.func @reduced_count(%arg0: tensor<?xf32>) -> f32 {
  %out = xfuse.fused @reduced_count (%x = %arg0 : tensor<?xf32>) -> f32 {
    %c0 = arith.constant 0 : index
    %n = tensor.dim %x, %c0 : tensor<?xf32>
    %i = arith.index_cast %n : index to i64
    %r = arith.sitofp %i : i64 to f32
    xfuse.yield %r : f32
  }
  func.return %out : f32
}

// RuntimeScalar

// RECIPE-LABEL: xfuse.recipe @runtime_scalar(
// CHECK-LABEL: func.func @runtime_scalar(
// CHECK:         arith.mulf
func.func @runtime_scalar(%arg0: f32, %arg1: f32) -> f32 {
  %out = xfuse.fused @runtime_scalar (%x = %arg0 : f32, %s = %arg1 : f32) -> f32 {
    %r = arith.mulf %x, %s : f32
    xfuse.yield %r : f32
  }
  func.return %out : f32
}

// View

// RECIPE-LABEL: xfuse.recipe @view(
// CHECK-LABEL: func.func @view(
// CHECK:         math.sin
// CHECK:         math.cos
func.func @view(%arg0: f32) -> (f32, f32) {
  %out0, %out1 = xfuse.fused @view (%x = %arg0 : f32) -> (f32, f32) {
    %s = math.sin %x : f32
    %c = math.cos %x : f32
    xfuse.yield %s, %c : f32, f32
  }
  func.return %out0, %out1 : f32, f32
}

// Fused

// RECIPE-LABEL: xfuse.recipe @fused(
// CHECK-LABEL: func.func @fused(
func.func @fused(%arg0: f32) -> f32 {
  %out = xfuse.fused @fused (%x = %arg0 : f32) -> f32 {
    %y = xfuse.fused @relu (%a = %x : f32) -> f32 {
      %zero = arith.constant 0.0 : f32
      %m = arith.maximumf %a, %zero : f32
      xfuse.yield %m : f32
    }
    %r = math.sqrt %y : f32
    xfuse.yield %r : f32
  }
  func.return %out : f32
}
