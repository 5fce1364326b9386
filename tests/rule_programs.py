"""Programs of three kinds in which the matching rules are tried: element-wise, along rows, and products of matrices.

Each kind has a program that is one shipped recipe, and one that is a recipe of the tests' own; what is tried on them
mostly differs in one line.
"""

from __future__ import annotations

import re
from functools import cache
from typing import Any, Literal

import numpy as np
from random_programs import evaluate, order_problem
from support import context
from xdsl.dialects.builtin import ModuleOp, TensorType
from xdsl.dialects.func import FuncOp
from xdsl.ir import Operation

import xfuse
from xfuse.decomposition import decompose_all
from xfuse.explanation import ops_at
from xfuse.fusion import fuse
from xfuse.locations import source_line
from xfuse.match.escapes import Escape
from xfuse.match.refusal import Refusal
from xfuse.parser import parse_module
from xfuse.session import Session
from xfuse.testing import program_difference

Kind = Literal["point", "row", "matrix"]
KINDS: tuple[Kind, ...] = ("point", "row", "matrix")

ALIASES = """!v = tensor<4xf32>
!m = tensor<3x5xf32>
!c = tensor<3xf32>
!w = tensor<5x4xf32>
!t = tensor<3x4xf32>
!s = tensor<3x3xf32>
!row = tensor<?xf32>
!cell = tensor<f32>
#v = affine_map<(i) -> (i)>
#m = affine_map<(i, j) -> (i, j)>
#c = affine_map<(i, j) -> (i)>
#ik = affine_map<(i, j, k) -> (i, k)>
#kj = affine_map<(i, j, k) -> (k, j)>
#jk = affine_map<(i, j, k) -> (j, k)>
#ij = affine_map<(i, j, k) -> (i, j)>
"""
ARGUMENTS: dict[Kind, str] = {
    "point": "%x: !v, %y: !v, %q: !v, %if: i1",
    "row": "%x: !m, %y: !m, %q: !m, %if: i1",
    "matrix": "%x: !m, %w: !w, %b: !t, %y: !m, %q: !t, %if: i1",
}
CONSTANTS: dict[Kind, str] = {
    "point": "%zero = arith.constant dense<0.0> : !v %none = tensor.empty() : !v",
    "row": "%zero = arith.constant dense<0.0> : !c %low = arith.constant dense<0xFF800000> : !c "
    "%none = tensor.empty() : !m",
    "matrix": "%zero = arith.constant dense<0.0> : !t %none = tensor.empty() : !t",
}
TYPE: dict[Kind, str] = {"point": "!v", "row": "!m", "matrix": "!t"}
"""The type of the result."""
ZERO: dict[Kind, str] = {"point": "!v", "row": "!c", "matrix": "!t"}
"""The type of %zero."""


def along(result: str, kind: str, operand: str, start: str, types: str = "!m !c", axis: int = 1) -> str:
    """A tensor reduced along an axis."""
    whole, less = types.split()
    return f"""{result} = linalg.reduce ins({operand} : {whole}) outs({start} : {less}) dimensions = [{axis}]
        (%item: f32, %sofar: f32) {{
      %next = arith.{kind} %sofar, %item : f32
      linalg.yield %next : f32
    }}"""


def spread(result: str, operand: str, types: str = "!c !m", axis: int = 1, like: str = "%none") -> str:
    """A tensor repeated along a further axis."""
    less, whole = types.split()
    return f"{result} = linalg.broadcast ins({operand} : {less}) outs({like} : {whole}) dimensions = [{axis}]"


def product(result: str, left: str = "%x", right: str = "%w", start: str = "%zero") -> str:
    """A product of matrices."""
    return f"{result} = linalg.matmul ins({left}, {right} : !m, !w) outs({start} : !t) -> !t"


def contraction(result: str, operands: str, maps: str, types: str, type: str, start: str = "%zero") -> str:
    """A sum of products, written as a generic."""
    return f"""{result} = linalg.generic {{indexing_maps = [{maps}, #ij],
        iterator_types = ["parallel", "parallel", "reduction"]}}
        ins({operands} : {types}) outs({start} : {type}) {{
    ^bb0(%i0: f32, %i1: f32, %o: f32):
      %m = arith.mulf %i0, %i1 : f32
      %a = arith.addf %m, %o : f32
      linalg.yield %a : f32
    }} -> {type}"""


def body(result: str, operands: str, *lines: str, type: str = "!m", like: str = "%none") -> str:
    """A generic of operands of one type; its body reads %i0, %i1 … and its last line names what it yields."""
    names = operands.split()
    map_ = "#v" if type in ("!v", "!row") else "#m"
    kinds = '"parallel"' if map_ == "#v" else '"parallel", "parallel"'
    arguments = "".join(f"%i{number}: f32, " for number in range(len(names)))
    return f"""{result} = linalg.generic {{indexing_maps = [{", ".join([map_] * (len(names) + 1))}],
        iterator_types = [{kinds}]}}
        ins({", ".join(names)} : {", ".join([type] * len(names))}) outs({like} : {type}) {{
    ^bb0({arguments}%o: f32):
      {" ".join(lines[:-1])}
      linalg.yield {lines[-1]} : f32
    }} -> {type}"""


PROGRAMS: dict[Kind, tuple[str, ...]] = {
    "point": ("%s = arith.addf %x, %y : !v", "%r = arith.maximumf %s, %zero : !v"),
    "row": (
        along("%top", "maximumf", "%x", "%low"),
        spread("%tops", "%top"),
        "%d = arith.subf %x, %tops : !m",
        "%s = math.exp %d : !m",
        along("%sum", "addf", "%s", "%zero"),
        spread("%sums", "%sum"),
        "%r = arith.divf %s, %sums : !m",
    ),
    "matrix": (product("%p"), "%s = arith.addf %p, %b : !t", "%r = arith.maximumf %s, %zero : !t"),
}
"""What each kind is tried on: %r is the result, %s an inner value."""
RECIPES: dict[Kind, tuple[str, int]] = {
    "point": ("add_relu", 2),
    "row": ("softmax", 7),
    "matrix": ("fused_linear_relu", 3),
}
"""The shipped recipe that each of them is, and the number of its ops."""


def lines(kind: Kind, **changed: str) -> list[str]:
    """The program of a kind, some lines replaced, each named by its result."""
    found = {name_in(line): line for line in PROGRAMS[kind]}
    assert found.keys() >= changed.keys()
    return list((found | changed).values())


def twice(kind: Kind) -> list[str]:
    """The program of a kind, and again on its result; the end is %r2."""
    names = [name_in(line) for line in PROGRAMS[kind]]
    again = "\n".join(PROGRAMS[kind]).replace("%x", "%y" if kind == "matrix" else "%r1").replace("%b", "%r1")
    for name in names:
        again = re.sub(rf"%{name}\b", f"%{name}2", again)
    return [*lines(kind, r=PROGRAMS[kind][-1].replace("%r", "%r1")), again]


def whole(kind: Kind, *more: str, **changed: str) -> ModuleOp:
    """The program of a kind as a function, lines replaced and lines put behind."""
    return main(kind, *lines(kind, **changed), *more, f"return %r : {TYPE[kind]}")


def main(kind: Kind, *lines: str, arguments: str = "", declared: str = "") -> ModuleOp:
    """A function of the arguments of a kind; the last line returns."""
    results = lines[-1].rsplit(":", 1)[1]
    text = "\n".join((CONSTANTS[kind], *lines))
    before = ALIASES + (f"func.func private {declared}\n" if declared else "")
    function = f"func.func @main({arguments or ARGUMENTS[kind]}) -> ({results}) {{\n{text}\n}}"
    return parse_module(before + function, "main.mlir", context())


def recipe(name: str, arguments: str, *lines: str) -> str:
    """A recipe at f32 over scalars and rows; the last line yields."""
    results = lines[-1].rsplit(":", 1)[1]
    constants = "%zero = arith.constant dense<0.0> : !cell %low = arith.constant dense<0xFF800000> : !cell"
    text = "\n".join((constants, *lines))
    return f"{ALIASES}xfuse.recipe @{name}({arguments}) -> ({results}) {{\n{text}\n}}"


def in_row(result: str, kind: str, operand: str, start: str) -> str:
    """A row reduced, in a recipe."""
    return along(result, kind, operand, start, "!row !cell", 0)


_OWN_RECIPES: dict[Kind, tuple[str, ...]] = {
    "point": ("f32", "%x: f32", "%y: f32", "%e = math.exp %x : f32"),
    "row": (
        "!row",
        "%x: !row",
        "%y: !row",
        in_row("%top", "maximumf", "%x", "%low"),
        spread("%tops", "%top", "!cell !row", 0, "%x"),
        "%e = arith.subf %x, %tops : !row",
    ),
    "matrix": (
        "!cell",
        "%x: !row, %w: !row",
        "%y: !cell",
        "%m = arith.mulf %x, %w : !row",
        in_row("%e", "addf", "%m", "%zero"),
    ),
}
"""The type of the results, arguments, the last argument, and ops up to %e: exp(x), x - max(x), x w."""


def own_recipe(kind: Kind, name: Literal["own", "part", "pair"] = "own") -> str:
    """e - y, where e is exp(x), x - max(x), or x w. A part is e alone, a pair both."""
    type_, arguments, last, *made = _OWN_RECIPES[kind]
    if name == "part":
        return recipe(name, arguments, *made, f"xfuse.yield %e : {type_}")
    end = f"xfuse.yield %r : {type_}" if name == "own" else f"xfuse.yield %e, %r : {type_}, {type_}"
    return recipe(name, f"{arguments}, {last}", *made, f"%r = arith.subf %e, %y : {type_}", end)


def own_lines(kind: Kind, *between: str, y: str = "%q") -> list[str]:
    """The program of the own recipe, with something between its last two ops."""
    made = {"point": ["%e = math.exp %x : !v"], "row": [*PROGRAMS["row"][:2], "%e = arith.subf %x, %tops : !m"]}
    return [*made.get(kind, [product("%e")]), *between, f"%r = arith.subf %e, {y} : {TYPE[kind]}"]


OWN_SIZE: dict[Kind, int] = {"point": 2, "row": 4, "matrix": 2}
"""The number of its ops."""


def session(*recipes: str) -> Session:
    """A session with some recipes and nothing else."""
    made = Session(library=False)
    for text in recipes:
        made.register(text)
    return made


def fuses(
    module: ModuleOp, *wanted: tuple[str, int], own: Session | None = None, escape: Escape = "refuse"
) -> list[Operation]:
    """The ops of @main after fusing: what was found is what was wanted, by name and number of ops.

    The result is in order (L8) and final (L7), gives the same numbers (L3), and comes back (L2).
    """
    own = own or shipped()
    original = module.clone()
    recipes, gate = own.registry.entries(), own.gate("numpy")
    rounds = fuse(module, recipes, gate, escape=escape)
    chosen = [match for each in rounds for match in each.chosen]
    names = sorted((match.recipe.name, len(match.ops)) for match in chosen)
    assert names == sorted(wanted), names
    module.verify()
    assert order_problem(module) is None
    text = str(module)
    assert not any(each.chosen for each in fuse(module, recipes, gate, escape=escape))
    assert str(module) == text
    if len(function_of(module).body.blocks) == 1:
        check_numbers(original, module, own)
    back = module.clone()
    decompose_all(back)
    assert order_problem(back) is None
    assert program_difference(original, back) is None
    return list(function_of(module).body.blocks[0].ops)


def check_numbers(plain: ModuleOp, fused: ModuleOp, own: Session) -> None:
    """Both compute the same, and every fused op runs as a kernel."""
    rng = np.random.default_rng(0)
    arrays: list[Any] = []
    for type_ in function_of(plain).function_type.inputs:
        shape = type_.get_shape() if isinstance(type_, TensorType) else None
        arrays.append(np.bool_(True) if shape is None else rng.standard_normal(shape).astype(np.float32))
    run = xfuse.compile(fused.clone(), backend="numpy", session=own)
    assert not run.inlined
    given: Any = run(*arrays)
    results = evaluate(plain, arrays)
    for wanted, result in zip(results, given if len(results) > 1 else [given], strict=True):
        assert np.allclose(wanted, result, rtol=1e-5, atol=1e-6)


def refused(
    module: ModuleOp,
    name: str,
    why: str,
    at: str,
    *says: str,
    own: Session | None = None,
    expected: str = "",
    found: str = "",
    missing: int = 0,
) -> Refusal:
    """The refusal of a recipe that got furthest. Fusing changes nothing.

    It says ``why`` by rule and reason, the op at fault by its result, and how many of the recipe's ops are missing.
    """
    own = own or alone(name)
    seen = own.match(module, "numpy")
    assert not seen.chosen, seen.chosen
    # Of those that got as far the one that ends last.
    refusal = max((each for each in reversed(seen.refusals) if each.recipe == name), key=lambda each: each.matched)
    assert f"{refusal.rule} {refusal.reason}" == why, str(refusal)
    assert name_of(refusal.op or refusal.root) == at, str(refusal)
    assert (refusal.expected, refusal.found) == (expected, found), str(refusal)
    assert refusal.size - refusal.matched == missing, str(refusal)
    for part in (expected, found, *says):
        assert part in refusal.message, refusal.message
    before = str(module)
    assert not any(each.chosen for each in fuse(module, own.registry.entries(), own.gate("numpy")))
    assert str(module) == before
    return refusal


@cache
def shipped() -> Session:
    return Session()


@cache
def alone(*names: str) -> Session:
    """A session with some shipped recipes and nothing else."""
    made = Session(library=False)
    for name in names:
        made.register(shipped().recipe(name))
    return made


def function_of(module: ModuleOp) -> FuncOp:
    return next(op for op in module.walk() if isinstance(op, FuncOp) and op.sym_name.data == "main")


def name_in(line: str) -> str:
    """The name of the result of a line of a program, without its %."""
    return line.split(" ", 1)[0][1:]


def name_of(op: Operation | None) -> str:
    """An op as the program spells its first result, else its own name."""
    if op is None:
        return ""
    return f"%{op.results[0].name_hint}" if op.results else op.name


def line_of(module: ModuleOp, name: str) -> str:
    """The line of a program that gives a result."""
    (op,) = ops_at(module, name)
    place = source_line(op)
    assert place is not None
    return place.rsplit(":", 2)[1]
