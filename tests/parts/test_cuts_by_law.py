"""Cuts, limits and beams at one instant, by laws and by hand."""

import numpy as np
import pytest
from instants import SEEDS, Instant, at_start, body, two_bodies
from scipy.integrate import quad

import poinsot as pt
from poinsot.parts.beam import Beam
from poinsot.parts.structure import Cut, Limit, beyond
from poinsot.spatial import Inertia, Pose, motion


@pytest.mark.parametrize("seed", SEEDS)
def test_components_of_a_cut(seed):
    """Forces and moments of the outer on the inner part, split along and across the normal, about the point."""
    rng = np.random.default_rng(seed)
    F, at, axis = rng.normal(size=6), rng.normal(size=3), rng.normal(size=3)
    cut = Cut("c", "a", at, axis)
    n, moment = axis / np.linalg.norm(axis), F[:3] - np.cross(at, F[3:])
    found = cut.components(Instant(F))
    assert found["axial"] == pytest.approx(-F[3:] @ n)
    assert found["shear"] == pytest.approx(np.linalg.norm(np.cross(n, F[3:])))
    assert found["torsion"] == pytest.approx(-moment @ n)
    assert found["bending"] == pytest.approx(np.linalg.norm(np.cross(n, moment)))
    np.testing.assert_allclose(cut.wrench(Instant(F)), motion.wrench_at(F, at), atol=1e-14)


CUT = {"c": Cut("c", "a", axis=(1, 0, 0))}


def test_loads_of_a_limit():
    """F = (torsion 2, bending 3, 0; axial 4, shear 5, 0), with the other sign for tension."""
    instant = Instant([-2.0, 3.0, 0.0, -4.0, 5.0, 0.0], elements=CUT)
    limit = Limit("l", "a", "c", axial=8.0, shear=4.0, bending=12.0, torsion=1.0)
    assert limit.loads(instant) == (2.0, 3.0)
    assert Limit("l", "a", "c", axial=8.0, shear=4.0).loads(instant) == (1.25, 1.0)
    both = Limit("l", "a", "c", axial=8.0, shear=4.0, combined=True).loads(instant)
    assert both[0] == pytest.approx(np.hypot(0.5, 1.25))
    assert Limit("l", "a", "c", load=lambda F: F[4] / 10).loads(instant) == (0.5, 0.0)
    for name in ("axial", "shear", "bending", "torsion"):
        with pytest.raises(ValueError, match=f"{name} of limit 'l' must be above zero, not 0.0"):
            Limit("l", "a", "c", **{name: 0.0})


def test_a_limit_latches_between_the_steps():
    """The load rises from 0.5 to 2.5 between 1 s and 3 s: passed at 1.5 s; then it stays latched, the worst goes on."""
    limit = Limit("l", "a", "c", axial=1.0, shear=1.0)
    states = {name: np.zeros(()) for name in limit.states()}
    rows = [(1.0, 0.5, 0), (3.0, 2.5, 1), (4.0, 0.2, 0), (5.0, 3.0, 0), (6.0, 1.1, 1)]
    kept, names = [], ("latched", "latched_at", "worst", "worst_at", "case", "last", "last_at")
    for t, load, case in rows:
        states = limit.settle(Instant([0, 0, 0, -load * (case == 0), load * (case == 1), 0], t, CUT), states)
        kept.append([float(states[name]) for name in names])
    np.testing.assert_allclose(
        kept,
        [
            [0, 0, 0.5, 1.0, 0, 0.5, 1.0],
            [1, 1.5, 2.5, 3.0, 1, 2.5, 3.0],
            [1, 1.5, 2.5, 3.0, 1, 0.2, 4.0],
            [1, 1.5, 3.0, 5.0, 0, 3.0, 5.0],
            [1, 1.5, 3.0, 5.0, 0, 1.1, 6.0],
        ],
    )
    part = Limit("l", "a", "c", axial=1.0, then="part")
    before, after = {"latched": np.zeros(())}, {"latched": np.ones(()), "latched_at": np.array(2.0)}
    assert part.lets_go(before, after)[0] == 2.0
    assert part.lets_go(after, after)[0] > 1e20
    assert limit.lets_go(before, after) is None
    assert (part.holds(before)["a"], part.holds(after)["a"]) == (1.0, 0.0)


def test_the_shapes_beyond_a_station():
    rod = sum(Pose(p=(x, 0, 0)) @ Inertia.sphere(m, 0.1) for x, m in ((0.0, 1.0), (1.0, 2.0), (2.0, 4.0)))
    assert beyond(rod, (3.0, 0, 0), 0.5).mass == 6.0
    assert beyond(rod, (-1.0, 0, 0), -1.5).mass == 3.0
    with pytest.raises(ValueError, match="none of the 3 shapes"):
        beyond(rod, (1.0, 0, 0), 2.5)


def wing_and_tip(seed, in_one):
    """A wing and its tip, in motion under gravity, as one body with a cut or as two with a fixed joint; on the tip act
    a force, the contents of a tank, and a pod on a hinge."""
    rng = np.random.default_rng(seed)
    wing, tip = body(rng), Pose(p=(1.0, 0.2, 0.1)) @ body(rng)
    f, point, tank_at = rng.normal(size=(3, 3))
    X, V = Pose.from_euler(rng.normal(size=3), p=rng.normal(size=3)), rng.normal(size=6)
    X_pod, pod, spin = Pose.from_euler(rng.normal(size=3), p=rng.normal(size=3)), body(rng), rng.normal(size=1)
    world = pt.World((0.3, -0.5, -9.81))
    world.add_body("wing", wing + tip if in_one else wing, None, None, X, v=V)
    if not in_one:
        world.add_body("tip", tip, "wing", pt.fixed())
    outer = "wing" if in_one else "tip"
    world.add_body("pod", pod, outer, pt.revolute((0, 1, 0)), X_pod, q=0.4, v=spin)
    world.add(pt.Force("push", outer, f, point))
    world.add(pt.Force("pull", "wing", point, f))
    world.add(pt.Tank("fuel", outer, capacity=4.0, contents=2.0, position=tank_at, radius=0.1))
    world.add(pt.Tank("other", "wing", capacity=4.0, contents=1.0))
    whole = {"piece": tip, "carries": ("push", "fuel", "pod")} if in_one else {}
    world.add(Cut("cut", outer, (0.7, 0.1, 0.2), (1, 0.5, 0), **whole))
    world.add(Limit("limit", outer, "cut", bending=40.0, axial=300.0))
    return at_start(world)[2]


@pytest.mark.parametrize("seed", SEEDS)
def test_a_cut_through_a_body_is_that_through_a_fixed_joint(seed):
    """The same wrench and components, whether the outer part is a piece of the body or a body of its own."""
    one, two = (wing_and_tip(seed, in_one).effects for in_one in (True, False))
    scale = np.abs(two["cut"].shown["wrench"]).max()
    for name in ("wrench", "axial", "shear", "bending", "torsion"):
        np.testing.assert_allclose(one["cut"].shown[name], two["cut"].shown[name], atol=1e-11 * scale)
    cut = two["cut"].shown
    load = max(abs(cut["axial"]) / 300.0, cut["bending"] / 40.0)
    np.testing.assert_allclose(
        [one["limit"].shown["margin"], two["limit"].shown["margin"]], 1 - load, atol=1e-11 * scale
    )
    assert (one["cut"].power, one["limit"].power) == (0, 0)


def parting(cut, on="b", joint=None, v=None):
    _, world = two_bodies(1, joint or pt.fixed(), **({} if v is None else {"v": v}))
    world.add(cut)
    world.add(Limit("l", on, "c", axial=1.0, then="part"))
    return at_start(world)


def test_what_a_limit_can_release():
    """The joint that its cut goes through; a free one is held before, so it starts at rest."""
    assert Limit("l", "b", "c", axial=1.0, then="part").bodies() == ("b",)
    assert Limit("l", "b", "c", axial=1.0).bodies() == ()
    parting(Cut("c", "b"))
    parting(Cut("c", "b"), joint=pt.free(), v=np.zeros(6))
    with pytest.raises(ValueError, match="its cut 'c' goes through 'a'; put the cut on 'b'"):
        parting(Cut("c", "a"))
    with pytest.raises(ValueError, match="goes through the body itself"):
        parting(Cut("c", "b", piece=Inertia.sphere(0.1, 0.1)))
    with pytest.raises(ValueError, match="it starts with v = "):
        parting(Cut("c", "b"), joint=pt.free(), v=[0, 0, 0, 0, 0, 0.1])
    with pytest.raises(ValueError, match="limit 'l' needs a cut; 'c' is a Force"):
        parting(pt.Force("c", "b"))


@pytest.mark.parametrize("n", [1, 3, 6])
def test_segments_make_up_the_beam(n):
    """Mass, centre and moment of a tapered beam, whatever the number of segments; and its compliance."""
    beam = Beam("w", 2.0, lambda x: 5.0 + x, lambda x: 3.0 - x, n, GJ=4.0, EI_side=7.0, polar=0.02, damping=0.1)
    whole, X = [], Pose()
    for link in beam.links():
        X = X @ link.placement
        whole.append(X @ link.inertia)
    whole = sum(whole)
    mass, first, second = 4.0, 6.0 - 8.0 / 3, 8.0 - 4.0  # integrals of 3 - x, times 1, x, x^2, from 0 to 2
    np.testing.assert_allclose(whole.mass, mass)
    np.testing.assert_allclose(whole.com, [first / mass, 0, 0], atol=1e-13)
    across = second - first**2 / mass + 0.02
    np.testing.assert_allclose(whole.moment, np.diag([0.04, across, across]), atol=1e-12)
    K, rest = np.array([flexure.stiffness for flexure in beam.flexures()]), 2.0 - beam.joints
    bent = quad(lambda x: (2.0 - x) ** 2 / (5.0 + x), 0, 2)[0]  # of the tip under a unit force there
    np.testing.assert_allclose(rest**2 @ (1 / K[:, 1]), bent, rtol=1e-12)
    np.testing.assert_allclose(K[:, 2] / K[:, 1], 7.0 / (5.0 + beam.joints), rtol=1e-12)
    np.testing.assert_allclose(K[:, 0] / K[:, 1], 4.0 / (5.0 + beam.joints), rtol=1e-12)
    np.testing.assert_allclose([flexure.damping for flexure in beam.flexures()], 0.1 * K)
