"""What a display shows of a motion, computed as records are: the same numbers, to the last digit, as a run has."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from poinsot._types import Array
from poinsot.parts import Element, Gear, Limit, PistonEngine, Propeller, Tank
from poinsot.run.compiled import CompiledSystem
from poinsot.run.observe import observables, observe, of_world

MOTION = ("position", "velocity")
FLIGHT = (  # those that the world knows are shown
    "airspeed", "calibrated_airspeed", "alpha", "beta", "mach", "altitude", "height_above_ground", "load_factor",
)  # fmt: skip
PARTS: dict[type[Element], tuple[str, ...]] = {  # quantities of what a vehicle carries
    Tank: ("contents",), Propeller: ("speed", "thrust"), PistonEngine: ("shaft_power",), Gear: ("load",),
    Limit: ("margin", "latched"),
}  # fmt: skip


@dataclass(frozen=True, eq=False)
class Display:
    """Numbers of some bodies with all their digits: position (3,) [m] and velocity (3,) [m/s] of each."""

    compiled: CompiledSystem
    bodies: tuple[int, ...]

    @property
    def count(self) -> int:
        return 6 * len(self.bodies)

    def __call__(self, t: float, y: Array, p: Array) -> Array:
        """The numbers (n, 6) at one state."""
        data = observe(self.compiled, MOTION, np.array([t]), y[None], p)
        return np.concatenate([data[name][1][0][list(self.bodies)] for name in MOTION], axis=-1)


@dataclass(frozen=True, eq=False)
class Instruments:
    """The instruments of one body: quantities of its flight, and of what it carries, by the names of their records."""

    compiled: CompiledSystem
    body: str

    @cached_property
    def quantities(self) -> dict[str, tuple[str, bool]]:
        """The quantity of each reading, and whether it is one of a body."""
        system = self.compiled.system
        known, own = of_world(system), observables(system, None)
        found = {name: (name, True) for name in (*MOTION, "orientation", "angular_velocity", *FLIGHT) if name in known}
        for name, key in self._parts():
            if f"{name}.{key}" in own:
                found[f"{name}.{key}"] = (f"{name}.{key}", False)
        return found

    def _parts(self) -> list[tuple[str, str]]:
        """Elements with what is shown of them: fuel, revolutions, thrust, loads of the gear, limits."""
        elements = dict(self.compiled.system.description.acting())
        kinds = {name: keys for name, e in elements.items() for kind, keys in PARTS.items() if isinstance(e, kind)}
        return [(name, key) for name, keys in kinds.items() for key in keys]

    @cached_property
    def labels(self) -> list[str]:
        """The names of the numbers: "airspeed", "velocity.0", "plane.left.contents"."""
        start = np.asarray(self.compiled.start(self.compiled.parameters({}, {})))
        arrays = self._arrays(0.0, start, self.compiled.parameters({}, {}))
        return [
            name if array.ndim == 0 else f"{name}.{k}"
            for name, array in arrays.items()
            for k in range(max(1, array.size))
        ]

    def _arrays(self, t: float, y: Array, p: Array) -> dict[str, Array]:
        wanted = list(dict.fromkeys(quantity for quantity, _ in self.quantities.values()))
        data = observe(self.compiled, wanted, np.array([t]), y[None], p)
        k = self.compiled.system.bodies.index(self.body)
        return {
            name: np.asarray(data[quantity][1][0][k] if of_body else data[quantity][1][0])
            for name, (quantity, of_body) in self.quantities.items()
        }

    def __call__(self, t: float, y: Array, p: Array) -> Array:
        """The readings (n,) at one state."""
        return np.concatenate([np.ravel(array) for array in self._arrays(t, y, p).values()])
