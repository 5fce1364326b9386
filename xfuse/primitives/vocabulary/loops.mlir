// Loops that carry values, and what stands for the parts of a graph that compute nothing themselves.
//
// @scan             every carry and the last one; the body is c' = a c + x
// @scan_final       the last carry alone
// @scan_early_exit  the last carry, once it is above 8
// @view             several results of one recipe
// @fused            a fused op inside a recipe, which answers for its own region
xfuse.library @loops {
  xfuse.recipe @cum_sum(%x: tensor<?xf64>) -> tensor<?xf64> attributes {element_types = [f32, f64]} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %zero = arith.constant 0.0 : f64
    %n = tensor.dim %x, %c0 : tensor<?xf64>
    %empty = tensor.empty(%n) : tensor<?xf64>
    %sum, %r = scf.for %i = %c0 to %n step %c1 iter_args(%s = %zero, %t = %empty) -> (f64, tensor<?xf64>) {
      %v = tensor.extract %x[%i] : tensor<?xf64>
      %new = arith.addf %s, %v : f64
      %next = tensor.insert %new into %t[%i] : tensor<?xf64>
      scf.yield %new, %next : f64, tensor<?xf64>
    }
    xfuse.yield %r : tensor<?xf64>
  }

  xfuse.recipe @scan(
      %c: f64, %x: tensor<?xf64>, %a: f64
  ) -> (tensor<?xf64>, f64) attributes {element_types = [f32, f64]} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %n = tensor.dim %x, %c0 : tensor<?xf64>
    %empty = tensor.empty(%n) : tensor<?xf64>
    %last, %all = scf.for %i = %c0 to %n step %c1 iter_args(%carry = %c, %t = %empty) -> (f64, tensor<?xf64>) {
      %v = tensor.extract %x[%i] : tensor<?xf64>
      %p = arith.mulf %a, %carry : f64
      %new = arith.addf %p, %v : f64
      %next = tensor.insert %new into %t[%i] : tensor<?xf64>
      scf.yield %new, %next : f64, tensor<?xf64>
    }
    xfuse.yield %all, %last : tensor<?xf64>, f64
  }

  xfuse.recipe @scan_final(%c: f64, %x: tensor<?xf64>, %a: f64) -> f64 attributes {element_types = [f32, f64]} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %n = tensor.dim %x, %c0 : tensor<?xf64>
    %r = scf.for %i = %c0 to %n step %c1 iter_args(%carry = %c) -> (f64) {
      %v = tensor.extract %x[%i] : tensor<?xf64>
      %p = arith.mulf %a, %carry : f64
      %new = arith.addf %p, %v : f64
      scf.yield %new : f64
    }
    xfuse.yield %r : f64
  }

  xfuse.recipe @scan_early_exit(%c: f64, %x: tensor<?xf64>, %a: f64) -> f64 attributes {element_types = [f32, f64]} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %bound = arith.constant 8.0 : f64
    %n = tensor.dim %x, %c0 : tensor<?xf64>
    %steps, %r = scf.while (%i = %c0, %carry = %c) : (index, f64) -> (index, f64) {
      %more = arith.cmpi slt, %i, %n : index
      %within = arith.cmpf ole, %carry, %bound : f64
      %go = arith.andi %more, %within : i1
      scf.condition(%go) %i, %carry : index, f64
    } do {
    ^bb0(%i: index, %carry: f64):
      %v = tensor.extract %x[%i] : tensor<?xf64>
      %p = arith.mulf %a, %carry : f64
      %new = arith.addf %p, %v : f64
      %next = arith.addi %i, %c1 : index
      scf.yield %next, %new : index, f64
    }
    xfuse.yield %r : f64
  }

  xfuse.recipe @const() -> f64 attributes {element_types = [f16, bf16, f32, f64]} {
    %r = arith.constant 2.5 : f64
    xfuse.yield %r : f64
  }

  xfuse.recipe @reduced_count(%x: tensor<?xf64>) -> f64 attributes {element_types = [f16, bf16, f32, f64]} {
    %c0 = arith.constant 0 : index
    %n = tensor.dim %x, %c0 : tensor<?xf64>
    %i = arith.index_cast %n : index to i64
    %r = arith.sitofp %i : i64 to f64
    xfuse.yield %r : f64
  }

  xfuse.recipe @runtime_scalar(
      %x: f64, %s: f64 {xfuse.scalar}
  ) -> f64 attributes {element_types = [f16, bf16, f32, f64]} {
    %r = arith.mulf %x, %s : f64
    xfuse.yield %r : f64
  }

  xfuse.recipe @view(%x: f64) -> (f64, f64) attributes {element_types = [f16, bf16, f32, f64]} {
    %s = math.sin %x : f64
    %c = math.cos %x : f64
    xfuse.yield %s, %c : f64, f64
  }

  xfuse.recipe @fused(%x: f64) -> f64 attributes {element_types = [f16, bf16, f32, f64]} {
    %y = xfuse.fused @relu (%a = %x : f64) -> f64 {
      %zero = arith.constant 0.0 : f64
      %m = arith.maximumf %a, %zero : f64
      xfuse.yield %m : f64
    }
    %r = math.sqrt %y : f64
    xfuse.yield %r : f64
  }
}
