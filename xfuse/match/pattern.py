"""Recipes prepared for matching: what a place in a program must look like."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import combinations

from xfuse.canonical.extents import extent_values
from xfuse.canonical.form import Form
from xfuse.canonical.graph import Graph, Node, is_commutative
from xfuse.errors import XfuseError
from xfuse.primitives.table import PRIMITIVES
from xfuse.recipes import Recipe
from xfuse.signature import signature_of
from xfuse.specialisation import reads_extents, unit_shapes

INNER, LITERAL = -1, -2


@dataclass(frozen=True)
class Pattern:
    """A recipe at one element type, prepared for matching."""

    recipe: Recipe
    element_type: str | None
    form: Form
    roots: tuple[int, ...]
    anchor: int
    interior: tuple[int, ...]
    """Nodes that are neither arguments nor literals nor extents."""
    computed: tuple[int, ...]
    """Those of them that depend on an argument: two iotas of a recipe may be one value of a program."""
    literals: tuple[int, ...]
    cone: tuple[int, ...]
    """The nodes that its anchor is computed from, arguments and extents aside."""
    heights: Mapping[int, int]
    """How many references the longest way down from a node has; a program may lack what is below extents."""
    gain: float
    arguments: Mapping[int, int]
    slots: frozenset[int]
    dtypes: tuple[str, ...]
    has_core: bool
    extents: frozenset[int]
    """Nodes computed from extents alone: a program of static shapes has a literal there."""
    below: Sequence[Sequence[int]]
    """For each node those that it refers to; none for extents, which are found whatever they are computed from."""
    commutative: frozenset[int]
    """Nodes whose two operands may be swapped (rule R2)."""
    roles: Mapping[int, int] | None
    """For each node the number of the argument that it is, else `INNER` or `LITERAL`.

    None unless the pattern is plain: it has one result, no core dimensions, no extents and no fast-math flags.
    """
    unit: int
    """How many core dimensions have extent one."""

    @staticmethod
    @lru_cache(maxsize=4096)
    def of(recipe: Recipe, element_type: str | None, unit: tuple[str, ...] = ()) -> Pattern:
        """The pattern of a recipe. Its anchor is the result with the largest cone.

        ``unit`` names core dimensions of extent one: a division by such an extent is no division (see `folds`).
        """
        form = recipe.form(element_type, shapes=unit_shapes(recipe, unit) if unit else None)
        roots = tuple(result.node for result in form.results)
        cones = [len(form.graph.reachable([root])) for root in roots]
        anchor = cones.index(max(cones))
        arguments = {argument.node: number for number, argument in enumerate(form.arguments)}
        nodes = form.graph.nodes
        extents = frozenset(number for number, known in enumerate(extent_values(form.graph)) if known)
        reachable = _reachable(form.graph, roots, extents)
        leaves = {"argument", "constant"}
        interior = tuple(n for n in reachable if nodes[n].kind not in leaves and n not in extents)
        dependent = set(arguments)
        for number in reachable:
            if not dependent.isdisjoint(reference.node for reference in nodes[number].references):
                dependent.add(number)
        cone = _reachable(form.graph, roots[anchor : anchor + 1], extents)
        has_flags = any(name == "fastmath" for n in interior for name, _ in nodes[n].attributes)
        is_plain = recipe.is_scalar and len(roots) == 1 and not extents and not has_flags
        below = [
            () if number in extents else tuple(reference.node for reference in node.references)
            for number, node in enumerate(nodes)
        ]
        return Pattern(
            recipe,
            element_type,
            form,
            roots,
            anchor,
            interior,
            tuple(n for n in interior if n in dependent),
            tuple(n for n in reachable if nodes[n].kind == "constant"),
            tuple(n for n in cone if nodes[n].kind != "argument" and n not in extents),
            _heights(form.graph, reachable, extents),
            sum(PRIMITIVES[nodes[n].kind].cost if nodes[n].kind in PRIMITIVES else 1.0 for n in interior),
            arguments,
            frozenset(recipe.scalar_slots),
            sum(recipe.signature(element_type), ()),
            not recipe.is_scalar,
            extents,
            below,
            frozenset(n for n, node in enumerate(nodes) if len(below[n]) == 2 and is_commutative(node)),
            _roles(nodes, reachable, arguments) if is_plain else None,
            len(unit),
        )

    @property
    def is_searchable(self) -> bool:
        """Whether every result is computed, and every argument and every result but once."""
        kinds = [self.nodes[root].kind for root in self.roots]
        used = set(self.form.graph.reachable(self.roots))
        return (
            not {"argument", "constant", "dense"}.intersection(kinds)
            and len(set(self.roots)) == len(self.roots)
            and used.issuperset(self.arguments)
        )

    @property
    def height(self) -> int:
        """The height of the node that the search starts at."""
        return self.heights[self.roots[self.anchor]]

    @property
    def nodes(self) -> list[Node]:
        """Nodes of the recipe's graph."""
        return self.form.graph.nodes

    @property
    def kind(self) -> str:
        """Kind of the node that the search starts at."""
        return self.nodes[self.roots[self.anchor]].kind

    @property
    def size(self) -> int:
        """How many nodes are neither arguments nor literals."""
        return len(self.interior)


@lru_cache(maxsize=4096)
def patterns_of(recipe: Recipe, element_type: str | None) -> Sequence[Pattern]:
    """The patterns of a recipe at an element type: one, and those at extents of one where these make a difference."""
    found = [Pattern.of(recipe, element_type)]
    if recipe.is_scalar or not reads_extents(recipe):
        return found
    texts = {found[0].form.text}
    names = signature_of(recipe).names
    for count in range(1, len(names) + 1):
        for unit in combinations(names, count):
            try:
                pattern = Pattern.of(recipe, element_type, unit)
            except XfuseError:  # there is no such recipe at these extents
                continue
            if pattern.form.text not in texts and pattern.is_searchable:
                texts.add(pattern.form.text)
                found.append(pattern)
    return found


@lru_cache(maxsize=4096)
def dtypes_of_uses(recipe: Recipe) -> Sequence[tuple[str | None, tuple[str, ...]]]:
    """The element types that a recipe is for, with the dtypes of its arguments and results."""
    return [(use, sum(recipe.signature(use), ())) for use in recipe.uses]


def _reachable(graph: Graph, roots: Iterable[int], leaves: Collection[int]) -> list[int]:
    """The nodes in the cones of some roots, not looking below some of them, ascending."""
    seen: set[int] = set()
    stack = list(roots)
    while stack:
        number = stack.pop()
        if number not in seen:
            seen.add(number)
            if number not in leaves:
                stack.extend(reference.node for reference in graph.nodes[number].references)
    return sorted(seen)


def _heights(graph: Graph, numbers: Sequence[int], leaves: Collection[int]) -> Mapping[int, int]:
    heights: dict[int, int] = {}
    for number in numbers:
        below = (reference.node for reference in graph.nodes[number].references)
        heights[number] = 0 if number in leaves else 1 + max((heights[each] for each in below), default=-1)
    return heights


def _roles(nodes: Sequence[Node], reachable: Iterable[int], arguments: Mapping[int, int]) -> Mapping[int, int]:
    return {n: arguments.get(n, LITERAL if nodes[n].kind == "constant" else INNER) for n in reachable}


def nodes_agree(target: Node, node: Node) -> bool:
    """Whether a program's node is the recipe's, operands aside: kind, types and every attribute (rule R6).

    Fast-math flags of the program may be a superset of the recipe's.
    """
    if target.kind != node.kind or target.element_type != node.element_type:
        return False
    if len(target.references) != len(node.references):
        return False
    if target.attributes == node.attributes:
        return True
    wanted, found = dict(target.attributes), dict(node.attributes)
    return _flags(wanted) <= _flags(found) and wanted == found


def _flags(attributes: dict[str, object]) -> set[str]:
    """Take the fast-math flags out of a node's attributes."""
    return set(str(attributes.pop("fastmath", "")).split(",")) - {""}


def core_nodes_agree(target: Node, node: Node) -> bool:
    """`nodes_agree` for a recipe with core dimensions: extents may differ, and so may what is computed of them."""
    if target.kind != node.kind or target.element_type != node.element_type:
        return False
    if target.kind in PRIMITIVES:
        return nodes_agree(target, node)
    wanted, found = dict(target.attributes), dict(node.attributes)
    if not _flags(wanted) <= _flags(found):
        return False
    return wanted.keys() == found.keys() and all(name in _OF_EXTENTS or wanted[name] == found[name] for name in wanted)


_OF_EXTENTS = frozenset({"bound", "repeated", "groups", "axes", "parts", "extent", "argument", "axis"})
"""Attributes that say how far indices run, and over how many of them."""
