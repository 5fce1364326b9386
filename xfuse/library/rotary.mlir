// rotary(x, cosine, sine) = x cosine + rotate_half(x) sine, rotate_half(x) = concat(-x[n/2:], x[:n/2])
//
// (n),(n),(n)->(n), n even: the halves of x are the two coordinates of n/2 points, each turned by its own angle. Su et
// al., "RoFormer: Enhanced Transformer with Rotary Position Embedding", arXiv:2104.09864.
//
// @rotary               textbook, as in GPT-NeoX and LLaMA for PyTorch and JAX; tables of n cosines and sines
// @rotary_accumulating  textbook, at no narrower a type than f32
#row = affine_map<(n) -> (n)>

xfuse.library @rotary {
  xfuse.recipe @rotary(
      %x: tensor<?xf64>, %cosine: tensor<?xf64>, %sine: tensor<?xf64>
  ) -> tensor<?xf64> attributes {element_types = [f16, bf16, f32, f64]} {
    %first = arith.constant 0 : index
    %n = tensor.dim %x, %first : tensor<?xf64>
    %two = arith.constant 2 : index
    %half = arith.divui %n, %two : index
    %rest = arith.subi %n, %half : index
    %lower = tensor.extract_slice %x[0] [%half] [1] : tensor<?xf64> to tensor<?xf64>
    %upper = tensor.extract_slice %x[%half] [%rest] [1] : tensor<?xf64> to tensor<?xf64>
    %upper_row = tensor.empty(%rest) : tensor<?xf64>
    %negative = linalg.generic {indexing_maps = [#row, #row], iterator_types = ["parallel"]}
        ins(%upper : tensor<?xf64>) outs(%upper_row : tensor<?xf64>) {
    ^bb0(%upper_i: f64, %out: f64):
      %negated = arith.negf %upper_i : f64
      linalg.yield %negated : f64
    } -> tensor<?xf64>
    %rotated = tensor.concat dim(0) %negative, %lower : (tensor<?xf64>, tensor<?xf64>) -> tensor<?xf64>
    %row = tensor.empty(%n) : tensor<?xf64>
    %y = linalg.generic {indexing_maps = [#row, #row, #row, #row, #row], iterator_types = ["parallel"]}
        ins(%x, %cosine, %rotated, %sine : tensor<?xf64>, tensor<?xf64>, tensor<?xf64>, tensor<?xf64>)
        outs(%row : tensor<?xf64>) {
    ^bb0(%x_i: f64, %cosine_i: f64, %rotated_i: f64, %sine_i: f64, %out: f64):
      %kept = arith.mulf %x_i, %cosine_i : f64
      %turned = arith.mulf %rotated_i, %sine_i : f64
      %sum = arith.addf %kept, %turned : f64
      linalg.yield %sum : f64
    } -> tensor<?xf64>
    xfuse.yield %y : tensor<?xf64>
  }

  xfuse.recipe @rotary_accumulating(
      %x: tensor<?xf64> {xfuse.accumulator = f32}, %cosine: tensor<?xf64> {xfuse.accumulator = f32},
      %sine: tensor<?xf64> {xfuse.accumulator = f32}
  ) -> tensor<?xf64> attributes {element_types = [f16, bf16, f32, f64]} {
    %first = arith.constant 0 : index
    %n = tensor.dim %x, %first : tensor<?xf64>
    %two = arith.constant 2 : index
    %half = arith.divui %n, %two : index
    %rest = arith.subi %n, %half : index
    %lower = tensor.extract_slice %x[0] [%half] [1] : tensor<?xf64> to tensor<?xf64>
    %upper = tensor.extract_slice %x[%half] [%rest] [1] : tensor<?xf64> to tensor<?xf64>
    %upper_row = tensor.empty(%rest) : tensor<?xf64>
    %negative = linalg.generic {indexing_maps = [#row, #row], iterator_types = ["parallel"]}
        ins(%upper : tensor<?xf64>) outs(%upper_row : tensor<?xf64>) {
    ^bb0(%upper_i: f64, %out: f64):
      %negated = arith.negf %upper_i : f64
      linalg.yield %negated : f64
    } -> tensor<?xf64>
    %rotated = tensor.concat dim(0) %negative, %lower : (tensor<?xf64>, tensor<?xf64>) -> tensor<?xf64>
    %row = tensor.empty(%n) : tensor<?xf64>
    %y = linalg.generic {indexing_maps = [#row, #row, #row, #row, #row], iterator_types = ["parallel"]}
        ins(%x, %cosine, %rotated, %sine : tensor<?xf64>, tensor<?xf64>, tensor<?xf64>, tensor<?xf64>)
        outs(%row : tensor<?xf64>) {
    ^bb0(%x_i: f64, %cosine_i: f64, %rotated_i: f64, %sine_i: f64, %out: f64):
      %kept = arith.mulf %x_i, %cosine_i : f64
      %turned = arith.mulf %rotated_i, %sine_i : f64
      %sum = arith.addf %kept, %turned : f64
      linalg.yield %sum : f64
    } -> tensor<?xf64>
    xfuse.yield %y : tensor<?xf64>
  }
}
