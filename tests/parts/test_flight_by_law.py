"""Parts of flight at one instant of random motion, against their formulas written out."""

import numpy as np
import pytest
from instants import SEEDS, flying

import poinsot as pt
from poinsot.parts.strip import WAGNER
from poinsot.spatial import Pose, motion


def at_point(p, f):
    """F (6,) of a force at a point."""
    return np.concatenate([np.cross(p, f), f])


# Landing gear.


def leg_by_hand(gear, moved, s, z, brake, steering):
    """Force (3,) in world axes, contact point in the world, s' and z', on flat ground."""
    body = moved.scene["craft"]
    R, p = body.pose.R, body.pose.p
    u, ahead = (np.asarray(d) / np.linalg.norm(d) for d in (gear.up, gear.forward))
    axle = p + R @ (np.asarray(gear.point) + s * u)
    n, deflection = np.array([0.0, 0.0, 1.0]), max(gear.radius - axle[2], 0.0)
    N, contact = gear.tyre_stiffness * deflection, axle - min(gear.radius, axle[2]) * n
    heading = R @ (np.cos(steering) * ahead + np.sin(steering) * np.cross(ahead, u))
    side = np.cross(heading, n) / np.linalg.norm(np.cross(heading, n))
    forward = np.cross(n, side)
    v_c = body.velocity + np.cross(R @ body.twist[:3], contact - p)
    v = np.array([v_c @ forward, v_c @ side])
    mu_along = max(min(brake * gear.brake_torque / gear.radius / max(N, 1.0) + gear.rolling, gear.friction), 1e-4)
    used = min(abs(gear.tread_stiffness * z[0]), mu_along)
    mu_across = np.sqrt(max(gear.friction**2 - used**2, 0.01 * gear.friction**2 + 1e-8))
    l_along = abs(v[0]) * gear.tread_stiffness / mu_along
    l_across = abs(v[1]) * gear.tread_stiffness / mu_across + abs(v[0]) / gear.relaxation
    l = np.array([l_along, l_across])
    z_rate = (v - l * z) / (1 + 0.02 * l)
    most = np.array([mu_along, mu_across]) * N
    along, across = np.clip(-gear.tread_stiffness * N * (z + 0.02 * z_rate), -most, most)
    return N * n + along * forward + across * side, contact, v_c, z_rate, deflection


LEG = {"radius": 0.3, "stroke": 0.3, "stiffness": 2e3, "preload": 3e3, "air_length": 0.5, "damping": 4e3}


@pytest.mark.parametrize(
    ("s", "z", "brake", "speed", "height", "more"),
    [
        (0.1, (1e-3, -2e-3), 0.0, (8.0, 0.5, 0.2), 1.0, {}),
        (0.1, (-4e-3, 3e-3), 0.6, (-8.0, -1.5, 0.2), 1.0, {"orifice": 2e3}),
        (0.05, (1e-4, -2e-3), 1.0, (1e-3, 2e-3, -0.1), 1.05, {"rebound": 9e3}),
        (0.2, (0.03, 0.01), 1.0, (0.2, -0.3, 0.3), 0.9, {"rebound": 9e3, "friction": 0.4}),
        (0.32, (0.0, 0.0), 0.3, (30.0, 4.0, 1.0), 0.9, {"rolling": 0.0}),
        (0.1, (0.0, 0.0), 0.0, (3.0, 1.0, 0.0), 2.5, {}),  # in the air
        (0.1, (1e-3, 1e-3), 0.0, (3.0, 1.0, 0.0), 1.0, {"friction": 0.0, "rolling": 0.0, "air_length": np.inf}),
    ],
)
def test_a_leg_of_a_landing_gear(s, z, brake, speed, height, more):
    """Load, friction, the rates of tread and strut, energy and power; the strut obeys F = c s' + orifice s'|s'|."""
    options = {**LEG, "brake_torque": 900.0, "up": (0.1, 0.05, -2.0), "forward": (3.0, 0.2, 0.1), **more}
    gear = pt.Gear("g", "craft", (0.5, -0.7, 0.8), brake=brake, steering=0.3, **options)
    tilted = Pose.from_euler((np.pi + 0.05, -0.04, 0.3))
    start = {"orientation": tilted.quaternion(), "position": (1.0, 2.0, height)}
    v = np.concatenate([[0.1, -0.2, 0.15], tilted.R.T @ np.array(speed)])
    moved = flying(gear, states={"g.tread": z, "g.strut": s}, v=v, **start)
    f, contact, v_c, z_rate, deflection = leg_by_hand(gear, moved, s, np.array(z), brake, 0.3)
    effect, body = moved.effects["g"], moved.scene["craft"]
    R = body.pose.R
    np.testing.assert_allclose(effect.shown["force"], f, rtol=1e-11, atol=1e-8)
    wrench = at_point(R.T @ (contact - body.pose.p), R.T @ f)
    np.testing.assert_allclose(effect.wrenches["craft"], wrench, rtol=1e-11, atol=1e-7)
    np.testing.assert_allclose(effect.rates["tread"], z_rate, rtol=1e-11, atol=1e-13)
    np.testing.assert_allclose([effect.shown["deflection"], effect.shown["load"]], [deflection, 2e5 * deflection])
    up = R @ np.array(options["up"]) / np.linalg.norm(options["up"])
    gas = 2e3 * s + 3e3 * (1 - s / gear.air_length) ** -1.3 + 2e6 * max(s - 0.3, 0.0)
    rate = effect.rates["strut"]
    c = gear.damping if rate > 0 or gear.rebound is None else gear.rebound
    assert c * rate + gear.orifice * rate * abs(rate) == pytest.approx(f @ up - gas, rel=1e-9)
    squeezed = 3e3 * 0.5 / 0.3 * ((1 - s / 0.5) ** -0.3 - 1) if gear.air_length < np.inf else 3e3 * s
    energy = 1e3 * s * s + squeezed + 1e6 * max(s - 0.3, 0.0) ** 2 + 1e5 * deflection**2
    assert effect.stored == pytest.approx(energy, rel=1e-12)
    lowering = -(v_c[2] + rate * up[2])
    power = wrench @ body.twist + gas * rate + 2e5 * deflection * lowering
    assert effect.power == pytest.approx(power, rel=1e-10, abs=1e-7)


@pytest.mark.parametrize(("down", "loaded"), [(0.0, False), (0.5, False), (0.51, True), (1.0, True)])
def test_a_gear_that_is_up_touches_nothing(down, loaded):
    gear = pt.Gear("g", "craft", radius=0.3, down=down)
    start = {"orientation": (0, 1, 0, 0), "position": (0, 0, 0.2), "v": np.zeros(6)}
    effect = flying(gear, **start).effects["g"]
    assert effect.shown["load"] == pytest.approx(0.1 * 2e5 if loaded else 0.0)
    assert "strut" not in effect.rates
    assert effect.stored == pytest.approx(0.5 * 2e5 * 0.1**2 if loaded else 0.0)


def test_a_strut_at_its_stops():
    """Out: it stays there up to the preload. In: gas is not squeezed to nothing."""
    gear = pt.Gear("g", "craft", **LEG)
    assert gear._strut_rate(np.zeros(()), np.array(2999.0))[0] == 0
    assert gear._strut_rate(np.zeros(()), np.array(3400.0))[0] == pytest.approx(400.0 / 4e3, rel=1e-9)
    assert gear._strut_rate(np.array(0.1), np.array(0.0))[0] < 0
    np.testing.assert_allclose(gear._squeezed(np.array([0.0, 0.25, 0.4999, 0.9])), [1.0, 0.5, 1e-3, 1e-3])


# Propellers and engines.

J = np.linspace(0.1, 1.2, 12)
CT = pt.Table((J,), 0.12 - 0.05 * J - 0.06 * J**2)
CP = pt.Table((J,), 0.05 + 0.02 * J - 0.06 * J**2)


def coefficients_by_hand(table, stopped, V, n, D):
    """C(phi) of the dynamic pressure at 0.7 R, from the table, or on the line to the blades that stand."""
    x, ratio = 0.7 * np.pi * n * D, V / (n * D)

    def known(j):
        return table(j) * 8 / np.pi / (j * j + (0.7 * np.pi) ** 2)

    if 0.1 <= ratio <= 1.2:
        return known(ratio)
    j, end, sign = (0.1, -np.pi / 2, 1.0) if ratio < 0.1 else (1.2, np.pi / 2, -1.0)
    phi, edge = np.arctan2(V, x), np.arctan(j / (0.7 * np.pi))
    return known(j) + (phi - edge) / (end - edge) * (sign * stopped - known(j))


@pytest.mark.parametrize("V", [-30.0, 1.0, 12.0, 38.0, 60.0])
@pytest.mark.parametrize("n", [20.0, -20.0])
def test_thrust_and_torque_of_a_propeller(V, n):
    """In the table and beyond it, and backwards: T(-n, -V) = -T(n, V)."""
    D, rho, back = 1.7, 1.1, np.sign(n)
    prop = pt.Propeller("p", "craft", D, CT, CP, stopped_drag=0.2, stopped_torque=0.03)
    pressure = 0.5 * rho * (V**2 + (0.7 * np.pi * n * D) ** 2) * np.pi / 4 * D**2
    T = back * pressure * coefficients_by_hand(CT, 0.2, back * V, abs(n), D)
    Q = back * pressure * D * coefficients_by_hand(CP, 0.03 * 2 * np.pi, back * V, abs(n), D) / (2 * np.pi)
    np.testing.assert_allclose(prop.at(rho, V, 2 * np.pi * n), [T, Q], rtol=1e-11)


@pytest.mark.parametrize("hand", ["right", "left"])
@pytest.mark.parametrize("driven", [False, True])
def test_a_propeller_is_a_thrust_and_a_rotor(hand, driven):
    """Its wrench, power, energy and states are those of the thrust at its point and of a rotor under the air's load."""
    axis, point, sigma = np.array([3.0, 0.5, -1.0]), np.array([1.0, -2.0, 0.3]), 150.0
    s, sign = axis / np.linalg.norm(axis), 1.0 if hand == "right" else -1.0
    drive = {"torque": 90.0, "friction": 0.01} if driven else {}
    spin = {"inertia": 0.8, "speed": sigma, **drive}
    prop = pt.Propeller("p", "craft", 1.7, CT, CP, point=point, axis=axis, hand=hand, **spin)
    air = flying(prop).scene.air("craft", point)
    T, Q = prop.at(air.air.density, air.velocity @ s, sigma)
    rotor = pt.Rotor("r", "craft", sign * axis, load=-Q, **spin)
    moved = flying(prop, rotor)
    one, other = moved.effects["p"].evaluated(moved), moved.effects["r"].evaluated(moved)
    thrust = at_point(point, T * s)
    np.testing.assert_allclose(one.wrenches["craft"], thrust + other.wrenches["craft"], rtol=1e-12, atol=1e-9)
    np.testing.assert_allclose(one.outside["craft"], thrust + other.outside["craft"], rtol=1e-12, atol=1e-9)
    np.testing.assert_allclose(one.carried["craft"], other.carried["craft"], rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(one.stored, other.stored, rtol=1e-12)
    np.testing.assert_allclose(one.power, thrust @ moved.scene["craft"].twist + other.power, rtol=1e-12)
    np.testing.assert_allclose([one.shown["thrust"], one.shown["torque"]], [T, Q], rtol=1e-13)
    np.testing.assert_allclose(one.shown["force"], T * s, rtol=1e-13)
    assert one.rates.keys() == other.rates.keys()
    assert one.rates.get("speed", 0.0) == pytest.approx(other.rates.get("speed", 0.0), rel=1e-12)
    assert ("speed" in one.shown) is not driven


def engine_at(engine, sigma, states=None, tanks=(), **more):
    prop = pt.Propeller("p", "craft", 1.7, CT, CP, inertia=0.8, engine="e")
    moved = flying(prop, engine, *tanks, states={"p.speed": sigma, **(states or {})}, **more)
    return moved, moved.effects["e"].shown


@pytest.mark.parametrize(("sigma", "throttle"), [(200.0, 1.0), (30.0, 0.4), (-5.0, 0.4)])
@pytest.mark.parametrize("turbo", [False, True])
def test_the_torque_of_a_piston_engine(sigma, throttle, turbo):
    options = {"power": 9e4, "speed": 280.0, "throttle": throttle, "idle": 50.0, "drag": 12.0, "turbo": turbo}
    moved, shown = engine_at(pt.PistonEngine("e", "craft", "p", **options), sigma)
    fall = 1.0 if turbo else 1.132 * moved.scene.air("craft").density / 1.225 - 0.132
    torque = throttle * 9e4 / 280.0 * fall * min(max(sigma / 50.0, 0.0), 1.0) - 12.0 * sigma / 280.0
    assert shown["torque"] == pytest.approx(torque, rel=1e-12)
    assert shown["shaft_power"] == pytest.approx(torque * sigma, rel=1e-12)


def test_a_piston_engine_burns_by_its_power():
    engine = pt.PistonEngine("e", "craft", "p", 9e4, 280.0, 0.7, tank="t", bsfc=8e-8, lag=0.3)
    tank = pt.Tank("t", "craft", contents=60.0)
    moved, shown = engine_at(engine, 200.0, {"e.rate": 1e-3}, [tank])
    effect = moved.effects["e"]
    assert effect.rates["rate"] == pytest.approx((8e-8 * shown["torque"] * 200.0 - 1e-3) / 0.3, rel=1e-12)
    assert effect.rates["t.contents"] == -1e-3
    empty = {"e.rate": 0.0, "t.contents": 1e-4}
    less = engine_at(engine, 200.0, empty, [tank])[1]["torque"]
    asked = 8e-8 * shown["torque"] * 200.0
    assert less / shown["torque"] == pytest.approx(1e-4 / (4 * 0.3) / asked, rel=1e-9)  # what the tank can give
    assert engine_at(engine, -200.0, empty, [tank])[0].effects["e"].rates["rate"] == 0


@pytest.mark.parametrize(
    ("sigma", "most"), [(300.0, np.inf), (900.0, np.inf), (0.2, np.inf), (300.0, 20.0), (2e3, 30.0)]
)
def test_the_torque_of_an_electric_motor(sigma, most):
    options = {"kv": 60.0, "resistance": 0.2, "voltage": 24.0, "throttle": 0.75, "no_load_current": 1.5}
    shown = engine_at(pt.ElectricMotor("e", "craft", "p", max_current=most, **options), sigma)[1]
    i = min(max((0.75 * 24.0 - sigma / 60.0) / 0.2, -most), most)
    assert shown["current"] == pytest.approx(i, rel=1e-12)
    assert shown["torque"] == pytest.approx((i - 1.5 * np.tanh(sigma)) / 60.0, rel=1e-12)
    assert shown["electric_power"] == pytest.approx(18.0 * i, rel=1e-12)


# Jets.


def jet_with(**more):
    def thrust(mach, altitude, P):
        return (4e4 - 1e4 * mach - altitude) * P**2

    options = {"thrust": thrust, "throttle": 0.8, "direction": (2.0, 0.3, -0.1), "point": (-1.0, 0.4, 0.2), **more}
    return pt.Jet("j", "craft", **options)


@pytest.mark.parametrize("rate", [np.inf, 0.05])
def test_a_jet_is_a_thrust_and_a_rotor(rate):
    """Thrust of Mach number, altitude and power at its point; the rotor's momentum h: F = h x omega - h'."""
    jet = jet_with(spool=2.0, spool_rate=rate, rotor_inertia=3.0, rotor_speed=(200.0, 900.0))
    moved = flying(jet, states={"j.power": 0.5})
    effect, air, V = moved.effects["j"].evaluated(moved), moved.scene.air("craft"), moved.scene["craft"].twist
    s = np.array([2.0, 0.3, -0.1]) / np.linalg.norm([2.0, 0.3, -0.1])
    T, change = (4e4 - 1e4 * air.mach - air.altitude) * 0.25, min((0.8 - 0.5) / 2.0, rate)
    h, h_rate = 3.0 * (200.0 + 700.0 * 0.5) * s, 3.0 * 700.0 * change * s
    push = at_point([-1.0, 0.4, 0.2], T * s)
    turning = np.concatenate([np.cross(h, V[:3]) - h_rate, np.zeros(3)])
    np.testing.assert_allclose(effect.wrenches["craft"], push + turning, rtol=1e-12, atol=1e-9)
    np.testing.assert_allclose(effect.outside["craft"], push, rtol=1e-12)
    np.testing.assert_allclose(effect.carried["craft"], [*h, 0, 0, 0], rtol=1e-13, atol=1e-12)
    assert effect.rates["power"] == pytest.approx(change, rel=1e-13)
    assert effect.stored == pytest.approx(h @ V[:3] + 0.5 * 3.0 * 550.0**2, rel=1e-13)
    turned = 3.0 * 550.0 * (700.0 * change + s @ moved.acceleration("craft")[:3])
    assert effect.power == pytest.approx(push @ V + turned, rel=1e-11)
    assert effect.shown["thrust"] == pytest.approx(T, rel=1e-13)
    np.testing.assert_allclose(effect.shown["force"], T * s, rtol=1e-13)


def test_the_fuel_of_a_jet():
    """It flows at tsfc T to the engine, and leaves with its velocity; thrust ends with the tank."""
    jet = jet_with(tank="t", tsfc=2e-5, lag=0.2, spool=None)
    tank = pt.Tank("t", "craft", contents=300.0, position=(0.3, 0.2, 0.5))
    flow = pt.Flow("f", "craft", "t", rate=0.1, point=(-1.0, 0.4, 0.2))
    moved = flying(jet, tank, flow, states={"j.rate": 0.1})
    one, other = moved.effects["j"], moved.effects["f"]
    T = one.shown["thrust"]
    assert one.shown["power"] == 0.8
    assert one.rates["rate"] == pytest.approx((2e-5 * T - 0.1) / 0.2, rel=1e-12)
    assert one.rates["t.contents"] == -0.1
    assert one.mass == -0.1
    stream = np.concatenate([np.cross([0.3, 0.2, 0.5], [-1.0, 0.4, 0.2]), [-1.3, 0.2, -0.3]])
    grows = one.rates["rate"] - other.rates["rate"]  # the flow of the jet speeds up by that much more
    push = at_point([-1.0, 0.4, 0.2], one.shown["force"])
    np.testing.assert_allclose(
        one.wrenches["craft"], push + other.wrenches["craft"] - grows * stream, rtol=1e-11, atol=1e-8
    )
    low = flying(jet, tank, states={"j.rate": 0.0, "t.contents": 0.05}).effects["j"].shown["thrust"]
    assert low / T == pytest.approx(0.05 / (4 * 0.2) / (2e-5 * T), rel=1e-9)
    braking = jet_with(tank="t", tsfc=2e-5, lag=0.2, spool=None, thrust=lambda m, a, P: -50.0 * P)
    assert flying(braking, tank, states={"j.rate": 0.0}).effects["j"].rates["rate"] == 0


# Parachutes.


@pytest.mark.parametrize(("t", "x"), [(0.5, 0.25**2.5), (3.0, 1.0), (0.0, 0.0)])
def test_a_parachute_drags_and_takes_air_along(t, x):
    """f = -rho/2 V v CdS x - m x a at its point; the acceleration of the air follows that of the point."""
    r, a = np.array([-2.0, 0.3, 0.4]), np.array([1.0, -2.0, 0.5])
    chute = pt.Parachute("p", "craft", 7.0, r, inflation=2.0, growth=2.5, added_mass=30.0)
    moved = flying(chute, states={"p.acceleration": a}, t=t)
    effect, air = moved.effects["p"].evaluated(moved), moved.scene.air("craft", r)
    V, A = moved.scene["craft"].twist, moved.acceleration("craft")
    f = -0.5 * air.density * 7.0 * x * np.linalg.norm(air.velocity) * air.velocity - 30.0 * x * a
    np.testing.assert_allclose(effect.wrenches["craft"], at_point(r, f), rtol=1e-12, atol=1e-9)
    true = A[3:] + np.cross(V[:3], V[3:]) + np.cross(A[:3], r) + np.cross(V[:3], np.cross(V[:3], r))
    np.testing.assert_allclose(effect.rates["acceleration"], (true - a) / 0.02, rtol=1e-11)
    assert effect.shown["open"] == pytest.approx(x, rel=1e-13)
    assert effect.shown["drag"] == pytest.approx(0.5 * air.density * (air.velocity @ air.velocity) * 7.0 * x, rel=1e-12)


def test_when_a_parachute_opens():
    """At once, never, or from its trigger on; it stays open, since the first time."""
    for trigger, inflation, x in ((1.0, 0.0, 1.0), (0.0, 0.0, 0.0), (-1.0, 1.0, 0.0), (0.5, 4.0, 0.25)):
        moved = flying(pt.Parachute("p", "craft", trigger=trigger, inflation=inflation), t=2.0)
        assert moved.effects["p"].shown["open"] == x
        assert not moved.scene.elements["p"].latches
    for inflation, t, x in ((0.0, 3.0, 1.0), (0.0, 2.9, 0.0), (4.0, 5.0, 0.25), (4.0, 2.0, 0.0)):
        chute = pt.Parachute("p", "craft", trigger=lambda t: t - 1.0, inflation=inflation)
        moved = flying(chute, states={"p.opened_at": 3.0}, t=t)
        assert moved.effects["p"].shown["open"] == x
        assert chute.latches
        assert chute.settle(moved, {"opened_at": np.array(3.0)})["opened_at"] == 3.0
        assert chute.settle(moved, {"opened_at": np.array(1e30)})["opened_at"] == t
    early = flying(chute, t=0.5)
    assert chute.settle(early, chute.states())["opened_at"] == 1e30
    assert early.effects["p"].shown["open"] == 0


# Rockets.


@pytest.mark.parametrize("seed", SEEDS)
def test_a_rocket_is_the_sum_of_its_parts(seed):
    """Normal forces by the flow at each part, drag along the axis, rolling by cant and rate."""
    n, tip = np.array([2.0, 0.1, -0.2]), np.array([0.7, 0.1, -0.05])
    fins = pt.Fins(at=1.1, count=3, cant=0.02)
    parts = {"nose": pt.Nose(0.3, "cone"), "transitions": pt.Transition(at=1.3), "fins": fins}
    moved = flying(pt.Barrowman("b", "craft", 0.1, drag=0.4, tip=tip, axis=n, **parts), seed=seed)
    n = n / np.linalg.norm(n)
    com, omega = moved.scene["craft"].inertia.com, moved.scene["craft"].twist[:3]
    centre = moved.scene.air("craft", com)
    A, F = np.pi * 0.01 / 4, np.zeros(6)
    drag = -0.5 * centre.density * A * 0.4 * np.linalg.norm(centre.velocity) * (centre.velocity @ n) * n
    for part in parts.values():
        slope, place = part.normal(0.1, centre.mach)
        p = tip - place * n
        air = moved.scene.air("craft", p)
        v, across = air.velocity, air.velocity - (air.velocity @ n) * n
        F = F + at_point(p, -0.5 * air.density * A * slope * np.linalg.norm(v) * across)
        if part is fins:
            speed = np.linalg.norm(v)
            cant, rate = fins.rolling(0.1, air.mach)
            roll = 0.5 * air.density * speed**2 * A * 0.1 * (cant * 0.02 + rate * (omega @ n) * 0.1 / (2 * speed))
            F = F + np.concatenate([roll * n, np.zeros(3)])
    effect = moved.effects["b"]
    np.testing.assert_allclose(effect.wrenches["craft"], F + at_point(tip, drag), rtol=1e-11, atol=1e-9)
    np.testing.assert_allclose(effect.shown["force"], F[3:] + drag, rtol=1e-11)
    cosine = centre.velocity @ n / np.linalg.norm(centre.velocity)
    assert effect.shown["angle"] == pytest.approx(np.arccos(cosine), rel=1e-9)


def test_the_slope_of_fins():
    """Diederich's formula with the compressibility of Prandtl and Glauert, and of Ackeret; sets of more fins."""
    root, tip, span, sweep, d = 0.12, 0.06, 0.09, 0.07, 0.08
    area = 0.5 * (root + tip) * span
    AR, along = 2 * span**2 / area, sweep + 0.5 * tip - 0.5 * root
    cosine = np.cos(np.arctan(along / span))
    for mach, b in (
        (0.0, 1.0),
        (0.5, np.sqrt(0.75)),
        (0.8, 0.6),
        (0.95, 0.6),
        (1.1, np.sqrt(0.21)),
        (2.0, np.sqrt(3.0)),
    ):
        one = 2 * np.pi * AR / (2 + np.sqrt(4 + (b * AR / cosine) ** 2)) * area / (np.pi * d * d / 4)
        for count, times in ((3, 1.5), (4, 2.0), (5, 2.37), (6, 2.74), (7, 2.99), (8, 3.24)):
            fins = pt.Fins(at=1.0, root=root, tip=tip, span=span, sweep=sweep, count=count)
            slope, place = fins.normal(d, mach)
            assert slope == pytest.approx((1 + 0.04 / (span + 0.04)) * times * one, rel=1e-12)
    mean = (root + tip - root * tip / (root + tip)) / 6
    assert place == pytest.approx(1.0 + sweep / 3 * (root + 2 * tip) / (root + tip) + mean, rel=1e-12)


def test_where_noses_and_transitions_push():
    """L - V/A of the solid, V by quadrature of its radius; a cone between two radii likewise."""
    x = (np.arange(20000) + 0.5) / 20000 * 0.3
    rho = (0.3**2 + 0.05**2) / 0.1
    radius = {
        "cone": x / 6,
        "ogive": np.sqrt(rho**2 - (0.3 - x) ** 2) - (rho - 0.05),
        "parabolic": 0.05 * np.sqrt(x / 0.3),
        "elliptic": 0.05 * np.sqrt(1 - (1 - x / 0.3) ** 2),
    }
    theta = np.arccos(1 - 2 * x / 0.3)
    radius["von karman"] = 0.05 * np.sqrt((theta - np.sin(2 * theta) / 2) / np.pi)
    for shape, r in radius.items():
        slope, place = pt.Nose(0.3, shape).normal(0.1, 0.5)
        assert slope == 2
        assert place == pytest.approx(0.3 - 0.3 * np.mean(r * r) / 0.05**2, rel=1e-6)
    r = 0.04 + (0.03 - 0.04) * x / 0.3  # the place of the change of area: integral of x dA / integral of dA
    slope, place = pt.Transition(at=1.0, length=0.3, fore=0.08, aft=0.06).normal(0.1, 0.5)
    assert slope == pytest.approx(2 * (0.06**2 - 0.08**2) / 0.1**2, rel=1e-13)
    assert place == pytest.approx(1.0 + np.sum(x * r) / np.sum(r), rel=1e-8)


# Strips and wings.


@pytest.mark.parametrize("seed", SEEDS)
def test_a_strip_with_its_wake_and_the_mass_of_the_air(seed):
    """Lift by the lagging angle at 3/4 chord, the air's mass pi rho c^2/4 per width at half chord, the flap."""
    rng = np.random.default_rng(seed)
    p, c, width, flap, delta = rng.normal(size=3), 1.3, 0.7, 0.3, 0.1
    lag, change = 0.1 * rng.normal(size=3), rng.normal(size=2)
    foil = pt.Section(lift_slope=5.5, zero_lift=-0.03, drag=0.01, induced=0.04, moment=-0.05)
    options = {"twist": 0.1, "flap": flap, "deflection": delta, "effectiveness": 0.8, "forward": (2.0, 0.1, 0.0)}
    strip = pt.Strip("s", "craft", p, c, width, foil, unsteady="wagner", mass_lag=0.01, **options)
    moved = flying(strip, seed=seed, states={"s.lag": lag, "s.acceleration": change})
    f = np.array([2.0, 0.1, 0.0]) / np.linalg.norm([2.0, 0.1])
    right = np.cross(f, [0, 0, -1.0])
    f = np.cos(0.1) * f + np.sin(0.1) * np.array([0, 0, -1.0])
    d = np.cross(f, right)
    V, A = moved.scene["craft"].twist, moved.acceleration("craft")
    omega, v = V[:3], V[3:] + np.cross(V[:3], p)
    rho, u, w, q = moved.scene.air("craft", p).density, v @ f, v @ d, omega @ right
    alpha = np.arctan2(w + 0.5 * c * q, u)
    later = (1 - 0.0554 - 0.2649 - 0.1797) * alpha + np.array([0.0554, 0.2649, 0.1797]) @ lag
    theta = np.arccos(2 * flap - 1)
    turned = later + (1 - (theta - np.sin(theta)) / np.pi) * 0.8 * delta
    CL = 5.5 * (turned + 0.03)
    CD, Cm = 0.01 + 0.04 * CL**2, -0.05 - 0.5 * np.sin(theta) * (1 - np.cos(theta)) * 0.8 * delta
    pressure = 0.5 * rho * (u * u + w * w) * c * width
    flow = (u * f + w * d) / np.hypot(u, w)
    force = pressure * (CL * np.cross(right, flow) - CD * flow)
    added = np.pi / 4 * rho * c * c * width
    behind = -added * change[0] * d
    moment = pressure * c * Cm - added * c / 4 * u * q - added * c * c / 32 * change[1]
    F = at_point(p, force) + at_point(p - c / 4 * f, behind) + np.concatenate([moment * right, np.zeros(3)])
    effect = moved.effects["s"].evaluated(moved)
    np.testing.assert_allclose(effect.wrenches["craft"], F, rtol=1e-11, atol=1e-8)
    np.testing.assert_allclose(effect.shown["force"], force + behind, rtol=1e-11)
    assert effect.shown["lift"] == pytest.approx(pressure * CL, rel=1e-12)
    assert effect.shown["alpha"] == pytest.approx(later, rel=1e-12)
    b = np.array([0.0176, 0.1226, 0.4737])
    np.testing.assert_allclose(effect.rates["lag"], b * 2 * np.hypot(u, w) / c * (alpha - lag), rtol=1e-11)
    half = p - c / 4 * f
    w_rate = (A[3:] + np.cross(A[:3], half)) @ d  # the air is at rest; directions turn with the body
    np.testing.assert_allclose(
        effect.rates["acceleration"], (np.array([w_rate, A[:3] @ right]) - change) / 0.01, rtol=1e-10
    )
    np.testing.assert_array_equal(WAGNER[1], b)


def test_the_air_that_a_strip_accelerates_is_at_rest_in_the_world():
    """In a wind w' gains omega x wind, as the wind turns in the axes of the body."""
    p, c = np.array([0.3, 1.0, -0.2]), 0.8
    world = pt.World((0, 0, 0), air=pt.US76(), wind=(5.0, -7.0, 2.0))
    start = Pose.from_euler((0.2, 0.3, -0.5), p=(0, 0, 50.0))
    body = world.add_body("craft", pt.Inertia.box(9.0, (1, 2, 3)), placement=start, v=(0.3, -0.4, 0.5, 30.0, 1.0, 2.0))
    body.add(pt.Strip("s", point=p, chord=c, unsteady="wagner"))
    moved = world.motion()
    V, A = moved.scene["craft"].twist, moved.acceleration("craft")
    air = moved.scene.air("craft", p).velocity
    wind = V[3:] + np.cross(V[:3], p) - air
    rate = A[3:] + np.cross(A[:3], p - [0.25 * c, 0, 0]) + np.cross(V[:3], wind)
    rates = moved.effects["craft.s"].evaluated(moved).rates["acceleration"]
    np.testing.assert_allclose(rates, np.array([rate[2], A[1]]) / 1e-3, rtol=1e-11)


def test_sections_beyond_the_stall():
    """A flat plate with the normal force 2 sin^2 at half chord, mixed in within some widths of the stall."""
    foil = pt.Section(5.0, -0.02, 0.01, 0.03, -0.04, stall=0.25, stall_width=0.03, compressible=True)
    for alpha in (-1.0, -0.3, -0.25, 0.1, 0.27, 1.2):
        for mach, k in ((0.0, 1.0), (0.6, 1.25), (0.9, 1 / 0.6)):
            CL, Cm = 5.0 * (alpha + 0.02) * k, -0.04 * k
            CN = 2 * np.sin(alpha) ** 2 * np.sign(alpha)
            apart = 1 + 0.5 * np.tanh((alpha - 0.25) / 0.06) - 0.5 * np.tanh((alpha + 0.25) / 0.06)
            plate = np.array([CN * np.cos(alpha), 0.01 + CN * np.sin(alpha), -CN / 4])
            whole = (1 - apart) * np.array([CL, 0.01 + 0.03 * CL**2, Cm]) + apart * plate
            np.testing.assert_allclose(foil.coefficients(np.array(alpha), np.array(mach)), whole, rtol=1e-12)


@pytest.mark.parametrize("side", ["left", "right", "both"])
def test_where_the_strips_of_a_wing_are(side):
    """Along a line with sweep and dihedral, across it, each as wide and long as that line demands."""
    sweep, dihedral, span, root = 0.4, 0.15, 4.0, np.array([0.5, 0.1, -0.3])
    aileron = {"aileron": (0.5, 0.9), "flap": 0.3}
    shape = {"chord": (1.4, 0.8), "twist": (0.1, -0.02), "axis": 0.4, "sweep": sweep, "dihedral": dihedral}
    wing = pt.Wing("w", "a", half_span=span, strips=2, side=side, position=root, **shape, **aileron)
    signs = {"left": [-1], "right": [1], "both": [1, -1]}[side]
    panels = wing.panels(0.2)
    assert wing.count == len(panels) == 2 * len(signs)
    places = [(sign, eta) for sign in signs for eta in (0.25, 0.75)]
    for panel, (sign, eta) in zip(panels, places, strict=True):
        out = np.array([0, sign * np.cos(dihedral), -np.sin(dihedral)])
        line = root + eta * span * (out - np.tan(sweep) * np.array([1.0, 0, 0]))
        forward = np.cos(sweep) * np.array([1.0, 0, 0]) + np.sin(sweep) * out
        right = sign * (np.cos(sweep) * out - np.sin(sweep) * np.array([1.0, 0, 0]))
        down, twist = np.cross(forward, right), 0.1 - 0.12 * eta
        nose = np.cos(twist) * forward - np.sin(twist) * down
        chord = (1.4 - 0.6 * eta) * np.cos(sweep)
        np.testing.assert_allclose(panel.p, line + 0.15 * chord * nose, atol=1e-13)
        np.testing.assert_allclose(panel.forward, nose, atol=1e-14)
        np.testing.assert_allclose(panel.right, right, atol=1e-14)
        np.testing.assert_allclose(panel.down, np.cross(nose, right), atol=1e-14)
        np.testing.assert_allclose([panel.chord, panel.width], [chord, 2.0 / np.cos(sweep)], rtol=1e-13)
        np.testing.assert_allclose(panel.deflection, 0.2 * sign * (0.8 if eta > 0.5 else 0.0), atol=1e-15)
        assert (panel.body, panel.flap) == ("a", 0.3)
    assert [p.deflection for p in pt.Wing("w", "a", half_span=1.0, flap=0.2, together=True).panels(0.2)] == [0.2, 0.2]


def test_a_wing_on_a_beam_and_functions_along_it():
    beam = pt.Beam("b", 3.0, 1.0, 1.0, 2)
    wing = pt.Wing("w", beam=beam, strips=2, chord=lambda y: 1 + y, twist=lambda y: 0.1 * y)
    x = [0.0, 0.5 * beam.joints[1], beam.joints[1], 0.5 * (beam.joints[1] + 3.0), 3.0]
    np.testing.assert_allclose(wing.edges, np.array(x) / 3.0, rtol=1e-14)
    assert wing.bodies() == ("b0", "b1")
    for k, panel in enumerate(wing.panels()):
        y = 0.5 * (x[k] + x[k + 1])
        assert panel.body == f"b{k // 2}"
        nose = np.array([0, -np.cos(0.1 * y), np.sin(-0.1 * y)])
        np.testing.assert_allclose(panel.forward, nose, atol=1e-14)
        np.testing.assert_allclose(panel.p, [y - beam.joints[k // 2], 0, 0], atol=1e-14)
        np.testing.assert_allclose([panel.chord, panel.width], [1 + y, x[k + 1] - x[k]], rtol=1e-13)


def test_a_wing_is_the_sum_of_its_strips():
    """Also its states, one row for each strip."""
    wing = pt.Wing("w", "craft", half_span=3.0, strips=2, unsteady="wagner", alpha_start=0.1, deflection=0.1, flap=0.2)
    assert wing.states()["lag"].shape == (4, 3)
    np.testing.assert_array_equal(wing.states()["lag"], 0.1)
    np.testing.assert_array_equal(wing.states()["acceleration"], np.zeros((4, 2)))
    rng = np.random.default_rng(3)
    lag, change = 0.1 * rng.normal(size=(4, 3)), rng.normal(size=(4, 2))
    strips = [
        pt.Strip(f"s{k}", "craft", p.p, p.chord, p.width, unsteady="wagner", deflection=p.deflection, flap=0.2)
        for k, p in enumerate(wing.panels(0.1))
    ]
    states = {"w.lag": lag, "w.acceleration": change}
    states |= {f"s{k}.{key}": x[k] for k in range(4) for key, x in (("lag", lag), ("acceleration", change))}
    moved = flying(wing, *strips, states=states)
    own = moved.effects["w"].evaluated(moved)
    each = [moved.effects[f"s{k}"].evaluated(moved) for k in range(4)]
    np.testing.assert_allclose(own.wrenches["craft"], sum(e.wrenches["craft"] for e in each), rtol=1e-12, atol=1e-9)
    for key in ("lag", "acceleration"):
        np.testing.assert_allclose(own.rates[key], [e.rates[key] for e in each], rtol=1e-12)
    for key in ("lift", "alpha"):
        np.testing.assert_allclose(own.shown[key], [e.shown[key] for e in each], rtol=1e-12)


# Solid motors.


@pytest.mark.parametrize(("tau", "web"), [(0.5, 1e-3), (1.5, 2e-3), (2.5, 3e-3), (1.0, 0.5)])
def test_a_solid_motor(tau, web):
    """F = ad(V)^T h - h' + r (layer V) - r w: thrust at the nozzle, and the momentum of the stream to it."""
    a, b, s = np.array([-0.5, 0.1, 0.0]), np.array([-0.9, 0.1, 0.05]), np.array([2.0, 0.1, 0.2])
    curve = pt.Tabulated([0, 1, 2], [0, 900.0, 600.0])
    grain = {"mass": 0.8, "radius": 0.03, "bore": 0.01, "length": 0.1, "grains": 2, "gap": 0.01}
    motor = pt.SolidMotor("m", "craft", curve, position=a, point=b, direction=s, ignition=1.0, factor=1.1, **grain)
    moved = flying(motor, states={"m.web": web}, t=1.0 + tau)
    effect, V = moved.effects["m"].evaluated(moved), moved.scene["craft"].twist
    s = s / np.linalg.norm(s)
    c, left, burns = 1200.0 / 0.8, web < 0.02, tau < 2
    r = (np.interp(tau, [0, 1, 2], [0, 900.0, 600.0]) / c if burns else 0.0) if left else 0.0
    r_rate = ((900.0 if tau < 1 else -300.0) / c if burns else 0.0) if left else 0.0
    path = np.concatenate([np.cross(a, b), b - a])
    w = at_point(b, V[3:] + np.cross(V[:3], b) - 1.1 * c * s)
    F = motion.ad_dual(V, r * path) - r_rate * path + r * motor.layer(np.array(web)).momentum(V) - r * w
    np.testing.assert_allclose(effect.wrenches["craft"], F, rtol=1e-11, atol=1e-9)
    np.testing.assert_allclose(effect.outside.get("craft", 0.0), -r * w, rtol=1e-11, atol=1e-9)
    bore, h = 0.01 + min(web, 0.02), 0.1 - 2 * min(web, 0.02)
    V0, volume = 2 * np.pi * (0.03**2 - 0.01**2) * 0.1, 2 * np.pi * (0.03**2 - bore**2) * h
    area = 2 * (2 * np.pi * bore * h + 2 * np.pi * (0.03**2 - bore**2))
    assert effect.rates["web"] == pytest.approx(r / (0.8 / V0 * area), rel=1e-12)
    assert effect.shown["contents"] == pytest.approx(0.8 * volume / V0, rel=1e-12, abs=1e-12)
    np.testing.assert_allclose(effect.shown["force"], 1.1 * r * c * s, rtol=1e-12)
    assert effect.mass == pytest.approx(-r)
    moment = 0.5 * (0.03**2 + bore**2) * np.outer(s, s)
    across = (0.03**2 + bore**2) / 4 + h * h / 12 + 0.055**2
    moment = 0.8 * volume / V0 * (moment + across * (np.eye(3) - np.outer(s, s)))
    added = motor.inertias({"web": np.array(web)})  # nothing once it is burnt
    assert bool(added) is left
    for inertia in added.values():
        np.testing.assert_allclose(inertia.moment, moment, atol=1e-15)
        np.testing.assert_array_equal(inertia.com, a)


def test_a_motor_that_is_lit_by_a_signal_and_gains_with_height():
    """Its clock stands until it is lit, and goes on then; area (p0 - p) is added while it burns. Unlit it exerts
    nothing, also if its curve does not begin at zero."""
    curve = pt.Tabulated([0, 1, 2], [300.0, 900.0, 600.0])
    grain = {"mass": 0.8, "radius": 0.03, "bore": 0.01, "length": 0.1}
    motor = pt.SolidMotor("m", "craft", curve, ignition=lambda t: 0.0, exit_area=2e-3, **grain)
    for clock, runs in ((0.0, 0.0), (0.0, 1.0), (0.5, 1.0), (2.5, 1.0)):
        moved = flying(motor, states={"m.clock": clock, "m.web": 1e-4, "m.lit": runs})
        effect = moved.effects["m"]
        assert effect.rates["clock"] == runs
        more = 2e-3 * (101325.0 - moved.scene.air("craft").pressure) if runs and clock < 2 else 0.0
        T = runs * np.interp(clock, [0, 1, 2], [300.0, 900.0, 600.0], right=0.0)
        np.testing.assert_allclose(effect.shown["force"], [T + more, 0, 0], rtol=1e-12)
    assert motor.states().keys() == {"web", "clock", "lit"}
    world = pt.World()
    world.add_body("a", pt.Inertia.box(1.0, (1, 1, 1))).add(pt.SolidMotor("m", thrust=curve, exit_area=1e-3, **grain))
    with pytest.raises(KeyError, match="has no air"):
        world.motion()
