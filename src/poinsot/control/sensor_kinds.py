"""The kinds of sensors: what each measures of the motion, without errors."""

from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from poinsot._errors import FieldError
from poinsot._types import Array
from poinsot.environment.air_mass import earth_of, ground_velocity, height
from poinsot.parts.element import value_of
from poinsot.parts.load_factor import G_0
from poinsot.parts.scene import Scene
from poinsot.spatial import quaternion
from poinsot.spatial.arrays import as_array

if TYPE_CHECKING:
    from poinsot.control.sensor import Sensor


NORTH = (1.0, 0.0, 0.0)  # what a magnetometer measures in a world without a magnetic field


def _specific_force(sensor: "Sensor", scene: Scene) -> Array:
    """Acceleration of the point less gravity (3,) [m/s^2]."""
    return sensor.turned(scene.specific_force(sensor.body, sensor.point))


def _load_factor(sensor: "Sensor", scene: Scene) -> Array:
    return np.reshape(-_specific_force(sensor, scene)[2] / G_0, (1,))


def _field(sensor: "Sensor", scene: Scene) -> Array:
    """The field that is given, by default that of the Earth at the body's origin, in sensor axes."""
    earth, body = earth_of(scene), scene[sensor.body]
    if sensor.field is not None or earth is None or earth.magnetic is None:
        given = NORTH if sensor.field is None else sensor.field
        field = value_of(given, scene, (3,), "field", f"sensor {sensor.name!r}", spread=False)
    else:
        field = earth.magnetic_field(body.position, scene.t)
    return sensor.turned(body.pose.R.T @ field)


def _attitude(sensor: "Sensor", scene: Scene) -> Array:
    return quaternion.product(scene[sensor.body].orientation, quaternion.normalize(as_array(sensor.mounting)))


def _fixed(scene: Scene) -> Array:
    """R_EW (3, 3): from the axes of the world to those in which GPS gives positions, fixed to the Earth if any."""
    earth = earth_of(scene)
    return np.eye(3) if earth is None else earth.rotation(scene.t).T


def _place(sensor: "Sensor", scene: Scene) -> Array:
    return _fixed(scene) @ scene[sensor.body].point(sensor.point)


def _ground_speed(sensor: "Sensor", scene: Scene) -> Array:
    """The velocity of the point relative to the ground."""
    body = scene[sensor.body]
    carried = ground_velocity(earth_of(scene), body.point(sensor.point))
    return _fixed(scene) @ (body.velocity_of(sensor.point) - carried)


def _height(sensor: "Sensor", scene: Scene) -> Array:
    return np.reshape(height(earth_of(scene), scene[sensor.body].point(sensor.point)), (1,))


def _air(*names: str) -> "Callable[[Sensor, Scene], Array]":
    """These quantities of the air that the point meets."""

    def measured(sensor: "Sensor", scene: Scene) -> Array:
        air = scene.air(sensor.body, sensor.point)
        return np.stack([as_array(getattr(air, name)) for name in names])

    return measured


def _joint(k: int) -> "Callable[[Sensor, Scene], Array]":
    def coordinate(sensor: "Sensor", scene: Scene) -> Array:
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
    """A kind of sensor: the measured quantity, how many errors it has, how they join, the unit, and the meaning."""

    truth: "Callable[[Sensor, Scene], Array]"
    size: int
    combined: Callable[..., Array]
    unit: str
    meaning: str

    @property
    def error_unit(self) -> str:
        """The unit of its errors: the reading's own, but an angle for an attitude."""
        return "rad" if self.combined is _rotated else self.unit


def _rates(sensor: "Sensor", scene: Scene) -> Array:
    return sensor.turned(scene[sensor.body].angular_velocity)


SENSORS: dict[str, SensorKind] = {
    "gyro": SensorKind(_rates, 3, _added, "rad/s", "angular velocity, sensor axes"),
    "rate table": SensorKind(
        lambda s, scene: _rates(s, scene)[2:], 1, _single, "rad/s", "angular velocity about the sensor's z axis"
    ),
    "accelerometer": SensorKind(_specific_force, 3, _added, "m/s^2", "acceleration less gravity, sensor axes"),
    "load factor": SensorKind(_load_factor, 1, _single, "1", "acceleration less gravity along -z, by 9.80665 m/s^2"),
    "magnetometer": SensorKind(_field, 3, _added, "", "the `field`, in sensor axes"),
    "star tracker": SensorKind(_attitude, 3, _rotated, "1", "attitude wxyz, sensor to world axes; errors in rad"),
    "gps": SensorKind(_place, 3, _added, "m", "position of the point"),
    "gps velocity": SensorKind(_ground_speed, 3, _added, "m/s", "velocity of the point over the ground"),
    "altimeter": SensorKind(_height, 1, _single, "m", "height of the point"),
    "pitot": SensorKind(_air("calibrated_airspeed"), 1, _single, "m/s", "calibrated airspeed"),
    "vane": SensorKind(_air("alpha", "beta"), 2, _added, "rad", "angles of attack and sideslip"),
    "baro": SensorKind(_air("pressure_altitude"), 1, _single, "m", "pressure altitude"),
    "encoder": SensorKind(_joint(0), 1, _single, "rad, m", "coordinate of the body's joint"),
    "tachometer": SensorKind(_joint(1), 1, _single, "rad/s, m/s", "velocity of the body's joint"),
}
