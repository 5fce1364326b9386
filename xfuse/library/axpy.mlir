// axpy(x, y, a) = a x + y
//
// The function of fma for a constant factor: its scalar slot comes last.
//
// @axpy  textbook, JAX (weight decay in a gradient) and PyTorch (`torch.add(y, x, alpha=a)`)
xfuse.library @axpy {
  xfuse.recipe @axpy(
      %x: f64, %y: f64, %a: f64 {xfuse.scalar}
  ) -> f64 attributes {element_types = [f16, bf16, f32, f64]} {
    %product = arith.mulf %a, %x : f64
    %sum = arith.addf %product, %y : f64
    xfuse.yield %sum : f64
  }
}
