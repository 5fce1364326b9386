"""Sessions (design, section 7): promises, the current session, children, patterns, and the gate (laws L4 and L6)."""

from __future__ import annotations

import asyncio
import contextvars
import subprocess
import sys
import textwrap
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from xdsl.dialects.builtin import ModuleOp
from xdsl.pattern_rewriter import GreedyRewritePatternApplier, PatternRewriteWalker

import xfuse
from xfuse.backends.llvm.backend import LLVMBackend
from xfuse.backends.numpy.backend import NumPyBackend
from xfuse.errors import BackendUnavailable, NotBound, RecipeError, UnsupportedError
from xfuse.fusion import fuse
from xfuse.kernels import Kernel
from xfuse.recipes import Recipe
from xfuse.session import Session, current_session, fresh_session
from xfuse.table import Row
from xfuse.testing import program_difference, same_program
from xfuse_dialects.xfuse import FusedOp

CORPUS = Path(__file__).parent / "corpus"
ADD_SQUARE = """xfuse.recipe @add_square(%x: f64, %y: f64) -> f64 attributes {element_types = [f32, f64]} {
  %a = arith.mulf %y, %y : f64 %r = arith.addf %x, %a : f64 xfuse.yield %r : f64 }"""
NEG_EXP = """xfuse.recipe @neg_exp(%x: f64) -> f64 attributes {element_types = [f32, f64]} {
  %n = arith.negf %x : f64 %r = math.exp %n : f64 xfuse.yield %r : f64 }"""
PROGRAM = """func.func @main(%x: tensor<4xf32>, %y: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %a = arith.mulf %y, %y : tensor<4xf32>
  %r = arith.addf %x, %a : tensor<4xf32>
  %n = arith.negf %x : tensor<4xf32>
  %e = math.exp %n : tensor<4xf32>
  return %r, %e : tensor<4xf32>, tensor<4xf32>
}"""
F32 = ("f32", "f32", "f32")


class Broken(NumPyBackend):
    """A backend of our own whose kernels are wrong in one way or another, and which says so of none."""

    name = "broken"

    def __init__(self, function: Callable[..., Any] | None) -> None:
        self.function = function
        self.compiled = 0

    def compile(self, recipe: Recipe, element_type: str | None) -> Kernel:
        self.compiled += 1
        if self.function is None:
            raise RuntimeError("the compiler fell over")
        return Kernel(recipe.name, self.name, *recipe.signature(element_type), self.function)


def small(*backends: Any) -> Session:
    session = Session(library=False, backends=backends or None)
    session.register(ADD_SQUARE)
    session.register(NEG_EXP)
    return session


def labels(module: ModuleOp) -> list[str | None]:
    return [op.label for op in module.walk() if isinstance(op, FusedOp)]


# Promises


def test_numpy_and_llvm_are_promised() -> None:
    """Section 7: a backend of ours offers a row for what it can emit; nothing is compiled for that."""
    session = small()
    assert list(session.backends) == ["llvm", "numpy"]
    for backend in ("numpy", "llvm"):
        assert session.available("add_square", backend)
        assert session.admissible(session.recipe("add_square"), F32, backend) == backend
    assert session.admissible(session.recipe("add_square"), F32, "auto") == "llvm"
    assert session.admissible(session.recipe("add_square"), ("i32",) * 3, "auto") is None
    assert session.admissible(session.recipe("add_square"), F32, "auto", promised=False) is None
    assert not session.available("add_square", "nosuch")
    assert not session.table.rows()
    assert not session.available_in(session.table, "add_square", "numpy"), "promises are in no table"


@pytest.mark.parametrize(
    ("name", "backend"),
    [("fused_linear", "numpy"), ("fused_linear_relu", "numpy"), ("softmax", "llvm"), ("cosine_similarity", "llvm")],
)
def test_auto_leaves_matrix_products_to_numpy(name: str, backend: str) -> None:
    """Section 4: contraction rows are chosen by what is best at them; a backend that is named is obeyed."""
    session = Session()
    recipe = session.recipe(name)
    dtypes = sum(recipe.signature("f32"), ())
    assert session.admissible(recipe, dtypes, "auto") == backend
    assert session.admissible(recipe, dtypes, "llvm") == "llvm"
    assert session.lookup(recipe, "auto", dtypes).backend == backend


def test_available_in_reads_only_the_table_passed_in() -> None:
    """Seeds: neither the session's own table nor its promises."""
    session, other = small(), small()
    session.bind("add_square", lambda x, y: x + y * y, F32, "gpu")
    before = session.table.snapshot()
    session.bind("neg_exp", lambda x: np.exp(-x), ("f32", "f32"), "gpu")
    assert session.available_in(session.table, "add_square", "gpu")
    assert session.available_in(before, "add_square", "gpu")
    assert not session.available_in(before, "neg_exp", "gpu")
    assert not session.available_in(other.table, "add_square", "gpu")
    assert other.available_in(session.table, "neg_exp", "gpu"), "identity is content (law L5)"
    with session:
        assert xfuse.available_in(before, "add_square", "gpu")
        assert not xfuse.available_in(before, session.recipe("add_square"), "cpu")


def test_a_promise_is_kept_once() -> None:
    session = small()
    made = session.lookup("add_square", "llvm", F32)
    assert made.source == "promised"
    assert made.kernel is not None
    assert made.kernel.ufunc is not None
    assert session.lookup("add_square", "auto", F32) is made
    assert session.kernel("add_square", "f32") is made.kernel
    assert session.table.rows() == [made]
    assert session.kernel("add_square", *F32, backend="llvm") is made.kernel


def test_kernel_says_what_there_is() -> None:
    session = small()
    with pytest.raises(NotBound, match="@add_square is not for element type f16; its element_types are f32, f64"):
        session.kernel("add_square", "f16")
    with pytest.raises(NotBound, match=r"no kernel is bound for .* \(f32, f32\)"):
        session.kernel("add_square", "f32", "f32")
    with pytest.raises(NotBound, match="nosuch"):
        session.kernel("add_square", "f32", backend="nosuch")
    with pytest.raises(RecipeError, match="no recipe nosuch"):
        session.kernel("nosuch", "f32")


BROKEN: dict[str, tuple[Callable[..., Any] | None, str]] = {
    "wrong numbers": (lambda x, y: x + y, r"failed its probe \(law L6\)"),
    "raises when called": (lambda x, y: 1 // 0, "ZeroDivisionError"),
    "raises when made": (None, "RuntimeError: the compiler fell over"),
}


@pytest.mark.parametrize("case", BROKEN)
def test_law_l6_a_broken_backend_of_our_own_loses_its_promise(case: str) -> None:
    """Section 7: a failed probe removes the row and is reported; the next backend in order is asked."""
    function, words = BROKEN[case]
    broken = Broken(function)
    session = small(broken, NumPyBackend())
    recipe = session.recipe("add_square")
    assert session.admissible(recipe, F32, "auto") == "broken"
    session.table.bind(Row(recipe.identity, F32, "broken", None, source="module"))
    with pytest.raises(NotBound, match=words):
        session.lookup("add_square", "broken", F32)
    assert session.admissible(recipe, F32, "broken") is None
    assert session.admissible(recipe, F32, "auto") == "numpy"
    assert not session.table.rows()
    ((key, reason),) = session.failures.items()
    assert key == (recipe.identity, "broken", F32)
    assert reason
    with pytest.raises(NotBound, match="is no good"):
        session.lookup("add_square", "broken", F32)
    assert broken.compiled == 1, "it is not tried again"
    assert session.lookup("add_square", "auto", F32).backend == "numpy"
    assert session.admissible(recipe, ("f64",) * 3, "broken") == "broken", "other dtypes are other promises"
    assert session.child().admissible(recipe, F32, "broken") is None


@pytest.mark.parametrize("case", BROKEN)
def test_law_l4_a_broken_backend_does_not_stop_a_program(case: str) -> None:
    """What was fused for a backend whose kernel turns out to be no good runs as its recipe, and says why."""
    session = small(Broken(BROKEN[case][0]))
    module = xfuse.parse_module(PROGRAM)
    fuse(module, session.registry.select(("add_square",)), session.gate("broken"))
    assert labels(module) == ["add_square"]
    program = xfuse.compile(module, session=session)
    x, y = np.float32([1, 2, 3, 4]), np.float32([5, 6, 7, 8])
    np.testing.assert_array_equal(program(x, y)[0], x + y * y)
    assert not program.rows
    ((op, reason),) = program.inlined
    assert op.label == "add_square"
    assert "no good" in reason


def test_a_promise_of_a_backend_that_is_not_there_is_a_miss() -> None:
    """Rows of IR may promise for a backend that this session lacks."""
    session = small()
    recipe = session.recipe("add_square")
    session.table.bind(Row(recipe.identity, F32, "gpu", None, source="module"))
    assert session.admissible(recipe, F32, "gpu") == "gpu"
    for dtypes in (F32, None):
        with pytest.raises(NotBound, match="no backend gpu to make it"):
            session.lookup("add_square", "gpu", dtypes)
    module = xfuse.parse_module(PROGRAM)
    fuse(module, [recipe], session.gate("gpu"))
    program = xfuse.compile(module, backend="gpu", session=session)
    assert "no backend gpu" in program.inlined[0][1]


def test_unregister_takes_the_rows_along() -> None:
    session = small()
    recipe = session.recipe("add_square")
    session.kernel("add_square", "f32")
    session.bind("add_square", lambda x, y: x + y * y, F32, "gpu")
    kept = session.bind("neg_exp", lambda x: np.exp(-x), ("f32", "f32"), "gpu")
    session.unregister("add_square")
    assert session.table.rows() == [kept]
    assert not session.available_in(session.table, recipe, "gpu")
    for call in (
        lambda: session.unregister(recipe),
        lambda: session.lookup(recipe),
        lambda: session.available(recipe, "gpu"),
    ):
        with pytest.raises(RecipeError, match="no recipe add_square"):
            call()


# Without llvmlite

BLOCKED = """
import sys
class Blocker:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in {blocked!r}:
            {how}
sys.meta_path.insert(0, Blocker())
{body}
"""


def blocked(body: str, *names: str, how: str = 'raise ModuleNotFoundError(f"no {name}", name=name)') -> str:
    """What a program prints in a process where some packages cannot be imported."""
    text = BLOCKED.format(blocked=names or ("llvmlite",), body=textwrap.dedent(body), how=how)
    done = subprocess.run([sys.executable, "-c", text], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.parametrize("how", ['raise ModuleNotFoundError(f"no {name}", name=name)', "raise ValueError(name)"])
def test_without_llvmlite(how: str) -> None:
    """Section 7: NumPy is promised always, LLVM only if llvmlite can be found; asking for it says what to install."""
    printed = blocked(
        """
        import numpy as np, xfuse
        from xfuse.errors import BackendUnavailable
        session = xfuse.Session()
        print(session.available("silu", "llvm"), session.available("silu", "numpy"))
        print(session.kernel("silu", "f32").backend)
        print(xfuse.compile('func.func @main(%x: f32) -> f32 { %r = arith.negf %x : f32 return %r : f32 }')(2.0))
        module = xfuse.fuse('''func.func @main(%x: tensor<2xf32>) -> tensor<2xf32> {
          %one = arith.constant dense<1.0> : tensor<2xf32>
          %n = arith.negf %x : tensor<2xf32>
          %e = math.exp %n : tensor<2xf32>
          %d = arith.addf %e, %one : tensor<2xf32>
          %r = arith.divf %x, %d : tensor<2xf32>
          return %r : tensor<2xf32>
        }''')
        program = xfuse.compile(module)
        print(sorted({row.backend for row in program.rows}), program(np.float32([0, 1])))
        for call in (
            lambda: session.lookup("silu", "llvm", ("f32", "f32")),
            lambda: session.kernel("silu", "f32", backend="llvm"),
            lambda: xfuse.compile(module, backend="llvm"),
            lambda: xfuse.ufunc("silu"),
        ):
            try:
                call()
            except BackendUnavailable as error:
                print(error)
        """,
        how=how,
    )
    lines = printed.splitlines()
    assert lines[:3] == ["False True", "numpy", "-2.0"]
    assert lines[3].startswith("['numpy'] [0.")
    assert len(lines) == 8
    assert all("needs the package llvmlite; install it with: pip install 'xfuse[llvm]'" in line for line in lines[4:])


def test_the_tools_of_xdsl_work_without_llvmlite_and_ml_dtypes() -> None:
    """Section 8: a plugin that fails to import breaks every xDSL tool; nothing heavy is imported at a start."""
    printed = blocked(
        f"""
        import io, xfuse
        from xdsl.xdsl_opt_main import xDSLOptMain
        for arguments in ([], ["-p", "xfuse-fuse,xfuse-decompose"], ["-p", "xfuse-fuse"]):
            xDSLOptMain(args=[*arguments, {str(CORPUS / "variants" / "silu_mul" / "arith.mlir")!r}]).run()
        print(sorted(set(sys.modules) & {{"llvmlite", "ml_dtypes"}}))
        """,
        "llvmlite",
        "ml_dtypes",
    )
    assert "xfuse.fused @swiglu" in printed
    assert printed.splitlines()[-1] == "[]"


def test_bf16_needs_ml_dtypes() -> None:
    """Its absence is a missing row, not a crash."""
    printed = blocked(
        """
        import xfuse
        session = xfuse.Session()
        recipe = session.recipe("silu")
        print(session.admissible(recipe, ("bf16", "bf16"), "auto"), session.admissible(recipe, ("f16", "f16"), "auto"))
        try:
            session.kernel("silu", "bf16")
        except xfuse.errors.XfuseError as error:
            print(error)
        print(xfuse.ufunc("silu").types)
        """,
        "ml_dtypes",
    )
    lines = printed.splitlines()
    assert lines[0] == "None llvm"
    assert "needs the package ml_dtypes" in lines[1]
    assert lines[2] == "['e->e', 'f->f', 'd->d']"


def test_importing_the_package_imports_nothing_heavy() -> None:
    """Section 8: ``xdsl-opt`` imports it at every start."""
    text = "import sys, xfuse, xfuse.universe; print(sorted({'numpy', 'llvmlite', 'ml_dtypes'} & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", text], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


# The current session


def test_with_session_nests() -> None:
    outer, inner = small(), Session(library=False)
    default = current_session()
    with outer as entered:
        assert entered is outer is current_session()
        assert xfuse.region("add_square") is outer.recipe("add_square")
        with inner:
            assert current_session() is inner
            assert xfuse.entries() == ()
            with outer:
                assert current_session() is outer
            assert current_session() is inner
        assert current_session() is outer
        with pytest.raises(ZeroDivisionError), inner:
            _ = 1 // 0
        assert current_session() is outer
    assert current_session() is default
    with fresh_session(library=False) as fresh:
        assert current_session() is fresh
        assert not fresh.registry.entries()


def test_module_level_calls_act_on_the_current_session() -> None:
    """Section 7: no hidden global state."""
    before = xfuse.entries()
    with Session(library=False, backends=[NumPyBackend()]) as session:
        recipe = xfuse.register(ADD_SQUARE)
        assert xfuse.name(recipe.identity) == "add_square"
        row = xfuse.bind("add_square", lambda x, y: x + y * y, F32, "gpu")
        assert xfuse.lookup("add_square", "gpu") is row is session.lookup(recipe, "gpu")
        assert xfuse.available("add_square", "gpu")
        assert xfuse.kernel("add_square", "f32", backend="gpu") is row.kernel
        adopted = xfuse.adopt("neg_exp", NEG_EXP, lambda x: np.exp(-x), ("f32", "f32"), "gpu")
        assert adopted
        assert labels(xfuse.fuse(PROGRAM, backend="gpu")) == ["add_square", "neg_exp"]
        assert labels(xfuse.fuse(PROGRAM, only=["neg_exp"], backend="gpu")) == ["neg_exp"]
        with pytest.raises(RecipeError, match="families are add_square, neg_exp"):
            xfuse.fuse(PROGRAM, only=["nosuch"])
        xfuse.unregister("add_square")
        assert labels(xfuse.fuse(PROGRAM, backend="gpu")) == ["neg_exp"]
    assert xfuse.entries() == before


def test_threads_have_sessions_of_their_own() -> None:
    """A context variable: what one thread enters, another does not see; one session in many threads is fine."""
    shared, seen = small(), dict[int, list[bool]]()
    default = current_session()
    barrier = threading.Barrier(8)

    def work(number: int) -> None:
        seen[number] = [current_session() is default]
        own = Session(library=False)
        with shared:
            barrier.wait()
            with own:
                barrier.wait()
                seen[number].append(current_session() is own)
                barrier.wait()
            seen[number].append(current_session() is shared)
            barrier.wait()
        seen[number].append(current_session() is default)

    with shared:
        threads = [threading.Thread(target=work, args=(number,)) for number in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert current_session() is shared
    assert seen == {number: [True, True, True, True] for number in range(8)}


def test_tasks_have_sessions_of_their_own() -> None:
    """Tasks of one event loop take turns inside ``with session:``, the same session among them."""
    shared = small()

    async def work(session: Session, turns: int) -> bool:
        with session:
            for _ in range(turns):
                await asyncio.sleep(0)
                if current_session() is not session:
                    return False
            with shared:
                await asyncio.sleep(0)
            return current_session() is session

    async def main() -> list[bool]:
        sessions = [Session(library=False) for _ in range(4)]
        with shared:
            results = await asyncio.gather(*(work(s, n) for n, s in enumerate([*sessions, shared, shared])))
            return [*results, current_session() is shared]

    assert all(asyncio.run(main()))


def test_a_context_that_was_copied_inside_may_outlive_the_with() -> None:
    session = small()
    with session:
        copied = contextvars.copy_context()
    assert current_session() is not session
    assert copied.run(current_session) is session


def test_a_child_changes_nothing_in_its_parent() -> None:
    parent = small(NumPyBackend())
    row = parent.bind("add_square", lambda x, y: x + y * y, F32, "gpu")
    child = parent.child()
    assert child.registry.entries() == parent.registry.entries()
    assert child.lookup("add_square", "gpu").kernel is row.kernel
    child.unregister("add_square")
    child.register(ADD_SQUARE.replace("addf", "subf").replace("@add_square", "@sub_square"))
    child.kernel("neg_exp", "f32")
    assert [entry.name for entry in parent.registry] == ["add_square", "neg_exp"]
    assert parent.table.rows() == [row]
    assert Session().child().registry.entries() == Session().registry.entries()


def test_16_threads_ask_a_fresh_session_for_its_library() -> None:
    """B47: nobody sees a half loaded library."""
    session = Session()
    count = len(Session().registry)
    found: list[int] = []
    barrier = threading.Barrier(16)

    def work() -> None:
        barrier.wait()
        found.append(len(session.registry))

    threads = [threading.Thread(target=work) for _ in range(16)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [count] * 16


# Patterns


def test_patterns_with_xdsls_own_drivers() -> None:
    """Section 8: passes are thin drivers over public patterns. Fused, then lowered to the same program (law L2)."""
    session = small(NumPyBackend())
    patterns = session.patterns("numpy")
    assert [pattern.recipe.name for pattern in patterns.fuse] == ["add_square", "neg_exp"]
    assert patterns.gated_out == []
    plain = xfuse.parse_module(PROGRAM)
    for drive in (
        lambda module, own: PatternRewriteWalker(
            GreedyRewritePatternApplier(list(own), dce_enabled=False)
        ).rewrite_module(module),
        lambda module, own: PatternRewriteWalker(GreedyRewritePatternApplier(list(own))).rewrite_module(module),
        lambda module, own: [PatternRewriteWalker(each).rewrite_module(module) for each in own],
        lambda module, own: [
            PatternRewriteWalker(each, walk_reverse=True, apply_recursively=False).rewrite_module(module)
            for each in own
        ],
    ):
        module = plain.clone()
        drive(module, patterns.fuse)
        module.verify()
        assert sorted(map(str, labels(module))) == ["add_square", "neg_exp"]
        again = str(module)
        drive(module, patterns.fuse)
        assert str(module) == again, "law L7"
        drive(module, patterns.lowering)
        module.verify()
        assert not labels(module)
        assert program_difference(plain, module) is None
    assert same_program(plain, xfuse.parse_module(str(module)))


def test_patterns_gate() -> None:
    """Law L4: what no row has on the backend is gated out, and comes in when a kernel is bound."""
    session = small(NumPyBackend())
    patterns = session.patterns("gpu")
    assert patterns.fuse == []
    assert [recipe.name for recipe in patterns.gated_out] == ["add_square", "neg_exp"]
    assert len(patterns.lowering) == 2, "lowering needs no kernel (law L1)"
    row = session.bind("add_square", lambda x, y: x + y * y, ("f64",) * 3, "gpu")
    patterns = session.patterns("gpu")
    assert [recipe.name for recipe in patterns.gated_out] == ["neg_exp"]
    module = xfuse.parse_module(PROGRAM)
    PatternRewriteWalker(GreedyRewritePatternApplier(list(patterns.fuse))).rewrite_module(module)
    assert not labels(module), "the coarse gate is for the recipe, the precise one for its dtypes"
    double = xfuse.parse_module(PROGRAM.replace("f32", "f64"))
    PatternRewriteWalker(GreedyRewritePatternApplier(list(patterns.fuse))).rewrite_module(double)
    assert labels(double) == ["add_square"]
    session.table.unbind(row)
    assert session.patterns("gpu").fuse == []


def test_lowering_patterns_leave_strangers_alone() -> None:
    """One pattern per entry: a fused op with another label, or with none, is not theirs."""
    session = small(NumPyBackend())
    module = xfuse.parse_module(PROGRAM)
    fuse(module, session.registry.entries(), session.gate())
    other = Session(library=False)
    other.register(NEG_EXP)
    PatternRewriteWalker(GreedyRewritePatternApplier(list(other.lowering_patterns()))).rewrite_module(module)
    assert labels(module) == ["add_square"]
    xfuse.decompose_all(module)
    assert program_difference(xfuse.parse_module(PROGRAM), module) is None


def test_match_rewrites_nothing() -> None:
    """Rule R10: matching without rewriting is a public call, and refusals are values."""
    session = small(NumPyBackend())
    module = xfuse.parse_module(PROGRAM)
    before = str(module)
    found = session.match(module)
    assert {(match.recipe.name, match.backend) for match in found.chosen} == {
        ("add_square", "numpy"),
        ("neg_exp", "numpy"),
    }
    assert [match.recipe.name for match in session.match(module, only=("neg_exp",)).chosen] == ["neg_exp"]
    gated = session.match(module, "gpu")
    assert not gated.chosen
    assert {refusal.rule for refusal in gated.refusals} >= {"L4"}
    assert any("no kernel is bound or promised for (f32, f32, f32)" in str(refusal) for refusal in gated.refusals)
    assert str(module) == before
    with pytest.raises(RecipeError, match="nosuch"):
        session.match(module, only=("nosuch",))


# Law L4


def test_law_l4_the_gate_follows_the_rows() -> None:
    """An op is fused only if an admissible kernel exists or is promised for the backend and exactly these dtypes."""
    session = small(NumPyBackend())
    single, double = xfuse.parse_module(PROGRAM), xfuse.parse_module(PROGRAM.replace("f32", "f64"))

    def fused(module: ModuleOp) -> list[str | None]:
        copy = module.clone()
        fuse(copy, session.registry.entries(), session.gate("gpu"))
        return labels(copy)

    assert fused(single) == []
    row = session.bind("add_square", lambda x, y: x + y * y, F32, "gpu")
    assert fused(single) == ["add_square"]
    assert fused(double) == []
    session.table.unbind(row)
    assert fused(single) == []


def test_law_l4_a_kernel_that_is_gone_later_leaves_the_recipe() -> None:
    """Fused while there was a kernel; compiled when there is none: a note, the recipe's ops, the same numbers."""
    session = small(NumPyBackend())
    calls: list[int] = []

    def kernel(x: Any, y: Any) -> Any:
        calls.append(1)
        return x + y * y

    row = session.bind("add_square", kernel, F32, "gpu")
    module = xfuse.parse_module(PROGRAM)
    fuse(module, [session.recipe("add_square")], session.gate("gpu"))
    x, y = np.float32([1, 2, 3, 4]), np.float32([5, 6, 7, 8])
    calls.clear()
    with_kernel = xfuse.compile(module, backend="gpu", session=session)
    first = with_kernel(x, y)
    assert len(calls) == 1
    assert [each.kernel for each in with_kernel.rows] == [row.kernel]
    session.table.unbind(row)
    without = xfuse.compile(module, backend="auto", session=Session(library=False, backends=[]))
    second = without(x, y)
    assert not without.rows
    assert "instance of no registered recipe" in without.inlined[0][1]
    session.bind("add_square", kernel, ("f64",) * 3, "gpu")
    third_program = xfuse.compile(module, backend="gpu", session=session)
    assert "Nearest rows" in third_program.inlined[0][1]
    third = third_program(x, y)
    calls.clear()
    for one, two, three in zip(first, second, third, strict=True):
        np.testing.assert_array_equal(one, two, strict=True)
        np.testing.assert_array_equal(one, three, strict=True)
    assert not calls


def test_backends_that_nobody_knows() -> None:
    session = small()
    with pytest.raises(UnsupportedError, match="no backend is named 'nosuch'; known are auto, llvm, numpy"):
        xfuse.compile(PROGRAM, backend="nosuch", session=session)
    with pytest.raises(NotBound):
        session.lookup("add_square", "nosuch", F32)


def test_a_backend_that_cannot_run_here() -> None:
    class Absent(LLVMBackend):
        name = "absent"

        def unavailable(self) -> str | None:
            return "buy a machine"

    session = small(Absent(), NumPyBackend())
    assert not session.available("add_square", "absent")
    assert session.lookup("add_square", "auto", F32).backend == "numpy"
    for call in (
        lambda: session.lookup("add_square", "absent", F32),
        lambda: xfuse.compile(PROGRAM, backend="absent", session=session),
    ):
        with pytest.raises(BackendUnavailable, match="buy a machine"):
            call()


# Instances


def test_an_instance_is_known_by_its_region_not_by_its_label() -> None:
    """Section 3: the label is the first guess; the region alone says what a fused op means."""
    session = small(NumPyBackend())
    module = xfuse.parse_module(PROGRAM)
    fuse(module, session.registry.entries(), session.gate())
    fused = [op for op in module.walk() if isinstance(op, FusedOp)]
    by_label = [session.recipe_of(op) for op in fused]
    text = str(module).replace("@add_square", "@tmp").replace("@neg_exp", "@add_square").replace("@tmp", "@nosuch")
    relabelled = [op for op in xfuse.parse_module(text).walk() if isinstance(op, FusedOp)]
    assert [session.recipe_of(op) for op in relabelled] == by_label
    assert [session.admissible_instance(op, "numpy") for op in relabelled] == ["numpy", "numpy"]
    session.unregister("neg_exp")
    assert session.recipe_of(relabelled[1]) is None
    assert session.admissible_instance(relabelled[1], "numpy") is None
    session.register(NEG_EXP)
    assert session.recipe_of(relabelled[1]) is session.recipe("neg_exp"), "the answer follows the registry"
