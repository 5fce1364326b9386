"""Inserting and erasing ops, with or without a pattern rewriter that must hear of it."""

from __future__ import annotations

from xdsl.ir import Operation
from xdsl.pattern_rewriter import PatternRewriter
from xdsl.rewriter import InsertPoint, Rewriter


class Editor:
    """Edits IR on its own account."""

    def insert_before(self, op: Operation, where: Operation) -> None:
        """Insert a detached op before another one."""
        Rewriter.insert_op(op, InsertPoint.before(where))

    def erase(self, op: Operation) -> None:
        """Erase an op whose results have no uses."""
        Rewriter.erase_op(op)


class PatternEditor(Editor):
    """Edits IR through a pattern rewriter, whose driver keeps a list of the ops still to visit."""

    def __init__(self, rewriter: PatternRewriter) -> None:
        self.rewriter = rewriter

    def insert_before(self, op: Operation, where: Operation) -> None:
        self.rewriter.insert(op, InsertPoint.before(where))

    def erase(self, op: Operation) -> None:
        self.rewriter.erase(op)
