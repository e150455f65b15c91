"""Robots: inverse dynamics, mass matrix, forward dynamics, its derivatives and steps, against other libraries."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

import poinsot as pt
import robots
from case import Case, Contender, Measured, Work, seconds
from poinsot.files import from_mujoco, from_pinocchio, to_mujoco, to_pinocchio
from poinsot.mechanism import derivatives, kinematics
from poinsot.spatial import quaternion
from robots import Robot, mechanism

BATCH, CHECKED, STEPS, STEP = 4096, 64, 10, 1e-3
ROBOTS = {
    robot.name: robot for robot in (robots.panda(), robots.solo12(), robots.humanoid(floating=False), robots.humanoid())
}
states = partial(robots.states, batch=BATCH)
Arrays = tuple[np.ndarray, ...]


@dataclass(frozen=True)
class Quantity:
    """What is computed: in the books, by us, by the reference; how many of q, v and tau it takes."""

    title: str
    ours: Callable[..., Any]
    reference: Callable[..., Any]
    outputs: str
    takes: int = 3


def steps(mech: pt.Mechanism, q: Any, v: Any, tau: Any) -> Any:
    """Semi-implicit Euler."""

    def step(_: Any, state: Any) -> Any:
        q, v = state
        v = v + STEP * pt.forward_dynamics(mech, q, v, tau)
        return kinematics.integrate(mech, q, STEP * v), v

    return pt.fori_loop(STEPS, step, (q, v))


def reference_steps(robot: Robot, q: Any, v: Any, tau: Any) -> Any:
    move = np.vectorize(partial(kinematics.integrate, mechanism(robot)), signature="(q),(n)->(q)")
    for _ in range(STEPS):
        v = v + STEP * robots.forward_dynamics(robot, q, v, tau)
        q = move(q, STEP * v)
    return q, v


QUANTITIES = {
    "rnea": Quantity("Inverse dynamics", pt.inverse_dynamics, robots.inverse_dynamics, "({n})"),
    "crba": Quantity("The mass matrix", pt.mass_matrix, robots.mass_matrix, "({n},{n})", takes=1),
    "aba": Quantity("Forward dynamics", pt.forward_dynamics, robots.forward_dynamics, "({n})"),
    "daba": Quantity(
        "Forward dynamics by q, v and tau",
        derivatives.forward_dynamics_derivatives,
        robots.forward_dynamics_derivatives,
        "({n},{n}),({n},{n}),({n},{n})",
    ),
    "step": Quantity(f"{STEPS} semi-implicit Euler steps", steps, reference_steps, "({q}),({n})"),
}


def kernel(robot: Robot, name: str) -> pt.fuse.Kernel:
    mech, quantity = mechanism(robot), QUANTITIES[name]
    inputs = ",".join(["({q})", "({n})", "({n})"][: quantity.takes])
    signature = f"{inputs}->{quantity.outputs}".format(q=mech.nq, n=mech.nv)
    return pt.kernel(signature)(lambda *x: quantity.ours(mech, *x))


def batched(robot: Robot, name: str, reuse: bool = True) -> Work:
    """`reuse`: results go into the same arrays each time, as with the others."""
    function, args = kernel(robot, name), states(robot)[: QUANTITIES[name].takes]
    out = function(*args)
    return partial(function, *args, out=out) if reuse else partial(function, *args)


def one(robot: Robot) -> Work:
    return partial(kernel(robot, "aba"), *(x[0] for x in states(robot)))


# Pinocchio. Inputs are converted before the clock starts, results after it has stopped.
@cache
def to_pin(robot: Robot) -> tuple[Any, Any, Arrays]:
    import pinocchio as pin

    model = pin.buildModelFromXML(robot.urdf(), *([pin.JointModelFreeFlyer()] if robot.floating else []))
    model.gravity.linear = robots.G
    q, v, tau = states(robot)
    theirs, u = to_pinocchio(mechanism(robot), q, v)
    return model, model.createData(), (theirs, u, to_pinocchio(mechanism(robot), q, tau)[1])


def from_pin(robot: Robot, x: np.ndarray) -> np.ndarray:
    """Forces, accelerations, and matrices along both axes."""
    order = from_pinocchio(mechanism(robot), to_pin(robot)[2][0][0], np.arange(mechanism(robot).nv))[1].astype(int)
    return x[:, order] if x.ndim == 2 else x[:, order][:, :, order]


def pin_loop(robot: Robot, name: str) -> Work:
    import pinocchio as pin

    model, data, (q, v, tau) = to_pin(robot)
    n, takes = model.nv, QUANTITIES[name].takes
    count = 3 if name == "daba" else 1
    shape = (count, BATCH, n, n) if name in ("crba", "daba") else (count, BATCH, n)
    out = np.empty(shape)
    function = {"rnea": pin.rnea, "crba": pin.crba, "aba": pin.aba, "daba": pin.computeABADerivatives}[name]

    def work() -> None:
        for i, state in enumerate(zip(*(q, v, tau)[:takes], strict=True)):
            result = function(model, data, *state)
            if name == "daba":
                out[0, i], out[1, i], out[2, i] = data.ddq_dq, data.ddq_dv, data.Minv
            else:
                out[0, i] = result

    def result() -> Any:
        work()
        parts = out.copy()
        for k in {"crba": (0,), "daba": (2,)}.get(name, ()):  # they fill the upper triangle alone
            parts[k] = np.triu(parts[k]) + np.swapaxes(np.triu(parts[k], 1), -1, -2)
        parts = tuple(from_pin(robot, part) for part in parts)
        return parts if count > 1 else parts[0]

    return Measured(result, partial(seconds, work))


def pin_pool(robot: Robot, name: str) -> Work:
    """The loop over the batch in C++, on memory in Eigen's own order."""
    import pinocchio as pin

    model, _, args = to_pin(robot)
    pool, args = pin.ModelPool(model, 1), tuple(x.T for x in args)
    function = {"rnea": pin.rneaInParallel, "aba": pin.abaInParallel}[name]
    work = partial(function, 1, pool, *args)
    return Measured(lambda: from_pin(robot, work().T), partial(seconds, work))


def pin_steps(robot: Robot) -> Work:
    import pinocchio as pin

    model, data, args = to_pin(robot)
    out = np.empty((BATCH, model.nq)), np.empty((BATCH, model.nv))

    def work() -> None:
        for i, (q, v, tau) in enumerate(zip(*args, strict=True)):
            for _ in range(STEPS):
                v = v + STEP * pin.aba(model, data, q, v, tau)
                q = pin.integrate(model, q, STEP * v)
            out[0][i], out[1][i] = q, v

    def result() -> Any:
        work()
        return same_sign(from_pinocchio(mechanism(robot), *out), states(robot)[0], robot)

    return Measured(result, partial(seconds, work))


def pin_one(robot: Robot) -> Work:
    import pinocchio as pin

    model, data, args = to_pin(robot)
    work = partial(pin.aba, model, data, *(x[0] for x in args))
    return Measured(lambda: from_pin(robot, work()[None])[0], lambda: seconds(work, 1000))


def same_sign(result: Any, before: np.ndarray, robot: Robot) -> Any:
    """q and -q are one rotation: take that which is near the one before."""
    q, v = result
    if robot.floating:
        q = q.copy()
        q[:, :4] *= np.sign(np.sum(q[:, :4] * before[:, :4], -1, keepdims=True))
    return q, v


# MuJoCo.
@cache
def to_mj(robot: Robot) -> Any:
    """With all that MuJoCo can leave out left out: no contacts, no constraints, no sensors, no actuators."""
    import mujoco

    spec = mujoco.MjSpec.from_string(robot.urdf())
    spec.option.timestep, spec.option.gravity = STEP, robots.G
    spec.compiler.boundmass = spec.compiler.boundinertia = 0.0
    for name in ("CONSTRAINT", "CONTACT", "EULERDAMP", "ACTUATION", "SPRING", "DAMPER", "SENSOR"):
        spec.option.disableflags |= int(getattr(mujoco.mjtDisableBit, f"mjDSBL_{name}"))
    if robot.floating:
        spec.bodies[1].add_freejoint()
    q, v, tau = states(robot)
    mech = mechanism(robot)
    return spec.compile(), (*to_mujoco(mech, q, v), to_mujoco(mech, q, tau)[1])


def from_mj(robot: Robot, q: np.ndarray, v: np.ndarray) -> Any:
    return same_sign(from_mujoco(mechanism(robot), q, v), states(robot)[0], robot)


def mj_forward(robot: Robot) -> Work:
    import mujoco

    model, args = to_mj(robot)
    data, out = mujoco.MjData(model), np.empty((BATCH, model.nv))
    q, v, tau = data.qpos, data.qvel, data.qfrc_applied

    def work() -> None:
        for i, state in enumerate(zip(*args, strict=True)):
            q[:], v[:], tau[:] = state
            mujoco.mj_forward(model, data)
            out[i] = data.qacc

    def result() -> Any:
        """Their derivative of a free body's velocity is in world axes."""
        work()
        vdot = from_mj(robot, args[0], out)[1]
        if robot.floating:
            u = states(robot)[1]
            vdot[:, 3:6] -= np.cross(u[:, :3], u[:, 3:6])
        return vdot

    return Measured(result, partial(seconds, work))


def mj_rollout(robot: Robot) -> Work:
    import mujoco
    from mujoco.rollout import Rollout

    model, (q, v, tau) = to_mj(robot)
    data, nq = mujoco.MjData(model), q.shape[1]
    start, state = np.hstack([np.zeros((BATCH, 1)), q, v]), np.empty((BATCH, STEPS, 1 + nq + v.shape[1]))
    control = np.repeat(tau[:, None], STEPS, axis=1)
    torques, rollout = int(mujoco.mjtState.mjSTATE_QFRC_APPLIED), Rollout(nthread=0)
    options = {"control": control, "control_spec": torques, "state": state, "nstep": STEPS}

    def work() -> None:
        rollout.rollout(model, data, start, **options)

    def result() -> Any:
        work()
        return from_mj(robot, state[:, -1, 1 : 1 + nq], state[:, -1, 1 + nq :])

    return Measured(result, partial(seconds, work))


def mj_batch(robot: Robot) -> Work:
    from mjbatch import Batch

    model, args = to_mj(robot)
    batch = Batch(model, num_sims=BATCH, num_threads=1)
    fields = [batch.bind(name) for name in ("qpos", "qvel", "qfrc_applied")]

    def work() -> None:
        for field, x in zip(fields, args, strict=True):
            field[:] = x
        batch.step(nstep=STEPS)

    def result() -> Any:
        work()
        return from_mj(robot, *(field.copy() for field in fields[:2]))

    return Measured(result, partial(seconds, work))


def mjx_steps(robot: Robot) -> Work:
    """MuJoCo in JAX; results are copied to NumPy after the clock has stopped."""
    import jax
    from mujoco import mjx

    model, args = to_mj(robot)
    theirs, start = mjx.put_model(model), mjx.make_data(model)

    def steps(q: Any, v: Any, tau: Any) -> Any:
        state = start.replace(qpos=q, qvel=v, qfrc_applied=tau)
        state, _ = jax.lax.scan(lambda x, _: (mjx.step(theirs, x), None), state, None, length=STEPS)
        return state.qpos, state.qvel

    compiled, given = jax.jit(jax.vmap(steps)), [jax.device_put(x) for x in args]

    def work() -> Any:
        return jax.block_until_ready(compiled(*given))

    return Measured(lambda: from_mj(robot, *(np.asarray(x) for x in work())), partial(seconds, work))


# dynibo: velocities and forces of a floating base are in world axes, angular first.
def dynibo_loop(robot: Robot, name: str) -> Work:
    import dynibo

    with TemporaryDirectory() as folder:
        path = Path(folder, "robot.urdf")
        path.write_text(robot.urdf())
        model = (dynibo.FloatingRobot if robot.floating else dynibo.Robot).from_urdf(str(path))
    return dynibo_work(robot, name, model)


def dynibo_work(robot: Robot, name: str, model: Any) -> Work:
    q, v, x = states(robot)
    n, base, takes, mech = v.shape[1], 6 * robot.floating, QUANTITIES[name].takes, mechanism(robot)
    function = {"rnea": model.inverse_dynamics, "crba": model.mass_matrix, "aba": model.forward_dynamics}[name]
    out = np.empty((BATCH, n * n if name == "crba" else n))
    moving = [mech.index(part.name) for part in robot.parts if part.axis]
    moving.sort(key=lambda i: model.link_id(mech.links[i].name))  # their order
    order = [*range(base), *(mech.v_slices[i].start for i in moving)]
    angles = q[:, [mech.q_slices[i].start for i in moving]]
    T, shift, bases = np.zeros((BATCH, n, n)) + np.eye(n)[order], np.zeros((BATCH, n)), [()] * BATCH  # theirs = T ours
    if robot.floating:
        T[:, :3, :3] = T[:, 3:6, 3:6] = quaternion.to_matrix(q[:, :4])
        shift[:, 3:6] = np.cross(v[:, :3], v[:, 3:6])  # the rate of R v is R (v' + omega x v)
    v, x = ((T @ y[..., None])[..., 0] for y in (v, x + shift if name == "rnea" else x))
    if robot.floating:
        bases = [(_dynibo_base(*state),) for state in zip(q, v, x, strict=True)]
    joints = [angles, v[:, base:], x[:, base:] if name == "rnea" else x]
    joints = [np.ascontiguousarray(y) for y in joints]

    def work() -> None:
        for i, (floating, *state) in enumerate(zip(bases, *joints[:takes], strict=True)):
            function(*floating, *state, out=out[i])

    def result() -> Any:
        work()
        back = np.swapaxes(T, -1, -2)
        if name == "crba":
            return back @ out.reshape(BATCH, n, n) @ T
        return (back @ out[..., None])[..., 0] - (shift if name == "aba" else 0)

    return Measured(result, partial(seconds, work))


def _dynibo_base(q: np.ndarray, v: np.ndarray, vdot: np.ndarray) -> Any:
    import dynibo

    pose = dynibo.Pose(translation=q[4:7], rotation_xyzw=q[[1, 2, 3, 0]])
    velocity, acceleration = (dynibo.Twist(angular=y[:3], linear=y[3:6]) for y in (v, vdot))
    return dynibo.BaseState(frame=pose, velocity=velocity, acceleration=acceleration)


# Cases.
def error(result: Any, expected: Any) -> float:
    """The greatest error of the instances that are checked, relative to the largest entry of each."""
    pairs = zip(*(x if isinstance(x, tuple) else (x,) for x in (result, expected)), strict=True)
    worst = 0.0
    for a, b in pairs:
        a, b = (np.asarray(x)[: len(b)].reshape(len(b), -1) for x in (a, b))
        worst = max(worst, float(np.max(np.abs(a - b).max(-1) / np.abs(b).max(-1))))
    return worst


def expected(robot: Robot, name: str) -> Any:
    quantity = QUANTITIES[name]
    return quantity.reference(robot, *(x[:CHECKED] for x in states(robot)[: quantity.takes]))


def contenders(robot: Robot, name: str) -> Sequence[Contender]:
    target = ">= 30 x" if name in ("aba", "step") and robot.name != "solo12" else ">= 15 x"
    rows = [Contender("poinsot", partial(batched, robot, name))]
    if name in ("crba", "daba"):
        rows.append(Contender("poinsot, new arrays each time", partial(batched, robot, name, reuse=False)))
    if name == "step":
        loose = 1e-3 if robot.floating else None  # another first-order step of a free body: apart by its square
        rows += [
            Contender("pin.aba and pin.integrate in a loop", partial(pin_steps, robot), target, "pinocchio"),
            Contender("mujoco.rollout, one thread", partial(mj_rollout, robot), target, "mujoco", tolerance=loose),
            Contender("mjbatch, one thread", partial(mj_batch, robot), target, "mjbatch", tolerance=loose),
        ]
        if robot.name in ("panda", "solo12"):  # compiled in seconds
            rows.append(
                Contender("MJX, one thread", partial(mjx_steps, robot), "", "mujoco.mjx", tolerance=loose, apart=True)
            )
        return rows
    rows.append(Contender("Pinocchio in a Python loop", partial(pin_loop, robot, name), target, "pinocchio"))
    if name in ("rnea", "aba"):
        rows.append(
            Contender("Pinocchio, ...InParallel, one thread", partial(pin_pool, robot, name), target, "pinocchio")
        )
    if name == "aba":
        rows.append(Contender("MuJoCo, mj_forward in a loop", partial(mj_forward, robot), target, "mujoco"))
    if name != "daba":
        rows.append(Contender("dynibo in a Python loop", partial(dynibo_loop, robot, name), target, "dynibo"))
    return rows


CASES = (
    *(
        Case(
            name=f"mechanisms-{robot.name}-{name}",
            what=f"{quantity.title}: {robot.name}, {mechanism(robot).nv} degrees of freedom, float64, batch {BATCH}; "
            + ("per step and instance" if name == "step" else "per instance"),
            items=BATCH * (STEPS if name == "step" else 1),
            contenders=tuple(contenders(robot, name)),
            expected=partial(expected, robot, name),
            tolerance=1e-9,
            error=error,
        )
        for robot in ROBOTS.values()
        for name, quantity in QUANTITIES.items()
    ),
    *(
        Case(
            name=f"mechanisms-{robot.name}-one",
            what=f"Forward dynamics: {robot.name}, one instance a call",
            contenders=(
                Contender("poinsot", partial(one, robot)),
                Contender("pin.aba", partial(pin_one, robot), ">= 1 x", "pinocchio"),
            ),
            expected=lambda robot=robot: robots.forward_dynamics(robot, *(x[:1] for x in states(robot)))[0],
            tolerance=1e-9,
        )
        for robot in ROBOTS.values()
    ),
)
