// powi(x, exponent) = x^exponent for an integer exponent
//
// The bodies without an exponent have theirs baked, as repeated products. A square is one op, which no recipe is needed
// for.
//
// @powi               math.fpowi with an exponent of type i32
// @powi_cube          (x x) x, JAX (`x**3`)
// @powi_fourth        (x x) (x x), JAX (`x**4`)
// @powi_fourth_chain  ((x x) x) x
xfuse.library @powi {
  xfuse.recipe @powi(%x: f64, %exponent: i32 {xfuse.scalar}) -> f64 attributes {element_types = [f16, bf16, f32, f64]} {
    %power = math.fpowi %x, %exponent : f64, i32
    xfuse.yield %power : f64
  }

  xfuse.recipe @powi_cube(%x: f64) -> f64 attributes {element_types = [f16, bf16, f32, f64]} {
    %square = arith.mulf %x, %x : f64
    %cube = arith.mulf %square, %x : f64
    xfuse.yield %cube : f64
  }

  xfuse.recipe @powi_fourth(%x: f64) -> f64 attributes {element_types = [f16, bf16, f32, f64]} {
    %square = arith.mulf %x, %x : f64
    %fourth = arith.mulf %square, %square : f64
    xfuse.yield %fourth : f64
  }

  xfuse.recipe @powi_fourth_chain(%x: f64) -> f64 attributes {element_types = [f16, bf16, f32, f64]} {
    %square = arith.mulf %x, %x : f64
    %cube = arith.mulf %square, %x : f64
    %fourth = arith.mulf %cube, %x : f64
    xfuse.yield %fourth : f64
  }
}
