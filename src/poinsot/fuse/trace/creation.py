"""While a function is traced, `np.array`, `np.zeros` and the like make arrays that can hold traced values.

No protocol of NumPy covers `np.array([[0, -w[2]], ...])`, so these few functions of the module are replaced for the
duration of a trace. Only the tracing thread is affected: in other threads they work as always.
"""

import os
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import ModuleType
from typing import Any

import numpy as np

from poinsot.fuse.graph.memory import UNSET
from poinsot.fuse.graph.nodes import tracing
from poinsot.fuse.trace import unsigned
from poinsot.fuse.trace.traced import Traced, as_objects

_lock = threading.Lock()
_users = 0
_NUMPY: dict[str, Callable[..., Any]] = {}
TRACER = "poinsot.fuse.trace.function_graph"  # the module that calls traced functions


def _in_trace() -> bool:
    """Whether the caller is a traced function; a module that such a function imports gets plain arrays."""
    frame = sys._getframe(2) if tracing() else None
    while frame is not None and frame.f_globals.get("__name__") != TRACER:
        if frame.f_code.co_filename == "<frozen importlib._bootstrap>":
            return False
        frame = frame.f_back
    return frame is not None


def _contains_traced(x: Any) -> bool:
    return isinstance(x, Traced) or (isinstance(x, (list, tuple)) and any(map(_contains_traced, x)))


def _convert(name: str) -> Callable[..., Any]:
    """np.array and np.asarray: traced if any element is, or inside a trace, for indexing by traced integers."""
    numpy = _NUMPY[name]

    def convert(x: Any, dtype: Any = None, **kwargs: Any) -> Any:
        traced = _contains_traced(x) or (unsigned.has_numbers(x) and _in_trace())
        if not traced:
            return numpy(x, dtype=dtype, **kwargs) if dtype is not None else numpy(x, **kwargs)
        data = unsigned.aligned(as_objects(x))
        result = Traced(data.copy() if name == "array" or data is x else data)
        return result if dtype is None else result.astype(dtype)

    return convert


def _full(shape: Any, fill_value: Any, dtype: Any = None, **_: Any) -> Traced:
    values = np.broadcast_to(as_objects(fill_value), shape).copy()
    return Traced(values) if dtype in (None, object) else Traced(values).astype(dtype)


def _fill(name: str) -> Callable[..., Any]:
    """np.zeros and the like: arrays of floats or uint32 that traced values can be assigned to."""
    numpy = _NUMPY[name]

    def fill(*args: Any, **kwargs: Any) -> Any:
        if name == "full" and _contains_traced([*args, *kwargs.values()]):
            return _full(*args, **kwargs)
        array = numpy(*args, **kwargs)
        if isinstance(array, Traced):  # np.identity calls np.eye
            return array
        if not (array.dtype.kind == "f" or array.dtype == np.uint32) or not _in_trace():
            return array
        values = as_objects(array)
        if name == "empty" and array.dtype.kind == "f":
            values[...] = UNSET  # an element that is never set must not pass for a number
        return Traced(values)

    return fill


class _OriginalNumPy:
    """The original NumPy, for compiled modules that access the memory of the arrays that they make."""

    def __getattr__(self, name: str) -> Any:
        return _NUMPY.get(name) or getattr(np, name)


def _compiled_users() -> list[Any]:
    """The modules of `numpy.random`, which call NumPy's creation functions by name."""
    import numpy.random as np_random  # may be loaded here for the first time

    loaded = [module for name, module in sys.modules.items() if name.startswith(np_random.__name__)]
    return [module for module in loaded if isinstance(getattr(module, "np", None), ModuleType | _OriginalNumPy)]


@contextmanager
def traced_creation() -> Iterator[None]:
    """Replace NumPy's creation functions while any thread traces."""
    global _users
    with _lock:
        if _users == 0:
            _replace()
        _users += 1
    try:
        yield
    finally:
        with _lock:
            _users -= 1
            if _users == 0:
                _restore()


def _replace() -> None:
    for name in ("array", "asarray", "zeros", "ones", "empty", "full", "eye", "identity"):
        _NUMPY[name] = getattr(np, name)
        setattr(np, name, _convert(name) if name in ("array", "asarray") else _fill(name))
    for module in _compiled_users():
        module.np = _OriginalNumPy()


def _restore() -> None:
    for name, function in _NUMPY.items():
        setattr(np, name, function)
    for module in _compiled_users():
        module.np = np


def _after_fork() -> None:
    """In a child process the threads that were tracing are gone, but for the one that forked."""
    global _users
    before, _users = _users, int(tracing())
    if before and not _users:
        _restore()
    _lock.release()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_lock.acquire, after_in_parent=_lock.release, after_in_child=_after_fork)
