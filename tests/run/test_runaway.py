"""A run that blows up says so; one that is right raises no alarm."""

import warnings

import numpy as np
import pytest

import poinsot as pt
from poinsot._memo import MEMORY
from poinsot.run.few_looks import FEW_LOOKS


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


def swinging(step, **options):
    """A hundred beads on springs of other stiffness, to a relative error of the energy that the step sets."""
    world = pt.World(gravity=(0, 0, -1.0))
    world.add_particle("bead", 1.0, (1.0, 0, 0), velocity=(0, 1.0, 0))
    world.add_spring("rope", "world", "bead", 100.0, 0.5)
    options = {"method": "rk4", "vary": {"rope.stiffness": np.linspace(50.0, 100.0, 100)}} | options
    return world.simulate(2.0, step, **options)


def test_a_batch_without_ledger_that_loses_energy_warns():
    """Long before it runs away; and with the step that the warning advises it does not."""
    with pytest.warns(
        pt.LedgerWarning, match=r"the energy of instance \d+ changed by a part of .*nothing in"
    ) as caught:
        swinging(0.05)
    advised = float(str(caught[0].message).split("causes it, ")[1].split()[0])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        swinging(advised)
        swinging(0.05, ledger_tolerance=np.inf)


def test_a_batch_that_may_lose_energy_is_no_alarm():
    """Dampers, motors and forces that do work: the energy of such worlds is not conserved, so it is not judged."""
    world = pt.World(gravity=(0, 0, -1.0))
    world.add_particle("bead", 1.0, (1.0, 0, 0), velocity=(0, 1.0, 0))
    world.add_spring("rope", "world", "bead", 100.0, 0.5, 2.0)
    arm = pt.Pose(p=(0, 0, -0.5)) @ pt.Inertia.sphere(1.0, 0.1)
    world.add_body("arm", arm, joint=pt.revolute((0, 1, 0), damping=0.1), q=1.0)
    world.add_motor("motor", "arm", lambda t, scene: np.sin(t))
    assert not world.simulate(1.0, 1e-2, batch=5).unexplained


def test_what_nothing_can_change():
    free = pt.World(gravity=(0, 0, 0))
    free.add_body("box", pt.Inertia.box(1.0, (0.1, 0.2, 0.3)), angular_velocity=(1, 2, 3))
    falling = pt.World(gravity=(0, 0, -9.81))
    falling.add_body("box", pt.Inertia.box(1.0, (0.1, 0.2, 0.3)), angular_velocity=(1, 2, 3))
    names = ("mass", "Px", "Py", "Pz", "Lx", "Ly", "Lz", "energy")
    conserved = [
        dict(zip(names, w.simulate(0.01, batch=2).compiled.is_conserved, strict=True)) for w in (free, falling)
    ]
    assert all(conserved[0].values())
    assert {name for name, kept in conserved[1].items() if kept} == {"mass", "Px", "Py", "Lz", "energy"}


def test_a_ledger_is_not_compiled_for_a_few_runs():
    """NumPy evaluates it at first; compiled, it has the same bits."""
    world = stiff()
    runs = [world.simulate(0.01, 1e-4, method="rk4")]
    program = runs[0].compiled._ledger_trace[0]
    assert not vars(program).get(MEMORY)
    runs += [world.simulate(0.01, 1e-4, method="rk4") for _ in range(FEW_LOOKS + 1)]
    assert vars(program).get(MEMORY)
    for run in runs:
        np.testing.assert_array_equal(run.ledger.final, runs[0].ledger.final)


def test_a_stone_that_falls_from_the_origin_is_no_alarm():
    world = pt.World()
    world.add_body("stone", pt.Inertia.sphere(1.0, 0.1))
    assert world.simulate(1.0, 1e-3).ledger.relative_residual.max() < 1e-9


def test_a_body_of_a_micrometre_is_no_alarm():
    world = pt.World()
    grain = pt.Inertia.box(1e-15, (1e-6, 2e-6, 3e-6))
    world.add_body("grain", grain, position=(0.3, 0.2, 1.0), velocity=(0.1, 0.2, 0.3), angular_velocity=(3, 2, 1))
    assert world.simulate(1.0, 1e-3).ledger.relative_residual.max() < 1e-6


def dropped(step, **options):
    """Three balls of other masses fall on a hard ground."""
    world = pt.World()
    world.add_body("ball", pt.Inertia.sphere(1.0, 0.1), position=(0, 0, 0.5))
    world.add_contact("foot", "ball", [(0, 0, 0)], stiffness=1e6, radius=0.1)
    return world.simulate(2.0, step, batch=3, vary={"ball.mass": [1.0, 2.0, 3.0]}, **options)


def test_a_batch_that_gains_energy_from_what_only_takes_it_warns():
    """Springs with dampers, stops, contacts on the ground and friction in joints take energy: they bring none in."""
    with pytest.warns(
        pt.LedgerWarning, match=r"the energy of instance \d grew by a part of .*nothing in the world adds"
    ):
        dropped(20e-3)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        dropped(1e-4)
        dropped(20e-3, ledger_tolerance=np.inf)


def test_a_batch_of_worlds_that_lose_energy_is_judged_by_what_it_gains():
    world = pt.World()
    rail = pt.prismatic((1, 0, 0), damping=0.1, friction=0.1, lower=-0.2, upper=0.2)
    world.add_body("slide", pt.Inertia.sphere(1.0, 0.1), joint=rail, q=0.1, v=2.0)
    world.add_joint_stop("bumper", "slide", 50.0)
    world.add_spring("line", "slide", "world", 100.0, damping=3.0)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        world.simulate(1.0, 1e-3, batch=3)
    with pytest.warns(pt.LedgerWarning, match="the energy of instance 0 grew by a part of"):
        world.simulate(0.1, 2e-2, vary={"line.damping": [200.0, 3.0]})


def test_a_batch_of_worlds_with_contact_is_judged_by_what_it_gains():
    """Contacts take energy alone; here it is a body that turns by half a radian in a step."""

    def tumbling(step, **more):
        world = pt.World()
        world.add_ground(surface=pt.Material(1e4, 0.5, 0.5), **more)
        box, w = pt.Inertia.box(1.0, (0.2, 0.3, 0.1)), (10.0, 100.0, 10.0)
        world.add_body("box", box, position=(0, 0, 2.0), angular_velocity=w)
        world.simulate(0.4, step, batch=2)

    with pytest.warns(pt.LedgerWarning, match=r"the energy of instance 0 grew by a part of 9\.5e-01, more than"):
        tumbling(5e-3)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        tumbling(1e-4)
        tumbling(5e-3, velocity=(0.1, 0, 0))  # a belt brings energy in


def test_a_run_that_breaks_down_warns():
    """Its records end early, and an instance of a batch stays where it was: both would look like results."""
    with pytest.warns(pt.LedgerWarning, match=r"the run ended early: q\[\d\] of body 'ball' became (nan|inf)"):
        assert stiff().simulate(2.0, 20e-3, method="rk4").stop.reason == "broken"
    with pytest.warns(pt.LedgerWarning, match=r"1 of 2 broke down; instance 1: .*stay at their last finite state"):
        run = stiff().simulate(2.0, 20e-3, method="rk4", vary={"rope.stiffness": [10.0, 1e6]})
    assert list(run.stop.notes) == [1]
