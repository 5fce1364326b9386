// RUN: xdsl-opt %s -p 'xfuse-fuse{library="%S/Inputs/recipes.mlir"}' --split-input-file --verify-diagnostics | filecheck %s

// Rows that fit no recipe.

xfuse.binding @nope (f32) -> f32 on "numpy"

// CHECK: {{^}}xfuse-fuse: no recipe nope is registered; register it first

// -----

xfuse.binding @add_relu (f32) -> f32 on "numpy"

// CHECK: {{^}}xfuse-fuse: recipe @add_relu has no form at (f32, f32); it has (f16, f16) -> f16; (bf16, bf16) -> bf16; (f32, f32) -> f32; (f64, f64) -> f64

// -----

xfuse.binding @add_relu (f32, f32) -> f64 on "numpy"

// CHECK: {{^}}xfuse-fuse: recipe @add_relu has no form at (f32, f32, f64)

// -----

xfuse.binding @add_relu (!test.type<"a">, f32) -> f32 on "numpy"

// CHECK: {{^}}xfuse-fuse: recipe @add_relu has no form at (!test.type<"a">, f32, f32)

// -----

xfuse.binding @add_relu (f32, f32) -> f32 on "numpy" kernel "k"

// CHECK: {{^}}xfuse-fuse: 'xfuse.binding' names the kernel 'k', which the session does not hold

// -----

// Recipes of the module that can never work.

xfuse.recipe @constant(%x: f32) -> f32 {
  %one = arith.constant 1.0 : f32
  xfuse.yield %one : f32
}

// CHECK: {{^}}xfuse-fuse: recipe @constant {{.*}}

// -----

xfuse.recipe @identity(%x: f32) -> f32 {
  xfuse.yield %x : f32
}

// CHECK: {{^}}xfuse-fuse: recipe @identity gives one of its arguments back as result 0: nothing to fuse

// -----

xfuse.recipe @two(%x: f32) -> f32 {
  %r = math.exp %x : f32
  xfuse.yield %r : f32
}
xfuse.library @other {
  xfuse.recipe @two(%x: f32) -> f32 {
    %r = math.log %x : f32
    xfuse.yield %r : f32
  }
}

// CHECK: {{^}}xfuse-fuse: the name @two stands for another recipe

// -----

// A program in which a value is used before its definition (law L8).

func.func @f(%x: f32) -> f32 {
  %r = "arith.negf"(%later) : (f32) -> f32
  %later = math.exp %x : f32
  func.return %r : f32
}

// CHECK: {{^}}xfuse-fuse: (law L8) '%r = arith.negf' reads a value before its definition
