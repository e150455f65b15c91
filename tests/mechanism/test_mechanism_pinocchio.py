"""Random trees in Pinocchio and here: every quantity that both know, at one random state.

| here | Pinocchio |
|---|---|
| inverse_dynamics, forward_dynamics, with external wrenches | rnea, aba |
| mass_matrix, inverse_mass_matrix | crba, computeMinverse |
| gravity_forces, bias_forces | computeGeneralizedGravity, nonLinearEffects |
| inverse_dynamics_derivatives, forward_dynamics_derivatives | computeRNEADerivatives, computeABADerivatives |
| world_poses, twists, accelerations | forwardKinematics, getFrameVelocity, getFrameAcceleration |
| jacobian, jacobian_rate | getFrameJacobian, getFrameJacobianTimeVariation |
| centre_of_mass, centroidal_momentum and its rate | centerOfMass, computeCentroidalMomentum(TimeVariation) |
| kinetic_energy, potential_energy | computeKineticEnergy, computePotentialEnergy |
| link_wrenches | data.f after rnea |
| move, difference | integrate, difference |
"""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from mechanism_peers import SWAP, Pinocchio
from trees import KINDS, SEEDS, TREES, along, pool, random_motion, rate, same

import poinsot as pt
from poinsot._types import Array
from poinsot.mechanism import derivatives, dynamics, kinematics

pin = pytest.importorskip("pinocchio", reason="Pinocchio has no wheel for this platform")

LOCAL = pin.ReferenceFrame.LOCAL


def over_trees(examples: int, **options):
    """A test of a mechanism, its twin, q, v and a third vector, over random trees."""

    def decorate(test):
        @settings(max_examples=examples)
        @given(n=st.integers(1, 10), tree=st.integers(0, TREES - 1), seed=SEEDS)
        def run(n: int, tree: int, seed: int) -> None:
            mech, rng = pool(n, tree, **options), np.random.default_rng(seed)
            test(mech, Pinocchio(mech), *random_motion(rng, mech), rng)

        run.__name__, run.__doc__ = test.__name__, test.__doc__
        return run

    return decorate


def bounded(mech: pt.Mechanism, q: Array) -> float:
    """1e-10, or what the condition of the mass matrix leaves of an acceleration."""
    return max(1e-10, 1e-14 * float(np.linalg.cond(pt.mass_matrix(mech, q))))


@over_trees(40)
def test_dynamics(mech, peer, q, v, x, rng):
    F = rng.standard_normal((len(mech), 6))
    same(pt.inverse_dynamics(mech, q, v, x), peer.inverse_dynamics(q, v, x))
    same(pt.inverse_dynamics(mech, q, v, x, F), peer.inverse_dynamics(q, v, x, F))
    same(pt.forward_dynamics(mech, q, v, x), peer.forward_dynamics(q, v, x), bounded(mech, q))
    same(pt.forward_dynamics(mech, q, v, x, F), peer.forward_dynamics(q, v, x, F), bounded(mech, q))
    M = np.triu(pin.crba(peer.model, peer.data, peer.q(q)))
    same(pt.mass_matrix(mech, q), peer.back(M + np.triu(M, 1).T))
    same(dynamics.gravity_forces(mech, q), peer.back(pin.computeGeneralizedGravity(peer.model, peer.data, peer.q(q))))
    same(
        dynamics.bias_forces(mech, q, v),
        peer.back(pin.nonLinearEffects(peer.model, peer.data, peer.q(q), peer.v(v))),
    )


@over_trees(20)
def test_the_inverse_of_the_mass_matrix(mech, peer, q, v, x, rng):
    theirs = np.triu(pin.computeMinverse(peer.model, peer.data, peer.q(q)))
    same(dynamics.inverse_mass_matrix(mech, q), peer.back(theirs + np.triu(theirs, 1).T), bounded(mech, q))


@over_trees(20, kinds=tuple(kind for kind in KINDS if kind != "universal"), heavy=True)
def test_derivatives(mech, peer, q, v, x, rng):
    """But for universal joints: theirs leave out that S changes; test_mechanism_derivatives.py has all joints."""
    F = rng.standard_normal((len(mech), 6))
    at = peer.model, peer.data, peer.q(q), peer.v(v), peer.v(x)
    for external, theirs in ((None, ()), (F, (peer.external(F),))):
        dq, dv, M = derivatives.inverse_dynamics_derivatives(mech, q, v, x, external)
        pin.computeRNEADerivatives(*at, *theirs)
        same(dq, peer.back(peer.data.dtau_dq))
        same(dv, peer.back(peer.data.dtau_dv))
        same(M, pt.mass_matrix(mech, q))
        dq, dv, M_inv = derivatives.forward_dynamics_derivatives(mech, q, v, x, external)
        pin.computeABADerivatives(*at, *theirs)
        same(dq, peer.back(peer.data.ddq_dq), 100 * bounded(mech, q))  # a product of two such errors
        same(dv, peer.back(peer.data.ddq_dv), 100 * bounded(mech, q))
        same(M_inv, dynamics.inverse_mass_matrix(mech, q))


@over_trees(20)
def test_kinematics(mech, peer, q, v, vdot, rng):
    model, data, at = peer.model, peer.data, (peer.q(q), peer.v(v), peer.v(vdot))
    pin.forwardKinematics(model, data, *at)
    pin.computeJointJacobiansTimeVariation(model, data, *at[:2])
    pin.updateFramePlacements(model, data)
    X, V, A = kinematics.world_poses(mech, q), kinematics.twists(mech, q, v), kinematics.accelerations(mech, q, v, vdot)
    for i, link in enumerate(mech.links):
        frame = peer.frame(link.name)
        same(X[i].matrix(), data.oMf[frame].homogeneous)
        same(V[i], pin.getFrameVelocity(model, data, frame, LOCAL).vector[SWAP])
        same(A[i], pin.getFrameAcceleration(model, data, frame, LOCAL).vector[SWAP])
    frame, name = peer.frame(link.name), link.name
    J, Jdot = np.zeros((2, 6, mech.nv))
    J[:, peer.places] = pin.getFrameJacobian(model, data, frame, LOCAL).reshape(6, -1)[SWAP]
    Jdot[:, peer.places] = pin.getFrameJacobianTimeVariation(model, data, frame, LOCAL).reshape(6, -1)[SWAP]
    same(kinematics.jacobian(mech, q, name), J)
    fixed_S = np.concatenate([np.full(link.joint.nv, link.joint.kind != "universal") for link in mech.links])
    ours = kinematics.jacobian_rate(mech, q, v, name)  # theirs leaves out that S changes; test_kinematics.py has all
    same(ours[:, fixed_S], Jdot[:, fixed_S])


@over_trees(20, motors=False)
def test_momentum_and_energy(mech, peer, q, v, x, rng):
    """Without motors, whose rotors Pinocchio leaves out of the energy."""
    at = peer.model, peer.data, peer.q(q)
    same(kinematics.centre_of_mass(mech, q), pin.centerOfMass(*at))
    same(kinematics.kinetic_energy(mech, q, v), pin.computeKineticEnergy(*at, peer.v(v)))
    same(kinematics.potential_energy(mech, q), pin.computePotentialEnergy(*at))
    same(kinematics.centroidal_momentum(mech, q, v), pin.computeCentroidalMomentum(*at, peer.v(v)).vector[SWAP])
    change = rate(lambda t: kinematics.centroidal_momentum(mech, *along(mech, q, v, x)(t)))
    theirs = pin.computeCentroidalMomentumTimeVariation(*at, peer.v(v), peer.v(x)).vector[SWAP]
    same(change, theirs, 1e-9)  # what the differences leave


@over_trees(20)
def test_wrenches_through_joints(mech, peer, q, v, vdot, rng):
    peer.inverse_dynamics(q, v, vdot)
    ours, _ = dynamics.link_wrenches(mech, q, v, vdot)
    for i in peer.order:
        carrier, X = peer.joints[i]
        same(ours[i], X.actInv(peer.data.f[carrier]).vector[SWAP])


@over_trees(20)
def test_positions_on_the_group(mech, peer, q, v, u, rng):
    """Moving and differences; Pinocchio's quaternions may come out with the other sign."""
    moved = kinematics.integrate(mech, q, u)
    theirs = pin.integrate(peer.model, peer.q(q), peer.v(u))
    assert pin.isSameConfiguration(peer.model, peer.q(moved), theirs, 1e-10)
    same(kinematics.difference(mech, q, moved), peer.back(pin.difference(peer.model, peer.q(q), peer.q(moved))))


@pytest.mark.parametrize("kind", KINDS)
def test_each_kind_by_itself(kind):
    """A chain of four joints of one kind, so that a wrong entry of the table has a name."""
    for seed in range(3):
        mech = pool(4, 100 + seed, kinds=(kind,), heavy=True)
        peer = Pinocchio(mech)
        q, v, tau = random_motion(np.random.default_rng(seed), mech)
        same(pt.inverse_dynamics(mech, q, v, tau), peer.inverse_dynamics(q, v, tau))
        same(pt.forward_dynamics(mech, q, v, tau), peer.forward_dynamics(q, v, tau), bounded(mech, q))


def test_their_universal_joint():
    """It wants axes at right angles; others are two revolute joints in a row there."""
    a, b = np.linalg.qr(np.random.default_rng(1).standard_normal((3, 3)))[0][:2]
    link = pt.Link("body", pt.Inertia.points([1, 2, 3, 4], np.random.default_rng(2).standard_normal((4, 3))))
    mech = pt.Mechanism((pt.Link("body", link.inertia, joint=pt.universal(a, b), placement=pt.Pose(p=(1, 2, 3))),))
    peer = Pinocchio(mech)
    assert peer.model.joints[1].shortname() == "JointModelUniversal"
    q, v, tau = random_motion(np.random.default_rng(3), mech)
    same(pt.forward_dynamics(mech, q, v, tau), peer.forward_dynamics(q, v, tau))
    same(pt.inverse_dynamics(mech, q, v, tau), peer.inverse_dynamics(q, v, tau))
