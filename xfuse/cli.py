"""The command ``xfuse``: identities, runs and the list of passes."""

from __future__ import annotations

import argparse
import inspect
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any
from zipfile import BadZipFile

import numpy as np
from xdsl.utils.exceptions import ParseError

from xfuse.api import CompiledProgram, Session, compile, current_session, identities, load_module
from xfuse.canonical.build import element_name
from xfuse.errors import KernelError, UnsupportedError, XfuseError
from xfuse.explanation import changed_regions, explanation, ops_at, unseen
from xfuse.fusion import fuse
from xfuse.kernels import as_tuple
from xfuse.passes.describe import pass_options
from xfuse.passes.options import module_session
from xfuse.primitives.element_types import numpy_dtype
from xfuse.signature import signature_of
from xfuse.universe import XFUSE_UNIVERSE

_BF16 = "bfloat16"


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; returns its exit status. Mistakes of the user are one line on standard error, status 1."""
    options = _parser().parse_args(arguments)
    try:
        return options.run(options)
    except XfuseError as error:
        print(f"xfuse: error: {_in_one_line(error)}", file=sys.stderr)
        return 1
    except BrokenPipeError:
        return 1


def _in_one_line(error: XfuseError) -> str:
    cause = error.__cause__
    if isinstance(cause, ParseError):
        return f"{cause.span.get_location()}: {' '.join(cause.msg.split())}"
    return " ".join(str(error).split())


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="xfuse", description="Fused ops whose region is their recipe.")
    commands = parser.add_subparsers(dest="command", required=True)

    shown = commands.add_parser("identity", help="show recipe identity, instance key and canonical text")
    shown.add_argument("file", help="a .mlir file with recipes, or with functions")
    shown.set_defaults(run=_identity)

    explain = commands.add_parser("explain", help="say where recipes match in a file and where not and why")
    explain.add_argument("file", help="a .mlir file")
    explain.add_argument("--recipe", nargs="+", required=True, metavar="NAME", help="recipes or families to look for")
    explain.add_argument("--at", default="", metavar="LINE|NAME", help="only at a line of the file, or at %%NAME")
    explain.add_argument("--backend", default="auto", choices=["auto", "numpy", "llvm"])
    explain.add_argument("--library", default="", help="a file of recipes to use instead of the shipped ones")
    explain.set_defaults(run=_explain)

    run = commands.add_parser("run", help="fuse a function of a file and run it on arrays")
    run.add_argument("file", help="a .mlir file")
    run.add_argument("--entry", default="main", help="the function to run (default: main)")
    run.add_argument("--inputs", required=True, help="an .npz with one array per argument, in order")
    run.add_argument("--backend", default="auto", choices=["auto", "numpy", "llvm"])
    run.add_argument("--library", default="", help="a file of recipes to use instead of the shipped ones")
    run.add_argument("--only", nargs="*", default=[], help="use only these recipes or families")
    run.add_argument("--no-fuse", action="store_true", help="run the file as it is")
    run.add_argument("--expect", help="an .npz with the expected results, in order; status 1 if they differ")
    run.add_argument("--tolerance", type=float, default=1e-5, help="largest error, relative to the largest result")
    run.add_argument("--output", help="write the results to this .npz")
    run.set_defaults(run=_run)

    passes = commands.add_parser("passes", help="list the passes of xfuse with their options")
    passes.set_defaults(run=_passes)

    library = commands.add_parser("library", help="list the shipped recipes by family")
    library.set_defaults(run=_library)
    return parser


def _identity(options: argparse.Namespace) -> int:
    found = identities(load_module(options.file))
    if not found:
        raise UnsupportedError(f"{options.file} holds neither recipes nor functions with a body")
    for number, each in enumerate(found):
        if number:
            print()
        print(f"name      @{each.name}\nrecipe    {each.recipe}\ninstance  {each.instance}")
        print("".join(f"  {line}\n" for line in each.text.splitlines()), end="")
    return 0


def _explain(options: argparse.Namespace) -> int:
    module = load_module(options.file)
    session = module_session(module, options.library)
    recipes = session.registry.select(tuple(options.recipe))
    roots = ops_at(module, options.at) if options.at else None
    found = session.match(module, options.backend, options.recipe, roots=roots)
    for line in (*explanation(found), *unseen(found, recipes, roots), *changed_regions(module, session)):
        print(line)
    return 0


def _run(options: argparse.Namespace) -> int:
    module = load_module(options.file)
    session = module_session(module, options.library)
    if not options.no_fuse:
        recipes = session.registry.select(tuple(options.only)) if options.only else session.registry.entries()
        fuse(module, recipes, session.gate(options.backend))
    program = compile(module, options.entry, options.backend, session)
    inputs = load_arrays(options.inputs, program)
    results = [np.asarray(result) for result in as_tuple(program(*inputs))]
    for number, array in enumerate(results):
        print(f"result {number}: {array.dtype} {array.shape}")
    for row in program.rows:
        kernel = row.kernel
        if kernel is not None:
            print(f"kernel @{kernel.name} ({', '.join(row.dtypes)}) on {row.backend}")
    for op, reason in program.inlined:
        print(f"no kernel for @{op.label}: {reason}")
    if options.output:
        try:
            np.savez(options.output, *results)
        except OSError as error:
            raise KernelError(f"cannot write {options.output}: {error}") from error
    if options.expect:
        error = largest_error(results, list(_load(options.expect).values()))
        print(f"largest error {error:.3g}, relative to the largest result (allowed {options.tolerance:g})")
        if not error <= options.tolerance:
            print("xfuse: error: the results differ from the expected ones", file=sys.stderr)
            return 1
    return 0


def _load(path: str | Path) -> dict[str, Any]:
    try:
        archive: Any = np.load(path, allow_pickle=False)
        if isinstance(archive, np.ndarray):
            raise KernelError(f"{path} holds a single array; expected an .npz, as numpy.savez writes it")
        with archive:
            return {name: archive[name] for name in archive.files}
    except (OSError, ValueError, EOFError, BadZipFile) as error:
        raise KernelError(f"cannot read arrays from {path}: {error}") from error


def load_arrays(path: str | Path, program: CompiledProgram) -> list[Any]:
    """The arrays of an .npz as a program's arguments, in order; bf16 is stored as its bits, uint16 or void."""
    arrays = list(_load(path).values())
    if len(arrays) != len(program.argument_types):
        raise KernelError(f"{path} holds {len(arrays)} arrays, @{program.entry} takes {len(program.argument_types)}")
    return [
        array.view(numpy_dtype("bf16"))
        if element_name(type_) == "bf16" and array.dtype.str[1:] in ("u2", "V2")
        else array
        for array, type_ in zip(arrays, program.argument_types, strict=True)
    ]


def largest_error(results: Sequence[Any], expected: Sequence[Any]) -> float:
    """The largest difference, relative to the largest finite expected value of the same result.

    Infinite if shapes differ, or if one is NaN or infinite where the other is not the same. ``expected`` may hold more
    arrays than there are results; bf16 may be given as its bits, integers without their sign.
    """
    if len(expected) < len(results):
        raise KernelError(f"{len(expected)} expected arrays for {len(results)} results")
    worst = 0.0
    for result, wanted in zip(results, expected, strict=False):
        array, other = np.asarray(result), np.asarray(wanted)
        if array.shape != other.shape:
            return float("inf")
        by_bits = array.dtype.name == _BF16 if other.dtype.str[1:] in ("u2", "V2") else array.dtype.kind == "i"
        if by_bits and other.dtype.kind in "uV" and array.dtype.itemsize == other.dtype.itemsize:
            other = other.view(array.dtype)
        a, b = array.astype(np.float64), other.astype(np.float64)
        with np.errstate(all="ignore"):
            difference = np.where((a == b) | (np.isnan(a) & np.isnan(b)), 0.0, np.abs(a - b))
        if not np.isfinite(difference).all():
            return float("inf")
        finite = np.abs(b[np.isfinite(b)])
        scale = float(finite.max()) if finite.size and finite.max() > 0 else 1.0
        worst = max(worst, float(difference.max()) / scale if difference.size else 0.0)
    return worst


def _passes(options: argparse.Namespace) -> int:
    for name, factory in XFUSE_UNIVERSE.all_passes.items():
        kind = factory()
        print(f"{name}\n  {inspect.cleandoc(kind.__doc__ or '').splitlines()[0]}")
        for option in pass_options(kind):
            default = f" (default {option.default})" if option.default else ""
            print(f"    {option.name}: {option.values}{default}\n        {option.text}")
    return 0


def _library(options: argparse.Namespace) -> int:
    session: Session = current_session()
    for family in session.registry.families():
        recipes = [recipe for recipe in session.registry.entries() if recipe.family == family]
        core = "" if recipes[0].is_scalar else f" {signature_of(recipes[0]).text}"
        print(f"{family}{core}: {', '.join(f'@{recipe.name}' for recipe in recipes)}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
