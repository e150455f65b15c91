"""uint32 in kernels: exact, as NumPy has it, in float64 and float32, on every back end, in loops and in memory.

Kernels take and give floats, of which float32 holds no 32 bits; so words go in and out as halves of 16 bits.
"""

import shutil

import numpy as np
import pytest
from fuse_laws import every_backend
from hypothesis import given, settings
from hypothesis import strategies as st
from test_cuda import run_on_host

import poinsot as pt
from poinsot.fuse.llvm import target

WORDS = np.random.default_rng(1).integers(0, 2**32, (100, 3), dtype=np.uint32)
WORDS[:20] = np.random.default_rng(2).integers(0, 40, (20, 3))
WORDS[20:23] = 0, 2**31, 2**32 - 1
HALVES = np.stack([WORDS >> 16, WORDS & 0xFFFF], axis=-1).astype(float)
DTYPES = [np.float64, np.float32]


def joined(x):
    """Words from their halves."""
    return (x[..., 0].astype(np.uint32) << 16) | x[..., 1].astype(np.uint32)


def halves(u):
    return np.stack([(u >> 16).astype(float), (u & 0xFFFF).astype(float)], axis=-1)


def of_words(function, inputs=3):
    """A kernel from the halves of so many words to those of the words that the function makes of them."""
    return pt.kernel(f"({inputs},2)->(n,2)")(lambda x: halves(np.stack(function(*joined(x)))))


def in_numpy(function, words=WORDS):
    with np.errstate(all="ignore"):
        rows = [np.stack([np.asarray(value).astype(np.uint32) for value in function(*row)]) for row in words]
    return halves(np.stack(rows))


def agrees(function):
    """The kernel gives NumPy's bits, in both precisions and by both back ends."""
    k, want = of_words(function), in_numpy(function)
    for dtype in DTYPES:
        for backend, (got,) in every_backend(k, HALVES.astype(dtype)):
            assert got.dtype == dtype
            np.testing.assert_array_equal(got, want, err_msg=f"{backend} {dtype}")
    return k


def arithmetic(a, b, c):
    return [
        a + b, a - b, a * b, -a, ~a, a & b, a | b, a ^ b, a // b, a % b, a // 7, a % 10, 5 - a, 3 * a, a + True,
        np.minimum(a, b), np.maximum(a, 1000), np.abs(a), np.sign(a), np.square(a), a**3, np.fmod(a, b), +a,
        np.clip(a, 5, 2**31), np.where(a < b, a, 7), np.where(a > 5, True, c), np.invert(a), np.positive(b),
    ]  # fmt: skip


def shifts(a, b, c):
    rotated = (a << 13) | (a >> 19)
    distance = b % 70
    return [a << 0, a >> 0, a << 31, a >> 31, a << 32, a >> 40, a << distance, a >> distance, rotated, 1 << (c & 31)]


def comparisons(a, b, c):
    tests = [a < b, a <= b, a > b, a >= b, a == b, a != b, a < 20, a >= 2**31, a < 3.5, np.logical_and(a, b), ~(a < c)]
    return [np.where(test, np.uint32(1), np.uint32(0)) for test in tests]


def conversions(a, b, c):
    return [
        a.astype(float).astype(np.uint32) if a.dtype == float else a, (a >> 8).astype(int).astype(np.uint32),
        (a < b).astype(np.uint32), np.floor(np.sqrt((a >> 16) * 1.0)).astype(np.uint32), (a / 2**31).astype(np.uint32),
        (-(a >> 9).astype(float)).astype(np.int64).astype(np.uint32), np.zeros_like(a), np.full_like(b, 9), a.copy(),
    ]  # fmt: skip


@pytest.mark.parametrize("function", [arithmetic, shifts, comparisons, conversions])
def test_the_bits_are_those_of_numpy(function):
    agrees(function)


OPERATIONS = [np.add, np.subtract, np.multiply, np.bitwise_xor, np.bitwise_and, np.bitwise_or, np.minimum, np.maximum,
              np.floor_divide, np.remainder, np.left_shift, np.right_shift]  # fmt: skip
STEPS = st.lists(st.tuples(st.sampled_from(OPERATIONS), st.integers(0, 9), st.integers(0, 9)), min_size=1, max_size=12)


@settings(max_examples=25)
@given(steps=STEPS, constants=st.lists(st.integers(0, 2**32 - 1), min_size=2, max_size=2))
def test_random_programs(steps, constants):
    """Also of constants alone, which are folded, and of arguments that are the same."""

    def program(a, b, c):
        values = [a, b, c, *map(np.uint32, constants), np.uint32(0), np.uint32(1)]
        for operation, i, j in steps:
            values.append(operation(values[i % len(values)], values[-1 - j % len(values)]))
        return values[7:]

    few = np.r_[0:20:4, 20:30]
    k, want = of_words(program), in_numpy(program, WORDS[few])
    for dtype in DTYPES:
        for _, (got,) in every_backend(k, HALVES[few].astype(dtype)):
            np.testing.assert_array_equal(got, want)


@pytest.mark.parametrize("width", [8, 16, 32, 64])
def test_whatever_the_vector_width(width, monkeypatch):
    host = target.host()
    monkeypatch.setattr(target, "host", lambda: host._replace(vector_bytes=width))
    for function in (arithmetic, shifts, comparisons, indexed):
        for dtype in DTYPES:
            np.testing.assert_array_equal(of_words(function)(HALVES.astype(dtype)), in_numpy(function))


@pytest.mark.skipif(target.host().family != "x86", reason="names of x86 processors")
@pytest.mark.parametrize("processor", ['"x86-64", "", 16', '"haswell", "+avx2,+fma", 32'])
def test_on_older_processors(processor, python):
    """Which have no instruction for every conversion, comparison and rotation."""
    code = f"""if True:
    import numpy as np
    import poinsot as pt
    from poinsot.fuse.llvm import target
    target.host = lambda: target.Host({processor}, "x86")

    def words(n, f):
        x, y = pt.noise.bits(pt.noise.key("a", 3, n), n)
        u, v = x // (y >> 20), (x * 1.0).astype(np.uint32)
        tests = [x < y, x <= 2**31, np.maximum(x, y) == x]
        parts = [h * 1.0 for w in (x, y, u, v) for h in (w >> 16, w & 0xFFFF)]
        return f([*parts[: 6 if single else 8], x * 2.0**-32, *[t * 1.0 for t in tests]])

    for single in (False, True):
        n = np.arange(500, dtype=np.float32 if single else float)
        k = pt.kernel("()->(n)")(lambda n: words(n, np.stack))
        np.testing.assert_array_equal(k(n), words(n, lambda x: np.stack(x, axis=-1)).astype(n.dtype))
    """
    python(code)


def test_an_instance_does_not_depend_on_the_batch():
    k = of_words(arithmetic)
    alone = np.stack([k(x) for x in HALVES])
    many = np.tile(HALVES, (50, 1, 1))
    for threads in (1, 2):
        pt.set_threads(threads)
        np.testing.assert_array_equal(k(many), np.tile(alone, (50, 1, 1)))


TABLE = np.random.default_rng(3).integers(0, 2**32, 11, dtype=np.uint32)


def indexed(a, b, c):
    """Arrays in memory: read and written at the counter of a loop, at a word, and in a constant table."""

    def step(i, carry):
        x, s = carry
        x[i % 5] = x[(i + 1) % 5] * TABLE[i] + s
        x[s % 5] = x[s % 5] ^ TABLE[s % 11]
        return x, (s << 3) ^ (s >> 7) ^ np.asarray(i).astype(np.uint32)

    x, s = pt.fori_loop(9, step, (np.stack([a, b, c, a ^ b, b + c]), a + 1))
    return [*x, s, TABLE[3] + a]


def carried(a, b, c):
    """Carried words and flags, nested loops, a count that is a word."""

    def outer(i, carry):
        x, y, _ = carry
        y = pt.fori_loop(3, lambda j, z: (z << 5) + z + x, y)
        return x * 1664525 + 1013904223, y, (x & 1) == 1

    x, y, odd = pt.fori_loop(5, outer, (a, b, a < b))
    z = pt.fori_loop(c % 7, lambda i, z: z * 3 + 1, c)
    return [x, y, odd.astype(np.uint32), z]


def called(a, b, c):
    mix = pt.once(lambda x, y: (x * 747796405 + y, (x >> 16) ^ y))
    for _ in range(4):
        a, b = mix(a, b)
    return [a, b, *mix(c, b)]


def crowded(a, b, c):
    """More words than there are registers, carried and captured."""
    many = [a * (2 * k + 1) + b for k in range(40)]

    def step(i, words):
        return tuple((w << 1) ^ words[k - 7] ^ many[k] for k, w in enumerate(words))

    return [*pt.fori_loop(4, step, tuple(c + w for w in many))]


def long(a, b, c):
    """Straight-line code of thousands of operations, in which words and floats are spilled."""
    words, sums = [a, b, c, a ^ b, b ^ c], [(a >> 8) * 1.0]
    for k in range(300):
        words.append(words[-1] * 1664525 + words[-5 - (k * k) % len(words) // 2] + 7)
        sums.append(sums[-1] * 0.5 + words[-3].astype(float) * 2.0**-8)
    mixed = words[0]
    for w in words:
        mixed = (mixed << 7 | mixed >> 25) ^ w
    return [*words[::7], mixed, sums[-1].astype(np.uint32)]


@pytest.mark.parametrize("function", [indexed, carried, called, crowded])
def test_control_flow_and_memory(function):
    agrees(function)


def test_words_are_spilled_like_other_numbers():
    k, want = of_words(long), in_numpy(long)
    np.testing.assert_array_equal(k(HALVES)[:, :-1], want[:, :-1])
    np.testing.assert_array_equal(k(HALVES.astype(np.float32))[:, :-1], want[:, :-1])
    np.testing.assert_array_equal(k.to("numpy")(HALVES), k(HALVES))
    assert sum(k.program().graph.count().values()) > 1500  # so the compiler's own registers were used


@pytest.mark.parametrize("function", [arithmetic, shifts, comparisons, conversions, indexed, carried, called, crowded])
@pytest.mark.parametrize("float64", [True, False])
@pytest.mark.skipif(shutil.which("g++") is None, reason="needs a C++ compiler to stand in for NVRTC")
def test_the_cuda_source_has_the_same_bits(function, float64, tmp_path):
    k = of_words(function)
    k.to("numpy")(HALVES)
    (got,) = run_on_host(k.program(), tmp_path, HALVES, float64=float64)
    np.testing.assert_array_equal(got, in_numpy(function))


@pytest.mark.parametrize("float64", [True, False])
@pytest.mark.skipif(shutil.which("g++") is None, reason="needs a C++ compiler to stand in for NVRTC")
def test_noise_in_cuda(float64, tmp_path):
    """The bits of the generator, and normal numbers made of them to rounding."""
    n = np.arange(2000.0)
    key = pt.noise.key("imu.gyro", 7)
    bits = pt.kernel("()->(2,2)")(lambda n: halves(np.stack(pt.noise.bits(pt.noise.key("a", 3, n), n, 1))))
    normal = pt.kernel("()->(3)")(lambda n: pt.noise.normal(key, n, 3))
    for folder in "ab":
        (tmp_path / folder).mkdir()
    (got,) = run_on_host(bits.program(), tmp_path / "a", n, float64=float64)
    np.testing.assert_array_equal(got, halves(np.stack(pt.noise.bits(pt.noise.key("a", 3, n), n, 1), axis=-1)))
    (got,) = run_on_host(normal.program(), tmp_path / "b", n, float64=float64)
    np.testing.assert_allclose(got, pt.noise.normal(key, n, 3), rtol=0, atol=2e-15 if float64 else 1e-6)


def test_simplification():
    def zeros(a, b, c):
        return [a ^ a, a - a, a & 0, a * 0, b << 32]

    def same(a, b, c):
        return [a + 0, a ^ 0, a * 1, a | 0, a & 0xFFFFFFFF, a << 0, 0 ^ a, np.minimum(a, a), a | a, a.astype(np.uint32)]

    for function in (zeros, same, lambda a, b, c: [a + b, b + a, a * b, b * a, a ^ b, b ^ a]):
        agrees(function)
    plain = {"to_uint": 6, "shift_left": 3, "bit_or": 3, "shift_right": 1, "bit_and": 1, "to_float": 2}
    count = agrees(same).count(n=10)
    assert {op: n for op, n in count.items() if n} == {"to_uint": 2, "shift_left": 1, "bit_or": 1} | {
        op: plain[op] for op in ("shift_right", "bit_and", "to_float")
    }


def test_derivatives_are_zero_and_pass_by():
    """Words carry no derivative: neither in forward nor in reverse mode, nor through a loop that carries them."""

    def f(x):
        def step(i, carry):
            word, y = carry
            word = word * 1664525 + 1013904223
            return word, y * x[1] + (word >> 8) * 2.0**-24 * x[0]

        return pt.fori_loop(4, step, ((x[0] * 1000).astype(np.uint32), x[0]))[1]

    k = pt.kernel("(2)->()")(f)
    x = np.random.default_rng(0).uniform(0.1, 2.0, (20, 2))
    h = 1e-7
    word, u = (x[:, 0] * 1000).astype(np.uint32), []
    for _ in range(4):
        word = word * np.uint32(1664525) + np.uint32(1013904223)
        u.append((word >> 8) * 2.0**-24)

    def value(a, b):
        y = a
        for r in u:
            y = y * b + r * a
        return y

    a, b = x.T
    want = np.stack([value(a, b) / a, (value(a, b + h) - value(a, b - h)) / (2 * h)], axis=-1)
    for derivative in (pt.gradient(k), pt.jacobian(k)):
        for _, (got,) in every_backend(derivative, x):
            np.testing.assert_allclose(got[..., 0], want[..., 0], rtol=1e-13)
            np.testing.assert_allclose(got[..., 1], want[..., 1], rtol=1e-6)
    for _, (_, along) in every_backend(pt.jvp(k), x, np.ones_like(x)):
        np.testing.assert_allclose(along, pt.gradient(k)(x).sum(axis=-1), rtol=1e-12)
    for _, (_, back) in every_backend(pt.vjp(k), x, np.ones(20)):
        np.testing.assert_allclose(back, pt.gradient(k)(x), rtol=1e-13)


REFUSED = {
    "meets an integer": [
        lambda u, x: u + x.astype(int), lambda u, x: u * np.int64(3), lambda u, x: u ^ np.arange(2),
        lambda u, x: np.where(x > 0, u, np.array([1, 2])), lambda u, x: np.array([u, 1]),
        lambda u, x: pt.fori_loop(3, lambda i, c: c + u, 0), lambda u, x: pt.fori_loop(3, lambda i, c: c + i, u),
        lambda u, x: np.stack([u, x.astype(int)]),
    ],
    "used as a uint32": [lambda u, x: u + -1, lambda u, x: u & 2**32, lambda u, x: u < -3],
    "wider type": [
        lambda u, x: np.sum(np.stack([u, u])), lambda u, x: np.stack([u, u]).mean(),
        lambda u, x: np.stack([u, u]).cumsum(),
        lambda u, x: np.add.reduce(np.stack([u, u])), lambda u, x: np.stack([u, u]) @ np.stack([u, u]),
        lambda u, x: np.linalg.norm(np.stack([u, u])), lambda u, x: np.dot(u, u),
    ],
    "power of uint32": [lambda u, x: u**5, lambda u, x: 2**u],
    "mixes uint32 and floats": [lambda u, x: u & x, lambda u, x: u << x],
    "seen as another type": [lambda u, x: u.view(np.int32)],
    "have no": [lambda u, x: x.astype(np.uint8), lambda u, x: u.astype(np.uint64)],
    "in place": [lambda u, x: np.stack([u, u]).__iadd__(0.5)],
}  # fmt: skip


@pytest.mark.parametrize(("message", "function"), [(m, f) for m, fs in REFUSED.items() for f in fs])
def test_what_numpy_makes_another_type_is_refused(message, function):
    with pytest.raises(pt.TraceError, match=message):
        pt.kernel("()->(n)")(lambda x: np.stack([function(x.astype(np.uint32), x)]).ravel())(1.0)


def test_known_words_are_integers_beside_integers():
    """NumPy makes them int64: exact, with no traced word in it."""
    offsets = np.array([3, 2**32 - 1], np.uint32)
    k = pt.kernel("()->(2)")(
        lambda x: (x.astype(int) + offsets) * np.uint32(2) + np.asarray(np.array([1, 2])) * offsets
    )
    for _, (got,) in every_backend(k, np.array([0.0, -7.0])):
        want = (np.array([[0], [-7]]) + offsets) * np.uint32(2) + np.array([1, 2]) * offsets
        np.testing.assert_array_equal(got, want)


def test_beside_floats_a_word_is_a_float():
    def f(x):
        u = x.astype(np.uint32)
        filled = np.zeros(3)
        filled[1] = u
        words = np.zeros(2, np.uint32)
        words[0], words[1] = 3.7, u
        half = 0.5
        rest = np.stack([u / 3, np.sqrt(u), u * half])
        return np.concatenate([np.stack([u, half]) * 2.0**33, filled * 2**33, words * half, rest])

    x = np.array([0.0, 1.0, 2.0**31 + 5])
    k = pt.kernel("()->(10)")(f)
    want = np.stack([np.concatenate([np.array([u, 0.5]) * 2.0**33, np.array([0, u, 0]) * 2.0**33,
                                     np.array([3, u]) * 0.5, [u / 3, np.sqrt(u), u * 0.5]]) for u in x])  # fmt: skip
    for _, (got,) in every_backend(k, x):
        np.testing.assert_allclose(got, want, rtol=1e-15)


@pytest.mark.parametrize("dtype", DTYPES)
def test_floats_become_words_modulo_2_to_the_32(dtype):
    x = np.array([0.0, 0.9, 1.5, 2.0**31, 2.0**32 - 256, 2.0**32 + 1024, -1.0, -2.5, 2.0**60], dtype)
    want = halves(x.astype(np.int64).astype(np.uint32))
    k = pt.kernel("()->(2)")(lambda x: halves(x.astype(np.uint32)))
    for _, (got,) in every_backend(k, x):
        np.testing.assert_array_equal(got, want)
