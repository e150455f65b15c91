"""One HTML file that replays a run offline."""

import os
from collections.abc import Iterable, Mapping
from html import escape
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

from poinsot._types import Array, ArrayLike
from poinsot.files.atomic import write_text
from poinsot.run.result import Run
from poinsot.show import server as web
from poinsot.show.picture import DEFAULT, LAYERS, Picture
from poinsot.show.records import records_of
from poinsot.show.stage import Stage, camera_view

FPS = 30
MOST = 60_000  # changes of nodes in one file; beyond that there are fewer frames per second
SHORT, LONG = 2.0, 120.0  # s: shorter and longer runs are not played in real time,
USUAL = 20.0  # s: but within this time


def pace(duration: float, speed: float | None) -> float:
    """The seconds of the run per second of the replay."""
    if speed is not None:
        if not speed > 0:
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


def picture_of(
    run: Run,
    instance: int = 0,
    ghosts: int = 0,
    looks: Mapping[str, Any] | None = None,
    trails: Mapping[str, ArrayLike] | None = None,
) -> Picture:
    """The picture of a run: of one instance of a batch, with up to `ghosts` others."""
    others = [i for i in range(run.batch or 1) if i != instance]
    chosen = np.linspace(0, len(others) - 1, min(ghosts, len(others))).astype(int)
    return Picture(records_of(run, (instance, *(others[i] for i in chosen))), looks or {}, trails)


def html(
    run: Run,
    *,
    show: str | Iterable[str] | None = None,
    speed: float | None = None,
    fps: float = FPS,
    instance: int = 0,
    ghosts: int = 0,
    camera: Any = None,
    follow: str | None = None,
    attached: bool = False,
    looks: Mapping[str, Any] | None = None,
    trails: Mapping[str, ArrayLike] | None = None,
    dark: bool = False,
) -> str:
    """A self-contained page that replays the run without server or network. Options as for `view`.

    fps: frames per second, at most. Layers in `show` can be switched off in the page's scene tree.
    """
    picture = picture_of(run, instance, ghosts, looks, trails)
    time = picture.records.time
    rate = pace(float(time[-1] - time[0]), speed)
    with web.serving(port=0) as server:
        web.aim(server, camera_view(picture, camera, follow))
        stage = Stage(server.scene, picture, layers_of(show), follow, attached)
        chosen = frames(time, rate, min(fps, MOST / max(1.0, stage.moving * (time[-1] - time[0]) / rate)))
        stage.show(int(chosen[0]))
        recording = server.get_scene_serializer()
        for before, now in pairwise(chosen):
            recording.insert_sleep(float(time[now] - time[before]) / rate)
            stage.show(int(now))
        recording.insert_sleep(1.0 if len(chosen) > 1 else 0.0)  # the end stays visible before it starts again
        page = recording.as_html(dark_mode=dark)
    return page.replace("<title>Viser</title>", f"<title>{escape(_title(run, rate))}</title>")


def to_html(run: Run, path: str | os.PathLike[str], **options: Any) -> Path:
    """Write the replay to a file, whole or not at all; see `html` for the options."""
    return write_text(path, html(run, **options))


def framed(run: Run, height: int = 480) -> str | None:
    """The replay for a notebook; None if viser is not installed."""
    try:
        page = html(run)
    except ImportError:
        return None
    style = f"width:100%;height:{height}px;border:1px solid #ddd"
    return f'<p>{escape(repr(run))}</p><iframe style="{style}" srcdoc="{escape(page)}"></iframe>'


def _title(run: Run, rate: float) -> str:
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
    return tuple(name for name in LAYERS if name in chosen) + tuple(chosen - set(LAYERS))
