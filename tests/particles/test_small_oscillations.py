"""Small oscillations against the derivative of the forces, and cases at the edge: no length, no steps, one number."""

import numpy as np
import pytest
from random_objects import law, make_object, make_springs, rope, same, seeds, sizes

from poinsot.particles import (
    Particles,
    Springs,
    derivative,
    internal_forces,
    natural_frequencies,
    simulate,
    spring_energy,
    spring_forces,
    stable_step,
)


def frequencies_by_differences(o, s):
    """sqrt of the eigenvalues of -M^-1/2 dF/dx M^-1/2, by central differences of the forces on masses at rest."""
    n, h = len(o), 1e-5
    columns = []
    for step in h * np.eye(3 * n).reshape(3 * n, n, 3):
        after, before = (spring_forces(Particles(o.masses, o.positions + s_ * step), s) for s_ in (1, -1))
        columns.append((before - after).ravel() / (2 * h))
    root = np.sqrt(np.repeat(o.masses, 3))
    return np.sqrt(np.maximum(np.linalg.eigvalsh(np.stack(columns) / root / root[:, None]), 0.0))


@pytest.mark.parametrize("kind", [{}, {"tension": rope}])
@law(examples=15, seed=seeds, n=sizes)
def test_frequencies_are_those_of_the_derivative_of_the_forces(kind, seed, n):
    """Springs under tension and compression, so that the transverse stiffness T/l counts."""
    o, s = make_object(seed, n), make_springs(seed, n, 2 * n, **kind)
    ours, by_differences = natural_frequencies(o, s), frequencies_by_differences(o, s)
    same(ours**2, by_differences**2, tolerance=1e-5, scale=10.0)


def hardening(length, rate, stiffness, rest_length, damping):
    return stiffness * length * (1 + length**2)


@pytest.mark.parametrize("kind", [{}, {"tension": hardening}])
def test_frequencies_of_a_spring_without_length(kind):
    """Masses at one place, joined by a spring of rest length zero: it pulls alike in all directions, omega^2 = k/mu."""
    o, s = Particles([1.0, 3.0], np.zeros((2, 3))), Springs([(0, 1)], 12.0, 0.0, **kind)
    same(natural_frequencies(o, s), [0, 0, 0, 4, 4, 4], tolerance=1e-7)
    assert spring_energy(o, s) == 0


@pytest.mark.parametrize("length", [1e-3, 1.0, 50.0])
def test_the_tangent_of_a_custom_law_at_any_length(length):
    """T = k l (1 + l^2) along x: k (1 + 3 l^2) along it, T/l = k (1 + l^2) across."""
    o, s = Particles([2.0, 2.0], [(0, 0, 0), (length, 0, 0)]), Springs([(0, 1)], 3.0, 0.0, tension=hardening)
    across, along = 3.0 * (1 + length**2), 3.0 * (1 + 3 * length**2)
    np.testing.assert_allclose(natural_frequencies(o, s)[3:] ** 2, [across, across, along], rtol=1e-8)


@pytest.mark.parametrize("length", [1e-5, 1.0, 1e5])
def test_the_tangent_of_a_law_that_changes_with_the_scale_of_its_length(length):
    """Repulsion T = -1/l^2: 2/l^3 along the line, at distances of any scale."""
    o = Particles([2.0, 2.0], [(0, 0, 0), (length, 0, 0)])
    s = Springs([(0, 1)], 0.0, 0.0, tension=lambda l, rate, *_: -1 / l**2)
    np.testing.assert_allclose(natural_frequencies(o, s)[-1] ** 2, 2 / length**3, rtol=1e-8)
    np.testing.assert_allclose(stable_step(o, s), 2 / np.sqrt(2 / length**3), rtol=1e-8)


@pytest.mark.parametrize("stiffness", [0.01, 8.0])
def test_the_stable_step_of_two_equal_masses_is_the_limit_itself(stiffness):
    """Gershgorin's bound is attained: omega^2 = 2 k/m, and the limit is 2/omega."""
    o = Particles([2.0, 2.0], [(0, 0, 0), (1, 0, 0)])
    s = Springs.unstretched(o, [(0, 1)], stiffness)
    same(stable_step(o, s), 2 / np.sqrt(stiffness))


def test_no_steps_are_a_record_of_the_start():
    o, s = make_object(1, 4), make_springs(1, 4, 6)
    run = simulate(o, s, step=0.1, steps=0, start=2.0)
    np.testing.assert_array_equal(run.time, [2.0])
    np.testing.assert_array_equal(run.particles.positions, o.positions[None])


def test_one_number_in_an_array_serves_all_springs():
    one, all_of_them = (Springs([(0, 1), (1, 2)], k, 1.0) for k in ([2.0], 2.0))
    np.testing.assert_array_equal(one.stiffness, all_of_them.stiffness)


def test_the_first_entry_that_is_not_finite_is_named():
    x = np.zeros((3, 3))
    x[1, 2] = x[2, 0] = np.nan
    with pytest.raises(ValueError, match=r"positions\[1, 2\] is nan"):
        Particles(np.ones(3), x)
    I = np.zeros((3, 3, 3))
    I[0, 1] = I[2, 1] = np.inf
    with pytest.raises(ValueError, match=r"I\[0, 1\] = "):
        internal_forces(make_object(2, 3), I)


def test_time_starts_at_zero():
    o = make_object(3, 4)
    _, a = derivative(o, forces=lambda t, x, v: (1.0 + t) * x)
    same(a, o.positions / o.masses[:, None])
    _, a = derivative(o, forces=lambda t, x, v: (1.0 + t) * x, t=2.0)
    same(a, 3.0 * o.positions / o.masses[:, None])
