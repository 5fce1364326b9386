// hard_shrink(x, threshold) = |x| > threshold ? x : 0
//
// @hard_shrink  textbook, JAX and PyTorch; the threshold may be a scalar of the program, so it is no scalar slot
xfuse.library @hard_shrink {
  xfuse.recipe @hard_shrink(%x: f64, %threshold: f64) -> f64 attributes {element_types = [f16, bf16, f32, f64]} {
    %magnitude = math.absf %x : f64
    %test = arith.cmpf ogt, %magnitude, %threshold : f64
    %zero = arith.constant 0.0 : f64
    %chosen = arith.select %test, %x, %zero : f64
    xfuse.yield %chosen : f64
  }
}
