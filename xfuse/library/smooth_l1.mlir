// smooth_l1(prediction, target, beta) = d^2 / (2 beta) if |d| < beta, else |d| - beta / 2, of d = prediction - target
//
// @smooth_l1        textbook; beta may be a scalar of the program, so it is no scalar slot
// @smooth_l1_torch  PyTorch (`F.smooth_l1_loss`) through torch-mlir, for types below f64: half_beta = beta / 2 and
//                   beta are constants, and the comparison is made at f64 with wide_beta = beta
xfuse.library @smooth_l1 {
  xfuse.recipe @smooth_l1(
      %prediction: f64, %target: f64, %beta: f64
  ) -> f64 attributes {element_types = [f16, bf16, f32, f64]} {
    %difference = arith.subf %prediction, %target : f64
    %magnitude = math.absf %difference : f64
    %product = arith.mulf %difference, %difference : f64
    %half = arith.constant 0.5 : f64
    %product_1 = arith.mulf %half, %product : f64
    %quotient = arith.divf %product_1, %beta : f64
    %product_2 = arith.mulf %half, %beta : f64
    %difference_1 = arith.subf %magnitude, %product_2 : f64
    %test = arith.cmpf olt, %magnitude, %beta : f64
    %chosen = arith.select %test, %quotient, %difference_1 : f64
    xfuse.yield %chosen : f64
  }

  xfuse.recipe @smooth_l1_torch(
      %prediction: f32, %target: f32, %beta: f32 {xfuse.scalar}, %half_beta: f32 {xfuse.scalar},
      %wide_beta: f64 {xfuse.scalar}
  ) -> f32 attributes {element_types = [f16, bf16, f32]} {
    %difference = arith.subf %prediction, %target : f32
    %magnitude = math.absf %difference : f32
    %exponent = arith.constant 2 : i64
    %power = math.fpowi %magnitude, %exponent : f32, i64
    %half = arith.constant 0.5 : f32
    %product = arith.mulf %half, %power : f32
    %quotient = arith.divf %product, %beta : f32
    %difference_1 = arith.subf %magnitude, %half_beta : f32
    %wide = arith.extf %magnitude : f32 to f64
    %test = arith.cmpf olt, %wide, %wide_beta : f64
    %chosen = arith.select %test, %quotient, %difference_1 : f32
    xfuse.yield %chosen : f32
  }
}
