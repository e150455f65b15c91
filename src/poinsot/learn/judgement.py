"""Rewards and conditions as functions of what was observed and done: compiled where possible, else on the batch."""

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from poinsot._types import Array
from poinsot.fuse import Kernel
from poinsot.parts import Input, Signal


def is_of_scene(function: Any) -> bool:
    """Whether this is a quantity of the scene: a name, a signal, or a function (t, scene), told by these parameters."""
    return isinstance(function, (str, Signal, Input)) or "scene" in parameters(function)


def parameters(function: Any) -> list[str]:
    """The names of the parameters of a function; none, if they are not known."""
    try:
        return list(inspect.signature(function).parameters)
    except (TypeError, ValueError):
        return []


@dataclass(frozen=True, eq=False)
class Judgement:
    """A function of observations (..., no) and actions (..., na) with one number (...) per instance."""

    role: str
    of: Callable[[Array, Array], Any]
    compiled: bool

    def __call__(self, observation: Array, action: Array) -> Array:
        value = np.asarray(self.of(observation, action))
        if value.shape != observation.shape[:-1]:
            raise ValueError(f"{self.role} gives an array of shape {value.shape}, not {observation.shape[:-1]}.")
        return value


def judgement(role: str, function: Any, observation: Array, action: Array) -> Judgement:
    """The function as a judgement: a kernel of one instance, or, if it cannot be traced, itself on whole batches.

    observation (..., no), action (..., na): an example to try it on.
    """
    if not callable(function):
        raise TypeError(f"{role} must be a quantity or a function, not {function!r}.")
    takes_action = len(parameters(function)) > 1
    no, na = observation.shape[-1], action.shape[-1]

    def plain(seen: Array, done: Array) -> Any:
        return function(seen, done) if takes_action else function(seen)

    def one(seen: Array, done: Array) -> Any:
        return 1.0 * np.asarray(plain(seen, done)) if role == "reward" else np.where(_met(plain(seen, done)), 1.0, 0.0)

    kernel = Kernel(one, f"({no}),({na})->()")
    try:
        kernel.program()
    except Exception as untraced:  # whatever a function of batches raises on one instance
        try:
            result = Judgement(role, plain if role == "reward" else lambda *given: _met(plain(*given)), False)
            result(observation, action)
            return result
        except Exception as error:
            raise ValueError(
                f"{role} can neither be traced for one instance, observation ({no},) and action ({na},): {untraced}; "
                f"nor called on the batch, {observation.shape} and {action.shape}: {error}"
            ) from error
    return Judgement(role, kernel, True)


def _met(value: Any) -> Any:
    """A condition is met if it is true, or a number above zero."""
    return value if getattr(value, "dtype", np.dtype(type(value))).kind == "b" else value > 0
