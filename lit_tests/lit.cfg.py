"""lit configuration: `.venv/bin/lit -v lit_tests`, or through pytest by tests/test_lit.py."""
# ruff: noqa: F821

import os
import re
import shutil
import subprocess
import sys
import sysconfig

import lit.formats
import lit.util

SOURCE_ROOT = os.path.dirname(os.path.abspath(__file__))
PROJECT_ROOT = os.path.dirname(SOURCE_ROOT)
TIME_LIMIT = 120
"""Seconds that one test may take."""


def find_mlir_opt() -> str | None:
    """Path of real mlir-opt: $XDSL_MLIR_OPT, else the wheel beside this Python, else PATH."""
    if named := os.environ.get("XDSL_MLIR_OPT"):
        return shutil.which(named) or lit_config.fatal(f"XDSL_MLIR_OPT names no program: {named}")
    in_wheel = os.path.join(sysconfig.get_path("platlib"), "mlir", "bin", "mlir-opt")
    return next((path for name in (in_wheel, "mlir-opt", "mlir-opt-22") if (path := shutil.which(name))), None)


def mlir_major(mlir_opt: str) -> str | None:
    """The major version that `mlir-opt` tells of itself; None if it does not run."""
    told = subprocess.run([mlir_opt, "--version"], capture_output=True, text=True, check=False).stdout
    found = re.search(r"LLVM version (\d+)", told)
    return found and found[1]


config.name = "xfuse"
config.test_format = lit.formats.ShTest(execute_external=False)
config.suffixes = [".mlir"]
config.excludes = ["Inputs"]
config.test_source_root = SOURCE_ROOT
config.test_exec_root = lit_config.params.get("exec_root") or os.path.join(PROJECT_ROOT, "build", "lit")

# lit can stop a test only with psutil at hand; tests/test_lit.py has a limit of its own.
if lit.util.killProcessAndChildrenIsSupported()[0]:
    config.maxIndividualTestTime = TIME_LIMIT

# The programs beside the Python that runs lit come first, whether its environment is activated or not.
config.environment["PATH"] = os.pathsep.join([os.path.dirname(sys.executable), os.environ.get("PATH", os.defpath)])
config.environment["XDG_CACHE_HOME"] = os.path.join(config.test_exec_root, "cache")
config.environment.update({name: value for name, value in os.environ.items() if name.startswith("XFUSE_")})

# Both forms must read back, and print the same custom form in the end: one set of CHECK lines serves both.
READ = "xdsl-opt -f xfuse-mlir --split-input-file"
config.substitutions += [
    ("XFUSE_ROUNDTRIP", f"{READ} %s | {READ} | filecheck %s"),
    ("XFUSE_GENERIC_ROUNDTRIP", f"{READ} --print-op-generic %s | {READ} | filecheck %s"),
    ("%corpus", os.path.join(PROJECT_ROOT, "tests", "corpus")),
]

# Tests that need the real program say `// REQUIRES: mlir-opt`.
if (mlir_opt := find_mlir_opt()) and (major := mlir_major(mlir_opt)):
    config.available_features |= {"mlir-opt", f"mlir-opt-{major}"}
    config.substitutions.append(("%mlir-opt", mlir_opt))
    config.environment["XDSL_MLIR_OPT"] = mlir_opt
