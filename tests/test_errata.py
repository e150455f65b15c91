"""Slips and caveats of the source texts: each test asks the library, and shows that print and library differ.

docs/errata.md lists them; the last test keeps the two in step.
"""

import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import poinsot as pt
from poinsot.body import body_frame, momentum, twist
from poinsot.body.forces import AppliedForce, AppliedTorque, total
from poinsot.integrate.single import simulate
from poinsot.mechanism import two_body
from poinsot.particles import (
    Particles,
    Springs,
    angular_momentum,
    angular_momentum_rate,
    derivative,
    gravitation,
    internal_forces,
    rigid_speed_function,
    spring_forces,
    torque,
    weights,
)
from poinsot.spatial import quaternion
from poinsot.spatial.inertia import Inertia
from poinsot.spatial.motion import point_acceleration, point_velocity
from poinsot.spatial.pose import Pose
from poinsot.spatial.rotation import exact, skew
from poinsot.spatial.shapes import Box

rng = np.random.default_rng(20)
E = np.eye(3)


def close(a, b, tolerance=1e-12):
    return np.allclose(a, b, rtol=tolerance, atol=tolerance)


def rate(f, t=0.0, h=1e-4):
    """df/dt, by a difference of fourth order."""
    return (8 * (f(t + h) - f(t - h)) - (f(t + 2 * h) - f(t - 2 * h))) / (12 * h)


def free(t, X_WB, V_WB_B):
    return np.zeros(6)


# Peskin, Rigid-Body Motion


def test_peskin_15_cross_product():
    """The torque of two springs about a point of the first: X_j x X_k stays in it, pair by pair."""
    o = Particles(np.ones(2), rng.normal(size=(2, 3)))
    X_k, X_j = o.positions
    pull = spring_forces(o, Springs([(0, 1)], 1.0, 0.0))  # T (X_j - X_k)/|X_j - X_k| = X_j - X_k on k
    of_k = torque(o, pull * [[1], [0]], about=np.zeros(3))
    assert close(of_k, np.cross(X_k, X_j))  # X_k x X_k has dropped out
    assert not close(of_k, 0)  # as it would be if X_j x X_k were zero, as printed
    assert close(torque(o, pull, about=np.zeros(3)), 0)  # it cancels against that of X_j


def test_peskin_29_point_at_the_centre():
    """A point at the centre of mass adds nothing for any V, though no V is a multiple of zero; I stays regular."""
    X, V = np.array([[1.0, 0, 0], [-1, 1, 0], [0, -1, 0]]), np.array([0.0, 0, 1])
    body = Inertia.points(np.ones(3), X)
    more = Inertia.points(np.ones(4), [*X, body.com])
    assert close(V @ more.moment @ V, V @ body.moment @ V)  # the fourth term is zero, V is no multiple of X_4 = 0
    assert more.rank == 3


def test_peskin_42_body_at_rest():
    """n = Omega/|Omega| is 0/0 there; the library's rotation is E, and continuous."""
    with np.errstate(invalid="ignore"):
        assert np.isnan(np.zeros(3) / np.linalg.norm(np.zeros(3))).all()
    assert np.array_equal(exact(np.zeros(3), 0.1), E)
    assert close(exact(np.full(3, 1e-300), 0.1), E)


# Notes, Rigid Body Dynamics (Unconstrained)


def test_notes_state_derivative():
    """A free body keeps its momentum: the third entry of dY/dt is F = 0, not P."""
    inertia = Inertia.box(2.0, (1, 2, 3))
    Y = momentum.from_motion(inertia, Pose.exp(rng.normal(size=6)), rng.normal(size=6))
    F, tau = rng.normal(size=(2, 3))
    assert close(momentum.derivative(0.0, Y, inertia, free).P, 0)
    assert not close(Y.P, 0, 1e-2)  # printed
    dY = momentum.derivative(0.0, Y, inertia, total([AppliedForce(F), AppliedTorque(tau)]))
    assert close(dY.P, F)
    assert close(dY.L, tau)


def test_notes_particle_velocity():
    """omega* R r_0 + v in a steady rotation, where omega' = 0."""
    omega, v, r_0 = rng.normal(size=(3, 3))
    true = rate(lambda t: exact(omega, t) @ r_0 + v * t, t=0.3)
    r = exact(omega, 0.3) @ r_0
    assert close(point_velocity(np.concatenate([omega, v]), r), true, 1e-9)
    assert not close(point_velocity(np.concatenate([0 * omega, v]), r), true, 1e-1)  # printed, with omega'


def test_notes_units_of_angular_velocity():
    """One revolution per second brings a body back after one second: 2 pi rad/s does, 1 rad/s does not."""
    assert close(exact([0, 0, pt.rpm(60)], 1.0), E)
    assert pt.rpm(60) == pytest.approx(2 * np.pi)
    assert not close(exact([0, 0, 1.0], 1.0), E, 1e-1)  # printed: 2 pi too slow


# Lynch & Park, Dynamics of a Single Rigid Body


def test_lynch_park_inertial_frame():
    """By the book's convention {b} is at rest, and coincides with the body for an instant; on the body p_i = r_i."""
    V, r = rng.normal(size=6), rng.normal(size=3)  # a constant body twist

    def at_rest(t):
        return Pose.exp(V * t) @ r

    def moving(t):
        return Pose.exp(V * t).inverse() @ at_rest(t)

    assert close(rate(lambda t: rate(at_rest, t)), point_acceleration(V, 0 * V, r), 1e-6)
    assert close(rate(lambda t: rate(moving, t)), 0, 1e-6)


def test_lynch_park_density():
    """rho = m/V is the mean density: with it, a bar that is heavier at one end has its com in the middle."""
    bar = Inertia.density(lambda p: 1 + p[..., 0], Box((1, 1, 1)))
    printed = Inertia.of(Box((1, 1, 1)), density=bar.mass / Box((1, 1, 1)).volume)
    assert printed.mass == pytest.approx(bar.mass)
    assert close(bar.com, [1 / 12, 0, 0])
    assert close(printed.com, 0)
    assert not close(printed.moment, bar.moment, 1e-3)


def test_lynch_park_box_volume():
    """Figure 8.5 calls the sides l, w, h; a, b, c are the semi-axes of the ellipsoid beside it."""
    l, w, h = sides = np.array([1.0, 2.0, 3.0])
    assert Box(sides).volume == pytest.approx(l * w * h)
    a, b, c = sides / 2  # of an ellipsoid that touches all its faces
    assert Box(sides).volume != pytest.approx(a * b * c)


def test_lynch_park_shape_and_mass():
    light, heavy = (Inertia.of(Box((1, 2, 3)), density=rho) for rho in (1.0, 2.0))
    assert not close(light.moment, heavy.moment)  # one shape, uniform density, two inertias
    assert close(light.moment / light.mass, heavy.moment / heavy.mass)


def test_lynch_park_eigenvectors():
    inertia = Inertia.points(rng.uniform(1, 2, 6), rng.normal(size=(6, 3)))
    moments, R_bc = inertia.principal()
    assert close(inertia.in_frame(Pose(R_bc)).moment, np.diag(moments))
    for k in range(3):
        assert close(inertia.moment @ R_bc[:, k], moments[k] * R_bc[:, k])  # columns are eigenvectors
    with pytest.raises(ValueError, match="is not a rotation"):
        Pose(np.tile(moments, (3, 1)))  # printed: made of eigenvalues


def test_lynch_park_twist_form():
    """The wrench of the library has v in the last factor; with the printed v' it does not come out."""
    inertia, V, Vdot = Inertia.box(2.0, (1, 2, 3)), *rng.normal(size=(2, 6))
    G = inertia.spatial()
    omega, v = V[:3], V[3:]
    cross = np.block([[skew(omega), skew(v)], [np.zeros((3, 3)), skew(omega)]])
    assert close(G @ Vdot + cross @ G @ V, twist.wrench(G, V, Vdot))
    assert not close(G @ Vdot + cross @ G @ np.concatenate([omega, Vdot[3:]]), twist.wrench(G, V, Vdot))  # printed


def test_lynch_park_zero_row():
    X = Pose.exp(rng.normal(size=6))
    assert close(X.matrix(), np.block([[X.R, X.p[:, None]], [np.zeros((1, 3)), np.ones((1, 1))]]))
    with pytest.raises(ValueError, match="dimension"):
        np.block([[X.R, X.p[:, None]], [np.zeros((3, 1)), np.ones((1, 1))]])  # printed


# De Nivelle, Mechanics of Complex Objects


def test_denivelle_3_3_gravity_gradient():
    """Uniform gravity gives no torque about the com; the attraction of a planet does, on a slanted dumbbell."""
    o = Particles(np.ones(2), [(11.0, 1, 0), (9, -1, 0)])
    assert close(torque(o, weights(o, (-9.81, 0, 0))), 0)
    with_planet = Particles([1000.0, *o.masses], [(0, 0, 0), *o.positions])
    pull = spring_forces(with_planet, gravitation(with_planet, [(0, 1), (0, 2)], constant=1.0))
    assert not close(torque(o, pull[1:]), 0, 1e-2)  # "never"


def test_denivelle_3_7_opposite_forces():
    """I_ij = -I_ji passes; I_ij = -I_ij, as printed, leaves only I_ij = 0, and no force at all."""
    o = Particles(np.ones(2), rng.normal(size=(2, 3)))
    d = o.positions[1] - o.positions[0]
    I = np.zeros((2, 2, 3))
    I[0, 1], I[1, 0] = 2 * d, -2 * d
    assert close(internal_forces(o, I), [2 * d, -2 * d])
    assert not close(I[0, 1], -I[0, 1])  # printed


def test_denivelle_3_9_mass_once():
    o, c = Particles(rng.uniform(1, 2, 4), *rng.normal(size=(2, 4, 3))), rng.normal(size=3)
    F = rng.normal(size=(4, 3))
    _, a = derivative(o, forces=F)

    def L(t):
        x, v = o.positions + t * o.velocities + t * t / 2 * a, o.velocities + t * a
        return angular_momentum(Particles(o.masses, x, v), c)

    assert close(angular_momentum_rate(o, F, c), rate(L), 1e-9)
    twice = torque(o, o.masses[:, None] * F, c)  # printed: another m_i inside of the sum
    assert not close(twice, rate(L), 1e-2)


def test_denivelle_4_1_cannot_change():
    """The distances in a rigid object cannot change: their rates are zero for every rigid speed function."""
    x, v, omega = rng.normal(size=(5, 3)), *rng.normal(size=(2, 3))
    o = Particles(np.ones(5), x, v + np.cross(omega, x))
    fit = rigid_speed_function(o)
    assert fit.residual < 1e-12
    for i in range(5):
        for j in range(i):
            assert close((x[i] - x[j]) @ (fit(x[i]) - fit(x[j])), 0)  # "cannot not change", as printed, asks for more


def test_denivelle_4_2_inertia_matrix():
    """Section 4.3 never gives the form of I_i that section 4.2 promises: m (|x|^2 E - x x^T)."""
    m, (x, omega_dot) = 2.0, rng.normal(size=(2, 3))
    I = Inertia.points([m], [x]).about((0, 0, 0))
    assert close(I, m * (x @ x * E - np.outer(x, x)))
    assert close(I @ omega_dot, m * np.cross(x, np.cross(omega_dot, x)))


def test_denivelle_8_force_over_mass():
    """(8) of the library undoes the equation above it; the printed line, without the mass, does not."""
    inertia, (F, tau, omega, v) = Inertia.box(5.0, (1, 2, 3)), rng.normal(size=(4, 3))
    vdot, omegadot = body_frame.accelerations(inertia, v, omega, F, tau)
    assert close(body_frame.force_and_torque(inertia, v, omega, vdot, omegadot)[0], F)
    printed = F - np.cross(omega, v)
    assert not close(body_frame.force_and_torque(inertia, v, omega, printed, omegadot)[0], F)


def test_denivelle_step_of_angular_velocity():
    """One second under a constant torque about a principal axis: omega = T / I, whatever the step."""
    inertia, T = Inertia(1.0, np.zeros(3), np.diag([1.0, 2.0, 2.5])), np.array([0.0, 0.0, 5.0])
    start = body_frame.from_motion(inertia, Pose(), np.zeros(6))
    for n in (10, 100):
        state, printed = start, start.omega
        for k in range(n):
            load = total([AppliedTorque(T, axes="body")])
            alpha = body_frame.rate(k / n, replace(state, omega=printed), inertia, load).omegadot
            state, printed = body_frame.step(k / n, state, 1 / n, inertia, load), printed + alpha
        assert close(state.omega, [0, 0, 2])
        assert close(printed, [0, 0, 2 * n])  # faster by 1/h


def test_denivelle_unit_quaternion():
    """The printed increment has the length |omega|: the orientation is no unit quaternion after one step."""
    omega, h, q = np.array([1.0, 2.0, 2.0]), 0.1, quaternion.exp(rng.normal(size=3))
    half = np.linalg.norm(omega) * h / 2
    increment = np.array([np.linalg.norm(omega) * np.cos(half), *(omega * np.sin(half))])
    printed = quaternion.product(q, increment)
    assert np.linalg.norm(printed) == pytest.approx(3.0)
    assert close(printed / 3.0, quaternion.integrate(q, omega, h))
    assert close(quaternion.integrate(q, np.zeros(3), h), q)  # at rest, where the printed increment is zero


TUMBLING = Inertia.box(2.0, (1.0, 2.0, 3.0))
START = Pose.exp(np.array([0.3, -0.5, 0.8, 1.0, 2.0, 3.0])), np.array([2.0, 1.0, 0.5, 1.0, 0.0, 2.0])


def as_printed(t, s, h, inertia, load):
    """q by an increment on the left, X + h V, no boxed term; but omega, V, F, T and the constant I in internal axes."""
    k = body_frame.rate(t, s, inertia, load)
    return body_frame.BodyFrameState(
        s.X + h * s.V,
        quaternion.integrate_world(s.q, s.omega, h),
        s.V + h * (k.Vdot + np.cross(s.omega, s.V)),
        s.omega + h * k.omegadot,
    )


def in_world_axes(t, s, h, inertia, load):
    """The same three lines; but omega, V, F, T in world axes, and I that of the present orientation."""
    R = quaternion.to_matrix(s.q)
    k = body_frame.rate(t, s, inertia, load)
    V, omega = R @ s.V, R @ s.omega
    q = quaternion.integrate_world(s.q, omega, h)
    V, omega = V + h * R @ (k.Vdot + np.cross(s.omega, s.V)), omega + h * R @ k.omegadot
    R = quaternion.to_matrix(q)
    return body_frame.BodyFrameState(s.X + h * quaternion.rotate(s.q, s.V), q, R.T @ V, R.T @ omega)


def test_denivelle_axes_of_the_step():
    """Side of the increment, step of X and boxed term are right in world axes, and wrong in those of a constant I."""
    load = total([AppliedForce((3.0, 0, 1.0)), AppliedTorque((0.0, 2.0, 1.0))])
    true = simulate(TUMBLING, *START, load, "rkmk4", 1.0, 1e-3, records=1)
    R = quaternion.to_matrix(true.orientation[-1])

    def error(n, step):
        s = body_frame.from_motion(TUMBLING, *START)
        for k in range(n):
            s = step(k / n, s, 1 / n, TUMBLING, load)
        return np.abs(s.X - true.position[-1]).max() + np.abs(quaternion.to_matrix(s.q) - R).max()

    for step in (body_frame.step, in_world_axes):  # all in internal coordinates, or all in the world's: first order
        assert error(400, step) < 0.6 * error(200, step) < 0.05
    assert error(400, as_printed) > 0.5  # a mixture of both, however small the step
    assert error(400, as_printed) > 0.95 * error(200, as_printed)


# Featherstone, Solving a Two-Body Dynamics Problem using 3-D Vectors


def test_featherstone_identity_in_A():
    """m1 + m2 stands for (m1 + m2) E: NumPy adds a number to all nine entries."""
    I1, I2 = (Inertia.points(np.ones(5), rng.normal(size=(5, 3))).moment for _ in range(2))
    b = two_body.TwoBodies(2.0, I1, 3.0, I2, *rng.normal(size=(2, 3)), np.array([0.6, 0.0, 0.8]))
    f, tau = rng.normal(size=(2, 3))
    u = two_body.solution(b, f, tau)
    assert close(two_body.A(b) @ u.a1 + two_body.B(b) @ u.omegadot1, u.f1 + u.f2)
    verbatim = b.m1 + b.m2 + (two_body.A(b) - (b.m1 + b.m2) * E)
    assert not close(verbatim @ u.a1 + two_body.B(b) @ u.omegadot1, f, 1e-2)


def test_featherstone_second_body_on_a_line():
    """J is positive definite only if I2 is: a rod hinged about itself has s^T J s = 0; one off the axis has not."""
    rod = Inertia.rod(1.0, 2.0)  # along z, thin
    b = two_body.TwoBodies(1.0, E, rod.mass, rod.moment, np.ones(3), np.zeros(3), np.array([0.0, 0.0, 1.0]))
    assert two_body.sJs(b) == 0
    assert two_body.sJs(replace(b, r2=np.array([0.5, 0, 0]))) > 0


def test_the_page_names_every_test_and_no_other():
    page = (Path(__file__).parents[1] / "docs" / "errata.md").read_text(encoding="utf-8")
    named = re.findall(r"`(test_\w+)`", page)
    tests = [name for name in globals() if name.startswith("test_") and "page" not in name]
    assert sorted(named) == sorted(tests)
