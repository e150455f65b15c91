"""Layers of positions: bodies, joints, ghosts, ground, trails, frames, centres of mass, names."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from poinsot._types import Array
from poinsot.environment import Contact
from poinsot.parts import Element
from poinsot.show import triangles as draw
from poinsot.show.beams import skins
from poinsot.show.elements import broken, hollow
from poinsot.show.looks import is_point
from poinsot.show.marks import (
    BODIES,
    INK,
    STEEL,
    Axes,
    Colour,
    Copies,
    Label,
    Mark,
    Path,
    Plane,
    Surface,
    Track,
    aimed,
)
from poinsot.show.triangles import Triangles, joined
from poinsot.spatial import Pose, quaternion

if TYPE_CHECKING:
    from poinsot.show.picture import Picture

MOST_TRAILS = 12
POINT = 0.018  # the radius of the heaviest point mass, relative to the size of the picture
GHOST = 0.16  # opacity
FLASHES = 16
BROKEN = (220, 38, 38)
IN_SPACE = (255, 214, 102)  # trails before a dark sky


def bodies(picture: "Picture") -> Iterator[Mark]:
    """Every body as its shapes; point masses as balls with volumes proportional to their masses."""
    records, hulls = picture.records, hollow(picture)
    exceeded = {name: broken(picture, name) for name in records.names}
    bent = {name for chain in picture.beams for name in chain}
    yield from skins(picture, BODIES[5], exceeded, hulls)
    for k, link in enumerate(records.mechanism.links):
        if link.name in bent:
            continue
        track, over = Track(records.positions[:, 0, k], records.wxyz[:, 0, k]), exceeded[link.name]
        for part, (colour, surface) in enumerate(_surfaces(picture, k)):
            hue = None if over is None else np.where(over[:, None], BROKEN, colour)
            name, opacity = f"{link.name}/{part}" if part else link.name, hulls.get(link.name, 1.0)
            yield Surface(name, surface, track, colour, opacity, body=link.name, hue=hue)
    yield from _points(picture)


def joints(picture: "Picture") -> Iterator[Mark]:
    """A pin along each axis of rotation, a ball for a joint that rotates about all axes."""
    records = picture.records
    bent = {name for chain in picture.beams for name in chain}
    for k, link in enumerate(records.mechanism.links):
        if link.name in bent:
            continue
        size = 0.11 * min(picture.unit, picture.reaches[k] or picture.unit)
        track = Track(records.positions[:, 0, k], records.wxyz[:, 0, k])
        kind = link.joint.type
        if "rad" in kind.units and not kind.is_group:
            last = len(kind.units) - 1 - kind.units[::-1].index("rad")
            axis = kind.subspace(link.joint, kind.neutral(link.joint))[:3, last]
            pin = draw.cylinder(size, 2.6 * size).moved(Pose.from_quaternion(aimed(axis)))
            yield Surface(link.name, pin, track, STEEL, body=link.name)
        elif kind.is_rotation:
            yield Surface(link.name, draw.ball(1.2 * size, around=24), track, STEEL, body=link.name)


def exposures(picture: "Picture") -> Iterator[Mark]:
    """Bodies at some earlier and later times, translucent, like a stroboscopic photograph."""
    records = picture.records
    at = np.unique(np.linspace(0, len(records.time) - 1, FLASHES).astype(int))
    for k, link in enumerate(records.mechanism.links):
        positions, wxyz = records.positions[at, 0, k][None], records.wxyz[at, 0, k][None]
        for part, (colour, surface) in enumerate(_surfaces(picture, k)):
            name = f"{link.name}/{part}" if part else link.name
            colours, ones = np.tile(np.array(colour), (len(at), 1)), np.ones((1, len(at), 3))
            yield Copies(name, surface, positions, wxyz, ones, colours, GHOST, shadow=False)


def ghosts(picture: "Picture") -> Iterator[Mark]:
    """The other instances, translucent."""
    records = picture.records
    if len(records.numbers) < 2:
        return
    for k, link in enumerate(records.mechanism.links):
        positions, wxyz = records.positions[:, 1:, k], records.wxyz[:, 1:, k]
        n = positions.shape[1]
        for part, (colour, surface) in enumerate(_surfaces(picture, k)):
            name = f"{link.name}/{part}" if part else link.name
            colours = np.tile(np.array(colour), (n, 1))
            yield Copies(name, surface, positions, wxyz, np.ones((1, n, 3)), colours, GHOST, shadow=False)


def _surfaces(picture: "Picture", k: int) -> list[tuple[Colour, Triangles]]:
    """The surfaces of a body, those of one colour joined."""
    by_colour: dict[Colour, list[Triangles]] = {}
    for look in picture.looks[picture.records.names[k]]:
        by_colour.setdefault(look.colour or BODIES[k % len(BODIES)], []).append(look.triangles)
    return [(colour, joined(parts)) for colour, parts in by_colour.items()]


def _points(picture: "Picture") -> Iterator[Mark]:
    records = picture.records
    links = records.mechanism.links
    points = [k for k, link in enumerate(links) if is_point(link.inertia) and not picture.looks[link.name]]
    if not points:
        return
    masses = np.array([links[k].inertia.mass for k in points])  # type: ignore[union-attr]
    radii = min(POINT * picture.size, 0.25 * picture.unit) * np.cbrt(masses / masses.max())
    positions = records.positions[:, 0, points]
    wxyz = np.broadcast_to(quaternion.identity(), (1, len(points), 4))
    scales, colours = np.repeat(radii[None, :, None], 3, axis=2), np.tile(np.array(STEEL), (len(points), 1))
    yield Copies("points", draw.ball(around=24), positions, wxyz, scales, colours)


def ground(picture: "Picture") -> Iterator[Mark]:
    """The ground planes of contacts; without any, if there is gravity, a grid below all bodies."""
    planes: dict[tuple[float, ...], tuple[Array, float]] = {}
    for element in picture.records.description.elements.values():
        if isinstance(element, Contact):
            n = np.asarray(element.normal, dtype=float)
            n = n / np.linalg.norm(n)
            planes[(*np.round(n, 9), round(float(element.height), 9))] = (n, float(element.height))
    cell = _nice(picture.size / 3)
    for k, (n, height) in enumerate(planes.values()):
        foot = picture.centre + (height - n @ picture.centre) * n
        yield Plane(f"ground {k}" if k else "ground", Track.at(foot, aimed(n)), 40 * cell, cell)
    if not planes and np.any(picture.records.mechanism.gravity):
        up, (low, high) = picture.up, picture.bounds
        lowest = float(up @ np.where(up > 0, low, high))
        stands = abs(lowest) < 0.01 * picture.size  # on the plane through the world's origin
        lowest -= 0.0 if stands else 0.04 * picture.size
        foot = picture.centre + (lowest - up @ picture.centre) * up
        yield Plane("grid", Track.at(foot, aimed(up)), 40 * cell, cell, solid=False)


def _nice(length: float) -> float:
    """A round number near a length: 1, 2 or 5 times a power of ten."""
    power = 10.0 ** np.floor(np.log10(length))
    return float(power * min((1, 2, 5, 10), key=lambda d: abs(np.log(d * power / length))))


def trails(picture: "Picture") -> Iterator[Mark]:
    """Paths of points of bodies."""
    records = picture.records
    tracked = picture.trails
    if tracked is None:
        parents = {link.parent for link in records.mechanism.links}
        ends = [link for link in records.mechanism.links if link.name not in parents and link.inertia is not None]
        ends = [] if len(ends) > MOST_TRAILS else ends
        tracked = {link.name: link.inertia.com for link in ends}  # type: ignore[union-attr]
    for name, point in tracked.items():
        k = records.index(name)
        points = records.positions[:, 0, k] + quaternion.rotate(records.wxyz[:, 0, k], np.asarray(point, dtype=float))
        if np.ptp(points, axis=0).max() > 1e-6 * picture.size:
            still = Track.at(np.zeros(3))
            colour = IN_SPACE if isinstance(records.description.gravity, Element) else _darker(_colour_of(picture, k))
            yield Path(name, points, colour, min(0.004 * picture.size, 0.02 * picture.unit), still)


def _colour_of(picture: "Picture", k: int) -> Colour:
    surfaces = _surfaces(picture, k)
    return surfaces[0][0] if surfaces else STEEL


def _darker(colour: Colour) -> Colour:
    r, g, b = (int(0.85 * c) for c in colour)
    return r, g, b


def frames(picture: "Picture") -> Iterator[Mark]:
    """The frames of bodies that can rotate."""
    records = picture.records
    rotating = [
        k for k, link in enumerate(records.mechanism.links) if not link.joint.type.position or link.joint.type.attitude
    ]
    if rotating:
        yield Axes("frames", records.positions[:, 0, rotating], records.wxyz[:, 0, rotating], 0.9 * picture.unit)


def centres(picture: "Picture") -> Iterator[Mark]:
    """A dark ball at each centre of mass."""
    records = picture.records
    heavy = [
        k for k, link in enumerate(records.mechanism.links) if link.inertia is not None and not is_point(link.inertia)
    ]
    if heavy:
        n = len(heavy)
        wxyz = np.broadcast_to(quaternion.identity(), (1, n, 4))
        scales, colours = np.full((1, n, 3), 0.07 * picture.unit), np.tile(np.array(INK), (n, 1))
        yield Copies("centres", draw.ball(around=24), records.centres[:, 0, heavy], wxyz, scales, colours)


def names(picture: "Picture") -> Iterator[Mark]:
    """The name of each body at its centre of mass."""
    for k, name in enumerate(picture.records.names):
        yield Label(name, name, Track.at(picture.records.centres[:, 0, k]), 0.3 * picture.unit)
