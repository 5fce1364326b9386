"""NumPy's own functions on traced arrays, by its protocols: each stands for the function of the namespace."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NoReturn

import numpy as np

from xfuse.tracing.array import FUNCTIONS, Array, near
from xfuse.tracing.locations import fail
from xfuse.tracing.reductions import listed

_UFUNCS = {
    "absolute": "abs",
    "fabs": "abs",
    "arccos": "acos",
    "arccosh": "acosh",
    "arcsin": "asin",
    "arcsinh": "asinh",
    "arctan": "atan",
    "arctan2": "atan2",
    "arctanh": "atanh",
    "power": "pow",
    "float_power": "pow",
    "true_divide": "divide",
    "mod": "remainder",
    "rint": "round",
    "invert": "bitwise_invert",
    "bitwise_not": "bitwise_invert",
    "left_shift": "bitwise_left_shift",
    "right_shift": "bitwise_right_shift",
    "conjugate": "positive",
}
"""Ufuncs whose function has another name."""

_REDUCTIONS = {
    "add": "sum",
    "multiply": "prod",
    "maximum": "max",
    "minimum": "min",
    "logical_or": "any",
    "logical_and": "all",
}
_ACCUMULATIONS = {"add": "cumulative_sum", "multiply": "cumulative_prod"}

_FUNCTIONS = {
    "amax": "max",
    "amin": "min",
    "around": "round",
    "concatenate": "concat",
    "cumsum": "cumulative_sum",
    "cumprod": "cumulative_prod",
}
"""Functions of other names."""

_IGNORED = {"order", "copy", "subok", "casting", "where", "out", "initial", "like", "device"}
"""Options that are let pass at their default, and refused at any other value."""


def _numpy_ufunc(ufunc: np.ufunc, method: str, inputs: Sequence[Any], options: Mapping[str, Any]) -> Any:
    name = ufunc.__name__
    if method in ("reduce", "accumulate"):
        known = _REDUCTIONS if method == "reduce" else _ACCUMULATIONS
        if name not in known:
            fail(f"np.{name}.{method} cannot be traced; known are {', '.join(f'np.{each}.{method}' for each in known)}")
        kept = _options(f"np.{name}.{method}", options)
        kept.setdefault("axis", inputs[1] if len(inputs) > 1 else 0)
        return FUNCTIONS[known[name]](inputs[0], **kept)
    if method != "__call__":
        fail(f"np.{name}.{method} cannot be traced; expected a call, reduce or accumulate")
    found = _UFUNCS.get(name, name)
    if found not in FUNCTIONS:
        _unknown(f"np.{name}", found)
    return FUNCTIONS[found](*inputs, **_options(f"np.{name}", options))


def _numpy_function(called: Callable[..., Any], args: Sequence[Any], kwargs: Mapping[str, Any]) -> Any:
    name = called.__name__
    found = _FUNCTIONS.get(name, name)
    module = str(getattr(called, "__module__", "numpy")).replace("numpy", "np")
    if found not in FUNCTIONS or module != "np":
        _unknown(f"{module}.{name}", found)
    options = _options(f"np.{name}", kwargs)
    if "ddof" in options:
        options["correction"] = options.pop("ddof")
    args = list(args)
    if found in ("tril", "triu") and len(args) > 1:
        options["k"] = args.pop(1)
    if found in ("concat", "stack") and len(args) > 1:
        options["axis"] = args.pop(1)
    if found == "clip":
        options = {"min": options.get("a_min"), "max": options.get("a_max")} | {
            key: value for key, value in options.items() if key in ("min", "max") and value is not None
        }
        for key in ("min", "max"):
            if len(args) > 1:
                options[key] = args.pop(1)
    return FUNCTIONS[found](*args, **options)


_NO_VALUE: Any = np._NoValue  # pyright: ignore -- what NumPy's functions have as default, without a public name


def _options(name: str, options: Mapping[str, Any]) -> dict[str, Any]:
    """Options without those that say nothing."""
    kept: dict[str, Any] = {}
    for key, value in options.items():
        if key not in _IGNORED:
            if value is not _NO_VALUE:
                kept[key] = value
        elif key == "out":
            if any(each is not None for each in listed(value)):
                fail(f"{name} with out=: traced arrays cannot be written to")
        elif isinstance(value, Array) or value not in (None, True, "K", "same_kind", _NO_VALUE):
            fail(f"{name} with {key}= cannot be traced")
    return kept


def _unknown(name: str, plain: str) -> NoReturn:
    known = [each for each in FUNCTIONS if not each.startswith("numpy_")]
    fail(f"{name} cannot be traced{near(plain, known)}; the functions are those of xfuse.xp")


FUNCTIONS["numpy_ufunc"] = _numpy_ufunc
FUNCTIONS["numpy_function"] = _numpy_function
