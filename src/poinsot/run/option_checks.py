"""Options of runs and steppers, checked by kind before any work starts: what they are, and what they must be."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from poinsot._signatures import misfit

NOISE_SEEDS = 2**32  # of `pt.noise`: larger ones would mean smaller ones


def by_name(option: str, value: Any, what: str) -> dict[str, Any]:
    """A table by names; an empty one for None."""
    if value is not None and not isinstance(value, Mapping):
        raise ValueError(f"{option} must be a dict, {what} by name, not {value!r}.")
    return dict(value or {})


def given_once(vary: Mapping[str, Any], inputs: Mapping[str, Any] | None) -> None:
    """An error if an input varies, and is given as well."""
    for name in vary:
        if name in (inputs or {}):
            raise ValueError(f"{name!r} is in vary and in inputs: give it once.")


def names(option: str, value: Any) -> tuple[Any, ...]:
    """Names, or a single one."""
    if isinstance(value, str) or callable(value):
        return (value,)
    if not isinstance(value, Sequence | set | frozenset | Mapping):
        raise ValueError(f"{option} must be a name, or a list of names, not {value!r}.")
    return tuple(value)


def seed(value: Any, noisy: bool = False) -> int:
    """A seed as a whole number, 0 for None; `noisy`: noise depends on it."""
    if value is None:
        return 0
    if isinstance(value, bool | np.bool_) or not isinstance(value, int | np.integer) or value < 0:
        raise ValueError(f"seed must be a whole number, zero or more, not {value!r}.")
    if noisy and value >= NOISE_SEEDS:
        raise ValueError(f"seed = {value} is too large for the noise of this world: seeds of noise are below 2^32.")
    return int(value)


def batch(value: Any) -> int | None:
    """How many instances; None for a single world."""
    if value is None:
        return None
    if isinstance(value, bool | np.bool_) or not isinstance(value, int | np.integer) or value < 0:
        raise ValueError(f"batch must be a whole number, zero or more, not {value!r}.")
    return int(value)


def condition(value: Any) -> None:
    """An error if a condition to stop at is no function."""
    if value is not None and not callable(value):
        raise ValueError(f"until must be a function (t, scene), such as lambda t, scene: t > 1, not {value!r}.")
    if value is not None and (wrong := misfit(value, "t", "scene")):
        raise ValueError(f"until is {wrong}.")
