"""LLVM ufuncs against the same formulas in plain NumPy, one call per op and a new array for each."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from measuring import Table, medians

import xfuse

SIZES = (100, 10_000, 1_000_000)
ROUNDS = 9

try:
    from scipy.special import erf
except ImportError:  # NumPy has no erf of its own
    _erf = np.frompyfunc(math.erf, 1, 1)

    def erf(x: Any) -> Any:
        """math.erf, element by element."""
        return _erf(x).astype(x.dtype)


def swiglu(gate: Any, up: Any) -> Any:
    return gate / (1 + np.exp(-gate)) * up


def gelu_erf(x: Any) -> Any:
    return 0.5 * x * (1 + erf(x / math.sqrt(2)))


def adam(p: Any, g: Any, m: Any, v: Any, rate: Any, b1: Any, b2: Any, epsilon: Any, c1: Any, c2: Any) -> Any:
    m = b1 * m + (1 - b1) * g
    v = b2 * v + (1 - b2) * (g * g)
    return p - rate * ((m / c1) / (np.sqrt(v / c2) + epsilon)), m, v


def black_scholes(spot: Any, strike: Any, time: Any, rate: Any, volatility: Any) -> Any:
    spread = volatility * np.sqrt(time)
    d1 = (np.log(spot / strike) + (rate + 0.5 * volatility**2) * time) / spread
    d2 = d1 - spread
    discounted = strike * np.exp(-rate * time)
    low, high = 0.5 * (1 + erf(d1 / math.sqrt(2))), 0.5 * (1 + erf(d2 / math.sqrt(2)))
    return spot * low - discounted * high, discounted * (1 - high) - spot * (1 - low)


FORMULAS: tuple[tuple[str, str, int, tuple[float, ...], Callable[..., Any]], ...] = (
    ("add_relu", "f32", 2, (), lambda x, y: np.maximum(x + y, 0)),
    ("tanh_sub", "f32", 2, (), lambda x, y: np.tanh(x - y)),
    ("swiglu", "f32", 2, (), swiglu),
    ("gelu_erf", "f32", 1, (), gelu_erf),
    ("adam", "f32", 4, (1e-3, 0.9, 0.999, 1e-8, 0.1, 0.001), adam),
    ("black_scholes", "f64", 3, (0.03, 0.2), black_scholes),
)
"""Recipe, element type, how many array operands, the scalar operands after them, and the formula."""


def section() -> list[Table]:
    """Medians in us; the ratio says how many times as fast xfuse is. Both sides allocate their results."""
    session = xfuse.Session()
    generator = np.random.default_rng(0)
    rows: list[tuple[Any, ...]] = []
    for name, element_type, arrays, scalars, formula in FORMULAS:
        kernel = session.kernel(name, element_type, backend="llvm").ufunc
        assert kernel is not None
        dtype = np.dtype({"f32": "float32", "f64": "float64"}[element_type])
        for size in SIZES:
            operands = [generator.uniform(0.5, 2, size).astype(dtype) for _ in range(arrays)]
            operands += [dtype.type(scalar) for scalar in scalars]
            np.testing.assert_allclose(kernel(*operands), formula(*operands), rtol=1e-3, atol=1e-5)
            own, plain = medians([partial(kernel, *operands), partial(formula, *operands)], ROUNDS)
            rows.append((name, element_type, str(size), own * 1e6, plain * 1e6, plain / own))
    heads = ("recipe", "type", "elements", "xfuse us", "NumPy us", "times as fast")
    return [Table("ufuncs against plain NumPy, results allocated", heads, rows)]
