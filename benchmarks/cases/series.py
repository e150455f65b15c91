"""Taylor series: smooth motions to few and to many digits, one alone and many side by side, against heyoka.

All figures here are processor time, on one core.
"""

from functools import partial
from typing import Any

import numpy as np

import smooth
from case import Case, Contender, Measured, Work, relative
from free_top import processor_time

MANY, FEW = 4096, 8


def clocked(way: str, name: str, tolerance: float, instances: int) -> Work:
    work = getattr(smooth, way)(name, tolerance, instances)
    return Measured(work, lambda: processor_time(work) / instances)


def agrees(result: Any, expected: np.ndarray) -> float:
    """The greatest error of the first instances, those for which another solution was worked out."""
    return relative(np.asarray(result)[: len(expected)], expected)


def digits(name: str, error: float, tolerance: float, peer: float, many: bool = False) -> Case:
    instances, beside = (MANY, FEW) if many else (1, 1)
    count = f"{MANY} side by side, for one of them" if many else "one"
    return Case(
        name=f"{name.replace(' ', '-')}{'s' if many else ''}-{error:.0e}".replace("e-0", "e-"),
        what=f"A smooth motion, {name}, to a relative error of {error:.0e}; {count}",
        contenders=(
            Contender("poinsot, Taylor series", partial(clocked, "ours", name, tolerance, instances)),
            Contender("heyoka", partial(clocked, "heyoka", name, peer, beside), "", "heyoka", apart=True),
        ),
        expected=partial(smooth.expected, name, beside),
        error=agrees,
        tolerance=error,
    )


def beside_diffrax(name: str, error: float) -> Case:
    """4096 instances with steps of their own, to a tolerance of 1e-9."""
    worlds = (Contender("poinsot, world.simulate", partial(clocked, "ours_world", name, 1e-9, MANY)),)
    return Case(
        name=f"adaptive-{name.replace(' ', '-')}",
        what=f"{name}, {MANY} side by side at a tolerance of 1e-9, each with steps of its own; for one of them",
        contenders=(
            *(worlds if name == "spacecraft" else ()),
            Contender("poinsot, DOP853", partial(clocked, "ours_adaptive", name, 1e-9, MANY)),
            Contender("diffrax", partial(clocked, "diffrax", name, 1e-9, MANY), ">= 10 x", "diffrax", apart=True),
        ),
        expected=partial(smooth.expected, name, 2),
        error=agrees,
        tolerance=error,
    )


CASES = (
    beside_diffrax("double pendulum", 1e-6),
    beside_diffrax("spacecraft", 1e-5),
    digits("double pendulum", 1e-5, 1e-6, 1e-6),
    digits("double pendulum", 1e-8, 1e-9, 1e-9),
    digits("double pendulum", 1e-11, 1e-12, 1e-12),
    digits("double pendulum", 1e-6, 1e-9, 1e-9, many=True),
    digits("double pendulum", 1e-9, 1e-12, 1e-12, many=True),
    digits("orbit", 1e-4, 1e-6, 1e-6),
    digits("orbit", 1e-8, 1e-9, 1e-9),
    digits("orbit", 1e-10, 3e-12, 1e-12),
    digits("orbit", 1e-7, 1e-9, 1e-9, many=True),
    digits("orbit", 1e-10, 3e-12, 1e-12, many=True),
)
