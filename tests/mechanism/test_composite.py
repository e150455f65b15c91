"""Forward dynamics by composite bodies: what articulated bodies give, where it takes fewer operations."""

import numpy as np
import pytest
from trees import random_motion, random_tree, same

import poinsot as pt
from poinsot.fuse.plan.budget import GPU, tracing_for
from poinsot.mechanism.dynamics import external_wrenches
from poinsot.mechanism.form import canonical, composite, screws
from poinsot.mechanism.form.screws import General, Shift, Turn

MOVES = [Shift(0, 0.3), Turn(0, 0.6, 0.8), Shift(2, -0.7), Turn(2, -0.8, 0.6), General(pt.Pose.exp(np.arange(6) / 5))]


@pytest.mark.parametrize("seed", range(8))
def test_both_ways_agree(seed):
    """On trees of all joints, with branches, fixed links and motors; rounding grows with the condition of M."""
    mech = random_tree(np.random.default_rng([8, seed]), 7)
    rng = np.random.default_rng(seed)
    q, v, tau = random_motion(rng, mech)
    F = rng.standard_normal((len(mech), 6))
    T = canonical.tree_of(mech)
    vdot = composite.forward_dynamics(T, q, v, tau, external_wrenches(mech, T, F))
    same(vdot, pt.forward_dynamics(mech, q, v, tau, F), 1e-10)


def chain(n: int) -> pt.Mechanism:
    rng = np.random.default_rng(n)
    inertia = pt.Inertia.points(rng.uniform(0.5, 1.0, 6), rng.standard_normal((6, 3)))
    links: list[pt.Link] = []
    for k in range(n):
        placement, joint = pt.Pose.exp(rng.standard_normal(6)), pt.revolute(rng.standard_normal(3))
        links.append(pt.Link(f"l{k}", inertia, links[-1].name if links else None, joint, placement))
    return pt.Mechanism(tuple(links))


def test_the_cheaper_one_is_chosen():
    """On a GPU: composite bodies up to seven general joints in a row, articulated ones beyond."""
    for n, small in ((2, True), (5, True), (7, True), (8, False), (12, False)):
        mech = chain(n)
        T = canonical.tree_of(mech)
        kernel = pt.kernel("(n),(n),(n)->(n)")(lambda q, v, tau, mech=mech: pt.forward_dynamics(mech, q, v, tau))
        by_composites = pt.kernel("(n),(n),(n)->(n)")(
            lambda q, v, tau, T=T: composite.forward_dynamics(T, q, v, tau, [np.zeros(6)] * len(T.bodies))
        )
        with tracing_for(GPU[4]):
            counts = [sum(k.count(n=n).values()) for k in (kernel, by_composites)]
        assert (counts[0] == counts[1]) if small else (counts[0] < counts[1])
        q, v, tau = np.random.default_rng(0).standard_normal((3, n))
        same(kernel(q, v, tau), pt.forward_dynamics(mech, q, v, tau), 1e-11)


@pytest.mark.parametrize("move", MOVES)
def test_moves_there_and_back(move):
    rng = np.random.default_rng(0)
    K, V = screws.Rates.of(*rng.standard_normal((3, 3))), rng.standard_normal(6)
    there = screws.rates([move], K)
    back = screws.rates(screws.back([move]), there)
    same(back.packed(), K.packed())
    same(back.U, K.U)
    same(there.U, screws.Rates.of(*there.packed()).U)
    same(screws.motion(screws.back([move]), screws.motion([move], V)), V)


@pytest.mark.parametrize("axis", range(3))
def test_points_of_a_hinge_move_with_both_bodies(axis):
    """So the rates behind it follow from one column of U: as from the angular accelerations of textbooks."""
    rng = np.random.default_rng(axis)
    K, e = screws.Rates.of(*rng.standard_normal((3, 3))), np.eye(3)[axis]
    turn = screws.Turn(axis, np.cos(0.7), np.sin(0.7))
    Ue = turn.along(K)
    turned, speed, about = screws.rates([turn], K), 1.3, -0.4
    w, alpha = turned.w + speed * e, turned.alpha + np.cross(turned.w, speed * e) + about * e
    expected = screws.Rates.of(w, alpha, K.a)
    beside = screws.Rates.beside(axis, Ue, w, alpha[axis], K.a)
    same(beside.packed(), expected.packed())
    same(beside.U, expected.U)


def test_the_moments_of_a_rigid_body_move_as_its_inertia():
    rng = np.random.default_rng(1)
    body = pt.Inertia.points(rng.uniform(1, 2, 5), rng.standard_normal((5, 3)))
    G = body.spatial()
    mass, h, I = screws.moments(MOVES, body.mass, body.mass * body.com, G[:3, :3])
    moved = screws.inertia(MOVES, G)
    same(mass, moved[5, 5])
    same(h, np.array([moved[2, 4], moved[0, 5], moved[1, 3]]))
    same(I, moved[:3, :3])
