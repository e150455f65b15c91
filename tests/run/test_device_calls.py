"""Runs on the GPU: what is copied there, and what is evaluated there; with a stand-in for the GPU."""

import gc
import shutil
import sys
import threading
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import cupy_on_host
import poinsot as pt
from poinsot.fuse.llvm import jit
from poinsot.fuse.parallel import set_threads, stacked
from poinsot.run.device_calls import OnDevice
from poinsot.run.few_looks import FEW_STATES

sys.path.append(str(Path(__file__).parents[2] / "benchmarks"))

import gpu_code

pytestmark = pytest.mark.skipif(shutil.which("g++") is None, reason="the stand-in for a GPU needs g++")


@pytest.fixture
def copied(monkeypatch):
    """The arrays that were copied to the GPU."""
    arrays, cupy = [], cupy_on_host.module()
    cupy.asarray = lambda a, dtype=None: arrays.append(a) or np.array(a, dtype)
    monkeypatch.setitem(sys.modules, "cupy", cupy)
    return arrays


def world():
    made = pt.World()
    ball = made.add_body("ball", pt.Inertia.sphere(2.0, 0.1), velocity=(3.0, 0.0, 10.0))
    made.add_force("drag", ball, lambda t, scene: -0.3 * np.sqrt(1.0 + scene["ball"].velocity ** 2))
    return made


def doubled():
    return OnDevice(pt.kernel("(n)->(n)")(lambda x: 2.0 * x))


def was_copied(copied, array):
    return any(a is array for a in copied)


def test_the_last_result_need_not_be_copied_back(copied):
    call, x = doubled(), np.arange(6.0).reshape(2, 3)
    y = call(x)
    z = call(y)
    assert was_copied(copied, x)
    assert not was_copied(copied, y)
    np.testing.assert_array_equal(z, 4 * x)
    call(y)  # no longer the last one
    assert was_copied(copied, y)


def test_what_it_was_cannot_change(copied):
    call, x = doubled(), np.ones((2, 3))
    y = call(x)
    with pytest.raises(ValueError, match="read-only"):
        y[0] = 5.0
    other = y.copy()
    other[0] = 5.0
    np.testing.assert_array_equal(call(other), 2 * other)


def test_it_is_forgotten_when_nothing_uses_it(copied):
    call = doubled()
    y = call(np.ones(3))
    assert call._known._there is not None
    del y
    gc.collect()
    assert call._known._there is None


def test_code_is_made_ahead_in_another_thread(copied, monkeypatch):
    makers, made = [], cupy_on_host.RawKernel.__init__

    def noted(self, *args, **options):
        makers.append(threading.current_thread())
        made(self, *args, **options)

    monkeypatch.setattr(cupy_on_host.RawKernel, "__init__", noted)
    call = OnDevice(pt.kernel("(3)->(3)")(lambda x: 2.0 * x))
    call.begin()
    np.testing.assert_array_equal(call(np.ones((2, 3))), np.full((2, 3), 2.0))
    assert len(makers) == 1
    assert makers[0] is not threading.current_thread()


def test_a_function_is_traced_once_for_the_gpu_and_not_for_the_processor(copied):
    traces = []

    def push(t, scene):
        traces.append(t)
        return -0.1 * scene["ball"].velocity

    made = pt.World()
    made.add_force("push", made.add_body("ball", pt.Inertia.sphere(2.0, 0.1)), push)
    made.simulate(0.01, 1e-3, batch=3, ledger=False, progress=False)
    here = len(traces)
    made.simulate(0.01, 1e-3, batch=3, ledger=False, progress=False, device="cuda")
    assert len(traces) <= 2 * here  # as often as for the processor


@pytest.mark.parametrize("compiles", [True, False])
def test_many_states_are_evaluated_on_the_gpu_where_nothing_compiles_for_the_processor(copied, monkeypatch, compiles):
    run = world().simulate(0.1, 1e-2, batch=8, ledger=True, progress=False, device="cuda")
    n = FEW_STATES // len(run.time) + 1
    y, p, t = run.y[:, np.arange(n) % 8], run.p[np.arange(n) % 8], run.time[:, None]
    expected = run.compiled.conserved(t, y, p)
    monkeypatch.setattr(jit, "available", lambda: compiles)
    made, before = replace(run.compiled), len(copied)  # with nothing compiled yet
    found = made.conserved(t, y, p)
    assert (len(copied) > before) == (not compiles)
    for a, b in zip(found, expected, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-14, atol=1e-14)
        assert np.array_equal(a, b) or not compiles


def test_instances_that_break_down_stay_where_they_were(copied):
    """Though what the GPU gives cannot be written to."""
    made = pt.World()
    made.add_body("arm", pt.Inertia.box(1.0, (1, 0.1, 0.1)), joint=pt.revolute((0, 1, 0)))
    made.add_input("gain", 1.0)
    made.add_torque("run", "arm", lambda t, scene: np.stack([0.0 * t, np.exp(scene.inputs["gain"] * t), 0.0 * t]))
    gain = np.array([1.0, 1e5, 2.0])
    with pytest.warns(pt.LedgerWarning, match="broke down"):
        run = made.simulate(0.1, 1e-2, batch=3, inputs={"gain": gain}, ledger=False, progress=False, device="cuda")
    assert list(run.stop.notes) == [1]
    assert np.all(np.isfinite(run.y))


@pytest.mark.parametrize("count", [1, 4])
def test_records_that_threads_put_together(count):
    arrays = [np.random.default_rng(k).random((600, 300)) for k in range(3)]
    set_threads(count)
    try:
        np.testing.assert_array_equal(stacked(arrays), np.stack(arrays))
    finally:
        set_threads(None)
    np.testing.assert_array_equal(stacked([np.arange(3), np.arange(3.0)]), np.stack([np.arange(3), np.arange(3.0)]))


def test_what_does_not_change_in_the_stages_goes_through_them_once():
    """The states of limits: the loop over the stages carries a state without them, and a sum with them."""
    text = gpu_code.source("pull-up", 8)[0].text
    before = text[: text.index(" < 5;")].splitlines()[:-2]
    carried = next(k for k, line in enumerate(reversed(before)) if not line.lstrip().startswith("T v"))
    q, v, parts, inflow = 21, 18, 14, 22
    assert carried == q + v + (q + v + parts + inflow)
