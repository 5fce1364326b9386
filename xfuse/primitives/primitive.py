"""What one row of the primitives table says, and how its types are checked."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple, Protocol

from xfuse.primitives import element_types


class Signature(NamedTuple):
    """One use of a primitive: the element types at hand and the attributes that matter.

    Element types are MLIR names ("f32", "i1", "index"). ``attributes`` holds the op's properties by name, as text
    (``{"predicate": "olt"}``), without those at their default value.
    """

    operands: tuple[str, ...]
    results: tuple[str, ...]
    attributes: Mapping[str, str]

    @property
    def result(self) -> str:
        """Element type of the first result."""
        return self.results[0]


class LLVMBuilder(Protocol):
    """What a row needs to emit scalar LLVM IR as text; `xfuse.primitives.llvm_text` implements it."""

    fast_half: bool
    """The target converts between half and float in hardware."""

    has_fma: bool
    """The target multiplies and adds with one rounding in hardware."""

    def emit(self, instruction: str) -> str:
        """Append ``%name = instruction`` and return the fresh ``%name``."""
        ...

    def constant(self, llvm_type: str, value: float | int) -> str:
        """The literal of an LLVM type, exact to the bit."""
        ...

    def call(self, result: str, function: str, arguments: Sequence[tuple[str, str]]) -> str:
        """Call an external function or intrinsic, declaring it; arguments are (LLVM type, value) pairs."""
        ...


NumPyEvaluation = Callable[..., Any]
"""``f(signature, *arrays) -> array``, or a tuple of arrays where the op has several results.

Arrays hold the operands' element types as `element_types.numpy_dtype` says and broadcast against each other; the
result must have the result's dtype. A plain `numpy.ufunc` may stand here instead; it is then called without the
signature and must give the right dtype by itself.
"""

LLVMEmission = Callable[..., Any]
"""``f(builder, signature, *names) -> name``, or a tuple of names where the op has several results.

Names are LLVM values of the operands' register types (`element_types.llvm_type`). Emission is branch-free wherever
possible, so that LLVM's loop vectoriser can take it. It raises `xfuse.errors.UnsupportedError` for types it
cannot do.
"""


@dataclass(frozen=True)
class TypeRule:
    """Which element types an op takes: ``"F,F->F"``.

    One letter a type; equal letters are equal types. ``F G H`` float, ``I J K`` integer or index, ``B`` i1,
    ``X Y`` anything, ``N`` an integer that is not index.
    """

    text: str
    operands: tuple[str, ...] = field(init=False)
    results: tuple[str, ...] = field(init=False)

    def __post_init__(self) -> None:
        left, right = self.text.replace(" ", "").split("->")
        object.__setattr__(self, "operands", tuple(left.split(",")) if left else ())
        object.__setattr__(self, "results", tuple(right.split(",")))

    def results_of(self, operands: Sequence[str], own: str) -> tuple[str, ...]:
        """The types of all results; ``own`` is that of the one result whose type the operands do not say, a cast's."""
        known = dict(zip(self.operands, operands, strict=False))
        return tuple("i1" if letter == "B" else known.get(letter, own) for letter in self.results)

    def check(self, operands: Sequence[str], results: Sequence[str]) -> str | None:
        """None if the types fit, else a sentence that says what was expected and what came."""
        if len(operands) != len(self.operands) or len(results) != len(self.results):
            return f"expected {self.text}, got {len(operands)} operands and {len(results)} results"
        bound: dict[str, str] = {}
        for letter, given in zip(self.operands + self.results, (*operands, *results), strict=True):
            if not _admits(letter, given) or bound.setdefault(letter, given) != given:
                return f"expected {self.text}, got {','.join(operands)}->{','.join(results)}"
        return None


def _admits(letter: str, element_type: str) -> bool:
    if letter in "FGH":
        return element_types.is_float(element_type)
    if letter in "IJK":
        return element_types.is_integer(element_type)
    if letter == "N":
        return element_types.is_integer(element_type) and element_type != "index"
    if letter == "B":
        return element_type == "i1"
    return letter in "XY"


@dataclass(frozen=True)
class Primitive:
    """One row of the table: all that xfuse knows of a scalar op.

    ``name`` is the op's name and the kind of its canonical node. ``ulp`` bounds the error of every backend of ours
    against the exact result, in units in the last place of the result type; 0 means correctly rounded (law L3 then
    demands equal bits, all NaNs counting as one value). ``cost`` is relative to an addition. ``signedness`` says how
    the op reads integer operands, where it matters. An op that is not ``speculatable`` must not run where the program
    would not have run it (integer division).
    """

    name: str
    types: TypeRule
    numpy: NumPyEvaluation
    llvm: LLVMEmission | None = None
    commutative: bool = False
    speculatable: bool = True
    ulp: float = 0.0
    cost: float = 1.0
    signedness: str | None = None

    @property
    def arity(self) -> int:
        """Number of operands."""
        return len(self.types.operands)
