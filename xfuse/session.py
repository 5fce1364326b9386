"""Sessions: registry, binding table, backends and policy in one object, with no hidden global state."""

from __future__ import annotations

import dataclasses
import threading
from collections.abc import Callable, Collection, Generator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any

from xdsl.dialects.builtin import ModuleOp, StringAttr
from xdsl.ir import Operation

from xfuse.backends.base import Backend
from xfuse.backends.llvm.backend import LLVMBackend
from xfuse.backends.numpy.backend import NumPyBackend
from xfuse.canonical.build import element_name
from xfuse.canonical.form import Form
from xfuse.contractions import is_contraction
from xfuse.errors import (
    Ambiguous,
    BackendUnavailable,
    BindingError,
    NotBound,
    RecipeError,
    VerificationError,
    XfuseError,
)
from xfuse.instances import Instances
from xfuse.kernels import Kernel
from xfuse.match.choose import Matches, find_matches
from xfuse.match.escapes import Escape
from xfuse.match.index import index_of
from xfuse.orders import Order
from xfuse.outlining.options import OutlineOptions
from xfuse.outlining.outline import Outlined, outline
from xfuse.patterns import DecomposePattern, FusePattern
from xfuse.primitives.table import PRIMITIVES
from xfuse.promises import Promises, probe_problem
from xfuse.recipes import Recipe, parse_recipes, recipes_of, spell_dtypes
from xfuse.registry import RecipeRegistry, as_recipe
from xfuse.shipped import shipped_recipes
from xfuse.signature import signature_of
from xfuse.specialisation import Instance
from xfuse.table import BindingTable, Row, Snapshot, find, is_available
from xfuse.validation import validate
from xfuse_dialects.xfuse import FusedOp, RecipeOp

OP_KINDS = frozenset(PRIMITIVES)
"""What a row may be for besides a recipe identity."""


@dataclass(frozen=True)
class SessionPatterns:
    """What `Session.patterns` gives: patterns to fuse, patterns to lower, and recipes gated out for want of a row."""

    fuse: list[FusePattern]
    lowering: list[DecomposePattern]
    gated_out: list[Recipe]


@dataclass(frozen=True)
class Adoption:
    """What became of an adoption: the row, or the reason why nothing was stored."""

    row: Row | None
    reason: str | None

    def __bool__(self) -> bool:
        return self.row is not None


class Session:
    """Owns recipes, rows, backends and caches. ``with session:`` makes it the current one.

    ``library`` says whether the shipped recipes are registered (at first use). ``backends`` are those whose rows are
    promised; by default LLVM, where llvmlite can be found, and NumPy, in this order of preference.
    """

    def __init__(self, *, library: bool = True, backends: Sequence[Backend] | None = None) -> None:
        self.table = BindingTable()
        self.backends: dict[str, Backend] = {
            backend.name: backend for backend in (backends if backends is not None else (LLVMBackend(), NumPyBackend()))
        }
        self._registry = RecipeRegistry()
        self._load_library = library
        self._lock = threading.RLock()
        self._promises = Promises(self.backends, self.table)
        self._instances = Instances()

    # Registry

    @property
    def registry(self) -> RecipeRegistry:
        """The recipes; the shipped library is among them unless the session was made without."""
        if self._load_library:
            with self._lock:
                if self._load_library:
                    for recipe in shipped_recipes():
                        self._registry.adopt(recipe)
                    self._load_library = False  # only now: a thread that sees it reads without the lock
        return self._registry

    @property
    def library_pending(self) -> bool:
        """Whether the shipped recipes are this session's and nobody has asked for the registry yet, which is empty."""
        return self._load_library

    def register(self, recipe: Recipe | RecipeOp | str, *, replace: bool = False, version: int | None = None) -> Recipe:
        """`RecipeRegistry.register`."""
        return self.registry.register(recipe, replace=replace, version=version)

    def unregister(self, recipe: Recipe | str) -> None:
        """Remove a recipe, given by itself, its name or its identity, and its rows; else `RecipeError`."""
        with self._lock:
            entry = self.recipe(recipe)
            self.registry.unregister(entry)
            self.table.unbind_all(self.table.rows(entry.identity))

    def learn(self, module: Operation) -> None:
        """Register the recipes of a module that its fused ops are labelled with, so that these find their rows.

        One whose name stands for another recipe here, or that is not valid, is left: its fused ops run their regions.
        """
        defined = recipes_of(module)
        labels = {op.label for op in module.walk() if isinstance(op, FusedOp)} if defined else set[str | None]()
        for recipe in defined:
            if recipe.name not in labels:
                continue
            try:
                if self.registry.region(recipe.identity) is None and recipe.name not in self.registry:
                    self.registry.register(recipe)
            except XfuseError:
                continue

    def recipe(self, which: Recipe | str) -> Recipe:
        """A registered recipe by itself, its name or its identity; raises `RecipeError` if there is none."""
        entry = self.registry.region(which.identity if isinstance(which, Recipe) else which)
        if entry is None:
            name = which.name if isinstance(which, Recipe) else which
            raise RecipeError(f"no recipe {name} is registered; register it first")
        return entry

    # Rows

    def bind(
        self,
        recipe: Recipe | str,
        kernel: Kernel | Callable[..., Any],
        dtypes: Sequence[str] | None = None,
        backend: str | None = None,
        *,
        replace: bool = False,
        trusted: bool = False,
        ulp: float | None = None,
        cost: float | None = None,
    ) -> Row:
        """Bind a kernel for a registered recipe, or for an op kind of the primitives table.

        ``dtypes`` are the element types of the arguments and then of the results; a `Kernel` brings them and the
        backend along, else the backend is "numpy". The kernel must agree with the recipe on a probe set (law L6)
        unless ``trusted``. Raises `RecipeError` for an unregistered recipe, `BindingError` for dtypes that the recipe
        does not have or a taken row, `VerificationError` if the probe fails; then nothing has been stored.
        """
        kind = recipe if isinstance(recipe, str) and recipe in OP_KINDS else None
        entry = self.recipe(recipe) if kind is None else _op_recipe(kind, _given(kernel, dtypes), trusted)
        row = self._row(entry, kernel, dtypes, backend, trusted=trusted, ulp=ulp, cost=cost)
        return self.table.bind(row if kind is None else dataclasses.replace(row, identity=kind), replace=replace)

    def _row(
        self,
        recipe: Recipe,
        kernel: Kernel | Callable[..., Any],
        dtypes: Sequence[str] | None,
        backend: str | None,
        *,
        trusted: bool,
        ulp: float | None,
        cost: float | None,
    ) -> Row:
        spelled = _given(kernel, dtypes)
        if spelled is None:
            raise BindingError(
                f"binding a kernel for @{recipe.name} needs dtypes: element types of arguments and results"
            )
        try:
            arguments, results = recipe.signature(recipe.element_type_for(spelled))
        except RecipeError as error:
            raise BindingError(str(error)) from error
        if not isinstance(kernel, Kernel):
            if not callable(kernel):
                raise BindingError(f"the kernel for @{recipe.name} must be a Kernel or callable, got {kernel!r}")
            kernel = Kernel(recipe.name, backend or "numpy", arguments, results, kernel)
        elif kernel.dtypes != spelled or len(kernel.arguments) != len(arguments):
            raise BindingError(
                f"kernel {kernel.name} is for {spell_dtypes(kernel.arguments, kernel.results)}, not for "
                f"{spell_dtypes(arguments, results)} as @{recipe.name} is"
            )
        if not recipe.is_scalar:
            kernel = dataclasses.replace(kernel, signature=signature_of(recipe), flat=recipe.flat)
        if not trusted:
            problem = probe_problem(recipe, recipe.element_type_for(spelled), kernel)
            if problem is not None:
                text = f"the kernel for @{recipe.name} {spell_dtypes(arguments, results)} is wrong (law L6): {problem}"
                raise VerificationError(text)
        return Row(recipe.identity, spelled, backend or kernel.backend, kernel, ulp=ulp, cost=cost, trusted=trusted)

    def adopt(
        self,
        name: str,
        recipe: Recipe | RecipeOp | str,
        kernel: Kernel | Callable[..., Any],
        dtypes: Sequence[str] | None = None,
        backend: str | None = None,
        *,
        trusted: bool = False,
    ) -> Adoption:
        """Register, verify and bind in one step: all of it, or nothing and the reason. Once more is no change."""
        try:
            probed = _renamed(recipe, name)
            validate(probed)
            row = self._row(probed, kernel, dtypes, backend, trusted=trusted, ulp=None, cost=None)
        except XfuseError as error:
            return Adoption(None, str(error))
        with self._lock:
            known = self.registry.region(probed.identity) is not None
            try:
                entry = self.registry.register(probed)
            except RecipeError as error:
                return Adoption(None, str(error))
            try:
                return Adoption(self.table.bind(row), None)
            except BindingError as error:
                if not known:
                    self.registry.unregister(entry)
                return Adoption(None, str(error))

    def synthesize(self, order: Order | Mapping[str, Any]) -> Row:
        """Make, probe and bind the kernel that a work order asks for, with a backend of the session; returns its row.

        The order's recipe is registered if it is not yet. An outside tool fulfils an order by `adopt`. Raises
        `RecipeError` for an order whose region is not what its identity says, `NotBound` if no backend makes the
        kernel.
        """
        wanted = order if isinstance(order, Order) else Order.from_json(order)
        recipes = parse_recipes(wanted.region, f"the region of the work order for @{wanted.name}")
        if len(recipes) != 1 or recipes[0].identity != wanted.identity:
            raise RecipeError(
                f"the work order for @{wanted.name} is for the recipe {wanted.identity}, and its region is "
                f"{', '.join(recipe.identity for recipe in recipes) or 'none'}"
            )
        known = self.registry.region(wanted.identity)
        entry = self.registry.register(recipes[0]) if known is None else known
        return self.lookup(entry, wanted.backend, wanted.dtypes)

    # Look-up

    def available(self, recipe: Recipe | str, backend: str) -> bool:
        """Whether some row, bound or promised, exists for a recipe on a backend, at whatever dtypes."""
        return self.available_in(self.table.snapshot(), recipe, backend) or any(
            self._promises.holds(self.recipe(recipe), element_type, backend)
            for element_type in self.recipe(recipe).uses
        )

    def available_in(self, rows: Snapshot | BindingTable, recipe: Recipe | str, backend: str) -> bool:
        """The same, reading only the table passed in."""
        rows = rows.snapshot() if isinstance(rows, BindingTable) else rows
        identity = recipe.identity if isinstance(recipe, Recipe) else self.recipe(recipe).identity
        return is_available(rows, identity, backend)

    def admissible(self, recipe: Recipe, dtypes: Sequence[str], backend: str, *, promised: bool = True) -> str | None:
        """The backend that has a row for a recipe at exactly these dtypes, or None (law L4).

        ``backend`` may be "auto": the session's backends in order of preference. Nothing is compiled.
        """
        rows = self.table.snapshot()
        for name in self._candidates(backend, recipe):
            if (recipe.identity, name, tuple(dtypes)) in rows:
                return name
            if promised:
                try:
                    element_type = recipe.element_type_for(dtypes)
                except RecipeError:
                    continue
                if self._promises.holds(recipe, element_type, name):
                    return name
        return None

    def lookup(self, recipe: Recipe | str, backend: str = "auto", dtypes: Sequence[str] | None = None) -> Row:
        """The row for a recipe at exactly these dtypes, its kernel made and probed if it was only promised.

        Without dtypes the answer is the only row there is. Raises `NotBound`, `Ambiguous`, or `BackendUnavailable`
        for a backend that cannot run here.
        """
        entry = self.recipe(recipe)
        if backend == "auto":
            return self._lookup_auto(entry, dtypes)
        wanted = self._only_dtypes(entry, backend) if dtypes is None else _spelled(dtypes)
        rows = self.table.snapshot()
        if wanted is not None:
            row = rows.get((entry.identity, backend, wanted))
            if row is not None and row.kernel is not None:
                return row
            made = self._promises.keep(entry, wanted, backend)
            if made is not None:
                return made
            if row is not None:
                raise NotBound(
                    f"a kernel is promised for {row.describe()}, but the session has no backend {backend} to make it; "
                    "register one with session.bind"
                )
        return find(rows, entry.identity, backend, wanted)

    def _lookup_auto(self, recipe: Recipe, dtypes: Sequence[str] | None) -> Row:
        misses: list[str] = []
        for name in self._candidates("auto", recipe):
            try:
                return self.lookup(recipe, name, dtypes)
            except (NotBound, BackendUnavailable) as error:
                misses.append(str(error))
        raise NotBound("; ".join(misses) or f"no backend is registered for @{recipe.name}")

    def _only_dtypes(self, recipe: Recipe, backend: str) -> tuple[str, ...] | None:
        """The dtypes of a recipe's only row: of the one that was bound, else of the one that is promised."""
        rows = self.table.rows(recipe.identity, backend)
        bound = [row.dtypes for row in rows if row.source != "promised"]
        if bound:
            return bound[0] if len(bound) == 1 else None
        promised = [
            sum(recipe.signature(each), ()) for each in recipe.uses if self._promises.holds(recipe, each, backend)
        ]
        if len(promised) > 1:
            spelled = "; ".join(f"({', '.join(each)})" for each in promised)
            raise Ambiguous(
                f"@{recipe.name} is promised at several dtypes on {backend}; say which are meant: {spelled}"
            )
        return promised[0] if promised else None

    def _candidates(self, backend: str, recipe: Recipe | None = None) -> list[str]:
        if backend != "auto":
            return [backend]
        rows = {row.backend for row in self.table.snapshot().values()}
        own = list(self.backends)
        if recipe is not None and "numpy" in own and is_contraction(recipe):
            own.sort(key=lambda name: name != "numpy")
        return [*own, *sorted(rows - set(own))]

    def kernel(self, recipe: Recipe | str, *dtypes: str, backend: str = "auto") -> Kernel:
        """The kernel of a recipe at an element type (one name) or at a full dtype tuple."""
        entry = self.recipe(recipe)
        full: tuple[str, ...] | None = dtypes or None
        if len(dtypes) == 1:
            if dtypes[0] not in entry.element_types:
                listed = f"its element_types are {', '.join(entry.element_types)}" if entry.element_types else ""
                written = f"it has {spell_dtypes(*entry.signature(None))}"
                raise NotBound(f"recipe @{entry.name} is not for element type {dtypes[0]}; {listed or written}")
            full = sum(entry.signature(dtypes[0]), ())
        kernel = self.lookup(entry, backend, full).kernel
        assert kernel is not None
        return kernel

    @property
    def failures(self) -> Mapping[tuple[str, str, tuple[str, ...]], str]:
        """Kernels of our own backends that failed their probe, with the reason."""
        return dict(self._promises.failures)

    # Fused ops

    def recipe_of(self, op: FusedOp, form: Form | None = None) -> Recipe | None:
        """The registered recipe that a fused op is an instance of, the label tried first; None if there is none.

        ``form`` is the region's form without fast-math flags, if it is at hand.
        """
        found = self.instance_of(op, form)
        return None if found is None else found.recipe

    def instance_of(self, op: FusedOp, form: Form | None = None) -> Instance | None:
        """The same with the element type, and where the recipe's core dimensions lie in the fused op's tensors."""
        return self._instances.of(op, self.registry, form)

    def admissible_instance(self, op: FusedOp, backend: str) -> str | None:
        """The backend that has a row for a fused op's recipe at its dtypes, bound or promised, or None."""
        recipe = self.recipe_of(op)
        return None if recipe is None else self.admissible(recipe, dtypes_of(op), backend)

    # Passes and patterns

    def patterns(self, backend: str = "auto") -> SessionPatterns:
        """One fuse and one lowering pattern per recipe, and the recipes that have no kernel on the backend.

        A recipe is gated out if no row, bound or promised, has it at any dtypes.
        """
        backends = self._candidates(backend)
        fusible: list[Recipe] = []
        gated_out: list[Recipe] = []
        for recipe in self.registry.entries():
            has_row = any(self.available(recipe, each) for each in backends)
            (fusible if has_row else gated_out).append(recipe)
        return SessionPatterns(
            [FusePattern(recipe, self, backend) for recipe in fusible], self.lowering_patterns(), gated_out
        )

    def lowering_patterns(self) -> list[DecomposePattern]:
        """One pattern per recipe that puts it back in place of its fused ops."""
        return [DecomposePattern(only=(recipe.name,)) for recipe in self.registry.entries()]

    def match(
        self,
        module: Operation,
        backend: str = "auto",
        only: Sequence[str] = (),
        *,
        roots: Collection[Operation] | None = None,
        escape: Escape = "refuse",
    ) -> Matches:
        """Where the session's recipes match in a module, and where not and why (rule R10). Nothing is rewritten.

        ``only`` names recipes or families. ``roots`` limits the look to matches that end in one of some ops; there
        every recipe is compared, whatever op it ends in. ``escape`` is what becomes of a match whose inner value is
        used outside it (rule R4).
        """
        recipes = self.registry.select(tuple(only)) if only else self.registry.entries()
        return find_matches(module, index_of(recipes), self.gate(backend), roots=roots, escape=escape)

    def outline(self, module: ModuleOp, backend: str = "auto", options: OutlineOptions | None = None) -> Outlined:
        """Put fused ops in place of the clusters of a module that no recipe names; their recipes are registered.

        A cluster is made only if the backend has a kernel for its recipe, bound or promised (law L4). Raises
        `UnsupportedError` if a value is used before its definition; then nothing has been changed.
        """
        return outline(module, self.registry, self.gate(backend), options)

    def gate(self, backend: str = "auto", *, promised: bool = True) -> Callable[[Recipe, Sequence[str]], str | None]:
        """What patterns and passes ask before they fuse: `admissible` for one backend."""
        return lambda recipe, dtypes: self.admissible(recipe, dtypes, backend, promised=promised)

    def child(self) -> Session:
        """A session that starts with this one's recipes, rows and backends, and changes nothing in it."""
        session = Session(library=False, backends=list(self.backends.values()))
        for recipe in self.registry.entries():
            session._registry.adopt(recipe)
        session.take_rows(self)
        return session

    def take_rows(self, other: Session) -> None:
        """Bind all rows of another session, and give up the promises that failed there."""
        for row in other.table.rows():
            self.table.bind(row)
        self._promises.failures = {**self._promises.failures, **other._promises.failures}

    # Current session

    def __enter__(self) -> Session:
        _CURRENT.set((*_CURRENT.get(), self))
        return self

    def __exit__(self, *_: object) -> None:
        _CURRENT.set(_CURRENT.get()[:-1])


def dtypes_of(op: FusedOp) -> tuple[str, ...]:
    """Element types of a fused op's arguments, then of its results."""
    return tuple(element_name(value.type) for value in (*op.inputs, *op.outputs))


def _given(kernel: object, dtypes: Sequence[str] | None) -> tuple[str, ...] | None:
    """The dtypes that a kernel is to be bound at: those given, else its own; None if there are none."""
    if dtypes is None:
        return kernel.dtypes if isinstance(kernel, Kernel) else None
    return _spelled(dtypes)


def _spelled(dtypes: Sequence[str]) -> tuple[str, ...]:
    if isinstance(dtypes, str) or not {type(each) for each in dtypes} <= {str}:
        raise BindingError(f"dtypes are names of element types, of arguments and then of results; got {dtypes!r}")
    return tuple(dtypes)


def _op_recipe(kind: str, dtypes: tuple[str, ...] | None, trusted: bool) -> Recipe:
    """A recipe of one op, by which a kernel for its kind is bound and probed."""
    if dtypes is None:
        raise BindingError(f"binding a kernel for '{kind}' needs dtypes: element types of operands and results")
    rule = PRIMITIVES[kind].types
    operands, results = dtypes[: len(rule.operands)], dtypes[len(rule.operands) :]
    problem = rule.check(operands, results)
    if problem is not None:
        raise BindingError(f"'{kind}' has no form at ({', '.join(dtypes)}): {problem}")
    comparison = kind in ("arith.cmpf", "arith.cmpi")
    if comparison and not trusted:
        raise BindingError(f"a kernel for '{kind}' cannot be probed, as any predicate will do; pass trusted=True")
    names = ", ".join(f"%{number}" for number in range(len(operands)))
    given = ", ".join(f"%{number}: {each}" for number, each in enumerate(operands))
    types = ", ".join(results)
    values = ", ".join(f"%r#{number}" for number in range(len(results)))
    properties = " <{predicate = 0 : i64}>" if comparison else ""
    signature = f"({', '.join(operands)}) -> ({types})"
    (recipe,) = parse_recipes(
        f"""xfuse.recipe @op({given}) -> ({types}) {{
          %r:{len(results)} = "{kind}"({names}){properties} : {signature}
          xfuse.yield {values} : {types}
        }}""",
        f"'{kind}' at {signature}",
    )
    return recipe


def _renamed(recipe: Recipe | RecipeOp | str, name: str) -> Recipe:
    op = as_recipe(recipe).op.clone()
    op.properties["sym_name"] = StringAttr(name)
    return Recipe(op, name)


_DEFAULT = Session()
_CURRENT: ContextVar[tuple[Session, ...]] = ContextVar("xfuse sessions", default=())


def current_session() -> Session:
    """The session that module-level functions act on: the innermost ``with session:``, else the default one."""
    return _CURRENT.get()[-1] if _CURRENT.get() else _DEFAULT


@contextmanager
def fresh_session(*, library: bool = True, backends: Sequence[Backend] | None = None) -> Generator[Session]:
    """A new session that is the current one inside ``with``."""
    with Session(library=library, backends=backends) as session:
        yield session
