"""Ground contact: points, balls and wheels on a compliant plane, with friction."""

from dataclasses import dataclass
from typing import Annotated, ClassVar

import numpy as np

from poinsot._errors import FieldError
from poinsot._types import Array, ArrayLike
from poinsot.fuse import is_traced
from poinsot.parts.element import Effect, Element, require_finite, require_not_negative
from poinsot.parts.scene import BodyState, Scene
from poinsot.spatial.arrays import as_array


@dataclass(frozen=True, eq=False)
class Contact(Element):
    """Points of a body that may touch the ground.

    The ground is the plane n . x = height, n its upward normal. At the depth d below it, the normal force on a point is

        f_n = k d (1 + c d')      (Hunt and Crossley; never negative)

    and the friction f_t = -mu f_n v / sqrt(v^2 + slip^2): Coulomb's law, smoothed over the speed `slip`.

    `points` (k, 3) [m] in the body's frame; with a `radius` [m] each is the centre of a ball, and with an `axis` as
    well, of a thin wheel about it, fixed to the body. `stiffness` k [N/m] and `damping` c [s/m] of each point,
    `friction` mu, `slip` [m/s]. A body at rest on n points sinks in by m g/(n k); on a slope of the angle a it creeps
    down at the speed slip tan(a) / sqrt(mu^2 - tan(a)^2).
    """

    takes_only: ClassVar[bool] = True

    body: str = ""
    points: Annotated[ArrayLike, "m"] = ((0.0, 0.0, 0.0),)
    radius: Annotated[float, "m"] = 0.0
    axis: Annotated[ArrayLike | None, "1"] = None
    stiffness: Annotated[float, "N/m"] = 1e5
    damping: Annotated[float, "s/m"] = 0.5
    friction: Annotated[float, "1"] = 0.8
    slip: Annotated[float, "m/s"] = 1e-2
    height: Annotated[float, "m"] = 0.0
    normal: Annotated[ArrayLike, "1"] = (0.0, 0.0, 1.0)

    def __post_init__(self) -> None:
        owner = f"contact {self.name!r}"
        require_finite(owner, points=self.points, height=self.height)
        require_not_negative(
            owner, radius=self.radius, stiffness=self.stiffness, damping=self.damping, friction=self.friction
        )
        for name, direction in {"normal": self.normal, "axis": self.axis}.items():
            if direction is None or is_traced(direction):
                continue
            require_finite(owner, **{name: direction})
            if np.shape(direction) != (3,) or not np.any(np.asarray(direction)):
                raise FieldError(f"{name} of {owner} must be three numbers, not all zero; got {direction!r}.", name)
        if np.shape(self.points) == (3,):
            object.__setattr__(self, "points", as_array(self.points)[None, :])
        if np.ndim(self.points) != 2 or np.shape(self.points)[1] != 3:
            raise FieldError(f"points of {owner} must have shape (k, 3), not {np.shape(self.points)}.", "points")
        if not is_traced(self.slip) and not self.slip > 0:
            raise FieldError(f"slip of {owner} must be a positive speed [m/s], not {self.slip!r}.", "slip")

    def bodies(self) -> tuple[str, ...]:
        return (self.body,)

    def effect(self, scene: Scene) -> Effect:
        body = scene[self.body]
        n = as_array(self.normal) / np.linalg.norm(as_array(self.normal))
        total, stored, power, force = np.zeros(6), np.zeros(()), np.zeros(()), np.zeros(3)
        for centre in as_array(self.points):
            p = centre + self._lowest(body, n)
            depth = self.height - n @ body.point(p)
            v = body.velocity_of(p)
            rate = -(n @ v)  # d' in contact
            in_contact = depth > 0
            elastic = self.stiffness * np.where(in_contact, depth, 0.0)
            normal = elastic * np.maximum(1 + self.damping * rate, 0.0)
            sliding = v + rate * n
            f_t = -self.friction * normal / np.sqrt(sliding @ sliding + self.slip**2) * sliding
            f = normal * n + f_t
            total, force = total + body.wrench(f, p), force + f
            stored = stored + 0.5 * elastic * np.where(in_contact, depth, 0.0)
            power = power + (elastic - normal) * rate + f_t @ sliding
        return Effect({self.body: total}, stored=stored, power=power, shown={"force": force})

    def _lowest(self, body: BodyState, n: Array) -> Array:
        """From the centre of the ball or wheel to its lowest point, in the body's frame."""
        if isinstance(self.radius, float) and self.radius == 0.0:
            return np.zeros(3)
        up = body.pose.R.T @ n
        if self.axis is not None:
            a = as_array(self.axis) / np.linalg.norm(as_array(self.axis))
            radial = up - (up @ a) * a
            up = radial / np.sqrt(radial @ radial + 1e-30)  # a wheel that lies flat touches with its centre
        return -self.radius * up

    def units(self) -> dict[str, str]:
        return {"force": "N"}
