"""Every keyword of NumPy's functions inside a kernel: right, or a TraceError with file and line."""

import inspect
import math
import warnings

import numpy as np
import pytest
from test_every_numpy_function import POINTS, SIZE, expected, flat, functions, parts

import poinsot as pt
from poinsot.fuse.trace.functions import FUNCTIONS, STRUCTURAL
from poinsot.fuse.trace.ufuncs import SCALAR_RULES

# Ways to call a function of a, b (3,), A, B (3, 3) and s, c () with keywords, and values for these, by name.
WAYS = [
    lambda f, kw, a, b, A, B, s, c: f(a, **kw),
    lambda f, kw, a, b, A, B, s, c: f(a, b, **kw),
    lambda f, kw, a, b, A, B, s, c: f(A, **kw),
    lambda f, kw, a, b, A, B, s, c: f([a, b], **kw),
]
VALUES = {
    "where": lambda a, b, s: [a < b, np.array([True, False, True])],
    "initial": lambda a, b, s: [0.5, s],
    "axis": lambda a, b, s: [0, -1, None, (0,)],
    "keepdims": lambda a, b, s: [True],
    "dtype": lambda a, b, s: [float, int],  # a kernel has the precision of its arguments
    "out": lambda a, b, s: [None],  # an array of the shape of the result
    "order": lambda a, b, s: ["F", None, 1],
    "mode": lambda a, b, s: ["wrap", "edge"],
    "ord": lambda a, b, s: [1, np.inf, 3],
    "weights": lambda a, b, s: [b, np.array([1.0, 2.0, 3.0])],
    "mean": lambda a, b, s: [0.5, s],
    "shape": lambda a, b, s: [(3,), (9,)],
}
OTHERS = lambda a, b, s: [True, False, 1, 0.5, s, b]  # noqa: E731 for any other keyword


def keywords(f):
    """The names of what a function takes by keyword, beside its first arguments."""
    if isinstance(f, np.ufunc):
        return ["where", "out", "dtype", "casting", "order"]
    try:
        parameters = list(inspect.signature(f).parameters.values())[1:]
    except (TypeError, ValueError):
        return []
    return [p.name for p in parameters if p.kind in (p.POSITIONAL_OR_KEYWORD, p.KEYWORD_ONLY)]


def called(way, f, name, k):
    """A function of the arguments that calls f with the k-th value of a keyword."""

    def call(_, a, b, A, B, s, c):
        value = VALUES.get(name, OTHERS)(a, b, s)[k]
        value = np.zeros(np.shape(way(f, {}, a, b, A, B, s, c))) if name == "out" else value
        result = way(f, {name: value}, a, b, A, B, s, c)
        return value if name == "out" else result

    return call


TRACEABLE = {n: f for n, f in functions().items() if f in FUNCTIONS or f in STRUCTURAL or f in SCALAR_RULES}


@pytest.mark.parametrize("name", TRACEABLE)
def test_right_or_refused(name):
    f = TRACEABLE[name]
    for keyword in keywords(f):
        for k in range(len(VALUES.get(keyword, OTHERS)(*np.zeros((3, 3))))):
            for number, way in enumerate(WAYS):
                call = called(way, f, keyword, k)
                wanted = [expected(f, call, x) for x in POINTS[:2]]
                if wanted[0] is None or wanted[1] is None or wanted[0].shape != wanted[1].shape:
                    continue
                if keyword == "where" and isinstance(f, np.ufunc):
                    continue  # what is left out is undefined
                kernel = pt.kernel(f"({SIZE})->({wanted[0].size})")(
                    lambda x, call=call: np.concatenate([np.zeros(0), *flat(call(f, *parts(x)))])
                )
                try:
                    with warnings.catch_warnings():
                        warnings.simplefilter("ignore")
                        results = kernel.to("numpy")(POINTS[:2])
                except pt.TraceError as error:
                    if "test_every_keyword.py:" not in str(error):
                        raise
                    continue
                told = f"{keyword}= number {k} in way {number}"
                np.testing.assert_allclose(results, wanted, rtol=1e-9, atol=1e-12, err_msg=told)
                break


def test_what_reductions_leave_out():
    """Masks and starts, with NumPy's meaning."""

    def f(x):
        mask = x > 0
        return np.stack([
            np.max(x, initial=0.3), np.min(x, initial=0.3, where=mask), np.sum(x, where=mask), np.sum(x, initial=2.0),
            np.mean(x * x, where=x > -9), np.prod(x, where=mask, initial=3.0), np.any(x > 1, where=mask) * 1.0,
            np.all(x > 1, where=mask) * 1.0, x.max(initial=0.1), np.mean(x, where=x < 9),
        ])  # fmt: skip

    points = np.random.default_rng(0).normal(size=(50, 4))
    np.testing.assert_allclose(pt.kernel("(4)->(10)")(f)(points), [f(x) for x in points], rtol=1e-14)


@pytest.mark.parametrize(
    "function",
    [lambda x: np.add(x, x, where=x > 0), lambda x: np.add.reduce(x, where=x > 0), lambda x: np.sqrt(x, where=x > 0)],
)
def test_elements_without_a_value_are_refused(function):
    with pytest.raises(pt.TraceError, match=r"keyword.py:\d+: np\.\S+ with where= leaves elements(.|\n)*np.where"):
        pt.kernel("(3)->(3)")(lambda x: function(x) + np.zeros(3))(np.ones(3))


OF_BYTES = ("dumps", "tobytes", "tofile", "setfield", "flat")  # flat: an iterator
METHODS = [n for n in dir(np.ndarray) if not n.startswith("_") and n not in OF_BYTES]


def moved(name, x):
    """What a method or attribute of an array of three gives, by the first way to call it that works."""
    for args in ((), (1,), ([1, 0, 1],), (x,)):
        try:
            result = getattr(x, name)
            result = result(*args) if callable(result) else result
        except (pt.TraceError, AttributeError):
            raise
        except Exception:
            continue
        return x if result is None else np.asarray(result) * 1.0
    return None


@pytest.mark.parametrize("name", METHODS)
def test_methods_are_right_or_refused(name):
    """What arrays of NumPy can do, traced ones do as well, or it is an error with file and line."""
    x = np.array([0.3, -2.0, 0.7])
    try:
        wanted = np.asarray(moved(name, x.copy()), float)
    except (TypeError, ValueError, AttributeError, SystemError):
        pytest.skip("not of numbers")
    text = "(3)->(" + ",".join(map(str, wanted.shape)) + ")"
    if 0 in wanted.shape or np.isnan(wanted).any():
        pytest.skip("no numbers")
    try:
        result = pt.kernel(text)(lambda x: moved(name, x)).to("numpy")(x)
    except pt.TraceError as error:
        if "test_every_keyword.py:" not in str(error):
            raise
        return
    np.testing.assert_allclose(result, wanted, rtol=1e-12)


def test_what_python_does_with_numbers():
    """round and divmod are as with NumPy; a traced value is no key, and `hasattr` stays a question."""

    def f(x):
        return np.stack([round(x[0]) * 1.0, *divmod(x[1], x[2]), *divmod(2.0, x[2]), hasattr(x, "fill")])

    x = np.array([2.5, -2.26, 0.7])
    wanted = [2.0, *divmod(-2.26, 0.7), *divmod(2.0, 0.7), 0.0]
    np.testing.assert_allclose(pt.kernel("(3)->(6)")(f)(x), wanted, rtol=1e-13)
    for taken in (lambda x: len({*x}) * x[0], lambda x: {1.0: x}.get(x[0], x)[0]):
        with pytest.raises(pt.TraceError, match=r"keyword.py:\d+: a traced value is used as a key"):
            pt.kernel("(3)->()")(taken)(x)
    with pytest.raises(pt.TraceError, match=r"keyword.py:\d+: np.round cannot be traced(.|\n)*np.rint"):
        pt.kernel("(3)->()")(lambda x: round(x[1], 1))(x)
    with pytest.raises(pt.TraceError, match=r"keyword.py:\d+: int\(\) of a traced value"):
        pt.kernel("(3)->()")(lambda x: math.trunc(x[0]) * 1.0)(x)
