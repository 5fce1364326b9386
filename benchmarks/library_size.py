"""What more recipes cost: fusing one program with the five that it has most of, and with the whole library."""

from __future__ import annotations

import statistics
from collections import Counter
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

from measuring import Table, once
from scaling import chain
from xdsl.dialects.builtin import ModuleOp

import xfuse
from xfuse.fusion import fuse
from xfuse.recipes import Recipe
from xfuse.session import Session

CORPUS = Path(__file__).resolve().parents[1] / "tests" / "corpus" / "dev"
OTHERS = ("add_relu", "tanh_sub", "swiglu", "adam_jax", "black_scholes_jax")
"""What is looked for in programs that have fewer than five recipes."""
PROGRAMS = ("adam_step", "black_scholes", "torch_llama_rmsnorm_swiglu", "transformer_4layer")
COUNT = 5
ROUNDS = 5


def section() -> list[Table]:
    """Medians in ms, forms built before."""
    session = Session()
    everything = session.registry.entries()
    modules = {name: xfuse.load_module(CORPUS / name / f"{name}.linalg.mlir") for name in PROGRAMS}
    modules["chain of 2000 ops"] = xfuse.parse_module(chain(2000))
    rows: list[tuple[Any, ...]] = []
    for name, module in modules.items():
        few = _most_used(module.clone(), everything, session)
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
    heads = ("program", "ops", f"{COUNT} recipes ms", f"{len(everything)} recipes ms", "ratio")
    return [Table("fusing with few and with many recipes", heads, rows)]


def _most_used(module: ModuleOp, recipes: Sequence[Recipe], session: Session) -> tuple[Recipe, ...]:
    """The five recipes that a program has most of, in the order of the library."""
    found = Counter(match.recipe.name for each in fuse(module, recipes, session.gate()) for match in each.chosen)
    names = list(dict.fromkeys([*(name for name, _ in found.most_common()), *OTHERS]))[:COUNT]
    return tuple(recipe for recipe in recipes if recipe.name in names)
