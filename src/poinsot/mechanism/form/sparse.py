"""Symmetric systems with many zeros whose places are known: what is independent is solved apart, in an order that keeps
the factors sparse."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, TypeAlias

import numpy as np

from poinsot._types import Array
from poinsot.fuse import fori_loop, is_traced, solve_spd

DENSE = 12  # unknowns, up to which zeros do not matter
MOST = 20_000  # operations of a factorisation in straight-line code


@dataclass(frozen=True)
class Pattern:
    """The unknowns that belong together, part by part, each in the order in which they are eliminated, last first.

    `lower`: for each part, by the place of an unknown in it, the earlier places with which it shares an entry of the
    factors.
    """

    parts: tuple[tuple[int, ...], ...]
    lower: tuple[tuple[tuple[int, ...], ...], ...]


def pattern(n: int, groups: Iterable[Sequence[int]]) -> Pattern:
    """The pattern of a matrix (n, n) that is a sum of full blocks, each for a group of unknowns."""
    near: list[set[int]] = [set() for _ in range(n)]
    for group in groups:
        for i in group:
            near[i].update(group)
    for i in range(n):
        near[i].discard(i)
    parts = _parts(near)
    found = [_ordered(part, near) for part in parts]
    return Pattern(tuple(order for order, _ in found), tuple(lower for _, lower in found))


def _parts(near: Sequence[set[int]]) -> list[list[int]]:
    """The unknowns that are joined, directly or through others."""
    parts: list[list[int]] = []
    left = set(range(len(near)))
    while left:
        part, waiting = set(), [min(left)]
        while waiting:
            i = waiting.pop()
            if i not in part:
                part.add(i)
                waiting += near[i]
        parts.append(sorted(part))
        left -= part
    return parts


def _ordered(part: Sequence[int], near: Sequence[set[int]]) -> tuple[tuple[int, ...], tuple[tuple[int, ...], ...]]:
    """An order of elimination, and its pattern: next is the unknown with the fewest neighbours (minimum degree)."""
    if len(part) <= DENSE:
        return tuple(part), tuple(tuple(range(k)) for k in range(len(part)))
    joined = {i: set(near[i]) for i in part}
    eliminated: list[tuple[int, set[int]]] = []
    while joined:
        i = min(joined, key=lambda i: (len(joined[i]), -i))
        others = joined.pop(i)
        for j in others:
            joined[j] = (joined[j] | others) - {i, j}
        eliminated.append((i, others))
    order = tuple(i for i, _ in reversed(eliminated))
    place = {i: k for k, i in enumerate(order)}
    return order, tuple(tuple(sorted(place[j] for j in others)) for _, others in reversed(eliminated))


Solver: TypeAlias = Callable[[Array], Array]


def solver(lower: Sequence[Sequence[int]], S: Array) -> Solver:
    """b (n,) -> x (n,) with S x = b, S (n, n) positive definite; `lower`: its pattern, in the same order."""
    if not is_traced(S) or len(S) <= DENSE:
        return partial(solve_spd, S)
    if sum(len(under) * (len(under) + 1) // 2 for under in lower) > MOST:
        return in_memory(S)
    return factorised(lower, S)


def factorised(lower: Sequence[Sequence[int]], S: Array) -> Solver:
    """The solver by S = L^T D L, in straight-line code; `lower`: the places of L left of the diagonal."""
    return Factors.of(lower, S).solve


@dataclass(frozen=True, eq=False)
class Factors:
    """S = L^T D L (n, n), in straight-line code: by row, the places of L left of the diagonal and its elements there;
    and 1/D (n,).

    Featherstone, Rigid Body Dynamics Algorithms (2008), section 6.5.
    """

    lower: Sequence[Sequence[int]]
    L: Mapping[tuple[int, int], Any]
    inverse_pivots: Array

    @classmethod
    def of(cls, lower: Sequence[Sequence[int]], S: Array) -> "Factors":
        n = len(lower)
        L, D = {(k, i): S[k, i] for k in range(n) for i in (k, *lower[k])}, {}
        for k in reversed(range(n)):
            D[k] = 1 / L[k, k]
            scaled = {i: L[k, i] * D[k] for i in lower[k]}
            for i, a in scaled.items():
                for j in (j for j in lower[k] if j <= i):
                    L[i, j] = L[i, j] - a * L[k, j]
            L |= {(k, i): a for i, a in scaled.items()}
        return cls(lower, L, np.stack([D[k] for k in range(n)]))

    def solve(self, b: Array) -> Array:
        """x (n,) with S x = b."""
        return self.outward(self.inverse_pivots * self.inward(b))

    def inward(self, b: Array) -> Array:
        """L^-T b (n,)."""
        x = list(b)
        for k in reversed(range(len(x))):
            for i in self.lower[k]:
                x[i] = x[i] - self.L[k, i] * x[k]
        return np.stack(x)

    def outward(self, b: Array) -> Array:
        """L^-1 b (n,)."""
        x = list(b)
        for k in range(len(x)):
            for i in self.lower[k]:
                x[k] = x[k] - self.L[k, i] * x[i]
        return np.stack(x)


def filled(n: int, groups: Iterable[Iterable[int]]) -> list[tuple[int, ...]]:
    """The places of L, by row, of a matrix (n, n) that is a sum of full blocks, each for a group of unknowns, if the
    last unknown is eliminated first: of a tree, all that carry the one of the row."""
    lower: list[set[int]] = [set() for _ in range(n)]
    for group in map(set, groups):
        for k in group:
            lower[k].update(i for i in group if i < k)
    for k in reversed(range(n)):
        for i in lower[k]:
            lower[i].update(j for j in lower[k] if j < i)
    return [tuple(sorted(places)) for places in lower]


def in_memory(S: Array) -> Solver:
    """The solver by elimination in loops: L below the diagonal and U above it, in one array in memory."""
    n = len(S)

    def eliminate(k: Array, LU: Array) -> Array:
        inverse = 1 / LU[k, k]

        def from_row(below: Array, LU: Array) -> Array:
            i = k + 1 + below
            factor = LU[i, k] * inverse

            def entry(beside: Array, LU: Array) -> Array:
                j = k + 1 + beside
                LU[i, j] = LU[i, j] - factor * LU[k, j]
                return LU

            LU = fori_loop(n - 1 - k, entry, LU)
            LU[i, k] = factor
            return LU

        return fori_loop(n - 1 - k, from_row, LU)

    start = np.empty((n, n))
    start[...] = S
    LU: Array = fori_loop(n, eliminate, start)
    return partial(_substituted, LU)


def _substituted(LU: Array, b: Array) -> Array:
    """x (n,) with L U x = b, both in one array."""
    n = len(b)

    def forward(i: Array, x: Array) -> Array:
        x[i] = fori_loop(i, lambda k, left: left - LU[i, k] * x[k], x[i])
        return x

    def back(last: Array, x: Array) -> Array:
        i = n - 1 - last
        left = fori_loop(last, lambda c, left: left - LU[i, i + 1 + c] * x[i + 1 + c], x[i])
        x[i] = left / LU[i, i]
        return x

    begin = np.empty(n)
    begin[...] = b
    x: Array = fori_loop(n, back, fori_loop(n, forward, begin))
    return x
