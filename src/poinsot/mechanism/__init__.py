"""Joints, trees, forward and inverse dynamics, the two-body problem."""

from poinsot.mechanism.dynamics import forward_dynamics, inverse_dynamics, inverse_mass_matrix, mass_matrix
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

__all__ = [
    "Joint",
    "Link",
    "Mechanism",
    "cylindrical",
    "fixed",
    "forward_dynamics",
    "forward_kinematics",
    "free",
    "helical",
    "inverse_dynamics",
    "inverse_mass_matrix",
    "mass_matrix",
    "planar",
    "prismatic",
    "revolute",
    "spherical",
    "translation",
    "universal",
]
