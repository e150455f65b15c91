"""Conserved quantities of a free body, over a million steps."""

import numpy as np
import pytest

from poinsot._types import Array
from poinsot.integrate.single import compiled, simulate
from poinsot.integrate.splitting import free_rotation
from poinsot.spatial import Inertia, quaternion

STEPS = 1_000_000
MOMENTS = np.array([3.0, 5.0, 7.0])
BODY = Inertia(1.0, (0, 0, 0), np.diag(MOMENTS))
OMEGA = np.array([0.0, 0.4, 0.01])


def free(t, X, V) -> Array:
    return np.zeros(6)


def run(method: str, h: float = 0.02, records: int = 100):
    return simulate(BODY, V_WB_B=[*OMEGA, 0, 0, 0], method=method, duration=STEPS * h, step=h, records=records)


@pytest.mark.parametrize(("method", "place"), [("peskin", 2), ("rkmk4", 3), ("splitting", 3), ("splitting4", 3)])
def test_angular_momentum_in_the_world_is_kept_to_the_last_bit(method, place):
    enter, advance, _ = compiled(method, BODY, free)
    state = enter(np.eye(3), np.zeros(3), np.array([*OMEGA, 0, 0, 0]))
    L = state[place].copy()
    state = advance(*state, 0.0, 0.02, STEPS)
    assert np.array_equal(state[place], L)
    np.testing.assert_allclose(L, MOMENTS * OMEGA, rtol=1e-15)


@pytest.mark.parametrize("method", ["peskin", "rkmk4", "splitting", "splitting4", "implicit midpoint"])
def test_attitude_stays_a_rotation_and_carries_the_momentum(method):
    """R^T R = E to 1e-13, and R I omega, worked out from the recorded motion, stays put to 1e-12."""
    motion = run(method)
    R = quaternion.to_matrix(motion.orientation)
    assert np.abs(R.mT @ R - np.eye(3)).max() < 1e-13
    L = quaternion.rotate(motion.orientation, motion.angular_velocity * MOMENTS)
    # Peskin's I(t) is turned a million times, so its principal moments are a few 1e-12 off those of the body.
    assert np.abs(L - L[0]).max() / np.linalg.norm(L[0]) < (1e-11 if method == "peskin" else 1e-12)


def energy(omega: Array) -> Array:
    return 0.5 * np.sum(MOMENTS * omega**2, axis=-1)


@pytest.mark.parametrize(("method", "bound"), [("splitting", 2e-6), ("splitting4", 1e-11), ("implicit midpoint", 1e-5)])
def test_energy_error_is_bounded_without_trend(method, bound):
    """The error in the second half of a million steps is no larger than in the first, and has no slope to speak of."""
    T = energy(run(method, records=1000).angular_velocity)
    error = T / T[0] - 1
    first, second = np.abs(error[:500]).max(), np.abs(error[500:]).max()
    assert max(first, second) < bound
    assert second < 1.5 * first + 1e-12
    assert abs(np.polyfit(np.linspace(0, 1, len(error)), error, 1)[0]) < 0.1 * bound


def test_runge_kutta_drifts_where_the_splitting_does_not():
    """At the same step of 0.2 s, after 10^5 steps."""
    drift = {}
    for method in ("rk4", "splitting4"):
        motion = simulate(BODY, V_WB_B=[*OMEGA, 0, 0, 0], method=method, duration=2e4, step=0.2, records=100)
        T = energy(motion.angular_velocity)
        drift[method] = abs(np.polyfit(np.linspace(0, 1, len(T)), T / T[0] - 1, 1)[0])
    assert drift["rk4"] > 100 * drift["splitting4"]


def test_the_splitting_is_reversible():
    q, L = quaternion.normalize(np.array([0.3, -0.2, 0.5, 0.1])), np.array([0.3, 2.0, -0.7])
    there = free_rotation(q, L, MOMENTS, 0.37, order=4)
    np.testing.assert_allclose(free_rotation(there, L, MOMENTS, -0.37, order=4), q, atol=1e-14)


def test_free_flight_of_the_centre_of_mass_is_straight():
    body = Inertia.points([1.0, 2.0, 3.0, 1.0], np.random.default_rng(0).standard_normal((4, 3)))
    motion = simulate(body, V_WB_B=[1.0, 2.0, 3.0, 0.1, 0.2, 0.3], method="splitting4", duration=10.0, records=20)
    com = motion.position + quaternion.rotate(motion.orientation, body.com)
    straight = com[0] + motion.time[:, None] * (com[-1] - com[0]) / motion.time[-1]
    np.testing.assert_allclose(com, straight, atol=1e-12)
