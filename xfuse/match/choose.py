"""All matches of some recipes in a module, the choice among overlapping ones (rule R7), and their application."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice

from xdsl.dialects.linalg.ops import GenericOp
from xdsl.ir import Block, Operation, SSAValue

from xfuse.editing import Editor
from xfuse.errors import UnsupportedError
from xfuse.match.extract import Extraction, carriers_of, extract
from xfuse.match.program import LEAF_REGIONS, Program, backward_slice, program_blocks
from xfuse.match.refusal import Refusal, describe
from xfuse.match.search import Attempt, Pattern, Search
from xfuse.primitives.table import PRIMITIVES
from xfuse.recipes import Recipe
from xfuse_dialects.xfuse import FusedOp

_ALTERNATIVES = 8
"""Bindings tried at one root before the first refusal stands."""

Gate = Callable[[Recipe, Sequence[str]], str | None]
"""The backend that has a row for a recipe at a dtype tuple, or None: only then may the recipe be fused (law L4)."""


@dataclass(frozen=True)
class Match:
    """A place where a recipe was found, not yet rewritten.

    ``extraction`` names the ops; ``scalars`` are the SSA values of the recipe's scalar slots, in argument order.
    """

    recipe: Recipe
    element_type: str | None
    backend: str
    extraction: Extraction
    rank: tuple[int, float, int, int, int]

    @property
    def ops(self) -> list[Operation]:
        """The ops that the fused op would replace, in program order."""
        return self.extraction.covered

    @property
    def scalars(self) -> tuple[SSAValue, ...]:
        """The constants bound to the recipe's scalar slots."""
        return self.extraction.slots


@dataclass
class Matches:
    """What a look at a module found: chosen matches, refusals, and how many matches lost to an overlapping one."""

    chosen: list[Match] = field(default_factory=list[Match])
    refusals: list[Refusal] = field(default_factory=list[Refusal])
    lost: int = 0


@dataclass
class PatternIndex:
    """Recipes by the kind and element type of the node that a search for them starts at; forms are built on demand."""

    recipes: Sequence[Recipe]
    _by_type: dict[str, dict[str, list[tuple[int, Pattern]]]] = field(
        default_factory=dict[str, dict[str, list[tuple[int, Pattern]]]]
    )

    def at(self, kind: str, element_type: str) -> Sequence[tuple[int, Pattern]]:
        """Patterns whose anchor is of this kind and type, with the number of their recipe."""
        if element_type not in self._by_type:
            self._by_type[element_type] = self._build(element_type)
        return self._by_type[element_type].get(kind, ())

    def _build(self, element_type: str) -> dict[str, list[tuple[int, Pattern]]]:
        found: dict[str, list[tuple[int, Pattern]]] = {}
        for number, recipe in enumerate(self.recipes):
            if not recipe.is_scalar:
                continue
            for use in recipe.uses:
                if element_type not in sum(recipe.signature(use), ()):
                    continue
                pattern = Pattern.of(recipe, use)
                root = pattern.nodes[pattern.roots[pattern.anchor]]
                if root.element_type == element_type:
                    found.setdefault(root.kind, []).append((number, pattern))
        return found


def find_matches(
    module: Operation, index: PatternIndex, gate: Gate, *, budget: int | None = None, explain: bool = True
) -> Matches:
    """All matches in a module, chosen so that no two overlap: most ops first, then gain, recipe and program order.

    Nothing is rewritten. Without ``explain`` roots that differ from the recipe's are not listed among the refusals. Raises `UnsupportedError` (law L8) if a value is used before its definition.
    """
    result = Matches()
    gate = _remembering(gate)
    for block in program_blocks(module):
        program = Program(block)
        if program.unordered is not None:
            raise UnsupportedError(f"(law L8) {describe(program.unordered)} reads a value before its definition")
        found = list(_in_program(program, index, gate, result, budget, explain))
        _choose(found, result)
    return result


def _remembering(gate: Gate) -> Gate:
    answers: dict[tuple[int, tuple[str, ...]], str | None] = {}

    def asked(recipe: Recipe, dtypes: Sequence[str]) -> str | None:
        key = (id(recipe), tuple(dtypes))
        if key not in answers:
            answers[key] = gate(recipe, dtypes)
        return answers[key]

    return asked


def matches_at(op: Operation, index: PatternIndex, gate: Gate) -> Match | None:
    """The best match whose anchor is a result of one op, or None. Looks only at what the op is computed from."""
    block = op.parent
    holder = None if block is None else block.parent_op()
    if block is None or not op.results:
        return None
    in_body = isinstance(holder, GenericOp)
    if isinstance(holder, LEAF_REGIONS) and not in_body:
        return None
    top = holder if in_body else op
    assert top is not None
    if top.parent is None:
        return None
    sizes = [len(recipe.form(use).graph.nodes) for recipe in index.recipes for use in recipe.uses]
    several = any(len(recipe.result_types) > 1 for recipe in index.recipes)
    ops = None if several else backward_slice(top, 16 + 6 * max(sizes, default=0))
    program = Program(top.parent, ops)
    order = {each: n for n, each in enumerate(block.ops)} if in_body else program.position
    found: list[Match] = []
    for ssa in op.results:
        value = program.value(ssa)
        if value is None or value.node < 0:
            continue
        node = program.graph.nodes[value.node]
        for number, pattern in index.at(node.kind, node.element_type):
            attempts = list(islice(Search(pattern, program).all_at(value.node), _ALTERNATIVES))
            match = _at_root(program, pattern, number, attempts, block, order, ssa, gate, int(in_body))
            if isinstance(match, Match):
                found.append(match)
    return min(found, key=lambda match: match.rank, default=None)


def _in_program(
    program: Program, index: PatternIndex, gate: Gate, result: Matches, budget: int | None, explain: bool
) -> Iterator[Match]:
    attempts: dict[tuple[int, int], list[Attempt]] = {}
    matched: set[tuple[int, int]] = set()
    refused: list[tuple[tuple[int, int], Refusal]] = []
    nodes = program.graph.nodes
    levels: list[tuple[Block, dict[Operation, int]]] = [(program.block, program.position)]
    levels.extend((body, {op: n for n, op in enumerate(body.ops)}) for body in program.bodies.values())
    for level, (block, order) in enumerate(levels):
        for ssa, value in carriers_of(program, block):
            node = nodes[value.node]
            for number, pattern in index.at(node.kind, node.element_type):
                if not explain and not pattern.is_plausible(node, nodes):
                    continue
                key = (id(pattern), value.node)
                if key in matched:
                    continue
                if key not in attempts:
                    search = Search(pattern, program, budget)
                    attempts[key] = list(islice(search.all_at(value.node), _ALTERNATIVES))
                    if not attempts[key] and explain:
                        attempts[key] = [Attempt(None, search.best, search.failure)]
                if not attempts[key]:
                    continue
                found = _at_root(program, pattern, number, attempts[key], block, order, ssa, gate, level)
                if isinstance(found, Match):
                    matched.add(key)
                    yield found
                elif found is not None:
                    refused.append((key, found))
    # A value may be carried both by a tensor and inside a body: one match of it is enough.
    result.refusals.extend(refusal for key, refusal in refused if key not in matched)


def _at_root(
    program: Program,
    pattern: Pattern,
    number: int,
    attempts: Sequence[Attempt],
    block: Block,
    order: dict[Operation, int],
    ssa: SSAValue,
    gate: Gate,
    level: int,
) -> Match | Refusal | None:
    first: Refusal | None = None
    recipe = pattern.recipe
    for attempt in attempts:
        if attempt.binding is None:
            first = first or _search_refusal(program, pattern, attempt, ssa)
            continue
        dtypes = sum(recipe.signature(pattern.element_type), ())
        backend = gate(recipe, dtypes)
        if backend is None:
            text = f"no kernel is bound or promised for ({', '.join(dtypes)})"
            owner = ssa.owner if isinstance(ssa.owner, Operation) else None
            first = Refusal(recipe.name, "L4", "no-kernel", text, owner, pattern.size)
            break
        extraction = extract(program, pattern, attempt.binding, block, order, ssa)
        if isinstance(extraction, Refusal):
            first = first or extraction
            continue
        gain = sum(PRIMITIVES[pattern.nodes[n].kind].cost for n in pattern.interior() if pattern.nodes[n].kind in PRIMITIVES)
        owner = ssa.owner
        assert isinstance(owner, Operation)
        rank = (-pattern.size, -gain, number, level, order[owner])
        return Match(recipe, pattern.element_type, backend, extraction, rank)
    return first


def _search_refusal(program: Program, pattern: Pattern, attempt: Attempt, ssa: SSAValue) -> Refusal:
    owner = ssa.owner if isinstance(ssa.owner, Operation) else None
    if attempt.exhausted:
        text = "the search took more steps than its budget allows"
        return Refusal(pattern.recipe.name, "R1", "budget", text, owner, attempt.best)
    text = "the ops differ from the recipe's"
    if attempt.failure is not None:
        wanted, found = attempt.failure
        target = pattern.nodes[wanted]
        text = f"expected {_spell(target)}"
        if found >= 0:
            text += f", found {_spell(program.graph.nodes[found])}"
    return Refusal(pattern.recipe.name, "R6", "mismatch", text, owner, attempt.best)


def _spell(node: object) -> str:
    from xfuse.canonical.graph import Node
    from xfuse.primitives import literals

    assert isinstance(node, Node)
    if node.kind == "constant":
        bits = node.attributes[0][1]
        assert isinstance(bits, int)
        return f"the literal {literals.spell(bits, node.element_type)} : {node.element_type}"
    attributes = "".join(f" {name} = {value}" for name, value in node.attributes if name != "number")
    return f"{node.kind}{attributes} : {node.element_type}"


def _choose(found: list[Match], result: Matches) -> None:
    taken: set[Operation] = set()
    opened: set[Operation] = set()
    for match in sorted(found, key=lambda each: each.rank):
        extraction = match.extraction
        holder = extraction.block.parent_op() if extraction.in_body else None
        if holder is not None:
            overlaps = holder in taken or any(op in taken for op in match.ops)
        else:
            overlaps = any(op in taken or op in opened for op in match.ops)
        if overlaps:
            result.lost += 1
            continue
        taken.update(match.ops)
        if holder is not None:
            opened.add(holder)
        result.chosen.append(match)


def apply(matches: Sequence[Match], editor: Editor | None = None) -> list[FusedOp]:
    """Rewrite chosen matches; returns the fused ops. Ops that only fed the matches are erased with them."""
    editor = editor or Editor()
    replaced: dict[SSAValue, SSAValue] = {}
    fused_ops: list[FusedOp] = []
    for match in matches:
        extraction = match.extraction
        extraction.inputs[:] = [replaced.get(value, value) for value in extraction.inputs]
        extraction.shapes[:] = [replaced.get(value, value) for value in extraction.shapes]
        fused = extraction.fused_op()
        editor.insert_before(fused, extraction.before)
        if len(extraction.covered) == 1 or len(extraction.outputs) == 1:
            fused.location = extraction.before.location
        for old, new in zip(extraction.outputs, fused.outputs, strict=True):
            new.name_hint = old.name_hint
            replaced[old] = new
            old.replace_all_uses_with(new)
        _erase(extraction, editor)
        fused_ops.append(fused)
    return fused_ops


def _erase(extraction: Extraction, editor: Editor) -> None:
    covered = set(extraction.covered)
    for op in extraction.spent:
        # A copied constant goes with the match only if nothing else reads it.
        if op.parent is not None and (op in covered or not any(result.uses for result in op.results)):
            editor.erase(op)
