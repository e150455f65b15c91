"""While a function is traced, `np.array`, `np.zeros` and their kin make arrays that traced values can be put into.

NumPy lets no protocol see `np.array([[0, -w[2]], ...])`, so these few names of the module are replaced for the time of
a trace. Only the tracing thread notices: the others get what they always get.
"""

import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import ModuleType
from typing import Any

import numpy as np

from poinsot.fuse.graph.memory import UNSET
from poinsot.fuse.graph.nodes import tracing
from poinsot.fuse.trace.traced import Traced, as_objects

_lock = threading.Lock()
_users = 0
_NUMPY: dict[str, Callable[..., Any]] = {}
TRACER = "poinsot.fuse.kernels"  # the module that calls traced functions


def _in_trace() -> bool:
    """Whether a traced function is asking, and not a module that is imported on the way: that one gets plain arrays."""
    frame = sys._getframe(2) if tracing() else None
    while frame is not None and frame.f_globals.get("__name__") != TRACER:
        if frame.f_code.co_filename == "<frozen importlib._bootstrap>":
            return False
        frame = frame.f_back
    return frame is not None


def _contains_traced(x: Any) -> bool:
    return isinstance(x, Traced) or (isinstance(x, (list, tuple)) and any(map(_contains_traced, x)))


def _convert(name: str) -> Callable[..., Any]:
    """np.array and np.asarray: traced if anything in them is, or if the array is to be indexed by a traced integer."""
    numpy = _NUMPY[name]

    def convert(x: Any, dtype: Any = None, **kwargs: Any) -> Any:
        traced = _contains_traced(x) or (isinstance(x, np.ndarray) and x.dtype.kind in "fib" and _in_trace())
        if not traced:
            return numpy(x, dtype=dtype, **kwargs) if dtype is not None else numpy(x, **kwargs)
        data = as_objects(x)
        result = Traced(data.copy() if name == "array" or data is x else data)
        return result if dtype is None else result.astype(dtype)

    return convert


def _full(shape: Any, fill_value: Any, dtype: Any = None, **_: Any) -> Traced:
    values = np.broadcast_to(as_objects(fill_value), shape).copy()
    return Traced(values) if dtype in (None, object) else Traced(values).astype(dtype)


def _fill(name: str) -> Callable[..., Any]:
    """np.zeros and the like: arrays of floats that traced values can be assigned to."""
    numpy = _NUMPY[name]

    def fill(*args: Any, **kwargs: Any) -> Any:
        if name == "full" and _contains_traced([*args, *kwargs.values()]):
            return _full(*args, **kwargs)
        array = numpy(*args, **kwargs)
        if isinstance(array, Traced):  # np.identity calls np.eye
            return array
        if array.dtype.kind != "f" or not _in_trace():
            return array
        array = array.astype(object)
        if name == "empty":
            array[...] = UNSET  # what is never set must not look like a number
        return Traced(array)

    return fill


class _Genuine:
    """NumPy as it is, for compiled modules that look right into the arrays that they make."""

    def __getattr__(self, name: str) -> Any:
        return _NUMPY.get(name) or getattr(np, name)


def _compiled_users() -> list[Any]:
    """The modules of random numbers, which call NumPy's creation functions by name."""
    import numpy.random as np_random  # may be loaded here for the first time

    loaded = [module for name, module in sys.modules.items() if name.startswith(np_random.__name__)]
    return [module for module in loaded if isinstance(getattr(module, "np", None), ModuleType | _Genuine)]


@contextmanager
def traced_creation() -> Iterator[None]:
    """Replace NumPy's creation functions while any thread traces."""
    global _users
    with _lock:
        if _users == 0:
            for name in ("array", "asarray", "zeros", "ones", "empty", "full", "eye", "identity"):
                _NUMPY[name] = getattr(np, name)
                setattr(np, name, _convert(name) if name in ("array", "asarray") else _fill(name))
            for module in _compiled_users():
                module.np = _Genuine()
        _users += 1
    try:
        yield
    finally:
        with _lock:
            _users -= 1
            if _users == 0:
                for name, function in _NUMPY.items():
                    setattr(np, name, function)
                for module in _compiled_users():
                    module.np = np
