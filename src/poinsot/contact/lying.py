"""Round shapes that lie along others touch at both ends of what they lie on, and between where they cross it.

The depth along the axis of a capsule has one maximum. If that is between the ends, the axes cross, and the deepest
point counts; if the depth is a straight line, they lie along each other, and the ends count: the deepest point is one
of them, and changes over to the other as the capsule rocks. The points share the stiffness so that the force never
jumps. A capsule that touched by its deepest point alone would rock for ever.
"""

from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np

from poinsot._types import Array
from poinsot.contact.contact_patch import AWAY, ContactPatch
from poinsot.spatial.shapes import Box, Cylinder

NARROW = 0.1  # of the radius: a line of contact that is shorter than this counts less, and at last as one point
BENT = 2.0  # over the depth: the sag at which the ends count beside the deepest point no longer takes from that
LEAST = 1e-6  # of the radius, the depth below which a sag counts as over that
NONE = 0.01  # a share that counts as none, so that rounding of a sag does not, in float32 as well
ASIDE = 0.1  # the square of a normal's part along an axis, above which it is not one of the face across that
TINY = 1e-12  # m

Range: TypeAlias = tuple[Array, Array]


def along(
    at: Callable[[Array], ContactPatch], ends: Range, deepest: Array, length: Array, size: Any
) -> list[ContactPatch]:
    """The patches of a line of contact: those at both of its ends, and at its deepest point.

    at: from the place on an axis to the patch of one point there. length [m]: of the line, negative if there is none.
    size [m]: a radius.
    """
    low, high = (np.clip(t, 0.0, 1.0) for t in ends)
    patches = [at(low), at(high), at(deepest)]
    first, last, most = (patch.depths[0] for patch in patches)
    part = np.clip((deepest - low) / np.maximum(high - low, TINY), 0.0, 1.0)
    sag = most - (1 - part) * first - part * last
    line = np.clip(length / (NARROW * size), 0.0, 1.0)
    straight = np.clip(1 - BENT * sag / np.maximum(most, LEAST * size), 0.0, 1.0)
    shares = line, line, 1 - line * straight
    return [_weighed(patch, share) for patch, share in zip(patches, shares, strict=True)]


def _weighed(patch: ContactPatch, share: Array) -> ContactPatch:
    share = np.maximum(share - NONE, 0.0) / (1 - NONE)
    depths = np.where(share > 0, patch.depths, AWAY)
    return ContactPatch(patch.normal, patch.points, depths, share)


def over_segment(p: Array, d: Array, q0: Array, q1: Array) -> Range:
    """From where to where, as parts of it, a segment from p along d (3,) lies beside another."""
    square = np.maximum(d @ d, TINY**2)
    a, b = (q0 - p) @ d / square, (q1 - p) @ d / square
    return np.minimum(a, b), np.maximum(a, b)


def over_box(b: Box, n: Array, p: Array, d: Array) -> Range:
    """The same of a segment over the face or edge with the normal n of a box at the origin, or anywhere over a corner.
    Liang and Barsky (1984)."""
    start, end = np.zeros(()), np.ones(())
    for k in range(3):
        low, high = _between(p[k], d[k], 0.5 * b.size[k])
        across = n[k] * n[k] < ASIDE
        start = np.where(across, np.maximum(start, low), start)
        end = np.where(across, np.minimum(end, high), end)
    return start, end


def over_cylinder(b: Cylinder, n: Array, p: Array, d: Array) -> Range:
    """The same of a cylinder: over its side, or one of its ends."""
    low, high = _between(p[2], d[2], 0.5 * b.height)
    a, half, c = d[:2] @ d[:2], p[:2] @ d[:2], p[:2] @ p[:2] - b.radius * b.radius
    square = np.maximum(a, TINY**2)
    root = np.sqrt(np.maximum(half * half - square * c, 0.0) + TINY**4)
    by_side, by_end = n[2] * n[2] < ASIDE, n[2] * n[2] > 1 - ASIDE
    start = np.where(by_side, low, np.where(by_end, (-half - root) / square, 0.0))
    end = np.where(by_side, high, np.where(by_end, (-half + root) / square, 1.0))
    return np.maximum(start, 0.0), np.minimum(end, 1.0)


def _between(x: Array, d: Array, half: Any) -> Range:
    """From where to where x + t d is between -half and half."""
    slope = np.where(np.abs(d) > TINY, d, TINY)
    a, b = (-half - x) / slope, (half - x) / slope
    return np.minimum(a, b), np.maximum(a, b)
