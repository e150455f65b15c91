"""Stiff worlds by Rosenbrock methods: steps that stability does not limit, and a ledger that closes."""

import numpy as np
import pytest

import poinsot as pt


def pendulum(stiffness=1e8, damping=1e4):
    """A rod on a hinge, and a ball on a stiff damped spring at its end."""
    world = pt.World()
    rod = pt.Pose(p=(0, 0, -0.5)) @ pt.Inertia.capsule(1.0, 0.04, 0.9)
    world.add_body("rod", rod, joint=pt.revolute((0, 1, 0)), q=[1.0])
    world.add_particle("ball", 0.2, position=(-1.2 * np.sin(1.0), 0.0, -1.2 * np.cos(1.0)))
    world.add_spring("cord", "rod", "ball", stiffness=stiffness, damping=damping, rest_length=0.2, point_a=(0, 0, -1))
    return world


@pytest.fixture(scope="module")
def soft():
    return pendulum(200.0, 0.5)


def test_as_exact_as_the_tolerance(soft):
    exact = soft.simulate(1.0, method="adaptive", every=0.1, tolerance=1e-12)
    errors = []
    for tolerance in (1e-5, 1e-8):
        run = soft.simulate(1.0, method="rosenbrock", every=0.1, tolerance=tolerance)
        errors.append(np.abs(run.data.position - exact.data.position).max().item())
        assert run.ledger.relative_residual.max() < 30 * tolerance
    assert errors[0] < 1e-4
    assert errors[1] < 1e-7
    assert errors[1] < errors[0] / 100


def test_order_two(soft):
    exact = soft.simulate(1.0, method="adaptive", every=0.5, tolerance=1e-12)
    errors = [
        np.abs(soft.simulate(1.0, h, method="rosenbrock2", every=0.5).data.position - exact.data.position).max().item()
        for h in (4e-3, 2e-3, 1e-3)
    ]
    assert np.all(np.abs(np.log2(np.array(errors[:-1]) / errors[1:]) - 2) < 0.3), errors


def test_stiffness_does_not_limit_the_step():
    """Where RK4 needs steps of 1e-5 s; and in a softer world, 1 ms holds at order 2, beyond RK4's limit."""
    world = pendulum()
    fine = world.simulate(0.5, 2e-6, method="rk4", every=0.1, ledger=False)
    run = world.simulate(0.5, method="rosenbrock", every=0.1, tolerance=1e-8)
    np.testing.assert_allclose(run.data.position, fine.data.position, atol=2e-7)
    assert run.ledger.relative_residual.max() < 1e-6

    softer = pendulum(1e6, 1e3)
    exact = softer.simulate(0.5, method="rosenbrock", every=0.1, tolerance=1e-8)
    steps = softer.simulate(0.5, 1e-3, method="rosenbrock2", every=0.1, ledger_tolerance=5e-3)
    np.testing.assert_allclose(steps.data.position, exact.data.position, atol=5e-3)
    assert steps.ledger.relative_residual.max() < 5e-3
    assert softer.check_step(1e-3, 0.02).stiff


def test_instances_have_steps_of_their_own(soft):
    """One in a batch and alone: the same bits."""
    vary = {"rod.q": np.array([[0.2], [1.0], [2.5]]), "cord.stiffness": np.array([1e2, 1e4, 1e7])}
    runs = soft.simulate(0.3, method="rosenbrock", vary=vary, tolerance=1e-6)
    alone = soft.simulate(0.3, method="rosenbrock", vary={path: x[1:2] for path, x in vary.items()}, tolerance=1e-6)
    np.testing.assert_array_equal(alone.y[:, 0], runs.y[:, 1])


def test_free_bodies_and_inputs_that_change():
    """Quaternions stay of length 1, and momentum follows the force, which depends on time."""
    world = pt.World(gravity=(0, 0, 0))
    world.add_body("box", pt.Inertia.box(2.0, (0.1, 0.2, 0.3)), angular_velocity=(0.3, 4.0, 0.2))
    world.add_force("push", "box", lambda t: np.stack([np.cos(3 * t), 0.0, t]))
    run = world.simulate(2.0, method="rosenbrock", every=0.5, tolerance=1e-9)
    t = run.data.time.values
    np.testing.assert_allclose(run.data.velocity[:, 0, 0], np.sin(3 * t) / 6, atol=1e-8)
    np.testing.assert_allclose(run.data.velocity[:, 0, 2], t**2 / 4, atol=1e-8)
    np.testing.assert_allclose(np.linalg.norm(run.data.orientation, axis=-1), 1.0, atol=1e-15)
    exact = world.simulate(2.0, method="adaptive", every=0.5, tolerance=1e-12)
    np.testing.assert_allclose(run.data.orientation, exact.data.orientation, atol=1e-7)


def test_contact_that_sticks_is_left_to_the_implicit_method():
    world = pt.World()
    world.add_body("box", pt.Inertia.box(1.0, (0.1, 0.1, 0.1)), position=(0, 0, 0.06))
    world.add_ground("floor")
    with pytest.raises(ValueError, match=r"'rosenbrock' cannot hold the friction of .* take 'implicit'"):
        world.simulate(0.1, method="rosenbrock")


def test_the_check_of_a_step_names_what_is_stiff_and_the_methods_that_lift_the_limit():
    world = pendulum()
    check = world.check_step(1e-3, 0.02)
    assert check.stiff
    assert check.fastest == pytest.approx(np.sqrt(1e8 / 0.2 + 1e8 / 0.3), rel=0.6)  # damped, so not exactly
    assert "'rosenbrock2' (order 2)" in str(check)
    assert not pendulum(200.0, 0.5).check_step(1e-3, 0.02).stiff
