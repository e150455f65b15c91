"""Errors of the source texts: each test computes the printed and the correct version, and shows which one holds.

docs/errata.md lists them; the last test keeps the two in step.
"""

import re
from pathlib import Path

import numpy as np
import pytest

from poinsot.spatial import quaternion
from poinsot.spatial.inertia import Inertia
from poinsot.spatial.motion import ad
from poinsot.spatial.pose import Pose
from poinsot.spatial.rotation import exp, skew
from poinsot.spatial.shapes import Box

rng = np.random.default_rng(20)
E = np.eye(3)


def close(a, b, tolerance=1e-12):
    return np.allclose(a, b, rtol=tolerance, atol=tolerance)


def rate(f, t=0.0, h=1e-4):
    """df/dt, by a difference of fourth order."""
    return (8 * (f(t + h) - f(t - h)) - (f(t + 2 * h) - f(t - 2 * h))) / (12 * h)


# Peskin, Rigid-Body Motion


def test_peskin_15_cross_product():
    X_j, X_k, X_cm = rng.normal(size=(3, 3))
    assert not close(np.cross(X_j, X_k), 0)  # printed
    assert close(np.cross(X_k, X_k), 0)
    term_of_14 = np.cross(X_k - X_cm, X_j - X_k)
    assert close(term_of_14, np.cross(X_k, X_j) - np.cross(X_cm, X_j - X_k))
    assert not close(term_of_14, -np.cross(X_cm, X_j - X_k))  # what would be left of (15) if X_j x X_k were zero


def test_peskin_29_point_at_the_centre():
    X, V = np.array([[1.0, 0, 0], [-1, 1, 0], [0, -1, 0], [0, 0, 0]]), np.array([0.0, 0, 1])
    terms = np.sum(X**2, axis=1) * (V @ V) - (X @ V) ** 2
    assert list(np.flatnonzero(terms == 0)) == [3]
    assert V.any()  # so V is not a multiple of X_k = 0, as printed ...
    assert not X[3].any()  # ... but X_k = 0 is a multiple of V
    assert Inertia.points(np.ones(4), X).rank == 3


def test_peskin_42_body_at_rest():
    Omega = np.zeros(3)
    with np.errstate(invalid="ignore"):
        n = Omega / np.linalg.norm(Omega)
        P = np.outer(n, n)
        printed = P + np.cos(0) * (E - P) + np.sin(0) * skew(n)
    assert np.isnan(printed).all()
    assert close(exp(Omega), E)


# Notes, Rigid Body Dynamics (Unconstrained)


def test_notes_state_derivative():
    """A free body keeps its momentum; with dP/dt = P it would gain a factor e every second."""
    P, F, h = np.array([1.0, 2.0, 3.0]), np.zeros(3), 1e-3
    printed = right = P
    for _ in range(1000):
        printed, right = printed + h * printed, right + h * F
    assert close(right, P)
    assert printed == pytest.approx(np.e * P, rel=1e-3)


def test_notes_particle_velocity():
    omega, v, r_0 = rng.normal(size=(3, 3))
    omega_dot = np.zeros(3)  # a steady rotation
    true = rate(lambda t: exp(omega * t) @ r_0 + v * t, t=0.3)
    r = exp(omega * 0.3) @ r_0
    assert close(skew(omega) @ r + v, true, 1e-9)
    assert not close(skew(omega_dot) @ r + v, true, 1e-1)  # printed


def test_notes_units_of_angular_velocity():
    revolutions_per_second, r = 1.0, np.array([1.0, 0, 0])
    angle = 2 * np.pi * revolutions_per_second
    true = rate(lambda t: exp([0, 0, angle * t]) @ r)
    assert close(np.cross([0, 0, angle], r), true, 1e-9)
    assert not close(np.cross([0, 0, revolutions_per_second], r), true, 1e-1)  # printed: 2 pi too slow


# Lynch & Park, Dynamics of a Single Rigid Body


def test_lynch_park_inertial_frame():
    """The accelerations hold in a frame at rest that coincides with {b} for an instant; in {b} nothing moves."""
    V, r = rng.normal(size=6), rng.normal(size=3)  # a constant body twist
    omega, v = V[:3], V[3:]

    def at_rest(t):
        return Pose.exp(V * t) @ r

    def in_b(t):  # printed
        return Pose.exp(V * t).inverse() @ at_rest(t)

    formula = skew(omega) @ v + skew(omega) @ skew(omega) @ r
    assert close(rate(lambda t: rate(at_rest, t)), formula, 1e-6)
    assert close(rate(lambda t: rate(in_b, t)), 0, 1e-6)


def test_lynch_park_eigenvectors():
    inertia = Inertia.points(rng.uniform(1, 2, 6), rng.normal(size=(6, 3)))
    values, vectors = np.linalg.eigh(inertia.moment)
    printed = np.tile(values, (3, 1))  # columns that correspond to eigenvalues
    assert not close(printed.T @ printed, E)
    assert close(vectors.T @ inertia.moment @ vectors, np.diag(values))
    moments, R_bc = inertia.principal()
    assert close(R_bc.T @ inertia.moment @ R_bc, np.diag(moments))


def test_lynch_park_twist_form():
    I, m = Inertia.box(2.0, (1, 2, 3)).moment, 2.0
    omega, v, omega_dot, v_dot = rng.normal(size=(4, 3))
    G = np.block([[I, np.zeros((3, 3))], [np.zeros((3, 3)), m * E]])
    true = np.concatenate([I @ omega_dot + np.cross(omega, I @ omega), m * v_dot + np.cross(omega, m * v)])
    cross = np.block([[skew(omega), skew(v)], [np.zeros((3, 3)), skew(omega)]])
    V, V_dot = np.concatenate([omega, v]), np.concatenate([omega_dot, v_dot])
    assert close(G @ V_dot + cross @ G @ V, true)
    assert close(G @ V_dot - ad(V).T @ G @ V, true)
    assert not close(G @ V_dot + cross @ G @ np.concatenate([omega, v_dot]), true)  # printed


def test_lynch_park_box_volume():
    """Figure 8.5 calls the sides l, w, h; a, b, c are the semi-axes of the ellipsoid beside it."""
    sides = np.array([1.0, 2.0, 3.0])
    assert Box(sides).volume == pytest.approx(np.prod(sides))
    assert Box(sides).volume == pytest.approx(8 * np.prod(sides / 2))  # eight times a b c


def test_lynch_park_density():
    """rho = m/V is the mean density: with it, a bar that is heavier at one end has its com in the middle."""
    bar = Inertia.density(lambda p: 1 + p[..., 0], Box((1, 1, 1)))
    printed = Inertia.density(lambda p: bar.mass / 1.0, Box((1, 1, 1)))
    assert printed.mass == pytest.approx(bar.mass)
    assert close(bar.com, [1 / 12, 0, 0])
    assert close(printed.com, 0)
    assert not close(printed.moment, bar.moment, 1e-3)


def test_lynch_park_shape_and_mass():
    light, heavy = (Inertia.of(Box((1, 2, 3)), density=rho) for rho in (1.0, 2.0))
    assert not close(light.moment, heavy.moment)  # one shape, uniform density, two inertias
    assert close(light.moment / light.mass, heavy.moment / heavy.mass)


def test_lynch_park_zero_row():
    R, p = exp(rng.normal(size=3)), np.zeros((3, 1))
    assert np.block([[R, p], [np.zeros((1, 3)), np.ones((1, 1))]]).shape == (4, 4)
    with pytest.raises(ValueError, match="dimension"):
        np.block([[R, p], [np.zeros((3, 1)), np.ones((1, 1))]])  # printed


# De Nivelle, Mechanics of Complex Objects


def test_denivelle_3_7_opposite_forces():
    x_i, x_j = rng.normal(size=(2, 3))
    I_ij, I_ji = 2.0 * (x_j - x_i), 2.0 * (x_i - x_j)
    assert close(I_ij, -I_ji)
    assert not close(I_ij, -I_ij)  # printed: only a zero force is its own opposite


def test_denivelle_3_9_mass_once():
    m, x, v, a, c = rng.uniform(1, 2, 4), *rng.normal(size=(3, 4, 3)), rng.normal(size=3)

    def L(t):
        return m @ np.cross(x + v * t + a * t * t / 2 - c, v + a * t)

    assert close(m @ np.cross(x - c, a), rate(L), 1e-9)
    assert not close(m @ (np.cross(v, v) + m[:, None] * np.cross(x - c, a)), rate(L), 1e-2)  # printed


def test_denivelle_3_3_gravity_gradient():
    """Gravity gives no torque about the com where it is uniform; near a planet it rotates a slanted dumbbell."""
    m, x = np.ones(2), np.array([[11.0, 1, 0], [9, -1, 0]])
    com = m @ x / m.sum()
    uniform = m[:, None] * np.array([-9.81, 0, 0])
    planet = -1000 * m[:, None] * x / np.linalg.norm(x, axis=1, keepdims=True) ** 3
    assert close(np.cross(x - com, uniform).sum(axis=0), 0)
    assert not close(np.cross(x - com, planet).sum(axis=0), 0, 1e-2)  # "never", as printed


def test_denivelle_4_2_inertia_matrix():
    """Section 4.3 never gives the form of I_i that section 4.2 promises: m (|x|^2 E - x x^T)."""
    m, x, omega_dot = 2.0, *rng.normal(size=(2, 3))
    I = m * (x @ x * E - np.outer(x, x))
    assert close(I @ omega_dot, m * np.cross(x, np.cross(omega_dot, x)))
    assert close(I, Inertia.points([m], [x]).about((0, 0, 0)))


def test_denivelle_8_force_over_mass():
    m, F, omega, v = 5.0, *rng.normal(size=(3, 3))
    right, printed = F / m - np.cross(omega, v), F - np.cross(omega, v)
    assert close(m * (right + np.cross(omega, v)), F)  # the equation above (8)
    assert not close(m * (printed + np.cross(omega, v)), F)


def test_denivelle_step_of_angular_velocity():
    """One second under a constant torque about a principal axis, in steps of 1/100 s: omega = T / I."""
    I, T, h = np.diag([1.0, 2.0, 3.0]), np.array([0.0, 0.0, 6.0]), 0.01
    right = printed = np.zeros(3)
    for _ in range(100):
        right = right + h * np.linalg.solve(I, T - np.cross(right, I @ right))
        printed = printed + np.linalg.solve(I, T - np.cross(printed, I @ printed))
    assert close(right, [0, 0, 2])
    assert close(printed, [0, 0, 200])  # faster by 1/h


def increment(omega, h):
    """The printed quaternion of the rotation at omega during h."""
    angle = np.linalg.norm(omega) * h
    return np.array([np.linalg.norm(omega) * np.cos(angle / 2), *(omega * np.sin(angle / 2))])


def test_denivelle_unit_quaternion():
    omega, h = np.array([1.0, 2.0, 2.0]), 0.1
    assert np.linalg.norm(increment(omega, h)) == pytest.approx(3.0)  # printed: its length is |omega|
    assert close(increment(omega, h) / 3.0, quaternion.exp(omega * h))
    assert close(increment(np.zeros(3), h), 0)  # and it is zero for a body at rest
    assert close(quaternion.exp(np.zeros(3)), [1, 0, 0, 0])


def test_denivelle_side_of_the_increment():
    """omega is in body axes: the increment belongs on the right of q, or, backwards, on the left of its inverse."""
    phi, omega, h = *rng.normal(size=(2, 3)), 0.1
    q, dq = quaternion.exp(phi), quaternion.exp(omega * h)
    R = exp(phi) @ exp(omega * h)  # R' = R [omega], omega in body axes
    assert close(quaternion.to_matrix(quaternion.product(q, dq)), R)
    assert not close(quaternion.to_matrix(quaternion.product(dq, q)), R, 1e-3)  # printed
    inverse = quaternion.conjugate(q)
    assert close(quaternion.to_matrix(quaternion.product(quaternion.conjugate(dq), inverse)).T, R)
    assert not close(quaternion.to_matrix(quaternion.product(dq, inverse)).T, R, 1e-3)  # printed, other meaning of q


def test_denivelle_step_of_position():
    """V is in body axes: a body that flies nose first after a rotation to the left moves to the left."""
    q, V, h = quaternion.exp([0, 0, np.pi / 2]), np.array([10.0, 0, 0]), 0.1
    assert close(h * quaternion.rotate(q, V), [0, 1, 0])
    assert close(h * V, [1, 0, 0])  # printed


def test_denivelle_boxed_term():
    """A free body that spins keeps its momentum. In body axes this needs omega x V, which does not disappear."""
    omega, V0, h, n = np.array([0.0, 0.0, np.pi]), np.array([1.0, 0, 0]), 1e-4, 10_000
    boxed = dropped = V0
    for _ in range(n):
        boxed = boxed - h * np.cross(omega, boxed)
    R = exp(omega * n * h)  # rotation by pi
    assert close(R @ boxed, V0, 1e-3)
    assert close(R @ dropped, -V0)  # printed: the body flies back, though no force acts


# Featherstone, Solving a Two-Body Dynamics Problem using 3-D Vectors


def test_featherstone_identity_in_A():
    """m1 + m2 stands for (m1 + m2) E. As printed, NumPy adds the masses to all nine entries."""
    m1, m2, I1, I2 = 2.0, 3.0, *(Inertia.points(np.ones(5), rng.normal(size=(5, 3))).moment for _ in range(2))
    r1, r2, a1, w1 = rng.normal(size=(4, 3))
    s = np.array([0.6, 0.0, 0.8])
    t1, t2 = skew(r1), skew(r2)
    J, K = I2 - m2 * t2 @ t2, I2 + m2 * (t1 - t2) @ t2
    sJs = s @ J @ s
    alpha = -s @ (K.T @ w1 - m2 * t2 @ a1) / sJs  # (24)
    a2, w2 = a1 + np.cross(r2 - r1, w1) + np.cross(r2, s * alpha), w1 + s * alpha  # (16), (17)
    assert close(s @ (I2 @ w2 - np.cross(r2, m2 * a2)), 0)  # (15)
    f, tau = m1 * a1 + m2 * a2, I1 @ w1 + I2 @ w2 + np.cross(r1 - r2, m2 * a2)  # (11), (12)
    rest = m2**2 * np.outer(t2 @ s, s @ t2) / sJs
    B = m2 * (t2 - t1) - m2 * np.outer(t2 @ s, K @ s) / sJs
    D = I1 + I2 - m2 * (t1 - t2) @ (t1 - t2) - np.outer(K @ s, K @ s) / sJs
    assert close(((m1 + m2) * E + rest) @ a1 + B @ w1, f)
    assert close(B.T @ a1 + D @ w1, tau)  # B = C^T
    assert not close((m1 + m2 + rest) @ a1 + B @ w1, f, 1e-2)  # printed


def test_the_page_names_every_test_and_no_other():
    page = (Path(__file__).parents[1] / "docs" / "errata.md").read_text(encoding="utf-8")
    named = re.findall(r"`(test_\w+)`", page)
    tests = [name for name in globals() if name.startswith("test_") and "page" not in name]
    assert sorted(named) == sorted(tests)
