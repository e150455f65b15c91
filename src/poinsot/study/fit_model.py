"""A run as a function of numbers of the world, with exact derivatives: what a fit compares with measurements."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from poinsot._memo import memo
from poinsot._types import Array
from poinsot.fuse import Kernel, jvp
from poinsot.run.compiled import CompiledSystem
from poinsot.study.sensitivities import picked
from poinsot.world import System


@dataclass(frozen=True, eq=False)
class FitModel:
    """The quantities `names` of a system over time, and their derivatives by its free numbers."""

    system: System
    names: tuple[str, ...]
    method: str
    functions: tuple[tuple[str, Callable[..., Any]], ...]

    @cached_property
    def compiled(self) -> CompiledSystem:
        return CompiledSystem(self.system, self.method, dict(self.functions), False)

    @cached_property
    def shapes(self) -> dict[str, tuple[int, ...]]:
        """The shapes of the quantities."""
        start = self.system.first_motion()
        return {name: np.shape(picked(self.system, name)(start)) for name in self.names}

    @property
    def count(self) -> int:
        return sum(int(np.prod(shape)) for shape in self.shapes.values())

    @cached_property
    def _begin(self) -> Any:
        """p, dp -> x and dx at the start."""
        c = self.compiled
        begin = Kernel(lambda p: c._to_stepped(c._start(p), p), f"({c.np})->({c.nx})")
        return jvp(begin, 0)

    @cached_property
    def _advance(self) -> Any:
        """(x, p, first, h, n), dx, dp -> x and dx after n steps."""
        c = self.compiled

        def advance(x: Array, p: Array, first: Array, h: Array, n: Array) -> Array:
            return c._advance(x, p, 0.0, first, h, n)

        return jvp(Kernel(advance, f"({c.nx}),({c.np}),(),(),()->({c.nx})"), (0, 1))

    @cached_property
    def _measure(self) -> Any:
        """(t, x, p), dx, dp -> the quantities and their changes."""
        c, picks = self.compiled, [picked(self.system, name) for name in self.names]

        def measure(t: Array, x: Array, p: Array) -> Array:
            motion = c.context(p).motion(t, c.unpack(c._from_stepped(x, p)).state)
            return np.concatenate([np.ravel(1.0 * of(motion)) for of in picks])

        return jvp(Kernel(measure, f"(),({c.nx}),({c.np})->({self.count})"), (1, 2))

    def predicted(self, p: Array, along: Array, h: float, steps: Array) -> tuple[Array, Array]:
        """The quantities (r, k) at step numbers `steps` (r,) of h [s], and their derivatives (r, k, m) along
        directions (m, np) of the parameters p (np,)."""
        with np.errstate(all="ignore"):
            x, dx = self._begin(p, along)
            values, slopes, done = [], [], 0
            for n in steps:
                if n > done:
                    x, dx = self._advance(x, p, float(done), h, float(n - done), dx, along)
                    done = n
                y, dy = self._measure(n * h, x, p, dx, along)
                values.append(y[0])
                slopes.append(dy.T)
        return np.array(values), np.array(slopes)


@memo
def fit_model(
    system: System, names: tuple[str, ...], method: str, functions: tuple[tuple[str, Callable[..., Any]], ...]
) -> FitModel:
    """The model of a system, compiled once."""
    return FitModel(system, names, method, functions)


def measured_over_time(data: Any) -> tuple[Array, dict[str, Array]]:
    """Times (r,) [s] and values (r, ...) by name: of an xarray.Dataset such as run.data, or of a dict with "time"."""
    if hasattr(data, "data_vars") and "time" in data.coords:
        given = {str(k): x.values for k, x in data.data_vars.items() if "time" in x.dims}
        return _numbers("time", data["time"].values), {name: _numbers(name, x) for name, x in given.items()}
    if not isinstance(data, Mapping) or hasattr(data, "data_vars") or "time" not in data:
        raise ValueError(
            "the data of a fit must be a dataset over 'time', or a dict with 'time' and quantities by name."
        )
    arrays = {str(name): _numbers(str(name), x) for name, x in data.items() if name != "time"}
    return _numbers("time", data["time"]), arrays


def _numbers(name: str, x: Any) -> Array:
    """The values as an array of real numbers; NaN where nothing was measured."""
    try:
        array = np.asarray(x)
        if array.dtype.kind not in "biuf":
            raise ValueError
        values = array.astype(float)
    except (TypeError, ValueError):
        raise ValueError(f"{name!r} of the data must be an array of real numbers.") from None
    if np.isinf(values).any():
        at = np.argwhere(np.isinf(values))[0].tolist()
        raise ValueError(f"{name!r} of the data is infinite at {at}; put NaN where nothing was measured.")
    return values
