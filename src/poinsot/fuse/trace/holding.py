"""Numbers that derivatives take as constant."""

from typing import Any

from poinsot.fuse.graph.build import build
from poinsot.fuse.graph.nodes import tracing
from poinsot.fuse.trace.traced import Traced, as_objects, objects


def held(x: Any) -> Any:
    """The array x, whose derivatives are taken as zero.

    A solution that was found by iterations is held, and one step of Newton's from there has its derivatives: those of
    a step by where it starts vanish at the solution.
    """
    if not tracing():
        return x
    values = as_objects(x)
    return Traced(objects([build("held", value) for value in values.ravel()], values.shape))
