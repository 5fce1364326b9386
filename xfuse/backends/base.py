"""What a backend of ours is to a session."""

from __future__ import annotations

from typing import Protocol

from xfuse.kernels import Kernel
from xfuse.recipes import Recipe


class Backend(Protocol):
    """Makes kernels for recipes. Its promises are rows of the table before any kernel exists."""

    @property
    def name(self) -> str:
        """The backend's name in options and table rows."""
        ...

    def unavailable(self) -> str | None:
        """Why the backend cannot run here and what to install, or None if it can. Costs no import."""
        ...

    def refusal(self, recipe: Recipe, element_type: str | None) -> str | None:
        """Why the backend cannot make a kernel for a recipe at an element type, or None if it can."""
        ...

    def compile(self, recipe: Recipe, element_type: str | None) -> Kernel:
        """The kernel. Raises `UnsupportedError` or `BackendUnavailable`."""
        ...
