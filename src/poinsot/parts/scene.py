"""One instant of a world, as its elements see it: the state of every body, inputs and part states."""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from poinsot._errors import UnknownNameError
from poinsot._hints import hint
from poinsot._types import Array, ArrayLike
from poinsot.fuse import is_traced
from poinsot.mechanism import kinematics
from poinsot.mechanism.form import canonical
from poinsot.mechanism.form.tree import Tree, placed
from poinsot.mechanism.model import Mechanism
from poinsot.parts.load_factor import load_factor, specific_force
from poinsot.parts.whereabouts import WHEREABOUTS, attitude, place
from poinsot.spatial import Inertia, Pose, motion
from poinsot.spatial.arrays import as_array
from poinsot.spatial.inertia import Solid

if TYPE_CHECKING:
    from poinsot.parts.element import Dynamics, Effect, Element

WORLD = "world"  # the name of the frame that does not move
OF_BODIES = (
    "position", "orientation", "velocity", "angular_velocity", "momentum", "angular_momentum", "kinetic_energy",
    "q", "v",
)  # fmt: skip
OF_ACCELERATIONS = {"specific_force": specific_force, "load_factor": load_factor}
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


class Footing(NamedTuple):
    """The ground under a point: the point's clearance [m] above it, the ground's normal (3,), upwards, the velocity
    (3,) [m/s] of the point if it stood on it, and the angular velocity (3,) [rad/s] of the ground, in world axes."""

    clearance: Array
    normal: Array
    velocity: Array
    turning: Array


@dataclass(frozen=True, eq=False)
class Scene:
    """One instant: `scene["wing"].velocity`, `scene.inputs["throttle"]`, `scene.joint("hinge")`.

    t [s]; the joints' coordinates q (nq,) and velocities v (nv,); inputs and the states of parts by name; elements.
    solve: the function that finds all forces and accelerations of a scene. shapes: the inertias of bodies alone, as
    described, with the shapes that they are made of.
    """

    mechanism: Mechanism
    t: Array
    q: Array
    v: Array
    inputs: Mapping[str, Array] = field(default_factory=dict)
    states: Mapping[str, Array] = field(default_factory=dict)
    elements: "Mapping[str, Element]" = field(default_factory=dict)
    solve: "Callable[[Scene], Dynamics] | None" = None
    shapes: Mapping[str, Inertia | None] = field(default_factory=dict)

    @cached_property
    def poses(self) -> list[Pose]:
        """X_WB of every link, in order."""
        return kinematics.world_poses(self.mechanism, self.q)

    @cached_property
    def twists(self) -> list[Array]:
        """V_WB_B (6,) of every link, in order."""
        return kinematics.twists(self.mechanism, self.q, self.v)

    def carrier(self, name: str) -> tuple[BodyState, Pose]:
        """The frame in which the motion of a body is solved for, as a state of its own, and X_CB of the body in it."""
        k, X_CB = self._tree.carriers[self.mechanism.index(name)]
        return (REST if k < 0 else self._carriers[k]), X_CB

    @cached_property
    def _carriers(self) -> list[BodyState]:
        return [BodyState(X, V) for X, V in placed(self._tree, self.q, self.v)]

    @cached_property
    def _tree(self) -> Tree:
        return canonical.tree_of(self.mechanism)

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

    def solids(self, name: str) -> tuple[Solid, ...]:
        """The shapes of a body, as its inertia is described."""
        inertia = self.shapes.get(name)
        return () if inertia is None else inertia.solids

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

    @property
    def earth(self) -> Any:
        """The Earth that the world is around, or None."""
        return getattr(self.elements.get("gravity"), "earth", None)

    def ground(self, p: Array) -> Footing:
        """The ground under a point p (3,) [m] of the world: its `Terrain`; without one the Earth's figure, or z = 0."""
        model: Any = self.elements.get("ground")
        if hasattr(model, "under"):
            footing: Footing = model.under(self, p)
            return footing
        if (earth := self.earth) is None:
            return Footing(p[2], np.array([0.0, 0.0, 1.0]), np.zeros(3), np.zeros(3))
        turning = np.array([0.0, 0.0, earth.rate])
        return Footing(earth.height(p), -earth.ned(p)[:, 2], earth.ground_velocity(p), turning)

    def specific_force(self, body: str, point: ArrayLike = (0.0, 0.0, 0.0)) -> Array:
        """The acceleration of a point (3,) [m] of a body less gravity (3,) [m/s^2], in body axes: not for forces."""
        return specific_force(self.dynamics, str(body), point)

    def load_factor(self, body: str, point: ArrayLike = (0.0, 0.0, 0.0)) -> Array:
        """-f_z/g_0 of the specific force f at a point of a body with aircraft axes: 1 in level flight."""
        return load_factor(self.dynamics, str(body), point)

    def attitude(self, body: str) -> Array:
        """Roll, pitch and heading (3,) [rad] against north-east-down of a body with aircraft axes."""
        return attitude(self, str(body))

    def place(self, body: str) -> Array:
        """Latitude, longitude [rad] and altitude [m] (3,) of a body's origin, in a world around the Earth."""
        return place(self, str(body))

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

    # Signals: what elements show to each other. Each is evaluated when it is first asked for, which sorts them.

    def signal(self, name: str) -> Array:
        """The value of a signal: a state or an output of an element, as in "autopilot.elevator", a quantity of a body,
        as in "wing.velocity" or "wing.q", or an input; "wing.position[2]" is one entry of an array."""
        whole, entries = re.fullmatch(r"(.*?)((?:\[\d+\])*)", str(name)).groups()  # type: ignore[union-attr]
        value = self._signal(whole)
        for k in map(int, re.findall(r"\d+", entries)):
            if not np.ndim(value) or k >= np.shape(value)[0]:
                raise UnknownNameError(f"there is no signal {name!r}: {whole!r} has shape {np.shape(value)}.", name)
            value = value[k]
        return value

    def _signal(self, name: str) -> Array:
        owner, _, key = name.rpartition(".")
        self.asked[name] = None
        if name in self.states:
            return self.states[name]
        if owner in self.elements:
            start = f"{owner}."
            own = {k.removeprefix(start): x for k, x in self.states.items() if k.startswith(start)}
            if own and key in (ready := self.elements[owner].ready(own)):
                return as_array(ready[key])
            follows = self.elements[owner].follows
            shown = (self.dynamics.effects[owner] if follows else self.effect(owner, name)).shown
            if key in shown:
                value = shown[key]
                return as_array(value(self.dynamics) if callable(value) else value)
        elif owner in self.bodies and key in OF_BODIES:
            return self.joint(owner)["qv".index(key)] if key in ("q", "v") else as_array(getattr(self[owner], key))
        elif owner in self.bodies and key in OF_ACCELERATIONS:
            return OF_ACCELERATIONS[key](self.dynamics, owner)
        elif owner in self.bodies and key in WHEREABOUTS:
            return WHEREABOUTS[key](self, owner)
        elif owner in self.bodies and key in getattr(self.elements.get("air"), "quantities", ()):
            return as_array(getattr(self.air(owner), key))
        elif name in self.inputs:
            return self.inputs[name]
        raise UnknownNameError(f"there is no signal {name!r}{hint(name, self.signals(owner, key))}.", name)

    def effect(self, name: str, signal: str = "") -> "Effect":
        """The effect of an element, evaluated once; signal: the output that it is asked for."""
        if name in self._evaluating:
            chain = [*list(self._evaluating.values())[list(self._evaluating).index(name) + 1 :], signal]
            raise ValueError(
                f"{' -> '.join([signal, *chain[-2::-1], signal])} has no state in it: give one of them a sample time "
                "or a state."
            )
        if name not in self._effects:
            self._evaluating[name] = signal
            try:
                self._effects[name] = self.elements[name].effect(self)
            finally:
                del self._evaluating[name]
        return self._effects[name]

    @property
    def dynamics(self) -> "Dynamics":
        """All forces and accelerations at this instant; an error while the forces are being gathered."""
        if self._evaluating or self.solve is None:
            owner, signal = list(self._evaluating.items())[-1] if self._evaluating else ("", "")
            raise ValueError(
                f"{signal or owner!r} follows from accelerations, and these from all forces: a force cannot depend on "
                "it at the same instant. Sample it, by a sensor or controller with a sample time."
            )
        return self._solved

    @cached_property
    def _solved(self) -> "Dynamics":
        assert self.solve is not None
        return self.solve(self)

    @cached_property
    def _effects(self) -> "dict[str, Effect]":
        return {}

    @cached_property
    def _evaluating(self) -> dict[str, str]:
        """The elements that are being evaluated, and the signal that each is asked for."""
        return {}

    @cached_property
    def asked(self) -> dict[str, Any]:
        """The names of the signals that were asked for, in order."""
        return {}

    def signals(self, owner: str, key: str) -> list[str]:
        """The names of signals that may be meant by this owner and key."""
        known = [*self.states, *self.inputs, *(f"{body}.{k}" for body in self.bodies for k in OF_BODIES)]
        of_flight = (*OF_ACCELERATIONS, *WHEREABOUTS, *getattr(self.elements.get("air"), "quantities", ()))
        known += [f"{body}.{k}" for body in self.bodies for k in of_flight]
        known += [f"{name}.{k}" for name, effect in self._effects.items() for k in effect.shown]
        return known + [f"{name}.{key}" for name in self.elements if name != owner]
