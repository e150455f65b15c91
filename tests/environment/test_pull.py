"""The pull of the Earth on rigid bodies, against point masses in its field and against its own energy."""

import numpy as np
import pytest

from poinsot.environment import zonal
from poinsot.environment.pull import Planet, pull
from poinsot.spatial import Inertia, rotation

PLANETS = {
    "central": Planet(3.986e14, 6378137.0, {}),
    "J2": Planet(3.986e14, 6378137.0, {2: 1.08e-3}),
    "rough": Planet(3.986e14, 6378137.0, {2: 0.1, 3: -0.2, 4: 0.15}),  # so that every term is seen
}
Z = np.array([0.0, 0.0, 1.0])


def some_points(seed, size):
    """Masses (8,) and their places (8, 3) [m] about their centre of mass; a place of it (3,) [m]."""
    rng = np.random.default_rng(seed)
    masses, places = rng.uniform(1, 3, 8), size * rng.normal(size=(8, 3)) * (3, 1, 0.3)
    u = rng.normal(size=3)
    return masses, places - masses @ places / masses.sum(), 9e6 * u / np.linalg.norm(u)


@pytest.mark.parametrize("planet", PLANETS)
@pytest.mark.parametrize("seed", range(5))
def test_points(planet, seed):
    """The sums over point masses of energy, force and torque: what is left is of third order in size/r, 2e-4 here."""
    planet = PLANETS[planet]
    m, x, p = some_points(seed, 600.0)
    body = Inertia.points(m, x)
    got = pull(planet, p, Z, body.mass, body.moment)
    g = m[:, None] * zonal.gravitation(p + x, *planet)
    alone = pull(planet, p, Z, body.mass, np.zeros((3, 3)))
    energy = m @ zonal.potential(p + x, *planet)
    assert abs(got.energy - energy) < 2e-3 * abs(got.energy - alone.energy)
    torque, extra = np.cross(x, g).sum(axis=0), np.linalg.norm(got.force - alone.force)
    np.testing.assert_allclose(got.torque, torque, rtol=0, atol=5e-3 * np.linalg.norm(torque))
    np.testing.assert_allclose(got.force, g.sum(axis=0), rtol=0, atol=5e-3 * extra)
    np.testing.assert_array_equal(alone.torque, 0)


@pytest.mark.parametrize("planet", PLANETS)
@pytest.mark.parametrize("seed", range(5))
def test_force_and_torque_are_derivatives_of_the_energy(planet, seed):
    """To the rounding of central differences, for a body so large that its extent counts as much as its mass."""
    planet = PLANETS[planet]
    m, x, p = some_points(seed, 2e6)
    I = Inertia.points(m, x).moment

    def energy(move, turn):
        R = rotation.exp(turn)
        return pull(planet, p + move, Z, m.sum(), R @ I @ R.T).energy

    def slope(f, d):
        return np.array([(8 * (f(d * e) - f(-d * e)) - f(2 * d * e) + f(-2 * d * e)) / (12 * d) for e in np.eye(3)])

    got, none = pull(planet, p, Z, m.sum(), I), np.zeros(3)
    force, torque = slope(lambda s: -energy(s, none), 2e4), slope(lambda s: -energy(none, s), 1e-2)
    np.testing.assert_allclose(got.force, force, rtol=0, atol=1e-8 * np.linalg.norm(force))
    np.testing.assert_allclose(got.torque, torque, rtol=0, atol=1e-7 * np.linalg.norm(torque))
