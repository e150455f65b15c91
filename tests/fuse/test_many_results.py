"""Kernels with many results: they leave the registers early, and are streamed to memory if they exceed the caches."""

import numpy as np
import pytest

import poinsot as pt
from poinsot.fuse import kernel
from poinsot.fuse.llvm.abi import inner_loop as loop
from poinsot.fuse.llvm.target import Target, host
from sparing import few

WIDTH = host().vector_bytes // 8
SIZES = [2, 3, 7, 12, 13, 16, 20]  # n x n results: few, many, rows of whole lines of the cache and others


def products():
    """Symmetric, every third diagonal zero, one constant: results that are stored twice, and some that are known."""

    @kernel("(n)->(n,n),()")
    def function(a):
        n = len(a)
        keep = np.subtract.outer(np.arange(n), np.arange(n)) % 3 != 0
        return np.outer(a, a) * keep + 2.5 * (1 - keep), a @ a

    return function


def expected(a):
    n = a.shape[1]
    keep = np.subtract.outer(np.arange(n), np.arange(n)) % 3 != 0
    return np.where(keep, a[:, :, None] * a[:, None, :], a.dtype.type(2.5))


@pytest.fixture(params=[False, True], ids=["cached", "streamed"])
def function(request, monkeypatch):
    if request.param:
        monkeypatch.setattr(loop, "_CACHES", 0)
    return products()


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("count", [1, 2 * WIDTH - 1, 4 * WIDTH + 3])
@pytest.mark.parametrize("n", SIZES)
def test_results_in_rows_wherever_they_begin(function, n, count, dtype):
    a = np.random.default_rng(n).normal(size=(count, n)).astype(dtype)
    room, size = np.empty(count * n * n + 200, dtype), count * n * n
    for offset in range(64 // a.itemsize):
        room[:] = 7.0
        out = room[50 + offset : 50 + offset + size].reshape(count, n, n)
        function(a, out=(out, np.empty(count, dtype)))
        assert np.array_equal(out, expected(a))
        assert np.all(room[: 50 + offset] == 7)
        assert np.all(room[50 + offset + size :] == 7)


@pytest.mark.parametrize("n", SIZES)
def test_other_layouts_have_the_same_bits(function, n):
    count = 4 * WIDTH + 3
    a = np.random.default_rng(n).normal(size=(count, n))
    total = function(a)[1]
    room = np.full((2 * count, n + 1, n + 2), 7.0)
    for out in (np.empty((n, n, count)).T, room[::2, 1:, 1:-1], np.empty((count, n, n))[::-1, :, ::-1]):
        sums = np.empty(count)
        function(a[::-1], out=(out, sums))
        assert np.array_equal(out, expected(a[::-1]))
        assert np.array_equal(sums, total[::-1])
    assert np.all(room[1::2] == 7)
    assert np.all(room[:, 0] == 7)
    assert np.all(room[:, :, [0, -1]] == 7)


@pytest.mark.parametrize("n", [40, 43, 64])
def test_arrays_that_a_loop_has_made(n, monkeypatch):
    """They are in memory already."""
    monkeypatch.setattr(loop, "_CACHES", 0)

    def running(x):
        def body(k, y):
            y[k] = y[k - 1] + x[k]
            return y

        return pt.fori_loop(n, body, np.zeros(n))

    function, count = kernel(f"({n})->({n})")(running), 3 * WIDTH + 2
    x = np.random.default_rng(n).integers(-9, 9, (count, n)).astype(float)
    room = np.full(count * n + 20, 7.0)
    for offset in range(8):
        room[:] = 7.0
        out = room[5 + offset : 5 + offset + count * n].reshape(count, n)
        function(x, out=out)
        assert np.array_equal(out, np.cumsum(x, axis=1))
        assert np.all(np.delete(room, np.arange(5 + offset, 5 + offset + count * n)) == 7)


def test_in_place(function):
    """All inputs of a block are read before results are written, also to check for NaN."""
    root = kernel("(n,n)->(n,n)")(lambda A: np.sqrt(A.T))
    A = np.random.default_rng(0).uniform(1, 2, (3 * WIDTH + 1, 12, 12))
    roots = np.sqrt(np.swapaxes(A, 1, 2))
    root(A, out=A)
    assert np.array_equal(A, roots)
    A[1, 2, 3] = -1.0
    with pytest.warns(RuntimeWarning, match="invalid"):
        root(A, out=A)
    root(A, out=A)  # the NaN was there before
    assert np.isnan(A[1]).sum() == 1


def test_a_constant_nan_among_many_results_is_told():
    hole = kernel("(12)->(12,12)")(lambda a: np.outer(a, a) + np.diag([np.nan, *np.zeros(11)]))
    with pytest.warns(RuntimeWarning, match="invalid"):
        result = hole(np.ones((WIDTH, 12)))
    assert np.isnan(result[:, 0, 0]).all()
    assert np.isnan(result).sum() == WIDTH


@pytest.mark.parametrize(("width", "float64"), [(8, True), (4, True), (16, False)])
def test_only_whole_vectors_of_long_rows_are_streamed(width, float64):
    target = Target(width, float64)
    program = products().specialise((20,))
    assert "!nontemporal" in loop.kernel_module(program.graph, program.inputs, program.outputs, target)
    program = products().specialise((4,))
    assert "!nontemporal" not in loop.kernel_module(program.graph, program.inputs, program.outputs, target)
    program = products().specialise((20,))
    narrow = Target(1, float64)
    assert "!nontemporal" not in loop.kernel_module(program.graph, program.inputs, program.outputs, narrow)


@pytest.mark.parametrize(
    ("shift", "n", "dtype"),
    few(
        [(shift, n, dtype) for shift in (0, 1, 5) for n in (24, 25, 26) for dtype in (np.float64, np.float32)],
        [(0, 24, np.float64), (1, 25, np.float64), (5, 26, np.float64), (5, 25, np.float32)],
    ),
)
def test_lines_that_are_known_early_are_streamed_early(shift, n, dtype):
    """Long code, results that exceed the caches, rows from the last to the first, zeros among them; beginning anywhere,
    and each instance in the same place of a cache line or not."""

    def function(a):
        M = np.zeros((n, n))
        for i in reversed(range(n)):
            for j in range(n):
                if (i + j) % 5:
                    M[i, j] = (a[i] + j) * (a[j] - i) * a[(i * j) % n] + a[i] * a[j]
        return M

    early, size, count = kernel(f"({n})->({n},{n})")(function), np.dtype(dtype).itemsize, 8199
    program = early.program()
    target = Target(64 // size, size == 8)
    text = loop.kernel_module(program.graph, program.inputs, program.outputs, target)
    assert text.count("!nontemporal") > 2 * 2 * target.width  # a pair of lines of each row, in more than one place
    a = np.random.default_rng(shift).uniform(-1, 1, (count, n)).astype(dtype)
    memory = np.full(count * n * n + 128 // size, np.nan, dtype)
    start = -memory.ctypes.data % 64 // size + shift  # so many numbers after a line of the cache
    out = memory[start : start + count * n * n].reshape(count, n, n)
    assert out.nbytes > loop._CACHES
    i, j = np.indices((n, n))
    at = np.stack([a[:, k] for k in range(n)]).astype(float)
    expected = (at[i] + j[..., None]) * (at[j] - i[..., None]) * at[i * j % n] + at[i] * at[j]
    expected = np.where(((i + j) % 5 > 0)[..., None], expected, 0.0)
    assert early(a, out=out) is out
    np.testing.assert_allclose(out, np.moveaxis(expected, -1, 0), rtol=0, atol=n * n * 2 * np.finfo(dtype).eps)
    assert np.isnan(np.delete(memory, np.arange(start, start + out.size))).all()  # nothing beside it
    a[17, 3] = np.nan
    assert np.isnan(early(a)[17]).any()
