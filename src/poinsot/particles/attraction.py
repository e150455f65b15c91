"""Gravitation between the masses of one object, such as the solar system: an internal force along every pair."""

from itertools import combinations
from typing import Any

import numpy as np

from poinsot._types import ArrayLike
from poinsot.particles.internal import check_pairs
from poinsot.particles.objects import Particles
from poinsot.particles.springs import Springs

G = 6.67430e-11
"""Newton's constant of gravitation [m^3/(kg s^2)]. CODATA 2018."""


def newton(length: Any, rate: Any, strength: Any, softening: Any, damping: Any) -> Any:
    """T = s l / (l^2 + e^2)^(3/2) [N], with s = G m_i m_j [N m^2]: s/l^2 without softening e [m]; zero at l = 0."""
    square = length * length + softening * softening
    square = np.where(square > 0.0, square, 1.0)
    return strength * length / (square * np.sqrt(square))


def potential(length: Any, strength: Any, softening: Any) -> Any:
    """U = -s / sqrt(l^2 + e^2) [J], zero at infinity; dU/dl is `newton`."""
    return -strength / np.sqrt(length * length + softening * softening)


def gravitation(
    particles: Particles, pairs: ArrayLike | None = None, *, constant: float = G, softening: ArrayLike = 0.0
) -> Springs:
    """The mutual attraction I_ij = G m_i m_j (x_j - x_i)/|x_j - x_i|^3 [N] of every pair of masses, or of `pairs`.

    It is an internal force by de Nivelle definition 3.2, and takes the place of springs everywhere: `simulate`,
    `derivative`, `spring_forces`, `spring_energy` (U = -sum G m_i m_j / l, zero at infinity). In other units, give
    another constant. A `softening` length e [m] bounds the force of close encounters: l^2 becomes l^2 + e^2 (Plummer).
    """
    n = len(particles)
    ij = check_pairs(list(combinations(range(n), 2)) if pairs is None else pairs, n)
    m = particles.masses
    strength = constant * m[ij[:, 0]] * m[ij[:, 1]]
    return Springs(ij, strength, softening, tension=newton, potential=potential)  # type: ignore[arg-type]
