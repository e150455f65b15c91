"""Attitude feedback against Basilisk: the same sampled law, with a torque and with reaction wheels.

The numbers are those of Basilisk 2.12.1 (package bsk), by `benchmarks/basilisk_attitude.py`: a `Spacecraft` without
gravity, `mrpFeedback` with K = 3.5 N m and P = 30 N m s at 10 Hz, `ExtForceTorque`, or three balanced
`ReactionWheelStateEffector`s; RK4 in steps of 2.5 ms, which agrees with 10 ms to 2e-15.
"""

import numpy as np
import pytest

import poinsot as pt

TIMES = (40.0, 80.0, 120.0)
WHEEL = 0.07957747154594767  # kg m^2, Honeywell HR16
# The modified Rodrigues parameters, and the angular velocity [rad/s] in body axes, at these times [s].
BASILISK = {
    "torque": {
        40.0: ([0.05664510917953875, 0.03663268794165388, -0.04620286697039547],
               [-0.008277504602098886, -0.009266996686259963, 0.016445433039078087]),
        80.0: ([-0.0056868757679618045, -0.017627287696014494, 0.026608370222846962],
               [-0.003616766102333577, -0.0014090926749940496, 0.0009513537331963343]),
        120.0: ([-0.018079361377394024, -0.015188413875221327, 0.01399463262408302],
               [0.00045562520782899563, 0.0013429749214896442, -0.0019072356150525711]),
    },
    "wheels": {
        40.0: ([0.06360272333657528, 0.012247920843877559, -0.06479575547806438],
               [-0.005380347572998549, -0.013243454561451042, 0.014438695608792814]),
        80.0: ([0.009915566725826813, -0.062334252270272096, -0.010316736104941073],
               [-0.0033221439426584544, -0.001196430815737031, 0.001392240470817905]),
        120.0: ([-0.012860644117420508, -0.040680628427853874, -0.007617253165063884],
               [-0.0013978203299426031, 0.003785353341402363, 0.0004554570382146402]),
    },
}  # fmt: skip
SPEEDS = [68.95837553841015, -253.864097692801, 150.75129116629444]  # rad/s, of the wheels after 120 s


def mrp_feedback(t, q, w):
    """-K sigma - P omega, sigma = q / (1 + q0) on the shorter way. Schaub and Junkins, Analytical Mechanics, 8.4."""
    q = np.where(q[0] < 0, -1.0, 1.0) * q
    return -3.5 * q[1:] / (1.0 + q[0]) - 30.0 * w


def craft(wheels):
    world = pt.World(gravity=(0, 0, 0))
    s = np.array([0.1, 0.2, -0.3])
    q = np.array([1 - s @ s, *(2 * s)]) / (1 + s @ s)
    inertia = pt.Inertia(750.0, np.zeros(3), np.diag([900.0, 800.0, 600.0]))
    world.add_body("craft", inertia, orientation=q, angular_velocity=(0.001, -0.01, 0.03))
    signals = {"q": "craft.orientation", "w": "craft.angular_velocity"}
    world.add(pt.Controller("law", mrp_feedback, signals, {"torque": np.zeros(3)}, sample=0.1))
    if not wheels:
        world.add_torque("torque", "craft", pt.Signal("law.torque"), axes="body")
        return world
    for k, (axis, speed) in enumerate(zip(np.eye(3), (100.0, 200.0, 300.0), strict=True)):
        torque = pt.Signal(f"law.torque[{k}]", -1.0)
        world.add(pt.Rotor(f"wheel{k}", "craft", axis=axis, inertia=WHEEL, speed=pt.rpm(speed), torque=torque))
    return world


@pytest.mark.parametrize("kind", BASILISK)
def test_the_attitude_is_that_of_basilisk(kind):
    """To 1e-13: both are converged to rounding, which grows a little over 1200 samples."""
    run = craft(kind == "wheels").simulate(120.0, 0.05, every=40.0, method="rk4")
    for k, t in enumerate(TIMES, start=1):
        q = run.data.orientation[k, 0].values
        sigma, omega = BASILISK[kind][t]
        np.testing.assert_allclose(q[1:] / (np.abs(q[0]) + 1) * np.sign(q[0]), sigma, atol=1e-13)
        np.testing.assert_allclose(run.data.angular_velocity[k, 0], omega, atol=1e-13)
    if kind == "wheels":
        speeds = [float(run.data[f"wheel{k}.speed"][-1]) for k in range(3)]
        np.testing.assert_allclose(speeds, SPEEDS, rtol=1e-12)
