"""Imports point one way: each module imports only modules of its own layer and of the layers below."""

from __future__ import annotations

import ast
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
PACKAGES = {"xfuse": ROOT / "xfuse", "xfuse_dialects": ROOT / "dialects" / "xfuse_dialects"}

LAYERS: tuple[tuple[str, ...], ...] = (
    ("xfuse_dialects",),
    ("xfuse.errors", "xfuse.collector", "xfuse.locations", "xfuse.orders", "xfuse.postorder", "xfuse.construction"),
    ("xfuse.primitives",),
    ("xfuse.canonical",),
    ("xfuse.parser", "xfuse.library", "xfuse.materialise", "xfuse.editing", "xfuse.spaces"),
    ("xfuse.recipes", "xfuse.kernels", "xfuse.probes", "xfuse.signature"),
    ("xfuse.specialisation", "xfuse.contractions", "xfuse.shapes"),
    (
        "xfuse.identify",
        "xfuse.layout",
        "xfuse.table",
        "xfuse.registry",
        "xfuse.validation",
        "xfuse.shipped",
        "xfuse.match",
    ),
    (
        "xfuse.backends",
        "xfuse.conversion",
        "xfuse.decomposition",
        "xfuse.emission",
        "xfuse.fusion",
        "xfuse.normalization",
        "xfuse.splitting",
        "xfuse.testing",
    ),
    ("xfuse.cost", "xfuse.verification"),
    ("xfuse.patterns", "xfuse.promises", "xfuse.instances", "xfuse.tracing", "xfuse.outlining"),
    ("xfuse.session",),
    ("xfuse.explanation",),
    ("xfuse.passes", "xfuse.frontend", "xfuse.reporting", "xfuse.runtime"),
    ("xfuse.api", "xfuse.targets"),
    ("xfuse", "xfuse.cli", "xfuse.demo", "xfuse.universe"),
)
"""Lowest first. A package stands for all that is in it, except `xfuse`, which is only its own `__init__`."""

EXCEPTIONS: dict[tuple[str, str], str] = {}
"""Imports against the arrow, (importer, imported) to the reason; they must stand inside functions."""

LAYER = {module: number for number, modules in enumerate(LAYERS) for module in modules}


def find_modules() -> dict[str, Path]:
    """All modules of the project, by dotted name."""
    found: dict[str, Path] = {}
    for package, folder in PACKAGES.items():
        for path in sorted(folder.rglob("*.py")):
            parts = (package, *path.relative_to(folder).with_suffix("").parts)
            found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    return found


MODULES = find_modules()


def layer(module: str) -> int:
    """Number of the layer that holds `module`."""
    name = module
    while name not in LAYER:
        name = name.rpartition(".")[0]
        if name in ("", "xfuse"):
            pytest.fail(f"{module} is in no layer: add it to LAYERS in {Path(__file__).name}", pytrace=False)
    return LAYER[name]


def imports(module: str, tree: ast.AST, is_package: bool) -> Iterator[tuple[str, ast.stmt]]:
    """The project's modules that `module` imports anywhere in its text, with the statements."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            base = node.module or ""
            if node.level:
                parts = module.split(".")
                here = parts[: len(parts) - node.level + is_package]
                base = ".".join([*here, *filter(None, [base])])
            members = [f"{base}.{alias.name}" for alias in node.names]
            names = [member if member in MODULES else base for member in members]
        else:
            continue
        yield from ((name, node) for name in names if name.split(".")[0] in PACKAGES)


def breaches(module: str, source: str, is_package: bool = False) -> list[str]:
    """One line for each import of `module` that goes up."""
    tree = ast.parse(source)
    own = layer(module)
    at_top = set(map(id, tree.body))
    found: list[str] = []
    for name, node in imports(module, tree, is_package):
        allowed = (module, name) in EXCEPTIONS and id(node) not in at_top
        if layer(name) > own and not allowed:
            found.append(f"line {node.lineno}: {module} (layer {own}) imports {name} (layer {layer(name)})")
    return found


@pytest.mark.parametrize("module", MODULES)
def test_imports_point_down(module: str) -> None:
    """Every module has a layer, and imports from no higher one, not even inside a function."""
    path = MODULES[module]
    assert breaches(module, path.read_text(encoding="utf-8"), path.name == "__init__.py") == []


@pytest.mark.parametrize(
    "source",
    [
        "import xfuse.canonical",
        "from xfuse.canonical import form",
        "from xfuse import canonical",
        "from ..canonical import form",
        "from .. import canonical",
        "def f():\n    from xfuse.canonical.form import build",
        "import xfuse",
    ],
)
def test_breaches_are_seen(source: str) -> None:
    """Every spelling of an import that goes up is found."""
    assert len(breaches("xfuse.primitives.primitive", source)) == 1


def test_imports_down_are_no_breaches() -> None:
    """Lower layers, the own layer and other projects may be imported."""
    source = "import xdsl.ir, numpy\nfrom xfuse import errors\nfrom ..primitives import table\nfrom . import form"
    assert breaches("xfuse.canonical.build", source) == []


def test_exceptions_are_in_use() -> None:
    """An exception that no module needs any more is removed."""
    used = {
        (module, name)
        for module, path in MODULES.items()
        for name, _ in imports(module, ast.parse(path.read_text(encoding="utf-8")), path.name == "__init__.py")
    }
    assert EXCEPTIONS.keys() <= used


def test_universe_imports_nothing_at_module_level() -> None:
    """xfuse/universe.py is imported at every start of every xDSL tool: it may import only xdsl.universe."""
    tree = ast.parse((PACKAGES["xfuse"] / "universe.py").read_text(encoding="utf-8"))
    assert tree.body
    found: set[str | None] = set()
    for statement in tree.body:
        if isinstance(statement, ast.If) and ast.unparse(statement.test) in ("TYPE_CHECKING", "typing.TYPE_CHECKING"):
            continue
        if isinstance(statement, ast.FunctionDef | ast.ClassDef):
            continue
        for node in ast.walk(statement):
            if isinstance(node, ast.Import):
                found.update(alias.name for alias in node.names)
            elif isinstance(node, ast.ImportFrom):
                found.add("." * node.level + (node.module or ""))
    assert found <= {"__future__", "collections.abc", "typing", "xdsl.universe"}


def test_universe_loads_nothing_heavy() -> None:
    """Importing the plugin loads neither NumPy nor LLVM."""
    code = "import sys, xfuse.universe; print(*sorted({'numpy', 'llvmlite', 'ml_dtypes'} & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout.split()) == (0, []), done.stdout + done.stderr
