"""LLVM, the NumPy interpreter and plain NumPy agree on programs generated at random."""

import numpy as np
import pytest
from fuse_laws import every_backend
from fuse_models import SMOOTH
from hypothesis import given, settings
from hypothesis import strategies as st

from poinsot.fuse import fori_loop, kernel, once

# A program is a list of steps; a step is the number of an operation and the numbers of the values that it uses, counted
# from the last one made. All values are whole numbers below PRIME, so every back end must give the very same ones.
PRIME = 1009.0


def whole(a, n):
    """a as an integer in 0 ... n-1."""
    return np.mod(a, n).astype(int)


def loop(a, b, c):
    x, y = fori_loop(whole(a, 5), lambda i, s: (np.mod(s[0] * 3 + s[1] + i, PRIME), np.minimum(s[0], c)), (b, c))
    return np.mod(x + y, PRIME)


def nested_loop(a, b, c):
    def outer(i, s):
        return fori_loop(i + whole(c, 3), lambda j, t: np.mod(t * 2 + i * j + b, PRIME), s)

    return fori_loop(whole(a, 4), outer, b)


def fixed_loop(a, b, c):
    return fori_loop(3, lambda i, s: np.where(s > a, s - b, np.mod(s * s + i, PRIME)), c)


def written_memory(a, b, c):
    def body(i, s):
        A, j = s
        A[j] = np.mod(A[i] + A[-1 - i] * 2, PRIME)
        return A, (j * 2 + 1) % 4

    A, j = fori_loop(4, body, (np.stack([a, b, c, a + 1]), whole(b, 4)))
    return np.mod(A.sum() + A[j], PRIME)


def read_memory(a, b, c):
    table = np.stack([c, b, a])
    return np.mod(table[whole(a, 3)] * 5 + table[whole(b, 6) - 3], PRIME)


def called(a, b, c):
    f = once(lambda x, y: (np.mod(x * y + a, PRIME), x - y))
    x, y = f(b, c)
    return np.mod(f(x, y)[0] + f(y, b)[1], PRIME)


OPERATIONS = {
    "add": lambda a, b, c: np.mod(a + b, PRIME),
    "subtract": lambda a, b, c: a - b,
    "multiply": lambda a, b, c: np.mod(a * b, PRIME),
    "fused": lambda a, b, c: np.mod(a * b + c, PRIME) - np.mod(c - a * b, PRIME),
    "constant": lambda a, b, c: np.mod(7 * a - 5, PRIME),
    "negative": lambda a, b, c: -a,
    "absolute": lambda a, b, c: np.abs(a) - np.sign(b),
    "extrema": lambda a, b, c: np.minimum(a, b) - np.maximum(b, c),
    "choose": lambda a, b, c: np.where(a < b, c, a),
    "logic": lambda a, b, c: np.where((a <= b) & ~(c == b) | (a > 100) ^ (b != c), a, b),
    "clip": lambda a, b, c: np.clip(a, -50, np.abs(b)),
    "floor": lambda a, b, c: np.floor(a / 2) + np.ceil(b / 4) + np.trunc(c / 8) + np.rint(a / 4),
    "divide": lambda a, b, c: a // 3 + np.mod(b, 17) + whole(c, 1000) // 7 - whole(a, 1000) % 11,
    "bits": lambda a, b, c: (whole(a, 512) & 341) + (whole(b, 256) ^ 170) + (whole(c, 64) << 1) - (whole(a, 64) >> 2),
    "array": lambda a, b, c: np.mod(np.cross(np.stack([a, b, c]), np.stack([b, c, 3.0])) @ np.stack([c, a, b]), PRIME),
    "same": lambda a, b, c: np.mod((a + b) * (b + a) - a * 0 + (c - c) + 1 * b, PRIME),
    "loop": loop,
    "nested loop": nested_loop,
    "fixed loop": fixed_loop,
    "written memory": written_memory,
    "read memory": read_memory,
    "called": called,
}

steps = st.tuples(st.sampled_from(sorted(OPERATIONS)), *[st.integers(0, 5)] * 3)
programs = st.lists(steps, min_size=1, max_size=12)


def evaluate(program, x, y, z):
    values = [x, y, z]
    for name, *places in program:
        values.append(OPERATIONS[name](*(values[-1 - place % len(values)] for place in places)))
    return values[-1], values[-1 - len(values) // 3]


def inputs(count, seed=0):
    return np.random.default_rng(seed).integers(-500, 500, (3, count)).astype(float)


@settings(max_examples=120)
@given(programs)
def test_whole_numbers_are_exact(program):
    k = kernel("(),(),()->(),()")(lambda *x: evaluate(program, *x))
    x = inputs(11)
    want = np.array([evaluate(program, *column) for column in x.T]).T
    for backend, got in every_backend(k, *x):
        np.testing.assert_array_equal(got, want, err_msg=backend)


@settings(max_examples=30)
@given(programs)
def test_single_precision_is_exact_too(program):
    """In float32 the same whole numbers are exact as long as products stay below 2^24: so of smaller ones."""
    program = [
        step for step in program if step[0] not in ("multiply", "fused", "array", "same", "called", "fixed loop")
    ]
    k = kernel("(),(),()->(),()")(lambda *x: evaluate(program, *x))
    x = inputs(19)
    got, want = k(*x.astype(np.float32)), k(*x)
    for g, w in zip(got, want, strict=True):
        assert g.dtype == np.float32
        np.testing.assert_array_equal(g, w)


@settings(max_examples=60)
@given(
    st.lists(st.tuples(st.sampled_from(sorted(SMOOTH)), st.integers(0, 3), st.integers(0, 3)), min_size=1, max_size=10)
)
def test_real_numbers_agree_to_rounding(program):
    def f(x, y):
        values = [x, y]
        for name, *places in program:
            values.append(SMOOTH[name](*(values[-1 - place % len(values)] for place in places)))
        return values[-1]

    k = kernel("(),()->()")(f)
    x = np.random.default_rng(1).uniform(-2, 2, (2, 9))
    want = [f(*column) for column in x.T]
    for backend, (got,) in every_backend(k, *x):
        np.testing.assert_allclose(got, want, rtol=1e-12, atol=1e-12, err_msg=backend)


@pytest.mark.parametrize("count", [0, 1, 3])
def test_any_batch(count):
    program = [(name, 0, 1, 2) for name in OPERATIONS]
    k = kernel("(),(),()->(),()")(lambda *x: evaluate(program, *x))
    x = inputs(5)
    want = [v[:count] for v in k(*x)]
    for backend, got in every_backend(k, *x[:, :count]):
        assert [g.shape for g in got] == [(count,), (count,)]
        np.testing.assert_array_equal(got, want, err_msg=backend)


def test_the_interpreter_takes_large_batches_block_by_block():
    """More instances than it takes together, also in a batch of two axes, with an argument that all share."""

    @kernel("(3),(3),()->(3),()")
    def turned(v, w, n):
        v = fori_loop(n, lambda i, v: np.cross(w, v) + v, v)
        return v, v @ w

    rng = np.random.default_rng(0)
    v, w, n = rng.normal(size=(3, 4096, 3)), rng.normal(size=3), rng.integers(0, 4, (3, 4096))
    want = [turned.to("numpy")(v[k, j : j + 512], w, n[k, j : j + 512]) for k in range(3) for j in range(0, 4096, 512)]
    found = turned.to("numpy")(v, w, n)
    for k in range(2):
        np.testing.assert_array_equal(found[k].reshape(24, 512, *found[k].shape[2:]), [x[k] for x in want])
        np.testing.assert_allclose(found[k], turned(v, w, n)[k], rtol=1e-13, atol=1e-13)
    assert [x.shape for x in turned.to("numpy")(v[:0], w, n[:0])] == [(0, 4096, 3), (0, 4096)]
