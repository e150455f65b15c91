"""All parts of flight in float32, and as CUDA source that is compiled for the host: the same motion."""

import shutil

import numpy as np
import pytest
from flight_worlds import aeroplane, glider, rocket

from cuda_on_host import run_on_host

H, N = 1e-3, 20.0
ROUGH = 3e-4  # 20 steps of a rocket under its parachute, at 100 m/s^2, with 24 bits


@pytest.fixture(scope="module", params=[aeroplane, rocket, glider], ids=lambda make: make.__name__)
def moved(request):
    """The kernel that makes steps, the states of a run that it starts from, and the states after them."""
    run = request.param().simulate(0.3, H, every=0.1, ledger=False)
    assert run.stop.reason == "duration"
    y, n = np.asarray(run.y), len(run.time)
    p = np.broadcast_to(run.p, (n, run.compiled.np))
    given = (y, p, run.time, np.full(n, H), np.full(n, N))
    return run.compiled.advance_state, given, run.compiled.advance_state(*given)


def off(found, wanted):
    return np.max(np.abs(found - wanted) / (1 + np.abs(wanted)))


def test_float32(moved):
    advance, given, wanted = moved
    found = advance(*(np.asarray(x, dtype=np.float32) for x in given))
    assert found.dtype == np.float32
    assert off(found, wanted) < ROUGH


@pytest.mark.skipif(shutil.which("g++") is None, reason="needs a C++ compiler to stand in for NVRTC")
@pytest.mark.parametrize(("float64", "within"), [(True, 1e-11), (False, ROUGH)])
def test_the_source_for_gpus(moved, float64, within, tmp_path):
    advance, given, wanted = moved
    (found,) = run_on_host(advance.program(), tmp_path, *given, float64=float64)
    assert off(found, wanted) < within
