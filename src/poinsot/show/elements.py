"""The layer of parts: a table of how each kind of element is drawn."""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from poinsot._types import Array
from poinsot.parts import (
    WORLD,
    Aero,
    Element,
    Gear,
    Jet,
    JointStop,
    Limit,
    Parachute,
    Propeller,
    Rotor,
    SolidMotor,
    Spring,
    Strip,
    Tank,
    Thruster,
    Wing,
)
from poinsot.show import flying_parts, ranges
from poinsot.show import triangles as draw
from poinsot.show.flying_parts import blades
from poinsot.show.hand import Hand
from poinsot.show.marks import INK, RED, STEEL, Arrows, Copies, Lines, Mark, Surface, Track, aimed
from poinsot.show.turning import spun
from poinsot.spatial import Pose, quaternion
from poinsot.world import Description

if TYPE_CHECKING:
    from poinsot.show.picture import Picture

Drawing = Callable[[Sequence[Any], "Picture"], Iterator[Mark]]

MOST_COILS = 60  # more springs than this are drawn as straight lines
TURNS = 9
GLASS, LIQUID = (196, 211, 228), (240, 172, 48)
FLAME, CORE = (246, 132, 36), (255, 224, 150)
ATMOSPHERE = 1e5  # Pa
BESIDE = 0.55  # of the hull's reach along its axis: where each of several wheels is; and its size, of a single one's
HULL = 0.42  # the opacity of a body that something is inside of
PLUME = draw.revolved(
    [(0.0, 0.0), (0.8, 0.0)], [(0.8, 0.0), (1.0, 0.14), (0.8, 0.4), (0.42, 0.75), (0.0, 1.0)], around=32
)
SLACK, PULLED, PUSHED = np.array([150, 158, 170]), np.array([205, 52, 66]), np.array([36, 98, 186])


def springs(springs: Sequence[Spring], picture: "Picture") -> Iterator[Mark]:
    """Coils that stretch; lines if there are many springs, red in tension and blue in compression."""
    a = np.stack([picture.records.point(s.a, s.point_a) for s in springs], axis=1)
    b = np.stack([picture.records.point(s.b, s.point_b) for s in springs], axis=1)
    lengths = np.linalg.norm(b - a, axis=-1)
    if len(springs) > MOST_COILS:
        rest = np.array([s.rest_length for s in springs], dtype=float)
        tension = np.array([s.stiffness for s in springs], dtype=float) * (lengths - rest)
        yield Lines("springs", np.stack([a, b], axis=2), _tinted(tension), 0.005 * picture.size, Track.at(np.zeros(3)))
        return
    usual = np.array([s.rest_length or float(lengths[:, k].mean()) for k, s in enumerate(springs)])
    radius = 0.1 * np.minimum(usual, 3 * picture.unit)
    coil = draw.coil(TURNS, 1.0, 0.2, 0.2 * float(np.mean(radius / usual)))
    thick = np.broadcast_to(radius, lengths.shape)
    scales = np.stack([thick, thick, np.maximum(lengths, 1e-9)], axis=-1)
    colours = np.tile(np.array(STEEL), (len(springs), 1))
    yield Copies("springs", coil, a, aimed(b - a), scales, colours)


def anchors(description: Description) -> list[Array]:
    """The points (3,) [m] of the world that springs are fixed to."""
    ends = [
        (side, point)
        for s in description.elements.values()
        if isinstance(s, Spring)
        for side, point in ((s.a, s.point_a), (s.b, s.point_b))
    ]
    return [np.asarray(point, dtype=float) for side, point in ends if side == WORLD]


def hands(hands: Sequence[Hand], picture: "Picture") -> Iterator[Mark]:
    """The spring between the point of a body that a hand holds and where it pulls it; the force of a push."""
    records = picture.records
    for hand in hands:
        held = records.input(hand.name)  # (r, 12)
        bodies = [0, *(records.index(name) for name in hand.names)]
        number = np.clip(np.rint(held[:, 0]).astype(int), 0, len(hand.names))
        k, r = np.take(bodies, number), np.arange(len(held))
        a = records.positions[r, 0, k] + quaternion.rotate(records.wxyz[r, 0, k], held[:, 1:4])
        pulls, pushes = (number > 0) & (held[:, 7] > 0), (number > 0) & np.any(held[:, 9:12] != 0, axis=1)
        way = np.where(pulls[:, None], held[:, 4:7] - a, [0.0, 0.0, 1e-9])
        wide = np.where(pulls, 0.12 * picture.unit, 1e-9)
        scales = np.stack([wide, wide, np.linalg.norm(way, axis=1)], axis=-1)
        coil = draw.coil(TURNS, 1.0, 0.16, 0.012)
        yield Copies(
            f"{hand.name} spring", coil, a[:, None], aimed(way)[:, None], np.maximum(scales, 1e-9)[:, None],
            np.array([RED]), shadow=False,
        )  # fmt: skip
        size = np.maximum(np.linalg.norm(held[:, 9:12], axis=1, keepdims=True), 1e-300)
        arrows = np.where(pushes[:, None], 1.6 * picture.unit * held[:, 9:12] / size, 0.0)
        yield Arrows(f"{hand.name} push", (a - arrows)[:, None], arrows[:, None], RED, 0.06 * picture.unit, over=True)


def rotors(rotors: Sequence[Rotor], picture: "Picture") -> Iterator[Mark]:
    """Wheels at the centre of mass, inside a translucent hull, several beside it, each on its axis; propellers at the
    front of what flies in a uniform gravity; rotating no faster than the eye can follow."""
    records = picture.records
    wheels = Counter(rotor.body for rotor in rotors if not is_propeller(rotor, picture))
    for rotor in rotors:
        k = records.index(rotor.body)
        axis = np.asarray(rotor.axis, dtype=float)
        axis = axis / np.linalg.norm(axis)
        spin = spun(picture, rotor.name, records.state(rotor, "speed", rotor.speed))
        wxyz = quaternion.product(records.wxyz[:, 0, k], quaternion.product(aimed(axis), spin))
        ahead, radius = _on_hull(picture, k, axis)
        look, away = _wheel(radius), 0.0
        if is_propeller(rotor, picture):
            look, away = blades(0.24 * (picture.reaches[k] or picture.unit)), ahead
        elif wheels[rotor.body] > 1:
            look, away = _wheel(BESIDE * radius), BESIDE * ahead
        place = records.centres[:, 0, k] + quaternion.rotate(records.wxyz[:, 0, k], away * axis)
        yield Surface(rotor.name, look, Track(place, wxyz), INK, body=rotor.body)


def is_propeller(rotor: Rotor, picture: "Picture") -> bool:
    """Whether a rotor is drawn as a propeller: it is kept at a speed, in a uniform gravity."""
    return rotor.torque is None and bool(np.any(picture.records.mechanism.gravity))


def _wheel(radius: float) -> draw.Triangles:
    """A rim, spokes and a hub, unit lengths times the radius."""
    spokes = [draw.box((1.9, 0.1, 0.08)), draw.box((0.1, 1.9, 0.08))]
    return draw.joined([draw.cylinder(1.0, 0.16, 0.84), draw.cylinder(0.18, 0.26), *spokes]).scaled(radius)


def _on_hull(picture: "Picture", k: int, axis: Array) -> tuple[float, float]:
    """How far [m] the hull of body k reaches along an axis from its centre of mass, near the axis; and the radius [m]
    of a wheel about it that fits inside."""
    link = picture.records.mechanism.links[k]
    com = np.zeros(3) if link.inertia is None else link.inertia.com
    looks = [look.triangles.vertices for look in picture.looks[link.name]]
    if not looks:
        return picture.unit, 0.4 * picture.unit
    v = np.concatenate(looks) - com
    along = v @ axis
    aside = np.linalg.norm(v - np.outer(along, axis), axis=1)
    near = aside <= max(0.35 * float(aside.max()), float(aside.min()) * 1.001)
    inside = min(float(np.abs(v @ e).max()) for e in np.eye(3) if abs(e @ axis) < 0.9)
    return float(along[near].max()), 0.72 * inside


def hollow(picture: "Picture") -> dict[str, float]:
    """The opacity of bodies that have something to see inside: wheels and tanks."""
    inside = {}
    for element in picture.records.description.elements.values():
        if isinstance(element, Tank) or (isinstance(element, Rotor) and not is_propeller(element, picture)):
            inside[element.body] = HULL
    return inside


def tanks(tanks: Sequence[Tank], picture: "Picture") -> Iterator[Mark]:
    """Glass containers and their contents: up to a level if they settle, else shrinking towards the centre."""
    records = picture.records
    for tank in tanks:
        k = records.index(tank.body)
        full = _container(tank, picture)
        shell = full.moved(Pose(p=np.asarray(tank.position, dtype=float)))
        track = Track(records.positions[:, 0, k], records.wxyz[:, 0, k])
        yield Surface(tank.name, shell, track, GLASS, 0.25, tank.body, shadow=False)
        contents = records.of(tank.name, "contents")[:, 0]
        most = tank.capacity if np.isfinite(tank.capacity) else max(float(contents.max()), 1e-300)
        share = np.clip(contents / most, 0.0, 1.0)
        lowest = full.vertices[:, 2].min()
        where = np.tile(np.asarray(tank.position, dtype=float), (len(share), 1))
        if tank.settles:
            scales = np.stack([np.full_like(share, 0.97), np.full_like(share, 0.97), 0.97 * share], axis=-1)
            where[:, 2] += (1 - share) * lowest
        else:
            scales = np.repeat(0.97 * np.cbrt(share)[:, None], 3, axis=1)
        at = records.positions[:, 0, k] + quaternion.rotate(records.wxyz[:, 0, k], where)
        liquid = f"{tank.name} contents"
        yield Copies(
            liquid, full, at[:, None], records.wxyz[:, 0, k][:, None], np.maximum(scales, 1e-6)[:, None],
            np.array([LIQUID]),
        )  # fmt: skip


def _container(tank: Tank, picture: "Picture") -> draw.Triangles:
    if tank.size is not None:
        return draw.box(np.asarray(tank.size, dtype=float))
    if tank.radius is None:
        return draw.ball(0.12 * picture.unit, around=24)
    return draw.ball(tank.radius, around=32) if tank.height is None else draw.cylinder(tank.radius, tank.height)


def thrusters(thrusters: Sequence[Thruster | Jet | SolidMotor], picture: "Picture") -> Iterator[Mark]:
    """Flames as wide as the hull at the nozzle allows, with lengths proportional to the thrust."""
    records, forces = picture.records, [picture.records.of(t.name, "force")[:, 0] for t in thrusters]
    most = max(float(np.linalg.norm(np.stack(forces), axis=-1).max()), 1e-300)
    for thruster, f in zip(thrusters, forces, strict=True):
        k = records.index(thruster.body)
        along = quaternion.rotate(records.wxyz[:, 0, k], -f)
        share = np.linalg.norm(f, axis=-1) / most
        radius = _nozzle(picture, k, np.asarray(thruster.point, dtype=float), f[np.argmax(share)])
        lit = np.maximum(share, 1e-6)
        at = records.point(
            thruster.body, _mouth(picture, k, np.asarray(thruster.point, dtype=float), f[np.argmax(share)])
        )
        for name, colour, wide, long in (("", FLAME, 1.0, 11.0), (" core", CORE, 0.55, 6.0)):
            scales = radius * np.stack([wide * np.sqrt(lit), wide * np.sqrt(lit), long * lit], axis=-1)
            yield Copies(
                f"{thruster.name}{name}", PLUME, at[:, None], aimed(along)[:, None], scales[:, None],
                np.array([colour]), 0.75, shadow=False, glows=True,
            )  # fmt: skip


def _mouth(picture: "Picture", k: int, point: Array, force: Array) -> Array:
    """Where the flame of a nozzle starts: a point that lies inside the hull is moved back to its end."""
    looks = [look.triangles.vertices for look in picture.looks[picture.records.names[k]]]
    size = float(np.linalg.norm(force))
    if not looks or not size > 0:
        return point
    back = -force / size
    v = np.concatenate(looks) - point
    along = v @ back
    aside = np.linalg.norm(v - np.outer(along, back), axis=1)
    close = along[aside < 0.12 * (picture.reaches[k] or picture.unit)]
    inside = close.size > 0 and along.min() < 0 < close.max()
    return np.asarray(point + float(close.max()) * back if inside else point)


def _nozzle(picture: "Picture", k: int, point: Array, force: Array) -> float:
    """The radius [m] of a nozzle: that of an exit with the thrust per area of one atmosphere; at most that of the hull
    around its point, and an eighth of its reach."""
    reach = min(picture.reaches[k] or picture.unit, np.sqrt(np.linalg.norm(force) / (np.pi * ATMOSPHERE)) / 0.12)
    looks = [look.triangles.vertices for look in picture.looks[picture.records.names[k]]]
    axis = force / max(float(np.linalg.norm(force)), 1e-300)
    if not looks or not np.any(axis):
        return 0.1 * float(reach)
    v = np.concatenate(looks) - point
    along = v @ axis
    aside = np.linalg.norm(v - np.outer(along, axis), axis=1)
    close = aside[np.abs(along) < 0.2 * picture.reaches[k]]
    return float(min(0.75 * close.max() if close.size else np.inf, 0.12 * reach))


# How each kind of element is drawn, all of that kind at once. A new part is one row.
DRAWN: dict[type[Element], Drawing] = {
    Spring: springs,
    Hand: hands,
    Rotor: rotors,
    Tank: tanks,
    Thruster: thrusters,
    Jet: thrusters,
    SolidMotor: thrusters,
    Strip: flying_parts.surfaces,
    Wing: flying_parts.surfaces,
    Aero: flying_parts.of_coefficients,
    Propeller: flying_parts.propellers,
    Parachute: flying_parts.parachutes,
    Gear: flying_parts.gears,
    JointStop: ranges.stops,
}


def parts(picture: "Picture") -> Iterator[Mark]:
    """All elements that can be drawn."""
    elements = picture.records.description.elements.values()
    for kind, drawing in DRAWN.items():
        of_kind = [element for element in elements if type(element) is kind]
        if of_kind:
            yield from drawing(of_kind, picture)


def broken(picture: "Picture") -> dict[str, Array]:
    """Whether a body has been loaded beyond a limit of its structure, at each record (r,), of all that have a limit."""
    elements = picture.records.description.elements
    broken: dict[str, Array] = {}
    for element in [e for e in elements.values() if isinstance(e, Limit)]:
        cut = elements.get(element.cut) or elements.get(f"{element.body}.{element.cut}")
        latched = picture.records.of(element.name, "latched")[:, 0] > 0.5
        for body in dict.fromkeys((element.body, getattr(cut, "body", None))):
            if body is not None:
                broken[body] = broken[body] | latched if body in broken else latched
    return broken


def _tinted(tension: Array) -> Array:
    """Colours (r, n, 3) of tensions (r, n), grey at zero."""
    share = np.clip(tension / max(float(np.quantile(np.abs(tension), 0.98)), 1e-300), -1, 1)[..., None]
    return np.where(share > 0, SLACK + share * (PULLED - SLACK), SLACK - share * (PUSHED - SLACK))
