"""Networks of springs, stepped with the Verlet scheme: lattices numbered row by row, and one without any order."""

import functools
import itertools
from functools import partial

import numpy as np

from case import Case, Contender, Work
from poinsot.particles import Particles, Springs, Stepper, verlet

STEP = 1e-3  # s
Net = tuple[Particles, Springs]


@functools.cache
def net(size: int, damping: float, shuffled: bool) -> Net:
    """A cube of size^3 masses, joined along axes and face diagonals, with random masses, springs and velocities."""
    rng = np.random.default_rng(0)
    numbers = np.arange(size**3).reshape(size, size, size)
    pairs = []
    for d in itertools.product((-1, 0, 1), repeat=3):
        if d > (0, 0, 0) and np.abs(d).sum() <= 2:
            near, far = (tuple(slice(max(0, s * k), size + min(0, s * k)) for k in d) for s in (-1, 1))
            pairs.append(np.stack([numbers[near].ravel(), numbers[far].ravel()], axis=1))
    joined, x = np.concatenate(pairs), np.stack(np.unravel_index(numbers.ravel(), numbers.shape), axis=1)
    order = rng.permutation(size**3) if shuffled else numbers.ravel()
    joined, x = np.argsort(order)[joined], x[order]
    x = x + rng.normal(size=x.shape) * 0.01
    particles = Particles(rng.uniform(1, 2, size**3), x, rng.normal(size=x.shape) * 0.1)
    e = len(joined)
    return particles, Springs.unstretched(particles, joined, rng.uniform(1, 2, e), damping * rng.uniform(0.1, 0.2, e))


def expected(of: partial[Net], steps: int) -> np.ndarray:
    particles, springs = of()
    for _ in range(steps):
        particles = verlet(particles, STEP, springs)
    return particles.positions


def poinsot(of: partial[Net], steps: int) -> Work:
    stepper = Stepper(*of(), step=STEP)

    def work() -> np.ndarray:
        stepper.advance(steps)
        return stepper.particles.positions

    return work


class PlainNumPy:
    """The best that we know in plain NumPy: components in rows, nothing allocated but the sums, the same leapfrog."""

    def __init__(self, of: partial[Net], steps: int) -> None:
        particles, springs = of()
        self.steps = steps
        self.i, self.j = np.ascontiguousarray(springs.pairs.T)
        self.k, self.l0, self.c = (np.array(p) for p in springs.parameters)
        self.x, self.u = (np.array(a.T, order="C") for a in (particles.positions, particles.velocities))
        self.forecast = self.u.copy()
        self.h_over_m = STEP / particles.masses
        self.F, self.dv = np.empty((2, *self.x.shape))
        self.d, self.w, self.other = np.empty((3, 3, len(springs)))
        self.l, self.T, self.a = np.empty((3, len(springs)))
        self.forces()
        self.u -= 0.5 * self.h_over_m * self.F

    def difference(self, of: np.ndarray, out: np.ndarray) -> None:
        np.take(of, self.j, axis=1, out=out, mode="clip")
        np.take(of, self.i, axis=1, out=self.other, mode="clip")
        np.subtract(out, self.other, out=out)

    def forces(self) -> None:
        d, w, l, T, a = self.d, self.w, self.l, self.T, self.a
        self.difference(self.x, d)
        np.multiply(d[0], d[0], out=l)
        for k in (1, 2):
            l += np.multiply(d[k], d[k], out=a)
        np.sqrt(l, out=l)
        np.subtract(l, self.l0, out=T)
        T *= self.k
        if self.c.any():
            self.difference(self.forecast, w)
            w *= d
            np.add(w[0], w[1], out=a)
            a += w[2]
            a /= l
            a *= self.c
            T += a
        T /= l
        n = self.x.shape[1]
        for k in range(3):
            np.multiply(d[k], T, out=a)
            np.subtract(np.bincount(self.i, a, n), np.bincount(self.j, a, n), out=self.F[k])

    def __call__(self) -> np.ndarray:
        for _ in range(self.steps):
            np.multiply(self.h_over_m, self.F, out=self.dv)
            self.u += self.dv
            self.dv *= 0.5
            np.add(self.u, self.dv, out=self.forecast)
            self.x += np.multiply(STEP, self.u, out=self.dv)
            self.forces()
        return self.x.T.copy()


class SlicedNumPy(PlainNumPy):
    """The same for a lattice, knowing that all springs lead to one of nine offsets: slices, nothing gathered."""

    def __init__(self, of: partial[Net], steps: int) -> None:
        _, springs = of()
        i, j = springs.pairs.T
        self.stripes = []
        for d in np.unique(j - i).tolist():
            mine = np.flatnonzero(j - i == d)
            low, high = int(i[mine].min()), int(i[mine].max()) + 1
            k, l0, c = np.zeros((3, high - low))
            for target, source in zip((k, l0, c), springs.parameters, strict=True):
                target[i[mine] - low] = source[mine]
            self.stripes.append((slice(low, high), slice(low + d, high + d), k, l0, c))
        super().__init__(of, steps)

    def forces(self) -> None:
        self.F[...] = 0.0
        for near, far, k, l0, c in self.stripes:
            m = len(k)
            d, w, l, T, a = self.d[:, :m], self.w[:, :m], self.l[:m], self.T[:m], self.a[:m]
            np.subtract(self.x[:, far], self.x[:, near], out=d)
            np.multiply(d[0], d[0], out=l)
            for axis in (1, 2):
                l += np.multiply(d[axis], d[axis], out=a)
            np.sqrt(l, out=l)
            np.subtract(l, l0, out=T)
            T *= k
            if self.c.any():
                np.subtract(self.forecast[:, far], self.forecast[:, near], out=w)
                w *= d
                np.add(w[0], w[1], out=a)
                a += w[2]
                a /= l
                a *= c
                T += a
            T /= l
            d *= T
            self.F[:, near] += d
            self.F[:, far] -= d


def case(name: str, what: str, size: int, damping: float, shuffled: bool, target: str) -> Case:
    of = partial(net, size, damping, shuffled)
    springs = 9 * size**3 - 15 * size**2 + 6 * size
    steps = max(5, 4_000_000 // springs)  # in a row, as in a simulation
    sliced = () if shuffled else (Contender("NumPy, in slices", partial(SlicedNumPy, of, steps), "", "numpy"),)
    return Case(
        name=name,
        what=f"{size**3} masses, {springs} springs, {what}; per spring and step",
        items=steps * springs,
        contenders=(
            Contender("poinsot", partial(poinsot, of, steps)),
            Contender("NumPy, gathered and summed with bincount", partial(PlainNumPy, of, steps), target, "numpy"),
            *sliced,
        ),
        expected=partial(expected, of, steps),
        tolerance=1e-7,  # the expected steps find forces anew where damping uses a forecast
    )


CASES = (
    case("springs-damped", "a lattice numbered row by row, damped", 23, 1.0, False, ">= 5 x"),
    case("springs", "the same without damping", 23, 0.0, False, ">= 5 x"),
    case("springs-shuffled", "the damped lattice numbered at random", 23, 1.0, True, ">= 4 x"),
    case("springs-few", "a lattice numbered row by row, damped", 11, 1.0, False, ""),
    case("springs-many", "a lattice numbered row by row, damped", 49, 1.0, False, ""),
)
