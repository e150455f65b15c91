"""Stiff forces on trees over an implicit step: stated by elements and joints, solved for, and booked.

Such forces are linear functions of the velocities at the end of the step (`parts.resisting`), about a guess; so they
are stated anew in each iteration. All other forces are those at the start of the step.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from poinsot._types import Array, Scalar
from poinsot.environment.spot_loop import looped, resisting_together
from poinsot.fuse import is_traced
from poinsot.mechanism import floating
from poinsot.mechanism.dynamics import strain
from poinsot.mechanism.floating import Points
from poinsot.mechanism.stiff import Added, StiffForces, StiffTree
from poinsot.mechanism.stiff_rows import RowList
from poinsot.parts import Effect, Scene
from poinsot.parts.resisting import Later, Resistance, Resisting, Used
from poinsot.run.general_steps import RestingForm
from poinsot.run.step_context import LedgerState, StepContext
from poinsot.world import Motion, State, System
from poinsot.world.closing_loops import gathered

JOINTS = "joints"  # the springs and dampers in all joints, as one source of the ledger
SPOTS = "spots"  # where bodies touch the ground in many points, as one law


@dataclass(frozen=True, eq=False)
class StiffStep:
    """A tree over a step h [s]: the effects and wrenches of forces at its start, tau (nv,); `laws`: what resists, by
    name; touched: the numbers of the links whose accelerations these ask for."""

    scene: Scene
    h: Scalar
    effects: dict[str, Effect]
    wrenches: dict[str, Array]
    tau: Array
    tree: StiffTree
    laws: Mapping[str, Resisting]
    touched: list[int]

    @classmethod
    def of(cls, system: System, scene: Scene, h: Scalar, touched: tuple[str, ...] = ()) -> "StiffStep":
        """From a scene; touched: the names of further bodies whose accelerations are asked for."""
        mech = scene.mechanism
        resisting = {name: e for name, e in scene.elements.items() if e.resists}
        effects = {name: scene.effect(name) for name in scene.elements if name not in (*resisting, *system.loops)}
        wrenches: dict[str, Array] = {}
        tau = np.zeros(mech.nv)
        for effect in effects.values():
            tau = gathered(mech, effect, wrenches, tau)
        tree = StiffTree(mech, scene.q, scene.v, tau, wrenches or None)
        bodies = {*touched, *(body for e in resisting.values() for body in e.bodies())}
        laws: dict[str, Resisting] = {}
        together = looped(scene.elements.values())
        if together:
            laws[SPOTS] = resisting_together(together, scene, h)
        laws |= {name: e.resisting(scene, h) for name, e in resisting.items() if e not in together}
        if _joints_resist(scene):
            laws[JOINTS] = joint_resistance(scene, h)
        return cls(scene, h, effects, wrenches, tau, tree, laws, sorted(map(mech.index, bodies)))

    @property
    def start(self) -> tuple[Array, Array]:
        """The first guess of the accelerations A (k, 6) of the bodies that are touched, and of joints, a (nv,)."""
        return np.zeros((len(self.touched), 6)), np.zeros(self.scene.mechanism.nv)

    @property
    def blank(self) -> dict[str, Array]:
        """The numbers that the laws keep, before there are any."""
        return {name: np.zeros(law.kept) for name, law in self.laws.items()}

    def touching(self, A: Mapping[int, Array] | Added) -> Array:
        """The accelerations (k, 6) of the bodies that are touched, given those of all."""
        return np.stack([A[k] for k in self.touched]) if self.touched else np.zeros((0, 6))

    def later(self, guess: tuple[Array, Array]) -> Later:
        """The end of the step, by a guess as `start`."""
        links = self.scene.mechanism.links
        A = {links[k].name: guess[0][j] for j, k in enumerate(self.touched)}
        return Later(self.scene, self.h, A, guess[1])

    def stated(self, guess: tuple[Array, Array]) -> dict[str, Resistance]:
        """The forces of all laws, linearised about a guess."""
        return {name: law.at(self.later(guess)) for name, law in self.laws.items()}

    def used(self, now: tuple[Array, Array], before: tuple[Array, Array], kept: Mapping[str, Array]) -> dict[str, Used]:
        """The forces that the step was made with, given its end and the guess before that."""
        end, guess = self.later(now), self.later(before)
        return {name: replace(law.at(guess).used(end), kept=kept[name], guess=guess) for name, law in self.laws.items()}

    def forces(self, stated: Mapping[str, Resistance]) -> StiffForces:
        """The sums of stated forces, but for those of lists by bodies."""
        mech = self.tree.mech
        F, K = {}, {}  # type: dict[int, Array], dict[int, Array]
        both, across = {}, {}  # type: dict[tuple[int, int], Array], dict[tuple[int, int], Array]
        forces, slopes = ([np.zeros(link.joint.nv) for link in mech.links] for _ in range(2))
        for resistance in stated.values():
            for (a, b), C in resistance.couplings.items():
                ends = mech.index(a), mech.index(b)
                both[ends] = both[ends] + C if ends in both else C
            for (a, b), c in resistance.joint_couplings.items():
                ends = mech.v_slices[mech.index(a)].start, mech.v_slices[mech.index(b)].start
                across[ends] = across[ends] + c if ends in across else c
            for body, wrench in resistance.wrenches.items():
                k = mech.index(body)
                F[k] = F[k] + wrench if k in F else wrench
                K[k] = K[k] + resistance.slopes[body] if k in K else resistance.slopes[body]
            for joint, force in resistance.joint_forces.items():
                k = mech.index(joint)
                forces[k], slopes[k] = forces[k] + force, slopes[k] + resistance.joint_slopes[joint]
        in_joints, slope = None, None  # type: Array | None, Array | None
        if any(resistance.joint_forces for resistance in stated.values()):
            in_joints, slope = (np.concatenate([np.zeros(0), *x]) for x in (forces, slopes))
        lists = [r.listed for r in stated.values() if isinstance(r.listed, RowList)]
        return StiffForces(self.h, F, K, in_joints, slope, both, across, lists)

    def booked(self, later: Later, used: Mapping[str, Used], tau: Array) -> Motion:
        """The motion, with the effects of resisting elements among the others; tau (nv,): of these others."""
        scene, effects, wrenches = self.scene, self.effects, dict(self.wrenches)
        taken: dict[str, Effect] = {}
        for name, law in self.laws.items():
            effect = law.taken(later, used[name])
            taken |= {name: effect} if isinstance(effect, Effect) else effect
        for effect in taken.values():
            tau = gathered(scene.mechanism, effect, wrenches, tau)
        joints, effects = taken.pop(JOINTS, None), effects | taken
        motion = Motion(scene, effects, wrenches, tau, *self.tree.rates(later.a), joints)
        return replace(motion, effects={name: effect.evaluated(motion) for name, effect in effects.items()})


def moved_on(
    context: StepContext, form: RestingForm, y: LedgerState, motion: Motion, h: Scalar, points: Points
) -> LedgerState:
    """The resting form y after a step h by the forces and accelerations of a motion: velocities first, and coordinates
    by the new ones, on the group."""
    slope, mech = context.system.rate(motion), motion.scene.mechanism
    _, wdot = floating.rates(mech, points or form.fixed, motion.scene.q, y.state.v, slope.q, motion.wdot)
    w = y.state.v + h * wdot
    x = floating.moved(context.system.mechanism, y.state.q, w, h)
    parts, inflow = y.state.parts + h * slope.parts, y.inflow + h * context.inflow_rate(motion)
    return form.recentred(LedgerState(State(x, w, parts), inflow), points)


# Springs, dampers and dry friction in joints.


def _joints_resist(scene: Scene) -> bool:
    joints = [link.joint for link in scene.mechanism.links if link.joint.nv]
    return any(is_traced(x) or np.any(x) for j in joints for x in (j.stiffness, j.damping, j.friction))


def joint_resistance(scene: Scene, h: Scalar) -> Resisting:
    """tau = k (strain - h v) - d v - f tanh(v / 1e-3), the friction by its secant."""
    mech = scene.mechanism
    joints = [(k, link.joint) for k, link in enumerate(mech.links) if link.joint.nv]

    def at(later: Later) -> Resistance:
        forces, slopes = {}, {}  # type: dict[str, Array], dict[str, Array]
        for k, joint in joints:
            name, q, v = mech.links[k].name, scene.q[mech.q_slices[k]], scene.v[mech.v_slices[k]]
            slope = joint.damping + h * joint.stiffness + np.zeros(joint.nv)
            if is_traced(joint.friction) or np.any(joint.friction):
                speed = np.abs(later.velocity(name)) + 1e-9
                slope = slope + joint.friction * np.tanh(speed / 1e-3) / speed
            forces[name], slopes[name] = joint.stiffness * strain(joint, q) - slope * v, slope
        return Resistance(joint_forces=forces, joint_slopes=slopes)

    def taken(later: Later, used: Used) -> Effect:
        stored, springs, over = np.zeros(()), np.zeros(()), np.zeros(())
        for k, joint in joints:
            if joint.type.stores_energy(joint):
                u, v = strain(joint, scene.q[mech.q_slices[k]]), later.velocity(mech.links[k].name)
                stored = stored + 0.5 * np.sum(joint.stiffness * (u - h * v) ** 2)
                springs = springs + np.sum(joint.stiffness * (u - h * v) * v)
                over = over - 0.5 * h * np.sum(joint.stiffness * v * v)
        power = used.power(later) - springs  # of dampers, dry friction, and springs that store no energy
        return Effect(joint_forces=used.joint_forces, power=power, numerical=over, foreseen=stored)

    return Resisting(at, taken)
