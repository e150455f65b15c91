"""The four formulations are equivalent: the same motion gives the same accelerations."""

from types import ModuleType

import numpy as np
import pytest
from bodies import random_body, random_load, random_motion
from hypothesis import given
from hypothesis import strategies as st

import poinsot as pt
from poinsot._types import Array
from poinsot.body import body_frame, lab, momentum, twist
from poinsot.body.forces import AppliedForce, AppliedTorque, at_centre, total, weight
from poinsot.spatial import Inertia, Pose, motion, rotation

FORMULATIONS = [lab, momentum, body_frame, twist]
SEEDS = st.integers(0, 2**32 - 1)
ROUNDING = 1e-12  # of accelerations of bodies of about one metre, kilogram and second, after a few hundred operations


@pytest.mark.parametrize("formulation", FORMULATIONS, ids=lambda f: f.__name__)
@given(seed=SEEDS)
def test_conversion_from_and_to_motion(formulation, seed):
    rng = np.random.default_rng(seed)
    body, (X_WB, V_WB_B) = random_body(rng), random_motion(rng)
    X, V = formulation.to_motion(formulation.from_motion(body, X_WB, V_WB_B), body)
    np.testing.assert_allclose(X.matrix(), X_WB.matrix(), atol=ROUNDING)
    np.testing.assert_allclose(V, V_WB_B, atol=ROUNDING)


def acceleration(formulation: ModuleType, t: float, body: Inertia, X_WB: Pose, V_WB_B: Array, load) -> Array:
    """V' of the body frame, from a formulation's own rates."""
    state = formulation.from_motion(body, X_WB, V_WB_B)
    k = formulation.rate(t, state, body, load)
    if formulation is twist:
        return k.Vdot
    omega, v = V_WB_B[:3], V_WB_B[3:]
    if formulation is body_frame:
        return np.concatenate([k.omegadot, k.Vdot - np.cross(k.omegadot, body.com)])
    R = X_WB.R  # momentum: L' = d(R I omega)/dt, P' = m d(R v_com)/dt
    omegadot = np.linalg.solve(body.moment, R.T @ k.tau - np.cross(omega, body.moment @ omega))
    v_com = v + np.cross(omega, body.com)
    v_com_dot = R.T @ k.F / body.mass - np.cross(omega, v_com)
    return np.concatenate([omegadot, v_com_dot - np.cross(omegadot, body.com)])


@given(seed=SEEDS, t=st.floats(0, 10))
def test_accelerations_agree_under_random_loads(seed, t):
    rng = np.random.default_rng(seed)
    body, (X_WB, V_WB_B) = random_body(rng), random_motion(rng)
    load = random_load(rng, body)
    ours = [acceleration(f, t, body, X_WB, V_WB_B, load) for f in (momentum, body_frame, twist)]
    scale = 1 + np.abs(ours[0]).max()
    np.testing.assert_allclose(ours[1] / scale, ours[0] / scale, atol=1e-10)
    np.testing.assert_allclose(ours[2] / scale, ours[0] / scale, atol=1e-10)


@given(seed=SEEDS)
def test_de_nivelle_6_and_7_are_the_wrench_of_lynch_and_park(seed):
    rng = np.random.default_rng(seed)
    body, V, Vdot = random_body(rng), rng.standard_normal(6), rng.standard_normal(6)
    F, tau = body_frame.force_and_torque(body, V[3:], V[:3], Vdot[3:], Vdot[:3])
    np.testing.assert_allclose(np.concatenate([tau, F]), twist.wrench(body.spatial(), V, Vdot), rtol=1e-11, atol=1e-11)


@given(seed=SEEDS)
def test_the_twist_equation_holds_in_any_frame(seed):
    """F_a = G_a V_a' - ad(V_a)^T G_a V_a for every frame {a} fixed to the body. Lynch & Park 2.3."""
    rng = np.random.default_rng(seed)
    body, V, Vdot = random_body(rng), rng.standard_normal(6), rng.standard_normal(6)
    X_BA = Pose.exp(rng.standard_normal(6))
    X_AB = X_BA.inverse()
    moved = [motion.twist_in_frame(X_AB, U) for U in (V, Vdot)]
    there = twist.wrench(body.in_frame(X_BA).spatial(), *moved)
    here = motion.wrench_in_frame(X_AB, twist.wrench(body.spatial(), V, Vdot))
    np.testing.assert_allclose(there, here, rtol=1e-10, atol=1e-10)
    np.testing.assert_allclose(
        twist.acceleration(body.spatial(), V, twist.wrench(body.spatial(), V, Vdot)), Vdot, atol=1e-9
    )


@pytest.mark.parametrize("formulation", [momentum, body_frame, twist], ids=lambda f: f.__name__)
def test_derivative_is_the_rate_of_integrate(formulation):
    """(integrate(y, k, h) - y)/h tends to dY/dt, and Rdot = omega* R."""
    rng = np.random.default_rng(1)
    body, (X_WB, V_WB_B) = random_body(rng), random_motion(rng)
    load, h = random_load(rng, body), 1e-6
    state = formulation.from_motion(body, X_WB, V_WB_B)
    k = formulation.rate(0.3, state, body, load)
    forwards, backwards = formulation.integrate(state, k, h), formulation.integrate(state, k, -h)
    exact = formulation.derivative(0.3, state, body, load)
    for name in state.__dataclass_fields__:
        difference = (getattr(forwards, name) - getattr(backwards, name)) / (2 * h)
        np.testing.assert_allclose(difference, getattr(exact, name), atol=1e-7)


def test_attitude_as_matrix_or_quaternion():
    rng = np.random.default_rng(2)
    body, (X_WB, V_WB_B) = random_body(rng), random_motion(rng)
    load = random_load(rng, body)
    q, R = (momentum.from_motion(body, X_WB, V_WB_B, as_quaternion=flag) for flag in (True, False))
    np.testing.assert_allclose(momentum.matrix(q.attitude), R.attitude, atol=1e-14)
    kq, kR = (momentum.rate(0.1, y, body, load) for y in (q, R))
    for name in kq.__dataclass_fields__:
        np.testing.assert_allclose(getattr(kq, name), getattr(kR, name), rtol=1e-12, atol=1e-12)
    Rdot = momentum.derivative(0.1, R, body, load).attitude
    np.testing.assert_allclose(Rdot, rotation.skew(kR.omega) @ R.attitude, atol=1e-14)


def test_all_rates_can_be_traced():
    rng = np.random.default_rng(3)
    body, (X_WB, V_WB_B) = random_body(rng), random_motion(rng)
    load = random_load(rng, body)

    @pt.kernel("(3,3),(3),(6),()->(6),(6),(6)")
    def all_three(R, p, V, t):
        X = Pose(R, p)
        a = twist.rate(t, twist.from_motion(body, X, V), body, load).Vdot
        k = body_frame.rate(t, body_frame.from_motion(body, X, V), body, load)
        m = momentum.rate(t, momentum.from_motion(body, X, V), body, load)
        return a, np.concatenate([k.omegadot, k.Vdot]), np.concatenate([m.F, m.tau])

    k = body_frame.rate(0.7, body_frame.from_motion(body, X_WB, V_WB_B), body, load)
    m = momentum.rate(0.7, momentum.from_motion(body, X_WB, V_WB_B), body, load)
    a, b, c = all_three(X_WB.R, X_WB.p, V_WB_B, 0.7)
    np.testing.assert_allclose(a, twist.rate(0.7, twist.from_motion(body, X_WB, V_WB_B), body, load).Vdot, rtol=1e-11)
    np.testing.assert_allclose(b, np.concatenate([k.omegadot, k.Vdot]), rtol=1e-11, atol=1e-12)
    np.testing.assert_allclose(c, np.concatenate([m.F, m.tau]), rtol=1e-11, atol=1e-12)


@given(seed=SEEDS)
def test_forces_add_up_to_peskins_totals(seed):
    """Force and torque about the centre of mass, (17) and (19), for forces in any axes."""
    rng = np.random.default_rng(seed)
    body, (X_WB, V_WB_B) = random_body(rng), random_motion(rng)
    points, f = rng.standard_normal((2, 4, 3))
    couple = rng.standard_normal(3)
    world = [AppliedForce(f[k], points[k]) for k in range(4)] + [AppliedTorque(couple)]
    body_axes = [AppliedForce(X_WB.R.T @ f[k], points[k], axes="body") for k in range(4)]
    body_axes += [AppliedTorque(X_WB.R.T @ couple, "body")]
    arms = (X_WB @ points) - (X_WB @ body.com)
    for loads in (world, body_axes):
        F, tau = at_centre(total(loads)(0.0, X_WB, V_WB_B), body, X_WB)
        np.testing.assert_allclose(F, f.sum(axis=0), atol=1e-12)
        np.testing.assert_allclose(tau, np.cross(arms, f).sum(axis=0) + couple, atol=1e-11)


def test_weight_has_no_torque_about_the_centre_of_mass():
    """De Nivelle, theorem 3.10."""
    rng = np.random.default_rng(4)
    body, (X_WB, V_WB_B) = random_body(rng), random_motion(rng)
    F, tau = at_centre(weight(body, (1.0, 2.0, 3.0)).wrench(0.0, X_WB, V_WB_B), body, X_WB)
    np.testing.assert_allclose(F, body.mass * np.array([1.0, 2.0, 3.0]), rtol=1e-13)
    np.testing.assert_allclose(tau, 0, atol=1e-14)


def test_unknown_axes_are_rejected():
    with pytest.raises(ValueError, match="axes of a force must be 'world' or 'body', not 'earth'"):
        AppliedForce((0, 0, 1), axes="earth")
    with pytest.raises(ValueError, match="axes of a torque"):
        AppliedTorque((0, 0, 1), axes="earth")
