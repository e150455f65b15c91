"""Pendulums and sliders over five seconds, against MSC ADAMS: results that Project Chrono publishes with its tests.

A body of 1 kg is let go from rest, 2 m from its joint with the ground, at 9.80665 m/s^2. ADAMS prints six digits; the
spherical and the universal joint carry its own integration error besides, 8.4e-4 m after five seconds.
"""

import numpy as np
import pytest

import poinsot as pt
from poinsot._types import Array
from poinsot.mechanism import dynamics, kinematics
from poinsot.spatial import motion

ARM, BOB = (2, 0, 0), (0, 0, -2)  # where the centre of mass is, from the joint
LONG, TALL = np.diag([0.04, 0.1, 0.1]), np.diag([0.1, 0.1, 0.04])  # about it [kg m^2]
UP, DOWN = pt.Pose.from_euler((np.pi / 2, 0, 0)), pt.Pose.from_euler((-np.pi / 2, 0, 0))
CASES = {  # joint, its frame, centre of mass, moment, tolerances of motions and accelerations
    "revolute": (pt.revolute((0, 0, 1)), DOWN, ARM, LONG, 5e-6, 5e-5),
    "spherical": (pt.spherical(), pt.Pose(), ARM, LONG, 9e-4, 9e-4),
    "universal": (pt.universal((1, 0, 0), (0, 1, 0)), UP, BOB, TALL, 9e-4, 9e-4),
    "cylindrical": (pt.cylindrical((0, 0, 1)), pt.Pose(), ARM, LONG, 5e-6, 5e-6),
    "prismatic": (pt.prismatic((0, 0, 1)), pt.Pose(), ARM, LONG, 5e-6, 5e-6),
}
O = [0, 0, 0]
FALL = [0, 0, -9.80665]

# Of the centre of mass: position, velocity, acceleration; quaternion wxyz; angular velocity, angular acceleration;
# force on the ground. All in world axes. The torque on the ground about the joint is zero.
ADAMS = {
    "revolute": {
        1.0: (
            ([-0.892381, 0, -1.78988], [-5.23742, 0, 2.61123], [11.4612, 0, 13.4207]),
            [0.372092, -0.372092, 0.601288, 0.601288],
            ([0, 2.92614, 0], [0, -2.13443, 0], [-11.4612, 0, -23.2273]),
        ),
        2.5: (
            ([-0.265506, 0, -1.9823], [6.10431, 0, -0.817604], [3.77661, 0, 18.6291]),
            [0.46563, -0.46563, 0.532154, 0.532154],
            ([0, -3.07941, 0], [0, -0.635059, 0], [-3.77661, 0, -28.4357]),
        ),
        5.0: (
            ([-1.99968, 0, -0.0355587], [-0.0146657, 0, 0.824742], [0.510225, 0, -9.55839]),
            [0.00628621, -0.00628621, 0.707079, 0.707079],
            ([0, 0.412436, 0], [0, -4.78297, 0], [-0.510225, 0, -0.248259]),
        ),
    },
    "spherical": {
        1.0: (
            ([-0.892369, 0, -1.78988], [-5.23737, 0, 2.61106], [11.4609, 0, 13.4204]),
            [0.52622, 0, 0.850348, 0],
            ([0, 2.92608, 0], [0, -2.13467, 0], [-11.4609, 0, -23.227]),
        ),
        5.0: (
            ([-1.99967, 0, -0.0361929], [-0.0148923, 0, 0.822711], [0.511671, 0, -9.5582]),
            [0.00904859, 0, 0.999959, 0],
            ([0, 0.411423, 0], [0, -4.78295, 0], [-0.511671, 0, -0.248448]),
        ),
    },
    "universal": {
        2.5: (
            ([0, -0.265279, -1.98233], [0, 6.10396, -0.816939], [0, 3.77304, 18.6269]),
            [0.997789, -0.0664667, 0, 0],
            ([3.07919, 0, 0], [0.634226, 0, 0], [0, -3.77304, -28.4336]),
        ),
        5.0: (
            ([0, -1.99967, -0.0361929], [0, -0.0148923, 0.822711], [0, 0.511669, -9.5582]),
            [0.713476, -0.70068, 0, 0],
            ([-0.411423, 0, 0], [4.78295, 0, 0], [0, -0.511669, -0.248448]),
        ),
    },
    "cylindrical": {
        1.0: (([2, 0, -4.90332], [0, 0, -9.80665], FALL), [1, 0, 0, 0], (O, O, O)),
        5.0: (([2, 0, -122.583], [0, 0, -49.0333], FALL), [1, 0, 0, 0], (O, O, O)),
    },
    "prismatic": {
        2.5: (([2, 0, -30.6458], [0, 0, -24.5166], FALL), [1, 0, 0, 0], (O, O, O)),
        5.0: (([2, 0, -122.583], [0, 0, -49.0333], FALL), [1, 0, 0, 0], (O, O, O)),
    },
}


def simulate(mech: pt.Mechanism, duration: float, h: float = 1e-3) -> tuple[Array, Array]:
    """q and v after some time, from rest, by the classical Runge-Kutta scheme: 1e-10 at this step."""
    nq, n = mech.nq, mech.nv

    def f(y: Array) -> Array:
        q, v = y[:nq], y[nq:]
        return np.concatenate([kinematics.position_rate(mech, q, v), pt.forward_dynamics(mech, q, v, np.zeros(n))])

    def step(i: int, y: Array) -> Array:
        k1 = pt.once(f)(y)
        k2 = pt.once(f)(y + h / 2 * k1)
        k3 = pt.once(f)(y + h / 2 * k2)
        k4 = pt.once(f)(y + h * k3)
        return y + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4)

    run = pt.kernel(f"({nq + n}),()->({nq + n})")(lambda y, steps: pt.fori_loop(steps, step, y))
    y = run(np.concatenate([mech.neutral(), np.zeros(n)]), round(duration / h))
    return y[:nq], y[nq:]


def measured(mech: pt.Mechanism, q: Array, v: Array) -> list[Array]:
    """The quantities that ADAMS prints, in its order, and the torque on the ground."""
    com = mech.links[0].inertia.com
    vdot = pt.forward_dynamics(mech, q, v, np.zeros(mech.nv))
    (X,), (V,), (A,) = (
        kinematics.world_poses(mech, q),
        kinematics.twists(mech, q, v),
        kinematics.accelerations(mech, q, v, vdot),
    )
    (F,), _ = dynamics.link_wrenches(mech, q, v, vdot)
    positions = [X @ com, X.R @ motion.point_velocity(V, com), X.R @ motion.point_acceleration(V, A, com)]
    return [*positions, X.quaternion(), X.R @ V[:3], X.R @ A[:3], -X.R @ F[3:], -X.R @ F[:3]]


def printed(name: str, t: float) -> list[Array]:
    positions, wxyz, rest = ADAMS[name][t]
    return [np.array(x, float) for x in (*positions, wxyz, *rest, O)]


@pytest.mark.parametrize(("name", "t"), [(name, t) for name, times in ADAMS.items() for t in times])
def test_adams(name, t):
    joint, placement, com, moment, of_motion, of_acceleration = CASES[name]
    body = pt.Link("body", pt.Inertia(1.0, com, moment), joint=joint, placement=placement)
    mech = pt.Mechanism((body,), gravity=(0, 0, -9.80665))
    ours, theirs = measured(mech, *simulate(mech, t)), printed(name, t)
    ours[3] = ours[3] * np.sign(ours[3] @ theirs[3])  # a quaternion and its opposite are one orientation
    for k, (a, b) in enumerate(zip(ours, theirs, strict=True)):
        size = max(
            1.0, *(np.abs(printed(name, time)[k]).max() for time in ADAMS[name])
        )  # of this quantity, over the run
        tolerance = of_acceleration if k in (2, 5, 6, 7) else of_motion
        np.testing.assert_allclose(a, b, rtol=0, atol=tolerance * size)
