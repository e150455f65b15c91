"""Chains of 1 to 200 joints: how the time to compile and to evaluate their forward dynamics grows."""

import itertools
from functools import partial

import numpy as np

import poinsot as pt
import robots
from case import Case, Contender, Measured, Work, cold_cache, relative, seconds
from poinsot.mechanism.derivatives import forward_dynamics_derivatives
from robots import Robot, chain, mechanism

BATCH, CHECKED = 1024, 16
LENGTHS = (1, 2, 5, 10, 20, 50, 100, 200)
states = partial(robots.states, batch=BATCH)


def forward(robot: Robot) -> pt.fuse.Kernel:
    mech = mechanism(robot)
    return pt.kernel("(n),(n),(n)->(n)")(lambda q, v, tau: pt.forward_dynamics(mech, q, v, tau))


def ours(robot: Robot) -> Work:
    return partial(forward(robot), *states(robot), out=np.empty((BATCH, robot.joints)))


def compilation(robot: Robot) -> Work:
    """Trace, compile and call once; nothing in the cache."""

    def work() -> np.ndarray:
        with cold_cache():
            return forward(robot)(*states(robot))

    return Measured(work, partial(seconds, work))


def small_motions(robot: Robot) -> Work:
    """The linear model of a world of the chain about a state, (2 n, 2 n); nothing in the cache, and gravity a little
    different each time, so that nothing is remembered either."""
    number = itertools.count()

    def work() -> np.ndarray:
        world = pt.World(gravity=robots.G * (1 + 1e-12 * next(number)))
        q, v, _ = (x[0] for x in states(robot))
        world.add_mechanism(mechanism(robot), q=q, v=v, limits=False, motors=False)
        with cold_cache():
            return world.linearise().A

    return Measured(work, partial(seconds, work))


def jacobian(robot: Robot) -> np.ndarray:
    """The same by the derivatives of the recursions, written out."""
    q, v, _ = (x[0] for x in states(robot))
    n, tau = robot.joints, np.zeros(robot.joints)
    by_q, by_v, _ = forward_dynamics_derivatives(mechanism(robot), q, v, tau)
    return np.block([[np.zeros((n, n)), np.eye(n)], [by_q, by_v]])


def pinocchio(robot: Robot, pool: bool) -> Work:
    import pinocchio as pin

    model = pin.buildModelFromXML(robot.urdf())
    model.gravity.linear = robots.G
    if pool:
        threads, args = pin.ModelPool(model, 1), [x.T for x in states(robot)]
        return lambda: pin.abaInParallel(1, threads, *args).T.reshape(BATCH, -1)
    data, out = model.createData(), np.empty((BATCH, model.nv))

    def work() -> np.ndarray:
        for i, state in enumerate(zip(*states(robot), strict=True)):
            out[i] = pin.aba(model, data, *state)
        return out

    return work


def expected(robot: Robot) -> np.ndarray:
    return robots.forward_dynamics(robot, *(x[:CHECKED] for x in states(robot)))


def error(result: np.ndarray, expected: np.ndarray) -> float:
    return relative(result[: len(expected)], expected)


CASES = tuple(
    case
    for robot in map(chain, LENGTHS)
    for case in (
        Case(
            name=f"growth-{robot.joints}",
            what=f"Forward dynamics: a chain of {robot.joints} joints, float64, batch {BATCH}; per instance",
            items=BATCH,
            contenders=(
                Contender("poinsot", partial(ours, robot)),
                Contender("pin.aba in a Python loop", partial(pinocchio, robot, False), ">= 5 x", "pinocchio"),
                Contender("pin.abaInParallel, one thread", partial(pinocchio, robot, True), ">= 5 x", "pinocchio"),
            ),
            expected=partial(expected, robot),
            tolerance=1e-8,  # the mass matrix of a long chain is badly conditioned
            error=error,
        ),
        Case(
            name=f"growth-{robot.joints}-compile",
            what=f"Trace, compile and call once the forward dynamics of a chain of {robot.joints} joints, no cache",
            contenders=(Contender("poinsot", partial(compilation, robot), "<= 10 s"),),
            expected=partial(expected, robot),
            tolerance=1e-8,
            error=error,
        ),
    )
) + tuple(
    Case(
        name=f"linearise-{robot.joints}",
        what=f"The first linear model of a world of a chain of {robot.joints} joints: trace, compile, evaluate",
        contenders=(Contender("poinsot", partial(small_motions, robot), "<= 5 s"),),
        expected=partial(jacobian, robot),
        tolerance=1e-6,
    )
    for robot in map(chain, (20, 40, 80, 200))
)
