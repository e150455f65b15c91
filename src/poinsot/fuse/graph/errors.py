"""Errors that name the line of the user's code."""

import sys
from pathlib import Path

import numpy as np

_INSIDE = (str(Path(__file__).parents[1]), str(Path(np.__file__).parent))


class TraceError(TypeError):
    """Code that cannot be traced, with its file and line and what to write instead."""

    def __init__(self, problem: str, fix: str) -> None:
        super().__init__(f"{user_line()}: {problem}\n  Fix: {fix}")


class MissingAttributeError(TraceError, AttributeError):
    """An attribute or method of arrays that traced ones do not have; `hasattr` is False."""


def user_line() -> str:
    """File and line of the innermost frame that is neither the compiler's nor NumPy's."""
    frame = sys._getframe(1)
    while frame.f_back is not None and frame.f_code.co_filename.startswith(_INSIDE):
        frame = frame.f_back
    return f"{frame.f_code.co_filename}:{frame.f_lineno}"
