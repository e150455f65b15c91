"""Elements whose forces are taken at the end of a step: stiff springs, dampers, stops and contacts.

The implicit step finds the velocities at its end by iterations. In each, such an element states its forces as linear
functions of these velocities about the last guess; in the end it books what the forces did. What does not depend on the
velocities, as where shapes touch, is found once, before the iterations.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from poinsot._types import Array, Scalar
from poinsot.mechanism.stiff_joined import ListedForces
from poinsot.mechanism.stiff_rows import RowList

if TYPE_CHECKING:
    from poinsot.parts.element import Effect
    from poinsot.parts.scene import Scene


@dataclass(frozen=True, eq=False)
class Resisting:
    """An element over one step from a scene.

    at: its forces, linearised about a guess of the velocities at the end. taken: its effect over the step, given these
    velocities and its forces; or, if it stands for several elements, their effects by name. kept: how many numbers
    `Resistance.kept` has.
    """

    at: "Callable[[Later], Resistance]"
    taken: "Callable[[Later, Used], Effect | dict[str, Effect]]"
    kept: int = 0


@dataclass(frozen=True, eq=False)
class Resistance:
    """Forces at the end of a step, as linear functions of the velocities there: F(V) = F_0 - K (V - V_0).

    V_0: the velocities at the start. wrenches: F_0 (6,) and slopes: K (6, 6), symmetric, not negative, by body, in the
    frame of its carrier as at the start (`Scene.carrier`): there the tree is solved. joint_forces, joint_slopes (nv,):
    the same in joints, by the name of the body that the joint carries. couplings: by two bodies a, b, the K (6, 6) by
    which the velocity of b resists a; its transpose is how that of a resists b. kept (k,): what the element sees again
    when the velocities are known. listed: forces in places that are only known at run time. joint_couplings: by two
    bodies whose joints have one degree of freedom, the number by which the velocity of either resists the other.
    """

    wrenches: Mapping[str, Array] = field(default_factory=dict)
    slopes: Mapping[str, Array] = field(default_factory=dict)
    joint_forces: Mapping[str, Array] = field(default_factory=dict)
    joint_slopes: Mapping[str, Array] = field(default_factory=dict)
    couplings: Mapping[tuple[str, str], Array] = field(default_factory=dict)
    kept: Array = field(default_factory=lambda: np.zeros(0))
    listed: RowList | ListedForces | None = None
    joint_couplings: Mapping[tuple[str, str], Array] = field(default_factory=dict)

    def used(self, later: "Later") -> "Used":
        """The forces at these velocities."""
        wrenches = {b: F - self.slopes[b] @ later.carried(b) for b, F in self.wrenches.items()}
        for (a, b), K in self.couplings.items():
            wrenches[a] = wrenches[a] - K @ later.carried(b)
            wrenches[b] = wrenches[b] - K.T @ later.carried(a)
        wrenches = {b: later.scene.carrier(b)[1].adjoint().T @ F for b, F in wrenches.items()}
        forces = {j: f - self.joint_slopes[j] * later.joint_change(j) for j, f in self.joint_forces.items()}
        for (a, b), k in self.joint_couplings.items():
            forces[a] = forces[a] - k * later.joint_change(b)
            forces[b] = forces[b] - k * later.joint_change(a)
        return Used(wrenches, forces, self.kept, later, self.listed)


@dataclass(frozen=True, eq=False)
class Used:
    """The forces that a step was made with, in the axes of the bodies, and what was `kept` of the last `guess`, about
    which they were linearised; `listed` as a function of the velocities."""

    wrenches: Mapping[str, Array]
    joint_forces: Mapping[str, Array]
    kept: Array
    guess: "Later"
    listed: RowList | ListedForces | None = None

    def power(self, later: "Later") -> Array:
        """Their power [W] at the end of the step. What they do beside that is the step's own, in `run.step_errors`."""
        total: Array = np.zeros(())
        for body, F in self.wrenches.items():
            total = total + F @ later.twist(body)
        for joint, f in self.joint_forces.items():
            total = total + f @ later.velocity(joint)
        return total


@dataclass(frozen=True, eq=False)
class Later:
    """The end of a step h [s] from a scene: accelerations A (6,) of bodies by name, in the frames of their carriers as
    at the start, and of joints, a (nv,)."""

    scene: "Scene"
    h: Scalar
    A: Mapping[str, Any]
    a: Array

    def carried(self, body: str) -> Array:
        """The change of a body's twist (6,) over the step, in the frame of its carrier."""
        return self.h * self.A[body]

    def change(self, body: str) -> Array:
        """The change of a body's twist (6,) over the step, in its own axes as at the start."""
        return self.scene.carrier(body)[1].inverse().adjoint() @ self.carried(body)

    def twist(self, body: str) -> Array:
        """V_WB_B (6,) at the end, about the origin and in the axes as at the start."""
        return self.scene[body].twist + self.change(body)

    def joint_change(self, joint: str) -> Array:
        """The change of a joint's velocity (nv,) over the step."""
        mech = self.scene.mechanism
        return self.h * self.a[mech.v_slices[mech.index(joint)]]

    def velocity(self, joint: str) -> Array:
        """The velocity of a joint (nv,) at the end."""
        return self.scene.joint(joint)[1] + self.joint_change(joint)
