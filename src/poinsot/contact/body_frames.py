"""Bodies and their shapes by number: poses and twists as arrays, for loops that choose a body at run time."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from poinsot._types import Array, Scalar
from poinsot.contact.colliders import Collider, margin_of
from poinsot.contact.meeting_kinds import MeetingKind
from poinsot.contact.reach import reach
from poinsot.fuse import fori_loop, in_memory
from poinsot.spatial import Pose


@dataclass(frozen=True, eq=False)
class BodyFrames:
    """Bodies in world axes, seen from a point `about` (3,) [m] of the world: attitudes R (n, 3, 3), places p (n, 3),
    and twists (n + 1, 6), of which the last is that of the world: angular velocities, and the velocities of the points
    of bodies that pass through `about`."""

    names: tuple[str, ...]
    about: Array
    R: Array
    p: Array
    twists: Array

    @classmethod
    def of(cls, names: tuple[str, ...], about: Array, poses: Sequence[Pose], twists: Sequence[Array]) -> "BodyFrames":
        """From poses X_WB and twists V_WB_B (6,)."""
        found = []
        for X, V in zip(poses, twists, strict=True):
            w = X.R @ V[:3]
            found.append(np.concatenate([w, X.R @ V[3:] + np.cross(X.p - about, w)]))
        places = np.stack([X.p - about for X in poses])
        return cls(names, about, np.stack([X.R for X in poses]), places, np.stack([*found, np.zeros(6)]))

    def numbers(self, names: Sequence[str]) -> np.ndarray:
        """The numbers of bodies with these names; any other is the world."""
        known = {name: k for k, name in enumerate(self.names)}
        return np.array([known.get(name, len(known)) for name in names])


@dataclass(frozen=True, eq=False)
class ShapePlaces:
    """Shapes by number: what their poses say (n, ...), balls that hold them, with centres (n, 3) and radii (n,) [m],
    and how far ahead (n,) [m] is looked for what they may touch; all from the point `about`."""

    at: Array
    centres: Array
    radii: Array
    ahead: Array


def shape_places(
    frames: BodyFrames, owners: np.ndarray, colliders: Sequence[Collider], kind: MeetingKind, h: Scalar, gain: Scalar
) -> ShapePlaces:
    """Where the shapes of bodies, by the numbers of their owners, are.

    It is looked ahead as far as the points of a shape move within a step h [s]. The step may add to their speeds what
    the fastest shape has, by a blow, and h times `gain` [m/s^2].
    """
    poses, centres, radii = zip(*((c.pose, *reach(c.shape)) for c in colliders), strict=True)
    turned, shifted = (np.stack([1.0 * getattr(X, name) for X in poses]) for name in ("R", "p"))
    middles = np.stack([1.0 * centre for centre in centres])
    reaches = np.stack([r + margin_of(c) for r, c in zip(radii, colliders, strict=True)])
    width = len(kind.pose_numbers(Pose()))

    def place(k: Any, found: tuple[Array, ...]) -> tuple[Array, ...]:
        at, centres, radii, ahead, fastest = found
        i = np.asarray(owners)[k]
        there = Pose.unchecked(frames.R[i], frames.p[i])
        X, V = there @ Pose.unchecked(np.asarray(turned)[k], np.asarray(shifted)[k]), frames.twists[i]
        centre, w, radius = X @ np.asarray(middles)[k], V[:3], np.asarray(reaches)[k]
        u = V[3:] + np.cross(w, centre)
        speed = np.sqrt(u @ u) + np.sqrt(w @ w) * radius
        at[k], centres[k], radii[k], ahead[k] = kind.pose_numbers(X), centre, radius, h * speed
        return at, centres, radii, ahead, np.maximum(fastest, speed)

    n = len(colliders)
    blank = (in_memory(np.empty((n, *shape))) for shape in ((width,), (3,), (), ()))
    at, centres, radii, ahead, fastest = fori_loop(n, place, (*blank, np.zeros(())))

    def widen(k: Any, found: tuple[Array, Array]) -> tuple[Array, Array]:
        radii, ahead = found
        ahead[k] = ahead[k] + h * (fastest + h * gain)
        radii[k] = radii[k] + ahead[k]
        return radii, ahead

    return ShapePlaces(at, centres, *fori_loop(n, widen, (radii, ahead)))
