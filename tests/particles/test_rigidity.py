"""Rigid speed functions, definition 4.1; and stiff springs in the limit of the rigid body, as Peskin says."""

import numpy as np
import pytest
from hypothesis import strategies as st
from random_objects import law, make_object, same, seeds
from scipy.integrate import solve_ivp

import poinsot as pt
from poinsot.particles import (
    Particles,
    Springs,
    angular_momentum,
    centre_of_mass,
    centre_velocity,
    kinetic_energy,
    natural_frequencies,
    rigid_speed_function,
    simulate,
    total_mass,
    verlet,
)
from poinsot.spatial import rotation

OMEGA, V = np.array([0.4, -1.1, 0.7]), np.array([1.0, 2.0, -3.0])


def moved(masses, positions, omega=OMEGA, v=V):
    return Particles(masses, positions, v + np.cross(omega, positions))


@law(seed=seeds, n=st.integers(3, 9))
def test_a_rigid_motion_is_found(seed, n):
    o = make_object(seed, n)
    fit = rigid_speed_function(moved(o.masses, o.positions))
    same(fit.omega, OMEGA, tolerance=1e-9)  # three points may be almost on a line
    same(fit.v, V, tolerance=1e-9)
    same(fit(o.positions), V + np.cross(OMEGA, o.positions), tolerance=1e-11, scale=10.0)
    assert fit.residual < 1e-11
    assert fit.rank == 3


@law(seed=seeds, n=st.integers(3, 9))
def test_the_fit_is_the_rigid_body_with_the_same_momenta(seed, n):
    o = make_object(seed, n)
    fit, body = rigid_speed_function(o), pt.Inertia.points(o.masses, o.positions)
    rigid = Particles(o.masses, o.positions, fit(o.positions))
    same(fit(centre_of_mass(o)), centre_velocity(o), tolerance=1e-11)
    same(body.moment @ fit.omega, angular_momentum(o), tolerance=1e-11)  # Peskin (25)
    same(angular_momentum(rigid), angular_momentum(o), tolerance=1e-11)
    rest = kinetic_energy(o) - kinetic_energy(rigid)  # Koenig again: the fit is a projection
    same(0.5 * total_mass(o) * fit.residual**2, rest, tolerance=1e-11, scale=10.0)


@law(seed=seeds, n=st.integers(1, 9))
def test_no_other_rigid_speed_function_fits_better(seed, n):
    o, rng = make_object(seed, n), np.random.default_rng(seed)
    fit = rigid_speed_function(o)
    for _ in range(5):
        other = fit(o.positions) + rng.normal(size=3) + np.cross(rng.normal(size=3), o.positions)
        rest = o.velocities - other
        assert np.sqrt(o.masses @ np.sum(rest**2, axis=1) / total_mass(o)) >= fit.residual - 1e-12


@law(seed=seeds, n=st.integers(2, 6))
def test_points_on_a_line_leave_rotation_about_it_undetermined(seed, n):
    """Peskin p. 9: the component of omega along the line is not determined, and set to zero."""
    rng = np.random.default_rng(seed)
    axis = rng.normal(size=3)
    axis /= np.linalg.norm(axis)
    x = np.array([1.0, -2.0, 0.5]) + np.linspace(-1, 1, n)[:, None] * axis
    fit = rigid_speed_function(moved(rng.uniform(1, 2, n), x))
    same(fit.omega, OMEGA - (OMEGA @ axis) * axis, tolerance=1e-11)
    assert fit.rank == 2
    assert fit.residual < 1e-12


def test_two_masses_that_separate_are_not_rigid():
    o = Particles([1, 1], [(-1, 0, 0), (1, 0, 0)], [(-2, 0, 0), (2, 0, 0)])
    fit = rigid_speed_function(o)
    assert not fit.omega.any()
    same(fit.residual, 2.0)


@pytest.mark.parametrize("n", [1, 3])
def test_masses_at_one_position_do_not_rotate(n):
    fit = rigid_speed_function(Particles(np.ones(n), np.tile([1.0, 2.0, 3.0], (n, 1)), V))
    assert fit.rank == 0
    assert not fit.omega.any()
    same(fit.v, V)
    assert fit.residual < 1e-15


def test_one_instant_at_a_time():
    with pytest.raises(ValueError, match=r"one instant at a time: .* take `trajectory\[k\]`"):
        rigid_speed_function(make_object(1, 4, batch=(3,)))


MASSES = np.array([3.0, 2.0, 1.0, 1.0, 0.5, 0.5])
POINTS = np.array([(3, 0, 0), (-3, 1, 0), (0, 2.5, 0.5), (0, -2.5, 1), (1, 0.5, 2), (0.5, -1, -2)]) / 10
PAIRS = np.stack(np.triu_indices(6, 1), axis=1)


def test_a_stiff_body_of_springs_tends_to_the_rigid_body_as_one_over_stiffness():
    points = POINTS - MASSES @ POINTS / MASSES.sum()
    start = moved(MASSES, points, omega=np.array([3.0, 0.2, 0.4]), v=np.zeros(3))
    inertia, L, T = pt.Inertia.points(MASSES, points), angular_momentum(start), 1.0

    def turn(t, R):
        R = R.reshape(3, 3)
        return (rotation.skew(R @ np.linalg.solve(inertia.moment, R.T @ L)) @ R).ravel()

    R = solve_ivp(turn, (0, T), np.eye(3).ravel(), method="DOP853", rtol=1e-13, atol=1e-13).y[:, -1].reshape(3, 3)
    stiffness = 10.0 ** np.arange(4, 8)
    springs = [Springs.unstretched(start, PAIRS, k) for k in stiffness]
    steps = np.array([np.ceil(T * natural_frequencies(start, s)[-1]) for s in springs])  # h = half the limit

    @pt.kernel("(n,3),(n,3),(),(),()->(n,3),(n,3)")
    def fly(x, v, k, h, steps):
        s = Springs.unstretched(start, PAIRS, k)
        end = pt.fori_loop(steps.astype(int), lambda i, p: verlet(p, h, s), Particles(MASSES, x, v))
        return end.positions, end.velocities

    x, v = fly(start.positions, start.velocities, stiffness, T / steps, steps)
    errors = np.sqrt(np.sum((x - points @ R.T) ** 2, axis=(1, 2)) / 6)
    assert errors[0] < 1e-3
    assert np.all(np.abs(np.log10(errors[:-1] / errors[1:]) - 1) < 0.05)  # the error falls as 1/k
    residuals = [rigid_speed_function(Particles(MASSES, x[k], v[k])).residual for k in range(4)]
    slope = np.log10(residuals[0] / residuals[3]) / 3
    assert abs(slope - 0.5) < 0.15  # and the residual speeds fall as 1/sqrt(k)
    one = simulate(start, springs[1], step=T / steps[1], steps=int(steps[1]))[-1]
    same(one.positions, x[1], tolerance=1e-11)
