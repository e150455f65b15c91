"""A brick that tumbles, free or held at a point, and the ways to its attitude in the end: ours and those of the peers.

Each way is a function (setting, bodies) -> work; the work returns the attitudes (bodies, 4) in the end. The setting is
a number of steps, or a tolerance where the solver chooses its steps itself.
"""

import functools
import time
from collections.abc import Callable
from typing import Any

import numpy as np

from case import Work
from poinsot.body.exact.free_top import FreeTop
from poinsot.integrate import dop853, taylor_series
from poinsot.integrate.single import compiled
from poinsot.spatial import Inertia, quaternion

BRICK = Inertia.box(mass=1.0, size=(0.3, 0.2, 0.1))
MOMENTS = np.diag(BRICK.moment)
OMEGA = 2 * np.pi * np.array([0.3, 1.0, 0.3])  # [rad/s]; the middle axis is the unstable one
DURATION = 100.0  # [s]; about as many turns, and 58 flips
ARM = np.array([0.01, 0.005, 0.025])  # [N m], weight times centre of mass, where the brick is held at a point
Way = Callable[[float, int], Work]


@functools.cache
def spins(bodies: int) -> np.ndarray:
    """Angular velocities (bodies, 3) [rad/s] that differ by a percent; the first is OMEGA."""
    spread = np.random.default_rng(0).normal(size=(bodies, 3))
    spread[0] = 0.0
    return OMEGA * (1 + 0.01 * spread)


@functools.cache
def exact(bodies: int, duration: float = DURATION) -> np.ndarray:
    """By Jacobi's elliptic functions, (bodies, 4)."""
    q0 = np.array([1.0, 0.0, 0.0, 0.0])
    return np.array([FreeTop(MOMENTS, q0, omega).orientation(duration) for omega in spins(bodies)])


def angle(q: Any, expected: np.ndarray) -> float:
    """By how much attitudes (..., 4) differ, at most [rad]."""
    w, *v = np.moveaxis(quaternion.product(quaternion.conjugate(expected), np.asarray(q)), -1, 0)
    return float(np.max(2 * np.arctan2(np.linalg.norm(v, axis=0), np.abs(w))))


def processor_time(work: Work) -> float:
    """Of one call [s]; quick work is called repeatedly. A busy machine changes it less than the time on the clock."""
    calls, begin, now = 0, time.process_time(), 0.0
    while now < 0.005:
        work()
        calls, now = calls + 1, time.process_time() - begin
    return now / calls


# Ours.
def free(t: Any, X_WB: Any, V_WB_B: Any) -> np.ndarray:
    return np.zeros(6)


def heavy(t: Any, X_WB: Any, V_WB_B: Any) -> np.ndarray:
    """The moment of the weight about the point at which the brick is held."""
    return np.concatenate([np.cross(ARM, -X_WB.R[2]), np.zeros(3)])


def ours(method: str, steps: float, bodies: int = 1, duration: float = DURATION, load: Any = free) -> Work:
    enter, advance, leave = compiled(method, BRICK, load)
    state = enter(np.eye(3), np.zeros(3), np.pad(spins(bodies), ((0, 0), (0, 3))))
    state = tuple(np.asfortranarray(array) for array in state)
    when = np.array(0.0), np.array(duration / steps), np.array(float(steps))
    return lambda: leave(*advance(*state, *when))[1]


def ours_taylor(tolerance: float, bodies: int = 1, duration: float = DURATION, f: Any = None) -> Work:
    """Our Taylor series, of the equations below, written out."""
    rates = derivative if f is None else f
    groups = (slice(0, 3), slice(3, 7))
    kernel = taylor_series.solution(lambda t, y: np.stack(rates(t, list(y))), tolerance, groups)
    times, y0 = np.array([0.0, duration]), np.asfortranarray(start(bodies)) if bodies > 1 else start(1)[0]
    return lambda: unit(kernel(times, y0)[..., 1, 3:])


def ours_adaptive(tolerance: float, bodies: int = 1) -> Work:
    """SciPy's DOP853 on our compiled derivative."""
    problems = [dop853.BodyProblem(BRICK, None, [*omega, 0, 0, 0], None) for omega in spins(bodies)]

    def end(problem: Any) -> np.ndarray:
        solver = dop853.solver(problem.derivative, 0.0, problem.start, DURATION, tolerance, 1e-2 * tolerance)
        for _ in dop853.steps(solver):
            pass
        return solver.y[3:7]

    return lambda: unit(np.array([end(problem) for problem in problems]))


# Euler's equations and the quaternion's, for those that have no rigid bodies of their own.
COUPLING = (np.roll(MOMENTS, -1) - np.roll(MOMENTS, -2)) / MOMENTS


def derivative(t: Any, y: Any) -> list[Any]:
    """d/dt of omega (3) and q (4), written out."""
    a, b, c = COUPLING.tolist()
    x, y, z, q0, q1, q2, q3 = y
    return [
        a * (y * z), b * (z * x), c * (x * y),
        -0.5 * (q1 * x + q2 * y + q3 * z), 0.5 * (q0 * x + q2 * z - q3 * y),
        0.5 * (q0 * y + q3 * x - q1 * z), 0.5 * (q0 * z + q1 * y - q2 * x),
    ]  # fmt: skip


def heavy_derivative(t: Any, y: Any) -> list[Any]:
    a, b, c = ARM.tolist()
    q0, q1, q2, q3 = y[3:]
    x, y_, z = 2.0 * (q0 * q2 - q1 * q3), -2.0 * (q2 * q3 + q0 * q1), 2.0 * (q1 * q1 + q2 * q2) - 1.0  # down
    moment = b * z - c * y_, c * x - a * z, a * y_ - b * x
    rates = derivative(t, y)
    return [rate + m / I for rate, m, I in zip(rates, moment, MOMENTS.tolist(), strict=False)] + rates[3:]


def start(bodies: int) -> np.ndarray:
    return np.hstack([spins(bodies), np.tile([1.0, 0.0, 0.0, 0.0], (bodies, 1))])


def unit(q: np.ndarray) -> np.ndarray:
    return q / np.linalg.norm(q, axis=-1, keepdims=True)


def scipy(
    tolerance: float, bodies: int = 1, method: str = "DOP853", duration: float = DURATION, f: Any = derivative
) -> Work:
    from scipy.integrate import solve_ivp

    options = {"method": method, "rtol": tolerance, "atol": 1e-2 * tolerance, "t_eval": (duration,)}
    return lambda: unit(np.array([solve_ivp(f, (0, duration), y, **options).y[3:, -1] for y in start(bodies)]))


def heyoka(tolerance: float, bodies: int = 1, duration: float = DURATION, f: Any = derivative) -> Work:
    """Adaptive Taylor series; several bodies side by side in its batch mode."""
    import heyoka as hy

    names = hy.make_vars(*"x y z q0 q1 q2 q3".split())
    system = list(zip(names, f(0.0, names), strict=True))
    y0 = start(bodies).T.copy() if bodies > 1 else start(1)[0]
    kind = hy.taylor_adaptive_batch if bodies > 1 else hy.taylor_adaptive
    solver = kind(system, y0.copy(), tol=tolerance)

    def work() -> np.ndarray:
        solver.set_time(0.0) if bodies > 1 else setattr(solver, "time", 0.0)
        solver.state[:] = y0
        solver.propagate_until(duration)
        return unit(solver.state[3:].T)

    return work


def mujoco(integrator: str, steps: float, bodies: int = 1) -> Work:
    """A free joint, with all that MuJoCo can leave out left out; the loop over the steps is in C."""
    import mujoco

    spec = mujoco.MjSpec()
    spec.option.timestep, spec.option.gravity = DURATION / steps, [0.0, 0.0, 0.0]
    spec.option.integrator = getattr(mujoco.mjtIntegrator, f"mjINT_{integrator}")
    for name in ("CONSTRAINT", "CONTACT", "EULERDAMP", "ACTUATION", "SPRING", "DAMPER", "SENSOR", "GRAVITY"):
        spec.option.disableflags |= int(getattr(mujoco.mjtDisableBit, f"mjDSBL_{name}"))
    brick = spec.worldbody.add_body(mass=BRICK.mass, inertia=MOMENTS, explicitinertial=True)
    brick.add_freejoint()
    model = spec.compile()
    data, out = mujoco.MjData(model), np.empty((bodies, 4))

    def work() -> np.ndarray:
        for k, omega in enumerate(spins(bodies)):
            mujoco.mj_resetData(model, data)
            data.qvel[3:] = omega
            mujoco.mj_step(model, data, int(steps))
            out[k] = data.qpos[3:]
        return out

    return work
