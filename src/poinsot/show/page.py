"""The page of a live world, served by a single worker thread that ends when the page is closed."""

import queue
import sys
import threading
import time as clock
import traceback
import webbrowser
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from poinsot.show import server as web
from poinsot.show.picture import LAYERS
from poinsot.show.stage import Stage

SPEEDS = {"1/16": 1 / 16, "1/8": 1 / 8, "1/4": 1 / 4, "1/2": 1 / 2, "1": 1.0, "2": 2.0, "4": 4.0, "8": 8.0, "16": 16.0}
RATE = 30.0  # frames per second
GRACE = 3.0  # s that a page may be disconnected, as for a reload, before a waiting program continues


class Page:
    """Serves a scene, and calls `tick(seconds)` about 30 times per second, with the time since the last call.

    The actions of buttons and sliders are run by the same thread, through `do`.
    """

    def __init__(self, server: Any, tick: Callable[[float], None]) -> None:
        self.server, self._tick = server, tick
        self._jobs: queue.SimpleQueue[Callable[[], None]] = queue.SimpleQueue()
        self._last_error = ""
        self._over, self._seen = threading.Event(), threading.Event()
        server.on_client_connect(lambda _: self._seen.set())
        self._thread = threading.Thread(target=self._work, name="poinsot viewer", daemon=True)

    @property
    def url(self) -> str:
        """The address of the page."""
        return web.url(self.server)

    def start(self) -> None:
        self._thread.start()

    def do(self, job: Callable[[], None]) -> None:
        """Run this job before the next frame."""
        self._jobs.put(job)

    def _work(self) -> None:
        last = clock.perf_counter()
        while not self._over.is_set():
            now = clock.perf_counter()
            try:
                with self.server.atomic():
                    while not self._jobs.empty():
                        self._jobs.get()()
                    self._tick(now - last)
            except Exception as error:
                if repr(error) != self._last_error:  # the same error may recur with every frame
                    self._last_error = repr(error)
                    traceback.print_exc()
            last = now
            self._over.wait(max(0.0, 1 / RATE - (clock.perf_counter() - now)))

    def wait(self) -> None:
        """Wait until the page has been opened and closed again, or Ctrl-C is pressed; then close."""
        try:
            away = clock.monotonic()
            while not self._over.is_set():
                if self.server.get_clients() or not self._seen.is_set():
                    away = clock.monotonic()
                if clock.monotonic() - away > GRACE:
                    break
                clock.sleep(0.1)
        except KeyboardInterrupt:
            pass
        finally:
            self.close()

    def close(self) -> None:
        """Free the port and end the threads. The page then says that it lost its connection."""
        if self._over.is_set():
            return
        self._over.set()
        if self._thread.is_alive() and threading.current_thread() is not self._thread:
            self._thread.join()
        web.stop(self.server)

    def __repr__(self) -> str:
        return f"<page {'closed' if self._over.is_set() else self.url}>"


@contextmanager
def laid_out(host: str, port: int, camera: Mapping[str, Any], tick: Callable[[float], None]) -> Iterator[Page]:
    """A page that is built inside the `with` block and starts at its end; if building fails, it is closed."""
    page = Page(web.start(host, port), tick)
    try:
        web.aim(page.server, camera)
        yield page
    except BaseException:
        page.close()
        raise
    page.start()


def layer_boxes(page: Page, stage: Stage, ghosts: bool) -> None:
    """A checkbox for each layer of the stage; for the other instances only if there are `ghosts`."""
    for name, layer in LAYERS.items():
        if name != "ghosts" or ghosts:
            box = page.server.gui.add_checkbox(name.replace("_", " "), name in stage.frames, hint=layer.meaning)
            box.on_update(lambda e, name=name: page.do(lambda: stage.switch(name, e.target.value)))


def offer(page: Any, browser: bool | None, block: bool | None) -> None:
    """Open the browser and wait, if asked to; by default both in a program, and neither at a prompt."""
    at_prompt = hasattr(sys, "ps1") or "IPython" in sys.modules
    block = not at_prompt if block is None else block
    if browser or (browser is None and block):
        opened = webbrowser.open(page.url)
        if not opened and not block:
            print(f"No browser could be opened: open {page.url} in one.", flush=True)
    if block:
        print(f"Watch it at {page.url} (end with Ctrl-C, or by closing the page).", flush=True)
        page.wait()
