"""How much straight-line code a machine likes. Algorithms that can be written out or stay in loops ask here."""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass


@dataclass(frozen=True)
class Budget:
    """`whole`: operations that may be written out, if that is all of them; `beside`: those beside loops.

    `kept`: numbers that loops may leave for later ones; with more, nothing should be written out beside them, since
    what counts then is many threads, each with few registers. `again`: whether sines and cosines are then better
    computed again than kept. `near`: numbers that a loop may leave where later ones read them without delay; a loop
    that would leave more should rather compute again than read what earlier ones went through.
    `side_by_side`: whether work that does not depend on each other should stand so, though it takes more registers.
    `small`: how many unknowns a problem may have for which the algorithm with fewest operations is looked for, although
    it rounds more and the search takes time.
    """

    whole: int
    beside: int
    kept: float
    again: bool = False
    near: float = float("inf")
    small: int = 0
    side_by_side: bool = False


# Beyond 30,000 operations, compiling takes longer than most people wait.
PROCESSOR = Budget(30_000, 0, float("inf"), side_by_side=True)
GPU = {  # by the bytes of a float; measured on an H200
    4: Budget(9_400, 4_200, 680, again=True, near=226, small=10),
    8: Budget(5_200, 2_800, 450, near=0, small=10),
}

_budget: ContextVar[Budget] = ContextVar("budget", default=PROCESSOR)


def budget() -> Budget:
    """The budget of the machine that is being traced for."""
    return _budget.get()


@contextmanager
def tracing_for(machine: Budget) -> Iterator[None]:
    token = _budget.set(machine)
    try:
        yield
    finally:
        _budget.reset(token)
