// One function in many spellings is one recipe; the last two compute something else, or use the sum elsewhere too.

// RUN: rm -f %t.mlir
// RUN: cat %corpus/variants/relu_add/arith.mlir >> %t.mlir && echo '// -----' >> %t.mlir
// RUN: cat %corpus/variants/relu_add/arith_commuted.mlir >> %t.mlir && echo '// -----' >> %t.mlir
// RUN: cat %corpus/variants/relu_add/arith_fastmath.mlir >> %t.mlir && echo '// -----' >> %t.mlir
// RUN: cat %corpus/variants/relu_add/named.mlir >> %t.mlir && echo '// -----' >> %t.mlir
// RUN: cat %corpus/variants/relu_add/generalized.mlir >> %t.mlir && echo '// -----' >> %t.mlir
// RUN: cat %corpus/variants/relu_add/fused.mlir >> %t.mlir && echo '// -----' >> %t.mlir
// RUN: cat %corpus/variants/relu_add/elementwise_to_linalg_dyn.mlir >> %t.mlir && echo '// -----' >> %t.mlir
// RUN: cat %corpus/variants/relu_add/implicit_broadcast.mlir >> %t.mlir && echo '// -----' >> %t.mlir
// RUN: cat %corpus/variants/relu_add/from_jax.mlir >> %t.mlir && echo '// -----' >> %t.mlir
// RUN: cat %corpus/variants/relu_add/near_miss.mlir >> %t.mlir && echo '// -----' >> %t.mlir
// RUN: cat %corpus/variants/relu_add/escape.mlir >> %t.mlir
// RUN: xdsl-opt -f xfuse-mlir %t.mlir --split-input-file -p 'xfuse-fuse{only=add_relu,relu}' | filecheck %s

// CHECK-COUNT-9: xfuse.fused @add_relu (
// CHECK-NOT:     xfuse.fused @add_relu (
// CHECK:         xfuse.fused @relu (
