"""Charts of a world on the command line: the numbers that Python finds, and errors that say what is missing."""

import matplotlib.pyplot as plt
import numpy as np
import pytest

import poinsot as pt
from poinsot.cli import main
from poinsot.cli.charts import CHARTS, question
from poinsot.files import load_scenario

PLANE = """
title = "A light aeroplane"
[run]
duration = "0.1 s"
step = "10 ms"
[air]
model = "us76"
[inputs]
thrust = { value = 800, limits = [0, 1300] }
elevator = { value = 0, limits = ["-20 deg", "20 deg"] }
[[body]]
name = "plane"
inertia = { mass = "1100 kg", moment = [1285, 1825, 2667] }
[body.start]
trim = "level"
free = ["alpha", "thrust", "elevator"]
zero = ["u", "w", "q"]
altitude = "1000 m"
airspeed = "60 m/s"
[[body.aero]]
name = "aero"
axes = "wind"
area = "16.2 m^2"
span = "10.9 m"
chord = "1.5 m"
inputs = { elevator = "elevator" }
[body.aero.coefficients]
CL = "0.3 + 4.6*alpha"
CD = "0.03 + 0.055*(0.3 + 4.6*alpha)**2"
CY_beta = -0.4
Cl_beta = -0.09
Clp = -0.47
Cm = 0.03
Cm_alpha = -0.9
Cmq = -12.0
Cm_elevator = -1.2
Cn_beta = 0.065
Cnr = -0.1
[[force]]
name = "pull"
body = "plane"
value = ["thrust", 0, 0]
axes = "body"
"""
DESIGN = ("lift_slope=4.6", "least_lift=-1", "most_lift=1.5", "least_load=-1.52", "most_load=3.8", "cruise=54 m/s",
          "dive=81 m/s")  # fmt: skip
TURNING = ("free=alpha,roll,turn_rate,thrust,elevator", "zero=u,v,w,q")


@pytest.fixture(scope="module")
def scenario(tmp_path_factory):
    path = tmp_path_factory.mktemp("charts") / "plane.toml"
    path.write_text(PLANE)
    return load_scenario(path)


def asked(scenario, over=(), given=()):
    return question(scenario.world, over, given, scenario)


def test_a_root_locus_is_that_of_python(scenario):
    figure = CHARTS["root_locus"](asked(scenario, ["airspeed=45:60:4"]))
    speeds = np.linspace(45, 60, 4)
    trim = scenario.world.trim("level", free=("alpha", "thrust", "elevator"), zero=("u", "w", "q"),
                               vary={"airspeed": speeds})  # fmt: skip
    want = scenario.world.linearise(trim).eigenvalues().ravel()
    found = figure.axes[0].collections[0].get_offsets() @ [1, 1j]
    np.testing.assert_allclose(np.sort_complex(found.round(9)), np.sort_complex(want.round(9)), atol=1e-8)
    assert figure.axes[0].get_xlabel() == "real part [1/s]"
    assert figure.axes[1].get_ylabel() == "airspeed [m/s]"
    plt.close(figure)


def test_values_without_a_trim_are_left_out(scenario, capsys):
    figure = CHARTS["flutter"](asked(scenario, ["airspeed=80 km/h:200 km/h:5"], ["below=20"]))
    assert "no trim was found at 1 of 5 values of airspeed" in capsys.readouterr().err
    line = figure.axes[0].lines[1].get_xdata()
    np.testing.assert_allclose(line, np.linspace(110, 200, 4) / 3.6)
    assert figure.axes[1].get_xlabel() == "airspeed [m/s]"
    plt.close(figure)


def test_turns_end_where_the_thrust_does(scenario):
    """Sustained load factors lie on D = T by the polar, to the angle of the thrust, also between those given."""
    world, V = scenario.world, np.array([45.0, 55.0])
    free, zero = ("alpha", "roll", "turn_rate", "thrust", "elevator"), ("u", "v", "w", "q")
    turns = pt.turn_performance(world, V, [1.05, 1.9], free=free, zero=zero)
    pressure = 0.5 * float(pt.US76().at(1000.0).density) * V**2 * 16.2
    lift = np.sqrt((1300 / pressure - 0.03) / 0.055) * pressure
    np.testing.assert_allclose(turns.sustained, lift / (1100 * 9.80665), rtol=0.03)
    rate = 9.80665 * np.sqrt(turns.sustained.values**2 - 1) / V
    np.testing.assert_allclose(turns.sustained_rate, rate, rtol=0.03)
    figure = CHARTS["turns"](asked(scenario, ["airspeed=[45, 55]", "load_factor=[1.05, 1.9]"], TURNING))
    np.testing.assert_allclose(figure.axes[0].lines[-1].get_ydata(), np.degrees(turns.sustained_rate))
    plt.close(figure)


def test_a_v_n_diagram_takes_weight_and_wing_of_the_world(scenario):
    figure = CHARTS["vn"](asked(scenario, (), DESIGN))
    data = pt.vn_diagram(1100 * 9.80665, 16.2, 1.5, 4.6, (-1.0, 1.5), (-1.52, 3.8), 54.0, 81.0)
    np.testing.assert_array_equal(figure.axes[0].lines[0].get_ydata(), data.upper.values)
    plt.close(figure)


def test_bode_of_an_output_that_is_recorded(scenario):
    figure = CHARTS["bode"](asked(scenario, (), ["output=plane.load_factor", "input=elevator"]))
    assert figure.axes[0].get_title() == "plane.load_factor by elevator"
    plt.close(figure)


def test_on_the_command_line(tmp_path, monkeypatch, capsys):
    """Of a scenario, and of the world of a result."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MPLBACKEND", "Agg")
    (tmp_path / "plane.toml").write_text(PLANE)
    grid = ["--over", "airspeed=40:70:3", "--over", "altitude=[0, 2000]", "-q"]
    assert main(["plot", "plane.toml", "envelope", *grid]) == 0
    assert capsys.readouterr().out.strip() == "results/plane-envelope.png"
    assert main(["run", "double-pendulum", "-q", "--set", "run.duration=0.01"]) == 0
    capsys.readouterr()
    assert main(["plot", "results/double-pendulum.nc", "root_locus", "--over", "upper.mass=1 kg:2 kg:3", "-q"]) == 0
    written = tmp_path / "results" / "double-pendulum-root_locus.png"
    assert written.read_bytes()[:4] == b"\x89PNG"


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("envelope", "airspeed or mach is missing; give --over airspeed=FIRST:LAST:COUNT"),
        ("envelope --over airspeed=30:60:5", "altitude is missing"),
        (
            "envelope --over airspeed=30:60:5 --over altitude=0:1:2 --over alpha=0:1:2",
            "--over alpha: this plot goes over",
        ),
        ("vn", "needs lift_slope [1], least_lift [1]"),
        ("vn --with lift=3", "did you mean 'most_lift'"),
        ("vn --over airspeed=1:2:3", "takes --with, and no --over"),
        ("bode --with output=q", "needs an input"),
        ("bode --with output=zz --with input=elevator", "'zz' cannot be recorded"),
        ("root_locus", "over one number, not 0"),
        ("root_locus --over speed=1:2:3", "did you mean 'airspeed'"),
        ("root_locus --over airspeed=normal(50,2)", "give a row of numbers"),
        ("root_locus --over airspeed=1:5:3", "a trim was found at 0 of 3 values of airspeed; 2 are needed"),
        ("root_locus --over airspeed=30", "expected"),
        ("root_locus --over airspeed", "expected NAME=VALUE"),
        ("root_locus --over airspeed=1:2:3 --over airspeed=2:3:4", "given twice"),
        ("root_locus --over airspeed=40:50:3 --with trim=fly", "there is no trim 'fly'"),
        ("root_locus --over airspeed=40:50:3 --with altitude=5kg", "that is a mass"),
        ("root_locus flutter", "drawn by itself"),
        ("position", "a chart of a world is missing"),
    ],
)
def test_mistakes_are_told(scenario, words, message, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "plane.toml").write_text(PLANE)
    assert main(["plot", "plane.toml", *words.split()]) == 2
    assert message in capsys.readouterr().err
    assert not list(tmp_path.glob("**/*.png"))
