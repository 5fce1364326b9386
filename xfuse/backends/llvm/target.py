"""What generated code needs to know of the machine it is for."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from xfuse.primitives.llvm_text import TextBuilder


@dataclass(frozen=True)
class Target:
    """Facts that change the IR text. The default is a machine with none of the optional features."""

    has_fma: bool = False
    """One-rounding multiply-add in hardware."""
    fast_half: bool = False
    """Conversion between half and float in hardware."""
    vector_bytes: int = 16
    """Size of the widest vector register."""
    status_word: Literal["mxcsr", "fenv"] = "fenv"
    """How floating-point exception flags are saved: by x86 instructions or by the C library."""

    def builder(self, prefix: str = "v") -> TextBuilder:
        """A builder of scalar instructions for this target."""
        return TextBuilder(prefix, has_fma=self.has_fma, fast_half=self.fast_half)

    @property
    def features(self) -> str:
        """Text that names the features which generated code takes for granted, for `required_features`."""
        named = (("fma", self.has_fma), ("half", self.fast_half), ("mxcsr", self.status_word == "mxcsr"))
        return ",".join(name for name, present in named if present)


_MARK = "; requires: "


def requirement(target: Target) -> str:
    """The comment at the head of IR text that says what the text takes for granted."""
    return _MARK + target.features


def missing_features(ir: str, host: Target) -> list[str]:
    """Features that IR text takes for granted and the host lacks."""
    first = ir.partition("\n")[0]
    if not first.startswith(_MARK):
        return []
    return sorted(set(filter(None, first.removeprefix(_MARK).split(","))) - set(host.features.split(",")))
