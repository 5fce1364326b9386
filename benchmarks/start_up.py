"""How long the first result takes: compiling a kernel, and starting ``xdsl-opt`` with and without xfuse."""

from __future__ import annotations

import subprocess
import sys
import tempfile
from functools import partial
from pathlib import Path
from typing import Any

from measuring import Table, medians, once
from overhead import PROGRAM

import xfuse

KERNELS = (("add_relu", "f32"), ("tanh_sub", "f32"), ("swiglu", "f32"), ("adam", "f32"), ("black_scholes", "f64"))


def section() -> list[Table]:
    """Compile times in ms, then start-up times in ms."""
    return [_compile(), _start()]


def _compile() -> Table:
    first, _ = once(lambda: xfuse.Session().kernel("axpy", "f32", backend="llvm"))
    rows: list[tuple[Any, ...]] = [("axpy, with llvmlite's own start", "f32", first * 1e3, "")]
    for name, element_type in KERNELS:
        session = xfuse.Session()
        session.registry.entries()
        get = partial(session.kernel, name, element_type, backend="llvm")
        rows.append((name, element_type, once(get)[0] * 1e3, once(get)[0] * 1e3))
    note = "first: made, probed (law L6) and bound; again: looked up in the same session"
    return Table("time to a kernel", ("recipe", "type", "first ms", "again ms"), rows, note)


def _start() -> Table:
    tool = str(Path(sys.executable).with_name("xdsl-opt"))
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "small.mlir"
        path.write_text(PROGRAM)
        ways = {
            "xdsl-opt": (),
            "xdsl-opt -p cse": ("-p", "cse"),
            "xdsl-opt -p xfuse-decompose": ("-p", "xfuse-decompose"),
            "xdsl-opt -p xfuse-fuse": ("-p", "xfuse-fuse"),
            "xdsl-opt -p xfuse-fuse{only=add_relu}": ("-p", "xfuse-fuse{only=add_relu}"),
            "xdsl-opt -p xfuse-fuse{explain=true}, the whole library": ("-p", "xfuse-fuse{explain=true}"),
        }
        calls = [
            partial(subprocess.run, [tool, str(path), *arguments], check=True, capture_output=True)
            for arguments in ways.values()
        ]
        taken = medians(calls, 5, 0)
    rows = [(name, seconds * 1e3, (seconds - taken[0]) * 1e3) for name, seconds in zip(ways, taken, strict=True)]
    return Table("start-up on a program of three ops", ("command", "ms", "more ms"), rows)
