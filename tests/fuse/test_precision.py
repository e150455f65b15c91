"""The precision of the floats that a kernel is run with, as it is known inside."""

import shutil

import numpy as np
import pytest
from test_cuda import run_on_host

from poinsot.fuse import coarseness, fori_loop, gradient, kernel

LARGEST = float(np.finfo(np.float32).max)
NUMBERS = [1.0, 0.1, -3.0, 0.0, -0.0, 1e30, -1e-30, 5e-324, -1e-40, 2.0 - 2.0**-20, LARGEST, np.inf, np.nan]


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("backend", ["llvm", "numpy"])
def test_spacing_is_that_of_numpy(dtype, backend):
    x = np.array(NUMBERS, dtype)
    with np.errstate(invalid="ignore", over="ignore"):
        found = kernel("()->()")(lambda x: np.spacing(x)).to(backend)(x)
        expected = np.spacing(x)
    assert found.dtype == dtype
    np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize(("dtype", "expected"), [(np.float64, 1.0), (np.float32, 2.0**29)])
@pytest.mark.parametrize("backend", ["llvm", "numpy"])
def test_a_kernel_knows_how_coarse_its_floats_are(dtype, expected, backend):
    """Also in a loop and in a derivative, through which the graph is built again."""

    def f(x):
        return fori_loop(2, lambda k, y: y * coarseness(), x)

    one = np.ones(3, dtype)
    np.testing.assert_array_equal(kernel("()->()")(f).to(backend)(one), expected**2)
    np.testing.assert_array_equal(gradient(kernel("()->()")(f)).to(backend)(one), expected**2)


def test_outside_of_kernels_floats_have_64_bits():
    assert coarseness() == 1.0


@pytest.mark.skipif(shutil.which("g++") is None, reason="needs a C++ compiler")
def test_on_a_gpu(tmp_path):
    """The CUDA source compiled as C++, which computes in float64."""
    x = np.array(NUMBERS[:-2])
    f = kernel("()->(),()")(lambda x: (np.spacing(x), coarseness() * x))
    spacing, coarse = run_on_host(f.gpu_program(x.shape, dtype=np.float64), tmp_path, x)
    np.testing.assert_array_equal(spacing, np.spacing(x))
    np.testing.assert_array_equal(coarse, x)
