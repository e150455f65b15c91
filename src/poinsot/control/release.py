"""Separation: a joint comes loose at an event, and springs push the body away."""

from dataclasses import dataclass
from typing import Annotated

import numpy as np

from poinsot._errors import FieldError
from poinsot._types import Array, ArrayLike
from poinsot.fuse import is_traced
from poinsot.parts.element import Effect, require_finite, require_not_negative
from poinsot.parts.scene import MOUNT, WORLD, Scene
from poinsot.spatial import Pose
from poinsot.spatial.arrays import as_array

REACH = 3.0  # strokes within which a spring may push


@dataclass(frozen=True, eq=False)
class Release:
    """The joint of a `body` is held until an event, and comes loose then; springs push the body off its parent.

    Each spring pushes along the `axis` (3,), at one of the `points` (n, 3) [m], both in the frame of the joint on the
    parent; with the way s that its point has moved along the axis since, its force is stiffness (stroke - s) [N], until
    the `stroke` [m] is over; a point that is further off than three strokes has lost its spring. Springs act on both
    bodies with the same line of action, and their energy, stiffness (stroke - s)^2 / 2 each, is in the ledger from the
    start. The joint may be fixed or moving, not free.
    """

    body: str
    stiffness: Annotated[float, "N/m"] = 0.0
    stroke: Annotated[float, "m"] = 0.0
    axis: Annotated[ArrayLike, "1"] = (0.0, 0.0, 1.0)
    points: Annotated[ArrayLike, "m"] = ((0.0, 0.0, 0.0),)

    def __post_init__(self) -> None:
        owner = f"release of {self.body!r}"
        if not isinstance(self.body, str) or not self.body:
            raise FieldError(f"body of a release must be the name of a body, not {self.body!r}.", "body")
        require_not_negative(owner, stiffness=self.stiffness, stroke=self.stroke)
        require_finite(owner, axis=self.axis, points=self.points)
        axis, points = as_array(self.axis), as_array(self.points)
        if np.shape(axis) != (3,) or (not is_traced(axis) and not np.any(axis)):
            raise FieldError(f"axis of the {owner} must be three numbers, not all zero, not {self.axis!r}.", "axis")
        if np.shape(points)[1:] != (3,):
            raise FieldError(f"points of the {owner} must be a list of points (n, 3), not {self.points!r}.", "points")

    @property
    def has_springs(self) -> bool:
        """Whether something pushes."""
        return is_traced(self.stiffness, self.stroke) or bool(self.stiffness > 0 and self.stroke > 0)

    def push(self, scene: Scene, happened: Array) -> Effect:
        """The forces of its springs, equal and opposite on the body and on its parent, and the energy in them."""
        mech = scene.mechanism
        k = mech.index(self.body)
        if self.body + MOUNT not in {link.name for link in mech.links}:
            raise FieldError(
                f"the release of {self.body!r} has springs, but the body is on a free joint; give it a fixed one.",
                "release",
            )
        mount = mech.index(self.body + MOUNT)
        parent = mech.links[mount].parent or WORLD
        X_WF: Pose = scene[parent].pose @ mech.links[mount].placement
        X_FM = X_WF.inverse() @ scene.poses[mount]
        n = as_array(self.axis) / np.linalg.norm(as_array(self.axis))
        body, base, stored = np.zeros(6), np.zeros(6), np.zeros(())
        for p in as_array(self.points):
            moved = X_FM @ p
            way = moved - p
            near = way @ way < (REACH * self.stroke) ** 2  # a stage that turns round later is not pushed again
            left = np.where(near, np.clip(self.stroke - n @ way, 0.0, np.inf), 0.0)
            f, r = X_WF.R @ (happened * self.stiffness * left * n), X_WF @ moved
            body = body + scene[self.body].wrench(f, scene.poses[k].inverse() @ r)
            base = base - scene[parent].wrench(f, scene[parent].pose.inverse() @ r)
            stored = stored + 0.5 * self.stiffness * left * left
        wrenches = {self.body: body} | ({} if parent == WORLD else {parent: base})
        return Effect(wrenches, stored=stored, power=np.zeros(()), outside=None if parent == WORLD else {})
