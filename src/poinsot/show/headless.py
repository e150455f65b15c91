"""Images without a display: a headless Chromium draws the same page as the browser of a user."""

import contextlib
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np

from poinsot._atomic import write_bytes
from poinsot._optional import require
from poinsot._types import Array, ArrayLike
from poinsot.run.result import Run
from poinsot.show.chromium import Tab, browser, tab
from poinsot.show.document import document
from poinsot.show.picture import Picture
from poinsot.show.replay import frames, layers_of, pace, page_of, picture_of

PATIENT = 40  # frames: longer films tell how far they are


class Studio:
    """A page without controls: `shot(t)` is the image file of a time [s]."""

    def __init__(self, page: Tab) -> None:
        self.page = page

    def shot(self, t: float, form: str = "png") -> bytes:
        """The image at a time [s], as a file of this form."""
        self.page.evaluate(f"poinsot.show({float(t)!r})")
        return self.page.picture(form)


@contextlib.contextmanager
def studio(
    run: Run, picture: Picture, chosen: Array, size: tuple[int, int], show: Iterable[str], **options: Any
) -> Iterator[Studio]:
    """A browser that shows the records `chosen` of a picture; options as for `document.document`."""
    width, height = size
    if not (0 < width <= 4096 and 0 < height <= 4096):
        raise ValueError(f"the size of an image must be (width, height) in 1..4096 pixels, not {size}.")
    browser()  # an error before any work if there is none
    content = document(run, picture, chosen, 1.0, tuple(show), plots=(), bare=True, **options)
    with tempfile.TemporaryDirectory(prefix="poinsot-") as folder, tab() as page:
        path = Path(folder) / "picture.html"
        path.write_text(page_of(content, "Poinsot"), encoding="utf-8")
        page.open(path, width, height)
        page.wait("window.poinsot || document.querySelector('.refused')")
        if problem := page.evaluate("document.querySelector('.refused')?.textContent"):
            raise RuntimeError(problem)
        yield Studio(page)


def snapshot(
    run: Run,
    path: str | os.PathLike[str],
    time: float | None = None,
    camera: Any = None,
    *,
    show: str | Iterable[str] | None = None,
    size: tuple[int, int] = (1280, 800),
    instance: int = 0,
    ghosts: int | None = None,
    colour: str | None = None,
    side_by_side: float = 0.0,
    follow: str | None = None,
    attached: bool = False,
    surroundings: str | None = None,
    looks: Mapping[str, Any] | None = None,
    trails: Mapping[str, ArrayLike] | None = None,
) -> Path:
    """A PNG of the run at a time [s], by default the end; it shows the nearest record."""
    path = _suffix(path, ".png")
    picture = picture_of(run, instance, ghosts, looks, trails, colour, side_by_side)
    times = picture.records.time
    if time is not None and not times[0] - 1e-9 <= time <= times[-1] + 1e-9:
        raise ValueError(f"time must be within the run, {times[0]:g} to {times[-1]:g} s, not {time!r}.")
    k = len(times) - 1 if time is None else int(np.argmin(np.abs(times - time)))
    some = np.unique([*np.linspace(0, len(times) - 1, 600).astype(int), k])
    options = {"camera": camera, "follow": follow, "attached": attached, "surroundings": surroundings}
    with studio(run, picture, some, size, layers_of(show), **options) as room:
        return write_bytes(path, _smaller(room.shot(times[k])))


def animate(
    run: Run,
    path: str | os.PathLike[str],
    camera: Any = None,
    *,
    fps: float = 20,
    speed: float | None = None,
    start: float | None = None,
    end: float | None = None,
    show: str | Iterable[str] | None = None,
    size: tuple[int, int] = (640, 400),
    instance: int = 0,
    ghosts: int | None = None,
    colour: str | None = None,
    side_by_side: float = 0.0,
    follow: str | None = None,
    attached: bool = False,
    surroundings: str | None = None,
    looks: Mapping[str, Any] | None = None,
    trails: Mapping[str, ArrayLike] | None = None,
    progress: bool | None = None,
) -> Path:
    """A GIF, or an MP4 where ffmpeg is installed, of the run from `start` to `end` [s], `speed` times as fast.

    progress: whether to print how far it is; by default for long films, if there is a terminal.
    """
    path, picture = _film_path(path), picture_of(run, instance, ghosts, looks, trails, colour, side_by_side)
    times = picture.records.time
    within = np.flatnonzero((times >= (start or 0.0) - 1e-9) & (times <= (times[-1] if end is None else end) + 1e-9))
    if len(within) < 2:
        raise ValueError(f"there are fewer than two records between {start} and {end} s; the run has {len(times)}.")
    rate = pace(float(np.ptp(times[within])), speed)
    chosen = within[frames(times[within], rate, fps)]
    options = {"camera": camera, "follow": follow, "attached": attached, "surroundings": surroundings}
    with studio(run, picture, np.unique([0, *chosen]), size, layers_of(show), **options) as room:
        shots = [room.shot(t, "jpeg") for t in _told(times[chosen], progress)]
    seconds = np.diff(times[chosen]) / rate
    if path.suffix == ".mp4":
        return write_bytes(path, _mp4(shots, len(seconds) / float(seconds.sum())))
    return write_bytes(path, _gif(shots, [*seconds, 1.0]))


def _told(times: Array, progress: bool | None) -> Iterator[float]:
    """The times, with a line that tells how many frames are done."""
    tells = sys.stderr.isatty() and len(times) > PATIENT if progress is None else progress
    for k, t in enumerate(times):
        if tells:
            print(f"\rframe {k + 1} of {len(times)}", end="", file=sys.stderr, flush=True)
        yield float(t)
    if tells:
        print(file=sys.stderr)


def _suffix(path: str | os.PathLike[str], *known: str) -> Path:
    path = Path(path)
    if path.suffix.lower() not in known:
        raise ValueError(f"'{path}' must end in {' or '.join(known)}.")
    if not path.parent.is_dir():
        raise FileNotFoundError(f"the folder '{path.parent}' does not exist; make it first.")
    return path


def _film_path(path: str | os.PathLike[str]) -> Path:
    path = _suffix(path, ".gif", ".mp4")
    if path.suffix == ".mp4" and not shutil.which("ffmpeg"):
        raise FileNotFoundError("an MP4 needs the program ffmpeg, which was not found: install it, or write a .gif.")
    return path


def _image(data: bytes) -> Any:
    image = require("PIL.Image", "view", "writing pictures")
    return image.open(BytesIO(data)).convert("RGB")


def _smaller(png: bytes) -> bytes:
    """A PNG written with better compression than the browser's, where Pillow is installed."""
    try:
        picture = _image(png)
    except ImportError:
        return png
    data = BytesIO()
    picture.save(data, "PNG", compress_level=9)
    return data.getvalue()


def _gif(shots: Sequence[bytes], seconds: Sequence[float]) -> bytes:
    image = require("PIL.Image", "view", "writing pictures")
    pictures = [_image(shot).quantize(256, dither=image.Dither.NONE) for shot in shots]
    data = BytesIO()
    durations = [max(20, round(1000 * s)) for s in seconds]
    pictures[0].save(
        data, "GIF", save_all=True, append_images=pictures[1:], duration=durations, loop=0, optimize=True, disposal=1
    )
    return data.getvalue()


def _mp4(shots: Sequence[bytes], fps: float) -> bytes:
    with tempfile.TemporaryDirectory(prefix="poinsot-") as folder:
        out = Path(folder) / "film.mp4"
        command = [
            "ffmpeg", "-loglevel", "error", "-f", "image2pipe", "-c:v", "mjpeg", "-r", f"{fps:.6g}", "-i", "-",
            "-vf", "pad=ceil(iw/2)*2:ceil(ih/2)*2", "-pix_fmt", "yuv420p", str(out),
        ]  # fmt: skip
        subprocess.run(command, input=b"".join(shots), check=True)
        return out.read_bytes()
