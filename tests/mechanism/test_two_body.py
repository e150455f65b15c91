"""Featherstone's two bodies: what his text claims, the same from the recursion over trees, and beyond the text."""

from dataclasses import fields, replace

import numpy as np
import pytest
from hypothesis import given
from mechanism_peers import Pinocchio
from trees import KINDS, SEEDS, random_inertia, random_joint, same

import poinsot as pt
from poinsot._types import Array
from poinsot.mechanism import kinematics, two_body
from poinsot.mechanism.dynamics import link_wrenches
from poinsot.mechanism.two_body import TwoBodies, TwoBodySolution
from poinsot.spatial import motion
from poinsot.spatial.rotation import skew


def random_pair(rng: np.random.Generator) -> TwoBodies:
    one, two = random_inertia(rng), random_inertia(rng)
    r1, r2, s = rng.standard_normal((3, 3))
    return TwoBodies(one.mass, one.moment, two.mass, two.moment, r1, r2, s / np.linalg.norm(s))


# The claims of the text.


@given(SEEDS)
def test_the_matrix_is_symmetric_and_positive_definite(seed):
    b = random_pair(np.random.default_rng(seed))
    same(two_body.A(b), two_body.A(b).T)
    same(two_body.D(b), two_body.D(b).T)
    same(two_body.B(b), two_body.C(b).T)
    assert np.linalg.eigvalsh(two_body.J(b))[0] > 0
    assert two_body.sJs(b) > 0
    assert np.linalg.eigvalsh(two_body.matrix(b))[0] > 0


@given(SEEDS)
def test_18_20_and_24_are_one_acceleration(seed):
    rng = np.random.default_rng(seed)
    b, (a1, omegadot1) = random_pair(rng), rng.standard_normal((2, 3))
    same(two_body.alpha_20(b, a1, omegadot1), two_body.alpha_18(b, a1, omegadot1))
    same(two_body.alpha(b, a1, omegadot1), two_body.alpha_18(b, a1, omegadot1))


@given(SEEDS)
def test_the_solution_satisfies_1_to_17(seed):
    """All unknowns, substituted into every equation of the text as it is printed."""
    rng = np.random.default_rng(seed)
    b, (f, tau) = random_pair(rng), rng.standard_normal((2, 3))
    r1, r2, s = b.r1, b.r2, b.s
    u = two_body.solution(b, f, tau)
    (alpha,) = u.alpha
    same(u.f1, b.m1 * u.a1)  # (1)
    same(u.tau1, b.I1 @ u.omegadot1)  # (2)
    same(u.f2, b.m2 * u.a2)  # (3)
    same(u.tau2, b.I2 @ u.omegadot2)  # (4)
    a1_P, omegadot1_P = u.a1 - np.cross(r1, u.omegadot1), u.omegadot1  # (5), (7)
    a2_P, omegadot2_P = u.a2 - np.cross(r2, u.omegadot2), u.omegadot2  # (6), (8)
    f2_P, tau2_P = u.f2, u.tau2 - np.cross(r2, u.f2)  # (9), (10)
    for ours, printed in zip(
        (*two_body.acceleration_at_P(r1, u.a1, u.omegadot1), *two_body.acceleration_at_P(r2, u.a2, u.omegadot2)),
        (a1_P, omegadot1_P, a2_P, omegadot2_P),
        strict=True,
    ):
        same(ours, printed)
    for ours, printed in zip(two_body.force_at_P(r2, u.f2, u.tau2), (f2_P, tau2_P), strict=True):
        same(ours, printed)
    same(u.f1 + u.f2, f)  # (11): linear momentum
    same(u.tau1 + u.tau2 + np.cross(r1 - r2, u.f2), tau)  # (12): angular momentum about C1
    for ours, given_ in zip(two_body.total(b, u.f1, u.tau1, u.f2, u.tau2), (f, tau), strict=True):
        same(ours, given_)
    same(a2_P, a1_P)  # (13): P stays one point
    same(omegadot2_P, omegadot1_P + s * alpha)  # (14)
    same(s @ tau2_P, 0.0)  # (15): no couple about the joint's axis
    same(u.omegadot2, u.omegadot1 + s * alpha)  # (16)
    same(u.a2, u.a1 + np.cross(r2 - r1, u.omegadot1) + np.cross(r2, s * alpha))  # (17)


@given(SEEDS)
def test_the_solution_satisfies_18_to_26(seed):
    rng = np.random.default_rng(seed)
    b, (f, tau) = random_pair(rng), rng.standard_normal((2, 3))
    m1, m2, s, t1, t2 = b.m1, b.m2, b.s, skew(b.r1), skew(b.r2)
    u = two_body.solution(b, f, tau)
    J = b.I2 - m2 * t2 @ t2
    K = b.I2 + m2 * (t1 - t2) @ t2
    same(two_body.J(b), J)  # (19)
    same(two_body.K(b), K)  # (23)
    same(two_body.sJs(b), s @ (b.I2 @ s - m2 * np.cross(b.r2, np.cross(b.r2, s))))  # the denominator of (18)
    for form in (two_body.alpha_18, two_body.alpha_20, two_body.alpha):  # (18), (20), (24)
        same(form(b, u.a1, u.omegadot1), u.alpha[0])
    rest = np.outer(t2 @ s, s) / two_body.sJs(b)
    A, B = (m1 + m2) * np.eye(3) + m2**2 * rest @ t2, m2 * (t2 - t1) - m2 * rest @ (J + m2 * t2 @ t1)
    same(A @ u.a1 + B @ u.omegadot1, f)  # (21)
    middle = (b.I1 + b.I2 - m2 * (t1 - t2) @ (t1 - t2)) @ u.omegadot1 + m2 * (t1 - t2) @ u.a1
    same(middle + K @ s * u.alpha, tau)  # (22)
    same(two_body.C(b) @ u.a1 + two_body.D(b) @ u.omegadot1, tau)  # (25)
    same(two_body.matrix(b) @ np.concatenate([u.a1, u.omegadot1]), np.concatenate([f, tau]))  # (26)
    same(two_body.A(b), A)
    same(two_body.B(b), B)


@given(SEEDS)
def test_special_cases(seed):
    rng = np.random.default_rng(seed)
    b = random_pair(rng)
    O, E = np.zeros((3, 3)), np.eye(3)
    alone = np.block([[b.m1 * E, O], [O, b.I1]])
    same(two_body.matrix(replace(b, m2=0.0, I2=1e-12 * E)), alone)  # B2 weighs nothing
    point = replace(b, r2=0 * b.r2, I2=0.1 * E)  # B2 turns about its centre: a point mass, and a moment less s s^T
    r = np.block([[E, -skew(b.r1)]])
    about_axes = np.block([[O, O], [O, 0.1 * (E - np.outer(b.s, b.s))]])
    same(two_body.matrix(point), alone + b.m2 * r.T @ r + about_axes)


def test_all_can_be_traced_and_differentiated():
    rng = np.random.default_rng(1)
    b, (f, tau) = random_pair(rng), rng.standard_normal((2, 3))
    shapes = ",".join(["(3)"] * 8 + ["(1)"])
    solve = pt.kernel(f"(),(3,3),(),(3,3),(3),(3),(3),(3),(3)->{shapes}")(two_body.solution)
    traced, plain = solve(b, f, tau), two_body.solution(b, f, tau)
    for field in fields(TwoBodySolution):
        same(getattr(traced, field.name), getattr(plain, field.name))
    h = 1e-5
    there, back = (two_body.solution(replace(b, m2=b.m2 + d), f, tau) for d in (h, -h))
    by_m2 = TwoBodySolution(*pt.jacobian(solve, wrt=2)(b, f, tau))
    same(by_m2.a1, (there.a1 - back.a1) / (2 * h), 1e-8)  # what the difference leaves
    same(by_m2.f2, (there.f2 - back.f2) / (2 * h), 1e-8)


# The same from the recursion over trees.


def random_mechanism(rng: np.random.Generator, kind: str, gravity: Array | float = 0.0) -> pt.Mechanism:
    """Two links: the first free, the second on a joint of some kind; frames away from the centres of mass."""
    joint, placement = random_joint(rng, kind), pt.Pose.exp(rng.standard_normal(6))
    one = pt.Link("B1", random_inertia(rng), joint=pt.free())
    two = pt.Link("B2", random_inertia(rng), "B1", joint, placement)
    return pt.Mechanism((one, two), gravity=gravity * np.ones(3))


def on_B1(mech: pt.Mechanism, q: Array, f: Array, tau: Array) -> Array:
    """A force through C1 and a couple, in world axes, as a wrench in the frame of B1."""
    X1, com = kinematics.world_poses(mech, q)[0], mech.links[0].inertia.com
    return motion.wrench_at(np.concatenate([X1.R.T @ tau, X1.R.T @ f]), -com)


def of_C1(mech: pt.Mechanism, q: Array, v: Array, vdot: Array) -> tuple[Array, Array]:
    """a1 and omegadot1 in world axes."""
    X1, com = kinematics.world_poses(mech, q)[0], mech.links[0].inertia.com
    return X1.R @ motion.point_acceleration(v[:6], vdot[:6], com), X1.R @ vdot[:3]


@pytest.mark.parametrize("seed", range(5))
def test_the_matrix_is_the_articulated_inertia_of_the_recursion(seed):
    """At rest, column by column of its inverse: the accelerations of B1 under unit forces."""
    rng = np.random.default_rng(seed)
    mech = random_mechanism(rng, "revolute")
    q, v = kinematics.integrate(mech, mech.neutral(), rng.standard_normal(7)), np.zeros(7)
    b, still = two_body.from_mechanism(mech, q, v, np.zeros(1))
    columns = []
    for unit in np.eye(6):
        vdot = pt.forward_dynamics(mech, q, v, np.append(on_B1(mech, q, unit[:3], unit[3:]), 0.0))
        columns.append(np.concatenate(of_C1(mech, q, v, vdot)))
        same(vdot[6:], two_body.solution(b, unit[:3], unit[3:]).alpha)
    same(two_body.matrix(b) @ np.column_stack(columns), np.eye(6))
    same(two_body.articulated(b, still)[0], two_body.matrix(b))
    same(two_body.articulated(b, two_body.at_rest(b))[0], two_body.matrix(b))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("seed", range(3))
def test_any_joint_in_motion_agrees_with_forward_dynamics(kind, seed):
    rng = np.random.default_rng(seed)
    mech = random_mechanism(rng, kind)
    q, (v, Q), (f, tau) = _state(rng, mech)
    vdot = pt.forward_dynamics(mech, q, v, np.concatenate([on_B1(mech, q, f, tau), Q[6:]]))
    u = two_body.solution_in_motion(*two_body.from_mechanism(mech, q, v, Q[6:]), f, tau)
    same(u.a1, of_C1(mech, q, v, vdot)[0])
    same(u.omegadot1, of_C1(mech, q, v, vdot)[1])
    same(u.alpha, vdot[6:])


@pytest.mark.parametrize("kind", [*KINDS, "fixed"])
@pytest.mark.parametrize("seed", range(3))
def test_what_the_joint_transmits_is_the_reaction_of_the_recursion(kind, seed):
    """a2 and omegadot2 from the kinematics of the tree; f2 and tau2 from Newton-Euler, moved to C2."""
    rng = np.random.default_rng(seed)
    mech = random_mechanism(rng, kind)
    q, (v, Q), (f, tau) = _state(rng, mech)
    vdot = pt.forward_dynamics(mech, q, v, np.concatenate([on_B1(mech, q, f, tau), Q[6:]]))
    u = two_body.solution_in_motion(*two_body.from_mechanism(mech, q, v, Q[6:]), f, tau)
    X2, com = kinematics.world_poses(mech, q)[1], mech.links[1].inertia.com
    V2, A2 = kinematics.twists(mech, q, v)[1], kinematics.accelerations(mech, q, v, vdot)[1]
    same(u.a2, X2.R @ motion.point_acceleration(V2, A2, com))
    same(u.omegadot2, X2.R @ A2[:3])
    reaction = motion.wrench_at(link_wrenches(mech, q, v, vdot)[0][1], com)
    same(u.f2, X2.R @ reaction[3:])
    same(u.tau2, X2.R @ reaction[:3])


@pytest.mark.parametrize("seed", range(3))
def test_at_rest_the_extension_is_the_text(seed):
    rng = np.random.default_rng(seed)
    b, (f, tau) = random_pair(rng), rng.standard_normal((2, 3))
    text, extension = two_body.solution(b, f, tau), two_body.solution_in_motion(b, two_body.at_rest(b), f, tau)
    for field in fields(TwoBodySolution):
        same(getattr(extension, field.name), getattr(text, field.name))


def test_what_is_not_two_bodies_and_a_joint_is_named():
    rng = np.random.default_rng(6)
    mech = random_mechanism(rng, "revolute")
    one, two = mech.links
    q, (v, Q), _ = _state(rng, mech)
    heavy = replace(mech, gravity=np.array([0, 0, -9.81]))
    with pytest.raises(ValueError, match=r"has no gravity; got \[ 0.    0.   -9.81\]. Fix: .* give the Mechanism 0"):
        two_body.from_mechanism(heavy, q, v, Q[6:])
    geared = replace(two, joint=replace(two.joint, armature=0.5))
    with pytest.raises(ValueError, match=r"has no armature; got 0.5. Fix: add it to the inertia"):
        two_body.from_mechanism(replace(mech, links=(one, geared)), q, v, Q[6:])
    with pytest.raises(ValueError, match="link 'B2' has no inertia"):
        two_body.from_mechanism(replace(mech, links=(one, pt.Link("B2", None, "B1"))), q[:7], v[:6], Q[6:6])
    apart = pt.Mechanism((one, pt.Link("B2", two.inertia, None, pt.revolute((0, 0, 1)))), gravity=(0, 0, 0))
    with pytest.raises(ValueError, match=r"got 'B1' \(free\) on None, 'B2' \(revolute\) on None"):
        two_body.from_mechanism(apart, q, v, Q[6:])


def _state(rng: np.random.Generator, mech: pt.Mechanism) -> tuple[Array, Array, Array]:
    q = kinematics.integrate(mech, mech.neutral(), rng.standard_normal(mech.nv))
    return q, rng.standard_normal((2, mech.nv)), rng.standard_normal((2, 3))


def test_uniform_gravity_changes_nothing_inside():
    """It adds g to a1, and changes neither omegadot1 nor alpha."""
    rng = np.random.default_rng(2)
    weightless = random_mechanism(rng, "universal")
    heavy = replace(weightless, gravity=np.array([1.0, 2.0, 3.0]))
    q, (v, Q), _ = _state(rng, heavy)
    vdot = [pt.forward_dynamics(mech, q, v, np.concatenate([np.zeros(6), Q[6:]])) for mech in (weightless, heavy)]
    a1, omegadot1 = zip(*(of_C1(heavy, q, v, x) for x in vdot), strict=True)
    same(a1[1] - a1[0], heavy.gravity)
    same(omegadot1[1], omegadot1[0])
    same(vdot[1][6:], vdot[0][6:])


@pytest.mark.parametrize("kind", KINDS)
def test_momentum_changes_by_the_applied_force_alone(kind):
    """Whatever the joint and its motor do: m1 a1 + m2 a2 = f, and the same for the angular momentum about C1."""
    rng = np.random.default_rng(3)
    mech = random_mechanism(rng, kind)
    q, (v, Q), (f, tau) = _state(rng, mech)
    b, moving = two_body.from_mechanism(mech, q, v, Q[6:])
    u = two_body.solution_in_motion(b, moving, f, tau)
    omega1, omega2 = moving.omega1, moving.omega1 + moving.nu[3:]
    same(u.f1, b.m1 * u.a1)
    same(u.f2, b.m2 * u.a2)
    same(u.tau1, b.I1 @ u.omegadot1 + np.cross(omega1, b.I1 @ omega1))  # Euler
    same(u.tau2, b.I2 @ u.omegadot2 + np.cross(omega2, b.I2 @ omega2))
    same(u.f1 + u.f2, f)
    same(u.tau1 + u.tau2 + np.cross(b.r1 - b.r2, u.f2), tau)
    same(moving.S.T @ np.concatenate(two_body.force_at_P(b.r2, u.f2, u.tau2)), Q[6:])  # (d): (15) with a motor


@pytest.mark.parametrize("kind", KINDS)
def test_pinocchio_agrees(kind):
    pytest.importorskip("pinocchio", reason="Pinocchio has no wheel for this platform")
    rng = np.random.default_rng(4)
    mech = random_mechanism(rng, kind)
    q, (v, Q), (f, tau) = _state(rng, mech)
    vdot = Pinocchio(mech).forward_dynamics(q, v, np.concatenate([on_B1(mech, q, f, tau), Q[6:]]))
    b, moving = two_body.from_mechanism(mech, q, v, Q[6:])
    u = two_body.solution_in_motion(b, moving, f, tau)
    same(np.concatenate([u.a1, u.omegadot1, u.alpha]), np.concatenate([*of_C1(mech, q, v, vdot), vdot[6:]]))
