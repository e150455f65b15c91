"""Where and when a step evaluates forces, and the two forms of an attitude.

A callback that keeps its arguments shows them; the laws that they must satisfy come from the motion itself.
"""

import numpy as np
import pytest
from bodies import random_body, random_load, random_motion
from hypothesis import given
from hypothesis import strategies as st

from poinsot.body import body_frame, lab, momentum
from poinsot.body.forces import AppliedForce, AppliedTorque, total, weight
from poinsot.spatial import Inertia, rotation

SEEDS = st.integers(0, 2**32 - 1)


def five_points(rng):
    return 0.1 + rng.random(5), rng.standard_normal((5, 3)), rng.standard_normal(3), rng.standard_normal(3)


@given(seed=SEEDS, t=st.floats(-5, 5), dt=st.floats(0.01, 0.3))
def test_peskin_evaluates_forces_where_the_points_are_after_the_drift(seed, t, dt):
    """(40), (41): the time is t + dt; the positions are those after the free motion; and the velocities, (21), are the
    rates of change of the positions, by central differences along the free motion."""
    rng = np.random.default_rng(seed)
    state = lab.from_points(*five_points(rng))
    seen = []
    lab.step(t, state, dt, 1.0, lambda *arguments: (seen.append(arguments), np.zeros((5, 3)))[1])
    ((time, x, u),) = seen
    there, earlier, later = (lab.drift(state, at) for at in (dt, dt - 1e-5, dt + 1e-5))
    assert time == t + dt
    np.testing.assert_allclose(x, there.X_cm + there.X, atol=1e-14)
    rate = (later.X_cm + later.X - earlier.X_cm - earlier.X) / 2e-5
    # The scheme rotates with the angular velocity at the start of the drift; at its end that of (37) differs by O(dt).
    Omega = np.linalg.solve(there.I, there.L)
    start = np.linalg.solve(state.I, state.L)
    np.testing.assert_allclose(u, rate + np.cross(Omega - start, there.X), atol=1e-8)


@given(seed=SEEDS, t=st.floats(-5, 5), dt=st.floats(0.01, 0.3))
def test_peskin_evaluates_a_load_after_the_drift(seed, t, dt):
    rng = np.random.default_rng(seed)
    body = random_body(rng)
    state = lab.from_motion(body, *random_motion(rng))
    seen = []
    lab.step_under_load(t, state, dt, body, lambda *arguments: (seen.append(arguments), np.zeros(6))[1])
    ((time, X_WB, V_WB_B),) = seen
    X, V = lab.to_motion(lab.drift(state, dt), body)
    assert time == t + dt
    np.testing.assert_allclose(X_WB.matrix(), X.matrix(), atol=1e-14)
    np.testing.assert_allclose(V_WB_B, V, atol=1e-13)


@pytest.mark.parametrize("t0", [0.0, 2.5])
def test_a_force_that_grows_with_time_gives_the_right_hand_sum(t0):
    """F = t f from rest at t0: after n steps m U = f dt sum_k (t0 + k dt), k = 1 ... n, at the ends of the steps."""
    rng = np.random.default_rng(1)
    masses, x, _, _ = five_points(rng)
    f, dt, n, m = rng.standard_normal(3), 0.125, 8, masses.sum()
    body = Inertia.points(masses, x)
    at_points = lab.from_points(masses, x, np.zeros(3), np.zeros(3))
    under_load = at_points
    pull = total([AppliedForce(lambda t, X, V: t * f, point=body.com)])
    for k in range(n):
        t = t0 + k * dt
        at_points = lab.step(t, at_points, dt, m, lambda t, x, u: t * f * (masses / m)[:, None])
        under_load = lab.step_under_load(t, under_load, dt, body, pull)
    impulse = f * dt * (n * t0 + dt * n * (n + 1) / 2)
    np.testing.assert_allclose(m * at_points.U_cm, impulse, rtol=1e-13)
    np.testing.assert_allclose(m * under_load.U_cm, impulse, rtol=1e-13)


@given(seed=SEEDS)
def test_the_points_of_a_new_state_are_where_they_were_given(seed):
    """X_cm + X are the points, and their velocities are those of a rigid motion about the centre of mass. (4)-(28)"""
    masses, x, v, omega = five_points(np.random.default_rng(seed))
    state = lab.from_points(masses, x, v, omega)
    np.testing.assert_allclose(state.X_cm + state.X, x, atol=1e-14)
    np.testing.assert_allclose(masses @ state.X, 0, atol=1e-14)
    velocities = v + np.cross(omega, x - state.X_cm)
    np.testing.assert_allclose(state.U_cm, masses @ velocities / masses.sum(), atol=1e-13)
    np.testing.assert_allclose(state.L, np.sum(masses[:, None] * np.cross(state.X, velocities), axis=0), atol=1e-12)


@given(seed=SEEDS, h=st.floats(-0.5, 0.5))
def test_a_momentum_state_with_a_matrix_moves_as_one_with_a_quaternion(seed, h):
    rng = np.random.default_rng(seed)
    body, (X_WB, V_WB_B) = random_body(rng), random_motion(rng)
    load = random_load(rng, body)
    with_q, with_R = (momentum.from_motion(body, X_WB, V_WB_B, as_quaternion=flag) for flag in (True, False))
    assert (with_q.attitude.shape, with_R.attitude.shape) == ((4,), (3, 3))
    k = momentum.rate(0.2, with_q, body, load)
    moved_q, moved_R = (momentum.integrate(state, k, h) for state in (with_q, with_R))
    np.testing.assert_allclose(moved_R.attitude, momentum.matrix(moved_q.attitude), atol=1e-13)
    for name in ("x", "P", "L"):
        np.testing.assert_allclose(getattr(moved_R, name), getattr(moved_q, name), atol=1e-13)


@given(seed=SEEDS)
def test_the_derivative_of_a_matrix_is_its_rate_along_the_motion(seed):
    """dY/dt with R as a matrix, against central differences of poses that move with the body's own twist."""
    rng = np.random.default_rng(seed)
    body, (X_WB, V_WB_B) = random_body(rng), random_motion(rng)
    state = momentum.from_motion(body, X_WB, V_WB_B, as_quaternion=False)
    rate = momentum.derivative(0.0, state, body, load := random_load(rng, body))
    of_quaternion = momentum.derivative(0.0, momentum.from_motion(body, X_WB, V_WB_B), body, load)
    for name in ("x", "P", "L"):
        np.testing.assert_allclose(getattr(rate, name), getattr(of_quaternion, name), rtol=1e-11, atol=1e-11)
    e = 1e-5
    later, earlier = (X_WB @ type(X_WB).exp(s * e * V_WB_B) for s in (1, -1))
    np.testing.assert_allclose(rate.attitude, (later.R - earlier.R) / (2 * e), atol=1e-8)
    np.testing.assert_allclose(rate.x, (later @ body.com - earlier @ body.com) / (2 * e), atol=1e-8)


@given(seed=SEEDS)
def test_normalize_returns_to_the_group_and_changes_nothing_else(seed):
    """The rotation nearest to a matrix that has left the group by 1e-3: orthogonal, and its polar factor."""
    rng = np.random.default_rng(seed)
    R = rotation.exact(rng.standard_normal(3), 1.0)
    off = R + 1e-3 * rng.standard_normal((3, 3))
    state = momentum.MomentumState(*rng.standard_normal((1, 3)), off, *rng.standard_normal((2, 3)))
    back = momentum.normalize(state)
    U, _, Vt = np.linalg.svd(off)
    np.testing.assert_allclose(back.attitude, U @ Vt, atol=1e-10)
    for name in ("x", "P", "L"):
        np.testing.assert_array_equal(getattr(back, name), getattr(state, name))


@pytest.mark.parametrize("moving_reference", [False, True])
def test_the_five_steps_use_the_values_before_the_step(moving_reference):
    """Section 4.3: one step is Euler's, X and the attitude with the old velocities. De Nivelle's reference point moves
    along, so that without force the velocity in the world stays what it was."""
    rng = np.random.default_rng(3)
    body, (X_WB, V_WB_B) = random_body(rng), random_motion(rng)
    load, h = random_load(rng, body), 1e-4
    state = body_frame.from_motion(body, X_WB, V_WB_B)
    new = body_frame.step(0.7, state, h, body, load, moving_reference)
    rate = body_frame.derivative(0.7, state, body, load)
    np.testing.assert_allclose(new.X, state.X + h * rate.X, atol=1e-14)
    for name in ("q", "V", "omega"):
        np.testing.assert_allclose((getattr(new, name) - getattr(state, name)) / h, getattr(rate, name), atol=5e-3)
    free = body_frame.step(0.0, state, 0.2, body, lambda t, X, V: np.zeros(6), True)
    (before, _), (after, _) = body_frame.to_motion(state, body), body_frame.to_motion(free, body)
    np.testing.assert_allclose(after.R @ free.V, before.R @ state.V, atol=1e-13)


def test_what_acts_by_default():
    """Gravity points down, with 9.81 m/s^2; a force acts at the origin of the body, in world axes."""
    rng = np.random.default_rng(4)
    body, (X_WB, V_WB_B) = random_body(rng), random_motion(rng)
    F_B = weight(body).wrench(0.0, X_WB, V_WB_B)
    np.testing.assert_allclose(X_WB.R @ F_B[3:], [0, 0, -9.81 * body.mass], atol=1e-13)
    np.testing.assert_allclose(F_B[:3], np.cross(body.com, F_B[3:]), atol=1e-13)
    f = rng.standard_normal(3)
    np.testing.assert_allclose(AppliedForce(f).wrench(0.0, X_WB, V_WB_B), [0, 0, 0, *(X_WB.R.T @ f)], atol=1e-14)
    np.testing.assert_allclose(AppliedTorque(f).wrench(0.0, X_WB, V_WB_B), [*(X_WB.R.T @ f), 0, 0, 0], atol=1e-14)
    assert momentum.from_motion(body, X_WB, V_WB_B).attitude.shape == (4,)
