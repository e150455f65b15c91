"""Derivatives of whole programs: dynamics, branches, tables, loops with memory, calls."""

import numpy as np
import pytest
from fuse_laws import every_backend
from fuse_models import articulated_body, free_body, inverse_dynamics, random_chain, rk4

from poinsot.fuse import (
    Table,
    TraceError,
    fori_loop,
    gradient,
    hessian,
    jacobian,
    jvp,
    kernel,
    once,
    solve_spd,
    while_loop,
)
from poinsot.fuse.graph.verify import verify
from sparing import few

ARM = random_chain(7)


def complex_step(f, *args, wrt):
    """The Jacobian by complex steps: exact to rounding, with nothing to tune."""
    columns = []
    for j in range(args[wrt].size):
        moved = [a.astype(complex) for a in args]
        moved[wrt][j] += 1e-40j
        columns.append(np.imag(f(*moved)) / 1e-40)
    return np.stack(columns, axis=-1)


@pytest.mark.parametrize("wrt", few([0, 1, 2], {1}))
def test_articulated_body_algorithm(wrt, rng):
    f = lambda q, v, tau: articulated_body(ARM, q, v, tau)  # noqa: E731
    args = rng.uniform(-1, 1, (3, 4, 7))
    got = jacobian(kernel("(7),(7),(7)->(7)")(f), wrt=wrt)(*args)
    want = np.stack([complex_step(f, *point, wrt=wrt) for point in np.swapaxes(args, 0, 1)])
    np.testing.assert_allclose(got, want, rtol=1e-9, atol=1e-10 * np.abs(want).max())


def test_inverse_dynamics_give_the_mass_matrix(rng):
    """d tau / d qdd = M, symmetric and positive; and its inverse is d qdd / d tau."""
    q, v, a = rng.uniform(-1, 1, (3, 3, 4))
    links = random_chain(4, branching=0.5)
    M = jacobian(kernel("(4),(4),(4)->(4)")(lambda *x: inverse_dynamics(links, *x)), wrt=2)(q, v, a)
    W = jacobian(kernel("(4),(4),(4)->(4)")(lambda *x: articulated_body(links, *x)), wrt=2)(q, v, a)
    np.testing.assert_allclose(M, np.swapaxes(M, 1, 2), rtol=1e-11, atol=1e-12)
    assert (np.linalg.eigvalsh(M) > 0).all()
    np.testing.assert_allclose(M @ W, np.broadcast_to(np.eye(4), (3, 4, 4)), atol=1e-9)


def loop_captured(x):
    return fori_loop(4, lambda i, c: c * x[0] + np.sin(x[1] * c) + x[2] * i, x[1])


def loop_carries_arrays(x):
    A = np.outer(x, x) * 0.3
    return fori_loop(3, lambda i, v: A @ np.sin(v) + x * i, x).sum()


def loop_memory(x):
    def body(i, c):
        A, s = c
        A[i] = A[i - 1] * x[0] + s
        return A, s + A[i] * A[i - 2]

    A, s = fori_loop(3, body, (x * 1.0, x[1]))
    return s + A @ A


def loop_captured_memory(x):
    y = x * x
    return fori_loop(3, lambda i, c: c * y[i] + y[2 - i], x[0])


def loop_integers(x):
    def body(i, c):
        A, j, s = c
        A[j] = A[j] * 1.5 + s
        return A, (j * 2 + 1) % 3, s + A[i % 3]

    A, _, s = fori_loop(5, body, (x * 1.0, 1, x[1]))
    return s * A[0] + A @ A


def loop_conditions(x):
    def body(i, c):
        s, flag = c
        return np.where(flag, s * x[1], s + x[0]), s > x[2]

    return fori_loop(6, body, (x[0], x[0] > 100))[0]


def loop_in_a_loop(x):
    y = np.outer(x, x)
    inner = lambda i, c: fori_loop(2, lambda j, d: d * y[i, j] + y[j, i] * c, c + x[0])  # noqa: E731
    return fori_loop(3, inner, x[0])


def loop_once_and_zero_times(x):
    return (
        fori_loop(1, lambda i, c: c * x[0], x[1])
        + fori_loop(0, lambda i, c: c * x[2], x[2] ** 2)
        + fori_loop(-2, lambda i, c: 0 * c, x[1])
    )


def constant_tables(x):
    weights = np.array([0.3, -1.2, 0.8])
    return fori_loop(3, lambda i, c: np.tanh(c * weights[i] + x[i]), x[0])


def calls(x):
    f = once(lambda a, b: (a * np.sin(b) + x[2], a - b * b))
    a, b = f(x[0], x[1])
    a, b = f(b, a)
    return a + b * f(a, b)[0]


def calls_in_loops(x):
    f = once(lambda a, b: (a * np.sin(b) + x[2], a - b * b))

    def body(i, c):
        a, b = f(*c)
        return f(b, a * 0.1 + i)

    a, b = fori_loop(3, body, (x[0], x[1]))
    return a + b * f(a, b)[0]


def calls_that_capture_memory(x):
    def body(i, c):
        A, s = c
        f = once(lambda y: A[i] * y + s)
        A[i] = A[i] + f(x[0])
        return A, s + f(f(x[1]))

    A, s = fori_loop(3, body, (x * 0.5, x[0] * 0.1))
    return s + A @ A


def loops_in_calls(x):
    f = once(lambda a: fori_loop(3, lambda i, c: np.sin(c) * x[1] + a, a))
    return f(f(x[0])) * f(x[2])


def kernels_in_kernels(x):
    return INNER(INNER(x) + x).sum()


INNER = kernel("(3)->(3)")(lambda x: np.cross(x, np.sin(x) ** 2))


def runge_kutta(x):
    y = np.concatenate([np.array([1.0, 0.0, 0.0, 0.0]), x])
    end = fori_loop(5, lambda i, y: rk4(once(free_body), y, 0.1), y)
    return end @ np.arange(7.0)


def solves(x):
    A = np.outer(x, x) + np.diag([3.0, 4.0, 5.0])
    return np.linalg.solve(A, x).sum() + np.linalg.det(A) + np.linalg.inv(A).trace() + solve_spd(A, np.sin(x))[0]


def big_solves(x):
    A = np.block([[np.outer(x, x) + 5 * np.eye(3), np.diag(x)], [np.eye(3), np.diag(np.cos(x)) + 2]])
    return np.linalg.solve(A, np.concatenate([x, x**2])) @ np.arange(6.0) + np.linalg.cholesky(A[:3, :3])[2, 1]


GRID = np.linspace(0, 2, 6)
SURFACE = Table((GRID, GRID**1.3), np.sin(GRID)[:, None] * np.cos(GRID), "cubic")


def tables(x):
    return SURFACE(x[0], x[1]) * np.interp(x[2], GRID, GRID**2)


def branches(x):
    a = np.where(x[0] > 0.6, np.sqrt(x[0]), np.log(x[0]) * x[1])
    return np.maximum(a, x[2]) * np.abs(x[1] - 0.5) + np.clip(x[2], 0.2, 0.7) + np.minimum(a * x[0], 3.0)


PROGRAMS = [
    loop_captured, loop_carries_arrays, loop_memory, loop_captured_memory, loop_integers, loop_conditions,
    loop_in_a_loop, loop_once_and_zero_times, constant_tables, calls, calls_in_loops, calls_that_capture_memory,
    loops_in_calls, kernels_in_kernels, runge_kutta, solves, big_solves, tables, branches,
]  # fmt: skip


def differences(k, x, h=1e-3):
    """Central differences, twice extrapolated (Richardson): errors of the order of h^6."""
    columns = []
    for e in np.eye(x.shape[-1]):
        d = [(k(x + s * e) - k(x - s * e)) / (2 * s) for s in (h, h / 2, h / 4)]
        d = [(4 * d[1] - d[0]) / 3, (4 * d[2] - d[1]) / 3]
        columns.append((16 * d[1] - d[0]) / 15)
    return np.stack(columns, axis=-1)


POINTS = np.array([[0.31, 0.55, 0.73], [0.92, 0.21, 0.44], [0.68, 1.07, 0.13], [1.4, 0.9, 0.33], [0.5, 0.77, 0.61]])


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda f: f.__name__)
def test_gradients(program):
    """Forward and reverse, on both back ends."""
    k = kernel("(3)->()")(program)
    want = differences(k, POINTS)
    tolerance = {"rtol": 1e-8, "atol": 1e-9 * np.abs(want).max()}
    for _, (got,) in every_backend(gradient(k), POINTS):
        np.testing.assert_allclose(got, want, **tolerance)
    for j, e in enumerate(np.eye(3)):
        for _, (_, slope) in every_backend(jvp(k), POINTS, np.broadcast_to(e, POINTS.shape)):
            np.testing.assert_allclose(slope, want[:, j], **tolerance)


SMOOTH = [loop_captured, loop_memory, loop_in_a_loop, calls_in_loops, calls_that_capture_memory, solves, tables]


@pytest.mark.parametrize("program", SMOOTH, ids=lambda f: f.__name__)
def test_hessians(program):
    k = kernel("(3)->()")(program)
    H = hessian(k)
    verify(H.program().graph)
    got = H(POINTS)
    np.testing.assert_allclose(got, np.swapaxes(got, 1, 2), rtol=1e-9, atol=1e-10 * np.abs(got).max())
    g = gradient(k)
    want = np.stack([differences(kernel("(3)->()")(lambda x, j=j: g.function(x)[j]), POINTS) for j in range(3)], axis=1)
    np.testing.assert_allclose(got, want, rtol=1e-6, atol=1e-7 * np.abs(want).max())


def test_forward_through_run_time_counts(rng):
    k = kernel("(),()->()")(lambda x, n: fori_loop(n.astype(int), lambda i, c: c * x, 1.0))
    x, n = rng.uniform(0.5, 1.5, 17), np.arange(17.0) - 3
    want = np.where(n > 0, n * x ** (np.maximum(n, 1) - 1), 0)
    for _, (_, slope) in every_backend(jvp(k), x, n, np.ones(17)):
        np.testing.assert_allclose(slope, want, rtol=1e-13)
    np.testing.assert_allclose(jacobian(k)(x, n), want, rtol=1e-13)  # forward is the only way, so it is taken


def test_loops_of_which_too_much_would_be_kept():
    """A bound that is there for safety alone is no reason to take memory: forward differentiation takes none."""
    k = kernel("()->()")(lambda x: while_loop(lambda y: y > 1.0, lambda y: 0.5 * y, 3.0 * x, most=1_000_000_000))
    x = np.array([0.2, 1.0, 5.0])
    np.testing.assert_allclose(jacobian(k)(x), [3.0, 0.75, 0.1875], rtol=1e-15)
    with pytest.raises(TraceError, match="a loop of up to 1,000,000,000 iterations is differentiated in reverse"):
        gradient(k)(x)


def test_long_loops_in_reverse():
    """Every step is kept: thousands of steps must not run out of stack."""
    n = 20_000
    k = kernel("(13)->()")(lambda v: fori_loop(n, lambda i, c: c * (1 - 1e-5) + v * 1e-5, v).sum())
    np.testing.assert_allclose(gradient(k)(np.ones((9, 13))), 1, rtol=1e-10)
