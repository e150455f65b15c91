"""The verdict on a step: an estimate that is close to the true error, and advice that holds."""

import numpy as np
import pytest

import poinsot as pt


def pendulum() -> pt.World:
    world = pt.World(gravity=(0, 0, -9.81))
    world.add_body("a", pt.Inertia(1.0, (0, 0, -1), 0.01 * np.eye(3)), joint=pt.revolute((0, 1, 0)), q=[1.2])
    world.add_body("b", pt.Inertia(1.0, (0, 0, -1), 0.01 * np.eye(3)), "a", pt.revolute((0, 1, 0)), (0, 0, -1), q=[0.5])
    return world


@pytest.mark.parametrize(("method", "step"), [("rk4", 0.02), ("semi-implicit euler", 0.001), ("midpoint", 0.01)])
def test_estimate_is_the_error(method, step):
    check = pendulum().check_step(step, 1.0, method=method)
    runs = [pendulum().simulate(1.0, h, method=method, every=0.02, ledger=False).y for h in (step, step / 64)]
    n = 2
    error = max(
        np.abs(runs[0] - runs[1])[:, s].max() / np.abs(runs[1][:, s]).max() for s in (slice(n), slice(n, 2 * n))
    )
    assert 0.5 * error < check.error < 2 * error


@pytest.mark.parametrize("tolerance", [1e-4, 1e-8])
def test_advice_holds(tolerance):
    world = pendulum()
    first = world.check_step(0.05, 1.0, tolerance)
    assert not first.fine
    assert "too long" in str(first)
    second = world.check_step(first.advised, 1.0, tolerance)
    assert second.fine, str(second)
    assert "is fine" in str(second)


def test_breaking_down_is_said():
    world = pt.World(gravity=(0, 0, 0))
    world.add_particle("a", 1.0, (1.0, 0, 0))
    world.add_spring("stiff", "world", "a", 1e12, 0.5)
    check = world.check_step(0.1, 10.0, method="rk4")
    assert not check.fine
    assert "breaks down" in str(check)
    assert check.advised < check.step


def on_a_spring(stiffness, damping):
    world = pt.World(gravity=(0, 0, 0))
    world.add_particle("ball", 0.2, (1.0, 0, 0))
    world.add_spring("spring", "world", "ball", stiffness=stiffness, damping=damping, rest_length=0.5)
    return world


@pytest.mark.parametrize(("damping", "method"), [(1e5, "rk4"), (10.0, "euler"), (10.0, "midpoint")])
def test_advice_where_a_step_is_not_stable(damping, method):
    """Whether or not numbers stay finite: never more than is stable, and no step that follows from a blow-up."""
    check = on_a_spring(1e6, damping).check_step(1e-3, 0.1, method=method)
    assert not check.fine
    assert check.stiff or check.error > 0.1
    assert 1e-6 < check.advised <= 2.5 / check.fastest
    assert f"try {check.advised:.2g} s" in str(check)


def test_methods_that_choose_their_steps_are_told_as_such():
    assert "chooses its steps by its own tolerance" in str(pendulum().check_step(1e-3, 0.1, method="adaptive"))


def test_friction_that_a_step_jumps_over():
    """On a stone at rest, friction acts like a damper mu m g/slip: at the rate mu g/slip. Halving does not tell."""

    def stone(slip):
        world = pt.World()
        world.add_particle("stone", 2.0, (0, 0, -2.0 * 9.81 / 1e4))
        world.add_contact("ground", "stone", (0, 0, 0), stiffness=1e4, friction=0.6, slip=slip)
        return world

    rate = 0.6 * 9.81 / 1e-4
    check = stone(1e-4).check_step(1e-3, 0.2)
    assert check.decay == pytest.approx(rate, rel=1e-3)
    assert check.slowed == "stone"
    assert check.jumps
    assert not check.fine
    assert check.advised == pytest.approx(1 / rate, rel=1e-3)
    assert f"slow 'stone' down within {1 / rate:.2g} s, and the step jumps over that" in str(check)
    smooth = stone(0.1).check_step(1e-3, 0.2, 1e-3)
    assert smooth.fine, str(smooth)
    assert "jumps" not in str(smooth)
