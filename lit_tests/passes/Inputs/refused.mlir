xfuse.recipe @right(%x: f64) -> f64 {
  %r = math.exp %x : f64
  xfuse.yield %r : f64
}
xfuse.recipe @unused_argument(%x: f64, %y: f64) -> f64 {
  %r = math.sin %x : f64
  xfuse.yield %r : f64
}
