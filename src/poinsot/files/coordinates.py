"""The state (q, v) of a mechanism converted to and from that of the same robot in Pinocchio and in MuJoCo.

Both order the numbers of a free joint differently, MuJoCo with its linear velocity in world axes; Pinocchio has the
cosine and sine of angles without limits, and joints in the order of their names. Batch shapes in front broadcast.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from poinsot._types import Array, ArrayLike
from poinsot.mechanism.joints import Joint
from poinsot.mechanism.kinematics import world_poses
from poinsot.mechanism.model import Mechanism
from poinsot.spatial import Pose, quaternion
from poinsot.spatial.arrays import as_array, join, matvec

Function = Callable[..., Array]


def _same(x: Array, *_: object) -> Array:
    return x


def _order(*indices: int) -> tuple[Function, Function]:
    """Two functions: one picks entries in this order, the other puts them back."""
    back = np.argsort(indices).tolist()
    return lambda x, *_: x[..., list(indices)], lambda x, *_: x[..., back]


@dataclass(frozen=True)
class Kind:
    """How a peer writes a joint: q to it and back, v to it and back.

    The functions for q take q and X_WJ, the pose of the joint's frame in the world; those for v take v, our q, X_WJ.
    """

    nq: int | None = None  # None: as many as we have
    q: tuple[Function, Function] = (_same, _same)
    v: tuple[Function, Function] = (_same, _same)


def _circle(angle: Array) -> Array:
    return join(np.cos(angle), np.sin(angle))


def _angle(circle: Array) -> Array:
    return np.arctan2(circle[..., 1:], circle[..., :1])


PINOCCHIO = {
    "free": Kind(7, _order(4, 5, 6, 1, 2, 3, 0), _order(3, 4, 5, 0, 1, 2)),
    "spherical": Kind(4, _order(1, 2, 3, 0)),
    "planar": Kind(
        4,
        (
            lambda q, X: join(q[..., 1:], _circle(q[..., :1])),
            lambda q, X: join(_angle(q[..., 2:]), q[..., :2]),
        ),
        _order(1, 2, 0),
    ),
    "continuous": Kind(2, (lambda q, X: _circle(q), lambda q, X: _angle(q))),
}


def _free_to_mujoco(q: Array, X_WJ: Pose) -> Array:
    wxyz = quaternion.product(X_WJ.quaternion(), q[..., :4])
    return join(X_WJ @ q[..., 4:], wxyz)


def _free_from_mujoco(q: Array, X_WJ: Pose) -> Array:
    X_JW = X_WJ.inverse()
    return join(quaternion.product(X_JW.quaternion(), q[..., 3:]), X_JW @ q[..., :3])


def _rotation(q: Array, X_WJ: Pose) -> Array:
    """R_WB of a free joint."""
    return X_WJ.R @ quaternion.to_matrix(q[..., :4])


def _planar(q: Array) -> Array:
    """The rotation (2, 2) in the plane."""
    c, s = np.cos(q[..., 0]), np.sin(q[..., 0])
    return np.stack([np.stack([c, -s], axis=-1), np.stack([s, c], axis=-1)], axis=-2)


MUJOCO = {
    "free": Kind(
        7,
        (_free_to_mujoco, _free_from_mujoco),
        (
            lambda v, q, X: join(matvec(_rotation(q, X), v[..., 3:]), v[..., :3]),
            lambda v, q, X: join(v[..., 3:], matvec(np.swapaxes(_rotation(q, X), -1, -2), v[..., :3])),
        ),
    ),
    "planar": Kind(  # two slides, then a hinge
        3,
        _order(1, 2, 0),
        (
            lambda v, q, X: join(matvec(_planar(q), v[..., 1:]), v[..., :1]),
            lambda v, q, X: join(v[..., 2:], matvec(np.swapaxes(_planar(q), -1, -2), v[..., :2])),
        ),
    ),
}


def to_pinocchio(mech: Mechanism, q: ArrayLike, v: ArrayLike) -> tuple[Array, Array]:
    """(q, v) in Pinocchio's form for the same URDF, shapes (..., nq) and (..., nv); accelerations and forces as v."""
    return _to(mech, q, v, PINOCCHIO, _by_joint_name(mech))


def from_pinocchio(mech: Mechanism, q: ArrayLike, v: ArrayLike) -> tuple[Array, Array]:
    """(q, v) from those of Pinocchio for the same URDF. Angles without limits are between -pi and pi."""
    return _from(mech, q, v, PINOCCHIO, _by_joint_name(mech))


def to_mujoco(mech: Mechanism, q: ArrayLike, v: ArrayLike) -> tuple[Array, Array]:
    """(qpos, qvel) in MuJoCo's form for the same MJCF or URDF; forces convert as v.

    Accelerations of free and planar joints do not: MuJoCo's are derivatives of the velocity in world axes.
    """
    return _to(mech, q, v, MUJOCO, list(range(len(mech))))


def from_mujoco(mech: Mechanism, q: ArrayLike, v: ArrayLike) -> tuple[Array, Array]:
    """(q, v) from MuJoCo's (qpos, qvel) for the same MJCF or URDF."""
    return _from(mech, q, v, MUJOCO, list(range(len(mech))))


def _to(mech: Mechanism, q: ArrayLike, v: ArrayLike, kinds: dict[str, Kind], order: list[int]) -> tuple[Array, Array]:
    q, v = _checked(q, mech.nq, "q"), _checked(v, mech.nv, "v")
    qs, vs = [q[..., :0]], [v[..., :0]]
    for i, kind, X in _joints(mech, kinds, order):
        own = q[..., mech.q_slices[i]]
        qs.append(kind.q[0](own, X))
        vs.append(kind.v[0](v[..., mech.v_slices[i]], own, X))
    return np.concatenate(qs, axis=-1), np.concatenate(vs, axis=-1)


def _from(mech: Mechanism, q: ArrayLike, v: ArrayLike, kinds: dict[str, Kind], order: list[int]) -> tuple[Array, Array]:
    lengths = {i: mech.links[i].joint.nq if kind.nq is None else kind.nq for i, kind, _ in _joints(mech, kinds, order)}
    q, v = _checked(q, sum(lengths.values()), "q"), _checked(v, mech.nv, "v")
    qs, vs = [q[..., :0]] * len(mech), [v[..., :0]] * len(mech)
    at_q = at_v = 0
    for i, kind, X in _joints(mech, kinds, order):
        nq, nv = lengths[i], mech.links[i].joint.nv
        qs[i] = kind.q[1](q[..., at_q : at_q + nq], X)
        vs[i] = kind.v[1](v[..., at_v : at_v + nv], qs[i], X)
        at_q, at_v = at_q + nq, at_v + nv
    return np.concatenate(qs, axis=-1), np.concatenate(vs, axis=-1)


def _joints(mech: Mechanism, kinds: dict[str, Kind], order: list[int]) -> Iterator[tuple[int, Kind, Pose]]:
    """In the peer's order: the index of each link, how the peer writes its joint, and the neutral X_WJ."""
    rest = world_poses(mech, mech.neutral())
    for i in order:
        yield i, kinds.get(_coordinates_of(mech.links[i].joint), Kind()), rest[i]


def _coordinates_of(joint: Joint) -> str:
    """The kind of its coordinates; a hinge without limits is continuous, as URDF says."""
    if joint.type.is_group:
        return "free" if joint.type.is_free else "spherical" if joint.type.is_rotation else "planar"
    turns = joint.type.screw is not None and tuple(joint.type.screw(joint)) == (1.0, 0.0) and not joint.parameters
    endless = turns and np.all(np.isinf(joint.lower)) and np.all(np.isinf(joint.upper))
    return "continuous" if endless else "plain"


def _by_joint_name(mech: Mechanism) -> list[int]:
    """The links depth first, children in the order of their joints' names: as Pinocchio sorts a URDF."""
    children: dict[int, list[int]] = {}
    for i in sorted(range(len(mech)), key=lambda i: mech.links[i].joint.name, reverse=True):
        children.setdefault(mech.parents[i], []).append(i)
    order, waiting = [], children.get(-1, []).copy()
    while waiting:
        order.append(waiting.pop())
        waiting += children.get(order[-1], [])
    return order


def _checked(x: ArrayLike, length: int, name: str) -> Array:
    array = as_array(x)
    if array.shape[-1:] != (length,):
        raise ValueError(f"{name} has the shape {array.shape}; it needs {length} numbers, after any batch shape.")
    return array
