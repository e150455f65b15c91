"""Live worlds: pushes, sliders and the mouse, without a browser."""

import time as clock
from types import SimpleNamespace

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


@pytest.fixture
def live():
    with show.live(floating(), free=["box.mass"], show="+forces", port=0, browser=False, block=False) as page:
        yield page


def test_it_keeps_time(live):
    """A second of the world passes in a second; at rest nothing happens."""
    assert eventually(lambda: live.t > 0)
    t, before = live.t, clock.monotonic()
    clock.sleep(1.0)
    assert live.t - t == pytest.approx(clock.monotonic() - before, abs=0.3)
    assert np.array_equal(live.y[4:], np.zeros(9))


def test_a_push_is_an_impulse(live):
    """6 N for 0.1 s move 2 kg at 0.3 m/s; a push lasts for whole frames, so it may be a little longer."""
    live.running = False
    live.page.do(lambda: setattr(live, "running", True))
    live.push("box", (6.0, 0.0, 0.0), duration=0.1)
    assert eventually(lambda: live.t > 0.5)
    assert 0.3 <= live.y[10] < 0.6
    assert np.allclose(live.y[[4 + 1, 4 + 2, 11, 12]], 0.0, atol=1e-12)
    assert np.allclose(live.y[7:10], 0.0, atol=1e-12)  # through the centre of mass: no rotation


def test_the_mouse_drags(live):
    """A spring from the grabbed point to the mouse: the body comes, and hangs there."""
    drag = live._dragging("box")
    c = live.stage.factor  # the page is in other units than metres
    where = {"start_position": (0.2 * c, 0.0, 0.0), "end_position": (1.2 * c, 0.0, 0.0)}
    drag(SimpleNamespace(phase="start", **where))
    assert eventually(lambda: live.y[4] > 0.5)
    assert np.allclose(live.grabbed["box"][0], (0.2, 0.0, 0.0), atol=1e-9)
    drag(SimpleNamespace(phase="end", **where))
    assert eventually(lambda: not live.grabbed)


def test_parameters_and_inputs(live):
    """After a change and a reset it moves like a world with those parameters."""
    live.set("box.mass", 3.0)
    live.set("drive", 6.0)
    live.reset()
    assert eventually(lambda: live.seen[0][2][0] == 3.0 and live.t > 0.2)
    t, y, _ = live.seen[-1]
    assert y[5] == pytest.approx(0.5 * (6.0 / 3.0) * t * t, rel=1e-9)
    assert live.sliders["box.mass"][0].value == 3.0


def test_errors(live):
    with pytest.raises(ValueError, match="body 'bix' cannot be pushed; these can: box"):
        live.push("bix", (1.0, 0.0, 0.0))
    with pytest.raises(ValueError, match="needs a force of three finite numbers"):
        live.push("box", (np.nan, 0.0, 0.0))
    with pytest.raises(ValueError, match=r"'box\.radius' is neither a free parameter nor an input"):
        live.set("box.radius", 1.0)
    with pytest.raises(ValueError, match="mass"):
        live.set("box.mass", -1.0)
    with pytest.raises(ValueError, match="step must be a positive number"):
        show.live(floating(), step=0.0, port=0, browser=False, block=False)


def test_a_diverging_world_is_reported():
    """Euler's method diverges for a spring that is far too stiff."""
    world = pt.World(gravity=(0.0, 0.0, 0.0))
    world.add_particle("ball", 1.0, (1.0, 0.0, 0.0))
    world.add_spring("spring", "world", "ball", 1e12, 0.5)
    with show.live(world, step=0.01, method="euler", show=["bodies"], port=0, browser=False, block=False) as page:
        assert eventually(lambda: page.problem != "")
        assert "of body 'ball' diverges. Use a smaller step, and reset." in page.problem
        assert np.all(np.isfinite(page.y))


def test_ranges_of_sliders():
    assert usual_range(np.array(2.0)) == (0.2, 6.0)
    assert usual_range(np.array(-2.0)) == (-6.0, -0.2)
    assert usual_range(np.array([-1.0, 2.0])) == (-6.0, 6.0)
    assert usual_range(np.array(0.0)) == (-1.0, 1.0)
