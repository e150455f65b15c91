"""The page that replays a run: play, pause, scrub, layers, plots, cameras, instances of a batch."""

from collections.abc import Callable, Iterable, Mapping
from typing import Any

import numpy as np

from poinsot._types import Array, ArrayLike
from poinsot.run.result import Run
from poinsot.show import server as web
from poinsot.show.curves import Plot
from poinsot.show.history import quantities
from poinsot.show.page import laid_out, layer_boxes, offer
from poinsot.show.replay import layers_of, pace, picture_of
from poinsot.show.stage import Stage, camera_view

SPEEDS = {"1/16": 1 / 16, "1/8": 1 / 8, "1/4": 1 / 4, "1/2": 1 / 2, "1": 1.0, "2": 2.0, "4": 4.0, "8": 8.0, "16": 16.0}
FREE, FOLLOW, ATTACHED = "free", "follow", "attached"


class Player:
    """The state of the replay: `time` [s], the index `record` of the record shown, speed, loop and pause."""

    def __init__(self, time: Array, speed: float) -> None:
        self.times, self.speed, self.loop, self.playing = time, speed, True, True
        self.time = float(time[0])

    @property
    def record(self) -> int:
        return int(
            np.clip(np.searchsorted(self.times, self.time * (1 + 1e-12), side="right") - 1, 0, len(self.times) - 1)
        )

    def advance(self, seconds: float) -> None:
        if not self.playing:
            return
        self.time += self.speed * seconds
        start, end = float(self.times[0]), float(self.times[-1])
        if self.time > end:
            self.time = start + (self.time - start) % max(end - start, 1e-300) if self.loop else end
            self.playing = self.loop

    def step(self, records: int) -> None:
        """Go forward or back by some records, and pause."""
        self.playing = False
        self.time = float(self.times[np.clip(self.record + records, 0, len(self.times) - 1)])


class Viewer:
    """A run in the browser: `url`, `time`, `play()`, `pause()`, `wait()`, `close()`."""

    def __init__(
        self,
        run: Run,
        layers: Iterable[str],
        speed: float | None,
        instance: int,
        ghosts: int,
        view: Any,
        follow: str | None,
        attached: bool,
        plots: Iterable[Any] | None,
        host: str,
        port: int,
        **drawing: Any,
    ) -> None:
        self.run, self.drawing, self.ghosts = run, drawing, ghosts
        picture = picture_of(run, instance, ghosts, **drawing)
        time = picture.records.time
        self.player = Player(time, 1.0)
        self.base_speed = pace(float(time[-1] - time[0]), speed)
        with laid_out(host, port, camera_view(picture, view, follow), self._advance) as self.page:
            self.server = self.page.server
            self.stage = Stage(self.server.scene, picture, layers, follow, attached)
            self.instance = instance
            self.plots: list[Plot] = []
            self._controls()
            with self.tabs.add_tab("layers"):
                layer_boxes(self.page, self.stage, ghosts=run.batch is not None)
            self._cameras()
            if run.batch is not None:
                self._instances()
            self._plotting(plots)
            self.player.speed = self.base_speed
            self._show(force=True)

    # The interface for programs.

    @property
    def url(self) -> str:
        """The address of the page."""
        return self.page.url

    @property
    def time(self) -> float:
        """The time that is shown [s]; set it to go there."""
        return self.player.time

    @time.setter
    def time(self, t: float) -> None:
        def go() -> None:
            self.player.time, self.player.playing = float(t), False

        self.do(go)

    def play(self) -> None:
        self.do(lambda: setattr(self.player, "playing", True))

    def pause(self) -> None:
        self.do(lambda: setattr(self.player, "playing", False))

    def do(self, job: Callable[[], None]) -> None:
        """Run a job in the thread of the page, before the next frame."""
        self.page.do(job)

    def wait(self) -> None:
        """Wait until the page is closed, or Ctrl-C is pressed."""
        self.page.wait()

    def close(self) -> None:
        """Stop serving the page."""
        self.page.close()

    def __enter__(self) -> "Viewer":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"<viewer of {self.run!r}, {self.page!r}>"

    # Every frame.

    def _advance(self, seconds: float) -> None:
        self.player.advance(seconds)
        self._show()

    def _show(self, force: bool = False) -> None:
        player = self.player
        if force or player.record != self.stage.k:
            self.stage.show(player.record)
            for plot in self.plots:
                plot.point_at(player.time)
        label = "Pause" if player.playing else "Play"
        if self.button.label != label:
            self.button.label, self.button.icon = label, _icon("PLAYER_PAUSE" if player.playing else "PLAYER_PLAY")
        self.slider.value = min(max(player.time, float(player.times[0])), float(player.times[-1]))

    # The panel. Callbacks only submit jobs; the thread of the page runs them.

    def _controls(self) -> None:
        gui, player = self.server.gui, self.player
        start, end = float(player.times[0]), float(player.times[-1])
        self.button = gui.add_button("Pause", icon=_icon("PLAYER_PAUSE"), hint="play or pause")
        self.button.on_click(lambda _: self.do(self._toggle))
        self.slider = gui.add_slider("time [s]", start, max(end, start + 1e-9), _round_step(end - start), start)
        self.slider.on_update(lambda e: self._scrub(e.target.value) if e.client is not None else None)
        steps = gui.add_button_group("step", ("start", "back", "forward", "end"))
        moves = {"start": -len(player.times), "back": -1, "forward": 1, "end": len(player.times)}
        steps.on_click(lambda e: self.do(lambda: player.step(moves[steps.value])))
        rate = gui.add_dropdown(
            "speed", tuple(SPEEDS), initial_value="1", hint=f"1 means {self.base_speed:.3g} s of the run per second"
        )
        rate.on_update(lambda _: setattr(player, "speed", self.base_speed * SPEEDS[rate.value]))
        loop = gui.add_checkbox("loop", True)
        loop.on_update(lambda _: setattr(player, "loop", loop.value))
        self.tabs = gui.add_tab_group()

    def _toggle(self) -> None:
        player = self.player
        player.playing = not player.playing
        if player.playing and player.record == len(player.times) - 1:
            player.time = float(player.times[0])

    def _scrub(self, t: float) -> None:
        self.time = t

    def _cameras(self) -> None:
        gui, stage = self.server.gui, self.stage
        names = tuple(stage.picture.records.names)
        with self.tabs.add_tab("camera"):
            mode = FREE if stage.follow is None else ATTACHED if stage.attached else FOLLOW
            how = gui.add_dropdown(
                "camera",
                (FREE, FOLLOW, ATTACHED),
                initial_value=mode,
                hint="fixed, following or attached to a body",
            )
            body = gui.add_dropdown("body", names, initial_value=stage.follow or names[0])

            def change(_: Any) -> None:
                def update() -> None:
                    stage.follow = None if how.value == FREE else body.value
                    stage.attached = how.value == ATTACHED
                    stage.show(stage.k)

                self.do(update)

            how.on_update(change)
            body.on_update(change)

    def _instances(self) -> None:
        gui, n = self.server.gui, self.run.batch or 1
        with self.tabs.add_tab("batch"):
            number = gui.add_number("instance", self.instance, min=0, max=n - 1, step=1, hint=f"one of {n}")
            ghosts = gui.add_number("ghosts", self.ghosts, min=0, max=min(n - 1, 200), step=1, hint="other instances")

            def change(_: Any) -> None:
                def replace() -> None:
                    self.instance, self.ghosts = int(number.value), int(ghosts.value)
                    self.stage.replace(picture_of(self.run, self.instance, self.ghosts, **self.drawing))
                    for plot in self.plots:
                        plot.choose()

                self.do(replace)

            number.on_update(change)
            ghosts.on_update(change)

    def _plotting(self, plots: Iterable[Any] | None) -> None:
        gui = self.server.gui
        names = list(quantities(self.run))
        first = "energy" if "energy" in names else names[0]
        panel = gui.add_panel()
        folder = panel.add_tab("plots")
        panel.dock_left()
        panel.set_width(340)

        def more(name: str = first, body: str | None = None) -> None:
            with folder:
                self.plots.append(Plot(self, name, body))

        with folder:
            add = gui.add_button("Add a plot", icon=_icon("CHART_LINE"))
            add.on_click(lambda _: self.do(more))
        for plot in [first] if plots is None else plots:
            more(*((plot,) if isinstance(plot, str) else plot))


def view(
    run: Run,
    *,
    show: str | Iterable[str] | None = None,
    speed: float | None = None,
    instance: int = 0,
    ghosts: int = 0,
    camera: Any = None,
    follow: str | None = None,
    attached: bool = False,
    plots: Iterable[Any] | None = None,
    looks: Mapping[str, Any] | None = None,
    trails: Mapping[str, ArrayLike] | None = None,
    host: str = web.HOST,
    port: int = web.PORT,
    browser: bool | None = None,
    block: bool | None = None,
) -> Viewer:
    """Show a run in the browser.

    show: layers, by their names in `LAYERS`; "+forces" adds one to the default ones. speed: seconds of the run per
    second. instance, ghosts: the instance of a batch, and the number of others, translucent. camera: see
    `stage.camera_view`; follow: the body that stays in the centre, in its own axes if `attached`. plots: quantities, or
    (quantity, body). looks: of bodies, by name: shapes, mesh files, `urdf_looks(path)`. trails: points of bodies, by
    name. host, port: where the page is served; a port in use is skipped. browser: open it. block: wait until the page
    is closed; by default in a program, but not at a prompt.
    """
    viewer = Viewer(
        run, layers_of(show), speed, instance, ghosts, camera, follow, attached, plots, host, port,
        looks=looks, trails=trails,
    )  # fmt: skip
    offer(viewer.page, browser, block)
    return viewer


def _icon(name: str) -> Any:
    import viser

    return getattr(viser.Icon, name)


def _round_step(duration: float) -> float:
    """A step of the time slider: a power of ten, a thousandth of the duration or less."""
    return float(10.0 ** np.floor(np.log10(max(duration, 1e-9) / 1000)))
