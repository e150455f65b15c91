"""Formulas on flat arrays: one of several functions, and each elementary function for itself."""

import functools
from functools import partial
from typing import Any

import numpy as np

import poinsot.fuse as fuse
from case import Case, Contender, Work
from models import HeyokaNumPy

MANY, SOME = 10_000_000, 20_000  # SOME: argument and result fit the second-level cache
Interval = tuple[float, float]


@functools.cache
def numbers(count: int, interval: Interval, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).uniform(*interval, count)


many_numbers = partial(numbers, MANY, (-4.0, 4.0))


def ulps(result: Any, expected: Any) -> float:
    """The greatest error in units in the last place of a float64; the expected values are more precise."""
    return float(np.max(np.abs(result - expected) / np.spacing(np.abs(expected).astype(float))))


def formula(x: Any, np: Any = np) -> Any:
    return np.exp(-x * x) * np.sin(3.0 * x) + np.sqrt(1.0 + x * x)


def fused(out: bool) -> Work:
    return partial(fuse.kernel("()->()")(lambda x: formula(x)), many_numbers(), out=np.empty(MANY) if out else None)


def numpy_new() -> Work:
    return lambda: formula(many_numbers())


def numpy_out() -> Work:
    x, a, b, out = many_numbers(), *np.empty((3, MANY))

    def work() -> np.ndarray:
        np.multiply(x, x, out=a)
        np.exp(np.negative(a, out=out), out=out)
        np.sin(np.multiply(x, 3.0, out=b), out=b)
        np.multiply(out, b, out=out)
        np.sqrt(np.add(a, 1.0, out=a), out=a)
        return np.add(out, a, out=out)

    return work


def numexpr(out: bool) -> Work:
    import numexpr

    numexpr.set_num_threads(1)
    text, names = "exp(-x * x) * sin(3.0 * x) + sqrt(1.0 + x * x)", {"x": many_numbers()}
    return partial(numexpr.evaluate, text, names, out=np.empty(MANY) if out else None)


def heyoka(out: bool) -> Work:
    import heyoka as hy

    hy.llvm_state.set_diskcache_enabled(False)
    x = hy.expression("x")
    function = hy.cfunc([formula(x, HeyokaNumPy())], [x])
    arguments = (many_numbers()[None], *([np.empty((1, MANY))] if out else []))
    return lambda: function(*arguments)[0]


def jax() -> Work:
    import jax

    compiled, x = jax.jit(partial(formula, np=jax.numpy)), jax.device_put(many_numbers())
    return lambda: np.asarray(compiled(x).block_until_ready())


INTERVALS: dict[str, tuple[Interval, ...]] = {
    "sqrt": ((0, 10),), "cbrt": ((-100, 100),), "hypot": ((-1, 1), (-1, 1)),
    "sin": ((-10, 10),), "cos": ((-10, 10),), "tan": ((-1.5, 1.5),),
    "arcsin": ((-1, 1),), "arccos": ((-1, 1),), "arctan": ((-10, 10),), "arctan2": ((-1, 1), (-1, 1)),
    "exp": ((-20, 20),), "exp2": ((-20, 20),), "expm1": ((-2, 2),), "power": ((0.1, 10), (-5, 5)),
    "log": ((1e-3, 1e3),), "log2": ((1e-3, 1e3),), "log10": ((1e-3, 1e3),), "log1p": ((-0.9, 9),),
    "sinh": ((-5, 5),), "cosh": ((-5, 5),), "tanh": ((-5, 5),),
    "arcsinh": ((-10, 10),), "arccosh": ((1, 100),), "arctanh": ((-0.99, 0.99),),
}  # fmt: skip


def elementary(name: str, intervals: tuple[Interval, ...], label: str = "") -> Case:
    function = getattr(np, name)

    def arguments() -> list[np.ndarray]:
        return [numbers(SOME, interval, seed) for seed, interval in enumerate(intervals)]

    def fused() -> Work:
        signature = ",".join(["()"] * len(intervals)) + "->()"
        kernel = fuse.kernel(signature)(lambda *args: function(*args))
        return partial(kernel, *arguments(), out=np.empty(SOME))

    return Case(
        name=f"elementary-{label or name}",
        what=f"np.{name} of {SOME} in {' and '.join(map(str, intervals))}, out= given; per element, error in ulp",
        items=SOME,
        contenders=(
            Contender("poinsot", fused),
            Contender("NumPy", lambda: partial(function, *arguments(), out=np.empty(SOME)), "", "numpy"),
        ),
        expected=lambda: function(*(x.astype(np.longdouble) for x in arguments())),
        error=ulps,
        tolerance=4.0,
    )


CASES = (
    Case(
        name="formula",
        what="exp(-x*x) * sin(3*x) + sqrt(1 + x*x) on 10^7 float64, a new array each time; per element, error in ulp",
        items=MANY,
        contenders=(
            Contender("poinsot", partial(fused, False)),
            Contender("NumPy", numpy_new, ">= 5 x", "numpy"),
            Contender("numexpr", partial(numexpr, False), "", "numexpr"),
            Contender("heyoka", partial(heyoka, False), "", "heyoka", apart=True),
            Contender("JAX", jax, "", "jax", apart=True),
        ),
        expected=lambda: formula(many_numbers().astype(np.longdouble)),
        error=ulps,
        tolerance=16.0,  # the two terms cancel in part
    ),
    Case(
        name="formula-out",
        what="The same, written into memory that is there already; per element, error in ulp",
        items=MANY,
        contenders=(
            Contender("poinsot", partial(fused, True)),
            Contender("NumPy, out= in every call", numpy_out, ">= 5 x", "numpy"),
            Contender("numexpr", partial(numexpr, True), "", "numexpr"),
            Contender("heyoka", partial(heyoka, True), "", "heyoka", apart=True),
        ),
        expected=lambda: formula(many_numbers().astype(np.longdouble)),
        error=ulps,
        tolerance=16.0,  # the two terms cancel in part
    ),
    *(elementary(name, intervals) for name, intervals in INTERVALS.items()),
    elementary("sin", ((-1e9, 1e9),), "sin-of-large"),
)
