// Recipes for the examples of docs/passes.md; @gated_silu has @silu inside.
xfuse.library @examples {
  xfuse.recipe @silu(%x: f64) -> f64 attributes {element_types = [f32, f64]} {
    %one = arith.constant 1.0 : f64
    %n = arith.negf %x : f64
    %e = math.exp %n : f64
    %d = arith.addf %one, %e : f64
    %r = arith.divf %x, %d : f64
    xfuse.yield %r : f64
  }
  xfuse.recipe @gated_silu(%x: f64, %y: f64) -> f64 attributes {element_types = [f32, f64]} {
    %one = arith.constant 1.0 : f64
    %n = arith.negf %x : f64
    %e = math.exp %n : f64
    %d = arith.addf %one, %e : f64
    %s = arith.divf %x, %d : f64
    %r = arith.mulf %s, %y : f64
    xfuse.yield %r : f64
  }
}
xfuse.recipe @add_relu(%x: f64, %y: f64) -> f64 attributes {element_types = [f32, f64]} {
  %zero = arith.constant 0.0 : f64
  %sum = arith.addf %x, %y : f64
  %r = arith.maximumf %sum, %zero : f64
  xfuse.yield %r : f64
}
