"""Stick, pedals and levers: what keys and gamepads do to the inputs of a world."""

import numpy as np
import pytest

from poinsot.control.flight_options import limits_of, require_flight
from poinsot.control.stick import AXES, BACK, KEYS, LEVER, PAD, RATE, TRIM, Stick, checked_bindings, controls_of

INPUTS = {
    name: np.zeros(()) for name in ("elevator", "aileron", "rudder", "throttle", "brake", "flaps", "gear", "wind")
}
H = 0.01


@pytest.fixture
def stick() -> Stick:
    stick = Stick(controls_of(INPUTS, {"elevator": {"axis": "pitch", "range": (0.2, -0.4)}}))
    stick.start({"throttle": 0.25, "gear": 1.0})
    return stick


def held(stick: Stick, keys: list[str], seconds: float) -> dict[str, float]:
    """The inputs after these keys were held for some seconds."""
    stick.press(keys)
    for _ in range(round(seconds / H)):
        acted = stick.advance(H)
    return acted


def test_inputs_are_found_by_their_names():
    controls = {c.input: c.axis for c in controls_of(INPUTS)}
    assert controls == {
        "elevator": "pitch", "aileron": "roll", "rudder": "yaw", "throttle": "throttle", "brake": "brake",
        "flaps": "flaps", "gear": "gear",
    }  # fmt: skip
    assert {c.input for c in controls_of(INPUTS, {"rudder": False, "wind": "lever"})} == {*controls, "wind"} - {
        "rudder"
    }


def test_places_and_values_are_inverse():
    for c in controls_of(INPUTS, {"elevator": {"axis": "pitch", "range": (0.2, -0.4), "centre": 0.05}}):
        for s in np.linspace(AXES[c.axis].low, 1.0, 9):
            assert c.place(c.value(s)) == pytest.approx(s, abs=1e-12)
        assert c.value(AXES[c.axis].low) == pytest.approx(c.low)
        assert c.value(1.0) == pytest.approx(c.high)


def test_a_key_moves_the_stick_and_it_comes_back(stick):
    start = held(stick, [], 0.1)
    assert start["elevator"] == 0.0
    assert start["throttle"] == 0.25
    assert start["gear"] == 1.0
    assert held(stick, ["ArrowDown"], 0.2)["elevator"] == pytest.approx(-0.4 * RATE * 0.2)  # back: nose up
    assert held(stick, ["ArrowDown"], 1.0)["elevator"] == -0.4
    assert held(stick, [], 0.1)["elevator"] == pytest.approx(-0.4 * (1 - BACK * 0.1))
    assert held(stick, [], 1.0)["elevator"] == 0.0
    assert held(stick, ["ArrowUp"], 1.0)["elevator"] == 0.2
    assert held(stick, ["ArrowUp", "ArrowDown"], 1.0)["elevator"] == 0.0  # both: neither


def test_levers_stay_and_switches_act_once(stick):
    assert held(stick, ["KeyW"], 0.5)["throttle"] == pytest.approx(0.25 + LEVER * 0.5)
    assert held(stick, [], 2.0)["throttle"] == pytest.approx(0.25 + LEVER * 0.5)
    assert held(stick, ["KeyW"], 5.0)["throttle"] == 1.0
    assert held(stick, ["KeyF"], 1.0)["flaps"] == pytest.approx(1 / 3)  # one notch, however long it is held
    held(stick, [], H)
    assert held(stick, ["KeyF"], H)["flaps"] == pytest.approx(2 / 3)
    assert held(stick, ["KeyG"], 1.0)["gear"] == 0.0
    assert held(stick, ["KeyB"], 1.0)["brake"] == 1.0
    assert held(stick, [], 1.0)["brake"] == 0.0


def test_trim_keeps_the_stick_where_it_is(stick):
    before = held(stick, ["ArrowDown"], 0.2)["elevator"]
    assert held(stick, ["KeyT"], H)["elevator"] == pytest.approx(before)
    assert held(stick, [], 2.0)["elevator"] == pytest.approx(before)
    assert held(stick, ["Home"], 1.0)["elevator"] == pytest.approx(before + 0.4 * TRIM)
    for _ in range(3):  # no further than the stop
        held(stick, ["ArrowDown"], 2.0)
        stick.switch("trim!")
    assert held(stick, [], 1.0)["elevator"] == -0.4


def test_a_gamepad_holds_until_it_is_let_go(stick):
    stick.give({"pitch": 0.5, "roll": -2.0, "throttle": 0.8, "nothing": 1.0, "yaw": float("nan")})
    acted = held(stick, [], H)
    assert acted["elevator"] == pytest.approx(-0.2)
    assert acted["aileron"] == pytest.approx(-0.35)  # no further than its end
    assert acted["rudder"] == 0.0
    assert acted["throttle"] == 0.8
    assert held(stick, [], 5.0)["elevator"] == pytest.approx(-0.2)  # as when it is pulled out
    stick.give({"pitch": None})
    assert held(stick, [], 1.0)["elevator"] == 0.0


def test_trim_of_a_gamepad_waits_for_its_stick(stick):
    stick.give({"pitch": 0.5})
    before = held(stick, [], H)["elevator"]
    stick.switch("trim!")
    assert held(stick, [], 0.5)["elevator"] == pytest.approx(before)  # not twice
    stick.give({"pitch": 0.0})
    assert held(stick, [], H)["elevator"] == pytest.approx(before)
    stick.give({"pitch": -0.5})
    assert held(stick, [], H)["elevator"] == pytest.approx(0.0, abs=1e-12)


@pytest.mark.parametrize(
    ("controls", "message"),
    [
        ({"elevater": "pitch"}, "the world has no input 'elevater'; did you mean 'elevator'"),
        ({"elevator": "pich"}, "'elevator' has the axis 'pich'"),
        ({"elevator": 3}, "needs the name of an axis"),
        ({"elevator": {"axis": "pitch", "range": (1, 1)}}, "two different numbers"),
        ({"elevator": {"axis": "pitch", "range": (0, np.nan)}}, "two different numbers"),
        ({"elevator": {"axis": "pitch", "range": 3}}, "two different numbers"),
        ({"elevator": {"axis": "pitch", "centre": 9}}, "is not between"),
        ({"elevator": {"axis": "pitch", "speed": 9}}, "has an axis, a range and a centre, not speed"),
    ],
)
def test_controls_that_make_no_sense(controls, message):
    with pytest.raises(ValueError, match=message):
        controls_of(INPUTS, controls)


def test_a_world_without_controls():
    with pytest.raises(ValueError, match=r"no input that a pilot could move .it has wind"):
        controls_of({"wind": np.zeros(())})
    with pytest.raises(ValueError, match="is an array"):
        controls_of({"u": np.zeros(3)}, {"u": "pitch"})


def test_bindings():
    assert checked_bindings({"KeyQ": "yaw-", "KeyA": ""}, KEYS, "key")["KeyQ"] == "yaw-"
    assert "KeyA" not in checked_bindings({"KeyA": ""}, KEYS, "key")
    for own, usual, what, message in (
        ({"KeyQ": "jaw-"}, KEYS, "key", "there is no axis 'jaw'"),
        ({"Space": "yaw-"}, KEYS, "key", "one of the page's own"),
        ({"KeyQ": "yaw"}, KEYS, "key", "must end in"),
        ({"stick": "yaw"}, PAD, "gamepad", "must be axis0"),
        ({"button3": "yaw"}, PAD, "gamepad", "must end in"),
    ):
        with pytest.raises(ValueError, match=message):
            checked_bindings(own, usual, what)


def test_options_of_a_flight():
    assert limits_of({"airspeed": 70, "load_factor": (-1, 4)}) == {"airspeed": [None, 70.0], "load_factor": [-1.0, 4.0]}
    for options, message in (
        ({"body": "plan"}, "there is no body 'plan'"),
        ({"start": {"throtle": 1}}, "which is not an input"),
        ({"start": {"throttle": np.inf}}, "must be a finite number"),
        ({"eye": (1, 2)}, "three finite numbers"),
        ({"runway": {"length": -5}}, "a runway has a length"),
        ({"runway": {"long": 5}}, "a runway has a length"),
        ({"instruments": "hud"}, "'display' or 'gauges'"),
        ({"limits": {"speed": 3}}, "limits of 'speed' are not known"),
        ({"limits": {"airspeed": (5, 3)}}, "two that increase"),
        ({"limits": {"airspeed": np.nan}}, "two that increase"),
    ):
        with pytest.raises(ValueError, match=message):
            require_flight({"plane"}, INPUTS, options)
