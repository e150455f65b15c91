"""The cache of machine code on disk: one file per object, named by the hash of all that it was made from.

A file is written whole under another name and renamed, with its own checksum in front. Whatever goes wrong with the
cache costs time, never a result. It is used only if nobody else can write to it: code from it is executed.
"""

import hashlib
import os
import stat
import tempfile
from pathlib import Path

LIMIT = 512 * 2**20  # bytes; beyond that the oldest files are removed
OFF = ("0", "off")  # values of POINSOT_CACHE: no cache
SCAN_EVERY = 64  # files that a process writes between two looks at the size of the cache
_written = 0


def cache_folder() -> Path | None:
    """POINSOT_CACHE, or `poinsot` in the user's folder of caches; None, and no cache, if it is 0 or off."""
    chosen = os.environ.get("POINSOT_CACHE")
    if chosen in OFF:
        return None
    if chosen:
        return Path(chosen)
    base = os.environ.get("XDG_CACHE_HOME") or os.environ.get("LOCALAPPDATA") or Path.home() / ".cache"
    return Path(base) / "poinsot"


def read(key: str) -> bytes | None:
    """The object with this key, if it is there and undamaged."""
    try:
        folder = cache_folder()
        if not folder or not is_private(folder):
            return None
        path = folder / f"{key}.o"
        kept = path.stat()
        if not stat.S_ISREG(kept.st_mode) or kept.st_size > LIMIT:  # a device or a pipe may have no end
            return None
        content = path.read_bytes()
    except (OSError, RuntimeError):
        return None
    checksum, code = content[:32], content[32:]
    return code if code and hashlib.sha256(code).digest() == checksum else None


def write(key: str, code: bytes) -> None:
    """Keep an object, and from time to time remove the oldest ones."""
    global _written
    try:
        folder = cache_folder()
        if not folder:
            return
        folder.parent.mkdir(parents=True, exist_ok=True)
        folder.mkdir(mode=0o700, exist_ok=True)
        if not is_private(folder):
            return
        handle, temporary = tempfile.mkstemp(dir=folder)
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(hashlib.sha256(code).digest() + code)
            os.replace(temporary, folder / f"{key}.o")
        except BaseException:
            os.unlink(temporary)
            raise
        if _written % SCAN_EVERY == 0:
            _shrink(folder)
        _written += 1
    except (OSError, RuntimeError):
        return


def is_private(folder: Path) -> bool:
    """Whether the folder belongs to this user, and nobody else can write to it."""
    if not hasattr(os, "geteuid"):
        return True
    status = folder.stat()
    return status.st_uid == os.geteuid() and not status.st_mode & (stat.S_IWGRP | stat.S_IWOTH)


def _shrink(folder: Path) -> None:
    """Remove the oldest files until three quarters of the limit are left; other processes may do the same."""
    files = sorted((entry.stat().st_mtime, entry.stat().st_size, entry.path) for entry in os.scandir(folder))
    total = sum(size for _, size, _ in files)
    if total <= LIMIT:
        return
    for _, size, path in files:
        if total <= 0.75 * LIMIT:
            break
        if path.endswith(".o"):
            Path(path).unlink(missing_ok=True)
            total -= size
