"""One rigid body: how many steps a second, against a loop over solve_ivp, and how long for how many digits.

All figures here are processor time, on one core.
"""

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

import free_top
from case import Case, Contender, Measured, Work
from free_top import (
    heavy,
    heavy_derivative,
    heyoka,
    mujoco,
    ours,
    ours_adaptive,
    ours_taylor,
    processor_time,
    scipy,
)
from poinsot.integrate.single import METHODS

MANY, SOME, FEW = 100_000, 10_000, 8
BRIEF, SHORT = 0.1, 10.0  # [s], about as many turns


def agrees(result: Any, expected: np.ndarray) -> float:
    """The greatest error [rad] of the first bodies, those for which the exact attitude was worked out."""
    return free_top.angle(np.atleast_2d(result)[: len(expected)], expected)


def clocked(way: Callable[..., Work], *settings: Any, items: int = 1) -> Work:
    work = way(*settings)
    return Measured(work, lambda: processor_time(work) / items)


def contender(
    name: str, way: Callable[..., Work], *settings: Any, target: str = "", peer: str = "", items: int = 1
) -> Contender:
    return Contender(name, partial(clocked, way, *settings, items=items), target, peer, apart=peer == "heyoka")


def solve_ivp(tolerance: float, method: str) -> Work:
    """A few bodies one after the other; the figure is for all of them."""
    work = scipy(tolerance, FEW, method, SHORT)
    return Measured(work, lambda: processor_time(work) * SOME / FEW)


def digits(tolerance: float, *contenders: Contender) -> Case:
    return Case(
        name=f"free-top-{tolerance:.0e}".replace("e-0", "e-"),
        what=f"A brick tumbles freely for 100 turns; its attitude in the end, good to {tolerance:.0e} rad, one body",
        contenders=contenders,
        expected=partial(free_top.exact, 1),
        error=agrees,
        tolerance=tolerance,
    )


CASES = (
    Case(
        name="body-steps",
        what=f"100 steps of {MANY} free bodies in one call, float64; per body and step, error in rad",
        items=100 * MANY,
        contenders=(
            contender("splitting", ours, "splitting", 100, MANY, BRIEF, target="<= 20 ns"),
            *(contender(name, ours, name, 100, MANY, BRIEF) for name in METHODS if name != "splitting"),
        ),
        expected=lambda: free_top.exact(FEW, BRIEF),
        error=agrees,
        tolerance=0.01,
    ),
    Case(
        name="body-scipy",
        what=f"{SOME} free bodies for 10 turns, good to 1e-3 rad; per body, error in rad",
        items=SOME,
        contenders=(
            contender("poinsot, exact free motion", ours, "poinsot", 22, SOME, SHORT),
            contender("poinsot, rk4 in the body frame", ours, "rk4, body frame", 220, SOME, SHORT),
            contender("poinsot, splitting4", ours, "splitting4", 200, SOME, SHORT),
            contender("poinsot, splitting", ours, "splitting", 3000, SOME, SHORT),
            Contender("a loop over solve_ivp, RK45", partial(solve_ivp, 3e-5, "RK45"), ">= 1000 x", "scipy"),
            Contender("a loop over solve_ivp, DOP853", partial(solve_ivp, 1e-5, "DOP853"), ">= 1000 x", "scipy"),
        ),
        expected=lambda: free_top.exact(FEW, SHORT),
        error=agrees,
        tolerance=1e-3,
    ),
    digits(
        1e-3,
        contender("poinsot, exact free motion", ours, "poinsot", 220),
        contender("poinsot, rk4 in the body frame", ours, "rk4, body frame", 5_000),
        contender("poinsot, splitting4", ours, "splitting4", 3_000),
        contender("heyoka", heyoka, 1e-6, peer="heyoka"),
        contender("SciPy, DOP853", scipy, 1e-7, peer="scipy"),
        contender("MuJoCo, RK4", mujoco, "RK4", 5_000, peer="mujoco"),
    ),
    digits(
        1e-6,
        contender("poinsot, exact free motion", ours, "poinsot", 300),
        contender("poinsot, rk4 in the body frame", ours, "rk4, body frame", 22_000),
        contender("poinsot, splitting4", ours, "splitting4", 17_000),
        contender("poinsot, DOP853", ours_adaptive, 1e-11),
        contender("heyoka", heyoka, 1e-7, peer="heyoka"),
        contender("SciPy, DOP853", scipy, 1e-10, peer="scipy"),
        contender("MuJoCo, RK4", mujoco, "RK4", 20_000, peer="mujoco"),
    ),
    digits(
        1e-9,
        contender("poinsot, exact free motion", ours, "poinsot", 430),
        contender("poinsot, rk4 in the body frame", ours, "rk4, body frame", 110_000),
        contender("poinsot, splitting4", ours, "splitting4", 100_000),
        contender("heyoka", heyoka, 1e-11, peer="heyoka"),
        contender("SciPy, DOP853", scipy, 1e-12, peer="scipy"),
        contender("MuJoCo, RK4", mujoco, "RK4", 100_000, peer="mujoco"),
    ),
    Case(
        name="heavy-brick",
        what="The brick, held at a point and turned by its weight, for 10 turns; its attitude, good to 1e-6 rad",
        contenders=(
            contender("poinsot, Taylor series", ours_taylor, 3e-7, 1, SHORT, heavy_derivative),
            contender("poinsot, rk4 in the body frame", ours, "rk4, body frame", 1_300, 1, SHORT, heavy),
            contender("poinsot, splitting4", ours, "splitting4", 1_200, 1, SHORT, heavy),
            contender("poinsot, poinsot4", ours, "poinsot4", 620, 1, SHORT, heavy),
            contender("heyoka", heyoka, 5e-7, 1, SHORT, heavy_derivative, peer="heyoka"),
            contender("SciPy, DOP853", scipy, 3e-8, 1, "DOP853", SHORT, heavy_derivative, peer="scipy"),
        ),
        expected=lambda: scipy(1e-13, 1, "DOP853", SHORT, heavy_derivative)(),
        error=agrees,
        tolerance=1e-6,
    ),
    Case(
        name="heavy-bricks",
        what="The same, many side by side; for one of them",
        contenders=(
            contender("poinsot, Taylor series", ours_taylor, 3e-9, 512, SHORT, heavy_derivative, items=512),
            contender("poinsot, rk4 in the body frame", ours, "rk4, body frame", 4_000, 512, SHORT, heavy, items=512),
            contender("heyoka, 8 side by side", heyoka, 1e-8, 8, SHORT, heavy_derivative, peer="heyoka", items=8),
        ),
        expected=lambda: scipy(1e-13, FEW, "DOP853", SHORT, heavy_derivative)(),
        error=agrees,
        tolerance=1e-6,
    ),
)
