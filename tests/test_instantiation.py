"""Instantiating recipes with core dimensions: the canonical form as plain ops at any loop rank, and its laws."""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from functools import cache, partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from random_rows import SHAPES as RANDOM_SHAPES
from random_rows import RandomRows
from reference_programs import emitted_function
from support import calls_of, generic, mlir_opt
from xdsl.dialects import func
from xdsl.dialects.builtin import DYNAMIC_INDEX, MemRefType, ModuleOp, TensorType, UnrankedTensorType, f32, f64
from xdsl.dialects.linalg.ops import GenericOp
from xdsl.ir import Attribute, Block, Operation

import xfuse
from xfuse.backends.numpy.source import Writer
from xfuse.canonical.build import element_name, static_shape
from xfuse.canonical.form import Form
from xfuse.emission import type_named
from xfuse.errors import DecomposeError, KernelError, XfuseError
from xfuse.identify import function_form
from xfuse.kernels import as_tuple
from xfuse.primitives.element_types import numpy_dtype
from xfuse.recipes import Recipe, parse_recipes
from xfuse.signature import core_signature
from xfuse.specialisation import instance_of

D = DYNAMIC_INDEX
LIBRARY = {recipe.name: recipe for recipe in xfuse.Session().registry if not recipe.is_scalar}

MAPS = """
#none = affine_map<(i) -> ()>
#row = affine_map<(i) -> (i)>
#zero = affine_map<(i) -> (0)>
#rows = affine_map<(i, j) -> (i, j)>
#columns = affine_map<(i, j) -> (j, i)>
#first = affine_map<(i, j) -> (i)>
#second = affine_map<(i, j) -> (j)>
#unit = affine_map<(i, j) -> (i, 0)>
"""

ROWS = (
    MAPS
    + """
xfuse.recipe @softmax(%x: tensor<?xf64>) -> tensor<?xf64> attributes {element_types = [f16, f32, f64]} {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %x, %c0 : tensor<?xf64>
  %ninf = arith.constant 0xFFF0000000000000 : f64
  %zero = arith.constant 0.0 : f64
  %e0 = tensor.empty() : tensor<f64>
  %f0 = linalg.fill ins(%ninf : f64) outs(%e0 : tensor<f64>) -> tensor<f64>
  %m = linalg.generic {indexing_maps = [#row, #none], iterator_types = ["reduction"]}
      ins(%x : tensor<?xf64>) outs(%f0 : tensor<f64>) {
  ^bb0(%a: f64, %b: f64):
    %r = arith.maximumf %a, %b : f64
    linalg.yield %r : f64
  } -> tensor<f64>
  %e1 = tensor.empty(%n) : tensor<?xf64>
  %ex = linalg.generic {indexing_maps = [#row, #none, #row], iterator_types = ["parallel"]}
      ins(%x, %m : tensor<?xf64>, tensor<f64>) outs(%e1 : tensor<?xf64>) {
  ^bb0(%a: f64, %b: f64, %c: f64):
    %r = arith.subf %a, %b : f64
    %s = math.exp %r : f64
    linalg.yield %s : f64
  } -> tensor<?xf64>
  %f1 = linalg.fill ins(%zero : f64) outs(%e0 : tensor<f64>) -> tensor<f64>
  %s = linalg.generic {indexing_maps = [#row, #none], iterator_types = ["reduction"]}
      ins(%ex : tensor<?xf64>) outs(%f1 : tensor<f64>) {
  ^bb0(%a: f64, %b: f64):
    %r = arith.addf %a, %b : f64
    linalg.yield %r : f64
  } -> tensor<f64>
  %y = linalg.generic {indexing_maps = [#row, #none, #row], iterator_types = ["parallel"]}
      ins(%ex, %s : tensor<?xf64>, tensor<f64>) outs(%e1 : tensor<?xf64>) {
  ^bb0(%a: f64, %b: f64, %c: f64):
    %r = arith.divf %a, %b : f64
    linalg.yield %r : f64
  } -> tensor<?xf64>
  xfuse.yield %y : tensor<?xf64>
}
xfuse.recipe @mean(%x: tensor<?xf64> {xfuse.accumulator = f32}) -> f64
    attributes {element_types = [f16, bf16, f32, f64]} {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %x, %c0 : tensor<?xf64>
  %zero = arith.constant 0.0 : f64
  %e = tensor.empty() : tensor<f64>
  %f = linalg.fill ins(%zero : f64) outs(%e : tensor<f64>) -> tensor<f64>
  %s = linalg.generic {indexing_maps = [#row, #none], iterator_types = ["reduction"]}
      ins(%x : tensor<?xf64>) outs(%f : tensor<f64>) {
  ^bb0(%a: f64, %b: f64):
    %r = arith.addf %a, %b fastmath<reassoc> : f64
    linalg.yield %r : f64
  } -> tensor<f64>
  %t = tensor.extract %s[] : tensor<f64>
  %i = arith.index_cast %n : index to i64
  %d = arith.sitofp %i : i64 to f64
  %q = arith.divf %t, %d : f64
  xfuse.yield %q : f64
}
xfuse.recipe @mean_kept(%x: tensor<?x?xf64>) -> (tensor<?x1xf64>, tensor<?xf64>)
    attributes {element_types = [f32, f64]} {
  %c0 = arith.constant 0 : index
  %m = tensor.dim %x, %c0 : tensor<?x?xf64>
  %zero = arith.constant 0.0 : f64
  %e = tensor.empty(%m) : tensor<?xf64>
  %f = linalg.fill ins(%zero : f64) outs(%e : tensor<?xf64>) -> tensor<?xf64>
  %s = linalg.generic {indexing_maps = [#rows, #first], iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<?x?xf64>) outs(%f : tensor<?xf64>) {
  ^bb0(%a: f64, %b: f64):
    %r = arith.addf %a, %b : f64
    linalg.yield %r : f64
  } -> tensor<?xf64>
  %e1 = tensor.empty(%m) : tensor<?x1xf64>
  %kept = linalg.generic {indexing_maps = [#first, #rows], iterator_types = ["parallel", "parallel"]}
      ins(%s : tensor<?xf64>) outs(%e1 : tensor<?x1xf64>) {
  ^bb0(%a: f64, %b: f64):
    %r = arith.negf %a : f64
    linalg.yield %r : f64
  } -> tensor<?x1xf64>
  %c1 = arith.constant 1 : index
  %n = tensor.dim %x, %c1 : tensor<?x?xf64>
  %e2 = tensor.empty(%n) : tensor<?xf64>
  %f2 = linalg.fill ins(%zero : f64) outs(%e2 : tensor<?xf64>) -> tensor<?xf64>
  %columns = linalg.generic {indexing_maps = [#columns, #first], iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<?x?xf64>) outs(%f2 : tensor<?xf64>) {
  ^bb0(%a: f64, %b: f64):
    %r = arith.addf %b, %a : f64
    linalg.yield %r : f64
  } -> tensor<?xf64>
  xfuse.yield %kept, %columns : tensor<?x1xf64>, tensor<?xf64>
}
"""
)

MATRICES = (
    MAPS
    + """
#a = affine_map<(i, j, k) -> (i, k)>
#b = affine_map<(i, j, k) -> (k, j)>
#c = affine_map<(i, j, k) -> (i, j)>
#bt = affine_map<(i, j, k) -> (j, k)>
xfuse.recipe @matmul(%x: tensor<?x?xf64>, %y: tensor<?x?xf64>) -> tensor<?x?xf64>
    attributes {element_types = [f32, f64]} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %m = tensor.dim %x, %c0 : tensor<?x?xf64>
  %n = tensor.dim %y, %c1 : tensor<?x?xf64>
  %zero = arith.constant 0.0 : f64
  %e = tensor.empty(%m, %n) : tensor<?x?xf64>
  %f = linalg.fill ins(%zero : f64) outs(%e : tensor<?x?xf64>) -> tensor<?x?xf64>
  %r = linalg.matmul ins(%x, %y : tensor<?x?xf64>, tensor<?x?xf64>) outs(%f : tensor<?x?xf64>) -> tensor<?x?xf64>
  xfuse.yield %r : tensor<?x?xf64>
}
xfuse.recipe @distances(%x: tensor<?x?xf64>, %y: tensor<?x?xf64>) -> tensor<?x?xf64>
    attributes {element_types = [f32, f64]} {
  %c0 = arith.constant 0 : index
  %m = tensor.dim %x, %c0 : tensor<?x?xf64>
  %n = tensor.dim %y, %c0 : tensor<?x?xf64>
  %zero = arith.constant 0.0 : f64
  %e = tensor.empty(%m, %n) : tensor<?x?xf64>
  %f = linalg.fill ins(%zero : f64) outs(%e : tensor<?x?xf64>) -> tensor<?x?xf64>
  %r = linalg.generic {indexing_maps = [#a, #bt, #c], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x, %y : tensor<?x?xf64>, tensor<?x?xf64>) outs(%f : tensor<?x?xf64>) {
  ^bb0(%a: f64, %b: f64, %c: f64):
    %d = arith.subf %a, %b : f64
    %q = arith.mulf %d, %d : f64
    %s = arith.addf %c, %q : f64
    linalg.yield %s : f64
  } -> tensor<?x?xf64>
  xfuse.yield %r : tensor<?x?xf64>
}
xfuse.recipe @accumulating(%x: tensor<?x?xf64>, %y: tensor<?xf64>) -> tensor<?xf64>
    attributes {element_types = [f32, f64]} {
  %r = linalg.generic {indexing_maps = [#rows, #second], iterator_types = ["reduction", "parallel"]}
      ins(%x : tensor<?x?xf64>) outs(%y : tensor<?xf64>) {
  ^bb0(%a: f64, %b: f64):
    %s = arith.addf %a, %b : f64
    linalg.yield %s : f64
  } -> tensor<?xf64>
  xfuse.yield %r : tensor<?xf64>
}
xfuse.recipe @antisymmetric(%x: tensor<?x?xf64>) -> tensor<?x?xf64> attributes {element_types = [f32, f64]} {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %x, %c0 : tensor<?x?xf64>
  %e = tensor.empty(%n, %n) : tensor<?x?xf64>
  %r = linalg.generic {indexing_maps = [#rows, #columns, #rows], iterator_types = ["parallel", "parallel"]}
      ins(%x, %x : tensor<?x?xf64>, tensor<?x?xf64>) outs(%e : tensor<?x?xf64>) {
  ^bb0(%a: f64, %b: f64, %c: f64):
    %s = arith.subf %a, %b fastmath<contract,nsz> : f64
    linalg.yield %s : f64
  } -> tensor<?x?xf64>
  xfuse.yield %r : tensor<?x?xf64>
}
xfuse.recipe @trace_and_outer(%x: tensor<?x?xf64>, %y: tensor<?xf64>) -> (f64, tensor<?x?xf64>)
    attributes {element_types = [f32, f64]} {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %x, %c0 : tensor<?x?xf64>
  %m = tensor.dim %y, %c0 : tensor<?xf64>
  %zero = arith.constant 0.0 : f64
  %e0 = tensor.empty() : tensor<f64>
  %f = linalg.fill ins(%zero : f64) outs(%e0 : tensor<f64>) -> tensor<f64>
  %d = linalg.generic {indexing_maps = [affine_map<(i) -> (i, i)>, #none], iterator_types = ["reduction"]}
      ins(%x : tensor<?x?xf64>) outs(%f : tensor<f64>) {
  ^bb0(%a: f64, %b: f64):
    %s = arith.addf %a, %b : f64
    linalg.yield %s : f64
  } -> tensor<f64>
  %t = tensor.extract %d[] : tensor<f64>
  %e = tensor.empty(%m, %m) : tensor<?x?xf64>
  %r = linalg.generic {indexing_maps = [#second, #first, #rows], iterator_types = ["parallel", "parallel"]}
      ins(%y, %y : tensor<?xf64>, tensor<?xf64>) outs(%e : tensor<?x?xf64>) {
  ^bb0(%a: f64, %b: f64, %c: f64):
    %s = arith.divf %a, %b : f64
    linalg.yield %s : f64
  } -> tensor<?x?xf64>
  xfuse.yield %t, %r : f64, tensor<?x?xf64>
}
xfuse.recipe @copies(%s: f64, %x: tensor<?xf64>) -> f64 attributes {element_types = [f32, f64]} {
  %e0 = tensor.empty() : tensor<f64>
  %zero = arith.constant 0.0 : f64
  %f = linalg.fill ins(%zero : f64) outs(%e0 : tensor<f64>) -> tensor<f64>
  %r = linalg.generic {indexing_maps = [#row, #none], iterator_types = ["reduction"]}
      ins(%x : tensor<?xf64>) outs(%f : tensor<f64>) {
  ^bb0(%a: f64, %b: f64):
    %t = arith.addf %s, %b : f64
    linalg.yield %t : f64
  } -> tensor<f64>
  %most = linalg.generic {indexing_maps = [#row, #none], iterator_types = ["reduction"]}
      ins(%x : tensor<?xf64>) outs(%f : tensor<f64>) {
  ^bb0(%a: f64, %b: f64):
    %t = arith.maximumf %a, %b : f64
    linalg.yield %t : f64
  } -> tensor<f64>
  %u = tensor.extract %r[] : tensor<f64>
  %v = tensor.extract %most[] : tensor<f64>
  %w = arith.addf %u, %v : f64
  xfuse.yield %w : f64
}
xfuse.recipe @carries(%x: tensor<?xi32>, %y: tensor<?xi32>) -> (tensor<?xi32>, tensor<?xi1>, i64) {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %x, %c0 : tensor<?xi32>
  %e = tensor.empty(%n) : tensor<?xi32>
  %eb = tensor.empty(%n) : tensor<?xi1>
  %low = linalg.generic {indexing_maps = [#row, #row, #row], iterator_types = ["parallel"]}
      ins(%x, %y : tensor<?xi32>, tensor<?xi32>) outs(%e : tensor<?xi32>) {
  ^bb0(%a: i32, %b: i32, %c: i32):
    %l, %h = arith.mulsi_extended %a, %b : i32
    linalg.yield %h : i32
  } -> tensor<?xi32>
  %over = linalg.generic {indexing_maps = [#row, #row, #row], iterator_types = ["parallel"]}
      ins(%x, %y : tensor<?xi32>, tensor<?xi32>) outs(%eb : tensor<?xi1>) {
  ^bb0(%a: i32, %b: i32, %c: i1):
    %s, %o = arith.addui_extended %a, %b : i32, i1
    linalg.yield %o : i1
  } -> tensor<?xi1>
  %e0 = tensor.empty() : tensor<i64>
  %zero = arith.constant 0 : i64
  %f = linalg.fill ins(%zero : i64) outs(%e0 : tensor<i64>) -> tensor<i64>
  %sum = linalg.generic {indexing_maps = [#row, #none], iterator_types = ["reduction"]}
      ins(%x : tensor<?xi32>) outs(%f : tensor<i64>) {
  ^bb0(%a: i32, %b: i64):
    %i = linalg.index 0 : index
    %j = arith.index_cast %i : index to i64
    %w = arith.extsi %a : i32 to i64
    %p = arith.muli %w, %j overflow<nsw> : i64
    %t = arith.addi %p, %b : i64
    linalg.yield %t : i64
  } -> tensor<i64>
  %t = tensor.extract %sum[] : tensor<i64>
  xfuse.yield %low, %over, %t : tensor<?xi32>, tensor<?xi1>, i64
}
"""
)

INDICES = (
    MAPS
    + """
xfuse.recipe @lookup(%t: tensor<?xf64>, %at: tensor<?xi64>) -> tensor<?xf64> attributes {element_types = [f32, f64]} {
  %c0 = arith.constant 0 : index
  %m = tensor.dim %at, %c0 : tensor<?xi64>
  %e = tensor.empty(%m) : tensor<?xf64>
  %r = linalg.generic {indexing_maps = [#row, #row], iterator_types = ["parallel"]}
      ins(%at : tensor<?xi64>) outs(%e : tensor<?xf64>) {
  ^bb0(%a: i64, %b: f64):
    %i = arith.index_cast %a : i64 to index
    %v = tensor.extract %t[%i] : tensor<?xf64>
    linalg.yield %v : f64
  } -> tensor<?xf64>
  xfuse.yield %r : tensor<?xf64>
}
xfuse.recipe @pick(%t: tensor<?x?xf64>, %at: tensor<?xi64>) -> tensor<?xf64> attributes {element_types = [f32, f64]} {
  %c0 = arith.constant 0 : index
  %m = tensor.dim %t, %c0 : tensor<?x?xf64>
  %e = tensor.empty(%m) : tensor<?xf64>
  %r = linalg.generic {indexing_maps = [#row, #row], iterator_types = ["parallel"]}
      ins(%at : tensor<?xi64>) outs(%e : tensor<?xf64>) {
  ^bb0(%a: i64, %b: f64):
    %i = arith.index_cast %a : i64 to index
    %k = linalg.index 0 : index
    %v = tensor.extract %t[%k, %i] : tensor<?x?xf64>
    linalg.yield %v : f64
  } -> tensor<?xf64>
  xfuse.yield %r : tensor<?xf64>
}
xfuse.recipe @flip_upper(%x: tensor<?x?xf64>) -> tensor<?x?xf64> attributes {element_types = [f32, f64]} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %m = tensor.dim %x, %c0 : tensor<?x?xf64>
  %n = tensor.dim %x, %c1 : tensor<?x?xf64>
  %last = arith.subi %n, %c1 : index
  %zero = arith.constant 0.0 : f64
  %e = tensor.empty(%m, %n) : tensor<?x?xf64>
  %r = linalg.generic {indexing_maps = [#rows], iterator_types = ["parallel", "parallel"]}
      outs(%e : tensor<?x?xf64>) {
  ^bb0(%c: f64):
    %i = linalg.index 0 : index
    %j = linalg.index 1 : index
    %k = arith.subi %last, %j : index
    %v = tensor.extract %x[%i, %k] : tensor<?x?xf64>
    %keep = arith.cmpi sle, %i, %j : index
    %s = arith.select %keep, %v, %zero : f64
    linalg.yield %s : f64
  } -> tensor<?x?xf64>
  xfuse.yield %r : tensor<?x?xf64>
}
xfuse.recipe @convolution(%x: tensor<?xf64>, %w: tensor<3xf64>) -> tensor<?xf64>
    attributes {element_types = [f32, f64]} {
  %c0 = arith.constant 0 : index
  %c2 = arith.constant 2 : index
  %n = tensor.dim %x, %c0 : tensor<?xf64>
  %short = arith.subi %n, %c2 : index
  %zero = arith.constant 0.0 : f64
  %e = tensor.empty(%short) : tensor<?xf64>
  %f = linalg.fill ins(%zero : f64) outs(%e : tensor<?xf64>) -> tensor<?xf64>
  %r = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i + j)>, #second, #first],
      iterator_types = ["parallel", "reduction"]} ins(%x, %w : tensor<?xf64>, tensor<3xf64>) outs(%f : tensor<?xf64>) {
  ^bb0(%a: f64, %b: f64, %c: f64):
    %p = arith.mulf %a, %b : f64
    %s = arith.addf %p, %c : f64
    linalg.yield %s : f64
  } -> tensor<?xf64>
  xfuse.yield %r : tensor<?xf64>
}
xfuse.recipe @positions(%x: tensor<?xf64>) -> (tensor<?xindex>, index) attributes {element_types = [f32, f64]} {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %x, %c0 : tensor<?xf64>
  %zero = arith.constant 0.0 : f64
  %e = tensor.empty(%n) : tensor<?xindex>
  %r = linalg.generic {indexing_maps = [#row, #row], iterator_types = ["parallel"]}
      ins(%x : tensor<?xf64>) outs(%e : tensor<?xindex>) {
  ^bb0(%a: f64, %b: index):
    %i = linalg.index 0 : index
    %keep = arith.cmpf olt, %a, %zero : f64
    %s = arith.select %keep, %i, %n : index
    linalg.yield %s : index
  } -> tensor<?xindex>
  %e0 = tensor.empty() : tensor<index>
  %f = linalg.generic {indexing_maps = [affine_map<() -> ()>], iterator_types = []} outs(%e0 : tensor<index>) {
  ^bb0(%a: index):
    linalg.yield %n : index
  } -> tensor<index>
  %first = linalg.generic {indexing_maps = [#row, #none], iterator_types = ["reduction"]}
      ins(%r : tensor<?xindex>) outs(%f : tensor<index>) {
  ^bb0(%a: index, %b: index):
    %s = arith.minsi %a, %b : index
    linalg.yield %s : index
  } -> tensor<index>
  %least = tensor.extract %first[] : tensor<index>
  xfuse.yield %r, %least : tensor<?xindex>, index
}
"""
)

SHAPES = (
    MAPS
    + """
xfuse.recipe @halves(%x: tensor<?xf64>) -> tensor<?xf64> attributes {element_types = [f32, f64]} {
  %c0 = arith.constant 0 : index
  %c2 = arith.constant 2 : index
  %n = tensor.dim %x, %c0 : tensor<?xf64>
  %half = arith.divsi %n, %c2 : index
  %lower = tensor.extract_slice %x[0] [%half] [1] : tensor<?xf64> to tensor<?xf64>
  %upper = tensor.extract_slice %x[%half] [%half] [1] : tensor<?xf64> to tensor<?xf64>
  %e = tensor.empty(%half) : tensor<?xf64>
  %r = linalg.generic {indexing_maps = [#row, #row, #row], iterator_types = ["parallel"]}
      ins(%lower, %upper : tensor<?xf64>, tensor<?xf64>) outs(%e : tensor<?xf64>) {
  ^bb0(%a: f64, %b: f64, %c: f64):
    %s = arith.mulf %a, %b : f64
    linalg.yield %s : f64
  } -> tensor<?xf64>
  xfuse.yield %r : tensor<?xf64>
}
xfuse.recipe @strided(%x: tensor<?x6xf64>) -> (tensor<?x3xf64>, tensor<?xf64>) attributes {element_types = [f32, f64]} {
  %c0 = arith.constant 0 : index
  %m = tensor.dim %x, %c0 : tensor<?x6xf64>
  %even = tensor.extract_slice %x[0, 1] [%m, 3] [1, 2] : tensor<?x6xf64> to tensor<?x3xf64>
  %one = tensor.extract_slice %x[0, 4] [%m, 1] [1, 1] : tensor<?x6xf64> to tensor<?xf64>
  %r = math.absf %even : tensor<?x3xf64>
  %s = arith.negf %one : tensor<?xf64>
  xfuse.yield %r, %s : tensor<?x3xf64>, tensor<?xf64>
}
xfuse.recipe @pairs(%x: tensor<?xf64>) -> tensor<?x2xf64> attributes {element_types = [f32, f64]} {
  %c0 = arith.constant 0 : index
  %c2 = arith.constant 2 : index
  %n = tensor.dim %x, %c0 : tensor<?xf64>
  %half = arith.divsi %n, %c2 : index
  %y = math.absf %x : tensor<?xf64>
  %r = tensor.expand_shape %y [[0, 1]] output_shape [%half, 2] : tensor<?xf64> into tensor<?x2xf64>
  xfuse.yield %r : tensor<?x2xf64>
}
xfuse.recipe @flat(%x: tensor<?x?xf64>) -> tensor<?xf64> attributes {element_types = [f32, f64]} {
  %y = math.absf %x : tensor<?x?xf64>
  %r = tensor.collapse_shape %y [[0, 1]] : tensor<?x?xf64> into tensor<?xf64>
  xfuse.yield %r : tensor<?xf64>
}
xfuse.recipe @turned_flat(%x: tensor<?x?xf64>) -> tensor<?xf64> attributes {element_types = [f32, f64]} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %m = tensor.dim %x, %c0 : tensor<?x?xf64>
  %n = tensor.dim %x, %c1 : tensor<?x?xf64>
  %e = tensor.empty(%n, %m) : tensor<?x?xf64>
  %t = linalg.generic {indexing_maps = [#columns, #rows], iterator_types = ["parallel", "parallel"]}
      ins(%x : tensor<?x?xf64>) outs(%e : tensor<?x?xf64>) {
  ^bb0(%a: f64, %b: f64):
    %s = arith.negf %a : f64
    linalg.yield %s : f64
  } -> tensor<?x?xf64>
  %r = tensor.collapse_shape %t [[0, 1]] : tensor<?x?xf64> into tensor<?xf64>
  xfuse.yield %r : tensor<?xf64>
}
xfuse.recipe @joined(%x: tensor<?xf64>, %y: tensor<?xf64>) -> tensor<?xf64> attributes {element_types = [f32, f64]} {
  %two = arith.constant dense<2.5> : tensor<2xf64>
  %table = arith.constant dense<[1.5, -0.1, 3.0]> : tensor<3xf64>
  %z = arith.negf %y : tensor<?xf64>
  %r = tensor.concat dim(0) %x, %two, %z, %table
      : (tensor<?xf64>, tensor<2xf64>, tensor<?xf64>, tensor<3xf64>) -> tensor<?xf64>
  xfuse.yield %r : tensor<?xf64>
}
xfuse.recipe @joined_rows(%x: tensor<?x4xf64>, %y: tensor<4xf64>) -> tensor<?x4xf64>
    attributes {element_types = [f32, f64]} {
  %e = tensor.empty() : tensor<2x4xf64>
  %twice = linalg.generic {indexing_maps = [#second, #rows], iterator_types = ["parallel", "parallel"]}
      ins(%y : tensor<4xf64>) outs(%e : tensor<2x4xf64>) {
  ^bb0(%a: f64, %b: f64):
    linalg.yield %a : f64
  } -> tensor<2x4xf64>
  %r = tensor.concat dim(0) %x, %twice : (tensor<?x4xf64>, tensor<2x4xf64>) -> tensor<?x4xf64>
  xfuse.yield %r : tensor<?x4xf64>
}
xfuse.recipe @padded(%x: tensor<?x?xf64>) -> tensor<?x?xf64> attributes {element_types = [f32, f64]} {
  %c1 = arith.constant 1 : index
  %n = tensor.dim %x, %c1 : tensor<?x?xf64>
  %zero = arith.constant 0.5 : f64
  %r = tensor.pad %x low[1, 0] high[0, %n] {
  ^bb0(%i: index, %j: index):
    %k = arith.index_cast %j : index to i64
    %v = arith.sitofp %k : i64 to f64
    %w = arith.addf %v, %zero : f64
    tensor.yield %w : f64
  } : tensor<?x?xf64> to tensor<?x?xf64>
  xfuse.yield %r : tensor<?x?xf64>
}
xfuse.recipe @numbered(%x: tensor<?xindex>, %s: index) -> (tensor<?xindex>, tensor<?xindex>) {
  %r = tensor.pad %x low[2] high[1] {
  ^bb0(%i: index):
    tensor.yield %i : index
  } : tensor<?xindex> to tensor<?xindex>
  %q = tensor.pad %x low[2] high[0] {
  ^bb0(%i: index):
    tensor.yield %s : index
  } : tensor<?xindex> to tensor<?xindex>
  xfuse.yield %r, %q : tensor<?xindex>, tensor<?xindex>
}
"""
)

WHOLE = (
    MAPS
    + """
xfuse.recipe @written(%x: tensor<?xf64>, %v: f64, %y: tensor<2xf64>) -> (tensor<?xf64>, tensor<5xf64>, tensor<2x2xf64>)
    attributes {element_types = [f32, f64]} {
  %c1 = arith.constant 1 : index
  %a = tensor.insert_slice %y into %x[%c1] [2] [2] : tensor<2xf64> into tensor<?xf64>
  %b = tensor.insert %v into %a[%c1] : tensor<?xf64>
  %e = tensor.empty() : tensor<5xf64>
  %fives = linalg.fill ins(%v : f64) outs(%e : tensor<5xf64>) -> tensor<5xf64>
  %c = tensor.insert_slice %y into %fives[3] [2] [1] : tensor<2xf64> into tensor<5xf64>
  %n = arith.negf %v : f64
  %d = tensor.from_elements %v, %n, %n, %v : tensor<2x2xf64>
  xfuse.yield %b, %c, %d : tensor<?xf64>, tensor<5xf64>, tensor<2x2xf64>
}
xfuse.recipe @row_of(%x: tensor<?x?xf64>, %y: tensor<?xf64>) -> tensor<?x?xf64>
    attributes {element_types = [f32, f64]} {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %y, %c0 : tensor<?xf64>
  %r = tensor.insert_slice %y into %x[1, 0] [1, %n] [1, 1] : tensor<?xf64> into tensor<?x?xf64>
  xfuse.yield %r : tensor<?x?xf64>
}
xfuse.recipe @largest(%x: tensor<?xf64>) -> (f64, index) attributes {element_types = [f32, f64]} {
  %ninf = arith.constant 0xFFF0000000000000 : f64
  %c0 = arith.constant 0 : index
  %ev = tensor.empty() : tensor<f64>
  %ei = tensor.empty() : tensor<index>
  %v0 = linalg.fill ins(%ninf : f64) outs(%ev : tensor<f64>) -> tensor<f64>
  %i0 = linalg.generic {indexing_maps = [affine_map<() -> ()>], iterator_types = []} outs(%ei : tensor<index>) {
  ^bb0(%a: index):
    linalg.yield %c0 : index
  } -> tensor<index>
  %v, %i = linalg.generic {indexing_maps = [#row, #none, #none], iterator_types = ["reduction"]}
      ins(%x : tensor<?xf64>) outs(%v0, %i0 : tensor<f64>, tensor<index>) {
  ^bb0(%a: f64, %best: f64, %where: index):
    %k = linalg.index 0 : index
    %more = arith.cmpf ogt, %a, %best : f64
    %nv = arith.select %more, %a, %best : f64
    %ni = arith.select %more, %k, %where : index
    linalg.yield %nv, %ni : f64, index
  } -> (tensor<f64>, tensor<index>)
  %rv = tensor.extract %v[] : tensor<f64>
  %ri = tensor.extract %i[] : tensor<index>
  xfuse.yield %rv, %ri : f64, index
}
xfuse.recipe @horner(%x: tensor<?xf64>, %c: tensor<?xf64>) -> tensor<?xf64> attributes {element_types = [f32, f64]} {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %x, %c0 : tensor<?xf64>
  %zero = arith.constant 0.0 : f64
  %e = tensor.empty(%n) : tensor<?xf64>
  %f = linalg.fill ins(%zero : f64) outs(%e : tensor<?xf64>) -> tensor<?xf64>
  %r = linalg.generic {indexing_maps = [#first, #second, #first], iterator_types = ["parallel", "reduction"]}
      ins(%x, %c : tensor<?xf64>, tensor<?xf64>) outs(%f : tensor<?xf64>) {
  ^bb0(%a: f64, %b: f64, %s: f64):
    %t = arith.mulf %s, %a : f64
    %d = arith.mulf %a, %b : f64
    %u = arith.addf %t, %d : f64
    linalg.yield %u : f64
  } -> tensor<?xf64>
  xfuse.yield %r : tensor<?xf64>
}
xfuse.recipe @chosen(%s: f64, %x: tensor<?xf64>, %y: tensor<?xf64>) -> tensor<?xf64>
    attributes {element_types = [f32, f64]} {
  %zero = arith.constant 0.0 : f64
  %two = arith.constant 2.0 : f64
  %c = arith.cmpf ogt, %s, %zero : f64
  %r = scf.if %c -> (tensor<?xf64>) {
    %a = arith.negf %x : tensor<?xf64>
    scf.yield %a : tensor<?xf64>
  } else {
    %c0 = arith.constant 0 : index
    %n = tensor.dim %y, %c0 : tensor<?xf64>
    %e = tensor.empty(%n) : tensor<?xf64>
    %t = arith.mulf %s, %two : f64
    %f = linalg.fill ins(%t : f64) outs(%e : tensor<?xf64>) -> tensor<?xf64>
    scf.yield %f : tensor<?xf64>
  }
  %q = math.absf %r : tensor<?xf64>
  xfuse.yield %q : tensor<?xf64>
}
xfuse.recipe @cumulative(%x: tensor<?xf64>) -> (tensor<?xf64>, f64) attributes {element_types = [f32, f64]} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f64
  %n = tensor.dim %x, %c0 : tensor<?xf64>
  %e = tensor.empty(%n) : tensor<?xf64>
  %t, %s = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %e, %sum = %zero) -> (tensor<?xf64>, f64) {
    %v = tensor.extract %x[%i] : tensor<?xf64>
    %new = arith.addf %sum, %v : f64
    %next = tensor.insert %new into %acc[%i] : tensor<?xf64>
    scf.yield %next, %new : tensor<?xf64>, f64
  }
  xfuse.yield %t, %s : tensor<?xf64>, f64
}
xfuse.recipe @nested(%x: tensor<?x?xf64>, %s: f64) -> (f64, f64) attributes {element_types = [f32, f64]} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f64
  %half = arith.constant 0.5 : f64
  %m = tensor.dim %x, %c0 : tensor<?x?xf64>
  %n = tensor.dim %x, %c1 : tensor<?x?xf64>
  %r = scf.for %i = %c0 to %m step %c1 iter_args(%a = %zero) -> (f64) {
    %w = math.exp %s : f64
    %inner = scf.for %j = %c0 to %n step %c1 iter_args(%b = %a) -> (f64) {
      %v = tensor.extract %x[%i, %j] : tensor<?x?xf64>
      %h = arith.mulf %b, %half : f64
      %u = arith.addf %h, %v : f64
      scf.yield %u : f64
    }
    %q = arith.mulf %inner, %w : f64
    scf.yield %q : f64
  }
  %again = scf.for %i = %c0 to %m step %c1 iter_args(%a = %r) -> (f64) {
    %v = tensor.extract %x[%i, %c0] : tensor<?x?xf64>
    %q = arith.subf %a, %v : f64
    scf.yield %q : f64
  }
  xfuse.yield %r, %again : f64, f64
}
xfuse.recipe @root(%s: f64, %x: tensor<?xf64>) -> (f64, tensor<?xf64>) attributes {element_types = [f32, f64]} {
  %one = arith.constant 1.0 : f64
  %half = arith.constant 0.5 : f64
  %small = arith.constant 0.001 : f64
  %a = math.absf %s : f64
  %r, %z = scf.while (%g = %one, %t = %x) : (f64, tensor<?xf64>) -> (f64, tensor<?xf64>) {
    %g2 = arith.mulf %g, %g : f64
    %d = arith.subf %g2, %a : f64
    %e = math.absf %d : f64
    %go = arith.cmpf ogt, %e, %small : f64
    scf.condition(%go) %g, %t : f64, tensor<?xf64>
  } do {
  ^bb0(%g: f64, %t: tensor<?xf64>):
    %g2 = arith.mulf %g, %g : f64
    %sum = arith.addf %g2, %a : f64
    %q = arith.divf %sum, %g : f64
    %next = arith.mulf %q, %half : f64
    %u = math.absf %t : tensor<?xf64>
    scf.yield %next, %u : f64, tensor<?xf64>
  }
  xfuse.yield %r, %z : f64, tensor<?xf64>
}
xfuse.recipe @shrinking(%x: tensor<?xf64>) -> tensor<?xf64> attributes {element_types = [f32, f64]} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %r = scf.for %i = %c0 to %c2 step %c1 iter_args(%t = %x) -> (tensor<?xf64>) {
    %n = tensor.dim %t, %c0 : tensor<?xf64>
    %m = arith.subi %n, %c1 : index
    %u = tensor.extract_slice %t[1] [%m] [1] : tensor<?xf64> to tensor<?xf64>
    %v = math.absf %u : tensor<?xf64>
    scf.yield %v : tensor<?xf64>
  }
  xfuse.yield %r : tensor<?xf64>
}
"""
)

FLAT = """
#flat = affine_map<(i) -> (i)>
#none = affine_map<(i) -> ()>
xfuse.recipe @mean_square(%x: tensor<?xf64> {xfuse.flatten}, %y: tensor<?xf64> {xfuse.flatten}) -> f64
    attributes {element_types = [f32, f64]} {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %x, %c0 : tensor<?xf64>
  %zero = arith.constant 0.0 : f64
  %e = tensor.empty() : tensor<f64>
  %f = linalg.fill ins(%zero : f64) outs(%e : tensor<f64>) -> tensor<f64>
  %s = linalg.generic {indexing_maps = [#flat, #flat, #none], iterator_types = ["reduction"]}
      ins(%x, %y : tensor<?xf64>, tensor<?xf64>) outs(%f : tensor<f64>) {
  ^bb0(%a: f64, %b: f64, %c: f64):
    %d = arith.subf %a, %b : f64
    %q = arith.mulf %d, %d : f64
    %r = arith.addf %q, %c : f64
    linalg.yield %r : f64
  } -> tensor<f64>
  %t = tensor.extract %s[] : tensor<f64>
  %i = arith.index_cast %n : index to i64
  %d = arith.sitofp %i : i64 to f64
  %r = arith.divf %t, %d : f64
  xfuse.yield %r : f64
}
"""

OWN = {recipe.name: recipe for text in (ROWS, MATRICES, INDICES, SHAPES) for recipe in parse_recipes(text)}
ONE_ITEM = {recipe.name: recipe for recipe in parse_recipes(WHOLE)}
"""Recipes that are applied to one item after the other: they have no loop dimensions."""
(MEAN_SQUARE,) = parse_recipes(FLAT)

SIZES = {"n": 6, "m": 4, "k": 2, "p": 3, "q": 5}
EQUAL = {"trace_and_outer": {"m": 6}, "row_of": {"k": 4}, "pick": {"k": 6}}
"""Core dimensions of different names that have to be equal all the same."""
LOOPS = (3, 2, 5)
"""Loop extents, the last first."""


def loops_of(rank: int) -> tuple[int, ...]:
    return LOOPS[:rank][::-1]


def core_shapes(recipe: Recipe, sizes: Mapping[str, int] = SIZES) -> list[tuple[int, ...]]:
    if sizes is SIZES:
        sizes = {**SIZES, **EQUAL.get(recipe.name, {})}
    names = core_signature(recipe.form(recipe.uses[0])).arguments
    return [tuple(int(name) if name.isdigit() else sizes[name] for name in each) for each in names]


def types_of(recipe: Recipe, use: str | None, shapes: Sequence[Sequence[int]]) -> list[Attribute]:
    """Operand types of these shapes; an argument written as a scalar is one where it has no dimensions."""
    return [
        TensorType(type_named(name), shape) if shape or isinstance(written, TensorType) else type_named(name)
        for name, shape, written in zip(recipe.signature(use)[0], shapes, recipe.argument_types, strict=True)
    ]


def checked(module: ModuleOp) -> None:
    """Law L8: verified by xDSL, and by real mlir-opt, which checks dominance, types and shapes."""
    module.verify()
    done = subprocess.run([mlir_opt()], input=generic(module), capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[:2000]


def form_at(recipe: Recipe, use: str | None, types: Sequence[Attribute]) -> Form:
    """The recipe's form at the core extents of some operands."""
    ranks = [len(static_shape(type_)) for type_ in recipe.argument_types]
    own = [static_shape(type_) for type_ in types]
    return recipe.form(use, shapes=[shape[len(shape) - rank :] for shape, rank in zip(own, ranks, strict=True)])


def arrays_for(types: Sequence[Attribute], shapes: Sequence[Sequence[int]], top: int = 2) -> list[Any]:
    """Random arrays of some types; integers are below ``top``, so that they are good as indices."""
    generator = np.random.default_rng(0)
    arrays: list[Any] = []
    for type_, shape in zip(types, shapes, strict=True):
        dtype = numpy_dtype(element_name(type_))
        is_integer = dtype.kind in "iub"
        array = generator.integers(0, top, shape) if is_integer else generator.standard_normal(shape)
        arrays.append(np.asarray(array).astype(dtype))
    return arrays


def item_by_item(form: Form, arrays: Sequence[Any]) -> list[Any]:
    """The form at core rank, applied to each item of the loop dimensions: the meaning of a gufunc."""
    evaluate = Writer(form.graph, form.arguments, form.results).write().compile()
    ranks = [len(argument.extents) for argument in form.arguments]
    splits = [array.ndim - rank for array, rank in zip(arrays, ranks, strict=True)]
    loops = np.broadcast_shapes(*(array.shape[:split] for array, split in zip(arrays, splits, strict=True)))
    spread = [np.broadcast_to(array, loops + array.shape[split:]) for array, split in zip(arrays, splits, strict=True)]
    results: list[Any] = []
    with np.errstate(all="ignore"):
        for where in np.ndindex(loops):
            items = evaluate(*(array[where] for array in spread))
            results = results or [np.empty(loops + item.shape, item.dtype) for item in items]
            for result, item in zip(results, items, strict=True):
                result[where] = item
    return results


def assert_same_numbers(found: Sequence[Any], expected: Sequence[Any], name: str) -> None:
    """Equal up to the order of sums."""
    assert len(found) == len(expected), name
    for got, want in zip(map(np.asarray, found), expected, strict=True):
        assert (got.shape, got.dtype) == (want.shape, want.dtype), name
        if want.dtype.kind in "iub":
            np.testing.assert_array_equal(got, want, err_msg=name)
            continue
        slack = {"float64": 1e-12, "float32": 1e-4, "float16": 1e-2, "bfloat16": 1e-1}[want.dtype.name]
        got, want = got.astype(np.float64), want.astype(np.float64)
        largest = np.max(np.abs(want), initial=1.0, where=np.isfinite(want))
        np.testing.assert_allclose(got, want, rtol=slack, atol=slack * largest, err_msg=name)


def cases(recipes: Mapping[str, Recipe], rank: int) -> Iterator[tuple[str, Recipe, str | None, bool]]:
    """At the widest element type with static and with dynamic extents, at each other one at one rank or another."""
    for name, recipe in recipes.items():
        if rank and recipe.flat:
            continue
        *others, widest = recipe.uses
        for dynamic in (False, True):
            yield f"{name}_{widest}_{'dynamic' if dynamic else 'static'}", recipe, widest, dynamic
        for number, use in enumerate(others):
            if rank == (0 if recipe.flat or recipes is ONE_ITEM else number % 4):
                yield f"{name}_{use}_dynamic", recipe, use, True


@cache
def emitted(which: str, rank: int) -> dict[str, tuple[func.FuncOp, Recipe, str | None]]:
    """What is made of recipes with so many loop dimensions, by a name."""
    made: dict[str, tuple[func.FuncOp, Recipe, str | None]] = {}
    for label, recipe, use, dynamic in cases({"library": LIBRARY, "own": OWN, "one item": ONE_ITEM}[which], rank):
        shapes = [(*loops_of(rank), *core) for core in core_shapes(recipe)]
        if dynamic:
            fixed = [static_shape(type_) for type_ in recipe.argument_types]
            shapes = [(*[D] * rank, *(D if extent is None else extent for extent in written)) for written in fixed]
        made[label] = emitted_function(recipe, types_of(recipe, use, shapes), label), recipe, use
    return made


EVERYTHING = pytest.mark.parametrize(
    ("which", "rank"),
    [("own", 0), ("own", 1), ("own", 2), ("own", 3), ("one item", 0)] + [("library", n) for n in range(4)],
)


@EVERYTHING
def test_law_l8_real_mlir_accepts_what_is_emitted(which: str, rank: int) -> None:
    made = [each for each, *_ in emitted(which, rank).values()]
    assert len(made) > 15
    checked(ModuleOp([each.clone() for each in made]))


@EVERYTHING
def test_law_l5_what_is_emitted_has_the_form_of_the_recipe(which: str, rank: int) -> None:
    """The form of the recipe at these extents; and so it is an instance of the recipe."""
    for label, (made, recipe, use) in emitted(which, rank).items():
        found = function_form(made)
        assert found.text == form_at(recipe, use, made.function_type.inputs.data).text, label
        if which == "library":
            instance = instance_of(recipe, found)
            assert instance is not None, label
            assert instance.element_type == use, label


@EVERYTHING
def test_law_l3_what_is_emitted_gives_the_numbers_of_the_recipe(which: str, rank: int) -> None:
    """Against the recipe applied to one item of the loop dimensions after the other."""
    for label, (made, recipe, use) in emitted(which, rank).items():
        types = made.function_type.inputs.data
        arrays = arrays_for(types, [(*loops_of(rank), *core) for core in core_shapes(recipe)])
        found = as_tuple(xfuse.compile(made, label)(*arrays))
        assert_same_numbers(found, item_by_item(form_at(recipe, use, types), arrays), label)


@pytest.mark.parametrize(("which", "rank"), [("own", 0), ("own", 2), ("one item", 0)])
def test_what_is_emitted_survives_printing(which: str, rank: int) -> None:
    """The text is MLIR that parses to the same program."""
    for label, (made, recipe, use) in emitted(which, rank).items():
        (again,) = (op for op in xfuse.parse_module(str(made)).walk() if isinstance(op, func.FuncOp))
        assert function_form(again).text == form_at(recipe, use, made.function_type.inputs.data).text, label


@pytest.mark.parametrize("first", range(0, 100, 10))
def test_laws_l3_l5_l8_over_random_recipes(first: int) -> None:
    """Extents of several arguments that happen to be equal, views in any order, computed extents: all three laws."""
    made: list[func.FuncOp] = []
    for seed in range(first, first + 10):
        rows = RandomRows(seed)
        (recipe,) = parse_recipes(rows.text())
        for rank in (0,) if rows.has_fold else range(3):
            everywhere = [loops_of(rank)] * 4
            here_and_there = [loops_of(rank), loops_of(rank)[1:], (1,) * rank, ()]
            for loops, dynamic in ((everywhere, False), (everywhere, True), (here_and_there, False)):
                shapes = [(*outer, *core) for outer, core in zip(loops, RANDOM_SHAPES, strict=True)]
                label = f"{seed}_{rank}_{dynamic}_{len(made)}"
                types = types_of(recipe, None, [(D,) * len(shape) if dynamic else shape for shape in shapes])
                each = emitted_function(recipe, types, label)
                form = form_at(recipe, None, types)
                assert function_form(each).text == form.text, label
                arrays = arrays_for(types, shapes)
                assert_same_numbers(as_tuple(xfuse.compile(each, label)(*arrays)), item_by_item(form, arrays), label)
                made.append(each.clone())
    checked(ModuleOp(made))


# Extents of nothing and of one


SMALL = [dict.fromkeys(SIZES, 1), dict.fromkeys(SIZES, 0)]


@pytest.mark.parametrize("name", [*OWN, *ONE_ITEM])
def test_extents_of_one_and_of_nothing(name: str) -> None:
    """With static and with dynamic extents; what no row of that length has is an error, at the latest when it runs."""
    recipe = OWN.get(name) or ONE_ITEM[name]
    use = recipe.uses[-1]
    for sizes in SMALL:
        cores = core_shapes(recipe, sizes)
        for rank in (0, 2) if name in OWN else (0,):
            shapes = [(*loops_of(rank), *core) for core in cores]
            fixed = [(None,) * rank + static_shape(type_) for type_ in recipe.argument_types]
            loose = [tuple(D if extent is None else extent for extent in shape) for shape in fixed]
            arrays = arrays_for(types_of(recipe, use, shapes), shapes, top=1)
            expected = None
            with contextlib.suppress(Exception):  # whatever NumPy makes of a row that is too short
                expected = item_by_item(form_at(recipe, use, types_of(recipe, use, loose)), arrays)
            for each in (shapes, loose):
                types = types_of(recipe, use, each)
                if expected is None:
                    with pytest.raises((DecomposeError, KernelError)):
                        xfuse.compile(emitted_function(recipe, types))(*arrays)
                    continue
                made = emitted_function(recipe, types)
                checked(ModuleOp([made]))
                assert function_form(made).text == form_at(recipe, use, types).text, (name, each)
                assert_same_numbers(as_tuple(xfuse.compile(made)(*arrays)), expected, f"{name} {each}")


# Shapes


def softmax() -> Recipe:
    return OWN["softmax"]


def emitted_on(recipe: Recipe, *types: Attribute) -> tuple[func.FuncOp, list[str]]:
    """A program, and the types of its results."""
    made = emitted_function(recipe, types)
    checked(ModuleOp([made]))
    return made, [str(type_) for type_ in made.function_type.outputs.data]


@pytest.mark.parametrize(
    ("left", "right", "result"),
    [
        ((2, 3), (3, 4), (2, 4)),
        ((5, 2, 3), (3, 4), (5, 2, 4)),
        ((2, 3), (5, 3, 4), (5, 2, 4)),
        ((5, 1, 2, 3), (7, 3, 4), (5, 7, 2, 4)),
        ((D, 2, 3), (1, D, 4), (D, 2, 4)),
        ((D, 2, D), (5, 3, 4), (5, 2, 4)),
        ((1, D, D), (D, 3, D), (D, D, D)),
        ((0, 2, 3), (1, 3, 4), (0, 2, 4)),
    ],
)
def test_loop_dimensions_broadcast_as_numpys_gufuncs_do(
    left: tuple[int, ...], right: tuple[int, ...], result: tuple[int, ...]
) -> None:
    """Operands of several loop ranks, extents of one, empty and dynamic ones; static extents are preferred."""
    made, outputs = emitted_on(OWN["matmul"], TensorType(f64, left), TensorType(f64, right))
    assert outputs == [str(TensorType(f64, result))]
    known = {"left": [5, 2, 3], "right": [5, 3, 4]}
    shapes = [
        tuple(size if extent == D else extent for extent, size in zip(shape, own[-len(shape) :], strict=True))
        for shape, own in ((left, known["left"] if len(left) < 4 else left), (right, known["right"]))
    ]
    arrays = [np.random.default_rng(0).standard_normal(shape) for shape in shapes]
    np.testing.assert_allclose(xfuse.compile(made)(*arrays), np.matmul(*arrays), rtol=1e-13, atol=1e-13)


def test_a_scalar_argument_may_be_a_scalar_or_vary_over_the_loops() -> None:
    """``(),(n)->()``: what is written as a scalar has no core dimensions."""
    recipe = OWN["copies"]
    rows = TensorType(f64, [4, 3])
    assert emitted_on(recipe, f64, TensorType(f64, [3]))[1] == ["f64"]
    assert emitted_on(recipe, TensorType(f64, []), TensorType(f64, [3]))[1] == ["f64"]
    array = np.random.default_rng(0).standard_normal((4, 3))
    for scalar, value in ((f64, 0.5), (TensorType(f64, [4]), np.arange(4.0)), (TensorType(f64, [1]), np.ones(1))):
        made, outputs = emitted_on(recipe, scalar, rows)
        assert outputs == ["tensor<4xf64>"]
        found = xfuse.compile(made)(value if isinstance(value, np.ndarray) else np.float64(value), array)
        np.testing.assert_allclose(found, 3 * value + array.max(axis=1))


@pytest.mark.parametrize(
    ("name", "shapes", "words"),
    [
        ("matmul", [(2, 3), (4, 5)], ["is 3 in operand 0", "4 in operand 1"]),
        ("matmul", [(2, 3), (1, 5)], ["is 3 in operand 0", "1 in operand 1"]),
        ("matmul", [(D, 2, 3), (D, 4, 5)], ["is 3 in operand 0", "4 in operand 1"]),
        ("matmul", [(2, 3), (3,)], ["operand 1", "at least 2 dimensions"]),
        ("matmul", [(4, 2, 3), (5, 3, 4)], ["do not broadcast"]),
        ("softmax", [()], ["operand 0", "at least 1 dimensions"]),
        ("strided", [(4, 5)], ["is 5", "written for 6"]),
        ("convolution", [(1,), (3,)], ["-1"]),
        ("convolution", [(8,), (4,)], ["is 4", "written for 3"]),
        ("pairs", [(5,)], ["op 5"]),
    ],
)
def test_shapes_that_do_not_fit_are_typed_refusals(name: str, shapes: list[tuple[int, ...]], words: list[str]) -> None:
    """Nothing is made, and the message names the operands and extents at fault."""
    types = [TensorType(f64, shape) for shape in shapes]
    block = Block(arg_types=types)
    with pytest.raises(DecomposeError, match=f"recipe @{name} cannot be emitted on") as caught:
        xfuse.emit(OWN[name], block.args)
    for word in words:
        assert word in str(caught.value)
    assert isinstance(caught.value.__cause__, XfuseError)
    assert isinstance(xfuse.try_emit(OWN[name], block.args), DecomposeError)
    assert not any(argument.uses for argument in block.args)


@pytest.mark.parametrize("name", ONE_ITEM)
def test_what_takes_an_item_as_a_whole_has_no_loop_dimensions(name: str) -> None:
    """A typed refusal that names the kind and the core rank, and leaves nothing behind."""
    recipe = ONE_ITEM[name]
    block = Block(arg_types=types_of(recipe, "f64", [(2, *core) for core in core_shapes(recipe)]))
    with pytest.raises(DecomposeError, match=f"recipe @{name} has to be applied to one item") as caught:
        xfuse.emit(recipe, block.args)
    assert f"core rank, {core_signature(recipe.form()).text}" in str(caught.value)
    assert not any(argument.uses for argument in block.args)


@pytest.mark.parametrize("type_", [MemRefType(f64, [4]), UnrankedTensorType(f64)], ids=["memref", "unranked"])
def test_only_ranked_tensors(type_: Attribute) -> None:
    error = xfuse.try_emit(softmax(), Block(arg_types=[type_]).args)
    assert isinstance(error, DecomposeError)
    assert str(type_) in str(error)


def test_ops_outside_the_vocabulary_are_refused_by_name() -> None:
    (recipe,) = parse_recipes(
        f"""{MAPS}
        xfuse.recipe @odd(%x: tensor<?xf32>, %f: tensor<f32>) -> tensor<f32> {{
          %r = linalg.generic {{indexing_maps = [#row, #none], iterator_types = ["reduction"]}}
              ins(%x : tensor<?xf32>) outs(%f : tensor<f32>) {{
          ^bb0(%a: f32, %b: f32):
            %t = varith.add %a, %a, %a : f32
            %s = arith.addf %t, %b : f32
            linalg.yield %s : f32
          }} -> tensor<f32>
          xfuse.yield %r : tensor<f32> }}"""
    )
    block = Block(arg_types=[TensorType(f32, [4]), TensorType(f32, [])])
    with pytest.raises(DecomposeError, match=r"@odd cannot be emitted on .*: 'varith\.add'"):
        xfuse.emit(recipe, block.args)
    assert not any(argument.uses for argument in block.args)


# Flattened arguments


@pytest.mark.parametrize("shape", [(6,), (2, 3), (4, 1, 3), (2, 2, 2, 2), (), (0, 3), (1, 1)])
@pytest.mark.parametrize("dynamic", [False, True])
def test_a_flattened_argument_takes_an_operand_of_any_rank(shape: tuple[int, ...], dynamic: bool) -> None:
    """The one core dimension stands for all dimensions: one reduction over all of them."""
    types = [TensorType(f64, [D] * len(shape) if dynamic else shape), TensorType(f64, shape)]
    made, outputs = emitted_on(MEAN_SQUARE, *types)
    assert outputs == ["f64"]
    wanted = MEAN_SQUARE.form("f64", shapes=[shape, shape])
    assert function_form(made).text == wanted.text
    rng = np.random.default_rng(0)
    x, y = rng.standard_normal(shape), rng.standard_normal(shape)
    with np.errstate(all="ignore"):
        expected = np.square(x - y).sum() / np.float64(x.size)
    np.testing.assert_allclose(xfuse.compile(made)(x, y), expected, rtol=1e-14)


def test_flattened_arguments_of_different_shapes_are_refused() -> None:
    for one, other in (((2, 3), (3, 2)), ((6,), (2, 3)), ((2, D), (3, D))):
        error = xfuse.try_emit(MEAN_SQUARE, Block(arg_types=[TensorType(f64, one), TensorType(f64, other)]).args)
        assert isinstance(error, DecomposeError)
        assert "flattened" in str(error)


# What the ops are


def ops_of(made: func.FuncOp) -> list[str]:
    return [op.name for op in made.walk()]


def generics(made: func.FuncOp) -> list[GenericOp]:
    return [op for op in made.walk() if isinstance(op, GenericOp)]


def test_extents_are_literals_where_they_are_static_and_dims_where_not() -> None:
    """A shape-relative value is resolved as soon as it can be: the mean's divisor."""
    static, _ = emitted_on(OWN["mean"], TensorType(f64, [4, 8]))
    assert "tensor.dim" not in ops_of(static)
    assert "arith.sitofp" not in ops_of(static)
    assert "arith.constant 8.000000e+00 : f64" in str(static)
    dynamic, _ = emitted_on(OWN["mean"], TensorType(f64, [4, D]))
    assert "tensor.dim" in ops_of(dynamic)
    assert "arith.sitofp" in ops_of(dynamic)


def test_static_extents_of_one_operand_are_those_of_all() -> None:
    made, outputs = emitted_on(OWN["matmul"], TensorType(f64, [D, 2, D]), TensorType(f64, [5, 3, D]))
    assert outputs == [f"tensor<5x2x{'?'}xf64>"]
    assert ops_of(made).count("tensor.cast") == 1
    assert "tensor<5x2x3xf64>" in str(made)


def test_each_generic_has_one_result_and_one_scalar_op() -> None:
    """Section 4: one generic per result; a node is one op, so that every other pass sees through it."""
    made, _ = emitted_on(softmax(), TensorType(f64, [4, 8]))
    bodies = [[op.name for op in each.body.block.ops][:-1] for each in generics(made)]
    assert all(len(each.results) == 1 for each in generics(made))
    assert bodies == [["arith.maximumf"], ["arith.subf"], ["math.exp"], ["arith.addf"], ["arith.divf"]]
    named = {name for name in ops_of(made) if name.startswith("linalg.")}
    assert named == {"linalg.generic", "linalg.fill", "linalg.yield"}


def test_products_are_summed_in_one_body() -> None:
    """A matrix product never makes the tensor of all products, nor do distances or a convolution's windows."""
    for name, shapes, body in (
        ("matmul", [(D, 4, 6), (6, 5)], ["arith.mulf", "arith.addf"]),
        ("distances", [(4, 6), (5, 6)], ["arith.subf", "arith.mulf", "arith.addf"]),
        (
            "convolution",
            [(9,), (3,)],
            ["linalg.index", "linalg.index", "arith.addi", "tensor.extract", "arith.mulf", "arith.addf"],
        ),
    ):
        made, _ = emitted_on(OWN[name], *(TensorType(f64, shape) for shape in shapes))
        (product,) = generics(made)
        assert ops_of(made).count("linalg.fill") == 1
        assert [op.name for op in product.body.block.ops][:-1] == body


def test_indices_are_read_in_the_bodies_that_need_them() -> None:
    """No tensor of indices is made for a mask or a mirrored row."""
    made, _ = emitted_on(OWN["flip_upper"], TensorType(f64, [2, 4, 4]))
    assert not any("index" in str(result.type) for op in generics(made) for result in op.results)


def test_fast_math_flags_are_those_of_the_recipe() -> None:
    """Law L3: none is added, none is lost."""
    made, _ = emitted_on(OWN["mean"], TensorType(f32, [4, 8]))
    flagged = [
        op.name for op in made.walk() if "fastmath" in op.properties and "none" not in str(op.properties["fastmath"])
    ]
    assert flagged == ["arith.addf"]
    made, _ = emitted_on(OWN["antisymmetric"], TensorType(f32, [8, 8]))
    assert "arith.subf %" in str(made)
    assert str(made).count("fastmath<nsz,contract>") == 1


def test_a_recipe_accumulates_at_the_type_it_says() -> None:
    """f16 is widened where it is read and rounded once at the end; at f32 and f64 there are no casts."""
    for use in OWN["mean"].uses:
        assert use is not None
        made, _ = emitted_on(OWN["mean"], TensorType(type_named(use), [4, D]))
        casts = [name for name in ops_of(made) if name in ("arith.extf", "arith.truncf")]
        assert casts == (["arith.extf", "arith.truncf"] if use in ("f16", "bf16") else [])
        sums = [op for op in made.walk() if op.name == "arith.addf"]
        assert [str(op.results[0].type) for op in sums] == ["f64" if use == "f64" else "f32"]


def test_a_result_is_laid_out_without_a_copy() -> None:
    """The last op of a result writes it as it has to lie."""
    made, _ = emitted_on(OWN["trace_and_outer"], TensorType(f64, [6, 6]), TensorType(f64, [4]))
    assert not [each for each in generics(made) if len(list(each.body.block.ops)) == 1]
    made, outputs = emitted_on(OWN["mean_kept"], TensorType(f64, [3, 4, 5]))
    assert outputs == ["tensor<3x4x1xf64>", "tensor<3x5xf64>"]
    assert not [each for each in generics(made) if len(list(each.body.block.ops)) == 1]


def test_one_loop_gives_all_that_it_carries() -> None:
    """The values of one loop are computed by one op, not by one op each."""
    made, _ = emitted_on(ONE_ITEM["cumulative"], TensorType(f64, [D]))
    assert ops_of(made).count("scf.for") == 1
    made, _ = emitted_on(ONE_ITEM["root"], f64, TensorType(f64, [D]))
    assert ops_of(made).count("scf.while") == 1
    inside = next(op for op in made.walk() if op.name == "scf.while")
    assert [op.name for op in inside.walk()].count("arith.mulf") == 2, "g * g is computed before the test alone"


def test_constants_stay_scalars() -> None:
    """Bodies capture them; only a table is a tensor constant."""
    made, _ = emitted_on(OWN["joined"], TensorType(f64, [D]), TensorType(f64, [3]))
    tensors = [op for op in made.walk() if op.name == "arith.constant" and isinstance(op.results[0].type, TensorType)]
    assert [str(op.results[0].type) for op in tensors] == ["tensor<3xf64>"]


# Laws of the emitter itself


def test_law_l11_the_text_is_the_same_in_every_process(tmp_path: Path) -> None:
    """Whatever PYTHONHASHSEED is."""
    file = tmp_path / "recipes.mlir"
    file.write_text(ROWS + MATRICES.replace(MAPS, "") + WHOLE.replace(MAPS, ""))
    code = (
        "import sys\nimport xfuse\nfrom pathlib import Path\nfrom xdsl.ir import Block\n"
        "from xfuse.recipes import parse_recipes\n"
        "for recipe in parse_recipes(Path(sys.argv[1]).read_text()):\n"
        "    block = Block(arg_types=recipe.argument_types)\n"
        "    block.add_ops(xfuse.emit(recipe, block.args).ops)\n"
        "    print(recipe.name, *block.ops, sep='\\n')"
    )
    texts: list[str] = []
    for seed in ("0", "1"):
        environment = {**os.environ, "PYTHONHASHSEED": seed}
        command = [sys.executable, "-c", code, str(file)]
        done = subprocess.run(command, capture_output=True, text=True, check=False, env=environment)
        assert done.returncode == 0, done.stderr[-2000:]
        texts.append(done.stdout)
    assert texts[0] == texts[1]
    assert len(texts[0]) > 10_000


def chain(count: int, width: str) -> Recipe:
    """A row recipe of many ops, all of them on rows or, summed, on the products of two rows."""
    lines = "\n".join(f"%v{n + 1} = arith.addf %v{n}, %a : f32" for n in range(count))
    if width == "rows":
        (recipe,) = parse_recipes(f"""{MAPS}
        xfuse.recipe @long(%x: tensor<?xf32>) -> tensor<f32> {{
          %zero = arith.constant 0.0 : f32
          %e = tensor.empty() : tensor<f32>
          %f = linalg.fill ins(%zero : f32) outs(%e : tensor<f32>) -> tensor<f32>
          %r = linalg.generic {{indexing_maps = [#row, #none], iterator_types = ["reduction"]}}
              ins(%x : tensor<?xf32>) outs(%f : tensor<f32>) {{
          ^bb0(%a: f32, %c: f32):
            %v0 = arith.negf %a : f32
            {lines}
            %s = arith.addf %v{count}, %c : f32
            linalg.yield %s : f32
          }} -> tensor<f32>
          xfuse.yield %r : tensor<f32> }}""")
        return recipe
    (recipe,) = parse_recipes(f"""{MAPS}
    xfuse.recipe @wide(%x: tensor<?xf32>, %y: tensor<?xf32>) -> tensor<?xf32> {{
      %c0 = arith.constant 0 : index
      %n = tensor.dim %x, %c0 : tensor<?xf32>
      %zero = arith.constant 0.0 : f32
      %e = tensor.empty(%n) : tensor<?xf32>
      %f = linalg.fill ins(%zero : f32) outs(%e : tensor<?xf32>) -> tensor<?xf32>
      %r = linalg.generic {{indexing_maps = [#first, #second, #first], iterator_types = ["parallel", "reduction"]}}
          ins(%x, %y : tensor<?xf32>, tensor<?xf32>) outs(%f : tensor<?xf32>) {{
      ^bb0(%a: f32, %b: f32, %c: f32):
        %v0 = arith.mulf %a, %b : f32
        {lines}
        %s = arith.addf %v{count}, %c : f32
        linalg.yield %s : f32
      }} -> tensor<?xf32>
      xfuse.yield %r : tensor<?xf32> }}""")
    return recipe


@pytest.mark.parametrize("width", ["rows", "products"])
def test_law_l9_emission_is_linear(width: str) -> None:
    """Four times the ops take about four times the work; there is no recursion."""
    calls: list[int] = []
    for count in (500, 2000):
        recipe = chain(count, width)
        types = [TensorType(f32, [2, D])] * len(recipe.argument_types)
        xfuse.emit(recipe, Block(arg_types=types).args)  # the form is made once
        work, made = calls_of(partial(xfuse.emit, recipe, Block(arg_types=types).args))
        calls.append(work)
        names = [op.name for each in made.ops for op in each.walk()]
        assert names.count("arith.addf") == count + 1
        assert names.count("linalg.generic") == (count + 2 if width == "rows" else 1)
    assert calls[1] < 5 * calls[0]


def test_nothing_of_the_recipe_is_shared_with_what_is_emitted() -> None:
    """A program may be changed freely, and emitting twice gives two programs."""
    text = str(softmax().op)
    types = [TensorType(f64, [4, 8])]
    one, other = emitted_function(softmax(), types), emitted_function(softmax(), types)
    before = str(other)
    for op in list(one.walk()):
        op.attributes["note"] = type_named("f64")
    assert str(other) == before
    assert str(softmax().op) == text
    assert not any(isinstance(op, Operation) and op in set(one.walk()) for op in other.walk())
