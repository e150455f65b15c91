"""The quantities of a net for every record, by NumPy, without tracing its masses and springs one by one."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from poinsot._types import Array
from poinsot.run.net_runs import NetRun
from poinsot.spatial.arrays import cross
from poinsot.world.nets import Net, stretch, tension


class NetRecords:
    """Records y (r, ..., ny) of a net, with parameters p (..., np) or (r, ..., np) and the free numbers in them."""

    def __init__(self, run: NetRun, y: Array, p: Array, numbers: dict[str, Array]) -> None:
        self.run, self.y, self.p, self.numbers = run, y, p, numbers
        s, n = run.system, len(run.net)
        self.q, self.v = y[..., : s.nq], y[..., s.nq : s.nq + s.nv]
        self.x, self.u = (a.reshape(*a.shape[:-1], n, 3) for a in (self.q, self.v))
        self.net: Net = run.with_numbers(p, numbers)

    @property
    def momenta(self) -> Array:
        """m v (..., n, 3)."""
        return self.net.mass[..., None] * self.u

    def conserved(self) -> Array:
        return self.run.conserved(self.y, self.p, self.numbers)[0]

    def of_spring(self, name: str, key: str) -> Array:
        """The length or tension of one spring."""
        rows = next(rows for rows in self.net.springs if name in rows.names)
        length, rate, _ = stretch(rows, self.q, self.v)
        return (length if key == "length" else tension(rows, length, rate))[..., rows.names.index(name)]


def _unturned(x: Array) -> Array:
    """The orientation of each of many points (..., 3)."""
    unit = np.zeros((*x.shape[:-1], 4))
    unit[..., 0] = 1.0
    return unit


def places_of_masses(run: NetRun, y: Array) -> tuple[Array, ...]:
    """Positions, orientations, angular velocities, centres of mass and spins (..., n, 3) of states y (..., ny)."""
    x = y[..., : run.system.nq].reshape(*y.shape[:-1], len(run.net), 3)
    return x, _unturned(x), np.zeros(x.shape), x, np.zeros(x.shape)


def velocities_of_masses(run: NetRun, y: Array) -> Array:
    """Velocities (..., n, 3) [m/s] of states y (..., ny)."""
    s = run.system
    v: Array = y[..., s.nq : s.nq + s.nv]
    return v.reshape(*y.shape[:-1], len(run.net), 3)


QUANTITIES: dict[str, Callable[[NetRecords], Any]] = {
    "position": lambda r: r.x,
    "orientation": lambda r: _unturned(r.x),
    "velocity": lambda r: r.u,
    "angular_velocity": lambda r: np.zeros(r.x.shape),
    "q": lambda r: r.q,
    "v": lambda r: r.v,
    "energy": lambda r: r.conserved()[..., 7],
    "kinetic_energy": lambda r: 0.5 * np.sum(r.momenta * r.u, axis=(-2, -1)),
    "momentum": lambda r: r.conserved()[..., 1:4],
    "angular_momentum": lambda r: r.conserved()[..., 4:7],
    "body_momentum": lambda r: r.momenta,
    "body_angular_momentum": lambda r: cross(r.x, r.momenta),
    "body_kinetic_energy": lambda r: 0.5 * np.sum(r.momenta * r.u, axis=-1),
    "acceleration": lambda r: r.run.accelerations(r.y, r.p, r.numbers),
}


def recorded(run: NetRun, names: Sequence[str], y: Array, p: Array, numbers: dict[str, Array]) -> list[Array] | None:
    """The quantities of these names; None if one of them has to be found body by body."""
    springs = {
        f"{name}.{key}": (name, key) for name in run.system.description.elements for key in ("length", "tension")
    }
    if not all(name in QUANTITIES or name in springs for name in names):
        return None
    records = NetRecords(run, y, p, numbers)
    return [
        np.array(QUANTITIES[name](records)) if name in QUANTITIES else records.of_spring(*springs[name])
        for name in names
    ]
