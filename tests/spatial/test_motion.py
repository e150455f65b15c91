"""Twists, wrenches, their frames and reference points."""

import numpy as np
from scipy.linalg import expm
from spatial_strategies import law, poses, same, twists, vectors, wrenches

from poinsot.spatial import motion
from poinsot.spatial.motion import (
    Ad,
    ad,
    ad_dual,
    bracket,
    point_acceleration,
    point_acceleration_moving,
    point_velocity,
    twist_at,
    twist_in_frame,
    twist_matrix,
    wrench_at,
    wrench_in_frame,
)
from poinsot.spatial.pose import Pose
from poinsot.spatial.rotation import exp, skew

LONG = 1e-13  # chains of 6x6 products with entries of size ten


@law(X=poses, Y=poses)
def test_adjoint_is_a_representation(X, Y):
    same((X @ Y).adjoint(), X.adjoint() @ Y.adjoint(), LONG)
    same(X.inverse().adjoint() @ X.adjoint(), np.eye(6), LONG)
    same(X.adjoint(), Ad(X.R, X.p), 0.0)


@law(X=poses, V=twists)
def test_adjoint_moves_twist_matrices(X, V):
    same(twist_matrix(X.adjoint() @ V), X.matrix() @ twist_matrix(V) @ X.inverse().matrix(), LONG)
    same(twist_in_frame(X, V), X.adjoint() @ V)


@law(V=twists)
def test_adjoint_of_exp_is_exp_of_ad(V):
    same(Pose.exp(V).adjoint(), expm(ad(V)), LONG)


@law(V1=twists, V2=twists, V3=twists)
def test_bracket_is_a_lie_bracket(V1, V2, V3):
    same(bracket(V1, V2), -bracket(V2, V1), 0.0)
    same(bracket(V1, V2), ad(V1) @ V2)
    commutator = twist_matrix(V1) @ twist_matrix(V2) - twist_matrix(V2) @ twist_matrix(V1)
    same(twist_matrix(bracket(V1, V2)), commutator)
    jacobi = bracket(V1, bracket(V2, V3)) + bracket(V2, bracket(V3, V1)) + bracket(V3, bracket(V1, V2))
    same(jacobi, 0.0, 1e-12)  # sums of products of three numbers of size four, which cancel


@law(X=poses, V1=twists, V2=twists)
def test_bracket_does_not_depend_on_the_frame(X, V1, V2):
    same(bracket(twist_in_frame(X, V1), twist_in_frame(X, V2)), twist_in_frame(X, bracket(V1, V2)), LONG)


@law(V1=twists, V2=twists, F=wrenches)
def test_ad_dual_is_the_transpose_of_ad(V1, V2, F):
    same(ad_dual(V1, F), ad(V1).T @ F)
    same(ad_dual(V1, F) @ V2, F @ bracket(V1, V2), LONG)


@law(X=poses, V=twists, F=wrenches)
def test_power_does_not_depend_on_the_frame(X, V, F):
    same(twist_in_frame(X, V) @ wrench_in_frame(X, F), V @ F, LONG)
    same(wrench_in_frame(X, F), X.inverse().adjoint().T @ F)
    same(wrench_in_frame(X.inverse(), wrench_in_frame(X, F)), F, LONG)


@law(V=twists, F=wrenches, r=vectors(), s=vectors())
def test_change_of_reference_point(V, F, r, s):
    same(twist_at(V, r) @ wrench_at(F, r), V @ F, LONG)
    same(twist_at(twist_at(V, r), s), twist_at(V, r + s))
    same(wrench_at(wrench_at(F, r), s), wrench_at(F, r + s))
    same(twist_at(V, r), twist_in_frame(Pose(p=-r), V), 0.0)  # the old origin is at -r from the new one
    same(wrench_at(F, r), wrench_in_frame(Pose(p=-r), F), 0.0)
    same(twist_at(V, r)[3:], point_velocity(V, r), 0.0)


def test_the_moment_of_a_force_is_that_of_its_lever():
    m, f = np.split(wrench_at([0, 0, 0, 0, 0, 2.0], [-3.0, 0, 0]), 2)  # 2 N along z, at 3 m along x from the new point
    same(m, np.cross([3.0, 0, 0], [0, 0, 2.0]), 0.0)
    same(f, [0, 0, 2.0], 0.0)


@law(masses=vectors(4, 1.0), X=poses, V=twists)
def test_momentum_transforms_as_a_wrench(masses, X, V):
    m, x = masses + 2.0, np.random.default_rng(5).normal(size=(4, 3))

    def momentum(V, x):  # (L, p) about the origin of the frame in which V and x are given
        p = m[:, None] * point_velocity(V, x)
        return np.concatenate([np.cross(x, p).sum(0), p.sum(0)])

    same(motion.momentum_in_frame(X, momentum(V, x)), momentum(twist_in_frame(X, V), X @ x), LONG)
    r = np.array([0.3, -0.2, 0.5])
    same(motion.momentum_at(momentum(V, x), r), momentum(twist_at(V, r), x - r), LONG)


@law(X=poses, V=twists)
def test_twist_matrix_is_the_derivative_of_the_pose(X, V):
    h = 1e-20

    def pose_matrix(t):  # X exp(V t), the motion at the constant body twist V
        return X.matrix() @ expm(twist_matrix(V) * t)

    same(pose_matrix(1j * h).imag / h, X.matrix() @ twist_matrix(V))
    same(twist_matrix(V)[3], 0.0, 0.0)


class Flight:
    """A body on a known path, p(t) and R(t) = exp(a t) exp(b t^2), with the exact derivatives."""

    a, b = np.array([0.4, -1.1, 0.7]), np.array([-0.3, 0.8, 0.5])

    def __init__(self, t: float) -> None:
        self.R = exp(self.a * t) @ exp(self.b * t * t)
        self.p = np.array([np.sin(t), t**3, np.cos(2 * t)])
        self.v = np.array([np.cos(t), 3 * t**2, -2 * np.sin(2 * t)])
        self.acceleration = np.array([-np.sin(t), 6 * t, -4 * np.cos(2 * t)])
        carried = exp(self.a * t) @ self.b  # b, in world axes
        self.omega = self.a + 2 * t * carried
        self.alpha = 2 * carried + 2 * t * np.cross(self.a, carried)

    def of_point(self, r):
        """Velocity and acceleration, in world axes, of the point r of the body: by differentiating p + R r twice."""
        S, Sdot = skew(self.omega), skew(self.alpha)
        return self.v + S @ self.R @ r, self.acceleration + (Sdot + S @ S) @ self.R @ r


r = np.array([0.5, -0.7, 1.3])
now = Flight(0.6)


def test_the_flight_is_differentiated_correctly():
    h = 1e-3

    def derivative(f):  # sixth order
        return sum(c * (f(0.6 + k * h) - f(0.6 - k * h)) for k, c in ((1, 45), (2, -9), (3, 1))) / (60 * h)

    same(derivative(lambda t: Flight(t).p + Flight(t).R @ r), now.of_point(r)[0], 1e-12)
    same(derivative(lambda t: Flight(t).of_point(r)[0]), now.of_point(r)[1], 1e-12)


def test_points_in_body_axes():
    R = now.R
    V = np.concatenate([R.T @ now.omega, R.T @ now.v])
    # d/dt (R^T v) = R^T (v' - omega x v), and the same for omega
    Vdot = np.concatenate([R.T @ now.alpha, R.T @ (now.acceleration - np.cross(now.omega, now.v))])
    velocity, acceleration = now.of_point(r)
    same(R @ point_velocity(V, r), velocity)
    same(R @ point_acceleration(V, Vdot, r), acceleration)


def test_points_with_a_fixed_reference_point():
    # The rigid speed function of de Nivelle: v is the velocity of the body-fixed point that passes the world's origin.
    velocity, acceleration = now.of_point(r)
    V = np.concatenate([now.omega, now.v - np.cross(now.omega, now.p)])
    Vdot = np.concatenate([now.alpha, now.acceleration - np.cross(now.alpha, now.p) - np.cross(now.omega, now.v)])
    x = now.p + now.R @ r
    same(point_velocity(V, x), velocity)
    same(point_acceleration(V, Vdot, x), acceleration)  # (4)


def test_points_with_a_reference_point_that_moves_with_the_body():
    V, Vdot = np.concatenate([now.omega, now.v]), np.concatenate([now.alpha, now.acceleration])
    velocity, acceleration = now.of_point(r)
    same(point_velocity(V, now.R @ r), velocity)
    same(point_acceleration_moving(V, Vdot, now.R @ r), acceleration)


def test_batches_broadcast_and_are_loops():
    rng = np.random.default_rng(6)
    X, V, F, x = (
        Pose.exp(rng.normal(size=(5, 6))),
        rng.normal(size=(5, 6)),
        rng.normal(size=(5, 6)),
        rng.normal(size=(5, 3)),
    )
    X0 = Pose(X.R[0], X.p[0])
    for f in (twist_in_frame, wrench_in_frame):
        same(f(X, V)[0], f(X0, V[0]), 1e-15)
        assert f(X0, V).shape == f(X, V[0]).shape == f(Pose(X.R[0], X.p), V[0]).shape == (5, 6)
    for f in (bracket, ad_dual):
        same(f(V, F), [f(a, b) for a, b in zip(V, F, strict=True)], 1e-15)
        assert f(V[0], F).shape == f(V, F[0]).shape == (5, 6)
    for f in (twist_at, wrench_at, point_velocity):
        same(f(V, x), [f(a, b) for a, b in zip(V, x, strict=True)], 1e-15)
        assert f(V[0], x).shape == f(V, x[0]).shape == f(V, x).shape
    for f in (ad, twist_matrix):
        same(f(V), [f(a) for a in V], 0.0)
    same(Ad(X.R, X.p), [Ad(R, p) for R, p in zip(X.R, X.p, strict=True)], 1e-15)
    assert Ad(X.R[0], X.p).shape == Ad(X.R, X.p[0]).shape == (5, 6, 6)
    for f in (point_acceleration, point_acceleration_moving):
        same(f(V, F, x), [f(*abc) for abc in zip(V, F, x, strict=True)], 1e-15)
