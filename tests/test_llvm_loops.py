"""Compiled ufuncs as NumPy sees them: layouts, overlap, dtypes, warnings, threads, lifetime, pickling."""

from __future__ import annotations

import copy
import gc
import pickle
import subprocess
import sys
import threading
import weakref
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest

pytest.importorskip("llvmlite")

from xfuse.backends.llvm import jit, numpy_api, ufunc
from xfuse.backends.llvm.loops import SYMBOL, build_loop
from xfuse.backends.llvm.target import Target, missing_features
from xfuse.backends.llvm.ufunc import Loop, kernel_owner, make_ufunc
from xfuse.errors import BackendUnavailable, UnsupportedError
from xfuse.primitives.element_types import numpy_dtype
from xfuse.primitives.llvm_emissions import EMISSIONS
from xfuse.primitives.primitive import Signature

HOST = jit.host_target()
Body = Callable[[Any, Sequence[str]], Sequence[str]]


def op(name: str, *types: str, **attributes: str) -> Callable[..., str]:
    """One op as a function of (builder, names)."""
    signature = Signature(types[:-1], types[-1:], attributes)
    return lambda builder, *names: EMISSIONS[name](builder, signature, *names)


def loop(name: str, operands: Sequence[str], results: Sequence[str], body: Body, target: Target = HOST) -> Loop:
    operands, results = tuple(operands), tuple(results)
    dtypes = tuple(map(numpy_dtype, operands)), tuple(map(numpy_dtype, results))
    return Loop(operands, results, *dtypes, build_loop(name, operands, results, body, target))


def multiply_add(element_type: str) -> Loop:
    """(a, b, c) -> (a*b + c, a - c)"""
    t = (element_type,) * 3

    def body(builder: Any, names: Sequence[str]) -> Sequence[str]:
        a, b, c = names
        product = op("arith.mulf", *t)(builder, a, b)
        return op("arith.addf", *t)(builder, product, c), op("arith.subf", *t)(builder, a, c)

    return loop("multiply_add", t, t[:2], body)


def binary(name: str, element_type: str, **attributes: str) -> Loop:
    t = (element_type,) * 3
    return loop(name, t[:2], t[:1], lambda builder, names: [op(name, *t, **attributes)(builder, *names)])


def relu_add(element_type: str = "f32") -> Loop:
    t = (element_type,) * 3

    def body(builder: Any, names: Sequence[str]) -> Sequence[str]:
        zero = builder.constant("double" if element_type == "f64" else "float", 0.0)
        return [op("arith.maximumf", *t)(builder, op("arith.addf", *t)(builder, *names), zero)]

    return loop("relu_add", t[:2], t[:1], body)


@pytest.fixture(scope="module")
def relu() -> np.ufunc:
    return make_ufunc("relu_add", [relu_add("f32"), relu_add("f64")], "max(a + b, 0)")


@pytest.fixture(scope="module")
def fused() -> np.ufunc:
    return make_ufunc("multiply_add", [multiply_add("f32"), multiply_add("f64")], "two results")


def expected(a: Any, b: Any) -> Any:
    return np.maximum(a + b, 0)


def test_it_is_a_numpy_ufunc(relu: np.ufunc) -> None:
    assert type(relu) is np.ufunc
    assert (relu.__name__, relu.nin, relu.nout, relu.types) == ("relu_add", 2, 1, ["ff->f", "dd->d"])
    assert relu.__doc__ is not None
    assert "max(a + b, 0)" in relu.__doc__
    assert relu(1.0, 2.0) == 3.0
    assert relu(np.float32(-1), np.float32(-2)).dtype == np.float32


@pytest.mark.parametrize("n", [0, 1, 2, 15, 16, 31, 32, 33, 63, 64, 65, 1000, 1024, 1025, 5000])
@pytest.mark.parametrize("step", [1, 2, 3, -1, -2])
def test_strides_and_lengths(fused: np.ufunc, n: int, step: int) -> None:
    generator = np.random.default_rng(n)
    whole = generator.standard_normal((3, 3 * n + 3))
    a, b, c = (row[::step][:n] for row in whole)
    for dtype in (np.float32, np.float64):
        x, y, z = (np.array(row, dtype=dtype) for row in whole)
        x, y, z = x[::step][:n], y[:n], z[::step][:n]
        backing = np.full((2, 3 * n + 3), 7, dtype)
        out = tuple(row[::step][:n] for row in backing)
        assert all(got is given for got, given in zip(fused(x, y, z, out=out), out, strict=True))
        np.testing.assert_array_equal(out[0], x * y + z)
        np.testing.assert_array_equal(out[1], x - z)
        outside = backing.size - 2 * n
        assert np.count_nonzero(backing == 7) == outside
    assert a.shape == b.shape == c.shape == (n,)


@pytest.mark.parametrize("n", [1, 31, 32, 1000, 3000])
def test_scalars_beside_dense_arrays(fused: np.ufunc, n: int) -> None:
    a = np.linspace(-1, 1, n, dtype=np.float32)
    two, three = np.float32(2), np.float32(3)
    for x, y, z in ((a, two, three), (two, a, three), (two, three, a), (a[::-1], two, a), (two, a[::-1], a)):
        got = fused(x, y, z)
        np.testing.assert_array_equal(got[0], x * y + z)
        np.testing.assert_array_equal(got[1], np.broadcast_to(x - z, (n,)))


def test_broadcasting_in_several_dimensions(relu: np.ufunc) -> None:
    a = np.random.default_rng(0).standard_normal((5, 1, 70))
    b = np.random.default_rng(1).standard_normal((3, 1))
    np.testing.assert_array_equal(relu(a, b), expected(a, b))
    np.testing.assert_array_equal(relu(a.T, a.T[::-1]), expected(a.T, a.T[::-1]))


def test_odd_byte_strides_and_unaligned_data(relu: np.ufunc) -> None:
    record = np.zeros(200, dtype=[("flag", "i1"), ("x", "f4"), ("pad", "S2"), ("y", "f4")])
    record["x"], record["y"] = np.random.default_rng(0).standard_normal((2, 200))
    np.testing.assert_array_equal(relu(record["x"], record["y"]), expected(record["x"], record["y"]))
    wanted = expected(record["x"], record["y"])
    relu(record["x"], record["y"], out=record["y"])
    np.testing.assert_array_equal(record["y"], wanted)
    assert not record["flag"].any()
    raw = np.zeros(401, np.uint8)[1:].view(np.float32)
    raw[:] = np.arange(100) - 50
    np.testing.assert_array_equal(relu(raw, raw), expected(raw, raw))


def test_byte_swapped_data(relu: np.ufunc) -> None:
    a = np.linspace(-2, 2, 77).astype(">f4")
    got = relu(a, a)
    assert got.dtype == np.dtype("=f4")
    np.testing.assert_array_equal(got, expected(a, a).astype("f4"))


def test_direct_calls_with_unaligned_pointers() -> None:
    """NumPy aligns what it passes; code that calls the loop by its address need not."""
    import ctypes

    code = jit.compile_ir(relu_add().ir, [SYMBOL])
    function = ctypes.CFUNCTYPE(None, *[ctypes.c_void_p] * 4)(code.address(SYMBOL))
    raw = [np.zeros(4 * 100 + 1, np.uint8)[1:] for _ in range(3)]
    for array in raw[:2]:
        array.view(np.float32)[:] = np.arange(100) - 50
    for n in (0, 100):
        pointers = (ctypes.c_void_p * 3)(*(array.ctypes.data for array in raw))
        steps, dims = (ctypes.c_int64 * 3)(4, 4, 4), (ctypes.c_int64 * 1)(n)
        function(pointers, dims, steps, None)
        wanted = expected(*(array.view(np.float32) for array in raw[:2])) if n else np.zeros(100, np.float32)
        np.testing.assert_array_equal(raw[2].view(np.float32), wanted)


@pytest.mark.parametrize("n", [1, 40, 3000])
def test_in_place(relu: np.ufunc, fused: np.ufunc, n: int) -> None:
    a, b, c = np.random.default_rng(n).standard_normal((3, n)).astype(np.float32)
    wanted = expected(a, b)
    x = a.copy()
    relu(x, b, out=x)
    np.testing.assert_array_equal(x, wanted)
    x, z = a.copy(), c.copy()
    fused(x, b, z, out=(z, x))
    np.testing.assert_array_equal(z, a * b + c)
    np.testing.assert_array_equal(x, a - c)
    x = np.stack([a, b])
    relu(x[:, ::2], x[:, ::2], out=x[:, ::2])
    np.testing.assert_array_equal(x[:, ::2], expected(np.stack([a, b]), np.stack([a, b]))[:, ::2])


def test_overlapping_outputs(relu: np.ufunc) -> None:
    base = np.random.default_rng(0).standard_normal(2000).astype(np.float32)
    for source, target in (
        (slice(0, -1), slice(1, None)),
        (slice(1, None), slice(0, -1)),
        (slice(None, None, -1), slice(None)),
    ):
        x = base.copy()
        wanted = expected(x[source], x[source])
        relu(x[source], x[source], out=x[target])
        np.testing.assert_array_equal(x[target], wanted)


def test_reductions_go_element_by_element() -> None:
    """NumPy's reduce and accumulate call the loop with results that overlap the next operand."""
    add = make_ufunc("add", [binary("arith.addf", "f64"), binary("arith.addf", "f32")], "")
    x = np.arange(1.0, 2001.0)
    assert add.reduce(x) == x.sum()
    np.testing.assert_array_equal(add.accumulate(x), np.cumsum(x))
    np.testing.assert_array_equal(add.reduceat(x, [0, 5, 900]), np.add.reduceat(x, [0, 5, 900]))
    np.testing.assert_array_equal(add.outer(x[:3], x[:5]), np.add.outer(x[:3], x[:5]))
    table = x.reshape(40, 50)
    np.testing.assert_array_equal(add.reduce(table, axis=0), table.sum(axis=0))
    np.testing.assert_array_equal(add.accumulate(table, axis=0), np.cumsum(table, axis=0))
    y = np.zeros(3)
    add.at(y, [0, 0, 2], 1.5)
    assert y.tolist() == [3.0, 0.0, 1.5]


def test_read_only_output_is_refused(relu: np.ufunc) -> None:
    out = np.zeros(3, np.float32)
    out.setflags(write=False)
    with pytest.raises(ValueError, match="read-only"):
        relu(out, out, out=out)


def test_where_leaves_the_rest_alone(relu: np.ufunc) -> None:
    x = np.linspace(-3, 3, 100, dtype=np.float32)
    out, mask = np.full(100, 9, np.float32), x > 1
    relu(x, x, out=out, where=mask)
    np.testing.assert_array_equal(out, np.where(mask, 2 * x, 9))


def test_no_floating_point_warnings() -> None:
    """Kernels never raise NumPy's floating-point errors, not even where the result is infinite or NaN."""

    def body(builder: Any, names: Sequence[str]) -> Sequence[str]:
        x = names[0]
        quotient = op("arith.divf", "f32", "f32", "f32")(builder, x, builder.constant("float", 0.0))
        root = op("math.sqrt", "f32", "f32")(builder, x)
        return [op("math.exp", "f32", "f32")(builder, x), op("math.log", "f32", "f32")(builder, x), quotient, root]

    kernel = make_ufunc("risky", [loop("risky", ["f32"], ["f32"] * 4, body)], "")
    x = np.array([-1.0, 0.0, 1e30, np.nan, np.inf, -np.inf] * 20, np.float32)
    for array in (x, x[:3], x[::2], np.float32(-1)):
        with np.errstate(all="raise"):
            kernel(array)
    with np.errstate(all="raise"), pytest.raises(FloatingPointError):
        np.divide(np.float32(1), np.zeros(3, np.float32))


def test_rounding_mode_and_flags_are_left_as_they_were(relu: np.ufunc) -> None:
    """A flag raised before the call is still there, so NumPy's own bookkeeping is undisturbed."""
    with np.errstate(all="warn"):
        relu(np.ones(3, np.float32), np.ones(3, np.float32))
        with pytest.warns(RuntimeWarning, match="divide by zero"):
            np.divide(np.ones(3), 0.0)


def test_booleans_are_bytes() -> None:
    def body(builder: Any, names: Sequence[str]) -> Sequence[str]:
        less = op("arith.cmpf", "f32", "f32", "i1", predicate="olt")(builder, names[0], names[1])
        either = op("arith.ori", "i1", "i1", "i1")(builder, less, names[2])
        return [either, op("arith.select", "i1", "f32", "f32", "f32")(builder, either, names[0], names[1])]

    kernel = make_ufunc("choose", [loop("choose", ["f32", "f32", "i1"], ["i1", "f32"], body)], "")
    x, y = np.random.default_rng(0).standard_normal((2, 333)).astype(np.float32)
    flags = np.arange(333, dtype=np.uint8).view(np.bool_)  # bytes other than 0 and 1 too
    got = kernel(x, y, flags)
    wanted = (x < y) | (np.arange(333) % 256 != 0)
    np.testing.assert_array_equal(got[0].view(np.uint8), wanted.astype(np.uint8))
    np.testing.assert_array_equal(got[1], np.where(wanted, x, y))


def test_integers_of_every_width_and_sign() -> None:
    loops: list[Loop] = []
    for bits in (8, 16, 32, 64):
        signed = binary("arith.muli", f"i{bits}")
        unsigned = np.dtype(f"u{bits // 8}")
        loops += [signed, Loop(signed.operands, signed.results, (unsigned,) * 2, (unsigned,), signed.ir)]
    kernel = make_ufunc("multiply", loops, "")
    for code in "bBhHiIlLqQ":
        x = np.arange(300).astype(code)
        np.testing.assert_array_equal(kernel(x, x), np.multiply(x, x))
        assert kernel(x, x).dtype == np.multiply(x, x).dtype


def test_several_loops_share_code_and_mixed_types_work() -> None:
    def body(builder: Any, names: Sequence[str]) -> Sequence[str]:
        wide = op("arith.sitofp", "i8", "f64")(builder, names[0])
        return [op("arith.mulf", "f64", "f64", "f64")(builder, wide, names[1])]

    kernel = make_ufunc("scale", [loop("scale", ["i8", "f64"], ["f64"], body)], "")
    x, y = np.arange(-100, 100, dtype=np.int8), np.linspace(0, 1, 200)
    np.testing.assert_array_equal(kernel(x, y), x * y)
    np.testing.assert_array_equal(kernel(x[::-2], y[:100]), x[::-2] * y[:100])


@pytest.mark.parametrize("element_type", ["f16", "bf16"])
def test_narrow_floats(element_type: str) -> None:
    if element_type == "bf16":
        pytest.importorskip("ml_dtypes")
    dtype = numpy_dtype(element_type)
    kernel = make_ufunc("add", [binary("arith.addf", element_type), binary("arith.addf", "f32")], "")
    x, y = np.random.default_rng(0).standard_normal((2, 1001)).astype(dtype)
    for a, b in ((x, y), (x[::3], y[::3]), (x, y[:1])):
        got = kernel(a, b)
        assert got.dtype == dtype
        assert got.tobytes() == (a + b).tobytes()
    single = np.ones(3, np.float32)
    assert kernel(single, single).dtype == np.float32


def test_bfloat_only_and_mixed_with_float() -> None:
    dtype = np.dtype(pytest.importorskip("ml_dtypes").bfloat16)

    def body(builder: Any, names: Sequence[str]) -> Sequence[str]:
        return [op("arith.truncf", "f32", "bf16")(builder, names[0]), names[0]]

    kernel = make_ufunc("narrow", [loop("narrow", ["f32"], ["bf16", "f32"], body)], "")
    x = np.linspace(-1, 1, 99, dtype=np.float32)
    narrow, same = kernel(x)
    assert narrow.dtype == dtype
    np.testing.assert_array_equal(narrow.astype(np.float32), x.astype(dtype).astype(np.float32))
    np.testing.assert_array_equal(same, x)


def test_large_arrays_in_the_sequential_and_block_paths(relu: np.ufunc) -> None:
    x = np.random.default_rng(0).standard_normal((300, 301))
    np.testing.assert_array_equal(relu(x.T, x.T), expected(x.T, x.T))
    out = np.empty((301, 300), order="F")
    relu(x.T, x.T[::-1, ::-1], out=out)
    np.testing.assert_array_equal(out, expected(x.T, x.T[::-1, ::-1]))


def test_many_threads_compile_at_once() -> None:
    results: dict[int, Any] = {}
    barrier = threading.Barrier(8)

    def work(k: int) -> None:
        def body(builder: Any, names: Sequence[str]) -> Sequence[str]:
            return [op("arith.addf", "f64", "f64", "f64")(builder, names[0], builder.constant("double", k))]

        barrier.wait()
        kernel = make_ufunc("add_constant", [loop("add_constant", ["f64"], ["f64"], body)], "")
        results[k] = kernel(np.zeros(100)).sum()

    threads = [threading.Thread(target=work, args=(k,)) for k in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert results == {k: 100.0 * k for k in range(8)}


def test_one_kernel_in_many_threads(relu: np.ufunc) -> None:
    x = np.random.default_rng(0).standard_normal(200_000)
    wanted = expected(x, x)
    wrong: list[int] = []

    def work() -> None:
        wrong.extend(i for i in range(5) if not np.array_equal(relu(x, x), wanted))

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


def test_code_lives_and_dies_with_the_ufunc() -> None:
    kernel = make_ufunc("relu_add", [relu_add()], "")
    bound = kernel.__call__
    owner = kernel_owner(kernel)
    assert owner is not None
    watch = weakref.ref(owner)
    del owner, kernel
    gc.collect()
    assert watch() is not None
    x = np.linspace(-1, 1, 1000, dtype=np.float32)
    np.testing.assert_array_equal(bound(x, x), expected(x, x))
    del bound
    gc.collect()
    assert watch() is None


def test_an_unknown_ufunc_layout_falls_back_to_keeping_kernels(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(numpy_api, "set_owner", lambda *_: False)
    monkeypatch.setattr(ufunc, "_IMMORTAL", {})
    kernel = make_ufunc("relu_add", [relu_add()], "")
    assert kernel(np.float32(1), np.float32(2)) == 3
    assert kernel_owner(kernel) is not None
    assert pickle.loads(pickle.dumps(kernel))(np.float32(1), np.float32(2)) == 3


def test_pickling_and_copying(relu: np.ufunc) -> None:
    again = pickle.loads(pickle.dumps(relu))
    assert again is not relu
    assert (again.__name__, again.types, again.__doc__) == (relu.__name__, relu.types, relu.__doc__)
    x = np.linspace(-1, 1, 100)
    np.testing.assert_array_equal(again(x, x), relu(x, x))
    np.testing.assert_array_equal(copy.deepcopy(relu)(x, x), relu(x, x))
    assert pickle.loads(pickle.dumps(np.add)) is np.add
    assert kernel_owner(np.add) is None
    assert kernel_owner(np.frompyfunc(len, 1, 1)) is None


def test_pickling_into_a_fresh_process(relu: np.ufunc) -> None:
    code = "import pickle, sys; f = pickle.load(sys.stdin.buffer); print(f(1.0, 2.0), type(f).__name__)"
    done = subprocess.run([sys.executable, "-c", code], input=pickle.dumps(relu), capture_output=True, check=True)
    assert done.stdout.decode().split() == ["3.0", "ufunc"]
    assert not done.stderr


def test_a_kernel_for_another_machine_is_refused() -> None:
    foreign = Target(has_fma=True, fast_half=True, status_word="mxcsr")
    text = loop("x", ["f32"], ["f32"], lambda _, names: names, foreign).ir
    assert missing_features(text, Target()) == ["fma", "half", "mxcsr"]
    assert missing_features(text, foreign) == []
    with pytest.raises(BackendUnavailable, match="build it again here"):
        jit.compile_ir(text.replace("; requires: ", "; requires: quantum,", 1), [SYMBOL])


def test_equal_symbols_never_meet() -> None:
    kernels: list[np.ufunc] = []
    for k in range(3):

        def body(builder: Any, names: Sequence[str], k: int = k) -> Sequence[str]:
            return [op("arith.addi", "i32", "i32", "i32")(builder, names[0], str(k))]

        kernels.append(make_ufunc("same_name", [loop("same_name", ["i32"], ["i32"], body)], ""))
    assert [int(kernel(np.int32(10))) for kernel in kernels] == [10, 11, 12]


def test_names_need_not_be_identifiers() -> None:
    kernel = make_ufunc('a "b"\n%c é', [loop('a "b"\n%c é', ["f32"], ["f32"], lambda _, names: names)], "")
    assert kernel.__name__ == 'a "b"\n%c é'
    assert kernel(np.float32(3)) == 3


def test_as_many_arguments_as_numpy_takes() -> None:
    types = ["f64"] * 63

    def body(builder: Any, names: Sequence[str]) -> Sequence[str]:
        total = names[0]
        for name in names[1:]:
            total = op("arith.addf", "f64", "f64", "f64")(builder, total, name)
        return [total]

    kernel = make_ufunc("sum63", [loop("sum63", types, ["f64"], body)], "")
    rows = [np.arange(100.0) + k for k in range(63)]
    np.testing.assert_array_equal(kernel(*rows), np.sum(rows, axis=0))
    np.testing.assert_array_equal(kernel(*(row[::-1] for row in rows)), np.sum(rows, axis=0)[::-1])


def test_bad_requests_are_refused() -> None:
    with pytest.raises(UnsupportedError, match="at least one loop"):
        make_ufunc("none", [], "")
    with pytest.raises(UnsupportedError, match="two loops take the same dtypes"):
        make_ufunc("twice", [relu_add(), relu_add()], "")
    with pytest.raises(UnsupportedError, match="NumPy takes one of each at least"):
        make_ufunc("nullary", [Loop((), ("f32",), (), (np.dtype("f4"),), "")], "")
    with pytest.raises(UnsupportedError, match="differ in their numbers"):
        make_ufunc("uneven", [relu_add(), multiply_add("f64")], "")


def test_text_is_deterministic_and_says_what_it_needs() -> None:
    assert relu_add().ir == relu_add().ir
    assert relu_add().ir.startswith("; requires: ")


def test_without_llvmlite_the_error_says_what_to_install() -> None:
    code = (
        "import sys; sys.modules['llvmlite'] = None\n"
        "from xfuse.backends.llvm import jit, ufunc, loops\n"
        "from xfuse.errors import BackendUnavailable\n"
        "try: jit.host_target()\n"
        "except BackendUnavailable as error: print(error)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True)
    assert "pip install 'xfuse[llvm]'" in done.stdout.decode()


@pytest.mark.parametrize("target", [HOST, Target(status_word="fenv"), Target(has_fma=HOST.has_fma, vector_bytes=32)])
def test_other_ways_to_guard_the_status_flags(target: Target) -> None:
    def body(builder: Any, names: Sequence[str]) -> Sequence[str]:
        return [op("arith.divf", "f64", "f64", "f64")(builder, *names)]

    kernel = make_ufunc("divide", [loop("divide", ["f64", "f64"], ["f64"], body, target)], "")
    with np.errstate(all="raise"):
        assert np.isinf(kernel(np.ones(100), np.zeros(100))).all()


def test_library_calls_work_in_every_path() -> None:
    kernel = make_ufunc("sin", [loop("sin", ["f32"], ["f32"], lambda b, n: [op("math.sin", "f32", "f32")(b, *n)])], "")
    x = np.linspace(-3, 3, 1001, dtype=np.float32)
    for array in (x, x[::2], x[:5], x[::-1], np.float32(2)):
        np.testing.assert_allclose(kernel(array), np.sin(array), rtol=1e-6)
