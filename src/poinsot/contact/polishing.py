"""Where two cores touch, to rounding: steps of Newton's from points that a search has found.

Let n be the normal from b to a, and p and q points of the features that touch. The cores are apart by n (p - q), which
is least over the features and greatest over n where n is across both and along p - q. A step, with the directions t
along the features, and how far a point moves along each as the normal turns (reach, bend), is

    (n (p - q) + sum reach t t' + bends) dn = p - q - sum reach t (t n)    across n
    dp = -sum reach t (t (n + dn)) - bend dn, and dq likewise with the other sign.

So it is where the cores overlap, too. The derivatives of a step by where it starts vanish at the solution: the start is
held, and the last step has the derivatives of the solution.
"""

from typing import Any

import numpy as np

from poinsot._types import Array
from poinsot.contact.convex import Convex
from poinsot.contact.portals import Exit, within
from poinsot.fuse import coarseness, held, while_loop

STEPS = 12  # at most; two, and the last one, are usual
SETTLED = 1e-9  # rad, and of the size: the last step but one
OUT = 1e-3  # of the size: points that were found so near to where something flat ends are first taken to be there
LONG, LITTLE = 0.1, 1e-3  # of the size, and rad: a slide that leads off what is flat, for which a turn has to wait
REACHED = 1e-10  # of the size: how far the cores may go beyond the points
ROUNDING = 1e-14  # of the size
TINY = 1e-30


def polished(A: Convex, B: Convex, found: Exit) -> tuple[Array, Array, Array]:
    """The normal, and the points of the cores, from those that were found; those themselves where the search has parted
    the cores better, as it may with flat parts that are all but parallel."""
    one, other, size, coarse = A.still(), B.still(), held(A.size + B.size), coarseness()
    settled = np.maximum(SETTLED, ROUNDING * coarse)

    def step(now: Any) -> Any:
        at, *_ = now
        n, a, b = _moved(one, other, at, found, np.array(False))
        slide = np.sqrt((a - at[1]) @ (a - at[1]) + (b - at[2]) @ (b - at[2])) / size
        turn = np.sqrt((n - at[0]) @ (n - at[0]))
        return (np.where((slide > LONG) & (turn > LITTLE), at[0], n), a, b), turn, slide

    a, b = found.a, found.weights @ found.corners_b  # by a ray, b of the search may not be of the core
    outside = (x + OUT * (x - body.centre) for x, body in ((a, one), (b, other)))
    start = ((found.normal, *outside), np.ones(()), np.ones(()))
    at, turn, slide = while_loop(lambda now: np.maximum(now[1], now[2]) > settled, step, start, STEPS)
    before, after = (n @ one.support(-n) - n @ other.support(n) for n in (found.normal, at[0]))
    is_reached = np.abs(at[0] @ (at[1] - at[2]) - after) < np.maximum(REACHED, ROUNDING * coarse) * size
    better = (turn <= settled) & is_reached & (after > before - ROUNDING * coarse * size)
    at = tuple(held(np.where(better, x, y)) for x, y in zip(at, (found.normal, a, b), strict=True))
    return _moved(A, B, at, found, ~(better & (slide <= settled)))


def _moved(A: Convex, B: Convex, at: Any, found: Exit, stays: Array) -> tuple[Array, Array, Array]:
    """The normal and the points after a step; where it `stays`, they are as they were, with the derivatives of a step.

    Of cores that overlap, and which Newton does not part, the search has followed a ray: so do the derivatives.
    """
    n, a, b = at
    here = lambda x, y: np.where(stays, x - held(x) + y, x)  # noqa: E731
    f, g = A.feature(a, -n, found.corners_a, found.weights), B.feature(b, n, found.corners_b, found.weights)
    p, q, along = here(f.point, a), here(g.point, b), np.concatenate([f.along, g.along])
    t, reach = held(along), held(np.concatenate([f.reach, g.reach]))
    bend_a, bend_b, E = held(f.bend), held(g.bend), held(_across(n, t, reach))
    v0, by_ray = within(A, B), stays & (found.depth > 0)
    ray = np.where(by_ray, v0 / np.where(np.abs(n @ v0) > TINY, n @ v0, TINY), n)
    apart = np.where(by_ray, np.sqrt(ROUNDING) * held(A.size + B.size), held(n @ (p - q)))
    turns, off = t @ E.T, reach * here(along @ n, np.zeros(4))
    G = apart * np.eye(2) + turns.T @ (reach[:, None] * turns) + E @ (bend_a + bend_b) @ E.T
    aside = E @ here(p - q - (n @ (p - q)) * ray, np.zeros(3))
    dn = _solved(G, aside - turns.T @ off) @ E
    moves = (off + reach * (t @ dn))[:, None] * t
    m = n + dn
    return m / np.sqrt(m @ m), p - moves[0] - moves[1] - bend_a @ dn, q + moves[2] + moves[3] + bend_b @ dn


def _across(n: Array, t: Array, reach: Array) -> Array:
    """Two axes (2, 3) across n, the first along that direction of greatest reach: so what is flat does not drown in
    rounding what is not."""
    best, most = t[0], reach[0]
    for k in range(1, 4):
        best, most = np.where(reach[k] > most, t[k], best), np.maximum(reach[k], most)
    any_other = np.where(np.abs(n[0]) < 0.6, np.array([1.0, 0.0, 0.0]), np.array([0.0, 1.0, 0.0]))
    best = best - (best @ n) * n
    best = np.where((most > 0) & (best @ best > 0.25), best, any_other - (any_other @ n) * n)
    u = best / np.sqrt(best @ best)
    return np.stack([u, np.cross(n, u)])


def _solved(G: Array, x: Array) -> Array:
    """G^-1 x of a matrix (2, 2) whose first element is not small beside the others."""
    first = np.where(np.abs(G[0, 0]) > TINY, G[0, 0], TINY)
    factor = G[0, 1] / first
    second = G[1, 1] - factor * G[0, 1]
    second = np.where(np.abs(second) > TINY, second, TINY)
    y = (x[1] - factor * x[0]) / second
    return np.stack([(x[0] - G[0, 1] * y) / first, y])
