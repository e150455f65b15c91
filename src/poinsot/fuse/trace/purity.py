"""Functions that give other numbers each time they are called: random numbers, clocks, counters.

A trace would freeze such a number. Whether a function may be one of them is read off its code and off what its names
stand for: plain numbers, arrays, NumPy, Poinsot, and other functions of that kind are safe. If anything else is in it,
it is traced or called twice, and both results must be the same. The second time it is watched: what it reads off a
clock may be the same twice, such as the hour, and so may a coin.
"""

import dis
import functools
import random
import sys
import time
import types
from collections.abc import Callable, Iterator
from dataclasses import fields, is_dataclass
from typing import Any

import numpy as np

from poinsot.fuse.graph.nodes import Graph, Node, tracing
from poinsot.fuse.trace.traced import Traced

SAFE_PACKAGES = ("numpy", "poinsot", "math", "operator", "functools", "cmath")
CLOCKS = {"time", "datetime"}
INDIRECT = {"exec", "eval", "compile", "globals", "vars", "getattr", "setattr", "__import__"}  # reach any name
UNSAFE_NAMES = {"random", "next", "input", "open", "id", "hash", "iter", "urandom", *CLOCKS, *INDIRECT}
MUTATORS = {
    *("append", "extend", "insert", "pop", "popleft", "popitem", "clear", "update", "add", "remove", "discard"),
    *(
        "setdefault",
        "reverse",
        "sort",
        "fill",
        "put",
        "place",
        "putmask",
        "copyto",
        "resize",
        "partition",
        "__setitem__",
    ),
}
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
CLOCK, TICK = "a clock", 0.02  # s: longer than the ticks of any
CHANCE = "random numbers"
DRAWS = 7  # calls of a function with random numbers of its own, all of which must be the same
READS = {  # what reads a clock, and what draws random numbers, by module and name
    **{("time", name + end): CLOCK for end in ("", "_ns") for name in (
        "time monotonic perf_counter process_time thread_time clock_gettime localtime gmtime ctime asctime strftime"
    ).split()},
    **{("datetime", name): CLOCK for name in ("now", "utcnow", "today")},
    ("posix", "times"): CLOCK, ("nt", "times"): CLOCK, ("resource", "getrusage"): CLOCK,
    ("posix", "urandom"): CHANCE, ("nt", "urandom"): CHANCE, ("posix", "getrandom"): CHANCE,
}  # fmt: skip


class VaryingFunctionError(ValueError):
    """A function in a world gives other numbers each time it is called with the same arguments."""


def steady(function: Callable[..., Any], *args: Any, role: str) -> Any:
    """function(*args); if it may vary it is called twice, and it is an error if the results differ.

    `role`: what the function is, as in "value of force 'thrust'".
    """
    result = function(*args)
    found = suspect(function)
    if found is None:
        return result
    if found.startswith(CLOCK) and tracing():
        time.sleep(TICK)
    again, read = _watched(function, *args)
    others = range(DRAWS - 2 if found.startswith(CHANCE) else 0)
    if read is None and _same(result, again) and all(_same(result, function(*args)) for _ in others):
        return result
    raise VaryingFunctionError(
        f"{role} is the function {_place(function)}, which gives other numbers each time it is called at the same "
        f"instant: it uses {read or found}. In a run, one such number would be frozen.\n  Fix: compute the numbers "
        "before the run, and pass them as an Input or a Tabulated function of time; or as a function of t alone, such "
        "as noise whose seed is a step number; what the function should remember is a state of an element."
    )


def _watched(function: Callable[..., Any], *args: Any) -> tuple[Any, str | None]:
    """function(*args), and which clock it read or what it drew random numbers from, in words; None for nothing.

    Clocks that libraries read for themselves, as a logger does, do not count.
    """
    read: list[str] = []

    def look(frame: types.FrameType, event: str, called: Any) -> None:
        if event != "c_call" or read:
            return
        owner = getattr(called, "__self__", None)
        module = getattr(called, "__module__", None) or getattr(owner, "__module__", None)
        kind = READS.get((str(module), getattr(called, "__name__", "")))
        if kind == CHANCE or (kind == CLOCK and _is_users_code(frame)):
            read.append(f"{kind} ({module}.{called.__name__})")

    before, state = sys.getprofile(), _drawn()
    sys.setprofile(look)
    try:
        result = function(*args)
    finally:
        sys.setprofile(before)
    if state != _drawn():
        read.append(f"{CHANCE} (random)")
    return result, read[0] if read else None


def _drawn() -> Any:
    """The states of the generators that all of Python shares."""
    return random.getstate(), repr(np.random.get_state())  # noqa: NPY002


def _is_users_code(frame: types.FrameType) -> bool:
    """Whether a frame runs code of the user's, not that of Python's library or a package."""
    top = str(frame.f_globals.get("__name__", "")).split(".")[0]
    packaged = top in {*sys.stdlib_module_names, *SAFE_PACKAGES} and top != "__main__"
    return not packaged and "-packages" not in frame.f_code.co_filename


def _place(function: Any) -> str:
    """The name, file and line of a function."""
    inner = getattr(function, "func", None) or getattr(function, "__func__", function)
    code = getattr(inner, "__code__", None) or getattr(vars(type(inner)).get("__call__"), "__code__", None)
    name = getattr(inner, "__qualname__", None) or type(inner).__qualname__
    return name if code is None else f"{name} at {code.co_filename}:{code.co_firstlineno}"


def may_vary(function: Callable[..., Any]) -> bool:
    """Whether two calls of a function with the same arguments may differ, as far as its code tells."""
    return suspect(function) is not None


def suspect(function: Callable[..., Any], seen: set[int] | None = None) -> str | None:
    """The part of a function's code that may differ from call to call, in words; None if nothing can."""
    seen = set() if seen is None else seen
    if id(function) in seen:
        return None
    seen.add(id(function))
    wrapped = getattr(function, "func", None) or getattr(function, "__func__", None)
    if wrapped is not None:  # a partial, or a method
        bound = (*getattr(function, "args", ()), *getattr(function, "keywords", {}).values())
        bound = (*bound, getattr(function, "__self__", None))
        return _first(_unsafe(value, seen) for value in bound) or suspect(wrapped, seen)
    code = getattr(function, "__code__", None)
    if _is_from_safe_package(function):
        return None
    if code is None:
        return f"{getattr(function, '__module__', None) or type(function).__module__}." + str(
            getattr(function, "__qualname__", type(function).__qualname__)
        )
    if found := _first(map(_unsafe_code, _codes(code))):
        return found
    values = list(_values(function))
    if any(map(_changes_items, _codes(code))) and any(map(_is_changeable, values)):
        return "an array, list, dict or set outside of it, which it changes"
    return _first(_unsafe(value, seen) for value in values)


def _first(found: Any) -> str | None:
    return next((text for text in found if text is not None), None)


def _is_changeable(value: Any) -> bool:
    return isinstance(value, (list, dict, set)) or (isinstance(value, np.ndarray) and value.flags.writeable)


def _unsafe(value: Any, seen: set[int]) -> str | None:
    """The part of a value used by a function that may change from call to call."""
    if isinstance(value, SAFE_TYPES):
        return None
    if isinstance(value, types.ModuleType):
        return _unsafe_module(value)
    if isinstance(value, (tuple, list, frozenset, set)):
        return _first(_unsafe(item, seen) for item in value)
    if isinstance(value, dict):
        return _first(_unsafe(item, seen) for item in value.values())
    if isinstance(value, functools._lru_cache_wrapper):
        return suspect(value.__wrapped__, seen)
    kind = value if isinstance(value, type) else type(value)
    name = f"{kind.__module__}.{kind.__qualname__}".removeprefix("builtins.")
    if kind.__module__.startswith("numpy.random"):
        return f"{CHANCE} ({name})"
    if kind.__module__ in CLOCKS:
        return f"{CLOCK} ({name})"
    if isinstance(value, type) or _is_from_safe_package(value) or _is_from_safe_package(kind):
        return None
    if is_dataclass(value) and not any(isinstance(x, (list, dict, set)) for x in vars(value).values()):
        parts = [*vars(value).values(), *_methods(kind)]
        return None if id(value) in seen else _first(_unsafe(part, seen | {id(value)}) for part in parts)
    return suspect(value, seen) if callable(value) else f"an object of class {name}"


def _methods(kind: type) -> Iterator[Any]:
    """The functions of a class of the user's."""
    for base in kind.__mro__:
        if not _is_from_safe_package(base) and base is not object:
            for name, member in vars(base).items():
                function = getattr(member, "__func__", getattr(member, "fget", member))
                if isinstance(function, types.FunctionType) and (name == "__call__" or not name.startswith("__")):
                    yield function


def _unsafe_module(module: types.ModuleType) -> str | None:
    name = module.__name__
    if name in CLOCKS:
        return f"{CLOCK} (the module {name})"
    if name in ("random", "numpy.random", "secrets", "uuid"):
        return f"{CHANCE} (the module {name})"
    return None if name.split(".")[0] in SAFE_PACKAGES or _is_users(module) else f"the module {name}"


def _is_from_safe_package(thing: Any) -> bool:
    package = str(getattr(thing, "__module__", "") or "").split(".")[0]
    return package in SAFE_PACKAGES


def _codes(code: types.CodeType) -> Iterator[types.CodeType]:
    """The code of a function, and of the functions inside it."""
    yield code
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            yield from _codes(constant)


def _unsafe_code(code: types.CodeType) -> str | None:
    if names := sorted(UNSAFE_NAMES & {*code.co_names}):
        name = names[0]
        return f"{CLOCK} (time)" if name in CLOCKS else CHANCE if name == "random" else f"{name}()"
    changes = set(code.co_freevars)
    for instruction in dis.get_instructions(code):
        name = instruction.opname
        if name.startswith("STORE_GLOBAL") or (name == "STORE_DEREF" and instruction.argval in changes):
            return f"the variable {instruction.argval!r} outside of it, which it changes"
        if name.startswith(("STORE_ATTR", "IMPORT_NAME")):
            return f"{instruction.argval!r}, which it {'imports' if name == 'IMPORT_NAME' else 'changes'}"
    return None


def _changes_items(code: types.CodeType) -> bool:
    """Whether code may change an array, list, dict or set: by x[i] = y, del x[i], x += y, out=x, or a method."""
    if MUTATORS & {*code.co_names} or any(isinstance(names, tuple) and "out" in names for names in code.co_consts):
        return True
    return any(
        instruction.opname in ("STORE_SUBSCR", "STORE_SLICE", "DELETE_SUBSCR")  # STORE_SLICE: from Python 3.12 on
        or (instruction.opname == "BINARY_OP" and instruction.argrepr.endswith("="))
        for instruction in dis.get_instructions(code)
    )


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
        for name in code.co_names:
            if name in function.__globals__:
                value = function.__globals__[name]
                yield value
                if isinstance(value, types.ModuleType) and _is_users(value):
                    yield from (vars(value)[inner] for inner in code.co_names if inner in vars(value))


def _is_users(module: types.ModuleType) -> bool:
    top, place = module.__name__.split(".")[0], getattr(module, "__file__", None) or ""
    return top not in {*sys.stdlib_module_names, *SAFE_PACKAGES} and "-packages" not in place


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


def _same(a: Any, b: Any) -> bool:
    """Whether two results of a function are the same: numbers, traced arrays, and structures of them."""
    if a is b:
        return True
    if isinstance(a, Traced) or isinstance(b, Traced):
        x, y = (v.data if isinstance(v, Traced) else np.asarray(v) for v in (a, b))
        return x.shape == y.shape and all(map(_same_value, x.ravel(), y.ravel()))
    if type(a) is not type(b):
        return False
    if isinstance(a, dict):
        return list(a) == list(b) and all(_same(a[key], b[key]) for key in a)
    if isinstance(a, (list, tuple)):
        return len(a) == len(b) and all(map(_same, a, b))
    if is_dataclass(a):
        return all(_same(getattr(a, f.name), getattr(b, f.name)) for f in fields(a))
    if callable(a):  # made anew by each call: the same code with the same values
        return getattr(a, "__code__", None) is getattr(b, "__code__", None) and _same(_bound(a), _bound(b))
    if isinstance(a, (np.ndarray, np.generic, float, int, complex)):
        return bool(np.all((np.asarray(a) == b) | (np.asarray(a) != a))) and np.shape(a) == np.shape(b)
    return True  # nothing that a run computes with


def _bound(function: Any) -> list[Any]:
    """The values that a function holds."""
    try:
        cells = [cell.cell_contents for cell in getattr(function, "__closure__", None) or ()]
    except ValueError:  # not filled yet
        cells = []
    return [*cells, *(getattr(function, "__defaults__", None) or ())]


def _same_value(a: Any, b: Any) -> bool:
    """Whether two nodes of one graph compute the same. Equal operations are one node, but loops are built anew."""
    pairs = [(a, b)]
    known: set[tuple[Any, Any]] = set()
    while pairs:
        a, b = pairs.pop()
        if a is b or (a, b) in known:
            continue
        known.add((a, b))
        if type(a) is not Node or type(b) is not Node:
            if type(a) is Node or type(b) is Node or not (a == b or (a != a and b != b)):
                return False
            continue
        if (a.op, a.type, len(a.args)) != (b.op, b.type, len(b.args)):
            return False
        graphs = isinstance(a.data, Graph) and isinstance(b.data, Graph)
        if not (same_graph(a.data, b.data) if graphs else repr(a.data) == repr(b.data)):
            return False
        pairs += zip(a.args, b.args, strict=True)
    return True
