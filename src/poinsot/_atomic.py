"""Files that appear whole or not at all: written under a temporary name in the same folder, then renamed.

Readers see the old file or the new one. What a killed process left unfinished is removed by the next one that writes to
the same place. A symbolic link stays, and what it leads to is replaced.
"""

import ctypes
import errno
import os
import re
import shutil
import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from os import PathLike
from pathlib import Path
from types import FrameType


@contextmanager
def replacing(path: str | PathLike[str]) -> Iterator[Path]:
    """A temporary name to write a file to. The file replaces `path` if all goes well, and is removed otherwise."""
    temporary = beside(path)
    try:
        yield temporary
        settle(temporary, path)
    except BaseException:
        discard(temporary)
        raise


def write_bytes(path: str | PathLike[str], data: bytes) -> Path:
    """Write a file, whole or not at all; its path."""
    with replacing(path) as temporary:
        temporary.write_bytes(data)
    return Path(path)


def write_text(path: str | PathLike[str], text: str) -> Path:
    """Write a file in UTF-8, whole or not at all; its path."""
    return write_bytes(path, text.encode())


def beside(path: str | PathLike[str]) -> Path:
    """A new name in the folder of `path` that no other process uses."""
    path = _followed(path)
    if not path.parent.is_dir():
        raise FileNotFoundError(f"'{path}' cannot be written: the folder '{path.parent}' does not exist.")
    if path.exists() and not (path.is_file() or path.is_dir()):
        raise OSError(errno.EINVAL, "a device, pipe or socket cannot be replaced by a file", str(path))
    _remove_orphans(path)
    return path.with_name(f".{path.name}.{_machine()}-{os.getpid()}-{os.urandom(4).hex()}.partial")


def settle(temporary: Path, path: str | PathLike[str]) -> None:
    """Put a finished file or folder in the place of `path`, at once, after all of it has reached the disk."""
    path = _followed(path)
    folders = [temporary] if temporary.is_dir() else []
    for root, _, names in os.walk(temporary):
        folders.append(Path(root))
        for name in names:
            to_disk(Path(root, name))
    for place in folders or [temporary]:
        to_disk(place)
    if folders and path.exists():
        _exchange(temporary, path)
        discard(temporary)
    else:
        try:
            os.replace(temporary, path)
        except OSError as error:
            if not folders or error.errno not in (errno.ENOTEMPTY, errno.EEXIST):
                raise
            _exchange(temporary, path)  # another process came first
            discard(temporary)
    to_disk(path.parent)


def _followed(path: str | PathLike[str]) -> Path:
    """The path, or what it leads to if it is a symbolic link; that need not exist yet."""
    try:
        return Path(path).resolve() if Path(path).is_symlink() else Path(path)
    except RuntimeError:  # Python 3.11 and 3.12
        raise OSError(errno.ELOOP, "a symbolic link that leads back to itself", str(path)) from None


def to_disk(path: Path) -> None:
    """Wait until a file, or the list of names in a folder, is on the disk."""
    if path.is_dir() and os.name != "posix":
        return  # only POSIX systems open folders
    handle = os.open(path, os.O_RDONLY if path.is_dir() else os.O_RDWR)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def discard(temporary: Path) -> None:
    """Remove an unfinished file or folder, if it exists."""
    if temporary.is_dir():
        shutil.rmtree(temporary, ignore_errors=True)
    else:
        temporary.unlink(missing_ok=True)


def reserve(path: Path, size: int) -> None:
    """OSError if there is no room for `size` bytes beside `path`.

    For libraries such as HDF5 that do not survive a disk that fills up while they write.
    """
    trial = path.with_name(path.name.removesuffix(".partial") + "-room.partial")
    if not hasattr(os, "posix_fallocate"):
        if shutil.disk_usage(path.parent).free < size:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(path))
        return
    handle = os.open(trial, os.O_WRONLY | os.O_CREAT | os.O_EXCL)
    try:
        os.posix_fallocate(handle, 0, size)
    except OSError as error:
        if error.errno not in (errno.EINVAL, errno.EOPNOTSUPP):  # a file system that cannot say
            raise OSError(*error.args, str(path)) from None
    finally:
        os.close(handle)
        trial.unlink()


@contextmanager
def undisturbed() -> Iterator[None]:
    """Delay Ctrl-C until this is over, so that data written together is complete."""
    before = signal.getsignal(signal.SIGINT)
    if threading.current_thread() is not threading.main_thread() or not callable(before):
        yield
        return
    waiting: list[tuple[int, FrameType | None]] = []
    signal.signal(signal.SIGINT, lambda number, frame: waiting.append((number, frame)))
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
    if waiting:
        before(*waiting[0])


def _exchange(a: Path, b: Path) -> None:
    """Exchange the names of two folders, at once where the system can; elsewhere b does not exist for a moment."""
    names, swap = (os.fsencode(a), os.fsencode(b)), 2
    with suppress(OSError, AttributeError):
        libc = ctypes.CDLL(None, use_errno=True)
        here = -100  # AT_FDCWD
        if sys.platform == "linux" and libc.renameat2(here, names[0], here, names[1], swap) == 0:
            return
        if sys.platform == "darwin" and libc.renamex_np(*names, swap) == 0:
            return
    aside = b.with_name(a.name.removesuffix(".partial") + "-old.partial")
    os.rename(b, aside)
    os.rename(a, b)
    os.rename(aside, a)


def _remove_orphans(path: Path) -> None:
    """Remove what processes of this machine that have ended left of this file."""
    if os.name != "posix":
        return
    pattern = re.compile(rf"\.{re.escape(path.name)}\.{re.escape(_machine())}-(\d+)-[0-9a-f]+(-old|-room)?\.partial")
    for other in path.parent.iterdir():
        if (match := pattern.fullmatch(other.name)) and not _alive(int(match[1])):
            with suppress(OSError):
                discard(other)


def _machine() -> str:
    return os.uname().nodename if os.name == "posix" else "this"


def _alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        pass
    return True
