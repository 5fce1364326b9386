// huber(prediction, target, delta) = d^2 / 2 if |d| <= delta, else delta (|d| - delta / 2), of d = prediction - target
//
// @huber      textbook; delta may be a scalar of the program, so it is no scalar slot
// @huber_jax  JAX, where a constant delta has made delta / 2 another constant: half_delta = delta / 2
// @huber_one  JAX with delta = 1
xfuse.library @huber {
  xfuse.recipe @huber(
      %prediction: f64, %target: f64, %delta: f64
  ) -> f64 attributes {element_types = [f16, bf16, f32, f64]} {
    %difference = arith.subf %prediction, %target : f64
    %magnitude = math.absf %difference : f64
    %product = arith.mulf %difference, %difference : f64
    %half = arith.constant 0.5 : f64
    %product_1 = arith.mulf %half, %product : f64
    %product_2 = arith.mulf %half, %delta : f64
    %difference_1 = arith.subf %magnitude, %product_2 : f64
    %product_3 = arith.mulf %delta, %difference_1 : f64
    %test = arith.cmpf ole, %magnitude, %delta : f64
    %chosen = arith.select %test, %product_1, %product_3 : f64
    xfuse.yield %chosen : f64
  }

  xfuse.recipe @huber_jax(
      %prediction: f64, %target: f64, %delta: f64 {xfuse.scalar}, %half_delta: f64 {xfuse.scalar}
  ) -> f64 attributes {element_types = [f16, bf16, f32, f64]} {
    %difference = arith.subf %prediction, %target : f64
    %magnitude = math.absf %difference : f64
    %product = arith.mulf %difference, %difference : f64
    %half = arith.constant 0.5 : f64
    %product_1 = arith.mulf %half, %product : f64
    %difference_1 = arith.subf %magnitude, %half_delta : f64
    %product_2 = arith.mulf %delta, %difference_1 : f64
    %test = arith.cmpf ole, %magnitude, %delta : f64
    %chosen = arith.select %test, %product_1, %product_2 : f64
    xfuse.yield %chosen : f64
  }

  xfuse.recipe @huber_one(%prediction: f64, %target: f64) -> f64 attributes {element_types = [f16, bf16, f32, f64]} {
    %difference = arith.subf %prediction, %target : f64
    %magnitude = math.absf %difference : f64
    %half = arith.constant 0.5 : f64
    %product = arith.mulf %difference, %difference : f64
    %product_1 = arith.mulf %half, %product : f64
    %difference_1 = arith.subf %magnitude, %half : f64
    %one = arith.constant 1.0 : f64
    %test = arith.cmpf ole, %magnitude, %one : f64
    %chosen = arith.select %test, %product_1, %difference_1 : f64
    xfuse.yield %chosen : f64
  }
}
