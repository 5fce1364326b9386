"""Validation at registration: refusing whatever can never work, before anything is stored."""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from xdsl.utils.exceptions import VerifyException

from xfuse.canonical.build import element_name
from xfuse.canonical.closing import argument_extents
from xfuse.canonical.form import Form
from xfuse.canonical.graph import BOUND, Node, op_name
from xfuse.errors import RecipeError, ShapeError, XfuseError
from xfuse.parser import spell_failure
from xfuse.primitives.element_types import FLOATS, INTEGERS, width
from xfuse.primitives.table import PRIMITIVES
from xfuse.recipes import Recipe
from xfuse.shapes.resolve import check_for_all_shapes
from xfuse.signature import core_signature, named_signature
from xfuse_dialects.xfuse import ACCUMULATOR, FLATTEN, FusedOp


def validate(recipe: Recipe, *, ops: bool = True) -> None:
    """Refuse whatever can never work; what depends on the operands' shapes is left to them.

    With ``ops=False`` each op is taken for well-formed, as those are that this package writes. Raises `RecipeError`
    that says what was found, where, and which element type was tried.
    """
    name = recipe.name
    if not name:
        raise RecipeError("a recipe needs a name; this one's is empty")
    if ops:
        _check_ops(recipe)
    if not recipe.argument_types:
        raise RecipeError(f"recipe @{name} has no arguments; a constant is no recipe")
    _check_element_types(recipe)
    _check_accumulator(recipe)
    try:
        form = recipe.form()
        _check_use(recipe, form)
        _check_signature(recipe, form)
        _check_shapes(recipe, form)
        _check_flat(recipe, form)
        named_signature(recipe)
        for element_type in recipe.uses:
            _check_types(recipe, element_type)
    except RecipeError:
        raise
    except XfuseError as error:
        raise RecipeError(f"recipe @{name} has no form: {error}") from error


def check_references(recipes: Sequence[Recipe], by_name: Mapping[str, Recipe]) -> None:
    """Refuse recipes whose nested fused ops name one another in a circle. ``by_name`` has all recipes, new ones too."""
    done: set[str] = set()
    for recipe in recipes:
        path: dict[str, Iterator[str]] = {recipe.name: iter(_labels(by_name.get(recipe.name, recipe)))}
        while path:
            last = next(reversed(path))
            label = next(path[last], None)
            if label is None:
                done.add(last)
                del path[last]
            elif label in path:
                circle = " -> ".join(f"@{each}" for each in [*list(path)[list(path).index(label) :], label])
                raise RecipeError(f"recipe @{recipe.name} refers to itself (law L1): {circle}")
            elif label not in done and label in by_name:
                path[label] = iter(_labels(by_name[label]))


def _labels(recipe: Recipe) -> list[str]:
    """The names of recipes that a region's fused ops are said to be instances of."""
    found = (op.label for op in recipe.op.body.walk() if isinstance(op, FusedOp))
    return list(dict.fromkeys(label for label in found if label is not None))


# Ops


def _check_ops(recipe: Recipe) -> None:
    """Each op is well-formed: an op that is not parsed text has perhaps not been verified yet."""
    try:
        recipe.op.verify()
    except VerifyException as error:
        raise RecipeError(f"recipe @{recipe.name} does not verify: {str(error).strip()}") from error
    except Exception as error:  # xDSL's verifiers fail in many ways on what they do not expect
        raise RecipeError(f"recipe @{recipe.name} does not verify: {spell_failure(error, recipe.op)}") from error


def _check_shapes(recipe: Recipe, form: Form) -> None:
    """No op is bound to fail whatever the extents are."""
    try:
        check_for_all_shapes(recipe, form)
    except ShapeError as error:
        raise RecipeError(f"recipe @{recipe.name} fits operands of no shape: {error}") from error


# Function and signature


def _check_use(recipe: Recipe, form: Form) -> None:
    """Every argument is used, every result is computed, and no result is given twice."""
    name, nodes = recipe.name, form.graph.nodes
    order = form.graph.reachable(result.node for result in form.results)
    for number in order:
        if nodes[number].kind == "opaque" and op_name(nodes[number]) == "arith.constant":
            raise RecipeError(f"recipe @{name} holds a constant without a value: {form.graph.reasons.get(number)}")
    reachable = set(order)
    sized = {argument for node in order for argument, _ in argument_extents(nodes[node])}
    for number, argument in enumerate(form.arguments):
        if argument.node in reachable:
            continue
        if number in sized:
            raise RecipeError(
                f"recipe @{name} uses only the extents of its argument {number}; pass them as scalars, or use its "
                "values"
            )
        raise RecipeError(f"recipe @{name} does not use its argument {number}; drop it or use it")
    for number, result in enumerate(form.results):
        kind = nodes[result.node].kind
        if kind == "argument":
            raise RecipeError(f"recipe @{name} gives one of its arguments back as result {number}: nothing to fuse")
        if kind in ("constant", "dense"):
            raise RecipeError(f"result {number} of recipe @{name} is a constant: nothing to fuse")
    if len({result.node for result in form.results}) != len(form.results):
        raise RecipeError(f"recipe @{name} gives one value as two results; give it once")


def _check_signature(recipe: Recipe, form: Form) -> None:
    """Every axis must be a core dimension: a recipe is written at its core rank and loops over everything else."""
    closing = form.closing
    for kind, values in (("argument", form.arguments), ("result", form.results)):
        for number, value in enumerate(values):
            core = {value.index[parameter] for parameter in closing.core_parameters(value.node)}
            loops = [axis for axis, extent in enumerate(value.extents) if axis not in core and extent != 1]
            if loops:
                raise RecipeError(
                    f"recipe @{recipe.name} has a loop dimension, axis {loops[0]} of {kind} {number}; write it at its "
                    f"core rank, by its normal signature {_core_text(form)}: it loops over all other dimensions anyway"
                )


def _core_text(form: Form) -> str:
    """The signature that is left without loop dimensions."""
    names: dict[int, str] = {}
    closing = form.closing

    def dimensions(node: int) -> str:
        found = [closing.find(node, parameter) for parameter in closing.core_parameters(node)]
        return f"({','.join(names.setdefault(each, 'nmkpqrst'[len(names) % 8]) for each in found)})"

    left, right = (",".join(dimensions(value.node) for value in values) for values in (form.arguments, form.results))
    return f"{left}->{right}"


def _check_flat(recipe: Recipe, form: Form) -> None:
    """A flattened dimension has no order of its own: ops may compute point by point along it, or reduce it."""
    if not recipe.flat:
        return
    signature, closing = core_signature(form), form.closing
    flat = {signature.arguments[number][0] for number in recipe.flat}
    for number, names in enumerate(signature.arguments):
        if number not in recipe.flat and flat & set(names):
            raise RecipeError(
                f"recipe @{recipe.name}: argument {number} has the dimension that argument {recipe.flat[0]} flattens; "
                f"mark it '{FLATTEN}' too"
            )
    for number, names in enumerate(signature.results):
        if flat & set(names):
            raise RecipeError(f"recipe @{recipe.name}: result {number} has a flattened dimension; reduce it")
    classes = {closing.find(form.arguments[number].node, 0) for number in recipe.flat}
    for number in closing.order:
        node = form.graph.nodes[number]
        if node.kind in PRIMITIVES or node.kind in ("argument", "reduce", "extent"):
            continue
        along = [closing.find(number, parameter) for parameter in range(node.rank)]
        along += [
            closing.find(reference.node, parameter)
            for reference in node.references
            for parameter, axis in enumerate(reference.index)
            if axis >= BOUND
        ]
        if classes & set(along):
            raise RecipeError(
                f"recipe @{recipe.name}: '{node.kind}' takes a flattened dimension by its index; only point-wise ops "
                "and reductions by one commutative op may run along it"
            )
    shapes = [(None, None) if number in recipe.flat else None for number in range(len(form.arguments))]
    recipe.form(recipe.uses[0], shapes=shapes)


# Element types


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


def _check_accumulator(recipe: Recipe) -> None:
    """The mark speaks of the whole recipe: all arguments of its own element type have it, and it widens some use."""
    name, written = recipe.name, recipe.written_type
    marks = [recipe.op.marks(number).get(ACCUMULATOR) for number in range(len(recipe.argument_types))]
    found = dict.fromkeys(element_name(mark) for mark in marks if mark is not None)
    if not found:
        return
    if written is None:
        raise RecipeError(f"recipe @{name} has '{ACCUMULATOR}' but no element_types: its types are as written")
    if len(found) > 1:
        raise RecipeError(f"recipe @{name} has two accumulators, {' and '.join(found)}; expected one")
    (wide,) = found
    if wide not in FLOATS or written not in FLOATS:
        raise RecipeError(
            f"recipe @{name} is for element types {', '.join(recipe.element_types)} and accumulates in {wide}; "
            "expected floats"
        )
    for number, (mark, type_) in enumerate(zip(marks, recipe.argument_types, strict=True)):
        own = element_name(type_) == written
        if own and mark is None:
            raise RecipeError(
                f"recipe @{name}: argument {number} lacks the mark '{ACCUMULATOR} = {wide}' that others have"
            )
        if not own and mark is not None:
            raise RecipeError(
                f"recipe @{name}: argument {number} has '{ACCUMULATOR}' but is of type {type_}, which is not the "
                f"recipe's element type {written}"
            )
    if all(width(each) >= width(wide) for each in recipe.element_types):
        raise RecipeError(
            f"recipe @{name} accumulates in {wide}, which none of its element types {', '.join(recipe.element_types)} "
            "is narrower than; drop the mark"
        )


def _check_types(recipe: Recipe, element_type: str | None) -> None:
    """Each scalar op takes and gives types that its row in the table of primitives has."""
    form = recipe.form(element_type)
    for node in form.graph.nodes:
        problem = type_problem(form, node)
        if problem is not None:
            where = "" if element_type is None else f" at element type {element_type}"
            raise RecipeError(f"recipe @{recipe.name}{where}: '{node.kind}' {problem}")


def type_problem(form: Form, node: Node) -> str | None:
    """What is wrong with the element types of a scalar op's node, or None."""
    primitive = PRIMITIVES.get(node.kind)
    if primitive is None:
        return None
    types = tuple(form.graph.nodes[reference.node].element_type for reference in node.references)
    results = list(primitive.types.results_of(types, node.element_type))
    which: Any = dict(node.attributes).get("result", 0)
    results[which] = node.element_type
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
