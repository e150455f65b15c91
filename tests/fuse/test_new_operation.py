"""An operation is one row in each table: two made-up ones, registered in the documented tables and nowhere else.

`haversine` is a function of its own on the processor, `squares` a sequence of LLVM instructions.
"""

import shutil

import numpy as np
import pytest
from fuse_laws import every_backend
from test_cuda import run_on_host, source_of

from poinsot.fuse import fori_loop, gradient, jacobian, jvp, kernel
from poinsot.fuse import math as elementary
from poinsot.fuse.cuda import opcodes
from poinsot.fuse.derive import partials
from poinsot.fuse.graph import build, ops
from poinsot.fuse.llvm import instructions
from poinsot.fuse.math.trigonometric import sin
from poinsot.fuse.trace import ufuncs

haversine = np.frompyfunc(lambda x: np.sin(x / 2) ** 2, 1, 1)
squares = np.frompyfunc(lambda x, y: x * x + y * y, 2, 1)


def compiled_haversine(m, x):
    s = sin(m, 0.5 * x)
    return s * s


def apply(op):
    return lambda *args: build.build(op, *args)


def even(a):
    return apply("haversine")(a.args[0]) if build.is_op(a, "neg") else None


ROWS = [
    (ops.OPS, "haversine", ops.Op(lambda x: np.sin(x / 2) ** 2, ops.OPS["sin"].types)),
    (build.RULES, "haversine", even),
    (partials.BOUNDED, "haversine", lambda a, r: (apply("mul")(0.5, apply("sin")(a)),)),
    (elementary.FUNCTIONS, "haversine", compiled_haversine),
    (opcodes.EXPRESSIONS, "haversine", "(1 - cos({a})) / 2"),
    (ufuncs.SCALAR_RULES, haversine, apply("haversine")),
    (ops.OPS, "squares", ops.Op(lambda x, y: x * x + y * y, ops.OPS["hypot"].types)),
    (partials.SINGULAR, "squares", lambda a, b, r: (apply("mul")(2.0, a), apply("mul")(2.0, b))),
    (instructions.SEQUENCES, ("squares", "f"), ["fmul {T} {a}, {a}", "fmul {T} {b}, {b}", "fadd {T} {0}, {1}"]),
    (opcodes.EXPRESSIONS, "squares", "{a} * {a} + {b} * {b}"),
    (ufuncs.SCALAR_RULES, squares, apply("squares")),
]
POINTS = np.random.default_rng(0).uniform(-3, 3, (50, 2))


@pytest.fixture(autouse=True)
def _registered(monkeypatch):
    for table, name, row in ROWS:
        assert name not in table
        monkeypatch.setitem(table, name, row)


def distance(v):
    return squares(haversine(v[0] - v[1]), v[0])


def expected(v):
    return np.sin((v[..., 0] - v[..., 1]) / 2) ** 4 + v[..., 0] ** 2


def slopes(v):
    """The gradient of `distance`."""
    d = v[..., 0] - v[..., 1]
    by_d = np.sin(d / 2) ** 2 * np.sin(d)
    return np.stack([by_d + 2 * v[..., 0], -by_d], axis=-1)


def test_it_is_evaluated_by_every_back_end():
    k = kernel("(2)->()")(distance)
    assert {"haversine", "squares"} <= set(k.count())
    for _, (values,) in every_backend(k, POINTS):
        np.testing.assert_allclose(values, expected(POINTS), rtol=1e-13, atol=1e-13)
    single = k(POINTS.astype(np.float32))
    assert single.dtype == np.float32
    np.testing.assert_allclose(single, expected(POINTS), rtol=1e-5, atol=1e-5)


def test_it_is_simplified():
    k = kernel("()->()")(lambda x: haversine(-x) + haversine(x))
    assert k.count() == {"haversine": 1, "add": 1}


def test_it_is_differentiated_forwards_and_in_reverse():
    k = kernel("(2)->()")(distance)
    for derivative in (gradient(k), jacobian(k)):
        for _, (rows,) in every_backend(derivative, POINTS):
            np.testing.assert_allclose(rows, slopes(POINTS), rtol=1e-13, atol=1e-13)
    for _, (_, along) in every_backend(jvp(k), POINTS, np.ones_like(POINTS)):
        np.testing.assert_allclose(along, slopes(POINTS).sum(axis=-1), rtol=1e-12, atol=1e-13)


def test_it_stays_in_loops():
    k = kernel("(2)->()")(lambda v: fori_loop(3, lambda i, x: squares(x, haversine(v[1])), v[0]))
    want = POINTS[:, 0]
    for _ in range(3):
        want = want**2 + np.sin(POINTS[:, 1] / 2) ** 4
    for _, (values,) in every_backend(k, POINTS):
        np.testing.assert_allclose(values, want, rtol=1e-12)


@pytest.mark.skipif(shutil.which("g++") is None, reason="needs a C++ compiler to stand in for NVRTC")
def test_it_is_translated_to_cuda(tmp_path):
    program = kernel("(2)->()")(distance).program()
    assert "(1 - cos(" in source_of(program)
    (values,) = run_on_host(program, tmp_path, POINTS)
    np.testing.assert_allclose(values, expected(POINTS), rtol=1e-12, atol=1e-13)
