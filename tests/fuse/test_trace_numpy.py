"""Plain NumPy traces unchanged: every line below means in a kernel what it means outside."""

import numpy as np
import pytest
from fuse_laws import agrees, random_arguments

import poinsot as pt
from poinsot.fuse import kernel

SCALAR = {  # functions of two scalars
    "arithmetic": lambda x, y: (2 * x - y) / (1 + y * y) + x**2 - -y + (+x),
    "powers": lambda x, y: x**3 + np.abs(y) ** 0.5 + np.abs(x) ** y + 2.0**y + x**-2 + x**0 + np.power(x, 4),
    "float power": lambda x, y: np.float_power(np.abs(x), 1.7) + np.square(x) + np.reciprocal(y),
    "comparisons": lambda x, y: np.where(x < y, 1, 2) + np.where(x >= y, 4, 8) + (x > 0) * 16 + (x != y) * 32,
    "equal": lambda x, y: np.where(x == x, x, 0) + np.where(x <= x, 1.0, y),
    "logic": lambda x, y: np.where((x > 0) & ~(y > 0) | (x > 1), x, y) + np.where((x > 0) ^ (y > 0), 10, 20),
    "logical": lambda x, y: np.where(np.logical_and(x > 0, np.logical_not(y > 0)) | np.logical_xor(x > 1, y > 1), x, y),
    "extrema": lambda x, y: np.minimum(x, y) - 3 * np.maximum(x, -y) + np.fmin(x, 0.1) - np.fmax(y, 0.2),
    "clip": lambda x, y: np.clip(x, -0.5, 0.5) + np.clip(y, None, 0.3) + np.clip(x, y, 2.0) + np.clip(y, min=0.1),
    "signs": lambda x, y: np.sign(x) + 10 * np.sign(x * 0) + np.abs(y) + np.copysign(y, x) + 7 * np.signbit(x),
    "rounding": lambda x, y: np.floor(3 * x) + 10 * np.ceil(3 * y) + 100 * np.trunc(3 * x) + 1000 * np.rint(3 * y),
    "modulo": lambda x, y: np.mod(5 * x, 0.7) + x % -0.6 + np.fmod(5 * x, y) + 5 * x // y + np.remainder(-x, 2),
    "whole modulo": lambda x, y: (np.floor(9 * x).astype(int) % 4) + 10 * (np.floor(9 * y).astype(int) // -3),
    "shifts": lambda x, y: (np.floor(9 * x).astype(int) << 2) + (np.floor(9 * y).astype(int) >> 1),
    "bits": lambda x, y: (np.floor(99 * x).astype(int) & 12) + ((np.floor(99 * y).astype(int) | 5) ^ 3),
    "roots": lambda x, y: np.sqrt(np.abs(x)) + np.cbrt(y) + np.hypot(x, y),
    "exponentials": lambda x, y: np.exp(x) + np.exp2(y) + np.expm1(x) + np.sinh(y) + np.cosh(x) + np.tanh(y),
    "logarithms": lambda x, y: (lambda a: np.log(a) + np.log2(a) + np.log10(a) + np.log1p(a))(x * x + 0.1),
    "sums of exponentials": lambda x, y: np.logaddexp(x, y) + np.logaddexp(300 * x, y) + np.logaddexp(x, x),
    "circles": lambda x, y: np.sin(x) + np.cos(y) + np.tan(x),
    "arcs": lambda x, y: np.arcsin(np.tanh(x)) + np.arccos(np.tanh(y)) + np.arctan(x) + np.arctan2(y, x),
    "hyperbolic arcs": lambda x, y: np.arcsinh(x) + np.arccosh(1 + y * y) + np.arctanh(np.tanh(x)),
    "angles": lambda x, y: np.deg2rad(x) + np.degrees(y) + np.radians(y) + np.rad2deg(x),
    "heaviside": lambda x, y: np.heaviside(x, 0.5) + np.heaviside(y * 0, 0.25),
    "special values": lambda x, y: (
        np.isnan(x) + 2 * np.isfinite(y) + 4 * np.isinf(x) + 8 * np.isfinite(x / (x * 0 + 1))
    ),
    "select": lambda x, y: np.select([x > 1, x > 0, y > 0], [x, 2 * x, 3 * y], -1.0),
    "types": lambda x, y: x.astype(int) + (3 * y).astype(int) / 2 + (x > 0).astype(float) + (x * 0).astype(bool),
    "python builtins": lambda x, y: abs(x) + pow(y, 2) + sum([x, y, 1]),
}


@pytest.mark.parametrize("name", SCALAR)
def test_scalar_functions(name, rng):
    agrees(SCALAR[name], "(),()->()", *random_arguments("(),()->()", rng, (23,)))


ARRAY = {  # functions of a vector v (3) and a matrix A (3,3)
    "matmul": ("(3)", lambda v, A: A @ v + v @ A + np.dot(A, v) + A.dot(v) + np.matmul(A.T, v)),
    "products": ("()", lambda v, A: v @ v + np.inner(v, v) + np.vdot(v, A[0]) + np.tensordot(A, A, 2)),
    "cross": ("(3)", lambda v, A: np.cross(v, A[0]) + np.cross(A[1], v)),
    "cross of stacks": ("(3,3)", lambda v, A: np.cross(A, v)),
    "outer": ("(3,3)", lambda v, A: np.outer(v, A[0]) + v[:, None] * v[None, :] + np.multiply.outer(v, v)),
    "einsum": ("(3)", lambda v, A: np.einsum("ij,j->i", A, v) + np.einsum("ij,jk,k", A, A, v) + np.einsum("ii->i", A)),
    "reductions": ("()", lambda v, A: np.trace(A) + np.sum(A) + np.prod(v) + A.mean() + v.sum() + A.max() - A.min()),
    "axes": (
        "(3)",
        lambda v, A: A.sum(axis=0) + np.sum(A, axis=-1) + np.prod(A, 1) + np.max(A, axis=0) + A.min(axis=1),
    ),
    "keepdims": ("(3,3)", lambda v, A: A - A.sum(axis=0, keepdims=True) / np.max(np.abs(A), axis=1, keepdims=True)),
    "sum of conditions": ("()", lambda v, A: np.sum(A > 0) + np.mean(v > 0)),
    "any, all": ("()", lambda v, A: np.where(np.any(A > 1), 1, 0) + 2 * (v > -1).all() + 4 * np.all(A > -9)),
    "cumulative": ("(3)", lambda v, A: np.cumsum(v) + np.cumprod(v) + np.add.accumulate(v) + np.add.reduce(A)),
    "stack": ("(2,3)", lambda v, A: np.stack([v, 2 * v]) + np.vstack([A[0], v]) + np.stack([v, v], axis=-1).T),
    "concatenate": ("(8)", lambda v, A: np.concatenate([v, A[0, :2], np.hstack([A[1], v])])[:8]),
    "block": ("(6,6)", lambda v, A: np.block([[A, np.zeros((3, 3))], [np.eye(3), A.T]])),
    "diag": ("(3,3)", lambda v, A: np.diag(v) + np.diag(np.diag(A)) + np.eye(3) + np.identity(3) + np.triu(A)),
    "reshape": ("(9)", lambda v, A: A.reshape(9) + A.ravel() + A.T.reshape(-1) + np.reshape(A, 9) + A.flatten()),
    "axes moved": ("(3,3)", lambda v, A: A.T + A.transpose() + np.transpose(A) + np.swapaxes(A, 0, 1) + A.mT),
    "repeat": ("(6)", lambda v, A: np.tile(v, 2) + np.repeat(v, 2) + np.roll(np.concatenate([v, v]), 1)),
    "broadcast": ("(3,3)", lambda v, A: np.broadcast_to(v, (3, 3)) * A + v + A[:, :1]),
    "made of scalars": ("(3,3)", lambda v, A: np.array([[0, -v[2], v[1]], [v[2], 0, -v[0]], [-v[1], v[0], 0.0]])),
    "made of rows": ("(2,3)", lambda v, A: np.array([v, A[1]]) + np.array([[1.0, 2, 3], v]) + np.asarray([v, v])),
    "filled": ("(2,2)", lambda v, A: np.full((2, 2), v[0]) + np.ones((2, 2)) + np.zeros_like(A)[:2, :2]),
    "like": ("(3)", lambda v, A: np.ones_like(v) + np.full_like(v, 3.0) + v.copy() + np.copy(v) + np.empty_like(v) * 0),
    "small loops": ("(3)", lambda v, A: sum(A[i] * x for i, x in enumerate(v)) + np.stack([x * x for x in v])),
    "kron": ("(9)", lambda v, A: np.kron(v, v)),
    "polynomials": ("(3)", lambda v, A: np.polyval([1.0, 2.0, 3.0], v) + np.diff(np.append(v, 1.0))),
    "statistics": ("()", lambda v, A: np.var(v) + np.mean(A) + np.average(v)),
    "ufunc out": ("(3)", lambda v, A: np.add(v, 1.0, out=np.zeros(3)) + np.multiply(v, v, out=A.copy()[0])),
    "where out": ("(3)", lambda v, A: np.add(v, 1.0, out=np.zeros(3), where=A[0] > 0)),
    "shape": ("()", lambda v, A: v[0] * len(A) + A.ndim + A.size + A.shape[1] + np.shape(A)[0] + np.ndim(v)),
    "constant algebra": ("(3)", lambda v, A: np.linalg.inv(np.diag([1.0, 2, 4])) @ v + np.linspace(0, 1, 3) * v),
}


@pytest.mark.parametrize("name", ARRAY)
def test_array_functions(name, rng):
    shape, function = ARRAY[name]
    text = f"(3),(3,3)->{shape}"
    agrees(function, text, *random_arguments(text, rng))


@pytest.mark.parametrize("values", [(np.nan, 1.0), (1.0, np.nan), (np.inf, -np.inf), (0.0, -0.0), (-np.inf, np.nan)])
def test_special_numbers(values):
    def f(x, y):
        chosen = np.stack([np.minimum(x, y), np.maximum(x, y), np.fmin(x, y), np.fmax(x, y), np.sign(x), np.abs(y)])
        tests = [x < y, x <= y, x == y, x != y, np.isnan(x), np.isinf(y), np.isfinite(x), np.signbit(x), np.signbit(y)]
        return np.concatenate([chosen, np.heaviside(x, y)[None], np.stack([np.where(t, 1.0, 0.0) for t in tests])])

    agrees(f, "(),()->(16)", *(np.array([v]) for v in values))


def test_constants_around_the_function_are_folded():
    matrix, n = np.diag([1.0, 2.0, 3.0]), 3
    k = agrees(lambda v: (matrix @ matrix)[:n, :n] @ v + np.sin(0.0), "(3)->(3)", np.ones((2, 3)))
    assert k.count() == {"mul": 2}


def test_known_values_are_numbers(rng):
    def f(v):
        table = np.zeros(3)
        table[1] = 2.0
        if table[1] > 1 and float(table[0]) == 0:  # no traced value is involved
            v = v * table[int(np.array([1.0, 0])[0])]
        return v

    agrees(f, "(3)->(3)", rng.standard_normal((4, 3)))


@pytest.mark.parametrize("c", [np.inf, -np.inf, np.nan, 2.0, 3.0, 1e308, 2.0**1023, 1e-310, 5e-324])
def test_division_by_a_constant(c):
    """Only where the reciprocal is exact does it become a product."""
    x = np.array([1.5, -2.0, np.inf, 0.0, 1e300, np.nan])
    divide = kernel("()->()")(lambda x: x / c)
    with np.errstate(all="ignore"):
        np.testing.assert_array_equal(divide(x), x / c)


def test_random_numbers_can_be_drawn_while_tracing():
    def function(x):
        rng = np.random.default_rng(0)
        return x + rng.uniform(-1, 1, 3) + rng.standard_normal((2, 3))[0] + np.random.RandomState(1).rand(3)

    x = np.linspace(0, 1, 12).reshape(4, 3)
    np.testing.assert_allclose(pt.kernel("(3)->(3)")(function)(x), np.stack([function(row) for row in x]), rtol=1e-15)
    assert np.random.default_rng(0).uniform(size=2).dtype == np.float64


def test_a_mechanism_of_plain_numbers_can_be_built_while_tracing():
    def function(q, v):
        rod = pt.Inertia.box(1.0, (0.1, 0.1, 1.0))
        links = [pt.Link("a", rod, joint=pt.revolute((1, 0, 0))), pt.Link("b", rod, "a", pt.spherical())]
        return pt.forward_dynamics(pt.Mechanism(links), q, v, np.zeros(4))

    q, v = np.array([0.3, 0.5, 0.5, 0.5, 0.5]), np.array([0.1, 0.2, 0.3, 0.4])
    np.testing.assert_allclose(pt.kernel("(5),(4)->(4)")(function)(q, v), function(q, v), rtol=1e-12, atol=1e-12)
