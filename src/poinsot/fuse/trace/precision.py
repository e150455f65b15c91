"""Thresholds beside rounding, which is a matter of the floats that a kernel is run with."""

from typing import Any

from poinsot.fuse.graph.build import build
from poinsot.fuse.graph.nodes import tracing
from poinsot.fuse.trace.traced import Traced, objects


def coarseness() -> Any:
    """How many times farther apart floats are than those of 64 bits: 1, and in a kernel that is run in float32 2^29."""
    if not tracing():
        return 1.0
    return Traced(objects([build("mul", build("spacing", 1.0), 2.0**52)], ()))
