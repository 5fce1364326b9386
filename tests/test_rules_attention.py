"""The matching rules on attention: a recipe of two core dimensions, two products of matrices and a softmax."""

from __future__ import annotations

import pytest
from rule_programs import along, contraction, fuses, in_row, line_of, main, name_in, recipe, refused, session, spread
from xdsl.dialects.builtin import ModuleOp

ATTENTION = recipe(
    "attention",
    "%x: !row, %k: tensor<?x?xf32>, %v: !row",
    spread("%xs", "%x", "!row tensor<?x?xf32>", 0, "%k"),
    spread("%zeros", "%zero", "!cell !row", 0, "%v"),
    "%m = arith.mulf %xs, %k : tensor<?x?xf32>",
    along("%y", "addf", "%m", "%zeros", "tensor<?x?xf32> !row"),
    in_row("%top", "maximumf", "%y", "%low"),
    spread("%tops", "%top", "!cell !row", 0, "%v"),
    "%d = arith.subf %y, %tops : !row",
    "%s = math.exp %d : !row",
    in_row("%sum", "addf", "%s", "%zero"),
    spread("%sums", "%sum", "!cell !row", 0, "%v"),
    "%p = arith.divf %s, %sums : !row",
    "%n = arith.mulf %p, %v : !row",
    in_row("%r", "addf", "%n", "%zero"),
    "xfuse.yield %r : !cell",
)
"""sum(softmax(k x) v): loops are the rows of queries and the columns of values."""
KEYS = "tensor<4x5xf32>"
LINES = {
    name_in(line): line
    for line in (
        "%low = arith.constant dense<0xFF800000> : !c",
        "%less = arith.constant dense<0.0> : !c",
        "%start = arith.constant dense<0.0> : !m",
        contraction("%y", "%x, %k", "#ik, #jk", f"!m, {KEYS}", "!t"),
        along("%top", "maximumf", "%y", "%low", "!t !c"),
        spread("%tops", "%top", "!c !t"),
        "%d = arith.subf %y, %tops : !t",
        "%s = math.exp %d : !t",
        along("%sum", "addf", "%s", "%less", "!t !c"),
        spread("%sums", "%sum", "!c !t"),
        "%p = arith.divf %s, %sums : !t",
        contraction("%r", "%p, %v", "#ik, #kj", f"!t, {KEYS}", "!m", start="%start"),
    )
}


def attention(*more: str, end: str = "return %r : !m", **changed: str) -> ModuleOp:
    """The program, lines replaced and lines put behind."""
    arguments = f"%x: !m, %k: {KEYS}, %v: {KEYS}, %q: !t"
    return main("matrix", *(LINES | changed).values(), *more, end, arguments=arguments)


@pytest.mark.parametrize(
    ("changed", "count"),
    [
        ({}, 9),
        ({"y": contraction("%y", "%k, %x", "#jk, #ik", f"{KEYS}, !m", "!t")}, 9),
        ({"r": contraction("%r", "%v, %p", "#kj, #ik", f"{KEYS}, !t", "!m", start="%start")}, 9),
        ({"r": contraction("%r", "%p, %k", "#ik, #kj", f"!t, {KEYS}", "!m", start="%start")}, 9),
        ({"p": "%s2 = math.exp %d : !t\n%p = arith.divf %s2, %sums : !t"}, 10),
        ({"s": "%s = math.exp %d fastmath<nnan> : !t"}, 9),
        ({"sums": spread("%sums", "%sum", "!c !t") + "\n%g = math.tanh %s : !t"}, 10),
    ],
    ids=["plain", "R2 keys first", "R2 values first", "R3 keys are values", "R3 twice", "R6 flags", "R9 dead"],
)
def test_what_the_rules_admit(changed: dict[str, str], count: int) -> None:
    fuses(attention(**changed), ("attention", count), own=session(ATTENTION))


def test_r7_attention_beside_attention() -> None:
    """The second one's queries are the first one's result."""
    text = "\n".join(LINES.values())
    for name in LINES:
        text = text.replace(f"%{name} ", f"%{name}_2 ").replace(f"%{name},", f"%{name}_2,")
    module = attention(text.replace("ins(%x,", "ins(%r,"), end="return %r_2 : !m")
    fuses(module, ("attention", 9), ("attention", 9), own=session(ATTENTION))


OTHER_MAXIMUM = {
    "low": "%low = arith.constant dense<0xFF800000> : !v",
    "top": along("%top", "maximumf", "%y", "%low", "!t !v", 0),
    "tops": spread("%tops", "%top", "!v !t", 0),
}
OTHER_SUM = {
    "less": "%less = arith.constant dense<0.0> : !v",
    "sum": along("%sum", "addf", "%s", "%less", "!t !v", 0),
    "sums": spread("%sums", "%sum", "!v !t", 0),
}


@pytest.mark.parametrize("changed", [OTHER_MAXIMUM, OTHER_SUM], ids=["maximum", "sum"])
def test_r3_a_reduction_along_the_other_axis(changed: dict[str, str]) -> None:
    """Over the queries instead of the keys: the ops agree, the function does not."""
    refused(attention(**changed), "attention", "R3 instance", "%r", own=session(ATTENTION))


def test_r4_the_probabilities_escape() -> None:
    """As they do where gradients are computed."""
    module = attention(end="return %r, %p : !m, !t")
    refused(module, "attention", "R4 escape", "%p", "used outside the match by 'func.return'", own=session(ATTENTION))
    fuses(module, ("attention", 9), own=session(ATTENTION), escape="duplicate")


@pytest.mark.parametrize(
    ("changed", "at", "expected", "found", "missing"),
    [
        ({"s": "%s = math.exp2 %d : !t"}, "%s", "math.exp : f32", "'%s = math.exp2' (line {})", 1),
        ({"p": "%p = arith.mulf %s, %sums : !t"}, "%p", "arith.divf : f32", "'%p = arith.mulf' (line {})", 1),
        (
            {"start": "%start = arith.constant dense<1.0> : !m"},
            "%start",
            "the literal 0.0 : f32",
            "the literal 1.0 : f32",
            0,
        ),
        (
            {"p": "%s2 = math.exp %q : !t\n%p = arith.divf %s2, %sums : !t"},
            "%s2",
            "arith.subf : f32",
            "the argument %q : f32",
            4,
        ),
    ],
)
def test_r6_near_misses(changed: dict[str, str], at: str, expected: str, found: str, missing: int) -> None:
    """Another op, another start of a sum, and exponentials of something else."""
    module, own = attention(**changed), session(ATTENTION)
    found = found.format(line_of(module, at))
    refused(module, "attention", "R6 mismatch", at, own=own, expected=expected, found=found, missing=missing)
