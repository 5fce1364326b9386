// RUN: xdsl-opt -f xfuse-mlir %s | filecheck %s
// RUN: xdsl-opt -f xfuse-mlir %s | xdsl-opt -f xfuse-mlir | filecheck %s
// RUN: xdsl-opt -f xfuse-mlir %s | %mlir-opt --allow-unregistered-dialect | xdsl-opt -f xfuse-mlir --allow-unregistered-dialect | filecheck %s --check-prefix=BACK
// RUN: xdsl-opt -f xfuse-mlir %s -p xfuse-fuse 2>&1 | filecheck %s
// RUN: xdsl-opt %s -p 'xfuse-fuse{only=relu}' 2> %t | filecheck %s --check-prefix=STOCK
// RUN: filecheck %s --input-file %t --check-prefix=WARNING --match-full-lines
// REQUIRES: mlir-opt

// Hexadecimal elements of float constants are bits, as MLIR means them. Without the frontend xdsl-opt reads numbers, of
// which xfuse-fuse warns, once.

// CHECK-NOT:  warning
//    WARNING: xfuse-fuse: warning: a constant of type tensor<4xf32> holds the bit pattern of an infinity or NaN as a number; xdsl-opt reads hexadecimal elements of dense<> so: use -f xfuse-mlir
// WARNING-NOT: {{.+}}

%small = arith.constant dense<[4.0, 31744.0, 32256.0]> : tensor<3xf32>
%f32 = arith.constant dense<0xFF800000> : tensor<4xf32>
%f32s = arith.constant dense<[0x7F800000, 0x7fc00000, 0x3F800000, -2.0]> : tensor<4xf32>
%f64 = arith.constant dense<0xFFF0000000000000> : tensor<4xf64>
%f64s = arith.constant dense<[[0x7FF0000000000000], [0x3FF0000000000000]]> : tensor<2x1xf64>
%f16 = arith.constant dense<0xFC00> : tensor<4xf16>
%f16s = arith.constant dense<[0x7C00, 0x3C00]> : tensor<2xf16>
%bf16 = arith.constant dense<0xFF80> : tensor<4xbf16>
%bf16s = arith.constant dense<[0x7F80, 0x3F80]> : tensor<2xbf16>
%vector = arith.constant dense<0x3F800000> : vector<4xf32>
%scalar = arith.constant 0xFF800000 : f32
%blob = arith.constant dense<"0x0000803F000080FF"> : tensor<2xf32>
%integers = arith.constant dense<[0xFF, 0x7F80]> : tensor<2xi32>

// CHECK:      %small = arith.constant dense<[4.000000e+00, 3.174400e+04, 3.225600e+04]> : tensor<3xf32>
// CHECK-NEXT: %f32 = arith.constant dense<0xff800000> : tensor<4xf32>
// CHECK-NEXT: %f32s = arith.constant dense<[0x7f800000, 0x7fc00000, 1.000000e+00, -2.000000e+00]> : tensor<4xf32>
// CHECK-NEXT: %f64 = arith.constant dense<0xfff0000000000000> : tensor<4xf64>
// CHECK-NEXT: %f64s = arith.constant dense<{{\[\[}}0x7ff0000000000000], [1.000000e+00]]> : tensor<2x1xf64>
// CHECK-NEXT: %f16 = arith.constant dense<0xfc00> : tensor<4xf16>
// CHECK-NEXT: %f16s = arith.constant dense<[0x7c00, 1.000000e+00]> : tensor<2xf16>
// CHECK-NEXT: %bf16 = arith.constant dense<0xff80> : tensor<4xbf16>
// CHECK-NEXT: %bf16s = arith.constant dense<[0x7f80, 1.000000e+00]> : tensor<2xbf16>
// CHECK-NEXT: %vector = arith.constant dense<1.000000e+00> : vector<4xf32>
// CHECK-NEXT: %scalar = arith.constant 0xff800000 : f32
// CHECK-NEXT: %blob = arith.constant dense<[1.000000e+00, 0xff800000]> : tensor<2xf32>
// CHECK-NEXT: %integers = arith.constant dense<[255, 32640]> : tensor<2xi32>

// BACK:      arith.constant dense<[4.000000e+00, 3.174400e+04, 3.225600e+04]> : tensor<3xf32>
// BACK-NEXT: arith.constant dense<0xff800000> : tensor<4xf32>
// BACK-NEXT: arith.constant dense<[0x7f800000, 0x7fc00000, 1.000000e+00, -2.000000e+00]> : tensor<4xf32>
// BACK-NEXT: arith.constant dense<0xfff0000000000000> : tensor<4xf64>
// BACK-NEXT: arith.constant dense<{{\[\[}}0x7ff0000000000000], [1.000000e+00]]> : tensor<2x1xf64>
// BACK-NEXT: arith.constant dense<0xfc00> : tensor<4xf16>
// BACK-NEXT: arith.constant dense<[0x7c00, 1.000000e+00]> : tensor<2xf16>
// BACK-NEXT: arith.constant dense<0xff80> : tensor<4xbf16>
// BACK-NEXT: arith.constant dense<[0x7f80, 1.000000e+00]> : tensor<2xbf16>

// STOCK: %f32 = arith.constant dense<4.28657869e+09> : tensor<4xf32>
