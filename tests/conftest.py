"""Makes the modules that tests share importable: tests are no package, and importlib mode adds no path."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path


def _load(name: str) -> None:
    spec = importlib.util.spec_from_file_location(name, Path(__file__).with_name(f"{name}.py"))
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)


_load("random_programs")
_load("reference_programs")
_load("random_rows")
_load("row_references")
_load("backward_references")
_load("loss_references")
_load("derivatives")
_load("support")
_load("real_mlir")
_load("rule_programs")
