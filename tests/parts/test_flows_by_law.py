"""Tanks, flows and thrusters at one instant: from bodies at rest, only the velocity relative to the body counts."""

import numpy as np
import pytest
from instants import at_start, resting, two_bodies

import poinsot as pt
from poinsot.parts.flow import pulse
from poinsot.parts.tank import Tank
from poinsot.spatial import Inertia, Pose

TANKS = {
    "point": {},
    "box": {"size": (0.4, 0.6, 0.9)},
    "ball": {"radius": 0.3},
    "cylinder": {"radius": 0.3, "height": 0.9},
    "settled box": {"size": (0.4, 0.6, 0.9), "settles": True},
    "settled cylinder": {"radius": 0.3, "height": 0.9, "settles": True},
}


@pytest.mark.parametrize("shape", TANKS)
def test_contents_are_a_shape_of_their_mass(shape):
    tank = Tank("t", "a", capacity=8.0, contents=2.0, position=(1.0, 2.0, 3.0), **TANKS[shape])
    solids = {
        "point": lambda: Inertia(2.0, np.zeros(3), np.zeros((3, 3))),
        "box": lambda: Inertia.box(2.0, (0.4, 0.6, 0.9)),
        "ball": lambda: Inertia.sphere(2.0, 0.3),
        "cylinder": lambda: Inertia.cylinder(2.0, 0.3, 0.9),
        "settled box": lambda: Pose(p=(0, 0, -0.45 + 0.1125)) @ Inertia.box(2.0, (0.4, 0.6, 0.225)),
        "settled cylinder": lambda: Pose(p=(0, 0, -0.45 + 0.1125)) @ Inertia.cylinder(2.0, 0.3, 0.225),
    }
    expected = Pose(p=(1.0, 2.0, 3.0)) @ solids[shape]()
    np.testing.assert_allclose(tank.inertia(np.array(2.0)).spatial(), expected.spatial(), atol=1e-13)


@pytest.mark.parametrize("shape", TANKS)
def test_a_layer_is_the_derivative_of_the_contents(shape):
    tank = Tank("t", "a", capacity=8.0, contents=2.0, position=(1.0, 2.0, 3.0), **TANKS[shape])
    m, h = np.array(3.0), 1e-4
    slope = (tank.inertia(m + h).spatial() - tank.inertia(m - h).spatial()) / (2 * h)
    np.testing.assert_allclose(tank.layer(m).spatial(), slope, atol=1e-7)
    np.testing.assert_allclose(tank.climb(), (tank.layer(m + h).com - tank.layer(m - h).com) / (2 * h), atol=1e-9)


def flow_rate(contents, other, **flow):
    """d(rate)/dt of a flow from one tank of 8 kg to another."""
    _, world = two_bodies(4)
    world.add(pt.Tank("t0", "a", capacity=8.0, contents=contents))
    world.add(pt.Tank("t1", "b", capacity=8.0, contents=other))
    world.add(pt.Flow("f", source="t0", to="t1", flowing=0.1, **flow))
    return float(at_start(world)[2].effects["f"].rates["rate"])


def test_a_flow_follows_its_command_and_fades():
    """(command - rate)/lag; it would not empty or fill a tank in less than four lags."""
    assert flow_rate(4.0, 4.0, rate=2.0, lag=0.5) == pytest.approx((2.0 - 0.1) / 0.5)
    assert flow_rate(4.0, 4.0, rate=1.0, proportion=0.1, lag=0.5) == pytest.approx((1.4 - 0.1) / 0.5)
    assert flow_rate(1.0, 4.0, rate=2.0, lag=0.5) == pytest.approx((1.0 / 2.0 - 0.1) / 0.5)
    assert flow_rate(4.0, 7.5, rate=2.0, lag=0.5) == pytest.approx((0.5 / 2.0 - 0.1) / 0.5)


@pytest.mark.parametrize(("at", "over"), [(0.0, 1.0), (2.0, 0.4)])
def test_a_pulse_moves_its_mass_in_its_time(at, over):
    dump = pulse(6.0, at, over)
    assert (dump.times[0], dump.times[-1]) == (at, pytest.approx(at + over))
    assert np.trapezoid(dump.values, dump.times) == pytest.approx(6.0)
    np.testing.assert_allclose(np.diff(dump.times) / over, [0.25, 0.5, 0.25])
    assert dump(at) == dump(at + over) == 0


def tank(name="t", on="a", **shape):
    return pt.Tank(name, on, capacity=8.0, contents=4.0, position=(0.1, 0.2, 0.3), **shape)


def momentum_at(x, v):
    return np.concatenate([np.cross(x, v), v])


@pytest.mark.parametrize("point", [None, (0.5, -0.4, 0.9)])
@pytest.mark.parametrize(("end", "sign"), [("source", -1.0), ("to", 1.0)])
def test_mass_that_leaves_or_enters_brings_its_momentum(point, end, sign):
    """-r u at the point where it leaves, r u where it enters; the stream in the body runs from or to the tank."""
    x, u, r = np.array([0.1, 0.2, 0.3]), np.array([0.5, 2.0, -1.0]), 0.7
    moved = resting(tank(), pt.Flow("f", rate=r, point=point, velocity=u, **{end: "t"}))
    effect = moved.effects["f"]
    there = x if point is None else np.array(point)
    np.testing.assert_allclose(effect.wrenches["a"], sign * r * momentum_at(there, u), atol=1e-14)
    np.testing.assert_allclose(effect.outside["a"], sign * r * momentum_at(there, u), atol=1e-14)
    assert effect.mass == sign * r
    assert effect.rates["t.contents"] == sign * r
    carried = -sign * r * np.concatenate([np.cross(x, there), there - x])
    np.testing.assert_allclose(effect.carried.get("a", np.zeros(6)), carried, atol=1e-14)


def test_mass_that_crosses_from_body_to_body_flows_through_both():
    """From the tank to the outlet in the first, from the outlet to the other tank in the second."""
    x, out, r = np.array([0.1, 0.2, 0.3]), np.array([0.5, -0.4, 0.9]), 0.7
    moved = resting(tank(), tank("s", "b"), pt.Flow("f", source="t", to="s", rate=r, point=out))
    carried = moved.effects["f"].carried
    in_b = moved.scene["b"].pose.inverse() @ (moved.scene["a"].pose @ out)
    np.testing.assert_allclose(carried["a"], r * np.concatenate([np.cross(x, out), out - x]), atol=1e-14)
    np.testing.assert_allclose(carried["b"], r * np.concatenate([np.cross(in_b, x), x - in_b]), atol=1e-13)
    assert moved.effects["f"].mass is None


def test_mass_in_a_pipe_goes_by_its_point():
    """r times the integral of (x cross dx, dx) along two straight pieces; the levels move their ends, the point rests.

    What the stream gains, a body at rest loses.
    """
    x, y, out, r, r_rate = np.array([0.1, 0.2, 0.3]), np.array([0.4, -0.3, 0.2]), np.array([0.5, -0.4, 0.9]), 0.7, 0.6
    shape = {"capacity": 8.0, "contents": 4.0, "size": (1, 1, 2), "settles": True}
    moved = resting(
        *(pt.Tank(name, "a", position=p, **shape) for name, p in (("t", x), ("s", y))),
        pt.Flow("f", source="t", to="s", rate=r + r_rate * 0.5, flowing=r, lag=0.5, point=out),
    )

    def momentum(t):
        level = np.array([0, 0, r * 2 / 8 * t])
        a, b = x - level, y + level
        return (r + r_rate * t) * np.concatenate([np.cross(a, out) + np.cross(out, b), b - a])

    effect = moved.effects["f"]
    assert effect.rates["rate"] == pytest.approx(r_rate)
    np.testing.assert_allclose(effect.carried["a"], momentum(0.0), atol=1e-14)
    np.testing.assert_allclose(effect.wrenches["a"], -(momentum(1.0) - momentum(-1.0)) / 2, atol=1e-13)


def test_mass_that_leaves_a_sinking_level_has_its_velocity():
    """The level of a settled tank sinks by r height/capacity, and what is taken from there moves along."""
    r = 0.7
    moved = resting(tank(size=(1, 1, 2), settles=True), tank("s", "b"), pt.Flow("f", source="t", to="s", rate=r))
    x, v = np.array([0.1, 0.2, 0.3]), np.array([0, 0, -r * 2 / 8])
    np.testing.assert_allclose(moved.effects["f"].wrenches["a"], -r * momentum_at(x, v), atol=1e-14)


def test_how_a_flow_starts():
    assert pt.Flow("f", source="t", rate=2.0).states()["rate"] == 2.0
    assert pt.Flow("f", source="t", rate=lambda t: 2.0).states()["rate"] == 0.0
    assert pt.Flow("f", source="t", rate=2.0, flowing=0.5).states()["rate"] == 0.5
    with pytest.raises(ValueError, match=r"flow 'f' starts with 500 kg/s, for which tank 't' with 4 kg is too empty"):
        resting(tank(), pt.Flow("f", source="t", rate=500.0))
    resting(tank(), pt.Flow("f", source="t", rate=500.0, flowing=0.0))
    with pytest.raises(ValueError, match="flow 'f' needs a tank; 'g' is a Force"):
        resting(pt.Force("g", "a"), pt.Flow("f", source="g", rate=1.0))


def test_a_thruster_is_a_flow_of_its_propellant():
    """thrust / exhaust_speed from the tank, with the exhaust speed against its direction: the thrust, at its point."""
    jet = pt.Thruster("jet", "a", "t", thrust=30.0, exhaust_speed=60.0, direction=(0, 3, 4), point=(0.5, -0.4, 0.9))
    effect = resting(tank(), jet).effects["jet"]
    np.testing.assert_allclose(effect.wrenches["a"], momentum_at([0.5, -0.4, 0.9], [0, 18, 24]), atol=1e-13)
    np.testing.assert_allclose(effect.shown["force"], [0, 18, 24], atol=1e-13)
    assert effect.mass == -0.5
    varying = pt.Thruster("jet", "a", "t", thrust=lambda t: 30.0 + t, exhaust_speed=60.0, flowing=0.1, lag=0.5)
    assert resting(tank(), varying).effects["jet"].rates["rate"] == pytest.approx((0.5 - 0.1) / 0.5)


def test_mass_that_just_drops_off_does_not_push():
    """Without a velocity of its own, what leaves a body at rest takes no momentum along."""
    effect = resting(tank(), pt.Flow("f", source="t", rate=0.7)).effects["f"]
    np.testing.assert_array_equal(effect.wrenches["a"], np.zeros(6))
    assert pt.Thruster("j", "a", "t", thrust=6000.0).flow.rate == 2.0  # an exhaust speed of 3000 m/s
