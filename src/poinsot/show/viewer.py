"""A run in the browser: the same page as a saved replay, served by the program, which can move it."""

from collections.abc import Iterable, Mapping
from functools import lru_cache
from typing import Any

import numpy as np

from poinsot._types import Array, ArrayLike
from poinsot.run.result import Run
from poinsot.show.document import document, layer_document
from poinsot.show.gate import HOST, PORT
from poinsot.show.picture import Picture
from poinsot.show.replay import kept, layers_of, pace, page_of, picture_of, title_of
from poinsot.show.web_server import PageServer, Served, offer


class Viewer(Served):
    """A run in the browser: `url`, `time`, `play()`, `pause()`, `wait()`, `close()`."""

    def __init__(
        self,
        run: Run,
        layers: Iterable[str],
        speed: float | None,
        instance: int,
        ghosts: int | None,
        host: str,
        port: int,
        looks: Mapping[str, Any] | None,
        trails: Mapping[str, ArrayLike] | None,
        colour: str | None = None,
        side_by_side: float = 0.0,
        **options: Any,
    ) -> None:
        self.run, self.layers, self.instance, self.ghosts, self.options = run, tuple(layers), instance, ghosts, options
        self.drawing: dict[str, Any] = {
            "looks": looks,
            "trails": trails,
            "colour": colour,
            "side_by_side": side_by_side,
        }
        self.rate = pace(float(np.ptp(run.time)), speed)
        self._drawn = lru_cache(maxsize=4)(self._make)  # by instance
        self._drawn(instance)  # all errors come now
        answers = {"": self._page, "layer": self._layer}
        self.server = PageServer(answers, host, port)

    def _make(self, instance: int) -> tuple[Picture, Array, str]:
        """The picture of an instance, its records, and its page."""
        picture = picture_of(self.run, instance, self.ghosts, **self.drawing)
        chosen = kept(picture, self.rate)
        content = document(self.run, picture, chosen, self.rate, self.layers, served=True, **self.options)
        return picture, chosen, page_of(content, title_of(self.run, self.rate))

    def _instance(self, query: Mapping[str, str]) -> int:
        try:
            return int(query.get("instance", self.instance))
        except ValueError:
            raise ValueError(f"instance must be a whole number, not {query['instance']!r}.") from None

    def _page(self, query: Mapping[str, str]) -> tuple[str, str]:
        return "text/html", self._drawn(self._instance(query))[2]

    def _layer(self, query: Mapping[str, str]) -> tuple[str, str]:
        picture, chosen, _ = self._drawn(self._instance(query))
        return "application/json", layer_document(picture, chosen, query.get("name", ""))

    @property
    def time(self) -> float:
        """The time that is shown [s]; set it to go there."""
        return float(self.server.state.get("time", self.run.time[0]))

    @time.setter
    def time(self, t: float) -> None:
        self.server.order(time=float(t), playing=False)

    def play(self) -> None:
        self.server.order(playing=True)

    def pause(self) -> None:
        self.server.order(playing=False)

    def __repr__(self) -> str:
        return f"<viewer of {self.run!r}, {'closed' if self.server.over.is_set() else self.url}>"


def view(
    run: Run,
    *,
    show: str | Iterable[str] | None = None,
    speed: float | None = None,
    instance: int = 0,
    ghosts: int | None = None,
    colour: str | None = None,
    side_by_side: float = 0.0,
    camera: Any = None,
    follow: str | None = None,
    attached: bool = False,
    plots: Iterable[Any] | None = None,
    surroundings: str | None = None,
    looks: Mapping[str, Any] | None = None,
    trails: Mapping[str, ArrayLike] | None = None,
    host: str = HOST,
    port: int = PORT,
    browser: bool | None = None,
    block: bool | None = None,
) -> Viewer:
    """Show a run in the browser.

    show: layers, by their names in `LAYERS`; "+forces" adds one to the default ones. speed: seconds of the run per
    second. instance, ghosts: the instance of a batch, and the number of others, translucent, up to 24 by default;
    colour: what these are coloured by, "outcome" or the name of an output; side_by_side: their distance [m] on a grid.
    camera: "chase", "orbit", "cockpit", "fixed", "chase plane", "wing from fuselage", a direction or a table, see
    `cameras.camera_of`; follow: the body that stays in the centre, in its own axes if `attached`. plots: quantities, or
    (quantity, body). surroundings: "studio", "field" or "orbit". looks: of bodies, by name: shapes, mesh files,
    `urdf_looks(path)`. trails: points of bodies, by name. host, port: where the page is served; a port in use is
    skipped. browser: open it. block: wait until the page is closed; by default in a program, but not at a prompt.
    """
    plots = None if plots is None else list(plots)
    viewer = Viewer(
        run, layers_of(show), speed, instance, ghosts, host, port, looks, trails, colour, side_by_side, camera=camera,
        follow=follow, attached=attached, plots=plots, surroundings=surroundings,
    )  # fmt: skip
    offer(viewer, browser, block)
    return viewer
