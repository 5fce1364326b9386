"""Outlining a module: clusters found, made into recipes, and replaced by fused ops, until nothing more is found."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from xdsl.dialects.builtin import ModuleOp, StringAttr
from xdsl.ir import Operation, SSAValue

from xfuse.collector import paused_collector
from xfuse.cost import Cost, cost_of, cost_of_fused
from xfuse.errors import UnsupportedError
from xfuse.match.choose import Gate
from xfuse.match.program import Program, program_blocks
from xfuse.match.refusal import describe
from xfuse.match.region import known_extents
from xfuse.outlining.boundary import Boundary, boundary_of, has_dynamic_shapes, parts_of, without_loose_views
from xfuse.outlining.generalise import General, Generaliser, NotGeneral
from xfuse.outlining.grouping import Grouping
from xfuse.outlining.keys import ClusterKeys, Key
from xfuse.outlining.options import OutlineOptions
from xfuse.outlining.rewrite import put_in_order, rewrite
from xfuse.outlining.scan import Scan
from xfuse.postorder import postorder
from xfuse.recipes import Recipe, definitions, recipes_of
from xfuse.registry import RecipeRegistry
from xfuse_dialects.xfuse import FusedOp, RecipeOp


@dataclass(frozen=True)
class Cluster:
    """Ops of a program that became one fused op.

    ``ops`` are those that it stands for, now in its region, constants left out; ``scalar_ops`` counts each op of a
    body. ``before`` is what they cost one by one, ``after`` what the fused op costs.
    """

    recipe: Recipe
    fused: FusedOp
    ops: tuple[Operation, ...]
    scalar_ops: int
    backend: str
    before: Cost
    after: Cost

    @property
    def saved_bytes(self) -> int:
        """Bytes of memory traffic that the fused op saves."""
        return self.before.bytes - self.after.bytes

    @property
    def saved_seconds(self) -> float:
        """An estimate of the time that it saves, in seconds."""
        return self.before.seconds - self.after.seconds


@dataclass(frozen=True)
class LeftOut:
    """Ops that could have been in a cluster and are in none.

    ``rule`` is the number of the law or rule, or "cost", ``reason`` one word for it, ``message`` a sentence.
    """

    ops: tuple[Operation, ...]
    rule: str
    reason: str
    message: str

    def __str__(self) -> str:
        names = ", ".join(describe(op) for op in self.ops[:4])
        more = f" and {len(self.ops) - 4} more" if len(self.ops) > 4 else ""
        return f"left out ({self.rule} {self.reason}) {names}{more}: {self.message}"


@dataclass
class Outlined:
    """What outlining a module did: clusters in the order in which they were made, what was left out, and the recipes
    that were added to the module."""

    clusters: list[Cluster] = field(default_factory=list[Cluster])
    left_out: list[LeftOut] = field(default_factory=list[LeftOut])
    recipes: list[Recipe] = field(default_factory=list[Recipe])


def outline(module: ModuleOp, registry: RecipeRegistry, gate: Gate, options: OutlineOptions | None = None) -> Outlined:
    """Put fused ops in place of clusters of a module, and their recipes at its beginning; each is registered.

    A cluster is made only if ``gate`` knows a kernel for its recipe (law L4). Raises `UnsupportedError` (law L8) if a
    value is used before its definition; then nothing has been changed.
    """
    with paused_collector():
        return _Outliner(module, registry, gate, options or OutlineOptions()).run()


class _Outliner:
    def __init__(self, module: ModuleOp, registry: RecipeRegistry, gate: Gate, options: OutlineOptions) -> None:
        self.module = module
        self.options = options
        self.result = Outlined()
        names = _symbols(module)
        self.generaliser = Generaliser(registry, gate, recipes_of(module), names.__contains__)
        self.keys = ClusterKeys()
        self.known: dict[Key, General | NotGeneral] = {}
        self.costs: dict[Key, Cost] = {}

    def run(self) -> Outlined:
        blocks = list(program_blocks(self.module))
        scans: list[Scan] = []
        for block in blocks:
            scan = Scan(block, self.options)
            if scan.unordered is not None:
                raise UnsupportedError(f"(law L8) {describe(scan.unordered)} reads a value before its definition")
            scans.append(scan)
        for scan in scans:
            look = _Look(self, scan)
            while look.apply() and look.may_find_more:
                look = _Look(self, Scan(scan.block, self.options))
            self.result.left_out += look.left_out
        self.result.recipes = self.generaliser.made
        _insert(self.module, [recipe.op for recipe in self.result.recipes])
        return self.result

    def recipe_for(self, key: Key, boundary: Boundary) -> General | NotGeneral:
        """The recipe of a cluster; that of an equal one is remembered."""
        found = self.known.get(key)
        if found is None:
            found = self.known[key] = self.generaliser.generalise(boundary)
        return found


class _Look:
    """One look at a block: what to make of it, all decided before anything is changed."""

    def __init__(self, outliner: _Outliner, scan: Scan) -> None:
        self.outliner = outliner
        self.scan = scan
        self.grouping = Grouping(scan, outliner.options)
        self.found: list[tuple[Boundary, int, General, Cost]] = []
        self.left_out: list[LeftOut] = []
        self._program: Program | None = None
        self._spaces = {scan.ops[number]: space for number, space in scan.spaces.items()}
        self._scalar_ops = {op: space.ops for op, space in self._spaces.items()}
        for number in scan.too_large:
            most = outliner.options.max_ops
            self._leave([scan.ops[number]], "limit", "max-ops", f"its body alone holds more than {most} ops")
        for cluster in self.grouping.clusters():
            self._consider(cluster)

    @property
    def may_find_more(self) -> bool:
        """Whether ops are left that another look might put together otherwise."""
        return any(self._count(each.ops) for each in self.left_out)

    def _consider(self, cluster: list[Operation]) -> None:
        """Take a cluster as it is or in parts, as large as may be; a part left out says why the whole was not taken."""
        pending: list[tuple[list[Operation], NotGeneral | None]] = [(cluster, None)]
        while pending:
            given, before = pending.pop()
            ops = without_loose_views(given, self._spaces, self.scan.block)
            count = self._count(ops)
            if not count:
                continue
            # A group is connected as it was grown; what is left of one need not be.
            parts = parts_of(ops) if given is not cluster or len(ops) < len(given) else []
            if len(parts) > 1:
                pending += [(part, before) for part in reversed(parts)]
                continue
            problem = self._take(ops, count)
            if problem is None:
                continue
            if problem.rule == "cost":
                problem = before or problem
            elif len(ops) > 1:
                cut = problem.cut or len(ops) // 2
                pending += [(ops[cut:], problem), (ops[:cut], problem)]
                continue
            self._leave(ops, problem.rule, problem.reason, problem.message)

    def _take(self, ops: list[Operation], count: int) -> NotGeneral | None:
        """Decide for a cluster of so many scalar ops, or say why not."""
        options = self.outliner.options
        if count < options.min_ops:
            return NotGeneral("cost", "min-ops", f"{count} ops are fewer than {options.min_ops}")
        scan = self.scan
        boundary = boundary_of(ops, scan.block, scan.position)
        crossing = len(boundary.inputs) + len(boundary.outputs)
        if crossing > options.max_inputs:
            text = f"{crossing} operands and results are more than {options.max_inputs}"
            return NotGeneral("limit", "max-inputs", text)
        if has_dynamic_shapes(boundary):
            self._program = self._program or Program(scan.block)
            boundary.same_extents = known_extents(boundary.inputs, boundary.shapes, self._program)
        key = self.outliner.keys.key(boundary)
        general = self.outliner.recipe_for(key, boundary)
        if isinstance(general, NotGeneral):
            return general
        costs = self.outliner.costs
        if key not in costs:
            costs[key] = sum(map(cost_of, ops), Cost())
        self.found.append((boundary, count, general, costs[key]))
        return None

    def apply(self) -> int:
        """Rewrite the block; returns how many clusters became fused ops."""
        if not self.found:
            return 0
        scan, order = self.scan, self.grouping.order
        replaced: dict[SSAValue, SSAValue] = {}
        made: dict[int, list[Operation]] = {}
        inside: set[Operation] = set()
        constants: dict[Operation, None] = {}
        for boundary, count, general, before in self.found:
            fused = rewrite(boundary, general, replaced)
            inside.update(boundary.ops)
            constants.update((op, None) for op in boundary.body if op not in inside and op.parent is scan.block)
            made.setdefault(order.group(scan.position[boundary.ops[0]]), []).append(fused)
            cluster = Cluster(
                general.recipe, fused, tuple(boundary.ops), count, general.backend, before, cost_of_fused(fused, before)
            )
            self.outliner.result.clusters.append(cluster)
        self._put_in_order(made, inside)
        for op in sorted(constants, key=scan.position.__getitem__, reverse=True):
            if not any(result.uses for result in op.results):
                op.detach()
                op.erase()
        return len(self.found)

    def _put_in_order(self, made: dict[int, list[Operation]], inside: set[Operation]) -> None:
        """Every op after those that it reads, and otherwise where it was, as far as may be."""
        scan = self.scan
        ordered: list[Operation] = []
        for group in self.grouping.order.in_order():
            members = self.grouping.groups[group].members if group in self.grouping.groups else [group]
            ops = [*made.get(group, ()), *(scan.ops[member] for member in sorted(members))]
            left = [op for op in ops if op not in inside]
            ordered += _definitions_first(left) if group in made else left
        put_in_order(scan.block, postorder(ordered, self._constants_of))

    def _constants_of(self, op: Operation) -> list[Operation]:
        """The constants that an op reads, which come before it."""
        constants, position = self.scan.constants, self.scan.position
        return [owner for owner in _read_by(op) if position.get(owner) in constants]

    def _count(self, ops: Sequence[Operation]) -> int:
        return sum([self._scalar_ops.get(op, 0) for op in ops])

    def _leave(self, ops: Sequence[Operation], rule: str, reason: str, message: str) -> None:
        self.left_out.append(LeftOut(tuple(ops), rule, reason, message))


def _definitions_first(ops: Sequence[Operation]) -> list[Operation]:
    """Some ops, definitions before uses."""
    own = set(ops)
    return postorder(ops, lambda op: [owner for owner in _read_by(op) if owner in own])


def _read_by(op: Operation) -> list[Operation]:
    """The ops whose results an op and its regions read, the last one first."""
    inner = op.walk() if op.regions and not isinstance(op, FusedOp) else (op,)
    owners = [operand.owner for each in inner for operand in each.operands]
    return [owner for owner in reversed(owners) if isinstance(owner, Operation)]


def _symbols(module: ModuleOp) -> set[str]:
    """The names that a module defines, those in its libraries among them."""
    found: set[str] = set()
    for op in definitions(module):
        name = op.properties.get("sym_name", op.attributes.get("sym_name"))
        if isinstance(name, StringAttr):
            found.add(name.data)
    return found


def _insert(module: ModuleOp, recipes: Sequence[RecipeOp]) -> None:
    block = module.body.block
    first = block.first_op
    for op in recipes:
        if first is None:
            block.add_op(op)
        else:
            block.insert_op_before(op, first)
