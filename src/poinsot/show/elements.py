"""The layer of parts: a table of how each kind of element is drawn."""

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from poinsot._types import Array
from poinsot.parts import WORLD, Element, Jet, Limit, Rotor, SolidMotor, Spring, Tank, Thruster
from poinsot.show import triangles as draw
from poinsot.show.marks import INK, STEEL, Copies, Lines, Mark, Surface, Track, aimed
from poinsot.spatial import Pose, quaternion

if TYPE_CHECKING:
    from poinsot.show.picture import Picture

Drawing = Callable[[Sequence[Any], "Picture"], Iterator[Mark]]

MOST_COILS = 60  # more springs than this are drawn as straight lines
TURNS = 9
FASTEST = 15.0  # rad/s, the largest speed at which a rotor is drawn
GLASS, LIQUID, FLAME = (196, 211, 228), (64, 128, 200), (240, 140, 40)
SLACK, PULLED, PUSHED = np.array([150, 158, 170]), np.array([205, 52, 66]), np.array([36, 98, 186])


def springs(springs: Sequence[Spring], picture: "Picture") -> Iterator[Mark]:
    """Coils that stretch; lines if there are many springs, red in tension and blue in compression."""
    a = np.stack([point_of(picture, s.a, s.point_a) for s in springs], axis=1)
    b = np.stack([point_of(picture, s.b, s.point_b) for s in springs], axis=1)
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


def rotors(rotors: Sequence[Rotor], picture: "Picture") -> Iterator[Mark]:
    """Propellers at the centres of mass, rotating no faster than the eye can follow."""
    records = picture.records
    for rotor in rotors:
        k = records.index(rotor.body)
        radius = 0.45 * (picture.reaches[k] or picture.unit)
        speed = _state(picture, rotor, "speed", rotor.speed)
        speed = np.clip(speed, -FASTEST, FASTEST)
        steps = np.diff(records.time) * (speed[1:] + speed[:-1]) / 2
        angle = np.concatenate([[0.0], np.cumsum(steps)])
        spin = np.stack([np.cos(angle / 2), 0 * angle, 0 * angle, np.sin(angle / 2)], axis=-1)
        wxyz = quaternion.product(records.wxyz[:, 0, k], quaternion.product(aimed(np.asarray(rotor.axis, float)), spin))
        blades = [draw.box((2 * radius, 0.16 * radius, 0.03 * radius)), draw.cylinder(0.13 * radius, 0.16 * radius)]
        yield Surface(rotor.name, draw.joined(blades), Track(records.centres[:, 0, k], wxyz), INK, body=rotor.body)


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
    """Flames with lengths proportional to the thrust."""
    cone = draw.revolved([(0.0, 0.0), (0.16, 0.0)], [(0.16, 0.0), (0.0, 1.0)])
    records, forces = picture.records, [picture.records.of(t.name, "force")[:, 0] for t in thrusters]
    most = max(float(np.linalg.norm(np.stack(forces), axis=-1).max()), 1e-300)
    for thruster, f in zip(thrusters, forces, strict=True):
        k = records.index(thruster.body)
        along = quaternion.rotate(records.wxyz[:, 0, k], -f)
        length = np.maximum(np.linalg.norm(f, axis=-1) / most * 1.2 * picture.unit, 1e-6 * picture.unit)
        scales = np.repeat(length[:, None], 3, axis=1)
        at = point_of(picture, thruster.body, thruster.point)
        colours = np.array([FLAME])
        yield Copies(
            thruster.name, cone, at[:, None], aimed(along)[:, None], scales[:, None], colours, 0.8, shadow=False
        )


def _state(picture: "Picture", element: Element, key: str, otherwise: Any) -> Array:
    """A state of an element over the records (r,), or the constant `otherwise`."""
    if key in element.states():
        return picture.records.of(element.name, key)[:, 0]
    return np.full(len(picture.records.time), float(otherwise))


# How each kind of element is drawn, all of that kind at once. A new part is one row.
DRAWN: dict[type[Element], Drawing] = {
    Spring: springs,
    Rotor: rotors,
    Tank: tanks,
    Thruster: thrusters,
    Jet: thrusters,
    SolidMotor: thrusters,
}


def parts(picture: "Picture") -> Iterator[Mark]:
    """All elements that can be drawn."""
    elements = picture.records.description.elements.values()
    for kind, drawing in DRAWN.items():
        of_kind = [element for element in elements if type(element) is kind]
        if of_kind:
            yield from drawing(of_kind, picture)


def broken(picture: "Picture", body: str) -> Array | None:
    """Whether a body has been loaded beyond a limit of its structure, at each record (r,); None if it has no limit."""
    elements = picture.records.description.elements
    broken = None
    for element in elements.values():
        if isinstance(element, Limit):
            cut = elements.get(element.cut) or elements.get(f"{element.body}.{element.cut}")
            if body in (element.body, getattr(cut, "body", None)):
                latched = picture.records.of(element.name, "latched")[:, 0] > 0.5
                broken = latched if broken is None else broken | latched
    return broken


def point_of(picture: "Picture", body: str, point: Any) -> Array:
    """The position of a point of a body, or of the world, at each record, (r, 3)."""
    records, p = picture.records, np.asarray(point, dtype=float)
    if body == WORLD:
        return np.broadcast_to(p, (len(records.time), 3))
    k = records.index(body)
    return records.positions[:, 0, k] + quaternion.rotate(records.wxyz[:, 0, k], p)


def _tinted(tension: Array) -> Array:
    """Colours (r, n, 3) of tensions (r, n), grey at zero."""
    share = np.clip(tension / max(float(np.quantile(np.abs(tension), 0.98)), 1e-300), -1, 1)[..., None]
    return np.where(share > 0, SLACK + share * (PULLED - SLACK), SLACK - share * (PUSHED - SLACK))
