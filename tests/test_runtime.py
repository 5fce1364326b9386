"""Running programs: the corpus in every spelling against its stored outputs; what programs refuse and promise."""

from __future__ import annotations

import subprocess
import sys
import threading
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from support import CORPUS, FILES, PROGRAMS, SPELLINGS, parsed, short
from xdsl.dialects.builtin import ModuleOp

import xfuse
from xfuse.backends.numpy.backend import NumPyBackend
from xfuse.cli import largest_error, load_arrays, main
from xfuse.errors import KernelError, ParsingError, UnsupportedError
from xfuse.fusion import fuse
from xfuse.kernels import Kernel, as_tuple
from xfuse.runtime import CompiledProgram, run
from xfuse_dialects.xfuse import FusedOp

Array = Any
REFUSED = "complex_phase"
"""The one program outside the vocabulary; see `test_what_is_outside_the_vocabulary_is_named`."""
SESSION = xfuse.Session()
"""One for all tests that bind nothing: kernels are made once."""


def archives(path: Path) -> tuple[Path, Path]:
    """The inputs and expected outputs of a corpus file."""
    folder = path.parent
    if folder.parent.name == "dev":
        return folder / f"{folder.name}.inputs.npz", folder / f"{folder.name}.outputs.npz"
    own = folder / f"outputs_{path.stem}.npz"
    return folder / "inputs.npz", own if own.exists() else folder / "outputs.npz"


def expected_of(path: Path) -> list[Array]:
    with np.load(path) as archive:
        return [archive[name] for name in archive.files if name.startswith("out")]


def tolerance_of(program: CompiledProgram) -> float:
    """Programs in bf16 were computed by others with other intermediate roundings."""
    types = [str(type_) for type_ in (*program.argument_types, *program.result_types)]
    return 2e-2 if any("bf16" in type_ for type_ in types) else 2e-6


@pytest.mark.parametrize("backend", ["plain", "numpy", "llvm"])
@pytest.mark.parametrize("path", [path for path in FILES if path.parent.name != REFUSED], ids=short)
def test_law_l3_the_corpus(path: Path, backend: str) -> None:
    """Plain, and fused for each backend: the numbers that JAX or PyTorch computed, in arrays of their own."""
    module = parsed(path).clone()
    if backend != "plain":
        fuse(module, SESSION.registry.entries(), SESSION.gate(backend))
        module.verify()
    before = str(module)
    program = xfuse.compile(module, "main", "numpy" if backend == "plain" else backend, SESSION)
    assert str(module) == before, "compiling changes nothing"
    fused = sum(isinstance(op, FusedOp) for op in module.walk())
    assert len(program.rows) + len(program.inlined) == fused
    assert not program.inlined, [reason for _, reason in program.inlined]
    inputs_file, outputs_file = archives(path)
    inputs = load_arrays(inputs_file, program)
    copies = [array.copy() for array in inputs]
    for array in inputs:
        array.flags.writeable = False
    results = as_tuple(program(*inputs))
    expected = expected_of(outputs_file)
    assert len(results) == len(expected)
    assert largest_error(results, expected) <= tolerance_of(program)
    for array, copy in zip(inputs, copies, strict=True):
        assert array.tobytes() == copy.tobytes()
    independent(results, inputs)


def independent(results: Sequence[Array], inputs: Sequence[Array]) -> None:
    """Results are writable arrays that share memory with nothing (law L10)."""
    for number, result in enumerate(results):
        if not isinstance(result, np.ndarray):
            continue
        assert result.flags.writeable
        for other in (*inputs, *results[:number]):
            assert not np.may_share_memory(result, other) or not np.shares_memory(result, other)


@pytest.mark.parametrize("spelling", SPELLINGS)
def test_what_is_outside_the_vocabulary_is_named(spelling: str) -> None:
    """Section 4: an unbound opaque op is refused by name."""
    path = CORPUS / "dev" / REFUSED / f"{REFUSED}.{spelling}.mlir"
    with pytest.raises(UnsupportedError, match=r"complex\.create"):
        xfuse.compile(parsed(path), session=SESSION)


def test_the_corpus_is_fused_somewhere() -> None:
    """The test above would pass if nothing ever matched."""
    counts = {}
    for name in PROGRAMS:
        module = parsed(CORPUS / "dev" / name / f"{name}.linalg.mlir").clone()
        fuse(module, SESSION.registry.entries(), SESSION.gate("llvm"))
        counts[name] = sum(isinstance(op, FusedOp) for op in module.walk())
    assert sum(count > 0 for count in counts.values()) >= 20, counts


# What compile refuses

ONE = """func.func @main(%x: tensor<2x3xf32>, %s: f32) -> tensor<2x3xf32> {
  %t = tensor.splat %s : tensor<2x3xf32>
  %r = arith.addf %x, %t : tensor<2x3xf32>
  return %r : tensor<2x3xf32>
}"""


def test_an_unknown_entry() -> None:
    with pytest.raises(UnsupportedError, match="no function @nosuch; its functions are main"):
        xfuse.compile(ONE, "nosuch")
    with pytest.raises(UnsupportedError, match="no function @main; its functions are none"):
        xfuse.compile("module {}")


def test_functions_without_one_block() -> None:
    with pytest.raises(UnsupportedError, match="@main has 0 blocks"):
        xfuse.compile("func.func private @main(f32) -> f32")
    with pytest.raises(UnsupportedError, match="@main has 2 blocks; only functions of one block can be run"):
        xfuse.compile("func.func @main(%x: f32) -> f32 { cf.br ^end ^end: return %x : f32 }")


def test_text_that_is_no_program() -> None:
    with pytest.raises(ParsingError, match="<text>:1"):
        xfuse.compile("func.func @main(")
    with pytest.raises(ParsingError, match="verify"):
        xfuse.compile("func.func @main(%x: f32) -> f64 { return %x : f32 }")


def test_unknown_ops_of_a_known_dialect_are_named() -> None:
    with pytest.raises(UnsupportedError, match=r"memref\.load|memref\.alloc"):
        xfuse.compile("func.func @main(%m: memref<f32>) -> f32 { %r = memref.load %m[] : memref<f32> return %r : f32 }")


# What calls refuse


def test_wrong_arrays_are_refused() -> None:
    """Law L10: before anything is computed, and the message says which argument and what was expected."""
    program = xfuse.compile(ONE)
    x = np.ones((2, 3), np.float32)
    for arguments, words in (
        ((), "@main takes 2 arrays, got 0"),
        ((x,), "@main takes 2 arrays, got 1"),
        ((x, x, x), "@main takes 2 arrays, got 3"),
        ((x.astype(np.float64), 1.0), "argument 0 of @main must have dtype float32 (f32), got float64"),
        ((x.astype(np.int32), 1.0), "got int32"),
        ((x, np.float64(1)), "argument 1 of @main must have dtype float32 (f32), got float64"),
        ((x[0], 1.0), "argument 0 of @main must have 2 dimensions (tensor<2x3xf32>), got shape (3,)"),
        ((x.T, 1.0), "argument 0 of @main must have the shape of tensor<2x3xf32>, got (3, 2)"),
        ((x[:1], 1.0), "got (1, 3)"),
        ((np.ones((2, 0), np.float32), 1.0), "got (2, 0)"),
        ((1.0, 1.0), "argument 0 of @main must have 2 dimensions"),
        ((x, x), "argument 1 of @main must have 0 dimensions (f32), got shape (2, 3)"),
        ((x, "1"), "argument 1"),
        ((x, None), "argument 1"),
        ((x, [[1], [2, 3]]), "argument 1 of @main is no array"),
    ):
        with pytest.raises(KernelError) as raised:
            program(*arguments)
        assert words in str(raised.value)


def test_arrays_of_all_kinds_are_taken() -> None:
    """Law L10: any layout and byte order; Python numbers and lists stand for scalars and arrays of their dtype."""
    program = xfuse.compile(ONE)
    base = np.arange(6, dtype=np.float32).reshape(2, 3)
    raw = np.zeros(25, np.uint8)
    unaligned = raw[1:].view(np.float32).reshape(2, 3)
    unaligned[...] = base
    frozen = base.copy()
    frozen.flags.writeable = False
    for x in (
        base,
        np.asfortranarray(base),
        base[::-1, ::-1],
        np.broadcast_to(base[0], (2, 3)),
        base.astype(">f4"),
        unaligned,
        frozen,
    ):
        for scalar in (2, 2.0, True, np.float32(2), np.array(2, np.float32), np.array(2, ">f4")):
            result = program(x, scalar)
            assert type(result) is np.ndarray
            np.testing.assert_array_equal(result, np.asarray(x).astype(np.float32) + np.float32(scalar), strict=True)
            assert result.dtype.isnative


# What comes back


def test_results_are_independent_writable_arrays() -> None:
    """Law L10: a returned argument, a broadcast or transposed one, one value twice, a constant, a slice."""
    program = xfuse.compile(
        """func.func @main(%x: tensor<3x3xf32>, %v: tensor<3xf32>, %s: f32)
            -> (tensor<3x3xf32>, tensor<3x3xf32>, tensor<3x3xf32>, tensor<3x3xf32>, tensor<3x3xf32>, tensor<3xf32>,
                tensor<3xf32>, tensor<1x3xf32>, tensor<9xf32>, tensor<3x3xf32>) {
          %e = tensor.empty() : tensor<3x3xf32>
          %b = linalg.broadcast ins(%v : tensor<3xf32>) outs(%e : tensor<3x3xf32>) dimensions = [0]
          %t = linalg.transpose ins(%x : tensor<3x3xf32>) outs(%e : tensor<3x3xf32>) permutation = [1, 0]
          %c = arith.constant dense<[1.0, 2.0, 3.0]> : tensor<3xf32>
          %k = arith.constant dense<7.0> : tensor<3xf32>
          %sl = tensor.extract_slice %x[1, 0] [1, 3] [1, 1] : tensor<3x3xf32> to tensor<1x3xf32>
          %flat = tensor.collapse_shape %x [[0, 1]] : tensor<3x3xf32> into tensor<9xf32>
          %sp = tensor.splat %s : tensor<3x3xf32>
          return %x, %x, %b, %t, %b, %c, %k, %sl, %flat, %sp
            : tensor<3x3xf32>, tensor<3x3xf32>, tensor<3x3xf32>, tensor<3x3xf32>, tensor<3x3xf32>, tensor<3xf32>,
              tensor<3xf32>, tensor<1x3xf32>, tensor<9xf32>, tensor<3x3xf32>
        }"""
    )
    x, v = np.arange(9, dtype=np.float32).reshape(3, 3), np.float32([10, 20, 30])
    inputs = [x, v, np.float32(5)]
    expected = [
        x,
        x,
        np.tile(v, (3, 1)),
        x.T,
        np.tile(v, (3, 1)),
        [1, 2, 3],
        [7] * 3,
        x[1:2],
        x.ravel(),
        np.full((3, 3), 5),
    ]
    for _ in range(2):  # a constant must survive what a caller does to a result
        results = program(*inputs)
        independent(results, [x, v])
        for result, want in zip(results, expected, strict=True):
            assert type(result) is np.ndarray
            np.testing.assert_array_equal(result, np.asarray(want, np.float32), strict=True)
        for result in results:
            result[...] = -1
        np.testing.assert_array_equal(x, np.arange(9).reshape(3, 3))
        np.testing.assert_array_equal(v, [10, 20, 30])


def test_scalars_in_and_out() -> None:
    program = xfuse.compile(
        """func.func @main(%x: f32, %n: i64, %c: i1, %h: bf16, %i: index) -> (f32, i64, i1, bf16, index, f32) {
          %a = arith.addf %x, %x : f32 %b = arith.addi %n, %n : i64 %d = arith.xori %c, %c : i1
          %e = arith.negf %h : bf16 %j = arith.addi %i, %i : index %s = arith.select %c, %x, %a : f32
          return %a, %b, %d, %e, %j, %s : f32, i64, i1, bf16, index, f32 }"""
    )
    h = np.dtype(ml_dtypes.bfloat16).type(1.5)
    for arguments in ((2.0, 3, True, 1.5, 4), tuple(map(np.asarray, (np.float32(2), 3, True, h, 4)))):
        results = program(*arguments)
        assert results == (4, 6, False, -1.5, 8, 2)
        assert [np.asarray(result).dtype.name for result in results] == [
            "float32",
            "int64",
            "bool",
            "bfloat16",
            "int64",
            "float32",
        ]
    assert xfuse.compile("func.func @main(%x: f32) -> f32 { return %x : f32 }")(2.5) == 2.5
    with pytest.raises(KernelError, match="does not fit"):
        program(2.0, 2**63, True, 1.5, 4)


def test_no_results_and_no_arguments() -> None:
    assert xfuse.compile("func.func @main(%x: f32) { return }")(1.0) == ()
    program = xfuse.compile("func.func @main() -> f32 { %c = arith.constant 2.0 : f32 return %c : f32 }")
    assert program() == 2


DYNAMIC = """func.func @main(%x: tensor<?x?xf32>, %v: tensor<?xf32>) -> (tensor<?x?xf32>, tensor<?xf32>, index) {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %m = tensor.dim %x, %zero : tensor<?x?xf32>
  %n = tensor.dim %x, %one : tensor<?x?xf32>
  %e = tensor.empty(%m, %n) : tensor<?x?xf32>
  %r = linalg.generic {
      indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (j)>, affine_map<(i, j) -> (i, j)>],
      iterator_types = ["parallel", "parallel"]}
      ins(%x, %v : tensor<?x?xf32>, tensor<?xf32>) outs(%e : tensor<?x?xf32>) {
    ^bb0(%a: f32, %b: f32, %o: f32):
      %s = arith.addf %a, %b : f32
      %z = arith.constant 0.0 : f32
      %y = arith.maximumf %s, %z : f32
      linalg.yield %y : f32
  } -> tensor<?x?xf32>
  %c = arith.constant 0.0 : f32
  %f = tensor.empty(%m) : tensor<?xf32>
  %i = linalg.fill ins(%c : f32) outs(%f : tensor<?xf32>) -> tensor<?xf32>
  %t = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>],
      iterator_types = ["parallel", "reduction"]} ins(%r : tensor<?x?xf32>) outs(%i : tensor<?xf32>) {
    ^bb0(%a: f32, %o: f32):
      %s = arith.addf %a, %o : f32
      linalg.yield %s : f32
  } -> tensor<?xf32>
  return %r, %t, %n : tensor<?x?xf32>, tensor<?xf32>, index
}"""


@pytest.mark.parametrize("backend", ["plain", "numpy", "llvm"])
def test_dynamic_and_zero_extents(backend: str) -> None:
    """B22: one compiled program for all extents, zero and one among them."""
    module = xfuse.parse_module(DYNAMIC)
    if backend != "plain":
        fuse(module, SESSION.registry.entries(), SESSION.gate(backend))
        assert [op.label for op in module.walk() if isinstance(op, FusedOp)] == ["add_relu"]
    program = xfuse.compile(module, backend="numpy" if backend == "plain" else backend, session=SESSION)
    rng = np.random.default_rng(0)
    for m, n in ((2, 3), (1, 1), (0, 3), (3, 0), (0, 0), (1, 5), (5, 1), (33, 65)):
        x, v = rng.standard_normal((m, n)).astype(np.float32), rng.standard_normal(n).astype(np.float32)
        r, t, width = program(x, v)
        expected = np.maximum(x + v, 0)
        np.testing.assert_array_equal(r, expected, strict=True)
        np.testing.assert_allclose(t, expected.sum(axis=1), rtol=1e-5, strict=True)
        assert width == n
        independent((r, t), (x, v))


def test_dynamic_extents_that_do_not_fit_each_other() -> None:
    """An error that names the shapes, not numbers made of broadcast garbage."""
    program = xfuse.compile(DYNAMIC)
    with pytest.raises(KernelError, match=r"@main failed on arrays of shapes \(2, 3\), \(4,\)"):
        program(np.ones((2, 3), np.float32), np.ones(4, np.float32))


# Kernels in programs

SCALE = """xfuse.recipe @scale_add(%x: f64, %y: f64) -> f64 attributes {element_types = [f32, f64]} {
  %m = arith.mulf %x, %y : f64 %r = arith.addf %m, %x : f64 xfuse.yield %r : f64 }"""
TWICE = """func.func @main(%x: tensor<4xf32>, %y: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %m = arith.mulf %x, %y : tensor<4xf32> %r = arith.addf %m, %x : tensor<4xf32>
  %n = arith.mulf %y, %y : tensor<4xf32> %s = arith.addf %n, %y : tensor<4xf32>
  return %r, %s : tensor<4xf32>, tensor<4xf32>
}"""
F32 = ("f32", "f32", "f32")


def bound(kernel: Callable[..., Any] | Kernel, *, trusted: bool = False) -> tuple[xfuse.Session, ModuleOp]:
    """A session with a kernel for one recipe on a backend "gpu", and a program fused for it."""
    session = xfuse.Session(library=False, backends=[NumPyBackend()])
    session.register(SCALE)
    session.bind("scale_add", kernel, F32, "gpu", trusted=trusted)
    module = xfuse.parse_module(TWICE)
    fuse(module, session.registry.entries(), session.gate("gpu"))
    assert [op.label for op in module.walk() if isinstance(op, FusedOp)] == ["scale_add"] * 2
    return session, module


X, Y = np.float32([1, 2, 3, 4]), np.float32([5, 6, 7, 8])


def test_kernels_are_really_called() -> None:
    calls: list[tuple[int, ...]] = []

    def kernel(x: Array, y: Array) -> Array:
        calls.append(x.shape)
        return x * y + x

    session, module = bound(kernel)
    program = xfuse.compile(module, backend="gpu", session=session)
    assert [row.backend for row in program.rows] == ["gpu", "gpu"]
    calls.clear()
    r, s = program(X, Y)
    assert calls == [(4,), (4,)]
    np.testing.assert_array_equal(r, X * Y + X, strict=True)
    np.testing.assert_array_equal(s, Y * Y + Y, strict=True)
    calls.clear()
    other = xfuse.compile(module, backend="numpy", session=session)
    other(X, Y)
    assert not calls, "another backend was asked for"
    assert [row.backend for row in other.rows] == ["numpy", "numpy"]


def test_a_kernel_may_give_its_arguments_memory_back() -> None:
    """Law L10: what it returns is copied where it is not its own."""
    for kernel in (lambda x, y: x, lambda x, y: y[::-1][::-1], lambda x, y: np.broadcast_to(x[..., :1], x.shape)):
        session, module = bound(kernel, trusted=True)
        x, y = X.copy(), Y.copy()
        results = xfuse.compile(module, backend="gpu", session=session)(x, y)
        independent(results, [x, y])


@pytest.mark.parametrize(
    ("kernel", "words"),
    [
        (lambda x, y: (x * y + x).astype(np.float64), "gave result 0 of dtype float64, expected float32"),
        (lambda x, y: (x * y + x)[:2], r"gave result 0 of shape \(2,\), expected \(4,\)"),
        (lambda x, y: (x, y), "gave 2 results, expected 1"),
        (lambda x, y: None, "dtype object"),
    ],
)
def test_a_trusted_kernel_that_lies_is_found_out(kernel: Callable[..., Any], words: str) -> None:
    session, module = bound(kernel, trusted=True)
    with pytest.raises(KernelError, match=words):
        xfuse.compile(module, backend="gpu", session=session)(X, Y)


def test_what_a_kernel_raises_gets_out() -> None:
    class DeviceLostError(RuntimeError):
        pass

    def kernel(x: Array, y: Array) -> Array:
        raise DeviceLostError("gone")

    session, module = bound(kernel, trusted=True)
    with pytest.raises(DeviceLostError, match="gone"):
        xfuse.compile(module, backend="gpu", session=session)(X, Y)


def test_law_l4_a_kernel_that_was_removed() -> None:
    """The recipe runs; the program says so."""
    session, module = bound(lambda x, y: x * y + x)
    session.table.unbind_all(session.table.rows())
    plain = xfuse.compile(module, session=xfuse.Session(library=False, backends=[]))
    assert len(plain.inlined) == 2
    np.testing.assert_array_equal(plain(X, Y)[0], X * Y + X, strict=True)
    with_numpy = xfuse.compile(module, session=session)
    assert [row.backend for row in with_numpy.rows] == ["numpy", "numpy"], "the promise of another backend serves"
    np.testing.assert_array_equal(with_numpy(X, Y)[1], Y * Y + Y, strict=True)


def test_a_compiled_program_keeps_its_kernels() -> None:
    """What was compiled does not change under the caller's feet."""
    session, module = bound(lambda x, y: x * y + x)
    program = xfuse.compile(module, backend="gpu", session=session)
    session.unregister("scale_add")
    np.testing.assert_array_equal(program(X, Y)[0], X * Y + X, strict=True)


def test_16_threads_call_one_program() -> None:
    """B47: a compiled program has no state that calls share."""
    path = CORPUS / "dev" / "adam_step" / "adam_step.linalg.mlir"
    for backend in ("numpy", "llvm"):
        module = parsed(path).clone()
        fuse(module, SESSION.registry.entries(), SESSION.gate(backend))
        program = xfuse.compile(module, backend=backend, session=SESSION)
        inputs = load_arrays(path.parent / "adam_step.inputs.npz", program)
        wanted: list[list[bytes]] = []
        varied = [[a * (n + 1) if a.dtype == np.float32 else a for a in inputs] for n in range(16)]
        for each in varied:
            wanted.append([np.asarray(result).tobytes() for result in program(*each)])
        errors: list[int] = []
        barrier = threading.Barrier(16)

        def work(
            number: int,
            program: CompiledProgram = program,
            varied: list[Any] = varied,
            wanted: list[Any] = wanted,
            errors: list[int] = errors,
            barrier: threading.Barrier = barrier,
        ) -> None:
            barrier.wait()
            for _ in range(20):
                results = program(*varied[number])
                if [np.asarray(result).tobytes() for result in results] != wanted[number]:
                    errors.append(number)

        threads = [threading.Thread(target=work, args=(number,)) for number in range(16)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert not errors


def test_no_warnings_and_no_errors_of_numpys() -> None:
    """Law L10: whatever the caller's floating-point settings are."""
    program = xfuse.compile(
        """func.func @main(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xi32>) {
          %d = arith.divf %x, %x : tensor<4xf32> %l = math.log %d : tensor<4xf32> %e = math.exp %x : tensor<4xf32>
          %s = arith.mulf %l, %e : tensor<4xf32> %em = tensor.empty() : tensor<4xi32>
          %i = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>],
              iterator_types = ["parallel"]} ins(%x : tensor<4xf32>) outs(%em : tensor<4xi32>) {
            ^bb0(%a: f32, %o: i32):
              %c = arith.fptosi %a : f32 to i32
              linalg.yield %c : i32
          } -> tensor<4xi32>
          return %s, %i : tensor<4xf32>, tensor<4xi32> }"""
    )
    with np.errstate(all="raise"):
        s, i = program(np.float32([0, np.inf, np.nan, 1e30]))
    assert np.isnan(s[:3]).all()
    assert i.tolist() == [0, 2**31 - 1, 0, 2**31 - 1]


def test_run_takes_a_mapping() -> None:
    results = run(ONE, {"x": np.ones((2, 3), np.float32), "s": 1.0})
    np.testing.assert_array_equal(results, np.full((2, 3), 2, np.float32), strict=True)


def test_programs_are_deterministic() -> None:
    """Law L11: the generated source is the same from run to run."""
    path = CORPUS / "dev" / "lstm_cell" / "lstm_cell.fused.mlir"
    texts = {xfuse.compile(parsed(path).clone(), session=xfuse.Session()).source for _ in range(3)}
    program = f"import sys, xfuse\nprint(xfuse.compile(xfuse.load_module({str(path)!r})).source, end='')"
    for seed in ("0", "1"):
        done = subprocess.run(
            [sys.executable, "-c", program], capture_output=True, text=True, check=True, env={"PYTHONHASHSEED": seed}
        )
        texts.add(done.stdout)
    assert len(texts) == 1


# The command line


def xfuse_process(*arguments: str | Path, status: int = 0) -> tuple[str, str]:
    """Run ``xfuse`` in a process of its own; its output and errors. No mistake of the user's gives a traceback."""
    done = subprocess.run(
        [sys.executable, "-m", "xfuse.cli", *map(str, arguments)], capture_output=True, text=True, check=False
    )
    assert done.returncode == status, done.stderr
    assert "Traceback" not in done.stderr
    return done.stdout, done.stderr


@pytest.fixture
def xfuse_command(capsys: pytest.CaptureFixture[str]) -> Callable[..., tuple[str, str]]:
    """The same in this process, which is faster."""

    def command(*arguments: str | Path, status: int = 0) -> tuple[str, str]:
        try:
            found = main([*map(str, arguments)])
        except SystemExit as error:
            found = int(error.code or 0)
        captured = capsys.readouterr()
        assert found == status, captured.err
        return captured.out, captured.err

    return command


Command = Callable[..., tuple[str, str]]
SILU = CORPUS / "variants" / "silu_mul"
GOOD = ("run", SILU / "arith.mlir", "--inputs", SILU / "inputs.npz")


def test_cli_run(tmp_path: Path, xfuse_command: Command) -> None:
    out, err = xfuse_command(*GOOD, "--expect", SILU / "outputs.npz", "--output", tmp_path / "results.npz")
    assert "result 0: float32 (16, 32)" in out
    assert "kernel @swiglu (f32, f32, f32) on llvm" in out
    assert "largest error" in out
    assert err == ""
    with np.load(tmp_path / "results.npz") as archive, np.load(SILU / "outputs.npz") as wanted:
        np.testing.assert_allclose(archive["arr_0"], wanted["out0"], rtol=1e-5)


def test_cli_in_a_process_of_its_own(tmp_path: Path) -> None:
    """Exit status, output and errors, as a shell sees them."""
    out, err = xfuse_process(*GOOD, "--expect", SILU / "outputs.npz")
    assert "largest error" in out
    assert err == ""
    _, err = xfuse_process("run", tmp_path / "nosuch.mlir", "--inputs", SILU / "inputs.npz", status=1)
    assert err.startswith("xfuse: error: cannot read")
    assert err.count("\n") == 1
    xfuse_process("run", "--nosuch", status=2)


def test_cli_run_options(xfuse_command: Command) -> None:
    out, _ = xfuse_command(*GOOD, "--no-fuse")
    assert "kernel" not in out
    out, _ = xfuse_command(*GOOD, "--backend", "numpy", "--only", "silu")
    assert "kernel @silu" in out
    assert "numpy" in out


def test_cli_expect_mismatch(tmp_path: Path, xfuse_command: Command) -> None:
    with np.load(SILU / "outputs.npz") as archive:
        out = archive["out0"]
    for number, wrong in enumerate((out + np.float32(0.5), out[:-1], np.full_like(out, np.nan))):
        file = tmp_path / f"{number}.npz"
        np.savez(file, out0=wrong)
        printed, err = xfuse_command(*GOOD, "--expect", file, status=1)
        assert "largest error" in printed
        assert err == "xfuse: error: the results differ from the expected ones\n"
    xfuse_command(*GOOD, "--expect", tmp_path / "0.npz", "--tolerance", "10")
    np.savez(tmp_path / "none.npz")
    _, err = xfuse_command(*GOOD, "--expect", tmp_path / "none.npz", status=1)
    assert "0 expected arrays for 1 results" in err


def test_cli_mistakes_are_one_line(tmp_path: Path, xfuse_command: Command) -> None:
    """Section 8: no tracebacks; the line says which file or option."""
    broken = tmp_path / "broken.npz"
    broken.write_bytes(b"PK\x03\x04 this is no archive")
    empty = tmp_path / "empty.npz"
    empty.write_bytes(b"")
    single = tmp_path / "single.npy"
    np.save(single, np.ones(3))
    pickled = tmp_path / "pickled.npz"
    np.savez(pickled, np.array([{}], object), np.array([{}], object))
    few = tmp_path / "few.npz"
    np.savez(few, np.ones((16, 32), np.float32))
    wide = tmp_path / "wide.npz"
    np.savez(wide, np.ones((16, 32)), np.ones((16, 32)))
    bad = tmp_path / "bad.mlir"
    bad.write_text("func.func @main(%x: f32) -> f32 {\n  %r = arith.addf %x\n}")
    binary = tmp_path / "binary.mlir"
    binary.write_bytes(bytes(range(256)))
    file = SILU / "arith.mlir"
    inputs = SILU / "inputs.npz"
    for arguments, words in (
        (("run", file, "--inputs", tmp_path / "nosuch.npz"), "nosuch.npz"),
        (("run", file, "--inputs", broken), "cannot read arrays from"),
        (("run", file, "--inputs", empty), "cannot read arrays from"),
        (("run", file, "--inputs", single), "single array"),
        (("run", file, "--inputs", pickled), "cannot read arrays from"),
        (("run", file, "--inputs", tmp_path), "cannot read arrays from"),
        (("run", file, "--inputs", few), "holds 1 arrays, @main takes 2"),
        (("run", file, "--inputs", wide), "must have dtype float32"),
        (("run", tmp_path / "nosuch.mlir", "--inputs", inputs), "cannot read"),
        (("run", tmp_path, "--inputs", inputs), "cannot read"),
        (("run", bad, "--inputs", inputs), "bad.mlir:3:1: Expected"),
        (("run", binary, "--inputs", inputs), "binary.mlir"),
        (("run", file, "--inputs", inputs, "--entry", "nosuch"), "no function @nosuch; its functions are main"),
        (("run", file, "--inputs", inputs, "--only", "nosuch"), "no recipe or family is named nosuch"),
        (("run", file, "--inputs", inputs, "--library", tmp_path / "nosuch.mlir"), "cannot read"),
        (("run", file, "--inputs", inputs, "--library", file), "holds no xfuse.recipe"),
        (("run", file, "--inputs", inputs, "--output", tmp_path / "no" / "such.npz"), "cannot write"),
        (("run", file, "--inputs", inputs, "--expect", broken), "cannot read arrays from"),
        (("identity", tmp_path / "nosuch.mlir"), "cannot read"),
        (("identity", bad), "bad.mlir:3:1: Expected"),
    ):
        _, err = xfuse_command(*arguments, status=1)
        assert err.startswith("xfuse: error: "), err
        assert err.count("\n") == 1, err
        assert words in err


def test_cli_misspelt_options(xfuse_command: Command) -> None:
    for arguments, words in (
        ((), "required"),
        (("nosuch",), "invalid choice: 'nosuch'"),
        (("run",), "required"),
        ((*GOOD, "--nosuch"), "--nosuch"),
        ((*GOOD, "--backend", "gpu"), "invalid choice: 'gpu'"),
        ((*GOOD, "--tolerance", "tight"), "invalid float"),
    ):
        _, err = xfuse_command(*arguments, status=2)
        assert words in err


def test_cli_identity(tmp_path: Path, xfuse_command: Command) -> None:
    """Law L5: one identity, whatever the spelling."""
    lines = {
        xfuse_command("identity", SILU / f"{name}.mlir")[0].splitlines()[1] for name in ("arith", "fused", "from_jax")
    }
    assert len(lines) == 1
    file = tmp_path / "two.mlir"
    file.write_text(f"{SCALE}\n{SCALE.replace('scale_add', 'other').replace('addf', 'subf')}")
    out, _ = xfuse_command("identity", file)
    assert [line.split()[1] for line in out.splitlines() if line.startswith("name")] == ["@scale_add", "@other"]
    file.write_text("module {}")
    _, err = xfuse_command("identity", file, status=1)
    assert "neither recipes nor functions" in err


def test_cli_passes_and_library(xfuse_command: Command) -> None:
    out, _ = xfuse_command("passes")
    for word in ("xfuse-fuse", "xfuse-decompose", "backend: ", "only: "):
        assert word in out
    out, _ = xfuse_command("library")
    assert "relu: @relu, " in out
    assert {f"{family}:" for family in SESSION.registry.families()} == {
        f"{line.split()[0].rstrip(':')}:" for line in out.splitlines()
    }
    assert "softmax (n)->(n): @softmax, " in out


@pytest.mark.parametrize(
    ("op", "text"),
    [
        ("memref.store", "%c = arith.constant 0 : index memref.store %x, %m[%c] : memref<4xf32>"),
        ("cf.assert", '%c = arith.constant 0 : i1 cf.assert %c, "never"'),
        ("func.call", "func.call @print(%x) : (f32) -> ()"),
    ],
)
def test_effects_are_refused_by_name(op: str, text: str) -> None:
    """What cannot be evaluated is named, also where it has no result: nothing is left out silently."""
    program = f"""func.func private @print(f32) -> ()
    func.func @main(%m: memref<4xf32>, %x: f32) -> f32 {{ {text} %r = math.exp %x : f32 func.return %r : f32 }}"""
    with pytest.raises(UnsupportedError, match=f"'{op}' cannot be evaluated"):
        xfuse.compile(program)


def test_control_flow_nested_too_deeply_for_python_is_refused() -> None:
    """The generated source is Python, whose compiler takes twenty nested loops."""
    body = "scf.yield %a29 : f32"
    for n in reversed(range(30)):
        carried = "%x" if n == 0 else f"%a{n - 1}"
        last = "" if n == 0 else f"scf.yield %r{n} : f32"
        inner = "%s = arith.addf %a29, %x : f32 scf.yield %s : f32" if n == 29 else body
        body = f"%r{n} = scf.for %i{n} = %l to %u step %t iter_args(%a{n} = {carried}) -> (f32) {{ {inner} }} {last}"
    text = f"""func.func @main(%x: f32, %l: index, %u: index, %t: index) -> f32 {{
      {body} func.return %r0 : f32 }}"""
    with pytest.raises(UnsupportedError, match="nested too deeply"):
        xfuse.compile(text)


@pytest.mark.parametrize(("map_", "type_"), [("(i, i)", "tensor<3x3xf32>"), ("(i, 0)", "tensor<3x3xf32>")])
def test_an_output_map_that_leaves_elements_out_is_refused(map_: str, type_: str) -> None:
    """Law L10: a generic that writes a diagonal or one column is not evaluated as if it wrote everything."""
    text = f"""func.func @main(%x: tensor<3xf32>, %o: {type_}) -> {type_} {{
      %r = linalg.generic {{indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> {map_}>],
          iterator_types = ["parallel"]}} ins(%x : tensor<3xf32>) outs(%o : {type_}) {{
      ^bb0(%a: f32, %b: f32):
        %e = math.exp %a : f32
        linalg.yield %e : f32
      }} -> {type_}
      func.return %r : {type_}
    }}"""
    with pytest.raises(UnsupportedError, match="an output map that does not reach every element"):
        xfuse.compile(text)


def test_a_fold_of_what_another_fold_gives() -> None:
    """Law L3: each has a body of its own, though both take the root of an equal accumulator."""
    fold = """linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> ()>, affine_map<(i) -> ()>],
          iterator_types = ["reduction"]} ins(%row, %k : tensor<5xf64>, tensor<f64>) outs(%start : tensor<f64>) {
      ^bb0(%p: f64, %q: f64, %a: f64):
        %s = math.sqrt %a : f64
        %t = arith.mulf %p, %q : f64
        %r = arith.addf %s, %t : f64
        linalg.yield %r : f64
      } -> tensor<f64>"""
    program = xfuse.compile(f"""
    func.func @main(%x: tensor<5xf64>, %w: tensor<5xf64>, %one: tensor<f64>) -> tensor<f64> {{
      %zero = arith.constant 0.0 : f64
      %empty = tensor.empty() : tensor<f64>
      %start = linalg.fill ins(%zero : f64) outs(%empty : tensor<f64>) -> tensor<f64>
      %first = {fold.replace("%row", "%x").replace("%k", "%one")}
      %second = {fold.replace("%row", "%w").replace("%k", "%first")}
      func.return %second : tensor<f64>
    }}""")
    x, w = np.arange(1.0, 6.0), np.arange(5.0, 0.0, -1.0)
    first = second = 0.0
    for value in x:
        first = np.sqrt(first) + value
    for value in w:
        second = np.sqrt(second) + value * first
    assert program(x, w, np.asarray(1.0)) == pytest.approx(second, rel=1e-14)
