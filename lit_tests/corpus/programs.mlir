// REQUIRES: mlir-opt

// Real programs, each in one of its spellings: which recipes are found, that mlir-opt accepts what comes back, and that
// it has the very ops of the original, copies of equal ones aside.

// LLaMA's feed-forward block from PyTorch, a generic per op.

// RUN: xdsl-opt -f xfuse-mlir %corpus/dev/torch_llama_rmsnorm_swiglu/torch_llama_rmsnorm_swiglu.linalg.mlir -p 'xfuse-fuse{backend=llvm}' | filecheck %s --check-prefix=LLAMA
// RUN: %mlir-opt %corpus/dev/torch_llama_rmsnorm_swiglu/torch_llama_rmsnorm_swiglu.linalg.mlir --cse --mlir-print-op-generic | sed 's/%[a-z0-9_#:]*//g' | sort > %t.llama
// RUN: xdsl-opt -f xfuse-mlir %corpus/dev/torch_llama_rmsnorm_swiglu/torch_llama_rmsnorm_swiglu.linalg.mlir -p 'xfuse-fuse{backend=llvm},xfuse-decompose' | %mlir-opt --cse --mlir-print-op-generic | sed 's/%[a-z0-9_#:]*//g' | sort | diff %t.llama -

// LLAMA:     xfuse.fused @mean (%{{.*}} = %{{.*}} : tensor<?x16xf32>)
// LLAMA:     xfuse.fused @fused_linear_silu_onto_bias (
// LLAMA:       linalg.matmul
// LLAMA:       arith.negf
// LLAMA:       math.exp
// LLAMA:       arith.divf
// LLAMA:       xfuse.yield
// LLAMA:     linalg.matmul
// LLAMA:     xfuse.fused @fused_linear (
// LLAMA:       linalg.matmul

// A step of Adam from JAX, arith ops on tensors: once per parameter, each with three results.

// RUN: xdsl-opt -f xfuse-mlir %corpus/dev/adam_step/adam_step.tensor.mlir -p 'xfuse-fuse{backend=llvm}' | filecheck %s --check-prefix=ADAM
// RUN: %mlir-opt %corpus/dev/adam_step/adam_step.tensor.mlir --cse --mlir-print-op-generic | sed 's/%[a-z0-9_#:]*//g' | sort > %t.adam
// RUN: xdsl-opt -f xfuse-mlir %corpus/dev/adam_step/adam_step.tensor.mlir -p 'xfuse-fuse{backend=llvm},xfuse-decompose' | %mlir-opt --cse --mlir-print-op-generic | sed 's/%[a-z0-9_#:]*//g' | sort | diff %t.adam -

// ADAM-COUNT-2: xfuse.fused @adam_jax ({{.*}}) -> (tensor<{{.*}}>, tensor<{{.*}}>, tensor<{{.*}}>)

// Black-Scholes from JAX after MLIR fused it: most of it is the body of a generic or two.

// RUN: xdsl-opt -f xfuse-mlir %corpus/dev/black_scholes/black_scholes.fused.mlir -p 'xfuse-fuse{backend=llvm}' | filecheck %s --check-prefix=SCHOLES
// RUN: %mlir-opt %corpus/dev/black_scholes/black_scholes.fused.mlir --cse --mlir-print-op-generic | sed 's/%[a-z0-9_#:]*//g' | sort > %t.scholes
// RUN: xdsl-opt -f xfuse-mlir %corpus/dev/black_scholes/black_scholes.fused.mlir -p 'xfuse-fuse{backend=llvm},xfuse-decompose' | %mlir-opt --cse --mlir-print-op-generic | sed 's/%[a-z0-9_#:]*//g' | sort | diff %t.scholes -

// SCHOLES: xfuse.fused @black_scholes_jax (

// An LSTM cell from JAX, named linalg ops; fused ops are accepted too.

// RUN: xdsl-opt -f xfuse-mlir %corpus/dev/lstm_cell/lstm_cell.named.mlir -p 'xfuse-fuse{backend=llvm}' | filecheck %s --check-prefix=LSTM
// RUN: xdsl-opt -f xfuse-mlir %corpus/dev/lstm_cell/lstm_cell.named.mlir -p 'xfuse-fuse{backend=llvm}' --print-op-generic | %mlir-opt --allow-unregistered-dialect --mlir-print-op-generic | filecheck %s --check-prefix=LSTM-GENERIC
// RUN: %mlir-opt %corpus/dev/lstm_cell/lstm_cell.named.mlir --cse --mlir-print-op-generic | sed 's/%[a-z0-9_#:]*//g' | sort > %t.lstm
// RUN: xdsl-opt -f xfuse-mlir %corpus/dev/lstm_cell/lstm_cell.named.mlir -p 'xfuse-fuse{backend=llvm},xfuse-decompose' | %mlir-opt --cse --mlir-print-op-generic | sed 's/%[a-z0-9_#:]*//g' | sort | diff %t.lstm -

// LSTM:         xfuse.fused @lstm_forget_bias (
// LSTM-GENERIC: "xfuse.fused"({{.*}}recipe = @lstm_forget_bias
