"""Laws on real programs: everything in tests/corpus that xDSL can read, through the passes of stock ``xdsl-opt``."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from support import CORPUS, FILES, PROGRAMS, SPELLINGS, context, generic, mlir_opt, parsed, short
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import PassPipeline
from xdsl.universe import Universe

import xfuse
from xfuse.testing import program_difference
from xfuse_dialects.xfuse import FusedOp

PIPELINES = ("", "cse")
SPLIT_IDENTITY = {
    "srgb_to_lab": "fusion moved a real reshape across element-wise ops",
    "torch_gelu_ffn": "fusion moved a real reshape across element-wise ops",
    "transformer_4layer": "fusion moved a real reshape across element-wise ops",
}


def run(module: ModuleOp, passes: str) -> None:
    """Passes as ``xdsl-opt -p`` runs them, verified after each."""
    if passes:
        PassPipeline.parse_spec(Universe.get_multiverse().all_passes, passes).apply(context(), module)
        module.verify()


@pytest.mark.parametrize("before", PIPELINES, ids=lambda p: p or "as-is")
@pytest.mark.parametrize("path", FILES, ids=short)
def test_l2_fuse_and_decompose_give_the_program_back(path: Path, before: str) -> None:
    """L2 and L7: the same program comes back, fused once or twice, also after other passes."""
    module = parsed(path).clone()
    run(module, before)
    original = module.clone()
    run(module, "xfuse-fuse{backend=llvm}")
    once = str(module)
    run(module, "xfuse-fuse{backend=llvm}")
    assert str(module) == once
    run(module, "xfuse-decompose")
    assert program_difference(original, module) is None
    assert not any(isinstance(op, FusedOp) for op in module.walk())


@pytest.mark.parametrize("name", PROGRAMS)
def test_l5_spellings_of_one_program_share_an_identity(name: str) -> None:
    """L5: the canonical form does not depend on the surface spelling."""
    found = {
        spelling: xfuse.identity(parsed(CORPUS / "dev" / name / f"{name}.{spelling}.mlir")).recipe
        for spelling in SPELLINGS
    }
    if name in SPLIT_IDENTITY:
        assert len(set(found.values())) == 2, SPLIT_IDENTITY[name]
        assert found["linalg"] == found["named"]
    else:
        assert len(set(found.values())) == 1, found


@pytest.mark.parametrize("path", FILES, ids=short)
def test_normalize_keeps_identity_and_is_idempotent(path: Path) -> None:
    """Normalising changes the spelling, not the function (L5), and twice is once (L7)."""
    module = parsed(path).clone()
    before = [each.text for each in xfuse.identities(module)]
    run(module, "xfuse-normalize")
    once = str(module)
    assert [each.text for each in xfuse.identities(module)] == before
    run(module, "xfuse-normalize")
    assert str(module) == once


@pytest.mark.parametrize("path", [path for path in FILES if path.parent.parent.name == "dev"], ids=short)
def test_l8_real_mlir_accepts_the_result(path: Path) -> None:
    """L8: real mlir-opt, which checks dominance, accepts what comes out."""
    module = parsed(path).clone()
    run(module, "xfuse-fuse,xfuse-decompose,xfuse-normalize,xfuse-fuse,xfuse-decompose")
    done = subprocess.run([mlir_opt()], input=generic(module), capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[:2000]


@pytest.mark.parametrize("name", ["torch_llama_rmsnorm_swiglu", "adam_step", "black_scholes", "softmax_rows"])
def test_stock_xdsl_opt_gives_the_program_back(name: str) -> None:
    """The command line of the law L2: stock ``xdsl-opt`` with the plugin's frontend and passes."""
    path = CORPUS / "dev" / name / f"{name}.linalg.mlir"
    command = [str(Path(sys.executable).with_name("xdsl-opt")), "-f", "xfuse-mlir", str(path)]
    passes = ["-p", "xfuse-fuse{backend=llvm},xfuse-decompose"]
    plain, back = (
        subprocess.run(command + extra, capture_output=True, text=True, check=True).stdout for extra in ([], passes)
    )
    assert program_difference(plain, back) is None
