"""Mechanisms written as scenario files, exact to the bit."""

import json
import math
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from poinsot.files.dimensions import OF_JOINTS
from poinsot.mechanism import Joint, Link, Mechanism


def scenario_text(mech: Mechanism, title: str, duration: float = 5.0) -> str:
    """A scenario with the links of a mechanism as bodies, at rest in its neutral configuration."""
    head = {"title": title, "gravity": mech.gravity}
    tables = [_lines(head), _header("[run]", {"duration": duration, "step": 1e-3})]
    tables += [_header("[[body]]", _body(link)) for link in mech.links]
    return "\n\n".join(tables) + "\n"


def _header(name: str, keys: Mapping[str, Any]) -> str:
    return f"{name}\n{_lines(keys)}"


def _lines(keys: Mapping[str, Any]) -> str:
    return "\n".join(f"{key} = {toml(value)}" for key, value in keys.items())


def _body(link: Link) -> dict[str, Any]:
    table: dict[str, Any] = {"name": link.name}
    if link.inertia is not None:
        I = link.inertia
        table["inertia"] = {"mass": I.mass, "com": I.com, "moment": I.moment}
        if I.check != "error":
            table["inertia"]["check"] = I.check
    if link.parent is not None:
        table["parent"] = link.parent
    table["joint"] = dict(_joint(link.joint))
    X = link.placement
    placement = {} if not np.any(X.p) else {"position": X.p}
    if not np.array_equal(X.R, np.eye(3)):
        placement["orientation"] = X.quaternion()
    return table | ({"placement": placement} if placement else {})


def _joint(joint: Joint) -> Iterator[tuple[str, Any]]:
    yield "kind", joint.kind
    yield from zip(joint.type.axes, joint.axes, strict=False)  # a joint may have more axes, which follow from these
    yield from joint.parameters.items()
    for name in OF_JOINTS if joint.nv else ():
        value = getattr(joint, name)
        if np.any(np.asarray(value) != getattr(Joint, name)):  # the default
            yield name, value


def toml(x: Any) -> str:
    """A value as TOML writes it; numbers with all their bits."""
    if isinstance(x, bool):
        return "true" if x else "false"
    if isinstance(x, str):
        whole = x.encode("utf-8", "replace").decode()  # names of files may hold halves of characters
        return json.dumps(whole, ensure_ascii=False).replace("\x7f", "\\u007f")
    if isinstance(x, Mapping):
        return "{ " + ", ".join(f"{key} = {toml(value)}" for key, value in x.items()) + " }"
    if isinstance(x, np.ndarray):
        return toml(x.tolist())
    if isinstance(x, (list, tuple)):
        return "[" + ", ".join(map(toml, x)) + "]"
    number = x.item() if isinstance(x, np.generic) else x
    if isinstance(number, float):
        return repr(number) if math.isfinite(number) else f"{number}"
    return str(number)
