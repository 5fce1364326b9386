"""NumPy ufunc inner loops as LLVM IR text: ``void (char **args, npy_intp *dimensions, npy_intp *steps, void *data)``.

The loop over elements, `core`, reads and writes dense arrays only, in whole vectors, and is left to LLVM's loop
vectoriser. Around it:

- Dense operands are passed straight through. What is left over after the last whole vector, and any operand that is
  not dense (scalars, strides of any size and sign), goes through small buffers on the stack, a block at a time. So
  every layout runs vectorised, and one copy of the body serves them all.
- `core` is declared free of dependencies between its iterations (parallel accesses), not free of aliases: NumPy hands
  the very same array in and out. Whatever else overlaps (``ufunc.accumulate`` and ``ufunc.reduce`` do) runs in
  `sequential`, one element after the other.
- The floating-point status flags are put back at the end: lanes computed and not used (padding, unselected branches)
  would raise flags that no element raised. So kernels never cause NumPy's floating-point warnings.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from xfuse.backends.llvm import staging
from xfuse.backends.llvm.target import Target, requirement
from xfuse.primitives import element_types
from xfuse.primitives.llvm_narrow import NARROW, from_bits, to_bits
from xfuse.primitives.llvm_text import TextBuilder

SYMBOL = "xfuse_kernel"
"""The one exported function of every module; modules are linked apart from each other."""

Body = Callable[[TextBuilder, Sequence[str]], Sequence[str]]
"""Emits the scalar computation: ``body(builder, operand names) -> result names``."""

_BUFFER_BYTES, _MOST_BUFFERED = 16384, 512
_INTERLEAVE = 2
"""Vectors in flight; 1 was measured slower with 256-bit registers, 4 no faster with 512."""

_TYPE_BYTES = {"double": 8, "i64": 8, "i128": 8, "float": 4, "i32": 4, "half": 2, "i16": 2, "i8": 1, "i1": 1}
_TYPE_NAME = re.compile(r"\b(?:double|float|half|i(?:128|64|32|16|8|1))\b")


def storage_type(element_type: str) -> str:
    """The LLVM type of an element in memory: booleans take a byte, narrow floats are 16 bits."""
    if element_type == "i1":
        return "i8"
    return "i16" if element_type in NARROW else element_types.llvm_type(element_type)


def storage_bytes(element_type: str) -> int:
    """Bytes of an element in memory."""
    return max(element_types.width(element_type) // 8, 1)


@dataclass(frozen=True)
class _Plan:
    """The pieces that all functions of one module share."""

    operands: tuple[str, ...]
    results: tuple[str, ...]
    lines: tuple[str, ...]
    outputs: tuple[str, ...]
    declarations: tuple[str, ...]
    lanes: int
    unit: int
    uses_floats: bool
    target: Target

    @property
    def types(self) -> tuple[str, ...]:
        """Element types in the order of NumPy's arguments."""
        return self.operands + self.results

    @property
    def block(self) -> int:
        """Elements that the stack buffers hold, a multiple of the unit."""
        room = _BUFFER_BYTES // sum(storage_bytes(element_type) for element_type in self.types)
        return max(min(room, _MOST_BUFFERED) // self.unit, 1) * self.unit

    @property
    def sizes(self) -> list[int]:
        """Bytes of an element of each argument."""
        return [storage_bytes(element_type) for element_type in self.types]


def build_loop(name: str, operands: Sequence[str], results: Sequence[str], body: Body, target: Target) -> str:
    """IR text of the inner loop for one tuple of element types; its entry point is `SYMBOL`.

    ``name`` is for people who read the text. Equal arguments give equal text.
    """
    plan = _plan(tuple(operands), tuple(results), body, target)
    escaped = re.sub(r"[^\w.+-]", "_", name, flags=re.ASCII)
    sections = [
        requirement(target),
        f'source_filename = "{escaped}"',
        _entry(plan),
        _blocks(plan),
        _core(plan),
        _sequential(plan),
        "\n".join(plan.declarations),
        _METADATA.format(lanes=plan.lanes, interleave=_INTERLEAVE),
    ]
    return "\n\n".join(sections)


def _plan(operands: tuple[str, ...], results: tuple[str, ...], body: Body, target: Target) -> _Plan:
    builder = target.builder()
    names = [_decode(builder, element_type, f"%raw{j}") for j, element_type in enumerate(operands)]
    computed = body(builder, names)
    outputs = [_encode(builder, kind, name) for kind, name in zip(results, computed, strict=True)]
    mentioned = {kind for line in builder.lines for kind in _TYPE_NAME.findall(line)}
    mentioned.update(storage_type(element_type) for element_type in operands + results)
    lanes = target.vector_bytes // max(_TYPE_BYTES[kind] for kind in mentioned)
    unit = 1 if builder.calls_libraries else lanes * _INTERLEAVE
    declarations = builder.declarations
    if target.status_word == "mxcsr":
        declarations += [f"declare void @llvm.x86.sse.{name}mxcsr(ptr)" for name in ("ld", "st")]
    else:
        declarations += [f"declare i32 @fe{name}env(ptr)" for name in ("get", "set")]
    declarations += staging.declarations(map(storage_bytes, operands + results))
    uses_floats = bool(mentioned & {"float", "double", "half"})
    lines, stored = tuple(builder.lines), tuple(outputs)
    return _Plan(operands, results, lines, stored, tuple(sorted(declarations)), lanes, unit, uses_floats, target)


def _decode(builder: TextBuilder, element_type: str, raw: str) -> str:
    if element_type == "i1":
        return builder.emit(f"icmp ne i8 {raw}, 0")
    return from_bits(builder, element_type, raw) if element_type in NARROW else raw


def _encode(builder: TextBuilder, element_type: str, name: str) -> str:
    if element_type == "i1":
        return builder.emit(f"zext i1 {name} to i8")
    return to_bits(builder, element_type, name) if element_type in NARROW else name


def _text(*lines: str) -> str:
    return "\n".join(line if line.endswith((":", "{")) or line == "}" else f"  {line}" for line in lines)


def _arguments(plan: _Plan) -> list[str]:
    """Load the pointers and byte steps of all arguments."""
    lines: list[str] = []
    for j in range(len(plan.types)):
        lines += [
            f"%at{j} = getelementptr ptr, ptr %arguments, i64 {j}",
            f"%p{j} = load ptr, ptr %at{j}",
            f"%st{j} = getelementptr i64, ptr %steps, i64 {j}",
            f"%s{j} = load i64, ptr %st{j}",
        ]
    return lines


def _entry(plan: _Plan) -> str:
    """Choose between the straight way, blocks and the sequential loop, and keep the status flags."""
    save, restore = _status_guard(plan)
    count = len(plan.types)
    dense = [f"%d{j} = icmp eq i64 %s{j}, {size}" for j, size in enumerate(plan.sizes)]
    dense += [f"%dense{j} = and i1 {f'%dense{j - 1}' if j else 'true'}, %d{j}" for j in range(count)]
    pointers = "".join(f"ptr %p{j}, " for j in range(count))
    return _text(
        f"define void @{SYMBOL}(ptr %arguments, ptr %dimensions, ptr %steps, ptr %data) nounwind {{",
        "entry:",
        "%n = load i64, ptr %dimensions",
        "%some = icmp sgt i64 %n, 0",
        "br i1 %some, label %start, label %exit",
        "start:",
        *save,
        *_arguments(plan),
        *_conflicts(plan),
        "br i1 %conflict, label %ordered, label %apart",
        "ordered:",
        "call void @sequential(ptr %arguments, ptr %steps, i64 %n)",
        "br label %finish",
        "apart:",
        *dense,
        f"%units = sdiv i64 %n, {plan.unit}",
        f"%direct = select i1 %dense{count - 1}, i64 %units, i64 0",
        f"%first = mul i64 %direct, {plan.unit}",
        "%rest = icmp slt i64 %first, %n",
        "%any = icmp sgt i64 %direct, 0",
        "br i1 %any, label %straight, label %remaining",
        "straight:",
        f"call void @core({pointers}i64 %direct)",
        "br label %remaining",
        "remaining:",
        "br i1 %rest, label %staged, label %finish",
        "staged:",
        "call void @blocks(ptr %arguments, ptr %steps, i64 %n, i64 %first)",
        "br label %finish",
        "finish:",
        *restore,
        "br label %exit",
        "exit:",
        "ret void",
        "}",
    )


def _status_guard(plan: _Plan) -> tuple[list[str], list[str]]:
    if not plan.uses_floats:
        return [], []
    if plan.target.status_word == "mxcsr":
        instruction = "call void @llvm.x86.sse.{}mxcsr(ptr %status)"
        return ["%status = alloca i32", instruction.format("st")], [instruction.format("ld")]
    return (
        ["%status = alloca [64 x i8], align 16", "%saved = call i32 @fegetenv(ptr %status)"],
        ["%restored = call i32 @fesetenv(ptr %status)"],
    )


def _conflicts(plan: _Plan) -> list[str]:
    """``%conflict``: some result shares memory with another argument, or with itself, other than element by element."""
    lines = ["%last = sub i64 %n, 1"]
    for j, size in enumerate(plan.sizes):
        lines += [
            f"%a{j} = ptrtoint ptr %p{j} to i64",
            f"%reach{j} = mul i64 %s{j}, %last",
            f"%end{j} = add i64 %a{j}, %reach{j}",
            f"%down{j} = icmp slt i64 %s{j}, 0",
            f"%low{j} = select i1 %down{j}, i64 %end{j}, i64 %a{j}",
            f"%top{j} = select i1 %down{j}, i64 %a{j}, i64 %end{j}",
            f"%high{j} = add i64 %top{j}, {size}",
        ]
    found = "false"
    inputs = len(plan.operands)
    for o in range(inputs, len(plan.types)):
        lines += [
            f"%still{o} = icmp eq i64 %s{o}, 0",
            f"%many{o} = icmp ne i64 %last, 0",
            f"%piled{o} = and i1 %still{o}, %many{o}",
            f"%found{o} = or i1 {found}, %piled{o}",
        ]
        found = f"%found{o}"
        for q in range(o):
            pair = f"{o}.{q}"
            lines += [
                f"%before{pair} = icmp ule i64 %high{o}, %low{q}",
                f"%after{pair} = icmp ule i64 %high{q}, %low{o}",
                f"%apart{pair} = or i1 %before{pair}, %after{pair}",
                f"%place{pair} = icmp eq i64 %a{o}, %a{q}",
                f"%pace{pair} = icmp eq i64 %s{o}, %s{q}",
                f"%same{pair} = and i1 %place{pair}, %pace{pair}",
                f"%fine{pair} = or i1 %apart{pair}, {f'%same{pair}' if q < inputs else 'false'}",
                f"%clash{pair} = xor i1 %fine{pair}, true",
                f"%found{pair} = or i1 {found}, %clash{pair}",
            ]
            found = f"%found{pair}"
    return [*lines, f"%conflict = or i1 {found}, false"]


def _blocks(plan: _Plan) -> str:
    """Elements ``first`` to ``n``, a block at a time through buffers; a dense argument needs none in a whole block.

    A scalar's buffer is filled once. The last block is rounded up to whole vectors: what lies in the buffers past its
    end is computed on and thrown away.
    """
    count, inputs, unit = len(plan.types), len(plan.operands), plan.unit
    buffers = [f"%b{j} = alloca [{plan.block} x {storage_type(kind)}], align 64" for j, kind in enumerate(plan.types)]
    places: list[str] = []
    for j in range(count):
        places += [f"%o{j} = mul i64 %i, %s{j}", f"%x{j} = getelementptr i8, ptr %p{j}, i64 %o{j}"]
    for j, size in enumerate(plan.sizes):
        if j < inputs:
            call = f"call ptr @xfuse_gather{size}(ptr %b{j}, ptr %x{j}, i64 %s{j}, i64 %count, i1 %whole, i1 %later)"
            places.append(f"%q{j} = {call}")
        else:
            places += [
                f"%d{j} = icmp eq i64 %s{j}, {size}",
                f"%direct{j} = and i1 %d{j}, %whole",
                f"%q{j} = select i1 %direct{j}, ptr %x{j}, ptr %b{j}",
            ]
    scatters = [
        f"call void @xfuse_scatter{size}(ptr %b{j}, ptr %x{j}, i64 %s{j}, i64 %count, i1 %direct{j})"
        for j, size in enumerate(plan.sizes)
        if j >= inputs
    ]
    return _text(
        "define internal void @blocks(ptr %arguments, ptr %steps, i64 %n, i64 %first) nounwind noinline {",
        "entry:",
        *buffers,
        *_arguments(plan),
        "br label %block",
        "block:",
        "%i = phi i64 [ %first, %entry ], [ %next, %block ]",
        "%left = sub i64 %n, %i",
        f"%full = icmp sgt i64 %left, {plan.block}",
        f"%count = select i1 %full, i64 {plan.block}, i64 %left",
        f"%padded = add i64 %count, {unit - 1}",
        f"%units = udiv i64 %padded, {unit}",
        f"%rounded = mul i64 %units, {unit}",
        "%whole = icmp eq i64 %rounded, %count",
        "%later = icmp ne i64 %i, %first",
        *places,
        f"call void @core({''.join(f'ptr %q{j}, ' for j in range(count))}i64 %units)",
        *scatters,
        "%next = add i64 %i, %count",
        "%more = icmp slt i64 %next, %n",
        "br i1 %more, label %block, label %exit",
        "exit:",
        "ret void",
        "}",
    )


def _core(plan: _Plan) -> str:
    """The body over whole vectors of dense arrays, which are aligned as bytes are."""
    loads: list[str] = []
    stores: list[str] = []
    for j, kind in enumerate(plan.types):
        element = storage_type(kind)
        address = f"%g{j} = getelementptr inbounds {element}, ptr %p{j}, i64 %i"
        if j < len(plan.operands):
            loads += [address, f"%raw{j} = load {element}, ptr %g{j}, align 1, !llvm.access.group !0"]
        else:
            output = plan.outputs[j - len(plan.operands)]
            stores += [address, f"store {element} {output}, ptr %g{j}, align 1, !llvm.access.group !0"]
    return _text(
        f"define internal void @core({''.join(f'ptr %p{j}, ' for j in range(len(plan.types)))}i64 %units)"
        " nounwind noinline {",
        "entry:",
        f"%n = mul nuw nsw i64 %units, {plan.unit}",
        "br label %element",
        "element:",
        "%i = phi i64 [ 0, %entry ], [ %next, %element ]",
        *loads,
        *plan.lines,
        *stores,
        "%next = add nuw nsw i64 %i, 1",
        "%more = icmp ult i64 %next, %n",
        f"br i1 %more, label %element, label %exit, !llvm.loop !{1 if plan.unit > 1 else 2}",
        "exit:",
        "ret void",
        "}",
    )


def _sequential(plan: _Plan) -> str:
    """The body for one element after the other, at any steps and with any overlap."""
    loads: list[str] = []
    stores: list[str] = []
    for j, kind in enumerate(plan.types):
        element = storage_type(kind)
        address = [f"%o{j} = mul i64 %i, %s{j}", f"%g{j} = getelementptr i8, ptr %p{j}, i64 %o{j}"]
        if j < len(plan.operands):
            loads += [*address, f"%raw{j} = load {element}, ptr %g{j}, align 1"]
        else:
            output = plan.outputs[j - len(plan.operands)]
            stores += [*address, f"store {element} {output}, ptr %g{j}, align 1"]
    return _text(
        "define internal void @sequential(ptr %arguments, ptr %steps, i64 %n) nounwind noinline {",
        "entry:",
        *_arguments(plan),
        "br label %element",
        "element:",
        "%i = phi i64 [ 0, %entry ], [ %next, %element ]",
        *loads,
        *plan.lines,
        *stores,
        "%next = add nuw nsw i64 %i, 1",
        "%more = icmp slt i64 %next, %n",
        "br i1 %more, label %element, label %exit, !llvm.loop !3",
        "exit:",
        "ret void",
        "}",
    )


_METADATA = """\
!0 = distinct !{{}}
!1 = distinct !{{!1, !4, !5, !6, !7}}
!2 = distinct !{{!2, !4}}
!3 = distinct !{{!3, !8, !9}}
!4 = !{{!"llvm.loop.parallel_accesses", !0}}
!5 = !{{!"llvm.loop.vectorize.width", i32 {lanes}}}
!6 = !{{!"llvm.loop.interleave.count", i32 {interleave}}}
!7 = !{{!"llvm.loop.vectorize.enable", i1 true}}
!8 = !{{!"llvm.loop.vectorize.enable", i1 false}}
!9 = !{{!"llvm.loop.unroll.disable"}}
"""
