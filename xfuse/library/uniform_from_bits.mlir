// uniform_from_bits(x): 23 of 32 random bits as a uniform float of [0, 1): the mantissa of a float of [1, 2), minus 1
//
// @uniform_from_bits  textbook and JAX (`jax.random.uniform`)
xfuse.library @uniform_from_bits {
  xfuse.recipe @uniform_from_bits(%x: i32) -> f32 {
    %nine = arith.constant 9 : i32
    %shifted = arith.shrui %x, %nine : i32
    %one_bits = arith.constant 1065353216 : i32
    %bits = arith.ori %shifted, %one_bits : i32
    %float = arith.bitcast %bits : i32 to f32
    %one = arith.constant 1.0 : f32
    %difference = arith.subf %float, %one : f32
    xfuse.yield %difference : f32
  }
}
