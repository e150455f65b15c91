"""Trees under forces that resist their motion, against the dense equations."""

import numpy as np
import pytest

import poinsot as pt
from poinsot.mechanism import floating, kinematics
from poinsot.mechanism.branches import DIGITS, Branches
from poinsot.mechanism.form import canonical
from poinsot.mechanism.form import tree as tree_frames
from poinsot.mechanism.stiff import StiffForces, StiffTree

JOINTS = {"free": pt.free(), "hinge": pt.revolute((0, 1, 0)), "ball": pt.spherical()}


def tree(rng, root):
    box = [pt.Inertia.box(1 + rng.random(), rng.random(3) + 0.1) for _ in range(4)]
    return pt.Mechanism(
        [
            pt.Link("a", box[0], None, JOINTS[root], pt.Pose(p=(0.1, 0.2, 0.3))),
            pt.Link("b", box[1], "a", pt.revolute((0, 1, 0)), pt.Pose(p=(0.3, 0.1, 0))),
            pt.Link("c", box[2], "b", pt.universal((0, 1, 0), (0, 0, 1)), pt.Pose(p=(0.3, 0.1, 0))),
            pt.Link("d", box[3], "c", pt.fixed(), pt.Pose(p=(0.2, 0, 0.1))),
        ]
    )


@pytest.mark.parametrize("root", JOINTS)
def test_a_resisted_tree_solves_the_dense_equations(root):
    rng = np.random.default_rng(len(root))
    mech, h = tree(rng, root), 0.1
    q, v = kinematics.normalize(mech, rng.normal(size=mech.nq)), rng.normal(size=mech.nv)
    tau, more, d = rng.normal(size=(3, mech.nv))
    known = rng.normal(size=(4, 6))
    stiff = StiffTree(mech, q, v, tau, known)
    a_free, _ = stiff.solve(StiffForces(h))
    assert np.allclose(stiff.rates(a_free), floating.accelerations(mech, q, v, tau, known), rtol=0, atol=1e-13)
    F, K = {1: rng.normal(size=6), 3: rng.normal(size=6)}, {}
    for k in F:
        L = rng.normal(size=(6, 6))
        K[k] = 30 * L @ L.T
    a, added = stiff.solve(StiffForces(h, F, K, more, np.abs(d)))
    frames = [X for _, X in stiff.T.carriers]
    twists = [np.stack([kinematics.twists(mech, q, e)[k] for e in np.eye(mech.nv)], axis=1) for k in range(4)]
    J = {k: X.adjoint() @ twists[k] for k, X in enumerate(frames)}
    M = pt.mass_matrix(mech, q)
    H = M + h * np.diag(np.abs(d)) + h * sum(J[k].T @ K[k] @ J[k] for k in F)
    wanted = np.linalg.solve(H, M @ a_free + more + sum(J[k].T @ F[k] for k in F))
    assert np.allclose(a, wanted, rtol=0, atol=1e-11 * np.abs(wanted).max())
    both = rng.normal(size=(6, 6))  # couplings, small enough that the whole stays positive
    coupled, there = stiff.solve(StiffForces(h, F, K, more, np.abs(d), {(1, 3): both}))
    H = H + h * (J[1].T @ both @ J[3] + J[3].T @ both.T @ J[1])
    wanted = np.linalg.solve(H, M @ a_free + more + sum(J[k].T @ F[k] for k in F))
    assert np.allclose(coupled, wanted, rtol=0, atol=1e-11 * np.abs(wanted).max())
    assert np.allclose(there[3], J[3] @ coupled, rtol=0, atol=1e-12)
    for k in range(4):
        assert np.allclose(added[k], J[k] @ a, rtol=0, atol=1e-12)


def test_jacobians_between_bodies_that_are_chosen_at_run_time_give_the_velocity_of_one_relative_to_the_other():
    """A chain of twenty hinges: more velocities than one word has signs."""
    rng = np.random.default_rng(3)
    box, axes = pt.Inertia.box(1.0, (0.1, 0.1, 0.3)), np.eye(3)
    parents = [None, *(f"b{max(0, k - rng.integers(1, 4))}" for k in range(1, 20))]
    places = [pt.Pose(p=rng.normal(size=3)) for _ in parents]
    links = [pt.Link(f"b{k}", box, parents[k], pt.revolute(axes[k % 3]), places[k]) for k in range(20)]
    mech = pt.Mechanism(links)
    q, v = rng.normal(size=20), rng.normal(size=20)
    T = canonical.tree_of(mech)
    placed = tree_frames.placed(T, q, v)
    ends, about = ((19, 3), (7, -1), (0, 12), (5, 18)), np.array([0.1, 0.2, 0.3])
    branches = Branches(T, q, v, [X for X, _ in placed], about, ends)
    reached, jacobian = branches.jacobians()
    assert len(reached) > DIGITS
    for k, (a, b) in enumerate(ends):
        assert np.array_equal(branches._signs_of(k), branches.signs[k])
        r, Q = rng.normal(size=3), np.linalg.qr(rng.normal(size=(3, 3)))[0]
        J, u = jacobian(k, Q, r, True)
        both = []
        for i in (a, b):
            X, V = placed[i] if i >= 0 else (pt.Pose(), np.zeros(6))
            w = X.R @ V[:3]
            both.append(np.concatenate([w, X.R @ V[3:] + np.cross(w, r + about - X.p)]))
        wanted = np.concatenate([np.reshape(both[0] - both[1], (2, 3)) @ Q]).ravel()
        assert np.allclose(u, wanted, rtol=0, atol=1e-12 * np.abs(both).max())
        assert np.allclose(J @ v[reached], u, rtol=0, atol=1e-14 * np.abs(both).max())
