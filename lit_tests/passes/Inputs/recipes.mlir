// The recipes that the tests of passes use, so that these do not hang on the shipped ones.
xfuse.library @add_relu {
  xfuse.recipe @add_relu(%x: f64, %y: f64) -> f64 attributes {element_types = [f16, bf16, f32, f64]} {
    %sum = arith.addf %x, %y : f64
    %zero = arith.constant 0.0 : f64
    %larger = arith.maximumf %sum, %zero : f64
    xfuse.yield %larger : f64
  }
}
xfuse.library @silu {
  xfuse.recipe @silu(%x: f64) -> f64 attributes {element_types = [f32, f64]} {
    %one = arith.constant 1.0 : f64
    %negative = arith.negf %x : f64
    %exponential = math.exp %negative : f64
    %sum = arith.addf %one, %exponential : f64
    %quotient = arith.divf %x, %sum : f64
    xfuse.yield %quotient : f64
  }
  xfuse.recipe @silu_mul(%x: f64) -> f64 attributes {element_types = [f32, f64]} {
    %one = arith.constant 1.0 : f64
    %negative = arith.negf %x : f64
    %exponential = math.exp %negative : f64
    %sum = arith.addf %one, %exponential : f64
    %quotient = arith.divf %one, %sum : f64
    %product = arith.mulf %x, %quotient : f64
    xfuse.yield %product : f64
  }
}
xfuse.recipe @scale_shift(%x: f64, %scale: f64 {xfuse.scalar}, %shift: f64) -> f64 attributes {element_types = [f32, f64]} {
  %product = arith.mulf %x, %scale : f64
  %sum = arith.addf %product, %shift : f64
  xfuse.yield %sum : f64
}
xfuse.recipe @sum_difference(%x: f64, %y: f64) -> (f64, f64) attributes {element_types = [f32, f64]} {
  %sine = math.sin %x : f64
  %sum = arith.addf %sine, %y : f64
  %difference = arith.subf %sine, %y : f64
  xfuse.yield %sum, %difference : f64, f64
}
xfuse.recipe @mix(%x: i32, %y: i32) -> i32 {
  %xor = arith.xori %x, %y : i32
  %product = arith.muli %xor, %y : i32
  xfuse.yield %product : i32
}
