"""Layers of positions: bodies, joints, ghosts, trails, frames, centres of mass, names."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from poinsot._types import Array
from poinsot.parts import Element
from poinsot.show import triangles as draw
from poinsot.show.beams import skins
from poinsot.show.elements import broken, hollow
from poinsot.show.ensembles import FEW_FACES, coarser, paths
from poinsot.show.looks import bone, is_point
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
    Surface,
    Track,
    aimed,
)
from poinsot.show.robots import collision_looks
from poinsot.show.triangles import Triangles, joined
from poinsot.spatial import Pose, quaternion

if TYPE_CHECKING:
    from poinsot.show.picture import Picture

MOST_TRAILS = 12
POINT = 0.018  # the radius of the heaviest point mass, relative to the size of the picture
GHOST = 0.16  # opacity
FLASHES = 16
SKIN = (222, 228, 234)  # of beams: light wings are seen before ground and sky
BROKEN = (220, 38, 38)
COLLIDES = (52, 168, 110)
APART = 0.6  # a joint this far from its body, in reaches of it, is joined to it by a rod
AT_JOINT = 0.1  # unless the body is around its joint: a centre of mass this near to it, in the same reaches
PALER = 0.5  # share of white in the second tone of a round body
FEW = 8  # point masses: up to so many have colours of their own
CROWD = 400  # point masses: more than that are small, and of few triangles
IN_SPACE = (255, 214, 102)  # trails before a dark sky


def bodies(picture: "Picture") -> Iterator[Mark]:
    """Every body as its shapes; point masses as balls with volumes proportional to their masses."""
    records, hulls = picture.records, hollow(picture)
    exceeded = dict.fromkeys(records.names) | broken(picture)
    bent = {name for chain in picture.beams for name in chain}
    yield from skins(picture, SKIN, exceeded, hulls)
    for k, link in enumerate(records.mechanism.links):
        if link.name in bent:
            continue
        track, over = Track(records.positions[:, 0, k], records.wxyz[:, 0, k]), exceeded[link.name]
        for part, (colour, surface) in enumerate(_surfaces(picture, k)):
            hue = None if over is None else np.where(over[:, None], BROKEN, colour)
            name, opacity = f"{link.name}/{part}" if part else link.name, hulls.get(link.name, 1.0)
            yield Surface(name, surface, track, colour, opacity, body=link.name, hue=hue)
    yield from _points(picture)


def collisions(picture: "Picture") -> Iterator[Mark]:
    """The shapes that may touch, translucent: of contacts, and those of the files of robots."""
    records = picture.records
    shapes = collision_looks(picture.robots, records.description)
    for k, name in enumerate(records.names):
        found = [look.triangles for look in shapes.get(name, [])]
        if found:
            track = Track(records.positions[:, 0, k], records.wxyz[:, 0, k])
            yield Surface(name, joined(found), track, COLLIDES, 0.4, body=name, shadow=False)


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
            yield from _arm(picture, k, track)
        elif kind.is_rotation:
            yield Surface(link.name, draw.ball(1.2 * size, around=24), track, STEEL, body=link.name)
            yield from _arm(picture, k, track)
        elif kind.units == ("m",):
            yield from _strut(picture, k, track)


def _arm(picture: "Picture", k: int, track: Track) -> Iterator[Mark]:
    """A thin rod from a joint to a body whose shapes do not come near it, as the string of a pendulum."""
    link = picture.records.mechanism.links[k]
    looks = [look.triangles.vertices for look in picture.looks[link.name]]
    if not looks or link.inertia is None or link.name in picture.chosen_looks:
        return
    gap = float(np.linalg.norm(np.concatenate(looks), axis=1).min())
    if gap > APART * picture.reaches[k] and np.linalg.norm(link.inertia.com) > AT_JOINT * picture.reaches[k]:
        yield Surface(
            f"{link.name} arm", bone(link.inertia.com, 0.06 * picture.reaches[k]), track, STEEL, body=link.name
        )


def _strut(picture: "Picture", k: int, track: Track) -> Iterator[Mark]:
    """A rod from a body that slides to its parent, over the gap between their shapes across the axis, as they were
    placed; the boxes around the shapes decide."""
    link = picture.records.mechanism.links[k]
    own = [look.triangles.vertices for look in picture.looks[link.name]]
    parents = [] if link.parent is None else [look.triangles.vertices for look in picture.looks[link.parent]]
    if not own or not parents:
        return
    X, kind = link.placement, link.joint.type
    a = np.concatenate(own) @ X.R.T + X.p
    b = np.concatenate(parents)
    low, high = np.maximum(a.min(axis=0), b.min(axis=0)), np.minimum(a.max(axis=0), b.max(axis=0))
    middle, gap = (low + high) / 2, np.maximum(low - high, 0.0)
    axis = X.R @ kind.subspace(link.joint, kind.neutral(link.joint))[3:, 0]
    length, side = float(gap.max()), int(np.argmax(gap))
    if length < 1e-3 * picture.reaches[k] or np.count_nonzero(gap) > 1 or abs(axis[side]) > 1e-6:
        return
    rod = draw.cylinder(0.07 * picture.reaches[k], 1.04 * length).moved(Pose.from_quaternion(aimed(np.eye(3)[side])))
    place = X.inverse() @ Pose(p=middle)
    yield Surface(f"{link.name} strut", rod.moved(place), track, STEEL, body=link.name)


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
    """The other instances: translucent, or solid where they are side by side; in the colours of the ensemble."""
    records = picture.records
    n = len(records.numbers) - 1
    if n < 1:
        return
    yield from paths(picture)
    apart, tints = picture.offsets[1:], picture.tints
    solid = picture.ensemble is not None and picture.ensemble.gap > 0
    surfaces = [(k, *part) for k in range(len(records.names)) for part in _surfaces(picture, k)]
    most = FEW_FACES // (n * max(len(surfaces), 1))
    for part, (k, colour, surface) in enumerate(surfaces):
        positions, wxyz = records.positions[:, 1:, k] + apart, records.wxyz[:, 1:, k]
        colours = np.tile(np.array(colour), (n, 1)) if tints is None else tints[1:]
        yield Copies(
            f"{records.names[k]}/{part}", coarser(surface, max(most, 24)), positions, wxyz, np.ones((1, n, 3)), colours,
            1.0 if solid else GHOST, shadow=False,
        )  # fmt: skip


def _surfaces(picture: "Picture", k: int) -> list[tuple[Colour, Triangles]]:
    """The surfaces of a body, those of one colour joined."""
    by_colour: dict[Colour, list[Triangles]] = {}
    for look in picture.looks[picture.records.names[k]]:
        colour = look.colour or BODIES[k % len(BODIES)]
        by_colour.setdefault(_paler(colour) if look.pale else colour, []).append(look.triangles)
    return [(colour, joined(parts)) for colour, parts in by_colour.items()]


def _points(picture: "Picture") -> Iterator[Mark]:
    records = picture.records
    links = records.mechanism.links
    points = [k for k, link in enumerate(links) if is_point(link.inertia) and not picture.looks[link.name]]
    if not points:
        return
    masses = np.array([links[k].inertia.mass for k in points])  # type: ignore[union-attr]
    few = len(points) <= FEW
    largest = min((1.8 if few else 1.0) * POINT * picture.size, 0.3 * picture.unit)
    if len(points) > CROWD:  # so that those of a sheet do not hide the springs between them
        largest = min(largest, 0.25 * picture.size / float(np.sqrt(len(points))))
    radii = largest * np.cbrt(masses / masses.max())
    positions = records.positions[:, 0, points]
    wxyz = np.broadcast_to(quaternion.identity(), (1, len(points), 4))
    scales = np.repeat(radii[None, :, None], 3, axis=2)
    colours = np.array([BODIES[k % len(BODIES)] if few else STEEL for k in points])
    yield Copies("points", draw.ball(around=24 if len(points) <= CROWD else 10), positions, wxyz, scales, colours)


def tracked_points(picture: "Picture") -> dict[str, Array]:
    """The points (3,) [m] of bodies whose paths are drawn: by default the centres of mass of the ends of trees."""
    if picture.trails is not None:
        return {name: np.asarray(point, dtype=float) for name, point in picture.trails.items()}
    links = picture.records.mechanism.links
    parents = {link.parent for link in links}
    ends = [link for link in links if link.name not in parents and link.inertia is not None]
    ends = [] if len(ends) > MOST_TRAILS else ends
    return {link.name: np.asarray(link.inertia.com) for link in ends}  # type: ignore[union-attr]


def trail_style(picture: "Picture", body: str) -> tuple[Colour, float]:
    """The colour and the width [m] of the path of a body."""
    records = picture.records
    in_space = isinstance(records.description.gravity, Element)
    colour = IN_SPACE if in_space else _darker(_colour_of(picture, records.index(body)))
    return colour, min(0.004 * picture.size, 0.012 * picture.unit)


def trails(picture: "Picture") -> Iterator[Mark]:
    """Paths of points of bodies."""
    for name, point in tracked_points(picture).items():
        points = trail_points(picture, name, point)
        if np.ptp(points, axis=0).max() > 1e-6 * picture.size:
            yield Path(name, points, *trail_style(picture, name), trail_frame(picture))


def trail_points(picture: "Picture", body: str, point: Array) -> Array:
    """The path (r, 3) [m] of a point of a body, in the frame of the trails."""
    records, k = picture.records, picture.records.index(body)
    points = records.positions[:, 0, k] + quaternion.rotate(records.wxyz[:, 0, k], point)
    low = picture.below is not None and picture.below.always
    return picture.below.fixed(records.time, points, picture.below.foot) if low else points  # type: ignore[union-attr]


def trail_frame(picture: "Picture") -> Track:
    """The frame of the trails: the world, or for a flight that stays low over the Earth one that turns with it."""
    below = picture.below
    return below.carried(picture.records.time, below.foot) if below and below.always else Track.at(np.zeros(3))


def _colour_of(picture: "Picture", k: int) -> Colour:
    surfaces = _surfaces(picture, k)
    few = len(picture.records.names) <= FEW
    return surfaces[0][0] if surfaces else BODIES[k % len(BODIES)] if few else STEEL


def _paler(colour: Colour) -> Colour:
    r, g, b = (int(c + PALER * (255 - c)) for c in colour)
    return r, g, b


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
