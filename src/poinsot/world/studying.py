"""How a world is studied: methods of `World`, done by the room `study`."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from poinsot.mechanism.motion_equations import MotionEquations
    from poinsot.study import Fit, Linear, Sensitivity, StepCheck, Trim
    from poinsot.world.builder import World
    from poinsot.world.instants import State


def check_step(
    world: "World", step: float = 1e-3, duration: float = 1.0, tolerance: float = 1e-6, **options: Any
) -> "StepCheck":
    """Whether a step [s] is short enough, by halving it, and which one would be; see `poinsot.study.check_step`."""
    from poinsot.study import check_step

    return check_step(world, step, duration, tolerance, **options)


def trim(world: "World", kind: str = "level", **asked: Any) -> "Trim":
    """Steady flight, hover, or rest: the inputs and the state for it; see `poinsot.study.trim` for all options."""
    from poinsot.study import trim

    return trim(world, kind, **asked)


def linearise(world: "World", state: "State | Trim | None" = None, **about: Any) -> "Linear":
    """Small motions about a state or a trim: the matrices A, B, C, D; see `poinsot.study.linearise`."""
    from poinsot.study import linearise

    return linearise(world, state, **about)


def fit(world: "World", data: Any, parameters: Sequence[str], **options: Any) -> "Fit":
    """The numbers at these paths that fit measurements, with their covariance; see `poinsot.study.fit`."""
    from poinsot.study import fit

    return fit(world, data, parameters, **options)


def sensitivity(
    world: "World",
    outputs: Sequence[str],
    parameters: Sequence[str],
    duration: float,
    step: float = 1e-3,
    **options: Any,
) -> "Sensitivity":
    """The derivatives of outputs after a duration [s] by numbers; see `poinsot.study.sensitivities`."""
    from poinsot.study import sensitivity

    return sensitivity(world, outputs, parameters, duration, step, **options)


def equations(world: "World", free: Sequence[str] = ()) -> "MotionEquations":
    """The equations of motion in symbols, for small worlds; `free`: paths of numbers that become symbols.

    See `poinsot.study.world_equations`.
    """
    from poinsot.study.world_equations import equations

    return equations(world, free)
