"""Touches of the ground in one loop over all points: as written out, in states and in the ledger."""

import numpy as np
import pytest

import poinsot as pt
from poinsot.environment.spot_loop import looped

RUBBER = pt.Material(2e4, 0.8, 0.9)


def falling(kind):
    """A box with a capsule on a hinge, and a ball of another material; on a belt or a slope by its distance."""
    world = pt.World(gravity=(0, 0, -9.81))
    ground = {"belt": {"velocity": (0.3, 0, 0)}, "slope": {"distance": lambda p: p[2] - 0.1 * p[0]}}[kind]
    world.add_ground(surface=pt.Material(3e4, 1.0, 0.6), **ground)
    world.add_body("box", pt.Inertia.box(2.0, (0.3, 0.2, 0.1)), position=(0, 0, 0.12), angular_velocity=(1, 2, 0))
    arm = pt.Pose(p=(0, 0, 0.1)) @ pt.Inertia.capsule(0.5, 0.03, 0.2)
    world.add_body("arm", arm, "box", pt.revolute((1, 0, 0), damping=0.01), (0, 0.15, 0), q=1.2)
    ball = pt.Inertia.sphere(1.0, 0.1)
    solids = [pt.Collider(s.shape, s.pose, RUBBER) for s in ball.solids]
    world.add_body("ball", ball, position=(1, 0, 0.12), velocity=(1, 0, 0), shapes=solids)
    return world


@pytest.mark.parametrize("kind", ["belt", "slope"])
def test_a_loop_moves_bodies_as_written_out_points_do(kind, monkeypatch):
    """Energy, what damping and sliding took, and every state, to rounding; the bodies fall, slide and roll."""
    runs = []
    for operations in (0, 10**9):
        monkeypatch.setattr("poinsot.environment.spot_loop.OPERATIONS", operations)
        world = falling(kind)
        assert len(looped(world.scene().elements.values())) == (3 if operations else 0)
        runs.append(world.simulate(0.3, 2e-3, every=0.1, ledger_tolerance=np.inf))
    one, other = runs
    assert not np.array_equal(one.y, other.y)  # they are made in two ways
    np.testing.assert_allclose(one.y, other.y, rtol=1e-9, atol=1e-10)
    assert one.ledger.sources == other.ledger.sources
    np.testing.assert_allclose(one.ledger.inflow, other.ledger.inflow, rtol=1e-8, atol=1e-9)
    assert np.all(other.ledger.relative_residual < 1e-11)
    assert np.abs(one.y[-1] - one.y[0]).max() > 0.1
