"""Numbers of a world from measurements of its motion: least squares on exact sensitivities, with covariance."""

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from poinsot._hints import hint
from poinsot._optional import require
from poinsot._types import Array
from poinsot.run.inputs import read_inputs
from poinsot.run.stepping import choose_method
from poinsot.study.fit_model import FitModel, fit_model, measured_over_time
from poinsot.world import World, paths

ALIKE = 1e-8  # singular values of the scaled slopes below this share of the largest: the data do not tell them apart
IDLE = 1e-13  # relative to the largest: slopes by rounding alone
FAR = 1e8  # stands for a residual that is not finite
LEAST = 1e-15  # tolerance
TINY = 1e-100  # a sigma whose square can be divided by
UNLIKELY = 10.0  # standard deviations of chi squared, beyond which the model does not explain the data
WELL, POORLY = 0.01, 0.3  # relative standard deviations


class FitError(ValueError):
    """Numbers that the data do not determine, or that were not found."""


@dataclass(frozen=True, eq=False)
class Fit:
    """Numbers of a world that fit measurements best.

    values (m,), covariance (m, m): of the numbers at `parameters`. residual (r, k): (model - data)/sigma. `spread`:
    their root mean square, about 1 if the sigmas are right; without given ones, sigma is scaled so that it is 1.
    """

    world: World
    parameters: tuple[str, ...]
    values: Array
    covariance: Array
    residual: Array
    spread: float
    evaluations: int
    message: str

    @cached_property
    def sigma(self) -> Array:
        """The standard deviations (m,)."""
        return np.sqrt(np.diagonal(self.covariance))

    @cached_property
    def correlation(self) -> Array:
        """(m, m), from -1 to 1."""
        return np.asarray(self.covariance / np.outer(self.sigma, self.sigma))

    def __getitem__(self, path: str) -> float:
        if path not in self.parameters:
            raise KeyError(f"{path!r} was not fitted{hint(path, self.parameters)}; {', '.join(self.parameters)} were.")
        return float(self.values[self.parameters.index(path)])

    @cached_property
    def fitted_world(self) -> World:
        """The world with these numbers."""
        found = dict(zip(self.parameters, self.values, strict=True))
        return World.of(paths.write(self.world.description, found))

    @property
    def data(self) -> Any:
        """An xarray.Dataset with the dimension "parameter"."""
        xarray = require("xarray", "", "the dataset of a fit")
        arrays = {"value": ("parameter", self.values), "sigma": ("parameter", self.sigma)}
        arrays["correlation"] = (("parameter", "other"), self.correlation)  # type: ignore[assignment]
        names = list(self.parameters)
        return xarray.Dataset(arrays, coords={"parameter": names, "other": names}, attrs={"spread": self.spread})

    def __str__(self) -> str:
        rows = [f"fit of {len(self.values)} numbers to {self.residual.size}, spread {self.spread:.4g}"]
        other = np.abs(self.correlation - np.eye(len(self.values)))
        for k, name in enumerate(self.parameters):
            share = self.sigma[k] / abs(self.values[k]) if self.values[k] else np.inf
            word = "well determined" if share < WELL else "determined" if share < POORLY else "poorly determined"
            rows.append(f"{name:<28}{self.values[k]:>14.6g} +- {self.sigma[k]:<10.3g}{word}")
            if len(self.values) > 1 and other[k].max() > 0.95:
                near = int(np.argmax(other[k]))
                rows[-1] += f", correlated {self.correlation[k, near]:.3f} with {self.parameters[near]}"
        return "\n".join(rows)


def fit(
    world: World,
    data: Any,
    parameters: Sequence[str],
    *,
    sigma: Mapping[str, Any] | float | None = None,
    inputs: Mapping[str, Any] | None = None,
    step: float = 1e-3,
    method: str | None = None,
    bounds: Mapping[str, tuple[float, float]] | None = None,
    tolerance: float = 1e-12,
) -> Fit:
    """The numbers at these paths for which a run of the world is nearest to data.

    data: an xarray.Dataset with the dimension "time", such as `run.data[["angular_velocity"]]`, or a dict of arrays
    with "time" [s] and quantities that can be recorded, "energy", or of one body, "box.position"; NaN where nothing was
    measured. Times are whole multiples of the step [s]. parameters: paths; of an array all entries, of a moment of
    inertia the six.
    sigma: the standard deviation of the noise, one for all or by name; without, the covariance follows from what is
    left. bounds: of numbers, by path. The first guess is the world as it is. Levenberg and Marquardt's method on the
    derivatives of the steps themselves, through SciPy (`scipy.optimize.least_squares`).
    """
    if isinstance(tolerance, bool) or not isinstance(tolerance, (int, float)) or not LEAST <= tolerance < 1:
        raise ValueError(f"tolerance must be a number from {LEAST:g} to 1, not {tolerance!r}.")
    names = _entries(world, parameters)
    system = world.system(names)
    times, arrays = measured_over_time(data)
    signals = read_inputs(system, inputs or {})
    if signals.jump:
        raise ValueError("an input that jumps cannot be fitted through: give a function of time.")
    model = fit_model(system, tuple(arrays), choose_method(method, system), tuple(signals.functions.items()))
    measured = Measured(model, _steps(times, step), step, *_compared(model, times, arrays, sigma))
    given = {name: values[0] for name, (_, values) in signals.held.items()}
    return _fitted(world, measured, names, given, bounds or {}, tolerance, sigma is not None)


@dataclass(frozen=True, eq=False)
class Measured:
    """Data (r, k) at step numbers (r,) of h [s], with weights (r, k), and the model for it."""

    model: FitModel
    steps: Array
    h: float
    data: Array
    weights: Array

    def compare(self, p: Array, along: Array) -> tuple[Array, Array]:
        """Residuals (r k,) and their derivatives (r k, m)."""
        values, slopes = self.model.predicted(p, along, self.h, self.steps)
        start = 0
        for name, shape in self.model.shapes.items():
            size = int(np.prod(shape))
            if name.endswith("orientation"):  # q and -q are the same
                for k in range(start, start + size, 4):
                    turned = np.sum(values[:, k : k + 4] * self.data[:, k : k + 4], axis=1) < 0
                    values[turned, k : k + 4] *= -1
                    slopes[turned, k : k + 4] *= -1
            start += size
        r = (values - self.data) * self.weights
        J = slopes * self.weights[..., None]
        keep = np.isfinite(self.data).ravel()
        r, J = r.ravel()[keep], J.reshape(-1, J.shape[-1])[keep]
        if not np.isfinite(r).all():
            return np.full(r.shape, FAR), np.zeros(J.shape)
        return r, np.nan_to_num(J)


def _fitted(
    world: World,
    measured: Measured,
    names: tuple[str, ...],
    inputs: Mapping[str, Any],
    bounds: Mapping[str, tuple[float, float]],
    tolerance: float,
    absolute: bool,
) -> Fit:
    """The numbers with the least residuals, from the world as it is."""
    optimize = require("scipy.optimize", "fit", "a fit")
    compiled = measured.model.compiled
    base, m = compiled.parameters({}, inputs), len(names)
    along = np.eye(m, len(base))
    first = base[:m].copy()
    known: dict[bytes, tuple[Array, Array]] = {}

    def at(x: Array) -> tuple[Array, Array]:
        if x.tobytes() not in known:
            known.clear()
            known[x.tobytes()] = measured.compare(np.concatenate([x, base[m:]]), along)
        return known[x.tobytes()]

    _require_enough(*at(first), names)
    low, high = _bounds(names, bounds, first)
    found = optimize.least_squares(
        lambda x: at(x)[0], first, jac=lambda x: at(x)[1], bounds=(low, high), x_scale="jac", xtol=tolerance,
        ftol=tolerance, gtol=tolerance, max_nfev=200,
    )  # fmt: skip
    if not found.success or np.all(found.fun == FAR):
        raise FitError(f"the fit did not settle after {found.nfev} runs: {found.message}")
    r, J = at(found.x)
    _require_apart(J, names)
    spread = float(np.sqrt(r @ r / max(len(r) - m, 1)))
    covariance = np.linalg.inv(J.T @ J) * (1.0 if absolute else spread**2)
    result = Fit(world, names, found.x, covariance, r, spread, int(found.nfev), str(found.message))
    _warn_of(result, absolute)
    return result


def _warn_of(found: Fit, absolute: bool) -> None:
    """A warning if the data are not explained by the sigmas that were given, or no world can have these numbers."""
    free = max(len(found.residual) - len(found.values), 1)
    if absolute and found.spread**2 > 1 + UNLIKELY * np.sqrt(2 / free):
        warnings.warn(
            f"the residuals of the fit are {found.spread:.3g} times what sigma says: the model does not explain the "
            "data, and the sigmas of its numbers are too small. Check units and frames of the data, the noise, and "
            "what is missing in the world.",
            stacklevel=4,
        )
    try:
        found.fitted_world.system()
    except ValueError as error:
        warnings.warn(
            f"no world can have the numbers that fit best: {error} Give bounds, or measure more.", stacklevel=4
        )


def _require_enough(r: Array, J: Array, names: Sequence[str]) -> None:
    """An error if the data, or the run of the first guess, do not suffice."""
    if len(r) < len(names):
        raise FitError(f"{len(names)} numbers cannot be told from {len(r)} measurements.")
    if np.all(r == FAR):
        raise FitError(
            "the world as it is breaks down before the data end: begin with other numbers, or a shorter step."
        )
    _require_apart(J, names)


def _require_apart(J: Array, names: Sequence[str]) -> None:
    """An error that names numbers that change the data alike, or not at all."""
    sizes = np.linalg.norm(J, axis=0)
    if idle := [name for name, size in zip(names, sizes, strict=True) if size <= IDLE * sizes.max()]:
        raise FitError(f"the data do not depend on {', '.join(idle)}: leave it out, or measure more.")
    _, values, V = np.linalg.svd(J / sizes, full_matrices=False)
    if values[-1] < ALIKE * values[0]:
        shares = np.abs(V[values < ALIKE * values[0]]).max(axis=0)
        alike = [name for name, share in zip(names, shares, strict=True) if share > 0.05]
        raise FitError(
            f"the data do not tell {', '.join(alike)} apart: changes of them together leave it as it is. Hold one of "
            "them, or measure more."
        )


def _bounds(names: Sequence[str], bounds: Mapping[str, tuple[float, float]], first: Array) -> tuple[Array, Array]:
    for path in bounds:
        if path not in names:
            raise ValueError(f"bounds of {path!r}, which is not fitted{hint(path, names)}.")
    try:
        pairs = np.array([bounds.get(name, (-np.inf, np.inf)) for name in names], dtype=float).reshape(len(names), 2)
    except (TypeError, ValueError):
        raise ValueError(f"bounds={dict(bounds)!r}: give a pair of numbers per path, (low, high).") from None
    for name, (low, high), x in zip(names, pairs, first, strict=True):
        if not low < x < high:
            raise ValueError(f"{name} = {x:g} of the world must lie within its bounds, {low:g} to {high:g}.")
    return pairs[:, 0], pairs[:, 1]


def _entries(world: World, parameters: Sequence[str]) -> tuple[str, ...]:
    """The paths of single numbers: of arrays their entries, of a symmetric matrix those above the diagonal."""
    if isinstance(parameters, str) or not list(parameters):
        raise ValueError("name the numbers to be fitted: parameters=['box.mass', ...].")
    names: list[str] = []
    for path in parameters:
        try:
            shape = world[path].shape
        except KeyError as error:
            near = hint(str(path), world.paths()) or f": {error.args[0]}"
            raise ValueError(f"{path!r} is not a number of the world{near}") from error
        pairs = np.ndindex(*shape) if len(shape) < 2 else ((i, j) for i in range(3) for j in range(i, 3))
        names += [path] if shape == () else [f"{path}[{','.join(map(str, k))}]" for k in pairs]
    twice = [name for k, name in enumerate(names) if name in names[:k]]
    if twice:
        raise ValueError(f"{twice[0]!r} is named twice.")
    return tuple(names)


def _steps(times: Array, step: float) -> Array:
    """The step numbers of the data."""
    if times.ndim != 1 or len(times) < 1 or not np.all(np.isfinite(times)) or np.any(times < 0):
        raise ValueError("the times of the data must be finite numbers from 0 on.")
    if not step > 0 or np.any(np.diff(times) <= 0):
        raise ValueError("the times of the data must increase, and the step must be above zero.")
    steps = np.rint(times / step).astype(int)
    off = np.abs(steps * step - times)
    if off.max() > 1e-6 * step + 1e-12 * times.max():
        k = int(np.argmax(off))
        raise ValueError(f"the time {times[k]:g} s of the data is not a whole multiple of the step, {step:g} s.")
    return steps


def _compared(
    model: FitModel, times: Array, arrays: Mapping[str, Array], sigma: Mapping[str, Any] | float | None
) -> tuple[Array, Array]:
    """The data (r, k), and 1/sigma (r, k)."""
    if not arrays:
        raise ValueError("the data have times alone: add quantities, such as 'box.angular_velocity'.")
    if isinstance(sigma, Mapping) and (strange := [name for name in sigma if name not in arrays]):
        raise ValueError(f"sigma of {strange[0]!r}, which is not in the data{hint(strange[0], arrays)}.")
    columns, weights = [], []
    for name, x in arrays.items():
        shape = (len(times), *model.shapes[name])
        if x.shape != shape:
            raise ValueError(f"{name!r} of the data has the shape {x.shape}; {shape} is needed.")
        one = sigma.get(name) if isinstance(sigma, Mapping) else 1.0 if sigma is None else sigma
        columns.append(x.reshape(len(times), -1))
        weights.append(1 / _sigma(name, one, shape).reshape(len(times), -1))
    return np.concatenate(columns, axis=1), np.concatenate(weights, axis=1)


def _sigma(name: str, sigma: Any, shape: tuple[int, ...]) -> Array:
    """The standard deviations of a quantity, (r, ...)."""
    try:
        full = np.broadcast_to(np.asarray(sigma, dtype=float), shape)
    except (TypeError, ValueError):
        full = np.zeros(1)
    if sigma is None or not np.all((full > TINY) & np.isfinite(full)):
        raise ValueError(
            f"sigma of {name!r} must be above zero, a number or an array of the shape {shape}, not {sigma!r}."
        )
    return full
