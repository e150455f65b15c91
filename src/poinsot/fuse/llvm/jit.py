"""LLVM text to machine code in memory, through a cache on disk (`object_cache`)."""

import contextlib
import functools
import hashlib
import os
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from weakref import WeakValueDictionary

from poinsot.fuse.llvm import emission, object_cache, target

_lock = threading.RLock()  # reentrant: code may be released while other code is loaded
_changed = threading.Condition(_lock)
_making: dict[str, int] = {}  # the hashes of what is being compiled, and the threads that do it
_forking: set[int] = set()  # the threads that want to fork, for which others wait
MANY = 4096  # pieces of code; with more of them loaded, their memory maps are counted
MAPS = 4  # memory maps that a piece of code takes at most


class MachineCode:
    """A compiled module, loaded for as long as this object lives. `address`: of its function `kernel`."""

    __slots__ = ("__weakref__", "_engine", "address")

    def __init__(self, engine: Any) -> None:
        self._engine = engine
        self.address: int = engine.get_function_address("kernel")

    def __del__(self, ending: Callable[[], bool] = sys.is_finalizing) -> None:
        if ending():  # the process gives back its memory, and what `close` needs may be gone
            return
        with _lock:
            self._engine.close()


_loaded: WeakValueDictionary[str, MachineCode] = WeakValueDictionary()  # by the hash of all that it was made from


def _before_fork() -> None:
    """Hold the lock while no other thread compiles: a child must not inherit what such a thread holds within LLVM."""
    me = threading.get_ident()
    _lock.acquire()
    _forking.add(me)
    while {*_making.values()} - {me}:
        _changed.wait()


def _after_fork() -> None:
    _forking.clear()
    _changed.notify_all()
    _lock.release()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_before_fork, after_in_parent=_after_fork, after_in_child=_after_fork)


@functools.cache
def available() -> bool:
    """Whether llvmlite is installed. It is loaded under the lock: a fork in the midst of it would hang the child."""
    with _lock:
        try:
            import llvmlite.binding  # noqa: F401
        except ImportError:
            return False
        return True


def compile_module(text: str, name: str, hasty: bool = False) -> MachineCode:
    """The machine code of a module; the same one, if it is loaded already. Threads compile side by side."""
    begin, key = time.perf_counter(), _key(text, hasty)
    with _being_made(key):
        code, source = _loaded.get(key), "cache"
        if code is None:
            content, source = _object(key, text, hasty)
            code = _load(key, content)
    if debug():
        _report(name, key, text, source, time.perf_counter() - begin)
    return code


@contextlib.contextmanager
def _being_made(key: str) -> Iterator[None]:
    """For one thread at a time for each piece of code, and with no fork meanwhile."""
    me = threading.get_ident()
    with _changed:
        while _making.get(key, me) != me or _forking - {me}:
            _changed.wait()
        _making[key] = me
    try:
        yield
    finally:
        with _changed:
            _making.pop(key, None)
            _changed.notify_all()


def _key(text: str, hasty: bool) -> str:
    """The hash of all that the machine code of a module is made from."""
    import llvmlite

    parts = [text, *map(str, target.host()), llvmlite.__version__, emission.PIPELINE, str(hasty)]
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()


def remember(place: str, aim: target.Target, text: str) -> None:
    """Keep which machine code belongs to the program that is kept at a place."""
    object_cache.write(_link(place, aim), _key(text, aim.hasty).encode())


def found(place: str, aim: target.Target, name: str) -> MachineCode | None:
    """The machine code of the program that is kept at a place, if it is there."""
    begin, link = time.perf_counter(), object_cache.read(_link(place, aim))
    if link is None:
        return None
    key = link.decode()
    with _being_made(key):
        code = _loaded.get(key)
        if code is None:
            content = object_cache.read(key)
            if content is None:
                return None
            code = _load(key, content)
    if debug():
        print(f"poinsot: {name}: known, loaded in {time.perf_counter() - begin:.3f} s", file=sys.stderr)
    return code


def _link(place: str, aim: target.Target) -> str:
    return hashlib.sha256(f"code {place} {aim} {target.host()} {emission.PIPELINE}".encode()).hexdigest()


def _object(key: str, text: str, hasty: bool) -> tuple[bytes, str]:
    """The object file of a module, and where it came from."""
    content = object_cache.read(key)
    if content is not None:
        return content, "cache"
    content = emission.object_file(text, hasty)
    object_cache.write(key, content)
    return content, "compiled"


def _load(key: str, content: bytes) -> MachineCode:
    import llvmlite.binding as llvm

    with _lock:
        if len(_loaded) >= MANY:
            _require_maps()
        engine = llvm.create_mcjit_compiler(llvm.parse_assembly(""), emission.target_machine())
        engine.add_object_file(llvm.ObjectFileRef.from_data(content))
        engine.finalize_object()
        code = _loaded[key] = MachineCode(engine)
        return code


def _require_maps() -> None:
    """An error before the system runs out of memory maps, which LLVM would not survive."""
    try:
        limit = int(Path("/proc/sys/vm/max_map_count").read_text())
        used = Path("/proc/self/maps").read_bytes().count(b"\n")
    except (OSError, ValueError):
        return
    if used + 16 * MAPS > limit:
        raise MemoryError(
            f"{len(_loaded)} compiled kernels are in use, and the system allows no more memory maps ({used} of "
            f"{limit}). Let go of kernels, worlds or runs that are not needed any more, or raise vm.max_map_count."
        )


def debug() -> bool:
    return os.environ.get("POINSOT_DEBUG", "0") not in ("", "0")


@functools.cache
def _debug_folder(process: int) -> Path:
    """A new folder of this process, which nobody else can write to."""
    return Path(tempfile.mkdtemp(prefix="poinsot-debug-"))


def _report(name: str, key: str, text: str, source: str, seconds: float) -> None:
    path = _debug_folder(os.getpid()) / f"{key[:12]}.ll"
    path.write_text(text)
    lines = text.count("\n")
    print(f"poinsot: {name}: {lines} lines of IR in {path}, {source} in {seconds:.3f} s", file=sys.stderr)
