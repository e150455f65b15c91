"""Derivatives of worlds with closed loops: on the closures, against reduced equations and differences."""

import numpy as np
import pytest
from scipy.optimize import brentq

import poinsot as pt
from poinsot.mechanism import kinematics
from poinsot.mechanism.assembling import assembled
from poinsot.mechanism.constrained import projected

GROUND, CRANK, COUPLER, ROCKER, STIFFNESS = 1.0, 0.35, 0.9, 0.7, 30.0  # m, N m/rad
BARS = {"crank": CRANK, "coupler": COUPLER, "rocker": ROCKER}


def bar(length):
    return pt.Inertia(2.0 * length, (length / 2, 0, 0), np.diag([1e-3, 1, 1]) * 2.0 * length**3 / 12)


def four_bar(closing=None, **start):
    """A four-bar linkage with a spring in the crank's joint, and a torque on it as input."""
    world = pt.World(gravity=(0, -9.81, 0))
    hinge, spring = pt.revolute((0, 0, 1)), pt.revolute((0, 0, 1), stiffness=STIFFNESS, rest=1.4, damping=0.3)
    start = {"q": 1.0, "v": 0.0} | start
    world.add_body("crank", bar(CRANK), joint=spring, **start)
    world.add_body("coupler", bar(COUPLER), "crank", hinge, (CRANK, 0, 0), q=-0.7)
    world.add_body("rocker", bar(ROCKER), joint=hinge, placement=(GROUND, 0, 0), q=1.5)
    world.close("pin", "coupler", "rocker", closing or pt.on_line((0, 0, 1)), (COUPLER, 0, 0), (ROCKER, 0, 0))
    world.add_input("torque", 0.5)
    world.add_motor("motor", "crank", pt.Input("torque"))
    return world


def angles(a):
    """Those of coupler and rocker with the x axis, for an angle of the crank: Freudenstein's equation."""
    d = np.array([GROUND - CRANK * np.cos(a), -CRANK * np.sin(a)])  # from the crank's end to the rocker's pivot
    D, at = np.hypot(*d), np.arctan2(d[1], d[0])
    inner = np.arccos((D * D + COUPLER**2 - ROCKER**2) / (2 * D * COUPLER))
    b = at + inner
    tip = CRANK * np.array([np.cos(a), np.sin(a)]) + COUPLER * np.array([np.cos(b), np.sin(b)])
    return b, np.arctan2(tip[1], tip[0] - GROUND)


def reduced(a, w, torque):
    """a'' of the crank alone, by Lagrange with T = I(a) w^2/2: I a'' + I' w^2/2 + U' = torque."""

    def slopes(a):
        (b, c) = angles(a)
        matrix = np.array([[-COUPLER * np.sin(b), ROCKER * np.sin(c)], [COUPLER * np.cos(b), -ROCKER * np.cos(c)]])
        return b, c, *np.linalg.solve(matrix, CRANK * np.array([np.sin(a), -np.cos(a)]))

    def inertia(a):
        b, _, kb, kc = slopes(a)
        m = {name: 2.0 * length for name, length in BARS.items()}
        middle = CRANK**2 + COUPLER**2 / 4 * kb * kb + CRANK * COUPLER * kb * np.cos(a - b)
        third = {name: m[name] * BARS[name] ** 2 / 3 for name in BARS}
        return third["crank"] + m["coupler"] * (middle + COUPLER**2 / 12 * kb * kb) + third["rocker"] * kc * kc

    def potential(a):
        b, c = angles(a)
        heights = (CRANK / 2 * np.sin(a), CRANK * np.sin(a) + COUPLER / 2 * np.sin(b), ROCKER / 2 * np.sin(c))
        weight = sum(2.0 * L * 9.81 * y for L, y in zip(BARS.values(), heights, strict=True))
        return weight + 0.5 * STIFFNESS * (a - 1.4) ** 2

    h = 1e-5
    dI, dU = ((f(a + h) - f(a - h)) / (2 * h) for f in (inertia, potential))
    return (torque - 0.3 * w - dU - 0.5 * dI * w * w) / inertia(a)


@pytest.mark.parametrize("closing", [None, pt.revolute((0, 0, 1))])
def test_linear_four_bar_at_rest_and_moving(closing):
    """A of two states, against differences of the reduced equation; also with redundant rows, and about a motion."""
    at = brentq(lambda a: reduced(a, 0.0, 0.5), 0.5, 1.5, xtol=1e-13)
    h = 1e-4
    for a, w in ((at, 0.0), (0.9, 2.0)):
        linear = four_bar(closing, q=a, v=w).linearise()
        assert linear.states == ("crank.q", "crank.v")
        state = four_bar(closing, q=a, v=w).start()
        a, w = state.q[0], state.v[0]
        slope = [(reduced(a + h, w, 0.5) - reduced(a - h, w, 0.5)) / (2 * h),
                 (reduced(a, w + h, 0.5) - reduced(a, w - h, 0.5)) / (2 * h)]  # fmt: skip
        np.testing.assert_allclose(linear.A, [[0, 1], slope], rtol=1e-5, atol=2e-4)
        np.testing.assert_allclose(linear.drift, [w, reduced(a, w, 0.5)], rtol=0, atol=1e-6)
        by_torque = reduced(a, w, 1.0) - reduced(a, w, 0.0)
        np.testing.assert_allclose(linear.B, [[0], [by_torque]], rtol=1e-8, atol=1e-12)
        assert linear.basis.shape == (6, 2)


def test_the_basis_is_tangent_to_the_closures():
    """To second order in the step: nearby states that hold differ by T x."""
    world = four_bar(v=2.0)
    mech, state, linear = world.mechanism, world.start(), world.linearise()
    closures, h = [world.description.elements["pin"].closure()], 1e-4
    q = assembled(mech, closures, kinematics.integrate(mech, state.q, linear.basis[:3, 0] * h))
    v = projected(mech, closures, q, state.v)[1]
    x = np.array([q[0] - state.q[0], v[0] - state.v[0]])
    np.testing.assert_allclose(linear.basis @ x, np.concatenate([q - state.q, v - state.v]), rtol=0, atol=1e-7)


def test_sensitivities_of_a_linkage():
    """By the compiler, against differences of runs; the start moves with the numbers, on the closures."""
    world, paths = linkage(), ["arm0.mass", "rod.length", "arm1.q"]
    slopes = world.sensitivity(["q", "v"], paths, duration=0.2, step=1e-3)
    for path in paths:
        value, h, ends = float(np.ravel(world[path])[0]), 1e-4, []
        for s in (-h, h):
            run = world.simulate(0.2, 1e-3, vary={path: np.reshape(value + s, (1, *np.shape(world[path])))})
            ends.append((run.data.q.values[-1, 0], run.data.v.values[-1, 0]))
        for k, name in enumerate("qv"):
            expected = (ends[1][k] - ends[0][k]) / (2 * h)
            found = np.reshape(slopes[name, path], expected.shape)
            np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-6, err_msg=path)


def linkage():
    """Two pendulums, 2 m apart, and a rod between points of them."""
    world = pt.World(gravity=(0, -9.81, 0))
    arm = pt.Inertia(1.0, (0.5, 0, 0), np.diag([0.01, 0.1, 0.1]))
    for k in range(2):
        world.add_body(f"arm{k}", arm, joint=pt.revolute((0, 0, 1)), placement=(2.0 * k, 0, 0), q=(0.4, 0.7)[k], v=1.0)
    world.close("rod", "arm0", "arm1", pt.distance(1.5), (1, 0, 0), (1, 0, 0))
    return world
