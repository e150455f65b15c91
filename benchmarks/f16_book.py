"""The F-16 of Stevens, Lewis and Johnson (2015) as one function, for compilers to be compared with: ft, slug, rad.

Its tables are those of examples/fighter.toml; angles go into them in degrees.
"""

import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

EXAMPLE = Path(__file__).parents[1] / "examples" / "fighter.toml"
S, B, C, XCGR, XCG, HX, G, MASS = 300.0, 30.0, 11.32, 0.35, 0.30, 160.0, 32.17, 20500 / 32.17
IXX, IYY, IZZ, IXZ = 9496.0, 55814.0, 63100.0, 982.0
GAMMA = IXX * IZZ - IXZ**2
DEGREES = 57.29577951308232
STATES, CONTROLS = 12, 4


def tables() -> dict[str, tuple[list[np.ndarray], np.ndarray]]:
    """Axes and values by name, in the units of the book."""
    found = {}
    for table in tomllib.loads(EXAMPLE.read_text())["table"]:
        axes = [np.array(axis["points"] if isinstance(axis, dict) else axis) for axis in table["axes"].values()]
        found[table["name"]] = (
            [np.asarray(axis, dtype=float) for axis in axes],
            np.array(table["values"], dtype=float),
        )
    return found


def model(T: Any, select: Callable[..., Any]) -> Callable[..., Any]:
    """The derivative of V, alpha, beta, phi, theta, psi, p, q, r, east, north, altitude is that of the aircraft at a
    fixed power; T: its tables as functions, by attributes; select(condition, a, b)."""
    CX, Cm, CZ, Cl, Cn = T.CX_of, T.Cm_of, T.CZ_of, T.Cl_side, T.Cn_side
    dlda, dldr, dnda, dndr = T.Cl_aileron_of, T.Cl_rudder_of, T.Cn_aileron_of, T.Cn_rudder_of
    CXq, CYr, CYp, CZq, Clr = T.CXq_of, T.CYr_of, T.CYp_of, T.CZq_of, T.Clr_of
    Clp, Cmq, Cnr, Cnp = T.Clp_of, T.Cmq_of, T.Cnr_of, T.Cnp_of
    idle, mil, full = T.T_idle, T.T_mil, T.T_max
    sin, cos, sqrt = np.sin, np.cos, np.sqrt

    def f16(V, al, be, phi, th, psi, p, q, r, h, P, el, ail, rdr):  # type: ignore[no-untyped-def]
        a, b = al * DEGREES, be * DEGREES
        fall = 1 - 0.703e-5 * h
        rho, temperature = 2.377e-3 * fall**4.14, select(h >= 35000.0, 390.0, 519.0 * fall)
        mach, qS = V / sqrt(1.4 * 1716.3 * temperature), 0.5 * rho * V * V * S
        lo, mid, hi = idle(mach, h), mil(mach, h), full(mach, h)
        thrust = select(P < 0.5, lo + (mid - lo) * 2 * P, mid + (hi - mid) * (2 * P - 1))
        side, sign, da, dr = select(b < 0, -b, b), select(b < 0, -1.0, 1.0), ail / 20, rdr / 30
        b2V, c2V = 0.5 * B / V, 0.5 * C / V
        cx = CX(el, a) + CXq(a) * q * c2V
        cy = -0.02 * b + 0.021 * da + 0.086 * dr + b2V * (CYr(a) * r + CYp(a) * p)
        cz = CZ(a) * (1 - be * be) - 0.19 * el / 25 + CZq(a) * q * c2V
        cl = sign * Cl(side, a) + dlda(b, a) * da + dldr(b, a) * dr + b2V * (Clr(a) * r + Clp(a) * p)
        cm = Cm(el, a) + Cmq(a) * q * c2V + cz * (XCGR - XCG)
        cn = sign * Cn(side, a) + dnda(b, a) * da + dndr(b, a) * dr + b2V * (Cnr(a) * r + Cnp(a) * p)
        cn = cn - cy * (XCGR - XCG) * C / B
        sb, cb = sin(be), cos(be)
        u, v, w = V * cos(al) * cb, V * sb, V * sin(al) * cb
        sth, cth, sph, cph, sps, cps = sin(th), cos(th), sin(phi), cos(phi), sin(psi), cos(psi)
        ud = r * v - q * w - G * sth + (qS * cx + thrust) / MASS
        vd = p * w - r * u + G * cth * sph + qS * cy / MASS
        wd = q * u - p * v + G * cth * cph + qS * cz / MASS
        Vd, square = (u * ud + v * vd + w * wd) / V, u * u + w * w
        L, M, N = qS * B * cl, qS * C * cm, qS * B * cn
        hp = (IXX - IYY + IZZ) * IXZ
        pd = (hp * p * q - (IZZ * (IZZ - IYY) + IXZ**2) * q * r + IZZ * L + IXZ * (N + q * HX)) / GAMMA
        qd = ((IZZ - IXX) * p * r - IXZ * (p * p - r * r) + M - r * HX) / IYY
        rd = (((IXX - IYY) * IXX + IXZ**2) * p * q - hp * q * r + IXZ * L + IXX * (N + q * HX)) / GAMMA
        turn = q * sph + r * cph
        east = u * cth * sps + v * (cph * cps + sph * sth * sps) + w * (cph * sth * sps - sph * cps)
        north = u * cth * cps + v * (sph * sth * cps - cph * sps) + w * (cph * sth * cps + sph * sps)
        climb = u * sth - v * sph * cth - w * cph * cth
        attitude = (p + sth / cth * turn, q * cph - r * sph, turn / cth)
        return (
            Vd,
            (u * wd - w * ud) / square,
            (V * vd - v * Vd) * cb / square,
            *attitude,
            pd,
            qd,
            rd,
            east,
            north,
            climb,
        )

    return f16


def states(count: int) -> np.ndarray:
    """V, alpha, beta, phi, theta, psi, p, q, r, altitude, power, elevator, aileron, rudder (count, 14): in flight."""
    rng = np.random.default_rng(0)
    low = [300, -0.1, -0.2, -1, -0.6, -3, -0.5, -0.2, -0.2, 1e3, 0.1, -20, -15, -20]
    high = [900, 0.7, 0.2, 1, 0.6, 3, 0.5, 0.2, 0.2, 3e4, 0.9, 20, 15, 20]
    return rng.uniform(low, high, (count, len(low)))
