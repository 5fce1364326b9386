"""``@xfuse.recipe``: a plain Python function, traced once, as a recipe."""

from __future__ import annotations

import ast
import contextlib
import functools
import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NoReturn, overload

import numpy as np
from xdsl.dialects import tensor
from xdsl.dialects.builtin import DYNAMIC_INDEX, DictionaryAttr, StringAttr, TensorType, UnitAttr
from xdsl.ir import Attribute, Region, SSAValue

from xfuse.backends.numpy.backend import NumPyBackend
from xfuse.emission import type_named
from xfuse.errors import KernelError, RecipeError, TracingError
from xfuse.kernels import Kernel
from xfuse.primitives.element_types import FLOATS, INTEGERS, numpy_dtype, width
from xfuse.recipes import Recipe
from xfuse.signature import named_signature
from xfuse.tracing import dispatch as dispatch
from xfuse.tracing import indexing as indexing
from xfuse.tracing import namespace as namespace
from xfuse.tracing.array import Array, Extent, arrays_in, spell_shape, symbol_of, tracer_of
from xfuse.tracing.dtypes import element_type_of, looks_like_type
from xfuse.tracing.locations import at_definition, call
from xfuse.tracing.loops import dense, scalar
from xfuse.tracing.reductions import listed
from xfuse.tracing.symbols import Dimensions, Symbol, named, parse_signature
from xfuse.tracing.tracer import Tracer
from xfuse.validation import validate
from xfuse_dialects.xfuse import ACCUMULATOR, FLATTEN, SCALAR, RecipeOp, YieldOp

GENERIC = ("f16", "bf16", "f32", "f64")
"""The element types of a recipe of which nothing else is said."""

Function = Callable[..., Any]


class TracedRecipe(Recipe):
    """A recipe that was traced from a Python function, which is kept as ``__wrapped__``.

    It is a `Recipe` like any other. Called with traced arrays, in the function of another recipe, it is traced in its
    place; called with NumPy arrays it evaluates the recipe with NumPy, loop dimensions in front.
    """

    __wrapped__: Function

    def __init__(self, op: RecipeOp, family: str, function: Function) -> None:
        super().__init__(op, family)
        for name in ("__name__", "__qualname__", "__doc__", "__module__"):
            object.__setattr__(self, name, getattr(function, name, None))
        object.__setattr__(self, "__wrapped__", function)
        object.__setattr__(self, "_kernels", {})

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """The function of traced arrays; else the recipe's results on NumPy arrays and Python numbers.

        Arrays give the element type. Raises `KernelError` if there is none for theirs, `UnsupportedError` for a recipe
        that NumPy cannot run.
        """
        if next(arrays_in((*args, *kwargs.values())), None) is not None:
            return self.__wrapped__(*args, **kwargs)
        if kwargs:
            raise KernelError(f"recipe @{self.name} takes its {len(self.argument_types)} arguments by position")
        if len(args) != len(self.argument_types):
            raise KernelError(f"recipe @{self.name} takes {len(self.argument_types)} arguments, got {len(args)}")
        element_type = self._element_type(args)
        kernels: dict[str | None, Kernel] = self.__dict__["_kernels"]
        if element_type not in kernels:
            kernels[element_type] = NumPyBackend().compile(self, element_type)
        kernel = kernels[element_type]
        arrays: list[Any] = [
            arg if hasattr(arg, "dtype") else np.asarray(arg, numpy_dtype(kind))
            for arg, kind in zip(args, kernel.arguments, strict=True)
        ]
        return kernel(*arrays)

    def _element_type(self, args: Sequence[Any]) -> str | None:
        """The element type of the arrays at the places of the recipe's own; the widest if there are only numbers."""
        given = [element_type_of(arg.dtype) if hasattr(arg, "dtype") else None for arg in args]
        for element_type in sorted(self.uses, key=lambda each: -width(each) if each else 0):
            wanted, _ = self.signature(element_type)
            if all(own is None or own == kind for own, kind in zip(given, wanted, strict=True)):
                return element_type
        known = "; ".join(f"({', '.join(self.signature(each)[0])})" for each in self.uses)
        got = ", ".join(str(kind or type(arg).__name__) for kind, arg in zip(given, args, strict=True))
        raise KernelError(f"recipe @{self.name} has no form for arguments ({got}); it has {known}")


@dataclass(frozen=True)
class _Options:
    name: str | None
    family: str | None
    element_types: tuple[str, ...]
    accumulator: str | None
    scalars: tuple[str, ...]
    flatten: tuple[str, ...]
    types: Mapping[str, object]
    signature: str | None


@overload
def recipe(function: Function, /) -> TracedRecipe: ...


@overload
def recipe(
    signature: str | None = None,
    /,
    *,
    name: str | None = None,
    family: str | None = None,
    element_types: str | Sequence[str] | None = GENERIC,
    accumulator: str | None = None,
    scalars: str | Sequence[str] = (),
    flatten: str | Sequence[str] = (),
    types: Mapping[str, object] | None = None,
) -> Callable[[Function], TracedRecipe]: ...


def recipe(
    signature: Function | str | None = None,
    /,
    *,
    name: str | None = None,
    family: str | None = None,
    element_types: str | Sequence[str] | None = GENERIC,
    accumulator: str | None = None,
    scalars: str | Sequence[str] = (),
    flatten: str | Sequence[str] = (),
    types: Mapping[str, object] | None = None,
) -> Any:
    """Make a recipe of a Python function, which is traced once, now. ``@recipe`` or ``@recipe(signature, ...)``.

    ``signature`` gives the core dimensions as a gufunc's does: ``(n),(n),()->(n)``; a dimension may be an integer, or
    an expression of names. Without one, all arguments are scalars and the recipe is element-wise. Parameters with a
    default are no arguments and keep it, unless the signature, ``scalars``, ``flatten`` or ``types`` speak of them.

    ``element_types`` are those that the recipe is good for; it is written at the widest of them. None stands for f64
    alone. ``accumulator`` is the narrowest type that it computes in. ``scalars`` names arguments that bind only a
    constant, ``flatten`` those whose one core dimension stands for all of an array. ``types`` gives arguments a type of
    their own, as does an annotation that is an element type (``mask: "i1"``, ``index: np.int32``).

    Raises `TracingError`, which names the line of the function, if it cannot be traced or is no valid recipe.
    """
    options = _Options(
        name,
        family,
        _tuple(element_types),
        accumulator,
        _tuple(scalars),
        _tuple(flatten),
        dict(types or {}),
        signature if isinstance(signature, str) else None,
    )
    if signature is not None and not isinstance(signature, str):
        return _trace(signature, options)
    return functools.partial(_trace, options=options)


def _tuple(given: str | Sequence[str] | None) -> tuple[str, ...]:
    return (given,) if isinstance(given, str) else tuple(given or ())


class _Definition:
    """A function with its options: what its arguments are."""

    def __init__(self, function: Function, options: _Options) -> None:
        self.function = function
        self.options = options
        self.name = options.name or getattr(function, "__name__", "<no name>")
        if not self.name.isidentifier() and options.name is None:
            self.fail("a lambda, or another object without a name, needs name=")
        if not self.name.isidentifier():
            self.fail(f"{self.name!r} is no name for a recipe")
        for each in options.element_types:
            if each not in FLOATS and each not in INTEGERS:
                self.fail(f"{each!r} is no element type; known are {', '.join((*FLOATS, *INTEGERS))}")
        self.written = max(options.element_types, key=width, default="f64")
        self.dimensions, self.parameters = self._arguments()
        self.types = [self._type(each) for each in self.parameters]
        names = [each.name for each in self.parameters]
        for option in ("scalars", "flatten", "types"):
            for each in getattr(options, option):
                if each not in names:
                    self.fail(f"{option}= names {each!r}, which is no argument; arguments are {', '.join(names)}")

    def fail(self, message: str) -> NoReturn:
        """Raise `TracingError` with the line of the definition."""
        raise TracingError(self.located(message))

    def located(self, message: str) -> str:
        """A message with the recipe's name and the line of the definition."""
        return at_definition(f"{self.name}: {message}", self.function)

    def _arguments(self) -> tuple[Dimensions, list[inspect.Parameter]]:
        options = self.options
        known = list(inspect.signature(self.function).parameters.values())
        fixed = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
        positional = [each for each in known if each.kind in fixed]
        for each in known:
            if each.kind is each.VAR_POSITIONAL or (each.kind is each.KEYWORD_ONLY and each.default is each.empty):
                self.fail(f"parameter {each} of the function: arguments of a recipe are positional and have names")
        spoken = {*options.scalars, *options.flatten, *options.types}
        if options.signature is None:
            wanted = [each for each in positional if each.default is each.empty or each.name in spoken]
            count = max((positional.index(each) + 1 for each in wanted), default=0)
            if count != len(wanted):
                self.fail("an argument stands behind a parameter that has a default and keeps it; reorder them")
            sides = tuple((named("n"),) if each.name in options.flatten else () for each in wanted)
            return Dimensions(sides, None), wanted
        try:
            dimensions = parse_signature(options.signature)
        except TracingError as error:
            self.fail(str(error))
        count = len(dimensions.arguments)
        needed = sum(each.default is each.empty for each in positional)
        if not needed <= count <= len(positional):
            self.fail(
                f"signature {options.signature!r} has {count} arguments, but the function takes "
                f"{needed if needed == len(positional) else f'{needed} to {len(positional)}'}"
            )
        return dimensions, positional[:count]

    def _type(self, parameter: inspect.Parameter) -> str:
        """The element type of an argument."""
        given = self.options.types.get(parameter.name)
        if given is None and parameter.annotation is not parameter.empty:
            given = _annotated(parameter.annotation)
            if isinstance(given, str) and element_type_of(given) is None and not looks_like_type(given):
                given = None  # any other annotation says nothing about the recipe
        if given is None or given is float:
            return self.written
        found = element_type_of(given)
        if found is None:
            self.fail(f"argument {parameter.name} has the type {given!r}, which is no element type")
        return found

    @property
    def marks(self) -> list[dict[str, Attribute]]:
        """The marks of each argument."""
        options = self.options
        accumulator = self._accumulator()
        found: list[dict[str, Attribute]] = []
        for parameter, kind in zip(self.parameters, self.types, strict=True):
            own: dict[str, Attribute] = {}
            if parameter.name in options.scalars:
                own[SCALAR] = UnitAttr()
            if parameter.name in options.flatten:
                own[FLATTEN] = UnitAttr()
            if accumulator is not None and kind == self.written:
                own[ACCUMULATOR] = accumulator
            found.append(own)
        return found

    def _accumulator(self) -> Attribute | None:
        """The accumulator, if some element type is narrower: else it changes nothing."""
        given = self.options.accumulator
        if given is None:
            return None
        if given not in FLOATS and given not in INTEGERS:
            self.fail(f"accumulator {given!r} is no element type; known are {', '.join((*FLOATS, *INTEGERS))}")
        narrower = any(width(each) < width(given) for each in self.options.element_types)
        return type_named(given) if narrower else None


def _annotated(annotation: Any) -> Any:
    """What an annotation says, also where annotations are kept as text."""
    if not isinstance(annotation, str):
        return annotation if element_type_of(annotation) is not None else None
    with contextlib.suppress(ValueError, SyntaxError):
        annotation = ast.literal_eval(annotation)
    return annotation.rpartition(".")[2] if isinstance(annotation, str) else None


def _trace(function: Function, options: _Options) -> TracedRecipe:
    definition = _Definition(function, options)
    tracer = Tracer(definition.name, definition.written, options.element_types)
    arguments = _make_arguments(tracer, definition)
    with tracer.tracing():
        given = call(function, arguments, definition.name)
        results = _results(definition, given)
        _check_results(definition, results)
        shown = [scalar(each) if not each.ndim else dense(each).value for each in results]
    tracer.block.add_op(YieldOp(shown))
    tracer.drop_dead_ops()
    marks = definition.marks
    op = RecipeOp(
        definition.name,
        Region(tracer.block),
        element_types=[type_named(each) for each in options.element_types] or None,
        arg_attrs=[DictionaryAttr(each) for each in marks] if any(marks) else None,
    )
    made = TracedRecipe(op, options.family or definition.name, function)
    try:
        validate(made)
    except RecipeError as error:
        raise TracingError(definition.located(str(error))) from error
    _keep_names(made, options.signature)
    return made


def _keep_names(recipe: Recipe, signature: str | None) -> None:
    """Keep the names of dimensions with the recipe, if each of them is one of the normal signature."""
    if signature is None:
        return
    recipe.op.attributes["signature"] = StringAttr(signature.replace(" ", ""))
    try:
        named_signature(recipe)
    except RecipeError:  # sums and multiples of others are no names
        del recipe.op.attributes["signature"]


def _make_arguments(tracer: Tracer, definition: _Definition) -> list[Array]:
    arguments: list[Array] = []
    for parameter, kind, dimensions in zip(
        definition.parameters, definition.types, definition.dimensions.arguments, strict=True
    ):
        extents = [DYNAMIC_INDEX if each.constant is None else each.constant for each in dimensions]
        type_ = TensorType(type_named(kind), extents) if extents else type_named(kind)
        value = tracer.block.insert_arg(type_, len(arguments))
        if value.is_valid_name(parameter.name):
            value.name_hint = parameter.name
        shape = [_extent(tracer, value, axis, each) for axis, each in enumerate(dimensions)]
        arguments.append(Array(tracer, value, kind, shape, range(len(shape))))
    return arguments


def _extent(tracer: Tracer, value: SSAValue, axis: int, symbol: Symbol) -> Extent:
    known = symbol.constant
    if known is not None:
        return known
    return Array(tracer, tracer.add(tensor.DimOp(value, tracer.index(axis))), "index", symbol=symbol)


def _results(definition: _Definition, given: Any) -> list[Array]:
    """What the function returned, as a list of traced arrays."""
    found = list(listed(given))
    if given is None:
        definition.fail("the function returned nothing; is a `return` missing?")
    if not found:
        definition.fail("the function returned an empty sequence; a recipe has at least one result")
    for number, each in enumerate(found):
        if not isinstance(each, Array):
            definition.fail(
                f"result {number} is {each!r}, which is no traced array; a recipe's results depend on its arguments"
            )
    tracer_of(*found)
    return found


def _check_results(definition: _Definition, results: Sequence[Array]) -> None:
    """The results' shapes must be those of the signature, whose new names stand for whatever comes out."""
    wanted = definition.dimensions.results
    if wanted is None:
        return
    text = definition.options.signature
    if len(wanted) != len(results):
        definition.fail(f"signature {text!r} has {len(wanted)} results, but the function returned {len(results)}")
    bound: dict[Symbol, Symbol] = {
        each: each for dimensions in definition.dimensions.arguments for each in dimensions if each.is_name
    }
    for number, (dimensions, result) in enumerate(zip(wanted, results, strict=True)):
        shape = [symbol_of(extent) for extent in result.shape]
        expected = [
            bound.setdefault(each, own) if each.is_name else each for each, own in zip(dimensions, shape, strict=False)
        ]
        if len(shape) != len(dimensions) or shape != expected:
            spelled = f"({','.join(map(str, dimensions))})"
            definition.fail(
                f"result {number} has shape {spell_shape(result.shape)}, but signature {text!r} says {spelled}"
            )
