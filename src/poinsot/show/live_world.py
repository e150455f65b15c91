"""A world simulated live in the browser: sliders for parameters and inputs, pushes by mouse or button, reset."""

import time as clock
from collections import deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from poinsot._types import Array, ArrayLike
from poinsot.parts import Effect, Element, Scene
from poinsot.run.compiled import CompiledSystem
from poinsot.run.open_loops import open_loops
from poinsot.run.stepping import choose_method
from poinsot.show import server as web
from poinsot.show.looks import look_of, looks_of
from poinsot.show.marks import Surface
from poinsot.show.page import SPEEDS, laid_out, layer_boxes, offer
from poinsot.show.picture import Picture
from poinsot.show.records import Measures, Records
from poinsot.show.replay import layers_of
from poinsot.show.stage import Stage, camera_view, node_of
from poinsot.show.verbatim import in_markdown
from poinsot.spatial import Inertia, quaternion
from poinsot.world import World
from poinsot.world.paths import entries

PUSH = "push"  # the name of the element and of its input
MOST = 40  # bodies that can be pushed, at most
WINDOW = 240  # records of the trails
FARTHEST = 1e12  # a number above this, or NaN, ends the run
REHEARSAL = 4.0  # s that are simulated in advance, for sizes and scales
STRENGTH = 3.0  # of the default push, in multiples of the weight
WHILE = 0.15  # s, the duration of a push
DIRECTIONS = {"x": (1, 0, 0), "-x": (-1, 0, 0), "y": (0, 1, 0), "-y": (0, -1, 0), "z": (0, 0, 1), "-z": (0, 0, -1)}


@dataclass(frozen=True, eq=False)
class Push(Element):
    """Forces on bodies: the input holds, for each of them, the force (3,) [N] in world axes and its point (3,) [m]."""

    names: tuple[str, ...] = ()

    def bodies(self) -> tuple[str, ...]:
        return self.names

    def effect(self, scene: Scene) -> Effect:
        forces = scene.input(PUSH)
        return Effect({name: scene[name].wrench(forces[k, :3], forces[k, 3:]) for k, name in enumerate(self.names)})


def pushable(world: World) -> tuple[World, list[str]]:
    """The world with a `Push` on its bodies, and their names."""
    d = world.description
    names = [name for name, body in d.bodies.items() if body.inertia is not None][:MOST]
    elements = {**d.elements, PUSH: Push(PUSH, tuple(names))}
    inputs = {**d.inputs, PUSH: np.zeros((len(names), 6))}
    return World.of(replace(d, elements=elements, inputs=inputs)), names


class Live:
    """A world that runs in the browser: `url`, `t`, `y`, `push(body, force)`, `reset()`, `wait()`, `close()`."""

    def __init__(
        self,
        world: World,
        free: Mapping[str, tuple[float, float]],
        ranges: Mapping[str, tuple[float, float]],
        step: float,
        method: str | None,
        layers: Iterable[str],
        view: Any,
        looks: Mapping[str, Any],
        trails: Mapping[str, ArrayLike] | None,
        host: str,
        port: int,
    ) -> None:
        if not step > 0:
            raise ValueError(f"step must be a positive number of seconds, not {step!r}.")
        self.world, self.pushed = pushable(world)
        system = self.world.system(tuple(free))
        self.compiled = CompiledSystem(system, choose_method(method, system), {}, False)
        self.measures, self.h = Measures(self.compiled), step
        self.chosen_looks = {name: look_of(look) for name, look in looks.items()}
        self.trails = trails
        self.sliders: dict[str, list[Any]] = {}
        self.numbers: dict[str, Any] = {path: np.array(value) for path, value in system.numbers.items()}
        self.inputs: dict[str, Any] = {name: np.array(value) for name, value in system.inputs.items()}
        self.running, self.speed, self.debt, self.capacity = True, 1.0, 0.0, 10
        self.pushes: dict[str, tuple[Array, Array, float]] = {}  # force, point, and the time of its end
        self.grabbed: dict[str, tuple[Array, Array]] = {}  # point of the body, and the target it is pulled towards
        self._start_over()
        self.base = self._rehearse()
        with laid_out(host, port, camera_view(self.base, view), self._advance) as self.page:
            self.stage = Stage(self.page.server.scene, self._picture(), layers)
            self._panel(free, ranges)
            self._mouse()

    # The simulation.

    def _start_over(self) -> None:
        self.t, self.y = 0.0, np.asarray(self.compiled.start(self._p()))
        self.seen: deque[tuple[float, Array, Array]] = deque([(0.0, self.y, self._p())], maxlen=WINDOW)
        self.grabbed.clear()
        self.pushes.clear()
        self.problem = open_loops(self.compiled, self.y, self._p()) or ""

    def _p(self) -> Array:
        return self.compiled.parameters(self.numbers, self.inputs)

    def _rehearse(self) -> Picture:
        """A picture of the first seconds, for sizes and scales."""
        y, p, count = self.y, self._p(), max(1, round(REHEARSAL / 100 / self.h))
        kept = [y]
        with np.errstate(all="ignore"):
            for k in range(100):
                y = self.compiled.advance_state(y, p, k * count * self.h, self.h, count)
                if not np.all(np.abs(y) < FARTHEST):
                    break
                kept.append(y)
        records = Records(self.measures, self.h * count * np.arange(len(kept)), np.stack(kept)[:, None], p[None])
        return Picture(records, self._looks(), self.trails)

    def _looks(self) -> dict[str, Any]:
        """The looks of the bodies at the present parameters."""
        return looks_of(self.compiled.system.described(self.numbers), self.chosen_looks)

    def _picture(self) -> Picture:
        times, ys, ps = zip(*self.seen, strict=True)
        records = Records(self.measures, np.array(times), np.stack(ys)[:, None], np.stack(ps)[:, None])
        return Picture(records, self.base.chosen_looks, self.trails, self.base)

    def _advance(self, seconds: float) -> None:
        """Advance to the next frame."""
        if self.running and not self.problem:
            self.debt = min(self.debt + self.speed * seconds / self.h, 2.0 * self.capacity)
            count = int(min(self.debt, self.capacity))
            self.debt -= count
            if count:
                self._step(count)
        self.stage.update(self._picture(), len(self.seen) - 1)
        state = in_markdown(self.problem) or f"t = {self.t:.2f} s" + (
            "" if self.debt <= self.capacity else ", slower than the chosen speed"
        )
        if self.status.content != state:
            self.status.content = state

    def _step(self, count: int) -> None:
        self.inputs[PUSH] = self._forces()
        p, before = self._p(), clock.perf_counter()
        with np.errstate(all="ignore"):
            y = np.asarray(self.compiled.advance_state(self.y, p, self.t, self.h, count))
        took = clock.perf_counter() - before
        self.capacity = int(np.clip(count * 0.02 / max(took, 1e-6), 1, 100_000)) if count > 3 else 2 * self.capacity
        if not np.all(np.abs(y) < FARTHEST):
            what = self.compiled.labels()[int(np.argmax(~(np.abs(y) < FARTHEST)))]
            self.problem = f"stopped at t = {self.t:.3f} s: {what} diverges. Use a smaller step, and reset."
            return
        self.y, self.t = y, self.t + count * self.h
        self.seen.append((self.t, y, p))

    def _forces(self) -> Array:
        """The present forces of the pushes and the mouse with their points, (n, 6)."""
        forces = np.zeros((len(self.pushed), 6))
        self.pushes = {body: push for body, push in self.pushes.items() if push[2] > self.t}
        for body, (force, point, _) in self.pushes.items():
            forces[self.pushed.index(body)] = np.concatenate([force, point])
        if self.grabbed:
            context = self.compiled.context(self._p())
            scene, _ = self.compiled.system.scene(
                self.t, self.compiled.unpack(self.y).state, context.parameters, context.inputs
            )
            for body, (point, target) in self.grabbed.items():
                mass = float(scene.inertia(body).mass)  # type: ignore[union-attr]
                state = scene[body]
                force = mass * (60.0 * (target - state.point(point)) - 4.0 * state.velocity_of(point))
                forces[self.pushed.index(body)] = np.concatenate([force, point])
        return forces

    # The user's actions.

    @property
    def url(self) -> str:
        """The address of the page."""
        return self.page.url

    def push(self, body: str, force: ArrayLike, point: ArrayLike | None = None, duration: float = WHILE) -> None:
        """Push a body with a force (3,) [N] in world axes, at a point (3,) of it, by default its centre of mass."""
        if body not in self.pushed:
            raise ValueError(f"body {body!r} cannot be pushed; these can: {', '.join(self.pushed)}.")
        at = np.array(self._inertia(body).com if point is None else point)
        f = np.array(force, dtype=float)
        if f.shape != (3,) or not np.all(np.isfinite(f)):
            raise ValueError(f"a push on {body!r} needs a force of three finite numbers [N], not {force!r}.")
        self.page.do(lambda: self.pushes.update({body: (f, at, self.t + duration)}))

    def _inertia(self, body: str) -> Inertia:
        inertia = self.world.description.bodies[body].inertia
        assert inertia is not None  # others cannot be pushed
        return inertia

    def set(self, name: str, value: ArrayLike) -> None:
        """Set a free parameter, by its path, or an input, by its name."""
        store = self.numbers if name in self.numbers else self.inputs
        if name not in store or name == PUSH:
            raise ValueError(f"{name!r} is neither a free parameter nor an input of this page.")

        new = np.broadcast_to(np.asarray(value, dtype=float), np.shape(store[name])).copy()
        self.compiled.system.described({**self.numbers, **({name: new} if store is self.numbers else {})})  # may raise

        def change() -> None:
            store[name] = new
            for handle, number in zip(self.sliders.get(name, ()), np.ravel(new), strict=True):
                handle.value = float(number)
            if store is self.numbers and name.split(".")[0] in self.world.description.bodies:
                self.base = Picture(self.base.records, self._looks(), self.trails, self.base)
                self.stage.replace(self._picture(), len(self.seen) - 1)
                self._mouse()

        self.page.do(change)

    def reset(self) -> None:
        """Restart with the present parameters."""
        self.page.do(self._start_over)

    def wait(self) -> None:
        """Wait until the page is closed, or Ctrl-C is pressed."""
        self.page.wait()

    def close(self) -> None:
        """Stop the simulation and the server."""
        self.page.close()

    def __enter__(self) -> "Live":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    # The panel and the mouse.

    def _panel(self, free: Mapping[str, tuple[float, float]], ranges: Mapping[str, tuple[float, float]]) -> None:
        gui = self.page.server.gui
        self.status = gui.add_markdown("t = 0.00 s")
        run = gui.add_checkbox("run", True, hint="run or pause the simulation")
        run.on_update(lambda _: setattr(self, "running", run.value))
        rate = gui.add_dropdown("speed", tuple(SPEEDS), initial_value="1", hint="times real time")
        rate.on_update(lambda _: setattr(self, "speed", SPEEDS[rate.value]))
        gui.add_button("Reset").on_click(lambda _: self.reset())
        tabs = gui.add_tab_group()
        with tabs.add_tab("parameters"):
            for path, bounds in free.items():
                self._sliders(path, self.numbers[path], bounds)
            for name, value in self.inputs.items():
                if name != PUSH:
                    most = 2 * float(np.max(np.abs(value), initial=0.0)) or 1.0
                    self._sliders(name, value, ranges.get(name, (-most, most)))
        with tabs.add_tab("push"):
            body = gui.add_dropdown("body", tuple(self.pushed), initial_value=self.pushed[0])
            way = gui.add_dropdown("direction", tuple(DIRECTIONS), initial_value="x")
            how = gui.add_slider("force [m g]", 0.0, 20.0, 0.1, STRENGTH, hint="in multiples of the weight of the body")
            gui.add_markdown("Or drag a body with the mouse.")

            def push(_: Any) -> None:
                mass = float(self._inertia(body.value).mass)
                self.push(body.value, how.value * mass * 9.81 * np.array(DIRECTIONS[way.value], dtype=float))

            gui.add_button("Push").on_click(push)
        with tabs.add_tab("layers"):
            layer_boxes(self.page, self.stage, ghosts=False)

    def _sliders(self, name: str, value: Array, bounds: tuple[float, float]) -> None:
        low, high = min(bounds[0], float(np.min(value))), max(bounds[1], float(np.max(value)))
        self.sliders[name] = handles = [
            self.page.server.gui.add_slider(label, low, high, (high - low) / 1000, float(number))
            for label, number in zip(entries({name: value}), np.ravel(value), strict=True)
        ]

        def change(event: Any) -> None:
            if event.client is not None:
                self.set(name, np.reshape([handle.value for handle in handles], np.shape(value)))

        for handle in handles:
            handle.on_update(change)

    def _mouse(self) -> None:
        """Bodies can be dragged: a spring acts from the grabbed point to the mouse."""
        for mark in self.stage.picture.layer("bodies"):
            if isinstance(mark, Surface) and mark.body in self.pushed:
                handle = self.page.server.scene.get_handle_by_name(node_of("bodies", mark.name))
                handle.on_drag("left")(self._dragging(str(mark.body)))

    def _dragging(self, body: str) -> Callable[[Any], None]:
        def drag(event: Any) -> None:
            def pull() -> None:
                if event.phase == "end":
                    self.grabbed.pop(body, None)
                    return
                if event.phase == "start" or body not in self.grabbed:
                    k = self.stage.picture.records.index(body)
                    records = self.stage.picture.records
                    arm = np.array(event.start_position) / self.stage.factor - records.positions[-1, 0, k]
                    point = quaternion.rotate(quaternion.conjugate(records.wxyz[-1, 0, k]), arm)
                else:
                    point = self.grabbed[body][0]
                self.grabbed[body] = (point, np.array(event.end_position) / self.stage.factor)

            self.page.do(pull)

        return drag


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
    step: float = 1e-3,
    method: str | None = None,
    show: str | Iterable[str] | None = None,
    camera: Any = None,
    looks: Mapping[str, Any] | None = None,
    trails: Mapping[str, ArrayLike] | None = None,
    host: str = web.HOST,
    port: int = web.PORT,
    browser: bool | None = None,
    block: bool | None = None,
) -> Live:
    """Simulate a world live in the browser, in real time or faster, and interact with it.

    free: paths of parameters that get sliders, optionally with ranges: {"arm.mass": (0.5, 5.0)}. Inputs of the world
    get sliders, too, over `ranges`. Bodies can be dragged with the mouse, and pushed with a button. The other options
    are those of `view`.
    """
    if not isinstance(free, Mapping):
        paths = (free,) if isinstance(free, str) else tuple(free)
        free = {path: usual_range(world[path]) for path in paths}
    page = Live(
        world, free, ranges or {}, step, method, layers_of(show), camera, looks or {}, trails, host, port
    )  # fmt: skip
    offer(page.page, browser, block)
    return page
