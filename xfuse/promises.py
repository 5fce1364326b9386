"""Promised rows: what our own backends would make a kernel for, and making it at first use (law L6)."""

from __future__ import annotations

import threading
from collections.abc import Mapping

from xfuse.backends.base import Backend
from xfuse.backends.numpy.backend import NumPyBackend
from xfuse.errors import BackendUnavailable, NotBound, RecipeError, XfuseError
from xfuse.kernels import Kernel
from xfuse.recipes import Recipe
from xfuse.table import BindingTable, Row, RowKey
from xfuse.verification import probe


class Promises:
    """The promises of some backends for one table. A promise whose kernel was no good is withdrawn."""

    def __init__(self, backends: Mapping[str, Backend], table: BindingTable) -> None:
        self.backends = backends
        self.table = table
        self.failures: Mapping[RowKey, str] = {}
        """Kernels that could not be made or failed their probe, with the reason."""
        self._lock = threading.RLock()
        self._making: dict[RowKey, threading.RLock] = {}

    def holds(self, recipe: Recipe, element_type: str | None, backend: str) -> bool:
        """Whether a backend would make a kernel for a recipe at an element type. Nothing is compiled."""
        maker = self.backends.get(backend)
        if maker is None or maker.unavailable() is not None:
            return False
        dtypes = sum(recipe.signature(element_type), ())
        if (recipe.identity, backend, dtypes) in self.failures:
            return False
        return maker.refusal(recipe, element_type) is None

    def keep(self, recipe: Recipe, dtypes: tuple[str, ...], backend: str) -> Row | None:
        """The row with its kernel made, probed and bound; None if nothing is promised at these dtypes.

        Raises `BackendUnavailable`, and `NotBound` if the backend refuses or its kernel was no good.
        """
        maker = self.backends.get(backend)
        if maker is None:
            return None
        reason = maker.unavailable()
        if reason is not None:
            raise BackendUnavailable(reason)
        try:
            element_type = recipe.element_type_for(dtypes)
        except RecipeError:
            return None
        key = (recipe.identity, backend, dtypes)
        with self._lock:
            making = self._making.setdefault(key, threading.RLock())
        with making:  # threads that want one kernel make it once
            row = self.table.snapshot().get(key)
            if row is not None and row.kernel is not None:
                return row
            if key not in self.failures:
                refusal = maker.refusal(recipe, element_type)
                if refusal is not None:
                    raise NotBound(
                        f"{backend} cannot make a kernel for @{recipe.name} ({', '.join(dtypes)}): {refusal}"
                    )
                kernel = self._made(maker, recipe, element_type, key)
                if kernel is not None:
                    return self.table.bind(Row(recipe.identity, dtypes, backend, kernel, source="promised"))
        raise NotBound(f"the kernel that {backend} made for @{recipe.name} is no good: {self.failures[key]}")

    def _made(self, maker: Backend, recipe: Recipe, element_type: str | None, key: RowKey) -> Kernel | None:
        """A backend's kernel, probed; a failure ends its promise."""
        try:
            kernel = maker.compile(recipe, element_type)
        except BackendUnavailable:
            raise
        except Exception as error:  # a missing kernel is never an error (law L4)
            problem = f"making it raised {type(error).__name__}: {error}"
        else:
            found = None if type(maker) is NumPyBackend else probe_problem(recipe, element_type, kernel)
            if found is None:
                return kernel
            problem = f"it failed its probe (law L6): {found}"
        with self._lock:
            self.failures = {**self.failures, key: problem}
            self.table.unbind(Row(key[0], key[2], key[1], None))
        return None


def probe_problem(recipe: Recipe, element_type: str | None, kernel: Kernel) -> str | None:
    """What is wrong with a kernel, in words; None if it agrees with its recipe on the probe set."""
    try:
        return probe(recipe.form(element_type), kernel)
    except XfuseError as error:
        return f"it cannot be probed: {error}; bind it with trusted=True if it is known to be right"
