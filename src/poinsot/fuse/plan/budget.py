"""How much straight-line code suits a machine. Algorithms that can be straight-line code or loops ask here."""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, replace


@dataclass(frozen=True)
class Budget:
    """Limits of one machine.

    `straight_line`: the most operations of straight-line code, if there are no loops beside it.
    `straight_line_beside_loops`: the most operations of straight-line code beside loops.
    `pushed_forward`: the same for code of which a Jacobian-vector product is made, whose loops run as fast, and compile
    up to ten times faster.
    `live_values`: the most values that loops may keep for later loops. With more, there should be no straight-line code
    beside them: many threads with few registers each are then faster. `recompute`: whether sines and cosines are then
    recomputed rather than kept.
    `nearby_values`: the most values that a loop can keep where later loops read them without delay. A loop that would
    keep more should recompute what earlier loops passed through.
    `written_out`: the most operations of code that is used several times, such as the derivative in the stages of a
    step, all its uses together. Beyond that it should be one body of a loop.
    `registers`: how many values straight-line code has at hand. One that needs more of them at a time should have fewer
    operations instead.
    `interleave`: whether independent work should be interleaved, although that takes more registers.
    `search_up_to`: the most unknowns of a problem for which the algorithm with the fewest operations is searched for,
    although it rounds more and the search takes time.
    """

    straight_line: float
    straight_line_beside_loops: int
    live_values: float
    pushed_forward: float = float("inf")
    recompute: bool = False
    nearby_values: float = float("inf")
    search_up_to: int = 0
    written_out: float = float("inf")
    registers: float = float("inf")
    interleave: bool = False


# Beyond 30,000 operations, compiling takes longer than most people wait.
PROCESSOR = Budget(30_000, 0, float("inf"), pushed_forward=3_000, interleave=True)
GPU = {  # by the bytes of a float; measured on an H200
    4: Budget(9_400, 4_200, 680, recompute=True, nearby_values=226, search_up_to=10, written_out=9_400, registers=255),
    8: Budget(5_200, 2_800, 450, nearby_values=0, search_up_to=10, written_out=5_200, registers=127),
}

_budget: ContextVar[Budget] = ContextVar("budget", default=PROCESSOR)


def budget() -> Budget:
    """The budget of the machine that is being traced for."""
    return _budget.get()


def budget_pushed_forward() -> Budget:
    """The same for code of which a Jacobian-vector product is made."""
    machine = budget()
    return replace(machine, straight_line=min(machine.straight_line, machine.pushed_forward))


@contextmanager
def tracing_for(machine: Budget) -> Iterator[None]:
    token = _budget.set(machine)
    try:
        yield
    finally:
        _budget.reset(token)
