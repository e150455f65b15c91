"""Envelopes: level flight over speed and altitude, turns, and the V-n diagram of the airworthiness code."""

import matplotlib
import numpy as np
import pytest
from study_worlds import fighter

import poinsot as pt
from poinsot.show.envelope_plots import plot_envelope, plot_turns, plot_vn

matplotlib.use("agg")
LIMITS = {"alpha": (-0.17, 0.6), "throttle": (0.0, 0.25)}
CESSNA = {
    "weight": 10_230.0, "area": 16.2, "chord": 1.49, "lift_slope": 4.6, "lift_limits": (-1.0, 1.6),
    "load_limits": (-1.52, 3.8), "cruise": 54.0, "dive": 81.0,
}  # fmt: skip


@pytest.fixture(scope="module")
def flown():
    return pt.envelope(fighter(), np.linspace(40, 320, 15), [0.0, 3000.0, 6000.0], limits=LIMITS)


def test_envelope_names_the_limit_that_binds(flown):
    """Too slow is stalled, too fast takes too much power; at height both move."""
    assert flown.flyable.dims == ("altitude", "airspeed")
    fly = flown.flyable.values
    assert fly[0].any()
    slowest = np.argmax(fly, axis=1)
    assert slowest[0] <= slowest[1] < slowest[2]
    assert "greatest alpha" in flown.limit.values[1, 0] or "elevator" in flown.limit.values[1, 0]
    assert "greatest throttle" in flown.limit.values[0, -1]
    assert np.all(np.isnan(flown.alpha.values) == ~fly)
    alone = fighter().trim("level", hold={"airspeed": 200.0, "altitude": 3000.0}, limits=LIMITS)
    np.testing.assert_allclose(flown.alpha.sel(altitude=3000, airspeed=200).item(), alone["alpha"], rtol=1e-9)
    assert plot_envelope(flown) is not None


def test_turns_obey_the_laws_of_turning():
    """tan(roll) = V omega/g and n = 1/cos(roll), but for the angle of attack; thrust ends it."""
    turns = pt.turn_performance(
        fighter(), [150.0, 200.0], np.linspace(1.2, 8, 6), hold={"altitude": 3000.0}, limits=LIMITS
    )
    V, rate, roll = turns.airspeed.values[:, None], turns.turn_rate.values, turns["roll"].values
    ok = turns.flyable.values
    np.testing.assert_allclose((V * rate / 9.81)[ok], np.tan(roll)[ok], rtol=0.03)
    np.testing.assert_allclose(turns.radius.values[ok], (V / rate)[ok], rtol=1e-12)
    assert turns["turn_rate"].dims == turns["radius"].dims == ("airspeed", "load_factor")
    assert turns.radius.units == "m"
    assert turns.turn_rate.units == "rad/s"
    for k, each in enumerate(ok):  # between the last that is flown and the next, and on the way of the rates there
        load, next_ = turns.load_factor.values[each].max(), turns.load_factor.values[~each].min()
        assert load <= turns.sustained.values[k] < next_
        assert rate[k][each].max() <= turns.sustained_rate.values[k] < 9.81 * next_ / turns.airspeed.values[k]
    assert np.all(turns.limit.values[~ok] != "none")
    assert np.all(turns.sustained.values >= 1.2)
    assert np.all(turns.sustained.values < 8)
    assert not ok[:, -1].any()
    assert plot_turns(turns) is not None


def test_vn_diagram_of_the_code():
    """By hand: the stall speed at 1 g and 3.8 g, and the gust load at cruise."""
    data = pt.vn_diagram(**CESSNA)
    stall = np.sqrt(2 * 10_230 / (1.225 * 16.2 * 1.6))
    assert data.stall_speed == pytest.approx(stall)
    assert data.corner_speed == pytest.approx(stall * np.sqrt(3.8))
    at = data.sel(airspeed=54.0, method="nearest")
    V = float(at.airspeed)
    mu = 2 * 10_230 / (1.225 * 16.2 * 1.49 * 4.6 * 9.80665)
    gust = 0.88 * mu / (5.3 + mu) * 1.225 * 15.24 * V * 4.6 * 16.2 / (2 * 10_230)
    line = data.gust_cruise_up.values[np.isfinite(data.gust_cruise_up.values)]
    assert line[-1] == pytest.approx(1 + gust, rel=0.01)
    assert np.all(data.upper.values >= data.manoeuvre_upper.values)
    assert data.upper.values[0] == data.lower.values[0] == 0
    assert data.manoeuvre_upper.values.max() == pytest.approx(3.8)
    high = pt.vn_diagram(**CESSNA, altitude=15_240.0)
    assert np.nanmax(high.gust_cruise_up) < np.nanmax(data.gust_cruise_up)
    assert plot_vn(data) is not None


MISTAKES = {
    "weight": ({"weight": -1.0}, "weight=-1.0 must be above zero"),
    "limits": ({"load_limits": (1.0, 3.0)}, "load_limits=.* below zero and one above"),
    "dive": ({"dive": 50.0}, "dive=50.0 m/s must be above cruise"),
    "gusts": ({"gusts": {"landing": 3.0}}, "gusts of 'landing'"),
    "nan": ({"chord": np.nan}, "chord=nan must be above zero"),
    "count": ({"count": 1}, "count=1 must be a whole number of speeds, 2 or more"),
    "part of a count": ({"count": 2.5}, "count=2.5 must be a whole number"),
    "load": ({"load_limits": (-0.5, 0.8)}, "the greatest is below 1, the load factor of level flight"),
}


@pytest.mark.parametrize("mistake", MISTAKES)
def test_mistakes_are_told(mistake):
    changed, words = MISTAKES[mistake]
    with pytest.raises(ValueError, match=words):
        pt.vn_diagram(**(CESSNA | changed))


def test_turns_with_less_than_the_weight_are_told():
    with pytest.raises(ValueError, match=r"load_factors: 0.8 is below 1, with which no turn is level"):
        pt.turn_performance(fighter(), [150.0], [0.8, 2.0])


def test_two_speeds_make_the_ends_of_a_diagram():
    data = pt.vn_diagram(**CESSNA, count=2)
    np.testing.assert_array_equal(data.airspeed, [0.0, 81.0])
    np.testing.assert_allclose(data.manoeuvre_upper, [0.0, 3.8])
    np.testing.assert_allclose(data.manoeuvre_lower, [0.0, 0.0], atol=1e-15)


def test_empty_and_strange_grids_are_told():
    with pytest.raises(ValueError, match="speeds must be finite numbers"):
        pt.envelope(fighter(), [], [0.0])
    with pytest.raises(ValueError, match="altitudes must be finite numbers"):
        pt.envelope(fighter(), [100.0], [np.inf])
    with pytest.raises(ValueError, match="speed='knots' must be"):
        pt.envelope(fighter(), [100.0], [0.0], speed="knots")
