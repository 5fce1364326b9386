// REQUIRES: mlir-opt

// Recipes with core dimensions in real programs: found, accepted by mlir-opt when put back, and the very same ops.

// Softmax over the last axis, named ops.

// RUN: xdsl-opt -f xfuse-mlir %corpus/variants/softmax/named.mlir -p xfuse-fuse | filecheck %s --check-prefix=SOFTMAX
// RUN: %mlir-opt %corpus/variants/softmax/named.mlir --cse --mlir-print-op-generic | sed 's/%[a-z0-9_#:]*//g' | sort > %t.softmax
// RUN: xdsl-opt -f xfuse-mlir %corpus/variants/softmax/named.mlir -p 'xfuse-fuse,xfuse-decompose' | %mlir-opt --cse --mlir-print-op-generic | sed 's/%[a-z0-9_#:]*//g' | sort | diff %t.softmax -

// SOFTMAX:     xfuse.fused @softmax (
// SOFTMAX:       linalg.reduce
// SOFTMAX:       xfuse.yield
// SOFTMAX-NOT: linalg
// SOFTMAX:     return

// JAX's layer norm, whose variance is guarded by a comparison of literals: that goes along.

// RUN: xdsl-opt -f xfuse-mlir %corpus/dev/layer_norm_affine/layer_norm_affine.tensor.mlir -p xfuse-fuse | filecheck %s --check-prefix=NORM
// RUN: %mlir-opt %corpus/dev/layer_norm_affine/layer_norm_affine.tensor.mlir --cse --mlir-print-op-generic | sed 's/%[a-z0-9_#:]*//g' | sort > %t.norm
// RUN: xdsl-opt -f xfuse-mlir %corpus/dev/layer_norm_affine/layer_norm_affine.tensor.mlir -p 'xfuse-fuse,xfuse-decompose' | %mlir-opt --cse --mlir-print-op-generic | sed 's/%[a-z0-9_#:]*//g' | sort | diff %t.norm -

// NORM: xfuse.fused @layer_norm_affine_rsqrt ({{.*}} : tensor<4x16x32xf32>, {{.*}} : tensor<32xf32>, {{.*}} : tensor<32xf32>,
// NORM:   arith.select
// NORM:   math.rsqrt
// NORM:   xfuse.yield

// A function that is no softmax, by one literal, stays as it is.

// RUN: xdsl-opt -f xfuse-mlir %corpus/variants/softmax/near_miss.mlir -p 'xfuse-fuse{only=softmax}' | filecheck %s --check-prefix=MISS

// MISS-NOT: xfuse.fused
