"""Random NumPy programs: compiled, interpreted and plain NumPy agree; forward, reverse and differences too.

A program takes two vectors of three numbers. It is a list of steps, each a NumPy function of earlier values. Programs
that NumPy itself finds ill-conditioned (a tiny change of the arguments changes the result much) say nothing, and are
left out; so are results that are not finite. Where a step jumps (`rint`, `floor`, `remainder`), the last digit of what
goes into it decides, and NumPy's last digit is no better than ours: there a result has to be one of those that NumPy
gives when every step is rounded otherwise (`rounded_otherwise`).
"""

from collections.abc import Callable
from functools import reduce
from typing import Any

import numpy as np

import poinsot as pt
from trial import Finding, require

Array = np.ndarray
SMOOTH: dict[str, tuple[int, Callable[..., Any]]] = {
    "add": (2, lambda a, b: a + b),
    "sub": (2, lambda a, b: a - b),
    "mul": (2, lambda a, b: a * b),
    "div": (2, lambda a, b: a / (1.5 + b * b)),
    "cross": (2, np.cross),
    "outer": (2, lambda a, b: np.outer(a, b) @ a),
    "dot": (2, lambda a, b: (a @ b) * np.ones(3)),
    "einsum": (2, lambda a, b: np.einsum("i,j->j", a, b)),
    "solve": (2, lambda a, b: np.linalg.solve(np.outer(a, a) / (1.0 + 1e-4 * (a @ a)) + 2.0 * np.eye(3), b)),  # to 1e5
    "norm": (1, lambda a: a / np.sqrt(1.0 + a @ a)),
    "sin": (1, np.sin),
    "cos": (1, np.cos),
    "tanh": (1, np.tanh),
    "exp": (1, lambda a: np.exp(-a * a)),
    "expm1": (1, lambda a: np.expm1(np.tanh(a))),
    "log1p": (1, lambda a: np.log1p(a * a)),
    "sqrt": (1, lambda a: np.sqrt(0.1 + a * a)),
    "arctan2": (2, lambda a, b: np.arctan2(a, 2.0 + b * b)),
    "hypot": (2, lambda a, b: np.hypot(a, 1.0 + b * b)),
    "power": (1, lambda a: (1.0 + a * a) ** 0.3),
    "roll": (1, lambda a: np.roll(a, 1)),
    "cumsum": (1, np.cumsum),
    "stack": (2, lambda a, b: np.stack([a, b]).sum(axis=0)),
    "loop": (2, lambda a, b: pt.fori_loop(3, lambda i, c: 0.5 * c + np.sin(b), a)),
    "indexed": (1, lambda a: pt.fori_loop(3, lambda i, c: c + a[i], np.zeros(3))),
}
ROUGH: dict[str, tuple[int, Callable[..., Any]]] = {
    "where": (2, lambda a, b: np.where(a < b, a, 2 * b)),
    "minimum": (2, np.minimum),
    "maximum": (2, np.maximum),
    "abs": (1, np.abs),
    "clip": (1, lambda a: np.clip(a, -0.5, 0.7)),
    "floor": (1, lambda a: a - np.floor(a)),
    "remainder": (2, lambda a, b: np.remainder(a, 0.5 + np.abs(b))),
    "sign": (1, lambda a: np.sign(a) * a),
    "copysign": (2, np.copysign),
    "max": (1, lambda a: np.max(a) - a),
    "interp": (1, lambda a: np.interp(a, [-1.0, 0.0, 2.0], [0.3, 1.0, -1.0])),
    "rint": (1, lambda a: np.rint(a) - a),
    "heaviside": (1, lambda a: np.heaviside(a, 0.5) * a),
}
Step = tuple[str, tuple[int, ...]]
LAST_DIGITS = 4 * 2.0**-53  # relative: no step is further off, for arguments that are no further off
SAMPLES = 64


def random_program(rng: np.random.Generator, table: dict[str, Any]) -> list[Step]:
    names = list(table)
    steps: list[Step] = []
    for k in range(int(rng.integers(1, 9))):
        name = names[rng.integers(len(names))]
        steps.append((name, tuple(int(x) for x in rng.integers(k + 2, size=table[name][0]))))
    return steps


def evaluate(program: list[Step], table: dict[str, Any], a: Any, b: Any) -> Any:
    values = [a, b]
    for name, places in program:
        values.append(table[name][1](*(values[k] for k in places)))
    return values[-1]


def rounded_otherwise(program: list[Step], table: dict[str, Any], a: Array, b: Array) -> Array:
    """The results of a program for one pair of vectors, (SAMPLES, 3), with every step rounded at random.

    An algorithm that is stable gives nearly the right result for nearly the right arguments (Higham, Accuracy and
    Stability of Numerical Algorithms, 1.5). So each step gets arguments, and then a result, whose numbers are moved by
    `LAST_DIGITS` at most, each at random (Monte Carlo arithmetic: Parker, Pierce and Eggert, 2000).
    """
    rng = np.random.default_rng(0)

    def moved(x: Any) -> Array:
        return np.asarray(x) * (1.0 + LAST_DIGITS * rng.uniform(-1.0, 1.0, np.shape(x)))

    def step(function: Callable[..., Any]) -> Callable[..., Any]:
        return lambda *args: moved(function(*map(moved, args)))

    shaken = {name: (count, step(function)) for name, (count, function) in table.items()}
    with np.errstate(all="ignore"):
        return np.stack([evaluate(program, shaken, a, b) for _ in range(SAMPLES)])


def one_by_one(function: Callable[..., Any], *args: Array) -> Array:
    return np.stack([function(*row) for row in zip(*args, strict=True)])


def trial(rng: np.random.Generator) -> None:
    if rng.random() < 0.6:
        values_agree(rng)
    else:
        derivatives_agree(rng)


def values_agree(rng: np.random.Generator) -> None:
    table = SMOOTH | ROUGH
    program = random_program(rng, table)
    n = int(rng.integers(1, 40))
    a, b = rng.normal(size=(2, n, 3)) * 10.0 ** rng.uniform(-2, 1)
    kernel = pt.kernel("(3),(3)->(3)")(lambda a, b: evaluate(program, table, a, b))
    plain = lambda a, b: one_by_one(lambda *x: evaluate(program, table, *x), a, b)  # noqa: E731
    with np.errstate(all="ignore"):
        wanted = plain(a, b)
        shaken = [np.abs(plain(a * (1 + e), b * (1 - e)) - wanted) for e in (1e-11, -1e-11)]
        sensitive = reduce(np.maximum, shaken)
    fine = np.isfinite(wanted) & np.isfinite(sensitive)
    allowed = 1e-12 * (1.0 + np.abs(wanted)) + 3.0 * sensitive
    for backend in ("llvm", "numpy"):
        result = kernel.to(backend)(a, b)
        for i, j in np.argwhere(fine & ~(np.abs(result - wanted) <= allowed)):
            possible = rounded_otherwise(program, table, a[i], b[i])[:, j]
            if not np.any(np.abs(result[i, j] - possible) <= allowed[i, j]):
                values = f"{result[i, j]!r} instead of {wanted[i, j]!r}"
                raise Finding(f"{backend}: {program}: {values} at {a[i]}, {b[i]}")
    alone = np.stack([kernel(x, y) for x, y in zip(a, b, strict=True)])
    require(np.array_equal(alone, kernel(a, b), equal_nan=True), f"{program}: a batch changes bits")


def derivatives_agree(rng: np.random.Generator) -> None:
    program = random_program(rng, SMOOTH)
    kernel = pt.kernel("(3),(3)->(3)")(lambda a, b: evaluate(program, SMOOTH, a, b))
    a, b, da, db, w = rng.normal(size=(5, 7, 3))
    with np.errstate(all="ignore"):
        jvp = pt.jvp(kernel, wrt=(0, 1))
        value, forward = jvp(a, b, da, db)
        noise = max(np.max(np.abs(jvp(a * (1 + e), b * (1 - e), da, db)[1] - forward)) for e in (1e-15, -1e-15, 1e-14))
        _, back_a, back_b = pt.vjp(kernel, wrt=(0, 1))(a, b, w)
        J_a, J_b = pt.jacobian(kernel, wrt=0)(a, b), pt.jacobian(kernel, wrt=1)(a, b)
        h = 1e-5
        slope = (kernel(a + h * da, b + h * db) - kernel(a - h * da, b - h * db)) / (2 * h)
        wide = (kernel(a + 2 * h * da, b + 2 * h * db) - kernel(a - 2 * h * da, b - 2 * h * db)) / (4 * h)
    if not np.all(np.isfinite(value)) or np.max(np.abs(value), initial=0) > 1e6:
        return
    scale = 1.0 + np.max(np.abs(forward)) + np.max(np.abs(value)) + 1e11 * noise  # of rounding, in what cancels
    same_values(program, kernel, (a, b), (da, db), w)
    from_jacobian = np.einsum("nij,nj->ni", J_a, da) + np.einsum("nij,nj->ni", J_b, db)
    require(np.max(np.abs(from_jacobian - forward)) < 1e-10 * scale, f"{program}: Jacobian and jvp differ")
    inner, outer = np.sum(forward * w, -1), np.sum(back_a * da, -1) + np.sum(back_b * db, -1)
    require(np.max(np.abs(inner - outer)) < 1e-9 * scale, f"{program}: jvp and vjp are not adjoint")
    trusted = np.abs(wide - slope) < 1e-5 * scale
    require(bool(np.all((np.abs(slope - forward) < 1e-4 * scale) | ~trusted)), f"{program}: not the slope")


def same_values(program: list[Step], kernel: Any, x: tuple[Array, Array], dx: tuple[Array, Array], w: Array) -> None:
    """A kernel and its derivatives give the same value: to the bit where products are not fused into sums, which the
    reference back end never does; else within what the rounding of every step explains."""
    jvp, vjp = pt.jvp(kernel, wrt=(0, 1)), pt.vjp(kernel, wrt=(0, 1))

    def values(backend: str) -> list[Array]:
        return [kernel.to(backend)(*x), jvp.to(backend)(*x, *dx)[0], vjp.to(backend)(*x, w)[0]]

    with np.errstate(all="ignore"):
        plain, *others = values("numpy")
        equal = all(np.array_equal(plain, other, equal_nan=True) for other in others)
        require(equal, f"{program}: the values of kernel, jvp and vjp differ, though nothing is fused")
        plain, *others = values("llvm")
    differs = np.any([plain != other for other in others], axis=0)
    for i in np.flatnonzero(differs.any(axis=-1)):
        spread = np.ptp(rounded_otherwise(program, SMOOTH, x[0][i], x[1][i]), axis=0)
        close = all(np.all(np.abs(other[i] - plain[i]) <= spread) for other in others)
        require(close, f"{program}: kernel, jvp and vjp give different values at {x[0][i]}, {x[1][i]}")
