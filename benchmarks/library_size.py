"""What more recipes cost: fusing one program with five recipes and with the whole library."""

from __future__ import annotations

import statistics
from functools import partial
from pathlib import Path
from typing import Any

from measuring import Table, once
from scaling import chain

import xfuse
from xfuse.fusion import fuse
from xfuse.session import Session

CORPUS = Path(__file__).resolve().parents[1] / "tests" / "corpus" / "dev"
FEW = ("add_relu", "tanh_sub", "swiglu", "adam_jax", "black_scholes_jax")
PROGRAMS = ("adam_step", "black_scholes", "torch_llama_rmsnorm_swiglu", "transformer_4layer")
ROUNDS = 5


def section() -> list[Table]:
    """Medians in ms, forms built before."""
    session = Session()
    everything = session.registry.entries()
    few = tuple(recipe for recipe in everything if recipe.name in FEW)
    modules = {name: xfuse.load_module(CORPUS / name / f"{name}.linalg.mlir") for name in PROGRAMS}
    modules["chain of 2000 ops"] = xfuse.parse_module(chain(2000))
    rows: list[tuple[Any, ...]] = []
    for name, module in modules.items():
        samples: list[tuple[float, float]] = []
        for _ in range(ROUNDS + 1):
            clones = module.clone(), module.clone()
            samples.append(
                (
                    once(partial(fuse, clones[0], few, session.gate()))[0],
                    once(partial(fuse, clones[1], everything, session.gate()))[0],
                )
            )
        small, large = (statistics.median(column) for column in zip(*samples[1:], strict=True))
        ops = sum(1 for _ in module.walk())
        rows.append((name, float(ops), small * 1e3, large * 1e3, large / small))
    heads = ("program", "ops", f"{len(few)} recipes ms", f"{len(everything)} recipes ms", "ratio")
    return [Table("fusing with few and with many recipes", heads, rows)]
