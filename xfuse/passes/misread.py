"""The warning about float constants that a parser read wrongly before xfuse saw them."""

from __future__ import annotations

import sys

import numpy as np
from xdsl.dialects.builtin import (
    AnyFloat,
    BFloat16Type,
    DenseIntOrFPElementsAttr,
    Float16Type,
    Float32Type,
    Float64Type,
    FloatAttr,
    ModuleOp,
)
from xdsl.ir import Attribute
from xdsl.utils.hints import isa

_NOT_FINITE: dict[type[Attribute], tuple[int, ...]] = {
    Float16Type: (0x7C00, 0xFC00, 0x7E00, 0xFE00),
    BFloat16Type: (0x7F80, 0xFF80, 0x7FC0, 0xFFC0),
    Float32Type: (0x7F800000, 0xFF800000, 0x7FC00000, 0xFFC00000),
    Float64Type: (0x7FF0 << 48, 0xFFF0 << 48, 0x7FF8 << 48, 0xFFF8 << 48),
}
"""Bits of both infinities and of the usual NaNs, which only hexadecimal can spell."""


def warn_of_misread_literals(name: str, module: ModuleOp) -> None:
    """Say once on standard error if a constant holds the integer of an infinity's or NaN's bits.

    It was most likely read as such by mistake: xDSL's own frontend takes a hexadecimal element for a number.
    """
    for op in module.walk():
        if op.name == "arith.constant" and _is_misread(op.properties.get("value")):
            print(
                f"{name}: warning: a constant of type {op.results[0].type} holds the bit pattern of an infinity or NaN "
                "as a number; xdsl-opt reads hexadecimal elements of dense<> so: use -f xfuse-mlir",
                file=sys.stderr,
            )
            return


def _is_misread(value: Attribute | None) -> bool:
    if isa(value, FloatAttr) and type(value.type) in _NOT_FINITE:
        type_, data = value.type, value.type.pack([value.value.data])
    elif isa(value, DenseIntOrFPElementsAttr[AnyFloat]) and type(value.get_element_type()) in _NOT_FINITE:
        type_, data = value.get_element_type(), value.data.data
    else:
        return False
    word = f"<u{type_.size}"
    suspects = type_.pack([float(bits) for bits in _NOT_FINITE[type(type_)]])
    return bool(np.isin(np.frombuffer(data, word), np.frombuffer(suspects, word)).any())
