"""The part of NumPy's C API that makes ufuncs, called through its table of function pointers."""

from __future__ import annotations

import ctypes
from functools import cache
from typing import Any

import numpy as np

_FROM_FUNC_AND_DATA, _REGISTER_LOOP_FOR_TYPE, _FROM_FUNC_AND_DATA_AND_SIGNATURE = 1, 2, 31
"""Slots of the table; NumPy keeps them for good (numpy/_core/code_generators/numpy_api.py)."""

Pointer = ctypes.c_void_p


class _UFuncHead(ctypes.Structure):
    """The beginning of ``PyUFuncObject`` (numpy/ufuncobject.h), the same since NumPy 1.x."""

    _fields_ = [
        ("object_head", ctypes.c_char * object.__basicsize__),
        ("nin", ctypes.c_int),
        ("nout", ctypes.c_int),
        ("nargs", ctypes.c_int),
        ("identity", ctypes.c_int),
        ("functions", Pointer),
        ("data", Pointer),
        ("ntypes", ctypes.c_int),
        ("reserved", ctypes.c_int),
        ("name", Pointer),
        ("types", Pointer),
        ("doc", Pointer),
        ("ptr", Pointer),
        ("obj", Pointer),
    ]


@cache
def _table() -> Any:
    api = ctypes.pythonapi
    api.PyCapsule_GetPointer.restype = Pointer
    api.PyCapsule_GetPointer.argtypes = [ctypes.py_object, ctypes.c_char_p]
    capsule = np._core._multiarray_umath._UFUNC_API  # pyright: ignore -- NumPy does not type its C API
    return ctypes.cast(api.PyCapsule_GetPointer(capsule, None), ctypes.POINTER(Pointer))


def ufunc_from_functions(
    functions: Any, data: Any, types: Any, ntypes: int, nin: int, nout: int, name: Any, doc: Any, signature: Any = None
) -> np.ufunc:
    """``PyUFunc_FromFuncAndData``, or with a signature ``PyUFunc_FromFuncAndDataAndSignature``: a gufunc.

    All pointers must stay valid as long as the ufunc lives; NumPy copies the signature.
    """
    i = ctypes.c_int
    arguments = (functions, data, types, ntypes, nin, nout, -1, name, doc, 0)
    pointers = (Pointer, Pointer, Pointer, i, i, i, i, Pointer, Pointer, i)
    if signature is None:
        create: Any = ctypes.PYFUNCTYPE(ctypes.py_object, *pointers)(_table()[_FROM_FUNC_AND_DATA])
        return create(*arguments)
    create = ctypes.PYFUNCTYPE(ctypes.py_object, *pointers, Pointer)(_table()[_FROM_FUNC_AND_DATA_AND_SIGNATURE])
    return create(*arguments, signature)


def register_loop(ufunc: np.ufunc, user_type: int, function: int, types: Any) -> None:
    """``PyUFunc_RegisterLoopForType``: add a loop for a type that NumPy does not know itself, such as bfloat16."""
    i = ctypes.c_int
    prototype = ctypes.PYFUNCTYPE(i, ctypes.py_object, i, Pointer, Pointer, Pointer)
    register: Any = prototype(_table()[_REGISTER_LOOP_FOR_TYPE])
    if register(ufunc, user_type, function, types, None) != 0:
        raise RuntimeError(f"NumPy refused a loop of {ufunc.__name__}")


def _head(ufunc: np.ufunc) -> _UFuncHead:
    return _UFuncHead.from_address(id(ufunc))


def set_owner(ufunc: np.ufunc, owner: object, name: int, doc: int) -> bool:
    """Let a new ufunc own an object, which NumPy then drops with the ufunc; False if the layout is not the known one.

    The ``obj`` field is found by the public C header's layout, which is checked against all that is known of this ufunc
    before anything is written.
    """
    head = _head(ufunc)
    known = (
        head.nin == ufunc.nin
        and head.nout == ufunc.nout
        and head.nargs == ufunc.nargs
        and head.name == name
        and head.doc == doc
        and head.ptr is None
        and head.obj is None
    )
    if known:
        ctypes.pythonapi.Py_IncRef(ctypes.py_object(owner))
        head.obj = id(owner)
    return known


def owner_of(ufunc: np.ufunc) -> object | None:
    """The object that a ufunc keeps alive, if any."""
    address = _head(ufunc).obj
    return None if address is None else ctypes.cast(address, ctypes.py_object).value
