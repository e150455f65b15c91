"""Bodies that spin as they fly: stepped in axes at rest, about their centre of mass, whatever else is in the world."""

from functools import cache

import numpy as np
import pytest

import poinsot as pt
from poinsot.spatial import quaternion
from poinsot.world.builder import BodyHandle

GENERAL = ("euler", "midpoint", "rk4", "semi-implicit euler")
PANEL = pt.Pose(p=(1.0, 0, 0)) @ pt.Inertia.box(20.0, (2, 1, 0.05))
VELOCITY = np.array([7.5, 1.0, -2.0])
BUS = pt.Inertia(100.0, (0.1, 0.2, -0.1), np.diag([10.0, 12.0, 15.0]))
coarse = pytest.mark.filterwarnings("ignore::poinsot.run.ledger.LedgerWarning")  # of angular momentum, at order 1


def satellite(rpm=10.0, bus=BUS, **options):
    """One that does not spin about a principal axis, with a tank far from its centre of mass; no gravity."""
    world = pt.World(gravity=options.pop("gravity", (0, 0, 0)))
    options = {"velocity": VELOCITY, "angular_velocity": (0.02, 0.03, pt.rpm(rpm))} | options
    world.add_body("sat", bus, **options).add(pt.Tank("tank", capacity=20, contents=10, position=(0, 0.5, 0.3)))
    return world


def points_of(run, *points):
    """The paths (r, ..., 3) [m] of points of the satellite."""
    q, p = np.asarray(run["sat"].orientation), np.asarray(run["sat"].position)
    return [p + quaternion.rotate(q, point) for point in points]


def velocity_of(run, point):
    """The velocity (..., 3) [m/s] of a point of the satellite at the start."""
    q, v, omega = (np.asarray(run["sat"][name])[0] for name in ("orientation", "velocity", "angular_velocity"))
    return v + quaternion.rotate(q, np.cross(omega, point))


def close(a, b, tolerance):
    np.testing.assert_allclose(a, b, rtol=0, atol=tolerance)


@coarse
@pytest.mark.parametrize(("method", "rpm", "step"), [*((name, 10.0, 0.1) for name in GENERAL), ("rk4", 60.0, 0.01)])
def test_a_spinning_satellite_with_a_tank_flies_straight_on(method, rpm, step):
    """For a minute, over 460 m: to rounding, by any method. In body axes RK4 was off by 14 mm, at 8 m/s."""
    run = satellite(rpm).simulate(60.0, step, method=method, every=6.0)
    com = (BUS + pt.Inertia.points([10.0], [(0, 0.5, 0.3)])).com
    (path,) = points_of(run, com)
    close(path, path[0] + np.multiply.outer(run.time, velocity_of(run, com)), 1e-10)
    assert run.ledger.relative_residual[1] < 1e-13


def kepler(a, e, mu, t):
    """Positions (..., 2) [m] on the ellipse from the pericentre on, by Kepler's equation M = E - e sin E."""
    M = np.sqrt(mu / a**3) * t
    E = M
    for _ in range(50):
        E = E - (E - e * np.sin(E) - M) / (1 - e * np.cos(E))
    return np.stack([a * (np.cos(E) - e), a * np.sqrt(1 - e**2) * np.sin(E)], axis=-1)


@pytest.mark.parametrize("drains", [False, True])
def test_a_satellite_with_a_tank_in_orbit(drains):
    """10 rpm, 0.1 s steps, a minute of two-body motion at 8 km/s: within 1e-7 m. What drains through the centre of mass
    at rest takes no momentum along; the gradient of gravity moves the orbit of a body of a metre by 1e-9 m."""
    mu, a, e = 3.986004418e14, 7e6, 0.05
    speed = np.sqrt(mu / a * (1 + e) / (1 - e))
    bus = pt.Inertia(100.0, (0, 0, -0.05), np.diag([10.0, 12.0, 15.0]))
    spin, x0 = np.array([0.0, 0.0, pt.rpm(10)]), np.array([a * (1 - e), 0, 0])
    world = satellite(bus=bus, gravity=pt.CentralGravity(mu=mu), position=x0, velocity=(0, speed, 0))
    world["sat.angular_velocity"] = spin
    world["sat.tank.position"] = (0, 0, 0.5)  # on the axis of spin, so that the centre moves along it only
    if drains:
        BodyHandle(world, "sat").add(pt.Flow("drain", source="tank", rate=0.1, point=(0, 0, 0.5)))
    run = world.simulate(60.0, 0.1, every=1.0)
    assert run.settings["method"] == "rk4"
    axis = np.asarray(run["sat"].position)
    close(axis[:, :2], kepler(a, e, mu, run.time), 1e-7)


def test_pumping_does_not_move_the_centre_of_all_mass():
    """Fuel flows from tank to tank while the satellite spins: the centre of all mass moves on, to 1e-7 m."""
    world = satellite()
    BodyHandle(world, "sat").add(pt.Tank("other", capacity=20, contents=0.0, position=(0.6, -0.5, 0.1)))
    BodyHandle(world, "sat").add(pt.Flow("pump", source="tank", to="other", rate=0.1, lag=1.0, flowing=0.0))
    run = world.simulate(60.0, 0.1, every=1.0)
    bus, left, right = points_of(run, BUS.com, np.array([0, 0.5, 0.3]), np.array([0.6, -0.5, 0.1]))
    masses = np.stack([np.asarray(run.data[f"sat.{name}.contents"]) for name in ("tank", "other")], axis=-1)
    assert masses[-1, 1] > 5.0
    centre = (100.0 * bus + masses[:, :1] * left + masses[:, 1:] * right) / 110.0
    momentum = np.asarray(run.data.momentum)[0]
    close(centre, centre[0] + np.multiply.outer(run.time, momentum / 110.0), 1e-7)


@pytest.mark.parametrize("method", ["rk4", "midpoint"])
def test_varied_masses_fly_straight_on(method):
    """Mass and centre of mass are free numbers; the same to rounding."""
    world = pt.World(gravity=(0, 0, 0))
    world.add_body("sat", BUS, velocity=VELOCITY, angular_velocity=(0.02, 0.03, pt.rpm(10)))
    coms = np.array([(0.1, 0.2, -0.1), (0.0, 0.0, 0.0), (-0.3, 0.1, 0.5)])
    vary = {"sat.mass": np.array([50.0, 100.0, 150.0]), "sat.com": coms}
    run = world.simulate(60.0, 0.1, method=method, vary=vary, every=6.0)
    (path,) = points_of(run, coms)
    close(path, path[0] + np.multiply.outer(run.time, velocity_of(run, coms)), 1e-10)


@pytest.mark.parametrize("method", GENERAL)
def test_a_thrown_ball_does_not_gain_speed(method):
    """At 7 rad/s, 10 ms steps: semi-implicit Euler in body axes gained a fifth of the speed in 1.5 s."""
    world = pt.World(gravity=(0, 0, 0))
    world.add_body("ball", pt.Inertia.sphere(0.4, 0.1), velocity=(3, 4, 0), angular_velocity=(0, 7, 0))
    run = world.simulate(1.5, 1e-2, method=method)
    close(np.linalg.norm(run["ball"].velocity, axis=1), np.full(len(run.time), 5.0), 1e-13)


def tree(joint, **options):
    world = pt.World(gravity=(0, 0, 0))
    world.add_body("sat", BUS, velocity=VELOCITY, angular_velocity=(0.02, 0.03, pt.rpm(10)))
    world.add_body("panel", PANEL, "sat", joint, (1.0, 0, 0), **options)
    return world


def test_a_panel_that_is_fixed_belongs_to_the_body():
    run = tree(pt.fixed()).simulate(60.0, 0.1, method="rk4", every=6.0)
    com = (BUS + pt.Pose(p=(1.0, 0, 0)) @ PANEL).com
    (path,) = points_of(run, com)
    close(path, path[0] + np.multiply.outer(run.time, velocity_of(run, com)), 1e-10)


def test_a_tree_on_a_free_joint_keeps_its_momentum():
    """A panel that swings on a hinge: fourth order, and the centre of all mass is 2e-6 m off after a minute of steps of
    50 ms; in body axes it was 1.5 mm."""
    off = []
    world = tree(pt.revolute((0, 0, 1), stiffness=20.0), v=0.2)
    for step in (0.1, 0.05):
        run = world.simulate(60.0, step, every=60.0)
        q, p = np.asarray(run["panel"].orientation), np.asarray(run["panel"].position)
        panel = p + quaternion.rotate(q, PANEL.com)
        centre = (100.0 * points_of(run, BUS.com)[0] + 20.0 * panel) / 120.0
        momentum = np.asarray(run.data.momentum)[0]
        off.append(np.linalg.norm(centre[-1] - centre[0] - 60.0 * momentum / 120.0))
    assert off[1] < 2e-6
    assert np.log2(off[0] / off[1]) > 3.5


@cache
def draining():
    """Two bodies on a spring; one has a tank that empties, the other a panel on a hinge."""
    world = tree(pt.revolute((0, 0, 1), stiffness=40.0), v=0.5)
    other = world.add_body("other", pt.Inertia(30.0, (0, 0.1, 0.1), np.eye(3)), position=(0, 0, 3))
    other.add(pt.Tank("tank", contents=20.0, position=(0.5, 0, 0)))
    other.add(pt.Flow("drain", source="tank", rate=4.0, point=(0.5, 0.2, 0), velocity=(0, 30, 0), lag=0.2))
    world.add_spring("rope", "sat", "other", 300.0, 2.5, 5.0, point_a=(0.3, 0, 0.2))
    return world


@cache
def drained(method, step):
    """The state after 0.6 s."""
    return draining().simulate(0.6, step, method=method, every=0.6, ledger=False).y[-1]


@pytest.mark.parametrize(("method", "order"), [("semi-implicit euler", 1), ("midpoint", 2), ("rk4", 4)])
def test_order_with_a_tank_that_drains(method, order):
    steps = {1: 2e-3, 2: 1e-2, 4: 4e-2}[order] / 2.0 ** np.arange(3)
    errors = np.array([np.abs(drained(method, h) - drained("rk4", 1e-3)).max() for h in steps])
    assert np.log2(errors[:-1] / errors[1:]).mean() == pytest.approx(order, abs=0.3)


def test_the_same_bits_in_a_batch_and_for_any_records():
    world = satellite(gravity=(0, 0, -1.0))
    BodyHandle(world, "sat").add(pt.Flow("drain", source="tank", rate=0.1, point=(0, 0.5, 0)))
    contents = np.linspace(5.0, 15.0, 9)
    many = world.simulate(2.0, 1e-2, vary={"sat.tank.contents": contents}, every=1.0, ledger=True)
    for k in (0, 5):
        for every in (1.0, 0.01):
            one = world.simulate(2.0, 1e-2, vary={"sat.tank.contents": contents[k]}, every=every)
            np.testing.assert_array_equal(one.y[-1], many.y[-1, k])


@pytest.mark.parametrize("fills", [False, True])
def test_the_centre_of_mass_follows_the_contents(fills):
    """A tank far from the axis empties, or fills from nothing: at 0.1 s the centre of mass is within 2e-8 m of where
    small steps lead."""
    ends = []
    world = satellite()
    world["sat.tank.contents"] = 0.0 if fills else 10.0
    end = {"to": "tank"} if fills else {"source": "tank"}
    BodyHandle(world, "sat").add(pt.Flow("fuel", rate=0.1, lag=1.0, flowing=0.0, **end))
    for step in (0.1, 0.02):
        run = world.simulate(60.0, step, every=60.0)
        contents = float(run.data["sat.tank.contents"][-1])
        ends.append(points_of(run, (BUS + pt.Inertia.points([contents], [(0, 0.5, 0.3)])).com)[0][-1])
    close(ends[0], ends[1], 2e-8)
