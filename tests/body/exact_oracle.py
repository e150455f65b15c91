"""The reference for the exact solutions: the equations of motion, integrated by Taylor series in many digits.

Rotating bodies have polynomial equations of motion, so the coefficients of their Taylor series follow from one another
by Cauchy products. The only elliptic function here is the period, and only to reach far times.
"""

from collections.abc import Sequence
from functools import reduce
from typing import Any

import mpmath as mp
import numpy as np

ORDER = 28
DIGITS = 30


def top(
    moments: Sequence[float], q0: Sequence[float], omega0: Sequence[float], t: Any, mgl: float = 0.0
) -> tuple[np.ndarray, np.ndarray]:
    """q_WB (4,) and omega_B (3,) at the time t of a body rotating about a fixed point, moments (3,) about that point.

    Its weight has the moment mgl [N m] when the body's z axis lies level; world z is up.
    """
    with mp.workdps(DIGITS):
        return _floats(_integrate(_exact(moments), mp.mpf(float(mgl)), _state(q0, omega0), mp.mpf(t)))


def free_top_after(
    moments: Sequence[float], q0: Sequence[float], omega0: Sequence[float], t: float
) -> tuple[np.ndarray, np.ndarray]:
    """The free top far away in time: each period of the polhode rotates the body about L by the same angle."""
    with mp.workdps(DIGITS):
        I, start = _exact(moments), _state(q0, omega0)
        w = start[4:]
        L2, E2 = sum((i * x) ** 2 for i, x in zip(I, w, strict=True)), sum(i * x * x for i, x in zip(I, w, strict=True))
        a, b, c = sorted(I)
        x, y = (c, a) if E2 * b < L2 else (a, c)  # the axis that the polhode circles, and the other extreme one
        m = (L2 - E2 * x) * (y - b) / ((L2 - E2 * y) * (x - b))
        period = 4 * mp.ellipk(m) / mp.sqrt((L2 - E2 * y) * (x - b) / (a * b * c))
        count = mp.floor(mp.mpf(t) / period)
        once = _integrate(I, mp.mpf(0), start, period)
        turn = _product(once[:4], _conjugate(start[:4]))
        angle = mp.atan2(mp.norm(turn[1:]), turn[0])
        axis = [component / mp.norm(turn[1:]) for component in turn[1:]]
        turns = [mp.cos(count * angle), *(mp.sin(count * angle) * component for component in axis)]
        rest = _integrate(I, mp.mpf(0), start, mp.mpf(t) - count * period)
        return _floats(_product(turns, rest[:4]) + rest[4:])


def _exact(numbers: Sequence[float]) -> list[Any]:
    return [mp.mpf(float(x)) for x in numbers]


def _state(q0: Sequence[float], omega0: Sequence[float]) -> list[Any]:
    q = _exact(q0)
    return [x / mp.norm(q) for x in q] + _exact(omega0)


def _floats(y: list[Any]) -> tuple[np.ndarray, np.ndarray]:
    return np.array([float(x) for x in y[:4]]), np.array([float(x) for x in y[4:]])


def _integrate(I: list[Any], mgl: Any, y: list[Any], t: Any) -> list[Any]:
    energy = sum(a * w * w for a, w in zip(I, y[4:], strict=True)) + 4 * abs(mgl)
    fastest = mp.sqrt(energy / min(I))  # no angular velocity can be larger
    steps = int(mp.ceil(abs(t) * fastest * 3)) + 1
    for _ in range(steps):
        y = _step(I, mgl, y, t / steps)
    return y


def _step(I: list[Any], mgl: Any, state: list[Any], h: Any) -> list[Any]:
    """One step of length h: the coefficients of the series up to ORDER, summed by Horner's rule."""
    series = [[x] for x in state]
    w, x, y, z, a, b, c = series

    def times(f: list[Any], g: list[Any], n: int) -> Any:
        return mp.fdot(f[: n + 1], g[n::-1])

    for n in range(ORDER):
        up_x = 2 * (times(x, z, n) - times(w, y, n))  # the vertical, in body axes
        up_y = 2 * (times(y, z, n) + times(w, x, n))
        slopes = [
            (-times(x, a, n) - times(y, b, n) - times(z, c, n)) / 2,
            (times(w, a, n) + times(y, c, n) - times(z, b, n)) / 2,
            (times(w, b, n) + times(z, a, n) - times(x, c, n)) / 2,
            (times(w, c, n) + times(x, b, n) - times(y, a, n)) / 2,
            ((I[1] - I[2]) * times(b, c, n) + mgl * up_y) / I[0],
            ((I[2] - I[0]) * times(c, a, n) - mgl * up_x) / I[1],
            (I[0] - I[1]) * times(a, b, n) / I[2],
        ]
        for coefficients, slope in zip(series, slopes, strict=True):
            coefficients.append(slope / (n + 1))
    return [reduce(lambda value, coefficient: value * h + coefficient, reversed(c)) for c in series]


def _product(p: list[Any], q: list[Any]) -> list[Any]:
    (a, b, c, d), (w, x, y, z) = p, q
    return [
        a * w - b * x - c * y - d * z,
        a * x + b * w + c * z - d * y,
        a * y - b * z + c * w + d * x,
        a * z + b * y - c * x + d * w,
    ]


def _conjugate(q: list[Any]) -> list[Any]:
    return [q[0], -q[1], -q[2], -q[3]]
