// A module with a recipe of its own.
xfuse.recipe @distance(%a: f64, %b: f64) -> f64 attributes {element_types = [f32, f64]} {
  %d = arith.subf %a, %b : f64
  %r = math.absf %d : f64
  xfuse.yield %r : f64
}
func.func @main(%x: f32, %y: f32) -> f32 {
  %d = arith.subf %x, %y : f32
  %r = math.absf %d : f32
  func.return %r : f32
}
