"""Dryden turbulence: the strengths and lengths of MIL-F-8785C, and the filters that shape white noise into gusts.

Gusts u, v, w along the axes of an aircraft that flies with the airspeed V, and rates p, q, r, have the spectra

    Phi_u = sigma_u^2 2 L_u/(pi V) / (1 + (L_u omega/V)^2)
    Phi_v = sigma_v^2 L_v/(pi V) (1 + 3 (L_v omega/V)^2) / (1 + (L_v omega/V)^2)^2, and w likewise
    Phi_p = sigma_w^2/(V L_w) 0.8 (pi L_w/4 b)^(1/3) / (1 + (4 b omega/(pi V))^2)
    q = (s/V)/(1 + 4 b s/(pi V)) w,    r = (s/V)/(1 + 3 b s/(pi V)) v

one-sided in omega [rad/s], so that their integrals from 0 to infinity are the variances. b [m] is the wing span.
MIL-F-8785C (1980), 3.7.1 and 3.7.2, in the form in which L_v and L_w are twice those of MIL-HDBK-1797.
"""

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from poinsot._errors import FieldError
from poinsot.fuse import Table, is_traced

FOOT = 0.3048
LOW, HIGH = 1000 * FOOT, 2000 * FOOT  # [m] above the ground: the low-altitude model below, the high one above
LEAST = 10 * FOOT  # [m]: the low-altitude model is not meant for less
LENGTH = 1750 * FOOT  # [m] of all three axes at high altitude
# Strengths [ft/s] at altitudes [ft], by the probability that they are exceeded: MIL-F-8785C, figure 7.
_ALTITUDES = np.array([500, 1750, 3750, 7500, 15e3, 25e3, 35e3, 45e3, 55e3, 65e3, 75e3, 80e3]) * FOOT
_STRENGTHS = {
    2e-1: (3.2, 2.2, 1.5, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0),
    1e-1: (4.2, 3.6, 3.3, 1.6, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0),
    1e-2: (6.6, 6.9, 7.4, 6.7, 4.6, 2.7, 0.4, 0.0, 0.0, 0.0, 0.0, 0.0),
    1e-3: (8.6, 9.6, 10.6, 10.1, 8.0, 6.6, 5.0, 4.2, 2.7, 0.0, 0.0, 0.0),
    1e-4: (11.8, 13.0, 16.0, 15.1, 11.6, 9.7, 8.1, 8.2, 7.9, 4.9, 3.2, 2.1),
    1e-5: (15.6, 17.6, 23.0, 23.6, 22.1, 20.0, 16.0, 15.1, 12.1, 7.9, 6.2, 5.1),
    1e-6: (18.7, 21.5, 28.4, 30.2, 30.7, 31.0, 25.2, 23.1, 17.5, 10.7, 8.4, 7.2),
}
SEVERITIES = {"light": 1e-2, "moderate": 1e-3, "severe": 1e-5}


class Turbulence(NamedTuple):
    """Scale lengths [m] and strengths [m/s] of the gusts along the three axes."""

    L_u: Any
    L_v: Any
    L_w: Any
    sigma_u: Any
    sigma_v: Any
    sigma_w: Any


@dataclass(frozen=True)
class GustFilter:
    """The filter K (1 + T s)/((1 + T1 s)(1 + T2 s)) of white noise whose autocorrelation is Dirac's delta(t) [1/s]."""

    K: Any
    T: Any
    T1: Any
    T2: Any

    def spectrum(self, omega: Any) -> Any:
        """The one-sided spectral density of y at omega [rad/s], 1/pi times |y/noise|^2."""
        s = omega * omega
        return self.K**2 / np.pi * (1 + s * self.T**2) / ((1 + s * self.T1**2) * (1 + s * self.T2**2))


def turbulence(height: Any, wind_at_6m: Any, severity: str | float = "light") -> Turbulence:
    """Lengths and strengths at a height [m] above the ground; linear between 1000 ft and 2000 ft.

    Below 1000 ft: L_w = h, L_u = L_v = h/(0.177 + 0.000823 h)^1.2, sigma_w = 0.1 W_20, sigma_u = sigma_v =
    sigma_w/(0.177 + 0.000823 h)^0.4 with h in ft; W_20 is the wind 20 ft (6 m) above the ground.
    Above 2000 ft: 1750 ft, and a strength that depends on the altitude and the severity.
    """
    exceeded: Any = SEVERITIES.get(severity, severity) if isinstance(severity, str) else severity
    if exceeded not in _STRENGTHS:
        known = f"{tuple(SEVERITIES)}, or the probability that it is exceeded, {tuple(_STRENGTHS)}"
        raise FieldError(f"severity={severity!r} of turbulence is unknown; there are {known}", "severity")
    if not is_traced(wind_at_6m) and np.any(np.less(wind_at_6m, 0)):
        raise FieldError(f"wind_at_6m={wind_at_6m!r} m/s of turbulence must not be negative", "wind_at_6m")
    h = np.clip(height, LEAST, LOW) / FOOT
    shape = 0.177 + 0.000823 * h
    sigma_w = 0.1 * wind_at_6m
    low = (h / shape**1.2 * FOOT, h / shape**1.2 * FOOT, h * FOOT, sigma_w / shape**0.4, sigma_w / shape**0.4, sigma_w)
    strength = Table((_ALTITUDES,), np.array(_STRENGTHS[exceeded]) * FOOT)(np.maximum(height, HIGH))
    high = (LENGTH, LENGTH, LENGTH, strength, strength, strength)
    mix = np.clip((height - LOW) / (HIGH - LOW), 0.0, 1.0)
    return Turbulence(*(a + mix * (b - a) for a, b in zip(low, high, strict=True)))


def gust_filters(gusts: Turbulence, airspeed: Any) -> dict[str, GustFilter]:
    """The filters of white noise that give the gusts u, v, w [m/s] along the axes of the aircraft."""
    V = airspeed
    Tu, Tv, Tw = gusts.L_u / V, gusts.L_v / V, gusts.L_w / V
    return {
        "u": GustFilter(gusts.sigma_u * np.sqrt(2 * Tu), 0.0, Tu, 0.0),
        "v": GustFilter(gusts.sigma_v * np.sqrt(Tv), np.sqrt(3.0) * Tv, Tv, Tv),
        "w": GustFilter(gusts.sigma_w * np.sqrt(Tw), np.sqrt(3.0) * Tw, Tw, Tw),
    }


def roll_filter(gusts: Turbulence, airspeed: Any, span: Any) -> GustFilter:
    """The filter of white noise that gives the rate of roll p [rad/s] of the gusts across a wing span [m]."""
    T = 4 * span / (np.pi * airspeed)
    K = gusts.sigma_w * np.sqrt(0.8 * np.pi / airspeed) * (np.pi / (4 * span)) ** (1 / 6) / gusts.L_w ** (1 / 3)
    return GustFilter(K, 0.0, T, 0.0)
