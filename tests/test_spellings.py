"""Spellings of library families that no file of the corpus has: each is found, and put back as it was (law L2).

A program is put together from parts of one kind: how a constant is made, how an operand is broadcast or laid out, how
an axis is reduced, how a matrix product is written.
"""

from __future__ import annotations

import subprocess
from collections.abc import Sequence
from functools import cache

import pytest
from reference_programs import found
from support import generic, mlir_opt

import xfuse
from xfuse.backends.numpy.backend import NumPyBackend

MAPS = """
#all = affine_map<(i, j) -> (i, j)>
#flip = affine_map<(i, j) -> (j, i)>
#row = affine_map<(i, j) -> (i)>
#column = affine_map<(i, j) -> (j)>
#kept = affine_map<(i, j) -> (i, 0)>
#across = affine_map<(i, j) -> (0, j)>
#corner = affine_map<(i, j) -> (0, 0)>
#nothing = affine_map<(i, j) -> ()>
#one = affine_map<(i) -> (i)>
#scalar = affine_map<() -> ()>
#left = affine_map<(i, j, k) -> (i, k)>
#right = affine_map<(i, j, k) -> (k, j)>
#turned = affine_map<(i, j, k) -> (j, k)>
#both = affine_map<(i, j, k) -> (i, j)>
#cube = affine_map<(i, j, k) -> (i, j, k)>
"""
TYPES = {"!t": "tensor<4x8xf32>", "!r": "tensor<4xf32>", "!c": "tensor<8xf32>", "!k": "tensor<4x1xf32>"}
EACH = 'iterator_types = ["parallel", "parallel"]'
FOLD = 'iterator_types = ["parallel", "reduction"]'
PRODUCT = 'iterator_types = ["parallel", "parallel", "reduction"]'


@cache
def session() -> xfuse.Session:
    """The whole library, run by NumPy."""
    return xfuse.Session(backends=[NumPyBackend()])


def program(arguments: str, result: str, *parts: str) -> str:
    """A function that returns %r; ``!t`` and its like are types, EACH and its like the kinds of loops."""
    body = "\n".join(parts)
    text = f"func.func @main({arguments}) -> {result} {{\n{body}\nreturn %r : {result}\n}}"
    for name, type_ in TYPES.items():
        text = text.replace(name, type_)
    return MAPS + text.replace("EACH", EACH).replace("FOLD", FOLD).replace("PRODUCT", PRODUCT)


def families(text: str) -> list[str]:
    """The families of what is found in a program; the laws are checked on the way."""
    registry = session().registry
    recipes = [registry.region(name) for name in found(xfuse.parse_module(text), session())]
    return ["" if recipe is None else recipe.family for recipe in recipes]


def optimised(text: str, passes: Sequence[str]) -> str:
    """A program after passes of real MLIR."""
    command = [mlir_opt(), *(f"--{name}" for name in passes)]
    given = generic(xfuse.parse_module(text))
    done = subprocess.run(command, input=given, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[:2000]
    return done.stdout


# Constants: the 0 of relu(x + b)

CONSTANTS = {
    "splat": "%c = arith.constant 0.0 : f32 %zero = tensor.splat %c : !t",
    "body": """%e = tensor.empty() : !t
        %zero = linalg.generic {indexing_maps = [#all], EACH} outs(%e : !t) {
        ^bb0(%o: f32):
          %c = arith.constant 0.0 : f32
          linalg.yield %c : f32
        } -> !t""",
    "scalar operand": """%c = arith.constant 0.0 : f32
        %e = tensor.empty() : !t
        %zero = linalg.generic {indexing_maps = [#nothing, #all], EACH} ins(%c : f32) outs(%e : !t) {
        ^bb0(%i: f32, %o: f32):
          linalg.yield %i : f32
        } -> !t""",
    "tensor without axes": """%c = arith.constant dense<0.0> : tensor<f32>
        %e = tensor.empty() : !t
        %zero = linalg.broadcast ins(%c : tensor<f32>) outs(%e : !t) dimensions = [0, 1]""",
    "single element": """%c = arith.constant 0.0 : f32
        %u = tensor.from_elements %c : tensor<1x1xf32>
        %e = tensor.empty() : !t
        %zero = linalg.generic {indexing_maps = [#corner, #all], EACH} ins(%u : tensor<1x1xf32>) outs(%e : !t) {
        ^bb0(%i: f32, %o: f32):
          linalg.yield %i : f32
        } -> !t""",
    "fed through outs": """%c = arith.constant dense<0.0> : !t
        %zero = linalg.generic {indexing_maps = [#all], EACH} outs(%c : !t) {
        ^bb0(%o: f32):
          linalg.yield %o : f32
        } -> !t""",
    "fill of a fill": """%a = arith.constant 1.0 : f32
        %c = arith.constant 0.0 : f32
        %e = tensor.empty() : !t
        %f = linalg.fill ins(%a : f32) outs(%e : !t) -> !t
        %zero = linalg.fill ins(%c : f32) outs(%f : !t) -> !t""",
    "dynamic fill": """%c = arith.constant 0.0 : f32
        %n = arith.constant 4 : index
        %e = tensor.empty(%n) : tensor<?x8xf32>
        %f = linalg.fill ins(%c : f32) outs(%e : tensor<?x8xf32>) -> tensor<?x8xf32>
        %zero = tensor.cast %f : tensor<?x8xf32> to !t""",
    "narrowed scalar": """%w = arith.constant 0.0 : f64
        %c = arith.truncf %w : f64 to f32
        %zero = tensor.splat %c : !t""",
    # What follows is a constant since all its elements are equal, however many they are.
    "narrowed tensor": """%w = arith.constant dense<0.0> : tensor<4x8xf64>
        %zero = arith.truncf %w : tensor<4x8xf64> to !t""",
    "narrowed in a body": """%w = arith.constant 0.0 : f64
        %e = tensor.empty() : !t
        %zero = linalg.generic {indexing_maps = [#all], EACH} outs(%e : !t) {
        ^bb0(%o: f32):
          %c = arith.truncf %w : f64 to f32
          linalg.yield %c : f32
        } -> !t""",
    "read in a body": """%c = arith.constant dense<0.0> : tensor<f32>
        %e = tensor.empty() : !t
        %zero = linalg.generic {indexing_maps = [#all], EACH} outs(%e : !t) {
        ^bb0(%o: f32):
          %v = tensor.extract %c[] : tensor<f32>
          linalg.yield %v : f32
        } -> !t""",
    "computed": "%a = arith.constant dense<1.0> : !t %zero = arith.subf %a, %a : !t",
    "computed by a named op": """%a = arith.constant dense<1.0> : !t
        %e = tensor.empty() : !t
        %zero = linalg.sub ins(%a, %a : !t, !t) outs(%e : !t) -> !t""",
    "copy": """%c = arith.constant dense<0.0> : !t
        %e = tensor.empty() : !t
        %zero = linalg.copy ins(%c : !t) outs(%e : !t) -> !t""",
    "slice": """%c = arith.constant dense<0.0> : tensor<9x8xf32>
        %zero = tensor.extract_slice %c[5, 0] [4, 8] [1, 1] : tensor<9x8xf32> to !t""",
    "reshape": """%c = arith.constant dense<0.0> : tensor<32xf32>
        %n = arith.constant dense<[4, 8]> : tensor<2xindex>
        %zero = tensor.reshape %c(%n) : (tensor<32xf32>, tensor<2xindex>) -> !t""",
}
READERS = {
    "arith": "%s = arith.addf %b, %x : !t %r = arith.maximumf %zero, %s : !t",
    "outs": """%s = arith.addf %x, %b : !t
        %r = linalg.generic {indexing_maps = [#all, #all], EACH} ins(%s : !t) outs(%zero : !t) {
        ^bb0(%si: f32, %so: f32):
          %m = arith.maximumf %si, %so : f32
          linalg.yield %m : f32
        } -> !t""",
}


@pytest.mark.parametrize("reader", READERS)
@pytest.mark.parametrize("constant", CONSTANTS)
def test_constants(constant: str, reader: str) -> None:
    text = program("%x: !t, %b: !t", "!t", CONSTANTS[constant], READERS[reader])
    assert families(text) == ["add_relu"]


@pytest.mark.parametrize(
    "constant",
    [
        "%zero = arith.constant dense<-0.0> : !t",
        "%w = arith.constant dense<1.0e-40> : tensor<4x8xf64> %zero = arith.truncf %w : tensor<4x8xf64> to !t",
        "%a = arith.constant dense<1.0> : !t %n = arith.negf %a : !t %zero = arith.subf %a, %n : !t",
        """%l = arith.constant dense<[[0.0], [0.0], [0.0], [1.0]]> : !k
        %v = tensor.collapse_shape %l [[0, 1]] : !k into !r
        %e = tensor.empty() : !t
        %zero = linalg.broadcast ins(%v : !r) outs(%e : !t) dimensions = [1]""",
    ],
    ids=["negative", "subnormal", "two", "table"],
)
def test_other_constants(constant: str) -> None:
    assert "add_relu" not in families(program("%x: !t, %b: !t", "!t", constant, READERS["arith"]))


def test_what_is_computed_of_a_table_is_no_constant() -> None:
    """It is an inner value, and as such it escapes."""
    text = program(
        "%x: !r",
        "!r",
        """%l = arith.constant dense<[1.0, 2.0, 3.0, 4.0]> : !r
        %n = arith.negf %l : !r
        %s = arith.addf %x, %n : !r
        %z = arith.constant dense<0.0> : !r
        %m = arith.maximumf %s, %z : !r
        %r = arith.mulf %m, %n : !r""",
    )
    assert families(text) == ["add_relu"]


# Operands: b of relu(x + b), broadcast

BROADCASTS = {
    "expanded": (
        "!c",
        """%u = tensor.expand_shape %b [[0, 1]] output_shape [1, 8] : !c into tensor<1x8xf32>
        %w = linalg.generic {indexing_maps = [#across, #all], EACH} ins(%u : tensor<1x8xf32>) outs(%e : !t) {
        ^bb0(%i: f32, %o: f32):
          linalg.yield %i : f32
        } -> !t""",
    ),
    "expanded and collapsed": (
        "!r",
        """%u = tensor.expand_shape %b [[0, 1]] output_shape [4, 1] : !r into !k
        %v = tensor.collapse_shape %u [[0, 1]] : !k into !r
        %w = linalg.broadcast ins(%v : !r) outs(%e : !t) dimensions = [1]""",
    ),
    "transposed": (
        "!c",
        """%f = tensor.empty() : tensor<8x4xf32>
        %v = linalg.broadcast ins(%b : !c) outs(%f : tensor<8x4xf32>) dimensions = [1]
        %w = linalg.transpose ins(%v : tensor<8x4xf32>) outs(%e : !t) permutation = [1, 0]""",
    ),
    "permuted loops": (
        "!c",
        """%w = linalg.generic {indexing_maps = [#row, #flip], EACH} ins(%b : !c) outs(%e : !t) {
        ^bb0(%i: f32, %o: f32):
          linalg.yield %i : f32
        } -> !t""",
    ),
    "unit axis collapsed": (
        "!c",
        """%f = tensor.empty() : tensor<4x1x8xf32>
        %v = linalg.broadcast ins(%b : !c) outs(%f : tensor<4x1x8xf32>) dimensions = [0, 1]
        %w = tensor.collapse_shape %v [[0, 1], [2]] : tensor<4x1x8xf32> into !t""",
    ),
    "scalar captured": (
        "f32",
        """%w = linalg.generic {indexing_maps = [#all], EACH} outs(%e : !t) {
        ^bb0(%o: f32):
          linalg.yield %b : f32
        } -> !t""",
    ),
    "cast": (
        "tensor<?xf32>",
        """%v = tensor.cast %b : tensor<?xf32> to !c
        %w = linalg.broadcast ins(%v : !c) outs(%e : !t) dimensions = [0]""",
    ),
    "gathered": (
        "!c",
        """%w = linalg.generic {indexing_maps = [#all], EACH} outs(%e : !t) {
        ^bb0(%o: f32):
          %at = linalg.index 1 : index
          %v = tensor.extract %b[%at] : !c
          linalg.yield %v : f32
        } -> !t""",
    ),
    "reshaped": (
        "!c",
        """%s = arith.constant dense<[1, 8]> : tensor<2xi64>
        %u = tensor.reshape %b(%s) : (!c, tensor<2xi64>) -> tensor<1x8xf32>
        %w = linalg.generic {indexing_maps = [#across, #all], EACH} ins(%u : tensor<1x8xf32>) outs(%e : !t) {
        ^bb0(%i: f32, %o: f32):
          linalg.yield %i : f32
        } -> !t""",
    ),
}
ADDED = """%z = arith.constant 0.0 : f32
    %r = linalg.generic {indexing_maps = [#all, #all], EACH} ins(%x : !t) outs(%w : !t) {
    ^bb0(%xi: f32, %wi: f32):
      %sum = arith.addf %xi, %wi : f32
      %m = arith.maximumf %z, %sum : f32
      linalg.yield %m : f32
    } -> !t"""


@pytest.mark.parametrize("broadcast", BROADCASTS)
def test_broadcast_operands(broadcast: str) -> None:
    type_, lines = BROADCASTS[broadcast]
    assert families(program(f"%x: !t, %b: {type_}", "!t", "%e = tensor.empty() : !t", lines, ADDED)) == ["add_relu"]


# Inner values: x + b, laid out anew

VIEWS = {
    "cast": "%u = tensor.cast %s : !t to tensor<?x8xf32> %v = tensor.cast %u : tensor<?x8xf32> to !t",
    "copy": "%e = tensor.empty() : !t %v = linalg.copy ins(%s : !t) outs(%e : !t) -> !t",
    "transposed twice": """%e = tensor.empty() : !t
        %f = tensor.empty() : tensor<8x4xf32>
        %u = linalg.transpose ins(%s : !t) outs(%f : tensor<8x4xf32>) permutation = [1, 0]
        %v = linalg.generic {indexing_maps = [#flip, #all], EACH} ins(%u : tensor<8x4xf32>) outs(%e : !t) {
        ^bb0(%i: f32, %o: f32):
          linalg.yield %i : f32
        } -> !t""",
    "unit axis": """%u = tensor.expand_shape %s [[0, 1], [2]] output_shape [4, 1, 8] : !t into tensor<4x1x8xf32>
        %v = tensor.collapse_shape %u [[0], [1, 2]] : tensor<4x1x8xf32> into !t""",
    "unit axis sliced": """%f = tensor.empty() : tensor<4x1x8xf32>
        %u = tensor.insert_slice %s into %f[0, 0, 0] [4, 1, 8] [1, 1, 1] : !t into tensor<4x1x8xf32>
        %v = tensor.extract_slice %u[0, 0, 0] [4, 1, 8] [1, 1, 1] : tensor<4x1x8xf32> to !t""",
    "unit axis reshaped": """%n = arith.constant dense<[4, 1, 8]> : tensor<3xindex>
        %u = tensor.reshape %s(%n) : (!t, tensor<3xindex>) -> tensor<4x1x8xf32>
        %v = tensor.collapse_shape %u [[0], [1, 2]] : tensor<4x1x8xf32> into !t""",
    "inserted whole": """%e = tensor.empty() : !t
        %v = tensor.insert_slice %s into %e[0, 0] [4, 8] [1, 1] : !t into !t""",
    "padded by nothing": """%p = arith.constant 1.0 : f32
        %v = tensor.pad %s low[0, 0] high[0, 0] {
        ^bb0(%i: index, %j: index):
          tensor.yield %p : f32
        } : !t to !t""",
    "joined with nothing": "%v = tensor.concat dim(1) %s : (!t) -> !t",
    "gathered": """%e = tensor.empty() : !t
        %v = linalg.generic {indexing_maps = [#all], EACH} outs(%e : !t) {
        ^bb0(%o: f32):
          %i = linalg.index 0 : index
          %j = linalg.index 1 : index
          %g = tensor.extract %s[%i, %j] : !t
          linalg.yield %g : f32
        } -> !t""",
}
RELU = """%z = arith.constant dense<0.0> : !t
    %r = arith.maximumf %v, %z : !t"""


@pytest.mark.parametrize("view", VIEWS)
def test_views_of_inner_values(view: str) -> None:
    text = program("%x: !t, %b: !t", "!t", "%s = arith.addf %x, %b : !t", VIEWS[view], RELU)
    assert families(text) == ["add_relu"]


@pytest.mark.parametrize(
    "view",
    [
        "%v = tensor.insert_slice %h into %s[0, 0] [3, 8] [1, 1] : tensor<3x8xf32> into !t",
        """%c = tensor.collapse_shape %s [[0, 1]] : !t into tensor<32xf32>
        %f = tensor.expand_shape %c [[0, 1]] output_shape [8, 4] : tensor<32xf32> into tensor<8x4xf32>
        %e = tensor.empty() : !t
        %v = linalg.transpose ins(%f : tensor<8x4xf32>) outs(%e : !t) permutation = [1, 0]""",
    ],
    ids=["inserted in part", "reshaped otherwise"],
)
def test_no_views_of_inner_values(view: str) -> None:
    text = program("%x: !t, %b: !t, %h: tensor<3x8xf32>", "!t", "%s = arith.addf %x, %b : !t", view, RELU)
    assert "add_relu" not in families(text)


ROUND_TRIPS = {
    "collapsed and expanded": """%u = tensor.collapse_shape %x [[0, 1]] : !t into tensor<32xf32>
        %r = tensor.expand_shape %u [[0, 1]] output_shape [4, 8] : tensor<32xf32> into !t""",
    "expanded and collapsed": """
        %u = tensor.expand_shape %x [[0, 1], [2, 3]] output_shape [2, 2, 4, 2] : !t into tensor<2x2x4x2xf32>
        %r = tensor.collapse_shape %u [[0, 1], [2, 3]] : tensor<2x2x4x2xf32> into !t""",
    "reshaped": """%n = arith.constant dense<[32, 1]> : tensor<2xindex>
        %u = tensor.reshape %x(%n) : (!t, tensor<2xindex>) -> tensor<32x1xf32>
        %m = arith.constant dense<[4, 8]> : tensor<2xindex>
        %r = tensor.reshape %u(%m) : (tensor<32x1xf32>, tensor<2xindex>) -> !t""",
    "of unknown extent": """%0 = arith.constant 0 : index
        %d = tensor.cast %x : !t to tensor<?x8xf32>
        %n = tensor.dim %d, %0 : tensor<?x8xf32>
        %u = tensor.collapse_shape %d [[0, 1]] : tensor<?x8xf32> into tensor<?xf32>
        %v = tensor.expand_shape %u [[0, 1]] output_shape [%n, 8] : tensor<?xf32> into tensor<?x8xf32>
        %r = tensor.cast %v : tensor<?x8xf32> to !t""",
}


def put_back(trip: str) -> str:
    """A round trip from %s to %v."""
    return ROUND_TRIPS[trip].replace("%v", "%w").replace("%x", "%s").replace("%r", "%v")


@pytest.mark.parametrize("trip", ROUND_TRIPS)
def test_reshapes_of_inner_values_that_are_put_back(trip: str) -> None:
    text = program("%x: !t, %b: !t", "!t", "%s = arith.addf %x, %b : !t", put_back(trip), RELU)
    assert families(text) == ["add_relu"]


def test_what_is_between_two_reshapes_may_escape() -> None:
    text = program(
        "%x: !t, %b: !t",
        "!t",
        "%s = arith.addf %x, %b : !t",
        put_back("collapsed and expanded"),
        RELU.replace("%r", "%m"),
        """%l = math.exp %u : tensor<32xf32>
        %w = tensor.expand_shape %l [[0, 1]] output_shape [4, 8] : tensor<32xf32> into !t
        %r = arith.mulf %m, %w : !t""",
    )
    assert "add_relu" not in families(text)


@pytest.mark.parametrize("trip", ROUND_TRIPS)
def test_a_reshape_that_is_put_back_is_none(trip: str) -> None:
    """A program with it has the identity of one without."""
    (one,), (other,) = (
        xfuse.identities(xfuse.parse_module(program("%a: !t", "!t", *lines)))
        for lines in (("%r = math.exp %a : !t",), ("%x = math.exp %a : !t", ROUND_TRIPS[trip]))
    )
    assert one.text == other.text


def test_other_reshapes() -> None:
    """Of several axes into several others, or of no elements: an op that nothing is known of."""
    for given, result in (("tensor<4x6xf32>", "tensor<3x8xf32>"), ("tensor<0x6xf32>", "tensor<6x0xf32>")):
        lines = f"%y = math.exp %x : {given} %r = tensor.reshape %y(%n) : ({given}, tensor<2xindex>) -> {result}"
        assert families(program(f"%x: {given}, %n: tensor<2xindex>", result, lines)) == []


# Arguments: x of silu(x), read both as it is and through a view

SILU = """%minus = arith.negf %x : !t
    %power = math.exp %minus : !t
    %one = arith.constant dense<1.0> : !t
    %more = arith.addf %one, %power : !t
    %s = arith.divf %one, %more : !t
    %r = arith.mulf %v, %s : !t"""


@pytest.mark.parametrize("view", VIEWS)
def test_views_of_arguments(view: str) -> None:
    lines = VIEWS[view].replace("%s", "%x")
    assert families(program("%x: !t", "!t", lines, SILU)) == ["silu"]
    # If something else reads the view too, it stays, and two values carry the argument.
    further = "%l = math.log %v : !t %r = arith.subf %m, %l : !t"
    assert "silu" not in families(program("%x: !t", "!t", lines, SILU.replace("%r", "%m"), further))


@pytest.mark.parametrize(
    "view",
    [
        "%v = tensor.insert_slice %h into %x[0, 0] [3, 8] [1, 1] : tensor<3x8xf32> into !t",
        "%v = tensor.extract_slice %g[1, 0] [4, 8] [1, 1] : tensor<5x8xf32> to !t",
        """%e = tensor.empty() : tensor<4x4xf32>
        %c = tensor.extract_slice %x[0, 0] [4, 4] [1, 1] : !t to tensor<4x4xf32>
        %v = tensor.concat dim(1) %c, %c : (tensor<4x4xf32>, tensor<4x4xf32>) -> !t""",
    ],
    ids=["inserted in part", "of another", "half of it twice"],
)
def test_no_views_of_arguments(view: str) -> None:
    text = program("%x: !t, %h: tensor<3x8xf32>, %g: tensor<5x8xf32>", "!t", view, SILU)
    assert "silu" not in families(text)


def test_extents_of_views_of_arguments() -> None:
    """They go along with the match that takes the view, unless something else needs them."""
    text = program(
        "%x: tensor<?x8xf32>",
        "tensor<?x8xf32>",
        """%0 = arith.constant 0 : index
        %k = tensor.dim %x, %0 : tensor<?x8xf32>
        %e = tensor.empty(%k) : tensor<?x8xf32>
        %v = linalg.copy ins(%x : tensor<?x8xf32>) outs(%e : tensor<?x8xf32>) -> tensor<?x8xf32>
        %d = tensor.dim %v, %0 : tensor<?x8xf32>
        %c = arith.constant 1.0 : f32
        %o = tensor.splat %c[%d] : tensor<?x8xf32>
        %n = arith.negf %x : tensor<?x8xf32>
        %p = math.exp %n : tensor<?x8xf32>
        %q = arith.addf %o, %p : tensor<?x8xf32>
        %s = arith.divf %o, %q : tensor<?x8xf32>
        %r = arith.mulf %v, %s : tensor<?x8xf32>""",
    )
    assert families(text) == ["silu"]
    returned = text.replace("-> tensor<?x8xf32> {", "-> (tensor<?x8xf32>, index) {")
    returned = returned.replace("return %r : tensor<?x8xf32>", "return %r, %d : tensor<?x8xf32>, index")
    assert "silu" not in families(returned)
    # Where nothing reads the argument but the view, it may stay, and its extents with it.
    assert families(returned.replace("arith.negf %x", "arith.negf %v")) == ["silu"]


def test_views_of_slots() -> None:
    """The bound of a Huber loss, as it is and as a tensor of one element."""
    parts = (
        "%w = tensor.splat %a : !t",
        "%u = tensor.from_elements %a : tensor<1x1xf32>",
        """%h = arith.constant dense<0.5> : !t
        %e = tensor.empty() : !t
        %d = arith.subf %x, %y : !t
        %m = math.absf %d : !t
        %p = arith.mulf %d, %d : !t
        %near = arith.mulf %h, %p : !t
        %wh = arith.constant dense<0.2> : !t
        %over = arith.subf %m, %wh : !t
        %far = arith.mulf %w, %over : !t
        %r = linalg.generic {indexing_maps = [#all, #corner, #all, #all, #all], EACH}
            ins(%m, %u, %near, %far : !t, tensor<1x1xf32>, !t, !t) outs(%e : !t) {
        ^bb0(%i: f32, %j: f32, %k: f32, %l: f32, %o: f32):
          %c = arith.cmpf ole, %i, %j : f32
          %q = arith.select %c, %k, %l : f32
          linalg.yield %q : f32
        } -> !t""",
    )
    scalar = "%a = arith.constant 0.4 : f32"
    assert families(program("%x: !t, %y: !t", "!t", scalar, *parts)) == ["huber"]
    other = parts[1].replace("%a", "%z")
    text = program("%x: !t, %y: !t", "!t", scalar, "%z = arith.constant 0.3 : f32", parts[0], other, parts[2])
    assert "huber" not in families(text)


# Rows: softmax

REDUCTIONS = {
    "permuted loops": """linalg.generic {indexing_maps = [#flip, #column],
            iterator_types = ["reduction", "parallel"]} ins(SRC : !t) outs(INI : !r) {
        ^bb0(%i: f32, %o: f32):
          %y = OP %o, %i : f32
          linalg.yield %y : f32
        } -> !r""",
    "read through the index": """linalg.generic {indexing_maps = [#all, #row], FOLD} ins(SRC : !t) outs(INI : !r) {
        ^bb0(%i: f32, %o: f32):
          %at = linalg.index 0 : index
          %and = linalg.index 1 : index
          %v = tensor.extract SRC[%at, %and] : !t
          %y = OP %v, %o : f32
          linalg.yield %y : f32
        } -> !r""",
    "named": """linalg.reduce ins(SRC : !t) outs(INI : !r) dimensions = [1]
        (%i: f32, %o: f32) {
          %y = OP %i, %o : f32
          linalg.yield %y : f32
        }""",
}
SPREADS = {
    "broadcast": "linalg.broadcast ins(SRC : !r) outs(%e : !t) dimensions = [1]",
    "map": """linalg.generic {indexing_maps = [#row, #all], EACH} ins(SRC : !r) outs(%e : !t) {
        ^bb0(%i: f32, %o: f32):
          linalg.yield %i : f32
        } -> !t""",
    "index": """linalg.generic {indexing_maps = [#all], EACH} outs(%e : !t) {
        ^bb0(%o: f32):
          %at = linalg.index 0 : index
          %v = tensor.extract SRC[%at] : !r
          linalg.yield %v : f32
        } -> !t""",
}
SCALARS = {
    "fill": "%NAMEc = arith.constant LIT : f32 %NAME = linalg.fill ins(%NAMEc : f32) outs(%er : !r) -> !r",
    "dense": "%NAME = arith.constant dense<LIT> : !r",
    "broadcast": """%NAMEc = arith.constant dense<LIT> : tensor<f32>
        %NAME = linalg.broadcast ins(%NAMEc : tensor<f32>) outs(%er : !r) dimensions = [0]""",
    "narrowed": """%NAMEw = arith.constant dense<LIT> : tensor<4xf64>
        %NAME = arith.truncf %NAMEw : tensor<4xf64> to !r""",
}


def softmax(reduction: str, spread: str, scalar: str, lowest: str = "0xFF800000", reader: str = "%p") -> str:
    def reduced(source: str, initial: str, op: str) -> str:
        return REDUCTIONS[reduction].replace("SRC", source).replace("INI", initial).replace("OP", op)

    def initial(name: str, literal: str) -> str:
        return SCALARS[scalar].replace("NAME", name).replace("LIT", literal)

    wide = lowest.replace("0xFF800000", "0xFFF0000000000000") if scalar == "narrowed" else lowest
    return program(
        "%x: !t",
        "!t",
        "%e = tensor.empty() : !t %er = tensor.empty() : !r",
        initial("low", wide),
        f"%m = {reduced('%x', '%low', 'arith.maximumf')}",
        f"%mb = {SPREADS[spread].replace('SRC', '%m')}",
        "%d = arith.subf %x, %mb : !t %p = math.exp %d : !t",
        initial("nil", "0.0"),
        f"%s = {reduced(reader, '%nil', 'arith.addf')}",
        f"%sb = {SPREADS[spread].replace('SRC', '%s')}",
        "%r = arith.divf %p, %sb : !t",
    )


@pytest.mark.parametrize("scalar", SCALARS)
@pytest.mark.parametrize(
    ("reduction", "spread"),
    [
        ("permuted loops", "broadcast"),
        ("read through the index", "map"),
        ("named", "index"),
        ("permuted loops", "index"),
    ],
)
def test_rows(reduction: str, spread: str, scalar: str) -> None:
    assert families(softmax(reduction, spread, scalar)) == ["softmax"]


def test_other_rows() -> None:
    """The largest element from 0, or the sum of differences: a softmax of something else, or none."""
    for reduction in REDUCTIONS:
        text = softmax(reduction, "map", "fill", lowest="0.0")
        assert found(xfuse.parse_module(text), session()) == ["softmax_unshifted"]
        assert "softmax" not in families(softmax(reduction, "map", "fill", reader="%d"))


def test_kept_axes() -> None:
    """A reduction whose output keeps a unit axis, read through one; initial values from a dense constant."""
    reduction = """linalg.generic {indexing_maps = [#all, #kept], FOLD} ins(SRC : !t) outs(INI : !k) {
        ^bb0(%i: f32, %o: f32):
          %y = OP %i, %o : f32
          linalg.yield %y : f32
        } -> !k"""
    both = [
        reduction.replace("SRC", source).replace("INI", initial).replace("OP", op)
        for source, initial, op in (("%x", "%low", "arith.maximumf"), ("%p", "%nil", "arith.addf"))
    ]
    text = program(
        "%x: !t",
        "!t",
        "%low = arith.constant dense<0xFF800000> : !k %nil = arith.constant dense<0.0> : !k %e = tensor.empty() : !t",
        f"%m = {both[0]}",
        """%p = linalg.generic {indexing_maps = [#all, #kept, #all], EACH} ins(%x, %m : !t, !k) outs(%e : !t) {
        ^bb0(%i: f32, %j: f32, %o: f32):
          %d = arith.subf %i, %j : f32
          %q = math.exp %d : f32
          linalg.yield %q : f32
        } -> !t""",
        f"%s = {both[1]}",
        """%r = linalg.generic {indexing_maps = [#kept, #all], EACH} ins(%s : !k) outs(%p : !t) {
        ^bb0(%i: f32, %o: f32):
          %q = arith.divf %o, %i : f32
          linalg.yield %q : f32
        } -> !t""",
    )
    assert families(text) == ["softmax"]
    assert "softmax" not in families(text.replace("arith.divf %o, %i", "arith.divf %i, %o"))


def test_an_exponential_that_is_computed_twice() -> None:
    """In the body of the sum and in that of the quotient, as fusion of producers leaves it."""
    text = program(
        "%x: !t",
        "!t",
        "%low = arith.constant dense<0xFF800000> : !r %nil = arith.constant dense<0.0> : !r %e = tensor.empty() : !t",
        f"%m = {REDUCTIONS['named'].replace('SRC', '%x').replace('INI', '%low').replace('OP', 'arith.maximumf')}",
        """%s = linalg.generic {indexing_maps = [#all, #row, #row], FOLD} ins(%x, %m : !t, !r) outs(%nil : !r) {
        ^bb0(%i: f32, %j: f32, %o: f32):
          %d = arith.subf %i, %j : f32
          %p = math.exp %d : f32
          %y = arith.addf %p, %o : f32
          linalg.yield %y : f32
        } -> !r
        %r = linalg.generic {indexing_maps = [#all, #row, #row, #all], EACH}
            ins(%x, %m, %s : !t, !r, !r) outs(%e : !t) {
        ^bb0(%i: f32, %j: f32, %k: f32, %o: f32):
          %d = arith.subf %i, %j : f32
          %p = math.exp %d : f32
          %q = arith.divf %p, %k : f32
          linalg.yield %q : f32
        } -> !t""",
    )
    assert families(text) == ["softmax"]


# Slots: the count and epsilon of rms_norm


def rms_norm(scalar: str, count: str = "8.0", operands: str = "%sum, %count") -> str:
    def literal(name: str, value: str) -> str:
        return SCALARS[scalar].replace("NAME", name).replace("LIT", value)

    square = REDUCTIONS["permuted loops"].replace("SRC", "%q").replace("INI", "%nil").replace("OP", "arith.addf")
    return program(
        "%x: !t",
        "!t",
        "%e = tensor.empty() : !t %er = tensor.empty() : !r %nil = arith.constant dense<0.0> : !r",
        f"%q = arith.mulf %x, %x : !t %sum = {square}",
        literal("count", count),
        literal("epsilon", "1.0e-5"),
        f"%mean = arith.divf {operands} : !r",
        "%shifted = arith.addf %mean, %epsilon : !r",
        "%scale = math.rsqrt %shifted : !r",
        f"%wide = {SPREADS['map'].replace('SRC', '%scale')}",
        "%r = arith.mulf %x, %wide : !t",
    )


@pytest.mark.parametrize("scalar", SCALARS)
def test_slots(scalar: str) -> None:
    assert families(rms_norm(scalar)) == ["rms_norm"]
    assert "rms_norm" not in families(rms_norm(scalar, count="9.0"))
    assert "rms_norm" not in families(rms_norm(scalar, operands="%count, %sum"))


# Two results: x + y and its rms_norm, through copies of the sum


def sum_and_norm(views: str, read: str, kept: str) -> str:
    """The sum is %s, of which there are views; the norm is taken of ``read``, and ``kept`` is returned."""
    square = REDUCTIONS["permuted loops"].replace("SRC", "%q").replace("INI", "%nil").replace("OP", "arith.addf")
    text = program(
        "%x: !t, %h: !t, %w: !t",
        "!t",
        "%e = tensor.empty() : !t %nil = arith.constant dense<0.0> : !r %s = arith.addf %h, %x : !t",
        views,
        f"%q = arith.mulf {read}, {read} : !t %sum = {square}",
        SCALARS["dense"].replace("NAME", "count").replace("LIT", "8.0"),
        SCALARS["dense"].replace("NAME", "epsilon").replace("LIT", "1.0e-5"),
        "%mean = arith.divf %sum, %count : !r %shifted = arith.addf %mean, %epsilon : !r",
        "%scale = math.rsqrt %shifted : !r",
        f"%wide = {SPREADS['map'].replace('SRC', '%scale')}",
        f"%one = arith.mulf {read}, %wide : !t %r = arith.mulf %w, %one : !t",
    )
    text = text.replace("-> tensor<4x8xf32> {", "-> (tensor<4x8xf32>, tensor<4x8xf32>) {", 1)
    return text.replace("return %r : ", f"return {kept}, %r : tensor<4x8xf32>, ")


@pytest.mark.parametrize("view", VIEWS)
def test_views_of_a_result(view: str) -> None:
    lines = VIEWS[view].replace("%e ", "%e0 ").replace("%e :", "%e0 :").replace("%e[", "%e0[")
    for kept in ("%v", "%s"):
        assert families(sum_and_norm(lines, "%v", kept)) == ["add_rms_norm"], kept


@pytest.mark.parametrize("source", ["%s", "%v"])
def test_several_views_of_a_result(source: str) -> None:
    """The norm is taken of one, another is returned."""
    text = sum_and_norm("%v = linalg.copy ins(%s : !t) outs(%e : !t) -> !t", "%v", "%late")
    copy = f"%late = linalg.copy ins({source} : !t) outs(%e : !t) -> !t\nreturn".replace("!t", TYPES["!t"])
    assert families(text.replace("return", copy)) == ["add_rms_norm"]


def test_extents_of_a_result_that_has_a_view() -> None:
    """If something else needs them, the sum itself is the result and its view an inner value, or it escapes."""
    text = sum_and_norm("%v = linalg.copy ins(%s : !t) outs(%e : !t) -> !t", "%v", "KEPT")
    text = text.replace("return", "%0 = arith.constant 0 : index\n%d = tensor.dim %s, %0 : tensor<4x8xf32>\nreturn")
    types = "tensor<4x8xf32>, tensor<4x8xf32>"
    assert families(text.replace(types, "index, tensor<4x8xf32>").replace("KEPT", "%d")) == ["add_rms_norm"]
    assert "add_rms_norm" not in families(text.replace(types, f"index, {types}").replace("KEPT", "%d, %v"))


def test_other_views_of_a_result() -> None:
    """One that is laid out otherwise is no result, and what is computed of the sum is no view."""
    turned = """%f = tensor.empty() : tensor<8x4xf32>
        %u = linalg.transpose ins(%s : !t) outs(%f : tensor<8x4xf32>) permutation = [1, 0]
        %v = linalg.transpose ins(%u : tensor<8x4xf32>) outs(%e : !t) permutation = [1, 0]"""
    text = sum_and_norm(turned, "%v", "%u").replace(
        "-> (tensor<4x8xf32>, tensor<4x8xf32>) {", "-> (tensor<8x4xf32>, tensor<4x8xf32>) {"
    )
    text = text.replace("return %u, %r : tensor<4x8xf32>,", "return %u, %r : tensor<8x4xf32>,")
    assert "add_rms_norm" not in families(text)
    assert "add_rms_norm" not in families(sum_and_norm("%v = math.absf %s : !t", "%v", "%v"))


# Matrices: relu(x w + b)

PRODUCTS = {
    "operands swapped": """linalg.generic {indexing_maps = [#right, #left, #both], PRODUCT}
            ins(%w, %x : tensor<6x8xf32>, tensor<4x6xf32>) outs(%nil : !t) {
        ^bb0(%i: f32, %j: f32, %o: f32):
          %p = arith.mulf %i, %j : f32
          %y = arith.addf %o, %p : f32
          linalg.yield %y : f32
        } -> !t""",
    "transposed": """linalg.generic {indexing_maps = [#left, #turned, #both], PRODUCT}
            ins(%x, %wt : tensor<4x6xf32>, tensor<8x6xf32>) outs(%nil : !t) {
        ^bb0(%i: f32, %j: f32, %o: f32):
          %p = arith.mulf %i, %j : f32
          %y = arith.addf %p, %o : f32
          linalg.yield %y : f32
        } -> !t""",
    "product, then sum": """linalg.reduce ins(%xw : tensor<4x8x6xf32>) outs(%nil : !t) dimensions = [2]
        (%i: f32, %o: f32) {
          %y = arith.addf %i, %o : f32
          linalg.yield %y : f32
        }""",
}


def linear(product: str) -> str:
    return program(
        "%x: tensor<4x6xf32>, %w: tensor<6x8xf32>, %b: !c",
        "!t",
        "%e = tensor.empty() : !t %nil = arith.constant dense<0.0> : !t",
        {
            "operands swapped": "",
            "transposed": """%ew = tensor.empty() : tensor<8x6xf32>
        %wt = linalg.transpose ins(%w : tensor<6x8xf32>) outs(%ew : tensor<8x6xf32>) permutation = [1, 0]""",
            "product, then sum": """%ew = tensor.empty() : tensor<4x8x6xf32>
        %xw = linalg.generic {indexing_maps = [#left, #right, #cube],
            iterator_types = ["parallel", "parallel", "parallel"]}
            ins(%x, %w : tensor<4x6xf32>, tensor<6x8xf32>) outs(%ew : tensor<4x8x6xf32>) {
        ^bb0(%i: f32, %j: f32, %o: f32):
          %p = arith.mulf %i, %j : f32
          linalg.yield %p : f32
        } -> tensor<4x8x6xf32>""",
        }[product],
        f"%m = {PRODUCTS[product]}",
        """%u = tensor.expand_shape %b [[0, 1]] output_shape [1, 8] : !c into tensor<1x8xf32>
        %z = arith.constant 0.0 : f32
        %r = linalg.generic {indexing_maps = [#across, #all], EACH} ins(%u : tensor<1x8xf32>) outs(%m : !t) {
        ^bb0(%i: f32, %o: f32):
          %s = arith.addf %o, %i : f32
          %y = arith.maximumf %z, %s : f32
          linalg.yield %y : f32
        } -> !t""",
    )


@pytest.mark.parametrize("product", PRODUCTS)
def test_matrices(product: str) -> None:
    text = linear(product)
    assert families(text) == ["fused_linear_relu"]
    for near in (("arith.maximumf", "arith.minimumf"), ("%z = arith.constant 0.0", "%z = arith.constant 0.5")):
        assert "fused_linear_relu" not in families(text.replace(*near))


# Other places


def test_several_results() -> None:
    """A generic of two results, one of which nobody reads."""
    text = program(
        "%x: !t, %b: !t",
        "!t",
        """%z = arith.constant 0.0 : f32
        %e = tensor.empty() : !t
        %y:2 = linalg.generic {indexing_maps = [#all, #all, #all, #all], EACH}
            ins(%x, %b : !t, !t) outs(%e, %e : !t, !t) {
        ^bb0(%i: f32, %j: f32, %o: f32, %p: f32):
          %s = arith.addf %i, %j : f32
          %m = arith.maximumf %s, %z : f32
          linalg.yield %s, %m : f32, f32
        } -> (!t, !t)
        %r = tensor.cast %y#1 : !t to !t""",
    )
    assert families(text) == ["add_relu"]


@pytest.mark.parametrize("type_", ["f32", "tensor<f32>", "tensor<1x1xf32>", "tensor<?xf32>"])
def test_ranks(type_: str) -> None:
    zero = "%z = arith.constant 0.0 : f32" if type_ == "f32" else f"%z = arith.constant dense<0.0> : {type_}"
    if "?" in type_:
        zero = f"""%c = arith.constant 0.0 : f32
        %first = arith.constant 0 : index
        %n = tensor.dim %b, %first : {type_}
        %z = tensor.splat %c[%n] : {type_}"""
    lines = f"%s = arith.addf %x, %b : {type_} %r = arith.maximumf %z, %s : {type_}"
    assert families(program(f"%x: {type_}, %b: {type_}", type_, zero, lines)) == ["add_relu"]


def test_a_branch() -> None:
    """The constant stands in the enclosing block."""
    text = program(
        "%x: !t, %b: !t, %c: i1",
        "!t",
        """%z = arith.constant dense<0.0> : !t
        %r = scf.if %c -> (!t) {
          %s = arith.addf %x, %b : !t
          %m = arith.maximumf %s, %z : !t
          scf.yield %m : !t
        } else {
          scf.yield %x : !t
        }""",
    )
    assert families(text) == ["add_relu"]


def branch(outside: str, type_: str = "!t") -> str:
    """A function with relu(x + b) in a branch, its 0 from the enclosing block."""
    inner = f"%s = arith.addf %x, %b : {type_} %m = arith.maximumf %s, %zero : {type_} scf.yield %m : {type_}"
    taken = f"%r = scf.if %if -> ({type_}) {{ {inner} }} else {{ scf.yield %x : {type_} }}"
    return program(f"%x: {type_}, %b: {type_}, %if: i1", type_, outside, taken)


@pytest.mark.parametrize("constant", CONSTANTS)
def test_a_constant_of_the_enclosing_block(constant: str) -> None:
    assert families(branch(CONSTANTS[constant])) == ["add_relu"]


def test_an_extent_of_the_enclosing_block() -> None:
    text = """%c = arith.constant 0.0 : f32
        %0 = arith.constant 0 : index
        %k = tensor.dim %x, %0 : tensor<?x8xf32>
        %zero = tensor.splat %c[%k] : tensor<?x8xf32>"""
    assert families(branch(text, "tensor<?x8xf32>")) == ["add_relu"]


def test_other_values_of_the_enclosing_block() -> None:
    for outside in (
        "%c = arith.constant -0.0 : f32 %zero = tensor.splat %c : !t",
        "%c = arith.constant dense<0.0> : !t %zero = arith.mulf %x, %c : !t",
        """%l = arith.constant dense<[0.0, 0.0, 0.0, 1.0]> : !r %e = tensor.empty() : !t
        %zero = linalg.broadcast ins(%l : !r) outs(%e : !t) dimensions = [1]""",
    ):
        assert "add_relu" not in families(branch(outside))


# What real MLIR makes of them

PASSES = {
    "unit axes": ["linalg-fold-unit-extent-dims", "canonicalize"],
    "scalars": ["convert-elementwise-to-linalg", "linalg-generalize-named-ops", "linalg-inline-scalar-operands"],
    "fused": ["linalg-generalize-named-ops", "convert-elementwise-to-linalg", "linalg-fuse-elementwise-ops", "cse"],
    "folded": ["canonicalize", "sccp", "linalg-fuse-elementwise-ops", "linalg-fold-unit-extent-dims"],
}


@pytest.mark.parametrize("passes", PASSES)
def test_passes(passes: str) -> None:
    for text, family in (
        (softmax("permuted loops", "index", "broadcast"), "softmax"),
        (rms_norm("broadcast"), "rms_norm"),
        (linear("product, then sum"), "fused_linear_relu"),
    ):
        assert families(optimised(text, PASSES[passes])) == [family]
