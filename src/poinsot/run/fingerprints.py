"""Hashes of worlds and functions by what they would compute: code, and every value that the code can read.

A function is told by its code, defaults, the values it closes over and, if it is the user's own, the globals that it
reads: values by content, functions and methods in turn, modules by name with the values that are read from them, and
the variables of the environment that it names. The functions of installed packages are told by their own code.
"""

import dis
import functools
import hashlib
import os
import sys
from collections.abc import Iterator, Mapping, Set
from types import CodeType, FunctionType, MethodType, ModuleType
from typing import Any

import numpy as np

from poinsot._memo import memo
from poinsot.fuse import Kernel
from poinsot.fuse.graph.nodes import Node
from poinsot.fuse.trace.traced import Traced
from poinsot.mechanism import Joint
from poinsot.spatial import Inertia, Pose
from poinsot.world import World
from poinsot.world.description import Description

READS = ("LOAD_GLOBAL", "LOAD_NAME")
SHARED = (Inertia, Joint, Pose)  # plain data that many bodies may share
PROCESS = os.urandom(8).hex()  # stands for what has no content to compare: it is the same only in this process


def hash_of(world: World) -> str:
    """A hash of everything in the description of a world."""
    return _plain_hash(world.description) or _digest(Reading().text(world.description))


@memo
def _plain_hash(description: Description) -> str | None:
    """The hash of a description that is plain data; None if there is code in it, or what may change."""
    reading = Reading()
    text = reading.text(description)
    return _digest(text) if reading.is_plain else None


def fingerprint(function: Any) -> str:
    """A hash of what a function would compute; "" if it has no code."""
    return Reading().function(function) if hasattr(function, "__code__") else ""


def unknown(x: Any) -> list[str]:
    """The kinds of objects that x, or code in it, reads and whose content cannot be told."""
    reading = Reading()
    reading.text(x)
    return sorted(set(reading.unknown))


class Reading:
    """Writes anything as text, the same for the same content; notes the kinds of objects that cannot be told."""

    def __init__(self) -> None:
        self.unknown: list[str] = []
        self._open: list[int] = []  # what is being read: functions may call each other
        self._known: dict[FunctionType, str] = {}
        self._shared: dict[int, str] = {}
        self.is_plain = True  # whether all that was read is frozen data, without code or objects that may change

    def text(self, x: Any) -> str:
        if isinstance(x, np.generic):
            x = x.item()
        if x is None or isinstance(x, (str, bytes, int, float, complex)):
            return repr(x)
        if isinstance(x, np.ndarray) and x.dtype != object:
            return f"{x.shape}{x.tolist()}"
        if id(x) in self._open:
            return f"the one {len(self._open) - self._open.index(id(x))} above"
        self._open.append(id(x))
        try:
            return self._structure(x)
        finally:
            self._open.pop()

    def _structure(self, x: Any) -> str:
        if isinstance(x, World):
            return self.text(x.description)
        if type(x) in SHARED:
            if id(x) not in self._shared:
                self._shared[id(x)] = self._fields(x)
            return self._shared[id(x)]
        if hasattr(x, "__dataclass_fields__"):
            return self._fields(x)
        if x is os.environ:
            return "environment"
        if isinstance(x, Mapping):
            return "{" + ", ".join(f"{self.text(k)}: {self.text(v)}" for k, v in x.items()) + "}"
        if isinstance(x, (tuple, list)):
            return "[" + ", ".join(map(self.text, x)) + "]"
        if isinstance(x, Set):
            return "{" + ", ".join(sorted(map(self.text, x))) + "}"
        self.is_plain = False
        if isinstance(x, (Traced, Node)):
            return "traced"  # left behind by a trace of the function: it says nothing about what it computes
        if isinstance(x, ModuleType):
            return f"module {x.__name__}"
        if isinstance(x, type):
            return self._class(x)
        if isinstance(x, (FunctionType, MethodType)):
            return f"{x.__module__}:{x.__qualname__}:{self.function(x)}"
        if isinstance(x, CodeType):
            return _digest("\n".join(self._instructions(x)))
        return self._object(x)

    def _fields(self, x: Any) -> str:
        own = _is_installed(type(x).__module__)  # what is private there follows from the rest
        names = (name for name in x.__dataclass_fields__ if not (own and name.startswith("_")))
        parts = (f"{name}={self.text(getattr(x, name, None))}" for name in names)
        return f"{self._class(type(x))}({', '.join(parts)})"

    def _object(self, x: Any) -> str:
        """An object by what a copy of it would be made from, or by the function that it wraps."""
        kind = f"{type(x).__module__}.{type(x).__qualname__}"
        inner = x.function if isinstance(x, Kernel) else getattr(x, "__wrapped__", None)
        if inner is not None:
            return f"{kind} of {self.text(inner)}"
        try:
            if type(x).__module__ == "itertools":  # Python 3.11 copies them, 3.12 warns, 3.14 refuses: none for all
                raise TypeError(f"{kind} cannot be copied")
            made = x.__reduce_ex__(4)
            parts = [made] if isinstance(made, str) else [*made[1:3], *(list(items) for items in made[3:5] if items)]
        except Exception:  # whatever the object says of being copied
            self.unknown.append(kind)
            return f"{kind} in {PROCESS}"
        return f"{kind} from {self.text(parts)}"

    def _class(self, cls: type) -> str:
        """The name of a class; of the user's own ones, also the code and the values in it."""
        if _is_installed(cls.__module__):
            return cls.__name__
        self.is_plain, parts = False, []
        for base in cls.__mro__:
            if not _is_installed(base.__module__):
                hidden = ("__", "_abc_")
                own = {k: v for k, v in vars(base).items() if k == "__call__" or not k.startswith(hidden)}
                parts += [f"{name}={self._member(value)}" for name, value in own.items()]
        return f"{cls.__name__}<{_digest(', '.join(parts))}>" if parts else cls.__name__

    def _member(self, x: Any) -> str:
        """Something that a class holds: a method, a property or a value."""
        if isinstance(x, property):
            return self.text((x.fget, x.fset))
        if isinstance(x, functools.cached_property):
            return self.text(x.func)
        if isinstance(x, (staticmethod, classmethod)):
            return self.text(x.__func__)
        return "" if type(x).__name__ in ("member_descriptor", "getset_descriptor") else self.text(x)

    def function(self, f: Any) -> str:
        """A hash of a function or method: its code, defaults, and all values that it can read."""
        if isinstance(f, MethodType):
            return _digest(f"{self.function(f.__func__)} of {self.text(f.__self__)}")
        if f not in self._known:
            cells = [cell.cell_contents for cell in f.__closure__ or () if _is_filled(cell)]
            values = [*map(self.text, (f.__defaults__, f.__kwdefaults__, cells))]
            if not _is_installed(f.__module__):
                values += [*self._globals(f), *map(self.text, (_noted(f), _environment(f.__code__)))]
            self._known[f] = _digest("\n".join([*self._instructions(f.__code__), *values]))
        return self._known[f]

    def _instructions(self, code: CodeType) -> list[str]:
        """The code, names and constants of a function, and of the functions inside of it."""
        return [code.co_code.hex(), *code.co_names, *map(self.text, code.co_consts)]

    def _globals(self, f: FunctionType) -> list[str]:
        """The globals that a function reads, and what it reads from modules of the user."""
        texts = []
        for name, attributes in sorted(_reads(f.__code__)):
            if name in f.__globals__:
                value = f.__globals__[name]
                texts.append(f"{name}={self.text(value)}")
                texts += self._inside(name, value, attributes)
        held = zip(f.__code__.co_freevars, f.__closure__ or (), strict=True)
        for name, cell in held:
            texts += self._inside(name, cell.cell_contents, f.__code__.co_names) if _is_filled(cell) else []
        return texts

    def _inside(self, name: str, module: Any, attributes: tuple[str, ...], seen: tuple[Any, ...] = ()) -> list[str]:
        """What is read from a module of the user, and from modules in it; nothing from anything else."""
        if not isinstance(module, ModuleType) or _is_installed(module.__name__) or module in seen:
            return []
        texts = []
        for k in attributes:
            if k in vars(module):
                value = vars(module)[k]
                texts.append(f"{name}.{k}={self.text(value)}")
                texts += self._inside(f"{name}.{k}", value, attributes, (*seen, module))
        return texts


def _reads(code: CodeType) -> Iterator[tuple[str, tuple[str, ...]]]:
    """The names of globals that code reads, also within inner functions, each with all names in that code."""
    for name in {str(i.argval) for i in dis.get_instructions(code) if i.opname in READS}:
        yield name, code.co_names
    for inner in code.co_consts:
        if isinstance(inner, CodeType):
            yield from _reads(inner)


def _environment(code: CodeType) -> list[tuple[str, str | None]]:
    """The variables of the environment that code names, if it reads any."""
    reads = not {"environ", "getenv"}.isdisjoint(code.co_names)
    named = [(k, os.environ.get(k)) for k in code.co_consts if reads and isinstance(k, str)]
    return named + [pair for inner in code.co_consts if isinstance(inner, CodeType) for pair in _environment(inner)]


@functools.cache
def _is_installed(module: str | None) -> bool:
    """Whether a module is Poinsot's, Python's, or of an installed package; else it is the user's own."""
    top = (module or "").partition(".")[0]
    if top in ("poinsot", "builtins") or (top in sys.stdlib_module_names and top != "__main__"):
        return True
    place = getattr(sys.modules.get(top), "__file__", None) or ""
    return "site-packages" in place or "dist-packages" in place


def _noted(f: Any) -> list[Any]:
    """What a function holds as attributes, as in f.gain = 2."""
    return sorted((k, x) for k, x in vars(f).items() if not k.startswith("__"))


def _is_filled(cell: Any) -> bool:
    try:
        cell.cell_contents  # noqa: B018
    except ValueError:  # nothing in it yet
        return False
    return True


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:16]
