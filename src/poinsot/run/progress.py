"""A progress bar, with rate and time left."""

import sys
import time
from types import TracebackType
from typing import Any

PATIENCE = 1.0  # s before a bar is shown


class Progress:
    """Shows how far a run of `steps` steps of `instances` worlds is; nothing if it takes less than a second.

    `wanted`: True, False, or None: only on a terminal. `counted`: what is counted, in words.
    """

    def __init__(self, steps: int, instances: int, wanted: bool | None, counted: str = "steps") -> None:
        self.steps, self.instances, self.counted = steps, instances, counted
        self.wanted = sys.stderr.isatty() if wanted is None else wanted
        self._bar: Any = None

    def __enter__(self) -> "Progress":
        self.started = time.perf_counter()
        return self

    def at(self, done: int) -> None:
        """Show that this many steps are done."""
        if not self.wanted or time.perf_counter() - self.started < PATIENCE:
            return
        if self._bar is None:
            self._bar = _bar()
            self._bar.start()
            self._task = self._bar.add_task("simulating", total=self.steps)
        rate = done * self.instances / (time.perf_counter() - self.started)
        self._bar.update(self._task, completed=done, description=f"simulating, {_short(rate)} {self.counted}/s")

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._bar is not None:
            self._bar.stop()


def _bar() -> Any:
    try:
        from rich.console import Console
        from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeRemainingColumn
    except ImportError:
        return PlainBar()
    columns = (TextColumn("{task.description}"), BarColumn(), TaskProgressColumn(), TimeRemainingColumn())
    return Progress(*columns, console=Console(stderr=True))


class PlainBar:
    """One line on the terminal, where the package rich is missing."""

    def start(self) -> None:
        """Begin with nothing."""

    def add_task(self, text: str, total: int) -> int:
        """There is one task."""
        self.total = total
        return 0

    def update(self, task: int, completed: int, description: str) -> None:
        """Say how far it is."""
        print(f"\r{description}, {100 * completed / self.total:.1f} %", end="", file=sys.stderr, flush=True)

    def stop(self) -> None:
        """End the line."""
        print(file=sys.stderr)


def _short(rate: float) -> str:
    for size, letter in ((1e9, "G"), (1e6, "M"), (1e3, "k")):
        if rate >= size:
            return f"{rate / size:.3g} {letter}"
    return f"{rate:.3g} "
