"""Recipes with core dimensions as LLVM IR text: the inner loop of a NumPy gufunc, all stages in one kernel.

Element-wise stages and reductions over the core dimensions become a few passes over the data of one item
(`rows_schedule`). A stored value lies in the row of a result or in scratch memory, allocated once for all items.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from xfuse.backends.llvm.loops import SYMBOL
from xfuse.backends.llvm.rows_body import build_body
from xfuse.backends.llvm.rows_guard import Guards
from xfuse.backends.llvm.rows_index import STORED
from xfuse.backends.llvm.rows_lanes import COMBINES
from xfuse.backends.llvm.rows_plan import make_plan
from xfuse.backends.llvm.rows_schedule import make_schedule
from xfuse.backends.llvm.rows_space import Space
from xfuse.backends.llvm.rows_text import Module
from xfuse.backends.llvm.scalars import emit_op
from xfuse.backends.llvm.target import Target, requirement
from xfuse.canonical.form import Form
from xfuse.canonical.graph import op_name
from xfuse.errors import UnsupportedError, XfuseError
from xfuse.primitives.element_types import FLOATS, INTEGERS
from xfuse.primitives.llvm_text import TextBuilder
from xfuse.primitives.table import PRIMITIVES
from xfuse.signature import CoreSignature

_KINDS = STORED | {"argument", "constant", "dense", "extent", "index", "reduce", "slice", "gather", "branch"}
_FOLD = "a reduction whose body is more than one commutative op"
_LOOP = "a loop with carried values (scf.for, scf.while)"
_REASONS = {
    "fold": _FOLD,
    "accumulator": _FOLD,
    "loop": _LOOP,
    "carried": _LOOP,
    "reshape": "a reshape that splits or joins dimensions",
    "insert": "tensor.insert",
}


def build_rows(
    name: str,
    form: Form,
    signature: CoreSignature,
    arguments: Sequence[str],
    results: Sequence[str],
    target: Target,
) -> str:
    """IR text of the gufunc inner loop for a form; ``arguments`` and ``results`` are element types.

    Its entry point is `SYMBOL`; the core dimensions are those of ``signature``. ``name`` is for people who read the
    text. Equal arguments give equal text. Raises `UnsupportedError` for what a kernel cannot do, with a reason for
    people.
    """
    schedule = make_schedule(make_plan(_space(form, signature, arguments, results)))
    module = Module(target)
    escaped = re.sub(r"[^\w.+-]", "_", name, flags=re.ASCII)
    return module.text(
        requirement(target),
        f'source_filename = "{escaped}"',
        *Guards(module, schedule).text(SYMBOL),
        build_body(module, schedule, "dense", dense=True),
        build_body(module, schedule, "strided", dense=False),
    )


def rows_refusal(form: Form, signature: CoreSignature, arguments: Sequence[str], results: Sequence[str]) -> str | None:
    """Why `build_rows` cannot make a kernel, for people, or None if it can. Nothing is built."""
    try:
        _space(form, signature, arguments, results)
    except XfuseError as error:
        return str(error)
    return None


def _space(form: Form, signature: CoreSignature, arguments: Sequence[str], results: Sequence[str]) -> Space:
    """The index space of a form that a kernel can be made for."""
    if not signature.fits_gufunc:
        raise UnsupportedError(
            f"its signature {signature.text} has a result with a dimension that no argument has, which a ufunc cannot "
            "allocate"
        )
    values = (*form.arguments, *form.results)
    found = [form.graph.nodes[value.node].element_type for value in values]
    if found != [*arguments, *results]:
        raise UnsupportedError(f"expected a form of element types {[*arguments, *results]}, got {found}")
    builder = TextBuilder()
    for number in form.closing.order:
        _check(form, number, builder)
    return Space(form, signature)


def _check(form: Form, number: int, builder: TextBuilder) -> None:
    node = form.graph.nodes[number]
    attributes: dict[str, Any] = dict(node.attributes)
    if node.element_type not in FLOATS and node.element_type not in INTEGERS:
        raise UnsupportedError(f"LLVM kernels cannot take the element type {node.element_type}")
    if node.kind == "opaque":
        raise UnsupportedError(f"'{op_name(node)}' is outside the vocabulary; bind a kernel with trusted=True")
    if node.kind == "extent" and "argument" not in attributes:
        raise UnsupportedError("LLVM kernels cannot take the extent of a computed value")
    if node.kind == "reduce" and attributes["combine"] not in COMBINES:
        raise UnsupportedError(f"LLVM kernels cannot reduce by '{attributes['combine']}'")
    if node.kind in PRIMITIVES or node.kind == "reduce":
        count = 2 if node.kind == "reduce" else len(node.references)
        emit_op(builder, form, number, [f"%x{position}" for position in range(count)])
    elif node.kind not in _KINDS:
        raise UnsupportedError(f"LLVM kernels cannot take {_REASONS.get(node.kind, repr(node.kind))}")
