"""Things that turn, so that it can be seen: rotors and wheels no faster than the eye can follow, round bodies in two
tones."""

from typing import TYPE_CHECKING

import numpy as np

from poinsot._types import Array
from poinsot.mechanism import Link
from poinsot.show.triangles import Triangles
from poinsot.spatial import shapes
from poinsot.spatial.inertia import Inertia

if TYPE_CHECKING:
    from poinsot.show.picture import Picture

FASTEST = 15.0  # rad/s, the largest speed at which a rotor or wheel is drawn
SECTORS = 8  # of a round body, in two tones
ROUND = (shapes.Sphere, shapes.Cylinder, shapes.Cone, shapes.Capsule, shapes.Disc)
CLOSE = 1e-6


def spun(picture: "Picture", name: str, speed: Array) -> Array:
    """The rotations (r, 4) about z of what turns at the speeds (r,) [rad/s], slowed down so that the eye can follow.

    A live picture has the state of now alone: it goes on from the angle of the picture before.
    """
    slow = np.clip(np.nan_to_num(speed), -FASTEST, FASTEST)
    time = picture.records.time
    if picture.base is None:
        angle = np.concatenate([[0.0], np.cumsum(np.diff(time) * (slow[1:] + slow[:-1]) / 2)])
    else:
        before, angle_before = picture.base.angles.get(name, (float(time[0]), 0.0))
        last = angle_before + float(slow[0]) * max(float(time[0]) - before, 0.0)
        picture.base.angles[name] = (float(time[0]), last % (4 * np.pi))
        angle = np.full(len(time), last)
    return np.stack([np.cos(angle / 2), 0 * angle, 0 * angle, np.sin(angle / 2)], axis=-1)


def axis_of(inertia: Inertia | None, link: Link) -> Array | None:
    """The axis (3,) about which a body made of round solids can turn without a change of its outline; None if it has
    none, or its joint does not let it turn about it."""
    solids = [] if inertia is None else inertia.solids
    if not solids or not all(isinstance(s.shape, ROUND) for s in solids):
        return None
    long = [s for s in solids if not isinstance(s.shape, shapes.Sphere)]
    axis, through = (long[0].pose.R[:, 2], long[0].pose.p) if long else (np.array([0.0, 0.0, 1.0]), solids[0].pose.p)
    size = max(float(np.linalg.norm(s.pose.p - through)) for s in solids) or 1.0
    for s in solids:
        off = s.pose.p - through
        if np.linalg.norm(np.cross(axis, off)) > CLOSE * size:
            return None
        if any(s is other for other in long) and np.linalg.norm(np.cross(axis, s.pose.R[:, 2])) > CLOSE:
            return None
    return np.asarray(axis) if _turns(link, axis, through) else None


def _turns(link: Link, axis: Array, through: Array) -> bool:
    """Whether a joint lets its body turn about a line of it: freely, or as a hinge on that line."""
    kind = link.joint.type
    S = np.asarray(kind.subspace(link.joint, kind.neutral(link.joint)), dtype=float)
    rotations = S[:3]
    if np.linalg.matrix_rank(rotations, CLOSE) == 3:
        return True
    along = np.linalg.norm(axis @ rotations) > 1 - CLOSE
    return bool(along and np.linalg.norm(np.cross(axis, through)) < CLOSE)


def sectors(surface: Triangles, axis: Array, through: Array) -> tuple[Triangles, Triangles]:
    """A surface about an axis through a point, split into every other sector and the rest."""
    first = np.linalg.svd(axis[None])[2][1]
    middles = surface.vertices[surface.faces].mean(axis=1) - through
    angle = np.arctan2(middles @ np.cross(axis, first), middles @ first)
    odd = np.floor(angle * SECTORS / (2 * np.pi)).astype(int) % 2 == 1
    return Triangles(surface.vertices, surface.faces[odd]), Triangles(surface.vertices, surface.faces[~odd])
