"""Every exception that xfuse raises on its own account, under one root."""

from __future__ import annotations


class XfuseError(Exception):
    """Root of all xfuse exceptions."""


class ParsingError(XfuseError):
    """A file or text is not MLIR that xfuse can read."""


class RecipeError(XfuseError):
    """A recipe was refused at registration; nothing has been stored."""


class UnsupportedError(XfuseError):
    """An op, type or attribute lies outside what the called function can handle."""


class DecomposeError(XfuseError):
    """A recipe cannot be emitted on the given inputs."""


class BindingError(XfuseError):
    """A kernel or row was refused by the binding table; nothing has been stored."""


class LookupMiss(XfuseError):
    """No kernel answers a look-up; the two subclasses have different remedies."""


class NotBound(LookupMiss):
    """No row fits: register a kernel for these dtypes."""


class Ambiguous(LookupMiss):
    """Several rows fit: say which dtypes are meant."""


class VerificationError(XfuseError):
    """A kernel disagreed with its recipe on a probe (law L6)."""


class KernelError(XfuseError):
    """Arrays given to a kernel or program have the wrong count, shape or dtype."""


class BackendUnavailable(XfuseError):
    """The asked backend cannot run here; the message says what to install."""
