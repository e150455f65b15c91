"""Shapes given by their signed distance: the points of other bodies touch them."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated, Any

import numpy as np

from poinsot._errors import FieldError
from poinsot._types import Array
from poinsot.contact.spots import spots_of
from poinsot.spatial import Pose

STEP = 1e-5  # m, to both sides, of the differences that give the normal
TINY = 1e-12


@dataclass(frozen=True, eq=False)
class DistanceShape:
    """A solid by its signed distance: `distance` of a point (3,) [m] gives the distance [m] from its surface, negative
    within. `radius` [m]: of a ball about the origin that holds it.

    Shapes of other bodies touch it by their spots (`contact.spots`): corners, rims, the lowest points of round ones.
    """

    distance: Annotated[Callable[[Any], Any], "m"]
    radius: Annotated[float, "m"] = 1.0

    def __post_init__(self) -> None:
        if not callable(self.distance):
            raise FieldError(f"distance={self.distance!r} must be a function of a point (3,) [m].", "distance")
        if not 0 < self.radius < np.inf:
            raise FieldError(
                f"radius of a distance shape must be a positive length [m], not {self.radius!r}.", "radius"
            )


def clearance(distance: Callable[[Any], Any], p: Array) -> tuple[Array, Array]:
    """The distance [m] at a point (3,) [m] and the unit normal (3,) there, by central differences."""
    slopes = []
    for e in STEP * np.eye(3):
        slopes.append((_at(distance, p + e) - _at(distance, p - e)) / (2 * STEP))
    g = np.stack(slopes)
    return _at(distance, p), g / np.sqrt(g @ g + TINY * TINY)


def _at(distance: Callable[[Any], Any], p: Array) -> Array:
    d: Any = distance(p)
    if np.shape(d) != ():
        raise FieldError(f"a distance function must give one number, not an array of shape {np.shape(d)}.", "distance")
    return np.asarray(d) if isinstance(d, float | int) else d


def spots_on_distance(a: Any, X: Pose, b: DistanceShape, Y: Pose) -> list[tuple[Array, Array, Array]]:
    """The normal (3,), point (3,) and depth of each spot of a shape on one given by its distance, in world axes."""
    _, up = clearance(b.distance, (X.p - Y.p) @ Y.R)
    n = Y.R @ up  # at the centre of the shape, where its lowest points are sought
    found = []
    for spot in spots_of(a):
        p = X @ spot(n @ X.R)
        gap, out = clearance(b.distance, (p - Y.p) @ Y.R)
        normal = Y.R @ out
        found.append((normal, p - 0.5 * gap * normal, -gap))
    return found
