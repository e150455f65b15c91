"""Landing gear: struts and tyres at one instant, and one batch that lands, brakes, stands and taxies."""

import numpy as np
import pytest

import poinsot as pt
from poinsot.spatial import quaternion

LEG = {
    "radius": 0.2,
    "stroke": 0.3,
    "preload": 1500.0,
    "air_length": 0.4,
    "damping": 4000.0,
    "orifice": 2000.0,
    "brake_torque": 1500.0,
}
PLACES = {"nose": (1.2, 0, 1.2), "left": (-0.4, -1.2, 1.2), "right": (-0.4, 1.2, 1.2)}
INERTIA = pt.Inertia(1100.0, (0, 0, 0), np.diag([1285.0, 1825.0, 2667.0]))


def plane(place=None, leg=None, nose=None, **world):
    built = pt.World(**world)
    place = place or {"position": (0, 0, 1.3), "orientation": (0, 1, 0, 0)}
    body = built.add_body("plane", INERTIA, **place)
    for name, point in PLACES.items():
        body.add(pt.Gear(name, point=point, **(LEG | (leg or {}) | (nose or {} if name == "nose" else {}))))
    return built


LANDING, SKID, STANDING, TAXI = range(4)


@pytest.fixture(scope="module")
def ride():
    """Lands at 1.5 m/s; brakes on all wheels; stands on its brakes under thrust and side wind; taxies in a circle."""
    world = plane(leg={"brake": pt.Input("brake"), "friction": 0.5}, nose={"steering": pt.Input("steering")})
    for name in ("brake", "steering"):
        world.add_input(name)
    world.add_input("thrust", (0.0, 0.0, 0.0))
    world.add_force("thrust_", "plane", pt.Input("thrust"), axes="body")
    return world.simulate(
        20.0,
        0.005,
        every=0.1,
        ledger=True,
        vary={
            "brake": [0, 1, 1, 0],
            "steering": [0, 0, 0, 0.25],
            "thrust": np.array([[0, 0, 0], [0, 0, 0], [1500, 300, 0], [210, 0, 0]]),
            "plane.position": np.array([[0, 0, 1.9], [0, 0, 1.3], [0, 0, 1.3], [0, 0, 1.3]]),
            "plane.velocity": np.array([[30, 0, -1.5], [20, 0, 0], [0, 0, 0], [2, 0, 0]]),
        },
    )


def of(run, k, key="position"):
    return run["plane"][key].isel(batch=k).transpose("time", ...).values


def test_the_energy_of_a_landing_is_absorbed_and_booked(ride):
    lost = ride.ledger.inflow[LANDING].sum(axis=0)[-1]
    assert lost < -1100 * 0.5 * 1.5**2
    assert ride.ledger.relative_residual[LANDING].max() < 2e-5  # the tyres touch within a step
    assert np.abs(of(ride, LANDING, "velocity")[-1, 2]) < 1e-4
    load = sum(ride.data[f"plane.{leg}.load"].isel(batch=LANDING).values[-1] for leg in PLACES)
    assert load == pytest.approx(1100 * 9.81, rel=1e-3)


def test_brakes_reach_the_friction(ride):
    """A locked wheel slides with friction N: 0.5 g."""
    v = of(ride, SKID, "velocity")[:, 0]
    assert (v[15] - v[30]) / 1.5 == pytest.approx(0.5 * 9.81, rel=0.01)
    assert np.all(np.abs(v[150:]) < 1e-3)


def test_it_stands_without_creeping(ride):
    """Under thrust and side wind: once the struts have settled it moves less than a micrometre in 5 s."""
    p = of(ride, STANDING)
    assert np.linalg.norm(p[-1] - p[150]) < 1e-6
    assert np.linalg.norm(p[-1, :2]) < 0.1


def test_it_turns_about_the_point_where_the_axles_meet(ride):
    """The radius of the middle of the main wheels is wheel base / tan(steering), up to their slip."""
    p, q = of(ride, TAXI), of(ride, TAXI, "orientation")
    middle = (p + quaternion.rotate(q, np.broadcast_to((-0.4, 0, 0), p.shape)))[60:, :2]
    A = np.c_[2 * middle, np.ones(len(middle))]
    x, y, c = np.linalg.lstsq(A, (middle**2).sum(axis=1), rcond=None)[0]
    assert np.sqrt(c + x * x + y * y) == pytest.approx(1.6 / np.tan(0.25), rel=0.01)
    assert y < 0  # to the right


def test_a_strut_stores_what_it_carries():
    """dE/ds is the force of gas, springs and stop; s' follows from the damper's law."""
    gear = pt.Gear("g", "b", **LEG, stiffness=3000.0, rebound=9000.0)
    s, h = np.array([0.05, 0.2, 0.29, 0.32]), 1e-6
    slope = (gear._gas_energy(s + h) - gear._gas_energy(s - h)) / (2 * h)
    np.testing.assert_allclose(slope, gear._gas(s), rtol=1e-7)
    for pressed, c in ((9000.0, 4000.0), (100.0, 9000.0)):
        rate, gas = gear._strut_rate(np.array(0.1), np.array(pressed))
        assert c * rate + 2000.0 * rate * abs(rate) == pytest.approx(pressed - gas, rel=1e-9)
    assert gear._strut_rate(np.array(0.0), np.array(1000.0))[0] == 0  # against its stop, below the preload


def test_ground_on_the_earth_and_on_a_slope_is_ground():
    """The loads are those of flat ground at the same clearance, on a turning Earth, on a hill, on a plateau."""
    flat = plane({"position": (0, 0, 1.3), "orientation": (0, 1, 0, 0)}).motion().effects
    place = {"latitude": 0.8, "longitude": 0.3, "heading": 1.0}
    earth = pt.Earth()
    for ground, altitude in ((None, 1.3), (pt.Table(([0.5, 1.0], [0, 1]), np.full((2, 2), 400.0)), 401.3)):
        start = pt.Start(altitude=altitude, **place)
        around = plane({"start": start}, earth=earth, ground=ground).motion()
        for leg in PLACES:
            effect = around.effects[f"plane.{leg}"]
            assert effect.shown["load"] == pytest.approx(flat[f"plane.{leg}"].shown["load"], rel=1e-5)
            np.testing.assert_allclose(effect.rates["tread"], 0.0, atol=1e-9)
    a = 0.1
    normal = np.array([-np.sin(a), 0, np.cos(a)])
    tilted = pt.Pose.from_euler((np.pi, 0, 0)).quaternion()
    pitch = np.array([np.cos(a / 2), 0, -np.sin(a / 2), 0])
    hill = {"position": 1.3 * normal, "orientation": quaternion.product(pitch, tilted)}
    world = plane(hill, ground=lambda x, y: np.tan(a) * x)
    for leg in PLACES:
        effect = world.motion().effects[f"plane.{leg}"]
        assert effect.shown["load"] == pytest.approx(flat[f"plane.{leg}"].shown["load"], rel=1e-9)
        np.testing.assert_allclose(effect.shown["force"], effect.shown["load"] * normal, atol=1e-9)


def test_a_retracted_gear_touches_nothing():
    effect = plane(leg={"down": 0.0}).motion().effects["plane.left"]
    assert effect.shown["load"] == 0
    np.testing.assert_allclose(effect.wrenches["plane"], 0.0)


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"radius": 0.0}, "radius of gear 'g' must be above zero"),
        ({"air_length": 0.2}, "air_length of gear 'g' must be above its stroke of 0.3 m, not 0.2"),
        ({"damping": 0.0, "orifice": 0.0}, "gear 'g' has a strut without damping"),
        ({"exponent": 1.0}, "exponent of gear 'g' must be above 1"),
        ({"brake": 2.0}, "brake of gear 'g' must be between 0 and 1"),
        ({"up": (0, 0, 0)}, "up of gear 'g' must be three numbers, not all zero"),
        ({"friction": -1.0}, "friction of gear 'g' must be zero or more"),
        ({"rebound": 0.0}, "rebound of gear 'g' must be above zero"),
        ({"steering": np.nan}, "steering of gear 'g' must be finite"),
    ],
)
def test_wrong_gears(fields, message):
    with pytest.raises(ValueError, match=message):
        pt.Gear("g", "b", **{**LEG, **fields})


def test_wrong_grounds():
    with pytest.raises(ValueError, match="ground is a table with 1 axes"):
        pt.World(ground=pt.Table(([0, 1],), [0, 1]))
    for wrong in (np.nan, (1, 2), "hill"):
        with pytest.raises(ValueError, match=r"must be a height \[m\], a pt.Table or a function"):
            pt.World(ground=wrong)
