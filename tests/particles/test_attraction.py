"""A solar system: masses that attract each other, an object without any shape of its own. De Nivelle section 3.1."""

import numpy as np
import pytest
from random_objects import law, make_object, same, seeds, sizes
from scipy.integrate import solve_ivp
from scipy.optimize import brentq

import poinsot as pt
from poinsot.particles import (
    G,
    Particles,
    Springs,
    Stepper,
    angular_momentum,
    centre_of_mass,
    derivative,
    gravitation,
    internal_forces,
    kinetic_energy,
    momentum,
    simulate,
    spring_energy,
    spring_forces,
    tensions,
    torque,
)

ORIGIN = np.zeros(3)


def order(errors):
    return np.log2(np.array(errors[:-1]) / errors[1:])


def force_matrix(o, constant):
    """I_ij = G m_i m_j (x_j - x_i)/|x_j - x_i|^3, term by term."""
    n, m, x = len(o), o.masses, o.positions
    I = np.zeros((n, n, 3))
    for i in range(n):
        for j in range(n):
            if i != j:
                I[i, j] = constant * m[i] * m[j] * (x[j] - x[i]) / np.linalg.norm(x[j] - x[i]) ** 3
    return I


@law(seed=seeds, n=sizes)
def test_it_is_an_internal_force_of_definition_3_2(seed, n):
    o = make_object(seed, n)
    I = force_matrix(o, 2.0)
    F = spring_forces(o, gravitation(o, constant=2.0))
    size = np.abs(I).max()
    same(F, internal_forces(o, I), scale=size)
    same(F.sum(axis=0), ORIGIN, scale=n * size)
    same(torque(o, F, (4.0, 5.0, 6.0)), ORIGIN, scale=10 * n * size)


def test_forces_are_the_slope_of_the_energy():
    """-F = dU/dx with U = -sum G m m / l, by the compiler's gradient; with and without softening."""
    o = make_object(5, 5, batch=(20,))

    @pt.kernel("(n,3),()->()")
    def energy(x, softening):
        o_there = Particles(o.masses, x)
        return spring_energy(o_there, gravitation(o_there, softening=softening, constant=1.0))

    for softening in (0.0, 0.3):
        F = spring_forces(o, gravitation(o, softening=softening, constant=1.0))
        same(pt.gradient(energy)(o.positions, softening), -F, tolerance=1e-12)


def test_softening_bounds_the_force_and_nothing_pulls_at_no_distance():
    close = Particles([1.0, 1.0], [(0, 0, 0), (1e-9, 0, 0)])
    assert tensions(close, gravitation(close, constant=1.0)) > 1e17
    assert tensions(close, gravitation(close, constant=1.0, softening=0.1)) < 1e-5
    same(spring_energy(close, gravitation(close, constant=1.0, softening=0.1)), -10.0)
    together = Particles([1.0, 1.0], np.zeros((2, 3)))
    assert not spring_forces(together, gravitation(together)).any()


def test_some_pairs_only():
    """Moons that are too light to attract: pairs with the first mass alone."""
    o = make_object(2, 4)
    pulls = gravitation(o, [(0, 1), (0, 2), (0, 3)], constant=1.0)
    I = force_matrix(o, 1.0)
    I[1:, 1:] = 0.0
    same(spring_forces(o, pulls), I.sum(axis=1), scale=np.abs(I).max())


def test_weight_at_the_surface_of_the_earth():
    o = Particles([5.9722e24, 1.0], [(0, 0, 0), (6.371e6, 0, 0)])
    assert tensions(o, gravitation(o)) == pytest.approx(9.82, abs=0.005)
    assert pytest.approx(6.6743e-11) == G


# Two bodies: Kepler.

A, E, MASSES = 1.0, 0.6, np.array([1.0, 0.4])
N = np.sqrt(MASSES.sum() / A**3)  # the mean motion, Kepler's third law, with G = 1
PERIOD = 2 * np.pi / N


def kepler(t):
    """x2 - x1 and its rate on an ellipse with a focus in the origin: M = n t = u - e sin u."""
    u = brentq(lambda u: u - E * np.sin(u) - N * t, -1, N * t + 2, xtol=1e-15, rtol=1e-15)
    b = A * np.sqrt(1 - E * E)
    rate = N / (1 - E * np.cos(u))
    return np.array([A * (np.cos(u) - E), b * np.sin(u), 0]), rate * np.array([-A * np.sin(u), b * np.cos(u), 0])


def two_bodies():
    r, v = kepler(0.0)
    share = np.array([-MASSES[1], MASSES[0]])[:, None] / MASSES.sum()
    return Particles(MASSES, share * r, share * v + np.array([0.1, 0.2, 0.3]))


def test_two_bodies_move_on_keplers_ellipse():
    """Exact, by a tight solver from the derivative (1); the common centre of mass flies straight."""
    o = two_bodies()
    pulls = gravitation(o, constant=1.0)

    def rhs(t, y):
        x, v = y.reshape(2, -1, 3)
        return np.concatenate([np.ravel(a) for a in derivative(Particles(MASSES, x, v), pulls)])

    t = 1.3 * PERIOD
    y0 = np.concatenate([o.positions.ravel(), o.velocities.ravel()])
    x, v = solve_ivp(rhs, (0, t), y0, method="DOP853", rtol=1e-13, atol=1e-13).y[:, -1].reshape(2, 2, 3)
    r, rdot = kepler(t)
    same(x[1] - x[0], r, tolerance=1e-10)
    same(v[1] - v[0], rdot, tolerance=1e-10)
    same(MASSES @ x / MASSES.sum(), centre_of_mass(o) + t * np.array([0.1, 0.2, 0.3]), tolerance=1e-12)


def test_verlet_follows_the_ellipse_with_second_order_and_keeps_the_momenta():
    o, errors = two_bodies(), []
    pulls = gravitation(o, constant=1.0)
    for steps in (2000, 4000, 8000):
        run = simulate(o, pulls, step=PERIOD / steps, steps=steps, every=steps // 20)
        errors.append(np.abs(run[-1].positions[1] - run[-1].positions[0] - kepler(PERIOD)[0]).max())
        P, L = momentum(run.particles), angular_momentum(run.particles, ORIGIN)
        same(P, np.broadcast_to(P[0], P.shape), tolerance=1e-12)
        same(L, np.broadcast_to(L[0], L.shape), tolerance=1e-12)
    assert np.all(np.abs(order(errors) - 2) < 0.05)


def test_keplers_third_law_of_planets_that_do_not_attract_each_other():
    """a^3/T^2 is the same for three planets on circles, all around a sun that hardly moves."""
    radii = np.array([1.0, 2.0, 3.0])
    masses = np.array([1.0, 1e-14, 1e-14, 1e-14])
    x = np.concatenate([[0], radii])[:, None] * np.array([1.0, 0, 0])
    v = np.concatenate([[0], radii**-0.5])[:, None] * np.array([0, 1.0, 0])
    o = Particles(masses, x, v)
    stepper = Stepper(o, gravitation(o, constant=1.0), step=1e-3)
    stepper.advance(1000)
    angle = np.arctan2(stepper.particles.positions[1:, 1], stepper.particles.positions[1:, 0])
    same(radii**3 * angle**2, np.ones(3), tolerance=1e-6)  # the error of the steps


# Three bodies.


def figure_eight():
    """Three equal masses that chase each other on one eight: Chenciner and Montgomery, Ann. Math. 152 (2000).

    The initial state and the period are those of Simo, to eight digits.
    """
    x = np.array([0.97000436, -0.24308753, 0.0])
    v = np.array([-0.93240737, -0.86473146, 0.0])
    return Particles(np.ones(3), [x, -x, ORIGIN], [-v / 2, -v / 2, v]), 6.32591398


def test_three_bodies_chase_each_other_on_one_eight():
    o, period = figure_eight()
    pulls, errors = gravitation(o, constant=1.0), []
    for steps in (1500, 3000, 6000):
        run = simulate(o, pulls, step=period / steps, steps=steps, every=steps // 3)
        errors.append(np.abs(run[-1].positions - o.positions).max())
    assert np.all(np.abs(order(errors) - 2) < 0.1)  # a closed curve ...
    assert errors[-1] < 3e-5
    same(run[1].positions, o.positions[[2, 0, 1]], tolerance=1e-4)  # ... on which each is where another was
    P, L = momentum(run.particles), angular_momentum(run.particles, ORIGIN)
    same(P, np.zeros_like(P), tolerance=1e-13)
    same(L, np.broadcast_to(L[0], L.shape), tolerance=1e-12)


def test_the_eight_in_a_world():
    """The same object in a world, by a scheme of fourth order; the ledger balances."""
    o, period = figure_eight()
    world = pt.World(gravity=(0, 0, 0))
    world.add_particles("mass", o, gravitation(o, constant=1.0))
    run = world.simulate(duration=period, step=period / 3000, every=period)
    same(run.data.position.isel(time=-1).values, o.positions, tolerance=1e-7)  # the start is known to eight digits
    assert run.ledger.relative_residual.max() < 1e-11


def test_energy_of_the_eight_stays_bounded():
    o, period = figure_eight()
    pulls = gravitation(o, constant=1.0)
    run = simulate(o, pulls, step=period / 1000, steps=30_000, every=10)
    energy = kinetic_energy(run.particles) + spring_energy(run.particles, pulls)
    early, late = np.abs(energy / energy[0] - 1)[1:].reshape(2, -1).max(axis=1)
    assert late < 1.1 * early  # no drift over thirty periods
    assert early < 5e-5  # of second order in the step


@law(examples=10, seed=seeds, n=sizes)
def test_any_swarm_keeps_its_momenta(seed, n):
    o = make_object(seed, n)
    run = simulate(o, gravitation(o, constant=1.0, softening=0.2), step=1e-2, steps=300, every=100)
    P, L = momentum(run.particles), angular_momentum(run.particles, ORIGIN)
    same(P, np.broadcast_to(P[0], P.shape), tolerance=1e-12, scale=10.0)
    same(L, np.broadcast_to(L[0], L.shape), tolerance=1e-12, scale=100.0)


def test_a_potential_needs_its_law():
    with pytest.raises(ValueError, match="a `potential` belongs to a custom law: give its `tension` as well"):
        Springs([(0, 1)], 1.0, 0.0, potential=lambda length, *_: length)
