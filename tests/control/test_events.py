"""Events: located within the step to rounding, per instance; what they set, stop and release."""

import numpy as np
import pytest

import poinsot as pt

G = 9.81


def thrown(*events, speed=7.3):
    """A stone thrown upwards, with an input that pushes it: RK4 is exact for its parabola."""
    world = pt.World(gravity=(0, 0, -G))
    world.add_input("push", 0.0)
    world.add_particle("stone", 2.0, velocity=(0, 0, speed))
    world.add_force("engine", "stone", lambda t, scene: np.array([0, 0, 1.0]) * scene.signal("push"))
    for event in events:
        world.add(event)
    return world


def falls(t, scene):
    return -scene["stone"].velocity[2]


def test_an_event_is_located_to_rounding_and_sets_an_input():
    """From the top on the push carries the weight: the stone stays there, to rounding, in coarse steps."""
    run = thrown(pt.When("top", falls, {"push": 2 * G})).simulate(2.0, 0.1, every=0.1)
    assert run.data["top.happened"].values[[0, -1]].tolist() == [0, 1]
    np.testing.assert_allclose(run.data["top.at"][-1], 7.3 / G, rtol=1e-14)
    late = run.time > 7.3 / G
    np.testing.assert_allclose(run.data.position[late, 0, 2], 7.3**2 / (2 * G), rtol=1e-13)
    np.testing.assert_allclose(run.data.velocity[late, 0, 2], 0.0, atol=1e-13)


def test_each_instance_of_a_batch_has_its_own_instant():
    speeds = np.array([3.0, 5.0, 7.3, 30.0])
    start = np.stack([0 * speeds, 0 * speeds, speeds], axis=1)
    run = thrown(pt.When("top", falls, {"push": 2 * G})).simulate(2.0, 0.1, vary={"stone.velocity": start})
    np.testing.assert_allclose(run.data["top.at"][-1], [*speeds[:3] / G, 0.0], rtol=1e-13)
    assert run.data["top.happened"][-1].values.tolist() == [1, 1, 1, 0]


def test_several_events_in_one_step_happen_in_their_order():
    """A push of 1 N s in 10 ms within a step of 0.1 s: the last event that happened counts."""
    on = pt.When("on", lambda t, scene: t >= 0.53, {"push": 100.0})
    off = pt.When("off", lambda t, scene: t >= 0.54, {"push": 0.0})
    run = thrown(off, on).simulate(1.0, 0.1)
    np.testing.assert_allclose(run.data["on.at"][-1], 0.53, rtol=1e-13)
    np.testing.assert_allclose(run.data["off.at"][-1], 0.54, rtol=1e-13)
    np.testing.assert_allclose(run.data.velocity[-1, 0, 2], 7.3 - G + 100.0 * 0.01 / 2.0, rtol=1e-12)


def test_a_signal_as_condition_and_stop():
    run = thrown(pt.When("landed", pt.Signal("stone.position[2]", -1.0), "stop")).simulate(5.0, 0.1)
    np.testing.assert_allclose(run.time[-1], 2 * 7.3 / G, rtol=1e-12)
    np.testing.assert_allclose(run.data.velocity[-1, 0, 2], -7.3, rtol=1e-12)


def test_release_of_a_joint():
    """A rod that swings is released at the bottom: it then turns at a constant rate."""
    world = pt.World(gravity=(0, 0, -G))
    rod = pt.Pose(p=(0, 0, -0.5)) @ pt.Inertia.cylinder(mass=1.0, radius=0.02, height=1.0)
    world.add_body("rod", rod, joint=pt.revolute((0, 1, 0)), placement=(0, 0, 5), q=1.0)
    world.add(pt.When("cut", lambda t, scene: -scene.joint("rod")[0][0], release="rod"))
    run = world.simulate(1.0, 1e-3)
    at = float(run.data["cut.at"][-1])
    after = run.time > at
    w = run.data.angular_velocity[after, 0, 1].values
    np.testing.assert_allclose(w, w[0], rtol=1e-9)
    J = float(rod.moment[1, 1]) + 0.25
    np.testing.assert_allclose(0.5 * J * w[0] ** 2, G * 0.5 * (1 - np.cos(1.0)), rtol=1e-9)


def test_an_event_at_the_start_and_events_beside_samples():
    law = pt.Controller("law", lambda t, on: 5.0 * on, {"on": "go.happened"}, sample=0.1)
    run = thrown(pt.When("go", lambda t, scene: t >= 0.0), law).simulate(0.3, 0.05, every=0.05)
    assert run.data["go.at"][-1] == 0
    assert run.data["go.happened"][0] == 1
    np.testing.assert_array_equal(run.data["law.out"], [0, 0, 5, 5, 5, 5, 5])


def test_errors():
    with pytest.raises(ValueError, match=r"must be a dict of inputs, a pt\.Release, or 'stop', not 'stopp'"):
        pt.When("e", "stone.position[2]", "stopp")
    with pytest.raises(KeyError, match="there is no input 'pusch'; did you mean 'push'"):
        thrown(pt.When("e", falls, {"pusch": 1.0})).system()
    with pytest.raises(ValueError, match=r"sets the input 'push' of shape \(\)"):
        thrown(pt.When("e", falls, {"push": [1.0, 2.0]})).system()
    with pytest.raises(KeyError, match=r"no signal 'stone.positon'; did you mean 'stone.position'"):
        thrown(pt.When("e", "stone.positon", "stop")).system()
    with pytest.raises(ValueError, match=r"condition of event 'e' must be one number, .* shape \(3,\)"):
        thrown(pt.When("e", "stone.position", "stop")).system()
    world = pt.World()
    world.add_body("a", pt.Inertia.sphere(1.0, 0.1))
    world.add(pt.When("e", lambda t, scene: t * np.nan, then="stop"))
    with pytest.raises(ValueError, match="condition of event 'e' is NaN at the start: it would never happen"):
        world.simulate(1.0)


def stages(springs, **spin):
    """Two stages in free fall, of 3 and 1 kg, of which the event "cut" at 0.105 s releases the upper one."""
    world = pt.World(gravity=(0, 0, -G))
    box = pt.Inertia.box(mass=3.0, size=(0.2, 0.3, 0.4))
    world.add_body("lower", box, position=(0, 0, 10), **spin)
    top = pt.Inertia.box(mass=1.0, size=(0.1, 0.2, 0.3))
    world.add_body("upper", top, "lower", pt.fixed(), pt.Pose(p=(0.0, 0.0, 0.4)))
    world.add(pt.When("cut", lambda t, scene: t >= 0.105, then=pt.Release("upper", **springs)))
    return world


def test_springs_of_a_release_push_both_stages_off():
    """One spring off the axis also turns both bodies; all balances close, the springs' energy among them."""
    springs = {"stiffness": 500.0, "stroke": 0.04, "axis": (0.1, 0, 1), "points": [(0.03, 0.05, 0.1), (0, -0.05, 0.1)]}
    run = stages(springs, angular_velocity=(0.3, 2.0, -0.5), velocity=(1.0, 2.0, 3.0)).simulate(0.2, 1e-3)
    np.testing.assert_allclose(run.data["cut.at"][-1], 0.105, rtol=1e-13)
    held = run.time <= 0.104
    gap = np.linalg.norm(run.data.position[held, 1] - run.data.position[held, 0], axis=1)
    np.testing.assert_allclose(gap, 0.4, rtol=1e-14)
    assert np.linalg.norm(run.data.position[-1, 1] - run.data.position[-1, 0]) > 0.45
    assert run.ledger.relative_residual[:3].max() < 1e-9
    assert run.ledger.relative_residual[3] < 1e-6  # the ends of the strokes lie within steps


def test_several_outcomes_of_one_event():
    stop = pt.When("top", falls, [{"push": 3.0}, "stop"])
    run = thrown(stop).simulate(2.0, 0.1)
    np.testing.assert_allclose(run.time[-1], 7.3 / G, rtol=1e-12)
    assert stop.sets() == {"push": 3.0}


def test_release_of_each_instance_at_its_own_instant():
    """The push that follows is the same for each: the speeds at which the stages part do not depend on the instant."""
    world = pt.World(gravity=(0, 0, 0))
    world.add_input("wait", 0.1)
    world.add_particle("base", 2.0)
    world.add_body("cap", pt.Inertia.sphere(mass=1.0, radius=0.1), "base", pt.fixed())
    push = pt.Release("cap", stiffness=50.0, stroke=0.1)
    world.add(pt.When("cut", lambda t, scene: t >= scene.signal("wait"), push))
    run = world.simulate(1.0, 1e-3, vary={"wait": [0.1003, 0.25071, 2.0]}, method="rk4")
    apart = run.data.velocity[-1, :, 1, 2] - run.data.velocity[-1, :, 0, 2]
    np.testing.assert_allclose(apart[:2], np.sqrt(50.0 * 0.01 / (2.0 / 3.0)), rtol=1e-6)
    assert abs(float(apart[2])) < 1e-15
    np.testing.assert_allclose(run.data["cut.at"][-1], [0.1003, 0.25071, 0.0], rtol=1e-12)


def test_ignition_starts_the_clock_of_a_thrust():
    """The impulse of a thrust curve, whenever it starts; a constant thrust does not flow before."""
    world = pt.World(gravity=(0, 0, 0))
    world.add_input("wait", 0.1)
    world.add_body("rocket", pt.Inertia.sphere(mass=2.0, radius=0.1))
    curve = pt.Tabulated([0.0, 0.1, 0.2], [0.0, 30.0, 0.0])
    world.add(pt.When("go", lambda t, scene: t >= scene.signal("wait")))
    world.add(pt.Thruster("engine", "rocket", thrust=curve, ignition="go"))
    run = world.simulate(0.5, 5e-3, vary={"wait": [0.0, 0.1025, 0.2]}, method="rk4")
    np.testing.assert_allclose(
        run.data.velocity[-1, :, 0, 2], 0.1 * 30.0 / 2.0, rtol=2e-4
    )  # its corners lie within steps
    tanked = pt.World(gravity=(0, 0, 0))
    tanked.add_body("rocket", pt.Inertia.sphere(mass=2.0, radius=0.1))
    tanked.add(pt.Tank("fuel", "rocket", capacity=1.0, contents=1.0))
    tanked.add(pt.When("go", lambda t, scene: t >= 0.2))
    tanked.add(pt.Thruster("engine", "rocket", "fuel", thrust=20.0, ignition="go"))
    run = tanked.simulate(0.4, 5e-3, every=5e-3)
    assert np.all(run.data["fuel.contents"][run.time < 0.2] == 1.0)
    assert run.data["fuel.contents"][-1] < 1.0
    tanked.add(pt.Thruster("other", "rocket", "fuel", thrust=20.0, ignition="og"))
    with pytest.raises(KeyError, match=r"no signal 'og.happened'; did you mean 'go.happened'"):
        tanked.system()


def test_errors_of_releases():
    with pytest.raises(ValueError, match="stiffness of release of 'a' must be zero or more, not -1"):
        pt.Release("a", stiffness=-1)
    with pytest.raises(ValueError, match="axis of the release of 'a' must be three numbers, not all zero"):
        pt.Release("a", axis=(0, 0, 0))
    with pytest.raises(ValueError, match=r"points of the release of 'a' must be a list of points"):
        pt.Release("a", points=(1.0, 2.0))
    world = thrown(pt.When("e", falls, pt.Release("stone", stiffness=1.0, stroke=1.0)))
    with pytest.raises(ValueError, match="acts on 'ston', which is not a body; did you mean 'stone'"):
        thrown(pt.When("e", falls, pt.Release("ston"))).system()
    free = pt.World()
    free.add_body("ball", pt.Inertia.sphere(mass=1.0, radius=0.1))
    free.add(pt.When("e", "ball.position[2]", pt.Release("ball", stiffness=1.0, stroke=1.0)))
    with pytest.raises(ValueError, match="is on a free joint; give it a fixed one"):
        free.system()
    assert world["e.then.stiffness"] == 1.0
