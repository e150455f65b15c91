"""Roots of many small systems of equations side by side: damped Gauss-Newton within bounds, inside of one kernel."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from poinsot._types import Array
from poinsot.fuse import Kernel, fori_loop, jacobian, jvp, solve_spd

UNROLLED = 14  # unknowns up to which the whole iteration is one kernel; beyond, the slopes are found column by column
SMALL = 1e-13  # relative to the diagonal of J^T J: keeps the step finite where unknowns act alike
IDLE = 1e-22  # relative to the largest: unknowns that act by rounding alone stay where they are
ROUNDS = (5, 7, 12, 24, 48)  # iterations, after each of which those that have converged are left out
FIRST = 1e150  # the residual before the first iteration: any finite one is better


@dataclass(frozen=True, eq=False)
class Equations:
    """residual(z (n,), c (m,)) -> (k,), which shall vanish; bounds of z (n,), and the longest step of each.

    All of it is plain NumPy for one instance that can be traced. c: numbers of the instance.
    """

    residual: Callable[[Array, Array], Array]
    count: int
    conditions: int
    lower: Array
    upper: Array
    longest: Array

    @property
    def unknowns(self) -> int:
        return len(self.lower)

    def iterate(self, z: Array, best: Array, r_best: Array, r: Array, J: Array) -> tuple[Array, Array, Array]:
        """The next trial z (n,), and the best so far with its residual, given the residual and the slopes at z.

        The step is that of Gauss and Newton, without the unknowns that a bound holds; where the last one made
        things worse, a quarter of it is tried.
        """
        better = r @ r < r_best @ r_best
        g, H = J.T @ r, J.T @ J
        blocked = ((z <= self.lower) & (g > 0)) | ((z >= self.upper) & (g < 0))
        free = np.where(blocked, 0.0, 1.0)
        diagonal = np.diagonal(H)
        damped = np.where(blocked, 1.0, SMALL * diagonal + IDLE * np.max(diagonal) + 1e-300)
        A = H * (free[:, None] * free[None, :]) + damped[:, None] * np.eye(self.unknowns)
        scale = 1 / np.sqrt(np.diagonal(A))
        dz = -scale * solve_spd(A * scale[:, None] * scale[None, :], scale * g * free)
        share = np.minimum(1.0, np.min(self.longest / (np.abs(dz) + 1e-300)))
        ahead = np.clip(z + share * dz, self.lower, self.upper)
        back = best + 0.25 * (z - best)
        return np.where(better, ahead, back), np.where(better, z, best), np.where(better, r, r_best)

    @cached_property
    def _advance(self) -> Kernel:
        """(z, best, r_best, c, n) -> the same after n iterations."""
        slope = jacobian(self.residual, 0)

        def advance(z: Array, best: Array, r_best: Array, c: Array, n: Any) -> tuple[Array, Array, Array]:
            def step(i: Any, now: tuple[Array, Array, Array]) -> tuple[Array, Array, Array]:
                return self.iterate(*now, self.residual(now[0], c), slope(now[0], c))

            last: tuple[Array, Array, Array] = fori_loop(n, step, (z, best, r_best))
            return last

        n, k, m = self.unknowns, self.count, self.conditions
        return Kernel(advance, f"({n}),({n}),({k}),({m}),()->({n}),({n}),({k})")

    @cached_property
    def _columns(self) -> Any:
        """(z, c, dz) -> r, dr."""
        n, k, m = self.unknowns, self.count, self.conditions
        return jvp(Kernel(self.residual, f"({n}),({m})->({k})"), 0)

    def slopes(self, z: Array, c: Array) -> tuple[Array, Array]:
        """r (..., k) and dr/dz (..., k, n)."""
        r, columns = self._columns(z[..., None, :], c[..., None, :], np.eye(self.unknowns))
        return r[..., 0, :], np.swapaxes(columns, -1, -2)

    def values(self, z: Array, c: Array) -> Array:
        """r (b, k) of z (b, n)."""
        with np.errstate(all="ignore"):
            if self.unknowns <= UNROLLED:
                return np.asarray(self._advance(z, z, np.full((len(z), self.count), FIRST), c, 1)[2])
            return np.asarray(self._columns(z, c, np.zeros_like(z))[0])

    def advance(self, now: tuple[Array, Array, Array], c: Array, n: int) -> tuple[Array, Array, Array]:
        """The trials, the best and their residuals after n iterations of all instances."""
        with np.errstate(all="ignore"):
            if self.unknowns <= UNROLLED:
                last: tuple[Array, Array, Array] = self._advance(*now, c, n)
                return last
            for _ in range(n):
                r, J = self.slopes(now[0], c)
                each = [self.iterate(*one) for one in zip(*now, r, J, strict=True)]
                z, best, r_best = (np.stack(x) for x in zip(*each, strict=True))
                now = (z, best, r_best)
            return now


def solve(equations: Equations, z: Array, c: Array, tolerance: float) -> tuple[Array, Array]:
    """z (b, n) with residuals (b, k) that are below the tolerance where a root was found from z (b, n), c (b, m)."""
    z, c = np.clip(z, equations.lower, equations.upper), np.asarray(c, dtype=float)
    found, left = z.copy(), np.full((len(z), equations.count), FIRST)
    at = np.arange(len(z))
    now = (z, z.copy(), left.copy())
    for n in ROUNDS:
        now = equations.advance(now, c[at], n)
        found[at], left[at] = now[1], now[2]
        open_ = ~(np.abs(now[2]).max(axis=1, initial=0.0) < tolerance)
        if not open_.any():
            break
        at, now = at[open_], tuple(x[open_] for x in now)
    return found, left
