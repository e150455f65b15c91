"""Featherstone's two bodies: what his text claims, the same from the recursion over trees, and beyond the text."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from mechanism_peers import Pinocchio
from trees import KINDS, SEEDS, random_inertia, random_joint, same

import poinsot as pt
from poinsot._types import Array
from poinsot.mechanism import kinematics, two_body
from poinsot.mechanism.two_body import JointMotion, TwoBodies
from poinsot.spatial import motion


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
def test_the_solution_satisfies_1_to_15(seed):
    """Newton and Euler for each body, the sums (11) and (12), the joint's constraints (13) to (15)."""
    rng = np.random.default_rng(seed)
    b, (f, tau) = random_pair(rng), rng.standard_normal((2, 3))
    a1, omegadot1 = two_body.solution(b, f, tau)
    alpha = two_body.alpha(b, a1, omegadot1)
    omegadot2 = omegadot1 + b.s * alpha  # (16)
    a2 = a1 + np.cross(b.r2 - b.r1, omegadot1) + np.cross(b.r2, b.s) * alpha  # (17)
    f1, tau1, f2, tau2 = b.m1 * a1, b.I1 @ omegadot1, b.m2 * a2, b.I2 @ omegadot2  # (1) to (4)
    same(f1 + f2, f)  # (11): linear momentum
    same(tau1 + tau2 + np.cross(b.r1 - b.r2, f2), tau)  # (12): angular momentum about C1
    same(a2 - np.cross(b.r2, omegadot2), a1 - np.cross(b.r1, omegadot1))  # (13): P stays one point
    same(b.s @ (tau2 - np.cross(b.r2, f2)), 0.0)  # (15): no couple about the joint's axis


@given(SEEDS)
def test_special_cases(seed):
    rng = np.random.default_rng(seed)
    b = random_pair(rng)
    O, E = np.zeros((3, 3)), np.eye(3)
    alone = np.block([[b.m1 * E, O], [O, b.I1]])
    same(two_body.matrix(replace(b, m2=0.0, I2=1e-12 * E)), alone)  # B2 weighs nothing
    point = replace(b, r2=0 * b.r2, I2=0.1 * E)  # B2 turns about its centre: a point mass, and a moment less s s^T
    r = np.block([[E, -two_body.skew(b.r1)]])
    about_axes = np.block([[O, O], [O, 0.1 * (E - np.outer(b.s, b.s))]])
    same(two_body.matrix(point), alone + b.m2 * r.T @ r + about_axes)


def test_all_can_be_traced_and_differentiated():
    rng = np.random.default_rng(1)
    b, (f, tau) = random_pair(rng), rng.standard_normal((2, 3))

    def accelerations(b: TwoBodies, f: Array, tau: Array) -> tuple[Array, Array]:
        return two_body.solution(b, f, tau)

    solve = pt.kernel("(),(3,3),(),(3,3),(3),(3),(3),(3),(3)->(3),(3)")(accelerations)
    for ours, plain in zip(solve(b, f, tau), two_body.solution(b, f, tau), strict=True):
        same(ours, plain)
    h = 1e-5
    there, back = (two_body.solution(replace(b, m2=b.m2 + d), f, tau)[0] for d in (h, -h))
    by_m2 = pt.jacobian(solve, wrt=2)(b, f, tau)[0]
    same(by_m2, (there - back) / (2 * h), 1e-8)  # what the difference leaves


# The same from the recursion over trees.


def random_mechanism(rng: np.random.Generator, kind: str, gravity: Array | float = 0.0) -> pt.Mechanism:
    """Two links: the first free, the second on a joint of some kind; frames away from the centres of mass."""
    joint, placement = random_joint(rng, kind), pt.Pose.exp(rng.standard_normal(6))
    one = pt.Link("B1", random_inertia(rng), joint=pt.free())
    two = pt.Link("B2", random_inertia(rng), "B1", joint, placement)
    return pt.Mechanism((one, two), gravity=gravity * np.ones(3))


def as_pair(mech: pt.Mechanism, q: Array, v: Array, Q: Array) -> tuple[TwoBodies, JointMotion]:
    """The mechanism as the text describes it, in world axes, with P at the origin of B2's frame."""
    X1, X2 = kinematics.world_poses(mech, q)
    one, two = (link.inertia for link in mech.links)
    joint, q2, v2 = mech.links[1].joint, q[mech.q_slices[1]], v[6:]
    S, bias = joint.type.subspace(joint, q2), joint.type.bias(joint, q2, v2)
    V = S @ v2
    bias_linear = bias[3:] + np.cross(V[:3], V[3:])  # of B2's origin, seen from B1: its velocity turns with B2's axes
    R1, R2 = X1.R, X2.R
    return TwoBodies(
        one.mass,
        R1 @ one.moment @ R1.T,
        two.mass,
        R2 @ two.moment @ R2.T,
        X2.p - X1 @ one.com,
        -R2 @ two.com,
        R2 @ S[:3, 0],
    ), JointMotion(
        R1 @ v[:3],
        np.concatenate([R2 @ V[3:], R2 @ V[:3]]),
        np.concatenate([R2 @ S[3:], R2 @ S[:3]]),
        np.concatenate([R2 @ bias_linear, R2 @ bias[:3]]),
        Q,
    )


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
    b, still = as_pair(mech, q, v, np.zeros(1))
    columns = []
    for unit in np.eye(6):
        vdot = pt.forward_dynamics(mech, q, v, np.append(on_B1(mech, q, unit[:3], unit[3:]), 0.0))
        columns.append(np.concatenate(of_C1(mech, q, v, vdot)))
        a1, omegadot1 = two_body.solution(b, unit[:3], unit[3:])
        same(vdot[6], two_body.alpha(b, a1, omegadot1))
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
    b, moving = as_pair(mech, q, v, Q[6:])
    a1, omegadot1, alpha = two_body.solution_in_motion(b, moving, f, tau)
    same(a1, of_C1(mech, q, v, vdot)[0])
    same(omegadot1, of_C1(mech, q, v, vdot)[1])
    same(alpha, vdot[6:])


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
    b, moving = as_pair(mech, q, v, Q[6:])
    a1, omegadot1, alpha = two_body.solution_in_motion(b, moving, f, tau)
    omega1, nu, relative = moving.omega1, moving.nu, moving.S @ alpha + moving.bias
    omega2 = omega1 + nu[3:]
    omegadot2 = omegadot1 + np.cross(omega1, nu[3:]) + relative[3:]
    a_P = a1 + np.cross(omegadot1, b.r1) + np.cross(omega1, np.cross(omega1, b.r1))
    a_P = a_P + 2 * np.cross(omega1, nu[:3]) + relative[:3]
    a2 = a_P - np.cross(omegadot2, b.r2) - np.cross(omega2, np.cross(omega2, b.r2))
    Ldot = [I @ wd + np.cross(w, I @ w) for I, w, wd in ((b.I1, omega1, omegadot1), (b.I2, omega2, omegadot2))]
    same(b.m1 * a1 + b.m2 * a2, f)
    same(Ldot[0] + Ldot[1] + np.cross(b.r1 - b.r2, b.m2 * a2), tau)


@pytest.mark.parametrize("kind", KINDS)
def test_pinocchio_agrees(kind):
    pytest.importorskip("pinocchio", reason="Pinocchio has no wheel for this platform")
    rng = np.random.default_rng(4)
    mech = random_mechanism(rng, kind)
    q, (v, Q), (f, tau) = _state(rng, mech)
    vdot = Pinocchio(mech).forward_dynamics(q, v, np.concatenate([on_B1(mech, q, f, tau), Q[6:]]))
    b, moving = as_pair(mech, q, v, Q[6:])
    a1, omegadot1, alpha = two_body.solution_in_motion(b, moving, f, tau)
    same(np.concatenate([a1, omegadot1, alpha]), np.concatenate([*of_C1(mech, q, v, vdot), vdot[6:]]))
