// What is wrong with an option is said in one line, and nothing is printed.

// RUN: rm -f %t
// RUN: not xdsl-opt %s -p 'xfuse-fuse{bogus=1}' 2>> %t
// RUN: not xdsl-opt %s -p 'xfuse-decompose{exept=relu}' 2>> %t
// RUN: not xdsl-opt %s -p 'xfuse-fuse{strict}' 2>> %t
// RUN: not xdsl-opt %s -p 'xfuse-fuse{explain=1}' 2>> %t
// RUN: not xdsl-opt %s -p 'xfuse-fuse{backend=3}' 2>> %t
// RUN: not xdsl-opt %s -p 'xfuse-fuse{gate=maybe}' 2>> %t
// RUN: not xdsl-opt %s -p 'xfuse-fuse{only=1,a}' 2>> %t
// RUN: not xdsl-opt %s -p 'xfuse-decompose{unbound-for=true}' 2>> %t
// RUN: not xdsl-opt %s -p 'xfuse-outline{max-ops=few}' 2>> %t
// RUN: not xdsl-opt %s -p 'xfuse-outline{kinds=matmul}' 2>> %t
// RUN: filecheck %s --input-file %t --match-full-lines --strict-whitespace

//      CHECK:error: xfuse-fuse has no option 'bogus'; its options are backend, escape, except, explain, gate, library, only{{.*}}
// CHECK-NEXT:error: xfuse-decompose has no option 'exept'; its options are except, only, unbound-for
// CHECK-NEXT:error: xfuse-fuse: option 'strict' expected =true or =false, got nothing
// CHECK-NEXT:error: xfuse-fuse: option 'explain' expected =true or =false, got 1
// CHECK-NEXT:error: xfuse-fuse: option 'backend' expected a string, in quotes unless it is a word, got 3
// CHECK-NEXT:error: xfuse-fuse: option 'gate' expected table or bound or none, got maybe
// CHECK-NEXT:error: xfuse-fuse: option 'only' expected strings with commas between, got 1,a
// CHECK-NEXT:error: xfuse-decompose: option 'unbound-for' expected a string, in quotes unless it is a word, got true
// CHECK-NEXT:error: xfuse-outline: option 'max-ops' expected a whole number, got few
// CHECK-NEXT:error: xfuse-outline: option 'kinds' expected elementwise and reduce with commas between, got matmul

// So is what is wrong with a value, a library or the program.

// RUN: rm -f %t.2
// RUN: not xdsl-opt %s -p 'xfuse-fuse{library="%S/Inputs/recipes.mlir" backend=nope}' 2>> %t.2
// RUN: not xdsl-opt %s -p 'xfuse-fuse{library="%S/Inputs/recipes.mlir" only=add_relu,nope}' 2>> %t.2
// RUN: not xdsl-opt %s -p 'xfuse-fuse{library="%S/Inputs/recipes.mlir" except=nope}' 2>> %t.2
// RUN: not xdsl-opt %s -p 'xfuse-decompose{unbound-for=nope}' 2>> %t.2
// RUN: not xdsl-opt %s -p 'xfuse-fuse{library="%S/Inputs/no_such_file.mlir"}' 2>> %t.2
// RUN: not xdsl-opt %s -p 'xfuse-fuse{library="%S/Inputs"}' 2>> %t.2
// RUN: not xdsl-opt %s -p 'xfuse-fuse{library="%S/Inputs/none.mlir"}' 2>> %t.2
// RUN: not xdsl-opt %s -p 'xfuse-fuse{library="%S/Inputs/wrong.mlir"}' 2>> %t.2
// RUN: not xdsl-opt %s -p 'xfuse-fuse{library="%S/Inputs/refused.mlir"}' 2>> %t.2
// RUN: not xdsl-opt %s -p 'xfuse-fuse{library="%S/Inputs/broken.mlir"}' 2>> %t.2
// RUN: filecheck %s --input-file %t.2 --match-full-lines --strict-whitespace --check-prefix=VALUE

//      VALUE:error: xfuse-fuse: no backend is named 'nope'; known are llvm, numpy
// VALUE-NEXT:error: xfuse-fuse: no recipe or family is named nope; families are add_relu, silu, scale_shift, sum_difference, mix
// VALUE-NEXT:error: xfuse-fuse: no recipe or family is named nope; families are add_relu, silu, scale_shift, sum_difference, mix
// VALUE-NEXT:error: xfuse-decompose: no backend is named 'nope'; known are llvm, numpy
// VALUE-NEXT:error: xfuse-fuse: cannot read {{.*}}no_such_file.mlir: {{.*}}
// VALUE-NEXT:error: xfuse-fuse: cannot read {{.*}}Inputs: {{.*}}
// VALUE-NEXT:error: xfuse-fuse: {{.*}}none.mlir holds no xfuse.recipe
// VALUE-NEXT:error: xfuse-fuse: {{.*}}wrong.mlir does not verify: 'xfuse.recipe' (law L1) expected 'xfuse.yield' of types (f32), got (f64)
// VALUE-NEXT:error: xfuse-fuse: recipe @unused_argument does not use its argument 1; drop it or use it
// VALUE-NEXT:error: xfuse-fuse: {{.*}}broken.mlir does not parse: {{.*}}broken.mlir:3:1
// VALUE-NEXT:}
// VALUE-NEXT:^
// VALUE-NEXT:Expected ':'

func.func @f(%x: tensor<4xf32>, %b: tensor<4xf32>) -> tensor<4xf32> {
  %zero = arith.constant dense<0.0> : tensor<4xf32>
  %s = arith.addf %x, %b : tensor<4xf32>
  %r = arith.maximumf %s, %zero : tensor<4xf32>
  func.return %r : tensor<4xf32>
}
