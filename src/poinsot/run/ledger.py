"""The ledger: what a world holds of mass, momentum, angular momentum and energy, and what came in through what.

What comes in is integrated together with the state, by the same scheme. What is held is found anew from the state. The
difference between the two, which nothing explains, is the error of the scheme, or of a force that is wrong about its
energy.
"""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from poinsot._types import Array
from poinsot.fuse import is_traced
from poinsot.mechanism import kinematics
from poinsot.mechanism.dynamics import resistance, strain
from poinsot.parts import Effect, Scene
from poinsot.spatial import motion
from poinsot.world import Motion, System

ACCOUNTS = ("mass", "momentum", "angular_momentum", "energy")
UNITS = {"mass": "kg", "momentum": "kg m/s", "angular_momentum": "kg m^2/s", "energy": "J"}
COLUMNS = ("mass", "Px", "Py", "Pz", "Lx", "Ly", "Lz", "energy")
WIDTH = len(COLUMNS)


def sources(system: System) -> tuple[str, ...]:
    """Through what something can come in: gravity, what carries the world's trees, joints, and each element."""
    names = [] if "gravity" in dict(system.description.acting()) else ["gravity"]
    return (*names, "supports", "joints", *(name for name, _ in system.description.acting()))


def losses(system: System) -> int:
    """The place of the energy that is lost in joints, in the table of sources and accounts taken row by row."""
    return WIDTH * sources(system).index("joints") + COLUMNS.index("energy")


def held(scene: Scene, effects: Mapping[str, Effect]) -> Array:
    """(8,): mass, momentum, angular momentum about the world's origin in world axes, energy with all that is stored."""
    mech = scene.mechanism
    mass: Array = np.zeros(())
    total = np.zeros(6)
    energy = kinematics.kinetic_energy(mech, scene.q, scene.v) + _joint_springs(scene)
    for link, X, V in zip(mech.links, scene.poses, scene.twists, strict=True):
        if link.inertia is not None:
            mass = mass + link.inertia.mass
            total = total + motion.momentum_in_frame(X, link.inertia.momentum(V))
            energy = energy - link.inertia.mass * (mech.gravity @ (X @ link.inertia.com))
    for effect in effects.values():
        if effect.stored is not None:
            energy = energy + effect.stored
        for body, h in effect.carried.items():
            total = total + motion.momentum_in_frame(scene[body].pose, h)
    return np.concatenate([np.reshape(mass, (1,)), total[3:], total[:3], np.reshape(energy, (1,))])


def flows(system: System, moved: Motion) -> Array:
    """(n, 8): what comes in per second through each of the sources."""
    scene, mech = moved.scene, moved.scene.mechanism
    elements = dict(system.description.acting())
    rows = []
    for name in sources(system):
        if name == "supports":
            rows.append(_through_supports(moved))
        elif name == "joints":
            rows.append(_row(np.zeros(6), _through_joints(scene)))
        elif name in moved.effects:
            effect = moved.effects[name]
            F_W = np.zeros(6)
            own: Mapping[str, Array] = {} if elements[name].internal else effect.wrenches
            for body, F in (own if effect.outside is None else effect.outside).items():
                F_W = F_W + motion.wrench_in_frame(scene[body].pose, F)
            rows.append(_row(F_W, _power(effect, scene), effect.mass))
        else:
            mass_at = np.zeros(3)
            mass: Array = np.zeros(())
            for link, X in zip(mech.links, scene.poses, strict=True):
                if link.inertia is not None:
                    mass = mass + link.inertia.mass
                    mass_at = mass_at + link.inertia.mass * (X @ link.inertia.com)
            rows.append(_row(np.concatenate([np.cross(mass_at, mech.gravity), mass * mech.gravity]), np.zeros(())))
    return np.stack(rows)


def _row(F_W: Array, power: Array, mass: Array | None = None) -> Array:
    """Mass, momentum, angular momentum and energy per second, given the wrench about the world's origin."""
    first = np.zeros(1) if mass is None else np.reshape(mass, (1,))
    return np.concatenate([first, F_W[3:], F_W[:3], np.reshape(power, (1,))])


def _power(effect: Effect, scene: Scene) -> Array:
    if effect.power is not None:
        return effect.power
    if effect.stored is not None:
        return np.zeros(())
    total: Array = np.zeros(())
    for body, F in effect.wrenches.items():
        total = total + F @ scene[body].twist
    for joint, tau in effect.joint_forces.items():
        total = total + tau @ scene.joint(joint)[1]
    return total


def _through_supports(moved: Motion) -> Array:
    """What the world puts into its trees through their first joints; it holds still, and does no work."""
    scene, mech = moved.scene, moved.scene.mechanism
    total = np.zeros(6)
    roots = {i: _simple_reaction(moved, i) for i, parent in enumerate(mech.parents) if parent < 0}
    reactions = moved.reactions() if any(F is None for F in roots.values()) else []
    for i, F in roots.items():
        total = total + motion.wrench_in_frame(scene.poses[i], reactions[i] if F is None else F)
    return _row(total, np.zeros(()))


def _simple_reaction(moved: Motion, i: int) -> Array | None:
    """F_B (6,) through the joint of a root in which nothing acts: zero on a free body, on a particle what keeps it from
    turning. None if it is not so simple."""
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


def _joint_springs(scene: Scene) -> Array:
    """The energy [J] stored in the springs of joints."""
    total: Array = np.zeros(())
    for i, link in enumerate(scene.mechanism.links):
        if link.joint.nv and link.joint.type.stores_energy(link.joint):
            u = strain(link.joint, scene.q[scene.mechanism.q_slices[i]])
            total = total + 0.5 * np.sum(link.joint.stiffness * u * u)
    return total


def _through_joints(scene: Scene) -> Array:
    """What dampers and dry friction in joints take [W], negative, and what springs do that store no energy."""
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
    """What was held at the start and the end (..., 8), what came in through each source (..., n, 8)."""

    sources: tuple[str, ...]
    start: Array
    end: Array
    inflow: Array

    @property
    def remainder(self) -> Array:
        """What nothing explains (..., 8): end - start - all that came in."""
        return self.end - self.start - self.inflow.sum(axis=-2)

    @property
    def relative(self) -> Array:
        """The remainder (..., 4) of each account, relative to the largest amount that was held or came in."""
        return self._grouped(self.remainder) / np.where((scale := self._scale()) > 0, scale, 1.0)

    def _scale(self) -> Array:
        amounts = [self._grouped(a) for a in (self.start, self.end)]
        amounts += [self._grouped(self.inflow[..., k, :]) for k in range(len(self.sources))]
        return np.max(amounts, axis=0)

    @staticmethod
    def _grouped(a: Array) -> Array:
        """(..., 8) -> (..., 4): the lengths of the vectors."""
        parts = [np.abs(a[..., 0]), np.linalg.norm(a[..., 1:4], axis=-1), np.linalg.norm(a[..., 4:7], axis=-1)]
        return np.stack([*parts, np.abs(a[..., 7])], axis=-1)

    def __str__(self) -> str:
        return self.table()

    def __repr__(self) -> str:
        return self.table()

    def table(self) -> str:
        """One small table: of a batch, the case with the largest remainder."""
        if self.start.ndim > 1:
            flat = [a.reshape(-1, *a.shape[self.start.ndim - 1 :]) for a in (self.start, self.end, self.inflow)]
            worst = int(np.argmax(Ledger(self.sources, *flat).relative.max(axis=-1)))
            one = Ledger(self.sources, *(a[worst] for a in flat))
            return f"the worst of {len(flat[0])}, number {worst}\n{one.table()}"
        rows = [("start", self.start), ("end", self.end), ("change", self.end - self.start)]
        rows += [(name, row) for name, row in zip(self.sources, self.inflow, strict=True) if np.any(row)]
        rows += [("unexplained", self.remainder)]
        heads = ("mass", "momentum", "", "", "angular momentum", "", "", "energy")
        units = ("kg", "kg m/s", "", "", "kg m^2/s", "", "", "J")
        width = max(12, *(len(name) for name, _ in rows))
        lines = [f"{'':<{width}}{heads[0]:>11}  {heads[1]:^33}  {heads[4]:^33}  {heads[7]:>11}".rstrip()]
        lines += [f"{'':<{width}}{units[0]:>11}  {units[1]:^33}  {units[4]:^33}  {units[7]:>11}".rstrip()]
        for name, row in rows:
            numbers = [f"{x:>11.4g}" for x in row]
            lines.append(
                f"{name:<{width}}{numbers[0]}  {''.join(numbers[1:4])}  {''.join(numbers[4:7])}  {numbers[7]}".rstrip()
            )
        m, P, L, E = self.relative
        lines.append(f"{'relative':<{width}}{m:>11.1e}  {P:^33.1e}  {L:^33.1e}  {E:>11.1e}")
        return "\n".join(lines)
