"""The smallest lit configuration for tests of IR: RUN lines, with the programs beside Python on PATH."""
# ruff: noqa: F821

import os
import sys
import tempfile

import lit.formats

config.name = "xfuse examples"
config.test_format = lit.formats.ShTest()
config.suffixes = [".mlir"]
config.test_source_root = os.path.dirname(__file__)
config.test_exec_root = os.path.join(tempfile.gettempdir(), "xfuse-examples")
config.environment["PATH"] = os.pathsep.join([os.path.dirname(sys.executable), os.environ["PATH"]])
