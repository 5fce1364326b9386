"""Terms: what all patterns at once say of a node is what each pattern says of it alone."""

from __future__ import annotations

import random

import pytest
from random_programs import Choices, RandomProgram

import xfuse
from xfuse.match.index import PatternIndex
from xfuse.match.pairs import Pairs
from xfuse.match.program import Program, program_blocks
from xfuse.match.terms import DEPTH
from xfuse.session import Session
from xfuse_dialects.xfuse import FusedOp

SESSION = Session()


@pytest.mark.parametrize("seed", range(4))
def test_terms_agree_with_pairs(seed: int) -> None:
    """Exactly as far down as terms look; below that a node that a pattern admits has the pattern's term."""
    module = xfuse.parse_module(RandomProgram(random.Random(seed), None, Choices(size=(1, 5))).text)
    index = PatternIndex(SESSION.registry.entries()[::3])
    for block in program_blocks(module):
        program = Program(block)
        reading = index.read(program)
        for pattern in reading.terms.patterns():
            pairs, terms = Pairs(pattern, program), reading.terms.of(pattern)
            for wanted in pattern.heights:
                for number in range(len(program.graph.nodes)):
                    possible = pairs.possible(wanted, number)
                    found = terms[wanted] in reading.classes[number].possible
                    assert found or not possible
                    assert found == possible or pattern.heights[wanted] > DEPTH


def test_covered_ops_move() -> None:
    """The very ops of a match are in the fused op, and in the program again after decompose; constants are copies."""
    module = xfuse.parse_module(
        """func.func @main(%x: f32, %y: f32) -> f32 {
          %zero = arith.constant 0.0 : f32
          %sum = arith.addf %x, %y : f32
          %r = arith.maximumf %sum, %zero : f32
          return %r : f32
        }"""
    )
    addition = next(op for op in module.walk() if op.name == "arith.addf")
    xfuse.fuse(module, session=SESSION)
    assert isinstance(addition.parent_op(), FusedOp)
    xfuse.decompose_all(module)
    assert addition in list(module.walk())
