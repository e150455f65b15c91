"""Descriptions as plain data, and back: dicts, lists, numbers and strings, ready for JSON, exact to the bit.

    a frozen dataclass     {"class": "Box", "size": [0.1, 0.2, 0.3], ...}; "module:Class" if it is not one of Poinsot's
    a tuple, a list        [...], restored as a tuple
    an array               {"array": [[...], ...]}, with its "dtype" if that is not float, its "shape" if it is empty
    an infinite number     {"number": "inf"}
    a function             {"function": "module:name", "code": "5f3a...", "where": "file.py:12"}
    a mapping              {...}, or {"map": [[key, value], ...]} if a key is not a string or is one of these words
    anything else          {"opaque": "module:Class"}, which cannot be restored

Nothing in a file is executed. Functions and classes other than those of Poinsot's mechanics, and than the elements and
shapes that the program has defined, are imported by name if `allow_code` is true. Those that do not exist, or have
changed, become `Missing`.
"""

import importlib
import inspect
import re
import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import Field, dataclass, fields, is_dataclass
from functools import cache
from pathlib import PurePath
from typing import Any

import numpy as np

from poinsot._hints import hint
from poinsot.contact.colliders import Collider
from poinsot.contact.distances import DistanceShape
from poinsot.contact.law import Material
from poinsot.files.daveml import DaveModel
from poinsot.files.expressions import Expression, FormulaLaw, Law
from poinsot.files.outcome_formulas import OutcomeFormula
from poinsot.fuse import Table
from poinsot.mechanism import Joint
from poinsot.parts import Effect, Element, Input, Scene, Signal, Tabulated
from poinsot.run.fingerprints import fingerprint
from poinsot.spatial import Inertia, Pose
from poinsot.spatial.inertia import Solid
from poinsot.spatial.shapes import Shape
from poinsot.world import Body, Description

# Besides all elements and shapes.
OWN: tuple[type, ...] = (
    Body, Collider, DaveModel, Description, DistanceShape, Expression, FormulaLaw, Inertia, Input, Joint, Law,
    Material, OutcomeFormula, Pose, Signal, Solid, Table, Tabulated,
)  # fmt: skip
ROOMS = tuple(
    f"poinsot.{room}."
    for room in "fuse spatial particles body mechanism contact parts environment control world".split()
)
MECHANICS = tuple(f"poinsot.{room}." for room in ("contact", "parts", "environment"))
WORDS = frozenset(("class", "array", "number", "function", "map", "opaque"))


@dataclass(frozen=True, eq=False)
class Missing(Element):
    """A function or an element that could not be restored: the data that stand for it; to use it is an error."""

    data: Any = None
    why: str = ""

    def __call__(self, *arguments: Any, **named: Any) -> Any:
        raise ValueError(self.why)

    def effect(self, scene: Scene) -> Effect:
        raise ValueError(self.why)


def missing(x: Any) -> Iterator[Missing]:
    """All that is missing in a description, or in anything else that `restore` made."""
    if isinstance(x, Missing):
        yield x
    elif isinstance(x, Mapping):
        for value in x.values():
            yield from missing(value)
    elif isinstance(x, (tuple, list)):
        for value in x:
            yield from missing(value)
    elif is_dataclass(x) and not isinstance(x, type):
        for f in fields(x):
            yield from missing(getattr(x, f.name))


# To plain data.


def describe(x: Any) -> Any:
    """Anything in a description as dicts, lists, numbers and strings."""
    if isinstance(x, np.generic):
        x = x.item()
    if x is None or isinstance(x, (str, bool, int)):
        return x
    if isinstance(x, float):
        return x if np.isfinite(x) else {"number": repr(x)}
    if isinstance(x, Missing):
        return x.data
    if isinstance(x, np.ndarray) and x.dtype.kind in "fiub":
        return _array(x)
    if isinstance(x, (tuple, list)):
        return [describe(item) for item in x]
    if isinstance(x, Mapping):
        if all(isinstance(key, str) and key not in WORDS for key in x):
            return {key: describe(value) for key, value in x.items()}
        return {"map": [[describe(key), describe(value)] for key, value in x.items()]}
    if is_dataclass(x) and not isinstance(x, type):
        return {"class": _name(type(x)), **{f.name: describe(getattr(x, f.name)) for f in fields(x) if _kept(x, f)}}
    if callable(x) and hasattr(x, "__qualname__") and not inspect.ismethod(x):
        return _function(x)
    return {"opaque": f"{type(x).__module__}:{type(x).__qualname__}"}


def _kept(x: Any, f: Field[Any]) -> bool:
    """Whether a field is described: one may say that it is only if it is given."""
    return f.init and not (f.metadata.get("described") == "if given" and getattr(x, f.name) is None)


def _array(x: np.ndarray) -> dict[str, Any]:
    values = x.tolist() if x.dtype.kind != "f" or np.all(np.isfinite(x)) else _worded(x.tolist())
    data: dict[str, Any] = {"array": values}
    if x.dtype != np.float64:
        data["dtype"] = x.dtype.name
    if not x.size:
        data["shape"] = list(x.shape)
    return data


def _worded(x: Any) -> Any:
    """Numbers in nested lists, with those that JSON does not have as strings."""
    return [_worded(item) for item in x] if isinstance(x, list) else x if np.isfinite(x) else repr(x)


def _function(f: Callable[..., Any]) -> dict[str, Any]:
    data = {"function": f"{f.__module__}:{f.__qualname__}", "code": fingerprint(f)}
    if code := getattr(f, "__code__", None):
        data["where"] = f"{PurePath(code.co_filename).name}:{code.co_firstlineno}"
    return data


def _name(cls: type) -> str:
    """The name of a class, with its module unless it is one of Poinsot's."""
    return cls.__name__ if known().get(cls.__name__) is cls else f"{cls.__module__}:{cls.__qualname__}"


def known() -> dict[str, type]:
    """The classes that can be restored without importing anything; Poinsot's by their own names."""
    classes: dict[str, type] = {cls.__name__: cls for cls in OWN}
    for cls in (*subclasses(Element), *subclasses(Shape)):
        ours = cls.__module__.partition(".")[0] == "poinsot"
        classes[cls.__name__ if ours else f"{cls.__module__}:{cls.__qualname__}"] = cls
    return classes


@cache
def parts_of_elements() -> dict[str, type]:
    """Poinsot's other dataclasses that elements may hold, by "module:Class"."""
    return {
        f"{module}:{cls.__qualname__}": cls
        for module, content in list(sys.modules.items())
        if module.startswith(ROOMS)
        for cls in vars(content).values()
        if isinstance(cls, type) and cls.__module__ == module and is_dataclass(cls)
    }


def subclasses(base: Any) -> Iterator[Any]:
    """All classes below this one, each before those below it."""
    for cls in base.__subclasses__():
        yield cls
        yield from subclasses(cls)


# And back.


def restore(data: Any, allow_code: bool = False, owner: str = "the description") -> Any:
    """The inverse of `describe`. allow_code: import functions and classes by the names in the data."""
    if isinstance(data, list):
        return tuple(restore(item, allow_code, owner) for item in data)
    if not isinstance(data, dict):
        return data
    if "class" in data:
        return _instance(data, allow_code, owner)
    if "array" in data:
        array = np.array(data["array"], dtype=data.get("dtype", "float64"))
        array = array.reshape(data["shape"]) if "shape" in data else array
        array.setflags(write=False)
        return array
    if "number" in data:
        return float(data["number"])
    if "function" in data:
        return _imported_function(data, allow_code, owner)
    if "opaque" in data:
        return Missing(owner, data, f"{owner} holds an object of {data['opaque']}, which a file cannot hold.")
    pairs = data["map"] if "map" in data else data.items()
    return {restore(k, allow_code, owner): restore(v, allow_code, owner) for k, v in pairs}


def _instance(data: Mapping[str, Any], allow_code: bool, owner: str) -> Any:
    name = data["class"]
    if isinstance(data.get("name"), str) and data["name"]:
        owner = f"{name.rpartition(':')[2]} {data['name']!r}"
    cls = known().get(name) or parts_of_elements().get(name)
    if cls is None:
        imported_class, why = _find(name, allow_code)
        if not (isinstance(imported_class, type) and is_dataclass(imported_class)):
            why = why or "it is not a dataclass"
            why = f"{owner} needs the class {name!r}, which is missing: {why}."
            return Missing(data.get("name") or owner, dict(data), why)
        cls = imported_class
    names = [f.name for f in fields(cls) if f.init]
    for key in data:
        if key != "class" and key not in names:
            raise ValueError(f"{owner}: {cls.__name__} has no {key!r}{hint(key, names)}.")
    values = {key: restore(value, allow_code, owner) for key, value in data.items() if key != "class"}
    try:
        made = cls(**values)
    except TypeError as error:
        raise ValueError(f"{owner} cannot be made: {error}") from error
    for key, value in values.items():  # a constructor may round, as it normalizes a quaternion: keep the bits
        if isinstance(value, np.ndarray) and np.shape(getattr(made, key)) == value.shape:
            object.__setattr__(made, key, value)
    return made


def _imported_function(data: Mapping[str, Any], allow_code: bool, owner: str) -> Any:
    reference = data["function"]
    where = f" ({data['where']})" if "where" in data else ""
    if "<" in reference:
        why = "it cannot be imported by name; define it with def at the top level of a module"
    else:
        function, why = _find(reference, allow_code)
        if function is not None and not callable(function):
            why = "it is not a function"
        elif function is not None and fingerprint(function) != data.get("code"):
            why = "it has changed"
        elif function is not None:
            return function
    return Missing(owner, dict(data), f"{owner} needs the function {reference!r}{where}, which is missing: {why}.")


def _find(reference: str, allow_code: bool) -> tuple[Any, str]:
    """The object that "module:name" names, or None and the reason."""
    if not allow_code and not _is_mechanics(reference):
        return None, "files may import code only if loaded with allow_code=True"
    try:
        return imported(reference), ""
    except Exception as error:  # whatever the module raises when it is imported
        return None, str(error) or type(error).__name__


def _is_mechanics(reference: str) -> bool:
    """Whether "module:name" is a function of Poinsot's mechanics, of numbers, such as `pt.afterburning_spool`."""
    module, _, name = reference.partition(":")
    found = vars(sys.modules[module]).get(name) if module.startswith(MECHANICS) and module in sys.modules else None
    return inspect.isfunction(found) and found.__module__ == module


def imported(reference: str) -> Any:
    """The function or class that "module:name" names; the name may have dots, through classes of that module alone."""
    module, _, name = reference.partition(":")
    found: Any = importlib.import_module(module)
    for k, part in enumerate(name.split(".")):
        if k and not (isinstance(found, type) and found.__module__ == module):
            raise AttributeError(f"{'.'.join(name.split('.')[:k])!r} is not a class of {module!r}")
        if part not in vars(found) and not (k == 0 and hasattr(found, part)):
            raise AttributeError(f"{module!r} has no attribute {name!r}")
        found = getattr(found, part)
    return found


def table_name(cls: type) -> str:
    """JointStop is written as joint_stop, PD as pd."""
    return re.sub(r"(?<=[a-z])(?=[A-Z])", "_", cls.__name__).lower()
