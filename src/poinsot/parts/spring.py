"""Springs and dampers between any two points of any two bodies."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated, Any

import numpy as np

from poinsot._errors import FieldError
from poinsot._fields import Arguments
from poinsot._signatures import misfit
from poinsot._types import Array, ArrayLike, Scalar
from poinsot.fuse.trace.purity import steady
from poinsot.particles.internal import length_and_direction
from poinsot.parts.element import Effect, Element, require_not_negative, require_points
from poinsot.parts.resisting import Later, Resistance, Resisting, Used
from poinsot.parts.scene import WORLD, Scene
from poinsot.spatial import rotation
from poinsot.spatial.arrays import as_array


@dataclass(frozen=True, eq=False)
class Spring(Element):
    """A spring with the tension T = stiffness (l - rest_length) + damping l' [N], l [m] being the distance of its ends.

    `a`, `b`: the names of two bodies, "world" for a point at rest; `point_a`, `point_b`: points [m] in their frames.
    `tension`: a custom law, (length, rate, stiffness, rest_length, damping) -> T.
    """

    a: str = WORLD
    b: str = WORLD
    stiffness: Annotated[float, "N/m"] = 0.0
    rest_length: Annotated[float, "m"] = 0.0
    damping: Annotated[float, "N s/m"] = 0.0
    point_a: Annotated[ArrayLike, "m"] = (0.0, 0.0, 0.0)
    point_b: Annotated[ArrayLike, "m"] = (0.0, 0.0, 0.0)
    tension: Annotated[
        Callable[..., Any] | None, Arguments("length", "rate", "stiffness", "rest_length", "damping")
    ] = None

    def __post_init__(self) -> None:
        owner = f"spring {self.name!r}"
        require_points(owner, point_a=self.point_a, point_b=self.point_b)
        require_not_negative(owner, rest_length=self.rest_length, damping=self.damping, stiffness=self.stiffness)
        if self.tension is not None:
            numbers = "length", "rate", "stiffness", "rest_length", "damping"
            wrong = misfit(self.tension, *numbers) if callable(self.tension) else f"{self.tension!r}, not a function"
            if wrong:
                raise FieldError(f"tension of {owner} is {wrong}.", "tension")
        if self.a == self.b:
            raise FieldError(
                f"{owner} joins {self.a!r} to itself; its ends must be two bodies, or a body and 'world'.", "b"
            )

    @property
    def internal(self) -> bool:  # type: ignore[override]
        return WORLD not in (self.a, self.b)

    def bodies(self) -> tuple[str, ...]:
        return tuple(name for name in (self.a, self.b) if name != WORLD)

    def effect(self, scene: Scene) -> Effect:
        A, B = scene[self.a], scene[self.b]
        length, n = length_and_direction(B.point(self.point_b) - A.point(self.point_a))
        rate = n @ (B.velocity_of(self.point_b) - A.velocity_of(self.point_a))
        stretch = length - self.rest_length
        stored: Array | None = None
        power: Array | None = None
        if self.tension is not None:
            numbers = (length, rate, self.stiffness, self.rest_length, self.damping)
            T = steady(self.tension, *numbers, role=f"tension of spring {self.name!r}")
        else:
            T = self.stiffness * stretch + self.damping * rate
            stored, power = 0.5 * self.stiffness * stretch * stretch, -self.damping * rate * rate
        ends = ((self.a, A.wrench(T * n, self.point_a)), (self.b, B.wrench(-T * n, self.point_b)))
        shown = {"length": length, "tension": np.asarray(T)}
        return Effect({name: F for name, F in ends if name != WORLD}, stored=stored, power=power, shown=shown)

    @property
    def resists(self) -> bool:
        return self.tension is None

    @property
    def takes_only(self) -> bool:  # type: ignore[override]
        return self.tension is None

    def resisting(self, scene: Scene, h: Scalar) -> Resisting:
        """T = k (l + h l' - rest_length) + c l', and a pull that turns with the spring: as functions of the velocities
        at the end, -df/du = (c + h k) n n^T + h T+/l (1 - n n^T)."""
        A, B = scene[self.a], scene[self.b]
        d = B.point(self.point_b) - A.point(self.point_a)
        u = B.velocity_of(self.point_b) - A.velocity_of(self.point_a)
        length, n = length_and_direction(d)
        pull = self.stiffness * (length - self.rest_length)
        across = h * np.maximum(pull, 0.0) / np.where(length > 0.0, length, 1.0)
        G = (self.damping + h * self.stiffness - across) * np.outer(n, n) + across * np.eye(3)
        moves = {name: self._moves(scene, name, p) for name, p in ((self.a, self.point_a), (self.b, self.point_b))}
        signs = {name: s for name, s in ((self.a, 1.0), (self.b, -1.0)) if name != WORLD}
        resistance = Resistance(
            {name: s * (moves[name].T @ (pull * n + G @ u)) for name, s in signs.items()},
            {name: moves[name].T @ G @ moves[name] for name in signs},
            couplings={(self.a, self.b): -(moves[self.a].T @ G @ moves[self.b])} if self.internal else {},
        )

        def taken(later: Later, used: Used) -> Effect:
            change = sum((-s * (moves[name] @ later.carried(name)) for name, s in signs.items()), np.zeros(3))
            end = u + change
            rate, aside = n @ end, end - (n @ end) * n
            before, after = (0.5 * self.stiffness * (x - self.rest_length) ** 2 for x in (length, length + h * rate))
            shown = {"length": length, "tension": n @ (pull * n + G @ end)}
            return Effect(
                used.wrenches,
                stored=before,
                power=-self.damping * rate * rate,
                shown=shown,
                numerical=-0.5 * h * self.stiffness * rate * rate - across * (aside @ aside),
                foreseen=after,
            )

        return Resisting(lambda later: resistance, taken)

    def _moves(self, scene: Scene, name: str, point: ArrayLike) -> Array:
        """(3, 6): the velocity of the point in world axes, from the twist of the carrier of its body."""
        if name == WORLD:
            return np.zeros((3, 6))
        carrier, X_CB = scene.carrier(name)
        R, r = carrier.pose.R, X_CB @ as_array(point)
        return np.concatenate([-R @ rotation.skew(r), R], axis=1)

    def units(self) -> dict[str, str]:
        return {"length": "m", "tension": "N"}
