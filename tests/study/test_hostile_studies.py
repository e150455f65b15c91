"""Studies that are asked for nonsense: each says what is wrong, and nothing comes out."""

import numpy as np
import pytest
from study_worlds import fighter

import poinsot as pt

VN = {
    "weight": 1e4,
    "area": 16.0,
    "chord": 1.5,
    "lift_slope": 4.6,
    "lift_limits": (-1, 1.5),
    "load_limits": (-1.5, 3.8),
}
ISS = (
    "1 25544U 98067A   08264.51782528 -.00002182  00000-0 -11606-4 0  2927\n"
    "2 25544  51.6416 247.4627 0006703 130.5360 325.0288 15.72125391563537"
)
NAN = float("nan")


@pytest.mark.parametrize(
    ("asked", "words"),
    [
        ({"free": (1,)}, "1 is not a name"),
        ({"tolerance": "x"}, "tolerance='x' must be above zero"),
        ({"tolerance": NAN}, "tolerance=nan must be above zero"),
        ({"hold": {"airspeed": "180 kt"}}, "hold 'airspeed' at a finite number"),
    ],
)
def test_trims(asked, words):
    with pytest.raises(ValueError, match=words):
        fighter().trim("level", **asked)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"weight": "1e4"}, "weight='1e4' must be above zero"),
        ({"altitude": NAN}, "altitude=nan m: gusts are known up to"),
        ({"altitude": 2e6}, "altitude=2000000.0 m"),
        ({"gusts": {"cruise": (NAN, 1)}}, "gusts of 'cruise'"),
        ({"gusts": {"cruise": (-10, -5)}}, "must be zero or more"),
        ({"lift_limits": (-np.inf, 1.5)}, "lift_limits="),
    ],
)
def test_v_n_diagrams(change, words):
    with pytest.raises(ValueError, match=words):
        pt.vn_diagram(**{**VN, "cruise": 50, "dive": 80, **change})


def test_linear_models_and_steps():
    world = fighter()
    start = world.start()
    with pytest.raises(ValueError, match="a state whose q is not finite"):
        world.linearise(pt.State(np.full_like(start.q, NAN), start.v, start.parts))
    with pytest.raises(ValueError, match=r"tolerance=-1 must be a number above zero"):
        world.check_step(0.01, 0.1, tolerance=-1)


@pytest.mark.parametrize(
    ("position", "velocity", "words"),
    [
        ((0, 0, 0), (1, 1, 1), "make no orbit"),
        ((7e6, 0, 0), (0, 0, 0), "make no orbit"),
        ((7e6, 0, 0), (1000, 0, 0), "lie on one line"),
        ((7e6, 0), (0, 7e3, 0), "position=.* must be three finite numbers"),
        ((7e6, 0, 0), (0, NAN, 0), "velocity=.* must be three finite numbers"),
    ],
)
def test_orbits_of_states(position, velocity, words):
    with pytest.raises(ValueError, match=words):
        pt.Orbit.of_state(position, velocity, pt.Earth())


def test_two_line_elements(tmp_path):
    pytest.importorskip("sgp4")
    assert pt.load_tle(ISS, 25544).semi_major_axis > 6.7e6
    (tmp_path / "x").write_bytes(b"\xd0\xff")
    wrong = {"days from": (ISS, "2500-01-01"), "not from None": (None, None), "is not a text": (tmp_path / "x", None)}
    wrong["neither a digit"] = (ISS.replace("08264", "0826\uff14"), None)
    for words, (source, epoch) in wrong.items():
        with pytest.raises(ValueError, match=words):
            pt.load_tle(source, epoch=epoch)


def test_from_a_standstill_the_least_speed_is_named():
    with pytest.raises(pt.TrimError, match=r"The least airspeed found is \d\d\.\d+ m/s"):
        fighter().trim("level", hold={"airspeed": 0.0}, free=("alpha", "elevator", "throttle"), zero=("u", "w", "q"))


def test_the_sun_of_another_age():
    earth = pt.Earth(epoch="1700-01-01T00:00:00Z")
    with pytest.raises(ValueError, match="from 1900 to 2100"):
        earth.sun(0.0)


def test_sweeps_over_nothing(tmp_path):
    world = pt.World()
    world.add_body("ball", pt.Inertia.sphere(1.0, 0.1))
    with pytest.raises(ValueError, match=r"ball\.mass varies over no values"):
        pt.sweep(world, {"ball.mass": []}, 0.1, 0.01, save=tmp_path / "a.zarr", progress=False)
