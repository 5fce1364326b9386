// haversine(latitude1, longitude1, latitude2, longitude2, diameter): great-circle distance of two points in degrees
//
// distance = diameter asin(sqrt(sin^2((p2 - p1) / 2) + cos(p1) cos(p2) sin^2(dl / 2))) with latitudes p, dl in radians
// Loses accuracy near antipodes, in every form.
//
// @haversine      textbook with asin
// @haversine_jax  JAX: asin(s) as 2 atan2(s, 1 + sqrt((1 - s) (1 + s)))
xfuse.library @haversine {
  xfuse.recipe @haversine(
      %latitude1: f64, %longitude1: f64, %latitude2: f64, %longitude2: f64, %diameter: f64 {xfuse.scalar}
  ) -> f64 attributes {element_types = [f32, f64]} {
    %radian = arith.constant 0.017453292519943295 : f64
    %product = arith.mulf %latitude1, %radian : f64
    %product_1 = arith.mulf %latitude2, %radian : f64
    %difference = arith.subf %longitude2, %longitude1 : f64
    %product_2 = arith.mulf %difference, %radian : f64
    %difference_1 = arith.subf %product_1, %product : f64
    %two = arith.constant 2.0 : f64
    %quotient = arith.divf %difference_1, %two : f64
    %sine = math.sin %quotient : f64
    %quotient_1 = arith.divf %product_2, %two : f64
    %sine_1 = math.sin %quotient_1 : f64
    %product_3 = arith.mulf %sine, %sine : f64
    %cosine = math.cos %product : f64
    %cosine_1 = math.cos %product_1 : f64
    %product_4 = arith.mulf %cosine, %cosine_1 : f64
    %product_5 = arith.mulf %sine_1, %sine_1 : f64
    %product_6 = arith.mulf %product_4, %product_5 : f64
    %sum = arith.addf %product_3, %product_6 : f64
    %root = math.sqrt %sum : f64
    %angle = math.asin %root : f64
    %product_7 = arith.mulf %diameter, %angle : f64
    xfuse.yield %product_7 : f64
  }

  xfuse.recipe @haversine_jax(
      %latitude1: f64, %longitude1: f64, %latitude2: f64, %longitude2: f64, %diameter: f64 {xfuse.scalar}
  ) -> f64 attributes {element_types = [f32, f64]} {
    %radian = arith.constant 0.017453292519943295 : f64
    %product = arith.mulf %latitude1, %radian : f64
    %product_1 = arith.mulf %latitude2, %radian : f64
    %difference = arith.subf %longitude2, %longitude1 : f64
    %product_2 = arith.mulf %difference, %radian : f64
    %difference_1 = arith.subf %product_1, %product : f64
    %two = arith.constant 2.0 : f64
    %quotient = arith.divf %difference_1, %two : f64
    %sine = math.sin %quotient : f64
    %quotient_1 = arith.divf %product_2, %two : f64
    %sine_1 = math.sin %quotient_1 : f64
    %product_3 = arith.mulf %sine, %sine : f64
    %cosine = math.cos %product : f64
    %cosine_1 = math.cos %product_1 : f64
    %product_4 = arith.mulf %cosine, %cosine_1 : f64
    %product_5 = arith.mulf %sine_1, %sine_1 : f64
    %product_6 = arith.mulf %product_4, %product_5 : f64
    %sum = arith.addf %product_3, %product_6 : f64
    %root = math.sqrt %sum : f64
    %one = arith.constant 1.0 : f64
    %difference_2 = arith.subf %one, %root : f64
    %sum_1 = arith.addf %one, %root : f64
    %product_7 = arith.mulf %difference_2, %sum_1 : f64
    %root_1 = math.sqrt %product_7 : f64
    %sum_2 = arith.addf %one, %root_1 : f64
    %angle = math.atan2 %root, %sum_2 : f64
    %sum_3 = arith.addf %angle, %angle : f64
    %product_8 = arith.mulf %diameter, %sum_3 : f64
    xfuse.yield %product_8 : f64
  }
}
