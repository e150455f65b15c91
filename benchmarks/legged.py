"""Legged robots on the ground, as worlds and as MJCF text from the same numbers: a quadruped and a humanoid.

The quadruped has the size and mass of small robot dogs; only its feet touch. The humanoid is made of capsules and balls
with the density of water, in the proportions that MuJoCo's own humanoid made the custom. Both are made up here.
"""

from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np

import poinsot as pt

WATER = 1000.0  # kg/m^3


@dataclass(frozen=True)
class Hinge:
    """About an axis through the origin of its segment's frame; stops [rad], stiffness [N m/rad], damping, armature."""

    axis: tuple[float, float, float]
    lower: float
    upper: float
    stiffness: float = 0.0
    damping: float = 0.0
    armature: float = 0.0
    rest: float = 0.0


@dataclass(frozen=True)
class Capsule:
    """From a to b [m] with a radius [m], or a ball if a is b; mass [kg], by default that of water."""

    a: tuple[float, float, float]
    b: tuple[float, float, float]
    radius: float
    mass: float | None = None

    @property
    def ball(self) -> bool:
        return self.a == self.b

    def weight(self) -> float:
        length = float(np.linalg.norm(np.subtract(self.b, self.a)))
        volume = np.pi * self.radius**2 * (length + 4 / 3 * self.radius)
        return float(WATER * volume) if self.mass is None else self.mass

    def inertia(self) -> pt.Inertia:
        a, b = np.array(self.a), np.array(self.b)
        if self.ball:
            return pt.Pose(p=a) @ pt.Inertia.sphere(self.weight(), self.radius)
        z = (b - a) / np.linalg.norm(b - a)
        x = np.cross(np.eye(3)[np.argmin(np.abs(z))], z)
        x = x / np.linalg.norm(x)
        X = pt.Pose(np.stack([x, np.cross(z, x), z], axis=1), (a + b) / 2)
        return X @ pt.Inertia.capsule(self.weight(), self.radius, float(np.linalg.norm(b - a)))

    def mjcf(self) -> str:
        shape = (
            f'type="sphere" pos="{_words(self.a)}"'
            if self.ball
            else f'type="capsule" fromto="{_words(self.a + self.b)}"'
        )
        return f'<geom {shape} size="{self.radius}" mass="{self.weight()!r}"/>'


@dataclass(frozen=True)
class Segment:
    """A body at `place` in its parent's frame, free if it has none; with capsules that touch, or with mass alone:
    mass [kg], centre [m], principal moments [kg m^2]."""

    name: str
    parent: str
    place: tuple[float, float, float]
    hinges: tuple[Hinge, ...] = ()
    capsules: tuple[Capsule, ...] = ()
    bare: tuple[float, tuple[float, ...], tuple[float, ...]] | None = None

    def inertia(self) -> pt.Inertia:
        if self.bare is not None:
            mass, com, moments = self.bare
            return pt.Inertia(mass, com, np.diag(moments))
        parts = [capsule.inertia() for capsule in self.capsules]
        return sum(parts[1:], parts[0])


Robot = tuple[Segment, ...]


def _words(numbers: Any) -> str:
    return " ".join(repr(float(x)) for x in numbers)


@cache
def quadruped() -> Robot:
    """Twelve kilograms; hips, thighs and shins on motors."""
    robot = [Segment("trunk", "", (0, 0, 0.287), bare=(5.2, (0.01, 0.0, 0.0), (0.016, 0.037, 0.044)))]
    for leg, x, y in (("fr", 1, -1), ("fl", 1, 1), ("rr", -1, -1), ("rl", -1, 1)):
        motor = {"stiffness": 80.0, "damping": 2.0, "armature": 0.005}
        hip = Hinge((1, 0, 0), -0.86, 0.86, rest=0.0, **motor)
        thigh, shin = Hinge((0, 1, 0), -0.69, 4.5, rest=0.9, **motor), Hinge((0, 1, 0), -2.8, -0.89, rest=-1.8, **motor)
        robot += [
            Segment(
                f"{leg}-hip", "trunk", (0.188 * x, 0.047 * y, 0), (hip,), (), (0.59, (0, 0, 0), (4e-4, 6e-4, 5e-4))
            ),
            Segment(
                f"{leg}-thigh",
                f"{leg}-hip",
                (0, 0.08 * y, 0),
                (thigh,),
                (),
                (0.92, (0, -0.02 * y, -0.03), (6e-3, 6e-3, 1e-3)),
            ),
            Segment(
                f"{leg}-shin", f"{leg}-thigh", (0, 0, -0.213), (shin,), (), (0.13, (0, 0, -0.12), (1e-3, 1e-3, 3e-5))
            ),
            Segment(f"{leg}-foot", f"{leg}-shin", (0, 0, -0.213), (), (Capsule((0, 0, 0), (0, 0, 0), 0.023, 0.06),)),
        ]
    return tuple(robot)


@cache
def humanoid() -> Robot:
    """Forty kilograms of capsules and balls, 21 hinges."""
    X, Y, Z = (1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0)

    def hinge(axis: Any, lower: float, upper: float, stiffness: float, damping: float = 5.0) -> Hinge:
        return Hinge(axis, np.radians(lower), np.radians(upper), stiffness, damping, 0.01)

    def across(y: float, radius: float, x: float = 0.0, z: float = 0.0) -> Capsule:
        return Capsule((x, -y, z), (x, y, z), radius)

    body = (across(0.07, 0.07), Capsule((0, 0, 0.19), (0, 0, 0.19), 0.09), across(0.06, 0.06, -0.01, -0.12))
    robot = [
        Segment("torso", "", (0, 0, 1.285), (), body),
        Segment(
            "waist", "torso", (-0.01, 0, -0.26), (hinge(Z, -45, 45, 20), hinge(Y, -75, 30, 20)), (across(0.06, 0.06),)
        ),
        Segment("pelvis", "waist", (0, 0, -0.165), (hinge(X, -35, 35, 10),), (across(0.07, 0.09, -0.02),)),
    ]
    for side, y in (("right", -1), ("left", 1)):
        hip = (hinge((-y, 0, 0), -30, 10, 10), hinge((0, 0, -y), -60, 35, 10), hinge(Y, -110, 20, 20))
        thigh = Capsule((0, 0, 0), (0, -0.01 * y, -0.34), 0.06)
        shoulder = hinge((2, -y, 1), -85, 60, 1, 1.0), hinge((0, 1, y), -85, 60, 1, 1.0)
        ankle, elbow = (hinge(Y, -50, 50, 6), hinge((1, 0, 0.5 * y), -50, 50, 3)), hinge((0, -1, -y), -90, 50, 0, 1.0)
        shin, arm = Capsule((0, 0, 0), (0, 0, -0.3), 0.049), Capsule((0, 0, 0), (0.16, 0.16 * y, -0.16), 0.04)
        forearm = Capsule((0.01, -0.01 * y, 0.01), (0.17, -0.17 * y, 0.17), 0.031)
        hand = Capsule((0.18, -0.18 * y, 0.18), (0.18, -0.18 * y, 0.18), 0.04)
        sole = tuple(Capsule((-0.07, e, 0), (0.14, 2 * e, 0), 0.027) for e in (-0.015, 0.015))
        robot += [
            Segment(f"{side}-thigh", "pelvis", (0, 0.1 * y, -0.04), hip, (thigh,)),
            Segment(f"{side}-shin", f"{side}-thigh", (0, -0.01 * y, -0.403), (hinge((0, -1, 0), -160, 2, 1),), (shin,)),
            Segment(f"{side}-foot", f"{side}-shin", (0, 0, -0.39), ankle, sole),
            Segment(f"{side}-arm", "torso", (0, 0.17 * y, 0.06), shoulder, (arm,)),
            Segment(f"{side}-forearm", f"{side}-arm", (0.18, 0.18 * y, -0.18), (elbow,), (forearm, hand)),
        ]
    return tuple(robot)


STOPS = {"stiffness": 1e3, "damping": 1.0}


def world_of(robot: Robot, surface: pt.Material | None, stops: bool) -> pt.World:
    """The robot on the plane z = 0, or in the air if that has no surface; every hinge is a joint with a spring and
    damper of its own."""
    world = pt.World(gravity=(0, 0, -9.81))
    if surface is not None:
        world.add_ground(surface=surface)
    for segment in robot:
        if not segment.parent:
            world.add_body(segment.name, segment.inertia(), position=segment.place)
            continue
        parent, place, hinges = segment.parent, segment.place, segment.hinges or (None,)
        for k, hinge in enumerate(hinges):
            last = k == len(hinges) - 1
            name = segment.name if last else f"{segment.name}-{k}"
            joint = (
                pt.fixed() if hinge is None else pt.revolute(hinge.axis, damping=hinge.damping, armature=hinge.armature)
            )
            q = {} if hinge is None else {"q": hinge.rest}
            world.add_body(name, segment.inertia() if last else None, parent, joint, place, **q)
            if hinge is not None:
                world.add_feedback(f"{name}-spring", name, hinge.stiffness, 0.0, target=hinge.rest)
                if stops:
                    world.add_joint_stop(f"{name}-stop", name, lower=hinge.lower, upper=hinge.upper, **STOPS)
            parent, place = name, (0, 0, 0)
    return world


def hinge_names(robot: Robot) -> list[str]:
    """The bodies of `world_of` that hinges carry, in order."""
    names = []
    for segment in robot:
        count = len(segment.hinges)
        names += [segment.name if k == count - 1 else f"{segment.name}-{k}" for k in range(count)]
    return names


def mjcf_hinges(robot: Robot) -> list[int]:
    """The numbers, in the order of `hinge_names`, of the hinges in that of MJCF: down the tree, branch after branch."""
    number = {name: k for k, name in enumerate(hinge_names(robot))}

    def below(segment: Segment) -> list[int]:
        own = [f"{segment.name}-{k}" for k in range(len(segment.hinges) - 1)] + [segment.name] * bool(segment.hinges)
        children = (child for child in robot if child.parent == segment.name)
        return [number[name] for name in own] + [k for child in children for k in below(child)]

    return below(robot[0])


def mjcf_of(robot: Robot, step: float, friction: float, cone: str, self_collision: bool, stops: bool) -> str:
    """The same as MJCF; `stops`: whether joints are limited."""
    children: dict[str, list[Segment]] = {}
    for segment in robot:
        children.setdefault(segment.parent, []).append(segment)

    def body(segment: Segment) -> str:
        joints = "<freejoint/>" if not segment.parent else ""
        for h in segment.hinges:
            limits = f'limited="true" range="{_words((h.lower, h.upper))}"' if stops else 'limited="false"'
            joints += (
                f'<joint axis="{_words(h.axis)}" {limits} stiffness="{h.stiffness}" damping="{h.damping}" '
                f'armature="{h.armature}" springref="{h.rest}" ref="0"/>'
            )
        inner = "".join(map(body, children.get(segment.name, ())))
        if segment.bare is not None:
            mass, com, moments = segment.bare
            inner = f'<inertial mass="{mass}" pos="{_words(com)}" diaginertia="{_words(moments)}"/>' + inner
        geoms = "".join(capsule.mjcf() for capsule in segment.capsules)
        return f'<body name="{segment.name}" pos="{_words(segment.place)}">{joints}{geoms}{inner}</body>'

    contype = 'contype="1" conaffinity="1"' if self_collision else 'contype="1" conaffinity="0"'
    option = f'<option timestep="{step}" cone="{cone}" gravity="0 0 -9.81"/>'
    floor = '<geom type="plane" size="0 0 1" contype="0" conaffinity="1"/>'
    return (
        f'<mujoco><compiler angle="radian" autolimits="false"/>{option}'
        f'<default><geom {contype} condim="3" friction="{friction} 0 0"/></default>'
        f"<worldbody>{floor}{''.join(map(body, children['']))}</worldbody></mujoco>"
    )
