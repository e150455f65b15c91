"""Conserving methods with mass properties that vary: the same as with given ones."""

import numpy as np
import pytest

import poinsot as pt
from poinsot.body.exact import FreeTop
from poinsot.spatial import quaternion

MOMENT = np.array([[0.03, 0.004, 0.0], [0.004, 0.04, -0.002], [0.0, -0.002, 0.02]])


@pytest.mark.parametrize("method", ["splitting4", "poinsot"])
def test_varied_and_given_moments_give_the_same_motion(method):
    """A skew body, and one along its axes; both start with the same spin."""
    world, moments = pt.World(), np.array([MOMENT, np.diag([0.02, 0.03, 0.04])])
    world.add_body("a", pt.Inertia(2.0, (0.1, 0, 0), MOMENT), velocity=(0.3, 0, 0), angular_velocity=(1, 2, 3))
    world.add_particle("p", 0.4, (0.5, 0.2, 0.3))
    world.add_spring("s", "a", "p", 30.0, 0.4, point_a=(0.1, 0.1, 0))
    vary = {"a.moment": moments, "a.mass": [2.0, 3.0], "p.mass": [0.4, 0.5]}
    many = world.simulate(0.5, 5e-3, method=method, vary=vary, every=0.5, ledger=True)
    for k in range(2):
        for path, values in vary.items():
            world[path] = values[k]
        one = world.simulate(0.5, 5e-3, method=method, every=0.5)
        np.testing.assert_allclose(many.y[-1, k, : one.y.shape[1]], one.y[-1], rtol=0, atol=1e-12)


def test_poinsot_stays_exact():
    inertia, spin = pt.Inertia(2.0, (0, 0, 0), MOMENT), np.array([1.0, 0.2, 2.0])
    world = pt.World(gravity=(0, 0, 0))
    world.add_body("a", inertia, angular_velocity=spin)
    run = world.simulate(5.0, 0.1, method="poinsot", vary={"a.mass": [2.0]}, every=1.0)
    top = FreeTop(inertia, np.array([1.0, 0, 0, 0]), spin)
    R = quaternion.to_matrix(np.asarray(run["a"].orientation)[:, 0])
    np.testing.assert_allclose(R, quaternion.to_matrix(top.orientation(run.time)), rtol=0, atol=1e-11)


def test_sensitivity_to_a_mass():
    """The derivative through the principal axes, against differences."""
    world = pt.World()
    world.add_body("a", pt.Inertia.box(2.0, (0.1, 0.2, 0.3)), angular_velocity=(1, 2, 3))
    world.add_force("f", "a", (1.0, 2.0, 3.0), point=(0.1, 0.1, 0.1))
    run = world.sensitivity(["a.position", "a.angular_velocity"], ["a.mass"], 0.2, 1e-2)

    def end(mass):
        world["a.mass"] = mass
        data = world.simulate(0.2, 1e-2, method="splitting4", every=0.2, ledger=False)["a"]
        return np.concatenate([data.position[-1], data.angular_velocity[-1]])

    slope = np.concatenate([run["a.position", "a.mass"], run["a.angular_velocity", "a.mass"]])
    np.testing.assert_allclose(slope, (end(2.001) - end(1.999)) / 2e-3, rtol=1e-5, atol=1e-7)
