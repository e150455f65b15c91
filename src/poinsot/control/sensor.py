"""Sensors: what is measured of the motion, with bias, noise, quantisation, sampling and delay."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Annotated, Any, NamedTuple

import numpy as np

from poinsot._errors import FieldError
from poinsot._hints import hint
from poinsot._types import Array, ArrayLike
from poinsot.control import noise
from poinsot.control.controller import TAKEN, Answer, Block
from poinsot.control.gusts import Dryden
from poinsot.fuse import is_traced
from poinsot.parts.element import Element, require_not_negative, require_points
from poinsot.parts.load_factor import G_0
from poinsot.parts.scene import Scene
from poinsot.spatial import quaternion
from poinsot.spatial.arrays import as_array


@dataclass(frozen=True, eq=False)
class Sensor(Block):
    """A sensor of a `kind` on a `body`; its output is called `out`. At the sample k, for each component,

        out = truth + bias + walk_k + noise / sqrt(sample) n_k,     walk_k+1 = walk_k + random_walk sqrt(sample) m_k

    with independent normal numbers n, m; then within +-limit, and rounded to whole multiples of `quantum`.

    kind: see `SENSORS`. `point` (3,) [m]: where it sits; `mounting` (4,): the quaternion wxyz from its axes to the
    body's. `noise` [unit/sqrt(Hz)] is the density of white noise: the Allan deviation is noise / sqrt(tau); a
    `random_walk` [unit/sqrt(s)] of the bias adds random_walk sqrt(tau / 3): IEEE Std 952. `field` (3,): what a
    magnetometer measures, in world axes. Noise needs a sample time. It is a function of the sensor's name, the `seed`
    and the `instance`, and of the number of the sample: see `pt.noise`. In a batch each instance has its own, as its
    number is added to `instance`; the seed of the run is added to `seed`.
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
    field: ArrayLike = (1.0, 0.0, 0.0)
    seed: float = 0.0
    instance: float = 0.0

    def __post_init__(self) -> None:
        super().__post_init__()
        owner = f"sensor {self.name!r}"
        if self.kind not in SENSORS:
            raise FieldError(
                f"kind of {owner} is {self.kind!r}{hint(self.kind, SENSORS)}; there are {', '.join(SENSORS)}.", "kind"
            )
        require_points(owner, point=self.point, field=self.field)
        require_not_negative(owner, noise=self.noise, random_walk=self.random_walk, quantum=self.quantum)
        if self.sample is None and (may_be(self.noise) or may_be(self.random_walk)):
            raise FieldError(f"{owner} has noise, but no sample time; give it one.", "sample")

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
        out = kind.combined(kind.truth(self, scene), error)
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


def sources_of_noise(elements: Mapping[str, Element]) -> list[str]:
    """The names of the sensors that have noise, or may have, and of turbulence."""
    kinds = (Sensor, Dryden)
    return [name for name, e in elements.items() if isinstance(e, kinds) and e.sample is not None]


def may_be(x: Any) -> bool:
    """Whether a number is not zero, or is left free."""
    return is_traced(x) or bool(np.any(np.asarray(x) != 0))


def _specific_force(sensor: Sensor, scene: Scene) -> Array:
    """Acceleration of the point less gravity (3,) [m/s^2]."""
    return sensor.turned(scene.specific_force(sensor.body, sensor.point))


def _load_factor(sensor: Sensor, scene: Scene) -> Array:
    return np.reshape(-_specific_force(sensor, scene)[2] / G_0, (1,))


def _field(sensor: Sensor, scene: Scene) -> Array:
    return sensor.turned(scene[sensor.body].pose.R.T @ as_array(sensor.field))


def _attitude(sensor: Sensor, scene: Scene) -> Array:
    return quaternion.product(scene[sensor.body].orientation, quaternion.normalize(as_array(sensor.mounting)))


def _joint(k: int) -> Callable[[Sensor, Scene], Array]:
    def coordinate(sensor: Sensor, scene: Scene) -> Array:
        x = scene.joint(sensor.body)[k]
        if np.shape(x) != (1,):
            raise FieldError(
                f"sensor {sensor.name!r} measures a joint with one coordinate; that of {sensor.body!r} has {len(x)}.",
                "body",
            )
        return x

    return coordinate


def _added(truth: Array, error: Array, start: bool = False) -> Array:
    return truth + error


def _single(truth: Array, error: Array, start: bool = False) -> Array:
    return np.reshape(truth + error, ())


def _rotated(truth: Array, error: Array, start: bool = False) -> Array:
    """The attitude (4,), turned by the small rotation vector `error` (3,) [rad] in the sensor's axes."""
    return quaternion.identity() if start else quaternion.product(truth, quaternion.exp(error))


class SensorKind(NamedTuple):
    """What a kind of sensor measures, how many errors it has, how they join, the unit, and the meaning."""

    truth: Callable[[Sensor, Scene], Array]
    size: int
    combined: Callable[..., Array]
    unit: str
    meaning: str


SENSORS: dict[str, SensorKind] = {
    "gyro": SensorKind(
        lambda s, scene: s.turned(scene[s.body].angular_velocity), 3, _added, "rad/s", "angular velocity, sensor axes"
    ),
    "accelerometer": SensorKind(_specific_force, 3, _added, "m/s^2", "acceleration less gravity, sensor axes"),
    "load factor": SensorKind(_load_factor, 1, _single, "1", "acceleration less gravity along -z, by 9.80665 m/s^2"),
    "magnetometer": SensorKind(_field, 3, _added, "", "the `field`, in sensor axes"),
    "star tracker": SensorKind(_attitude, 3, _rotated, "1", "attitude wxyz, sensor to world axes; errors in rad"),
    "gps": SensorKind(lambda s, scene: scene[s.body].point(s.point), 3, _added, "m", "position of the point"),
    "gps velocity": SensorKind(
        lambda s, scene: scene[s.body].velocity_of(s.point), 3, _added, "m/s", "velocity of the point, world axes"
    ),
    "altimeter": SensorKind(lambda s, scene: scene[s.body].point(s.point)[2:], 1, _single, "m", "height of the point"),
    "encoder": SensorKind(_joint(0), 1, _single, "rad, m", "coordinate of the body's joint"),
    "tachometer": SensorKind(_joint(1), 1, _single, "rad/s, m/s", "velocity of the body's joint"),
}
