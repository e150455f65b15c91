"""Live worlds: pushes, sliders and the hand, without a browser."""

import numpy as np
import pytest
from runs_to_show import eventually

import poinsot as pt
from poinsot import show
from poinsot.show.live_world import usual_range


def floating() -> pt.World:
    world = pt.World(gravity=(0.0, 0.0, 0.0))
    world.add_body("box", pt.Inertia.box(2.0, (0.4, 0.3, 0.2)))
    world.add_input("drive", 0.0)
    world.add_force("jet", "box", lambda t, scene: scene.input("drive") * np.array([0.0, 1.0, 0.0]))
    return world


@pytest.fixture(scope="module")
def page():
    with floating().live(free=["box.mass"], show="+forces", port=0, browser=False, block=False) as page:
        yield page


@pytest.fixture
def live(page):
    for name, value in (("box.mass", 2.0), ("drive", 0.0)):
        page.set(name, value)
    page.page.ask(lambda: setattr(page.page.loop, "speed", 1.0))
    page.reset()
    return page


def test_it_goes_on_and_at_rest_nothing_happens(live):
    """It never runs ahead of the clock; how it keeps up with it, on a clock that is not the machine's, is a test of
    `LiveRun`."""
    assert eventually(lambda: live.t > 0.5)
    loop = live.page.loop
    t, wall = live.page.ask(lambda: (live.t, loop.clock() - loop._began))
    assert t <= wall + 1e-6
    assert np.array_equal(live.y[4:], np.zeros(9))


def test_after_a_pause_nothing_moves(live):
    """Not one more control period, though the pause comes while some are due."""
    live.set("drive", 6.0)
    for _ in range(20):
        live.pause()
        t, count = live.t, live.page.loop.count
        assert live.page.ask(lambda: (live.t, live.page.loop.count)) == (t, count)
        live.pause(False)
        assert eventually(lambda t=t: live.t > t)


def test_a_push_is_an_impulse(live):
    """6 N for 0.1 s move 2 kg at 0.3 m/s; a push lasts for whole control periods of 10 ms."""
    live.push("box", (6.0, 0.0, 0.0), duration=0.1)
    assert eventually(lambda: live.t > 0.5)
    assert live.y[10] == pytest.approx(0.3, abs=0.031)
    assert np.allclose(live.y[[4 + 1, 4 + 2, 11, 12]], 0.0, atol=1e-12)
    assert np.allclose(live.y[7:10], 0.0, atol=1e-12)  # through the centre of mass: no rotation


def test_a_hand_pulls(live):
    """A spring from the point that is held to the target: the body comes, and stays there."""
    live.page.do(lambda: live._told({"grab": ["box", [0.0, 0.0, 0.0], [1.0, 0.0, 0.0]]}))
    assert eventually(lambda: live.t > 3.0 and abs(live.y[4] - 1.0) < 1e-3)
    live.page.do(lambda: live._told({"let": True}))
    assert eventually(lambda: not live.inputs["hand"].any())


def test_what_happened_runs_again_to_the_same_bits(live):
    """Pushes, pulls, inputs and numbers that change on the way are all in the record."""
    live.push("box", (1.0, 2.0, 3.0), point=(0.1, 0.0, 0.05))
    assert eventually(lambda: live.t > 0.3)
    live.set("box.mass", 3.0)
    live.set("drive", 2.0)
    live.page.do(lambda: live._told({"grab": ["box", [0.1, 0.0, 0.0], [0.5, 0.2, 0.0]]}))
    assert eventually(lambda: live.t > 0.8)
    live.pause()
    record, x = live.record, live.sim.state.x
    again = live.replayer()
    for _ in record.replay(again):
        pass
    assert np.array_equal(again.state.x, x)
    assert len(np.unique(record.actions, axis=0)) > 3


def test_a_button_pressed_and_let_go_between_two_control_periods_counts_for_one():
    with floating().live(buttons=["drive"], plots=[], port=0, browser=False, block=False) as live:
        live.pause()
        count = live.page.loop.count
        live.page.ask(lambda: [live._told({"press": "drive", "down": down}) for down in (True, False)])
        live.pause(False)
        assert eventually(lambda: live.page.loop.count > count + 2)
        live.pause()
        column = live.sim.action_labels.index("drive")
        assert live.record.actions[:, column].sum() == 1.0


def test_parameters_and_inputs(live):
    """After a change and a reset it moves like a world with those parameters."""
    live.set("box.mass", 3.0)
    live.set("drive", 6.0)
    live.reset()
    assert eventually(lambda: live.t > 0.2)
    live.pause()
    assert live.y[5] == pytest.approx(0.5 * (6.0 / 3.0) * live.t**2, rel=1e-9)


def test_errors(live):
    with pytest.raises(ValueError, match="body 'bix' cannot be pushed; these can: box"):
        live.push("bix", (1.0, 0.0, 0.0))
    with pytest.raises(ValueError, match="needs a force of three finite numbers"):
        live.push("box", (np.nan, 0.0, 0.0))
    with pytest.raises(ValueError, match=r"'box\.radius' is neither a free parameter nor an input"):
        live.set("box.radius", 1.0)
    with pytest.raises(ValueError, match="'hand' is neither a free parameter nor an input"):
        live.set("hand", 1.0)
    with pytest.raises(ValueError, match="mass"):
        live.set("box.mass", -1.0)
    with pytest.raises(ValueError, match="'drive' must be finite"):
        live.set("drive", np.inf)
    nowhere = {"port": 0, "browser": False, "block": False}
    with pytest.raises(ValueError, match="step must be a positive number"):
        show.live(floating(), step=0.0, **nowhere)
    with pytest.raises(ValueError, match="buttons: 'jump' is neither an event nor an input"):
        show.live(floating(), buttons=["jump"], **nowhere)
    with pytest.raises(ValueError, match="the range of 'drive' must go"):
        show.live(floating(), ranges={"drive": (0.0, 0.0)}, **nowhere)
    with pytest.raises(ValueError, match=r"there is no quantity 'box\.sped'"):
        show.live(floating(), plots=["box.sped"], **nowhere)


def test_a_diverging_world_is_reported():
    """Euler's method diverges for a spring that is far too stiff."""
    world = pt.World(gravity=(0.0, 0.0, 0.0))
    world.add_particle("ball", 1.0, (1.0, 0.0, 0.0))
    world.add_spring("spring", "world", "ball", 1e12, 0.5)
    with show.live(world, step=0.01, method="euler", show=["bodies"], port=0, browser=False, block=False) as live:
        assert eventually(lambda: live.page.problem != "")
        assert "Use a smaller step, and reset." in live.page.problem
        assert np.all(np.isfinite(live.y))


def test_ranges_of_sliders():
    assert usual_range(np.array(2.0)) == (0.2, 6.0)
    assert usual_range(np.array(-2.0)) == (-6.0, -0.2)
    assert usual_range(np.array([-1.0, 2.0])) == (-6.0, 6.0)
    assert usual_range(np.array(0.0)) == (-1.0, 1.0)
