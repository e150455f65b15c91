"""The implicit step: stiff forces are taken at its end, where they follow from the velocities that they lead to.

Contacts, stops, springs and dampers in joints, and feedback state their forces as linear functions of the velocities at
the end of the step (`parts.resisting`); a tree under such forces is solved by articulated bodies (`mechanism.stiff`),
and again about the velocities found. All other forces are those at the start of the step. Of first order; it damps
what it does not resolve.
"""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from poinsot._types import Array, Scalar
from poinsot.environment import TouchList
from poinsot.environment.spot_loop import looped, resisting_together
from poinsot.fuse import fori_loop, in_memory, is_traced
from poinsot.mechanism import floating, stiff_joined, stiff_loops, stiff_rows
from poinsot.mechanism.constrained import firm_rows
from poinsot.mechanism.dynamics import strain
from poinsot.mechanism.loop_frames import Rows
from poinsot.mechanism.stiff import Added, StiffForces, StiffTree
from poinsot.mechanism.stiff_joined import ListedForces
from poinsot.mechanism.stiff_rows import STRAIGHT, RowList
from poinsot.parts import Effect, Scene
from poinsot.parts.resisting import Later, Resistance, Resisting, Used
from poinsot.run.general_steps import RestingForm, general
from poinsot.run.heap_steps import from_heap_state, heap_step, to_heap_state
from poinsot.run.heaps import is_heap
from poinsot.run.step_context import LedgerState, Method, Step, StepContext
from poinsot.run.step_errors import held_beside_tangent, step_error
from poinsot.world import Motion, State, System
from poinsot.world.closing_loops import closing, gathered

ITERATIONS = 3
JOINTS = "joints"  # the springs and dampers in all joints, as one source of the ledger
SPOTS = "spots"  # where bodies touch the ground in many points, as one law


def implicit(iterations: int = ITERATIONS) -> Method:
    """Velocities first, from the forces at the end; then coordinates move with the new velocities, on the group."""

    def make(context: StepContext, form: RestingForm) -> Step:
        def step(t: Scalar, y: LedgerState, h: Scalar) -> LedgerState:
            points = form.moving(y.state.parts)
            state = form.leave(y, points).state
            scene, _ = context.system.scene(t, state, context.parameters, context.inputs_at(t))
            motion, a = implicit_motion(context.system, scene, h, iterations)
            slope = context.system.rate(motion)
            _, wdot = floating.rates(scene.mechanism, points or form.fixed, scene.q, y.state.v, slope.q, motion.wdot)
            w = y.state.v + h * wdot
            x = floating.moved(context.system.mechanism, y.state.q, w, h)
            parts, inflow = y.state.parts + h * slope.parts, y.inflow + h * context.inflow_rate(motion)
            new = form.recentred(LedgerState(State(x, w, parts), inflow), points)
            if not len(context.inflow_indices):
                return new
            end, _ = context.system.scene(t + h, form.leave(new).state, context.parameters, context.inputs_at(t + h))
            error = step_error(motion, a, h, end) + held_beside_tangent(context, motion, h, end)
            return replace(new, inflow=new.inflow + context.numerical(error))

        return step

    method = general(1, make)

    def booking(context: StepContext) -> Step:
        if is_heap(context.system):
            return heap_step(context, iterations)
        return method.step(replace(context, books_errors=True))

    def converts(system: System) -> bool:
        return not is_heap(system) and method.converts(system)

    def to_stepped(context: StepContext, y: LedgerState) -> Any:
        return to_heap_state(y) if is_heap(context.system) else method.to_stepped(context, y)

    def from_stepped(context: StepContext, form: Any) -> LedgerState:
        return from_heap_state(context, form) if is_heap(context.system) else method.from_stepped(context, form)

    return Method(1, booking, to_stepped, from_stepped, converts, books_errors=True)


def implicit_motion(system: System, scene: Scene, h: Scalar, iterations: int) -> tuple[Motion, Array]:
    """The forces over a step h, and the accelerations that they give; and those (nv,) of `StiffTree.solve`."""
    mech = scene.mechanism
    resisting = {name: e for name, e in scene.elements.items() if e.resists}
    effects = {name: scene.effect(name) for name in scene.elements if name not in (*resisting, *system.loops)}
    wrenches: dict[str, Array] = {}
    tau = np.zeros(mech.nv)
    for effect in effects.values():
        tau = gathered(mech, effect, wrenches, tau)
    tree = StiffTree(mech, scene.q, scene.v, tau, wrenches or None)
    touched = sorted({mech.index(body) for e in resisting.values() for body in e.bodies()})
    laws: dict[str, Resisting] = {}
    together = looped(scene.elements.values())
    if together:
        laws[SPOTS] = resisting_together(together, scene, h)
    laws |= {name: e.resisting(scene, h) for name, e in resisting.items() if e not in together}
    if _joints_resist(scene):
        laws[JOINTS] = joint_resistance(scene, h)
    if any(len(e.bodies()) == 2 for e in resisting.values()):
        tree.mass_matrix, tree.left  # noqa: B018  found before the iterations, which may be traced more than once
    rows = firm_rows(mech, system.closures(scene), scene.q, scene.v, scene.t, system.independent)

    def later(guess: tuple[Array, Array]) -> Later:
        return Later(scene, h, {mech.links[k].name: guess[0][j] for j, k in enumerate(touched)}, guess[1])

    def iterate(_: Any, carry: Iterates) -> Iterates:
        found = {name: law.at(later(carry.now)) for name, law in laws.items()}
        a, A, f = _solved(tree, h, found, rows, 1 if system.independent else 3, carry.now[1])
        now = np.stack([A[k] for k in touched]) if touched else np.zeros((0, 6)), a
        return Iterates(now, carry.now, {name: found[name].kept for name in laws}, f)

    start = (np.zeros((len(touched), 6)), np.zeros(mech.nv))
    if mech.nv > STRAIGHT and any(isinstance(e, TouchList) for e in resisting.values()):
        start = in_memory(start[0]), in_memory(start[1])  # lists put them into arrays
    carry = Iterates(start, start, {name: np.zeros(law.kept) for name, law in laws.items()}, 0.0 * rows.gap)
    carry = fori_loop(iterations, iterate, carry) if iterations > 1 else iterate(0, carry)
    end, before = later(carry.now), later(carry.before)
    used = {name: replace(law.at(before).used(end), kept=carry.kept[name], guess=before) for name, law in laws.items()}
    tau = closing(system.loops, scene, effects, wrenches, tau, carry.closing, rows)
    return _booked(scene, effects, wrenches, tau, tree, end, laws, used), end.a


@dataclass(frozen=True, eq=False)
class Iterates:
    """What is carried from one iteration to the next: accelerations of the bodies that are touched (k, 6), and of
    joints (nv,), `now` and `before`; and what the elements keep. The forces follow from them when they are asked for,
    but for the closing forces of loops (m,).
    """

    now: tuple[Array, Array]
    before: tuple[Array, Array]
    kept: dict[str, Array]
    closing: Array


def _solved(
    tree: StiffTree, h: Scalar, found: dict[str, Resistance], rows: Rows, proximal: int, guess: Array
) -> tuple[Array, Added, Array]:
    """The accelerations under resisting forces, with the rows of loops held, and the closing forces; from a guess."""
    mech = tree.mech
    F, K = {}, {}  # type: dict[int, Array], dict[int, Array]
    both: dict[tuple[int, int], Array] = {}
    forces, slopes = [np.zeros(link.joint.nv) for link in mech.links], [np.zeros(link.joint.nv) for link in mech.links]
    for resistance in found.values():
        both |= {(mech.index(a), mech.index(b)): C for (a, b), C in resistance.couplings.items()}
        for body, wrench in resistance.wrenches.items():
            k = mech.index(body)
            F[k] = F[k] + wrench if k in F else wrench
            K[k] = K[k] + resistance.slopes[body] if k in K else resistance.slopes[body]
        for joint, force in resistance.joint_forces.items():
            k = mech.index(joint)
            forces[k], slopes[k] = forces[k] + force, slopes[k] + resistance.joint_slopes[joint]
    in_joints, slope = None, None  # type: Array | None, Array | None
    if any(resistance.joint_forces for resistance in found.values()):
        in_joints, slope = (np.concatenate([np.zeros(0), *x]) for x in (forces, slopes))
    lists = [r.listed for r in found.values() if isinstance(r.listed, RowList)]
    on_bodies = [r.listed for r in found.values() if isinstance(r.listed, ListedForces)]
    on = StiffForces(h, F, K, in_joints, slope, both, lists)
    if on_bodies:
        return *stiff_joined.solve(tree, on, on_bodies, guess), np.zeros(0)
    if len(rows.gap):
        return stiff_loops.solve(tree, rows, proximal, on)
    return *(stiff_rows.solve(tree, on) if lists else tree.solve(on)), np.zeros(0)


def _booked(
    scene: Scene,
    effects: dict[str, Effect],
    wrenches: dict[str, Array],
    tau: Array,
    tree: StiffTree,
    later: Later,
    laws: dict[str, Resisting],
    used: dict[str, Used],
) -> Motion:
    """The motion, with the effects of resisting elements among the others."""
    taken: dict[str, Effect] = {}
    for name, law in laws.items():
        effect = law.taken(later, used[name])
        taken |= {name: effect} if isinstance(effect, Effect) else effect
    for effect in taken.values():
        tau = gathered(scene.mechanism, effect, wrenches, tau)
    joints, effects = taken.pop(JOINTS, None), effects | taken
    motion = Motion(scene, effects, wrenches, tau, *tree.rates(later.a), joints)
    return replace(motion, effects={name: effect.evaluated(motion) for name, effect in effects.items()})


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
