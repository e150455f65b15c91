"""Shapes given by their signed distance: the points of other bodies touch them."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated, Any

import numpy as np

from poinsot._errors import FieldError
from poinsot._types import Array
from poinsot.contact.spots import lowest, spots_of
from poinsot.fuse import is_traced, jacobian
from poinsot.fuse.graph.build import is_number
from poinsot.fuse.graph.nodes import Graph, tracing_into
from poinsot.fuse.trace.traced import Traced, objects
from poinsot.spatial import Pose

STEP = 1e-5  # m, to both sides, of the differences that give the normal of a function of plain numbers
TINY = 1e-12  # of slopes, so that nothing is divided by zero


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
        require_slope("a distance shape", self.distance)


def require_slope(owner: str, distance: Callable[[Any], Any]) -> None:
    """An error if a distance is the same at all points, or jumps from one value to another: it has no normal then.

    A function that cannot be traced is not judged, nor one with a result of another shape, which is told when it acts.
    """
    with tracing_into(graph := Graph()):
        p = Traced(objects([graph.param("f") for _ in range(3)]))
        try:
            slopes = jacobian(lambda p: _at(distance, p))(p)
        except Exception:  # whatever a user's function raises on numbers that are not known yet
            return
    if all(is_number(value, 0) for value in slopes.data):
        raise FieldError(
            f"distance of {owner} has no slope anywhere: it must change with the point p, as `lambda p: p[2]` does.",
            "distance",
        )


def clearance(distance: Callable[[Any], Any], p: Array) -> tuple[Array, Array]:
    """The distance [m] at a point (3,) [m] and the unit normal (3,) there; zero where the distance has no slope.

    By the exact derivative where it is compiled, and of plain numbers by central differences.
    """
    if is_traced(p):
        g = jacobian(lambda p: _at(distance, p))(p)
        g = np.where(np.abs(g) < np.inf, g, 0.0)  # the middle of a ball has no slope
    else:
        pairs = ((_at(distance, p + e), _at(distance, p - e)) for e in STEP * np.eye(3))
        g = np.stack([(b - a) / (2 * STEP) for b, a in pairs])
    return _at(distance, p), g / np.sqrt(g @ g + TINY * TINY)


def _at(distance: Callable[[Any], Any], p: Array) -> Array:
    d: Any = distance(p)
    if np.shape(d) != ():
        raise FieldError(f"a distance function must give one number, not an array of shape {np.shape(d)}.", "distance")
    return np.asarray(d) if isinstance(d, float | int) else d


def spots_on_distance(a: Any, X: Pose, b: DistanceShape, Y: Pose) -> list[tuple[Array, Array, Array]]:
    """The normal (3,), point (3,) and depth of each spot of a shape on one given by its distance, in world axes."""

    def up(p: Array) -> Array:
        return Y.R @ clearance(b.distance, (p - Y.p) @ Y.R)[1]

    n, found = up(X.p), []  # at the centre of the shape, where its lowest points are sought first
    for spot in spots_of(a):
        p = lowest(spot, X, n, up)
        gap, out = clearance(b.distance, (p - Y.p) @ Y.R)
        normal = Y.R @ out
        found.append((normal, p - 0.5 * gap * normal, -gap))
    return found
