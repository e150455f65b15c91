"""Robots to measure with: their numbers as data, the URDF that all libraries read, and an independent inverse dynamics.

Panda: Franka Emika's `franka_ros`, Apache-2.0, the arm without the hand. Solo12: the Open Dynamic Robot Initiative's
`robot_properties_solo`, BSD-3-Clause. Both by way of Gepetto's `example-robot-data`. The humanoid and the chain are
made up.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

import poinsot as pt

G = np.array([0.0, 0.0, -9.80665])  # m/s^2: the standard gravity, which dynibo has built in


@dataclass(frozen=True)
class Part:
    """A link that turns about `axis` of its own frame, which stands at (rpy, xyz) in its parent's; or, without axis,
    does not move there. Mass [kg], centre of mass [m], moment about it (xx, xy, xz, yy, yz, zz) [kg m^2]."""

    name: str
    parent: str
    xyz: tuple[float, ...]
    axis: tuple[float, ...] | None
    mass: float
    com: tuple[float, ...]
    moment: tuple[float, ...]
    rpy: tuple[float, ...] = (0.0, 0.0, 0.0)


@dataclass(frozen=True)
class Robot:
    """The first part is the base, fixed to the world or floating."""

    name: str
    parts: tuple[Part, ...]
    floating: bool

    def urdf(self) -> str:
        return (
            f'<robot name="{self.name}">\n' + "\n".join(line for part in self.parts for line in _xml(part)) + "</robot>"
        )

    @property
    def joints(self) -> int:
        return sum(part.axis is not None for part in self.parts)


def _xml(part: Part) -> Iterator[str]:
    def words(numbers: Any) -> str:
        return " ".join(repr(float(x)) for x in numbers)

    moment = " ".join(f'i{k}="{x!r}"' for k, x in zip("xx xy xz yy yz zz".split(), part.moment, strict=True))
    yield f'<link name="{part.name}"><inertial><origin xyz="{words(part.com)}"/>'
    yield f'<mass value="{part.mass!r}"/><inertia {moment}/></inertial></link>'
    if part.parent:
        moves = part.axis is not None
        yield f'<joint name="to_{part.name}" type="{"revolute" if moves else "fixed"}">'
        yield f'<origin xyz="{words(part.xyz)}" rpy="{words(part.rpy)}"/>'
        yield f'<parent link="{part.parent}"/><child link="{part.name}"/>'
        if part.axis is not None:
            yield f'<axis xyz="{words(part.axis)}"/><limit lower="-10" upper="10" effort="1000" velocity="1000"/>'
        yield "</joint>"


X, Y, Z = (tuple(row) for row in np.eye(3).tolist())
RIGHT = np.pi / 2

PANDA = [  # xyz, roll, mass, centre of mass, moment
    ((0, 0, 0.333), 0, 4.970684, (0.003875, 0.002081, -0.04762),
     (0.70337, -0.000139, 0.006772, 0.70661, 0.019169, 0.009117)),
    ((0, 0, 0), -RIGHT, 0.646926, (-0.003141, -0.02872, 0.003495),
     (0.007962, -0.003925, 0.010254, 0.02811, 0.000704, 0.025995)),
    ((0, -0.316, 0), RIGHT, 3.228604, (0.027518, 0.039252, -0.066502),
     (0.037242, -0.004761, -0.011396, 0.036155, -0.012805, 0.01083)),
    ((0.0825, 0, 0), RIGHT, 3.587895, (-0.05317, 0.104419, 0.027454),
     (0.025853, 0.007796, -0.001332, 0.019552, 0.008641, 0.028323)),
    ((-0.0825, 0.384, 0), -RIGHT, 1.225946, (-0.011953, 0.041065, -0.038437),
     (0.035549, -0.002117, -0.004037, 0.029474, 0.000229, 0.008627)),
    ((0, 0, 0), RIGHT, 1.666555, (0.060149, -0.014117, -0.010517),
     (0.001964, 0.000109, -0.001158, 0.004354, 0.000341, 0.005433)),
    ((0.088, 0, 0), RIGHT, 0.735522, (0.010517, -0.004252, 0.061597),
     (0.012516, -0.000428, -0.001196, 0.010027, -0.000741, 0.004815)),
]  # fmt: skip


def panda() -> Robot:
    base = Part(
        "link0",
        "",
        (),
        None,
        0.629769,
        (-0.041018, -0.00014, 0.049974),
        (0.00315, 8.2904e-07, 0.00015, 0.00388, 8.2299e-06, 0.004285),
    )
    arm = [
        Part(f"link{k + 1}", f"link{k}", xyz, Z, mass, com, moment, (roll, 0.0, 0.0))
        for k, (xyz, roll, mass, com, moment) in enumerate(PANDA)
    ]
    return Robot("panda", (base, *arm), floating=False)


def solo12() -> Robot:
    parts = [Part("base", "", (), None, 1.16115091, (0, 0, 0), (0.00578574, 0, 0, 0.01938108, 0, 0.02476124))]
    for leg, x, y in (("FL", 1, 1), ("FR", 1, -1), ("HL", -1, 1), ("HR", -1, -1)):
        at = [(0.1946 * x, 0.0875 * y, 0), (0, 0.014 * y, 0), (0, 0.03745 * y, -0.16), (0, 0.008 * y, -0.16)]
        com = [
            (-0.078707 * x, 0.01 * y, 0),
            (1.377e-5 * y, 0.01935853 * y, -0.078707),
            (0, 0.00787644 * y, -0.08928215),
        ]
        moments = [
            (3.024e-5, 4.671e-5 * y, 0, 41.193e-5, 0, 41.107e-5),
            (41.107e-5, 0, 0, 41.193e-5, 4.671e-5 * y, 3.024e-5),
            (12.024e-5, 0, 0, 12.029e-5, 0.305e-5 * y, 0.216e-5),
        ]
        names = "base", f"{leg}_shoulder", f"{leg}_upper", f"{leg}_lower", f"{leg}_foot"
        for k, mass in enumerate((0.14853845, 0.14853845, 0.03070001)):
            parts.append(Part(names[k + 1], names[k], at[k], X if k == 0 else Y, mass, com[k], moments[k]))
        parts.append(
            Part(names[4], names[3], at[3], None, 0.00693606, (0, 0, 0.00035767), (5.7e-7, 0, 0, 8.4e-7, 0, 5.3e-7))
        )
    return Robot("solo12", tuple(parts), floating=True)


def humanoid(floating: bool = True) -> Robot:
    """A pelvis, floating or fixed, a waist of three joints, a neck, legs of six and arms of seven: 30 joints."""
    rng = np.random.default_rng(30)
    limbs = [("waist", "pelvis", [Z, X, Y], 8.0), ("neck", "waist3", [Z], 4.0)]
    limbs += [(f"{side}_leg", "pelvis", [Z, X, Y, Y, Y, X], 4.0) for side in ("left", "right")]
    limbs += [(f"{side}_arm", "waist3", [Y, X, Z, Y, Z, Y, X], 1.5) for side in ("left", "right")]
    parts = [_made_up(rng, "pelvis", "", None, 12.0)]
    for limb, root, axes, mass in limbs:
        for k, axis in enumerate(axes):
            parts.append(_made_up(rng, f"{limb}{k + 1}", f"{limb}{k}" if k else root, axis, mass))
    return Robot("humanoid" if floating else "seated", tuple(parts), floating)


def chain(n: int) -> Robot:
    """n joints about the axes of a snake, one after the other, links of 0.2 m."""
    rng = np.random.default_rng(n)
    parts = [_made_up(rng, "link0", "", None, 1.0)]
    parts += [_made_up(rng, f"link{k + 1}", f"link{k}", (Y, Z)[k % 2], 1.0) for k in range(n)]
    return Robot(f"chain{n}", tuple(parts), floating=False)


def _made_up(rng: np.random.Generator, name: str, parent: str, axis: Any, mass: float) -> Part:
    """A link of random place and shape: no entry of its inertia is zero."""
    axes = np.linalg.qr(rng.standard_normal((3, 3)))[0]
    a, b, c = mass * rng.uniform(0.002, 0.01, 3)
    I = axes @ np.diag([b + c, a + c, a + b]) @ axes.T
    xyz, com = rng.uniform(-0.2, 0.2, 3), rng.uniform(-0.05, 0.05, 3)
    moment = tuple(I[np.triu_indices(3)].tolist())
    return Part(name, parent, tuple(xyz.tolist()), axis, mass * rng.uniform(0.5, 1.5), tuple(com.tolist()), moment)


@cache
def mechanism(robot: Robot) -> pt.Mechanism:
    with TemporaryDirectory() as folder:
        path = Path(folder, "robot.urdf")
        path.write_text(robot.urdf())
        return replace(pt.load_urdf(path, floating=robot.floating, mimic=False), gravity=G)


@cache
def states(robot: Robot, batch: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Random q (batch, nq), v and tau or vdot (batch, nv), moving."""
    mech, rng = mechanism(robot), np.random.default_rng(0)
    v, tau = rng.standard_normal((2, batch, mech.nv))
    q = rng.uniform(-np.pi, np.pi, (batch, robot.joints))
    if robot.floating:
        base = rng.standard_normal((batch, 7))
        base[:, :4] /= np.linalg.norm(base[:, :4], axis=1, keepdims=True)
        q = np.hstack([base, q])
    return q, v, tau


# The independent value: Newton and Euler in world axes, part by part, for a batch; nothing of the library's algorithms.
# It takes complex numbers too, so that a step of 1e-30 i gives derivatives to the last digit.
def inverse_dynamics(robot: Robot, q: Any, v: Any, vdot: Any, gravity: Any = G) -> np.ndarray:
    """tau (batch, nv) for q (batch, nq), v and vdot (batch, nv)."""
    mech, one = mechanism(robot), np.ones((len(q), 1))
    moving: dict[str, Any] = {}
    for part in robot.parts:
        at_q, at_v = mech.q_slices[mech.index(part.name)], mech.v_slices[mech.index(part.name)]
        if not part.parent and robot.floating:
            x, u, du = q[:, at_q], v[:, at_v], vdot[:, at_v]
            R, p = _matrix(x[:, :4]), x[:, 4:]
            w, dw = _turned(R, u[:, :3]), _turned(R, du[:, :3])
            a = _turned(R, du[:, 3:] + np.cross(u[:, :3], u[:, 3:])) - gravity
        elif not part.parent:
            R, p, w, dw, a = one[..., None] * np.eye(3), 0 * one * G, 0 * one * G, 0 * one * G, -one * gravity
        else:
            R, p, w, dw, a, _ = moving[part.parent]
            r = R @ np.array(part.xyz)
            p, a = p + r, a + np.cross(dw, r) + np.cross(w, np.cross(w, r))
            R = R @ _euler(*part.rpy)
        axis = None
        if part.axis is not None:
            R, axis = R @ _about(np.array(part.axis), q[:, at_q.start]), R @ np.array(part.axis)
            spin = axis * v[:, at_v]
            dw = dw + axis * vdot[:, at_v] + np.cross(w, spin)
            w = w + spin
        moving[part.name] = R, p, w, dw, a, axis
    force = dict.fromkeys(moving, 0 * one * G)
    moment = dict(force)  # of what hangs on each part, about the world's origin
    tau = np.zeros(v.shape, np.result_type(q, v, vdot))
    for part in reversed(robot.parts):
        R, p, w, dw, a, axis = moving[part.name]
        com, xx = R @ np.array(part.com), part.moment
        I = np.array([[xx[0], xx[1], xx[2]], [xx[1], xx[3], xx[4]], [xx[2], xx[4], xx[5]]])
        I_W = R @ I @ np.swapaxes(R, -1, -2)
        f = part.mass * (a + np.cross(dw, com) + np.cross(w, np.cross(w, com)))
        m = _turned(I_W, dw) + np.cross(w, _turned(I_W, w)) + np.cross(p + com, f)
        force[part.name], moment[part.name] = force[part.name] + f, moment[part.name] + m
        about, at_v = moment[part.name] - np.cross(p, force[part.name]), mech.v_slices[mech.index(part.name)]
        if axis is not None:
            tau[:, at_v] = np.sum(axis * about, -1, keepdims=True)
        elif not part.parent and robot.floating:
            back = np.swapaxes(R, -1, -2)
            tau[:, at_v] = np.hstack([_turned(back, about), _turned(back, force[part.name])])
        if part.parent:
            force[part.parent] = force[part.parent] + force[part.name]
            moment[part.parent] = moment[part.parent] + moment[part.name]
    return tau


def _turned(R: Any, x: Any) -> Any:
    return (R @ x[..., None])[..., 0]


def _matrix(wxyz: Any) -> Any:
    w, x, y, z = wxyz.T
    rows = (
        (w * w + x * x - y * y - z * z, 2 * (x * y - w * z), 2 * (x * z + w * y)),
        (2 * (x * y + w * z), w * w - x * x + y * y - z * z, 2 * (y * z - w * x)),
        (2 * (x * z - w * y), 2 * (y * z + w * x), w * w - x * x - y * y + z * z),
    )
    return np.moveaxis(np.array(rows), -1, 0)


def _about(axis: Any, angle: Any) -> Any:
    c, s = np.cos(angle)[:, None, None], np.sin(angle)[:, None, None]
    return c * np.eye(3) + s * np.cross(np.eye(3), axis) + (1 - c) * np.outer(axis, axis)


def _euler(roll: float, pitch: float, yaw: float) -> Any:
    x, y, z = (_about(np.eye(3)[k], np.array([angle]))[0] for k, angle in enumerate((roll, pitch, yaw)))
    return z @ y @ x


def mass_matrix(robot: Robot, q: Any) -> np.ndarray:
    """Its columns are the forces of unit accelerations, at rest and without gravity."""
    n = mechanism(robot).nv
    still = np.zeros((len(q), n))
    return np.stack([inverse_dynamics(robot, q, still, still + e, 0 * G) for e in np.eye(n)], axis=-1)


def forward_dynamics(robot: Robot, q: Any, v: Any, tau: Any) -> np.ndarray:
    bias = inverse_dynamics(robot, q, v, 0 * v)
    return np.linalg.solve(mass_matrix(robot, q), (tau - bias)[..., None])[..., 0]


def forward_dynamics_derivatives(robot: Robot, q: Any, v: Any, tau: Any) -> tuple[np.ndarray, ...]:
    """By q (along velocities), v and tau."""
    vdot, M_inv, step = forward_dynamics(robot, q, v, tau), np.linalg.inv(mass_matrix(robot, q)), 1e-30j
    along_q = [inverse_dynamics(robot, moved(robot, q, step * e), v, vdot).imag for e in np.eye(v.shape[1])]
    along_v = [inverse_dynamics(robot, q, v + step * e, vdot).imag for e in np.eye(v.shape[1])]
    dq, dv = (np.stack(columns, axis=-1) / step.imag for columns in (along_q, along_v))
    return -M_inv @ dq, -M_inv @ dv, M_inv


def moved(robot: Robot, q: Any, u: Any) -> Any:
    """q after a very small motion u (nv,): to first order."""
    if not robot.floating:
        return q + u
    w, x, y, z = q[:, :4].T
    a, b, c = 0.5 * u[:3]
    turned = np.stack([-x * a - y * b - z * c, w * a + y * c - z * b, w * b + z * a - x * c, w * c + x * b - y * a], -1)
    return np.hstack(
        [q[:, :4] + turned, q[:, 4:7] + _turned(_matrix(q[:, :4]), u[3:6] + 0 * q[:, 4:7]), q[:, 7:] + u[6:]]
    )
