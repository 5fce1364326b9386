// lab_companding(x) = x > 0.008856 ? cbrt(x) : 7.787 x + 16/116, from XYZ relative to white to CIE Lab
//
// @lab_companding  textbook and JAX
xfuse.library @lab_companding {
  xfuse.recipe @lab_companding(%x: f64) -> f64 attributes {element_types = [f16, bf16, f32, f64]} {
    %slope = arith.constant 7.787 : f64
    %product = arith.mulf %slope, %x : f64
    %offset = arith.constant 0.13793103448275862 : f64
    %sum = arith.addf %product, %offset : f64
    %threshold = arith.constant 0.008856 : f64
    %test = arith.cmpf ogt, %x, %threshold : f64
    %root = math.cbrt %x : f64
    %chosen = arith.select %test, %root, %sum : f64
    xfuse.yield %chosen : f64
  }
}
