xfuse.recipe @broken(%x: f64) -> f64 {
  %r = math.exp %x
}
