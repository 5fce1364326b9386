"""From LLVM IR text to machine code in this process, by llvmlite."""

from __future__ import annotations

import itertools
import platform
import threading
from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any

from xfuse.backends.llvm import staging
from xfuse.backends.llvm.target import Target, missing_features
from xfuse.errors import BackendUnavailable

_LOCK = threading.RLock()
_LIBRARIES = itertools.count()


@cache
def _binding() -> Any:
    """llvmlite's binding with the native target initialised."""
    try:
        import llvmlite.binding as llvm
    except ImportError as error:
        raise BackendUnavailable(
            f"the LLVM backend needs the package llvmlite ({error}); install it with: pip install 'xfuse[llvm]'"
        ) from None
    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    return llvm


@cache
def host_target() -> Target:
    """The machine this process runs on."""
    with _LOCK:
        llvm = _binding()
        features = llvm.get_host_cpu_features()
        machine = platform.machine().lower()
    if machine in ("x86_64", "amd64", "i386", "i686"):
        vector_bytes = 64 if features.get("avx512f") else 32 if features.get("avx") else 16
        return Target(bool(features.get("fma")), bool(features.get("f16c")), vector_bytes, "mxcsr")
    if machine in ("aarch64", "arm64"):
        return Target(has_fma=True, fast_half=True, vector_bytes=16)
    return Target()


def _target_machine() -> Any:
    llvm = _binding()
    return llvm.Target.from_default_triple().create_target_machine(
        cpu=llvm.get_host_cpu_name(),
        features=llvm.get_host_cpu_features().flatten(),
        opt=3,
        reloc="pic",
        codemodel="jitdefault",
        jit=True,
    )


@cache
def _session() -> Any:
    """The linker that holds all machine code of the process, each kernel in a library of its own."""
    return _binding().create_lljit_compiler(_target_machine())


def _optimised(ir: str) -> tuple[Any, Any]:
    llvm = _binding()
    machine = _target_machine()
    module = llvm.parse_assembly(ir, llvm.create_context())
    module.verify()
    options = llvm.create_pipeline_tuning_options(speed_level=3)
    options.loop_vectorization = True
    options.slp_vectorization = False
    options.loop_interleaving = True
    options.loop_unrolling = True
    builder = llvm.create_pass_builder(machine, options)
    builder.getModulePassManager().run(module, builder)
    return module, machine


def assembly(ir: str) -> str:
    """The optimised machine code as assembly text."""
    with _LOCK:
        module, machine = _optimised(ir)
        return machine.emit_assembly(module)


def optimised_ir(ir: str) -> str:
    """The IR text after LLVM's passes."""
    with _LOCK:
        return str(_optimised(ir)[0])


class MachineCode:
    """Linked machine code; it lives as long as this object does."""

    def __init__(self, tracker: Any, addresses: dict[str, int]) -> None:
        self._tracker = tracker
        self.addresses = addresses

    def address(self, symbol: str) -> int:
        """Where a function begins."""
        return self.addresses[symbol]


def object_code(ir: str) -> bytes:
    """Compile IR text for the host with LLVM's full pipeline; the object file may be kept and linked later.

    Raises `BackendUnavailable` if llvmlite is missing, or if the text was made for a machine with features that this
    one lacks.
    """
    missing = missing_features(ir, host_target())
    if missing:
        raise BackendUnavailable(f"this kernel was built for a machine with {', '.join(missing)}; build it again here")
    with _LOCK:
        module, machine = _optimised(ir)
        return machine.emit_object(module)


def link(code: bytes, symbols: Sequence[str]) -> MachineCode:
    """Load an object file. Equal symbols of two files never meet: each file becomes a library of its own."""
    with _LOCK:
        return _link(code, symbols, _staging().addresses)


def _link(code: bytes, symbols: Sequence[str], imports: Mapping[str, int]) -> MachineCode:
    library = _binding().JITLibraryBuilder().add_object_img(code).add_current_process()
    for symbol, address in imports.items():
        library.import_symbol(symbol, address)
    for symbol in symbols:
        library.export_symbol(symbol)
    tracker = library.link(_session(), f"xfuse.{next(_LIBRARIES)}")
    return MachineCode(tracker, {symbol: tracker[symbol] for symbol in symbols})


@cache
def _staging() -> MachineCode:
    """The copying functions that all kernels share, kept for the life of the process."""
    return _link(object_code(staging.definitions()), staging.SYMBOLS, {})


def compile_ir(ir: str, symbols: Sequence[str]) -> MachineCode:
    """Compile and load IR text."""
    return link(object_code(ir), symbols)
