// What counts as a kernel (law L4): rows that the module binds, and those that our own backends promise.

// RUN: xdsl-opt %s -p 'xfuse-fuse{only=mine}' | filecheck %s --check-prefixes=F32,F64
// RUN: xdsl-opt %s -p 'xfuse-fuse{only=mine backend=numpy}' | filecheck %s --check-prefixes=F32,F64
// RUN: xdsl-opt %s -p 'xfuse-fuse{only=mine backend=llvm gate=table strict=true}' | filecheck %s --check-prefixes=F32,F64
// RUN: xdsl-opt %s -p 'xfuse-fuse{only=mine gate=bound}' | filecheck %s --check-prefixes=F32,F64
// RUN: xdsl-opt %s -p 'xfuse-fuse{only=mine backend=gpu}' | filecheck %s --check-prefixes=F32,PLAIN64
// RUN: xdsl-opt %s -p 'xfuse-fuse{only=mine backend=numpy gate=bound}' | filecheck %s --check-prefixes=PLAIN32,F64
// RUN: xdsl-opt %s -p 'xfuse-fuse{only=mine backend=llvm gate=bound}' | filecheck %s --check-prefixes=PLAIN32,PLAIN64
// RUN: xdsl-opt %s -p 'xfuse-fuse{only=mine backend=whatever gate=none}' | filecheck %s --check-prefixes=F32,F64

// RUN: not xdsl-opt %s -p 'xfuse-fuse{only=mine backend=gpu strict=true}' 2> %t
// RUN: filecheck %s --input-file %t --check-prefix=STRICT
// STRICT: {{^}}error: xfuse-fuse: @mine refused (L4 no-kernel) at '%r2 = math.sqrt': no kernel is bound or promised for (f64, f64, f64){{.*$}}

// The row for one backend is no row for another.

// RUN: xdsl-opt %s -p 'xfuse-fuse{only=mine},xfuse-decompose{unbound-for=gpu}' | filecheck %s --check-prefixes=F32,PLAIN64
// RUN: xdsl-opt %s -p 'xfuse-fuse{only=mine},xfuse-decompose{unbound-for=numpy}' | filecheck %s --check-prefixes=F32,F64

xfuse.library @family {
  xfuse.recipe @mine(%x: f64, %y: f64) -> f64 attributes {element_types = [f32, f64]} {
    %s = arith.addf %x, %y : f64
    %r = math.sqrt %s : f64
    xfuse.yield %r : f64
  }
}
xfuse.binding @family::@mine (f32, f32) -> f32 on "gpu"
xfuse.binding @mine (tensor<?xf64>, f64) -> f64 on "numpy"

func.func @f32(%x: f32, %y: f32) -> f32 {
  %s = arith.addf %x, %y : f32
  %r = math.sqrt %s : f32
  func.return %r : f32
}

// F32:          func.func @f32
// F32-NEXT:       %r = xfuse.fused @mine (
// PLAIN32:      func.func @f32
// PLAIN32-NEXT:   arith.addf
// PLAIN32-NEXT:   math.sqrt

func.func @f64(%x: f64, %y: f64) -> f64 {
  %s2 = arith.addf %x, %y : f64
  %r2 = math.sqrt %s2 : f64
  func.return %r2 : f64
}

// F64:          func.func @f64
// F64-NEXT:       %r2 = xfuse.fused @mine (
// PLAIN64:      func.func @f64
// PLAIN64-NEXT:   arith.addf
// PLAIN64-NEXT:   math.sqrt
