"""The matching rules R1-R3 and R6, by which values match, from both sides and for recipes of three kinds.

The kinds are element-wise recipes, recipes with rows, and products of matrices. R4, R5 and R7-R11, by which ops are
taken, are in test_rules_ops.py. Whatever fuses is compared with the plain program and put back (laws L2, L3, L7, L8).
"""

from __future__ import annotations

import re
from collections.abc import Sequence

import pytest
from rule_programs import (
    KINDS,
    OWN_SIZE,
    PROGRAMS,
    RECIPES,
    TYPE,
    ZERO,
    Kind,
    alone,
    along,
    body,
    contraction,
    fuses,
    in_row,
    line_of,
    lines,
    main,
    name_in,
    own_lines,
    own_recipe,
    product,
    recipe,
    refused,
    session,
    spread,
    whole,
)
from support import calls_of
from xdsl.dialects.builtin import ModuleOp

from xfuse_dialects.xfuse import FusedOp

every_kind = pytest.mark.parametrize("kind", KINDS)


# R1: the search


CORNERS = {
    "point": recipe(
        "corners",
        "%x: f32, %y: f32",
        "%p = arith.mulf %x, %y : f32",
        "%n = math.exp %x : f32",
        "%r = arith.addf %p, %n : f32",
        "xfuse.yield %r : f32",
    ),
    "row": recipe(
        "corners",
        "%x: !row, %y: !row",
        "%m = arith.mulf %x, %y : !row",
        in_row("%p", "addf", "%m", "%zero"),
        in_row("%n", "maximumf", "%x", "%low"),
        "%r = arith.addf %p, %n : !cell",
        "xfuse.yield %r : !cell",
    ),
}
"""x y + exp(x), sum(x y) + max(x); the latter also with the rows and columns of matrices."""


def corners(kind: Kind, order: str, other: str) -> ModuleOp:
    """The factors in some order, the second summand made of one of them."""
    if kind == "point":
        made = [f"%p = arith.mulf {order} : !v", f"%n = math.exp {other} : !v", "%r = arith.addf %p, %n : !v"]
        return main(kind, *made, "return %r : !v")
    if kind == "row":
        sums = [along("%p", "addf", "%m", "%zero"), along("%n", "maximumf", other, "%low")]
        return main(kind, f"%m = arith.mulf {order} : !m", *sums, "%r = arith.addf %p, %n : !c", "return %r : !c")
    less, types, axis = ("!v", "!w !v", 0) if other == "%y" else ("!c", "!m !c", 1)
    maps, factors = ("#ik, #kj", "!m, !w") if order == "%x, %y" else ("#kj, #ik", "!w, !m")
    made = [
        f"%low = arith.constant dense<0xFF800000> : {less}",
        contraction("%p", order, maps, factors, "!t"),
        along("%n", "maximumf", other, "%low", types, axis),
        spread("%ns", "%n", f"{less} !t", axis),
    ]
    return main(kind, *made, "%r = arith.addf %p, %ns : !t", "return %r : !t", arguments="%x: !m, %y: !w, %q: !m")


@every_kind
@pytest.mark.parametrize("order", ["%x, %y", "%y, %x"])
@pytest.mark.parametrize("other", ["%x", "%y"])
def test_r1_the_search_comes_back_to_commutative_choices(kind: Kind, order: str, other: str) -> None:
    """Which factor is which argument is seen only at the other summand."""
    own = session(CORNERS["point" if kind == "point" else "row"])
    fuses(corners(kind, order, other), ("corners", 3 if kind == "point" else 4), own=own)


@every_kind
def test_r1_what_only_begins_alike_is_no_match(kind: Kind) -> None:
    """The second summand is made of something else than a factor, whatever the choice."""
    own = session(CORNERS["point" if kind == "point" else "row"])
    module = corners(kind, "%x, %y", "%q")
    expected, found = "the argument %x : f32", "the argument %q : f32"
    refused(module, "corners", "R3 two-values", "%n", own=own, expected=expected, found=found)


LEAVES = 16
SHAPES: dict[Kind, tuple[str, str, str, str]] = {
    "point": ("!v", "!v", "f32", "f32"),
    "row": ("!m", "!c", "!row", "!cell"),
    "matrix": ("!m", "!t", "!row", "!cell"),
}
"""Types of arguments and leaves in a program, and in a recipe."""


def leaf(kind: Kind, name: str, of: str, in_recipe: bool) -> list[str]:
    """|x|, sum(x) or x w."""
    if kind == "point":
        return [f"{name} = math.absf {of} : {'f32' if in_recipe else '!v'}"]
    if kind == "row":
        return [in_row(name, "addf", of, "%zero") if in_recipe else along(name, "addf", of, "%zero")]
    if in_recipe:
        return [f"{name}_m = arith.mulf {of}, %w : !row", in_row(name, "addf", f"{name}_m", "%zero")]
    return [product(name, of)]


def trees(kind: Kind, second: str, in_recipe: bool = False) -> list[str]:
    """Leaves of %a0 … summed pairwise, times the sum of the exponentials of those leaves, or of others."""
    type_ = SHAPES[kind][3 if in_recipe else 1]
    made: list[str] = []
    for letter in sorted({"a", second}):
        made += [line for n in range(LEAVES) for line in leaf(kind, f"%l{letter}{n}", f"%{letter}{n}", in_recipe)]
    made += [f"%e{n} = math.exp %l{second}{n} : {type_}" for n in range(LEAVES)]
    for tree in ("la", "e"):
        sums = [f"%{tree}{LEAVES + n} = arith.addf %{tree}{2 * n}, %{tree}{2 * n + 1}" for n in range(LEAVES - 1)]
        made += [f"{line} : {type_}" for line in sums]
    return [*made, f"%r = arith.mulf %la{2 * LEAVES - 2}, %e{2 * LEAVES - 2} : {type_}"]


@every_kind
@pytest.mark.parametrize("second", ["a", "b"])
def test_r1_a_search_that_takes_too_long_is_refused(kind: Kind, second: str) -> None:
    """Of 2^15 orders of each sum one fits both at once; where none does, the budget ends the search."""
    argument, result, own_argument, own_result = SHAPES[kind]
    names = [f"%{letter}{n}" for letter in "ab" for n in range(LEAVES)]
    wide, own_wide = (", %w: !w", ", %w: !row") if kind == "matrix" else ("", "")
    given = ", ".join(f"{name}: {argument}" for name in names) + wide
    taken = ", ".join(f"{name}: {own_argument}" for name in names[:LEAVES]) + own_wide
    text = recipe("trees", taken, *trees(kind, "a", True), f"xfuse.yield %r : {own_result}")
    module = main(kind, *trees(kind, second), f"return %r : {result}", arguments=given)
    ops = 4 * LEAVES - 1
    if second == "a":
        fuses(module, ("trees", ops), own=session(text))
    else:
        size = ops + LEAVES * (kind == "matrix")
        says = "more steps than its budget"
        calls, _ = calls_of(lambda: refused(module, "trees", "R1 budget", "%r", says, own=session(text), missing=size))
        assert calls < 5_000_000


# R2: commutative kinds


def swapped(text: str) -> str:
    """Lines with the operands of each op of two swapped."""
    return re.sub(r"(%\w+), (%\w+) : (\S+)$", r"\2, \1 : \3", text, flags=re.MULTILINE)


@pytest.mark.parametrize(
    ("kind", "names"),
    [(kind, names) for kind in KINDS for names in (("top", "sum", "top sum") if kind == "row" else ("s", "r", "s r"))],
)
def test_r2_operands_of_commutative_ops_may_be_swapped(kind: Kind, names: str) -> None:
    """In the program, and in the bodies of its reductions."""
    texts = {name_in(line): line for line in PROGRAMS[kind]}
    changed = {name: swapped(texts[name]) for name in names.split()}
    assert all(changed[name] != texts[name] for name in changed)
    fuses(whole(kind, **changed), RECIPES[kind])


@every_kind
def test_r2_operands_of_other_ops_may_not(kind: Kind) -> None:
    """y - e is not e - y."""
    own, (*made, last) = session(own_recipe(kind)), own_lines(kind)
    fuses(main(kind, *made, last, f"return %r : {TYPE[kind]}"), ("own", OWN_SIZE[kind]), own=own)
    module = main(kind, *made, swapped(last), f"return %r : {TYPE[kind]}")
    wanted = {"point": "math.exp : f32", "row": "arith.subf : f32", "matrix": "a reduction by arith.addf : f32"}[kind]
    lost = {"point": 1, "row": 2, "matrix": 2}[kind]
    given = "the argument %q : f32"
    refused(module, "own", "R6 mismatch", "%r", own=own, expected=wanted, found=given, missing=lost)


AT_LEAST_TOP = recipe(
    "at_least_top",
    "%x: !row, %y: f32",
    in_row("%top", "maximumf", "%x", "%low"),
    "%only = tensor.extract %top[] : !cell",
    "%t = arith.cmpf ugt, %y, %only : f32",
    "%r = arith.select %t, %y, %only : f32",
    "xfuse.yield %r : f32",
)
COMPARED = {
    "point": ("add_relu_torch", 2, PROGRAMS["point"][:1], "%s %zero", "%s"),
    "row": ("at_least_top", 3, PROGRAMS["row"][:2], "%q %tops", "%t"),
    "matrix": ("fused_linear_relu_torch", 3, PROGRAMS["matrix"][:2], "%s %zero", "%s"),
}


@every_kind
@pytest.mark.parametrize(
    "compare", ["ugt, %i0, %i1", "ult, %i1, %i0", "ult, %i0, %i1", "ugt, %i1, %i0", "ogt, %i0, %i1"]
)
def test_r2_a_compare_is_mirrored_with_its_predicate(kind: Kind, compare: str) -> None:
    """s > k is k < s, and is neither s < k nor the ordered compare."""
    name, count, before, operands, read = COMPARED[kind]
    own = session(AT_LEAST_TOP) if kind == "row" else alone(name)
    choice = (f"%t = arith.cmpf {compare} : f32", "%c = arith.select %t, %i0, %i1 : f32", "%c")
    module = main(kind, *before, body("%r", operands, *choice, type=TYPE[kind]), f"return %r : {TYPE[kind]}")
    if compare in ("ugt, %i0, %i1", "ult, %i1, %i0"):
        fuses(module, (name, count), own=own)
    elif compare == "ogt, %i0, %i1":
        wanted, given = (f"arith.cmpf predicate = {mirrored} : i1" for mirrored in ("ult", "olt"))
        given = f"{given} of '%t = arith.cmpf' (line {line_of(module, '%t')})"
        refused(module, name, "R6 mismatch", "%t", own=own, expected=wanted, found=given, missing=1)
    else:
        wanted = "a reduction by arith.maximumf : f32" if kind == "row" else "the literal 0.0 : f32"
        given = "the argument %q : f32" if kind == "row" else f"'%s = arith.addf' (line {line_of(module, '%s')})"
        refused(module, name, "R6 mismatch", read, own=own, expected=wanted, found=given)


# R3: arguments, and equal ops

GRAM = (
    "%zeros = arith.constant dense<0.0> : !s",
    contraction("%p", "%x, %x", "#ik, #jk", "!m, !m", "!s", start="%zeros"),
    "%s = arith.addf %p, %b : !s",
    "%r = arith.maximumf %s, %zeros : !s",
    "return %r : !s",
)
"""x x^T instead of x w."""


@every_kind
def test_r3_two_arguments_may_be_one_value(kind: Kind) -> None:
    """x + x, (x - max(x)) - x, and x x^T, where the two lie along different axes."""
    if kind == "point":
        ops = fuses(whole(kind, s="%s = arith.addf %x, %x : !v"), RECIPES[kind])
    elif kind == "row":
        ops = fuses(main(kind, *own_lines(kind, y="%x"), "return %r : !m"), ("own", 4), own=session(own_recipe(kind)))
    else:
        ops = fuses(main(kind, *GRAM, arguments="%x: !m, %b: !s"), RECIPES[kind])
    fused = next(op for op in ops if isinstance(op, FusedOp))
    assert fused.inputs[0] is fused.inputs[1]


DOUBLED = {"point": ("squared_difference", 3), "row": ("softmax", 8), "matrix": ("fused_linear_silu_div", 8)}


def doubled(kind: Kind, second: str, *before: str, x: str = "%x", x2: str = "%x") -> ModuleOp:
    """An inner value that the recipe reads twice is computed twice, the second time of another value or not."""
    if kind == "point":
        twice = [f"%s = arith.subf {x}, %y : !v", f"%s2 = arith.subf {x2}, {second} : !v"]
        made = [*twice, "%r = arith.mulf %s, %s2 : !v"]
    elif kind == "row":
        again = (f"%s2 = math.exp {second} : !m", along("%sum", "addf", "%s2", "%zero"))
        top, d = along("%top", "maximumf", x, "%low"), f"%d = arith.subf {x2}, %tops : !m"
        made = lines(kind, top=top, d=d, sum="\n".join(again))
    else:
        made = [
            product("%p", x),
            product("%p2", x2),
            "%s = arith.addf %p, %b : !t",
            f"%s2 = arith.addf %p2, {second} : !t",
            "%n = arith.negf %s : !t",
            "%e = math.exp %n : !t",
            "%one = arith.constant dense<1.0> : !t",
            "%d = arith.addf %one, %e : !t",
            "%r = arith.divf %s2, %d : !t",
        ]
    return main(kind, *before, *made, f"return %r : {TYPE[kind]}")


SAME = {"point": "%y", "row": "%d", "matrix": "%b"}


@every_kind
def test_r3_equal_ops_are_one_value(kind: Kind) -> None:
    """All that carry it are covered, and all come back."""
    fuses(doubled(kind, SAME[kind]), DOUBLED[kind])


@every_kind
def test_r3_what_the_recipe_reads_twice_is_one_value(kind: Kind) -> None:
    """Not (x - y) (x - q), exp(d) / sum(exp(q)), or s2 / (1 + exp(-s))."""
    module = doubled(kind, "%q")
    op = {"point": "arith.subf", "row": "math.exp", "matrix": "arith.addf"}[kind]
    names = ("%s2", "%s") if kind == "matrix" else ("%s", "%s2")
    expected, found = (f"'{name} = {op}' (line {line_of(module, name)})" for name in names)
    says = f"{op} : f32 must be one value; it is {expected} in one place, {found} in another"
    refused(module, DOUBLED[kind][0], "R3 two-values", names[1], says, expected=expected, found=found)


@every_kind
def test_r3_an_argument_has_one_carrier(kind: Kind) -> None:
    """Equal ops, each read as the same argument: the fused op would have one operand for the two."""
    type_ = "!v" if kind == "point" else "!m"
    twins = (f"%t1 = math.sin %x : {type_}", f"%t2 = math.sin %x : {type_}")
    module = doubled(kind, SAME[kind], *twins, x="%t1", x2="%t2")
    at = {"point": "%s", "row": "%top", "matrix": "%p"}[kind]
    refused(module, DOUBLED[kind][0], "R3 two-carriers", at, "is carried by two values; run cse first")


SHARED: dict[Kind, str] = {
    "point": recipe(
        "shared",
        "%x: f32, %y: f32",
        "%e = math.exp %x : f32",
        "%f = math.exp %y : f32",
        "%r = arith.subf %e, %f : f32",
        "xfuse.yield %r : f32",
    ),
    "row": recipe(
        "shared",
        "%x: !row, %y: !row",
        in_row("%e", "maximumf", "%x", "%low"),
        in_row("%f", "maximumf", "%y", "%low"),
        "%r = arith.subf %e, %f : !cell",
        "xfuse.yield %r : !cell",
    ),
    "matrix": recipe(
        "shared",
        "%x: !row, %y: !row, %w: !row",
        "%m = arith.mulf %x, %w : !row",
        "%n = arith.mulf %y, %w : !row",
        in_row("%e", "addf", "%m", "%zero"),
        in_row("%f", "addf", "%n", "%zero"),
        "%r = arith.subf %e, %f : !cell",
        "xfuse.yield %r : !cell",
    ),
}
"""The difference of exp(x) and exp(y), of the largest of x and y, of x w and y w."""


@every_kind
@pytest.mark.parametrize("other", ["%y", "%x"])
def test_r3_two_inner_values_are_not_one(kind: Kind, other: str) -> None:
    """What the recipe computes twice the region would compute once."""

    def operand(name: str, of: str) -> str:
        exp, top = f"{name} = math.exp {of} : !v", along(name, "maximumf", of, "%low")
        return {"point": exp, "row": top, "matrix": product(name, of)}[kind]

    type_, own = ZERO[kind], session(SHARED[kind])
    made = (operand("%e", "%x"), operand("%f", other), f"%r = arith.subf %e, %f : {type_}")
    module = main(kind, *made, f"return %r : {type_}")
    if other == "%y":
        fuses(module, ("shared", 3), own=own)
    else:
        says = "two inner values of the recipe are one value of the program"
        refused(module, "shared", "R3 shared-inside", "%e", says, own=own)


SQUARES = recipe(
    "squared",
    "%x: !row",
    "%m = arith.mulf %x, %x : !row",
    in_row("%r", "addf", "%m", "%zero"),
    "xfuse.yield %r : !cell",
)
TWICE = recipe("squared", "%x: f32", "%e = math.exp %x : f32", "%r = arith.mulf %e, %x : f32", "xfuse.yield %r : f32")
"""exp(x) x"""


@pytest.mark.parametrize(
    ("kind", "program", "at", "given"),
    [
        ("point", ("%e = math.exp %x : !v", "%r = arith.mulf %e, %y : !v", "return %r : !v"), "%e", "%y %x"),
        ("row", ("%m = arith.mulf %x, %y : !m", along("%r", "addf", "%m", "%zero"), "return %r : !c"), "%m", "%x %y"),
        ("matrix", (product("%r"), "return %r : !t"), "%r", "%x %w"),
    ],
)
def test_r3_a_repeated_argument_is_one_value(kind: Kind, program: Sequence[str], at: str, given: str) -> None:
    """exp(x) y is not exp(x) x, and neither sum(x y) nor x w is sum(x x)."""
    own = session(TWICE if kind == "point" else SQUARES)
    expected, found = (f"the argument {name} : f32" for name in given.split())
    says = "argument %x of the recipe : f32 must be one value"
    refused(main(kind, *program), "squared", "R3 two-values", at, says, own=own, expected=expected, found=found)


DOTTED = recipe(
    "dotted",
    "%x: !row, %y: !row",
    "%m = arith.mulf %x, %y : !row",
    in_row("%r", "addf", "%m", "%zero"),
    "xfuse.yield %r : !cell",
)


@pytest.mark.parametrize("through", ["two operands", "one operand", "one of two"])
def test_r3_each_argument_has_an_operand_of_its_own(through: str) -> None:
    """x . x is x . y where x is y, if the ops have an operand for each; else the op that reads it for both is named."""
    body_of = {
        "two operands": ("%x, %x : !m, !m", "%a: f32, %b: f32", "%a, %b"),
        "one operand": ("%x : !m", "%a: f32", "%a, %a"),
        "one of two": ("%x, %x : !m, !m", "%a: f32, %b: f32", "%a, %a"),
    }
    operands, arguments, factors = body_of[through]
    maps = ", ".join(["affine_map<(d0, d1) -> (d0, d1)>"] * (operands.count("%")) + ["affine_map<(d0, d1) -> (d0)>"])
    made = (
        f'%r = linalg.generic {{indexing_maps = [{maps}], iterator_types = ["parallel", "reduction"]}} '
        f"ins({operands}) outs(%zeros : !c) {{ ^bb0({arguments}, %o: f32): %m = arith.mulf {factors} : f32 "
        "%s = arith.addf %o, %m : f32 linalg.yield %s : f32 } -> !c"
    )
    module = main("row", "%zeros = arith.constant dense<0.0> : !c", made, "return %r : !c")
    if through == "two operands":
        fuses(module, ("dotted", 1), own=session(DOTTED))
    else:
        says = "several arguments are one value, and the ops read it through fewer operands than that"
        refused(module, "dotted", "R3 alias", "%r", says, own=session(DOTTED))


@every_kind
def test_r3_one_value_along_two_axes_is_two(kind: Kind) -> None:
    """exp(x) x^T, the rows of x x^T entry by entry, and the product x x^T."""
    turned = (
        "%square = tensor.empty() : !s",
        "%f = linalg.transpose ins(%x : !s) outs(%square : !s) permutation = [1, 0]",
    )
    if kind == "point":
        made = ("%e = math.exp %x : !s", "%r = arith.mulf %e, %f : !s", "return %r : !s")
        module = main(kind, *turned, *made, arguments="%x: !s")
        refused(module, "squared", "R3 axes", "%r", "along other axes", own=session(TWICE))
        return
    if kind == "row":
        made = ("%m = arith.mulf %x, %f : !s", along("%r", "addf", "%m", "%zero", "!s !c"), "return %r : !c")
        module = main(kind, *turned, *made, arguments="%x: !s")
    else:
        module = main(kind, *GRAM[:2], "return %p : !s", arguments="%x: !m")
    at = "%p" if kind == "matrix" else "%r"
    refused(module, "squared", "R3 instance", at, "taken whole, are not the recipe", own=session(SQUARES))


# R6: attributes and literals


@every_kind
@pytest.mark.parametrize("flags", ["nnan", "fast"])
def test_r6_a_program_may_have_more_fast_math_flags(kind: Kind, flags: str) -> None:
    """The region keeps them."""
    *made, last = own_lines(kind)
    last = last.replace(", %q", f", %q fastmath<{flags}>")
    module = main(kind, *made, last, f"return %r : {TYPE[kind]}")
    ops = fuses(module, ("own", OWN_SIZE[kind]), own=session(own_recipe(kind)))
    assert [f"fastmath<{flags}>" in str(op) for op in ops if isinstance(op, FusedOp)] == [True]


@pytest.mark.parametrize("kind", ["row", "matrix"])
def test_r6_a_reduction_may_have_more_fast_math_flags(kind: Kind) -> None:
    """Those of the op that combines two elements."""
    product = contraction("%p", "%x, %w", "#ik, #kj", "!m, !w", "!t", start="%zero")
    text = "\n".join(lines(kind, p=product) if kind == "matrix" else lines(kind))
    flagged, found = re.subn(r"(arith\.addf %\w+, %\w+) : f32", r"\1 fastmath<nnan> : f32", text)
    assert found == 1
    ops = fuses(main(kind, flagged, f"return %r : {TYPE[kind]}"), RECIPES[kind])
    assert [str(op).count("fastmath<nnan>") for op in ops if isinstance(op, FusedOp)] == [1]


@every_kind
def test_r6_an_instance_may_have_more_fast_math_flags_than_a_recipe_with_some(kind: Kind) -> None:
    """What is fused is an instance of its recipe and runs as one; with fewer flags than the recipe's it is none."""
    text = own_recipe(kind).replace("%e, %y", "%e, %y fastmath<nnan>")
    own, other = session(text), session(text.replace("<nnan>", "<nnan,nsz>"))
    *made, last = own_lines(kind)
    last = last.replace(", %q", ", %q fastmath<nnan,ninf>")
    ops = fuses(main(kind, *made, last, f"return %r : {TYPE[kind]}"), ("own", OWN_SIZE[kind]), own=own)
    fused = next(op for op in ops if isinstance(op, FusedOp))
    instance = own.instance_of(fused)
    assert instance is not None
    assert instance.recipe.name == "own"
    assert other.instance_of(fused) is None


@every_kind
@pytest.mark.parametrize("flags", ["nnan", "", "ninf"])
def test_r6_a_program_may_not_lack_fast_math_flags(kind: Kind, flags: str) -> None:
    """The recipe supposes that there are no NaNs."""
    own = session(own_recipe(kind).replace("%e, %y", "%e, %y fastmath<nnan>"))
    *made, last = own_lines(kind)
    last = last.replace(", %q", f", %q fastmath<{flags}>") if flags else last
    module = main(kind, *made, last, f"return %r : {TYPE[kind]}")
    if flags == "nnan":
        fuses(module, ("own", OWN_SIZE[kind]), own=own)
        return
    given = f"'%r = arith.subf' (line {line_of(module, '%r')})"
    given = f"arith.subf fastmath = {flags} : f32 of {given}" if flags else given
    wanted = "arith.subf fastmath = nnan : f32"
    refused(module, "own", "R6 mismatch", "%r", own=own, expected=wanted, found=given, missing=1)


ONE = "%one = arith.constant dense<{}> : {}\n"


@pytest.mark.parametrize(
    ("kind", "changed", "at", "expected", "found", "missing"),
    [
        ("point", {"r": ONE.format("1.0", "!v") + "%r = arith.maximumf %s, %one : !v"}, "%one", "0.0", "1.0", 0),
        ("point", {"r": ONE.format("-0.0", "!v") + "%r = arith.maximumf %s, %one : !v"}, "%one", "0.0", "-0.0", 0),
        ("point", {"s": "%s = arith.mulf %x, %y : !v"}, "%s", "arith.addf", "arith.mulf", 1),
        ("row", {"top": along("%top", "maximumf", "%x", "%zero")}, "%zero", "0xFF800000", "0.0", 0),
        ("row", {"top": along("%top", "maxnumf", "%x", "%low")}, "%top", "by arith.maximumf", "by arith.maxnumf", 1),
        ("row", {"s": "%s = math.exp2 %d : !m"}, "%s", "math.exp", "math.exp2", 1),
        ("matrix", {"p": ONE.format("1.0", "!t") + product("%p", start="%one")}, "%one", "0.0", "1.0", 0),
        ("matrix", {"p": product("%p", start="%b")}, "%p", "0.0", "%b", 0),
        ("matrix", {"s": "%s = arith.subf %p, %b : !t"}, "%s", "arith.addf", "arith.subf", 1),
    ],
)
def test_r6_every_attribute_counts(
    kind: Kind, changed: dict[str, str], at: str, expected: str, found: str, missing: int
) -> None:
    """Literals by bits, where a reduction starts and what it combines by, and the kind of an op."""
    module = whole(kind, **changed)
    line = line_of(module, at)

    def spelled(what: str, place: bool) -> str:
        if what.startswith("by "):
            return f"a reduction {what} : f32" + (f" of '{at} = linalg.reduce' (line {line})" if place else "")
        if what.startswith("%"):
            return f"the argument {what} : f32"
        if "." in what and what[0].isalpha():
            return f"'{at} = {what}' (line {line})" if place else f"{what} : f32"
        return f"the literal {what} : f32"

    wanted, given = spelled(expected, False), spelled(found, True)
    refused(module, RECIPES[kind][0], "R6 mismatch", at, expected=wanted, found=given, missing=missing)
