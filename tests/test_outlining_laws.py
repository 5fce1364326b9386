"""The laws of outlining: on the corpus, on random programs and on random rows (L2, L3, L5, L7, L8, L11)."""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from random_programs import Choices, RandomProgram, evaluate, order_problem, same_bits
from random_rows import SEEDS, programs, random_recipe
from support import FILES, context, generic, mlir_opt, parsed, short
from xdsl.dialects.builtin import ModuleOp

import xfuse
from xfuse.cli import load_arrays
from xfuse.cost import coverage
from xfuse.kernels import as_tuple
from xfuse.outlining.options import OutlineOptions
from xfuse.outlining.outline import Outlined
from xfuse.session import Session
from xfuse.testing import program_difference
from xfuse_dialects.xfuse import FusedOp, RecipeOp

DEV = [path for path in FILES if path.parent.parent.name == "dev"]
ONE_OP_BODIES = [path for path in DEV if path.name.endswith(".linalg.mlir")]
FEW_SPELLINGS = [path for path in DEV if path.name.endswith((".linalg.mlir", ".fused.mlir"))]
LIBRARY = Session()
settings.register_profile(
    "outlining",
    max_examples=20_000 if os.environ.get("XFUSE_LAWS") == "long" else 150,
    derandomize=os.environ.get("XFUSE_LAWS") != "long",
    deadline=None,
    suppress_health_check=list(HealthCheck),
    database=None,
)
PROFILE = settings.get_profile("outlining")


def outline_and_check(
    module: ModuleOp, options: OutlineOptions | None = None, backend: str = "numpy"
) -> tuple[Outlined, Session]:
    """Outline a module and check what holds of every result; the module is left outlined."""
    options = options or OutlineOptions()
    session = Session(library=False)
    original = module.clone()
    outlined = session.outline(module, backend, options)
    module.verify()
    assert order_problem(module) is None
    for cluster in outlined.clusters:
        assert options.min_ops <= cluster.scalar_ops <= options.max_ops
        assert len(cluster.fused.inputs) + len(cluster.fused.outputs) <= options.max_inputs
        instance = session.instance_of(cluster.fused)
        assert instance is not None
        assert instance.recipe.identity == cluster.recipe.identity
        assert session.admissible_instance(cluster.fused, backend) == cluster.backend
    made = [recipe.identity for recipe in outlined.recipes]
    assert len(set(made)) == len(made)
    once = str(module)
    again = session.outline(module, backend, options)
    assert (again.clusters, str(module)) == ([], once)
    back = module.clone()
    xfuse.decompose_all(back)
    xfuse.decompose_all(original)
    assert program_difference(original, back) is None
    assert not any(isinstance(op, FusedOp) for op in back.walk() if not isinstance(op.parent_op(), RecipeOp))
    return outlined, session


@pytest.mark.parametrize("path", FILES, ids=short)
def test_l2_l5_l7_l8_the_corpus(path: Path) -> None:
    """Outlined twice is outlined once, every fused op is an instance of its recipe, and the program comes back."""
    outline_and_check(parsed(path).clone())


@pytest.mark.parametrize("path", FEW_SPELLINGS, ids=short)
def test_l2_l7_after_fusing(path: Path) -> None:
    """Fused ops that are there are left alone, those in bodies travel along."""
    module = parsed(path).clone()
    original = module.clone()
    xfuse.fuse(module)
    before = [str(op) for op in module.walk() if isinstance(op, FusedOp) and op.parent_op().name == "func.func"]
    outline_and_check(module)
    after = [str(op) for op in module.walk() if isinstance(op, FusedOp)]
    assert len(after) >= len(before)
    xfuse.decompose_all(module)
    assert program_difference(original, module) is None


@pytest.mark.parametrize("path", ONE_OP_BODIES, ids=short)
def test_l8_real_mlir_accepts_what_comes_back(path: Path) -> None:
    """Outlining moves ops: real mlir-opt checks that definitions still precede their uses."""
    module = parsed(path).clone()
    LIBRARY.child().outline(module, "numpy")
    xfuse.decompose_all(module)
    done = subprocess.run([mlir_opt()], input=generic(module), capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[:2000]


COMPILED = ("adam_step", "layer_norm_affine", "ppo_loss", "quantize_dequantize", "softmax_rows", "dyn_mlp_softmax")
RUNS = [("numpy", path) for path in FEW_SPELLINGS if path.parent.name != "complex_phase"]
RUNS += [("llvm", path) for path in ONE_OP_BODIES if path.parent.name in COMPILED]


@pytest.mark.parametrize(("backend", "path"), RUNS, ids=[f"{backend}-{short(path)}" for backend, path in RUNS])
def test_l3_the_same_numbers(backend: str, path: Path) -> None:
    """Every fused op runs a kernel of its own, and the program gives what the plain one gives."""
    module = parsed(path).clone()
    outlined, session = outline_and_check(module, backend=backend)
    plain = xfuse.compile(parsed(path), backend="numpy", session=session)
    arrays = load_arrays(path.parent / f"{path.parent.name}.inputs.npz", plain)
    program = xfuse.compile(module, backend=backend, session=session)
    assert not program.inlined
    assert [row.backend for row in program.rows] == [backend] * len(outlined.clusters)
    for one, other in zip(as_tuple(plain(*arrays)), as_tuple(program(*arrays)), strict=True):
        wide = [np.asarray(each).astype(np.float64) for each in (one, other)]
        np.testing.assert_allclose(wide[1], wide[0], rtol=2e-5, atol=2e-5 * (1 + np.abs(wide[0]).max(initial=0)))


def test_coverage_of_the_corpus() -> None:
    """After xfuse-fuse and xfuse-outline the corpus is in few fused ops, and moves much less."""
    ops = inside = fused = before = after = 0
    for path in FEW_SPELLINGS:
        module = parsed(path).clone()
        xfuse.fuse(module)
        LIBRARY.child().outline(module, "numpy")
        found = coverage(module)
        ops, inside, fused = ops + found.ops, inside + found.inside, fused + found.fused
        before, after = before + found.before.bytes, after + found.after.bytes
    assert inside / ops >= 0.95
    assert inside / fused >= 4
    assert after / before <= 0.6


@settings(PROFILE)
@given(st.tuples(st.integers(1, 12), st.integers(0, 2**32 - 1)))
def test_random_programs(drawn: tuple[int, int]) -> None:
    """L2, L3, L7, L8 and the limits, on programs of mixed spellings, some of them fused before."""
    size, seed = drawn
    rng = random.Random(seed)
    program = RandomProgram(random.Random(seed), None, Choices(size=(1, size)))
    module = xfuse.parse_module(program.text, context=context())
    arrays = program.arrays(seed)
    plain = evaluate(module, arrays)
    if rng.random() < 0.3:
        xfuse.fuse(module)
    options = OutlineOptions(rng.choice([4, 16, 256]), rng.choice([3, 6, 64]), rng.choice([1, 2]))
    outline_and_check(module, options)
    assert all(same_bits(one, other) for one, other in zip(plain, evaluate(module, arrays), strict=True))


@pytest.mark.parametrize("seed", SEEDS)
def test_random_rows(seed: int) -> None:
    """L2, L3, L7, L8 on what random recipes with core dimensions emit, at static and dynamic extents."""
    recipe, has_fold = random_recipe(seed)
    for module, shapes in programs(recipe, has_fold):
        rng = np.random.default_rng(seed)
        arrays = [np.asarray(rng.standard_normal(shape)) for shape in shapes]
        plain = as_tuple(xfuse.compile(module, backend="numpy")(*arrays))
        outlined, session = outline_and_check(module)
        program = xfuse.compile(module, backend="numpy", session=session)
        assert len(program.rows) == len(outlined.clusters), program.inlined
        for one, other in zip(plain, as_tuple(program(*arrays)), strict=True):
            np.testing.assert_allclose(one, other, rtol=1e-11, atol=1e-11)


def test_l11_the_text_does_not_depend_on_the_process() -> None:
    """Hash seeds change nothing: not the recipes, their names or the order of arguments."""
    paths = [str(path) for path in DEV if path.parent.name in ("transformer_4layer", "ppo_loss", "lstm_cell")]
    code = (
        "import json, sys, xfuse\nfrom xfuse.session import Session\nfound = []\n"
        "for path in json.loads(sys.argv[1]):\n    module = xfuse.load_module(path)\n"
        "    outlined = Session(library=False).outline(module, 'numpy')\n"
        "    found += [str(module), *map(str, outlined.left_out)]\nprint(json.dumps(found))"
    )
    texts = {
        seed: subprocess.run(
            [sys.executable, "-c", code, json.dumps(paths)],
            env={**os.environ, "PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in ("1", "2")
    }
    assert texts["1"] == texts["2"]
