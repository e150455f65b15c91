"""The page and the replay in a real browser: they load, bodies move, pause holds, seeking shows the right pose."""

import socket
import threading
import time as clock
from typing import Any

import numpy as np
import pytest
import runs_to_show
from runs_to_show import drawn_anew, eventually, typed

import poinsot as pt
from poinsot import show
from poinsot.show import replay
from poinsot.show.document import FINE
from poinsot.spatial import quaternion

PACKED = 2 * FINE  # m: bodies of these tests are about 1 m large


def pose(page: Any, body: str = "lower") -> np.ndarray:
    return np.array(page.evaluate("name => poinsot.pose(name)", body))


def of_record(run: pt.Run, k: int, body: str = "lower") -> np.ndarray:
    one = run[body].isel(time=k)
    return np.concatenate([one.position.values, one.orientation.values])


def same(a: np.ndarray, b: np.ndarray) -> bool:
    """Equal poses, q and -q being one rotation."""
    return bool(np.allclose(a[:3], b[:3], atol=PACKED) and np.isclose(abs(a[3:] @ b[3:]), 1.0, atol=PACKED))


def viewed(run: pt.Run, **options: Any) -> show.Viewer:
    return show.view(run, port=0, browser=False, block=False, **options)


def test_page(visit):
    """Bodies move; pause holds; seeking and stepping show the pose of that record; layers come when asked for."""
    run = runs_to_show.pendulum()
    with viewed(run, show=["bodies"], plots=["energy", ("position", "lower")]) as viewer:
        page = visit(viewer.url)
        first = pose(page)
        assert eventually(lambda: not same(pose(page), first))
        page.get_by_role("button", name="play or pause").click()
        before = page.evaluate("poinsot.player.shown")
        clock.sleep(0.3)
        assert page.evaluate("poinsot.player.shown") == before

        page.evaluate("poinsot.player.seek(1.2)")
        assert same(pose(page), of_record(run, 60))  # records are 20 ms apart
        page.get_by_role("button", name="one record on").click()
        assert same(pose(page), of_record(run, 61))
        page.keyboard.press("End")
        assert eventually(lambda: same(pose(page), of_record(run, -1)))
        assert eventually(lambda: viewer.time == run.time[-1])  # the page tells its time

        viewer.time = 0.4
        assert eventually(lambda: same(pose(page), of_record(run, 20)))
        page.get_by_text("layers").click()
        page.get_by_label("bodies").click()
        assert not page.evaluate("poinsot.stage.layers.bodies.group.visible")
        page.get_by_label("weights").click()
        assert eventually(lambda: page.evaluate("poinsot.stage.layers.weights?.group.visible"))

        curve = "k => Array.from(poinsot.player.panel.curves[0].series[k].values)"
        assert np.array_equal(page.evaluate(curve, 0), run.data["energy"].values)  # to the last bit
        assert page.locator(".ledger tbody tr").count() == 4
        assert drawn_anew(page)
        assert page.locator(".clock").inner_text() == "0.400 s"


def test_a_slow_machine_gets_coarser_pictures_while_things_move_and_sharp_ones_at_rest(visit, tmp_path):
    """Pictures that come too slowly lose resolution, down to a half; quick ones get it back; a pause has all of it."""
    page = visit(runs_to_show.pendulum().to_html(tmp_path / "a.html").as_uri())
    width = "poinsot.stage.renderer.domElement.width"
    page.evaluate("poinsot.player.playing = false; poinsot.player.pace = new poinsot.player.pace.constructor()")
    full = "poinsot.stage.host.clientWidth * devicePixelRatio"
    assert eventually(lambda: page.evaluate(f"{width} === {full}"))
    after = (
        "([ms, n]) => { for (let k = 0; k < n; k++) poinsot.player.pace.after(ms); return poinsot.player.pace.share; }"
    )
    assert page.evaluate(after, [34, 60]) == 1.0
    assert page.evaluate(after, [60, 24]) == pytest.approx(0.64)
    coarse = f"poinsot.player.sharpen(poinsot.player.pace.share), {width} / ({full})"
    assert page.evaluate(coarse) == pytest.approx(0.64, abs=0.01)
    assert eventually(lambda: page.evaluate(f"{width} === {full}"))  # nothing moves
    assert page.evaluate(after, [45, 1000]) == 0.5
    assert page.evaluate(after, [16, 179]) == 0.5
    assert page.evaluate(after, [16, 600]) == 1.0
    page.evaluate("poinsot.player.pace = new poinsot.player.pace.constructor()")
    assert page.evaluate(after, [60, 12]) == 0.8  # a machine that is quick at this, and slow one step above
    assert page.evaluate(after, [16, 156]) == 0.8
    assert page.evaluate(after, [16, 48]) == 1.0
    assert page.evaluate(after, [60, 12]) == 0.8
    assert page.evaluate(after, [16, 348]) == 0.8  # it then takes twice as long until the next try
    assert page.evaluate(after, [16, 24]) == 1.0


def test_pictures_stay_sharp_where_fewer_pixels_are_not_faster(visit, tmp_path):
    """Two steps down that gain nothing are taken back, and no more are made for a while."""
    page = visit(runs_to_show.pendulum().to_html(tmp_path / "a.html").as_uri())
    after = """ms => {
      poinsot.player.playing = false;
      const pace = new poinsot.player.pace.constructor();
      return ms.map(x => { for (let k = 0; k < 12; k++) pace.after(x); return pace.share; });
    }"""
    assert page.evaluate(after, [60, 59, 58, *[60] * 50]) == pytest.approx([0.8, 0.64, *[1.0] * 51])
    assert page.evaluate(after, [60, 50, 45, 42]) == pytest.approx([0.8, 0.64, 0.512, 0.5])


def test_cameras(visit):
    """A body stays in the centre of orbit and chase; the page changes cameras; a fixed one stays where it is."""
    run = runs_to_show.pendulum()
    with viewed(run, show=["bodies"], follow="lower", plots=[]) as viewer:
        page = visit(viewer.url)
        middle = "(h => [h.clientWidth / 2, h.clientHeight / 2])(poinsot.stage.host)"
        for kind in ("orbit", "chase"):
            page.get_by_role("button", name=kind).click()
            for t in (0.4, 1.6):
                place, centre = page.evaluate(f"poinsot.show({t}) ?? [poinsot.where('lower'), {middle}]")
                assert np.allclose(place, centre, atol=1e-6)
        page.get_by_role("button", name="fixed").click()
        eyes = [page.evaluate(f"poinsot.show({t}) ?? poinsot.stage.view.eye") for t in (0.4, 1.6)]
        assert eyes[0] == eyes[1]
        assert page.evaluate("poinsot.where('lower')") != pytest.approx(page.evaluate(middle))
        page.get_by_label("look at it from another body").select_option("from upper")
        assert page.evaluate("poinsot.stage.eye.spec.kind") == "from"
        eye, target = page.evaluate("poinsot.show(0.4) ?? [poinsot.stage.view.eye, poinsot.stage.view.target]")
        upper, lower = (page.evaluate(f"poinsot.stage.centre({k}, poinsot.stage.view.moment)") for k in (0, 1))
        assert np.allclose(target, lower)
        assert np.dot(np.subtract(eye, upper), np.subtract(lower, upper)) < 0  # from behind and above the other one
        page.get_by_title("the body that the camera follows").select_option("upper")  # which cannot be seen from itself
        assert page.evaluate("poinsot.stage.eye.spec.kind") == "orbit"


def test_instances_of_a_batch(visit):
    run = runs_to_show.batch()
    with viewed(run, show=["bodies", "ghosts"], instance=1, ghosts=3, plots=[]) as viewer:
        page = visit(viewer.url)
        ends = [
            np.concatenate([*(run["box"].isel(time=-1, batch=i)[n].values for n in ("position", "orientation"))])
            for i in range(5)
        ]
        page.evaluate("poinsot.show(1)")
        assert same(pose(page, "box"), ends[1])
        page.get_by_label("instance").fill("4")
        page.get_by_label("instance").press("Enter")
        page.wait_for_function("window.poinsot?.doc.batch.instance === 4")
        page.evaluate("poinsot.show(1)")
        assert same(pose(page, "box"), ends[4])


def test_replay_plays_from_disk_without_a_network(visit, tmp_path):
    run = runs_to_show.pendulum()
    path = run.to_html(tmp_path / "replay.html")
    assert path.stat().st_size < 4e5
    page = visit(path.as_uri(), offline=True)
    first = pose(page)
    assert eventually(lambda: not same(pose(page), first))
    page.keyboard.press("Space")  # pause
    assert not page.evaluate("poinsot.player.playing")
    for t in (1.3, 0.5):  # forwards, and backwards
        page.evaluate(f"poinsot.show({t})")
        assert same(pose(page), of_record(run, round(t / 0.02)))
    page.evaluate("poinsot.show(0.51)")  # between two records
    assert np.allclose(pose(page)[:3], (of_record(run, 25) + of_record(run, 26))[:3] / 2, atol=PACKED)


@pytest.fixture(scope="module")
def flight():
    """An aeroplane that flies a roll, 6400 km from the world's origin, 3 km/s fast."""
    world = pt.World(gravity=(0.0, 0.0, -9.81))
    box = pt.Inertia.box(900.0, (7.0, 9.0, 1.2))
    world.add_body("plane<b>", box, position=(6.4e6, 0, 300), velocity=(3e3, 20, 80), angular_velocity=(1.0, 0, 0))
    return world.simulate(8.0, 1e-2, every=0.05, ledger=False)


def test_a_flight(visit, flight, tmp_path):
    """The body stays in the middle third of the picture; its picture does not tremble; the display shows the numbers of
    the run; the horizon of the cockpit tilts with the roll; the name is text."""
    page = visit(flight.to_html(tmp_path / "flight.html", plots=[]).as_uri(), offline=True)
    assert page.evaluate("poinsot.stage.eye.spec.kind") == "chase"  # by default
    assert drawn_anew(page)
    width, height = page.evaluate("[poinsot.stage.host.clientWidth, poinsot.stage.host.clientHeight]")
    for k in range(0, 161, 16):
        t = flight.time[k]
        x, y = page.evaluate(f"poinsot.show({t}) ?? poinsot.where('plane<b>')")
        assert width / 3 < x < 2 * width / 3
        assert height / 3 < y < 2 * height / 3
        shown, one = page.evaluate("poinsot.readings()"), flight["plane<b>"].isel(time=k)
        assert shown["position"] == one.position.values.tolist()  # to the last digit
        assert shown["velocity"] == one.velocity.values.tolist()
        assert shown["body"] == "plane<b>"
        assert shown["t"] == t
    fills = page.evaluate("2 * poinsot.doc.bodies[0].radius / (poinsot.stage.eye.spec.distance * 2 * Math.tan(0.35))")
    assert fills > 0.1
    page.evaluate("poinsot.player.look({ kind: 'cockpit' })")
    for k in (0, 20, 60):
        page.evaluate(f"poinsot.show({flight.time[k]})")
        right = np.array(page.evaluate("poinsot.stage.view.right"))
        y_B = quaternion.rotate(flight["plane<b>"].orientation.values[k], np.array([0.0, 1.0, 0.0]))
        assert np.allclose(right, -y_B, atol=1e-5)  # level at the start, and tilted as the body is
        assert np.isclose(abs(right[2]), abs(np.sin(flight.time[k] * 1.0)), atol=1e-4)


def test_positions_far_away_keep_their_digits(flight):
    """Packed positions are exact to a millionth of the body, also 6400 km away."""
    page = replay.html(flight, plots=[], show=["bodies"])
    assert len(page) < 4e5
    x = flight["plane<b>"].position.values
    step = FINE * 6
    whole = np.rint(x / step).astype(np.int64)
    assert np.abs(whole * step - x).max() < 2 * step


def test_a_browser_that_cannot_draw_says_so(tmp_path, blank):
    path = runs_to_show.pendulum().to_html(tmp_path / "x.html", plots=[])
    page = blank()
    page.add_init_script("HTMLCanvasElement.prototype.getContext = () => null")
    page.goto(path.as_uri())
    page.get_by_text("cannot draw in three dimensions").wait_for()


def test_live(visit):
    """It runs; a push moves a body; the mouse pulls it; a slider changes a number; reset starts again."""
    world = pt.World(gravity=(0.0, 0.0, 0.0))
    world.add_body("box", pt.Inertia.box(1.0, (0.4, 0.3, 0.2)))
    world.add_input("drive", 0.0)
    world.add_input("kick", 0.0)
    world.add_force("jet", "box", lambda t, scene: scene.input("drive") * np.array([0.0, 1.0, 0.0]))
    wide = {"free": {"box.mass": (0.5, 4.0)}, "buttons": ["kick"]}
    with show.live(world, **wide, camera=(1, -1, 0.5), port=0, browser=False, block=False) as live:
        page = visit(live.url)
        page.set_viewport_size({"width": 900, "height": 500})
        assert drawn_anew(page)
        place = lambda: np.array(page.evaluate("poinsot.pose('box')") or [np.nan] * 7)  # noqa: E731 none just after a reset
        assert eventually(lambda: np.allclose(place()[:3], 0.0))
        x, y = page.evaluate("poinsot.where('box')")
        page.mouse.move(x, y)
        page.mouse.down()
        page.mouse.move(x + 200, y, steps=3)
        assert eventually(lambda: np.linalg.norm(place()[:3]) > 0.02)
        page.mouse.up()
        assert eventually(lambda: not live.inputs["hand"].any())
        page.keyboard.press("r")
        assert eventually(lambda: not place()[:3].any())  # at the start again, at rest
        page.get_by_role("button", name="Push").click()
        assert eventually(lambda: place()[0] > 0.05)  # 3 m g for 0.15 s: 4.4 m/s along x
        assert np.allclose(place()[1:3], 0.0, atol=1e-9)

        assert typed(page.get_by_label("box.mass, as a number"), "2", lambda: float(live.numbers["box.mass"]) == 2.0)
        live.set("drive", 6.0)
        assert eventually(lambda: page.get_by_label("drive, as a number").input_value() == "6")
        page.get_by_role("button", name="start again").click()
        assert eventually(lambda: abs((p := place())[0]) < 1e-9 and p[1] > 0.1)
        page.get_by_role("button", name="pause").click()
        assert eventually(lambda: live.page.loop.paused)
        t = live.t
        assert np.isclose(live.y[5], 0.5 * (6.0 / 2.0) * t * t, rtol=1e-9)  # q is a quaternion and x, y, z; 6 N, 2 kg
        page.keyboard.press(".")
        assert eventually(lambda: np.isclose(live.t, t + 0.01, rtol=0, atol=1e-9))
        page.get_by_label("speed").select_option("0.25")
        assert eventually(lambda: live.page.loop.speed == 0.25)
        page.get_by_role("button", name="kick").hover()
        page.mouse.down()
        assert eventually(lambda: float(live.inputs["kick"]) == 1.0)
        page.mouse.up()
        assert eventually(lambda: float(live.inputs["kick"]) == 0.0)


@pytest.mark.slow  # two pages at once, against the wall clock
def test_a_second_page_watches_until_it_takes_over(visit):
    world = pt.World(gravity=(0.0, 0.0, 0.0))
    world.add_body("box", pt.Inertia.box(1.0, (0.4, 0.3, 0.2)))
    world.add_input("drive", 0.0)
    with show.live(world, plots=[], port=0, browser=False, block=False) as live:
        first, second = visit(live.url), visit(live.url)
        second.get_by_text("another one is in control").wait_for()
        second.keyboard.press(" ")
        assert not eventually(lambda: live.page.loop.paused, 0.4)
        second.get_by_role("button", name="Take over").click()
        first.get_by_text("another one is in control").wait_for()
        second.keyboard.press(" ")
        assert eventually(lambda: live.page.loop.paused)
        second.close()
        first.get_by_text("another one is in control").wait_for(state="detached")  # it has the seat again
        live.close()
        first.get_by_text("The program has ended").wait_for()


def test_a_busy_port_is_skipped_and_closing_leaves_nothing():
    run, before = runs_to_show.pendulum(), set(threading.enumerate())
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        viewer = show.view(run, show=["bodies"], plots=[], port=port, browser=False, block=False)
        own = viewer.server.port
        assert own != port
        assert viewer.server.gate.host == "127.0.0.1"
        with socket.create_connection(("127.0.0.1", own), timeout=5):
            pass
        viewer.close()
        viewer.close()  # a second time has no effect
    assert eventually(lambda: not any(t.is_alive() for t in set(threading.enumerate()) - before))
    with socket.socket() as again:
        assert again.connect_ex(("127.0.0.1", own)) != 0


def test_waiting_ends_when_the_page_is_closed(blank, monkeypatch):
    monkeypatch.setattr("poinsot.show.web_server.GRACE", 0.3)
    with show.view(runs_to_show.pendulum(), show=["bodies"], plots=[], port=0, browser=False, block=False) as viewer:
        waiting = threading.Thread(target=viewer.wait, daemon=True)
        waiting.start()
        clock.sleep(0.6)
        assert waiting.is_alive()  # no page was opened yet
        page = blank()
        page.goto(viewer.url)
        assert eventually(lambda: viewer.server.seen.is_set())
        page.close()
        waiting.join(120.0)
        assert not waiting.is_alive()
