"""Traced arrays: what a recipe's function computes with, and the functions of the namespace by name."""

from __future__ import annotations

import difflib
import functools
import inspect
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NoReturn, ParamSpec, TypeVar, Union

import numpy as np
from xdsl.dialects.builtin import TensorType
from xdsl.ir import SSAValue

from xfuse.errors import TracingError
from xfuse.tracing.dtypes import for_numpy
from xfuse.tracing.locations import fail, located
from xfuse.tracing.symbols import Symbol, number
from xfuse.tracing.tracer import Tracer, current_tracer

Extent = Union[int, "Array"]
"""An entry of a shape: a known extent, or a traced scalar of type index."""

_P = ParamSpec("_P")
_R = TypeVar("_R")


FUNCTIONS: dict[str, Callable[..., Any]] = {}
"""The functions on traced arrays by name, those that only operators and NumPy's protocols call among them."""


def _operator(name: str, *, reflected: bool = False) -> Callable[..., Any]:
    def apply(*operands: Any) -> Any:
        return FUNCTIONS[name](*(reversed(operands) if reflected else operands))

    return apply


class UnknownName(TracingError, AttributeError):
    """A name that a traced array or the namespace does not have."""


class Array:
    """An array while a recipe is traced: a value of the recipe, and how it lies along the array's axes.

    ``value`` is a scalar or a tensor. ``places`` gives for each axis of the tensor the axis of the array that it lies
    along, or None for an axis of extent one that the array does not show. Other axes of the array repeat the value.
    ``symbol`` is what is known of a scalar of type index that comes from extents.
    """

    __slots__ = ("dtype", "places", "shape", "symbol", "tracer", "value")
    __hash__ = None  # type: ignore[assignment] -- equality gives an array

    def __init__(
        self,
        tracer: Tracer,
        value: SSAValue,
        dtype: str,
        shape: Sequence[Extent] = (),
        places: Sequence[int | None] = (),
        symbol: Symbol | None = None,
    ) -> None:
        self.tracer = tracer
        self.value = value
        self.dtype = dtype
        self.shape: tuple[Extent, ...] = tuple(shape)
        self.places: tuple[int | None, ...] = tuple(places)
        self.symbol = symbol

    def __repr__(self) -> str:
        if self.symbol is not None:
            return f"<traced extent {self.symbol}>"
        return f"<traced {self.dtype} array of shape {spell_shape(self.shape)}>"

    @property
    def ndim(self) -> int:
        """Number of axes."""
        return len(self.shape)

    @property
    def size(self) -> Any:
        """Number of elements."""
        return size_of(self.shape)

    @property
    def T(self) -> Any:
        """The array with its axes reversed."""
        return FUNCTIONS["transpose"](self)

    @property
    def mT(self) -> Any:
        """The array with its last two axes swapped."""
        return FUNCTIONS["matrix_transpose"](self)

    @property
    def is_tensor(self) -> bool:
        """Whether the value is a tensor."""
        return isinstance(self.value.type, TensorType)

    # Operators

    __add__ = _operator("add")
    __radd__ = _operator("add", reflected=True)
    __sub__ = _operator("subtract")
    __rsub__ = _operator("subtract", reflected=True)
    __mul__ = _operator("multiply")
    __rmul__ = _operator("multiply", reflected=True)
    __truediv__ = _operator("divide")
    __rtruediv__ = _operator("divide", reflected=True)
    __floordiv__ = _operator("floor_divide")
    __rfloordiv__ = _operator("floor_divide", reflected=True)
    __mod__ = _operator("remainder")
    __rmod__ = _operator("remainder", reflected=True)
    __matmul__ = _operator("matmul")
    __rmatmul__ = _operator("matmul", reflected=True)
    __pow__ = _operator("power_of")
    __rpow__ = _operator("pow", reflected=True)
    __and__ = _operator("bitwise_and")
    __rand__ = _operator("bitwise_and", reflected=True)
    __or__ = _operator("bitwise_or")
    __ror__ = _operator("bitwise_or", reflected=True)
    __xor__ = _operator("bitwise_xor")
    __rxor__ = _operator("bitwise_xor", reflected=True)
    __lshift__ = _operator("bitwise_left_shift")
    __rlshift__ = _operator("bitwise_left_shift", reflected=True)
    __rshift__ = _operator("bitwise_right_shift")
    __rrshift__ = _operator("bitwise_right_shift", reflected=True)
    __lt__ = _operator("less")
    __le__ = _operator("less_equal")
    __gt__ = _operator("greater")
    __ge__ = _operator("greater_equal")
    __eq__ = _operator("equal")
    __ne__ = _operator("not_equal")
    __neg__ = _operator("negative")
    __pos__ = _operator("positive")
    __abs__ = _operator("abs")
    __invert__ = _operator("bitwise_invert")
    __floor__ = _operator("floor")
    __ceil__ = _operator("ceil")
    __trunc__ = _operator("trunc")
    __getitem__ = _operator("getitem")

    def __divmod__(self, other: Any) -> Any:
        return self // other, self % other

    def __round__(self, digits: int | None = None) -> Any:
        if digits:
            fail("round to digits cannot be traced; scale, xp.round and scale back")
        return FUNCTIONS["round"](self)

    # What cannot be traced

    def __setitem__(self, key: Any, value: Any) -> NoReturn:
        fail(
            "a traced array cannot be changed in place (`x[...] = ...`); choose with xp.where(condition, new, x), "
            "or put parts together with xp.concat"
        )

    def __bool__(self) -> bool:
        what = "depends on extents that are not known" if self.symbol is not None else "depends on data"
        fail(
            f"the truth value of a traced array {what} while tracing, so `if`, `while`, `and`, `or`, `not` and chained "
            "comparisons of it cannot be traced; choose with xp.where(condition, a, b), and combine conditions with "
            "xp.logical_and, xp.logical_or and xp.logical_not"
        )

    def __float__(self) -> float:
        self._no_number("float()", "use the array itself, or convert it with xp.astype")

    def __complex__(self) -> complex:
        self._no_number("complex()", "recipes have no complex numbers")

    def __int__(self) -> int:
        self._no_number("int()", "convert with xp.astype(x, 'i64'), or round with xp.trunc")

    def __index__(self) -> int:
        self._no_number(
            "range() or a Python index", "Python loops run over known numbers; use reductions, xp.arange or slices"
        )

    def _no_number(self, what: str, advice: str) -> NoReturn:
        fail(f"{what} needs a number, and a traced array has none while tracing; {advice}")

    def __len__(self) -> int:
        if not self.shape:
            fail("len() of a traced scalar")
        first = self.shape[0]
        if not isinstance(first, int):
            fail(f"len() of an array of shape {spell_shape(self.shape)}: use x.shape[0], which may be computed with")
        return first

    def __iter__(self) -> Iterator[Any]:
        if not self.shape or not isinstance(self.shape[0], int):
            fail(
                f"iteration over a traced array of shape {spell_shape(self.shape)}: only a first axis of known extent "
                "can be gone through; use reductions, slices or xp.cumulative_sum"
            )
        return (self[position] for position in range(self.shape[0]))

    def __array__(self, *_: Any, **__: Any) -> NoReturn:
        fail("a traced array has no data yet; use the functions of xfuse.xp, or NumPy's that have the same name")

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, **options: Any) -> Any:
        return FUNCTIONS["numpy_ufunc"](ufunc, method, inputs, options)

    def __array_function__(self, called: Callable[..., Any], types: Any, args: Any, kwargs: Any) -> Any:
        return FUNCTIONS["numpy_function"](called, args, kwargs)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        if name in METHODS:
            return functools.partial(FUNCTIONS[METHODS[name]], self)
        raise UnknownName(located(f"a traced array has no {name!r}{near(name, [*METHODS, *_PROPERTIES])}"))


_PROPERTIES = ("shape", "ndim", "dtype", "size", "T", "mT")
METHODS: dict[str, str] = {
    **{name: name for name in "sum prod max min mean var std any all argmax argmin astype take clip round".split()},
    **{"squeeze": "squeeze", "reshape": "reshape_to", "ravel": "ravel", "flatten": "ravel"},
    **{"transpose": "transpose_to", "cumsum": "cumulative_sum", "dot": "dot", "swapaxes": "swapaxes"},
}
"""Methods of a traced array, by the function that each stands for."""


def near(name: str, known: Sequence[str]) -> str:
    """The end of a message on an unknown name: those most like it."""
    found = difflib.get_close_matches(name, known, n=5, cutoff=0.5)
    return f"; near names are {', '.join(found)}" if found else ""


def symbol_of(extent: Extent) -> Symbol:
    """What is known of an extent."""
    if isinstance(extent, int):
        return number(extent)
    assert extent.symbol is not None
    return extent.symbol


def is_unit(extent: Extent) -> bool:
    """Whether an extent is known to be one."""
    return isinstance(extent, int) and extent == 1


def same_extent(left: Extent, right: Extent) -> bool:
    """Whether two extents are known to be equal."""
    return symbol_of(left) == symbol_of(right)


def size_of(shape: Sequence[Extent]) -> Any:
    """How many elements a shape has: a number where it is known, else an extent."""
    count: Any = shape[0] if shape else 1
    for extent in shape[1:]:
        count = count * extent
    return count


def spell_shape(shape: Sequence[Extent]) -> str:
    """A shape as people read it."""
    inside = ", ".join(str(symbol_of(each)) for each in shape)
    return f"({inside},)" if len(shape) == 1 else f"({inside})"


def arrays_in(values: Any) -> Iterator[Array]:
    """The traced arrays among some arguments, and in lists and tuples among them."""
    for value in values:
        if isinstance(value, Array):
            yield value
        elif isinstance(value, list | tuple):
            yield from arrays_in(value)


def tracer_of(*values: Any) -> Tracer:
    """The tracer that some arguments belong to, or the current one."""
    tracer = current_tracer()
    for array in arrays_in(values):
        if array.tracer is not tracer:
            fail("an array of another recipe, or of a recipe that has been traced already, is used here")
    if tracer is None:
        raise TracingError("this can only be computed while a recipe is traced")
    return tracer


def function(
    *, creates: bool = False, eager: Callable[..., Any] | None = None
) -> Callable[[Callable[_P, _R]], Callable[_P, _R]]:
    """Make a function on traced arrays one of the namespace, under its own name without a final underscore.

    Called without traced arrays it is NumPy's function of that name, or ``eager``, so that constants are computed with
    before tracing; one that ``creates`` arrays is traced all the same while a recipe is traced.
    """

    def register(traced: Callable[_P, _R]) -> Callable[_P, _R]:
        name = traced.__name__.rstrip("_")
        plain = eager or getattr(np, name, None)
        signature = inspect.signature(traced)
        takes_array = next(iter(signature.parameters), None) == "x"

        @functools.wraps(traced)
        def apply(*args: _P.args, **kwargs: _P.kwargs) -> _R:
            found = any(True for _ in arrays_in((*args, *kwargs.values())))
            if not found and plain is not None and not (creates and current_tracer() is not None):
                if kwargs.get("dtype") is not None:
                    kwargs["dtype"] = for_numpy(kwargs["dtype"])
                return plain(*args, **kwargs)
            tracer = tracer_of(*args, *kwargs.values())
            first = args[0] if args and takes_array else None
            if first is not None and not isinstance(first, Array):
                args = (FUNCTIONS["coerced"](first, tracer), *args[1:])  # pyright: ignore[reportAssignmentType] -- the same but traced
            try:
                return traced(*args, **kwargs)
            except TypeError:
                try:
                    signature.bind(*args, **kwargs)
                except TypeError as error:
                    fail(f"xp.{name}: {error}; its arguments are {signature}")
                raise

        apply.__name__ = name
        FUNCTIONS[name] = apply
        return apply

    return register
