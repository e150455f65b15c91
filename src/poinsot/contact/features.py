"""What of a core is at a point of it: a corner, an edge, a flat face, a rim, the side of a cylinder or cone, or the
surface of an ellipsoid; as far as two cores need it to slide along each other.

Where a point x lies on a core with the outward normal d, the nearest point of the core to x + c d is x again, with any
length c. So this nearest point tells what of the core is there: on sides that it does not reach it is free to move.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np

from poinsot._types import Array
from poinsot.fuse import coarseness, held

FLAT = 1e8  # how far along something flat a point moves as the normal turns, per radian and size
TINY = 1e-30


@dataclass(frozen=True, eq=False)
class Feature:
    """The point (3,) of a core, two directions (2, 3) along its surface, and how far the point moves along each as the
    normal turns by a radian [m]: large along edges and faces, the radius of a rim, zero at corners. bend (3, 3) [m]:
    the same of the surface of an ellipsoid, whose point has the outward normal by itself.
    """

    point: Array
    along: Array
    reach: Array
    bend: Array

    def parts(self) -> tuple[Array, ...]:
        return self.point, self.along, self.reach, self.bend


# By x (3,), the outward normal, and corners (3, 3) between which x lies with weights (3,).
FeatureAt: TypeAlias = Callable[[Array, Array, Array, Array], Feature]


def of_frustum(bottom: Any, top: Any, low: Any, high: Any) -> FeatureAt:
    """Of the core of a cylinder or cone: two circles and what is between them."""
    size = bottom + top + high - low
    flat = _flat()

    def at(x: Array, d: Array, *_: Array) -> Feature:
        y = held(x + size * d)
        across = np.sqrt(y[0] * y[0] + y[1] * y[1] + TINY)
        c, s = held(np.where(across > 1e-14, y[0] / across, 1.0)), held(np.where(across > 1e-14, y[1] / across, 0.0))
        slant = np.stack([top - bottom, high - low])
        length = np.sqrt(slant @ slant)
        t = held(np.clip(((across - bottom) * slant[0] + (y[2] - low) * slant[1]) / (length * length), 0.0, 1.0))
        on_low, on_high = (y[2] < low) & (across < bottom), (y[2] > high) & (across < top)
        on_end, on_side = on_low | on_high, (t > 0) & (t < 1)
        r = np.where(on_end, across, bottom + t * slant[0])
        z = np.where(on_low, low, np.where(on_high, high, low + t * slant[1]))
        out = np.maximum(c * d[0] + s * d[1], 0.0)
        around = np.where(on_end, flat * size, r / (out + r / (flat * size) + TINY))
        second = np.where(on_end, np.stack([c, s, 0.0]), np.stack([slant[0] * c, slant[0] * s, slant[1]]) / length)
        reach = np.stack([around, np.where(on_end | on_side, flat * size, 0.0)])
        return Feature(np.stack([r * c, r * s, z]), np.stack([np.stack([-s, c, 0.0]), second]), reach, np.zeros((3, 3)))

    return at


def of_box(half: Sequence[Any]) -> FeatureAt:
    """Of the core of a box, or of a segment or point, whose half sides are zero."""
    size = 2 * (half[0] + half[1] + half[2])
    flat = _flat()

    def at(x: Array, d: Array, *_: Array) -> Feature:
        y = held(x + size * d)
        beyond = [np.abs(y[k]) - half[k] for k in range(3)]
        most = np.maximum(np.maximum(beyond[0], beyond[1]), beyond[2])
        free = [(b < 0) & (b < most) for b in beyond]
        point = np.stack([np.where(f, v, np.where(v < 0, -h, h)) for f, v, h in zip(free, y, half, strict=True)])
        e = np.eye(3)
        first = np.where(free[0], e[0], np.where(free[1], e[1], e[2]))
        second = np.where(free[0] & free[1], e[1], np.where(free[0] | free[1], e[2], e[0]))
        count = 1.0 * free[0] + 1.0 * free[1] + 1.0 * free[2]
        reach = flat * size * np.stack([np.where(count > 0, 1.0, 0.0), np.where(count > 1, 1.0, 0.0)])
        return Feature(point, np.stack([first, second]), reach, np.zeros((3, 3)))

    return at


def of_ellipsoid(D2: Array, r: Any) -> FeatureAt:
    """Of an ellipsoid with the squares of its axes D2 (3,) that is smaller by r on all sides."""

    def at(_: Array, d: Array, *__: Array) -> Feature:
        g = D2 * d
        s = np.sqrt(d @ g)
        bend = np.diag(D2) / s - np.outer(g, g) / (s * s * s) - r * (np.eye(3) - np.outer(d, d))
        return Feature(g / s - r * d, np.zeros((2, 3)), np.zeros(2), bend)

    return at


def of_mesh(size: float) -> FeatureAt:
    """Of the core of a convex mesh, by corners between which the point lies; those may be the same several times."""

    def at(x: Array, d: Array, corners: Array, weights: Array) -> Feature:
        first, most = corners[0], weights[0]
        for k in (1, 2):
            first, most = np.where(weights[k] > most, corners[k], first), np.maximum(weights[k], most)
        there = weights * size > d @ (x - corners).T  # or it is far from the plane across the normal, and hardly counts
        edges = [np.where(t, c - first, 0.0) for t, c in zip(there, corners, strict=True)]
        t1, flat_1 = _unit(_longest(edges), size)
        t2, flat_2 = _unit(_longest([e - (e @ t1) * t1 for e in edges]), size)
        on = flat_1 * (t1 @ (x - first)) * t1 + flat_2 * (t2 @ (x - first)) * t2
        reach = _flat() * size * np.stack([flat_1, flat_2])
        return Feature(held(first + on), held(np.stack([t1, t2])), reach, np.zeros((3, 3)))

    return at


def _flat() -> Any:
    """`FLAT`, less of it where numbers are coarse."""
    return FLAT / np.sqrt(coarseness())


def _longest(e: list[Array]) -> Array:
    longest = e[0]
    for other in e[1:]:
        longest = np.where(other @ other > longest @ longest, other, longest)
    return longest


def _unit(e: Array, size: float) -> tuple[Array, Array]:
    """A vector made a unit vector, and 1; or zero and 0, if it is short."""
    length = np.sqrt(e @ e + TINY)
    there = np.where(length > 1e-9 * size, 1.0, 0.0)
    return there * e / length, there
