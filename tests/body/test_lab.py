"""Peskin's scheme, (30) to (62)."""

import numpy as np
import pytest
from bodies import random_body, random_motion

from poinsot.body import lab
from poinsot.spatial import Inertia, rotation


def no_force(t, x, u):
    return 0.0 * x


def points(seed: int = 0):
    rng = np.random.default_rng(seed)
    return 0.1 + rng.random(5), rng.standard_normal((5, 3)), rng.standard_normal(3), rng.standard_normal(3)


def test_both_ways_to_update_the_inertia_agree():
    """(59), summed over all points, and (62), rotated, over a thousand steps under forces."""
    masses, x, v, omega = points()
    turned = summed = lab.from_points(masses, x, v, omega)

    def forces(t, x, u):
        return np.cos(t) * x - 0.1 * u

    for k in range(1000):
        turned = lab.step(0.01 * k, turned, 0.01, masses.sum(), forces)
        summed = lab.step(0.01 * k, summed, 0.01, masses.sum(), forces, masses)
    np.testing.assert_allclose(turned.I, summed.I, rtol=1e-11, atol=1e-11)
    np.testing.assert_allclose(turned.X, summed.X, rtol=1e-10, atol=1e-10)
    np.testing.assert_allclose(turned.I, Inertia.points(masses, turned.X).moment, rtol=1e-11, atol=1e-11)


def test_one_step_is_that_of_the_text():
    masses, x, v, omega = points(1)
    state, dt = lab.from_points(masses, x, v, omega), 0.1
    F = np.random.default_rng(2).standard_normal((5, 3))
    new = lab.step(0.0, state, dt, masses.sum(), lambda t, x, u: F, masses)
    Omega = np.linalg.solve(state.I, state.L)
    np.testing.assert_allclose(Omega, omega, rtol=1e-12)
    X = state.X @ rotation.exact(Omega, dt).T
    np.testing.assert_allclose(new.X, X, rtol=1e-13, atol=1e-13)
    np.testing.assert_allclose(new.X_cm, state.X_cm + dt * v, rtol=1e-14)
    np.testing.assert_allclose(new.U_cm, v + dt * F.sum(axis=0) / masses.sum(), rtol=1e-14)
    np.testing.assert_allclose(new.L, state.L + dt * np.cross(X, F).sum(axis=0), rtol=1e-12)


def test_only_points_with_forces_need_to_be_tracked():
    """A body of many points, pulled at two of them, moves like the body with its inertia and those two points alone."""
    masses, x, v, omega = points(3)

    def pull(t, x, u):
        return np.array([[0.0, 0.0, 1.0], [0.5, -1.0, 0.0]]) - 0.3 * x

    def pull_all(t, x, u):
        F = np.zeros((5, 3))
        F[:2] = pull(t, x[:2], u[:2])
        return F

    every = lab.from_points(masses, x, v, omega)
    few = lab.LabState(every.X_cm, every.U_cm, every.X[:2], every.L, every.I, every.marks)
    for k in range(200):
        every = lab.step(0.01 * k, every, 0.01, masses.sum(), pull_all)
        few = lab.step(0.01 * k, few, 0.01, masses.sum(), pull)
    np.testing.assert_allclose(few.X_cm, every.X_cm, rtol=1e-12)
    np.testing.assert_allclose(few.X, every.X[:2], rtol=1e-11, atol=1e-11)


def test_points_of_forces_follow_the_body():
    rng = np.random.default_rng(5)
    body, (X_WB, V_WB_B) = random_body(rng), random_motion(rng)
    p = rng.standard_normal((4, 3))
    state = lab.from_motion(body, X_WB, V_WB_B, p)
    np.testing.assert_allclose(state.X_cm + state.X, X_WB @ p, atol=1e-13)
    for k in range(300):
        state = lab.step(0.01 * k, state, 0.01, body.mass, no_force)
    X, _ = lab.to_motion(state, body)
    np.testing.assert_allclose(state.X_cm + state.X, X @ p, atol=1e-12)


def test_points_on_a_line_are_rejected():
    with pytest.raises(ValueError, match="singular"):
        lab.from_points(np.ones(3), np.outer([0.0, 1.0, 2.0], [1.0, 1.0, 0.0]), np.zeros(3), np.ones(3))
