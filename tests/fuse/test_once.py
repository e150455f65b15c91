"""Functions that are compiled once and called, and kernels inside of kernels."""

import pickle

import numpy as np
import pytest
from fuse_laws import agrees, every_backend
from fuse_models import free_body, rk4

from poinsot.fuse import TraceError, fori_loop, jvp, kernel, once
from poinsot.fuse.trace.control import zeros


def operations(function, text):
    return kernel(text)(function).count()


def test_code_does_not_multiply():
    """Four stages of Runge-Kutta cost one derivative and the sums; ten steps of it cost one step and ten calls."""
    inline = operations(lambda y, h: rk4(free_body, y, h), "(7),()->(7)")
    single = operations(free_body, "(7)->(7)")
    called = operations(lambda y, h: rk4(once(free_body), y, h), "(7),()->(7)")
    assert called["call"] == 4
    assert inline["mul"] - called["mul"] == 3 * single["mul"]

    def ten(y, h):
        derivative = once(free_body)
        step = once(lambda y: rk4(derivative, y, h))
        for _ in range(10):
            y = step(y)
        return y

    nested = operations(ten, "(7),()->(7)")
    assert nested["call"] == 4 + 10
    assert nested["mul"] == called["mul"]


def two_results(x, y):
    f = once(lambda a, b: (a * b, a - b))
    p, q = f(x, y)
    return sum(f(p, q)) + f(y, 2.0)[1]


def arrays_of_several_shapes(x, y):
    f = once(lambda a: (a * a).sum() + x)
    return f(np.stack([x, y])) + f(np.stack([x, y, x])) * f(y)


def captured_values(x, y):
    z = np.sin(x)
    f = once(lambda a: a * z + y)
    return f(f(x)) - f(2.0)


def captured_arrays(x, y):
    v = np.stack([x, y, x * y])
    f = once(lambda a: v @ v * a - v[1])
    return f(f(y))


def nested_functions(x, y):
    inner = once(lambda a: a * a - y)
    outer = once(lambda a: inner(inner(a)) + inner(x) * y)
    return outer(outer(x)) - inner(y)


def inside_of_a_loop(x, y):
    f = once(lambda a, i: 0.5 * a * y + i)
    return fori_loop(4, lambda i, c: f(f(c, i), 2 * i), x) + f(x, 3)


def a_loop_inside(x, y):
    f = once(lambda a: fori_loop(3, lambda i, c: 0.5 * c + a * i, y))
    return f(f(x)) + fori_loop(2, lambda i, c: f(c), x)


def run_time_loop_inside(x, y):
    f = once(lambda a, n: fori_loop(n, lambda i, c: 0.5 * c + a, y))
    n = np.floor(np.abs(4 * x)).astype(int)
    return f(x, n) + f(y, n + 1) + fori_loop(n, lambda i, c: f(c, i), x)


def captures_the_carry_of_a_loop(x, y):
    def body(i, c):
        a, v = c
        f = once(lambda b: v[i] * b + a)
        v[i + 1] = f(f(y))
        return f(a) * 0.5, v

    a, v = fori_loop(2, body, (x, np.stack([x, y, x * y])))
    return a + v.sum()


def hands_on_what_it_got(x, y):
    f = once(lambda a: (a, y, 3.0, a * 0))
    a, b = f(x), f(y)
    return a[0] + 10 * a[1] + a[2] + 100 * b[0] + b[3]


def structures(x, y):
    """The same shapes in another order of keys are another function."""
    f = once(lambda d: d["a"] - 2 * d["b"])
    return f({"a": x, "b": y}) + 10 * f({"b": x, "a": y})


def conditions_and_integers(x, y):
    f = once(lambda a, flag, n: (np.where(flag, a, -a) * n, n + 1, ~flag))
    a, n, flag = f(x, x > y, 2)
    return f(a, flag, n)[0]


PROGRAMS = [
    two_results, arrays_of_several_shapes, captured_values, captured_arrays, nested_functions, inside_of_a_loop,
    a_loop_inside, run_time_loop_inside, captures_the_carry_of_a_loop, hands_on_what_it_got, structures,
    conditions_and_integers,
]  # fmt: skip


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda f: f.__name__)
def test_meaning_is_unchanged(program, rng):
    agrees(program, "(),()->()", *rng.uniform(-1, 1, (2, 19)), rtol=1e-12)


def test_outside_of_kernels_it_is_the_function():
    f = once(lambda a, b=2: a * b)
    assert f(3) == 6
    assert f.__name__ == "<lambda>"


SQUARE = kernel("()->()")(lambda x: x * x)
CROSS = kernel("(3),(3)->(3),()")(lambda a, b: (np.cross(a, b), a @ b))


def test_kernels_inside_of_kernels(rng):
    def f(a, b):
        c, s = CROSS(a, b)
        d, t = CROSS(c, b)
        return d * SQUARE(t) + SQUARE(s), s

    a, b = rng.standard_normal((2, 9, 3))
    c, s = np.cross(a, b), (a * b).sum(axis=1)
    d, t = np.cross(c, b), (c * b).sum(axis=1)
    k = kernel("(3),(3)->(3),()")(f)
    for _, (first, second) in every_backend(k, a, b):
        np.testing.assert_allclose(first, d * (t * t)[:, None] + (s * s)[:, None], rtol=1e-11, atol=1e-12)
        np.testing.assert_allclose(second, s, rtol=1e-13)
    assert k.count()["call"] == 4


def test_kernels_on_constants_inside_of_kernels():
    three = np.full(3, 3.0)
    for inner in (CROSS, CROSS.to("numpy")):
        k = kernel("(3)->()")(lambda v, inner=inner: v @ v + inner(three, three)[1])
        assert k(np.ones(3)) == 30


def test_kernels_inside_check_their_shapes():
    with pytest.raises(ValueError, match="should be 3"):
        kernel("(4)->()")(lambda v: CROSS(v, v)[1])(np.ones(4))
    with pytest.raises(TraceError, match="batch"):
        kernel("(2,3)->(2)")(lambda v: CROSS(v, v)[1])(np.ones((2, 3)))


def test_one_body_of_code_serves_loops_and_what_is_around_them(rng):
    """The stages of a step, and its repetitions in loops, are one function; what it uses from outside comes along."""

    def stepped(x, k):
        f = once(lambda y: np.sin(k * y) + y)

        def inner(i, y):
            return f(fori_loop(2, lambda j, z: f(z), y))

        return f(fori_loop(3, inner, f(x)))

    compiled = kernel("(2),()->(2)")(stepped)
    callees = [graph for graph in compiled.program().graph.subgraphs() if graph.name == "<lambda>"]
    assert len(callees) == 1
    assert compiled.count()["sin"] == 2  # of two elements
    x, k = rng.normal(size=(5, 2)), rng.normal(size=5)
    expected = np.stack([stepped(*one) for one in zip(x, k, strict=True)])
    np.testing.assert_allclose(compiled(x, k), expected, rtol=1e-13)
    np.testing.assert_allclose(compiled.to("numpy")(x, k), expected, rtol=1e-13)
    slope = jvp(compiled, wrt=(0, 1))(x, k, np.ones((5, 2)), np.ones(5))[1]
    step = 1e-6
    difference = (compiled(x + step, k + step) - compiled(x - step, k - step)) / (2 * step)
    np.testing.assert_allclose(slope, difference, rtol=1e-6, atol=1e-7)
    again = pickle.loads(pickle.dumps(compiled))
    assert np.array_equal(again(x, k), compiled(x, k))


def test_what_a_loop_carries_is_not_taken_along_to_another(rng):
    """A function that uses what changes in a loop is another function in each."""

    def two_loops(x):
        def first(i, y):
            return once(lambda z: z * y)(y) + 1

        y = fori_loop(2, first, x)
        outer = once(lambda z: z + y)

        def second(i, z):
            held = once(lambda u: u * z)
            return fori_loop(2, lambda j, u: held(outer(u)), z)

        return fori_loop(2, second, outer(y)) + outer(x)

    x = rng.uniform(0.1, 0.3, size=7)
    expected = [two_loops(value) for value in x]
    np.testing.assert_allclose(kernel("()->()")(two_loops)(x), expected, rtol=1e-13)


def test_which_results_are_zero_whatever_the_arguments():
    known = []

    def rates(x, n):
        return {"moves": np.stack([x[0] * x[1], 0.0 * x[0], np.sin(x[1])]), "rests": np.zeros(2) * n}

    def program(x):
        function = once(rates)
        known.append(zeros(function, x, 2.0))
        return function(x, 2.0)["moves"]

    kernel("(2)->(3)")(program).program()
    assert known[0]["moves"].tolist() == [False, True, False]
    assert known[0]["rests"].tolist() == [True, True]
