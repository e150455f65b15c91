"""Wind: the velocity of the air relative to the Earth, north, east, down [m/s], as a function of time and place.

A wind is any function wind(t, position, height) -> (3,): t [s], the position (3,) [m] in Earth-fixed axes (on flat
ground: in the world), and the height [m]. Winds add up.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Annotated, Any, TypeAlias

import numpy as np

from poinsot._errors import FieldError
from poinsot._types import Array, ArrayLike
from poinsot.fuse import Table, is_traced
from poinsot.spatial.arrays import as_array, vector

Wind: TypeAlias = Callable[[Any, Any, Any], Array]
SHAPES = ("far", "mil")


@dataclass(frozen=True, eq=False)
class SteadyWind:
    """The same wind everywhere: its velocity (3,) [m/s] north, east, down."""

    velocity: Annotated[ArrayLike, "m/s"] = (0.0, 0.0, 0.0)

    def __post_init__(self) -> None:
        _require_vector("velocity", self.velocity)

    def __call__(self, t: Any, position: Any, height: Any) -> Array:
        return as_array(self.velocity)


@dataclass(frozen=True, eq=False)
class WindProfile:
    """Wind of height: velocities (n, 3) [m/s] north, east, down at the heights (n,) [m], constant beyond them."""

    heights: Annotated[ArrayLike, "m"]
    velocities: Annotated[ArrayLike, "m/s"]
    method: str = "linear"

    def __post_init__(self) -> None:
        if np.shape(self.velocities) != (np.size(self.heights), 3):
            have, n = np.shape(self.velocities), np.size(self.heights)
            raise FieldError(f"velocities of a wind profile have shape {have}; {n} heights need ({n}, 3)", "velocities")
        _ = self._table  # checked before any work starts

    def __call__(self, t: Any, position: Any, height: Any) -> Array:
        result: Array = self._table(height)
        return result

    @cached_property
    def _table(self) -> Table:
        return Table((self.heights,), self.velocities, self.method)  # type: ignore[arg-type]


@dataclass(frozen=True, eq=False)
class Gust:
    """A discrete gust in time: it grows like (1 - cos(pi s))/2 to its velocity (3,) [m/s] north, east, down.

    start, rise [s]: when it begins, and how long it grows. An aircraft with the airspeed V passes a gust of the
    gradient distance H in rise = H/V.
    shape: "far" (FAR 25.341): it then dies down in the same way; "mil" (MIL-F-8785C, 3.7.3): it then stays.
    """

    velocity: Annotated[ArrayLike, "m/s"]
    rise: Annotated[float, "s"]
    start: Annotated[float, "s"] = 0.0
    shape: str = "far"

    def __post_init__(self) -> None:
        _require_vector("velocity", self.velocity)
        if self.shape not in SHAPES:
            raise FieldError(f"shape={self.shape!r} of a gust is unknown; there are {SHAPES}", "shape")
        if not is_traced(self.rise) and not 0 < self.rise < np.inf:
            raise FieldError(f"rise={self.rise!r} s of a gust must be more than 0", "rise")

    def __call__(self, t: Any, position: Any, height: Any) -> Array:
        return one_minus_cosine((t - self.start) / self.rise, self.shape) * as_array(self.velocity)


def one_minus_cosine(s: Any, shape: str = "far") -> Any:
    """(1 - cos(pi s))/2, where s is the way into a gust over its gradient distance; 0 before it.

    Behind s = 2 it is 0 ("far", FAR 25.341), or 1 behind s = 1 ("mil", MIL-F-8785C).
    """
    inside = np.clip(s, 0.0, 2.0 if shape == "far" else 1.0)
    return 0.5 - 0.5 * np.cos(np.pi * inside)


def wind_from(direction: Any, speed: Any) -> Array:
    """The velocity (3,) north, east, down of a wind that comes from a direction [rad, from north over east]."""
    return vector(-speed * np.cos(direction), -speed * np.sin(direction), 0.0)


def total_wind(winds: Sequence[Wind], t: Any, position: Any, height: Any) -> Array:
    """The sum of winds at a time [s] and place: (3,) [m/s] north, east, down."""
    return sum((wind(t, position, height) for wind in winds), np.zeros(3))


def _require_vector(name: str, v: Any) -> None:
    if np.shape(as_array(v)) != (3,) or (not is_traced(v) and not np.all(np.isfinite(as_array(v)))):
        raise FieldError(f"{name}={v!r} of a wind must be three finite numbers [m/s]: north, east, down", name)
