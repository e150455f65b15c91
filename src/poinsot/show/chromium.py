"""A headless Chromium, driven through its DevTools protocol: over a pair of pipes, without a port or a library."""

import base64
import contextlib
import json
import os
import select
import shutil
import subprocess
import sys
import tempfile
import time as clock
from collections.abc import Iterator
from pathlib import Path
from typing import Any

BROWSERS = (
    "chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome", "msedge", "microsoft-edge",
    "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
    "/Applications/Chromium.app/Contents/MacOS/Chromium",
)  # fmt: skip
FLAGS = (
    "--headless", "--no-sandbox", "--disable-quic", "--no-first-run", "--disable-background-networking",
    "--disable-component-update", "--disable-sync", "--disable-gpu-sandbox", "--hide-scrollbars", "--mute-audio",
    "--disable-extensions", "--disable-default-apps", "--force-color-profile=srgb", "--ignore-gpu-blocklist",
)  # fmt: skip
# The system's OpenGL, where Mesa's llvmpipe draws without a graphics card, is some times faster than the browser's own
# SwiftShader, which is always there.
MESA, SWIFT = ("--use-gl=angle", "--use-angle=gl-egl"), ("--use-angle=swiftshader", "--enable-unsafe-swiftshader")
ARRANGE = (
    "import fcntl, os, sys; i, o = (fcntl.fcntl(int(x), fcntl.F_DUPFD, 10) for x in sys.argv[1:3]); os.dup2(i, 3); "
    "os.dup2(o, 4); os.close(i); os.close(o); os.execv(sys.argv[3], sys.argv[3:])"
)
PATIENCE = 60.0  # s until the browser must have answered
DRAWS = "!!document.createElement('canvas').getContext('webgl2')"


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


class Tab:
    """A page of a browser: `evaluate` JavaScript, take a `picture` of it."""

    def __init__(self, pipe: "Pipe", session: str) -> None:
        self.pipe, self.session = pipe, session

    def call(self, method: str, **params: Any) -> dict[str, Any]:
        """A method of the DevTools protocol."""
        return self.pipe.call(method, params, self.session)

    def evaluate(self, text: str) -> Any:
        """The value of an expression in the page; of a promise, once it is fulfilled."""
        answer = self.call("Runtime.evaluate", expression=text, awaitPromise=True, returnByValue=True)
        if "exceptionDetails" in answer:
            details = answer["exceptionDetails"]
            raise RuntimeError(f"the page failed: {details.get('exception', {}).get('description', details['text'])}")
        return answer["result"].get("value")

    def wait(self, text: str) -> None:
        """Wait until an expression is true."""
        until = clock.monotonic() + PATIENCE
        while not self.evaluate(f"!!({text})"):
            if clock.monotonic() > until:
                raise TimeoutError(f"the browser did not show the page within {PATIENCE:g} s.")
            clock.sleep(0.02)

    def open(self, path: Path, width: int, height: int) -> None:
        """Open a file at this size in pixels."""
        size = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": False}
        self.call("Emulation.setDeviceMetricsOverride", **size)
        self.call("Page.navigate", url=path.absolute().as_uri())

    def picture(self, form: str = "png") -> bytes:
        """An image file of the page."""
        options: dict[str, Any] = {"quality": 92} if form == "jpeg" else {"optimizeForSpeed": True}
        return base64.b64decode(self.call("Page.captureScreenshot", format=form, **options)["data"])


class Pipe:
    """Messages to and from a browser: JSON that ends in a zero byte."""

    def __init__(self, program: str, process: Any, messages: Path, into: int, out: int) -> None:
        self.program, self.process, self.messages, self.into, self.out = program, process, messages, into, out
        self.count, self.rest = 0, b""

    def call(self, method: str, params: dict[str, Any], session: str | None = None) -> dict[str, Any]:
        """The result of a method."""
        self.count += 1
        message = {"id": self.count, "method": method, "params": params} | ({"sessionId": session} if session else {})
        try:
            data = json.dumps(message).encode() + b"\0"
            while data:
                data = data[os.write(self.into, data) :]
        except OSError as error:
            raise RuntimeError(self.ended()) from error
        while (answer := self.receive()).get("id") != self.count:
            pass
        if "error" in answer:
            raise RuntimeError(f"the browser {self.program} refused {method}: {answer['error'].get('message')}")
        return dict(answer["result"])

    def receive(self) -> dict[str, Any]:
        """The next message."""
        until = clock.monotonic() + PATIENCE
        while b"\0" not in self.rest:
            ready, _, _ = select.select([self.out], [], [], max(0.0, until - clock.monotonic()))
            if not ready:
                raise TimeoutError(f"the browser {self.program} did not answer within {PATIENCE:g} s.")
            more = os.read(self.out, 1 << 20)
            if not more:
                raise RuntimeError(self.ended())
            self.rest += more
        text, _, self.rest = self.rest.partition(b"\0")
        return dict(json.loads(text))

    def ended(self) -> str:
        """The message about a browser that ended, with the last lines that it wrote."""
        with contextlib.suppress(subprocess.TimeoutExpired):
            self.process.wait(5)
        said = "; ".join(self.messages.read_text(errors="replace").strip().splitlines()[-3:])
        return (
            f"the browser {self.program} ended at once, with exit code {self.process.returncode}"
            f"{': ' + said if said else ''}. Try another one: set POINSOT_BROWSER to its path."
        )


@contextlib.contextmanager
def started(program: str, flags: tuple[str, ...], home: Path) -> Iterator[Pipe]:
    """A browser with its pipes: it reads file descriptor 3 and writes 4, which a small program arranges."""
    theirs_in, ours_out = os.pipe()
    ours_in, theirs_out = os.pipe()
    rest = ("--remote-debugging-pipe", f"--user-data-dir={home / 'profile'}", "about:blank")
    start = [sys.executable, "-I", "-S", "-c", ARRANGE, str(theirs_in), str(theirs_out)]
    messages = home / "messages.txt"
    try:
        with open(messages, "wb") as said:
            process = subprocess.Popen(
                [*start, program, *FLAGS, *flags, *rest],
                stdout=subprocess.DEVNULL, stderr=said, pass_fds=(theirs_in, theirs_out),
            )  # fmt: skip
        os.close(theirs_in)
        os.close(theirs_out)
        try:
            yield Pipe(program, process, messages, ours_out, ours_in)
        finally:
            process.terminate()
            try:
                process.wait(10)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
    finally:
        os.close(ours_in)
        os.close(ours_out)


@contextlib.contextmanager
def tab() -> Iterator[Tab]:
    """An empty page of a browser that can draw in three dimensions."""
    if os.name != "posix":
        raise OSError("images without a display are made on Linux and macOS; write a replay with run.to_html instead.")
    program = browser()
    with contextlib.ExitStack() as stack:
        home = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="poinsot-", ignore_cleanup_errors=True)))
        for flags in (MESA, SWIFT):
            with contextlib.ExitStack() as attempt:
                pipe = attempt.enter_context(started(program, flags, home))
                target = pipe.call("Target.createTarget", {"url": "about:blank"})["targetId"]
                session = pipe.call("Target.attachToTarget", {"targetId": target, "flatten": True})["sessionId"]
                page = Tab(pipe, session)
                if page.evaluate(DRAWS):
                    stack.enter_context(attempt.pop_all())
                    yield page
                    return
        raise RuntimeError(
            f"the browser {program} cannot draw in three dimensions: WebGL 2 is missing. Install Mesa's OpenGL (on "
            "Debian and Ubuntu: apt install libgl1-mesa-dri libegl1), or set POINSOT_BROWSER to another browser."
        )
