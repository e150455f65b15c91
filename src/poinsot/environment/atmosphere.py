"""Air as a function of height: the U.S. Standard Atmosphere 1976, and atmospheres of one's own.

An atmosphere is a pile of layers. In each, the molecular-scale temperature T_M = T M_0/M changes at a constant rate L
with the geopotential height H, and the air is at rest under its weight, dp/dH = -rho g_0:

    p = p_b exp(-K I),   I = integral of dH/T_M = log(1 + x)/L,   x = L (H - H_b)/T_b,   K = g_0 M_0/R

One formula for all layers: no branch, one logarithm and one exponential, whatever the number of layers.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Annotated, Any

import numpy as np

from poinsot._errors import FieldError
from poinsot._types import Array, ArrayLike, Scalar
from poinsot.fuse import is_traced, locate

R = 8314.32  # [J/(kmol K)], as all that follows: U.S. Standard Atmosphere 1976, table 2
M_0 = 28.964425278794  # [kg/kmol] of air at sea level: the mean of table 3, which the text rounds to 28.9644
G_0 = 9.80665  # [m/s^2]
R_0 = 6356766.0  # [m] radius of the Earth in geopotential heights
GAMMA = 1.4  # ratio of the specific heats
P_0, T_0 = 101325.0, 288.15  # [Pa], [K] at sea level
RHO_0 = P_0 * M_0 / (R * T_0)  # [kg/m^3]
A_0 = float(np.sqrt(GAMMA * R / M_0 * T_0))  # [m/s] speed of sound
BETA, S = 1.458e-6, 110.4  # [kg/(s m K^1/2)], [K] of Sutherland's law
K = G_0 * M_0 / R  # [K/m]

# Geopotential heights [m] of the layers up to 86 km and the rates of temperature [K/m] in them: table 4.
BASES = np.array([0.0, 11e3, 20e3, 32e3, 47e3, 51e3, 71e3])
RATES = np.array([-6.5e-3, 0.0, 1e-3, 2.8e-3, 0.0, -2.8e-3, -2e-3])
# Above: geometric height [km], T_M [K], M/M_0. In layers between these, p and rho stay within 0.6 % and T within 1 % of
# an evaluation of the standard's equations of diffusion.
HIGH = np.array(
    """
    91.5 187.0 .9983    96 190.0 .9948     100 199.5 .9758    104 212.8 .9641    107 227.0 .9538    110 254.0 .9399
    115 327.6 .9197     120 400.6 .8952    128 513.1 .8785    138 638.6 .8512    150 771.7 .8239    170 958.6 .7820
    200 1178.8 .7269    240 1395.2 .6675   290 1581.6 .6147   350 1721.6 .5753   430 1848.2 .5394   500 1997.1 .4999
    560 2218.0 .4495    620 2611.1 .3811   680 3243.1 .3054   750 4283.7 .2312   830 5614.2 .1766   920 6727.5 .1487
    1000 7322.5 .1366
    """.split(),
    dtype=float,
).reshape(-1, 3)


@dataclass(frozen=True, eq=False)
class Air:
    """Air at a place: temperature [K], pressure [Pa], density [kg/m^3]."""

    temperature: Annotated[Any, "K"]
    pressure: Annotated[Any, "Pa"]
    density: Annotated[Any, "kg/m^3"]

    @property
    def speed_of_sound(self) -> Array:
        """a = sqrt(gamma p/rho) [m/s]. The standard gives it up to 86 km only."""
        return np.sqrt(GAMMA * self.pressure / self.density)

    @property
    def viscosity(self) -> Array:
        """Sutherland's law: beta T^(3/2)/(T + S) [Pa s]. The standard gives it up to 86 km only."""
        T = self.temperature
        return BETA * T * np.sqrt(T) / (T + S)


@dataclass(frozen=True, eq=False)
class Atmosphere:
    """Layers of air; `US76` and `Atmosphere.table` make them.

    heights: geopotential heights [m] of the ends of layers, increasing; the first and the last layer go on beyond them.
    temperatures: T_M [K] at the heights. pressures: p [Pa] there.
    molar: M/M_0 at the heights.
    offset: added to the temperature everywhere. The pressure at a height stays, the density changes by the gas law.
    top: [m], the geometric height up to which it is meant.
    """

    heights: Annotated[Array, "m"]
    temperatures: Annotated[Array, "K"]
    pressures: Annotated[Array, "Pa"]
    molar: Annotated[Any, "1"] = 1.0
    offset: Annotated[float, "K"] = 0.0
    top: Annotated[float, "m"] = np.inf

    def __post_init__(self) -> None:
        for name in ("heights", "temperatures", "pressures", "molar"):
            array = _plain(getattr(self, name))
            array = np.repeat(array, np.size(self.heights)) if array.ndim == 0 else array
            object.__setattr__(self, name, array)
            if array.ndim != 1 or len(array) < 2 or array.shape != np.shape(self.heights):
                raise FieldError(f"{name} of the atmosphere must be two or more numbers, as many as heights", name)
            if not np.all(np.isfinite(array)) or (name != "heights" and np.any(array <= 0)):
                raise FieldError(f"{name} of the atmosphere must be finite and more than 0: {array}", name)
        _monotonic("heights", self.heights, 1)
        _monotonic("pressures", self.pressures, -1)
        lowest = np.min(np.multiply(self.temperatures, self.molar))
        if not is_traced(self.offset) and not lowest + self.offset > 0:
            words = f"offset={self.offset!r} K leaves no temperature: the lowest is {lowest:g} K"
            raise FieldError(f"{words}. Give a larger offset", "offset")

    @staticmethod
    def table(
        heights: Sequence[float] | Array,
        temperatures: Sequence[float] | Array,
        pressures: float | Sequence[float] | Array = P_0,
        offset: float = 0.0,
    ) -> "Atmosphere":
        """An atmosphere from temperatures [K] at geometric heights [m], linear between them in geopotential height.

        pressures [Pa]: one at each height, which are met exactly, or that at the first, the rest by the air's weight.
        """
        z, T, p = map(_plain, (heights, temperatures, pressures))
        _monotonic("heights", z, 1)
        H = geopotential(z)
        if T.shape != z.shape:
            raise FieldError(f"{z.size} heights and {T.size} temperatures; there must be as many", "temperatures")
        p = _hydrostatic(H, T, float(p)) if p.ndim == 0 else p
        return Atmosphere(H, T, p, offset=offset, top=float(z[-1]))

    def at(self, height: Scalar) -> Air:
        """The air at a geometric height [m]; beyond the heights the outermost layers go on."""
        T_M, ratio, p = self._state(geopotential(height))
        T = T_M * ratio + self.offset
        return Air(T, p, p * (M_0 / R) * (ratio / T))

    def _state(self, H: Any) -> tuple[Any, Any, Any]:
        """T_M [K], M/M_0, p [Pa] at the geopotential height H [m]."""
        grid, rates, weights, slopes = self._layers
        i, base, _ = locate(H, grid)
        dH, T_b, L = H - base, _pick(self.temperatures, i), _pick(rates, i)
        x = L * dH / T_b
        I = dH / T_b * _log1p_over(x)
        k = weights[0] if np.ptp(weights) == 0 else _pick(weights, i)
        ratio = _pick(self.molar, i) + _pick(slopes, i) * dH if np.any(slopes) else self.molar[0]
        return T_b + L * dH, ratio, _pick(self.pressures, i) * np.exp(-k * I)

    @cached_property
    def _layers(self) -> tuple[Array, Array, Array, Array]:
        """The heights; in each layer the rate of T_M, the K with which it meets both pressures, the rate of M/M_0."""
        H, T, p = self.heights, self.temperatures, self.pressures
        dH = np.diff(H)
        rates = np.diff(T) / dH
        k = -np.diff(np.log(p)) / (dH / T[:-1] * _log1p_over(rates * dH / T[:-1]))
        k = np.where(np.abs(k / K - 1) < 1e-12, K, k)
        return H, rates, k, np.diff(self.molar) / dH


def US76(temperature_offset: float = 0.0) -> Atmosphere:
    """The U.S. Standard Atmosphere 1976, to 1000 km; on a day that is warmer by an offset [K] at all heights.

    Up to 86 km it is the standard, to rounding, and goes on with the first layer below the sea. Above it follows the
    standard's equations to 0.6 % (pressure, density) and 1 % (temperature), in layers.
    """
    H, T, p, molar = _STANDARD
    return Atmosphere(H, T, p, molar, temperature_offset, 1e6)


def geopotential(z: Any) -> Any:
    """The geopotential height H = r_0 z/(r_0 + z) [m] of a geometric height z [m]."""
    return R_0 * z / (R_0 + z)


def pressure_altitude(pressure: Scalar) -> Array:
    """The geopotential height [m] at which the standard atmosphere has a pressure [Pa]; to 86 km."""
    return _height_in_standard(pressure, _STANDARD[2][:8], 0.0)


def density_altitude(density: Scalar) -> Array:
    """The geopotential height [m] at which the standard atmosphere has a density [kg/m^3]; to 86 km."""
    return _height_in_standard(density, _STANDARD[2][:8] * (M_0 / R) / _STANDARD[1][:8], 1.0)


def _height_in_standard(x: Any, at_bases: Array, power: float) -> Any:
    """Where x falls like (T_b/T)^(K/L + power) from its values at the bases of the layers."""
    y = -np.log(x)
    i, start, _ = locate(y, -np.log(at_bases))
    L, T_b = _pick(RATES, i), _pick(_STANDARD[1], i)
    y = (y - start) / (K + power * L)
    return _pick(BASES, i) + T_b * y * _expm1_over(L * y)


def _log1p_over(x: Any) -> Any:
    """log(1 + x)/x."""
    small = np.abs(x) < 1e-9
    return np.where(small, 1 - 0.5 * x, np.log1p(x) / np.where(small, 1.0, x))


def _expm1_over(x: Any) -> Any:
    """(exp(x) - 1)/x."""
    small = np.abs(x) < 1e-9
    return np.where(small, 1 + 0.5 * x, np.expm1(x) / np.where(small, 1.0, x))


def _hydrostatic(H: Array, T: Array, p: float) -> Array:
    """The pressures [Pa] at H [m] of air at rest with the temperatures T [K], linear between: p at the first."""
    dH = np.diff(H)
    I = dH / T[:-1] * _log1p_over(np.diff(T) / T[:-1])
    return p * np.exp(-K * np.concatenate([[0.0], np.cumsum(I)]))


def _pick(values: Any, i: Any) -> Any:
    return np.asarray(values)[i]


def _monotonic(name: str, x: Any, sign: int) -> None:
    step = np.diff(x)
    if np.any(sign * step <= 0):
        k = int(np.argmax(sign * step <= 0))
        words = f"{name} of the atmosphere must {'rise' if sign > 0 else 'fall'}"
        raise FieldError(f"{words}, but {x[k]:g} is followed by {x[k + 1]:g}", name)


def _plain(x: ArrayLike) -> Array:
    """x as an array of floats, of plain ones also while a kernel is traced."""
    return np.ascontiguousarray(x, dtype=float).reshape(np.shape(x))


def _standard() -> tuple[Array, Array, Array, Array]:
    """Geopotential heights [m], T_M [K], p [Pa] and M/M_0 of the standard."""
    H = np.concatenate([BASES, [geopotential(86e3)], geopotential(HIGH[:, 0] * 1e3)])
    low = T_0 + np.concatenate([[0.0], np.cumsum(RATES * np.diff(H[:8]))])
    T = np.concatenate([low, HIGH[:, 1]])
    return H, T, _hydrostatic(H, T, P_0), np.concatenate([np.ones(8), HIGH[:, 2]])


_STANDARD = _standard()
