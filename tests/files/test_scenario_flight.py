"""Flight in scenario files: the Earth, the air, tables on grids, the start of an aircraft."""

from pathlib import Path

import numpy as np
import pytest

import poinsot as pt
from poinsot.environment.wind import total_wind, wind_from
from poinsot.files.problems import ScenarioError
from poinsot.files.scenario import read_scenario

RUN = "[run]\nduration = 1\nstep = 0.01\n"
PLANE = '[[body]]\nname = "plane"\ninertia = { mass = 900, moment = [1000, 1500, 2200] }\n'
FT, KT = 0.3048, 1852 / 3600


def read(text: str, folder: Path | None = None) -> pt.World:
    return read_scenario(RUN + text + PLANE, folder=folder).world


def messages(text: str) -> list[str]:
    with pytest.raises(ScenarioError) as error:
        read_scenario(text, "x.toml")
    return error.value.messages()


def test_a_scenario_has_the_earth_the_air_and_the_start_of_the_same_world_in_python():
    start = """[body.start]\nlatitude = "36.02 deg"\nlongitude = "-75.67 deg"\naltitude = "10013 ft"\nheading = "45 deg"
    airspeed = "335 kt"\nalpha = "2 deg"\nflight_path = "1 deg"\nrates = ["1 deg/s", 0, 0]\nrates_to = "earth"\n"""
    air = """[air]\ntemperature_offset = "12 K"
    wind = { heights = ["0 ft", "30000 ft"], from = "270 deg", speeds = ["20 kt", "70 kt"] }\n"""
    text = '[earth]\nmodel = "wgs84"\ngravity = "J4"\n' + air + PLANE + start
    world = read_scenario(RUN + text).world
    wind = pt.WindProfile([0, 30000 * FT], [wind_from(1.5 * np.pi, 20 * KT), wind_from(1.5 * np.pi, 70 * KT)])
    same = pt.World(earth=pt.Earth(gravity="J4"), air=pt.US76(12.0), wind=wind)
    angles = dict(zip(("latitude", "longitude", "heading"), np.radians([36.02, -75.67, 45.0]), strict=True))
    slopes = {"alpha": np.radians(2.0), "flight_path": np.radians(1.0)}
    rates = {"rates": np.radians([1.0, 0, 0]), "rates_to": "earth"}
    pilot = pt.Start(altitude=10013 * FT, airspeed=335 * KT, **angles, **slopes, **rates)
    same.add_body("plane", pt.Inertia(900, np.zeros(3), np.diag([1000, 1500, 2200])), start=pilot)
    for one, other in ((world, same), (world.scene().air("plane"), same.scene().air("plane"))):
        if isinstance(one, pt.World):
            np.testing.assert_allclose(one.start().q, other.start().q, rtol=1e-14)
            np.testing.assert_allclose(one.start().v, other.start().v, rtol=1e-13, atol=1e-16)
        else:
            np.testing.assert_allclose([one.airspeed, one.density], [other.airspeed, other.density], rtol=1e-13)
    assert world.scene().air("plane").airspeed == pytest.approx(335 * KT, rel=1e-12)
    world["plane.start.altitude"] = 2000.0
    assert world.scene().air("plane").altitude == pytest.approx(2000.0)


@pytest.mark.parametrize(
    ("wind", "height", "expected"),
    [
        ('{ from = "90 deg", speed = 10 }', 0.0, [0, -10, 0]),
        ("{ velocity = [1, 2, 3] }", 5.0, [1, 2, 3]),
        ('{ velocity = ["10 kt", 0, 0] }', 5.0, [10 * KT, 0, 0]),
        ('{ velocity = ["sin(pi*t)", "0.1*position[0]", "height/w"] }', 5.0, [1, 0.1, 2.5]),
        ('{ heights = [0, 10], from = ["0 deg", "90 deg"], speeds = [2, 4] }', 5.0, [-1, -2, 0]),
        ("[{ velocity = [1, 0, 0] }, { velocity = [0, 2, 0] }]", 5.0, [1, 2, 0]),
    ],
)
def test_winds_are_written_in_several_ways(wind, height, expected):
    world = read(f"[constants]\nw = 2\n[air]\nwind = {wind}\n")
    winds = world.description.elements["air"].winds
    found = total_wind(winds, t=0.5, position=np.array([1.0, 0, 0]), height=height)
    np.testing.assert_allclose(found, expected, atol=1e-14)


def test_gusts_and_an_atmosphere_of_ones_own():
    own = """[air]\nmodel = "table"\nheights = [0, "1 km"]\ntemperatures = [300, 290]\npressures = [1e5, 9e4]
gusts = { velocity = [0, 0, -9], rise = "0.8 s", start = 5, shape = "mil" }\n"""
    air = read(own).description.elements["air"]
    assert air.atmosphere.at(0.0).temperature == pytest.approx(300)
    np.testing.assert_allclose(total_wind(air.winds, 5.4, np.zeros(3), 0.0), [0, 0, -4.5], atol=1e-12)


def test_tables_are_functions_in_formulas_with_units_converted(tmp_path):
    rows = [f"{alpha},{mach},{0.1 * alpha + mach}" for alpha in (-4, 0, 4) for mach in (0.2, 0.8)]
    (tmp_path / "cl.csv").write_text("\n".join(["alpha,mach,CL", *rows]))
    text = """[air]
[[table]]
name = "CL"
file = "cl.csv"
axes = { alpha = "deg", mach = "1" }
outside = { alpha = "extrapolate", mach = "nan" }
[[table]]
name = "push"
axes = { speed = { points = [0, 400], unit = "kt" }, t = [0, "1 min"] }
values = [[10, 20], [30, 40]]
unit = "lbf"
"""
    body = (
        PLANE
        + """start = { altitude = 100, airspeed = 100, alpha = "2 deg" }
[[body.force]]
name = "lift"
axes = "body"
value = ["push(speed, 2*t)", 0, "-dynamic_pressure*CL(alpha, mach) + 0*altitude"]
[[body.force]]
name = "again"
axes = "body"
value = { table = "push" }
"""
    )
    with pytest.raises(ScenarioError, match="again"):  # a force is a vector
        read_scenario(RUN + text + body, folder=tmp_path)
    body = body.replace('value = { table = "push" }', 'value = "[push(speed, t), 0, 0]"')
    world = read_scenario(RUN + text + body, folder=tmp_path).world
    motion = world.motion(t=15.0)
    air = world.scene().air("plane")
    lift = -air.dynamic_pressure * (0.1 * 2 + air.mach)
    lbf = 4.4482216152605
    pushed = lbf * (10 + 20 * 100 / (400 * KT) + 10 * 0.5)
    np.testing.assert_allclose(motion.effects["plane.lift"].wrenches["plane"][3:], [pushed, 0, lift], rtol=1e-12)
    assert motion.effects["plane.again"].wrenches["plane"][3] == pytest.approx(pushed - 2.5 * lbf)
    run = world.simulate(0.1, 0.01, record=["airspeed", "altitude", "alpha"])
    assert run.data.altitude.sel(body="plane").values[0] == 100.0
    assert run.data.alpha.attrs["units"] == "rad"
    assert run.data.airspeed.values[0, 0] == pytest.approx(100.0)


def test_a_table_stands_where_a_value_of_time_or_of_arguments_may(tmp_path):
    text = """[[table]]
name = "torque"
axes = { angular_velocity = [0, 100] }
values = [5, 0]
[[table]]
name = "law"
axes = { length = [0, 1, 2] }
values = ["0 N", "1 kN", "3 kN"]
method = "monotone"
"""
    spring = '[[spring]]\nname = "s"\na = "world"\nb = "plane"\nstiffness = 1\ntension = { table = "law" }\n'
    world = read_scenario(RUN + text + PLANE + "position = [0, 0, 1.5]\n" + spring).world
    assert world.description.elements["s"].tension(1.0, 0, 0, 0, 0) == 1000.0
    found = messages(RUN + text + PLANE + spring.replace('"law"', '"torque"'))
    assert "'angular_velocity' is not defined here" in found[0]


def test_altitude_in_formulas_is_that_above_the_ground_or_the_ellipsoid():
    start = "start = { latitude = 1.0, longitude = 0.5, altitude = 1234 }\n"
    text = '[earth]\n[outputs]\nhigh = "max(altitude)"\n' + PLANE + start
    run = read_scenario(RUN + text).run()
    assert run.outputs["high"].item() == pytest.approx(1234.0, abs=1e-6)
    flat = read_scenario(RUN + '[outputs]\nhigh = "max(altitude)"\n' + PLANE + "position = [0, 0, 7]\n").run()
    assert flat.outputs["high"].item() == 7.0


def test_constants_keep_their_names_beside_quantities_of_the_air():
    force = '[[body.force]]\nname = "f"\nvalue = ["density*beta", 0, 0]\n'
    text = "[constants]\ndensity = 2\n[inputs]\nbeta = 3\n[air]\n" + PLANE + force
    world = read_scenario(RUN + text).world
    assert world.motion().effects["plane.f"].wrenches["plane"][3] == 6.0


AERO = (
    """[constants]
k = 0.8
[inputs]
stick = -0.05
[air]
[[table]]
name = "lift"
axes = { alpha = { points = [-10, 0, 10, 20], unit = "deg" }, mach = [0, 0.8] }
values = [[-0.5, -0.6], [0.3, 0.4], [1.1, 1.3], [1.2, 1.0]]
[[table]]
name = "push"
axes = { altitude = ["0 m", "10 km"], mach = [0, 1] }
values = [[1000, 500], [800, 400]]
"""
    + PLANE
    + """start = { altitude = 1000, airspeed = 55, alpha = "2 deg", beta = "1 deg" }
[[body.aero]]
name = "aero"
axes = "wind"
area = "16.2 m^2"
span = "10.9 m"
chord = "1.5 m"
inputs = { elevator = "stick", flap = "0.1*cos(t)" }
[body.aero.coefficients]
CL = { table = "lift" }
CLq = 3.9
CD = "0.03 + k*alpha**2 + 0.1*flap"
CY_beta = -0.4
Cm0 = 0.05
Cm_alpha = "-0.9 1/rad"
Cmq = -12
Cm_elevator = -1.2
[[body.jet]]
name = "engine"
thrust = { table = "push" }
throttle = 0.6
spool = "2 s"
"""
)


def test_aerodynamics_and_a_jet_are_those_of_the_same_world_in_python():
    world = read_scenario(RUN + AERO).world
    lift = pt.Table((np.radians([-10, 0, 10, 20]), [0.0, 0.8]), np.array([[-5, -6], [3, 4], [11, 13], [12, 10]]) / 10)
    push = pt.Table(([0.0, 1.0], [0.0, 1e4]), np.array([[1000.0, 800.0], [500.0, 400.0]]))
    same = pt.World(air=pt.US76())
    same.add_input("stick", -0.05)
    start = pt.Start(altitude=1000.0, airspeed=55.0, alpha=np.radians(2.0), beta=np.radians(1.0))
    plane = same.add_body("plane", pt.Inertia(900, np.zeros(3), np.diag([1000, 1500, 2200])), start=start)
    coefficients = {
        "CL": (lift, "alpha", "mach"), "CLq": 3.9, "CD": lambda alpha, flap: 0.03 + 0.8 * alpha**2 + 0.1 * flap,
        "CY_beta": -0.4, "Cm0": 0.05, "Cm_alpha": -0.9, "Cmq": -12.0, "Cm_elevator": -1.2,
    }  # fmt: skip
    inputs = {"elevator": "stick", "flap": lambda t: 0.1 * np.cos(t)}
    plane.add(pt.Aero("aero", "", coefficients, 16.2, 10.9, 1.5, axes="wind", inputs=inputs))
    plane.add(pt.Jet("engine", thrust=push, throttle=0.6, spool=2.0))
    one, other = world.motion(t=0.3), same.motion(t=0.3)
    for name in ("plane.aero", "plane.engine"):
        got, want = one.effects[name].wrenches["plane"], other.effects[name].wrenches["plane"]
        np.testing.assert_allclose(got, want, rtol=1e-12, atol=1e-12)
    assert other.effects["plane.engine"].shown["thrust"] > 500
    world["plane.aero.coefficients.CLq"] = 4.5  # every number has a path


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (('axes = "wind"', 'axes = "winds"'), 'aero[0].axes = "winds": expected one of'),
        (('CD = "0.03', 'CT = "0.03'), "aero[0].coefficients: coefficients of aero 'plane.aero': 'CT'"),
        (("+ 0.1*flap", "+ 0.1*flaps"), "asks for 'flaps', which is neither a variable nor an input; did you mean"),
        (('"-0.9 1/rad"', '"-0.9 m"'), "Cm_alpha: that is a length; expected a number [1 or 1/rad]"),
        (('table = "lift"', 'table = "lifft"'), "CL: there is no table 'lifft'; did you mean 'lift'?"),
        (('area = "16.2 m^2"\n', ""), "needs its area"),
        (('elevator = "stick"', 'elevator = "stik"'), "there is no signal 'stik'; did you mean 'stick'?"),
        (("k*alpha**2", "k*exp(alpha"), "CD: the formula cannot be parsed"),
        (("throttle = 0.6", "throttle = 6"), "throttle of jet 'plane.engine' must be between 0 and 1"),
        (('name = "aero"', 'name = "aero"\ndaveml = "no.dml"'), "there is no file"),
    ],
)
def test_errors_of_aerodynamics(change, message):
    assert change[0] in AERO
    found = messages(RUN + AERO.replace(*change))
    assert len(found) == 1
    assert message in found[0]
    assert found[0].startswith("x.toml:")


def test_a_model_of_a_file_gives_the_coefficients(tmp_path):
    (tmp_path / "lift.dml").write_text("""<DAVEfunc xmlns="http://daveml.org/2010/DAVEML">
  <variableDef name="angleOfAttack" varID="alpha" units="deg"><isInput/></variableDef>
  <variableDef name="elevatorDeflection" varID="de" units="degg" initialValue="0"><isInput/></variableDef>
  <variableDef name="liftCoefficient" varID="CL" units="nd"><calculation><math><apply><plus/>
    <apply><times/><cn>0.1</cn><ci>alpha</ci></apply><apply><times/><cn>0.01</cn><ci>de</ci></apply></apply></math>
    </calculation><isOutput/></variableDef></DAVEfunc>""")
    start = 'start = { altitude = 1000, airspeed = 55, alpha = "2 deg" }\n'
    model = 'daveml = { file = "lift.dml", units = { degg = "deg" } }\n'
    aero = (
        f'[[body.aero]]\nname = "aero"\naxes = "wind"\narea = 1\n{model}inputs = {{ elevatorDeflection = "3 deg" }}\n'
    )
    world = read_scenario(RUN + "[air]\n" + PLANE + start + aero, folder=tmp_path).world
    assert world.motion().effects["plane.aero"].shown["CL"] == pytest.approx(0.23)


PARTS = (
    """[air]
turbulence = { kind = "dryden", wind_at_6m = "15 kt", severity = "moderate", span = "9 m", seed = 7 }
[terrain]
heights = "20*sin(x/300)"
[[table]]
name = "CT"
axes = { J = [0, 0.5, 1] }
values = [0.1, 0.07, 0]
"""
    + PLANE
    + """start = { altitude = 500, airspeed = 55 }
[[body.propeller]]
name = "prop"
diameter = "190 cm"
inertia = "1.4 kg m^2"
speed = "2400 rpm"
CT = { table = "CT" }
CP = { table = "CT" }
[[body.gear]]
name = "leg"
point = [0, 0, "1 m"]
radius = "20 cm"
[[body.wing]]
name = "tail"
half_span = "1.5 m"
chord = ["80 cm", "50 cm"]
twist = "0.02*y"
section = { lift_slope = 4.5, zero_lift = "-2 deg", stall = "14 deg" }
[[body.strip]]
name = "fin"
up = [0, 1, 0]
section = { drag = 0.01 }
[[body.barrowman]]
name = "hull"
diameter = "10 cm"
nose = { length = "30 cm", shape = "cone" }
fins = [{ at = 1, count = 4 }, { at = "1.5 m", cant = "1 deg" }]
drag = "0.3 + 0.1*mach"
[[body.parachute]]
name = "chute"
CdS = "3 m^2"
trigger = "altitude < 300"
[[body.solid_motor]]
name = "motor"
thrust = { times = [0, 1, 2], values = ["0 N", "50 N", "0 N"] }
mass = "60 g"
radius = "14 mm"
length = "60 mm"
bore = "4 mm"
[[beam]]
name = "spar"
parent = "plane"
length = 4
EI = 1e5
GJ = 1e5
mass_per_length = 5
polar = 0.1
n = 2
[[wing]]
name = "right"
beam = "spar"
chord = "1 - 0.1*y"
"""
)


@pytest.fixture(scope="module")
def parts():
    return read_scenario(RUN + PARTS).world


def test_parts_of_aircraft_have_the_fields_of_their_classes(parts):
    things = parts.description.elements
    wing, hull, air = things["plane.tail"], things["plane.hull"], things["air"]
    assert wing.section.zero_lift == pytest.approx(np.radians(-2.0))
    assert wing.twist(1.5) == pytest.approx(0.03)
    assert [fins.cant for fins in hull.fins] == [0.0, pytest.approx(np.radians(1.0))]
    assert hull.nose.shape == "cone"
    assert hull.drag(0.5) == pytest.approx(0.35)
    assert things["right"].beam.name == "spar"
    assert things["right"].chord(2.0) == pytest.approx(0.8)
    assert things["plane.prop"].CT.axes[0][1] == 0.5
    assert things["ground"].height(150 * np.pi, 0.0) == pytest.approx(20.0)
    assert (things["turbulence"].wind_at_6m, things["turbulence"].severity) == (pytest.approx(15 * KT), "moderate")
    assert air.winds == ()
    assert np.all(np.isfinite(parts.motion().vdot))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (('CT = { table = "CT" }', 'CT = { table = "CTT" }'), "there is no table 'CTT'; did you mean 'CT'?"),
        (('stall = "14 deg"', 'stal = "14 deg"'), "wing[0].section.stal: there is no such key; did you mean 'stall'?"),
        (('stall = "14 deg"', 'stall = "-14 deg"'), "stall of a section must be above zero"),
        (('shape = "cone"', 'shape = "conic"'), 'expected one of "cone"'),
        (('beam = "spar"', 'beam = "spa"'), "there is no beam 'spa'; did you mean 'spar'?"),
        (('kind = "dryden"', 'kind = "karman"'), 'turbulence.kind = "karman": expected one of "dryden"'),
        (('severity = "moderate"', 'severity = "mild"'), "mild"),
        (('heights = "20*sin(x/300)"', 'heights = "20*sin(z/300)"'), "'z' is not defined here"),
        (('trigger = "altitude < 300"', 'trigger = "altitud < 300"'), "did you mean 'altitude'?"),
        (('bore = "4 mm"', 'bore = "15 mm"'), "it does not fit"),
        (('chord = "1 - 0.1*y"', 'chord = "1 - 0.1*x"'), "'x' is not defined here"),
    ],
)
def test_errors_of_parts(change, message):
    assert change[0] in PARTS
    found = messages(RUN + PARTS.replace(*change))
    assert len(found) == 1
    assert message in found[0]
    assert found[0].startswith("x.toml:")


TANK = """[[body.tank]]
name = "fuel"
capacity = "40 kg"
contents = "25 kg"
radius = "30 cm"
height = "50 cm"
position = [1, 0, 0]
"""


def test_a_tank_sloshes_as_in_python():
    world = read_scenario(RUN + PLANE + TANK + 'slosh = { damping = 0.02, bottom = "z" }\n').world
    same = pt.World()
    plane = same.add_body("plane", pt.Inertia(900, np.zeros(3), np.diag([1000, 1500, 2200])))
    tank = pt.Tank("fuel", capacity=40.0, contents=25.0, radius=0.3, height=0.5, position=(1, 0, 0))
    same.add_slosh(plane, tank, damping=0.02, bottom="z")
    assert list(world.description.bodies) == list(same.description.bodies) == ["plane", "plane_fuel_slosh"]
    one, other = (w.simulate(0.1, 0.01, ledger=False).y[-1] for w in (world, same))
    np.testing.assert_allclose(one, other, rtol=1e-13, atol=1e-15)
    (found,) = messages(RUN + PLANE + TANK.replace("25 kg", "0 kg") + "slosh = {}\n")
    assert "does not slosh: it must be partly full" in found
    (found,) = messages(RUN + PLANE + TANK + 'slosh = { bottom = "x" }\n')
    assert 'slosh.bottom = "x": expected one of' in found
    (found,) = messages(RUN + PLANE + TANK + "slosh = { damping = -1 }\n")
    assert "damping of tank 'plane.fuel' must be zero or more" in found


def changed(text: str, *changes: tuple[str, str]) -> str:
    for old, new in changes:
        assert old in text
        text = text.replace(old, new, 1)
    return text


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (('trigger = "altitude < 300"', 'trigger = "no.such"'), "there is no signal 'no.such'"),
        (('trigger = "altitude < 300"', 'trigger = { signal = "no.such" }'), "there is no signal 'no.such'"),
        (('diameter = "10 cm"', "diameter = 1e30"), "has numbers that are too large, too small or too unlike"),
        (('length = "60 mm"', "length = 1e300"), "has numbers that are too large, too small or too unlike"),
        (('diameter = "190 cm"', "diameter = 1e300"), "has numbers that are too large, too small or too unlike"),
        (('drag = "0.3 + 0.1*mach"', "drag = -1"), "drag of rocket 'plane.hull' must be zero or more, not -1"),
        (("section = { drag = 0.01 }", "section = { drag = -1 }"), "drag of a section must be zero or more, not -1"),
        (
            ("airspeed = 55", "airspeed = 55, heading = 45"),
            "heading=45.0 rad of a start is beyond 6.283 rad; for degrees",
        ),
        (("airspeed = 55", "airspeed = 55, alpha = 5"), "in a scenario."),
        (("[terrain]", "wind = { from = 1, speed = -3 }\n[terrain]"), "with a speed of zero or more"),
    ],
)
def test_what_only_a_hostile_user_writes(change, message):
    """Found by changing every value of the scenarios of flight to those that nobody means."""
    (found,) = messages(RUN + changed(PARTS, change))
    assert message in found
    assert found.startswith("x.toml:")


@pytest.mark.parametrize("change", [('contents = "25 kg"', "contents = 1e-300"), ('radius = "30 cm"', "radius = 0")])
def test_tanks_that_cannot_slosh(change):
    (found,) = messages(RUN + PLANE + changed(TANK, change) + "slosh = {}\n")
    assert "slosh" in found or "above zero" in found


ATTITUDE = """[body.start]
latitude = "36 deg"
longitude = "-75 deg"
altitude = 3000
heading = "45 deg"
pitch = "10 deg"
roll = "-20 deg"
[[body.force]]
name = "f"
value = "[roll, pitch, heading]"
[[body.force]]
name = "g"
value = "[latitude, longitude(\\"plane\\"), 0]"
[[controller]]
name = "law"
outputs = { out = "2*roll + plane.pitch + plane.airspeed" }
"""


def test_attitude_and_place_in_formulas_signals_and_records():
    world = read_scenario(RUN + "[earth]\n[air]\n" + PLANE + ATTITUDE).world
    scene, effects = world.scene(), world.motion().effects
    lying, place = np.radians([-20.0, 10.0, 45.0]), np.radians([36.0, -75.0])
    np.testing.assert_allclose(scene.attitude("plane"), lying, atol=1e-14)
    np.testing.assert_allclose(scene.place("plane"), [*place, 3000.0], rtol=1e-12)
    R = scene["plane"].pose.R
    np.testing.assert_allclose(R @ effects["plane.f"].wrenches["plane"][3:], lying, atol=1e-14)
    np.testing.assert_allclose(R @ effects["plane.g"].wrenches["plane"][3:], [*place, 0], atol=1e-14)
    np.testing.assert_allclose(effects["law"].shown["out"], 2 * lying[0] + lying[1], atol=1e-8)
    record = ["roll", "pitch", "heading", "latitude", "longitude"]
    run = world.simulate(0.1, 0.01, record=record, outputs={"most": "max(heading)"})
    np.testing.assert_allclose([run.data[name].values[0, 0] for name in record], [*lying, *place], atol=1e-13)
    assert run.outputs["most"] >= lying[2] - 1e-13
    flat = read_scenario(RUN + PLANE + 'start = { heading = "90 deg", roll = "5 deg" }\n').world
    np.testing.assert_allclose(flat.scene().attitude("plane"), np.radians([5.0, 0.0, 90.0]), atol=1e-14)
    with pytest.raises(KeyError, match="flat ground has no latitude"):
        flat.scene().place("plane")
    with pytest.raises(ValueError, match="'latitude' cannot be recorded"):
        flat.simulate(0.1, 0.01, record=["latitude"])
    (found,) = messages(RUN + PLANE + '[[body.force]]\nname = "f"\nvalue = "[latitude, 0, 0]"\n')
    assert "flat ground has no latitude" in found
    own = "[constants]\nroll = 3\n" + PLANE + '[[body.force]]\nname = "f"\nvalue = "[roll, 0, 0]"\n'
    assert read_scenario(RUN + own).world.motion().effects["plane.f"].wrenches["plane"][3] == 3.0
