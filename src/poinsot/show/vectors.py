"""Layers of arrows: forces, torques, weights, reactions, angular momenta, angular velocities."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from poinsot._types import Array
from poinsot.environment import Contact
from poinsot.show.marks import BLUE, GREEN, GREY, ORANGE, RED, VIOLET, Arrows, Colour, Mark

if TYPE_CHECKING:
    from poinsot.show.picture import Picture

LONGEST = 1.6  # of an arrow, in units of the picture
WIDTH = 0.035


def forces(picture: "Picture") -> Iterator[Mark]:
    """Forces of elements, drawn from their line of action: on the ground, or nearest to the centre of mass."""
    starts, f, _ = _wrenches(picture)
    for k, (name, _) in enumerate(picture.records.measures.wrenches):
        contact = picture.records.description.elements.get(name)
        if isinstance(contact, Contact):
            starts[:, k] = _on_ground(contact, starts[:, k], f[:, k])
    yield from _arrows(picture, "forces", starts, f, RED)


def torques(picture: "Picture") -> Iterator[Mark]:
    """Couples, and the moments of other wrenches along their force; at the centre of mass."""
    _, _, m = _wrenches(picture)
    yield from _arrows(picture, "torques", _centres_of(picture), m, VIOLET)


def weights(picture: "Picture") -> Iterator[Mark]:
    """m g at each centre of mass."""
    records = picture.records
    masses = np.array([0.0 if link.inertia is None else link.inertia.mass for link in records.mechanism.links])
    f = np.broadcast_to(masses[:, None] * records.mechanism.gravity, records.centres[:, 0].shape)
    yield from _arrows(picture, "weights", records.centres[:, 0], f, GREY)


def reactions(picture: "Picture") -> Iterator[Mark]:
    """Reaction forces on bodies in their joints, at their origins."""
    records = picture.records
    held = [k for k, link in enumerate(records.mechanism.links) if not link.joint.type.position]
    if held:
        f = records.reactions[:, 0, held, 3:]
        yield from _arrows(picture, "reactions", records.positions[:, 0, held], f, ORANGE)


def spins(picture: "Picture") -> Iterator[Mark]:
    """Angular momentum of each body about its centre of mass."""
    yield from _arrows(picture, "angular_momentum", picture.records.centres[:, 0], picture.records.spins[:, 0], GREEN)


def rotations(picture: "Picture") -> Iterator[Mark]:
    """Angular velocity of each body."""
    records = picture.records
    yield from _arrows(picture, "angular_velocity", records.centres[:, 0], records.angular_velocities[:, 0], BLUE)


def _on_ground(contact: Contact, points: Array, f: Array) -> Array:
    """The intersection of the lines through points (r, 3) along forces with the plane of a contact, (r, 3)."""
    n = np.asarray(contact.normal, dtype=float)
    n = n / np.linalg.norm(n)
    pushes = f @ n > 0
    along = np.where(pushes, (contact.height - points @ n) / np.where(pushes, f @ n, 1.0), 0.0)
    return points + along[:, None] * f


def _centres_of(picture: "Picture") -> Array:
    """The centre of mass of the body that each wrench acts on, (r, m, 3)."""
    records = picture.records
    return records.centres[:, 0, [records.index(body) for _, body in records.measures.wrenches]]


def _wrenches(picture: "Picture") -> tuple[Array, Array, Array]:
    """A point on the axis of each wrench, its force, and its moment along the force, (r, m, 3)."""
    F = picture.records.forces[:, 0]
    m, f = F[..., :3], F[..., 3:]
    f2 = np.sum(f * f, axis=-1, keepdims=True)
    is_force = f2 > 1e-24 * np.max(f2, initial=1e-300)
    safe = np.where(is_force, f2, 1.0)
    arm = np.where(is_force, np.cross(f, m) / safe, 0.0)
    along = np.where(is_force, np.sum(m * f, axis=-1, keepdims=True) / safe * f, m)
    return _centres_of(picture) + arm, f, along


def _arrows(picture: "Picture", name: str, starts: Array, vectors: Array, colour: Colour) -> Iterator[Mark]:
    """Arrows scaled to the largest magnitudes of the run; none if all are zero."""
    lengths = np.linalg.norm(vectors, axis=-1)
    if not lengths.size or not lengths.max() > 0:
        return
    full = picture.full_scale(name, lengths)
    scale = LONGEST * picture.unit / full
    shortened = np.minimum(1.0, 1.5 * full / np.maximum(lengths, 1e-300))[..., None]
    visible = (lengths > 1e-6 * full)[..., None]
    yield Arrows(name, starts, np.where(visible, scale * shortened * vectors, 0.0), colour, WIDTH * picture.unit, full)
