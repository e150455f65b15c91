"""A world at one instant: its state, its motion with all forces, and what a release makes of it."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from poinsot._types import Array
from poinsot.mechanism import kinematics
from poinsot.mechanism.dynamics import reactions
from poinsot.parts import BodyState, Effect, Scene


@dataclass(frozen=True, eq=False)
class State:
    """The state of a world: coordinates q (nq,) and velocities v (nv,) of the joints, states of the parts (ns,).

    Joints come in the order of `world.mechanism.links`, each with its slice of `q_slices` and `v_slices`: of a free
    body q is its quaternion wxyz and position [m] in the world, v its angular velocity [rad/s] and velocity [m/s] in
    its own axes; of a hinge an angle [rad] and its rate. `parts` are contents, speeds of wheels and the like, in the
    order of the parts. The rate of change of a state has the same form: then q holds qdot, and v the accelerations.
    """

    q: Array
    v: Array
    parts: Array


@dataclass(frozen=True, eq=False)
class Motion:
    """One instant with its forces: effects of the elements by name, wrenches on bodies, joint forces, accelerations.

    wdot (nv,): vdot, but for free roots it ends with the acceleration of the centre of mass, in axes at rest.
    in_joints: the effect of springs and dampers in joints, over an implicit step.
    """

    scene: Scene
    effects: Mapping[str, Effect]
    wrenches: Mapping[str, Array]
    tau: Array
    vdot: Array
    wdot: Array
    in_joints: Effect | None = None

    def __getitem__(self, name: str) -> BodyState:
        """The body with this name: its pose, twist, momentum and energy."""
        return self.scene[name]

    def reaction(self, name: str) -> Array:
        """F_B (6,) on the body with this name through its joint."""
        return self.reactions()[self.scene.mechanism.index(name)]

    def reactions(self) -> list[Array]:
        """F_B (6,) on each body through its joint, about its origin in its own axes; with the true inertias."""
        return self._reactions

    def acceleration(self, name: str) -> Array:
        """dV_WB_B/dt (6,) of the body with this name: the rate of the components of its twist in its own axes."""
        return self._accelerations[self.scene.mechanism.index(name)]

    @cached_property
    def _reactions(self) -> list[Array]:
        scene = self.scene
        return reactions(scene.mechanism, scene.q, scene.v, self.vdot, self.wrenches)

    @cached_property
    def _accelerations(self) -> list[Array]:
        return kinematics.accelerations(self.scene.mechanism, self.scene.q, self.scene.v, self.vdot)


@dataclass(frozen=True, eq=False)
class Switch:
    """A release: when [s], far in the future if there is none, and the values that it sets some states of parts to."""

    time: Array
    sets: Array
    values: Array

    def applied(self, state: State) -> State:
        """The state at that time, with the states of parts that it sets."""
        return State(state.q, state.v, np.where(self.sets, self.values, state.parts))
