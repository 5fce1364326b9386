"""Registration and identity as the reference modules' own tests have them, and right where those modules are wrong.

Docstrings name the reference's tests; docs/reference-map.md lists all of them.
"""

from __future__ import annotations

import numpy as np
import pytest
from reference_programs import one, session, spelled, spelling
from support import calls_of

import xfuse
from xfuse.errors import ExtentOverflow, ParsingError, RecipeError
from xfuse.identify import identity
from xfuse.primitives.element_types import numpy_dtype
from xfuse.registry import RecipeRegistry


def refusal(text: str) -> str:
    """Why a recipe is refused; nothing is left behind."""
    registry = RecipeRegistry()
    with pytest.raises((RecipeError, ParsingError)) as raised:
        registry.register(text)
    assert not registry.entries()
    assert "Traceback" not in str(raised.value)
    return str(raised.value)


def scalar(name: str, arguments: str, *lines: str, types: str = "f32") -> str:
    """A recipe on scalars; the last line names the result."""
    listed = ", ".join(f"%{each}: {types}" for each in arguments.split())
    body = "\n".join(lines[:-1])
    return f"xfuse.recipe @{name}({listed}) -> {types} {{\n{body}\nxfuse.yield %{lines[-1]} : {types}\n}}"


def row(body: str, signature: str = "(%x: tensor<?xf64>) -> tensor<?xf64>") -> str:
    """A recipe on rows."""
    return f"xfuse.recipe @r{signature} {{\n%c0 = arith.constant 0 : index\n%c1 = arith.constant 1 : index\n{body}\n}}"


# What can be represented


@pytest.mark.parametrize("name", ["clamp", "runtime_scalar", "recip", "sum_all"])
def test_what_the_reference_cannot_represent_is_a_recipe(name: str) -> None:
    """register_rejects_unrepresentable_region: refused there although sound.

    These are clamp, literals, scalars given at run time and results without axes.
    """
    registry = RecipeRegistry()
    entry = registry.register(spelling(name))
    assert registry.region(entry.identity) is entry
    assert entry.name == name


@pytest.mark.parametrize(
    ("text", "word"),
    [
        (scalar("r", "x", "%r = func.call @f(%x) : (f32) -> f32", "r"), "@f"),
        (scalar("r", "x", "%m = memref.alloc() : memref<f32>", "%r = memref.load %m[] : memref<f32>", "r"), "memref"),
        (scalar("r", "x", '%r = "test.unknown"(%x) : (f32) -> f32', "r"), "test.unknown"),
    ],
    ids=["call", "memory", "unknown op"],
)
def test_what_cannot_be_represented_is_refused_by_name(text: str, word: str) -> None:
    """register_rejects_unrepresentable_region, tag_to_op_reconstructs_nested_fused: an op of unknown effects."""
    assert word in refusal(text)


@pytest.mark.parametrize("label", ["softmax", "nobody"])
def test_a_fused_op_inside_a_recipe_is_its_region(label: str) -> None:
    """tag_to_op_reconstructs_nested_fused: any label will do, as the nested op brings its own recipe along."""
    nested = scalar(
        "outer",
        "x",
        f"%f = xfuse.fused @{label} (%a = %x : f32) -> f32 {{ %e = math.exp %a : f32 xfuse.yield %e : f32 }}",
        "%r = math.sqrt %f : f32",
        "r",
    )
    plain = scalar("plain", "x", "%e = math.exp %x : f32", "%r = math.sqrt %e : f32", "r")
    registry = RecipeRegistry()
    assert registry.register(nested) is registry.register(plain), "law L5: one function, one entry"


def test_a_nested_fused_op_that_names_its_own_recipe_is_refused() -> None:
    """tag_to_op_reconstructs_nested_fused: no circle (law L1)."""
    text = scalar(
        "r", "x", "%r = xfuse.fused @r (%a = %x : f32) -> f32 { %e = math.exp %a : f32 xfuse.yield %e : f32 }", "r"
    )
    assert "refers to itself" in refusal(text)


def test_an_index_row_without_a_length_is_refused() -> None:
    """tag_to_op_still_rejects_basis_gap_and_scan: where a length is needed and not given, there is no op."""
    text = row(
        "%e = tensor.empty() : tensor<?xf64>\n%r = arith.addf %x, %e : tensor<?xf64>\nxfuse.yield %r : tensor<?xf64>"
    )
    assert "tensor.empty" in refusal(text) or "dynamic" in refusal(text)


ROTATE_HALF = row("""
  %n = tensor.dim %x, %c0 : tensor<?xf64>
  %c2 = arith.constant 2 : index
  %h = arith.divui %n, %c2 : index
  %m = arith.subi %n, %h : index
  %low = tensor.extract_slice %x[0] [%h] [1] : tensor<?xf64> to tensor<?xf64>
  %high = tensor.extract_slice %x[%h] [%m] [1] : tensor<?xf64> to tensor<?xf64>
  %r = tensor.concat dim(0) %high, %low : (tensor<?xf64>, tensor<?xf64>) -> tensor<?xf64>
  xfuse.yield %r : tensor<?xf64>""")


def test_slices_from_extents_are_representable() -> None:
    """validate_representable_now_accepts_a_slice_region, validate_accepts_a_rel_attr_region."""
    registry = RecipeRegistry()
    entry = registry.register(ROTATE_HALF)
    assert registry.region(entry.identity) is entry
    assert xfuse.count_scalar_slots(entry) == 0
    for n in (4, 8):
        (shape,) = xfuse.resolve_shapes(entry, [(n,)]).results
        assert tuple(shape) == (n,)


def test_rel_attributes_that_can_never_work_are_refused() -> None:
    """validate_rejects_rel_abs_conflict_and_bind_out_of_range: an axis that is not there, a start before the first."""
    beyond = ROTATE_HALF.replace("tensor.dim %x, %c0", "tensor.dim %x, %c1")
    assert "axis" in refusal(beyond)
    below = ROTATE_HALF.replace("%x[0] [%h]", "%x[-1] [%h]")
    assert "-1" in refusal(below)


@pytest.mark.parametrize("exponent", [-2, -1, 0, 1, 2, 3, 5])
def test_powers_have_their_exponent_in_the_region(exponent: int) -> None:
    """tag_to_op_reconstructs_powi, powi_region_registers_and_emits: negative exponents too, and none is a slot."""
    text = spelling("powi").replace("constant 3", f"constant {exponent}")
    given = session(text)
    entry = given.recipe("powi")
    assert xfuse.count_scalar_slots(entry) == 0
    assert (entry.identity == spelled("powi").identity) == (exponent == 3)
    x = np.array([0.5, -1.5, 2.0, 3.0])
    for use in ("f32", "f64"):
        power = given.kernel(entry, use)(x.astype(numpy_dtype(use)))
        np.testing.assert_allclose(power, x**exponent, rtol=1e-6)


@pytest.mark.parametrize("name", ["masked_fill", "max_dim", "powi"])
def test_literals_are_no_slots(name: str) -> None:
    """tag_to_op_reconstructs_masked_fill, tag_to_op_reconstructs_max_dim, tag_to_op_reconstructs_powi: zero slots."""
    assert xfuse.count_scalar_slots(session(spelled(name)).recipe(name)) == 0


def test_a_fill_needs_a_value_of_the_operands_type() -> None:
    """tag_to_op_reconstructs_masked_fill: no value, or one of another type, is no op."""
    text = spelling("masked_fill")
    assert refusal(text.replace("%value = arith.constant 2.0 : f64", ""))
    assert refusal(text.replace("2.0 : f64", "2 : i4"))


# What the reference accepts though it can never work


@pytest.mark.parametrize(
    ("text", "word"),
    [
        (scalar("r", "x", "x"), "argument"),
        (
            "xfuse.recipe @r() -> tensor<4xf32> { %r = arith.constant dense<[0.0, 1.0, 2.0, 3.0]> : tensor<4xf32> "
            "xfuse.yield %r : tensor<4xf32> }",
            "no arguments",
        ),
        (scalar("r", "x", '%r = "arith.addf"(%x) : (f32) -> f32', "r"), "2 operands"),
        (scalar("r", "x", '%r = "arith.addf"() : () -> f32', "%s = arith.mulf %r, %x : f32", "s"), "2 operands"),
        (scalar("r", "x y z", '%r = "arith.addf"(%x, %y, %z) : (f32, f32, f32) -> f32', "r"), "2 operands"),
        (
            row(
                "%cm = arith.constant -1 : index\n%n = tensor.dim %x, %cm : tensor<?xf64>\n"
                "%k = arith.index_cast %n : index to i64\n%f = arith.sitofp %k : i64 to f64\n"
                "%s = tensor.splat %f[%n] : tensor<?xf64>\n%r = arith.mulf %x, %s : tensor<?xf64>\n"
                "xfuse.yield %r : tensor<?xf64>"
            ),
            "axis",
        ),
        (
            row(
                "%r = tensor.concat dim(-1) %x, %x : (tensor<?xf64>, tensor<?xf64>) -> tensor<?xf64>\n"
                "xfuse.yield %r : tensor<?xf64>"
            ),
            "concat",
        ),
    ],
    ids=["bare argument", "no argument", "one operand", "no operand", "two scalars", "negative axis", "concat axis"],
)
def test_what_the_reference_accepts_and_cannot_use_is_refused(text: str, word: str) -> None:
    """Wrong in the reference, which registers them all; the first one then hangs its optimizer."""
    assert word in refusal(text)


def test_overflow_of_index_arithmetic_is_typed_at_registration() -> None:
    """Wrong in the reference: such an expression panics registration. Here it is legal until it is used."""
    text = row("""
      %n = tensor.dim %x, %c0 : tensor<?xf64>
      %big = arith.constant 9223372036854775807 : index
      %size = arith.muli %n, %big : index
      %v = tensor.extract %x[%c0] : tensor<?xf64>
      %e = tensor.empty(%size) : tensor<?xf64>
      %r = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
          outs(%e : tensor<?xf64>) {
      ^bb0(%o: f64):
        %i = linalg.index 0 : index
        %k = arith.index_cast %i : index to i64
        %f = arith.sitofp %k : i64 to f64
        %s = arith.addf %v, %f : f64
        linalg.yield %s : f64
      } -> tensor<?xf64>
      xfuse.yield %r : tensor<?xf64>""")
    entry = RecipeRegistry().register(text)
    with pytest.raises(ExtentOverflow):
        xfuse.resolve_shapes(entry, [(4,)])


# Identity


def extended(size: str) -> str:
    """a[0] + i + b[0] for i up to a computed length."""
    return row(
        f"""
      %na = tensor.dim %a, %c0 : tensor<?xf64>
      %nb = tensor.dim %b, %c0 : tensor<?xf64>
      {size}
      %va = tensor.extract %a[%c0] : tensor<?xf64>
      %vb = tensor.extract %b[%c0] : tensor<?xf64>
      %e = tensor.empty(%size) : tensor<?xf64>
      %r = linalg.generic {{indexing_maps = [affine_map<(i) -> (i)>], iterator_types = ["parallel"]}}
          outs(%e : tensor<?xf64>) {{
      ^bb0(%o: f64):
        %i = linalg.index 0 : index
        %k = arith.index_cast %i : index to i64
        %f = arith.sitofp %k : i64 to f64
        %s = arith.addf %va, %f : f64
        %t = arith.addf %s, %vb : f64
        linalg.yield %t : f64
      }} -> tensor<?xf64>
      xfuse.yield %r : tensor<?xf64>""",
        "(%a: tensor<?xf64>, %b: tensor<?xf64>) -> tensor<?xf64>",
    )


def sliced(start: str, length: str) -> str:
    """A slice by computed bounds."""
    return row(f"""
      %n = tensor.dim %x, %c0 : tensor<?xf64>
      %c2 = arith.constant 2 : index
      %half = arith.divui %n, %c2 : index
      %r = tensor.extract_slice %x[{start}] [{length}] [1] : tensor<?xf64> to tensor<?xf64>
      xfuse.yield %r : tensor<?xf64>""")


def reduced(maps: str) -> str:
    """Row sums or column sums of x, weighed by the row number."""
    return row(
        f"""
      %m = tensor.dim %x, %c0 : tensor<?x?xf64>
      %n = tensor.dim %x, %c1 : tensor<?x?xf64>
      %zero = arith.constant 0.0 : f64
      %e = tensor.empty(%m) : tensor<?xf64>
      %i0 = linalg.fill ins(%zero : f64) outs(%e : tensor<?xf64>) -> tensor<?xf64>
      %r = linalg.generic {{indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>],
          iterator_types = ["parallel", "reduction"]}} ins(%x : tensor<?x?xf64>) outs(%i0 : tensor<?xf64>) {{
      ^bb0(%a: f64, %b: f64):
        %i = linalg.index {maps} : index
        %k = arith.index_cast %i : index to i64
        %f = arith.sitofp %k : i64 to f64
        %p = arith.mulf %a, %f : f64
        %s = arith.addf %b, %p : f64
        linalg.yield %s : f64
      }} -> tensor<?xf64>
      xfuse.yield %r : tensor<?xf64>""",
        "(%x: tensor<?x?xf64>) -> tensor<?xf64>",
    )


MERGED_THERE = {
    "x * x and x * y": (
        scalar("r", "x", "%r = arith.mulf %x, %x : f32", "r"),
        scalar("s", "x y", "%r = arith.mulf %x, %y : f32", "r"),
    ),
    "x - y and y - x": (
        scalar("r", "x y", "%r = arith.subf %x, %y : f32", "r"),
        scalar("s", "x y", "%r = arith.subf %y, %x : f32", "r"),
    ),
    "x * y - z and x * z - y": (
        scalar("r", "x y z", "%p = arith.mulf %x, %y : f32", "%r = arith.subf %p, %z : f32", "r"),
        scalar("s", "x y z", "%p = arith.mulf %x, %z : f32", "%r = arith.subf %p, %y : f32", "r"),
    ),
    "an open slot and a literal 0": (
        spelling("mul_scalar"),
        "xfuse.recipe @s(%x: f64) -> f64 attributes {element_types = [f16, bf16, f32, f64]} {\n"
        "%s = arith.constant 0.0 : f64\n%r = arith.mulf %x, %s : f64\nxfuse.yield %r : f64\n}",
    ),
    "masked fill by 2 and by 3": (spelling("masked_fill"), spelling("masked_fill", {"2.0": "3.0"})),
    "triangles of offsets 1 and 0": (
        spelling("triu"),
        spelling("triu", {"%diagonal = arith.constant 1": "%diagonal = arith.constant 0"}),
    ),
    "indices of rows and of columns": (reduced("0"), reduced("1")),
    "lengths of a, of b, of 1": (
        extended("%size = arith.addi %na, %c0 : index"),
        extended("%size = arith.addi %nb, %c0 : index"),
    ),
    "the length of a and an absolute 1": (
        extended("%size = arith.addi %na, %c0 : index"),
        extended("%size = arith.addi %c1, %c0 : index"),
    ),
    "absolute lengths 4 and 5": (
        extended("%size = arith.constant 4 : index"),
        extended("%size = arith.constant 5 : index"),
    ),
    "slices by half of the extent and by 0": (sliced("0", "%half"), sliced("0", "0")),
}


@pytest.mark.parametrize("pair", MERGED_THERE)
def test_different_functions_have_different_entries(pair: str) -> None:
    """Wrong in the reference: one id for both, so that a kernel bound for one runs for the other (law L5)."""
    left, right = map(one, MERGED_THERE[pair])
    assert left.identity != right.identity
    assert left.text != right.text


def test_rel_regions_registered_twice_are_one_entry() -> None:
    """Wrong in the reference: a region that reads extents gets a fresh id on every identical registration."""
    registry = RecipeRegistry()
    entries = {id(registry.register(ROTATE_HALF.replace("@r(", f"@r{number}(", 1))) for number in range(3)}
    assert len(entries) == len(registry) == 1


def test_merged_and_distinct_as_in_the_reference() -> None:
    """base_map_hash_commutative_reorder_is_equal, base_map_hash_distinct_ops_differ, and literals."""
    add = scalar("a", "x y", "%s = arith.addf %x, %y : f32", "%r = math.exp %s : f32", "r")
    swapped = scalar("b", "x y", "%s = arith.addf %y, %x : f32", "%r = math.exp %s : f32", "r")
    product = scalar("c", "x y", "%s = arith.mulf %x, %y : f32", "%r = math.exp %s : f32", "r")
    assert one(add).identity == one(swapped).identity != one(product).identity
    assert one(spelling("powi", {"constant 3": "constant 2"})).identity != spelled("powi").identity
    assert spelled("cum_sum").identity != one(spelling("cum_sum", {"constant 0.0": "constant 1.0"})).identity


def test_literals_are_hashed_by_their_bits() -> None:
    """base_map_hash_folds_real_const_bytes: also those of tensors, which the reference cannot always read."""
    text = (
        "func.func @main(%x: tensor<2xf32>) -> tensor<2xf32> {{ %c = arith.constant dense<[1.0, {}]> : tensor<2xf32>\n"
        "%r = arith.addf %x, %c : tensor<2xf32> return %r : tensor<2xf32> }}"
    )
    forms = {identity(text.format(value)).instance for value in ("2.0", "2.0000002", "0.0", "-0.0")}
    assert len(forms) == 4


def test_slices_and_concatenations_are_hashed_the_same_every_time() -> None:
    """base_map_hash_slice_concat_fragment_is_deterministic (law L11)."""
    assert len({one(f"{ROTATE_HALF}\n{' ' * number}").text for number in range(3)}) == 1
    assert one(ROTATE_HALF).identity != one(ROTATE_HALF.replace("%high, %low", "%low, %high")).identity


def test_scans_are_told_apart_by_their_bodies() -> None:
    """scan_base_map_hash_differs_for_different_bodies, scan_base_map_hash_equal_for_same_body_cross_graph."""
    scan = spelling("scan")
    assert "arith.mulf %a, %carry" in scan
    renamed = scan.replace("%carry", "%held").replace("%new", "%later")
    assert one(renamed).identity == spelled("scan").identity
    assert one(scan.replace("arith.mulf %a, %carry", "arith.addf %a, %carry")).identity != spelled("scan").identity


def test_dissolving_fused_ops_keeps_what_a_program_is() -> None:
    """lower_to_base_map_dissolves_a_fused_op: the identity of a program with fused ops is that without them."""
    module = xfuse.parse_module("""func.func @main(%x: f32) -> f32 {
      %f = xfuse.fused @anything (%a = %x : f32) -> f32 { %e = math.exp %a : f32 xfuse.yield %e : f32 }
      %r = math.sqrt %f : f32
      return %r : f32 }""")
    before = identity(module).instance
    xfuse.decompose_all(module)
    assert [op.name for op in module.walk()][2:4] == ["math.exp", "math.sqrt"]
    assert identity(module).instance == before


def test_two_thousand_registrations_are_linear() -> None:
    """Wrong in the reference, where registering takes quadratic time: the last 500 cost what the first cost."""
    recipes = [
        one(scalar(f"r{n}", "x", f"%c = arith.constant {n}.5 : f32", "%r = arith.subf %c, %x : f32", "r"))
        for n in range(2000)
    ]
    for recipe in recipes:
        assert recipe.identity
    registry = RecipeRegistry()
    calls: list[int] = []
    for start in range(0, 2000, 500):
        some = recipes[start : start + 500]
        calls.append(calls_of(lambda some=some: [registry.register(recipe) for recipe in some])[0])
    assert len(registry) == 2000
    assert calls[-1] < 1.5 * calls[0]
