"""The layer of contacts: points that touch, the force of each contact, and the cone of friction that it stays in."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from poinsot._types import Array
from poinsot.environment import Contact, PairTouch, Touch, TouchList
from poinsot.show import triangles as draw
from poinsot.show.marks import GREEN, ORANGE, RED, Arrows, Copies, Mark, aimed
from poinsot.spatial import quaternion

if TYPE_CHECKING:
    from poinsot.show.picture import Picture

LONG = 1.2  # of the largest normal force, in units of the picture
SPOT = 0.05  # the radius of a point that touches, in units of the picture
SLIDES = 0.99  # a force with this share of the friction that there can be, or more, slides
CONE = draw.revolved([(0.0, 0.0), (1.0, 1.0)], [(1.0, 1.0), (0.0, 1.0)], around=40)
HELD = 0.28  # the opacity of a cone


def contacts(picture: "Picture") -> Iterator[Mark]:
    """Points that touch; the force at their centre; its cone of friction, green while it holds, red while it slides."""
    elements = picture.records.description.elements.values()
    loads = {e.name: _load(picture, e) for e in elements if isinstance(e, (Touch, PairTouch, TouchList, Contact))}
    sizes = np.concatenate([np.zeros(1), *(np.ravel(np.linalg.norm(load.f, axis=2)) for load in loads.values())])
    if not sizes.max() > 0:
        return
    full = float(np.quantile(sizes[sizes > 1e-9 * sizes.max()], 0.85))  # blows are shortened
    for name, load in loads.items():
        size = np.linalg.norm(load.f, axis=2, keepdims=True)
        drawn = LONG * picture.unit / full * load.f * np.minimum(1.0, 1.5 * full / np.maximum(size, 1e-300))
        yield _spots(picture, name, load)
        yield from _cones(name, load, drawn)
        yield Arrows(f"{name} force", load.centres, drawn, RED, 0.03 * picture.unit, full, over=True)


@dataclass(frozen=True, eq=False)
class Load:
    """The contacts of an element, by record and place: points (r, p, 3) [m] with their normals and depths; and for each
    contact the centre (r, c, 3) of those that touch, the force f (r, c, 3) [N] there, its normal, and friction (r, c).
    """

    points: Array
    normals: Array
    depths: Array
    centres: Array
    f: Array
    n: Array
    friction: Array

    @classmethod
    def of(cls, points: Array, normals: Array, depths: Array, f: Array, friction: Array) -> "Load":
        """From points and normals (r, c, p, 3) and depths (r, c, p) of contacts of p points each."""
        weights = np.where(depths > 0, depths, 0.0)
        total = weights.sum(axis=-1, keepdims=True)
        weights = np.where(total > 0, weights / np.where(total > 0, total, 1.0), 1.0 / depths.shape[-1])
        centres, n = (np.einsum("rcp,rcpi->rci", weights, x) for x in (points, normals))
        n = n / np.maximum(np.linalg.norm(n, axis=-1, keepdims=True), 1e-12)
        r = len(points)
        flat = (np.reshape(points, (r, -1, 3)), np.reshape(normals, (r, -1, 3)), np.reshape(depths, (r, -1)))
        return cls(*flat, centres, np.where(total > 0, f, 0.0), n, friction)


def _load(picture: "Picture", element: Any) -> Load:
    """The contacts of an element; of a list, one for each of its places."""
    records = picture.records
    if isinstance(element, TouchList):
        points, depths, normals, f, friction = records.listed(element.name)
        return Load.of(points, np.broadcast_to(normals[:, :, None], points.shape), depths, f, friction)
    if isinstance(element, Contact):
        places = [*_of_points(picture, element)]
        k = records.measures.wrenches.index((element.name, element.body))
        f = records.forces[:, 0, k, 3:]
    else:
        *places, f = records.touches(element.name)
    points, normals, depths = (x[:, None] for x in places)
    return Load.of(points, normals, depths, f[:, None], np.full((len(f), 1), float(element.friction)))


def _of_points(picture: "Picture", contact: Contact) -> tuple[Array, Array, Array]:
    """The lowest points of the balls of a contact with a plane."""
    records, own = picture.records, np.atleast_2d(np.asarray(contact.points, dtype=float))
    n = np.asarray(contact.normal, dtype=float)
    n = n / np.linalg.norm(n)
    k = records.index(contact.body)
    at = records.positions[:, 0, k, None] + quaternion.rotate(records.wxyz[:, 0, k, None], own)
    drop = np.broadcast_to(n, at.shape)
    if contact.axis is not None:  # a thin wheel: the lowest point of its rim
        axis = quaternion.rotate(records.wxyz[:, 0, k], np.asarray(contact.axis, dtype=float))[:, None]
        axis = axis / np.linalg.norm(axis, axis=-1, keepdims=True)
        drop = drop - np.sum(drop * axis, axis=-1, keepdims=True) * axis
        drop = drop / np.maximum(np.linalg.norm(drop, axis=-1, keepdims=True), 1e-12)
    low = at - float(contact.radius) * drop
    return low, np.broadcast_to(n, low.shape), float(contact.height) - low @ n


def _spots(picture: "Picture", name: str, load: Load) -> Copies:
    """A flat disc at each point while it touches."""
    wide = SPOT * picture.unit * np.where(load.depths > 0, 1.0, 1e-9)
    scales = np.stack([wide, wide, 0.25 * wide], axis=-1)
    colours = np.tile(np.array(ORANGE), (load.points.shape[1], 1))
    turned = aimed(load.normals)
    return Copies(f"{name} points", draw.ball(around=16), load.points, turned, scales, colours, shadow=False, over=True)


def _cones(name: str, load: Load, drawn: Array) -> Iterator[Mark]:
    """The forces that friction allows with the normal part of each force, as it is drawn [m]: |f_t| <= mu f_n."""
    f_n, mu = np.sum(drawn * load.n, axis=2), load.friction
    f_t = np.linalg.norm(drawn - f_n[..., None] * load.n, axis=2)
    if not np.any(mu > 0):
        return
    slides = f_t >= SLIDES * mu * f_n
    for word, colour, shown in (("holds", GREEN, ~slides), ("slides", RED, slides)):
        high = np.where(shown & (f_n > 0) & (mu > 0), f_n, 0.0)
        scales = np.maximum(np.stack([mu * high, mu * high, high], axis=-1), 1e-9)
        colours = np.tile(np.array(colour), (high.shape[1], 1))
        yield Copies(
            f"{name} {word}", CONE, load.centres, aimed(load.n), scales, colours, HELD, shadow=False, over=True
        )
