"""Derivatives of every operation, forward and reverse, against high precision; and what must be refused."""

from dataclasses import dataclass

import mpmath
import numpy as np
import pytest
from fuse_laws import every_backend

from poinsot.fuse import TraceError, fori_loop, gradient, hessian, jacobian, jvp, kernel, vjp
from poinsot.fuse.derive.partials import PARTIALS
from poinsot.fuse.graph.ops import OPS
from poinsot.fuse.graph.verify import verify

# name: (function in NumPy, the same in mpmath, points)
WIDE, UNIT, POSITIVE = [-2.7, -0.4, 1e-3, 0.9, 3.3], [-0.97, -0.3, 1e-4, 0.5, 0.99], [1e-3, 0.4, 1.0, 2.5, 40.0]
UNARY = {
    "sqrt": (np.sqrt, mpmath.sqrt, POSITIVE), "cbrt": (np.cbrt, lambda x: mpmath.sign(x) * mpmath.cbrt(abs(x)), WIDE),
    "exp": (np.exp, mpmath.exp, WIDE), "exp2": (np.exp2, lambda x: mpmath.mpf(2) ** x, WIDE),
    "expm1": (np.expm1, mpmath.expm1, WIDE),
    "log": (np.log, mpmath.log, POSITIVE), "log2": (np.log2, lambda x: mpmath.log(x, 2), POSITIVE),
    "log10": (np.log10, mpmath.log10, POSITIVE), "log1p": (np.log1p, mpmath.log1p, [-0.9, *POSITIVE]),
    "sin": (np.sin, mpmath.sin, WIDE), "cos": (np.cos, mpmath.cos, WIDE), "tan": (np.tan, mpmath.tan, WIDE),
    "arcsin": (np.arcsin, mpmath.asin, UNIT), "arccos": (np.arccos, mpmath.acos, UNIT),
    "arctan": (np.arctan, mpmath.atan, WIDE),
    "sinh": (np.sinh, mpmath.sinh, WIDE), "cosh": (np.cosh, mpmath.cosh, WIDE), "tanh": (np.tanh, mpmath.tanh, WIDE),
    "arcsinh": (np.arcsinh, mpmath.asinh, WIDE), "arccosh": (np.arccosh, mpmath.acosh, [1.001, 1.5, 4.0, 90.0]),
    "arctanh": (np.arctanh, mpmath.atanh, UNIT), "abs": (np.abs, abs, WIDE), "neg": (np.negative, lambda x: -x, WIDE),
    "square": (np.square, lambda x: x * x, WIDE), "reciprocal": (np.reciprocal, lambda x: 1 / x, WIDE),
    "floor": (np.floor, mpmath.floor, WIDE), "rint": (np.rint, mpmath.nint, WIDE),
    "trunc": (np.trunc, lambda x: mpmath.mpf(int(x)), WIDE),
    "degrees": (np.degrees, mpmath.degrees, WIDE), "sign": (np.sign, mpmath.sign, WIDE),
}  # fmt: skip
PAIRS = [(-2.7, 0.6), (0.3, -1.9), (1.1, 2.2), (-0.4, -3.0), (5.0, 0.013)]
FIRST_POSITIVE = [(abs(a), b) for a, b in PAIRS]
BINARY = {
    "add": (np.add, lambda x, y: x + y, PAIRS), "sub": (np.subtract, lambda x, y: x - y, PAIRS),
    "mul": (np.multiply, lambda x, y: x * y, PAIRS), "div": (np.divide, lambda x, y: x / y, PAIRS),
    "minimum": (np.minimum, min, PAIRS), "maximum": (np.maximum, max, PAIRS),
    "arctan2": (np.arctan2, mpmath.atan2, PAIRS), "hypot": (np.hypot, mpmath.hypot, PAIRS),
    "power": (np.power, mpmath.power, FIRST_POSITIVE),
    "logaddexp": (np.logaddexp, lambda x, y: mpmath.log(mpmath.exp(x) + mpmath.exp(y)), PAIRS),
    "copysign": (np.copysign, lambda x, y: abs(x) * mpmath.sign(y), PAIRS),
    "mod": (np.mod, lambda x, y: x - y * mpmath.floor(x / y), PAIRS),
    "fmin": (np.fmin, min, PAIRS),
    "clip": (lambda x, y: np.clip(x, -1, y * y), lambda x, y: min(max(x, -1), y * y), PAIRS),
    "fma": (lambda x, y: x * y + x, lambda x, y: x * y + x, PAIRS),
}  # fmt: skip


def exact(function, point):
    """The gradient to 30 digits: central differences in high precision."""
    with mpmath.workdps(100):
        h = mpmath.mpf(10) ** -40
        x = [mpmath.mpf(float(c)) for c in point]
        shifted = lambda k, s: function(*(c + s * h * (j == k) for j, c in enumerate(x)))  # noqa: E731
        return [float((shifted(k, 1) - shifted(k, -1)) / (2 * h)) for k in range(len(x))]


@pytest.mark.parametrize("name", [*UNARY, *BINARY])
def test_operations(name):
    f, reference, points = (UNARY | BINARY)[name]
    points = np.array(points).reshape(len(points), -1)
    want = np.array([exact(reference, point) for point in points])
    arity = points.shape[1]
    k = kernel(f"({arity})->()")(lambda v: f(*(v[j] for j in range(arity))))
    forward = jvp(k)
    for _, (rows,) in every_backend(gradient(k), points):
        np.testing.assert_allclose(rows, want, rtol=1e-12, atol=1e-300)
    for j, direction in enumerate(np.eye(arity)):
        for _, (value, slope) in every_backend(forward, points, np.broadcast_to(direction, points.shape)):
            np.testing.assert_allclose(slope, want[:, j], rtol=1e-12, atol=1e-300)
            np.testing.assert_allclose(value, f(*points.T), rtol=1e-14, atol=1e-15)


def test_every_real_operation_is_covered():
    """An operation with a derivative is in the tables above; one without is constant almost everywhere, or held."""
    constant = set(
        "floor rint trunc less less_equal equal not_equal and or xor not truth to_int to_uint spacing".split()
    )
    whole = set(
        "floordiv modulo bit_and bit_or bit_xor shift_left shift_right shift_right_logical bits from_bits".split()
    )
    assert set(OPS) - set(PARTIALS) == constant | whole | {"where", "held"}
    assert set(PARTIALS) - {"to_float"} <= set(UNARY) | set(BINARY)


def test_hard_points():
    """Near the ends of domains no digits are lost to cancellation."""
    x = np.array([1 - 1e-12, -1 + 1e-12, 1 - 1e-15])
    for f, reference in ((np.arcsin, mpmath.asin), (np.arctanh, mpmath.atanh), (np.arccos, mpmath.acos)):
        want = [exact(reference, [p])[0] for p in x]
        np.testing.assert_allclose(gradient(kernel("()->()")(f))(x), want, rtol=1e-12)


@pytest.mark.parametrize(
    ("exponent", "at", "slope"),
    [
        (0, 0.0, 0),
        (1, 0.0, 1),
        (2, 0.0, 0),
        (3, -2.0, 12),
        (2, -3.0, -6),
        (-1, 2.0, -0.25),
        (0.5, 4.0, 0.25),
        (5, -1.0, 5),
        (2.5, 0.0, 0),
    ],
)
def test_constant_powers(exponent, at, slope):
    k = kernel("()->()")(lambda x: x**exponent)
    assert gradient(k)(at) == pytest.approx(slope, abs=1e-15)
    assert jvp(k)(at, 1.0)[1] == pytest.approx(slope, abs=1e-15)


def test_ties_are_shared():
    """Where both arguments of an extremum are equal, each gets half: the derivative along the diagonal is one."""
    for f in (np.minimum, np.maximum):
        k = kernel("(),()->()")(f)
        assert gradient(k, wrt=(0, 1))(2.0, 2.0) == (0.5, 0.5)
        assert jvp(k, wrt=(0, 1))(2.0, 2.0, 1.0, 1.0)[1] == 1


def maps():
    yield (
        "many outputs",
        "(2)->(5)",
        lambda v: np.stack([v[0] * v[1], np.sin(v[0]), v[1] ** 3, v[0] / v[1], np.exp(v[0])]),
    )
    yield "many inputs", "(5)->(2)", lambda v: np.stack([np.prod(v), np.sin(v) @ v])
    yield "matrix", "(2,2)->(2,2)", lambda A: A @ A + np.linalg.inv(A)
    yield "constant", "(3)->(2)", lambda v: np.array([1.0, 2.0])
    yield "linear", "(3)->(2)", lambda v: np.array([[1.0, 2.0, 0.0], [0.0, 1.0, 5.0]]) @ v
    yield "identity", "(3)->(3)", lambda v: v


@pytest.mark.parametrize(("name", "text", "function"), list(maps()), ids=lambda x: x if isinstance(x, str) else "")
def test_jacobian_jvp_and_vjp_are_one(name, text, function, rng):
    """J dx from jvp, w J from vjp, and J itself, against central differences."""
    k = kernel(text)(function)
    J, push, pull = jacobian(k), jvp(k), vjp(k)
    x = rng.uniform(0.5, 1.5, (6, *k.specialise(*[tuple(map(int, text[1 : text.index(")")].split(",")))]).inputs[0]))
    y = k(x)
    matrix = J(x).reshape(6, y[0].size, x[0].size)
    dx, w = rng.standard_normal(x.shape), rng.standard_normal(y.shape)
    value, dy = push(x, dx)
    np.testing.assert_allclose(value, y, rtol=1e-14)
    np.testing.assert_allclose(dy.reshape(6, -1), (matrix @ dx.reshape(6, -1, 1))[..., 0], rtol=1e-12, atol=1e-13)
    value, share = pull(x, w)
    np.testing.assert_allclose(value, y, rtol=1e-14)
    np.testing.assert_allclose(share.reshape(6, -1), (w.reshape(6, 1, -1) @ matrix)[:, 0], rtol=1e-12, atol=1e-13)
    h = 1e-6
    np.testing.assert_allclose(dy, (k(x + h * dx) - k(x - h * dx)) / (2 * h), rtol=1e-7, atol=1e-8)
    for derived in (J, push, pull):
        verify(derived.program().graph)


def test_several_arguments_and_outputs(rng):
    k = kernel("(3),(2)->(2),()")(lambda x, y: (x[:2] * y, x @ x))
    x, y, w, u = rng.random(3), rng.random(2), rng.random(2), rng.random()
    a_x, a_y, b_x, b_y = jacobian(k, wrt=(0, 1))(x, y)
    np.testing.assert_allclose(a_x, np.eye(2, 3) * y[:, None])
    np.testing.assert_allclose(a_y, np.diag(x[:2]))
    np.testing.assert_allclose(b_x, 2 * x)
    np.testing.assert_array_equal(b_y, 0)
    _, _, dx, dy = vjp(k, wrt=(0, 1))(x, y, w, u)
    np.testing.assert_allclose(dx, w @ a_x + u * b_x)
    np.testing.assert_allclose(dy, w @ a_y)
    assert jacobian(k, wrt=1)(x, y)[0].shape == (2, 2)
    assert [d.shape for d in jvp(k, wrt=1)(x, y, np.ones(2))] == [(2,), (), (2,), ()]


@dataclass
class Pose:
    R: np.ndarray
    p: np.ndarray


def moved(pose: Pose, x):
    return Pose(pose.R.T, pose.R @ x + pose.p)


def test_dataclasses(rng):
    """Arguments and outputs are numbered as in the signature."""
    k = kernel("(2,2),(2),(2)->(2,2),(2)")(moved)
    pose, x = Pose(rng.random((4, 2, 2)), rng.random((4, 2))), rng.random((4, 2))
    by_p, by_x = jacobian(k, wrt=(1, 2))(pose, x)[2:]
    np.testing.assert_array_equal(by_p, np.broadcast_to(np.eye(2), (4, 2, 2)))
    np.testing.assert_array_equal(by_x, pose.R)
    _, _, dR, dp = jvp(k, wrt=0)(pose, x, np.ones((4, 2, 2)))
    np.testing.assert_array_equal(dR, 1)
    np.testing.assert_allclose(dp, np.broadcast_to(x.sum(axis=-1, keepdims=True), (4, 2)))


def test_the_cheaper_direction_is_taken():
    """A Jacobian costs no more than the cheaper of one forward sweep a column and one reverse sweep a row."""
    wide = kernel("(40)->()")(lambda v: np.sin(v) @ np.roll(v, 1))
    tall = kernel("()->(40)")(lambda x: np.stack([np.sin(x * j) * x for j in range(1, 41)]))
    for k in (wide, tall):
        own, full = sum(k.count().values()), sum(jacobian(k).count().values())
        assert full < 5 * own, (own, full)


def test_hessians_are_symmetric(rng):
    k = kernel("(4)->()")(lambda v: np.exp(v[0] * v[1]) * np.sin(v[2]) / (1 + v[3] ** 2) + np.linalg.norm(v) ** 3)
    x = rng.uniform(0.5, 1, (5, 4))
    H = hessian(k)(x)
    np.testing.assert_allclose(H, np.swapaxes(H, 1, 2), rtol=1e-12)
    g, h = gradient(k), 1e-6
    for j, e in enumerate(np.eye(4)):
        np.testing.assert_allclose(H[:, j], (g(x + h * e) - g(x - h * e)) / (2 * h), rtol=1e-6, atol=1e-8)


def test_derivatives_of_plain_functions_inside_of_kernels(rng):
    def newton(a):
        f = lambda x: np.stack([x[0] * x[1] - a, x[1] ** 2 - 2])  # noqa: E731
        return fori_loop(20, lambda i, x: x - np.linalg.solve(jacobian(f)(x), f(x)), np.ones(2))

    a = rng.uniform(1, 2, 5)
    np.testing.assert_allclose(kernel("()->(2)")(newton)(a)[:, 0], a / np.sqrt(2), rtol=1e-14)
    third = kernel("()->()")(lambda x: gradient(gradient(gradient(lambda y: np.sin(y) * y)))(x))
    np.testing.assert_allclose(third(a), -3 * np.sin(a) - a * np.cos(a), rtol=1e-12)


REFUSED = {
    "gradient of a vector": (ValueError, "use pt.jacobian", lambda: gradient(kernel("(3)->(3)")(np.sin))(np.ones(3))),
    "gradient of two": (ValueError, "not one scalar", lambda: gradient(kernel("()->(),()")(lambda x: (x, x)))(1.0)),
    "called on plain arrays": (TypeError, "inside a kernel", lambda: gradient(np.sin)(1.0)),
    "vjp of a plain function": (TypeError, "pt.kernel", lambda: vjp(np.sin)(1.0, 1.0)),
    "reverse through a run-time count": (
        TraceError, r"count is only known at run time.*\n.*Fix: .*fixed count",
        lambda: gradient(kernel("(),()->()")(lambda x, n: fori_loop(n.astype(int), lambda i, c: c * x, x)))(1.0, 2.0)),
}  # fmt: skip


@pytest.mark.parametrize("name", REFUSED)
def test_refused(name):
    error, words, act = REFUSED[name]
    with pytest.raises(error, match=words):
        act()
