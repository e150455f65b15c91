"""Kernels elsewhere: in xarray and Dask, through pickle into other processes, and from many threads at once."""

import os
import pickle
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import numpy as np
import pytest
from fuse_models import articulated_body, random_chain

from poinsot.fuse import fori_loop, jacobian, kernel, once


@dataclass
class Pair:
    total: np.ndarray
    difference: np.ndarray


@kernel("(3),(3)->(3),()")
def cross_dot(a, b):
    return np.cross(a, b), a @ b


scale = kernel("(3),()->(3)")(lambda v, s: v * np.sin(s))
pair = kernel("(),()->(),()")(lambda x, y: Pair(x + y, x - y))
sized = kernel("(n)->()")(lambda v: v @ v)


def test_xarray(rng):
    xarray = pytest.importorskip("xarray")
    a = xarray.DataArray(rng.random((4, 5, 3)), dims=("run", "time", "axis"), coords={"time": np.arange(5)})
    b = xarray.DataArray(rng.random((3, 4)), dims=("axis", "run"))
    core = [["axis"], ["axis"]]
    cross, dot = xarray.apply_ufunc(cross_dot, a, b, input_core_dims=core, output_core_dims=[["axis"], []])
    assert cross.dims == ("run", "time", "axis")
    assert dot.dims == ("run", "time")
    assert "time" in cross.coords
    np.testing.assert_allclose(dot, (a * b).sum("axis"), rtol=1e-14)
    np.testing.assert_allclose(cross, np.cross(a.values, b.values.T[:, None]), rtol=1e-13, atol=1e-15)


@pytest.mark.parametrize("scheduler", ["synchronous", "threads", "processes"])
def test_dask(scheduler, rng):
    dask_array = pytest.importorskip("dask.array")
    a, b = rng.random((2, 40, 6, 3))
    lazy = [dask_array.from_array(x, chunks=(16, 6, 3)) for x in (a, b)]
    cross, dot = cross_dot(*lazy)
    assert cross.shape == a.shape
    assert dot.shape == (40, 6)
    assert isinstance(dot, dask_array.Array)
    np.testing.assert_array_equal(cross.compute(scheduler=scheduler, num_workers=2), cross_dot(a, b)[0])
    np.testing.assert_array_equal(
        dot.sum(axis=1).compute(scheduler=scheduler, num_workers=2), cross_dot(a, b)[1].sum(axis=1)
    )


def test_xarray_with_dask(rng):
    xarray, _ = pytest.importorskip("xarray"), pytest.importorskip("dask.array")
    v = xarray.DataArray(rng.random((9, 3)), dims=("time", "axis"))
    s = xarray.DataArray(rng.random(9), dims="time")
    dims = {"input_core_dims": [["axis"], []], "output_core_dims": [["axis"]]}
    lazy = xarray.apply_ufunc(scale, v.chunk(time=4), s.chunk(time=4), **dims, dask="allowed")
    assert lazy.chunks is not None
    np.testing.assert_array_equal(lazy.compute(scheduler="threads"), xarray.apply_ufunc(scale, v, s, **dims))


LINKS = random_chain(2)


def looped(v):
    def body(i, c):
        A, s = c
        A[i] = A[i - 1] * s
        return A, s + PRIMES[i]

    return fori_loop(3, body, (v * 1, v[0]))[0]


PRIMES = np.array([2.0, 3.0, 5.0])
PICKLED = {
    "several outputs": (cross_dot, [(4, 3), (4, 3)]),
    "lambda": (scale, [(4, 3), (4,)]),
    "loops and memory": (kernel("(3)->(3)")(looped), [(4, 3)]),
    "calls": (kernel("(3)->(3)")(lambda v: once(np.sin)(once(np.sin)(v))), [(4, 3)]),
    "dynamics": (kernel("(2),(2),(2)->(2)")(lambda q, v, t: articulated_body(LINKS, q, v, t)), [(5, 2)] * 3),
    "derivative": (jacobian(kernel("(3)->()")(lambda v: np.exp(v[0] * v[1]) / v[2])), [(4, 3)]),
    "named sizes": (sized, [(4, 7)]),
}

CHILD = """if True:
    import pickle, sys
    bits = lambda r: [x.tobytes() for x in (r if isinstance(r, tuple) else (r,))]
    for name, kernel, args, want in pickle.load(open(sys.argv[1], "rb")):
        assert bits(kernel(*args)) == bits(want), name
        again = pickle.loads(pickle.dumps(kernel))  # and once more
        assert bits(again(*args)) == bits(want), name
    """


@pytest.mark.parametrize("what", ["kernel", "ufunc"])
def test_pickle_into_another_process(what, python, tmp_path, rng):
    """The other process has never heard of this module; it gets the same bits."""
    rows = []
    for name, (k, shapes) in PICKLED.items():
        args = [rng.uniform(0.5, 1, shape) for shape in shapes]
        want = k(*args)
        rows.append((name, k if what == "kernel" else k.ufunc(), args, want))
    path = tmp_path / "kernels.pickle"
    path.write_bytes(pickle.dumps(rows))
    python(CHILD, path)


def test_pickled_before_the_first_call():
    fresh = kernel("(3)->()")(lambda v: v @ v)
    assert pickle.loads(pickle.dumps(fresh))(np.ones(3)) == 3


def test_pickled_structures_and_back_ends():
    result = pair(3.0, 1.0)
    clone = pickle.loads(pickle.dumps(pair))
    assert clone(3.0, 1.0) == result == Pair(4.0, 2.0)
    assert (clone.__name__, clone.signature) == (
        pair.__name__,
        pair.signature,
    )
    assert pickle.loads(pickle.dumps(scale.to("numpy"))).backend == "numpy"

    @dataclass
    class Local:
        x: np.ndarray

    local = kernel("()->()")(lambda x: Local(2 * x))
    assert local(1.0).x == 2
    assert pickle.loads(pickle.dumps(local))(1.0) == 2  # its class cannot be found again: plain arrays


def test_what_a_pickled_kernel_cannot_do():
    sized(np.ones(7))
    clone = pickle.loads(pickle.dumps(sized))
    assert clone(np.ones(7)) == 7
    with pytest.raises(TypeError, match=r"was unpickled with programs for .*\(7,\)"):
        clone(np.ones(6))
    with pytest.raises(TypeError, match="cannot be part of another kernel"):
        kernel("(7)->()")(lambda v: clone(v))(np.ones(7))


def test_numpy_still_pickles_its_own_ufuncs():
    assert pickle.loads(pickle.dumps(np.add)) is np.add
    assert pickle.loads(pickle.dumps([np.sin, np.matmul])) == [np.sin, np.matmul]


def test_many_threads_compile_and_call_at_once(rng):
    """Each thread makes kernels of its own, and all call one that no thread has compiled yet."""
    common = kernel("(n)->()")(lambda v: np.sin(v) @ v)
    v = rng.random((50, 4))
    want = (np.sin(v) * v).sum(axis=1)

    def work(seed):
        own = kernel("(4)->()")(lambda v: np.cos(v) @ v + seed)
        np.testing.assert_allclose(own(v), (np.cos(v) * v).sum(axis=1) + seed, rtol=1e-13)
        return common(v)

    with ThreadPoolExecutor(8) as pool:
        for result in pool.map(work, range(24)):
            np.testing.assert_allclose(result, want, rtol=1e-13)


FORK = """if True:
    import multiprocessing, warnings
    import numpy as np
    from poinsot.fuse import kernel, set_threads
    warnings.simplefilter("ignore", DeprecationWarning)  # that threads and forks do not go together
    set_threads(2)
    k, x = kernel("()->()")(lambda x: 2 * x), np.ones(2_000_000)
    work = lambda: np.testing.assert_array_equal(k(x), 2)
    work()
    child = multiprocessing.get_context("fork").Process(target=work, daemon=True)
    child.start()
    child.join(60)
    assert child.exitcode == 0, child.exitcode
    """


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork on this system")
def test_threads_after_a_fork(python):
    """The threads of the parent do not exist in the child, which starts its own."""
    python(FORK)


def test_ufuncs_outlive_their_kernels(rng):
    x = rng.random(9)
    ufunc = kernel("()->()")(lambda x: x * 3 + 1).ufunc()
    for _ in range(20):
        kernel("()->()")(lambda x: x * 5).ufunc()
    np.testing.assert_allclose(ufunc(x), x * 3 + 1, rtol=1e-15)
