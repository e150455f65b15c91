"""Flying in a real browser: keys, a gamepad, the display, and the same bits again."""

import http.client
import io
import re
import threading
import time as clock
from dataclasses import replace
from typing import Any
from urllib.parse import urlsplit

import numpy as np
import pytest
from pilots import Pilot
from runs_to_show import EXAMPLES, drawn_anew, eventually

import poinsot as pt
from poinsot import show
from poinsot.files.scenario import load_scenario
from poinsot.run.flights import load_flight
from poinsot.show.instruments import Instruments
from poinsot.show.live_world import live_stepper
from poinsot.spatial import quaternion

READINGS = "(({position, velocity, ...r}) => ({...r, position, velocity}))(poinsot.readings())"
QUIET = {"port": 0, "browser": False, "block": False}


@pytest.fixture(scope="module")
def circuit():
    return load_scenario(EXAMPLES / "circuit.toml")


@pytest.fixture(scope="module")
def opened(circuit):
    """One flight for the tests of this file: it is compiled once."""
    with circuit.world.fly(step=circuit.options["step"], **circuit.fly, **QUIET) as flight:
        yield flight


@pytest.fixture
def flight(opened):
    """The flight from its start, once the page of the test before has left the seat."""
    assert eventually(lambda: opened.page.pilot is None)
    opened.reset()
    opened.page.ask(lambda: setattr(opened.page.loop, "speed", 1.0))
    return opened


def steady_box(page, where: str) -> dict[str, float]:
    """The rectangle of an element once two pictures in a row agree on it: a page of another size is laid out anew."""
    boxes = [page.locator(where).bounding_box()]

    def still() -> bool:
        assert drawn_anew(page)
        boxes.append(page.locator(where).bounding_box())
        return boxes[-1] == boxes[-2]

    assert eventually(still)
    return boxes[-1]


def at_rest(flight, page) -> dict[str, Any]:
    """Pause, and wait until the page shows what the program has."""
    if not flight.page.loop.paused:
        page.keyboard.press("Space")
    assert eventually(lambda: flight.page.loop.paused)
    assert eventually(lambda: page.evaluate("poinsot.stage.span[1]") == flight.t)
    return page.evaluate(READINGS)


def flown_by(pilot: Pilot, page, flight, until: str, seconds: float, speed: float = 1.0) -> list[list[float]]:
    """The pilot looks at the display and presses keys, until a phase; where the plane was in the picture."""
    page.get_by_label("speed").select_option(str(int(speed)))
    page.evaluate("document.activeElement.blur()")
    down: set[str] = set()
    end, places = clock.monotonic() + seconds, []
    while pilot.phase != until and clock.monotonic() < end and not flight.page.problem:
        seen, where = page.evaluate(f"[{READINGS}, poinsot.where('plane')]")
        places.append(where)
        keys = pilot.keys(seen)
        for key in down - keys:
            page.keyboard.up(key)
        for key in keys - down:
            page.keyboard.down(key)
        down = keys
    for key in down:
        page.keyboard.up(key)
    return places


def same_bits(flight, run: pt.Run) -> bool:
    end = flight.sim.end
    return np.array_equal(run.y[-1][: end.y.size], end.y) and run.time[-1] == pytest.approx(float(end.time), abs=1e-9)


@pytest.mark.slow  # against the wall clock, in a browser that wants both cores
def test_a_take_off_by_keys_runs_again_to_the_same_bits(visit, flight, circuit, tmp_path):
    """The pilot holds and lets go of keys in the page; the plane leaves the ground, and stays in the middle third."""
    page = visit(flight.url)
    pilot = Pilot()
    places = flown_by(pilot, page, flight, "climb", 60.0, speed=4)
    for _ in range(3):
        places += flown_by(pilot, page, flight, "crosswind turn", 1.0, speed=4)
    assert pilot.phase in ("climb", "crosswind turn")
    seen = at_rest(flight, page)
    assert seen["altitude"] > 5.0
    width, height = page.evaluate("[poinsot.stage.host.clientWidth, poinsot.stage.host.clientHeight]")
    middle = np.array(places) / [width, height]
    assert np.all((middle > 1 / 3) & (middle < 2 / 3))

    assert same_bits(flight, flight.run(every=0.05))
    kept = flight.save(tmp_path / "flight.csv")
    again = load_scenario(EXAMPLES / "circuit.toml", {"run.flight": str(kept)})
    assert same_bits(flight, again.run(every=0.05, record=["position"]))  # as `poinsot run circuit --flight` does
    assert len(load_flight(kept).times) > 20


@pytest.mark.slow  # against the wall clock, in a browser that wants both cores
def test_the_display_shows_the_numbers_of_the_run_to_the_last_digit(visit, flight):
    page = visit(flight.url)
    page.keyboard.down("w")
    assert eventually(lambda: flight.t > 3.0)
    page.keyboard.up("w")
    seen = at_rest(flight, page)
    known = [n for n in seen["values"] if "." not in n] + ["position", "velocity", "orientation", "angular_velocity"]
    known += ["plane.prop.speed", "plane.left.contents", "plane.nose.load"]
    data = flight.run(every=0.01, record=known).data.isel(time=-1)
    for name in known:
        values = np.ravel(data[name].values)
        shown = [seen["values"][name if values.size == 1 else f"{name}.{k}"] for k in range(values.size)]
        assert shown == values.tolist(), name
    assert seen["airspeed"] == float(data.airspeed[0]) > 1.0
    assert seen["inputs"]["throttle"] == flight.sim.action[flight.sim.action_labels.index("throttle")]


def horizon(page) -> float:
    """The slope of the border between sky and ground in the picture: rows per column."""
    image = pytest.importorskip("PIL.Image")
    box = page.locator(".picture canvas").first.bounding_box()
    pixels = np.asarray(image.open(io.BytesIO(page.screenshot(clip=box))).convert("RGB")).astype(float)
    rows = []
    columns = np.linspace(0.2, 0.8, 13) * pixels.shape[1]
    for x in columns.astype(int):
        column = pixels[60:-60, x]  # without buttons and notices
        blue = column[:, 2] - column[:, 1]
        rows.append(int(np.argmax(blue < -5.0)))  # grass is green, sky is blue
    i, j = np.triu_indices(len(rows), 4)
    slopes = (np.array(rows)[j] - np.array(rows)[i]) / (columns[j] - columns[i])
    return float(np.median(slopes))  # a blade of the propeller may hide some of them


def test_the_horizon_is_level_and_tilts_with_the_roll(visit, flight):
    page = visit(flight.url)
    page.set_viewport_size({"width": 640, "height": 480})
    page.evaluate("poinsot.player.hudOn = false")
    page.evaluate("poinsot.player.look({ kind: 'cockpit', body: 0 })")
    flight.page.ask(lambda: setattr(flight.page.loop, "paused", True))
    base = flight.page.ask(lambda: flight.sim.state)

    def rolled(roll: float) -> None:
        """Put it 100 m high, with a roll."""
        x = base.x.copy()
        down = quaternion.product(np.array([0.0, 1.0, 0.0, 0.0]), quaternion.exp(np.array([roll, 0.0, 0.0])))
        y = np.asarray(flight.sim.compiled.from_stepped(x, base.p)).copy()
        y[:4], y[4:7] = down, (0.0, 300.0, 100.0)
        flight.page.loop.go_on_from(replace(base, x=np.asarray(flight.sim.compiled.to_stepped(y, base.p))))
        flight.page._shown = (-1.0, 0.0)

    for roll in (0.0, 0.35, -0.45):
        flight.page.ask(lambda roll=roll: rolled(roll))
        assert eventually(lambda roll=roll: abs(page.evaluate("poinsot.readings().roll") - roll) < 1e-9)
        assert drawn_anew(page)
        # right wing down: the horizon rises to the right; a page that is laid out anew stretches its last picture
        assert eventually(lambda roll=roll: abs(horizon(page) + np.tan(roll)) < 0.02, 20.0), horizon(page)


@pytest.mark.slow  # against the wall clock, in a browser that wants both cores
def test_keys_are_let_go_when_the_page_loses_them(visit, flight):
    page = visit(flight.url)
    page.keyboard.down("ArrowRight")
    assert eventually(lambda: flight.stick.places.get("roll", 0.0) > 0.5)
    page.evaluate("window.dispatchEvent(new Event('blur'))")
    assert eventually(lambda: flight.stick.places.get("roll", 0.0) == 0.0)
    page.keyboard.up("ArrowRight")
    page.keyboard.down("ArrowLeft")
    assert eventually(lambda: flight.stick.held == {"ArrowLeft"})
    page.close()
    assert eventually(lambda: flight.stick.held == set())


GAMEPAD = """() => {
  const buttons = Array.from({ length: 16 }, () => ({ pressed: false }));
  const pad = { id: "stick <b>1</b>", connected: true, axes: [0.5, 0, 0, 0], buttons };
  window.pads = [pad]; navigator.getGamepads = () => window.pads;
}"""


@pytest.mark.slow  # against the wall clock, in a browser that wants both cores
def test_a_gamepad_and_when_it_is_pulled_out(visit, flight):
    page = visit(flight.url)
    page.evaluate(GAMEPAD)
    page.get_by_text("Gamepad: stick <b>1</b>").wait_for()
    assert eventually(lambda: flight.stick.places.get("roll") == 0.5)
    page.evaluate("pads[0].axes[1] = 0.25; pads[0].buttons[7].pressed = true")
    assert eventually(lambda: flight.stick.places.get("pitch") == 0.25 and flight.stick.places["throttle"] > 0.3)
    page.evaluate("pads = [null]")
    page.get_by_text("The gamepad is gone. The controls stay where they were").wait_for()
    t = flight.t
    assert eventually(lambda: flight.t > t + 0.3)  # some control periods later
    assert flight.stick.places["roll"] == 0.5
    assert flight.stick.places["pitch"] == 0.25
    assert flight.stick.held == set()
    page.keyboard.press("ArrowLeft")
    assert eventually(lambda: flight.stick.places["pitch"] == 0.0 and abs(flight.stick.places["roll"]) < 1e-9)


def test_the_stick_of_the_page_and_its_buttons(visit, flight):
    page = visit(flight.url)
    page.set_viewport_size({"width": 1000, "height": 600})
    page.get_by_role("button", name="stick").click()
    box = steady_box(page, ".field")
    x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    page.mouse.move(x, y)
    page.mouse.down()
    page.mouse.move(x + box["width"] / 4, y + 0.75 * box["height"])  # beyond the edge of the field
    assert eventually(lambda: flight.stick.places.get("pitch") == 1.0)
    assert flight.stick.places["roll"] == pytest.approx(0.5, abs=0.05)
    page.get_by_role("button", name="trim").dispatch_event("click")
    assert eventually(lambda: flight.stick.trim == 1.0)
    page.mouse.up()
    assert eventually(lambda: flight.stick.places["roll"] == 0.0)
    assert not page.evaluate("poinsot.player.hud.round")
    page.get_by_role("button", name="instruments").click()
    assert page.evaluate("poinsot.player.hud.round")
    page.keyboard.press("h")
    page.get_by_text("stick back: nose up").wait_for()
    address = urlsplit(flight.url)
    connection = http.client.HTTPConnection(address.hostname, address.port, timeout=120)
    connection.request("GET", address.path + "flight.csv")
    text = connection.getresponse().read().decode()
    assert text.startswith("t,elevator,aileron,rudder,flaps,throttle,brake\n0.0,")
    connection.close()


def test_a_frame_is_made_in_less_than_a_sixtieth_of_a_second(flight):
    """By processor time, the best of some: a state with all that the page shows of it."""
    page = flight.page

    def frame() -> float:
        before = clock.thread_time()
        state = page.state
        numbers = [of(*state) for _, of in page.numbers.values()]
        page.picture.frame([0.0] * 7, *state, numbers)
        return clock.thread_time() - before

    page.document()
    assert min(page.ask(frame) for _ in range(20)) < 1 / 60  # some half of it on a quiet machine


@pytest.fixture
def small():
    """A body with a name that is markup, and a pilot."""
    world = pt.World()
    world.add_body("<img/src=x/onerror=hacked=1>", pt.Inertia.box(2.0, (0.4, 0.3, 0.2)), position=(0, 0, 5))
    world.add_input("throttle", 0.0)
    name = next(iter(world.description.bodies))
    world.add_force("jet", name, lambda t, scene: scene.input("throttle") * np.array([0.0, 0.0, 40.0]))
    return world


@pytest.mark.slow  # against the wall clock, in a browser that wants both cores
def test_any_world_with_a_throttle_can_be_flown(visit, small):
    """Without air, without a runway, with a name that is markup."""
    with small.fly(runway=False, limits={"load_factor": (-2, 3)}, instruments="gauges", **QUIET) as flight:
        page = visit(flight.url)
        page.keyboard.down("w")
        assert eventually(lambda: float(flight.sim.action[0]) > 0.9)
        seen = page.evaluate(READINGS)
        assert seen["body"] == "<img/src=x/onerror=hacked=1>"
        assert seen["altitude"] == seen["position"][2]
        assert page.evaluate("typeof hacked") == "undefined"
        assert page.locator("img[src=x]").count() == 0
        page.keyboard.up("w")
        page.keyboard.press("r")
        assert eventually(lambda: float(flight.sim.action[0]) == 0.0)


def test_a_page_that_cannot_draw_says_so(flight, blank):
    page = blank()
    page.add_init_script("HTMLCanvasElement.prototype.getContext = () => null")
    page.goto(flight.url)
    page.get_by_text("cannot draw in three dimensions").wait_for()


def test_what_is_felt_at_the_eye():
    """In free fall nothing but the rotation: w x (w x r) of a cube, which keeps w; at rest on a joint -g, upwards."""
    cube, eye = pt.Inertia.box(2.0, (1.0, 1.0, 1.0)), (0.5, 0.0, -0.2)
    for joint, spin, felt in ((None, 3.0, [-4.5, 0.0, 0.0]), (pt.revolute((0, 0, 1)), 0.0, [0.0, 0.0, 9.81])):
        world = pt.World(gravity=(0.0, 0.0, -9.81))
        more = {"angular_velocity": (0.0, 0.0, spin)} if joint is None else {"joint": joint}
        world.add_body("cube", cube, **more)
        sim = live_stepper(world, 1e-3, None)
        y, p = np.asarray(sim.compiled.from_stepped(sim.state.x, sim.state.p)), sim.state.p
        instruments = Instruments(sim.compiled, "cube", eye)
        readings = dict(zip(instruments.labels, instruments(0.0, y, p), strict=True))
        assert [readings[f"felt.{k}"] for k in range(3)] == pytest.approx(felt, abs=1e-12)


def test_flights_that_are_no_flights(tmp_path, circuit):
    path = tmp_path / "x.csv"
    for text, message in (
        ("", "is not a flight"),
        ("t,throttle\n", "is not a flight"),
        ("t,throttle\n0.0,1.0\n", "its last row must be"),
        ("t,throttle\n0.0,x\n1.0,end\n", "row 2: expected 2 finite numbers"),
        ("t,throttle\n0.0,inf\n1.0,end\n", "row 2: expected 2 finite numbers"),
        ("t,throttle\n0.0,1,2\n1.0,end\n", "row 2: expected 2 finite numbers"),
        ("t,throttle\n0.5,1\n1.0,end\n", "begin at 0, increase"),
        ("t,throttle\n0.0,1\n0.0,1\n1.0,end\n", "begin at 0, increase"),
        ("t,throttle\n0.0,1\n0.0,end\n", "begin at 0, increase"),
    ):
        path.write_text(text)
        with pytest.raises(ValueError, match=message):
            load_flight(path)
    path.write_text("t,trottle\n0.0,1\n1.0,end\n")
    with pytest.raises(ValueError, match="which is not an input"):
        load_scenario(EXAMPLES / "circuit.toml", {"run.flight": str(path)})


def test_errors_come_before_any_work(circuit, small):
    with pytest.raises(ValueError, match="no input that a pilot could move"):
        pt.World().fly(**QUIET)
    with pytest.raises(ValueError, match="step must be a positive number"):
        small.fly(step=-1.0, **QUIET)
    with pytest.raises(ValueError, match="there is no body 'plane'"):
        small.fly(body="plane", **QUIET)
    with pytest.raises(ValueError, match="camera 'coktail'"):
        small.fly(camera="coktail", **QUIET)
    for key, value in (("controls.elevator.axis", "pich"), ("limits.airspeed", [3, 1]), ("start.wing", 1)):
        with pytest.raises(ValueError, match=re.escape("fly")):
            load_scenario(EXAMPLES / "circuit.toml", {f"fly.{key}": value})


def test_closing_leaves_nothing(small):
    before = set(threading.enumerate())
    flight = show.fly(small, **QUIET)
    assert flight.flown.duration == 0.0
    flight.close()
    flight.close()
    assert eventually(lambda: not any(t.is_alive() for t in set(threading.enumerate()) - before))
    assert flight.flown.duration == 0.0  # what was flown stays


# The whole circuit, rates, and memory.


@pytest.mark.slow
def test_take_off_circuit_and_landing(visit, flight, circuit, tmp_path):
    """A whole circuit by keys: it stands on the runway again, and the flight runs again to the same bits."""
    page, pilot = visit(flight.url), Pilot()
    places = flown_by(pilot, page, flight, "standing", 500.0)
    seen = at_rest(flight, page)
    print(pilot.log)
    assert [phase for _, phase in pilot.log] == [
        "climb", "crosswind turn", "downwind", "final turn", "final", "flare", "stop", "standing",
    ]  # fmt: skip
    x, y, _ = seen["position"]
    assert -60.0 < x < 1140.0
    assert abs(y) < 15.0
    assert all(load > 0 for load in seen["wheels"])
    width, height = page.evaluate("[poinsot.stage.host.clientWidth, poinsot.stage.host.clientHeight]")
    middle = np.array(places) / [width, height]
    assert np.all((middle > 1 / 3) & (middle < 2 / 3))
    run = flight.run(every=0.1)
    assert same_bits(flight, run)
    assert not run.unexplained
    flight.save(tmp_path / "flight.nc")
    assert np.array_equal(pt.load_run(tmp_path / "flight.nc").y, flight.run().y)


@pytest.mark.slow
def test_sixty_states_per_second_and_input_to_picture(visit, flight):
    """60 states per second, and half of all key strokes are seen within 50 ms, on a machine that is not busy."""
    page = visit(flight.url)
    clock.sleep(1.0)
    for _ in range(20):
        page.keyboard.press("ArrowLeft", delay=40)
        clock.sleep(0.1)
    measured = page.evaluate("poinsot.rates()")
    rate, late = measured["frames"], np.sort(measured["latencies"])
    print(f"{rate:.1f} per second, {np.median(late):.1f} ms, {late}")
    assert measured["frames"] > 55.0
    assert np.median(measured["latencies"]) < 50.0


@pytest.mark.slow
def test_ten_minutes_without_growth(visit, flight):
    """Eight times as fast: neither the page nor the program grows by more than the record of the controls."""
    resource = pytest.importorskip("resource")
    page = visit(flight.url)
    page.get_by_label("speed").select_option("8")
    session = page.context.new_cdp_session(page)

    def heap() -> float:
        session.send("HeapProfiler.collectGarbage")
        return float(session.send("Runtime.getHeapUsage")["usedSize"])

    assert eventually(lambda: flight.t > 60.0, 120.0)
    first, used = heap(), resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    assert eventually(lambda: flight.t > 660.0, 400.0)
    grown, more = heap() - first, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - used
    print(f"the page grew by {grown / 1e6:.2f} MB, the program by {more / 1e3:.2f} MB")
    assert grown < 3e6
    assert more < 20e3  # kB: caches of Python, and 0.5 MB of times
