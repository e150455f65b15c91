"""Propellers, piston engines and electric motors."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import poinsot as pt

J = np.linspace(0.0, 1.2, 13)
CT = pt.Table((J,), 0.11 - 0.05 * J - 0.06 * J**2)
CP = pt.Table((J,), 0.05 + 0.02 * J - 0.06 * J**2)
SIZES = {"diameter": 1.9, "CT": CT, "CP": CP, "inertia": 1.2, "point": (1.4, 0, 0.1)}
AIR = pt.US76()
FLYING = {"position": (0, 0, 1e3), "velocity": (50, 0, 0), "orientation": (0, 1, 0, 0)}
PROPELLER = pt.Propeller("p", "b", **SIZES)


def plane(*parts, rates=(0.2, 0.3, 0.1), **fields):
    world = pt.World(air=AIR)
    body = world.add_body("plane", pt.Inertia.box(1000.0, (6, 8, 1.5)), angular_velocity=rates, **FLYING)
    body.add(pt.Propeller("prop", **{**SIZES, **fields}))
    for part in parts:
        body.add(part)
    return world


@given(st.floats(0.0, 1.2), st.floats(0.01, 60.0))
def test_within_the_tables_it_is_the_definition(j, n):
    T, Q = PROPELLER.at(1.1, j * n * 1.9, 2 * np.pi * n)
    assert pytest.approx(1.1 * n**2 * 1.9**4 * CT(j), rel=1e-9, abs=1e-9) == T
    assert pytest.approx(1.1 * n**2 * 1.9**5 * CP(j) / (2 * np.pi), rel=1e-9, abs=1e-9) == Q


PITCHES = np.array([0.1, 0.4, 0.9])
SLOPED = {
    name: pt.Table((J, PITCHES), table.values[:, None] * (1 + PITCHES)) for name, table in (("CT", CT), ("CP", CP))
}


@pytest.mark.parametrize("pitch", [0.1, 0.25, 0.9])
@pytest.mark.parametrize(("V", "speed"), [(30.0, 200.0), (0.0, 200.0), (-20.0, 150.0), (30.0, -200.0), (60.0, 10.0)])
def test_blades_that_are_turned(pitch, V, speed):
    """At each pitch, the propeller with the tables of that pitch; as a field it may be a function of time."""
    fixed = pt.Propeller("p", "b", **SIZES | {k: pt.Table((J,), t(J, pitch)) for k, t in SLOPED.items()})
    turned = pt.Propeller("p", "b", **SIZES | SLOPED)
    np.testing.assert_allclose(turned.at(1.1, V, speed, pitch), fixed.at(1.1, V, speed), rtol=1e-12)
    shown = [
        plane(speed=speed, **tables).motion().effects["plane.prop"].shown
        for tables in (SLOPED | {"pitch": lambda t: pitch + t}, {"CT": fixed.CT, "CP": fixed.CP})
    ]
    for name in ("thrust", "torque", "force"):
        np.testing.assert_allclose(shown[0][name], shown[1][name], rtol=1e-12)


def test_it_is_finite_and_continuous_everywhere():
    """Also its derivatives; it goes backwards as forwards, and a stopped one only brakes."""
    at = pt.kernel("(),()->(),()")(lambda V, w: PROPELLER.at(1.1, V, w))
    slopes = [pt.jacobian(at, wrt=k) for k in (0, 1)]
    V, w = np.meshgrid(np.linspace(-80, 80, 161), np.linspace(-300, 300, 61))
    T, Q = at(V, w)
    assert np.all(np.isfinite([T, Q]))
    for slope in slopes:
        assert np.all(np.isfinite(slope(V, w)))
    np.testing.assert_allclose(at(-V, -w), (-T, -Q), atol=1e-6)
    stopped, turning = at(np.linspace(-80, 80, 9), 0.0)
    q = 0.5 * 1.1 * np.linspace(-80, 80, 9) ** 2 * np.pi / 4 * 1.9**2
    np.testing.assert_allclose(stopped, -0.1 * q * np.sign(np.linspace(-80, 80, 9)), atol=1e-6)
    np.testing.assert_allclose(turning, 0.1 * 1.9 * stopped, atol=1e-6)
    step = 1e-7
    for path in (lambda x: (40 * np.cos(x), 200 * np.sin(x)),):
        x = np.linspace(0, 2 * np.pi, 4001)
        a, b = at(*path(x)), at(*path(x + step))
        assert np.max(np.abs(np.subtract(a, b))) < 1e5 * step


def test_torque_and_gyroscopic_moment_are_those_of_a_rotor():
    for hand, sign in (("right", 1.0), ("left", -1.0)):
        world = plane(speed=250.0, hand=hand)
        motion = world.motion()
        air = motion.scene.air("plane", (1.4, 0, 0.1))
        T, Q = PROPELLER.at(air.air.density, air.velocity[0], 250.0)
        other = pt.World(air=AIR)
        body = other.add_body("plane", pt.Inertia.box(1000.0, (6, 8, 1.5)), angular_velocity=(0.2, 0.3, 0.1), **FLYING)
        body.add(pt.Rotor("r", axis=(sign, 0, 0), inertia=1.2, speed=250.0, load=-float(Q)))
        F = other.motion().effects["plane.r"].wrenches["plane"]
        F[3:] += [T, 0, 0]
        F[:3] += np.cross((1.4, 0, 0.1), [T, 0, 0])
        np.testing.assert_allclose(motion.effects["plane.prop"].wrenches["plane"], F, rtol=1e-9, atol=1e-6)


@pytest.mark.slow
def test_a_piston_engine_flies_on_its_fuel():
    engine = pt.PistonEngine(
        "engine", rotor="prop", power=120e3, speed=pt.rpm(2700), throttle=0.8, tank="fuel", bsfc=8e-8, drag=20.0
    )
    world = plane(pt.Tank("fuel", contents=0.05, position=(0, 1, 0)), engine, engine="engine", speed=200.0)
    run = world.simulate(12.0, 0.02, every=0.02)
    assert run.ledger.relative_residual.max() < 1e-9
    speed, fuel = run.data["plane.prop.speed"].values, run.data["plane.fuel.contents"].values
    assert 200 < speed.max() < 280
    assert fuel[-1] < 1e-4
    assert -100 < speed[-1] < 150  # the air turns it
    torque, power = run.data["plane.engine.torque"].values, run.data["plane.engine.shaft_power"].values
    np.testing.assert_allclose(power, torque * speed, rtol=1e-9)
    assert torque[-1] * speed[-1] < 0


def test_an_engine_that_stands_does_not_start_and_height_takes_power():
    engine = pt.PistonEngine("engine", rotor="prop", power=120e3, speed=280.0)
    still = plane(engine, engine="engine", speed=0.0).motion().effects["plane.engine"].shown["torque"]
    assert still == 0
    shown = plane(engine, engine="engine", speed=280.0).motion().effects["plane.engine"].shown["shaft_power"]
    assert shown == pytest.approx(120e3 * (1.132 * AIR.at(1e3).density / 1.225 - 0.132), rel=1e-12)


def test_an_electric_motor_reaches_the_balance_of_torques():
    motor = pt.ElectricMotor("motor", rotor="prop", kv=6.0, resistance=0.02, voltage=60.0, no_load_current=2.0)
    world = plane(motor, engine="motor", rates=(0, 0, 0), speed=100.0)
    effect = world.motion().effects["plane.motor"].shown
    assert effect["current"] == pytest.approx((60 - 100 / 6) / 0.02)
    assert effect["torque"] == pytest.approx((effect["current"] - 2.0) / 6)
    rate = world.motion().effects["plane.prop"].rates["speed"]
    _T, Q = PROPELLER.at(AIR.at(1e3 - 0.1).density, 50.0, 100.0)
    total = world.motion()
    own = total.acceleration("plane")[0]
    assert rate == pytest.approx((effect["torque"] - Q) / 1.2 - own, rel=1e-6)


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"diameter": 0.0}, "diameter of propeller 'p' must be a number above zero"),
        ({"CT": 0.1}, "CT of propeller 'p' must be a pt.Table of J"),
        ({"hand": "up"}, "hand of propeller 'p' must be 'right' or 'left'"),
        ({"engine": "e", "torque": 3.0}, "has the engine 'e' and a torque; give one"),
        ({"torque": 3.0, "inertia": 0.0}, "inertia of rotor 'p' must be above zero"),
        ({"axis": (0, 0, 0)}, "axis of propeller 'p' must be three numbers, not all zero"),
    ],
)
def test_wrong_propellers(fields, message):
    with pytest.raises(ValueError, match=message):
        pt.Propeller("p", "b", **{**SIZES, **fields})


def test_wrong_engines():
    with pytest.raises(ValueError, match="throttle of piston engine 'e' must be between 0 and 1"):
        pt.PistonEngine("e", "b", rotor="p", power=1.0, speed=1.0, throttle=80)
    with pytest.raises(ValueError, match="speed of piston engine 'e' must be a number above zero"):
        pt.PistonEngine("e", "b", rotor="p", power=1.0)
    with pytest.raises(ValueError, match="bsfc"):
        pt.PistonEngine("e", "b", rotor="p", power=1.0, speed=1.0, tank="t")
    with pytest.raises(ValueError, match="kv of electric motor 'e' must be a number above zero"):
        pt.ElectricMotor("e", "b", rotor="p", resistance=1.0)
    with pytest.raises(ValueError, match=r"whose speed is not free; give that propeller engine='plane.e'"):
        plane(pt.PistonEngine("e", rotor="prop", power=1.0, speed=1.0), speed=100.0).system()
    with pytest.raises(Exception, match=r"there is no element 'prup'"):
        plane(pt.PistonEngine("e", rotor="prup", power=1.0, speed=1.0), speed=100.0).system()
