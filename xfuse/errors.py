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


class ShapeError(XfuseError):
    """A recipe does not fit the shapes of its operands; the subclasses say how.

    ``field`` names what could not be resolved: ``operands``, ``target_shape``, ``slice_start``, ``slice_len``,
    ``axis``, ``dims`` or ``scalar``. ``op`` is the op at fault, as ``op 3 (tensor.empty)``, or None if no op is;
    ``value`` is what was found.
    """

    def __init__(self, message: str, field: str, op: str | None = None, value: object = None) -> None:
        super().__init__(message, field, op, value)  # all of them, so that the exception can be pickled
        self.field = field
        self.op = op
        self.value = value

    def __str__(self) -> str:
        return str(self.args[0])


class OperandOutOfRange(ShapeError):
    """There are too few or too many operands, or one has too few dimensions."""


class AxisOutOfRange(ShapeError):
    """An axis is negative, or not less than the rank."""


class SliceOutOfRange(ShapeError):
    """A slice or an element begins or ends outside the tensor."""


class NegativeExtent(ShapeError):
    """An extent is negative."""


class DivisionByZero(ShapeError):
    """Index arithmetic divides by zero, and the quotient is needed."""


class ExtentOverflow(ShapeError):
    """Index arithmetic leaves the range of its integer type, and the value is needed."""


class UnknownExtent(ShapeError):
    """A value is needed that depends on an unknown extent, or on what is computed from data."""


class ShapeMismatch(ShapeError):
    """Two extents that must be equal differ, or loop dimensions do not broadcast."""


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


class TracingError(XfuseError):
    """A Python function cannot be traced into a recipe; the message names the line of the function."""


class BackendUnavailable(XfuseError):
    """The asked backend cannot run here; the message says what to install."""
