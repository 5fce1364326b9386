"""Recipes: definitions at their written types, specialised to the element type at hand."""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from xdsl.dialects.builtin import ShapedType
from xdsl.ir import Attribute, Operation
from xdsl.utils.exceptions import VerifyException

from xfuse.canonical.build import build_body, element_name
from xfuse.canonical.form import Form, canonical_form
from xfuse.canonical.graph import Node, Value
from xfuse.errors import RecipeError, XfuseError
from xfuse.parser import parse_module, resource_blobs
from xfuse.primitives.element_types import FLOATS, INTEGERS, width
from xfuse.primitives.table import PRIMITIVES
from xfuse_dialects.xfuse import FLATTEN, SCALAR, LibraryOp, RecipeOp


@dataclass(frozen=True, repr=False)
class Recipe:
    """A function over element or core-dimension values, given by the region of an ``xfuse.recipe``.

    ``family`` groups bodies of one mathematical function. Two recipes are equal if they are the same object;
    `identity` says whether they are the same function.
    """

    op: RecipeOp
    family: str
    _forms: dict[tuple[str | None, bool], Form] = field(
        default_factory=dict[tuple[str | None, bool], Form], init=False, compare=False, repr=False
    )

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

    def form(self, element_type: str | None = None, *, fastmath: bool = True) -> Form:
        """The canonical form at an element type, or, without one, that of the polymorphic recipe.

        Raises `RecipeError` if the recipe is not for that element type.
        """
        form = self._forms.get((element_type, fastmath))
        if form is None:
            form = self._forms[element_type, fastmath] = self._build(element_type, fastmath)
        return form

    @property
    def has_flags(self) -> bool:
        """Whether some op of the recipe carries fast-math flags."""
        first = self.uses[0]
        return self.form(first).text != self.form(first, fastmath=False).text

    def is_instance(self, form: Form) -> bool:
        """Whether a region is this recipe at some element type, given its form.

        The form must be built without fast-math flags, as flags beyond the recipe's do not count (rule R6), unless the
        recipe `has_flags` itself.
        """
        return any(self.form(each, fastmath=self.has_flags).text == form.text for each in self.uses)

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
        """Element types of the arguments and of the results at an element type."""
        written = self.written_type

        def at(type_: Attribute) -> str:
            name = element_name(type_)
            return element_type if element_type is not None and name == written else name

        return tuple(map(at, self.argument_types)), tuple(map(at, self.result_types))

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

    def _build(self, element_type: str | None, fastmath: bool) -> Form:
        written = self.written_type
        builder, results = build_body(
            self.op, substitution=self.substitution(element_type), fastmath=fastmath, resources=resource_blobs()
        )
        header: list[str] = []
        names: dict[str, str] = {}
        if element_type is None and written is not None:
            names = {written: "T"}
            ordered = [each for each in (*FLOATS, *INTEGERS) if each in self.element_types]
            header.append(f"T in {' '.join(ordered)}, written at {written}")
        header.extend(f"flatten %a{n}" for n in range(len(self.argument_types)) if FLATTEN in self.op.marks(n))
        return canonical_form(builder.graph, builder.argument_values, results, type_names=names, header=header)


def op_name(node: Node) -> str:
    """The name of the op that a node stands for, as messages show it."""
    name = dict(node.attributes).get("op", node.kind) if node.kind == "opaque" else node.kind
    return str(name[0] if isinstance(name, tuple) else name)  # type: ignore[index]


def spell_dtypes(arguments: Sequence[str], results: Sequence[str]) -> str:
    """A dtype tuple as people read it: ``(f32, f32) -> f32``."""
    right = results[0] if len(results) == 1 else f"({', '.join(results)})"
    return f"({', '.join(arguments)}) -> {right}"


def validate(recipe: Recipe) -> None:
    """Refuse whatever can never work: law L5's and section R's rules at registration.

    Raises `RecipeError` that says what was found, where, and which element type was tried.
    """
    op, name = recipe.op, recipe.name
    try:
        op.verify()
    except VerifyException as error:
        raise RecipeError(f"recipe @{name} does not verify: {str(error).strip()}") from error
    if not recipe.argument_types:
        raise RecipeError(f"recipe @{name} has no arguments; a constant is no recipe")
    _check_element_types(recipe)
    try:
        _check_forms(recipe)
    except RecipeError:
        raise
    except XfuseError as error:
        raise RecipeError(f"recipe @{name} has no form: {error}") from error


def _check_forms(recipe: Recipe) -> None:
    name, form = recipe.name, recipe.form()
    _check_signature(recipe, form)
    reachable = set(form.graph.reachable(result.node for result in form.results))
    for number, argument in enumerate(form.arguments):
        if argument.node not in reachable:
            raise RecipeError(f"recipe @{name} does not use its argument {number}; drop it or use it")
    for number, result in enumerate(form.results):
        kind = form.graph.nodes[result.node].kind
        if kind == "argument":
            raise RecipeError(f"recipe @{name} gives one of its arguments back as result {number}: nothing to fuse")
        if kind in ("constant", "dense"):
            raise RecipeError(f"result {number} of recipe @{name} is a constant: nothing to fuse")
    if len({result.node for result in form.results}) != len(form.results):
        raise RecipeError(f"recipe @{name} gives one value as two results; give it once")
    for element_type in recipe.uses:
        for node in recipe.form(element_type).graph.nodes:
            problem = type_problem(recipe.form(element_type), node)
            if problem is not None:
                where = "" if element_type is None else f" at element type {element_type}"
                raise RecipeError(f"recipe @{name}{where}: '{node.kind}' {problem}")


def _check_signature(recipe: Recipe, form: Form) -> None:
    """Every axis must be a core dimension: a recipe is written at its core rank and loops over everything else."""
    names: dict[int, str] = {}
    closing = form.closing

    def dimensions(value: Value) -> str:
        found = [closing.find(value.node, p) for p in closing.core_parameters(value.node)]
        return "(" + ",".join(names.setdefault(each, "nmkpqrst"[len(names) % 8]) for each in found) + ")"

    left, right = (",".join(map(dimensions, values)) for values in (form.arguments, form.results))
    for kind, values in (("argument", form.arguments), ("result", form.results)):
        for number, value in enumerate(values):
            core = {value.index[parameter] for parameter in closing.core_parameters(value.node)}
            loops = [axis for axis, extent in enumerate(value.extents) if axis not in core and extent != 1]
            if loops:
                raise RecipeError(
                    f"recipe @{recipe.name} has a loop dimension, axis {loops[0]} of {kind} {number}; write it at its "
                    f"core rank, by its normal signature {left}->{right}: it loops over all other dimensions anyway"
                )


def _check_element_types(recipe: Recipe) -> None:
    listed, name = recipe.element_types, recipe.name
    if not listed:
        return
    if len(set(listed)) != len(listed):
        raise RecipeError(f"recipe @{name} lists an element type twice: {', '.join(listed)}")
    if not (set(listed) <= set(FLOATS) or set(listed) <= set(INTEGERS)):
        raise RecipeError(
            f"recipe @{name} lists element types {', '.join(listed)}; expected only floats or only integers among "
            f"{', '.join((*FLOATS, *INTEGERS))}"
        )
    written = recipe.written_type
    if written not in {element_name(each) for each in recipe.argument_types}:
        raise RecipeError(
            f"recipe @{name} must be written at {written}, the widest of its element_types, but no argument has "
            "that element type"
        )


def type_problem(form: Form, node: Node) -> str | None:
    """What is wrong with the element types of a scalar op's node, or None."""
    primitive = PRIMITIVES.get(node.kind)
    if primitive is None:
        return None
    types = tuple(form.graph.nodes[reference.node].element_type for reference in node.references)
    results = [node.element_type]
    if len(primitive.types.results) > 1:
        results = [types[0], "i1" if primitive.types.results[1] == "B" else types[0]]
        results[dict(node.attributes)["result"]] = node.element_type  # type: ignore[index]
    problem = primitive.types.check(types, results)
    if problem is not None or node.kind not in _WIDTHS_RELATE or not {types[0], results[0]} <= {*FLOATS, *INTEGERS}:
        return problem
    relation, fits = _WIDTHS_RELATE[node.kind]
    if fits(width(results[0]), width(types[0])):
        return None
    return f"cannot go from {types[0]} to {results[0]}, which must be {relation}"


_WIDTHS_RELATE: dict[str, tuple[str, Callable[[int, int], bool]]] = {
    **dict.fromkeys(("arith.extf", "arith.extsi", "arith.extui"), ("wider", operator.gt)),
    **dict.fromkeys(("arith.truncf", "arith.trunci"), ("narrower", operator.lt)),
    "arith.bitcast": ("as wide", operator.eq),
}
"""Casts between types of certain widths only, as MLIR's verifier has it."""


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
    for op in module.walk():
        if isinstance(op, RecipeOp):
            parent = op.parent_op()
            family = parent.sym_name.data if isinstance(parent, LibraryOp) else op.sym_name.data
            found.append(Recipe(op, family))
    return found
