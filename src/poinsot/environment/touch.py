"""Bodies that touch the ground, with friction that holds."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Annotated, Any, ClassVar

import numpy as np

from poinsot._errors import FieldError
from poinsot._types import Array, ArrayLike
from poinsot.contact.colliders import Collider, margin_of
from poinsot.contact.distances import clearance, require_slope
from poinsot.contact.law import Material, numbers_of
from poinsot.contact.pressing import Pressed
from poinsot.contact.spots import SPOTS, Spot, lowest, spots_of
from poinsot.environment.meeting import ContactElement, Meeting
from poinsot.environment.terrain import Terrain
from poinsot.fuse import is_traced
from poinsot.parts.element import Effect, Element, require_finite, whole_number
from poinsot.parts.scene import Footing, Scene
from poinsot.spatial.arrays import as_array
from poinsot.spatial.inertia import Solid


@dataclass(frozen=True, eq=False)
class Ground(Element):
    """The ground, which the shapes of all bodies may touch: the plane n . x = height [m] with the upward `normal` n, or
    a `terrain`, or where `distance`, a function of a point (3,) [m] of the world, is zero: the signed distance [m] from
    the ground, negative within.

    `surface`: stiffness, damping and friction of what touches. `velocity` (3,) [m/s]: of its surface, as of a belt.
    `ignored`: the names of bodies that pass through it. It acts by a `Touch` for each body, called "body-ground"; its
    `force`, `depth`, `slip` and `count`, the number of points that touch, can be recorded. `capacity`: for many bodies;
    they share a list (`TouchList`) with room for so many points that touch. `groups`, `priority`: as of a
    `pt.Collider`; (1, 1) and 0 by default.
    """

    height: Annotated[float, "m"] = 0.0
    normal: Annotated[ArrayLike, "1"] = (0.0, 0.0, 1.0)
    velocity: Annotated[ArrayLike, "m/s"] = (0.0, 0.0, 0.0)
    surface: Material = field(default_factory=Material)
    ignored: tuple[str, ...] = ()
    terrain: Terrain | None = field(default=None, metadata={"described": "if given"})
    distance: Callable[[Any], Any] | None = field(default=None, metadata={"described": "if given"})
    capacity: int | None = field(default=None, metadata={"described": "if given"})
    groups: tuple[int, int] | None = field(default=None, metadata={"described": "if given"})
    priority: int | None = field(default=None, metadata={"described": "if given"})

    structural: ClassVar[tuple[str, ...]] = ("capacity",)

    def __post_init__(self) -> None:
        owner = f"ground {self.name!r}"
        if not isinstance(self.surface, Material):
            raise FieldError(f"surface of {owner} must be a pt.Material, not {self.surface!r}.", "surface")
        if self.terrain is not None and not isinstance(self.terrain, Terrain):
            raise FieldError(f"terrain of {owner} must be a pt.Terrain, not {self.terrain!r}.", "terrain")
        if self.distance is not None and not callable(self.distance):
            raise FieldError(f"distance of {owner} must be a function of a point (3,) [m].", "distance")
        if self.capacity is not None:
            object.__setattr__(self, "capacity", whole_number(owner, "capacity", self.capacity))
        require_finite(owner, height=self.height, normal=self.normal, velocity=self.velocity)
        for name in ("normal", "velocity"):
            if np.shape(as_array(getattr(self, name))) != (3,):
                raise FieldError(f"{name} of {owner} must be three numbers, not {getattr(self, name)!r}.", name)
        if not is_traced(self.normal) and not np.any(np.asarray(self.normal)):
            raise FieldError(f"normal of {owner} must not be zero.", "normal")
        if self.distance is not None:
            require_slope(owner, self.distance)

    def effect(self, scene: Scene) -> Effect:
        return Effect()

    @property
    def bends(self) -> bool:
        """Whether its normal differs from place to place."""
        return self.distance is not None or (self.terrain is not None and callable(self.terrain.heights))

    def under(self, scene: Scene, p: Array) -> Footing:
        """The ground under the point p (3,) [m] of the world."""
        if self.distance is not None:
            return Footing(*clearance(self.distance, p), as_array(self.velocity), np.zeros(3))
        if self.terrain is not None:
            there = self.terrain.under(scene, p)
            return there._replace(velocity=there.velocity + as_array(self.velocity))
        n = as_array(self.normal) / np.linalg.norm(as_array(self.normal))
        return Footing(n @ p - self.height, n, as_array(self.velocity), np.zeros(3))

    def touched_by(self, body: str, solids: tuple[Solid | Collider, ...], surface: Material | None) -> "Touch":
        """The touch of a body with these shapes."""
        count = len(touching_spots(solids))
        return Touch(
            f"{body}-{self.name}", body=body, ground=self.name, count=count, **numbers_of(surface or self.surface)
        )


@dataclass(frozen=True, eq=False)
class Touch(ContactElement):
    """A body that may touch a `ground`, by its shapes.

    The law is that of `contact.law`: at every point that touches, a spring of `stiffness` k [N/m] with the damping c
    [s/m] of Hunt and Crossley, and friction mu with a spring along the ground, so that what rests does not creep. It is
    taken at the end of a step, by the method "implicit".

    `shapes`: where they differ from those that the body's inertia is made of, with their poses. `count`: of the points
    that may touch. States: `stretch` (count, 3) [m], of the springs along the ground, and, if it has `torsion` or
    `rolling`, `turn` (count, 3) [rad]; in world axes.
    """

    body: str = ""
    ground: str = "ground"
    shapes: tuple[Solid | Collider, ...] | None = field(default=None, metadata={"described": "if given"})

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.shapes is not None and len(touching_spots(self.shapes)) != self.count:
            n = len(touching_spots(self.shapes))
            raise FieldError(f"count of touch {self.name!r} must be {n}, the number of points of its shapes.", "count")

    def bodies(self) -> tuple[str, ...]:
        return (self.body,)

    def meeting(self, scene: Scene) -> Meeting:
        (body, X_CB), ground = scene.carrier(self.body), scene.elements[self.ground]
        solids = scene.solids(self.body) if self.shapes is None else self.shapes
        found = touching_spots(solids)
        if len(found) != self.count:
            raise FieldError(
                f"touch {self.name!r} has {self.count} points, but the shapes of {self.body!r} have {len(found)}.",
                "count",
            )

        def up(p: Array) -> Array:
            return body.pose.R.T @ ground.under(scene, body.pose @ p).normal  # type: ignore[attr-defined]

        patches = []
        for (solid, spot), (xi, turn) in zip(found, self.springs(scene, body.pose.R), strict=True):
            X = X_CB @ solid.pose
            r = lowest(spot, X, up(X.p), up if ground.bends else None)  # type: ignore[attr-defined]
            there = ground.under(scene, body.pose @ r)  # type: ignore[attr-defined]
            n, belt = there.normal @ body.pose.R, there.velocity @ body.pose.R
            depth = margin_of(solid) - there.clearance if margin_of(solid) else -there.clearance
            patches.append(Pressed(n, r[None, :], np.stack([depth]), belt, xi, turn))
        return Meeting(self, self.body, None, None, patches)


def touching_spots(solids: tuple[Solid | Collider, ...]) -> list[tuple[Solid | Collider, Spot]]:
    """The spots of all shapes, each with the solid that it belongs to."""
    for solid in solids:
        if type(solid.shape) not in SPOTS:
            mend = ": take pt.hull(mesh)" if type(solid.shape).__name__ == "Mesh" else ""
            raise FieldError(f"a {type(solid.shape).__name__} cannot touch the ground{mend}.", "shapes")
    return [(solid, spot) for solid in solids for spot in spots_of(solid.shape)]
