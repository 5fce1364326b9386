"""Running programs on NumPy arrays: fused ops through the binding table, everything else through NumPy."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from xdsl.dialects.builtin import ModuleOp, ShapedType
from xdsl.dialects.func import FuncOp
from xdsl.ir import Attribute

from xfuse.backends.numpy.source import Writer
from xfuse.canonical.build import GraphBuilder, element_name, static_shape
from xfuse.canonical.form import Form
from xfuse.canonical.graph import BOUND, UNINITIALISED, UNIT, Extent, Node, Reference, Value
from xfuse.collector import paused_collector
from xfuse.errors import BackendUnavailable, KernelError, NotBound, UnsupportedError
from xfuse.identify import body_form
from xfuse.kernels import Kernel, as_element_type
from xfuse.layout import core_layout, elementwise_layout
from xfuse.parser import parse_module, resource_blobs
from xfuse.primitives.element_types import numpy_dtype
from xfuse.session import Session, current_session, dtypes_of
from xfuse.specialisation import Instance
from xfuse.table import Row
from xfuse_dialects.xfuse import FusedOp


@dataclass(frozen=True)
class CompiledProgram:
    """A function of a module as a callable on NumPy arrays.

    ``source`` is the Python that runs. ``rows`` are the table rows whose kernels it calls, ``inlined`` the fused ops
    that run as plain ops because no kernel answers for them, each with the reason (law L4).
    """

    entry: str
    source: str
    argument_types: tuple[Attribute, ...]
    result_types: tuple[Attribute, ...]
    rows: tuple[Row, ...]
    inlined: tuple[tuple[FusedOp, str], ...]
    _function: Callable[..., tuple[Any, ...]]

    def __call__(self, *arrays: Any) -> Any:
        """Run on one array per argument; returns an array, or a tuple where there are several results.

        Arrays have exactly the argument's dtype, rank and static extents, in any memory layout and byte order; integer
        arrays of the other signedness are taken by their bits. They are never written to, and results share no memory
        with them. Raises `KernelError` before anything is computed.
        """
        if len(arrays) != len(self.argument_types):
            raise KernelError(f"@{self.entry} takes {len(self.argument_types)} arrays, got {len(arrays)}")
        checked = [
            array
            if type(array) is np.ndarray and array.dtype is dtype and array.shape == shape
            else _checked(self.entry, number, array, self.argument_types[number])
            for number, (array, (dtype, shape)) in enumerate(zip(arrays, self._expected, strict=True))
        ]
        try:
            with np.errstate(all="ignore"):
                results = self._function(*checked)
        except (ValueError, MemoryError) as error:
            shapes = ", ".join(str(array.shape) for array in checked)
            raise KernelError(f"@{self.entry} failed on arrays of shapes {shapes}: {error}") from error
        given = tuple(
            result if isinstance(type_, ShapedType) else result[()]
            for result, type_ in zip(results, self.result_types, strict=True)
        )
        return given[0] if len(given) == 1 else given

    @cached_property
    def _expected(self) -> tuple[tuple[np.dtype[Any], tuple[int | None, ...]], ...]:
        """Dtypes and shapes by which arguments that need no second look are known."""
        return tuple((numpy_dtype(element_name(type_)), static_shape(type_)) for type_ in self.argument_types)


def _checked(entry: str, number: int, value: Any, type_: Attribute) -> Any:
    array = as_element_type(f"@{entry}", number, value, element_name(type_))
    shape = static_shape(type_)
    if array.ndim != len(shape):
        raise KernelError(
            f"argument {number} of @{entry} must have {len(shape)} dimensions ({type_}), got shape {array.shape}"
        )
    if any(expected not in (None, given) for expected, given in zip(shape, array.shape, strict=True)):
        raise KernelError(f"argument {number} of @{entry} must have the shape of {type_}, got {array.shape}")
    return array


def compile(
    module: ModuleOp | FuncOp | str, entry: str = "main", backend: str = "auto", session: Session | None = None
) -> CompiledProgram:
    """A function of a module as a callable on NumPy arrays.

    ``module`` is an op or MLIR text. Fused ops run the kernels that the session's table has for ``backend`` ("auto":
    any); one without a kernel runs as the ops of its region. Everything else is evaluated by NumPy. Recipes that the
    module brings along for its fused ops are registered in the session.

    Raises `ParsingError` for bad text, `UnsupportedError` for an unknown entry or an op outside the vocabulary,
    `BackendUnavailable` if the named backend cannot run here.
    """
    session = session or current_session()
    if backend in session.backends:
        reason = session.backends[backend].unavailable()
        if reason is not None:
            raise BackendUnavailable(reason)
    elif backend != "auto" and backend not in {row.backend for row in session.table.rows()}:
        raise UnsupportedError(f"no backend is named {backend!r}; known are auto, {', '.join(session.backends)}")
    module = parse_module(module) if isinstance(module, str) else module
    session.learn(module)
    function = _entry(module, entry)
    with paused_collector():
        linker = _Linker(session, backend)
        builder = GraphBuilder(fused=linker, resources=resource_blobs())
        block = function.body.block
        for argument in block.args:
            builder.argument(argument)
        results = builder.block(block)
        if builder.effects:
            raise UnsupportedError(f"'{builder.effects[0].name}' cannot be evaluated: it has effects, or may have some")
        source = Writer(builder.graph, builder.argument_values, results, calls=linker.calls).write()
        return CompiledProgram(
            entry,
            source.text,
            tuple(function.function_type.inputs.data),
            tuple(function.function_type.outputs.data),
            tuple(linker.rows),
            tuple(linker.inlined),
            source.compile(),
        )


def _entry(module: ModuleOp | FuncOp, entry: str) -> FuncOp:
    functions = [op for op in module.walk() if isinstance(op, FuncOp)]
    found = [op for op in functions if op.sym_name.data == entry]
    if not found:
        names = ", ".join(op.sym_name.data for op in functions) or "none"
        raise UnsupportedError(f"the module has no function @{entry}; its functions are {names}")
    if len(found[0].body.blocks) != 1:
        raise UnsupportedError(
            f"@{entry} has {len(found[0].body.blocks)} blocks; only functions of one block can be run"
        )
    return found[0]


class _Linker:
    """Decides for each fused op of a program whether it becomes a kernel call or is read as plain ops."""

    def __init__(self, session: Session, backend: str) -> None:
        self.session = session
        self.backend = backend
        self.rows: list[Row] = []
        self.inlined: list[tuple[FusedOp, str]] = []
        self.calls: dict[str, Callable[..., tuple[Any, ...]]] = {}

    def __call__(self, builder: GraphBuilder, op: FusedOp) -> Sequence[Value] | None:
        try:
            form = body_form(op, fastmath=False)
        except UnsupportedError as error:
            self.inlined.append((op, str(error)))
            return None
        instance = self.session.instance_of(op, form)
        if instance is None:
            self.inlined.append((op, "its region is an instance of no registered recipe"))
            return None
        try:
            row = self.session.lookup(instance.recipe, self.backend, dtypes_of(op))
        except (NotBound, BackendUnavailable) as error:
            self.inlined.append((op, str(error)))
            return None
        assert row.kernel is not None
        call = str(len(self.calls))
        try:
            if instance.recipe.is_scalar:
                results = _elementwise(builder, op, form, call)
            else:
                results = _with_core(builder, op, instance, form, call)
        except UnsupportedError as error:
            self.inlined.append((op, str(error)))
            return None
        self.rows.append(row)
        self.calls[call] = as_call(row.kernel)
        return results


def _elementwise(builder: GraphBuilder, op: FusedOp, form: Form, call: str) -> list[Value]:
    layout = elementwise_layout(form)
    # A scalar operand in a linalg body already varies along the loops around it; a tensor's axes are the region's.
    operands = [
        _in_frame(builder.values[ssa], axes) if isinstance(ssa.type, ShapedType) else builder.values[ssa]
        for ssa, axes in zip(op.inputs, layout.arguments, strict=True)
    ]
    results: list[Value] = []
    for number, (ssa, value, axes) in enumerate(zip(op.outputs, form.results, layout.results, strict=True)):
        attributes = (("call", call), ("result", number))
        element_type = builder.element_type(ssa.type)
        node = builder.graph.pointwise("fused", element_type, attributes, operands, ())
        if not isinstance(ssa.type, ShapedType):
            results.append(node)
            continue
        index = tuple(axes.index(axis) if axis in axes else UNIT for axis in node.index)
        extents = tuple(_extent(builder, op, each) for each in value.extents)
        results.append(Value(node.node, index, extents))
    return results


def _with_core(builder: GraphBuilder, op: FusedOp, instance: Instance, form: Form, call: str) -> list[Value]:
    """The call over a frame of all loops; the operands' core dimensions are bound, the results' follow the loops."""
    layout = core_layout(form, instance.arguments, instance.results)
    loops = layout.loops
    references: list[Reference] = []
    scalars: list[Reference] = []
    described: list[tuple[Extent, ...]] = []
    for ssa, places, cores in zip(op.inputs, layout.arguments, layout.argument_cores, strict=True):
        value = builder.values[ssa]
        if value.node == UNINITIALISED:
            raise UnsupportedError(f"a fused op reads %{ssa.name_hint or ''}, which was never written")
        at = (UNIT if axis < 0 else places[axis] for axis in value.index)
        references.append(Reference(value.node, tuple(p if p < loops else BOUND + p - loops for p in at)))
        # A core dimension along which the operand does not vary is spread to its extent; loops broadcast by themselves.
        sizes: list[Extent] = [-1] * (loops + cores)
        for axis, place in enumerate(places):
            if place >= loops and axis not in value.index and value.extents[axis] != 1:
                extent = value.extents[axis]
                if not isinstance(extent, int) and extent[0] == "value":
                    scalars.append(Reference(extent[1], ()))
                    extent = ("operand", len(op.inputs) + len(scalars) - 1, 0)
                sizes[place] = extent
        described.append(tuple(sizes))
    results: list[Value] = []
    for number, (ssa, value, places, cores) in enumerate(
        zip(op.outputs, form.results, layout.results, layout.result_cores, strict=True)
    ):
        attributes = (("call", call), ("result", number), ("loops", loops), ("sizes", tuple(described)))
        element_type = builder.element_type(ssa.type)
        node = Node("fused", element_type, attributes, (*references, *scalars), loops + cores)
        index = tuple(places.index(place) if place in places else UNIT for place in range(loops + cores))
        made = builder.graph.intern(node)
        whole = tuple(BOUND + parameter for parameter in range(node.rank))
        extents: list[Extent] = []
        for axis, extent in enumerate(value.extents):
            if not isinstance(extent, int) and extent[0] == "value" and axis in index:
                # Computed inside the region: it is read off what the kernel gives.
                read = Node("extent", "index", (("axis", index.index(axis)),), (Reference(made, whole),), 0)
                extents.append(("value", builder.graph.intern(read), 0))
            else:
                extents.append(_extent(builder, op, extent))
        results.append(Value(made, index, tuple(extents)))
    return results


def _in_frame(value: Value, axes: Sequence[int]) -> Value:
    return Value(value.node, tuple(UNIT if axis < 0 else axes[axis] for axis in value.index), value.extents)


def _extent(builder: GraphBuilder, op: FusedOp, extent: Extent) -> Extent:
    """An extent of the region in terms of the program around it."""
    if isinstance(extent, int):
        return extent
    if extent[0] == "argument":
        _, number, axis = extent
        return builder.values[op.inputs[number]].extents[axis]
    raise UnsupportedError("a fused op whose result has an extent computed inside its region")


def as_call(kernel: Kernel) -> Callable[..., tuple[Any, ...]]:
    """A kernel as programs call it: a tuple of results, none of them an operand's own array."""
    function = kernel.function
    if kernel.ufunc is not None and function is kernel.ufunc:
        return function if len(kernel.results) > 1 else lambda *arrays: (function(*arrays),)
    return lambda *arrays: kernel.call(*map(np.asarray, arrays))


def run(
    module: ModuleOp | str,
    inputs: Sequence[Any] | Mapping[str, Any],
    entry: str = "main",
    backend: str = "auto",
    session: Session | None = None,
) -> Any:
    """Compile and call in one step; a mapping's values are the arguments in order."""
    arrays = list(inputs.values()) if isinstance(inputs, Mapping) else list(inputs)
    return compile(module, entry, backend, session)(*arrays)
