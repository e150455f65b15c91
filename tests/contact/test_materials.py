"""Numbers of materials: restitution, torsional and rolling friction; and springs between bodies, taken implicitly."""

import warnings

import numpy as np
import pytest

import poinsot as pt

G = 9.81


@pytest.mark.parametrize("e", [0.3, 0.7, 0.95])
def test_a_ball_comes_back_at_the_restitution_asked_for(e):
    world = pt.World(gravity=(0, 0, 0))
    world.add_surface("rubber", restitution=e, speed=2.0, friction=0.0)
    world.add_ground(surface="rubber")
    world.add_body("ball", pt.Inertia.sphere(1.0, 0.1), position=(0, 0, 0.1), velocity=(0, 0, -2))
    found = [world.simulate(0.02, h, every=0.02).data.velocity.values[-1, 0, 2] / 2 for h in (4e-5, 2e-5)]
    assert 2 * found[1] - found[0] == pytest.approx(e, abs=2e-3)  # of first order


@pytest.mark.parametrize("numbers", [{"restitution": 0.0}, {"restitution": 1.1}, {"restitution": 0.5, "speed": 0.0}])
def test_a_restitution_that_no_blow_has(numbers):
    with pytest.raises(ValueError, match="restitution must be above 0 and at most 1, at a speed above 0"):
        pt.Material.bouncing(**numbers)


def ball(surface, tilt=0.0, **motion):
    world = pt.World(gravity=(G * np.sin(tilt), 0, -G * np.cos(tilt)))
    world.add_ground(surface=surface)
    sunk = G * np.cos(tilt) / surface.stiffness
    world.add_body("ball", pt.Inertia.sphere(1.0, 0.1), position=(0, 0, 0.1 - sunk), **motion)
    return world


def test_a_spinning_ball_is_slowed_by_torsional_friction():
    world = ball(pt.Material(1e5, 0.5, 0.6, torsion=0.004), angular_velocity=(0, 0, 20))
    run = world.simulate(0.8, 1e-3, every=0.2)
    w = run.data.angular_velocity.sel(axis="z").values[:, 0]
    slope = 0.004 * 1.0 * G / (0.4 * 1.0 * 0.01)  # M/I
    assert (w[1] - w[2]) / 0.2 == pytest.approx(slope, rel=1e-9)
    assert w[2] - w[3] == pytest.approx(0.2 * slope, rel=1e-9)
    run = world.simulate(8.0, 1e-3, every=1.0)
    assert abs(run.data.angular_velocity.values[-1]).max() < 1e-9  # it stops at 2 s, and its swing dies out


def test_a_rolling_ball_is_slowed_and_held_by_rolling_friction():
    surface = pt.Material(1e5, 0.5, 0.6, rolling=0.002)
    world = ball(surface, velocity=(1, 0, 0), angular_velocity=(0, 10, 0))
    v = world.simulate(0.8, 1e-3, every=0.2).data.velocity.sel(axis="x").values[:, 0]
    slope = 0.002 * G / 0.1 / 1.4  # rho m g/r over m (1 + 2/5)
    assert (v[1] - v[2]) / 0.2 == pytest.approx(slope, rel=1e-3)  # the sunken ball has a shorter arm
    assert (v[2] - v[3]) / 0.2 == pytest.approx(slope, rel=1e-3)
    # on a slope below rho/r it stays
    held = (
        ball(pt.Material(1e5, 20.0, 0.6, rolling=0.002), tilt=0.015)
        .simulate(8.0, 2e-3, every=2.0)
        .data.position.values[:, 0, 0]
    )
    assert abs(held[-1] - held[-2]) / 2 < 1e-9
    rolls = ball(surface, tilt=0.03).simulate(2.0, 2e-3, every=1.0).data.velocity.values[:, 0, 0]
    assert rolls[2] - rolls[1] == pytest.approx((G * np.sin(0.03) - 0.02 * G * np.cos(0.03)) / 1.4, rel=5e-3)


def test_a_torsion_that_was_zero_cannot_be_varied():
    world = ball(pt.Material())
    with pytest.raises(ValueError, match="torsion of 'ball-ground' is zero and cannot be varied"):
        world.simulate(0.01, 1e-3, vary={"ball-ground.torsion": np.array([0.0, 0.1])})


def bodies_on_springs(stiffness, damping=0.0):
    world = pt.World(gravity=(0, 0, -G))
    box = pt.Inertia.box(1.0, (0.2, 0.1, 0.1))
    world.add_body("a", box, position=(0, 0, 0))
    world.add_body("b", box, position=(0.1, 0, -0.5))
    world.add_spring("top", "world", "a", stiffness, 0.5, damping, (0, 0, 0.5), (0, 0, 0.05))
    world.add_spring("mid", "a", "b", stiffness, 0.4, damping, (0.1, 0, -0.05), (0.1, 0, 0.05))
    return world


def test_soft_springs_between_bodies_move_as_by_runge_kutta():
    exact = bodies_on_springs(100.0, 2.0).simulate(0.5, 1e-3, method="rk4", every=0.5).data.position.values[-1]
    errors = []
    for step in (2e-3, 1e-3):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", pt.LedgerWarning)
            run = bodies_on_springs(100.0, 2.0).simulate(0.5, step, method="implicit", every=0.5)
        errors.append(np.abs(run.data.position.values[-1] - exact).max())
    assert errors[1] < 3e-3
    assert errors[0] / errors[1] == pytest.approx(2, abs=0.2)  # of first order


def test_stiff_springs_take_long_steps():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", pt.LedgerWarning)
        run = bodies_on_springs(1e7, 1e3).simulate(4.0, 5e-3, method="implicit", every=2.0)
    assert np.all(np.isfinite(run.data.position.values))
    assert run.data["top.length"].values[-1] == pytest.approx(0.5, abs=1e-3)
    assert run.data["mid.length"].values[-1] == pytest.approx(0.4, abs=1e-3)
    assert np.all(run.ledger.relative_residual[:1] < 1e-12)


def test_a_spring_keeps_the_momentum_of_what_it_joins():
    world = pt.World(gravity=(0, 0, 0))
    world.add_body("a", pt.Inertia.sphere(1.0, 0.1), velocity=(1, 0.5, 0), angular_velocity=(1, 2, 3))
    world.add_body("b", pt.Inertia.sphere(2.0, 0.1), position=(1, 0, 0))
    world.add_spring("s", "a", "b", 1e5, 0.8, 10.0, (0.05, 0.05, 0), (0, 0.1, 0))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", pt.LedgerWarning)
        run = world.simulate(1.0, 5e-3, method="implicit", every=0.5)
    p = np.array([1.0, 2.0]) @ run.data.velocity.values[-1]
    assert p == pytest.approx([1, 0.5, 0], abs=1e-12)
