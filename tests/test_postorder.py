"""The order in which each thing comes after what it is made of."""

from __future__ import annotations

import pytest

from xfuse.postorder import postorder

BELOW = {"sum": ["left", "right"], "left": ["x"], "right": ["y", "x"], "x": [], "y": [], "again": ["left", "y"]}


@pytest.mark.parametrize(
    ("roots", "expected"),
    [
        (["sum"], ["x", "left", "y", "right", "sum"]),
        (["right", "sum"], ["y", "x", "right", "left", "sum"]),
        (["x", "again", "sum"], ["x", "left", "y", "again", "right", "sum"]),
        ([], []),
    ],
)
def test_first_things_first(roots: list[str], expected: list[str]) -> None:
    assert postorder(roots, BELOW.__getitem__) == expected


def test_a_circle_is_cut_where_it_is_entered() -> None:
    """As ops of a graph region may make one."""
    below = {"a": ["b"], "b": ["c"], "c": ["a"]}
    assert postorder(["a"], below.__getitem__) == ["c", "b", "a"]
    assert postorder(["b", "a"], below.__getitem__) == ["a", "c", "b"]


def test_law_l9_there_is_no_recursion() -> None:
    assert postorder([100_000], lambda n: [n - 1] if n else []) == list(range(100_001))
