"""Joints, trees, forward and inverse dynamics, the two-body problem."""

from poinsot.mechanism.closures import Closure
from poinsot.mechanism.constrained import forward_dynamics, inverse_dynamics
from poinsot.mechanism.coordinate_relations import Coupling, coupling
from poinsot.mechanism.dynamics import inverse_mass_matrix, mass_matrix
from poinsot.mechanism.guides import on_curve, rolling
from poinsot.mechanism.inverse_kinematics import Goal, PoseSolution, solve_pose
from poinsot.mechanism.joints import (
    Joint,
    cylindrical,
    fixed,
    free,
    helical,
    planar,
    prismatic,
    revolute,
    spherical,
    translation,
    universal,
)
from poinsot.mechanism.kinematics import forward_kinematics
from poinsot.mechanism.model import Link, Mechanism
from poinsot.mechanism.relations import Distance, distance, on_line, on_plane

__all__ = [
    "Closure",
    "Coupling",
    "Distance",
    "Goal",
    "Joint",
    "Link",
    "Mechanism",
    "PoseSolution",
    "coupling",
    "cylindrical",
    "distance",
    "fixed",
    "forward_dynamics",
    "forward_kinematics",
    "free",
    "helical",
    "inverse_dynamics",
    "inverse_mass_matrix",
    "mass_matrix",
    "on_curve",
    "on_line",
    "on_plane",
    "planar",
    "prismatic",
    "revolute",
    "rolling",
    "solve_pose",
    "spherical",
    "translation",
    "universal",
]
