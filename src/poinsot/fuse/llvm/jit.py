"""LLVM text to machine code in memory, through a cache on disk (`object_cache`)."""

import contextlib
import functools
import hashlib
import os
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from weakref import WeakValueDictionary

from poinsot.fuse.llvm import object_cache, target

_lock = threading.RLock()  # reentrant: code may be released while other code is compiled
MANY = 4096  # pieces of code; with more of them loaded, their memory maps are counted
LONG = 1 << 18  # bytes of text: above that, passes of LLVM that gain no speed are left out, and it takes a third less
MAPS = 4  # memory maps that a piece of code takes at most


class MachineCode:
    """A compiled module, loaded for as long as this object lives. `address`: of its function `kernel`."""

    __slots__ = ("__weakref__", "_engine", "address")

    def __init__(self, engine: Any) -> None:
        self._engine = engine
        self.address: int = engine.get_function_address("kernel")

    def __del__(self) -> None:
        with _lock:
            self._engine.close()


_loaded: WeakValueDictionary[str, MachineCode] = WeakValueDictionary()  # by the hash of all that it was made from

if hasattr(os, "register_at_fork"):  # a child must not inherit a lock that a thread of the parent holds
    os.register_at_fork(before=_lock.acquire, after_in_parent=_lock.release, after_in_child=_lock.release)


@functools.cache
def available() -> bool:
    """Whether llvmlite is installed. It is loaded under the lock: a fork in the midst of it would hang the child."""
    with _lock:
        try:
            import llvmlite.binding  # noqa: F401
        except ImportError:
            return False
        return True


def _target_machine(level: int = 2) -> Any:
    """A new one, of an optimisation level: an engine that loads code owns its target machine."""
    import llvmlite.binding as llvm

    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    host = target.host()
    return llvm.Target.from_default_triple().create_target_machine(
        cpu=host.name, features=host.features, opt=level, reloc="pic", codemodel="jitdefault", jit=True
    )


@contextlib.contextmanager
def _as_written() -> Iterator[None]:
    """Without LLVM's machine scheduler: the values that it moves apart in long straight-line code would be spilled.

    The switch is LLVM's, for the whole process, so it is reset.
    """
    import llvmlite.binding as llvm

    llvm.set_option("", "-enable-misched=false")
    try:
        yield
    finally:
        llvm.set_option("", "-enable-misched=true")


def compile_module(text: str, name: str) -> MachineCode:
    """The machine code of a module; the same one, if it is loaded already."""
    with _lock:
        begin, key = time.perf_counter(), _key(text)
        code, source = _loaded.get(key), "cache"
        if code is None:
            content, source = _object(key, text)
            code = _loaded[key] = _load(content)
        if debug():
            _report(name, key, text, source, time.perf_counter() - begin)
        return code


def _key(text: str) -> str:
    """The hash of all that the machine code of a module is made from."""
    import llvmlite

    parts = [text, *map(str, target.host()), llvmlite.__version__, _PIPELINE]
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()


def remember(place: str, aim: target.Target, text: str) -> None:
    """Keep which machine code belongs to the program that is kept at a place."""
    object_cache.write(_link(place, aim), _key(text).encode())


def found(place: str, aim: target.Target, name: str) -> MachineCode | None:
    """The machine code of the program that is kept at a place, if it is there."""
    begin, link = time.perf_counter(), object_cache.read(_link(place, aim))
    if link is None:
        return None
    key = link.decode()
    with _lock:
        code = _loaded.get(key)
        if code is None:
            content = object_cache.read(key)
            if content is None:
                return None
            code = _loaded[key] = _load(content)
    if debug():
        print(f"poinsot: {name}: known, loaded in {time.perf_counter() - begin:.3f} s", file=sys.stderr)
    return code


def _link(place: str, aim: target.Target) -> str:
    return hashlib.sha256(f"code {place} {aim} {target.host()} {_PIPELINE}".encode()).hexdigest()


def _object(key: str, text: str) -> tuple[bytes, str]:
    """The object file of a module, and where it came from."""
    import llvmlite.binding as llvm

    content = object_cache.read(key)
    if content is not None:
        return content, "cache"
    machine = _target_machine(1 if len(text) > LONG else 2)
    # A context of its own: LLVM's global one keeps the constants of every module for good.
    with (
        contextlib.closing(llvm.context.create_context()) as context,
        contextlib.closing(llvm.parse_assembly(text, context)) as module,
        _as_written(),
    ):
        module.verify()
        content = machine.emit_object(module)
    object_cache.write(key, content)
    return content, "compiled"


def _load(content: bytes) -> MachineCode:
    import llvmlite.binding as llvm

    if len(_loaded) >= MANY:
        _require_maps()
    engine = llvm.create_mcjit_compiler(llvm.parse_assembly(""), _target_machine())
    engine.add_object_file(llvm.ObjectFileRef.from_data(content))
    engine.finalize_object()
    return MachineCode(engine)


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


_PIPELINE = "codegen -O2, -O1 if long, as written"


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
