"""Derivatives of implicit steps by state and numbers, against differences: sticking, sliding, lifting off, at rest."""

import numpy as np
import pytest

import poinsot as pt
from poinsot.run.compiled import CompiledSystem
from poinsot.world.system import System

G, STEP = 9.81, 2e-3


def compiled():
    """A ball and a box on a slope, on each other, with a motor's feedback in a joint; friction and gains are free."""
    world = pt.World(gravity=(2.0, 0, -G))
    world.add_ground(surface=pt.Material(1e4, 0.5, 0.6))
    world.add_body("box", pt.Inertia.box(1.0, (0.2, 0.2, 0.1)), position=(0, 0, 0.05 - G / 4e4))
    world.add_body("arm", pt.Inertia.sphere(0.5, 0.05), "box", pt.revolute((0, 1, 0)), (0, 0, 0.2), q=0.1)
    world.add_body("ball", pt.Inertia.sphere(1.0, 0.1), position=(0.199, 0, 0.1 - G / 1e4))
    world.add_feedback("pd", "arm", 50.0, 1.0)
    world.collide("ball", "box", pt.Material(1e4, 0.5, 0.5))
    free = ("box-ground.friction", "pd.kp", "ball.mass")
    return CompiledSystem(System(world.description, free), "implicit", {}, False)


@pytest.fixture(scope="module")
def system():
    return compiled()


@pytest.fixture(scope="module")
def kernel(system):
    """(y, p) -> y two steps later."""
    signature = f"({system.ny}),({system.np})->({system.ny})"
    return pt.kernel(signature)(lambda y, p: system._advance_state(y, p, 0.0, STEP, 2))


@pytest.fixture(scope="module")
def along(kernel):
    return pt.jvp(kernel, wrt=(0, 1))


STATES = {"sticking": (0.0, 0.0), "sliding": (1.0, 0.0), "lifting off": (0.2, 0.3), "falling on": (0.3, -0.4)}


def moved(system, kernel, sideways, up):
    """The state and numbers after some steps, with velocities added to box and ball."""
    p = system.parameters({}, {})
    y = np.array(system.start(p))
    for _ in range(75):
        y = kernel(y, p)
    mech = system.system.mechanism
    for body in ("box", "ball"):
        k = system.system.nq + mech.v_slices[mech.index(body)].start
        y[k + 3] += sideways
        y[k + 5] += up
    return y, p


@pytest.mark.parametrize("name", STATES)
def test_slopes_of_two_steps_are_those_of_differences(system, kernel, along, name):
    """By the state and by numbers; differences at two distances, whose error of second order cancels."""
    y, p = moved(system, kernel, *STATES[name])
    rng = np.random.default_rng(3)
    dy, dp = rng.normal(size=(12, system.ny)), rng.normal(size=(12, system.np))
    dy[:6], dp[6:] = 0.0, 0.0
    dy[:, system.system.nq + system.system.nv :] *= 1e-4  # stretches are small
    dy[:, : system.system.nq] *= 1e-3  # and so is what a depth may change by
    _, found = along(y, p, dy, dp)
    assert np.all(np.isfinite(found))
    e = 1e-4
    halves = [(kernel(y + s * dy, p + s * dp) - kernel(y - s * dy, p - s * dp)) / (2 * s) for s in (e, e / 2)]
    wanted = (4 * halves[1] - halves[0]) / 3
    assert np.max(np.abs(found - wanted) / np.abs(wanted).max(axis=1, keepdims=True)) < 1e-6


def test_at_rest_without_stretch_nothing_is_nan(system, along):
    p = system.parameters({}, {})
    _, slopes = along(system.start(p), p, np.eye(system.ny), np.zeros(system.np))
    assert np.all(np.isfinite(slopes))


def test_reverse_mode_agrees_with_forward_mode(system, kernel, along):
    y, p = moved(system, kernel, 0.5, 0.0)
    t, c = np.random.default_rng(0).normal(size=(2, system.ny))
    _, forward = along(y, p, t, np.zeros(system.np))
    _, back = pt.vjp(kernel, wrt=0)(y, p, c)
    assert c @ forward == pytest.approx(back @ t, rel=1e-9)


def test_the_bits_of_a_step_do_not_depend_on_the_batch(system, kernel):
    p = system.parameters({}, {})
    rng = np.random.default_rng(1)
    many = system.start(p) + 1e-2 * rng.normal(size=(37, system.ny)) * (np.arange(system.ny) >= system.system.nq)
    together = kernel(many, p)
    assert all(np.array_equal(kernel(many[k], p), together[k]) for k in range(37))
