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
