"""What a call costs beside the work: 100 elements, by every way to call a kernel."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
from measuring import Table, medians

import xfuse

PROGRAM = """func.func @main(%x: tensor<100xf32>, %y: tensor<100xf32>) -> tensor<100xf32> {
  %zero = arith.constant dense<0.0> : tensor<100xf32>
  %sum = arith.addf %x, %y : tensor<100xf32>
  %larger = arith.maximumf %sum, %zero : tensor<100xf32>
  return %larger : tensor<100xf32>
}"""


def section() -> list[Table]:
    """Medians in ns."""
    session = xfuse.Session()
    kernel = session.kernel("add_relu", "f32", backend="llvm")
    wide = session.kernel("adam", "f32", backend="llvm")
    ufunc, wide_ufunc = kernel.ufunc, wide.ufunc
    assert ufunc is not None
    assert wide_ufunc is not None
    module = xfuse.parse_module(PROGRAM)
    plain = xfuse.compile(module, session=session)
    with session:
        xfuse.fuse(module)
    fused = xfuse.compile(module, backend="llvm", session=session)
    a, b, out = np.ones((3, 100), np.float32)
    state = [np.ones(100, np.float32)] * 4 + [np.float32(0.5)] * 6
    calls: dict[str, Any] = {
        "an empty call": lambda: None,
        "np.add(a, b, out)": partial(np.add, a, b, out),
        "np.add(a, b)": partial(np.add, a, b),
        "np.maximum(a + b, 0)": lambda: np.maximum(a + b, 0),
        "add_relu ufunc(a, b, out)": partial(ufunc, a, b, out),
        "add_relu ufunc(a, b)": partial(ufunc, a, b),
        "add_relu kernel(a, b): dtypes and shapes checked": partial(kernel, a, b),
        "adam ufunc, 4 arrays and 6 scalars": partial(wide_ufunc, *state),
        "adam kernel, 4 arrays and 6 scalars": partial(wide, *state),
        "compiled program, plain": partial(plain, a, b),
        "compiled program, fused": partial(fused, a, b),
    }
    taken = medians(list(calls.values()), 31, 0.002)
    rows = [(name, seconds * 1e9) for name, seconds in zip(calls, taken, strict=True)]
    return [Table("call overhead at 100 f32 elements", ("call", "ns"), rows)]
