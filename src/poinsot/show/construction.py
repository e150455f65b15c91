"""Poinsot's construction: the inertia ellipsoid of a free body rolls without slipping on a fixed plane.

The ellipsoid omega^T I omega = 2 T is fixed in the body, its centre at the centre of mass. It touches, at the tip of
the angular velocity, the invariable plane: normal to the angular momentum L, at the distance 2 T / |L|. The point of
contact traces the polhode on the ellipsoid and the herpolhode on the plane. Poinsot, Théorie nouvelle de la rotation
des corps (1834).
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from poinsot._types import Array
from poinsot.show import triangles as draw
from poinsot.show.marks import BLUE, GREEN, INK, ORANGE, PALE, RED, Arrows, Lines, Mark, Path, Surface, Track, aimed
from poinsot.spatial import Pose, quaternion

if TYPE_CHECKING:
    from poinsot.show.picture import Picture

FREE = 1e-3  # largest relative change of L and T of a body that counts as free
GOLD, GLASS, RING = (214, 178, 94), (176, 200, 226), (112, 130, 152)


@dataclass(frozen=True, eq=False)
class Rolling:
    """One body's construction: angular velocities scaled to lengths, by `scale` [m s/rad].

    centres (r, 3), orientations (r, 4), contact: the tip of omega from the centre, in world axes (r, 3) [m]; normal:
    of the plane, along L (3,); distance of the plane from the centre [m]; semi-axes (3,) [m] along R_BP.
    """

    name: str
    centres: Array
    wxyz: Array
    contact: Array
    normal: Array
    distance: float
    semi_axes: Array
    R_BP: Array


def rolling(picture: "Picture", k: int) -> Rolling | None:
    """The construction of body k; None if it does not rotate freely."""
    records = picture.records
    inertia = records.mechanism.links[k].inertia
    if inertia is None or not np.any(inertia.moment) or inertia.rank < 3:
        return None
    L, omega = records.spins[:, 0, k], records.angular_velocities[:, 0, k]
    size, twice = np.linalg.norm(L[0]), np.sum(L * omega, axis=-1)
    if not size > 0 or np.abs(L - L[0]).max() > FREE * size or np.ptp(twice) > FREE * twice[0]:
        return None
    moments, R_BP = inertia.principal()
    semi_axes = np.sqrt(twice[0] / moments)
    scale = 1.3 * (picture.reaches[k] or picture.unit) / semi_axes.max()
    return Rolling(
        records.names[k], records.centres[:, 0, k], records.wxyz[:, 0, k], scale * omega, L[0] / size,
        scale * float(twice[0]) / size, scale * semi_axes, R_BP,
    )  # fmt: skip


def poinsot(picture: "Picture") -> Iterator[Mark]:
    """The construction of every body that rotates freely."""
    for k in range(len(picture.records.names)):
        construction = rolling(picture, k)
        if construction is not None:
            yield from _marks(construction)


def _marks(r: Rolling) -> Iterator[Mark]:
    size = float(r.semi_axes.max())
    width = 0.014 * size
    body, still = Track(r.centres, r.wxyz), Track.at(r.centres)
    R = Pose(r.R_BP)
    yield Surface(f"{r.name} ellipsoid", draw.ball().scaled(r.semi_axes).moved(R), body, GLASS, 0.34, shadow=False)
    rings = _rings(r.semi_axes) @ r.R_BP.T
    yield Lines(f"{r.name} rings", rings[None], np.array(RING)[None, None], 0.35 * width, body)

    foot = r.centres + r.distance * r.normal
    plane = Track(foot, np.broadcast_to(aimed(r.normal), (len(foot), 4)))
    wide = 1.25 * max(size, float(np.linalg.norm(np.cross(r.contact, r.normal), axis=1).max()))
    disc = draw.cylinder(wide, 0.012 * size).moved(Pose(p=(0, 0, 0.012 * size)))
    yield Surface(f"{r.name} plane", disc, plane, (236, 239, 244), 0.8, shadow=False)
    yield Lines(f"{r.name} circles", _polar(wide)[None], np.array(PALE)[None, None], 0.4 * width, plane)

    on_body = quaternion.rotate(quaternion.conjugate(r.wxyz), r.contact)
    whole = np.stack([on_body[:-1], on_body[1:]], axis=1)
    if len(whole):
        yield Lines(f"{r.name} whole polhode", whole[None], np.array(GOLD)[None, None], 0.5 * width, body)
    yield Path(f"{r.name} polhode", 1.012 * on_body, RED, 1.2 * width, body)
    on_plane = r.contact - 0.008 * size * r.normal
    yield Path(f"{r.name} herpolhode", on_plane, ORANGE, 0.55 * width, still)

    n = len(r.centres)
    yield Arrows(f"{r.name} omega", r.centres[:, None], r.contact[:, None], BLUE, 2.2 * width)
    along = np.broadcast_to((r.distance + 0.45 * size) * r.normal, (n, 3))
    yield Arrows(f"{r.name} L", r.centres[:, None], along[:, None], GREEN, 1.8 * width)
    dot = Track.at(r.centres + r.contact)
    yield Surface(f"{r.name} contact", draw.ball(2.2 * width, around=24), dot, INK, shadow=False)


def _rings(semi_axes: Array, count: int = 96) -> Array:
    """Lines (k, 2, 3) around an ellipsoid: its principal sections, and circles of latitude about its long axis."""
    s = np.linspace(0, 2 * np.pi, count + 1)
    curves = []
    for axis in range(3):
        heights = (0.0,) if axis else (-0.75, -0.4, 0.0, 0.4, 0.75)  # the first moment is the least: the long axis
        for h in heights:
            circle = np.zeros((count + 1, 3))
            circle[:, axis - 2], circle[:, axis - 1], circle[:, axis] = np.cos(s), np.sin(s), 0.0
            circle *= np.sqrt(1 - h * h)
            circle[:, axis] = h
            curves.append(1.002 * circle * semi_axes)
    return np.concatenate([np.stack([c[:-1], c[1:]], axis=1) for c in curves])


def _polar(radius: float, count: int = 96) -> Array:
    """Circles and rays (k, 2, 3) on a disc normal to z."""
    s = np.linspace(0, 2 * np.pi, count + 1)
    ring = np.stack([np.cos(s), np.sin(s), 0 * s], axis=-1)
    lines = [radius * share * np.stack([ring[:-1], ring[1:]], axis=1) for share in (0.25, 0.5, 0.75, 1.0)]
    rays = radius * ring[:-1:8]
    return np.concatenate([*lines, np.stack([0 * rays, rays], axis=1)])
