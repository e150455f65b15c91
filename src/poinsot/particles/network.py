"""The forces of very many springs: fused kernels over particles, in the memory layout that suits them.

State and forces are kept as rows of components, the particles last. Springs are sorted into slots, such that a slot
holds at most one spring of each particle. Where many springs lead from a particle to the one d numbers further on, as
in chains, cloths and lattices numbered row by row, both ends of a slot are slices and nothing is gathered: one kernel
computes the springs of several slots, another one sums what they do to either end. All other springs are bundled by
particle, and gathered and scattered by index.

The order of all sums is fixed, so the same state gives the same bits.
"""

import functools
from collections.abc import Sequence
from typing import Any

import numpy as np

from poinsot._types import Array, ArrayLike
from poinsot.fuse import Kernel, kernel
from poinsot.particles.internal import check_pairs, length_and_direction
from poinsot.particles.springs import Springs, Tension, hooke

STRIPES = 5  # slots of slices in one kernel: more share more loads, fewer keep the values in registers
BUNDLE = 4  # slots of gathered springs in one kernel: more save sums and leave more slots empty
FILL = 1 / 3  # a stripe may be empty for the other particles: a gathered spring costs three times as much


class Network:
    """Springs prepared for n particles: `forces` is `spring_forces`, compiled."""

    def __init__(self, springs: Springs, n: int) -> None:
        pairs = np.sort(check_pairs(springs.pairs, n), axis=1)
        offsets, slots, loose = _stripes(pairs, n)
        self.n, self.reach = n, int(np.max(offsets, initial=0))
        self.rows = 6 if springs.tension is not None or springs.damping.any() else 3  # without damping, positions alone
        parts = np.array_split(np.arange(len(offsets)), -(-len(offsets) // STRIPES)) if len(offsets) else []
        self.groups: list[_Stripes | _Bundles] = [
            _Stripes(springs, self.rows, offsets[part].tolist(), slots[part], self.reach) for part in parts
        ]
        if len(loose):
            self.groups.append(_Bundles(springs, self.rows, *_bundles(pairs, loose)))

    def forces(self, positions: ArrayLike, velocities: ArrayLike = 0.0) -> Array:
        """sum_j T_ij n_ij [N], (n, 3), for positions (n, 3) [m] and velocities (n, 3) [m/s]. Peskin (1)."""
        S = self.state()
        S[:3, : self.n], S[3:, : self.n] = np.transpose(positions), np.transpose(velocities)
        return self.add(S, np.zeros((3, self.n))).T.copy()

    def state(self) -> Array:
        """Room for a state (6, n + reach), rows x and v: slots without a spring may lead beyond the n particles."""
        return np.zeros((6, self.n + self.reach))

    def add(self, S: Array, F: Array) -> Array:
        """F (3, n) plus the forces in the state S, in an array that the next call overwrites."""
        for group in self.groups:
            F = group.add(S[: self.rows], F)
        return F


def _stripes(pairs: Array, n: int) -> tuple[Array, Array, Array]:
    """Stripes of springs (i, i + d): each d (s,), the spring of each i (s, n), -1 for none; and the other springs."""
    i, d = pairs[:, 0], pairs[:, 1] - pairs[:, 0]
    _, single = np.unique(d * n + i, return_index=True)  # of springs side by side, the first
    offsets, counts = np.unique(d[single], return_counts=True)
    if len(offsets) > STRIPES:
        offsets = offsets[counts >= FILL * n]
    striped = single[np.isin(d[single], offsets)]
    slots = np.full((len(offsets), n), -1)
    slots[np.searchsorted(offsets, d[striped]), i[striped]] = striped
    return offsets, slots, np.setdiff1d(np.arange(len(pairs)), striped)


def _bundles(pairs: Array, loose: Array) -> tuple[Array, Array, Array]:
    """Springs that share a particle, up to BUNDLE at a time: the particle (m,), the others and the springs (BUNDLE, m).

    An empty slot leads from a particle to itself: its length is zero, and so is its force.
    """
    loose = loose[np.lexsort((pairs[loose, 1], pairs[loose, 0]))]
    i, j = pairs[loose].T
    new = np.flatnonzero(np.diff(i, prepend=-1))
    place = np.arange(len(i)) - np.repeat(new, np.diff(new, append=len(i)))  # among the springs of its particle
    slot, bundle = place % BUNDLE, np.cumsum(place % BUNDLE == 0) - 1
    near = i[slot == 0]
    far, springs = np.tile(near, (BUNDLE, 1)), np.full((BUNDLE, len(near)), -1)
    far[slot, bundle], springs[slot, bundle] = j, loose
    return near, far, springs


class _Stripes:
    """Slots of springs from all particles i to the particles i + d, for some offsets d."""

    def __init__(self, springs: Springs, rows: int, offsets: Sequence[int], ids: Array, reach: int) -> None:
        slots, n = ids.shape
        self.n, self.offsets, self.parameters = n, offsets, _parameters(springs, rows, ids)
        self.pull, self.collect = _pull_kernel(springs.tension, slots, rows), _collect_kernel(slots)
        near, f = np.empty((3, n)), np.zeros((slots, 3, reach + n))  # the first columns are forces of no spring
        self.f = [near.T, *(each[:, reach:].T for each in f)]
        self.shifted = [near.T, *(each[:, reach - d : reach - d + n].T for each, d in zip(f, offsets, strict=True))]
        self.F = np.empty((3, n))

    def add(self, S: Array, F: Array) -> Array:
        ends = [S[:, d : d + self.n].T for d in (0, *self.offsets)]
        self.pull(*ends, self.parameters, out=tuple(self.f))
        self.collect(F.T, *self.shifted, out=self.F.T)
        return self.F


class _Bundles:
    """Slots of springs from the particles near (m,) to the particles far (slots, m)."""

    def __init__(self, springs: Springs, rows: int, near: Array, far: Array, ids: Array) -> None:
        self.ends, self.parameters = [near, *far], _parameters(springs, rows, ids)
        self.pull = _pull_kernel(springs.tension, len(far), rows)
        self.S, self.f = np.empty((1 + len(far), rows, len(near))), np.empty((1 + len(far), 3, len(near)))

    def add(self, S: Array, F: Array) -> Array:
        for end, gathered in zip(self.ends, self.S, strict=True):
            np.take(S, end, axis=1, out=gathered, mode="clip")
        self.pull(*(s.T for s in self.S), self.parameters, out=tuple(f.T for f in self.f))
        F = F.copy()
        for k, (end, f) in enumerate(zip(self.ends, self.f, strict=True)):
            for row, component in zip(F, f, strict=True):
                (np.subtract if k else np.add).at(row, end, component)
        return F


def _parameters(springs: Springs, rows: int, ids: Array) -> Array:
    """(m, slots, q), with m last in memory: what `_pull` takes of each spring; zeros where there is none."""
    parameters: list[Any] = [*springs.parameters][: 2 if rows == 3 else 3]
    if springs.tension is not None:
        parameters.append(np.ones(len(springs)))
    return np.stack([np.where(ids >= 0, p[ids], 0.0) for p in parameters], axis=1).transpose(2, 0, 1)


@functools.lru_cache(maxsize=64)
def _pull_kernel(tension: Tension | None, slots: int, rows: int) -> Kernel:
    """(near end, each far end, parameters) -> (sum of the forces on the near end, the force of each slot)."""

    def pull(near: Array, *rest: Array) -> tuple[Array, ...]:
        far, parameters = rest[:slots], rest[slots]
        f = [_pull(s - near, p, tension) for s, p in zip(far, parameters, strict=True)]
        return sum(f[1:], start=f[0]), *f

    q = 2 if rows == 3 else 3 if tension is None else 4
    inputs = [f"({rows})"] * (1 + slots) + [f"({slots},{q})"]
    return kernel(f"{','.join(inputs)}->{','.join(['(3)'] * (1 + slots))}")(pull)


def _pull(s: Array, p: Array, tension: Tension | None) -> Array:
    """T n [N], (3,), on the near end of a spring whose far end has the relative state s = (d, w). Peskin (1)."""
    length, n = length_and_direction(s[:3])
    if len(s) == 3:
        return hooke(length, 0.0, p[0], p[1], 0.0) * n
    rate = n @ s[3:]
    if tension is None:
        return hooke(length, rate, p[0], p[1], p[2]) * n
    return np.where(p[3] > 0.0, tension(length, rate, p[0], p[1], p[2]), 0.0) * n


@functools.cache
def _collect_kernel(slots: int) -> Kernel:
    """(F, sum on the near ends, force of each slot on the far end) -> F."""

    def collect(F: Array, near: Array, *far: Array) -> Array:
        return F + (near - sum(far[1:], start=far[0]))

    return kernel(f"{','.join(['(3)'] * (2 + slots))}->(3)")(collect)
