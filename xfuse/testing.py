"""What tests of programs need: the comparison of law L2."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from typing import cast

from xdsl.dialects.builtin import DenseResourceAttr, ModuleOp
from xdsl.ir import Attribute, Block, Operation, SSAValue
from xdsl.traits import IsTerminator, is_side_effect_free

from xfuse.locations import spelled_location
from xfuse.materialise import is_materialisable
from xfuse.parser import parse_module, resource_blobs
from xfuse_dialects.vocabulary import VOCABULARY

_Digest = bytes


def same_program(a: Operation | str, b: Operation | str) -> bool:
    """Whether two programs are the same (law L2), given as ops or as text.

    The same ops, operand order, attributes, properties, flags and spelt-out locations, up to SSA names, the position of
    independent ops, and copies of materialisable ops (constants, splats, fills of constants, ``tensor.empty``,
    ``tensor.dim``). Ops that are not provably pure must come in the same order. Raises `ParsingError` for text that is
    not MLIR.
    """
    return program_difference(a, b) is None


def program_difference(a: Operation | str, b: Operation | str) -> str | None:
    """In words, the first op of one program that the other lacks; None if they are the same program."""
    left, right = (_Digester(each) for each in _programs(a, b))
    if left.digest == right.digest:
        return None
    theirs = [right.used[op] for op in right.ops]
    known = set(theirs)
    for op in left.ops:
        if left.used[op] not in known:
            return f"only one program has: {_spell(op)}"
    known = {left.used[op] for op in left.ops}
    for op, digest in zip(right.ops, theirs, strict=True):
        if digest not in known:
            return f"only one program has: {_spell(op)}"
    return "the programs hold the same ops, but not as often or not in the same blocks"


def _programs(a: Operation | str, b: Operation | str) -> tuple[Operation, Operation]:
    """Both as ops. The text of a single op is that op, if it is compared with one that is no module."""
    left, right = (parse_module(each) if isinstance(each, str) else each for each in (a, b))
    for text, op, other in ((a, left, right), (b, right, left)):
        if isinstance(text, str) and isinstance(op, ModuleOp) and not isinstance(other, ModuleOp):
            inner = list(op.body.block.ops)
            if len(inner) == 1:
                return (inner[0], right) if op is left else (left, inner[0])
    return left, right


def _spelled(attribute: Attribute) -> str:
    """An attribute as text; a resource by its content, since every parse gives it another handle."""
    if isinstance(attribute, DenseResourceAttr):
        blob = resource_blobs().get(attribute.resource_handle.data, b"")
        return f"dense_resource {hashlib.sha256(blob).hexdigest()} {attribute.type}"
    return str(attribute)


def _spell(op: Operation) -> str:
    return str(op).split("\n", 1)[0]


class _Digester:
    """Digests ops by content, then by use; two programs of equal digests are the same.

    ``own`` says what an op is, from its operands; ``used`` adds who reads its results, so that equal ops with
    different readers differ. ``ops`` are those that count, innermost first where one fails to compare.
    """

    def __init__(self, root: Operation) -> None:
        self.names: dict[SSAValue, _Digest] = {}
        self.own: dict[Operation, _Digest] = {}
        self.used: dict[Operation, _Digest] = {}
        self.copied: set[Operation] = set()
        self.outside = 0
        self._own(root, 0)
        self.ops = [op for op in self.own if op not in self.copied]
        self._use(root)
        self.digest: _Digest = self._total(root)

    def _own(self, op: Operation, depth: int) -> _Digest:
        if op.regions and is_materialisable(op):
            depth = -1  # a copy of it is as good at any depth
        regions = [
            [self._block(block, (depth, position, number)) for number, block in enumerate(region.blocks)]
            for position, region in enumerate(op.regions)
        ]
        attributes = sorted((name, _spelled(value)) for name, value in {**op.properties, **op.attributes}.items())
        around = op.parent_region()
        successors = [around.get_block_index(each) for each in op.successors] if around is not None else []
        operands = [self._name(operand) for operand in op.operands]
        types = [str(each) for each in op.result_types]
        digest = _hash(op.name, attributes, operands, types, regions, successors, str(spelled_location(op)))
        self.own[op] = digest
        return digest

    def _block(self, block: Block, place: tuple[int, int, int]) -> _Digest:
        """Arguments are named by place: nesting depth, region and block, and their number."""
        for number, argument in enumerate(block.args):
            self.names[argument] = _hash("argument", place, number, str(argument.type))
        ordered = 0
        kept: list[_Digest] = []
        for op in block.ops:
            digest = self._own(op, place[0] + 1)
            if not _moves_freely(op):
                digest = self.own[op] = _hash(digest, "position", ordered)
                ordered += 1
            if is_materialisable(op):
                self.copied.add(op)
            else:
                kept.append(digest)
            for number, result in enumerate(op.results):
                self.names[result] = _hash(digest, number)
        return _hash(sorted(kept), [str(each.type) for each in block.args])

    def _name(self, ssa: SSAValue) -> _Digest:
        name = self.names.get(ssa)
        if name is None:
            # Used before it is defined, or defined outside the program at hand.
            name = self.names[ssa] = _hash("outside", str(ssa.type), self.outside)
            self.outside += 1
        return name

    def _use(self, root: Operation) -> None:
        """Two equal ops may have different users: let each op know its users, transitively, from the end backwards."""
        for op in reversed(list(root.walk())):
            users: list[_Digest] = []
            for number, result in enumerate(op.results):
                for use in result.uses:
                    around: list[_Digest] = []
                    user: Operation | None = use.operation
                    while user is not None and user not in self.copied and user in self.own:
                        around.append(self.used.get(user, self.own[user]))
                        if user.parent is op.parent or user is root:
                            break
                        user = user.parent_op()
                    else:
                        continue
                    users.append(_hash(number, use.index, around))
            self.used[op] = _hash(self.own[op], sorted(users))

    def _total(self, op: Operation) -> _Digest:
        regions = [
            [sorted(self._total(inner) for inner in block.ops if inner not in self.copied) for block in region.blocks]
            for region in op.regions
        ]
        return _hash(self.used[op], regions)


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
            yield from _flat(cast(Iterable[object], part))
            yield b"]"
        else:
            yield str(part).encode()
