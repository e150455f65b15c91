"""The usual blocks: PID, lag, lead, washout, notch, schedules, quaternion feedback. Their numbers can be varied.

Franklin, Powell and Emami-Naeini, Feedback Control of Dynamic Systems; Astrom and Murray, Feedback Systems.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any

import numpy as np

from poinsot._errors import FieldError
from poinsot._types import Array, ArrayLike
from poinsot.control.controller import Answer, Block, taken
from poinsot.fuse import is_traced
from poinsot.parts.element import Value, require_finite, require_limit, value_of
from poinsot.parts.loads import limited
from poinsot.parts.scene import Scene
from poinsot.spatial import quaternion
from poinsot.spatial.arrays import as_array


@dataclass(frozen=True, eq=False)
class PID(Block):
    """out = kp e + ki (integral of e) + kd de/dt, within +-limit, for the error e = target - input.

    The derivative is that of the error, smoothed: s / (smoothing s + 1); or, if a `rate` is given, -rate. Against
    windup the integral stands still while the output is at its limit and the error would drive it further. Sampled: the
    integral by Euler's forward rule, the derivative by his backward rule.
    """

    input: Value | str = 0.0
    target: Value | str = 0.0
    kp: float = 0.0
    ki: Annotated[float, "1/s"] = 0.0
    kd: Annotated[float, "s"] = 0.0
    rate: Value | str | None = None
    smoothing: Annotated[float, "s"] = 0.01
    limit: float = np.inf

    def __post_init__(self) -> None:
        super().__post_init__()
        require_above_zero(self, "smoothing")
        require_finite(f"PID {self.name!r}", kp=self.kp, ki=self.ki, kd=self.kd)
        require_limit(f"PID {self.name!r}", self.limit)

    def memory_at_start(self) -> Mapping[str, Array]:
        return {"integral": np.zeros(())} | ({} if self.rate is not None else {"smooth": np.zeros(())})

    def answer(self, scene: Scene, memory: Mapping[str, Array]) -> Answer:
        h = self.sample or 0.0
        e = scalar(self, "target", scene) - scalar(self, "input", scene)
        if self.rate is not None:
            slope, filtered = -scalar(self, "rate", scene), {}
        else:
            slope = (e - memory["smooth"]) / (self.smoothing + h)
            filtered = {"smooth": memory["smooth"] + h * slope if self.sample else slope}
        wanted = self.kp * e + memory["integral"] + self.kd * slope
        out, grows = limited(wanted, self.limit), self.ki * e
        grows = np.where((wanted - out) * grows > 0, 0.0, grows)
        integral = memory["integral"] + h * grows if self.sample else grows
        return {"out": out}, {"integral": integral, **filtered}


@dataclass(frozen=True, eq=False)
class LinearBlock(Block):
    """x' = A x + b u, out = c x + d u. Sampled: by Tustin's rule, s = 2/h (z - 1)/(z + 1)."""

    input: Value | str = 0.0

    def matrices(self) -> tuple[Array, Array, Array, Array]:
        """A (n, n), b (n,), c (n,), d ()."""
        raise NotImplementedError

    def memory_at_start(self) -> Mapping[str, Array]:
        return {"x": np.zeros(len(self.matrices()[1]))}

    def answer(self, scene: Scene, memory: Mapping[str, Array]) -> Answer:
        (A, b, c, d), u, x = self.matrices(), scalar(self, "input", scene), memory["x"]
        if self.sample is None:
            return {"out": c @ x + d * u}, {"x": A @ x + b * u}
        h = self.sample
        middle = _solved(np.eye(len(b)) - 0.5 * h * A, x + 0.5 * h * b * u)  # halfway through the step, by Tustin
        return {"out": c @ middle + d * u}, {"x": 2.0 * middle - x}


def _solved(M: Array, y: Array) -> Array:
    """M^-1 y for M (1, 1) or (2, 2)."""
    if len(y) == 1:
        return y / M[0, 0]
    det = M[0, 0] * M[1, 1] - M[0, 1] * M[1, 0]
    return np.stack([M[1, 1] * y[0] - M[0, 1] * y[1], M[0, 0] * y[1] - M[1, 0] * y[0]]) / det


@dataclass(frozen=True, eq=False)
class Lead(LinearBlock):
    """(lead s + 1) / (lag s + 1), with both times in s; a lead if `lead` is longer than `lag`."""

    lead: Annotated[float, "s"] = 0.0
    lag: Annotated[float, "s"] = 1.0

    def __post_init__(self) -> None:
        super().__post_init__()
        require_above_zero(self, "lag")

    def matrices(self) -> tuple[Array, Array, Array, Array]:
        d = as_array(self.lead / self.lag)
        return _matrix([[-1.0 / self.lag]]), _matrix([1.0 / self.lag]), _matrix([1.0 - d]), d


@dataclass(frozen=True, eq=False)
class Lag(Block):
    """1 / (lag s + 1). Continuous, its output is its state: a loop through it is not without one. Sampled: Tustin."""

    input: Value | str = 0.0
    lag: Annotated[float, "s"] = 1.0
    start: float = 0.0

    def __post_init__(self) -> None:
        super().__post_init__()
        require_above_zero(self, "lag")

    def memory_at_start(self) -> Mapping[str, Array]:
        return {"x" if self.sample else "out": as_array(self.start)}

    def answer(self, scene: Scene, memory: Mapping[str, Array]) -> Answer:
        u = scalar(self, "input", scene)
        if self.sample is None:
            return {"out": memory["out"]}, {"out": (u - memory["out"]) / self.lag}
        x, share = memory["x"], 0.5 * self.sample / self.lag
        middle = (x + share * u) / (1.0 + share)
        return {"out": middle}, {"x": 2.0 * middle - x}


@dataclass(frozen=True, eq=False)
class Washout(LinearBlock):
    """time s / (time s + 1): what is steady is washed out."""

    time: Annotated[float, "s"] = 1.0

    def __post_init__(self) -> None:
        super().__post_init__()
        require_above_zero(self, "time")

    def matrices(self) -> tuple[Array, Array, Array, Array]:
        return _matrix([[-1.0 / self.time]]), _matrix([1.0 / self.time]), np.array([-1.0]), np.ones(())


@dataclass(frozen=True, eq=False)
class Notch(LinearBlock):
    """(s^2 + 2 depth width w s + w^2) / (s^2 + 2 width w s + w^2), w = `frequency` [rad/s].

    At w the gain is `depth`, 0 by default; `width` is the damping ratio of the poles.
    """

    frequency: Annotated[float, "rad/s"] = 1.0
    width: Annotated[float, "1"] = 0.5
    depth: Annotated[float, "1"] = 0.0

    def __post_init__(self) -> None:
        super().__post_init__()
        require_above_zero(self, "frequency", "width")

    def matrices(self) -> tuple[Array, Array, Array, Array]:
        w, damping = self.frequency, 2.0 * self.width * self.frequency
        A = _matrix([[0.0, 1.0], [-w * w, -damping]])
        return A, np.array([0.0, 1.0]), _matrix([0.0, (self.depth - 1.0) * damping]), np.ones(())


@dataclass(frozen=True, eq=False)
class GainSchedule(Block):
    """out = input times a gain, which is tabulated by a signal: `gains` (k,) at increasing values `at` (k,) of `by`.

    Linear in between, constant outside. With the input 1 the output is the gain.
    """

    input: Value | str = 1.0
    by: Value | str = 0.0
    at: ArrayLike = (0.0, 1.0)
    gains: ArrayLike = (1.0, 1.0)

    def __post_init__(self) -> None:
        super().__post_init__()
        at, gains = as_array(self.at), as_array(self.gains)
        if np.ndim(at) != 1 or np.shape(at) != np.shape(gains) or len(at) < 2:
            raise FieldError(f"at and gains of schedule {self.name!r} must be two lists of the same length.", "gains")
        if not is_traced(at) and not np.all(np.diff(at) > 0):
            raise FieldError(f"at of schedule {self.name!r} must increase, not {self.at!r}.", "at")

    def answer(self, scene: Scene, memory: Mapping[str, Array]) -> Answer:
        gain = np.interp(scalar(self, "by", scene), as_array(self.at), as_array(self.gains))
        return {"out": gain * scalar(self, "input", scene)}, {}


@dataclass(frozen=True, eq=False)
class QuaternionFeedback(Block):
    """torque = -kp e - kd (omega - target_rate) + omega x J omega  [N m], (3,), body axes.

    e is the vector part of the quaternion from the `target` (4,) to the `attitude` (4,) wxyz, with the sign of the
    shorter way; omega is the `rate` (3,) [rad/s] in body axes. kp [N m] and kd [N m s] are numbers, (3,) or (3, 3). The
    gyroscopic term is added if the `inertia` J (3, 3) [kg m^2] is given; with kp and kd proportional to it, the body
    turns about one axis. `limit` [N m] for each component. Wie, Weiss and Arapostathis, J. Guidance 12 (1989) 375.
    """

    attitude: Value | str = (1.0, 0.0, 0.0, 0.0)
    rate: Value | str = (0.0, 0.0, 0.0)
    target: Value | str = (1.0, 0.0, 0.0, 0.0)
    target_rate: Annotated[Value | str, "rad/s"] = (0.0, 0.0, 0.0)
    kp: Annotated[ArrayLike, "N m"] = 0.0
    kd: Annotated[ArrayLike, "N m s"] = 0.0
    inertia: Annotated[ArrayLike | None, "kg m^2"] = None
    limit: Annotated[float, "N m"] = np.inf

    def __post_init__(self) -> None:
        super().__post_init__()
        owner = f"QuaternionFeedback {self.name!r}"
        require_limit(owner, self.limit)
        for name, shapes in {"kp": ((), (3,), (3, 3)), "kd": ((), (3,), (3, 3)), "inertia": ((3, 3),)}.items():
            value = getattr(self, name)
            require_finite(owner, **({} if value is None else {name: value}))
            if value is not None and np.shape(as_array(value)) not in shapes:
                listed = " or ".join(map(str, shapes))
                raise FieldError(f"{name} of {owner} must have shape {listed}, not {np.shape(value)}.", name)

    def outputs_at_start(self) -> Mapping[str, Array]:
        return {"torque": np.zeros(3)}

    def answer(self, scene: Scene, memory: Mapping[str, Array]) -> Answer:
        q, target = (_given(self, name, scene, (4,)) for name in ("attitude", "target"))
        omega, aim = (_given(self, name, scene, (3,)) for name in ("rate", "target_rate"))
        error = quaternion.product(quaternion.conjugate(target), q)
        e = np.where(error[0] < 0, -1.0, 1.0) * error[1:]
        torque = -_weighted(self.kp, e) - _weighted(self.kd, omega - aim)
        if self.inertia is not None:
            torque = torque + np.cross(omega, as_array(self.inertia) @ omega)
        return {"torque": limited(torque, self.limit)}, {}

    def units(self) -> dict[str, str]:
        return {**super().units(), "torque": "N m"}


def _weighted(gain: ArrayLike, x: Array) -> Array:
    gain = as_array(gain)
    return gain @ x if np.ndim(gain) == 2 else gain * x


def _given(block: Block, name: str, scene: Scene, shape: tuple[int, ...]) -> Array:
    owner = f"{type(block).__name__} {block.name!r}"
    return value_of(taken(getattr(block, name), scene, name, owner), scene, shape, name, owner, spread=False)


def scalar(block: Block, name: str, scene: Scene) -> Array:
    """The value of an input that is one number; (1,), as the coordinate of a joint, is one as well."""
    owner = f"{type(block).__name__} {block.name!r}"
    value = taken(getattr(block, name), scene, name, owner)
    if np.shape(value) not in ((), (1,)):
        raise FieldError(f"{name} of {owner} must be one number, not an array of shape {np.shape(value)}.", name)
    return np.reshape(value, ())


def _matrix(rows: Sequence[Any]) -> Array:
    return np.stack([_matrix(row) if isinstance(row, list) else as_array(row) for row in rows])


def require_above_zero(block: Block, *names: str) -> None:
    """An error if one of these numbers is not above zero."""
    for name in names:
        value = getattr(block, name)
        if not is_traced(value) and not 0 < value < np.inf:
            owner = f"{type(block).__name__} {block.name!r}"
            raise FieldError(f"{name} of {owner} must be above zero, not {value!r}.", name)
