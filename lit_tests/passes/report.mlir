// The target xfuse-report: what is fused, what is not and why, as JSON.

// RUN: xdsl-opt -f xfuse-mlir -p 'xfuse-fuse{library="%S/Inputs/recipes.mlir" only=add_relu}' -t 'xfuse-report{library="%S/Inputs/recipes.mlir" backend=numpy}' %s | filecheck %s
// RUN: not xdsl-opt -f xfuse-mlir -t 'xfuse-report{backend=tpu}' %s 2>&1 | filecheck %s --check-prefix=BACKEND
// RUN: not xdsl-opt -f xfuse-mlir -t 'xfuse-report{refusals=some}' %s 2>&1 | filecheck %s --check-prefix=OPTION

func.func @main(%x: tensor<4xf32>, %b: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %zero = arith.constant dense<0.0> : tensor<4xf32>
  %one = arith.constant dense<1.0> : tensor<4xf32>
  %s = arith.addf %x, %b : tensor<4xf32>
  %r = arith.maximumf %s, %zero : tensor<4xf32>
  %t = arith.addf %x, %x : tensor<4xf32>
  %q = arith.maximumf %t, %one : tensor<4xf32>
  func.return %r, %q : tensor<4xf32>, tensor<4xf32>
}

//      CHECK: "ops": {
// CHECK-NEXT:   "fusible": 4,
// CHECK-NEXT:   "fused": 2
//      CHECK: "matches": [
//      CHECK:   "recipe": "add_relu",
//      CHECK:   "location": "{{.*}}report.mlir:11:3",
//      CHECK: "refusals": [
//      CHECK:   "rule": "R6",
//      CHECK:   "expected": "the literal 0.0 : f32",
// CHECK-NEXT:   "found": "the literal 1.0 : f32",
//      CHECK: "kernels": [
//      CHECK:   "source": "promised",

//  OPTION: {{^}}error: xfuse-report: option 'refusals' expected near or all or none, got some
// BACKEND: {{^}}error: xfuse-report: no backend is named 'tpu'; known are llvm, numpy
