"""Noise from a counter: the published bits of the generator, the same everywhere; and the laws of its distributions.

The source for the GPU is tested in tests/fuse/test_unsigned.py, a GPU in test_noise_cuda.py.
"""

import numpy as np
import pytest
import scipy.stats

import poinsot as pt
from poinsot.control import noise
from poinsot.fuse.graph.verify import verify
from poinsot.fuse.llvm import target

KEY = noise.key("imu.gyro", seed=7)

# Known answers for threefry2x32 with 20 rounds: counter, key, result. From the file `kat_vectors` that comes with the
# authors' own implementation, Random123 (D. E. Shaw Research).
KNOWN = [
    ((0x00000000, 0x00000000), (0x00000000, 0x00000000), (0x6B200159, 0x99BA4EFE)),
    ((0xFFFFFFFF, 0xFFFFFFFF), (0xFFFFFFFF, 0xFFFFFFFF), (0x1CB996FC, 0xBB002BE7)),
    ((0x243F6A88, 0x85A308D3), (0x13198A2E, 0x03707344), (0xC4923A9C, 0x483DF7A0)),
]
DTYPES = [np.float64, np.float32]
WIDTHS = [8, 16, 32, 64]  # bytes of a vector


def halves(u):
    """A word as two numbers that float32 holds."""
    return np.stack([(u >> 16).astype(float), (u & 0xFFFF).astype(float)])


def words_of(x):
    return np.concatenate([halves(w) for w in noise.bits(noise.key("a.b", x[0], x[1]), x[2], 3)])


def the_words(x):
    """The same in NumPy, for all instances at once."""
    w = noise.bits(noise.key("a.b", x[:, 0], x[:, 1]), x[:, 2], 3)
    return np.stack([half for u in w for half in (u >> 16, u & 0xFFFF)], axis=-1)


COUNTERS = np.random.default_rng(0).integers(0, 2**24, (4096, 3)).astype(float)


@pytest.mark.parametrize(("counter", "key", "result"), KNOWN)
def test_known_answers(counter, key, result):
    """On numbers, on arrays, and in a kernel."""
    one = noise.Key(*map(np.uint32, key))
    assert tuple(map(int, noise.bits(one, *counter))) == result
    many = noise.bits(one, np.full(5, counter[0]), np.full(5, counter[1]))
    assert all((w == r).all() for w, r in zip(many, result, strict=True))
    halved = np.array([(x >> 16, x & 0xFFFF) for x in (*counter, *key)])

    def traced(x):
        a, b, c, d = (x[:, 0].astype(np.uint32) << 16) | x[:, 1].astype(np.uint32)
        return np.concatenate([halves(w) for w in noise.bits(noise.Key(c, d), a, b)])

    want = [half for r in result for half in (r >> 16, r & 0xFFFF)]
    for dtype in DTYPES:
        for backend in ("numpy", "llvm"):
            assert pt.kernel("(4,2)->(4)")(traced).to(backend)(halved.astype(dtype)).tolist() == want


@pytest.mark.parametrize("dtype", DTYPES)
def test_the_same_bits_everywhere(dtype, monkeypatch):
    """By NumPy, by the reference, alone and in a batch, on any number of threads, with vectors of any width."""
    k, want = pt.kernel("(3)->(4)")(words_of), the_words(COUNTERS)
    x = COUNTERS.astype(dtype)
    np.testing.assert_array_equal(k.to("numpy")(x), want)
    for threads in (1, 2, 3):
        pt.set_threads(threads)
        np.testing.assert_array_equal(k(x), want)
    pt.set_threads(None)
    np.testing.assert_array_equal([k(one) for one in x[:9]], want[:9])
    for program in k._programs.values():
        verify(program.graph)
    host = target.host()
    for width in WIDTHS:
        monkeypatch.setattr(target, "host", lambda width=width: host._replace(vector_bytes=width))
        np.testing.assert_array_equal(pt.kernel("(3)->(4)")(words_of)(x), want)


def test_the_same_numbers_to_rounding():
    """In float32 and float64, in NumPy and in a kernel. The angle, up to pi/2, is rounded: that times the radius."""
    n = np.arange(100_000.0)
    for draw in (noise.uniform, noise.normal):
        k = pt.kernel("()->(2)")(lambda n, draw=draw: draw(KEY, n, 2))
        want = draw(KEY, n, 2)
        eps = np.finfo(np.float64).eps
        np.testing.assert_allclose(k(n), want, rtol=0, atol=8 * eps)
        eps = np.finfo(np.float32).eps
        np.testing.assert_allclose(k(n.astype(np.float32)), want, rtol=0, atol=8 * eps)


def test_small_radii_keep_their_digits_in_float32():
    """u near 1: ln u has to come from 1 - u, since float32 knows only a few numbers there."""
    word = np.array([2**32 - 1, 2**32 - 2, 2**32 - 300, 2**32 - 70_000, 2**31, 2**31 - 1, 5, 0])
    high, low = (word >> 16).astype(np.float32), (word & 0xFFFF).astype(np.float32)

    def radius(high, low):
        u = (high.astype(np.uint32) << 16) | low.astype(np.uint32)
        return np.hypot(*noise._normals(u, np.uint32(12345)))

    want = np.sqrt(-2 * np.log1p(-(2.0**32 - 0.5 - word) / 2**32))
    np.testing.assert_allclose(pt.kernel("(),()->()")(radius)(high, low), want, rtol=5e-7)
    np.testing.assert_allclose(pt.kernel("(),()->()")(radius)(high * 1.0, low.astype(float)), want, rtol=1e-14)


def test_the_first_of_several_is_the_one():
    n = np.arange(1000)
    for draw in (noise.uniform, noise.normal):
        several = draw(KEY, n, 5)
        assert several.shape == (1000, 5)
        for size in range(1, 5):
            np.testing.assert_array_equal(draw(KEY, n, size), several[:, :size])
        np.testing.assert_array_equal(draw(KEY, n), several[:, 0])
        assert draw(KEY, n, 0).shape == (1000, 0)
        assert np.ndim(draw(KEY, 3)) == 0
    tables = noise.normal(noise.key("gps", 1, np.arange(6)[:, None]), np.arange(4), 3)
    assert tables.shape == (6, 4, 3)
    np.testing.assert_array_equal(tables[5, 2], noise.normal(noise.key("gps", 1, 5), 2, 3))


MANY = 200_000


@pytest.fixture(scope="module")
def samples():
    n = np.arange(MANY, dtype=float)
    return {
        name: pt.kernel("()->(3)")(lambda n, draw=draw: draw(KEY, n, 3))(n)
        for name, draw in (("uniform", noise.uniform), ("normal", noise.normal))
    }


def test_distributions(samples):
    """Kolmogorov and Smirnov, in each channel; with a fixed seed, a test of level 0.001 does not fail by chance."""
    for channel in range(3):
        assert scipy.stats.kstest(samples["uniform"][:, channel], "uniform").pvalue > 1e-3
        assert scipy.stats.kstest(samples["normal"][:, channel], "norm").pvalue > 1e-3
    assert 0 < samples["uniform"].min() < samples["uniform"].max() < 1


def test_moments(samples):
    """Within four deviations of what they are for a normal distribution: 0, 1, 0, 3, 0, 15."""
    x = samples["normal"].ravel()
    for power, (moment, variance) in enumerate([(0, 1), (1, 2), (0, 15), (3, 96), (0, 945), (15, 10170)], start=1):
        assert abs(np.mean(x**power) - moment) < 4 * np.sqrt(variance / len(x))


def test_every_bit_is_even():
    words = np.concatenate(noise.bits(KEY, np.arange(MANY)))
    ones = np.array([np.mean(words >> bit & 1) for bit in range(32)])
    assert np.abs(ones - 0.5).max() < 4.5 * 0.5 / np.sqrt(len(words))


def uncorrelated(rows):
    """No two rows of normal numbers are correlated: each coefficient is within 4.5 of its deviations, and the squares
    of all of them add up to as much as they should."""
    R = np.corrcoef(rows)[np.triu_indices(len(rows), 1)] * np.sqrt(rows.shape[1])
    assert np.abs(R).max() < 4.5
    assert abs(np.mean(R**2) - 1) < 5 * np.sqrt(2 / len(R))


def test_channels_and_counters_are_independent(samples):
    uncorrelated(samples["normal"].T)
    uncorrelated((samples["normal"] ** 2).T)
    x = samples["normal"][:, 0]
    uncorrelated(np.stack([x[k : MANY - 40 + k] for k in (0, 1, 2, 3, 4, 5, 8, 16, 32)]))
    spectrum = np.abs(np.fft.rfft(samples["normal"], axis=0)[1:-1]) ** 2 / MANY
    assert scipy.stats.kstest(spectrum.ravel(), "expon").pvalue > 1e-3  # white


@pytest.mark.parametrize(
    "keys",
    [
        [noise.key("imu.gyro", 7, k) for k in range(40)],
        [noise.key("imu.gyro", k, 0) for k in range(40)],
        [noise.key(f"imu{k}.gyro") for k in range(40)],
        [noise.key("imu.gyro", 2**k, 2**k) for k in range(32)],
        [noise.Key(np.uint32(0), np.uint32(1 << k)) for k in range(32)],  # and not only made by `key`
        [noise.Key(np.uint32(1 << k), np.uint32(0)) for k in range(32)],
    ],
)
def test_nearby_keys_are_unrelated(keys):
    """Instances, seeds, paths, single bits."""
    uncorrelated(np.stack([noise.normal(k, np.arange(5000)) for k in keys]))
    first = np.array([int(k.first) ^ int(noise.bits(k, 0)[0]) for k in keys])
    assert len(set(first)) == len(keys)


def test_keys():
    """Different for other paths, seeds and instances; the same on numbers and in kernels, today and tomorrow."""
    assert tuple(map(int, KEY)) == (0x627233D5, 0xA46626D9)
    many = {tuple(map(int, noise.key(p, s, i))) for p in ("a", "b", "a.b", "") for s in range(20) for i in range(20)}
    assert len(many) == 4 * 20 * 20
    assert tuple(map(int, noise.key("a", 1, 2))) != tuple(map(int, noise.key("a", 2, 1)))
    k = pt.kernel("(),()->(4)")(lambda s, i: np.concatenate([halves(w) for w in noise.key("wind", s, i)]))
    got = k(np.arange(5.0)[:, None], np.arange(6.0))
    for s in range(5):
        for i in range(6):
            want = [half for w in noise.key("wind", s, i) for half in (w >> 16, w & 0xFFFF)]
            assert got[s, i].tolist() == want


def gyro(rate, sigma, instance, n):
    return rate + sigma * noise.normal(noise.key("imu.gyro", 7, instance), n, 3)


def test_derivatives_by_the_amplitude():
    """Noise is a constant of its key and counter: d/d sigma is the noise, d/d instance and d/dn are 0."""
    k = pt.kernel("(3),(),(),()->(3)")(gyro)
    rng = np.random.default_rng(0)
    rate, sigma, instance, n = rng.normal(size=(9, 3)), rng.uniform(1, 2, 9), np.arange(9.0), np.arange(9.0) + 5
    eta = noise.normal(noise.key("imu.gyro", 7, instance), n, 3)
    np.testing.assert_allclose(pt.jacobian(k, wrt=1)(rate, sigma, instance, n), eta, atol=4e-15)
    for wrt in (2, 3):
        np.testing.assert_array_equal(pt.jacobian(k, wrt=wrt)(rate, sigma, instance, n), 0.0)
    _, along = pt.jvp(k, wrt=(0, 1))(rate, sigma, instance, n, rate, np.ones(9))
    np.testing.assert_allclose(along, rate + eta, atol=4e-15)
    _, d_rate, d_sigma = pt.vjp(k, wrt=(0, 1))(rate, sigma, instance, n, np.ones((9, 3)))
    np.testing.assert_array_equal(d_rate, 1.0)
    np.testing.assert_allclose(d_sigma, eta.sum(axis=-1), atol=1e-14)


def test_a_random_walk_in_a_loop():
    """The counter of the loop is the counter of the noise; reverse mode records the loop."""

    def walk(sigma, instance):
        key = noise.key("walk", 3, instance)
        return pt.fori_loop(50, lambda n, x: x + sigma * noise.normal(key, n, 2), np.zeros(2))

    k = pt.kernel("(),()->(2)")(walk)
    instance = np.arange(100.0)
    steps = noise.normal(noise.key("walk", 3, instance[:, None]), np.arange(50), 2)
    np.testing.assert_allclose(k(0.5, instance), 0.5 * steps.sum(axis=1), atol=1e-13)
    np.testing.assert_allclose(k(np.float32(0.5), instance.astype(np.float32)), 0.5 * steps.sum(axis=1), atol=2e-5)
    np.testing.assert_allclose(pt.jacobian(k)(0.5, instance), steps.sum(axis=1), atol=1e-13)
    _, back = pt.vjp(k)(0.5, instance, np.ones((100, 2)))
    np.testing.assert_allclose(back, steps.sum(axis=(1, 2)), atol=1e-13)


def test_operations():
    """Rotations count as three."""
    count = pt.kernel("()->()")(lambda n: noise.uniform(KEY, n)).count()
    assert sum(count.values()) <= 107
    pair = pt.kernel("()->(2)")(lambda n: noise.normal(KEY, n, 2)).count()
    assert sum(pair.values()) <= 140
    assert [pair[op] for op in ("log", "log1p", "sqrt", "sin", "cos")] == [1, 1, 1, 1, 1]


@pytest.mark.parametrize("wrong", [-1, 2**32, 1.5, np.nan, np.inf, "3", [1, 2.5], None])
def test_what_is_not_a_counter(wrong):
    for name, call in (
        ("counter", lambda: noise.uniform(KEY, wrong)),
        ("seed", lambda: noise.key("a", wrong)),
        ("instance", lambda: noise.key("a", 1, wrong)),
    ):
        with pytest.raises(ValueError, match=f"{name} is .*a whole number from 0 to 2\\^32 - 1"):
            call()


def test_other_wrong_arguments():
    with pytest.raises(TypeError, match=r"the path of a source of noise is a text such as 'imu\.gyro', not 7"):
        noise.key(7)
    with pytest.raises(TypeError, match=r"'imu' is not a key; make one with pt\.noise\.key"):
        noise.normal("imu", 3)
    for size in (-1, 2.0, "3"):
        with pytest.raises(ValueError, match="size is"):
            noise.normal(KEY, 0, size)
