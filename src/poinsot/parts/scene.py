"""One instant of a world, as its elements see it: the state of every body, inputs and part states."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from poinsot._errors import UnknownNameError
from poinsot._hints import hint
from poinsot._types import Array, ArrayLike
from poinsot.fuse import is_traced
from poinsot.mechanism import kinematics
from poinsot.mechanism.model import Mechanism
from poinsot.spatial import Inertia, Pose, motion
from poinsot.spatial.arrays import as_array

if TYPE_CHECKING:
    from poinsot.parts.element import Element

WORLD = "world"  # the name of the frame that does not move
MOUNT = ".mount"  # the end of the names of links that are not bodies: the mounts of joints that may separate


@dataclass(frozen=True, eq=False)
class BodyState:
    """A body at one instant: its pose X_WB in the world, its twist V_WB_B in its own axes, and its inertia."""

    pose: Pose
    twist: Array
    inertia: Inertia | None = None

    @property
    def position(self) -> Array:
        """The position of the body frame's origin (3,) [m] in the world."""
        return self.pose.p

    @property
    def orientation(self) -> Array:
        """The unit quaternion q_WB (4,), wxyz."""
        return self.pose.quaternion()

    @property
    def velocity(self) -> Array:
        """The velocity of the body frame's origin (3,) [m/s], in world axes."""
        return self.pose.R @ self.twist[3:]

    @property
    def angular_velocity(self) -> Array:
        """The angular velocity (3,) [rad/s], in body axes."""
        return self.twist[:3]

    def point(self, p_B: ArrayLike) -> Array:
        """The position in the world of the point p_B (3,) [m] of the body."""
        return self.pose @ as_array(p_B)

    def velocity_of(self, p_B: ArrayLike) -> Array:
        """The velocity of the point p_B of the body (3,) [m/s], in world axes."""
        return self.pose.R @ (self.twist[3:] + np.cross(self.twist[:3], as_array(p_B)))

    def wrench(self, force: ArrayLike, p_B: ArrayLike = (0.0, 0.0, 0.0)) -> Array:
        """F_B (6,) of a force [N] in world axes, at the point p_B of the body."""
        f = self.pose.R.T @ as_array(force)
        return np.concatenate([np.cross(as_array(p_B), f), f])

    @property
    def momentum(self) -> Array:
        """P (3,) [kg m/s], in world axes."""
        return self._momentum()[3:]

    @property
    def angular_momentum(self) -> Array:
        """L (3,) [kg m^2/s] about the world's origin, in world axes."""
        return self._momentum()[:3]

    @property
    def kinetic_energy(self) -> Array:
        """T [J]."""
        return np.zeros(()) if self.inertia is None else self.inertia.kinetic_energy(self.twist)

    def _momentum(self) -> Array:
        if self.inertia is None:
            return np.zeros(6)
        return motion.momentum_in_frame(self.pose, self.inertia.momentum(self.twist))


REST = BodyState(Pose(), np.zeros(6))


@dataclass(frozen=True, eq=False)
class Scene:
    """One instant: `scene["wing"].velocity`, `scene.inputs["throttle"]`, `scene.joint("hinge")`.

    t [s]; the joints' coordinates q (nq,) and velocities v (nv,); inputs and the states of parts by name; elements.
    """

    mechanism: Mechanism
    t: Array
    q: Array
    v: Array
    inputs: Mapping[str, Array] = field(default_factory=dict)
    states: Mapping[str, Array] = field(default_factory=dict)
    elements: "Mapping[str, Element]" = field(default_factory=dict)

    @cached_property
    def poses(self) -> list[Pose]:
        """X_WB of every link, in order."""
        return kinematics.world_poses(self.mechanism, self.q)

    @cached_property
    def twists(self) -> list[Array]:
        """V_WB_B (6,) of every link, in order."""
        return kinematics.twists(self.mechanism, self.q, self.v)

    @cached_property
    def bodies(self) -> list[str]:
        """The names of all bodies, in order."""
        return [link.name for link in self.mechanism.links if not link.name.endswith(MOUNT)]

    def __getitem__(self, name: str) -> BodyState:
        """The body with this name; "world" is the frame at rest."""
        if name == WORLD:
            return REST
        k = self.mechanism.index(name)
        return BodyState(self.poses[k], self.twists[k], self.mechanism.links[k].inertia)

    def inertia(self, name: str) -> Inertia | None:
        """The mass properties of a body, in its own frame; None for a frame without mass."""
        return self.mechanism.link(name).inertia

    def joint(self, name: str) -> tuple[Array, Array]:
        """Coordinates and velocities of the joint that carries the body with this name."""
        k = self.mechanism.index(name)
        return self.q[self.mechanism.q_slices[k]], self.v[self.mechanism.v_slices[k]]

    def air(self, body: str, point: ArrayLike = (0.0, 0.0, 0.0)) -> Any:
        """The `AirData` of a point (3,) [m] of a body, whose axes are x forward, y right, z down; computed once."""
        model: Any = self.elements.get("air")
        if not hasattr(model, "met_by"):
            raise UnknownNameError("the world has no air; make it with pt.World(air=pt.US76()).", "air")
        key = (str(body), id(point) if is_traced(point) else tuple(np.ravel(point).tolist()))
        if key not in self._met:
            self._met[key] = point, model.met_by(self, str(body), as_array(point))
        return self._met[key][1]

    @cached_property
    def _met(self) -> dict[Any, Any]:
        """The points that have met the air, kept with what they met."""
        return {}

    def element(self, name: str, body: str = "") -> "Element":
        """The element with this name, or with the name of a body in front of it."""
        for full in (name, f"{body}.{name}"):
            if full in self.elements:
                return self.elements[full]
        raise UnknownNameError(f"there is no element {name!r}{hint(name, self.elements)}.", name)

    def input(self, name: str) -> Array:
        """The value of the input with this name."""
        if name not in self.inputs:
            raise UnknownNameError(f"there is no input {name!r}{hint(name, self.inputs)}.", name)
        return self.inputs[name]
