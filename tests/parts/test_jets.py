"""Jets: spool, thrust of Mach number, altitude and power, fuel, and the momentum of the rotor."""

import numpy as np
import pytest

import poinsot as pt
from poinsot.parts.jet import afterburning_spool

DECK = pt.Table(
    ([0.0, 0.5, 1.0], [0.0, 10e3], [0.0, 1.0]),
    np.array([[[2e3, 8e4], [1e3, 4e4]], [[1e3, 7e4], [0.0, 4e4]], [[500.0, 9e4], [0.0, 5e4]]]),
)
AIR = pt.US76()
FLYING = {
    "position": (0, 0, 3e3),
    "velocity": (200, 0, 0),
    "orientation": (0, 1, 0, 0),
    "angular_velocity": (0.2, 0.3, 0.1),
}


def plane(air=AIR, **jet):
    world = pt.World(air=air)
    body = world.add_body("plane", pt.Inertia.box(9000.0, (10, 8, 2)), **FLYING)
    body.add(pt.Tank("fuel", contents=20.0, capacity=30.0, position=(1, 0, 0.3)))
    world.add_input("throttle", 0.8)
    body.add(pt.Jet("engine", **{"thrust": DECK, "throttle": pt.Input("throttle"), "point": (-3, 0.2, 0.1), **jet}))
    return world


@pytest.mark.slow
def test_the_flight_of_a_jet_closes_in_the_ledger_and_ends_with_its_fuel():
    world = plane(power=0.1, tank="fuel", tsfc=3e-5, rotor_inertia=30.0, rotor_speed=(300.0, 900.0))
    run = world.simulate(16.0, 0.02, every=0.02, ledger=True, vary={"plane.engine.tsfc": [3e-5, 6e-5]})
    assert run.ledger.relative_residual.max() < 1e-10
    thrust, fuel = (
        run.data[f"plane.{key}"].transpose("time", ...).values for key in ("engine.thrust", "fuel.contents")
    )
    assert np.all(fuel[-1] < 1e-3)
    assert np.all(thrust[-1] < 100.0)
    assert np.all(thrust.max(axis=0) > 4e4)
    burnt = np.trapezoid(thrust, dx=0.02, axis=0) * [3e-5, 6e-5]  # thrust and fuel end together
    np.testing.assert_allclose(burnt, 20.0, rtol=2e-3)


def test_the_power_follows_the_throttle():
    """P' = (throttle - P)/spool, within the largest rate; throttles beyond 0 and 1 count as these."""
    for throttle, fields, rate in (
        (0.9, {"spool": 2.0}, 0.4),
        (0.0, {"spool": 0.1, "spool_rate": 0.2}, -0.2),
        (7.0, {"spool": 2.0}, 0.45),
        (1.0, {"spool": afterburning_spool}, 1.9 * 0.5 - 3.6 * 0.25),
    ):
        motion = plane(power=0.1, **fields).motion(inputs={"throttle": throttle})
        assert motion.effects["plane.engine"].rates["power"] == pytest.approx(rate, abs=1e-12)


def test_an_afterburner_waits_for_the_core():
    """Stevens and Lewis, appendix A, in per cent, with branches."""

    def book(P3, P1):
        if P1 >= 50:
            T, P2 = (5.0, P1) if P3 >= 50 else (None, 60.0)
        else:
            T, P2 = (5.0, 40.0) if P3 >= 50 else (None, P1)
        d = P2 - P3
        T = T or (1.0 if d <= 25 else 0.1 if d >= 50 else 1.9 - 0.036 * d)
        return T * d

    for power in np.linspace(0, 100, 41):
        for command in np.linspace(0, 100, 41):
            rate = afterburning_spool(power / 100, command / 100)
            assert 100 * rate == pytest.approx(book(power, command), abs=1e-11)


def test_thrust_is_that_of_the_table():
    world = plane(power=0.35)
    air = world.scene().air("plane")
    motion = world.motion()
    expected = DECK(air.mach, 3e3, 0.35)
    F = motion.effects["plane.engine"].wrenches["plane"]
    np.testing.assert_allclose(F[3:], [expected, 0, 0], rtol=1e-14)
    np.testing.assert_allclose(F[:3], np.cross((-3, 0.2, 0.1), [expected, 0, 0]), rtol=1e-14)
    flat = pt.Table((DECK.axes[0], DECK.axes[1]), DECK.values[..., 1])
    for thrust, value in ((flat, flat(air.mach, 3e3) * 0.35), (5e4, 5e4 * 0.35), (lambda M, h, P: M * h * P, None)):
        shown = plane(power=0.35, thrust=thrust).motion().effects["plane.engine"].shown["thrust"]
        assert shown == pytest.approx(air.mach * 3e3 * 0.35 if value is None else value, rel=1e-14)


def test_the_rotor_is_a_rotor():
    """At constant power its moment, momentum, energy and power are those of a pt.Rotor at that speed."""
    jet = plane(thrust=0.0, throttle=0.5, rotor_inertia=30.0, rotor_speed=(300.0, 900.0))
    other = pt.World(air=pt.US76())
    body = other.add_body("plane", pt.Inertia.box(9000.0, (10, 8, 2)), **FLYING)
    body.add(pt.Tank("fuel", contents=20.0, capacity=30.0, position=(1, 0, 0.3)))
    body.add(pt.Rotor("engine", axis=(1, 0, 0), inertia=30.0, speed=600.0))
    ours, rotor = (world.motion().effects["plane.engine"] for world in (jet, other))
    np.testing.assert_allclose(ours.wrenches["plane"], rotor.wrenches["plane"], atol=1e-9)
    np.testing.assert_allclose(ours.carried["plane"], rotor.carried["plane"])
    assert ours.stored == pytest.approx(rotor.stored)
    assert ours.power == pytest.approx(rotor.power)
    np.testing.assert_allclose(ours.outside["plane"], 0.0)


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"throttle": 1.2}, "throttle of jet 'j' must be between 0 and 1, not 1.2"),
        ({"power": -0.1}, "power of jet 'j' must be between 0 and 1"),
        ({"spool": -1.0}, "spool of jet 'j' must be a number above zero"),
        ({"thrust": -5.0}, "thrust of jet 'j' must be zero or more"),
        ({"thrust": pt.Table(([0, 1],), [0, 1])}, "a table with 1 axes"),
        ({"direction": (0, 0, 0)}, "direction of jet 'j' must be three numbers, not all zero"),
        ({"rotor_speed": 3.0}, "rotor_speed of jet 'j' must be two numbers"),
        ({"tank": "fuel"}, "burns fuel of tank 'fuel': tsfc"),
        ({"point": (0, 0)}, "point of jet 'j' must be three numbers"),
    ],
)
def test_wrong_jets(fields, message):
    with pytest.raises(ValueError, match=message):
        pt.Jet("j", "plane", **fields)


def test_a_deck_needs_air():
    with pytest.raises(Exception, match=r"the world has no air; make it with pt.World\(air=pt.US76\(\)\)"):
        plane(air=None).system()


def test_without_a_spool_the_power_is_the_throttle():
    """No state; the thrust follows the throttle at every instant."""
    world = pt.World(air=pt.US76())
    world.add_input("lever", 0.4)
    body = world.add_body("plane", pt.Inertia.sphere(100.0, 1.0), position=(0, 0, 1e3), orientation=(0, 1, 0, 0))
    body.add(pt.Jet("engine", thrust=500.0, throttle=pt.Input("lever"), spool=0))
    assert world.system().ns == 0
    shown = world.motion(inputs={"lever": 0.7}).effects["plane.engine"].shown
    assert (shown["thrust"], shown["power"]) == (350.0, 0.7)
    assert world.simulate(0.1, 0.01).ledger.relative_residual.max() < 1e-12
    for fields in ({"power": 0.2}, {"rotor_inertia": 1.0}, {"spool_rate": 2.0}):
        with pytest.raises(ValueError, match=f"has no spool, and thus no {next(iter(fields))}"):
            pt.Jet("engine", "plane", thrust=500.0, spool=None, **fields)
