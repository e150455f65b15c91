"""Robots from MJCF files.

MuJoCo itself reads and compiles the file, so that defaults, includes, frames, angles and inertias from geoms have the
meaning that they have there. Every body becomes a link of the same name and frame, with its joints in MuJoCo's order.
"""

import os
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial
from pathlib import PurePath
from typing import Any

import numpy as np

from poinsot._types import Array
from poinsot.files._reading import inside, source, warn_ignored
from poinsot.files.coordinates import from_mujoco
from poinsot.files.mjcf_contact import mjcf_apart, mjcf_pairs, mjcf_scenery, mjcf_shapes
from poinsot.files.mjcf_motors import actuator_names, motors_of
from poinsot.files.mjcf_tendons import path_of, stops_of_tendons, tendons_of, unheld_tendons
from poinsot.files.mujoco_warnings import mujoco_module, mujoco_warnings
from poinsot.files.repairs import Mender, Repair, nearest_moment
from poinsot.mechanism import Closure, Coupling, Joint, Link, Mechanism, fixed, free, prismatic, revolute, spherical
from poinsot.mechanism.closures import Relation
from poinsot.mechanism.coordinate_relations import Cam, Driven, Polynomial, Sharing
from poinsot.mechanism.equipment import Equipment
from poinsot.spatial import Inertia, Pose

# By MuJoCo's mjtJoint: the joint, and whether it rotates about an anchor of its own, `pos`.
JOINTS = (
    (lambda axis, **data: free(**data), False),
    (lambda axis, **data: spherical(**data), True),
    (prismatic, False),
    (revolute, True),
)
FREE, BALL = 0, 1
MARGIN = 1e-9  # of a moment that was mended, so that MuJoCo's own rounding does not make it impossible again

MOST_EQUALITIES = 1000  # each takes some milliseconds to be closed

# What a mechanism does not hold: lists of MuJoCo's MjSpec ...
ELEMENTS = ("sites cameras lights skins flexes actuators equalities sensors plugins numerics texts tuples").split()
# ... and switches of its options. Gravity switched off is zero gravity.
SWITCHES = "PASSIVE SPRING DAMPER CONSTRAINT FRICTIONLOSS LIMIT".split()


def load_mjcf(path: str | os.PathLike[str], repair: Repair = "warn") -> Mechanism:
    """The bodies and joints in an MJCF file, with its gravity.

    The q and v of hinges and slides are MuJoCo's own numbers, `ref` included; see `to_mujoco` for the rest. The neutral
    pose of a free body is the one in the file. If a body has several joints, or one whose anchor is not at its origin,
    massless links called `body_joint` come in between. The file of a mesh is needed only for an inertia that depends on
    it. Equalities become closures: `connect` and `weld` of bodies or sites, those of joints, polynomials too, and of
    fixed tendons if they are linear. A world takes the geoms of its bodies as shapes to touch by, `pair`, `exclude`,
    fixed tendons, the `motor`, `position` and `velocity` actuators of joints and such tendons, with inputs of their
    names, and its keyframes. One warning lists what is not held (spatial tendons, other equalities and actuators, ...).

    `repair`: what is done about inertias in the file that no body has, as for `load_urdf`; with "never" it is up to
    MuJoCo, which refuses them unless the file says `balanceinertia`.
    """
    source(path, "mujoco")  # an error if it is another kind of file
    mender = Mender(repair)
    mujoco = mujoco_module()
    with inside(path):
        with mujoco_warnings(mujoco, path):
            spec = mujoco.MjSpec.from_file(os.fspath(path))
        counts = {name: len(getattr(spec, name)) for name in ELEMENTS}
        _mend(mujoco, spec, mender)
        _release_files(mujoco, spec)
        spec.compiler.fusestatic = False  # so that bodies without joints keep their names
        with mujoco_warnings(mujoco, path):
            model = spec.compile()
        off = {name: bool(model.opt.disableflags & flag) for name, flag in mujoco.mjtDisableBit.__members__.items()}
        links = tuple(_links(model))
        closures = tuple(_closures(mujoco, model, links))
        gravity = np.zeros(3) if off["mjDSBL_GRAVITY"] else model.opt.gravity.copy()
        mech = Mechanism(links, gravity, closures, os.path.abspath(path))
        mech = replace(mech, equipment=_equipment(mujoco, model, mech))
    mender.report(path)
    counts["actuators"] -= len(mech.equipment.motors)
    counts["equalities"] -= len(closures) + int(np.sum(model.eq_active0 == 0))
    switches = {f"flag {name.lower()}=disable": off.get(f"mjDSBL_{name}", False) for name in SWITCHES}
    tendons = unheld_tendons(mujoco, model, [link.name for link in links if link.joint.nv])
    warn_ignored(path, {**counts, **tendons, **_unheld(model), **switches})
    return mech


def _equipment(mujoco: Any, model: Any, mech: Mechanism) -> Equipment:
    """The equipment that the file states beyond the tree; shapes are read when they are needed."""
    names = _names([model.body(b).name for b in range(model.nbody)])
    moving = [link.name for link in mech.links if link.joint.nv]
    actuators = actuator_names(model, {link.name for link in mech.links})
    motors = tuple(motors_of(mujoco, model, moving, actuators))
    known = {motor.name for motor in motors}
    keyframes = {}
    for k in range(model.nkey):
        q, v = from_mujoco(mech, model.key_qpos[k], model.key_qvel[k])
        controls = dict(zip(actuators, model.key_ctrl[k].tolist(), strict=True))
        keyframes[model.key(k).name or f"key{k}"] = q, v, {a: u for a, u in controls.items() if a in known}
    return Equipment(
        partial(mjcf_shapes, mech.source, names),
        mjcf_apart(model, names),
        partial(mjcf_pairs, mech.source, names) if model.npair else tuple,
        motors,
        dict.fromkeys(known, 0.0),
        keyframes,
        (*tendons_of(mujoco, model, moving), *stops_of_tendons(mujoco, model, moving)),
        partial(mjcf_scenery, mech.source, names),
    )


def _mend(mujoco: Any, spec: Any, mender: Mender) -> None:
    """Replace the inertias that are written in the file and that no body has. MuJoCo forgives no rounding."""
    from_geoms = spec.compiler.inertiafromgeom == mujoco.mjtInertiaFromGeom.mjINERTIAFROMGEOM_TRUE
    if mender.repair == "never" or spec.compiler.balanceinertia or from_geoms:
        return
    for b, body in enumerate(spec.bodies):
        is_full = not np.isnan(body.fullinertia[0])
        xx, yy, zz, xy, xz, yz = body.fullinertia if is_full else (*body.inertia, 0.0, 0.0, 0.0)
        moment = np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
        if not body.explicitinertial or not np.isfinite(moment).all() or not body.mass > 0:
            continue
        low, middle, high = np.linalg.eigvalsh(moment)
        if low >= 0 and low + middle >= high:
            continue
        I = nearest_moment(mender.moment(body.name or f"body{b}", float(body.mass), moment))
        I += MARGIN * np.trace(I) * np.eye(3)
        if is_full:
            body.fullinertia = [I[0, 0], I[1, 1], I[2, 2], I[0, 1], I[0, 2], I[1, 2]]
        else:
            body.inertia = np.diag(I)


def _release_files(mujoco: Any, spec: Any) -> None:
    """Replace every file that no inertia depends on by a dummy."""
    from_geoms = spec.compiler.inertiafromgeom == mujoco.mjtInertiaFromGeom.mjINERTIAFROMGEOM_TRUE
    low, high = spec.compiler.inertiagrouprange

    def weighs(g: Any) -> bool:
        return low <= g.group <= high and bool(g.density if np.isnan(g.mass) else g.mass)

    bodies = [body for body in spec.bodies[1:] if from_geoms or not body.explicitinertial]
    weighed = {g.meshname for body in bodies for g in body.geoms if weighs(g)}
    for mesh in spec.meshes:
        mesh.name = mesh.name or PurePath(mesh.file).stem
        if mesh.file and mesh.name not in weighed:
            mesh.file, mesh.uservert = "", np.eye(4, 3).ravel()  # a tetrahedron
    for texture in spec.textures:
        texture.file, texture.cubefiles = "", [""] * 6
        texture.builtin, texture.width, texture.height = mujoco.mjtBuiltin.mjBUILTIN_FLAT, 1, 1
    for field in spec.hfields:
        field.file, field.nrow, field.ncol, field.userdata = "", 2, 2, np.ones(4)
    for skin in list(spec.skins):
        spec.delete(skin)


def _links(model: Any) -> Iterator[Link]:
    names = _names([model.body(b).name for b in range(model.nbody)])
    taken = set(names)
    for b in range(1, model.nbody):
        parent = names[model.body_parentid[b]] if model.body_parentid[b] else None
        X = Pose.from_quaternion(model.body_quat[b], model.body_pos[b])  # pose of the next link in its parent
        first, count = model.body_jntadr[b], model.body_jntnum[b]
        on_joint = False  # whether the body's frame coincides with that of its last joint
        for j in range(first, first + count):
            make, anchored = JOINTS[model.jnt_type[j]]
            joint = make(model.jnt_axis[j], **_data(model, j))
            anchor = model.jnt_pos[j] if anchored else np.zeros(3)
            on_joint = j == first + count - 1 and not anchor.any()
            name = names[b] if on_joint else _new(f"{names[b]}_{joint.name or j - first + 1}", taken)
            placement = X @ Pose(p=anchor) @ _at_zero(model, j, joint)
            yield Link(name, _inertia(model, b) if on_joint else None, parent, joint, placement)
            parent, X = name, Pose(p=-anchor)
        if not on_joint:
            yield Link(names[b], _inertia(model, b), parent, fixed(), X)


def _closures(mujoco: Any, model: Any, links: Sequence[Link]) -> Iterator[Closure]:
    """The equalities that are active: `connect` and `weld`, of `joint`s, and of `tendon`s that are sums of joints."""
    connect, weld, joint = (int(getattr(mujoco.mjtEq, f"mjEQ_{kind}")) for kind in ("CONNECT", "WELD", "JOINT"))
    tendon = int(mujoco.mjtEq.mjEQ_TENDON)
    names = _names([model.body(b).name for b in range(model.nbody)])
    moving = [link.name for link in links if link.joint.nv]  # in the order of MuJoCo's joints
    taken = {link.name for link in links}
    active = np.flatnonzero(model.eq_active0)
    if len(active) > MOST_EQUALITIES:
        raise ValueError(f"{len(active)} equalities are active; {MOST_EQUALITIES} are read at most.")
    for e in active:
        name = _new(model.eq(e).name or f"equality{e}", taken)
        kind, data = int(model.eq_type[e]), model.eq_data[e]
        ends = (int(model.eq_obj1id[e]), int(model.eq_obj2id[e]))
        if kind == joint:
            if (relation := _coupled(model, ends, data)) is not None:
                yield Closure(name, None if ends[1] < 0 else moving[ends[1]], moving[ends[0]], relation)
        elif kind == tendon:
            if (shared := _shared(mujoco, model, ends, data, moving)) is not None:
                yield Closure(name, None, *shared)
        elif kind in (connect, weld):
            if int(model.eq_objtype[e]) == int(mujoco.mjtObj.mjOBJ_SITE):
                poses = [Pose.from_quaternion(model.site_quat[s], model.site_pos[s]) for s in ends]
                ends = (int(model.site_bodyid[ends[0]]), int(model.site_bodyid[ends[1]]))
            else:
                X1 = Pose.from_quaternion(data[6:10], data[3:6]) if kind == weld else Pose(p=data[:3])
                poses = [X1, Pose(p=data[:3] if kind == weld else data[3:6])]
            frames = [(names[b] if b else None, X) for b, X in zip(ends, poses, strict=True)]
            (a, A), (b, B) = frames if frames[1][0] is not None else frames[::-1]
            if b is not None:
                yield Closure(name, a, b, fixed() if kind == weld else spherical(), A, B)


def _coupled(model: Any, ends: tuple[int, int], data: Array) -> Relation | None:
    """q1 - its reference = a polynomial of the other joint's; a constant without one. None for a ball joint."""
    if any(model.jnt_type[j] in (FREE, BALL) for j in ends if j >= 0):
        return None
    q1, *q2 = (float(model.qpos0[model.jnt_qposadr[j]]) for j in ends if j >= 0)
    coefficients = tuple(float(x) for x in data[:5])
    if not q2:
        return Driven(Polynomial((q1 + coefficients[0],)))
    if any(coefficients[2:]):
        return Cam(Polynomial(coefficients, q2[0]), q1)
    return Coupling(coefficients[1], q1 + coefficients[0] - coefficients[1] * q2[0])


def _shared(
    mujoco: Any, model: Any, ends: tuple[int, int], data: Array, moving: Sequence[str]
) -> tuple[str, Relation] | None:
    """The joint that follows from others by tendons that are sums of joints, if their relation is linear; or None.

    sum c1 q1 - L1 = d0 + d1 (sum c2 q2 - L2), with the lengths L in the reference position.
    """
    if data[2:5].any():
        return None
    total: dict[str, float] = {}
    offset = float(data[0])
    for end, factor in ((ends[0], 1.0), (ends[1], -float(data[1]))):
        if end < 0:
            continue
        if (path := path_of(mujoco, model, end, moving)) is None:
            return None
        for link, c in zip(*path, strict=True):
            total[link] = total.get(link, 0.0) + factor * float(c)
        offset += factor * float(model.tendon_length0[end])
    total = {link: c for link, c in total.items() if c}
    if len(total) < 2:
        return None
    b, c = next(iter(total.items()))
    weights = {link: -x / c for link, x in total.items() if link != b}
    return b, Sharing(weights, offset / c)


def _at_zero(model: Any, j: int, joint: Joint) -> Pose:
    """The pose at q = 0 relative to that at q = `ref`, which is the one in the file."""
    if joint.nq > 1:
        return Pose()
    pose: Pose = joint.type.pose(joint, -model.qpos0[[model.jnt_qposadr[j]]])
    return pose


def _data(model: Any, j: int) -> dict[str, Any]:
    """The data of a joint besides its axis. On a free joint, only damping acts as in MuJoCo."""
    kind, dof, q = model.jnt_type[j], model.jnt_dofadr[j], model.jnt_qposadr[j]
    data = {"name": model.joint(j).name, "damping": float(model.dof_damping[dof])}
    if kind == FREE:
        return data
    data |= {
        "stiffness": float(model.jnt_stiffness[j]),
        "friction": float(model.dof_frictionloss[dof]),
        "armature": float(model.dof_armature[dof]),
    }
    if kind != BALL:
        data["rest"] = float(model.qpos_spring[q])
        if model.jnt_limited[j]:
            data["lower"], data["upper"] = model.jnt_range[j].tolist()
        if _even_effort(model)[j]:
            data["effort_limit"] = float(model.jnt_actfrcrange[j, 1])
    return data


def _even_effort(model: Any) -> Array:
    """For each joint, whether the limits of its actuators are the same in both directions."""
    low, high = model.jnt_actfrcrange.T
    return np.asarray((model.jnt_actfrclimited != 0) & (low == -high))


def _inertia(model: Any, b: int) -> Inertia | None:
    mass = float(model.body_mass[b])
    if not mass:
        return None
    with inside(f"body {model.body(b).name!r}"):
        X = Pose.from_quaternion(model.body_iquat[b], model.body_ipos[b])
        return X @ Inertia(mass, np.zeros(3), np.diag(model.body_inertia[b]))


def _names(names: list[str]) -> list[str]:
    """The names, with new ones such as `body3` for those that are empty."""
    taken = set(names)
    return [name or _new(f"body{k}", taken) for k, name in enumerate(names)]


def _new(name: str, taken: set[str]) -> str:
    """The name, with `_` added until it is not taken; then it is."""
    while name in taken:
        name += "_"
    taken.add(name)
    return name


def _unheld(model: Any) -> dict[str, int]:
    """Counts of what bodies, joints and options have that a mechanism does not hold."""

    def has(field: str, length: int) -> Array:
        """For each row, whether any entry is not zero; fields that an older MuJoCo lacks count as zero."""
        values: Array = getattr(model, field, np.zeros(length))
        return np.asarray(np.any(values.reshape(length, values.size // max(length, 1)) != 0, axis=1))

    free, ball = (model.jnt_type == kind for kind in (FREE, BALL))
    on_free = has("jnt_stiffness", model.njnt) * free
    on_free |= (has("dof_armature", model.nv) | has("dof_frictionloss", model.nv))[model.jnt_dofadr] * free
    curved = has("jnt_stiffnesspoly", model.njnt) | has("dof_dampingpoly", model.nv)[model.jnt_dofadr]
    weightless = (model.body_mass == 0) & has("body_inertia", model.nbody)
    return {
        "mocap bodies": model.nmocap,
        "moments of inertia of bodies without mass": int(np.sum(weightless)),
        "bodies with gravcomp": int(np.sum(has("body_gravcomp", model.nbody))),
        "effort limits that differ by direction": int(np.sum((model.jnt_actfrclimited != 0) & ~_even_effort(model))),
        "limits of ball joints": int(np.sum(model.jnt_limited * ball)),
        "free joints with springs, friction or armature": int(np.sum(on_free)),
        "joints with springs or dampers that are not linear": int(np.sum(curved)),
        "joints that yield": int(np.sum(has("jnt_springyield", model.njnt))),
        "options of the medium": int(model.opt.density > 0) + int(model.opt.viscosity > 0),
    }
