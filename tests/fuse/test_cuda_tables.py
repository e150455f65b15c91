"""Tables in CUDA source, compiled as C++ for the host: what `pt.Table` gives on plain arrays."""

import shutil

import numpy as np
import pytest
from test_cuda import run_on_host, source_of

import poinsot as pt

AXES = (np.linspace(-1, 1, 6), np.array([-1.0, -0.2, 0.1, 0.7, 1.0]), np.cumsum(np.linspace(0.01, 0.08, 45)) - 1)


@pytest.mark.skipif(shutil.which("g++") is None, reason="needs a C++ compiler to stand in for NVRTC")
@pytest.mark.parametrize("method", ["linear", "cubic", "monotone"])
def test_look_ups_on_the_gpu(tmp_path, method):
    values = np.random.default_rng(0).normal(size=(6, 5, 45, 2))
    table = pt.Table(AXES, values, method, ("clamp", "mirror", "extrapolate"))
    x = np.random.default_rng(1).uniform(-1.3, 1.3, (3, 50))
    program = pt.kernel("(),(),()->(2)")(table).program()
    (got,) = run_on_host(program, tmp_path, *x)
    np.testing.assert_allclose(got, table(*x), rtol=1e-11, atol=1e-11)


def test_a_large_table_is_declared_once():
    table = pt.Table((np.arange(40.0),) * 3, np.random.default_rng(0).normal(size=(40, 40, 40)))
    text = source_of(pt.kernel("(),(),()->()")(table).program())
    assert text.count("__device__ const T table") == 2  # its axes, which are equal, and its values
    assert len(text) < 40**3 * 30
