// Arithmetic: the spellings verify and print to what reads back; instances decompose to plain ops that real mlir-opt
// takes.

// RUN: xdsl-opt -f xfuse-mlir %S/../../xfuse/primitives/vocabulary/arithmetic.mlir | xdsl-opt -f xfuse-mlir | filecheck %s --check-prefix=RECIPE
// RUN: xdsl-opt -f xfuse-mlir %s | xdsl-opt -f xfuse-mlir -p xfuse-decompose | %mlir-opt | filecheck %s
// REQUIRES: mlir-opt

// Add Sub Mul Div Maximum Minimum Pow Rem

// CHECK-LABEL: func.func @binary
func.func @binary(%x0: tensor<4x5xf32>, %y0: tensor<4x5xf32>) -> tensor<4x5xf32> {
  // RECIPE-LABEL: xfuse.recipe @add(
  // CHECK: arith.addf
  %add = xfuse.fused @add (%x = %x0 : tensor<4x5xf32>, %y = %y0 : tensor<4x5xf32>) -> tensor<4x5xf32> {
    %r = arith.addf %x, %y : tensor<4x5xf32>
    xfuse.yield %r : tensor<4x5xf32>
  }
  // RECIPE-LABEL: xfuse.recipe @sub(
  // CHECK: arith.subf
  %sub = xfuse.fused @sub (%x = %add : tensor<4x5xf32>, %y = %y0 : tensor<4x5xf32>) -> tensor<4x5xf32> {
    %r = arith.subf %x, %y : tensor<4x5xf32>
    xfuse.yield %r : tensor<4x5xf32>
  }
  // RECIPE-LABEL: xfuse.recipe @mul(
  // CHECK: arith.mulf
  %mul = xfuse.fused @mul (%x = %sub : tensor<4x5xf32>, %y = %y0 : tensor<4x5xf32>) -> tensor<4x5xf32> {
    %r = arith.mulf %x, %y : tensor<4x5xf32>
    xfuse.yield %r : tensor<4x5xf32>
  }
  // RECIPE-LABEL: xfuse.recipe @div(
  // CHECK: arith.divf
  %div = xfuse.fused @div (%x = %mul : tensor<4x5xf32>, %y = %y0 : tensor<4x5xf32>) -> tensor<4x5xf32> {
    %r = arith.divf %x, %y : tensor<4x5xf32>
    xfuse.yield %r : tensor<4x5xf32>
  }
  // RECIPE-LABEL: xfuse.recipe @maximum(
  // CHECK: arith.maximumf
  %maximum = xfuse.fused @maximum (%x = %div : tensor<4x5xf32>, %y = %y0 : tensor<4x5xf32>) -> tensor<4x5xf32> {
    %r = arith.maximumf %x, %y : tensor<4x5xf32>
    xfuse.yield %r : tensor<4x5xf32>
  }
  // RECIPE-LABEL: xfuse.recipe @minimum(
  // CHECK: arith.minimumf
  %minimum = xfuse.fused @minimum (%x = %maximum : tensor<4x5xf32>, %y = %y0 : tensor<4x5xf32>) -> tensor<4x5xf32> {
    %r = arith.minimumf %x, %y : tensor<4x5xf32>
    xfuse.yield %r : tensor<4x5xf32>
  }
  // RECIPE-LABEL: xfuse.recipe @pow(
  // CHECK: math.powf
  %pow = xfuse.fused @pow (%x = %minimum : tensor<4x5xf32>, %y = %y0 : tensor<4x5xf32>) -> tensor<4x5xf32> {
    %r = math.powf %x, %y : tensor<4x5xf32>
    xfuse.yield %r : tensor<4x5xf32>
  }
  // RECIPE-LABEL: xfuse.recipe @rem(
  // CHECK: arith.divf
  // CHECK: math.floor
  // CHECK: arith.mulf
  // CHECK: arith.subf
  %rem = xfuse.fused @rem (%x = %pow : tensor<4x5xf32>, %y = %y0 : tensor<4x5xf32>) -> tensor<4x5xf32> {
    %q = arith.divf %x, %y : tensor<4x5xf32>
    %f = math.floor %q : tensor<4x5xf32>
    %p = arith.mulf %f, %y : tensor<4x5xf32>
    %r = arith.subf %x, %p : tensor<4x5xf32>
    xfuse.yield %r : tensor<4x5xf32>
  }
  func.return %rem : tensor<4x5xf32>
}

// Neg Abs Sqrt Rsqrt Exp Log Sin Cos Tanh Erf Floor Ceil Round Sqr Recip

// CHECK-LABEL: func.func @unary
func.func @unary(%x0: tensor<4x5xf32>) -> tensor<4x5xf32> {
  // RECIPE-LABEL: xfuse.recipe @neg(
  // CHECK: arith.negf
  %neg = xfuse.fused @neg (%x = %x0 : tensor<4x5xf32>) -> tensor<4x5xf32> {
    %r = arith.negf %x : tensor<4x5xf32>
    xfuse.yield %r : tensor<4x5xf32>
  }
  // RECIPE-LABEL: xfuse.recipe @abs(
  // CHECK: math.absf
  %abs = xfuse.fused @abs (%x = %neg : tensor<4x5xf32>) -> tensor<4x5xf32> {
    %r = math.absf %x : tensor<4x5xf32>
    xfuse.yield %r : tensor<4x5xf32>
  }
  // RECIPE-LABEL: xfuse.recipe @sqrt(
  // CHECK: math.sqrt
  %sqrt = xfuse.fused @sqrt (%x = %abs : tensor<4x5xf32>) -> tensor<4x5xf32> {
    %r = math.sqrt %x : tensor<4x5xf32>
    xfuse.yield %r : tensor<4x5xf32>
  }
  // RECIPE-LABEL: xfuse.recipe @rsqrt(
  // CHECK: math.rsqrt
  %rsqrt = xfuse.fused @rsqrt (%x = %sqrt : tensor<4x5xf32>) -> tensor<4x5xf32> {
    %r = math.rsqrt %x : tensor<4x5xf32>
    xfuse.yield %r : tensor<4x5xf32>
  }
  // RECIPE-LABEL: xfuse.recipe @exp(
  // CHECK: math.exp
  %exp = xfuse.fused @exp (%x = %rsqrt : tensor<4x5xf32>) -> tensor<4x5xf32> {
    %r = math.exp %x : tensor<4x5xf32>
    xfuse.yield %r : tensor<4x5xf32>
  }
  // RECIPE-LABEL: xfuse.recipe @log(
  // CHECK: math.log
  %log = xfuse.fused @log (%x = %exp : tensor<4x5xf32>) -> tensor<4x5xf32> {
    %r = math.log %x : tensor<4x5xf32>
    xfuse.yield %r : tensor<4x5xf32>
  }
  // RECIPE-LABEL: xfuse.recipe @sin(
  // CHECK: math.sin
  %sin = xfuse.fused @sin (%x = %log : tensor<4x5xf32>) -> tensor<4x5xf32> {
    %r = math.sin %x : tensor<4x5xf32>
    xfuse.yield %r : tensor<4x5xf32>
  }
  // RECIPE-LABEL: xfuse.recipe @cos(
  // CHECK: math.cos
  %cos = xfuse.fused @cos (%x = %sin : tensor<4x5xf32>) -> tensor<4x5xf32> {
    %r = math.cos %x : tensor<4x5xf32>
    xfuse.yield %r : tensor<4x5xf32>
  }
  // RECIPE-LABEL: xfuse.recipe @tanh(
  // CHECK: math.tanh
  %tanh = xfuse.fused @tanh (%x = %cos : tensor<4x5xf32>) -> tensor<4x5xf32> {
    %r = math.tanh %x : tensor<4x5xf32>
    xfuse.yield %r : tensor<4x5xf32>
  }
  // RECIPE-LABEL: xfuse.recipe @erf(
  // CHECK: math.erf
  %erf = xfuse.fused @erf (%x = %tanh : tensor<4x5xf32>) -> tensor<4x5xf32> {
    %r = math.erf %x : tensor<4x5xf32>
    xfuse.yield %r : tensor<4x5xf32>
  }
  // RECIPE-LABEL: xfuse.recipe @floor(
  // CHECK: math.floor
  %floor = xfuse.fused @floor (%x = %erf : tensor<4x5xf32>) -> tensor<4x5xf32> {
    %r = math.floor %x : tensor<4x5xf32>
    xfuse.yield %r : tensor<4x5xf32>
  }
  // RECIPE-LABEL: xfuse.recipe @ceil(
  // CHECK: math.ceil
  %ceil = xfuse.fused @ceil (%x = %floor : tensor<4x5xf32>) -> tensor<4x5xf32> {
    %r = math.ceil %x : tensor<4x5xf32>
    xfuse.yield %r : tensor<4x5xf32>
  }
  // RECIPE-LABEL: xfuse.recipe @round(
  // CHECK: math.roundeven
  %round = xfuse.fused @round (%x = %ceil : tensor<4x5xf32>) -> tensor<4x5xf32> {
    %r = math.roundeven %x : tensor<4x5xf32>
    xfuse.yield %r : tensor<4x5xf32>
  }
  // RECIPE-LABEL: xfuse.recipe @sqr(
  // CHECK: arith.mulf
  %sqr = xfuse.fused @sqr (%x = %round : tensor<4x5xf32>) -> tensor<4x5xf32> {
    %r = arith.mulf %x, %x : tensor<4x5xf32>
    xfuse.yield %r : tensor<4x5xf32>
  }
  // RECIPE-LABEL: xfuse.recipe @recip(
  // CHECK: arith.divf
  %recip = xfuse.fused @recip (%x = %sqr : tensor<4x5xf32>) -> tensor<4x5xf32> {
    %one = arith.constant dense<1.0> : tensor<4x5xf32>
    %r = arith.divf %one, %x : tensor<4x5xf32>
    xfuse.yield %r : tensor<4x5xf32>
  }
  func.return %recip : tensor<4x5xf32>
}

// Sign Step, with compare, select and a cast, which stand on scalars

// CHECK-LABEL: func.func @choosing
func.func @choosing(%x0: f32) -> f32 {
  // RECIPE-LABEL: xfuse.recipe @sign(
  // CHECK: math.copysign
  // CHECK: arith.cmpf
  // CHECK: arith.select
  %sign = xfuse.fused @sign (%x = %x0 : f32) -> f32 {
    %zero = arith.constant 0.0 : f32
    %one = arith.constant 1.0 : f32
    %unit = math.copysign %one, %x : f32
    %nonzero = arith.cmpf one, %x, %zero : f32
    %r = arith.select %nonzero, %unit, %x : f32
    xfuse.yield %r : f32
  }
  // RECIPE-LABEL: xfuse.recipe @step(
  // CHECK: arith.cmpf
  // CHECK: arith.uitofp
  %step = xfuse.fused @step (%x = %sign : f32) -> f32 {
    %zero = arith.constant 0.0 : f32
    %positive = arith.cmpf ogt, %x, %zero : f32
    %r = arith.uitofp %positive : i1 to f32
    xfuse.yield %r : f32
  }
  func.return %step : f32
}

// AddScalar MulScalar PowI: two slots, which bind a constant, and a literal

// CHECK-LABEL: func.func @scalars
func.func @scalars(%x0: f32) -> f32 {
  // CHECK: arith.constant 2.5
  %k = arith.constant 2.5 : f32
  // RECIPE-LABEL: xfuse.recipe @add_scalar(
  // RECIPE-SAME: {{.*}}%s: f64 {xfuse.scalar}
  // CHECK: arith.addf
  %add_scalar = xfuse.fused @add_scalar (%x = %x0 : f32, %s = %k : f32) -> f32 {
    %r = arith.addf %x, %s : f32
    xfuse.yield %r : f32
  }
  // RECIPE-LABEL: xfuse.recipe @mul_scalar(
  // RECIPE-SAME: {{.*}}%s: f64 {xfuse.scalar}
  // CHECK: arith.mulf
  %mul_scalar = xfuse.fused @mul_scalar (%x = %add_scalar : f32, %s = %k : f32) -> f32 {
    %r = arith.mulf %x, %s : f32
    xfuse.yield %r : f32
  }
  // RECIPE-LABEL: xfuse.recipe @powi(
  // CHECK: math.fpowi
  %powi = xfuse.fused @powi (%x = %mul_scalar : f32) -> f32 {
    %exponent = arith.constant 3 : i32
    %r = math.fpowi %x, %exponent : f32, i32
    xfuse.yield %r : f32
  }
  func.return %powi : f32
}
