"""The functions that a recipe may use, under their array-API names: ``xfuse.xp``.

On traced arrays they are ops of the recipe. Without any traced array they are NumPy's own, so that constants are
computed before tracing, and a recipe's function also runs on NumPy arrays.
"""

# ruff: noqa: F401 -- the imports are the namespace
# pyright: reportUnusedImport=false
from __future__ import annotations

from math import e as e
from math import inf as inf
from math import nan as nan
from math import pi as pi
from typing import Any

import numpy as np

from xfuse.tracing.arithmetic import abs_ as abs
from xfuse.tracing.arithmetic import acos as acos
from xfuse.tracing.arithmetic import acosh as acosh
from xfuse.tracing.arithmetic import add as add
from xfuse.tracing.arithmetic import asin as asin
from xfuse.tracing.arithmetic import asinh as asinh
from xfuse.tracing.arithmetic import atan as atan
from xfuse.tracing.arithmetic import atan2 as atan2
from xfuse.tracing.arithmetic import atanh as atanh
from xfuse.tracing.arithmetic import cbrt as cbrt
from xfuse.tracing.arithmetic import copysign as copysign
from xfuse.tracing.arithmetic import cos as cos
from xfuse.tracing.arithmetic import cosh as cosh
from xfuse.tracing.arithmetic import divide as divide
from xfuse.tracing.arithmetic import erf as erf
from xfuse.tracing.arithmetic import exp as exp
from xfuse.tracing.arithmetic import exp2 as exp2
from xfuse.tracing.arithmetic import expm1 as expm1
from xfuse.tracing.arithmetic import floor_divide as floor_divide
from xfuse.tracing.arithmetic import fma as fma
from xfuse.tracing.arithmetic import hypot as hypot
from xfuse.tracing.arithmetic import log as log
from xfuse.tracing.arithmetic import log1p as log1p
from xfuse.tracing.arithmetic import log2 as log2
from xfuse.tracing.arithmetic import log10 as log10
from xfuse.tracing.arithmetic import logaddexp as logaddexp
from xfuse.tracing.arithmetic import multiply as multiply
from xfuse.tracing.arithmetic import negative as negative
from xfuse.tracing.arithmetic import positive as positive
from xfuse.tracing.arithmetic import pow_ as pow
from xfuse.tracing.arithmetic import reciprocal as reciprocal
from xfuse.tracing.arithmetic import relu as relu
from xfuse.tracing.arithmetic import remainder as remainder
from xfuse.tracing.arithmetic import rsqrt as rsqrt
from xfuse.tracing.arithmetic import sigmoid as sigmoid
from xfuse.tracing.arithmetic import sign as sign
from xfuse.tracing.arithmetic import sin as sin
from xfuse.tracing.arithmetic import sinh as sinh
from xfuse.tracing.arithmetic import sqrt as sqrt
from xfuse.tracing.arithmetic import square as square
from xfuse.tracing.arithmetic import subtract as subtract
from xfuse.tracing.arithmetic import tan as tan
from xfuse.tracing.arithmetic import tanh as tanh
from xfuse.tracing.array import UnknownName, near
from xfuse.tracing.contractions import dot as dot
from xfuse.tracing.contractions import matmul as matmul
from xfuse.tracing.contractions import outer as outer
from xfuse.tracing.contractions import tensordot as tensordot
from xfuse.tracing.contractions import vecdot as vecdot
from xfuse.tracing.creation import arange as arange
from xfuse.tracing.creation import asarray as asarray
from xfuse.tracing.creation import full as full
from xfuse.tracing.creation import full_like as full_like
from xfuse.tracing.creation import ones as ones
from xfuse.tracing.creation import ones_like as ones_like
from xfuse.tracing.creation import zeros as zeros
from xfuse.tracing.creation import zeros_like as zeros_like
from xfuse.tracing.gathering import concat as concat
from xfuse.tracing.gathering import flip as flip
from xfuse.tracing.gathering import roll as roll
from xfuse.tracing.gathering import stack as stack
from xfuse.tracing.gathering import take as take
from xfuse.tracing.gathering import take_along_axis as take_along_axis
from xfuse.tracing.gathering import tril as tril
from xfuse.tracing.gathering import triu as triu
from xfuse.tracing.locations import located
from xfuse.tracing.pointwise import astype as astype
from xfuse.tracing.pointwise import bitwise_and as bitwise_and
from xfuse.tracing.pointwise import bitwise_invert as bitwise_invert
from xfuse.tracing.pointwise import bitwise_left_shift as bitwise_left_shift
from xfuse.tracing.pointwise import bitwise_or as bitwise_or
from xfuse.tracing.pointwise import bitwise_right_shift as bitwise_right_shift
from xfuse.tracing.pointwise import bitwise_xor as bitwise_xor
from xfuse.tracing.pointwise import ceil as ceil
from xfuse.tracing.pointwise import clip as clip
from xfuse.tracing.pointwise import equal as equal
from xfuse.tracing.pointwise import floor as floor
from xfuse.tracing.pointwise import fmax as fmax
from xfuse.tracing.pointwise import fmin as fmin
from xfuse.tracing.pointwise import greater as greater
from xfuse.tracing.pointwise import greater_equal as greater_equal
from xfuse.tracing.pointwise import isfinite as isfinite
from xfuse.tracing.pointwise import isinf as isinf
from xfuse.tracing.pointwise import isnan as isnan
from xfuse.tracing.pointwise import less as less
from xfuse.tracing.pointwise import less_equal as less_equal
from xfuse.tracing.pointwise import logical_and as logical_and
from xfuse.tracing.pointwise import logical_not as logical_not
from xfuse.tracing.pointwise import logical_or as logical_or
from xfuse.tracing.pointwise import logical_xor as logical_xor
from xfuse.tracing.pointwise import maximum as maximum
from xfuse.tracing.pointwise import minimum as minimum
from xfuse.tracing.pointwise import not_equal as not_equal
from xfuse.tracing.pointwise import round_ as round
from xfuse.tracing.pointwise import shift_right_logical as shift_right_logical
from xfuse.tracing.pointwise import trunc as trunc
from xfuse.tracing.pointwise import where as where
from xfuse.tracing.reductions import all_ as all
from xfuse.tracing.reductions import any_ as any
from xfuse.tracing.reductions import argmax as argmax
from xfuse.tracing.reductions import argmin as argmin
from xfuse.tracing.reductions import max_ as max
from xfuse.tracing.reductions import mean as mean
from xfuse.tracing.reductions import min_ as min
from xfuse.tracing.reductions import prod as prod
from xfuse.tracing.reductions import std as std
from xfuse.tracing.reductions import sum_ as sum
from xfuse.tracing.reductions import var as var
from xfuse.tracing.reshaping import ravel as ravel
from xfuse.tracing.reshaping import reshape as reshape
from xfuse.tracing.scans import cumulative_prod as cumulative_prod
from xfuse.tracing.scans import cumulative_sum as cumulative_sum
from xfuse.tracing.views import broadcast_to as broadcast_to
from xfuse.tracing.views import expand_dims as expand_dims
from xfuse.tracing.views import matrix_transpose as matrix_transpose
from xfuse.tracing.views import moveaxis as moveaxis
from xfuse.tracing.views import permute_dims as permute_dims
from xfuse.tracing.views import squeeze as squeeze
from xfuse.tracing.views import swapaxes as swapaxes
from xfuse.tracing.views import transpose as transpose

newaxis = None

bool_, float16, float32, float64 = np.bool_, np.float16, np.float32, np.float64
int8, int16, int32, int64 = np.int8, np.int16, np.int32, np.int64

_HIDDEN = {"Any", "np", "UnknownName", "annotations", "located", "near"}
_NAMES = tuple(sorted(name for name in globals() if not name.startswith("_") and name not in _HIDDEN))


def __dir__() -> list[str]:
    return list(_NAMES)


def __getattr__(name: str) -> Any:
    if name.startswith("__"):
        raise AttributeError(name)
    raise UnknownName(located(f"xfuse.xp has no {name!r}{near(name, _NAMES)}"))
