"""Validation at registration: what can never work is refused with words, what depends on shapes is not."""

from __future__ import annotations

import io
import random
import re
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

import numpy as np
import pytest
from support import context
from xdsl.dialects.builtin import DenseArrayBase, IntegerAttr, i64
from xdsl.printer import Printer

import xfuse
from xfuse.errors import ParsingError, RecipeError, XfuseError
from xfuse.parser import parse_module
from xfuse.recipes import Recipe, parse_recipes, recipes_of
from xfuse.registry import RecipeRegistry
from xfuse.shapes import resolve_shapes
from xfuse.signature import CoreSignature, named_signature, parse_signature
from xfuse.validation import validate
from xfuse_dialects.structure import structure_problem

LIT = Path(__file__).resolve().parents[1] / "lit_tests"
REFUSED_FILES = [LIT / "dialects" / "recipes_invalid.mlir", LIT / "passes" / "recipes_invalid.mlir"]


def refused_recipes() -> dict[str, tuple[str, str]]:
    """The recipes of the lit tests on refusals, and the message of each, by the comment before it."""
    found: dict[str, tuple[str, str]] = {}
    for path in REFUSED_FILES:
        for number, chunk in enumerate(path.read_text().split("// -----\n")):
            comments = re.findall(r"^// (.*)$", chunk, re.MULTILINE)
            (message,) = [each.removeprefix("CHECK: {{^}}") for each in comments if each.startswith("CHECK")]
            titles = [each for each in comments if not each.startswith(("CHECK", "RUN"))]
            title = f"{path.parent.name} {number} {titles[-1] if titles else ''}".strip()
            plain = re.sub(r"{{(.*?)}}", lambda regex: regex[1].replace("\\", ""), message)
            found[title] = (chunk, plain.removeprefix("xfuse-fuse: "))
    return found


REFUSED = refused_recipes()
TOTAL = """%z = arith.constant dense<0.0> : tensor<f64>
%s = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> ()>], iterator_types = ["reduction"]}
    ins(%x : tensor<?xf64>) outs(%z : tensor<f64>) {
^bb0(%a: f64, %b: f64):
  %t = arith.addf %a, %b : f64
  linalg.yield %t : f64
} -> tensor<f64>
%total = tensor.extract %s[] : tensor<f64>"""
SLICE = """%c0 = arith.constant 0 : index
%c4 = arith.constant 4 : index
%n = tensor.dim %x, %c0 : tensor<?xf64>
%q = {}
%r = tensor.extract_slice %x[0] [%q] [1] : tensor<?xf64> to tensor<?xf64>
xfuse.yield %r : tensor<?xf64>"""
ROW = "(%x: tensor<?xf64>) -> tensor<?xf64>"


def text(signature: str, body: str, attributes: str = "", name: str = "r") -> str:
    """A recipe."""
    attributes = f" attributes {{{attributes}}}" if attributes else ""
    return f"xfuse.recipe @{name}{signature}{attributes} {{\n{body}\n}}"


def refusal(recipe: str | Recipe | Sequence[Recipe], *words: str) -> str:
    """The message that a recipe is refused with, which has these words; nothing is left behind (section 7: atomic)."""
    registry = RecipeRegistry()
    registry.register(text("(%x: f64) -> f64", "%r = math.exp %x : f64 xfuse.yield %r : f64", name="kept"))
    before = registry.entries(), registry.generation, registry.text()
    register = registry.register if isinstance(recipe, str | Recipe) else registry.register_all
    with pytest.raises((RecipeError, ParsingError)) as raised:
        register(recipe)
    assert (registry.entries(), registry.generation, registry.text()) == before
    assert registry.region("r") is None
    message = str(raised.value)
    for word in words:
        assert word in message, message
    assert "Traceback" not in message
    return message


def accepted(recipe: str) -> Recipe:
    return RecipeRegistry().register(recipe)


@pytest.mark.parametrize("case", REFUSED)
def test_refused(case: str) -> None:
    """What can never work is refused when it is registered, in words, and nothing is stored.

    Of what the reference accepts although it is unusable, and of what makes it panic (section 3), all is here or in
    `tests/test_registry.py`: a bare argument, no arguments, wrong counts of operands, negative axes, overflow.
    """
    chunk, message = REFUSED[case]
    if len(re.findall("^xfuse.recipe", chunk, re.MULTILINE)) > 1:
        refusal(parse_recipes(chunk), "refers to itself (law L1)")
    else:
        refusal(chunk, message)


@pytest.mark.parametrize(
    ("body", "words"),
    [
        (
            '%r = "arith.addf"(%x) <{fastmath = #arith.fastmath<none>}> : (f32) -> f32',
            ["Expected 2 operands, but got 1"],
        ),
        ('%r = "arith.addf"() <{fastmath = #arith.fastmath<none>}> : () -> f32', ["Expected 2 operands, but got 0"]),
        (
            """%z = arith.constant dense<0.0> : tensor<f32>
            %t = tensor.splat %x : tensor<2xf32>
            %s = linalg.reduce ins(%t : tensor<2xf32>) outs(%z : tensor<f32>) dimensions = [1]
            (%a : f32, %b : f32) {
              %u = arith.addf %a, %b : f32
              linalg.yield %u : f32
            }
            %r = tensor.extract %s[] : tensor<f32>""",
            ["'linalg.reduce' has dimension 1; expected 0 to 0"],
        ),
        (
            """%e = tensor.splat %x : tensor<2x2xf32>
            %t = linalg.transpose ins(%e : tensor<2x2xf32>) outs(%e : tensor<2x2xf32>) permutation = [1, 2]
            %c = arith.constant 0 : index
            %r = tensor.extract %t[%c, %c] : tensor<2x2xf32>""",
            ["'linalg.transpose' has permutation [1, 2], which is none of 2 axes"],
        ),
        (
            """%r = "scf.while"(%x) ({
            ^bb0(%a: f64):
              %t = arith.constant true
              "scf.condition"(%t, %x) : (i1, f32) -> ()
            }, {
            ^bb0(%a: f32):
              "scf.yield"(%a) : (f32) -> ()
            }) : (f32) -> f32""",
            ["'scf.while' has a region of (f64); expected (f32)"],
        ),
        (
            "%c = arith.constant 3.0 : f80 %d = arith.truncf %c : f80 to f32 %r = arith.addf %x, %d : f32",
            ["(arith.constant) is of type f80; expected integers, f16, bf16, f32 or f64"],
        ),
        (
            """%e = tensor.empty() : tensor<f32>
            %s = linalg.add ins(%x, %x : f32, f32) outs(%e : tensor<f32>) -> tensor<f32>
            %r = tensor.extract %s[] : tensor<f32>""",
            ["'linalg.add' is malformed: xDSL fails on it with AssertionError"],
        ),
        ("%u = arith.constant 1.0 : tensor<*xf32> %r = math.exp %x : f32", ["does not parse"]),
    ],
    ids=["one operand", "no operands", "axis", "permutation", "while", "f80", "scalars", "unranked"],
)
def test_refused_where_xdsl_itself_fails(body: str, words: list[str]) -> None:
    """xDSL's parsers and verifiers raise what they like on some of these; all of it becomes a typed refusal."""
    refusal(text("(%x: f32) -> f32", f"{body}\nxfuse.yield %r : f32"), *words)


ACCEPTED = {
    "a rank-0 target": text("(%x: tensor<?xf64>) -> tensor<f64>", f"{TOTAL} xfuse.yield %s : tensor<f64>"),
    "clamp": text(
        "(%x: f64, %low: f64 {xfuse.scalar}, %high: f64 {xfuse.scalar}) -> f64",
        "%a = arith.maximumf %x, %low : f64 %b = arith.minimumf %a, %high : f64 xfuse.yield %b : f64",
        "element_types = [f32, f64]",
    ),
    "a literal operand": text(
        "(%x: f64) -> f64", "%c = arith.constant 2.0 : f64 %r = arith.subf %c, %x : f64 xfuse.yield %r : f64"
    ),
    "a slice that fits some shape": text(
        "(%x: tensor<?xf64>) -> tensor<4xf64>",
        "%r = tensor.extract_slice %x[3] [4] [1] : tensor<?xf64> to tensor<4xf64> xfuse.yield %r : tensor<4xf64>",
    ),
    "a division by an extent": text(ROW, SLICE.format("arith.divui %c4, %n : index")),
    "an extent that may be negative": text(ROW, SLICE.format("arith.subi %n, %c4 : index")),
    "data divided by zero, which gives 0": text(
        "(%x: i32) -> i32", "%z = arith.constant 0 : i32 %r = arith.divsi %x, %z : i32 xfuse.yield %r : i32"
    ),
    "an extent of zero": text(
        "(%x: tensor<0xf64>) -> tensor<f64>",
        f"{TOTAL.replace('tensor<?xf64>', 'tensor<0xf64>')} xfuse.yield %s : tensor<f64>",
    ),
}


@pytest.mark.parametrize("case", ACCEPTED)
def test_accepted(case: str) -> None:
    """Sound recipes, three of which the reference refuses; whether the others work depends on shapes, later."""
    assert accepted(ACCEPTED[case]).name == "r"


def test_no_limit_on_size() -> None:
    """Law L9: 5000 ops in a row are as good as ten."""
    steps = "\n".join(f"%v{n + 1} = arith.addf %v{n}, %x : f64" for n in range(5000))
    assert accepted(text("(%x: f64) -> f64", f"%v0 = math.exp %x : f64\n{steps}\nxfuse.yield %v5000 : f64"))


# Nothing stays behind


BAD = text(ROW, SLICE.format("arith.subi %n, %c4 : index").replace("%x[0]", "%x[-1]"))


def test_a_refused_recipe_leaves_nothing_in_a_session() -> None:
    """Section 7: registry, table and the look-ups of the session in use are as before."""
    session = xfuse.current_session()

    def state() -> tuple[object, ...]:
        return session.registry.entries(), session.registry.generation, session.table.snapshot(), xfuse.entries()

    before = state()
    with pytest.raises(RecipeError, match="is sliced from -1"):
        xfuse.register(BAD)
    with pytest.raises(RecipeError, match="is sliced from -1"):
        xfuse.ufunc(BAD)
    adoption = xfuse.adopt("r", BAD, lambda x: x, ("f64", "f64"), "numpy", trusted=True)
    assert adoption.row is None
    assert "is sliced from -1" in str(adoption.reason)
    with pytest.raises(RecipeError):
        session.registry.register_all([*parse_recipes(ACCEPTED["clamp"]), *parse_recipes(BAD)])
    assert state() == before
    assert xfuse.region("r") is None


def test_a_broken_op_in_memory_is_refused() -> None:
    """Ops that were never parsed: what xDSL's verifier stumbles over is a refusal too."""
    body = """%z = arith.constant dense<0.0> : tensor<f64>
    %s = linalg.reduce ins(%x : tensor<?xf64>) outs(%z : tensor<f64>) dimensions = [0]
    (%a : f64, %b : f64) {
      %t = arith.addf %a, %b : f64
      linalg.yield %t : f64
    }
    xfuse.yield %s : tensor<f64>"""
    for dimensions, words in (
        (IntegerAttr(0, i64), "@r does not verify"),
        (DenseArrayBase.from_list(i64, [7]), "@r does not verify: 'linalg.reduce' has dimension 7; expected 0 to 0"),
    ):
        (recipe,) = parse_recipes(text("(%x: tensor<?xf64>) -> tensor<f64>", body))
        reduce = next(op for op in recipe.op.body.walk() if op.name == "linalg.reduce")
        reduce.properties["dimensions"] = dimensions
        refusal(recipe, words)


# References


def nested(label: str, name: str, op: str = "math.exp") -> str:
    return text(
        "(%x: f64) -> f64",
        f"""%y = xfuse.fused @{label} (%a = %x : f64) -> f64 {{ %r = {op} %a : f64 xfuse.yield %r : f64 }}
        %z = math.sqrt %y : f64
        xfuse.yield %z : f64""",
        name=name,
    )


def test_recipes_that_name_one_another_in_a_circle() -> None:
    """Law L1: not even in two steps, nor three, nor through a label inside a label."""
    refusal(nested("r", "r"), "(law L1)", "@r refers to itself")
    registry = RecipeRegistry()
    first = registry.register(nested("b", "a", "math.log"))
    with pytest.raises(RecipeError, match=r"@b refers to itself \(law L1\): @b -> @a -> @b"):
        registry.register(nested("a", "b"))
    assert registry.entries() == (first,)
    second = registry.register(nested("c", "b"))
    with pytest.raises(RecipeError, match="@c -> @a -> @b -> @c"):
        registry.register(nested("a", "c", "math.sin"))
    assert registry.entries() == (first, second)
    with pytest.raises(RecipeError, match="@e -> @d -> @e"):
        registry.register_all(parse_recipes(nested("d", "e", "math.tan")) + parse_recipes(nested("e", "d", "math.cos")))
    assert registry.entries() == (first, second)
    inner = """xfuse.fused @b (%q = %a : f64) -> f64 { %w = math.erf %q : f64 xfuse.yield %w : f64 }"""
    deep = nested("elsewhere", "c", "math.tanh").replace("{ %r = math.tanh %a : f64", f"{{ %r = {inner}")
    with pytest.raises(RecipeError, match="@c -> @b -> @c"):
        registry.register(deep)
    # Names in a row, and one name twice, are no circle.
    registry.register(nested("a", "last", "math.sin"))


def test_a_circle_that_a_replacement_would_close() -> None:
    registry = RecipeRegistry()
    registry.register(nested("b", "a", "math.log"))
    kept = registry.register(nested("elsewhere", "b"))
    with pytest.raises(RecipeError, match="@b -> @a -> @b"):
        registry.register(nested("a", "b", "math.cos"), replace=True)
    assert registry.region("b") is kept


# Marks


def test_flatten() -> None:
    """Whole-array reductions, and what may stand before them: point-wise ops over arguments of one shape."""
    accepted(text("(%x: tensor<?xf64> {xfuse.flatten}) -> f64", f"{TOTAL} xfuse.yield %total : f64"))
    accepted(
        text(
            "(%x: tensor<?xf64> {xfuse.flatten}, %y: tensor<?xf64> {xfuse.flatten}) -> f64",
            f"""%c0 = arith.constant 0 : index
            %n = tensor.dim %x, %c0 : tensor<?xf64>
            %d = arith.subf %x, %y : tensor<?xf64>
            {TOTAL.replace("ins(%x", "ins(%d")}
            %k = arith.index_cast %n : index to i64
            %f = arith.sitofp %k : i64 to f64
            %r = arith.divf %total, %f : f64
            xfuse.yield %r : f64""",
        )
    )


def test_accumulator() -> None:
    """All arguments of the recipe's own element type have the mark, others have not."""
    marked = "%x: f32 {xfuse.accumulator = f32}"
    both = text(
        f"({marked}, {marked.replace('%x', '%y')}) -> f32",
        "%r = arith.mulf %x, %y : f32 xfuse.yield %r : f32",
        "element_types = [f16, bf16, f32]",
    )
    assert accepted(both).accumulator == "f32"
    mixed = text(
        f"({marked}, %y: i32) -> f32",
        "%f = arith.sitofp %y : i32 to f32 %r = arith.mulf %x, %f : f32 xfuse.yield %r : f32",
        "element_types = [f16, f32]",
    )
    assert accepted(mixed).accumulator == "f32"


def test_a_slot_is_not_flattened() -> None:
    """Each mark asks for another rank, so no argument can have both."""
    refusal(
        text("(%x: f64 {xfuse.scalar, xfuse.flatten}) -> f64", "%r = math.exp %x : f64 xfuse.yield %r : f64"),
        "'xfuse.flatten' expected a tensor of one dimension, got f64",
    )


# Signatures that are given


DOT = text(
    "(%x: tensor<?xf64>, %y: tensor<?xf64>, %bias: f64) -> f64",
    f"""%p = arith.mulf %x, %y : tensor<?xf64>
    {TOTAL.replace("ins(%x", "ins(%p")}
    %r = arith.addf %total, %bias : f64
    xfuse.yield %r : f64""",
    "signature = {}",
)


def test_a_signature_gives_names() -> None:
    """Section 3: core dimensions have names, given or inferred, and the given ones come through text."""
    entry = accepted(DOT.replace("{}", '"(width),(width),()->()"'))
    assert named_signature(entry).text == "(width),(width),()->()"
    registry = RecipeRegistry()
    registry.register(entry)
    (again,) = parse_recipes(registry.text())
    assert named_signature(again).text == "(width),(width),()->()"
    # Names are none of the identity (law L5).
    plain = accepted(DOT.replace("attributes {signature = {}} ", "").replace(" attributes {signature = {}}", ""))
    assert named_signature(plain).text == "(n),(n),()->()"
    assert plain.identity == entry.identity


@pytest.mark.parametrize(
    ("signature", "words"),
    [
        ('"(n),(m),()->()"', ["says that its signature is (n),(m),()->()", "normal signature is (n),(n),()->()"]),
        ('"(n),(n)->()"', ["(n),(n)->()", "(n),(n),()->()"]),
        ('"(n),(n),()->(n)"', ["(n),(n),()->(n)", "(n),(n),()->()"]),
        ('"(m,n),(m,n),()->()"', ["(m,n),(m,n),()->()"]),
        ('"(4),(4),()->()"', ["(4),(4),()->()"]),
        ('"(n),(n),()"', ["'(n),(n),()' is no signature"]),
        ('"(n) (n),()->()"', ["is no signature"]),
        ('"(n),(n),()->"', ["is no signature"]),
        ('"(2n),(n),()->()"', ["is no signature"]),
        ('""', ["is no signature", "such as '(n),(n),()->(n)'"]),
        ("7 : i64", ["expected its signature to be a string"]),
    ],
)
def test_a_signature_that_is_another(signature: str, words: list[str]) -> None:
    refusal(DOT.replace("{}", signature), "@r", *words)


def test_fixed_extents_in_a_signature() -> None:
    recipe = text(
        "(%x: tensor<4xf64>) -> tensor<2xf64>",
        "%r = tensor.extract_slice %x[1] [2] [1] : tensor<4xf64> to tensor<2xf64> xfuse.yield %r : tensor<2xf64>",
        'signature = "{}"',
    )
    assert named_signature(accepted(recipe.replace("{}", " ( 4 ) -> (2) "))).text == "(4)->(2)"
    for other in ("(n)->(2)", "(2)->(4)", "(4)->(m)"):
        refusal(recipe.replace("{}", other), f"says that its signature is {other}")


def test_parse_signature() -> None:
    assert parse_signature("(m_1, n),()->(n),( 3 ,m_1)") == CoreSignature((("m_1", "n"), ()), (("n",), ("3", "m_1")))
    for wrong in ("", "->", "()", "(n", "(n,)->()", "(,n)->()", "(n)->()->()", "((n))->()", "(é)->()", "(n)->() x"):
        with pytest.raises(RecipeError, match="is no signature"):
            parse_signature(wrong)


# Everything else


SEEDS = [
    *(chunk for chunk, _ in REFUSED.values()),
    *ACCEPTED.values(),
    DOT.replace("{}", '"(n),(n),()->()"'),
]
NUMBERS = ("0", "1", "2", "-1", "3", "4", "7", "-9223372036854775808", "9223372036854775807")
TYPES = (
    "f64 f32 i64 i1 index tensor<?xf64> tensor<4xf64> tensor<f64> tensor<?x?xf64> tensor<2x2xf64> tensor<?xindex> "
    "tensor<1x?xf64> vector<4xf64> f80"
).split()
PARTS = (
    (r"(?<![\w%.#])-?\d+(?![\w.])", NUMBERS),
    (r"tensor<[^<>]*>|\bf64\b|\bindex\b|\bi64\b", TYPES),
    (r"%\w+", ()),
    (r'"[a-z]+\.[a-z_]+"', ()),
    (r", [^,()\[\]{}<>]+(?=[,)\]}])", ("",)),
    (r"affine_map<[^>]*->[^>]*>", ()),
    (r"xfuse\.\w+", ("xfuse.scalar", "xfuse.flatten", "xfuse.accumulator = f32", "xfuse.yield")),
)


def spelled_out() -> list[str]:
    """The seeds in generic form, where every attribute is in sight."""
    found: list[str] = []
    for seed in SEEDS:
        try:
            module = parse_module(seed, context=context(), verify=False)
            stream = io.StringIO()
            Printer(stream, print_generic_format=True).print_op(module.body.block.ops.first)
        except (ParsingError, NotImplementedError):  # no MLIR at all, or what xDSL cannot print
            continue
        found.append(stream.getvalue())
    return found


def test_broken_recipes_are_refused_and_never_a_crash() -> None:
    """Numbers, types, operands, op names and marks in other places: all of it ends in an entry or a typed refusal.

    What is stored resolves at some shape or gives a typed error, and has no op that MLIR would not take.
    """
    draw, seeds, stored = random.Random(20), spelled_out(), 0
    assert len(seeds) > 70
    for _ in range(1500):
        mutant = draw.choice(seeds)
        for _ in range(draw.choice((1, 1, 2, 3))):
            pattern, values = draw.choice(PARTS)
            places = list(re.finditer(pattern, mutant))
            if places:
                place = draw.choice(places)
                value = draw.choice(values or [each.group() for each in places])
                mutant = mutant[: place.start()] + value + mutant[place.end() :]
        try:
            recipes = recipes_of(parse_module(mutant, context=context()))
            RecipeRegistry().register_all(recipes)
        except XfuseError:
            continue
        for recipe in recipes:
            stored += 1
            assert all(structure_problem(op) is None for op in recipe.op.body.walk())
            ranks = [len(getattr(type_, "get_shape", tuple)()) for type_ in recipe.argument_types]
            with suppress(XfuseError):
                resolve_shapes(recipe, [(4,) * rank for rank in ranks])
    assert stored > 30


def test_reading_a_recipe_changes_nothing() -> None:
    """Resolving and validating are pure: the op is what it was, and the answer too."""
    (recipe,) = parse_recipes(ACCEPTED["a slice that fits some shape"])
    before = str(recipe.op)
    validate(recipe)
    first = resolve_shapes(recipe, [(np.int32(9),)])
    assert resolve_shapes(recipe, [(9,)]) == first
    assert str(recipe.op) == before
