"""Memory of large results is used again when nothing uses it, and never before."""

import gc
import os
import subprocess
import sys
import threading
import warnings

import numpy as np
import pytest

import poinsot as pt
from poinsot.fuse import buffers

N = 300_000  # numbers: 2.4 MB


@pytest.fixture(autouse=True)
def fresh_pool():
    pt.keep_buffers(buffers.LIMIT)
    yield
    pt.keep_buffers(buffers.LIMIT)


@pytest.fixture(scope="module")
def double():
    kernel = pt.kernel("()->()")(lambda x: 2.0 * x + 1.0)
    kernel(np.zeros(3))
    return kernel


def address(array):
    return array.ctypes.data


def test_memory_is_used_again(double):
    x = np.arange(float(N))
    first = double(x)
    place = address(first)
    assert place % buffers.ALIGNED == 0
    del first
    second = double(x + 1)
    assert address(second) == place
    np.testing.assert_array_equal(second, 2.0 * (x + 1) + 1.0)
    assert second.flags.c_contiguous
    assert second.flags.writeable


@pytest.mark.parametrize(
    "part",
    [
        lambda a: a[5:9],
        lambda a: a.reshape(-1, 2).T,
        lambda a: a.view(np.int64)[::-1],
        lambda a: memoryview(a),
        lambda a: np.frombuffer(a[:10]),
        lambda a: np.asarray(memoryview(a)[3:6]),
        lambda a: np.broadcast_to(a, (2, N)),
        lambda a: a.real,
        lambda a: [a],
        lambda a: np.ma.asarray(a),
        lambda a: np.lib.stride_tricks.as_strided(a, (3,), (8,)),
        lambda a: a.flat,
    ],
)
def test_whatever_sees_a_result_keeps_its_memory(double, part):
    x = np.arange(float(N))
    kept = part(double(x))
    before = np.array(kept.copy() if hasattr(kept, "copy") and not isinstance(kept, list) else kept)
    for k in range(4):
        double(x + k + 0.5)
    gc.collect()
    np.testing.assert_array_equal(
        np.array(kept.copy() if hasattr(kept, "copy") and not isinstance(kept, list) else kept), before
    )


def test_live_results_never_share_memory(double):
    """Results that come and go at random, each with a number of its own."""
    random, live = np.random.default_rng(0), {}
    for k in range(200):
        size = N + int(random.integers(3))
        live[k] = double(np.full(size, float(k)))
        if len(live) > 5:
            del live[random.choice(list(live))]
        assert all(array[0] == array[-1] == 2.0 * k + 1.0 for k, array in live.items())


def test_threads_never_share_memory(double):
    wrong = []

    def work(seed):
        random, live = np.random.default_rng(seed), []
        for k in range(60):
            live.append((seed * 1000 + k, double(np.full(N, float(seed * 1000 + k)))))
            wrong.extend(number for number, array in live if not np.all(array[::997] == 2.0 * number + 1.0))
            del live[: random.integers(3)]

    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []


def test_results_of_many_shapes_and_types():
    kernel = pt.kernel("(3)->(3),()")(lambda x: (2.0 * x, x[0]))
    x = np.random.default_rng(0).normal(size=(N // 2, 3))
    for _ in range(3):
        y, first = kernel(x)
        np.testing.assert_array_equal(y, 2.0 * x)
        np.testing.assert_array_equal(first, x[:, 0])
        single, _ = kernel(x.astype(np.float32))
        assert single.dtype == np.float32
        np.testing.assert_array_equal(single, 2 * x.astype(np.float32))


def test_given_arrays_and_other_layouts_are_numpys(double):
    x, out = np.arange(float(N)), np.empty(N)
    assert double(x, out=out) is out
    across = np.asfortranarray(np.ones((600, 500)))
    assert np.array_equal(double(across), np.full((600, 500), 3.0))


def test_no_more_is_kept_than_allowed(double):
    pt.keep_buffers(5_000_000)
    results = [double(np.zeros(N)) for _ in range(6)]
    del results
    assert 0 < sum(m.nbytes for m in buffers._pool._free.values()) <= 5_000_000
    pt.keep_buffers(0)
    result = double(np.zeros(N))
    assert result.base is None
    del result
    assert not buffers._pool._free


@pytest.mark.parametrize("limit", [-1, 1.5, "much", True])
def test_limits_that_are_none(limit):
    with pytest.raises(ValueError, match="must be a number of bytes, zero or more"):
        pt.keep_buffers(limit)


def test_the_limit_of_the_environment():
    code = "import numpy as np, poinsot as pt; print(pt.kernel('()->()')(lambda x: x + 1.0)(np.zeros(300000)).base)"
    for limit, told in (("0", "None"), ("many", "POINSOT_BUFFERS is 'many': set it to a number of bytes")):
        done = subprocess.run(
            [sys.executable, "-c", code], env=os.environ | {"POINSOT_BUFFERS": limit}, capture_output=True, text=True
        )
        assert told in done.stdout + done.stderr


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork on this system")
def test_a_child_has_memory_of_its_own(double):
    x = np.arange(float(N))
    kept, left = double(x), double(x)
    del left
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of Python and of JAX, if another test imported it
        child = os.fork()
    if not child:
        right = np.array_equal(double(x + 1), 2.0 * (x + 1) + 1.0) and np.array_equal(kept, 2.0 * x + 1.0)
        os._exit(int(not right))
    assert os.waitpid(child, 0)[1] == 0
    np.testing.assert_array_equal(kept, 2.0 * x + 1.0)
