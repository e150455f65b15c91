"""Messages about a user's function that cannot be traced, and runs in plain Python."""

import re
import traceback
import warnings
from pathlib import Path


class UncompiledWarning(UserWarning):
    """A force could not be traced; the run goes on in plain Python, which is slow."""


def warn_uncompiled(error: BaseException) -> bool:
    """A warning that names the user's line that the error passed through; False without one: then it is our own."""
    frame = _users_frame(error)
    if frame is None:
        return False
    warnings.warn(
        f"{frame.filename}:{frame.lineno} ({frame.name}) cannot be compiled, and runs in plain Python, a thousand "
        f"times slower: {error}{_hint(error)}",
        UncompiledWarning,
        stacklevel=3,
    )
    return True


def _users_frame(error: BaseException) -> traceback.FrameSummary | None:
    """The last line outside of Poinsot and installed packages that the error passed through."""
    ours, installed = str(Path(__file__).parents[1]), ("site-packages", "dist-packages", ".pyx")
    for frame in reversed(traceback.extract_tb(error.__traceback__)):
        if not frame.filename.startswith(ours) and not any(part in frame.filename for part in installed):
            return frame
    return None


def _hint(error: BaseException) -> str:
    """A hint: what to write instead of an interpolator, or of a list that is read at a place that is not known yet."""
    frame = _users_frame(error)
    through = any("interpolate" in frame.filename for frame in traceback.extract_tb(error.__traceback__))
    line = (frame and frame.line) or ""
    if through or re.search(r"interp|searchsorted|digitize|[Ss]pline|\w\[.*(\bint\(|floor|round|rint)", line):
        return (
            "\n  Tables that compile: pt.Tabulated(times, values) is a function of time, linear in between, and may be "
            "the force itself; pt.Table(grid, values) in a function is one of any numbers, linear or cubic."
        )
    return ""
