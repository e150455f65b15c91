"""The cache of traced programs on disk, beside the machine code: a start that finds both traces and compiles nothing.

A program is found by all that it was traced from: the data that the traced function read, Poinsot's own source, the
versions of Python, NumPy and llvmlite, the processor, and the environment. Data is told by content, and only what is
made of plain numbers, texts, arrays and Poinsot's own frozen data can be told; the user's functions and classes cannot,
and what has them is traced. The cache is used by the command `poinsot` alone, as long as it runs no code but Poinsot's
own (`poinsot._alone`): in a process where somebody may have changed a function of Poinsot, it could be wrong.
"""

import hashlib
import os
import pickle
import platform
import sys
import warnings
from collections.abc import Iterator, Mapping, Set
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import fields, is_dataclass
from functools import cache, cached_property, partial
from types import CodeType, FunctionType, MethodType
from typing import Any

import numpy as np

from poinsot._alone import HERE, is_alone, is_source_as_begun, source_files
from poinsot._memo import MEMORY
from poinsot.fuse.kernels import Program
from poinsot.fuse.llvm import jit, object_cache, target
from poinsot.fuse.plan.budget import budget

IGNORED = ("POINSOT_BUFFERS", "POINSOT_CACHE", "POINSOT_DEBUG", "POINSOT_THREADS")  # switches that change no program


_NOTED: ContextVar[list[Any] | None] = ContextVar("programs to be written", default=None)


class _CannotTellError(Exception):
    """Something whose content cannot be told."""


def is_in_use() -> bool:
    """Whether programs are looked up and kept."""
    return is_alone() and jit.available() and object_cache.cache_folder() is not None


def place_of(*content: Any) -> str | None:
    """The key of a program by all that it is traced from; None if that cannot be told, or the cache is not in use."""
    if not is_in_use():
        return None
    digest = hashlib.sha256()
    try:
        for piece in _told((_surroundings(), _environment(), budget(), content)):
            digest.update(piece)
            digest.update(b"\0")
    except (_CannotTellError, RecursionError, OSError):
        return None
    return digest.hexdigest()


def read(place: str | None) -> tuple[Program, Any] | None:
    """The program that was kept there, and what was kept with it."""
    content = None if place is None else object_cache.read(_file("program", place))
    if content is None:
        return None
    try:
        kept = pickle.loads(content)
        program = Program(
            partial(pickle.loads, kept["graph"]),
            kept["inputs"],
            kept["outputs"],
            kept["name"],
            kept["doc"],
            kept["operations"],
        )
        program.place = place
    except Exception:  # whatever is wrong with the entry, the function is traced
        return None
    return program, kept["beside"]


@contextmanager
def heard(place: str | None) -> Iterator[list[Any]]:
    """The warnings that are given meanwhile, which are passed on: what warns as it is traced is not kept."""
    if place is None:
        yield []
        return
    said: list[Any] = []
    try:
        with warnings.catch_warnings(record=True) as said:
            warnings.simplefilter("always")
            yield said
    finally:
        for w in said:
            warnings.warn_explicit(w.message, w.category, w.filename, w.lineno, source=w.source)


def write(place: str | None, program: Program, beside: Any = None) -> None:
    """Keep a program, and plain data beside it."""
    if place is None or program.structure is not None or not is_source_as_begun():
        return
    program.place = place
    if (noted := _NOTED.get()) is not None:
        noted.append((place, program, beside))
    else:
        _write(place, program, beside)


@contextmanager
def at_the_end() -> Iterator[None]:
    """Programs are written at its end: what is to be done with them can be begun before."""
    noted: list[tuple[str, Program, Any]] = []
    token = _NOTED.set(noted)
    try:
        yield
    finally:
        _NOTED.reset(token)
    for place, program, beside in noted:
        _write(place, program, beside)


def _write(place: str, program: Program, beside: Any) -> None:
    kept = {
        "graph": pickle.dumps(program.graph),
        **{key: getattr(program, key) for key in ("inputs", "outputs", "name", "doc", "operations")},
        "beside": beside,
    }
    object_cache.write(_file("program", place), pickle.dumps(kept))


# What a program depends on beside its data.


@cache
def _surroundings() -> tuple[Any, ...]:
    """Poinsot's source, versions, and the processor."""
    import llvmlite

    return _source(), sys.version, platform.machine(), np.__version__, llvmlite.__version__, tuple(target.host())


def _source() -> bytes:
    """A hash of the content of all modules of Poinsot."""
    if not is_source_as_begun():
        raise _CannotTellError("the source has changed since the process began")
    digest = hashlib.sha256()
    for path in source_files():
        digest.update(f"{os.path.relpath(path, HERE)}\0".encode())
        with open(path, "rb") as file:
            digest.update(hashlib.sha256(file.read()).digest())
    return digest.digest()


def _environment() -> tuple[Any, ...]:
    return tuple(sorted((k, v) for k, v in os.environ.items() if k.startswith("POINSOT_") and k not in IGNORED))


def _file(kind: str, place: str) -> str:
    return hashlib.sha256(f"{kind} {place}".encode()).hexdigest()


# Content, told piece by piece; what cannot be told is an error.


def _told(x: Any, above: tuple[int, ...] = ()) -> Iterator[bytes]:
    if x is None or isinstance(x, (bool, int, float, complex, str, bytes)):
        if type(x) not in (type(None), bool, int, float, complex, str, bytes):
            raise _CannotTellError(type(x))
        yield f"{type(x).__name__} {x!r}".encode()
    elif isinstance(x, (np.generic, np.ndarray)):
        yield from _told_array(x)
    elif id(x) in above:
        raise _CannotTellError("it contains itself")
    elif isinstance(x, (FunctionType, MethodType, partial)):
        yield from _told_function(x, (*above, id(x)))
    else:
        yield from _told_structure(x, (*above, id(x)))


def _told_array(x: Any) -> Iterator[bytes]:
    if x.dtype.hasobject or type(x) not in (np.ndarray, x.dtype.type):
        raise _CannotTellError(type(x))
    yield f"array {x.dtype.str} {x.shape}".encode()
    yield np.ascontiguousarray(x).tobytes()


def _told_structure(x: Any, above: tuple[int, ...]) -> Iterator[bytes]:
    kind = type(x)
    if kind in (tuple, list):
        parts = list(x)
    elif isinstance(x, Mapping) and kind.__module__ in ("builtins",):
        parts = [part for item in x.items() for part in item]
    elif isinstance(x, Set) and kind.__module__ == "builtins":
        parts = sorted(x, key=repr)
    elif is_dataclass(x) and not isinstance(x, type) and _is_own(kind):
        names = [f.name for f in fields(x)]
        if any(not _is_derived(kind, name) for name in {*getattr(x, "__dict__", {})} - {*names}):
            raise _CannotTellError(kind)
        parts = [part for name in names for part in (name, getattr(x, name, None))]
    else:
        raise _CannotTellError(kind)
    yield f"{kind.__module__}.{kind.__qualname__} {len(parts)}".encode()
    for part in parts:
        yield from _told(part, above)


def _told_function(f: Any, above: tuple[int, ...]) -> Iterator[bytes]:
    """A function in Poinsot's source: its place there, and the values that it holds."""
    if isinstance(f, partial):
        held: Any = (f.func, f.args, f.keywords)
    elif isinstance(f, MethodType):
        held = (f.__func__, f.__self__)
    elif not str(f.__code__.co_filename).startswith(f"{HERE}{os.sep}"):
        raise _CannotTellError(f)
    else:
        try:
            cells = [cell.cell_contents for cell in f.__closure__ or ()]
        except ValueError:  # not filled yet
            raise _CannotTellError(f) from None
        held = (f.__module__, f.__qualname__, f.__defaults__, f.__kwdefaults__, cells)
        yield from _told_code(f.__code__)
    yield type(f).__name__.encode()
    yield from _told(held, above)


def _told_code(code: CodeType) -> Iterator[bytes]:
    yield f"code {code.co_firstlineno} {code.co_names} {code.co_freevars}".encode()
    yield code.co_code
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _told_code(constant)
        else:
            yield repr(constant).encode()


def _is_derived(kind: type, name: str) -> bool:
    """Whether an attribute that is no field is a remembered result."""
    return name == MEMORY or isinstance(getattr(kind, name, None), cached_property)


def _is_own(kind: type) -> bool:
    """Whether a class is in Poinsot's source, under its name."""
    found: Any = sys.modules.get(kind.__module__) if kind.__module__.startswith("poinsot.") else None
    for name in kind.__qualname__.split("."):
        found = getattr(found, name, None)
    return found is kind
