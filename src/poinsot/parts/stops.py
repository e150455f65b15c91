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

FAR = 1e30  # rad, m: a limit that nothing reaches; what is not touched there takes the energy 0 times that


def within_reach(lower: ArrayLike, upper: ArrayLike) -> tuple[Array, Array]:
    """The limits, with far ones in place of infinite ones."""
    return np.maximum(as_array(lower), -FAR), np.minimum(as_array(upper), FAR)


@dataclass(frozen=True, eq=False)
class Bumpers:
    """Elastic stops of coordinates over a step h [s], which begins with velocities v (n,) and the depths (n,) beyond
    the limits, each with the sign of the force there."""

    stiffness: Array
    damping: Array
    h: Scalar
    v: Array
    depths: tuple[tuple[Array, float], ...]

    def about(self, guess: Array) -> tuple[Array, Array]:
        """The forces at the start and their slopes (n,), linearised about a guess of the velocities at the end."""
        tau, slope = np.zeros(self.v.shape), np.zeros(self.v.shape)
        for depth, sign in self.depths:
            f, g, _ = push(self.stiffness, self.damping, self.h, depth, sign * guess)
            tau, slope = tau + sign * f - g * (self.v - guess), slope + g
        return tau, slope

    def stored(self, moved: Any) -> Array:
        """The energy [J] after motion by so much."""
        return 0.5 * np.sum(
            self.stiffness * sum(np.maximum(depth - sign * moved, 0.0) ** 2 for depth, sign in self.depths)
        )

    def books(self, v: Array, used: Array) -> dict[str, Any]:
        """The entries of an `Effect`: by the velocities at the end (n,), and the forces (n,) that the step was made
        with, which were linearised about the last guess."""
        tau, power, lost = np.zeros(self.v.shape), np.zeros(()), np.zeros(())
        for depth, sign in self.depths:
            f, _, elastic = push(self.stiffness, self.damping, self.h, depth, sign * v)
            tau, power = tau + sign * f, power + np.sum((f - elastic) * sign * v)
            lost = lost + np.sum(pushed_over(self.stiffness, self.h, depth, sign * v))
        numerical = (used - tau) @ v + lost / self.h
        return {
            "stored": self.stored(0.0),
            "power": power,
            "numerical": numerical,
            "foreseen": self.stored(self.h * v),
        }


def bumped(
    q: Array, v: Array, stiffness: Array, damping: Array, lower: Array, upper: Array
) -> tuple[Array, Array, Array]:
    """The forces (n,) of elastic stops at an instant, the energy [J] in them, and what they take [W]."""
    tau, stored, power = np.zeros(q.shape), np.zeros(()), np.zeros(())
    for depth, rate, sign in ((lower - q, -v, 1.0), (q - upper, v, -1.0)):
        d = np.maximum(depth, 0.0)
        elastic = stiffness * d
        push = elastic * np.maximum(1 + damping * rate, 0.0)
        tau = tau + sign * push
        stored = stored + 0.5 * np.sum(elastic * d)
        power = power + np.sum((elastic - push) * rate)
    return tau, stored, power


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
        tau, stored, power = bumped(q, v, as_array(self.stiffness), as_array(self.damping), lower, upper)
        return Effect(joint_forces={self.joint: tau}, stored=stored, power=power, shown={"torque": tau})

    def resisting(self, scene: Scene, h: Scalar) -> Resisting:
        q, v = scene.joint(self.joint)
        bumpers = Bumpers(as_array(self.stiffness), as_array(self.damping), h, v, tuple(self._depths(scene, q)))

        def at(later: Later) -> Resistance:
            tau, slope = bumpers.about(later.velocity(self.joint))
            return Resistance(joint_forces={self.joint: tau}, joint_slopes={self.joint: slope})

        def taken(later: Later, used: Used) -> Effect:
            tau = used.joint_forces[self.joint]
            books = bumpers.books(later.velocity(self.joint), tau)
            return Effect(joint_forces=used.joint_forces, shown={"torque": tau}, **books)

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
        lower, upper = within_reach(lower, upper)
        return np.ones(joint.nv) * lower, np.ones(joint.nv) * upper

    def units(self) -> dict[str, str]:
        return {"torque": "N m, N"}
