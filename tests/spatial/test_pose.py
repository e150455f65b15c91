"""Poses: the group SE(3)."""

import copy
import dataclasses
import pickle

import numpy as np
import pytest
from scipy.linalg import expm
from spatial_strategies import EDGE_ANGLES, law, poses, same, twists, vectors

from poinsot.spatial import quaternion, rotation
from poinsot.spatial.motion import twist_matrix
from poinsot.spatial.pose import Pose

NEAR = [angle for angle in EDGE_ANGLES if angle < 1e-7 or np.pi - angle < 1e-7]  # the identity, and rotations by pi


@law(X=poses, Y=poses, Z=poses, x=vectors())
def test_poses_are_a_group_that_acts_on_points(X, Y, Z, x):
    same(((X @ Y) @ Z).matrix(), (X @ (Y @ Z)).matrix())
    same((X @ X.inverse()).matrix(), np.eye(4))
    same((X.inverse() @ X).matrix(), np.eye(4))
    assert X @ Pose.identity() == X == Pose.identity() @ X
    same((X @ Y) @ x, X @ (Y @ x))
    same(X.inverse() @ (X @ x), x)


@pytest.mark.parametrize("angle", NEAR)
def test_poses_are_a_group_near_the_identity_and_near_pi(angle):
    X = Pose.exp([angle * 2 / 7, -angle * 3 / 7, angle * 6 / 7, 1e-9, -2.0, 1e-5])
    Y = Pose.exp([-angle * 6 / 7, angle * 2 / 7, angle * 3 / 7, 0.5, -1e-9, 1e-3])
    same(((X @ Y) @ X).matrix(), (X @ (Y @ X)).matrix(), 2e-15)
    same((X @ X.inverse()).matrix(), np.eye(4), 2e-15)
    same(Pose.exp(X.log()).matrix(), X.matrix(), 4e-15)


@law(xi=twists)
def test_exp_is_the_matrix_exponential(xi):
    same(Pose.exp(xi).matrix(), expm(twist_matrix(xi)))
    same(Pose.exp(-xi).matrix(), Pose.exp(xi).inverse().matrix())


@law(xi=twists)
def test_log_undoes_exp(xi):
    back = Pose.exp(xi).log()
    same(Pose.exp(back).matrix(), Pose.exp(xi).matrix(), 2e-14)
    if np.linalg.norm(xi[:3]) < np.pi - 1e-12:  # at pi the opposite axis is equivalent
        same(back, xi, 5e-14)


@pytest.mark.parametrize("angle", EDGE_ANGLES[:-1])
def test_log_undoes_exp_at_the_edges(angle):
    omega, v = angle * np.array([2.0, -3.0, 6.0]) / 7.0, np.array([3.0, -1e-9, 1e5])
    back = Pose.exp([*omega, *v]).log()
    np.testing.assert_allclose(back[:3], omega, rtol=1e-15, atol=8e-16 * angle)
    same(back[3:], v, 4e-15)


@law(X=poses)
def test_every_form_of_a_pose_gives_it_back(X):
    assert Pose.from_matrix(X.matrix()) == X
    same(Pose.from_quaternion(X.quaternion(), X.p).matrix(), X.matrix())
    same(Pose.from_euler(X.euler(), X.p).matrix(), X.matrix())
    same(X @ np.eye(3), (X.matrix() @ np.vstack([np.eye(3), np.ones(3)]))[:3].T, 1e-15)


def test_defaults():
    assert Pose() == Pose.identity() == Pose.from_quaternion([1, 0, 0, 0]) == Pose.from_euler([0, 0, 0])
    assert Pose(p=(1, 2, 3)) == Pose(np.eye(3), [1.0, 2.0, 3.0])


def test_batches_are_loops():
    rng = np.random.default_rng(7)
    xi, eta, x = rng.normal(size=(5, 6)), rng.normal(size=(5, 6)), rng.normal(size=(5, 3))
    X, Y = Pose.exp(xi), Pose.exp(eta)
    ones = list(zip(map(Pose.exp, xi), map(Pose.exp, eta), x, strict=True))
    same((X @ Y).matrix(), [(a @ b).matrix() for a, b, _ in ones], 1e-15)
    same(X @ x, [a @ c for a, _, c in ones], 1e-15)
    for f in (Pose.log, Pose.matrix, Pose.adjoint, Pose.quaternion, Pose.euler):
        same(f(X), [f(a) for a, _, _ in ones], 2e-15)
    same(X.inverse().matrix(), [a.inverse().matrix() for a, _, _ in ones], 1e-15)


def test_batch_shapes_broadcast():
    R, p = rotation.exp([0.1, 0.2, 0.3]), np.zeros((4, 2, 3))
    X = Pose(R, p)
    for shape, expected in (
        (X.matrix().shape, (4, 2, 4, 4)),
        (X.adjoint().shape, (4, 2, 6, 6)),
        (X.log().shape, (4, 2, 6)),
    ):
        assert shape == expected
    assert (Pose() @ X).matrix().shape == (X @ Pose()).matrix().shape == (4, 2, 4, 4)
    assert (Pose(R) @ np.zeros((9, 3))).shape == (9, 3)


def test_a_pose_cannot_be_changed():
    R, p = np.eye(3), np.zeros(3)
    X = Pose(R, p)
    p[0] = R[0, 1] = 7.0
    assert Pose.identity() == X
    for pose in (X, X @ X, X.inverse(), Pose.exp(np.ones(6)), Pose.from_quaternion([1, 0, 0, 0])):
        with pytest.raises(ValueError, match="read-only"):
            pose.R[0, 0] = 2.0
        with pytest.raises(ValueError, match="read-only"):
            pose.p[0] = 2.0
        with pytest.raises(dataclasses.FrozenInstanceError):
            pose.p = np.ones(3)
    p[0] = 1.0  # the caller's array stays writable


def test_poses_are_values():
    X, Y = Pose(p=(1.0, -0.0, 3.0)), Pose(p=(1.0, 0.0, 3.0))
    assert X == Y
    assert hash(X) == hash(Y)
    assert Pose() != X
    assert X != "pose"
    assert copy.deepcopy(X) == pickle.loads(pickle.dumps(X)) == dataclasses.replace(X, R=np.eye(3)) == X
    north = Pose.from_euler([0, 0, np.pi / 2], (1, 2, 3))
    assert repr(north) == "<Pose p=[1, 2, 3] m, roll-pitch-yaw=[0, 0, 90] deg>"
    assert repr(Pose(p=np.zeros((4, 3)))) == "<Pose, batch of shape (4,)>"


def test_other_classes_can_be_on_the_right():
    class Thing:
        def __rmatmul__(self, X):
            return "moved"

    assert Pose() @ Thing() == "moved"
    with pytest.raises(TypeError, match="unsupported operand"):
        Pose() @ 3.0
    with pytest.raises(TypeError, match="unsupported operand"):
        np.eye(3) @ Pose()


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (
            lambda: Pose(1.01 * np.eye(3)),
            r"R of Pose is not a rotation: R\^T R differs from the identity by 2\.0e-02\. .*orthonormalise",
        ),
        (lambda: Pose(np.diag([1, 1, -1])), r"R of Pose is not a rotation: its determinant is -1"),
        (lambda: Pose(np.eye(4)), r"R of Pose has the shape \(4, 4\); it needs \(3, 3\)"),
        (lambda: Pose(p=[0, 0]), r"p of Pose has the shape \(2,\); it needs \(3,\)"),
        (lambda: Pose(p=[0, np.inf, 0]), r"p of Pose has an entry that is not a finite number: \[0\.0, inf, 0\.0\]"),
        (
            lambda: Pose.from_quaternion([2, 0, 0, 0]),
            r"q of Pose is not a unit quaternion: its length is 2\..*normalize",
        ),
        (lambda: Pose.from_matrix(np.ones((4, 4))), r"T of Pose has the last row .* use T\.T"),
        (lambda: Pose.from_euler([0, 0]), r"angles of Pose has the shape \(2,\)"),
    ],
)
def test_errors_say_what_is_wrong(make, message):
    with pytest.raises(ValueError, match=message):
        make()


def test_float32_data_pass_and_are_normalized():
    q = quaternion.exp(np.array([0.3, -2.0, 1.0])).astype(np.float32)
    X = Pose.from_quaternion(q)
    same(X.R.T @ X.R, np.eye(3), 1e-15)
    Pose(X.R.astype(np.float32))
