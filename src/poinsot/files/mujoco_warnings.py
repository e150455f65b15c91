"""Warnings of MuJoCo while it reads a file, as warnings of Python; by itself it writes them to MUJOCO_LOG.TXT in the
working directory."""

import threading
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

_READING = threading.RLock()  # MuJoCo has one handler for all threads


@contextmanager
def mujoco_warnings(mujoco: Any, path: object) -> Iterator[None]:
    """Within, nothing is written; afterwards each warning is given once, with the file in front."""
    said: list[str] = []
    with _READING:
        before = mujoco.get_mju_user_warning()
        mujoco.set_mju_user_warning(said.append)
        try:
            yield
        finally:
            mujoco.set_mju_user_warning(before)
    for text in dict.fromkeys(said):
        warnings.warn(f"{path}: {text}", UserWarning, stacklevel=4)
