"""Mechanics in plain NumPy as input for the compiler: written for one instance, and safe for complex steps."""

from dataclasses import dataclass

import numpy as np

from poinsot.fuse import fori_loop, once


@dataclass(frozen=True)
class Link:
    """A body behind a revolute joint: its parent's number, its placement there, the joint's axis, its inertia."""

    parent: int
    R: np.ndarray
    p: np.ndarray
    axis: int
    G: np.ndarray


def random_chain(joints: int, seed: int = 1, branching: float = 0.0) -> list[Link]:
    """Links with general placements and inertias, one behind the other, or with branches."""
    rng = np.random.default_rng(seed)
    links = []
    for i in range(joints):
        parent = int(rng.integers(i)) if i and rng.random() < branching else i - 1
        mass, com = rng.uniform(0.5, 2.0), rng.uniform(-0.5, 0.5, 3)
        Q = quaternion_matrix(unit(rng.standard_normal(4)))
        a, b = rng.uniform(0.5, 1.0, 2)
        moment = Q @ np.diag([a, b, rng.uniform(abs(a - b), a + b)]) @ Q.T
        C = skew(com)
        G = np.block([[moment - mass * C @ C, mass * C], [-mass * C, mass * np.eye(3)]])
        R = quaternion_matrix(unit(rng.standard_normal(4)))
        links.append(Link(parent, R, rng.uniform(-1, 1, 3), int(rng.integers(3)), G))
    return links


def unit(x):
    return x / np.linalg.norm(x)


def skew(v):
    return np.array([[0, -v[2], v[1]], [v[2], 0, -v[0]], [-v[1], v[0], 0]])


def ad(V):
    return np.block([[skew(V[:3]), np.zeros((3, 3))], [skew(V[3:]), skew(V[:3])]])


def rotation(axis, q):
    c, s = np.cos(q), np.sin(q)
    R = [[1, 0, 0], [0, c, -s], [0, s, c]]
    return np.array([[R[(i - axis) % 3][(j - axis) % 3] for j in range(3)] for i in range(3)])


def mirror(A):
    """The lower triangle made equal to the upper one: half the work for what is symmetric anyway."""
    A = A.copy()
    for i in range(len(A)):
        for j in range(i):
            A[i, j] = A[j, i]
    return A


def articulated_body(links, q, qd, tau, gravity=9.81):
    """Joint accelerations by Featherstone's articulated-body algorithm, as the book writes it, on 6x6 arrays."""
    n = len(links)
    X, v, c, IA, pA, S, U, d, u, a, qdd = ([None] * n for _ in range(11))
    for i, link in enumerate(links):
        Rt = (link.R @ rotation(link.axis, q[i])).T
        X[i] = np.block([[Rt, np.zeros((3, 3))], [-Rt @ skew(link.p), Rt]])
        S[i] = np.eye(6)[link.axis]
        vJ = S[i] * qd[i]
        v[i] = vJ if link.parent < 0 else X[i] @ v[link.parent] + vJ
        c[i] = ad(v[i]) @ vJ
        IA[i] = link.G
        pA[i] = -ad(v[i]).T @ (link.G @ v[i])
    for i in reversed(range(n)):
        p = links[i].parent
        U[i] = IA[i] @ S[i]
        d[i] = S[i] @ U[i]
        u[i] = tau[i] - S[i] @ pA[i]
        if p >= 0:
            Ia = mirror(IA[i] - np.outer(U[i] / d[i], U[i]))
            pa = pA[i] + Ia @ c[i] + U[i] * (u[i] / d[i])
            IA[p] = IA[p] + mirror(X[i].T @ Ia @ X[i])
            pA[p] = pA[p] + X[i].T @ pa
    for i in range(n):
        p = links[i].parent
        a[i] = X[i] @ (np.array([0, 0, 0, 0, 0, gravity]) if p < 0 else a[p]) + c[i]
        qdd[i] = (u[i] - U[i] @ a[i]) / d[i]
        a[i] = a[i] + S[i] * qdd[i]
    return np.stack(qdd)


def inverse_dynamics(links, q, qd, qdd, gravity=9.81):
    """Joint torques by recursive Newton-Euler."""
    n = len(links)
    X, v, a, F = ([None] * n for _ in range(4))
    for i, link in enumerate(links):
        Rt = (link.R @ rotation(link.axis, q[i])).T
        X[i] = np.block([[Rt, np.zeros((3, 3))], [-Rt @ skew(link.p), Rt]])
        S = np.eye(6)[link.axis]
        before, up = np.zeros(6), np.array([0, 0, 0, 0, 0, gravity])
        v[i] = X[i] @ (before if link.parent < 0 else v[link.parent]) + S * qd[i]
        a[i] = X[i] @ (up if link.parent < 0 else a[link.parent]) + ad(v[i]) @ (S * qd[i]) + S * qdd[i]
        F[i] = link.G @ a[i] - ad(v[i]).T @ (link.G @ v[i])
    for i in reversed(range(n)):
        if links[i].parent >= 0:
            F[links[i].parent] = F[links[i].parent] + X[i].T @ F[i]
    return np.stack([F[i][link.axis] for i, link in enumerate(links)])


def quaternion_matrix(q):
    w, r = q[0], q[1:]
    return np.eye(3) + 2 * (w * skew(r) + skew(r) @ skew(r))


def rotate(q, v):
    """v turned by the unit quaternion q (wxyz)."""
    t = 2 * np.cross(q[1:], v)
    return v + q[0] * t + np.cross(q[1:], t)


def free_body(y, moments=(1.0, 2.0, 3.5)):
    """Euler's equations in the body frame, with the attitude: d/dt (q, omega)."""
    q, w = y[:4], y[4:]
    I = np.array(moments)
    qd = 0.5 * np.concatenate([[-(q[1:] @ w)], q[0] * w + np.cross(q[1:], w)])
    return np.concatenate([qd, np.cross(I * w, w) / I])


def rk4(f, y, h):
    k1 = f(y)
    k2 = f(y + h / 2 * k1)
    k3 = f(y + h / 2 * k2)
    k4 = f(y + h * k3)
    return y + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4)


# Smooth functions, each of slope about one at most, so that roundings are not amplified.
SMOOTH = {
    "sin": lambda a, b: np.sin(a + b),
    "cos": lambda a, b: np.cos(a) * np.tanh(b),
    "atan2": lambda a, b: np.arctan2(a, 2 + np.abs(b)),
    "exp": lambda a, b: np.exp(-np.abs(a)) + 0.1 * b,
    "log": lambda a, b: np.log(3 + a * a) - np.log1p(b * b),
    "root": lambda a, b: np.sqrt(1 + a * a) - np.hypot(1, b) + np.cbrt(8 + np.tanh(a)),
    "power": lambda a, b: (2 + np.tanh(a)) ** np.tanh(b),
    "quotient": lambda a, b: a / (1 + a * a) + 1 / (2 + b * b),
    "inverse": lambda a, b: np.arcsin(0.9 * np.tanh(a)) - np.arccos(0.9 * np.tanh(b)) + np.arctan(a),
    "hyperbolic": lambda a, b: np.sinh(np.tanh(a)) - np.cosh(np.tanh(b)) + np.arcsinh(a) + np.tan(np.tanh(b) / 2),
    "solve": lambda a, b: np.linalg.solve(np.array([[4, np.tanh(a)], [np.tanh(b), 5.0]]), np.stack([a, b]))[0],
    "smooth loop": lambda a, b: fori_loop(3, lambda i, c: np.sin(c) + 0.1 * b, a),
    "memory": lambda a, b: _stirred(np.stack([a, b, a * 0.5])) @ np.array([0.3, 0.2, -0.1]),
    "call": lambda a, b: (lambda f: f(f(a)) - f(b))(once(lambda x: np.sin(x) * 0.5 + 0.1 * b)),
}  # fmt: skip


def _stirred(v):
    """Reads and writes at indices of a loop."""

    def body(i, A):
        A[i - 1] = np.tanh(A[i] - 0.3 * A[(2 * i) % 3])
        return A

    return fori_loop(3, body, v)
