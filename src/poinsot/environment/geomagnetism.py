"""The magnetic field of the Earth: a tilted dipole, or the International Geomagnetic Reference Field to degree 13.

The potential is V = a sum (a/r)^(n+1) (g cos(m phi) + h sin(m phi)) P_n^m(cos theta) with Schmidt's normalisation
(Alken et al., Earth, Planets and Space 73:49, 2021). Written with the unit vector u = p/r, s = u_z, the polynomials
H_n^m = P_n^m / sin^m theta and C + i S = (u_x + i u_y)^m it has no angle, and so no singular pole (Pines, AIAA Journal
11, 1973).
"""

from functools import cache
from importlib import resources
from typing import Any

import numpy as np

from poinsot._errors import FieldError
from poinsot._optional import require
from poinsot._types import Array, ArrayLike
from poinsot.environment import epochs
from poinsot.spatial.arrays import components, vector

A = 6371200.0  # [m], the radius of the harmonics
MAGNETIC = ("dipole", "igrf")
Gauss = dict[tuple[int, int], tuple[float, float]]  # g, h [T] by degree and order
# Of IGRF-14 for 2025.0.
DIPOLE: Gauss = {(1, 0): (-29350.0e-9, 0.0), (1, 1): (-1410.3e-9, 4545.5e-9)}


def field(p: ArrayLike, coefficients: Gauss) -> Array:
    """B_E (..., 3) [T] at p_E (..., 3) [m], Earth-fixed axes: -grad V."""
    x, y, z = components(p)
    near = 1 / np.sqrt(x * x + y * y + z * z)
    ux, uy, s = x * near, y * near, z * near
    top = max(n for n, _ in coefficients)
    H, powers = polynomials(s, top), _powers(ux, uy, top)
    total = [0.0 * s] * 3
    radial = 0.0 * s
    for n in range(top, 0, -1):  # small terms first
        scale = (A * near) ** (n + 2)
        for m in range(n + 1):
            g, h = coefficients[n, m]
            (C, S), (c, d), (P, dP) = powers[m], powers[max(m - 1, 0)], H[n, m]
            D = g * C + h * S
            total[0] = total[0] + scale * (m * (g * c + h * d) * P)
            total[1] = total[1] + scale * (m * (h * c - g * d) * P)
            total[2] = total[2] + scale * (D * dP)
            radial = radial + scale * (D * ((n + 1 + m) * P + s * dP))
    return vector(radial * ux - total[0], radial * uy - total[1], radial * s - total[2])


def polynomials(s: Any, top: int) -> dict[tuple[int, int], tuple[Any, Any]]:
    """H_n^m and its derivative at s = cos theta: H_m^m = sqrt((2m - 1)/(2m)) H_(m-1)^(m-1), H_1^1 = H_0^0 = 1, and
    sqrt(n^2 - m^2) H_n^m = (2n - 1) s H_(n-1)^m - sqrt((n-1)^2 - m^2) H_(n-2)^m."""
    H: dict[tuple[int, int], tuple[Any, Any]] = {}
    sectoral = 1.0
    for m in range(top + 1):
        sectoral *= np.sqrt((2 * m - 1) / (2 * m)) if m > 1 else 1.0
        H[m, m] = (sectoral, 0.0)
        for n in range(m + 1, top + 1):
            (P, dP), (Q, dQ) = H[n - 1, m], H.get((n - 2, m), (0.0, 0.0))
            k, b = 1 / np.sqrt(n * n - m * m), np.sqrt(max((n - 1) ** 2 - m * m, 0))
            H[n, m] = (((2 * n - 1) * s * P - b * Q) * k, ((2 * n - 1) * (P + s * dP) - b * dQ) * k)
    return H


def _powers(ux: Any, uy: Any, top: int) -> list[tuple[Any, Any]]:
    """(u_x + i u_y)^m as pairs of real and imaginary part."""
    powers: list[tuple[Any, Any]] = [(1.0, 0.0)]
    for _ in range(top):
        C, S = powers[-1]
        powers.append((C * ux - S * uy, C * uy + S * ux))
    return powers


def igrf(epoch: Any) -> Gauss:
    """The coefficients for an epoch, linear between those of the years that the model has; beyond, an error."""
    years, table = _table()
    knots, d = [epochs.days(f"{year:04.0f}-01-01") for year in years], epochs.days(epoch)
    if not knots[0] <= d <= knots[-1]:
        raise FieldError(
            f"epoch={epochs.written(epoch)!r} is outside of the magnetic field model, which is for {years[0]:g} to "
            f"{years[-1]:g}; choose an epoch within, or magnetic='dipole'.",
            "epoch",
        )
    value = {key: 1e-9 * float(np.interp(d, knots, row)) for key, row in table.items()}
    return {(n, m): (value[n, m], value.get((n, -m), 0.0) if m else 0.0) for n, m in value if m >= 0}


@cache
def _table() -> tuple[Array, dict[tuple[int, int], Array]]:
    """The years and the coefficients [nT] at them, h with the order's sign changed, of the newest file of ppigrf."""
    require("ppigrf", "orbits", "magnetic='igrf'")
    files = [f for f in resources.files("ppigrf").iterdir() if f.name.endswith(".shc")]
    text = max(files, key=lambda f: f.name).read_text(encoding="utf-8")
    rows = [line.split() for line in text.splitlines() if line.strip() and not line.startswith("#")]
    return np.array(rows[1], dtype=float), {(int(n), int(m)): np.array(x, dtype=float) for n, m, *x in rows[2:]}
