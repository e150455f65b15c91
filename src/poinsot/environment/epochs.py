"""Instants in UTC: days since J2000, the angle of the Earth.

UT1 is taken for UTC (at most 0.9 s off: the Earth turns by 14 arc seconds), and terrestrial time is UTC + 69.184 s.
"""

from datetime import UTC, datetime, timedelta
from typing import Any

import numpy as np

from poinsot._errors import FieldError

J2000 = datetime(2000, 1, 1, 12, tzinfo=UTC)
DAY = 86400.0  # [s]
TT_LESS_UTC = 69.184  # [s], since 2017
CENTURY = 36525.0  # days


def instant(epoch: Any) -> datetime:
    """An epoch, such as "2026-03-20T12:00:00Z" or a `datetime`; without a time zone it is UTC."""
    try:
        found = epoch if isinstance(epoch, datetime) else datetime.fromisoformat(epoch)
    except (TypeError, ValueError):
        words = f"epoch={epoch!r} must be an instant in UTC"
        raise FieldError(f'{words}, such as "2026-03-20T12:00:00Z".', "epoch") from None
    return found.replace(tzinfo=UTC) if found.tzinfo is None else found.astimezone(UTC)


def written(epoch: Any) -> str:
    """An epoch as text, with all its digits: 2026-03-20T12:00:00Z."""
    return instant(epoch).isoformat().replace("+00:00", "Z")


def days(epoch: Any) -> float:
    """Days of UTC since 2000-01-01 12:00, each of 86400 s."""
    return (instant(epoch) - J2000) / timedelta(days=1)


def sidereal_angle(epoch: Any) -> float:
    """The mean sidereal time at Greenwich [rad], from 0 to 2 pi: how far x of Earth-fixed axes is east of the equinox.

    IAU 1982: 67310.54841 s + (876600 h + 8640184.812866 s) T + 0.093104 s T^2 - 6.2e-6 s T^3, T in centuries.
    """
    d = days(epoch)
    T = d / CENTURY
    seconds = 67310.54841 + 8640184.812866 * T + 0.093104 * T**2 - 6.2e-6 * T**3 + DAY * np.mod(d, 1.0)
    return float(np.mod(2 * np.pi / DAY * seconds, 2 * np.pi))
