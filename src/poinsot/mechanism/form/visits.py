"""The articulated-body algorithm, body by body: the visits to one body on the way out, in, and out again.

Featherstone, Rigid Body Dynamics Algorithms (2008), chapter 7. The accelerations that the bodies would have if no joint
accelerated are carried outwards with the velocities; the accelerations that the joints add follow on the last way out.
So only a wrench must be kept per body. The same three functions serve straight-line code and recursions that stay
loops.
"""

import numpy as np

from poinsot._types import Array
from poinsot.fuse import solve_spd
from poinsot.mechanism.form import screws
from poinsot.mechanism.form.screws import CYCLES, Rates, mirrored
from poinsot.mechanism.form.tree import Here


def outward(here: Here, v: Array, K_P: Rates, F: Array, vdot: Array | None = None) -> tuple[Rates, Array]:
    """The body's rates, and the wrench that its motion needs beyond the external wrench F.

    K_P: the parent's; without vdot, the joint does not accelerate. With w = w_P + wJ, S v = (wJ, vJ):
    alpha = alpha_P + w x wJ, a = a_P + (w_P + w) x vJ, and S' v + S vdot to both. The points of a hinge's axis e move
    with both bodies, so U e is the parent's; that is cheaper.
    """
    before, hinge = screws.rates(here.moves[:-1], K_P), here.hinge
    K = here.moves[-1].rates(before)
    vJ = here.S @ v
    added = here.bias if vdot is None else here.bias + here.S @ vdot
    w = K.w + vJ[:3]
    alpha = K.alpha + np.cross(w, vJ[:3]) + added[:3]
    a = K.a + np.cross(K.w + w, vJ[3:]) + added[3:]
    if hinge is None:
        K = Rates.of(w, alpha, a)
    else:
        K = Rates.beside(hinge.axis, hinge.along(before), w, alpha[hinge.axis], a)
    return K, wrench(here, K) - F


def unwound(here: Here, v: Array, K: Rates, vdot: Array | None = None) -> Rates:
    """The parent's rates from the body's: `outward` undone."""
    vJ = here.S @ v
    added = here.bias if vdot is None else here.bias + here.S @ vdot
    w_P = K.w - vJ[:3]
    alpha = K.alpha - np.cross(K.w, vJ[:3]) - added[:3]
    a = K.a - np.cross(w_P + K.w, vJ[3:]) - added[3:]
    return screws.rates(screws.back(here.moves), Rates.of(w_P, alpha, a))


def wrench(here: Here, K: Rates) -> Array:
    """F (6,) that a body needs to move with the rates K: Newton's and Euler's equations.

    With the first and second moments of mass h [kg m] and E [kg m^2]: f = mass a + U h, and m = h x a + the integral of
    r x U r, which is U E less its transpose.
    """
    E, U, a = here.E, K.U, K.a
    mass, h = here.G[5, 5], np.stack([here.G[2, 4], here.G[0, 5], here.G[1, 3]])
    turning = np.zeros(3)
    for i, j, k in CYCLES:
        across = (U[j, j] - U[k, k]) * E[j, k]
        turning[i] = U[k, i] * E[i, j] + U[k, j] * E[j, j] - across - U[j, i] * E[i, k] - U[j, k] * E[k, k]
    return np.concatenate([turning + np.cross(h, a), mass * a + U @ h])


def inward(here: Here, tau: Array, IA: Array, pA: Array) -> tuple[Array, Array, Array, Array]:
    """W = IA S D^-1 and u = D^-1 (tau - S^T pA), with the joint-space inertia D = S^T IA S; and the contributions to
    the parent: inertia Ia, bias force pa.

    The joint accelerates with u - W^T A, where A is the acceleration that the joints before it add.
    """
    S, free = here.S, here.free
    U = IA @ S
    if not S.shape[1]:  # fixed
        return U, np.zeros(0), IA, pA
    D = mirrored(S.T @ U) + np.diag(here.armature)
    W, u = U @ solve_spd(D, np.eye(S.shape[1])), solve_spd(D, tau - S.T @ pA)
    Ia = mirrored(IA - W @ U.T)
    pa = pA + U @ u
    if free is not None:  # the joint transmits no inertia along S, and the force there is tau
        keep = np.array([0.0 if i in free else 1.0 for i in range(6)])
        W, Ia = W * keep[:, None] + S, Ia * np.outer(keep, keep)
        pa = np.stack([tau[free.index(i)] if i in free else pa[i] for i in range(6)])
    return W, u, Ia, pa


def onward(here: Here, A_P: Array, W: Array, u: Array) -> tuple[Array, Array]:
    """The acceleration A (6,) that the joints add to the body's, and the joint's vdot, from the parent's A_P."""
    A = screws.motion(here.moves, A_P)
    vdot = u - W.T @ A
    return A + here.S @ vdot, vdot
