"""fori_loop: one loop in the machine code, whose meaning is Python's `for`."""

from dataclasses import dataclass

import numpy as np
import pytest
from fuse_laws import agrees, every_backend

from poinsot.fuse import TraceError, fori_loop, kernel

COUNTS = np.array([0, 1, 5, 2, 0, -3, 7, 3, 3, 1, 0, 12, 4, -1, 2, 6, 5, 5, 9])


@dataclass
class Ball:
    height: np.ndarray
    speed: np.ndarray
    bounces: int = 0


def iterate(n, x, y):
    return fori_loop(n, lambda i, c: 0.5 * c * c + y / (i + 1) - x, x)


def tuple_carry(n, x, y):
    a, (b, c) = fori_loop(n, lambda i, s: (s[1][0], (s[1][1], s[0] + y)), (x, (y, x * y)))
    return a + 10 * b + 100 * c


def dict_carry(n, x, y):
    """Keys may come back in another order."""
    end = fori_loop(n, lambda i, c: {"b": c["a"] + c["b"], "a": 0.5 * c["a"] - y}, {"a": x, "b": y})
    return end["a"] + 10 * end["b"]


def dataclass_carry(n, x, y):
    def step(i, ball):
        hits = ball.height < 0
        speed = np.where(hits, np.abs(ball.speed) * 0.9, ball.speed - y * y)
        return Ball(ball.height + 0.1 * speed, speed, ball.bounces + hits)

    end = fori_loop(n, step, Ball(x, y))
    return end.height + 10 * end.bounces + 100 * end.speed


def array_carry(n, x, y):
    A = fori_loop(n, lambda i, A: A @ np.array([[0.5, x], [y, 0.25]]) - i, np.array([[1.0, x], [0.0, y]]))
    return A[0, 0] + 10 * A[1, 1] + 100 * A[0, 1]


def captured_values(n, x, y):
    z, w = np.sin(x), np.stack([y, x])
    return fori_loop(n, lambda i, c: c * z + w[1] - w @ w * c, y)


def carry_becomes_captured(n, x, y):
    return fori_loop(n, lambda i, c: (c[1], x), (y, y * y))[0]


def integer_carry(n, x, y):
    return fori_loop(n, lambda i, c: (c * 3 + i) % 17, 1) * x


def promoted_carry(n, x, y):
    """Starts as an integer and as a condition, becomes a float and a number."""
    a, b = fori_loop(n, lambda i, c: (c[0] + y, np.where(c[1], 1, 2) + (x > y)), (0, x > 1))
    return a + 10 * b


def boolean_carry(n, x, y):
    c, flag = fori_loop(n, lambda i, c: (np.where(c[1], c[0] * y, c[0] + x), c[0] > y), (x, y > 5))
    return c + 10 * np.where(flag, 1, 2)


def counter_arithmetic(n, x, y):
    return fori_loop(n, lambda i, c: c + (i % 3) * x + (i // 2) * y + np.where(i > 2, i, -i) + i**2 / 4, 0.0)


def nested(n, x, y):
    return fori_loop(n, lambda i, c: fori_loop(3, lambda j, d: d * 0.5 + x * j - i, c) + y, x)


def nested_varying(n, x, y):
    """The inner count depends on the outer counter and on the instance."""
    return fori_loop(n, lambda i, c: fori_loop(i + (x > 0), lambda j, d: 0.5 * d + y * (j + i), c) - x, y)


def nested_run_time(n, x, y):
    m = np.floor(np.abs(3 * x)).astype(int)
    return fori_loop(n, lambda i, c: fori_loop(m, lambda j, d: 0.5 * d + y, c) - x, y)


def a_loop_after_a_loop(n, x, y):
    a = fori_loop(n, lambda i, c: 0.5 * c + x, y)
    return fori_loop(n + 1, lambda i, c: 0.5 * c + a, x) + fori_loop(2, lambda i, c: c * a, a)


SCALAR = [
    iterate, tuple_carry, dict_carry, dataclass_carry, array_carry, captured_values, carry_becomes_captured,
    integer_carry, promoted_carry, boolean_carry, counter_arithmetic, nested, nested_varying, nested_run_time,
    a_loop_after_a_loop,
]  # fmt: skip


@pytest.mark.parametrize("program", SCALAR, ids=lambda f: f.__name__)
def test_counts_that_differ_between_lanes(program, rng):
    x, y = rng.uniform(-1, 1, (2, len(COUNTS)))
    agrees(lambda n, x, y: program(n.astype(int), x, y), "(),(),()->()", COUNTS.astype(float), x, y, rtol=1e-12)


@pytest.mark.parametrize("program", SCALAR, ids=lambda f: f.__name__)
@pytest.mark.parametrize("n", [0, 1, 4, -2])
def test_constant_counts(program, n, rng):
    agrees(lambda x, y: program(n, x, y), "(),()->()", *rng.uniform(-1, 1, (2, 9)), rtol=1e-12)


def test_loops_stay_loops():
    short, long = (
        kernel("()->()")(lambda x, n=n: fori_loop(n, lambda i, c: np.sin(c) + i, x)).count() for n in (2, 10**6)
    )
    assert short == long
    assert short["loop"] == 1
    assert short["sin"] == 1


def test_long_loops():
    k = kernel("(),()->()")(lambda n, x: fori_loop(n.astype(int), lambda i, c: c + x, 0.0))
    n = np.array([1e5, 3.0, 99999.0])
    np.testing.assert_array_equal(k(n, np.ones(3)), n)


def test_outside_of_kernels_it_is_a_python_loop():
    assert fori_loop(4, lambda i, c: c + [i], []) == [0, 1, 2, 3]
    assert fori_loop(np.int64(-1), lambda i, c: 1 / 0, "same") == "same"


@pytest.mark.parametrize(
    "body",
    [
        lambda i, c: (c[0], np.stack([c[1], c[1]])),
        lambda i, c: c[0],
        lambda i, c: (c[0], c[1], c[1]),
        lambda i, c: {"x": c[0], "y": c[1]},
    ],
)
def test_a_carry_of_another_structure_is_refused(body):
    with pytest.raises(TraceError, match="the carry"):
        kernel("()->()")(lambda x: fori_loop(3, body, (x, x))[0])(1.0)


def test_keyword_defaults_of_the_body():
    def f(x):
        shift = 2 * x

        def body(i, c, scale=2.0, *, offset=1.0):
            return c * scale + offset + shift

        return fori_loop(3, body, x)

    agrees(f, "()->()", np.arange(3.0))


def test_integers_wrap_division_like_numpy_and_never_crash(python):
    """Division by zero, and of the least integer by -1, would stop a process on x86: so it is tried in another one."""
    code = """if True:
    import numpy as np
    from poinsot.fuse import kernel
    k = kernel("(),()->(),()")(lambda a, b: (a.astype(int) % b.astype(int), a.astype(int) // b.astype(int)))
    a, b = np.meshgrid([7.0, -7.0, 0.0, 1.0, -1.0, -2.0**63], [3.0, -3.0, 1.0, -1.0, 0.0])
    for x, y in zip(k(a, b), k.to("numpy")(a, b)):
        np.testing.assert_array_equal(x, y)
    """
    python(code)


def test_results_of_loops_feed_several_outputs(rng):
    k = kernel("(),()->(),(),()")(lambda x, y: (*fori_loop(3, lambda i, c: (c[1], c[0] * y), (x, y)), x + y))
    x, y = rng.random((2, 5))
    for _, (a, b, c) in every_backend(k, x, y):
        np.testing.assert_allclose((a, b, c), (y * y, x * y * y, x + y), rtol=1e-14)


def test_an_index_from_outside_of_a_loop_that_fits_is_not_looked_at():
    """The range of a sum of a table's entry, found outside of the loop, and the counter; one that does not fit is."""

    def reader(sizes):
        def rows(x):
            starts = np.array(sizes)

            def outer(c, s):
                start = starts[c]
                return s + fori_loop(3, lambda k, r: r + x[start + k], 0.0)

            return fori_loop(2, outer, np.zeros(()))

        return kernel("(6)->()")(rows)

    inside, beyond = reader([0, 3]), reader([0, 4])
    assert inside.count()["minimum"] == inside.count()["where"] == 0
    assert beyond.count()["minimum"] == 1
    x = np.arange(6.0) ** 2
    assert float(inside(x)) == x.sum()
    assert float(beyond(x)) == x[:3].sum() + x[4] + 2 * x[5]
