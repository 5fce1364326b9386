"""All matches of some recipes in a module, and the choice among overlapping ones (rule R7)."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice

from xdsl.dialects.linalg.ops import GenericOp
from xdsl.ir import Block, Operation, OpResult, SSAValue

from xfuse.errors import UnsupportedError
from xfuse.match.escapes import Escape
from xfuse.match.extract import carriers_of, extract
from xfuse.match.index import Order, PatternIndex, Reading
from xfuse.match.mismatch import mismatch
from xfuse.match.pattern import Pattern
from xfuse.match.plain import match_plain
from xfuse.match.program import LEAF_REGIONS, Program, backward_slice, program_blocks
from xfuse.match.refusal import Refusal, describe
from xfuse.match.region import Extraction
from xfuse.match.search import Binding, Search
from xfuse.match.variants import inner_nodes, yielding
from xfuse.recipes import Recipe

_ALTERNATIVES = 8
"""Bindings tried at one root before the first refusal stands."""

Gate = Callable[[Recipe, Sequence[str]], str | None]
"""The backend that has a row for a recipe at a dtype tuple, or None: only then may the recipe be fused (law L4)."""


@dataclass(frozen=True, repr=False, slots=True)
class Match:
    """A place where a recipe was found, not yet rewritten.

    ``extraction`` names the ops; ``scalars`` are the SSA values of the recipe's scalar slots, in argument order.
    """

    recipe: Recipe
    element_type: str | None
    backend: str
    extraction: Extraction
    rank: Rank

    def __repr__(self) -> str:
        return f"Match(@{self.recipe.name}, {len(self.ops)} ops, {self.backend})"

    @property
    def ops(self) -> list[Operation]:
        """The ops that the fused op would replace, in program order."""
        return self.extraction.covered

    @property
    def root(self) -> Operation:
        """The op that computes the result at which the search started."""
        owner = self.extraction.outputs[self.extraction.pattern.anchor].owner
        assert isinstance(owner, Operation)
        return owner

    @property
    def scalars(self) -> tuple[SSAValue, ...]:
        """The constants bound to the recipe's scalar slots."""
        return self.extraction.slots


@dataclass(frozen=True)
class Loss:
    """A match that was not chosen since it shares ops with one that ranks before it (rule R7)."""

    match: Match
    to: Match


@dataclass(frozen=True)
class Split:
    """A generic that was taken apart, as a match crosses the border of its body (rule R11)."""

    op: Operation
    match: Match


@dataclass
class Matches:
    """What a look at a module found: chosen matches, refusals, and matches that lost to an overlapping one.

    ``settled`` says that after the chosen matches are applied another look would find nothing more. ``splits`` are the
    generics that were taken apart before the look.
    """

    chosen: list[Match] = field(default_factory=list[Match])
    refusals: list[Refusal] = field(default_factory=list[Refusal])
    lost: list[Loss] = field(default_factory=list[Loss])
    settled: bool = True
    splits: list[Split] = field(default_factory=list[Split])


def find_matches(
    module: Operation,
    index: PatternIndex,
    gate: Gate,
    *,
    budget: int | None = None,
    explain: bool = True,
    roots: Collection[Operation] | None = None,
    escape: Escape = "refuse",
) -> Matches:
    """All matches in a module, chosen so that no two overlap: most ops first, then gain, recipe and program order.

    Nothing is rewritten. With ``explain`` the refusals hold every root that differs from the recipe's, and where, and
    the losses every match that was not chosen; without, these are only as many as the choice came to see. ``roots``
    limits the look to matches that end in one of some ops, and has every recipe tried there. ``escape`` says what
    becomes of a match whose inner value is used outside it. Raises `UnsupportedError` (law L8) if a value is used
    before its definition.
    """
    result = Matches()
    gate = _remembering(gate)
    whole: set[Operation] = set()
    for block in program_blocks(module):  # enclosing blocks come first
        if whole and _is_within(block, whole):
            continue
        program = Program(block)
        if program.unordered is not None:
            raise UnsupportedError(f"(law L8) {describe(program.unordered)} reads a value before its definition")
        before = len(result.chosen)
        _Look(program, gate, result, explain, escape).choose(_candidates(program, index, budget, explain, roots))
        whole.update(op for match in result.chosen[before:] for op in match.ops if op.regions)
    return result


def _is_within(block: Block, ops: set[Operation]) -> bool:
    """Whether a block lies in one of some ops, as deep as may be."""
    holder = block.parent_op()
    while holder is not None and holder not in ops:
        holder = holder.parent_op()
    return holder is not None


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
    found = [each for each in attempts_at(op, index, gate) if isinstance(each, Match)]
    return min(found, key=lambda match: match.rank, default=None)


def attempts_at(
    op: Operation, index: PatternIndex, gate: Gate, *, budget: int | None = None, escape: Escape = "refuse"
) -> list[Match | Refusal]:
    """The matches whose anchor is a result of one op, and the refusals. Looks only at what the op is computed from."""
    block = op.parent
    holder = None if block is None else block.parent_op()
    if block is None or not op.results:
        return []
    in_body = isinstance(holder, GenericOp)
    if isinstance(holder, LEAF_REGIONS) and not in_body:
        return []
    top = holder if in_body else op
    assert top is not None
    if top.parent is None:
        return []
    sizes = [len(recipe.form(use).graph.nodes) for recipe in index.recipes for use in recipe.uses]
    several = any(len(recipe.result_types) > 1 for recipe in index.recipes)
    ops = None if several else backward_slice(top, 16 + 6 * max(sizes, default=0))
    program = Program(top.parent, ops)
    order = {each: n for n, each in enumerate(block.ops)} if in_body else program.position
    reading = index.read(program)
    found: list[Match | Refusal] = []
    for ssa in op.results:
        value = program.value(ssa)
        if value is None or value.node < 0:
            continue
        for pattern, rank in index.likely(reading, value.node):
            attempts = _Attempts(pattern, reading, value.node, budget)
            place = _Candidate((rank, int(in_body), order[op]), pattern, block, order, ssa, attempts)
            match = place.match(gate, escape=escape)
            if match is not None:
                found.append(match)
    return found


Rank = tuple[Order, int, int]
"""The order of choice (rule R7): that of patterns, then program order, matches in bodies last."""


class _Attempts:
    """What the search of one pattern at one node finds, each binding made when it is first asked for."""

    __slots__ = ("_budget", "_made", "_more", "_search", "node", "pattern", "reading")

    def __init__(self, pattern: Pattern, reading: Reading, node: int, budget: int | None) -> None:
        self.pattern, self.reading, self.node = pattern, reading, node
        self._budget = budget
        self._search: Search | None = None

    def __iter__(self) -> Iterator[Binding]:
        if self._search is None:
            self._search = Search(self.pattern, self.reading, self._budget)
            self._more: Iterator[Binding] = islice(self._search.all_at(self.node), _ALTERNATIVES)
            self._made: list[Binding] = []
        yield from self._made
        for binding in self._more:
            self._made.append(binding)
            yield binding

    @property
    def exhausted(self) -> bool:
        """Whether the search took more steps than its budget allows."""
        return self._search is not None and self._search.exhausted


@dataclass(eq=False, slots=True)
class _Candidate:
    """An SSA value at which a pattern may match."""

    rank: Rank
    pattern: Pattern
    block: Block
    order: Mapping[Operation, int]
    ssa: OpResult
    attempts: _Attempts

    @property
    def root(self) -> Operation:
        """The op whose result it is."""
        return self.ssa.op

    @property
    def holder(self) -> Operation | None:
        """The op in whose body it lies, if it does not lie in a block of its own."""
        return self.block.parent_op() if self.rank[1] else None

    def match(self, gate: Gate, explain: bool = False, escape: Escape = "refuse") -> Match | Refusal | None:
        """The first binding that can be taken whole, else why the first one cannot."""
        first: Refusal | None = None
        attempts, pattern, recipe = self.attempts, self.pattern, self.pattern.recipe
        backend = gate(recipe, pattern.dtypes)
        if backend is not None:
            plain = match_plain(attempts.reading, pattern, self.block, self.order, self.ssa)
            if plain is not None:
                return Match(recipe, pattern.element_type, backend, plain, self.rank)
        for binding in attempts:
            if backend is None:
                dtypes = pattern.dtypes
                text = f"no kernel is bound or promised for ({', '.join(dtypes)})"
                first = Refusal(recipe.name, "L4", "no-kernel", text, self.root, self.root, pattern.size, pattern.size)
                break
            extraction = extract(attempts.reading.program, pattern, binding, self.block, self.order, self.ssa, escape)
            if not isinstance(extraction, Refusal):
                return Match(recipe, pattern.element_type, backend, extraction, self.rank)
            if escape == "yield" and extraction.escaping:
                variant = self._variant(attempts.reading, binding, extraction.escaping, gate)
                if variant is not None:
                    return variant
            first = first or extraction
        if first is None and attempts.exhausted:
            text = "the search took more steps than its budget allows"
            return Refusal(recipe.name, "R1", "budget", text, self.root, self.root, 0, pattern.size)
        if first is None and explain and not pattern.unit:
            return mismatch(attempts.reading.program, pattern, attempts.node, self.root)
        return first

    def _variant(self, reading: Reading, binding: Binding, escaping: Sequence[SSAValue], gate: Gate) -> Match | None:
        """A match of the recipe that gives the escaping values as well, if it has a kernel and can be taken whole."""
        program = reading.program
        values = [program.value(ssa) for ssa in escaping]
        nodes = inner_nodes(binding.places, [value.node for value in values if value is not None])
        element_type = self.pattern.element_type
        recipe = None if nodes is None or self.pattern.unit else yielding(self.pattern.recipe, element_type, nodes)
        if recipe is None:
            return None
        pattern = Pattern.of(recipe, element_type)
        backend = gate(recipe, pattern.dtypes) if pattern.is_searchable else None
        value = program.value(self.ssa)
        if backend is None or value is None:
            return None
        for other in islice(Search(pattern, reading.alone(pattern)).all_at(value.node), _ALTERNATIVES):
            extraction = extract(program, pattern, other, self.block, self.order, self.ssa)
            if not isinstance(extraction, Refusal):
                return Match(recipe, element_type, backend, extraction, self.rank)
        return None


def _candidates(
    program: Program, index: PatternIndex, budget: int | None, explain: bool, roots: Collection[Operation] | None
) -> Iterator[_Candidate]:
    """All places worth a search, in program order; with ``explain`` also those that a glance rules out."""
    attempts: dict[tuple[int, int], _Attempts] = {}
    reading = index.read(program, every=roots is not None)
    nodes = program.graph.nodes
    levels: list[tuple[Block, dict[Operation, int]]] = [(program.block, program.position)]
    levels.extend((body, {op: n for n, op in enumerate(body.ops)}) for body in program.bodies.values())
    for level, (block, order) in enumerate(levels):
        for ssa, value in carriers_of(program, block):
            if roots is not None and ssa.op not in roots:
                continue
            if not explain:
                patterns = index.likely(reading, value.node)
            else:
                node = nodes[value.node]
                patterns = index.at(node.kind, node.element_type) if roots is None else index.every(node.element_type)
            if not patterns:
                continue
            position = order[ssa.op]
            for pattern, rank in patterns:
                if not explain and not reading.may_hold(pattern, value.node):
                    continue
                key = (id(pattern), value.node)
                if key not in attempts:
                    attempts[key] = _Attempts(pattern, reading, value.node, budget)
                yield _Candidate((rank, level, position), pattern, block, order, ssa, attempts[key])


def _by_rank(candidates: Iterable[_Candidate]) -> Iterator[tuple[int, _Candidate]]:
    """Candidates given in program order in order of rank, each with its number as given."""
    groups: dict[Order, list[tuple[int, _Candidate]]] = {}
    for number, candidate in enumerate(candidates):
        groups.setdefault(candidate.rank[0], []).append((number, candidate))
    for order in sorted(groups):
        yield from groups[order]


class _Look:
    """One look at a program: candidates in order of rank, each taken unless an earlier one is in its way (rule R7)."""

    def __init__(self, program: Program, gate: Gate, result: Matches, explain: bool, escape: Escape) -> None:
        self.program = program
        self.escape: Escape = escape
        self.gate = gate
        self.result = result
        self.explain = explain
        self.taken: dict[Operation, Match] = {}
        self.opened: dict[Operation, Match] = {}
        self.early: dict[Operation, Match] = {}

    def choose(self, candidates: Iterable[_Candidate]) -> None:
        """Choose among candidates given in program order."""
        matched: set[_Attempts] = set()
        refused: list[tuple[int, _Attempts, Refusal]] = []
        left: list[_Candidate] = []
        for number, candidate in _by_rank(candidates):
            attempts = candidate.attempts
            if not self.explain and self._is_gone(candidate):
                continue
            if attempts in matched:
                left.append(candidate)  # a value that is carried twice: one match of it is enough for now
                continue
            found = candidate.match(self.gate, self.explain, self.escape)
            if isinstance(found, Match):
                matched.add(attempts)
                if not self._take(found, candidate.holder):
                    left.append(candidate)
            elif found is not None:
                refused.append((number, attempts, found))
        refused.sort(key=lambda each: each[0])
        refusals = [refusal for _, attempts, refusal in refused if attempts not in matched]
        self.result.refusals.extend(self._nearest(refusals) if self.explain else refusals)
        if refusals or not all(map(self._is_gone, left)):
            self.result.settled = False

    def _nearest(self, refusals: Iterable[Refusal]) -> list[Refusal]:
        """One refusal per recipe and root: of several patterns of a recipe the one that got furthest."""
        found = {(match.recipe.name, match.root) for match in self.result.chosen}
        found.update((loss.match.recipe.name, loss.match.root) for loss in self.result.lost)
        best: dict[tuple[str, Operation | None], Refusal] = {}
        for refusal in refusals:
            key = (refusal.recipe, refusal.root)
            if key not in found and (key not in best or best[key].matched < refusal.matched):
                best[key] = refusal
        return list(best.values())

    def _is_gone(self, candidate: _Candidate) -> bool:
        """Whether the op at which a candidate stands goes with a chosen match."""
        match = self.taken.get(candidate.root)
        if match is not None and candidate.root not in match.extraction.kept:
            return True
        return candidate.holder is not None and candidate.holder in self.taken

    def _take(self, match: Match, holder: Operation | None) -> bool:
        ops, taken = match.ops, self.taken
        ways = [taken[op] for op in ops if op in taken]
        if holder is not None and holder in taken:
            ways.append(taken[holder])
        elif holder is None and self.opened:
            ways.extend(self.opened[op] for op in ops if op in self.opened)
        other = ways[0] if ways else self._out_of_order(match)
        if other is not None:
            self.result.lost.append(Loss(match, other))
            return False
        for op in ops:
            taken[op] = match
        if match.extraction.is_early:
            self.early.update(dict.fromkeys(_fixed_points(match), match))
        if holder is not None:
            self.opened.setdefault(holder, match)
        self.result.chosen.append(match)
        return True

    def _out_of_order(self, match: Match) -> Match | None:
        """A chosen match that has to be applied first, or that this one may not precede, if one of the two is early."""
        if match.extraction.is_early:
            for op in _fixed_points(match):
                if op in self.taken:
                    return self.taken[op]
        return next((self.early[op] for op in match.ops if op in self.early), None) if self.early else None


def _fixed_points(match: Match) -> list[Operation]:
    """What an early match must find where it is: the ops that compute its operands, and the one that it goes before."""
    owners = (ssa.owner for ssa in (*match.extraction.inputs, *match.extraction.shapes))
    return [match.extraction.before, *(owner for owner in owners if isinstance(owner, Operation))]
