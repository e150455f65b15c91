"""Small worlds at one instant, in plain NumPy: no run, no kernel."""

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

import poinsot as pt
from poinsot.mechanism import kinematics
from poinsot.spatial import Inertia, Pose
from poinsot.world import State, System

SEEDS = range(4)


def body(rng):
    return Pose(p=0.2 * rng.normal(size=3)) @ Inertia.box(rng.uniform(2, 9), rng.uniform(0.2, 0.8, 3))


def two_bodies(seed, joint=None, **start):
    """Two bodies in random motion, the second on a joint of the first, or free."""
    rng = np.random.default_rng(seed)
    world = pt.World((0, 0, 0))
    poses = [Pose.from_euler(rng.normal(size=3), p=rng.normal(size=3)) for _ in range(2)]
    world.add_body("a", body(rng), None, None, poses[0], v=rng.normal(size=6))
    if joint is None:
        world.add_body("b", body(rng), None, None, poses[1], v=rng.normal(size=6))
    else:
        world.add_body("b", body(rng), "a", joint, poses[1], **start)
    return rng, world


def at_start(world):
    system = System(world.description)
    state = system.start()
    return system, state, system.motion(0.0, state)


def rate_of_stored(system, state, name, h=1e-6):
    """d(stored)/dt of an element while everything moves on at constant velocities."""

    def stored(s):
        q = kinematics.integrate(system.mechanism, state.q, s * state.v)
        return system.motion(0.0, State(q, state.v, state.parts)).effects[name].stored

    return (stored(h) - stored(-h)) / (2 * h)


def power_into_bodies(system, state, moved, name):
    """What the wrenches and joint forces of an element do on the bodies [W]."""
    effect, at = moved.effects[name], dict(zip(moved.scene.bodies, system.mechanism.v_slices, strict=True))
    on_bodies = sum(moved.scene[b].twist @ F for b, F in effect.wrenches.items())
    return on_bodies + sum(state.v[at[b]] @ tau for b, tau in effect.joint_forces.items())


def resting(*parts):
    world = pt.World((0, 0, 0))
    world.add_body("a", Inertia.box(5.0, (1, 2, 3)), None, None, Pose(p=(1, 0, 0)))
    world.add_body("b", Inertia.box(5.0, (1, 2, 3)), None, None, Pose.from_euler((0.4, 0.3, 0.2), p=(0, 3, 0)))
    for part in parts:
        world.add(part)
    return at_start(world)[2]


@dataclass
class Instant:
    """A motion in which the joint of the body carries a given wrench, at the time t."""

    F: Any
    t: float = 0.0
    elements: dict = field(default_factory=dict)

    @property
    def scene(self):
        return self

    def element(self, name, body=""):
        return self.elements[name]

    def reaction(self, name):
        return np.asarray(self.F, dtype=float)


def flying(*parts, seed=1, states=None, t=0.0, **start):
    """A body "craft" in random motion through air, with these parts; `states` of parts, by their full names."""
    rng = np.random.default_rng(seed)
    world = pt.World((0, 0, -9.81), air=pt.US76())
    inertia = Pose(p=0.1 * rng.normal(size=3)) @ Inertia.box(900.0, (3.0, 4.0, 1.0))
    start.setdefault("position", (5.0, -3.0, 800.0))
    start.setdefault("orientation", Pose.from_euler(0.4 * rng.normal(size=3)).quaternion())
    start.setdefault("v", np.concatenate([rng.normal(size=3), [40.0, 2.0, 3.0] + rng.normal(size=3)]))
    world.add_body("craft", inertia, **start)
    for part in parts:
        world.add(part)
    system = System(world.description)
    scene = system.scene(t, system.start())[0]
    known = {k: np.asarray(x, dtype=float) for k, x in (states or {}).items()}
    assert known.keys() <= scene.states.keys()
    return system.solved(replace(scene, states={**scene.states, **known}))
