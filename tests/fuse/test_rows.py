"""Arguments in any layout: the same bits as in the fast one, and nothing touched beside them."""

import numpy as np
import pytest

from poinsot.fuse import kernel
from poinsot.fuse.llvm.target import host

WIDTH = host().vector_bytes // 8
SIZES = [1, 2, 3, 4, 5, 7, 8, 9, 16, 17, 19]


@kernel("(n),(n),()->(n),()")
def mix(a, b, s):
    return s * a * b + a[::-1], a @ b


def batch_last(a):
    return np.asfortranarray(a)


def padded(a):
    """Rows in a larger array that is full of NaN elsewhere."""
    room = np.full((a.shape[0], a.shape[1] + 3), np.nan, a.dtype)
    room[:, 1:-2] = a
    return room[:, 1:-2]


def backwards(a):
    return np.ascontiguousarray(a[::-1, ::-1])[::-1, ::-1]


LAYOUTS = {"rows": np.ascontiguousarray, "padded rows": padded, "backwards": backwards}


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("count", [1, WIDTH, 4 * WIDTH + 3])
@pytest.mark.parametrize("layout", LAYOUTS)
def test_the_layout_does_not_change_a_bit(layout, count, dtype):
    for size in SIZES:
        a, b = np.random.default_rng(size).normal(size=(2, count, size)).astype(dtype)
        s = np.linspace(1, 2, count, dtype=dtype)
        expected = mix(batch_last(a), batch_last(b), s)
        room = np.full((count, size + 5), 7.0, dtype)
        out = room[:, 2:-3], np.empty(count, dtype)
        mix(LAYOUTS[layout](a), batch_last(b), s, out=out)
        assert np.array_equal(out[0], expected[0])
        assert np.array_equal(out[1], expected[1])
        assert np.all(room[:, :2] == 7)
        assert np.all(room[:, -3:] == 7)


@pytest.mark.parametrize("count", [1, WIDTH, 4 * WIDTH + 3])
def test_what_is_the_same_for_all_is_like_what_is_repeated(count):
    for size in SIZES:
        a, b = np.random.default_rng(size).normal(size=(2, count, size))
        for one in (b[0], np.ascontiguousarray(b[0, ::-1])[::-1]):
            expected = mix(batch_last(a), batch_last(np.tile(one, (count, 1))), np.full(count, 0.3))
            for first in (batch_last(a), a):
                result = mix(first, one, 0.3)
                assert np.array_equal(result[0], expected[0])
                assert np.array_equal(result[1], expected[1])


def test_in_place():
    a, b = np.random.default_rng(0).normal(size=(2, 4 * WIDTH + 3, 3))
    expected, _ = mix(a, b, 0.3)
    mix(a, b, 0.3, out=(a, np.empty(len(a))))
    assert np.array_equal(a, expected)
