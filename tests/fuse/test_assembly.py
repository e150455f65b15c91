"""Assemblies: the same sums as NumPy's, the same bits every time, and no bit that depends on an element's lane."""

import pickle

import numpy as np
import pytest

from poinsot.fuse import Assembly, aligned_zeros, kernel, set_threads
from poinsot.fuse.assembly.element_loop import assembly_module
from poinsot.fuse.llvm import target

WIDTH = target.host().vector_bytes // 8


@kernel("(2,4),(3)->(2,4)")
def pull(x, p):
    """Reads the rows as a difference, and adds to one node what it takes from the other."""
    d = x[1] - x[0]
    f = p[0] * np.sqrt(p[1] * p[1] + d @ d) * d + p[2]
    return np.stack([f, -f])


@kernel("(2,4),(3)->(2,4)")
def push(x, p):
    """The same with other signs and factors, so that nothing can be shared."""
    d = x[0] - x[1]
    f = p[0] * np.sqrt(p[1] * p[1] + d @ d) * d - p[2]
    return np.stack([-f, 2.0 * f])


@kernel("(3,8),(3,2),(),(2,2)->(3,4)")
def triangle(x, y, a, b):
    """Three nodes, two kinds of rows, two things of its own; one result is constant, one is what went in."""
    s = np.cross(x[1, :3] - x[0, :3], x[2, 5:] - x[0, 5:])
    return np.array([[*s, 2.0], [*(a * (b @ y[1])), x[0, 4], 0.0], [-s[0], -s[1], -s[2], -2.0]])


@kernel("(4,2)->(4,2)")
def ring(x):
    """Four nodes: results that are opposite, equal, and of their own; differences of some rows, products of others."""
    f, g = x[1] - x[0], x[2] * x[3]
    return np.stack([f, -f, f, -g])


@kernel("(1,1)->(1,1)")
def square(x):
    return x * x


@kernel("(2,16),(2,1)->(2,16)")
def long(x, y):
    return np.stack([x[0] * y[1], np.sin(x[1])])


@kernel("(2,4)->(2,4)")
def nothing(x):
    return np.zeros((2, 4))


ONE, TWO = (pull, push, ring, square, nothing), (triangle, long)  # kinds of rows
ELEMENTS = {f.__name__: (f, rows) for kinds, rows in ((ONE, 1), (TWO, 2)) for f in kinds}


def make(name, e, n=20, dtype=float, seed=0):
    """An assembly of e elements on n nodes, the rows, and what the elements have of their own."""
    f, rows = ELEMENTS[name]
    rng, inputs = np.random.default_rng(seed), f.program().inputs
    nodes = rng.integers(0, n, (e, inputs[0][0]))
    args = [rng.normal(size=(n, shape[1])).astype(dtype) for shape in inputs[:rows]]
    args += [rng.normal(size=(e, *shape)).astype(dtype) for shape in inputs[rows:]]
    start = rng.normal(size=(n, f.program().outputs[0][1])).astype(dtype)
    return Assembly(f, nodes, rows=rows), start, args


def assert_sums(assembly, sums, start, args):
    """They are those of `np.add.at`, up to the rounding of some dozens of terms."""
    rows, nodes = assembly.rows, assembly.nodes
    each = np.asarray(assembly.f.to("numpy")(*(a[nodes] for a in args[:rows]), *args[rows:]))
    expected, size = start.astype(float), np.abs(start).astype(float)
    np.add.at(expected, nodes, each)
    np.add.at(size, nodes, np.abs(each))
    assert np.all(np.abs(sums - expected) <= 60 * np.finfo(sums.dtype).eps * size)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("e", [0, 1, WIDTH - 1, WIDTH, WIDTH + 1, 2 * WIDTH, 203])
@pytest.mark.parametrize("name", ELEMENTS)
def test_the_sums_are_those_of_numpy(name, e, dtype):
    assembly, start, args = make(name, e, dtype=dtype)
    sums = start.copy()
    assembly.add_to(sums, *args)
    assert_sums(assembly, sums, start, args)
    assert len(assembly) == e


@pytest.mark.parametrize("size", [16, 32, 64])
@pytest.mark.parametrize("name", ELEMENTS)
def test_vectors_of_any_length(name, size, monkeypatch):
    """Also rows that are longer than a vector, or shorter by any factor."""
    host = target.host()
    monkeypatch.setattr(target, "host", lambda: host._replace(vector_bytes=min(size, host.vector_bytes)))
    assembly, start, args = make(name, 203)
    sums = start.copy()
    assembly.add_to(sums, *args)
    assert_sums(assembly, sums, start, args)


@pytest.mark.parametrize("name", ELEMENTS)
def test_an_element_does_not_feel_its_lane(name):
    """Each on nodes of its own, the elements give the bits of the kernel, in any order and number."""
    f, rows = ELEMENTS[name]
    k = f.program().inputs[0][0]
    e = 5 * WIDTH + 3
    _, _, args = make(name, e, n=k * e)
    nodes = np.random.default_rng(1).permutation(k * e).reshape(e, k)
    expected = f(*(a[nodes] for a in args[:rows]), *args[rows:])
    for order in (np.arange(e), np.arange(e)[::-1], np.arange(2, e - 1), np.array([4])):
        sums = np.zeros((k * e, expected.shape[-1]))
        Assembly(f, nodes[order], rows=rows).add_to(sums, *args[:rows], *(a[order] for a in args[rows:]))
        assert np.array_equal(sums[nodes[order]], expected[order])


def test_the_same_bits_every_time():
    assembly, start, args = make("triangle", 500)
    results = []
    for threads in (1, 2, 3):
        set_threads(threads)
        results.append(start.copy())
        assembly.add_to(results[-1], *args)
    set_threads(None)
    copy = start.copy()
    pickle.loads(pickle.dumps(assembly)).add_to(copy, *args)
    assert all(np.array_equal(results[0], other) for other in (*results[1:], copy))


def test_differences_and_reactions_are_transposed_once():
    """The rows of `pull` are subtracted before they are transposed, and its second results are the first ones."""
    shuffles = [
        assembly_module(f.program().graph, 2, [4], 4, target.Target(8)).count("shufflevector") for f in (pull, push)
    ]
    gather, scatter = 4 + 4 * 2, 4 * 2 + 8  # pairs of rows side by side, two rounds; two rounds, and rows apart
    splats = 1  # of the number of elements left
    assert shuffles == [gather + scatter + splats, 2 * gather + 2 * scatter + splats]


def test_bound_arrays_are_looked_at_again():
    assembly, start, (x, p) = make("pull", 30)
    p = np.asfortranarray(p)
    sums, expected = start.copy(), start.copy()
    add = assembly.bind(sums, x, p)
    for scale in (1.0, 0.5):
        x *= scale
        p *= scale
        add()
        assembly.add_to(expected, x.tolist(), p.copy(order="C"))
        assert np.array_equal(sums, expected)


def test_what_is_the_same_for_all_elements_need_not_be_repeated():
    assembly, start, (x, p) = make("pull", 30)
    sums, expected = start.copy(), start.copy()
    assembly.add_to(sums, x, p[7])
    assembly.add_to(expected, x, np.tile(p[7], (30, 1)))
    assert np.array_equal(sums, expected)


def test_the_reference_back_end_agrees():
    assembly, start, args = make("pull", 30)
    sums, expected = start.copy(), start.copy()
    assembly.add_to(sums, *args)
    Assembly(pull.to("numpy"), assembly.nodes).add_to(expected, *args)
    np.testing.assert_allclose(sums, expected, rtol=0, atol=1e-13)


@kernel("(1,1),()->(1,1)")
def root(x, p):
    return np.sqrt(x) / p


@pytest.mark.parametrize("e", [1, 3, WIDTH, 4 * WIDTH + 3])
def test_a_nan_that_is_made_is_reported(e):
    nodes, x, p, sums = np.arange(e)[:, None], np.ones((e, 1)), np.ones(e), np.zeros((e, 1))
    assembly = Assembly(root, nodes)
    assembly.add_to(sums, x, p)  # silent, also the lanes beyond the last element, where p is zero
    assert np.array_equal(sums, x)
    x[e // 2] = np.nan
    assembly.add_to(sums, x, p)  # silent: it went in
    assert np.isnan(sums[e // 2])
    x[e // 2] = -1.0
    with np.errstate(invalid="ignore"):
        assembly.add_to(sums, x, p)
    with pytest.warns(RuntimeWarning, match="invalid value encountered in root"):
        assembly.add_to(sums, x, p)
    with np.errstate(invalid="raise"), pytest.raises(FloatingPointError):
        assembly.add_to(sums, x, p)


def test_aligned_zeros():
    for shape, dtype in (((7, 4), np.float64), ((5,), np.float32), ((0, 8), np.float64), ((3, 2, 2), np.float64)):
        a = aligned_zeros(shape, dtype)
        assert a.shape == shape
        assert a.dtype == dtype
        assert a.flags.c_contiguous
        assert a.ctypes.data % 64 == 0 or not a.size
        assert not a.any()


@pytest.mark.parametrize(
    ("f", "nodes", "rows", "message"),
    [
        (pull, [[0, 1, 2]], 1, r"nodes must be integers of shape \(e, 2\), .* int64 of shape \(1, 3\)"),
        (pull, [[0.0, 1.0]], 1, r"got an array of float64 of shape \(1, 2\)"),
        (pull, [[0, -3]], 1, "node -3 does not exist: rows count from 0"),
        (
            pull,
            [[0, 1]],
            2,
            r"not a function of an element; its signature must be like \(k,c\),\(k,c\),\.\.\.->\(k,r\)",
        ),
        (kernel("(2,3)->(2,4)")(lambda x: np.zeros((2, 4))), [[0, 1]], 1, "rows of 3 numbers; pad them with zeros"),
        (kernel("(2,4)->(4)")(lambda x: x[0]), [[0, 1]], 1, "not a function of an element"),
    ],
)
def test_what_is_no_assembly_is_refused(f, nodes, rows, message):
    with pytest.raises(ValueError, match=message):
        Assembly(f, nodes, rows=rows)


def test_arrays_that_do_not_fit_are_refused():
    assembly, sums, (x, p) = make("pull", 30)
    n = int(assembly.nodes.max()) + 1
    with pytest.raises(ValueError, match=rf"\(n, 4\), n at least {n}; got \({n - 1}, 4\)"):
        assembly.add_to(sums, x[: n - 1], p)
    with pytest.raises(ValueError, match=rf"\(n, 4\), n at least {n}; got \({n - 1}, 4\)"):
        assembly.add_to(sums[: n - 1], x, p)
    with pytest.raises(ValueError, match=r"\(n, 4\), n at least .*; got \(20, 3\)"):
        assembly.add_to(sums, x[:, :3], p)
    with pytest.raises(
        ValueError, match=r"sums must be writeable floats in C order; got float64 with strides \(8, 160\)"
    ):
        assembly.add_to(np.asfortranarray(sums), x, p)
    with pytest.raises(ValueError, match="sums must be writeable floats in C order; got int64"):
        assembly.add_to(sums.astype(int), x, p)
    with pytest.raises(ValueError, match="sums and rows share memory"):
        assembly.add_to(x, x, p)
    with pytest.raises(TypeError, match="takes 2 arrays, not 1"):
        assembly.add_to(sums, x)
