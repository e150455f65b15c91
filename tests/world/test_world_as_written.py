"""What a user writes is understood as it is meant, or refused with the way to write it."""

import inspect
import re

import numpy as np
import pytest

import poinsot as pt
from poinsot._errors import FieldError
from poinsot.parts.element import called

BOX = pt.Inertia.box(2.0, (0.1, 0.2, 0.3))


@pytest.fixture
def plane():
    world = pt.World(gravity=(0, 0, 0))
    world.add_body("plane", BOX, parent="world", joint=pt.prismatic((1, 0, 0)))
    world.add_input("elevator", 0.0)
    world.add_force("lift", "plane", lambda t, scene: np.stack([scene.input("elevator"), 0.0, 0.0]))
    return world


def test_inputs_are_numbers_of_the_world(plane):
    assert "elevator" in plane.paths()
    plane["elevator"] = 2.0
    assert plane["elevator"] == 2.0
    assert plane.simulate(1.0, 1e-2).data.v.values[-1] == pytest.approx(1.0)
    run = plane.simulate(1.0, 1e-2, vary={"elevator": [2.0, 4.0]})
    np.testing.assert_allclose(run.data.v.values[-1, :, 0], [1.0, 2.0])


def test_the_world_as_a_parent(plane):
    assert plane.description.bodies["plane"].parent is None


@pytest.mark.parametrize(
    "force", [lambda t: (2.0 * t, 0, 0), lambda t, u=2.0: (u * t, 0, 0), lambda t, s: (2 * t, 0, 0)]
)
def test_functions_of_time_alone(force):
    world = pt.World(gravity=(0, 0, 0))
    world.add_body("box", BOX)
    world.add_force("push", "box", force)
    assert world.simulate(1.0, 1e-2).data.velocity.values[-1, 0, 0] == pytest.approx(0.5)


def test_functions_of_more_are_refused():
    world = pt.World()
    world.add_body("box", BOX)
    world.add_force("push", "box", lambda t, scene, u: (u, 0, 0))
    with pytest.raises(ValueError, match=r"is a function \(t, scene, u\); it must be one of \(t, scene\), or of \(t\)"):
        world.simulate(1.0)


FUNCTIONS = {  # of a time of 3 s, and of a scene at 2 s: what each should give
    "t": (lambda t: 2 * t, 6.0),
    "t, scene": (lambda t, scene: t + 10 * scene.t, 23.0),
    "of any names": (lambda a, b: a + 10 * b.t, 23.0),
    "a number of the user's": (lambda t, u=5.0: u * t, 15.0),
    "two of them": (lambda t, u=5.0, w=1.0: u * t + w, 16.0),
    "a scene by default": (lambda t, scene=None: t + 10 * scene.t, 23.0),
    "a scene that comes too late": (lambda t, u=5.0, scene=None: u * t + (scene is not None), 15.0),
    "a scene in the first place": (lambda scene=0.0, u=5.0: u * scene, 15.0),
    "a number by name": (lambda t, *, u=5.0: u * t, 15.0),
    "any number": (lambda *both: both[0] + 10 * both[1].t, 23.0),
    "the time and more": (lambda t, *more: t + 10 * more[0].t, 23.0),
    "any keywords": (lambda t, **more: t + len(more), 3.0),
    "of C, that tells nothing": (slice, None),
}


def scene_at(t):
    world = pt.World()
    world.add_body("box", BOX)
    return world.scene(t=t)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_functions_get_the_arguments_that_they_name(name):
    function, wanted = FUNCTIONS[name]
    scene = scene_at(2.0)
    got = called(function, scene, "force", "'push'", 3.0)
    assert (got.start, got.stop) == (3.0, scene) if function is slice else got == wanted
    assert called(lambda t: t, scene, "force", "'push'") == 2.0  # without a clock of its own


@pytest.mark.parametrize(
    "function", [lambda: 1.0, lambda t, scene, u: u, lambda t, *, u: u, lambda *, u: u, lambda **all_of_them: 1.0]
)
def test_functions_that_cannot_be_called_are_refused(function):
    words = re.escape(f"is a function {inspect.signature(function)}; it must be one of (t, scene), or of (t) alone")
    with pytest.raises(FieldError, match=words):
        called(function, scene_at(0.0), "force", "'push'")


@pytest.mark.parametrize("options", [{"batch": 0}, {"vary": {"plane.mass": []}}])
def test_an_empty_batch_gives_an_empty_result(plane, options):
    run = plane.simulate(0.1, 1e-2, **options)
    assert run.batch == 0
    assert run.data.sizes["batch"] == 0


def test_a_quantity_that_is_misspelt_fails_before_the_run(plane):
    with pytest.raises(ValueError, match="'posiion' cannot be recorded; did you mean 'position'"):
        plane.simulate(1e9, 1e-3, record=["posiion"])


def test_a_description_keeps_nothing_of_the_caller(plane):
    force, point, listed, where, table = np.ones(3), np.zeros(3), [1.0, 2.0, 3.0], np.zeros(3), np.ones((2, 3))
    plane.add_force("f", "plane", force, point)
    plane.add(pt.Torque("m", "plane", listed))
    plane.add_body("stone", BOX, position=where)
    plane.add_force("g", "stone", pt.Tabulated((0, 1), table))
    plane["lift.point"] = where
    low, axis, numbers = np.array([-1.0]), np.array([0.0, 1.0, 0.0]), [0.5]
    plane.add_body("arm", BOX, joint=pt.revolute(axis, lower=low, damping=numbers))
    for array in (force, point, where, table):
        array += 7.0
    listed[0] = numbers[0] = low[0] = axis[2] = 7.0
    hinge = plane.description.bodies["arm"].hinge
    assert (hinge.lower.tolist(), list(hinge.damping), hinge.axes.tolist()) == ([-1.0], [0.5], [[0, 1, 0]])
    assert plane["f.value"].tolist() == [1, 1, 1]
    assert plane["m.value"].tolist() == [1, 2, 3]
    assert not np.any(plane["f.point"])
    assert not np.any(plane["stone.position"])
    assert not np.any(plane["lift.point"])
    assert np.all(plane.description.elements["g"].value.values == 1)
    for path in ("f.value", "f.point", "stone.position", "lift.point", "elevator", "gravity"):
        with pytest.raises(ValueError, match="read-only"):
            plane[path][...] = 1.0


def test_a_run_keeps_nothing_of_the_caller(plane):
    """Its settings repeat it, though the arrays that it was given change."""
    masses, pushes = np.array([1.0, 2.0]), [0.1, 0.2]
    run = plane.simulate(0.01, 1e-3, vary={"plane.mass": masses}, inputs={"elevator": pushes})
    masses[0] = pushes[0] = 99.0
    options = run.settings["options"]
    assert options["vary"]["plane.mass"].tolist() == [1.0, 2.0]
    assert options["inputs"]["elevator"] == [0.1, 0.2]
