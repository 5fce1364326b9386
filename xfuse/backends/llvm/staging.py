"""Copies between arrays of any layout and dense buffers, as LLVM IR text: compiled once and shared by all kernels.

``xfuse_gatherN`` gives a dense operand of N-byte elements: the array itself where it is dense and the block ``whole``,
else the buffer, filled from the array. A scalar's buffer (step 0) is filled once and left alone ``later``.
``xfuse_scatterN`` puts results that were not written in place (``direct``) where they belong.
``xfuse_copyN`` copies between two arrays of two dimensions at any steps, the smaller steps in the inner loop.
"""

from __future__ import annotations

from collections.abc import Iterable

SIZES = (1, 2, 4, 8)
"""Bytes of an element."""

SYMBOLS = tuple(f"xfuse_{name}{size}" for size in SIZES for name in ("gather", "scatter", "copy"))
"""The functions of `definitions`."""


def declarations(sizes: Iterable[int]) -> list[str]:
    """Declarations of the functions for elements of these sizes."""
    return [
        line
        for size in sorted(set(sizes))
        for line in (
            f"declare ptr @xfuse_gather{size}(ptr, ptr, i64, i64, i1, i1) nounwind",
            f"declare void @xfuse_scatter{size}(ptr, ptr, i64, i64, i1) nounwind",
        )
    ]


def copy_declaration(size: int) -> str:
    """``xfuse_copyN(to, outer step, inner step, from, outer step, inner step, outer count, inner count)``."""
    return f"declare void @xfuse_copy{size}(ptr, i64, i64, ptr, i64, i64, i64, i64) nounwind"


def definitions() -> str:
    """IR text of the functions for all sizes."""
    copies = [_COPIES.replace("SIZE", str(size)).replace("ELEMENT", f"i{8 * size}") for size in SIZES]
    return "\n\n".join([*copies, _TAIL])


_COPIES = """\
define ptr @xfuse_gatherSIZE(ptr %buffer, ptr %source, i64 %step, i64 %n, i1 %whole, i1 %later) nounwind {
entry:
  %dense = icmp eq i64 %step, SIZE
  %direct = and i1 %dense, %whole
  br i1 %direct, label %untouched, label %copy
untouched:
  ret ptr %source
copy:
  br i1 %dense, label %move, label %apart
move:
  %bytes = mul i64 %n, SIZE
  call void @llvm.memcpy.p0.p0.i64(ptr %buffer, ptr %source, i64 %bytes, i1 false)
  ret ptr %buffer
apart:
  %scalar = icmp eq i64 %step, 0
  br i1 %scalar, label %once, label %element
once:
  br i1 %later, label %done, label %filling
filling:
  %value = load ELEMENT, ptr %source, align 1
  br label %fill
fill:
  %k = phi i64 [ 0, %filling ], [ %k.next, %fill ]
  %slot = getelementptr ELEMENT, ptr %buffer, i64 %k
  store ELEMENT %value, ptr %slot, align SIZE
  %k.next = add nuw nsw i64 %k, 1
  %k.more = icmp slt i64 %k.next, %n
  br i1 %k.more, label %fill, label %done
element:
  %i = phi i64 [ 0, %apart ], [ %next, %element ]
  %offset = mul i64 %i, %step
  %from = getelementptr i8, ptr %source, i64 %offset
  %item = load ELEMENT, ptr %from, align 1
  %to = getelementptr ELEMENT, ptr %buffer, i64 %i
  store ELEMENT %item, ptr %to, align SIZE
  %next = add nuw nsw i64 %i, 1
  %more = icmp slt i64 %next, %n
  br i1 %more, label %element, label %done, !llvm.loop !0
done:
  ret ptr %buffer
}

define void @xfuse_scatterSIZE(ptr %buffer, ptr %target, i64 %step, i64 %n, i1 %direct) nounwind {
entry:
  br i1 %direct, label %done, label %copy
copy:
  %dense = icmp eq i64 %step, SIZE
  br i1 %dense, label %move, label %element
move:
  %bytes = mul i64 %n, SIZE
  call void @llvm.memcpy.p0.p0.i64(ptr %target, ptr %buffer, i64 %bytes, i1 false)
  br label %done
element:
  %i = phi i64 [ 0, %copy ], [ %next, %element ]
  %from = getelementptr ELEMENT, ptr %buffer, i64 %i
  %item = load ELEMENT, ptr %from, align SIZE
  %offset = mul i64 %i, %step
  %to = getelementptr i8, ptr %target, i64 %offset
  store ELEMENT %item, ptr %to, align 1
  %next = add nuw nsw i64 %i, 1
  %more = icmp slt i64 %next, %n
  br i1 %more, label %element, label %done, !llvm.loop !0
done:
  ret void
}

define void @xfuse_copySIZE(ptr %to, i64 %to.o, i64 %to.i, ptr %from, i64 %from.o, i64 %from.i, i64 %m, i64 %n)
    nounwind {
entry:
  %mag.to.o = call i64 @llvm.abs.i64(i64 %to.o, i1 false)
  %mag.to.i = call i64 @llvm.abs.i64(i64 %to.i, i1 false)
  %mag.from.o = call i64 @llvm.abs.i64(i64 %from.o, i1 false)
  %mag.from.i = call i64 @llvm.abs.i64(i64 %from.i, i1 false)
  %reach.o = add i64 %mag.to.o, %mag.from.o
  %reach.i = add i64 %mag.to.i, %mag.from.i
  %swap = icmp ult i64 %reach.o, %reach.i
  %a = select i1 %swap, i64 %to.i, i64 %to.o
  %b = select i1 %swap, i64 %to.o, i64 %to.i
  %c = select i1 %swap, i64 %from.i, i64 %from.o
  %d = select i1 %swap, i64 %from.o, i64 %from.i
  %rows = select i1 %swap, i64 %n, i64 %m
  %length = select i1 %swap, i64 %m, i64 %n
  %some.rows = icmp sgt i64 %rows, 0
  %some.length = icmp sgt i64 %length, 0
  %some = and i1 %some.rows, %some.length
  %bytes = mul i64 %length, SIZE
  %dense.to = icmp eq i64 %b, SIZE
  %dense.from = icmp eq i64 %d, SIZE
  %dense = and i1 %dense.to, %dense.from
  br i1 %some, label %row, label %done
row:
  %r = phi i64 [ 0, %entry ], [ %r.next, %row.end ]
  %to.offset = mul i64 %r, %a
  %from.offset = mul i64 %r, %c
  %to.row = getelementptr i8, ptr %to, i64 %to.offset
  %from.row = getelementptr i8, ptr %from, i64 %from.offset
  br i1 %dense, label %move, label %element
move:
  call void @llvm.memcpy.p0.p0.i64(ptr %to.row, ptr %from.row, i64 %bytes, i1 false)
  br label %row.end
element:
  %i = phi i64 [ 0, %row ], [ %next, %element ]
  %source = mul i64 %i, %d
  %source.at = getelementptr i8, ptr %from.row, i64 %source
  %item = load ELEMENT, ptr %source.at, align 1
  %target = mul i64 %i, %b
  %target.at = getelementptr i8, ptr %to.row, i64 %target
  store ELEMENT %item, ptr %target.at, align 1
  %next = add nuw nsw i64 %i, 1
  %more = icmp slt i64 %next, %length
  br i1 %more, label %element, label %row.end, !llvm.loop !0
row.end:
  %r.next = add nuw nsw i64 %r, 1
  %r.more = icmp slt i64 %r.next, %rows
  br i1 %r.more, label %row, label %done
done:
  ret void
}"""

_TAIL = """\
declare i64 @llvm.abs.i64(i64, i1)
declare void @llvm.memcpy.p0.p0.i64(ptr, ptr, i64, i1)

!0 = distinct !{!0, !1}
!1 = !{!"llvm.loop.vectorize.enable", i1 false}
"""
"""Vector gathers and scatters were measured to be half as fast here as one element after the other, unrolled."""
