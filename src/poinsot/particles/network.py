"""Forces of very many springs: one compiled loop that reads both ends of a spring and adds its force to both."""

from collections.abc import Callable

import numpy as np

from poinsot._memo import memo
from poinsot._types import Array, ArrayLike
from poinsot.fuse import Assembly, Kernel, aligned_zeros, kernel
from poinsot.particles.internal import check_pairs, length_and_direction
from poinsot.particles.springs import Springs, Tension, hooke

BLOCK = 32  # particles whose springs are interleaved: with their neighbours they fit into the L1 cache


class Network:
    """Springs prepared for n particles: `forces` is `spring_forces`, compiled.

    The order of all sums is fixed, so the same state gives the same bits.
    """

    def __init__(self, springs: Springs, n: int) -> None:
        pairs = np.sort(check_pairs(springs.pairs, n), axis=1)
        order = interleaved(pairs)
        self.n = n
        self.damped = springs.tension is not None or bool(springs.damping.any())  # if not, velocities are not read
        parameters = springs.parameters if self.damped else springs.parameters[:2]
        self.parameters = np.stack([p[order] for p in parameters]).T
        pull = _HOOKE[self.damped] if springs.tension is None else _custom_kernel(springs)
        self.assembly = Assembly(pull, pairs[order], rows=2 if self.damped else 1)

    def forces(self, positions: ArrayLike, velocities: ArrayLike = 0.0) -> Array:
        """sum_j T_ij n_ij [N], (n, 3), for positions (n, 3) [m] and velocities (n, 3) [m/s]. Peskin (1)."""
        F, x, v = self.zeros(), self.zeros(), self.zeros()
        x[:, :3], v[:, :3] = positions, velocities
        self.adding(F, x, v)()
        return F[:, :3].copy()

    def zeros(self) -> Array:
        """Zeros (n, 4), for vectors (n, 3) and a column of zeros: four floats are read and written at once."""
        return aligned_zeros((self.n, 4))

    def adding(self, F: Array, x: Array, v: Array) -> Callable[[], None]:
        """A function that adds the forces at the current x and v to F; all three come from `zeros`."""
        return self.assembly.bind(F, *((x, v) if self.damped else (x,)), self.parameters)


def interleaved(pairs: Array) -> Array:
    """The order of the springs: block by block of particles, the first spring of each, then the second of each, ...

    Particles are then read in the order of memory, and no addition to a particle has to wait for the one before it.
    """
    order = np.lexsort(pairs.T[::-1])
    i = pairs[order, 0]
    new = np.flatnonzero(np.diff(i, prepend=-1))
    rank = np.arange(len(i)) - np.repeat(new, np.diff(new, append=len(i)))  # among the springs of its particle
    return order[np.lexsort((i, rank, i // BLOCK))]


def _pull_kernel(tension: Tension, damped: bool) -> Kernel:
    """(x of both ends, v of both ends if damped, parameters) -> the forces on both ends. Peskin (1).

    Vectors are rows of four, the last one zero.
    """

    def pull(x: Array, v: Array, p: Array) -> Array:
        length, n = length_and_direction(x[1, :3] - x[0, :3])
        f = np.append(tension(length, n @ (v[1, :3] - v[0, :3]), *p) * n, 0.0)
        return np.stack([f, -f])

    if damped:
        return kernel("(2,4),(2,4),(3)->(2,4)")(pull)
    return kernel("(2,4),(2)->(2,4)")(lambda x, p: pull(x, np.zeros((2, 4)), np.append(p, 0.0)))


_HOOKE = {damped: _pull_kernel(hooke, damped) for damped in (False, True)}


@memo
def _custom_kernel(springs: Springs) -> Kernel:
    return _pull_kernel(springs.law, damped=True)
