"""How long a kernel takes to be there."""

import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import models
import poinsot.fuse as fuse
from case import Case, Contender, Measured, Work, cold_cache
from models import Link, arm, tree

from .arm import dynamics, inputs


def derivative(links: Sequence[Link]) -> Callable[..., Any]:
    return lambda q, qd, tau: (qd, models.forward_dynamics(links, q, qd, tau))


def step_by_derivative(links: Sequence[Link]) -> Callable[..., Any]:
    """A kernel of the derivative alone; Python makes the Runge-Kutta step from it."""
    return partial(models.rk4, fuse.kernel("(n),(n),(n)->(n),(n)")(derivative(links)))


def runge_kutta(links: Sequence[Link]) -> Callable[..., Any]:
    rate = fuse.once(derivative(links))
    return fuse.kernel("(n),(n),(n)->(n),(n)")(lambda q, qd, tau: models.rk4(rate, q, qd, tau))


def compilation(build: Callable[..., Callable[..., Any]], links: Sequence[Link]) -> Work:
    def work() -> Any:
        with cold_cache():
            return build(links)(*inputs(len(links), 1))

    return work


def operations(links: Sequence[Link]) -> Work:
    n, kernel = len(links), dynamics(links)
    return Measured(lambda: kernel(*inputs(n, 1)), lambda: sum(kernel.count(n=n).values()))


FIRST_CALL = f"""
import time; begin = time.perf_counter()
import poinsot.fuse as fuse
loaded = time.perf_counter()
import sys; sys.path.insert(0, {str(Path(models.__file__).parent)!r})
from models import arm, forward_dynamics, states
links = arm(7)
kernel = fuse.kernel("(n),(n),(n)->(n)")(lambda q, qd, tau: forward_dynamics(links, q, qd, tau))
result = kernel(*states(7, 1))
end = time.perf_counter()
print(end - loaded, end - begin, *result[0].tolist())
"""


def first_call(column: int, warm: bool = True) -> Work:
    """In a fresh process. Column 0 counts from after the import, column 1 from before it."""
    kept = tempfile.TemporaryDirectory(prefix="poinsot-bench-")

    def process() -> list[float]:
        with tempfile.TemporaryDirectory(prefix="poinsot-bench-") as empty:
            environment = os.environ | {"POINSOT_CACHE": kept.name if warm else empty}
            command = [sys.executable, "-c", FIRST_CALL]
            done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
        return [float(word) for word in done.stdout.split()]

    return Measured(lambda: [process()[2:]], lambda: process()[column])


def accelerations(links: Sequence[Link]) -> Any:
    return models.reference_dynamics(links, *inputs(len(links), 1))


def step(links: Sequence[Link]) -> Any:
    rate = lambda q, qd, tau: (qd, models.reference_dynamics(links, q, qd, tau))  # noqa: E731
    return models.rk4(rate, *inputs(len(links), 1))


CASES = (
    Case(
        name="operations",
        what="Operations in the forward dynamics of a 7-joint arm, once traced",
        contenders=(Contender("poinsot", partial(operations, arm(7)), "<= 4300 operations"),),
        expected=partial(accelerations, arm(7)),
        tolerance=1e-10,
        unit="operations",
    ),
    *(
        Case(
            name=f"compile{len(links)}",
            what=f"Trace, compile and call once the forward dynamics of {name}; nothing in the cache",
            contenders=(Contender("poinsot", partial(compilation, dynamics, links), target),),
            expected=partial(accelerations, links),
            tolerance=1e-10,
        )
        for name, links, target in (("a 7-joint arm", arm(7), "<= 1 s"), ("a 30-joint tree", tree(30), "<= 5 s"))
    ),
    Case(
        name="compile-rk4",
        what="Trace and compile a Runge-Kutta step of a 30-joint tree, its derivative used four times",
        contenders=(
            Contender("poinsot, the derivative alone", partial(compilation, step_by_derivative, tree(30))),
            Contender("poinsot, the step, with fuse.once", partial(compilation, runge_kutta, tree(30)), "<= 1.5 x"),
        ),
        expected=partial(step, tree(30)),
        tolerance=1e-10,
    ),
    Case(
        name="first-call",
        what="First call of the forward dynamics of a 7-joint arm in a fresh process",
        contenders=(
            Contender("poinsot, warm cache, from after its import", partial(first_call, 0), "<= 0.3 s"),
            Contender("poinsot, warm cache, from before its import", partial(first_call, 1)),
            Contender("poinsot, empty cache, from after its import", partial(first_call, 0, warm=False)),
        ),
        expected=partial(accelerations, arm(7)),
        tolerance=1e-10,
    ),
)
