"""Lists in worlds of trees, by conjugate gradients: as by the joint-space matrix; robots, forces and springs among many
bodies."""

import numpy as np
import pytest

import poinsot as pt

SOFT = pt.Material(2e4, 1.0, 0.5)
Y = (0, 1, 0)


def crowd(balls, seed=4):
    """Balls that fall on an arm of two links with springs and a motor; one hangs on it by a spring, one is pushed."""
    world = pt.World()
    world.add_ground(surface=SOFT, height=-0.6, capacity=8 * balls)
    bar = pt.Pose.from_euler((0, np.pi / 2, 0)) @ pt.Inertia.capsule(1.0, 0.04, 0.4)
    upper, lower = pt.revolute(Y, stiffness=600.0, damping=5.0), pt.revolute(Y, stiffness=300.0, friction=0.1)
    world.add_body("upper", pt.Pose(p=(0.25, 0, 0)) @ bar, joint=upper)
    world.add_body("lower", pt.Pose(p=(0.25, 0, 0)) @ bar, "upper", lower, (0.5, 0, 0), q=0.1)
    rng = np.random.default_rng(seed)
    for k in range(balls):
        place = 0.14 * (k % 7) + 0.02, 0.03 * rng.normal(), 0.11 + 0.15 * (k // 7)
        world.add_body(f"b{k}", pt.Inertia.sphere(0.3, 0.06), position=place, angular_velocity=rng.normal(size=3))
    world.add_spring("string", "b0", "lower", 200.0, 0.2, 2.0, point_b=(0.3, 0, 0))
    world.add_force("push", "b1", (0.5, 0.2, 0.0))
    names = ["upper", "lower", *(f"b{k}" for k in range(balls))]
    world.collide(names, surface=SOFT, capacity=4 * balls)
    return world


@pytest.fixture(scope="module")
def runs():
    found = []
    for largest in (99, 0):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr("poinsot.environment.touch_list.STRAIGHT", largest)
            found.append(crowd(2).simulate(0.24, 2e-3, every=0.02, ledger_tolerance=np.inf))
    return found


def test_conjugate_gradients_move_trees_as_the_matrix_does(runs):
    one, other = (run.data.position.values for run in runs)
    assert np.abs(one[-1] - one[0]).max() > 0.1
    assert runs[0].data["contacts.force"].values.max() > 1.0
    assert np.abs(one - other).max() < 1e-9


def test_the_ledger_of_trees_with_lists_closes(runs):
    one, other = (run.ledger for run in runs)
    assert np.all(one.relative_residual < 1e-10), one
    assert np.all(other.relative_residual < 1e-10), other
    assert np.abs(one.inflow - other.inflow).max() < 1e-8


@pytest.mark.slow
def test_a_robot_a_spring_and_a_force_among_many_bodies():
    run = crowd(14).simulate(0.4, 2e-3, every=0.1, ledger_tolerance=np.inf)
    assert run.stop.reason == "duration"
    assert run.compiled.system.nv > 80
    assert np.all(run.ledger.relative_residual < 1e-10), run.ledger
    assert run.data["contacts.count"].values.max() >= 3
    assert run.data["contacts.late"].values.max() < 1e-3
