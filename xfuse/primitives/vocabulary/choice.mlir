// Comparisons, choices and casts. A truth value is an i1.
//
// @equal, @lt ...  false at a NaN; @ne true
// @masked_fill     the value is a literal of the recipe
// @cast            the target is a type of the recipe; floats to integers saturate, a NaN gives 0
xfuse.library @choice {
  xfuse.recipe @equal(%x: f64, %y: f64) -> i1 attributes {element_types = [f16, bf16, f32, f64]} {
    %r = arith.cmpf oeq, %x, %y : f64
    xfuse.yield %r : i1
  }

  xfuse.recipe @ne(%x: f64, %y: f64) -> i1 attributes {element_types = [f16, bf16, f32, f64]} {
    %r = arith.cmpf une, %x, %y : f64
    xfuse.yield %r : i1
  }

  xfuse.recipe @lt(%x: f64, %y: f64) -> i1 attributes {element_types = [f16, bf16, f32, f64]} {
    %r = arith.cmpf olt, %x, %y : f64
    xfuse.yield %r : i1
  }

  xfuse.recipe @le(%x: f64, %y: f64) -> i1 attributes {element_types = [f16, bf16, f32, f64]} {
    %r = arith.cmpf ole, %x, %y : f64
    xfuse.yield %r : i1
  }

  xfuse.recipe @gt(%x: f64, %y: f64) -> i1 attributes {element_types = [f16, bf16, f32, f64]} {
    %r = arith.cmpf ogt, %x, %y : f64
    xfuse.yield %r : i1
  }

  xfuse.recipe @ge(%x: f64, %y: f64) -> i1 attributes {element_types = [f16, bf16, f32, f64]} {
    %r = arith.cmpf oge, %x, %y : f64
    xfuse.yield %r : i1
  }

  xfuse.recipe @where(%c: i1, %x: f64, %y: f64) -> f64 attributes {element_types = [f16, bf16, f32, f64]} {
    %r = arith.select %c, %x, %y : f64
    xfuse.yield %r : f64
  }

  xfuse.recipe @masked_fill(%x: f64, %m: i1) -> f64 attributes {element_types = [f16, bf16, f32, f64]} {
    %value = arith.constant 2.0 : f64
    %r = arith.select %m, %value, %x : f64
    xfuse.yield %r : f64
  }

  xfuse.recipe @cast(%x: f64) -> f16 attributes {element_types = [f32, f64]} {
    %r = arith.truncf %x : f64 to f16
    xfuse.yield %r : f16
  }

  xfuse.recipe @cast_float_to_int(%x: f64) -> i32 attributes {element_types = [f16, bf16, f32, f64]} {
    %r = arith.fptosi %x : f64 to i32
    xfuse.yield %r : i32
  }

  xfuse.recipe @cast_int_to_float(%x: i64) -> f32 attributes {element_types = [i8, i16, i32, i64]} {
    %r = arith.sitofp %x : i64 to f32
    xfuse.yield %r : f32
  }

  xfuse.recipe @cast_wide(%x: f16) -> f32 {
    %r = arith.extf %x : f16 to f32
    xfuse.yield %r : f32
  }
}
