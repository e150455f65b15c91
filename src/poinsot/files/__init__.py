"""Robots from files, URDF and MJCF, and their coordinates as other libraries write them."""

from poinsot.files.coordinates import from_mujoco, from_pinocchio, to_mujoco, to_pinocchio
from poinsot.files.mjcf import load_mjcf
from poinsot.files.urdf import load_urdf

__all__ = ["from_mujoco", "from_pinocchio", "load_mjcf", "load_urdf", "to_mujoco", "to_pinocchio"]
