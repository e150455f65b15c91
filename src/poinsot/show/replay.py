"""One HTML file that replays a run offline: the player, its drawing library and the document of the run."""

import base64
import os
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from html import escape
from importlib import resources
from pathlib import Path
from typing import Any

import numpy as np

from poinsot._atomic import write_text
from poinsot._hints import hint
from poinsot._types import Array, ArrayLike
from poinsot.run.result import Run
from poinsot.show import ensembles
from poinsot.show.document import document
from poinsot.show.picture import DEFAULT, LAYERS, Picture
from poinsot.show.records import records_of
from poinsot.show.robots import own_looks

FPS = 30
MOST = 400_000  # poses in one file; beyond that there are fewer records, down to FPS of them per second
FEWEST = 8  # records per second of a replay with very many instances
SHORT, LONG = 2.0, 120.0  # s: shorter and longer runs are not played in real time,
USUAL = 20.0  # s: but within this time
SCRIPTS = ("unpack", "algebra", "backdrop", "lines", "things", "cameras", "stage", "hud", "panels", "legend", "player")


def pace(duration: float, speed: float | None) -> float:
    """The seconds of the run per second of the replay."""
    if speed is not None:
        if not 0 < speed < np.inf:
            raise ValueError(f"speed must be positive, not {speed!r}.")
        return float(speed)
    return 1.0 if SHORT <= duration <= LONG or duration == 0 else duration / USUAL


def frames(time: Array, speed: float, fps: float) -> Array:
    """The records (k,) that are shown at `fps` frames per second, including the last one."""
    count = max(2, int(np.ceil((time[-1] - time[0]) / speed * fps)) + 1)
    wanted = np.linspace(time[0], time[-1], count)
    after = np.clip(np.searchsorted(time, wanted), 1, max(len(time) - 1, 1)) if len(time) > 1 else np.zeros(1, int)
    nearest = np.where(wanted - time[after - 1] < time[after] - wanted, after - 1, after) if len(time) > 1 else after
    return np.unique(np.append(nearest, len(time) - 1))


def kept(picture: Picture, rate: float, fps: float | None = None) -> Array:
    """The records (k,) of a file: all of them, or `fps` per second of the replay; by default as many as are light."""
    time = picture.records.time
    if fps is not None and not 0 < fps < np.inf:
        raise ValueError(f"fps must be a positive number of records per second, not {fps!r}.")
    poses = len(picture.records.names) * len(picture.records.numbers)
    if fps is None and len(time) * poses <= MOST / 10:
        return np.arange(len(time))
    seconds = max(float(np.ptp(time)) / rate, 1e-9)
    return frames(time, rate, fps or min(FPS, max(FEWEST, 4 * MOST / (poses * seconds))))


def picture_of(
    run: Run,
    instance: int = 0,
    ghosts: int | None = None,
    looks: Mapping[str, Any] | None = None,
    trails: Mapping[str, ArrayLike] | None = None,
    colour: str | None = None,
    side_by_side: float = 0.0,
) -> Picture:
    """The picture of a run: of one instance of a batch, with up to `ghosts` others, some by default."""
    others = [i for i in range(run.batch or 1) if i != instance]
    if ghosts is None:
        light = MOST // (len(run.time) * max(len(run.world.description.bodies), 1))
        ghosts = min(ensembles.USUAL, light)
    if isinstance(ghosts, bool) or not isinstance(ghosts, (int, np.integer)) or ghosts < 0:
        raise ValueError(f"ghosts must be a number of other instances, 0 or more, not {ghosts!r}.")
    chosen = np.linspace(0, len(others) - 1, min(ghosts, len(others))).astype(int)
    ensemble = None if run.batch is None else ensembles.Ensemble(run, colour, side_by_side)
    all_looks = {**own_looks(run.world), **(looks or {})}
    records = records_of(run, (instance, *(others[i] for i in chosen)))
    return Picture(records, all_looks, trails, robots=tuple(run.world.robots), ensemble=ensemble)


def html(
    run: Run,
    *,
    show: str | Iterable[str] | None = None,
    speed: float | None = None,
    fps: float | None = None,
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
) -> str:
    """A self-contained page that replays the run without server or network. Options as for `view`.

    fps: records per second of the replay; by default all records of a small run, 30 per second of a larger one. The
    page moves between them.
    """
    picture = picture_of(run, instance, ghosts, looks, trails, colour, side_by_side)
    rate = pace(float(np.ptp(picture.records.time)), speed)
    content = document(
        run, picture, kept(picture, rate, fps), rate, layers_of(show), camera=camera, follow=follow,
        attached=attached, plots=plots, surroundings=surroundings,
    )  # fmt: skip
    return page_of(content, title_of(run, rate))


def page_of(content: str, title: str, more: Sequence[str] = (), starts: str = "start") -> str:
    """The page of a document; more: further scripts; starts: the function that starts it."""
    load = (
        "const text = id => document.getElementById(id).textContent;"
        ' const code = await inflated(text("three"), "gzip");'
        ' globalThis.THREE = new Function(new TextDecoder().decode(code) + "; return THREE;")();'
        f' await {starts}(JSON.parse(text("run")));'
    )
    head = f'<meta charset="utf-8"><link rel="icon" href="data:,"><title>{escape(title)}</title>'
    return (
        f'<!doctype html>\n<html lang="en"><head>{head}<style>{_file("page.css")}</style></head><body>'
        f'<script id="three" type="text/plain">{_library()}</script>'
        f'<script id="run" type="application/json">{content}</script>'
        f'<script>"use strict"; (async () => {{\n{_player(tuple(more))}\n{load}\n}})();</script></body></html>\n'
    )


@cache
def _player(more: tuple[str, ...]) -> str:
    return "\n".join(_file(f"{name}.js") for name in (*SCRIPTS, *more))


@cache
def _library() -> str:
    """three.js, compressed; it is under the MIT licence, in web/three-license.txt."""
    packed = resources.files("poinsot.show").joinpath("web/three.min.js.gz").read_bytes()
    return base64.b64encode(packed).decode()


def _file(name: str) -> str:
    return resources.files("poinsot.show").joinpath(f"web/{name}").read_text(encoding="utf-8")


def to_html(run: Run, path: str | os.PathLike[str], **options: Any) -> Path:
    """Write the replay to a file, whole or not at all; see `html` for the options."""
    return write_text(path, html(run, **options))


def framed(run: Run, height: int = 480) -> str:
    """The replay for a notebook."""
    style = f"width:100%;height:{height}px;border:1px solid #ddd"
    return f'<p>{escape(repr(run))}</p><iframe style="{style}" srcdoc="{escape(html(run))}"></iframe>'


def title_of(run: Run, rate: float) -> str:
    """The title of the page."""
    names = list(run.world.description.bodies)
    many = ", ".join(names[:3]) + (" ..." if len(names) > 3 else "")
    return f"Poinsot: {many}" + ("" if rate == 1 else f" ({rate:.3g} s per second)")


def layers_of(show: str | Iterable[str] | None) -> tuple[str, ...]:
    """The layers a user asks for: None for the default ones, "+forces" for these and one more, or a list."""
    if show is None:
        return DEFAULT
    names = (show,) if isinstance(show, str) else tuple(show)
    plus = [name.removeprefix("+") for name in names if name.startswith("+")]
    rest = [name for name in names if not name.startswith("+")]
    chosen = {*(rest or (DEFAULT if plus else ())), *plus}
    for name in chosen:
        if name not in LAYERS:
            raise ValueError(f"there is no layer {name!r}{hint(name, LAYERS)}; there are {', '.join(LAYERS)}.")
    return tuple(name for name in LAYERS if name in chosen)
