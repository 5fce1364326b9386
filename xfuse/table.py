"""The binding table: which kernel computes which recipe, at which dtypes, on which backend."""

from __future__ import annotations

import dataclasses
import threading
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType

from xfuse.errors import Ambiguous, BindingError, NotBound
from xfuse.kernels import Kernel
from xfuse.recipes import Recipe

Dtypes = tuple[str, ...]
RowKey = tuple[str, str, Dtypes]


@dataclass(frozen=True, repr=False)
class Row:
    """One row: a kernel, or the promise of one, for (identity, dtypes, backend).

    ``identity`` is a recipe identity, or an op kind of the primitives table. ``dtypes`` are element type names of the
    arguments and then of the results. ``kernel`` is None while the kernel is only promised. ``ulp`` bounds its error
    per inexact op, ``cost`` is in nanoseconds per element or None for *unknown*, which is not zero and never wins.
    """

    identity: str
    dtypes: Dtypes
    backend: str
    kernel: Kernel | None
    source: str = "bound"
    ulp: float | None = None
    cost: float | None = None
    capabilities: frozenset[str] = frozenset()
    trusted: bool = False
    revision: int = field(default=0, compare=False)

    def __repr__(self) -> str:
        state = "promised" if self.kernel is None else self.source
        return f"Row({self.describe()}, {state})"

    @property
    def key(self) -> RowKey:
        """What the row is found by."""
        return (self.identity, self.backend, self.dtypes)

    def describe(self) -> str:
        """The row as a message names it."""
        return f"{self.identity[:12]} ({', '.join(self.dtypes)}) on {self.backend}"


Snapshot = Mapping[RowKey, Row]


class BindingTable:
    """Rows by key. Readers work on an immutable snapshot; writers copy and publish, so readers never wait."""

    def __init__(self) -> None:
        self._rows: Snapshot = MappingProxyType({})
        self._write = threading.Lock()
        self._generation = 0

    @property
    def generation(self) -> int:
        """Grows by one with every change."""
        return self._generation

    def snapshot(self) -> Snapshot:
        """All rows as they are now; later changes do not show in it."""
        return self._rows

    def rows(self, identity: str | None = None, backend: str | None = None) -> list[Row]:
        """Rows of an identity and backend, or of any, sorted by key."""
        return sorted(
            (row for row in self._rows.values() if identity in (None, row.identity) and backend in (None, row.backend)),
            key=lambda row: row.key,
        )

    def bind(self, row: Row, *, replace: bool = False) -> Row:
        """Add a row. The same row again changes nothing; another one under its key needs ``replace=True``.

        A promise is kept by any kernel, and adds nothing to one. Returns the row as stored. Raises `BindingError` if
        the key is taken.
        """
        with self._write:
            old = self._rows.get(row.key)
            if old is not None and (old.kernel is not None or row.kernel is None):
                if row.kernel is None or old.kernel is None:
                    return old
                same = old.kernel.function == row.kernel.function
                if same and old == dataclasses.replace(row, kernel=old.kernel):
                    return old
                if not replace:
                    differs = "with other facts (trusted, ulp, cost)" if same else f"from {old.source}"
                    raise BindingError(
                        f"a kernel is already bound for {row.describe()}, {differs}; pass replace=True to replace it"
                    )
            stored = dataclasses.replace(row, revision=self._generation + 1)
            self._publish({**self._rows, row.key: stored})
            return stored

    def unbind(self, row: Row) -> None:
        """Remove the row under the key of this one; removing what is not there changes nothing."""
        self.unbind_all([row])

    def unbind_all(self, rows: Iterable[Row]) -> None:
        """Remove several rows in one step."""
        gone = {row.key for row in rows}
        with self._write:
            if not gone.isdisjoint(self._rows):
                self._publish({key: kept for key, kept in self._rows.items() if key not in gone})

    def admissible(self, recipe: Recipe, dtypes: Sequence[str], backend: str) -> str | None:
        """The backend that has a row for a recipe at exactly these dtypes, or None; "auto" takes any backend."""
        rows = self._rows
        names = sorted({row.backend for row in rows.values()}) if backend == "auto" else [backend]
        return next((name for name in names if (recipe.identity, name, tuple(dtypes)) in rows), None)

    def _publish(self, rows: Mapping[RowKey, Row]) -> None:
        self._rows = MappingProxyType(dict(rows))
        self._generation += 1


def find(rows: Snapshot, identity: str, backend: str, dtypes: Sequence[str] | None = None) -> Row:
    """The row for an identity and backend at exactly these dtypes; without dtypes, the only one there is.

    Raises `NotBound` if no row fits and `Ambiguous` if several do, naming the nearest rows.
    """
    if dtypes is not None:
        row = rows.get((identity, backend, tuple(dtypes)))
        if row is not None:
            return row
        raise NotBound(
            f"no kernel is bound for {identity[:12]} ({', '.join(dtypes)}) on {backend}; register one with "
            f"session.bind. Nearest rows: {_nearest(rows, identity, backend)}"
        )
    found = [row for row in rows.values() if row.identity == identity and row.backend == backend]
    if len(found) == 1:
        return found[0]
    if not found:
        raise NotBound(
            f"no kernel is bound for {identity[:12]} on {backend}; register one with session.bind. Nearest rows: "
            f"{_nearest(rows, identity, backend)}"
        )
    raise Ambiguous(
        f"{len(found)} kernels are bound for {identity[:12]} on {backend}; say which dtypes are meant: "
        f"{'; '.join(sorted('(' + ', '.join(row.dtypes) + ')' for row in found))}"
    )


def is_available(rows: Snapshot, identity: str, backend: str) -> bool:
    """Whether any row exists for an identity and backend, at whatever dtypes: coarse by design."""
    return any(row.identity == identity and row.backend == backend for row in rows.values())


def _nearest(rows: Snapshot, identity: str, backend: str) -> str:
    """The rows of the same identity, those of the same backend first."""
    near = sorted((row for row in rows.values() if row.identity == identity), key=lambda row: row.backend != backend)
    return "; ".join(row.describe() for row in near[:4]) or "none for this recipe"
