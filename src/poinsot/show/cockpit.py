"""A world that is flown live in the browser: controls, head-up display or round instruments, and what was flown."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from poinsot._types import Array, ArrayLike
from poinsot.control.flight_options import limits_of, require_flight
from poinsot.control.stick import AXES, KEYS, PAD, Stick, checked_bindings, controls_of
from poinsot.parts import Limit, Tank
from poinsot.run.flights import FlownInputs
from poinsot.run.result import Run
from poinsot.show.gate import HOST, PORT
from poinsot.show.instruments import Instruments
from poinsot.show.live_page import LivePage, Numbers, OnPage
from poinsot.show.live_picture import LivePicture
from poinsot.show.live_world import live_stepper, rehearsed
from poinsot.show.picture import Picture
from poinsot.show.replay import layers_of
from poinsot.show.surroundings import Surroundings, surroundings_of
from poinsot.show.vehicles import main_vehicle, vehicles_of
from poinsot.show.web_server import offer
from poinsot.spatial import quaternion
from poinsot.world import World

RUNWAY = {"length": 1200.0, "width": 30.0, "before": 100.0}  # m; before: from its beginning to the start
BEHIND = {"azimuth": 0.0, "elevation": 0.16, "zoom": 1.25}  # of the camera that follows
LAYERS = ("bodies", "joints", "parts", "ground", "trails")


class Flight(OnPage):
    """A world that is flown: `url`, `t`, `stick`, `flown`, `run()`, `save(path)`, `reset()`, `wait()`, `close()`."""

    def __init__(
        self, world: World, step: float, method: str | None, layers: Sequence[str], fly: Mapping[str, Any], host: str,
        port: int, drawing: Mapping[str, Any],
    ) -> None:  # fmt: skip
        require_flight(world.description.bodies, world.description.inputs, fly)
        self.world, self.sim = world, live_stepper(world, step, method)
        base_inputs = {name: np.asarray(value, dtype=float) for name, value in world.description.inputs.items()}
        self.start = base_inputs | {k: np.asarray(float(v)) for k, v in (fly.get("start") or {}).items()}
        keys, pad = checked_bindings(fly.get("keys"), KEYS, "key"), checked_bindings(fly.get("gamepad"), PAD, "gamepad")
        buttons = {key: action for key, action in pad.items() if key.startswith("button")}
        self.stick = Stick(controls_of(self.start, fly.get("controls")), {**keys, **buttons})
        self.sim.state = self.sim.start_with({}, self.start)
        base = rehearsed(self.sim, world, drawing)
        vehicles = vehicles_of(base)
        body = fly.get("body") or base.records.names[main_vehicle(vehicles).body]
        camera = drawing.get("camera") or f"chase {body}"
        picture = LivePicture(base, layers, camera, around_start(base, body, fly), {"chase": BEHIND})
        k = base.records.index(body)
        if fly.get("eye") is not None:
            picture.vehicles[k] = replace(picture.vehicles[k], eye=np.asarray(fly["eye"], dtype=float))
        eye = picture.vehicles[k].eye
        instruments = Instruments(self.sim.compiled, body, (float(eye[0]), float(eye[1]), float(eye[2])))
        labels = instruments.labels
        numbers: dict[str, tuple[int, Numbers]] = {
            "readings": (len(labels), instruments),
            "inputs": (len(self.sim.action_labels), lambda *_: np.asarray(self.sim.action, dtype=float)),
            "stick": (len(AXES) + 1, self._places),
        }
        more = {"cockpit": self._described(body, labels, fly, pad), "curves": [], "sliders": []}
        self._restart()
        self.page = LivePage(self.sim, picture, self._act, self._told, numbers, more, f"Poinsot: flying {body}")
        self.page.loop.paused = True  # until somebody is there
        self._met = False
        self.page.serve(host, port, {"flight.csv": lambda _: ("text/csv", self.flown.text())})

    def _described(
        self, body: str, labels: list[str], fly: Mapping[str, Any], pad: Mapping[str, str]
    ) -> dict[str, Any]:
        """The description of the cockpit for the page."""
        elements = self.world.description.acting()
        tanks = {n: float(e.capacity) for n, e in elements if isinstance(e, Tank)}
        return {
            "body": body,
            "labels": labels,
            "inputs": list(self.sim.action_labels),
            "axes": list(AXES),
            "controls": {c.axis: c.input for c in self.stick.controls},
            "keys": dict(self.stick.keys),
            "gamepad": dict(pad),
            "limits": limits_of(fly.get("limits")),
            "tanks": tanks,
            "breaks": [n for n, e in elements if isinstance(e, Limit)],
            "instruments": fly.get("instruments", "display"),
        }

    # In the thread that steps.

    def _restart(self) -> None:
        self.stick.start({name: float(v) for name, v in self.start.items() if np.ndim(v) == 0})

    def _act(self) -> dict[str, float]:
        return self.stick.advance(self.page.loop.period)

    def _places(self, *_: Any) -> Array:
        return np.array([*(self.stick.places.get(axis, 0.0) for axis in AXES), self.stick.trim])

    def _told(self, said: Mapping[str, Any]) -> None:
        if not self._met and not said.get("gone"):
            self._met = True
            self.page.loop.paused = bool(said.get("pause", False))
        if "keys" in said:
            self.stick.press([str(key) for key in said["keys"]])
        if "axes" in said:
            self.stick.give({str(k): None if v is None else float(v) for k, v in said["axes"].items()})
        if "switch" in said:
            self.stick.switch(str(said["switch"]))
        if said.get("gone"):
            self.stick.press([])
            self.stick.given.clear()
        if said.get("reset"):
            self._reset()

    def _reset(self) -> None:
        self._restart()
        self.page.loop.go_on_from(self.sim.start_with({}, self.start))
        self.page.restart()

    # The program's actions.

    @property
    def flown(self) -> FlownInputs:
        """The inputs of the flight so far, since the last reset."""
        record = self.page.ask(lambda: self.page.loop.record)
        return FlownInputs.of(self.sim, record)

    def run(self, **options: Any) -> Run:
        """The flight so far, simulated again: the same bits, with records and ledger. Options as for `simulate`."""
        flown = self.flown
        settings = {"step": self.sim.step_length, "method": self.sim.compiled.method, "inputs": flown.inputs}
        return self.world.simulate(flown.duration, **{**settings, **options})

    def save(self, path: str | Path) -> Path:
        """Save what was flown: its inputs as x.csv, or the run with all records as x.nc or x.zarr."""
        path = Path(path)
        if path.suffix == ".csv":
            return self.flown.save(path)
        self.run().save(path)
        return path


def around_start(base: Picture, body: str, fly: Mapping[str, Any]) -> Surroundings:
    """A field with a runway under the start, along the nose of the body; or the Earth from above."""
    vehicle = vehicles_of(base)[base.records.index(body)]
    around = surroundings_of(base, vehicle)
    if around.kind == "orbit":
        return around
    around = surroundings_of(base, vehicle, "field")
    k, up = base.records.index(body), around.up
    heights = getattr(base.records.description.elements.get("ground"), "heights", None)
    height = float(heights) if isinstance(heights, (int, float)) else (around.ground or 0.0)
    datum = around.datum if heights is None else height
    nose = quaternion.rotate(base.records.wxyz[0, 0, k], np.array([1.0, 0.0, 0.0]))
    flat = nose - (nose @ up) * up
    chosen = fly.get("runway", True)
    if chosen is False or np.linalg.norm(flat) < 0.1:
        return replace(around, ground=height, datum=datum, runway=None)
    size = RUNWAY | (dict(chosen) if isinstance(chosen, Mapping) else {})
    course, foot = flat / np.linalg.norm(flat), base.records.positions[0, 0, k]
    middle = foot - (foot @ up - height) * up + (float(size["length"]) / 2 - float(size["before"])) * course
    turned = [float(course @ around.first), float(course @ np.cross(up, around.first))]
    runway = {
        "middle": middle.tolist(),
        "course": turned,
        "length": float(size["length"]),
        "width": float(size["width"]),
    }
    return replace(around, ground=height, datum=datum, runway=runway)


def fly(
    world: World,
    *,
    controls: Mapping[str, Any] | None = None,
    step: float = 5e-3,
    method: str | None = None,
    body: str | None = None,
    eye: ArrayLike | None = None,
    start: Mapping[str, float] | None = None,
    runway: Mapping[str, float] | bool | None = None,
    limits: Mapping[str, Any] | None = None,
    keys: Mapping[str, str] | None = None,
    gamepad: Mapping[str, str] | None = None,
    instruments: str = "display",
    show: Any = None,
    camera: Any = None,
    looks: Mapping[str, Any] | None = None,
    trails: Mapping[str, ArrayLike] | None = None,
    host: str = HOST,
    port: int = PORT,
    browser: bool | None = None,
    block: bool | None = None,
) -> Flight:
    """Fly a world live in the browser: from the cockpit or from outside, by keyboard, gamepad or the stick of the page.

    controls: the axis of each input, as `stick.controls_of` takes it; by default by their names: elevator, aileron,
    rudder, throttle, brake, flaps, gear, steering. start: inputs at the start. body: the one that is flown; eye (3,)
    [m]: where its pilot's eyes are. runway: `length`, `width` and what of it is `before` the start [m]; False: none.
    limits: warned of, {"airspeed": 75, "load_factor": (-1.5, 3.8)}, SI units. keys, gamepad: other bindings, as
    {"KeyQ": "yaw-"}, {"axis2": "roll"}. instruments: "display" or "gauges". Other options as for `live`.
    """
    given = {
        "controls": controls, "body": body, "eye": eye, "start": start, "runway": runway, "limits": limits,
        "keys": keys, "gamepad": gamepad, "instruments": instruments,
    }  # fmt: skip
    table = {name: value for name, value in given.items() if value is not None}
    layers = LAYERS if show is None else [name for name in layers_of(show) if name != "ghosts"]
    page = Flight(world, step, method, layers, table, host, port, {"looks": looks, "trails": trails, "camera": camera})
    offer(page, browser, block)
    return page
