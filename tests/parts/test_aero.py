"""Aerodynamic coefficients: against the book's formulas, at rest, as DAVE-ML models, and what the ledger says."""

import numpy as np
import pytest

import poinsot as pt
from poinsot.environment.airspeed import stability_axes, wind_axes
from poinsot.spatial import Pose
from poinsot.world import State

S, B, C = 16.2, 10.9, 1.5
SIZES = {"area": S, "span": B, "chord": C}
PLANE = pt.Inertia(1100.0, (0.1, 0, 0.05), np.diag([1285.0, 1825.0, 2667.0]))
LIFT = pt.Table(
    (np.radians([-10, 0, 10, 20]), [0.0, 0.8]), np.array([[-0.5, -0.6], [0.3, 0.4], [1.1, 1.3], [1.2, 1.0]])
)
GLIDER = {
    "CL": (LIFT, "alpha", "mach"), "CLq": 3.9, "CD": lambda alpha: 0.03 + 0.8 * alpha**2, "CY_beta": -0.4,
    "Cl_beta": -0.09, "Clp": -0.47, "Clr": 0.1, "Cm0": 0.05, "Cm_alpha": -0.9, "Cmq": -12.0, "Cm_elevator": -1.2,
    "Cn_beta": 0.065, "Cnr": -0.1, "Cnp": -0.03,
}  # fmt: skip


def flying(aero, *, gravity=None, inertia=PLANE, wind=None, **start):
    world = pt.World(gravity, air=pt.US76(), wind=wind)
    start = {"altitude": 2000.0, "airspeed": 55.0, "alpha": 0.04, **start}
    world.add_input("stick", 0.0)
    world.add_body("plane", inertia, start=pt.Start(**start)).add(aero)
    return world


def glider(**options):
    given = {"axes": "wind", "inputs": {"elevator": "stick"}, **SIZES, **options}
    return pt.Aero("aero", coefficients=given.pop("coefficients", GLIDER), **given)


@pytest.mark.parametrize("axes", ["body", "stability", "wind"])
@pytest.mark.parametrize("moment_axes", ["body", "stability", "wind"])
def test_forces_and_moments_are_those_of_the_book(axes, moment_axes):
    """q S times coefficients, turned to aircraft axes, about a reference point beside the origin, in wind."""
    names = ("CX", "CY", "CZ") if axes == "body" else ("CD", "CY", "CL")
    numbers = dict(zip((*names, "Cl", "Cm", "Cn"), (0.11, -0.23, 0.37, 0.05, -0.06, 0.07), strict=True))
    at = np.array([0.3, -0.2, 0.1])
    part = pt.Aero("aero", coefficients=numbers, axes=axes, moment_axes=moment_axes, position=at, **SIZES)
    world = flying(part, beta=0.1, rates=(0.3, 0.2, -0.4), wind=(3.0, -4.0, 1.0))
    air = world.scene().air("plane", at)
    R = {"body": np.eye(3), "stability": stability_axes(air.alpha), "wind": wind_axes(air.alpha, air.beta)}
    signs = np.ones(3) if axes == "body" else np.array([-1.0, 1.0, -1.0])
    f = air.dynamic_pressure * S * R[axes] @ (signs * list(numbers.values())[:3])
    m = air.dynamic_pressure * S * R[moment_axes] @ (np.array([B, C, B]) * list(numbers.values())[3:])
    effect = world.motion().effects["plane.aero"]
    np.testing.assert_allclose(effect.wrenches["plane"], [*(m + np.cross(at, f)), *f], rtol=1e-13)
    np.testing.assert_allclose(effect.shown["moment"], m, rtol=1e-13)


def test_axial_and_normal_coefficients_point_backwards_and_up():
    """CA = -CX and CN = -CZ, each alone and both beside the others."""
    forces = [
        flying(pt.Aero("aero", coefficients=numbers, **SIZES), beta=0.1)
        .motion()
        .effects["plane.aero"]
        .wrenches["plane"]
        for numbers in ({"CA": 0.11, "CN": 0.37, "CX": 0.02}, {"CX": -0.09, "CZ": -0.37})
    ]
    np.testing.assert_allclose(*forces, rtol=1e-13, atol=1e-12)


def test_derivatives_tables_and_inputs_are_summed():
    world = flying(glider(), beta=-0.05, rates=(0.3, 0.2, -0.4))
    air = world.scene().air("plane")
    p, q, r = air.rates * [B, C, B] / (2 * air.airspeed)
    shown = world.system().motion(0.0, world.start(), None, {"stick": np.array(0.1)}).effects["plane.aero"].shown
    expected = {
        "CL": LIFT(air.alpha, air.mach) + 3.9 * q,
        "CD": 0.03 + 0.8 * air.alpha**2,
        "CY": -0.4 * air.beta,
        "Cl": -0.09 * air.beta - 0.47 * p + 0.1 * r,
        "Cm": 0.05 - 0.9 * air.alpha - 12 * q - 1.2 * 0.1,
        "Cn": 0.065 * air.beta - 0.1 * r - 0.03 * p,
    }
    for name, value in expected.items():
        assert shown[name] == pytest.approx(float(value), rel=1e-13)


def test_a_function_for_all_and_tables_of_several_outputs():
    """The same coefficients in three ways."""
    both = pt.Table((np.array([-0.5, 0.5]),), np.array([[-2.0, 0.1], [3.0, 0.3]]))
    ways = (
        {"CL, CD": (both, "alpha"), "Cm": 0.02},
        {"CL": lambda alpha: 0.5 + 5 * alpha, "CD": lambda alpha: 0.2 + 0.2 * alpha, "Cm": 0.02},
        lambda alpha: {"CL": 0.5 + 5 * alpha, "CD": 0.2 + 0.2 * alpha, "Cm": 0.02},
    )
    forces = [flying(glider(coefficients=way)).motion().effects["plane.aero"].wrenches["plane"] for way in ways]
    np.testing.assert_allclose(forces[1:], [forces[0]] * 2, rtol=1e-13)


def test_nothing_at_rest():
    """No airspeed: no force, and the equations of motion have finite derivatives."""
    world = flying(glider(coefficients={**GLIDER, "Cmadot": -5.0}), airspeed=0.0, alpha=0.0, gravity=(0, 0, 0))
    state = world.start()
    assert np.all(world.derivative(0.0, state).v == 0)

    def f(v):
        return world.derivative(0.0, State(state.q, v, state.parts)).v

    assert np.all(np.isfinite(pt.jacobian(pt.kernel("(6)->(6)")(f))(state.v)))


@pytest.fixture(scope="module")
def glide():
    """A minute of a glider with a stable phugoid; world and run."""
    heavy = pt.Inertia(1100.0, (0, 0, 0), np.diag([1285.0, 1825.0, 2667.0]))
    fixed = {k: x for k, x in GLIDER.items() if k != "CL"} | {"CL0": 0.3, "CL_alpha": 4.6, "CD": 0.3, "Cmq": -60.0}
    part = glider(coefficients={**fixed, "Cmadot": -7.0}, alpha_lag=LAG)
    world = flying(part, inertia=heavy, flight_path=-0.3, alpha=0.08)
    return world, world.simulate(60.0, 0.01, every=0.02)


LAG = 0.01


def test_a_glider_settles_at_its_glide_angle(glide):
    """Its path has the slope CD/CL, its speed bears its weight, and the air takes what it loses in height."""
    run = glide[1]
    v, data = run["plane"].velocity.values[-1], run.data.isel(time=-1)
    assert -v[2] / v[0] == pytest.approx(float(data["plane.aero.CD"] / data["plane.aero.CL"]), rel=0.01)
    assert np.linalg.norm(data["plane.aero.force"]) == pytest.approx(1100 * 9.81, rel=0.01)
    assert run.ledger.relative_residual.max() < 1e-8
    taken = run.ledger.inflow[run.ledger.sources.index("plane.aero"), 7]
    lost = 1100 * 9.81 * (run["plane"].position.values[-1, 2] - 2000.0) + 550 * (v @ v - 55.0**2)
    assert taken == pytest.approx(lost, rel=1e-3)


def test_alpha_dot_follows_the_angle_of_attack(glide):
    """The state is the derivative of the angle of attack, late by its time constant."""
    world, run = glide
    q, v, t = (np.asarray(x)[:200] for x in (run.data["q"], run.data["v"], run.time))
    scenes = [world.scene(State(*pair, np.zeros(1))) for pair in zip(q, v, strict=True)]
    alpha = np.array([float(s.air("plane").alpha) for s in scenes])
    rate = run.data["plane.aero.alpha_dot"].values[:200]
    later = np.interp(t - LAG, t, np.gradient(alpha, t))
    assert np.abs(rate).max() > 0.02
    np.testing.assert_allclose(rate[10:-1], later[10:-1], atol=0.03 * np.abs(rate).max())


def test_numbers_are_paths():
    """Each coefficient can be set, left free and differentiated."""
    world = flying(glider())
    assert {"plane.aero.coefficients.Cmq", "plane.aero.area", "plane.aero.position"} <= set(world.paths())
    world["plane.aero.coefficients.Cmq"] = -3.0
    assert world["plane.aero.coefficients.Cmq"] == -3.0
    state = world.start()
    system = world.system(["plane.aero.coefficients.Cm_alpha"])

    def pitching(x):
        return system.derivative(0.0, state, {"plane.aero.coefficients.Cm_alpha": x}).v[1]

    slope = pt.jacobian(pt.kernel("()->()")(pitching))(-0.9)
    assert slope == pytest.approx((pitching(-0.8) - pitching(-1.0)) / 0.2, rel=1e-9)


MODEL = """<DAVEfunc xmlns="http://daveml.org/2010/DAVEML">
  <variableDef name="angleOfAttack" varID="alpha" units="deg"><isInput/></variableDef>
  <variableDef name="elevatorDeflection" varID="el" units="deg"><isInput/></variableDef>
  <variableDef name="referenceWingArea" varID="sref" units="ft2" initialValue="300"><isOutput/></variableDef>
  <variableDef name="referenceWingChord" varID="cbar" units="ft" initialValue="11.32"><isOutput/></variableDef>
  <variableDef name="liftPerAngle" varID="CL" units="nd"><calculation><math><apply><times/><ci>alpha</ci><cn>0.1</cn>
    </apply></math></calculation><isOutput/></variableDef>
  <variableDef name="totalCoefficientOfDrag" varID="CD" units="nd" initialValue="0.02"><isOutput/></variableDef>
  <variableDef name="aeroBodyMomentCoefficient_Pitch" varID="Cm" units="nd"><calculation><math><apply><times/>
    <ci>el</ci><cn>-0.01</cn></apply></math></calculation><isOutput/></variableDef>
</DAVEfunc>"""


def test_a_daveml_model(tmp_path):
    """Standard names are known, others are told; lengths come from the file, in its units."""
    (tmp_path / "plane.dml").write_text(MODEL)
    model = pt.load_daveml(tmp_path / "plane.dml")
    inputs = {"elevatorDeflection": lambda t: np.radians(5.0) + 0 * t}
    part = pt.Aero("aero", coefficients=model, axes="wind", inputs=inputs, outputs={"CL": "liftPerAngle"}, air_at="com")
    world = flying(part)
    air, effect = world.scene().air("plane", PLANE.com), world.motion().effects["plane.aero"]
    area, chord = 300 * 0.3048**2, 11.32 * 0.3048
    lift = air.dynamic_pressure * area * 0.1 * np.degrees(air.alpha)
    f = wind_axes(air.alpha, air.beta) @ [-air.dynamic_pressure * area * 0.02, 0.0, -lift]
    np.testing.assert_allclose(effect.wrenches["plane"][3:], f, rtol=1e-12)
    assert effect.wrenches["plane"][1] == pytest.approx(-air.dynamic_pressure * area * chord * 0.05, rel=1e-12)
    state = world.start()
    traced = pt.kernel("(6)->(6)")(lambda v: world.derivative(0.0, State(state.q, v, state.parts)).v)
    assert sum(traced.count().values()) > 100  # it can be traced


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"coefficients": {"CX": 0.1}}, "'CX' is not one in wind axes"),
        ({"coefficients": {"CL": lambda alfa: alfa}}, "asks for 'alfa'.*did you mean 'alpha'"),
        ({"coefficients": {"CL": LIFT}}, "has 2 axes; name them"),
        ({"coefficients": {"CL": (LIFT, "alpha", "mahc")}}, "did you mean 'mach'"),
        ({"coefficients": {"CL, CD": (LIFT, "alpha", "mach")}}, r"shape \(\), but the key names 2"),
        ({"coefficients": {"CL": np.nan}}, "must be finite"),
        ({"coefficients": {"CL": np.sin}}, "asks for 'x'|does not tell"),
        ({"coefficients": {"CL": "0.3"}}, "must be a number, a function"),
        ({"coefficients": {}}, "must be a dict"),
        ({"coefficients": None}, "must be a dict"),
        ({"area": -1.0}, "area of aero 'aero' must be a number above zero"),
        ({"area": None}, "needs its area"),
        ({"chord": None}, "needs its chord"),
        ({"axes": "winds"}, "axes of aero 'aero' must be one of"),
        ({"position": (0, 0)}, "position of aero 'aero' must be three numbers"),
        ({"alpha_lag": 0.0}, "alpha_lag of aero 'aero' must be a number above zero"),
    ],
)
def test_wrong_aero(options, words):
    with pytest.raises(ValueError, match=words):
        glider(**options)


@pytest.mark.parametrize(
    ("coefficients", "words"),
    [
        ({"CL": lambda alpha: np.zeros(3)}, r"CL has shape \(3,\); it must be a number"),
        ({"CL, CD": lambda alpha: (alpha, alpha, alpha)}, r"'CL, CD' needs 2 numbers, not an array of shape \(3,\)"),
        (lambda alpha: alpha, "gives .*; in wind axes it gives a dict of CD, CY, CL"),
        (lambda alpha: {"CL": alpha, "Clp": -0.4}, "gives 'Clp'; in wind axes"),
    ],
)
def test_functions_that_give_something_else(coefficients, words):
    with pytest.raises(ValueError, match=words):
        flying(glider(coefficients=coefficients, inputs={})).motion()


def test_the_axes_of_a_model(tmp_path):
    (tmp_path / "plane.dml").write_text(MODEL)
    with pytest.raises(ValueError, match="has body axes, but its model gives CD; take axes='wind'"):
        pt.Aero("aero", coefficients=pt.load_daveml(tmp_path / "plane.dml"))


def test_no_air():
    world = pt.World()
    world.add_body("plane", PLANE, placement=Pose()).add(glider(inputs={"elevator": 0.0}))
    with pytest.raises(KeyError, match="the world has no air"):
        world.motion()
