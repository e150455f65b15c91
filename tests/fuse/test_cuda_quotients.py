"""Quotients and square roots of the CUDA source, compiled as C++ for the host, where the instructions that begin them
have as few digits as on a GPU."""

import shutil

import numpy as np
import pytest

import poinsot as pt
from cuda_on_host import run_on_host
from poinsot.fuse.cuda.translation import kernel_source

needs_cpp = pytest.mark.skipif(shutil.which("g++") is None, reason="needs a C++ compiler to stand in for NVRTC")


def three(x, y):
    """Quotients by a number that is not known, and by one that is; a root."""
    return np.stack([x / y, x / 3.0, np.sqrt(np.abs(x))])


def kernel(function=three, strict=False):
    return pt.kernel("(),()->(3)", strict=strict)(function)


def wide(n):
    """Pairs of numbers of both signs and many sizes."""
    rng = np.random.default_rng(1)
    return rng.choice([-1.0, 1.0], (2, n)) * 10.0 ** rng.uniform(-100, 100, (2, n))


@needs_cpp
def test_they_are_good_to_the_last_digit(tmp_path):
    x, y = wide(20_000)
    (found,) = run_on_host(kernel().program(), tmp_path, x, y)
    exact = np.stack([x / y, x / 3.0, np.sqrt(np.abs(x))], axis=-1)
    off = np.abs(found - exact) / np.spacing(np.abs(exact))
    assert off.max() <= 1.0
    assert np.mean(off > 0) < 1e-3  # nearly all are rounded as on the processor
    whole, divisors = (a.ravel() for a in np.meshgrid(np.arange(-60.0, 61.0), np.arange(1.0, 60.0)))
    (found,) = run_on_host(kernel().program(), tmp_path, whole * divisors, divisors)
    np.testing.assert_array_equal(found[:, 0], whole)  # what is exact stays so
    (found,) = run_on_host(kernel().program(), tmp_path, whole * whole, divisors)
    np.testing.assert_array_equal(found[:, 2], np.abs(whole))


@needs_cpp
def test_rare_numbers(tmp_path):
    """Zeros, infinities and NaN; those whose reciprocal is not a normal number count as the first two, as divisors."""
    rare = np.array([0.0, -0.0, 1.0, -2.0, np.inf, -np.inf, np.nan])
    x, y = (a.ravel() for a in np.meshgrid(rare, rare))
    (found,) = run_on_host(kernel().program(), tmp_path, x, y)
    with np.errstate(all="ignore"):
        exact = np.stack([x / y, x / 3.0, np.sqrt(np.abs(x))], axis=-1)
    np.testing.assert_allclose(found, exact, rtol=1e-15)
    large = np.abs(exact) > 0
    np.testing.assert_array_equal(np.sign(found[large]), np.sign(exact[large]))
    (tmp_path / "other").mkdir()
    other = kernel(lambda x, y: np.stack([x / 1e-310, x / y, np.sqrt(x)]))
    (found,) = run_on_host(other.program(), tmp_path / "other", np.array([4.0, -4.0]), np.array([1e-310, 1e-310]))
    np.testing.assert_array_equal(found, [[np.inf, np.inf, 2.0], [-np.inf, -np.inf, np.nan]])


@needs_cpp
def test_strict_kernels_have_what_is_rounded_once(tmp_path):
    x, y = wide(2000)
    (found,) = run_on_host(kernel(strict=True).program(), tmp_path, x, y)
    np.testing.assert_array_equal(found, np.stack([x / y, x / 3.0, np.sqrt(np.abs(x))], axis=-1))


@pytest.mark.parametrize(("float64", "strict"), [(True, False), (True, True), (False, False)])
def test_only_float64_that_is_not_strict_goes_without_branches(float64, strict):
    source = kernel_source(kernel(strict=strict).program().graph, [1, 1], [3], float64)
    assert ("return a / b;" in source.text) == (strict or not float64)
    assert ("--fmad=false" in source.options) == strict
