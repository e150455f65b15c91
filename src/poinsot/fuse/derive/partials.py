"""Derivatives of the operations: one row each, the partial derivative with respect to every argument.

A rule takes the arguments and the result. An operation without a row is locally constant (comparisons, rounding, bits).
"""

import math
from collections import ChainMap
from collections.abc import Callable, Mapping

from poinsot.fuse.graph.build import build
from poinsot.fuse.graph.nodes import Value

Partials = tuple[Value, ...]
Rule = Callable[..., Partials]


def add(a: Value, b: Value) -> Value:
    return build("add", a, b)


def sub(a: Value, b: Value) -> Value:
    return build("sub", a, b)


def mul(a: Value, b: Value) -> Value:
    return build("mul", a, b)


def div(a: Value, b: Value) -> Value:
    return build("div", a, b)


def _first_wins(a: Value, b: Value, strictly: Value) -> Partials:
    """minimum and maximum: 1 for the chosen argument, 0 for the other, and a half each where they are equal."""
    share = build("where", build("equal", a, b), 0.5, build("where", strictly, 1.0, 0.0))
    return share, sub(1.0, share)


def _power(a: Value, b: Value, r: Value) -> Partials:
    positive = build("less", 0.0, a)
    logarithm = build("log", build("where", positive, a, 1.0))
    return mul(b, build("power", a, sub(b, 1.0))), build("where", positive, mul(r, logarithm), 0.0)


def _arctan2(y: Value, x: Value, r: Value) -> Partials:
    inverse = div(1.0, add(mul(x, x), mul(y, y)))
    return mul(x, inverse), build("neg", mul(y, inverse))


def _one_minus_square(a: Value) -> Value:
    """1 - a^2 without cancellation near 1."""
    return mul(sub(1.0, a), add(1.0, a))


# Operations whose partial derivatives are taken as finite.
BOUNDED: dict[str, Rule] = {
    "add": lambda a, b, r: (1.0, 1.0),
    "sub": lambda a, b, r: (1.0, -1.0),
    "neg": lambda a, r: (-1.0,),
    "fma": lambda a, b, c, r: (b, a, 1.0),
    "abs": lambda a, r: (build("copysign", 1.0, a),),
    "copysign": lambda a, b, r: (mul(build("copysign", 1.0, a), build("copysign", 1.0, b)), 0.0),
    "minimum": lambda a, b, r: _first_wins(a, b, build("less", a, b)),
    "maximum": lambda a, b, r: _first_wins(a, b, build("less", b, a)),
    "sin": lambda a, r: (build("cos", a),),
    "cos": lambda a, r: (build("neg", build("sin", a)),),
    "arctan": lambda a, r: (div(1.0, add(1.0, mul(a, a))),),
    "tanh": lambda a, r: (_one_minus_square(r),),
    "arcsinh": lambda a, r: (div(1.0, build("sqrt", add(1.0, mul(a, a)))),),
    "to_float": lambda a, r: (0.0,),
}

# Operations whose partial derivatives can be infinite, overflow or not be defined. A zero adjoint, which comes out of a
# branch that is not taken, stays zero there.
SINGULAR: dict[str, Rule] = {
    "mul": lambda a, b, r: (b, a),
    "div": lambda a, b, r: (div(1.0, b), build("neg", div(r, b))),
    "sqrt": lambda a, r: (div(0.5, r),),
    "cbrt": lambda a, r: (div(1.0, mul(3.0, mul(r, r))),),
    "exp": lambda a, r: (r,),
    "exp2": lambda a, r: (mul(math.log(2.0), r),),
    "expm1": lambda a, r: (add(r, 1.0),),
    "log": lambda a, r: (div(1.0, a),),
    "log2": lambda a, r: (div(1.0 / math.log(2.0), a),),
    "log10": lambda a, r: (div(1.0 / math.log(10.0), a),),
    "log1p": lambda a, r: (div(1.0, add(1.0, a)),),
    "tan": lambda a, r: (add(1.0, mul(r, r)),),
    "arcsin": lambda a, r: (div(1.0, build("sqrt", _one_minus_square(a))),),
    "arccos": lambda a, r: (div(-1.0, build("sqrt", _one_minus_square(a))),),
    "arctan2": _arctan2,
    "sinh": lambda a, r: (build("cosh", a),),
    "cosh": lambda a, r: (build("sinh", a),),
    "arccosh": lambda a, r: (div(1.0, build("sqrt", mul(sub(a, 1.0), add(a, 1.0)))),),
    "arctanh": lambda a, r: (div(1.0, _one_minus_square(a)),),
    "power": _power,
    "hypot": lambda a, b, r: (div(a, r), div(b, r)),
    "logaddexp": lambda a, b, r: (build("exp", sub(a, r)), build("exp", sub(b, r))),
}

PARTIALS: Mapping[str, Rule] = ChainMap(BOUNDED, SINGULAR)
