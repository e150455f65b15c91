"""Mechanisms written as scenario files, exact to the bit."""

import itertools
import json
import math
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from poinsot.mechanism import Joint, Link, Mechanism
from poinsot.world.description import check_name
from poinsot.world.dimensions import OF_JOINTS
from poinsot.world.model_stops import stops_of, within_limits


def scenario_text(mech: Mechanism, title: str, duration: float = 5.0) -> str:
    """A scenario with the links of a mechanism as bodies, at rest in its neutral configuration, or as near to it as its
    limits allow, which act as stops: the world that `World.add_mechanism` makes. Links need `fitting_names`."""
    head = {"title": title, "gravity": mech.gravity}
    tables = [_lines(head), _header("[run]", {"duration": duration, "step": 1e-3})]
    q, neutral = within_limits(mech), mech.neutral()
    stops = {stop.joint: stop for stop in stops_of(mech, q, "")}
    for link, where in zip(mech.links, mech.q_slices, strict=True):
        start = {} if np.array_equal(q[where], neutral[where]) else {"q": q[where]}
        tables.append(_header("[[body]]", _body(link) | start))
        if stop := stops.get(link.name):
            keys = {"name": "stop", "stiffness": stop.stiffness, "damping": stop.damping}
            tables.append(_header("[[body.joint_stop]]", keys))
    return "\n\n".join(tables) + "\n"


def fitting_names(mech: Mechanism) -> tuple[Mechanism, dict[str, str]]:
    """The mechanism with names that bodies can have, and the new names of those links that could not keep theirs."""
    taken, changed = {link.name for link in mech.links if _fits(link.name)}, {}  # type: set[str], dict[str, str]
    for link in mech.links:
        if not _fits(link.name):
            seen = "".join(c if c.isprintable() and not c.isspace() and c not in ".[]" else "_" for c in link.name)
            names = (f"{seen or 'link'}{k or ''}" for k in itertools.count())
            changed[link.name] = next(name for name in names if name not in taken and _fits(name))
            taken.add(changed[link.name])
    links = [
        replace(link, name=changed.get(link.name, link.name), parent=changed.get(str(link.parent), link.parent))
        for link in mech.links
    ]
    return (Mechanism(tuple(links), mech.gravity) if changed else mech), changed


def _fits(name: str) -> bool:
    try:
        check_name("a body", name)
    except ValueError:
        return False
    return True


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
