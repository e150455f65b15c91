"""The stops of joints: the range of a hinge or slider, drawn where it is."""

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np

from poinsot._types import Array
from poinsot.mechanism import Link
from poinsot.parts import JointStop
from poinsot.show.marks import GREY, RED, Lines, Mark, Track
from poinsot.spatial import quaternion, rotation

if TYPE_CHECKING:
    from poinsot.show.picture import Picture

TOUCHED, FREE = np.array(RED), np.array(GREY)


def stops(stops: Sequence[JointStop], picture: "Picture") -> Iterator[Mark]:
    """The range between the stops of a hinge or slider, on the body that carries it; red while a stop is touched."""
    records = picture.records
    for stop in stops:
        link = records.mechanism.link(stop.joint)
        kind = link.joint.type
        if len(kind.units) != 1:
            continue
        pairs = ((stop.lower, link.joint.lower), (stop.upper, link.joint.upper))
        low, high = (float(np.ravel(usual if own is None else own)[0]) for own, usual in pairs)
        if not np.isfinite([low, high]).all() or not low < high:
            continue
        points = _range(link, low, high, 0.45 * min(picture.unit, picture.reaches[records.index(link.name)] or np.inf))
        touched = np.abs(records.of(stop.name, "torque")[:, 0].reshape(len(records.time), -1)).max(axis=1) > 0
        colours = np.where(touched[:, None, None], TOUCHED, FREE) * np.ones((1, len(points), 1))
        yield Lines(f"{stop.name} range", points[None], colours, 0.02 * picture.unit, _carrier(picture, link))


def _carrier(picture: "Picture", link: Link) -> Track:
    """The frame that a joint stands in: of the parent, or of the world."""
    records, X = picture.records, link.placement
    if link.parent is None:
        return Track.at(X.p, X.quaternion())
    k = records.index(link.parent)
    place = records.positions[:, 0, k] + quaternion.rotate(records.wxyz[:, 0, k], X.p)
    return Track(place, quaternion.product(records.wxyz[:, 0, k], X.quaternion()))


def _range(link: Link, low: float, high: float, size: float) -> Array:
    """Lines (n, 2, 3): an arc about the axis of a hinge, or a way along that of a slider, with marks at both ends."""
    q = np.linspace(low, min(high, low + 2 * np.pi), 40)
    poses = [link.joint.type.pose(link.joint, np.array([x])) for x in q]
    S = link.joint.type.subspace(link.joint, np.array([low]))[:, 0]
    axis, turns = (S[:3], True) if np.any(S[:3]) else (S[3:], False)
    out = size * rotation.perpendicular(axis / np.linalg.norm(axis))
    way = np.array([X @ out if turns else X.p + out for X in poses])
    ends = [np.stack([0.7 * e, 1.3 * e]) if turns else np.stack([e - 0.5 * out, e + 0.5 * out]) for e in way[[0, -1]]]
    return np.concatenate([np.stack([way[:-1], way[1:]], axis=1), ends])
