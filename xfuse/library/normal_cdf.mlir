// normal_cdf(x) = (1 + erf(x / sqrt(2))) / 2
//
// Loses relative accuracy far below 0, in every form.
//
// @normal_cdf         textbook and PyTorch
// @normal_cdf_scaled  with x sqrt(1/2) for x / sqrt(2)
// @normal_cdf_jax     JAX at f64 (`0.5 * (1 + erf(x / sqrt(2)))`): erf(t) by a rational function of t^2 below 1, else
//                     1 - erfc(t) by exp(-t^2) times one of two rational functions of |t|
xfuse.library @normal_cdf {
  xfuse.recipe @normal_cdf(%x: f64) -> f64 attributes {element_types = [f16, bf16, f32, f64]} {
    %root_two = arith.constant 1.4142135623730951 : f64
    %quotient = arith.divf %x, %root_two : f64
    %error = math.erf %quotient : f64
    %one = arith.constant 1.0 : f64
    %sum = arith.addf %one, %error : f64
    %half = arith.constant 0.5 : f64
    %product = arith.mulf %half, %sum : f64
    xfuse.yield %product : f64
  }

  xfuse.recipe @normal_cdf_scaled(%x: f64) -> f64 attributes {element_types = [f16, bf16, f32, f64]} {
    %root_half = arith.constant 0.7071067811865476 : f64
    %product = arith.mulf %x, %root_half : f64
    %error = math.erf %product : f64
    %one = arith.constant 1.0 : f64
    %sum = arith.addf %one, %error : f64
    %half = arith.constant 0.5 : f64
    %product_1 = arith.mulf %half, %sum : f64
    xfuse.yield %product_1 : f64
  }

  xfuse.recipe @normal_cdf_jax(%x: f64) -> f64 attributes {element_types = [f64]} {
    %root_two = arith.constant 1.4142135623730951 : f64
    %quotient = arith.divf %x, %root_two : f64
    %square = arith.mulf %quotient, %quotient : f64
    %magnitude = math.absf %quotient : f64
    %negative = arith.negf %square : f64
    %exponential = math.exp %negative : f64
    %c = arith.constant 2.2605286322011726 : f64
    %sum = arith.addf %magnitude, %c : f64
    %product = arith.mulf %sum, %magnitude : f64
    %c_1 = arith.constant 9.396035249380015 : f64
    %sum_1 = arith.addf %product, %c_1 : f64
    %product_1 = arith.mulf %sum_1, %magnitude : f64
    %c_2 = arith.constant 12.048953980809666 : f64
    %sum_2 = arith.addf %product_1, %c_2 : f64
    %product_2 = arith.mulf %sum_2, %magnitude : f64
    %c_3 = arith.constant 17.08144507475659 : f64
    %sum_3 = arith.addf %product_2, %c_3 : f64
    %product_3 = arith.mulf %sum_3, %magnitude : f64
    %c_4 = arith.constant 9.608968090632859 : f64
    %sum_4 = arith.addf %product_3, %c_4 : f64
    %product_4 = arith.mulf %sum_4, %magnitude : f64
    %c_5 = arith.constant 3.369076451000815 : f64
    %sum_5 = arith.addf %product_4, %c_5 : f64
    %c_6 = arith.constant 0.5641895835477551 : f64
    %product_5 = arith.mulf %magnitude, %c_6 : f64
    %c_7 = arith.constant 1.275366707599781 : f64
    %sum_6 = arith.addf %product_5, %c_7 : f64
    %product_6 = arith.mulf %sum_6, %magnitude : f64
    %c_8 = arith.constant 5.019050422511805 : f64
    %sum_7 = arith.addf %product_6, %c_8 : f64
    %product_7 = arith.mulf %sum_7, %magnitude : f64
    %c_9 = arith.constant 6.160210979930536 : f64
    %sum_8 = arith.addf %product_7, %c_9 : f64
    %product_8 = arith.mulf %sum_8, %magnitude : f64
    %c_10 = arith.constant 7.4097426995044895 : f64
    %sum_9 = arith.addf %product_8, %c_10 : f64
    %product_9 = arith.mulf %sum_9, %magnitude : f64
    %c_11 = arith.constant 2.9788666537210022 : f64
    %sum_10 = arith.addf %product_9, %c_11 : f64
    %product_10 = arith.mulf %exponential, %sum_10 : f64
    %quotient_1 = arith.divf %product_10, %sum_5 : f64
    %c_12 = arith.constant 13.228195115474499 : f64
    %sum_11 = arith.addf %magnitude, %c_12 : f64
    %product_11 = arith.mulf %sum_11, %magnitude : f64
    %c_13 = arith.constant 86.70721408859897 : f64
    %sum_12 = arith.addf %product_11, %c_13 : f64
    %product_12 = arith.mulf %sum_12, %magnitude : f64
    %c_14 = arith.constant 354.9377788878199 : f64
    %sum_13 = arith.addf %product_12, %c_14 : f64
    %product_13 = arith.mulf %sum_13, %magnitude : f64
    %c_15 = arith.constant 975.7085017432055 : f64
    %sum_14 = arith.addf %product_13, %c_15 : f64
    %product_14 = arith.mulf %sum_14, %magnitude : f64
    %c_16 = arith.constant 1823.9091668790973 : f64
    %sum_15 = arith.addf %product_14, %c_16 : f64
    %product_15 = arith.mulf %sum_15, %magnitude : f64
    %c_17 = arith.constant 2246.3376081871097 : f64
    %sum_16 = arith.addf %product_15, %c_17 : f64
    %product_16 = arith.mulf %sum_16, %magnitude : f64
    %c_18 = arith.constant 1656.6630919416134 : f64
    %sum_17 = arith.addf %product_16, %c_18 : f64
    %product_17 = arith.mulf %sum_17, %magnitude : f64
    %c_19 = arith.constant 557.5353408177277 : f64
    %sum_18 = arith.addf %product_17, %c_19 : f64
    %c_20 = arith.constant 2.461969814735305e-10 : f64
    %product_18 = arith.mulf %magnitude, %c_20 : f64
    %c_21 = arith.constant 0.5641895648310689 : f64
    %sum_19 = arith.addf %product_18, %c_21 : f64
    %product_19 = arith.mulf %sum_19, %magnitude : f64
    %c_22 = arith.constant 7.463210564422699 : f64
    %sum_20 = arith.addf %product_19, %c_22 : f64
    %product_20 = arith.mulf %sum_20, %magnitude : f64
    %c_23 = arith.constant 48.63719709856814 : f64
    %sum_21 = arith.addf %product_20, %c_23 : f64
    %product_21 = arith.mulf %sum_21, %magnitude : f64
    %c_24 = arith.constant 196.5208329560771 : f64
    %sum_22 = arith.addf %product_21, %c_24 : f64
    %product_22 = arith.mulf %sum_22, %magnitude : f64
    %c_25 = arith.constant 526.4451949954773 : f64
    %sum_23 = arith.addf %product_22, %c_25 : f64
    %product_23 = arith.mulf %sum_23, %magnitude : f64
    %c_26 = arith.constant 934.5285271719576 : f64
    %sum_24 = arith.addf %product_23, %c_26 : f64
    %product_24 = arith.mulf %sum_24, %magnitude : f64
    %c_27 = arith.constant 1027.5518868951572 : f64
    %sum_25 = arith.addf %product_24, %c_27 : f64
    %product_25 = arith.mulf %sum_25, %magnitude : f64
    %c_28 = arith.constant 557.5353353693994 : f64
    %sum_26 = arith.addf %product_25, %c_28 : f64
    %product_26 = arith.mulf %exponential, %sum_26 : f64
    %quotient_2 = arith.divf %product_26, %sum_18 : f64
    %c_29 = arith.constant 8.0 : f64
    %test = arith.cmpf olt, %magnitude, %c_29 : f64
    %chosen = arith.select %test, %quotient_2, %quotient_1 : f64
    %c_30 = arith.constant -709.782712893384 : f64
    %test_1 = arith.cmpf olt, %negative, %c_30 : f64
    %zero = arith.constant 0.0 : f64
    %chosen_1 = arith.select %test_1, %zero, %chosen : f64
    %test_2 = arith.cmpf olt, %quotient, %zero : f64
    %two = arith.constant 2.0 : f64
    %difference = arith.subf %two, %chosen_1 : f64
    %chosen_2 = arith.select %test_2, %difference, %chosen_1 : f64
    %one = arith.constant 1.0 : f64
    %difference_1 = arith.subf %one, %chosen_2 : f64
    %c_31 = arith.constant 33.56171416475031 : f64
    %sum_27 = arith.addf %square, %c_31 : f64
    %product_27 = arith.mulf %sum_27, %square : f64
    %c_32 = arith.constant 521.3579497801527 : f64
    %sum_28 = arith.addf %product_27, %c_32 : f64
    %product_28 = arith.mulf %sum_28, %square : f64
    %c_33 = arith.constant 4594.323829709801 : f64
    %sum_29 = arith.addf %product_28, %c_33 : f64
    %product_29 = arith.mulf %sum_29, %square : f64
    %c_34 = arith.constant 22629.000061389095 : f64
    %sum_30 = arith.addf %product_29, %c_34 : f64
    %product_30 = arith.mulf %sum_30, %square : f64
    %c_35 = arith.constant 49267.39426086359 : f64
    %sum_31 = arith.addf %product_30, %c_35 : f64
    %c_36 = arith.constant 9.604973739870516 : f64
    %product_31 = arith.mulf %square, %c_36 : f64
    %c_37 = arith.constant 90.02601972038427 : f64
    %sum_32 = arith.addf %product_31, %c_37 : f64
    %product_32 = arith.mulf %sum_32, %square : f64
    %c_38 = arith.constant 2232.005345946843 : f64
    %sum_33 = arith.addf %product_32, %c_38 : f64
    %product_33 = arith.mulf %sum_33, %square : f64
    %c_39 = arith.constant 7003.325141128051 : f64
    %sum_34 = arith.addf %product_33, %c_39 : f64
    %product_34 = arith.mulf %sum_34, %square : f64
    %c_40 = arith.constant 55592.30130103949 : f64
    %sum_35 = arith.addf %product_34, %c_40 : f64
    %product_35 = arith.mulf %quotient, %sum_35 : f64
    %quotient_3 = arith.divf %product_35, %sum_31 : f64
    %test_3 = arith.cmpf olt, %magnitude, %one : f64
    %chosen_3 = arith.select %test_3, %quotient_3, %difference_1 : f64
    %sum_36 = arith.addf %one, %chosen_3 : f64
    %half = arith.constant 0.5 : f64
    %product_36 = arith.mulf %half, %sum_36 : f64
    xfuse.yield %product_36 : f64
  }
}
