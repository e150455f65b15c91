"""Random worlds of all kinds, each put up anywhere: the same draws give the same world, turned and moved by a pose X.

Whatever is fixed in space (gravity, ground, places, velocities, forces in world axes) is drawn in axes of its own, and
X takes it to those of the world; whatever is fixed in a body stays. So two worlds that differ in X alone move alike.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

import poinsot as pt
from poinsot.spatial import quaternion, shapes

Rng = np.random.Generator
Array = np.ndarray
METHODS = (
    "rk4", "midpoint", "semi-implicit euler", "euler", "adaptive", "adaptive5", "taylor", "rosenbrock", "rosenbrock2",
    "implicit midpoint", "implicit", "splitting", "splitting4", "poinsot4",
)  # fmt: skip
H = 4e-3  # s: the step, of which samples are whole multiples


@dataclass(eq=False)
class Scenery:
    """A world that is being drawn, in axes that X (a pose) takes to those of the world.

    `is_smooth`: nothing sets in with a corner between two steps. `found_to`: how exactly it is found where shapes meet,
    if by iterations. `listed`: whether touches are in lists, if that is left open. `has_knots`: of a table, at the ends
    of steps of the usual length. `method`: by which it is stepped, by default the usual one.
    """

    rng: Rng
    X: pt.Pose = field(default_factory=pt.Pose)
    world: pt.World = field(default_factory=pt.World)
    names: list[str] = field(default_factory=list)
    is_smooth: bool = True
    has_knots: bool = False
    found_to: float = 0.0
    listed: bool | None = None
    method: str | None = None
    step: float = H

    def happens(self, probability: float) -> bool:
        return bool(self.rng.random() < probability)

    def choice(self, of: Sequence[Any]) -> Any:
        return of[self.rng.integers(len(of))]

    def vector(self, size: float = 1.0) -> Array:
        return size * self.rng.standard_normal(3)

    def unit(self, n: int = 3) -> Array:
        x = self.rng.standard_normal(n)
        return x / np.linalg.norm(x)

    def turned(self, x: Array) -> Array:
        """A vector in the axes of the world."""
        return self.X.R @ x

    def inertia(self) -> pt.Inertia:
        return pt.Inertia.points(self.rng.uniform(0.2, 1.0, 6), self.rng.uniform(-0.4, 0.4, (6, 3)))

    def add_free(self, name: str, inertia: pt.Inertia, position: Array, size: float = 1.0, **more: Any) -> None:
        """A free body at a place, moving and turning somehow."""
        attitude = quaternion.product(self.X.quaternion(), self.unit(4))
        v, w = self.turned(self.vector(size)), self.vector(size)
        start = {"position": self.X @ position, "orientation": attitude, "velocity": v, "angular_velocity": w}
        self.world.add_body(name, inertia, **start, **more)
        self.names.append(name)

    def add_jointed(self, name: str, inertia: pt.Inertia, joint: pt.Joint, parent: str | None, **more: Any) -> None:
        place = pt.Pose.exp(self.rng.uniform(-0.5, 0.5, 6))
        self.world.add_body(name, inertia, parent, joint, place if parent else self.X @ place, **more)
        self.names.append(name)

    def hinged(self) -> list[str]:
        """The bodies on joints of one degree of freedom."""
        bodies = self.world.description.bodies
        return [name for name in self.names if bodies[name].hinge.nv == 1]

    def loose(self) -> list[str]:
        """The bodies that float."""
        return [name for name in self.names if self.world.description.bodies[name].hinge.type.is_free]


def random_joint(s: Scenery) -> pt.Joint:
    low, high = s.rng.uniform(0, 3), s.rng.uniform(0, 0.2)
    kinds: tuple[Callable[[], pt.Joint], ...] = (
        lambda: pt.revolute(s.unit(), stiffness=low, damping=high),
        lambda: pt.revolute(s.unit(), armature=high),
        lambda: pt.prismatic(s.unit(), stiffness=1.0 + low, damping=high),
        lambda: pt.helical(s.unit(), s.rng.uniform(-0.2, 0.2), stiffness=1.0),
        lambda: pt.cylindrical(s.unit(), stiffness=2.0, damping=0.1),
        lambda: pt.universal(*np.linalg.qr(s.rng.standard_normal((3, 3)))[0][:2], stiffness=3.0),
        lambda: pt.planar(s.unit(), stiffness=2.0),
        lambda: pt.spherical(stiffness=1.0, damping=0.1),
        lambda: pt.translation(stiffness=4.0),
        lambda: pt.free(),
    )
    return s.choice(kinds)()


# What moves in the air.


def aloft(rng: Rng, X: pt.Pose, listed: bool | None = None) -> Scenery:
    """Bodies, free or on joints, with parts on them, springs and forces between them, laws that act on them."""
    s = Scenery(rng, X)
    if s.happens(0.3):
        s.world = pt.World(gravity=pt.CentralGravity(mu=20.0, centre=X @ np.array([0, 0, -9.0])))
    else:
        s.world = pt.World(gravity=s.turned(s.vector(5.0)))
    for k in range(s.choice((1, 1, 2, 2, 3, 4))):
        parent = s.choice(s.names) if s.names and s.happens(0.6) else None
        if parent is None and s.happens(0.6):
            s.add_free(f"body{k}", s.inertia(), s.vector())
        else:
            s.add_jointed(f"body{k}", s.inertia(), random_joint(s), parent)
    if s.happens(0.15):
        beam = pt.Beam(
            "beam", 1.0, EI=s.rng.uniform(2, 20), mass_per_length=0.5, n=2, GJ=s.rng.uniform(2, 20), polar=0.01
        )
        parent = s.choice([None, *s.names])
        place = pt.Pose.exp(s.rng.uniform(-0.5, 0.5, 6))
        s.names += map(str, s.world.add_beam(beam, parent, place if parent else X @ place))
    if s.happens(0.3):
        add_tanks(s)
    for k, name in enumerate(s.names):
        if s.happens(0.3):
            torque = s.choice([None, 0.3])
            s.world.add(
                pt.Rotor(
                    f"rotor{k}", axis=s.unit(), inertia=0.002, speed=s.rng.uniform(-50, 50), torque=torque, body=name
                )
            )
    add_springs(s, 4)
    add_tendons(s)
    add_forces(s)
    if s.happens(0.4):
        add_laws(s)
    if s.happens(0.3):
        add_events(s)
    s.method = s.choice(("rk4", "rk4", *METHODS))
    return s


def add_springs(s: Scenery, most: int) -> None:
    ends = [*s.names, "world"]
    for k in range(int(s.rng.integers(0, most))):
        a, b = (str(name) for name in s.rng.choice(ends, 2, replace=False))
        at = {"point_a": 0.3 * s.unit(), "point_b": 0.3 * s.unit()}
        at |= {point: s.X @ at[point] for point, end in (("point_a", a), ("point_b", b)) if end == "world"}
        s.world.add_spring(f"spring{k}", a, b, *s.rng.uniform((1, 0, 0), (20, 1, 0.5)), **at)


def add_tendons(s: Scenery) -> None:
    """What acts along a sum of joint coordinates: springs with dry friction, stops, motors."""
    over = tuple(s.hinged()[:3])
    if not over or s.happens(0.7):
        return
    path = {"over": over, "coefficients": tuple(s.rng.uniform(-2.0, 2.0, len(over)))}
    rest, friction = s.choice([0.1, (-0.05, 0.1)]), s.choice([0.0, 0.05])
    s.is_smooth &= rest == 0.1 and friction == 0.0
    s.world.add(pt.Tendon("tendon", **path, stiffness=5.0, damping=0.2, rest_length=rest, friction=friction))
    if s.happens(0.3):
        s.world.add(pt.TendonStop("end", **path, stiffness=100.0, lower=-0.2, upper=0.2))
        s.is_smooth = False
    if s.happens(0.3):
        s.world.add(pt.TendonMotor("winch", **path, value=0.3, kp=2.0, kd=0.1))


def add_forces(s: Scenery) -> None:
    if s.happens(0.5):
        axes, force = s.choice(["world", "body"]), s.vector()
        s.world.add_force(
            "force", s.names[0], s.turned(force) if axes == "world" else force, point=s.vector(), axes=axes
        )
    if s.happens(0.3):
        s.world.add_force("drag", s.names[-1], lambda t, scene, n=s.names[-1]: -0.1 * scene[n].velocity)
    if s.happens(0.2):
        s.has_knots = True
        table = pt.Tabulated(np.linspace(0.0, 0.4, 6), s.rng.standard_normal((6, 3)))
        s.world.add_torque("twist", s.choice(s.names), table, axes="body")


def add_tanks(s: Scenery) -> None:
    """Two tanks, what flows between them and out, a jet."""
    a, b = s.choice(s.names), s.choice(s.names)
    kinds = ({}, {"size": (0.3, 0.2, 0.3)}, {"radius": 0.1, "height": 0.4}, {"radius": 0.15})
    for name, body in (("full", a), ("empty", b)):
        kind = s.choice(kinds)
        settles = bool(set(kind) & {"size", "height"}) and s.happens(0.5)
        contents = s.rng.uniform(1.0, 3.0) if name == "full" else s.rng.uniform(0.1, 0.5)
        s.world.add(
            pt.Tank(name, body=body, capacity=4.0, contents=contents, position=s.vector(0.3), settles=settles, **kind)
        )
    flows = (
        lambda: pt.Flow("pump", a, source="full", to="empty", rate=s.rng.uniform(0.1, 2.0)),
        lambda: pt.Flow("leak", a, source="full", proportion=0.5, velocity=s.vector()),
        lambda: pt.Flow("filling", b, to="empty", rate=1.0, point=s.vector(0.3), velocity=s.vector()),
        lambda: pt.Thruster(
            "jet", a, tank="full", thrust=30.0, exhaust_speed=50.0, direction=s.unit(), point=s.vector()
        ),
    )
    for k in set(s.rng.integers(len(flows), size=2).tolist()):
        s.world.add(flows[k]())


def law(t: Any, w: Any, sum: Any) -> Any:
    return {"torque": -0.2 * w - 0.1 * sum}, {"sum": 0.9 * sum + 0.1 * w}


def smooth_law(t: Any, w: Any, sum: Any) -> Any:
    return {"torque": -0.2 * w - 0.1 * sum}, {"sum": w - sum}


def add_laws(s: Scenery) -> None:
    """A gyro with noise and a law, sampled or not; a servo in a hinge."""
    body, is_sampled = s.choice(s.names), s.happens(0.5)
    sample = {"sample": 2 * H, "delay": s.choice([0.0, H])} if is_sampled else {}
    noise = {"sample": H, "noise": 1e-3} if is_sampled else {}
    s.world.add(pt.Sensor("gyro", "gyro", body, mounting=s.unit(4), bias=0.01, **noise))
    memory = {"outputs": {"torque": np.zeros(3)}, "states": {"sum": np.zeros(3)}}
    s.world.add(pt.Controller("law", law if is_sampled else smooth_law, {"w": "gyro.out"}, **memory, **sample))
    s.world.add_torque("steering", body, pt.Signal("law.torque"), axes="body")
    if s.hinged() and s.happens(0.7):
        joint = s.choice(s.hinged())
        s.world.add(pt.Actuator("servo", f"{joint}.q[0]", lag=0.05))
        s.world.add_motor("motor", joint, lambda t, scene: -1.0 * scene.signal("servo.out"))


def add_events(s: Scenery) -> None:
    """A push that begins at an instant; a joint that lets go, at a time or under its load."""
    s.world.add_input("push")
    at, body, e = s.rng.uniform(0.01, 0.07), s.choice(s.names), s.unit()
    s.world.add_force("pushing", body, lambda t, scene: e * scene.signal("push"), axes="body")
    s.world.add(pt.When("begin", lambda t, scene: t - at, then={"push": 3.0}))
    parted = [name for name in s.names if not s.world.description.bodies[name].hinge.type.is_free]
    if not parted or s.happens(0.5):
        return
    body = s.choice(parted)
    if s.happens(0.5):
        release = pt.Release(body, stiffness=s.choice([0.0, 50.0]), stroke=0.05)
        s.world.add(pt.When("apart", lambda t, scene: t - 0.8 * at, release))
    else:
        s.world.add(pt.Cut("cut", body=body, at=s.vector(0.1), axis=s.unit()))
        strength = {"axial": 5.0, "bending": 5.0, "combined": s.happens(0.5)}
        s.world.add(pt.Limit("limit", body=body, cut="cut", then="part", **strength))
        s.is_smooth = False


# What closes loops.


def linked(rng: Rng, X: pt.Pose, listed: bool | None = None) -> Scenery:
    """A four-bar linkage, a rod, a coupling or a driven joint, on the world or on a body that floats."""
    s = Scenery(rng, X, pt.World(gravity=X.R @ (5.0 * rng.standard_normal(3))))
    base, root = None, X @ pt.Pose.exp(rng.uniform(-0.5, 0.5, 6))
    if s.happens(0.4):
        s.add_free("base", pt.Inertia.box(3.0, (1.0, 0.5, 0.5)), s.vector())
        base, root = "base", pt.Pose.exp(rng.uniform(-0.3, 0.3, 6))
    z, damping = (0.0, 0.0, 1.0), s.rng.uniform(0, 0.05)
    lengths = s.rng.uniform(0.8, 1.2, 3)
    sway = s.rng.uniform(-0.5, 0.5)
    parent, turned = base, (np.pi / 2 + sway, -np.pi / 2, -np.pi / 2)
    for k in range(3):
        place = pt.Pose(p=(lengths[k - 1], 0, 0)) if k else root
        v = {"v": [s.rng.uniform(-2, 2)]} if k == 0 else {}
        bar = pt.Inertia.points(s.rng.uniform(0.2, 1.0, 4), s.rng.uniform((0, -0.1, -0.1), (1, 0.1, 0.1), (4, 3)))
        s.world.add_body(f"bar{k}", bar, parent, pt.revolute(z, damping=damping), place, q=[turned[k]], **v)
        s.names.append(f"bar{k}")
        parent = f"bar{k}"
    tip = (lengths[2], 0, 0)
    A = root @ pt.Pose(p=(1.0, 0, 0))
    kind = s.choice(["revolute", "on_line", "spherical", "distance", "coupling", "driven", "on_plane"])
    if kind == "distance":
        s.world.close("rod", base or "world", "bar2", pt.distance(0.7), A, tip)
    elif kind == "coupling":
        s.world.close("gears", "bar0", "bar1", pt.coupling(s.rng.uniform(-2, 2), s.rng.uniform(-0.5, 0.5)))
    elif kind == "driven":
        s.world.drive("bar0", driving)
    else:
        relation = {"revolute": pt.revolute(z), "on_line": pt.on_line(z), "spherical": pt.spherical()}
        s.world.close("pin", base or "world", "bar2", relation.get(kind) or pt.on_plane((0.6, 0.8, 0.0)), A, tip)
    if s.happens(0.5):
        s.add_jointed("more", s.inertia(), random_joint(s), s.choice(s.names))
    add_springs(s, 3)
    add_tendons(s)
    add_forces(s)
    if s.happens(0.2):
        add_laws(s)
    if s.happens(0.2):
        s.world.add(pt.When("snap", lambda t, scene: t - 0.035, release=next(iter(s.world.system().loops))))
    s.method = s.choice(
        ["rk4", "rk4", "midpoint", "adaptive", "implicit", "semi-implicit euler", "implicit midpoint", "rosenbrock"]
    )
    return s


def driving(t: Any) -> Any:
    return np.pi / 2 + 0.3 * np.sin(3.0 * t)


# What touches.


def solid(s: Scenery, size: float) -> pt.Inertia:
    kinds = (
        lambda: pt.Inertia.sphere(1.0, size),
        lambda: pt.Inertia.capsule(1.0, 0.6 * size, 1.5 * size),
        lambda: pt.Inertia.box(1.0, size * s.rng.uniform(1.0, 2.0, 3)),
        lambda: pt.Inertia.cylinder(1.0, 0.8 * size, 1.5 * size),
    )
    return s.choice(kinds)()


def material(s: Scenery) -> pt.Material:
    torsion, rolling = s.choice([0.0, 0.01]), s.choice([0.0, 0.01])
    return pt.Material(s.rng.uniform(2e3, 2e4), s.rng.uniform(0, 1), s.choice([0.0, 0.3, 0.9]), torsion, rolling)


def wide(s: Scenery, body: pt.Inertia) -> dict[str, Any]:
    """Sometimes, a body touches from some way outside its shapes on, with a surface of its own."""
    if s.happens(0.7):
        return {}
    law = material(s) if s.happens(0.5) else None
    return {"shapes": [pt.Collider(part.shape, part.pose, law, margin=0.02) for part in body.solids]}


def touching(rng: Rng, X: pt.Pose, listed: bool | None = None) -> Scenery:
    """Bodies of all shapes that fall on the ground and on each other, some on joints, pair by pair or in lists."""
    s = Scenery(rng, X, pt.World(gravity=X.R @ np.array([*rng.normal(0, 0.5, 2), -9.81])), step=H / 2)
    drawn_list = s.happens(0.5)
    s.listed = drawn_list if listed is None else listed
    ground = s.choice(["plane", "plane", "distance", None])
    with_ground = s.happens(0.4)
    room = {"capacity": 200} if s.listed and with_ground else {}
    law = material(s)
    if ground == "plane":
        n = X.R @ np.array([0, 0, 1.0])
        s.world.add_ground(surface=law, normal=n, height=float(n @ X.p), **room)
    elif ground == "distance":
        back, hill = X.inverse(), s.rng.uniform(-0.2, 0.2, 2)
        s.world.add_ground(surface=law, distance=lambda p: hills(back, hill, p), **room)
    size, count = 0.15, s.choice((1, 2, 2, 3))
    for k in range(count):
        place = np.array([*s.rng.uniform(-0.2, 0.2, 2), 0.15 + 0.25 * k + s.rng.uniform(-0.05, 0.05)])
        body = solid(s, size)
        s.add_free(f"body{k}", body, place, size=1.0, **wide(s, body))
    if s.happens(0.4):
        s.add_jointed("arm", solid(s, size), s.choice(JOINTS)(s), s.choice([None, *s.names]))
        if s.hinged() and s.happens(0.5):
            s.world.add_joint_stop("stop", "arm", 100.0, lower=-0.1, upper=0.1)
    if count > 1 or "arm" in s.names:
        pairs(s)
    add_springs(s, 2)
    if s.happens(0.2):
        s.world.add_force("force", s.names[0], s.vector(), point=s.vector(0.2), axes="body")
    s.method = s.choice(["implicit", "implicit", "implicit, one iteration"])
    s.is_smooth = False
    return s


JOINTS = (
    lambda s: pt.revolute(s.unit(), stiffness=20.0, damping=0.5),
    lambda s: pt.prismatic(s.unit(), stiffness=200.0, damping=1.0),
    lambda s: pt.spherical(damping=0.1),
)


def hills(back: pt.Pose, slope: Array, p: Any) -> Any:
    x = back @ p
    return x[2] - 0.05 * np.sin(3.0 * x[0]) - slope[0] * x[0] - slope[1] * x[1]


def pairs(s: Scenery) -> None:
    """Let them touch, with one material or that of each shape."""
    law = material(s) if s.happens(0.6) else None
    if meet_by_supports(s):
        s.found_to = 1e-9
    if s.listed:
        s.world.collide(s.names, surface=law, capacity=100)
    else:
        s.world.collide(s.names, surface=law)


def meet_by_supports(s: Scenery) -> bool:
    """Whether pairs are found by iterations: those of which one has a curved rim, and both have edges."""
    kinds = [type(part.shape) for body in s.world.description.bodies.values() for part in body.inertia.solids]
    return shapes.Cylinder in kinds and kinds.count(shapes.Cylinder) + kinds.count(shapes.Box) > 1


def heap(rng: Rng, X: pt.Pose, listed: bool | None = None) -> Scenery:
    """Many free bodies in lists."""
    s = Scenery(rng, X, pt.World(gravity=X.R @ np.array([0, 0, -9.81])), step=H / 2, listed=True)
    n, law = X.R @ np.array([0, 0, 1.0]), material(s)
    s.world.add_ground(surface=law, normal=n, height=float(n @ X.p), capacity=200)
    shape = s.choice([lambda: pt.Inertia.sphere(1.0, 0.1), lambda: solid(s, 0.1)])
    for k in range(16):
        place = np.array([0.25 * (k % 3), 0.25 * (k // 3 % 3), 0.12 + 0.25 * (k // 9)]) + s.rng.uniform(-0.04, 0.04, 3)
        s.add_free(f"body{k}", shape(), place)
    s.world.collide(capacity=200, surface=law)
    s.method, s.is_smooth = "implicit", False
    s.found_to = 1e-5  # where friction slides, is decided by guesses of that quality
    return s


KINDS: dict[str, Callable[..., Scenery]] = {"aloft": aloft, "linked": linked, "touching": touching, "heap": heap}
