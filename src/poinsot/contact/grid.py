"""Which of many balls overlap, found by a grid: each ball is compared with those in the columns around it.

Columns along z are as wide as the largest ball. The grid repeats itself after some columns, so that it needs no bounds;
balls from far away that share a column are told apart when they are compared. Those of a column are a chain: `heads`
has the first one, `follow` the next of each. So no column is ever full.
Ericson, Real-Time Collision Detection (2005), section 7.1.
"""

import math
from typing import Any

import numpy as np

from poinsot._types import Array
from poinsot.fuse import fori_loop, in_memory, when, while_loop

AROUND = np.array([[x, y] for x in (-1, 0, 1) for y in (-1, 0, 1)])  # a column and its neighbours


def is_ordered(first: np.ndarray, second: np.ndarray) -> bool:
    """Whether pairs are in the order of their first numbers, and those that share it in that of their second."""
    step = np.diff(first)
    return bool(np.all((step > 0) | ((step == 0) & (np.diff(second) > 0))))


def near_by_grid(balls: tuple[Array, Array], first: np.ndarray, second: np.ndarray, most: int) -> tuple[Any, Array]:
    """How many of the pairs of balls overlap, and their numbers, in order; the list has room for `most`. Pairs are
    ordered (`is_ordered`)."""
    centres, radii = (np.asarray(x) for x in balls)
    n = len(radii)
    side = max(3, math.ceil((2 * n) ** (1 / 2)))  # columns, after which the grid repeats itself
    width = 2.0 * fori_loop(n, lambda k, largest: np.maximum(largest, radii[k]), np.zeros(()))
    starts, seconds = np.searchsorted(first, np.arange(n + 1)), np.append(second, n)  # n: of a place beyond the last

    def enter(k: Any, chains: tuple[Array, ...]) -> tuple[Array, ...]:
        heads, follow, columns = chains
        a = n - 1 - k  # from the last one on, so that chains ascend
        column = np.floor(centres[a][:2] / width)
        x, y = (column - side * np.floor(column / side)).astype(int)
        follow[a], columns[a] = heads[x * side + y], np.stack([x, y])
        heads[x * side + y] = a
        return heads, follow, columns

    blank = (np.full(side * side, -1), np.full(n, -1), np.zeros((n, 2), dtype=int))
    heads, follow, columns = fori_loop(n, enter, tuple(map(in_memory, blank)))

    def look(a: Any, found: tuple[Any, Array]) -> tuple[Any, Array]:
        here, centre, radius, lowest = columns[a], centres[a], radii[a], np.asarray(seconds)[np.asarray(starts)[a]]

        def compare(carry: tuple[Any, tuple[Any, Array]]) -> tuple[Any, tuple[Any, Array]]:
            b, found = carry
            gap, reach = centre - centres[b], radius + radii[b]
            near = (gap @ gap < reach * reach) & (b >= lowest) & (a != b)
            return follow[b], when(near, lambda found: _with_pair(found, *_place(starts, seconds, a, b)), found)

        def visit(k: Any, found: tuple[Any, Array]) -> Any:
            there = here + np.asarray(AROUND)[k]
            x, y = np.where(there < 0, there + side, np.where(there < side, there, there - side))
            return while_loop(lambda carry: carry[0] >= 0, compare, (heads[x * side + y], found), most=n)[1]

        after: tuple[Any, Array] = fori_loop(len(AROUND), visit, found)
        return after

    found: tuple[Any, Array] = fori_loop(n, look, (np.array(0), in_memory(np.zeros(most, dtype=int))))
    return found


def _place(starts: np.ndarray, seconds: np.ndarray, a: Any, b: Any) -> tuple[Any, Any]:
    """Where the pair (a, b) is among all pairs, by halving; and whether it is there."""

    def halve(_: Any, ends: tuple[Any, Any]) -> tuple[Any, Any]:
        low, high = ends
        middle = (0.5 * (low + high)).astype(int)
        below = (np.asarray(seconds)[middle] < b) & (low < high)
        return np.where(below, middle + 1, low), np.where(below, high, middle)

    begin, end = np.asarray(starts)[a], np.asarray(starts)[a + 1]
    place, _ = fori_loop(int(np.max(np.diff(starts))).bit_length() + 1, halve, (begin, end))
    return place, (place < end) & (np.asarray(seconds)[place] == b)


def _with_pair(found: tuple[Any, Array], pair: Any, is_one: Any) -> tuple[Any, Array]:
    """A list of pairs in order, with one more at its place, if it is one; what has no room is only counted."""

    def insert(found: tuple[Any, Array]) -> tuple[Any, Array]:
        count, pairs = found

        def is_later(carry: tuple[Any, Array]) -> Any:
            k, pairs = carry
            return (k > 0) & (pairs[np.maximum(k - 1, 0)] > pair)

        def shift(carry: tuple[Any, Array]) -> tuple[Any, Array]:
            k, pairs = carry
            pairs[k] = pairs[k - 1]
            return k - 1, pairs

        k, pairs = while_loop(is_later, shift, (np.minimum(count, len(pairs) - 1), pairs), most=len(pairs))
        pairs[k] = pair
        return count + 1, pairs

    after: tuple[Any, Array] = when(is_one, insert, found)
    return after
