"""Steps of ordinary differential equations y' = f(t, y), in vector spaces and on groups.

A state y is an array, or a tuple, dict or dataclass of arrays; so is its derivative. A scheme is a table of numbers
(`Tableau`) or a short function (t, y, h) -> y at t + h. All of it is plain NumPy that can be traced.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, TypeAlias

import numpy as np

from poinsot._types import Scalar
from poinsot.fuse import fori_loop
from poinsot.fuse.trace.pytree import flatten

Derivative: TypeAlias = Callable[[Any, Any], Any]  # (t, y) -> y'
Move: TypeAlias = Callable[[Any, Any], Any]  # (y, u) -> y moved by the increment u


@dataclass(frozen=True)
class Tableau:
    """An explicit Runge-Kutta method: its order, the rows of a below the diagonal, and the weights b."""

    order: int
    a: tuple[tuple[float, ...], ...]
    b: tuple[float, ...]

    @property
    def c(self) -> tuple[float, ...]:
        """When each stage is evaluated, in steps: the sums of the rows."""
        return tuple(sum(row) for row in self.a)

    @property
    def reach(self) -> tuple[float, ...] | None:
        """How far, in steps, each stage leads on to the next one, the last one nowhere; None if a stage starts from
        others than the one before."""
        if any(any(row[:-1]) for row in self.a):
            return None
        return (*(row[-1] for row in self.a[1:]), 0.0)


EULER = Tableau(1, ((),), (1.0,))
MIDPOINT = Tableau(2, ((), (1 / 2,)), (0.0, 1.0))
HEUN3 = Tableau(3, ((), (1 / 3,), (0.0, 2 / 3)), (1 / 4, 0.0, 3 / 4))
RK4 = Tableau(4, ((), (1 / 2,), (0.0, 1 / 2), (0.0, 0.0, 1.0)), (1 / 6, 1 / 3, 1 / 3, 1 / 6))


def combine(base: Any, terms: Sequence[tuple[Any, Any]]) -> Any:
    """base + sum(factor * increment), array by array; terms with the factor 0 are left out. `base` None counts as 0."""
    terms = [(factor, flatten(term)) for factor, term in terms if not (isinstance(factor, float) and factor == 0.0)]
    if base is None:
        first, (leaves, rebuild) = terms[0]
        leaves, terms = [first * leaf for leaf in leaves], terms[1:]
    else:
        leaves, rebuild = flatten(base)
    for factor, (others, _) in terms:
        leaves = [leaf + factor * other for leaf, other in zip(leaves, others, strict=True)]
    return rebuild(leaves)


def runge_kutta(tableau: Tableau, f: Derivative, t: Scalar, y: Any, h: Scalar) -> Any:
    """One step in a vector space: k_i = f(t + c_i h, y + h sum_j a_ij k_j), y + h sum_i b_i k_i."""
    k: list[Any] = []
    for row, c in zip(tableau.a, tableau.c, strict=True):
        k.append(f(t + c * h, combine(y, [(a * h, kj) for a, kj in zip(row, k, strict=True) if a])))
    return combine(y, [(b * h, ki) for b, ki in zip(tableau.b, k, strict=True) if b])


def runge_kutta_in_a_loop(tableau: Tableau, f: Derivative, t: Scalar, y: Any, h: Scalar) -> Any:
    """The same with the stages as iterations of one loop, of a method with a `reach`: f is written out once."""
    c, reach, b = np.array(tableau.c), np.array(tableau.reach), np.array(tableau.b)

    def stage(i: Any, now: tuple[Any, Any]) -> tuple[Any, Any]:
        there, end = now
        k = f(t + c[i] * h, there)
        return combine(y, [(reach[i] * h, k)]), combine(end, [(b[i] * h, k)])

    return fori_loop(len(b), stage, (y, y))[1]


def lie_runge_kutta(
    tableau: Tableau, f: Derivative, move: Move, bracket: Callable[[Any, Any], Any], t: Scalar, y: Any, h: Scalar
) -> Any:
    """One step on a group: y moves by exp(u), and u' = dexp_u^-1 f(t, exp(u) y) is stepped from u = 0.

    dexp_u^-1 k = k - [u, k]/2 + [u, [u, k]]/12 - ...; what is left out is of order five. Munthe-Kaas, Appl. Numer.
    Math. 29 (1999).
    """
    k: list[Any] = []
    for row, c in zip(tableau.a, tableau.c, strict=True):
        terms = [(a * h, kj) for a, kj in zip(row, k, strict=True) if a]
        if not terms:
            k.append(f(t + c * h, y))
            continue
        u = combine(None, terms)
        slope = f(t + c * h, move(y, u))
        once = bracket(u, slope)
        k.append(combine(slope, [(-1 / 2, once), (1 / 12, bracket(u, once))]))
    return move(y, combine(None, [(b * h, ki) for b, ki in zip(tableau.b, k, strict=True) if b]))


def implicit_midpoint(f: Derivative, move: Move, t: Scalar, y: Any, h: Scalar, iterations: int = 12) -> Any:
    """One step y moved by u, where u = h f(t + h/2, y moved by u/2). Symmetric, second order.

    Solved by repeated substitution, `iterations` times; each gains about as many digits as h |df/dy| / 2 has zeros.
    """
    first = combine(None, [(h, f(t + 0.5 * h, y))])

    def again(_: Any, u: Any) -> Any:
        return combine(None, [(h, f(t + 0.5 * h, move(y, combine(None, [(0.5, u)]))))])

    return move(y, fori_loop(iterations, again, first))


def strang(kick: Callable[..., Any], drift: Callable[..., Any], t: Scalar, y: Any, h: Scalar, order: int = 2) -> Any:
    """Half a kick, a drift, half a kick; for order 4, five such steps one after the other (Suzuki).

    kick(t, y, h) lets forces act on a body that does not move, drift(t, y, h) moves the body without forces. Velocity
    Verlet is this for point masses.
    """
    fractions = (*COMPOSITIONS[order], 0.0)
    y = kick(t, y, 0.5 * fractions[0] * h)
    for fraction, following in pairwise(fractions):
        y = drift(t, y, fraction * h)
        t = t + fraction * h
        y = kick(t, y, 0.5 * (fraction + following) * h)  # the end of one step and the start of the next, together
    return y


def semi_implicit_euler(kick: Callable[..., Any], drift: Callable[..., Any], t: Scalar, y: Any, h: Scalar) -> Any:
    """A kick, then a drift with the new velocities. First order, but the energy of an oscillator stays bounded."""
    return drift(t, kick(t, y, h), h)


# Fractions of the step for which a symmetric second-order step is repeated, by the order that results.
_w = 1 / (4 - 4 ** (1 / 3))
COMPOSITIONS: dict[int, tuple[float, ...]] = {
    2: (1.0,),
    4: (_w, _w, 1 - 4 * _w, _w, _w),  # Suzuki, Phys. Lett. A 146 (1990)
}
