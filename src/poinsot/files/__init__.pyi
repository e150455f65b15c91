# The public names; `__init__.py` reads this list, and imports each when it is first used.

from poinsot.files.coordinates import from_mujoco, from_pinocchio, to_mujoco, to_pinocchio
from poinsot.files.daveml import DaveModel, load_daveml
from poinsot.files.loading import load_run
from poinsot.files.mjcf import load_mjcf
from poinsot.files.problems import ScenarioError
from poinsot.files.repairs import RepairWarning
from poinsot.files.saving import Writer
from poinsot.files.scenario import Scenario, load_scenario
from poinsot.files.sdf import load_sdf
from poinsot.files.table_files import load_table
from poinsot.files.thrust_curves import MotorData, load_eng
from poinsot.files.two_line_elements import load_tle
from poinsot.files.urdf import load_urdf

__all__ = [
    "DaveModel",
    "MotorData",
    "RepairWarning",
    "Scenario",
    "ScenarioError",
    "Writer",
    "from_mujoco",
    "from_pinocchio",
    "load_daveml",
    "load_eng",
    "load_mjcf",
    "load_run",
    "load_scenario",
    "load_sdf",
    "load_table",
    "load_tle",
    "load_urdf",
    "to_mujoco",
    "to_pinocchio",
]
