"""Sensors: what is measured of the motion, with bias, noise, quantisation, sampling and delay."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any

import numpy as np

from poinsot._errors import FieldError
from poinsot._hints import hint
from poinsot._types import Array, ArrayLike
from poinsot.control import noise
from poinsot.control.controller import TAKEN, Answer, Block
from poinsot.control.gusts import Dryden
from poinsot.control.sensor_kinds import SENSORS
from poinsot.fuse import is_traced
from poinsot.parts.element import Element, Value, require_limit, require_not_negative, require_points
from poinsot.parts.scene import Scene
from poinsot.spatial import quaternion
from poinsot.spatial.arrays import as_array


@dataclass(frozen=True, eq=False)
class Sensor(Block):
    """A sensor of a `kind` on a `body`; its output is called `out`. At the sample k, for each component,

        out = truth + bias + walk_k + noise / sqrt(sample) n_k,     walk_k+1 = walk_k + random_walk sqrt(sample) m_k

    with independent normal numbers n, m; then within +-limit, and rounded to whole multiples of `quantum`.

    kind: see `SENSORS`. `point` (3,) [m]: where it sits; `mounting` (4,): the quaternion wxyz from its axes to the
    body's. `field` (3,): what a magnetometer measures, in world axes, constant or a function (t, scene); by
    default that of the Earth, where it has one, else (1, 0, 0).
    `calibration` (2, k): true values, increasing, and what is read for them, linear in between, constant outside, for
    each component: a scale factor that is not constant, as found on a rate table; the errors above come on top.
    `noise` [unit/sqrt(Hz)] is the density of white noise: the Allan deviation is noise / sqrt(tau); a `random_walk`
    [unit/sqrt(s)] of the bias adds random_walk sqrt(tau / 3): IEEE Std 952. Noise needs a sample time. It is a function
    of the sensor's name, the `seed` and the `instance`, and of the number of the sample: see `pt.noise`. In a batch
    each instance has its own, as its number is added to `instance`; the seed of the run is added to `seed`.
    """

    kind: str = "gyro"
    body: str = ""
    point: Annotated[ArrayLike, "m"] = (0.0, 0.0, 0.0)
    mounting: Annotated[ArrayLike, "1"] = (1.0, 0.0, 0.0, 0.0)
    bias: ArrayLike = 0.0
    noise: ArrayLike = 0.0
    random_walk: ArrayLike = 0.0
    quantum: ArrayLike = 0.0
    limit: float = np.inf
    field: Value | None = None
    calibration: ArrayLike | None = None
    seed: float = 0.0
    instance: float = 0.0

    def __post_init__(self) -> None:
        super().__post_init__()
        owner = f"sensor {self.name!r}"
        if self.kind not in SENSORS:
            near = hint(str(self.kind), SENSORS) or f"; there are {', '.join(SENSORS)}"
            raise FieldError(f"there is no kind {self.kind!r} of sensor, for {self.name!r}{near}.", "kind")
        require_points(
            owner, point=self.point, **({} if self.field is None or callable(self.field) else {"field": self.field})
        )
        require_limit(owner, self.limit)
        self._require_shapes()
        self._require_calibration()
        require_not_negative(owner, noise=self.noise, random_walk=self.random_walk, quantum=self.quantum)
        if self.sample is None and (may_be(self.noise) or may_be(self.random_walk)):
            raise FieldError(f"{owner} has noise, but no sample time; give it one.", "sample")

    def _require_shapes(self) -> None:
        owner = f"sensor {self.name!r}"
        for name in ("bias", "noise", "random_walk", "quantum"):
            shape = np.shape(as_array(getattr(self, name)))
            if shape not in ((), (self.size,)):
                raise FieldError(f"{name} of {owner} must be one number or {self.size}, not of shape {shape}.", name)
        q = as_array(self.mounting)
        if np.shape(q) != (4,) or (not is_traced(q) and not 0 < np.linalg.norm(q) < np.inf):
            raise FieldError(f"mounting of {owner} must be a quaternion wxyz, not {self.mounting!r}.", "mounting")

    def _require_calibration(self) -> None:
        if self.calibration is None or is_traced(self.calibration):
            return
        table = as_array(self.calibration)
        if np.shape(table) != (2, *np.shape(table)[1:2]) or len(table[0]) < 2 or not np.all(np.diff(table[0]) > 0):
            raise FieldError(
                f"calibration of sensor {self.name!r} must be two lists of the same length, increasing true values and "
                f"what is read for them, not {self.calibration!r}.",
                "calibration",
            )
        if SENSORS[self.kind].error_unit != SENSORS[self.kind].unit:
            raise FieldError(f"sensor {self.name!r} measures an attitude; it has no calibration.", "calibration")

    def bodies(self) -> tuple[str, ...]:
        return (self.body,)

    @property
    def size(self) -> int:
        """The number of components that have errors of their own."""
        return SENSORS[self.kind].size

    def memory_at_start(self) -> Mapping[str, Array]:
        return {} if self.sample is None else {"walk": np.zeros(self.size)}

    def outputs_at_start(self) -> Mapping[str, Array]:
        return {"out": SENSORS[self.kind].combined(*([np.zeros(self.size)] * 2), start=True)}

    def answer(self, scene: Scene, memory: Mapping[str, Array]) -> Answer:
        kind, h = SENSORS[self.kind], self.sample or 1.0
        error = as_array(self.bias) + np.zeros(self.size) + memory.get("walk", np.zeros(self.size))
        if may_be(self.noise):
            error = error + as_array(self.noise) / np.sqrt(h) * self._normal("noise", scene)
        truth = kind.truth(self, scene)
        if self.calibration is not None:
            truth = np.interp(truth, *as_array(self.calibration))
        out = kind.combined(truth, error)
        if is_traced(self.limit) or self.limit < np.inf:
            out = np.clip(out, -self.limit, self.limit)
        if may_be(self.quantum):
            quantum = as_array(self.quantum)
            out = np.where(quantum > 0, np.rint(out / np.where(quantum > 0, quantum, 1.0)) * quantum, out)
        if not may_be(self.random_walk):
            return {"out": out}, memory
        return {"out": out}, {"walk": memory["walk"] + self.random_walk * np.sqrt(h) * self._normal("walk", scene)}

    def _normal(self, what: str, scene: Scene) -> Array:
        """Normal numbers (size,) of the sample that is being taken."""
        key = noise.key(f"{self.name}.{what}", self.seed, self.instance)
        numbers: Array = noise.normal(key, scene.states[f"{self.name}.{TAKEN}"], self.size)
        return numbers

    def units(self) -> dict[str, str]:
        return {**super().units(), "out": SENSORS[self.kind].unit, "walk": SENSORS[self.kind].unit}

    def turned(self, x: Array) -> Array:
        """A vector in body axes, in the sensor's."""
        return quaternion.to_matrix(quaternion.normalize(as_array(self.mounting))).T @ x


def noise_paths(elements: Mapping[str, Element], known: Sequence[str]) -> tuple[str, ...]:
    """The paths of the numbers by which noise and turbulence differ: between instances of a batch, and by the seed.

    Those that are `known` already are left out. They are always free: a constant would be rounded elsewhere, and single
    runs not have the bits of batches.
    """
    noisy = [name for name, e in elements.items() if isinstance(e, (Sensor, Dryden)) and e.sample is not None]
    paths = (f"{name}.{number}" for name in noisy for number in ("instance", "seed"))
    return tuple(path for path in paths if path not in known)


def may_be(x: Any) -> bool:
    """Whether a number is not zero, or is left free."""
    return is_traced(x) or bool(np.any(np.asarray(x) != 0))
