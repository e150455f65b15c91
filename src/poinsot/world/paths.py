"""Paths: the names by which every number of a description can be read, replaced and left free.

wing.mass, wing.radius     mass properties; a body made of one shape is made anew from its numbers
wing.position, wing.q      the initial state of a body
plane.start.altitude       the same, of a body with a start
wing.joint.damping         its joint; also wing.damping
wing.placement.p           where the joint sits on the parent
strut.stiffness            an element
plane.left.contents        a part on a body
plane.aero.coefficients.CL a number in a dict of an element
gravity, gravity[2]        an entry of an array
earth.mu                   the Earth, in a world around it
elevator                   an input, by its name
wing.moment[0,1]           an entry of a matrix; both products of inertia of a pair of axes
"""

import re
from collections.abc import Iterable, Mapping
from dataclasses import fields, is_dataclass, replace
from itertools import groupby
from typing import Any

import numpy as np

from poinsot._hints import hint
from poinsot._types import Array
from poinsot.fuse import is_traced
from poinsot.mechanism import Joint
from poinsot.parts import Element
from poinsot.spatial import Inertia, Pose
from poinsot.spatial.arrays import as_array, finite
from poinsot.world.description import Body, Description

Key = str | int
ENTRY = r"\[\d+(?:, ?\d+)*\]"  # [2] or [0,1]
PATH = rf"[^\[\].\s]+(\.[^\[\].\s]+|{ENTRY})*"
PLACED = ("position", "orientation", "velocity", "angular_velocity")


def read(description: Description, path: str) -> Array:
    """The number or array at this path."""
    owner, keys = _owner(description, path)
    value = _get(owner, keys, path)
    if not _is_number(value):
        raise ValueError(f"{path} is {_told(value)}, not a number that could be varied.{_offer(description, path)}")
    return as_array(value)


def write(description: Description, numbers: Mapping[str, Any]) -> Description:
    """The description with other numbers at these paths, in whatever order they come.

    A number that does not fit to the old ones, as an inner radius, is written after those that it fits to.
    """
    for _, group in groupby(sorted(numbers, key=_order), key=lambda path: _order(path)[:3]):
        waiting = list(group)
        while waiting:
            refused: dict[str, ValueError] = {}
            for path in waiting:
                try:
                    description = _written(description, path, numbers[path])
                except ValueError as error:
                    refused[path] = error
            if len(refused) == len(waiting):
                raise next(iter(refused.values()))
            waiting = list(refused)
    return description


def _written(description: Description, path: str, value: Any) -> Description:
    """The description with another number at this path."""
    owner, keys = _owner(description, path)
    changed = _put(owner, keys, value, path)
    if isinstance(owner, Description):
        finite(path, as_array(value))
        new: Description = changed
        return new
    kind = "bodies" if isinstance(owner, Body) else "elements"
    name = next(name for name, item in getattr(description, kind).items() if item is owner)
    items = {**getattr(description, kind), name: changed}
    return replace(description, **{kind: items})  # type: ignore[arg-type]


def _order(path: str) -> tuple[bool, bool, int, str]:
    """The order of writing: numbers of shapes first, then com, then moment; and arrays before their entries."""
    *_, last = re.split(r"[.]", re.sub(ENTRY, "", path))
    return last == "moment", last == "com", path.count("["), path


def known(description: Description) -> list[str]:
    """All paths of finite numbers."""
    names = _of_gravity(description)
    for name, body in description.bodies.items():
        names += _of_body(name, body)
    for name, element in description.elements.items():
        names += _of_element(name, element)
    return [*names, *description.inputs]


def is_known(description: Description, path: str) -> bool:
    """Whether it is one of these paths."""
    if path in _of_gravity(description) or path in description.inputs:
        return True
    bodies, elements = description.bodies.items(), description.elements.items()
    return any(path in _of_body(name, body) for name, body in bodies if path.startswith(f"{name}.")) or any(
        path in _of_element(name, element) for name, element in elements if path.startswith(f"{name}.")
    )


def _of_body(name: str, body: Body) -> list[str]:
    solved = body.hinge.type.position or body.hinge.type.attitude  # coordinates follow from these without a search
    names = [f"{name}.{key}" for key in _numbers_of(body) if key not in PLACED or solved]
    names += [f"{name}.{key}" for key in _of_mass(body)]
    if body.start is not None:
        names += [f"{name}.start.{key}" for key in _numbers_of(body.start)]
    names += [f"{name}.placement.p"]
    return names + [f"{name}.joint.{key}" for key in _numbers_of(body.hinge) if body.hinge.nv]


def _of_element(name: str, element: Element) -> list[str]:
    return [f"{name}.{key}" for key in (*_numbers_of(element), *_tabled_in(element))]


def _of_mass(body: Body) -> list[str]:
    """The numbers of a body's inertia, and of its only shape: the mass of wing.mass, the size of wing.size."""
    if body.inertia is None:
        return []
    solids = body.inertia.solids
    return [*_numbers_of(body.inertia), *(_numbers_of(solids[0].shape) if len(solids) == 1 else ())]


def _of_gravity(description: Description) -> list[str]:
    if description.earth is not None:
        return [f"earth.{key}" for key in _numbers_of(description.earth)]
    if isinstance(description.gravity, Element):
        return [f"gravity.{key}" for key in _numbers_of(description.gravity)]
    return ["gravity"]


def same_form(before: Description, after: Description, path: str) -> bool:
    """Whether the number at this path can be left free, and has the same shape in both descriptions."""
    whole = re.sub(f"{ENTRY}$", "", path)
    return all(whole in known(d) for d in (before, after)) and read(before, path).shape == read(after, path).shape


def entries(values: Mapping[str, Any]) -> list[str]:
    """The names of the single numbers in these: "name", and for an array "name[0]", "name[1]", ..."""
    sizes = {name: (np.ndim(value), np.size(value)) for name, value in values.items()}
    return [f"{name}[{k}]" if ndim else name for name, (ndim, size) in sizes.items() for k in range(size)]


def _numbers_of(item: Any) -> list[str]:
    numbers = {name: x for name in _names_of(item) if _is_number(x := getattr(item, name))}
    fixed = getattr(item, "structural", ())
    return [name for name, x in numbers.items() if name not in fixed and (is_traced(x) or np.all(np.isfinite(x)))]


def _tabled_in(element: Element) -> list[str]:
    """The numbers in those dicts or dataclasses of an element that it says have numbers: "coefficients.Cmq"."""
    tables = {field: getattr(element, field) for field in element.tabled}
    several = {f: x for f, x in tables.items() if isinstance(x, tuple)}
    tables |= {f"{f}[{k}]": one for f, x in several.items() for k, one in enumerate(x)}
    tables = {f: {k: getattr(x, k) for k in _numbers_of(x)} if is_dataclass(x) else x for f, x in tables.items()}
    pairs = [(f, key, x) for f, table in tables.items() if isinstance(table, Mapping) for key, x in table.items()]
    return [f"{f}.{key}" for f, key, x in pairs if re.fullmatch(r"\w+", str(key)) and _is_number(x)]


def _names_of(item: Any) -> list[str]:
    return [f.name for f in fields(item)] + (list(item.parameters) if isinstance(item, Joint) else [])


def _is_number(value: Any) -> bool:
    if value is None or callable(value) or isinstance(value, (str, bool)) or is_dataclass(value):
        return False
    if is_traced(value):
        return True
    try:
        return np.asarray(value, dtype=float).size > 0
    except (TypeError, ValueError):
        return False


def _owner(description: Description, path: str) -> tuple[Any, list[Key]]:
    """The body, element or description that the path starts at, and the keys that lead on from there."""
    if not isinstance(path, str) or not re.fullmatch(PATH, path):
        raise ValueError(f"{path!r} is not a path to a number; paths look like 'wing.mass' or 'wing.position[2]'.")
    for name in sorted(description.elements, key=len, reverse=True):
        if path.startswith((name + ".", name + "[")):
            return description.elements[name], _keys(path[len(name) :])
    if element := description.elements.get(path):
        numbers = ", ".join(f"{path}.{name}" for name in _numbers_of(element)) or "none"
        raise KeyError(f"{path} is of the kind {type(element).__name__}; the paths of its numbers: {numbers}.")
    head = re.split(r"[.\[]", path, maxsplit=1)[0]
    if head in description.bodies:
        return description.bodies[head], _keys(path[len(head) :])
    if head == "gravity":
        return description, _keys("." + path)
    if head == "earth" and description.earth is not None:
        return description, ["gravity", *_keys("." + path)]
    if head in description.inputs:
        return description, ["inputs", *_keys("." + path)]
    raise KeyError(
        f"{path}: nothing is called {head!r}.{_of_robot(description, path, head) or _offer(description, path)}"
    )


def _of_robot(description: Description, path: str, head: str) -> str:
    """How to reach the joints of a robot whose bodies have names that begin with this one; empty if none has."""
    moving = [name for name, body in description.bodies.items() if name.startswith(head) and body.hinge.nv]
    if len(moving) < 2:
        return ""
    rest = path[len(head) :]
    ways = ", ".join(f"{name}{rest}" for name in moving[:3])
    return f" {len(moving)} bodies on joints have names that begin so, each with a path of its own: {ways}, ..."


def _keys(text: str) -> list[Key]:
    """The keys in ".moment[0,1]", or ".moment[0][1]": "moment", 0, 1."""
    keys: list[Key] = []
    for key in re.findall(rf"\.[^.\[]+|{ENTRY}", text):
        keys += map(int, key[1:-1].split(",")) if key.startswith("[") else [key[1:]]
    return keys


def owner_of(description: Description, path: str) -> Any:
    """The body, element or description that the number at this path belongs to."""
    return _owner(description, path)[0]


def places(path: str) -> list[tuple[int, ...]]:
    """The indices of the entries that a path "wing.moment[0,1]" leads to: a pair of products of inertia is one number.

    None for a whole array.
    """
    at: tuple[int, ...] = tuple(key for key in _keys("." + path) if isinstance(key, int))
    return [] if not at else [at, at[::-1]] if len(set(at)) > 1 else [at]


def require_different(description: Description, paths: Iterable[str]) -> None:
    """An error if two of these paths lead to the same number, of which only one would count."""
    known: dict[tuple[int, tuple[Key, ...]], str] = {}
    for path in paths:
        if (place := _place(description, path)) in known:
            raise ValueError(f"{known[place]} and {path} are the same number: give one of them.")
        known[place] = path


def _place(description: Description, path: str) -> tuple[int, tuple[Key, ...]]:
    """Whose number is at a path, and all keys that lead to it, whichever short way is written."""
    owner, keys = _owner(description, path)
    item, whole = owner, []  # type: Any, list[Key]
    for key in keys:
        for k in _lead(item, key):
            item, whole = _step(item, k, path), [*whole, k]
    at = [key for key in whole if isinstance(key, int)]
    if "moment" in whole:  # products of inertia come in equal pairs
        whole = [*(key for key in whole if not isinstance(key, int)), *sorted(at)]
    return id(owner), tuple(whole)


def _offer(description: Description, path: str) -> str:
    return hint(path, known(description)).replace("; did", " Did") + (
        "" if hint(path, known(description)) else " world.paths() lists all."
    )


def _lead(item: Any, key: Key) -> list[Key]:
    """The keys that a short one stands for: wing.mass is wing.inertia.mass, wing.radius that of its only shape."""
    if isinstance(item, Body) and key not in {f.name for f in fields(item)}:
        inertia, joint = item.inertia, item.hinge
        if inertia is not None and (hasattr(inertia, str(key)) or _lead(inertia, key) != [key]):
            return ["inertia", *_lead(inertia, key)]
        if key in _names_of(joint):
            return ["joint", key]
    if isinstance(item, Inertia) and len(item.solids) == 1:
        if key == "mass":
            return ["solids", 0, "mass"]
        if key in {f.name for f in fields(item.solids[0].shape)}:
            return ["solids", 0, "shape", key]
    return [key]


def _get(item: Any, keys: list[Key], path: str) -> Any:
    for key in keys:
        for k in _lead(item, key):
            item = _step(item, k, path)
    return item


def _step(item: Any, key: Key, path: str) -> Any:
    try:
        return item[key] if isinstance(key, int) or isinstance(item, Mapping) else getattr(item, key)
    except (AttributeError, IndexError, KeyError, TypeError):
        names = _names_of(item) if is_dataclass(item) else []
        if isinstance(item, Body):
            names = [*names, *_of_mass(item)]
        near = _axis(item, key, path) or hint(str(key), names)
        raise KeyError(f"{path}: {key!r} does not exist there{near or '.'}") from None


def _axis(item: Any, key: Key, path: str) -> str:
    """How to write the entry of a vector or quaternion that is asked for as its x, y, z or w."""
    letters = {3: "xyz", 4: "wxyz"}.get(np.size(item) if _is_number(item) and np.ndim(item) == 1 else 0, "")
    if len(str(key)) != 1 or str(key) not in letters or not path.endswith(f".{key}"):
        return ""
    return f"; did you mean '{path[:-2]}[{letters.index(str(key))}]'?"


def _put(item: Any, keys: list[Key], value: Any, path: str) -> Any:
    if not keys:
        return _fitting(item, value, path)
    if len(lead := _lead(item, keys[0])) > 1:
        return _put(item, [*lead, *keys[1:]], value, path)
    key = keys[0]
    new = _put(_step(item, key, path), keys[1:], value, path)
    if isinstance(item, Inertia) and key == "moment" and len(set(keys[1:])) == 2:
        new = _put(new, [*keys[:0:-1]], value, path)  # products of inertia come in equal pairs
    if isinstance(key, int):
        return (*item[:key], new, *item[key + 1 :]) if isinstance(item, tuple) else _entry(as_array(item), key, new)
    if isinstance(item, Mapping):
        return {**item, key: as_array(new)}
    if isinstance(item, Inertia):
        return _remade(item, key, new)
    if isinstance(item, Pose):
        return Pose(**{"R": item.R, "p": item.p, key: new})
    if isinstance(item, Joint):
        return item.changed(key, new)
    return replace(item, **{key: new})


def _told(value: Any) -> str:
    """Something that is not a number, in a word."""
    return repr(value) if value is None or isinstance(value, str | bool) else f"of the kind {type(value).__name__}"


def _fitting(old: Any, value: Any, path: str) -> Any:
    """The new value, if it has the shape of the old one."""
    new = as_array(value)
    if np.shape(old) == (1,) and np.shape(new) == ():
        new = np.reshape(new, (1,))  # a joint with one coordinate: its q is written as a plain number
    if old is not None and not _is_number(old):
        raise ValueError(f"{path} is {_told(old)}, not a number that could be varied.")
    if old is not None and np.shape(new) != np.shape(old):
        raise ValueError(f"{path} has the shape {np.shape(old)}; a value of shape {np.shape(new)} does not fit.")
    if not is_traced(new) and np.ndim(new) == 0:
        return float(new)
    return new


def _entry(array: Array, k: int, value: Any) -> Array:
    return np.stack([as_array(value) if i == k else array[i] for i in range(len(array))])


def _remade(inertia: Inertia, key: str, value: Any) -> Inertia:
    """Mass properties with one number changed: from their shapes, where the number is one of a shape."""
    if key == "solids":
        first, *others = value
        whole: Inertia = sum((solid.inertia() for solid in others), start=first.inertia())
        return whole
    if key == "mass" and inertia.solids:
        scaled: Inertia = (value / inertia.mass) * inertia
        return scaled
    if key == "com":
        return Pose.unchecked(np.eye(3), value - inertia.com) @ inertia
    return replace(inertia, **{key: value, "solids": ()})
