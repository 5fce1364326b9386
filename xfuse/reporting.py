"""The report on a module: what is fused, what is not and why, what it saves, and which kernels are there or wanted.

It is made from the module alone, whatever passes it came from: fused ops say what they stand for, and the program that
they stand for is looked through again for what was turned down.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation

from xfuse.cost import Cost, cost_of, coverage
from xfuse.decomposition import decompose_all
from xfuse.explanation import shortfall
from xfuse.locations import source_line
from xfuse.match.choose import Loss, Match, Matches, find_matches
from xfuse.match.index import index_of
from xfuse.match.program import program_blocks
from xfuse.match.refusal import Refusal, describe
from xfuse.match.region import detached_fused_op
from xfuse.materialise import is_materialisable
from xfuse.orders import Order
from xfuse.recipes import Recipe, definitions, spell_dtypes
from xfuse.session import Session, dtypes_of
from xfuse_dialects.xfuse import OUTLINED, FusedOp, RecipeOp

VERSION = 1
"""Number of the report's layout; it changes when a key does."""

Refusals = Literal["near", "all", "none"]
"""Which refusals are reported: those that got at least half-way, all, or none."""


def report(module: ModuleOp, session: Session, backend: str = "auto", refusals: Refusals = "near") -> dict[str, Any]:
    """The report on a module as JSON has it; `docs/report.md` lists the keys. The module is not changed.

    ``session`` knows recipes and kernels, ``backend`` is where kernels are wanted. Raises `UnsupportedError` (law L8)
    if a value is used before its definition.
    """
    covered = coverage(module)
    plain, inside = _plain(module)
    found = Matches() if refusals == "none" else session.match(plain, backend)
    fused = [_Fused(op, session, backend) for block in program_blocks(module) for op in _fused_ops(block.ops)]
    outlined = {
        op.sym_name.data for op in definitions(module) if isinstance(op, RecipeOp) and OUTLINED in op.attributes
    }
    clusters = [each for each in fused if each.op.label in outlined]
    orders = [*_kernel_orders(plain, found, session, backend), *_recipe_orders(clusters, backend)]
    return {
        "version": VERSION,
        "ops": {"fusible": covered.ops, "fused": covered.inside},
        "fused_ops": covered.fused,
        "bytes": {"before": covered.before.bytes, "after": covered.after.bytes},
        "seconds": {"before": _rounded(covered.before.seconds), "after": _rounded(covered.after.seconds)},
        "matches": [each.as_json() for each in fused if each.op.label not in outlined],
        "clusters": [each.as_json() for each in clusters],
        "overlaps": [_loss(each) for each in found.lost],
        "refusals": [_refusal(each) for each in _reported(found.refusals, inside, refusals)],
        "orders": [order.as_json() for order in orders],
        "kernels": _kernels(fused),
    }


def _rounded(seconds: float) -> float:
    """An estimate to three digits."""
    return float(f"{seconds:.3g}")


def _plain(module: ModuleOp) -> tuple[ModuleOp, set[Operation]]:
    """The program that a module stands for, and its ops that come out of fused ops."""
    plain = module.clone()
    inside = {inner for op in plain.walk() if isinstance(op, FusedOp) for inner in op.body.walk()}
    decompose_all(plain)
    return plain, inside


def _fused_ops(ops: Any) -> Iterator[FusedOp]:
    """Fused ops among some ops and in the bodies of linalg ops, not those within others."""
    for op in ops:
        if isinstance(op, FusedOp):
            yield op
        elif op.name.startswith("linalg.") and op.regions:
            yield from (inner for inner in op.regions[0].block.ops if isinstance(inner, FusedOp))


class _Fused:
    """A fused op, the recipe that it is an instance of, and its kernel."""

    def __init__(self, op: FusedOp, session: Session, backend: str) -> None:
        self.op = op
        self.dtypes = dtypes_of(op)
        self.recipe = session.recipe_of(op)
        self.kernel: tuple[str, str] | None = None
        if self.recipe is not None:
            name = session.admissible(self.recipe, self.dtypes, backend)
            if name is not None:
                bound = session.admissible(self.recipe, self.dtypes, name, promised=False)
                self.kernel = name, "bound" if bound else "promised"
        after = cost_of(op)
        before = Cost()
        for inner in op.body.block.ops:
            before += cost_of(inner)
        self.saved_bytes = before.bytes - after.bytes
        self.saved_seconds = before.seconds - after.seconds

    def as_json(self) -> dict[str, Any]:
        op, recipe = self.op, self.recipe
        changed = recipe is None or (op.label is not None and recipe.name != op.label)
        return {
            "recipe": op.label,
            "identity": None if recipe is None else recipe.identity,
            "location": source_line(op),
            "ops": [
                {"op": inner.name, "location": source_line(inner)}
                for inner in op.body.block.ops
                if inner.results and not is_materialisable(inner)
            ],
            "dtypes": list(self.dtypes),
            "backend": None if self.kernel is None else self.kernel[0],
            "saved": {"bytes": self.saved_bytes, "seconds": _rounded(self.saved_seconds)},
            "note": "region changed since fusing" if changed else None,
        }


def _kernels(fused: Sequence[_Fused]) -> list[dict[str, Any]]:
    """One entry per recipe and dtypes that the module has fused ops of."""
    found: dict[tuple[str | None, tuple[str, ...]], dict[str, Any]] = {}
    for each in fused:
        identity = None if each.recipe is None else each.recipe.identity
        entry = found.setdefault(
            (identity or each.op.label, each.dtypes),
            {
                "recipe": each.op.label if each.recipe is None else each.recipe.name,
                "identity": identity,
                "dtypes": list(each.dtypes),
                "backend": None if each.kernel is None else each.kernel[0],
                "source": "none" if each.kernel is None else each.kernel[1],
                "uses": 0,
            },
        )
        entry["uses"] += 1
    return list(found.values())


def _reported(refusals: Sequence[Refusal], inside: set[Operation], which: Refusals) -> list[Refusal]:
    """The refusals to list, nearest first; none at ops that are fused."""
    open_ = [each for each in refusals if each.root not in inside]
    near = open_ if which == "all" else [each for each in open_ if 2 * each.matched >= each.size]
    return sorted(near, key=shortfall)


def _refusal(refusal: Refusal) -> dict[str, Any]:
    return {
        "recipe": refusal.recipe,
        "rule": refusal.rule,
        "reason": refusal.reason,
        "op": None if refusal.op is None else describe(refusal.op),
        "location": None if refusal.op is None else source_line(refusal.op),
        "root": None if refusal.root is None else describe(refusal.root),
        "expected": refusal.expected or None,
        "found": refusal.found or None,
        "matched": refusal.matched,
        "size": refusal.size,
        "message": refusal.message,
    }


def _loss(loss: Loss) -> dict[str, Any]:
    return {
        "recipe": loss.match.recipe.name,
        "identity": loss.match.recipe.identity,
        "location": source_line(loss.match.root),
        "ops": len(loss.match.ops),
        "lost_to": {
            "recipe": loss.to.recipe.name,
            "location": source_line(loss.to.root),
            "ops": len(loss.to.ops),
        },
    }


@dataclass
class _Wanted:
    """A recipe at dtypes that has no kernel, and what its matches would save."""

    recipe: Recipe
    element_type: str | None
    count: int = 0
    saved_bytes: int = 0
    saved_seconds: float = 0.0

    def add(self, match: Match) -> None:
        before = Cost()
        for op in match.ops:
            before += cost_of(op)
        fused = detached_fused_op(match.extraction)
        after = cost_of(fused)
        fused.drop_all_references()
        self.count += 1
        self.saved_bytes += before.bytes - after.bytes
        self.saved_seconds += before.seconds - after.seconds

    def order(self, backend: str) -> Order:
        recipe = self.recipe
        arguments, results = recipe.signature(self.element_type)
        return Order(
            "kernel",
            recipe.name,
            recipe.identity,
            arguments,
            results,
            backend,
            str(recipe.op),
            self.count,
            self.saved_bytes,
            _rounded(self.saved_seconds),
        )


def _kernel_orders(plain: ModuleOp, found: Matches, session: Session, backend: str) -> Iterator[Order]:
    """What would have been fused if there were a kernel for it (law L4)."""
    names = {refusal.recipe for refusal in found.refusals if refusal.rule == "L4"}
    recipes = [recipe for recipe in session.registry.entries() if recipe.name in names]
    if not recipes:
        return
    admits = session.gate(backend)

    def lacking(recipe: Recipe, dtypes: Sequence[str]) -> str | None:
        return None if admits(recipe, dtypes) else "wanted"

    wanted: dict[tuple[str, str], _Wanted] = {}
    for match in find_matches(plain, index_of(recipes), lacking, explain=False).chosen:
        key = match.recipe.name, spell_dtypes(*match.recipe.signature(match.element_type))
        wanted.setdefault(key, _Wanted(match.recipe, match.element_type)).add(match)
    yield from (each.order(backend) for each in wanted.values())


def _recipe_orders(clusters: Sequence[_Fused], backend: str) -> Iterator[Order]:
    """What was clustered and is in no library: one order per recipe and dtypes."""
    by_recipe: dict[tuple[str, tuple[str, ...]], list[_Fused]] = {}
    for each in clusters:
        if each.recipe is not None:
            by_recipe.setdefault((each.recipe.identity, each.dtypes), []).append(each)
    for (identity, dtypes), uses in by_recipe.items():
        recipe = uses[0].recipe
        assert recipe is not None
        arguments = len(recipe.argument_types)
        yield Order(
            "recipe",
            recipe.name,
            identity,
            dtypes[:arguments],
            dtypes[arguments:],
            backend,
            str(recipe.op),
            len(uses),
            sum(each.saved_bytes for each in uses),
            _rounded(sum(each.saved_seconds for each in uses)),
        )
