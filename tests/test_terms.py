"""Terms: what all patterns at once say of a node is what each pattern says of it alone."""

from __future__ import annotations

import random
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from random_programs import Choices, RandomProgram
from reference_programs import emitted

import xfuse
from xfuse.match import choose
from xfuse.match.index import PatternIndex, index_of
from xfuse.match.pairs import Pairs
from xfuse.match.plain import match_plain
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


@pytest.mark.parametrize("seed", range(30))
def test_plain_matches_are_those_of_the_search(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without the walk that finds plain matches the search finds the very same ones, operands in the same order."""
    text = RandomProgram(random.Random(seed), None, Choices(size=(1, 5))).text
    fused = str(xfuse.fuse(text, session=SESSION))
    monkeypatch.setattr(choose, "match_plain", lambda *given: None)
    assert str(xfuse.fuse(text, session=SESSION)) == fused


def test_an_index_is_kept_for_the_same_recipes_in_the_same_thread() -> None:
    recipes = SESSION.registry.entries()
    index = index_of(recipes)
    assert index_of(list(recipes)) is index
    with ThreadPoolExecutor(1) as pool:
        assert pool.submit(index_of, recipes).result() is not index
    few = index_of(recipes[:3])
    assert few is not index
    assert few.recipes == recipes[:3]
    assert index_of(recipes[:3]) is few
    assert index_of(recipes) is index
    for count in range(4, 14):
        index_of(recipes[:count])
    assert index_of(recipes) is not index  # only some are kept


def test_what_an_index_has_seen_changes_nothing() -> None:
    """One index for many programs, in either order, gives what a new one gives for each."""
    texts = [RandomProgram(random.Random(seed), None, Choices(size=(1, 4))).text for seed in range(40)]
    recipes = SESSION.registry.entries()

    def fused(text: str, *, anew: bool) -> str:
        if anew:
            for count in range(1, 9):
                index_of(recipes[:count])
        return str(xfuse.fuse(text, session=SESSION))

    expected = [fused(text, anew=True) for text in texts]
    assert any("xfuse.fused" in text for text in expected)
    assert [fused(text, anew=False) for text in texts] == expected
    assert [fused(text, anew=False) for text in reversed(texts)] == expected[::-1]


def test_a_recipe_that_is_registered_later_is_found() -> None:
    session = Session(library=False)
    program = "func.func @main(%x: f32) -> f32 {\n%a = math.exp %x : f32\n%b = math.sin %a : f32\nreturn %b : f32\n}"
    session.register(
        "xfuse.recipe @exp_twice(%x: f32) -> f32 {\n%a = math.exp %x : f32\n"
        "%b = math.exp %a : f32\nxfuse.yield %b : f32\n}"
    )
    assert "xfuse.fused" not in str(xfuse.fuse(program, session=session))
    session.register(
        "xfuse.recipe @sin_exp(%x: f32) -> f32 {\n%a = math.exp %x : f32\n"
        "%b = math.sin %a : f32\nxfuse.yield %b : f32\n}"
    )
    assert "@sin_exp" in str(xfuse.fuse(program, session=session))


def test_plain_matches_of_shipped_recipes_are_those_of_the_search(monkeypatch: pytest.MonkeyPatch) -> None:
    """The same of every element-wise recipe, written as plain ops of scalars."""
    recipes = [recipe for recipe in SESSION.registry.entries() if recipe.is_scalar and not recipe.scalar_slots]
    plain: list[object] = []

    def counted(*given: Any) -> object:
        found = match_plain(*given)
        plain.extend([found] if found is not None else [])
        return found

    modules = [emitted(recipe, recipe.argument_types) for recipe in recipes]
    monkeypatch.setattr(choose, "match_plain", counted)
    fused = [str(xfuse.fuse(module.clone(), session=SESSION)) for module in modules]
    assert len(plain) > len(recipes) / 2
    monkeypatch.setattr(choose, "match_plain", lambda *given: None)
    assert [str(xfuse.fuse(module.clone(), session=SESSION)) for module in modules] == fused


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
