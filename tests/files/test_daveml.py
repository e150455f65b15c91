"""DAVE-ML: a small model in this file, what is wrong with broken ones, and NASA's check cases."""

import re
from pathlib import Path

import numpy as np
import pytest

import poinsot as pt
from poinsot.files.daveml import DaveModel
from poinsot.files.daveml_units import si_factor
from poinsot.files.described import describe, restore

PLACES = [parent / "shared/refdata/flight/nesc/models" for parent in Path(__file__).parents]
MODELS = next((place for place in PLACES if place.is_dir()), None)
needs_models = pytest.mark.skipif(MODELS is None, reason="NASA's models are not here")

TEXT = """<?xml version="1.0"?>
<!DOCTYPE DAVEfunc PUBLIC "-//AIAA//DTD for Flight Dynamic Models - Functions 2.0//EN" "http://example.invalid/no.dtd">
<DAVEfunc xmlns="http://daveml.org/2010/DAVEML">
  <fileHeader name="test"><author name="A" org="B"/></fileHeader>
  <variableDef name="angleOfAttack" varID="alpha" units="deg" minValue="-20" maxValue="40"><isInput/></variableDef>
  <variableDef name="mach" varID="M" units="nd" initialValue="0.3"><isInput/></variableDef>
  <variableDef name="trueAirspeed" varID="V" units="ft_s" initialValue="100"><isInput/></variableDef>
  <variableDef name="density" varID="rho" units="slug_ft3" initialValue="0.0023769"/>
  <variableDef name="liftCoefficient" varID="CL" units="nd"/>
  <variableDef name="wave" varID="wave" units="nd"/>
  <variableDef name="lift" varID="L" units="lbf">
    <calculation><math xmlns="http://www.w3.org/1998/Math/MathML">
      <apply><times/><cn type="rational">1<sep/>2</cn><ci>rho</ci>
        <apply><power/><ci>V</ci><cn>2</cn></apply><ci>CL</ci></apply>
    </math></calculation>
    <isOutput/>
  </variableDef>
  <variableDef name="stalled" varID="stalled" units="nd">
    <calculation><math xmlns="http://www.w3.org/1998/Math/MathML">
      <apply><piecewise>
        <piece><cn>2</cn><apply><gt/><ci>alpha</ci><cn>30</cn></apply></piece>
        <piece><cn>1</cn><apply><and/><apply><gt/><ci>alpha</ci><cn>15</cn></apply>
          <apply><lt/><ci>M</ci><cn>0.8</cn></apply></apply></piece>
        <otherwise><cn>0</cn></otherwise>
      </piecewise></apply>
    </math></calculation>
    <isOutput/>
  </variableDef>
  <variableDef name="angle" varID="angle" units="rad">
    <calculation><math xmlns="http://www.w3.org/1998/Math/MathML">
      <apply><plus/>
        <apply><csymbol definitionURL="http://daveml.org/function_spaces.html#atan2">atan2</csymbol>
          <ci>alpha</ci><cn>-2</cn></apply>
        <apply><root/><degree><cn>3</cn></degree><cn>8</cn></apply><apply><minus/><ci>wave</ci></apply>
        <apply><max/><ci>M</ci><cn>.5</cn><cn>.25</cn></apply><pi/></apply>
    </math></calculation>
    <isOutput/>
  </variableDef>
  <breakpointDef bpID="alphas" name="alphas" units="deg"><bpVals>-10, 0, 10, 30</bpVals></breakpointDef>
  <breakpointDef bpID="machs"><bpVals>0.2 0.9</bpVals></breakpointDef>
  <griddedTableDef gtID="CL_table" name="CL">
    <breakpointRefs><bpRef bpID="alphas"/><bpRef bpID="machs"/></breakpointRefs>
    <dataTable>-0.5, -0.6,
       0.0, 0.0, <!-- the last varies fastest, -->
       1.0, 1.4,
       1.2, 1.0</dataTable>
  </griddedTableDef>
  <function name="CL_fn">
    <independentVarRef varID="alpha" min="-10" max="40" extrapolate="max"/>
    <independentVarRef varID="M" extrapolate="neither"/>
    <dependentVarRef varID="CL"/>
    <functionDefn name="CL_def"><griddedTableRef gtID="CL_table"/></functionDefn>
  </function>
  <function name="wave_fn">
    <independentVarPts varID="M" extrapolate="neither">0 0.8 1.2</independentVarPts>
    <dependentVarPts varID="wave">0 0 0.1</dependentVarPts>
  </function>
  <checkData>
    <staticShot name="ten degrees">
      <checkInputs>
        <signal><signalName>angleOfAttack</signalName><signalUnits>deg</signalUnits><signalValue>10</signalValue></signal>
        <signal><signalName>mach</signalName><signalUnits>nd</signalUnits><signalValue>0.2</signalValue></signal>
        <signal><signalName>trueAirspeed</signalName><signalUnits>m_s</signalUnits><signalValue>60.96</signalValue></signal>
      </checkInputs>
      <internalValues><signal><varID>CL</varID><signalValue>1.0</signalValue></signal></internalValues>
      <checkOutputs>
        <signal><signalName>lift</signalName><signalUnits>lbf</signalUnits><signalValue>47.538</signalValue>
          <tol>0.0001</tol></signal>
      </checkOutputs>
    </staticShot>
  </checkData>
</DAVEfunc>
"""
FOOT, POUND = 0.3048, 4.4482216152605


def load(tmp_path, text=TEXT, **options):
    path = tmp_path / "model.dml"
    path.write_text(text, encoding="utf-8")
    return pt.load_daveml(path, **options)


def replaced(old, new):
    assert old in TEXT
    return TEXT.replace(old, new, 1)


def test_inputs_and_outputs_by_name_in_si(tmp_path):
    model = load(tmp_path)
    assert model.inputs == {"angleOfAttack": "deg", "mach": "nd", "trueAirspeed": "ft_s"}
    assert model.outputs == {"lift": "lbf", "stalled": "nd", "angle": "rad"}
    out = model(angleOfAttack=np.radians(5.0), mach=0.55, trueAirspeed=200 * FOOT)
    CL = 0.25 * (0 + 0 + 1.0 + 1.4)
    np.testing.assert_allclose(out["lift"], 0.5 * 0.0023769 * 200**2 * CL * POUND, rtol=1e-14)
    np.testing.assert_allclose(out["angle"], np.arctan2(5.0, -2) + 2 + 0.55 + np.pi, rtol=1e-14)
    assert out["stalled"] == 0
    assert model.at({"alpha": 0.6}, ["stalled", "CL"])["stalled"] == 2
    assert model.at({"alpha": 0.3, "mach": 0.9}, ["stalled"])["stalled"] == 0


def test_limits_and_extrapolation(tmp_path):
    """The argument stops at the variable's limits, then at the function's; beyond the grid where that is allowed."""
    model = load(tmp_path)
    for degrees, want in ((-90, -0.5), (30, 1.2), (35, 1.25), (80, 1.3)):
        np.testing.assert_allclose(model.at({"alpha": np.radians(degrees), "M": 0.2}, ["CL"])["CL"], want, rtol=1e-14)
    np.testing.assert_allclose(model.at({"alpha": np.radians(10), "M": 5.0}, ["CL", "wave"])["wave"], 0.1, rtol=1e-15)


def test_it_can_be_traced_and_differentiated(tmp_path):
    model, rng = load(tmp_path), np.random.default_rng(0)
    f = pt.kernel("(),(),()->(3)")(
        lambda a, m, v: np.stack([x + 0 * a for x in model(angleOfAttack=a, mach=m, trueAirspeed=v).values()])
    )
    a, m, v = rng.uniform(-0.5, 0.9, 50), rng.uniform(0, 1.3, 50), rng.uniform(0, 300, 50)
    plain = model(angleOfAttack=a, mach=m, trueAirspeed=v)
    np.testing.assert_allclose(f(a, m, v).T, [x + 0 * a for x in plain.values()], rtol=1e-12)
    slope = pt.jacobian(f, wrt=0)(0.1, 0.2, 100 * FOOT)
    np.testing.assert_allclose(slope[0], 0.5 * 0.0023769 * 100**2 * 0.1 * POUND * 180 / np.pi, rtol=1e-12)


def test_outputs_that_are_not_asked_for_need_no_inputs(tmp_path):
    model = load(tmp_path)
    np.testing.assert_allclose(model.at({}, ["density"])["density"], 1.225, rtol=1e-4)
    with pytest.raises(ValueError, match=r"the input 'angleOfAttack' \[deg\] must be given"):
        model(mach=0.2)


UNGRIDDED = """<functionDefn><ungriddedTableDef utID="CL_scattered">{}</ungriddedTableDef></functionDefn>"""


def ungridded(points):
    text = replaced('<functionDefn name="CL_def"><griddedTableRef gtID="CL_table"/></functionDefn>', UNGRIDDED)
    text = re.sub("<checkData>.*</checkData>", "", text, flags=re.DOTALL).replace('extrapolate="max"', "")
    return text.replace("{}", "".join(f"<dataPoint>{a} {m} {c}</dataPoint>" for a, m, c in points))


def test_ungridded_points_on_a_grid(tmp_path):
    points = [(a, m, a + 10 * m) for m in (0.9, 0.2) for a in (10, 0, -10)]
    model = load(tmp_path, ungridded(points))
    np.testing.assert_allclose(model.at({"alpha": 0.05, "M": 0.5}, ["CL"])["CL"], np.degrees(0.05) + 5, rtol=1e-14)


def test_scattered_points(tmp_path):
    rng = np.random.default_rng(0)
    points = [
        (a, m, 3 + a + 10 * m) for a, m in [(-10, 0), (-10, 1), (10, 0), (10, 1), *rng.uniform(-1, 1, (8, 2)) ** 2]
    ]
    model = load(tmp_path, ungridded(points))
    a, m = np.radians(rng.uniform(-10, 10, 30)), rng.uniform(0, 1, 30)
    want = 3 + np.degrees(a) + 10 * m  # linear functions are exact
    np.testing.assert_allclose(model.at({"alpha": a, "M": m}, ["CL"])["CL"], want, rtol=1e-12)
    f = pt.kernel("(),()->()")(lambda a, m: model.at({"alpha": a, "M": m}, ["CL"])["CL"])
    np.testing.assert_allclose(f(a, m), want, rtol=1e-12)
    np.testing.assert_allclose(f(np.radians(30.0), 5.0), 23, rtol=1e-12)  # the nearest corner


@pytest.mark.parametrize(
    ("interpolate", "want"),
    [("floor", 0.0), ("ceiling", 1.0), ("discrete", 1.0), ("linear", 0.6), ("cubicSpline", None)],
)
def test_kinds_of_interpolation(tmp_path, interpolate, want):
    text = replaced('extrapolate="max"/>', f'interpolate="{interpolate}"/>')
    if interpolate == "cubicSpline":
        with pytest.raises(ValueError, match="'CL_table' has cubicSpline along some axes only"):
            load(tmp_path, text)
        return
    model = load(tmp_path, text)
    np.testing.assert_allclose(model.at({"alpha": np.radians(6.0), "M": 0.2}, ["CL"])["CL"], want, rtol=1e-14)
    for degrees, knot in ((0, 0.0), (10, 1.0), (30, 1.2), (-10, -0.5)):
        got = model.evaluate({"alpha": degrees, "M": 0.2}, ["CL"])["CL"]
        np.testing.assert_allclose(got, knot, rtol=1e-13, atol=1e-15)


BOMB = '<!DOCTYPE DAVEfunc [<!ENTITY a "ha"><!ENTITY b "&a;&a;&a;&a;">]>'
DOCTYPE = re.search("<!DOCTYPE.*?>", TEXT)[0]


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        (
            '<bpRef bpID="machs"/>',
            '<bpRef bpID="mach"/>',
            "function 'CL_fn': there is no breakpoint set 'mach'; did you",
        ),
        ("1.2, 1.0</d", "1.2</d", "'CL_table' has 7 values; its breakpoints ask for 4 x 2 = 8"),
        ("-10, 0, 10, 30", "-10, 0, 30, 10", "function 'CL_fn': table 'CL_table': axis 0 .* increasing"),
        ("-10, 0, 10, 30", "-10, 0, x, 30", "breakpoint set 'alphas': 'x' is not a number"),
        ("<ci>V</ci><cn>2</cn>", "<ci>L</ci><cn>2</cn>", "calculations go round in a loop: L needs L"),
        ("<apply><minus/><ci>wave</ci></apply>", "<ci>angle</ci>", "loop: angle needs angle"),
        (">atan2<", ">atan3<", "variable 'angle': the csymbol 'atan3' is not known; did you mean 'atan2'"),
        (
            'initialValue="0.0023769"',
            'initialValue="(2/5)π"',
            r"variable 'rho': initialValue='\(2/5\)π' is not a number",
        ),
        ('units="slug_ft3"', 'units="nim_h"', "variable 'rho': there is no unit 'nim_h'; did you mean 'nmi_h'"),
        (DOCTYPE, BOMB, "it defines entities"),
        ("<ci>rho</ci>", "<ci>rh</ci>", "variable 'L' needs 'rh', which is not defined; did you mean 'rho'"),
        ("<apply><power/><ci>V</ci><cn>2</cn></apply>", "<apply><power/><ci>V</ci></apply>", "<power> has 1 arguments"),
        ("<times/>", "<tiems/>", "MathML's <tiems> is not known here; did you mean 'times'"),
        ('<cn type="rational">1<sep/>2</cn>', "<cn>half</cn>", "'half' in <cn> is not a number"),
        (
            '<griddedTableRef gtID="CL_table"/>',
            '<griddedTableRef gtID="CL_tab"/>',
            "there is no table 'CL_tab'; did you",
        ),
        ('name="stalled"', 'name="lift"', "two inputs or outputs are called 'lift'"),
        ('varID="wave" units', 'varID="CL" units', "two variables have the varID 'CL'"),
        (
            '<dependentVarRef varID="CL"/>',
            '<dependentVarRef varID="CLL"/>',
            "no variable 'CLL', which a function computes",
        ),
        ('extrapolate="max"', 'extrapolate="up"', "extrapolate='up' is not one of neither, min, max, both"),
        ("47.538", "47.54", "check case 'ten degrees': 'lift' is 47.*lbf, but should be 47.*, with a tolerance"),
        ("<signalName>mach<", "<signalName>match<", "check case 'ten degrees': signal 'match': there is no such"),
        ("<otherwise><cn>0</cn></otherwise>", "<otherwise/>", "<piecewise> holds pieces"),
        ("</DAVEfunc>", "", "not well-formed XML"),
        ("<DAVEfunc ", "<robot ", "the root element is <robot>, not <DAVEfunc>.* This is URDF"),
    ],
)
def test_broken_files_get_one_clear_message(tmp_path, old, new, words):
    with pytest.raises(ValueError, match=words) as caught:
        load(tmp_path, replaced(old, new))
    assert "model.dml" in str(caught.value)
    assert len(str(caught.value).splitlines()) == 1


def test_loops_over_several_calculations(tmp_path):
    text = replaced("<ci>wave</ci>", "<ci>L</ci>").replace("<ci>rho</ci>", "<ci>angle</ci>")
    with pytest.raises(ValueError, match=r"L needs angle needs L|angle needs L needs angle"):
        load(tmp_path, text)


def test_misspelt_units_can_be_explained_and_checks_left_out(tmp_path):
    text = replaced('units="lbf">', 'units="lbff">').replace("47.538", "47.6")
    with pytest.raises(ValueError, match="there is no unit 'lbff'"):
        load(tmp_path, text)
    with pytest.raises(ValueError, match="check case"):
        load(tmp_path, text, units={"lbff": "lbf"})
    assert load(tmp_path, text, units={"lbff": "lbf"}, check=False).outputs["lift"] == "lbff"


def test_unknown_names_of_a_call(tmp_path):
    model = load(tmp_path)
    with pytest.raises(KeyError, match="there is no variable 'angleOfAtack'; did you mean 'angleOfAttack'"):
        model(angleOfAtack=0.1)
    with pytest.raises(ValueError, match="'lift' is not an input; the inputs are angleOfAttack, mach, trueAirspeed"):
        model(lift=0.1)


def test_deep_formulas_are_refused(tmp_path):
    deep = "<apply><abs/>" * 4000 + "<cn>1</cn>" + "</apply>" * 4000
    with pytest.raises(ValueError, match="nested more than"):
        load(tmp_path, replaced("<apply><minus/><ci>wave</ci></apply>", deep))


@pytest.mark.parametrize(
    ("unit", "si"),
    [
        ("ft_s", 0.3048),
        ("slugft2", 14.593902937206364 * 0.3048**2),
        ("kgm2", 1.0),
        ("ftlbf", 0.3048 * 4.4482216152605),
        ("_rad", 1.0),
        ("_deg", 180 / np.pi),
        ("nmi_h", 1852 / 3600),
        ("lbf_ft2", 47.88025898033584),
        ("deg_s", np.pi / 180),
        ("pct", 0.01),
        ("nd", 1.0),
        ("min", 60.0),
        ("ft_s2", 0.3048),
        ("m2", 1.0),
        ("s_r", 1.0),
    ],
)
def test_units(unit, si):
    np.testing.assert_allclose(si_factor(unit), si, rtol=1e-15)


@needs_models
@pytest.mark.parametrize(("name", "count"), [("F16_aero", 16), ("F16_prop", 9)])
def test_the_check_cases_of_nasa(name, count):
    model = pt.load_daveml(MODELS / f"{name}.dml")
    assert len(model.checks) == count
    model.check()


@needs_models
def test_all_models_of_nasa_load_or_say_why():
    for path in sorted(MODELS.glob("*.dml")):
        if path.stem == "orbital_sphere_inertia":
            with pytest.raises(ValueError, match="initialValue="):
                pt.load_daveml(path)
        elif path.stem in ("F16_control", "F16_gnc"):
            with pytest.raises(ValueError, match="no unit 'nim_h'; did you mean 'nmi_h'"):
                pt.load_daveml(path)
            pt.load_daveml(path, units={"nim_h": "nmi_h"})
        else:
            assert pt.load_daveml(path).outputs


@needs_models
def test_nasas_fighter_in_a_kernel():
    model = pt.load_daveml(MODELS / "F16_aero.dml")
    names = list(model.inputs)
    f = pt.kernel(f"({len(names)})->(9)")(lambda x: np.stack([*model(**dict(zip(names, x, strict=True))).values()]))
    x = np.random.default_rng(0).uniform(-0.3, 0.4, (50, len(names)))
    x[:, names.index("trueAirspeed")] += 100
    plain = model(**dict(zip(names, x.T, strict=True)))
    np.testing.assert_allclose(f(x).T, [value + 0 * x[:, 0] for value in plain.values()], rtol=1e-11, atol=1e-13)
    assert sum(f.count().values()) < 320


PLANE = """<?xml version="1.0" encoding="ISO-8859-1"?>
<DAVEfunc xmlns="http://daveml.org/2010/DAVEML"><fileHeader name="port\xe9e"/>
  <variableDef name="angleOfAttack" varID="alpha" units="deg"><isInput/></variableDef>
  <variableDef name="liftCoefficient" varID="CL" units="nd"><!--\xe0--><isOutput/></variableDef>
  <variableDef name="speed" varID="speed" units="nim_h" initialValue="1"/>
  <breakpointDef bpID="alphas"><bpVals>-10, 0, 20</bpVals></breakpointDef>
  <function name="lift"><independentVarRef varID="alpha"/><dependentVarRef varID="CL"/>
    <functionDefn><griddedTableDef gtID="table"><breakpointRefs><bpRef bpID="alphas"/></breakpointRefs>
      <dataTable>-1, 0.123456789012345678, 1.6</dataTable></griddedTableDef></functionDefn></function></DAVEfunc>"""


def test_a_saved_run_keeps_its_model(tmp_path):
    """The model's content is in the file: no path of this machine, no code; it goes on to the bit, its file gone."""
    place = tmp_path / "models" / "plane.dml"
    place.parent.mkdir()
    place.write_text(PLANE, encoding="latin-1")
    world = pt.World(air=pt.US76())
    body = world.add_body("plane", pt.Inertia.box(900, (7, 9, 1)), start=pt.Start(altitude=500.0, airspeed=50.0))
    model = pt.load_daveml(place, units={"nim_h": "nmi_h"})
    body.add(pt.Aero("aero", coefficients=model, axes="wind", area=16.0))
    run = world.simulate(0.1, 0.01)
    run.save(tmp_path / "run.nc")
    place.unlink()
    back = pt.load_run(tmp_path / "run.nc")
    kept = back.world.description.elements["plane.aero"].coefficients
    assert (kept.name, kept.text, kept.units) == ("plane.dml", model.text, {"nim_h": "nmi_h"})
    assert str(tmp_path) not in str(describe(back.world.description))
    np.testing.assert_array_equal(back.continue_(0.1).y, run.continue_(0.1).y)
    assert back.ledger.final[-1] == run.ledger.final[-1]


def test_a_model_in_a_result_file_is_not_trusted():
    """What is refused in a file of its own is refused there."""
    data = describe(DaveModel("plane.dml", PLANE, {"nim_h": "nmi_h"}))
    assert restore(data).inputs == {"angleOfAttack": "deg"}
    bomb = PLANE.replace("<DAVEfunc", '<!DOCTYPE x [<!ENTITY a "b">]><DAVEfunc')
    for change, words in (({"text": bomb}, "entities"), ({"units": {}}, "nim_h"), ({"text": "<DAVEfunc>"}, "XML")):
        with pytest.raises(ValueError, match=words):
            restore({**data, **change})
    for change in ({"text": 7}, {"text": None}, {"units": 3}, {"units": {"nim_h": 5}}, {"name": None}):
        with pytest.raises(ValueError, match="must be text"):
            restore({**data, **change})
