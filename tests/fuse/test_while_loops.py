"""while_loop and when: loops that stop by a condition, and work that is only done where it is needed."""

from dataclasses import dataclass

import numpy as np
import pytest
from fuse_laws import agrees, every_backend

from poinsot.fuse import TraceError, fori_loop, jacobian, jvp, kernel, vjp, when, while_loop


@dataclass
class Search:
    low: np.ndarray
    high: np.ndarray
    turns: int = 0


def square_root(x, y):
    """Newton's iteration, until it no longer changes."""
    start = (1.0 + x * x, 0.0)
    return while_loop(
        lambda s: np.abs(s[0] - s[1]) > 1e-12, lambda s: (0.5 * (s[0] + (x * x + y * y) / s[0]), s[0]), start, 60
    )[0]


def bisection(x, y):
    def narrower(s):
        middle = 0.5 * (s.low + s.high)
        above = middle**3 + middle > 3 * x
        return Search(np.where(above, s.low, middle), np.where(above, middle, s.high), s.turns + 1)

    end = while_loop(lambda s: s.high - s.low > 1e-9 * (1 + y * y), narrower, Search(-4.0 + 0 * x, 4.0 + 0 * x), 80)
    return end.low + end.turns


def never(x, y):
    return while_loop(lambda c: c < -1e9, lambda c: c + 1, x, 5)


def at_most(x, y):
    return while_loop(lambda c: c < 1e9, lambda c: c + y, x, 5)


def none(x, y):
    return while_loop(lambda c: c < 1e9, lambda c: c + y, x, 0)


def by_counter(x, y):
    return while_loop(
        lambda s: s[0] < np.abs(5 * x).astype(int), lambda s: (s[0] + 1, 0.5 * s[1] + s[0] * y), (0, x), 9
    )[1]


def arrays_in_memory(x, y):
    """Each instance writes as many places as it needs, at an index of its own."""
    places = np.array([1.0, 2.0, 3.0, 4.0, 5.0, 6.0]) * y

    def write(s):
        k, a = s
        new = a.copy()
        new[k] = 10 * k + x
        return k + 1, new

    end = while_loop(lambda s: s[0] < 3 + np.sign(x).astype(int) * 2, write, (np.array(0), places), 6)
    return end[1] @ np.arange(1.0, 7.0)


def nested(x, y):
    inner = lambda c: while_loop(lambda d: d > 0.3, lambda d: 0.7 * d, c, 20)  # noqa: E731
    return while_loop(lambda c: np.abs(c) < 4, lambda c: 1 + 1.5 * c + inner(c) * y, 0.1 + x * x, 12)


def inside_a_loop(x, y):
    return fori_loop(4, lambda i, c: while_loop(lambda d: d > i * y, lambda d: 0.5 * d - x, c, 7), 3 + x)


def a_loop_inside(x, y):
    return while_loop(lambda c: c < 20, lambda c: fori_loop(3, lambda i, d: 1.1 * d + i * y * y, c) + 0.3, 1 + x * x, 9)


def rarely(x, y):
    return when(x > 0.5, lambda c: np.exp(c) + y, x)


def several_results(x, y):
    a, b = when(np.abs(x) > np.abs(y), lambda c: (c[1], c[0]), (x, y))
    return a + 10 * b


def when_in_a_loop(x, y):
    return fori_loop(5, lambda i, c: when(c > i * y, lambda d: np.sin(d) + x, 0.9 * c), x)


PROGRAMS = [
    square_root, bisection, never, at_most, none, by_counter, arrays_in_memory, nested, inside_a_loop, a_loop_inside,
    rarely, several_results, when_in_a_loop,
]  # fmt: skip
SMOOTH = [p for p in PROGRAMS if p is not bisection]


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda f: f.__name__)
def test_they_mean_what_python_means(program, rng):
    agrees(program, "(),()->()", *rng.uniform(-1, 1, (2, 37)), rtol=1e-11)


@pytest.mark.parametrize("program", SMOOTH, ids=lambda f: f.__name__)
def test_derivatives_in_both_directions(program, rng):
    """Forward and reverse mode agree to rounding, and with differences."""
    k = kernel("(),()->()")(program)
    x, y = rng.uniform(0.1, 1, (2, 19))
    e, one = 1e-6, np.ones(19)
    for backend in ("numpy", "llvm"):
        value, along_x = jvp(k, wrt=(0, 1)).to(backend)(x, y, one, 0 * one)
        _, along_y = jvp(k, wrt=(0, 1)).to(backend)(x, y, 0 * one, one)
        again, by_x, by_y = vjp(k, wrt=(0, 1)).to(backend)(x, y, one)
        np.testing.assert_allclose(value, k(x, y), rtol=1e-12)
        np.testing.assert_allclose(again, value, rtol=1e-12)
        np.testing.assert_allclose(by_x, along_x, rtol=1e-10, atol=1e-10)
        np.testing.assert_allclose(by_y, along_y, rtol=1e-10, atol=1e-10)
    steady = np.abs(k(x + e, y) - k(x - e, y)) < 1e-3  # the number of iterations is the same on both sides
    differences = (k(x + e, y) - k(x - e, y)) / (2 * e)
    np.testing.assert_allclose(along_x[steady], differences[steady], rtol=1e-5, atol=1e-5)
    assert np.mean(steady) > 0.8


def test_the_number_of_iterations_is_what_costs():
    """A loop that ends early does no more work: a million iterations at most, of which three are needed."""
    k = kernel("()->()")(lambda x: while_loop(lambda c: c < 3, lambda c: c + 1, x, 10**6))
    np.testing.assert_array_equal(k(np.zeros(10_000)), 3.0)


def test_an_instance_does_not_depend_on_its_neighbours(rng):
    k = kernel("(),()->()")(nested)
    x, y = rng.uniform(-1, 1, (2, 41))
    together = k(x, y)
    np.testing.assert_array_equal(together, [k(a, b) for a, b in zip(x, y, strict=True)])
    np.testing.assert_array_equal(together, k(x[::-1], y[::-1])[::-1])


def test_not_a_number_ends_the_loop():
    k = kernel("()->()")(lambda x: while_loop(lambda c: c > 1, lambda c: 0.5 * c, x, 2000))
    for _, (got,) in every_backend(k, np.array([np.nan, 8.0, np.inf])):
        np.testing.assert_array_equal(got, [np.nan, 1.0, np.inf])


def test_jacobian_of_a_solved_equation(rng):
    """x = cos(a x) by Newton's method: the derivative of what the iteration finds is that of the solution."""

    def solve(a):
        step = lambda x: x - (x - np.cos(a * x)) / (1 + a * np.sin(a * x))  # noqa: E731
        return while_loop(lambda x: np.abs(x - np.cos(a * x)) > 1e-13, step, 0.8 + 0 * a, 50)

    k = kernel("()->()")(solve)
    a = rng.uniform(0.5, 1.5, 11)
    x = k(a)
    want = -x * np.sin(a * x) / (1 + a * np.sin(a * x))
    np.testing.assert_allclose(jacobian(k)(a), want, rtol=1e-7)


def test_outside_of_kernels_they_are_plain_python():
    assert while_loop(lambda c: len(c) < 3, lambda c: [*c, len(c)], [], 10) == [0, 1, 2]
    assert when(False, lambda c: 1 / 0, "same") == "same"
    assert when(np.True_, lambda c: c + 1, 1) == 2


@pytest.mark.parametrize("most", [-1, 2.5, np.nan])
def test_a_number_of_iterations_that_cannot_be(most):
    with pytest.raises(ValueError, match="whole number"):
        while_loop(lambda c: c < 1, lambda c: c, 0.0, most)


def test_conditions_are_one_truth_value():
    with pytest.raises(TraceError, match=r"shape \(3,\)"):
        kernel("(3)->(3)")(lambda x: when(x > 0, lambda c: 2 * c, x)).count()
    with pytest.raises(TraceError, match="shape"):
        kernel("(3)->(3)")(lambda x: while_loop(lambda c: c > 0, lambda c: 2 * c, x, 3)).count()


def test_a_count_that_was_spilled(rng):
    """The count of an inner loop comes from a loop whose carry is too large for registers."""

    def program(x, n):
        count = np.minimum(fori_loop(n.astype(int), lambda i, c: c + 1, np.array(0)), 8)
        mix = lambda x: np.stack([x[k] * 1.0001 + 0.1 * x[(k + 1) % 40] * x[(k + 7) % 40] for k in range(40)])  # noqa: E731
        for _ in range(20):
            x = mix(x)
        return fori_loop(3, lambda _, x: fori_loop(count, lambda i, y: 0.5 * y + 0.25 * np.roll(y, 1), mix(x)), x)

    agrees(program, "(40),()->(40)", 0.1 * rng.standard_normal((5, 40)), np.array([2.0, 0, 5, 9, 1]), rtol=1e-11)


def test_a_name_that_is_never_set():
    def make(flag):
        if flag:
            a = np.array([1.0, 2.0])
        return kernel("()->()")(lambda x: fori_loop(2, lambda i, y: y + a[i] if flag else y + 1, x))

    assert make(True)(1.0) == 4.0
    assert make(False)(1.0) == 3.0
