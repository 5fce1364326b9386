// Operations that shipped recipes spell: instances decompose to plain ops that real mlir-opt takes.

// RUN: xdsl-opt -f xfuse-mlir %s | xdsl-opt -f xfuse-mlir -p xfuse-decompose | %mlir-opt | filecheck %s
// REQUIRES: mlir-opt

// Relu Sigmoid Silu Gelu GeluErf

// CHECK-LABEL: func.func @activations
func.func @activations(%x0: tensor<4x5xf32>) -> tensor<4x5xf32> {
  // CHECK: arith.maximumf
  %relu = xfuse.fused @relu (%x = %x0 : tensor<4x5xf32>) -> tensor<4x5xf32> {
    %zero = arith.constant dense<0.0> : tensor<4x5xf32>
    %larger = arith.maximumf %x, %zero : tensor<4x5xf32>
    xfuse.yield %larger : tensor<4x5xf32>
  }
  // CHECK: arith.negf
  // CHECK: math.exp
  // CHECK: arith.addf
  // CHECK: arith.divf
  %sigmoid = xfuse.fused @sigmoid (%x = %relu : tensor<4x5xf32>) -> tensor<4x5xf32> {
    %one = arith.constant dense<1.0> : tensor<4x5xf32>
    %negative = arith.negf %x : tensor<4x5xf32>
    %exponential = math.exp %negative : tensor<4x5xf32>
    %sum = arith.addf %one, %exponential : tensor<4x5xf32>
    %quotient = arith.divf %one, %sum : tensor<4x5xf32>
    xfuse.yield %quotient : tensor<4x5xf32>
  }
  // CHECK: arith.negf
  // CHECK: math.exp
  // CHECK: arith.addf
  // CHECK: arith.divf
  // CHECK: arith.mulf
  %silu = xfuse.fused @silu (%x = %sigmoid : tensor<4x5xf32>) -> tensor<4x5xf32> {
    %one = arith.constant dense<1.0> : tensor<4x5xf32>
    %negative = arith.negf %x : tensor<4x5xf32>
    %exponential = math.exp %negative : tensor<4x5xf32>
    %sum = arith.addf %one, %exponential : tensor<4x5xf32>
    %quotient = arith.divf %one, %sum : tensor<4x5xf32>
    %product = arith.mulf %x, %quotient : tensor<4x5xf32>
    xfuse.yield %product : tensor<4x5xf32>
  }
  // CHECK: arith.mulf
  // CHECK: arith.mulf
  // CHECK: arith.mulf
  // CHECK: arith.mulf
  // CHECK: arith.addf
  // CHECK: arith.mulf
  // CHECK: math.tanh
  // CHECK: arith.addf
  // CHECK: arith.mulf
  %gelu_tanh = xfuse.fused @gelu_tanh (%x = %silu : tensor<4x5xf32>) -> tensor<4x5xf32> {
    %half = arith.constant dense<0.5> : tensor<4x5xf32>
    %product = arith.mulf %half, %x : tensor<4x5xf32>
    %product_1 = arith.mulf %x, %x : tensor<4x5xf32>
    %product_2 = arith.mulf %product_1, %x : tensor<4x5xf32>
    %beta = arith.constant dense<0.7978845608028654> : tensor<4x5xf32>
    %kappa = arith.constant dense<0.044715> : tensor<4x5xf32>
    %product_3 = arith.mulf %kappa, %product_2 : tensor<4x5xf32>
    %sum = arith.addf %x, %product_3 : tensor<4x5xf32>
    %product_4 = arith.mulf %beta, %sum : tensor<4x5xf32>
    %tangent = math.tanh %product_4 : tensor<4x5xf32>
    %one = arith.constant dense<1.0> : tensor<4x5xf32>
    %sum_1 = arith.addf %one, %tangent : tensor<4x5xf32>
    %product_5 = arith.mulf %product, %sum_1 : tensor<4x5xf32>
    xfuse.yield %product_5 : tensor<4x5xf32>
  }
  // CHECK: arith.mulf
  // CHECK: arith.divf
  // CHECK: math.erf
  // CHECK: arith.addf
  // CHECK: arith.mulf
  %gelu_erf = xfuse.fused @gelu_erf (%x = %gelu_tanh : tensor<4x5xf32>) -> tensor<4x5xf32> {
    %half = arith.constant dense<0.5> : tensor<4x5xf32>
    %product = arith.mulf %half, %x : tensor<4x5xf32>
    %root_two = arith.constant dense<1.4142135623730951> : tensor<4x5xf32>
    %quotient = arith.divf %x, %root_two : tensor<4x5xf32>
    %error = math.erf %quotient : tensor<4x5xf32>
    %one = arith.constant dense<1.0> : tensor<4x5xf32>
    %sum = arith.addf %one, %error : tensor<4x5xf32>
    %product_1 = arith.mulf %product, %sum : tensor<4x5xf32>
    xfuse.yield %product_1 : tensor<4x5xf32>
  }
  func.return %gelu_erf : tensor<4x5xf32>
}

// Clamp

// CHECK-LABEL: func.func @clamp
func.func @clamp(%x0: f32) -> f32 {
  %low = arith.constant -1.0 : f32
  %high = arith.constant 1.0 : f32
  // CHECK: arith.maximumf
  // CHECK: arith.minimumf
  %clamp = xfuse.fused @clamp (%x = %x0 : f32, %lower = %low : f32, %upper = %high : f32) -> f32 {
    %larger = arith.maximumf %x, %lower : f32
    %smaller = arith.minimumf %larger, %upper : f32
    xfuse.yield %smaller : f32
  }
  func.return %clamp : f32
}

// LogSoftmaxLastDim

#row = affine_map<(n) -> (n)>
#cell = affine_map<(n) -> ()>

// CHECK-LABEL: func.func @log_softmax
func.func @log_softmax(%x0: tensor<?xf32>) -> tensor<?xf32> {
  // CHECK: tensor.splat
  // CHECK: linalg.generic
  // CHECK: arith.maximumf
  // CHECK: tensor.extract
  // CHECK: linalg.generic
  // CHECK: arith.subf
  // CHECK: tensor.splat
  // CHECK: linalg.generic
  // CHECK: math.exp
  // CHECK: arith.addf
  // CHECK: tensor.extract
  // CHECK: math.log
  // CHECK: linalg.generic
  // CHECK: arith.subf
  %r0 = xfuse.fused @log_softmax (%x = %x0 : tensor<?xf32>) -> tensor<?xf32> {
    %lowest = arith.constant 0xFF800000 : f32
    %empty_maximum = tensor.splat %lowest : tensor<f32>
    %maximum_cell = linalg.generic {indexing_maps = [#row, #cell], iterator_types = ["reduction"]}
        ins(%x : tensor<?xf32>) outs(%empty_maximum : tensor<f32>) {
    ^bb0(%x_i: f32, %largest: f32):
      %larger = arith.maximumf %largest, %x_i : f32
      linalg.yield %larger : f32
    } -> tensor<f32>
    %maximum = tensor.extract %maximum_cell[] : tensor<f32>
    %first = arith.constant 0 : index
    %n = tensor.dim %x, %first : tensor<?xf32>
    %row = tensor.empty(%n) : tensor<?xf32>
    %differences = linalg.generic {indexing_maps = [#row, #row], iterator_types = ["parallel"]}
        ins(%x : tensor<?xf32>) outs(%row : tensor<?xf32>) {
    ^bb0(%x_i: f32, %out: f32):
      %difference = arith.subf %x_i, %maximum : f32
      linalg.yield %difference : f32
    } -> tensor<?xf32>
    %zero = arith.constant 0.0 : f32
    %empty_sum = tensor.splat %zero : tensor<f32>
    %total_cell = linalg.generic {indexing_maps = [#row, #cell], iterator_types = ["reduction"]}
        ins(%differences : tensor<?xf32>) outs(%empty_sum : tensor<f32>) {
    ^bb0(%differences_i: f32, %partial: f32):
      %exponential = math.exp %differences_i : f32
      %sum = arith.addf %partial, %exponential : f32
      linalg.yield %sum : f32
    } -> tensor<f32>
    %total = tensor.extract %total_cell[] : tensor<f32>
    %logarithm = math.log %total : f32
    %y = linalg.generic {indexing_maps = [#row, #row], iterator_types = ["parallel"]}
        ins(%differences : tensor<?xf32>) outs(%row : tensor<?xf32>) {
    ^bb0(%differences_i: f32, %out: f32):
      %result = arith.subf %differences_i, %logarithm : f32
      linalg.yield %result : f32
    } -> tensor<?xf32>
    xfuse.yield %y : tensor<?xf32>
  }
  func.return %r0 : tensor<?xf32>
}
