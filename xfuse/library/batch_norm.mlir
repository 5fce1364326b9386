// batch_norm(x, mean, variance, gamma, beta, epsilon) = (x - mean) / sqrt(variance + epsilon) gamma + beta
//
// @batch_norm        textbook
// @batch_norm_jax    JAX (Flax): (x - mean) (rsqrt(variance + epsilon) gamma) + beta
// @batch_norm_torch  PyTorch (`F.batch_norm` in evaluation): ((x - mean) rsqrt(variance + epsilon)) gamma + beta
xfuse.library @batch_norm {
  xfuse.recipe @batch_norm(
      %x: f64, %mean: f64, %variance: f64, %gamma: f64, %beta: f64, %epsilon: f64 {xfuse.scalar}
  ) -> f64 attributes {element_types = [f16, bf16, f32, f64]} {
    %difference = arith.subf %x, %mean : f64
    %sum = arith.addf %variance, %epsilon : f64
    %root = math.sqrt %sum : f64
    %quotient = arith.divf %difference, %root : f64
    %product = arith.mulf %quotient, %gamma : f64
    %sum_1 = arith.addf %product, %beta : f64
    xfuse.yield %sum_1 : f64
  }

  xfuse.recipe @batch_norm_jax(
      %x: f64, %mean: f64, %variance: f64, %gamma: f64, %beta: f64, %epsilon: f64 {xfuse.scalar}
  ) -> f64 attributes {element_types = [f16, bf16, f32, f64]} {
    %difference = arith.subf %x, %mean : f64
    %sum = arith.addf %variance, %epsilon : f64
    %scale = math.rsqrt %sum : f64
    %product = arith.mulf %scale, %gamma : f64
    %product_1 = arith.mulf %difference, %product : f64
    %sum_1 = arith.addf %product_1, %beta : f64
    xfuse.yield %sum_1 : f64
  }

  xfuse.recipe @batch_norm_torch(
      %x: f64, %mean: f64, %variance: f64, %gamma: f64, %beta: f64, %epsilon: f64 {xfuse.scalar}
  ) -> f64 attributes {element_types = [f16, bf16, f32, f64]} {
    %difference = arith.subf %x, %mean : f64
    %sum = arith.addf %variance, %epsilon : f64
    %scale = math.rsqrt %sum : f64
    %product = arith.mulf %difference, %scale : f64
    %product_1 = arith.mulf %product, %gamma : f64
    %sum_1 = arith.addf %product_1, %beta : f64
    xfuse.yield %sum_1 : f64
  }
}
