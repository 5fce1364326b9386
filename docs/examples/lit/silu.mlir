// RUN: xdsl-opt -f xfuse-mlir %s -p 'xfuse-fuse{only=silu}' | filecheck %s

// CHECK:      func.func @main(%x: tensor<?xf32>) -> tensor<?xf32> {
// CHECK:        %r = xfuse.fused @silu_div (%{{.*}} = %x : tensor<?xf32>)
// CHECK:        func.return %r : tensor<?xf32>

func.func @main(%x: tensor<?xf32>) -> tensor<?xf32> {
  %zero = arith.constant 0 : index
  %extent = tensor.dim %x, %zero : tensor<?xf32>
  %scalar = arith.constant 1.0 : f32
  %one = tensor.splat %scalar[%extent] : tensor<?xf32>
  %n = arith.negf %x : tensor<?xf32>
  %e = math.exp %n : tensor<?xf32>
  %d = arith.addf %one, %e : tensor<?xf32>
  %r = arith.divf %x, %d : tensor<?xf32>
  func.return %r : tensor<?xf32>
}
