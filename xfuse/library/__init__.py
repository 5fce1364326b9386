"""The recipes that come with xfuse: one file per family, whose first recipe bears the family's name."""

from __future__ import annotations

from importlib import resources
from pathlib import Path


def library_files() -> list[Path]:
    """The files of the library, one ``xfuse.library`` each, sorted by name."""
    with resources.as_file(resources.files(__name__)) as folder:
        return sorted(folder.glob("*.mlir"))
