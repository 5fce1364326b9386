"""The report on a module, and work orders: stable JSON that says what is fused, what is not, and what is wanted."""

from __future__ import annotations

import dataclasses
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support import CORPUS, context, parsed
from xdsl.dialects import arith
from xdsl.dialects.builtin import ModuleOp
from xdsl.rewriter import Rewriter

import xfuse
from xfuse.backends.numpy.backend import NumPyBackend
from xfuse.errors import NotBound, RecipeError
from xfuse.orders import Order
from xfuse.parser import parse_module
from xfuse.recipes import Recipe, recipes_of
from xfuse.reporting import report
from xfuse.session import Session
from xfuse_dialects.xfuse import FusedOp

ADD_RELU = """xfuse.recipe @add_relu(%x: f64, %b: f64) -> f64 attributes {element_types = [f32, f64]} {
  %zero = arith.constant 0.0 : f64 %s = arith.addf %x, %b : f64 %r = arith.maximumf %s, %zero : f64
  xfuse.yield %r : f64 }"""
RELU = """xfuse.recipe @relu(%x: f64) -> f64 attributes {element_types = [f32, f64]} {
  %zero = arith.constant 0.0 : f64 %r = arith.maximumf %x, %zero : f64 xfuse.yield %r : f64 }"""
PROGRAM = """func.func @main(%x: tensor<8xf32>, %y: tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>) {
  %zero = arith.constant dense<0.0> : tensor<8xf32>
  %one = arith.constant dense<1.0> : tensor<8xf32>
  %s = arith.addf %x, %y : tensor<8xf32>
  %r = arith.maximumf %s, %zero : tensor<8xf32>
  %t = arith.addf %y, %y : tensor<8xf32>
  %q = arith.maximumf %t, %one : tensor<8xf32>
  return %r, %q : tensor<8xf32>, tensor<8xf32>
}"""
KEYS = {
    "": "version ops fused_ops bytes seconds matches clusters overlaps refusals orders kernels",
    "matches": "recipe identity location ops dtypes backend saved note",
    "clusters": "recipe identity location ops dtypes backend saved note",
    "overlaps": "recipe identity location ops lost_to",
    "refusals": "recipe rule reason op location root expected found matched size message",
    "orders": "kind name identity arguments results backend region count gain",
    "kernels": "recipe identity dtypes backend source uses",
}


class Nothing(NumPyBackend):
    """A backend that makes no kernel of anything."""

    name = "nothing"

    def refusal(self, recipe: Recipe, element_type: str | None) -> str | None:
        return "it makes none"


def small(*recipes: str, backends: list[Any] | None = None) -> Session:
    session = Session(library=False, backends=backends)
    for recipe in recipes:
        session.register(recipe)
    return session


def program() -> ModuleOp:
    return parse_module(PROGRAM, "program.mlir", context())


def fused(session: Session, module: ModuleOp) -> ModuleOp:
    with session:
        xfuse.fuse(module)
    return module


def test_the_layout() -> None:
    """Every key of the documentation, in its order, and nothing else; all of it is JSON."""
    session = small(ADD_RELU, RELU)
    module = fused(session, program())
    session.outline(module)
    first = report(module, session)
    other = report(program(), small(ADD_RELU, backends=[Nothing()]), refusals="all")
    for name, keys in KEYS.items():
        found = [first] if not name else [*first[name], *other[name]]
        assert found, name
        for each in found:
            assert list(each) == keys.split(), name
    assert json.loads(json.dumps(first)) == first
    documented = (Path(__file__).parents[1] / "docs" / "report.md").read_text()
    for keys in KEYS.values():
        for key in keys.split():
            assert f"`{key}`" in documented, f"docs/report.md does not explain {key}"


def test_what_is_fused_and_what_is_not() -> None:
    """The match with its ops and places, the near miss with the literal that differs, the kernels, the bytes."""
    session = small(ADD_RELU)
    module = fused(session, program())
    text = str(module)
    found = report(module, session)
    assert str(module) == text, "looking changes nothing"
    assert found["ops"] == {"fusible": 4, "fused": 2}
    assert found["fused_ops"] == 1
    assert found["bytes"] == {"before": 4 * 8 * (3 + 3 + 2 + 3), "after": 4 * 8 * (3 + 2 + 3)}
    (match,) = found["matches"]
    assert (match["recipe"], match["location"]) == ("add_relu", "program.mlir:5:3")
    assert match["identity"] == session.recipe("add_relu").identity
    assert match["ops"] == [
        {"op": "arith.addf", "location": "program.mlir:4:3"},
        {"op": "arith.maximumf", "location": "program.mlir:5:3"},
    ]
    assert (match["dtypes"], match["backend"], match["note"]) == (["f32"] * 3, "llvm", None)
    assert match["saved"]["bytes"] == 4 * 8 * 3
    (refusal,) = found["refusals"]
    assert (refusal["rule"], refusal["location"]) == ("R6", "program.mlir:3:3")
    assert (refusal["expected"], refusal["found"]) == ("the literal 0.0 : f32", "the literal 1.0 : f32")
    assert found["kernels"] == [
        {
            "recipe": "add_relu",
            "identity": match["identity"],
            "dtypes": ["f32"] * 3,
            "backend": "llvm",
            "source": "promised",
            "uses": 1,
        }
    ]
    session.kernel("add_relu", "f32")
    assert report(module, session)["kernels"][0]["source"] == "bound"


def test_ops_that_are_fused_are_no_roots_of_refusals() -> None:
    """Another recipe that nearly matches is reported where nothing is fused, and not where something is."""
    other = ADD_RELU.replace("@add_relu", "@add_two").replace("0.0", "2.0")
    session = small(ADD_RELU, other)
    found = report(fused(session, program()), session)
    roots = [(each["recipe"], each["root"]) for each in found["refusals"]]
    assert ("add_two", "'%q = arith.maximumf' (line 7)") in roots
    assert not any("%r" in root for _, root in roots)


def test_what_lost_to_what() -> None:
    """R7: the smaller match at the same op is listed with the one that was chosen."""
    session = small(RELU, ADD_RELU)
    (loss,) = report(fused(session, program()), session)["overlaps"]
    assert (loss["recipe"], loss["ops"]) == ("relu", 1)
    assert loss["lost_to"] == {"recipe": "add_relu", "location": "program.mlir:5:3", "ops": 2}


def test_clusters_and_their_orders() -> None:
    """What outlining made is a cluster, and an order for a recipe; the session fulfils it, from JSON."""
    session = small()
    module = program()
    session.outline(module)
    found = report(module, session)
    assert not found["matches"]
    assert [each["recipe"] for each in found["clusters"]] == [order["name"] for order in found["orders"]]
    assert {order["kind"] for order in found["orders"]} == {"recipe"}
    assert found["ops"] == {"fusible": 4, "fused": 4}
    x, y = (np.arange(8, dtype=np.float32) - shift for shift in (4, 2))
    other = small()
    for order in json.loads(json.dumps(found["orders"])):
        row = other.synthesize(order)
        assert row.identity == order["identity"]
        assert row.kernel is not None
        assert order["gain"]["bytes"] > 0
    rows = {row.identity: row.kernel for row in other.table.rows()}
    first, second = (rows[order["identity"]] for order in found["orders"])
    assert first is not None
    assert second is not None
    assert np.array_equal(first(x, y), np.maximum(x + y, 0))
    assert np.array_equal(second(y), np.maximum(y + y, 1))


def test_an_order_for_a_kernel_that_nobody_has() -> None:
    """L4: fusible, but no kernel; an outside tool fulfils the order, and then it fuses."""
    session = small(ADD_RELU, backends=[Nothing()])
    module = fused(session, program())
    found = report(module, session, "auto")
    assert found["fused_ops"] == 0
    assert [each["rule"] for each in found["refusals"]].count("L4") == 1
    (data,) = found["orders"]
    order = Order.from_json(data)
    assert order.as_json() == data
    assert (order.kind, order.name, order.dtypes, order.count) == ("kernel", "add_relu", ("f32",) * 3, 1)
    assert order.saved_bytes == 4 * 8 * 3
    with pytest.raises(NotBound):
        session.synthesize(order)
    adopted = session.adopt(order.name, order.region, lambda x, b: np.maximum(x + b, 0), order.dtypes, "numpy")
    assert adopted, adopted.reason
    assert report(fused(session, module), session)["fused_ops"] == 1


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"identity": "0" * 64}, "is for the recipe 0000"),
        ({"region": RELU}, "and its region is "),
        ({"region": "func.func @f() { return }"}, "holds no xfuse.recipe"),
        ({"region": None}, "a work order has 'region', this one does not"),
        ({"arguments": "f32"}, "a work order's 'arguments' is of another kind than 'f32'"),
        ({"arguments": [1]}, "are names of element types"),
        ({"kind": "wish"}, "a work order's 'kind' is \"kernel\" or \"recipe\", got 'wish'"),
    ],
)
def test_bad_orders(change: dict[str, Any], message: str) -> None:
    """An order is somebody else's text: what is wrong with it is said, and nothing is registered."""
    good = report(program(), small(ADD_RELU, backends=[Nothing()]))["orders"][0]
    session = small()
    with pytest.raises(RecipeError) as raised:
        session.synthesize({**good, **change})
    assert message in str(raised.value)
    assert not session.registry.entries()
    assert session.synthesize(good).backend == "llvm"


def test_a_region_changed_since_fusing_is_noted() -> None:
    session = small(ADD_RELU)
    module = fused(session, program())
    (op,) = (op for op in module.walk() if isinstance(op, FusedOp))
    (add,) = (inner for inner in op.body.block.ops if isinstance(inner, arith.AddfOp))
    other = arith.SubfOp(*add.operands)
    op.body.block.insert_op_before(other, add)
    add.result.replace_all_uses_with(other.result)
    Rewriter.erase_op(add)
    (match,) = report(module, session)["matches"]
    assert match["note"] == "region changed since fusing"
    assert (match["identity"], match["backend"]) == (None, None)


def test_refusals_as_many_as_asked() -> None:
    """`near` leaves out what is far off, `none` looks for nothing."""
    session = Session()
    module = parsed(CORPUS / "variants" / "gelu_tanh" / "near_miss.mlir")
    counts = {which: report(module, session, refusals=which)["refusals"] for which in ("all", "near", "none")}
    assert len(counts["all"]) > len(counts["near"]) > len(counts["none"]) == 0
    assert all(2 * each["matched"] >= each["size"] for each in counts["near"])
    (nearest,) = (each for each in counts["near"] if each["recipe"] == "gelu_tanh")
    assert (nearest["matched"], nearest["size"], nearest["expected"]) == (8, 9, "arith.addf : f32")


@pytest.mark.parametrize("name", ["adam_step", "softmax_rows", "torch_llama_rmsnorm_swiglu"])
def test_real_programs(name: str) -> None:
    """Fused and outlined: nearly all ops are in few fused ops, and most of the memory traffic is gone."""
    session = Session()
    module = parsed(CORPUS / "dev" / name / f"{name}.linalg.mlir").clone()
    fused(session, module)
    session.outline(module)
    found = report(module, session, refusals="none")
    assert found["ops"]["fused"] >= 0.85 * found["ops"]["fusible"]
    assert found["bytes"]["after"] <= 0.6 * found["bytes"]["before"]
    assert len(found["matches"]) + len(found["clusters"]) == found["fused_ops"]
    assert {each["recipe"] for each in found["clusters"]} == {op.name for op in recipes_of(module)}
    assert all(each["backend"] for each in found["kernels"])


def test_l11_the_target_is_the_same_in_every_process() -> None:
    """``-t xfuse-report`` in stock xdsl-opt, under two hash seeds: byte for byte."""
    path = CORPUS / "dev" / "adam_step" / "adam_step.linalg.mlir"
    command = [
        *(str(Path(sys.executable).with_name("xdsl-opt")), "-f", "xfuse-mlir", str(path)),
        *("-p", "xfuse-fuse{only=adam},xfuse-outline", "-t", "xfuse-report{backend=numpy}"),
    ]
    texts = [
        subprocess.run(command, env={"PYTHONHASHSEED": seed}, capture_output=True, text=True, check=True).stdout
        for seed in ("1", "2")
    ]
    assert texts[0] == texts[1]
    found = json.loads(texts[0])
    assert found["version"] == 1
    assert found["ops"]["fused"] == found["ops"]["fusible"]


def test_orders_are_plain_data() -> None:
    order = Order("kernel", "f", "0", ("f32",), ("f32",), "auto", "", 1, 2, 3.0)
    assert dataclasses.replace(order, count=2).as_json()["count"] == 2
    assert Order.from_json(order.as_json()) == order
