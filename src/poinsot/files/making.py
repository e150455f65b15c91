"""Bodies from the tables of a scenario."""

from collections.abc import Callable
from typing import Any

import numpy as np

from poinsot._types import Array
from poinsot.files.kinds import shapes
from poinsot.files.mjcf import load_mjcf
from poinsot.files.readers import Table
from poinsot.files.urdf import load_urdf
from poinsot.mechanism import Joint
from poinsot.mechanism.joints import TYPES
from poinsot.particles import Particles, Springs
from poinsot.parts import Beam
from poinsot.spatial import Inertia, Pose, quaternion, rotation
from poinsot.spatial.mesh import Mesh, as_mesh
from poinsot.world import World


def orientation_of(table: Table | None) -> Array | None:
    """A unit quaternion wxyz from a table `Orientation`."""
    if table is None:
        return None
    given = table.given()
    angles = [given.pop(name, None) for name in ("roll", "pitch", "yaw")]
    ways = [
        bool(given.get("wxyz") is not None),
        any(x is not None for x in angles),
        "axis" in given or "angle" in given,
    ]
    if sum(ways) != 1:
        raise ValueError("orientation: give wxyz, or some of roll, pitch and yaw, or axis and angle")
    if ways[0]:
        return given["wxyz"]
    if ways[1]:
        return Pose.from_euler([x or 0.0 for x in angles]).quaternion()
    if set(given) != {"axis", "angle"} or not np.any(given["axis"]):
        raise ValueError("orientation: give an axis, which is not zero, and an angle")
    n = given["axis"] / np.linalg.norm(given["axis"])
    return quaternion.from_matrix(rotation.exp(given["angle"] * n))


def pose_of(table: Table | None) -> Pose:
    """A pose from a table `Placement`."""
    given = {} if table is None else table.given()
    q, p = orientation_of(given.get("orientation")), given.get("position", np.zeros(3))
    return Pose(p=p) if q is None else Pose.from_quaternion(q, p)


def shape_of(table: Table) -> Inertia:
    """The mass properties of one shape, in the body's frame."""
    given = table.given()
    kind = given.pop("kind")
    if kind == "points":
        return Inertia.points(**given)
    mass, density, position = given.pop("mass", None), given.pop("density", None), given.pop("position", np.zeros(3))
    turn, axis = orientation_of(given.pop("orientation", None)), given.pop("axis", None)
    if turn is not None and axis is not None:
        raise ValueError("give either orientation or axis, along which its z axis then lies")
    if (mass is None) == (density is None):
        raise ValueError("give either mass or density")
    if kind == "mesh":
        shape: Any = as_mesh(given["file"])
        shape = Mesh(given["scale"] * shape.vertices, shape.faces) if "scale" in given else shape
    else:
        shape = shapes()[kind](**given)
    R = _along(axis) if axis is not None else np.eye(3) if turn is None else Pose.from_quaternion(turn).R
    return Pose(R, position) @ Inertia.of(shape, mass, density)


def _along(axis: Array) -> Array:
    """The shortest rotation that takes z to this axis."""
    length = np.linalg.norm(axis)
    if not length > 0:
        raise ValueError("axis must not be zero")
    return rotation.exp(rotation.from_z_to(axis / length))


def mass_of(table: Table) -> Inertia:
    """Mass properties from their table."""
    own = table.given()
    moment = np.asarray(own.get("moment", np.zeros((3, 3))))
    if moment.shape not in ((3,), (3, 3)):
        raise ValueError("moment: expected three numbers [kg m^2] along the axes, or a 3 x 3 matrix")
    return Inertia(own["mass"], own.get("com", np.zeros(3)), np.diag(moment) if moment.ndim == 1 else moment)


def joint_of(table: Table | None) -> Joint | None:
    """A joint from its table."""
    if table is None:
        return None
    given = table.given()
    return TYPES[given.pop("kind")].make(**given)


def body_of(world: World, table: Table, inertia: Inertia | None, joint: Joint | None) -> None:
    """Put a body of this mass, on this joint, into a world."""
    given = table.given()
    if given.get("origin") == "com":
        if inertia is None:
            raise ValueError('origin = "com": the body has no mass')
        inertia = Pose(p=-inertia.com) @ inertia
    start: dict[str, Any] = {
        key: given[key] for key in ("position", "velocity", "angular_velocity", "q", "v") if key in given
    }
    if "orientation" in given:
        start["orientation"] = orientation_of(given["orientation"])
    world.add_body(given["name"], inertia, given.get("parent"), joint, pose_of(given.get("placement")), **start)


def particles_of(world: World, table: Table) -> None:
    """Put point masses, and the springs between them, into a world."""
    given = table.given()
    positions = given["positions"]
    masses = np.ones(len(positions)) * given["masses"]
    net = given["springs"].given() if given.get("springs") is not None else None
    springs = None
    if net is not None:
        pairs = net["pairs"].astype(int)
        if not np.array_equal(pairs, net["pairs"]) or (
            pairs.size and not 0 <= pairs.min() <= pairs.max() < len(positions)
        ):
            raise ValueError(f"springs: expected pairs of whole numbers from 0 to {len(positions) - 1}")
        lengths = np.linalg.norm(positions[pairs[:, 1]] - positions[pairs[:, 0]], axis=1)
        numbers = (net["stiffness"], net.get("rest_length", lengths), net.get("damping", 0.0))
        springs = Springs(pairs, *(np.ones(len(pairs)) * x for x in numbers))
    world.add_particles(
        given["name"], Particles(masses, positions, given.get("velocities", np.zeros_like(positions))), springs
    )


def model_in(world: World, table: Table) -> None:
    """Put a robot from a file into a world."""
    given = table.given()
    if ("urdf" in given) == ("mjcf" in given):
        raise ValueError("give either urdf or mjcf")
    if "urdf" in given:
        mech = load_urdf(given["urdf"], floating=given.get("floating", False))
    else:
        mech = load_mjcf(given["mjcf"])
    options = {key: given[key] for key in ("q", "v", "prefix", "parent") if key in given}
    for key, n in (("q", mech.nq), ("v", mech.nv)):
        if key in options and n == 1:
            options[key] = np.reshape(options[key], (1,))
    world.add_mechanism(mech, placement=pose_of(given.get("placement")), **options)


def particle_of(world: World, table: Table) -> None:
    """Put a point mass into a world."""
    world.add_particle(**table.given())


def beam_of(world: World, table: Table) -> None:
    """Put a flexible beam into a world."""
    given = table.given()
    parent, placement = given.pop("parent", None), pose_of(given.pop("placement", None))
    world.add_beam(Beam(**given), parent, placement)


# What puts bodies into a world, beside `body_of`, by the names of their tables.
OTHERS: dict[str, Callable[[World, Table], None]] = {
    "particle": particle_of,
    "particles": particles_of,
    "model": model_in,
    "beam": beam_of,
}
