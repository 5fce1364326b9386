"""Writes what the documentation takes from the code: ``spellings.md`` and ``vocabulary.md``, and the tables between
markers of other pages.

python docs/generate.py           write the pages
python docs/generate.py --check   change nothing; status 1 if a page is out of date
"""

from __future__ import annotations

import ast
import csv
import inspect
import re
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from pathlib import Path

from xdsl.dialects.func import FuncOp

from xfuse.backends.llvm.backend import LLVMBackend
from xfuse.canonical.build import GraphBuilder
from xfuse.canonical.form import Form, canonical_form
from xfuse.errors import XfuseError
from xfuse.identify import function_form
from xfuse.parser import default_context, load_module, resource_blobs
from xfuse.passes.describe import pass_options
from xfuse.primitives.table import PRIMITIVES
from xfuse.primitives.vocabulary.spelling import Spelling as TagSpelling
from xfuse.primitives.vocabulary.table import GROUPS, Row
from xfuse.recipes import Recipe, parse_recipes, spell_dtypes
from xfuse.signature import core_signature
from xfuse.universe import XFUSE_UNIVERSE

ROOT = Path(__file__).resolve().parents[1]
DOCS = ROOT / "docs"
CORPUS = ROOT / "tests" / "corpus"


# Spellings


@dataclass(frozen=True)
class Spelling:
    """One file of the corpus: its form, and the forms that reasons are read off."""

    name: str
    form: Form
    unflagged: str
    """The text without fast-math flags."""

    @property
    def text(self) -> str:
        """The canonical text."""
        return self.form.text

    @property
    def identity(self) -> str:
        """The first eight digits of the identity."""
        return self.form.identity[:8]

    @property
    def kinds(self) -> Counter[str]:
        """How often each kind of node stands in the text."""
        return Counter(kind for kind, _ in nodes(self.text))

    @property
    def heads(self) -> Counter[str]:
        """The same with element types and attributes, operands left out."""
        return Counter(shorten(re.sub(r"^%\d+ = | \([^()]*\)$", "", line)) for _, line in nodes(self.text))

    def first_results(self, count: int) -> str:
        """The text of the first results alone."""
        form = self.form
        return canonical_form(form.graph, form.arguments, form.results[:count]).text


def nodes(text: str) -> Iterator[tuple[str, str]]:
    """Kind and line of every node of a canonical text, arguments left out."""
    for line in text.splitlines():
        found = re.match(r"%\d+ = (\S+) ", line)
        if found is not None:
            yield found[1], line


def read(path: Path) -> Spelling:
    """The only function of a file. Raises `XfuseError` if it has no form."""
    module = load_module(path, default_context())
    functions = [op for op in module.walk() if isinstance(op, FuncOp) and op.body.blocks]
    (main,) = [op for op in functions if op.sym_name.data == "main"]
    form = function_form(main)
    unflagged = form.text
    if "fastmath" in form.text:
        builder = GraphBuilder(fastmath=False, resources=resource_blobs())
        for argument in main.body.block.args:
            builder.argument(argument)
        results = builder.block(main.body.block)
        unflagged = canonical_form(builder.graph, builder.argument_values, results).text
    return Spelling(path.stem, form, unflagged)


def reason(usual: Spelling, other: Spelling) -> str:
    """Why a spelling has not the usual identity, read off the two canonical texts."""
    mine, theirs = len(usual.form.results), len(other.form.results)
    if theirs > mine and other.first_results(mine) == usual.text:
        what = "result has" if mine == 1 else f"{mine} results have"
        return f"returns {theirs - mine} more; the first {what} the usual identity"
    if other.unflagged == usual.unflagged:
        return "fast-math flags and nothing else"
    if mine != theirs:
        return f"{theirs} results instead of {mine}"
    parts = [note for note in (opaque(other), run_time_extents(usual, other), reshapes(usual, other)) if note]
    if not parts:
        same = "the same ops and attributes on other operands"
        apart = apart_in(usual.kinds, other.kinds) or apart_in(usual.heads, other.heads) or same
        parts = [f"other algebra: {apart}"]
    return f"{'; '.join(parts)}. First difference: {first_difference(usual.text, other.text)}"


def opaque(other: Spelling) -> str | None:
    """Ops that are not in the primitives table."""
    found = sorted({re.findall(r"op = \((\S+),", line)[0] for kind, line in nodes(other.text) if kind == "opaque"})
    return f"`{'`, `'.join(found)}` is not in the vocabulary, an opaque node" if found else None


def run_time_extents(usual: Spelling, other: Spelling) -> str | None:
    """An extent that one spelling reads and the other holds as a literal."""
    extra = other.kinds - usual.kinds
    missing = usual.kinds - other.kinds
    if not extra["extent"]:
        return None
    allowed = {"extent", "arith.index_cast", "arith.sitofp", "arith.uitofp", "constant"}
    only = set(extra) <= allowed and set(missing) <= {"constant"}
    return f"an extent is read at run time that is a literal there{'' if only else ', and other ops'}"


def reshapes(usual: Spelling, other: Spelling) -> str | None:
    """Real reshapes, which are nodes, where the other spelling has none or fewer."""
    here, there = other.kinds["reshape"], usual.kinds["reshape"]
    if here == there:
        return None
    rest = (other.kinds - usual.kinds) + (usual.kinds - other.kinds)
    del rest["reshape"]
    also = f", and other ops ({spell(rest)})" if rest else ", all other kinds of ops are the same"
    return f"{here} real reshapes instead of {there}{also}"


def apart_in(usual: Counter[str], other: Counter[str]) -> str:
    """What one of two bags has more of."""
    extra, missing = other - usual, usual - other
    return "; ".join(f"{word} {spell(kinds)}" for word, kinds in (("has", extra), ("lacks", missing)) if kinds)


def spell(kinds: Counter[str]) -> str:
    """A bag of kinds in words."""
    return ", ".join(f"`{kind}`" + (f" x{n}" if n > 1 else "") for kind, n in sorted(kinds.items()))


def first_difference(usual: str, other: str) -> str:
    """The first lines of two texts that differ."""
    for left, right in zip_longest(usual.splitlines(), other.splitlines(), fillvalue="nothing"):
        if left != right:
            return f"usual `{shorten(left)}`, here `{shorten(right)}`"
    raise AssertionError("the texts are equal")


def shorten(line: str) -> str:
    """A line of a canonical text with its digests cut to eight digits."""
    line = re.sub(r"(sha256:[0-9a-f]{8})[0-9a-f]+", r"\1", line)
    return line if len(line) <= 120 else f"{line[:117]}..."


def usual_of(spellings: Sequence[Spelling]) -> Spelling:
    """A spelling of the identity that most share; of several, the one met first."""
    counts = Counter(each.identity for each in spellings)
    return max(spellings, key=lambda each: counts[each.identity])


def spellings_page() -> str:
    """The page about identities of the corpus."""
    patterns: list[str] = []
    shared = total = 0
    made = manifest()
    for folder in sorted(path for path in (CORPUS / "variants").iterdir() if (path / "arith.mlir").exists()):
        found, rows = [], list[tuple[str, ...]]()
        for path in sorted(folder.glob("*.mlir")):
            try:
                found.append(read(path))
            except XfuseError as error:
                rows.append((f"`{path.stem}`", "none", made[folder.name, path.stem], str(error)))
                total += 1
        usual = usual_of(found)
        for each in found:
            same = each.text == usual.text
            shared, total = shared + same, total + 1
            why = "" if same else reason(usual, each)
            how = made[folder.name, each.name].replace("<", "&lt;")
            rows.append((f"`{each.name}`", f"`{each.identity}`", how, why))
        count = sum(each.text == usual.text for each in found)
        rows.sort()
        patterns.append(
            f"### {folder.name}: {count} of {len(rows)} share `{usual.identity}`\n\n"
            + table(("spelling", "identity", "how it was made", "why another identity"), rows)
        )
    programs: list[tuple[str, ...]] = []
    agree = count = 0
    for folder in sorted(path for path in (CORPUS / "dev").iterdir() if path.is_dir()):
        found, others = [], list[str]()
        for kind in ("linalg", "fused", "named", "tensor"):
            path = folder / f"{folder.name}.{kind}.mlir"
            if not path.exists():
                continue
            try:
                found.append(read(path))
            except XfuseError as error:
                others.append(f"`{kind}` has no form: {error}")
        if not found:
            programs.append((folder.name, "", "0", "; ".join(others)))
            continue
        usual = usual_of(found)
        same = [each for each in found if each.text == usual.text]
        agree, count = agree + len(same), count + len(found)
        others += [
            f"`{each.name.rpartition('.')[2]}` (`{each.identity}`): {reason(usual, each)}"
            for each in found
            if each.text != usual.text
        ]
        programs.append((folder.name, f"`{usual.identity}`", f"{len(same)} of {len(found)}", "<br>".join(others)))
    return "\n".join(
        (
            "# Spellings and identities",
            "",
            "<!-- Made by docs/generate.py; do not edit. -->",
            "",
            "Which spellings of one function have one identity, and why others have not. The identity is that of the",
            "function `@main`, cut to eight digits. The reason is read off the canonical texts, in this order: the",
            "results of one are the first results of the other; the texts are equal once fast-math flags are left out;",
            "otherwise the kinds of nodes are counted and the first lines that differ are shown. A different identity",
            "is a fact about structure, no verdict: `near_miss` must differ, other algebra is another recipe of the",
            "same family.",
            "",
            f"## Patterns: {shared} of {total} spellings share their pattern's usual identity",
            "",
            *patterns,
            f"## Programs: {agree} of {count} spellings share their program's usual identity",
            "",
            "`linalg` is the compiler's output, `fused` the same after element-wise fusion, `named` with named linalg",
            "ops, `tensor` with arith and math ops on tensors.",
            "",
            table(("program", "identity", "spellings that share it", "the others"), programs),
        )
    )


def manifest() -> dict[tuple[str, str], str]:
    """How each variant was made."""
    with (CORPUS / "variants" / "MANIFEST.tsv").open() as file:
        return {(row["pattern"], row["spelling"]): row["how"] for row in csv.DictReader(file, delimiter="\t")}


def table(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A Markdown table."""
    lines = [heads, ["---"] * len(heads), *rows]
    return "".join(f"| {' | '.join(cell.replace('|', '&#124;') for cell in line)} |\n" for line in lines)


# Vocabulary


def vocabulary_page() -> str:
    """The page about the reference system's tags: how each is spelled, and what LLVM kernels take."""
    parts: list[str] = []
    shown: set[str] = set()
    for title, rows in GROUPS.items():
        heads = ("tag", "spelling", "types", "dimensions", "LLVM kernels", "")
        parts.append(f"## {title}\n")
        parts.append(table(heads, [cells for row in rows for cells in vocabulary_rows(row)]))
        for spelling in dict.fromkeys(spelling for row in rows for spelling in row.spellings):
            if inline(spelling) is None and spelling.name not in shown:
                shown.add(spelling.name)
                parts.append(f"### @{spelling.name}\n\n```mlir\n{spelling.text}```\n")
    count = sum(map(len, GROUPS.values()))
    return "\n".join((VOCABULARY_INTRODUCTION.format(count=count), *parts))


VOCABULARY_INTRODUCTION = """# Vocabulary

<!-- Made by docs/generate.py; do not edit. -->

The reference system's fused ops are graphs of 80 primitive operations. Here each is spelled in upstream ops, as a
recipe at its core rank; every other dimension loops. `Clamp`, `Const`, `RuntimeScalar` and `ReducedCount` it knows and
declines; `MinDim`, `ArgMaxDim` and `ArgMinDim`, which it has in graphs and not in recipes, come on top: {count} rows.
The table and the recipes are in `xfuse/primitives/vocabulary`. `tests/test_vocabulary.py` runs each against NumPy, and
`lit_tests/vocabulary` has an example of each in a program, which decomposes to what real mlir-opt takes.

- **types** has one letter an argument and result; equal letters are equal types. `F G` float, `I` integer or index,
  `N` integer, `B` i1, `X` anything.
- **dimensions** are those of arguments and results, as NumPy spells a gufunc's signature.
- **LLVM kernels** are the element types at which the LLVM backend makes a kernel of the recipe as it stands; at
  integers float ops give way to integer ones (`arith.addf` to `arith.addi`). NumPy runs every row.
- **no recipe alone**: the registry refuses the spelling by itself, as it computes nothing. It stands in larger recipes.
- Axes, shifts, amounts and literals are shown with an example value. Each counts for identity.
"""


def vocabulary_rows(row: Row) -> Iterator[tuple[str, ...]]:
    """The lines of one tag, one a spelling."""
    for number, spelling in enumerate(row.spellings):
        (recipe,) = parse_recipes(spelling.text)
        notes = [note for note in (row.notes, row.alone) if note] if number == 0 else []
        yield (
            f"`{row.tag}`",
            inline(spelling) or f"[`@{spelling.name}`](#{spelling.name})",
            f"`{spelling.types.text}`",
            f"`{core_signature(recipe.form()).text}`",
            "no recipe alone" if row.alone else kernels(spelling, recipe),
            "; ".join(notes),
        )


def inline(spelling: TagSpelling) -> str | None:
    """The body of a recipe that is one op, as code; None if there is more to it."""
    lines = spelling.text.splitlines()
    if spelling.text.startswith("#") or len(lines) != 4:
        return None
    return f"`{lines[1].partition('= ')[2]}`"


def kernels(spelling: TagSpelling, recipe: Recipe) -> str:
    """The element types at which the LLVM backend takes a spelling, at floats and at integers."""
    found = [recipe, *(parse_recipes(spelling.integer_text) if spelling.integers else ())]
    backend = LLVMBackend()
    taken = [
        use or spell_dtypes(*each.signature(use))
        for each in found
        for use in each.uses
        if backend.refusal(each, use) is None
    ]
    return f"`{' '.join(taken)}`" if taken else "NumPy only"


# Tables of other pages


def errors_table() -> str:
    """The rows of the primitives table as the numerics page shows them."""
    rows: list[tuple[str, ...]] = []
    for row in PRIMITIVES.values():
        error = "exact" if row.ulp == 0 else f"{row.ulp:g} ulp"
        notes = ["commutative"] * row.commutative + ["may not be hoisted"] * (not row.speculatable)
        notes += [f"reads integers as {row.signedness}"] if row.signedness else []
        rows.append((f"`{row.name}`", f"`{row.types.text}`", error, f"{row.cost:g}", ", ".join(notes)))
    return table(("op", "types", "error", "cost", ""), rows)


def options_table() -> str:
    """Every pass with its options, as the passes page shows them."""
    parts: list[str] = []
    for name, factory in XFUSE_UNIVERSE.all_passes.items():
        kind = factory()
        rows = [
            (f"`{each.name}`", spelled(each.values), f"`{each.default}`" if each.default else "", plain(each.text))
            for each in pass_options(kind)
        ]
        summary = inspect.cleandoc(kind.__doc__ or "").replace("``", "`")
        body = table(("option", "values", "default", ""), rows) if rows else "No options.\n"
        parts.append(f"### `{name}`\n\n{summary}\n\n{body}")
    return "\n".join(parts)


def spelled(values: str) -> str:
    """The values of an option, single words as code."""
    words = values.split(", ")
    return values if any(" " in word for word in words) else ", ".join(f"`{word}`" for word in words)


def plain(text: str) -> str:
    """A docstring with Markdown's single backquotes."""
    return text.replace("``", "`")


def layers_table() -> str:
    """The layers of tests/test_layers.py with what each module says of itself."""
    tree = ast.parse((ROOT / "tests" / "test_layers.py").read_text())
    (layers,) = [
        ast.literal_eval(each.value)
        for each in tree.body
        if isinstance(each, ast.AnnAssign) and ast.unparse(each.target) == "LAYERS" and each.value is not None
    ]
    rows: list[tuple[str, ...]] = []
    for number, modules in enumerate(layers):
        for module in modules:
            path = source_of(module)
            if path is not None:
                text = ast.get_docstring(ast.parse(path.read_text())) or holds(path.parent)
                rows.append((str(number), f"`{module}`", " ".join(text.split("\n\n")[0].split()).replace("``", "`")))
    return table(("layer", "module", ""), rows)


def holds(package: Path) -> str:
    """The modules and packages in a package that says nothing of itself."""
    inside = sorted(path for path in package.iterdir() if path.suffix == ".py" or (path / "__init__.py").exists())
    return ", ".join(f"`{path.stem}`" for path in inside if path.stem != "__init__")


def source_of(module: str) -> Path | None:
    """The file of a module of ours, or of its package; None if there is none."""
    start = ROOT / "dialects" if module.startswith("xfuse_dialects") else ROOT
    path = start.joinpath(*module.split("."))
    return next((each for each in (path.with_suffix(".py"), path / "__init__.py") if each.exists()), None)


def between(text: str, marker: str, inside: str) -> str:
    """A page with the part between two markers replaced."""
    start, end = f"<!-- {marker} begins: made by docs/generate.py -->", f"<!-- {marker} ends -->"
    if text.count(start) != 1 or text.count(end) != 1:
        raise SystemExit(f"the markers of {marker} are missing")
    head, _, rest = text.partition(start)
    return f"{head}{start}\n\n{inside}\n{end}{rest.partition(end)[2]}"


def pages() -> dict[Path, str]:
    """All generated pages, as they should be."""
    numerics, passes, architecture = DOCS / "numerics.md", DOCS / "passes.md", DOCS / "architecture.md"
    return {
        DOCS / "spellings.md": spellings_page(),
        DOCS / "vocabulary.md": vocabulary_page(),
        numerics: between(numerics.read_text(), "errors", errors_table()),
        passes: between(passes.read_text(), "options", options_table()),
        architecture: between(architecture.read_text(), "layers", layers_table()),
    }


def main() -> None:
    """Write the pages, or say which are out of date."""
    check = sys.argv[1:] == ["--check"]
    wanted = pages()
    stale = [path for path, text in wanted.items() if not path.exists() or path.read_text() != text]
    for path in stale:
        if not check:
            path.write_text(wanted[path])
        print(f"{'out of date' if check else 'written'}: {path.relative_to(ROOT)}")
    sys.exit(1 if check and stale else 0)


if __name__ == "__main__":
    main()
