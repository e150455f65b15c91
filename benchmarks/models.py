"""A seeded random arm or tree, its dynamics as the books write them, and the same mechanism in the peers."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

G = 9.81  # m/s^2, along -z of the base
STEP = 1e-3  # s


@dataclass(frozen=True)
class Link:
    """A body that turns about the z axis of its frame, which stands at (R, p) in the parent's frame when q = 0."""

    parent: int
    R: np.ndarray
    p: np.ndarray
    mass: float
    com: np.ndarray
    moment: np.ndarray  # about the centre of mass

    @property
    def inertia(self) -> np.ndarray:
        """The spatial inertia, 6x6, angular part first, about the origin of the body frame."""
        C = self.mass * skew(self.com)
        return np.block([[self.moment - C @ skew(self.com), C], [C.T, self.mass * np.eye(3)]])


def mechanism(n: int, branching: float = 0.0, seed: int = 1) -> tuple[Link, ...]:
    """n links with random placements and inertias: an arm, or with some probability of branching a tree."""
    rng = np.random.default_rng(seed)
    links = []
    for i in range(n):
        parent = int(rng.integers(i)) if i and rng.random() < branching else i - 1
        axes, R = (np.linalg.qr(rng.standard_normal((3, 3)))[0] for _ in range(2))
        a, b, c = rng.uniform(0.01, 0.1, 3)
        moment = axes @ np.diag([b + c, a + c, a + b]) @ axes.T
        R = R * np.linalg.det(R)
        links.append(Link(parent, R, rng.uniform(-0.5, 0.5, 3), rng.uniform(1, 3), rng.uniform(-0.2, 0.2, 3), moment))
    return tuple(links)


def arm(n: int) -> tuple[Link, ...]:
    return mechanism(n)


def tree(n: int) -> tuple[Link, ...]:
    return mechanism(n, branching=0.2)


def states(n: int, batch: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Random positions, velocities and torques, each of shape (batch, n)."""
    rng = np.random.default_rng(seed)
    return rng.uniform(-np.pi, np.pi, (batch, n)), rng.standard_normal((batch, n)), rng.standard_normal((batch, n))


# The dynamics of one instance. `np` is an argument, so that a peer can put its own NumPy in its place.
def skew(v: Any, np: Any = np) -> Any:
    return np.array([[0.0, -v[2], v[1]], [v[2], 0.0, -v[0]], [-v[1], v[0], 0.0]])


def cross(V: Any, np: Any = np) -> Any:
    """V x, for motions; its negative transpose is that for forces."""
    w, v = skew(V[:3], np), skew(V[3:], np)
    return np.block([[w, np.zeros((3, 3))], [v, w]])


def transform(link: Link, q: Any, np: Any = np) -> Any:
    """From the parent's coordinates to the link's own."""
    c, s = np.cos(q), np.sin(q)
    E = np.array([[c, s, 0.0], [-s, c, 0.0], [0.0, 0.0, 1.0]]) @ link.R.T
    return np.block([[E, np.zeros((3, 3))], [-E @ skew(link.p), E]])


_UPPER = np.triu(np.ones((6, 6), bool))


def symmetric(A: Any, np: Any = np) -> Any:
    """A matrix that is known to be symmetric, half of it computed."""
    return np.where(_UPPER, A, A.T)


def forward_dynamics(links: Sequence[Link], q: Any, qd: Any, tau: Any, np: Any = np) -> Any:
    """The articulated-body algorithm: joint accelerations. Featherstone (2008), table 7.1."""
    n, S = len(links), np.array([0.0, 0.0, 1.0, 0.0, 0.0, 0.0])
    X, v, c, IA, pA, U, d, u, a, qdd = ([None] * n for _ in range(10))
    for i, link in enumerate(links):
        X[i] = transform(link, q[i], np)
        v[i] = S * qd[i] + (X[i] @ v[link.parent] if link.parent >= 0 else 0.0)
        c[i] = cross(v[i], np) @ (S * qd[i])
        IA[i] = link.inertia
        pA[i] = -cross(v[i], np).T @ (IA[i] @ v[i])
    for i, link in reversed(list(enumerate(links))):
        U[i] = IA[i] @ S
        d[i] = 1.0 / (S @ U[i])  # the inverse of the book's D
        u[i] = tau[i] - S @ pA[i]
        if link.parent >= 0:
            Ia = symmetric(IA[i] - np.outer(U[i] * d[i], U[i]), np)
            pa = pA[i] + Ia @ c[i] + U[i] * (u[i] * d[i])
            IA[link.parent] = IA[link.parent] + symmetric(X[i].T @ Ia @ X[i], np)
            pA[link.parent] = pA[link.parent] + X[i].T @ pa
    for i, link in enumerate(links):
        a[i] = c[i] + X[i] @ (a[link.parent] if link.parent >= 0 else np.array([0.0, 0.0, 0.0, 0.0, 0.0, G]))
        qdd[i] = (u[i] - U[i] @ a[i]) * d[i]
        a[i] = a[i] + S * qdd[i]
    return np.stack(qdd)


def step(links: Sequence[Link], q: Any, qd: Any, tau: Any, np: Any = np) -> tuple[Any, Any]:
    """One semi-implicit Euler step: positions and velocities afterwards."""
    qd = qd + STEP * forward_dynamics(links, q, qd, tau, np)
    return q + STEP * qd, qd


def rk4(derivative: Any, q: Any, qd: Any, tau: Any) -> tuple[Any, Any]:
    """The classical Runge-Kutta step with four calls of `derivative(q, qd, tau) -> (q', qd')`."""
    h = STEP
    a = derivative(q, qd, tau)
    b = derivative(q + h / 2 * a[0], qd + h / 2 * a[1], tau)
    c = derivative(q + h / 2 * b[0], qd + h / 2 * b[1], tau)
    d = derivative(q + h * c[0], qd + h * c[1], tau)
    return tuple(x + h / 6 * (a[k] + 2 * b[k] + 2 * c[k] + d[k]) for k, x in enumerate((q, qd)))


# The independent value: Newton and Euler in world coordinates for a whole batch, and a solved mass matrix. It shares
# nothing with the algorithm above but the description of the links.
def inverse_dynamics(links: Sequence[Link], q: Any, qd: Any, qdd: Any, gravity: Any = G) -> np.ndarray:
    """Joint torques, shape (..., n), for positions, velocities and accelerations of that shape."""
    q, qd, qdd = np.broadcast_arrays(q, qd, qdd)
    zero = np.zeros((*q.shape[:-1], 3))
    up = zero + np.multiply.outer(np.broadcast_to(gravity, q.shape[:-1]), [0.0, 0.0, 1.0])
    base = np.broadcast_to(np.eye(3), (*q.shape[:-1], 3, 3)), zero, zero, up, zero
    moving: list[Any] = []
    for i, link in enumerate(links):
        R, w, dw, a, p = moving[link.parent] if link.parent >= 0 else base
        r = R @ link.p
        a, p = a + np.cross(dw, r) + np.cross(w, np.cross(w, r)), p + r
        c, s, o, l = np.cos(q[..., i]), np.sin(q[..., i]), np.zeros(q.shape[:-1]), np.ones(q.shape[:-1])
        turn = np.stack([np.stack([c, -s, o], -1), np.stack([s, c, o], -1), np.stack([o, o, l], -1)], -2)
        R = R @ link.R @ turn
        spin = R[..., 2] * qd[..., i, None]
        w, dw = w + spin, dw + R[..., 2] * qdd[..., i, None] + np.cross(w, spin)
        moving.append((R, w, dw, a, p))
    force, torque = np.zeros((2, len(links), *zero.shape))  # of each subtree; torques about the origin of the base
    tau = np.empty(q.shape)
    for i, link in reversed(list(enumerate(links))):
        R, w, dw, a, p = moving[i]
        com, I = R @ link.com, R @ link.moment @ np.swapaxes(R, -1, -2)
        f = link.mass * (a + np.cross(dw, com) + np.cross(w, np.cross(w, com)))
        spin = (I @ w[..., None])[..., 0]
        force[i] += f
        torque[i] += (I @ dw[..., None])[..., 0] + np.cross(w, spin) + np.cross(p + com, f)
        tau[..., i] = np.sum(R[..., 2] * (torque[i] - np.cross(p, force[i])), -1)
        if link.parent >= 0:
            force[link.parent] += force[i]
            torque[link.parent] += torque[i]
    return tau


def reference_dynamics(links: Sequence[Link], q: np.ndarray, qd: np.ndarray, tau: np.ndarray) -> np.ndarray:
    """M(q) qdd = tau - bias(q, qd) solved, for a batch; the columns of M are torques of unit accelerations at rest."""
    unit = np.vstack([np.zeros(len(links)), np.eye(len(links))])
    real = np.arange(len(links) + 1)[:, None] == 0
    bias, *columns = inverse_dynamics(links, q, np.where(real[..., None], qd, 0), unit[:, None], np.where(real, G, 0))
    return np.linalg.solve(np.stack(columns, -1), (tau - bias)[..., None])[..., 0]


def reference_step(links: Sequence[Link], q: np.ndarray, qd: np.ndarray, tau: np.ndarray) -> tuple[Any, Any]:
    qd = qd + STEP * reference_dynamics(links, q, qd, tau)
    return q + STEP * qd, qd


# The same mechanism in the peers.
def to_pinocchio(links: Sequence[Link]) -> Any:
    import pinocchio as pin

    model = pin.Model()
    model.gravity.linear = np.array([0.0, 0.0, -G])
    for i, link in enumerate(links):
        joint = model.addJoint(link.parent + 1, pin.JointModelRZ(), pin.SE3(link.R, link.p), f"joint{i}")
        model.appendBodyToJoint(joint, pin.Inertia(link.mass, link.com, link.moment), pin.SE3.Identity())
    return model


def to_mujoco(links: Sequence[Link]) -> Any:
    """With all that MuJoCo can leave out left out: no contacts, no constraints, no sensors, no actuators."""
    import mujoco

    spec = mujoco.MjSpec()
    spec.option.timestep, spec.option.gravity = STEP, [0.0, 0.0, -G]
    for name in ("CONSTRAINT", "CONTACT", "EULERDAMP", "ACTUATION", "SPRING", "DAMPER", "SENSOR"):
        spec.option.disableflags |= int(getattr(mujoco.mjtDisableBit, f"mjDSBL_{name}"))
    bodies: list[Any] = []
    for link in links:
        quat, I = np.zeros(4), link.moment
        mujoco.mju_mat2Quat(quat, link.R.ravel())
        parent = bodies[link.parent] if link.parent >= 0 else spec.worldbody
        body = parent.add_body(
            pos=link.p, quat=quat, mass=link.mass, ipos=link.com, explicitinertial=True,
            fullinertia=[I[0, 0], I[1, 1], I[2, 2], I[0, 1], I[0, 2], I[1, 2]],
        )  # fmt: skip
        body.add_joint(type=mujoco.mjtJoint.mjJNT_HINGE, axis=[0, 0, 1])
        bodies.append(body)
    return spec.compile()


class HeyokaNumPy:
    """Stands in for NumPy, so that the dynamics above runs on object arrays of heyoka's expressions."""

    def __init__(self) -> None:
        import heyoka as hy

        self.sin, self.cos, self.exp, self.sqrt = hy.sin, hy.cos, hy.exp, hy.sqrt

    def __getattr__(self, name: str) -> Any:
        return getattr(np, name)
