"""The page of something that runs against the wall clock: one thread steps it, and sends frames to all open pages."""

import json
import queue
import threading
import time as clock
import warnings
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import numpy as np

from poinsot._types import Array
from poinsot.run.stepper import WorldStepper
from poinsot.run.wall_clock import BehindWarning, LiveFrame, LiveRun
from poinsot.show.document import EXACT
from poinsot.show.happenings import Happenings
from poinsot.show.instruments import Display
from poinsot.show.live_picture import LivePicture
from poinsot.show.replay import page_of
from poinsot.show.web_server import PageServer, Served
from poinsot.show.web_socket import Socket, message_in

RATE = 60.0  # frames per second
QUIET = 0.25  # s between frames while nothing changes
FARTHEST = 1e12  # a number above this, or NaN, ends the run
SLOWEST, FASTEST = 1 / 64, 64.0  # times real time
WAITING = 64  # messages of a page that wait to be heard; it is not read on before they are
UNREAD = 1000  # texts for a page that it has not taken; then it gets no more
WRONG = (ValueError, TypeError, LookupError, AttributeError, ArithmeticError)  # what a message may raise
SCRIPTS = ("live_stage", "live_panel", "live", "controls", "gauges", "cockpit")  # of the page, beside those of a replay
Told = Callable[[Mapping[str, Any]], None]
Numbers = Callable[[float, Array, Array], Array]


class Outbox:
    """The mail of one page, sent by a thread of its own: all texts, and of the frames the latest."""

    def __init__(self, page: Socket) -> None:
        self.page, self.texts, self.frame = page, list[str](), b""
        self._news, self._over = threading.Condition(), False
        self._thread = threading.Thread(target=self._work, name="poinsot page", daemon=True)
        self._thread.start()

    def put(self, text: str = "", frame: bytes = b"") -> None:
        with self._news:
            if self._over:
                return
            self.texts += [text] if text else []
            self.frame = frame or self.frame
            self._over = len(self.texts) > UNREAD
            self._news.notify()

    def tell(self, **content: Any) -> None:
        """Send a message."""
        self.put(json.dumps(content))

    def end(self) -> None:
        with self._news:
            self._over = True
            self._news.notify()
        self._thread.join(1.0)

    def _work(self) -> None:
        try:
            while True:
                with self._news:
                    self._news.wait_for(lambda: self._over or self.texts or self.frame)
                    if self._over:
                        return
                    (texts, frame), self.texts, self.frame = (self.texts, self.frame), [], b""
                for text in texts:
                    self.page.send(text)
                if frame:
                    self.page.send(frame)
        except OSError:
            pass  # the page was closed


class LivePage(Served):
    """Steps a world against the wall clock and shows it: `url`, `loop`, `do(job)`, `wait()`, `close()`.

    act: the action of the next control period. told: what the page in control says, in the same thread. numbers:
    further numbers of a frame, by name, with their count. more: further entries of the document.

    The first page is in control; others watch, until it is closed or they take over.
    """

    def __init__(
        self,
        sim: WorldStepper,
        picture: LivePicture,
        act: Callable[[], Any],
        told: Told,
        numbers: Mapping[str, tuple[int, Numbers]],
        more: Mapping[str, Any],
        title: str,
    ) -> None:
        roots = sorted((v for v in picture.vehicles if v.root), key=lambda v: -v.mass)[:EXACT]
        shown = Display(sim.compiled, tuple(sorted({picture.camera["body"], *(v.body for v in roots)})))
        self.sim, self.picture, self.told = sim, picture, told
        self.numbers: dict[str, tuple[int, Numbers]] = {"exact": (shown.count, shown), **numbers}
        self.more, self.title, self.act = {**more, "exact": {"bodies": shown.bodies}}, title, act
        self.problem, self.seen, self.edition, self._shown = "", 0, -1, (-1.0, 0.0)
        self.happenings, self.news = Happenings(sim.compiled.system), list[dict[str, Any]]()
        self.boxes: dict[Socket, Outbox] = {}
        self.jobs: queue.SimpleQueue[Callable[[], None]] = queue.SimpleQueue()
        self.loop = LiveRun(sim, lambda _: self.act(), self._on_frame, rate=RATE, before=self._before)
        self._thread = threading.Thread(target=self._work, name="poinsot live", daemon=True)

    def serve(self, host: str, port: int, answers: Mapping[str, Any] | None = None) -> None:
        """Open the page, and start."""
        known = {"": self._document, "layer": self._layer, **(answers or {})}
        self.document()  # all errors come now
        self.server = PageServer(known, host, port, self._talk)
        self._thread.start()

    # The thread that steps.

    def do(self, job: Callable[[], None]) -> None:
        """Run this job before the next control period, or frame."""
        self.jobs.put(job)

    def ask(self, job: Callable[[], Any]) -> Any:
        """The result of a job of that thread; its error is raised here."""
        if threading.current_thread() is self._thread or not self._thread.is_alive():
            return job()
        answer: queue.SimpleQueue[tuple[Any, Exception | None]] = queue.SimpleQueue()

        def run() -> None:
            try:
                answer.put((job(), None))
            except Exception as error:
                answer.put((None, error))

        self.do(run)
        result, error = answer.get(timeout=60.0)
        if error is not None:
            raise error
        return result

    def _work(self) -> None:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", BehindWarning)  # the page says so
            while not self.server.over.is_set():
                try:
                    self.loop.run()
                except Exception as error:
                    self.stop_with(f"stopped at t = {self.t:.3f} s: {error}")

    def _do_jobs(self) -> None:
        for _ in range(self.jobs.qsize()):  # not those that come meanwhile: the world goes on, however many there are
            self.jobs.get()()

    def _before(self) -> None:
        """Between two control periods, so that after a pause nothing moves, and a reset begins with the start."""
        self._do_jobs()
        if self.sim.done:
            self.stop_with(self._why())

    def _why(self) -> str:
        if self.sim.broken:
            return f"stopped at t = {self.t:.3f} s: a number is not finite. Use a smaller step, and reset."
        return f"the run ended at t = {self.t:.3f} s."

    def stop_with(self, problem: str) -> None:
        """Pause, and say why."""
        self.loop.paused = True
        if problem != self.problem:
            self.problem = problem
            self.tell(problem=problem)

    def restart(self) -> None:
        """Forget what was wrong; the pages forget what they showed."""
        self._shown = (-1.0, 0.0)
        self.problem, self.loop.paused = "", False
        self.tell(problem="", reset=True)

    @property
    def t(self) -> float:
        """The simulated time [s]."""
        return float(self.sim.time)

    @property
    def state(self) -> tuple[float, Array, Array]:
        """Time [s], y and p of now."""
        state = self.sim.state
        return float(state.time), np.asarray(self.sim.compiled.from_stepped(state.x, state.p)), state.p

    # Frames.

    def _on_frame(self, frame: LiveFrame) -> None:
        self._do_jobs()
        if self.server.over.is_set():
            self.loop.stop()
            return
        now = (frame.count + self.seen + 1e9 * self.loop.paused, clock.monotonic())
        if now[0] == self._shown[0] and now[1] - self._shown[1] < QUIET:
            return
        self._shown = now
        t, y, p = self.state
        worst = np.abs(y)
        if not np.all(worst < FARTHEST):
            what = self.sim.compiled.labels()[int(np.argmax(~(worst < FARTHEST)))]
            self.stop_with(f"stopped at t = {t:.3f} s: {what} diverges. Use a smaller step, and reset.")
        if (news := self.happenings(y)) != self.news:
            self.news = news
            self.tell(news=news)
        if self.boxes:
            self._send(frame, t, y, p)

    def _send(self, frame: LiveFrame, t: float, y: Array, p: Array) -> None:
        header = [self.picture.edition, t, frame.count, self.seen, self.loop.paused, self.loop.speed, frame.late]
        data = self.picture.frame(header, t, y, p, [of(t, y, p) for _, of in self.numbers.values()])
        if self.picture.edition != self.edition:
            self.edition = self.picture.edition
            self.tell(layout=self.picture.layout())
        for box in list(self.boxes.values()):
            box.put(frame=data)

    def tell(self, **content: Any) -> None:
        """Send a message to all pages."""
        for box in list(self.boxes.values()):
            box.tell(**content)

    # Pages.

    def document(self) -> str:
        """The page, as it is now."""
        counts = {name: count for name, (count, _) in self.numbers.items()}
        return page_of(self.picture.document(*self.state, self.more, counts), self.title, SCRIPTS, "startLive")

    def _document(self, _: Mapping[str, str]) -> tuple[str, str]:
        return "text/html", self.ask(self.document)

    def _layer(self, query: Mapping[str, str]) -> tuple[str, str]:
        name = query.get("name", "")
        return "application/json", self.ask(lambda: self.picture.layer_document(name, *self.state))

    def _talk(self, page: Socket) -> None:
        box, places = Outbox(page), threading.Semaphore(WAITING)
        self.do(lambda: self._welcome(page, box))
        try:
            while (text := page.receive()) is not None:
                if (said := message_in(text)) is None:
                    continue
                while not places.acquire(timeout=QUIET):
                    if self.server.over.is_set():
                        return
                self.do(partial(self._heard, page, said))
                self.do(places.release)
        finally:
            self.do(lambda: self._farewell(page))
            box.end()

    def _welcome(self, page: Socket, box: Outbox) -> None:
        self.boxes[page] = box
        box.tell(layout=self.picture.layout(), seat=self.pilot is page, problem=self.problem, news=self.news)
        self.edition, self._shown = self.picture.edition, (-1.0, 0.0)

    def _farewell(self, page: Socket) -> None:
        was = self.pilot
        self.boxes.pop(page, None)
        if was is page:
            self.told({"gone": True})
            self._seat()

    def _seat(self) -> None:
        for page, box in self.boxes.items():
            box.tell(seat=page is self.pilot)

    @property
    def pilot(self) -> Socket | None:
        """The page that is in control."""
        return next(iter(self.boxes), None)

    def _heard(self, page: Socket, said: dict[str, Any]) -> None:
        """A message of a page: only the one in control is obeyed."""
        if said.get("take") and page in self.boxes and page is not self.pilot:
            self.told({"gone": True})
            self.boxes = {page: self.boxes[page], **self.boxes}
            self._seat()
        if page is not self.pilot:
            return
        try:
            self._obey(said)
            self.told(said)
        except WRONG as error:
            self.boxes[page].tell(notice=str(error))
        if isinstance(said.get("seq"), int) and 0 <= said["seq"] < 2**53:
            self.seen = said["seq"]

    def _obey(self, said: Mapping[str, Any]) -> None:
        if "pause" in said and not self.problem:
            self.loop.paused = bool(said["pause"])
        if "speed" in said:
            if not np.isfinite(speed := float(said["speed"])):
                raise ValueError(f"the speed must be finite, not {speed}.")
            self.loop.speed = float(np.clip(speed, SLOWEST, FASTEST))
        if said.get("step") and not self.problem:
            self.loop.paused = True
            self.loop.step()

    def close(self) -> None:
        """Free the port and end the threads. The page then says that it lost its connection."""
        self.server.close()
        self.loop.stop()
        if self._thread.is_alive() and threading.current_thread() is not self._thread:
            self._thread.join()


class OnPage(Served):
    """A world on a live page: the actions of a program that both kinds of it have, sliders and cockpit."""

    page: LivePage

    @property
    def server(self) -> PageServer:  # type: ignore[override]
        return self.page.server

    @property
    def t(self) -> float:
        """The simulated time [s]."""
        return self.page.t

    def _reset(self) -> None:
        raise NotImplementedError

    def reset(self) -> None:
        """Start anew, with the numbers of now."""
        self.page.ask(self._reset)

    def close(self) -> None:
        """Stop the simulation and the server; what was recorded stays."""
        self.page.close()
