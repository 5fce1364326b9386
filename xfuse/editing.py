"""Inserting and erasing ops, with or without a pattern rewriter that must hear of it."""

from __future__ import annotations

from xdsl.ir import Operation
from xdsl.pattern_rewriter import PatternRewriter
from xdsl.rewriter import InsertPoint, Rewriter


class Editor:
    """Edits IR on its own account."""

    def insert_before(self, op: Operation, where: Operation) -> None:
        """Insert a detached op before another one."""
        assert where.parent is not None
        where.parent.insert_op_before(op, where)

    def erase(self, op: Operation) -> None:
        """Erase an op whose results have no uses."""
        if op.parent is None or any(result.first_use is not None for result in op.results):
            Rewriter.erase_op(op)
            return
        op.detach()
        op.drop_all_references()  # `Rewriter` also looks for uses of each result, and makes values to read instead

    def take_out(self, op: Operation) -> None:
        """Take an op out of its block, to be put where patterns do not look."""
        op.detach()


class PatternEditor(Editor):
    """Edits IR through a pattern rewriter, whose driver keeps a list of the ops still to visit."""

    def __init__(self, rewriter: PatternRewriter) -> None:
        self.rewriter = rewriter

    def insert_before(self, op: Operation, where: Operation) -> None:
        self.rewriter.insert(op, InsertPoint.before(where))

    def erase(self, op: Operation) -> None:
        self.rewriter.erase(op)

    def take_out(self, op: Operation) -> None:
        self.rewriter.has_done_action = True
        self.rewriter.handle_operation_removal(op)
        op.detach()
