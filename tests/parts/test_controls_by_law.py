"""Controllers over a step, coefficients by alpha', the ground, names of signals: at one instant and by hand."""

import numpy as np
import pytest
from instants import at_start, flying, two_bodies

import poinsot as pt
from poinsot.parts.resisting import Later
from poinsot.parts.slosh import slosh_model
from poinsot.spatial import Pose

H = 0.01


def later_of(scene, rng):
    return Later(scene, H, {name: rng.normal(size=6) for name in scene.bodies}, rng.normal(size=scene.v.size))


@pytest.mark.parametrize(("limit", "yields"), [(np.inf, True), (1e3, True), (0.5, False)])
def test_a_controller_over_a_step(limit, yields):
    """tau = kp (error - h v) + kd (rate - v), with the slope kd + h kp; at its limit it does not yield."""
    rng, world = two_bodies(1, pt.revolute((0, 0, 1)), q=0.7, v=[-0.2])
    world.add(pt.PD("pd", "b", kp=5.0, kd=0.5, target=0.4, target_rate=0.3, limit=limit))
    scene = at_start(world)[2].scene
    law, later = scene.elements["pd"].resisting(scene, H), later_of(scene, rng)
    tau, slope = 5.0 * (0.4 - 0.7 + H * 0.2) + 0.5 * (0.3 + 0.2), 0.5 + H * 5.0
    resistance = law.at(later)
    np.testing.assert_allclose(resistance.joint_forces["b"], tau if yields else -0.5, rtol=1e-13)
    np.testing.assert_allclose(resistance.joint_slopes["b"], slope if yields else 0.0, rtol=1e-13)
    used = resistance.used(later)
    effect = law.taken(later, used)
    force = tau - slope * later.joint_change("b") if yields else -0.5
    np.testing.assert_allclose(effect.joint_forces["b"], force, rtol=1e-12)
    np.testing.assert_allclose(effect.shown["torque"], force, rtol=1e-12)
    np.testing.assert_allclose(effect.shown["error"], [-0.3], rtol=1e-13)
    assert effect.power == pytest.approx(float(np.sum(force * (-0.2 + later.joint_change("b")))), rel=1e-12)


def test_a_spring_from_the_world_over_a_step():
    rng, world = two_bodies(3)
    points = rng.normal(size=(2, 3))
    world.add(pt.Spring("s", "world", "b", 70.0, 0.1, 0.9, *points))
    scene = at_start(world)[2].scene
    law, later = scene.elements["s"].resisting(scene, H), later_of(scene, rng)
    b = scene["b"]
    d, u = b.point(points[1]) - points[0], b.velocity_of(points[1])
    u = u + b.pose.R @ (later.change("b")[3:] + np.cross(later.change("b")[:3], points[1]))
    n, length = d / np.linalg.norm(d), np.linalg.norm(d)
    pull = 70.0 * (length - 0.1)
    f = pull * n + (0.9 + H * 70.0) * (n @ u) * n + H * pull / length * (u - (n @ u) * n)
    used = law.at(later).used(later)
    assert set(used.wrenches) == {"b"}
    np.testing.assert_allclose(used.wrenches["b"], b.wrench(-f, points[1]), rtol=1e-10, atol=1e-11)


def test_stops_on_one_side_of_one_coordinate():
    for limits in ({"lower": [-1.0, -np.inf]}, {"upper": [np.inf, 1.0]}):
        _, world = two_bodies(1, pt.universal((0, 1, 0), (0, 0, 1)))
        world.add(pt.JointStop("s", "b", **limits))
        assert at_start(world)[2].effects["s"].stored == 0


@pytest.mark.parametrize("kind", [pt.Force, pt.Torque])
def test_one_number_is_not_a_vector(kind):
    with pytest.raises(ValueError, match=r"has shape \(\); it must have shape \(3,\)"):
        flying(kind("f", "craft", lambda t: 1.0))


# Coefficients.

SIZES = {"area": 16.0, "span": 10.0, "chord": 1.5}


@pytest.mark.parametrize("air_at", ["position", "com"])
def test_alpha_dot_follows_the_accelerations(air_at):
    """alpha' = (u w' - w u')/(u^2 + w^2) of the point, and the state follows it; Cm by alpha' c/2V."""
    r = np.array([0.3, -0.2, 0.4])
    aero = pt.Aero("x", "craft", {"Cmadot": -5.0, "CZ_alpha": -4.0}, **SIZES, position=r, air_at=air_at, alpha_lag=0.1)
    moved = flying(aero, states={"x.alpha_dot": 0.7})
    effect, V, A = moved.effects["x"].evaluated(moved), moved.scene["craft"].twist, moved.acceleration("craft")
    at = r if air_at == "position" else moved.scene["craft"].inertia.com
    air = moved.scene.air("craft", at)
    u, _, w = V[3:] + np.cross(V[:3], at)
    change = A[3:] + np.cross(A[:3], at)
    rate = (u * change[2] - w * change[0]) / (u * u + w * w)
    assert effect.rates["alpha_dot"] == pytest.approx((rate - 0.7) / 0.1, rel=1e-10)
    q_S, speed = 16.0 * air.dynamic_pressure, np.linalg.norm(air.velocity)
    assert effect.shown["moment"][1] == pytest.approx(-5.0 * 0.7 * 1.5 / (2 * speed) * q_S * 1.5, rel=1e-12)
    force = np.array([0, 0, -4.0 * np.arctan2(w, u) * q_S])
    np.testing.assert_allclose(effect.shown["force"], force, rtol=1e-12)
    np.testing.assert_allclose(
        effect.wrenches["craft"], [*(effect.shown["moment"] + np.cross(r, force)), *force], rtol=1e-12
    )
    still = flying(aero, states={"x.alpha_dot": 0.7}, v=np.zeros(6))
    assert still.effects["x"].evaluated(still).rates["alpha_dot"] == pytest.approx(-0.7 / 0.1)


def test_alpha_dot_in_wind():
    """The air does not accelerate: its velocity turns in the axes of the body."""
    world = pt.World((0, 0, 0), air=pt.US76(), wind=(5.0, -7.0, 2.0))
    start = Pose.from_euler((0.2, 0.3, -0.5), p=(0, 0, 50.0))
    part = world.add_body("a", pt.Inertia.box(9.0, (1, 2, 3)), placement=start, v=(0.3, -0.4, 0.5, 30.0, 1.0, 2.0))
    part.add(pt.Aero("x", coefficients={"Cmadot": -5.0}, **SIZES))
    moved = world.motion()
    V, A, air = moved.scene["a"].twist, moved.acceleration("a"), moved.scene.air("a").velocity
    change = A[3:] + np.cross(V[:3], V[3:] - air)
    rate = (air[0] * change[2] - air[2] * change[0]) / (air[0] ** 2 + air[2] ** 2)
    assert moved.effects["a.x"].evaluated(moved).rates["alpha_dot"] == pytest.approx(rate / 0.02, rel=1e-10)


class Model:
    """A model such as those of DAVE-ML files: a function that knows its inputs and outputs."""

    inputs = dict.fromkeys(("angleOfAttack", "flap"))
    outputs = dict.fromkeys(("lift", "drag"))

    def __call__(self, **given):
        return {"lift": given["flap"], "drag": 0.1}


def test_what_coefficients_ask_for():
    """Lengths by the rates, variables by name, inputs and outputs of a model: an error says what is missing."""
    table = pt.Table(([0.0, 1.0],), np.array([0.0, 1.0]))
    for coefficients, sizes, message in (
        ({"CL": (table, "p_hat")}, {"area": 1.0}, "needs its span"),
        ({"CL": (table, "q_hat")}, {"area": 1.0, "span": 1.0}, "needs its chord"),
        ({"CLq": 1.0}, {"area": 1.0, "span": 1.0}, "needs its chord"),
        ({"Cn": 1.0}, {"area": 1.0, "chord": 1.0}, "needs its span"),
        ({"Cl": 1.0}, {"area": 1.0, "chord": 1.0}, "needs its span"),
        ({"Cm": 1.0}, {"area": 1.0, "span": 1.0}, "needs its chord"),
        ({"CL": 1.0}, {"span": 1.0, "chord": 1.0}, "needs its area"),
        ({"CL": lambda alfa: 1.0}, SIZES, "asks for 'alfa', which is neither"),
        ({"CL": (table, "alpha", "mach")}, SIZES, "has 1 axes; name them"),
        ({"CL, CD": 1.0}, SIZES, "must be a number, a function"),
        ({"CL": np.nan}, SIZES, "must be finite"),
        ({"CX": 1.0}, SIZES, "is not one in wind axes"),
        ({}, SIZES, "must be a dict"),
    ):
        with pytest.raises(ValueError, match=message):
            pt.Aero("x", "craft", coefficients, axes="wind", **sizes)
    for key in ("area", "span", "chord"):
        with pytest.raises(ValueError, match=f"{key} of aero 'x' must be a number above zero"):
            pt.Aero("x", "craft", {"CL": 1.0}, axes="wind", **{**SIZES, key: 0.0})
    with pytest.raises(ValueError, match=r"its model has no input 'flaps'.*'flap'"):
        pt.Aero("x", "craft", Model(), inputs={"flaps": 0.1}, outputs={"CL": "lift"}, axes="wind", **SIZES)
    with pytest.raises(ValueError, match=r"its model has no output 'lifts'.*'lift'"):
        pt.Aero("x", "craft", Model(), outputs={"CL": "lifts"}, axes="wind", **SIZES)
    with pytest.raises(ValueError, match="has body axes, but its model gives CL"):
        pt.Aero("x", "craft", Model(), outputs={"CL": "lift"}, **SIZES)
    aero = pt.Aero(
        "x", "craft", Model(), inputs={"flap": 0.3}, outputs={"CL": "lift", "CD": "drag"}, axes="wind", **SIZES
    )
    shown = flying(aero).effects["x"].shown
    assert (shown["CL"], shown["CD"]) == (0.3, 0.1)


# The ground, and names.


def test_the_ground_around_the_earth():
    """Its normal is that of the ellipsoid; it turns with the Earth, and so does what stands on it."""
    earth = pt.Earth()
    world = pt.World(earth=earth)
    p = np.array([5.0e6, -2.0e6, 3.4e6])
    world.add_body("a", pt.Inertia.box(9.0, (1, 2, 3)), position=p)
    footing = world.scene().ground(p)
    ahead = 1e-3 * np.eye(3)
    slope = np.array([(earth.height(p + e) - earth.height(p - e)) / 2e-3 for e in ahead])
    np.testing.assert_allclose(footing.normal, slope, atol=1e-6)
    np.testing.assert_allclose(footing.turning, [0, 0, earth.rate])
    np.testing.assert_allclose(footing.velocity, np.cross([0, 0, earth.rate], p), rtol=1e-12)
    np.testing.assert_allclose(footing.clearance, earth.height(p))
    flat = flying().scene.ground(np.array([1.0, 2.0, 3.0]))
    assert flat.clearance == 3.0
    np.testing.assert_array_equal(flat.normal, [0, 0, 1])
    np.testing.assert_array_equal([flat.velocity, flat.turning], np.zeros((2, 3)))


def test_where_a_body_is_as_signals():
    scene = flying().scene
    np.testing.assert_allclose(
        [scene.signal(f"craft.{k}") for k in ("roll", "pitch", "heading")], scene.attitude("craft")
    )
    assert scene.signal("craft.airspeed") == scene.air("craft").airspeed
    with pytest.raises(KeyError, match="flat ground has no latitude"):
        scene.signal("craft.latitude")
    world = pt.World(earth=pt.Earth())
    world.add_body("a", pt.Inertia.box(9.0, (1, 2, 3)), position=(5.0e6, -2.0e6, 3.4e6))
    scene = world.scene()
    np.testing.assert_allclose([scene.signal(f"a.{k}") for k in ("latitude", "longitude")], scene.place("a")[:2])


@pytest.mark.parametrize(
    ("name", "meant"),
    [("spring.lenght", "spring.length"), ("craft.positon", "craft.position"), ("craft.airsped", "craft.airspeed"),
     ("craft.headin", "craft.heading"), ("craft.load_facto", "craft.load_factor"), ("throtle", "throttle"),
     ("tnk.filled", "tank.filled"), ("tank.content", "tank.contents")],
)  # fmt: skip
def test_names_that_are_nearly_right(name, meant):
    """The error says which signal may be meant."""
    world = pt.World(air=pt.US76())
    world.add_body("craft", pt.Inertia.box(9.0, (1, 2, 3)))
    world.add(pt.Spring("spring", "craft", stiffness=1.0, rest_length=0.1))
    world.add(pt.Tank("tank", "craft", capacity=4.0, contents=3.0))
    world.add_input("throttle", 0.5)
    scene = world.motion().scene
    with pytest.raises(KeyError) as caught:
        scene.signal(name)
    assert repr(meant) in str(caught.value)


def test_slow_propellers():
    """J = V/(n D) also where n D is below one."""
    J = np.linspace(0.1, 1.2, 12)
    prop = pt.Propeller("p", "a", 0.5, pt.Table((J,), 0.12 - 0.05 * J), pt.Table((J,), 0.05 + 0.02 * J))
    n, rho, V = 0.8, 1.1, 0.2
    thrust, torque = prop.at(rho, V, 2 * np.pi * n)
    assert thrust == pytest.approx(rho * n**2 * 0.5**4 * (0.12 - 0.05 * 0.5), rel=1e-11)
    assert torque == pytest.approx(rho * n**2 * 0.5**5 * (0.05 + 0.02 * 0.5) / (2 * np.pi), rel=1e-11)


def test_how_parts_start():
    chute = pt.Parachute("p", "a", added_mass=1.0, trigger="x")
    assert chute.states()["opened_at"] == 1e30
    np.testing.assert_array_equal(chute.states()["acceleration"], np.zeros(3))
    assert pt.Parachute("p", "a").states() == {}
    np.testing.assert_array_equal(pt.Gear("g", "a").states()["tread"], np.zeros(2))
    assert pt.Gear("g", "a", stroke=0.1, damping=1.0).states()["strut"] == 0
    assert pt.Jet("j", "a", throttle=0.3).states() == {"power": 0.3}
    assert pt.Jet("j", "a", throttle=lambda t: 0.3).states() == {"power": 0.0}
    assert pt.Jet("j", "a", throttle=0.3, power=0.6).states() == {"power": 0.6}
    assert pt.Jet("j", "a", spool=None).states() == {}
    assert pt.Jet("j", "a", spool=None, tank="t", tsfc=1e-5).states() == {"rate": 0.0}
    assert pt.Flow("f", "a", "t", rate=2.0).states() == {"rate": 2.0}
    assert pt.Flow("f", "a", "t", rate=lambda t: 2.0).states() == {"rate": 0.0}
    assert pt.Flow("f", "a", "t", rate=2.0, flowing=0.5).states() == {"rate": 0.5}
    strip = pt.Strip("s", "a", unsteady="wagner", alpha_start=0.2).states()
    np.testing.assert_array_equal(strip["lag"], [0.2] * 3)
    np.testing.assert_array_equal(strip["acceleration"], np.zeros(2))
    curve = pt.Tabulated([0.5, 0.6, 0.7], [0.0, 2.0, 0.0])  # a small impulse, and late
    assert pt.SolidMotor("m", "a", curve, 0.3, 0.03, 0.1).states() == {"web": 0.0}


@pytest.mark.parametrize(("name", "k", "length"), [("Cl", 0, 10.0), ("Cm", 1, 1.5), ("Cn", 2, 10.0)])
def test_a_single_moment(name, k, length):
    """Those that are left out are zero."""
    moved = flying(pt.Aero("x", "craft", {name: 0.3}, **SIZES))
    moment = np.zeros(3)
    moment[k] = 0.3 * 16.0 * length * moved.scene.air("craft").dynamic_pressure
    np.testing.assert_allclose(moved.effects["x"].shown["moment"], moment, rtol=1e-13)
    np.testing.assert_array_equal(moved.effects["x"].shown["force"], np.zeros(3))


def test_only_the_direction_of_up_counts():
    """As far as it is across the chord."""
    one, other = (pt.Strip(k, "craft", up=up, chord=0.7) for k, up in (("s", (0, 0, -1.0)), ("t", (0.9, 0, -3.0))))
    effects = flying(one, other).effects
    np.testing.assert_allclose(effects["s"].wrenches["craft"], effects["t"].wrenches["craft"], rtol=1e-12, atol=1e-12)


def test_a_little_in_a_tank_has_mass():
    tank = pt.Tank("t", "a", capacity=4.0, contents=0.5)
    assert tank.inertias({"contents": np.array(0.5)})["a"].mass == 0.5
    assert tank.inertias({"contents": np.array(0.0)}) == {}


def test_before_it_is_lit_a_motor_gives_nothing():
    """Also with a curve that does not start from zero."""
    curve = pt.Tabulated([0.25, 1, 2], [300.0, 900.0, 600.0])
    motor = pt.SolidMotor("m", "craft", curve, 0.8, 0.03, 0.1, 0.01, ignition=1.0)
    for t, thrust in ((0.5, 0.0), (1.1, 0.0), (1.25, 300.0), (3.0, 600.0), (3.1, 0.0)):
        effect = flying(motor, t=t).effects["m"]
        np.testing.assert_allclose(effect.shown["force"], [thrust, 0, 0], atol=1e-9)


@pytest.mark.parametrize("share", [5e-7, 1 - 5e-7])
def test_a_tank_that_is_nearly_empty_or_full_does_not_slosh(share):
    with pytest.raises(ValueError, match="does not slosh"):
        slosh_model(pt.Tank("t", "a", capacity=9.0, contents=9.0 * share, radius=1.0))
