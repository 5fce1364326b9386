"""The matching rules R4, R5 and R7-R11, by which ops are taken, from both sides and for recipes of three kinds.

The kinds are element-wise recipes, recipes with rows, and products of matrices. R1-R3 and R6 are in test_rules.py.
Whatever fuses is compared with the plain program and put back (laws L2, L3, L7, L8).
"""

from __future__ import annotations

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
    body,
    contraction,
    fuses,
    line_of,
    lines,
    main,
    name_of,
    own_lines,
    own_recipe,
    product,
    recipe,
    refused,
    session,
    twice,
    whole,
)
from xdsl.dialects.builtin import ModuleOp

from xfuse.explanation import explanation
from xfuse.normalization import normalize
from xfuse_dialects.xfuse import FusedOp

every_kind = pytest.mark.parametrize("kind", KINDS)


def own(kind: Kind, *between: str, y: str = "%q") -> ModuleOp:
    """The program of the tests' own recipe."""
    return main(kind, *own_lines(kind, *between, y=y), f"return %r : {TYPE[kind]}")


# R4: what is used outside


@every_kind
def test_r4_constants_are_shared(kind: Kind) -> None:
    """Two matches and the function's end read a constant; each match has its own copy."""
    module = main(kind, *twice(kind), f"return %r2, %zero : {TYPE[kind]}, {ZERO[kind]}")
    ops = fuses(module, RECIPES[kind], RECIPES[kind])
    assert [name_of(op) for op in ops if op.name == "arith.constant"] == ["%zero"]


FILLS: dict[Kind, tuple[str, str, str]] = {
    "point": ("%none", "!v", "%zero"),
    "row": ("%cells", "!c", "%low"),
    "matrix": ("%none", "!t", "%zero"),
}


@every_kind
def test_r4_what_makes_a_constant_is_copied(kind: Kind) -> None:
    """A fill of an empty tensor, read by the match and returned."""
    out, type_, name = FILLS[kind]
    number = "0xFF800000" if kind == "row" else "0.0"
    made = [f"%k = arith.constant {number} : f32", f"%cells = tensor.empty() : {type_}"]
    fill = f"%fill = linalg.fill ins(%k : f32) outs({out} : {type_}) -> {type_}"
    program = [line.replace(name, "%fill") for line in PROGRAMS[kind]]
    module = main(kind, *made, fill, *program, f"return %r, %fill : {TYPE[kind]}, {type_}")
    ops = fuses(module, RECIPES[kind])
    assert [name_of(op) for op in ops if op.name == "linalg.fill"] == ["%fill"]


ESCAPES = {
    "return": ("func.return", "return %r, %s : T, T"),
    "op": ("%u = math.tanh", "%u = math.tanh %s : T\nreturn %r, %u : T, T"),
    "block": ("func.return", "cf.br ^next\n^next:\nreturn %r, %s : T, T"),
    "branch": ("cf.br", "cf.br ^next(%s : T)\n^next(%u: T):\nreturn %r, %u : T, T"),
    "region": (
        "%u = scf.if",
        "%u = scf.if %if -> (T) {\nscf.yield %s : T\n} else {\nscf.yield %q : T\n}\nreturn %r, %u : T, T",
    ),
}
"""Who else reads an inner value."""
VARIANTS = {
    "point": "add_relu_yielding_0",
    "row": "softmax_yielding_7",
    "matrix": "fused_linear_relu_yielding_4",
}


def escape(kind: Kind, how: str) -> ModuleOp:
    return main(kind, *lines(kind), ESCAPES[how][1].replace("T", TYPE[kind]))


@every_kind
@pytest.mark.parametrize("how", ESCAPES)
def test_r4_an_inner_value_is_not_used_outside(kind: Kind, how: str) -> None:
    """By the function's end, an op, another block or a region."""
    says = f"is used outside the match by '{ESCAPES[how][0]}'"
    refusal = refused(escape(kind, how), RECIPES[kind][0], "R4 escape", "%s", says)
    assert [value.name_hint for value in refusal.escaping] == ["s"]


@every_kind
@pytest.mark.parametrize("how", ESCAPES)
def test_r4_what_escapes_may_be_computed_twice_or_be_a_result(kind: Kind, how: str) -> None:
    """The two other policies."""
    name, count = RECIPES[kind]
    fuses(escape(kind, how), (name, count), own=alone(name), escape="duplicate")
    fuses(escape(kind, how), (VARIANTS[kind], count), own=alone(name).child(), escape="yield")


def test_r4_what_stays_beside_a_match_is_matched_in_the_same_run() -> None:
    """exp(x) is computed twice: in its user's recipe, and by one of its own."""
    part = recipe("part", "%x: f32", "%e = math.exp %x : f32", "xfuse.yield %e : f32")
    module = main("point", *own_lines("point"), "return %r, %e : !v, !v")
    fuses(module, ("own", 2), ("part", 1), own=session(own_recipe("point"), part), escape="duplicate")


@every_kind
def test_r4_an_op_outside_may_not_write_into_an_inner_value(kind: Kind) -> None:
    """It would have nothing to write into."""
    type_ = TYPE[kind]
    writer = f"%v = linalg.exp ins(%q : {type_}) outs(%e : {type_}) -> {type_}"
    module = main(kind, *own_lines(kind, writer), f"return %r, %v : {type_}, {type_}")
    says = "is used outside the match by '%v = linalg.exp'"
    refused(module, "own", "R4 escape", "%e", says, own=session(own_recipe(kind)))


# R5: paths


@every_kind
def test_r5_an_argument_may_be_computed_beside_the_match(kind: Kind) -> None:
    """Of what the match reads too: no path leaves the match."""
    beside = product("%u", "%y") if kind == "matrix" else f"%u = math.tanh %x : {TYPE[kind]}"
    fuses(own(kind, beside, y="%u"), ("own", OWN_SIZE[kind]), own=session(own_recipe(kind)))


@every_kind
def test_r5_an_argument_is_no_inner_value(kind: Kind) -> None:
    """e - e."""
    says = "an argument of the match is one of its own inner values"
    refused(own(kind, y="%e"), "own", "R5 argument-inside", "%e", says, own=session(own_recipe(kind)))


@every_kind
def test_r5_no_path_leaves_the_match_and_comes_back(kind: Kind) -> None:
    """e - tanh(e): what leaves is named, as by R4."""
    module = own(kind, f"%u = math.tanh %e : {TYPE[kind]}", y="%u")
    refused(module, "own", "R4 escape", "%e", "outside the match by '%u = math.tanh'", own=session(own_recipe(kind)))


# R7: overlapping matches


@every_kind
def test_r7_adjacent_matches_all_apply(kind: Kind) -> None:
    """The recipe on its own result."""
    ops = fuses(main(kind, *twice(kind), f"return %r2 : {TYPE[kind]}"), RECIPES[kind], RECIPES[kind])
    first, second = (op for op in ops if isinstance(op, FusedOp))
    assert first.outputs[0] in second.inputs


@every_kind
@pytest.mark.parametrize("order", ["part own", "own part"])
def test_r7_the_smaller_of_two_overlapping_matches_loses(kind: Kind, order: str) -> None:
    """Whatever the order of the recipes; the loss is said, and it wins where nothing is in its way."""
    texts = {"part": own_recipe(kind, "part"), "own": own_recipe(kind)}
    both = session(*(texts[name] for name in order.split()))
    seen = both.match(own(kind), "numpy")
    (match,), (loss,) = seen.chosen, seen.lost
    assert (match.recipe.name, loss.match.recipe.name, loss.to) == ("own", "part", match)
    assert name_of(loss.match.root) == "%e"
    lost = list(explanation(seen))[1]
    assert lost.startswith("@part lost (R7 overlap) at '%e = ")
    assert lost.endswith(f"@own at '%r = arith.subf' (line {line_of(own(kind), '%r')}) covers more ops")
    fuses(own(kind), ("own", OWN_SIZE[kind]), own=both)
    again = own_lines(kind, y="%x" if kind == "row" else "%q")[:-1]
    text = "\n".join(again).replace("%x", "%y").replace("%e", "%v").replace("%top", "%last")
    module = main(kind, *own_lines(kind), text, f"return %r, %v : {TYPE[kind]}, {TYPE[kind]}")
    fuses(module, ("own", OWN_SIZE[kind]), ("part", OWN_SIZE[kind] - 1), own=both)


# R8: where the fused op goes


@every_kind
def test_r8_the_fused_op_goes_where_its_last_result_was(kind: Kind) -> None:
    """Behind the op that computes an argument between the matched ones."""
    ops = fuses(
        own(kind, f"%k = math.sin %q : {TYPE[kind]}", y="%k"), ("own", OWN_SIZE[kind]), own=session(own_recipe(kind))
    )
    assert [op.name for op in ops if op.operands] == ["math.sin", "xfuse.fused", "func.return"]


def pair(kind: Kind, *between: str, y: str = "%q") -> ModuleOp:
    """Both e and e - y are used."""
    return main(kind, *own_lines(kind, *between, y=y), f"return %r, %e, %v : {', '.join([TYPE[kind]] * 3)}")


@every_kind
def test_r8_or_before_the_first_user_of_another_result(kind: Kind) -> None:
    """If what it reads is there."""
    ops = fuses(
        pair(kind, f"%v = math.sin %e : {TYPE[kind]}"), ("pair", OWN_SIZE[kind]), own=session(own_recipe(kind, "pair"))
    )
    assert [op.name for op in ops if op.operands] == ["xfuse.fused", "math.sin", "func.return"]


@every_kind
def test_r8_no_place_is_right_if_an_argument_is_made_of_a_result(kind: Kind) -> None:
    """The op at fault is the one that reads the first result."""
    module = pair(kind, f"%v = math.sin %e : {TYPE[kind]}", y="%v")
    says = "a result of the match is used before its last result can be computed"
    refused(module, "pair", "R8 order", "%v", says, own=session(own_recipe(kind, "pair")))


# R9: dead ops


@every_kind
def test_r9_dead_ops_do_not_block(kind: Kind) -> None:
    """Unrelated ones stay where they are; one that reads an inner value goes along, and comes back."""
    type_ = TYPE[kind]
    unrelated = (f"%f = math.sin %q : {type_}", f"%g = math.cos %f : {type_}", f"%h = math.cos %r : {type_}")
    name, count = RECIPES[kind]
    ops = fuses(whole(kind, *unrelated, f"%i = math.tanh %s : {type_}"), (name, count + 1))
    assert [name_of(op) for op in ops if op.name.startswith("math.")] == ["%f", "%g", "%h"]


@every_kind
def test_r9_a_dead_op_that_needs_more_than_the_match_has_blocks(kind: Kind) -> None:
    """Taken along it would need an operand that the recipe has not: it counts as any other reader does (R4)."""
    module = whole(kind, f"%g = arith.mulf %s, %q : {TYPE[kind]}")
    refused(module, RECIPES[kind][0], "R4 escape", "%s", "is used outside the match by '%g = arith.mulf'")


def chosen(kind: Kind, other: str) -> ModuleOp:
    """The last op of the recipe is chosen by a literal condition; something else stands in the other branch."""
    type_ = TYPE[kind]
    branch = f"""%true = arith.constant true
    %r = scf.if %true -> ({type_}) {{
      {PROGRAMS[kind][-1].replace("%r", "%m")}
      scf.yield %m : {type_}
    }} else {{
      {other} : ({type_}) -> {type_}
      scf.yield %n : {type_}
    }}"""
    return main(kind, *PROGRAMS[kind][:-1], branch, f"return %r : {type_}", declared=f"@f({type_}) -> {type_}")


@every_kind
def test_r9_an_op_that_may_have_an_effect_is_not_taken(kind: Kind) -> None:
    """It carries the value and must stay; one without is taken whole, though the other branch never runs."""
    module = chosen(kind, "%n = func.call @f(%q)")
    refused(module, RECIPES[kind][0], "R9 effect", "%r", "the op is not provably pure")
    inner = {"point": "%x", "row": "%s", "matrix": "%b"}[kind]
    name, count = RECIPES[kind]
    fuses(chosen(kind, f'%n = "math.tanh"({inner})'), (name, count))


# R10: refusals are values


@every_kind
def test_r10_a_match_is_data(kind: Kind) -> None:
    """Looking changes nothing, and of what matches nothing is refused."""
    module = whole(kind)
    before = str(module)
    name, count = RECIPES[kind]
    seen = alone(name).match(module, "numpy")
    assert str(module) == before
    (match,) = seen.chosen
    assert (match.recipe.name, match.backend, name_of(match.root), len(match.ops)) == (name, "numpy", "%r", count)
    assert (seen.refusals, seen.lost) == ([], [])
    (line,) = explanation(seen)
    assert line.startswith(f"fused @{name} on numpy at '%r = ")


@every_kind
def test_r10_a_refusal_is_data(kind: Kind) -> None:
    """The recipe, the rule and its reason, the ops, how far it got, and all of it in a line."""
    changed, wanted, size = {
        "point": ("%s = arith.mulf %x, %y : !v", "arith.addf", 2),
        "row": ("%s = math.exp2 %d : !m", "math.exp", 5),
        "matrix": ("%s = arith.mulf %p, %b : !t", "arith.addf", 4),
    }[kind]
    name, op, module = RECIPES[kind][0], changed.split()[2], whole(kind, s=changed)
    line = line_of(module, "%s")
    given = f"'%s = {op}' (line {line})"
    refusal = refused(module, name, "R6 mismatch", "%s", expected=f"{wanted} : f32", found=given, missing=1)
    assert (refusal.recipe, refusal.matched, refusal.size, name_of(refusal.root)) == (name, size - 1, size, "%r")
    (spelled,) = explanation(alone(name).match(module, "numpy"))
    assert spelled == str(refusal)
    assert spelled == (
        f"@{name} refused (R6 mismatch) at '%s = {op}' (main.mlir:{line}:1): expected {wanted} : f32, found {given}; "
        f"{size - 1} of the recipe's {size} ops match"
    )


@every_kind
def test_r10_a_value_of_another_block_is_said_to_be_one(kind: Kind) -> None:
    """A match lies in one block; the same op in an enclosing one is none of it."""
    type_ = TYPE[kind]
    last = PROGRAMS[kind][-1].replace("%r", "%m")
    branch = f"%r = scf.if %if -> ({type_}) {{\n{last}\nscf.yield %m : {type_}\n}} else {{\nscf.yield %q : {type_}\n}}"
    module = main(kind, *PROGRAMS[kind][:-1], branch, f"return %r : {type_}")
    op, lost = {"point": ("arith.addf", 1), "row": ("math.exp", 4), "matrix": ("arith.addf", 3)}[kind]
    given = f"'%s = {op}' (line {line_of(module, '%s')}), which stands outside this block"
    name = RECIPES[kind][0]
    refused(module, name, "R6 mismatch", "%s", expected=f"{op} : f32", found=given, missing=lost)


# R11: whole ops, bodies

RELU_BODY = ("%a = arith.addf %i0, %i1 : f32", "%k = arith.constant 0.0 : f32", "%c = arith.maximumf %a, %k : f32")


@every_kind
def test_r11_ops_are_taken_whole(kind: Kind) -> None:
    """Generics whose bodies hold several ops of the recipe."""
    relu = body("%r", "%p %b" if kind == "matrix" else "%x %y", *RELU_BODY, "%c", type=TYPE[kind])
    exponential = body("%s", "%x %tops", "%d = arith.subf %i0, %i1 : f32", "%c = math.exp %d : f32", "%c")
    made, count = {
        "point": ([relu], 1),
        "row": ([*PROGRAMS["row"][:2], exponential, *PROGRAMS["row"][4:]], 6),
        "matrix": ([contraction("%p", "%x, %w", "#ik, #kj", "!m, !w", "!t"), relu], 2),
    }[kind]
    fuses(main(kind, *made, f"return %r : {TYPE[kind]}"), (RECIPES[kind][0], count))


@every_kind
def test_r11_an_op_that_computes_something_else_too_is_not_taken(kind: Kind) -> None:
    """A generic of two results, the second of %q."""
    name, maps, kinds, operands, out, type_, first, second = {
        "point": ("s", "#v, #v, #v, #v, #v", "p", "%x, %y, %q : !v, !v, !v", "%none", "!v", "%i0, %i1", "%i0, %i2"),
        "row": ("sum", "#m, #m, #m, #c, #c", "p r", "%s, %s, %q : !m, !m, !m", "%zero", "!c", "%o0, %i0", "%o1, %i2"),
        "matrix": (
            "p",
            "#ik, #kj, #ij, #ij, #ij",
            "p p r",
            "%x, %w, %q : !m, !w, !t",
            "%zero",
            "!t",
            "%m, %o0",
            "%o1, %i2",
        ),
    }[kind]
    iterators = ", ".join({"p": '"parallel"', "r": '"reduction"'}[letter] for letter in kinds.split())
    generic = f"""%{name}, %t = linalg.generic {{indexing_maps = [{maps}], iterator_types = [{iterators}]}}
        ins({operands}) outs({out}, {out} : {type_}, {type_}) {{
    ^bb0(%i0: f32, %i1: f32, %i2: f32, %o0: f32, %o1: f32):
      %m = arith.mulf %i0, %i1 : f32
      %f = arith.addf {first} : f32
      %g = arith.addf {second} : f32
      linalg.yield %f, %g : f32, f32
    }} -> ({type_}, {type_})"""
    says = "the op also computes with a value that is no part of the recipe"
    refused(whole(kind, **{name: generic}), RECIPES[kind][0], "R11 outside-recipe", f"%{name}", says)


@pytest.mark.parametrize("is_read", [False, True])
@every_kind
def test_r11_an_argument_is_read_through_a_view_of_it(kind: Kind, is_read: bool) -> None:
    """Of a number for each column; the view goes along unless something else reads it."""
    cells = {"point": "tensor<f32>", "row": "tensor<5xf32>", "matrix": "!v"}[kind]
    type_ = TYPE[kind]
    spread = f"%u = linalg.broadcast ins(%n : {cells}) outs(%none : {type_}) dimensions = [0]"
    arguments = {"point": "%x: !v", "row": "%x: !m", "matrix": "%x: !m, %w: !w"}[kind] + f", %n: {cells}"
    end = f"return %r, %u : {type_}, {type_}" if is_read else f"return %r : {type_}"
    module = main(kind, *own_lines(kind, spread, y="%u"), end, arguments=arguments)
    fuses(module, ("own", OWN_SIZE[kind] + (not is_read)), own=session(own_recipe(kind)))


@every_kind
def test_r11_what_an_op_writes_into_is_no_use(kind: Kind) -> None:
    """The last op of the recipe writes into an inner value, which is another thing than reading it."""
    type_ = TYPE[kind]
    last = f"%r = linalg.sub ins(%e, %q : {type_}, {type_}) outs(%e : {type_}) -> {type_}"
    module = main(kind, *own_lines(kind)[:-1], last, f"return %r : {type_}")
    fuses(module, ("own", OWN_SIZE[kind]), own=session(own_recipe(kind)))


@every_kind
def test_r11_within_a_body_scalars_are_fused(kind: Kind) -> None:
    """In the body of an element-wise op, of a sum of rows, and of a product of matrices.

    The recipe is element-wise for all three: a body computes with scalars, so rows and products have no place in it.
    """
    maps, kinds, operands = {
        "point": ("#v, #v, #v", '"parallel"', "ins(%x, %y : !v, !v) outs(%zero : !v)"),
        "row": ("#m, #m, #c", '"parallel", "reduction"', "ins(%x, %y : !m, !m) outs(%zero : !c)"),
        "matrix": ("#ik, #kj, #ij", '"parallel", "parallel", "reduction"', "ins(%x, %w : !m, !w) outs(%zero : !t)"),
    }[kind]
    end = "%t = math.exp %c : f32" if kind == "point" else "%t = arith.addf %c, %o : f32"
    generic = f"""%r = linalg.generic {{indexing_maps = [{maps}], iterator_types = [{kinds}]}} {operands} {{
    ^bb0(%i0: f32, %i1: f32, %o: f32):
      {" ".join(RELU_BODY)}
      {end}
      linalg.yield %t : f32
    }} -> {ZERO[kind]}"""
    ops = fuses(main(kind, generic, f"return %r : {ZERO[kind]}"), ("add_relu", 2))
    (holder,) = (op for op in ops if op.name == "linalg.generic")
    assert [type(op) for op in holder.walk()].count(FusedOp) == 1


@every_kind
def test_r11_across_the_border_of_a_body_there_is_no_match(kind: Kind) -> None:
    """The last op of the recipe stands in one body with a reader of it. The refusal says what helps, and it does."""
    operands, *made = {
        "point": ("%s", RELU_BODY[1], "%c = arith.maximumf %i0, %k : f32"),
        "row": ("%s %sums", "%c = arith.divf %i0, %i1 : f32"),
        "matrix": ("%s", RELU_BODY[1], "%c = arith.maximumf %i0, %k : f32"),
    }[kind]
    last = body("%r", operands, *made, "%t = math.exp %c : f32", "%t", type=TYPE[kind])
    module = main(kind, *PROGRAMS[kind][:-1], last, f"return %r : {TYPE[kind]}")
    name, count = RECIPES[kind]
    says = "an inner value of the recipe comes from outside this body; split=true or xfuse-normalize takes it apart"
    refused(module, name, "R11 inside-body", "%c", says)
    normalize(module)
    fuses(module, (name, count), own=alone(name))
