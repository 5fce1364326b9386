"""Running a module's @main by real MLIR: lowered by mlir-opt, compiled by llc, and called on NumPy arrays."""

from __future__ import annotations

import ctypes
import subprocess
import sysconfig
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any

import llvmlite.binding
import numpy as np
from support import generic, mlir_opt
from xdsl.dialects.builtin import ModuleOp, TensorType
from xdsl.dialects.func import FuncOp
from xdsl.ir import Attribute

from xfuse.canonical.build import element_name
from xfuse.primitives.element_types import numpy_dtype

llvm: Any = llvmlite.binding  # has no types

LOWERING = (
    "llvm-request-c-wrappers",
    "empty-tensor-to-alloc-tensor",
    "one-shot-bufferize=bufferize-function-boundaries function-boundary-type-conversion=identity-layout-map "
    "allow-return-allocs-from-loops",
    "convert-linalg-to-loops",
    "expand-strided-metadata",
    "lower-affine",
    "math-expand-ops=ops=roundeven,rsqrt",
    "convert-math-to-funcs=convert-ctlz",
    "convert-scf-to-cf",
    "arith-expand=include-bf16=true",
    "convert-math-to-llvm",
    "convert-math-to-libm",
    "arith-expand=include-bf16=true",
    "convert-arith-to-llvm",
    "convert-index-to-llvm",
    "finalize-memref-to-llvm",
    "convert-func-to-llvm",
    "convert-cf-to-llvm",
    "reconcile-unrealized-casts",
)


def run(module: ModuleOp, *arrays: Any) -> tuple[Any, ...]:
    """The results of @main, whose operands and results are scalars and ranked tensors, as new arrays.

    Raises `AssertionError` with what the tool said if MLIR or LLVM refuses the module.
    """
    main = next(op for op in module.walk() if isinstance(op, FuncOp) and op.sym_name.data == "main")
    engine = _engine(_object(generic(module)))
    address = engine.get_function_address("_mlir_ciface_main")
    types = main.function_type
    held = [np.ascontiguousarray(a, numpy_dtype(element_name(t))) for a, t in zip(arrays, types.inputs, strict=True)]
    given = [
        ctypes.byref(_descriptor(array)) if isinstance(type_, TensorType) else _scalar(type_)(array.item())
        for array, type_ in zip(held, types.inputs, strict=True)
    ]
    fields = [(f"r{n}", _c_type(type_)) for n, type_ in enumerate(types.outputs)]
    kind = type("Results", (ctypes.Structure,), {"_fields_": fields})
    if len(fields) == 1 and not isinstance(types.outputs.data[0], TensorType):
        function = ctypes.CFUNCTYPE(fields[0][1])(address)
        return (np.asarray(function(*given), numpy_dtype(element_name(types.outputs.data[0]))),)
    results = kind()
    ctypes.CFUNCTYPE(None)(address)(ctypes.byref(results), *given)
    return tuple(_array(getattr(results, name), type_) for (name, _), type_ in zip(fields, types.outputs, strict=True))


def _object(text: str) -> bytes:
    tools = Path(mlir_opt()).parent
    # Memrefs of i1 are not lowered: such tensors have to go into the bodies that read them.
    passes = [*(["linalg-fuse-elementwise-ops"] if "xi1>" in text else []), *LOWERING]
    lowered = _tool([mlir_opt(), *(f"-{name}" for name in passes)], text.encode())
    translated = _tool([str(tools / "mlir-translate"), "--mlir-to-llvmir"], lowered)
    llc = Path(sysconfig.get_paths()["purelib"]) / "llvm" / "bin" / "llc"
    features = llvm.get_host_cpu_features().flatten()
    command = [str(llc), "-O1", "-filetype=obj", "-relocation-model=pic", "-fp-contract=off"]
    return _tool([*command, f"-mcpu={llvm.get_host_cpu_name()}", f"-mattr={features}"], translated)


def _tool(command: Sequence[str], text: bytes) -> bytes:
    done = subprocess.run(command, input=text, capture_output=True, check=False)
    assert done.returncode == 0, f"{Path(command[0]).name}: {done.stderr.decode()[:2000]}"
    return done.stdout


@cache
def _prepared() -> None:
    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    runtime = Path(mlir_opt()).parents[1] / "lib" / "libmlir_c_runner_utils.so"
    llvm.load_library_permanently(str(runtime))


def _engine(code: bytes) -> Any:
    _prepared()
    machine = llvm.Target.from_default_triple().create_target_machine()
    engine = llvm.create_mcjit_compiler(llvm.parse_assembly(""), machine)
    engine.add_object_file(llvm.ObjectFileRef.from_data(code))
    engine.finalize_object()
    return engine


# Descriptors of memrefs


def _memref(rank: int) -> Any:
    fields: list[Any] = [("base", ctypes.c_void_p), ("data", ctypes.c_void_p), ("offset", ctypes.c_int64)]
    if rank:
        fields += [("sizes", ctypes.c_int64 * rank), ("strides", ctypes.c_int64 * rank)]
    return type(f"MemRef{rank}", (ctypes.Structure,), {"_fields_": fields})


def _scalar(type_: Attribute) -> Any:
    named = {"f32": ctypes.c_float, "f64": ctypes.c_double, "i1": ctypes.c_bool, "index": ctypes.c_int64}
    name = element_name(type_)
    return named.get(name) or getattr(ctypes, f"c_int{name[1:]}")


def _c_type(type_: Attribute) -> Any:
    return _memref(len(type_.get_shape())) if isinstance(type_, TensorType) else _scalar(type_)


def _descriptor(array: Any) -> Any:
    made = _memref(array.ndim)()
    made.base = made.data = array.ctypes.data
    if array.ndim:
        made.sizes[:] = array.shape
        made.strides[:] = [stride // array.itemsize for stride in array.strides]
    return made


def _array(found: Any, type_: Attribute) -> Any:
    dtype = numpy_dtype(element_name(type_))
    if not isinstance(type_, TensorType):
        return np.asarray(found, dtype)
    shape = tuple(found.sizes) if type_.get_shape() else ()
    if 0 in shape:
        return np.empty(shape, dtype)
    strides = [stride * dtype.itemsize for stride in (found.strides if shape else ())]
    span = dtype.itemsize + sum((n - 1) * step for n, step in zip(shape, strides, strict=True))
    memory: Any = (ctypes.c_char * span).from_address(found.data + found.offset * dtype.itemsize)
    return np.ndarray(shape, dtype, memory, strides=strides).copy()
