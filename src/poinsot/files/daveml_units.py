"""Units of measure as DAVE-ML (ANSI/AIAA S-119) writes them: "ft_s" is ft/s, "slugft2" slug ft^2, "_rad" 1/rad."""

import math
import re
from collections.abc import Iterable

from poinsot._hints import hint

DEGREE = math.pi / 180
FACTORS = {
    **dict.fromkeys("nd ND frac m kg N s sec rad r K dgK Pa J W A V Hz mps".split(), 1.0),
    **{"km": 1e3, "cm": 1e-2, "mm": 1e-3, "ft": 0.3048, "in": 0.0254, "nmi": 1852.0, "mi": 1609.344},
    **{"g": 1e-3, "slug": 14.593902937206364, "lbm": 0.45359237, "min": 60.0, "h": 3600.0, "hr": 3600.0},
    **{"lbf": 4.4482216152605, "lb": 4.4482216152605, "kN": 1e3, "psf": 47.88025898033584, "psi": 6894.757293168361},
    **{"deg": DEGREE, "d": DEGREE, "R": 5 / 9, "dgR": 5 / 9, "hp": 745.6998715822702, "kPa": 1e3, "kt": 1852 / 3600},
    **{"pct": 0.01, "kW": 1e3, "fps": 0.3048, "rpm": math.pi / 30, "rev": 2 * math.pi},
}
COMMON = (
    "ft_s ft_s2 m_s m_s2 rad_s rad_s2 deg_s nmi_h kg_m3 slug_ft3 lbf_ft2 N_m2 slugft2 kgm2 ftlbf Nm lbf_s kg_s".split()
)
_PIECE = re.compile(f"({'|'.join(sorted(FACTORS, key=len, reverse=True))})([1-9]?)")


def si_factor(unit: str, others: Iterable[str] = ()) -> float:
    """The SI value of one unit; `others`: units that may have been meant."""
    numerator, *denominators = unit.split("_")
    factor = _product(numerator) if numerator else 1.0
    for denominator in denominators:
        part = _product(denominator)
        factor = None if factor is None or part is None else factor / part
    if factor is None:
        known = [*COMMON, *FACTORS, *(other for other in others if other != unit)]
        raise ValueError(f"there is no unit {unit!r}{hint(unit, known) or '.'}")
    return factor


def _product(text: str) -> float | None:
    """The SI value of "slugft2"; None if it is not made of units."""
    pieces = _PIECE.findall(text)
    if not text or "".join(map("".join, pieces)) != text:
        return None
    return math.prod(FACTORS[name] ** int(power or 1) for name, power in pieces)
