// RUN: xdsl-opt %s -p xfuse-decompose | filecheck %s --check-prefixes=COMMON,ALL
// RUN: xdsl-opt %s -p xfuse-decompose,xfuse-decompose | %mlir-opt | filecheck %s --check-prefix=MLIR
// RUN: xdsl-opt %s -p 'xfuse-decompose{only=abs}' | filecheck %s --check-prefixes=COMMON,ONLY
// RUN: xdsl-opt %s -p 'xfuse-decompose{except=abs,none}' | filecheck %s --check-prefixes=COMMON,EXCEPT
// RUN: xdsl-opt %s -p 'xfuse-decompose{only=abs,nest except=abs}' | filecheck %s --check-prefixes=COMMON,BOTH
// REQUIRES: mlir-opt

// MLIR-NOT: xfuse

// A program without fused ops stays as it is.

func.func @plain(%x: f32) -> f32 {
  %unused = arith.constant 1.0 : f32
  %r = math.exp %x : f32
  func.return %r : f32
}

// COMMON:      func.func @plain(%x: f32) -> f32 {
// COMMON-NEXT:   %unused = arith.constant 1.000000e+00 : f32
// COMMON-NEXT:   %r = math.exp %x : f32
// COMMON-NEXT:   func.return %r : f32

// By label: with a library's name or without; an op without a label is decomposed unless `only` is given.

func.func @labels(%x: f32) -> (f32, f32, f32) {
  %1 = xfuse.fused @abs (%a = %x : f32) -> f32 {
    %r = math.absf %a : f32
    xfuse.yield %r : f32
  }
  %2 = xfuse.fused @family::@abs (%a = %1 : f32) -> f32 {
    %r = math.absf %a : f32
    xfuse.yield %r : f32
  }
  %3 = xfuse.fused (%a = %2 : f32) -> f32 {
    %r = math.sqrt %a : f32
    xfuse.yield %r : f32
  }
  func.return %1, %2, %3 : f32, f32, f32
}

// ALL:         func.func @labels
// ALL-NEXT:      %r = math.absf %x : f32
// ALL-NEXT:      %r_1 = math.absf %r : f32
// ALL-NEXT:      %r_2 = math.sqrt %r_1 : f32
// ALL-NEXT:      func.return %r, %r_1, %r_2

// MLIR:      func.func @labels
// MLIR-NEXT:   math.absf
// MLIR-NEXT:   math.absf
// MLIR-NEXT:   math.sqrt
// MLIR-NEXT:   return

// ONLY:        func.func @labels
// ONLY-NEXT:     %r = math.absf %x : f32
// ONLY-NEXT:     %r_1 = math.absf %r : f32
// ONLY-NEXT:     %0 = xfuse.fused (

// EXCEPT:      func.func @labels
// EXCEPT-NEXT:   %0 = xfuse.fused @abs (
// EXCEPT:        %[[THIRD:.*]] = xfuse.fused @family::@abs (
// EXCEPT:        %r = math.sqrt %[[THIRD]] : f32

// BOTH:        func.func @labels
// BOTH:          xfuse.fused @abs
// BOTH:          xfuse.fused @family::@abs
// BOTH:          xfuse.fused (

// Nested ones, in bodies too; ops that only feed them keep their place.

func.func @nested(%x: tensor<4xf32>) -> tensor<4xf32> {
  %r = xfuse.fused @nest (%a = %x : tensor<4xf32>) -> tensor<4xf32> {
    %o = tensor.empty() : tensor<4xf32>
    %g = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]} ins(%a : tensor<4xf32>) outs(%o : tensor<4xf32>) {
    ^bb0(%in: f32, %unread: f32):
      %f = xfuse.fused @abs (%b = %in : f32) -> f32 {
        %m = math.absf %b : f32
        xfuse.yield %m : f32
      }
      linalg.yield %f : f32
    } -> tensor<4xf32>
    %s = xfuse.fused @abs (%c = %g : tensor<4xf32>) -> tensor<4xf32> {
      %m = math.absf %c : tensor<4xf32>
      xfuse.yield %m : tensor<4xf32>
    }
    xfuse.yield %s : tensor<4xf32>
  }
  func.return %r : tensor<4xf32>
}

// ALL:         func.func @nested
// ALL-NEXT:      %o = tensor.empty() : tensor<4xf32>
// ALL-NEXT:      %g = linalg.generic
// ALL-NEXT:      ^bb0(%in: f32, %unread: f32):
// ALL-NEXT:        %m = math.absf %in : f32
// ALL-NEXT:        linalg.yield %m : f32
// ALL-NEXT:      } -> tensor<4xf32>
// ALL-NEXT:      %m_1 = math.absf %g : tensor<4xf32>
// ALL-NEXT:      func.return %m_1

// MLIR:      func.func @nested
// MLIR-NEXT:   tensor.empty
// MLIR-NEXT:   linalg.generic
// MLIR-NEXT:   ^bb0
// MLIR-NEXT:     math.absf
// MLIR-NEXT:     linalg.yield

// ONLY:        func.func @nested
// ONLY-NEXT:     %r = xfuse.fused @nest (
// ONLY-NOT:      xfuse.fused
// ONLY:          func.return %r

// EXCEPT:      func.func @nested
// EXCEPT-NEXT:   tensor.empty
// EXCEPT-NEXT:   linalg.generic
// EXCEPT:          xfuse.fused @abs
// EXCEPT:        xfuse.fused @abs

// BOTH:        func.func @nested
// BOTH-NEXT:     tensor.empty
// BOTH-NEXT:     linalg.generic
// BOTH:            xfuse.fused @abs

// Results in another order, one twice, an argument given back, several constants: equal ones are shared, also with
// the program's before, and never with one of another type.

func.func @results(%x: f32, %y: f32) -> (f32, f32, f32, f32, f64) {
  %zero = arith.constant 0.0 : f32
  %1, %2, %3 = xfuse.fused @swap (%a = %x : f32, %b = %y : f32) -> (f32, f32, f32) {
    %c = arith.constant 0.0 : f32
    %s = arith.subf %c, %b : f32
    xfuse.yield %s, %a, %s : f32, f32, f32
  }
  %4, %5 = xfuse.fused @swap (%a = %1 : f32) -> (f32, f64) {
    %c = arith.constant 0.0 : f32
    %d = arith.constant 0.0 : f64
    %s = arith.subf %a, %c : f32
    xfuse.yield %s, %d : f32, f64
  }
  func.return %1, %2, %3, %4, %5 : f32, f32, f32, f32, f64
}

// ALL:         func.func @results
// ALL-NEXT:      %zero = arith.constant 0.000000e+00 : f32
// ALL-NEXT:      %s = arith.subf %zero, %y : f32
// ALL-NEXT:      %d = arith.constant 0.000000e+00 : f64
// ALL-NEXT:      %s_1 = arith.subf %s, %zero : f32
// ALL-NEXT:      func.return %s, %x, %s, %s_1, %d

// Operands that only give a shape.

func.func @shapes(%x: tensor<?xf32>, %n: index) -> tensor<?xf32> {
  %out = tensor.empty(%n) : tensor<?xf32>
  %r = xfuse.fused @exp (%a = %x : tensor<?xf32>) shapes (%o = %out : tensor<?xf32>) -> tensor<?xf32> {
    %e = linalg.exp ins(%a : tensor<?xf32>) outs(%o : tensor<?xf32>) -> tensor<?xf32>
    xfuse.yield %e : tensor<?xf32>
  }
  func.return %r : tensor<?xf32>
}

// ALL:         func.func @shapes
// ALL-NEXT:      %out = tensor.empty(%n) : tensor<?xf32>
// ALL-NEXT:      %e = linalg.exp ins(%x : tensor<?xf32>) outs(%out : tensor<?xf32>) -> tensor<?xf32>
// ALL-NEXT:      func.return %e
