"""The documentation: every example runs and shows what comes out, generated pages are fresh, names and links exist.

In README.md and docs/*.md

- ``python`` blocks of one page run in order, in one namespace and one session. What a block prints is the ``text``
  block right after it; ``expression  # -> value`` compares the value's repr.
- ``console`` blocks run each ``$ command`` in the root of the repository and compare what it prints.
- ``mlir`` blocks parse and verify.

``...`` in shown output stands for any text.
"""

from __future__ import annotations

import ast
import importlib
import importlib.util
import io
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import redirect_stdout
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple

import pytest

import xfuse

ROOT = Path(__file__).resolve().parents[1]
PAGES = {
    path.relative_to(ROOT).as_posix(): path for path in [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
}
TIME_LIMIT = 120
"""Seconds for one command."""


class Block(NamedTuple):
    """A fenced block: its language, the line it begins at, its text, and the text shown right after it."""

    language: str
    line: int
    text: str
    shown: str


def blocks(page: str) -> Iterator[Block]:
    """The fenced blocks of a page; a ``text`` block with nothing but space before it belongs to the one before."""
    text = PAGES[page].read_text()
    found = list(re.finditer(r"^```(\S*)\n(.*?)^```$", text, re.MULTILINE | re.DOTALL))
    for number, match in enumerate(found):
        following = found[number + 1] if number + 1 < len(found) else None
        shown = ""
        if following is not None and following[1] == "text" and not text[match.end() : following.start()].strip():
            shown = following[2]
        line = text.count("\n", 0, match.start()) + 1
        yield Block(match[1], line, match[2], shown)


def shows(shown: str, printed: str) -> bool:
    """Whether a page shows what was printed; ``...`` stands for any text, space at the ends of lines for nothing."""
    shown, printed = ("\n".join(line.rstrip() for line in text.strip().splitlines()) for text in (shown, printed))
    pattern = ".*?".join(map(re.escape, shown.split("...")))
    return re.fullmatch(pattern, printed, re.DOTALL) is not None


def compare(where: str, shown: str, printed: str) -> None:
    """Fail with both texts if a page does not show what was printed."""
    if not shows(shown, printed):
        pytest.fail(f"{where} shows\n{shown.strip()}\n--- but this came out:\n{printed.strip()}", pytrace=False)


def run_python(page: str, block: Block, namespace: dict[str, Any]) -> None:
    """Run one block, statement by statement, and compare what it prints and its ``# ->`` values."""
    printed = io.StringIO()
    lines = block.text.splitlines()
    with redirect_stdout(printed):
        for statement in ast.parse(block.text).body:
            padded = ast.increment_lineno(statement, block.line)
            where = f"{page}:{statement.lineno}"
            last = lines[(statement.end_lineno or 0) - block.line - 1]
            _, arrow, value = last.partition("  # -> ")
            try:
                if isinstance(padded, ast.Expr) and arrow:
                    got = eval(compile(ast.Expression(padded.value), where, "eval"), namespace)
                    compare(where, value, repr(got))
                else:
                    exec(compile(ast.Module([padded], []), where, "exec"), namespace)
            except Exception as error:
                error.add_note(f"in the block at {where}")
                raise
    compare(f"{page}:{block.line}", block.shown, printed.getvalue())


@pytest.mark.parametrize("page", [page for page in PAGES if any(b.language == "python" for b in blocks(page))])
def test_python(page: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The python blocks of a page, in order."""
    monkeypatch.chdir(ROOT)
    namespace: dict[str, Any] = {"__name__": "docs"}
    with xfuse.Session():
        for block in blocks(page):
            if block.language == "python":
                run_python(page, block, namespace)


def commands(block: Block) -> Iterator[tuple[str, str]]:
    """The commands of a console block and what is shown after each; a command may go on after a backslash."""
    assert block.text.startswith("$ ")
    for part in re.split(r"^\$ ", block.text, flags=re.MULTILINE)[1:]:
        command, shown = re.match(r"((?:[^\n]*\\\n)*[^\n]*\n)(.*)", part, re.DOTALL).groups()
        yield command.strip(), shown


CONSOLE = [
    pytest.param(page, command, shown, id=f"{page}:{block.line}-{number}")
    for page in PAGES
    for block in blocks(page)
    if block.language == "console"
    for number, (command, shown) in enumerate(commands(block))
]


@pytest.mark.parametrize(("page", "command", "shown"), CONSOLE)
def test_console(page: str, command: str, shown: str) -> None:
    """A command of a page, with the programs beside this Python on PATH."""
    path = os.pathsep.join([os.path.dirname(sys.executable), os.environ.get("PATH", os.defpath)])
    done = subprocess.run(
        ["bash", "-c", command],
        cwd=ROOT,
        env={**os.environ, "PATH": path},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=TIME_LIMIT,
        check=False,
    )
    compare(f"{page}: $ {command}", shown, done.stdout)


@pytest.mark.parametrize("page", PAGES)
def test_mlir_blocks_verify(page: str) -> None:
    """What a page shows as MLIR is MLIR."""
    for block in blocks(page):
        if block.language == "mlir":
            xfuse.parse_module(block.text, f"{page}:{block.line}")


@pytest.mark.parametrize("page", PAGES)
def test_links(page: str) -> None:
    """Relative links lead to files, and anchors to headings."""
    text = re.sub(r"^```.*?^```$", "", PAGES[page].read_text(), flags=re.MULTILINE | re.DOTALL)
    for target in re.findall(r"\]\((?!https?:)([^)]+)\)", text):
        path, _, anchor = target.partition("#")
        file = PAGES[page].parent / path if path else PAGES[page]
        assert file.exists(), f"{page} links to {target}"
        if anchor:
            heads = re.findall(r"^#+ (.*)$", file.read_text(), re.MULTILINE)
            assert anchor in {re.sub(r"[^\w\- ]", "", head).strip().lower().replace(" ", "-") for head in heads}, target


def generator() -> ModuleType:
    """docs/generate.py as a module."""
    spec = importlib.util.spec_from_file_location("xfuse_docs_generate", ROOT / "docs" / "generate.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


def test_generated_pages_are_up_to_date() -> None:
    """docs/generate.py would write what is there."""
    stale = [path.name for path, text in generator().pages().items() if path.read_text() != text]
    assert not stale, f"run docs/generate.py: {', '.join(stale)} out of date"


def test_every_option_is_used_in_an_example() -> None:
    """The passes page runs every pass, with every option it has."""
    examples = " ".join(command for page, command, _ in (p.values for p in CONSOLE) if page == "docs/passes.md")
    module = generator()
    for name, factory in module.XFUSE_UNIVERSE.all_passes.items():
        assert name in examples, name
        for option in module.pass_options(factory()):
            assert re.search(rf"{name}{{[^}}]*\b{option.name}=", examples), f"{name}: no example with {option.name}"


def table_rows(page: str) -> Iterator[list[str]]:
    """The cells of all table rows of a page but heads."""
    lines = PAGES[page].read_text().splitlines()
    for number, line in enumerate(lines):
        after = lines[number + 1] if number + 1 < len(lines) else ""
        if line.startswith("|") and not set(line) <= set("|- ") and not (after and set(after) <= set("|- ")):
            yield [cell.strip() for cell in line.strip("|").split("|")]


def test_verifier_messages_are_tested() -> None:
    """Every message that the dialect page lists stands in a CHECK line of lit_tests/dialects/invalid.mlir."""
    checks = re.findall(
        r"^// CHECK: \{\{\^\}\}(.*)$", (ROOT / "lit_tests/dialects/invalid.mlir").read_text(), re.MULTILINE
    )
    listed = [re.findall(r"`([^`]+)`", cells[-1])[0] for cells in table_rows("docs/dialect.md") if "`'" in cells[-1]]
    assert len(listed) > 10
    for message in listed:
        pattern = ".*".join(map(re.escape, message.split("...")))
        assert any(re.search(pattern, check) for check in checks), message


def test_refusals_are_documented() -> None:
    """The passes page lists every rule and word that a refusal can have, and no other."""
    files = [path for package in ("match", "outlining") for path in sorted((ROOT / "xfuse" / package).glob("*.py"))]
    source = "".join(path.read_text() for path in files)
    known = set(re.findall(r'"([RL]\d+)",\s*"([a-z-]+)"', source))
    listed = {
        (cells[0], cells[1].strip("`")) for cells in table_rows("docs/passes.md") if re.match(r"[RL]\d", cells[0])
    }
    assert listed == known


MAP = "docs/reference-map.md"


def test_reference_map_names_tests_that_exist() -> None:
    """Every test in the map is a function of its file, or a lit test."""
    named = set(re.findall(r"`((?:lit_)?tests/[^`\s]+)`", PAGES[MAP].read_text()))
    assert named
    for test in sorted(named):
        file, _, function = test.partition("::")
        path = ROOT / file
        assert path.exists(), test
        if function:
            functions = {node.name for node in ast.parse(path.read_text()).body if isinstance(node, ast.FunctionDef)}
            assert function in functions, test


def test_reference_map_names_things_that_exist() -> None:
    """Every dotted xfuse name in the map resolves, and every pass is one."""
    text = PAGES[MAP].read_text()
    names = set(re.findall(r"`(xfuse(?:_dialects)?\.[\w.]+)`", text))
    assert len(names) > 20
    for name in sorted(names):
        assert resolves(name), name
    for name in set(re.findall(r"`(xfuse-\w+)", text)):
        assert name in generator().XFUSE_UNIVERSE.all_passes, name


def resolves(name: str) -> bool:
    """Whether a dotted name is a module, or an attribute or dataclass field in one."""
    parts = name.split(".")
    for length in range(len(parts), 0, -1):
        try:
            found: Any = importlib.import_module(".".join(parts[:length]))
        except ImportError:
            continue
        for part in parts[length:]:
            fields = getattr(found, "__dataclass_fields__", {})
            if part in fields:
                found = None
            elif hasattr(found, part):
                found = getattr(found, part)
            else:
                return False
        return True
    return False


def test_reference_map_is_complete() -> None:
    """The map has a row for every name that the reference modules document."""
    rows = "\n".join(cells[0] for cells in table_rows(MAP))
    for name in REFERENCE_NAMES.split():
        assert re.search(rf"\b{name}\b", rows), name


def test_reference_map_lists_every_behaviour() -> None:
    """The map has a row for every unit test of the reference; a test that it names there names the original too."""
    behaviours = ROOT / "tests" / "reference_behaviours.txt"
    originals = {line for line in behaviours.read_text().split("\n") if line and line[0] not in "#["}
    assert len(originals) > 123
    listed: set[str] = set()
    for cells in table_rows(MAP):
        names = originals.intersection(re.findall(r"`([^`]+)`", cells[0]))
        assert not names & listed, f"{names & listed} stands in the map twice"
        listed |= names
        tests = re.findall(r"`(tests/[^`:]+)::", cells[-1])
        for name in names:
            assert tests or len(cells) == 2, f"{name} has neither a test nor a reason"
            if tests and not name.endswith("*"):
                assert any(name in (ROOT / test).read_text() for test in tests), f"no docstring names {name}"
    assert listed == originals


REFERENCE_NAMES = """
    runtime_fused RuntimeFusedOpEntry RelAttrError RuntimeFusedError count_scalar_slots decompose_region emit_region
    register_runtime_fused resolve_rel_attrs runtime_entries runtime_lowering_decompose runtime_name runtime_region
    try_emit_region runtime_fused_kernels RuntimeKernelBinding FusedLookupMiss adopt_runtime_fused
    fused_kernel_available fused_kernel_available_in lookup_runtime_kernel register_runtime_kernel
"""
