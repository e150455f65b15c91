"""What a run compiles: every function that it needs is traced once, and compiled once."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import poinsot as pt
from poinsot.fuse import kernels
from poinsot.fuse.llvm import jit


def small() -> pt.World:
    world = pt.World()
    world.add_body("arm", pt.Inertia.cylinder(1, 0.05, 1), joint=pt.revolute((0, 1, 0)), q=0.3)
    world.add_body("box", pt.Inertia.box(2.0, (0.1, 0.2, 0.3)), position=(1, 0, 0), angular_velocity=(3, 0.2, 0.3))
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
        calls["traces"].append(function.__name__)
        return trace(function, *args, **options)

    def compiled(text: str, label: str) -> int:
        calls["compilations"].append(label.split()[0])
        return compile_module(text, label)

    monkeypatch.setattr(kernels, "trace", traced)
    monkeypatch.setattr(jit, "compile_module", compiled)
    return calls


def test_a_run_with_data_and_ledger_takes_four_traces_and_two_compilations(log):
    """The ledger's trace tells which inflows are possible, and gives the conserved quantities, which NumPy evaluates.
    The state at the start is a constant here: it is traced, so that its numbers are those of a world with free numbers,
    and not compiled."""
    run = small().simulate(0.05, 1e-3)
    assert run.data.sizes["body"] == 2
    assert run.ledger.relative_residual.max() < 1e-9
    assert [name for name in log["traces"] if name != "visit"] == ["quantities", "_start", "_advance", "function"]
    assert log["compilations"] == ["_advance", "function"]


def test_free_bodies_are_converted_to_momenta_and_back(log):
    run = free().simulate(0.05, 1e-3)
    assert run.data.sizes["body"] == 1
    assert run.ledger.relative_residual.max() < 1e-13
    own = [name for name in log["traces"] if name != "visit"]
    assert own == ["quantities", "_start", "_to_stepped", "_advance", "_from_stepped", "function"]
    assert log["compilations"] == ["_to_stepped", "_advance", "_from_stepped", "function"]


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
