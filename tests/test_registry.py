"""The registry of recipes (design, section 7): what it takes, what it refuses and why, all of it or nothing."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import Any

import pytest
from support import in_threads
from xdsl.dialects.builtin import StringAttr
from xdsl.rewriter import Rewriter

import xfuse
from xfuse.errors import ParsingError, RecipeError
from xfuse.library import library_files
from xfuse.parser import default_context, load_module
from xfuse.recipes import Recipe, parse_recipes, recipes_of
from xfuse.registry import RecipeRegistry
from xfuse.validation import validate
from xfuse_dialects.xfuse import RecipeOp

DOUBLE = "xfuse.recipe @double(%x: f32) -> f32 { %r = arith.addf %x, %x : f32 xfuse.yield %r : f32 }"
TRIPLE = """xfuse.recipe @triple(%x: f64) -> f64 attributes {element_types = [f16, bf16, f32, f64]} {
  %two = arith.constant 3.0 : f64
  %r = arith.mulf %x, %two : f64
  xfuse.yield %r : f64
}"""


def named(text: str, name: str) -> str:
    """The text of a recipe under another name."""
    before, _, after = text.partition("@")
    return f"{before}@{name}{after[after.index('(') :]}"


def refusal(text: str | Recipe | RecipeOp, registry: RecipeRegistry | None = None, **options: Any) -> str:
    """The message with which a recipe is refused; nothing may be left behind (section 7: atomic)."""
    registry = registry or RecipeRegistry()
    before = registry.entries(), registry.generation
    with pytest.raises((RecipeError, ParsingError)) as raised:
        registry.register(text, **options)
    assert (registry.entries(), registry.generation) == before
    return str(raised.value)


# What is stored, and how it is found


def test_register_region_name_entries() -> None:
    """Of the reference: register_allocates_a_runtime_id_and_keeps_the_region."""
    registry = RecipeRegistry()
    double = registry.register(DOUBLE)
    assert double.name == double.family == "double"
    assert registry.region(double.identity) is double is registry.region("double")
    assert registry.name(double.identity) == "double"
    assert registry.entries() == (double,) == tuple(registry)
    assert len(registry) == 1
    assert double in registry
    assert "double" in registry
    assert double.identity in registry


def test_unknown_recipes_are_none_not_errors() -> None:
    """Section 7: region and name by identity are None if unknown."""
    registry = RecipeRegistry()
    assert registry.region("nosuch") is None
    assert registry.name("0" * 64) is None
    assert "nosuch" not in registry
    assert 7 not in registry
    assert registry.entries() == registry.families() == ()


def test_names_are_not_identities() -> None:
    """`name` takes an identity: a name is none."""
    registry = RecipeRegistry()
    registry.register(DOUBLE)
    assert registry.name("double") is None


def test_all_that_a_recipe_may_be_given_as() -> None:
    """Text, op and recipe give one entry (law L5)."""
    (recipe,) = parse_recipes(DOUBLE)
    entries = {id(RecipeRegistry().register(recipe)), id(RecipeRegistry().register(recipe))}
    assert entries == {id(recipe)}
    registry = RecipeRegistry()
    assert registry.register(DOUBLE) is registry.register(recipe.op) is registry.register(recipe)


def test_an_entry_does_not_change_with_the_op_it_was_made_of() -> None:
    """Law L5, identity is content: what happens to a program's op later does not reach the registry."""
    (recipe,) = parse_recipes(DOUBLE)
    op = recipe.op
    registry = RecipeRegistry()
    entry = registry.register(op)
    text = str(entry.op)
    op.properties["sym_name"] = StringAttr("other")
    add, yielded = op.body.block.ops
    yielded.operands[0] = op.body.block.args[0]
    Rewriter.erase_op(add)
    assert str(entry.op) == text
    assert entry.name == "double"
    validate(entry)


def test_unregister_by_itself_name_and_identity() -> None:
    for key in (lambda entry: entry, lambda entry: entry.name, lambda entry: entry.identity):
        registry = RecipeRegistry()
        entry, kept = registry.register(DOUBLE), registry.register(TRIPLE)
        registry.unregister(key(entry))
        assert registry.entries() == (kept,)
        assert registry.region("double") is registry.region(entry.identity) is None
        assert registry.register(DOUBLE) is not entry


def test_unregister_what_is_not_there() -> None:
    registry = RecipeRegistry()
    (stranger,) = parse_recipes(DOUBLE)
    for which in ("nosuch", stranger):
        with pytest.raises(RecipeError, match=r"no recipe (nosuch|double) is registered"):
            registry.unregister(which)
    # Another object of the same identity is not the entry.
    registry.register(DOUBLE)
    with pytest.raises(RecipeError, match="no recipe double"):
        registry.unregister(stranger)


def test_generation_grows_with_changes_only() -> None:
    registry = RecipeRegistry()
    seen = [registry.generation]
    registry.register(DOUBLE)
    seen.append(registry.generation)
    registry.register(DOUBLE)
    assert registry.generation == seen[-1]
    registry.unregister("double")
    seen.append(registry.generation)
    assert seen == sorted(set(seen))


# One identity, one entry (law L5)


@pytest.mark.parametrize(
    "other",
    [
        named(DOUBLE, "twice"),
        DOUBLE.replace("%x", "%value").replace("%r", "%sum"),
        DOUBLE.replace("%x: f32", "%x: f32 {xfuse.scalar}"),
        DOUBLE.replace("-> f32 {", '-> f32 attributes {comment = "twice"} {'),
        DOUBLE.replace("%r = arith.addf", "%unused = arith.constant 1.0 : f32 %r = arith.addf"),
    ],
    ids=["name", "SSA names", "scalar mark", "attribute", "dead constant"],
)
def test_what_does_not_count_gives_the_old_entry_back(other: str) -> None:
    """Law L5: names and marks that only restrict matching are no part of an identity.

    Of the reference: register_runtime_fused_dedups_structurally_identical_regions.
    """
    registry = RecipeRegistry()
    entry = registry.register(DOUBLE)
    assert registry.register(other) is entry
    assert registry.entries() == (entry,)
    assert registry.region("twice") in (None, entry), "a second name stands for the same entry"
    assert registry.name(entry.identity) == "double"


@pytest.mark.parametrize(
    "other",
    [
        DOUBLE.replace("arith.addf %x, %x", "arith.mulf %x, %x"),
        DOUBLE.replace("%x, %x : f32", "%x, %x fastmath<nnan> : f32"),
        DOUBLE.replace("f32", "f64"),
        DOUBLE.replace("-> f32 {", "-> f32 attributes {element_types = [f32]} {"),
        DOUBLE.replace("-> f32 {", "-> f32 attributes {element_types = [f16, f32]} {"),
    ],
    ids=["op", "fast-math flag", "type", "element_types of one", "element_types"],
)
def test_what_counts_makes_another_recipe(other: str) -> None:
    """Law L5: every attribute, every type."""
    registry = RecipeRegistry()
    entry = registry.register(DOUBLE)
    assert registry.register(named(other, "other")) is not entry
    assert len(registry) == 2


@pytest.mark.parametrize(
    ("one", "two"), [("0.0", "-0.0"), ("1.0", "1.0000000000000002"), ("0x7FF8000000000000", "0x7FF8000000000001")]
)
def test_literals_count_by_their_bits(one: str, two: str) -> None:
    """Law L5."""
    text = """xfuse.recipe @{}(%x: f64) -> f64 {{
      %c = arith.constant {} : f64 %r = arith.divf %c, %x : f64 xfuse.yield %r : f64 }}"""
    registry = RecipeRegistry()
    assert registry.register(text.format("a", one)) is registry.register(text.format("b", one))
    registry.register(text.format("c", two))
    assert len(registry) == 2


# Names, versions, families


def test_a_taken_name_is_refused() -> None:
    registry = RecipeRegistry()
    old = registry.register(DOUBLE)
    message = refusal(named(TRIPLE, "double"), registry)
    assert "@double stands for another recipe" in message
    assert old.identity[:12] in message
    assert "replace=True" in message
    assert registry.region("double") is old


def test_replace() -> None:
    """The old body is gone, by name and by identity."""
    registry = RecipeRegistry()
    old = registry.register(DOUBLE)
    new = registry.register(named(TRIPLE, "double"), replace=True)
    assert registry.region("double") is new is registry.region(new.identity)
    assert registry.region(old.identity) is None
    assert registry.entries() == (new,)


def test_version_makes_a_name_of_its_own() -> None:
    registry = RecipeRegistry()
    old = registry.register(DOUBLE)
    new = registry.register(named(TRIPLE, "double"), version=2)
    assert (old.name, new.name) == ("double", "double.v2")
    assert new.family == "double"
    assert registry.families() == ("double",)
    assert registry.select(("double",)) == (old, new)
    assert registry.select(("double.v2",)) == (new,)


def test_a_version_of_the_same_body_is_the_old_entry() -> None:
    """Law L5."""
    registry = RecipeRegistry()
    old = registry.register(DOUBLE)
    assert registry.register(DOUBLE, version=2) is old
    assert len(registry) == 1


def test_a_taken_version_is_refused() -> None:
    registry = RecipeRegistry()
    registry.register(DOUBLE, version=1)
    assert "@double.v1 stands for another" in refusal(named(TRIPLE, "double"), registry, version=1)


def test_families_hold_several_bodies() -> None:
    registry = RecipeRegistry()
    text = f"xfuse.library @scales {{ {DOUBLE} {TRIPLE} }}"
    entries = registry.register_all(parse_recipes(text))
    assert [entry.family for entry in entries] == ["scales", "scales"]
    assert registry.families() == ("scales",)
    assert registry.select(("scales",)) == tuple(entries)
    assert registry.select(("triple", "double")) == tuple(entries), "registration order, not the order of the names"
    assert registry.select(()) == ()


def test_select_names_what_there_is() -> None:
    registry = RecipeRegistry()
    registry.register(DOUBLE)
    with pytest.raises(RecipeError, match="no recipe or family is named nosuch; families are double"):
        registry.select(("double", "nosuch"))


# What can never work is refused when it is registered

CONSTANT = "%c = arith.constant 1.0 : f32"

REFUSED = {
    "no arguments": (f"xfuse.recipe @r() -> f32 {{ {CONSTANT} xfuse.yield %c : f32 }}", ["@r", "no arguments"]),
    "unused argument": (
        "xfuse.recipe @r(%x: f32, %y: f32) -> f32 { %r = arith.negf %x : f32 xfuse.yield %r : f32 }",
        ["@r", "argument 1"],
    ),
    "argument used by a dead op": (
        """xfuse.recipe @r(%x: f32, %y: f32) -> f32 {
          %d = arith.negf %y : f32 %r = arith.negf %x : f32 xfuse.yield %r : f32 }""",
        ["@r", "argument 1"],
    ),
    "argument given back": ("xfuse.recipe @r(%x: f32) -> f32 { xfuse.yield %x : f32 }", ["@r", "gives", "argument"]),
    "argument given back beside a result": (
        "xfuse.recipe @r(%x: f32) -> (f32, f32) { %r = arith.negf %x : f32 xfuse.yield %r, %x : f32, f32 }",
        ["@r", "result 1"],
    ),
    "argument given back through exact folds": (
        """xfuse.recipe @r(%x: f32) -> f32 {
          %c = arith.constant 1.0 : f32 %r = arith.mulf %x, %c : f32 xfuse.yield %r : f32 }""",
        ["@r", "gives", "argument"],
    ),
    "constant result": (
        f"""xfuse.recipe @r(%x: f32) -> (f32, f32) {{
          {CONSTANT} %r = arith.negf %x : f32 xfuse.yield %r, %c : f32, f32 }}""",
        ["@r", "result 1", "constant"],
    ),
    "one value as two results": (
        "xfuse.recipe @r(%x: f32) -> (f32, f32) { %r = arith.negf %x : f32 xfuse.yield %r, %r : f32, f32 }",
        ["@r", "two results"],
    ),
    "equal values as two results": (
        """xfuse.recipe @r(%x: f32, %y: f32) -> (f32, f32) {
          %r = arith.addf %x, %y : f32 %s = arith.addf %y, %x : f32 xfuse.yield %r, %s : f32, f32 }""",
        ["@r", "two results"],
    ),
    "not written at the widest type": (
        TRIPLE.replace("f16, bf16, f32, f64", "f16, f32, f64").replace(": f64", ": f32").replace("-> f64", "-> f32"),
        ["@triple", "written at f64"],
    ),
    "floats and integers": (TRIPLE.replace("f16, bf16", "i32"), ["@triple", "only floats or only integers"]),
    "an element type twice": (TRIPLE.replace("f16, bf16", "f32"), ["@triple", "twice"]),
    "an element type that is none": (TRIPLE.replace("f16, bf16", "index"), ["element_types"]),
    "no element type": (TRIPLE.replace("f16, bf16, f32, f64", ""), ["element_types"]),
    "an integer op at one bit width only": (
        """xfuse.recipe @r(%x: i64) -> i64 attributes {element_types = [i32, i64]} {
          %w = arith.trunci %x : i64 to i32 %r = arith.extsi %w : i32 to i64 xfuse.yield %r : i64 }""",
        ["@r", "element type i32", "arith.trunci", "narrower"],
    ),
    "a cast that goes the other way at one element type": (
        """xfuse.recipe @r(%x: i64, %y: i32) -> i64 attributes {element_types = [i16, i64]} {
          %w = arith.extsi %y : i32 to i64 %r = arith.addi %x, %w : i64 xfuse.yield %r : i64 }""",
        ["@r", "element type i16", "arith.extsi", "wider"],
    ),
    "a bitcast between widths": (
        """xfuse.recipe @r(%x: f64) -> i64 attributes {element_types = [f32, f64]} {
          %r = arith.bitcast %x : f64 to i64 xfuse.yield %r : i64 }""",
        ["@r", "element type f32", "arith.bitcast", "as wide"],
    ),
    "a truncation between floats as wide": (
        """xfuse.recipe @r(%x: f32) -> bf16 attributes {element_types = [f16, f32]} {
          %r = arith.truncf %x : f32 to bf16 xfuse.yield %r : bf16 }""",
        ["@r", "element type f16"],
    ),
    "no terminator": ("xfuse.recipe @r(%x: f32) -> f32 { %r = arith.negf %x : f32 }", ["arith.negf", "terminat"]),
    "no block": ("xfuse.recipe @r(%x: f32) -> f32 {}", []),
    "another result type": (
        "xfuse.recipe @r(%x: f32) -> f64 { %r = arith.negf %x : f32 xfuse.yield %r : f32 }",
        ["f64"],
    ),
    "an op with effects": (
        """xfuse.recipe @r(%x: f32) -> f32 {
          %m = memref.alloc() : memref<f32> memref.store %x, %m[] : memref<f32> %r = memref.load %m[] : memref<f32>
          xfuse.yield %r : f32 }""",
        ["memref.alloc"],
    ),
    "a call": (
        "xfuse.recipe @r(%x: f32) -> f32 { %r = func.call @f(%x) : (f32) -> f32 xfuse.yield %r : f32 }",
        ["@f"],
    ),
    "recursion": (
        """xfuse.recipe @r(%x: f32) -> f32 {
          %r = xfuse.fused @r (%a = %x : f32) -> f32 { %n = arith.negf %a : f32 xfuse.yield %n : f32 }
          xfuse.yield %r : f32 }""",
        ["(law L1)", "@r refers to itself"],
    ),
    "an unknown mark": (DOUBLE.replace("%x: f32", "%x: f32 {xfuse.nosuch}"), ["unknown mark 'xfuse.nosuch'"]),
    "not MLIR": ("xfuse.recipe @r(%x f32)", ["<text>:1"]),
    "an unknown op": ("xfuse.recipe @r(%x: f32) -> f32 { %r = no.such %x : f32 xfuse.yield %r : f32 }", ["no.such"]),
    "nothing": ("module {}", ["no xfuse.recipe"]),
    "a function": ("func.func @f() { return }", ["no xfuse.recipe"]),
    "two recipes": (DOUBLE + TRIPLE, ["one recipe", "got 2", "register_all"]),
    "a library of two": (f"xfuse.library @l {{ {DOUBLE} {TRIPLE} }}", ["one recipe", "got 2"]),
}


@pytest.mark.parametrize("case", REFUSED)
def test_refused(case: str) -> None:
    """Section 7: validated before it is stored; the message says which recipe and what about it.

    Of the reference: register_rejects_non_contiguous_binds, which here is an argument that is not used.
    """
    text, words = REFUSED[case]
    message = refusal(text)
    for word in words:
        assert word in message, message
    assert "Traceback" not in message
    assert len(message) < 1000, message


def test_what_is_no_recipe_is_refused() -> None:
    registry = RecipeRegistry()
    anything: list[Any] = [7, None, xfuse.parse_module(DOUBLE)]
    for subject in anything:
        with pytest.raises(RecipeError, match="expected a recipe, its op or its text, got"):
            registry.register(subject)
    assert len(registry) == 0


def test_a_broken_op_is_refused() -> None:
    """An op that was changed so that it does not verify any more."""
    (recipe,) = parse_recipes(DOUBLE)
    last = recipe.op.body.block.last_op
    assert last is not None
    Rewriter.erase_op(last)
    message = refusal(recipe.op)
    assert "@double does not verify" in message


def test_a_type_that_a_row_does_not_take_at_some_element_type() -> None:
    """A sum that adds a float argument to an integer one is stopped by the op's own verifier, at any type."""
    text = "xfuse.recipe @r(%x: f64, %y: i32) -> f64 { %r = arith.addf %x, %y : f64 xfuse.yield %r : f64 }"
    assert "i32" in refusal(text)


@pytest.mark.parametrize(
    "text",
    [
        "xfuse.recipe @r(%x: f64) -> i64 { %r = arith.bitcast %x : f64 to i64 xfuse.yield %r : i64 }",
        """xfuse.recipe @r(%x: f64) -> f32 attributes {element_types = [f16, f32, f64]} {
          %n = arith.negf %x : f64 %m = arith.truncf %n : f64 to f32 %r = math.exp %m : f32 xfuse.yield %r : f32 }""",
        """xfuse.recipe @r(%x: i32, %y: i32) -> (i32, i1) {
          %r, %o = arith.addui_extended %x, %y : i32, i1 xfuse.yield %r, %o : i32, i1 }""",
        "xfuse.recipe @r(%x: index) -> index { %r = arith.addi %x, %x : index xfuse.yield %r : index }",
    ],
    ids=["fixed types", "casts vanish or turn", "several results", "index"],
)
def test_accepted(text: str) -> None:
    assert RecipeRegistry().register(text).name == "r"


# All or none


def test_register_all_is_atomic() -> None:
    registry = RecipeRegistry()
    kept = registry.register(named(DOUBLE, "kept").replace("addf", "mulf"))
    good = parse_recipes(DOUBLE + TRIPLE)
    bad = parse_recipes("xfuse.recipe @bad(%x: f32) -> f32 { xfuse.yield %x : f32 }")
    taken = parse_recipes(named(TRIPLE, "double"))
    for several in (good + bad, bad + good, [good[0], *taken]):
        generation = registry.generation
        with pytest.raises(RecipeError):
            registry.register_all(several)
        assert registry.entries() == (kept,)
        assert registry.region("double") is None
        assert registry.generation == generation
    assert registry.register_all([*good, *good]) == [*good, *good]
    assert registry.entries() == (kept, *good)


def test_readers_never_see_half_of_several() -> None:
    """Section 7: readers do not wait and see all or none."""
    recipes = [recipe for path in library_files()[:12] for recipe in parse_recipes(path.read_text())]
    registry, counts, done = RecipeRegistry(), set[int](), threading.Event()

    def read() -> None:
        while not done.is_set():
            counts.add(len(registry.entries()))

    reader = threading.Thread(target=read)
    reader.start()
    for _ in range(5):
        registry.register_all(recipes)
        for recipe in recipes[1:]:
            assert recipe in registry
        registry._publish({}, {})
    done.set()
    reader.join()
    assert counts <= {0, len(recipes)}


# Files


def shipped() -> RecipeRegistry:
    """The library's recipes, validated one by one."""
    registry, context = RecipeRegistry(), default_context()
    for path in library_files():
        registry.register_all(recipes_of(load_module(path, context)))
    return registry


def test_save_and_load_give_the_same_identities(tmp_path: Path) -> None:
    """Law L5: identity is stable across files; families, names, marks and literals come through."""
    registry = shipped()
    registry.register(
        """xfuse.recipe @specials(%x: f64, %s: f64 {xfuse.scalar}) -> (f64, f64) attributes {note = "é"} {
          %inf = arith.constant 0xFFF0000000000000 : f64 %nan = arith.constant 0x7FF8000000000001 : f64
          %a = arith.maxnumf %x, %inf : f64 %b = arith.mulf %s, %nan : f64
          %c = arith.addf %a, %s fastmath<contract> : f64
          xfuse.yield %c, %b : f64, f64 }"""
    )
    file = tmp_path / "all.mlir"
    registry.save(file)
    again = RecipeRegistry()
    again.load(file)
    assert {(r.name, r.family, r.identity, r.scalar_slots) for r in again} == {
        (r.name, r.family, r.identity, r.scalar_slots) for r in registry
    }
    assert again.text() == RecipeRegistry.text(again), "the text is deterministic (law L11)"
    again.save(file)
    third = RecipeRegistry()
    third.load(file)
    assert third.text() == again.text()


def test_load_twice_changes_nothing(tmp_path: Path) -> None:
    registry = RecipeRegistry()
    (first,) = registry.load(library_file(tmp_path, DOUBLE))
    generation = registry.generation
    assert registry.load(library_file(tmp_path, DOUBLE)) == [first]
    assert registry.generation == generation


def library_file(folder: Path, text: str) -> Path:
    file = folder / "library.mlir"
    file.write_text(text)
    return file


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (DOUBLE + "\n" + TRIPLE + "\nxfuse.recipe @oops(%x: f32 -> f32", ["library.mlir:7"]),
        (DOUBLE + "\nxfuse.recipe @oops(%x: f32) -> f32 { xfuse.yield %y : f32 }", ["library.mlir"]),
        (DOUBLE + "\nxfuse.recipe @oops(%x: f32) -> f64 { xfuse.yield %x : f32 }", ["library.mlir", "verify"]),
        ("module {}", ["library.mlir", "no xfuse.recipe"]),
    ],
    ids=["syntax", "undefined value", "verifier", "empty"],
)
def test_load_of_a_bad_file(tmp_path: Path, text: str, words: list[str]) -> None:
    """A file that cannot be read says where, and registers nothing."""
    registry = RecipeRegistry()
    with pytest.raises((ParsingError, RecipeError)) as raised:
        registry.load(library_file(tmp_path, text))
    for word in words:
        assert word in str(raised.value)
    assert len(registry) == 0


def test_load_of_a_bad_recipe_leaves_nothing_behind(tmp_path: Path) -> None:
    registry = RecipeRegistry()
    file = library_file(tmp_path, DOUBLE + "xfuse.recipe @oops(%x: f32) -> f32 { xfuse.yield %x : f32 }" + TRIPLE)
    with pytest.raises(RecipeError, match="@oops"):
        registry.load(file)
    assert len(registry) == 0


def test_load_of_no_file(tmp_path: Path) -> None:
    for path in (tmp_path / "nosuch.mlir", tmp_path):
        with pytest.raises(ParsingError, match="cannot read"):
            RecipeRegistry().load(path)


# Threads


def test_16_threads_register_one_recipe() -> None:
    registry = RecipeRegistry()
    entries = in_threads(16, lambda number: registry.register(named(DOUBLE, f"r{number}")))
    assert len({id(entry) for entry in entries}) == 1
    assert registry.entries() == (entries[0],)
    assert registry.generation == 1


SHIFTED = """xfuse.recipe @r{}(%x: f32) -> f32 {{
  %c = arith.constant {}.0 : f32 %r = arith.subf %c, %x : f32 xfuse.yield %r : f32 }}"""


def test_16_threads_register_many() -> None:
    registry = RecipeRegistry()

    def work(number: int) -> list[Recipe]:
        made = [registry.register(SHIFTED.format(number * 8 + each, number * 8 + each)) for each in range(8)]
        registry.unregister(made[0])
        return made

    found = in_threads(16, work)
    assert not [each for each in found if isinstance(each, Exception)]
    assert len(registry) == 16 * 7
    assert {entry.name for entry in registry} == {entry.name for made in found for entry in made[1:]}
    assert all(registry.region(entry.name) is entry is registry.region(entry.identity) for entry in registry)


def test_16_threads_race_for_one_name() -> None:
    """One wins, the others are told."""
    registry = RecipeRegistry()
    found = in_threads(16, lambda number: registry.register(SHIFTED.format("", number)))
    winners = [each for each in found if isinstance(each, Recipe)]
    assert registry.entries() == tuple(winners)
    assert len(winners) == 1
    assert sum(isinstance(each, RecipeError) for each in found) == 15


# Recipes


def test_count_scalar_slots() -> None:
    """Seeds: a literal in the region is baked, a marked argument is a slot."""
    with xfuse.Session(library=False) as session:
        session.register(TRIPLE)
        slots = "xfuse.recipe @s(%x: f32, %a: f32 {xfuse.scalar}, %b: f32 {xfuse.scalar}) -> f32 {"
        entry = session.register(
            slots + "%m = arith.mulf %x, %b : f32 %r = arith.subf %m, %a : f32 xfuse.yield %r : f32 }"
        )
        assert xfuse.count_scalar_slots("triple") == 0
        assert xfuse.count_scalar_slots("s") == xfuse.count_scalar_slots(entry) == 2
        assert entry.scalar_slots == (1, 2)
        with pytest.raises(RecipeError, match="no recipe nosuch"):
            xfuse.count_scalar_slots("nosuch")


def test_element_type_for_names_the_forms_there_are() -> None:
    (recipe,) = parse_recipes(TRIPLE)
    assert [recipe.element_type_for((each, each)) for each in recipe.element_types] == ["f16", "bf16", "f32", "f64"]
    for dtypes in (("f32", "f64"), ("i32", "i32"), ("f32",), ()):
        with pytest.raises(RecipeError, match=r"@triple has no form at .*it has \(f16\) -> f16; \(bf16\) -> bf16"):
            recipe.element_type_for(dtypes)


def test_the_shipped_library_is_valid() -> None:
    """Sessions take it without validating it at every start."""
    assert len(shipped()) == len(xfuse.Session().registry) > 100


def test_a_recipe_is_written_at_its_core_rank() -> None:
    """A recipe with loop dimensions is refused with its normal signature, and leaves nothing behind."""
    registry = RecipeRegistry()
    text = """xfuse.recipe @t(%x: tensor<4xf32>) -> tensor<4xf32> {
      %r = math.sqrt %x : tensor<4xf32> xfuse.yield %r : tensor<4xf32> }"""
    with pytest.raises(RecipeError, match=r"loop dimension, axis 0 of argument 0; .* normal signature \(\)->\(\)"):
        registry.register(text)
    assert not registry.entries()
