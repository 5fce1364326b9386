// kl_divergence(log_prediction, log_target) = sum(p (log p - log q)), of p = exp(log_target)
//
// (n),(n)->(), of q = exp(log_prediction). Distillation: Hinton, Vinyals and Dean, "Distilling the knowledge in a
// neural network", arXiv:1503.02531.
//
// @kl_divergence                textbook and JAX, of two rows of log-probabilities
// @kl_divergence_probabilities  of two rows of probabilities: sum(p log(p / q))
// @kl_divergence_optax          JAX (`optax.kl_divergence`), of log q and p: sum(p (log p - log q)), log 0 taken for 0
// @kl_divergence_torch          PyTorch (`F.kl_div`), of log q and p: sum(p log p - p log q), p log p = 0 at 0
// @kl_divergence_xlogy          JAX (`xlogy(p, p) - p * log q`), of log q and p
// @kl_divergence_logits         distillation in JAX, of rows of logits: factor sum(p (log p - log q)), of log-softmaxes
//                               of logits / temperature; factor = temperature^2
// @kl_divergence_accumulating   textbook, at no narrower a type than f32
#row = affine_map<(n) -> (n)>
#cell = affine_map<(n) -> ()>

xfuse.library @kl_divergence {
  xfuse.recipe @kl_divergence(
      %log_prediction: tensor<?xf64>, %log_target: tensor<?xf64>
  ) -> f64 attributes {element_types = [f16, bf16, f32, f64]} {
    %zero = arith.constant 0.0 : f64
    %start = tensor.splat %zero : tensor<f64>
    %sum_cell = linalg.generic {indexing_maps = [#row, #row, #cell], iterator_types = ["reduction"]}
        ins(%log_target, %log_prediction : tensor<?xf64>, tensor<?xf64>) outs(%start : tensor<f64>) {
    ^bb0(%log_target_i: f64, %log_prediction_i: f64, %partial: f64):
      %exponential = math.exp %log_target_i : f64
      %difference = arith.subf %log_target_i, %log_prediction_i : f64
      %product = arith.mulf %exponential, %difference : f64
      %sum = arith.addf %partial, %product : f64
      linalg.yield %sum : f64
    } -> tensor<f64>
    %sum = tensor.extract %sum_cell[] : tensor<f64>
    xfuse.yield %sum : f64
  }

  xfuse.recipe @kl_divergence_probabilities(
      %target: tensor<?xf64>, %prediction: tensor<?xf64>
  ) -> f64 attributes {element_types = [f16, bf16, f32, f64]} {
    %zero = arith.constant 0.0 : f64
    %start = tensor.splat %zero : tensor<f64>
    %sum_cell = linalg.generic {indexing_maps = [#row, #row, #cell], iterator_types = ["reduction"]}
        ins(%target, %prediction : tensor<?xf64>, tensor<?xf64>) outs(%start : tensor<f64>) {
    ^bb0(%target_i: f64, %prediction_i: f64, %partial: f64):
      %quotient = arith.divf %target_i, %prediction_i : f64
      %logarithm = math.log %quotient : f64
      %product = arith.mulf %target_i, %logarithm : f64
      %sum = arith.addf %partial, %product : f64
      linalg.yield %sum : f64
    } -> tensor<f64>
    %sum = tensor.extract %sum_cell[] : tensor<f64>
    xfuse.yield %sum : f64
  }

  xfuse.recipe @kl_divergence_optax(
      %log_prediction: tensor<?xf64>, %target: tensor<?xf64>
  ) -> f64 attributes {element_types = [f16, bf16, f32, f64]} {
    %zero = arith.constant 0.0 : f64
    %start = tensor.splat %zero : tensor<f64>
    %sum_cell = linalg.generic {indexing_maps = [#row, #row, #cell], iterator_types = ["reduction"]}
        ins(%target, %log_prediction : tensor<?xf64>, tensor<?xf64>) outs(%start : tensor<f64>) {
    ^bb0(%target_i: f64, %log_prediction_i: f64, %partial: f64):
      %test = arith.cmpf oeq, %target_i, %zero : f64
      %logarithm = math.log %target_i : f64
      %chosen = arith.select %test, %zero, %logarithm : f64
      %difference = arith.subf %chosen, %log_prediction_i : f64
      %product = arith.mulf %target_i, %difference : f64
      %sum = arith.addf %partial, %product : f64
      linalg.yield %sum : f64
    } -> tensor<f64>
    %sum = tensor.extract %sum_cell[] : tensor<f64>
    xfuse.yield %sum : f64
  }

  xfuse.recipe @kl_divergence_torch(
      %log_prediction: tensor<?xf64>, %target: tensor<?xf64>
  ) -> f64 attributes {element_types = [f16, bf16, f32, f64]} {
    %nan = arith.constant 0x7FF8000000000000 : f64
    %zero = arith.constant 0.0 : f64
    %c0 = arith.constant 0 : index
    %n = tensor.dim %log_prediction, %c0 : tensor<?xf64>
    %empty = tensor.empty(%n) : tensor<?xf64>
    %entropy = linalg.generic {indexing_maps = [#row, #row], iterator_types = ["parallel"]}
        ins(%target : tensor<?xf64>) outs(%empty : tensor<?xf64>) {
    ^bb0(%target_i: f64, %out: f64):
      %test = arith.cmpf une, %target_i, %target_i : f64
      %test_1 = arith.cmpf oeq, %target_i, %zero : f64
      %logarithm = math.log %target_i : f64
      %product = arith.mulf %target_i, %logarithm : f64
      %chosen = arith.select %test_1, %zero, %product : f64
      %chosen_1 = arith.select %test, %nan, %chosen : f64
      linalg.yield %chosen_1 : f64
    } -> tensor<?xf64>
    %start = tensor.splat %zero : tensor<f64>
    %sum_cell = linalg.generic {indexing_maps = [#row, #row, #row, #cell], iterator_types = ["reduction"]}
        ins(%entropy, %target, %log_prediction : tensor<?xf64>, tensor<?xf64>, tensor<?xf64>)
        outs(%start : tensor<f64>) {
    ^bb0(%entropy_i: f64, %target_i: f64, %log_prediction_i: f64, %partial: f64):
      %product = arith.mulf %target_i, %log_prediction_i : f64
      %difference = arith.subf %entropy_i, %product : f64
      %sum = arith.addf %partial, %difference : f64
      linalg.yield %sum : f64
    } -> tensor<f64>
    %sum = tensor.extract %sum_cell[] : tensor<f64>
    xfuse.yield %sum : f64
  }

  xfuse.recipe @kl_divergence_xlogy(
      %log_prediction: tensor<?xf64>, %target: tensor<?xf64>
  ) -> f64 attributes {element_types = [f16, bf16, f32, f64]} {
    %zero = arith.constant 0.0 : f64
    %c0 = arith.constant 0 : index
    %n = tensor.dim %log_prediction, %c0 : tensor<?xf64>
    %empty = tensor.empty(%n) : tensor<?xf64>
    %entropy = linalg.generic {indexing_maps = [#row, #row], iterator_types = ["parallel"]}
        ins(%target : tensor<?xf64>) outs(%empty : tensor<?xf64>) {
    ^bb0(%target_i: f64, %out: f64):
      %test = arith.cmpf une, %target_i, %zero : f64
      %test_1 = arith.cmpf une, %target_i, %target_i : f64
      %either = arith.ori %test, %test_1 : i1
      %logarithm = math.log %target_i : f64
      %product = arith.mulf %target_i, %logarithm : f64
      %chosen = arith.select %either, %product, %zero : f64
      linalg.yield %chosen : f64
    } -> tensor<?xf64>
    %start = tensor.splat %zero : tensor<f64>
    %sum_cell = linalg.generic {indexing_maps = [#row, #row, #row, #cell], iterator_types = ["reduction"]}
        ins(%entropy, %target, %log_prediction : tensor<?xf64>, tensor<?xf64>, tensor<?xf64>)
        outs(%start : tensor<f64>) {
    ^bb0(%entropy_i: f64, %target_i: f64, %log_prediction_i: f64, %partial: f64):
      %product = arith.mulf %target_i, %log_prediction_i : f64
      %difference = arith.subf %entropy_i, %product : f64
      %sum = arith.addf %partial, %difference : f64
      linalg.yield %sum : f64
    } -> tensor<f64>
    %sum = tensor.extract %sum_cell[] : tensor<f64>
    xfuse.yield %sum : f64
  }

  xfuse.recipe @kl_divergence_logits(
      %student: tensor<?xf64>, %teacher: tensor<?xf64>, %temperature: f64 {xfuse.scalar}, %factor: f64 {xfuse.scalar}
  ) -> f64 attributes {element_types = [f16, bf16, f32, f64]} {
    %c0 = arith.constant 0 : index
    %n = tensor.dim %student, %c0 : tensor<?xf64>
    %empty = tensor.empty(%n) : tensor<?xf64>
    %student_cooled = linalg.generic {indexing_maps = [#row, #row], iterator_types = ["parallel"]}
        ins(%student : tensor<?xf64>) outs(%empty : tensor<?xf64>) {
    ^bb0(%student_i: f64, %out: f64):
      %quotient = arith.divf %student_i, %temperature : f64
      linalg.yield %quotient : f64
    } -> tensor<?xf64>
    %lowest = arith.constant 0xFFF0000000000000 : f64
    %start = tensor.splat %lowest : tensor<f64>
    %student_peak_cell = linalg.generic {indexing_maps = [#row, #cell], iterator_types = ["reduction"]}
        ins(%student_cooled : tensor<?xf64>) outs(%start : tensor<f64>) {
    ^bb0(%student_cooled_i: f64, %largest: f64):
      %larger = arith.maximumf %largest, %student_cooled_i : f64
      linalg.yield %larger : f64
    } -> tensor<f64>
    %student_peak = tensor.extract %student_peak_cell[] : tensor<f64>
    %student_shifted = linalg.generic {indexing_maps = [#row, #row], iterator_types = ["parallel"]}
        ins(%student_cooled : tensor<?xf64>) outs(%empty : tensor<?xf64>) {
    ^bb0(%student_cooled_i: f64, %out: f64):
      %difference = arith.subf %student_cooled_i, %student_peak : f64
      linalg.yield %difference : f64
    } -> tensor<?xf64>
    %zero = arith.constant 0.0 : f64
    %start_1 = tensor.splat %zero : tensor<f64>
    %student_total_cell = linalg.generic {indexing_maps = [#row, #cell], iterator_types = ["reduction"]}
        ins(%student_shifted : tensor<?xf64>) outs(%start_1 : tensor<f64>) {
    ^bb0(%student_shifted_i: f64, %partial: f64):
      %exponential = math.exp %student_shifted_i : f64
      %sum = arith.addf %partial, %exponential : f64
      linalg.yield %sum : f64
    } -> tensor<f64>
    %student_total = tensor.extract %student_total_cell[] : tensor<f64>
    %student_logarithm = math.log %student_total : f64
    %log_student = linalg.generic {indexing_maps = [#row, #row], iterator_types = ["parallel"]}
        ins(%student_shifted : tensor<?xf64>) outs(%empty : tensor<?xf64>) {
    ^bb0(%student_shifted_i: f64, %out: f64):
      %difference = arith.subf %student_shifted_i, %student_logarithm : f64
      linalg.yield %difference : f64
    } -> tensor<?xf64>
    %teacher_cooled = linalg.generic {indexing_maps = [#row, #row], iterator_types = ["parallel"]}
        ins(%teacher : tensor<?xf64>) outs(%empty : tensor<?xf64>) {
    ^bb0(%teacher_i: f64, %out: f64):
      %quotient = arith.divf %teacher_i, %temperature : f64
      linalg.yield %quotient : f64
    } -> tensor<?xf64>
    %teacher_peak_cell = linalg.generic {indexing_maps = [#row, #cell], iterator_types = ["reduction"]}
        ins(%teacher_cooled : tensor<?xf64>) outs(%start : tensor<f64>) {
    ^bb0(%teacher_cooled_i: f64, %largest: f64):
      %larger = arith.maximumf %largest, %teacher_cooled_i : f64
      linalg.yield %larger : f64
    } -> tensor<f64>
    %teacher_peak = tensor.extract %teacher_peak_cell[] : tensor<f64>
    %teacher_shifted = linalg.generic {indexing_maps = [#row, #row], iterator_types = ["parallel"]}
        ins(%teacher_cooled : tensor<?xf64>) outs(%empty : tensor<?xf64>) {
    ^bb0(%teacher_cooled_i: f64, %out: f64):
      %difference = arith.subf %teacher_cooled_i, %teacher_peak : f64
      linalg.yield %difference : f64
    } -> tensor<?xf64>
    %teacher_total_cell = linalg.generic {indexing_maps = [#row, #cell], iterator_types = ["reduction"]}
        ins(%teacher_shifted : tensor<?xf64>) outs(%start_1 : tensor<f64>) {
    ^bb0(%teacher_shifted_i: f64, %partial: f64):
      %exponential = math.exp %teacher_shifted_i : f64
      %sum = arith.addf %partial, %exponential : f64
      linalg.yield %sum : f64
    } -> tensor<f64>
    %teacher_total = tensor.extract %teacher_total_cell[] : tensor<f64>
    %teacher_logarithm = math.log %teacher_total : f64
    %log_teacher = linalg.generic {indexing_maps = [#row, #row], iterator_types = ["parallel"]}
        ins(%teacher_shifted : tensor<?xf64>) outs(%empty : tensor<?xf64>) {
    ^bb0(%teacher_shifted_i: f64, %out: f64):
      %difference = arith.subf %teacher_shifted_i, %teacher_logarithm : f64
      linalg.yield %difference : f64
    } -> tensor<?xf64>
    %sum_cell = linalg.generic {indexing_maps = [#row, #row, #cell], iterator_types = ["reduction"]}
        ins(%log_teacher, %log_student : tensor<?xf64>, tensor<?xf64>) outs(%start_1 : tensor<f64>) {
    ^bb0(%log_teacher_i: f64, %log_student_i: f64, %partial: f64):
      %exponential = math.exp %log_teacher_i : f64
      %difference = arith.subf %log_teacher_i, %log_student_i : f64
      %product = arith.mulf %exponential, %difference : f64
      %sum = arith.addf %partial, %product : f64
      linalg.yield %sum : f64
    } -> tensor<f64>
    %sum = tensor.extract %sum_cell[] : tensor<f64>
    %result = arith.mulf %sum, %factor : f64
    xfuse.yield %result : f64
  }

  xfuse.recipe @kl_divergence_accumulating(
      %log_prediction: tensor<?xf64> {xfuse.accumulator = f32}, %log_target: tensor<?xf64> {xfuse.accumulator = f32}
  ) -> f64 attributes {element_types = [f16, bf16, f32, f64]} {
    %zero = arith.constant 0.0 : f64
    %start = tensor.splat %zero : tensor<f64>
    %sum_cell = linalg.generic {indexing_maps = [#row, #row, #cell], iterator_types = ["reduction"]}
        ins(%log_target, %log_prediction : tensor<?xf64>, tensor<?xf64>) outs(%start : tensor<f64>) {
    ^bb0(%log_target_i: f64, %log_prediction_i: f64, %partial: f64):
      %exponential = math.exp %log_target_i : f64
      %difference = arith.subf %log_target_i, %log_prediction_i : f64
      %product = arith.mulf %exponential, %difference : f64
      %sum = arith.addf %partial, %product : f64
      linalg.yield %sum : f64
    } -> tensor<f64>
    %sum = tensor.extract %sum_cell[] : tensor<f64>
    xfuse.yield %sum : f64
  }
}
