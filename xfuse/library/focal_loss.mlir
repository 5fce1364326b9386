// focal_loss(logit, label, gamma) = the mean over all elements of bce (1 - q)^gamma
//
// (n),(n),()->(), of operands of any rank; p = sigmoid(logit), q = p label + (1 - p) (1 - label) and bce =
// bce_with_logits(logit, label). With alpha each term is multiplied by alpha label + rest (1 - label); rest = 1 -
// alpha. Lin et al., "Focal loss for dense object detection", arXiv:1708.02002.
//
// @focal_loss               textbook: the power by powf
// @focal_loss_sum           the sum
// @focal_loss_square        JAX with gamma = 2: r r, of r = 1 - q
// @focal_loss_alpha         JAX with gamma = 2 and alpha
// @focal_loss_torch         PyTorch (`torchvision.ops.sigmoid_focal_loss`): the power by fpowi, the logarithm of the
//                           sigmoid
// @focal_loss_accumulating  textbook, at no narrower a type than f32
#row = affine_map<(n) -> (n)>
#cell = affine_map<(n) -> ()>

xfuse.library @focal_loss {
  xfuse.recipe @focal_loss(
      %logit: tensor<?xf64> {xfuse.flatten}, %label: tensor<?xf64> {xfuse.flatten}, %gamma: f64 {xfuse.scalar}
  ) -> f64 attributes {element_types = [f16, bf16, f32, f64]} {
    %one = arith.constant 1.0 : f64
    %c0 = arith.constant 0 : index
    %n = tensor.dim %logit, %c0 : tensor<?xf64>
    %empty = tensor.empty(%n) : tensor<?xf64>
    %probability = linalg.generic {indexing_maps = [#row, #row], iterator_types = ["parallel"]}
        ins(%logit : tensor<?xf64>) outs(%empty : tensor<?xf64>) {
    ^bb0(%logit_i: f64, %out: f64):
      %negative = arith.negf %logit_i : f64
      %exponential = math.exp %negative : f64
      %sum = arith.addf %one, %exponential : f64
      %quotient = arith.divf %one, %sum : f64
      linalg.yield %quotient : f64
    } -> tensor<?xf64>
    %zero = arith.constant 0.0 : f64
    %entropy = linalg.generic {indexing_maps = [#row, #row, #row], iterator_types = ["parallel"]}
        ins(%logit, %label : tensor<?xf64>, tensor<?xf64>) outs(%empty : tensor<?xf64>) {
    ^bb0(%logit_i: f64, %label_i: f64, %out: f64):
      %greater = arith.maximumf %logit_i, %zero : f64
      %product = arith.mulf %logit_i, %label_i : f64
      %difference = arith.subf %greater, %product : f64
      %magnitude = math.absf %logit_i : f64
      %negative = arith.negf %magnitude : f64
      %exponential = math.exp %negative : f64
      %logarithm = math.log1p %exponential : f64
      %sum = arith.addf %difference, %logarithm : f64
      linalg.yield %sum : f64
    } -> tensor<?xf64>
    %missing = linalg.generic {indexing_maps = [#row, #row, #row], iterator_types = ["parallel"]}
        ins(%probability, %label : tensor<?xf64>, tensor<?xf64>) outs(%empty : tensor<?xf64>) {
    ^bb0(%probability_i: f64, %label_i: f64, %out: f64):
      %product = arith.mulf %probability_i, %label_i : f64
      %difference = arith.subf %one, %probability_i : f64
      %difference_1 = arith.subf %one, %label_i : f64
      %product_1 = arith.mulf %difference, %difference_1 : f64
      %sum = arith.addf %product, %product_1 : f64
      %difference_2 = arith.subf %one, %sum : f64
      linalg.yield %difference_2 : f64
    } -> tensor<?xf64>
    %start = tensor.splat %zero : tensor<f64>
    %sum_cell = linalg.generic {indexing_maps = [#row, #row, #cell], iterator_types = ["reduction"]}
        ins(%entropy, %missing : tensor<?xf64>, tensor<?xf64>) outs(%start : tensor<f64>) {
    ^bb0(%entropy_i: f64, %missing_i: f64, %partial: f64):
      %power = math.powf %missing_i, %gamma : f64
      %product = arith.mulf %entropy_i, %power : f64
      %sum = arith.addf %partial, %product : f64
      linalg.yield %sum : f64
    } -> tensor<f64>
    %sum = tensor.extract %sum_cell[] : tensor<f64>
    %count_integer = arith.index_cast %n : index to i64
    %count = arith.sitofp %count_integer : i64 to f64
    %result = arith.divf %sum, %count : f64
    xfuse.yield %result : f64
  }

  xfuse.recipe @focal_loss_sum(
      %logit: tensor<?xf64> {xfuse.flatten}, %label: tensor<?xf64> {xfuse.flatten}, %gamma: f64 {xfuse.scalar}
  ) -> f64 attributes {element_types = [f16, bf16, f32, f64]} {
    %one = arith.constant 1.0 : f64
    %c0 = arith.constant 0 : index
    %n = tensor.dim %logit, %c0 : tensor<?xf64>
    %empty = tensor.empty(%n) : tensor<?xf64>
    %probability = linalg.generic {indexing_maps = [#row, #row], iterator_types = ["parallel"]}
        ins(%logit : tensor<?xf64>) outs(%empty : tensor<?xf64>) {
    ^bb0(%logit_i: f64, %out: f64):
      %negative = arith.negf %logit_i : f64
      %exponential = math.exp %negative : f64
      %sum = arith.addf %one, %exponential : f64
      %quotient = arith.divf %one, %sum : f64
      linalg.yield %quotient : f64
    } -> tensor<?xf64>
    %zero = arith.constant 0.0 : f64
    %entropy = linalg.generic {indexing_maps = [#row, #row, #row], iterator_types = ["parallel"]}
        ins(%logit, %label : tensor<?xf64>, tensor<?xf64>) outs(%empty : tensor<?xf64>) {
    ^bb0(%logit_i: f64, %label_i: f64, %out: f64):
      %greater = arith.maximumf %logit_i, %zero : f64
      %product = arith.mulf %logit_i, %label_i : f64
      %difference = arith.subf %greater, %product : f64
      %magnitude = math.absf %logit_i : f64
      %negative = arith.negf %magnitude : f64
      %exponential = math.exp %negative : f64
      %logarithm = math.log1p %exponential : f64
      %sum = arith.addf %difference, %logarithm : f64
      linalg.yield %sum : f64
    } -> tensor<?xf64>
    %missing = linalg.generic {indexing_maps = [#row, #row, #row], iterator_types = ["parallel"]}
        ins(%probability, %label : tensor<?xf64>, tensor<?xf64>) outs(%empty : tensor<?xf64>) {
    ^bb0(%probability_i: f64, %label_i: f64, %out: f64):
      %product = arith.mulf %probability_i, %label_i : f64
      %difference = arith.subf %one, %probability_i : f64
      %difference_1 = arith.subf %one, %label_i : f64
      %product_1 = arith.mulf %difference, %difference_1 : f64
      %sum = arith.addf %product, %product_1 : f64
      %difference_2 = arith.subf %one, %sum : f64
      linalg.yield %difference_2 : f64
    } -> tensor<?xf64>
    %start = tensor.splat %zero : tensor<f64>
    %sum_cell = linalg.generic {indexing_maps = [#row, #row, #cell], iterator_types = ["reduction"]}
        ins(%entropy, %missing : tensor<?xf64>, tensor<?xf64>) outs(%start : tensor<f64>) {
    ^bb0(%entropy_i: f64, %missing_i: f64, %partial: f64):
      %power = math.powf %missing_i, %gamma : f64
      %product = arith.mulf %entropy_i, %power : f64
      %sum = arith.addf %partial, %product : f64
      linalg.yield %sum : f64
    } -> tensor<f64>
    %sum = tensor.extract %sum_cell[] : tensor<f64>
    xfuse.yield %sum : f64
  }

  xfuse.recipe @focal_loss_square(
      %logit: tensor<?xf64> {xfuse.flatten}, %label: tensor<?xf64> {xfuse.flatten}
  ) -> f64 attributes {element_types = [f16, bf16, f32, f64]} {
    %one = arith.constant 1.0 : f64
    %c0 = arith.constant 0 : index
    %n = tensor.dim %logit, %c0 : tensor<?xf64>
    %empty = tensor.empty(%n) : tensor<?xf64>
    %probability = linalg.generic {indexing_maps = [#row, #row], iterator_types = ["parallel"]}
        ins(%logit : tensor<?xf64>) outs(%empty : tensor<?xf64>) {
    ^bb0(%logit_i: f64, %out: f64):
      %negative = arith.negf %logit_i : f64
      %exponential = math.exp %negative : f64
      %sum = arith.addf %one, %exponential : f64
      %quotient = arith.divf %one, %sum : f64
      linalg.yield %quotient : f64
    } -> tensor<?xf64>
    %zero = arith.constant 0.0 : f64
    %entropy = linalg.generic {indexing_maps = [#row, #row, #row], iterator_types = ["parallel"]}
        ins(%logit, %label : tensor<?xf64>, tensor<?xf64>) outs(%empty : tensor<?xf64>) {
    ^bb0(%logit_i: f64, %label_i: f64, %out: f64):
      %greater = arith.maximumf %logit_i, %zero : f64
      %product = arith.mulf %logit_i, %label_i : f64
      %difference = arith.subf %greater, %product : f64
      %magnitude = math.absf %logit_i : f64
      %negative = arith.negf %magnitude : f64
      %exponential = math.exp %negative : f64
      %logarithm = math.log1p %exponential : f64
      %sum = arith.addf %difference, %logarithm : f64
      linalg.yield %sum : f64
    } -> tensor<?xf64>
    %missing = linalg.generic {indexing_maps = [#row, #row, #row], iterator_types = ["parallel"]}
        ins(%probability, %label : tensor<?xf64>, tensor<?xf64>) outs(%empty : tensor<?xf64>) {
    ^bb0(%probability_i: f64, %label_i: f64, %out: f64):
      %product = arith.mulf %probability_i, %label_i : f64
      %difference = arith.subf %one, %probability_i : f64
      %difference_1 = arith.subf %one, %label_i : f64
      %product_1 = arith.mulf %difference, %difference_1 : f64
      %sum = arith.addf %product, %product_1 : f64
      %difference_2 = arith.subf %one, %sum : f64
      linalg.yield %difference_2 : f64
    } -> tensor<?xf64>
    %start = tensor.splat %zero : tensor<f64>
    %sum_cell = linalg.generic {indexing_maps = [#row, #row, #cell], iterator_types = ["reduction"]}
        ins(%entropy, %missing : tensor<?xf64>, tensor<?xf64>) outs(%start : tensor<f64>) {
    ^bb0(%entropy_i: f64, %missing_i: f64, %partial: f64):
      %product = arith.mulf %missing_i, %missing_i : f64
      %product_1 = arith.mulf %entropy_i, %product : f64
      %sum = arith.addf %partial, %product_1 : f64
      linalg.yield %sum : f64
    } -> tensor<f64>
    %sum = tensor.extract %sum_cell[] : tensor<f64>
    %count_integer = arith.index_cast %n : index to i64
    %count = arith.sitofp %count_integer : i64 to f64
    %result = arith.divf %sum, %count : f64
    xfuse.yield %result : f64
  }

  xfuse.recipe @focal_loss_alpha(
      %logit: tensor<?xf64> {xfuse.flatten}, %label: tensor<?xf64> {xfuse.flatten}, %alpha: f64 {xfuse.scalar},
      %rest: f64 {xfuse.scalar}
  ) -> f64 attributes {element_types = [f16, bf16, f32, f64]} {
    %one = arith.constant 1.0 : f64
    %c0 = arith.constant 0 : index
    %n = tensor.dim %logit, %c0 : tensor<?xf64>
    %empty = tensor.empty(%n) : tensor<?xf64>
    %probability = linalg.generic {indexing_maps = [#row, #row], iterator_types = ["parallel"]}
        ins(%logit : tensor<?xf64>) outs(%empty : tensor<?xf64>) {
    ^bb0(%logit_i: f64, %out: f64):
      %negative = arith.negf %logit_i : f64
      %exponential = math.exp %negative : f64
      %sum = arith.addf %one, %exponential : f64
      %quotient = arith.divf %one, %sum : f64
      linalg.yield %quotient : f64
    } -> tensor<?xf64>
    %zero = arith.constant 0.0 : f64
    %entropy = linalg.generic {indexing_maps = [#row, #row, #row], iterator_types = ["parallel"]}
        ins(%logit, %label : tensor<?xf64>, tensor<?xf64>) outs(%empty : tensor<?xf64>) {
    ^bb0(%logit_i: f64, %label_i: f64, %out: f64):
      %greater = arith.maximumf %logit_i, %zero : f64
      %product = arith.mulf %logit_i, %label_i : f64
      %difference = arith.subf %greater, %product : f64
      %magnitude = math.absf %logit_i : f64
      %negative = arith.negf %magnitude : f64
      %exponential = math.exp %negative : f64
      %logarithm = math.log1p %exponential : f64
      %sum = arith.addf %difference, %logarithm : f64
      linalg.yield %sum : f64
    } -> tensor<?xf64>
    %missing = linalg.generic {indexing_maps = [#row, #row, #row], iterator_types = ["parallel"]}
        ins(%probability, %label : tensor<?xf64>, tensor<?xf64>) outs(%empty : tensor<?xf64>) {
    ^bb0(%probability_i: f64, %label_i: f64, %out: f64):
      %product = arith.mulf %probability_i, %label_i : f64
      %difference = arith.subf %one, %probability_i : f64
      %difference_1 = arith.subf %one, %label_i : f64
      %product_1 = arith.mulf %difference, %difference_1 : f64
      %sum = arith.addf %product, %product_1 : f64
      %difference_2 = arith.subf %one, %sum : f64
      linalg.yield %difference_2 : f64
    } -> tensor<?xf64>
    %balance = linalg.generic {indexing_maps = [#row, #row], iterator_types = ["parallel"]}
        ins(%label : tensor<?xf64>) outs(%empty : tensor<?xf64>) {
    ^bb0(%label_i: f64, %out: f64):
      %product = arith.mulf %alpha, %label_i : f64
      %difference = arith.subf %one, %label_i : f64
      %product_1 = arith.mulf %rest, %difference : f64
      %sum = arith.addf %product, %product_1 : f64
      linalg.yield %sum : f64
    } -> tensor<?xf64>
    %start = tensor.splat %zero : tensor<f64>
    %sum_cell = linalg.generic {indexing_maps = [#row, #row, #row, #cell], iterator_types = ["reduction"]}
        ins(%balance, %entropy, %missing : tensor<?xf64>, tensor<?xf64>, tensor<?xf64>) outs(%start : tensor<f64>) {
    ^bb0(%balance_i: f64, %entropy_i: f64, %missing_i: f64, %partial: f64):
      %product = arith.mulf %missing_i, %missing_i : f64
      %product_1 = arith.mulf %entropy_i, %product : f64
      %product_2 = arith.mulf %balance_i, %product_1 : f64
      %sum = arith.addf %partial, %product_2 : f64
      linalg.yield %sum : f64
    } -> tensor<f64>
    %sum = tensor.extract %sum_cell[] : tensor<f64>
    %count_integer = arith.index_cast %n : index to i64
    %count = arith.sitofp %count_integer : i64 to f64
    %result = arith.divf %sum, %count : f64
    xfuse.yield %result : f64
  }

  xfuse.recipe @focal_loss_torch(
      %logit: tensor<?xf64> {xfuse.flatten}, %label: tensor<?xf64> {xfuse.flatten}, %alpha: f64 {xfuse.scalar},
      %rest: f64 {xfuse.scalar}, %gamma: i64 {xfuse.scalar}
  ) -> f64 attributes {element_types = [f16, bf16, f32, f64]} {
    %one = arith.constant 1.0 : f64
    %c0 = arith.constant 0 : index
    %n = tensor.dim %logit, %c0 : tensor<?xf64>
    %empty = tensor.empty(%n) : tensor<?xf64>
    %probability = linalg.generic {indexing_maps = [#row, #row], iterator_types = ["parallel"]}
        ins(%logit : tensor<?xf64>) outs(%empty : tensor<?xf64>) {
    ^bb0(%logit_i: f64, %out: f64):
      %negative = arith.negf %logit_i : f64
      %exponential = math.exp %negative : f64
      %sum = arith.addf %one, %exponential : f64
      %quotient = arith.divf %one, %sum : f64
      linalg.yield %quotient : f64
    } -> tensor<?xf64>
    %zero = arith.constant 0.0 : f64
    %log_sigmoid = linalg.generic {indexing_maps = [#row, #row], iterator_types = ["parallel"]}
        ins(%logit : tensor<?xf64>) outs(%empty : tensor<?xf64>) {
    ^bb0(%logit_i: f64, %out: f64):
      %test = arith.cmpf ogt, %logit_i, %zero : f64
      %chosen = arith.select %test, %zero, %logit_i : f64
      %magnitude = math.absf %logit_i : f64
      %negative = arith.negf %magnitude : f64
      %exponential = math.exp %negative : f64
      %logarithm = math.log1p %exponential : f64
      %difference = arith.subf %chosen, %logarithm : f64
      linalg.yield %difference : f64
    } -> tensor<?xf64>
    %entropy = linalg.generic {indexing_maps = [#row, #row, #row, #row], iterator_types = ["parallel"]}
        ins(%label, %logit, %log_sigmoid : tensor<?xf64>, tensor<?xf64>, tensor<?xf64>) outs(%empty : tensor<?xf64>) {
    ^bb0(%label_i: f64, %logit_i: f64, %log_sigmoid_i: f64, %out: f64):
      %difference = arith.subf %one, %label_i : f64
      %product = arith.mulf %difference, %logit_i : f64
      %difference_1 = arith.subf %product, %log_sigmoid_i : f64
      linalg.yield %difference_1 : f64
    } -> tensor<?xf64>
    %missing = linalg.generic {indexing_maps = [#row, #row, #row], iterator_types = ["parallel"]}
        ins(%probability, %label : tensor<?xf64>, tensor<?xf64>) outs(%empty : tensor<?xf64>) {
    ^bb0(%probability_i: f64, %label_i: f64, %out: f64):
      %product = arith.mulf %probability_i, %label_i : f64
      %difference = arith.subf %one, %probability_i : f64
      %difference_1 = arith.subf %one, %label_i : f64
      %product_1 = arith.mulf %difference, %difference_1 : f64
      %sum = arith.addf %product, %product_1 : f64
      %difference_2 = arith.subf %one, %sum : f64
      linalg.yield %difference_2 : f64
    } -> tensor<?xf64>
    %balance = linalg.generic {indexing_maps = [#row, #row], iterator_types = ["parallel"]}
        ins(%label : tensor<?xf64>) outs(%empty : tensor<?xf64>) {
    ^bb0(%label_i: f64, %out: f64):
      %product = arith.mulf %alpha, %label_i : f64
      %difference = arith.subf %one, %label_i : f64
      %product_1 = arith.mulf %rest, %difference : f64
      %sum = arith.addf %product, %product_1 : f64
      linalg.yield %sum : f64
    } -> tensor<?xf64>
    %start = tensor.splat %zero : tensor<f64>
    %sum_cell = linalg.generic {indexing_maps = [#row, #row, #row, #cell], iterator_types = ["reduction"]}
        ins(%balance, %entropy, %missing : tensor<?xf64>, tensor<?xf64>, tensor<?xf64>) outs(%start : tensor<f64>) {
    ^bb0(%balance_i: f64, %entropy_i: f64, %missing_i: f64, %partial: f64):
      %power = math.fpowi %missing_i, %gamma : f64, i64
      %product = arith.mulf %entropy_i, %power : f64
      %product_1 = arith.mulf %balance_i, %product : f64
      %sum = arith.addf %partial, %product_1 : f64
      linalg.yield %sum : f64
    } -> tensor<f64>
    %sum = tensor.extract %sum_cell[] : tensor<f64>
    %count_integer = arith.index_cast %n : index to i64
    %count = arith.sitofp %count_integer : i64 to f64
    %result = arith.divf %sum, %count : f64
    xfuse.yield %result : f64
  }

  xfuse.recipe @focal_loss_accumulating(
      %logit: tensor<?xf64> {xfuse.flatten, xfuse.accumulator = f32},
      %label: tensor<?xf64> {xfuse.flatten, xfuse.accumulator = f32},
      %gamma: f64 {xfuse.scalar, xfuse.accumulator = f32}
  ) -> f64 attributes {element_types = [f16, bf16, f32, f64]} {
    %one = arith.constant 1.0 : f64
    %c0 = arith.constant 0 : index
    %n = tensor.dim %logit, %c0 : tensor<?xf64>
    %empty = tensor.empty(%n) : tensor<?xf64>
    %probability = linalg.generic {indexing_maps = [#row, #row], iterator_types = ["parallel"]}
        ins(%logit : tensor<?xf64>) outs(%empty : tensor<?xf64>) {
    ^bb0(%logit_i: f64, %out: f64):
      %negative = arith.negf %logit_i : f64
      %exponential = math.exp %negative : f64
      %sum = arith.addf %one, %exponential : f64
      %quotient = arith.divf %one, %sum : f64
      linalg.yield %quotient : f64
    } -> tensor<?xf64>
    %zero = arith.constant 0.0 : f64
    %entropy = linalg.generic {indexing_maps = [#row, #row, #row], iterator_types = ["parallel"]}
        ins(%logit, %label : tensor<?xf64>, tensor<?xf64>) outs(%empty : tensor<?xf64>) {
    ^bb0(%logit_i: f64, %label_i: f64, %out: f64):
      %greater = arith.maximumf %logit_i, %zero : f64
      %product = arith.mulf %logit_i, %label_i : f64
      %difference = arith.subf %greater, %product : f64
      %magnitude = math.absf %logit_i : f64
      %negative = arith.negf %magnitude : f64
      %exponential = math.exp %negative : f64
      %logarithm = math.log1p %exponential : f64
      %sum = arith.addf %difference, %logarithm : f64
      linalg.yield %sum : f64
    } -> tensor<?xf64>
    %missing = linalg.generic {indexing_maps = [#row, #row, #row], iterator_types = ["parallel"]}
        ins(%probability, %label : tensor<?xf64>, tensor<?xf64>) outs(%empty : tensor<?xf64>) {
    ^bb0(%probability_i: f64, %label_i: f64, %out: f64):
      %product = arith.mulf %probability_i, %label_i : f64
      %difference = arith.subf %one, %probability_i : f64
      %difference_1 = arith.subf %one, %label_i : f64
      %product_1 = arith.mulf %difference, %difference_1 : f64
      %sum = arith.addf %product, %product_1 : f64
      %difference_2 = arith.subf %one, %sum : f64
      linalg.yield %difference_2 : f64
    } -> tensor<?xf64>
    %start = tensor.splat %zero : tensor<f64>
    %sum_cell = linalg.generic {indexing_maps = [#row, #row, #cell], iterator_types = ["reduction"]}
        ins(%entropy, %missing : tensor<?xf64>, tensor<?xf64>) outs(%start : tensor<f64>) {
    ^bb0(%entropy_i: f64, %missing_i: f64, %partial: f64):
      %power = math.powf %missing_i, %gamma : f64
      %product = arith.mulf %entropy_i, %power : f64
      %sum = arith.addf %partial, %product : f64
      linalg.yield %sum : f64
    } -> tensor<f64>
    %sum = tensor.extract %sum_cell[] : tensor<f64>
    %count_integer = arith.index_cast %n : index to i64
    %count = arith.sitofp %count_integer : i64 to f64
    %result = arith.divf %sum, %count : f64
    xfuse.yield %result : f64
  }
}
