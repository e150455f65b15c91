"""A world simulated live in the browser: sliders for numbers and inputs, pushes by button, a hand that pulls bodies."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from poinsot._types import Array, ArrayLike
from poinsot.run.crowds import crowd_of
from poinsot.run.measured import measurement
from poinsot.run.observe import OBSERVABLES
from poinsot.run.open_loops import open_loops
from poinsot.run.stepper import WorldStepper
from poinsot.run.wall_clock import LiveRecord
from poinsot.show.gate import HOST, PORT
from poinsot.show.hand import EMPTY, HAND, mass_in_hand, pulling, pushing, within_reach
from poinsot.show.live_page import FARTHEST, LivePage, OnPage
from poinsot.show.live_picture import LivePicture
from poinsot.show.looks import look_of
from poinsot.show.picture import Picture
from poinsot.show.records import Measures, Records
from poinsot.show.replay import layers_of
from poinsot.show.robots import own_looks
from poinsot.show.triggers import with_triggers
from poinsot.show.web_server import offer
from poinsot.world import System, World
from poinsot.world.paths import entries

PERIOD = 0.01  # s: a control period is at most that long, if the step is
REHEARSAL = 4.0  # s that are simulated in advance, for sizes and scales
MOST_MOVED = 200_000  # bodies of heaps, by so many steps, in a rehearsal
STRENGTH = 3.0  # of the default push, in multiples of the weight
WHILE = 0.15  # s, the duration of a push


def live_stepper(world: World, step: float, method: str | None, **options: Any) -> WorldStepper:
    """A stepper of one world for a live page, started."""
    if not isinstance(step, (int, float, np.number)) or not 0 < step < np.inf:
        raise ValueError(f"step must be a positive number of seconds, not {step!r}.")
    period = step * max(1, int(PERIOD / step + 1e-9))
    sim = world.stepper(step=step, control_period=period, method=method, **options)
    sim.reset()
    return sim


def rehearsed(sim: WorldStepper, world: World, drawing: Mapping[str, Any]) -> Picture:
    """A picture of the first seconds, for sizes and scales; drawing: `looks` and `trails`, where they were given."""
    looks = {**own_looks(world), **{k: look_of(v) for k, v in (drawing.get("looks") or {}).items()}}
    c, state, h = sim.compiled, sim.state, sim.step_length
    x, p = state.x, state.p
    kept, count = [np.asarray(c.from_stepped(x, p))], max(1, round(rehearsal_of(c.system, h) / 100 / h))
    with np.errstate(all="ignore"):
        for k in range(100):
            x = sim.period.ahead(x, p, k * count, h, count)
            y = np.asarray(c.from_stepped(x, p))
            if not np.all(np.abs(y) < FARTHEST):
                break
            kept.append(y)
    records = Records(Measures(c), h * count * np.arange(len(kept)), np.stack(kept)[:, None], p[None])
    return Picture(records, looks, drawing.get("trails"))


def rehearsal_of(system: System, h: float) -> float:
    """How long [s] a world is simulated in advance, in steps h [s]: heaps of very many bodies for less."""
    crowd = crowd_of(system)
    return REHEARSAL if crowd is None else min(REHEARSAL, MOST_MOVED * h / len(crowd.names))


def curves_of(system: System, plots: Sequence[str]) -> list[dict[str, Any]]:
    """Curves for the page: titles, and the labels of their numbers, which stand in a row in the frames."""
    curves, column = [], 0
    for name in plots:
        labels = measurement(system, [name]).labels
        known = [OBSERVABLES[word].unit for word in name.split(".") if word in OBSERVABLES]
        unit = f" [{known[0]}]" if known and known[0] not in ("", "1") else ""
        series = [{"label": x.removeprefix(name).lstrip("."), "column": column + k} for k, x in enumerate(labels)]
        curves.append({"title": name.replace("_", " ") + unit, "series": series})
        column += len(labels)
    return curves


class Live(OnPage):
    """A world that runs in the browser: `url`, `t`, `y`, `set(name, value)`, `push(body, force)`, `reset()`, `record`,
    `wait()`, `close()`. `world`: with the hand, which `record` belongs to."""

    def __init__(
        self,
        world: World,
        free: Mapping[str, tuple[float, float]],
        ranges: Mapping[str, tuple[float, float]],
        buttons: Sequence[str] | None,
        step: float,
        method: str | None,
        layers: Sequence[str],
        plots: Sequence[str] | None,
        drawing: Mapping[str, Any],
        host: str,
        port: int,
    ) -> None:
        world, self.triggers = with_triggers(world, buttons)
        buttons = list(dict.fromkeys([*self.triggers, *(buttons or ())]))
        self.world, self.pushed = within_reach(world)
        plots = list(plots) if plots is not None else usual_plots(self.world)
        inputs = [*self.world.description.inputs, *free]
        vary = {path: np.array(world[path]) for path in free}
        self.sim = live_stepper(self.world, step, method, inputs=inputs, vary=vary, observe=plots or None)
        system = self.sim.compiled.system
        self.inputs = {name: np.array(value, dtype=float) for name, value in system.inputs.items()}
        self.numbers = {path: np.array(value, dtype=float) for path, value in vary.items()}
        self._require_single(buttons)
        base = rehearsed(self.sim, world, drawing)
        picture = LivePicture(base, layers, drawing.get("camera"))
        self._push_until = -np.inf
        self._clicked: set[str] = set()  # buttons that went down since the last control period
        more = {
            "curves": curves_of(system, plots),
            "sliders": self._sliders(free, ranges, buttons),
            "buttons": buttons,
            "triggers": list(self.triggers),
            "bodies_in_reach": [{"name": name, "weight": self._weight(name)} for name in self.pushed],
        }
        numbers = {"curves": (len(self.sim.observation_labels) if plots else 0, self._observed)}
        title = f"Poinsot, live: {', '.join(list(world.description.bodies)[:3])}"
        self.page = LivePage(self.sim, picture, self._act, self._told, numbers if plots else {}, more, title)
        self.page.serve(host, port)

    def _require_single(self, buttons: Sequence[str]) -> None:
        """An error if a button is for something else than an event or a number."""
        for name in buttons:
            if name not in self.triggers and (name not in self.inputs or np.ndim(self.inputs[name])):
                raise ValueError(f"buttons: {name!r} is neither an event nor an input that is a single number.")

    def _observed(self, *_: Any) -> Array:
        return np.asarray(self.sim.observation)

    def _weight(self, body: str) -> float:
        return 9.81 * float(self.world.description.bodies[body].inertia.mass)  # type: ignore[union-attr]

    def _sliders(
        self, free: Mapping[str, Any], ranges: Mapping[str, tuple[float, float]], buttons: Sequence[str]
    ) -> list[dict[str, Any]]:
        """Each number with its label, range and value, for the page."""
        made = []
        for name, value in {**self.numbers, **self.inputs}.items():
            if name in (HAND, *self.triggers.values()) or name in buttons:
                continue
            low, high = free[name] if name in free else ranges.get(name, usual_range(value))
            low, high = min(float(low), float(np.min(value))), max(float(high), float(np.max(value)))
            if not low < high or not np.isfinite([low, high]).all():
                raise ValueError(
                    f"the range of {name!r} must go from a number up to a larger one, not {low} to {high}."
                )
            for k, label in enumerate(entries({name: value})):
                number = float(np.ravel(value)[k])
                made.append({"name": name, "k": k, "label": label, "low": low, "high": high, "value": number})
        return made

    # What the page says, and what the world is told; in the thread that steps.

    def _act(self) -> dict[str, Array]:
        if self.t >= self._push_until:
            self.inputs[HAND], self._push_until = EMPTY, np.inf
        clicked = {name: np.ones(()) for name in self._clicked if name in self.inputs}
        self._clicked = set()
        return {**self.inputs, **clicked, **self.numbers}

    def _told(self, said: Mapping[str, Any]) -> None:
        if "set" in said:
            name, k, value = said["set"]
            new = np.array(self._store(name)[name])
            new.flat[int(k)] = float(value)
            self._change(name, new)
        if "press" in said and said["press"] in self.page.more["buttons"]:
            self._press(str(said["press"]), bool(said["down"]))
        if "grab" in said:
            body, point, target = said["grab"]
            self._hold(str(body), vector(point), vector(target))
        if "push" in said:
            self._push(str(said["push"][0]), said["push"][1], None, WHILE)
        if said.get("let") or said.get("gone"):
            self.inputs[HAND], self._push_until = EMPTY, np.inf
            for name in self.page.more["buttons"]:
                self._press(name, False)
        if said.get("reset"):
            self._reset()

    def _press(self, button: str, down: bool) -> None:
        """A button goes down or up; one that goes up before a control period took it counts for that one."""
        if button in self.triggers and not down:
            return  # an event happens once: its button stays pressed
        self.inputs[self.triggers.get(button, button)] = np.array(float(down))
        self._clicked |= {button} if down else set()

    def _hold(self, body: str, point: Array, target: Array) -> None:
        number = self._number(body)
        self.inputs[HAND] = pulling(number, point, target, mass_in_hand(self.world, body))
        self._push_until = np.inf

    def _number(self, body: str) -> int:
        if body not in self.pushed:
            raise ValueError(f"body {body!r} cannot be pushed; these can: {', '.join(self.pushed)}.")
        return self.pushed.index(body) + 1

    def _push(self, body: str, force: Any, point: Any, duration: float) -> None:
        number, inertia = self._number(body), self.world.description.bodies[body].inertia
        try:
            f = np.array(force, dtype=float)
        except (TypeError, ValueError):
            f = np.empty(0)
        if f.shape != (3,) or not np.all(np.isfinite(f)):
            raise ValueError(f"a push on {body!r} needs a force of three finite numbers [N], not {force!r}.")
        at = inertia.com if point is None and inertia is not None else vector(point)
        self.inputs[HAND], self._push_until = pushing(number, at, f), self.t + duration

    def _store(self, name: str) -> dict[str, Array]:
        for store in (self.numbers, self.inputs):
            if name in store and name != HAND:
                return store
        raise ValueError(f"{name!r} is neither a free parameter nor an input of this page.")

    def _change(self, name: str, new: Array) -> None:
        store = self._store(name)
        if not np.all(np.isfinite(new)):
            raise ValueError(f"{name!r} must be finite, not {new!r}.")
        if store is self.numbers:
            self.sim.compiled.system.described({**self.numbers, name: new})  # may raise
        store[name] = new
        self.page.tell(values={name: np.ravel(new).tolist()})

    def _reset(self) -> None:
        self.inputs[HAND], self._push_until = EMPTY, np.inf
        self.inputs |= {key: np.zeros(()) for key in self.triggers.values()}
        state = self.sim.start_with(self.numbers, self.inputs)
        self.page.loop.go_on_from(state)
        self.page.restart()
        _, y, p = self.page.state
        if problem := open_loops(self.sim.compiled, y, p):
            self.page.stop_with(problem)

    # The program's actions.

    @property
    def y(self) -> Array:
        """The state of now."""
        return np.asarray(self.page.ask(lambda: self.page.state[1]))

    @property
    def record(self) -> LiveRecord:
        """The record since the last reset: `record.replay(world.stepper(...))` has the same bits."""
        return self.page.ask(lambda: self.page.loop.record)

    def replayer(self) -> WorldStepper:
        """A stepper of the same world, for `record.replay`."""
        return self.sim.copy()

    def push(self, body: str, force: ArrayLike, point: ArrayLike | None = None, duration: float = WHILE) -> None:
        """Push a body with a force (3,) [N] in world axes, at a point (3,) of it, by default its centre of mass."""
        self.page.ask(lambda: self._push(body, force, point, duration))

    def set(self, name: str, value: ArrayLike) -> None:
        """Set a free parameter, by its path, or an input, by its name."""
        shape = np.shape(self._store(name)[name])
        new = np.broadcast_to(np.asarray(value, dtype=float), shape).copy()
        self.page.ask(lambda: self._change(name, new))

    def pause(self, paused: bool = True) -> None:
        """Pause it, or let it go on."""
        self.page.ask(lambda: self.page._obey({"pause": paused}))


def vector(value: Any) -> Array:
    """Three finite numbers of a message."""
    v = np.array(value, dtype=float)
    if v.shape != (3,) or not np.all(np.isfinite(v)):
        raise ValueError(f"expected three finite numbers, not {value!r}.")
    return v


def usual_plots(world: World) -> list[str]:
    """The curves of a live page by default: the energy, and the motion of the heaviest body."""
    bodies = world.description.bodies
    heaviest = max(bodies, key=lambda name: float(i.mass) if (i := bodies[name].inertia) is not None else 0.0)
    return ["energy", f"{heaviest}.position", f"{heaviest}.angular_velocity"]


def usual_range(value: Array) -> tuple[float, float]:
    """The default range of a slider: about the size of the number, on the same side of zero."""
    low, high = float(np.min(value)), float(np.max(value))
    if low > 0:
        return low / 10, 3 * high
    if high < 0:
        return 3 * low, high / 10
    most = 3 * max(-low, high) or 1.0
    return -most, most


def live(
    world: World,
    *,
    free: Sequence[str] | Mapping[str, tuple[float, float]] = (),
    ranges: Mapping[str, tuple[float, float]] | None = None,
    buttons: Sequence[str] | None = None,
    step: float = 1e-3,
    method: str | None = None,
    show: str | Iterable[str] | None = None,
    plots: Sequence[str] | None = None,
    camera: Any = None,
    looks: Mapping[str, Any] | None = None,
    trails: Mapping[str, ArrayLike] | None = None,
    host: str = HOST,
    port: int = PORT,
    browser: bool | None = None,
    block: bool | None = None,
) -> Live:
    """Simulate a world live in the browser, in real time, slower or faster, and interact with it.

    free: paths of parameters that get sliders, optionally with ranges: {"arm.mass": (0.5, 5.0)}. Inputs of the world
    get sliders, too, over `ranges`; those in `buttons` are 1 while their button is pressed, else 0. Events (`pt.When`)
    in `buttons`, by default all of them, happen when their button is pressed, if they did not happen before. Bodies are
    pulled with the mouse, by a spring, and pushed with a button. plots: quantities by their names in records, as
    curves. The other options are those of `view`.
    """
    if not isinstance(free, Mapping):
        paths = (free,) if isinstance(free, str) else tuple(free)
        free = {path: usual_range(world[path]) for path in paths}
    layers = [name for name in layers_of(show) if name != "ghosts"]
    drawing = {"looks": looks, "trails": trails, "camera": camera}
    page = Live(
        world, free, ranges or {}, buttons, step, method, layers, plots, drawing, host, port
    )  # fmt: skip
    offer(page, browser, block)
    return page
