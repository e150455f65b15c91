"""While a function is traced, `np.array`, `np.zeros` and their kin make arrays that traced values can be put into.

NumPy lets no protocol see `np.array([[0, -w[2]], ...])`, so these few names of the module are replaced for the time of
a trace. Only the tracing thread notices: the others get what they always get.
"""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from .graph import tracing
from .memory import UNSET
from .traced import Traced, as_objects

_lock = threading.Lock()
_users = 0
_NUMPY: dict[str, Callable[..., Any]] = {}


def _contains_traced(x: Any) -> bool:
    return isinstance(x, Traced) or (isinstance(x, (list, tuple)) and any(map(_contains_traced, x)))


def _convert(name: str) -> Callable[..., Any]:
    """np.array and np.asarray: traced if anything in them is, or if the array is to be indexed by a traced integer."""
    numpy = _NUMPY[name]

    def convert(x: Any, dtype: Any = None, **kwargs: Any) -> Any:
        if not tracing() or not (_contains_traced(x) or (isinstance(x, np.ndarray) and x.dtype.kind in "fib")):
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
        if name == "full" and tracing() and _contains_traced([*args, *kwargs.values()]):
            return _full(*args, **kwargs)
        array = numpy(*args, **kwargs)
        if isinstance(array, Traced):  # np.identity calls np.eye
            return array
        if tracing() and name == "empty" and array.dtype.kind == "f":
            array = array.astype(object)
            array[...] = UNSET  # what is never set must not look like a number
            return Traced(array)
        return Traced(array.astype(object)) if tracing() and array.dtype.kind == "f" else array

    return fill


@contextmanager
def traced_creation() -> Iterator[None]:
    """Replace NumPy's creation functions while any thread traces."""
    global _users
    with _lock:
        if _users == 0:
            for name in ("array", "asarray", "zeros", "ones", "empty", "full", "eye", "identity"):
                _NUMPY[name] = getattr(np, name)
                setattr(np, name, _convert(name) if name in ("array", "asarray") else _fill(name))
        _users += 1
    try:
        yield
    finally:
        with _lock:
            _users -= 1
            if _users == 0:
                for name, function in _NUMPY.items():
                    setattr(np, name, function)
