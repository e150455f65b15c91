"""Lists of pairs, made at run time: which of many shapes are near each other, and which touch.

The pairs that may ever touch are known in advance, as tables. A loop over them compares balls that hold the shapes, and
writes the numbers of those that are near to a list; a second loop, over that list alone, looks where they touch. The
code of both is there once, whatever the number of pairs, and lists differ from instance to instance.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from poinsot._types import Array
from poinsot.contact.patches import ContactPatch
from poinsot.fuse import fori_loop, when


@dataclass(frozen=True, eq=False)
class TouchedPatches:
    """Patches that touch, or nearly: `count` of them, more than there are places if the list is full. By place: the
    number of the `pair`, and of the patch among all those that pairs can have; normal, points and depths as of
    `ContactPatch`."""

    count: Any
    pair: Array
    patch: Array
    normal: Array
    points: Array
    depths: Array

    @property
    def is_full(self) -> Any:
        """Whether there were more than the list can hold."""
        return self.count > len(self.pair)


def near_pairs(centres: Array, radii: Array, first: np.ndarray, second: np.ndarray, most: int) -> tuple[Any, Array]:
    """How many of the pairs of balls overlap, and their numbers, in order; the list has room for `most`.

    centres (n, 3) [m] and radii (n,) [m] of balls; first, second (p,): which balls are the pairs.
    """

    def look(p: Any, found: tuple[Any, Array]) -> tuple[Any, Array]:
        a, b = np.asarray(first)[p], np.asarray(second)[p]
        gap, reach = centres[a] - centres[b], radii[a] + radii[b]

        def keep(found: tuple[Any, Array]) -> tuple[Any, Array]:
            count, pairs = found
            pairs[np.minimum(count, most - 1)] = p
            return count + 1, pairs

        return when(gap @ gap < reach * reach, keep, found)

    found: tuple[Any, Array] = fori_loop(len(first), look, (np.array(0), np.zeros(most, dtype=int)))
    return found


def touching(
    near: tuple[Any, Array], meet: Callable[[Any], tuple[Sequence[ContactPatch], Any]], sizes: Sequence[int], most: int
) -> TouchedPatches:
    """The patches of near pairs whose depth is above a limit, in order, in a list with room for `most`.

    meet: from the number of a pair to its patches and the limit [m]. sizes: how many points each of these has; those
    of the list have as many as the largest.
    """
    count, pairs = near
    points = max(sizes)

    def look(k: Any, found: TouchedPatches) -> TouchedPatches:
        pair = pairs[k]
        patches, limit = meet(pair)
        for j, patch in enumerate(patches):
            found = when(np.max(patch.depths) > limit, _kept(pair, pair * len(sizes) + j, patch, points), found)
        return found

    empty = TouchedPatches(
        np.array(0),
        np.zeros(most, dtype=int),
        np.zeros(most, dtype=int),
        np.zeros((most, 3)),
        np.zeros((most, points, 3)),
        np.zeros((most, points)),
    )
    found: TouchedPatches = fori_loop(np.minimum(count, len(pairs)), look, empty, most=len(pairs))
    return found


def _kept(pair: Any, number: Any, patch: ContactPatch, points: int) -> Callable[[TouchedPatches], TouchedPatches]:
    """Appends a patch to a list."""
    spare = points - len(patch.depths)
    at = np.concatenate([patch.points, np.zeros((spare, 3))])
    depths = np.concatenate([patch.depths, np.full(spare, -np.inf)])

    def keep(found: TouchedPatches) -> TouchedPatches:
        k = np.minimum(found.count, len(found.pair) - 1)
        found.pair[k], found.patch[k] = pair, number
        found.normal[k], found.points[k], found.depths[k] = patch.normal, at, depths
        return TouchedPatches(found.count + 1, found.pair, found.patch, found.normal, found.points, found.depths)

    return keep
