"""How deep two convex cores overlap, along the normal of the face that lies in their way apart.

The points a - b of two bodies form a convex one, M, that holds the origin if they overlap. A ray from a point v within
M through the origin leaves M by some face. A portal is a triangle of points of M that the ray passes; it is moved out
until it lies in that face. Snethen, XenoCollide: complex collision made simple (Game Programming Gems 7, 2008). It is
not always the nearest face, but for shapes that overlap little it is one that the origin lies close to.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from poinsot._types import Array
from poinsot.contact.convex import Convex
from poinsot.fuse import while_loop

STEPS = 60  # at most
FLUSH = 1e-14  # of the size: a portal that nothing lies beyond
TINY = 1e-30
ASIDE = np.array([0.62, -0.41, 0.67]) * 1e-7  # of the distance of the centres: no ray meets an edge exactly


@dataclass(frozen=True, eq=False)
class Exit:
    """The unit normal n (3,) along which a leaves b, how far [m], and points a and b (3,) of the cores that touch;
    corners (3, 3) of each between which these lie, with these weights (3,)."""

    normal: Array
    depth: Array
    a: Array
    b: Array
    corners_a: Array
    corners_b: Array
    weights: Array


def within(A: Convex, B: Convex) -> Array:
    """A point (3,) of M that lies well within it: where the ray comes from."""
    v0 = A.centre - B.centre
    return v0 + A.axes @ ASIDE * np.sqrt(v0 @ v0 + 1e-12)


def exit_of(A: Convex, B: Convex, steps: int = STEPS) -> Exit:
    """How a core leaves another that it overlaps."""

    def support(d: Array) -> tuple[Array, Array]:
        d = _unit(d)
        p = A.support(d)
        return p - B.support(-d), p

    v0 = within(A, B)
    v1, p1 = support(-v0)
    v2, p2 = support(np.cross(v1, v0))
    swap = np.cross(v1 - v0, v2 - v0) @ v0 > 0  # so that the origin lies ahead of the plane of v0, v1, v2
    V = np.where(swap, np.stack([v2, v1, v1]), np.stack([v1, v2, v2]))
    P = np.where(swap, np.stack([p2, p1, p1]), np.stack([p1, p2, p2]))

    def step(now: Any) -> Any:
        V, P, is_portal, _ = now
        ahead = np.cross(V[0] - v0, V[1] - v0)
        out = _normal(V)
        w, p = support(np.where(is_portal, out, ahead))
        flush = is_portal & ((w - V[0]) @ out <= FLUSH * np.sqrt((out @ out) * (w @ w)))
        # Before the ray passes the triangle, the side by which it misses says which point gives way.
        misses_1, misses_2 = np.cross(V[0], w) @ v0 < 0, np.cross(w, V[1]) @ v0 < 0
        seeking = np.stack([misses_2 & ~misses_1, misses_1, ~misses_1 & ~misses_2])
        side = np.cross(w, v0)
        s = [V[k] @ side > 0 for k in range(3)]
        refining = np.stack([(s[0] & s[1]) | (~s[0] & ~s[2]), ~s[0] & s[2], s[0] & ~s[1]])
        replaced = np.where(is_portal, refining, seeking)[:, None]
        return np.where(replaced, w, V), np.where(replaced, p, P), is_portal | seeking[2], ~flush

    no, yes = np.array(False), np.array(True)
    V, P, *_ = while_loop(lambda now: now[3], step, (V, P, no, yes), steps)
    n = _normal(V)
    out = _unit(n)
    w, _ = support(out)
    weights = _passed(V, v0)
    a = weights @ P
    depth = out @ w
    return Exit(-out, depth, a, a - depth * out, P, P - V, weights)


def _unit(d: Array) -> Array:
    """A unit vector along d: also of the normal of a tiny portal, whose length is an area; zero if that is none."""
    square = d @ d
    return d / np.sqrt(np.where(square > 0, square, 1.0))


def _normal(V: Array) -> Array:
    """The normal of a portal, away from v0."""
    return np.cross(V[1] - V[0], V[2] - V[0])


def _passed(V: Array, v0: Array) -> Array:
    """The weights (3,) of the corners at the point where the ray passes a portal."""
    d = -v0
    areas = np.stack([np.cross(V[1], V[2]) @ d, np.cross(V[2], V[0]) @ d, np.cross(V[0], V[1]) @ d])
    areas = np.maximum(areas * np.where(np.sum(areas) < 0, -1.0, 1.0), 0.0)
    return areas / (np.sum(areas) + TINY)
