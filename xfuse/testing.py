"""What tests of programs need: the comparison of law L2."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass

from xdsl.ir import Block, Operation, SSAValue
from xdsl.traits import IsTerminator, is_side_effect_free

from xfuse.materialise import is_materialisable
from xfuse.parser import parse_module
from xfuse_dialects.vocabulary import VOCABULARY

_Digest = bytes


def same_program(a: Operation | str, b: Operation | str) -> bool:
    """Whether two programs are the same (law L2), given as ops or as text.

    The same ops, operand order, attributes, properties, flags and locations, up to SSA names, the position of
    independent ops, and copies of materialisable ops (constants, splats, fills of constants, ``tensor.empty``,
    ``tensor.dim``). Ops that are not provably pure must come in the same order. Raises `ParsingError` for text that is
    not MLIR.
    """
    return program_difference(a, b) is None


def program_difference(a: Operation | str, b: Operation | str) -> str | None:
    """In words, the first op of one program that the other lacks; None if they are the same program."""
    left, right = (_Digester(parse_module(each) if isinstance(each, str) else each) for each in (a, b))
    if left.digest() == right.digest():
        return None
    for block, other in zip(left.blocks, right.blocks, strict=False):
        theirs = list(other.digests)
        for digest, op in zip(block.digests, block.ops, strict=True):
            if digest in theirs:
                theirs.remove(digest)
            else:
                return f"only one program has: {_spell(op)}"
        if theirs:
            return f"only one program has: {_spell(other.ops[other.digests.index(theirs[0])])}"
    return "the programs use equal ops differently"


def _spell(op: Operation) -> str:
    return str(op).split("\n", 1)[0]


@dataclass
class _BlockDigests:
    ops: list[Operation]
    digests: list[_Digest]


class _Digester:
    """Digests ops by content and by use; two programs of equal digests are the same."""

    def __init__(self, root: Operation) -> None:
        self.root = root
        self.names: dict[SSAValue, _Digest] = {}
        self.blocks: list[_BlockDigests] = []
        self.fresh = 0

    def digest(self) -> _Digest:
        """The digest of the whole program."""
        return self._op(self.root)

    def _op(self, op: Operation) -> _Digest:
        regions: list[_Digest] = []
        for region in op.regions:
            for block in region.blocks:
                for number, argument in enumerate(block.args):
                    # Names of arguments count by position: by how many blocks were opened before, and by number.
                    self.names[argument] = _hash("argument", len(regions), self._depth(op), number, str(argument.type))
            regions.extend(self._block(block) for block in region.blocks)
        attributes = sorted((name, str(value)) for name, value in {**op.properties, **op.attributes}.items())
        successors = [op.parent_region().get_block_index(each) for each in op.successors] if op.successors else []  # type: ignore[union-attr]
        operands = [self._operand(operand) for operand in op.operands]
        types = [str(each) for each in op.result_types]
        return _hash(op.name, attributes, operands, types, regions, successors, str(op.location))

    def _depth(self, op: Operation) -> int:
        depth = 0
        parent = op.parent_op()
        while parent is not None:
            depth += 1
            parent = parent.parent_op()
        return depth

    def _operand(self, ssa: SSAValue) -> _Digest:
        name = self.names.get(ssa)
        if name is None:
            # Used before it is defined, or defined outside the program at hand.
            name = self.names[ssa] = _hash("outside", str(ssa.type), self.fresh)
            self.fresh += 1
        return name

    def _block(self, block: Block) -> _Digest:
        ordered = 0
        own: dict[Operation, _Digest] = {}
        for op in block.ops:
            digest = self._op(op)
            if not _moves_freely(op):
                digest = _hash(digest, "position", ordered)
                ordered += 1
            own[op] = digest
            for number, result in enumerate(op.results):
                self.names[result] = _hash(digest, number)
        kept = [op for op in block.ops if not is_materialisable(op)]
        # Two equal ops may have different users: let each op know its users, transitively, from the end backwards.
        used: dict[Operation, _Digest] = {}
        for op in reversed(list(block.ops)):
            users: list[_Digest] = []
            for number, result in enumerate(op.results):
                for use in result.uses:
                    user = use.operation
                    while user.parent is not block and user.parent_op() is not None:
                        user = user.parent_op()  # type: ignore[assignment]
                    if user in own and not is_materialisable(user):
                        users.append(_hash(number, use.index, use.operation.name, used.get(user, own[user])))
            used[op] = _hash(own[op], sorted(users))
        self.blocks.append(_BlockDigests(kept, [used[op] for op in kept]))
        return _hash(sorted(used[op] for op in kept), [str(each.type) for each in block.args])


def _moves_freely(op: Operation) -> bool:
    if op.has_trait(IsTerminator, value_if_unregistered=False):
        return True
    return all(inner.name in VOCABULARY or is_side_effect_free(inner) for inner in op.walk())


def _hash(*parts: object) -> _Digest:
    digest = hashlib.blake2b(digest_size=16)
    for part in _flat(parts):
        digest.update(part)
        digest.update(b"\0")
    return digest.digest()


def _flat(parts: Iterable[object]) -> Iterable[bytes]:
    for part in parts:
        if isinstance(part, bytes):
            yield part
        elif isinstance(part, list | tuple):
            yield b"["
            yield from _flat(part)  # type: ignore[arg-type]
            yield b"]"
        else:
            yield str(part).encode()
