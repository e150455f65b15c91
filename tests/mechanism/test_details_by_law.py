"""Details of the dynamics of trees against the book's recursions and by hand, in plain NumPy."""

import numpy as np
import pytest
from trees import KINDS, random_joint, random_tree

import poinsot as pt
from poinsot.mechanism import book, dynamics, kinematics, two_body
from poinsot.mechanism.joints import TYPES
from poinsot.spatial import quaternion


def state_of(mech, rng):
    q = kinematics.integrate(mech, mech.neutral(), rng.standard_normal(mech.nv))
    return q, rng.standard_normal(mech.nv)


@pytest.mark.parametrize("seed", range(6))
def test_a_wrench_on_any_one_link_counts(seed):
    """Forward and inverse dynamics with a wrench on one link after the other, as in the book."""
    rng = np.random.default_rng(seed)
    mech = random_tree(rng, 5)
    q, v = state_of(mech, rng)
    tau = rng.standard_normal(mech.nv)
    for link in mech.links:
        F = {link.name: rng.standard_normal(6)}
        ours, books = dynamics.forward_dynamics(mech, q, v, tau, F), book.forward_dynamics(mech, q, v, tau, F)
        np.testing.assert_allclose(ours, books, rtol=1e-9, atol=1e-9 * np.abs(books).max())
        np.testing.assert_allclose(book.inverse_dynamics(mech, q, v, books, F), tau, atol=1e-9 * np.abs(books).max())
        np.testing.assert_allclose(
            dynamics.inverse_dynamics(mech, q, v, books, F), tau, atol=1e-9 * np.abs(books).max()
        )


def test_dry_friction_is_smoothed_over_a_milliradian_per_second():
    joint = pt.revolute((0, 0, 1), damping=0.2, friction=3.0)
    for v in (-0.7e-3, 0.3e-3, 2.0):
        assert dynamics.resistance(joint, np.array([v])) == pytest.approx([0.2 * v + 3.0 * np.tanh(1e3 * v)], rel=1e-12)


@pytest.mark.parametrize("seed", range(6))
def test_the_text_is_the_case_at_rest(seed):
    """Featherstone's solution is that in motion, without motion: accelerations, articulated inertia, and no bias."""
    rng = np.random.default_rng(seed)
    I1, I2 = (pt.Inertia.points(0.1 + rng.random(6), rng.normal(size=(6, 3))).moment for _ in range(2))
    r1, r2, s, f, tau = rng.normal(size=(5, 3))
    b = two_body.TwoBodies(1.3, I1, 0.7, I2, r1, r2, s / np.linalg.norm(s))
    rest = two_body.at_rest(b)
    moving, text = two_body.solution_in_motion(b, rest, f, tau), two_body.solution(b, f, tau)
    for name in ("a1", "omegadot1", "a2", "omegadot2", "f2", "tau2"):
        np.testing.assert_allclose(getattr(moving, name), getattr(text, name), atol=1e-11)
    for formula in (two_body.alpha, two_body.alpha_18, two_body.alpha_20):
        np.testing.assert_allclose(np.ravel(moving.alpha), np.ravel(formula(b, text.a1, text.omegadot1)), atol=1e-11)
    IA, pA = two_body.articulated(b, rest)
    np.testing.assert_allclose(IA, two_body.matrix(b), atol=1e-11)
    np.testing.assert_array_equal(pA, np.zeros(6))


def test_which_springs_of_joints_store_energy():
    """Those of plain coordinates; those of a rotation vector, if they are alike about all axes."""
    stiff = np.array([1.0, 2.0, 3.0])
    for joint, stores in (
        (pt.revolute((0, 0, 1), stiffness=2.0), True),
        (pt.universal((0, 1, 0), (0, 0, 1), stiffness=stiff[:2]), True),
        (pt.spherical(stiffness=2.0), True),
        (pt.spherical(stiffness=stiff), False),
        (pt.free(stiffness=2.0), False),
    ):
        assert joint.type.stores_energy(joint) == stores


@pytest.mark.parametrize("kind", [pt.spherical, pt.translation, pt.free])
def test_a_joint_resists_nothing_by_default(kind):
    joint = kind()
    assert (joint.stiffness, joint.rest, joint.damping, joint.friction, joint.armature) == (0, 0, 0, 0, 0)
    assert (joint.lower, joint.upper, joint.velocity_limit, joint.effort_limit) == (-np.inf, np.inf, np.inf, np.inf)
    mech = pt.Mechanism((pt.Link("a", pt.Inertia.sphere(1.0, 0.1), None, joint),), (0.0, 0.0, 0.0))
    np.testing.assert_array_equal(dynamics.joint_forces(mech, mech.neutral(), np.ones(mech.nv)), np.zeros(mech.nv))


@pytest.mark.parametrize("kind", KINDS)
def test_quaternions_and_positions_among_coordinates(kind):
    """`attitude`: q begins with the quaternion of the pose; `position`: it ends with the position."""
    facts = {"spherical": (True, False), "translation": (False, True), "free": (True, True)}
    joint, rng = random_joint(np.random.default_rng(1), kind), np.random.default_rng(2)
    assert (TYPES[kind].attitude, TYPES[kind].position) == facts.get(kind, (False, False))
    q = joint.type.integrate(joint, joint.type.neutral(joint), rng.standard_normal(joint.nv))
    X = joint.type.pose(joint, q)
    if joint.type.attitude:
        np.testing.assert_allclose(X.R, quaternion.to_matrix(q[:4]), atol=1e-14)
    if joint.type.position:
        np.testing.assert_allclose(X.p, q[-3:], atol=1e-14)
    assert (joint.type.is_free, joint.type.is_rotation) == (kind == "free", kind == "spherical")
