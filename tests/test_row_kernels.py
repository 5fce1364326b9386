"""LLVM kernels of recipes with core dimensions, as gufuncs: numbers, layouts, overlap, refusals, threads, pickling."""

from __future__ import annotations

import ctypes
import dataclasses
import gc
import math
import pickle
import subprocess
import sys
import warnings
import weakref
from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("llvmlite")

from support import in_threads

from xfuse.backends.llvm import jit, rows_guard
from xfuse.backends.llvm.backend import LLVMBackend
from xfuse.backends.llvm.rows import build_rows
from xfuse.backends.llvm.rows_lanes import COMBINES, ROUNDS, identity
from xfuse.backends.llvm.rows_linear import atom, contradictory, follows, number
from xfuse.backends.llvm.target import Target
from xfuse.backends.llvm.ufunc import kernel_owner, make_ufunc
from xfuse.backends.numpy.core import CoreFunction
from xfuse.errors import UnsupportedError
from xfuse.kernels import Kernel
from xfuse.primitives import literals
from xfuse.primitives.element_types import numpy_dtype
from xfuse.primitives.primitive import Signature
from xfuse.primitives.table import PRIMITIVES
from xfuse.recipes import Recipe, parse_recipes
from xfuse.signature import signature_of

LENGTHS = (0, 1, 2, 3, 7, 8, 63, 64, 65, 1000, 4097)
FLOATS = ("f16", "bf16", "f32", "f64")
PRECISION = {"f16": 2.0**-11, "bf16": 2.0**-8, "f32": 2.0**-24, "f64": 2.0**-53}
TARGETS = (
    jit.host_target(),
    Target(has_fma=True, fast_half=True, vector_bytes=32, status_word="mxcsr"),
    Target(vector_bytes=16, status_word="fenv"),
)

# Recipes ------------------------------------------------------------------------------------------------------------

PREAMBLE = """
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0.0 : f64
  %one = arith.constant 1.0 : f64
  %low = arith.constant 0xFFF0000000000000 : f64
  %scalar = tensor.empty() : tensor<f64>
  %from0 = linalg.fill ins(%zero : f64) outs(%scalar : tensor<f64>) -> tensor<f64>
  %fromlow = linalg.fill ins(%low : f64) outs(%scalar : tensor<f64>) -> tensor<f64>
"""
ROW = (
    PREAMBLE
    + """
  %n = tensor.dim %x, %c0 : tensor<?xf64>
  %count = arith.index_cast %n : index to i64
  %size = arith.sitofp %count : i64 to f64
  %row = tensor.empty(%n) : tensor<?xf64>
"""
)
POLYMORPHIC = "attributes {element_types = [f16, bf16, f32, f64]}"


def total(result: str, operands: Sequence[str], body: str, start: str = "%from0", op: str = "arith.addf") -> str:
    """A reduction of row tensors to a scalar; the body computes %r from %a0, %a1 and so on."""
    count = len(operands)
    maps = ", ".join(["affine_map<(i) -> (i)>"] * count + ["affine_map<(i) -> ()>"])
    block = ", ".join([*(f"%a{k}: f64" for k in range(count)), "%acc: f64"])
    return f"""
  {result}_ = linalg.generic {{indexing_maps = [{maps}], iterator_types = ["reduction"]}}
      ins({", ".join(operands)} : {", ".join(["tensor<?xf64>"] * count)}) outs({start} : tensor<f64>) {{
  ^bb0({block}):
    {body}
    %next = {op} %r, %acc : f64
    linalg.yield %next : f64
  }} -> tensor<f64>
  {result} = tensor.extract {result}_[] : tensor<f64>
"""


def row(result: str, operands: Sequence[str], body: str) -> str:
    """A row tensor from row tensors, point by point; the body computes %r from %a0, %a1 and so on."""
    count = len(operands)
    maps = ", ".join(["affine_map<(i) -> (i)>"] * (count + 1))
    block = ", ".join([*(f"%a{k}: f64" for k in range(count)), "%old: f64"])
    return f"""
  {result} = linalg.generic {{indexing_maps = [{maps}], iterator_types = ["parallel"]}}
      ins({", ".join(operands)} : {", ".join(["tensor<?xf64>"] * count)}) outs(%row : tensor<?xf64>) {{
  ^bb0({block}):
    {body}
    linalg.yield %r : f64
  }} -> tensor<?xf64>
"""


SAME = "%r = arith.addf %a0, %zero : f64"
SOFTMAX = f"""
xfuse.recipe @softmax(%x: tensor<?xf64>) -> tensor<?xf64> {POLYMORPHIC} {{
  {ROW}
  {total("%m", ["%x"], "%r = arith.mulf %a0, %one : f64", "%fromlow", "arith.maximumf")}
  {row("%e", ["%x"], "%d = arith.subf %a0, %m : f64 %r = math.exp %d : f64")}
  {total("%s", ["%e"], "%r = arith.mulf %a0, %one : f64")}
  {row("%y", ["%e"], "%r = arith.divf %a0, %s : f64")}
  xfuse.yield %y : tensor<?xf64>
}}"""
WIDE_SOFTMAX = SOFTMAX.replace("@softmax", "@wide_softmax").replace(
    "%x: tensor<?xf64>)", "%x: tensor<?xf64> {xfuse.accumulator = f32})"
)
MOMENTS = f"""
  {total("%s", ["%x"], "%r = arith.mulf %a0, %one : f64")}
  %m = arith.divf %s, %size : f64
  {total("%q", ["%x"], "%d = arith.subf %a0, %m : f64 %r = arith.mulf %d, %d : f64")}
  %v = arith.divf %q, %size : f64
"""
LAYER_NORM = f"""
xfuse.recipe @layer_norm(%x: tensor<?xf64>, %w: tensor<?xf64>, %b: tensor<?xf64>) -> tensor<?xf64> {POLYMORPHIC} {{
  {ROW}
  %eps = arith.constant 1.0e-5 : f64
  {MOMENTS}
  %ve = arith.addf %v, %eps : f64
  %sd = math.sqrt %ve : f64
  {
    row(
        "%y",
        ["%x", "%w", "%b"],
        '''%d = arith.subf %a0, %m : f64
    %z = arith.divf %d, %sd : f64
    %p = arith.mulf %z, %a1 : f64
    %r = arith.addf %p, %a2 : f64''',
    )
}
  xfuse.yield %y : tensor<?xf64>
}}"""
MEAN_VARIANCE = f"""
xfuse.recipe @mean_variance(%x: tensor<?xf64>) -> (f64, f64) {POLYMORPHIC} {{
  {ROW}
  {MOMENTS}
  xfuse.yield %m, %v : f64, f64
}}"""
LOGSUMEXP = f"""
xfuse.recipe @logsumexp(%x: tensor<?xf64>) -> f64 {POLYMORPHIC} {{
  {ROW}
  {total("%m", ["%x"], "%r = arith.mulf %a0, %one : f64", "%fromlow", "arith.maximumf")}
  {total("%s", ["%x"], "%d = arith.subf %a0, %m : f64 %r = math.exp %d : f64")}
  %l = math.log %s : f64
  %y = arith.addf %l, %m : f64
  xfuse.yield %y : f64
}}"""
DOT = f"""
xfuse.recipe @dot(%x: tensor<?xf64>, %w: tensor<?xf64>) -> f64 {POLYMORPHIC} {{
  {PREAMBLE}
  {total("%s", ["%x", "%w"], "%r = arith.mulf %a0, %a1 : f64")}
  xfuse.yield %s : f64
}}"""
STORED = f"""
xfuse.recipe @stored(%x: tensor<?xf64>) -> f64 {POLYMORPHIC} {{
  {ROW}
  {row("%e", ["%x"], "%r = math.exp %a0 : f64")}
  {total("%s", ["%e"], "%r = arith.mulf %a0, %one : f64")}
  {total("%q", ["%e"], "%r = arith.divf %a0, %s : f64", "%fromlow", "arith.maximumf")}
  xfuse.yield %q : f64
}}"""
SHIFTED = f"""
xfuse.recipe @shifted(%x: tensor<?xf64>, %a: f64) -> tensor<?xf64> {POLYMORPHIC} {{
  {ROW}
  {total("%s", ["%x"], "%r = arith.mulf %a0, %one : f64")}
  {row("%y", ["%x"], "%p = arith.mulf %a0, %s : f64 %r = arith.addf %p, %a : f64")}
  xfuse.yield %y : tensor<?xf64>
}}"""
REDUCTION = """
xfuse.recipe @reduction(%x: tensor<?x{T}>) -> {T} attributes {{element_types = [{types}]}} {{
  %init = arith.constant {init} : {T}
  %scalar = tensor.empty() : tensor<{T}>
  %begin = linalg.fill ins(%init : {T}) outs(%scalar : tensor<{T}>) -> tensor<{T}>
  %s = linalg.generic {{indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> ()>],
      iterator_types = ["reduction"]}} ins(%x : tensor<?x{T}>) outs(%begin : tensor<{T}>) {{
  ^bb0(%a: {T}, %acc: {T}):
    %next = {op} %a, %acc : {T}
    linalg.yield %next : {T}
  }} -> tensor<{T}>
  %r = tensor.extract %s[] : tensor<{T}>
  xfuse.yield %r : {T}
}}"""
MATRIX = """
xfuse.recipe @centred(%x: tensor<?x?xf64>, %w: tensor<?xf64>) -> tensor<?x?xf64>
    attributes {element_types = [f32, f64]} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %m = tensor.dim %x, %c0 : tensor<?x?xf64>
  %n = tensor.dim %x, %c1 : tensor<?x?xf64>
  %mn = arith.muli %m, %n : index
  %count = arith.index_cast %mn : index to i64
  %size = arith.sitofp %count : i64 to f64
  %zero = arith.constant 0.0 : f64
  %scalar = tensor.empty() : tensor<f64>
  %begin = linalg.fill ins(%zero : f64) outs(%scalar : tensor<f64>) -> tensor<f64>
  %s = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> ()>],
      iterator_types = ["reduction", "reduction"]} ins(%x : tensor<?x?xf64>) outs(%begin : tensor<f64>) {
  ^bb0(%a: f64, %acc: f64):
    %next = arith.addf %a, %acc : f64
    linalg.yield %next : f64
  } -> tensor<f64>
  %st = tensor.extract %s[] : tensor<f64>
  %mean = arith.divf %st, %size : f64
  %empty = tensor.empty(%m, %n) : tensor<?x?xf64>
  %y = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (j)>,
      affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]}
      ins(%x, %w : tensor<?x?xf64>, tensor<?xf64>) outs(%empty : tensor<?x?xf64>) {
  ^bb0(%a: f64, %b: f64, %old: f64):
    %d = arith.subf %a, %mean : f64
    %r = arith.mulf %d, %b : f64
    linalg.yield %r : f64
  } -> tensor<?x?xf64>
  xfuse.yield %y : tensor<?x?xf64>
}"""
CAUSAL = """
xfuse.recipe @causal(%x: tensor<?x?xf64>) -> tensor<?x?xf64> attributes {element_types = [f32, f64]} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %m = tensor.dim %x, %c0 : tensor<?x?xf64>
  %n = tensor.dim %x, %c1 : tensor<?x?xf64>
  %zero = arith.constant 0.0 : f64
  %rows = tensor.empty(%m) : tensor<?xf64>
  %begin = linalg.fill ins(%zero : f64) outs(%rows : tensor<?xf64>) -> tensor<?xf64>
  %empty = tensor.empty(%m, %n) : tensor<?x?xf64>
  %e = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>],
      iterator_types = ["parallel", "parallel"]} ins(%x : tensor<?x?xf64>) outs(%empty : tensor<?x?xf64>) {
  ^bb0(%a: f64, %old: f64):
    %i = linalg.index 0 : index
    %j = linalg.index 1 : index
    %seen = arith.cmpi sle, %j, %i : index
    %exp = math.exp %a : f64
    %r = arith.select %seen, %exp, %zero : f64
    linalg.yield %r : f64
  } -> tensor<?x?xf64>
  %s = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>],
      iterator_types = ["parallel", "reduction"]} ins(%e : tensor<?x?xf64>) outs(%begin : tensor<?xf64>) {
  ^bb0(%a: f64, %acc: f64):
    %next = arith.addf %a, %acc : f64
    linalg.yield %next : f64
  } -> tensor<?xf64>
  %y = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>,
      affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]}
      ins(%e, %s : tensor<?x?xf64>, tensor<?xf64>) outs(%empty : tensor<?x?xf64>) {
  ^bb0(%a: f64, %b: f64, %old: f64):
    %r = arith.divf %a, %b : f64
    linalg.yield %r : f64
  } -> tensor<?x?xf64>
  xfuse.yield %y : tensor<?x?xf64>
}"""
TRANSPOSED = """
xfuse.recipe @transposed(%x: tensor<?x?xf64>) -> tensor<?x?xf64> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %m = tensor.dim %x, %c0 : tensor<?x?xf64>
  %n = tensor.dim %x, %c1 : tensor<?x?xf64>
  %empty = tensor.empty(%n, %m) : tensor<?x?xf64>
  %y = linalg.generic {indexing_maps = [affine_map<(i, j) -> (j, i)>, affine_map<(i, j) -> (i, j)>],
      iterator_types = ["parallel", "parallel"]} ins(%x : tensor<?x?xf64>) outs(%empty : tensor<?x?xf64>) {
  ^bb0(%a: f64, %old: f64):
    %i = linalg.index 0 : index
    %j = linalg.index 1 : index
    %ij = arith.subi %i, %j : index
    %d = arith.index_cast %ij : index to i64
    %f = arith.sitofp %d : i64 to f64
    %r = arith.addf %a, %f : f64
    linalg.yield %r : f64
  } -> tensor<?x?xf64>
  xfuse.yield %y : tensor<?x?xf64>
}"""
ROTATE_HALF = """
xfuse.recipe @rotate_half(%x: tensor<64xf64>, %c: tensor<64xf64>, %s: tensor<64xf64>) -> tensor<64xf64>
    attributes {element_types = [f16, f32, f64]} {
  %left = tensor.extract_slice %x[0] [32] [1] : tensor<64xf64> to tensor<32xf64>
  %right = tensor.extract_slice %x[32] [32] [1] : tensor<64xf64> to tensor<32xf64>
  %half = tensor.empty() : tensor<32xf64>
  %negated = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>],
      iterator_types = ["parallel"]} ins(%right : tensor<32xf64>) outs(%half : tensor<32xf64>) {
  ^bb0(%a: f64, %old: f64):
    %r = arith.negf %a : f64
    linalg.yield %r : f64
  } -> tensor<32xf64>
  %turned = tensor.concat dim(0) %negated, %left : (tensor<32xf64>, tensor<32xf64>) -> tensor<64xf64>
  %empty = tensor.empty() : tensor<64xf64>
  %y = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>, affine_map<(i) -> (i)>,
      affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
      ins(%x, %c, %turned, %s : tensor<64xf64>, tensor<64xf64>, tensor<64xf64>, tensor<64xf64>)
      outs(%empty : tensor<64xf64>) {
  ^bb0(%a: f64, %b: f64, %d: f64, %e: f64, %old: f64):
    %p = arith.mulf %a, %b : f64
    %q = arith.mulf %d, %e : f64
    %r = arith.addf %p, %q : f64
    linalg.yield %r : f64
  } -> tensor<64xf64>
  xfuse.yield %y : tensor<64xf64>
}"""
GATHERED = """
xfuse.recipe @gathered(%x: tensor<?xf64>) -> tensor<?xf64> {{
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %n = tensor.dim %x, %c0 : tensor<?xf64>
  %last = arith.subi %n, %c1 : index
  %h = arith.divui %n, %c2 : index
  %rest = arith.subi %n, %h : index
  %empty = tensor.empty(%n) : tensor<?xf64>
  %y = linalg.generic {{indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>],
      iterator_types = ["parallel"]}} ins(%x : tensor<?xf64>) outs(%empty : tensor<?xf64>) {{
  ^bb0(%a: f64, %old: f64):
    %i = linalg.index 0 : index
    {body}
    %b = tensor.extract %x[%k] : tensor<?xf64>
    %r = arith.subf %b, %a : f64
    linalg.yield %r : f64
  }} -> tensor<?xf64>
  xfuse.yield %y : tensor<?xf64>
}}"""
FLIP = GATHERED.format(body="%k = arith.subi %last, %i : index")
ROLL = GATHERED.format(body="%i1 = arith.addi %i, %c2 : index %k = arith.remui %i1, %n : index")
HALVES = GATHERED.format(
    body="""%left = arith.cmpi ult, %i, %rest : index
    %up = arith.addi %i, %h : index
    %down = arith.subi %i, %rest : index
    %k = arith.select %left, %up, %down : index"""
)
EDGE = GATHERED.format(body="%less = arith.subi %i, %c2 : index %k = arith.maxsi %less, %c0 : index")
BEYOND = GATHERED.format(body="%k = arith.addi %i, %c1 : index")
EMPTY_ROW = GATHERED.format(body="%k = arith.minsi %c0, %last : index")
DELAYED = """
xfuse.recipe @delayed(%x: tensor<?xf64>, %v: f64) -> tensor<?xf64> {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %x, %c0 : tensor<?xf64>
  %longer = tensor.pad %x low[2] high[3] {
  ^bb0(%i: index):
    tensor.yield %v : f64
  } : tensor<?xf64> to tensor<?xf64>
  %late = tensor.extract_slice %longer[0] [%n] [1] : tensor<?xf64> to tensor<?xf64>
  %empty = tensor.empty(%n) : tensor<?xf64>
  %y = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>, affine_map<(i) -> (i)>],
      iterator_types = ["parallel"]} ins(%x, %late : tensor<?xf64>, tensor<?xf64>) outs(%empty : tensor<?xf64>) {
  ^bb0(%a: f64, %b: f64, %old: f64):
    %r = arith.subf %a, %b : f64
    linalg.yield %r : f64
  } -> tensor<?xf64>
  xfuse.yield %y : tensor<?xf64>
}"""
FRAMED = """
xfuse.recipe @framed(%x: tensor<3x4xf32>, %v: f32) -> tensor<6x5xf32> {
  %y = tensor.pad %x low[1, 0] high[2, 1] {
  ^bb0(%i: index, %j: index):
    tensor.yield %v : f32
  } : tensor<3x4xf32> to tensor<6x5xf32>
  xfuse.yield %y : tensor<6x5xf32>
}"""
REPLACED = """
xfuse.recipe @replaced(%x: tensor<8xf32>, %y: tensor<3xf32>) -> (tensor<8xf32>, tensor<8xf32>) {
  %over = tensor.insert_slice %y into %x[1] [3] [2] : tensor<3xf32> into tensor<8xf32>
  %empty = tensor.empty() : tensor<8xf32>
  %alone = tensor.insert_slice %y into %empty[4] [3] [1] : tensor<3xf32> into tensor<8xf32>
  %c = arith.constant dense<[1.0, 2.0, 3.0, 4.0, -0.0, 6.0, 7.0, 8.5]> : tensor<8xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>, affine_map<(i) -> (i)>],
      iterator_types = ["parallel"]} ins(%over, %c : tensor<8xf32>, tensor<8xf32>) outs(%empty : tensor<8xf32>) {
  ^bb0(%a: f32, %b: f32, %old: f32):
    %p = arith.mulf %a, %b : f32
    linalg.yield %p : f32
  } -> tensor<8xf32>
  %s = tensor.insert_slice %y into %r[5] [3] [1] : tensor<3xf32> into tensor<8xf32>
  xfuse.yield %r, %s : tensor<8xf32>, tensor<8xf32>
}"""
LISTED = """
xfuse.recipe @listed(%a: f64, %b: f64, %x: tensor<3xf64>) -> tensor<3xf64> {
  %t = tensor.from_elements %a, %b, %a : tensor<3xf64>
  %empty = tensor.empty() : tensor<3xf64>
  %y = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>, affine_map<(i) -> (i)>],
      iterator_types = ["parallel"]} ins(%t, %x : tensor<3xf64>, tensor<3xf64>) outs(%empty : tensor<3xf64>) {
  ^bb0(%c: f64, %d: f64, %old: f64):
    %r = arith.addf %c, %d : f64
    linalg.yield %r : f64
  } -> tensor<3xf64>
  xfuse.yield %y : tensor<3xf64>
}"""
BRANCHED = f"""
xfuse.recipe @branched(%x: tensor<?xf64>) -> tensor<?xf64> {{
  {ROW}
  {total("%m", ["%x"], "%r = arith.mulf %a0, %one : f64", "%fromlow", "arith.maximumf")}
  %large = arith.cmpf ogt, %m, %one : f64
  %y = scf.if %large -> (tensor<?xf64>) {{
    {row("%p", ["%x"], "%r = arith.divf %a0, %m : f64")}
    scf.yield %p : tensor<?xf64>
  }} else {{
    {row("%q", ["%x"], "%r = arith.negf %a0 : f64")}
    scf.yield %q : tensor<?xf64>
  }}
  xfuse.yield %y : tensor<?xf64>
}}"""
REPEATED = """
xfuse.recipe @repeated(%x: tensor<?xf32>, %y: tensor<?xf32>) -> f32 {
  %one = arith.constant 1.0 : f32
  %scalar = tensor.empty() : tensor<f32>
  %begin = linalg.fill ins(%one : f32) outs(%scalar : tensor<f32>) -> tensor<f32>
  %s = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i)>, affine_map<(i, j) -> (j)>,
      affine_map<(i, j) -> ()>], iterator_types = ["reduction", "reduction"]}
      ins(%x, %y : tensor<?xf32>, tensor<?xf32>) outs(%begin : tensor<f32>) {
  ^bb0(%a: f32, %b: f32, %acc: f32):
    %next = arith.addf %a, %acc : f32
    linalg.yield %next : f32
  } -> tensor<f32>
  %t = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> ()>], iterator_types = ["reduction"]}
      ins(%y : tensor<?xf32>) outs(%s : tensor<f32>) {
  ^bb0(%a: f32, %acc: f32):
    %next = arith.maximumf %a, %acc : f32
    linalg.yield %next : f32
  } -> tensor<f32>
  %r = tensor.extract %t[] : tensor<f32>
  xfuse.yield %r : f32
}"""
PRODUCTS = """
xfuse.recipe @products(%x: tensor<?xi64>, %y: tensor<?xi64>) -> (i64, i64) {
  %zero = arith.constant 0 : i64
  %scalar = tensor.empty() : tensor<i64>
  %begin = linalg.fill ins(%zero : i64) outs(%scalar : tensor<i64>) -> tensor<i64>
  %s:2 = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>, affine_map<(i) -> ()>,
      affine_map<(i) -> ()>], iterator_types = ["reduction"]}
      ins(%x, %y : tensor<?xi64>, tensor<?xi64>) outs(%begin, %begin : tensor<i64>, tensor<i64>) {
  ^bb0(%a: i64, %b: i64, %low: i64, %high: i64):
    %l, %h = arith.mulsi_extended %a, %b : i64
    %p = arith.addi %l, %low : i64
    %q = arith.addi %h, %high : i64
    linalg.yield %p, %q : i64, i64
  } -> (tensor<i64>, tensor<i64>)
  %l = tensor.extract %s#0[] : tensor<i64>
  %h = tensor.extract %s#1[] : tensor<i64>
  xfuse.yield %l, %h : i64, i64
}"""
TWO_ROWS = f"""
xfuse.recipe @two_rows(%x: tensor<?xf64>) -> (tensor<?xf64>, tensor<?xf64>) {{
  {ROW}
  {row("%e", ["%x"], "%r = math.exp %a0 : f64")}
  {total("%s", ["%e"], "%r = arith.mulf %a0, %one : f64")}
  {row("%y", ["%e"], "%r = arith.divf %a0, %s : f64")}
  {row("%z", ["%x"], "%r = arith.negf %a0 : f64")}
  xfuse.yield %y, %z : tensor<?xf64>, tensor<?xf64>
}}"""
STRUCTURAL = (
    *(DELAYED, FRAMED, REPLACED, LISTED, BRANCHED, REPEATED, PRODUCTS),
    *(ROTATE_HALF, TRANSPOSED, FLIP, ROLL, HALVES),
)


@cache
def recipe(text: str) -> Recipe:
    return parse_recipes(text)[0]


@cache
def kernel(text: str, element_type: str | None = None) -> Kernel:
    """The LLVM kernel of a recipe's text."""
    return LLVMBackend().compile(recipe(text), element_type)


def ufunc(text: str, element_type: str | None = None) -> np.ufunc:
    """The gufunc of a recipe's text."""
    made = kernel(text, element_type).ufunc
    assert made is not None
    return made


def reduction(op: str, init: str, element_type: str) -> str:
    """A recipe that reduces a row by one op."""
    return REDUCTION.format(op=op, init=init, T=element_type, types=element_type)


def rounded(values: Any, element_type: str) -> Any:
    return np.asarray(values, np.float64).astype(numpy_dtype(element_type))


def normal(shape: tuple[int, ...], element_type: str, seed: int = 0) -> Any:
    return rounded(np.random.default_rng(seed).standard_normal(shape), element_type)


def wide(array: Any) -> Any:
    return np.asarray(array).astype(np.float64)


def softmax64(x: Any) -> Any:
    e = np.exp(x - x.max(-1, keepdims=True, initial=-np.inf))
    return e / e.sum(-1, keepdims=True)


def layer_norm64(x: Any, w: Any, b: Any, eps: float = 1e-5) -> Any:
    d = x - x.mean(-1, keepdims=True)
    return d / np.sqrt((d * d).mean(-1, keepdims=True) + eps) * w + b


def logsumexp64(x: Any) -> Any:
    m = x.max(-1, keepdims=True, initial=-np.inf)
    return np.log(np.exp(x - m).sum(-1)) + m[..., 0]


CASES: dict[str, tuple[str, Callable[..., Any], int]] = {
    "softmax": (SOFTMAX, softmax64, 1),
    "wide_softmax": (WIDE_SOFTMAX, softmax64, 1),
    "layer_norm": (LAYER_NORM, layer_norm64, 3),
    "mean_variance": (MEAN_VARIANCE, lambda x: (x.mean(-1), x.var(-1)), 1),
    "logsumexp": (LOGSUMEXP, logsumexp64, 1),
    "dot": (DOT, lambda x, w: (x * w).sum(-1), 2),
    "stored": (STORED, lambda x: (np.exp(x) / np.exp(x).sum(-1, keepdims=True)).max(-1, initial=-np.inf), 1),
}
"""Recipes over rows, what they compute in float64, and how many rows they take."""


def as_tuple(values: Any) -> tuple[Any, ...]:
    return values if isinstance(values, tuple) else (values,)


def assert_same(got: Any, wanted: Any) -> None:
    """Equal to the bit, all NaNs counting as one value (law L3)."""
    for one, other in zip(as_tuple(got), as_tuple(wanted), strict=True):
        one, other = np.asarray(one), np.asarray(other)
        assert (one.dtype, one.shape) == (other.dtype, other.shape)
        nan = np.isnan(wide(one)) & np.isnan(wide(other))
        kind = f"u{one.dtype.itemsize}"
        same = np.ascontiguousarray(one).view(kind) == np.ascontiguousarray(other).view(kind)
        assert (same | nan).all()


# Numbers ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("element_type", FLOATS)
@pytest.mark.parametrize("name", CASES)
def test_against_float64_at_every_length(name: str, element_type: str) -> None:
    """Law L3: each result is near the float64 one, at lengths around the vectors' and with no elements at all."""
    text, reference, count = CASES[name]
    made = kernel(text, element_type)
    for n in LENGTHS:
        rows = [normal((3, n), element_type, seed) for seed in range(count)]
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            wanted = as_tuple(reference(*map(wide, rows)))
        # Each of n terms errs by a few roundings where the recipe rounds after every op.
        narrow = element_type in ("f16", "bf16") and not name.startswith("wide")
        scale = 64 * (1 + (math.sqrt(n) if narrow else 0)) * PRECISION[element_type]
        for got, right in zip(as_tuple(made(*rows)), wanted, strict=True):
            right = np.asarray(right)
            assert got.dtype == numpy_dtype(element_type)
            assert got.shape == right.shape
            size = np.abs(right[np.isfinite(right)]).max(initial=0.0)
            size = max(size, 1.0) if name in ("layer_norm", "dot", "logsumexp", "mean_variance") else size
            usual = np.isfinite(right)
            assert_same(wide(got)[~usual], right[~usual])
            assert (np.abs(wide(got)[usual] - right[usual]) <= scale * size).all(), (n, got, right)


def made_for(text: str, element_type: str | None, target: Target) -> np.ufunc:
    """The gufunc with code for a target, which must be one that the host can run."""
    given = recipe(text)
    owner = kernel_owner(ufunc(text, element_type))
    assert owner is not None
    arguments, results = given.signature(element_type)
    ir = build_rows("f", given.form(element_type), signature_of(given), arguments, results, target)
    return make_ufunc("f", [dataclasses.replace(owner.loops[0], ir=ir)], "", signature_of(given).text)


@pytest.mark.parametrize("target", TARGETS, ids=("host", "32 bytes", "16 bytes"))
@pytest.mark.parametrize("element_type", ["f16", "f32", "f64"])
def test_every_target(target: Target, element_type: str) -> None:
    """Kernels for machines without FMA, without half conversions or with narrower vectors compute the same function."""
    for text, count in ((LAYER_NORM, 3), (SOFTMAX, 1), (STORED, 1), (reduction("arith.maxnumf", "-1.0", "f64"), 1)):
        if text not in (LAYER_NORM, SOFTMAX, STORED) and element_type != "f64":
            continue
        made = made_for(text, element_type, target)
        for n in (1, 5, 64, 77, 3000):
            rows = [normal((2, n), element_type, seed) for seed in range(count)]
            got, right = wide(made(*rows)), wide(kernel(text, element_type)(*rows))
            np.testing.assert_allclose(got, right, atol=200 * PRECISION[element_type] * math.sqrt(n))


@pytest.mark.parametrize("text", [SOFTMAX, LAYER_NORM, STORED, MATRIX, CAUSAL], ids=range(5))
def test_arrays_with_gaps_without_copies(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The way for arrays with gaps that are too large to be copied gives the same bits as the others."""
    right = ufunc(text, "f32")
    monkeypatch.setattr(rows_guard, "_LARGEST", 0)
    made = made_for(text, "f32", jit.host_target())
    signature = signature_of(recipe(text))
    for n in (1, 2, 63, 64, 200, 1100):
        sizes = {name: n - k for k, name in enumerate(signature.names)}
        if n == 1100:
            sizes = {name: n if k else 20 for k, name in enumerate(signature.names)}
        arrays = [
            normal((2, *(sizes[each] for each in names)), "f32", k) for k, names in enumerate(signature.arguments)
        ]
        assert_same(made(*(layouts(each)["spaced"] for each in arrays)), right(*arrays))
        assert_same(made(*map(np.asfortranarray, arrays)), right(*arrays))


@pytest.mark.parametrize("element_type", ["f32", "f64"])
@pytest.mark.parametrize("shape", [(1, 1), (2, 3), (7, 64), (65, 130), (0, 4), (4, 0), (1000, 3), (3, 5000)])
def test_matrices(element_type: str, shape: tuple[int, int]) -> None:
    """Two core dimensions, ``(n,m),(m)->(n,m)``, with a reduction over both."""
    x, w = normal((2, *shape), element_type), normal((shape[1],), element_type, 1)
    made = kernel(MATRIX, element_type)
    assert made.signature is not None
    assert made.signature.text == "(n,m),(m)->(n,m)"
    got = made(x, w)
    if x.size:
        right = (wide(x) - wide(x).mean((-1, -2), keepdims=True)) * wide(w)
        np.testing.assert_allclose(got, right, atol=1e3 * PRECISION[element_type])
    assert got.shape == x.shape


@pytest.mark.parametrize("shape", [(1, 1), (5, 5), (3, 70), (40, 7), (64, 64)])
def test_iota_and_rows_inside_matrices(shape: tuple[int, int]) -> None:
    """Indices are values (causal mask), and a dimension that is only passed along is a loop around everything."""
    x = normal((2, *shape), "f64")
    e = np.where(np.arange(shape[1]) <= np.arange(shape[0])[:, None], np.exp(x), 0)
    np.testing.assert_allclose(ufunc(CAUSAL, "f64")(x), e / e.sum(-1, keepdims=True), rtol=1e-14)
    # Nothing is stored for the whole matrix: the exponentials lie in the result, the sums in a register.
    assert "%scratch" not in kernel(CAUSAL, "f64").source


@pytest.mark.parametrize("element_type", ["f16", "f32", "f64"])
def test_slices_and_concat(element_type: str) -> None:
    """Slices and joined parts, with the fixed dimension 64 in the signature."""
    made = kernel(ROTATE_HALF, element_type)
    assert made.ufunc is not None
    assert made.ufunc.signature == "(64),(64),(64)->(64)"
    x, c, s = (normal((3, 64), element_type, seed) for seed in range(3))
    turned = np.concatenate([-wide(x)[:, 32:], wide(x)[:, :32]], -1)
    right = rounded(rounded(wide(x) * wide(c), element_type) + rounded(turned * wide(s), element_type), element_type)
    np.testing.assert_allclose(wide(made(x, c, s)), wide(right), atol=4 * PRECISION[element_type])
    with pytest.raises(ValueError, match="mismatch in its core dimension"):
        made.ufunc(x[:, :32], c, s)


@pytest.mark.parametrize("n", [0, 1, 2, 3, 8, 63, 64, 1001])
def test_computed_indices_that_stay_inside(n: int) -> None:
    """Reads at computed indices compile where they are shown to lie inside: flip, roll, swapped halves, clamped."""
    x, h = normal((2, n), "f64"), n // 2
    assert_same(ufunc(FLIP)(x), x[:, ::-1] - x)
    assert_same(ufunc(ROLL)(x), np.roll(x, -2, -1) - x)
    assert_same(ufunc(HALVES)(x), np.concatenate([x[:, h:], x[:, :h]], -1) - x)
    assert_same(ufunc(EDGE)(x), x[:, np.maximum(np.arange(n) - 2, 0)] - x)


SPECIAL = (0.0, -0.0, 1.0, -1.0, math.inf, -math.inf, math.nan)


@pytest.mark.parametrize("element_type", FLOATS)
@pytest.mark.parametrize("op", ["arith.maximumf", "arith.minimumf", "arith.maxnumf", "arith.minnumf"])
def test_extrema_of_nan_zeros_and_infinities(op: str, element_type: str) -> None:
    """maximumf and minimumf propagate NaN, maxnumf and minnumf ignore it, all order -0 before +0, and the initial value
    takes part once: any order of the elements gives the same bits."""
    low = "max" in op
    bits = literals.to_bits(-math.inf if low else math.inf, element_type)
    made = ufunc(reduction(op, f"0x{bits:X}", element_type), element_type)
    combine = PRIMITIVES[op].numpy
    dtype = numpy_dtype(element_type)
    signature = Signature((element_type,) * 2, (element_type,), {})
    generator = np.random.default_rng(0)
    for n in (0, 1, 2, 3, 7, 64, 65, 200):
        for pool in (SPECIAL, SPECIAL[:2], SPECIAL[:6], (math.nan,), (-0.0, -1.0), (-0.0, math.nan)):
            x = np.array(generator.choice(pool, n), np.float64).astype(dtype)
            right = literals.to_scalar(bits, element_type)
            with np.errstate(all="ignore"):
                for value in x:
                    right = combine(signature, np.asarray(right, dtype), np.asarray(value, dtype))
            assert_same(made(x), np.asarray(right, dtype)[()])


@pytest.mark.parametrize("op", sorted(COMBINES))
def test_an_identity_changes_nothing(op: str) -> None:
    """Lanes without elements hold a value that leaves every other as it is, to the sign of a zero."""
    primitive = PRIMITIVES[op]
    floats = op.endswith("f")
    for element_type in FLOATS if floats else ("i1", "i8", "i16", "i32", "i64"):
        dtype = numpy_dtype(element_type)
        spelled = identity(op, element_type)
        if floats:
            neutral = np.array(literals.from_bits(int(spelled, 16), "f64")).astype(dtype)
            values = np.array([*SPECIAL, 0.5, -3.0]).astype(dtype)
        else:
            named = {"true": 1, "false": 0}
            neutral = np.array(named[spelled] if spelled in named else int(spelled)).astype(dtype)
            top = 1 << (8 * dtype.itemsize - 1)
            values = np.array([0, 1] if element_type == "i1" else [0, 1, -1, 5, top - 1, -top]).astype(dtype)
        signature = Signature((element_type,) * 2, (element_type,), {})
        function: Any = primitive.numpy
        spread = np.broadcast_to(neutral, values.shape)
        with np.errstate(all="ignore"):
            got = function(values, spread) if isinstance(function, np.ufunc) else function(signature, values, spread)
        assert_same(np.asarray(got, dtype), values)


def test_every_commutative_op_can_reduce() -> None:
    """Whatever the table calls commutative, with one result, has an identity for reductions."""
    commutative = {n for n, p in PRIMITIVES.items() if p.commutative and len(p.types.results) == 1}
    assert commutative == COMBINES


INTEGERS = {
    "arith.addi": (np.add, 0),
    "arith.muli": (np.multiply, 1),
    "arith.andi": (np.bitwise_and, -1),
    "arith.ori": (np.bitwise_or, 0),
    "arith.xori": (np.bitwise_xor, 0),
    "arith.maxsi": (np.maximum, None),
    "arith.minsi": (np.minimum, None),
}


@pytest.mark.parametrize("element_type", ["i8", "i16", "i32", "i64"])
@pytest.mark.parametrize("op", ["arith.maxui", "arith.minui"])
def test_unsigned_extrema(op: str, element_type: str) -> None:
    """An op that reads integers as unsigned makes a ufunc of unsigned dtypes."""
    dtype = np.dtype(f"u{numpy_dtype(element_type).itemsize}")
    made = ufunc(reduction(op, "0" if op == "arith.maxui" else "-1", element_type), element_type)
    assert all(letter == dtype.char or letter in "->" for letter in made.types[0])
    for n in (0, 1, 65, 300):
        x = np.random.default_rng(n).integers(0, np.iinfo(dtype).max, (3, n), dtype, endpoint=True)
        initial = dtype.type(0 if op == "arith.maxui" else np.iinfo(dtype).max)
        function = np.maximum if op == "arith.maxui" else np.minimum
        assert_same(made(x), function.reduce(x, axis=-1, initial=initial))


@pytest.mark.parametrize("element_type", ["i8", "i16", "i32", "i64"])
@pytest.mark.parametrize("op", INTEGERS)
def test_integer_reductions_are_exact(op: str, element_type: str) -> None:
    """Integers wrap; sums and products have no other order than any, at signed and unsigned dtypes alike."""
    function, init = INTEGERS[op]
    dtype = numpy_dtype(element_type)
    info = np.iinfo(dtype)
    start = init if init is not None else (info.min if op == "arith.maxsi" else info.max)
    made = ufunc(reduction(op, str(start), element_type), element_type)
    for n in (0, 1, 3, 64, 65, 1000):
        x = np.random.default_rng(n).integers(info.min, info.max, (3, n), dtype, endpoint=True)
        right = function.reduce(x, axis=-1, dtype=dtype, initial=dtype.type(start))
        assert_same(made(x), right)
        assert_same(made(x[:, ::-1]), right)
        if init is not None:
            assert_same(made(x.view(f"u{dtype.itemsize}")), right.view(f"u{dtype.itemsize}"))


def test_booleans_reduce() -> None:
    """i1 takes a byte in memory: and, or and exclusive or over a row."""
    x = np.random.default_rng(0).integers(0, 2, (50, 3)).astype(np.bool_)
    for op, init, function in (
        ("arith.andi", "1", np.logical_and),
        ("arith.ori", "0", np.logical_or),
        ("arith.xori", "0", np.logical_xor),
        ("arith.addi", "0", np.logical_xor),
    ):
        text = reduction(op, init, "i1").replace(" attributes {element_types = [i1]}", "")
        assert_same(ufunc(text)(x), function.reduce(x, axis=-1))


# Sums ---------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("element_type", ["f32", "f64"])
@pytest.mark.parametrize("kind", ["uniform", "normal", "wide"])
def test_sums_are_as_accurate_as_numpy_s(element_type: str, kind: str) -> None:
    """DESIGN 10: no worse than NumPy's pairwise sum, measured against math.fsum, and within the stated bound."""
    dtype = numpy_dtype(element_type)
    made = ufunc(reduction("arith.addf", "0.0", element_type), element_type)
    own, numpys = [], []
    for n in (100, 1000, 1024, 4097, 33333, 200001):
        for seed in range(12):
            generator = np.random.default_rng((n, seed))
            x = generator.random(n) if kind == "uniform" else generator.standard_normal(n)
            if kind == "wide":
                x = x * 10.0 ** generator.uniform(-6, 6, n)
            x = x.astype(dtype)
            exact, size = math.fsum(map(float, x)), float(np.abs(wide(x)).sum())
            own.append(abs(float(made(x)) - exact) / size)
            numpys.append(abs(float(np.sum(x)) - exact) / size)
            assert own[-1] <= 2 * ROUNDS * PRECISION[element_type]
    assert np.sqrt(np.mean(np.square(own))) <= np.sqrt(np.mean(np.square(numpys)))


def test_sums_over_two_dimensions_are_pairwise_over_both() -> None:
    """A million rows of three elements are no chain of a million additions."""
    x = np.random.default_rng(0).random((300000, 3)).astype(np.float32)
    x[0, 0] = 0.0  # so that the difference from the mean is the mean
    mean = math.fsum(map(float, x.ravel())) / x.size
    assert abs(-float(ufunc(MATRIX, "f32")(x, np.ones(3, np.float32))[0, 0]) - mean) < 2e-7


@pytest.mark.parametrize("element_type", ["f16", "bf16"])
def test_narrow_sums_are_held_in_f32(element_type: str) -> None:
    """A sum of f16 or bf16 is rounded once, as the NumPy backend does, though the recipe states no accumulator."""
    made = ufunc(reduction("arith.addf", "0.5", element_type), element_type)
    for n in (1, 100, 3000):
        x = normal((4, n), element_type, n)
        right = rounded(wide(x).sum(-1) + 0.5, element_type)
        assert (np.abs(wide(made(x)) - wide(right)) <= 2 * PRECISION[element_type] * np.abs(wide(right))).all()
    ones = np.ones(5000, numpy_dtype(element_type))
    assert float(made(ones)) == float(rounded(5000.5, element_type))  # one by one it would stop at 2048 or 256


def test_infinite_sums() -> None:
    """Infinities come out as they should: no compensation turns them into NaN."""
    made = ufunc(reduction("arith.addf", "0.0", "f32"), "f32")
    for n in (5, 64, 3000, 20000):
        x = np.zeros(n, np.float32)
        x[n // 2] = np.inf
        assert made(x) == np.inf
        x[n // 3] = -np.inf
        assert np.isnan(made(x))
        assert np.signbit(made(np.full(n, -0.0, np.float32))) == np.signbit(np.float32(0.0) + np.float32(-0.0))


# Layouts ------------------------------------------------------------------------------------------------------------


def layouts(x: Any) -> dict[str, Any]:
    """Arrays equal to x that lie in memory in other ways."""
    dtype = x.dtype
    spaced = np.zeros((*x.shape[:-1], 3 * x.shape[-1]), dtype)[..., ::3]
    spaced[...] = x
    backwards = np.ascontiguousarray(x[..., ::-1])[..., ::-1]
    raw = np.zeros(x.nbytes + 1, np.uint8)[1:].view(dtype).reshape(x.shape)
    raw[...] = x
    read_only = x.copy()
    read_only.flags.writeable = False
    record = np.zeros(x.shape, [("flag", "i1"), ("x", dtype)])
    record["x"] = x
    found = {
        "column major": np.asfortranarray(x),
        "spaced": spaced,
        "backwards": backwards,
        "upside down": np.ascontiguousarray(x[::-1])[::-1],
        "unaligned": raw,
        "read only": read_only,
        "record": record["x"],
    }
    if dtype.kind == "f" and dtype.isbuiltin:
        found["byte swapped"] = x.astype(dtype.newbyteorder())
    return found


@pytest.mark.parametrize("element_type", FLOATS)
@pytest.mark.parametrize("n", [1, 3, 64, 130, 1000])
def test_any_layout_gives_the_same_bits(element_type: str, n: int) -> None:
    """Law L10, and determinism: what comes out depends on the elements alone, not on how they lie in memory."""
    for text, count in ((SOFTMAX, 1), (LAYER_NORM, 3), (DOT, 2)):
        made = ufunc(text, element_type)
        rows = [normal((5, n), element_type, seed) for seed in range(count)]
        right = made(*rows)
        for name in layouts(rows[0]):
            assert_same(made(*(layouts(each)[name] for each in rows)), right)
        assert_same(made(*(rows[0], *(layouts(each)["spaced"] for each in rows[1:]))), right)
        assert_same(np.stack([made(*(each[k] for each in rows)) for k in range(5)]), right)


@pytest.mark.parametrize("n", [1, 64, 100])
def test_results_go_into_any_layout(n: int) -> None:
    """``out=`` of any steps is filled, and nothing around it is touched."""
    x = normal((4, n), "f32")
    right = ufunc(SOFTMAX, "f32")(x)
    for target in (
        np.full((4, 3 * n), 7, np.float32)[:, ::3],
        np.full((8, n), 7, np.float32)[::-2],
        np.full((n, 4), 7, np.float32).T,
        np.full((4, n), 7, np.float32)[:, ::-1],
    ):
        base = target.base if target.base is not None else target
        untouched = base.size - target.size
        assert ufunc(SOFTMAX, "f32")(x, out=target) is target
        assert_same(np.ascontiguousarray(target), right)
        assert np.count_nonzero(base == 7) >= untouched


def test_broadcasting_follows_numpy() -> None:
    """Loop dimensions broadcast as in NumPy; core dimensions must agree; empty loops give empty results."""
    x, w, b = normal((2, 1, 5, 33), "f64"), normal((3, 1, 33), "f64", 1), normal((33,), "f64", 2)
    made = ufunc(LAYER_NORM, "f64")
    np.testing.assert_allclose(made(x, w, b), layer_norm64(x, w, b), rtol=1e-12, atol=1e-12)
    still = np.broadcast_to(np.float64(0.25), (33,))
    np.testing.assert_allclose(made(x, still, b), layer_norm64(x, still, b), rtol=1e-12, atol=1e-12)
    assert made(np.zeros((0, 4, 33)), w[0], b).shape == (0, 4, 33)
    assert made(x, w, b, axis=-1).shape == (2, 3, 5, 33)
    with pytest.raises(ValueError, match="mismatch in its core dimension"):
        made(x, w[..., :32], b)
    assert_same(ufunc(SOFTMAX, "f64")(x, axis=2), np.moveaxis(ufunc(SOFTMAX, "f64")(np.moveaxis(x, 2, -1)), -1, 2))


def call_loop(
    made: np.ufunc, arrays: Sequence[Any], items: int, dimensions: Sequence[int], steps: Sequence[int]
) -> None:
    """The inner loop as NumPy would call it, without NumPy's care for alignment."""
    owner = kernel_owner(made)
    assert owner is not None
    pointers = (ctypes.c_void_p * len(arrays))(*(array.ctypes.data for array in arrays))
    sizes = (ctypes.c_ssize_t * (1 + len(dimensions)))(items, *dimensions)
    paces = (ctypes.c_ssize_t * len(steps))(*steps)
    loop = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p)
    address = ctypes.addressof
    loop(owner.address(owner.loops[0]))(address(pointers), address(sizes), address(paces), None)


@pytest.mark.parametrize("step", [8, 9, 24, -8, -11])
def test_unaligned_steps(step: int) -> None:
    """The loop itself takes any byte steps, negative and odd ones too."""
    n, items = 70, 3
    raw = np.zeros(items * 2000 + 1, np.uint8)
    x = normal((items, n), "f64")
    first = 1 if step > 0 else 1 + n * -step
    for item in range(items):
        for k in range(n):
            at = first + item * 2000 + k * step
            raw[at : at + 8] = np.frombuffer(x[item, k].tobytes(), np.uint8)
    out = np.zeros((items, n))
    call_loop(ufunc(SOFTMAX, "f64"), [raw[first:], out], items, [n], [2000, 8 * n, step, 8])
    assert_same(out, ufunc(SOFTMAX, "f64")(x))


# Overlap ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("n", [1, 40, 64, 200])
def test_results_over_their_operands(n: int) -> None:
    """Law L10: with ``out=`` over operands the results are what they are for operands copied first."""
    x, w, b = normal((n, n), "f64"), normal((n,), "f64", 1), normal((n,), "f64", 2)
    for text, rows in ((SOFTMAX, ()), (LAYER_NORM, (w, b)), (SHIFTED, (np.float64(0.5),))):
        made = ufunc(text, "f64")
        right = made(x, *rows)
        for same in (x.copy(), x.copy(order="F")):
            assert_same(made(same, *rows, out=same), right)
        swapped = x.copy()
        axes = [(-1,), *((-1,) if np.ndim(row) else () for row in rows), (0,)]
        assert_same(np.ascontiguousarray(made(swapped, *rows, out=swapped, axes=axes).T), right)
        double = np.concatenate([x, x])
        assert_same(made(double[:n], *rows, out=double[1 : n + 1]), right)
        assert_same(made(x.copy()[:, ::-1], *rows[:0], *rows), made(x[:, ::-1].copy(), *rows))
        turned = x.copy()
        assert_same(made(turned[:, ::-1], *rows, out=turned), made(x[:, ::-1].copy(), *rows))


def test_a_gain_may_be_the_result() -> None:
    """Any operand may be the result's memory, not only the first."""
    x, w, b = (normal((3, 50), "f32", seed) for seed in range(3))
    right = ufunc(LAYER_NORM, "f32")(x, w, b)
    assert_same(ufunc(LAYER_NORM, "f32")(x, w.copy(), b, out=(gain := w.copy())), right)
    assert_same(ufunc(LAYER_NORM, "f32")(x, gain := w.copy(), b, out=gain), right)
    assert_same(ufunc(LAYER_NORM, "f32")(same := x.copy(), same, same, out=same), ufunc(LAYER_NORM, "f32")(x, x, x))


def test_a_square_matrix_over_itself() -> None:
    """NumPy hands over the very same view without a copy, even where elements are read at other places."""
    x = normal((3, 20, 20), "f64")
    right = ufunc(TRANSPOSED)(x)
    assert_same(right, x.transpose(0, 2, 1) + (np.arange(20.0)[:, None] - np.arange(20.0)))
    same = x.copy()
    assert_same(ufunc(TRANSPOSED)(same, out=same), right)


def test_two_results_in_one_array() -> None:
    """Two results written to one array: the second one stays, and no stored value is lost on the way."""
    x = normal((4, 30), "f64")
    means, variances = ufunc(MEAN_VARIANCE, "f64")(x)
    both = np.zeros(4)
    ufunc(MEAN_VARIANCE, "f64")(x, out=(both, both))
    assert_same(both, variances)
    ufunc(TWO_ROWS)(x, out=(rows := np.zeros_like(x), rows))
    assert_same(rows, -x)
    assert_same(ufunc(TWO_ROWS)(same := x.copy(), out=(same, np.zeros_like(x))), ufunc(TWO_ROWS)(x))
    assert_same(ufunc(TWO_ROWS)(same := x.copy(), out=(np.zeros_like(x), same)), ufunc(TWO_ROWS)(x))
    held = x[:, 0].copy()
    ufunc(MEAN_VARIANCE, "f64")(x, out=(held, x[:, 0]))
    assert_same(held, means)
    assert_same(np.ascontiguousarray(x[:, 0]), variances)


# Memory -------------------------------------------------------------------------------------------------------------


def test_nothing_is_allocated_without_need() -> None:
    """A value that is read again lies in the result's row where its type fits, cheap ones are computed anew."""
    for text in (SOFTMAX, LAYER_NORM, LOGSUMEXP, DOT, MEAN_VARIANCE, MATRIX):
        assert "%scratch" not in kernel(text, "f32").source
    assert "%scratch" in kernel(STORED, "f32").source
    assert "%scratch" in kernel(WIDE_SOFTMAX, "f16").source  # exponentials at f32, results at f16
    assert kernel(SOFTMAX, "f32").source.count("0x3FF7154760000000") == 4  # exp, twice in each of two bodies


def test_scratch_memory_beyond_the_stack() -> None:
    """Stored rows may be longer than what the stack gives."""
    x = normal((2, 100000), "f64")
    e = np.exp(x)
    np.testing.assert_allclose(ufunc(STORED, "f64")(x), (e / e.sum(-1, keepdims=True)).max(-1), rtol=1e-13)


def test_wanting_memory_is_reported_as_an_invalid_operation() -> None:
    """Memory that cannot be had gives NaN and NumPy's warning of an invalid value; nothing crashes."""
    huge = np.broadcast_to(np.float64(1), (1 << 59,))
    with pytest.warns(RuntimeWarning, match="invalid value"):
        assert np.isnan(ufunc(STORED, "f64")(huge))
    with np.errstate(invalid="raise"), pytest.raises(FloatingPointError):
        ufunc(STORED, "f64")(huge)


def test_long_rows_with_gaps_are_read_where_they_are() -> None:
    """Rows that are too long to be copied give the same bits as those that are."""
    base = normal((1, 3 << 20), "f64")
    assert_same(ufunc(SOFTMAX, "f64")(base[:, ::2]), ufunc(SOFTMAX, "f64")(base[:, ::2].copy()))
    assert_same(ufunc(DOT, "f64")(base[:, ::-1], base), ufunc(DOT, "f64")(base[:, ::-1].copy(), base))


# NumPy --------------------------------------------------------------------------------------------------------------


def test_it_is_a_generalised_ufunc() -> None:
    """A recipe with core dimensions is a real gufunc with the recipe's normal signature and a loop per element type."""
    made = LLVMBackend().ufunc(recipe(LAYER_NORM))
    assert type(made) is np.ufunc
    assert (made.signature, made.nin, made.nout) == ("(n),(n),(n)->(n)", 3, 1)
    assert {"eee->e", "fff->f", "ddd->d"} <= set(made.types)
    rows = [normal((2, 9), "bf16", seed) for seed in range(3)]
    assert made(*rows).dtype == numpy_dtype("bf16")
    assert made(*(each.astype(np.float32) for each in rows)).dtype == np.float32
    with pytest.raises(RuntimeError, match="signature"):
        made.reduce(np.zeros((3, 3)))


@pytest.mark.parametrize("element_type", FLOATS)
def test_pickling(element_type: str) -> None:
    """A pickled gufunc comes back with its signature and gives the same bits."""
    made = ufunc(MEAN_VARIANCE, element_type)
    back = pickle.loads(pickle.dumps(made))
    assert back.signature == "(n)->(),()"
    assert_same(back(normal((3, 100), element_type)), made(normal((3, 100), element_type)))


def test_code_lives_as_long_as_the_gufunc() -> None:
    """The gufunc owns its machine code: nothing stays behind when the last reference to it goes."""
    given = recipe(DOT)
    made = LLVMBackend().compile(given, "f32").ufunc
    assert made is not None
    owner = weakref.ref(kernel_owner(made))
    gc.collect()
    assert made(np.ones(3, np.float32), np.ones(3, np.float32)) == 3
    assert owner() is not None
    del made
    gc.collect()
    assert owner() is None


def test_no_floating_point_warnings() -> None:
    """Kernels raise no warnings of NumPy's, whatever comes out, and leave the status flags as they were."""
    with warnings.catch_warnings(), np.errstate(all="raise"):
        warnings.simplefilter("error")
        for text, _, count in CASES.values():
            for element_type in FLOATS:
                for n in (0, 1, 33, 64, 200):
                    for value in (math.inf, -math.inf, math.nan, 1e4, -1e4, 0.0):
                        x = np.full((2, n), value).astype(numpy_dtype(element_type))
                        ufunc(text, element_type)(*[x] * count)
    assert not np.isfinite(ufunc(SOFTMAX, "f64")(np.full(3, np.inf))).any()


def test_threads_share_a_kernel() -> None:
    """One gufunc may run in many threads at once, with and without copies of blocks."""
    rows = [normal((200, 333), "f32", seed) for seed in range(8)]
    wanted = [ufunc(STORED, "f32")(x) for x in rows]

    def work(number: int) -> Any:
        x = rows[number]
        for _ in range(20):
            assert_same(ufunc(STORED, "f32")(x), wanted[number])
            assert_same(ufunc(STORED, "f32")(np.asfortranarray(x)), wanted[number])

    assert in_threads(8, work) == [None] * 8


def test_flattened_arguments_are_taken_whole() -> None:
    """A recipe with a flattened argument is a gufunc over the flat operand, and a kernel over any dimensions."""
    text = DOT.replace("%x: tensor<?xf64>", "%x: tensor<?xf64> {xfuse.flatten}").replace(
        "%w: tensor<?xf64>", "%w: tensor<?xf64> {xfuse.flatten}"
    )
    x, w = normal((4, 5, 6), "f64"), normal((4, 5, 6), "f64", 1)
    np.testing.assert_allclose(kernel(text, "f64")(x, w), (x * w).sum(), rtol=1e-14)
    assert_same(ufunc(text, "f64")(x.ravel(), w.ravel()), kernel(text, "f64")(x, w))


# Whole numbers ------------------------------------------------------------------------------------------------------


def test_what_follows_from_inequalities() -> None:
    """Elimination finds contradictions between whole numbers that are none between fractions, and no others."""
    n, h, i = atom("n"), atom("h"), atom("i")
    half = (n.minus(h.times(2)), h.times(2).plus(1).minus(n))  # h is n / 2, rounded down
    index = (i, n.minus(1).minus(i))
    assert follows(n.minus(1), index)
    assert follows(n.minus(1).minus(h), (*half, n.minus(1)))
    assert not follows(n.minus(2).minus(h), (*half, n.minus(1)))
    assert follows(n.minus(1).minus(i.plus(h)), (*half, *index, h.minus(1).minus(i)))
    assert not follows(n.minus(1).minus(i.plus(h)), (*half, *index))
    assert contradictory([n.times(2).minus(1), number(1).minus(n.times(2))])  # 2n = 1
    assert not contradictory([n.times(2).minus(2), number(2).minus(n.times(2))])
    assert str(n.times(2).minus(h).plus(3)) == "-1*h + 2*n + 3"


# Text and refusals ----------------------------------------------------------------------------------------------------


def ir(text: str, element_type: str | None) -> str:
    given = recipe(text)
    arguments, results = given.signature(element_type)
    return build_rows("f", given.form(element_type), signature_of(given), arguments, results, Target())


def test_equal_recipes_give_equal_text() -> None:
    """Law L11: the IR text is the same to the byte, from run to run and whatever Python hashes by."""
    code = (
        "import sys; sys.path[:0] = sys.argv[1:]; import hashlib, importlib.util as u;"
        "spec = u.spec_from_file_location('rows_under_test', sys.argv[1] + '/test_row_kernels.py');"
        "m = u.module_from_spec(spec); spec.loader.exec_module(m);"
        "texts = [m.ir(t, e) for t in (m.SOFTMAX, m.LAYER_NORM, m.CAUSAL, m.ROTATE_HALF) for e in ('f32', 'f64')];"
        "print(hashlib.sha256('|'.join(texts).encode()).hexdigest())"
    )
    found = {
        subprocess.run(
            [sys.executable, "-c", code, str(Path(__file__).parent)],
            env={"PYTHONHASHSEED": seed, "PATH": ""},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in ("0", "1")
    }
    assert len(found) == 1
    assert len(next(iter(found)).strip()) == 64


def test_no_fast_math_flags() -> None:
    """No fast-math flag stands anywhere: sums are exact in their order, which is fixed."""
    for text, _, _ in CASES.values():
        for flag in ("fast", "reassoc", "nnan", "ninf", "nsz", "arcp", "contract", "afn"):
            assert f" {flag} " not in ir(text, "f32")


FOLD = """
xfuse.recipe @fold(%x: tensor<?xf64>) -> f64 {
  %zero = arith.constant 0.0 : f64
  %scalar = tensor.empty() : tensor<f64>
  %begin = linalg.fill ins(%zero : f64) outs(%scalar : tensor<f64>) -> tensor<f64>
  %s = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> ()>], iterator_types = ["reduction"]}
      ins(%x : tensor<?xf64>) outs(%begin : tensor<f64>) {
  ^bb0(%a: f64, %acc: f64):
    %p = arith.mulf %acc, %a : f64
    %next = arith.addf %p, %a : f64
    linalg.yield %next : f64
  } -> tensor<f64>
  %r = tensor.extract %s[] : tensor<f64>
  xfuse.yield %r : f64
}"""
SLICED = """
xfuse.recipe @sliced(%x: tensor<?xf64>) -> tensor<4xf64> {
  %y = tensor.extract_slice %x[1] [4] [1] : tensor<?xf64> to tensor<4xf64>
  xfuse.yield %y : tensor<4xf64>
}"""
SHORTER = """
xfuse.recipe @shorter(%x: tensor<?xf64>) -> tensor<?xf64> {
  %c0 = arith.constant 0 : index
  %c2 = arith.constant 2 : index
  %n = tensor.dim %x, %c0 : tensor<?xf64>
  %h = arith.divui %n, %c2 : index
  %y = tensor.extract_slice %x[0] [%h] [1] : tensor<?xf64> to tensor<?xf64>
  xfuse.yield %y : tensor<?xf64>
}"""


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (FOLD, "a reduction whose body is more than one commutative op"),
        (BEYOND, "not shown to lie inside their axis of size n"),
        (EMPTY_ROW, "not shown to lie inside their axis of size n"),
        (SLICED, "not shown to lie inside its axis of size n"),
        (SHORTER, "a dimension that no argument has"),
    ],
)
def test_refusals_say_why(text: str, reason: str) -> None:
    """What cannot run is refused before anything is compiled, in words: nothing may read outside an array (law L10)."""
    refusal = LLVMBackend().refusal(recipe(text), None)
    assert refusal is not None
    assert reason in refusal
    with pytest.raises(UnsupportedError, match="llvm cannot make a kernel for recipe @"):
        LLVMBackend().compile(recipe(text), None)


@pytest.mark.parametrize("text", STRUCTURAL, ids=lambda text: text.partition("@")[2].partition("(")[0])
def test_every_node_kind_agrees_with_numpy(text: str) -> None:
    """Law L3: padded, sliced, joined, listed, replaced, gathered and branched values have the NumPy backend's bits."""
    given = recipe(text)
    element_type = "f32" if given.element_types else None
    signature, types = signature_of(given), given.signature(element_type)[0]
    function = CoreFunction(given.form(element_type), [len(each) for each in signature.arguments])
    for n in (0, 1, 2, 5, 33, 64, 131):
        sizes = {name: int(name) if name.isdigit() else n + 3 * k for k, name in enumerate(signature.names)}
        arrays = [
            rounded(64 * np.random.default_rng((n, k)).standard_normal((3, *(sizes[each] for each in names))), type_)
            for k, (names, type_) in enumerate(zip(signature.arguments, types, strict=True))
        ]
        if text is REPEATED:  # whose sum has no one order
            arrays[0] = np.rint(arrays[0])
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            wanted = function(*arrays)
        assert_same(kernel(text, element_type)(*arrays), wanted)
        assert_same(kernel(text, element_type)(*map(np.asfortranarray, arrays)), wanted)


def test_long_chains_compile() -> None:
    """Law L9: no recursion over ops: a row recipe of three thousand ops in a chain is planned and written."""
    body = ["%q0 = arith.mulf %a0, %one : f64"]
    body += [f"%q{k} = arith.addf %q{k - 1}, %a0 : f64" for k in range(1, 3000)]
    body.append("%r = arith.mulf %q2999, %q2998 : f64")
    text = f"""
xfuse.recipe @chain(%x: tensor<?xf64>) -> f64 {{
  {PREAMBLE}
  {total("%s", ["%x"], " ".join(body))}
  xfuse.yield %s : f64
}}"""
    assert ir(text, None).count("fadd") > 6000
