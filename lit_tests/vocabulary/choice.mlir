// Comparisons, choices and casts: the spellings verify and print to what reads back; instances decompose to plain ops
// that real mlir-opt takes.

// RUN: xdsl-opt -f xfuse-mlir %S/../../xfuse/primitives/vocabulary/choice.mlir | xdsl-opt -f xfuse-mlir | filecheck %s --check-prefix=RECIPE
// RUN: xdsl-opt -f xfuse-mlir %s | xdsl-opt -f xfuse-mlir -p xfuse-decompose | %mlir-opt | filecheck %s
// REQUIRES: mlir-opt

// Equal Ne Lt Le Gt Ge

// CHECK-LABEL: func.func @comparisons
func.func @comparisons(%x0: f32, %y0: f32) -> (i1, i1, i1, i1, i1, i1) {
  // RECIPE-LABEL: xfuse.recipe @equal(
  // CHECK: arith.cmpf oeq,
  %equal = xfuse.fused @equal (%x = %x0 : f32, %y = %y0 : f32) -> i1 {
    %r = arith.cmpf oeq, %x, %y : f32
    xfuse.yield %r : i1
  }
  // RECIPE-LABEL: xfuse.recipe @ne(
  // CHECK: arith.cmpf une,
  %ne = xfuse.fused @ne (%x = %x0 : f32, %y = %y0 : f32) -> i1 {
    %r = arith.cmpf une, %x, %y : f32
    xfuse.yield %r : i1
  }
  // RECIPE-LABEL: xfuse.recipe @lt(
  // CHECK: arith.cmpf olt,
  %lt = xfuse.fused @lt (%x = %x0 : f32, %y = %y0 : f32) -> i1 {
    %r = arith.cmpf olt, %x, %y : f32
    xfuse.yield %r : i1
  }
  // RECIPE-LABEL: xfuse.recipe @le(
  // CHECK: arith.cmpf ole,
  %le = xfuse.fused @le (%x = %x0 : f32, %y = %y0 : f32) -> i1 {
    %r = arith.cmpf ole, %x, %y : f32
    xfuse.yield %r : i1
  }
  // RECIPE-LABEL: xfuse.recipe @gt(
  // CHECK: arith.cmpf ogt,
  %gt = xfuse.fused @gt (%x = %x0 : f32, %y = %y0 : f32) -> i1 {
    %r = arith.cmpf ogt, %x, %y : f32
    xfuse.yield %r : i1
  }
  // RECIPE-LABEL: xfuse.recipe @ge(
  // CHECK: arith.cmpf oge,
  %ge = xfuse.fused @ge (%x = %x0 : f32, %y = %y0 : f32) -> i1 {
    %r = arith.cmpf oge, %x, %y : f32
    xfuse.yield %r : i1
  }
  func.return %equal, %ne, %lt, %le, %gt, %ge : i1, i1, i1, i1, i1, i1
}

// Where MaskedFill

// CHECK-LABEL: func.func @choices
func.func @choices(%m0: i1, %x0: f32, %y0: f32) -> f32 {
  // RECIPE-LABEL: xfuse.recipe @where(
  // CHECK: arith.select
  %where = xfuse.fused @where (%c = %m0 : i1, %x = %x0 : f32, %y = %y0 : f32) -> f32 {
    %r = arith.select %c, %x, %y : f32
    xfuse.yield %r : f32
  }
  // RECIPE-LABEL: xfuse.recipe @masked_fill(
  // CHECK: arith.constant 2.0
  // CHECK: arith.select
  %masked_fill = xfuse.fused @masked_fill (%x = %where : f32, %m = %m0 : i1) -> f32 {
    %value = arith.constant 2.0 : f32
    %r = arith.select %m, %value, %x : f32
    xfuse.yield %r : f32
  }
  func.return %masked_fill : f32
}

// Cast, to a narrower float, an integer, a float, a wider float

// CHECK-LABEL: func.func @casts
func.func @casts(%x0: f32) -> (f32, f32) {
  // RECIPE-LABEL: xfuse.recipe @cast(
  // CHECK: arith.truncf {{.*}} : f32 to f16
  %cast = xfuse.fused @cast (%x = %x0 : f32) -> f16 {
    %r = arith.truncf %x : f32 to f16
    xfuse.yield %r : f16
  }
  // RECIPE-LABEL: xfuse.recipe @cast_float_to_int(
  // CHECK: arith.fptosi {{.*}} : f32 to i32
  %int = xfuse.fused @cast_float_to_int (%x = %x0 : f32) -> i32 {
    %r = arith.fptosi %x : f32 to i32
    xfuse.yield %r : i32
  }
  // RECIPE-LABEL: xfuse.recipe @cast_int_to_float(
  // CHECK: arith.sitofp {{.*}} : i32 to f32
  %float = xfuse.fused @cast_int_to_float (%x = %int : i32) -> f32 {
    %r = arith.sitofp %x : i32 to f32
    xfuse.yield %r : f32
  }
  // RECIPE-LABEL: xfuse.recipe @cast_wide(
  // CHECK: arith.extf {{.*}} : f16 to f32
  %wide = xfuse.fused @cast_wide (%x = %cast : f16) -> f32 {
    %r = arith.extf %x : f16 to f32
    xfuse.yield %r : f32
  }
  func.return %float, %wide : f32, f32
}
