"""Shapes that a body touches others by, where they are not those that its inertia is made of."""

from dataclasses import dataclass, field, replace
from typing import Annotated, Any

import numpy as np

from poinsot._errors import FieldError
from poinsot._memo import memo
from poinsot.contact.hulls import ConvexMesh, hull
from poinsot.contact.law import NUMBERS, Material
from poinsot.contact.reach import REACH
from poinsot.contact.spots import SPOTS
from poinsot.spatial import Pose
from poinsot.spatial.arrays import number_in
from poinsot.spatial.inertia import Solid
from poinsot.spatial.mesh import Mesh


@dataclass(frozen=True, eq=False)
class Collider:
    """A shape that a body touches others by: its pose X_BS in the body's frame, and what its surface is made of; None
    for that of what it touches.

    Two shapes may touch if a bit of the first number of `groups` of one is among those of the second number of the
    other; all may by default. Of two surfaces, the one with the higher `priority` counts, else both (`joined`).
    `margin` [m]: how far outside the shape it already touches; those of two shapes add.
    """

    shape: Any
    pose: Pose = field(default_factory=Pose)
    surface: Material | None = None
    groups: tuple[int, int] = (1, 1)
    priority: int = 0
    margin: Annotated[float, "m"] = 0.0

    def __post_init__(self) -> None:
        if type(self.shape) not in {*SPOTS, *REACH}:
            name = type(self.shape).__name__
            mend = ": take pt.hull(mesh), or several convex pieces" if name == "Mesh" else ""
            raise FieldError(f"a {name} is not a shape that can touch anything{mend}.", "shape")
        if self.surface is not None and not isinstance(self.surface, Material):
            raise FieldError(f"surface of a collider must be a pt.Material, not {self.surface!r}.", "surface")
        if not 0 <= number_in(self.margin) < np.inf:
            raise FieldError(f"margin of a collider must be a length [m], zero or more, not {self.margin!r}.", "margin")
        if not isinstance(self.pose, Pose):
            raise FieldError(f"pose of a collider must be a pt.Pose, not {self.pose!r}.", "pose")

    def may_touch(self, other: "Collider") -> bool:
        """Whether the groups of two shapes let them touch."""
        return bool(self.groups[0] & other.groups[1] or other.groups[0] & self.groups[1])


def margin_of(x: Any) -> float:
    """How far outside [m] a collider touches; a `Solid` does not."""
    return float(x.margin) if isinstance(x, Collider) else 0.0


def touching_shape(shape: Any) -> Any:
    """The shape that touches for one of a body: of a mesh that is convex, its hull; an error if it is not."""
    return _hull_of(shape) if type(shape) is Mesh else shape


@memo
def _hull_of(mesh: Mesh) -> ConvexMesh:
    of_it = hull(mesh)
    if mesh.volume < (1 - 0.01) * of_it.volume:
        raise ValueError(
            f"a mesh that fills {100 * mesh.volume / of_it.volume:.3g} % of its hull is not convex, and cannot touch. "
            "Give the body shapes=[pt.hull(mesh)], or convex pieces, such as those that the package coacd finds."
        )
    return of_it


def as_collider(x: Any) -> Collider:
    """A collider, from one, a `Solid` or a shape."""
    if isinstance(x, Collider):
        return x
    return Collider(touching_shape(x.shape), x.pose) if isinstance(x, Solid) else Collider(x)


def joined(a: Collider, b: Collider) -> Material | None:
    """The material of two surfaces that touch: two springs in series, the mean of their damping, and the
    greater friction, torsion and rolling; that of one alone if the other is not said, or has a lower priority."""
    if a.priority != b.priority and (a if a.priority > b.priority else b).surface is not None:
        return (a if a.priority > b.priority else b).surface
    one, other = a.surface, b.surface
    if one is None or other is None:
        return one or other
    both = {name: max(getattr(one, name), getattr(other, name)) for name in ("friction", "torsion", "rolling")}
    k, c = one.stiffness * other.stiffness, 0.5 * (one.damping + other.damping)
    return replace(one, stiffness=k / max(one.stiffness + other.stiffness, 1e-300), damping=c, **both)


def numbers_key(surface: Material | None) -> tuple[float, ...] | None:
    """The numbers that tell materials apart."""
    return None if surface is None else tuple(float(getattr(surface, name)) for name in NUMBERS)
