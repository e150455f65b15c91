"""Inverse kinematics: what it finds is checked by forward kinematics, Pinocchio's and ours."""

import warnings
from pathlib import Path

import numpy as np
import pytest
from mechanism_peers import Pinocchio
from trees import random_tree

import poinsot as pt
from poinsot.mechanism import kinematics
from poinsot.mechanism.closures import closing_rows

PLACES = [parent / "shared/refdata/robots/pinocchio_oracle" for parent in Path(__file__).parents]


def panda_like():
    """Seven hinges with the lengths and limits of a Panda arm, and a hand."""
    turns = [(0, 0, 0), (-np.pi / 2, 0, 0), (np.pi / 2, 0, 0), (np.pi / 2, 0, 0), (-np.pi / 2, 0, 0),
             (np.pi / 2, 0, 0), (np.pi / 2, 0, 0)]  # fmt: skip
    places = [(0, 0, 0.333), (0, 0, 0), (0, -0.316, 0), (0.0825, 0, 0), (-0.0825, 0.384, 0), (0, 0, 0), (0.088, 0, 0)]
    limits = [(-2.9, 2.9), (-1.76, 1.76), (-2.9, 2.9), (-3.07, -0.07), (-2.9, 2.9), (-0.02, 3.75), (-2.9, 2.9)]
    links, parent = [], None
    for k, (turn, place, (low, high)) in enumerate(zip(turns, places, limits, strict=True)):
        joint = pt.revolute((0, 0, 1), lower=low, upper=high)
        ball = pt.Inertia.sphere(1.0, 0.05)
        links.append(pt.Link(f"l{k}", ball, parent, joint, pt.Pose.from_euler(turn, place)))
        parent = f"l{k}"
    hand = pt.Link("hand", pt.Inertia.sphere(0.5, 0.05), parent, placement=pt.Pose(p=(0, 0, 0.107)))
    return pt.Mechanism([*links, hand])


def limits_of(mech):
    return [np.array([getattr(k.joint, end) for k in mech.links if k.joint.nv]) for end in ("lower", "upper")]


def check_against_pinocchio(mech, tip, n, tries):
    """Random poses that can be reached within the limits; those found are at them, by Pinocchio."""
    pytest.importorskip("pinocchio")
    peer, rng = Pinocchio(mech), np.random.default_rng(3)
    low, high = limits_of(mech)
    q = rng.uniform(np.maximum(low, -np.pi), np.minimum(high, np.pi), (n, mech.nq))

    def pose(q):
        peer.pin.framesForwardKinematics(peer.model, peer.data, peer.q(q))
        X = peer.data.oMf[peer.frame(tip)]
        return X.rotation.copy(), X.translation.copy()

    R, p = map(np.array, zip(*map(pose, q), strict=True))
    found = pt.solve_pose(mech, {tip: pt.Pose(R, p)}, np.clip(0.0, low, high), tries=tries)
    reached = np.asarray(found.is_reached)
    assert reached.shape == (n,)
    assert np.all((found.q >= low) & (found.q <= high))
    R_found, p_found = map(np.array, zip(*map(pose, found.q), strict=True))
    distance = np.linalg.norm(p_found - p, axis=1)
    np.testing.assert_allclose(distance, found.distance[:, 0], rtol=0, atol=1e-13)
    np.testing.assert_allclose(R_found[reached], R[reached], rtol=0, atol=2e-9)
    assert distance[reached].max() <= 1e-9
    return reached.mean()


def test_4096_poses_of_an_arm_by_pinocchio():
    assert check_against_pinocchio(panda_like(), "hand", 4096, 20) > 0.995


@pytest.mark.slow
@pytest.mark.parametrize(("robot", "tip"), [("panda", "panda_hand"), ("ur5", "tool0")])
def test_4096_poses_of_robots_by_pinocchio(robot, tip):
    path = next((place / f"{robot}.urdf" for place in PLACES if place.exists()), None)
    if path is None:
        pytest.skip("the reference robots are not here")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        mech = pt.load_urdf(path)
    assert check_against_pinocchio(mech, tip, 4096, 20) > 0.995


def test_positions_of_points_on_several_links_of_random_trees():
    """A guess nearby; quaternions of length 1 stay so. In plain NumPy inside of a kernel, and of a batch, alike."""
    rng = np.random.default_rng(0)
    mech = random_tree(rng, 6, heavy=True)
    at, q = pt.Pose.exp(0.3 * rng.standard_normal(6)), mech.neutral()
    there = kinematics.integrate(mech, q, 0.2 * rng.standard_normal(mech.nv))
    X = pt.forward_kinematics(mech, there)
    names = [mech.links[k].name for k in (-1, 2)]
    goals = {names[0]: pt.Goal(X[names[0]] @ at, at), names[1]: X[names[1]].p}
    found = pt.solve_pose(mech, goals, q)
    assert found.is_reached
    again = pt.forward_kinematics(mech, found.q)
    np.testing.assert_allclose((again[names[0]] @ at).p, goals[names[0]].pose.p, rtol=0, atol=1e-9)
    np.testing.assert_allclose(again[names[1]].p, goals[names[1]], rtol=0, atol=1e-9)
    np.testing.assert_allclose(kinematics.normalize(mech, found.q), found.q, rtol=0, atol=1e-13)
    inside = pt.kernel(f"({mech.nq})->({mech.nq})")(lambda q: pt.solve_pose(mech, goals, q).q)
    np.testing.assert_allclose(inside(q), found.q, rtol=0, atol=1e-9)


def four_bar():
    """A parallelogram of 1 m by 2 m, whose coupler ends in a pen."""
    bar = pt.Inertia.box(1.0, (1.0, 0.1, 0.1))
    hinge = pt.revolute((0, 0, 1), lower=-3.0, upper=3.0)
    links = [
        pt.Link("left", bar, None, hinge),
        pt.Link("coupler", bar, "left", hinge, pt.Pose(p=(1, 0, 0))),
        pt.Link("right", bar, None, hinge, pt.Pose(p=(2, 0, 0))),
    ]
    pin = pt.Closure("pin", "coupler", "right", pt.on_line((0, 0, 1)), pt.Pose(p=(2, 0, 0)), pt.Pose(p=(1, 0, 0)))
    return pt.Mechanism(links, closures=[pin])


def test_closures_hold_whether_the_target_is_reached_or_not():
    mech = four_bar()
    for y, reached in ((0.5, True), (1.7, False)):
        target = (np.sqrt(max(1 - y * y, 0.0)), y, 0.0)
        found = pt.solve_pose(mech, {"coupler": target}, [0.9, -0.9, 0.9])
        assert bool(found.is_reached) == reached
        gap = closing_rows(mech, mech.closures, found.q, np.zeros(3)).gap
        assert np.abs(gap).max() <= 1e-13
    assert found.distance[0] == pytest.approx(0.7, abs=1e-6)
    assert found.angle[0] == 0


def test_limits_are_kept_and_what_is_left_is_the_least():
    """An arm of two hinges whose elbow does not bend enough: the nearest point is on an edge of its reach."""
    bar = pt.Inertia.box(1.0, (1.0, 0.1, 0.1))
    links = [
        pt.Link("upper", bar, None, pt.revolute((0, 0, 1))),
        pt.Link("lower", bar, "upper", pt.revolute((0, 0, 1), lower=0.2, upper=1.0), pt.Pose(p=(1, 0, 0))),
    ]
    mech = pt.Mechanism(links)
    tip = pt.Goal((0.5, 0.0, 0.0), pt.Pose(p=(1, 0, 0)))
    found = pt.solve_pose(mech, {"lower": tip}, (0.1, 0.5))
    assert found.q[1] == pytest.approx(1.0, abs=1e-12)
    assert found.distance[0] == pytest.approx(2 * np.cos(0.5) - 0.5, abs=1e-9)
    assert pt.solve_pose(mech, {"lower": tip}, (0.1, 0.5), bounds=(-np.inf, np.inf)).is_reached


@pytest.mark.parametrize(
    ("targets", "options", "message"),
    [
        ({}, {}, "needs a target"),
        ({"hnad": (0, 0, 0)}, {}, "there is no link 'hnad'.*hand"),
        ({"hand": (0, 0)}, {}, "target of 'hand' must be a pt.Pose or a position"),
        ({"hand": (0, 0, np.nan)}, {}, "target of 'hand' must be .* three finite numbers"),
        ({"hand": (0, 0, 1)}, {"guess": np.zeros(3)}, r"guess has the shape \(3,\).*\(..., 7\)"),
        ({"hand": (0, 0, 1)}, {"guess": np.full(7, np.nan)}, "guess must be finite"),
        ({"hand": (0, 0, 1)}, {"bounds": (1.0, -1.0)}, r"bounds 1.0 and -1.0 of q\[0\] leave nothing"),
        ({"hand": pt.Goal((0, 0, 1), at=(0, 0, 1))}, {}, "at of the target of 'hand' must be a pt.Pose"),
    ],
)
def test_bad_targets(targets, options, message):
    with pytest.raises((ValueError, KeyError), match=message):
        pt.solve_pose(panda_like(), targets, **options)
