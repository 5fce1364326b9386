// axpby(x, y, a, b) = a x + b y
//
// @axpby  textbook and JAX: a running mean with constant weights, the first moment of Adam
xfuse.library @axpby {
  xfuse.recipe @axpby(
      %x: f64, %y: f64, %a: f64 {xfuse.scalar}, %b: f64 {xfuse.scalar}
  ) -> f64 attributes {element_types = [f16, bf16, f32, f64]} {
    %product = arith.mulf %a, %x : f64
    %product_1 = arith.mulf %b, %y : f64
    %sum = arith.addf %product, %product_1 : f64
    xfuse.yield %sum : f64
  }
}
