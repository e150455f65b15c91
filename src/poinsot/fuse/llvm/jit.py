"""LLVM text to machine code in memory, through a cache on disk."""

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

from poinsot.fuse.llvm import target

_lock = threading.Lock()
_engines: list[Any] = []  # code stays loaded until the process ends


def available() -> bool:
    try:
        import llvmlite.binding  # noqa: F401
    except ImportError:
        return False
    return True


@functools.cache
def _target_machine() -> Any:
    import llvmlite.binding as llvm

    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    host = target.host()
    return llvm.Target.from_default_triple().create_target_machine(
        cpu=host.name, features=host.features, opt=2, reloc="pic", codemodel="jitdefault", jit=True
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


def compile_module(text: str, name: str) -> int:
    """The address of the function `kernel` of the module."""
    import llvmlite
    import llvmlite.binding as llvm

    with _lock:
        begin = time.perf_counter()
        machine = _target_machine()
        parts = [text, *map(str, target.host()), llvmlite.__version__, _PIPELINE]
        key = hashlib.sha256("\0".join(parts).encode()).hexdigest()
        code = _read(key)
        source = "cache"
        if code is None:
            module = llvm.parse_assembly(text)
            module.verify()
            with _as_written():
                code, source = machine.emit_object(module), "compiled"
            _write(key, code)
        engine = llvm.create_mcjit_compiler(llvm.parse_assembly(""), machine)
        engine.add_object_file(llvm.ObjectFileRef.from_data(code))
        engine.finalize_object()
        _engines.append(engine)
        address: int = engine.get_function_address("kernel")
        if debug():
            _report(name, key, text, code, source, time.perf_counter() - begin)
        return address


_PIPELINE = "codegen -O2, as written"


def debug() -> bool:
    return os.environ.get("POINSOT_DEBUG", "0") not in ("", "0")


def _report(name: str, key: str, text: str, code: bytes, source: str, seconds: float) -> None:
    path = Path(tempfile.gettempdir()) / f"poinsot-{key[:12]}.ll"
    path.write_text(text)
    lines = text.count("\n")
    print(
        f"poinsot: {name}: {lines} lines of IR in {path}, {len(code)} bytes, {source} in {seconds:.3f} s",
        file=sys.stderr,
    )


# The cache: one file per object, named by what it was made from, written whole under another name and renamed, with its
# own checksum in front. Whatever goes wrong with it costs time, never a result.
def cache_folder() -> Path:
    chosen = os.environ.get("POINSOT_CACHE")
    if chosen:
        return Path(chosen)
    base = os.environ.get("XDG_CACHE_HOME") or os.environ.get("LOCALAPPDATA") or Path.home() / ".cache"
    return Path(base) / "poinsot"


def _read(key: str) -> bytes | None:
    try:
        content = (cache_folder() / f"{key}.o").read_bytes()
    except (OSError, RuntimeError):
        return None
    checksum, code = content[:32], content[32:]
    return code if hashlib.sha256(code).digest() == checksum else None


def _write(key: str, code: bytes) -> None:
    try:
        folder = cache_folder()
        folder.mkdir(parents=True, exist_ok=True)
        handle, temporary = tempfile.mkstemp(dir=folder)
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(hashlib.sha256(code).digest() + code)
            os.replace(temporary, folder / f"{key}.o")
        except BaseException:
            os.unlink(temporary)
            raise
    except (OSError, RuntimeError):
        return
