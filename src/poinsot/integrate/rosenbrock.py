"""Rosenbrock methods: for stiff equations, implicit by the Jacobian of the right-hand side alone, without iterations.

In the form without products by the Jacobian (Hairer and Wanner II, (IV.7.25)), multiplied by h gamma:

    (1 - h gamma f_y) u_i = h gamma f(t + alpha_i h, y + sum_j a_ij u_j) + gamma sum_j c_ij u_j + h^2 gamma gamma_i f_t
    y1 = y + sum_j m_j u_j,    error = sum_j e_j u_j.

Everything is plain NumPy for one instance that can be traced; the Jacobian is exact.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np

from poinsot._types import Array, Scalar
from poinsot.fuse import fori_loop, is_traced, jacobian, jvp, once
from poinsot.fuse.trace.pytree import flatten
from poinsot.integrate.embedded import Attempt, flat
from poinsot.integrate.schemes import Derivative

WRITTEN_OUT = 12  # unknowns, up to which the matrix is written out: zeros of the Jacobian then cost nothing
Rate: TypeAlias = Callable[[Any, Any], Any]  # (t, x (m,)) -> x' (m,)
Rows: TypeAlias = tuple[tuple[float, ...], ...]


@dataclass(frozen=True)
class Rosenbrock:
    """A method of s stages: a, c (s rows of those before), alpha and gammas (s), the weights m and e (s) of the result
    and of its error. `power`: the error grows with the step to this power. Dense output: the weights of the third and
    fourth of its terms."""

    order: int
    power: int
    gamma: float
    a: Rows
    c: Rows
    alpha: tuple[float, ...]
    gammas: tuple[float, ...]
    m: tuple[float, ...]
    e: tuple[float, ...]
    dense: tuple[tuple[float, ...], ...] = ()

    @property
    def terms(self) -> int:
        return 2 + len(self.dense)

    def step(self, f: Derivative, t: Scalar, y: Any, h: Scalar, quadratures: int = 0) -> tuple[Any, list[Any]]:
        """y at t + h, and the estimate of its error.

        quadratures: how many numbers at the end of y no rate depends on: they need no equations to be solved.
        """
        tried = self.attempt(f, t, y, h, quadratures)
        return tried.new, tried.errors

    def attempt(self, f: Derivative, t: Scalar, y: Any, h: Scalar, quadratures: int = 0) -> Attempt:
        """The same with dense output, of order 3 for RODAS."""
        leaves, rebuild = flatten(y)
        shapes = [np.shape(leaf) for leaf in leaves]
        ends = np.cumsum([int(np.prod(shape)) for shape in shapes])
        n = int(ends[-1]) - quadratures

        def nested(x: Any) -> Any:
            return rebuild([np.reshape(p, s) for p, s in zip(np.split(x, ends[:-1]), shapes, strict=True)])

        def rate(t: Any, x: Any) -> Any:
            return flat(f(t, nested(x)))

        x, share = flat(y), h * self.gamma
        f_t = jvp(rate)(t + np.zeros(()), x, np.ones(()))[1]
        solve = solver(rate, t, x, n, share)
        u: list[Any] = []
        for i in range(len(self.m)):
            right = share * rate(t + self.alpha[i] * h, _sum(x, self.a[i], u)) + h * share * self.gammas[i] * f_t
            u.append(solve(_sum(right, [self.gamma * c for c in self.c[i]], u)))
        new = _sum(x, self.m, u)

        def terms() -> list[Any]:
            return [y, nested(new - x), *(nested(_sum(0.0 * x, row, u)) for row in self.dense)]

        return Attempt(nested(new), [nested(_sum(0.0 * x, self.e, u))], terms)

    def norm(self, estimates: Sequence[Array], h: Scalar) -> Array:
        """The root of the mean square of the estimate, relative to what is tolerated."""
        (error,) = estimates
        return np.sqrt(np.mean(error * error))


def _sum(x: Any, weights: Sequence[float], u: Sequence[Any]) -> Any:
    for weight, ui in zip(weights, u, strict=False):
        x = x + weight * ui if weight else x
    return x


def solver(rate: Rate, t: Scalar, x: Any, n: int, share: Scalar) -> Callable[[Any], Any]:
    """The function b (m,) -> u (m,) that solves (1 - share f_x) u = b, where no rate depends on numbers from n on."""
    if n > WRITTEN_OUT and (moved := moved_by(rate, t, x, n)):
        return _by_velocities(rate, t, x, n, share, moved)
    J = derivatives(rate, t, x, n)
    inner = factorized(-share * J[:n])

    def solve(b: Any) -> Any:
        u = inner(b[:n])
        return np.concatenate([u, b[n:] + share * (J[n:] @ u)])

    return solve


def derivatives(rate: Rate, t: Scalar, x: Any, n: int) -> Any:
    """The derivatives of the rate (m,) by the first n numbers of x, (m, n)."""
    if n <= WRITTEN_OUT:
        return jacobian(lambda inner: rate(t, np.concatenate([inner, x[n:]])))(x[:n])

    def column(k: Any, columns: Any) -> Any:
        along = np.where(np.arange(len(x)) == k, 1.0, 0.0)
        columns[k] = jvp(rate, 1)(t + np.zeros(()), x, along)[1]
        return columns

    return fori_loop(n, column, np.zeros((n, len(x)))).T


def moved_by(rate: Rate, t: Scalar, x: Any, n: int) -> dict[int, int]:
    """Which of the first n numbers are coordinates: their rates are numbers of x themselves, each of another one, which
    is not a coordinate. Found while tracing; by plain numbers none."""
    if not is_traced(x):
        return {}
    places = {id(value): k for k, value in enumerate(x.data[:n])}
    found: dict[int, int] = {}
    for i, value in enumerate(rate(t + np.zeros(()), x).data[:n]):
        j = places.get(id(value), i)
        if j != i and j not in found and i not in found.values() and j not in found.values():
            found[i] = j
    return found


def _by_velocities(
    rate: Rate, t: Scalar, x: Any, n: int, share: Scalar, moved: Mapping[int, int]
) -> Callable[[Any], Any]:
    """The same where coordinates q move by q' = v: with q = b_q + share v, for the other numbers alone, as in

    (1 - share f_v - share^2 f_q) v = b_v + share f_q b_q,

    which takes half the columns of the Jacobian, and for matrices an eighth of the work.
    """
    kept, coordinate = [k for k in range(n) if k not in moved], {j: i for i, j in moved.items()}
    places, rows = np.arange(len(x)), np.array(kept)
    beside = np.array([coordinate.get(k, -1) for k in kept])

    def along(d: Any) -> Any:
        return jvp(rate, 1)(t + np.zeros(()), x, d)[1]

    def column(k: Any, columns: tuple[Any, Any]) -> tuple[Any, Any]:
        d = along(np.where(places == rows[k], 1.0, np.where(places == beside[k], share, 0.0)))
        columns[0][k], columns[1][k] = d[np.array(kept)], d[n:]
        return columns

    start = np.zeros((len(kept), len(kept))), np.zeros((len(kept), len(x) - n))
    matrix, tail = fori_loop(len(kept), column, start)
    inner, known = factorized(-share * matrix.T), once(along)

    def solve(b: Any) -> Any:
        g = known(np.stack([b[k] if k in moved else 0.0 * b[k] for k in range(len(x))]))
        v = inner(b[rows] + share * g[rows])
        u = dict(zip(kept, v, strict=True))
        u |= {i: b[i] + share * u[j] for i, j in moved.items()}
        return np.concatenate([np.stack([u[k] for k in range(n)]), b[n:] + share * (v @ tail + g[n:])])

    return solve


def factorized(B: Any) -> Callable[[Any], Any]:
    """The function that solves (1 + B) x = b.

    By elimination without pivots: with coordinates before velocities, what is divided by is the inertia and h times
    the damping and h^2 times the stiffness, which are positive. Where they are not, the error of the step tells.
    """
    return _written_out(B) if len(B) <= WRITTEN_OUT else _in_memory(B)


def _written_out(B: Any) -> Callable[[Any], Any]:
    n = len(B)
    U, L, inverse = [list(row) for row in B + np.eye(n)], np.zeros((n, n), object).tolist(), [1.0] * n
    for k in range(n):
        inverse[k] = 1 / U[k][k]
        for i in range(k + 1, n):
            L[i][k] = U[i][k] * inverse[k]
            for j in range(k + 1, n):
                U[i][j] = U[i][j] - L[i][k] * U[k][j]

    def solve(b: Any) -> Any:
        x = [b[i] for i in range(n)]
        for i in range(n):
            for k in range(i):
                x[i] = x[i] - L[i][k] * x[k]
        for i in reversed(range(n)):
            for k in range(i + 1, n):
                x[i] = x[i] - U[i][k] * x[k]
            x[i] = x[i] * inverse[i]
        return np.stack(x)

    return solve


def _in_memory(B: Any) -> Callable[[Any], Any]:
    """The same by loops over rows, for matrices whose code would be long. L stands below the diagonal."""
    n = len(B)
    places = np.arange(n)

    def eliminate(k: Any, A: Any) -> Any:
        pivot = A[k]
        inverse = 1 / pivot[k]

        def lower(j: Any, A: Any) -> Any:
            row = A[k + 1 + j]
            factor = row[k] * inverse
            A[k + 1 + j] = np.where(places == k, factor, np.where(places > k, row - factor * pivot, row))
            return A

        return fori_loop(n - 1 - k, lower, A)

    LU = fori_loop(n, eliminate, B + np.eye(n))

    def forward(i: Any, x: Any) -> Any:
        x[i] = x[i] - np.sum(np.where(places < i, LU[i] * x, 0.0))
        return x

    def backward(k: Any, x: Any) -> Any:
        i = n - 1 - k
        row = LU[i]
        x[i] = (x[i] - np.sum(np.where(places > i, row * x, 0.0))) / row[i]
        return x

    return lambda b: fori_loop(n, backward, fori_loop(n, forward, b))


def _transformed(order: int, gamma: float, alpha: Array, lower: Array, b: Array, e: Array, power: int) -> Rosenbrock:
    """A method from the coefficients of its text-book form: k_i = h f(y + alpha k) + h J (gamma + lower) k."""
    G = lower + gamma * np.eye(len(b))
    inverse = np.linalg.inv(G)
    c = np.eye(len(b)) / gamma - inverse

    def rows(matrix: Array) -> Rows:
        return tuple(tuple(float(x) for x in row[:i]) for i, row in enumerate(matrix))

    return Rosenbrock(
        order, power, gamma, rows(alpha @ inverse), rows(c), tuple(alpha.sum(axis=1).tolist()),
        tuple(G.sum(axis=1).tolist()), tuple((b @ inverse).tolist()), tuple((e @ inverse).tolist()),
    )  # fmt: skip


# Hairer and Wanner II, section VI.4: RODAS, order 4(3), stiffly accurate, L-stable.
_A5 = (1.221224509226641, 6.019134481288629, 12.53708332932087, -0.687886036105895)
RODAS4 = Rosenbrock(
    order=4,
    power=4,
    gamma=0.25,
    a=(
        (),
        (1.544,),
        (0.9466785280815826, 0.2557011698983284),
        (3.314825187068521, 2.896124015972201, 0.9986419139977817),
        _A5,
        (*_A5, 1.0),
    ),
    c=(
        (),
        (-5.6688,),
        (-2.430093356833875, -0.2063599157091915),
        (-0.1073529058151375, -9.594562251023355, -20.47028614809616),
        (7.496443313967647, -10.24680431464352, -33.99990352819905, 11.7089089320616),
        (8.083246795921522, -7.981132988064893, -31.52159432874371, 16.31930543123136, -6.058818238834054),
    ),
    alpha=(0.0, 0.386, 0.21, 0.63, 1.0, 1.0),
    gammas=(0.25, -0.1043, 0.1035, -0.0362, 0.0, 0.0),
    m=(*_A5, 1.0, 1.0),
    e=(0.0, 0.0, 0.0, 0.0, 0.0, 1.0),
    dense=(
        (10.12623508344586, -7.487995877610167, -34.80091861555747, -7.992771707568823, 1.025137723295662),
        (-0.6762803392801253, 6.087714651680015, 16.43084320892478, 24.76722511418386, -6.594389125716872),
    ),
)

# Verwer, Spee, Blom and Hundsdorfer, SIAM J. Sci. Comput. 20 (1999), (3.1): order 2, L-stable.
_GAMMA = 1 - 1 / 2**0.5
ROS2 = _transformed(
    2, _GAMMA, np.array([[0.0, 0.0], [1.0, 0.0]]), np.array([[0.0, 0.0], [-2 * _GAMMA, 0.0]]),
    np.array([0.5, 0.5]), np.array([-0.5, 0.5]), 2,
)  # fmt: skip
