"""Kernels of many numbers whose arrays are in memory: they are copied in loops, whatever their layout in a batch."""

import numpy as np
import pytest

import poinsot as pt
from poinsot.fuse import in_memory, kernels

N = 1500


@pytest.fixture(scope="module", params=["side by side", "one by one"])
def kernel(request):
    """Doubles each number and adds the one that it names; with a loop whose length differs between instances."""

    @pt.kernel(f"({N}),()->({N})")
    def doubled(x, n):
        x, names = in_memory(x), (np.arange(N) * 7 + 3) % N

        def body(k, y):
            y[k] = 2.0 * y[k] + x[np.asarray(names)[k]]
            return y

        more = pt.while_loop(lambda c: c[0] < n, lambda c: (c[0] + 1.0, c[1] + x[7]), (0.0, 0.0), most=50)[1]
        y = pt.fori_loop(N, body, 1.0 * x)
        y[5] = y[5] + more
        return y

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(kernels, "MUCH", 10**9 if request.param == "side by side" else 100)
        doubled(np.zeros(N), 0.0)
        yield doubled


def wanted(x, n):
    y = 2.0 * x + x[..., (np.arange(N) * 7 + 3) % N]
    y[..., 5] += np.minimum(np.ceil(n), 50) * x[..., 7]
    return y


def test_long_arguments_in_any_layout(kernel):
    x, n = np.random.default_rng(0).normal(size=(13, N)), np.arange(13.0)
    for batch in (x, np.asfortranarray(x), x[:, ::-1], np.repeat(x, 2, axis=0)[::2]):
        found = kernel(batch, n)
        assert np.allclose(found, wanted(batch, n), rtol=0, atol=1e-13)
        assert all(np.array_equal(kernel(batch[k], n[k]), found[k]) for k in (0, 5, 12))
    assert np.array_equal(kernel(x, 3.0)[4], kernel(x[4], 3.0))


def test_only_nans_that_were_made_warn(kernel):
    x = np.random.default_rng(1).normal(size=(9, N))
    x[3, 700] = np.nan
    assert np.flatnonzero(np.isnan(kernel(x, 2.0)).any(axis=1)).tolist() == [3]
    x[3, 700], x[4, 700], x[4, (700 * 7 + 3) % N] = 0.0, np.inf, -np.inf
    with pytest.warns(RuntimeWarning, match="invalid"):
        assert np.isnan(kernel(x, 2.0)[4, 700])
