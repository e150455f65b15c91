"""Numbers that vary are checked as constructors check them, before anything runs."""

import time

import numpy as np
import pytest

import poinsot as pt


@pytest.fixture
def world():
    world = pt.World()
    world.add_body("s", pt.Inertia.box(2.0, (0.1, 0.2, 0.3)))
    world.add_body("tube", pt.Inertia.cylinder(1.0, 0.2, 0.5, 0.1), position=(3, 0, 0))
    world.add_body("arm", pt.Inertia.box(2.0, (0.1, 0.2, 0.3)), joint=pt.revolute((0, 1, 0)), placement=(0, 0, 2))
    world.add_spring("line", "s", "arm", 10.0)
    return world


@pytest.mark.parametrize(
    ("path", "values", "told"),
    [
        ("s.mass", [1, 2, -5], "s.mass = -5.0 of instance 2 cannot be"),
        ("s.moment", [np.eye(3), np.diag([1, 1, 100])], "instance 1 cannot be: principal moments 1, 1, 100"),
        ("s.moment", [np.eye(3), [[1, 0.1, 0], [0, 1, 0], [0, 0, 1]]], "instance 1 cannot be: moment is not symmetric"),
        ("s.moment[0,0]", [0.02, 21.0], r"s.moment\[0,0\] = 21.0 of instance 1"),
        ("s.orientation", [[1, 0, 0, 0], [2, 0, 0, 0]], "is not a unit quaternion: its length is 2"),
        ("line.damping", [0.0, -1.0], "line.damping = -1.0 of instance 1"),
        ("tube.inner_radius", [0.1, 0.3], "tube.inner_radius = 0.3 of instance 1"),
        ("s.mass", "heavy", "give an array of numbers, one entry per instance, or a distribution"),
    ],
)
def test_impossible_values_are_refused(world, path, values, told):
    with pytest.raises(ValueError, match=told):
        world.simulate(0.01, vary={path: values})


def test_numbers_that_are_impossible_together(world):
    radius, inner = np.linspace(0.2, 0.4, 1000), np.linspace(0.1, 0.3, 1000)
    inner[700] = radius[700] + 1e-3
    with pytest.raises(ValueError, match="of instance 700 cannot be"):
        world.simulate(0.01, vary={"tube.radius": radius, "tube.inner_radius": inner})


def test_the_first_of_many_is_named_and_quickly(world):
    n = 100_000
    masses = np.random.default_rng(0).uniform(1, 2, n)
    moments = masses[:, None, None] * np.eye(3)
    started = time.perf_counter()
    masses[[77_777, 40_000]] = -9.0, -1e-9
    with pytest.raises(ValueError, match="of instance 40000 cannot be"):
        world.simulate(0.01, vary={"s.mass": masses})
    moments[90_000, 2, 2], moments[60_000, 0, 1] = 100.0, 0.1
    with pytest.raises(ValueError, match="of instance 60000 cannot be"):
        world.simulate(0.01, vary={"s.moment": moments})
    assert time.perf_counter() - started < 20.0


def test_entries_of_matrices_and_plain_numbers_for_joints(world):
    world["s.moment[0,1]"] = 1e-4
    assert world["s.moment"][1, 0] == world["s.moment[0][1]"] == world["s.moment[1, 0]"] == 1e-4
    world["arm.q"] = 0.4
    run = world.simulate(0.01, vary={"arm.q": [0.1, 0.2, 0.3], "s.moment[0,1]": [0.0, 1e-4, 2e-4]}, record="q")
    assert run.data.q.values[0, :, -1].tolist() == [0.1, 0.2, 0.3]
    assert world.simulate(0.01, vary={"arm.q": pt.Normal(0.0, 0.1)}, batch=5).batch == 5


def test_masses_that_vary_do_not_change_the_method():
    world = pt.World()
    world.add_body("s", pt.Inertia.box(2.0, (0.1, 0.2, 0.3)), angular_velocity=(1, 2, 3))
    for path in ("s.position[0]", "s.mass", "s.moment[0,1]"):
        run = world.simulate(0.01, vary={path: [0.001, 0.002]})
        assert run.settings["method"] == "splitting4"
        assert "note" not in run.settings


def test_a_warning_names_what_changes_the_method():
    world = pt.World()
    world.add_body("s", pt.Inertia.box(2.0, (0.1, 0.2, 0.3)), angular_velocity=(1, 2, 3))
    with pytest.warns(UserWarning, match=r"method 'rk4' instead of 'splitting4', .* 's.joint.damping' varies"):
        run = world.simulate(0.01, vary={"s.joint.damping": [0.0, 2.0]})
    assert run.settings["method"] == "rk4"
    assert "'s.joint.damping' varies" in run.settings["note"]
    assert np.all(run["s"].angular_velocity[-1, 1] < run["s"].angular_velocity[-1, 0])
