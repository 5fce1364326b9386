"""Recipes with core dimensions: found at any rank, axis and extent, put back exactly, and evaluated by NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from xdsl.dialects.builtin import ModuleOp

import xfuse
from xfuse.canonical.flatten import expand
from xfuse.canonical.lift import lift
from xfuse.errors import KernelError, UnsupportedError, VerificationError
from xfuse.primitives.element_types import numpy_dtype
from xfuse.recipes import Recipe, parse_recipes
from xfuse.signature import signature_of
from xfuse.specialisation import instance_of, reads_extents
from xfuse.testing import program_difference
from xfuse_dialects.xfuse import FusedOp

ROW, SCALAR = "affine_map<(i) -> (i)>", "affine_map<(i) -> ()>"


def reduction(name: str, operands: str, initial: str, body: str, element_type: str = "f64") -> str:
    """A row reduced to a tensor without axes; ``body`` computes %r from %x0, %x1 … and the accumulator %a."""
    names = operands.split()
    row = f"tensor<?x{element_type}>"
    arguments = "".join(f"%x{n}: {element_type}, " for n in range(len(names)))
    return f"""
      %{name}_init = arith.constant {initial} : {element_type}
      %{name}_empty = tensor.empty() : tensor<{element_type}>
      %{name}_fill = linalg.fill ins(%{name}_init : {element_type}) outs(%{name}_empty : tensor<{element_type}>)
          -> tensor<{element_type}>
      %{name} = linalg.generic {{indexing_maps = [{", ".join([ROW] * len(names))}, {SCALAR}],
          iterator_types = ["reduction"]}} ins({", ".join(names)} : {", ".join([row] * len(names))})
          outs(%{name}_fill : tensor<{element_type}>) {{
      ^bb0({arguments}%a: {element_type}):
        {body}
        linalg.yield %r : {element_type}
      }} -> tensor<{element_type}>"""


def pointwise(name: str, operands: str, body: str) -> str:
    """A row computed point by point; an operand whose name ends in ``!`` is a tensor without axes."""
    names = operands.split()
    maps = ", ".join(SCALAR if each.endswith("!") else ROW for each in names)
    types = ", ".join("tensor<f64>" if each.endswith("!") else "tensor<?xf64>" for each in names)
    values = ", ".join(each.rstrip("!") for each in names)
    arguments = "".join(f"%x{n}: f64, " for n in range(len(names)))
    return f"""
      %{name} = linalg.generic {{indexing_maps = [{maps}, {ROW}], iterator_types = ["parallel"]}}
          ins({values} : {types}) outs(%out : tensor<?xf64>) {{
      ^bb0({arguments}%o: f64):
        {body}
        linalg.yield %r : f64
      }} -> tensor<?xf64>"""


EXTENT = """
      %c0 = arith.constant 0 : index
      %n = tensor.dim %x, %c0 : tensor<?xf64>
      %out = tensor.empty(%n) : tensor<?xf64>"""
COUNT = """
      %count_int = arith.index_cast %n : index to i64
      %count = arith.sitofp %count_int : i64 to f64"""
FLOATS = "attributes {element_types = [f16, bf16, f32, f64]}"

SOFTMAX = f"""xfuse.recipe @softmax(%x: tensor<?xf64>) -> tensor<?xf64> {FLOATS} {{{EXTENT}
  {reduction("top", "%x", "0xFFF0000000000000", "%r = arith.maximumf %x0, %a : f64")}
  {pointwise("e", "%x %top!", "%d = arith.subf %x0, %x1 : f64 %r = math.exp %d : f64")}
  {reduction("total", "%e", "0.0", "%r = arith.addf %x0, %a : f64")}
  {pointwise("y", "%e %total!", "%r = arith.divf %x0, %x1 : f64")}
  xfuse.yield %y : tensor<?xf64>
}}"""

CENTRE = f"""xfuse.recipe @centre(%x: tensor<?xf64>) -> tensor<?xf64> {FLOATS} {{{EXTENT}{COUNT}
  {reduction("total", "%x", "0.0", "%r = arith.addf %x0, %a : f64")}
  {pointwise("y", "%x %total!", "%m = arith.divf %x1, %count : f64 %r = arith.subf %x0, %m : f64")}
  xfuse.yield %y : tensor<?xf64>
}}"""

SCALED_CENTRE = f"""xfuse.recipe @scaled_centre(%x: tensor<?xf64>, %w: tensor<?xf64>, %s: f64 {{xfuse.scalar}})
    -> tensor<?xf64> {FLOATS} {{{EXTENT}{COUNT}
  {reduction("total", "%x", "0.0", "%r = arith.addf %x0, %a : f64")}
  {
    pointwise(
        "y",
        "%x %total! %w",
        "%m = arith.divf %x1, %count : f64 %d = arith.subf %x0, %m : f64 "
        "%p = arith.mulf %d, %x2 : f64 %r = arith.mulf %p, %s : f64",
    )
}
  xfuse.yield %y : tensor<?xf64>
}}"""

MEAN_SQUARED_ERROR = f"""xfuse.recipe @mean_squared_error(%x: tensor<?xf64> {{xfuse.flatten}},
    %y: tensor<?xf64> {{xfuse.flatten}}) -> f64 {FLOATS} {{
      %c0 = arith.constant 0 : index
      %n = tensor.dim %x, %c0 : tensor<?xf64>{COUNT}
  {
    reduction(
        "total",
        "%x %y",
        "0.0",
        "%d = arith.subf %x0, %x1 : f64 %q = arith.mulf %d, %d : f64 %r = arith.addf %q, %a : f64",
    )
}
  %t = tensor.extract %total[] : tensor<f64>
  %m = arith.divf %t, %count : f64
  xfuse.yield %m : f64
}}"""


def one(text: str) -> Recipe:
    return parse_recipes(text)[0]


def session(*texts: str) -> xfuse.Session:
    made = xfuse.Session(library=False)
    for text in texts:
        made.register(text)
    return made


# Programs that use them, at any shape and along any axis, written independently of the recipes.


def _maps(rank: int, axis: int) -> tuple[str, str]:
    dims = ", ".join(f"d{n}" for n in range(rank))
    kept = ", ".join(f"d{n}" for n in range(rank) if n != axis)
    return f"affine_map<({dims}) -> ({dims})>", f"affine_map<({dims}) -> ({kept})>"


def _type(shape: tuple[int | None, ...], element_type: str) -> str:
    extents = "".join("?x" if extent is None else f"{extent}x" for extent in shape)
    return f"tensor<{extents}{element_type}>"


class Program:
    """Writes a function on one tensor ``%x`` (and more arguments), op by op."""

    def __init__(self, shape: tuple[int | None, ...], axis: int, element_type: str, arguments: str = "") -> None:
        self.shape, self.axis, self.element_type = shape, axis, element_type
        self.whole = _type(shape, element_type)
        self.kept = _type(shape[:axis] + shape[axis + 1 :], element_type)
        self.full_map, self.kept_map = _maps(len(shape), axis)
        self.lines = [f"func.func @main(%x: {self.whole}{arguments}) -> {self.whole} {{"]
        sizes: list[str] = []
        for n, extent in enumerate(shape):
            if extent is None:
                self.lines.append(f"%k{n} = arith.constant {n} : index %n{n} = tensor.dim %x, %k{n} : {self.whole}")
            sizes.append("" if extent is not None else f"%n{n}")
        every = ", ".join(size for size in sizes if size)
        most = ", ".join(size for n, size in enumerate(sizes) if size and n != axis)
        self.lines.append(f"%full = tensor.empty({every}) : {self.whole}")
        self.lines.append(f"%few = tensor.empty({most}) : {self.kept}")

    def reduce(self, name: str, operand: str, initial: str, combine: str, axis: int | None = None) -> None:
        t = self.element_type
        assert axis is None or self.kept == _type(self.shape[:axis] + self.shape[axis + 1 :], t)
        kept = self.kept_map if axis is None else _maps(len(self.shape), axis)[1]
        kinds = ", ".join(
            '"reduction"' if n == (self.axis if axis is None else axis) else '"parallel"'
            for n in range(len(self.shape))
        )
        self.lines.append(f"""%{name}_i = arith.constant {initial} : {t}
          %{name}_f = linalg.fill ins(%{name}_i : {t}) outs(%few : {self.kept}) -> {self.kept}
          %{name} = linalg.generic {{indexing_maps = [{self.full_map}, {kept}], iterator_types = [{kinds}]}}
            ins({operand} : {self.whole}) outs(%{name}_f : {self.kept}) {{
          ^bb0(%a: {t}, %b: {t}):
            %r = {combine} %b, %a : {t}
            linalg.yield %r : {t}
          }} -> {self.kept}""")

    def each(self, name: str, operands: str, body: str) -> None:
        """An operand whose name ends in ``!`` lacks the axis."""
        t, names = self.element_type, operands.split()
        maps = ", ".join(self.kept_map if each.endswith("!") else self.full_map for each in names)
        types = ", ".join(self.kept if each.endswith("!") else self.whole for each in names)
        arguments = "".join(f"%x{n}: {t}, " for n in range(len(names)))
        kinds = ", ".join(['"parallel"'] * len(self.shape))
        self.lines.append(f"""%{name} = linalg.generic {{indexing_maps = [{maps}, {self.full_map}],
            iterator_types = [{kinds}]}} ins({", ".join(each.rstrip("!") for each in names)} : {types})
            outs(%full : {self.whole}) {{
          ^bb0({arguments}%o: {t}):
            {body.replace("T", t)}
            linalg.yield %r : {t}
          }} -> {self.whole}""")

    def module(self, result: str) -> ModuleOp:
        return xfuse.parse_module("\n".join((*self.lines, f"func.return {result} : {self.whole}", "}")))


_INFINITY = {"f16": "0xFC00", "bf16": "0xFF80", "f32": "0xFF800000", "f64": "0xFFF0000000000000"}


def softmax_program(
    shape: tuple[int | None, ...], axis: int, element_type: str = "f32", sum_axis: int | None = None
) -> ModuleOp:
    program = Program(shape, axis, element_type)
    program.reduce("top", "%x", _INFINITY[element_type], "arith.maximumf")
    program.each("d", "%x %top!", "%r = arith.subf %x0, %x1 : T")
    program.each("e", "%d", "%r = math.exp %x0 : T")
    program.reduce("total", "%e", "0.0", "arith.addf", sum_axis)
    program.each("y", "%e %total!", "%r = arith.divf %x0, %x1 : T")
    return program.module("%y")


def centre_program(
    shape: tuple[int | None, ...], axis: int, element_type: str = "f32", divisor: float | None = None
) -> ModuleOp:
    program = Program(shape, axis, element_type)
    extent = shape[axis]
    if extent is None and divisor is None:
        program.lines.append(f"%ci = arith.index_cast %n{axis} : index to i64 %c = arith.sitofp %ci : i64 to f32")
    else:
        program.lines.append(f"%c = arith.constant {float(divisor or extent or 0)} : {element_type}")
    program.reduce("total", "%x", "0.0", "arith.addf")
    program.each("y", "%x %total!", "%m = arith.divf %x1, %c : T %r = arith.subf %x0, %m : T")
    return program.module("%y")


def numpy_softmax(x: Any, axis: int) -> Any:
    wide = x.astype(np.float64)
    e = np.exp(wide - wide.max(axis, keepdims=True))
    return e / e.sum(axis, keepdims=True)


def fused_ops(module: ModuleOp) -> list[FusedOp]:
    return [op for op in module.walk() if isinstance(op, FusedOp)]


SHAPES = [
    (5,),
    (3, 5),
    (2, 3, 5),
    (2, 1, 3, 5),
    (4, 1),
    (1,),
    (1, 1),
    (1, 5),
    (None,),
    (None, 7),
    (3, None),
    (None, None),
]


@pytest.mark.parametrize("element_type", ["f16", "bf16", "f32", "f64"])
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_found_along_any_axis_at_any_rank(shape: tuple[int | None, ...], element_type: str) -> None:
    """DESIGN 3: a recipe at core rank applies over any loops; the fused op resolves to the recipe's row (L2, L3)."""
    for axis in range(len(shape)):
        module = softmax_program(shape, axis, element_type)
        before = module.clone()
        with session(SOFTMAX) as current:
            xfuse.fuse(module)
            (op,) = fused_ops(module)
            found = current.recipe_of(op)
            assert found is not None
            assert found.name == "softmax"
            program = xfuse.compile(module, backend="numpy")
            assert [row.identity for row in program.rows] == [found.identity]
            assert not program.inlined
            sizes = [3 if extent is None else extent for extent in shape]
            x = np.random.default_rng(0).standard_normal(sizes).astype(numpy_dtype(element_type))
            given = np.asarray(program(x), np.float64)
            assert given.shape == x.shape
            tolerance = {"f16": 3e-3, "bf16": 3e-2, "f32": 1e-6, "f64": 1e-14}[element_type]
            assert np.allclose(given, numpy_softmax(x, axis), rtol=tolerance, atol=tolerance)
            xfuse.decompose_all(module)
        assert program_difference(module, before) is None


def test_a_sum_over_another_axis_is_another_function() -> None:
    """Law L3: max over one axis and sum over the other is no softmax."""
    module = softmax_program((4, 4), 0, sum_axis=1)
    with session(SOFTMAX) as current:
        assert not current.match(module).chosen


@pytest.mark.parametrize("shape", [(4, 8), (8,), (None, 8), (None, None), (2, 1), (1, 8)], ids=str)
def test_an_extent_matches_the_literal_that_stands_for_it(shape: tuple[int | None, ...]) -> None:
    """DESIGN 3: the divisor of a mean, an extent in the recipe, is a literal where the program's shape is static."""
    module = centre_program(shape, len(shape) - 1)
    before = module.clone()
    with session(CENTRE) as current:
        xfuse.fuse(module)
        (op,) = fused_ops(module)
        found = current.instance_of(op)
        assert found is not None
        assert found.element_type == "f32"
        program = xfuse.compile(module, backend="numpy")
        assert len(program.rows) == 1
        x = np.random.default_rng(1).standard_normal([3 if e is None else e for e in shape]).astype(np.float32)
        assert np.allclose(program(x), x - x.mean(-1, keepdims=True), atol=1e-6)
        xfuse.decompose_all(module)
    assert program_difference(module, before) is None


@pytest.mark.parametrize("divisor", [7.0, 9.0, 8.5])
def test_another_literal_is_not_the_extent(divisor: float) -> None:
    """Law L3: a sum divided by anything but the number of its elements is no mean."""
    with session(CENTRE) as current:
        found = current.match(centre_program((4, 8), 1, divisor=divisor))
    assert not found.chosen
    assert any(refusal.rule == "R3" for refusal in found.refusals)


SHIFTED = f"""xfuse.recipe @shifted(%x: tensor<?xf64>) -> tensor<?xf64> {FLOATS} {{{EXTENT}{COUNT}
  {reduction("top", "%x", "0xFFF0000000000000", "%r = arith.maximumf %x0, %a : f64")}
  {pointwise("y", "%x %top!", "%m = arith.divf %x1, %count : f64 %r = arith.subf %x0, %m : f64")}
  xfuse.yield %y : tensor<?xf64>
}}"""


def test_two_matches_share_the_count_of_elements() -> None:
    """Rule R4: what is computed from extents alone is copied into each match and put back once."""
    program = Program((None, None), 1, "f32")
    program.lines.append("%ci = arith.index_cast %n1 : index to i64 %c = arith.sitofp %ci : i64 to f32")
    program.reduce("total", "%x", "0.0", "arith.addf")
    program.each("y", "%x %total!", "%m = arith.divf %x1, %c : T %r = arith.subf %x0, %m : T")
    program.reduce("top", "%x", _INFINITY["f32"], "arith.maximumf")
    program.each("z", "%x %top!", "%m = arith.divf %x1, %c : T %r = arith.subf %x0, %m : T")
    program.each("w", "%y %z", "%r = arith.mulf %x0, %x1 : T")
    module = program.module("%w")
    before = module.clone()
    with session(CENTRE, SHIFTED):
        xfuse.fuse(module)
        assert len(fused_ops(module)) == 2
        function = next(iter(module.body.block.ops))
        assert "arith.sitofp" not in [op.name for op in function.regions[0].block.ops]
        xfuse.decompose_all(module)
    assert program_difference(module, before) is None


def test_an_extent_of_a_tensor_of_the_same_shape() -> None:
    """DESIGN 3: a count read off another tensor is the argument's, if the program makes both from one extent."""
    program = Program((None, None), 1, "f32")
    program.lines.append("%ci = arith.index_cast %n1 : index to i64 %c = arith.sitofp %ci : i64 to f32")
    program.reduce("total", "%x", "0.0", "arith.addf")
    program.each("y", "%x %total!", "%m = arith.divf %x1, %c : T %r = arith.subf %x0, %m : T")
    program.reduce("again", "%y", "0.0", "arith.addf")
    program.each("z", "%y %again!", "%m = arith.divf %x1, %c : T %r = arith.subf %x0, %m : T")
    module = program.module("%z")
    before = module.clone()
    with session(CENTRE) as current:
        xfuse.fuse(module)
        first, second = fused_ops(module)
        assert second.known_extents == {(0, 0): (0, 0), (0, 1): (0, 1)}
        assert not first.known_extents
        assert all(current.recipe_of(op) is not None for op in (first, second))
        again = xfuse.parse_module(str(module))
        assert [op.known_extents for op in fused_ops(again)] == [op.known_extents for op in (first, second)]
        run = xfuse.compile(again, backend="numpy")
        assert len(run.rows) == 2
        x = np.random.default_rng(8).standard_normal((3, 5)).astype(np.float32)
        assert np.allclose(run(x), x - x.mean(-1, keepdims=True), atol=1e-6)
        xfuse.decompose_all(module)
    assert program_difference(module, before) is None


@pytest.mark.parametrize("axis", [0, 1])
def test_weights_lie_along_the_row(axis: int) -> None:
    """DESIGN 4, views: an argument with the core dimension alone, and a scalar slot, at both axes of a matrix."""
    shape = (4, 6)
    weights = f", %w: tensor<{shape[axis]}xf32>"
    program = Program(shape, axis, "f32", weights)
    program.lines.append("%c = arith.constant " + f"{float(shape[axis])} : f32 %s = arith.constant 0.5 : f32")
    program.reduce("total", "%x", "0.0", "arith.addf")
    program.each("d", "%x %total!", "%m = arith.divf %x1, %c : T %r = arith.subf %x0, %m : T")
    program.lines.append(f"""%y = linalg.generic {{indexing_maps = [{program.full_map},
        affine_map<(d0, d1) -> (d{axis})>, {program.full_map}], iterator_types = ["parallel", "parallel"]}}
        ins(%d, %w : {program.whole}, tensor<{shape[axis]}xf32>) outs(%full : {program.whole}) {{
      ^bb0(%a: f32, %b: f32, %o: f32):
        %p = arith.mulf %a, %b : f32
        %r = arith.mulf %p, %s : f32
        linalg.yield %r : f32
      }} -> {program.whole}""")
    module = program.module("%y")
    before = module.clone()
    with session(SCALED_CENTRE):
        (match,) = xfuse.current_session().match(module).chosen
        assert len(match.scalars) == 1
        xfuse.fuse(module)
        run = xfuse.compile(module, backend="numpy")
        assert len(run.rows) == 1
        x = np.random.default_rng(2).standard_normal(shape).astype(np.float32)
        w = np.arange(shape[axis], dtype=np.float32)
        wanted = (x - x.mean(axis, keepdims=True)) * np.expand_dims(w, 1 - axis) * np.float32(0.5)
        assert np.allclose(run(x, w), wanted, atol=1e-6)
        xfuse.decompose_all(module)
    assert program_difference(module, before) is None


def _mse_program(shape: tuple[int, ...], axes: tuple[int, ...] | None = None) -> ModuleOp:
    type_, rank = _type(shape, "f32"), len(shape)
    dims = ", ".join(f"d{n}" for n in range(rank))
    return xfuse.parse_module(f"""
      func.func @main(%x: {type_}, %y: {type_}) -> f32 {{
        %zero = arith.constant 0.0 : f32
        %count = arith.constant {float(np.prod(shape))} : f32
        %empty = tensor.empty() : tensor<f32>
        %fill = linalg.fill ins(%zero : f32) outs(%empty : tensor<f32>) -> tensor<f32>
        %sum = linalg.generic {{indexing_maps = [affine_map<({dims}) -> ({dims})>, affine_map<({dims}) -> ({dims})>,
            affine_map<({dims}) -> ()>], iterator_types = [{", ".join(['"reduction"'] * rank)}]}}
            ins(%x, %y : {type_}, {type_}) outs(%fill : tensor<f32>) {{
        ^bb0(%a: f32, %b: f32, %c: f32):
          %d = arith.subf %a, %b : f32
          %q = arith.mulf %d, %d : f32
          %r = arith.addf %c, %q : f32
          linalg.yield %r : f32
        }} -> tensor<f32>
        %t = tensor.extract %sum[] : tensor<f32>
        %m = arith.divf %t, %count : f32
        func.return %m : f32
      }}""")


@pytest.mark.parametrize("shape", [(8,), (4, 8), (2, 3, 5), (2, 1, 3), (1, 1), (1,)], ids=str)
def test_flatten_stands_for_all_dimensions(shape: tuple[int, ...]) -> None:
    """DESIGN 3: the core dimension of a flattened argument is all dimensions of the operand."""
    module = _mse_program(shape)
    before = module.clone()
    with session(MEAN_SQUARED_ERROR):
        xfuse.fuse(module)
        assert len(fused_ops(module)) == 1
        program = xfuse.compile(module, backend="numpy")
        assert len(program.rows) == 1
        x, y = np.random.default_rng(3).standard_normal((2, *shape)).astype(np.float32)
        assert np.allclose(program(x, y), ((x - y) ** 2).mean(), rtol=1e-6)
        xfuse.decompose_all(module)
    assert program_difference(module, before) is None


def test_flattened_arguments_have_one_shape() -> None:
    """DESIGN 3: 2x3 and 3x2 have as many elements, and are not taken for each other."""
    kernel = session(MEAN_SQUARED_ERROR).kernel("mean_squared_error", "f32", backend="numpy")
    x = np.arange(6, dtype=np.float32)
    assert kernel(x.reshape(2, 3), x.reshape(2, 3)) == 0
    with pytest.raises(KernelError, match=r"argument 1 of mean_squared_error has shape \(3, 2\), expected \(2, 3\)"):
        kernel(x.reshape(2, 3), x.reshape(3, 2))


def test_an_index_of_a_flattened_dimension_is_refused() -> None:
    """DESIGN 3: only point-wise reads and reductions mean the same for all dimensions together."""
    recipe = one(f"""xfuse.recipe @weighted(%x: tensor<?xf64> {{xfuse.flatten}}) -> tensor<f64> {FLOATS} {{
      {
        reduction(
            "total",
            "%x",
            "0.0",
            "%i = linalg.index 0 : index %j = arith.index_cast %i : index to i64 %k = arith.sitofp %j : i64 to f64 "
            "%p = arith.mulf %k, %x0 : f64 %r = arith.addf %p, %a : f64",
        )
    }
      xfuse.yield %total : tensor<f64>
    }}""")
    form = recipe.form("f64")
    with pytest.raises(UnsupportedError, match="'index' reads or makes the index of a flattened dimension"):
        expand(form.graph, form.arguments, form.results, {0: (2, 3)})


ACCUMULATING = SOFTMAX.replace("%x: tensor<?xf64>)", "%x: tensor<?xf64> {xfuse.accumulator = f32})", 1).replace(
    "@softmax", "@accumulating"
)


def test_an_accumulator_widens_narrow_types_only() -> None:
    """DESIGN 3: computed at no narrower than f32; where the types coincide the casts vanish."""
    plain, wide = one(SOFTMAX), one(ACCUMULATING)
    assert plain.identity != wide.identity
    for element_type in ("f32", "f64"):
        assert plain.form(element_type).text == wide.form(element_type).text
    for element_type in ("f16", "bf16"):
        text = wide.form(element_type).text
        assert text.count("arith.extf f32") == 1
        assert text.count(f"arith.truncf {element_type}") == 1
        assert "math.exp f32" in text
        assert f"math.exp {element_type}" in plain.form(element_type).text


def test_an_accumulator_keeps_digits() -> None:
    """DESIGN 3: of bf16 rows the sum is held in f32."""
    kernel = session(ACCUMULATING).kernel("accumulating", "bf16", backend="numpy")
    x = np.random.default_rng(4).standard_normal((3, 300)).astype(numpy_dtype("bf16"))
    given = kernel(x)
    assert given.dtype == x.dtype
    wanted = numpy_softmax(x, -1)
    assert np.max(np.abs(given.astype(np.float64) - wanted) / wanted) < 2.0**-8


@pytest.mark.parametrize(
    ("arrays", "message"),
    [
        ([np.zeros((), np.float32)] * 2 + [np.float32(1)], r"argument 0 of scaled_centre needs at least 1 dimensions"),
        ([np.zeros(3, np.float32), np.zeros(4, np.float32), 1.0], "argument 1 .* size 4 in its core dimension n, exp"),
        ([np.zeros((2, 3), np.float32), np.zeros((3, 3), np.float32), 1.0], "loop dimensions do not broadcast"),
        ([np.zeros(3, np.float64), np.zeros(3, np.float32), 1.0], "must have dtype float32"),
        ([np.zeros(3, np.float32)], "takes 3 arrays, got 1"),
    ],
)
def test_arrays_that_do_not_fit_are_a_typed_error(arrays: list[Any], message: str) -> None:
    """Law L10: an error before anything is computed, which says what was expected and what came."""
    kernel = session(SCALED_CENTRE).kernel("scaled_centre", "f32", backend="numpy")
    with pytest.raises(KernelError, match=message):
        kernel(*arrays)


def test_loops_broadcast_as_gufuncs_do() -> None:
    """DESIGN 3: loop dimensions follow NumPy's rule for gufuncs."""
    kernel = session(SCALED_CENTRE).kernel("scaled_centre", "f64", backend="numpy")
    rng = np.random.default_rng(5)
    x, w, s = rng.standard_normal((2, 1, 6)), rng.standard_normal((3, 6)), rng.standard_normal((4, 1, 1))
    wanted = (x - x.mean(-1, keepdims=True)) * w * s[..., None]
    assert np.allclose(kernel(x, w, s), wanted)
    assert kernel(x, w, s).shape == (4, 2, 3, 6)
    assert kernel(x[:0], w, s[:1]).shape == (1, 0, 3, 6)


def test_the_normal_signature() -> None:
    """DESIGN 3: core dimensions are named, and a recipe says whether it computes with extents."""
    recipe = one(SCALED_CENTRE)
    assert signature_of(recipe).text == "(n),(n),()->(n)"
    assert reads_extents(recipe)
    assert signature_of(one(SOFTMAX)).text == "(n)->(n)"
    assert not reads_extents(one(SOFTMAX))


def test_an_instance_says_where_its_core_dimensions_lie() -> None:
    """DESIGN 4: loops and core dimensions of a fused op are instance data."""
    from xfuse.identify import body_form

    module = softmax_program((2, 3, 5), 1)
    with session(SOFTMAX) as current:
        xfuse.fuse(module)
        (op,) = fused_ops(module)
        (recipe,) = current.registry.entries()
        found = instance_of(recipe, body_form(op, fastmath=False))
    assert found is not None
    assert (found.element_type, found.arguments, found.results) == ("f32", ((1,),), ((1,),))


def test_foreign_kernels_are_probed_on_rows() -> None:
    """Law L6: a kernel for a recipe with core dimensions must agree with it at all sorts of sizes."""
    current = session(SOFTMAX)

    def good(x: Any) -> Any:
        return numpy_softmax(x, -1).astype(x.dtype) if x.shape[-1] else np.array(x)

    def flipped(x: Any) -> Any:
        return good(x)[..., ::-1].copy()

    def first_axis(x: Any) -> Any:
        return numpy_softmax(x, 0).astype(x.dtype) if x.size else np.array(x)

    for wrong in (flipped, first_axis, lambda x: good(x).sum(-1)):
        with pytest.raises(VerificationError, match="law L6"):
            current.bind("softmax", wrong, ("f64", "f64"))
    row = current.bind("softmax", good, ("f64", "f64"))
    assert row.kernel is not None
    assert row.kernel.signature is not None
    x = np.random.default_rng(6).standard_normal((4, 9))
    assert np.allclose(row.kernel(x), numpy_softmax(x, -1))


@pytest.mark.parametrize("text", [SOFTMAX, CENTRE, SCALED_CENTRE], ids=["softmax", "centre", "scaled_centre"])
def test_lifting_gives_what_each_item_gives(text: str) -> None:
    """DESIGN 4: evaluating over loops at once is evaluating item by item."""
    from xfuse.backends.numpy.source import Writer

    form = one(text).form("f64")
    rng = np.random.default_rng(7)
    arrays = [rng.standard_normal((2, 3, 5) if value.extents else (2, 3)) for value in form.arguments]
    graph, arguments, results = lift(form.graph, form.arguments, form.results, [(None, None)] * len(arrays))
    (whole,) = Writer(graph, arguments, results).write().compile()(*arrays)
    single = Writer(form.graph, form.arguments, form.results).write().compile()
    for at in np.ndindex(2, 3):
        assert np.allclose(whole[at], single(*(array[at] for array in arrays))[0], rtol=1e-14)


def test_matrix_products_go_to_numpy_unless_asked_otherwise() -> None:
    """DESIGN 9: a row-wise dot product over unshared loops is a matrix product, for which NumPy calls BLAS."""
    current = xfuse.Session()
    linear, softmax = current.recipe("fused_linear"), current.recipe("softmax")
    dtypes = sum(linear.signature("f32"), ())
    assert current.admissible(linear, dtypes, "auto") == "numpy"
    assert current.admissible(linear, dtypes, "llvm") == "llvm"
    assert current.lookup(linear, "auto", dtypes).backend == "numpy"
    assert current.admissible(softmax, ("f32", "f32"), "auto") == "llvm"
