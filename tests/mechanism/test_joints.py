"""The table of joints: each entry is a motion, its rate, and its inverse."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from trees import KINDS, SEEDS, random_joint, rate, same

import poinsot as pt
from poinsot._types import Array
from poinsot.mechanism.joints import TYPES
from poinsot.spatial import motion, quaternion

ON_A_GROUP = [kind for kind in KINDS if kind != "universal"]  # its two turns do not form one
TIGHT = 1e-12


def random_case(kind: str, seed: int) -> tuple[pt.Joint, Array, Array]:
    """A joint, its q, and a velocity that turns by less than half a turn in a unit of time."""
    rng = np.random.default_rng(seed)
    joint = random_joint(rng, kind)
    q = joint.type.integrate(joint, joint.type.neutral(joint), rng.standard_normal(joint.nv))
    return joint, q, rng.uniform(-1.5, 1.5, joint.nv)


def every_kind(test):
    return pytest.mark.parametrize("kind", KINDS)(given(seed=SEEDS)(test))


@pytest.mark.parametrize("kind", TYPES)
def test_the_neutral_position_is_the_identity(kind):
    joint = pt.fixed() if kind == "fixed" else random_joint(np.random.default_rng(0), kind)
    neutral = joint.type.neutral(joint)
    assert neutral.shape == (joint.nq,)
    same(joint.type.pose(joint, neutral).matrix(), np.eye(4), 1e-15)
    assert joint.type.subspace(joint, neutral).shape == (6, joint.nv)


@every_kind
def test_subspace_turns_velocities_into_the_twist(kind, seed):
    """X^-1 dX/dt = [S v], along the motion that `move` makes of v."""
    joint, q, v = random_case(kind, seed)
    X = joint.type.pose(joint, q)
    Xdot = rate(lambda t: joint.type.pose(joint, joint.type.integrate(joint, q, t * v)).matrix())
    same(X.inverse().matrix() @ Xdot, motion.twist_matrix(joint.type.subspace(joint, q) @ v), TIGHT)


@pytest.mark.parametrize("kind", ON_A_GROUP)
@given(seed=SEEDS)
def test_move_follows_the_constant_twist(kind, seed):
    """X(move(q, u)) = X(q) exp(S u): exact for steps of any length."""
    joint, q, u = random_case(kind, seed)
    moved = joint.type.pose(joint, joint.type.integrate(joint, q, u))
    screw = joint.type.pose(joint, q) @ pt.Pose.exp(joint.type.subspace(joint, q) @ u)
    same(moved.matrix(), screw.matrix(), TIGHT)


@every_kind
def test_bias_is_the_rate_of_the_subspace(kind, seed):
    joint, q, v = random_case(kind, seed)
    Sv = rate(lambda t: joint.type.subspace(joint, joint.type.integrate(joint, q, t * v)) @ v)
    same(joint.type.bias(joint, q, v), Sv, TIGHT)


@every_kind
def test_rate_is_the_derivative_of_move(kind, seed):
    joint, q, v = random_case(kind, seed)
    same(joint.type.rate(joint, q, v), rate(lambda t: joint.type.integrate(joint, q, t * v)), TIGHT)


@every_kind
def test_move_and_difference_undo_each_other(kind, seed):
    joint, q, u = random_case(kind, seed)
    moved = joint.type.integrate(joint, q, u)
    same(joint.type.difference(joint, q, moved), u, TIGHT)
    again = joint.type.integrate(joint, q, joint.type.difference(joint, q, moved))
    same(joint.type.pose(joint, again).matrix(), joint.type.pose(joint, moved).matrix(), TIGHT)


@pytest.mark.parametrize("kind", ["spherical", "free"])
@given(seed=SEEDS)
def test_a_quaternion_and_its_opposite_are_one_position(kind, seed):
    """The difference goes the short way, whatever the signs."""
    joint, q, u = random_case(kind, seed)
    moved = joint.type.integrate(joint, q, u)
    opposite = np.concatenate([-moved[:4], moved[4:]])
    same(joint.type.difference(joint, q, opposite), u, TIGHT)
    same(joint.type.pose(joint, opposite).matrix(), joint.type.pose(joint, moved).matrix(), TIGHT)


@given(seed=SEEDS, turns=st.floats(-3, 3))
def test_a_helical_joint_is_a_screw(seed, turns):
    """One whole turn advances by 2 pi times the pitch."""
    rng = np.random.default_rng(seed)
    axis, pitch = rng.standard_normal(3), rng.uniform(-1, 1)
    joint = pt.helical(axis, pitch)
    angle = 2 * np.pi * turns
    X = joint.type.pose(joint, np.array([angle]))
    same(X.p, pitch * angle * axis / np.linalg.norm(axis), TIGHT)
    same(X.R, pt.Pose.exp(np.append(angle * axis / np.linalg.norm(axis), np.zeros(3))).R, TIGHT)


@pytest.mark.parametrize("seed", range(10))
def test_joints_made_of_others(seed):
    """Cylindrical = turn and slide, universal = two turns, free = translation and rotation, planar = one in a plane."""
    rng = np.random.default_rng(seed)
    a, b, p = rng.standard_normal((3, 3))
    q = rng.standard_normal(2)

    def pose(joint: pt.Joint, q: Array) -> pt.Pose:
        return joint.type.pose(joint, q)

    turn, slide, turn_b = pose(pt.revolute(a), q[:1]), pose(pt.prismatic(a), q[1:]), pose(pt.revolute(b), q[1:])
    wxyz = quaternion.exp(rng.standard_normal(3))
    ball, shift = pose(pt.spherical(), wxyz), pose(pt.translation(), p)
    same(pose(pt.cylindrical(a), q).matrix(), (turn @ slide).matrix(), TIGHT)
    same(pose(pt.universal(a, b), q).matrix(), (turn @ turn_b).matrix(), TIGHT)
    same(pose(pt.free(), np.concatenate([wxyz, p])).matrix(), (shift @ ball).matrix(), TIGHT)
    planar = pt.planar(a)
    _, e1, e2 = planar.axes
    same(planar.axes @ planar.axes.T, np.eye(3), TIGHT)
    assert np.linalg.det(planar.axes) > 0
    inside = pose(pt.translation(), q[1] * e1 + 0.3 * e2) @ turn
    same(pose(planar, np.array([q[0], q[1], 0.3])).matrix(), inside.matrix(), TIGHT)


BAD_AXES = {
    "zero": ((0, 0, 0), "must not be the zero vector"),
    "two numbers": ((1, 0), "must be three finite numbers"),
    "not a number": ((1, 0, np.nan), "must be three finite numbers"),
}


@pytest.mark.parametrize("make", [pt.revolute, pt.prismatic, pt.cylindrical, pt.planar], ids=lambda f: f.__name__)
@pytest.mark.parametrize("name", BAD_AXES)
def test_bad_axes_are_refused(make, name):
    axis, message = BAD_AXES[name]
    with pytest.raises(ValueError, match=message):
        make(axis)


def test_parallel_axes_of_a_universal_joint_are_refused():
    with pytest.raises(ValueError, match=r"axes of a universal joint are parallel.*Use a revolute joint"):
        pt.universal((0, 0, 1), (0, 0, -2))


def test_axes_are_made_unit_vectors():
    same(pt.revolute((0, 3, 4)).axes, [[0, 0.6, 0.8]], 1e-15)
    assert repr(pt.revolute((0, 0, 2))) == "revolute((0.0, 0.0, 1.0))"


@pytest.mark.parametrize("normal", [*np.eye(3), *-np.eye(3), [1e-9, 0, -1], [1, -2, 3], [3, 2, -1e-300]], ids=str)
def test_the_plane_of_a_planar_joint(normal):
    """Right-handed, of unit length; the same if the normal is traced."""
    axes = pt.planar(normal).axes
    same(axes @ axes.T, np.eye(3), 1e-15)
    same(np.cross(axes[0], axes[1]), axes[2], 1e-15)
    traced = pt.kernel("(3)->(3,3)")(lambda n: pt.planar(n).axes)
    same(traced(np.asarray(normal, float)), axes, 1e-15)
    same(pt.planar((0, 0, 1)).axes, np.eye(3)[[2, 0, 1]], 0.0)
