"""Ctrl-C that waits for the end of a call, so that no step is left half done."""

import signal
import threading
from types import FrameType, TracebackType
from typing import Any


class CtrlC:
    """Within it, the first Ctrl-C sets `pressed`, and the second one raises KeyboardInterrupt as usual."""

    def __init__(self) -> None:
        self.pressed = False
        self._before: Any = None

    def __enter__(self) -> "CtrlC":
        if threading.current_thread() is threading.main_thread():
            self._before = signal.signal(signal.SIGINT, self._press)
        return self

    def _press(self, number: int, frame: FrameType | None) -> None:
        if self.pressed:
            raise KeyboardInterrupt
        self.pressed = True

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._before is not None:
            signal.signal(signal.SIGINT, self._before)
