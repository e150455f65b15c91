"""Noise on a GPU: the bits of the processor, and numbers that agree to rounding."""

import numpy as np
import pytest

import poinsot as pt
from poinsot.control import noise

cupy = pytest.importorskip("cupy", reason="the GPU needs CuPy")
DTYPES = [np.float64, np.float32]


def halves(u):
    return np.stack([(u >> 16).astype(float), (u & 0xFFFF).astype(float)])


@pytest.mark.parametrize("dtype", DTYPES)
def test_the_bits_are_those_of_the_processor(dtype):
    k = pt.kernel("(3)->(4)")(
        lambda x: np.concatenate([halves(w) for w in noise.bits(noise.key("a.b", x[0], x[1]), x[2], 3)])
    )
    x = np.random.default_rng(0).integers(0, 2**24, (100_000, 3)).astype(dtype)
    np.testing.assert_array_equal(cupy.asnumpy(k.to("cuda")(cupy.asarray(x))), k(x))


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("draw", [noise.uniform, noise.normal])
def test_the_numbers_agree_to_rounding(draw, dtype):
    k = pt.kernel("()->(3)")(lambda n: draw(noise.key("imu.gyro", 7), n, 3))
    n = np.arange(100_000, dtype=dtype)
    got = cupy.asnumpy(k.to("cuda")(cupy.asarray(n)))
    np.testing.assert_allclose(got, k(n), rtol=0, atol=8 * np.finfo(dtype).eps)


@pytest.mark.parametrize("dtype", DTYPES)
def test_in_a_loop(dtype):
    """Words that are carried, spilled to arrays, and read at an index."""

    def walk(sigma, instance):
        key = noise.key("walk", 3, instance)
        return pt.fori_loop(50, lambda n, x: x + sigma * noise.normal(key, n, 2), np.zeros(2))

    k = pt.kernel("(),()->(2)")(walk)
    instance = np.arange(1000, dtype=dtype)
    sigma = np.full(1000, 0.5, dtype)
    got = cupy.asnumpy(k.to("cuda")(cupy.asarray(sigma), cupy.asarray(instance)))
    np.testing.assert_allclose(got, k(sigma, instance), rtol=0, atol=200 * np.finfo(dtype).eps)
