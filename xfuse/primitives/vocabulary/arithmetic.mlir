// Element-wise arithmetic: a recipe on scalars, which loops over every dimension of its operands.
//
// @rem         x - floor(x / y) y: the sign of the divisor
// @sign        0 at both zeros, a NaN at a NaN
// @step        1 above 0, else 0, at a NaN too
// @round       ties to even
// @add_scalar  a slot: binds a scalar or splat constant, which stays outside
// @powi        the exponent is a literal of the recipe
xfuse.library @arithmetic {
  xfuse.recipe @add(%x: f64, %y: f64) -> f64 attributes {element_types = [f16, bf16, f32, f64]} {
    %r = arith.addf %x, %y : f64
    xfuse.yield %r : f64
  }

  xfuse.recipe @sub(%x: f64, %y: f64) -> f64 attributes {element_types = [f16, bf16, f32, f64]} {
    %r = arith.subf %x, %y : f64
    xfuse.yield %r : f64
  }

  xfuse.recipe @mul(%x: f64, %y: f64) -> f64 attributes {element_types = [f16, bf16, f32, f64]} {
    %r = arith.mulf %x, %y : f64
    xfuse.yield %r : f64
  }

  xfuse.recipe @div(%x: f64, %y: f64) -> f64 attributes {element_types = [f16, bf16, f32, f64]} {
    %r = arith.divf %x, %y : f64
    xfuse.yield %r : f64
  }

  xfuse.recipe @maximum(%x: f64, %y: f64) -> f64 attributes {element_types = [f16, bf16, f32, f64]} {
    %r = arith.maximumf %x, %y : f64
    xfuse.yield %r : f64
  }

  xfuse.recipe @minimum(%x: f64, %y: f64) -> f64 attributes {element_types = [f16, bf16, f32, f64]} {
    %r = arith.minimumf %x, %y : f64
    xfuse.yield %r : f64
  }

  xfuse.recipe @pow(%x: f64, %y: f64) -> f64 attributes {element_types = [f16, bf16, f32, f64]} {
    %r = math.powf %x, %y : f64
    xfuse.yield %r : f64
  }

  xfuse.recipe @rem(%x: f64, %y: f64) -> f64 attributes {element_types = [f16, bf16, f32, f64]} {
    %q = arith.divf %x, %y : f64
    %f = math.floor %q : f64
    %p = arith.mulf %f, %y : f64
    %r = arith.subf %x, %p : f64
    xfuse.yield %r : f64
  }

  xfuse.recipe @neg(%x: f64) -> f64 attributes {element_types = [f16, bf16, f32, f64]} {
    %r = arith.negf %x : f64
    xfuse.yield %r : f64
  }

  xfuse.recipe @abs(%x: f64) -> f64 attributes {element_types = [f16, bf16, f32, f64]} {
    %r = math.absf %x : f64
    xfuse.yield %r : f64
  }

  xfuse.recipe @sqrt(%x: f64) -> f64 attributes {element_types = [f16, bf16, f32, f64]} {
    %r = math.sqrt %x : f64
    xfuse.yield %r : f64
  }

  xfuse.recipe @rsqrt(%x: f64) -> f64 attributes {element_types = [f16, bf16, f32, f64]} {
    %r = math.rsqrt %x : f64
    xfuse.yield %r : f64
  }

  xfuse.recipe @exp(%x: f64) -> f64 attributes {element_types = [f16, bf16, f32, f64]} {
    %r = math.exp %x : f64
    xfuse.yield %r : f64
  }

  xfuse.recipe @log(%x: f64) -> f64 attributes {element_types = [f16, bf16, f32, f64]} {
    %r = math.log %x : f64
    xfuse.yield %r : f64
  }

  xfuse.recipe @sin(%x: f64) -> f64 attributes {element_types = [f16, bf16, f32, f64]} {
    %r = math.sin %x : f64
    xfuse.yield %r : f64
  }

  xfuse.recipe @cos(%x: f64) -> f64 attributes {element_types = [f16, bf16, f32, f64]} {
    %r = math.cos %x : f64
    xfuse.yield %r : f64
  }

  xfuse.recipe @tanh(%x: f64) -> f64 attributes {element_types = [f16, bf16, f32, f64]} {
    %r = math.tanh %x : f64
    xfuse.yield %r : f64
  }

  xfuse.recipe @erf(%x: f64) -> f64 attributes {element_types = [f16, bf16, f32, f64]} {
    %r = math.erf %x : f64
    xfuse.yield %r : f64
  }

  xfuse.recipe @floor(%x: f64) -> f64 attributes {element_types = [f16, bf16, f32, f64]} {
    %r = math.floor %x : f64
    xfuse.yield %r : f64
  }

  xfuse.recipe @ceil(%x: f64) -> f64 attributes {element_types = [f16, bf16, f32, f64]} {
    %r = math.ceil %x : f64
    xfuse.yield %r : f64
  }

  xfuse.recipe @round(%x: f64) -> f64 attributes {element_types = [f16, bf16, f32, f64]} {
    %r = math.roundeven %x : f64
    xfuse.yield %r : f64
  }

  xfuse.recipe @sqr(%x: f64) -> f64 attributes {element_types = [f16, bf16, f32, f64]} {
    %r = arith.mulf %x, %x : f64
    xfuse.yield %r : f64
  }

  xfuse.recipe @recip(%x: f64) -> f64 attributes {element_types = [f16, bf16, f32, f64]} {
    %one = arith.constant 1.0 : f64
    %r = arith.divf %one, %x : f64
    xfuse.yield %r : f64
  }

  xfuse.recipe @sign(%x: f64) -> f64 attributes {element_types = [f16, bf16, f32, f64]} {
    %zero = arith.constant 0.0 : f64
    %one = arith.constant 1.0 : f64
    %unit = math.copysign %one, %x : f64
    %nonzero = arith.cmpf one, %x, %zero : f64
    %r = arith.select %nonzero, %unit, %x : f64
    xfuse.yield %r : f64
  }

  xfuse.recipe @step(%x: f64) -> f64 attributes {element_types = [f16, bf16, f32, f64]} {
    %zero = arith.constant 0.0 : f64
    %positive = arith.cmpf ogt, %x, %zero : f64
    %r = arith.uitofp %positive : i1 to f64
    xfuse.yield %r : f64
  }

  xfuse.recipe @add_scalar(%x: f64, %s: f64 {xfuse.scalar}) -> f64 attributes {element_types = [f16, bf16, f32, f64]} {
    %r = arith.addf %x, %s : f64
    xfuse.yield %r : f64
  }

  xfuse.recipe @mul_scalar(%x: f64, %s: f64 {xfuse.scalar}) -> f64 attributes {element_types = [f16, bf16, f32, f64]} {
    %r = arith.mulf %x, %s : f64
    xfuse.yield %r : f64
  }

  xfuse.recipe @powi(%x: f64) -> f64 attributes {element_types = [f16, bf16, f32, f64]} {
    %exponent = arith.constant 3 : i32
    %r = math.fpowi %x, %exponent : f64, i32
    xfuse.yield %r : f64
  }
}
