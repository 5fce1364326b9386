"""The table of primitives: everything xfuse knows of the scalar ops of `arith` and `math`, one row an op.

Type rules leave relations between widths (``extf`` widens, ``bitcast`` keeps) to the verifier of the op.
"""

from __future__ import annotations

import numpy as np

from xfuse.primitives import numpy_casts as casts
from xfuse.primitives import numpy_floats as floats
from xfuse.primitives import numpy_integers as integers
from xfuse.primitives.llvm_emissions import EMISSIONS
from xfuse.primitives.primitive import NumPyEvaluation, Primitive, Signature, TypeRule


def _row(
    name: str,
    types: str,
    numpy: NumPyEvaluation,
    *,
    commutative: bool = False,
    speculatable: bool = True,
    ulp: float = 0.0,
    cost: float = 1.0,
    signedness: str | None = None,
) -> Primitive:
    return Primitive(
        name, TypeRule(types), numpy, EMISSIONS.get(name), commutative, speculatable, ulp, cost, signedness
    )


_INTEGER_ARITHMETIC = (
    _row("arith.addi", "I,I->I", integers.addi, commutative=True),
    _row("arith.subi", "I,I->I", integers.subi),
    _row("arith.muli", "I,I->I", integers.muli, commutative=True),
    _row("arith.addui_extended", "I,I->I,B", integers.addui_extended, commutative=True, cost=2, signedness="unsigned"),
    _row("arith.mulsi_extended", "I,I->I,I", integers.mulsi_extended, commutative=True, cost=3, signedness="signed"),
    _row("arith.mului_extended", "I,I->I,I", integers.mului_extended, commutative=True, cost=3, signedness="unsigned"),
    _row("arith.divsi", "I,I->I", integers.divsi, speculatable=False, cost=5, signedness="signed"),
    _row("arith.divui", "I,I->I", integers.divui, speculatable=False, cost=5, signedness="unsigned"),
    _row("arith.floordivsi", "I,I->I", integers.floordivsi, speculatable=False, cost=6, signedness="signed"),
    _row("arith.ceildivsi", "I,I->I", integers.ceildivsi, speculatable=False, cost=6, signedness="signed"),
    _row("arith.ceildivui", "I,I->I", integers.ceildivui, speculatable=False, cost=6, signedness="unsigned"),
    _row("arith.remsi", "I,I->I", integers.remsi, speculatable=False, cost=5, signedness="signed"),
    _row("arith.remui", "I,I->I", integers.remui, speculatable=False, cost=5, signedness="unsigned"),
    _row("arith.minsi", "I,I->I", integers.minsi, commutative=True, signedness="signed"),
    _row("arith.maxsi", "I,I->I", integers.maxsi, commutative=True, signedness="signed"),
    _row("arith.minui", "I,I->I", integers.minui, commutative=True, signedness="unsigned"),
    _row("arith.maxui", "I,I->I", integers.maxui, commutative=True, signedness="unsigned"),
    _row("math.absi", "I->I", integers.absi, signedness="signed"),
    _row("math.ipowi", "I,I->I", integers.ipowi, cost=25, signedness="signed"),
)

_BITS = (
    _row("arith.andi", "I,I->I", np.bitwise_and, commutative=True),
    _row("arith.ori", "I,I->I", np.bitwise_or, commutative=True),
    _row("arith.xori", "I,I->I", np.bitwise_xor, commutative=True),
    _row("arith.shli", "I,I->I", integers.shli),
    _row("arith.shrsi", "I,I->I", integers.shrsi, signedness="signed"),
    _row("arith.shrui", "I,I->I", integers.shrui, signedness="unsigned"),
    _row("math.ctlz", "I->I", integers.ctlz, cost=2),
    _row("math.cttz", "I->I", integers.cttz, cost=2),
    _row("math.ctpop", "I->I", integers.ctpop, cost=2),
)

_FLOAT_ARITHMETIC = (
    _row("arith.addf", "F,F->F", np.add, commutative=True),
    _row("arith.subf", "F,F->F", np.subtract),
    _row("arith.mulf", "F,F->F", np.multiply, commutative=True),
    _row("arith.divf", "F,F->F", np.divide, cost=5),
    _row("arith.negf", "F->F", np.negative),
    _row("arith.maximumf", "F,F->F", floats.maximumf, commutative=True, cost=2),
    _row("arith.minimumf", "F,F->F", floats.minimumf, commutative=True, cost=2),
    _row("arith.maxnumf", "F,F->F", floats.maxnumf, commutative=True, cost=2),
    _row("arith.minnumf", "F,F->F", floats.minnumf, commutative=True, cost=2),
    _row("math.absf", "F->F", np.absolute),
    _row("math.copysign", "F,F->F", np.copysign),
    _row("math.ceil", "F->F", np.ceil),
    _row("math.floor", "F->F", np.floor),
    _row("math.trunc", "F->F", np.trunc),
    _row("math.round", "F->F", floats.round_, cost=3),
    _row("math.roundeven", "F->F", np.rint),
    _row("math.sqrt", "F->F", np.sqrt, cost=6),
    _row("math.rsqrt", "F->F", floats.rsqrt, ulp=2, cost=10),
    _row("math.fma", "F,F,F->F", floats.fma, ulp=1),
)

_CHOICES = (
    _row("arith.cmpf", "F,F->B", floats.cmpf),
    _row("arith.cmpi", "I,I->B", integers.cmpi),
    _row("arith.select", "B,X,X->X", casts.select),
)

_CASTS = (
    _row("arith.bitcast", "X->Y", casts.bitcast),
    _row("arith.extf", "F->G", casts.extf),
    _row("arith.truncf", "F->G", casts.truncf),
    _row("arith.fptosi", "F->N", casts.fptosi, cost=2),
    _row("arith.fptoui", "F->N", casts.fptoui, cost=2),
    _row("arith.sitofp", "N->F", casts.sitofp, signedness="signed"),
    _row("arith.uitofp", "N->F", casts.uitofp, signedness="unsigned"),
    _row("arith.extsi", "N->I", casts.extsi, signedness="signed"),
    _row("arith.extui", "N->I", casts.extui, signedness="unsigned"),
    _row("arith.trunci", "N->I", casts.trunci),
    _row("arith.index_cast", "I->J", casts.index_cast, signedness="signed"),
)

_TRANSCENDENTAL = (
    _row("math.exp", "F->F", np.exp, ulp=4, cost=10),
    _row("math.exp2", "F->F", np.exp2, ulp=4, cost=10),
    _row("math.expm1", "F->F", np.expm1, ulp=4, cost=15),
    _row("math.log", "F->F", np.log, ulp=4, cost=12),
    _row("math.log2", "F->F", np.log2, ulp=4, cost=12),
    _row("math.log10", "F->F", np.log10, ulp=4, cost=12),
    _row("math.log1p", "F->F", np.log1p, ulp=4, cost=15),
    _row("math.powf", "F,F->F", np.power, ulp=4, cost=40),
    _row("math.fpowi", "F,I->F", floats.fpowi, ulp=4, cost=25, signedness="signed"),
    _row("math.cbrt", "F->F", np.cbrt, ulp=4, cost=15),
    _row("math.sin", "F->F", np.sin, ulp=4, cost=15),
    _row("math.cos", "F->F", np.cos, ulp=4, cost=15),
    _row("math.tan", "F->F", np.tan, ulp=4, cost=20),
    _row("math.asin", "F->F", np.arcsin, ulp=4, cost=15),
    _row("math.acos", "F->F", np.arccos, ulp=4, cost=15),
    _row("math.atan", "F->F", np.arctan, ulp=4, cost=15),
    _row("math.atan2", "F,F->F", np.arctan2, ulp=4, cost=25),
    _row("math.sinh", "F->F", np.sinh, ulp=4, cost=20),
    _row("math.cosh", "F->F", np.cosh, ulp=4, cost=15),
    _row("math.tanh", "F->F", np.tanh, ulp=4, cost=15),
    _row("math.asinh", "F->F", np.arcsinh, ulp=4, cost=20),
    _row("math.acosh", "F->F", np.arccosh, ulp=4, cost=20),
    _row("math.atanh", "F->F", np.arctanh, ulp=4, cost=20),
    _row("math.erf", "F->F", floats.erf, ulp=4, cost=20),
)

PRIMITIVES: dict[str, Primitive] = {
    row.name: row for row in (*_INTEGER_ARITHMETIC, *_BITS, *_FLOAT_ARITHMETIC, *_CHOICES, *_CASTS, *_TRANSCENDENTAL)
}
"""Every scalar op of xDSL's arith and math dialects by name, but for ``arith.constant``."""


def signedness(primitive: Primitive, signature: Signature) -> str | None:
    """How this use of a primitive reads integers: "signed", "unsigned", or None where it does not matter.

    For ``arith.cmpi`` the predicate says it.
    """
    if primitive.name == "arith.cmpi":
        return {"s": "signed", "u": "unsigned"}.get(signature.attributes["predicate"][0])
    return primitive.signedness
