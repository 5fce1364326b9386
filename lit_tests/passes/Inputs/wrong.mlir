xfuse.recipe @wrong(%x: f64) -> f32 {
  %r = math.exp %x : f64
  xfuse.yield %r : f64
}
