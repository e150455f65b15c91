"""Natural frequencies of spring networks, and the stable step that follows from them."""

import numpy as np

from poinsot._types import Array
from poinsot.particles.objects import Particles
from poinsot.particles.springs import Springs, stretch


def natural_frequencies(particles: Particles, springs: Springs) -> Array:
    """The 3n angular frequencies [rad/s], ascending, of small undamped oscillations about the present positions.

    omega^2 are the eigenvalues of M^-1/2 K M^-1/2. An unconstrained body has six zeros, its rigid motions; a
    mechanism has more. Compressed springs that buckle have omega^2 < 0, which is returned as zero.
    """
    n, e = len(particles), len(springs)
    along, transverse, N = _tangent(particles, springs)
    P = N[:, :, None] * N[:, None, :]
    blocks = along[:, None, None] * P + transverse[:, None, None] * (np.eye(3) - P)  # -df_i/dx_i of each spring
    incidence = np.zeros((e, n))
    incidence[np.arange(e), springs.pairs[:, 0]], incidence[np.arange(e), springs.pairs[:, 1]] = 1.0, -1.0
    scaled = incidence / np.sqrt(particles.masses)
    K = np.einsum("ei,eab,ej->iajb", scaled, blocks, scaled, optimize=True).reshape(3 * n, 3 * n)
    return np.sqrt(np.maximum(np.linalg.eigvalsh(K), 0.0))


def stable_step(particles: Particles, springs: Springs) -> float:
    """A step [s] at which the undamped Verlet scheme is stable near the present positions: h < 2/omega_max.

    omega_max^2 is taken as its bound max_i 2 sum_j k_ij / m_i (Gershgorin), so the step is a lower bound of the limit,
    for networks of any size; `natural_frequencies` of a small one gives the limit itself. Damping lowers it.
    """
    along, transverse, _ = _tangent(particles, springs)
    k = np.maximum(np.abs(along), np.abs(transverse))
    sums = np.bincount(springs.pairs.ravel(), np.repeat(k, 2), len(particles)) / particles.masses
    bound = 2.0 * np.max(sums, initial=0.0)
    return float(2.0 / np.sqrt(bound)) if bound > 0 else np.inf


def _tangent(particles: Particles, springs: Springs) -> tuple[Array, Array, Array]:
    """Each spring's axial stiffness dT/dl and transverse stiffness T/l [N/m], (e,) each, and its direction (e, 3)."""
    length, _, N = stretch(particles, springs)
    still = np.zeros(len(springs))
    T = springs.law(length, still, *springs.parameters)
    along = springs.stiffness
    if springs.tension is not None:
        dl = 1e-6 * np.where(length > 0, length, 1.0)
        above, below = (springs.law(length + s, still, *springs.parameters) for s in (dl, -dl))
        along = (above - below) / (2 * dl)
    return along, np.where(length > 0, T / np.where(length > 0, length, 1.0), along), N
