"""General objects: momentum, angular momentum and torque about any point. De Nivelle section 3, Peskin (4)-(20)."""

import numpy as np
import pytest
from random_objects import law, make_object, make_springs, same, seeds, sizes

import poinsot as pt
from poinsot.particles import (
    Particles,
    angular_momentum,
    angular_momentum_rate,
    centre_of_mass,
    centre_velocity,
    derivative,
    kinetic_energy,
    momentum,
    spring_forces,
    torque,
    total_mass,
    weights,
)


@law(seed=seeds, n=sizes)
def test_sums_agree_with_the_definitions(seed, n):
    o = make_object(seed, n)
    m, x, v = o.masses, o.positions, o.velocities
    M = sum(m)
    same(total_mass(o), M)
    same(centre_of_mass(o), sum(m[i] * x[i] for i in range(n)) / M)
    same(centre_velocity(o), sum(m[i] * v[i] for i in range(n)) / M)
    same(momentum(o), M * centre_velocity(o))
    same(kinetic_energy(o), sum(m[i] * v[i] @ v[i] for i in range(n)) / 2)
    c = np.array([1.0, -2.0, 0.5])
    same(angular_momentum(o, c), sum(m[i] * np.cross(x[i] - c, v[i]) for i in range(n)))


@law(seed=seeds, n=sizes)
def test_the_centre_of_mass_agrees_with_inertia_points(seed, n):
    o = make_object(seed, n)
    same(centre_of_mass(o), pt.Inertia.points(o.masses, o.positions).com)


@law(seed=seeds, n=sizes)
def test_peskin_10_to_20_absolute_and_relative_velocities_agree(seed, n):
    o = make_object(seed, n)
    X, U = o.positions - centre_of_mass(o), o.velocities - centre_velocity(o)
    same(angular_momentum(o), o.masses @ np.cross(X, U))
    same(o.masses @ np.cross(X, centre_velocity(o)), np.zeros(3))  # (11)


@law(seed=seeds, n=sizes)
def test_change_of_the_reference_point(seed, n):
    o, E = make_object(seed, n), make_object(seed + 1, n).positions
    c = np.array([3.0, 1.0, -2.0])
    arm = centre_of_mass(o) - c
    same(angular_momentum(o, c), angular_momentum(o) + np.cross(arm, momentum(o)), scale=10.0)
    same(torque(o, E, c), torque(o, E) + np.cross(arm, E.sum(axis=0)), scale=10.0)


@law(seed=seeds, n=sizes)
def test_koenig_splits_the_kinetic_energy(seed, n):
    o, V = make_object(seed, n), centre_velocity(make_object(seed, n))
    relative = Particles(o.masses, o.positions, o.velocities - V)
    same(kinetic_energy(o), total_mass(o) * V @ V / 2 + kinetic_energy(relative))


@law(seed=seeds, n=sizes)
def test_theorem_3_4_only_external_forces_accelerate_the_centre(seed, n):
    o, springs, E = make_object(seed, n), make_springs(seed, n, 3 * n), make_object(seed + 1, n).positions
    _, a = derivative(o, springs, E, gravity=(0, 0, -9.81))
    same(o.masses @ a, E.sum(axis=0) + total_mass(o) * np.array([0, 0, -9.81]), scale=100.0)


@law(seed=seeds, n=sizes)
def test_theorems_3_7_and_3_8_internal_forces_have_no_torque(seed, n):
    o, springs, E = make_object(seed, n), make_springs(seed, n, 3 * n), make_object(seed + 1, n).positions
    I = spring_forces(o, springs)
    size = np.abs(I).max() * n
    for c in (None, np.array([5.0, -3.0, 2.0])):
        same(torque(o, I, c), np.zeros(3), scale=10 * size)  # 3.7
        same(torque(o, E + I, c), torque(o, E, c), scale=10 * size)  # 3.8
    same(I.sum(axis=0), np.zeros(3), scale=size)


@law(seed=seeds, n=sizes)
def test_theorem_3_9_and_the_term_of_a_moving_point(seed, n):
    """dL(c)/dt along x + t v + t^2/2 a, by a difference: tau for a fixed point, tau - c' x P for a moving one."""
    o, springs, E = make_object(seed, n), make_springs(seed, n, 2 * n), make_object(seed + 1, n).positions
    _, a = derivative(o, springs, E)
    c, c_dot = np.array([0.5, 2.0, -1.0]), np.array([1.0, -2.0, 3.0])

    def L(t, velocity):
        later = Particles(o.masses, o.positions + t * o.velocities + t * t / 2 * a, o.velocities + t * a)
        return angular_momentum(later, c + t * velocity)

    def rate(velocity, h=1e-4):
        difference = lambda s: (L(s, velocity) - L(-s, velocity)) / (2 * s)  # noqa: E731
        return (4 * difference(h) - difference(2 * h)) / 3

    size = 100 * (1 + np.abs(a).max())
    same(angular_momentum_rate(o, E, c), torque(o, E, c))
    same(rate(0 * c), torque(o, E, c), tolerance=1e-9, scale=size)
    same(rate(c_dot), angular_momentum_rate(o, E, c, c_dot), tolerance=1e-9, scale=size)
    assert not np.allclose(angular_momentum_rate(o, E, c, c_dot), torque(o, E, c))
    along = 2.0 * centre_velocity(o)  # parallel to the momentum: no extra term
    same(angular_momentum_rate(o, E, centre_of_mass(o), along), angular_momentum_rate(o, E), scale=10.0)


@law(seed=seeds, n=sizes)
def test_theorem_3_10_weight_has_no_torque_about_the_centre_or_above_it(seed, n):
    o, g = make_object(seed, n), np.array([0.3, -1.0, -9.0])
    for height in (0.0, 2.0, -5.0):
        same(torque(o, weights(o, g), centre_of_mass(o) + height * g), np.zeros(3), scale=1e3)
    assert np.abs(torque(o, weights(o, g), centre_of_mass(o) + np.array([1.0, 0.0, 0.0]))).max() > 1.0


def test_batches_of_instants():
    o, E = make_object(1, 4, batch=(5, 2)), make_object(2, 4, batch=(5, 2)).positions
    c = np.array([1.0, 2.0, 3.0])
    for k in np.ndindex(5, 2):
        one = Particles(o.masses, o.positions[k], o.velocities[k])
        for f in (centre_of_mass, centre_velocity, momentum, kinetic_energy, angular_momentum):
            same(f(o)[k], f(one))
        same(angular_momentum(o, c)[k], angular_momentum(one, c))
        same(torque(o, E)[k], torque(one, E[k]))


def test_a_single_velocity_is_that_of_all():
    o = Particles([1.0, 2.0], [(0, 0, 0), (1, 0, 0)], (0, 0, 3))
    assert np.array_equal(momentum(o), [0, 0, 9])
    assert np.array_equal(momentum(Particles([1.0, 2.0], [(0, 0, 0), (1, 0, 0)])), np.zeros(3))
    assert len(o) == 2


def test_in_a_kernel():
    o = make_object(3, 5)

    @pt.kernel("(n),(n,3),(n,3)->(3),(3),()")
    def sums(m, x, v):
        o = Particles(m, x, v)
        return centre_of_mass(o), angular_momentum(o), kinetic_energy(o)

    for a, b in zip(
        sums(o.masses, o.positions, o.velocities),
        (centre_of_mass(o), angular_momentum(o), kinetic_energy(o)),
        strict=True,
    ):
        same(a, b)


@pytest.mark.parametrize(
    ("masses", "positions", "velocities", "message"),
    [
        ([1, 0], np.zeros((2, 3)), np.zeros(3), r"mass 1 is 0.0 kg; a mass must be positive"),
        ([1, np.inf], np.zeros((2, 3)), np.zeros(3), r"mass 1 is inf kg"),
        ([], np.zeros((0, 3)), np.zeros(3), r"masses must have shape \(n,\) with n > 0 \[kg\]; got \(0,\)"),
        (1.0, np.zeros((1, 3)), np.zeros(3), r"masses must have shape"),
        ([1, 1], np.zeros((3, 3)), np.zeros(3), r"positions of 2 masses must have shape \(..., 2, 3\) \[m\]"),
        ([1, 1], np.zeros((2, 3)), np.zeros((3, 3)), r"velocities of 2 masses must have shape \(..., 2, 3\)"),
        ([1, 1], np.zeros((2, 3)), [[0, 0, 0], [0, np.nan, 0]], r"velocities\[1, 1\] is nan"),
        ([1, 1], [[0, 0, 0], [0, 0, np.inf]], np.zeros(3), r"positions\[1, 2\] is inf"),
    ],
)
def test_what_is_not_an_object_is_rejected(masses, positions, velocities, message):
    with pytest.raises(ValueError, match=message):
        Particles(masses, positions, velocities)
