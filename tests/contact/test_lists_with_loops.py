"""Contacts in a list of run-time length, in worlds with closed loops: as pair by pair, and the ledger closes."""

import numpy as np
import pytest

import poinsot as pt

SOFT = pt.Material(2e4, 1.0, 0.5)
Y = (0, 1, 0)


def linkage(listed):
    """A four-bar linkage that two balls fall on."""
    world = pt.World()
    world.add_ground(surface=SOFT, height=-1.0)
    bar = pt.Pose.from_euler((0, np.pi / 2, 0)) @ pt.Inertia.capsule(1.0, 0.03, 0.4)
    world.add_body("crank", pt.Pose(p=(0.2, 0, 0)) @ bar, joint=pt.revolute(Y), q=-1.2)
    world.add_body("coupler", pt.Pose(p=(0.2, 0, 0)) @ bar, "crank", pt.revolute(Y), (0.4, 0, 0), q=1.2)
    world.add_body("rocker", pt.Pose(p=(0.2, 0, 0)) @ bar, joint=pt.revolute(Y), placement=(0.4, 0, 0), q=-1.2)
    world.close("pin", "coupler", "rocker", pt.revolute(Y), (0.4, 0, 0), (0.4, 0, 0))
    for k, x in enumerate((0.25, 0.42)):
        world.add_body(f"ball{k}", pt.Inertia.sphere(0.4, 0.06), position=(x, 0, 0.49 + 0.05 * k))
    if listed:
        world.collide(["ball0", "ball1"], ["coupler", "rocker"], SOFT, capacity=6)
    else:
        for ball in ("ball0", "ball1"):
            for bar in ("coupler", "rocker"):
                world.collide(ball, bar, SOFT)
    return world


@pytest.fixture(scope="module")
def runs():
    return [linkage(listed).simulate(0.2, 1e-3, every=0.01, ledger_tolerance=np.inf) for listed in (True, False)]


def test_loops_that_touch_by_a_list_move_as_by_pairs(runs):
    one, other = (run.data.position.values for run in runs)
    assert np.abs(one - other).max() < 1e-8
    assert np.abs(runs[0].data["pin.force"].values - runs[1].data["pin.force"].values).max() < 1e-5
    assert runs[0].data["contacts.force"].values.max() > 10


def test_the_ledger_of_loops_with_a_list_closes(runs):
    for run in runs:
        assert np.all(run.ledger.relative_residual < 1e-11), run.ledger
