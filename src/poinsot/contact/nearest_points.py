"""The distance between two convex cores that are apart, by their supports.

The points a - b of two bodies form a convex one, M. The method of Gilbert, Johnson and Keerthi (1988) walks to its
point v nearest to the origin: it adds the point of M farthest along -v to the few that span v, and finds the nearest
point of what these span. Every subset that holds the new point is tried, so that nothing branches.
"""

from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np

from poinsot._types import Array
from poinsot.contact.convex import Convex
from poinsot.fuse import while_loop

STEPS = 40  # at most: polyhedra take some six, curved shapes more
CLOSE = 1e-14  # of |v|^2: the part by which a step must come nearer
SUBSETS = tuple(c for n in (0, 1, 2) for c in combinations((1, 2, 3), n))  # besides the new point


@dataclass(frozen=True, eq=False)
class Nearest:
    """The nearest points a and b (3,) of two cores, and v = a - b; zero if they overlap. corners (3, 3): points of each
    core between which these lie, with these weights (3,); the same several times, if it is fewer."""

    v: Array
    a: Array
    b: Array
    corners_a: Array
    corners_b: Array
    weights: Array


def nearest_points(A: Convex, B: Convex, steps: int = STEPS) -> Nearest:
    """The nearest points of two cores."""

    def step(now: Any) -> Any:
        v, a, W, P, kept, _ = now
        d = v / np.sqrt(v @ v + TINY * TINY)
        p = A.support(-d)
        w = p - B.support(d)
        found, weights, inside = _nearest_to_origin(np.stack([w, *W]), d @ w <= 0)  # else a plane parts them
        nearer = found @ found < (1 - CLOSE) * (v @ v)
        moved = np.stack([p, *P])
        keep = np.where(weights[3] <= 0, 3, np.where(weights[2] <= 0, 2, 1))  # which of the four is left out
        new_W, new_P = (_without(np.stack([w, *W]), weights, keep), _without(moved, weights, keep))
        pick = lambda new, old: np.where(nearer, new, old)  # noqa: E731
        new_kept = _three(weights, keep)
        point, goes_on = pick(weights @ moved, a), nearer & ~inside
        return pick(found, v), point, pick(new_W, W), pick(new_P, P), pick(new_kept, kept), goes_on

    d = A.centre - B.centre
    d = d / np.sqrt(d @ d + TINY * TINY)
    p = A.support(-d)
    w = p - B.support(d)
    start = (w, p, np.stack([w, w, w]), np.stack([p, p, p]), np.array([1.0, 0.0, 0.0]), w @ w > TINY)
    v, a, W, P, weights, _ = while_loop(lambda now: now[5], step, start, steps)
    return Nearest(v, a, a - v, P, P - W, weights)


TINY = 1e-30


def _without(rows: Array, weights: Array, left_out: Array) -> Array:
    """Three of four rows, without one of them; rows that do not count are copies of the first."""
    return _three(np.where((weights > 0)[:, None], rows, rows[0]), left_out)


def _three(rows: Array, left_out: Array) -> Array:
    return np.stack([rows[0], np.where(left_out == 1, rows[2], rows[1]), np.where(left_out <= 2, rows[3], rows[2])])


def _nearest_to_origin(W: Array, may_hold: Array) -> tuple[Array, Array, Array]:
    """The nearest point (3,) to the origin of the simplex of four points (4, 3), by a subset that holds the first of
    them; its weights (4,); and whether the origin lies within all four, if they `may_hold` it."""
    best, weights = W[0], np.array([1.0, 0.0, 0.0, 0.0])
    least = best @ best
    for subset in SUBSETS[1:]:
        lam, valid = _weights(W[0], [W[k] for k in subset])
        full = {0: lam[0], **dict(zip(subset, lam[1:], strict=True))}
        row = np.stack([full.get(k, np.zeros(())) for k in range(4)])
        v = row @ W
        less = valid & (v @ v < least)
        best, weights, least = np.where(less, v, best), np.where(less, row, weights), np.where(less, v @ v, least)
    within, inside = _within(W)
    inside = inside & may_hold
    return np.where(inside, 0.0, best), np.where(inside, within, weights), inside


def _weights(p: Array, others: list[Array]) -> tuple[list[Array], Array]:
    """The weights of the point nearest to the origin on the line or plane of points, and whether none is negative."""
    e = [q - p for q in others]
    if len(e) == 1:
        square = e[0] @ e[0]
        t = -(p @ e[0]) / np.maximum(square, TINY)
        return [1 - t, t], (t > 0) & (t < 1) & (square > TINY)
    aa, bb, ab, pa, pb = e[0] @ e[0], e[1] @ e[1], e[0] @ e[1], p @ e[0], p @ e[1]
    area = aa * bb - ab * ab
    safe = np.maximum(area, TINY)
    s, t = (ab * pb - bb * pa) / safe, (ab * pa - aa * pb) / safe
    return [1 - s - t, s, t], (s > 0) & (t > 0) & (s + t < 1) & (area > 1e-13 * aa * bb)


def _within(W: Array) -> tuple[Array, Array]:
    """The weights (4,) of four points that make the origin, and whether it lies within them."""
    a, b, c = W[1] - W[0], W[2] - W[0], W[3] - W[0]
    bc = np.cross(b, c)
    volume = a @ bc
    scale = np.sqrt((a @ a) * (b @ b) * (c @ c))
    safe = np.where(np.abs(volume) > TINY, volume, TINY)
    p = -W[0]
    x, y, z = (p @ bc) / safe, (a @ np.cross(p, c)) / safe, (a @ np.cross(b, p)) / safe
    valid = (x > 0) & (y > 0) & (z > 0) & (x + y + z < 1) & (np.abs(volume) > 1e-10 * scale)
    return np.stack([1 - x - y - z, x, y, z]), valid
