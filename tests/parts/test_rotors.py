"""Rotors against separate bodies on joints, the equations of the texts, and closed forms."""

import numpy as np
import pytest

import poinsot as pt
from poinsot.spatial import motion

HULL = pt.Inertia.box(3.0, (0.3, 0.4, 0.5))
WHEEL = pt.Inertia(0.5, [0.0, 0.0, 0.0], np.diag([0.02, 0.011, 0.011]))  # its axis is x
X_BR = pt.Pose(p=(0.1, 0.05, -0.1))
WHOLE = HULL + X_BR @ WHEEL
MOVING = {"angular_velocity": (0.4, -0.3, 0.8), "velocity": (1.0, 0.0, 0.0)}


def with_real_wheel(torque: float, arm: bool) -> pt.World:
    world = pt.World()
    body = world.add_body("hull", HULL, **MOVING)
    if arm:
        body = world.add_body("arm", HULL, body, pt.revolute((0, 1, 1)), placement=(0.5, 0, 0), v=[2.0])
    joint = pt.revolute((1, 0, 0), damping=0.001)
    world.add_body("wheel", WHEEL, parent=body, joint=joint, placement=X_BR, v=[100.0])
    world.add_motor("motor", "wheel", torque)
    return world


def with_rotor(torque: float, arm: bool) -> pt.World:
    world = pt.World()
    body = world.add_body("hull", HULL if arm else WHOLE, **MOVING)
    if arm:
        body = world.add_body("arm", WHOLE, body, pt.revolute((0, 1, 1)), placement=(0.5, 0, 0), v=[2.0])
    body.add(pt.Rotor("wheel", axis=(1, 0, 0), inertia=0.02, speed=100.0, torque=torque, friction=0.001, angle=0.0))
    return world


@pytest.mark.parametrize("arm", [False, True], ids=["free body", "tree"])
def test_rotor_moves_like_a_body_on_a_joint(arm):
    real = with_real_wheel(0.3, arm).simulate(2.0, 1e-3, method="rk4")
    part = with_rotor(0.3, arm).simulate(2.0, 1e-3)
    carrier = "arm" if arm else "hull"
    for body in ("hull", carrier):
        for what in ("position", "orientation", "velocity", "angular_velocity"):
            np.testing.assert_allclose(part[body][what], real[body][what], rtol=0, atol=2e-13)
    np.testing.assert_allclose(part.data[f"{carrier}.wheel.speed"], real.data.v[:, -1], rtol=1e-13)
    np.testing.assert_allclose(part.data[f"{carrier}.wheel.angle"], real.data.q[:, -1], rtol=1e-12, atol=1e-12)
    for quantity in ("energy", "momentum", "angular_momentum"):
        scale = float(np.abs(real.data[quantity]).max())
        np.testing.assert_allclose(part.data[quantity], real.data[quantity], rtol=0, atol=1e-13 * scale)


def test_rotor_loads_the_joint_of_its_body_like_a_separate_wheel():
    real, part = (make(0.3, True).motion() for make in (with_real_wheel, with_rotor))
    np.testing.assert_allclose(part.reaction("arm"), real.reaction("arm"), rtol=1e-12, atol=1e-12)


def test_equation_of_motion():
    """F = G V' + J sigma' s - ad(V)^T (G V + h), solved for V'."""
    world = pt.World(gravity=(0, 0, 0))
    s = np.array([0.6, 0.0, 0.8])
    world.add_body("hull", WHOLE, **MOVING).add(
        pt.Rotor("wheel", axis=s, inertia=0.02, speed=lambda t, scene: 70.0, lag=0.1)
    )
    m = world.motion()
    V, h = m["hull"].twist, np.zeros(6)  # the rotor starts from rest, and speeds up with 70/0.1 rad/s^2
    G, J_change = WHOLE.spatial(), 0.02 * 700.0 * np.concatenate([s, np.zeros(3)])
    np.testing.assert_allclose(m.vdot, np.linalg.solve(G, motion.ad_dual(V, G @ V + h) - J_change), rtol=1e-13)


def test_constant_engine_momentum_of_stevens_and_lewis():
    """Their scalar equations for the rates of the F-16, with its engine's momentum of 160 slug ft^2/s along x.

    Stevens and Lewis, Aircraft Control and Simulation (1992), section 3.5 and appendix A: mass properties of the F-16,
    and the coefficients c1 to c9.
    """
    slug_ft2 = 1.3558179483
    Jx, Jy, Jz, Jxz, h = (x * slug_ft2 for x in (9496.0, 55814.0, 63100.0, 982.0, 160.0))
    moment = np.array([[Jx, 0, -Jxz], [0, Jy, 0], [-Jxz, 0, Jz]])
    P, Q, R = 0.7, -0.2, 0.3
    world = pt.World(gravity=(0, 0, 0))
    plane = world.add_body("plane", pt.Inertia(9295.4, np.zeros(3), moment), angular_velocity=(P, Q, R))
    plane.add(pt.Rotor("engine", axis=(1, 0, 0), inertia=0.5, speed=h / 0.5))
    gamma = Jx * Jz - Jxz**2
    c1, c2 = ((Jy - Jz) * Jz - Jxz**2) / gamma, (Jx - Jy + Jz) * Jxz / gamma
    c4, c5, c6, c7 = Jxz / gamma, (Jz - Jx) / Jy, Jxz / Jy, 1 / Jy
    c8, c9 = ((Jx - Jy) * Jx + Jxz**2) / gamma, Jx / gamma
    rates = [(c1 * R + c2 * P + c4 * h) * Q, (c5 * P - c7 * h) * R - c6 * (P**2 - R**2), (c8 * P - c2 * R + c9 * h) * Q]
    np.testing.assert_allclose(world.motion().vdot[:3], rates, rtol=1e-13)


def test_fast_rotor_needs_no_small_step():
    """Nutation of a symmetric body with a rotor on its axis, at 30,000 rpm and with steps of 20 ms.

    omega_x + i omega_y turns at ((I3 - I1) omega3 + h)/I1.
    """
    I1, I3, J = 2.0, 3.0, 1e-3
    world = pt.World(gravity=(0, 0, 0))
    top = world.add_body("top", pt.Inertia(5.0, np.zeros(3), np.diag([I1, I1, I3])), angular_velocity=(0.1, 0.0, 0.4))
    top.add(pt.Rotor("disc", inertia=J, speed=pt.rpm(30_000)))
    run = world.simulate(20.0, 0.02)
    rate = ((I3 - I1) * 0.4 + J * pt.rpm(30_000)) / I1
    omega = run["top"].angular_velocity.values
    expected = 0.1 * np.exp(1j * rate * run.time)
    np.testing.assert_allclose(omega[:, 0] + 1j * omega[:, 1], expected, atol=2e-8)  # the splitting's own error
    assert run.ledger.relative_residual.max() < 1e-9


def test_wheels_steer_a_satellite_and_angular_momentum_is_conserved():
    world = pt.World(gravity=(0, 0, 0))
    sat = world.add_body("sat", pt.Inertia.box(40.0, (0.8, 0.7, 0.6)), angular_velocity=(0.02, -0.01, 0.015))

    def steer(k: int):
        def torque(t, scene):
            """On the wheel: the opposite of the torque on the satellite."""
            body = scene["sat"]
            return 1.5 * body.orientation[1 + k] * np.sign(body.orientation[0]) + 3.0 * body.angular_velocity[k]

        return torque

    for k, axis in enumerate(np.eye(3)):
        sat.add(pt.Rotor(f"wheel{k}", axis=axis, inertia=0.05, torque=steer(k), max_torque=0.2))
    turned = pt.Pose.from_euler([0.5, -0.3, 0.8]).quaternion()
    world["sat.orientation"] = turned
    run = world.simulate(60.0, 1e-2)
    assert np.abs(run["sat"].orientation.values[-1, 1:]).max() < 1e-3
    assert np.abs(run["sat"].angular_velocity.values[-1]).max() < 1e-3
    L = run.data.angular_momentum.values
    assert np.abs(L - L[0]).max() < 1e-10 * np.abs(L[0]).max()
    assert max(np.abs(run.data[f"sat.wheel{k}.torque"]).max() for k in range(3)) <= 0.2
    assert run.ledger.relative_residual[3] < 1e-6  # torques have corners where they reach their limit


def test_friction_slows_a_wheel_exponentially():
    """sigma' = -c sigma (1/J + 1/(I - J)): the wheel slows down, and the body takes its momentum."""
    world = pt.World(gravity=(0, 0, 0))
    I, J, c = 0.5, 0.02, 0.01
    body = world.add_body("body", pt.Inertia(5.0, np.zeros(3), np.diag([I, I, I])))
    body.add(pt.Rotor("wheel", axis=(0, 0, 2), inertia=J, speed=50.0, torque=0.0, friction=c))
    run = world.simulate(3.0, 1e-3)
    sigma = 50.0 * np.exp(-c * (1 / J + 1 / (I - J)) * run.time)
    np.testing.assert_allclose(run.data["body.wheel.speed"], sigma, rtol=1e-11)
    np.testing.assert_allclose(I * run["body"].angular_velocity[:, 2] + J * sigma, J * 50.0, rtol=1e-11)


def test_spin_up_reaction_load_and_limits():
    world = pt.World(gravity=(0, 0, 0))
    body = world.add_body("body", pt.Inertia(5.0, np.zeros(3), np.diag([0.5, 0.5, 0.5])))
    body.add(pt.Rotor("prop", inertia=0.02, torque=5.0, max_torque=0.5, max_speed=40.0))
    run = world.simulate(4.0, 1e-3)
    speed = run.data["body.prop.speed"].values
    assert speed.max() <= 40.0
    assert speed[-1] > 39.6
    np.testing.assert_allclose(run["body"].angular_velocity[:, 2], -0.02 / 0.5 * speed, rtol=1e-12)
    # A rotor at a prescribed speed transmits the torque of the air to the body.
    world = pt.World(gravity=(0, 0, 0))
    body = world.add_body("body", pt.Inertia(5.0, np.zeros(3), np.diag([0.5, 0.5, 0.5])))
    body.add(pt.Rotor("prop", inertia=0.02, speed=100.0, load=-0.7))
    run = world.simulate(1.0, 1e-3)
    np.testing.assert_allclose(run["body"].angular_velocity[-1, 2], -0.7 / 0.5, rtol=1e-12)
    np.testing.assert_allclose(run.ledger.inflow[run.ledger.sources.index("body.prop"), 6], -0.7, rtol=1e-12)


@pytest.mark.parametrize(
    "speed", [50.0, lambda t, scene: 50.0 * np.sin(3.0 * t), pt.Tabulated([0.0, 0.5, 1.0], [0.0, 80.0, 20.0])]
)
def test_ledger_closes_for_a_prescribed_speed(speed):
    """The work of the motor is in the ledger, and momentum is conserved; the residual is the error of the scheme."""
    world = pt.World(gravity=(0, 0, 0))
    world.add_body("hull", WHOLE, **MOVING).add(pt.Rotor("wheel", axis=(1, 0.5, 0), inertia=0.02, speed=speed))
    ledger = world.simulate(2.0, 2e-4).ledger
    assert ledger.relative_residual.max() < 1e-10
    assert abs(ledger.inflow[ledger.sources.index("hull.wheel"), 7]) > 0.01


def test_batch_gives_the_same_bits_as_single_runs():
    world = with_rotor(0.3, True)
    J = np.array([0.01, 0.015, 0.02])
    batch = world.simulate(0.5, 1e-3, vary={"arm.wheel.inertia": J, "arm.wheel.speed": [50.0, 100.0, 150.0]})
    for k in range(3):
        one = world.simulate(
            0.5, 1e-3, vary={"arm.wheel.inertia": J[k], "arm.wheel.speed": 50.0 * (k + 1)}, ledger=False
        )
        np.testing.assert_array_equal(batch.y[-1, k], one.y[-1])


def test_errors_name_the_rotor():
    with pytest.raises(ValueError, match="axis of rotor 'a'"):
        pt.Rotor("a", axis=(0, 0, 0))
    with pytest.raises(ValueError, match="inertia of rotor 'a' must be above zero"):
        pt.Rotor("a", torque=1.0)
    with pytest.raises(ValueError, match="its speed must be a number"):
        pt.Rotor("a", inertia=1.0, torque=1.0, speed=lambda t, scene: 1.0)
    world = pt.World()
    world.add_body("hull", HULL).add(pt.Rotor("wheel", inertia=5.0, torque=1.0))
    with pytest.raises(ValueError, match="inertia of body 'hull' must include that of its rotors"):
        world.motion()
