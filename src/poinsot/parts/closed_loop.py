"""Closed loops of a world: what holds two bodies together beside the tree of joints."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Annotated, Any, ClassVar

import numpy as np

from poinsot._errors import FieldError
from poinsot._types import Array
from poinsot.mechanism.closures import Closure, Relation, asked_by, rows_of
from poinsot.mechanism.coordinate_relations import Driven, Sharing
from poinsot.mechanism.joints import Joint
from poinsot.mechanism.loop_frames import Rows, carrier
from poinsot.parts.element import Effect, Element
from poinsot.parts.scene import WORLD, Scene
from poinsot.spatial import Pose, motion

NUMBERS = ("length", "ratio", "offset", "radius")  # of relations, which are numbers of the world


@dataclass(frozen=True, eq=False)
class ClosedLoop(Element):
    """Bodies a and b, held together by a joint, a point on a line, plane or curve, a distance, a wheel that rolls, or a
    coupling of their joints; or a joint, that of b, that is driven.

    `a` may be the "world". `placement_a`, `placement_b`: the poses of the frames A and B that are held together, in the
    frames of the bodies. Its forces do no work, but those of a drive. Shown: `force` (6,) [N m, N], the wrench on b
    about the origin of B, in B's axes; for a coupling or a drive `force` [N m, N] is the one that it adds in the joint
    of b.
    """

    follows: ClassVar[bool] = True

    a: str
    b: str
    relation: Relation
    placement_a: Pose = field(default_factory=Pose)
    placement_b: Pose = field(default_factory=Pose)
    length: Annotated[float | None, "m"] = None
    ratio: float | None = None
    offset: float | None = None
    radius: Annotated[float | None, "m"] = None

    def __post_init__(self) -> None:
        for name in NUMBERS:  # the numbers of the relation, as numbers of the element
            if hasattr(self.relation, name) and not isinstance(self.relation, Joint):
                own = getattr(self, name)
                if own is None:
                    object.__setattr__(self, name, getattr(self.relation, name))
                elif own is not getattr(self.relation, name):
                    object.__setattr__(self, "relation", replace(self.relation, **{name: own}))
        if self.b == WORLD:
            raise FieldError(f"b of {self.name!r} is the world: let a be the world, and b a body.", "b", self.name)
        self.closure()  # checks the ends and the relation

    @classmethod
    def of(cls, c: Closure) -> "ClosedLoop":
        """The closure of a mechanism, as an element of a world."""
        return cls(c.name, WORLD if c.a is None else c.a, c.b, c.relation, c.placement_a, c.placement_b)

    def closure(self, held: Any = 1.0) -> Closure:
        """The same for a mechanism; held: 0 once it has parted."""
        a = None if self.a == WORLD else self.a
        return Closure(self.name, a, self.b, self.relation, self.placement_a, self.placement_b, held)

    def bodies(self) -> tuple[str, ...]:
        others = self.relation.weights if isinstance(self.relation, Sharing) else ()
        return tuple(name for name in dict.fromkeys((self.a, self.b, *others)) if name != WORLD)

    def units(self) -> Mapping[str, str]:
        return {"force": "N m, N"}

    def effect(self, scene: Scene) -> Effect:
        """None on its own: its forces follow from all others."""
        rows = rows_of(scene.mechanism, self.closure(), scene.q, scene.v, scene.t)
        return self.closing_effect(scene, np.zeros(asked_by(self.relation).count), rows)

    def closing_effect(self, scene: Scene, f: Array, rows: Rows) -> Effect:
        """The effect of the closing forces f (m,) of its rows."""
        mech, closure = scene.mechanism, self.closure()
        joints = asked_by(self.relation).joints(closure)
        if joints:
            tau = f @ rows.J
            forces = {name: tau[mech.v_slices[mech.index(name)]] for name in joints}
            power = None if isinstance(self.relation, Driven) else np.zeros(())  # a drive's work is what it puts in
            return Effect(joint_forces=forces, power=power, outside={}, shown={"force": f[0]})
        c = carrier(mech, closure)
        X_WC, X_WB = Pose() if c < 0 else scene.poses[c], scene[self.b].pose
        F = f @ rows.wrench
        wrenches = {self.b: motion.wrench_in_frame(X_WB.inverse() @ X_WC, F)}
        outside = wrenches if self.a == WORLD else {}
        if self.a != WORLD:
            wrenches = {**wrenches, self.a: motion.wrench_in_frame(scene[self.a].pose.inverse() @ X_WC, -F)}
        shown = motion.wrench_in_frame(self.placement_b.inverse(), wrenches[self.b])
        return Effect(wrenches=wrenches, power=np.zeros(()), outside=outside, shown={"force": shown})
