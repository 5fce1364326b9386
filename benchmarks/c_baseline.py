"""The product's LLVM ufuncs against the same loops in C (gcc -O3 -ffast-math and its vector math library), one thread.

python benchmarks/c_baseline.py
"""

from __future__ import annotations

import ctypes
import os
import shutil
import subprocess
import tempfile
from functools import partial
from pathlib import Path
from typing import Any

os.environ.setdefault("OMP_NUM_THREADS", "1")

import numpy as np
from measuring import Table, medians

import xfuse
from xfuse.backends.llvm.jit import host_target

GOAL = 1.3
SIZES = (100, 10_000, 1_000_000)
KERNELS = {"relu_add": "add_relu", "tanh_sub": "tanh_sub"}
"""Functions of baseline.c and the recipes they compute."""

ROUNDS = 31


def compile_baseline(folder: str) -> Any:
    """The C functions, compiled for this machine at the vector width that xfuse uses."""
    library = Path(folder) / "baseline.so"
    command = "gcc -O3 -ffast-math -march=native -fopenmp -shared -fPIC".split()
    if host_target().vector_bytes == 64:
        command += ["-mavx512f", "-mavx512dq", "-mavx512bw", "-mavx512vl", "-mprefer-vector-width=512"]
    source = str(Path(__file__).with_name("baseline.c"))
    subprocess.run([*command, "-o", str(library), source, "-lm"], check=True)
    return ctypes.CDLL(str(library))


def section() -> list[Table]:
    """Medians in us, and their ratio: below 1, xfuse is faster."""
    title = f"f32 kernels against C; goal at {SIZES[-1]} elements: ratio <= {GOAL}"
    if shutil.which("gcc") is None:
        return [Table(title, ("recipe",), [], "gcc is not installed")]
    session = xfuse.Session()
    generator = np.random.default_rng(0)
    rows: list[tuple[Any, ...]] = []
    with tempfile.TemporaryDirectory() as folder:
        library = compile_baseline(folder)
        for function, recipe in KERNELS.items():
            kernel = session.kernel(recipe, "f32", backend="llvm").ufunc
            assert kernel is not None
            for size in SIZES:
                a, b = generator.standard_normal((2, size), dtype=np.float32)
                ours, theirs = np.empty_like(a), np.empty_like(a)
                pointers = [ctypes.c_void_p(array.ctypes.data) for array in (theirs, a, b)]
                baseline = partial(getattr(library, function), *pointers, ctypes.c_long(size))
                own, c = medians([partial(kernel, a, b, out=ours), baseline], ROUNDS)
                np.testing.assert_allclose(ours, theirs, rtol=1e-6, atol=1e-30)
                verdict = "" if size < SIZES[-1] else "PASS" if own / c <= GOAL else "over"
                rows.append((recipe, str(size), own * 1e6, c * 1e6, own / c, verdict))
    return [Table(title, ("recipe", "elements", "xfuse us", "C us", "ratio", "goal"), rows)]


if __name__ == "__main__":
    for table in section():
        print(table.text())
