"""The notes Rigid Body Dynamics (Unconstrained), page by page: particles, attitude, sums over points, momenta, Y."""

import numpy as np
from hypothesis import given
from text_objects import SEEDS, random_object, rate, same

from poinsot.body import momentum
from poinsot.body.forces import AppliedForce, AppliedTorque, at_centre, total
from poinsot.particles import Particles, centre_of_mass, derivative, torque, total_mass
from poinsot.particles import momentum as total_momentum
from poinsot.spatial import Inertia, Pose, rotation
from poinsot.spatial.motion import point_velocity

E = np.eye(3)


def body(seed):
    """Masses, positions r_0 about the centre of mass, a pose whose position is the centre of mass, omega and v."""
    rng = np.random.default_rng(seed)
    m, r_0 = rng.uniform(0.5, 2.0, 7), rng.normal(size=(7, 3))
    r_0 = r_0 - m @ r_0 / m.sum()
    return m, r_0, Pose.exp(rng.normal(size=6)), *rng.normal(size=(2, 3))


def state_of(seed, as_quaternion=False):
    """Y = (x, R, P, L) of a body of points, with that body."""
    m, r_0, X, omega, v = body(seed)
    inertia = Inertia.points(m, r_0)
    return inertia, momentum.MomentumState(
        X.p,
        X.quaternion() if as_quaternion else X.R,
        inertia.mass * v,
        X.R @ inertia.moment @ X.R.T @ omega,
    )


@given(SEEDS)
def test_particles(seed):
    """d/dt (x, v) = (v, F/m), for one particle and for n of them."""
    rng = np.random.default_rng(seed)
    for n in (1, 5):
        o, F = random_object(rng, n), rng.normal(size=(n, 3))
        xdot, vdot = derivative(o, forces=F)
        assert np.array_equal(xdot, o.velocities)
        same(vdot, F / o.masses[:, None])


@given(SEEDS)
def test_position_of_a_point(seed):
    """p(t) = x(t) + R(t) p_0, also r_i(t) = R r_0i + x for all points at once."""
    _, r_0, X, _, _ = body(seed)
    same(X @ r_0[0], X.p + X.R @ r_0[0])
    same(X @ r_0, r_0 @ X.R.T + X.p)


@given(SEEDS)
def test_columns_of_R_are_the_body_axes(seed):
    _, _, X, _, _ = body(seed)
    for k in range(3):
        same(X.R[:, k], X @ E[k] - X.p)
    same(X.R.T @ X.R, E)


@given(SEEDS)
def test_a_vector_fixed_to_the_body(seed):
    """r' = omega x r; of the arms, only what is perpendicular to omega counts: |omega x b| = |omega| |b|."""
    _, r_0, X, omega, _ = body(seed)
    r = X.R @ r_0[0]
    same(rate(lambda t: rotation.exact(omega, t) @ r), np.cross(omega, r), 1e-10)
    b = r - (r @ omega) / (omega @ omega) * omega
    same(np.linalg.norm(np.cross(omega, b)), np.linalg.norm(omega) * np.linalg.norm(b))


@given(SEEDS)
def test_star(seed):
    """a* b = a x b; R' = (omega x r_x, omega x r_y, omega x r_z) = omega* R."""
    _, (a, b, *_), X, omega, _ = body(seed)
    (x, y, z) = a
    same(rotation.skew(a), [[0, -z, y], [z, 0, -x], [-y, x, 0]])
    same(rotation.skew(a) @ b, np.cross(a, b))
    columns = np.column_stack([np.cross(omega, X.R[:, k]) for k in range(3)])
    same(rotation.skew(omega) @ X.R, columns)
    same(rate(lambda t: rotation.exact(omega, t) @ X.R), columns, 1e-10)


@given(SEEDS)
def test_velocity_of_a_point(seed):
    """r_i' = omega* R r_0i + v = omega x (r_i - x) + v."""
    _, r_0, X, omega, v = body(seed)
    for r in r_0:
        moving = rate(lambda t, r=r: rotation.exact(omega, t) @ X.R @ r + X.p + t * v)
        same(point_velocity(np.concatenate([omega, v]), X @ r - X.p), moving, 1e-10)
        same(rotation.skew(omega) @ X.R @ r + v, moving, 1e-10)


@given(SEEDS)
def test_x_is_the_centre_of_mass(seed):
    """M = sum m_i; with sum m_i r_0i = 0, sum m_i r_i / M = x."""
    m, r_0, X, _, _ = body(seed)
    o = Particles(m, X @ r_0)
    same(total_mass(o), Inertia.points(m, r_0).mass)
    same(m @ r_0, np.zeros(3), scale=10.0)
    same(centre_of_mass(o), X.p)
    same(Inertia.points(m, r_0).com, np.zeros(3))


@given(SEEDS)
def test_force_and_torque(seed):
    """F = sum F_i, tau = sum (r_i - x) x F_i: of points, and of forces on a body."""
    m, r_0, X, omega, v = body(seed)
    F = np.random.default_rng(seed + 1).normal(size=r_0.shape)
    r = X @ r_0
    tau = sum(np.cross(r[i] - X.p, F[i]) for i in range(len(m)))
    same(torque(Particles(m, r), F), tau, scale=10.0)
    inertia = Inertia.points(m, r_0)
    load = total([AppliedForce(F[i], r_0[i]) for i in range(len(m))])
    force, couple = at_centre(load(0.0, X, np.concatenate([X.R.T @ omega, X.R.T @ v])), inertia, X)
    same(force, F.sum(axis=0), scale=10.0)
    same(couple, tau, scale=10.0)


@given(SEEDS)
def test_linear_momentum(seed):
    """P = sum m_i r_i' = M v, and v' = F/M."""
    m, r_0, X, omega, v = body(seed)
    o = Particles(m, X @ r_0, v + np.cross(omega, X @ r_0 - X.p))
    same(total_momentum(o), m.sum() * v, scale=10.0)
    inertia, Y = state_of(seed)
    same(Y.P, total_momentum(o), scale=10.0)
    F = np.array([1.0, -2.0, 3.0])
    dY = momentum.derivative(0.0, Y, inertia, total([AppliedForce(F)]))
    same(rate(lambda t: (Y.P + t * dY.P) / inertia.mass), F / inertia.mass, 1e-10)


@given(SEEDS)
def test_angular_momentum_and_inertia(seed):
    """L = I(t) omega, I(t) entry by entry and as R I_body R^T, and its inverse as R I_body^-1 R^T."""
    m, r_0, X, omega, _ = body(seed)
    inertia, Y = state_of(seed)
    x, y, z = (X @ r_0 - X.p).T  # r'
    rows = [[y * y + z * z, -x * y, -x * z], [-y * x, x * x + z * z, -y * z], [-z * x, -z * y, x * x + y * y]]
    I = np.array([[m @ entry for entry in row] for row in rows])
    same(X.R @ inertia.moment @ X.R.T, I, scale=10.0)
    same((X @ inertia).moment, I, scale=10.0)
    same(X.R @ np.linalg.inv(inertia.moment) @ X.R.T, np.linalg.inv(I), 1e-10)
    same(Y.L, I @ omega, scale=10.0)
    same(momentum.angular_velocity(Y, inertia), omega, 1e-10)


@given(SEEDS)
def test_Y_and_its_derivative(seed):
    """d/dt (x, R, P, L) = (v, omega* R, F, tau), with a matrix and with a quaternion."""
    _, _, X, omega, v = body(seed)
    F, tau = np.random.default_rng(seed + 1).normal(size=(2, 3))
    load = total([AppliedForce(F), AppliedTorque(tau)])
    for as_quaternion in (False, True):
        inertia, Y = state_of(seed, as_quaternion)
        dY = momentum.derivative(0.0, Y, inertia, load)
        same(dY.x, v)
        same(dY.P, F)
        same(dY.L, tau, scale=10.0)
        k = momentum.rate(0.0, Y, inertia, load)
        same(k.omega, omega, 1e-10)
        turned = rate(lambda t, Y=Y, k=k: momentum.matrix(momentum.integrate(Y, k, t).attitude))
        same(turned, rotation.skew(omega) @ X.R, 1e-9)
    inertia, Y = state_of(seed)
    same(momentum.derivative(0.0, Y, inertia, load).attitude, rotation.skew(omega) @ X.R, 1e-10)


@given(SEEDS)
def test_R_stays_a_rotation(seed):
    """A matrix R that a step of Euler's method leaves is no rotation; the nearest one takes its place."""
    inertia, Y = state_of(seed)
    dY = momentum.derivative(0.0, Y, inertia, lambda t, X, V: np.zeros(6))
    left = momentum.MomentumState(Y.x, Y.attitude + 0.01 * dY.attitude, Y.P, Y.L)
    R = momentum.normalize(left).attitude
    U, _, Vh = np.linalg.svd(left.attitude)
    same(R, U @ Vh, 1e-7)  # two of Newton's iterations
    same(R.T @ R, E, 1e-7)
