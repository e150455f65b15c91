"""What is announced as it happens, and events that a button triggers."""

import numpy as np
import pytest
from runs_to_show import EXAMPLES, eventually

import poinsot as pt
from poinsot.show.document import events
from poinsot.show.triggers import with_triggers

QUIET = {"port": 0, "browser": False, "block": False}


def dropped() -> pt.World:
    """A ball that hangs on its mount until half a second is over, and a second event that nothing brings about."""
    world = pt.World()
    world.add_body("ball", pt.Inertia.sphere(1.0, 0.1), position=(0.0, 0.0, 10.0))
    world.add(pt.When("drop", lambda t, scene: t - 0.5, release="ball"))
    world.add(pt.When("never", lambda t, scene: scene["ball"].position[2] > 100.0))
    return world


def test_events_and_limits_of_a_run_are_told_with_their_times():
    run = dropped().simulate(1.0, 1e-2)
    (drop,) = events(run, 0)
    assert (drop["name"], drop["red"]) == ("drop", False)
    assert drop["time"] == pytest.approx(0.5, abs=1e-9)
    assert drop["text"] == "drop, at 0.5 s"
    broken = pt.load_scenario(EXAMPLES / "breaking-wing.toml").run(progress=False)
    (limit,) = events(broken, 0)
    assert limit["red"]
    assert limit["time"] == broken.limits["limit"]["latched_at"]
    assert "bending at root passed its limit and it parts" in limit["text"]


def test_the_events_of_a_batch_are_those_of_its_instances():
    world = dropped()
    world.add_input("early", 0.0)
    world.add(pt.When("other", lambda t, scene: scene.input("early")))
    run = world.simulate(1.0, 1e-2, vary={"early": np.array([0.0, 1.0])})
    assert [[e["name"] for e in events(run, k)] for k in (0, 1)] == [["drop"], ["other", "drop"]]


@pytest.mark.parametrize("pressed", [0.0, 1.0])
def test_a_triggered_event_happens_by_its_condition_or_its_button(pressed):
    """Unpressed, all bits are those of the world without a button; pressed, it happens at once."""
    world, inputs = with_triggers(dropped(), ["drop"])
    assert inputs == {"drop": "press-drop"}
    run = world.simulate(1.0, 1e-2, inputs={"press-drop": lambda t: pressed * (t > 0.195)})
    at = float(run.data["drop.at"].values[-1]) if pressed else 0.5
    assert at == pytest.approx(0.195 if pressed else 0.5, abs=0.011)
    if not pressed:
        plain = dropped().simulate(1.0, 1e-2)
        assert np.array_equal(run["ball"].position.values, plain["ball"].position.values)
    fallen = 0.5 * 9.81 * (1.0 - at) ** 2
    assert run["ball"].position.values[-1, 2] == pytest.approx(10.0 - fallen, rel=2e-5)


def test_buttons_that_are_neither_events_nor_inputs():
    with pytest.raises(ValueError, match="'drip' is neither an event nor an input"):
        dropped().live(buttons=["drip"], **QUIET)


def test_a_button_of_the_page_makes_an_event_happen(visit):
    """Also if it is pressed and let go in a pause. It is announced, its button is grey until the world starts again,
    and what was done runs again to the same bits."""
    with dropped().live(plots=[], **QUIET) as live:
        page = visit(live.url)
        page.set_viewport_size({"width": 900, "height": 500})
        never, drop = (page.get_by_role("button", name=name) for name in ("never", "drop"))
        assert eventually(drop.is_disabled)
        live.pause()
        at = live.t
        never.click()
        assert eventually(lambda: live.inputs["press-never"] == 1.0)
        assert never.is_enabled()
        live.pause(False)
        page.locator(".tiding").get_by_text("never, at ").wait_for()
        assert live.page.news[1]["time"] == pytest.approx(at, abs=0.0101)
        assert eventually(never.is_disabled)
        live.pause()
        record, x, again = live.record, live.sim.state.x, live.replayer()
        for _ in record.replay(again):
            pass
        assert np.array_equal(again.state.x, x)
        live.page.ask(lambda: setattr(live.page.loop, "speed", 1 / 64))
        page.keyboard.press("r")
        page.locator(".tiding").first.wait_for(state="detached")
        assert eventually(never.is_enabled)
        assert live.inputs["press-never"] == 0.0
