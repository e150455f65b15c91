"""Our mechanisms rebuilt in Pinocchio and MuJoCo, with states and forces taken there and results taken back."""

from typing import Any

import numpy as np

import poinsot as pt
from poinsot._types import Array
from poinsot.spatial import quaternion

SWAP = [3, 4, 5, 0, 1, 2]  # between the angular and the linear part first


def depth_first(mech: pt.Mechanism) -> list[int]:
    """The links, every subtree in one piece: Pinocchio's crba is right only if joints are added in such an order."""
    order: list[int] = []

    def visit(i: int) -> None:
        order.append(i)
        for child in range(len(mech)):
            if mech.parents[child] == i:
                visit(child)

    for root in range(len(mech)):
        if mech.parents[root] < 0:
            visit(root)
    return order


class Pinocchio:
    """A mechanism in Pinocchio. Fixed links are bodies on their carrier's joint; every link is a frame."""

    def __init__(self, mech: pt.Mechanism) -> None:
        import pinocchio as pin

        self.mech, self.model = mech, pin.Model()
        self.model.gravity.linear = mech.gravity
        self.joints: list[tuple[int, Any]] = [(0, pin.SE3.Identity())] * len(mech)  # the joint that carries each link
        self.order = [i for i in depth_first(mech) if mech.links[i].joint.nv]
        for i in depth_first(mech):
            link, parent = mech.links[i], mech.parents[i]
            carrier, X = self.joints[parent] if parent >= 0 else (0, pin.SE3.Identity())
            X = X * pin.SE3(link.placement.R, link.placement.p)
            if link.joint.nv:
                turn = pin.SE3(_frame_of(link.joint), np.zeros(3))
                carrier = self.model.addJoint(carrier, _pin_joint(pin, link.joint), X * turn, link.name)
                X = turn.inverse()
            self.joints[i] = carrier, X
            if link.inertia is not None and carrier:
                inertia = pin.Inertia(link.inertia.mass, link.inertia.com, link.inertia.moment)
                self.model.appendBodyToJoint(carrier, inertia, X)
            self.model.addFrame(pin.Frame(f"frame of {link.name}", carrier, X, pin.FrameType.OP_FRAME))
        self.places = np.concatenate([np.zeros(0, int), *(self._v_places(i) for i in self.order)]).astype(int)
        motors = np.concatenate([np.ones(link.joint.nv) * link.joint.armature for link in mech.links])
        self.model.armature = self.v(motors)
        self.pin, self.data = pin, self.model.createData()

    def _v_places(self, i: int) -> Array:
        places, kind = np.arange(self.mech.nv)[self.mech.v_slices[i]], self.mech.links[i].joint.kind
        return places[{"planar": [1, 2, 0], "free": SWAP}.get(kind, slice(None))]

    def q(self, q: Array) -> Array:
        parts = [_pin_q(self.mech.links[i].joint, q[self.mech.q_slices[i]]) for i in self.order]
        return np.concatenate(parts)

    def v(self, v: Array) -> Array:
        """Velocities, forces or accelerations as Pinocchio orders them."""
        return v[self.places]

    def back(self, x: Array) -> Array:
        """The other way, along all axes of a vector or matrix."""
        ours = np.empty_like(x)
        ours[np.ix_(*[self.places] * x.ndim)] = x
        return ours

    def external(self, wrenches: Array) -> Any:
        """Rows (n, 6) as forces on the joints."""
        forces = [self.pin.Force.Zero() for _ in range(self.model.njoints)]
        for (carrier, X), F in zip(self.joints, wrenches, strict=True):
            forces[carrier] = forces[carrier] + X.act(self.pin.Force(F[SWAP]))
        vector = self.pin.StdVec_Force()
        vector.extend(forces)
        return vector

    def frame(self, name: str) -> int:
        return self.model.getFrameId(f"frame of {name}")

    def forward_dynamics(self, q: Array, v: Array, tau: Array, wrenches: Array | None = None) -> Array:
        external = [] if wrenches is None else [self.external(wrenches)]
        return self.back(self.pin.aba(self.model, self.data, self.q(q), self.v(v), self.v(tau), *external))

    def inverse_dynamics(self, q: Array, v: Array, vdot: Array, wrenches: Array | None = None) -> Array:
        external = [] if wrenches is None else [self.external(wrenches)]
        return self.back(self.pin.rnea(self.model, self.data, self.q(q), self.v(v), self.v(vdot), *external))


def _frame_of(joint: pt.Joint) -> Array:
    """Pinocchio's planar joint moves in its x-y plane."""
    n, e1, e2 = joint.axes if joint.kind == "planar" else np.eye(3)[[2, 0, 1]]
    return np.column_stack([e1, e2, n])


def _pin_joint(pin: Any, joint: pt.Joint) -> Any:
    def along(*models: Any) -> Any:
        composite = pin.JointModelComposite()
        for model in models:
            composite.addJoint(model)
        return composite

    a, b = (*joint.axes, None, None)[:2]
    make = {
        "revolute": lambda: pin.JointModelRevoluteUnaligned(a),
        "prismatic": lambda: pin.JointModelPrismaticUnaligned(a),
        "helical": lambda: pin.JointModelHelicalUnaligned(a, joint.pitch),
        "cylindrical": lambda: along(pin.JointModelRevoluteUnaligned(a), pin.JointModelPrismaticUnaligned(a)),
        "universal": lambda: along(pin.JointModelRevoluteUnaligned(a), pin.JointModelRevoluteUnaligned(b)),
        "planar": pin.JointModelPlanar,
        "spherical": pin.JointModelSpherical,
        "translation": pin.JointModelTranslation,
        "free": pin.JointModelFreeFlyer,
    }
    if joint.kind == "universal" and abs(a @ b) < 1e-12:  # Pinocchio's own takes only axes at right angles
        return pin.JointModelUniversal(a, b)
    return make[joint.kind]()


def _pin_q(joint: pt.Joint, q: Array) -> Array:
    if joint.kind == "planar":
        return np.array([q[1], q[2], np.cos(q[0]), np.sin(q[0])])
    if joint.kind == "spherical":
        return q[[1, 2, 3, 0]]
    return q[[4, 5, 6, 1, 2, 3, 0]] if joint.kind == "free" else q


class MuJoCo:
    """A mechanism in MuJoCo: hinges, slides, balls, a free joint on the world; no helical or planar joint."""

    KINDS = ("revolute", "prismatic", "cylindrical", "universal", "spherical", "translation")

    def __init__(self, mech: pt.Mechanism) -> None:
        import mujoco

        self.mech, self.mujoco = mech, mujoco
        spec = mujoco.MjSpec()
        spec.option.gravity = mech.gravity
        spec.option.enableflags |= int(mujoco.mjtEnableBit.mjENBL_ENERGY)
        spec.compiler.boundmass = spec.compiler.boundinertia = 0.0
        bodies: list[Any] = []
        for link, parent in zip(mech.links, mech.parents, strict=True):
            on = bodies[parent] if parent >= 0 else spec.worldbody
            body = on.add_body(name=link.name, pos=link.placement.p, quat=link.placement.quaternion())
            if link.inertia is not None:
                body.mass, body.ipos, I = link.inertia.mass, link.inertia.com, link.inertia.moment
                body.fullinertia = [I[0, 0], I[1, 1], I[2, 2], I[0, 1], I[0, 2], I[1, 2]]
                body.explicitinertial = True
            for kind, axis in self._joints(link.joint):
                body.add_joint(type=getattr(mujoco.mjtJoint, f"mjJNT_{kind}"), axis=axis)
            bodies.append(body)
        self.model = spec.compile()
        self.data = mujoco.MjData(self.model)
        self.ids = [self.model.body(link.name).id for link in mech.links]
        self.q_places, self.v_places = self._places()
        motors = np.concatenate([np.ones(link.joint.nv) * link.joint.armature for link in mech.links])
        self.model.dof_armature[self.v_places] = motors

    @staticmethod
    def _joints(joint: pt.Joint) -> list[tuple[str, Any]]:
        axes = list(joint.axes)
        return {
            "fixed": [],
            "revolute": [("HINGE", a) for a in axes],
            "prismatic": [("SLIDE", a) for a in axes],
            "cylindrical": [(kind, a) for a in axes for kind in ("HINGE", "SLIDE")],
            "universal": [("HINGE", a) for a in axes],
            "spherical": [("BALL", [0, 0, 1])],
            "translation": [("SLIDE", a) for a in np.eye(3)],
            "free": [("FREE", [0, 0, 1])],
        }[joint.kind]

    def _places(self) -> tuple[Array, Array]:
        """Where MuJoCo keeps our q and v; its own order of links is depth first."""
        qs, vs = [np.zeros(0, int)], [np.zeros(0, int)]
        for link, i in zip(self.mech.links, self.ids, strict=True):
            if link.joint.nv:
                start = self.model.jnt_qposadr[self.model.body_jntadr[i]]
                free = link.joint.kind == "free"
                qs.append(start + np.array([3, 4, 5, 6, 0, 1, 2] if free else range(link.joint.nq)))
                vs.append(self.model.body_dofadr[i] + np.array(SWAP if free else range(link.joint.nv)))
        return np.concatenate(qs), np.concatenate(vs)

    def q(self, q: Array) -> Array:
        """Our q as theirs, in our order: the pose of a free body is in the world there."""
        theirs = q.copy()
        for link, sq in zip(self.mech.links, self.mech.q_slices, strict=True):
            if link.joint.kind == "free":
                X = link.placement @ link.joint.type.pose(link.joint, q[sq])
                theirs[sq] = np.concatenate([X.quaternion(), X.p])
        return theirs

    def turned(self, q: Array) -> Array:
        """T with their v = T our v, both in our order: the linear velocity of a free body is in world axes there."""
        T = np.eye(self.mech.nv)
        for link, sq, sv in zip(self.mech.links, self.mech.q_slices, self.mech.v_slices, strict=True):
            if link.joint.kind == "free":
                T[sv.stop - 3 : sv.stop, sv.stop - 3 : sv.stop] = link.placement.R @ quaternion.to_matrix(q[sq][:4])
        return T
