"""A run that blows up says so; one that is right raises no alarm."""

import warnings

import numpy as np
import pytest

import poinsot as pt


def stiff():
    world = pt.World()
    world.add_body("ball", pt.Inertia.sphere(1.0, 0.1), position=(0, 0, 1.0))
    world.add_spring("rope", "world", "ball", 1e6)
    return world


def test_a_run_that_blows_up_warns():
    with pytest.warns(pt.LedgerWarning, match="of the energy is unexplained, more than ledger_tolerance = 0.001"):
        run = stiff().simulate(0.2, 20e-3, method="rk4")
    assert run.unexplained
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert not stiff().simulate(0.2, 20e-3, method="rk4", ledger_tolerance=np.inf).unexplained


def test_the_step_that_would_do():
    world = pt.World(gravity=(0, 0, 0))
    world.add_particle("bead", 1.0, (1.0, 0, 0))
    world.add_spring("rope", "world", "bead", 100.0)
    with pytest.warns(pt.LedgerWarning, match="instead of 5.0e-02 s would do") as caught:
        world.simulate(2.0, 0.05, method="rk4")
    advised = float(str(caught[0].message).split("causes it, ")[1].split()[0])
    assert not world.simulate(2.0, advised, method="rk4").unexplained


def test_a_batch_without_ledger_that_runs_away_warns():
    with pytest.warns(pt.LedgerWarning, match=r"instance 1 \(of 1 such among 2\) ran away"):
        stiff().simulate(0.1, 20e-3, method="rk4", vary={"rope.stiffness": [10.0, 1e6]})


def test_a_stone_that_falls_from_the_origin_is_no_alarm():
    world = pt.World()
    world.add_body("stone", pt.Inertia.sphere(1.0, 0.1))
    assert world.simulate(1.0, 1e-3).ledger.relative_residual.max() < 1e-9


def test_a_body_of_a_micrometre_is_no_alarm():
    world = pt.World()
    grain = pt.Inertia.box(1e-15, (1e-6, 2e-6, 3e-6))
    world.add_body("grain", grain, position=(0.3, 0.2, 1.0), velocity=(0.1, 0.2, 0.3), angular_velocity=(3, 2, 1))
    assert world.simulate(1.0, 1e-3).ledger.relative_residual.max() < 1e-6
