"""The momentum and energy that an implicit step itself adds: its error, known exactly, for the ledger.

A step h solves M a = Q - b with all forces Q, and all of M and the bias b, as at the start. In the frames of the start
it changes v0 to v = v0 + h a; then the bodies move on to (q1, v1). With what is known of each force,

    T(q0, v) - T(q0, v0) = h (Q - b) v - h^2 a M a / 2,

an identity. So the energy changes by the power that forces have at the velocities v, which dampers, contacts and
motors enter in the ledger, and by

    -h^2 a M a / 2             velocities jump under forces that act all along the step: implicit Euler's own damping
    + h^2 Q_e a                by forces Q_e that are taken at the start, and have entered Q_e v0
    + T(q1, v1) - T(q0, v) - h b v         inertia that turns in the step,
    + U(q1) - U(q0) + h m g v_c            weight,
    + what springs state themselves (`Effect.numerical`): -k (h v)^2/2 and the like,
    + E(q1) - E'               and stored energy where it is not E', as foreseen: geometry turns, other points touch,
    + E(q1) - E(q0) - h E'     or, of what acts by forces at the start, beside the tangent there.

E' is the derivative of the stored energy itself, along the motion; so an element that states a wrong power or a wrong
stored energy still leaves a residual. Momentum is treated alike: what turns in the step adds P(q1, v1) - P(q0, v) less
h times the bias, springs that turn add the moment of their forces, and what rotors carry turns as well. All of it falls
with h, in proportion. Not entered: mass that flows.
"""

from dataclasses import replace

import numpy as np

from poinsot._types import Array, Scalar
from poinsot.mechanism import floating, kinematics
from poinsot.mechanism.dynamics import inverse_dynamics, link_wrenches
from poinsot.mechanism.joint_types import directional
from poinsot.parts import Effect, Scene
from poinsot.run.ledger import WIDTH, held_quantities, joint_springs
from poinsot.run.step_context import StepContext
from poinsot.spatial import motion
from poinsot.world import Motion, State
from poinsot.world.flat_values import pack


def step_error(moved: Motion, a: Array, h: Scalar, end: Scene) -> Array:
    """(8,): what a step h adds to mass, momentum, angular momentum and energy beside all that its forces do.

    a (nv,): the accelerations that it was made with, as of `StiffTree.solve`. end: where it led to.
    """
    scene = moved.scene
    mech, q, change = scene.mechanism, scene.q, h * a
    v = scene.v + change
    weightless = replace(mech, gravity=np.zeros(3))
    still, of_rotors = floating.with_roots_at_rest(mech, scene.v, np.zeros(mech.nv))
    bias = inverse_dynamics(weightless, q, still, np.zeros(mech.nv)) - of_rotors
    poses, V = scene.poses, kinematics.twists(mech, q, v)
    momentum = kinematics.momentum_of(mech, poses, V)
    then = kinematics.momentum_of(mech, end.poses, end.twists)
    turned = then - momentum
    needed, _ = link_wrenches(weightless, q, still, np.zeros(mech.nv))
    for i, parent in enumerate(mech.parents):
        if parent < 0:
            turned = turned - h * motion.wrench_in_frame(scene.poses[i], needed[i])
    turned = turned + h * np.concatenate([_of_pairs(moved), np.zeros(3)])
    energy = kinematics.kinetic_energy_of(mech, end.v, end.twists) - kinematics.kinetic_energy_of(mech, v, V)
    energy, V_change = energy - h * (bias @ v), kinematics.twists(mech, q, change)
    energy = energy - kinematics.kinetic_energy_of(mech, change, V_change) + h * _early_work(moved, change, V_change)
    fallen = kinematics.potential_energy_of(mech, end.poses) - kinematics.potential_energy_of(mech, poses)
    energy = energy + fallen + h * (mech.gravity @ momentum[3:]) + _in_springs(moved, h, end)
    return np.concatenate([np.zeros(1), turned[3:], turned[:3], np.reshape(energy, (1,))])


def held_beside_tangent(context: StepContext, moved: Motion, h: Scalar, end: Scene) -> Array:
    """(8,): what elements that act by forces at the start hold after a step h beside that by the derivative along the
    motion: fields store energy, rotors carry momentum."""
    scene, system = moved.scene, context.system
    acting = {name: e for name, e in moved.effects.items() if not scene.elements[name].resists}
    names = [name for name, e in acting.items() if (e.stored is not None or e.carried) and name not in system.loops]
    if not names:
        return np.zeros(WIDTH)

    def held(there: Scene) -> Array:
        return held_quantities(there, {name: there.effect(name) for name in names})

    def along(x: Array) -> Array:
        q, v, parts = np.split(x[1:], np.cumsum([system.nq, system.nv]))
        return held(context.scene(x[0], State(q, v, parts)))

    slope, now = system.rate(moved), (scene.t + np.zeros(1), scene.q, scene.v, pack(scene.states))
    rate = directional(along, np.concatenate(now), np.concatenate([np.ones(1), slope.q, slope.v, slope.parts]))
    more: Array = held(end) - held(scene) - h * rate
    return more


def _early_work(moved: Motion, change: Array, twists: list[Array]) -> Array:
    """Q_e times a change of the velocities (nv,), and so of twists, of the forces Q_e that were taken at the start."""
    scene, total = moved.scene, np.zeros(())  # type: Scene, Array
    mech = scene.mechanism
    for name, effect in moved.effects.items():
        if scene.elements[name].resists:
            continue
        for body, F in effect.wrenches.items():
            total = total + F @ twists[mech.index(body)]
        for joint, tau in effect.joint_forces.items():
            total = total + tau @ change[mech.v_slices[mech.index(joint)]]
    return total


def _of_pairs(moved: Motion) -> Array:
    """The moment (3,) [N m] of springs between bodies: they pull as where they will be, at points where they were."""
    total, scene = np.zeros(6), moved.scene
    for name, effect in moved.effects.items():
        if scene.elements[name].resists and scene.elements[name].internal:
            for body, F in effect.wrenches.items():
                total = total + motion.wrench_in_frame(scene[body].pose, F)
    return total[:3]


def _in_springs(moved: Motion, h: Scalar, end: Scene) -> Array:
    """The energy [J] that springs and contacts gain by the step itself, and by storing other than they foresaw."""
    gained: Array = np.zeros(())
    effects = {name: effect for name, effect in moved.effects.items() if effect.foreseen is not None}
    for name, effect in effects.items():
        gained = gained + _gained(effect, h, end.elements[name].effect(end).stored)
    if moved.in_joints is not None:
        gained = gained + _gained(moved.in_joints, h, joint_springs(end))
    return gained


def _gained(effect: Effect, h: Scalar, stored: Array | None) -> Array:
    own, foreseen = (np.zeros(()) if x is None else x for x in (effect.numerical, effect.foreseen))
    gained: Array = h * own + (stored - foreseen if stored is not None else 0.0)
    return gained
