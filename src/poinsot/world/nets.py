"""Nets: worlds of many point masses and springs, as arrays over the masses and over the springs.

The equations of motion of such a world are those of one spring and of one mass, many times over,

    T = k (l - l_0) + c l',   m x'' = m g + sum of T n,

so that they are evaluated in loops, by number, and not written out spring by spring.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from poinsot._errors import FieldError
from poinsot._memo import memo
from poinsot._types import Array
from poinsot.fuse import in_memory
from poinsot.particles.network import interleaved
from poinsot.parts import WORLD, Element, Spring
from poinsot.world.description import Body, Description

LEAST = 64  # springs, from which on loops pay: fewer are written out
NUMBERS = ("stiffness", "rest_length", "damping")
_PATH = re.compile(r"(?P<owner>[^\[\]]+)\.(?P<field>\w+)(?:\[(?P<entry>[012])\])?")


@dataclass(frozen=True, eq=False)
class SpringRows:
    """Springs of one law, by number: `first` (e,) and `second` (e,) are the masses that they join, and `numbers`
    (3, e) their stiffness [N/m], rest length [m] and damping [N s/m].

    If they are anchored, `second` is empty, and the other ends rest at `anchors` (3, e) [m]. `law`: a custom tension.
    `damped`: whether the tension depends on the rate of the length.
    """

    names: tuple[str, ...]
    first: Array
    second: Array
    anchors: Array
    numbers: Array
    law: Any
    damped: bool

    @property
    def anchored(self) -> bool:
        return not len(self.second)

    def __len__(self) -> int:
        return len(self.names)


@dataclass(frozen=True, eq=False)
class Net:
    """Point masses by number, mass (n,) [kg], in uniform gravity (3,) [m/s^2], and the springs between them.

    q (3 n,) and v (3 n,) hold the positions and velocities of the masses, one after the other.
    """

    mass: Array
    gravity: Array
    springs: tuple[SpringRows, ...]
    places: Mapping[str, tuple[Any, ...]]  # of numbers that may vary, by path: the array and the index

    def __len__(self) -> int:
        return len(self.mass)

    @cached_property
    def arrays(self) -> dict[Any, Array]:
        """All arrays of numbers, by key."""
        numbers = {(k, "numbers"): rows.numbers for k, rows in enumerate(self.springs)}
        anchors = {(k, "anchors"): rows.anchors for k, rows in enumerate(self.springs)}
        return {"mass": self.mass, "gravity": self.gravity} | numbers | anchors

    @property
    def damped(self) -> bool:
        """Whether forces depend on velocities."""
        return any(rows.damped for rows in self.springs)

    @property
    def has_laws(self) -> bool:
        """Whether some springs have a law of their own."""
        return any(rows.law is not None for rows in self.springs)

    def holding(self, arrays: Mapping[Any, Array]) -> "Net":
        """The net with other arrays of numbers."""
        rows = tuple(
            replace(r, numbers=arrays[k, "numbers"], anchors=arrays[k, "anchors"]) for k, r in enumerate(self.springs)
        )
        return replace(self, mass=arrays["mass"], gravity=arrays["gravity"], springs=rows)


@memo
def net_of(description: Description, free: tuple[str, ...]) -> Net | None:
    """The net that a world is, with these numbers left free; None if there are few springs, or anything else in it."""
    springs = description.elements
    if len(springs) < LEAST or isinstance(description.gravity, Element):
        return None
    if not all(map(_is_point, description.bodies.values())) or not all(map(_is_plain, springs.values())):
        return None
    number = {name: k for k, name in enumerate(description.bodies)}
    if any(end not in number for s in springs.values() for end in s.bodies()):
        return None  # an error elsewhere
    rows = tuple(_rows(springs, number, {path.removesuffix(".damping") for path in free}))
    mass = np.array([body.inertia.mass for body in description.bodies.values()])  # type: ignore[union-attr]
    places = _places(description, number, rows, free)
    return None if places is None else Net(mass, description.field, rows, places)


def _is_point(body: Body) -> bool:
    """Whether a body is a bare point mass."""
    inertia, joint, X = body.inertia, body.hinge, body.placement
    return (
        body.parent is None
        and joint.type.position
        and not joint.type.attitude
        and inertia is not None
        and body.start is None
        and body.q is None
        and body.v is None
        and body.position is not None
        and body.velocity is not None
        and not (np.any(inertia.com) or np.any(inertia.moment) or np.any(X.p) or np.any(np.eye(3) != X.R))
        and not any(np.any(x) for x in (joint.stiffness, joint.damping, joint.friction, joint.armature))
    )


def _is_plain(element: Element) -> bool:
    """Whether an element is a spring between the points of masses, or from one to a point at rest."""
    if type(element) is not Spring:
        return False
    ends = ((element.a, element.point_a), (element.b, element.point_b))
    return not any(np.any(point) for name, point in ends if name != WORLD)


def _rows(springs: Mapping[str, Any], number: Mapping[str, int], open: set[str]) -> Iterator[SpringRows]:
    """The springs in groups of one law and kind, each in an order in which neighbours share no mass; `open`: those
    whose damping is left free."""
    groups: dict[Any, list[Spring]] = {}
    for spring in springs.values():
        groups.setdefault((WORLD in (spring.a, spring.b), spring.tension), []).append(spring)
    for (anchored, law), members in groups.items():
        if anchored:
            first = np.array([number[s.b if s.a == WORLD else s.a] for s in members])
            anchors = np.array([s.point_a if s.a == WORLD else s.point_b for s in members], dtype=float).T
            second, order = np.zeros(0, int), np.arange(len(members))
        else:
            first, second = np.array([(number[s.a], number[s.b]) for s in members]).T
            anchors, order = np.zeros((3, 0)), interleaved(np.sort(np.stack([first, second], axis=1), axis=1))
            second = second[order]
        numbers = np.array([[getattr(members[k], name) for k in order] for name in NUMBERS], dtype=float)
        names = tuple(members[k].name for k in order)
        damped = law is not None or bool(np.any(numbers[2])) or not open.isdisjoint(names)
        yield SpringRows(names, first[order], second, anchors, numbers, law, damped)


def _places(
    description: Description, number: Mapping[str, int], rows: tuple[SpringRows, ...], free: tuple[str, ...]
) -> dict[str, tuple[Any, ...]] | None:
    """Where the numbers at these paths are: the key of an array and the index; None if one is elsewhere."""
    if not free:
        return {}
    spring = {name: (k, e) for k, group in enumerate(rows) for e, name in enumerate(group.names)}
    found: dict[str, tuple[Any, ...]] = {}
    for path in free:
        whole = re.fullmatch(r"gravity(?:\[([012])\])?", path)
        if whole is not None:
            found[path] = ("gravity", (slice(None) if whole[1] is None else int(whole[1]),))
            continue
        match = _PATH.fullmatch(path)
        if match is None:
            return None
        owner, field, entry = match["owner"], match["field"], match["entry"]
        if owner in spring:
            k, e = spring[owner]
            at_rest = {"point_a": description.elements[owner].a, "point_b": description.elements[owner].b}  # type: ignore[attr-defined]
            if field in NUMBERS and entry is None:
                found[path] = ((k, "numbers"), (NUMBERS.index(field), e))
            elif at_rest.get(field) == WORLD:
                found[path] = ((k, "anchors"), (slice(None) if entry is None else int(entry), e))
        elif owner in number and field in ("mass", "position", "velocity"):
            start = 3 * number[owner]
            if field == "mass" and entry is None:
                found[path] = ("mass", (number[owner],))
            elif field != "mass":
                found[path] = (field, (slice(start, start + 3) if entry is None else start + int(entry),))
        if path not in found:
            return None
    return found


def with_numbers(net: Net, numbers: Mapping[str, Any]) -> Net:
    """The net with traced values of free numbers in their places."""
    arrays = dict(net.arrays)
    for key in {net.places[path][0] for path in numbers} & {*arrays}:
        arrays[key] = in_memory(arrays[key])
    for path, value in numbers.items():
        key, where = net.places[path]
        if key in arrays:
            arrays[key][where] = value
    return net.holding(arrays)


def of_batch(net: Net, numbers: Mapping[str, Array], batch: tuple[int, ...]) -> Net:
    """The same for many instances: values (*batch, ...), and arrays with the batch in front where they vary."""
    arrays = dict(net.arrays)
    for key in {net.places[path][0] for path in numbers} & {*arrays}:
        arrays[key] = np.broadcast_to(arrays[key], (*batch, *arrays[key].shape)).copy()
    for path, value in numbers.items():
        key, where = net.places[path]
        if key in arrays:
            arrays[key][..., *where] = value
    return net.holding(arrays)


def started(net: Net, description: Description) -> tuple[Array, Array]:
    """q (3 n,) and v (3 n,) at the start."""
    bodies = description.bodies.values()
    q, v = (np.concatenate([getattr(body, name) for body in bodies]) for name in ("position", "velocity"))
    return q, v


def stretch(rows: SpringRows, q: Array, v: Array) -> tuple[Array, Array, Array]:
    """Length l (..., e) [m], rate l' [m/s], and unit vector n (..., e, 3) from the first mass to the other end."""
    x, u = (a.reshape(*a.shape[:-1], -1, 3) for a in (q, v))
    anchors = np.swapaxes(rows.anchors, -2, -1)
    there, moving = (anchors, 0.0) if rows.anchored else (x[..., rows.second, :], u[..., rows.second, :])
    d, w = there - x[..., rows.first, :], moving - u[..., rows.first, :]
    length = np.sqrt(np.sum(d * d, axis=-1))
    n = d * (1.0 / np.where(length > 0.0, length, 1.0))[..., None]
    return length, np.sum(n * w, axis=-1), n


def tension(rows: SpringRows, length: Any, rate: Any) -> Any:
    """T [N] of lengths and their rates."""
    k, rest, c = (rows.numbers[..., i, :] for i in range(3))
    return k * (length - rest) + c * rate if rows.law is None else rows.law(length, rate, k, rest, c)


def forces(net: Net, q: Array, v: Array) -> Array:
    """The sum of all springs' forces on each mass, (..., n, 3) [N]."""
    F = np.zeros((*q.shape[:-1], len(net), 3))
    for rows in net.springs:
        length, rate, n = stretch(rows, q, v)
        pull = tension(rows, length, rate)[..., None] * n
        flat, each = F.reshape(-1, len(net), 3), pull.reshape(-1, len(rows), 3)
        for one, f in zip(flat, each, strict=True):
            np.add.at(one, rows.first, f)
            if not rows.anchored:
                np.subtract.at(one, rows.second, f)
    return F


def check_start(net: Net, description: Description) -> None:
    """An error that names the first spring whose force at the start is not finite."""
    q, v = started(net, description)
    for rows in net.springs:
        T = np.broadcast_to(tension(rows, *stretch(rows, q, v)[:2]), (len(rows),))
        if not np.all(np.isfinite(T)):
            e = int(np.argmin(np.isfinite(T)))
            words = f"Spring {rows.names[e]!r} has the tension {T[e]} at the start: every force must be finite."
            raise FieldError(words, owner=rows.names[e])
