"""Random programs as MLIR text: element-wise ops in mixed spellings, with recipes of the library planted in them.

Everything is drawn from one `random.Random`, so a program is a function of a seed, or of hypothesis's `randoms`.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache
from typing import Any, NamedTuple

import numpy as np
from xdsl.dialects import arith, func, math
from xdsl.dialects.builtin import FloatAttr, IntegerAttr, ModuleOp
from xdsl.ir import Operation

from xfuse.backends.numpy.source import Writer
from xfuse.canonical.build import GraphBuilder, element_name
from xfuse.library import library_files
from xfuse.parser import default_context, load_module
from xfuse.primitives import literals
from xfuse.primitives.element_types import FLOATS, is_float, is_integer, numpy_dtype, width
from xfuse.primitives.table import PRIMITIVES
from xfuse.recipes import Recipe, recipes_of

PROPERTIES: Mapping[str, frozenset[str]] = {
    op.name: frozenset(op.get_irdl_definition().properties)
    for dialect in (arith.Arith, math.Math)
    for op in dialect.operations
}
"""Names of the properties of every scalar op."""

NAMED = {
    "arith.addf": "add",
    "arith.addi": "add",
    "arith.subf": "sub",
    "arith.subi": "sub",
    "arith.mulf": "mul",
    "arith.muli": "mul",
    "arith.maximumf": "max",
    "arith.minimumf": "min",
    "math.exp": "exp",
    "math.log": "log",
    "math.sqrt": "sqrt",
}
"""Scalar op and the named linalg op that applies it at every point."""

UNIT = "one"
"""The dimension of extent one."""

Attributes = Mapping[str, str]


class Val(NamedTuple):
    """An SSA value: its name, element type and dimensions by name; a scalar has ``dims`` None."""

    name: str
    type: str
    dims: tuple[str, ...] | None


@dataclass
class Choices:
    """What a program may hold; probabilities are out of one."""

    size: tuple[int, int] = (3, 25)
    plants: float = 0.25
    control: float = 0.04
    reductions: float = 0.04
    locations: float = 0.1
    tags: float = 0.05
    flags: float = 0.15
    flavours: Sequence[str] = ("f32", "f32", "f64", "f16", "bf16", "i32", "i64", "i8")


@cache
def recipes() -> tuple[Recipe, ...]:
    """All shipped recipes that are element-wise."""
    context = default_context()
    found = (recipe for path in library_files() for recipe in recipes_of(load_module(path, context)))
    return tuple(recipe for recipe in found if recipe.is_scalar)


@cache
def small_recipes(limit: int = 16) -> tuple[Recipe, ...]:
    """Those of at most so many ops."""
    return tuple(recipe for recipe in recipes() if len(list(recipe.op.body.block.ops)) <= limit)


def is_tensor_op(kind: str) -> bool:
    """Whether xDSL takes an op on tensors: no compare, select, or cast between integer and float."""
    types = PRIMITIVES[kind].types
    return len({*types.operands, *types.results}) == 1 and types.results[0] in "FI"


@dataclass
class RandomProgram:
    """Makes one module, text and arguments.

    ``rnd`` decides what is computed, ``style`` how it is spelled; without a style of its own both are one.
    """

    rnd: random.Random
    style: random.Random | None = None
    choices: Choices = field(default_factory=Choices)
    lines: list[str] = field(default_factory=list[str])
    pool: list[Val] = field(default_factory=list[Val])
    counter: int = 0
    indent: int = 2

    def __post_init__(self) -> None:
        rnd = self.rnd
        self.how = self.style or rnd
        rank = rnd.choice((0, 1, 1, 2, 2, 3))
        self.frame = tuple("ijk"[:rank])
        self.extents = {name: rnd.choice((1, 2, 3, 4)) if rnd.random() < 0.9 else 0 for name in self.frame}
        self.dynamic = {name for name in self.frame if rnd.random() < 0.25}
        self.extents[UNIT] = 1
        self.main = rnd.choice(self.choices.flavours)
        self.empties: list[tuple[str, str]] = []
        self.sizes: dict[str, str] = {}
        self.constants: list[tuple[str, str, str]] = []
        self.planted: list[tuple[Recipe, str, list[Val]]] = []
        self.inputs: list[Val] = []
        self.results: list[Val] = []
        self.depth = 0
        self.text = self._module()

    # Text

    def fresh(self) -> str:
        self.counter += 1
        return f"%v{self.counter}"

    def line(self, text: str) -> None:
        where = ""
        if self.how.random() < self.choices.locations and "{" not in text[-2:]:
            where = f' loc("place {self.how.randrange(4)}")'
        self.lines.append(" " * self.indent + text + where)

    def extent_text(self, dim: str) -> str:
        return "?" if dim in self.dynamic else str(self.extents[dim])

    def spell(self, type_: str, dims: tuple[str, ...] | None) -> str:
        if dims is None:
            return type_
        return f"tensor<{''.join(f'{self.extent_text(d)}x' for d in dims)}{type_}>"

    def type_of(self, value: Val) -> str:
        return self.spell(value.type, value.dims)

    @contextmanager
    def nested(self) -> Iterator[None]:
        """Values, empty tensors and constants made inside are unknown outside."""
        saved = list(self.pool), list(self.empties), dict(self.sizes), list(self.constants), list(self.planted)
        self.indent += 2
        self.depth += 1
        yield
        self.depth -= 1
        self.indent -= 2
        self.pool, self.empties, self.sizes, self.constants, self.planted = saved

    # Literals

    def literal(self, type_: str) -> str:
        rnd = self.rnd
        if is_float(type_):
            value = rnd.choice((0.0, -0.0, 1.0, -1.0, 0.5, 2.0, 3.0, 1e-5, float("inf"), float("-inf"), float("nan")))
            if rnd.random() < 0.2:
                value = rnd.choice((0.1, 0.3, 1.1, 6.0, 0.044715, 20.0))
            return self.float_literal(value, type_)
        if type_ == "i1":
            return rnd.choice(("true", "false"))
        top = 1 << (width(type_) - 1)
        return str(rnd.choice((0, 1, -1, 2, 3, 7, width(type_) - 1, width(type_), top - 1, -top)))

    @staticmethod
    def float_literal(value: float, type_: str) -> str:
        digits = {"f16": 4, "bf16": 4, "f32": 8, "f64": 16}[type_]
        return f"0x{literals.to_bits(value, type_):0{digits}X}"

    def constant(self, type_: str, text: str | None = None) -> Val:
        """A scalar constant, an old one where there is an equal one half of the time."""
        text = self.literal(type_) if text is None else text
        for name, known, spelled in self.constants:
            if (known, spelled) == (type_, text) and self.how.random() < 0.5:
                return Val(name, type_, None)
        name = self.fresh()
        shown = text if type_ == "i1" else f"{text} : {type_}"
        self.line(f"{name} = arith.constant {shown}")
        self.constants.append((name, type_, text))
        return Val(name, type_, None)

    def splat(self, type_: str, dims: tuple[str, ...], text: str | None = None) -> Val:
        """A tensor of one literal in one of its spellings."""
        text = self.literal(type_) if text is None else text
        empty = any(self.extents[d] == 0 for d in dims)  # such a splat forgets its literal
        if not set(dims) & self.dynamic and self.how.random() < 0.6 and not (empty and self.style):
            name = self.fresh()
            self.line(f"{name} = arith.constant dense<{text}> : {self.spell(type_, dims)}")
            return Val(name, type_, dims)
        return self.spread(self.constant(type_, text), dims)

    # Shapes

    def size(self, dim: str) -> str:
        """The extent of a dynamic dimension as a value of type index."""
        if dim in self.sizes and self.how.random() < 0.8:
            return self.sizes[dim]
        holders = [v for v in self.inputs if v.dims and dim in v.dims]
        # Which tensor an extent is read off is part of what is computed, where extents are not known to be equal.
        holder = holders[0] if self.style else self.how.choice(holders)
        axis = self.constant("index", str(holder.dims.index(dim)))
        name = self.fresh()
        self.line(f"{name} = tensor.dim {holder.name}, {axis.name} : {self.type_of(holder)}")
        self.sizes[dim] = name
        return name

    def size_list(self, dims: Sequence[str]) -> str:
        return ", ".join(self.size(d) for d in dims if d in self.dynamic)

    def empty(self, type_: str, dims: tuple[str, ...], *, unread: bool = True) -> str:
        """A tensor for ``outs``: an old or new tensor.empty, or any value of the type where it is not read."""
        rnd = self.how
        spelled = self.spell(type_, dims)
        if unread and rnd.random() < 0.15:
            same = [v.name for v in self.pool if v.type == type_ and v.dims == dims]
            if same:
                return rnd.choice(same)
        known = [name for name, text in self.empties if text == spelled + str(dims)]
        if known and rnd.random() < 0.6:
            return rnd.choice(known)
        sizes = self.size_list(dims)
        name = self.fresh()
        self.line(f"{name} = tensor.empty({sizes}) : {spelled}")
        self.empties.append((name, spelled + str(dims)))
        return name

    def spread(self, value: Val, dims: tuple[str, ...]) -> Val:
        """A scalar as a tensor."""
        way = self.how.choice(("splat", "generic") if value.type == "index" else ("splat", "fill", "generic"))
        spelled = self.spell(value.type, dims)
        if way == "splat":
            sizes = self.size_list(dims)
            name = self.fresh()
            self.line(f"{name} = tensor.splat {value.name}{f'[{sizes}]' if sizes else ''} : {spelled}")
        elif way == "fill":
            out = self.empty(value.type, dims)
            name = self.fresh()
            self.line(f"{name} = linalg.fill ins({value.name} : {value.type}) outs({out} : {spelled}) -> {spelled}")
        else:
            return self.generic([value], value.type, dims, lambda names: names[0])
        return Val(name, value.type, dims)

    def fit(self, value: Val, dims: tuple[str, ...]) -> Val:
        """A value at exactly these dimensions, through broadcasts and transposes."""
        if value.dims is None:
            return self.spread(value, dims)
        if value.dims == dims:
            return value
        rnd = self.how
        if UNIT in value.dims:
            value = self.without_units(value)
        assert value.dims is not None
        if value.dims == dims:
            return value
        if UNIT in dims:
            return self.with_unit(self.fit(value, tuple(d for d in dims if d != UNIT)), dims.index(UNIT))
        if rnd.random() < 0.4:
            return self.generic([value], value.type, dims, lambda names: names[0])
        wanted = tuple(d for d in dims if d in value.dims)
        if wanted != value.dims:
            permutation = [value.dims.index(d) for d in wanted]
            out = self.empty(value.type, wanted)
            name = self.fresh()
            self.line(
                f"{name} = linalg.transpose ins({value.name} : {self.type_of(value)}) "
                f"outs({out} : {self.spell(value.type, wanted)}) permutation = {permutation}"
            )
            value = Val(name, value.type, wanted)
        if wanted != dims:
            added = [axis for axis, d in enumerate(dims) if d not in wanted]
            out = self.empty(value.type, dims)
            name = self.fresh()
            self.line(
                f"{name} = linalg.broadcast ins({value.name} : {self.type_of(value)}) "
                f"outs({out} : {self.spell(value.type, dims)}) dimensions = {added}"
            )
            value = Val(name, value.type, dims)
        return value

    def without_units(self, value: Val) -> Val:
        """The unit dimension collapsed away."""
        assert value.dims is not None
        at = value.dims.index(UNIT)
        kept = tuple(d for d in value.dims if d != UNIT)
        groups: list[list[int]] = [[axis] for axis in range(len(value.dims))]
        if not kept:
            text = "[]"
        else:
            unit = groups.pop(at)
            host = groups[at - 1] if at > 0 else groups[0]
            host.extend(unit)
            host.sort()
            text = str(groups)
        name = self.fresh()
        target = self.spell(value.type, kept)
        self.line(f"{name} = tensor.collapse_shape {value.name} {text} : {self.type_of(value)} into {target}")
        return Val(name, value.type, kept)

    def with_unit(self, value: Val, at: int) -> Val:
        """A unit dimension put in."""
        assert value.dims is not None
        dims = (*value.dims[:at], UNIT, *value.dims[at:])
        if not value.dims:
            return self.generic([value], value.type, dims, lambda names: names[0])
        groups = [[axis] for axis in range(len(dims))]
        unit = groups.pop(at)
        host = groups[at - 1] if at > 0 else groups[0]
        host.extend(unit)
        host.sort()
        shape = ", ".join(self.size(d) if d in self.dynamic else str(self.extents[d]) for d in dims)
        name = self.fresh()
        self.line(
            f"{name} = tensor.expand_shape {value.name} {groups} output_shape [{shape}] : {self.type_of(value)} into "
            f"{self.spell(value.type, dims)}"
        )
        return Val(name, value.type, dims)

    # Generics

    def generic(
        self,
        operands: Sequence[Val],
        result: str,
        dims: tuple[str, ...],
        body: Any,
        *,
        reduced: Sequence[str] = (),
        initial: str | None = None,
    ) -> Val:
        """A linalg.generic over ``dims`` and ``reduced``; ``body`` writes ops on scalar names and returns a name."""
        rnd = self.how
        loops = [*dims, *reduced]
        rnd.shuffle(loops)
        letters = {d: f"d{n}" for n, d in enumerate(loops)}
        names: list[str | None] = []
        given: list[Val] = []
        for operand in operands:
            if operand.dims is None:
                names.append(operand.name)
            else:
                names.append(None)
                given.append(operand)
        domain = ", ".join(letters[d] for d in loops)

        def map_of(of: Sequence[str]) -> str:
            axes = ", ".join(letters.get(d, "0") for d in of)
            return f"affine_map<({domain}) -> ({axes})>"

        maps = ", ".join([map_of(v.dims or ()) for v in given] + [map_of(dims)])
        kinds = ", ".join('"reduction"' if d in reduced else '"parallel"' for d in loops)
        out = self.empty(result, dims) if initial is None else initial
        name = self.fresh()
        ins = ""
        if given:
            ins = f"ins({', '.join(v.name for v in given)} : {', '.join(self.type_of(v) for v in given)}) "
        spelled = self.spell(result, dims)
        inner = [self.fresh() for _ in given]
        accumulator = self.fresh()
        arguments = ", ".join(
            f"{n}: {t}" for n, t in zip([*inner, accumulator], [*(v.type for v in given), result], strict=True)
        )
        header = f"{name} = linalg.generic {{indexing_maps = [{maps}], iterator_types = [{kinds}]}} {ins}"
        self.lines.append(" " * self.indent + header + f"outs({out} : {spelled}) {{")
        self.lines.append(" " * self.indent + f"^bb0({arguments}):")
        rest = iter(inner)
        bodies = [next(rest) if each is None else each for each in names]
        saved = list(self.constants)
        self.indent += 2
        final = body(bodies if initial is None else [*bodies, accumulator])
        self.line(f"linalg.yield {final} : {result}")
        self.indent -= 2
        self.constants = saved
        self.line(f"}} -> {spelled}")
        return Val(name, result, dims)

    # Ops

    def attributes(self, kind: str) -> dict[str, str]:
        """Random properties of a kind of op, as text."""
        rnd = self.rnd
        found: dict[str, str] = {}
        known = PROPERTIES[kind]
        if "predicate" in known:
            found["predicate"] = f"{rnd.randrange(16 if kind == 'arith.cmpf' else 10)} : i64"
        if "fastmath" in known:
            flags = "none"
            if rnd.random() < self.choices.flags:
                flags = rnd.choice(("fast", "nnan", "contract", "nnan,ninf", "reassoc"))
            found["fastmath"] = f"#arith.fastmath<{flags}>"
        if "overflowFlags" in known:
            flags = rnd.choice(("none", "nsw", "nuw")) if rnd.random() < self.choices.flags else "none"
            found["overflowFlags"] = f"#arith.overflow<{flags}>"
        return found

    def op_text(
        self, kind: str, attributes: Attributes, names: Sequence[str], types: Sequence[str], results: Sequence[str]
    ) -> str:
        inside = ", ".join(f"{key} = {value}" for key, value in attributes.items())
        tag = f" {{tag = {self.how.randrange(3)} : i32}}" if self.how.random() < self.choices.tags else ""
        properties = f" <{{{inside}}}>" if inside else ""
        to = results[0] if len(results) == 1 else f"({', '.join(results)})"
        return f'"{kind}"({", ".join(names)}){properties}{tag} : ({", ".join(types)}) -> {to}'

    def scalar_op(
        self, kind: str, attributes: Attributes, names: Sequence[str], types: Sequence[str], result: str
    ) -> str:
        name = self.fresh()
        self.line(f"{name} = {self.op_text(kind, attributes, names, types, [result])}")
        return name

    def apply(self, kind: str, attributes: Attributes, operands: Sequence[Val], result: str) -> Val:
        """One scalar op on operands of whatever shapes, in a random spelling."""
        rnd = self.rnd
        types = [v.type for v in operands]
        if all(v.dims is None for v in operands) and (not self.frame or rnd.random() < 0.9):
            return Val(self.scalar_op(kind, attributes, [v.name for v in operands], types, result), result, None)
        dims = self.joint(operands)
        index = "index" in (*types, result)
        plain = attributes.get("fastmath", "<none>").endswith("<none>>") or "<none>" in attributes.get("fastmath", "")
        ways = ["generic"] * 3
        if is_tensor_op(kind) and not index:
            ways += ["tensor"] * 3
            if kind in NAMED and plain and "overflow<n" not in attributes.get("overflowFlags", "").replace("<none", ""):
                ways += ["named"]
        way = self.how.choice(ways)
        if way == "generic":
            return self.generic(
                operands, result, dims, lambda names: self.scalar_op(kind, attributes, names, types, result)
            )
        fitted = [self.fit(v, dims) for v in operands]
        spelled = self.spell(result, dims)
        if way == "tensor":
            name = self.fresh()
            text = self.op_text(
                kind, attributes, [v.name for v in fitted], [self.type_of(v) for v in fitted], [spelled]
            )
            self.line(f"{name} = {text}")
            return Val(name, result, dims)
        out = self.empty(result, dims)
        name = self.fresh()
        ins = f"{', '.join(v.name for v in fitted)} : {', '.join(self.type_of(v) for v in fitted)}"
        self.line(f"{name} = linalg.{NAMED[kind]} ins({ins}) outs({out} : {spelled}) -> {spelled}")
        return Val(name, result, dims)

    def joint(self, operands: Sequence[Val]) -> tuple[str, ...]:
        """Dimensions of a result: all of the operands', sometimes more, mostly in the frame's order."""
        rnd = self.rnd
        dims = [d for d in self.frame if any(d in (v.dims or ()) for v in operands)]
        if rnd.random() < 0.1:
            dims.extend(d for d in self.frame if d not in dims)
        if rnd.random() < 0.15:
            rnd.shuffle(dims)
        if rnd.random() < 0.05:
            dims.insert(rnd.randrange(len(dims) + 1), UNIT)
        return tuple(dims)

    def pick(self, admits: Any) -> Val | None:
        found = [v for v in self.pool[-12:] if admits(v.type)] or [v for v in self.pool if admits(v.type)]
        return self.rnd.choice(found) if found else None

    def operand(self, type_: str) -> Val:
        """A value of an element type from the pool, or a literal."""
        found = None if self.rnd.random() < 0.2 else self.pick(lambda t: t == type_)
        if found is not None:
            return found
        if self.frame and self.rnd.random() < 0.4:
            return self.splat(type_, self.some_dims())
        return self.constant(type_)

    def some_dims(self) -> tuple[str, ...]:
        if self.rnd.random() < 0.6:
            return self.frame
        return tuple(d for d in self.frame if self.rnd.random() < 0.6)

    def signature(self, kind: str) -> tuple[list[str], str] | None:
        """Element types for an op, near those that the pool has."""
        rnd = self.rnd
        rule = PRIMITIVES[kind].types
        if len(rule.results) > 1:
            return None
        bound: dict[str, str] = {}
        for letter in (*rule.operands, *rule.results):
            if letter in bound:
                continue
            if letter == "B":
                bound[letter] = "i1"
                continue
            admits = is_float if letter in "FGH" else is_integer if letter in "IJKN" else lambda _: True
            near = [v.type for v in self.pool if admits(v.type) and (v.type != "index" or letter != "N")]
            others = [t for t in ("f16", "bf16", "f32", "f64", "i1", "i8", "i32", "i64") if admits(t)]
            if (letter in "GJIN" and letter in rule.results and letter not in rule.operands) or not near:
                bound[letter] = rnd.choice(others)
            else:
                bound[letter] = rnd.choice(near)
        operands, result = [bound[x] for x in rule.operands], bound[rule.results[0]]
        if kind == "arith.index_cast":
            integer = rnd.choice(("i32", "i64"))
            operands, result = ([integer], "index") if rnd.random() < 0.5 else (["index"], integer)
        elif kind == "arith.bitcast":
            same = [
                t for t in ("f16", "bf16", "f32", "f64", "i8", "i16", "i32", "i64") if width(t) == width(operands[0])
            ]
            if not same or "index" in operands:
                return None
            result = rnd.choice(same)
        elif (kind in ("arith.extf", "arith.extsi", "arith.extui") and width(result) <= width(operands[0])) or (
            kind in ("arith.truncf", "arith.trunci") and width(result) >= width(operands[0])
        ):
            return None
        if result == "index" and kind != "arith.index_cast":
            return None
        return operands, result

    def random_op(self) -> None:
        """One op on values of the pool."""
        kinds = [k for k in PRIMITIVES if "extended" not in k]
        if self.rnd.random() < 0.6:
            kinds = [k for k in kinds if "f" in PRIMITIVES[k].types.text.lower()]
            kinds = [k for k in kinds if PRIMITIVES[k].cost < 7] if is_float(self.main) else list(PRIMITIVES)[:30]
        kind = self.rnd.choice([k for k in kinds if "extended" not in k])
        chosen = self.signature(kind)
        if chosen is None:
            return
        operands = [self.operand(t) for t in chosen[0]]
        if self.rnd.random() < 0.1 and len(operands) == 2 and operands[0].type == operands[1].type:
            operands[1] = operands[0]
        attributes = self.attributes(kind)
        value = self.apply(kind, attributes, operands, chosen[1])
        self.pool.append(value)
        if self.rnd.random() < 0.08:  # the same once more, perhaps spelled otherwise
            self.pool.append(self.apply(kind, attributes, operands, chosen[1]))

    def body(self) -> None:
        """Several ops in one generic."""
        rnd = self.rnd
        operands = [self.operand(self.main) for _ in range(rnd.randint(1, 3))]
        extra = self.pick(lambda t: t != "index")
        if extra is not None:
            operands.append(extra)

        def write(names: Sequence[str]) -> str:
            local = [Val(n, o.type, None) for n, o in zip(names, operands, strict=True)]
            saved, self.pool = self.pool, local
            frame, self.frame = self.frame, ()
            for _ in range(rnd.randint(1, 6)):
                self.random_op()
            made = [v for v in self.pool if v.type == self.main] or [self.constant(self.main)]
            self.pool, self.frame = saved, frame
            return made[-1].name

        self.pool.append(self.generic(operands, self.main, self.joint(operands), write))

    def reduction(self) -> None:
        """A sum or maximum over one dimension."""
        rnd = self.rnd
        value = self.pick(lambda t: t == self.main)
        if value is None or not value.dims or not set(value.dims) & set(self.frame):
            return
        over = rnd.choice([d for d in value.dims if d in self.frame])
        if over in self.dynamic and not any(v.dims and over in v.dims for v in self.inputs):
            return
        kept = tuple(d for d in value.dims if d not in (over, UNIT))
        kind = rnd.choice(("arith.addf", "arith.maximumf") if is_float(self.main) else ("arith.addi", "arith.maxsi"))
        initial = self.spread(self.constant(self.main), kept)
        attributes = {k: v for k, v in self.attributes(kind).items() if "none" in v}
        if "fastmath" in PROPERTIES[kind]:
            attributes = {"fastmath": "#arith.fastmath<none>"}
        if "overflowFlags" in PROPERTIES[kind]:
            attributes = {"overflowFlags": "#arith.overflow<none>"}
        self.pool.append(
            self.generic(
                [value],
                self.main,
                kept,
                lambda names: self.scalar_op(kind, attributes, names, [self.main] * 2, self.main),
                reduced=[over],
                initial=initial.name,
            )
        )

    # Recipes

    def plant(self, given: tuple[Recipe, str, list[Val]] | None = None) -> None:
        """An instance of a recipe of the library, a near miss, or one with an inner value that escapes."""
        rnd = self.rnd
        if given is None:
            recipe = rnd.choice(recipes() if rnd.random() < 0.1 else small_recipes())
            element_type = rnd.choice(recipe.element_types) if recipe.element_types else ""
            if self.main in recipe.element_types and rnd.random() < 0.8:
                element_type = self.main
            written = recipe.written_type
            arguments: list[Val] = []
            for number, type_ in enumerate(recipe.argument_types):
                name = element_name(type_)
                name = element_type if name == written else name
                if number in recipe.scalar_slots and rnd.random() < 0.9:
                    arguments.append(self.constant(name))
                else:
                    arguments.append(self.operand(name))
        else:
            recipe, element_type, arguments = given
        self.planted.append((recipe, element_type, arguments))
        one_body = len(recipe.result_types) == 1 and rnd.random() < 0.25 and any(v.dims is not None for v in arguments)
        wrong = rnd.randrange(2 * len(list(recipe.op.body.block.ops))) if rnd.random() < 0.15 else -1
        if one_body:
            written = recipe.written_type
            result = element_name(recipe.result_types[0])
            result = element_type if result == written else result

            def write(names: Sequence[str]) -> str:
                local = [Val(n, a.type, None) for n, a in zip(names, arguments, strict=True)]
                frame, self.frame = self.frame, ()
                values = self.instance(recipe, element_type, local, wrong, 0.0)
                self.frame = frame
                return values[0].name

            self.pool.append(self.generic(arguments, result, self.joint(arguments), write))
            return
        escape = 0.15 if rnd.random() < 0.25 else 0.0
        self.pool.extend(self.instance(recipe, element_type, arguments, wrong, escape))

    def instance(
        self, recipe: Recipe, element_type: str, arguments: Sequence[Val], wrong: int, escape: float
    ) -> list[Val]:
        """The ops of a recipe, each in a random spelling."""
        rnd = self.rnd
        written = recipe.written_type
        values = dict(zip(recipe.op.body.block.args, arguments, strict=True))

        def at(name: str) -> str:
            return element_type if name == written else name

        for number, op in enumerate(recipe.op.body.block.ops):
            if op.name == "xfuse.yield":
                return [values[each] for each in op.operands]
            type_ = at(element_name(op.results[0].type))
            if op.name == "arith.constant":
                value = op.properties["value"]
                assert isinstance(value, FloatAttr | IntegerAttr)
                number_ = value.value.data
                text = self.float_literal(number_, type_) if is_float(type_) else str(number_)
                if type_ == "i1":
                    text = "true" if number_ else "false"
                if number == wrong:
                    text = self.literal(type_)
                if self.frame and rnd.random() < 0.3:
                    values[op.results[0]] = self.splat(type_, self.some_dims(), text)
                else:
                    values[op.results[0]] = self.constant(type_, text)
                continue
            operands = [values[each] for each in op.operands]
            if op.name in ("arith.extf", "arith.truncf") and operands[0].type == type_:
                values[op.results[0]] = operands[0]
                continue
            kind = op.name
            if kind in ("arith.extf", "arith.truncf"):
                kind = "arith.extf" if width(type_) > width(operands[0].type) else "arith.truncf"
                if width(type_) == width(operands[0].type):
                    kind = "arith.bitcast"
            if (PRIMITIVES[kind].commutative and self.how.random() < 0.4) or number == wrong:
                operands = operands[::-1] if len({v.type for v in operands}) == 1 else operands
            attributes = self.attributes(kind) if PROPERTIES[kind] else {}
            attributes = {k: v for k, v in attributes.items() if k != "predicate"}
            if "predicate" in PROPERTIES[kind]:
                predicate = op.properties["predicate"]
                assert isinstance(predicate, IntegerAttr)
                attributes["predicate"] = f"{predicate.value.data} : i64"
            value = self.apply(kind, attributes, operands, type_)
            values[op.results[0]] = value
            if rnd.random() < escape:
                self.pool.append(value)
        raise AssertionError("a recipe without a yield")

    # Control flow

    def control(self) -> None:
        """An scf.if or scf.for whose results join the pool."""
        rnd = self.rnd
        carried = self.pick(lambda t: t == self.main)
        if carried is None or self.depth > 1:
            return
        spelled = self.type_of(carried)
        if rnd.random() < 0.5:
            condition = self.pick(lambda t: t == "i1")
            if condition is None or condition.dims is not None:
                condition = self.constant("i1")
            name = self.fresh()
            self.lines.append(" " * self.indent + f"{name} = scf.if {condition.name} -> ({spelled}) {{")
            for branch in range(2):
                with self.nested():
                    self.some(rnd.randint(0, 3))
                    self.yielded(carried)
                self.lines.append(" " * self.indent + ("} else {" if branch == 0 else "}"))
        else:
            low, high, step = (self.constant("index", str(n)) for n in (0, rnd.choice((0, 1, 2)), 1))
            name, inside, number = self.fresh(), self.fresh(), self.fresh()
            self.lines.append(
                " " * self.indent + f"{name} = scf.for {number} = {low.name} to {high.name} step {step.name} "
                f"iter_args({inside} = {carried.name}) -> ({spelled}) {{"
            )
            with self.nested():
                self.pool.append(Val(inside, carried.type, carried.dims))
                self.some(rnd.randint(1, 4))
                self.yielded(carried)
            self.lines.append(" " * self.indent + "}")
        self.pool.append(Val(name, carried.type, carried.dims))

    def yielded(self, like: Val) -> None:
        same = [v for v in self.pool if (v.type, v.dims) == (like.type, like.dims)]
        self.line(f"scf.yield {same[-1].name} : {self.type_of(like)}")

    def some(self, count: int) -> None:
        """Several steps."""
        rnd, choices = self.rnd, self.choices
        for _ in range(count):
            draw = rnd.random()
            if draw < choices.plants:
                again = rnd.random() < 0.15 and self.planted
                self.plant(rnd.choice(self.planted) if again else None)
            elif draw < choices.plants + choices.control:
                self.control()
            elif draw < choices.plants + choices.control + choices.reductions:
                self.reduction()
            elif draw < choices.plants + choices.control + choices.reductions + 0.1 and self.frame:
                self.body()
            else:
                self.random_op()

    # Module

    def _module(self) -> str:
        rnd = self.rnd
        for _ in range(rnd.randint(1, 3)):
            dims = self.some_dims() if self.frame and rnd.random() < 0.85 else None
            if dims is not None and rnd.random() < 0.15:
                shuffled = list(dims)
                rnd.shuffle(shuffled)
                dims = tuple(shuffled)
            self.inputs.append(Val(self.fresh(), self.main, dims))
        if self.frame:
            self.inputs.append(Val(self.fresh(), self.main, self.frame))
            if rnd.random() < 0.2:
                at = rnd.randrange(len(self.frame) + 1)
                self.inputs.append(Val(self.fresh(), self.main, (*self.frame[:at], UNIT, *self.frame[at:])))
        if rnd.random() < 0.3:
            other = rnd.choice(("i1", "i32", "f64", "f16"))
            self.inputs.append(Val(self.fresh(), other, self.some_dims() if rnd.random() < 0.5 else None))
        self.pool.extend(self.inputs)
        low, high = self.choices.size
        self.some(rnd.randint(low, high))
        made = [v for v in self.pool if v not in self.inputs] or self.pool
        self.results = [made[-1]]
        while rnd.random() < 0.3:
            self.results.append(rnd.choice(made))
        self.line(
            f"func.return {', '.join(v.name for v in self.results)} : "
            f"{', '.join(self.type_of(v) for v in self.results)}"
        )
        arguments = ", ".join(f"{v.name}: {self.type_of(v)}" for v in self.inputs)
        results = ", ".join(self.type_of(v) for v in self.results)
        return "\n".join([f"func.func @main({arguments}) -> ({results}) {{", *self.lines, "}", ""])

    def arrays(self, seed: int = 0) -> list[np.ndarray[Any, Any]]:
        """Arguments for the program."""
        generator = np.random.default_rng(seed)
        found: list[np.ndarray[Any, Any]] = []
        for value in self.inputs:
            shape = tuple(self.extents[d] for d in value.dims or ())
            dtype = numpy_dtype(value.type)
            if value.type in FLOATS:
                array = generator.standard_normal(shape) * generator.choice((0.3, 1, 5))
                special = generator.random(shape) < 0.15
                array = np.where(special, generator.choice((0.0, -0.0, np.inf, -np.inf, np.nan, 1.0), shape), array)
            elif value.type == "i1":
                array = generator.random(shape) < 0.5
            else:
                top = 1 << (width(value.type) - 1)
                small = generator.random(shape) < 0.6
                array = np.where(small, generator.integers(-4, 40, shape), generator.integers(-top, top - 1, shape))
            found.append(np.asarray(array).astype(dtype))
        return found


def evaluate(module: ModuleOp, arrays: Sequence[np.ndarray[Any, Any]], name: str = "main") -> list[Any]:
    """The results of a function on the NumPy backend; fused ops are read as their regions."""
    function = next(
        op for op in module.walk() if isinstance(op, func.FuncOp) and op.sym_name.data == name and op.body.blocks
    )
    builder = GraphBuilder()
    for argument in function.body.block.args:
        builder.argument(argument)
    results = builder.block(function.body.block)
    compiled = Writer(builder.graph, builder.argument_values, results).write().compile()
    with np.errstate(all="ignore"):
        return list(compiled(*arrays))


def same_bits(left: Any, right: Any) -> bool:
    """Whether two arrays hold the same bits, all NaNs counting as one value."""
    left, right = np.asarray(left), np.asarray(right)
    if left.dtype != right.dtype or left.shape != right.shape:
        return False
    if left.dtype.kind in "iub":
        return bool((left == right).all())
    nan = np.isnan(left.astype(np.float64))
    raw = np.dtype(f"u{left.dtype.itemsize}")
    equal = np.ascontiguousarray(left).view(raw) == np.ascontiguousarray(right).view(raw)
    return bool((equal | (nan & np.isnan(right.astype(np.float64)))).all())


def order_problem(root: Operation) -> str | None:
    """The first op that reads a value before, or outside where, it is defined; None if there is none (law L8).

    Within a block, positions decide. Across the blocks of one region, the defining block must be another one.
    """
    for op in root.walk():
        for operand in op.operands:
            owner = operand.owner
            block = owner if not isinstance(owner, Operation) else owner.parent
            user: Operation | None = op
            while user is not None and user.parent is not block:
                parent = user.parent_op()
                region = None if user.parent is None else user.parent.parent
                if parent is not None and region is not None and block is not None and block.parent is region:
                    user = None  # another block of the same region
                    break
                if parent is not None and parent.name in ("xfuse.fused", "xfuse.recipe"):
                    return f"{op.name} in {parent.name} reads a value from outside"
                user = parent
            if user is None:
                if block is None or block.parent is None:
                    return f"{op.name} reads a value whose definition is gone"
                continue
            if isinstance(owner, Operation) and block is not None:
                if owner is user:
                    return f"{op.name} reads a result of the op that holds it"
                if block.get_operation_index(owner) >= block.get_operation_index(user):
                    return f"{op.name} reads {owner.name} before it is computed"
    return None
