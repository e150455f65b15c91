"""The first result of a new process, and its memory.

The work is the same in each program: read an arm of two rods from URDF, and tell its accelerations.
"""

import json
import os
import subprocess
import sys
import tempfile
import time
from functools import cache, partial
from pathlib import Path
from typing import Any

import numpy as np

import case
import poinsot as pt
from case import Case, Contender, Measured, Missing, Work
from poinsot.mechanism import dynamics

ROD = (
    '<inertial><origin xyz="0 0 -0.5"/><mass value="{}"/>'
    '<inertia ixx="0.1" iyy="0.1" izz="0.01" ixy="0" ixz="0" iyz="0"/></inertial>'
)
HINGE = '<axis xyz="0 1 0"/><limit lower="-3" upper="3" effort="9" velocity="9"/>'
URDF = f"""<robot name="arm">
<link name="base"/><link name="upper">{ROD.format(2)}</link><link name="lower">{ROD.format(1)}</link>
<joint name="shoulder" type="revolute"><parent link="base"/><child link="upper"/>{HINGE}</joint>
<joint name="elbow" type="revolute"><parent link="upper"/><child link="lower"/><origin xyz="0 0 -1"/>{HINGE}</joint>
</robot>"""
Q, V, TAU = [0.5, -0.3], [1.0, 2.0], [0.1, -0.2]

POINSOT = """
import poinsot as pt
arm = pt.load_urdf("arm.urdf")
forward = pt.kernel("(2),(2),(2)->(2)")(lambda q, v, tau: pt.forward_dynamics(arm, q, v, tau))
print(*forward(q, v, tau))
"""
MUJOCO = """
import mujoco
model = mujoco.MjModel.from_xml_path("arm.urdf")
data = mujoco.MjData(model)
data.qpos, data.qvel, data.qfrc_applied = q, v, tau
mujoco.mj_forward(model, data)
print(*data.qacc)
"""
PINOCCHIO = """
import pinocchio as pin
robot = pin.buildModelFromUrdf("arm.urdf")
print(*pin.aba(robot, robot.createData(), np.array(q), np.array(v), np.array(tau)))
"""
DRAKE = """
from pydrake.multibody.parsing import Parser
from pydrake.multibody.plant import MultibodyPlant
plant = MultibodyPlant(0.0)
Parser(plant).AddModels("arm.urdf")
plant.WeldFrames(plant.world_frame(), plant.GetFrameByName("base"))
plant.Finalize()
context = plant.CreateDefaultContext()
plant.SetPositions(context, q)
plant.SetVelocities(context, v)
bias = plant.CalcBiasTerm(context) - plant.CalcGravityGeneralizedForces(context)
print(*np.linalg.solve(plant.CalcMassMatrix(context), tau - bias))
"""
BEFORE = f"import numpy as np\nq, v, tau = {Q}, {V}, {TAU}\n"


class Process:
    """A new process in a folder of its own: what it prints, and its time [s] and peak memory [MB]."""

    def __init__(self, script: str, warm: bool = False) -> None:
        self.script = script
        self.kept = tempfile.TemporaryDirectory(prefix="poinsot-bench-") if warm else None

    def run(self) -> tuple[list[float], float, float]:
        with tempfile.TemporaryDirectory(prefix="poinsot-bench-") as folder:
            (Path(folder) / "arm.urdf").write_text(URDF)
            cache_folder = self.kept.name if self.kept else f"{folder}/cache"
            here = {"POINSOT_CACHE": cache_folder, "PYTHONPATH": str(Path(pt.__file__).parents[1])}
            return _watched(self.script, folder, os.environ | here)

    def timed(self) -> Work:
        return Measured(self.numbers, lambda: self.run()[1])

    def weighed(self) -> Work:
        return Measured(self.numbers, lambda: self.run()[2])

    def numbers(self) -> list[list[float]]:
        return [self.run()[0]]


def _watched(script: str, folder: str, environment: dict[str, str]) -> tuple[list[float], float, float]:
    """Run it, and ask its parent, a small process, what the system says of it."""
    watch = (
        "import json, resource, subprocess, sys\n"
        "done = subprocess.run([sys.executable, '-c', sys.argv[1]], capture_output=True, text=True)\n"
        "used = resource.getrusage(resource.RUSAGE_CHILDREN)\n"
        "print(json.dumps([done.returncode, done.stdout, done.stderr, used.ru_utime + used.ru_stime, used.ru_maxrss]))"
    )
    begin = time.perf_counter()
    command = [sys.executable, "-S", "-c", watch, BEFORE + script]
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=True)
    wall = time.perf_counter() - begin
    code, printed, complaint, processor, kibibytes = json.loads(done.stdout)
    if code:
        last = complaint.strip().splitlines()[-1]
        raise Missing(last) if "ModuleNotFoundError" in last else RuntimeError(last)
    return [float(x) for x in printed.split()], processor if case.counts_processor_time() else wall, kibibytes / 1024


def programs(kind: str) -> tuple[Contender, ...]:
    """The contenders; `kind`: "timed" or "weighed"."""

    def make(script: str, warm: bool = False) -> Any:
        return partial(_make, script, warm, kind)

    return (
        Contender("poinsot, nothing in the cache", make(POINSOT)),
        Contender("poinsot, machine code in the cache", make(POINSOT, warm=True)),
        Contender("MuJoCo, mj_forward", make(MUJOCO), peer="mujoco"),
        Contender("Pinocchio, aba", make(PINOCCHIO), peer="pinocchio"),
        Contender("Drake, MultibodyPlant", make(DRAKE), peer="pydrake"),
    )


def _make(script: str, warm: bool, kind: str) -> Work:
    process = Process(script, warm)
    return process.timed() if kind == "timed" else process.weighed()


@cache
def accelerations() -> list[list[float]]:
    """By the mass matrix, in plain NumPy."""
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "arm.urdf").write_text(URDF)
        arm = pt.load_urdf(f"{folder}/arm.urdf")
    q, v, tau = map(np.array, (Q, V, TAU))
    return [np.linalg.solve(pt.mass_matrix(arm, q), tau - dynamics.bias_forces(arm, q, v)).tolist()]


CASES = (
    Case(
        name="first-result",
        what="A new process imports, reads an arm of two rods from URDF, compiles, and prints its accelerations",
        contenders=programs("timed"),
        expected=accelerations,
        tolerance=1e-10,
    ),
    Case(
        name="first-result-memory",
        what="The peak memory of that process",
        contenders=programs("weighed"),
        expected=accelerations,
        tolerance=1e-10,
        unit="MB",
    ),
)
