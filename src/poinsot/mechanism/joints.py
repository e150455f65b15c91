"""Joints: how a link can move relative to its parent.

A joint type is one entry of `TYPES`: the pose that the joint coordinates q give, X_JC (of the child's frame C in the
joint's frame J), and the motion subspace S that turns joint velocities v into the twist of C in J, V = S v, in C's
axes. Where dq/dt is not v (rotations, motion in a plane), the entry says how q follows. A new joint is a new entry.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from poinsot._errors import FieldError
from poinsot._types import Array, ArrayLike
from poinsot.fuse import is_traced
from poinsot.spatial import Pose, quaternion, rotation
from poinsot.spatial.arrays import as_array, vector
from poinsot.spatial.series import stumpff_by_halves


@dataclass(frozen=True, eq=False)
class Joint:
    """A joint: its kind, a key of `TYPES`, its axes (k, 3), and what resists motion in it, per degree of freedom.

    `lower`, `upper`: limits of q [rad, m], `velocity_limit` of |v| [rad/s, m/s], `effort_limit` of a motor's force
    [N m, N]: data, which the equations of motion do not apply. `stiffness` and `rest` of a spring, `damping`, dry
    `friction`, and `armature`, the inertia of a motor's rotor seen through its gear [kg m^2, kg]; each a number or
    (nv,), in SI units. `rest` is a q; for a joint with a quaternion it is the v that leads there from
    neutral in one unit of time.
    """

    kind: str
    axes: Array = field(default_factory=lambda: np.zeros((0, 3)))
    pitch: float = 0.0
    lower: float | Array = -np.inf
    upper: float | Array = np.inf
    velocity_limit: float | Array = np.inf
    effort_limit: float | Array = np.inf
    stiffness: float | Array = 0.0
    rest: float | Array = 0.0
    damping: float | Array = 0.0
    friction: float | Array = 0.0
    armature: float | Array = 0.0
    name: str = ""

    @property
    def type(self) -> "JointType":
        return TYPES[self.kind]

    @property
    def nq(self) -> int:
        return self.type.nq

    @property
    def nv(self) -> int:
        return self.type.nv

    def __repr__(self) -> str:
        axes = ", ".join(str(tuple(float(x) for x in axis)) for axis in self.axes) if not is_traced(self.axes) else "…"
        return f"{self.kind}({axes})"


Function = Callable[..., Any]


@dataclass(frozen=True)
class JointType:
    """What a kind of joint can do. All functions take the joint first, and can be traced."""

    nq: int
    nv: int
    pose: Function  # (joint, q) -> X_JC
    subspace: Function  # (joint, q) -> S (6, nv)
    bias: Function = lambda joint, q, v: np.zeros(6)  # S' v (6,), where S depends on q
    neutral: Function = lambda joint: np.zeros(joint.nq)  # the q at which X_JC is the identity
    rate: Function = lambda joint, q, v: v  # dq/dt (nq,)
    move: Function = lambda joint, q, u: q + u  # q after one unit of time at the constant velocity u
    difference: Function = lambda joint, a, b: b - a  # the u with move(a, u) = b
    unit: Function = lambda joint, q: q  # q, its quaternion made one of length 1 again
    strain: Function = lambda joint, q, rest: joint.type.difference(joint, q, _moved(joint, rest))  # of a spring (nv,)


def _moved(joint: Joint, u: Array) -> Array:
    """q after one unit of time at the constant velocity u, from where X_JC is the identity."""
    return joint.type.move(joint, joint.type.neutral(joint), u)


# Constructors, as a user calls them.


def fixed() -> Joint:
    """No motion."""
    return Joint("fixed")


def revolute(axis: ArrayLike, **data: Any) -> Joint:
    """q: the angle [rad] about the axis."""
    return Joint("revolute", _axes(axis), **data)


def prismatic(axis: ArrayLike, **data: Any) -> Joint:
    """q: the distance [m] along the axis."""
    return Joint("prismatic", _axes(axis), **data)


def helical(axis: ArrayLike, pitch: float, **data: Any) -> Joint:
    """q: the angle [rad] about the axis, along which it moves by `pitch` [m/rad]: a screw."""
    return Joint("helical", _axes(axis), pitch, **data)


def cylindrical(axis: ArrayLike, **data: Any) -> Joint:
    """q: the angle [rad] about and the distance [m] along one axis."""
    return Joint("cylindrical", _axes(axis), **data)


def universal(axis1: ArrayLike, axis2: ArrayLike, **data: Any) -> Joint:
    """q: an angle [rad] about axis1, fixed in the parent, then one about axis2, fixed in the child."""
    axes = _axes(axis1, axis2)
    if not is_traced(axes) and np.linalg.norm(np.cross(axes[0], axes[1])) < 1e-6:
        raise ValueError(f"the axes of a universal joint are parallel: {axes.tolist()}. Use a revolute joint.")
    return Joint("universal", axes, **data)


def planar(normal: ArrayLike, **data: Any) -> Joint:
    """q: the angle [rad] about the normal, and two distances [m] in the plane; v: the same seen from the child."""
    n = _axes(normal)[0]
    e1 = _across(n)
    return Joint("planar", np.stack([n, e1, np.cross(n, e1)]), **data)


def spherical(**data: Any) -> Joint:
    """q: a quaternion wxyz; v: the angular velocity [rad/s] in the child's axes."""
    return Joint("spherical", **data)


def translation(**data: Any) -> Joint:
    """q: three distances [m]; no rotation. The joint of a particle."""
    return Joint("translation", **data)


def free(**data: Any) -> Joint:
    """q: a quaternion wxyz, then a position [m]; v: the twist (omega, v) in the child's axes. For a free body."""
    return Joint("free", **data)


def _axes(*axes: ArrayLike) -> Array:
    rows = [as_array(axis) for axis in axes]
    if is_traced(*rows):
        return np.stack([row / np.linalg.norm(row) for row in rows])
    try:
        array = np.array(rows, dtype=float)
    except (TypeError, ValueError):
        array = np.zeros(0)
    if array.shape != (len(axes), 3) or not np.all(np.isfinite(array)):
        raise FieldError(f"the axis of a joint must be three finite numbers, not {axes}.", "axis")
    largest = np.abs(array).max(axis=1, keepdims=True)
    if np.any(largest == 0):
        raise FieldError("the axis of a joint must not be the zero vector.", "axis")
    array = np.ldexp(array, -np.frexp(largest)[1])  # by powers of 2: no square is too large or too small a number
    return array / np.linalg.norm(array, axis=1, keepdims=True)


def _across(n: Array) -> Array:
    """A unit vector across the unit vector n; for the z axis, x. Duff et al., J. Comput. Graph. Tech. 6 (2017)."""
    sign = np.copysign(1.0, n[2])
    a = -1.0 / (sign + n[2])
    return np.stack([1.0 + sign * n[0] * n[0] * a, sign * n[0] * n[1] * a, -sign * n[0]])


# The table.


def _about(axis: Array, angle: Array) -> Array:
    """R, the rotation about a unit axis: cos E + sin (n x) + (1 - cos) n n^T; for a coordinate axis, just that."""
    if not is_traced(axis):
        for k, turn in enumerate((rotation.about_x, rotation.about_y, rotation.about_z)):
            if np.array_equal(axis, np.eye(3)[k]):
                return turn(angle)
    c, s = np.cos(angle), np.sin(angle)
    return c * np.eye(3) + s * rotation.skew(axis) + (1 - c) * np.outer(axis, axis)


def _angular(*axes: Array) -> Array:
    return np.stack([np.concatenate([a, np.zeros(3)]) for a in axes], axis=1)


def _linear(*axes: Array) -> Array:
    return np.stack([np.concatenate([np.zeros(3), a]) for a in axes], axis=1)


def _constant(S: Callable[[Joint], Array]) -> Function:
    return lambda joint, q: S(joint)


def _universal_pose(joint: Joint, q: Array) -> Pose:
    return Pose.unchecked(_about(joint.axes[0], q[0]) @ _about(joint.axes[1], q[1]), np.zeros(3))


def _universal_subspace(joint: Joint, q: Array) -> Array:
    """The first axis as the child sees it, and the second."""
    return _angular(_about(joint.axes[1], q[1]).T @ joint.axes[0], joint.axes[1])


def _universal_bias(joint: Joint, q: Array, v: Array) -> Array:
    first = _about(joint.axes[1], q[1]).T @ joint.axes[0]
    return np.concatenate([np.cross(first, joint.axes[1]) * (v[0] * v[1]), np.zeros(3)])


def _planar_pose(joint: Joint, q: Array) -> Pose:
    n, e1, e2 = joint.axes
    return Pose.unchecked(_about(n, q[0]), q[1] * e1 + q[2] * e2)


def _turn(q: Array, x: Array) -> Array:
    """Two numbers, turned in their plane by the angle q."""
    c, s = np.cos(q), np.sin(q)
    return np.stack([c * x[0] - s * x[1], s * x[0] + c * x[1]])


def _planar_rate(joint: Joint, q: Array, v: Array) -> Array:
    return np.concatenate([v[:1], _turn(q[0], v[1:])])


def _planar_move(joint: Joint, q: Array, u: Array) -> Array:
    """Along the screw u: SE(2)'s exponential."""
    n, e1, e2 = np.eye(3)[2], np.eye(3)[0], np.eye(3)[1]
    X = Pose.exp(np.concatenate([u[0] * n, u[1] * e1 + u[2] * e2]))
    return np.concatenate([q[:1] + u[:1], q[1:] + _turn(q[0], X.p[:2])])


def _planar_difference(joint: Joint, a: Array, b: Array) -> Array:
    """The screw from a to b; after whole turns none leads to another place, and there is no number for it."""
    d = _turn(-a[0], b[1:] - a[1:])
    J = rotation.left_jacobian_inverse(vector(0.0, 0.0, b[0] - a[0]))
    return np.concatenate([b[:1] - a[:1], J[:2, :2] @ d])


def _planar_strain(joint: Joint, q: Array, rest: Array) -> Array:
    """The angle and the straight way to the rest, in the child's axes; a screw leads there too, but not after 2 pi."""
    return np.concatenate([rest[:1] - q[:1], _turn(-q[0], rest[1:] - q[1:])])


def _free_pose(joint: Joint, q: Array) -> Pose:
    return Pose.unchecked(quaternion.to_matrix(q[:4]), q[4:])


def _free_move(joint: Joint, q: Array, u: Array) -> Array:
    """A screw motion; how far it goes, J(phi) v as in `Pose.exp`, by the functions of half the angle that turn q."""
    phi, v = u[:3], u[3:]
    c2, c3 = stumpff_by_halves(phi @ phi)
    across = np.cross(phi, v)
    p = v + c2 * across + c3 * np.cross(phi, across)
    return np.concatenate([quaternion.integrate(q[:4], phi, 1.0), q[4:] + quaternion.rotate(q[:4], p)])


def _free_difference(joint: Joint, a: Array, b: Array) -> Array:
    phi = _between(a[:4], b[:4])
    d = quaternion.rotate(quaternion.conjugate(a[:4]), b[4:] - a[4:])
    return np.concatenate([phi, rotation.left_jacobian_inverse(phi) @ d])


def _between(a: Array, b: Array) -> Array:
    """The rotation vector, in the axes that a gives, that turns a into b."""
    return quaternion.log(quaternion.product(quaternion.conjugate(a), b))


TYPES: dict[str, JointType] = {
    "fixed": JointType(0, 0, lambda j, q: Pose(), _constant(lambda j: np.zeros((6, 0)))),
    "revolute": JointType(
        1,
        1,
        lambda j, q: Pose.unchecked(_about(j.axes[0], q[0]), np.zeros(3)),
        _constant(lambda j: _angular(j.axes[0])),
    ),
    "prismatic": JointType(
        1, 1, lambda j, q: Pose.unchecked(np.eye(3), q[0] * j.axes[0]), _constant(lambda j: _linear(j.axes[0]))
    ),
    "helical": JointType(
        1,
        1,
        lambda j, q: Pose.unchecked(_about(j.axes[0], q[0]), j.pitch * q[0] * j.axes[0]),
        _constant(lambda j: _angular(j.axes[0]) + j.pitch * _linear(j.axes[0])),
    ),
    "cylindrical": JointType(
        2,
        2,
        lambda j, q: Pose.unchecked(_about(j.axes[0], q[0]), q[1] * j.axes[0]),
        _constant(lambda j: np.concatenate([_angular(j.axes[0]), _linear(j.axes[0])], axis=1)),
    ),
    "universal": JointType(2, 2, _universal_pose, _universal_subspace, _universal_bias),
    "planar": JointType(
        3,
        3,
        _planar_pose,
        _constant(lambda j: np.concatenate([_angular(j.axes[0]), _linear(j.axes[1], j.axes[2])], axis=1)),
        rate=_planar_rate,
        move=_planar_move,
        difference=_planar_difference,
        strain=_planar_strain,
    ),
    "spherical": JointType(
        4,
        3,
        lambda j, q: Pose.unchecked(quaternion.to_matrix(q), np.zeros(3)),
        _constant(lambda j: np.eye(6)[:, :3]),
        neutral=lambda j: quaternion.identity(),
        rate=lambda j, q, v: quaternion.derivative(q, v),
        move=lambda j, q, u: quaternion.integrate(q, u, 1.0),
        difference=lambda j, a, b: _between(a, b),
        unit=lambda j, q: quaternion.normalize(q),
    ),
    "translation": JointType(3, 3, lambda j, q: Pose.unchecked(np.eye(3), q), _constant(lambda j: np.eye(6)[:, 3:])),
    "free": JointType(
        7,
        6,
        _free_pose,
        _constant(lambda j: np.eye(6)),
        neutral=lambda j: np.concatenate([quaternion.identity(), np.zeros(3)]),
        rate=lambda j, q, v: np.concatenate([quaternion.derivative(q[:4], v[:3]), quaternion.rotate(q[:4], v[3:])]),
        move=_free_move,
        difference=_free_difference,
        unit=lambda j, q: np.concatenate([quaternion.normalize(q[:4]), q[4:]]),
    ),
}
