"""Closed loops: Andrews' squeezing mechanism, seven bodies and three loops, 0.03 s in steps of 0.1 ms; one thread.

Hairer and Wanner, Solving Ordinary Differential Equations II, section VII.7. MuJoCo holds the loops by soft
constraints, as hard as its step allows; its error is stated beside ours. Exudyn steps one instance, by an implicit
method of second order; its error is 5e-3 with these steps, and falls to 5e-6 with steps that are 100 times shorter.

Steps of different methods are not worth the same. `loops-andrews-to-half-a-radian` and `-to-a-milliradian` count the
whole motion instead: each method in steps that make it as accurate as MuJoCo with 300 and 4800 of its own.
"""

import functools
from functools import partial

import numpy as np

import poinsot as pt
from case import Case, Contender, Measured, Work, seconds

BATCH, STEPS, STEP = 4096, 300, 1e-4
DURATION = 0.03  # [s]
EULER = "semi-implicit euler"
MASSES = (0.04325, 0.00365, 0.02373, 0.00706, 0.07050, 0.00706, 0.05498)
MOMENTS = (2.194e-6, 4.410e-7, 5.255e-6, 5.667e-7, 1.169e-5, 5.667e-7, 1.912e-5)
CENTRES = {1: (92e-5, 0), 2: (-115e-4, 0), 3: (1043e-5, -1874e-5), 5: (2308e-5, -916e-5), 4: (0, -579e-5),
           7: (449e-5, -1228e-5), 6: (579e-5, 0)}  # fmt: skip
PLACES = {1: (0, 0), 2: (7e-3, 0), 3: (-0.03635, 0.03273), 5: (-0.06934, -0.00227), 4: (4e-2, 0),
          7: (-0.06934, -0.00227), 6: (0, -4e-2)}  # fmt: skip
PARENTS = {2: 1, 4: 5, 6: 7}
ENDS = {2: (-28e-3, 0), 3: (0, -35e-3), 4: (0, -2e-2), 6: (2e-2, 0)}
START = dict(zip(CENTRES, (-0.0617138900142764, 0.0, 0.4552798191630704, 0.4873649795438426, 0.2226683901658859,
                           1.2305474445498212, -0.2226683901658859), strict=True))  # fmt: skip
FINAL = np.array([15.8107711952, -15.7563710584, 0.0408222401, 0.5244099659, -0.5347301163, 1.0480807410, 0.5347301163])


@functools.cache
def andrews() -> pt.World:
    world = pt.World(gravity=(0, 0, 0))
    for k, centre in CENTRES.items():
        moment = np.diag([0.5, 0.5, 1.0]) * MOMENTS[k - 1]
        world.add_body(
            f"K{k}",
            pt.Inertia(MASSES[k - 1], (*centre, 0), moment),
            f"K{PARENTS[k]}" if k in PARENTS else None,
            pt.revolute((0, 0, 1)),
            (*PLACES[k], 0),
            q=START[k],
        )
    world.add_motor("drive", "K1", 0.033)
    world.add_spring("spring", "K3", "world", 4530.0, 7785e-5, 0.0, (2e-2, -18e-3, 0), (0.014, 0.072, 0))
    for k in (3, 4, 6):
        world.close(f"pin{k}", "K2", f"K{k}", pt.on_line((0, 0, 1)), (*ENDS[2], 0), (*ENDS[k], 0))
    return world


def poinsot(method: str, steps: int = STEPS, batch: int = BATCH) -> Work:
    """The kernel that `world.simulate` calls."""
    step = DURATION / steps
    run = andrews().simulate(step, step, method=method, ledger=False)
    compiled = run.compiled
    p = np.tile(compiled.parameters({}, {}), (batch, 1))
    x = compiled.to_stepped(compiled.start(p), p)
    return lambda: compiled.from_stepped(compiled.advance(x, p, 0.0, 0, step, steps), p)[:, :7]


def mujoco_rollout(steps: int = STEPS, batch: int = BATCH) -> Work:
    """MuJoCo's own way to advance many states; loops as `connect`, Euler's method."""
    import mujoco
    from mujoco.rollout import Rollout

    step = DURATION / steps

    def body(k: int) -> str:
        (x, y), (cx, cy), I = PLACES[k], CENTRES[k], MOMENTS[k - 1]
        inner = "".join(body(child) for child, parent in PARENTS.items() if parent == k)
        end = f'<site name="E{k}" pos="{ENDS[k][0]} {ENDS[k][1]} 0"/>' if k in ENDS else ""
        end += '<site name="D" pos="0.02 -0.018 0"/>' if k == 3 else ""
        return (
            f'<body pos="{x} {y} 0"><inertial pos="{cx} {cy} 0" mass="{MASSES[k - 1]}" '
            f'diaginertia="{I / 2 * 1.001} {I / 2 * 1.001} {I}"/><joint name="j{k}" axis="0 0 1"/>{end}{inner}</body>'
        )

    pins = "".join(
        f'<connect site1="E2" site2="E{k}" solref="{2 * step} 1" solimp="0.9999 0.9999 0.001"/>' for k in (3, 4, 6)
    )
    model = mujoco.MjModel.from_xml_string(
        f'<mujoco><option gravity="0 0 0" timestep="{step}"/><compiler boundmass="0" boundinertia="0"/>'
        f'<worldbody><site name="C" pos="0.014 0.072 0"/>{"".join(map(body, (1, 3, 5, 7)))}</worldbody>'
        '<tendon><spatial stiffness="4530" springlength="0.07785"><site site="D"/><site site="C"/></spatial></tendon>'
        f'<equality>{pins}</equality><actuator><motor joint="j1"/></actuator></mujoco>'
    )
    data, rollout = mujoco.MjData(model), Rollout(nthread=0)
    begin = np.tile(np.concatenate([[0.0], list(START.values()), np.zeros(7)]), (batch, 1))
    control = np.full((batch, steps, 1), 0.033)

    def work() -> np.ndarray:
        return rollout.rollout(model, data, begin, control=control)[0][:, -1, 1:8]

    return work


def exudyn(steps: int) -> Work:
    """Exudyn: seven bodies in absolute coordinates and ten revolute joints, generalized alpha, one instance."""
    import exudyn as exu
    from exudyn import itemInterface as item

    system = exu.SystemContainer()
    mbs = system.AddSystem()
    poses = {k: andrews().scene()[f"K{k}"].pose for k in CENTRES}
    bodies = {}
    for k, centre in CENTRES.items():
        x, y, _ = poses[k] @ np.array([*centre, 0.0])
        angle = np.arctan2(poses[k].R[1, 0], poses[k].R[0, 0])
        node = mbs.AddNode(item.NodeRigidBody2D(referenceCoordinates=[x, y, angle]))
        body = item.ObjectRigidBody2D(physicsMass=MASSES[k - 1], physicsInertia=MOMENTS[k - 1], nodeNumber=node)
        bodies[k] = mbs.AddObject(body)
    ground = mbs.AddObject(item.ObjectGround())

    def marker(k: int, x: float, y: float) -> int:
        at = [x, y, 0] if k == 0 else [x - CENTRES[k][0], y - CENTRES[k][1], 0]
        body = ground if k == 0 else bodies[k]
        return int(mbs.AddMarker(item.MarkerBodyPosition(bodyNumber=body, localPosition=at)))

    joints = [(marker(PARENTS.get(k, 0), *PLACES[k]), marker(k, 0, 0)) for k in CENTRES]
    joints += [(marker(2, *ENDS[2]), marker(k, *ENDS[k])) for k in (3, 4, 6)]
    for pair in joints:
        mbs.AddObject(item.RevoluteJoint2D(markerNumbers=list(pair)))
    spring = item.SpringDamper(
        markerNumbers=[marker(3, 2e-2, -18e-3), marker(0, 0.014, 0.072)], referenceLength=7785e-5, stiffness=4530.0
    )
    mbs.AddObject(spring)
    turned = mbs.AddMarker(item.MarkerBodyRigid(bodyNumber=bodies[1]))
    mbs.AddLoad(item.Torque(markerNumber=turned, loadVector=[0, 0, 0.033]))
    mbs.Assemble()
    settings = exu.SimulationSettings()
    settings.timeIntegration.numberOfSteps, settings.timeIntegration.endTime = steps, DURATION
    settings.timeIntegration.generalizedAlpha.spectralRadius = 1.0
    settings.timeIntegration.generalizedAlpha.useIndex2Constraints = True
    settings.timeIntegration.generalizedAlpha.useNewmark = True
    settings.timeIntegration.newton.useModifiedNewton = True
    settings.timeIntegration.verboseMode, settings.solutionSettings.writeSolutionToFile = 0, False

    def work() -> np.ndarray:
        mbs.SolveDynamic(settings)
        turns = {k: mbs.GetObjectOutputBody(b, exu.OutputVariableType.Rotation, [0, 0, 0]) for k, b in bodies.items()}
        q = [START[k] + turns[k] - turns.get(PARENTS.get(k, 0), 0.0) for k in CENTRES]  # they begin at zero
        return np.tile(q, (BATCH, 1))

    def measure() -> float:
        """As if it had stepped all instances, one after the other."""
        return seconds(work) * BATCH * STEPS / steps

    return Measured(work, measure)


def error(result: np.ndarray, wanted: np.ndarray) -> float:
    """The greatest error of an angle [rad]."""
    return float(np.abs(result - wanted).max())


CASES = (
    Case(
        name="loops-andrews",
        what=f"Andrews' squeezing mechanism, {BATCH} instances, {STEPS} steps of 0.1 ms; per step",
        items=BATCH * STEPS,
        contenders=(
            Contender("poinsot, rk4", partial(poinsot, "rk4"), "<= 160 ns"),
            Contender("poinsot, midpoint", partial(poinsot, "midpoint"), tolerance=0.02),
            Contender("poinsot, semi-implicit Euler", partial(poinsot, EULER), "<= 80 ns", tolerance=np.inf),
            Contender("mujoco.rollout, Euler", mujoco_rollout, ">= 60 x", "mujoco", tolerance=np.inf),
            Contender("exudyn, generalized alpha", partial(exudyn, STEPS), ">= 200 x", "exudyn", tolerance=np.inf),
        ),
        expected=lambda: np.tile(FINAL, (BATCH, 1)),
        tolerance=3e-6,
        error=error,
    ),
    *(
        Case(
            name=f"loops-andrews-to-{name}",
            what=f"Andrews' squeezing mechanism, {batch} instances, all of the motion of 0.03 s; per instance",
            items=batch,
            contenders=(
                Contender(f"poinsot, rk4, {rk4} steps", partial(poinsot, "rk4", rk4, batch)),
                Contender(f"poinsot, midpoint, {midpoint} steps", partial(poinsot, "midpoint", midpoint, batch)),
                Contender(
                    f"mujoco.rollout, Euler, {mujoco} steps",
                    partial(mujoco_rollout, mujoco, batch),
                    ">= 60 x",
                    "mujoco",
                ),
            ),
            expected=partial(np.tile, FINAL, (batch, 1)),
            tolerance=tolerance,
            error=error,
        )
        for name, tolerance, batch, rk4, midpoint, mujoco in (
            ("half-a-radian", 0.48, BATCH, 40, 100, 300),
            ("a-milliradian", 1.1e-3, 256, 100, 900, 4800),
        )
    ),
)
