"""Legged robots and rows of things on the ground: they stand, fall, and their ledgers close."""

import sys
import warnings
from pathlib import Path

import numpy as np
import pytest

import poinsot as pt

sys.path.append(str(Path(__file__).parents[2] / "benchmarks"))
import legged

SURFACE = pt.Material(3e4, 1.0, 0.7)


@pytest.fixture(scope="module")
def quadruped():
    return legged.world_of(legged.quadruped(), SURFACE, stops=False)


def simulated(world, duration, step, **options):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", pt.LedgerWarning)
        return world.simulate(duration, step, **options)


@pytest.mark.parametrize("method", ["implicit", "implicit, one iteration"])
def test_a_quadruped_stands_and_its_feet_do_not_creep(quadruped, method):
    run = simulated(quadruped, 6.0, 2e-3, every=1.0, method=method)
    feet = run.data.position.sel(body=[f"{leg}-foot" for leg in ("fr", "fl", "rr", "rl")]).values
    assert np.abs(feet[-1] - feet[-2]).max() < 1e-6  # m in a second, and dying out
    assert np.abs(run.data.velocity.values[-1]).max() < 1e-6
    carried = sum(run.data[f"{leg}-foot-ground.force"].values[-1] for leg in ("fr", "fl", "rr", "rl"))
    assert carried == pytest.approx([0, 0, 12 * 9.81], abs=1e-3)  # N: it still sways by 1e-7 m/s
    assert run.data.position.sel(body="trunk", axis="z").values[-1] == pytest.approx(0.275, abs=0.01)
    assert np.all(run.ledger.relative_residual < 1e-12)


@pytest.mark.parametrize("method", ["implicit", "implicit, one iteration"])
def test_the_implicit_step_is_of_first_order(quadruped, method):
    start = {"trunk.velocity": (0.3, 0.1, 0.0), "trunk.angular_velocity": (0.2, 0.1, 0.3)}
    ends = []
    for step in (2e-3, 1e-3, 5e-4, 1.25e-4):
        run = simulated(
            quadruped,
            0.1,
            step,
            every=0.1,
            method=method,
            ledger=False,
            vary={k: np.array([x]) for k, x in start.items()},
            batch=1,
        )
        ends.append(run.data.position.values.reshape(-1, 17, 3)[-1])
    errors = [np.abs(x - ends[-1]).max() for x in ends[:-1]]
    assert errors[0] < 2e-3
    assert 1.5 < errors[0] / errors[1] < 3  # 2, but for the jumps as feet touch; and a limit that is not quite reached
    assert 1.5 < errors[1] / errors[2] < 3


def test_articulated_bodies_and_the_joint_space_matrix_give_the_same_steps(quadruped):
    """A pair that never touches brings the joint-space matrix in; the motion must not change."""
    coupled = legged.world_of(legged.quadruped(), SURFACE, stops=False)
    coupled.collide("fr-foot", "rl-foot", SURFACE)
    a, b = (simulated(world, 0.2, 2e-3, every=0.1, ledger=False) for world in (quadruped, coupled))
    assert np.abs(a.data.position.values - b.data.position.values).max() < 1e-12
    assert np.abs(a.data.velocity.values - b.data.velocity.values).max() < 1e-10


def test_the_ledger_of_a_falling_humanoid_closes():
    world = legged.world_of(legged.humanoid(), SURFACE, stops=True)
    by_step = []
    for step in (2e-3, 1e-3):
        run = simulated(world, 1.2, step, every=0.6)
        assert np.all(run.ledger.relative_residual < 1e-11)  # rounding, whatever the step
        by_step.append(np.abs(run.ledger.share_of("numerical")))
    assert run.data.position.sel(body="torso", axis="z").values[-1] < 1.2  # it does fall
    assert np.all(by_step[1][1:] < 0.7 * by_step[0][1:])  # momentum and energy, of first order


def test_dominoes_fall_one_after_the_other():
    world, count = pt.World(), 4
    wood = pt.Material(1e5, 1.0, 0.5)
    world.add_ground(surface=wood)
    for k in range(count):
        push = {"velocity": (0.2, 0, 0), "angular_velocity": (0, 2.0, 0)} if k == 0 else {}
        world.add_body(f"d{k}", pt.Inertia.box(0.1, (0.02, 0.1, 0.2)), position=(0.08 * k, 0, 0.1), **push)
    for k in range(count - 1):
        world.collide(f"d{k}", f"d{k + 1}", wood)
    run = simulated(world, 1.5, 1e-3, every=0.01, ledger=False)
    upright = 2 * run.data.orientation.values[..., 0] ** 2 - 1  # the cosine of the tilt, about y
    fell = [int(np.argmax(upright[:, k] < 0.8)) for k in range(count)]
    assert fell[0] > 0
    assert fell == sorted(set(fell))  # each after the one before it
    assert np.all(upright[-1] < 0.8)
    assert np.abs(run.data.velocity.values[-1]).max() < 1e-2
