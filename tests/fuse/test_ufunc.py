"""On the CPU a kernel is a real NumPy ufunc: broadcasting, strides, types and `out=` are NumPy's own."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as nps

from poinsot.fuse import kernel, set_threads
from poinsot.fuse.llvm.target import host

WIDTH = host().vector_bytes // 8  # lanes of float64


@kernel("(3),(3)->(3),()")
def cross_dot(a, b):
    return np.cross(a, b) + np.exp(-a), a @ b


@kernel("(n)->(n)")
def twice(x):
    return 2 * x


def reference(a, b):
    return np.cross(a, b) + np.exp(-a), (a * b).sum(axis=-1)


def close(got, want, rtol=1e-14):
    for g, w in zip(got, want, strict=True):
        assert g.shape == w.shape
        np.testing.assert_allclose(g, w, rtol=rtol, atol=rtol * 10)


def test_it_is_a_ufunc():
    ufunc = cross_dot.ufunc()
    assert type(ufunc) is np.ufunc
    assert ufunc.signature == "(3),(3)->(3),()"
    assert (ufunc.nin, ufunc.nout, ufunc.nargs) == (2, 2, 4)
    assert ufunc.types == ["dd->dd"]
    assert ufunc.__name__ == "cross_dot"
    assert twice.ufunc(n=4).signature == "(4)->(4)"


@pytest.mark.parametrize("count", range(2 * WIDTH + 2))
def test_every_remainder(count, rng):
    a, b = rng.standard_normal((2, count, 3))
    close(cross_dot(a, b), reference(a, b))


BATCHES = [
    ((), ()), ((1,), ()), ((4,), (1,)), ((2, 3), (3,)), ((2, 1, 5), (4, 1)), ((2, 3, 4), (2, 3, 4)),
    ((0,), ()), ((3, 0), (1, 1)), ((5, 1), (0,)),
]  # fmt: skip


@pytest.mark.parametrize("batches", BATCHES, ids=str)
def test_batches_broadcast(batches, rng):
    a, b = (rng.standard_normal(batch + (3,)) for batch in batches)
    close(cross_dot(a, b), reference(*np.broadcast_arrays(a, b)))


def layouts(array):
    """The same numbers, laid out in memory in other ways."""
    spread = np.zeros(tuple(2 * n for n in array.shape), array.dtype)
    spread[tuple(slice(None, None, 2) for _ in array.shape)] = array
    yield "as it is", array
    yield "Fortran order", np.asfortranarray(array)
    yield "batch last", np.moveaxis(np.ascontiguousarray(np.moveaxis(array, -1, 0)), 0, -1)
    yield "every second", spread[tuple(slice(None, None, 2) for _ in array.shape)]
    yield "backwards", np.ascontiguousarray(array[::-1, ..., ::-1])[::-1, ..., ::-1]
    for offset in (1, 4, 8):
        part = np.zeros(array.nbytes + 8, np.uint8)[offset:][: array.nbytes].view(array.dtype).reshape(array.shape)
        part[...] = array
        yield f"{offset} bytes off", part
    yield "other byte order", array.astype(array.dtype.newbyteorder(">"))
    yield "record field", np.rec.fromarrays([array, array], names="x,y")["y"]


@pytest.mark.parametrize("shape", [(1, 3), (WIDTH, 3), (2 * WIDTH + 3, 3), (4, 5, 3)], ids=str)
def test_layouts(shape, rng):
    a, b = rng.standard_normal((2, *shape))
    want = cross_dot(a.copy(), b.copy())
    for _, x in layouts(a):
        for _, y in layouts(b):
            for g, w in zip(cross_dot(x, y), want, strict=True):
                np.testing.assert_array_equal(g, w)


def test_zero_strides(rng):
    a = np.broadcast_to(rng.standard_normal(3), (WIDTH + 2, 3))
    b = np.broadcast_to(rng.standard_normal((WIDTH + 2, 1)), (WIDTH + 2, 3))
    close(cross_dot(a, b), reference(a, b))


@settings(max_examples=30)
@given(nps.mutually_broadcastable_shapes(num_shapes=2, max_dims=3, max_side=4), st.integers(0, 99))
def test_any_broadcast(shapes, seed):
    rng = np.random.default_rng(seed)
    a, b = (rng.standard_normal(shape + (3,)) for shape in shapes.input_shapes)
    close(cross_dot(a, b), reference(*np.broadcast_arrays(a, b)))


OVERLAPS = {
    "reversed": lambda x: (x, x[::-1]),
    "shifted down": lambda x: (x[1:], x[:-1]),
    "shifted up": lambda x: (x[:-1], x[1:]),
    "mirrored": lambda x: (x, x[:, ::-1]),
}


@pytest.mark.parametrize("threads", [1, 2])
def test_out(threads, rng):
    set_threads(threads)
    for count in (5, 300_000):
        a, b = rng.standard_normal((2, count, 3))
        want = reference(a, b)
        first, second = np.empty((2, count, 3))[1], np.empty((count, 2))[:, 1]
        results = cross_dot(a, b, out=(first, second))
        assert results[0] is first
        assert results[1] is second
        close(results, want)
        x = a.copy()
        assert twice(x, out=x) is x
        np.testing.assert_array_equal(x, 2 * a)


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("move", OVERLAPS.values(), ids=OVERLAPS)
def test_out_that_overlaps(threads, move, rng):
    """Results never depend on whether an output shares memory with an input."""
    set_threads(threads)
    for count in (10, 400_001):
        source, target = move(rng.standard_normal((count, 3)))
        want = 2 * source
        twice(source, out=target)
        np.testing.assert_array_equal(target, want)


@pytest.mark.parametrize("threads", [1, 2])
def test_some_outputs_given(threads, rng):
    set_threads(threads)
    a, b = rng.standard_normal((2, 200_000, 3))
    target = np.empty(200_000)
    cross, dot = cross_dot(a, b, out=(None, target))
    assert dot is target
    close((cross, dot), reference(a, b))
    wide = np.empty((2, 200_000, 3)), np.empty((2, 200_000))  # more of a batch than the inputs have
    close(cross_dot(a, b, out=wide), [np.stack([r, r]) for r in reference(a, b)])
    with pytest.raises(TypeError, match="tuple of arrays"):
        cross_dot(a, b, out=target)


@pytest.mark.parametrize("threads", [2, 3])
@pytest.mark.parametrize("batches", [((100_000, 1), (1, 4)), ((4, 1), (100_000,)), ((2, 1, 90_000), (3, 1))], ids=str)
def test_batches_broadcast_over_threads(threads, batches, rng):
    set_threads(threads)
    a, b = (rng.standard_normal(batch + (3,)) for batch in batches)
    close(cross_dot(a, b), reference(*np.broadcast_arrays(a, b)))


def test_out_of_the_wrong_kind():
    with pytest.raises(ValueError, match=r"out|shape|dimension"):
        twice(np.ones((2, 3)), out=np.empty((3, 3)))
    with pytest.raises(TypeError, match="cast"):
        twice(np.ones((2, 3)), out=np.empty((2, 3), int))


@pytest.mark.parametrize("dtype", [np.int8, np.uint16, np.int32, np.int64, np.bool_, np.float16])
def test_other_types_become_float64(dtype):
    a = np.array([[1, 0, 2], [3, 1, 1]]).astype(dtype)
    for g, w in zip(cross_dot(a, a[::-1]), cross_dot(a.astype(float), a[::-1].astype(float)), strict=True):
        assert g.dtype == np.float64
        np.testing.assert_array_equal(g, w)


def test_lists_and_numbers_are_arrays():
    np.testing.assert_array_equal(twice([1, 2]), [2.0, 4.0])
    assert kernel("(),()->()")(lambda x, y: x + y)(1, 2.5) == 3.5


def test_complex_numbers_are_refused():
    for x in (np.ones(3, complex), np.array(["a", "b", "c"]), np.array([None, 1, 2])):
        with pytest.raises(TypeError, match=r"[Cc]annot cast|not supported"):
            twice(x)


def test_float32_stays_float32(rng):
    for count in (1, 3 * WIDTH + 1):
        a, b = rng.standard_normal((2, count, 3)).astype(np.float32)
        got = cross_dot(a, b)
        assert {g.dtype for g in got} == {np.dtype(np.float32)}
        close(got, reference(a.astype(float), b.astype(float)), rtol=3e-6)
        for _, x in layouts(a):
            if x.dtype.isnative:
                np.testing.assert_array_equal(cross_dot(x, b)[0], got[0])


@pytest.mark.parametrize("types", [(np.float32, np.float64), (np.float64, np.float32), (np.float32, np.int32)])
def test_mixed_types_become_float64(types, rng):
    a, b = (rng.uniform(1, 9, (4, 3)).astype(t) for t in types)
    got = cross_dot(a, b)
    assert {g.dtype for g in got} == {np.dtype(np.float64)}
    for g, w in zip(got, cross_dot(a.astype(float), b.astype(float)), strict=True):
        np.testing.assert_array_equal(g, w)


def test_float32_after_float64_and_back(rng):
    """The short cut for repeated calls keeps kinds apart."""
    x = rng.standard_normal((5, 3))
    for _ in range(2):
        assert twice(x).dtype == np.float64
        assert twice(x.astype(np.float32)).dtype == np.float32
        assert twice(x[0].astype(np.float32)).dtype == np.float32


def test_keywords_of_ufuncs(rng):
    a, b = rng.standard_normal((2, 5, 3))
    first, second = cross_dot.ufunc()(a.T, b, axes=[0, 1, 0, ()])
    close((first.T, second), reference(a, b))
    assert twice(a, dtype=np.float64).dtype == np.float64
    with pytest.raises(TypeError, match="nonsense"):
        twice(a, nonsense=1)


def test_strided_wide_kernels(rng):
    """Many arguments of many elements: more buffers than registers."""
    k = kernel("(9,9),(9,9),(9)->(9,9),(9),()")(lambda A, B, v: (A @ B, A @ v, v @ v))
    A, B, v = (
        rng.standard_normal((2 * WIDTH + 1, 9, 9)),
        rng.standard_normal((9, 9)),
        rng.standard_normal((2 * WIDTH + 1, 9)),
    )
    for order in ("C", "F"):
        close(
            k(np.asarray(A, order=order), B, np.asarray(v, order=order)),
            (A @ B, (A @ v[..., None])[..., 0], (v * v).sum(-1)),
            1e-13,
        )
