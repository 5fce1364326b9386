// bearing(latitude1, longitude1, latitude2, longitude2): initial bearing of a great circle, all in degrees
//
// atan2(sin(dl) cos(p2), cos(p1) sin(p2) - sin(p1) cos(p2) cos(dl)) with latitudes p, dl in radians
//
// @bearing  textbook and JAX
xfuse.library @bearing {
  xfuse.recipe @bearing(
      %latitude1: f64, %longitude1: f64, %latitude2: f64, %longitude2: f64
  ) -> f64 attributes {element_types = [f32, f64]} {
    %radian = arith.constant 0.017453292519943295 : f64
    %product = arith.mulf %latitude1, %radian : f64
    %product_1 = arith.mulf %latitude2, %radian : f64
    %difference = arith.subf %longitude2, %longitude1 : f64
    %product_2 = arith.mulf %difference, %radian : f64
    %cosine = math.cos %product_1 : f64
    %sine = math.sin %product_2 : f64
    %product_3 = arith.mulf %sine, %cosine : f64
    %cosine_1 = math.cos %product : f64
    %sine_1 = math.sin %product_1 : f64
    %product_4 = arith.mulf %cosine_1, %sine_1 : f64
    %sine_2 = math.sin %product : f64
    %product_5 = arith.mulf %sine_2, %cosine : f64
    %cosine_2 = math.cos %product_2 : f64
    %product_6 = arith.mulf %product_5, %cosine_2 : f64
    %difference_1 = arith.subf %product_4, %product_6 : f64
    %angle = math.atan2 %product_3, %difference_1 : f64
    %degree = arith.constant 57.29577951308232 : f64
    %product_7 = arith.mulf %angle, %degree : f64
    xfuse.yield %product_7 : f64
  }
}
