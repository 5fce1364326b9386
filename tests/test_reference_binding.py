"""Adoption, binding and the gate as the reference modules' own tests have them, and where those modules give up.

Docstrings name the reference's tests; docs/reference-map.md lists all of them.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from reference_programs import found, function, fused, fused_ops, run, session

import xfuse
from xfuse.canonical.build import element_name
from xfuse.emission import type_named
from xfuse.errors import BindingError, NotBound, VerificationError
from xfuse.primitives.element_types import FLOATS, INTEGERS, numpy_dtype, width
from xfuse.testing import same_program

RELU_ADD = """xfuse.recipe @relu_add(%a: f64, %b: f64) -> f64 attributes {element_types = [f32, f64]} {
  %s = arith.addf %a, %b : f64 %z = arith.constant 0.0 : f64 %r = arith.maximumf %s, %z : f64
  xfuse.yield %r : f64 }"""
PROGRAM = """%zero = arith.constant dense<0.0> : T
  %s = arith.addf %x, %y : T
  %r = arith.maximumf %s, %zero : T
  return %r : T"""
F32, F64 = ("f32",) * 3, ("f64",) * 3
X, Y = np.float32([1, -2, 3, -4]), np.float32([-2, 1, 1, 1])


class Counting:
    """A kernel that counts its calls."""

    def __init__(self) -> None:
        self.calls = 0

    def __call__(self, a: Any, b: Any) -> Any:
        self.calls += 1
        return np.maximum(a + b, 0)


def adopted(kernel: Any, dtypes: tuple[str, ...] = F32) -> xfuse.Session:
    """A session that has adopted a recipe with a kernel for the backend gpu, and no other backend."""
    given = xfuse.Session(library=False, backends=[])
    assert given.adopt("relu_add", RELU_ADD, kernel, dtypes, "gpu")
    return given


def refusals(given: xfuse.Session, text: str = PROGRAM, backend: str = "gpu") -> set[tuple[str, str]]:
    """Rules and reasons of what is not fused."""
    matches = given.match(function(text), backend)
    assert not matches.chosen
    return {(refusal.rule, refusal.reason) for refusal in matches.refusals}


def test_adopting_registers_and_binds() -> None:
    """adopt_registers_op_plus_kernel_and_the_gate_predicate_sees_it."""
    given = adopted(Counting())
    (row,) = given.table.rows()
    assert (row.dtypes, row.backend) == (F32, "gpu")
    assert given.available("relu_add", "gpu")
    assert not given.available("relu_add", "cuda")
    entry = given.registry.region(row.identity)
    assert entry is not None
    assert entry.text == xfuse.Session(library=False).register(RELU_ADD).text


def test_an_adopted_kernel_is_found_by_the_ordinary_look_up() -> None:
    """adopted_kernel_lives_in_the_one_binding_table: the very function; another dtype tuple is a miss."""
    kernel = Counting()
    given = adopted(kernel)
    row = given.lookup("relu_add", "gpu", F32)
    assert row in given.table.rows()
    assert row.kernel is not None
    before = kernel.calls
    np.testing.assert_array_equal(row.kernel(X, Y), [0, 0, 4, 0])
    assert kernel.calls == before + 1
    with pytest.raises(NotBound):
        given.lookup("relu_add", "gpu", F64)


def test_adopting_again_changes_nothing() -> None:
    """adopt_runtime_fused_is_idempotent_for_an_identical_region_and_kernel."""
    kernel = Counting()
    given = adopted(kernel)
    first = given.table.rows()
    again = given.adopt("relu_add", RELU_ADD.replace("%s", "%sum"), kernel, F32, "gpu")
    assert again.row is first[0]
    assert given.table.rows() == first
    assert len(given.registry) == 1


def test_a_row_of_an_op_kind_is_no_row_of_a_recipe() -> None:
    """fused_kernel_available_runtime_id_still_routes_through_runtime_rows_untouched.

    Nor is there a bridge as in fused_kernel_available_bridges_static_flash_attn_from_binding_table_on_cuda and
    fused_kernel_available_flash_attn_false_on_cuda_without_cuda_registration: the row of an op kind is no recipe's.
    """
    given = session("xfuse.recipe @add(%a: f32, %b: f32) -> f32 { %r = arith.addf %a, %b : f32 xfuse.yield %r : f32 }")
    row = given.bind("arith.addf", np.add, F32, "gpu")
    assert given.table.rows("arith.addf", "gpu") == [row]
    assert not given.available("add", "gpu")
    given.bind("add", np.add, F32, "gpu")
    assert given.available("add", "gpu")


def test_available_in_reads_one_table() -> None:
    """fused_kernel_available_in_reads_the_passed_table_only."""
    given, other = adopted(Counting()), xfuse.Session(library=False, backends=[])
    entry = given.recipe("relu_add")
    assert given.available_in(given.table, entry, "gpu")
    assert not given.available_in(other.table, entry, "gpu")


# The gate


def test_a_match_is_fused_where_there_is_a_kernel() -> None:
    """offers_a_gated_branch_when_a_kernel_is_bound, emits_a_fused_arm_for_an_adopted_region_match.

    Also runtime_op_fuses_and_round_trips_through_the_pass.
    """
    module = function(PROGRAM)
    (match,) = adopted(Counting()).match(module, "gpu").chosen
    assert {"arith.addf", "arith.maximumf"} <= {op.name for op in match.ops}
    copy = xfuse.fuse(module.clone(), backend="gpu", session=adopted(Counting()))
    assert [op.label for op in fused_ops(copy)] == ["relu_add"]
    xfuse.decompose_all(copy)
    assert same_program(module, copy)


def test_no_kernel_for_the_backend_no_fusion() -> None:
    """declines_when_no_kernel_for_the_backend, capability_gate_blocks_fusion_without_a_kernel."""
    given = adopted(Counting())
    assert ("L4", "no-kernel") in refusals(given, backend="cuda")
    module = function(PROGRAM)
    before = str(module)
    assert str(xfuse.fuse(module, backend="cuda", session=given)) == before


def test_what_is_missing_is_said() -> None:
    """builds_a_request_for_a_fused_op_with_no_kernel_here: the recipe and the element types, by backend."""
    given = session(RELU_ADD)
    assert [entry.name for entry in given.patterns("cuda").gated_out] == ["relu_add"]
    (said,) = [str(each) for each in given.match(function(PROGRAM), "cuda").refusals if each.rule == "L4"]
    assert "@relu_add" in said
    assert "(f32, f32, f32)" in said


def test_an_adopted_kernel_runs_and_can_be_taken_away() -> None:
    """production_pipeline_emits_the_fused_arm_and_reset_disarms_it, adopts_a_synthesized_kernel_end_to_end.

    Wrong in the reference: an adopted kernel is offered and can never win. Here it is called.
    """
    kernel = Counting()
    given = adopted(kernel)
    module = xfuse.fuse(function(PROGRAM), backend="gpu", session=given)
    program = xfuse.compile(module, backend="gpu", session=given)
    before = kernel.calls
    np.testing.assert_array_equal(program(X, Y), [0, 0, 4, 0])
    assert kernel.calls == before + 1
    (row,) = given.table.rows()
    given.table.unbind(row)
    assert ("L4", "no-kernel") in refusals(given)
    given.unregister("relu_add")
    assert not given.match(function(PROGRAM), "gpu").refusals
    np.testing.assert_array_equal(xfuse.compile(module, backend="auto", session=given)(X, Y), [0, 0, 4, 0])
    assert kernel.calls == before + 1


def test_another_element_type_runs_the_recipe() -> None:
    """Wrong in the reference: a kernel for other element types is an error when the program runs (law L4)."""
    kernel = Counting()
    given = adopted(kernel, F64)
    module = function(PROGRAM)
    assert ("L4", "no-kernel") in refusals(given)
    copy = fused(module, session(RELU_ADD))
    before = kernel.calls
    program = xfuse.compile(copy, backend="gpu", session=given)
    assert len(program.inlined) == 1
    np.testing.assert_array_equal(program(X, Y), [0, 0, 4, 0])
    assert kernel.calls == before


def test_adopted_later_fused_later() -> None:
    """Wrong in the reference: a kernel adopted after a graph was optimised is never offered on that graph."""
    given = session()
    module = function(PROGRAM)
    assert found(module, given) == []
    given.register(RELU_ADD)
    assert found(module, given) == ["relu_add"]
    np.testing.assert_array_equal(run(fused(module, given), given, X, Y), [0, 0, 4, 0])


# Element types


def test_element_types_have_one_name_each() -> None:
    """dtype_and_element_kind_round_trip_exactly: also i16, which has no kind there."""
    names = (*INTEGERS, *FLOATS)
    assert {"i1", "i8", "i16", "i32", "i64", "f16", "bf16", "f32", "f64"} <= set(names)
    for name in names:
        assert element_name(type_named(name)) == name
        assert numpy_dtype(name).itemsize * 8 == max(width(name), 8)
    assert len({numpy_dtype(name) for name in names if name != "index"}) == len(names) - 1


@pytest.mark.parametrize("dtypes", [("tf32",) * 3, ("f8",) * 3, ("complex",) * 3, ("f16",) * 3])
def test_what_a_recipe_is_not_for_is_refused(dtypes: tuple[str, ...]) -> None:
    """declines_rather_than_approximating_an_unspellable_dtype."""
    given = session(RELU_ADD)
    with pytest.raises(BindingError, match="@relu_add has no form at"):
        given.bind("relu_add", Counting(), dtypes, "gpu", trusted=True)
    assert not given.table.rows()


# Candidates that fail


@pytest.mark.parametrize(
    ("kernel", "words"),
    [
        (lambda a, b: a + b, "law L6"),
        (lambda a, b: np.maximum(a + b, 0)[::-1], "law L6"),
        (lambda a, b: 1 / 0, "division by zero"),
    ],
    ids=["wrong", "reversed", "raises"],
)
def test_a_declined_candidate_leaves_nothing(kernel: Any, words: str) -> None:
    """declined_synthesis_adopts_nothing, claimed_op_without_a_numeric_bound_is_refused.

    Also worker_survives_a_panicking_verify: what a kernel raises is the reason.

    What a kernel may be off follows from its recipe: nothing need be claimed, and nothing passes unchecked.
    """
    given = xfuse.Session(library=False, backends=[])
    result = given.adopt("relu_add", RELU_ADD, kernel, F32, "gpu")
    assert not result
    assert words in (result.reason or "")
    assert not given.registry.entries()
    assert not given.table.rows()


def test_a_kernel_of_another_recipe_is_refused() -> None:
    """recipe_identity_rejects_a_mismatched_submitted_decompose: the name is taken by another recipe."""
    given = adopted(Counting())
    other = RELU_ADD.replace("arith.addf", "arith.subf")
    result = given.adopt("relu_add", other, lambda a, b: np.maximum(a - b, 0), F32, "gpu")
    assert "stands for another recipe" in (result.reason or "")
    assert len(given.registry) == 1


@pytest.mark.parametrize(
    ("op", "accepted"), [("%r = arith.addf %a, %a : f64", False), ("%r = math.exp %a : f64", True)], ids=["sum", "exp"]
)
@pytest.mark.parametrize("use", ["f16", "f32", "f64"])
def test_how_far_off_a_kernel_may_be_follows_from_its_recipe(op: str, accepted: bool, use: str) -> None:
    """advisory_ulp_band_selects_by_region_shape: none where every op is exact, some where one is transcendental.

    Also nonf32_escalate_eligible_gates_on_dtype_and_region_support: at every element type.
    """
    text = f"""xfuse.recipe @r(%a: f64) -> f64 attributes {{element_types = [f16, f32, f64]}} {{
      {op} xfuse.yield %r : f64 }}"""

    def right(a: Any) -> Any:
        wide = a.astype(np.float64)
        with np.errstate(all="ignore"):
            return (np.exp(wide) if accepted else wide + wide).astype(a.dtype)

    def one_off(a: Any) -> Any:
        with np.errstate(all="ignore"):
            return np.nextafter(right(a), a.dtype.type(np.inf))

    given = session(text)
    given.bind("r", right, (use, use), "gpu")
    if accepted:
        given.bind("r", one_off, (use, use), "other")
    else:
        with pytest.raises(VerificationError, match="law L6"):
            given.bind("r", one_off, (use, use), "other")


def test_a_second_kernel_for_one_key() -> None:
    """step_9a_two_alternatives_append_then_first_wins_on_legacy_lookup: here a key has one kernel, and says so.

    Also step_9a_duplicate_kernel_ref_detected_by_finalize_not_panic: the same kernel again is the same row.
    """
    given, first, second = session(RELU_ADD), Counting(), Counting()
    row = given.bind("relu_add", first, F32, "gpu")
    assert given.bind("relu_add", first, F32, "gpu") is row
    with pytest.raises(BindingError, match="already bound"):
        given.bind("relu_add", second, F32, "gpu")
    assert given.table.rows() == [row]
    given.bind("relu_add", second, F32, "gpu", replace=True)
    assert len(given.table.rows()) == 1


def test_a_declared_cost_is_kept_and_an_unknown_one_is_no_number() -> None:
    """declared_cost_fused_op_is_untouched_by_the_decompose_default."""
    given = session(RELU_ADD)
    assert given.bind("relu_add", Counting(), F32, "gpu", cost=1.5).cost == 1.5
    assert given.bind("relu_add", Counting(), F32, "other").cost is None


def test_without_a_declared_cost_the_recipe_tells() -> None:
    """sentinel_fused_op_gets_nonzero_composed_cost_from_its_decompose: of two matches the one with more work wins."""
    dear = """xfuse.recipe @dear(%a: f32, %b: f32) -> f32 {
      %e = math.exp %a : f32 %r = arith.addf %e, %b : f32 xfuse.yield %r : f32 }"""
    cheap = """xfuse.recipe @cheap(%a: f32, %b: f32) -> f32 {
      %s = arith.addf %a, %b : f32 %r = arith.mulf %s, %b : f32 xfuse.yield %r : f32 }"""
    module = function("%e = math.exp %x : T\n%s = arith.addf %e, %y : T\n%r = arith.mulf %s, %y : T\nreturn %r : T")
    assert found(module, session(cheap)) == ["cheap"]
    assert found(module, session(dear, cheap)) == found(module, session(cheap, dear)) == ["dear"]


@pytest.mark.parametrize("layout", ["strided", "broadcast", "reversed"])
def test_kernels_are_given_views(layout: str) -> None:
    """lookup_with_caps_skips_broadcast_baked_sibling_regardless_of_order: every kernel takes every layout (law L10)."""
    given = session(RELU_ADD)
    kernel = given.kernel("relu_add", "f32", backend="numpy")
    wide = np.arange(-8, 8, dtype=np.float32)
    array = {"strided": wide[::2], "broadcast": np.broadcast_to(wide[:1], 8), "reversed": wide[7::-1]}[layout]
    np.testing.assert_array_equal(kernel(array, wide[:8]), np.maximum(array + wide[:8], 0))
