"""Every number of a description has a path: it can be read, written, left free, and differentiated."""

from typing import Any

import numpy as np
import pytest
from world_models import close, rod

import poinsot as pt
from poinsot.spatial import quaternion, rotation
from poinsot.world.flat_values import pack
from poinsot.world.system import System


def arm() -> pt.World:
    """Joints with springs and motors, springs between bodies, forces."""
    world = pt.World()
    world.add_body("box", pt.Inertia.box(2.0, (0.1, 0.2, 0.3)), position=(0.5, 0.2, 1.0), angular_velocity=(1, 2, -1))
    world.add_body("arm", rod(1.0, 0.5), joint=pt.universal((1, 0, 0), (0, 1, 0)), placement=(0, 0, 2), q=(0.3, -0.2))
    wrist = pt.revolute((1, 0, 0), damping=0.02, stiffness=0.5, rest=0.1, armature=0.01)
    world.add_body("hand", rod(0.4, 0.3), "arm", wrist, (0, 0, -0.5), v=1.0)
    world.add_particle("bead", 0.2, (1, 0, 1), (0, 0, 1))
    world.add_spring("line", "hand", "box", 30.0, 0.4, 0.1, point_a=(0, 0, -0.3), point_b=(0.05, 0.1, 0.15))
    world.add_spring("wall", "world", "bead", 15.0, 0.5, 0.02, point_a=(2.0, 0, 2.0))
    world.add_force("push", "box", (1.0, 2.0, 3.0), point=(0.1, 0, 0))
    world.add_torque("twist", "hand", (0.1, 0.2, 0.3), axes="body")
    world.add_motor("motor", "hand", 0.3, limit=0.2)
    world.add_feedback("servo", "arm", (2.0, 3.0), 0.1, target=(0.1, 0.2))
    return world


def ground() -> pt.World:
    """Contact, the other joints, stops."""
    world = pt.World()
    world.add_body("ball", pt.Inertia.sphere(0.3, 0.1), position=(0.1, 0.2, 0.095), velocity=(0.1, 0, 0))
    cup = pt.Pose(p=(0, 0, 0.2)) @ pt.Inertia.cylinder(0.3, 0.1, 0.2)
    world.add_body("cup", cup, "ball", pt.spherical(damping=0.1), angular_velocity=(1, 2, 3))
    tray = pt.Inertia.box(0.3, (0.1, 0.2, 0.01)) + pt.Inertia.sphere(0.1, 0.02)
    world.add_body("tray", tray, joint=pt.planar((0, 0, 1)), v=(1, 2, 3))
    turn = pt.helical((0, 0, 1), 0.01, lower=-1.0)
    world.add_body("screw", pt.Inertia.cylinder(0.2, 0.02, 0.1), joint=turn, q=-1.2)
    world.add_contact("skin", "ball", (0, 0, 0), radius=0.1, stiffness=1e3, damping=0.3)
    world.add_contact("tyre", "cup", ((0, 0, 0.0), (0, 0, 0.1)), radius=0.2, axis=(0, 1, 0), normal=(0.1, 0, 1.0))
    world.add_joint_stop("bumper", "screw", 50.0, damping=0.2)
    return world


def orbit() -> pt.World:
    world = pt.World(gravity=pt.CentralGravity(mu=3.0, centre=(0.1, 0, 0)))
    world.add_body("hub", pt.Inertia.box(2.0, (0.1, 0.2, 0.3)), position=(1.5, 0, 0), velocity=(0, 1.2, 0.3))
    world.add_body("boom", rod(0.5, 0.6), "hub", pt.universal((1, 0, 0), (0, 1, 0)), (0, 0, -0.15), q=(0.3, 0.1))
    return world


WORLDS = {"arm": arm(), "ground": ground(), "orbit": orbit()}
PATHS = [(name, path) for name, world in WORLDS.items() for path in world.paths()]


def changed(path: str, value: np.ndarray) -> np.ndarray:
    """Another value that is as good as the old one."""
    if path.endswith("moment"):
        return 1.25 * value
    if path.endswith("orientation"):
        return quaternion.product(value, quaternion.exp(np.array([0.1, 0.2, -0.1])))
    if path.endswith("joint.axes"):
        return value @ rotation.exp(np.array([0.1, 0.2, -0.1]))
    return 1.25 * value + np.where(value == 0, 0.01, 0.0)


def everything(system: System, parameters: Any = None) -> np.ndarray:
    """The start and its rate in one array: all that a number can change."""
    start = system.start(parameters)
    rate = system.derivative(0.0, start, parameters)
    return pack({"q": start.q, "v": start.v, "qdot": rate.q, "vdot": rate.v})


def test_there_are_paths_to_all_kinds_of_numbers():
    paths = {path for _, path in PATHS}
    assert {
        "box.mass", "box.size", "box.com", "box.moment", "box.position", "box.orientation", "box.angular_velocity",
        "hand.joint.stiffness", "hand.placement.p", "hand.v", "wall.stiffness", "line.point_a", "gravity",
        "skin.radius", "push.value", "motor.limit", "servo.kp", "screw.joint.pitch", "screw.joint.lower",
        "bumper.stiffness", "bead.mass", "cup.angular_velocity", "tray.mass", "gravity.mu", "gravity.centre",
    } <= paths  # fmt: skip
    assert not any(path.endswith("joint.upper") for path in paths)  # infinite: nothing to vary


@pytest.mark.parametrize(("name", "path"), PATHS)
def test_every_path_can_be_read_written_and_left_free(name, path):
    """A free number gives what the world with that number written into it gives; traced as well as plain."""
    world = pt.World.of(WORLDS[name].description)
    old = world[path]
    new = changed(path, old)
    system = world.system((path,))
    close(everything(system, {path: old}), everything(world.system()), 1e-13)
    world[path] = new
    close(world[path], new, 1e-15)
    close(everything(system, {path: new}), everything(world.system()), 1e-13)


@pytest.mark.parametrize("name", WORLDS)
def test_all_paths_at_once_in_a_kernel(name):
    """Compiled with every number free, the equations give what the plain ones give with other numbers."""
    world = pt.World.of(WORLDS[name].description)
    paths = [path for path in world.paths() if not path.endswith(".moment")]  # which would take the place of shapes
    system = world.system(tuple(paths))
    numbers = {path: changed(path, world[path]) for path in paths}
    sizes = np.cumsum([np.size(value) for value in numbers.values()])

    @pt.kernel(f"({sizes[-1]})->({2 * (system.nq + system.nv)})")
    def compiled(p):
        parts = np.split(p, sizes[:-1])
        shaped = {path: np.reshape(part, np.shape(numbers[path])) for path, part in zip(paths, parts, strict=True)}
        return everything(system, shaped)

    traced = compiled(pack(numbers))
    for path, value in numbers.items():
        world[path] = value
    close(traced, everything(world.system()), 1e-11)


def test_derivatives_with_respect_to_free_numbers():
    """d(acceleration)/d(number) through the compiler against differences of fourth order."""
    world = arm()
    paths = ("box.mass", "box.size", "arm.com", "line.stiffness", "line.point_b", "hand.joint.damping", "gravity")
    system = world.system(paths)
    shapes = {path: np.shape(world[path]) for path in paths}
    p = pack({path: world[path] for path in paths})

    def acceleration(p):
        numbers, start = {}, 0
        for path, shape in shapes.items():
            size = int(np.prod(shape))
            numbers[path] = np.reshape(p[start : start + size], shape)
            start += size
        return system.derivative(0.0, system.start(numbers), numbers).v

    J = pt.jacobian(pt.kernel(f"({p.size})->({system.nv})")(acceleration))(p)
    for k in range(p.size):
        h = 3e-3 * max(0.1, abs(p[k]))
        at = [acceleration(p + n * h * np.eye(p.size)[k]) for n in (-2, -1, 1, 2)]
        close(J[:, k], (at[0] - 8 * at[1] + 8 * at[2] - at[3]) / (12 * h), 1e-7)  # what the differences leave


def test_short_paths_are_the_long_ones():
    for name, short, long in (
        ("arm", "box.mass", "box.inertia.mass"),
        ("arm", "hand.damping", "hand.joint.damping"),
        ("ground", "ball.radius", "ball.inertia.solids[0].shape.radius"),
    ):
        np.testing.assert_array_equal(WORLDS[name][short], WORLDS[name][long])


def test_axes_are_made_of_length_one():
    world = ground()
    before = everything(world.system())
    world["screw.joint.axes"] = [(0, 0, 2.0)]
    world["tray.joint.axes"] = 3 * world["tray.joint.axes"]
    close(everything(world.system()), before, 1e-14)


def test_a_shape_is_made_again():
    """A heavier box has larger moments; a wider one, too; the drawing follows."""
    world = pt.World()
    world.add_body("box", pt.Pose(p=(1, 0, 0)) @ pt.Inertia.box(2.0, (0.1, 0.2, 0.3)))
    world["box.mass"], world["box.size"] = 4.0, (0.3, 0.2, 0.1)
    expected = pt.Pose(p=(1, 0, 0)) @ pt.Inertia.box(4.0, (0.3, 0.2, 0.1))
    inertia = world.description.bodies["box"].inertia
    close(inertia.spatial(), expected.spatial(), 1e-15)
    np.testing.assert_array_equal(inertia.solids[0].shape.size, (0.3, 0.2, 0.1))
    world["box.position[2]"] = 7.0
    np.testing.assert_array_equal(world["box.position"], (0, 0, 7.0))
