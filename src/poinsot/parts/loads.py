"""External forces, torques and motors: constant, tabulated in time, inputs, or functions of time and state."""

from dataclasses import dataclass, field
from typing import Annotated, Literal, TypeAlias, get_args

import numpy as np

from poinsot._errors import FieldError
from poinsot._types import Array, ArrayLike, Scalar
from poinsot.parts.element import (
    Effect,
    Element,
    Value,
    read_only,
    require_finite,
    require_limit,
    require_points,
    value_of,
)
from poinsot.parts.resisting import Later, Resistance, Resisting, Used
from poinsot.parts.scene import Scene
from poinsot.spatial.arrays import as_array

Axes: TypeAlias = Literal["world", "body"]


@dataclass(frozen=True, eq=False)
class Tabulated:
    """A function of time: values (k,) or (k, n) at times (k,) [s], linear in between, constant outside."""

    times: Array
    values: Array

    def __post_init__(self) -> None:
        times, values = np.array(self.times, dtype=float), np.array(self.values, dtype=float)
        if times.ndim != 1 or len(times) < 2 or not np.all(np.diff(times) > 0) or not np.all(np.isfinite(times)):
            raise FieldError(f"times of a table must be two or more increasing numbers [s], not {self.times}.", "times")
        if values.shape[:1] != times.shape or values.ndim > 2 or not np.all(np.isfinite(values)):
            raise FieldError(
                f"values of a table at {len(times)} times must be finite numbers of shape ({len(times)},) or "
                f"({len(times)}, n), not of shape {values.shape}.",
                "values",
            )
        object.__setattr__(self, "times", read_only(times))
        object.__setattr__(self, "values", read_only(values))

    def __call__(self, t: Array, scene: Scene | None = None) -> Array:
        if self.values.ndim == 1:
            return np.interp(t, self.times, self.values)
        return np.stack([np.interp(t, self.times, column) for column in self.values.T])


@dataclass(frozen=True)
class Input:
    """The value of an input of the world, by its name, times a factor; `within`: the value counts between these."""

    name: str
    factor: float = 1.0
    within: tuple[float, float] | None = field(default=None, metadata={"described": "if given"})

    def __call__(self, t: Array, scene: Scene) -> Array:
        value = scene.input(self.name)
        return self.factor * (value if self.within is None else np.clip(value, *self.within))


@dataclass(frozen=True)
class Signal:
    """The value of a signal, times a factor: what an element shows, "autopilot.elevator", a quantity of a body,
    "wing.velocity", or an input; "wing.position[2]" is one entry. It stands wherever an `Input` may."""

    name: str
    factor: float = 1.0

    def __call__(self, t: Array, scene: Scene) -> Array:
        return self.factor * scene.signal(self.name)


@dataclass(frozen=True, eq=False)
class Force(Element):
    """A force (3,) [N] in world or body axes, at a point [m] of a body in the body's frame.

    The value is constant, a `Tabulated`, an `Input`, a `Signal`, or a function (t, scene) -> (3,).
    """

    body: str = ""
    value: Annotated[Value, "N"] = (0.0, 0.0, 0.0)
    point: Annotated[ArrayLike, "m"] = (0.0, 0.0, 0.0)
    axes: Axes = "world"

    def __post_init__(self) -> None:
        _check(self, "force")
        require_points(f"force {self.name!r}", point=self.point)

    def bodies(self) -> tuple[str, ...]:
        return (self.body,)

    def effect(self, scene: Scene) -> Effect:
        f = value_of(self.value, scene, (3,), "value", f"force {self.name!r}", spread=False)
        body = scene[self.body]
        if self.axes == "body":
            return Effect({self.body: np.concatenate([np.cross(as_array(self.point), f), f])}, shown={"force": f})
        return Effect({self.body: body.wrench(f, self.point)}, shown={"force": f})

    def units(self) -> dict[str, str]:
        return {"force": "N"}


@dataclass(frozen=True, eq=False)
class Torque(Element):
    """A couple (3,) [N m] on a body, in the world's or the body's axes; constant or a function, as for a `Force`."""

    body: str = ""
    value: Annotated[Value, "N m"] = (0.0, 0.0, 0.0)
    axes: Axes = "world"

    def __post_init__(self) -> None:
        _check(self, "torque")

    def bodies(self) -> tuple[str, ...]:
        return (self.body,)

    def effect(self, scene: Scene) -> Effect:
        m = value_of(self.value, scene, (3,), "value", f"torque {self.name!r}", spread=False)
        m_B = m if self.axes == "body" else scene[self.body].pose.R.T @ m
        return Effect({self.body: np.concatenate([m_B, np.zeros(3)])}, shown={"torque": m})

    def units(self) -> dict[str, str]:
        return {"torque": "N m"}


@dataclass(frozen=True, eq=False)
class Motor(Element):
    """A motor in the joint of a body: a torque [N m] or force [N] for each of its degrees of freedom.

    The value is constant, a `Tabulated`, an `Input`, a `Signal`, or a function (t, scene) -> (nv,). `limit`: its
    largest magnitude.
    """

    joint: str = ""
    value: Annotated[Value, "N m", "N"] = 0.0
    limit: Annotated[float, "N m", "N"] = np.inf

    def __post_init__(self) -> None:
        require_finite(f"motor {self.name!r}", value=self.value)
        require_limit(f"motor {self.name!r}", self.limit)

    def joints(self) -> tuple[str, ...]:
        return (self.joint,)

    def effect(self, scene: Scene) -> Effect:
        n = scene.joint(self.joint)[1].shape
        tau = limited(value_of(self.value, scene, n, "value", f"motor {self.name!r}"), self.limit)
        return Effect(joint_forces={self.joint: tau}, shown={"torque": tau})

    def units(self) -> dict[str, str]:
        return {"torque": "N m, N"}


@dataclass(frozen=True, eq=False)
class PD(Element):
    """A motor with feedback: tau = kp (target - q) + kd (target_rate - v), within +-limit.

    kp [N m/rad, N/m] and kd [N m s/rad, N s/m] are numbers or (nv,); target (nq,) [rad, m] and target_rate (nv,) are
    constant, tabulated, inputs or functions. Where q is a quaternion, target - q is the rotation vector between them.
    """

    joint: str = ""
    kp: Annotated[ArrayLike, "N m/rad", "N m", "N/m"] = 0.0
    kd: Annotated[ArrayLike, "N m s/rad", "N m s", "N s/m"] = 0.0
    target: Annotated[Value | None, "rad", "m", "1"] = field(default=None)
    target_rate: Annotated[Value, "rad/s", "m/s"] = 0.0
    limit: Annotated[float, "N m", "N"] = np.inf

    def __post_init__(self) -> None:
        owner = f"PD {self.name!r}"
        require_finite(owner, kp=self.kp, kd=self.kd, target_rate=self.target_rate)
        if self.target is not None:
            require_finite(owner, target=self.target)
        require_limit(owner, self.limit)

    def joints(self) -> tuple[str, ...]:
        return (self.joint,)

    def effect(self, scene: Scene) -> Effect:
        error, rate = self._errors(scene)
        tau = limited(as_array(self.kp) * error + as_array(self.kd) * rate, self.limit)
        return Effect(joint_forces={self.joint: tau}, shown={"torque": tau, "error": error})

    def resisting(self, scene: Scene, h: Scalar) -> Resisting:
        """kp (error - h v) + kd (rate - v): a motor at its limit does not yield."""
        error, rate = self._errors(scene)
        v, kp, kd = scene.joint(self.joint)[1], as_array(self.kp), as_array(self.kd)
        slope, tau = kd + h * kp + np.zeros(v.shape), kp * (error - h * v) + kd * rate

        def at(later: Later) -> Resistance:
            f, d = yielding(tau, slope, later.joint_change(self.joint), self.limit)
            return Resistance(joint_forces={self.joint: f}, joint_slopes={self.joint: d})

        def taken(later: Later, used: Used) -> Effect:
            shown = {"torque": used.joint_forces[self.joint], "error": error}
            return Effect(joint_forces=used.joint_forces, power=used.power(later), shown=shown)

        return Resisting(at, taken)

    def _errors(self, scene: Scene) -> tuple[Array, Array]:
        """target - q and target_rate - v."""
        joint = scene.mechanism.link(self.joint).joint
        q, v = scene.joint(self.joint)
        owner = f"PD {self.name!r}"
        spread = joint.nq == joint.nv  # one number may stand for all coordinates, but not for a quaternion
        target = joint.type.neutral(joint) if self.target is None else self.target
        goal = value_of(target, scene, q.shape, "target", owner, spread)
        error = joint.type.difference(joint, q, joint.type.normalize(joint, goal))
        return error, value_of(self.target_rate, scene, v.shape, "target_rate", owner) - v

    def units(self) -> dict[str, str]:
        return {"torque": "N m, N", "error": "rad, m"}


def limited(tau: Array, limit: float) -> Array:
    """tau, clipped to +-limit."""
    return tau if isinstance(limit, float) and limit == np.inf else np.clip(tau, -limit, limit)


def yielding(tau: Array, slope: Array, change: Array, limit: float) -> tuple[Array, Array]:
    """A force (nv,) at the start of a step and its slope, given a guess of the change of velocity: beyond +-limit it is
    that, and does not yield."""
    then = tau - slope * change
    most = limited(then, limit)
    if most is then:
        return tau, slope
    return np.where(most == then, tau, most), np.where(most == then, slope, 0.0)


def _check(element: Force | Torque, what: str) -> None:
    if element.axes not in get_args(Axes):
        raise FieldError(f"axes of {what} {element.name!r} must be 'world' or 'body', not {element.axes!r}.", "axes")
    require_finite(f"{what} {element.name!r}", value=element.value)
