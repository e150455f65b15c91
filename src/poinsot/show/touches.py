"""The layer of contacts: points that touch, the force of each contact, and the cone of friction that it stays in."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from poinsot._types import Array
from poinsot.environment import Contact, PairTouch, Touch
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
    touching = [e for e in elements if isinstance(e, (Touch, PairTouch, Contact))]
    loads = {e.name: _load(picture, e) for e in touching}
    sizes = np.concatenate([np.zeros(1), *(np.linalg.norm(f, axis=1) for _, _, f, _ in loads.values())])
    if not sizes.max() > 0:
        return
    full = float(np.quantile(sizes[sizes > 1e-9 * sizes.max()], 0.85))  # blows are shortened
    for element in touching:
        (points, normals, depths), centre, f, n = loads[element.name]
        size = np.linalg.norm(f, axis=1, keepdims=True)
        drawn = LONG * picture.unit / full * f * np.minimum(1.0, 1.5 * full / np.maximum(size, 1e-300))
        yield _spots(picture, element.name, points, normals, depths)
        yield from _cone(element, centre, drawn, n)
        yield Arrows(
            f"{element.name} force", centre[:, None], drawn[:, None], RED, 0.03 * picture.unit, full, over=True
        )


def _load(picture: "Picture", element: Any) -> tuple[tuple[Array, Array, Array], Array, Array, Array]:
    """Points, normals and depths; the centre (r, 3) of those that touch; the force (r, 3) [N] there; its normal."""
    records = picture.records
    if isinstance(element, Contact):
        places = _of_points(picture, element)
        k = records.measures.wrenches.index((element.name, element.body))
        f = records.forces[:, 0, k, 3:]
    else:
        places, f = records.touches(element.name), records.of(element.name, "force")[:, 0]
    points, normals, depths = places
    weights = np.where(depths > 0, depths, 0.0)
    total = weights.sum(axis=1, keepdims=True)
    weights = np.where(total > 0, weights / np.where(total > 0, total, 1.0), 1.0 / depths.shape[1])
    centre, n = np.einsum("rm,rmi->ri", weights, points), np.einsum("rm,rmi->ri", weights, normals)
    n = n / np.maximum(np.linalg.norm(n, axis=1, keepdims=True), 1e-12)
    return places, centre, np.where(total > 0, f, 0.0), n


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


def _spots(picture: "Picture", name: str, points: Array, normals: Array, depths: Array) -> Copies:
    """A flat disc at each point while it touches."""
    wide = SPOT * picture.unit * np.where(depths > 0, 1.0, 1e-9)
    scales = np.stack([wide, wide, 0.25 * wide], axis=-1)
    colours = np.tile(np.array(ORANGE), (points.shape[1], 1))
    return Copies(
        f"{name} points", draw.ball(around=16), points, aimed(normals), scales, colours, shadow=False, over=True
    )


def _cone(element: Any, centre: Array, f: Array, n: Array) -> Iterator[Mark]:
    """The forces that friction allows with the normal part of f (r, 3) [m], as it is drawn: |f_t| <= mu f_n."""
    f_n, mu = np.sum(f * n, axis=1), float(element.friction)
    f_t = np.linalg.norm(f - f_n[:, None] * n, axis=1)
    if not mu > 0:
        return
    slides = f_t >= SLIDES * mu * f_n
    for word, colour, shown in (("holds", GREEN, ~slides), ("slides", RED, slides)):
        high = np.where(shown & (f_n > 0), f_n, 0.0)
        scales = np.maximum(np.stack([mu * high, mu * high, high], axis=-1), 1e-9)
        yield Copies(
            f"{element.name} {word}", CONE, centre[:, None], aimed(n)[:, None], scales[:, None], np.array([colour]),
            HELD, shadow=False, over=True,
        )  # fmt: skip
