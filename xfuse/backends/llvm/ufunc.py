"""Real `numpy.ufunc` objects of compiled loops: NumPy does broadcasting, strides, casting, ``out=`` and overlap."""

from __future__ import annotations

import copyreg
import ctypes
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, cast

import numpy as np

from xfuse.backends.llvm import jit, numpy_api
from xfuse.backends.llvm.loops import SYMBOL
from xfuse.errors import UnsupportedError

DType = np.dtype[Any]


@dataclass(frozen=True)
class Loop:
    """One inner loop: NumPy dtypes of the operands and results, their element types, and the IR text of the code.

    Signed and unsigned integers of a width, where the ops do not tell them apart, are two loops with one text.
    """

    operands: tuple[str, ...]
    results: tuple[str, ...]
    operand_dtypes: tuple[DType, ...]
    result_dtypes: tuple[DType, ...]
    ir: str

    @property
    def dtypes(self) -> tuple[DType, ...]:
        """All dtypes in the order of NumPy's arguments."""
        return self.operand_dtypes + self.result_dtypes


class KernelOwner:
    """What a ufunc of ours keeps alive: machine code, the C arrays NumPy points into, and how to build it again."""

    def __init__(self, name: str, loops: tuple[Loop, ...], doc: str, signature: str | None = None) -> None:
        self.name, self.loops, self.doc, self.signature = name, loops, doc, signature
        texts = dict.fromkeys(loop.ir for loop in loops)
        self.code = {text: jit.compile_ir(text, [SYMBOL]) for text in texts}
        self.name_bytes = ctypes.create_string_buffer(name.encode())
        self.doc_bytes = ctypes.create_string_buffer(doc.encode())
        self.signature_bytes = None if signature is None else ctypes.create_string_buffer(signature.encode())
        plain = [loop for loop in loops if not _user_types(loop)]
        self.functions = (ctypes.c_void_p * len(plain))(*map(self.address, plain))
        self.data = (ctypes.c_void_p * len(plain))()
        numbers = [dtype.num for loop in plain for dtype in loop.dtypes]
        self.types = (ctypes.c_char * len(numbers))(*numbers)

    def address(self, loop: Loop) -> int:
        """Where the code of one loop begins."""
        return self.code[loop.ir].address(SYMBOL)

    def create(self) -> np.ufunc:
        """The ufunc, which owns this object."""
        first = self.loops[0]
        name, doc = ctypes.addressof(self.name_bytes), ctypes.addressof(self.doc_bytes)
        ufunc = numpy_api.ufunc_from_functions(
            ctypes.addressof(self.functions),
            ctypes.addressof(self.data),
            ctypes.addressof(self.types),
            len(self.functions),
            len(first.operands),
            len(first.results),
            name,
            doc,
            None if self.signature_bytes is None else ctypes.addressof(self.signature_bytes),
        )
        if not numpy_api.set_owner(ufunc, self, name, doc):
            _IMMORTAL[id(ufunc)] = (ufunc, self)
        for loop in self.loops:
            for number in _user_types(loop)[:1]:
                types = (ctypes.c_int * len(loop.dtypes))(*(dtype.num for dtype in loop.dtypes))
                numpy_api.register_loop(ufunc, number, self.address(loop), ctypes.addressof(types))
        return ufunc


_IMMORTAL: dict[int, tuple[np.ufunc, KernelOwner]] = {}
"""Ufuncs of a NumPy whose layout is unknown: they stay for the life of the process."""

_MOST_ARGUMENTS = 64
"""NPY_MAXARGS since NumPy 2.0."""

_USER_DEFINED = 256
"""The first type number that is not NumPy's own."""


def _user_types(loop: Loop) -> list[int]:
    return sorted({dtype.num for dtype in loop.dtypes if dtype.num >= _USER_DEFINED})


def make_ufunc(name: str, loops: Sequence[Loop], doc: str, signature: str | None = None) -> np.ufunc:
    """Compile loops and make a ufunc of them; NumPy tries them in the given order.

    With a signature such as ``(n),(n)->()`` it is a generalised ufunc, and the loops run over items of these core
    dimensions; a number stands for a dimension of that size. The ufunc keeps its code alive and can be pickled. Raises
    `UnsupportedError` if the loops do not fit together or two have the same dtypes, `BackendUnavailable` without
    llvmlite.
    """
    loops = tuple(loops)
    if not loops:
        raise UnsupportedError(f"ufunc {name} needs at least one loop")
    arities = {(len(loop.operands), len(loop.results)) for loop in loops}
    arities |= {(len(loop.operand_dtypes), len(loop.result_dtypes)) for loop in loops}
    if len(arities) != 1:
        raise UnsupportedError(f"ufunc {name}: the loops differ in their numbers of operands and results")
    nin, nout = next(iter(arities))
    if not nin or not nout or nin + nout > _MOST_ARGUMENTS:
        limits = f"NumPy takes one of each at least, {_MOST_ARGUMENTS} in all"
        raise UnsupportedError(f"ufunc {name}: {nin} operands and {nout} results; {limits}")
    if len({tuple(dtype.num for dtype in loop.operand_dtypes) for loop in loops}) != len(loops):
        raise UnsupportedError(f"ufunc {name}: two loops take the same dtypes")
    return KernelOwner(name, loops, doc, signature).create()


def kernel_owner(ufunc: np.ufunc) -> KernelOwner | None:
    """How a ufunc was made if `make_ufunc` made it, else None."""
    if id(ufunc) in _IMMORTAL:
        return _IMMORTAL[id(ufunc)][1]
    owner = numpy_api.owner_of(ufunc)
    return owner if isinstance(owner, KernelOwner) else None


def _reduce(ufunc: np.ufunc) -> Any:
    owner = kernel_owner(ufunc)
    if owner is not None:
        return make_ufunc, (owner.name, owner.loops, owner.doc, owner.signature)
    return _NUMPY_REDUCTION(ufunc) if _NUMPY_REDUCTION is not None else ufunc.__name__


_NUMPY_REDUCTION = cast(Any, copyreg.dispatch_table.get(np.ufunc))
copyreg.pickle(np.ufunc, _reduce)
