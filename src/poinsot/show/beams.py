"""Flexible beams as continuous surfaces that bend and twist: skins over the chain of their segments."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from itertools import pairwise
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from poinsot._types import Array
from poinsot.parts import Wing
from poinsot.parts.beam import Flexure
from poinsot.show.foils import Slices, hinge_of
from poinsot.show.marks import Colour, Skin
from poinsot.show.triangles import loft_faces
from poinsot.spatial import quaternion
from poinsot.world import Description

if TYPE_CHECKING:
    from poinsot.show.picture import Picture

Rings: TypeAlias = Callable[[Array], Array]
"""The sections (s, m, 3) [m] of a beam at places (s,) along it, about its axis."""
THICK = 0.13  # of a section, relative to its chord
PER_BONE, AROUND = 6, 28  # stations between two bones, points of a section
SHEER = 0.72  # the opacity of a beam with tanks inside
ROOT = 0.27  # how far a beam reaches behind its first joint, relative to its first segment: about to its root
THINNEST = 0.01  # the chord of a beam, relative to its length


def chains(description: Description) -> list[list[str]]:
    """The segments of each beam, root first: bodies in a row, each on a flexible joint of the one before."""
    bent = {e.joint for e in description.elements.values() if isinstance(e, Flexure)}
    inner = {description.bodies[name].parent for name in bent if description.bodies[name].parent in bent}
    found = []
    for end in (name for name in description.bodies if name in bent and name not in inner):
        chain = [end]
        while (parent := description.bodies[chain[0]].parent) in bent:
            chain.insert(0, str(parent))
        found.append(chain)
    return [chain for chain in found if len(chain) > 1]


def skins(
    picture: "Picture", colour: Colour, exceeded: Mapping[str, Array | None], hidden: Mapping[str, float]
) -> Iterator[Skin]:
    """The skin of every beam without a look of its own; red once a limit was passed, translucent if it hides parts."""
    for chain in picture.beams:
        over = [x for name in chain if (x := exceeded[name]) is not None]
        hue = np.where(np.any(over, axis=0)[:, None], (220, 38, 38), colour) if over else None
        opacity = SHEER if any(name in hidden for name in chain) else 1.0
        yield skin(picture, chain, colour, opacity, hue)


def skin(picture: "Picture", chain: list[str], colour: Colour, opacity: float, hue: Array | None) -> Skin:
    """The skin of one beam: that of the wing on it, or a plate with the inertia of its segments about their axis,
    I = m c^2 / 12."""
    records = picture.records
    index = [records.index(name) for name in chain]
    links = [records.mechanism.links[k] for k in index]
    lengths, wing = _lengths(picture, chain), _wing_on(picture, chain)
    stub = ROOT * lengths[0] if wing is None or wing.beam is None else float(wing.beam.joints[0])
    offsets = [-stub, *(length / 2 for length in lengths), lengths[-1]]  # of the bones in their segments
    segment = [0, *range(len(links)), len(links) - 1]
    place, turn = records.positions[:, 0], records.wxyz[:, 0]
    arms = [np.array([x, 0.0, 0.0]) for x in offsets]
    bones = [
        place[:, index[k]] + quaternion.rotate(turn[:, index[k]], arm) for k, arm in zip(segment, arms, strict=True)
    ]
    turns = np.stack([turn[:, index[k]] for k in segment], axis=1)
    middles = [(a + b) / 2 for a, b in pairwise(lengths)]
    at = np.cumsum([0.0, stub + lengths[0] / 2, *middles, lengths[-1] / 2])
    rings = _plain(picture, chain, at) if wing is None else _winged(wing, at)
    rest, first, weights, faces = _sections(at, rings)
    moves = np.stack(bones, axis=1), turns
    return Skin(f"{chain[0]} skin", rest, first, weights, faces, *moves, colour, opacity, chain[0], hue)


def _lengths(picture: "Picture", chain: list[str]) -> list[float]:
    """The lengths [m] of the segments: to the next one; of the last, twice the distance of its centre of mass."""
    bodies = picture.records.description.bodies
    inner = [float(np.linalg.norm(bodies[name].placement.p)) for name in chain[1:]]
    last = bodies[chain[-1]].inertia
    tip = 2 * float(np.linalg.norm(last.com)) if last is not None else inner[-1]
    return [*inner, tip or inner[-1]]


def _wing_on(picture: "Picture", chain: list[str]) -> Wing | None:
    """The wing whose strips are on a beam."""
    wings = (e for e in picture.records.description.elements.values() if isinstance(e, Wing) and e.beam is not None)
    return next((e for e in wings if e.bodies()[0] == chain[0]), None)


def _plain(picture: "Picture", chain: list[str], at: Array) -> Rings:
    """Sections of a beam that is no wing: the chord is that of a thin plate with the inertia of the segments."""
    own = [picture.records.description.bodies[name].inertia for name in chain]
    chords = [np.sqrt(12 * max(i.moment[0, 0], 0.0) / i.mass) if i is not None else 0.0 for i in own]
    chords = np.maximum(chords, THINNEST * float(at[-1])).tolist()
    angle = 2 * np.pi * np.arange(AROUND) / AROUND
    ring = np.stack([0 * angle, 0.5 * np.cos(angle), 0.5 * THICK * np.sin(angle)], axis=-1)  # y along the chord, z
    return lambda x: np.interp(x, at[1:-1], chords)[:, None, None] * ring


def _winged(wing: Wing, at: Array) -> Rings:
    """Sections of a wing, about the axis of its beam; where it has a flap they end at its hinge."""
    shares, hinge = 0.5 * (wing.edges[1:] + wing.edges[:-1]), hinge_of(float(wing.flap))
    start, end = np.asarray(wing.aileron, dtype=float)

    def rings(x: Array) -> Array:
        share = np.clip(x / at[-1], 0.0, 1.0)
        slices = Slices.of(shares, wing.panels()).at(share)
        offset = ((wing.axis - 0.25) * slices.chord)[:, None] * slices.forward
        cut = np.where((wing.flap > 0) & (share >= start) & (share <= end), max(hinge, 0.02), 0.9999)
        return replace(slices, p=offset).rings(0.0, cut)

    return rings


def _sections(at: Array, rings: Rings) -> tuple[Array, Array, Array, Array]:
    """Vertices of sections along a straight beam with bones at x = `at`: rest, first, weights, faces of a `Skin`."""
    x = np.concatenate([np.linspace(a, b, PER_BONE, endpoint=False) for a, b in pairwise(at)])
    x = np.append(x, at[-1])
    k = np.clip(np.searchsorted(at, x, side="right") - 1, 0, len(at) - 2)
    w = (x - at[k]) / (at[k + 1] - at[k])
    ring = rings(x)  # (s, m, 3), about the axis
    along = np.array([1.0, 0.0, 0.0])
    near = ring + along * (x - at[k])[:, None, None]
    far = near - along * (at[k + 1] - at[k])[:, None, None]
    rest, m = np.concatenate([near, far], axis=-1).reshape(-1, 6), ring.shape[1]
    return rest, np.repeat(k, m), np.repeat(w, m), loft_faces(len(x), m)
