"""The articulated-body algorithm, body by body: what happens at one body on the way out, in, and out again.

Featherstone, Rigid Body Dynamics Algorithms (2008), table 7.1. The same three functions serve a tree that is written
out body after body and one whose recursion stays a loop.
"""

import numpy as np

from poinsot._types import Array
from poinsot.fuse import solve_spd
from poinsot.mechanism import screws
from poinsot.mechanism.screws import mirrored
from poinsot.mechanism.tree import Here
from poinsot.spatial import motion


def outward(here: Here, v: Array, V_P: Array, F: Array) -> tuple[Array, Array, Array]:
    """Twist V, velocity-product acceleration c and bias wrench pA, from the parent's twist and an external wrench F."""
    vJ = here.S @ v
    V = screws.motion(here.moves, V_P) + vJ
    return V, here.bias + motion.bracket(V, vJ), -motion.ad_dual(V, here.G @ V) - F


def inward(here: Here, tau: Array, IA: Array, pA: Array, c: Array) -> tuple[Array, Array, Array, Array, Array]:
    """U = IA S, the inverse D of S^T U, u = D (tau - S^T pA), and what the parent feels: inertia Ia and bias pa."""
    S, k = here.S, here.direction
    U = IA @ S
    if not S.shape[1]:  # fixed: the parent feels it all
        return U, np.zeros((0, 0)), np.zeros(0), IA, pA + IA @ c
    D = solve_spd(mirrored(S.T @ U) + np.diag(here.armature), np.eye(S.shape[1]))
    u = D @ (tau - S.T @ pA)
    Ia = mirrored(IA - (U @ D) @ U.T)
    pa = pA + U @ u
    if k is not None:  # through the joint no inertia is felt along S, and the force there is tau
        keep = np.array([0.0 if i == k else 1.0 for i in range(6)])
        Ia, pa = Ia * np.outer(keep, keep), np.concatenate([pa[:k], tau, pa[k + 1 :]])
    return U, D, u, Ia, pa + Ia @ c


def onward(here: Here, A_P: Array, c: Array, U: Array, D: Array, u: Array) -> tuple[Array, Array]:
    """The body's acceleration A (less gravity) and the joint's vdot, from the parent's acceleration."""
    A = screws.motion(here.moves, A_P) + c
    vdot = u - D @ (U.T @ A)
    return A + here.S @ vdot, vdot
