"""Springs: tension, energy and dissipation."""

import numpy as np
import pytest
from random_objects import law, make_object, make_springs, rope, same, seeds, sizes

import poinsot as pt
from poinsot.particles import (
    Particles,
    Springs,
    central_forces,
    dissipation,
    lengths,
    natural_frequencies,
    rates,
    spring_energy,
    spring_forces,
    stable_step,
    tensions,
)

LAWS = [{}, {"tension": rope}]


def test_a_spring_by_hand():
    o = Particles([1, 1], [(0, 0, 0), (0, 3, 4)], [(0, 0, 0), (0, 0, 5)])
    s = Springs([(0, 1)], stiffness=2.0, rest_length=4.0, damping=0.5)
    assert lengths(o, s) == 5
    same(rates(o, s), 4.0)
    same(tensions(o, s), 2 * 1 + 0.5 * 4)
    same(spring_forces(o, s), 4.0 * np.array([(0, 0.6, 0.8), (0, -0.6, -0.8)]))
    same(spring_energy(o, s), 1.0)
    same(dissipation(o, s), 8.0)


@law(seed=seeds, n=sizes)
def test_spring_forces_are_central_forces(seed, n):
    o, s = make_object(seed, n), make_springs(seed, n, 2 * n)
    same(spring_forces(o, s), central_forces(o, s.pairs, tensions(o, s)))


@pytest.mark.parametrize("kind", LAWS)
@law(seed=seeds, n=sizes)
def test_forces_are_the_slope_of_the_energy(kind, seed, n):
    o, s = make_object(seed, n), make_springs(seed, n, n, damping=0.0, **kind)
    direction = np.random.default_rng(seed).normal(size=(n, 3))

    def energy(t):
        return spring_energy(Particles(o.masses, o.positions + t * direction), s)

    h = 1e-5
    slope = (energy(h) - energy(-h)) / (2 * h)
    same(slope, -np.sum(spring_forces(o, s) * direction), tolerance=1e-6, scale=100.0)


@pytest.mark.parametrize("kind", LAWS)
@law(seed=seeds, n=sizes)
def test_power_is_stored_or_dissipated(kind, seed, n):
    """-sum F . v = dU/dt + dissipation, term by term to rounding."""
    o, s = make_object(seed, n), make_springs(seed, n, n, **kind)
    undamped = Springs(s.pairs, s.stiffness, s.rest_length, 0.0, s.tension)
    stored = -np.sum(spring_forces(o, undamped) * o.velocities)
    heat = dissipation(o, s)
    assert heat >= 0
    same(-np.sum(spring_forces(o, s) * o.velocities), stored + heat, scale=1e3)
    if not kind:
        same(heat, np.sum(s.damping * rates(o, s) ** 2))


@law(seed=seeds, n=sizes)
def test_a_rigid_motion_dissipates_nothing(seed, n):
    o = make_object(seed, n)
    v = np.array([1.0, 2.0, 3.0]) + np.cross([0.3, -0.2, 0.9], o.positions)
    o, s = Particles(o.masses, o.positions, v), make_springs(seed, n, 2 * n)
    same(dissipation(o, s), 0.0, scale=10.0)


def test_hooke_written_by_hand_is_hooke():
    o, s = make_object(5, 8), make_springs(5, 8, 20)
    own = Springs(s.pairs, s.stiffness, s.rest_length, s.damping, lambda l, r, k, l0, c: k * (l - l0) + c * r)
    same(spring_forces(o, own), spring_forces(o, s))
    same(spring_energy(o, own), spring_energy(o, s))
    same(dissipation(o, own), dissipation(o, s))
    same(natural_frequencies(o, own), natural_frequencies(o, s), tolerance=1e-6)


def test_gravitation_as_a_custom_law():
    """Two masses on a circle: T = G m M / l^2 keeps them there."""
    pull = 4.0
    o = Particles([1, 1], [(1, 0, 0), (-1, 0, 0)])
    s = Springs([(0, 1)], 0.0, 0.0, tension=lambda length, rate, *_: pull / length**2)
    same(spring_forces(o, s), [(-1, 0, 0), (1, 0, 0)])


def test_unstretched_springs_are_at_rest():
    o = make_object(6, 7)
    s = Springs.unstretched(o, [(0, 1), (1, 2), (6, 3)], stiffness=100.0, damping=1.0)
    assert not spring_forces(Particles(o.masses, o.positions), s).any()
    assert spring_energy(o, s) == 0
    assert len(s) == 3


def test_instants_and_kernels():
    o, s = make_object(7, 5, batch=(4, 3)), make_springs(7, 5, 9)
    F = spring_forces(o, s)
    U = spring_energy(o, s)
    assert F.shape == (4, 3, 5, 3)
    assert U.shape == dissipation(o, s).shape == (4, 3)

    @pt.kernel("(n,3),(n,3),()->(n,3),()")
    def at_stiffness(x, v, factor):
        springs = Springs(s.pairs, factor * s.stiffness, s.rest_length, s.damping)
        p = Particles(o.masses, x, v)
        return spring_forces(p, springs), spring_energy(p, springs)

    forces, energy = at_stiffness(o.positions, o.velocities, 1.0)
    same(forces, F)
    same(energy, U)


def test_frequencies_of_two_masses():
    """omega^2 = k/mu, with the reduced mass mu; all other motions are free."""
    o = Particles([1.0, 3.0], [(0, 0, 0), (1, 2, 2)])
    s = Springs.unstretched(o, [(0, 1)], 12.0)
    same(natural_frequencies(o, s), [0, 0, 0, 0, 0, 4], tolerance=1e-7)
    assert stable_step(o, s) <= 2 / 4
    assert stable_step(o, Springs([], [], [])) == np.inf


@law(seed=seeds, n=sizes)
def test_stable_step_is_below_the_limit(seed, n):
    o, s = make_object(seed, n), make_springs(seed, n, 3 * n, damping=0.0)
    assert stable_step(o, s) <= 2 / natural_frequencies(o, s)[-1] * (1 + 1e-9)


def test_a_free_body_has_six_zeros():
    o = make_object(8, 6)
    s = Springs.unstretched(o, [(i, j) for i in range(6) for j in range(i)], 1e3)
    omega = natural_frequencies(o, s)
    assert np.all(omega[:6] < 1e-4)
    assert omega[6] > 1


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (([(0, 1)], -1.0, 1.0), r"stiffness of spring 0 is -1.0 N/m; it must be zero or more. For another law give"),
        (([(0, 1), (1, 2)], 1.0, [1.0, np.nan]), r"rest_length of spring 1 is nan m"),
        (([(0, 1)], 1.0, 1.0, -0.1), r"damping of spring 0 is -0.1 N s/m"),
        (([(0, 1), (1, 2)], [1.0, 2.0, 3.0], 1.0), r"stiffness of 2 springs must be one number or have shape \(2,\)"),
        (([(1, 1)], 1.0, 1.0), r"pair 0, \(1, 1\), joins mass 1 to itself"),
    ],
)
def test_what_is_not_a_spring_is_rejected(arguments, message):
    with pytest.raises(ValueError, match=message):
        Springs(*arguments)


def test_a_spring_to_a_mass_that_does_not_exist_is_rejected():
    with pytest.raises(ValueError, match=r"pair 0, \(0, 5\), names a mass that does not exist; there are 0 to 2"):
        spring_forces(make_object(1, 3), Springs([(0, 5)], 1.0, 1.0))


@pytest.mark.parametrize("potential", [None, lambda l, k, l0: k * (l - l0) ** 4 / 4])
def test_the_energy_of_a_law_of_ones_own_in_a_batch(potential):
    """The work of the tension from the rest length on, summed over the springs of each object of a batch."""
    x = np.random.default_rng(1).normal(size=(2, 4, 3))
    pairs, k, l0 = [(0, 1), (1, 2), (2, 3), (0, 3), (0, 2)], np.arange(1.0, 6.0), 0.3
    springs = Springs(pairs, k, l0, tension=lambda l, r, k, l0, c: k * (l - l0) ** 3, potential=potential)
    lengths = np.linalg.norm(x[:, [i for i, _ in pairs]] - x[:, [j for _, j in pairs]], axis=-1)
    energy = spring_energy(Particles(np.ones(4), x, np.zeros_like(x)), springs)
    np.testing.assert_allclose(energy, (k * (lengths - l0) ** 4 / 4).sum(axis=1), rtol=1e-13)
