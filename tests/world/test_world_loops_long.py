"""A million steps of a conservative four-bar linkage: loops stay closed, and energy has no trend."""

import numpy as np
import pytest

import poinsot as pt
from poinsot.world import State


def four_bar(speed):
    def bar(length):
        return pt.Inertia(2.0 * length, (length / 2, 0, 0), np.diag([1e-3, 1, 1]) * 2.0 * length**3 / 12)

    world, hinge = pt.World(gravity=(0, -9.81, 0)), pt.revolute((0, 0, 1))
    world.add_body("crank", bar(0.35), joint=hinge, q=1.0, v=speed)
    world.add_body("coupler", bar(0.9), "crank", hinge, (0.35, 0, 0), q=-0.7)
    world.add_body("rocker", bar(0.7), joint=hinge, placement=(1.0, 0, 0), q=1.5)
    world.close("pin", "coupler", "rocker", pt.on_line((0, 0, 1)), (0.9, 0, 0), (0.7, 0, 0))
    return world


@pytest.mark.slow
@pytest.mark.parametrize("speed", [0.0, 6.0])  # it swings, or goes around
def test_a_million_steps(speed):
    """RK4 with steps of 50 us: what it loses of the energy in a step is then below rounding."""
    world, h = four_bar(speed), 5e-5
    run = world.simulate(1e6 * h, h, every=1e3 * h, ledger=False)
    assert len(run.time) == 1001
    gaps = [
        np.abs(world.system().rows(State(q, v, np.zeros(0))).gap).max()
        for q, v in zip(run.data.q.values[::50], run.data.v.values[::50], strict=True)
    ]
    assert max(gaps) < 1e-13
    energy, steps = run.data.energy.values, np.linspace(0, 1, len(run.time))
    trend, _ = np.polyfit(steps, energy, 1)
    scale = np.abs(run.data.kinetic_energy.values).max()
    assert abs(trend) < 1e-11 * scale
