"""Stops at the ends of a joint's range."""

from dataclasses import dataclass
from typing import Annotated, Any, ClassVar

import numpy as np

from poinsot._errors import FieldError
from poinsot._types import Array, ArrayLike, Scalar
from poinsot.contact.law import push, pushed_over
from poinsot.fuse import is_traced
from poinsot.parts.element import Effect, Element, require_not_negative
from poinsot.parts.resisting import Later, Resistance, Resisting, Used
from poinsot.parts.scene import Scene
from poinsot.spatial.arrays import as_array


@dataclass(frozen=True, eq=False)
class JointStop(Element):
    """Elastic stops at the limits of the joint of a body.

    A coordinate at d > 0 beyond a limit is pushed back by

        tau = k d (1 + c d')      (Hunt and Crossley; never negative)

    `stiffness` k [N m/rad, N/m] and `damping` c [s/rad, s/m], numbers or (nv,). `lower`, `upper` [rad, m], numbers or
    (nv,): by default those of the joint. For joints whose velocities are the rates of their coordinates.
    """

    takes_only: ClassVar[bool] = True

    joint: str = ""
    stiffness: Annotated[ArrayLike, "N m/rad", "N m", "N/m"] = 1e4
    damping: Annotated[ArrayLike, "s/rad", "s/m", "s"] = 0.5
    lower: Annotated[ArrayLike | None, "rad", "m"] = None
    upper: Annotated[ArrayLike | None, "rad", "m"] = None

    def __post_init__(self) -> None:
        owner = f"joint stop {self.name!r}"
        require_not_negative(owner, stiffness=self.stiffness, damping=self.damping)
        limits = [x for x in (self.lower, self.upper) if x is not None]
        if np.any([np.any(np.isnan(np.asarray(x, dtype=float))) for x in limits if not is_traced(x)]):
            raise FieldError(f"limits of {owner} must be numbers, not {self.lower!r} and {self.upper!r}.", "lower")

    def joints(self) -> tuple[str, ...]:
        return (self.joint,)

    def effect(self, scene: Scene) -> Effect:
        q, v = scene.joint(self.joint)
        lower, upper = self._limits(scene)
        tau, stored, power = np.zeros(q.shape), np.zeros(()), np.zeros(())
        for depth, rate, sign in ((lower - q, -v, 1.0), (q - upper, v, -1.0)):
            d = np.maximum(depth, 0.0)
            elastic = as_array(self.stiffness) * d
            push = elastic * np.maximum(1 + as_array(self.damping) * rate, 0.0)
            tau = tau + sign * push
            stored = stored + 0.5 * np.sum(elastic * d)
            power = power + np.sum((elastic - push) * rate)
        return Effect(joint_forces={self.joint: tau}, stored=stored, power=power, shown={"torque": tau})

    def resisting(self, scene: Scene, h: Scalar) -> Resisting:
        q, v = scene.joint(self.joint)
        k, depths = as_array(self.stiffness), self._depths(scene, q)

        def at(later: Later) -> Resistance:
            guess, tau, slope = later.velocity(self.joint), np.zeros(q.shape), np.zeros(q.shape)
            for depth, sign in depths:
                f, g, _ = push(k, as_array(self.damping), h, depth, sign * guess)
                tau, slope = tau + sign * f - g * (v - guess), slope + g
            return Resistance(joint_forces={self.joint: tau}, joint_slopes={self.joint: slope})

        def stored(moved: Any) -> Array:
            return 0.5 * np.sum(k * sum(np.maximum(depth - sign * moved, 0.0) ** 2 for depth, sign in depths))

        def taken(later: Later, used: Used) -> Effect:
            v, tau, power, lost = later.velocity(self.joint), np.zeros(q.shape), np.zeros(()), np.zeros(())
            for depth, sign in depths:
                f, _, elastic = push(k, as_array(self.damping), h, depth, sign * v)
                tau, power = tau + sign * f, power + np.sum((f - elastic) * sign * v)
                lost = lost + np.sum(pushed_over(k, h, depth, sign * v))
            by_guess = (used.joint_forces[self.joint] - tau) @ v  # the force was linearised about the last guess
            return Effect(
                joint_forces=used.joint_forces,
                stored=stored(0.0),
                power=power,
                shown={"torque": used.joint_forces[self.joint]},
                numerical=by_guess + lost / h,
                foreseen=stored(h * v),
            )

        return Resisting(at, taken)

    def _depths(self, scene: Scene, q: Array) -> list[tuple[Array, float]]:
        """How far q is beyond each limit, with the sign of the force there."""
        lower, upper = self._limits(scene)
        return [(lower - q, 1.0), (q - upper, -1.0)]

    def _limits(self, scene: Scene) -> tuple[Array, Array]:
        joint = scene.mechanism.link(self.joint).joint
        owner = f"joint stop {self.name!r}"
        if joint.type.is_group:
            raise FieldError(f"{owner}: there are no stops for the {joint.kind} joint of body {self.joint!r}.", "joint")
        lower = joint.lower if self.lower is None else self.lower
        upper = joint.upper if self.upper is None else self.upper
        if not is_traced(lower, upper):
            if not np.all(np.asarray(lower) < np.asarray(upper)):
                raise FieldError(
                    f"{owner}: the lower limit {lower!r} must be less than the upper limit {upper!r}.", "lower"
                )
            if not np.any(np.isfinite(lower)) and not np.any(np.isfinite(upper)):
                raise FieldError(
                    f"{owner}: the joint of body {self.joint!r} has no limits; give lower=... or upper=...", "joint"
                )
        return np.ones(joint.nv) * as_array(lower), np.ones(joint.nv) * as_array(upper)

    def units(self) -> dict[str, str]:
        return {"torque": "N m, N"}
