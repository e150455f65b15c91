"""Locks between processes: a file beside the place that they guard, which the system releases when a process dies."""

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

if sys.platform != "win32":
    import fcntl


@contextmanager
def locked(path: Path, shared: bool = False, wait: bool = True) -> Iterator[bool]:
    """Hold the lock of a place, alone or `shared` with others; yields False if not `wait` and others hold it.

    On file systems without locks it is always free.
    """
    if sys.platform == "win32":
        yield True
        return
    place = path.with_name(f".{path.name}.lock")
    how = (fcntl.LOCK_SH if shared else fcntl.LOCK_EX) | (0 if wait else fcntl.LOCK_NB)
    handle = _hold(place, how)
    if handle is None:
        yield False
        return
    try:
        yield True
    finally:
        with suppress(OSError):
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            if _is_at(place, handle):
                place.unlink()  # nobody else holds it
        os.close(handle)


def _hold(place: Path, how: int) -> int | None:
    """A handle with the lock; None if others hold it."""
    assert sys.platform != "win32"
    while True:
        handle = os.open(place, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o666)
        try:
            fcntl.flock(handle, how)
        except BlockingIOError:
            os.close(handle)
            return None
        except OSError:
            return handle  # the file system has no locks
        if _is_at(place, handle):
            return handle
        os.close(handle)  # the one who held it removed the file


def _is_at(place: Path, handle: int) -> bool:
    try:
        return os.path.samestat(place.stat(), os.fstat(handle))
    except FileNotFoundError:
        return False
