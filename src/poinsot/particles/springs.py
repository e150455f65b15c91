"""Springs between point masses: tension, forces, energy. Peskin (1)-(3)."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Self, TypeAlias

import numpy as np

from poinsot._types import Array, ArrayLike
from poinsot.fuse import is_traced
from poinsot.particles.internal import accumulate, check_pairs, length_and_direction
from poinsot.particles.objects import Particles
from poinsot.spatial.arrays import as_array, dot

Tension: TypeAlias = Callable[..., Any]
"""T(length [m], rate [m/s], stiffness, rest_length, damping) -> tension [N], written for one spring or for arrays."""

Potential: TypeAlias = Callable[..., Any]
"""U(length [m], stiffness, rest_length) -> energy [J], with dU/dlength = T(length, 0, ...)."""


def hooke(length: Any, rate: Any, stiffness: Any, rest_length: Any, damping: Any) -> Any:
    """T = k (l - l_0) + c dl/dt [N]."""
    return stiffness * (length - rest_length) + damping * rate


@dataclass(frozen=True, eq=False)
class Springs:
    """e springs, each between two masses of one object.

    pairs (e, 2) are indices of masses; stiffness [N/m], rest_length [m] and damping [N s/m] are (e,) each, or one
    number for all. `tension` is a custom law in place of Hooke's: a plain NumPy function T(length, rate, stiffness,
    rest_length, damping) [N], positive in tension; it may ignore some of the three parameters, as in
    `lambda length, rate, *_: 3.0 * length**2`. `potential` is the energy of such a law, U(length, stiffness,
    rest_length) [J], where it is known; otherwise `spring_energy` integrates the law.
    """

    pairs: Array
    stiffness: Array
    rest_length: Array
    damping: Array = 0.0  # type: ignore[assignment]
    tension: Tension | None = None
    potential: Potential | None = None

    def __post_init__(self) -> None:
        pairs = check_pairs(self.pairs)
        if self.potential is not None and self.tension is None:
            raise ValueError("a `potential` belongs to a custom law: give its `tension` as well.")
        object.__setattr__(self, "pairs", pairs)
        for name, unit in (("stiffness", "N/m"), ("rest_length", "m"), ("damping", "N s/m")):
            value = as_array(getattr(self, name))
            if value.shape not in ((), (1,), (len(pairs),)):
                raise ValueError(
                    f"{name} of {len(pairs)} springs must be one number or have shape ({len(pairs)},) [{unit}]; got "
                    f"{value.shape}."
                )
            if not is_traced(value):
                value = np.asarray(value, dtype=float)
                if not (np.isfinite(value) & (value >= 0)).all() and self.tension is None:
                    s = int(np.argmin(np.isfinite(value) & (value >= 0)))
                    raise ValueError(
                        f"{name} of spring {s} is {value.ravel()[s]} {unit}; it must be zero or more. For another law "
                        "give `tension`."
                    )
            object.__setattr__(self, name, np.broadcast_to(value, (len(pairs),)))

    @classmethod
    def unstretched(
        cls,
        particles: Particles,
        pairs: ArrayLike,
        stiffness: ArrayLike,
        damping: ArrayLike = 0.0,
        tension: Tension | None = None,
    ) -> Self:
        """Springs whose rest lengths are the present distances of the masses."""
        ij = check_pairs(pairs, len(particles))
        d = particles.positions[ij[:, 1]] - particles.positions[ij[:, 0]]
        return cls(ij, stiffness, length_and_direction(d)[0], damping, tension)  # type: ignore[arg-type]

    def __len__(self) -> int:
        """The number e of springs."""
        return int(self.pairs.shape[0])

    @property
    def parameters(self) -> tuple[Array, Array, Array]:
        """Stiffness, rest length and damping, (e,) each."""
        return self.stiffness, self.rest_length, self.damping

    @property
    def law(self) -> Tension:
        """T(length, rate, stiffness, rest_length, damping)."""
        return self.tension or hooke


def stretch(particles: Particles, springs: Springs) -> tuple[Array, Array, Array]:
    """Length l (..., e) [m], rate dl/dt (..., e) [m/s], unit vector n (..., e, 3) from the first to the second mass."""
    ij = check_pairs(springs.pairs, len(particles))
    x, v = particles.positions, particles.velocities
    length, n = length_and_direction(x[..., ij[:, 1], :] - x[..., ij[:, 0], :])
    return length, dot(n, v[..., ij[:, 1], :] - v[..., ij[:, 0], :]), n


def lengths(particles: Particles, springs: Springs) -> Array:
    """l = |x_j - x_i| [m], (..., e)."""
    return stretch(particles, springs)[0]


def rates(particles: Particles, springs: Springs) -> Array:
    """dl/dt = n . (v_j - v_i) [m/s], (..., e)."""
    return stretch(particles, springs)[1]


def tensions(particles: Particles, springs: Springs) -> Array:
    """T_ij = T_ji [N], (..., e), positive in tension. Peskin (3)."""
    length, rate, _ = stretch(particles, springs)
    return springs.law(length, rate, *springs.parameters)


def spring_forces(particles: Particles, springs: Springs) -> Array:
    """sum_j T_ij n_ij [N], (..., n, 3) in W: the spring forces on each mass. Peskin (1)."""
    length, rate, n = stretch(particles, springs)
    T = springs.law(length, rate, *springs.parameters)
    return accumulate(T[..., None] * n, springs.pairs, len(particles))


def spring_energy(particles: Particles, springs: Springs) -> Array:
    """The energy stored in the springs [J], shape (...): k (l - l_0)^2 / 2 each.

    For a custom law it is its `potential`. Without one it is the work of T(s, 0) ds from the rest length to the length,
    by Gauss quadrature with 16 nodes: accurate to rounding where the law is smooth between the two.
    """
    length, _, _ = stretch(particles, springs)
    k, l0, _ = springs.parameters
    if springs.tension is None:
        return np.sum(0.5 * k * (length - l0) ** 2, axis=-1)
    if springs.potential is not None:
        return np.sum(springs.potential(length, k, l0), axis=-1)
    nodes, weights = np.polynomial.legendre.leggauss(16)
    work = 0.0
    for s, w in zip((nodes + 1) / 2, weights / 2, strict=True):
        work = work + w * springs.tension(l0 + s * (length - l0), 0.0 * length, *springs.parameters)
    return np.sum(work * (length - l0), axis=-1)


def dissipation(particles: Particles, springs: Springs) -> Array:
    """The power dissipated by damping [W], shape (...): c l'^2 each, (T(l, l') - T(l, 0)) l' for any law."""
    length, rate, _ = stretch(particles, springs)
    if springs.tension is None:
        return np.sum(springs.damping * rate**2, axis=-1)
    T, T_still = (springs.tension(length, r, *springs.parameters) for r in (rate, 0.0 * rate))
    return np.sum((T - T_still) * rate, axis=-1)
