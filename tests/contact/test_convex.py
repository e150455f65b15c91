"""Convex shapes of any kind: nearest points by what makes them nearest, overlaps by the axes that separate boxes, the
whole against MuJoCo, and what does not depend on the frame or the order."""

from itertools import combinations_with_replacement

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from poinsot.contact.boxes import AWAY
from poinsot.contact.convex import ROUNDED, placed
from poinsot.contact.hulls import ConvexMesh, hull
from poinsot.contact.nearest_points import nearest_points
from poinsot.contact.patches import patches
from poinsot.contact.portals import exit_of
from poinsot.contact.reach import reach
from poinsot.fuse import kernel
from poinsot.spatial import Pose, shapes
from poinsot.spatial.mesh import Mesh

RNG = np.random.default_rng(11)
SHAPES = [
    shapes.Sphere(0.2),
    shapes.Capsule(0.1, 0.3),
    shapes.Box((0.3, 0.4, 0.5)),
    shapes.Cylinder(0.2, 0.4),
    shapes.Cone(0.2, 0.4),
    shapes.Cone(0.2, 0.4, 0.1),
    shapes.Ellipsoid((0.2, 0.3, 0.15)),
    hull(0.2 * np.random.default_rng(1).normal(size=(30, 3))),
    hull(0.2 * np.random.default_rng(2).normal(size=(300, 3))),
]
PAIRS = list(combinations_with_replacement(range(len(SHAPES)), 2))
CUBE = hull(np.array(np.meshgrid(*[[-0.2, 0.2]] * 3)).reshape(3, -1).T)


def turned():
    return Rotation.random(random_state=int(RNG.integers(1e9))).as_matrix()


def direction():
    d = RNG.normal(size=3)
    return d / np.linalg.norm(d)


@pytest.mark.parametrize("pair", PAIRS, ids=lambda p: "-".join(type(SHAPES[k]).__name__ for k in p))
def test_nearest_points_are_in_both_cores_and_no_others_are_nearer(pair):
    a, b = (SHAPES[k] for k in pair)
    apart = 0
    for _ in range(4):
        X, Y = Pose(turned(), np.zeros(3)), Pose(turned(), RNG.uniform(0.5, 1.6) * direction())
        A, B = placed(a, X), placed(b, Y)
        found = nearest_points(A, B)
        gap = np.linalg.norm(found.v)
        if gap < 1e-6:
            continue
        apart += 1
        n = found.v / gap
        # Nothing of A lies below a along n, nothing of B above b: the planes there are `gap` apart.
        assert n @ A.support(-n) == pytest.approx(n @ found.a, abs=5e-6)  # on curved sides, where steps get small
        assert n @ B.support(n) == pytest.approx(n @ found.b, abs=5e-6)
        for d in RNG.normal(size=(50, 3)):
            d = d / np.linalg.norm(d)
            assert d @ found.a < d @ A.support(d) + 1e-9
            assert d @ found.b < d @ B.support(d) + 1e-9
    assert apart


def test_cores_with_their_balls_are_the_shapes():
    """The widths of exact shapes along any direction, and of rounded ones across their faces."""
    for d in np.concatenate([RNG.normal(size=(20, 3)), np.eye(3)]):
        d = d / np.linalg.norm(d)

        def width(shape, d=d):
            body = placed(shape, Pose())
            return d @ body.support(d) + body.radius

        assert width(SHAPES[6]) == pytest.approx(np.sqrt(np.sum((np.array([0.2, 0.3, 0.15]) * d) ** 2)), rel=1e-14)
        assert width(SHAPES[0]) == pytest.approx(0.2)
        assert width(SHAPES[1]) == pytest.approx(0.1 + 0.15 * abs(d[2]))
    for shape, d, wanted in (
        (shapes.Box((0.3, 0.4, 0.5)), [0, 1, 0], 0.2),
        (shapes.Cylinder(0.2, 0.4), [0.6, 0.8, 0], 0.2),
        (shapes.Cylinder(0.2, 0.4), [0, 0, 1], 0.2),
        (shapes.Cone(0.2, 0.4), [0, 0, -1], 0.2),
        (shapes.Cone(0.2, 0.4), np.array([2, 0, 1]) / np.sqrt(5), 0.1 * 2 / np.sqrt(5)),  # across its side
        (shapes.Cone(0.2, 0.4, 0.1), [0, 0, 1], 0.2),
        (CUBE, [0, 0, 1], 0.2),
    ):
        body = placed(shape, Pose())
        assert np.array(d) @ body.support(np.array(d, dtype=float)) + body.radius == pytest.approx(wanted, rel=1e-12)


def test_cubes_that_overlap_leave_by_a_face_near_the_origin():
    """Against the least overlap along the axes that may separate them."""
    tried = 0
    for _ in range(40):
        X, Y = Pose(turned(), RNG.uniform(0.3, 0.4) * direction()), Pose(turned(), np.zeros(3))
        axes = [*X.R.T, *Y.R.T, *(np.cross(a, b) for a in X.R.T for b in Y.R.T)]
        half = 0.2 * (1 - ROUNDED)

        def overlap(n, X=X, Y=Y, half=half):
            return half * (np.abs(n @ X.R).sum() + np.abs(n @ Y.R).sum()) - abs(n @ X.p)

        least = min(overlap(n / np.linalg.norm(n)) for n in axes)
        if least <= 0:
            continue
        tried += 1
        found = exit_of(placed(CUBE, X), placed(CUBE, Y))
        assert np.linalg.norm(found.normal) == pytest.approx(1, abs=1e-12)
        assert overlap(found.normal) == pytest.approx(found.depth, abs=1e-12)  # apart after so much, along the normal
        assert least - 1e-12 <= found.depth <= 1.5 * least + 1e-4
    assert tried > 10


@pytest.mark.parametrize(
    "shape", [shapes.Cylinder(0.1, 0.2), shapes.Cone(0.1, 0.2), CUBE], ids=lambda s: type(s).__name__
)
@pytest.mark.parametrize("depth", [1e-3, 3e-2])
def test_what_stands_on_a_box_touches_all_around(shape, depth):
    low = 0.2 if shape is CUBE else 0.1
    (found,) = patches(shape, Pose(p=(0.05, 0, 0.5 + low - depth)), shapes.Box((1, 1, 1)), Pose())
    touching = found.depths > 0
    assert found.normal == pytest.approx([0, 0, 1], abs=1e-9)
    assert found.depths[touching] == pytest.approx(depth, abs=1e-9)
    assert np.sum(touching) == (4 if shape is CUBE else 6)
    points = found.points[touching]
    assert points[:, 2] == pytest.approx(0.5 - depth / 2, abs=1e-9)
    reach_of_points = np.abs(points - [0.05, 0, 0])[:, :2].max(axis=0)
    assert np.all(reach_of_points > 0.8 * low)


def test_a_cylinder_on_its_side_touches_along_a_line():
    lying = Pose(Rotation.from_rotvec([np.pi / 2, 0, 0]).as_matrix(), (0.05, 0, 0.6 - 1e-3))
    (found,) = patches(shapes.Cylinder(0.1, 0.2), lying, shapes.Box((1, 1, 1)), Pose())
    touching = found.depths > 0
    assert found.depths[touching] == pytest.approx(1e-3, abs=1e-6)
    ends = found.points[touching][:, 1]
    assert ends.max() == pytest.approx(0.095, abs=1e-6)
    assert ends.min() == pytest.approx(-0.095, abs=1e-6)


def geom(shape):
    r = placed(shape, Pose()).radius
    match shape:
        case shapes.Sphere(radius):
            return f'type="sphere" size="{radius}"'
        case shapes.Capsule(radius, height):
            return f'type="capsule" size="{radius} {height / 2}"'
        case shapes.Box(size):
            return f'type="box" size="{" ".join(str(s / 2 - r) for s in size)}"'
        case shapes.Cylinder(radius, height):
            return f'type="cylinder" size="{radius - r} {height / 2 - r}"'
        case shapes.Ellipsoid(axes):
            return f'type="ellipsoid" size="{" ".join(map(str, axes))}"'


@pytest.mark.parametrize("pair", [(a, b) for a, b in PAIRS if {a, b} <= {0, 1, 2, 3, 6} and (a > 1 or b > 3)], ids=str)
def test_distances_against_mujoco(pair):
    """Of shapes that are apart; sharp ones, which are rounded here, are compared by their cores."""
    mujoco = pytest.importorskip("mujoco")
    a, b = (SHAPES[k] for k in pair)
    bodies = "".join(f'<body name="{k}"><freejoint/><geom {geom(s)}/></body>' for k, s in enumerate((a, b)))
    model = mujoco.MjModel.from_xml_string(f"<mujoco><worldbody>{bodies}</worldbody></mujoco>")
    data, compared = mujoco.MjData(model), 0
    for _ in range(6):
        X, Y = Pose(turned(), np.zeros(3)), Pose(turned(), RNG.uniform(0.5, 0.8) * direction())
        data.qpos[:] = np.concatenate([X.p, X.quaternion(), Y.p, Y.quaternion()])
        mujoco.mj_kinematics(model, data)
        wanted = mujoco.mj_geomDistance(model, data, 0, 1, 9.0, np.zeros(6))
        found = nearest_points(placed(a, X), placed(b, Y))
        exact = sum(placed(s, Pose()).radius for s in (a, b) if type(s).__name__ in ("Sphere", "Capsule", "Ellipsoid"))
        gap = np.linalg.norm(found.v) - exact
        if wanted > 1e-3:
            assert gap == pytest.approx(wanted, abs=2e-6)  # MuJoCo's own tolerance is 1e-6
            compared += 1
    assert compared > 1


@pytest.mark.parametrize("pair", [(3, 2), (4, 7), (6, 3), (0, 8), (1, 7), (5, 6), (2, 8)], ids=str)
def test_the_order_and_the_frame_do_not_matter(pair):
    a, b = (SHAPES[k] for k in pair)
    touching = 0
    for _ in range(8):
        u = direction()
        X, Y = Pose(turned(), np.zeros(3)), Pose(turned(), 2 * u)
        A, B = placed(a, X), placed(b, Y)
        Y = Pose(Y.R, (2 - (-u @ A.support(u) + u @ B.support(-u) - A.radius - B.radius) - 0.04) * u)
        M = Pose(turned(), RNG.normal(size=3))
        first, second = patches(a, X, b, Y)[0], patches(b, Y, a, X)[0]
        moved = patches(a, M @ X, b, M @ Y)[0]
        if np.max(first.depths) <= 0:
            assert np.max(second.depths) <= 0
            continue
        gap = np.linalg.norm(nearest_points(placed(a, X), placed(b, Y)).v)
        if 0 < gap < 1e-5:  # cores that just touch: the normal is ill-defined, by rounding over the gap
            continue
        touching += 1
        assert first.normal == pytest.approx(-second.normal, abs=1e-3)  # curved sides
        assert moved.normal == pytest.approx(M.R @ first.normal, abs=1e-3)
        assert np.max(first.depths) == pytest.approx(np.max(second.depths), abs=1e-6)
        assert np.max(moved.depths) == pytest.approx(np.max(first.depths), abs=1e-6)
    assert touching


def test_far_shapes_are_not_looked_at_and_balls_hold_them():
    for shape in SHAPES:
        centre, radius = reach(shape)
        body = placed(shape, Pose())
        for d in RNG.normal(size=(30, 3)):
            d = d / np.linalg.norm(d)
            assert d @ (body.support(d) + body.radius * d - centre) < radius + 1e-12
        far = patches(shape, Pose(), shapes.Box((0.1, 0.1, 0.1)), Pose(p=(5, 0, 0)))
        assert all(np.all(patch.depths < 0) for patch in far)


def test_it_is_the_same_compiled():
    a, b = SHAPES[2], SHAPES[8]

    def found(p, q):
        patch = patches(a, Pose.from_quaternion(p[:4], p[4:]), b, Pose.from_quaternion(q[:4], q[4:]))[0]
        return np.concatenate([patch.normal, patch.depths, patch.points.ravel()])

    states = np.zeros((6, 2, 7))
    for k in range(6):
        for j, r in enumerate((0.0, 0.45)):
            states[k, j] = np.concatenate([Pose(turned(), np.zeros(3)).quaternion(), r * direction()])
    compiled = kernel("(7),(7)->(n)")(found)(states[:, 0], states[:, 1])
    plain = np.stack([found(*state) for state in states])
    assert np.any(plain[:, 3:22] > 0)
    assert compiled == pytest.approx(plain, abs=1e-8)


def test_points_that_do_not_touch_are_kept_near():
    for _ in range(40):
        X = Pose(turned(), 0.4 * direction())
        for patch in patches(SHAPES[3], X, SHAPES[2], Pose()):
            assert np.abs(patch.points).max() < 1


def test_meshes_differ():
    assert SHAPES[7] == SHAPES[7]
    assert SHAPES[7] != SHAPES[8]
    assert hash(SHAPES[7]) != hash(SHAPES[8])


def test_hulls():
    points = RNG.normal(size=(500, 3))
    small = hull(points, most=20)
    assert len(small.vertices) <= 20
    assert small.volume < hull(points, most=64).volume * 1.0001
    assert hull(CUBE).volume == pytest.approx(0.064)
    corners = np.array([[0, 0, 0], [2, 0, 0], [2, 1, 0], [1, 1, 0], [1, 2, 0], [0, 2, 0]], dtype=float)
    prism = np.concatenate([corners, corners + [0, 0, 1]])  # of the form of an L
    cap = [(0, 1, 2), (0, 2, 3), (0, 3, 4), (0, 4, 5)]
    sides = [f for k in range(6) for j in [(k + 1) % 6] for f in ((k, j, j + 6), (k, j + 6, k + 6))]
    faces = [f[::-1] for f in cap] + [tuple(k + 6 for k in f) for f in cap] + sides
    assert Mesh(prism, faces).volume == pytest.approx(3)
    with pytest.raises(ValueError, match=r"mesh is not convex: it fills 85.7 % of its hull. Take pt.hull\(mesh\)"):
        ConvexMesh(prism, faces)
    with pytest.raises(ValueError, match="lie in one plane"):
        hull(corners)
    with pytest.raises(ValueError, match=r"at least 4 points \(n, 3\), all finite"):
        hull([[0, 0, np.nan]] * 5)
    assert np.all(patches(CUBE, Pose(), CUBE, Pose(p=(0.395, 0, 0)))[0].depths[-1] == AWAY)
