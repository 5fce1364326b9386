"""Writing a function as the definition of a recipe, at its core rank."""

from __future__ import annotations

from xdsl.dialects.builtin import DYNAMIC_INDEX, TensorType
from xdsl.ir import Attribute, Block, Region

from xfuse.canonical.core import at_core_rank
from xfuse.canonical.form import Form
from xfuse.canonical.graph import Value
from xfuse.emission.scalars import type_named
from xfuse.emission.writer import Emission
from xfuse_dialects.xfuse import RecipeOp, YieldOp


def define(form: Form, name: str, attributes: dict[str, Attribute] | None = None) -> RecipeOp:
    """The ``xfuse.recipe`` of a form, for its own element types: scalars and tensors of its core dimensions.

    Raises `UnsupportedError` for a function that cannot be written at its core rank.
    """
    graph, arguments, results = at_core_rank(form)
    types = [_type(graph.nodes[value.node].element_type, value) for value in arguments]
    block = Block(arg_types=types)
    for number, argument in enumerate(block.args):
        argument.name_hint = f"a{number}"
    ops, values = Emission(graph, arguments, results, block.args, fused=True).make(
        [not value.extents for value in results]
    )
    block.add_ops([*ops, YieldOp(values)])
    return RecipeOp(name, Region(block), attributes=attributes)


def _type(element_type: str, value: Value) -> Attribute:
    element = type_named(element_type)
    if not value.extents:
        return element
    return TensorType(element, [each if isinstance(each, int) else DYNAMIC_INDEX for each in value.extents])
