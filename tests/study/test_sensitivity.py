"""Derivatives of outcomes: against closed forms, and against differences of whole runs."""

import numpy as np
import pytest

import poinsot as pt
from sparing import few


def test_free_fall_has_the_derivatives_of_the_formula():
    world = pt.World(gravity=(0, 0, -9.81))
    world.add_particle("stone", 2.0, (0, 0, 10), (1, 0, 0))
    t = 0.5
    s = world.sensitivity(["stone.position"], ["stone.velocity", "gravity", "stone.mass"], t, 1e-2)
    np.testing.assert_allclose(s["stone.position", "stone.velocity"], t * np.eye(3), atol=1e-14)
    np.testing.assert_allclose(s["stone.position", "gravity"], 0.5 * t**2 * np.eye(3), atol=1e-14)
    np.testing.assert_allclose(s["stone.position", "stone.mass"], np.zeros(3), atol=1e-15)  # P = m v is stepped
    np.testing.assert_allclose(s.values["stone.position"], [t, 0, 10 - 0.5 * 9.81 * t**2], rtol=1e-14)


def world(mass: float = 2.0, stiffness: float = 50.0, radius: float = 0.05, angle: float = 0.3) -> pt.World:
    w = pt.World(gravity=(0, 0, -9.81))
    w.add_body("box", pt.Inertia.box(mass, (0.1, 0.2, 0.3)), position=(0, 0, 1), angular_velocity=(1, 2, 3))
    w.add_body(
        "arm", pt.Inertia.cylinder(1.0, radius, 1.0), joint=pt.revolute((0, 1, 0)), placement=(0, 0, 2), q=[angle]
    )
    w.add_spring("s", "box", "arm", stiffness, 0.5, 0.1, point_a=(0.05, 0.1, 0), point_b=(0, 0, -0.5))
    return w


PATHS = {"mass": "box.mass", "stiffness": "s.stiffness", "radius": "arm.radius", "angle": "arm.q[0]"}
VALUES = {"mass": 2.0, "stiffness": 50.0, "radius": 0.05, "angle": 0.3}


@pytest.mark.parametrize("method", few(["rk4", "semi-implicit euler"], {"rk4"}))
def test_agrees_with_differences_of_runs(method):
    outputs = ["box.position", "box.orientation", "energy", "s.tension", "q"]
    exact = world().sensitivity(outputs, list(PATHS.values()), 0.3, 1e-3, method=method)
    for name, path in PATHS.items():
        h = 1e-5 * VALUES[name]
        worlds = [world(**{name: VALUES[name] + d}) for d in (h, -h)]
        ends = [w.simulate(0.3, 1e-3, method=method, every=0.3, ledger=False) for w in worlds]
        for output in outputs:
            body, _, quantity = output.partition(".")
            a, b = ((r[body][quantity] if body == "box" else r.data[output]).values[-1] for r in ends)
            slope, derivative = (a - b) / (2 * h), exact[output, path]
            np.testing.assert_allclose(
                derivative, slope, atol=1e-7 * (1 + np.abs(slope).max()), err_msg=f"{output}, {path}"
            )


def test_batch_of_neighbours_agrees():
    s = world().sensitivity(["box.position"], ["box.mass"], 0.2)
    h = 1e-4
    run = world().simulate(0.2, vary={"box.mass": np.array([2.0 - h, 2.0 + h])})
    x = run["box"].position.values[-1]
    np.testing.assert_allclose(s["box.position", "box.mass"], (x[1] - x[0]) / (2 * h), rtol=1e-6)
