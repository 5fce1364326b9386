"""Recipes: definitions at their written types, specialised to the element type at hand."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from xdsl.dialects.arith import FastMathFlagsAttr
from xdsl.dialects.builtin import ModuleOp, ShapedType
from xdsl.ir import Attribute, Operation, SSAValue

from xfuse.canonical.build import GraphBuilder, build_body, element_name
from xfuse.canonical.flatten import expand
from xfuse.canonical.form import Form, canonical_form
from xfuse.canonical.graph import Value
from xfuse.errors import RecipeError
from xfuse.parser import parse_module, resource_blobs
from xfuse.primitives.element_types import FLOATS, INTEGERS, width
from xfuse_dialects.xfuse import ACCUMULATOR, FLATTEN, SCALAR, LibraryOp, RecipeOp

Shape = tuple[int | None, ...]
"""Extents, None where unknown."""

_FormKey = tuple[str | None, bool, tuple[Shape | None, ...] | None]


@dataclass(frozen=True, repr=False)
class Recipe:
    """A function over element or core-dimension values, given by the region of an ``xfuse.recipe``.

    ``family`` groups bodies of one mathematical function. Two recipes are equal if they are the same object;
    `identity` says whether they are the same function.
    """

    op: RecipeOp
    family: str
    _forms: dict[_FormKey, Form] = field(default_factory=dict[_FormKey, Form], init=False, compare=False, repr=False)

    def __repr__(self) -> str:
        return f"Recipe(@{self.name})"

    @property
    def name(self) -> str:
        """The recipe's symbol name."""
        return self.op.sym_name.data

    @property
    def element_types(self) -> tuple[str, ...]:
        """Names of the element types that the recipe is good for; empty if only for the written types."""
        listed = self.op.element_types
        return () if listed is None else tuple(element_name(each) for each in listed.data)

    @property
    def written_type(self) -> str | None:
        """The element type that the recipe is written at and that follows the use; None without ``element_types``."""
        listed = self.element_types
        return max(listed, key=width) if listed else None

    @property
    def argument_types(self) -> tuple[Attribute, ...]:
        """Types of the arguments as written."""
        return tuple(self.op.function_type.inputs.data)

    @property
    def result_types(self) -> tuple[Attribute, ...]:
        """Types of the results as written."""
        return tuple(self.op.function_type.outputs.data)

    @property
    def scalar_slots(self) -> tuple[int, ...]:
        """Numbers of the arguments that bind only a scalar or splat constant, ascending."""
        return tuple(n for n in range(len(self.argument_types)) if SCALAR in self.op.marks(n))

    @property
    def is_scalar(self) -> bool:
        """Whether all arguments and results are scalars: an element-wise recipe at core rank 0."""
        return not any(isinstance(t, ShapedType) for t in (*self.argument_types, *self.result_types))

    @property
    def flat(self) -> tuple[int, ...]:
        """Numbers of the arguments whose one core dimension stands for all dimensions of an operand, ascending."""
        return tuple(n for n in range(len(self.argument_types)) if FLATTEN in self.op.marks(n))

    @property
    def accumulator(self) -> str | None:
        """The element type that the recipe computes at no narrower than, or None."""
        marks = [self.op.marks(n).get(ACCUMULATOR) for n in range(len(self.argument_types))]
        return next((element_name(mark) for mark in marks if mark is not None), None)

    def form(
        self,
        element_type: str | None = None,
        *,
        fastmath: bool = True,
        shapes: Sequence[Sequence[int | None] | None] | None = None,
    ) -> Form:
        """The canonical form at an element type, or, without one, that of the polymorphic recipe.

        ``shapes`` specialises it: for each argument the extents of its core dimensions, None where unknown; for one
        that is flattened the extents of all dimensions of the operand. Raises `RecipeError` if the recipe is not for
        that element type.
        """
        known = None if shapes is None else tuple(None if each is None else tuple(each) for each in shapes)
        key = (element_type, fastmath, known)
        form = self._forms.get(key)
        if form is None:
            if not fastmath and not self._writes_flags():
                form = self.form(element_type, shapes=shapes)
            else:
                form = self._build(element_type, fastmath, known)
            self._forms[key] = form
        return form

    def values(self, element_type: str | None) -> Mapping[SSAValue, Value]:
        """What the values of the recipe's region are in its form at an element type, numbered as there."""
        return self._read(element_type, True, None)[0].values

    @property
    def has_flags(self) -> bool:
        """Whether some op of the recipe carries fast-math flags."""
        first = self.uses[0]
        return self.form(first).text != self.form(first, fastmath=False).text

    def _writes_flags(self) -> bool:
        """Whether some op of the region has fast-math flags, whether or not the form is one with them."""
        flags = (op.properties.get("fastmath") for op in self.op.walk())
        return any(isinstance(each, FastMathFlagsAttr) and each.data for each in flags)

    @property
    def identity(self) -> str:
        """The recipe identity (law L5), in hexadecimal."""
        return self.form().identity

    @property
    def text(self) -> str:
        """The canonical text that the identity is the SHA-256 of."""
        return self.form().text

    @property
    def uses(self) -> tuple[str | None, ...]:
        """The element types to specialise at: the listed ones, or None for the written types."""
        return self.element_types or (None,)

    def signature(self, element_type: str | None) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """Element types of the arguments and of the results at an element type.

        A scalar slot has the type that the recipe computes at, as the literals of a program have.
        """
        written, slots = self.written_type, self.scalar_slots
        computed = self._computed_at(element_type)

        def at(type_: Attribute, follows: str | None) -> str:
            name = element_name(type_)
            return follows if follows is not None and name == written else name

        arguments = (at(t, computed if n in slots else element_type) for n, t in enumerate(self.argument_types))
        return tuple(arguments), tuple(at(type_, element_type) for type_ in self.result_types)

    def _computed_at(self, element_type: str | None) -> str | None:
        """The element type or the accumulator, whichever is wider."""
        wide = self.accumulator
        if element_type is None or wide is None or width(wide) <= width(element_type):
            return element_type
        return wide

    def element_type_for(self, dtypes: Sequence[str]) -> str | None:
        """The element type at which the recipe's signature is ``dtypes`` (arguments, then results).

        None stands for the written types. Raises `RecipeError` if there is none.
        """
        for element_type in self.uses:
            arguments, results = self.signature(element_type)
            if (*arguments, *results) == tuple(dtypes):
                return element_type
        known = "; ".join(spell_dtypes(*self.signature(each)) for each in self.uses)
        raise RecipeError(f"recipe @{self.name} has no form at ({', '.join(dtypes)}); it has {known}")

    def substitution(self, element_type: str | None) -> Mapping[str, str]:
        """What a form at an element type replaces in the written region."""
        written = self.written_type
        if element_type is None or written is None:
            return {}
        if element_type not in self.element_types:
            raise RecipeError(
                f"recipe @{self.name} is not for element type {element_type}; its element_types are "
                f"{', '.join(self.element_types)}"
            )
        return {written: element_type}

    def _read(
        self, element_type: str | None, fastmath: bool, shapes: tuple[Shape | None, ...] | None
    ) -> tuple[GraphBuilder, list[Value]]:
        written, substitution = self.written_type, self.substitution(element_type)
        storage: Mapping[str, str] = {}
        computed = self._computed_at(element_type)
        if written is not None and computed is not None and computed != substitution.get(written, computed):
            storage, substitution = substitution, {written: computed}
        return build_body(
            self.op,
            substitution=substitution,
            extents=self._core_extents(shapes),
            fastmath=fastmath,
            resources=resource_blobs(),
            storage=storage,
        )

    def _build(self, element_type: str | None, fastmath: bool, shapes: tuple[Shape | None, ...] | None) -> Form:
        written = self.written_type
        builder, results = self._read(element_type, fastmath, shapes)
        header: list[str] = []
        names: dict[str, str] = {}
        if element_type is None and written is not None:
            names = {written: "T"}
            ordered = [each for each in (*FLOATS, *INTEGERS) if each in self.element_types]
            header.append(f"T in {' '.join(ordered)}, written at {written}")
            header.extend([f"computed at {self.accumulator} or wider"] if self.accumulator is not None else [])
        graph, arguments = builder.graph, builder.argument_values
        flat = {n: shape for n in self.flat if shapes is not None and (shape := shapes[n]) is not None}
        if flat:
            graph, arguments, results = expand(graph, arguments, results, flat)
        elif element_type is None:
            header.extend(f"flatten %a{n}" for n in self.flat)
        return canonical_form(graph, arguments, results, type_names=names, header=header)

    def _core_extents(self, shapes: tuple[Shape | None, ...] | None) -> list[Shape | None] | None:
        """The extents of the core dimensions; a flattened one has as many elements as the whole operand."""
        if shapes is None:
            return None
        found: list[Shape | None] = list(shapes)
        for number in self.flat:
            shape = shapes[number]
            if shape is not None:
                known = [extent for extent in shape if extent is not None]
                found[number] = (math.prod(known) if len(known) == len(shape) else None,)
        return found


def spell_dtypes(arguments: Sequence[str], results: Sequence[str]) -> str:
    """A dtype tuple as people read it: ``(f32, f32) -> f32``."""
    right = results[0] if len(results) == 1 else f"({', '.join(results)})"
    return f"({', '.join(arguments)}) -> {right}"


def parse_recipes(text: str, name: str = "<text>") -> list[Recipe]:
    """All recipes of a text, in order; a library's name is their family, else their own.

    Raises `ParsingError` if the text is not MLIR or does not verify, `RecipeError` if it holds no recipe.
    """
    recipes = recipes_of(parse_module(text, name))
    if not recipes:
        raise RecipeError(f"{name} holds no xfuse.recipe")
    return recipes


def recipes_of(module: Operation) -> list[Recipe]:
    """All recipes defined in a module, in order."""
    found: list[Recipe] = []
    for op in definitions(module):
        if isinstance(op, RecipeOp):
            parent = op.parent_op()
            family = parent.sym_name.data if isinstance(parent, LibraryOp) else op.sym_name.data
            found.append(Recipe(op, family))
    return found


def definitions(module: Operation) -> Iterator[Operation]:
    """The ops that stand in a module, or in modules and libraries within it, in order."""
    pending = [module]
    while pending:
        op = pending.pop()
        if op is not module:
            yield op
        if op is module or isinstance(op, ModuleOp | LibraryOp):
            inner = [each for region in op.regions for block in region.blocks for each in block.ops]
            pending.extend(reversed(inner))
