"""Stages: bodies on joints that events release, in one ledger."""

import numpy as np
import pytest

import poinsot as pt


def two_stages():
    """A booster that burns from the start until an event, a stage that parts then and is lit later; off-axis thrust
    turns both. Forces are constant between events, at which steps are split."""
    world = pt.World()
    world.add_input("throttle", 1.0)
    tall = pt.Inertia.cylinder(20.0, 0.15, 1.5)
    booster = world.add_body("booster", tall, position=(0, 0, 2.0))
    upper = world.add_body("upper", pt.Inertia.cylinder(6.0, 0.1, 1.0), parent=booster, placement=(0, 0, 1.25))
    booster.add(pt.Tank("fuel", capacity=8.0, contents=8.0, position=(0, 0, -0.2), radius=0.1, height=0.6))
    upper.add(pt.Tank("fuel", capacity=2.0, contents=2.0, position=(0, 0, -0.1), radius=0.08, height=0.3))
    booster.add(
        pt.Thruster(
            "engine", tank="fuel", thrust=pt.Input("throttle", 900.0), exhaust_speed=2000.0, point=(0.002, 0, -0.75)
        )
    )
    upper.add(
        pt.Thruster("engine", tank="fuel", thrust=250.0, exhaust_speed=2200.0, point=(0, 0.001, -0.5), ignition="light")
    )
    springs = pt.Release("upper", stiffness=4000.0, stroke=0.05, points=[(0.05, 0, -0.5), (-0.05, 0.01, -0.5)])
    world.add(pt.When("part", lambda t, scene: t - 1.2345, then=[{"throttle": 0.0}, springs]))
    world.add(pt.When("light", lambda t, scene: scene.states["part.happened"] * (t - scene.states["part.at"] - 0.3)))
    return world


def test_stages_part_and_both_fly_on():
    run = two_stages().simulate(3.0, 2e-4, every=0.05, method="rk4")
    assert run.ledger.relative_residual.max() < 1e-10
    z = run.data.position.sel(axis="z")
    apart = (z.sel(body="upper") - z.sel(body="booster")).values
    before = run.time < 1.2
    tilt = np.abs(run.data.position.sel(body="upper") - run.data.position.sel(body="booster")).values
    np.testing.assert_allclose(np.linalg.norm(tilt[before], axis=1), 1.25, rtol=1e-9)
    assert apart[-1] > 20.0
    assert abs(float(run.data["part.at"][-1]) - 1.2345) < 1e-12
    assert abs(float(run.data["light.at"][-1]) - 1.5345) < 1e-12
    burnt = 8.0 - float(run.data["booster.fuel.contents"][-1])
    assert abs(burnt - 900.0 / 2000.0 * 1.2345) < 1e-11  # to the instant of the event, within a step


def test_a_stage_that_turns_round_is_not_pushed_again():
    """Springs are lost with the distance: a booster that tumbles later has its stage behind it, far off."""
    world = pt.World(gravity=(0, 0, 0))
    world.add_body("booster", pt.Inertia.cylinder(20.0, 0.15, 1.5), angular_velocity=(0, 2.0, 0))
    world.add_body("upper", pt.Inertia.cylinder(6.0, 0.1, 1.0), parent="booster", placement=(0, 0, 1.25))
    world.add(pt.When("part", lambda t, scene: t > 0.5, then=pt.Release("upper", stiffness=4000.0, stroke=0.05)))
    run = world.simulate(6.0, 1e-3, every=0.1, method="rk4")
    speed = np.linalg.norm(run.data.velocity.sel(body="upper").values, axis=1)
    np.testing.assert_allclose(speed[10:], speed[-1], rtol=1e-9)
    assert run.ledger.relative_residual[1:3].max() < 1e-10
    assert run.ledger.relative_residual[3] < 1e-5  # energy: the stroke ends within a step of 1 ms


SLOW = pytest.param("adaptive", marks=pytest.mark.slow)


@pytest.mark.parametrize("method", ["adaptive5", SLOW, "rosenbrock"])
def test_what_follows_a_release_is_held_to_the_tolerance(method):
    """Springs act for hundredths of a second, in steps that could be a second long: the motion and the ledger are those
    of short steps. Several releases at one instant, by one event or by two, are one."""

    def world(*events):
        world = pt.World()
        world.add_body("booster", pt.Inertia.cylinder(20.0, 0.15, 1.5), angular_velocity=(0.1, 0.2, 0.3))
        for name, y in (("left", 0.4), ("right", -0.4)):
            world.add_body(name, pt.Inertia.cylinder(6.0, 0.1, 1.0), parent="booster", placement=(0, y, 0.2))
        for k, bodies in enumerate(events):
            releases = [pt.Release(b, stiffness=4000.0, stroke=0.05) for b in bodies]
            world.add(pt.When(f"part{k}", lambda t, scene: t - 0.2, then=releases))
        return world

    want = world(("left", "right")).simulate(1.0, 2e-4, method="rk4", every=1.0)
    for events in ((("left", "right"),), (("left",), ("right",))):
        run = world(*events).simulate(1.0, 1.0, method=method, tolerance=1e-9, every=1.0)
        assert run.ledger.relative_residual.max() < 1e-7
        np.testing.assert_allclose(run.data.position[-1], want.data.position[-1], atol=1e-5)
        assert float(run.data["part0.at"][-1]) == pytest.approx(0.2, abs=1e-12)


def test_an_unlit_motor_exerts_nothing():
    """A motor that waits for a signal, with its grains away from the body's origin: the ledger closes."""
    world = pt.World()
    body = world.add_body("rocket", pt.Inertia.sphere(0.55, 0.1), velocity=(0, 0, 50.0))
    world.add(pt.When("go", lambda t, scene: t > 5.0))
    curve = pt.Tabulated([0, 0.05, 1.5, 1.7], [0, 60, 50, 0])
    sizes = {"mass": 0.042, "radius": 0.013, "bore": 0.004, "length": 0.05, "grains": 2, "gap": 0.002}
    body.add(pt.SolidMotor("motor", thrust=curve, position=(-0.2, 0, 0), ignition=pt.Signal("go.happened"), **sizes))
    run = world.simulate(1.0, 1e-2, method="rk4")
    assert run.ledger.relative_residual.max() < 1e-12


def test_a_stage_released_twice():
    world = two_stages()
    world.add(pt.When("again", lambda t, scene: t > 2.0, release="upper"))
    with pytest.raises(
        ValueError, match="'upper' is released by the events 'part' and 'again': a stage comes loose once"
    ):
        world.simulate(1.0)
    world = pt.World()
    world.add_body("a", pt.Inertia.sphere(1.0, 0.1))
    world.add_body("b", pt.Inertia.sphere(1.0, 0.1), parent="a")
    world.add(pt.When("part", lambda t, scene: t > 2.0, then=pt.Release("b"), release="b"))
    with pytest.raises(ValueError, match="by the event 'part' twice"):
        world.simulate(1.0)


def test_winds_are_paths():
    world = pt.World(air=pt.US76(), wind=[pt.SteadyWind((3.0, 0, 0)), lambda t, p, h: np.zeros(3)])
    body = world.add_body("ball", pt.Inertia.sphere(1.0, 0.1), position=(0, 0, 100.0), orientation=(0, 1, 0, 0))
    body.add(pt.Parachute("drag", CdS=2.0))
    runs = world.simulate(5.0, 0.01, every=5.0, batch=2, vary={"air.winds[0].velocity[0]": [0.0, 5.0]})
    x = runs.data.position.sel(body="ball", axis="x").values[-1]
    assert abs(x[0]) < 1e-9
    assert 10.0 < x[1] < 25.0
