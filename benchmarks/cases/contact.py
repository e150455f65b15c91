"""Contact by the implicit step against `mujoco.rollout` on the same models.

Both sides start from the same poses with random velocities. The column of errors has, for each side, how far the
positions of its first worlds are off its own limit of fine steps [m]: the two laws of contact are not the same. A
figure that counts both is that error times the time of a step, `contact-quadruped-error-times-cost`.

The humanoid that touches itself starts where it came to lie in a world of ours, with the velocities that it had.
"""

import functools
import warnings
from functools import partial
from typing import Any

import mujoco
import numpy as np
from mujoco import rollout

import legged
import poinsot as pt
from case import Case, Contender, Measured, Work, seconds
from poinsot.mechanism import kinematics
from poinsot.run.compiled import CompiledSystem

BATCH, PEER_BATCH, FEW, FINER = 4096, 64, 4, 32
ROBOTS = {"quadruped": (4e-3, 60), "humanoid": (5e-3, 60)}
SURFACE = pt.Material(3e4, 1.0, 0.7)
ONE, MANY = "implicit, one iteration", "implicit"
BOXES, BOX_STEP, BOX_STEPS = 10, 5e-3, 60
LAIN, FALLS = 600, 64  # steps in which the humanoid falls and comes to lie, and in how many ways


@functools.cache
def velocities(batch: int, count: int) -> np.ndarray:
    return 0.05 * np.random.default_rng(0).normal(size=(batch, count))


def advanced(world: pt.World, method: str, start: Any) -> Any:
    """(h, batch, duration) -> the positions of all bodies at the end, by the compiled steps of a world; `start` changes
    the states (batch, ny) at the start."""
    system = CompiledSystem(world.system(), method, {}, False)
    p = system.parameters({}, {})
    places = pt.kernel(f"({system.system.nq})->({len(system.system.mechanism.links)},3)")(
        lambda q: np.stack([X.p for X in kinematics.world_poses(system.system.mechanism, q)])
    )

    def run(h: float, batch: int, duration: float) -> np.ndarray:
        y = start(system.system, np.tile(system.start(p), (batch, 1)))
        y = system.from_stepped(system.advance(system.to_stepped(y, p), p, 0.0, 0, h, round(duration / h)), p)
        return np.asarray(places(y[:FEW, : system.system.nq]))

    return run


def touching_itself() -> pt.World:
    """The humanoid on the floor, all of whose parts may touch, but those that a joint connects."""
    world = legged.world_of(legged.humanoid(), SURFACE, stops=True)
    world.collide(surface=SURFACE)
    return world


@functools.cache
def lying() -> tuple[np.ndarray, np.ndarray]:
    """q and v of humanoids that fell, (FALLS, nq) and (FALLS, nv)."""
    system = CompiledSystem(touching_itself().system(), MANY, {}, False)
    p, s, h = system.parameters({}, {}), system.system, ROBOTS["humanoid"][0]
    y = np.tile(system.start(p), (FALLS, 1))
    y[:, s.nq : s.nq + s.nv] = velocities(FALLS, s.nv)
    y = system.from_stepped(system.advance(system.to_stepped(y, p), p, 0.0, 0, h, LAIN), p)
    return y[:, : s.nq], y[:, s.nq : s.nq + s.nv]


def self_ours(method: str) -> Work:
    step, steps = ROBOTS["humanoid"]
    q, v = lying()

    def start(system: Any, y: np.ndarray) -> np.ndarray:
        k = np.arange(len(y)) % FALLS
        y[:, : system.nq], y[:, system.nq : system.nq + system.nv] = q[k], v[k]
        return y

    run = advanced(touching_itself(), method, start)
    return _work(lambda h, batch: run(h, batch, steps * step)[:, 0], step)


def self_theirs(cone: str) -> Work:
    """MuJoCo has the hinges in the order in which bodies follow each other down the tree."""
    step, steps = ROBOTS["humanoid"]
    segments, (q, v) = legged.humanoid(), lying()
    order = legged.mjcf_hinges(segments)
    place = np.concatenate([q[:, 4:7], q[:, :4], q[:, 7:][:, order]], axis=1)
    speeds = np.concatenate([_turned(q[:, :4], v[:, 3:6]), v[:, :3], v[:, 6:][:, order]], axis=1)
    start = np.concatenate([place, speeds], axis=1)

    def run(h: float, batch: int) -> np.ndarray:
        text = legged.mjcf_of(segments, h, SURFACE.friction, cone, True, stops=True)
        model = mujoco.MjModel.from_xml_string(text)
        return _rolled(model, start[:batch], round(steps * step / h))[:, :3]

    return _work(run, step, PEER_BATCH)


def _turned(q: np.ndarray, x: np.ndarray) -> np.ndarray:
    """Vectors (n, 3) turned by unit quaternions (n, 4)."""
    w, u = q[:, :1], q[:, 1:]
    return x + 2 * np.cross(u, np.cross(u, x) + w * x)


def error_times_cost(make: Any) -> Measured:
    """The work of a contender, and its error [um] times its time [ns]."""
    work = make()
    return Measured(work, lambda: seconds(work) * 1e9 * error(work(), None) * 1e6)


def ours(robot: str, method: str, surface: pt.Material | None = SURFACE, step: float = 0.0) -> Work:
    """A batch of worlds; the error is found as the work is set up."""
    usual, steps = ROBOTS[robot]
    step = step or usual
    world = legged.world_of(getattr(legged, robot)(), surface, stops=robot == "humanoid")

    def start(system: Any, y: np.ndarray) -> np.ndarray:
        y[:, system.nq : system.nq + system.nv] = velocities(BATCH, system.nv)[: len(y)]
        return y

    run = advanced(world, method, start)
    return _work(lambda h, batch: run(h, batch, steps * step)[:, 0], step)


def theirs(robot: str, cone: str) -> Work:
    step, steps = ROBOTS[robot]
    segments = getattr(legged, robot)()
    rest = [hinge.rest for segment in segments for hinge in segment.hinges]
    place = np.array([*segments[0].place, 1, 0, 0, 0, *rest])

    def run(h: float, batch: int) -> np.ndarray:
        text = legged.mjcf_of(segments, h, SURFACE.friction, cone, False, stops=robot == "humanoid")
        model = mujoco.MjModel.from_xml_string(text)
        v = velocities(BATCH, model.nv)[:batch]
        v = np.concatenate([v[:, 3:6], v[:, :3], v[:, 6:]], axis=1)
        return _rolled(model, np.concatenate([np.tile(place, (batch, 1)), v], axis=1), round(steps * step / h))[:, :3]

    return _work(run, step, PEER_BATCH)


def _rolled(model: Any, start: np.ndarray, steps: int) -> np.ndarray:
    """qpos and qvel at the end."""
    initial = np.concatenate([np.zeros((len(start), 1)), start], axis=1)
    return rollout.rollout(model, [mujoco.MjData(model)], initial, nstep=steps)[0][:, -1, 1:]


def _work(run: Any, step: float, batch: int = BATCH) -> Work:
    """The work, as many times as make BATCH worlds, and how far its first worlds are off their limit."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        fine = run(step / FINER, FEW)

    def work() -> np.ndarray:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            for _ in range(BATCH // batch):
                end = run(step, batch)
        return end[:FEW] - fine

    return work


def boxes_ours(method: str) -> Work:
    """A stack; the boxes lie a little aside, each world differently."""
    made = pt.World(gravity=(0, 0, -9.81))
    wood = pt.Material(1e5, 5.0, 0.6)
    made.add_ground(surface=wood)
    for k in range(BOXES):
        made.add_body(f"b{k}", pt.Inertia.box(1.0, (0.2, 0.2, 0.2)), position=(0.002 * (k % 3), 0, 0.1 + 0.2 * k))
        if k:
            made.ignore(f"b{k}", "ground")
            made.collide(f"b{k}", f"b{k - 1}", wood)

    def start(system: Any, y: np.ndarray) -> np.ndarray:
        v = velocities(BATCH, 3 * BOXES)[: len(y)].reshape(-1, BOXES, 3)
        for k, sv in enumerate(system.mechanism.v_slices):
            y[:, system.nq + sv.start + 3 : system.nq + sv.stop] = v[:, k]
        return y

    run = advanced(made, method, start)
    return _work(lambda h, batch: run(h, batch, BOX_STEPS * BOX_STEP).reshape(-1, 3 * BOXES), BOX_STEP)


def boxes_theirs(cone: str) -> Work:
    def run(h: float, batch: int) -> np.ndarray:
        bodies = "".join(
            f'<body pos="0 0 {0.1 + 0.2 * k}"><freejoint/>'
            '<geom type="box" size=".1 .1 .1" mass="1" friction="0.6 0 0"/></body>'
            for k in range(BOXES)
        )
        model = mujoco.MjModel.from_xml_string(
            f'<mujoco><option timestep="{h}" cone="{cone}" gravity="0 0 -9.81"/><worldbody>'
            f'<geom type="plane" size="0 0 1" friction="0.6 0 0"/>{bodies}</worldbody></mujoco>'
        )
        q = np.zeros((batch, BOXES, 7))
        q[..., 0], q[..., 2] = 0.002 * (np.arange(BOXES) % 3), 0.1 + 0.2 * np.arange(BOXES)
        q[..., 3] = 1
        v = np.zeros((batch, BOXES, 6))
        v[..., :3] = velocities(BATCH, 3 * BOXES)[:batch].reshape(batch, BOXES, 3)
        start = np.concatenate([q.reshape(batch, -1), v.reshape(batch, -1)], axis=1)
        end = _rolled(model, start, round(BOX_STEPS * BOX_STEP / h))
        return end[:, : 7 * BOXES].reshape(batch, BOXES, 7)[..., :3].reshape(batch, -1)

    return _work(run, BOX_STEP, PEER_BATCH)


def error(result: np.ndarray, _: Any) -> float:
    return float(np.abs(result).max())


def _case(robot: str, targets: tuple[str, str]) -> Case:
    step, steps = ROBOTS[robot]
    return Case(
        name=f"contact-{robot}",
        what=f"a {robot} on the floor, {BATCH} worlds, {steps} steps of {1e3 * step:g} ms; per world and step. The "
        "errors are those of each side against its own limit of fine steps [m]",
        items=BATCH * steps,
        contenders=(
            Contender("poinsot, one iteration", partial(ours, robot, ONE), targets[0]),
            Contender("poinsot, three iterations", partial(ours, robot, MANY)),
            Contender("poinsot, semi-implicit Euler in the air", partial(ours, robot, "semi-implicit euler", None)),
            Contender("mujoco.rollout, pyramidal", partial(theirs, robot, "pyramidal"), targets[1], "mujoco"),
            Contender("mujoco.rollout, elliptic", partial(theirs, robot, "elliptic"), targets[1], "mujoco"),
        ),
        expected=lambda: None,
        tolerance=0.1,
        error=error,
    )


CASES = (
    _case("quadruped", ("<= 170 ns", ">= 70 x")),
    _case("humanoid", ("<= 400 ns", ">= 55 x")),
    Case(
        name="contact-quadruped-error-times-cost",
        what="the quadruped of `contact-quadruped`: the error of each side times its time for a world and step",
        items=BATCH * ROBOTS["quadruped"][1],
        contenders=(
            Contender("poinsot, one iteration", partial(error_times_cost, partial(ours, "quadruped", ONE))),
            Contender("poinsot, three iterations", partial(error_times_cost, partial(ours, "quadruped", MANY))),
            *(
                Contender(
                    f"mujoco.rollout, {cone}",
                    partial(error_times_cost, partial(theirs, "quadruped", cone)),
                    ">= 100 x",
                    "mujoco",
                )
                for cone in ("pyramidal", "elliptic")
            ),
        ),
        expected=lambda: None,
        tolerance=0.1,
        error=error,
        unit="um ns",
    ),
    Case(
        name="contact-humanoid-itself",
        what=f"a humanoid that lies on the floor, its arms and legs touching each other, {BATCH} worlds, "
        f"{ROBOTS['humanoid'][1]} steps of 5 ms; per world and step. The errors are those of each side against its own "
        "limit of fine steps [m]",
        items=BATCH * ROBOTS["humanoid"][1],
        contenders=(
            Contender("poinsot, three iterations", partial(self_ours, MANY), "<= 2.5 us"),
            Contender("poinsot, one iteration", partial(self_ours, ONE)),
            Contender("mujoco.rollout, pyramidal", partial(self_theirs, "pyramidal"), ">= 10 x", "mujoco"),
            Contender("mujoco.rollout, elliptic", partial(self_theirs, "elliptic"), ">= 10 x", "mujoco"),
        ),
        expected=lambda: None,
        tolerance=0.1,
        error=error,
    ),
    Case(
        name="standing-quadruped",
        what=f"a quadruped that stands under PD, {BATCH} worlds, 60 steps of 2 ms, beside explicit steps of the same "
        "robot in the air; per world and step",
        items=BATCH * 60,
        contenders=(
            Contender("semi-implicit Euler in the air", partial(ours, "quadruped", "semi-implicit euler", None, 2e-3)),
            Contender("implicit, one iteration", partial(ours, "quadruped", ONE, SURFACE, 2e-3), "<= 2.5 x"),
            Contender("implicit, three iterations", partial(ours, "quadruped", MANY, SURFACE, 2e-3), "<= 2.5 x"),
        ),
        expected=lambda: None,
        tolerance=0.1,
        error=error,
    ),
    Case(
        name="contact-boxes",
        what=f"a stack of {BOXES} boxes, {BATCH} worlds, {BOX_STEPS} steps of 5 ms; per world and step. The errors are "
        "those of each side against its own limit of fine steps [m]",
        items=BATCH * BOX_STEPS,
        contenders=(
            Contender("poinsot, three iterations", partial(boxes_ours, MANY), "<= 3 us"),
            Contender("mujoco.rollout, pyramidal", partial(boxes_theirs, "pyramidal"), ">= 15 x", "mujoco"),
            Contender("mujoco.rollout, elliptic", partial(boxes_theirs, "elliptic"), ">= 15 x", "mujoco"),
        ),
        expected=lambda: None,
        tolerance=0.1,
        error=error,
    ),
)
