"""State feedback u = -K x, and the linear-quadratic regulator: the gain K with the least cost."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from poinsot import _optional
from poinsot._errors import FieldError
from poinsot._types import Array, ArrayLike
from poinsot.control.controller import Answer, Block
from poinsot.fuse import is_traced
from poinsot.parts.scene import Scene
from poinsot.spatial.arrays import as_array


@dataclass(frozen=True, eq=False)
class StateFeedback(Block):
    """out = -gain (x - target) (m,), within +-limit, for x (2 n,): all coordinates of some joints, then all velocities.

    `measured`: the bodies that these joints carry. Their coordinates are angles and lengths, not quaternions.
    `gain` (m, 2 n), as from `lqr`; `target` (2 n,), zero by default.
    """

    measured: tuple[str, ...] = ()
    gain: ArrayLike = ((0.0, 0.0),)
    target: ArrayLike = 0.0
    limit: ArrayLike = np.inf

    def __post_init__(self) -> None:
        super().__post_init__()
        if np.ndim(as_array(self.gain)) != 2:
            raise FieldError(f"gain of StateFeedback {self.name!r} must be a matrix, not {self.gain!r}.", "gain")

    def bodies(self) -> tuple[str, ...]:
        return tuple(self.measured)

    def outputs_at_start(self) -> Mapping[str, Array]:
        return {"out": np.zeros(np.shape(as_array(self.gain))[0])}

    def answer(self, scene: Scene, memory: Mapping[str, Array]) -> Answer:
        K, pairs = as_array(self.gain), [scene.joint(name) for name in self.measured]
        owner = f"StateFeedback {self.name!r}"
        for name, (q, v) in zip(self.measured, pairs, strict=True):
            if len(q) != len(v):
                raise FieldError(
                    f"{owner}: the joint of {name!r} has a quaternion; it takes angles, lengths.", "measured"
                )
        x = np.concatenate([np.zeros(0), *(q for q, _ in pairs), *(v for _, v in pairs)])
        if np.shape(K)[1] != len(x):
            raise FieldError(f"gain of {owner} has shape {np.shape(K)}; its joints have {len(x)} states.", "gain")
        out = -(K @ (x - as_array(self.target)))
        if is_traced(self.limit) or np.any(np.asarray(self.limit) < np.inf):
            out = np.clip(out, -as_array(self.limit), as_array(self.limit))
        return {"out": out}, {}


def lqr(linear: Any, Q: ArrayLike, R: ArrayLike, sample: float | None = None) -> Array:
    """K (nu, n) of u = -K x with the least integral of x^T Q x + u^T R u, for x' = A x + B u.

    `linear`: what `world.linearise()` gives, or a pair of matrices (A, B). With `sample` [s], u is held in between: the
    same integral, as an exact sum over samples (Van Loan, IEEE Trans. Automatic Control 23 (1978) 395).
    """
    A, B = _pair(linear)
    (n, m), Q, R = B.shape, np.asarray(Q, dtype=float), np.atleast_2d(np.asarray(R, dtype=float))
    if A.shape != (n, n) or Q.shape != (n, n) or R.shape != (m, m):
        raise ValueError(
            f"with A {A.shape} and B {B.shape}, Q must have shape {(n, n)} and R {(m, m)}, not {Q.shape} and {R.shape}."
        )
    solvers = _optional.require("scipy.linalg", "adaptive", "The linear-quadratic regulator")
    if sample is None:
        P = solvers.solve_continuous_are(A, B, Q, R)
        K: Array = np.linalg.solve(R, B.T @ P)
        return K
    F, W = _sampled(A, B, Q, R, sample, solvers.expm)
    G, F, N = F[:n, n:], F[:n, :n], W[:n, n:]
    P = solvers.solve_discrete_are(F, G, W[:n, :n], W[n:, n:], s=N)
    K = np.linalg.solve(W[n:, n:] + G.T @ P @ G, G.T @ P @ F + N.T)
    return K


def _pair(linear: Any) -> tuple[Array, Array]:
    """The matrices A and B of a linear model, or of a pair."""
    given = (linear.A, linear.B) if hasattr(linear, "A") and hasattr(linear, "B") else linear
    if not isinstance(given, tuple | list) or len(given) != 2:
        raise TypeError(
            f"linear must be what world.linearise() gives, or a pair (A, B), not {type(linear).__name__}; write the "
            "pair in brackets: pt.lqr((A, B), Q, R)."
        )
    A, B = (np.asarray(x, dtype=float) for x in given)
    if A.ndim != 2 or B.ndim != 2:
        raise ValueError(f"A and B must be matrices (n, n) and (n, m), not of shapes {A.shape} and {B.shape}.")
    return A, B


def _sampled(A: Array, B: Array, Q: Array, R: Array, h: float, expm: Any) -> tuple[Array, Array]:
    """exp(M h) for M = [[A, B], [0, 0]], and the cost of one sample: the integral of exp(M^T t) diag(Q, R) exp(M t)."""
    n, m = B.shape
    M, cost = np.zeros((n + m, n + m)), np.zeros((n + m, n + m))
    M[:n], cost[:n, :n], cost[n:, n:] = np.hstack([A, B]), Q, R
    E = expm(h * np.block([[-M.T, cost], [np.zeros_like(M), M]]))
    F = E[n + m :, n + m :]
    W = F.T @ E[: n + m, n + m :]
    return F, 0.5 * (W + W.T)
