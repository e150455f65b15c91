"""Where two shapes touch, against what defines it: overlaps, nearest points, and points within both shapes."""

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.spatial.transform import Rotation

from poinsot.contact.boxes import AWAY, PREFER, box_on_box
from poinsot.contact.convex import placed
from poinsot.contact.hulls import hull
from poinsot.contact.law import Material
from poinsot.contact.manifolds import touching_cores
from poinsot.contact.patches import nearest, patches
from poinsot.contact.pressing import Pressed
from poinsot.spatial import Pose
from poinsot.spatial.shapes import Box, Capsule, Cone, Cylinder, Sphere

RNG = np.random.default_rng(5)
WOOD = Material(1e5, 0.5, 0.6)


def turned():
    return Rotation.random(random_state=int(RNG.integers(1e9))).as_matrix()


def overlap(n, x, R_a, half_a, R_b, half_b):
    """How far two boxes overlap along n, the centre of the second at the origin."""
    return np.abs(n @ R_a) @ half_a + np.abs(n @ R_b) @ half_b - abs(n @ x)


@pytest.mark.parametrize("nearly", [False, True])
def test_boxes_overlap_least_along_the_normal_and_touch_within_both(nearly):
    """Nearly so: the normal of a face stands for that across two edges, if it is within 18 degrees of it."""
    kinds, near = set(), 0
    for _ in range(150):
        R_b = turned()
        R_a = R_b @ Rotation.from_rotvec(1e-4 * RNG.normal(size=3)).as_matrix() if nearly else turned()
        half_a, half_b = RNG.random((2, 3)) + 0.2
        crossed = [np.cross(a, b) for a in R_a.T for b in R_b.T]
        axes = [*R_a.T, *R_b.T, *(c / np.linalg.norm(c) for c in crossed if np.linalg.norm(c) > 1e-3)]
        e, low, high = RNG.normal(size=3), 0.0, 9.0
        for _ in range(50):  # to where they overlap by a millimetre
            middle = (low + high) / 2
            deep = min(overlap(n, middle * e, R_a, half_a, R_b, half_b) for n in axes) > 1e-3
            low, high = (middle, high) if deep else (low, middle)
        x = low * e
        n, points, depths = box_on_box(x, R_a, np.zeros(3), R_b, half_a, half_b)
        assert n @ x > 0
        least = min(axes, key=lambda n: overlap(n, x, R_a, half_a, R_b, half_b))
        assert abs(n @ least) > (1 - PREFER) * (1 - 3e-3)
        assert 0 < np.max(depths) < 1e-3 / (1 - PREFER)
        there = points[depths > 0]
        beside = (
            0.5e-3 * np.sqrt(1 - (1 - PREFER) ** 2) if abs(n @ least) < 1 - 1e-9 else 1e-6
        )  # of an edge, across its face
        assert np.max(np.abs((there - x) @ R_a) - half_a) < beside
        assert np.max(np.abs(there @ R_b) - half_b) < beside
        kinds.add(bool(depths[-1] > 0))
        apart = box_on_box(x + 2.5e-3 * n, R_a, np.zeros(3), R_b, half_a, half_b)[2]
        assert np.max(apart) < -1.5e-3 * (1 - PREFER)
        near += np.max(apart) > -2e-3
    assert near > 100  # what is about to touch is known before it does
    assert kinds == ({False} if nearly else {False, True})  # by faces, and by edges


def test_a_box_on_a_face_of_another_touches_by_its_corners():
    n, points, depths = box_on_box(
        np.array([0.3, 0, 1.49]), np.eye(3), np.zeros(3), np.eye(3), np.array([0.5, 0.4, 0.5]), np.ones(3)
    )
    assert np.allclose(n, [0, 0, 1])
    assert np.allclose(depths[depths > 0], 0.01)
    found = points[depths > 0]
    assert {tuple(np.round(p, 9)) for p in found} == {(x, y, 0.995) for x in (-0.2, 0.8) for y in (-0.4, 0.4)}


def test_the_nearest_points_of_segments():
    for _ in range(40):
        p0, p1, q0, q1 = RNG.normal(size=(4, 3))
        a, b = nearest(p0, p1, q0, q1)
        gap = lambda s: np.sum((p0 + s[0] * (p1 - p0) - q0 - s[1] * (q1 - q0)) ** 2)  # noqa: B023, E731
        wanted = min(minimize(gap, start, bounds=[(0, 1)] * 2).fun for start in ((0.1, 0.1), (0.9, 0.5)))
        assert np.sum((a - b) ** 2) <= wanted + 1e-9
    p = np.zeros(3)
    assert np.allclose(np.array(nearest(p, p, p + 1, p + 1))[1], 1)  # of two points


@pytest.mark.parametrize("a", [Sphere(0.3), Capsule(0.2, 1.0)], ids=repr)
def test_round_shapes_on_a_box(a):
    box = Box((1.0, 0.8, 0.6))
    half = 0.5 * np.array(box.size)
    for _ in range(40):
        X, Y = Pose(turned(), RNG.normal(size=3)), Pose(turned(), RNG.normal(size=3))
        found = patches(a, X, box, Y)
        t = np.linspace(-0.5, 0.5, 4001)[:, None] * (a.height if isinstance(a, Capsule) else 0.0)
        inner = (X.p + t * X.R[:, 2] - Y.p) @ Y.R
        outside = np.linalg.norm(inner - np.clip(inner, -half, half), axis=1)
        if np.max([p.depths[0] for p in found]) == AWAY:  # too far apart to be looked at
            assert np.min(outside) > a.radius
        elif np.min(outside) > 1e-3:
            deepest = max(float(p.depths[0]) for p in found)
            assert deepest == pytest.approx(a.radius - np.min(outside), abs=1e-6)
        turned_round = patches(box, Y, a, X)
        for one, other in zip(found, turned_round, strict=True):
            assert np.array_equal(one.normal, -other.normal)
            assert np.array_equal(one.points, other.points)


@pytest.mark.parametrize("a", [Sphere(0.3), Capsule(0.2, 1.0)], ids=repr)
def test_round_shapes_on_a_cylinder(a):
    cylinder = Cylinder(0.4, 0.7)
    for _ in range(40):
        X, Y = Pose(turned(), 0.6 * RNG.normal(size=3)), Pose(turned(), 0.3 * RNG.normal(size=3))
        deepest = max(float(p.depths[0]) for p in patches(a, X, cylinder, Y))
        t = np.linspace(-0.5, 0.5, 4001)[:, None] * (a.height if isinstance(a, Capsule) else 0.0)
        inner = (X.p + t * X.R[:, 2] - Y.p) @ Y.R
        across, along = np.hypot(inner[:, 0], inner[:, 1]) - 0.4, np.abs(inner[:, 2]) - 0.35
        outside = np.hypot(np.maximum(across, 0), np.maximum(along, 0)) + np.minimum(np.maximum(across, along), 0)
        if deepest == AWAY:
            assert np.min(outside) > a.radius
        elif np.min(outside) > 1e-3:
            assert deepest == pytest.approx(a.radius - np.min(outside), abs=1e-6)
        elif isinstance(a, Sphere):
            assert deepest == pytest.approx(a.radius - np.min(outside), abs=1e-9)


def test_a_ball_within_a_box_leaves_by_the_nearest_face():
    (found,) = patches(Sphere(0.1), Pose(p=(0.0, 0.35, 0.1)), Box((1.0, 0.8, 0.6)), Pose())
    assert np.allclose(found.normal, [0, 1, 0])
    assert found.depths[0] == pytest.approx(0.15)


def test_what_a_tilted_box_touches_does_not_jump_as_it_turns():
    """A box that lies over an edge of another, turned about the vertical: its patch is that of the faces, with a point
    where the edges cross, at tilts of either sign, and its share of the stiffness is continuous."""
    half = np.array([0.1, 0.12, 0.08])
    yaw = Rotation.from_euler("z", 0.6).as_matrix()

    def patch(tilt):
        R = yaw @ Rotation.from_euler("xy", [0.3 * tilt, tilt]).as_matrix()
        n, points, depths = box_on_box(np.array([0.13, 0.0, 0.1598]), R, np.zeros(3), np.eye(3), half, half)
        found, W = Pressed(n, points, depths, np.zeros(3), np.zeros(3), np.zeros(3)), np.zeros(6)
        return n, found.wrench(found.grip(WOOD, 0.0, W), found.speeds(W))

    tilts = np.linspace(-4e-3, 4e-3, 801)
    normals, wrenches = (np.array(x) for x in zip(*map(patch, tilts), strict=True))
    assert np.min(normals[:, 2]) > 1 - 1e-4
    assert np.abs(np.diff(wrenches, axis=0)).max() < 0.02 * np.abs(wrenches).max()


@pytest.mark.parametrize("solid", [Box((0.2, 0.3, 0.1)), Cylinder(0.15, 0.2)])
def test_normals_have_length_one_however_deep(solid):
    """Also where the axis of a capsule enters the solid, to which its nearest point is only known to rounding."""
    rng, at = np.random.default_rng(0), Pose()
    for _ in range(200):
        turned = Pose(Rotation.random(random_state=rng).as_matrix(), rng.uniform(-0.2, 0.2, 3))
        for patch in patches(Capsule(0.05, 0.3), turned, solid, at):
            assert np.linalg.norm(patch.normal) == pytest.approx(1.0, abs=1e-12)


@pytest.mark.parametrize(
    "kinds", [("cylinder", "box"), ("cylinder", "cylinder"), ("cone", "box"), ("hull", "cylinder")]
)
def test_patches_of_curved_shapes_turn_with_the_world_and_are_the_same_from_both_sides(kinds):
    shapes_of = {
        "cylinder": Cylinder(0.12, 0.22),
        "box": Box((0.3, 0.25, 0.2)),
        "cone": Cone(0.1, 0.2),
        "hull": hull(np.random.default_rng(1).uniform(-0.15, 0.15, (12, 3))),
    }
    a, b = (shapes_of[kind] for kind in kinds)
    rng, several = np.random.default_rng(3), 0
    for k in range(10):
        X, Y, T = (Pose.exp(rng.uniform(-2, 2, 6)) for _ in range(3))
        if k % 2:  # one on top of the other, all but level
            X = Y @ Pose.exp(np.array([1e-3, -1e-3, 1.0, 0, 0, 0]) * rng.random(6)) @ Pose(p=(0.02, 0.01, 0.5))
        one, other = placed(a, X), placed(b, Y)
        n, _, _, overlap = touching_cores(one, other)
        Y = Pose(Y.R, Y.p + (0.004 - one.radius - other.radius - overlap) * n)  # now they touch
        (here,), (there,), (other,) = patches(a, X, b, Y), patches(a, T @ X, b, T @ Y), patches(b, Y, a, X)
        on = here.depths > 0
        several += int(np.sum(on) > 1)
        assert 0 < np.max(here.depths) < 0.05
        assert there.normal == pytest.approx(T.R @ here.normal, abs=1e-8)
        assert there.depths[on] == pytest.approx(here.depths[on], abs=1e-10)
        assert there.points[on] == pytest.approx(here.points[on] @ T.R.T + T.p, abs=1e-7)
        assert other.normal == pytest.approx(-here.normal, abs=1e-8)
        if kinds[0] != kinds[1]:  # else the axes of the first count
            assert np.sort(other.depths[other.depths > 0]) == pytest.approx(np.sort(here.depths[on]), abs=1e-9)
    assert several > 2 or "hull" in kinds
