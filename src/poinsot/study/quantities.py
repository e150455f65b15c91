"""One number over time out of many, by a short name: "box.position.z", "arm.q", "plane.left.contents", "energy"."""

from typing import Any

import numpy as np

from poinsot.mechanism.model import hint
from poinsot.world import Description

FRONT = ("time", "batch")


def pick(data: Any, name: str) -> Any:
    """The xarray.DataArray (time,) or (time, batch) that a name means in the data of a run or sweep."""
    found = _named(data, name)
    if found is None:
        known = names(data)
        near = hint(name, known)
        raise ValueError(f"{name!r} was not recorded{near or '; there are ' + ', '.join(known[:40])}.")
    return found


def expand(data: Any, name: str) -> list[str]:
    """The names of the numbers of a quantity: "box.position" is box.position.x, .y and .z. None, if it is not there."""
    known = names(data)
    return [name] if name in known else [n for n in known if n.startswith((f"{name}.", f"{name}["))]


def names(data: Any) -> list[str]:
    """All such names."""
    found = []
    for quantity, array in data.data_vars.items():
        dims = [dim for dim in array.dims if dim not in FRONT]
        if "time" not in array.dims:
            continue
        if not dims:
            found.append(str(quantity))
        elif dims[0] == "body":
            rest = [f".{x}" for x in _labels(array, dims[1])] if dims[1:] else [""]
            found += [f"{body}.{quantity}{end}" for body in _labels(array, "body") for end in rest]
        elif dims[0] in ("coordinate", "freedom"):
            found += [_joint(label, str(quantity)) for label in _labels(array, dims[0])]
        else:
            found += [f"{quantity}.{label}" for label in _labels(array, dims[0])]
    return found


def _labels(array: Any, dim: str) -> list[str]:
    return [str(x) for x in array[dim].values] if dim in array.coords else [str(k) for k in range(array.sizes[dim])]


def _joint(label: str, quantity: str) -> str:
    """ "box[3]" and "q" make "box.q[3]"."""
    body, bracket, rest = label.partition("[")
    return f"{body}.{quantity}{bracket}{rest}"


def _named(data: Any, name: str) -> Any:
    for quantity, array in data.data_vars.items():
        dims = [dim for dim in array.dims if dim not in FRONT]
        if "time" not in array.dims:
            continue
        if not dims and name == quantity:
            return array
        if dims and dims[0] == "body":
            for k, body in enumerate(_labels(array, "body")):
                start = f"{body}.{quantity}"
                if name == start and not dims[1:]:
                    return array.isel(body=k)
                for j, label in enumerate(_labels(array, dims[1]) if dims[1:] else ()):
                    if name == f"{start}.{label}":
                        return array.isel({"body": k, dims[1]: j})
        elif dims and dims[0] in ("coordinate", "freedom"):
            for k, label in enumerate(_labels(array, dims[0])):
                if name == _joint(label, str(quantity)):
                    return array.isel({dims[0]: k})
        elif len(dims) == 1 and name.startswith(f"{quantity}."):
            for k, label in enumerate(_labels(array, dims[0])):
                if name == f"{quantity}.{label}":
                    return array.isel({dims[0]: k})
    return None


def unit_of(array: Any, name: str, description: Description | None = None) -> str:
    """The unit of a picked quantity; where it depends on the joint, of "rad, m" the one that fits, if it is known."""
    units = str(array.attrs.get("units", "")).split(", ")
    body = description.bodies.get(name.partition(".")[0]) if description is not None else None
    if len(units) > 1 and body is not None and body.hinge.nv == 1:
        units = units[:1] if body.hinge.kind in ("revolute", "helical") else units[1:2]
    return "" if units == ["1"] else " or ".join(units)


def crossings(time: Any, x: Any) -> Any:
    """The times [s] at which x (r,) changes its sign, on straight lines between records."""
    before = np.flatnonzero(x[:-1] * x[1:] < 0)
    share = x[before] / (x[before] - x[before + 1])
    return time[before] + share * np.diff(time)[before]
