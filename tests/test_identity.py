"""Identity is content (law L5): what must be one, what must not, and the closed list of folds."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest
from support import calls_of
from xdsl.dialects import func

import xfuse
from xfuse.canonical.build import GraphBuilder
from xfuse.decomposition import decompose_all
from xfuse.errors import UnsupportedError
from xfuse.fusion import fuse
from xfuse.identify import body_form, identities, identity
from xfuse.parser import XfuseParser, default_context, load_module, parse_module, resource_blobs
from xfuse.recipes import parse_recipes
from xfuse.testing import same_program
from xfuse_dialects.xfuse import FusedOp

CORPUS = Path(__file__).parent / "corpus"
VARIANTS = CORPUS / "variants"


def key(text: str) -> str:
    """The canonical text of the one recipe or function of a text."""
    return identity(text).text


def scalar(*lines: str, arguments: str = "%x: f32, %y: f32, %z: f32", results: str = "f32") -> str:
    """The canonical text of a function on scalars; the last line is what it returns."""
    return key(
        f"func.func @f({arguments}) -> ({results}) {{\n"
        + "\n".join(lines[:-1])
        + f"\nreturn {lines[-1]} : {results}\n}}"
    )


def recipe(*lines: str, arguments: str = "%x: f32, %y: f32, %z: f32", name: str = "r") -> str:
    """The canonical text of a recipe with one f32 result, which is the last line."""
    return key(
        f"xfuse.recipe @{name}({arguments}) -> f32 {{\n"
        + "\n".join(lines[:-1])
        + f"\nxfuse.yield {lines[-1]} : f32\n}}"
    )


def tensors(*lines: str, arguments: str, results: str) -> str:
    """The canonical text of a function on tensors."""
    return scalar(*lines, arguments=arguments, results=results)


def op(kind: str, *operands: str) -> str:
    """The canonical text of one float op on arguments."""
    return scalar(f"%r = {kind} {', '.join(operands)} : f32", "%r")


# What a reference system takes for one: all of it differs here


def test_one_argument_twice_is_not_two_arguments() -> None:
    arguments = "%x: f32, %y: f32"
    assert recipe("%r = arith.mulf %x, %x : f32", "%r", arguments="%x: f32") != recipe(
        "%r = arith.mulf %x, %y : f32", "%r", arguments=arguments
    )
    assert scalar("%r = arith.mulf %x, %x : f32", "%r") != scalar("%r = arith.mulf %x, %y : f32", "%r")


def test_operands_of_a_difference_count_in_order() -> None:
    assert op("arith.subf", "%x", "%y") != op("arith.subf", "%y", "%x")


def test_arguments_are_numbered() -> None:
    """x y - z and x z - y."""
    assert scalar("%t = arith.mulf %x, %y : f32", "%r = arith.subf %t, %z : f32", "%r") != scalar(
        "%t = arith.mulf %x, %z : f32", "%r = arith.subf %t, %y : f32", "%r"
    )


def test_a_slot_is_not_a_literal() -> None:
    slot = recipe("%r = arith.mulf %x, %s : f32", "%r", arguments="%x: f32, %s: f32 {xfuse.scalar}")
    literal = recipe("%k = arith.constant 0.0 : f32", "%r = arith.mulf %x, %k : f32", "%r", arguments="%x: f32")
    assert slot != literal


def test_a_slot_only_restricts_matching() -> None:
    """Marks that only restrict matching do not count."""
    assert recipe("%r = arith.mulf %x, %s : f32", "%r", arguments="%x: f32, %s: f32 {xfuse.scalar}") == recipe(
        "%r = arith.mulf %x, %s : f32", "%r", arguments="%x: f32, %s: f32"
    )


def test_fill_values_differ() -> None:
    def masked(value: str) -> str:
        return scalar(
            f"%k = arith.constant {value} : f32",
            "%r = arith.select %m, %k, %x : f32",
            "%r",
            arguments="%x: f32, %m: i1",
        )

    assert len({masked("1.0"), masked("2.0"), masked("-1.0")}) == 3


MATRIX = "tensor<4x5xf32>"
IDENTITY_2 = "affine_map<(d0, d1) -> (d0, d1)>"


def indexed(*body: str, inputs: str = f"%x: {MATRIX}", shape: str = MATRIX) -> str:
    """A generic without ins over the shape of a matrix."""
    text = "\n".join(body)
    return tensors(
        f"%e = tensor.empty() : {shape}",
        f'%r = linalg.generic {{indexing_maps = [{IDENTITY_2}], iterator_types = ["parallel", "parallel"]}} '
        f"outs(%e : {shape}) {{\n^bb0(%o: f32):\n%i = linalg.index 0 : index\n%j = linalg.index 1 : index\n{text}\n"
        f"}} -> {shape}",
        "%r",
        arguments=inputs,
        results=shape,
    )


def triangle(offset: int, predicate: str = "sge") -> str:
    return indexed(
        f"%k = arith.constant {offset} : index",
        "%zero = arith.constant 0.0 : f32",
        "%l = arith.addi %i, %k : index",
        f"%c = arith.cmpi {predicate}, %j, %l : index",
        f"%v = tensor.extract %x[%i, %j] : {MATRIX}",
        "%s = arith.select %c, %v, %zero : f32",
        "linalg.yield %s : f32",
    )


def test_triangles_differ_by_offset_and_side() -> None:
    assert len({triangle(0), triangle(1), triangle(2), triangle(1, "sle")}) == 4


def gathered(at: str) -> str:
    square = "tensor<5x5xf32>"
    return indexed(
        "%k = arith.constant 3 : index",
        f"%v = tensor.extract %x[{at}] : {square}",
        "linalg.yield %v : f32",
        inputs=f"%x: {square}",
        shape=square,
    )


def test_gathers_differ_by_axis() -> None:
    """Reading row k or column k; a transposed read is a third thing, and all differ from reading in place."""
    assert len({gathered("%k, %j"), gathered("%i, %j"), gathered("%k, %k")}) == 3


def test_which_axis_an_index_selects_counts_where_both_axes_are_core() -> None:
    def selected(at: str) -> str:
        return indexed(
            f"%n = tensor.extract %idx[{'%i' if at.startswith('%p') else '%j'}] : tensor<5xindex>".replace(
                "%idx", "%w"
            ),
            f"%p = arith.addi %n, %{'j' if at.startswith('%p') else 'i'} : index",
            f"%v = tensor.extract %x[{at.replace('%q', '%p')}] : tensor<5x5xf32>",
            "linalg.yield %v : f32",
            inputs="%x: tensor<5x5xf32>, %w: tensor<5xindex>",
            shape="tensor<5x5xf32>",
        )

    assert selected("%p, %j") != selected("%i, %q")


def slice_of(offset: str, size: str, *before: str) -> str:
    result = f"tensor<{'?' if '%' in size else size}xf32>"
    return tensors(
        *before,
        f"%s = tensor.extract_slice %x[{offset}] [{size}] [1] : tensor<?xf32> to {result}",
        f"%r = math.exp %s : {result}",
        "%r",
        arguments="%x: tensor<?xf32>",
        results=result,
    )


def test_slices_by_literal_and_by_extent_differ() -> None:
    half = (
        "%c0 = arith.constant 0 : index",
        "%c2 = arith.constant 2 : index",
        "%n = tensor.dim %x, %c0 : tensor<?xf32>",
        "%h = arith.divui %n, %c2 : index",
    )
    keys = {
        slice_of("0", "%h", *half),
        slice_of("%h", "%h", *half),
        slice_of("0", "2"),
        slice_of("1", "2"),
        slice_of("0", "3"),
        slice_of("0", "%n", *half),
    }
    assert len(keys) == 6


def rolled(shift: int) -> str:
    return indexed(
        f"%k = arith.constant {shift} : index",
        "%n = arith.constant 4 : index",
        "%a = arith.addi %i, %k : index",
        "%b = arith.remui %a, %n : index",
        f"%v = tensor.extract %x[%b, %j] : {MATRIX}",
        "linalg.yield %v : f32",
    )


def test_rolls_differ_by_shift() -> None:
    assert len({rolled(0), rolled(1), rolled(3)}) == 3


def test_baked_literals_differ() -> None:
    def times(value: str) -> str:
        return scalar(f"%k = arith.constant {value} : f32", "%r = arith.mulf %x, %k : f32", "%r")

    assert times("2.0") != times("3.0")


def test_a_cast_differs_by_its_type() -> None:
    def through(type_: str) -> str:
        return scalar(f"%t = arith.truncf %x : f32 to {type_}", f"%r = arith.extf %t : {type_} to f32", "%r")

    assert through("f16") != through("bf16")


def test_names_locations_order_and_duplicates_do_not_count() -> None:
    plain = scalar("%t = arith.addf %x, %y : f32", "%u = math.exp %z : f32", "%r = arith.divf %t, %u : f32", "%r")
    assert plain == scalar(
        '%b = math.exp %z : f32 loc("there")', "%a = arith.addf %x, %y : f32", "%q = arith.divf %a, %b : f32", "%q"
    )
    assert plain == scalar(
        "%b = math.exp %z : f32",
        "%dead = math.sin %z : f32",
        "%a = arith.addf %x, %y : f32",
        "%q = arith.divf %a, %b {tag = 1 : i32} : f32",
        "%q",
    )
    assert recipe("%r = arith.addf %x, %y : f32", "%s = arith.mulf %r, %z : f32", "%s") == recipe(
        "%r = arith.addf %x, %y : f32", "%s = arith.mulf %r, %z : f32", "%s", name="other"
    )


def test_equal_ops_are_one_however_their_operands_are_ordered() -> None:
    """(x + y) (y + x) is the square of x + y."""
    twice = scalar("%a = arith.addf %x, %y : f32", "%b = arith.addf %y, %x : f32", "%r = arith.mulf %a, %b : f32", "%r")
    assert twice == scalar("%a = arith.addf %x, %y : f32", "%r = arith.mulf %a, %a : f32", "%r")
    assert twice.count("arith.addf") == 1


def test_a_deep_duplicate_is_one_too() -> None:
    """Order differs far below the root, and on both sides."""
    left = ["%a = arith.mulf %x, %y : f32", "%b = arith.addf %a, %z : f32", "%c = math.exp %b : f32"]
    right = ["%d = arith.mulf %y, %x : f32", "%e = arith.addf %z, %d : f32", "%f = math.exp %e : f32"]
    assert scalar(*left, *right, "%r = arith.subf %c, %f : f32", "%r") == scalar(
        *left, "%r = arith.subf %c, %c : f32", "%r"
    )


COMMUTATIVE = ["addf", "mulf", "maximumf", "minimumf", "maxnumf", "minnumf"]


@pytest.mark.parametrize("kind", COMMUTATIVE)
def test_commutative_operands_are_sorted(kind: str) -> None:
    """Whichever way the operands come, at the root and inside."""
    keys = {
        scalar("%t = math.exp %x : f32", f"%u = arith.{kind} {a} : f32", f"%r = arith.{kind} {b} : f32", "%r")
        for a in ("%t, %y", "%y, %t")
        for b in ("%u, %z", "%z, %u")
    }
    assert len(keys) == 1


@pytest.mark.parametrize("kind", ["arith.subf", "arith.divf", "math.powf", "math.atan2", "math.copysign"])
def test_other_operands_are_not(kind: str) -> None:
    assert op(kind, "%x", "%y") != op(kind, "%y", "%x")


@pytest.mark.parametrize(
    ("one", "other"), [("olt", "ogt"), ("ole", "oge"), ("ult", "ugt"), ("ule", "uge"), ("oeq", "oeq"), ("uno", "uno")]
)
def test_compares_are_mirrored(one: str, other: str) -> None:
    def compared(predicate: str, order: str) -> str:
        return scalar(f"%c = arith.cmpf {predicate}, {order} : f32", "%c", results="i1")

    assert compared(one, "%x, %y") == compared(other, "%y, %x")
    if one != other:
        assert compared(one, "%x, %y") != compared(one, "%y, %x")


def test_all_predicates_and_kinds_differ() -> None:
    predicates = "oeq ogt oge olt ole one ord ueq ugt uge ult ule une uno".split()
    keys = [scalar(f"%c = arith.cmpf {p}, %x, %y : f32", "%c", results="i1") for p in predicates]
    assert len(set(keys)) == len(predicates)
    integers = "eq ne slt sle sgt sge ult ule ugt uge".split()
    keys = [
        scalar(f"%c = arith.cmpi {p}, %x, %y : i32", "%c", arguments="%x: i32, %y: i32", results="i1") for p in integers
    ]
    assert len(set(keys)) == len(integers)


def test_results_are_ordered() -> None:
    lines = ("%a = math.exp %x : f32", "%b = math.sin %x : f32")
    assert scalar(*lines, "%a, %b", results="f32, f32") != scalar(*lines, "%b, %a", results="f32, f32")


def test_unused_arguments_count() -> None:
    assert scalar("%r = math.exp %x : f32", "%r", arguments="%x: f32") != scalar(
        "%r = math.exp %x : f32", "%r", arguments="%x: f32, %y: f32"
    )


# Attributes and literals


FLAGS = ["", "nnan", "ninf", "nsz", "arcp", "contract", "afn", "reassoc", "nnan,ninf", "fast"]


def test_fast_math_flags_differ() -> None:
    keys = {scalar(f"%r = arith.addf %x, %y {f'fastmath<{flags}>' if flags else ''} : f32", "%r") for flags in FLAGS}
    assert len(keys) == len(FLAGS)


def test_the_order_of_flags_and_the_default_do_not_count() -> None:
    def flagged(flags: str) -> str:
        return scalar(f"%r = arith.addf %x, %y fastmath<{flags}> : f32", "%r")

    assert flagged("nnan,ninf") == flagged("ninf,nnan")
    assert flagged("none") == op("arith.addf", "%x", "%y")


def test_overflow_flags_differ() -> None:
    keys = {
        scalar(f"%r = arith.addi %x, %y {flags} : i32", "%r", arguments="%x: i32, %y: i32", results="i32")
        for flags in ("", "overflow<nsw>", "overflow<nuw>", "overflow<nsw,nuw>")
    }
    assert len(keys) == 4


LITERALS = [
    "0.0 : f32",
    "-0.0 : f32",
    "1.0 : f32",
    "0x3F800001 : f32",
    "0x7FC00000 : f32",
    "0x7FC00001 : f32",
    "0xFFC00000 : f32",
    "0x7F800000 : f32",
    "0xFF800000 : f32",
    "1.0e-5 : f32",
    "1.0e-6 : f32",
    "1.0 : f64",
    "1.0e-5 : f64",
    "1.0 : f16",
    "1.0 : bf16",
    "1 : i32",
    "1 : i64",
    "1 : index",
    "1 : i8",
    "-1 : i8",
]


@pytest.mark.parametrize("form", ["scalar", "splat"])
def test_literals_differ_by_bits_and_type(form: str) -> None:
    keys: set[str] = set()
    for literal in LITERALS:
        value, type_ = literal.split(" : ")
        whole = type_ if form == "scalar" else f"tensor<3x{type_}>"
        spelled = value if form == "scalar" else f"dense<{value}>"
        keys.add(key(f"func.func @f() -> {whole} {{\n%k = arith.constant {spelled} : {whole}\nreturn %k : {whole}\n}}"))
    assert len(keys) == len(LITERALS)


@pytest.mark.parametrize("value", ["1.5", "-0.0", "0x7FC00000", "0x7FC00123", "0xFF800000"])
def test_a_literal_is_one_in_all_its_spellings(value: str) -> None:
    tensor = "tensor<4xf32>"
    spellings = [
        [f"%k = arith.constant dense<{value}> : {tensor}"],
        [f"%k = arith.constant dense<[{value}, {value}, {value}, {value}]> : {tensor}"],
        [f"%s = arith.constant {value} : f32", f"%k = tensor.splat %s : {tensor}"],
        [
            f"%s = arith.constant {value} : f32",
            f"%e = tensor.empty() : {tensor}",
            f"%k = linalg.fill ins(%s : f32) outs(%e : {tensor}) -> {tensor}",
        ],
        [
            f"%e = tensor.empty() : {tensor}",
            '%k = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]} '
            f"outs(%e : {tensor}) {{\n^bb0(%o: f32):\n%s = arith.constant {value} : f32\nlinalg.yield %s : f32\n"
            f"}} -> {tensor}",
        ],
        [
            f"%s = arith.constant dense<{value}> : tensor<f32>",
            f"%e = tensor.empty() : {tensor}",
            f"%k = linalg.broadcast ins(%s : tensor<f32>) outs(%e : {tensor}) dimensions = [0]",
        ],
    ]
    keys = {
        tensors(*lines, f"%r = arith.divf %k, %x : {tensor}", "%r", arguments=f"%x: {tensor}", results=tensor)
        for lines in spellings
    }
    assert len(keys) == 1


def constant(value: str, type_: str = "tensor<2xf32>") -> str:
    return tensors(
        f"%k = arith.constant {value} : {type_}",
        f"%r = arith.mulf %k, %x : {type_}",
        "%r",
        arguments=f"%x: {type_}",
        results=type_,
    )


def test_lists_differ_by_bits_and_are_no_splats() -> None:
    """[0, -0] is not all zeros, though equal as numbers."""
    values = [
        "[1.0, 2.0]",
        "[2.0, 1.0]",
        "1.0",
        "2.0",
        "[0.0, -0.0]",
        "[-0.0, 0.0]",
        "0.0",
        "-0.0",
        "[0.0, 0x7FC00000]",
    ]
    assert len({constant(f"dense<{value}>") for value in values}) == len(values)
    assert constant("dense<[0x7FC00000, 0x7FC00000]>") == constant("dense<0x7FC00000>")


def test_lists_differ_by_shape() -> None:
    assert constant("dense<[[1.0, 2.0], [3.0, 4.0]]>", "tensor<2x2xf32>") != constant(
        "dense<[1.0, 2.0, 3.0, 4.0]>", "tensor<4xf32>"
    )


def test_empty_constants_have_an_identity() -> None:
    assert constant("dense<1.0>", "tensor<0xf32>")


def resource(name: str, blob: str) -> str:
    module = parse_module(f"""
func.func @f(%x: tensor<2xf32>) -> tensor<2xf32> {{
  %k = arith.constant dense_resource<{name}> : tensor<2xf32>
  %r = arith.mulf %k, %x : tensor<2xf32>
  return %r : tensor<2xf32>
}}
{{-#
  dialect_resources: {{
    builtin: {{
      {name}: "0x04000000{blob}"
    }}
  }}
#-}}
""")
    return identity(module.body.block.first_op).text


def test_resources_differ_by_blob_not_by_handle() -> None:
    one, two = "0000803F00000040", "0000803F00004040"
    assert resource("weights", one) == resource("others", one)
    assert resource("weights", one) != resource("weights", two)


# Folds: each of the closed list, and nothing else


def folded(*lines: str) -> bool:
    """Whether a function returns its argument %x as it is."""
    return scalar(*lines) == scalar("%x")


def combined(kind: str, literal: str, left: bool) -> bool:
    operands = "%k, %x" if left else "%x, %k"
    return folded(f"%k = arith.constant {literal} : f32", f"%r = arith.{kind} {operands} : f32", "%r")


INFINITY, MINUS_INFINITY = "0x7F800000", "0xFF800000"


@pytest.mark.parametrize(
    ("kind", "literal", "left"),
    [
        ("subf", "0.0", False),
        ("addf", "-0.0", False),
        ("addf", "-0.0", True),
        ("mulf", "1.0", False),
        ("mulf", "1.0", True),
        ("divf", "1.0", False),
        ("maximumf", MINUS_INFINITY, False),
        ("maximumf", MINUS_INFINITY, True),
        ("minimumf", INFINITY, False),
        ("minimumf", INFINITY, True),
    ],
)
def test_neutral_literals_fold(kind: str, literal: str, left: bool) -> None:
    assert combined(kind, literal, left)


@pytest.mark.parametrize(
    ("kind", "literal", "left"),
    [
        ("addf", "0.0", False),
        ("addf", "0.0", True),
        ("subf", "-0.0", False),
        ("subf", "0.0", True),
        ("subf", "-0.0", True),
        ("mulf", "0.0", False),
        ("mulf", "-1.0", False),
        ("mulf", "2.0", False),
        ("divf", "1.0", True),
        ("divf", "-1.0", False),
        ("maximumf", INFINITY, False),
        ("minimumf", MINUS_INFINITY, False),
        ("maxnumf", MINUS_INFINITY, False),
        ("minnumf", INFINITY, False),
    ],
)
def test_other_literals_do_not(kind: str, literal: str, left: bool) -> None:
    assert not combined(kind, literal, left)


def test_algebra_that_is_not_folded() -> None:
    """-x and 0 - x, x / 2 and x * 0.5, x + x and 2 x, (x + y) + z and x + (y + z) are different functions."""
    negated = scalar("%r = arith.negf %x : f32", "%r")
    for zero in ("0.0", "-0.0"):
        assert negated != scalar(f"%k = arith.constant {zero} : f32", "%r = arith.subf %k, %x : f32", "%r")
    two, half = "%k = arith.constant 2.0 : f32", "%k = arith.constant 0.5 : f32"
    assert scalar(two, "%r = arith.divf %x, %k : f32", "%r") != scalar(half, "%r = arith.mulf %x, %k : f32", "%r")
    assert scalar(two, "%r = arith.mulf %x, %k : f32", "%r") != op("arith.addf", "%x", "%x")
    assert scalar("%a = arith.addf %x, %y : f32", "%r = arith.addf %a, %z : f32", "%r") != scalar(
        "%a = arith.addf %y, %z : f32", "%r = arith.addf %x, %a : f32", "%r"
    )
    assert not folded("%a = arith.negf %x : f32", "%r = arith.negf %a : f32", "%r")
    assert not folded("%a = arith.addf %x, %y : f32", "%r = arith.subf %a, %y : f32", "%r")
    assert scalar("%r = arith.subf %x, %x : f32", "%r") != scalar("%r = arith.constant 0.0 : f32", "%r")
    assert scalar("%r = arith.divf %x, %x : f32", "%r") != scalar("%r = arith.constant 1.0 : f32", "%r")


def literal(*lines: str, results: str = "f32") -> str:
    return scalar(*lines, results=results)


@pytest.mark.parametrize(
    ("lines", "value"),
    [
        (
            ["%a = arith.constant 0.1 : f32", "%b = arith.constant 0.2 : f32", "%r = arith.addf %a, %b : f32"],
            "0x3E99999A",
        ),
        (
            ["%a = arith.constant 1.0 : f32", "%b = arith.constant 3.0 : f32", "%r = arith.divf %a, %b : f32"],
            "0x3EAAAAAB",
        ),
        (["%a = arith.constant 2.0 : f32", "%r = math.sqrt %a : f32"], "0x3FB504F3"),
        (["%a = arith.constant 1.0e-5 : f64", "%r = arith.truncf %a : f64 to f32"], "0x3727C5AC"),
        (["%a = arith.constant 7 : i32", "%r = arith.sitofp %a : i32 to f32"], "7.0"),
        (["%a = arith.constant 0.0 : f32", "%r = arith.negf %a : f32"], "-0.0"),
        (
            [
                "%a = arith.constant 1.0 : f32",
                "%b = arith.constant 2.0 : f32",
                "%c = arith.cmpf olt, %a, %b : f32",
                "%r = arith.select %c, %a, %b : f32",
            ],
            "1.0",
        ),
    ],
)
def test_exact_ops_on_literals_fold(lines: Sequence[str], value: str) -> None:
    assert literal(*lines, "%r") == literal(f"%r = arith.constant {value} : f32", "%r")


def test_inexact_ops_on_literals_do_not() -> None:
    """What exp(1) is depends on who computes it."""
    assert "math.exp" in literal("%a = arith.constant 1.0 : f32", "%r = math.exp %a : f32", "%r")


@pytest.mark.parametrize(("condition", "taken"), [("true", "%x"), ("false", "%y")])
def test_a_select_on_a_literal_folds(condition: str, taken: str) -> None:
    assert scalar(f"%c = arith.constant {condition}", "%r = arith.select %c, %x, %y : f32", "%r") == scalar(taken)


def test_the_key_folds_and_the_region_does_not() -> None:
    module = parse_module("""
func.func @main(%x: f32, %y: f32) -> f32 {
  %k = arith.constant 1.0 : f32
  %a = arith.mulf %x, %k : f32
  %b = arith.addf %a, %y : f32
  %c = math.exp %b : f32
  return %c : f32
}
""")
    before = module.clone()
    wanted = """xfuse.recipe @r(%a: f32, %b: f32) -> f32 {
  %0 = arith.addf %a, %b : f32
  %1 = math.exp %0 : f32
  xfuse.yield %1 : f32
}"""
    fuse(module, parse_recipes(wanted), lambda recipe, dtypes: "any")
    assert "xfuse.fused" in str(module)
    decompose_all(module)
    assert same_program(before, module)


# Shapes and indices


def test_x_plus_b_is_one_recipe_along_either_axis() -> None:
    """How arguments lie along loop axes is instance data."""
    matrix, row = "tensor<4x4xf32>", "tensor<4xf32>"

    def added(dimension: int) -> str:
        return tensors(
            f"%e = tensor.empty() : {matrix}",
            f"%v = linalg.broadcast ins(%b : {row}) outs(%e : {matrix}) dimensions = [{dimension}]",
            f"%r = arith.addf %x, %v : {matrix}",
            "%r",
            arguments=f"%x: {matrix}, %b: {row}",
            results=matrix,
        )

    plain = scalar("%r = arith.addf %x, %b : f32", "%r", arguments="%x: f32, %b: f32")
    assert added(0) == added(1) == plain


def test_x_minus_x_and_x_minus_its_transpose_differ() -> None:
    square = "tensor<3x3xf32>"

    def minus(second: str) -> str:
        return tensors(
            f"%e = tensor.empty() : {square}",
            f"%t = linalg.transpose ins(%x : {square}) outs(%e : {square}) permutation = [1, 0]",
            f"%r = arith.subf %x, {second} : {square}",
            "%r",
            arguments=f"%x: {square}",
            results=square,
        )

    assert minus("%x") != minus("%t")


def reduced(
    inputs: Sequence[tuple[str, str]], loops: Sequence[str], over: Sequence[str], body: Sequence[str], result: str
) -> str:
    """A sum over some loops; operands come with their maps."""
    dims = ", ".join(loops)
    kept = ", ".join(loop for loop in loops if loop not in over)
    maps = ", ".join([*(f"affine_map<({dims}) -> ({at})>" for _, at in inputs), f"affine_map<({dims}) -> ({kept})>"])
    kinds = ", ".join('"reduction"' if loop in over else '"parallel"' for loop in loops)
    arguments = ", ".join(f"%x{n}: {type_}" for n, (type_, _) in enumerate(inputs))
    scalars = ", ".join([*(f"%i{n}: f32" for n in range(len(inputs))), "%acc: f32"])
    spelled = "\n".join(body)
    return tensors(
        "%zero = arith.constant 0.0 : f32",
        f"%e = tensor.empty() : {result}",
        f"%f = linalg.fill ins(%zero : f32) outs(%e : {result}) -> {result}",
        f"%r = linalg.generic {{indexing_maps = [{maps}], iterator_types = [{kinds}]}} "
        f"ins({', '.join(f'%x{n}' for n in range(len(inputs)))} : {', '.join(t for t, _ in inputs)}) "
        f"outs(%f : {result}) {{\n^bb0({scalars}):\n{spelled}\n}} -> {result}",
        "%r",
        arguments=arguments,
        results=result,
    )


SUM = ("%s = arith.addf %i0, %acc : f32", "linalg.yield %s : f32")
PRODUCT_SUM = ("%p = arith.mulf %i0, %i1 : f32", "%s = arith.addf %p, %acc : f32", "linalg.yield %s : f32")


def test_a_sum_over_a_broadcast_counts_every_copy() -> None:
    """Three copies and five; the same for a fold whose body is no single op."""

    def copies(count: int, body: Sequence[str] = SUM) -> str:
        # The second operand gives the extent and is not read.
        return reduced(
            [("tensor<4xf32>", "d0"), (f"tensor<4x{count}xf32>", "d0, d1")], ["d0", "d1"], ["d1"], body, "tensor<4xf32>"
        )

    assert copies(3) != copies(5)
    square = ("%p = arith.mulf %acc, %acc : f32", "%s = arith.addf %p, %i0 : f32", "linalg.yield %s : f32")
    assert copies(3, square) != copies(5, square)
    assert copies(3) != copies(3, square)


def test_which_axis_is_summed_is_instance_data() -> None:
    """One recipe, (n)->(), over rows or columns; the views say which."""
    rows = reduced([("tensor<4x5xf32>", "d0, d1")], ["d0", "d1"], ["d1"], SUM, "tensor<4xf32>")
    columns = reduced([("tensor<4x5xf32>", "d0, d1")], ["d0", "d1"], ["d0"], SUM, "tensor<5xf32>")
    everything = reduced([("tensor<4x5xf32>", "d0, d1")], ["d0", "d1"], ["d0", "d1"], SUM, "tensor<f32>")
    vector = reduced([("tensor<5xf32>", "d0")], ["d0"], ["d0"], SUM, "tensor<f32>")
    assert rows == columns == vector != everything


def test_a_product_of_matrix_and_vector_is_no_row_scaled_sum() -> None:
    """sum_j A[i, j] x[j] and sum_j A[i, j] x[i]."""

    def product(at: str) -> str:
        return reduced(
            [("tensor<4x4xf32>", "d0, d1"), ("tensor<4xf32>", at)], ["d0", "d1"], ["d1"], PRODUCT_SUM, "tensor<4xf32>"
        )

    assert product("d1") != product("d0")


def test_products_of_matrices_vectors_and_rows_are_one_contraction() -> None:
    """matmul, mat-vec and row-dot are (n),(n)->()."""
    matmul = reduced(
        [("tensor<3x4xf32>", "d0, d2"), ("tensor<4x5xf32>", "d2, d1")],
        ["d0", "d1", "d2"],
        ["d2"],
        PRODUCT_SUM,
        "tensor<3x5xf32>",
    )
    matvec = reduced(
        [("tensor<3x4xf32>", "d0, d1"), ("tensor<4xf32>", "d1")], ["d0", "d1"], ["d1"], PRODUCT_SUM, "tensor<3xf32>"
    )
    dot = reduced([("tensor<4xf32>", "d0"), ("tensor<4xf32>", "d0")], ["d0"], ["d0"], PRODUCT_SUM, "tensor<f32>")
    transposed = reduced(
        [("tensor<4x3xf32>", "d2, d0"), ("tensor<4x5xf32>", "d2, d1")],
        ["d0", "d1", "d2"],
        ["d2"],
        PRODUCT_SUM,
        "tensor<3x5xf32>",
    )
    assert matmul == matvec == dot == transposed


def test_sums_of_exponentials_keep_their_indices_apart() -> None:
    """sum_j exp(a)[i] exp(b)[j] and sum_j exp(a)[j] exp(b)[i]."""
    body = (
        "%p = math.exp %i0 : f32",
        "%q = math.exp %i1 : f32",
        "%m = arith.mulf %p, %q : f32",
        "%s = arith.addf %m, %acc : f32",
        "linalg.yield %s : f32",
    )

    def summed(first: str, second: str) -> str:
        return reduced(
            [("tensor<4xf32>", first), ("tensor<4xf32>", second)], ["d0", "d1"], ["d1"], body, "tensor<4xf32>"
        )

    assert summed("d0", "d1") != summed("d1", "d0")


def test_the_initial_value_counts() -> None:
    def started(value: str) -> str:
        return reduced([("tensor<4xf32>", "d0")], ["d0"], ["d0"], SUM, "tensor<f32>").replace("0.0", value)

    vector = """func.func @f(%x: tensor<4xf32>) -> tensor<f32> {{
  %k = arith.constant dense<{}> : tensor<f32>
  %r = linalg.reduce ins(%x : tensor<4xf32>) outs(%k : tensor<f32>) dimensions = [0]
    (%in: f32, %acc: f32) {{
      %w = arith.addf %in, %acc : f32
      linalg.yield %w : f32
    }}
  return %r : tensor<f32>
}}"""
    assert key(vector.format("0.0")) != key(vector.format("-0.0"))
    assert key(vector.format("0.0")) != key(vector.format("1.0"))
    assert key(vector.format("0.0")) == started("0.0")


def test_an_unread_outs_and_an_empty_tensor_do_not_count() -> None:
    tensor = "tensor<4xf32>"

    def written(out: str) -> str:
        return tensors(
            f"%e = tensor.empty() : {tensor}",
            f"%f = tensor.empty() : {tensor}",
            f"%t = math.sin %x : {tensor}",
            f"%r = linalg.exp ins(%x : {tensor}) outs({out} : {tensor}) -> {tensor}",
            "%r",
            arguments=f"%x: {tensor}, %y: {tensor}",
            results=tensor,
        )

    assert len({written(out) for out in ("%e", "%f", "%t", "%y", "%x")}) == 1


def test_an_outs_that_is_read_counts() -> None:
    tensor = "tensor<4xf32>"

    def written(out: str) -> str:
        return tensors(
            "%r = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], "
            'iterator_types = ["parallel"]} '
            f"ins(%x : {tensor}) outs({out} : {tensor}) {{\n^bb0(%i: f32, %o: f32):\n%s = arith.subf %i, %o : f32\n"
            f"linalg.yield %s : f32\n}} -> {tensor}",
            "%r",
            arguments=f"%x: {tensor}, %y: {tensor}",
            results=tensor,
        )

    assert written("%x") != written("%y")


def mean(divisor: Sequence[str], type_: str) -> str:
    return key(f"""func.func @f(%x: {type_}) -> f32 {{
  %c0 = arith.constant 0 : index
  %k = arith.constant dense<0.0> : tensor<f32>
  %r = linalg.reduce ins(%x : {type_}) outs(%k : tensor<f32>) dimensions = [0]
    (%in: f32, %acc: f32) {{
      %w = arith.addf %in, %acc : f32
      linalg.yield %w : f32
    }}
  %s = tensor.extract %r[] : tensor<f32>
  {chr(10).join(divisor)}
  %m = arith.divf %s, %d : f32
  return %m : f32
}}""")


def test_a_symbolic_extent_is_not_a_literal() -> None:
    by_extent = [
        "%n = tensor.dim %x, %c0 : tensor<?xf32>",
        "%i = arith.index_cast %n : index to i64",
        "%d = arith.sitofp %i : i64 to f32",
    ]
    by_literal = ["%d = arith.constant 4.0 : f32"]
    assert mean(by_extent, "tensor<?xf32>") != mean(by_literal, "tensor<?xf32>")
    known = [line.replace("?", "4") for line in by_extent]
    assert mean(known, "tensor<4xf32>") == mean(by_literal, "tensor<4xf32>")


def test_unit_axes_come_and_go_without_a_trace() -> None:
    one = tensors("%r = math.exp %x : tensor<4xf32>", "%r", arguments="%x: tensor<4xf32>", results="tensor<4xf32>")
    two = tensors(
        "%a = tensor.expand_shape %x [[0, 1]] output_shape [4, 1] : tensor<4xf32> into tensor<4x1xf32>",
        "%b = math.exp %a : tensor<4x1xf32>",
        "%r = tensor.collapse_shape %b [[0, 1]] : tensor<4x1xf32> into tensor<4xf32>",
        "%r",
        arguments="%x: tensor<4xf32>",
        results="tensor<4xf32>",
    )
    assert one == two


def test_a_real_reshape_leaves_one() -> None:
    two = tensors(
        "%a = tensor.collapse_shape %x [[0, 1]] : tensor<2x3xf32> into tensor<6xf32>",
        "%r = math.exp %a : tensor<6xf32>",
        "%r",
        arguments="%x: tensor<2x3xf32>",
        results="tensor<6xf32>",
    )
    assert "reshape" in two


# Softmax: one at every rank, over any axis, in every spelling


def shape_text(extents: Sequence[int | str]) -> str:
    return f"tensor<{''.join(f'{e}x' for e in extents)}f32>"


def softmax(rank: int, axis: int, spelling: str) -> str:
    """softmax over one axis; spelled with named ops, with generics, with kept axes, or with several ops in a body."""
    extents = [2, 3, 4, 5][:rank]
    rows = [e for a, e in enumerate(extents) if a != axis]
    full, row = shape_text(extents), shape_text(rows)
    dims = [f"d{a}" for a in range(rank)]
    domain = ", ".join(dims)
    every = f"affine_map<({domain}) -> ({domain})>"
    kept = [d if a != axis else "0" for a, d in enumerate(dims)]
    reduced_map = f"affine_map<({domain}) -> ({', '.join(d for a, d in enumerate(dims) if a != axis)})>"
    parallel = ", ".join(['"parallel"'] * rank)
    lines = [
        "%ninf = arith.constant 0xFF800000 : f32",
        "%zero = arith.constant 0.0 : f32",
        f"%er = tensor.empty() : {row}",
        f"%ef = tensor.empty() : {full}",
    ]

    def generic(name: str, inputs: Sequence[tuple[str, str, str]], body: Sequence[str]) -> str:
        maps = ", ".join([*(map_ for _, _, map_ in inputs), every])
        arguments = ", ".join([*(f"%i{n}: f32" for n in range(len(inputs))), "%o: f32"])
        text = "\n".join(body)
        return (
            f"{name} = linalg.generic {{indexing_maps = [{maps}], iterator_types = [{parallel}]}} "
            f"ins({', '.join(n for n, _, _ in inputs)} : {', '.join(t for _, t, _ in inputs)}) outs(%ef : {full}) {{\n"
            f"^bb0({arguments}):\n{text}\n}} -> {full}"
        )

    def reduce(name: str, source: str, initial: str, kind: str) -> list[str]:
        start = f"%start_{name[1:]} = linalg.fill ins({initial} : f32) outs(%er : {row}) -> {row}"
        if spelling == "generic":
            kinds = ", ".join('"reduction"' if a == axis else '"parallel"' for a in range(rank))
            return [
                start,
                f"{name} = linalg.generic {{indexing_maps = [{every}, {reduced_map}], iterator_types = [{kinds}]}} "
                f"ins({source} : {full}) outs(%start_{name[1:]} : {row}) {{\n^bb0(%i: f32, %a: f32):\n"
                f"%w = arith.{kind} %a, %i : f32\nlinalg.yield %w : f32\n}} -> {row}",
            ]
        return [
            start,
            f"{name} = linalg.reduce ins({source} : {full}) outs(%start_{name[1:]} : {row}) dimensions = [{axis}]\n"
            f"(%i: f32, %a: f32) {{\n%w = arith.{kind} %i, %a : f32\nlinalg.yield %w : f32\n}}",
        ]

    def spread(name: str, source: str) -> tuple[list[str], str, str, str]:
        """Lines, and the name, type and map of a row value as the full shape reads it."""
        if spelling == "named":
            line = f"{name} = linalg.broadcast ins({source} : {row}) outs(%ef : {full}) dimensions = [{axis}]"
            return [line], name, full, every
        if spelling == "kept" and rank > 1:
            unit = shape_text([e if a != axis else 1 for a, e in enumerate(extents)])
            groups: list[list[int]] = [[a] for a in range(rank)]
            groups.pop(axis)
            host = groups[axis - 1] if axis else groups[0]
            host.append(axis)
            host.sort()
            sizes = ", ".join(str(e if a != axis else 1) for a, e in enumerate(extents))
            line = f"{name} = tensor.expand_shape {source} {groups} output_shape [{sizes}] : {row} into {unit}"
            return [line], name, unit, f"affine_map<({domain}) -> ({', '.join(kept)})>"
        return [], source, row, reduced_map

    lines += reduce("%m", "%x", "%ninf", "maximumf")
    more, *of_maximum = spread("%mb", "%m")
    lines += more
    if spelling == "named":
        lines += [f"%c = arith.subf %x, %mb : {full}", f"%p = math.exp %c : {full}"]
    elif spelling == "body":
        body = ["%c = arith.subf %i0, %i1 : f32", "%p = math.exp %c : f32", "linalg.yield %p : f32"]
        lines.append(generic("%p", [("%x", full, every), tuple(of_maximum)], body))
    else:
        lines.append(
            generic(
                "%c",
                [("%x", full, every), tuple(of_maximum)],
                ["%c1 = arith.subf %i0, %i1 : f32", "linalg.yield %c1 : f32"],
            )
        )
        lines.append(generic("%p", [("%c", full, every)], ["%p1 = math.exp %i0 : f32", "linalg.yield %p1 : f32"]))
    lines += reduce("%s", "%p", "%zero", "addf")
    more, *of_sum = spread("%sb", "%s")
    lines += more
    if spelling == "named":
        lines.append(f"%r = arith.divf %p, %sb : {full}")
    else:
        body = ["%q = arith.divf %i0, %i1 : f32", "linalg.yield %q : f32"]
        lines.append(generic("%r", [("%p", full, every), tuple(of_sum)], body))
    return tensors(*lines, "%r", arguments=f"%x: {full}", results=full)


def variant(pattern: str, name: str) -> str:
    (found,) = identities(load_module(VARIANTS / pattern / f"{name}.mlir"))
    return found.text


SPELLINGS = ("named", "generic", "kept", "body")


@pytest.mark.parametrize("rank", [1, 2, 3, 4])
def test_softmax_is_one_at_every_rank_over_any_axis_in_every_spelling(rank: int) -> None:
    wanted = variant("softmax", "arith")
    for axis, spelling in itertools.product(range(rank), SPELLINGS):
        assert softmax(rank, axis, spelling) == wanted, (axis, spelling)


SAME = {
    "relu_add": "arith arith_commuted arith_dyn_rows elementwise_to_linalg elementwise_to_linalg_dyn from_jax fused "
    "generalized implicit_broadcast named",
    "gelu_tanh": "arith arith_commuted arith_dyn_rows elementwise_to_linalg elementwise_to_linalg_dyn fused "
    "generalized implicit_broadcast named",
    "silu_mul": "arith arith_commuted arith_dyn_rows elementwise_to_linalg elementwise_to_linalg_dyn from_jax fused "
    "implicit_broadcast",
    "softmax": "arith arith_commuted arith_dyn_rows elementwise_to_linalg elementwise_to_linalg_dyn from_jax fused "
    "generalized implicit_broadcast named",
    "layernorm": "arith arith_commuted arith_dyn_rows elementwise_to_linalg fused implicit_broadcast",
    "rmsnorm": "arith arith_commuted arith_dyn_rows elementwise_to_linalg from_jax fused implicit_broadcast",
}
"""The spellings of one function; the others of the corpus are other algebra or carry fast-math flags."""


@pytest.mark.parametrize("pattern", SAME)
def test_real_spellings_are_one(pattern: str) -> None:
    names = SAME[pattern].split()
    assert {name: variant(pattern, name) for name in names} == dict.fromkeys(names, variant(pattern, "arith"))


@pytest.mark.parametrize("pattern", SAME)
@pytest.mark.parametrize("other", ["near_miss", "escape", "arith_fastmath"])
def test_near_misses_differ(pattern: str, other: str) -> None:
    assert variant(pattern, other) != variant(pattern, "arith")


# Recipes of several element types


POLYMORPHIC = """
xfuse.recipe @r(%x: f64) -> f64 attributes {{element_types = [{}]}} {{
  %k = arith.constant {} : f64
  %r = arith.mulf %x, %k : f64
  xfuse.yield %r : f64
}}
"""


def test_the_element_types_and_the_written_literal_count() -> None:
    texts = [
        POLYMORPHIC.format("f32, f64", "0.1"),
        POLYMORPHIC.format("f64", "0.1"),
        POLYMORPHIC.format("f16, f32, f64", "0.1"),
        POLYMORPHIC.format("f32, f64", "0.10000000149011612"),
    ]
    assert len({key(text) for text in texts}) == 4
    assert key(POLYMORPHIC.format("f64, f32", "0.1")) == key(texts[0])


def test_instance_keys_tell_extents_apart_and_recipe_keys_do_not() -> None:
    def summed(extent: str) -> str:
        return f"""func.func @f(%x: tensor<{extent}xf32>) -> tensor<f32> {{
  %k = arith.constant dense<0.0> : tensor<f32>
  %r = linalg.reduce ins(%x : tensor<{extent}xf32>) outs(%k : tensor<f32>) dimensions = [0]
    (%in: f32, %acc: f32) {{
      %w = arith.addf %in, %acc : f32
      linalg.yield %w : f32
    }}
  return %r : tensor<f32>
}}"""

    three, five, any_ = (identity(summed(extent)) for extent in ("3", "5", "?"))
    assert three.recipe == five.recipe == any_.recipe
    assert len({three.instance, five.instance, any_.instance}) == 3


# Size


def diamond(depth: int) -> str:
    lines = [f"%t{n + 1} = arith.addf %t{n}, %t{n} : f32" for n in range(depth)]
    return "func.func @main(%t0: f32) -> f32 {\n" + "\n".join(lines) + f"\nreturn %t{depth} : f32\n}}"


def chain(count: int) -> str:
    kinds = ("math.exp", "math.sin", "math.tanh")
    lines = [f"%t{n + 1} = {kinds[n % 3]} %t{n} : f32" for n in range(count)]
    return "func.func @main(%t0: f32) -> f32 {\n" + "\n".join(lines) + f"\nreturn %t{count} : f32\n}}"


def test_a_deep_diamond_is_linear() -> None:
    """2^64 paths, 64 nodes (law L9)."""
    calls, found = calls_of(lambda: identity(diamond(64)))
    assert found.text.count("\n") < 80
    assert found.recipe != identity(diamond(63)).recipe
    assert calls < 1_000_000


def test_a_chain_of_ten_thousand_ops_is_linear_and_meets_no_recursion_limit() -> None:
    """Build, hash, print, fuse, decompose, compare (laws L2, L9)."""
    module = parse_module(chain(10_000))
    found = identity(module)
    assert found.text.count("\n") > 10_000
    wanted = (
        "xfuse.recipe @r(%a: f32) -> f32 {\n%0 = math.exp %a : f32\n%1 = math.sin %0 : f32\nxfuse.yield %1 : f32\n}"
    )
    before = module.clone()
    rounds = fuse(module, parse_recipes(wanted), lambda recipe, dtypes: "any")
    assert len(rounds[0].chosen) == 3333
    assert len(str(module)) > len(str(before))
    assert identity(module).recipe == found.recipe
    assert decompose_all(module) == 3333
    assert same_program(before, module)


def test_a_recipe_of_five_thousand_ops() -> None:
    """(B10)"""
    body = chain(5000).split("{\n", 1)[1].rsplit("\nreturn", 1)[0]
    text = f"xfuse.recipe @r(%t0: f32) -> f32 {{\n{body}\nxfuse.yield %t5000 : f32\n}}"
    found = identity(text)
    assert found.text.count("\n") > 5000
    assert repr(parse_recipes(text)[0])


def test_fused_ops_count_as_their_regions() -> None:
    module = parse_module(chain(30))
    before = identity(module)
    wanted = (
        "xfuse.recipe @r(%a: f32) -> f32 {\n%0 = math.exp %a : f32\n%1 = math.sin %0 : f32\nxfuse.yield %1 : f32\n}"
    )
    recipes = parse_recipes(wanted)
    fuse(module, recipes, lambda recipe, dtypes: "any")
    assert identity(module) == before
    fused = [op for op in module.walk() if isinstance(op, FusedOp)]
    assert len(fused) == 10
    assert {body_form(op).text for op in fused} == {recipes[0].text}


def test_equal_values_have_equal_numbers() -> None:
    """Value numbering: as many nodes as there are different values."""
    module = parse_module("""
func.func @main(%x: tensor<4xf32>, %y: tensor<4xf32>) -> tensor<4xf32> {
  %e = tensor.empty() : tensor<4xf32>
  %a = arith.addf %x, %y : tensor<4xf32>
  %b = linalg.add ins(%y, %x : tensor<4xf32>, tensor<4xf32>) outs(%e : tensor<4xf32>) -> tensor<4xf32>
  %c = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>],
    iterator_types = ["parallel"]} ins(%x, %y : tensor<4xf32>, tensor<4xf32>) outs(%a : tensor<4xf32>) {
  ^bb0(%i: f32, %j: f32, %o: f32):
    %s = arith.addf %j, %i : f32
    linalg.yield %s : f32
  } -> tensor<4xf32>
  return %c : tensor<4xf32>
}
""")
    (function,) = (op for op in module.walk() if isinstance(op, func.FuncOp))
    builder = GraphBuilder(resources=resource_blobs())
    for argument in function.body.block.args:
        builder.argument(argument)
    builder.block(function.body.block)
    names = {result.name_hint: builder.values[result] for op in function.body.block.ops for result in op.results}
    assert names["a"].node == names["b"].node == names["c"].node
    assert len(builder.graph.nodes) == 3


def sum_of_iota(extent: int) -> str:
    """The sum of i * x for i below an extent."""
    return f"""func.func @f(%x: f32) -> tensor<f32> {{
      %z = arith.constant 0.0 : f32
      %e = tensor.empty() : tensor<{extent}xf32>
      %i = tensor.empty() : tensor<f32>
      %fl = linalg.fill ins(%z : f32) outs(%i : tensor<f32>) -> tensor<f32>
      %r = linalg.generic {{indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> ()>],
          iterator_types = ["reduction"]}} ins(%e : tensor<{extent}xf32>) outs(%fl : tensor<f32>) {{
      ^bb0(%a: f32, %acc: f32):
        %k = linalg.index 0 : index
        %ki = arith.index_cast %k : index to i32
        %kf = arith.sitofp %ki : i32 to f32
        %m = arith.mulf %kf, %x : f32
        %s = arith.addf %acc, %m : f32
        linalg.yield %s : f32
      }} -> tensor<f32>
      func.return %r : tensor<f32>
    }}"""


def window_sum(size: int) -> str:
    """Sums over a sliding window of a size."""
    return f"""func.func @f(%x: tensor<8xf32>, %init: tensor<4xf32>) -> tensor<4xf32> {{
      %e = tensor.empty() : tensor<{size}xf32>
      %r = linalg.generic {{indexing_maps = [affine_map<(d0, d1) -> (d0 + d1)>, affine_map<(d0, d1) -> (d1)>,
          affine_map<(d0, d1) -> (d0)>], iterator_types = ["parallel", "reduction"]}}
          ins(%x, %e : tensor<8xf32>, tensor<{size}xf32>) outs(%init : tensor<4xf32>) {{
      ^bb0(%a: f32, %w: f32, %acc: f32):
        %s = arith.addf %acc, %a : f32
        linalg.yield %s : f32
      }} -> tensor<4xf32>
      func.return %r : tensor<4xf32>
    }}"""


@pytest.mark.parametrize("program", [sum_of_iota, window_sum])
def test_l5_how_far_a_bound_iota_runs_counts(program: Callable[[int], str]) -> None:
    """L5: a sum over i < 4 is not the sum over i < 8, nor a window of two a window of three."""
    assert xfuse.identity(program(2)).recipe != xfuse.identity(program(3)).recipe
    assert xfuse.identity(program(3)).recipe == xfuse.identity(program(3)).recipe


@pytest.mark.parametrize(
    "text",
    [
        "func.func private @g(f32) -> f32 func.func @f(%x: f32) -> f32 { %r = func.call @g(%x) : (f32) -> f32 "
        "func.return %r : f32 }",
        "func.func @f(%m: memref<4xf32>, %x: f32) -> f32 { %c = arith.constant 0 : index "
        "memref.store %x, %m[%c] : memref<4xf32> %r = math.exp %x : f32 func.return %r : f32 }",
        'func.func @f(%x: f32) { %c = arith.constant 0 : i1 cf.assert %c, "never" func.return }',
    ],
)
def test_l5_what_has_effects_has_no_identity(text: str) -> None:
    """L5: ops that cannot be told apart by what they compute are refused, not taken for one another."""
    with pytest.raises(UnsupportedError, match=r"(no identity|no canonical form)"):
        xfuse.identity(text)


def test_instance_key_tells_views_apart() -> None:
    """Views are instance data: x + b[i] and x + b[j] are one recipe and two instances."""
    text = """func.func @f(%x: tensor<4x4xf32>, %b: tensor<4xf32>) -> tensor<4x4xf32> {{
      %e = tensor.empty() : tensor<4x4xf32>
      %v = linalg.broadcast ins(%b : tensor<4xf32>) outs(%e : tensor<4x4xf32>) dimensions = [{axis}]
      %r = arith.addf %x, %v : tensor<4x4xf32>
      func.return %r : tensor<4x4xf32>
    }}"""
    rows, columns = (xfuse.identity(text.format(axis=axis)) for axis in (0, 1))
    assert rows.recipe == columns.recipe
    assert rows.instance != columns.instance


def test_same_program_compares_resources_by_content() -> None:
    """A text with resources is the same program as itself, though every parse renames its handles."""
    text = (CORPUS / "dev/torch_gelu_ffn/torch_gelu_ffn.linalg.mlir").read_text()
    assert same_program(text, text)
    start = text.index('"0x') + 20
    changed = text[:start] + ("1" if text[start] == "0" else "0") + text[start + 1 :]
    assert not same_program(text, changed)


@pytest.mark.parametrize("spelling", ["linalg", "named", "tensor"])
def test_l2_generics_of_several_results_read_back(spelling: str) -> None:
    """L2: a program with an arg-max, a generic of two results, is itself again after print and parse."""
    module = load_module(CORPUS / f"dev/torch_losses/torch_losses.{spelling}.mlir")
    text = str(module)
    assert "-> (tensor<24xf32>, tensor<24xi64>)" in text
    assert same_program(module, text)
    assert str(parse_module(text)) == text


def test_function_types_are_still_types() -> None:
    """A list of attributes that begins with a function type is not taken for a list in parentheses."""
    parser = XfuseParser(default_context(), "(f32, f32) -> f32, f32 (f32, i32) f64")
    types = parser.parse_comma_separated_list(parser.Delimiter.NONE, parser.parse_attribute)
    assert [str(each) for each in types] == ["(f32, f32) -> f32", "f32"]
    types = parser.parse_comma_separated_list(parser.Delimiter.NONE, parser.parse_attribute)
    assert [str(each) for each in types] == ["f32", "i32"]
    assert str(parser.parse_attribute()) == "f64"
