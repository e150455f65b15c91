"""Images without a display: a headless Chromium renders the same scene as the page in the browser."""

import contextlib
import os
import shutil
import subprocess
import tempfile
import time as clock
from collections.abc import Iterable, Iterator, Mapping
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np

from poinsot._optional import require
from poinsot._types import Array, ArrayLike
from poinsot.files.atomic import write_bytes
from poinsot.run.result import Run
from poinsot.show import server as web
from poinsot.show.picture import Picture
from poinsot.show.replay import frames, layers_of, pace, picture_of
from poinsot.show.stage import Stage, camera_view
from poinsot.spatial import quaternion, rotation

BROWSERS = (
    "chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome", "msedge", "microsoft-edge",
    "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
    "/Applications/Chromium.app/Contents/MacOS/Chromium",
)  # fmt: skip
FLAGS = (
    "--headless", "--no-sandbox", "--disable-quic", "--no-first-run", "--disable-background-networking",
    "--disable-component-update", "--disable-sync", "--disable-gpu-sandbox", "--hide-scrollbars",
    "--use-angle=swiftshader", "--enable-unsafe-swiftshader",
)  # fmt: skip
SETTLE = 30  # images at most until the browser is ready
PATIENCE = 60.0  # s until a browser must have connected, or an image be done


def browser() -> str:
    """The path of Chromium or Chrome: the value of POINSOT_BROWSER, or the first one installed."""
    chosen = os.environ.get("POINSOT_BROWSER")
    for name in (chosen,) if chosen else BROWSERS:
        path = shutil.which(name)
        if path:
            return path
    raise FileNotFoundError(
        f"POINSOT_BROWSER is {chosen!r}, which is not a program." if chosen else
        "images without a display need Chromium or Chrome, and none was found: install one (on Debian and Ubuntu: "
        "apt install chromium), or set POINSOT_BROWSER to its path."
    )  # fmt: skip


@contextlib.contextmanager
def visitor(server: Any) -> Iterator[Any]:
    """A headless browser that visits a server's page; yields viser's handle of it."""
    with tempfile.TemporaryDirectory(prefix="poinsot-", ignore_cleanup_errors=True) as home:
        command = [
            browser(),
            *FLAGS,
            f"--user-data-dir={home}",
            "--window-size=240,160",
            f"{web.url(server)}?fixedDpr=1",
        ]
        with open(Path(home) / "messages.txt", "wb") as messages:
            process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=messages)
        try:
            until = clock.monotonic() + PATIENCE
            while not server.get_clients():
                if process.poll() is not None:
                    raise RuntimeError(_ended(command[0], process.returncode, Path(home) / "messages.txt"))
                if clock.monotonic() > until:
                    raise TimeoutError(f"the browser {command[0]} did not show the page within {PATIENCE:g} s.")
                clock.sleep(0.05)
            yield next(iter(server.get_clients().values()))
        finally:
            process.terminate()
            try:
                process.wait(10)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()


def _ended(program: str, code: int, messages: Path) -> str:
    """What to say of a browser that ended at once, with the last lines that it wrote."""
    said = "; ".join(messages.read_text(errors="replace").strip().splitlines()[-3:])
    return (
        f"the browser {program} ended at once, with exit code {code}{': ' + said if said else ''}. "
        "Try another one: set POINSOT_BROWSER to its path."
    )


class Studio:
    """A stage with a camera: `shot(k)` is the image of record k, (height, width, 3), 0..255."""

    def __init__(
        self, server: Any, client: Any, stage: Stage, view: Mapping[str, Array], size: tuple[int, int]
    ) -> None:
        self.server, self.client, self.stage, self.view, self.size = server, client, stage, view, size

    def settle(self) -> None:
        """Wait until the browser has all lights and textures: small images of the same record no longer change."""
        before = self.shot(0, (96, 72))
        for _ in range(SETTLE):
            now = self.shot(0, (96, 72))
            if np.array_equal(now, before):
                return
            before = now

    def shot(self, k: int, size: tuple[int, int] | None = None) -> Array:
        """The image of record k."""
        with self.server.atomic():
            self.stage.show(k)
        self.server.flush()
        width, height = size or self.size
        picture = self.client.get_render(
            height, width, position=self.view["position"], wxyz=_camera_orientation(self.view), fov=web.FOV,
            transport_format="png", timeout=PATIENCE,
        )  # fmt: skip
        alpha = picture[..., 3:] / 255.0
        return np.rint(picture[..., :3] * alpha + 255.0 * (1 - alpha)).astype(np.uint8)


@contextlib.contextmanager
def studio(
    picture: Picture,
    show: Iterable[str],
    view: Any,
    size: tuple[int, int],
    follow: str | None = None,
    attached: bool = False,
) -> Iterator[Studio]:
    """A server, a browser that visits it, and a stage in between."""
    width, height = size
    if not (0 < width <= 4096 and 0 < height <= 4096):
        raise ValueError(f"the size of an image must be (width, height) in 1..4096 pixels, not {size}.")
    browser()
    with web.serving(port=0) as server:
        aim = camera_view(picture, view, follow)
        web.aim(server, aim)
        stage = Stage(server.scene, picture, show, follow, attached)
        with visitor(server) as client:
            room = Studio(server, client, stage, aim, size)
            room.settle()
            yield room


def snapshot(
    run: Run,
    path: str | os.PathLike[str],
    time: float | None = None,
    camera: Any = None,
    *,
    show: str | Iterable[str] | None = None,
    size: tuple[int, int] = (1280, 800),
    instance: int = 0,
    ghosts: int = 0,
    follow: str | None = None,
    attached: bool = False,
    looks: Mapping[str, Any] | None = None,
    trails: Mapping[str, ArrayLike] | None = None,
) -> Path:
    """A PNG of the run at a time [s], by default the end; it shows the nearest record."""
    path = _suffix(path, ".png")
    picture = picture_of(run, instance, ghosts, looks, trails)
    times = picture.records.time
    if time is not None and not times[0] - 1e-9 <= time <= times[-1] + 1e-9:
        raise ValueError(f"time must be within the run, {times[0]:g} to {times[-1]:g} s, not {time!r}.")
    k = len(times) - 1 if time is None else int(np.argmin(np.abs(times - time)))
    with studio(picture, layers_of(show), camera, size, follow, attached) as room:
        return write_bytes(path, _png(room.shot(k)))


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
    ghosts: int = 0,
    follow: str | None = None,
    attached: bool = False,
    looks: Mapping[str, Any] | None = None,
    trails: Mapping[str, ArrayLike] | None = None,
) -> Path:
    """A GIF, or an MP4 where ffmpeg is installed, of the run from `start` to `end` [s], `speed` times as fast."""
    path = _suffix(path, ".gif", ".mp4")
    if path.suffix == ".mp4" and not shutil.which("ffmpeg"):
        raise FileNotFoundError("an MP4 needs the program ffmpeg, which was not found: install it, or write a .gif.")
    picture = picture_of(run, instance, ghosts, looks, trails)
    times = picture.records.time
    within = np.flatnonzero((times >= (start or 0.0) - 1e-9) & (times <= (times[-1] if end is None else end) + 1e-9))
    if len(within) < 2:
        raise ValueError(f"there are fewer than two records between {start} and {end} s; the run has {len(times)}.")
    rate = pace(float(np.ptp(times[within])), speed)
    chosen = within[frames(times[within], rate, fps)]
    with studio(picture, layers_of(show), camera, size, follow, attached) as room:
        shots = [room.shot(int(k)) for k in chosen]
    seconds = np.diff(times[chosen]) / rate
    if path.suffix == ".mp4":
        return write_bytes(path, _mp4(shots, len(seconds) / float(seconds.sum())))
    return write_bytes(path, _gif(shots, [*seconds, 1.0]))


def _camera_orientation(view: Mapping[str, Array]) -> Array:
    """The orientation of a camera with z ahead and y down, the convention of viser."""
    ahead = view["look_at"] - view["position"]
    ahead = ahead / np.linalg.norm(ahead)
    right = np.cross(ahead, view["up"])
    size = np.linalg.norm(right)
    right = right / size if size > 1e-9 else rotation.perpendicular(ahead)
    return quaternion.from_matrix(np.stack([right, np.cross(ahead, right), ahead], axis=1))


def _suffix(path: str | os.PathLike[str], *known: str) -> Path:
    path = Path(path)
    if path.suffix.lower() not in known:
        raise ValueError(f"'{path}' must end in {' or '.join(known)}.")
    if not path.parent.is_dir():
        raise FileNotFoundError(f"the folder '{path.parent}' does not exist; make it first.")
    return path


def _png(picture: Array) -> bytes:
    image = require("PIL.Image", "view", "writing pictures")
    data = BytesIO()
    image.fromarray(picture).save(data, "PNG", optimize=True)
    return data.getvalue()


def _gif(shots: list[Array], seconds: list[float]) -> bytes:
    image = require("PIL.Image", "view", "writing pictures")
    pictures = [image.fromarray(shot).quantize(256, dither=image.Dither.NONE) for shot in shots]
    data = BytesIO()
    durations = [max(20, round(1000 * s)) for s in seconds]
    pictures[0].save(
        data, "GIF", save_all=True, append_images=pictures[1:], duration=durations, loop=0, optimize=True, disposal=1
    )
    return data.getvalue()


def _mp4(shots: list[Array], fps: float) -> bytes:
    height, width = shots[0].shape[:2]
    with tempfile.TemporaryDirectory(prefix="poinsot-") as folder:
        out = Path(folder) / "film.mp4"
        command = [
            "ffmpeg", "-loglevel", "error", "-f", "rawvideo", "-pix_fmt", "rgb24", "-s", f"{width}x{height}",
            "-r", f"{fps:.6g}", "-i", "-", "-vf", "pad=ceil(iw/2)*2:ceil(ih/2)*2", "-pix_fmt", "yuv420p", str(out),
        ]  # fmt: skip
        subprocess.run(command, input=b"".join(shot.tobytes() for shot in shots), check=True)
        return out.read_bytes()
