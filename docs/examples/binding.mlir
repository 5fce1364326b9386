// A recipe, a row for it, and two uses: one at a type that the row is for, one at another.
xfuse.recipe @distance(%a: f64, %b: f64) -> f64 attributes {element_types = [f32, f64]} {
  %d = arith.subf %a, %b : f64
  %r = math.absf %d : f64
  xfuse.yield %r : f64
}
xfuse.binding @distance (f32, f32) -> f32 on "gpu"

func.func @main(%x: f32, %y: f32, %z: f64) -> (f32, f64) {
  %d = arith.subf %x, %y : f32
  %single = math.absf %d : f32
  %e = arith.subf %z, %z : f64
  %double = math.absf %e : f64
  func.return %single, %double : f32, f64
}
