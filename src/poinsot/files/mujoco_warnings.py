"""MuJoCo, which reads files, and its warnings as warnings of Python; by itself it writes them to MUJOCO_LOG.TXT in the
working directory."""

import os
import threading
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from types import ModuleType
from typing import Any

from poinsot._alone import is_alone
from poinsot._optional import require

_READING = threading.RLock()  # MuJoCo has one handler for all threads


def mujoco_module() -> ModuleType:
    """MuJoCo; for the command without what it draws pictures with, which takes a third of the time to load."""
    if is_alone():
        os.environ.setdefault("MUJOCO_GL", "disable")
    return require("mujoco", "robots", "Reading MJCF")


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
