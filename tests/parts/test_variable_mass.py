"""Variable mass: against closed forms, particles, and beads that slide on rails."""

from itertools import pairwise

import numpy as np
import pytest
from scipy.integrate import quad, solve_ivp

import poinsot as pt
from poinsot.spatial import motion, quaternion

SHELL = pt.Inertia.box(30.0, (0.3, 0.4, 0.5))
TUMBLING = {"angular_velocity": (0.4, -0.3, 0.8), "velocity": (1.0, 0.0, 0.0)}


def at_rest(inertia: pt.Inertia = SHELL, **start: object) -> tuple[pt.World, object]:
    world = pt.World(gravity=(0, 0, 0))
    return world, world.add_body("craft", inertia, **start)


# Closed forms.


def test_tsiolkovsky():
    """v = c log(m0/m) - g t, as long as the flow is steady."""
    world = pt.World(gravity=(0, 0, -9.81))
    rocket = world.add_body("rocket", pt.Inertia.cylinder(200.0, 0.5, 8.0))
    rocket.add(pt.Tank("fuel", capacity=900.0, contents=800.0, radius=0.4, height=4.0))
    rocket.add(pt.Thruster("engine", tank="fuel", thrust=25_000.0, exhaust_speed=2500.0, point=(0, 0, -4)))
    run = world.simulate(70.0, 0.01)
    m = 200.0 + run.data["rocket.fuel.contents"].values
    np.testing.assert_allclose(m, 1000.0 - 10.0 * run.time, rtol=1e-12)
    np.testing.assert_allclose(run["rocket"].velocity[:, 2], 2500.0 * np.log(1000.0 / m) - 9.81 * run.time, atol=1e-8)
    np.testing.assert_allclose(run.data["rocket.engine.force"][:, 2], 25_000.0, rtol=1e-12)
    assert run.ledger.relative_residual.max() < 1e-10


@pytest.mark.parametrize("distance", [0.0, 0.7, 2.0])
def test_jet_damping(distance):
    """omega = omega0 (I/I0)^((l^2 - k^2)/k^2) normal to the jet, where I falls by k^2 for each kilogram that leaves.

    From I omega' = -(I' + r l^2) omega, I' = -r k^2: the exhaust takes r l^2 omega along, and the contents give up what
    they had. With l < k the rocket speeds up. Thomson, Introduction to Space Dynamics (1961), chapter 8.
    """
    world, rocket = at_rest(pt.Inertia.cylinder(50.0, 0.3, 3.0), angular_velocity=(0.0, 0.3, 0.0))
    tank = pt.Tank("fuel", contents=100.0, radius=0.25, height=2.4)
    rocket.add(tank)
    rocket.add(pt.Thruster("engine", tank="fuel", thrust=8000.0, exhaust_speed=2000.0, point=(0, 0, -distance)))
    run = world.simulate(15.0, 5e-3)
    k2 = tank.layer(50.0).moment[1, 1]
    I = world.mechanism.links[0].inertia.moment[1, 1] - 4.0 * run.time * k2
    expected = 0.3 * (I / I[0]) ** ((distance**2 - k2) / k2)
    np.testing.assert_allclose(run["craft"].angular_velocity[:, 1], expected, rtol=1e-10)
    assert run.ledger.relative_residual[:3].max() < 1e-10


def test_settling_tank_drains_layer_by_layer():
    """dG/dm is the layer that leaves, and the first moment of mass falls at the level."""
    for tank in (
        pt.Tank("a", capacity=10.0, contents=6.0, position=(0.1, 0.2, 0.3), size=(0.3, 0.4, 0.6), settles=True),
        pt.Tank("a", capacity=10.0, contents=6.0, position=(0.1, 0.2, 0.3), radius=0.3, height=0.6, settles=True),
        pt.Tank("a", contents=6.0, position=(0.1, 0.2, 0.3), radius=0.3),
        pt.Tank("a", contents=6.0, position=(0.1, 0.2, 0.3), size=(0.3, 0.4, 0.6)),
        pt.Tank("a", contents=6.0, position=(0.1, 0.2, 0.3)),
    ):
        G = lambda m, tank=tank: tank.inertia(np.array(m)).spatial()  # noqa: E731
        # G is a cubic in m, for which this difference is exact.
        slope = (8 * (G(7.0) - G(5.0)) - (G(8.0) - G(4.0))) / 12
        np.testing.assert_allclose(tank.layer(np.array(6.0)).spatial(), slope, atol=1e-13)
        climb = tank.layer(np.array(7.0)).com - tank.layer(np.array(6.0)).com
        np.testing.assert_allclose(tank.climb(), climb, atol=1e-15)
    full = pt.Tank("a", capacity=10.0, contents=10.0, size=(0.3, 0.4, 0.6), settles=True).inertia(np.array(10.0))
    np.testing.assert_allclose(full.spatial(), pt.Inertia.box(10.0, (0.3, 0.4, 0.6)).spatial(), atol=1e-15)


# Mass that is released.


@pytest.mark.parametrize("shape", [{}, {"radius": 0.3}, {"size": (0.2, 0.9, 0.4)}])
def test_release_leaves_the_twist_unchanged(shape):
    """Released in place, mass takes its own momentum along: the rest accelerates as if nothing had left."""
    world, craft = at_rest(**TUMBLING)
    craft.add(pt.Tank("load", contents=15.0, position=(0.5, 0.2, -0.3), **shape))
    before = world.motion().vdot
    craft.add(pt.Flow("drop", source="load", rate=50.0))
    np.testing.assert_allclose(world.motion().vdot, before, atol=1e-14)


def test_half_of_the_mass_dumped_in_two_seconds():
    """A craft that rotates about a principal axis that stays one keeps its angular velocity and those of its points."""
    spin = np.array([0.0, 0.0, 1.7])
    world, craft = at_rest(angular_velocity=spin, velocity=(3.0, 0.0, 0.0))
    for k, y in enumerate((-1.0, 1.0)):
        craft.add(pt.Tank(f"t{k}", contents=15.0, position=(0, y, 0)))
        craft.add(pt.Flow(f"dump{k}", source=f"t{k}", rate=pt.pulse(15.1, 1.0, 2.0), lag=2e-3))
    run = world.simulate(4.0, 1e-3)
    mass = 30.0 + run.data["craft.t0.contents"].values + run.data["craft.t1.contents"].values
    assert mass[0] == 60.0
    assert 30.0 <= mass[-1] < 30.1
    np.testing.assert_allclose(run["craft"].angular_velocity.values, np.tile(spin, (len(run.time), 1)), atol=1e-13)
    np.testing.assert_allclose(run["craft"].velocity.values, np.tile([3.0, 0, 0], (len(run.time), 1)), atol=1e-11)
    assert run.ledger.relative_residual.max() < 1e-10


def test_cloud_of_particles_released_one_by_one():
    """A tumbling craft drains a tank; or a cloud of n particles, glued to it, is released one by one, each with its
    own velocity. The two motions converge as 1/n^2, if each is released in the middle of its interval."""
    where, T, r = np.array([0.5, 0.2, -0.3]), 3.0, 4.0
    world, craft = at_rest(**TUMBLING)
    craft.add(pt.Tank("load", contents=15.0, position=where))
    craft.add(pt.Flow("leak", source="load", rate=r))
    drained = world.simulate(T, 1e-3)

    def glued(count: int, n: int) -> pt.Inertia:
        m = r * T / n
        left = 15.0 - m * count
        return SHELL + pt.Inertia(left, where, np.zeros((3, 3)))

    def cloud(n: int) -> np.ndarray:
        V = np.concatenate([TUMBLING["angular_velocity"], TUMBLING["velocity"]])
        times = np.concatenate([[0.0], (np.arange(n) + 0.5) * T / n, [T]])
        for count, (t0, t1) in enumerate(pairwise(times)):
            G = glued(count, n).spatial()
            f = lambda t, V, G=G: np.linalg.solve(G, motion.ad_dual(V, G @ V))  # noqa: E731
            h = (t1 - t0) / 8
            for _ in range(8):
                k1 = f(0, V)
                k2 = f(0, V + h / 2 * k1)
                k3 = f(0, V + h / 2 * k2)
                V = V + h / 6 * (k1 + 2 * k2 + 2 * k3 + f(0, V + h * k3))
        return V

    V = np.concatenate([drained["craft"].angular_velocity[-1], drained.y[-1][7:13][3:]])
    coarse, fine = (np.abs(cloud(n) - V).max() for n in (20, 40))
    assert fine < 1e-4
    assert coarse / fine == pytest.approx(4.0, rel=0.1)


# Mass that moves inside.


def pumping(craft: pt.Inertia = SHELL, **flow: object) -> pt.World:
    world, body = at_rest(craft)
    body.add(pt.Tank("left", contents=8.0, position=(0.4, 1.0, 0.0)))
    body.add(pt.Tank("right", position=(0.6, -1.0, 0.0)))
    body.add(pt.Flow("pump", source="left", to="right", **{"rate": 1.0, **flow}))
    return world


def test_pumping_rotates_a_free_craft_about_its_fixed_centre_of_mass():
    """dtheta/dm = -(a x b)/I about the centre of all mass: angular momentum stays zero, and the attitude changes."""
    world = pumping(rate=pt.pulse(5.0, 0.5, 3.0))
    run = world.simulate(6.0, 1e-3)
    a, b = np.array([0.4, 1.0, 0.0]), np.array([0.6, -1.0, 0.0])

    def slope(moved: float) -> float:
        whole = SHELL + pt.Inertia.points([8.0 - moved, moved], [a, b])
        return -np.cross(a - whole.com, b - whole.com)[2] / whole.moment[2, 2]

    moved = run.data["craft.right.contents"].values[-1]
    assert moved == pytest.approx(5.0, abs=1e-9)
    turned = 2 * np.arctan2(*run["craft"].orientation.values[-1, [3, 0]])
    assert turned == pytest.approx(quad(slope, 0, moved, epsabs=1e-13)[0], abs=1e-9)
    assert abs(turned) > 0.1
    scenes = [SHELL + pt.Inertia.points([8.0 - m, m + 1e-300], [a, b]) for m in run.data["craft.right.contents"].values]
    centres = [pt.Pose.from_quaternion(q, p) @ s.com for q, p, s in
               zip(run["craft"].orientation.values, run["craft"].position.values, scenes, strict=True)]  # fmt: skip
    np.testing.assert_allclose(centres, np.tile(centres[0], (len(centres), 1)), atol=1e-11)
    assert np.abs(run.data.momentum).max() < 1e-10
    assert np.abs(run.data.angular_momentum).max() < 1e-10


def test_stream_acts_as_a_train_of_beads():
    """Point masses slide one after the other along the straight line between two tanks of a tumbling craft.

    The oracle knows nothing but their positions, their velocities, and that all momentum is constant. A train of n
    beads differs from a stream by O(1/n), and what n and 2n beads give, extrapolated, by O(1/n^2).
    """
    a, b, T, moved = np.array([0.4, 1.0, 0.2]), np.array([0.6, -0.8, -0.3]), 2.0, 5.0
    V0 = np.concatenate([TUMBLING["angular_velocity"], TUMBLING["velocity"]])

    def train(n: int) -> np.ndarray:
        m, u = moved / n, (b - a) * n / T

        def motion_of(t: float, k: int) -> tuple[np.ndarray, np.ndarray]:
            """G and h while bead k is moving."""
            x = a + (t - k * T / n) * u
            masses, places = [8.0 - m * (k + 1), m * k, m], [a, b, x]
            return (SHELL + pt.Inertia.points(masses, places)).spatial(), m * np.concatenate([np.cross(x, u), u])

        G, h = motion_of(0.0, 0)
        P_W = G @ V0 + h

        def twist(t: float, y: np.ndarray, k: int) -> np.ndarray:
            X = pt.Pose.from_quaternion(y[:4] / np.linalg.norm(y[:4]), y[4:])
            G, h = motion_of(t, k)
            return np.linalg.solve(G, motion.momentum_in_frame(X.inverse(), P_W) - h)

        def rate(t: float, y: np.ndarray, k: int) -> np.ndarray:
            V = twist(t, y, k)
            return np.concatenate([quaternion.derivative(y[:4], V[:3]), quaternion.rotate(y[:4], V[3:])])

        y = np.array([1.0, 0, 0, 0, 0, 0, 0])
        for k in range(n):
            span = (k * T / n, (k + 1) * T / n)
            y = solve_ivp(rate, span, y, args=(k,), method="DOP853", rtol=1e-11, atol=1e-11).y[:, -1]
        return np.concatenate([y, twist(T, y, n - 1)])

    world, craft = at_rest(**TUMBLING)
    craft.add(pt.Tank("left", contents=8.0, position=a))
    craft.add(pt.Tank("right", position=b))
    craft.add(pt.Flow("pump", source="left", to="right", rate=moved / T))
    stream = world.simulate(T, 1e-3).y[-1][:13]
    some, twice, four = train(10), train(20), train(40)
    apart = [np.abs(x - stream).max() for x in (some, twice, four)]
    assert apart[0] / apart[1] == pytest.approx(2.0, rel=0.2)
    first, second = (np.abs(x - stream).max() for x in (2 * twice - some, 2 * four - twice))
    assert second < 5e-4
    assert first / second > 3.0


def test_flow_between_bodies_conserves_momentum():
    """From body to body through a joint that moves, into a tank that settles, with a leak and an engine."""
    world = pt.World()
    a = world.add_body("a", SHELL, **TUMBLING)
    b = world.add_body("b", pt.Inertia.box(9.0, (0.3, 0.4, 0.5)), a, pt.universal((0, 1, 0), (1, 0, 0)), (0.4, 0.3, 0),
                       v=[0.3, 0.5])  # fmt: skip
    a.add(pt.Tank("left", capacity=10, contents=6, position=(0, 1, 0.2), size=(0.3, 0.3, 0.6), settles=True))
    b.add(pt.Tank("right", capacity=10, contents=1, position=(0.2, -0.4, 0.2), radius=0.2, height=0.5, settles=True))
    world.add(pt.Flow("pump", source="a.left", to="b.right", rate=pt.pulse(3.0, 0.2, 1.0), point=(0.4, 0.3, 0.0)))
    b.add(pt.Flow("leak", source="right", proportion=0.05, point=(0.3, 0, 0), velocity=(2.0, 0, 0)))
    b.add(pt.Thruster("jet", tank="right", thrust=3.0, exhaust_speed=300.0, direction=(0, 0.1, 1), point=(0, 0, -0.5)))
    world.add(pt.Flow("fill", to="a.left", rate=0.5, point=(0, 1, 1), velocity=(0, 0, -1)))
    run = world.simulate(2.0, 5e-4)
    assert run.ledger.relative_residual.max() < 1e-10
    assert run.data["b.right.contents"].values[-1] > 3.0


def test_pump_lifts_against_gravity():
    """On a fixed craft, a pump does the work m g h, and a leak removes its potential energy."""
    world = pt.World()
    tower = world.add_body("tower", SHELL, joint=pt.fixed())
    tower.add(pt.Tank("low", contents=8.0, position=(0, 0, 1)))
    tower.add(pt.Tank("high", position=(0, 0, 3)))
    tower.add(pt.Flow("pump", source="low", to="high", rate=pt.pulse(2.0, 0.1, 1.0)))
    world.add_particle("witness", 1.0, position=(9, 0, 0))
    ledger = world.simulate(3.0, 1e-3).ledger
    assert ledger.inflow[ledger.sources.index("tower.pump"), 7] == pytest.approx(2.0 * 9.81 * 2.0, rel=1e-9)
    assert ledger.relative_residual.max() < 1e-10


# Flows start, fade and follow.


@pytest.mark.parametrize("lags", [(0.02,), (0.02,) * 6, (0.002, 0.2, 0.05)], ids=["one", "six", "fast and slow"])
def test_flows_empty_a_tank_without_passing_zero(lags):
    world, craft = at_rest()
    craft.add(pt.Tank("load", contents=3.0))
    for k, lag in enumerate(lags):
        craft.add(pt.Flow(f"f{k}", source="load", rate=2.0 + k, lag=lag))
    run = world.simulate(60.0 * max(lags) * len(lags) + 2.0, 1e-3)
    contents = run.data["craft.load.contents"].values
    assert np.all(contents >= 0)
    assert np.all(np.diff(contents) <= 0)
    assert contents[-1] < 1e-6
    rates = np.stack([run.data[f"craft.f{k}.rate"].values for k in range(len(lags))])
    assert np.all(rates >= 0)
    assert np.all(np.diff(rates) <= 1e-12)


def test_flow_stops_where_the_destination_is_full():
    world, craft = at_rest()
    craft.add(pt.Tank("a", contents=5.0, position=(1, 0, 0)))
    craft.add(pt.Tank("b", capacity=2.0, position=(-1, 0, 0)))
    craft.add(pt.Flow("pump", source="a", to="b", rate=1.5))
    run = world.simulate(8.0, 1e-3)
    b = run.data["craft.b.contents"].values
    assert np.all(b <= 2.0)
    assert b[-1] == pytest.approx(2.0, abs=1e-6)
    np.testing.assert_allclose(b + run.data["craft.a.contents"], 5.0, rtol=1e-13)


def test_proportional_flow():
    """lag m'' + m' + k m = 0."""
    world, craft = at_rest()
    craft.add(pt.Tank("load", contents=4.0))
    craft.add(pt.Flow("leak", source="load", proportion=0.8, lag=0.05))
    run = world.simulate(3.0, 1e-3)
    a, b = np.roots([0.05, 1.0, 0.8])
    exact = 4.0 * (b * np.exp(a * run.time) - a * np.exp(b * run.time)) / (b - a)
    np.testing.assert_allclose(run.data["craft.load.contents"], exact, rtol=1e-9)


def test_rates_by_function_table_and_input_agree():
    def run(rate: object, inputs: dict | None = None) -> np.ndarray:
        world, craft = at_rest(**TUMBLING)
        world.add_input("valve", 0.0)
        craft.add(pt.Tank("load", contents=4.0, position=(1, 0, 0)))
        craft.add(pt.Flow("out", source="load", rate=rate, point=(2, 0, 0), flowing=0.0))
        return world.simulate(1.0, 1e-3, inputs=inputs).y[-1][:13]

    table = run(pt.Tabulated([0.0, 2.0], [0.0, 2.0]))
    np.testing.assert_allclose(run(lambda t, scene: t), table, rtol=1e-12, atol=1e-14)
    np.testing.assert_allclose(run(pt.Input("valve"), {"valve": lambda t: t}), table, rtol=1e-12, atol=1e-14)


def test_thruster_without_tank_is_a_force():
    world, craft = at_rest(**TUMBLING)
    craft.add(pt.Thruster("jet", thrust=5.0, direction=(0, 3, 4), point=(0.1, 0.2, 0.3)))
    other, _ = at_rest(**TUMBLING)
    other.add_force("jet", "craft", (0.0, 3.0, 4.0), (0.1, 0.2, 0.3), axes="body")
    np.testing.assert_allclose(world.motion().vdot, other.motion().vdot, rtol=1e-15)


def test_batch_over_contents_gives_the_same_bits_as_single_runs():
    world = pumping(rate=1.5)
    contents = np.array([2.0, 5.0, 8.0])
    batch = world.simulate(2.0, 1e-3, vary={"craft.left.contents": contents})
    for k in range(3):
        one = world.simulate(2.0, 1e-3, vary={"craft.left.contents": contents[k]}, ledger=False)
        np.testing.assert_array_equal(batch.y[-1, k], one.y[-1])


def test_one_entry_of_a_point_can_vary():
    world, craft = at_rest(**TUMBLING)
    craft.add(pt.Tank("fuel", contents=10.0))
    craft.add(pt.Thruster("jet", tank="fuel", thrust=50.0, exhaust_speed=500.0, point=(0, 0, -1)))
    z = np.array([-0.5, -1.0])
    runs = world.simulate(1.0, 1e-2, vary={"craft.jet.point[2]": z, "craft.fuel.position[0]": [0.1, 0.0]})
    np.testing.assert_allclose(runs.y[-1, 1, :13], world.simulate(1.0, 1e-2).y[-1, :13], rtol=1e-13, atol=1e-14)
    assert np.abs(runs.y[-1, 0, :13] - runs.y[-1, 1, :13]).max() > 1e-3


def test_errors_name_the_tank_and_the_flow():
    with pytest.raises(ValueError, match="tank 'a' holds 5"):
        pt.Tank("a", capacity=2.0, contents=5.0)
    with pytest.raises(ValueError, match="tank 'a' settles"):
        pt.Tank("a", capacity=2.0, radius=1.0, settles=True)
    with pytest.raises(ValueError, match="flow 'f' goes from None to None"):
        pt.Flow("f", rate=1.0)
    with pytest.raises(ValueError, match="rate of flow 'f' must be zero or more"):
        pt.Flow("f", source="a", rate=-1.0)
    world, craft = at_rest()
    craft.add(pt.Tank("load", contents=0.01))
    craft.add(pt.Thruster("jet", tank="load", thrust=3000.0, exhaust_speed=2000.0))
    with pytest.raises(ValueError, match=r"'craft.jet' starts with 1.5 kg/s, for which tank 'craft.load' with 0.01 kg"):
        world.motion()
    world, craft = at_rest()
    craft.add(pt.Tank("load", contents=4.0))
    craft.add(pt.Flow("out", source="laod", rate=1.0))
    with pytest.raises(KeyError, match="there is no element 'laod'"):
        world.motion()
