"""What a run compiles: every function that it needs is traced once, and compiled once."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import poinsot as pt
from poinsot.fuse import kernels
from poinsot.fuse.kernels import ELEMENTARY
from poinsot.fuse.llvm import jit
from poinsot.run import few_looks


def small() -> pt.World:
    world = pt.World()
    world.add_body("arm", pt.Inertia.cylinder(1, 0.05, 1), joint=pt.revolute((0, 1, 0)), q=0.3, v=0.5)
    box = pt.Pose(p=(0, 0, -0.2)) @ pt.Inertia.box(2.0, (0.1, 0.2, 0.3))
    world.add_body("box", box, joint=pt.spherical(), placement=(1, 0, 0), v=(3, 0.2, 0.3))
    world.add_spring("rope", "arm", "box", 10.0, 0.1)
    return world


def free() -> pt.World:
    world = pt.World()
    world.add_body("box", pt.Inertia.box(2.0, (0.1, 0.2, 0.3)), angular_velocity=(3, 0.2, 0.3))
    return world


@pytest.fixture
def log(monkeypatch):
    """The names of the functions that are traced, and of those that are compiled."""
    calls: dict[str, list[str]] = {"traces": [], "compilations": []}
    trace, compile_module = kernels.trace, jit.compile_module

    def traced(function: Callable[..., Any], *args: Any, **options: Any) -> Any:
        if not isinstance(function, np.ufunc):  # an elementary function, which is compiled once for all
            calls["traces"].append(function.__name__)
        return trace(function, *args, **options)

    def compiled(text: str, label: str, hasty: bool) -> int:
        if label.split()[0] not in " ".join(ELEMENTARY).split():
            calls["compilations"].append(label.split()[0])
        return compile_module(text, label, hasty)

    monkeypatch.setattr(kernels, "trace", traced)
    monkeypatch.setattr(jit, "compile_module", compiled)
    return calls


def test_a_run_with_data_and_ledger_takes_four_traces_and_one_compilation(log):
    """The ledger's trace tells which inflows are possible, and gives the conserved quantities, which NumPy evaluates,
    as it does the records while they are few. The state at the start is a constant here: it is traced, so that its
    numbers are those of a world with free numbers, and not compiled."""
    run = small().simulate(0.05, 1e-3)
    assert run.data.sizes["body"] == 2
    assert run.ledger.relative_residual.max() < 1e-9
    assert [name for name in log["traces"] if name != "visit"] == ["quantities", "_start", "_advance", "function"]
    assert log["compilations"] == ["_advance"]


def test_the_steps_are_compiled_by_another_thread(log, monkeypatch):
    """To the same bits as by this one, and by nothing that goes on after the run."""
    ahead = small().simulate(0.05, 1e-3)
    assert log["compilations"] == ["_advance"]
    monkeypatch.setattr(kernels.Program, "begin", lambda *_, **__: None)
    assert np.array_equal(small().simulate(0.05, 1e-3).y, ahead.y)


def test_many_records_are_measured_by_compiled_code(log, monkeypatch):
    """To the same bits as few."""
    world = small()
    few = world.simulate(0.05, 1e-3, every=1e-3)
    assert few.data.sizes["time"] == 51
    assert log["compilations"] == ["_advance"]
    monkeypatch.setattr(few_looks, "FEW_STATES", 50)
    many = world.simulate(0.05, 1e-3, every=1e-3)
    for name, values in many.data.items():
        np.testing.assert_array_equal(values, few.data[name])
    assert log["compilations"] == ["_advance", "conserved", "function"]


def test_free_bodies_are_converted_to_momenta_and_back(log):
    run = free().simulate(0.05, 1e-3)
    assert run.data.sizes["body"] == 1
    assert run.ledger.relative_residual.max() < 1e-13
    own = [name for name in log["traces"] if name != "visit"]
    assert own == ["quantities", "_start", "_to_stepped", "_advance", "_from_stepped", "function"]
    assert log["compilations"] == ["_to_stepped", "_advance", "_from_stepped"]


def test_free_bodies_beside_joints_are_converted_to_axes_at_rest_and_back(log):
    world = small()
    world.add_body("free", pt.Inertia.box(2.0, (0.1, 0.2, 0.3)), angular_velocity=(3, 0.2, 0.3))
    world.simulate(0.05, 1e-3, ledger=False)
    assert log["compilations"] == ["_to_stepped", "_advance", "_from_stepped"]


def test_a_second_run_compiles_nothing(log):
    world = small()
    first = world.simulate(0.05, 1e-3)
    assert (len(first.data.time), len(first.ledger.sources)) == (6, 4)
    log["traces"].clear()
    log["compilations"].clear()
    second = world.simulate(0.05, 1e-3)
    np.testing.assert_array_equal(second.data.position, first.data.position)
    np.testing.assert_array_equal(second.ledger.residual, first.ledger.residual)
    assert log == {"traces": [], "compilations": []}


def test_a_world_that_changes_is_compiled_anew(log):
    world = small()
    before = world.simulate(0.05, 1e-3, ledger=False).y[-1]
    world["box.mass"] = 3.0
    log["compilations"].clear()
    assert not np.array_equal(world.simulate(0.05, 1e-3, ledger=False).y[-1], before)
    assert log["compilations"] == ["_advance"]


NUMBERS = {  # paths of a world, and values that they are set to one after the other
    "box.mass": (3.0, 4.0, 2.0),
    "rope.stiffness": (20.0, 30.0, 10.0),
    "arm.joint.damping": (0.1, 0.2, 0.0),
    "box.v": ((1.0, 0.0, 0.0), (0.0, 2.0, 0.0), (0.0, 0.0, 1.0)),
    "box.moment[0,1]": (1e-4, 2e-4, 0.0),
    "gravity[2]": (-1.6, 0.0, -9.81),
}


@pytest.mark.parametrize("path", NUMBERS)
def test_a_number_that_is_set_compiles_at_most_once(log, path):
    """The first time it becomes free, and then it stays so."""
    world, runs = small(), []
    world.simulate(0.05, 1e-3)
    for k, value in enumerate(NUMBERS[path]):
        world[path] = value
        before = len(log["compilations"])
        run = world.simulate(0.05, 1e-3)
        assert run.ledger.relative_residual.max() < 1e-9
        assert run.data.sizes["body"] == 2
        assert k == 0 or len(log["compilations"]) == before
        runs.append(run)
    assert not np.array_equal(runs[0].y, runs[1].y)
    fresh = small()
    fresh[path] = NUMBERS[path][1]
    expected = fresh.simulate(0.05, 1e-3, ledger=False).data
    np.testing.assert_allclose(runs[1].data.position, expected.position, rtol=0, atol=1e-13)
    np.testing.assert_allclose(runs[1].data.velocity, expected.velocity, rtol=0, atol=1e-12)


def test_numbers_that_are_set_one_after_the_other_are_all_free():
    world = small()
    world.simulate(0.02, 1e-3)
    world["box.moment[0,0]"] = 0.02
    world.simulate(0.02, 1e-3)
    world["box.moment"] = np.diag([0.02, 0.02, 0.01])
    world["rope.stiffness"] = 12.0
    run = world.simulate(0.02, 1e-3)
    assert run.settings["options"]["free"] == ("box.moment[0,0]", "box.moment", "rope.stiffness")
    fresh = small()
    fresh["box.moment"], fresh["rope.stiffness"] = np.diag([0.02, 0.02, 0.01]), 12.0
    np.testing.assert_allclose(run.y, fresh.simulate(0.02, 1e-3).y, rtol=0, atol=1e-13)
    batch = world.simulate(0.02, 1e-3, vary={"rope.stiffness": [12.0, 13.0]}, ledger=True)
    assert np.array_equal(batch.y[-1, 0], run.y[-1])


def test_a_run_with_numbers_that_were_set_is_repeated_to_the_bit(tmp_path):
    world = small()
    world.simulate(0.02, 1e-3)
    world["rope.stiffness"] = 12.0
    run = world.simulate(0.02, 1e-3)
    world["rope.stiffness"] = 30.0  # the run keeps its own
    assert np.array_equal(run.repeat().y, run.y)
    run.save(tmp_path / "run.nc")
    loaded = pt.load_run(tmp_path / "run.nc")
    assert loaded.world["rope.stiffness"] == 12.0
    assert np.array_equal(loaded.repeat().y, run.y)


def test_what_was_set_does_not_change_the_default_method():
    world = free()
    world.simulate(0.02, 1e-3)
    world["box.mass"] = 3.0
    assert world.simulate(0.02, 1e-3).settings["method"] == "splitting4"


def test_an_input_that_is_set_is_the_new_default(log):
    world = free()
    world.add_input("push", (0.0, 0.0, 0.0))
    world.add_force("engine", "box", pt.Input("push"))
    world.simulate(0.1, 1e-2)
    before = len(log["compilations"])
    world["push"] = (2.0, 0.0, 0.0)
    pushed = world.simulate(0.1, 1e-2)
    other = world.simulate(0.1, 1e-2, inputs={"push": (4.0, 0.0, 0.0)})
    assert len(log["compilations"]) == before
    np.testing.assert_allclose(pushed.data.velocity[-1, 0], (0.1, 0, -0.981), rtol=0, atol=1e-12)
    np.testing.assert_allclose(other.data.velocity[-1, 0], (0.2, 0, -0.981), rtol=0, atol=1e-12)


def test_a_new_part_makes_new_code(log):
    world = small()
    world.simulate(0.02, 1e-3)
    world["rope.stiffness"] = 12.0
    world.add_force("wind", "box", (1.0, 0.0, 0.0))
    run = world.simulate(0.02, 1e-3)
    assert run.settings["options"]["free"] == ()
