// Printed IR and what is explained are the same in every process (law L11).

// RUN: env PYTHONHASHSEED=1 xdsl-opt -f xfuse-mlir --split-input-file -p 'xfuse-fuse{explain=true}' %S/fuse_rules.mlir > %t.1 2>&1
// RUN: env PYTHONHASHSEED=2 xdsl-opt -f xfuse-mlir --split-input-file -p 'xfuse-fuse{explain=true}' %S/fuse_rules.mlir > %t.2 2>&1
// RUN: diff %t.1 %t.2
// RUN: env PYTHONHASHSEED=3 xdsl-opt -f xfuse-mlir --split-input-file -p xfuse-fuse --print-op-generic %S/fuse_spellings.mlir > %t.3
// RUN: env PYTHONHASHSEED=4 xdsl-opt -f xfuse-mlir --split-input-file -p xfuse-fuse --print-op-generic %S/fuse_spellings.mlir > %t.4
// RUN: diff %t.3 %t.4
