"""The start of a body in orbit: classical elements, and its attitude against the orbit or the stars; can be traced."""

from dataclasses import dataclass, fields
from typing import Annotated, Any, Literal, get_args

import numpy as np

from poinsot._errors import FieldError
from poinsot._types import Array, ArrayLike
from poinsot.environment import AirMass, Earth, epochs
from poinsot.environment.kepler import Elements, elements_of, state_of, true_anomaly
from poinsot.fuse import is_traced
from poinsot.spatial import euler, quaternion
from poinsot.spatial.arrays import as_array
from poinsot.world.flight_start import require_numbers

Axes = Literal["orbit", "inertial"]
WORDS = ("axes", "epoch")


@dataclass(frozen=True, eq=False)
class Orbit:
    """The ellipse that a body's origin is on at t = 0, and its attitude: `add_body(name, start=pt.Orbit(...))`.

    semi_major_axis [m], eccentricity, inclination, node (right ascension of the ascending node), argument_of_perigee
    [rad], and true_anomaly or mean_anomaly [rad], in the inertial axes of the world: with an epoch of the Earth, mean
    equator and equinox of date (TEME). Ellipses only, 0 <= eccentricity < 1, with the perigee above the ground.
    roll, pitch, yaw [rad]: R_AB = Rz(yaw) Ry(pitch) Rx(roll) against the `axes` A: "orbit", x forward in the orbital
    plane, y against its normal, z down to the Earth's centre (LVLH), or "inertial". rates: (3,) [rad/s] in body axes,
    relative to these axes, which in orbit turn with the body's place.
    epoch: if given, the world's must be the same.
    """

    semi_major_axis: Annotated[float, "m"]
    eccentricity: Annotated[float, "1"] = 0.0
    inclination: Annotated[float, "rad"] = 0.0
    node: Annotated[float, "rad"] = 0.0
    argument_of_perigee: Annotated[float, "rad"] = 0.0
    true_anomaly: Annotated[float | None, "rad"] = None
    mean_anomaly: Annotated[float | None, "rad"] = None
    roll: Annotated[float, "rad"] = 0.0
    pitch: Annotated[float, "rad"] = 0.0
    yaw: Annotated[float, "rad"] = 0.0
    rates: Annotated[ArrayLike, "rad/s"] = (0.0, 0.0, 0.0)
    axes: Axes = "orbit"
    epoch: str | None = None

    def __post_init__(self) -> None:
        for f in fields(self):
            value = getattr(self, f.name)
            if f.name not in WORDS and not (value is None and f.default is None):
                require_numbers("an orbit", f.name, value, (3,) if f.name == "rates" else ())
        if self.axes not in get_args(Axes):
            raise FieldError(f"axes={self.axes!r} of an orbit must be one of {get_args(Axes)}.", "axes")
        if self.true_anomaly is not None and self.mean_anomaly is not None:
            raise FieldError("an orbit has true_anomaly or mean_anomaly, not both.", "mean_anomaly")
        if self.epoch is not None:
            object.__setattr__(self, "epoch", epochs.written(self.epoch))
        self._check_ellipse()

    def _check_ellipse(self) -> None:
        a, e, i = self.semi_major_axis, self.eccentricity, self.inclination
        if not is_traced(e) and not 0 <= e < 1:
            raise FieldError(
                f"eccentricity={e!r} of an orbit: ellipses are supported, from 0 to below 1. Start a parabola or "
                "hyperbola with position and velocity.",
                "eccentricity",
            )
        if not is_traced(a) and not a > 0:
            raise FieldError(f"semi_major_axis={a!r} m of an orbit must be above zero.", "semi_major_axis")
        if not is_traced(i) and not 0 <= i <= np.pi:
            words = f"inclination={i!r} rad of an orbit must be between 0 and pi"
            raise FieldError(f'{words}; degrees are converted by np.radians, or "{i:g} deg" in files.', "inclination")

    @classmethod
    def of_state(cls, position: ArrayLike, velocity: ArrayLike, earth: Earth, **more: Any) -> "Orbit":
        """The orbit through a position (3,) [m] with a velocity (3,) [m/s], inertial axes."""
        p, v = as_array(position), as_array(velocity)
        for field, x in (("position", p), ("velocity", v)):
            require_numbers("an orbit", field, x, (3,))
        if not np.linalg.norm(np.cross(p, v)) > 1e-12 * np.linalg.norm(p) * np.linalg.norm(v):
            raise FieldError(
                f"position={p.tolist()} m and velocity={v.tolist()} m/s make no orbit: they lie on one "
                "line through the Earth's centre.",
                "velocity",
            )
        found = elements_of(p, v, earth.mu)
        numbers: dict[str, Any] = {name: float(x) for name, x in found._asdict().items()}
        return cls(**numbers, **more)

    @property
    def elements(self) -> Elements:
        """The classical elements, with the true anomaly."""
        nu: Any = 0.0 if self.true_anomaly is None else self.true_anomaly
        if self.mean_anomaly is not None:
            nu = true_anomaly(self.mean_anomaly, self.eccentricity)
        numbers = (self.semi_major_axis, self.eccentricity, self.inclination, self.node, self.argument_of_perigee, nu)
        return Elements(*map(as_array, numbers))

    def state(self, earth: Earth | None = None, air: AirMass | None = None) -> dict[str, Array]:
        """position, orientation, velocity and angular_velocity of a body, in the axes of a world with this Earth."""
        if earth is None:
            raise FieldError("an orbit needs the Earth: pt.World(earth=pt.Earth()).", "start")
        self._check_against(earth)
        p, v = state_of(self.elements, earth.mu)
        R_WA, turning = np.eye(3), np.zeros(3)
        if self.axes == "orbit":
            r, h = np.sqrt(p @ p), np.cross(p, v)
            down, side = -p / r, -h / np.sqrt(h @ h)
            R_WA, turning = np.stack([np.cross(side, down), side, down], axis=-1), h / (r * r)
        R_WB = R_WA @ euler.to_matrix([self.roll, self.pitch, self.yaw])
        omega = as_array(self.rates) + R_WB.T @ turning
        return {"position": p, "orientation": quaternion.from_matrix(R_WB), "velocity": v, "angular_velocity": omega}

    def _check_against(self, earth: Earth) -> None:
        """An error if the orbit meets the ground, or is of another epoch than the world."""
        if self.epoch is not None and self.epoch != earth.epoch:
            raise FieldError(
                f"the orbit is of the epoch {self.epoch}, but that of the world is {earth.epoch}; give "
                f'pt.Earth(epoch="{self.epoch}"), or load the orbit for the epoch of the world.',
                "epoch",
            )
        a, e = self.semi_major_axis, self.eccentricity
        if is_traced(a, e):
            return
        lowest = a * (1 - e) - earth.ellipsoid.a
        if not lowest > 0:
            raise FieldError(
                f"the orbit meets the ground: with semi_major_axis={a:g} m and eccentricity={e:g} its perigee is "
                f"{-lowest / 1e3:.6g} km below the equator's radius. Raise the one or lower the other; a path that "
                "comes down starts with position and velocity, or a pt.Start.",
                "semi_major_axis",
            )
