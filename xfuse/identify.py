"""Identity for people: what a recipe, a fused op or a function is, by content (law L5)."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass

from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp
from xdsl.ir import Operation

from xfuse.canonical.build import GraphBuilder, build_body
from xfuse.canonical.form import Form, canonical_form
from xfuse.collector import paused_collector
from xfuse.errors import UnsupportedError
from xfuse.parser import parse_module, resource_blobs
from xfuse.recipes import Recipe, recipes_of
from xfuse_dialects.xfuse import FusedOp, LibraryOp, RecipeOp


@dataclass(frozen=True)
class Identity:
    """``recipe`` and ``instance`` are SHA-256 in hexadecimal, over ``text`` and over the text with core extents."""

    name: str
    recipe: str
    instance: str
    text: str


def instance_text(form: Form) -> str:
    """What an instance key is the SHA-256 of: the text of a form, the extents of its core dimensions, and its views.

    A view says which axes of arguments and results lie along one another: ``c0`` a core dimension, ``l0`` a loop
    dimension, ``1`` an axis of extent one or one along which the value does not vary.
    """
    lines: list[str] = []
    for number, argument in enumerate(form.arguments):
        for position, parameter in enumerate(form.closing.core_parameters(argument.node)):
            extent = argument.extents[parameter]
            lines.append(f"extent %a{number} {position} = {extent if isinstance(extent, int) else '?'}")
    return form.text + "".join(f"{line}\n" for line in (*lines, *_views(form)))


def _views(form: Form) -> Iterator[str]:
    closing, names = form.closing, dict[int, str]()
    counts = {"c": 0, "l": 0}
    for kind, values in (("%a", form.arguments), ("result ", form.results)):
        for number, value in enumerate(values):
            axes = ["1"] * len(value.extents)
            for parameter, axis in enumerate(value.index):
                if axis >= 0:
                    found = closing.find(value.node, parameter)
                    if found not in names:
                        letter = "c" if closing.is_core(value.node, parameter) else "l"
                        names[found] = f"{letter}{counts[letter]}"
                        counts[letter] += 1
                    axes[axis] = names[found]
            if axes:
                yield f"view {kind}{number} = ({', '.join(axes)})"


def identity(subject: Recipe | Operation | str) -> Identity:
    """The identity of a recipe, an op (``xfuse.recipe``, ``xfuse.fused``, ``func.func``) or the text of one.

    A text or module must hold one recipe, or else one function. Raises `ParsingError` for text that is not MLIR and
    `UnsupportedError` for an op that has no identity.
    """
    found = identities(subject)
    if len(found) != 1:
        names = ", ".join(each.name for each in found) or "nothing"
        raise UnsupportedError(f"expected one recipe or one function, got {names}; name one of them")
    return found[0]


def identities(subject: Recipe | Operation | str) -> list[Identity]:
    """The identities of everything in a module: of its recipes, or, without any, of its functions."""
    if isinstance(subject, str):
        subject = parse_module(subject)
    if isinstance(subject, Recipe):
        return [_of_recipe(subject)]
    if isinstance(subject, RecipeOp):
        return [_of_recipe(Recipe(subject, subject.sym_name.data))]
    if isinstance(subject, FusedOp):
        return [_named(subject.label or "fused", body_form(subject))]
    if isinstance(subject, FuncOp):
        return [_named(subject.sym_name.data, function_form(subject))]
    if isinstance(subject, ModuleOp | LibraryOp):
        recipes = recipes_of(subject)
        if recipes:
            return [_of_recipe(recipe) for recipe in recipes]
        return [
            _named(op.sym_name.data, function_form(op))
            for op in subject.walk()
            if isinstance(op, FuncOp) and op.body.blocks
        ]
    raise UnsupportedError(
        f"'{subject.name}' has no identity; expected xfuse.recipe, xfuse.fused, func.func or a module of them"
    )


def _of_recipe(recipe: Recipe) -> Identity:
    instance = recipe.form(recipe.written_type)
    return Identity(recipe.name, recipe.identity, _sha(instance_text(instance)), recipe.text)


def _named(name: str, form: Form) -> Identity:
    return Identity(name, form.identity, _sha(instance_text(form)), form.text)


def _sha(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def body_form(op: FusedOp, *, fastmath: bool = True) -> Form:
    """The form of a fused op's region at its own types and extents."""
    builder, results = build_body(op, fastmath=fastmath, resources=resource_blobs())
    return canonical_form(builder.graph, builder.argument_values, results)


def function_form(op: FuncOp) -> Form:
    """The form of a function of one block; fused ops in it count as their regions."""
    if len(op.body.blocks) != 1:
        raise UnsupportedError(
            f"func.func @{op.sym_name.data} has {len(op.body.blocks)} blocks; only functions of one block have a form"
        )
    with paused_collector():
        builder = GraphBuilder(resources=resource_blobs())
        for argument in op.body.block.args:
            builder.argument(argument)
        results = builder.block(op.body.block)
        if builder.effects:
            name, effect = op.sym_name.data, builder.effects[0].name
            raise UnsupportedError(f"func.func @{name} has no identity: '{effect}' has effects, or may have some")
        return canonical_form(builder.graph, builder.argument_values, results)
