"""Random recipes with core dimensions, as MLIR text: bodies of any sort over rows and matrices of unknown extents.

Extents of equal number come from different arguments, operands lie in any order and repeat along loops, reductions
count copies, and slices, padding, concatenation and reshapes make extents that are computed.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass

from reference_programs import emitted, tensor
from xdsl.dialects.builtin import ModuleOp

from xfuse.recipes import Recipe, parse_recipes

ARGUMENTS: dict[str, tuple[str, ...]] = {"%x": ("n",), "%y": ("m",), "%a": ("n", "m"), "%s": ()}
SHAPES = [(4,), (3,), (4, 3), ()]
"""The core extents that a random recipe is for, one shape an argument."""

SEEDS = tuple(
    map(
        int,
        "408 598 615 738 1422 1657 1708 1723 1817 1874 2129 2386 2516 2576 2995 3353 3378 3454 3474 3786".split(),
    )
)
"""The first seeds whose recipe uses all its arguments and is otherwise good."""

_HEAD = """
%c0 = arith.constant 0 : index
%c1 = arith.constant 1 : index
%c2 = arith.constant 2 : index
%n = tensor.dim %x, %c0 : tensor<?xf64>
%m = tensor.dim %y, %c0 : tensor<?xf64>
%literal = arith.constant 0.75 : f64
%zero = arith.constant 0.0 : f64
%ninf = arith.constant 0xFFF0000000000000 : f64
"""


@dataclass(frozen=True)
class Tensor:
    """A value by name, and the names of its dimensions."""

    name: str
    dims: tuple[str, ...]

    @property
    def type(self) -> str:
        return "f64" if self.name == "%s" else f"tensor<{'?x' * len(self.dims)}f64>"


class RandomRows:
    """One random recipe, always the same for a seed."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.lines = _HEAD.strip().split("\n")
        self.values = [Tensor(name, dims) for name, dims in ARGUMENTS.items()]
        self.sizes = {"n": "%n", "m": "%m"}
        self.extents = {"n": 4, "m": 3}
        self.has_fold = False
        """Whether some reduction is a fold, which has no loop dimensions."""
        self._count = 0
        steps = [self._pointwise] * 3 + [self._reduction] * 3
        steps += [self._slice, self._pad, self._concat, self._collapse, self._flip]
        for _ in range(self.random.randint(2, 9)):
            self.random.choice(steps)()
        if all(value.name in ARGUMENTS for value in self.values):
            self._pointwise()

    def text(self) -> str:
        """The recipe, ``@random``, with the last value and some others as results."""
        made = [value for value in self.values if value.name not in ARGUMENTS]
        chosen = self.random.sample(made, min(len(made), self.random.choice([0, 0, 1, 2])))
        results = list(dict.fromkeys([made[-1], *chosen]))
        types = ", ".join(value.type for value in results)
        arguments = ", ".join(f"{value.name}: {value.type}" for value in self.values[: len(ARGUMENTS)])
        body = "\n".join(self.lines)
        names = ", ".join(value.name for value in results)
        return f"xfuse.recipe @random({arguments}) -> ({types}) {{\n{body}\nxfuse.yield {names} : {types}\n}}"

    # Names and extents

    def _name(self) -> str:
        self._count += 1
        return f"%v{self._count}"

    def _add(self, text: str) -> str:
        name = self._name()
        self.lines.append(f"{name} = {text}")
        return name

    def _keep(self, name: str, dims: Sequence[str]) -> None:
        self.values.append(Tensor(name, tuple(dims)))

    def _extent(self, text: str, number: int) -> str:
        """A dimension whose extent is computed."""
        dim = f"d{len(self.sizes)}"
        self.sizes[dim] = self._add(text)
        self.extents[dim] = number
        return dim

    def _empty(self, dims: Sequence[str]) -> str:
        return self._add(f"tensor.empty({', '.join(self.sizes[dim] for dim in dims)}) : {Tensor('', tuple(dims)).type}")

    def _tensors(self, rank: int = 1) -> list[Tensor]:
        return [value for value in self.values if len(value.dims) >= rank]

    def _within(self, loops: Sequence[str]) -> list[Tensor]:
        """Tensors that a body over some loops can read."""
        return [value for value in self.values if value.name != "%s" and set(value.dims) <= set(loops)]

    # Generics

    def _generic(
        self, loops: Sequence[str], operands: Sequence[Tensor], out: Tensor, body: Sequence[str], result: str
    ) -> None:
        def map_of(dims: Sequence[str]) -> str:
            return f"affine_map<({', '.join(loops)}) -> ({', '.join(dims)})>"

        maps = ", ".join(map_of(each.dims) for each in (*operands, out))
        kinds = ", ".join('"parallel"' if loop in out.dims else '"reduction"' for loop in loops)
        names, types = (", ".join(getattr(each, part) for each in operands) for part in ("name", "type"))
        inputs = f"ins({names} : {types}) " if operands else ""
        arguments = ", ".join(f"%{each}: f64" for each in (*(f"p{k}" for k in range(len(operands))), "out"))
        inside = "\n  ".join(body)
        name = self._add(
            f"linalg.generic {{indexing_maps = [{maps}], iterator_types = [{kinds}]}} {inputs}"
            f"outs({out.name} : {out.type}) {{\n^bb0({arguments}):\n  {inside}\n  linalg.yield {result} : f64\n"
            f"}} -> {out.type}"
        )
        self._keep(name, out.dims)

    def _body(self, count: int, loops: Sequence[str]) -> tuple[list[str], str]:
        """Some scalar ops on the operands, the scalar argument, a literal and indices."""
        live = [*(f"%p{k}" for k in range(count)), "%s", "%literal"]
        lines: list[str] = []
        for number in range(self.random.randint(1, 3)):
            name = f"%b{number}"
            op = self.random.choice(["addf", "mulf", "subf", "maximumf", "tanh", "index"])
            one, other = self.random.choice(live), self.random.choice(live)
            if op == "tanh":
                lines.append(f"{name} = math.tanh {one} : f64")
            elif op == "index":
                lines += [
                    f"{name}i = linalg.index {self.random.randrange(len(loops))} : index",
                    f"{name}j = arith.index_cast {name}i : index to i64",
                    f"{name}f = arith.sitofp {name}j : i64 to f64",
                    f"{name} = arith.addf {name}f, {one} : f64",
                ]
            else:
                lines.append(f"{name} = arith.{op} {one}, {other} : f64")
            live.insert(0, name)
        return lines, live[0]

    def _pointwise(self) -> None:
        loops = self.random.sample(list(self.sizes), self.random.choice([1, 2, min(3, len(self.sizes))]))
        known = self._within(loops)
        operands = self.random.choices(known, k=self.random.randint(1, 3)) if known else []
        body, result = self._body(len(operands), loops)
        self._generic(loops, operands, Tensor(self._empty(loops), tuple(loops)), body, result)

    def _reduction(self) -> None:
        loops = self.random.sample(list(self.sizes), self.random.choice([1, 2, 2, min(3, len(self.sizes))]))
        kept = self.random.sample(loops, self.random.randrange(len(loops)))
        combine = self.random.choice(["addf", "maximumf"])
        operands = self.random.choices(self._within(loops), k=self.random.randint(1, 2)) if self._within(loops) else []
        for loop in loops:  # an operand has to say how far each loop runs
            if loop not in kept and not any(loop in each.dims for each in operands):
                operands += [each for each in self._within(loops) if loop in each.dims][:1]
        if any(all(loop not in each.dims for each in operands) for loop in loops if loop not in kept):
            return
        starts = [each for each in self._within(kept) if sorted(each.dims) == sorted(kept)]
        if starts and self.random.random() < 0.3:
            out = self.random.choice(starts)
        else:
            type_ = Tensor("", tuple(kept)).type
            start = "%zero" if combine == "addf" else "%ninf"
            empty = self._empty(kept)
            out = Tensor(self._add(f"linalg.fill ins({start} : f64) outs({empty} : {type_}) -> {type_}"), tuple(kept))
        body, result = self._body(len(operands), loops)
        if self.random.random() < 0.1 and not self.has_fold:
            self.has_fold = True
            body += ["%h = arith.mulf %out, %literal : f64", f"%q = arith.addf %h, {result} : f64"]
        else:
            pair = [result, "%out"]
            self.random.shuffle(pair)
            body.append(f"%q = arith.{combine} {', '.join(pair)} : f64")
        self._generic(loops, operands, out, body, "%q")

    def _flip(self) -> None:
        # Only an argument's other axes: where those of another value are read at their own index, whether that is a
        # plain read hangs on which of two equal extents it has.
        found = [value for value in self._tensors() if len(value.dims) == 1 or value.name == "%a"]
        value = self.random.choice(found)
        axis = self.random.randrange(len(value.dims))
        last = self._add(f"arith.subi {self.sizes[value.dims[axis]]}, %c1 : index")
        body = [f"%i{k} = linalg.index {k} : index" for k in range(len(value.dims))]
        body.append(f"%j = arith.subi {last}, %i{axis} : index")
        places = ", ".join("%j" if k == axis else f"%i{k}" for k in range(len(value.dims)))
        body.append(f"%e = tensor.extract {value.name}[{places}] : {value.type}")
        self._generic(value.dims, [], Tensor(self._empty(value.dims), value.dims), body, "%e")

    # Shapes

    def _slice(self) -> None:
        found = [value for value in self._tensors() if min(self.extents[dim] for dim in value.dims) >= 3]
        if not found:
            return
        value = self.random.choice(found)
        axis = self.random.randrange(len(value.dims))
        dim = value.dims[axis]
        short = self._extent(f"arith.subi {self.sizes[dim]}, %c1 : index", self.extents[dim] - 1)
        dims = tuple(short if k == axis else each for k, each in enumerate(value.dims))
        starts = ", ".join("1" if k == axis else "0" for k in range(len(dims)))
        sizes = ", ".join(self.sizes[each] for each in dims)
        steps = ", ".join("1" for _ in dims)
        type_ = Tensor("", dims).type
        text = f"tensor.extract_slice {value.name}[{starts}] [{sizes}] [{steps}] : {value.type} to {type_}"
        self._keep(self._add(text), dims)

    def _pad(self) -> None:
        value = self.random.choice(self._tensors())
        axis = self.random.randrange(len(value.dims))
        dim = value.dims[axis]
        long = self._extent(f"arith.addi {self.sizes[dim]}, %c2 : index", self.extents[dim] + 2)
        dims = tuple(long if k == axis else each for k, each in enumerate(value.dims))
        sides = ", ".join("1" if k == axis else "0" for k in range(len(dims)))
        arguments = ", ".join(f"%i{k}: index" for k in range(len(dims)))
        filling = self.random.choice(["%s", "%zero"])
        text = (
            f"tensor.pad {value.name} low[{sides}] high[{sides}] {{\n^bb0({arguments}):\n"
            f"  tensor.yield {filling} : f64\n}} : {value.type} to {Tensor('', dims).type}"
        )
        self._keep(self._add(text), dims)

    def _concat(self) -> None:
        one = self.random.choice(self._tensors())
        alike = [each for each in self._tensors() if each.dims[1:] == one.dims[1:] and len(each.dims) == len(one.dims)]
        other = self.random.choice(alike)
        first, second = one.dims[0], other.dims[0]
        total = self.extents[first] + self.extents[second]
        long = self._extent(f"arith.addi {self.sizes[first]}, {self.sizes[second]} : index", total)
        dims = (long, *one.dims[1:])
        types = f"({one.type}, {other.type}) -> {Tensor('', dims).type}"
        self._keep(self._add(f"tensor.concat dim(0) {one.name}, {other.name} : {types}"), dims)

    def _collapse(self) -> None:
        value = self.random.choice(self._tensors(2))
        first, second, *rest = value.dims
        total = self.extents[first] * self.extents[second]
        whole = self._extent(f"arith.muli {self.sizes[first]}, {self.sizes[second]} : index", total)
        dims = (whole, *rest)
        groups = ", ".join(["[0, 1]", *(f"[{k + 2}]" for k in range(len(rest)))])
        type_ = Tensor("", dims).type
        self._keep(self._add(f"tensor.collapse_shape {value.name} [{groups}] : {value.type} into {type_}"), dims)


def random_recipe(seed: int) -> tuple[Recipe, bool]:
    """The recipe of a seed, and whether some of its reductions is a fold."""
    rows = RandomRows(seed)
    (recipe,) = parse_recipes(rows.text())
    return recipe, rows.has_fold


def programs(recipe: Recipe, has_fold: bool) -> list[tuple[ModuleOp, list[tuple[int, ...]]]]:
    """Functions that are one instance of a recipe, with the shapes of their arguments."""
    made: list[tuple[ModuleOp, list[tuple[int, ...]]]] = []
    for loops in ((),) if has_fold else ((), (2,), (3, 1)):
        for dynamic in (False, True):
            shapes = [(*loops, *core) for core in SHAPES]
            types = [
                tensor("f64", *((None,) * len(shape) if dynamic else shape)) if shape else recipe.argument_types[3]
                for shape in shapes
            ]
            made.append((emitted(recipe, types), shapes))
    return made
