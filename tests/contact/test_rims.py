"""Curved rims and sides that meet by supports: found to rounding, with derivatives, and without jumps."""

from functools import cache

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.spatial.transform import Rotation

import poinsot as pt
from poinsot.contact.convex import placed
from poinsot.contact.hulls import hull
from poinsot.contact.manifolds import convex_on_convex, touching_cores
from poinsot.contact.nearest_points import nearest_points
from poinsot.contact.patches import patches
from poinsot.fuse import held
from poinsot.run.compiled import CompiledSystem
from poinsot.spatial import Pose, shapes
from poinsot.world.system import System

RNG = np.random.default_rng(11)
START = RNG.bit_generator.state
CLOUD = hull(0.2 * np.random.default_rng(1).normal(size=(30, 3)))
CUBE = hull(np.array(np.meshgrid(*[[-0.4, 0.4]] * 3)).reshape(3, -1).T)
CYLINDER, CONE, BLUNT = shapes.Cylinder(0.2, 0.5), shapes.Cone(0.2, 0.5), shapes.Cone(0.2, 0.5, 0.1)
BOX, EGG, CAPSULE = shapes.Box((0.3, 0.4, 0.55)), shapes.Ellipsoid((0.2, 0.3, 0.15)), shapes.Capsule(0.1, 0.3)
PAIRS = [
    (CYLINDER, CYLINDER), (CYLINDER, BOX), (CONE, BOX), (BLUNT, CYLINDER), (CONE, CONE), (EGG, EGG), (EGG, BOX),
    (EGG, CYLINDER), (CLOUD, CYLINDER), (CLOUD, EGG), (CLOUD, CONE), (CAPSULE, CONE), (CAPSULE, EGG),
]  # fmt: skip
NAMES = ["-".join(type(s).__name__ for s in pair) for pair in PAIRS]
APART, OVERLAP = (1e-2, 1e-3, 1e-5), (1e-5, 1e-3, 1e-2)  # m: between the cores


@pytest.fixture(autouse=True)
def _alike():
    """Each test draws the same, whichever ran before."""
    RNG.bit_generator.state = START


def turned():
    return Rotation.random(random_state=int(RNG.integers(1e9))).as_matrix()


def direction():
    d = RNG.normal(size=3)
    return d / np.linalg.norm(d)


def near(a, b, apart):
    """Poses of two shapes whose cores are this far apart along some direction."""
    X, R, u = Pose(turned(), np.zeros(3)), turned(), direction()
    v = nearest_points(placed(a, X), placed(b, Pose(R, 2 * u))).v
    return X, Pose(R, 2 * u + v - apart * v / np.linalg.norm(v))


@cache
def compiled(a, b):
    """A kernel for cores of these shapes."""

    def found(X, Y):
        P, Q = (Pose.unchecked(np.reshape(x[3:], (3, 3)), x[:3]) for x in (X, Y))
        return touching_cores(placed(a, P), placed(b, Q))

    return pt.kernel("(12),(12)->(3),(3),(3),()")(found)


def cores(a, X, b, Y):
    """The normal, how far the cores are apart, and the points of the cores that touch."""
    n, p, q, overlap = compiled(a, b)(*(np.concatenate([P.p, P.R.ravel()]) for P in (X, Y)))
    return n, -overlap, p, q


def outside(shape, x):
    """How far a point (3,), in the axes of a shape, is outside of its core, along one of its planes at least."""
    r = placed(shape, Pose()).radius
    match shape:
        case shapes.Box(size):
            return np.max(np.abs(x) - np.array(size) / 2 + r)
        case shapes.Cylinder(radius, height):
            return max(np.hypot(x[0], x[1]) - radius + r, abs(x[2]) - height / 2 + r)
        case shapes.Cone(radius, height, top):
            slope = (radius - top) / height
            side = np.hypot(x[0], x[1]) - (radius - slope * (x[2] + height / 2))
            return max(side / np.sqrt(1 + slope**2) + r, abs(x[2]) - height / 2 + r)
        case shapes.Capsule(_, height):
            return max(np.hypot(x[0], x[1]), abs(x[2]) - height / 2)
        case shapes.Ellipsoid(axes):
            D2, n = np.array(axes) ** 2, x / np.array(axes) ** 2
            for _ in range(200):  # the normal where x = D^2 n/|D n| - r n
                n = (x + r * n / np.linalg.norm(n)) / D2
            n = n / np.linalg.norm(n)
            return n @ x - (np.sqrt(n @ (D2 * n)) - r)
    planes = np.array(
        [[n @ (x - c) for c in shape.core()[0]] for n in Rotation.random(50, random_state=1).as_matrix()[:, 0]]
    )
    return -np.min(np.max(planes, axis=1))


@pytest.mark.parametrize("pair", PAIRS, ids=NAMES)
def test_cores_that_are_apart_are_parted_by_planes_at_points_of_both(pair):
    """Nothing is nearer than planes that part them, and no points of both are nearer than they are: so both are the
    distance, to rounding."""
    a, b = pair
    for apart in APART:
        for _ in range(6):
            X, Y = near(a, b, apart)
            A, B = placed(a, X), placed(b, Y)
            n, found, p, q = cores(a, X, b, Y)
            assert found == pytest.approx(n @ A.support(-n) - n @ B.support(n), abs=1e-14)
            assert p - q == pytest.approx(found * n, abs=1e-14)
            assert outside(a, X.inverse() @ p) < 1e-12
            assert outside(b, Y.inverse() @ q) < 1e-12


@pytest.mark.parametrize("pair", PAIRS, ids=NAMES)
def test_cores_that_overlap_leave_each_other_by_the_shortest_way(pair):
    """As deep as planes across the normal tell, and mostly less deep than along normals that differ a little: near
    edges of what is flat a ray tells the way, which need not be the shortest."""
    a, b = pair
    tried = shortest = 0
    for overlap in OVERLAP:
        for _ in range(6):
            X, Y = near(a, b, -overlap)
            A, B = placed(a, X), placed(b, Y)

            def deep(n, A=A, B=B):
                return n @ B.support(n) - n @ A.support(-n)

            n, apart, p, q = cores(a, X, b, Y)
            others = n + 1e-3 * RNG.normal(size=(40, 3))
            is_shortest = all(deep(m / np.linalg.norm(m)) >= -apart - 1e-13 for m in others)
            exact = abs(apart + deep(n)) < 1e-13 and np.linalg.norm(p - q - apart * n) < 1e-13
            assert -apart == pytest.approx(deep(n), abs=1e-8)
            tried, shortest = tried + 1, shortest + (is_shortest and exact)
    assert shortest >= (0.8 if EGG in pair else 0.5) * tried


def rim(body, circle, angle):
    """A point of a rim of the core of a cylinder."""
    s, r = CYLINDER, placed(CYLINDER, Pose()).radius
    R, h = s.radius - r, circle * (s.height / 2 - r)
    return body @ np.array([R * np.cos(angle), R * np.sin(angle), h])


def test_rims_that_cross_are_as_far_apart_as_by_their_angles():
    """Against SciPy, over the angles of two rims; which of the rims are nearest, is known from all of their points."""
    angles, compared = np.linspace(0, 2 * np.pi, 60, endpoint=False), 0
    for _ in range(30):
        X, Y = near(CYLINDER, CYLINDER, 3e-3)
        _, found, p, q = cores(CYLINDER, X, CYLINDER, Y)
        ends = [np.array([[rim(P, side, t) for t in angles] for side in (-1, 1)]) for P in (X, Y)]
        gaps = np.linalg.norm(ends[0][:, :, None, None] - ends[1][None, None], axis=-1)
        i, j, k, m = np.unravel_index(np.argmin(gaps), gaps.shape)

        def gap(t, X=X, Y=Y, i=i, k=k):
            d = rim(X, 2 * i - 1, t[0]) - rim(Y, 2 * k - 1, t[1])
            return d @ d

        least = minimize(gap, (angles[j], angles[m]), method="BFGS", options={"gtol": 1e-12})
        if np.linalg.norm(rim(X, 2 * i - 1, least.x[0]) - p) > 1e-5:  # a side or an end is nearer than the rims
            assert found < np.sqrt(least.fun)
            continue
        compared += 1
        assert found == pytest.approx(np.sqrt(least.fun), abs=1e-12)
        assert rim(Y, 2 * k - 1, least.x[1]) == pytest.approx(q, abs=1e-6)
    assert compared > 5


def shortest_way(a, b, apart):
    """Poses as of `near`; where the cores overlap, such that they leave each other along the normal, not by a ray."""
    for _ in range(20):
        X, Y = P = near(a, b, apart)
        n, found, p, q = cores(a, X, b, Y)
        if np.linalg.norm(p - q - found * n) < 1e-13:
            break
    return P


def scaled(shape, x):
    """The shape with its first measure changed by a factor."""
    match shape:
        case shapes.Cylinder(radius, height):
            return shapes.Cylinder(x * radius, height)
        case shapes.Cone(radius, height, top):
            return shapes.Cone(x * radius, height, top)
        case shapes.Ellipsoid((first, second, third)):
            return shapes.Ellipsoid((x * first, second, third))
        case shapes.Box((first, second, third)):
            return shapes.Box((x * first, second, third))
        case shapes.Capsule(radius, height):
            return shapes.Capsule(radius, x * height)
    return shape


@pytest.mark.parametrize("pair", PAIRS, ids=NAMES)
def test_normals_depths_and_points_have_the_derivatives_of_differences(pair):
    """By the pose of a and a measure of each; of cores that overlap, where the way out is the shortest."""
    a, b = pair

    def touch(x, at, on):
        X, Y = (Pose.unchecked(np.reshape(y[3:], (3, 3)), y[:3]) for y in (at, on))
        n, (p,), depth = convex_on_convex(
            placed(scaled(a, x[6]), X @ Pose.exp(x[:6])), placed(scaled(b, x[7]), Y), False
        )
        return np.concatenate([n, depth, p])

    found_at = pt.kernel("(8),(12),(12)->(7)")(touch)
    slopes, back, x = pt.jacobian(found_at), pt.vjp(found_at), np.array([0, 0, 0, 0, 0, 0, 1, 1.0])
    for apart in (1e-2, 1e-3, -1e-3):
        at, on = (np.concatenate([P.p, P.R.ravel()]) for P in shortest_way(a, b, apart))
        found, c = slopes(x, at, on), RNG.normal(size=7)
        off = []
        for h in (1e-3 * abs(apart), 1e-4 * abs(apart)):  # a kink may lie within a difference
            halves = [
                [found_at(x + s * e, at, on) - found_at(x - s * e, at, on) for e in h * np.eye(8)] for s in (1, 0.5)
            ]
            wanted = np.transpose((8 * np.array(halves[1]) - np.array(halves[0])) / (6 * h))
            scale = np.repeat([max(1.0, np.abs(wanted[k]).max()) for k in (slice(0, 3), [3], slice(4, 7))], (3, 1, 3))
            off.append(np.abs(found - wanted) / scale[:, None])
        assert np.max(np.minimum(*off)) < 2e-6
        assert back(x, at, on, c)[1] == pytest.approx(c @ found, abs=1e-6 * np.abs(found).max())


STEPPED = [(CYLINDER, CYLINDER), (CYLINDER, BOX), (CONE, BOX), (EGG, EGG), (EGG, BOX), (CLOUD, CYLINDER)]


@pytest.mark.parametrize("pair", STEPPED, ids=["-".join(type(s).__name__ for s in pair) for pair in STEPPED])
@pytest.mark.parametrize("listed", [False, True], ids=["alone", "listed"])
def test_steps_have_the_slopes_of_differences(pair, listed):
    """Two steps, by the state and a number, at poses that touch, also with cores that overlap."""
    a, b = pair
    world = pt.World(gravity=(0, 0, 0))
    for name, shape in (("a", a), ("b", b)):
        world.add_body(name, pt.Inertia.sphere(1.0, 0.2), shapes=[pt.Collider(shape)], position=(0, 0, name == "b"))
    world.collide(["a"], ["b"], surface=pt.Material(1e4, 0.5, 0.5), **({"capacity": 4} if listed else {}))
    system = CompiledSystem(
        System(world.description, ("a.mass",) if listed else ("a-b.stiffness",)), "implicit", {}, False
    )
    kernel = pt.kernel(f"({system.ny}),({system.np})->({system.ny})")(
        lambda y, p: system._advance_state(y, p, 0.0, 2e-3, 2)
    )
    along, p, nq = pt.jvp(kernel, wrt=(0, 1)), system.parameters({}, {}), system.system.nq
    mech, off = system.system.mechanism, []
    for depth in (1e-3, 2e-3, 4e-3, 2e-2):
        X, Y = shortest_way(a, b, placed(a, Pose()).radius + placed(b, Pose()).radius - depth)
        y = np.array(system.start(p))
        for name, P in (("a", X), ("b", Y)):
            y[mech.q_slices[mech.index(name)]] = np.concatenate([P.quaternion(), P.p])
        y[nq : nq + 12] = 0.3 * RNG.normal(size=12)
        dy, dp = RNG.normal(size=(6, system.ny)), 0.1 * p * RNG.normal(size=(6, system.np))
        dy[:, :nq] *= 1e-3
        dy[:, nq + 12 :] *= 0.0 if listed else 1e-4  # how springs are stretched, and which pair is where in the list
        _, found = along(y, p, dy, dp)
        halves = [(kernel(y + s * dy, p + s * dp) - kernel(y - s * dy, p - s * dp)) / (2 * s) for s in (1e-4, 5e-5)]
        wanted = (4 * halves[1] - halves[0]) / 3
        off.append(np.max(np.abs(found - wanted) / np.abs(wanted).max(axis=1, keepdims=True)))
    assert max(off) < 1e-6


DOWN, LYING = np.diag([1.0, -1.0, -1.0]), Rotation.from_rotvec([np.pi / 2, 0, 0]).as_matrix()
SQUARE = {
    "stands on a face": (CYLINDER, np.eye(3), (0, 0, 0.55), shapes.Box((1, 1.2, 0.6))),
    "lies on a face": (CYLINDER, LYING, (0, 0, 0.5), shapes.Box((1, 1.2, 0.6))),
    "lies along an edge": (CYLINDER, LYING, (0.5, 0, 0.5), shapes.Box((1, 1.2, 0.6))),
    "coaxial": (CYLINDER, np.eye(3), (0, 0, 0.5), CYLINDER),
    "side by side": (CYLINDER, np.eye(3), (0.4, 0, 0), CYLINDER),
    "crossed": (CYLINDER, LYING, (0, 0, 0.45), CYLINDER),
    "tip on a face": (CONE, DOWN, (0.1, 0, 0.55), shapes.Box((1, 1.2, 0.6))),
    "tip on tip": (CONE, DOWN, (0, 0, 0.5), CONE),
    "a cone on a cylinder": (CONE, np.eye(3), (0, 0, 0.5), CYLINDER),
    "an egg on a face": (EGG, np.eye(3), (0, 0, 0.45), shapes.Box((1, 1.2, 0.6))),
    "an egg on an edge": (EGG, np.eye(3), (0.6, 0, 0.35), shapes.Box((1, 1.2, 0.6))),
    "eggs": (EGG, np.eye(3), (0, 0, 0.3), EGG),
    "a cube on a cylinder": (CUBE, np.eye(3), (0, 0, 0.65), CYLINDER),
    "a capsule on a tip": (CAPSULE, LYING, (0, 0, 0.35), CONE),
}


@pytest.mark.parametrize("name", SQUARE)
def test_square_poses_have_depths_to_rounding_and_finite_derivatives(name):
    """Parallel faces and edges, coaxial rims, centres that meet: also with rounding about them."""
    a, R, p, b = SQUARE[name]

    def touch(p, R):
        parts = [
            convex_on_convex(placed(a, Pose.unchecked(R, p)), placed(b, Pose()), flat) for flat in (False, a is not EGG)
        ]
        return np.concatenate([x.ravel() for part in parts for x in part])

    found_at = pt.kernel("(3),(3,3)->(n)")(touch)
    along, every = pt.jvp(found_at, wrt=(0, 1)), np.eye(12)
    ways = every[:, :3], every[:, 3:].reshape(12, 3, 3)
    for up in (-1e-3, 1e-3, -0.02, -0.05):
        for tilt in (0.0, 1e-15, 1e-12):
            at, turn = np.array(p) + [0, 0, up], Rotation.from_rotvec(tilt * RNG.normal(size=3)).as_matrix() @ R
            found = found_at(at, turn)
            A, B, n = placed(a, Pose.unchecked(turn, at)), placed(b, Pose()), found[:3]
            deep = A.radius + B.radius + n @ B.support(n) - n @ A.support(-n)
            assert np.all(np.isfinite(found))
            assert np.all(np.isfinite(along(at, turn, *ways)[1]))
            assert found[6] == pytest.approx(deep, abs=1e-9)
    assert np.all(np.isfinite(found_at(np.zeros(3), np.eye(3))))
    assert np.all(np.isfinite(along(np.zeros(3), np.eye(3), *ways)[1]))


@pytest.mark.parametrize("pair", PAIRS, ids=NAMES)
def test_nothing_jumps_from_apart_to_overlapping_cores(pair):
    """Along a line from 1e-4 m apart to 2e-4 m deep, in steps of 1e-6 m and, about where cores meet, of 1e-8 m: the
    depth changes as the normal says, and the normal little. Where an edge or a corner of a core enters another core by
    an edge, the normal jumps; those pairs are looked at while the cores are apart."""
    a, b = pair
    X, Y = near(a, b, 1e-4)
    u = cores(a, X, b, Y)[0]
    way = u + 0.2 * np.cross(u, [0.6, -0.64, 0.48])
    smooth = EGG in pair or pair == (CYLINDER, CYLINDER)
    for along in (np.arange(-1e-4, 3e-4, 1e-6), 1e-4 + np.arange(-3e-6, 3e-6, 1e-8))[: 1 + smooth]:
        found = [cores(a, Pose(X.R, X.p - s * way), b, Y) for s in along]
        normals, gaps, step = np.array([f[0] for f in found]), np.array([f[1] for f in found]), along[1] - along[0]
        seen = (gaps[1:] > 4e-5) | smooth
        off = np.diff(gaps) + step * 0.5 * (normals[1:] + normals[:-1]) @ way
        turns = np.abs(np.diff(normals, axis=0)).max(axis=1)
        assert gaps[0] > 0
        assert gaps[-1] < 0 or not smooth
        assert np.sum(seen) > 50
        assert np.abs(off).max(where=seen, initial=0.0) < (1e-3 if smooth else 0.2) * step
        assert turns.max(where=seen, initial=0.0) < 3e4 * step


def test_a_pair_has_the_same_depth_whichever_search_has_found_it():
    """A depth does not depend on what lies within the rounding of a pose."""
    for pair in PAIRS:
        X, Y = near(*pair, 4e-3)
        first = patches(pair[0], X, pair[1], Y)[0]
        for _ in range(3):
            moved = patches(pair[0], Pose(X.R, X.p + 1e-12 * direction()), pair[1], Y)[0]
            assert np.max(moved.depths) == pytest.approx(np.max(first.depths), abs=1e-11)
            assert moved.normal == pytest.approx(first.normal, abs=1e-8)


def test_what_is_held_has_its_value_and_no_slope():
    function = pt.kernel("(3)->(3)")(lambda x: held(x) * x)
    x = np.array([1.0, -2.0, 0.5])
    assert np.array_equal(function(x), x * x)
    assert np.array_equal(pt.jacobian(function)(x), np.diag(x))
    assert np.array_equal(pt.vjp(function)(x, np.ones(3))[1], x)
    assert np.array_equal(held(x), x)
