"""Lists of pairs, made at run time: which of many shapes are near each other, and which touch.

The pairs that may ever touch are known in advance, as tables. A loop over them, or a grid if they are many
(`contact.grid`), compares balls that hold the shapes, and writes the numbers of those that are near to a list; a second
loop, over that list alone, looks where they touch. The code of both is there once, whatever the number of pairs, and
lists differ from instance to instance.
"""

import functools
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, TypeAlias

import numpy as np

from poinsot._types import Array
from poinsot.contact.contact_patch import ContactPatch
from poinsot.contact.grid import is_ordered, near_by_grid
from poinsot.fuse import fori_loop, in_memory, is_traced, when

MANY = 30_000  # pairs, from which on a grid pays: those of some 250 shapes

Nearby: TypeAlias = Sequence[tuple[Any, Callable[[], Any]]]  # whether each patch, or several, is near, and makes them
Meet: TypeAlias = Callable[[Any, Any], Nearby]


@dataclass(frozen=True)
class PatchSizes:
    """How many points each patch of a pair has, of which those in a list have room for the most; shares: whether the
    patches have shares of the stiffness."""

    points: tuple[int, ...]
    shares: bool = False


@dataclass(frozen=True, eq=False)
class TouchedPatches:
    """Patches that touch, or nearly: `count` of them, more than there are places if the list is full. By place: the
    number of the `pair`, and of the patch among all those that pairs can have; normal, points, depths and share as of
    `ContactPatch`; share (0,): all have all of the stiffness."""

    count: Any
    pair: Array
    patch: Array
    normal: Array
    points: Array
    depths: Array
    share: Array

    @property
    def is_full(self) -> Any:
        """Whether there were more than the list can hold."""
        return self.count > len(self.pair)


def touching(
    balls: tuple[Array, Array], first: np.ndarray, second: np.ndarray, meet: Meet, sizes: PatchSizes, most: int
) -> TouchedPatches:
    """The patches of pairs of shapes that are near, in order, in a list with room for `most`.

    balls: centres (n, 3) [m] and radii (n,) [m] of balls that hold the shapes; first, second (p,): which of them are
    the pairs. meet: from the numbers of two shapes to their patches.
    """

    def look(pair: Any, found: TouchedPatches) -> TouchedPatches:
        a, b = np.asarray(first)[pair], np.asarray(second)[pair]
        return when(_overlap(balls, a, b), lambda found: _added(found, pair, meet(a, b), sizes), found)

    if (near := _known_near(balls, first, second)) is not None:
        return functools.reduce(lambda found, pair: look(pair, found), near, _empty(sizes, most))
    found: TouchedPatches = fori_loop(len(first), look, _empty(sizes, most))
    return found


def touching_one(
    shapes: np.ndarray, is_near: Callable[[Any], Any], meet: Callable[[Any], Nearby], sizes: PatchSizes, most: int
) -> TouchedPatches:
    """The same of shapes with something that all of them may touch; `pair`: their places among `shapes` (p,), the
    numbers of these."""

    def look(pair: Any, found: TouchedPatches) -> TouchedPatches:
        a = np.asarray(shapes)[pair]
        return when(is_near(a), lambda found: _added(found, pair, meet(a), sizes), found)

    found: TouchedPatches = fori_loop(len(shapes), look, _empty(sizes, most))
    return found


def touching_by_list(
    balls: tuple[Array, Array], first: np.ndarray, second: np.ndarray, meet: Meet, sizes: PatchSizes, most: int
) -> tuple[TouchedPatches, Any]:
    """The same by way of a list of the pairs that are near, where looking closer is costly; and whether more are near
    than that has room for."""
    room = near_room(len(first), most)
    count, pairs = near_pairs(balls, first, second, room)

    def look(k: Any, found: TouchedPatches) -> TouchedPatches:
        a, b = np.asarray(first)[pairs[k]], np.asarray(second)[pairs[k]]
        return _added(found, pairs[k], meet(a, b), sizes)

    found: TouchedPatches = fori_loop(np.minimum(count, room), look, _empty(sizes, most), most=room)
    return found, count > room


def near_room(pairs: int, most: int) -> int:
    """How many of the pairs may be near, where `most` patches may touch."""
    return min(pairs, max(64, 16 * most))


def near_pairs(balls: tuple[Array, Array], first: np.ndarray, second: np.ndarray, most: int) -> tuple[Any, Array]:
    """How many of the pairs of balls overlap, and their numbers, in order; the list has room for `most`."""
    if by_grid(first, second) and is_traced(*balls):
        return near_by_grid(balls, first, second, most)

    def look(pair: Any, found: tuple[Any, Array]) -> tuple[Any, Array]:
        def keep(found: tuple[Any, Array]) -> tuple[Any, Array]:
            count, pairs = found
            pairs[np.minimum(count, most - 1)] = pair
            return count + 1, pairs

        return when(_overlap(balls, np.asarray(first)[pair], np.asarray(second)[pair]), keep, found)

    start = np.array(0), in_memory(np.zeros(most, dtype=int))
    if (near := _known_near(balls, first, second)) is not None:
        return functools.reduce(lambda found, pair: look(pair, found), near, start)
    found: tuple[Any, Array] = fori_loop(len(first), look, start)
    return found


def by_grid(first: np.ndarray, second: np.ndarray) -> bool:
    """Whether pairs are so many that a grid finds those that are near sooner than a loop over all."""
    return len(first) >= MANY and is_ordered(first, second)


def _known_near(balls: tuple[Array, Array], first: np.ndarray, second: np.ndarray) -> list[int] | None:
    """The pairs of balls that overlap, if they are plain numbers; found at once, as Python is slow."""
    if is_traced(*balls):
        return None
    centres, radii = balls
    gaps = centres[first] - centres[second]
    found: list[int] = np.flatnonzero(np.sum(gaps * gaps, axis=1) < (radii[first] + radii[second]) ** 2).tolist()
    return found


def _overlap(balls: tuple[Array, Array], a: Any, b: Any) -> Any:
    """Whether two balls overlap, by their numbers."""
    centres, radii = (np.asarray(x) for x in balls)
    gap, reach = centres[a] - centres[b], radii[a] + radii[b]
    return gap @ gap < reach * reach


def _empty(sizes: PatchSizes, most: int) -> TouchedPatches:
    """A list without patches."""
    points = max(sizes.points)
    numbers = (in_memory(np.zeros(most, dtype=int)) for _ in range(2))
    shapes = (most, 3), (most, points, 3), (most, points), (most if sizes.shares else 0,)
    return TouchedPatches(np.array(0), *numbers, *(in_memory(np.empty(shape)) for shape in shapes))


def deeper(patches: Sequence[ContactPatch], limit: Any) -> Nearby:
    """Those that are near if their depth is above a limit [m]."""
    return [(np.max(patch.depths) > limit, partial(_itself, patch)) for patch in patches]


def raised(nearby: Nearby, margin: Any) -> Nearby:
    """The same of bodies that touch from this [m] away on."""
    return [(is_near, partial(_raised, made, margin)) for is_near, made in nearby]


def _raised(made: Callable[[], Any], margin: Any) -> Any:
    patch = made()
    return patch.raised(margin) if isinstance(patch, ContactPatch) else raised(patch, margin)


def _itself(patch: ContactPatch) -> ContactPatch:
    return patch


def _added(found: TouchedPatches, pair: Any, nearby: Nearby, sizes: PatchSizes) -> TouchedPatches:
    """The list with those patches of a pair that are near."""
    for j, (is_near, made) in enumerate(nearby):
        found = when(is_near, partial(_kept, pair, j, made, sizes), found)
    return found


def _kept(pair: Any, number: int, made: Callable[[], Any], sizes: PatchSizes, found: TouchedPatches) -> TouchedPatches:
    """The list with the patch of a pair that has this number among its own, or with several that may be near."""
    patch = made()
    if not isinstance(patch, ContactPatch):
        return _added(found, pair, patch, sizes)
    k, spare = np.minimum(found.count, len(found.pair) - 1), max(sizes.points) - len(patch.depths)
    found.pair[k], found.patch[k], found.normal[k] = pair, pair * len(sizes.points) + number, patch.normal
    found.points[k] = np.concatenate([patch.points, np.zeros((spare, 3))])
    found.depths[k] = np.concatenate([patch.depths, np.full(spare, -np.inf)])
    if patch.share is not None:
        found.share[k] = patch.share
    return replace(found, count=found.count + 1)
