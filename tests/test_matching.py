"""The matching rules R1-R11, each from both sides; every result is put back and compared (law L2)."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import pytest
from random_programs import order_problem
from support import calls_of
from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation
from xdsl.pattern_rewriter import GreedyRewritePatternApplier, PatternRewriteWalker

from xfuse.decomposition import decompose_all
from xfuse.fusion import fuse
from xfuse.match.choose import Matches, PatternIndex, find_matches
from xfuse.parser import default_context, parse_module
from xfuse.patterns import FusePattern
from xfuse.recipes import Recipe, parse_recipes
from xfuse.testing import program_difference
from xfuse_dialects.xfuse import FusedOp


def any_kernel(recipe: Recipe, dtypes: Sequence[str]) -> str | None:
    """A gate that is open."""
    return "any"


def recipe(name: str, arguments: str, *lines: str, types: str = "f32") -> str:
    """A recipe over scalars; the last line names the result."""
    listed = ", ".join(f"%{a}: {types}" for a in arguments.split())
    body = "\n".join(lines[:-1])
    results = ", ".join(f"%{r}" for r in lines[-1].split())
    spelled = ", ".join([types] * len(lines[-1].split()))
    return f"xfuse.recipe @{name}({listed}) -> ({spelled}) {{\n{body}\nxfuse.yield {results} : {spelled}\n}}\n"


def function(*lines: str, arguments: str = "%x: f32, %y: f32, %z: f32", results: str = "f32") -> str:
    """A function; the last line names what it returns."""
    return (
        f"func.func @main({arguments}) -> ({results}) {{\n"
        + "\n".join(lines[:-1])
        + f"\nreturn {lines[-1]} : {results}\n}}\n"
    )


SUM_TIMES = recipe("sum_times", "a b c", "%0 = arith.addf %a, %b : f32", "%1 = arith.mulf %0, %c : f32", "1")
FMA = recipe("fma", "a b c", "%0 = arith.mulf %a, %b : f32", "%1 = arith.addf %0, %c : f32", "1")
NEG_NEG = recipe("neg_neg", "a", "%0 = arith.negf %a : f32", "%1 = arith.negf %0 : f32", "1")
TWO = recipe("two", "a b", "%0 = arith.addf %a, %b : f32", "%1 = math.exp %0 : f32", "%2 = math.tanh %0 : f32", "1 2")


class Fused:
    """A program after fusing, checked on all sides: verified, ordered (L8), idempotent (L7), and exact (L2)."""

    def __init__(self, recipes: str, program: str, context: Context | None = None, budget: int | None = None) -> None:
        self.recipes = parse_recipes(recipes)
        self.module = parse_module(program, context=context)
        original = self.module.clone()
        self.rounds = fuse(self.module, self.recipes, any_kernel, budget=budget, explain=True)
        self.module.verify()
        assert order_problem(self.module) is None
        text = str(self.module)
        again = fuse(self.module, self.recipes, any_kernel, budget=budget)
        assert not any(found.chosen for found in again)
        assert str(self.module) == text
        back = self.module.clone()
        decompose_all(back)
        back.verify()
        assert order_problem(back) is None
        assert program_difference(original, back) is None
        reread = parse_module(text, context=context)
        decompose_all(reread)
        assert program_difference(parse_module(str(original), context=context), reread) is None

    @property
    def names(self) -> list[str]:
        """What was fused, in the order of the choice."""
        return [match.recipe.name for found in self.rounds for match in found.chosen]

    @property
    def reasons(self) -> set[tuple[str, str]]:
        """Rule and reason of what was refused in the end."""
        return {(refusal.rule, refusal.reason) for refusal in self.rounds[-1].refusals}

    @property
    def ops(self) -> list[FusedOp]:
        """The fused ops in program order."""
        return [op for op in self.module.walk() if isinstance(op, FusedOp)]


# R1: search


def test_r1_backtracks_across_commutative_choices() -> None:
    """The first order of the product binds a = x; only the second fits neg(a) = neg(y) (B05)."""
    wanted = recipe(
        "r", "a b", "%0 = arith.mulf %a, %b : f32", "%1 = arith.negf %a : f32", "%2 = arith.addf %0, %1 : f32", "2"
    )
    for product in ("%x, %y", "%y, %x"):
        for total in ("%t, %n", "%n, %t"):
            for negated in ("%x", "%y"):
                program = function(
                    f"%t = arith.mulf {product} : f32",
                    f"%n = arith.negf {negated} : f32",
                    f"%r = arith.addf {total} : f32",
                    "%r",
                )
                assert Fused(wanted, program).names == ["r"]


def chain(count: int, form: Callable[[int, str], str]) -> list[str]:
    lines: list[str] = []
    last = "%a0"
    for number in range(1, count + 1):
        lines.append(f"%s{number} = {form(number, last)}")
        last = f"%s{number}"
    return lines


@pytest.mark.parametrize("mirrored", [False, True])
def test_r1_twenty_nested_sums_take_no_exponential_work(mirrored: bool) -> None:
    """Commutative choices multiply to a million; the search must not (B05)."""
    names = " ".join(f"a{n}" for n in range(21))
    wanted = recipe("r", names, *chain(20, lambda n, last: f"arith.addf {last}, %a{n} : f32"), "s20")
    order = (
        (lambda n, last: f"arith.addf %a{n}, {last} : f32")
        if mirrored
        else (lambda n, last: f"arith.addf {last}, %a{n} : f32")
    )
    arguments = ", ".join(f"%a{n}: f32" for n in range(21))
    calls, found = calls_of(lambda: Fused(wanted, function(*chain(20, order), "%s20", arguments=arguments)))
    assert found.names == ["r"]
    assert calls < 1_000_000


def tree(prefix: str, leaves: Sequence[str]) -> list[str]:
    """A balanced tree of sums; its last line is the root."""
    lines: list[str] = []
    level = list(leaves)
    while len(level) > 1:
        for left, right in zip(level[::2], level[1::2], strict=True):
            lines.append(f"%{prefix}{len(lines)} = arith.addf {left}, {right} : f32")
        level = [line.split(" ")[0] for line in lines[-len(level) // 2 :]]
    return lines


def test_r1_a_search_that_takes_too_long_is_refused_as_budget() -> None:
    """Each of 128 orders of the first sum fits by itself, and none fits the second: the search gives up and says so."""
    count = 8

    def both(second: str) -> list[str]:
        negated = [f"%n{n} = arith.negf %{second}{n} : f32" for n in range(count)]
        sums = tree("s", [f"%a{n}" for n in range(count)]), tree("t", [f"%n{n}" for n in range(count)])
        return [*negated, *sums[0], *sums[1], "%r = arith.mulf %s6, %t6 : f32"]

    wanted = recipe("r", " ".join(f"a{n}" for n in range(count)), *both("a"), "r")
    arguments = ", ".join(f"%{letter}{n}: f32" for letter in "ab" for n in range(count))
    found = Fused(wanted, function(*both("b"), "%r", arguments=arguments), budget=1)
    assert found.names == []
    assert ("R1", "budget") in found.reasons
    assert Fused(wanted, function(*both("a"), "%r", arguments=arguments)).names == ["r"]


@pytest.mark.parametrize("depth", [30, 64])
def test_r1_diamonds_take_no_exponential_work(depth: int) -> None:
    """t(i+1) = t(i) + t(i), recipe and program (B09)."""
    lines = [f"%t{n + 1} = arith.addf %t{n}, %t{n} : f32" for n in range(depth)]
    wanted = recipe("r", "t0", *lines[:20], "t20")
    calls, found = calls_of(lambda: Fused(wanted, function(*lines, f"%t{depth}", arguments="%t0: f32")))
    assert found.names == ["r"] * (depth // 20)
    assert calls < 1_000_000


def test_r1_long_chains_meet_no_recursion_limit() -> None:
    """A chain of 4 000 ops, half of it one recipe: fuse, print, read, decompose, compare (B10)."""
    lines = [f"%t{n + 1} = math.exp %t{n} : f32" for n in range(4000)]
    lines[1999] = "%t2000 = math.tanh %t1999 : f32"
    wanted = recipe("r", "t0", *lines[:2000], "t2000")
    pairs = recipe("pair", "t0", *lines[:2], "t2")
    program = function(*lines, "%t4000", arguments="%t0: f32")
    assert sorted(Fused(wanted + pairs, program).names) == ["pair"] * 1000 + ["r"]


# R2: commutative kinds


@pytest.mark.parametrize("kind", ["addf", "mulf", "maximumf", "minimumf", "maxnumf", "minnumf"])
@pytest.mark.parametrize("order", ["%e, %y", "%y, %e"])
def test_r2_commutative_float_ops_match_in_both_orders(kind: str, order: str) -> None:
    wanted = recipe("r", "a b", "%0 = math.exp %a : f32", f"%1 = arith.{kind} %0, %b : f32", "1")
    assert Fused(wanted, function("%e = math.exp %x : f32", f"%r = arith.{kind} {order} : f32", "%r")).names == ["r"]


@pytest.mark.parametrize("kind", ["arith.subf", "arith.divf", "math.powf", "math.atan2", "math.copysign"])
def test_r2_other_ops_match_in_their_order_only(kind: str) -> None:
    """Swapped operands are another function (B06)."""
    wanted = recipe("r", "a b", "%0 = math.exp %a : f32", f"%1 = {kind} %0, %b : f32", "1")
    assert Fused(wanted, function("%e = math.exp %x : f32", f"%r = {kind} %e, %y : f32", "%r")).names == ["r"]
    assert Fused(wanted, function("%e = math.exp %x : f32", f"%r = {kind} %y, %e : f32", "%r")).names == []


@pytest.mark.parametrize("kind", ["addi", "muli", "andi", "ori", "xori", "minsi", "maxsi", "minui", "maxui"])
def test_r2_commutative_integer_ops_match_in_both_orders(kind: str) -> None:
    wanted = recipe("r", "a b", "%0 = arith.subi %a, %b : i32", f"%1 = arith.{kind} %0, %b : i32", "1", types="i32")
    for order in ("%e, %y", "%y, %e"):
        program = function(
            "%e = arith.subi %x, %y : i32",
            f"%r = arith.{kind} {order} : i32",
            "%r",
            arguments="%x: i32, %y: i32",
            results="i32",
        )
        assert Fused(wanted, program).names == ["r"]


@pytest.mark.parametrize(
    ("predicate", "mirrored"),
    [("olt", "ogt"), ("ole", "oge"), ("ult", "ugt"), ("ule", "uge"), ("oeq", "oeq"), ("une", "une"), ("ord", "ord")],
)
def test_r2_a_compare_is_mirrored_with_its_predicate(predicate: str, mirrored: str) -> None:
    """a < b is b > a, and only that (B06)."""
    wanted = recipe("r", "a b", f"%0 = arith.cmpf {predicate}, %a, %b : f32", "%1 = arith.select %0, %a, %b : f32", "1")

    def names(spelled: str, order: str) -> list[str]:
        return Fused(
            wanted, function(f"%c = arith.cmpf {spelled}, {order} : f32", "%r = arith.select %c, %x, %y : f32", "%r")
        ).names

    assert names(predicate, "%x, %y") == ["r"]
    assert names(mirrored, "%y, %x") == ["r"]
    symmetric = predicate == mirrored
    assert names(predicate, "%y, %x") == (["r"] if symmetric else [])


# R3: arguments


def test_r3_a_repeated_argument_binds_one_value() -> None:
    """mul(a, a) is not mul(a, b) (B07)."""
    square = recipe("square", "a", "%0 = math.exp %a : f32", "%1 = arith.mulf %0, %a : f32", "1")
    assert Fused(square, function("%e = math.exp %x : f32", "%r = arith.mulf %e, %x : f32", "%r")).names == ["square"]
    assert Fused(square, function("%e = math.exp %x : f32", "%r = arith.mulf %e, %y : f32", "%r")).names == []


def test_r3_two_arguments_may_bind_one_value() -> None:
    found = Fused(SUM_TIMES, function("%t = arith.addf %x, %x : f32", "%r = arith.mulf %t, %x : f32", "%r"))
    assert found.names == ["sum_times"]
    assert len(found.ops[0].inputs) == 3
    assert len(set(found.ops[0].inputs)) == 1


def test_r3_equal_ops_are_one_value() -> None:
    """A shared inner value of the recipe matches two equal ops, and decompose brings both back (B08)."""
    wanted = recipe("r", "a", "%0 = math.exp %a : f32", "%1 = arith.mulf %0, %0 : f32", "1")
    shared = function("%e = math.exp %x : f32", "%r = arith.mulf %e, %e : f32", "%r")
    twice = function("%e = math.exp %x : f32", "%f = math.exp %x : f32", "%r = arith.mulf %e, %f : f32", "%r")
    other = function("%e = math.exp %x : f32", "%f = math.exp %y : f32", "%r = arith.mulf %e, %f : f32", "%r")
    assert Fused(wanted, shared).names == ["r"]
    assert Fused(wanted, twice).names == ["r"]
    assert Fused(wanted, other).names == []


def test_r3_a_transposed_argument_is_another_argument() -> None:
    """x * x and x * x^T differ though both read only x."""
    square = recipe("square", "a", "%0 = arith.mulf %a, %a : f32", "%1 = math.exp %0 : f32", "1")
    tensor = "tensor<3x3xf32>"
    for second, names in (("%x", ["square"]), ("%t", [])):
        program = function(
            f"%e = tensor.empty() : {tensor}",
            f"%t = linalg.transpose ins(%x : {tensor}) outs(%e : {tensor}) permutation = [1, 0]",
            f"%m = arith.mulf %x, {second} : {tensor}",
            f"%r = math.exp %m : {tensor}",
            "%r",
            arguments=f"%x: {tensor}",
            results=tensor,
        )
        assert Fused(square, program).names == names


# R4: escapes

PAIR = {"arguments": "%x: f32, %y: f32, %z: f32, %p: i1", "results": "f32, f32"}


@pytest.mark.parametrize(
    ("between", "end"),
    [
        ((), "%t, %r"),
        (("%v = arith.negf %t : f32",), "%r, %v"),
        (("cf.br ^next", "^next:"), "%t, %r"),
        (("cf.br ^next(%t : f32)", "^next(%q: f32):"), "%q, %r"),
        (("%v = scf.if %p -> (f32) {\nscf.yield %t : f32\n} else {\nscf.yield %x : f32\n}",), "%v, %r"),
        (("%v = func.call @callee(%t) : (f32) -> f32",), "%v, %r"),
    ],
    ids=["return", "op", "block", "branch", "region", "call"],
)
@pytest.mark.parametrize("before", [False, True], ids=["after", "before"])
def test_r4_an_inner_value_may_not_be_used_outside(between: Sequence[str], end: str, before: bool) -> None:
    """By the terminator, another op, block or region, whether before or after the root (B01, B02)."""
    root = "%r = arith.mulf %t, %z : f32"
    moved = before and not any("^" in line for line in between)
    lines = ["%t = arith.addf %x, %y : f32", *([*between, root] if moved else [root, *between]), end]
    text = "func.func private @callee(f32) -> f32\n" + function(*lines, **PAIR)
    found = Fused(SUM_TIMES, text)
    assert found.names == []
    assert ("R4", "escape") in found.reasons


def test_r4_the_result_may_be_used_anywhere() -> None:
    lines = ["%t = arith.addf %x, %y : f32", "%r = arith.mulf %t, %z : f32"]
    nested = "%v = scf.if %p -> (f32) {\nscf.yield %r : f32\n} else {\nscf.yield %x : f32\n}"
    assert Fused(SUM_TIMES, function(*lines, nested, "cf.br ^next", "^next:", "%r, %v", **PAIR)).names == ["sum_times"]


def test_r4_shared_constants_are_copied_and_do_not_block() -> None:
    wanted = recipe(
        "r", "a", "%k = arith.constant 2.0 : f32", "%0 = arith.addf %a, %k : f32", "%1 = math.exp %0 : f32", "1"
    )
    program = function(
        "%k = arith.constant 2.0 : f32",
        "%0 = arith.addf %x, %k : f32",
        "%1 = math.exp %0 : f32",
        "%2 = arith.addf %k, %1 : f32",
        "%3 = math.exp %2 : f32",
        "%k, %3",
        results="f32, f32",
    )
    assert Fused(wanted, program).names == ["r", "r"]


def test_r4_equal_constants_of_different_places_stay_two() -> None:
    """A location belongs to the program (law L2)."""
    wanted = recipe(
        "r", "a", "%k = arith.constant 2.0 : f32", "%0 = arith.addf %a, %k : f32", "%1 = math.exp %0 : f32", "1"
    )
    program = function(
        '%k = arith.constant 2.0 : f32 loc("here")',
        '%l = arith.constant 2.0 : f32 loc("there")',
        "%0 = arith.addf %x, %k : f32",
        "%1 = math.exp %0 : f32",
        "%2 = arith.addf %y, %l : f32",
        "%3 = math.exp %2 : f32",
        "%1, %3",
        results="f32, f32",
    )
    assert Fused(wanted, program).names == ["r", "r"]


def test_r4_constants_of_enclosing_blocks_are_copied_in_order() -> None:
    """A tensor.empty of an inner block that takes its size from an outer one: the region needs the outer first."""
    tensor = "tensor<?xf32>"
    program = f"""
func.func @main(%x: {tensor}, %n: index) -> {tensor} {{
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %a = math.exp %x : {tensor}
  %b = math.exp %a : {tensor}
  %d = tensor.dim %b, %c0 : {tensor}
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%o = %x) -> ({tensor}) {{
    %e = tensor.empty(%d) : {tensor}
    %s = scf.for %j = %c0 to %n step %c1 iter_args(%p = %o) -> ({tensor}) {{
      %t = linalg.add ins(%p, %x : {tensor}, {tensor}) outs(%e : {tensor}) -> {tensor}
      %u = linalg.mul ins(%t, %o : {tensor}, {tensor}) outs(%e : {tensor}) -> {tensor}
      scf.yield %u : {tensor}
    }}
    scf.yield %s : {tensor}
  }}
  return %r : {tensor}
}}
"""
    assert Fused(SUM_TIMES, program).names == ["sum_times"]


# R5, R8: placement


def test_r5_no_path_leaves_the_match_and_comes_back() -> None:
    """The second result needs a value that is computed from the first."""
    program = function(
        "%t = arith.addf %x, %y : f32",
        "%u = math.exp %t : f32",
        "%w = arith.negf %u : f32",
        "%t2 = arith.addf %w, %y : f32",
        "%v = math.tanh %t2 : f32",
        "%u, %v",
        results="f32, f32",
    )
    assert Fused(TWO, program).names == []


def test_r5_an_argument_may_not_be_an_inner_value() -> None:
    """mul(exp(a), b) on mul(e, e): b would be exp(a) itself."""
    wanted = recipe("r", "a b", "%0 = math.exp %a : f32", "%1 = arith.mulf %0, %b : f32", "1")
    found = Fused(wanted, function("%e = math.exp %x : f32", "%r = arith.mulf %e, %e : f32", "%r"))
    assert found.names == []
    assert ("R5", "argument-inside") in found.reasons


def test_r8_results_in_the_recipes_order_whatever_the_programs() -> None:
    program = function(
        "%t = arith.addf %x, %y : f32",
        "%v = math.tanh %t : f32",
        "%u = math.exp %t : f32",
        "%u, %v",
        results="f32, f32",
    )
    found = Fused(TWO, program)
    assert found.names == ["two"]
    returned = found.module.body.block.first_op
    assert returned is not None
    assert tuple(returned.regions[0].block.last_op.operands) == tuple(found.ops[0].outputs)


def test_r8_a_result_used_before_the_last_result_has_the_op_go_before_its_user() -> None:
    program = function(
        "%t = arith.addf %x, %y : f32",
        "%u = math.exp %t : f32",
        "%w = math.sqrt %u : f32",
        "%v = math.tanh %t : f32",
        "%w, %v",
        results="f32, f32",
    )
    found = Fused(TWO, program)
    assert found.names == ["two"]
    (main,) = found.module.body.block.ops
    assert [op.name for op in main.regions[0].block.ops] == ["xfuse.fused", "math.sqrt", "func.return"]


def test_r8_a_result_used_before_an_operand_is_computed_is_refused() -> None:
    """exp(a) and a * c where c is computed from the first result: there is no place for both."""
    wanted = recipe("r", "a c", "%0 = math.exp %a : f32", "%1 = arith.mulf %0, %c : f32", "0 1")
    program = function(
        "%u = math.exp %x : f32",
        "%w = math.sqrt %u : f32",
        "%v = arith.mulf %u, %w : f32",
        "%u, %v",
        results="f32, f32",
    )
    found = Fused(wanted, program)
    assert found.names == []
    assert ("R8", "order") in found.reasons


def test_r8_early_matches_wait_for_what_they_read() -> None:
    """Two matches of two results each: the second reads the first's, and each has a user between its results."""
    program = function(
        "%t = arith.addf %x, %y : f32",
        "%u = math.exp %t : f32",
        "%w = math.sqrt %u : f32",
        "%t2 = arith.addf %w, %y : f32",
        "%u2 = math.exp %t2 : f32",
        "%w2 = math.sqrt %u2 : f32",
        "%v2 = math.tanh %t2 : f32",
        "%v = math.tanh %t : f32",
        "%w2, %v, %v2",
        results="f32, f32, f32",
    )
    assert Fused(TWO, program).names == ["two", "two"]


def test_r8_an_early_match_waits_for_one_that_holds_the_op_it_goes_before() -> None:
    """The user of the first result goes with a larger match; `two` finds its place in the next round."""
    wanted = recipe(
        "long",
        "a b c",
        "%0 = arith.mulf %a, %b : f32",
        "%1 = arith.addf %0, %c : f32",
        "%2 = math.sin %1 : f32",
        "%3 = math.cos %2 : f32",
        "3",
    )
    program = function(
        "%t = arith.addf %x, %y : f32",
        "%u = math.exp %t : f32",
        "%w = arith.mulf %u, %x : f32",
        "%q = arith.addf %w, %y : f32",
        "%s = math.sin %q : f32",
        "%c = math.cos %s : f32",
        "%v = math.tanh %t : f32",
        "%c, %v",
        results="f32, f32",
    )
    assert Fused(TWO + wanted, program).names == ["long", "two"]


def test_r8_an_order_that_another_match_mends_is_used() -> None:
    """The product moves down with its own match; then the first match has its place (law L7: in one run)."""
    program = function(
        "%t = arith.addf %x, %y : f32",
        "%u = math.exp %t : f32",
        "%w = arith.mulf %u, %x : f32",
        "%v = math.tanh %t : f32",
        "%q = arith.addf %w, %y : f32",
        "%q, %v",
        results="f32, f32",
    )
    assert sorted(Fused(TWO + FMA, program).names) == ["fma", "two"]


def test_r8_a_dead_result_still_counts() -> None:
    program = function("%t = arith.addf %x, %y : f32", "%u = math.exp %t : f32", "%v = math.tanh %t : f32", "%u")
    assert Fused(TWO, program).names == ["two"]


def test_r8_operands_come_first() -> None:
    """An argument that is computed between the matched ops (B13)."""
    program = function("%t = arith.addf %x, %y : f32", "%w = math.sqrt %z : f32", "%r = arith.mulf %t, %w : f32", "%r")
    assert Fused(SUM_TIMES, program).names == ["sum_times"]


# R6: attributes and literals


def test_r6_a_programs_flags_may_be_more_than_the_recipes_not_fewer() -> None:
    plain = recipe("r", "a b", "%0 = arith.addf %a, %b : f32", "%1 = math.exp %0 : f32", "1")
    nnan = recipe("r", "a b", "%0 = arith.addf %a, %b fastmath<nnan> : f32", "%1 = math.exp %0 : f32", "1")
    for wanted, flags, names in (
        (plain, "", ["r"]),
        (plain, "fastmath<nnan>", ["r"]),
        (nnan, "", []),
        (nnan, "fastmath<ninf>", []),
        (nnan, "fastmath<nnan,ninf>", ["r"]),
    ):
        program = function(f"%t = arith.addf %x, %y {flags} : f32", "%r = math.exp %t : f32", "%r")
        found = Fused(wanted, program)
        assert found.names == names, (wanted, flags)
        if names and flags:
            assert flags.removeprefix("fastmath<").removesuffix(">").split(",")[0] in str(found.module)


LITERALS = ["2.0", "1.0e-5", "0.0", "-0.0", "0x7F800000", "0x7FC00000", "0x7FC00001", "0xFFC00000", "0x3F800001"]


@pytest.mark.parametrize("given", LITERALS)
@pytest.mark.parametrize("wanted", LITERALS)
def test_r6_literals_are_compared_by_bits(wanted: str, given: str) -> None:
    """-0 is not 0, one bit more is another literal, NaNs differ by payload in a region (B12)."""
    pattern = recipe(
        "r", "a", f"%k = arith.constant {wanted} : f32", "%0 = arith.divf %k, %a : f32", "%1 = math.exp %0 : f32", "1"
    )
    program = function(
        f"%k = arith.constant {given} : f32", "%0 = arith.divf %k, %x : f32", "%1 = math.exp %0 : f32", "%1"
    )
    assert Fused(pattern, program).names == (["r"] if wanted == given else [])


@pytest.mark.parametrize(
    ("literal", "names"),
    [
        ("dense<2.0>", ["r"]),
        ("dense<[2.0, 2.0]>", ["r"]),
        ("dense<[2.0, 3.0]>", []),
        ("dense<[0.0, -0.0]>", []),
    ],
)
def test_r6_a_splat_is_its_literal_and_a_list_is_not(literal: str, names: list[str]) -> None:
    pattern = recipe(
        "r", "a", "%k = arith.constant 2.0 : f32", "%0 = arith.divf %k, %a : f32", "%1 = math.exp %0 : f32", "1"
    ) + recipe(
        "zero", "a", "%k = arith.constant 0.0 : f32", "%0 = arith.divf %k, %a : f32", "%1 = math.exp %0 : f32", "1"
    )
    tensor = "tensor<2xf32>"
    program = function(
        f"%k = arith.constant {literal} : {tensor}",
        f"%0 = arith.divf %k, %x : {tensor}",
        f"%1 = math.exp %0 : {tensor}",
        "%1",
        arguments=f"%x: {tensor}",
        results=tensor,
    )
    assert Fused(pattern, program).names == names


@pytest.mark.parametrize(("wanted", "given"), [("f32", "f64"), ("i32", "i64"), ("f32", "f16")])
def test_r6_element_types_are_compared(wanted: str, given: str) -> None:
    op = "addi" if wanted[0] == "i" else "addf"
    pattern = recipe(
        "r", "a b", f"%0 = arith.{op} %a, %b : {wanted}", f"%1 = arith.{op} %0, %0 : {wanted}", "1", types=wanted
    )
    for type_, names in ((wanted, ["r"]), (given, [])):
        program = function(
            f"%0 = arith.{op} %x, %y : {type_}",
            f"%1 = arith.{op} %0, %0 : {type_}",
            "%1",
            arguments=f"%x: {type_}, %y: {type_}",
            results=type_,
        )
        assert Fused(pattern, program).names == names


def test_r6_a_scalar_slot_binds_constants_only_and_reports_them() -> None:
    """Two call sites keep their own values (B12)."""
    wanted = (
        "xfuse.recipe @leaky(%a: f32, %s: f32 {xfuse.scalar}) -> f32 {\n%0 = arith.mulf %a, %s : f32\n"
        "%1 = arith.maximumf %0, %a : f32\nxfuse.yield %1 : f32\n}"
    )
    constant = function(
        "%k = arith.constant 0.1 : f32",
        "%l = arith.constant 0.2 : f32",
        "%0 = arith.mulf %x, %k : f32",
        "%1 = arith.maximumf %x, %0 : f32",
        "%2 = arith.mulf %l, %y : f32",
        "%3 = arith.maximumf %2, %y : f32",
        "%1, %3",
        results="f32, f32",
    )
    found = Fused(wanted, constant)
    assert found.names == ["leaky", "leaky"]
    values = [match.scalars for match in found.rounds[0].chosen]
    assert [len(each) for each in values] == [1, 1]
    assert [op.inputs[1].owner.properties["value"].value.data for op in found.ops] == pytest.approx([0.1, 0.2])
    variable = function("%0 = arith.mulf %x, %y : f32", "%1 = arith.maximumf %0, %x : f32", "%1")
    assert Fused(wanted, variable).names == []


# R7: choice


@pytest.mark.parametrize("count", [2, 3, 4, 5, 8])
def test_r7_adjacent_matches_all_apply(count: int) -> None:
    """neg(neg(a)) over a chain: count // 2 fused ops, none overlapping (B11)."""
    lines = [f"%n{n + 1} = arith.negf %n{n} : f32" for n in range(count)]
    found = Fused(NEG_NEG, function(*lines, f"%n{count}", arguments="%n0: f32"))
    assert found.names == ["neg_neg"] * (count // 2)


def test_r7_the_larger_match_wins_whatever_the_order() -> None:
    large = recipe(
        "large", "a b c", "%0 = arith.mulf %a, %b : f32", "%1 = arith.addf %0, %c : f32", "%2 = math.exp %1 : f32", "2"
    )
    program = function("%0 = arith.mulf %x, %y : f32", "%1 = arith.addf %0, %z : f32", "%2 = math.exp %1 : f32", "%2")
    assert Fused(FMA + large, program).names == ["large"]
    assert Fused(large + FMA, program).names == ["large"]


def test_r7_the_first_recipe_wins_among_equals() -> None:
    other = FMA.replace("@fma", "@other")
    program = function("%0 = arith.mulf %x, %y : f32", "%1 = arith.addf %0, %z : f32", "%1")
    assert Fused(FMA + other, program).names == ["fma"]
    assert Fused(other + FMA, program).names == ["other"]


def test_r7_what_lost_once_may_win_elsewhere() -> None:
    """exp(mul(..)) loses to the larger match at one place; the rest of the program still gets it."""
    small = recipe("small", "a b", "%0 = arith.mulf %a, %b : f32", "%1 = math.exp %0 : f32", "1")
    large = recipe(
        "large", "a b", "%0 = arith.mulf %a, %b : f32", "%1 = math.exp %0 : f32", "%2 = math.tanh %1 : f32", "2"
    )
    program = function(
        "%0 = arith.mulf %x, %y : f32",
        "%1 = math.exp %0 : f32",
        "%2 = math.tanh %1 : f32",
        "%3 = arith.mulf %2, %y : f32",
        "%4 = math.exp %3 : f32",
        "%4",
    )
    assert sorted(Fused(small + large, program).names) == ["large", "small"]


def test_r7_recipes_that_contain_each_other_terminate() -> None:
    """(B15)"""
    ab = recipe("ab", "a", "%0 = math.exp %a : f32", "%1 = math.sin %0 : f32", "1")
    ba = recipe("ba", "a", "%0 = math.sin %a : f32", "%1 = math.exp %0 : f32", "1")
    lines = [f"%n{n + 1} = math.{'exp' if n % 2 else 'sin'} %n{n} : f32" for n in range(7)]
    assert len(Fused(ab + ba, function(*lines, "%n7", arguments="%n0: f32")).names) == 3


def test_r7_equal_matches_all_apply_in_one_run() -> None:
    """Equal ops twice, each a match, and a match on top that needs them to be two values (law L7)."""
    product = recipe(
        "product", "a b", "%0 = math.exp %a : f32", "%1 = math.exp %b : f32", "%2 = arith.mulf %0, %1 : f32", "2"
    )
    program = function(
        "%t = arith.mulf %x, %y : f32",
        "%u = arith.addf %t, %z : f32",
        "%v = arith.mulf %y, %x : f32",
        "%w = arith.addf %v, %z : f32",
        "%e = math.exp %u : f32",
        "%f = math.exp %w : f32",
        "%r = arith.mulf %e, %f : f32",
        "%r",
    )
    assert sorted(Fused(FMA + product, program).names) == ["fma", "fma", "product"]


def test_r7_a_single_op_recipe_and_one_that_is_the_whole_function() -> None:
    """(B11)"""
    one = recipe("one", "a b", "%0 = arith.addf %a, %b : f32", "0")
    lines = ["%0 = arith.addf %x, %y : f32", "%1 = arith.addf %0, %z : f32", "%1"]
    assert Fused(one, function(*lines)).names == ["one", "one"]
    whole = recipe("whole", "x y z", *lines[:-1], "1")
    assert Fused(whole, function(*lines)).names == ["whole"]


# R9: dead ops


def test_r9_unrelated_dead_ops_neither_block_nor_vanish() -> None:
    program = function(
        "%d = math.exp %x : f32",
        "%t = arith.addf %x, %y : f32",
        "%e = math.exp %d : f32",
        "%r = arith.mulf %t, %z : f32",
        "%f = math.exp %r : f32",
        "%r",
    )
    found = Fused(SUM_TIMES, program)
    assert found.names == ["sum_times"]
    assert str(found.module).count("math.exp") == 3


@pytest.mark.parametrize("reader", ["%d = math.exp %t : f32", "%d = arith.addf %t, %k : f32\n%f = math.exp %d : f32"])
def test_r9_a_dead_reader_of_an_inner_value_does_not_block(reader: str) -> None:
    """It is kept, and decompose puts it back (law L2)."""
    lines = ["%k = arith.constant 3.0 : f32", "%t = arith.addf %x, %y : f32", reader, "%r = arith.mulf %t, %z : f32"]
    assert Fused(SUM_TIMES, function(*lines, "%r")).names == ["sum_times"]


def test_r9_a_dead_match_is_fused_like_any_other() -> None:
    assert Fused(SUM_TIMES, function("%t = arith.addf %x, %y : f32", "%r = arith.mulf %t, %z : f32", "%x")).names == [
        "sum_times"
    ]


# R11: values and ops

TENSOR = "tensor<4xf32>"
ON_TENSORS = {"arguments": f"%x: {TENSOR}, %y: {TENSOR}, %z: {TENSOR}", "results": TENSOR}


def generic(result: str, inputs: str, body: Sequence[str], out: str = "%e") -> str:
    """A one-dimensional generic; bodies read %i0, %i1, ..."""
    names = inputs.split()
    maps = ", ".join(["affine_map<(d0) -> (d0)>"] * (len(names) + 1))
    arguments = ", ".join([*(f"%i{n}: f32" for n in range(len(names))), "%o: f32"])
    ins = f"ins({', '.join(names)} : {', '.join([TENSOR] * len(names))}) " if names else ""
    return (
        f'{result} = linalg.generic {{indexing_maps = [{maps}], iterator_types = ["parallel"]}} {ins}'
        f"outs({out} : {TENSOR}) {{\n^bb0({arguments}):\n" + "\n".join(body) + f"\n}} -> {TENSOR}"
    )


EMPTY = f"%e = tensor.empty() : {TENSOR}"


def test_r11_inside_one_body_a_scalar_op_is_fused_there() -> None:
    body = [
        "%a = arith.addf %i0, %i1 : f32",
        "%b = arith.mulf %a, %i1 : f32",
        "%c = math.exp %b : f32",
        "linalg.yield %c : f32",
    ]
    found = Fused(SUM_TIMES, function(EMPTY, generic("%r", "%x %y", body), "%r", **ON_TENSORS))
    assert found.names == ["sum_times"]
    assert found.ops[0].outputs.types[0] == found.recipes[0].result_types[0]


def test_r11_across_a_bodys_border_is_refused_with_a_hint() -> None:
    first = generic("%t", "%x %y", ["%a = arith.addf %i0, %i1 : f32", "linalg.yield %a : f32"])
    body = ["%a = arith.mulf %i0, %i1 : f32", "%b = math.exp %a : f32", "linalg.yield %b : f32"]
    found = Fused(SUM_TIMES, function(EMPTY, first, generic("%r", "%t %z", body), "%r", **ON_TENSORS))
    assert found.names == []
    assert ("R11", "inside-body") in found.reasons


@pytest.mark.parametrize("extra", ["%v = math.exp %a : f32", "%v = arith.negf %a : f32"])
def test_r11_an_escape_inside_a_body_is_an_escape(extra: str) -> None:
    body = [
        "%a = arith.addf %i0, %i1 : f32",
        extra,
        "%b = arith.mulf %a, %i1 : f32",
        "%c = arith.subf %b, %v : f32",
        "linalg.yield %c : f32",
    ]
    assert Fused(SUM_TIMES, function(EMPTY, generic("%r", "%x %y", body), "%r", **ON_TENSORS)).names == []


def test_r11_the_body_of_a_named_op_is_not_touched() -> None:
    """Its text has no body; a fused op there would be lost on printing."""
    product = recipe("product", "a b", "%0 = arith.mulf %a, %b : f32", "0")
    types = "tensor<2x2xf32>"
    program = function(
        f"%r = linalg.matmul ins(%x, %x : {types}, {types}) outs(%x : {types}) -> {types}",
        "%r",
        arguments=f"%x: {types}",
        results=types,
    )
    assert Fused(product, program).names == []
    named = function(
        EMPTY, f"%r = linalg.mul ins(%x, %y : {TENSOR}, {TENSOR}) outs(%e : {TENSOR}) -> {TENSOR}", "%r", **ON_TENSORS
    )
    assert Fused(product, named).names == ["product"]


def test_r11_matches_inside_a_reduction_leave_the_sum_alone() -> None:
    tensor = "tensor<4x4xf32>"
    program = f"""
func.func @main(%x: {tensor}, %o: {TENSOR}) -> {TENSOR} {{
  %r = linalg.generic {{indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0)>],
    iterator_types = ["parallel", "reduction"]}} ins(%x : {tensor}) outs(%o : {TENSOR}) {{
  ^bb0(%i: f32, %a: f32):
    %m = arith.mulf %i, %i : f32
    %p = arith.addf %m, %i : f32
    %s = arith.addf %p, %a : f32
    linalg.yield %s : f32
  }} -> {TENSOR}
  return %r : {TENSOR}
}}
"""
    assert Fused(FMA, program).names == ["fma"]


@pytest.mark.parametrize("out", ["%e", "%t", "%x", "%z"])
def test_r11_an_unread_outs_is_no_use(out: str) -> None:
    """Which tensor an op writes into says nothing about what it computes."""
    named = f"%r = linalg.mul ins(%t, %z : {TENSOR}, {TENSOR}) outs({out} : {TENSOR}) -> {TENSOR}"
    lines = [EMPTY, f"%t = arith.addf %x, %y : {TENSOR}", named, "%r"]
    assert Fused(SUM_TIMES, function(*lines, **ON_TENSORS)).names == ["sum_times"]


def test_r11_an_outs_that_is_read_is_an_argument() -> None:
    """The body adds to what the tensor held."""
    accumulate = generic(
        "%r", "%x %y", ["%a = arith.mulf %i0, %i1 : f32", "%b = arith.addf %a, %o : f32", "linalg.yield %b : f32"], "%z"
    )
    found = Fused(FMA, function(accumulate, "%r", **ON_TENSORS))
    assert found.names == ["fma"]
    assert len(found.ops[0].inputs) == 3


def test_r11_an_inner_value_that_an_outside_op_writes_into_is_refused() -> None:
    lines = [
        f"%t = arith.addf %x, %y : {TENSOR}",
        f"%w = linalg.exp ins(%x : {TENSOR}) outs(%t : {TENSOR}) -> {TENSOR}",
        f"%r = arith.mulf %t, %w : {TENSOR}",
        "%r",
    ]
    assert Fused(SUM_TIMES, function(*lines, **ON_TENSORS)).names == []


@pytest.mark.parametrize("view", ["broadcast", "transpose", "generic", "collapse"])
def test_r11_a_view_of_an_argument_is_read_at_its_source(view: str) -> None:
    matrix = "tensor<4x4xf32>"
    lines = {
        "broadcast": f"%v = linalg.broadcast ins(%y : {TENSOR}) outs(%e : {matrix}) dimensions = [0]",
        "transpose": f"%v = linalg.transpose ins(%m : {matrix}) outs(%e : {matrix}) permutation = [1, 0]",
        "generic": "%v = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d1)>, "
        "affine_map<(d0, d1) -> (d0, d1)>], "
        f'iterator_types = ["parallel", "parallel"]}} ins(%y : {TENSOR}) outs(%e : {matrix}) {{\n'
        f"^bb0(%i: f32, %o: f32):\nlinalg.yield %i : f32\n}} -> {matrix}",
        "collapse": f"%v = tensor.collapse_shape %u [[0, 1], [2]] : tensor<1x4x4xf32> into {matrix}",
    }
    found = Fused(
        SUM_TIMES,
        function(
            f"%e = tensor.empty() : {matrix}",
            lines[view],
            f"%t = arith.addf %m, %v : {matrix}",
            f"%r = arith.mulf %t, %v : {matrix}",
            "%r",
            arguments=f"%m: {matrix}, %y: {TENSOR}, %u: tensor<1x4x4xf32>",
            results=matrix,
        ),
    )
    assert found.names == ["sum_times"]


def test_r11_an_if_with_a_literal_condition_and_its_branch_do_not_both_fuse() -> None:
    """The if as a whole carries the value that its branch computes; one of them is taken."""
    wanted = recipe("r", "a", "%0 = math.exp %a : f32", "%1 = math.sin %0 : f32", "1")
    program = function(
        "%p = arith.constant false",
        "%r = scf.if %p -> (f32) {\nscf.yield %y : f32\n} else {\n%s = math.exp %x : f32\n%t = math.sin %s : f32\n"
        "scf.yield %t : f32\n}",
        "%r",
    )
    assert Fused(wanted, program).names == ["r"]


# Surroundings: never a crash


def test_programs_with_declarations_blocks_regions_and_unknown_ops() -> None:
    context = default_context(allow_unregistered=True)
    program = """
func.func private @declared(f32) -> f32
func.func @first(%x: f32, %y: f32) -> f32 {
  %t = arith.addf %x, %y : f32
  %q = "other.op"(%t) {a = 1 : i32} : (f32) -> f32
  %u = arith.mulf %t, %y : f32
  %v = arith.addf %q, %y : f32
  %w = arith.mulf %v, %q : f32
  "other.region"(%w) ({
  ^bb0(%k: f32):
    %t1 = arith.addf %k, %y : f32
    %u1 = arith.mulf %t1, %x : f32
    "other.yield"(%u1) : (f32) -> ()
  }, {
  }) : (f32) -> ()
  return %u : f32
}
func.func @second(%x: f32, %p: i1) -> f32 {
  cf.cond_br %p, ^a(%x : f32), ^b
^a(%y: f32):
  %t = arith.addf %x, %y : f32
  %u = arith.mulf %t, %y : f32
  cf.br ^a(%u : f32)
^b:
  %c = func.call @declared(%x) : (f32) -> f32
  return %c : f32
}
func.func @empty() {
  return
}
"""
    assert Fused(SUM_TIMES, program, context).names == ["sum_times"] * 3


@pytest.mark.parametrize("text", ["builtin.module {}", "func.func private @f()", "func.func @f() {\n  return\n}", TWO])
def test_modules_without_anything_to_fuse(text: str) -> None:
    module = parse_module(text)
    before = str(module)
    fuse(module, parse_recipes(SUM_TIMES + TWO), any_kernel)
    assert str(module) == before


def test_a_gate_that_is_shut_refuses_with_l4() -> None:
    module = parse_module(function("%t = arith.addf %x, %y : f32", "%r = arith.mulf %t, %z : f32", "%r"))
    rounds = fuse(module, parse_recipes(SUM_TIMES), lambda recipe, dtypes: None)
    assert [(refusal.rule, refusal.reason) for refusal in rounds[-1].refusals] == [("L4", "no-kernel")]
    assert not any(isinstance(op, FusedOp) for op in module.walk())


def test_r10_looking_changes_nothing() -> None:
    module = parse_module(function("%t = arith.addf %x, %y : f32", "%r = arith.mulf %t, %z : f32", "%r"))
    before = str(module)
    found = find_matches(module, PatternIndex(parse_recipes(SUM_TIMES)), any_kernel)
    assert isinstance(found, Matches)
    assert [op.name for match in found.chosen for op in match.ops] == ["arith.addf", "arith.mulf"]
    assert str(module) == before


# The pattern drives itself


class AnyKernel:
    """A table that has a row for everything."""

    def admissible(self, recipe: Recipe, dtypes: Sequence[str], backend: str) -> str | None:
        return "any"


def greedy(recipes: str, program: str) -> ModuleOp:
    module = parse_module(program)
    patterns = [FusePattern(each, AnyKernel()) for each in parse_recipes(recipes)]
    PatternRewriteWalker(GreedyRewritePatternApplier(patterns)).rewrite_module(module)
    module.verify()
    assert order_problem(module) is None
    return module


def fused(module: Operation) -> list[str | None]:
    return [op.label for op in module.walk() if isinstance(op, FusedOp)]


def test_patterns_in_xdsls_greedy_driver() -> None:
    program = function("%t = arith.addf %x, %y : f32", "%r = arith.mulf %t, %z : f32", "%r")
    assert fused(greedy(SUM_TIMES, program)) == ["sum_times"]
    escape = function("%t = arith.addf %x, %y : f32", "%r = arith.mulf %t, %z : f32", "%r, %t", results="f32, f32")
    assert fused(greedy(SUM_TIMES, escape)) == []


def test_patterns_leave_the_bodies_of_named_ops_alone() -> None:
    product = recipe("product", "a b", "%0 = arith.mulf %a, %b : f32", "0")
    types = "tensor<2x2xf32>"
    program = function(
        f"%r = linalg.matmul ins(%x, %x : {types}, {types}) outs(%x : {types}) -> {types}",
        "%r",
        arguments=f"%x: {types}",
        results=types,
    )
    assert fused(greedy(product, program)) == []
