"""The ledger: mass, momentum, angular momentum and energy of a world, and the inflow of each through every source.

The inflow is integrated together with the state, by the same scheme. The conserved quantities are computed anew from
the state. The residual between the two is the error of the scheme, or of a force that states a wrong energy.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import reduce

import numpy as np

from poinsot._types import Array
from poinsot.fuse import is_traced
from poinsot.mechanism import kinematics
from poinsot.mechanism.dynamics import resistance, strain
from poinsot.parts import Effect, Scene
from poinsot.spatial import motion
from poinsot.spatial.arrays import halves
from poinsot.world import Motion, System

CONSERVED_QUANTITIES = ("mass", "momentum", "angular_momentum", "energy")
UNITS = {"mass": "kg", "momentum": "kg m/s", "angular_momentum": "kg m^2/s", "energy": "J"}
COLUMNS = ("mass", "Px", "Py", "Pz", "Lx", "Ly", "Lz", "energy")
WIDTH = len(COLUMNS)
ENERGY = np.eye(WIDTH)[COLUMNS.index("energy")]  # (8,): that of a unit of energy alone
STEP = "numerical"  # the source that is the step itself, of methods that know what it adds
SHARE = 1e-9  # of the products of lengths, beside which rounding, 1e-16 of them, is no residual


class LedgerWarning(UserWarning):
    """A run gained or lost what no source explains, ran away or broke down: most often its step is too long."""


def sources(system: System) -> tuple[str, ...]:
    """The sources of inflow: gravity, the supports of the world's trees, joints, and each element, with its rows."""
    acting = dict(system.description.acting())
    names = [] if "gravity" in acting else ["gravity"]
    own = (source for name, e in acting.items() for source in (name, *(f"{name}.{row}" for row in e.rows)))
    return (*names, "supports", "joints", *own)


def energy_of(system: System, source: str) -> int:
    """The index of the energy through a source, in the flattened table of sources and conserved quantities."""
    return WIDTH * sources(system).index(source) + COLUMNS.index("energy")


def only_loses_energy(system: System, possible: Array) -> bool:
    """Whether nothing in the world brings energy in, though something may take it; `possible`: which rates of inflow
    can differ from zero."""
    flows = np.reshape(possible, (-1, WIDTH))[:, COLUMNS.index("energy")]
    acting = list(system.description.acting())
    takes = {"joints", *(name for name, e in acting if e.takes_only)}
    takes |= {f"{name}.{row}" for name, e in acting for row in e.rows}
    return not any(some and name not in takes for name, some in zip(sources(system), flows, strict=True))


def joint_losses(system: System) -> int:
    """The index of the energy lost in joints, in the flattened table of sources and conserved quantities."""
    return energy_of(system, "joints")


def conserved_quantities(scene: Scene, effects: Mapping[str, Effect]) -> Array:
    """(8,): mass, momentum, angular momentum about the world's origin in world axes, energy including all stored."""
    mech = scene.mechanism
    mass: Array = np.zeros(())
    total = np.zeros(6)
    energy = kinematics.kinetic_energy(mech, scene.q, scene.v) + joint_springs(scene)
    for link, X, V in zip(mech.links, scene.poses, scene.twists, strict=True):
        if link.inertia is not None:
            mass = mass + link.inertia.mass
            total = total + motion.momentum_in_frame(X, link.inertia.momentum(V))
            energy = energy - link.inertia.mass * (mech.gravity @ (X @ link.inertia.com))
    of_bodies = np.concatenate([np.reshape(mass, (1,)), total[3:], total[:3], np.reshape(energy, (1,))])
    return of_bodies + held_quantities(scene, effects)


def held_quantities(scene: Scene, effects: Mapping[str, Effect]) -> Array:
    """(8,): those that elements hold: the momentum that they carry, and the energy that they store."""
    energy, total = np.zeros(()), np.zeros(6)  # type: Array, Array
    for effect in effects.values():
        if effect.stored is not None:
            energy = energy + effect.stored
        for body, h in effect.carried.items():
            total = total + motion.momentum_in_frame(scene[body].pose, h)
    return np.concatenate([np.zeros(1), total[3:], total[:3], np.reshape(energy, (1,))])


def gross_amounts(scene: Scene, effects: Mapping[str, Effect]) -> Array:
    """(4,): mass, momentum, angular momentum and energy of the bodies one by one, so that none cancels another.

    Residuals are judged by these amounts. A share of the products of lengths is added, of which rounding is far below.
    """
    mech = scene.mechanism
    momentum, turning, energy, mass = (np.zeros(()) for _ in range(4))  # type: Array, Array, Array, Array
    for link, X, V in zip(mech.links, scene.poses, scene.twists, strict=True):
        if link.inertia is not None:
            L, P = halves(motion.momentum_in_frame(X, link.inertia.momentum(V)))
            x, m = X @ link.inertia.com, link.inertia.mass
            length, distance = np.sqrt(P @ P), np.sqrt(x @ x)
            g = np.sqrt(mech.gravity @ mech.gravity)
            fallen = SHARE * m * np.sqrt(g * distance)  # where all rests at the records, impulses in between round off
            mass, momentum = mass + m, momentum + length + fallen
            turning = turning + np.sqrt(L @ L) + distance * (SHARE * length + fallen)
            energy = energy + link.inertia.kinetic_energy(V) + np.abs(m * (mech.gravity @ x)) + SHARE * m * g * distance
    for effect in effects.values():
        if effect.stored is not None:
            energy = energy + np.abs(effect.stored)
    energy = energy + joint_springs(scene)
    return np.stack([np.reshape(a, ()) for a in (1.0 * mass, momentum, turning, energy)])


def conserved_and_gross(moved: Motion) -> Array:
    """The conserved quantities and the gross amounts, (12,)."""
    scene, effects = moved.scene, moved.effects
    return np.concatenate([conserved_quantities(scene, effects), gross_amounts(scene, effects)])


def inflow_rates(system: System, moved: Motion) -> Array:
    """(n, 8): the inflow per second through each of the sources."""
    joints, effects = moved.in_joints, moved.effects
    rates = _of_forces(system, moved.scene, effects)
    if joints is not None and joints.power is not None:
        rates["joints"] = _rate(np.zeros(6), joints.power)
    return np.stack([_through_supports(moved) if k == "supports" else rates[k] for k in sources(system)])


def rates_of_forces(system: System, scene: Scene) -> dict[str, Array]:
    """The inflow per second (8,) through the sources for which no accelerations need be known, in steps that take the
    forces at instants."""
    effects = {name: scene.effect(name) for name in scene.elements if name not in system.loops}
    return _of_forces(system, scene, {name: e for name, e in effects.items() if not callable(e.power)})


def _of_forces(system: System, scene: Scene, effects: Mapping[str, Effect]) -> dict[str, Array]:
    """The inflow per second (8,) through gravity, joints, and the elements with these effects and their rows."""
    rates = {"joints": _rate(np.zeros(6), _through_joints(scene))}
    elements = dict(system.description.acting())
    if "gravity" not in elements:
        rates["gravity"] = _through_gravity(scene)
    for name, effect in effects.items():
        F_W = np.zeros(6)
        own: Mapping[str, Array] = {} if elements[name].internal else effect.wrenches
        for body, F in (own if effect.outside is None else effect.outside).items():
            F_W = F_W + motion.wrench_in_frame(scene[body].pose, F)
        power = _power(effect, scene) - sum(effect.shares.values(), np.zeros(()))
        rates[name] = _rate(F_W, power, effect.mass)
        rates |= {f"{name}.{row}": _rate(np.zeros(6), effect.shares[row]) for row in elements[name].rows}
    return rates


def _through_gravity(scene: Scene) -> Array:
    mech, mass_at = scene.mechanism, np.zeros(3)
    mass: Array = np.zeros(())
    for link, X in zip(mech.links, scene.poses, strict=True):
        if link.inertia is not None:
            mass = mass + link.inertia.mass
            mass_at = mass_at + link.inertia.mass * (X @ link.inertia.com)
    return _rate(np.concatenate([np.cross(mass_at, mech.gravity), mass * mech.gravity]), np.zeros(()))


def _rate(F_W: Array, power: Array, mass: Array | None = None) -> Array:
    """Mass, momentum, angular momentum and energy per second, given the wrench about the world's origin."""
    first = np.zeros(1) if mass is None else np.reshape(mass, (1,))
    return np.concatenate([first, F_W[3:], F_W[:3], np.reshape(power, (1,))])


def _power(effect: Effect, scene: Scene) -> Array:
    if effect.power is not None:
        power: Array = effect.power
        return power
    if effect.stored is not None:
        return np.zeros(())
    total: Array = np.zeros(())
    for body, F in effect.wrenches.items():
        total = total + F @ scene[body].twist
    for joint, tau in effect.joint_forces.items():
        total = total + tau @ scene.joint(joint)[1]
    return total


def _through_supports(moved: Motion) -> Array:
    """The inflow from the world into its trees through their first joints; the world is at rest and does no work."""
    scene, mech = moved.scene, moved.scene.mechanism
    total = np.zeros(6)
    roots = {i: _simple_reaction(moved, i) for i, parent in enumerate(mech.parents) if parent < 0}
    reactions = moved.reactions() if any(F is None for F in roots.values()) else []
    for i, F in roots.items():
        total = total + motion.wrench_in_frame(scene.poses[i], reactions[i] if F is None else F)
    return _rate(total, np.zeros(()))


def _simple_reaction(moved: Motion, i: int) -> Array | None:
    """F_B (6,) through the joint of a root in which nothing acts: zero for a free body, for a particle the torque that
    keeps it from turning. None in any other case."""
    mech = moved.scene.mechanism
    link = mech.links[i]
    joint, inertia = link.joint, link.inertia
    resists = any(is_traced(x) or np.any(x) for x in (joint.stiffness, joint.damping, joint.friction, joint.armature))
    if resists or any(link.name in effect.joint_forces for effect in moved.effects.values()):
        return None
    if joint.type.is_free:
        return np.zeros(6)
    point = inertia is not None and not is_traced(inertia.com) and not np.any(inertia.com)
    if joint.type.position and point and i not in mech.parents:
        F = moved.wrenches.get(link.name, np.zeros(6))
        return np.concatenate([-F[:3], np.zeros(3)])
    return None


def joint_springs(scene: Scene) -> Array:
    """The energy [J] stored in the springs of joints."""
    total: Array = np.zeros(())
    for i, link in enumerate(scene.mechanism.links):
        if link.joint.nv and link.joint.type.stores_energy(link.joint):
            u = strain(link.joint, scene.q[scene.mechanism.q_slices[i]])
            total = total + 0.5 * np.sum(link.joint.stiffness * u * u)
    return total


def _through_joints(scene: Scene) -> Array:
    """The power [W] of dampers and dry friction in joints, negative, and of springs that store no energy."""
    total: Array = np.zeros(())
    for i, link in enumerate(scene.mechanism.links):
        joint, q, v = link.joint, scene.q[scene.mechanism.q_slices[i]], scene.v[scene.mechanism.v_slices[i]]
        if joint.nv:
            total = total - resistance(joint, v) @ v
            if not joint.type.stores_energy(joint):
                total = total + np.sum(joint.stiffness * strain(joint, q) * v)
    return total


@dataclass(frozen=True, eq=False)
class Ledger:
    """The conserved quantities, initial and final (..., 8), and their inflow through each source (..., n, 8).

    gross (..., 4): the largest `gross_amounts` among the records.
    """

    sources: tuple[str, ...]
    initial: Array
    final: Array
    inflow: Array
    gross: Array | None = None

    @property
    def residual(self) -> Array:
        """(..., 8): final - initial - inflow."""
        residual: Array = self.final - self.initial - self.inflow.sum(axis=-2)
        return residual

    @property
    def relative_residual(self) -> Array:
        """The residual (..., 4) of each conserved quantity, relative to the largest of initial, final, gross and
        inflows."""
        scale = self._scale()
        return magnitudes(self.residual) / np.where(scale > 0, scale, 1.0)

    def share_of(self, source: str) -> Array:
        """The inflow (..., 4) through a source relative to the same; that of energy with its sign."""
        inflow, scale = self.inflow[..., self.sources.index(source), :], self._scale()
        share = magnitudes(inflow) / np.where(scale > 0, scale, 1.0)
        signs = np.where(np.arange(4) == 3, np.where(inflow[..., 7:] < 0, -1.0, 1.0), 1.0)
        return np.asarray(signs * share)

    def _scale(self) -> Array:
        inflows = np.moveaxis(magnitudes(self.inflow), -2, 0)  # one by one: NumPy takes long for a short axis within
        amounts = [magnitudes(self.initial), magnitudes(self.final), *inflows]
        return np.asarray(reduce(np.maximum, amounts if self.gross is None else [*amounts, self.gross]))

    def largest_inflows(self, most: int = 40) -> list[tuple[str, Array]]:
        """The sources with any inflow (8,), in order; of many, the largest, and the sum of all others."""
        known = [k for k in range(len(self.sources)) if np.any(self.inflow[k])]
        scale = self._scale()
        shares = np.max(magnitudes(self.inflow[known]) / np.where(scale > 0, scale, 1.0), axis=-1, initial=0.0)
        largest = sorted(np.argsort(-shares, kind="stable")[:most].tolist()) if len(known) > most else range(len(known))
        rows = [(self.sources[known[k]], self.inflow[known[k]]) for k in largest]
        others = [known[k] for k in sorted(set(range(len(known))) - set(largest))]
        return [*rows, (f"{len(others)} others", self.inflow[others].sum(axis=0))] if others else rows

    def __str__(self) -> str:
        return self.table()

    def __repr__(self) -> str:
        return self.table()

    def table(self) -> str:
        """One small table: for a batch, of the instance with the largest relative residual."""
        if self.initial.ndim > 1:
            arrays = [a for a in (self.initial, self.final, self.inflow, self.gross) if a is not None]
            flat = [a.reshape(-1, *a.shape[self.initial.ndim - 1 :]) for a in arrays]
            worst = int(np.argmax(Ledger(self.sources, *flat).relative_residual.max(axis=-1)))
            one = Ledger(self.sources, *(a[worst] for a in flat))
            return f"the worst of {len(flat[0])}, number {worst}\n{one.table()}"
        rows = [("initial", self.initial), ("final", self.final), ("change", self.final - self.initial)]
        rows += [(f"inflow: {name}", inflow) for name, inflow in self.largest_inflows()]
        rows += [("residual", self.residual)]
        heads = ("mass", "momentum", "angular momentum", "energy")
        width = max(18, *(len(name) for name, _ in rows))
        lines = [_line("conserved quantity", width, *heads), _line("", width, *UNITS.values())]
        for name, row in rows:
            m, *vectors, E = (f"{x:>11.4g}" for x in row + 0.0)  # without -0
            lines.append(_line(name, width, m, "".join(vectors[:3]), "".join(vectors[3:]), E))
        return "\n".join([*lines, _line("relative residual", width, *(f"{x:.1e}" for x in self.relative_residual))])


def _line(name: str, width: int, mass: str, momentum: str, angular_momentum: str, energy: str) -> str:
    return f"{name:<{width}}{mass:>11}  {momentum:^33}  {angular_momentum:^33}  {energy:>11}".rstrip()


def magnitudes(a: Array) -> Array:
    """(..., 8) -> (..., 4): the absolute values and the lengths of the vectors."""
    parts = [np.abs(a[..., 0]), *(np.sqrt(np.einsum("...i,...i", v, v)) for v in (a[..., 1:4], a[..., 4:7]))]
    return np.stack([*parts, np.abs(a[..., 7])], axis=-1)


def signed(a: Array) -> Array:
    """(..., 8) -> (..., 4): mass and energy as they are, negative if they left, and the lengths of the vectors."""
    amounts = magnitudes(a)
    amounts[..., 0], amounts[..., 3] = a[..., 0], a[..., 7]
    return amounts
