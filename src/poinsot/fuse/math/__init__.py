"""Elementary functions for vectors of any width, in float64 and float32: branch-free, and alike in every lane.

Each function is written once for an abstract `m` (see `arithmetic.Arithmetic`) whose values are vectors; the compiler
supplies it (`machine.Machine`) and gets straight-line code. All functions follow one scheme: reduce the argument with
exact steps, evaluate a minimax polynomial (`coefficients`, fitted by `tools/fit_elementary.py`), and reconstruct the
result, carrying the rounding error of the leading terms as a second number where it would show. Rare arguments (huge
angles, subnormal numbers, results out of range) take the slow path, `m.slow_path`, which is evaluated only if some lane
needs it and selected lane by lane, so that no lane's result depends on its neighbours. Infinities, NaN and signed zeros
come out as in NumPy.

Errors and costs are stated in the modules: all results are within 2 ulp of the exact value, most within 1.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from poinsot.fuse.math.arithmetic import Arithmetic
from poinsot.fuse.math.exponential import cosh, exp, exp2, expm1, sinh, tanh
from poinsot.fuse.math.inverse import arccos, arcsin, arctan, arctan2
from poinsot.fuse.math.logarithm import arccosh, arcsinh, arctanh, log, log1p, log2, log10, logaddexp
from poinsot.fuse.math.neighbours import spacing
from poinsot.fuse.math.powers import cbrt, hypot, power
from poinsot.fuse.math.trigonometric import cos, sin, sincos, tan

Elementary = Callable[..., Any]  # of an `Arithmetic` and one or more of its values

FUNCTIONS: dict[str, Elementary] = {
    "arccos": arccos,
    "arccosh": arccosh,
    "arcsin": arcsin,
    "arcsinh": arcsinh,
    "arctan": arctan,
    "arctan2": arctan2,
    "arctanh": arctanh,
    "cbrt": cbrt,
    "cos": cos,
    "cosh": cosh,
    "exp": exp,
    "exp2": exp2,
    "expm1": expm1,
    "hypot": hypot,
    "log": log,
    "log10": log10,
    "log1p": log1p,
    "log2": log2,
    "logaddexp": logaddexp,
    "power": power,
    "sin": sin,
    "sinh": sinh,
    "spacing": spacing,
    "tan": tan,
    "tanh": tanh,
}
"""Each function by its name in the graph; `sincos`, which gives two results, is apart."""

__all__ = ["FUNCTIONS", "Arithmetic", "sincos"]
