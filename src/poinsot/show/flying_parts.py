"""Parts of what flies: control surfaces that turn, propellers, parachutes that open, legs with their wheels."""

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np

from poinsot._types import Array
from poinsot.parts import Aero, Gear, Parachute, Propeller, Strip, Wing
from poinsot.show import triangles as draw
from poinsot.show.airframes import foils_of
from poinsot.show.foils import Flap, flaps
from poinsot.show.marks import INK, PALE, STEEL, Copies, Lines, Mark, Surface, Track, aimed
from poinsot.show.turning import spun
from poinsot.spatial import Pose, quaternion

if TYPE_CHECKING:
    from poinsot.show.picture import Picture

MOVED, CANOPY, DISC = (236, 178, 74), (224, 104, 60), (120, 132, 148)
STEEPEST = 1.6  # a surface that is told more than this is told degrees, not radians
DRAG = 1.5  # the drag coefficient of a canopy by the area of its opening: Knacke, hemispherical
LINES = 12  # of a parachute, drawn
ABOUT = {"aileron": "aileron", "elevator": "elevator", "rudder": "rudder"}  # inputs of coefficients, and what they turn


def surfaces(foils: Sequence[Strip | Wing], picture: "Picture") -> Iterator[Mark]:
    """The flaps of strips and wings, turned by their deflections."""
    for foil in foils:
        found = [flap for flap in flaps(foil) if flap.body not in picture.chosen_looks]
        if not found:
            continue
        angle = picture.records.told(foil.name, "deflection")
        for k, flap in enumerate(found):
            yield _turned(picture, f"{foil.name} flap {k}", flap, angle)


def of_coefficients(aeros: Sequence[Aero], picture: "Picture") -> Iterator[Mark]:
    """The control surfaces of an aeroplane that is known by its coefficients alone, turned by inputs of their names."""
    description = picture.records.description
    for aero in aeros:
        if aero.body in picture.chosen_looks:
            continue
        for foil in foils_of(description, aero.body):
            if foil.name in ABOUT and foil.name not in description.elements:
                named = next((key for key in aero.inputs if ABOUT[foil.name] in key.lower()), None)
                angle = np.zeros(len(picture.records.time))
                angle = angle if named is None else picture.records.told(aero.name, "inputs", named)
                angle = np.radians(angle) if np.abs(angle).max(initial=0.0) > STEEPEST else angle
                for k, flap in enumerate(flaps(foil)):
                    yield _turned(picture, f"{aero.name} {foil.name} {k}", flap, angle)


def _turned(picture: "Picture", name: str, flap: Flap, angle: Array) -> Surface:
    """A flap at its angle [rad] over the records (r,)."""
    records = picture.records
    b = records.index(flap.body)
    half = 0.5 * flap.sign * np.clip(np.nan_to_num(angle), -STEEPEST, STEEPEST)
    turn = np.concatenate([np.cos(half)[:, None], np.sin(half)[:, None] * flap.axis], axis=1)
    place = records.positions[:, 0, b] + quaternion.rotate(records.wxyz[:, 0, b], flap.hinge)
    track = Track(place, quaternion.product(records.wxyz[:, 0, b], turn))
    return Surface(name, flap.triangles, track, MOVED, body=flap.body)


def propellers(propellers: Sequence[Propeller], picture: "Picture") -> Iterator[Mark]:
    """Blades that turn, and the disc that they sweep."""
    records = picture.records
    for one in propellers:
        axis = np.asarray(one.axis, dtype=float)
        k, radius, hand = records.index(one.body), 0.5 * float(one.diameter), 1.0 if one.hand == "right" else -1.0
        speed = records.state(one, "speed", 0.0 if callable(one.speed) else one.speed)
        place, facing = records.point(one.body, one.point), quaternion.product(records.wxyz[:, 0, k], aimed(axis))
        turned = Track(place, quaternion.product(facing, spun(picture, one.name, hand * speed)))
        yield Surface(one.name, blades(radius), turned, INK, body=one.body)
        yield Surface(
            f"{one.name} disc", draw.cylinder(radius, 0.01 * radius), Track(place, facing), DISC, 0.22, one.body, False
        )


def blades(radius: float) -> draw.Triangles:
    """Two blades and a spinner, about z."""
    back, spinner = [(0.0, -0.12), (0.13, -0.12)], [(0.13, -0.12), (0.11, 0.06), (0.0, 0.24)]
    return draw.joined([draw.box((2.0, 0.13, 0.03)), draw.revolved(back, spinner)]).scaled(radius)


def parachutes(parachutes: Sequence[Parachute], picture: "Picture") -> Iterator[Mark]:
    """A canopy that opens, downwind of the point where it is tied on, and its lines."""
    dome = draw.revolved([(np.cos(a), np.sin(a)) for a in np.linspace(0, np.pi / 2, 14)], around=40).scaled((1, 1, 0.8))
    angle = 2 * np.pi * np.arange(LINES) / LINES
    rim = np.stack([np.cos(angle), np.sin(angle), 0 * angle], axis=-1)
    for one in parachutes:
        records = picture.records
        share = np.clip(records.of(one.name, "open")[:, 0], 0.0, 1.0)
        radius = np.sqrt(max(float(one.CdS), 0.0) * share / (DRAG * np.pi))
        whole = np.sqrt(max(float(one.CdS), 0.0) / (DRAG * np.pi))
        wind = -records.flow(one.body, one.point)
        away = wind / np.maximum(np.linalg.norm(wind, axis=1, keepdims=True), 1e-9)
        tied, facing = records.point(one.body, one.point), aimed(away)
        base = tied + 2.2 * whole * np.sqrt(share)[:, None] * away
        scales = np.maximum(radius, 1e-9)[:, None, None] * np.ones((1, 1, 3))
        yield Copies(one.name, dome, base[:, None], facing[:, None], scales, np.array([CANOPY]))
        ends = base[:, None] + quaternion.rotate(facing[:, None], radius[:, None, None] * rim)
        lines = np.stack([np.broadcast_to(tied[:, None], ends.shape), ends], axis=2)
        width = 0.01 * max(whole, 1e-6)
        yield Lines(f"{one.name} lines", lines, np.array(PALE)[None, None] * 0.75, width, Track.at(np.zeros(3)))


def gears(gears: Sequence[Gear], picture: "Picture") -> Iterator[Mark]:
    """Wheels on struts that give, steered, turning while they roll; out of sight while they are up."""
    records = picture.records
    for leg in gears:
        k, up, ahead = records.index(leg.body), _unit(leg.up), _unit(leg.forward)
        s = records.state(leg, "strut", 0.0)
        shown = np.where(records.told(leg.name, "down") > 0.5, 1.0, 1e-9)
        turn, point = records.told(leg.name, "steering"), np.asarray(leg.point, dtype=float)
        heading = np.cos(turn)[:, None] * ahead + np.sin(turn)[:, None] * np.cross(ahead, up)
        wxyz, r = records.wxyz[:, 0, k], float(leg.radius)
        axle = records.positions[:, 0, k] + quaternion.rotate(wxyz, point + s[:, None] * up)
        side = quaternion.rotate(wxyz, np.cross(heading, up))
        big = shown[:, None, None] * np.ones((1, 1, 3))
        rolls = quaternion.product(aimed(side), spun(picture, leg.name, _rolling(picture, leg, heading)))[:, None]
        yield Copies(f"{leg.name} wheel", _tyre(r), axle[:, None], rolls, big, np.array([INK]))
        yield Copies(f"{leg.name} spokes", _spokes(r), axle[:, None], rolls, big, np.array([PALE]))
        link = records.mechanism.links[k]
        hull = 0.0 if link.inertia is None else float(up @ (link.inertia.com - point))
        long = np.maximum(max(hull, float(leg.stroke) + 2 * r) - s, 0.1 * r)
        wide = np.full_like(long, 0.22 * r)
        scales = shown[:, None] * np.stack([wide, wide, long], axis=-1)
        strut = draw.cylinder(1.0, 1.0).moved(Pose(p=(0.0, 0.0, 0.5)))
        along = aimed(quaternion.rotate(wxyz, up))
        yield Copies(f"{leg.name} strut", strut, axle[:, None], along[:, None], scales[:, None], np.array([STEEL]))


def _rolling(picture: "Picture", leg: Gear, heading: Array) -> Array:
    """How fast (r,) [rad/s] a wheel turns about heading x up: with the ground below it while it carries something."""
    records = picture.records
    k, point = records.index(leg.body), np.asarray(leg.point, dtype=float)
    arm = quaternion.rotate(records.wxyz[:, 0, k], point)
    v = records.velocities[:, 0, k] + np.cross(records.angular_velocities[:, 0, k], arm)
    earth = records.description.earth
    v = v if earth is None else v - np.cross([0.0, 0.0, earth.rate], records.positions[:, 0, k])
    ahead = np.sum(v * quaternion.rotate(records.wxyz[:, 0, k], heading), axis=1)
    return np.where(records.of(leg.name, "load")[:, 0] > 0, -ahead / float(leg.radius), 0.0)


def _spokes(r: float) -> draw.Triangles:
    """A star that stands out of both sides of a wheel about z."""
    turned = (Pose.from_quaternion((np.cos(a), 0.0, 0.0, np.sin(a))) for a in np.pi * np.arange(3) / 6)
    return draw.joined([draw.box((0.98, 0.13, 0.53)).moved(X) for X in turned]).scaled(r)


def _tyre(r: float) -> draw.Triangles:
    """A wheel about z."""
    rim = [(0.0, -0.2), (0.55, -0.24)], [(0.55, -0.24), (0.85, -0.26), (1.0, -0.12), (1.0, 0.12), (0.85, 0.26)]
    return draw.revolved(*rim, [(0.85, 0.26), (0.55, 0.24), (0.0, 0.2)]).scaled(r)


def _unit(direction: object) -> Array:
    d = np.asarray(direction, dtype=float)
    return np.asarray(d / np.linalg.norm(d))
