"""Rigid-body dynamics as the text books write it, in plain NumPy, compiled into fused kernels."""

from poinsot import fuse, spatial
from poinsot.fuse import (
    Table,
    TraceError,
    fori_loop,
    gradient,
    hessian,
    jacobian,
    jvp,
    kernel,
    once,
    set_threads,
    solve_spd,
    threads,
    vjp,
)
from poinsot.spatial import Inertia, Pose

__version__ = "0.1.0"

__all__ = [
    "Inertia",
    "Pose",
    "Table",
    "TraceError",
    "fori_loop",
    "fuse",
    "gradient",
    "hessian",
    "jacobian",
    "jvp",
    "kernel",
    "once",
    "set_threads",
    "solve_spd",
    "spatial",
    "threads",
    "vjp",
]
