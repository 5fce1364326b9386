"""The table: tags of the reference system's vocabulary, and of what it lacks, with their spellings."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from xfuse.primitives.primitive import TypeRule
from xfuse.primitives.vocabulary import reference
from xfuse.primitives.vocabulary.spelling import Function, Spelling

ANY = ("i8", "i16", "i32", "i64")
WIDE = ("i64",)
"""Where an index argument is an i64, or a literal the least or greatest i64."""

VIEW = "a view: how operands and results lie along the dimensions"
SEVERAL = -1
"""The arity of an operation on any number of tensors."""


@dataclass(frozen=True)
class Row:
    """One operation: ``arity`` counts tensor operands, as the reference system does.

    The first spelling is the operation, further ones its modes. ``alone`` says why the recipe by itself is refused by
    the registry: it stands in larger ones only.
    """

    tag: str
    arity: int
    spellings: tuple[Spelling, ...]
    notes: str = ""
    alone: str | None = None


def _row(
    tag: str,
    arity: int,
    types: str,
    numpy: Function,
    notes: str = "",
    *more: Spelling,
    name: str | None = None,
    integers: tuple[str, ...] = (),
    family: str | None = None,
    alone: str | None = None,
) -> Row:
    spelled = _mode(name or family or _snake(tag), types, numpy, integers, family)
    return Row(tag, arity, (spelled, *more), notes, alone)


def _mode(
    name: str, types: str, numpy: Function, integers: tuple[str, ...] = (), family: str | None = None
) -> Spelling:
    return Spelling(name, TypeRule(types), numpy, integers, family)


def _snake(tag: str) -> str:
    return "".join(f"_{letter.lower()}" if letter.isupper() else letter for letter in tag).lstrip("_")


_ARITHMETIC = (
    _row("Add", 2, "F,F->F", np.add, integers=ANY),
    _row("Sub", 2, "F,F->F", np.subtract, integers=ANY),
    _row("Mul", 2, "F,F->F", np.multiply, integers=ANY),
    _row("Div", 2, "F,F->F", np.divide),
    _row("Maximum", 2, "F,F->F", np.maximum, "a NaN wins", integers=ANY),
    _row("Minimum", 2, "F,F->F", np.minimum, "a NaN wins", integers=ANY),
    _row("Pow", 2, "F,F->F", np.power),
    _row("Rem", 2, "F,F->F", lambda x, y: x - np.floor(x / y) * y, "the sign of the divisor"),
    _row("Neg", 1, "F->F", np.negative),
    _row("Abs", 1, "F->F", np.absolute, integers=ANY),
    _row("Sqr", 1, "F->F", np.square, integers=ANY),
    _row("Sqrt", 1, "F->F", np.sqrt),
    _row("Rsqrt", 1, "F->F", lambda x: 1 / np.sqrt(x)),
    _row("Recip", 1, "F->F", np.reciprocal),
    _row("Exp", 1, "F->F", np.exp),
    _row("Log", 1, "F->F", np.log),
    _row("Sin", 1, "F->F", np.sin),
    _row("Cos", 1, "F->F", np.cos),
    _row("Tanh", 1, "F->F", np.tanh),
    _row("Erf", 1, "F->F", reference.erf),
    _row("Floor", 1, "F->F", np.floor),
    _row("Ceil", 1, "F->F", np.ceil),
    _row("Round", 1, "F->F", np.rint, "ties to even"),
    _row("Sign", 1, "F->F", np.sign, "0 at both zeros, a NaN at a NaN"),
    _row("Step", 1, "F->F", lambda x: (x > 0).astype(x.dtype), "1 above 0, else 0, at a NaN too"),
    _row("AddScalar", 1, "F,F->F", np.add, "the scalar is an argument marked `xfuse.scalar`", integers=ANY),
    _row("MulScalar", 1, "F,F->F", np.multiply, "the scalar is an argument marked `xfuse.scalar`", integers=ANY),
    _row("PowI", 1, "F->F", lambda x: x * x * x, "the exponent is a literal", name="powi"),
)

_SHIPPED = "shipped, with other forms"

_ACTIVATIONS = (
    _row("Relu", 1, "F->F", lambda x: np.maximum(x, 0), _SHIPPED, family="relu"),
    _row("Sigmoid", 1, "F->F", reference.sigmoid, _SHIPPED, family="sigmoid"),
    _row("Silu", 1, "F->F", lambda x: x * reference.sigmoid(x), _SHIPPED, family="silu"),
    _row("Gelu", 1, "F->F", reference.gelu_tanh, f"by tanh; {_SHIPPED}", family="gelu_tanh"),
    _row("GeluErf", 1, "F->F", reference.gelu_erf, f"exact; {_SHIPPED}", family="gelu_erf"),
    _row("Clamp", 1, "F,F,F->F", np.clip, f"the bounds are marked `xfuse.scalar`; {_SHIPPED}", family="clamp"),
)

_CHOICES = (
    _row("Equal", 2, "F,F->B", np.equal, integers=ANY),
    _row("Ne", 2, "F,F->B", np.not_equal, "true at a NaN, the others false", integers=ANY),
    _row("Lt", 2, "F,F->B", np.less, integers=ANY),
    _row("Le", 2, "F,F->B", np.less_equal, integers=ANY),
    _row("Gt", 2, "F,F->B", np.greater, integers=ANY),
    _row("Ge", 2, "F,F->B", np.greater_equal, integers=ANY),
    _row("Where", 3, "B,X,X->X", np.where, integers=ANY),
    _row("MaskedFill", 2, "X,B->X", reference.filled, "the value is a literal", integers=ANY),
    _row(
        "Cast",
        1,
        "F->G",
        lambda x: x.astype(np.float16),
        "the target is a type of the recipe; floats to integers saturate, a NaN gives 0",
        _mode("cast_wide", "F->G", lambda x: x.astype(np.float32)),
        _mode("cast_float_to_int", "F->I", reference.to_integer),
        _mode("cast_int_to_float", "N->F", lambda x: x.astype(np.float32)),
    ),
)

_REDUCTIONS = (
    _row("SumAll", 1, "F->F", np.sum, "the argument is marked `xfuse.flatten`", integers=ANY),
    _row("MaxAll", 1, "F->F", reference.maximum, "the argument is marked `xfuse.flatten`", integers=WIDE),
    _row("MinAll", 1, "F->F", reference.minimum, "the argument is marked `xfuse.flatten`", integers=WIDE),
    _row("MeanAll", 1, "F->F", reference.mean, "the argument is marked `xfuse.flatten`"),
    _row("SumDim", 1, "F->F", np.sum, "which axis is how the operand lies", integers=ANY),
    _row("MaxDim", 1, "F->F", reference.maximum, "a NaN wins; of nothing minus infinity", integers=WIDE),
    _row("MinDim", 1, "F->F", reference.minimum, "a NaN wins; of nothing infinity", integers=WIDE),
    _row("MeanDim", 1, "F->F", reference.mean, "the divisor is read off the extent"),
    _row("ReduceSumTo", 1, "F->F", lambda x: np.sum(x, keepdims=True), "the function of SumDim", integers=ANY),
    _row("ReduceMaxTo", 1, "F->F", lambda x: reference.maximum(x)[None], "the function of MaxDim", integers=WIDE),
    _row("ArgMaxDim", 1, "F->I", reference.arg_maximum, "the first place of it, or of a NaN; of nothing 0"),
    _row("ArgMinDim", 1, "F->I", reference.arg_minimum, "the first place of it, or of a NaN; of nothing 0"),
    _row("MatMul", 2, "F,F->F", np.dot, "a row times a column; of matrices, both loop", integers=ANY),
    _row("LogSoftmaxLastDim", 1, "F->F", reference.log_softmax, _SHIPPED, family="log_softmax"),
)

_SHAPES = (
    _row("Transpose", 1, "X->X", np.transpose, "an indexing map", integers=ANY, alone=VIEW),
    _row("Permute", 1, "X->X", lambda x: x.transpose(1, 2, 0), "an indexing map", integers=ANY, alone=VIEW),
    _row("BroadcastTo", 1, "X->X", lambda x: x[None].repeat(4, 0), "an indexing map", integers=ANY, alone=VIEW),
    _row("Unsqueeze", 1, "X->X", lambda x: x[None], integers=ANY, alone=VIEW),
    _row("Squeeze", 1, "X->X", lambda x: x[0], integers=ANY, alone=VIEW),
    _row(
        "Reshape",
        1,
        "X->X",
        np.ravel,
        "axes that only come and go with extent one are views",
        _mode("reshape_split", "X->X", lambda x: x.reshape(-1, 2), ANY),
        integers=ANY,
    ),
    _row(
        "Slice",
        1,
        "X->X",
        lambda x: x[1:4],
        "start and length are literals, or index arithmetic on extents",
        _mode("slice_relative", "X->X", lambda x: x[len(x) // 2 :], ANY),
        integers=ANY,
    ),
    _row("Concat", SEVERAL, "X,X->X", lambda x, y: np.concatenate((x, y)), integers=ANY),
    _row(
        "Pad",
        1,
        "X->X",
        lambda x: np.pad(x, (1, 2)),
        "amounts and value are literals",
        _mode("pad_reflect", "X->X", lambda x: np.pad(x, (1, 2), "reflect"), ANY),
        _mode("pad_replicate", "X->X", lambda x: np.pad(x, (1, 2), "edge"), ANY),
        integers=ANY,
    ),
)

_INDEXING = (
    _row("Iota", 0, "I->F", lambda n: np.arange(n, dtype=np.float32), "`linalg.index`; the length is a slot"),
    _row("Flip", 1, "X->X", np.flip, "reads a captured row", integers=ANY),
    _row("Roll", 1, "X->X", lambda x: np.roll(x, 3), "the shift is a literal", integers=ANY),
    _row("Triu", 1, "X->X", lambda x: np.triu(x, 1), "the diagonal is a literal", integers=ANY),
    _row("Tril", 1, "X->X", lambda x: np.tril(x, 1), "the diagonal is a literal", integers=ANY),
    _row("IndexSelect", 2, "X,I->X", lambda x, i: x[i], "the index is the same at some loop dimensions", integers=WIDE),
    _row("Gather", 2, "X,I->X", lambda x, i: x[i], "the function of IndexSelect", integers=WIDE),
    _row("IndexAdd", 3, "F,I,F->F", reference.added_at, "`scf.for` that carries the row", integers=WIDE),
    _row("ScatterAdd", 3, "F,I,F->F", reference.added_at, "the function of IndexAdd", name="index_add", integers=WIDE),
)

_PLACEHOLDER = "a carry is a region argument of `scf.for`, an element what is extracted at the induction variable"

_LOOPS = (
    _row("CumSum", 1, "F->F", np.cumsum, "`scf.for` that carries the sum and the row", integers=ANY),
    _row(
        "Scan",
        SEVERAL,
        "F,F,F->F,F",
        reference.scan,
        "c' = a c + x: carries are `iter_args`, elements are extracted, results inserted",
        _mode("scan_final", "F,F,F->F", reference.scan_final, ANY),
        _mode("scan_early_exit", "F,F,F->F", reference.scan_early_exit),
        integers=ANY,
    ),
    _row("ScanPlaceholder", 0, "F,F,F->F", reference.scan_final, _PLACEHOLDER, name="scan_final", integers=ANY),
)

_LEAVES = (
    _row("Const", 0, "->F", lambda: 2.5, "a literal of the region", alone="it has no arguments"),
    _row("RuntimeScalar", 0, "F,F->F", np.multiply, "an argument marked `xfuse.scalar`", integers=ANY),
    _row("ReducedCount", 0, "X->F", reference.count, "`tensor.dim` of what is reduced", alone="it reads no element"),
    _row("View", 1, "F->F,F", lambda x: (np.sin(x), np.cos(x)), "one of several results of a recipe"),
    _row("Fused", SEVERAL, "F->F", lambda x: np.sqrt(np.maximum(x, 0)), "a fused op inside the recipe"),
)

GROUPS: dict[str, tuple[Row, ...]] = {
    "Arithmetic": _ARITHMETIC,
    "Activations": _ACTIVATIONS,
    "Comparisons, choices and casts": _CHOICES,
    "Reductions": _REDUCTIONS,
    "Shapes": _SHAPES,
    "Indexing": _INDEXING,
    "Loops": _LOOPS,
    "Leaves and structure": _LEAVES,
}
"""The rows by group, as the page shows them."""

VOCABULARY: dict[str, Row] = {row.tag: row for rows in GROUPS.values() for row in rows}
"""Every row by its tag."""
