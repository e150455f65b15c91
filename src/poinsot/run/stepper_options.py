"""How a world is stepped from outside, and a frozen copy of where it is."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from poinsot._types import Array
from poinsot.run import option_checks
from poinsot.run.compiled import Condition
from poinsot.run.continuing import Layout
from poinsot.run.measured import Quantity


@dataclass(frozen=True, eq=False)
class StepperOptions:
    """How a world is stepped from outside.

    batch: how many instances; None for a single one, whose arrays have no axis in front.
    step, control_period [s]: a period is a whole number of steps, by default one.
    inputs: the names of the inputs that actions set, in this order; by default all. Others keep the world's values.
    Paths of `vary` may stand there, too: then actions set those numbers.
    observe: quantities, by their names in records ("box.position.z", "arm.q"), or functions (t, scene); q and v by
    default.
    vary, seed: paths of numbers with one value per instance, or distributions that are drawn from at every reset.
    until: a condition (t, scene), looked at after every period, that ends an episode; also after `duration` [s].
    autoreset: an episode that ends is followed by the next one, in the same call of the kernel.
    method: as for `simulate`. device: "cpu", or "cuda" for arrays on the GPU. threads: how many share a large batch.
    """

    batch: int | None = None
    step: float = 1e-3
    control_period: float | None = None
    inputs: Sequence[str] | None = None
    observe: Quantity | Sequence[Quantity] | None = None
    vary: Mapping[str, Any] = field(default_factory=dict)
    seed: int = 0
    until: Condition | None = None
    duration: float | None = None
    autoreset: bool = False
    method: str | None = None
    device: str = "cpu"
    threads: int | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "vary", option_checks.by_name("vary", self.vary, "values or distributions"))
        object.__setattr__(self, "seed", option_checks.seed(self.seed))
        option_checks.condition(self.until)

    @property
    def observed(self) -> tuple[Quantity, ...]:
        """The quantities that are observed."""
        if self.observe is None:
            return ("q", "v")
        return option_checks.names("observe", self.observe)


@dataclass(frozen=True, eq=False)
class StepperState:
    """Where a stepper is, frozen: x (..., nx) and p (..., np); the clock and the episode of each instance.

    time = origin + steps * step [s]. It can be pickled, and given to any stepper of the same world.
    """

    layout: Layout
    step: float
    x: Array
    p: Array
    origin: Array
    steps: Array
    episodes: Array
    status: Array
    seed: int

    @property
    def time(self) -> Array:
        """The time (...) [s] of each instance."""
        return self.origin + self.steps * self.step
