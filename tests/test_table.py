"""The binding table and the session's rows (design, section 7; laws L4 and L6)."""

from __future__ import annotations

import dataclasses
import gc
import threading
import weakref
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from support import in_threads

import xfuse
from xfuse.backends.numpy.backend import NumPyBackend
from xfuse.errors import (
    Ambiguous,
    BindingError,
    KernelError,
    LookupMiss,
    NotBound,
    RecipeError,
    VerificationError,
)
from xfuse.kernels import Kernel
from xfuse.recipes import Recipe
from xfuse.session import Session
from xfuse.table import BindingTable, Row, find, is_available

HYPOT = """xfuse.recipe @hypot(%x: f64, %y: f64) -> f64 attributes {element_types = [f16, f32, f64]} {
  %a = arith.mulf %x, %x : f64 %b = arith.mulf %y, %y : f64 %s = arith.addf %a, %b : f64 %r = math.sqrt %s : f64
  xfuse.yield %r : f64 }"""
BOTH = """xfuse.recipe @both(%x: f32, %y: f32) -> (f32, i1) {
  %s = arith.addf %x, %y : f32 %c = arith.cmpf olt, %x, %y : f32 xfuse.yield %s, %c : f32, i1 }"""
F32 = ("f32", "f32", "f32")
F64 = ("f64", "f64", "f64")


def hypot(x: Any, y: Any) -> Any:
    return np.sqrt(x * x + y * y)


@pytest.fixture
def session() -> Session:
    """A session without recipes and with the NumPy backend alone, so that little is promised."""
    made = Session(library=False, backends=[NumPyBackend()])
    made.register(HYPOT)
    return made


def row(identity: str = "id", dtypes: tuple[str, ...] = F32, backend: str = "gpu", **facts: Any) -> Row:
    kernel = facts.pop("kernel", Kernel("k", backend, dtypes[:-1], dtypes[-1:], hypot))
    return Row(identity, dtypes, backend, kernel, **facts)


# The table by itself


def test_find_needs_the_exact_dtypes() -> None:
    table = BindingTable()
    stored = table.bind(row())
    rows = table.snapshot()
    assert find(rows, "id", "gpu", F32) is stored
    assert find(rows, "id", "gpu", list(F32)) is stored
    for dtypes in (F64, F32[:2], (*F32, "f32"), ("f32", "f32", "f64"), ()):
        with pytest.raises(NotBound, match=r"no kernel is bound for id .*Nearest rows: id \(f32, f32, f32\) on gpu"):
            find(rows, "id", "gpu", dtypes)


def test_a_miss_is_not_bound_or_ambiguous() -> None:
    """Section 7: two misses with different remedies, each listing the nearest rows."""
    table = BindingTable()
    with pytest.raises(NotBound, match=r"register one with session\.bind.*none for this recipe"):
        find(table.snapshot(), "id", "gpu")
    only = table.bind(row())
    assert find(table.snapshot(), "id", "gpu") is only
    with pytest.raises(NotBound, match=r"on cpu.*id \(f32, f32, f32\) on gpu"):
        find(table.snapshot(), "id", "cpu")
    table.bind(row(dtypes=F64))
    with pytest.raises(Ambiguous, match=r"2 kernels .*which dtypes.*\(f32, f32, f32\); \(f64, f64, f64\)"):
        find(table.snapshot(), "id", "gpu")
    assert not issubclass(Ambiguous, NotBound)
    assert not issubclass(NotBound, Ambiguous)
    assert issubclass(Ambiguous, LookupMiss)


def test_the_nearest_rows_are_those_of_the_backend() -> None:
    table = BindingTable()
    for number in range(6):
        table.bind(row(backend=f"b{number}", dtypes=F64))
    table.bind(row(backend="gpu", dtypes=F64))
    with pytest.raises(NotBound, match=r"Nearest rows: id \(f64, f64, f64\) on gpu; id") as raised:
        find(table.snapshot(), "id", "gpu", F32)
    assert str(raised.value).count(" on b") == 3


def test_snapshots_are_immutable() -> None:
    table = BindingTable()
    before = table.snapshot()
    stored = table.bind(row())
    between = table.snapshot()
    table.unbind(stored)
    assert dict(before) == {}
    assert dict(between) == {stored.key: stored}
    assert dict(table.snapshot()) == {}
    anything: Any = between
    with pytest.raises(TypeError):
        anything[stored.key] = stored
    with pytest.raises(dataclasses.FrozenInstanceError):
        anything[stored.key].backend = "cpu"


def test_generation_and_revision() -> None:
    """Both grow with every change and with nothing else."""
    table = BindingTable()
    first = table.bind(row())
    assert (first.revision, table.generation) == (1, 1)
    assert table.bind(row()) is first
    table.unbind(row(dtypes=F64))
    assert table.generation == 1

    def other(x: Any, y: Any) -> Any:
        return x

    second = table.bind(row(kernel=Kernel("k", "gpu", F32[:2], F32[2:], other)), replace=True)
    assert (second.revision, table.generation) == (2, 2)
    table.unbind(second)
    assert table.generation == 3


def test_replace() -> None:
    table = BindingTable()
    first = table.bind(row())
    other = row(kernel=Kernel("other", "gpu", F32[:2], F32[2:], np.hypot))
    with pytest.raises(BindingError, match=r"already bound for id \(f32, f32, f32\) on gpu, from bound; pass replace"):
        table.bind(other)
    assert table.snapshot()[first.key] is first
    stored = table.bind(other, replace=True)
    assert stored.kernel is other.kernel
    assert table.rows() == [stored]


def test_the_same_kernel_with_other_facts_is_another_row() -> None:
    """B41: nothing that differs is silently taken for the same."""
    table = BindingTable()
    table.bind(row())
    with pytest.raises(BindingError, match="with other facts"):
        table.bind(row(cost=2.5))
    assert table.bind(row(cost=2.5), replace=True).cost == 2.5
    assert [each.cost for each in table.rows()] == [2.5]


def test_promises_give_way_to_kernels() -> None:
    table = BindingTable()
    promise = table.bind(row(kernel=None, source="module"))
    kept = table.bind(row())
    assert promise.kernel is None
    assert kept.kernel is not None
    assert table.bind(row(kernel=None, source="module")) is kept


def test_an_unknown_cost_is_not_zero() -> None:
    assert row().cost is None


def test_rows_are_sorted() -> None:
    """Law L11: whatever the order of binding."""
    tables = [BindingTable(), BindingTable()]
    made = [row(i, d, b) for i in ("a", "b") for d in (F32, F64) for b in ("x", "y")]
    for table, order in zip(tables, (made, made[::-1]), strict=True):
        for each in order:
            table.bind(each)
    assert [each.key for each in tables[0].rows()] == [each.key for each in tables[1].rows()]
    assert [each.key for each in tables[0].rows("a", "x")] == [("a", "x", F32), ("a", "x", F64)]


def test_available_reads_only_what_is_passed_in() -> None:
    """Seeds: the gate on a table that the caller holds takes no other."""
    table = BindingTable()
    before = table.snapshot()
    table.bind(row())
    assert not is_available(before, "id", "gpu")
    assert is_available(table.snapshot(), "id", "gpu")
    assert not is_available(table.snapshot(), "id", "cpu")


def test_a_removed_kernel_is_released() -> None:
    """B26: nothing keeps foreign code alive that is in no table any more."""

    class Code:
        def __call__(self, x: Any, y: Any) -> Any:
            return hypot(x, y)

    session = Session(library=False, backends=[NumPyBackend()])
    session.register(HYPOT)
    code = Code()
    alive = weakref.ref(code)
    stored = session.bind("hypot", code, F32, "gpu")
    del code
    session.table.unbind(stored)
    del stored
    gc.collect()
    assert alive() is None


# Binding in a session


def test_bind_and_look_up(session: Session) -> None:
    stored = session.bind("hypot", hypot, F32, "gpu", ulp=2, cost=1.5)
    recipe = session.recipe("hypot")
    assert (stored.identity, stored.dtypes, stored.backend) == (recipe.identity, F32, "gpu")
    assert (stored.ulp, stored.cost, stored.source, stored.trusted) == (2, 1.5, "bound", False)
    for which in ("hypot", recipe, recipe.identity):
        assert session.lookup(which, "gpu", F32) is stored
        assert session.lookup(which, "gpu") is stored
        assert session.kernel(which, "f32", backend="gpu") is stored.kernel
    with pytest.raises(NotBound, match=r"\(f64, f64, f64\) on gpu.*Nearest rows.*\(f32, f32, f32\) on gpu"):
        session.lookup("hypot", "gpu", F64)
    session.bind("hypot", hypot, F64, "gpu")
    with pytest.raises(Ambiguous, match="say which"):
        session.lookup("hypot", "gpu")


def test_look_up_without_dtypes_does_not_depend_on_what_was_made_before(session: Session) -> None:
    """Law L11: several dtypes are promised, and one of them having been made answers no question."""
    with pytest.raises(Ambiguous, match=r"promised at several dtypes on numpy.*\(f16, f16, f16\); \(f32"):
        session.lookup("hypot", "numpy")
    session.kernel("hypot", "f32", backend="numpy")
    with pytest.raises(Ambiguous):
        session.lookup("hypot", "numpy")
    bound = session.bind("hypot", hypot, F64, "numpy")
    assert session.lookup("hypot", "numpy") is bound, "a kernel of the user's is the one that is meant"
    session.register(BOTH)
    made = session.lookup("both", "numpy")
    assert made.dtypes == ("f32", "f32", "f32", "i1"), "a recipe for one dtype tuple needs none"
    assert session.lookup("both", "numpy") is made


def test_binding_for_an_unregistered_recipe_is_refused(session: Session) -> None:
    (stranger,) = xfuse.recipes.parse_recipes(BOTH)
    for which in ("nosuch", "0" * 64, stranger):
        with pytest.raises(RecipeError, match="is registered; register it first"):
            session.bind(which, hypot, F32, "gpu")
    assert not session.table.rows()


@pytest.mark.parametrize(
    "dtypes", [("f32", "f32"), (*F32, "f32"), ("f32", "f32", "f64"), ("i32",) * 3, ("bf16",) * 3, ()]
)
def test_wrong_dtypes_are_refused(session: Session, dtypes: tuple[str, ...]) -> None:
    with pytest.raises(
        BindingError, match=r"@hypot has no form at .*; it has \(f16, f16\) -> f16; \(f32, f32\) -> f32"
    ):
        session.bind("hypot", hypot, dtypes, "gpu", trusted=True)
    assert not session.table.rows()


def test_dtypes_are_names(session: Session) -> None:
    """B33: neither a bare string nor NumPy's own dtypes are guessed at."""
    anything: list[Any] = ["f32", (np.float32,) * 3, (np.dtype("f4"),) * 3, (None,) * 3]
    for dtypes in anything:
        with pytest.raises(BindingError, match="names of element types"):
            session.bind("hypot", hypot, dtypes, "gpu")
        with pytest.raises(BindingError, match="names of element types"):
            session.lookup("hypot", "gpu", dtypes)
    with pytest.raises(BindingError, match="needs dtypes"):
        session.bind("hypot", hypot)


def test_a_kernel_brings_its_dtypes_and_backend(session: Session) -> None:
    kernel = Kernel("mine", "gpu", ("f32", "f32"), ("f32",), hypot)
    stored = session.bind("hypot", kernel)
    assert (stored.dtypes, stored.backend, stored.kernel) == (F32, "gpu", kernel)
    other = session.bind("hypot", kernel, backend="gpu2")
    assert other.backend == "gpu2"
    with pytest.raises(BindingError, match=r"kernel mine is for \(f32, f32\) -> f32, not for \(f64, f64\) -> f64"):
        session.bind("hypot", kernel, F64)
    split = Kernel("split", "gpu", ("f32",), ("f32", "f32"), hypot)
    with pytest.raises(BindingError, match=r"kernel split is for \(f32\) -> \(f32, f32\)"):
        session.bind("hypot", split, trusted=True)


def test_a_kernel_must_be_callable(session: Session) -> None:
    anything: Any = 7
    with pytest.raises(BindingError, match="must be a Kernel or callable, got 7"):
        session.bind("hypot", anything, F32, "gpu")


def test_binding_twice(session: Session) -> None:
    stored = session.bind("hypot", hypot, F32, "gpu")
    assert session.bind("hypot", hypot, F32, "gpu") is stored
    with pytest.raises(BindingError, match="already bound"):
        session.bind("hypot", lambda x, y: hypot(y, x), F32, "gpu")
    replaced = session.bind("hypot", lambda x, y: hypot(y, x), F32, "gpu", replace=True)
    assert session.lookup("hypot", "gpu", F32) is replaced


def test_op_kinds_have_rows_too(session: Session) -> None:
    """Section 7: a row is for a recipe identity or for an op kind of the primitives table."""
    stored = session.bind("arith.addf", np.add, F32, "gpu")
    assert (stored.identity, stored.dtypes) == ("arith.addf", F32)
    with pytest.raises(VerificationError, match="law L6"):
        session.bind("arith.subf", np.add, F32, "gpu")
    for dtypes in (("f32", "f32"), ("f32", "f32", "f64"), ("i32",) * 3, ("f32",) * 4):
        with pytest.raises(BindingError, match=r"'arith.mulf' has no form at"):
            session.bind("arith.mulf", np.multiply, dtypes, "gpu", trusted=True)
    with pytest.raises(BindingError, match="needs dtypes"):
        session.bind("arith.addf", np.add)
    with pytest.raises(BindingError, match="any predicate"):
        session.bind("arith.cmpf", np.less, ("f32", "f32", "i1"), "gpu")
    session.bind("arith.cmpf", np.less, ("f32", "f32", "i1"), "gpu", trusted=True)
    assert len(session.table.rows()) == 2


# Law L6


def nothing_left(session: Session) -> bool:
    return not session.table.rows() and session.table.generation == 0


def writes(x: Any, y: Any) -> Any:
    result = hypot(x, y)
    if x.flags.writeable:
        x[...] = 0
    return result


def writes_the_second(x: Any, y: Any) -> Any:
    result = hypot(x, y)
    if y.size:
        y[..., -1] = 1
    return result


def raises(x: Any, y: Any) -> Any:
    raise RuntimeError("no device")


def keeps_a_buffer() -> Callable[..., Any]:
    buffers: dict[tuple[int, ...], Any] = {}

    def kernel(x: Any, y: Any) -> Any:
        result = hypot(x, y)
        out = buffers.setdefault(np.shape(result), np.empty_like(result))
        out[...] = result
        return out

    return kernel


def only_large(x: Any, y: Any) -> Any:
    result = np.asarray(hypot(x, y))
    return result if result.size > 100 else result + 1


WRONG = {
    "wrong numbers": (lambda x, y: np.abs(x) + np.abs(y), "expected"),
    "off by a rounding": (lambda x, y: np.nextafter(hypot(x, y), np.float32(np.inf)), "expected"),
    "better numbers": (np.hypot, "expected"),
    "arguments swapped sign": (lambda x, y: np.copysign(hypot(x, y), x), "expected"),
    "NaN dropped": (lambda x, y: np.nan_to_num(hypot(x, y)), "expected"),
    "infinity clipped": (lambda x, y: np.minimum(hypot(x, y), np.float32(3e38)), "expected"),
    "wrong dtype": (lambda x, y: hypot(x, y).astype(np.float64), "dtype float64, expected float32"),
    "wrong shape": (lambda x, y: hypot(x, y)[:-1], "shape"),
    "one number": (lambda x, y: np.float32(0), "shape ()"),
    "too many results": (lambda x, y: (hypot(x, y), x), "2 results, expected 1"),
    "no result": (lambda x, y: None, "dtype object"),
    "a list": (lambda x, y: [1.0, 2.0], "dtype float64"),
    "writes into its input": (writes, "wrote into its argument 0"),
    "writes into its second input": (writes_the_second, "wrote into its argument 1"),
    "raises": (raises, "it raised RuntimeError: no device"),
    "wrong number of arguments": (lambda x: x, "it raised TypeError"),
    "one buffer for all calls": (keeps_a_buffer(), "same memory"),
    "wrong on scalars": (lambda x, y: hypot(x, y) if x.ndim else np.float32(7), "arrays of shape ()"),
    "wrong on small arrays": (only_large, "expected"),
    "fails on empty arrays": (
        lambda x, y: hypot(x, y) / (1 if x.size else 1 // 0),
        "empty arrays: it raised ZeroDivision",
    ),
    "wrong on strided arrays": (
        lambda x, y: (
            hypot(np.frombuffer(x.tobytes(order="A"), x.dtype).reshape(x.shape), y)
            if x.flags.c_contiguous
            else hypot(x, y) * 2
        ),
        "strided arrays",
    ),
    "does not broadcast": (lambda x, y: hypot(x, y) if x.shape == y.shape else 1 // 0, "that broadcast: it raised"),
}


@pytest.mark.parametrize("case", WRONG)
def test_law_l6_a_wrong_kernel_is_refused(session: Session, case: str) -> None:
    kernel, words = WRONG[case]
    with pytest.raises(VerificationError) as raised:
        session.bind("hypot", kernel, F32, "gpu")
    message = str(raised.value)
    assert message.startswith("the kernel for @hypot (f32, f32) -> f32 is wrong (law L6): ")
    assert words in message
    assert nothing_left(session)
    with pytest.raises(NotBound):
        session.lookup("hypot", "gpu", F32)


@pytest.mark.parametrize("case", WRONG)
def test_law_l6_trusted_waives_the_probe(session: Session, case: str) -> None:
    kernel, _ = WRONG[case]
    stored = session.bind("hypot", kernel, F32, "gpu", trusted=True)
    assert stored.trusted
    assert session.lookup("hypot", "gpu", F32) is stored


def copying(*arrays: Any) -> Any:
    return hypot(*map(np.ascontiguousarray, arrays)).reshape(np.broadcast(*arrays).shape)


@pytest.mark.parametrize("dtypes", [("f16",) * 3, F32, F64])
def test_law_l6_a_right_kernel_is_accepted(session: Session, dtypes: tuple[str, ...]) -> None:
    """NumPy's own functions, and some that give an argument's own memory or read-only views."""
    session.register("xfuse.recipe @abs(%x: f32) -> f32 { %r = math.absf %x : f32 xfuse.yield %r : f32 }")
    session.bind("hypot", hypot, dtypes, "one")
    session.bind("hypot", copying, dtypes, "two")
    session.bind("abs", lambda x: np.abs(x) if (x < 0).any() else x, ("f32", "f32"), "three")
    session.bind("abs", lambda x: np.broadcast_to(np.abs(x), x.shape), ("f32", "f32"), "four")
    assert len(session.table.rows()) == 4


@pytest.mark.parametrize(
    ("right", "wrong"),
    [("gelu_tanh", "gelu_erf"), ("relu", "gelu_erf"), ("silu", "sigmoid"), ("softplus", "relu"), ("relu", "relu6")],
)
def test_law_l6_near_misses_among_the_library(right: str, wrong: str) -> None:
    """A kernel for another body of a similar shape does not get through."""
    session = Session()
    if wrong not in session.registry:
        pytest.fail(f"the library has no {wrong}; choose another near miss")
    recipe, other = session.recipe(right), session.recipe(wrong)
    assert recipe.signature("f32") == other.signature("f32")
    kernel = session.kernel(other, "f32", backend="numpy")
    with pytest.raises(VerificationError, match="law L6"):
        session.bind(recipe, kernel.function, sum(recipe.signature("f32"), ()), "gpu")


def test_law_l6_opaque_ops_are_bound_only_when_trusted(session: Session) -> None:
    """Section 4: what is not in the primitives table cannot be probed."""
    session.register(
        """xfuse.recipe @magnitude(%x: f32, %y: f32) -> f32 {
          %c = complex.create %x, %y : complex<f32> %r = complex.abs %c : complex<f32> xfuse.yield %r : f32 }"""
    )
    assert not session.available("magnitude", "numpy")
    with pytest.raises(VerificationError, match=r"cannot be probed: .*'complex.create'.*trusted=True"):
        session.bind("magnitude", np.hypot, F32, "gpu")
    assert session.bind("magnitude", np.hypot, F32, "gpu", trusted=True).trusted


def test_several_results(session: Session) -> None:
    session.register(BOTH)
    dtypes = ("f32", "f32", "f32", "i1")
    for kernel in (lambda x, y: x + y, lambda x, y: (x + y, x < y, x), lambda x, y: (x < y, x + y)):
        with pytest.raises(VerificationError):
            session.bind("both", kernel, dtypes, "gpu")
    stored = session.bind("both", lambda x, y: (x + y, x < y), dtypes, "gpu")
    assert stored.kernel is not None
    s, c = stored.kernel(np.float32([1, 2]), np.float32([2, 1]))
    np.testing.assert_array_equal(s, np.float32([3, 3]), strict=True)
    np.testing.assert_array_equal(c, [True, False], strict=True)


def test_what_a_trusted_kernel_gives_is_still_looked_at(session: Session) -> None:
    """Law L10: a result of the wrong kind is an error, not an array that lies; memory of the arguments is copied."""
    x = np.ones(3, np.float32)
    for case, words in (
        ("wrong dtype", "dtype float64"),
        ("wrong shape", r"shape \(2,\)"),
        ("too many results", "2 res"),
    ):
        kernel = session.bind("hypot", WRONG[case][0], F32, case, trusted=True).kernel
        assert kernel is not None
        with pytest.raises(KernelError, match=words):
            kernel(x, x)
    for number, own in enumerate((lambda x, y: x, lambda x, y: y[::-1][::-1], lambda x, y: np.broadcast_to(x[:1], 3))):
        kernel = session.bind("hypot", own, F32, f"own{number}", trusted=True).kernel
        assert kernel is not None
        result = kernel(x, x)
        assert result.flags.writeable
        assert not np.may_share_memory(result, x)


# Adoption


def test_adopt(session: Session) -> None:
    adopted = session.adopt(
        "twice", HYPOT.replace("hypot", "other").replace("sqrt", "exp"), lambda x, y: np.exp(x * x + y * y), F32, "gpu"
    )
    assert adopted
    assert adopted.reason is None
    assert adopted.row is session.lookup("twice", "gpu", F32)
    assert session.available("twice", "gpu")
    assert not session.available("twice", "tpu")


def test_adopt_is_idempotent(session: Session) -> None:
    """Seeds: the same recipe and kernel again is no change: one row, one entry."""
    text = HYPOT.replace("math.sqrt", "math.exp")

    def kernel(x: Any, y: Any) -> Any:
        return np.exp(x * x + y * y)

    first = session.adopt("one", text, kernel, F32, "gpu")
    generations = session.registry.generation, session.table.generation
    for name in ("one", "another"):
        again = session.adopt(name, text, kernel, F32, "gpu")
        assert again.row is first.row
    assert (session.registry.generation, session.table.generation) == generations
    sibling = session.adopt("one", text, kernel, F64, "gpu")
    assert sibling.row is not None
    assert sibling.row.identity == first.row.identity
    assert len(session.table.rows()) == 2


@pytest.mark.parametrize(
    ("text", "kernel", "dtypes", "words"),
    [
        ("xfuse.recipe @r(%x f32)", hypot, F32, "<text>:1"),
        ("xfuse.recipe @r(%x: f32) -> f32 { xfuse.yield %x : f32 }", hypot, ("f32", "f32"), "nothing to fuse"),
        (HYPOT.replace("sqrt", "exp"), hypot, F32, "law L6"),
        (HYPOT.replace("sqrt", "exp"), raises, F32, "no device"),
        (HYPOT.replace("sqrt", "exp"), hypot, ("i8",) * 3, "no form at"),
        (HYPOT.replace("sqrt", "exp"), hypot, "f32", "names of element types"),
        (HYPOT.replace("sqrt", "exp"), 7, F32, "callable"),
        (7, hypot, F32, "expected a recipe"),
    ],
)
def test_adopt_leaves_nothing_behind(session: Session, text: Any, kernel: Any, dtypes: Any, words: str) -> None:
    """Section 7: atomic, and the reason is returned."""
    before = session.registry.entries(), session.registry.generation
    adopted = session.adopt("new", text, kernel, dtypes, "gpu")
    assert not adopted
    assert adopted.row is None
    assert adopted.reason is not None
    assert words in adopted.reason
    assert (session.registry.entries(), session.registry.generation) == before
    assert nothing_left(session)


def test_adopt_keeps_off_taken_names_and_rows(session: Session) -> None:
    text = HYPOT.replace("math.sqrt", "math.exp")
    taken = session.adopt("hypot", text, lambda x, y: np.exp(x * x + y * y), F32, "gpu")
    assert "stands for another recipe" in (taken.reason or "")
    assert len(session.registry) == 1
    first = session.adopt("hypot", HYPOT, hypot, F32, "gpu")
    other = session.adopt("hypot", HYPOT, lambda x, y: hypot(y, x), F32, "gpu")
    assert "already bound" in (other.reason or "")
    assert session.lookup("hypot", "gpu") is first.row
    assert len(session.registry) == 1


def test_16_threads_adopt_one_recipe(session: Session) -> None:
    """Section 7: they end with one row, all of them with that."""
    text = HYPOT.replace("math.sqrt", "math.exp")

    def kernel(x: Any, y: Any) -> Any:
        return np.exp(x * x + y * y)

    found = in_threads(16, lambda number: session.adopt(f"n{number}", text, kernel, F32, "gpu"))
    assert len({id(each.row) for each in found}) == 1
    assert all(found)
    assert len(session.table.rows()) == 1
    assert len(session.registry) == 2


def test_16_threads_adopt_different_kernels(session: Session) -> None:
    """One wins; the others hear why they did not."""
    text = HYPOT.replace("math.sqrt", "math.exp")
    found = in_threads(16, lambda number: session.adopt("n", text, lambda x, y: np.exp(x * x + y * y), F32, "gpu"))
    assert sum(bool(each) for each in found) == 1
    assert all("already bound" in each.reason for each in found if not each)
    assert len(session.table.rows()) == 1


def test_16_threads_that_want_one_kernel_make_it_once() -> None:
    """B42, B47."""
    made: list[str] = []

    class Counting(NumPyBackend):
        def compile(self, recipe: Recipe, element_type: str | None) -> Kernel:
            made.append(recipe.name)
            return super().compile(recipe, element_type)

    session = Session(library=False, backends=[Counting()])
    session.register(HYPOT)
    found = in_threads(16, lambda number: session.kernel("hypot", "f32"))
    assert len({id(each) for each in found}) == 1
    assert made == ["hypot"]


def test_a_kernel_that_registers_recipes_does_not_deadlock(session: Session) -> None:
    """B47: no lock is held across a call-out."""

    def kernel(x: Any, y: Any) -> Any:
        worker = threading.Thread(target=lambda: session.register(BOTH))
        worker.start()
        worker.join(timeout=20)
        assert not worker.is_alive()
        return hypot(x, y)

    session.bind("hypot", kernel, F32, "gpu")
    assert session.adopt("hypot", HYPOT, kernel, F64, "gpu")
    assert "both" in session.registry
