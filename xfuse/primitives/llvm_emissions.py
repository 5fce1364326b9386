"""The LLVM emission of every scalar op of xDSL's arith and math dialects but ``arith.constant``, by op name."""

from __future__ import annotations

from types import ModuleType

from xfuse.primitives import llvm_casts, llvm_functions, llvm_math
from xfuse.primitives.primitive import LLVMEmission


def _rows(dialect: str, module: ModuleType, names: str) -> dict[str, LLVMEmission]:
    return {f"{dialect}.{name}": getattr(module, name) for name in names.split()}


EMISSIONS: dict[str, LLVMEmission] = {
    **_rows(
        "arith",
        llvm_functions,
        "addi addui_extended subi muli mului_extended mulsi_extended divui divsi floordivsi ceildivsi ceildivui remui "
        "remsi minsi maxsi minui maxui addf subf mulf divf negf cmpi cmpf select andi ori xori shli shrui shrsi "
        "minimumf minnumf maximumf maxnumf",
    ),
    **_rows(
        "arith",
        llvm_casts,
        "bitcast index_cast fptosi fptoui sitofp uitofp extf truncf trunci extsi extui",
    ),
    **_rows(
        "math",
        llvm_functions,
        "absf absi ceil copysign ctlz cttz ctpop floor fma ipowi roundeven round rsqrt sqrt trunc",
    ),
    **_rows(
        "math",
        llvm_math,
        "acos acosh asin asinh atan2 atan atanh cbrt cos cosh erf exp2 expm1 exp fpowi log10 log1p log2 log powf sin "
        "sinh tan tanh",
    ),
}
