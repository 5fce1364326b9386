"""Time xfuse's LLVM ufuncs against the same loops in C (gcc -O3 -ffast-math and its vector math library), one thread.

    OMP_NUM_THREADS=1 python benchmarks/c_baseline.py [elements]

The two sides take turns, so that a busy machine hurts both. Prints medians and their ratio (below 1: xfuse is faster).
"""

from __future__ import annotations

import ctypes
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

os.environ.setdefault("OMP_NUM_THREADS", "1")

import numpy as np

from xfuse.backends.llvm import jit
from xfuse.backends.llvm.loops import build_loop
from xfuse.backends.llvm.ufunc import Loop, make_ufunc
from xfuse.primitives import llvm_functions, llvm_math
from xfuse.primitives.llvm_text import TextBuilder, constant
from xfuse.primitives.primitive import Signature

UNARY = Signature(("f32",), ("f32",), {})
BINARY = Signature(("f32", "f32"), ("f32",), {})
ROUNDS = 41


def relu_add(builder: TextBuilder, operands: Sequence[str]) -> list[str]:
    total = llvm_functions.addf(builder, BINARY, *operands)
    return [llvm_functions.maximumf(builder, BINARY, total, constant("float", 0.0))]


def tanh_sub(builder: TextBuilder, operands: Sequence[str]) -> list[str]:
    return [llvm_math.tanh(builder, UNARY, llvm_functions.subf(builder, BINARY, *operands))]


def ufunc(body: Callable[..., list[str]]) -> np.ufunc:
    types, single = ("f32", "f32"), np.dtype(np.float32)
    text = build_loop(body.__name__, types, types[:1], body, jit.host_target())
    return make_ufunc(body.__name__, [Loop(types, types[:1], (single, single), (single,), text)], "")


def compile_baseline(folder: str) -> Any:
    library = Path(folder) / "baseline.so"
    command = "gcc -O3 -ffast-math -march=native -fopenmp -shared -fPIC".split()
    if jit.host_target().vector_bytes == 64:
        command += ["-mavx512f", "-mavx512dq", "-mavx512bw", "-mavx512vl", "-mprefer-vector-width=512"]
    source = str(Path(__file__).with_name("baseline.c"))
    subprocess.run([*command, "-o", str(library), source, "-lm"], check=True)
    return ctypes.CDLL(str(library))


def median_times(calls: Sequence[Callable[[], Any]], repeats: int) -> list[float]:
    samples: list[list[float]] = [[] for _ in calls]
    for _ in range(ROUNDS):
        for call, times in zip(calls, samples, strict=True):
            start = time.perf_counter()
            for _ in range(repeats):
                call()
            times.append((time.perf_counter() - start) / repeats)
    return [statistics.median(times[1:]) for times in samples]


def main() -> None:
    elements = int(sys.argv[1]) if len(sys.argv) > 1 else 1_000_000
    generator = np.random.default_rng(0)
    a, b = generator.standard_normal((2, elements), dtype=np.float32)
    repeats = max(1, 3_000_000 // elements)
    print(f"{elements} float32 elements, one thread, medians of {ROUNDS - 1} rounds")
    with tempfile.TemporaryDirectory() as folder:
        library = compile_baseline(folder)
        for body in (relu_add, tanh_sub):
            ours, theirs = np.empty_like(a), np.empty_like(a)
            kernel, function = ufunc(body), getattr(library, body.__name__)
            pointers = [ctypes.c_void_p(array.ctypes.data) for array in (theirs, a, b)]
            calls = (partial(kernel, a, b, out=ours), partial(function, *pointers, ctypes.c_long(elements)))
            own, baseline = median_times(calls, repeats)
            np.testing.assert_allclose(ours, theirs, rtol=1e-6, atol=1e-30)
            ratio = own / baseline
            print(f"{body.__name__:10} xfuse {own * 1e6:9.2f} us   C {baseline * 1e6:9.2f} us   ratio {ratio:.2f}")


if __name__ == "__main__":
    main()
