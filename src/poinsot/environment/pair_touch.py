"""Two bodies that touch each other, with friction that holds."""

from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np

from poinsot.contact.colliders import Collider, margin_of
from poinsot.contact.contact_patch import ContactPatch
from poinsot.contact.patches import patches, require_meeting
from poinsot.contact.pressing import Pressed
from poinsot.environment.meeting import ContactElement, Meeting
from poinsot.parts.scene import Scene
from poinsot.spatial.inertia import Solid


@dataclass(frozen=True, eq=False)
class PairTouch(ContactElement):
    """Two bodies, a and b, whose shapes may touch each other.

    Where two shapes touch, every point of the patch pushes by the law of `contact.law`, with `stiffness` k [N/m] and
    `damping` c [s/m]. Friction mu acts on the patch as a whole, at the centre of its points, with springs along it
    and about its normal that slide at Coulomb's limit; about the normal at mu f_n r, r the radius of gyration of the
    pressure. It is taken at the end of a step, by the method "implicit".

    `count`: of the patches. States, for each: `stretch` (3,) [m] and `turn` (3,) [rad], in world axes.
    """

    a: str = ""
    b: str = ""
    shapes_a: tuple[Solid | Collider, ...] | None = field(default=None, metadata={"described": "if given"})
    shapes_b: tuple[Solid | Collider, ...] | None = field(default=None, metadata={"described": "if given"})

    turning: bool = True

    internal: ClassVar[bool] = True

    def bodies(self) -> tuple[str, ...]:
        return (self.a, self.b)

    def meeting(self, scene: Scene) -> Meeting:
        solids_a = scene.solids(self.a) if self.shapes_a is None else self.shapes_a
        solids_b = scene.solids(self.b) if self.shapes_b is None else self.shapes_b
        (at_a, X_a), (at_b, X_b) = scene.carrier(self.a), scene.carrier(self.b)
        X_AB = at_a.pose.inverse() @ at_b.pose
        found = [
            patch
            for one, other in pairs_of(solids_a, solids_b, f"touch {self.name!r}")
            for patch in patches(
                one.shape, X_a @ one.pose, other.shape, X_AB @ (X_b @ other.pose), margin_of(one) + margin_of(other)
            )
        ]
        springs = zip(found, self.springs(scene, at_a.pose.R), strict=True)
        still = np.zeros(3)
        pressed = [
            Pressed(p.normal, p.points, p.depths, still, xi, turn, 1.0 if p.share is None else p.share)
            for p, (xi, turn) in springs
        ]
        return Meeting(self, self.a, self.b, X_AB.adjoint(), pressed)


def pairs_of(
    a: tuple[Solid | Collider, ...], b: tuple[Solid | Collider, ...], owner: str
) -> list[tuple[Solid | Collider, Solid | Collider]]:
    """All pairs of shapes of two bodies; an error if it is not known how one of them touches."""
    for one in a:
        for other in b:
            require_meeting(one.shape, other.shape, owner)
    return [(one, other) for one in a for other in b]


def meetings(a: tuple[Solid | Collider, ...], b: tuple[Solid | Collider, ...], owner: str) -> list[ContactPatch]:
    """The patches of two bodies, wherever they are."""
    return [
        patch for one, other in pairs_of(a, b, owner) for patch in patches(one.shape, one.pose, other.shape, other.pose)
    ]
