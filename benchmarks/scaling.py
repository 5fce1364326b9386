"""Law L9: all that is done to a program is linear in its ops. Parse, verify and print are left out."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from measuring import Table, once
from mixed_program import mixed
from xdsl.dialects.builtin import ModuleOp

import xfuse
from xfuse.canonical.build import GraphBuilder
from xfuse.session import Session

TYPE = "tensor<8xf32>"
STEPS = ("build", "identity", "outline", "fuse", "fuse again", "compile", "run", "decompose")


def function(lines: Sequence[str], result: str, type_: str = TYPE) -> str:
    """The text of a function of two tensors."""
    body = "\n".join(lines)
    return f"func.func @main(%x0: {type_}, %y: {type_}) -> {type_} {{\n{body}\nreturn {result} : {type_}\n}}"


def chain(ops: int) -> str:
    """max(x + y, 0) again and again: half as many matches of add_relu as ops."""
    lines = [f"%c = arith.constant dense<0.0> : {TYPE}"]
    for n in range(ops // 2):
        lines.append(f"%a{n} = arith.addf %x{n}, %y : {TYPE}")
        lines.append(f"%x{n + 1} = arith.maximumf %a{n}, %c : {TYPE}")
    return function(lines, f"%x{ops // 2}")


def diamond(depth: int) -> str:
    """t + t, again and again: as a tree it would have 2 ** depth leaves."""
    lines = [f"%x{n + 1} = arith.addf %x{n}, %x{n} : {TYPE}" for n in range(depth)]
    return function([*lines, f"%r = arith.maximumf %x{depth}, %y : {TYPE}"], "%r")


def long_recipe(ops: int) -> tuple[str, str]:
    """A recipe of that many ops, and a program that is one instance of it."""

    def lines(type_: str) -> list[str]:
        each = ("%x{b} = arith.addf %x{a}, %y : {t}", "%x{b} = math.exp %x{a} : {t}")
        return [each[n % 2].format(a=n, b=n + 1, t=type_) for n in range(ops)]

    body = "\n".join(lines("f32"))
    recipe = f"xfuse.recipe @long(%x0: f32, %y: f32) -> f32 {{\n{body}\nxfuse.yield %x{ops} : f32\n}}"
    return recipe, function(lines(TYPE), f"%x{ops}")


def measure(text: str, session: Session, repeats: int) -> tuple[int, list[float]]:
    """Ops of a program, and seconds of each step."""
    module = xfuse.parse_module(text)
    main = next(op for op in module.walk() if op.name == "func.func")
    ops = sum(1 for _ in main.body.block.ops)
    samples: list[list[float]] = []
    for _ in range(repeats):
        samples.append(_steps(module.clone(), session))
    return ops, [statistics.median(column) for column in zip(*samples, strict=True)]


def _steps(module: ModuleOp, session: Session) -> list[float]:
    main = next(op for op in module.walk() if op.name == "func.func")
    shape = main.body.block.args[0].type.get_shape()
    x = np.full(shape, -1.0, np.float32)

    def build() -> None:
        builder = GraphBuilder()
        for argument in main.body.block.args:
            builder.argument(argument)
        builder.block(main.body.block)

    plain = module.clone()
    programs: list[Callable[..., Any]] = []
    steps: dict[str, Callable[[], Any]] = {
        "build": build,
        "identity": lambda: xfuse.identity(main),
        "outline": lambda: Session(library=False).outline(plain),
        "fuse": lambda: xfuse.fuse(module),
        "fuse again": lambda: xfuse.fuse(module),
        "compile": lambda: programs.append(xfuse.compile(module, backend="numpy")),
        "run": lambda: programs[0](x, x),
        "decompose": lambda: xfuse.decompose_all(module),
    }
    with session:
        return [once(steps[step])[0] for step in STEPS]


def section() -> list[Table]:
    """Microseconds per op of each step, and the growth from each chain to the next, 1 if linear."""
    session = Session()
    session.registry.entries()
    measure(chain(20), session, 1)
    rows: list[tuple[Any, ...]] = []
    columns: list[list[float]] = []
    for ops in (1_000, 10_000, 100_000):
        count, taken = measure(chain(ops), session, 3 if ops <= 10_000 else 1)
        columns.append([seconds / count * 1e6 for seconds in taken])
        rows.append((f"chain of {ops} ops", *columns[-1]))
    for name, smaller, larger in zip(("1k to 10k", "10k to 100k"), columns, columns[1:], strict=False):
        rows.append((f"growth per op, {name}", *(b / a for a, b in zip(smaller, larger, strict=True))))
    for ops in (10_000, 100_000):
        count, taken = measure(mixed(ops), session, 3 if ops <= 10_000 else 1)
        rows.append((f"ten recipes, {count} ops", *(seconds / count * 1e6 for seconds in taken)))
    count, taken = measure(diamond(64), session, 3)
    rows.append(("diamond, 64 deep", *(seconds / count * 1e6 for seconds in taken)))
    recipe, program = long_recipe(5_000)
    own = Session(library=False)
    own.register(recipe)
    count, taken = measure(program, own, 1)
    rows.append(("one recipe of 5000 ops", *(seconds / count * 1e6 for seconds in taken)))
    return [Table("scaling, us per op", ("program", *STEPS), rows)]
