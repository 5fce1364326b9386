"""Around the passes of a row kernel: arrays with gaps, results that share memory, memory that is wanting, status flags.

NumPy copies operands that overlap a result, but for one case: an operand that is the very same view as a result is
handed over as it is, whatever the core axes are. Where a row may be overwritten while it is still read, the results are
computed into memory of their own first.

Arrays with gaps are copied to and from dense blocks of items, which costs less than vectors of scattered elements.
Where a block would be large, or memory is wanting, the passes run on the arrays as they are.
"""

from __future__ import annotations

from collections.abc import Sequence

from xfuse.backends.llvm.rows_arrays import HEAD, SPREAD, Array, Arrays, checked
from xfuse.backends.llvm.rows_schedule import Schedule
from xfuse.backends.llvm.rows_text import Function, Module
from xfuse.primitives import literals
from xfuse.primitives.element_types import is_float

_BLOCK = 1 << 18
"""Bytes that a block of items may have, if it is more than one: it should stay in a core's own cache."""
_LARGEST = 1 << 23
"""Bytes of the largest item that is copied to dense memory."""
_SMALL = 1 << 14
"""Bytes of a block that is taken from the stack."""


class Guards(Arrays):
    """Writes the functions that call ``dense`` and ``strided`` of `xfuse.backends.llvm.rows_body.build_body`."""

    def __init__(self, module: Module, schedule: Schedule) -> None:
        form, signature = schedule.plan.space.form, schedule.plan.space.signature
        types = [form.graph.nodes[value.node].element_type for value in (*form.arguments, *form.results)]
        super().__init__((*signature.arguments, *signature.results), len(signature.arguments), types)
        self.module = module
        self.schedule = schedule

    def text(self, symbol: str) -> list[str]:
        """All functions, the exported one first."""
        return [self._entry(symbol), self._guarded(), self._straight(), self._staged(), self._apart(), self._fill()]

    def _entry(self, symbol: str) -> str:
        code = Function(self.module)
        count = code.emit("load i64, ptr %dimensions")
        with code.when(code.emit(f"icmp sgt i64 {count}, 0"), "some"):
            restore = self._save_status(code) if any(map(is_float, self.types)) else None
            done = code.emit(f"call i1 @guarded({HEAD})")
            if restore is not None:
                code.line(restore)
            with code.when(code.emit(f"xor i1 {done}, true"), "failed"):
                code.line(f"call void @fill({HEAD})")
        code.line("ret void")
        return code.text(f"void @{symbol}({HEAD}, ptr %data) nounwind")

    def _save_status(self, code: Function) -> str:
        """Keep the floating-point status flags; gives the instruction that puts them back."""
        if self.module.target.status_word == "mxcsr":
            for name in ("stmxcsr", "ldmxcsr"):
                self.module.declare(f"declare void @llvm.x86.sse.{name}(ptr)")
            code.line("%status = alloca i32")
            code.line("call void @llvm.x86.sse.stmxcsr(ptr %status)")
            return "call void @llvm.x86.sse.ldmxcsr(ptr %status)"
        for name in ("fegetenv", "fesetenv"):
            self.module.declare(f"declare i32 @{name}(ptr)")
        code.line("%status = alloca [64 x i8], align 16")
        code.line("%saved = call i32 @fegetenv(ptr %status)")
        return "%restored = call i32 @fesetenv(ptr %status)"

    # Choosing a way

    def _guarded(self) -> str:
        """``guarded``: apart if some memory is shared, else straight."""
        code = Function(self.module)
        self.load(code)
        self._either(code, self._conflict(code), "apart", "straight")
        return code.text(f"internal i1 @guarded({HEAD}) nounwind")

    def _straight(self) -> str:
        """``straight``: the way for arrays without gaps, or the one by blocks."""
        code = Function(self.module)
        self.load(code)
        dense = "true"
        for array in self.arrays:
            dense = code.emit(f"and i1 {dense}, {self._is_dense(code, array)}")
        self._either(code, dense, "dense", "staged")
        return code.text(f"internal i1 @straight({HEAD}) nounwind")

    @staticmethod
    def _either(code: Function, condition: str, then: str, otherwise: str) -> None:
        code.line(f"br i1 {condition}, label %one, label %other")
        for label, function in (("one", then), ("other", otherwise)):
            code.mark(label)
            code.line(f"%{label}.done = call i1 @{function}({HEAD})")
            code.line(f"ret i1 %{label}.done")

    @staticmethod
    def _is_dense(code: Function, array: Array) -> str:
        if array.unit is None:
            return "true"
        return code.emit(f"icmp eq i64 {array.steps[array.unit]}, {array.bytes}")

    # Arrays with gaps

    def _staged(self) -> str:
        """``staged``: block by block of items, arrays with gaps by way of dense ones."""
        code = Function(self.module)
        self.load(code)
        dense = [self._is_dense(code, array) for array in self.arrays]
        sizes: list[str] = []
        item, excess = "0", "false"
        for array, gapless in zip(self.arrays, dense, strict=True):
            taken, excess = array.item_bytes(code, excess)
            taken, excess = checked(code, "uadd", taken, str(SPREAD), excess)
            sizes.append(code.emit(f"select i1 {gapless}, i64 0, i64 {taken}"))
            item, excess = checked(code, "uadd", item, sizes[-1], excess)
        large = code.emit(f"icmp ugt i64 {item}, {_LARGEST}")
        large = code.emit(f"or i1 {large}, {excess}")
        code.line(f"br i1 {large}, label %loose, label %fits")
        code.mark("fits")
        least = code.emit(f"call i64 @llvm.umax.i64(i64 {item}, i64 1)")
        block = code.emit(f"udiv i64 {_BLOCK}, {least}")
        block = code.emit(f"call i64 @llvm.umax.i64(i64 {block}, i64 1)")
        block = code.emit(f"call i64 @llvm.umin.i64(i64 {block}, i64 %count)")
        for name in ("umax", "umin"):
            self.module.declare(f"declare i64 @llvm.{name}.i64(i64, i64)")
        total = code.emit(f"mul i64 {block}, {item}")
        padded = code.emit(f"add i64 {total}, {64 * len(self.arrays)}")
        self._memory(code, padded, "loose")
        self._blocks(code, dense, sizes, block)
        code.mark("loose")
        code.line(f"%as.they.are = call i1 @strided({HEAD})")
        code.line("ret i1 %as.they.are")
        return code.text(f"internal i1 @staged({HEAD}) nounwind noinline optnone cold")

    def _memory(self, code: Function, size: str, wanting: str) -> None:
        """``%memory`` of a size, from the stack if it is small, and ``%taken``, to be freed."""
        code.top.lines.insert(0, f"%small = alloca [{_SMALL} x i8], align 64")
        little = code.emit(f"icmp ule i64 {size}, {_SMALL}")
        code.line(f"br i1 {little}, label %ready, label %ask")
        before = code.scope.label
        code.mark("ask")
        self.module.declare("declare ptr @malloc(i64) nounwind")
        self.module.declare("declare void @free(ptr) nounwind")
        code.line(f"%asked = call ptr @malloc(i64 {size})")
        code.line("%none = icmp eq ptr %asked, null")
        code.line(f"br i1 %none, label %{wanting}, label %ready")
        code.mark("ready")
        code.line(f"%memory = phi ptr [ %small, %{before} ], [ %asked, %ask ]")
        code.line(f"%taken = phi ptr [ null, %{before} ], [ %asked, %ask ]")

    def _blocks(self, code: Function, dense: Sequence[str], sizes: Sequence[str], block: str) -> None:
        code.top.lines.insert(0, f"%pointers = alloca [{len(self.arrays)} x ptr]")
        code.top.lines.insert(0, f"%paces = alloca [{self.count_steps} x i64]")
        code.top.lines.insert(0, f"%sizes = alloca [{1 + len(self.names)} x i64]")
        for position, name in enumerate(self.names, 1):
            code.line(f"%size.{name} = getelementptr i64, ptr %sizes, i64 {position}")
            code.line(f"store i64 %dim.{name}, ptr %size.{name}")
        place = "0"
        copies: list[Array] = []
        for array, size in zip(self.arrays, sizes, strict=True):
            pointer = code.emit(f"getelementptr i8, ptr %memory, i64 {place}")
            copies.append(array.packed(code, pointer, spread=True))
            taken = code.emit(f"mul i64 {block}, {size}")
            up = code.emit(f"add i64 {code.emit(f'add i64 {place}, {taken}')}, 63")
            place = code.emit(f"and i64 {up}, -64")
        used = [
            array.chosen(code, gapless, copy) for array, gapless, copy in zip(self.arrays, dense, copies, strict=True)
        ]
        self.write_steps(code, used, "%paces")
        code.top.lines.insert(0, "%fine = alloca i1")
        code.line("store i1 true, ptr %fine")
        with code.loop("block", "0", "%count", block) as first:
            left = code.emit(f"sub i64 %count, {first}")
            count = code.emit(f"call i64 @llvm.umin.i64(i64 {left}, i64 {block})")
            code.line(f"store i64 {count}, ptr %sizes")
            here = [array.moved(code, first) for array in self.arrays]
            for array, own, gapless, copy in zip(self.arrays, here, dense, copies, strict=True):
                pointer = code.emit(f"select i1 {gapless}, ptr {own.pointer}, ptr {copy.pointer}")
                code.line(f"%to{array.number} = getelementptr ptr, ptr %pointers, i64 {array.number}")
                code.line(f"store ptr {pointer}, ptr %to{array.number}")
                if array.number < self.inputs:
                    self._copied(code, gapless, copy, own, count)
            done = code.emit("call i1 @dense(ptr %pointers, ptr %sizes, ptr %paces)")
            before = code.emit("load i1, ptr %fine")
            code.line(f"store i1 {code.emit(f'and i1 {before}, {done}')}, ptr %fine")
            for array, own, gapless, copy in zip(self.arrays, here, dense, copies, strict=True):
                if array.number >= self.inputs:
                    self._copied(code, code.emit(f"or i1 {gapless}, {code.emit(f'xor i1 {done}, true')}"), own, copy,
                                 count)  # fmt: skip
        code.line("call void @free(ptr %taken)")
        code.line("%all.fine = load i1, ptr %fine")
        code.line("ret i1 %all.fine")

    def _copied(self, code: Function, not_: str, to: Array, source: Array, count: str) -> None:
        if to.unit is not None:
            with code.when(code.emit(f"xor i1 {not_}, true"), "copy"):
                to.copy_from(code, source, count)

    # Shared memory

    def _conflict(self, code: Function) -> str:
        """Whether some result shares memory with another array, or with itself, in a way that matters."""
        ends = [array.ends(code) for array in self.arrays]
        found = "false"
        for output in self.arrays[self.inputs :]:
            for count, step in output.loops:
                still = code.emit(f"icmp eq i64 {step}, 0")
                many = code.emit(f"icmp sgt i64 {count}, 1")
                found = code.emit(f"or i1 {found}, {code.emit(f'and i1 {still}, {many}')}")
            for other in self.arrays[: output.number]:
                before = code.emit(f"icmp ule i64 {ends[output.number][1]}, {ends[other.number][0]}")
                after = code.emit(f"icmp ule i64 {ends[other.number][1]}, {ends[output.number][0]}")
                fine = code.emit(f"or i1 {before}, {after}")
                if (output.number - self.inputs, other.number) in self.schedule.in_place:
                    fine = code.emit(f"or i1 {fine}, {output.same(code, other)}")
                found = code.emit(f"or i1 {found}, {code.emit(f'xor i1 {fine}, true')}")
        return found

    def _apart(self) -> str:
        """``apart``: the results into memory of their own, then to where they belong."""
        code = Function(self.module)
        code.line(f"%pointers = alloca [{len(self.arrays)} x ptr]")
        code.line(f"%paces = alloca [{self.count_steps} x i64]")
        self.load(code)
        total, excess = "64", "false"
        begins: list[str] = []
        for output in self.arrays[self.inputs :]:
            begins.append(total)
            taken, excess = output.item_bytes(code, excess)
            taken, excess = checked(code, "umul", taken, "%count", excess)
            total, excess = checked(code, "uadd", total, taken, excess)
        code.line(f"br i1 {excess}, label %wanting, label %fits")
        code.mark("fits")
        self._memory(code, total, "wanting")
        copies = list(self.arrays)
        for output, begin in zip(self.arrays[self.inputs :], begins, strict=True):
            pointer = code.emit(f"getelementptr i8, ptr %memory, i64 {begin}")
            copies[output.number] = output.packed(code, pointer)
        for array in copies:
            slot = code.emit(f"getelementptr ptr, ptr %pointers, i64 {array.number}")
            code.line(f"store ptr {array.pointer}, ptr {slot}")
        self.write_steps(code, copies, "%paces")
        code.line("%done = call i1 @straight(ptr %pointers, ptr %dimensions, ptr %paces)")
        with code.when("%done", "done"):
            for output in self.arrays[self.inputs :]:
                output.copy_from(code, copies[output.number], "%count")
        code.line("call void @free(ptr %taken)")
        code.line("ret i1 %done")
        code.mark("wanting")
        code.line("ret i1 false")
        return code.text(f"internal i1 @apart({HEAD}) nounwind noinline optnone cold")

    # Memory that is wanting

    def _fill(self) -> str:
        """``fill``: NaN in every float result, zeros in every other, and the flag of an invalid operation.

        A ufunc's loop has no other way to report that memory is wanting; NumPy warns of the flag, or raises.
        """
        code = Function(self.module)
        self.load(code)
        for output in self.arrays[self.inputs :]:
            bits = literals.to_bits(float("nan"), output.element_type) if is_float(output.element_type) else 0
            with output.each(code) as target:
                code.line(f"store {output.kind} {bits}, ptr {target}, align 1")
        code.line("%zero = alloca double")
        code.line("store volatile double 0.0, ptr %zero")
        nought = code.emit("load volatile double, ptr %zero")
        code.line(f"store volatile double {code.emit(f'fdiv double {nought}, {nought}')}, ptr %zero")
        code.line("ret void")
        return code.text(f"internal void @fill({HEAD}) nounwind noinline optnone cold")
