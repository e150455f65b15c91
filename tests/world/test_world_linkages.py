"""Known mechanisms with loops, against what is known of them: Bricard, governor, Stewart, Peaucellier, Jansen."""

from functools import partial

import numpy as np

import poinsot as pt
from poinsot.spatial import rotation

HINGE = pt.revolute((0, 0, 1))


def rod(mass, length):
    """A thin rod along x, from the origin on."""
    moment = mass * length**2 / 12
    return pt.Inertia(mass, (length / 2, 0, 0), np.diag([moment * 1e-3, moment, moment]))


def test_bricard():
    """Six equal bars on six hinges at right angles, closed by a seventh hinge to the ground (IFToMM A04).

    Five bars of 1 m and 1 kg move, with one degree of freedom although 5 hinges and 5 rows make none; it swings under
    gravity, and its energy stays.
    """
    world = pt.World(gravity=(0, -9.81, 0))
    corners = np.array([(0, 0, 0), (1, 0, 0), (1, -1, 0), (1, -1, 1), (0, -1, 1), (0, 0, 1)], dtype=float)
    axes = [
        np.cross(corners[k] - corners[k - 1], corners[(k + 1) % 6] - corners[k]) for k in range(6)
    ]  # at right angles to both bars
    for k in range(5):
        along = corners[k + 1] - corners[k]
        moment = (np.eye(3) - np.outer(along, along)) / 12
        parent, at = (f"bar{k - 1}", corners[k] - corners[k - 1]) if k else (None, corners[0])
        world.add_body(f"bar{k}", pt.Inertia(1.0, along / 2, moment), parent, pt.revolute(axes[k]), at)
    world.close("last", "world", "bar4", pt.revolute(axes[5]), corners[5], corners[5] - corners[4])
    mobility = world.mobility()
    assert (mobility.degrees_of_freedom, mobility.redundant) == (1, 1)
    run = world.simulate(2.0, 1e-3)
    assert np.ptp(run.data.q.values) > 0.5
    assert run.ledger.relative_residual.max() < 1e-9


def test_flyball_governor():
    """Two arms and two links lift a sleeve; at a steady speed the angle is that of Watt: cos a = (1 + M/m) g / (w^2 l).

    Arms without mass but for the balls (m) at their ends, links as long, without mass; the sleeve has the mass M.
    """
    l, m, M, angle = 0.4, 1.0, 3.0, 0.7
    speed = np.sqrt((1 + M / m) * 9.81 / (l * np.cos(angle)))
    world = pt.World(gravity=(0, 0, -9.81))
    world.add_body("spindle", pt.Inertia.cylinder(1.0, 0.02, 1.0), joint=pt.revolute((0, 0, 1)))
    light = 1e-9 * np.eye(3)
    for side, turn in (("left", np.pi), ("right", 0.0)):
        ball, X = pt.Inertia(m, (0, 0, -l), light), pt.Pose(rotation.about_z(turn))
        world.add_body(f"{side}-arm", ball, "spindle", pt.revolute((0, -1, 0)), X, q=angle)  # it hangs down at zero
    world.add_body(
        "sleeve", pt.Inertia.cylinder(M, 0.05, 0.1), "spindle", pt.prismatic((0, 0, 1)), q=-2 * l * np.cos(angle)
    )
    for side in ("left", "right"):
        world.close(f"{side}-link", f"{side}-arm", "sleeve", pt.distance(l), (0, 0, -l))
    world.drive("spindle", lambda t: speed * t)
    assert world.mobility().degrees_of_freedom == 1
    data = world.simulate(1.0, 1e-3).data
    angles = data.q.values[:, [1, 2]]
    np.testing.assert_allclose(angles, angle, atol=1e-7)  # moments of 1e-9 kg m^2 in 0.16 kg m^2
    np.testing.assert_allclose(data["spindle.drive.force"], 0.0, atol=1e-6)


def leg(length, k, t):
    """The length of a leg at the time t."""
    return length + 0.02 * np.sin(2 * t + k)


def stewart():
    """A platform on six legs with ball joints at both ends, whose lengths are driven."""
    world = pt.World(gravity=(0, 0, -9.81))
    base = [1.0 * np.array([np.cos(a), np.sin(a), 0]) for a in np.radians([-10, 10, 110, 130, 230, 250])]
    top = [0.6 * np.array([np.cos(a), np.sin(a), 0]) for a in np.radians([-50, 50, 70, 170, 190, 290])]
    world.add_body("platform", pt.Inertia.cylinder(20.0, 0.6, 0.05), position=(0, 0, 1))
    for k, (a, b) in enumerate(zip(base, top, strict=True)):
        way = b + (0, 0, 1) - a
        z = way / np.linalg.norm(way)
        x = np.cross((0, 1, 0), z) / np.linalg.norm(np.cross((0, 1, 0), z))
        X = pt.Pose(np.stack([x, np.cross(z, x), z], axis=1), a)
        body = pt.Inertia.cylinder(1.0, 0.03, 0.5)
        world.add_body(f"lower{k}", body, joint=pt.universal((1, 0, 0), (0, 1, 0)), placement=X)
        world.add_body(f"upper{k}", body, f"lower{k}", pt.prismatic((0, 0, 1)), q=np.linalg.norm(way))
        world.close(f"ball{k}", f"upper{k}", "platform", pt.spherical(), placement_b=tuple(b))
        world.drive(f"upper{k}", partial(leg, np.linalg.norm(way), k))
    return world, base, top


def test_stewart_platform():
    """Legs of given lengths leave no freedom: the platform is where all six are as long as they should be."""
    world, base, top = stewart()
    assert world.mobility().degrees_of_freedom == 0
    data = world.simulate(0.5, 1e-3).data
    X = data.sel(body="platform").isel(time=-1)
    R = pt.Pose.from_quaternion(X.orientation.values).R
    for k, (a, b) in enumerate(zip(base, top, strict=True)):
        length = np.linalg.norm(X.position.values + R @ b - a)
        assert abs(length - leg(np.linalg.norm(b + (0, 0, 1) - a), k, 0.5)) < 1e-12


def test_peaucellier_draws_a_straight_line():
    """Arms a, rhombus b, crank c as long as the ground: the far corner runs along x = (a^2 - b^2) / 2c."""
    a, b, c = 5.0, 2.0, 2.0
    world = pt.World(gravity=(0, 0, 0))
    world.add_body("crank", rod(1.0, c), joint=HINGE, placement=(c, 0, 0), q=0.4, v=15.0)
    world.add_body("up", rod(1.0, a), joint=HINGE, q=0.6)
    world.add_body("down", rod(1.0, a), joint=HINGE, q=-0.2)
    for arm, bend in (("up", -1.0), ("down", 1.0)):
        world.add_body(f"{arm}-near", rod(1.0, b), arm, HINGE, (a, 0, 0), q=2.3 * bend)
        world.add_body(f"{arm}-far", rod(1.0, b), arm, HINGE, (a, 0, 0), q=1.6 * bend)
    pin = pt.on_line((0, 0, 1))
    world.close("near-up", "crank", "up-near", pin, (c, 0, 0), (b, 0, 0))
    world.close("near-down", "crank", "down-near", pin, (c, 0, 0), (b, 0, 0))
    world.close("far", "up-far", "down-far", pin, (b, 0, 0), (b, 0, 0))
    assert world.mobility().degrees_of_freedom == 1
    run = world.simulate(0.5, 1e-3)
    place = np.array([tip(run, "up-far", b, k) for k in range(0, len(run.data.time), 5)])
    np.testing.assert_allclose(place[:, 0], (a**2 - b**2) / (2 * c), rtol=0, atol=1e-12)
    assert np.ptp(place[:, 1]) > 0.5


def tip(run, body, length, k):
    """The end of a bar along its x axis (3,), at a record."""
    here = run.data.sel(body=body).isel(time=k)
    return pt.Pose.from_quaternion(here.orientation.values, here.position.values) @ np.array([length, 0, 0])


def jansen():
    """One leg of a Strandbeest: a crank moves two triangles and the bars between them. Lengths in cm."""
    a, c, d, e, f, g, h, i, j, k, l, m = 38.0, 39.3, 40.1, 55.8, 39.4, 36.7, 65.7, 49.0, 50.0, 61.9, 7.8, 15.0

    def corner(base, left, right):
        """The third corner of a triangle on a base along x: from the origin `left` away, from its end `right`."""
        x = (base**2 + left**2 - right**2) / (2 * base)
        return x, np.sqrt(left**2 - x**2)

    world, pin = pt.World(gravity=(0, -9.81, 0)), pt.on_line((0, 0, 1))
    world.add_body("crank", rod(1.0, m / 100), joint=HINGE, placement=(a / 100, l / 100, 0))
    upper, lower = corner(d, 41.5, e), corner(g, i, h)
    world.add_body("hip", rod(1.0, d / 100), joint=HINGE, q=np.pi)  # from the pivot, d to the knee's link; b up
    world.add_body("top-bar", rod(1.0, j / 100), "crank", HINGE, (m / 100, 0, 0), q=2.5)
    world.add_body("long-bar", rod(1.0, k / 100), "crank", HINGE, (m / 100, 0, 0), q=-2.5)
    world.add_body("short-bar", rod(1.0, c / 100), joint=HINGE, q=-1.9)
    world.add_body("foot", rod(1.0, g / 100), "short-bar", HINGE, (c / 100, 0, 0), q=-1.3)
    world.close("top", "hip", "top-bar", pin, (upper[0] / 100, -upper[1] / 100, 0), (j / 100, 0, 0))
    world.close("bottom", "short-bar", "long-bar", pin, (c / 100, 0, 0), (k / 100, 0, 0))
    world.close("knee", "hip", "foot", pt.distance(f / 100), (d / 100, 0, 0), (g / 100, 0, 0))
    world.drive("crank", lambda t: 2 * np.pi * t)
    return world, np.array([lower[0] / 100, lower[1] / 100, 0])


def test_jansen_walks():
    """The foot goes around a closed curve, once per turn of the crank, and is flat where it is on the ground."""
    world, toe = jansen()
    assert world.mobility().degrees_of_freedom == 0
    data = world.simulate(2.0, 1e-3).data
    foot = data.sel(body="foot")
    poses = zip(foot.orientation.values, foot.position.values, strict=True)
    way = np.array([pt.Pose.from_quaternion(q, p) @ toe for q, p in poses])
    turn = int(np.searchsorted(data.time.values, 1.0 - 1e-9))
    np.testing.assert_allclose(way[turn:], way[: len(way) - turn], rtol=0, atol=1e-9)
    x, y = way[:turn, :2].T
    assert np.ptp(x) > 2.5 * np.ptp(y) > 0.5  # a long stride and a low lift [m]
    assert np.mean(y < y.min() + 0.005) > 0.35  # the part of a turn that it spends on the ground
