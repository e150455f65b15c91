"""Smooth equations of motion, written once for NumPy and for heyoka's expressions: a double pendulum, an orbit with J2.

Each way is a function (problem, tolerance, instances) -> work; the work returns the states (instances, n) in the end.
"""

import functools
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from case import Work
from poinsot.integrate import taylor_series


@dataclass(frozen=True)
class Problem:
    """y' = rates(math, y), with `math` NumPy or heyoka; where it starts, how starts differ, how long [s] it goes on."""

    rates: Callable[[Any, Any], Sequence[Any]]
    start: tuple[float, ...]
    spread: float
    duration: float
    groups: tuple[slice, ...]

    def starts(self, instances: int) -> np.ndarray:
        """(instances, n); the first is the start itself."""
        noise = np.random.default_rng(0).normal(size=(instances, len(self.start)))
        noise[0] = 0.0
        return np.array(self.start) * (1 + self.spread * noise)


def double_pendulum(math: Any, y: Any) -> list[Any]:
    """Two rods of 1 m without mass, with 1 kg at the end of each; angles from below."""
    a, b, u, v = y
    d = a - b
    s, c = math.sin(d), math.cos(d)
    below = 2.0 - c * c
    left = -2.0 * 9.81 * math.sin(a) - s * (v * v) + c * (9.81 * math.sin(b) - s * (u * u))
    right = 2.0 * (s * (u * u) - 9.81 * math.sin(b)) + c * (2.0 * 9.81 * math.sin(a) + s * (v * v))
    return [u, v, left / below, right / below]


MU, RADIUS, J2 = 3.986004418e14, 6.378137e6, 1.08263e-3  # of the Earth


def oblate(math: Any, y: Any) -> list[Any]:
    """An orbit about the Earth, flattened."""
    x, y_, z, u, v, w = y
    r2 = x * x + y_ * y_ + z * z
    pull = -MU / (r2 * math.sqrt(r2))
    flat = 1.5 * J2 * RADIUS**2 / r2
    tilt = 5.0 * z * z / r2
    across = pull * (1.0 + flat * (1.0 - tilt))
    return [u, v, w, across * x, across * y_, pull * (1.0 + flat * (3.0 - tilt)) * z]


PROBLEMS = {
    "double pendulum": Problem(double_pendulum, (2.0, 1.0, 0.5, -0.3), 0.01, 5.0, (slice(0, 2), slice(2, 4))),
    "orbit": Problem(
        oblate, (6.778e6, 1e3, -2e3, 100.0, 4.7e3, 6.0e3), 1e-3, 55_000.0, (slice(0, 3), slice(3, 6))
    ),
}  # fmt: skip


def ours(name: str, tolerance: float, instances: int = 1) -> Work:
    problem = PROBLEMS[name]
    kernel = taylor_series.solution(lambda t, y: np.stack(problem.rates(np, y)), tolerance, problem.groups)
    times = np.array([0.0, problem.duration])
    y = np.asfortranarray(problem.starts(instances)) if instances > 1 else problem.starts(1)[0]
    return lambda: np.atleast_2d(kernel(times, y)[..., 1, :])


def heyoka(name: str, tolerance: float, instances: int = 1) -> Work:
    """Several instances side by side in its batch mode."""
    import heyoka as hy

    problem = PROBLEMS[name]
    names = hy.make_vars(*(f"y{k}" for k in range(len(problem.start))))
    system = list(zip(names, problem.rates(hy, names), strict=True))
    y0 = problem.starts(instances).T.copy() if instances > 1 else problem.starts(1)[0]
    solver = (hy.taylor_adaptive_batch if instances > 1 else hy.taylor_adaptive)(system, y0.copy(), tol=tolerance)

    def work() -> np.ndarray:
        solver.set_time(0.0) if instances > 1 else setattr(solver, "time", 0.0)
        solver.state[:] = y0
        solver.propagate_until(problem.duration)
        return np.atleast_2d(solver.state.T.copy())

    return work


@functools.cache
def expected(name: str, instances: int = 1) -> np.ndarray:
    """By SciPy's DOP853 at its least tolerance; good to about 1e-12."""
    from scipy.integrate import solve_ivp

    problem = PROBLEMS[name]
    options = {"method": "DOP853", "rtol": 2.3e-14, "atol": 1e-15, "t_eval": (problem.duration,)}
    starts = problem.starts(instances)
    return np.array(
        [solve_ivp(lambda t, y: problem.rates(np, y), (0, problem.duration), y, **options).y[:, 0] for y in starts]
    )
