"""The text of a long function of many recipes, on tensors and on rows in linalg, with other ops between."""

from __future__ import annotations

TENSOR, ROWS = "tensor<8x16xf32>", "tensor<8xf32>"

_WHOLE, _OF_ROW = "affine_map<(d0, d1) -> (d0, d1)>", "affine_map<(d0, d1) -> (d0)>"

_CONSTANTS = {
    "one": "1.0",
    "half": "0.5",
    "zero": "0.0",
    "sqrt_two_over_pi": "0.7978845608028654",
    "cubic": "0.044715",
    "epsilon": "1.0e-05",
    "count": "16.0",
}

_ELEMENTWISE = {
    "silu": "n = arith.negf x; e = math.exp n; d = arith.addf e one; r = arith.divf x d",
    "sigmoid": "n = arith.negf x; e = math.exp n; d = arith.addf e one; r = arith.divf one d",
    "gelu_tanh": "s = arith.mulf x x; q = arith.mulf s x; c = arith.mulf q cubic; i = arith.addf x c; "
    "a = arith.mulf i sqrt_two_over_pi; t = math.tanh a; u = arith.addf t one; h = arith.mulf x half; "
    "r = arith.mulf h u",
    "tanh_sub": "d = arith.subf x y; r = math.tanh d",
    "add_relu": "a = arith.addf x y; r = arith.maximumf a zero",
    "swiglu": "n = arith.negf x; e = math.exp n; d = arith.addf e one; s = arith.divf x d; r = arith.mulf s y",
    "lerp": "d = arith.subf y x; w = arith.mulf d half; r = arith.addf x w",
    "other": "a = math.sin x; b = arith.divf a y; c = math.cos b; d = math.floor c; e = math.powf d y; "
    "r = arith.minimumf e c",
}
"""Recipes of the library as lines of a name, an op and its operands; ``x`` and ``y`` come in, ``r`` goes out."""


def _elementwise(text: str) -> list[str]:
    lines: list[str] = []
    for line in text.split("; "):
        name, _, op, *operands = line.split()
        lines.append(f"%{name} = {op} {', '.join(f'%{operand}' for operand in operands)} : {TENSOR}")
    return lines


def _reduce(name: str, op: str, start: str, operand: str) -> list[str]:
    """The reduction of each row by one op."""
    return [
        f"%{name}_start = arith.constant dense<{start}> : {ROWS}",
        f"%{name} = linalg.generic {{indexing_maps = [{_WHOLE}, {_OF_ROW}], "
        f'iterator_types = ["parallel", "reduction"]}}'
        f" ins(%{operand} : {TENSOR}) outs(%{name}_start : {ROWS}) {{",
        f"^bb0(%{name}_i: f32, %{name}_o: f32):",
        f"%{name}_r = {op} %{name}_o, %{name}_i : f32",
        f"linalg.yield %{name}_r : f32",
        f"}} -> {ROWS}",
    ]


def _with_rows(name: str, op: str, operand: str, row: str) -> list[str]:
    """One op of a tensor and a number per row."""
    return [
        f"%{name}_empty = tensor.empty() : {TENSOR}",
        f"%{name} = linalg.generic {{indexing_maps = [{_WHOLE}, {_OF_ROW}, {_WHOLE}], "
        f'iterator_types = ["parallel", "parallel"]}} ins(%{operand}, %{row} : {TENSOR}, {ROWS}) '
        f"outs(%{name}_empty : {TENSOR}) {{",
        f"^bb0(%{name}_i: f32, %{name}_j: f32, %{name}_o: f32):",
        f"%{name}_r = {op} %{name}_i, %{name}_j : f32",
        f"linalg.yield %{name}_r : f32",
        f"}} -> {TENSOR}",
    ]


def _softmax() -> list[str]:
    return [
        *_reduce("largest", "arith.maximumf", "0xFF800000", "x"),
        *_with_rows("shifted", "arith.subf", "x", "largest"),
        f"%e = math.exp %shifted : {TENSOR}",
        *_reduce("total", "arith.addf", "0.0", "e"),
        *_with_rows("r", "arith.divf", "e", "total"),
    ]


def _layer_norm() -> list[str]:
    return [
        f"%count_rows = arith.constant dense<{_CONSTANTS['count']}> : {ROWS}",
        f"%epsilon_rows = arith.constant dense<{_CONSTANTS['epsilon']}> : {ROWS}",
        *_reduce("sum", "arith.addf", "0.0", "x"),
        f"%mean = arith.divf %sum, %count_rows : {ROWS}",
        *_with_rows("centred", "arith.subf", "x", "mean"),
        f"%square = arith.mulf %centred, %centred : {TENSOR}",
        *_reduce("squares", "arith.addf", "0.0", "square"),
        f"%variance = arith.divf %squares, %count_rows : {ROWS}",
        f"%sum_epsilon = arith.addf %variance, %epsilon_rows : {ROWS}",
        f"%deviation = math.sqrt %sum_epsilon : {ROWS}",
        *_with_rows("r", "arith.divf", "centred", "deviation"),
    ]


_PARTS = [
    _elementwise(_ELEMENTWISE[name])
    for name in "silu other gelu_tanh other sigmoid tanh_sub add_relu other swiglu other lerp".split()
]
_PARTS.insert(3, _softmax())
_PARTS.insert(8, _layer_norm())


def mixed(ops: int) -> str:
    """A function of about that many ops, most of them in matches of some ten recipes."""
    lines = [f"%{name} = arith.constant dense<{value}> : {TENSOR}" for name, value in _CONSTANTS.items()]
    shared = {"y", *_CONSTANTS}
    current, count, number = "x0", len(lines), 0
    while count < ops:
        for line in _PARTS[number % len(_PARTS)]:
            words = line.split("%")
            named = [_renamed(word, number, current, shared) for word in words[1:]]
            lines.append("%".join((words[0], *named)))
            count += not line.startswith(("^", "linalg.yield", "}")) and not line.endswith(": f32")
        current, number = f"r{number}", number + 1
    body = "\n".join(lines)
    return f"func.func @main(%x0: {TENSOR}, %y: {TENSOR}) -> {TENSOR} {{\n{body}\nreturn %{current} : {TENSOR}\n}}"


def _renamed(word: str, number: int, current: str, shared: set[str]) -> str:
    """A line's text from a name on, with the name made that of one instance."""
    end = next((at for at, letter in enumerate(word) if not (letter.isalnum() or letter == "_")), len(word))
    name, rest = word[:end], word[end:]
    return (current if name == "x" else name if name in shared else f"{name}{number}") + rest
