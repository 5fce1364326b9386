// srgb_to_linear(x) = x <= 0.04045 ? x / 12.92 : ((x + 0.055) / 1.055)^2.4
//
// @srgb_to_linear  textbook and JAX
xfuse.library @srgb_to_linear {
  xfuse.recipe @srgb_to_linear(%x: f64) -> f64 attributes {element_types = [f16, bf16, f32, f64]} {
    %offset = arith.constant 0.055 : f64
    %sum = arith.addf %x, %offset : f64
    %scale = arith.constant 1.055 : f64
    %quotient = arith.divf %sum, %scale : f64
    %gamma = arith.constant 2.4 : f64
    %power = math.powf %quotient, %gamma : f64
    %slope = arith.constant 12.92 : f64
    %quotient_1 = arith.divf %x, %slope : f64
    %threshold = arith.constant 0.04045 : f64
    %test = arith.cmpf ole, %x, %threshold : f64
    %chosen = arith.select %test, %quotient_1, %power : f64
    xfuse.yield %chosen : f64
  }
}
