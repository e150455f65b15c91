"""Thrust curves of solid motors from .eng files, the format of RASP.

    ; a comment
    D12 24 70 0-3-5-7 0.0211 0.0426 Estes        name, diameter and length [mm], delays, propellant and all [kg], maker
    0.049 2.569                                  time [s], thrust [N]
    ...
    1.650 0.000                                  the last has no thrust

The curve starts with no thrust at 0 s, and is linear in between. A file may hold several motors.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from poinsot.files import size_limits
from poinsot.parts import Tabulated


@dataclass(frozen=True)
class MotorData:
    """A motor of an .eng file: diameter and length of its case [m], masses [kg], delays as text, thrust [N]."""

    name: str
    diameter: float
    length: float
    delays: str
    propellant_mass: float
    total_mass: float
    maker: str
    thrust: Tabulated

    @property
    def impulse(self) -> float:
        """The total impulse [N s]."""
        return float(np.trapezoid(self.thrust.values, self.thrust.times))


def load_eng(path: Any, name: str | None = None) -> MotorData:
    """The motor of an .eng file; name: which, if it holds several."""
    motors = {motor.name: motor for motor in _motors(Path(path))}
    if name is None and len(motors) == 1:
        return next(iter(motors.values()))
    if name not in motors:
        raise ValueError(f"{path} holds the motors {', '.join(motors)}; name= must be one of them, not {name!r}.")
    return motors[name]


def _motors(path: Path) -> list[MotorData]:
    motors: list[MotorData] = []
    header: list[str] | None = None
    rows: list[tuple[float, float]] = []
    where = ""
    for number, line in enumerate(_lines(path), 1):
        words, where = line.split(";")[0].split(), f"{path}, line {number}"
        if not words:
            continue
        if header is None:
            header, rows = words, []
            _header(header, where)
            continue
        rows.append(_row(words, where))
        if rows[-1][1] == 0 and len(rows) > 1:
            motors.append(_motor(header, rows, where))
            header = None
    if header is not None:
        raise ValueError(f"{where}: the thrust of motor {header[0]!r} does not end with zero; the file seems cut off.")
    if not motors:
        raise ValueError(f"{path} holds no motor: expected a line such as 'D12 24 70 0-3-5-7 0.0211 0.0426 Estes'.")
    return motors


def _lines(path: Path) -> list[str]:
    if not path.is_file():
        raise FileNotFoundError(f"there is no file {str(path)!r} (working directory: {Path.cwd()}).")
    size_limits.check_size(path, size_limits.ROBOT_BYTES)
    return path.read_bytes().decode("utf-8-sig", errors="replace").splitlines()


def _header(words: list[str], where: str) -> tuple[float, ...]:
    try:
        numbers = tuple(float(words[k]) for k in (1, 2, 4, 5))
    except (IndexError, ValueError):
        raise ValueError(
            f"{where}: expected a motor's name, diameter [mm], length [mm], delays, propellant mass [kg], total mass "
            f"[kg] and maker, not {' '.join(words)!r}."
        ) from None
    if not all(0 < x < np.inf for x in numbers):
        raise ValueError(f"{where}: sizes and masses of motor {words[0]!r} must be above zero, not {numbers}.")
    if numbers[2] > numbers[3]:
        raise ValueError(
            f"{where}: motor {words[0]!r} of {numbers[3]:g} kg cannot hold {numbers[2]:g} kg of propellant."
        )
    return numbers


def _row(words: list[str], where: str) -> tuple[float, float]:
    try:
        time, thrust = map(float, words)
    except ValueError:
        raise ValueError(f"{where}: expected a time [s] and a thrust [N], not {' '.join(words)!r}.") from None
    if not (0 <= time < np.inf and 0 <= thrust < np.inf):
        raise ValueError(f"{where}: time and thrust must be finite and not negative, not {' '.join(words)!r}.")
    return time, thrust


def _motor(header: list[str], rows: list[tuple[float, float]], where: str) -> MotorData:
    times, thrusts = np.array(rows).T
    if times[0] > 0:
        times, thrusts = np.concatenate([[0.0], times]), np.concatenate([[0.0], thrusts])
    if not np.all(np.diff(times) > 0):
        raise ValueError(f"{where}: the times of motor {header[0]!r} do not increase.")
    diameter, length, propellant, total = _header(header, where)
    maker = " ".join(header[6:])
    curve = Tabulated(times, thrusts)
    return MotorData(header[0], diameter / 1e3, length / 1e3, header[3], propellant, total, maker, curve)
