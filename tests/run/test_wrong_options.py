"""Options of the wrong kind are an error that names them, before anything is compiled."""

import numpy as np
import pytest

import poinsot as pt
from poinsot.fuse import kernels

WRONG = {
    "seed": (-1, 1.5, "x", True),
    "batch": (True, -1, 2.5, "x"),
    "until": (3, "x"),
    "vary": (3, [1], "ball.mass"),
    "inputs": (3, [("u", 1.0)]),
    "outputs": (3, "max(energy)"),
    "free": (3, 2.5),
    "record": (3, 2.5),
    "ledger_tolerance": ("x", None, -1.0, np.nan),
}


def world(sensor=False):
    made = pt.World()
    made.add_particle("ball", 1.0)
    made.add_input("u", 0.0)
    if sensor:
        made.add(pt.Sensor("gps", "gps", "ball", sample=0.01, noise=0.1))
    return made


@pytest.mark.parametrize(("option", "value"), [(name, x) for name, values in WRONG.items() for x in values])
def test_a_run_names_what_is_wrong(monkeypatch, option, value):
    monkeypatch.setattr(kernels, "trace", None)
    with pytest.raises(ValueError, match=f"{option} must be "):
        world().simulate(0.01, 0.005, **{option: value})


STEPPERS = {k: WRONG[k] for k in ("seed", "batch", "until", "vary")} | {"step": ("x", None, 0.0), "observe": (3,)}


@pytest.mark.parametrize(("option", "value"), [(name, x) for name, values in STEPPERS.items() for x in values])
def test_a_stepper_names_what_is_wrong(monkeypatch, option, value):
    monkeypatch.setattr(kernels, "trace", None)
    with pytest.raises(ValueError, match=f"{option} must be "):
        world().stepper(**{"step": 0.01, option: value})


def test_seeds():
    """NumPy's own whole numbers will do; noise has 2^32 seeds, of which a larger one would be another."""
    sim = world().stepper(step=0.01, seed=np.int64(3))
    sim.reset(seed=np.uint8(4))
    for wrong in (-1, 1.5, "x"):
        with pytest.raises(ValueError, match="seed must be a whole number"):
            sim.reset(seed=wrong)
    with pytest.raises(ValueError, match="too large for the noise"):
        world(sensor=True).simulate(0.02, 0.01, seed=2**32)
    with pytest.raises(ValueError, match="too large for the noise"):
        world(sensor=True).stepper(step=0.01, seed=2**32)


def test_a_single_name_will_do():
    run = world().simulate(0.01, 0.005, free="ball.mass", record="q")
    assert run.settings["options"]["free"] == ("ball.mass",)
    assert list(run.data.data_vars) == ["q"]


@pytest.mark.parametrize(
    ("value", "told"),
    [
        (lambda t, scene: 1.0, r"a function \(t, scene\); it must be one of \(t\)"),
        (lambda: 1.0, r"a function \(\); it must be one of \(t\)"),
        ("much", "input 'u' must be numbers, not 'much'"),
        (([0.0, 1.0], 1.0), "2 times for one value"),
        (([0.0, np.nan], [1.0, 2.0]), "which must increase"),
        (([np.nan], [1.0]), "times that are not finite"),
        (([-np.inf, 0.0], [1.0, 2.0]), "times that are not finite"),
    ],
)
def test_inputs_that_are_none(value, told):
    world = pt.World()
    world.add_particle("bead", 1.0)
    world.add_input("u", 0.0)
    with pytest.raises(ValueError, match=told):
        world.simulate(0.01, inputs={"u": value})


def test_a_joint_that_is_none():
    with pytest.raises(TypeError, match=r"joint of body 'arm' must be one as pt.revolute.*not 'revolute'"):
        pt.World().add_body("arm", pt.Inertia.sphere(1.0, 0.1), joint="revolute")


def test_a_force_whose_scene_comes_first():
    for function in (lambda scene, t: np.zeros(3), lambda scene: np.zeros(3)):
        world = pt.World()
        world.add_particle("bead", 1.0)
        world.add_force("wind", "bead", function)
        with pytest.raises(ValueError, match=r"a function \(scene.*it must be one of \(t, scene\), or of \(t\) alone"):
            world.simulate(0.01)


def test_functions_with_other_arguments():
    """They are told with the arguments that they should have, before anything is compiled."""
    world = pt.World()
    world.add_particle("bead", 1.0, position=(1.0, 0, 0))
    for function in (lambda t: t > 1, lambda: True, lambda t, scene, more: True):
        with pytest.raises(ValueError, match=r"until is a function \(.*\); it must be one of \(t, scene\)"):
            world.simulate(0.01, until=function)
        with pytest.raises(ValueError, match=r"output 'a' is a function \(.*\); it must be one of \(t, scene\)"):
            world.simulate(0.01, outputs={"a": ("max", function)})
    with pytest.raises(
        ValueError, match=r"tension of spring 'k' is a function \(l\); it must be one of \(length, rate"
    ):
        world.add_spring("k", "bead", "world", 1.0, tension=lambda l: l)
    with pytest.raises(ValueError, match="tension of spring 'k' is 'x', not a function"):
        world.add_spring("k", "bead", "world", 1.0, tension="x")
    world.add_body("arm", pt.Inertia.sphere(1.0, 0.1), joint=pt.revolute((0, 0, 1)))
    with pytest.raises(ValueError, match=r"the motion of a joint is a function \(t, s\); it must be one of \(t\)"):
        world.drive("arm", lambda t, s: t)


def test_a_body_that_is_misspelt_in_a_run():
    world = pt.World()
    world.add_particle("bead", 1.0)
    run = world.simulate(0.01)
    with pytest.raises(KeyError, match=r"there is no body 'bed'; did you mean 'bead'\?"):
        run["bed"]
    assert run["bead"].position.shape[-1] == 3
