"""Robots from files, URDF and MJCF, and their coordinates as other libraries write them; runs saved and loaded;
scenarios."""

from poinsot.files.coordinates import from_mujoco, from_pinocchio, to_mujoco, to_pinocchio
from poinsot.files.mjcf import load_mjcf
from poinsot.files.problems import ScenarioError
from poinsot.files.results import Writer, load_run
from poinsot.files.scenario import Scenario, load_scenario
from poinsot.files.urdf import load_urdf

__all__ = [
    "Scenario",
    "ScenarioError",
    "Writer",
    "from_mujoco",
    "from_pinocchio",
    "load_mjcf",
    "load_run",
    "load_scenario",
    "load_urdf",
    "to_mujoco",
    "to_pinocchio",
]
