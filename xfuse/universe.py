"""What xfuse adds to xDSL's tools. Imported at every start of ``xdsl-opt``: nothing heavy at module level."""

from __future__ import annotations

from typing import Any

from xdsl.universe import Universe


def _dialect() -> Any:
    from xfuse_dialects.xfuse import XFuse

    return XFuse


def _fuse() -> Any:
    from xfuse.passes.fuse import FusePass

    return FusePass


def _outline() -> Any:
    from xfuse.passes.outline import OutlinePass

    return OutlinePass


def _decompose() -> Any:
    from xfuse.passes.decompose import DecomposePass

    return DecomposePass


def _normalize() -> Any:
    from xfuse.passes.normalize import NormalizePass

    return NormalizePass


def _convert_to_linalg() -> Any:
    from xfuse.passes.convert_to_linalg import ConvertToLinalgPass

    return ConvertToLinalgPass


def _frontend() -> Any:
    from xfuse.frontend import XfuseFrontend

    return XfuseFrontend


def _report() -> Any:
    from xfuse.targets import ReportTarget

    return ReportTarget


XFUSE_UNIVERSE = Universe(
    all_dialects={"xfuse": _dialect},
    all_passes={
        "xfuse-fuse": _fuse,
        "xfuse-outline": _outline,
        "xfuse-decompose": _decompose,
        "xfuse-normalize": _normalize,
        "convert-xfuse-to-linalg": _convert_to_linalg,
    },
    all_targets={"xfuse-report": _report},
    all_frontends={"xfuse-mlir": _frontend},
)
