"""Derive the polynomial coefficients of `xfuse/primitives/coefficients.py` from nothing but mpmath.

Every polynomial is a weighted least-squares fit on Chebyshev nodes, which is within a small factor of the minimax fit
(and, unlike Remez exchange, sound where the weight vanishes inside the interval). Coefficients are then rounded to the
working precision one after the other, the lowest power first, and the rest is fitted again each time, so that later
coefficients absorb the rounding of earlier ones.

    python benchmarks/fit_coefficients.py > xfuse/primitives/coefficients.py
"""

from __future__ import annotations

import struct
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import mpmath as mp

mp.mp.dps = 60
Real = Any
NODES = 160
ONE = mp.mpf(1)


@dataclass(frozen=True)
class Fit:
    """``count`` coefficients of a polynomial near ``target`` on an interval, the error times ``weight`` minimal."""

    name: str
    meaning: str
    bits: int
    target: Callable[[Real], Real]
    interval: tuple[Real, Real]
    count: int
    weight: Callable[[Real], Real] = lambda _: ONE


def round_to(value: Real, bits: int) -> Real:
    """The nearest float (24 bits) or double (53 bits)."""
    nearest = float(value)
    return mp.mpf(struct.unpack("<f", struct.pack("<f", nearest))[0] if bits == 24 else nearest)


def least_squares(xs: Sequence[Real], values: Sequence[Real], weights: Sequence[Real], powers: range) -> list[Real]:
    """Coefficients of the powers that minimise the sum of squared weighted errors over the nodes."""
    columns = [[w * x**power for x, w in zip(xs, weights, strict=True)] for power in powers]
    wanted = [w * v for v, w in zip(values, weights, strict=True)]
    size = len(columns)
    matrix, right = mp.matrix(size, size), mp.matrix(size, 1)
    for i in range(size):
        for j in range(i, size):
            matrix[i, j] = matrix[j, i] = mp.fdot(columns[i], columns[j])
        right[i] = mp.fdot(columns[i], wanted)
    return list(mp.lu_solve(matrix, right))


def fit(wanted: Fit) -> tuple[list[float], float]:
    """The rounded coefficients, and log2 of the largest weighted error that is left."""
    low, high = wanted.interval
    middle, half = (high + low) / 2, (high - low) / 2
    xs = [middle - half * mp.cos(mp.pi * (i + mp.mpf("0.5")) / NODES) for i in range(NODES)]
    values = [wanted.target(x) for x in xs]
    weights = [wanted.weight(x) for x in xs]
    rounded: list[Real] = []
    residue = list(values)
    for power in range(wanted.count):
        coefficient = round_to(least_squares(xs, residue, weights, range(power, wanted.count))[0], wanted.bits)
        rounded.append(coefficient)
        residue = [value - coefficient * x**power for value, x in zip(residue, xs, strict=True)]
    worst = max(abs(weight * value) for weight, value in zip(weights, residue, strict=True))
    return [float(coefficient) for coefficient in rounded], float(mp.log(worst, 2))


def exp_rest(r: Real) -> Real:
    return (mp.exp(r) - 1 - r) / r**2


def exp2_rest(r: Real) -> Real:
    return (mp.power(2, r) - 1) / r


def log_rest(g: Real) -> Real:
    return (mp.log1p(g) - g + g * g / 2) / g**3


def atanh_rest(z: Real) -> Real:
    s = mp.sqrt(z)
    return (mp.log((1 + s) / (1 - s)) - 2 * s) / s / z


def odd_rest(function: Callable[[Real], Real]) -> Callable[[Real], Real]:
    return lambda z: (function(mp.sqrt(z)) / mp.sqrt(z) - 1) / z


def erf_small(z: Real) -> Real:
    return mp.erf(mp.sqrt(z)) / mp.sqrt(z) - 1


def erf_large(x: Real) -> Real:
    return (-mp.log(mp.erfc(x)) - x) / x


def square(x: Real) -> Real:
    return x * x


def same(x: Real) -> Real:
    return x


def erfc_weight(x: Real) -> Real:
    return mp.erfc(x) * x


LOG = (mp.sqrt(mp.mpf("0.5")) - 1 - mp.mpf("1e-4"), mp.sqrt(mp.mpf(2)) - 1 + mp.mpf("1e-4"))
LN2 = (-mp.log(2) / 2 * mp.mpf("1.001"), mp.log(2) / 2 * mp.mpf("1.001"))
HALF = (mp.mpf(-0.5), mp.mpf(0.5))
TINY = mp.mpf("1e-14")
ATANH = (TINY, ((mp.sqrt(2) - 1) / (mp.sqrt(2) + 1)) ** 2 * mp.mpf("1.001"))
TANH = (TINY, mp.mpf("0.391"))
UNIT = (TINY, ONE)
EXP_MEANING = "(e^r - 1 - r) / r^2, |r| <= ln2/2"
EXP2_MEANING = "(2^r - 1) / r, |r| <= 1/2"
ATANH_MEANING = "(2 atanh(s) - 2s) / s^3 in z = s^2, |s| <= (sqrt(2)-1)/(sqrt(2)+1)"
LARGE = "(-log(erfc(x)) - x) / x, {} <= x <= {}"
TANH_MEANING = "(tanh(x)/x - 1) / z in z = x^2, |x| <= 5/8"
SINH_MEANING = "(sinh(x)/x - 1) / z in z = x^2, |x| <= 1"
FITS = [
    Fit("EXP_F32", EXP_MEANING, 24, exp_rest, LN2, 5, square),
    Fit("EXP_F64", EXP_MEANING, 53, exp_rest, LN2, 11, square),
    Fit("EXP2_F32", EXP2_MEANING, 24, exp2_rest, HALF, 6, same),
    Fit("EXP2_F64", EXP2_MEANING, 53, exp2_rest, HALF, 12, same),
    Fit("LOG_F32", "(log(1+g) - g + g^2/2) / g^3, sqrt(1/2) <= 1+g <= sqrt(2)", 24, log_rest, LOG, 8, square),
    Fit("LOG_F64", ATANH_MEANING, 53, atanh_rest, ATANH, 7, same),
    Fit("TANH_F32", TANH_MEANING, 24, odd_rest(mp.tanh), TANH, 6, same),
    Fit("TANH_F64", TANH_MEANING, 53, odd_rest(mp.tanh), TANH, 12, same),
    Fit("SINH_F32", SINH_MEANING, 24, odd_rest(mp.sinh), UNIT, 4, same),
    Fit("SINH_F64", SINH_MEANING, 53, odd_rest(mp.sinh), UNIT, 8, same),
    Fit("ERF_SMALL_F32", "erf(x)/x - 1 in z = x^2, |x| <= 15/16", 24, erf_small, (TINY, mp.mpf("0.8791")), 7),
    Fit("ERF_SMALL_F64", "erf(x)/x - 1 in z = x^2, |x| <= 1", 53, erf_small, UNIT, 13),
    Fit("ERF_LARGE_F32", LARGE.format("15/16", 3.93), 24, erf_large, (mp.mpf("0.93"), mp.mpf("3.93")), 7, erfc_weight),
    Fit("ERF_LARGE_F64", LARGE.format("1", 5.93), 53, erf_large, (mp.mpf("0.99"), mp.mpf("5.93")), 19, erfc_weight),
]


HEADER = '''\
"""Polynomial coefficients of the math functions, lowest power first. Written by benchmarks/fit_coefficients.py.

Each is a least-squares fit on Chebyshev nodes, rounded one coefficient after the other; the number after the formula
bounds the error of the function that uses it, before rounding, as a power of two.
"""

from __future__ import annotations'''


def main() -> None:
    print(HEADER)
    for wanted in FITS:
        coefficients, error = fit(wanted)
        print(f"\n{wanted.name} = (")
        for coefficient in coefficients:
            print(f"    {coefficient!r},")
        print(f')\n"""{wanted.meaning}; 2^{error:.1f}."""', flush=True)
        print(wanted.name, f"{error:.1f}", file=sys.stderr, flush=True)


if __name__ == "__main__":
    main()
