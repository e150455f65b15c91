"""Readings of a display, computed as records are: the same numbers, to the last digit, as a run has."""

from dataclasses import dataclass
from functools import cached_property, partial

import numpy as np

from poinsot._types import Array
from poinsot.parts import Element, Gear, Limit, PistonEngine, Propeller, Tank
from poinsot.parts.load_factor import specific_force
from poinsot.run.compiled import CompiledSystem
from poinsot.run.measuring import Measuring, measuring
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
    """The instruments of one body: quantities of its flight, and of what it carries, by the names of their records;
    and `felt`: the specific force (3,) [m/s^2] at the pilot's `eye` (3,) [m], both in body axes."""

    compiled: CompiledSystem
    body: str
    eye: tuple[float, float, float] = (0.0, 0.0, 0.0)

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

    @cached_property
    def _measured(self) -> Measuring:
        """All quantities, and what is felt at the eye, from one function."""
        wanted = observables(self.compiled.system, [*dict.fromkeys(name for name, _ in self.quantities.values())])
        felt = partial(specific_force, body=self.body, point=self.eye)
        return measuring(self.compiled.original, [*(o.of for o in wanted.values()), felt], looks=0)

    def _arrays(self, t: float, y: Array, p: Array) -> dict[str, Array]:
        *arrays, felt = (array[0] for array in self._measured(np.array([t]), y[None], p))
        wanted = dict.fromkeys(name for name, _ in self.quantities.values())
        data, k = dict(zip(wanted, arrays, strict=True)), self.compiled.system.bodies.index(self.body)
        shown = {name: data[q][k] if of_body else data[q] for name, (q, of_body) in self.quantities.items()}
        return {name: np.asarray(array) for name, array in {**shown, "felt": felt}.items()}

    def __call__(self, t: float, y: Array, p: Array) -> Array:
        """The readings (n,) at one state."""
        return np.concatenate([np.ravel(array) for array in self._arrays(t, y, p).values()])
