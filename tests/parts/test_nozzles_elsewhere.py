"""Engines whose tank is on another body: the thrust acts where the nozzle is, and all is balanced."""

import numpy as np
import pytest

import poinsot as pt


@pytest.fixture(scope="module")
def craft():
    world = pt.World(gravity=(0, 0, -9.81))
    world.add_body("hull", pt.Inertia.box(50, (2, 1, 1)), angular_velocity=(0.3, 0.2, 0.5))
    placement, joint = pt.Pose.from_euler((0.3, 0.2, 1.2)), pt.revolute((0, 0, 1))
    world.add_body("pod", pt.Inertia.box(20, (1, 0.5, 0.5)), "hull", joint, placement, v=[0.7])
    world.add(pt.Tank("fuel", "pod", capacity=10, contents=8, position=(0.4, 0.1, 0.2)))
    nozzle = {"direction": (1, 0, 0.2), "point": (-1, 0.1, 0.3)}
    world.add(pt.Thruster("engine", "hull", "fuel", thrust=300, exhaust_speed=900, **nozzle))
    return world


def test_the_thrust_is_in_the_axes_of_the_engine(craft):
    motion = craft.motion()
    pushed = motion.effects["engine"].outside["hull"][3:]  # and the momentum of the fuel, as it moves with the hull
    direction = np.array([1, 0, 0.2]) / np.sqrt(1.04)
    rate, V = 300 / 900, motion.scene["hull"].twist
    np.testing.assert_allclose(pushed, 300 * direction - rate * (V[3:] + np.cross(V[:3], (-1, 0.1, 0.3))), rtol=1e-12)


def test_momentum_and_energy_are_balanced(craft):
    run = craft.simulate(2.0, 2e-3)
    assert run.ledger.relative_residual.max() < 1e-9
    assert run.data["fuel.contents"].values[-1] == pytest.approx(8 - 2 * 300 / 900)
