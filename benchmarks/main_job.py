"""The main job: real programs through stock ``xdsl-opt`` and ``xfuse-fuse``, run with LLVM kernels, checked and timed.

    python benchmarks/main_job.py [--backend numpy|llvm]

Programs and expected outputs are those of tests/corpus, lowered by real compilers. The table shows ops before and
after, which recipes were fused, how many kernels were bound, the largest error against the stored outputs, and the
time of the fused program against the same program evaluated op by op in NumPy: at the stored size, and at a larger one
where the extents in the text can be replaced.
"""

from __future__ import annotations

import argparse
import re
import statistics
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

import xfuse
from xfuse.cli import largest_error, load_arrays
from xfuse.runtime import CompiledProgram
from xfuse_dialects.xfuse import FusedOp

CORPUS = Path(__file__).resolve().parents[1] / "tests" / "corpus" / "dev"
PROGRAMS: tuple[tuple[str, dict[int, int]], ...] = (
    ("torch_llama_rmsnorm_swiglu", {5: 1 << 16}),
    ("adam_step", {24: 512}),
    ("black_scholes", {512: 1 << 16}),
    ("activations_multi", {16: 512, 32: 512}),
    ("quantize_dequantize", {32: 512}),
    ("hash_mix_u32", {16: 512, 48: 512}),
    ("lstm_cell", {}),
)
"""Program names, and which extents of the text to replace by which for the timing at a larger size."""

ROUNDS = 15


def xdsl_opt(text: str, passes: str) -> str:
    """Stock ``xdsl-opt`` on a text; its standard output. Stops with its message if it fails."""
    tool = Path(sys.executable).with_name("xdsl-opt")
    command = [str(tool), "-f", "xfuse-mlir", "-p", passes]
    done = subprocess.run(command, input=text, capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(f"xdsl-opt failed:\n{done.stderr}")
    return done.stdout


def enlarge(text: str, extents: dict[int, int]) -> str:
    """The program with some extents of its tensor types replaced."""
    for old, new in extents.items():
        text = re.sub(rf"(?<![\d.]){old}(?=x)", str(new), text)
    return text


def enlarged_arrays(arrays: Sequence[Any], extents: dict[int, int]) -> list[Any]:
    """The inputs repeated along the axes whose extents were replaced."""
    return [np.resize(a, [extents.get(extent, extent) for extent in a.shape]) for a in arrays]


def times(calls: Sequence[Callable[[], Any]], rounds: int) -> list[float]:
    """Median seconds of each call, taken in turn so that a busy machine hurts all alike."""
    samples: list[list[float]] = [[] for _ in calls]
    for _ in range(rounds):
        for call, taken in zip(calls, samples, strict=True):
            start = time.perf_counter()
            call()
            taken.append(time.perf_counter() - start)
    return [statistics.median(taken) for taken in samples]


def spelled(seconds: float) -> str:
    """A time as people read it."""
    return f"{seconds * 1e6:.0f} us" if seconds < 1e-3 else f"{seconds * 1e3:.2f} ms"


def pair(plain: CompiledProgram, fused: CompiledProgram, arrays: Sequence[Any]) -> str:
    """Time of the plain and of the fused program, and how many times faster the fused one is."""
    for _ in range(5):  # the allocator takes a few calls to keep large blocks
        plain(*arrays), fused(*arrays)
    slow, fast = times([lambda: plain(*arrays), lambda: fused(*arrays)], ROUNDS)
    return f"{spelled(slow)} / {spelled(fast)} = {slow / fast:.1f}x"


def main() -> None:
    """Run the job and print the table."""
    options = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    options.add_argument("--backend", default="llvm", choices=["numpy", "llvm"])
    backend = options.parse_args().backend
    passes = f"xfuse-fuse{{backend={backend}}}"
    rows: list[tuple[str, ...]] = []
    failed: list[str] = []
    for number, (name, extents) in enumerate(PROGRAMS):
        print(f"{name}: xdsl-opt -f xfuse-mlir {name}.linalg.mlir -p '{passes}'", flush=True)
        text = (CORPUS / name / f"{name}.linalg.mlir").read_text()
        fused_text = xdsl_opt(text, passes)
        if number == 0:
            print("\nIts fused form:\n")
            print(fused_text)
        before, after = xfuse.parse_module(text, name), xfuse.parse_module(fused_text, name)
        fused_ops = [op for op in after.walk() if isinstance(op, FusedOp)]
        labels = Counter(op.label for op in fused_ops)
        plain = xfuse.compile(before)
        fused = xfuse.compile(after, backend=backend)
        arrays = load_arrays(CORPUS / name / f"{name}.inputs.npz", fused)
        results = fused(*arrays)
        results = results if isinstance(results, tuple) else (results,)
        with np.load(CORPUS / name / f"{name}.outputs.npz") as archive:
            error = largest_error(results, [archive[key] for key in archive.files])
        if not error < 1e-5 or len(fused.rows) != len(fused_ops):
            failed.append(name)
        large = "-"
        if extents:
            big = enlarged_arrays(arrays, extents)
            wide = [xfuse.parse_module(enlarge(each, extents)) for each in (text, fused_text)]
            large = pair(xfuse.compile(wide[0]), xfuse.compile(wide[1], backend=backend), big)
        rows.append(
            (
                name,
                f"{top_level(before)} -> {top_level(after)}",
                ", ".join(f"{label} x{count}" if count > 1 else str(label) for label, count in labels.items()),
                f"{len(fused.rows)}/{len(fused_ops)}",
                f"{error:.1e}",
                pair(plain, fused, arrays),
                large,
            )
        )
    print()
    heads = ("program", "ops", "recipes fused", "kernels", "error", "NumPy / fused", "NumPy / fused, larger")
    table = [heads, *rows]
    widths = [max(len(row[column]) for row in table) for column in range(len(heads))]
    for row in table:
        print("  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip())
    if failed:
        sys.exit(f"wrong results or missing kernels: {', '.join(failed)}")


def top_level(module: Any) -> int:
    """Ops of the functions' own blocks: what a compiler would launch one by one."""
    functions = [op for op in module.walk() if op.name == "func.func"]
    return sum(len(list(block.ops)) for op in functions for block in op.body.blocks)


if __name__ == "__main__":
    main()
