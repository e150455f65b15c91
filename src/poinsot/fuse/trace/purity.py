"""Functions that give other numbers each time they are called: random numbers, clocks, counters.

A trace would freeze such a number. Whether a function may be one of them is read off its code and off what its names
stand for: plain numbers, arrays, NumPy, Poinsot, and other functions of that kind are safe. If anything else is in it,
it is traced twice, and both graphs must be the same.
"""

import dis
import types
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from poinsot.fuse.graph.nodes import Graph

SAFE_PACKAGES = ("numpy", "poinsot", "math", "operator", "functools", "cmath")
UNSAFE_NAMES = {"random", "next", "input", "open", "id", "hash", "time", "iter"}
MUTATORS = {"append", "extend", "insert", "pop", "popleft", "popitem", "clear", "update", "add", "remove", "setdefault"}
SAFE_TYPES = (
    int,
    float,
    complex,
    bool,
    str,
    bytes,
    type(None),
    type(Ellipsis),
    range,
    slice,
    np.generic,
    np.dtype,
    np.ndarray,
)


def may_vary(function: Callable[..., Any], seen: set[int] | None = None) -> bool:
    """Whether two calls of a function with the same arguments may differ, as far as its code tells."""
    seen = set() if seen is None else seen
    if id(function) in seen:
        return False
    seen.add(id(function))
    wrapped = getattr(function, "func", None) or getattr(function, "__func__", None)
    if wrapped is not None:  # a partial, or a method
        bound = (*getattr(function, "args", ()), *getattr(function, "keywords", {}).values())
        bound = (*bound, getattr(function, "__self__", None))
        return any(_is_unsafe(value, seen) for value in bound) or may_vary(wrapped, seen)
    code = getattr(function, "__code__", None)
    if code is None:
        return not _is_from_safe_package(function)
    if _is_from_safe_package(function):
        return False
    if any(_has_unsafe_code(inner) for inner in _codes(code)):
        return True
    values = list(_values(function))
    mutates = any(MUTATORS & {*inner.co_names} for inner in _codes(code))
    if mutates and any(isinstance(value, (list, dict, set)) for value in values):
        return True
    return any(_is_unsafe(value, seen) for value in values)


def _is_unsafe(value: Any, seen: set[int]) -> bool:
    """Whether a value that a function uses may change from call to call."""
    if isinstance(value, (*SAFE_TYPES, types.ModuleType, type)):  # what is taken from a module has a name of its own
        return False
    if isinstance(value, (tuple, list, frozenset, set)):
        return any(_is_unsafe(item, seen) for item in value)
    if isinstance(value, dict):
        return any(_is_unsafe(item, seen) for item in value.values())
    if _is_from_safe_package(value) or _is_from_safe_package(type(value)):
        return type(value).__module__.startswith("numpy.random")
    return not callable(value) or may_vary(value, seen)


def _is_from_safe_package(thing: Any) -> bool:
    package = str(getattr(thing, "__module__", "") or "").split(".")[0]
    return package in SAFE_PACKAGES


def _codes(code: types.CodeType) -> Iterator[types.CodeType]:
    """The code of a function, and of the functions inside it."""
    yield code
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            yield from _codes(constant)


def _has_unsafe_code(code: types.CodeType) -> bool:
    if UNSAFE_NAMES & {*code.co_names}:
        return True
    changes = set(code.co_freevars)
    for instruction in dis.get_instructions(code):
        name = instruction.opname
        if name.startswith(("STORE_GLOBAL", "STORE_ATTR", "IMPORT_NAME")):
            return True
        if name == "STORE_DEREF" and instruction.argval in changes:  # nonlocal
            return True
    return False


def _values(function: Any) -> Iterator[Any]:
    """The values that a function uses: of its closure, its defaults, and globals."""
    for cell in function.__closure__ or ():
        try:
            yield cell.cell_contents
        except ValueError:  # not filled yet
            continue
    yield from function.__defaults__ or ()
    yield from (function.__kwdefaults__ or {}).values()
    for code in _codes(function.__code__):
        yield from (function.__globals__[name] for name in code.co_names if name in function.__globals__)


def same_graph(a: Graph, b: Graph) -> bool:
    """Whether two graphs compute the same in the same way."""
    return a is b or _flat(a) == _flat(b)


def _flat(graph: Graph) -> Any:
    state = graph.__getstate__()
    nodes = [
        (op, args, kind, _flat(data) if isinstance(data, Graph) else repr(data))
        for op, args, kind, data in state["nodes"]
    ]
    return nodes, state["outputs"], state["params"]
