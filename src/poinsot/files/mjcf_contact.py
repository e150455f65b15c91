"""The geoms of an MJCF file as shapes that links touch others by, and what it says about their contacts.

MuJoCo's contacts are soft in proportion to the mass that they move: with the impedance d, the stiffness k [1/s^2] and
damping b [1/s] of its reference acceleration, a mass m rests on them as on a spring m d k/(1 - d) [N/m] with a damper
m d b/(1 - d) [N s/m] (MuJoCo documentation, Computation, "Solver parameters"). The law here is Hunt and Crossley's; it
gets that stiffness at the mass that a push at the body moves, and the damping that it has at rest under gravity.
"""

import os
import warnings
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from poinsot._types import Array
from poinsot.contact.colliders import Collider
from poinsot.contact.hulls import hull
from poinsot.contact.law import Material
from poinsot.files._reading import inside
from poinsot.files.mujoco_warnings import mujoco_module, mujoco_warnings
from poinsot.mechanism.equipment import Scenery
from poinsot.spatial import Pose, shapes

G = 9.81  # m/s^2, at which the damping is compared
SOLREF, SOLIMP = (0.02, 1.0), (0.9, 0.95, 0.001, 0.5, 2.0)  # MuJoCo's, where a file says nothing
RIGID = 1e9  # how many times stiffer what does not move is than what touches it
IMPEDANCES = 1e-4, 0.9999  # the least and the greatest, as in MuJoCo
TINY = 1e-15  # m
HALVINGS = 200  # of a depth: to rounding, from any size
LARGEST = 100.0  # s/m: a damping that lets nothing bounce


def compiled(path: str) -> tuple[Any, Any]:
    """MuJoCo and its model of a file, meshes included."""
    mujoco = mujoco_module()
    try:
        with mujoco_warnings(mujoco, path):
            spec = mujoco.MjSpec.from_file(os.fspath(path))
            spec.compiler.fusestatic = False
            return mujoco, spec.compile()
    except ValueError as error:
        raise ValueError(f"{path}: its shapes cannot be read: {error}") from error


def mjcf_shapes(path: str, names: list[str]) -> dict[str, tuple[Collider, ...]]:
    """The geoms of all bodies but the world that may touch anything, by the names of links."""
    mujoco, model = compiled(path)
    found, left_out = _colliders(mujoco, model, path, names)
    notes = _notes(model, [c for some in found.values() for c in some])
    if left_out:
        left = f"planes, height fields, signed distances and geoms of the world are left out: {', '.join(left_out)}"
        notes.append(f"{left} (world.add_ground() is a plane; scenery=True of add_mechanism takes planes and solids)")
    _warn(path, notes)
    return found


def mjcf_scenery(path: str, names: list[str]) -> Scenery:
    """The same, with the planes of bodies that do not move, and the geoms of the world."""
    mujoco, model = compiled(path)
    found, left_out = _colliders(mujoco, model, path, names)
    data = mujoco.MjData(model)
    mujoco.mj_kinematics(model, data)
    mass = max(float(np.sum(model.body_mass[model.body_weldid != 0])), 1e-300)
    planes, solids = [], []
    for g in left_out.values():
        where, b = f"{path}: {_called(model, g)}", int(model.geom_bodyid[g])
        with inside(where):
            shape = _shape(mujoco, model, g)
            X = Pose(data.geom_xmat[g].reshape(3, 3), data.geom_xpos[g])
            if shape is not None and b == 0:
                solids.append(replace(_collider(model, g, shape, mass), pose=X))
            elif int(model.geom_type[g]) == int(mujoco.mjtGeom.mjGEOM_PLANE) and model.body_weldid[b] == 0:
                planes.append((_called(model, g), X, _collider(model, g, shapes.Sphere(1.0), mass)))
            else:
                continue
        left_out = {name: k for name, k in left_out.items() if k != g}
    notes = _notes(model, [c for some in found.values() for c in some])
    if left_out:
        notes.append(f"height fields, signed distances and planes that move are left out: {', '.join(left_out)}")
    pairs = sum(0 in model.geom_bodyid[[model.pair_geom1[k], model.pair_geom2[k]]] for k in range(model.npair))
    if pairs:
        notes.append(f"{pairs} pairs with geoms of the world touch as these geoms do")
    _warn(path, notes)
    ends = [(int(s) >> 16, int(s) & 0xFFFF) for s in model.exclude_signature]
    return Scenery(found, tuple(planes), tuple(solids), tuple(names[max(pair)] for pair in ends if 0 in pair))


def _colliders(
    mujoco: Any, model: Any, path: str, names: list[str]
) -> tuple[dict[str, tuple[Collider, ...]], dict[str, int]]:
    """The shapes of bodies, by the names of links; and the names and numbers of the other geoms that may touch."""
    found: dict[str, list[Collider]] = {name: [] for name in names[1:]}
    left_out: dict[str, int] = {}
    for g in range(model.ngeom):
        b = int(model.geom_bodyid[g])
        touches = model.geom_contype[g] or model.geom_conaffinity[g]
        called = _called(model, g)
        with inside(f"{path}: {called}"):
            shape = _shape(mujoco, model, g) if touches else None
        if touches and (b == 0 or shape is None):
            left_out[called] = g
        elif touches:
            with inside(f"{path}: {called}"):
                found[names[b]].append(_collider(model, g, shape))
    return {name: tuple(some) for name, some in found.items()}, left_out


def _called(model: Any, g: int) -> str:
    return model.geom(g).name or f"geom {g}"


def _notes(model: Any, used: list[Collider]) -> list[str]:
    """What is read in another way than MuJoCo does, or not."""
    stiffness = [c.surface.stiffness for c in used if c.surface is not None]
    notes = []
    if stiffness and _states_softness(model):
        notes.append(
            "the softness of its contacts (solref, solimp) is taken at the masses that pushes at its bodies move: "
            f"stiffness {min(stiffness):.3g} to {max(stiffness):.3g} N/m"
        )
    if np.any(model.pair_margin):
        notes.append(f"the margins of {np.count_nonzero(model.pair_margin)} pairs are not read")
    return notes


def _warn(path: str, notes: list[str]) -> None:
    if notes:
        warnings.warn(f"{path}: {'; '.join(notes)}.", stacklevel=3)


def _states_softness(model: Any) -> bool:
    """Whether the file has a solref or solimp of its own: what it does not say cannot be read in another way."""
    own = [np.any(model.geom_solref != SOLREF), np.any(model.geom_solimp != SOLIMP)]
    return bool(model.ngeom and any(own))


def _collider(model: Any, g: int, shape: Any, robot: float | None = None) -> Collider:
    """A geom as a shape; robot: the mass [kg] of all that moves, for a geom that does not. What does not move is rigid:
    the softness is that of what touches it, unless its own has priority."""
    X = Pose.from_quaternion(model.geom_quat[g], model.geom_pos[g])
    numbers = (model.geom_friction[g], model.geom_condim[g], model.geom_solref[g], model.geom_solimp[g])
    groups, margin = (int(model.geom_contype[g]), int(model.geom_conaffinity[g])), float(model.geom_margin[g])
    law = surface(*numbers, _mass(model, g) if robot is None else robot)
    if robot is not None and model.geom_priority[g] <= model.geom_priority.min():
        law = replace(law, stiffness=RIGID * law.stiffness)
    return Collider(shape, X, law, groups, int(model.geom_priority[g]), margin)


def _mass(model: Any, g: int) -> float:
    """The mass [kg] that a push at the geom's body moves, in the reference position."""
    inverse = float(model.body_invweight0[int(model.geom_bodyid[g]), 0])
    return 1 / inverse if inverse > 0 else 1.0


def surface(friction: Array, condim: int, solref: Array, solimp: Array, mass: float) -> Material:
    """The material that is like MuJoCo's numbers for a mass [kg]."""
    a, c = (float(x) for x in solref)
    most = float(np.clip(solimp[1], *IMPEDANCES))
    per_d, b = (-a / most**2, -c / most) if a <= 0 else (1 / (most * a * c) ** 2, 2 / (most * a))
    d = at_rest(solimp, per_d)
    k, part = d * per_d, d / (1 - d)
    slides, turns, rolls = (float(x) for x in friction[:3])
    return Material(
        stiffness=mass * part * k,
        damping=min(part * b / G, LARGEST),
        friction=slides if condim > 1 else 0.0,
        torsion=turns if condim > 3 else 0.0,
        rolling=rolls if condim > 4 else 0.0,
    )


def at_rest(solimp: Array, per_d: float) -> float:
    """The impedance d at the depth r at which a weight rests, G = k r d/(1 - d), where k = d per_d [1/s^2]."""
    low, high = 0.0, G / per_d * (1 - IMPEDANCES[0]) / IMPEDANCES[0] ** 2
    for _ in range(HALVINGS):
        r = 0.5 * (low + high)
        d = impedance(solimp, r)
        low, high = (r, high) if r * d * d * per_d < G * (1 - d) else (low, r)
    return impedance(solimp, 0.5 * (low + high))


def impedance(solimp: Array, r: float) -> float:
    """MuJoCo's impedance d at a depth r [m]: from the first to the second number over a width, as two powers that meet.

    (MuJoCo documentation, Modeling, "Solver parameters".)
    """
    first, last, width, middle, power = (float(x) for x in solimp)
    x, m = float(np.clip(r / max(width, TINY), 0.0, 1.0)), float(np.clip(middle, *IMPEDANCES))
    power = max(power, 1.0)
    y = x**power / m ** (power - 1) if x <= m else 1 - (1 - x) ** power / (1 - m) ** (power - 1)
    return float(np.clip(first + y * (last - first), *IMPEDANCES))


def _shape(mujoco: Any, model: Any, g: int) -> Any:
    """The shape of a geom; None for what is not known here."""
    size, kind = [float(x) for x in model.geom_size[g]], mujoco.mjtGeom(model.geom_type[g]).name.removeprefix("mjGEOM_")
    if kind == "MESH":
        m = int(model.geom_dataid[g])
        first, count = int(model.mesh_vertadr[m]), int(model.mesh_vertnum[m])
        return hull(model.mesh_vert[first : first + count])
    return SHAPES[kind](size) if kind in SHAPES else None


SHAPES: dict[str, Callable[[list[float]], Any]] = {
    "SPHERE": lambda s: shapes.Sphere(s[0]),
    "CAPSULE": lambda s: shapes.Capsule(s[0], 2 * s[1]),
    "CYLINDER": lambda s: shapes.Cylinder(s[0], 2 * s[1]),
    "BOX": lambda s: shapes.Box((2 * s[0], 2 * s[1], 2 * s[2])),
    "ELLIPSOID": lambda s: shapes.Ellipsoid((s[0], s[1], s[2])),
}


def mjcf_pairs(path: str, names: list[str]) -> tuple[tuple[str, str, Material], ...]:
    """The pairs of bodies that the file names itself, by <pair>, each with its surface."""
    _, model = compiled(path)
    found = []
    for k in range(model.npair):
        ends = [int(model.pair_geom1[k]), int(model.pair_geom2[k])]
        bodies = [int(model.geom_bodyid[g]) for g in ends]
        if 0 in bodies or bodies[0] == bodies[1]:  # shapes of one body never move against each other
            continue
        slides, _, turns, rolls, _ = model.pair_friction[k]
        numbers = ((slides, turns, rolls), int(model.pair_dim[k]), model.pair_solref[k], model.pair_solimp[k])
        masses = [_mass(model, g) for g in ends]
        with inside(f"{path}: pair {model.pair(k).name or k}"):
            law = surface(*numbers, masses[0] * masses[1] / (masses[0] + masses[1]))  # type: ignore[arg-type]
        found.append((names[bodies[0]], names[bodies[1]], law))
    return tuple(found)


def mjcf_apart(model: Any, names: list[str]) -> tuple[tuple[str, str], ...]:
    """The pairs of bodies that <exclude> names."""
    signatures = [int(s) for s in model.exclude_signature]
    return tuple((names[s >> 16], names[s & 0xFFFF]) for s in signatures if s >> 16 and s & 0xFFFF)
