"""A joint type: everything that is known of a kind of joint, in one entry of `joints.TYPES`."""

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from poinsot._errors import FieldError
from poinsot._types import Array
from poinsot.fuse import jvp
from poinsot.fuse.graph.nodes import Graph, tracing, tracing_into
from poinsot.spatial.arrays import as_array
from poinsot.spatial.rotation import perpendicular

Function = Callable[..., Any]


@dataclass(frozen=True)
class Constant:
    """A motion subspace that does not depend on q: S (6, nv) from the joint alone."""

    of: Callable[[Any], Array]

    def __call__(self, joint: Any, q: Array) -> Array:
        return self.of(joint)


def _dq_is_v(joint: Any, q: Array, v: Array) -> Array:
    return v


def _sum(joint: Any, q: Array, u: Array) -> Array:
    return q + u


def _strain(joint: Any, q: Array, rest: Array) -> Array:
    """From q to where the constant velocity `rest` leads from neutral in one unit of time."""
    t = joint.type
    return t.difference(joint, q, t.integrate(joint, t.neutral(joint), rest))


def _subspace_rate(joint: Any, q: Array, v: Array) -> Array:
    """S' (6, nv) = dS/dq v, derived by the compiler."""
    t = joint.type
    return np.zeros((6, t.nv)) if t.is_constant else directional(lambda q: t.subspace(joint, q), q, v)


def _unit_rows(axes: Array) -> Array:
    return np.stack([row / np.sqrt(row @ row) for row in as_array(axes)])


@dataclass(frozen=True)
class Closing:
    """The condition that a joint puts on frame B of its child, seen from frame A of its parent, if it closes a loop.

    straight: directions d in A along which B's origin does not leave A's. aligned: pairs of a direction in A and one in
    B whose angle stays. screwed: pairs of an axis in A and a pitch [m/rad].
    """

    straight: tuple[Array, ...] = ()
    aligned: tuple[tuple[Array, Array], ...] = ()
    screwed: tuple[tuple[Array, Any], ...] = ()

    @staticmethod
    def across(n: Array) -> tuple[Array, Array]:
        """Two directions at right angles to n and to each other."""
        e1 = perpendicular(n)
        return e1, np.cross(n, e1)

    @property
    def count(self) -> int:
        return len(self.straight) + len(self.aligned) + len(self.screwed)


def _closes_nothing(joint: Any) -> Closing:
    raise FieldError(f"a {joint.kind} joint cannot close a loop: its type says nothing of what it closes by.", "joint")


@dataclass(frozen=True, eq=False)
class JointType:
    """A kind of joint. All functions take the joint first, and can be traced.

    Needed: `make`, the function that makes such a joint from its axes and parameters, by their names, and the data of
    `Joint`; the `units` of its degrees of freedom, each "rad" or "m"; the pose X_JC; and the motion subspace S (6, nv)
    with V = S v in the axes of C, as `Constant(function of the joint)` if it does not depend on q.

    Facts: the names of its `axes` and its `parameters` with their units, as `make` takes them. `attitude`: q begins
    with the quaternion wxyz of C in J, v with the angular velocity in C. `position`: q ends with the position of C's
    origin in J, v with its velocity in C. `screw`: joint -> (a, b) of a simple joint, which turns by a q [rad] about
    its axis and moves by b q [m] along it, a and b constant. `parts`: joint -> the simple joints in a row that it is
    the same as, one per degree of freedom.

    A joint whose dq/dt is not v moves on a group: it gives `rate`, `integrate` and `difference`; X_JC(integrate(q, u))
    is then X_JC(q) exp(S u), with a constant S whose columns are orthonormal.
    """

    make: Function
    units: tuple[str, ...]
    pose: Function  # (joint, q) -> X_JC
    subspace: Function  # (joint, q) -> S (6, nv)
    axes: tuple[str, ...] = ()
    parameters: Mapping[str, str] = field(default_factory=dict)
    attitude: bool = False
    position: bool = False
    screw: Function | None = None
    parts: Function | None = None
    subspace_rate: Function = _subspace_rate  # (joint, q, v) -> S' (6, nv); cheaper if given than derived
    neutral: Function = lambda joint: np.zeros(joint.nq)  # the q at which X_JC is the identity
    rate: Function = _dq_is_v  # (joint, q, v) -> dq/dt (nq,)
    integrate: Function = _sum  # (joint, q, u) -> q after one unit of time at the constant velocity u
    difference: Function = lambda joint, a, b: b - a  # the u with integrate(a, u) = b
    normalize: Function = lambda joint, q: q  # q, its quaternion made one of length 1 again
    strain: Function = _strain  # (joint, q, rest) -> of a spring (nv,); its force is stiffness * strain
    closing: Function = _closes_nothing  # joint -> `Closing`
    unit_axes: Function = _unit_rows  # (k, 3) -> axes that such a joint can have: of unit length

    def __post_init__(self) -> None:
        name = self.make.__name__
        if self.is_group and (self.integrate is _sum or not self.is_constant):
            raise TypeError(f"{name}: a joint with a rate of its own needs integrate and a constant S.")
        if self.is_constant and self.subspace_rate is not _subspace_rate:
            raise TypeError(f"{name}: a constant S has no rate; leave out subspace_rate, or Constant.")
        if not set(self.units) <= {"rad", "m"}:
            raise ValueError(f"{name}: the unit of each degree of freedom is 'rad' or 'm', not {self.units}.")
        unknown = {*self.axes, *self.parameters} - set(inspect.signature(self.make).parameters)
        if unknown:
            raise TypeError(f"{name} does not take {', '.join(sorted(unknown))}, which its entry names.")

    @property
    def nv(self) -> int:
        return len(self.units)

    @property
    def nq(self) -> int:
        return len(self.q_units)

    @property
    def q_units(self) -> tuple[str, ...]:
        """The units of q; "1" for the four numbers of a quaternion."""
        return ("1",) * 4 + self.units[3:] if self.attitude else self.units

    @property
    def is_constant(self) -> bool:
        """S does not depend on q."""
        return isinstance(self.subspace, Constant)

    @property
    def is_group(self) -> bool:
        """dq/dt is not v: the coordinates are those of a group."""
        return self.rate is not _dq_is_v

    @property
    def is_free(self) -> bool:
        """All six degrees of freedom, with v the twist of C in J."""
        return self.attitude and self.position

    @property
    def is_rotation(self) -> bool:
        """All rotations, and nothing else."""
        return self.attitude and not self.position

    def bias(self, joint: Any, q: Array, v: Array) -> Array:
        """S' v (6,), zero if S is constant."""
        return np.zeros(6) if self.is_constant else self.subspace_rate(joint, q, v) @ v

    def stores_energy(self, joint: Any) -> bool:
        """Whether the force stiffness * strain is the gradient of an energy stiffness * strain^2 / 2.

        It is for plain coordinates; for a rotation vector, if the stiffness is the same about all axes.
        """
        return not self.is_group or (self.is_rotation and np.ndim(joint.stiffness) == 0)


def directional(function: Callable[[Array], Array], q: Array, u: Array) -> Array:
    """df/dq u by the compiler, exact; of plain numbers it is plain numbers."""
    if tracing():
        return jvp(function)(q, u)[1]
    with tracing_into(Graph()):
        return np.array(jvp(function)(q, u)[1].__array__(), dtype=float)
