"""Joints: how a link can move relative to its parent.

A joint type is one entry of `TYPES`: the pose that the joint coordinates q give, X_JC (of the child's frame C in the
joint's frame J), and the motion subspace S that maps joint velocities v to the twist of C in J, V = S v, in C's
axes; with all else that is known of the kind (`joint_types`). A new joint is a new entry.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from typing import Any

import numpy as np

from poinsot._errors import FieldError
from poinsot._types import Array, ArrayLike
from poinsot.fuse import is_traced
from poinsot.mechanism.joint_types import Closing, Constant, JointType
from poinsot.spatial import Pose, quaternion, rotation
from poinsot.spatial.arrays import as_array, vector
from poinsot.spatial.series import stumpff_by_halves


@dataclass(frozen=True, eq=False)
class Joint:
    """A joint: its kind, a key of `TYPES`, its axes (k, 3), and the resistance to its motion, per degree of freedom.

    `parameters`: further numbers of its kind by name, such as the pitch of a screw; also joint.pitch.
    `lower`, `upper`: limits of q [rad, m], `velocity_limit` of |v| [rad/s, m/s], `effort_limit` of a motor's force
    [N m, N]: data, which the equations of motion do not apply. `stiffness` and `rest` of a spring, `damping`, dry
    `friction`, and `armature`, the inertia of a motor's rotor seen through its gear [kg m^2, kg]; each a number or
    (nv,), in SI units. `rest` is a q; for a joint with a quaternion it is the v that leads there from
    neutral in one unit of time.
    """

    kind: str
    axes: Array = field(default_factory=lambda: np.zeros((0, 3)))
    parameters: Mapping[str, float] = field(default_factory=dict)
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

    def __post_init__(self) -> None:
        for f in fields(self):  # numbers of its own, which its maker cannot change
            value = getattr(self, f.name)
            if isinstance(value, list) and not is_traced(value):
                object.__setattr__(self, f.name, tuple(value))
            elif isinstance(value, np.ndarray) and (value.flags.writeable or value.base is not None):
                own = value.copy()
                own.setflags(write=False)
                object.__setattr__(self, f.name, own)
        object.__setattr__(self, "parameters", dict(self.parameters))

    @property
    def type(self) -> JointType:
        """The properties that joints of this kind have in common."""
        return TYPES[self.kind]

    @property
    def nq(self) -> int:
        """The length of its q; one more than `nv` where q holds a quaternion."""
        return self.type.nq

    @property
    def nv(self) -> int:
        """Its degrees of freedom: the length of v."""
        return self.type.nv

    def __getattr__(self, name: str) -> Any:
        """A parameter by its name."""
        parameters = self.__dict__.get("parameters", {})
        if name in parameters:
            return parameters[name]
        raise AttributeError(f"a joint has no {name!r}")

    def changed(self, name: str, value: Any) -> "Joint":
        """The joint with another number: a field or a parameter; axes become unit vectors again."""
        if name in self.parameters:
            return replace(self, parameters={**self.parameters, name: value})
        return replace(self, **{name: self.type.unit_axes(value) if name == "axes" else value})

    def __repr__(self) -> str:
        axes = ", ".join(str(tuple(float(x) for x in axis)) for axis in self.axes) if not is_traced(self.axes) else "…"
        return f"{self.kind}({axes})"


# Constructors, as a user calls them.


def fixed() -> Joint:
    """No motion."""
    return Joint("fixed")


def revolute(axis: ArrayLike, **data: Any) -> Joint:
    """q: the angle [rad] about the axis."""
    return Joint("revolute", as_axes(axis), **data)


def prismatic(axis: ArrayLike, **data: Any) -> Joint:
    """q: the distance [m] along the axis."""
    return Joint("prismatic", as_axes(axis), **data)


def helical(axis: ArrayLike, pitch: float, **data: Any) -> Joint:
    """q: the angle [rad] about the axis, along which it advances by `pitch` [m/rad]: a screw."""
    return Joint("helical", as_axes(axis), {"pitch": pitch}, **data)


def cylindrical(axis: ArrayLike, **data: Any) -> Joint:
    """q: the angle [rad] about and the distance [m] along one axis."""
    return Joint("cylindrical", as_axes(axis), **data)


def universal(axis1: ArrayLike, axis2: ArrayLike, **data: Any) -> Joint:
    """q: an angle [rad] about axis1, fixed in the parent, then one about axis2, fixed in the child."""
    axes = as_axes(axis1, axis2)
    if not is_traced(axes) and np.linalg.norm(np.cross(axes[0], axes[1])) < 1e-6:
        raise ValueError(f"the axes of a universal joint are parallel: {axes.tolist()}. Use a revolute joint.")
    return Joint("universal", axes, **data)


def planar(normal: ArrayLike, **data: Any) -> Joint:
    """q: the angle [rad] about the normal, and two distances [m] in the plane; v: their rates in the child's axes."""
    n = as_axes(normal)[0]
    e1 = rotation.perpendicular(n)
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


def as_axes(*axes: ArrayLike) -> Array:
    """Unit vectors (k, 3) along these directions; an error if one has none."""
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
    array = np.ldexp(array, -np.frexp(largest)[1])  # by powers of 2: no square overflows or underflows
    return array / np.linalg.norm(array, axis=1, keepdims=True)


# The table.

COORDINATE_AXES = np.eye(3)  # plain numbers, also while a function is traced


def _about(axis: Array, angle: Array) -> Array:
    """R, the rotation about a unit axis: cos E + sin (n x) + (1 - cos) n n^T; simpler for a coordinate axis."""
    if not is_traced(axis):
        for k, turn in enumerate((rotation.about_x, rotation.about_y, rotation.about_z)):
            if np.array_equal(axis, COORDINATE_AXES[k]):
                return turn(angle)
    c, s = np.cos(angle), np.sin(angle)
    return c * np.eye(3) + s * rotation.skew(axis) + (1 - c) * np.outer(axis, axis)


def _angular(*axes: Array) -> Array:
    return np.stack([np.concatenate([a, np.zeros(3)]) for a in axes], axis=1)


def _linear(*axes: Array) -> Array:
    return np.stack([np.concatenate([np.zeros(3), a]) for a in axes], axis=1)


def _universal_pose(joint: Joint, q: Array) -> Pose:
    return Pose.unchecked(_about(joint.axes[0], q[0]) @ _about(joint.axes[1], q[1]), np.zeros(3))


def _universal_subspace(joint: Joint, q: Array) -> Array:
    """The first axis in the child's axes, and the second."""
    return _angular(_about(joint.axes[1], q[1]).T @ joint.axes[0], joint.axes[1])


def _universal_subspace_rate(joint: Joint, q: Array, v: Array) -> Array:
    """In the child's axes the first axis turns about the second."""
    first = _about(joint.axes[1], q[1]).T @ joint.axes[0]
    return np.stack([np.concatenate([np.cross(first, joint.axes[1]) * v[1], np.zeros(3)]), np.zeros(6)], axis=1)


def _universal_parts(joint: Joint) -> list[Joint]:
    return [replace(joint, kind="revolute", axes=joint.axes[k : k + 1]) for k in (0, 1)]


def _cylindrical_parts(joint: Joint) -> list[Joint]:
    return [replace(joint, kind=kind) for kind in ("revolute", "prismatic")]


def _planar_axes(axes: Array) -> Array:
    """The normal and two directions in the plane, of length 1 and at right angles to each other."""
    n, e1, _ = (row / np.sqrt(row @ row) for row in as_array(axes))
    across = e1 - (e1 @ n) * n
    e1 = across / np.sqrt(across @ across)
    return np.stack([n, e1, np.cross(n, e1)])


def _planar_pose(joint: Joint, q: Array) -> Pose:
    n, e1, e2 = joint.axes
    return Pose.unchecked(_about(n, q[0]), q[1] * e1 + q[2] * e2)


def _turn(q: Array, x: Array) -> Array:
    """A vector (2,), turned in its plane by the angle q."""
    c, s = np.cos(q), np.sin(q)
    return np.stack([c * x[0] - s * x[1], s * x[0] + c * x[1]])


def _planar_rate(joint: Joint, q: Array, v: Array) -> Array:
    return np.concatenate([v[:1], _turn(q[0], v[1:])])


def _planar_integrate(joint: Joint, q: Array, u: Array) -> Array:
    """Along the screw u: SE(2)'s exponential."""
    n, e1, e2 = np.eye(3)[2], np.eye(3)[0], np.eye(3)[1]
    X = Pose.exp(np.concatenate([u[0] * n, u[1] * e1 + u[2] * e2]))
    return np.concatenate([q[:1] + u[:1], q[1:] + _turn(q[0], X.p[:2])])


def _planar_difference(joint: Joint, a: Array, b: Array) -> Array:
    """The screw from a to b; after whole turns none leads to another place, and the result is not a number."""
    d = _turn(-a[0], b[1:] - a[1:])
    J = rotation.left_jacobian_inverse(vector(0.0, 0.0, b[0] - a[0]))
    return np.concatenate([b[:1] - a[:1], J[:2, :2] @ d])


def _planar_strain(joint: Joint, q: Array, rest: Array) -> Array:
    """The angle and the straight line to the rest position, in the child's axes; a screw would not do after 2 pi."""
    return np.concatenate([rest[:1] - q[:1], _turn(-q[0], rest[1:] - q[1:])])


def _free_pose(joint: Joint, q: Array) -> Pose:
    return Pose.unchecked(quaternion.to_matrix(q[:4]), q[4:])


def _free_integrate(joint: Joint, q: Array, u: Array) -> Array:
    """A screw motion; its translation J(phi) v, as in `Pose.exp`, by the functions of half the angle that turn q."""
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
    """The rotation vector from a to b, in the axes of a."""
    return quaternion.log(quaternion.product(quaternion.conjugate(a), b))


ORIGIN = tuple(np.eye(3))  # the origin of B stays at that of A
NO_TURN = tuple(zip(np.eye(3), np.roll(np.eye(3), -1, axis=0), strict=True))  # the axes of B stay those of A


def _parallel(axis: Array) -> tuple[tuple[Array, Array], ...]:
    """The axis of B stays that of A."""
    return tuple((e, axis) for e in Closing.across(axis))


TYPES: dict[str, JointType] = {
    "fixed": JointType(
        fixed,
        (),
        lambda j, q: Pose(),
        Constant(lambda j: np.zeros((6, 0))),
        closing=lambda j: Closing(ORIGIN, NO_TURN),
    ),
    "revolute": JointType(
        revolute,
        ("rad",),
        lambda j, q: Pose.unchecked(_about(j.axes[0], q[0]), np.zeros(3)),
        Constant(lambda j: _angular(j.axes[0])),
        axes=("axis",),
        screw=lambda j: (1.0, 0.0),
        closing=lambda j: Closing(ORIGIN, _parallel(j.axes[0])),
    ),
    "prismatic": JointType(
        prismatic,
        ("m",),
        lambda j, q: Pose.unchecked(np.eye(3), q[0] * j.axes[0]),
        Constant(lambda j: _linear(j.axes[0])),
        axes=("axis",),
        screw=lambda j: (0.0, 1.0),
        closing=lambda j: Closing(Closing.across(j.axes[0]), NO_TURN),
    ),
    "helical": JointType(
        helical,
        ("rad",),
        lambda j, q: Pose.unchecked(_about(j.axes[0], q[0]), j.pitch * q[0] * j.axes[0]),
        Constant(lambda j: _angular(j.axes[0]) + j.pitch * _linear(j.axes[0])),
        axes=("axis",),
        parameters={"pitch": "m/rad"},
        screw=lambda j: (1.0, j.pitch),
        closing=lambda j: Closing(Closing.across(j.axes[0]), _parallel(j.axes[0]), ((j.axes[0], j.pitch),)),
    ),
    "cylindrical": JointType(
        cylindrical,
        ("rad", "m"),
        lambda j, q: Pose.unchecked(_about(j.axes[0], q[0]), q[1] * j.axes[0]),
        Constant(lambda j: np.concatenate([_angular(j.axes[0]), _linear(j.axes[0])], axis=1)),
        axes=("axis",),
        parts=_cylindrical_parts,
        closing=lambda j: Closing(Closing.across(j.axes[0]), _parallel(j.axes[0])),
    ),
    "universal": JointType(
        universal,
        ("rad", "rad"),
        _universal_pose,
        _universal_subspace,
        axes=("axis1", "axis2"),
        parts=_universal_parts,
        closing=lambda j: Closing(ORIGIN, ((j.axes[0], j.axes[1]),)),
        subspace_rate=_universal_subspace_rate,
    ),
    "planar": JointType(
        planar,
        ("rad", "m", "m"),
        _planar_pose,
        Constant(lambda j: np.concatenate([_angular(j.axes[0]), _linear(j.axes[1], j.axes[2])], axis=1)),
        axes=("normal",),
        rate=_planar_rate,
        integrate=_planar_integrate,
        difference=_planar_difference,
        strain=_planar_strain,
        unit_axes=_planar_axes,
        closing=lambda j: Closing((j.axes[0],), _parallel(j.axes[0])),
    ),
    "spherical": JointType(
        spherical,
        ("rad", "rad", "rad"),
        lambda j, q: Pose.unchecked(quaternion.to_matrix(q), np.zeros(3)),
        Constant(lambda j: np.eye(6)[:, :3]),
        attitude=True,
        neutral=lambda j: quaternion.identity(),
        rate=lambda j, q, v: quaternion.derivative(q, v),
        integrate=lambda j, q, u: quaternion.integrate(q, u, 1.0),
        difference=lambda j, a, b: _between(a, b),
        normalize=lambda j, q: quaternion.normalize(q),
        closing=lambda j: Closing(ORIGIN),
    ),
    "translation": JointType(
        translation,
        ("m", "m", "m"),
        lambda j, q: Pose.unchecked(np.eye(3), q),
        Constant(lambda j: np.eye(6)[:, 3:]),
        position=True,
        closing=lambda j: Closing(aligned=NO_TURN),
    ),
    "free": JointType(
        free,
        ("rad", "rad", "rad", "m", "m", "m"),
        _free_pose,
        Constant(lambda j: np.eye(6)),
        attitude=True,
        position=True,
        neutral=lambda j: np.concatenate([quaternion.identity(), np.zeros(3)]),
        rate=lambda j, q, v: np.concatenate([quaternion.derivative(q[:4], v[:3]), quaternion.rotate(q[:4], v[3:])]),
        integrate=_free_integrate,
        difference=_free_difference,
        normalize=lambda j, q: np.concatenate([quaternion.normalize(q[:4]), q[4:]]),
        closing=lambda j: Closing(),
    ),
}
